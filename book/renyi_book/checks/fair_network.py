"""Checks for the exercises of "fair-network"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.penalties import BinaryRenyiPenalty


def _bias(V, q, p1, b):
    return np.sum((1 - np.asarray(q)) * V) / (b * p1 * (1 - p1))


def _rho2(F1, s):
    return BinaryRenyiPenalty().value_and_grad(np.column_stack([1 - F1, F1]), s)[0]


def _chance(F1, s, ddof=1, weight=lambda share: 1 - share):
    """Estimate the contribution of chance; the mistakes use other divisors and weights."""
    b, found = len(s), 0.0
    for j in (0, 1):
        group = F1[s == j]
        found += weight(len(group) / b) * np.var(group, ddof=ddof) / b
    return found / (np.mean(F1) * (1 - np.mean(F1)))


def _corrected(F1, s):
    return _rho2(F1, s) - _chance(F1, s)


def _climb(W, F, codes, q, step, factor=2.0, own=True, root=True):
    """Take FERMI's step; the mistakes omit the factor, the term with W, or the square root."""
    F, W = np.asarray(F, float), np.asarray(W, float)
    member = np.eye(len(q))[codes] / (np.sqrt(q) if root else q)
    pull = member.T @ F / len(F)
    if own:
        pull = pull - W * F.mean(axis=0)
    return W + factor * step * pull


def _bias_cases():
    rng = np.random.default_rng(0)
    certain = (np.array([0.0, 0.25]), np.array([0.9, 0.1]), 0.5, 128)
    return [certain, *((rng.random(d) / 5, rng.dirichlet(np.ones(d)), 0.3, 50) for d in (2, 4))]


def _batches_with_groups():
    rng = np.random.default_rng(1)
    cases = []
    for b in (12, 40, 100):
        s = rng.permutation(np.arange(b) % 3 == 0).astype(int)
        cases.append((0.2 + 0.5 * rng.random(b) + 0.2 * s, s))
    # The means of both groups are equal, so the corrected value is negative.
    return [*cases, (np.repeat([0.2, 0.8], 4), np.tile([0, 1], 4))]


def _climb_cases():
    rng = np.random.default_rng(2)
    cases = []
    for b, c, d in ((1, 2, 2), (20, 3, 4)):
        F, q = rng.dirichlet(np.ones(c), size=b), rng.dirichlet(5 * np.ones(d))
        cases.append((rng.normal(size=(d, c)), F, rng.integers(d, size=b), q, 0.1))
    return cases


EXERCISES = {
    "fair-network/a": Number(
        "a number: the mean of ρ_R² over batches of 64",
        answer=lambda: _bias(np.array([0.05, 0.05]), np.array([0.5, 0.5]), 0.5, 64),
        why="Each group is weighted by the other's share: (0.025 + 0.025) / (64 · 0.25).",
        mistakes=[
            Mistake(lambda: 0.05 / 64, "ρ_R² is a share of the label's variance: divide by it."),
            Mistake(
                lambda: 2 * _bias(np.array([0.05, 0.05]), np.array([0.5, 0.5]), 0.5, 64),
                "Each variance has the weight 1 - q_j, which is one half here.",
            ),
            Mistake(0.0, "It would be 0 for all people, but a batch is subject to chance."),
        ],
        atol=1e-6,
    ),
    "fair-network/b": Number(
        "two whole numbers: the size of the batch with the same bias, and the age in people",
        answer=[2 * 5000 - 64, 5000 - 64],
        why="The batch has 2 τ - b people, and the age is τ - b people.",
        mistakes=[
            Mistake([5000, 5000], "This is nearly right, but the decaying weights give twice τ."),
            Mistake([10000, 5000], "Subtract the batch itself: 2 τ - b, and τ - b."),
            Mistake([9936, 5000], "The first is right; the newest batch has age 0: τ - b."),
        ],
        rtol=0,
        atol=0,
    ),
    "fair-network/1": Number(
        "two whole numbers: the smallest batch for two groups and for four",
        # (d - 1) / b = 1 / 1000
        answer=[1000 * (d - 1) for d in (2, 4)],
        why="No V_j is above p_1 (1 - p_1), and the weights 1 - q_j add up to d - 1.",
        mistakes=[
            Mistake([1000, 1000], "With more groups there are more ways to differ by chance."),
            Mistake([2000, 4000], "The number of groups *minus one* counts."),
            Mistake([250, 750], "p_1 (1 - p_1) is also in the bound of the numerator: cancel it."),
        ],
        rtol=0,
        atol=0,
    ),
    "fair-network/2": Function(
        "a function `bias(V, q, p1, b)` that returns what chance adds to ρ_R²",
        answer=_bias,
        why="A group's weight is the share of the *others*, so a small group matters most.",
        cases=_bias_cases,
        mistakes=[
            Mistake(
                lambda V, q, p1, b: np.sum(np.asarray(q) * V) / (b * p1 * (1 - p1)),
                "Weight each variance by the share of the other groups, not by the group's own.",
            ),
            Mistake(
                lambda V, q, p1, b: (
                    (len(q) - 1) * np.sum(np.asarray(q) * V) / ((b - 1) * p1 * (1 - p1))
                ),
                "This is right if groups are assigned at random; here their spreads differ.",
            ),
            Mistake(
                lambda V, q, p1, b: np.sum((1 - np.asarray(q)) * V) / b,
                "ρ_R² is a share of the variance of the *label*, p_1 (1 - p_1), so divide by it.",
            ),
        ],
    ),
    "fair-network/3": Function(
        "a function `corrected(F1, s)` that returns ρ_R² of the batch minus what chance adds",
        answer=_corrected,
        why="The numerator's mean over batches is now the true one, fair or not.",
        cases=_batches_with_groups,
        mistakes=[
            Mistake(_rho2, "This is ρ_R² itself, which still includes the effect of chance."),
            Mistake(
                lambda F1, s: max(_corrected(F1, s), 0.0),
                "If negative values are cut off, the mean is too large again.",
            ),
            Mistake(
                lambda F1, s: _rho2(F1, s) - _chance(F1, s, ddof=0),
                "Within a group divide by n_j - 1, because its mean was fitted, too.",
            ),
            Mistake(
                lambda F1, s: _rho2(F1, s) - _chance(F1, s, weight=lambda share: share),
                "Each variance has the weight of the *other* group.",
            ),
            Mistake(
                lambda F1, s: _rho2(F1, s) + _chance(F1, s),
                "The value of a batch is already too large, so subtract.",
            ),
        ],
    ),
    "fair-network/4": Function(
        "a function `climb(W, F, codes, q, step)` that returns the next W",
        answer=_climb,
        why="Column i moves the fraction 2 η p_i of the way to the batch's best response.",
        cases=_climb_cases,
        mistakes=[
            Mistake(
                lambda *a: _climb(*a, factor=1.0), "The derivative of a square has a factor 2."
            ),
            Mistake(
                lambda *a: _climb(*a, own=False),
                "The first trace is missing. Without -W diag(p), nothing limits W.",
            ),
            Mistake(lambda *a: _climb(*a, root=False), "P_s^{-1/2} divides by √q_j, not by q_j."),
        ],
    ),
}
