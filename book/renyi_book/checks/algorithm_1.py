"""Checks for the exercises of "algorithm-1"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate, distribution
from renyi_lib.correlation import renyi_from_joint

_SMALL = np.array([[0.3, 0.1], [0.2, 0.4]])  # table of the warm-ups
_G = np.array([1.0, -1.0])  # adversary's numbers


def _means():
    return _SMALL @ _G / _SMALL.sum(axis=1)


def _census():
    """Return three random cases, each with the rates and shares of four groups."""
    rng = np.random.default_rng(4)
    return [(rng.random(4), rng.dirichlet(np.ones(4))) for _ in range(3)]


def _excess(rates, q):
    return rates - rates @ q


def _two_classes(rates, q):
    """Return each group's rate minus the overall rate, scaled to variance 1."""
    return _excess(rates, q) / np.sqrt(_excess(rates, q) ** 2 @ q)


def _cheating(eps, rho):
    return [1 - eps**2 + eps**2 * rho**2, eps**2]


def _value_at_zero(q):
    """Compute vᵀQᵀQv at independence for NumPy's first singular vector of a zero matrix."""
    v = np.linalg.svd(np.zeros((3, len(q))))[2][0]
    return (v @ np.sqrt(q)) ** 2


def _hidden(table):
    P = distribution(table)
    if P.ndim != 2 or P.shape[0] < 2 or P.shape[1] != 4:
        return "The table should have at least two rows, one for each decision, and four columns."
    if not P.sum(axis=0).all():
        return "One group is empty."
    if renyi_from_joint(P) < 0.1:
        return "The decision hardly depends on the four groups, so there is nothing to hide."
    if renyi_from_joint(P[:, :2] + P[:, 2:]) > 1e-6:
        return "The decision depends on the merged groups (columns 0 and 2, 1 and 3) as well."
    return None


def _by_rates(*rates):
    rates = np.array(rates)
    return np.stack([1 - rates, rates]) / 4


EXERCISES = {
    "algorithm-1/a": Number(
        "a list of two numbers: m₀ and m₁",
        answer=_means,
        why="Each is the average of g among those who get that label.",
        mistakes=[
            Mistake(
                lambda: _SMALL @ _G, "These are the sums over j of P_ij g_j; divide each by p_i."
            ),
            Mistake(
                lambda: _SMALL @ _G / _SMALL.sum(axis=0),
                "You divided by the shares of the groups; divide by p_i, the sum of the row.",
            ),
        ],
        rtol=1e-2,
    ),
    "algorithm-1/b": Number(
        "a number: the derivative of the value with respect to the upper left entry of P",
        answer=lambda: 2 * _means()[0] * _G[0] - _means()[0] ** 2,
        why="It is 2 m₀ g₀ − m₀², because the entry occurs in the numerator and in p₀.",
        mistakes=[
            Mistake(
                lambda: 2 * _means()[0] * _G[0],
                "P₀₀ is also part of p₀ in the denominator, which gives a second term.",
            ),
            Mistake(
                lambda: 2 * _means()[0] * _G[1] - _means()[0] ** 2,
                "This is the derivative with respect to the entry next to it; use g of column 0.",
            ),
        ],
        rtol=1e-3,
    ),
    "algorithm-1/1": Function(
        "a function `cheating(eps, rho)` that returns the payoff and the factor of the honest "
        "gradient",
        answer=_cheating,
        why="The mixed term vanishes for every θ, and the constant has no gradient, so "
        "cheating amounts to a smaller λ.",
        cases=[(0.5, 0.3), (0.1, 0.9), (1.0, 0.4)],
        mistakes=[
            Mistake(
                lambda eps, rho: [1 - eps + eps * rho**2, eps],
                "The payoff is quadratic in v, so ε enters squared.",
            ),
            Mistake(
                lambda eps, rho: [1 - eps**2 + eps**2 * rho, eps**2],
                "The payoff of the honest adversary is ρ_R squared.",
            ),
            Mistake(
                lambda eps, rho: [eps**2 * rho**2, eps**2],
                "The factor is right, but the forbidden direction also pays, since vᵀQᵀQv"
                " is 1 there.",
            ),
            Mistake(
                lambda eps, rho: [1 - eps**2 + eps**2 * rho**2, 1.0],
                "The payoff is right. Now differentiate it with respect to θ. Which of "
                "its terms depends on θ?",
            ),
        ],
    ),
    "algorithm-1/2": Function(
        "a function `value(q)` that returns the value of the penalty at θ = 0 with the v that "
        "NumPy returns, for any shares `q` of the groups",
        answer=_value_at_zero,
        why="It is q₀ in place of 0. The derivative with respect to P has equal rows, "
        "which have no effect through the softmax.",
        cases=lambda: [(np.array(q),) for q in ([0.4, 0.3, 0.2, 0.1], [0.1, 0.9], [0.25] * 4)],
        mistakes=[
            Mistake(
                lambda q: 0.0, "This is what the value should be; insert NumPy's v into vᵀQᵀQv."
            ),
            Mistake(
                lambda q: np.sqrt(q[0]),
                "This is the cosine of the angle with v₁; the penalty is its square.",
            ),
            Mistake(
                lambda q: 1.0,
                "This is the value at v₁ itself; NumPy returns the first unit vector.",
            ),
            Mistake(
                lambda q: q[-1], "This is the share of the last group; v is the first unit vector."
            ),
        ],
    ),
    "algorithm-1/3": Predicate(
        "a joint table of decisions and four groups with ρ_R of at least 0.1, and with "
        "ρ_R = 0 after merging column 0 with 2 and column 1 with 3",
        test=_hidden,
        why="A function of the merged groups is a function of the four groups, so merging"
        " can only hide dependence.",
        examples=[_by_rates(0.2, 0.3, 0.8, 0.7), _by_rates(0.9, 0.5, 0.1, 0.5)],
        mistakes=[
            Mistake(_by_rates(0.5, 0.5, 0.5, 0.5), "there is nothing to hide"),
            Mistake(_by_rates(0.2, 0.8, 0.2, 0.8), "depends on the merged groups"),
            Mistake(2 * _by_rates(0.2, 0.8), "four columns"),
            Mistake(2 * _by_rates(0.2, 0.3, 0.8, 0.7), "do not sum to 1"),
            Mistake([[0.25, 0.25, 0, 0], [0, 0.5, 0, 0]], "is empty"),
        ],
    ),
    "algorithm-1/4": Function(
        "a function `g(rates, q)` that returns the adversary's number for each group; `rates` "
        "holds P(Ŷ = 1 | S = j), `q` the shares",
        answer=_two_classes,
        why="With two classes R has rank one, and its right singular vector is the "
        "deviation from the overall rate times √q.",
        cases=_census,
        mistakes=[
            Mistake(_excess, "This is right up to scale. Scale it so that E g² = 1."),
            Mistake(
                lambda rates, q: _two_classes(rates, q) * np.sqrt(q),
                "This is v; the adversary's number is g_j = v_j / √q_j.",
            ),
            Mistake(
                lambda rates, q: -_two_classes(rates, q),
                "The sign is arbitrary, but this check wants the group with the highest "
                "rate to be positive.",
            ),
            Mistake(
                lambda rates, q: _two_classes(rates, np.full(4, 0.25)),
                "The overall rate and the variance weight each group by its share q.",
            ),
        ],
    ),
}
