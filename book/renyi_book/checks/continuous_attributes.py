"""Checks for the warm-ups and exercises of "continuous-attributes"."""

import numpy as np
from scipy.stats import rankdata

from renyi_book.checks._kinds import Choice, Function, Mistake, Number
from renyi_lib.continuous import without_bias


def _waves(values, count, scale=2**0.5):
    u = (rankdata(values) - 0.5) / len(values)
    return scale * np.cos(np.pi * np.outer(u, np.arange(1, count + 1)))


def _cosine_rho(x, y, count, **options):
    C = _waves(x, count, **options).T @ _waves(y, count, **options) / len(x)
    return np.linalg.svd(C, compute_uv=False)[0]


def _pairs():
    rng = np.random.default_rng(7)
    cases = []
    for n, count in ((300, 3), (500, 6), (80, 1)):
        x = rng.normal(size=n)
        cases.append((x, x**2 + rng.normal(size=n), count))
    return cases


EXERCISES = {
    "continuous-attributes/a": Number(
        "a number: the chance level of the plug-in",
        answer=lambda: 2 * np.sqrt(9) / np.sqrt(900),
        why="Nine functions of each variable have as much freedom as ten by ten bins.",
        mistakes=[
            Mistake(
                lambda: np.sqrt(9) / np.sqrt(900),
                "Both functions can be chosen freely, so add the square roots of both dimensions.",
            ),
            Mistake(
                lambda: 2 * np.sqrt(8) / np.sqrt(900),
                "Nothing has to be subtracted, because the functions have mean 0 and the "
                "constant is not among them.",
            ),
        ],
        atol=1e-3,
    ),
    "continuous-attributes/b": Choice(
        "what happens to the estimate",
        options=("it stays exactly the same", "it changes a little", "it may change much"),
        answer="it stays exactly the same",
        why="The logarithm and the log-odds preserve the order, and only ranks enter.",
        mistakes={
            "it changes a little": "Which step of the computation sees more than the order?",
            "it may change much": "That is true of Pearson's correlation. Which step of ours "
            "sees more than the order of the values?",
        },
    ),
    "continuous-attributes/1": Function(
        "a function `cosine_rho(x, y, K)` that returns the largest singular value",
        answer=_cosine_rho,
        why="The whole estimator consists of ranks, waves, a product and a singular value.",
        cases=_pairs,
        mistakes=[
            Mistake(
                lambda x, y, count: _cosine_rho(x, y, count, scale=1.0),
                "This is half of ρ_R. A cosine has variance 1/2, so multiply each by √2.",
            ),
            Mistake(
                lambda x, y, count: len(x) * _cosine_rho(x, y, count),
                "This is the sum over the rows. Take the mean.",
            ),
            Mistake(
                lambda x, y, count: abs((_waves(x, 1).T @ _waves(y, 1)).item()) / len(x),
                "You compare only the first waves, but all K may be combined.",
            ),
        ],
    ),
    "continuous-attributes/2": Function(
        "a function `of_sign(r)` that returns ρ_R of the score and the label",
        answer=lambda r: np.sqrt(2 * np.arcsin(r**2) / np.pi),
        why="It is the spread of P(b = 1 | A) in units of the spread of b (Theorem 2).",
        cases=[(0.0,), (0.3,), (-0.6,), (0.9,), (1.0,)],
        mistakes=[
            Mistake(
                lambda r: 2 * np.arcsin(r**2) / np.pi,
                "This is ρ_R²; take its square root.",
            ),
            Mistake(
                lambda r: np.sqrt(2 / np.pi) * r,
                "This is Pearson's correlation of A and b. The best g is fixed, but the best f "
                "is not a straight line.",
            ),
            Mistake(
                lambda r: 2 / np.pi * np.arcsin(r),
                "This is the correlation of two signs, but here one variable stays continuous.",
            ),
        ],
    ),
    "continuous-attributes/3": Function(
        "a function `corrected(rho, K, L, N)` that returns the corrected correlation",
        answer=without_bias,
        why="It is the larger root of a quadratic. If there is none, chance explains everything.",
        cases=[(0.5, 10, 10, 200), (0.8, 3, 7, 90), (0.2, 10, 10, 200), (0.95, 20, 1, 300)],
        mistakes=[
            Mistake(
                lambda rho, p, q, n: without_bias(rho, p, q, n) ** 2,
                "This is the square of the right value, because the equation is solved for ρ².",
            ),
            Mistake(
                lambda rho, p, q, n: max(0.0, rho - (np.sqrt(p) + np.sqrt(q)) / np.sqrt(n)),
                "Subtracting the chance level is too much where there is a correlation. Solve "
                "the equation instead.",
            ),
            Mistake(
                lambda rho, p, q, n: rho,
                "This is the plug-in without a correction.",
            ),
        ],
    ),
}
