"""Checks for the exercises of "fairness-is-independence"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.metrics import demographic_parity_ratio, equal_opportunity_difference

_TABLE = np.array([[0.4, 0.3], [0.1, 0.2]])  # warm-up's table of no and yes by group


def _p_percent(y_pred, s):
    rates = [np.mean(y_pred[s == group]) for group in (0, 1)]
    return min(rates) / max(rates)


def _resampled(y_pred, s):
    """Compute p% of 2000 resamples of the rows, from the resampled counts of the cells."""
    shares = np.bincount(2 * s + y_pred, minlength=4) / len(s)
    n = np.random.default_rng(0).multinomial(len(s), shares, size=2000)
    rates = n[:, 1::2] / (n[:, ::2] + n[:, 1::2])
    return rates.min(axis=1) / rates.max(axis=1)


def _interval(y_pred, s):
    return np.quantile(_resampled(y_pred, s), [0.025, 0.975])


def _ninety(y_pred, s):
    return np.quantile(_resampled(y_pred, s), [0.05, 0.95])


def _one_deviation(y_pred, s):
    draws = _resampled(y_pred, s)
    return draws.mean() + draws.std() * np.array([-1, 1])


def _pairs_broken(y_pred, s):
    """Compute the interval with decisions and groups resampled separately."""
    rng = np.random.default_rng(0)
    draws = [_p_percent(rng.choice(y_pred, len(s)), rng.choice(s, len(s))) for _ in range(500)]
    return np.quantile(draws, [0.025, 0.975])


def _clerk_cases():
    rng = np.random.default_rng(1)
    s = rng.integers(2, size=2000)
    return [
        ((rng.random(2000) < rate[s]).astype(int), s)
        for rate in np.array([[0.1, 0.3], [0.5, 0.4]])
    ]


def _score_cases():
    """Return scores that are shifted in group 1, labels sampled from them, and the groups."""
    cases = []
    for seed, shift in ((2, 0.8), (3, -0.5)):
        rng = np.random.default_rng(seed)
        s = rng.integers(2, size=4000)
        score = 1 / (1 + np.exp(-(rng.normal(size=4000) - 1 + shift * s)))
        cases.append((score, (rng.random(4000) < score).astype(int), s))
    return cases


def _with_thresholds(share_of):
    """Return a function that measures the rule selecting share_of(y_pred, y, s)[g] of group g."""

    def measure(score, y, s):
        shares = share_of((score > 0.5).astype(int), y, s)
        cut = np.array([np.quantile(score[s == g], 1 - shares[g]) for g in (0, 1)])
        decision = (score > cut[s]).astype(int)
        violation = equal_opportunity_difference(y, decision, sensitive_features=s)
        return [
            demographic_parity_ratio(None, decision, sensitive_features=s),
            np.mean(decision == y),
            violation,
        ]

    return measure


def _conflict(base_rate, r):
    return abs(r[1] - r[0]) * abs(base_rate[1] - base_rate[0])


EXERCISES = {
    "fairness-is-independence/a": Number(
        "a number: p% of the school as a fraction",
        answer=lambda: (30 / 200) / (60 / 300),
        why="It is the ratio of 0.15 to 0.20. The rule asks for 0.8, so the school violates it.",
        mistakes=[
            Mistake(
                lambda: (60 / 300) / (30 / 200),
                "The ratio is inverted: p% takes the smaller of the two, which is at most 1.",
            ),
            Mistake(
                30 / 60,
                "This compares the numbers admitted. There are more boys to choose from, so "
                "compare the rates.",
            ),
            Mistake(
                lambda: 60 / 300 - 30 / 200,
                "This is the difference between the rates; p% is their ratio.",
            ),
        ],
    ),
    "fairness-is-independence/b": Number(
        "a list of two rows with two numbers each: D = P - p q^T",
        answer=lambda: _TABLE - np.outer(_TABLE.sum(axis=1), _TABLE.sum(axis=0)),
        why="All entries are the same number with alternating signs, and group 1 is favored.",
        mistakes=[
            Mistake(
                lambda: np.outer(_TABLE.sum(axis=1), _TABLE.sum(axis=0)),
                "This is the product of the marginals; subtract it from the table.",
            ),
            Mistake(
                lambda: _TABLE - 1 / 4,
                "You compared with the uniform table. Independence keeps the marginals, so "
                "compare with their product.",
            ),
            Mistake(
                lambda: _TABLE - np.outer(_TABLE.sum(axis=0), _TABLE.sum(axis=1)),
                "The marginals are swapped: p belongs to the rows and q to the columns.",
            ),
        ],
    ),
    "fairness-is-independence/1": Function(
        "a function `interval(y_pred, s)` that returns (low, high) for p%; `y_pred` "
        "and `s` are arrays of 0 and 1",
        answer=_interval,
        why="Whole rows are resampled, and the middle 95 % of the resampled values are kept.",
        cases=_clerk_cases,
        mistakes=[
            Mistake(
                _pairs_broken,
                "You resampled the decisions and the groups separately, which makes them "
                "independent, so p% comes out near 1. Use the same row indices for both.",
            ),
            Mistake(
                lambda y_pred, s: 2 * [_p_percent(y_pred, s)],
                "The interval has zero width. Sampling all rows without replacement always "
                "returns the same rows, so sample with replacement.",
            ),
            Mistake(
                _ninety,
                "This is the middle 90 % of the values, since 5 % are left out on each side. For "
                "95 % take the quantiles 0.025 and 0.975.",
            ),
            Mistake(
                _one_deviation,
                "This is one standard deviation to each side, about 68 % of the draws. "
                "Take the quantiles 0.025 and 0.975.",
            ),
        ],
        # Intervals of two bootstraps of a thousand or more draws differ by less than this, whereas
        # 90 % and 95 % intervals differ by more.
        atol=0.01,
    ),
    "fairness-is-independence/2": Function(
        "a function `two_thresholds(score, y, s)` that returns p% as a fraction, the accuracy and "
        "the EO difference of the new rule; the clerk selects where `score` exceeds 0.5",
        answer=_with_thresholds(lambda y_pred, y, s: 2 * [y_pred.mean()]),
        why="Parity holds, but people with the same score are treated differently, which is "
        "disparate treatment.",
        cases=_score_cases,
        mistakes=[
            Mistake(
                _with_thresholds(lambda y_pred, y, s: [y_pred[s == g].mean() for g in (0, 1)]),
                "These are the results of the clerk's single threshold; give each group its own.",
            ),
            Mistake(
                _with_thresholds(lambda y_pred, y, s: 2 * [y.mean()]),
                "You select as many as have a positive label. Select as many as the clerk does.",
            ),
            Mistake(
                _with_thresholds(lambda y_pred, y, s: 2 * [y_pred[s == 1].mean()]),
                "You used the rate of group 1. In both groups the share should be the one that "
                "the clerk selects overall.",
            ),
        ],
        atol=0.004,
    ),
    "fairness-is-independence/3": Function(
        "a function `dp_violation(base_rate, r)` that builds the joint distribution and returns "
        "its DP difference; `base_rate` = (π₀, π₁), `r` = (rate given Y = 0, rate given Y = 1)",
        answer=_conflict,
        why="Equalized odds turns a difference in base rates into a difference in selection "
        "rates, scaled by the difference between TPR and FPR.",
        cases=[((0.1, 0.3), (0.2, 0.7)), ((0.6, 0.25), (0.1, 0.9)), ((0.5, 0.5), (0.3, 0.8))],
        mistakes=[
            Mistake(
                lambda base_rate, r: (r[1] - r[0]) * (base_rate[1] - base_rate[0]),
                "The size is right, but the DP difference has no sign: take the absolute value.",
            ),
            Mistake(
                lambda base_rate, r: _conflict(base_rate, r) / 2,
                "These are differences of joint probabilities, which are half of what they should "
                "be; divide by P(S = s) = 1/2.",
            ),
            Mistake(
                lambda base_rate, r: abs(r[1] - r[0]),
                "This is the difference between TPR and FPR. Weight the two rates by each group's "
                "base rate.",
            ),
        ],
    ),
}
