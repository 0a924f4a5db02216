"""Checks for the exercises of "the-solver"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate


def _steps_for_a_tenth():
    steps, y = 0, 1.0
    while y > 0.1:
        steps, y = steps + 1, 0.99 * y
    return float(steps)


def _projected(values, mu):
    """The probabilities nearest to values / mu, by bisection of what is to be subtracted."""
    scaled = np.asarray(values, dtype=float) / mu
    low, high = scaled.min() - 1, scaled.max()
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(scaled - middle, 0).sum() > 1:
            low = middle
        else:
            high = middle
    return np.maximum(scaled - high, 0)


def _worth(squares, mu, pi):
    return float(pi @ np.asarray(squares, dtype=float) + (1 - pi @ pi) * mu / 2)


def _added(squares, mu):
    return _worth(squares, mu, _projected(squares, mu)) - squares[0]


def _added_if_uniform(squares, mu):
    pi = np.full(len(squares), 1 / len(squares))
    return _worth(squares, mu, pi) - squares[0]


def _first_step(W, gradient):
    return -np.asarray(W, dtype=float) @ (np.asarray(W, dtype=float).T @ gradient)


def _unit_step(W, gradient):
    return _first_step(W, gradient) / np.linalg.norm(W.T @ gradient)


def _not_white(whiten):
    rng = np.random.default_rng(0)
    for size in (2, 5):
        A = rng.normal(size=(size, size))
        C = A @ A.T + 0.1 * np.eye(size)
        W = np.asarray(whiten(C.copy()), dtype=float)
        if W.shape != C.shape:
            return f"W should have the shape of C, {C.shape}; yours has {W.shape}."
        if np.allclose(W.T @ C @ W, np.eye(size), atol=1e-8):
            continue
        if np.allclose(W @ C @ W.T, np.eye(size), atol=1e-8):
            return "This is the transpose of a right answer: W C W^T is the identity."
        if np.allclose(W @ C, np.eye(size), atol=1e-8):
            return "This is the inverse of C. W stands on both sides: half of that is enough."
        off = np.abs(W.T @ C @ W - np.eye(size)).max()
        return f"An entry of W^T C W is {off:.2g} away from that of the identity."
    return None


def _by_eigenvalues(C):
    values, vectors = np.linalg.eigh(C)
    return vectors / np.sqrt(values)


EXERCISES = {
    "the-solver/a": Number(
        "a number of steps",
        answer=_steps_for_a_tenth,
        why="The step that is right for the steep direction is a hundred times too short for "
        "the flat one.",
        mistakes=[
            Mistake(1.0, "That is x. The step 1/100 multiplies y by 1 - 1/100."),
            Mistake(10.0, "Each step takes off a hundredth of y, not a tenth of it."),
            Mistake(
                90.0, "Each step takes off a hundredth of what is *left* of y, not of its start."
            ),
            Mistake(
                lambda: _steps_for_a_tenth() - 1, "One step more: here y is still above a tenth."
            ),
        ],
    ),
    "the-solver/b": Number(
        "a number: how far the smoothed value is above 0.5",
        answer=lambda: _added([0.5, 0.5, 0.5], 0.03),
        why="The best mixture is uniform, and the bonus (1 - 1/3) μ/2.",
        mistakes=[
            Mistake(0.03 / 2, "This is the bound μ/2, which no mixture of three moves reaches."),
            Mistake(lambda: _added([0.5, 0.5], 0.03), "This is the excess for two tied moves."),
            Mistake(
                lambda: 0.5 + _added([0.5, 0.5, 0.5], 0.03),
                "This is the smoothed value itself; only the excess was asked for.",
            ),
        ],
    ),
    "the-solver/1": Function(
        "a function `first_step(W, gradient)` that returns the change of theta, an array",
        answer=_first_step,
        why="The length cancels, and W W^T is the inverse of the curvature: the Newton step.",
        cases=[
            (np.array([[0.5, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])),
            (np.array([[0.7, -0.6], [0.0, 1.3]]), np.array([0.2, 0.1])),
            (np.array([[1.0, 0.0, 0.3], [0.0, 0.5, 0.0], [0.2, 0.0, 2.0]]), np.arange(1.0, 4.0)),
        ],
        mistakes=[
            Mistake(
                _unit_step,
                "This is the step for W itself. The scaled W is longer by |W^T gradient|.",
            ),
            Mistake(
                lambda W, gradient: -_first_step(W, gradient),
                "This goes uphill: the step is against the gradient.",
            ),
            Mistake(
                lambda W, gradient: -W.T @ gradient,
                "This is a step of z. Theta moves by W times it.",
            ),
            Mistake(
                lambda W, gradient: -W.T @ (W @ gradient),
                "The gradient by z is W^T times that by theta, not W times it.",
            ),
        ],
    ),
    "the-solver/2": Predicate(
        "a function `whiten(C)` that returns a matrix W",
        test=_not_white,
        why="W^T C W is the identity; so it is for every W U with an orthogonal U.",
        examples=[_by_eigenvalues, lambda C: np.linalg.inv(np.linalg.cholesky(C)).T],
        mistakes=[
            Mistake(np.linalg.inv, "the inverse of C"),
            Mistake(lambda C: np.linalg.inv(np.linalg.cholesky(C)), "the transpose"),
            Mistake(lambda C: np.linalg.eigh(C)[1], "away from that of the identity"),
        ],
    ),
    "the-solver/3": Function(
        "a function `added(squares, mu)` that returns how far the smoothed value is above the "
        "largest square",
        answer=_added,
        why="For two values with the gap δ < μ it is (μ - δ)² / (4μ), and 0 from there on.",
        cases=[
            ([0.1, 0.1], 0.02),
            ([0.1, 0.095], 0.02),
            ([0.1, 0.07], 0.02),
            ([0.3, 0.29, 0.28], 0.05),
            ([0.3, 0.1, 0.0], 0.01),
        ],
        mistakes=[
            Mistake(
                lambda squares, mu: mu / 2,
                "This is the bound. The excess depends on how close the squares are.",
            ),
            Mistake(
                _added_if_uniform,
                "This plays all moves equally often. The best mixture depends on the squares.",
            ),
            Mistake(
                lambda squares, mu: _added(squares, mu) + squares[0],
                "This is the smoothed value; take off the largest square.",
            ),
            Mistake(
                lambda squares, mu: _projected(squares, mu) @ np.asarray(squares) - squares[0],
                "The bonus for mixing is missing.",
            ),
        ],
        atol=1e-8,
    ),
}
