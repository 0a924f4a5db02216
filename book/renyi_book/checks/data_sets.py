"""Checks for the exercises of "data-sets"."""

import numpy as np
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.datasets import load_bank, load_german
from renyi_lib.metrics import demographic_parity_ratio


def _p_percent(k0, n0, k1, n1):
    rates = k0 / n0, k1 / n1
    return 100 * min(rates) / max(rates)


def _one_more(k0, n0, k1, n1):
    return _p_percent(k0 + 1, n0, k1, n1) - _p_percent(k0, n0, k1, n1)


def _german_labels(rows):
    """Compute the gap and the ratio of the four groups' rates, for good and for bad risks."""
    german = load_german().encode(columns=["Attribute2"])
    y, s = german.y_train, german.s_train
    if rows == "all":
        y, s = np.r_[y, german.y_test], np.r_[s, german.s_test]
    good = np.bincount(s, weights=y) / np.bincount(s)
    return {
        f"{measure}_{name}": float(value(rates))
        for name, rates in (("good", good), ("bad", 1 - good))
        for measure, value in (("gap", np.ptp), ("ratio", lambda r: r.min() / r.max()))
    }


def _reciprocal_ratios():
    answer = _german_labels("all")
    return {k: 1 / v if k.startswith("ratio") else v for k, v in answer.items()}


def _chance_gap(q, n0, n1):
    k0, k1 = np.arange(n0 + 1), np.arange(n1 + 1)
    gaps = np.abs(k0[:, None] / n0 - k1 / n1)
    return binom.pmf(k0, n0, q) @ gaps @ binom.pmf(k1, n1, q)


def _spread(q, n0, n1):
    return np.sqrt(q * (1 - q) * (1 / n0 + 1 / n1))


def _bank_p(rows):
    """Compute p% on Bank's test rows at the threshold that `rows` determines."""
    bank = load_bank().encode(scaling="standard")
    model = LogisticRegression(C=np.inf, tol=1e-6, max_iter=5000).fit(bank.X_train, bank.y_train)
    score = model.predict_proba(bank.X_test)[:, 1]
    threshold = {
        "half": lambda: 0.5,
        "test": lambda: np.quantile(score, 1 - bank.y_test.mean()),
        "training": lambda: np.quantile(score, 1 - bank.y_train.mean()),
    }[rows]()
    return demographic_parity_ratio(bank.y_test, score > threshold, sensitive_features=bank.s_test)


EXERCISES = {
    "data-sets/a": Number(
        "a number of splits",
        answer=39,
        why="One value in twenty may lie outside, so 2 / (k + 1) = 0.05.",
        mistakes=[
            Mistake(19, "The range of 19 gives 90 %: 2 / 20 of the values lie outside."),
            Mistake(20, "A twentieth of the values may lie outside, on the two sides together."),
            Mistake(
                40, "Count again, because k values form an interval for one more, the (k + 1)st."
            ),
        ],
    ),
    "data-sets/b": Number(
        "a number of points",
        answer=100 / 12,
        why="One person is a twelfth of the group, so the rate changes by about eight points.",
        mistakes=[
            Mistake(1 / 12, "This is the change as a fraction; the question asks for points."),
            Mistake(100 / 200, "This is one person among all 200; the group has twelve."),
        ],
    ),
    "data-sets/1": Function(
        "a function `one_more(k0, n0, k1, n1)` that returns a change of p% in points",
        answer=_one_more,
        why="The rate moves by 1 / n0; p% divides that by the other rate, or is inverted.",
        cases=[(425, 5421, 2706, 10860), (3, 12, 80, 111), (90, 100, 30, 50)],
        mistakes=[
            Mistake(
                lambda *counts: _one_more(*counts) / 100,
                "This is the change as a fraction; the exercise asks for points.",
            ),
            Mistake(
                lambda k0, n0, k1, n1: 100 / n0,
                "This is the change of the rate of group 0; p% divides it by the other rate.",
            ),
            Mistake(
                lambda k0, n0, k1, n1: 100 * n1 / (n0 * k1),
                "This is right only while group 0 has the lower rate; p% is the smaller ratio.",
            ),
            Mistake(_p_percent, "This is p% itself; the exercise asks for its change."),
        ],
    ),
    "data-sets/2": Number(
        "a dictionary from gap_good, gap_bad, ratio_good and ratio_bad to fractions",
        answer=lambda: _german_labels("all"),
        why="Each rate r becomes 1 - r, so differences stay and ratios do not.",
        mistakes=[
            Mistake(
                lambda: _german_labels("training"),
                "These are the labels of the 800 training rows; take all 1000 customers.",
            ),
            Mistake(
                _reciprocal_ratios,
                "The ratios are inverted. The smallest rate over the largest is at most 1.",
            ),
        ],
    ),
    "data-sets/3": Function(
        "a function `chance_gap(q, n0, n1)` that returns the expected gap as a fraction",
        answer=_chance_gap,
        why="The gap is never negative, so its mean is above 0 although both groups use one coin.",
        cases=[(0.75, 12, 111), (0.5, 3, 4), (0.1, 40, 60)],
        mistakes=[
            Mistake(
                lambda q, n0, n1: np.sqrt(2 / np.pi) * _spread(q, n0, n1),
                "This is the large-sample value; sum over the two binomial distributions.",
            ),
            Mistake(
                _spread,
                "This is the standard deviation of the difference, not its mean absolute value.",
            ),
            Mistake(
                lambda q, n0, n1: 0.0,
                "The difference has mean 0, but its absolute value does not.",
            ),
        ],
    ),
    "data-sets/4": Number(
        "a number: p% on Bank's test rows at the lower threshold, as a fraction",
        answer=lambda: _bank_p("test"),
        why="The two groups are selected at nearly the same rate, at either threshold.",
        mistakes=[
            Mistake(
                lambda: _bank_p("half"),
                "This is p% at the threshold one half; lower the threshold first.",
            ),
            Mistake(
                lambda: _bank_p("training"),
                "This selects the share of yes among the *training* rows; take the test rows.",
            ),
        ],
        atol=1e-3,
    ),
}
