"""Checks for the exercises of "algorithm-2"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number
from renyi_lib.correlation import renyi_from_joint

_SMALL = np.array([[0.3, 0.1], [0.2, 0.4]])  # table of a warm-up; columns: S = 0 and S = 1


def _rho2(q, r0, r1):
    weight, rate = np.array([1 - q, q]), np.array([r0, r1])
    return renyi_from_joint(np.stack([(1 - rate) * weight, rate * weight])) ** 2


def _penalties(q, r0, r1):
    return [_rho2(q, r0, r1), _rho2(q, r0, r1) * q * (1 - q)]


EXERCISES = {
    "algorithm-2/a": Number(
        "a number: the λ that belongs to λ′ = 10 and q = 0.2",
        answer=lambda: 10 * 0.2 * (1 - 0.2),
        why="λ = λ′ q(1 − q), so the weight of ρ_R² is the smaller one.",
        mistakes=[
            Mistake(
                lambda: 10 / (0.2 * (1 - 0.2)),
                "This converts λ to λ′, but the colleague's weight is already λ′.",
            ),
            Mistake(lambda: 10 * 0.2, "The factor is q(1 − q), not q."),
            Mistake(10.0, "The two weights have different units; look at the factor q(1 − q)."),
        ],
    ),
    "algorithm-2/b": Number(
        "a list of two numbers: w₀ and w₁",
        answer=lambda: _SMALL[:, 1] / _SMALL.sum(axis=1) - 0.5,
        why="It is the share of S = 1 among those with that label, minus one half.",
        mistakes=[
            Mistake(
                lambda: _SMALL[:, 1] / _SMALL.sum(axis=1),
                "These are the shares P(S = 1 | Ŷ = i); subtract ½.",
            ),
            Mistake(
                lambda: (_SMALL[:, 1] - _SMALL[:, 0]) / _SMALL.sum(axis=1),
                "This is twice as large as it should be, because the derivative of w² p is 2 w p.",
            ),
            Mistake(
                lambda: _SMALL[:, 0] / _SMALL.sum(axis=1) - 0.5,
                "You used the share of S = 0, which gives the opposite sign.",
            ),
        ],
        rtol=1e-2,
    ),
    "algorithm-2/1": Choice(
        "what happens to w",
        options=("it stays", "it changes sign", "it becomes 1 − w"),
        answer="it changes sign",
        why="The attribute coded as ±1 changes its sign as well, and the objective "
        "contains only their products and squares.",
        mistakes={
            "it stays": "w is P(S = 1 | Ŷ = i) − ½. Which probability appears when the "
            "names are exchanged?",
            "it becomes 1 − w": "This is true of the share P(S = 1 | Ŷ = i); w is that "
            "share minus ½.",
        },
    ),
    "algorithm-2/2": Choice(
        "for which k the objective decreases at every step",
        options=("k = 1 only", "k = 1 and 10", "all three", "none"),
        answer="k = 1 only",
        why="With an outdated answer the model learns to beat that w and not to be fair.",
        mistakes={
            "k = 1 and 10": "Use the true ρ_R², with the best w at each step, in the "
            "objective; with the old w the objective may well decrease.",
            "all three": "Use the true ρ_R², with the best w at each step, in the "
            "objective; with the old w the objective may well decrease until"
            " the next answer.",
            "none": "With k = 1 this is gradient descent on J. Check that the step is 0.1 and "
            "that λ = 10 is scaled to λ′ = λ / (q(1 − q)).",
        },
    ),
    "algorithm-2/3": Function(
        "a function `penalties(q, r0, r1)` that returns ρ_R² and the unscaled penalty of a binary "
        "decision; `r0` and `r1` are the rates of the groups, `q` = P(S = 1)",
        answer=_penalties,
        why="If the rates stay the same, ρ_R² decreases like q(1 − q), and the unscaled "
        "penalty like its square.",
        cases=[(0.5, 0.5, 0.3), (0.05, 0.5, 0.3), (0.2, 0.1, 0.6)],
        mistakes=[
            Mistake(
                lambda q, r0, r1: 2 * [_rho2(q, r0, r1)],
                "ρ_R² is right. The unscaled penalty is not divided by q(1 − q).",
            ),
            Mistake(
                lambda q, r0, r1: [_rho2(q, r0, r1), _rho2(q, r0, r1) / (q * (1 - q))],
                "ρ_R² is right. The unscaled penalty is smaller by the factor q(1 − q).",
            ),
            Mistake(
                lambda q, r0, r1: _penalties(1 - q, r0, r1),
                "The groups are exchanged; the share q belongs to the rate r1.",
            ),
            Mistake(
                lambda q, r0, r1: [np.sqrt(_rho2(q, r0, r1)), _penalties(q, r0, r1)[1]],
                "The first number is ρ_R; return its square.",
            ),
        ],
    ),
    "algorithm-2/4": Choice(
        "where the three methods end",
        options=("at the same value", "at different values", "they fail"),
        answer="at the same value",
        why="Without kinks the objective after the adversary's response is a smooth "
        "function, and any optimizer for such functions will do.",
        mistakes={
            "at different values": "Compare to five digits. Pass the gradient with "
            "`jac=True`, and make a new function for each method.",
            "they fail": "`make_J` returns a pair: the function (value and gradient, so "
            "`jac=True`) and its trace. Start from a flat array.",
        },
    ),
}
