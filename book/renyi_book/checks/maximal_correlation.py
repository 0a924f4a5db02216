"""Checks for the warm-ups and exercises of "maximal-correlation"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate, distribution
from renyi_lib.correlation import maximal_functions, renyi_from_joint

# The running example of Part I: weather (cloud, rain, snow, sun) by journey (bike, bus, car).
_DAYS = np.array([[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]])


def _correlation_of_codes(f, g):
    f, g = (np.asarray(codes, dtype=float) for codes in (f, g))
    weights = _DAYS / _DAYS.sum()
    f = f - f @ weights.sum(axis=1)
    g = g - g @ weights.sum(axis=0)
    variances = (f**2 @ weights.sum(axis=1)) * (g**2 @ weights.sum(axis=0))
    return f @ weights @ g / np.sqrt(variances)


def _shares_a_part(answer):
    P = distribution(answer, shape=(3, 3))
    if not (P.sum(axis=0).all() and P.sum(axis=1).all()):
        return "A row or a column has no mass; use all three values of both variables."
    for one, other, cells in (("first", "second", P), ("second", "first", P.T)):
        if np.all((cells > 0).sum(axis=1) == 1):
            return f"Here the {one} variable determines the {other}: every value has one partner."
    rho = renyi_from_joint(P)
    if np.isclose(rho, 1):
        return None
    return f"Its ρ_R is {rho:.3f}. Which event should both variables determine?"


def _tables(*shapes):
    rng = np.random.default_rng(3)
    return [rng.dirichlet(np.ones(c * d)).reshape(c, d) for c, d in shapes]


def _mixture(P, t):
    return t * P + (1 - t) * np.outer(P.sum(axis=1), P.sum(axis=0))


def _leaking(rare, leak):
    return np.sqrt((1 - leak) * (1 - rare) / (1 - rare * (1 - leak)))


EXERCISES = {
    "maximal-correlation/a": Number(
        "a number: the correlation of wet or dry weather with a sheltered or open journey",
        answer=lambda: _correlation_of_codes([0, 1, 1, 0], [0, 1, 1]),
        why="Two well-chosen categories achieve nearly as much as the best of the 144 orders.",
        mistakes=[
            Mistake(
                lambda: _correlation_of_codes([0, 0, 1, 1], [0, 1, 1]),
                "Look at the order of the rows: cloud, rain, snow, sun.",
            ),
            Mistake(
                lambda: _correlation_of_codes([0, 1, 1, 0], [0, 1, 0]),
                "A car is a shelter, too, so bus and car both get the value 1.",
            ),
            Mistake(
                lambda: _correlation_of_codes([0, 1, 1, 0], [0, 1, 2]),
                "The journeys still have the values 0, 1, 2 in alphabetical order.",
            ),
        ],
        atol=1e-3,
    ),
    "maximal-correlation/b": Predicate(
        "a joint table with three rows and three columns, ρ_R = 1, in which neither variable "
        "determines the other",
        test=_shares_a_part,
        why="Both variables determine one event, and nothing else about each other.",
        examples=[
            [[1 / 6, 1 / 6, 0], [1 / 6, 1 / 6, 0], [0, 0, 1 / 3]],
            [[0.2, 0, 0], [0, 0.3, 0.1], [0, 0.1, 0.3]],
        ],
        mistakes=[
            Mistake(np.eye(3) / 3, "the first variable determines the second"),
            Mistake(np.full((3, 3), 1 / 9), "ρ_R is 0.000"),
            Mistake([[0.25, 0.25, 0], [0.25, 0.25, 0], [0, 0, 0]], "no mass"),
            Mistake([[1, 1, 0], [1, 1, 0], [0, 0, 1]], "do not sum to 1"),
        ],
    ),
    "maximal-correlation/1": Function(
        "a function `diluted(P, t)` that returns the new joint table",
        answer=_mixture,
        why="The marginals stay the same, so the same f and g are allowed, and every "
        "correlation is multiplied by t.",
        cases=lambda: [(P, t) for P in _tables((3, 3), (4, 2)) for t in (0.25, 0.9)],
        mistakes=[
            Mistake(
                lambda P, t: t * P + (1 - t) / P.size,
                "You mixed in a uniform table, which changes the marginals. On the other "
                "days weather and journey are drawn from the marginals of P.",
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
        "a function `second(P)` that returns the correlation of the second pair",
        answer=lambda P: maximal_functions(P).singular_values[1],
        why="The alternation does not move there, but it is a saddle point, and the "
        "smallest disturbance leads away from it.",
        cases=lambda: [(P,) for P in _tables((3, 3), (4, 3), (5, 6))],
        mistakes=[
            Mistake(
                lambda P: maximal_functions(P).rho,
                "This is the best pair; take it out of the table first.",
            ),
            Mistake(
                lambda P: np.sqrt(np.sum(maximal_functions(P).singular_values[:2] ** 2)),
                "You added the squares of both pairs; return only the value of the second pair.",
            ),
        ],
        rtol=1e-3,
    ),
    "maximal-correlation/3": Function(
        "a function `of_signs(rho)` that returns ρ_R of the two signs",
        answer=lambda rho: 2 / np.pi * abs(np.arcsin(rho)),
        why="The signs are the only functions to choose from, and for a small ρ a "
        "fraction 2/π of it remains.",
        cases=[(0.5,), (-0.8,), (0.01,), (1.0,)],
        mistakes=[
            Mistake(
                lambda rho: 2 / np.pi * np.arcsin(rho),
                "For a negative ρ this is negative. The maximal correlation never is, "
                "because one of the functions can change its sign.",
            ),
            Mistake(
                lambda rho: 0.5 + np.arcsin(rho) / np.pi,
                "This is the probability that the signs agree; the correlation is twice "
                "that minus 1.",
            ),
            Mistake(
                lambda rho: 2 / np.pi * abs(rho),
                "This is correct only in the limit of a small correlation.",
            ),
        ],
    ),
    "maximal-correlation/4": Function(
        "a function `of_leak(rare, leak)` that returns ρ_R by your formula",
        answer=_leaking,
        why="It is the correlation of the two special events, and it tends to √(1 − "
        "leak), so it depends on how certain the shared event is.",
        cases=[(0.1, 0.5), (0.01, 0.1), (0.3, 0.9), (0.001, 0.0)],
        mistakes=[
            Mistake(
                lambda rare, leak: np.sqrt(1 - leak),
                "This is the limit for rare badges; the exact formula also contains the "
                "share of badges.",
            ),
            Mistake(
                lambda rare, leak: _leaking(rare, leak) ** 2,
                "This is ρ_R²; return ρ_R itself.",
            ),
            Mistake(
                lambda rare, leak: np.sqrt((1 - leak) / (1 - rare * (1 - leak))),
                "A factor √(1 − rare) is missing, because the covariance of the events is"
                " P − p q, not P.",
            ),
        ],
    ),
}
