"""Checks for the exercises of "how-fast"."""

from renyi_book.checks._kinds import Choice, Function, Mistake, Number

EXERCISES = {
    "how-fast/1": Number(
        "a number: the power a in (norm at the end) ∝ η^a, fitted to what you measured",
        answer=1.0,
        why="The hiker jumps over a distance of one step; the theorem only promises the square "
        "root of it.",
        mistakes=[
            Mistake(
                0.5,
                "This is the power in the bound; measure the norms over the last 50 rounds.",
            ),
            Mistake(-1.0, "The sign is wrong: a longer step ends further from rest."),
            Mistake(
                0.0,
                "If the norm does not depend on η, it is that of g itself, which stays large at a "
                "corner. Take the gradient of the envelope g_β.",
            ),
        ],
        atol=0.15,
    ),
    "how-fast/2": Function(
        "a function `after(product, steps)` that returns |x| after so many steps from x = 1 on a "
        "parabola with ηL = `product`",
        answer=lambda product, steps: abs(1 - product) ** steps,
        why="A step multiplies x by 1 − ηL: it converges for ηL < 2, fastest at 1.",
        cases=[(0.5, 10), (1.9, 100), (2.0, 7), (2.1, 9), (1.0, 3)],
        mistakes=[
            Mistake(
                lambda product, steps: (1 - product) ** steps,
                "The size is right; x alternates, and |x| was asked for.",
            ),
            Mistake(
                lambda product, steps: abs(1 - product / 2) ** steps,
                "The derivative of L x² / 2 is L x, without the half.",
            ),
            Mistake(
                lambda product, steps: abs(1 - 2 * product) ** steps,
                "This is the parabola L x², whose curvature is 2L.",
            ),
            Mistake(
                lambda product, steps: abs(1 - product) ** (2 * steps),
                "This is the square of |x|, as in the value of the parabola.",
            ),
        ],
    ),
    "how-fast/3": Choice(
        "what smoothing does to the norm of the gradient, and to the true objective",
        options=("smaller, as low", "smaller, higher", "as large, as low", "as large, lower"),
        answer="smaller, as low",
        why="Rounded off, the corner has a bottom where the gradient vanishes, at a price of at "
        "most λμ/2.",
        mistakes={
            "smaller, higher": "Compare the *true* objective of the two points, without "
            "smoothing, to two digits.",
            "as large, as low": "Compare the norms near the end of the two runs, the smoothed "
            "gradient for the smoothed run.",
            "as large, lower": "Compare the median norm over the last 100 rounds, and the true "
            "objective of both points.",
        },
    ),
}
