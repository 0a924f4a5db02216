"""Newton's method for convex functions of linear scores, under bounds on linear functions.

    minimize  mean_n phi_n(x_n . theta) + sum_j ridge_j theta_j^2 / 2
    subject to  |A_k . theta| <= bound  for every row A_k.

Examples are logistic regression and the fair robust log loss for given multipliers. There are at
most about a hundred features and a handful of constraints, so second derivatives are cheap.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

# Damping relative to the diagonal. It makes the Hessian of collinear columns positive definite and
# is far too small to slow down convergence.
_DAMPING = 1e-10


@dataclass(frozen=True, eq=False)
class NewtonSolution:
    """Result of Newton's method.

    Attributes
    ----------
    theta : ndarray of shape (p,)
        Parameters of the model.
    value : float
        Value of the objective.
    multipliers : ndarray of shape (k,)
        Multipliers of the constraints; after convergence, the gradient is
        ``-A.T @ multipliers`` up to `tol`.
    inverse_hessian : callable
        Function that applies the inverse Hessian at theta to a vector or to columns.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the stopping criterion was met.
    """

    theta: np.ndarray
    value: float
    multipliers: np.ndarray
    inverse_hessian: object
    n_iter: int
    converged: bool


def newton(phi, X, theta, *, ridge, A=None, bound=0.0, tol=1e-6, max_iter=100):
    """Minimize the module's objective by Newton steps, each of which solves a quadratic program.

    Parameters
    ----------
    phi : callable
        Function that maps scores of shape (n,) to the values of phi_n and its first two
        derivatives.
    X : ndarray of shape (n, p)
        Features.
    theta : ndarray of shape (p,)
        Start of the iteration, which must satisfy the constraints; 0 always does.
    ridge : ndarray of shape (p,)
        Strength of the ridge for each parameter.
    A : ndarray of shape (k, p), optional
        Matrix of the constraints; by default, there are none.
    bound : float, default=0.0
        Bound of the constraints.
    tol : float, default=1e-6
        The iteration stops when no entry of the Lagrangian's gradient exceeds `tol` in absolute
        value.
    max_iter : int, default=100
        Maximum number of iterations.

    Returns
    -------
    NewtonSolution
        Solution.

    Examples
    --------
    Find the point of the line x + y = 0 nearest to (1, 0), as a least-squares problem:

    >>> import numpy as np
    >>> from renyi_lib.baselines._newton import newton
    >>> target = np.array([1.0, 0.0])
    >>> def half_squares(z):
    ...     return (z - target) ** 2 / 2, z - target, np.ones(2)
    >>> newton(half_squares, np.eye(2), np.zeros(2), ridge=np.zeros(2), A=np.ones((1, 2))).theta
    array([ 0.5, -0.5])
    """
    A = np.zeros((0, X.shape[1])) if A is None else A
    n_iter = 0
    while True:
        values, first, second = phi(X @ theta)
        value = _total(values, theta, ridge)
        gradient = X.T @ first / len(X) + ridge * theta
        solve = _inverse((X * (second / len(X))[:, None]).T @ X + np.diag(ridge))
        free, along = -solve(gradient), solve(A.T)
        multipliers = _multipliers(A @ along, A @ (theta + free), bound)
        step = free - along @ multipliers
        converged = bool(np.abs(gradient + A.T @ multipliers).max() <= tol)
        if converged or n_iter >= max_iter:
            return NewtonSolution(theta, value, multipliers, solve, n_iter, converged)
        n_iter += 1
        slope, length = gradient @ step, 1.0
        # Halve the step until the value falls by a small part of what the slope predicts (Armijo).
        slack = 1e-15 * max(1.0, abs(value))
        while length > 1e-10:
            moved = theta + length * step
            if _total(phi(X @ moved)[0], moved, ridge) <= value + 1e-4 * length * slope + slack:
                break
            length /= 2
        theta = moved


def _total(values, theta, ridge):
    return float(values.mean() + 0.5 * ridge @ theta**2)


def _inverse(hessian):
    """Return a function that applies the inverse; columns may be collinear or zero."""
    diagonal = np.diag(hessian)
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = hessian / np.outer(unit, unit)
    scaled[np.diag_indices_from(scaled)] = 1.0 + _DAMPING
    factor = cho_factor(scaled)
    return lambda b: (cho_solve(factor, (b.T / unit).T).T / unit).T


def _multipliers(M, r, bound):
    """Minimize mu . M mu / 2 - r . mu + bound * |mu|_1 by coordinate descent.

    At the optimum, |(r - M mu)_k| <= bound for every k, and (r - M mu)_k = bound * sign(mu_k)
    wherever mu_k is not 0. These are the optimality conditions of the quadratic program of a
    Newton step, so mu contains its Lagrange multipliers.
    """
    mu = np.zeros(len(r))
    for _ in range(10_000):
        largest = 0.0
        for k in range(len(r)):
            if M[k, k] <= 0:
                continue
            rest = r[k] - M[k] @ mu + M[k, k] * mu[k]
            new = np.sign(rest) * max(abs(rest) - bound, 0.0) / M[k, k]
            largest = max(largest, abs(new - mu[k]) * M[k, k])
            mu[k] = new
        if largest <= 1e-15 * max(1.0, np.abs(r).max(initial=0.0)):
            break
    return mu
