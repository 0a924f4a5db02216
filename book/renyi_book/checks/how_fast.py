"""Checks for the exercises of "how-fast"."""

from renyi_book.checks._kinds import Function, Mistake, Number


def _rank_at_most(labels, groups):
    """Return the largest rank of a matrix that maps √q to 0 and whose transpose maps √p to 0."""
    return float(min(labels, groups) - 1)


def _enough_steps(L, height, accuracy):
    return 2 * L * height / accuracy**2


EXERCISES = {
    "how-fast/a": Number(
        "a number of steps",
        answer=lambda: _enough_steps(2, 0.5, 0.01),
        why="It is 2 L (J(θ_0) − J*) / ε².",
        mistakes=[
            Mistake(
                lambda: _enough_steps(2, 0.5, 0.01) / 2,
                "The factor 2 is missing. Only *half* of η times the squared norm is guaranteed.",
            ),
            Mistake(
                lambda: _enough_steps(2, 0.5, 0.01) * 0.01,
                "This divides by ε instead of ε². The decrease of J depends on the squared norm.",
            ),
            Mistake(
                lambda: _enough_steps(0.5, 0.5, 0.01),
                "This has 1/L in place of L. The step size is 1/L, so a large L means many steps.",
            ),
        ],
    ),
    "how-fast/b": Number(
        "a number: how many singular values of R can be different from 0",
        answer=lambda: _rank_at_most(2, 5),
        why="The rank of R is at most min(c, d) − 1, so no second value can tie with the first.",
        mistakes=[
            Mistake(2.0, "R maps √p to 0, which removes one dimension from the two labels."),
            Mistake(4.0, "The smaller of the two numbers counts, which is the number of labels."),
            Mistake(5.0, "R has two rows, so its rank cannot be five."),
            Mistake(0.0, "If there were none, label and group would always be independent."),
        ],
    ),
    "how-fast/1": Function(
        "a function `after(product, steps)` that returns |x| after `steps` steps from x = 1 on a "
        "parabola with ηL = `product`",
        answer=lambda product, steps: abs(1 - product) ** steps,
        why="A step multiplies x by 1 − ηL, so it converges for ηL < 2, and fastest for ηL = 1.",
        cases=[(0.5, 10), (1.9, 100), (2.0, 7), (2.1, 9), (1.0, 3)],
        mistakes=[
            Mistake(
                lambda product, steps: (1 - product) ** steps,
                "The size is right, but x alternates in sign, and the exercise asks for |x|.",
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
                "This is the square of |x|, which is proportional to the value of the parabola.",
            ),
        ],
    ),
    "how-fast/2": Number(
        "a number: the power a in (norm at the end) ∝ η^a, fitted to your measurements",
        answer=1.0,
        why="The iterate jumps back and forth over one step, whereas the bound only gives an "
        "error proportional to the square root of the step.",
        mistakes=[
            Mistake(
                0.5,
                "This is the power in the bound. Measure the norms over the last 50 steps.",
            ),
            Mistake(-1.0, "The sign is wrong. A longer step leaves a larger error."),
            Mistake(
                0.0,
                "This may be the norm of the gradient of J itself, which stays large at a kink "
                "whatever η is. Take the gradient of the envelope J_β.",
            ),
        ],
        atol=0.15,
    ),
    "how-fast/3": Function(
        "a function `unsquared(x, beta)` that returns the smallest |x'| + |x − x'| / (2β) over x'",
        answer=lambda x, beta: abs(x) * min(1, 1 / (2 * beta)),
        why="Up to β = 1/2 it is |x| itself, and the kink remains for every β.",
        cases=[(1.2, 0.1), (-0.7, 0.5), (1.2, 2.0), (0.0, 1.0), (-3.0, 0.8)],
        mistakes=[
            Mistake(
                lambda x, beta: abs(x),
                "This is right for a small β. For a large one it is cheaper to move to 0.",
            ),
            Mistake(
                lambda x, beta: abs(x) / (2 * beta),
                "This is the cost of moving to 0. For a small β it is cheaper to stay.",
            ),
            Mistake(
                lambda x, beta: x**2 / (2 * beta) if abs(x) <= beta else abs(x) - beta / 2,
                "This is the envelope with the square.",
            ),
            Mistake(
                lambda x, beta: abs(x) * min(1, 1 / beta),
                "The weight of the distance is 1 / (2β), not 1 / β.",
            ),
        ],
    ),
}
