"""Checks for the warm-ups and exercises of "how-sure"."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.correlation import renyi_correlation, renyi_from_joint


def _chance_square(c, d, N):
    return (c - 1) * (d - 1) / (N - 1)


def _needed(c, d, level):
    return 1 + (c - 1) * (d - 1) / level**2


def _samples():
    rng = np.random.default_rng(4)
    cases = []
    for N, c in ((60, 5), (40, 12), (200, 3)):
        a = rng.integers(c, size=N)
        cases.append((a, (rng.random(N) < 0.3 + 0.4 * (a % 2)).astype(int)))
    return cases


def _adjusted(a, b, factor=lambda N, c: (N - 1) / (N - c), power=2):
    N, c = len(a), len(np.unique(a))
    return 1 - (1 - renyi_correlation(a, b) ** power) * factor(N, c)


def _two_columns():
    rng = np.random.default_rng(5)
    shapes = ((60, 3), (200, 5), (90, 2))
    return [(rng.multinomial(N, np.ones(2 * c) / (2 * c)).reshape(c, 2),) for N, c in shapes]


def _p_value(counts, tail=chi2.sf, scale=np.sum, power=2, more=0):
    counts = np.asarray(counts, dtype=float)
    statistic = scale(counts) * renyi_from_joint(counts) ** power
    return tail(statistic, len(counts) - 1 + more)


def _upper_end(rho_hat, N, c, tail=0.025, more=0, power=2):
    def surprise(rho):
        return ncx2.cdf(N * rho_hat**2, c - 1 + more, N * rho**power) - tail

    if surprise(1e-9) < 0:
        return 0.0
    return brentq(surprise, 1e-9, 1) if surprise(1) < 0 else 1.0


EXERCISES = {
    "how-sure/a": Number(
        "a number: the root mean square of ρ_R at independence",
        answer=lambda: np.sqrt(_chance_square(2, 4, 200)),
        why="With one binary variable the mean of the square is exactly (c − 1)(d − 1)/(N − 1).",
        mistakes=[
            Mistake(
                lambda: np.sqrt(2 * 4 / 199),
                "Subtract 1 from each number of values: (c − 1)(d − 1).",
            ),
            Mistake(
                lambda: (1 + np.sqrt(3)) / np.sqrt(200),
                "This is the rule of thumb, an upper bound; with a binary label the exact mean "
                "square is known.",
            ),
        ],
        atol=1e-3,
    ),
    "how-sure/b": Number(
        "a whole number: how many permutations",
        answer=lambda: round(1 / 0.001) - 1,
        why="The observed pairing is included, so the smallest possible p-value is 1/1000.",
        mistakes=[
            Mistake(
                lambda: round(1 / 0.001),
                "This is close, but the observed pairing is included, so one fewer is enough.",
            ),
        ],
    ),
    "how-sure/1": Function(
        "a function `needed(c, d, level)` that returns the number of samples (not rounded)",
        answer=_needed,
        why="Halving the level requires four times as many samples.",
        cases=[(5, 2, 0.05), (2, 2, 0.1), (15, 2, 0.02), (6, 6, 0.3)],
        mistakes=[
            Mistake(
                lambda c, d, level: 1 + (c - 1) * (d - 1) / level,
                "The formula is for the square of the level.",
            ),
            Mistake(
                lambda c, d, level: (c - 1) * (d - 1) / level**2,
                "One sample is missing, because the denominator of the formula is N − 1.",
            ),
            Mistake(
                lambda c, d, level: 1 + c * d / level**2,
                "Subtract 1 from each number of values: (c − 1)(d − 1).",
            ),
        ],
    ),
    "how-sure/2": Function(
        "a function `adjusted(a, b)` that returns the corrected square",
        answer=_adjusted,
        why="At independence its mean is zero. It is the adjusted R² of a regression.",
        cases=_samples,
        mistakes=[
            Mistake(
                lambda a, b: _adjusted(a, b, lambda N, c: (N - c) / (N - 1)),
                "The factor is inverted; the correction must make the square smaller.",
            ),
            Mistake(
                lambda a, b: _adjusted(a, b, lambda N, c: (N - 1) / (N - c - 1)),
                "Here c counts all values and thus includes the intercept, so the "
                "denominator is N − c.",
            ),
            Mistake(
                lambda a, b: _adjusted(a, b, power=1),
                "You used ρ_R in place of its square.",
            ),
            Mistake(
                lambda a, b: renyi_correlation(a, b) ** 2,
                "This is the square without the correction.",
            ),
        ],
    ),
    "how-sure/3": Function(
        "a function `p_value_of(counts)` that returns the p-value of a table with two columns",
        answer=_p_value,
        why="For two columns N ρ_R² is Pearson's χ², with c − 1 degrees of freedom.",
        cases=_two_columns,
        mistakes=[
            Mistake(
                lambda counts: _p_value(counts, more=1),
                "With c rows there are c − 1 degrees of freedom, not c.",
            ),
            Mistake(
                lambda counts: _p_value(counts, tail=chi2.cdf),
                "This is the probability of a smaller value; a p-value is the probability of a "
                "larger one.",
            ),
            Mistake(
                lambda counts: _p_value(counts, scale=lambda counts: 1),
                "The number of samples is missing: the statistic is N ρ_R².",
            ),
            Mistake(
                lambda counts: _p_value(counts, power=1),
                "You used ρ_R in place of its square.",
            ),
        ],
    ),
    "how-sure/4": Function(
        "a function `upper_end(rho_hat, N, c)` that returns the largest candidate that is"
        " not rejected",
        answer=_upper_end,
        why="The probability of the observed value or a smaller one decreases as the "
        "candidate grows.",
        cases=[(0.123, 200, 4), (0.3, 100, 2), (0.2, 1000, 15), (0.6, 80, 3)],
        mistakes=[
            Mistake(
                lambda rho_hat, N, c: _upper_end(rho_hat, N, c, tail=0.05),
                "This leaves 5 % below; a 95 % interval leaves 2.5 % on each side.",
            ),
            Mistake(
                lambda rho_hat, N, c: _upper_end(rho_hat, N, c, tail=0.975),
                "This is the lower end. At the upper end the observed value, or a smaller"
                " one, must be improbable.",
            ),
            Mistake(
                lambda rho_hat, N, c: _upper_end(rho_hat, N, c, more=1),
                "With c groups there are c − 1 degrees of freedom.",
            ),
            Mistake(
                lambda rho_hat, N, c: _upper_end(rho_hat, N, c, power=1),
                "The noncentrality is N ρ_R², with the square of the candidate.",
            ),
        ],
    ),
}
