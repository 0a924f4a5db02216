"""Checks for the exercises of "min-max"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number

_SURE = np.array([0.9, 0.4, 0.2])  # P(Ŷ = 1) of the three people in the warm-up
_GROUP = np.array([1, 1, 0])


def _slopes(first, second):
    """Return the slopes of max(θ², 2 − θ) at 2, at 0, and just to the right of the tie at 1.

    `first` and `second` compute the slopes of θ² and 2 − θ; at the tie the larger one counts.
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
        why="It is a joint probability, so sum over the people of group 1 and divide by "
        "the number of all people.",
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
        "a list of three numbers: the slopes at 2, at 0, and just to the right of 1",
        answer=lambda: _slopes(lambda theta: 2 * theta, lambda theta: -1.0),
        why="Where one question is best, its slope counts, and at the tie the larger of "
        "the two slopes does.",
        mistakes=[
            Mistake(
                [4.0, -1.0, -1.0],
                "At θ = 1 both questions are best. To the right, which of them is on top?",
            ),
            Mistake(
                [4.0, -1.0, 0.5], "At a kink the one-sided slope is a maximum, not an average."
            ),
            Mistake(
                [4.0, 0.0, 2.0], "At θ = 0 the questions pay 0 and 2, so the second one is best."
            ),
        ],
    ),
    "min-max/1": Choice(
        "the values of λ for which some point of the grid has a direction of negative curvature",
        options=("all", "1, 10 and 100", "10 and 100", "100 only"),
        answer="10 and 100",
        why="This holds for this bank and this grid. For every bank whose ρ_R² is not "
        "constant, it happens beyond some λ.",
        mistakes={
            "all": "At λ = 0 only the logistic loss is left, and it is convex. Rounding "
            "errors may dominate your second difference; use t of about 1e-3.",
            "1, 10 and 100": "At λ = 1 the smallest curvature is positive at each of the "
            "169 points. Use t of about 1e-3, and count only values "
            "below -1e-5.",
            "100 only": "Look again at λ = 10, far from the fair rules.",
        },
    ),
    "min-max/2": Choice(
        "what the plain penalty needs to reach ρ_R = 0 at a finite λ",
        options=("nothing more", "linear growth", "a convex loss"),
        answer="linear growth",
        why="Then moving to the nearest fair rule saves more penalty than it adds to the "
        "loss. The square never grows linearly, so it reaches zero only in the limit.",
        mistakes={
            "nothing more": "In the bank with two standard deviations ρ_R stays positive "
            "at every λ. How does ρ_R grow with a there?",
            "a convex loss": "The logistic loss is convex in both banks, and in the "
            "second bank this is not enough.",
        },
    ),
    "min-max/3": Function(
        "a function `order(f, slope, x)` that returns a whole number",
        answer=_order,
        why="The error of a central difference quotient decreases like t², unless the "
        "slope is wrong.",
        cases=[
            (np.sin, np.cos, 0.3),
            (np.sin, _one_percent_off, 0.3),
            (np.exp, np.exp, 0.5),
        ],
        mistakes=[
            Mistake(
                _forward_order,
                "This is the order of a one-sided quotient; divide f(x + t) - f(x - t) by 2t.",
            ),
            Mistake(
                lambda f, slope, x: -_order(f, slope, x), "The sign is wrong, because t decreases."
            ),
        ],
    ),
}
