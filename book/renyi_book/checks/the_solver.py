"""Checks for the exercises of "the-solver"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate


def _steps_for_a_tenth():
    steps, y = 0, 1.0
    while y > 0.1:
        steps, y = steps + 1, 0.99 * y
    return float(steps)


def _condition(d, lam):
    return float(1 + 2 * lam * np.sum(np.square(d)))


def _first_step(W, gradient):
    return -np.asarray(W, dtype=float) @ (np.asarray(W, dtype=float).T @ gradient)


def _unit_step(W, gradient):
    return _first_step(W, gradient) / np.linalg.norm(W.T @ gradient)


def _not_white(whitening):
    rng = np.random.default_rng(0)
    for size in (2, 5):
        A = rng.normal(size=(size, size))
        C = A @ A.T + 0.1 * np.eye(size)
        W = np.asarray(whitening(C.copy()), dtype=float)
        if W.shape != C.shape:
            return f"W should have the shape of C, {C.shape}; yours has {W.shape}."
        if np.allclose(W.T @ C @ W, np.eye(size), atol=1e-8):
            continue
        if np.allclose(W @ C @ W.T, np.eye(size), atol=1e-8):
            return "This is the transpose of a right answer, because W C W^T is the identity."
        if np.allclose(W @ C, np.eye(size), atol=1e-8):
            return "This is the inverse of C. W appears twice, so its square root is enough."
        off = np.abs(W.T @ C @ W - np.eye(size)).max()
        return f"An entry of W^T C W differs from the identity by {off:.2g}."
    return None


def _by_eigenvalues(C):
    values, vectors = np.linalg.eigh(C)
    return vectors / np.sqrt(values)


EXERCISES = {
    "the-solver/a": Number(
        "a number of steps",
        answer=_steps_for_a_tenth,
        why="A step that suits the steep direction is a hundred times too short for the flat one.",
        mistakes=[
            Mistake(1.0, "This is the answer for x. A step of 1/100 multiplies y by 1 - 1/100."),
            Mistake(10.0, "Each step removes a hundredth of y, not a tenth."),
            Mistake(
                90.0, "Each step removes a hundredth of the *current* y, not of its initial value."
            ),
            Mistake(
                lambda: _steps_for_a_tenth() - 1,
                "One step more is needed, since y is still above a tenth here.",
            ),
        ],
    ),
    "the-solver/b": Number(
        "a number: the largest eigenvalue of C",
        answer=lambda: _condition(np.array([0.5, 0.0]), 100),
        why="Along the gradient of ρ it is 1 + 2 λ times the squared length, and 1 elsewhere.",
        mistakes=[
            Mistake(50.0, "This is the curvature of the penalty alone; the loss adds 1."),
            Mistake(101.0, "The curvature grows with the *square* of the length of the gradient."),
            Mistake(26.0, "The factor 2 is missing: the second derivative of ρ² has one."),
            Mistake(1.0, "This is the eigenvalue in the directions orthogonal to the gradient."),
        ],
    ),
    "the-solver/1": Function(
        "a function `first_step(W, gradient)` that returns the change of theta, an array",
        answer=_first_step,
        why="The length cancels. Because W W^T is the inverse of C, this is the Newton step.",
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
                "This goes uphill. The step is against the gradient.",
            ),
            Mistake(
                lambda W, gradient: -W.T @ gradient,
                "This is the step of z. Theta moves by W times this step.",
            ),
            Mistake(
                lambda W, gradient: -W.T @ (W @ gradient),
                "The gradient with respect to z is W^T times the gradient with respect to theta.",
            ),
        ],
    ),
    "the-solver/2": Predicate(
        "a function `whitening(C)` that returns a matrix W",
        test=_not_white,
        why="W^T C W is the identity, as it is for W U with any orthogonal matrix U.",
        examples=[_by_eigenvalues, lambda C: np.linalg.inv(np.linalg.cholesky(C)).T],
        mistakes=[
            Mistake(np.linalg.inv, "the inverse of C"),
            Mistake(lambda C: np.linalg.inv(np.linalg.cholesky(C)), "the transpose"),
            Mistake(lambda C: np.linalg.eigh(C)[1], "differs from the identity"),
        ],
    ),
    "the-solver/3": Function(
        "a function `condition(d, lam)` that returns the condition number of I + 2 lam d d^T",
        answer=_condition,
        why="Along d the eigenvalue is 1 + 2 λ |d|², and in all orthogonal directions it is 1.",
        cases=[
            (np.array([0.5, 0.0]), 100.0),
            (np.array([1.0, -2.0, 0.5]), 3.0),
            (np.array([0.1, 0.2, 0.2, 0.4]), 1e4),
            (np.array([0.0, 0.0]), 10.0),
        ],
        mistakes=[
            Mistake(
                lambda d, lam: 1 + 2 * lam * np.linalg.norm(d),
                "The length of d enters twice, because d d^T maps d to |d|² d.",
            ),
            Mistake(lambda d, lam: 1 + lam * d @ d, "The factor 2 is missing."),
            Mistake(
                lambda d, lam: 2 * lam * d @ d,
                "This is the eigenvalue of 2 λ d d^T alone; the identity adds 1.",
            ),
        ],
    ),
}
