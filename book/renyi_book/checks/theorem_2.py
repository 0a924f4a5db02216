"""Checks for the exercises of "theorem-2"."""

import numpy as np
import pandas as pd

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.correlation import renyi_correlation, renyi_from_joint
from renyi_lib.datasets import load_adult


def _samples():
    rng = np.random.default_rng(6)
    cases = []
    for t in (0.5, 0.0, 3.0):
        a = rng.integers(4, size=200)
        cases.append((a, (rng.random(200) < 0.2 + 0.2 * a).astype(int), t))
    return cases


def _least_squares(a, b, t):
    share = np.bincount(a, b) / np.bincount(a)
    return np.append(np.mean((b - share[a]) ** 2), share - t)


def _changed(change):
    """Return a fit that applies `change` to the right γ and w."""
    return lambda a, b, t: change(_least_squares(a, b, t), a, b, t)


def _scaled_gamma(factor):
    def change(result, a, b, t):
        result[0] *= factor(b)
        return result

    return _changed(change)


def _r2(column="occupation", as_numbers=False):
    train = load_adult().train
    s = (train["sex"] == "Male").to_numpy()
    if as_numbers:
        return np.corrcoef(pd.factorize(train[column], sort=True)[0], s)[0, 1] ** 2
    return renyi_correlation(train[column], s) ** 2


def _tables():
    rng = np.random.default_rng(7)
    return [
        (rng.integers(5, 80, size=(c, 2)), i, k) for c, i, k in ((4, 0, 3), (6, 2, 1), (3, 0, 1))
    ]


def _merged(table, i, k):
    return np.vstack([np.delete(table, [i, k], axis=0), table[i] + table[k]])


def _fall(table, i, k, power=2):
    return renyi_from_joint(table) ** power - renyi_from_joint(_merged(table, i, k)) ** power


def _fall_of_variance(table, i, k):
    q = table[:, 1].sum() / table.sum()
    return _fall(table, i, k) * q * (1 - q)


def _codings():
    rng = np.random.default_rng(8)
    tables = [rng.dirichlet(np.ones(c * 3)).reshape(c, 3) for c in (4, 2, 5)]
    return [(P, np.array(g)) for P, g in zip(tables, ([0.0, 1, 2], [5.0, 1, -1], [0.0, 0, 3]))]


def _explained(P, g, *, center=True, divide=True, weigh=True):
    p, q = P.sum(axis=1), P.sum(axis=0)
    g = g - (q @ g if center else 0)
    mean = P @ g / p
    explained = p @ mean**2 if weigh else np.mean(mean**2)
    return explained / (q @ g**2 if divide else 1)


def _two_classes(first=0.8, second=0.4):
    """Return the joint table of two classes of equal size with these shares of b = 1."""
    return np.array([[1 - first, first], [1 - second, second]]) / 2


def _yes(men=0.3, women=0.1):
    """Return the joint table of sampled label (no, yes) and gender, with half men."""
    return _two_classes(women, men).T


EXERCISES = {
    "theorem-2/a": Number(
        "a number: ρ_R of class and b",
        answer=lambda: renyi_from_joint(_two_classes()),
        why="You pay 0.24 without a hint and 0.20 if you are told the class. A sixth is saved, "
        "and ρ_R is its square root.",
        mistakes=[
            Mistake(
                lambda: np.sqrt(1 - renyi_from_joint(_two_classes()) ** 2),
                "This is the square root of the fraction that you still pay; take the "
                "fraction saved.",
            ),
            Mistake(
                0.8 - 0.4, "This is the difference between the two shares, without the scaling."
            ),
            Mistake(
                0.24 - 0.20,
                "This is the explained variance; divide by q(1 − q) and take the square root.",
            ),
            Mistake(0.20, "This is γ, what you pay when told the class."),
        ],
        rtol=2e-3,
    ),
    "theorem-2/b": Number(
        "a number: ρ_R of the sampled label and gender",
        answer=lambda: renyi_from_joint(_yes()),
        why="The difference is 0.2, and the standard deviations are 0.5 for gender and "
        "0.4 for the label.",
        mistakes=[
            Mistake(
                0.3 - 0.1,
                "This is the difference between the rates; scale it by the"
                " two standard deviations.",
            ),
            Mistake(
                (0.3 - 0.1) * 0.4 / 0.5,
                "The fraction is inverted: the standard deviation of the group is the "
                "numerator, and that of the label the denominator.",
            ),
            Mistake(0.1 / 0.3, "This is the ratio of the two rates; ρ_R scales their difference."),
            Mistake(
                (0.3 - 0.1) * 0.25 / 0.16,
                "You used the variances; the formula contains the standard deviations.",
            ),
        ],
        rtol=2e-3,
    ),
    "theorem-2/1": Function(
        "a function `fit(a, b, t)` that returns γ followed by all w, for classes `a` = 0,"
        " 1, … and `b` of 0 and 1, with b − t in place of b − ½",
        answer=_least_squares,
        why="The one-hot entries sum to 1, so w absorbs any constant, wᵢ = b̄ᵢ − t, and γ"
        " does not change.",
        cases=_samples,
        mistakes=[
            Mistake(
                _changed(lambda result, a, b, t: np.append(result[0], result[1:] + t - 0.5)),
                "γ is right, but these w belong to t = ½ whatever t is.",
            ),
            Mistake(
                _changed(lambda result, a, b, t: np.append(result[0], result[1:] + 2 * t)),
                "γ is right, but w moves in the wrong direction, because a larger t makes"
                " the target smaller.",
            ),
            Mistake(
                _scaled_gamma(len),
                "w is right, but γ is a mean of squares, and this is their sum.",
            ),
            Mistake(
                _scaled_gamma(lambda b: 1 / b.var()),
                "w is right, but γ is not divided by the variance of b, so this is 1 − ρ_R².",
            ),
        ],
    ),
    "theorem-2/2": Number(
        "a number: R² for the occupation on the training set",
        answer=_r2,
        why="A regression on indicators fits the share of each class, so its R² is the "
        "ρ_R² of Theorem 2.",
        mistakes=[
            Mistake(
                lambda: _r2(as_numbers=True),
                "You fitted a line through the integer codes of the occupations. Use one "
                "indicator for each occupation.",
            ),
            Mistake(
                lambda: _r2("relationship"),
                "This is R² for the relationship, the column used in the chapter; take "
                "the occupation.",
            ),
        ],
        rtol=1e-3,
    ),
    "theorem-2/3": Function(
        "a function `fall(table, i, k)` that returns by how much ρ_R² decreases when rows"
        " i and k of a table of counts (columns: b = 0, 1) are merged",
        answer=_fall,
        why="It is the loss of explained variance divided by q(1 − q), and it is zero for"
        " equal shares.",
        cases=_tables,
        mistakes=[
            Mistake(
                _fall_of_variance,
                "This is the loss of explained variance; divide it by q(1 − q).",
            ),
            Mistake(
                lambda table, i, k: _fall(table, i, k, power=1),
                "This is the decrease of ρ_R, not of its square.",
            ),
            Mistake(
                lambda table, i, k: -_fall(table, i, k),
                "Merging rows cannot increase ρ_R, so the sign is wrong.",
            ),
            Mistake(
                lambda table, i, k: _fall_of_variance(table, i, k) * table.sum(),
                "You used counts in place of the probabilities pᵢ and pₖ.",
            ),
        ],
    ),
    "theorem-2/4": Function(
        "a function `explained_by(P, g)` that returns Var(E[g(S) | a]) / Var(g(S)); `P` "
        "has a row for each value of a, and `g` contains a number for each group",
        answer=_explained,
        why="It is at most ρ_R² for every function g, and the best g reaches it.",
        cases=_codings,
        mistakes=[
            Mistake(
                lambda P, g: _explained(P, g, center=False),
                "The function g is not centered. Subtract its mean, otherwise these are "
                "not variances.",
            ),
            Mistake(
                lambda P, g: _explained(P, g, divide=False),
                "This is the explained variance; divide it by the variance of g(S).",
            ),
            Mistake(
                lambda P, g: _explained(P, g, weigh=False),
                "Weight the classes by their probabilities.",
            ),
        ],
    ),
}
