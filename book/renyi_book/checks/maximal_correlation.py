"""Checks for the exercises of "maximal-correlation"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake
from renyi_lib.correlation import maximal_functions, renyi_correlation


def _tables(*shapes):
    rng = np.random.default_rng(3)
    return [rng.dirichlet(np.ones(c * d)).reshape(c, d) for c, d in shapes]


def _mixture(P, t):
    return t * P + (1 - t) * np.outer(P.sum(axis=1), P.sum(axis=0))


def _rounds(P, power=2):
    sigma = maximal_functions(P).singular_values
    return np.log(1e6) / np.log((sigma[0] / sigma[1]) ** power)


def _leaking(rare, leak):
    return np.sqrt((1 - leak) * (1 - rare) / (1 - rare * (1 - leak)))


def _samples():
    rng = np.random.default_rng(4)
    cases = []
    for n, c in ((60, 5), (40, 12), (200, 3)):
        a = rng.integers(c, size=n)
        cases.append((a, (rng.random(n) < 0.3 + 0.4 * (a % 2)).astype(int)))
    return cases


def _adjusted(a, b, factor=lambda n, c: (n - 1) / (n - c), power=2):
    n, c = len(a), len(np.unique(a))
    return 1 - (1 - renyi_correlation(a, b) ** power) * factor(n, c)


EXERCISES = {
    "maximal-correlation/1": Function(
        "a function `diluted(P, t)` that returns the new joint table",
        answer=_mixture,
        why="The margins stay, so the same f and g are allowed, and every score is multiplied by "
        "t.",
        cases=lambda: [(P, t) for P in _tables((3, 3), (4, 2)) for t in (0.25, 0.9)],
        mistakes=[
            Mistake(
                lambda P, t: t * P + (1 - t) / P.size,
                "You mixed in a uniform table, which changes the margins. On the other days "
                "weather and journey are drawn from the margins of P.",
            ),
            Mistake(
                lambda P, t: _mixture(P, 1 - t),
                "The weights are exchanged: P itself has probability t.",
            ),
            Mistake(
                lambda P, t: t * P,
                "These probabilities sum to t: the independent days are missing.",
            ),
        ],
    ),
    "maximal-correlation/2": Function(
        "a function `rounds(P)` that returns the number of rounds (not rounded) in which a "
        "disturbance grows a million times",
        answer=_rounds,
        why="A round is two replies, each of which multiplies the first pair's share by σ₂/σ₃.",
        cases=lambda: [(P,) for P in _tables((3, 3), (4, 3), (5, 6))],
        mistakes=[
            Mistake(
                lambda P: _rounds(P, power=1),
                "Twice too many. A round is a reply of f and a reply of g: the factor is "
                "(σ₂/σ₃)².",
            ),
            Mistake(
                lambda P: np.log(1e6) / -np.log(maximal_functions(P).rho ** 2),
                "You compare with the singular value 1. The disturbance grows relative to the "
                "second pair, by (σ₂/σ₃)² in each round.",
            ),
        ],
        rtol=1e-3,
    ),
    "maximal-correlation/3": Function(
        "a function `of_signs(rho)` that returns ρ_R of the two signs",
        answer=lambda rho: 2 / np.pi * abs(np.arcsin(rho)),
        why="The signs are the only functions to choose, and for a weak ρ a share 2/π survives.",
        cases=[(0.5,), (-0.8,), (0.01,), (1.0,)],
        mistakes=[
            Mistake(
                lambda rho: 2 / np.pi * np.arcsin(rho),
                "For a negative ρ this is negative. The maximal correlation never is: turn one of "
                "the functions round.",
            ),
            Mistake(
                lambda rho: 0.5 + np.arcsin(rho) / np.pi,
                "This is the probability that the signs agree; the correlation is twice that "
                "less 1.",
            ),
            Mistake(
                lambda rho: 2 / np.pi * abs(rho),
                "This is right in the limit of a weak correlation only.",
            ),
        ],
    ),
    "maximal-correlation/4": Function(
        "a function `of_leak(rare, leak)` that returns ρ_R by your formula",
        answer=_leaking,
        why="It is the value of the special cell, and tends to √(1 − ℓ): what counts is how sure "
        "the shared part is.",
        cases=[(0.1, 0.5), (0.01, 0.1), (0.3, 0.9), (0.001, 0.0)],
        mistakes=[
            Mistake(
                lambda rare, leak: np.sqrt(1 - leak),
                "This is the limit for rare holidays; the exact formula holds the rarity, too.",
            ),
            Mistake(
                lambda rare, leak: _leaking(rare, leak) ** 2,
                "This is the square of it.",
            ),
            Mistake(
                lambda rare, leak: np.sqrt((1 - leak) / (1 - rare * (1 - leak))),
                "A factor √(1 − r) is missing: the events' covariance is P − p q, not P.",
            ),
        ],
    ),
    "maximal-correlation/5": Function(
        "a function `adjusted(a, b)` that returns the corrected square",
        answer=_adjusted,
        why="Its mean at independence is zero; it is the adjusted R² of a regression.",
        cases=_samples,
        mistakes=[
            Mistake(
                lambda a, b: _adjusted(a, b, lambda n, c: (n - c) / (n - 1)),
                "The factor is upside down: the correction must make the square smaller.",
            ),
            Mistake(
                lambda a, b: _adjusted(a, b, lambda n, c: (n - 1) / (n - c - 1)),
                "Here c counts all values; one of them is the intercept already, so it is n − c.",
            ),
            Mistake(
                lambda a, b: _adjusted(a, b, power=1),
                "You put ρ_R in the place of its square.",
            ),
            Mistake(
                lambda a, b: renyi_correlation(a, b) ** 2,
                "This is the plain square, not corrected.",
            ),
        ],
    ),
}
