"""Checks for the exercises of "min-max"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Mistake, Number

_SURE = np.array([0.9, 0.4, 0.2])  # P(Ŷ = 1) of the warm-up's three people
_GROUP = np.array([1, 1, 0])


def _slopes(first, second):
    """Slopes at 2, at 0 and right of 1 of the maximum of θ² and 2 − θ, which tie at 1.

    `first` and `second` are the slopes of the two questions; at the tie the larger one counts.
    """
    return [first(2.0), second(0.0), max(first(1.0), second(1.0))]


EXERCISES = {
    "min-max/a": Number(
        "a number: the probability that the drawn label is 1 and the group is 1",
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
                "This counts decisions. The drawn label is 1 with probability F₁.",
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
    "min-max/3": Number(
        "a number: the power a in ‖v̇‖ ∝ (σ₂² − σ₃²)^a, fitted to what you measured",
        answer=-1.0,
        why="The speed times the gap is constant: the vector turns ever faster, and the gradient "
        "of ρ_R² stays bounded.",
        mistakes=[
            Mistake(1.0, "The speed grows as the gap closes, so the power is negative."),
            Mistake(
                -2.0,
                "Did you fit against σ₂ − σ₃ times something, or measure a squared norm? The "
                "product of speed and gap should hardly change.",
            ),
            Mistake(
                0.0,
                "The speed does not depend on the gap: your difference quotient jumps over the "
                "tie. Take steps much smaller than t.",
            ),
        ],
        rtol=0.03,
    ),
}
