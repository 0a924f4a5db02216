"""Checks for the exercises of "fair-network"."""

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.penalties import BinaryRenyiPenalty


def _sharpness(F1):
    return np.var(F1) / (np.mean(F1) * (1 - np.mean(F1)))


def _batch_bias(F1, d):
    return (d - 1) / (len(F1) - 1) * _sharpness(F1)


def _rho2(F1, s):
    return BinaryRenyiPenalty().value_and_grad(np.column_stack([1 - F1, F1]), s)[0]


def _corrected(F1, s):
    return _rho2(F1, s) - _batch_bias(F1, 2)


def _chance(values, printed, step, widen=1, family=lambda n: student(n - 1)):
    """The probability of a bin around `printed`; the mistakes have other widths and families."""
    n = len(values)
    scale = np.std(values, ddof=1) * np.sqrt(widen + 1 / n)
    ends = (np.array([printed - step / 2, printed + step / 2]) - np.mean(values)) / scale
    return float(np.diff(family(n).cdf(ends))[0])


def _batches():
    rng = np.random.default_rng(0)
    return [rng.random(20), rng.beta(0.3, 0.9, size=64), np.repeat([0.0, 1.0], [5, 7])]


def _batches_with_groups():
    rng = np.random.default_rng(1)
    cases = []
    for n in (12, 40, 100):
        s = rng.permutation(np.arange(n) % 3 == 0).astype(int)
        cases.append((0.2 + 0.5 * rng.random(n) + 0.2 * s, s))
    # Equal means in both groups: the corrected value is negative.
    return [*cases, (np.repeat([0.2, 0.8], 4), np.tile([0, 1], 4))]


EXERCISES = {
    "fair-network/1": Function(
        "a function `batch_bias(F1, d)` that returns the mean of ρ_R² over all ways to deal",
        answer=_batch_bias,
        why="Of the n - 1 directions in which F can vary, d - 1 separate the groups.",
        cases=lambda: [(F1, d) for F1 in _batches() for d in (2, 4)],
        mistakes=[
            Mistake(
                lambda F1, d: (d - 1) / len(F1) * _sharpness(F1),
                "Nearly: the people are dealt without replacement, which makes n - 1 of the n.",
            ),
            Mistake(
                lambda F1, d: _sharpness(F1) / (len(F1) - 1),
                "This is right for two groups; how does it grow with their number?",
            ),
            Mistake(
                lambda F1, d: (d - 1) / (len(F1) - 1),
                "This is the bias for labels that are certain; F is soft.",
            ),
            Mistake(
                lambda F1, d: (d - 1) / (len(F1) - 1) * np.var(F1),
                "ρ_R² is a share of the variance of the *label*, F̄ (1 - F̄): divide by it.",
            ),
        ],
    ),
    "fair-network/2": Number(
        "two whole numbers: the smallest batch for two groups and for four",
        # (d - 1) / (n - 1) = 1 / 1000
        answer=[1 + 1000 * (d - 1) for d in (2, 4)],
        why="The sharpness is at most 1, and then the bias is (d - 1) / (n - 1).",
        mistakes=[
            Mistake([1000, 3000], "With n instead of n - 1: these just fail."),
            Mistake([1001, 1001], "More groups have more ways to differ by chance."),
            Mistake([2001, 4001], "It is the number of groups *less one* that counts."),
        ],
        rtol=0,
        atol=0,
    ),
    "fair-network/3": Function(
        "a function `corrected(F1, s)` that returns ρ_R² of the batch minus its bias",
        answer=_corrected,
        why="Its mean over all ways to deal the groups is zero, whatever F is.",
        cases=_batches_with_groups,
        mistakes=[
            Mistake(_rho2, "This is ρ_R² itself; its bias is still in it."),
            Mistake(
                lambda F1, s: max(_corrected(F1, s), 0.0),
                "If negative values are cut off, the mean is above zero again.",
            ),
            Mistake(
                lambda F1, s: _rho2(F1, s) - 1 / (len(F1) - 1),
                "This subtracts the bias of certain labels; F is soft.",
            ),
            Mistake(
                lambda F1, s: _rho2(F1, s) + _batch_bias(F1, 2),
                "The batch sees too much already: subtract.",
            ),
        ],
    ),
    "fair-network/4": Function(
        "a function `chance(values, printed, step)` that returns a probability",
        answer=_chance,
        why="A new value varies as the old ones do, and their mean is not known exactly either.",
        cases=[
            ([33.7, 37.6, 31.4, 34.2, 34.0], 31.49, 0.01),
            ([80.8, 75.4, 71.8, 83.9, 78.2], 80.42, 0.01),
            ([1.0, 2.0, 4.0], 3.0, 1.0),
        ],
        mistakes=[
            Mistake(
                lambda values, printed, step: _chance(values, printed, step, widen=0),
                "This is where the *mean* may lie; one more run varies by itself, too.",
            ),
            Mistake(
                lambda values, printed, step: _chance(
                    values, printed, step, family=lambda n: norm()
                ),
                "With so few values the spread is not known: Student, not normal.",
            ),
            Mistake(
                lambda values, printed, step: _chance(values, printed, 2 * step),
                "Rounding takes half a step to either side, not a whole one.",
            ),
        ],
    ),
}
