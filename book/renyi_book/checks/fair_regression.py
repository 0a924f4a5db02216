"""Checks for the warm-ups and exercises of "fair-regression"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number


def _least_squares(X, y):
    return np.linalg.solve(X.T @ X, X.T @ y)


def _uncorrelated(X, y, s, *, centered=True, direction=None):
    if centered:
        X, y, s = (v - v.mean(axis=0) for v in (X, y, s))
    theta, with_s = _least_squares(X, y), X.T @ s
    way = _least_squares(X, s) if direction is None else direction(X, s)
    return theta - (theta @ with_s) / (way @ with_s) * way


def _regressions():
    rng = np.random.default_rng(11)
    cases = []
    for n, p in ((60, 2), (90, 4)):
        X = 3 + rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
        s = X[:, 0] + rng.normal(size=n)
        cases.append((X, 1 + X.sum(axis=1) + rng.normal(size=n), s))
    return cases


def _slope(y_hat, s, *, share=1.0, residual=True, standard=True):
    g = s - s.mean()
    g = g / s.std() if standard else g
    centered = y_hat - y_hat.mean()
    b = centered @ g / (centered @ centered)
    return 2 * share / len(s) * b * (g - b * centered if residual else g)


def _two_groups():
    rng = np.random.default_rng(12)
    cases = []
    for n in (20, 45):
        s = (rng.random(n) < 0.3).astype(int)
        s[:2] = 0, 1
        cases.append((rng.normal(size=n) + s, s))
    return cases


EXERCISES = {
    "fair-regression/a": Choice(
        "the direction in which the prediction moves",
        options=("up", "down", "not at all"),
        answer="up",
        why="The guess is too high for this person, and a higher prediction makes it worse.",
        mistakes={
            "down": "This is the direction of the gradient. Descent goes against it.",
            "not at all": "That would need a slope of 0 or a correct guess.",
        },
    ),
    "fair-regression/b": Number(
        "a number: R² of the best prediction that is independent of S",
        answer=lambda: 1 / 3,
        why="Only X₂ may be used, and it explains one of the three units of variance.",
        mistakes=[
            Mistake(lambda: 2 / 3, "This is the R² of least squares, which uses X₁ too."),
            Mistake(lambda: 1 / 2, "Do not forget the noise; including it, Y has variance 3."),
        ],
        atol=1e-3,
    ),
    "fair-regression/1": Function(
        "a function `uncorrelated(X, y, s)` that returns the coefficients",
        answer=_uncorrelated,
        why="The projection removes exactly the part that causes the covariance.",
        cases=_regressions,
        mistakes=[
            Mistake(
                lambda X, y, s: _uncorrelated(X, y, s, centered=False),
                "Subtract the means of X, y and s first. A covariance needs centered data.",
            ),
            Mistake(
                lambda X, y, s: _uncorrelated(X, y, s, direction=lambda X, s: X.T @ s),
                "This is uncorrelated too, but not the closest. You moved along r_S instead of "
                "along Σ⁻¹ r_S.",
            ),
            Mistake(
                lambda X, y, s: _least_squares(X - X.mean(axis=0), y - y.mean()),
                "These are the least-squares coefficients, before the projection.",
            ),
        ],
    ),
    "fair-regression/2": Function(
        "a function `price(r, t)` that returns the λ above which the constant is better",
        answer=lambda r, t: r**2 / t**2,
        why="The prediction gains r² and pays λ t², whatever its size.",
        cases=[(0.6, 0.8), (0.3, 0.1), (-0.5, 0.4), (0.9, -0.9)],
        mistakes=[
            Mistake(lambda r, t: abs(r / t), "Both terms of the objective are squares."),
            Mistake(lambda r, t: t**2 / r**2, "This is the reciprocal. What does a larger r do?"),
            Mistake(
                lambda r, t: r**2 * t**2,
                "Set the gain r² equal to the price λ t² and solve for λ.",
            ),
        ],
    ),
    "fair-regression/3": Function(
        "a function `slope(y_hat, s)` that returns the gradient, a number for each person",
        answer=_slope,
        why="This is the formula of the text, with one g and a linear f.",
        cases=_two_groups,
        mistakes=[
            Mistake(
                lambda y_hat, s: _slope(y_hat, s, share=len(s)),
                "The factor 1/N of the mean is missing.",
            ),
            Mistake(
                lambda y_hat, s: _slope(y_hat, s, residual=False),
                "You left out -f. Only the part of g that the guess misses counts.",
            ),
            Mistake(
                lambda y_hat, s: _slope(y_hat, s, standard=False),
                "g must have variance 1, so divide by its standard deviation.",
            ),
        ],
    ),
}
