"""Checks for the exercises of "algorithm-1"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Predicate, distribution
from renyi_lib.correlation import renyi_from_joint


def _cheating(eps, rho):
    return [1 - eps**2 + eps**2 * rho**2, eps**2]


def _value_at_zero(q):
    """vᵀQᵀQv at independence for the first singular vector that NumPy gives a zero matrix."""
    v = np.linalg.svd(np.zeros((3, len(q))))[2][0]
    return (v @ np.sqrt(q)) ** 2


def _hidden(table):
    P = distribution(table)
    if P.ndim != 2 or P.shape[0] < 2 or P.shape[1] != 4:
        return "The table should have a row for each decision, two or more, and four columns."
    if not P.sum(axis=0).all():
        return "A group has no people in it."
    if renyi_from_joint(P) < 0.1:
        return "The decision hardly depends on the four groups: there is nothing to hide."
    if renyi_from_joint(P[:, :2] + P[:, 2:]) > 1e-6:
        return "The decision depends on the merged groups (columns 0 and 2, 1 and 3) as well."
    return None


def _by_rates(*rates):
    rates = np.array(rates)
    return np.stack([1 - rates, rates]) / 4


EXERCISES = {
    "algorithm-1/1": Function(
        "a function `cheating(eps, rho)` that returns the payoff and the factor of the honest "
        "gradient",
        answer=_cheating,
        why="The mixed term vanishes for every θ, and the constant has no gradient: cheating "
        "amounts to a smaller λ.",
        cases=[(0.5, 0.3), (0.1, 0.9), (1.0, 0.4)],
        mistakes=[
            Mistake(
                lambda eps, rho: [1 - eps + eps * rho**2, eps],
                "The payoff is quadratic in v, so ε comes squared.",
            ),
            Mistake(
                lambda eps, rho: [1 - eps**2 + eps**2 * rho, eps**2],
                "The payoff of the honest adversary is ρ_R squared.",
            ),
            Mistake(
                lambda eps, rho: [eps**2 * rho**2, eps**2],
                "The factor is right, but the forbidden direction pays, too: vᵀQᵀQv is 1 there.",
            ),
            Mistake(
                lambda eps, rho: [1 - eps**2 + eps**2 * rho**2, 1.0],
                "The payoff is right. Now differentiate it by θ: which of its terms depends on θ?",
            ),
        ],
    ),
    "algorithm-1/2": Function(
        "a function `value(q)` that returns the value of the penalty at θ = 0 with the v that "
        "NumPy returns, for any shares `q` of the groups",
        answer=_value_at_zero,
        why="It is q₁ in place of 0; the gradient by T has equal rows, which the softmax drops.",
        cases=lambda: [(np.array(q),) for q in ([0.4, 0.3, 0.2, 0.1], [0.1, 0.9], [0.25] * 4)],
        mistakes=[
            Mistake(lambda q: 0.0, "This is what it should be; put NumPy's v into vᵀQᵀQv."),
            Mistake(
                lambda q: np.sqrt(q[0]),
                "This is the cosine of the angle with v₁; the penalty is its square.",
            ),
            Mistake(
                lambda q: 1.0, "This is the value at v₁ itself; NumPy returns the first axis."
            ),
            Mistake(lambda q: q[-1], "This is the share of the last group; v is the first axis."),
        ],
    ),
    "algorithm-1/3": Choice(
        "what a small batch teaches the model, beside fairness",
        options=("to vary less", "to vary more", "nothing else"),
        answer="to vary less",
        why="The maximum finds dependence in noise, and soft labels that hardly vary have little "
        "noise to find it in.",
        mistakes={
            "to vary more": "Look at the constant labels: their penalty is 0 in every batch.",
            "nothing else": "Then shuffled labels would have no penalty. Do they, in batches of "
            "32?",
        },
    ),
    "algorithm-1/4": Predicate(
        "a joint table, decisions by four groups, for which ρ_R is at least 0.1 and which has "
        "ρ_R = 0 after merging column 0 with 2 and 1 with 3",
        test=_hidden,
        why="A function of the merged groups is a function of the four, so merging can only hide.",
        examples=[_by_rates(0.2, 0.3, 0.8, 0.7), _by_rates(0.9, 0.5, 0.1, 0.5)],
        mistakes=[
            Mistake(_by_rates(0.5, 0.5, 0.5, 0.5), "there is nothing to hide"),
            Mistake(_by_rates(0.2, 0.8, 0.2, 0.8), "depends on the merged groups"),
            Mistake(2 * _by_rates(0.2, 0.8), "four columns"),
            Mistake(2 * _by_rates(0.2, 0.3, 0.8, 0.7), "do not sum to 1"),
            Mistake([[0.25, 0.25, 0, 0], [0, 0.5, 0, 0]], "no people"),
        ],
    ),
}
