"""Checks for the exercises of "min-max"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number


def _soft_tables():
    """Tables P(Ŷ = i, S = j) with the shares of the groups."""
    rng = np.random.default_rng(9)
    tables = [rng.dirichlet(np.ones(9)).reshape(3, 3) for _ in range(3)]
    return [(T, T.sum(axis=0)) for T in tables]


def _gap_derivative(T, q, row=2, weigh=True):
    rates = T[row] / q
    derivative = np.zeros_like(T)
    for group, sign in ((rates.argmax(), 1), (rates.argmin(), -1)):
        derivative[row, group] = sign / (q[group] if weigh else 1)
    return derivative


def _through_the_shares(T, q):
    """As if q_j were not fixed but the sum of column j."""
    rates = T[2] / q
    derivative = _gap_derivative(T, q)
    for group, sign in ((rates.argmax(), 1), (rates.argmin(), -1)):
        derivative[:, group] -= sign * rates[group] / q[group]
    return derivative


EXERCISES = {
    "min-max/1": Choice(
        "the penalty that reaches ρ_R = 0 at a finite λ",
        options=("plain", "squared", "both", "neither"),
        answer="plain",
        why="Its corner holds the solution as soon as λ exceeds the slope of the loss; the "
        "parabola is flat at zero.",
        mistakes={
            "squared": "The square has slope zero at ρ_R = 0, so a little ρ_R costs little.",
            "both": "Look at the square for larger and larger λ: ρ_R falls, but like 1/λ.",
            "neither": "Look at the plain penalty beyond λ = 1, with a tight tolerance.",
        },
    ),
    "min-max/2": Function(
        "a function `gap_by_T(T, q)` that returns the derivative of the gap by the table T, an "
        "array of the same shape; `q` holds the fixed shares of the groups",
        answer=_gap_derivative,
        why="Hold the best move (a, b) fixed, and differentiate r_a − r_b.",
        cases=_soft_tables,
        mistakes=[
            Mistake(
                lambda T, q: -_gap_derivative(T, q),
                "The two groups are exchanged: a is the one with the highest rate.",
            ),
            Mistake(
                lambda T, q: _gap_derivative(T, q, weigh=False),
                "A rate is T₂ⱼ / qⱼ, so its derivative by T₂ⱼ is not 1.",
            ),
            Mistake(
                _through_the_shares,
                "You differentiated through q as the sum of a column. The shares of the groups do "
                "not depend on θ: hold them fixed.",
            ),
            Mistake(
                lambda T, q: _gap_derivative(T, q, row=1),
                "This is the gap in another label; the inspector looks at label 2, the last row.",
            ),
        ],
    ),
    "min-max/3": Choice(
        "why the two derivatives must agree at the best responses",
        options=("same function", "same maximum", "coincidence"),
        answer="same maximum",
        why="Both maxima are ρ_R², and by Danskin's theorem each derivative is that of ρ_R².",
        mistakes={
            "same function": "Away from the best responses they differ, as the last line of the "
            "exercise lets you see.",
            "coincidence": "Change θ: they agree again. What do the two maxima have in common?",
        },
    ),
    "min-max/4": Number(
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
