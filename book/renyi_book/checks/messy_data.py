"""Checks for the warm-ups and exercises of "messy-data"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number

_WEIGHTS = [([1, 1, 1, 1],), ([1, 3, 1, 3, 2],), (np.linspace(0.5, 4, 30),)]


def _effective(w):
    w = np.asarray(w, dtype=float)
    return w.sum() ** 2 / (w**2).sum()


def _needed(rate, margin):
    return 1.28**2 * rate * (1 - rate) / margin**2


def _violation(tables):
    counts = np.sum(tables, axis=0)
    return np.ptp(counts[1] / counts.sum(axis=0))


def _mean_violation(tables):
    return np.mean([_violation([table]) for table in tables])


def _violation_of_shares(tables):
    counts = np.sum(tables, axis=0)
    return np.ptp(counts[1] / counts.sum())


def _weeks():
    rng = np.random.default_rng(3)
    cases = []
    for weeks in (2, 3, 6):
        people = rng.integers(40, 400, size=(weeks, 2))
        chosen = rng.binomial(people, rng.uniform(0.1, 0.6, size=(weeks, 2)))
        cases.append((list(np.stack([people - chosen, chosen], axis=1)),))
    return cases


EXERCISES = {
    "messy-data/a": Number(
        "a number: the probability that the observed rate is 0.3 or more away from 0.65",
        answer=lambda: 0.35**2 + 0.65**2,
        why="Only rates of 0, 0.5 and 1 are possible, and 0 and 1 are far from 0.65.",
        mistakes=[
            Mistake(
                lambda: 0.35**2,
                "This is the probability of a rate of 0. A rate of 1 is far from 0.65 too.",
            ),
            Mistake(
                lambda: 0.65**2,
                "This is the probability of a rate of 1. A rate of 0 is far from 0.65 too.",
            ),
            Mistake(
                lambda: 2 * 0.35 * 0.65,
                "This is the probability of a rate of 0.5, which is close to 0.65.",
            ),
        ],
        atol=6e-3,
    ),
    "messy-data/1": Function(
        "a function `effective_size(w)` that returns a number",
        answer=_effective,
        why="Equal weights cost nothing, and unequal ones make a sample count as a smaller one.",
        cases=_WEIGHTS,
        mistakes=[
            Mistake(len, "This is the number of rows, which is right for equal weights only."),
            Mistake(np.sum, "This is the sum of the weights, which depends on their unit."),
            Mistake(
                lambda w: _effective(w) / len(w),
                "This is a share of the rows. Multiply it by the number of rows.",
            ),
        ],
    ),
    "messy-data/2": Function(
        "a function `positives_needed(rate, margin)` that returns a number",
        answer=_needed,
        why="Half the margin needs four times as many people.",
        cases=[(0.65, 0.05), (0.5, 0.1), (0.1, 0.02)],
        mistakes=[
            Mistake(
                lambda rate, margin: np.sqrt(_needed(rate, margin)),
                "This is the square root of the number. Square both sides before you solve for n.",
            ),
            Mistake(
                lambda rate, margin: _needed(rate, margin) / 1.28**2,
                "This is for a margin of one standard error. The margin is 1.28 of them.",
            ),
            Mistake(
                lambda rate, margin: _needed(rate, margin) / (1 - rate),
                "The variance of a decision is r (1 - r), not r.",
            ),
        ],
    ),
    "messy-data/3": Function(
        "a function `violation_of_weeks(tables)` that returns a number",
        answer=_violation,
        why="Counts add up, while differences of rates do not.",
        cases=_weeks,
        mistakes=[
            Mistake(
                _mean_violation,
                "This is the mean of the weekly values. Chance pushes each of them above 0, "
                "and their mean too, so add the counts first.",
            ),
            Mistake(
                _violation_of_shares,
                "You divided by all people. A group's rate is a share of that group.",
            ),
        ],
    ),
}
