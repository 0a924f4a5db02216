"""Checks for the exercises of "min-max"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number

_SURE = np.array([0.9, 0.4, 0.2])  # P(Ŷ = 1) of the warm-up's three people
_GROUP = np.array([1, 1, 0])


def _slopes(first, second):
    """Slopes at 2, at 0 and right of 1 of the maximum of θ² and 2 − θ, which tie at 1.

    `first` and `second` are the slopes of the two questions; at the tie the larger one counts.
    """
    return [first(2.0), second(0.0), max(first(1.0), second(1.0))]


def _order(f, slope, x, *, forward=False):
    steps = np.array([0.1, 0.01])
    ahead, behind = f(x + steps), f(x - (0 if forward else steps))
    quotients = (ahead - behind) / (steps if forward else 2 * steps)
    distance = np.abs(quotients - slope(x))
    return round(np.log(distance[0] / distance[1]) / np.log(10))


def _forward_order(f, slope, x):
    return _order(f, slope, x, forward=True)


def _one_percent_off(x):
    return 1.01 * np.cos(x)


EXERCISES = {
    "min-max/a": Number(
        "a number: the probability that the sampled label is 1 and the group is 1",
        answer=lambda: np.sum(_SURE[_GROUP == 1]) / len(_SURE),
        why="Sum over the people of group 1, divide by all: it is a joint probability.",
        mistakes=[
            Mistake(
                lambda: np.mean(_SURE[_GROUP == 1]),
                "This is P(Ŷ = 1 | S = 1). The joint table divides by all N people.",
            ),
            Mistake(lambda: np.mean(_SURE), "This is P(Ŷ = 1); only people of group 1 enter P₁₁."),
            Mistake(
                lambda: np.mean((_SURE > 0.5) * (_GROUP == 1)),
                "This counts decisions. The sampled label is 1 with probability F₁.",
            ),
        ],
        rtol=1e-3,
    ),
    "min-max/b": Number(
        "a list of three numbers: the slopes at 2, at 0, and at 1 to the right",
        answer=lambda: _slopes(lambda theta: 2 * theta, lambda theta: -1.0),
        why="Where one question is best its slope counts; at the tie, the larger of the two.",
        mistakes=[
            Mistake(
                [4.0, -1.0, -1.0],
                "At θ = 1 both questions are best. To the right, which of them is on top?",
            ),
            Mistake([4.0, -1.0, 0.5], "At a corner the slope is a maximum, not an average."),
            Mistake(
                [4.0, 0.0, 2.0], "At θ = 0 the questions pay 0 and 2: the second one is best."
            ),
        ],
    ),
    "min-max/1": Choice(
        "the λ for which some place of the grid has a direction that curves downwards",
        options=("all", "1, 10 and 100", "10 and 100", "100 only"),
        answer="10 and 100",
        why="On this bank and this grid; for every bank whose ρ_R² is not constant, it happens "
        "beyond some λ.",
        mistakes={
            "all": "At λ = 0 only the logistic loss is left, and that is convex. Is your second "
            "difference drowned in rounding errors? Take t about 1e-3.",
            "1, 10 and 100": "At λ = 1 the smallest curvature is positive at each of the 169 "
            "places. Take t about 1e-3, and count only what is below -1e-5.",
            "100 only": "Look again at λ = 10, far from the fair rules.",
        },
    ),
    "min-max/2": Choice(
        "what the plain penalty needs to reach ρ_R = 0 at a finite λ",
        options=("nothing more", "linear growth", "a convex loss"),
        answer="linear growth",
        why="Then moving to the nearest fair rule saves more penalty than it costs loss. The "
        "square never grows linearly, so it reaches zero only in the limit.",
        mistakes={
            "nothing more": "In the bank with two spreads ρ_R stays positive at every λ. How does "
            "ρ_R grow with a there?",
            "a convex loss": "The logistic loss is convex in both banks, and in the second one "
            "it is not enough.",
        },
    ),
    "min-max/3": Function(
        "a function `order(f, slope, x)` that returns a whole number",
        answer=_order,
        why="The error of a central quotient falls like t², and a wrong slope stops it.",
        cases=[
            (np.sin, np.cos, 0.3),
            (np.sin, _one_percent_off, 0.3),
            (np.exp, np.exp, 0.5),
        ],
        mistakes=[
            Mistake(
                _forward_order,
                "This is the order of a one-sided quotient; use f(x + t) - f(x - t) over 2t.",
            ),
            Mistake(lambda f, slope, x: -_order(f, slope, x), "The sign is wrong: t decreases."),
        ],
    ),
}
