"""Checks for the warm-ups and exercises of "optimal-rule"."""

import numpy as np
from scipy.optimize import brentq

from renyi_book.checks._kinds import Choice, Function, Mistake, Number


def _squared(lam, gap, mean, q):
    return lam * q * (1 - q) * gap / (mean * (1 - mean))


def _gap_of_scores(k, share, eta, b):
    root = np.sqrt((1 + 4 * k * b) ** 2 - 16 * k * b * eta)
    return share @ (b * 2 * eta / (1 + 4 * k * b + root))


def _limit(share, eta, b):
    return brentq(_gap_of_scores, -50, 50, args=(share, eta, b), xtol=1e-12)


def _first_crossing(share, eta, b):
    """Return the smallest k of a grid at which the gap of the decisions is not positive."""
    grid = np.linspace(0, 2, 4001)
    gaps = np.array([share @ (b * (eta - k * b > 0.5)) for k in grid])
    return grid[np.argmax(gaps <= 0)]


def _populations():
    rng = np.random.default_rng(5)
    cases = []
    while len(cases) < 3:
        share, eta = rng.dirichlet(np.ones(20)), rng.uniform(0.05, 0.95, 20)
        sigma = np.clip(eta + rng.normal(0, 0.25, 20), 0.05, 0.95)
        q = share @ sigma
        b = sigma / q - (1 - sigma) / (1 - q)
        if abs(_limit(share, eta, b) - _first_crossing(share, eta, b)) > 0.01:
            cases.append((share, eta, b))
    return cases


EXERCISES = {
    "optimal-rule/a": Number(
        "a number: the smallest k for which the type is rejected",
        answer=lambda: (0.6 - 0.5) / 0.8,
        why="The line through the point (0, 1/2) with this slope passes through the type.",
        mistakes=[
            Mistake(lambda: 0.6 / 0.8, "Then η − k b would be 0. What is it compared with?"),
            Mistake(lambda: (0.6 - 0.5) * 0.8, "Solve 0.6 − 0.8 k = 1/2 for k."),
        ],
        atol=1e-3,
    ),
    "optimal-rule/b": Choice(
        "what happens to the gap of the decisions",
        options=("changes sign", "vanishes", "stays positive"),
        answer="changes sign",
        why="The multiplier continues to its limit, which the mean scores determine.",
        mistakes={
            "vanishes": "The gap of the scores vanishes in the limit. Does the gap of the "
            "decisions?",
            "stays positive": "It does until k reaches 0.10. Does k stop there?",
        },
    ),
    "optimal-rule/1": Function(
        "a function `squared_k(lam, gap, mean, q)` that returns the multiplier",
        answer=_squared,
        why="At F = 1/2, the log-loss has twice the slope of the squared loss, 2 (F − η).",
        cases=[(1.0, 0.2, 0.3, 0.5), (10.0, 0.05, 0.6, 0.3), (0.5, -0.1, 0.2, 0.7)],
        mistakes=[
            Mistake(
                lambda *told: _squared(*told) / 2,
                "This is the multiplier of the log-loss, whose slope at 1/2 is steeper.",
            ),
            Mistake(
                lambda *told: 2 * _squared(*told),
                "The squared loss has a factor 2 in its slope, too.",
            ),
        ],
    ),
    "optimal-rule/2": Function(
        "a function `limit_k(share, eta, b)` that returns the limit of k",
        answer=_limit,
        why="The limit is the multiplier of the constraint that the gap is zero.",
        cases=_populations,
        mistakes=[
            Mistake(
                lambda *told: 4 * _limit(*told),
                "This is the factor of b in the equation, 4 k. Divide by 4.",
            ),
            Mistake(
                _first_crossing,
                "This k makes the decisions fair. The limit makes the mean scores equal.",
            ),
        ],
        atol=1e-4,
    ),
    "optimal-rule/3": Function(
        "a function `thresholds(k, q)` that returns the thresholds of groups 0 and 1",
        answer=lambda k, q: np.array([0.5 - k / (1 - q), 0.5 + k / q]),
        why="Thresholds by group are the bias-score rule for a known group.",
        cases=[(0.05, 0.7), (0.1, 0.5), (0.02, 0.2)],
        mistakes=[
            Mistake(
                lambda k, q: np.array([0.5 + k / (1 - q), 0.5 - k / q]),
                "For a positive k the rule raises the threshold of the group with b > 0.",
            ),
            Mistake(
                lambda k, q: np.array([0.5 - k, 0.5 + k]),
                "What is b for a member of a group whose share is q?",
            ),
            Mistake(
                lambda k, q: np.array([0.5 + k / q, 0.5 - k / (1 - q)]),
                "These are the right thresholds in the wrong order, because group 0 comes first.",
            ),
        ],
    ),
}
