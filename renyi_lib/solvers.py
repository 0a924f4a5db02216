"""Solvers: gradient descent as the paper writes it, and a fast one for the same problem."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from renyi_lib.objective import FairObjective, History

__all__ = ["Solution", "gradient_descent", "lbfgs", "newton"]

# In coordinates in which the loss has curvature 1, Newton's method takes no curvature to be less.
_LEAST_CURVATURE = 1e-3


class Solution(NamedTuple):
    """What a solver found, how it came there, and whether it is a minimum."""

    theta: np.ndarray
    history: History
    converged: bool


def gradient_descent(
    objective: FairObjective,
    theta: np.ndarray,
    lam: float,
    *,
    eta: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Solution:
    """Algorithms 1 and 2 as written: best response, then one gradient step, over and over.

    Parameters
    ----------
    objective : FairObjective
    theta : ndarray
        The start, theta^0.
    lam : float
    eta : float, optional
        The step size; by default 1 / L, for an estimate L of the Lipschitz constant of the
        gradient: a bound for the loss and, for the penalty, twice its curvature at theta^0.
    tol : float, default=1e-4
        Stop when no entry of the gradient is larger.
    max_iter : int, default=1000

    Returns
    -------
    Solution
        A named tuple: ``theta``; ``history``, whose ``columns()`` are those of `RenyiClassifier`'s
        ``history_``; and ``converged``.
    """
    eta = 1 / _lipschitz_estimate(objective, theta, lam) if eta is None else eta
    history = History()
    while True:
        # Line 3 of either algorithm: v (or w) is the best response to theta. It is inside the
        # penalty, whose gradient is that of f(theta, v) with v fixed.
        _, gradient = objective(theta, lam)
        history.record(objective, lam, gradient)
        converged = bool(np.abs(gradient).max() <= tol)
        if converged or history.n_iter >= max_iter:
            return Solution(theta, history, converged)
        # Line 4.
        theta = theta - eta * gradient


def lbfgs(
    objective: FairObjective,
    theta: np.ndarray,
    lam: float,
    *,
    lam_before: float = 0.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    resolution: float = 0.0,
) -> Solution:
    """Minimise g(theta), the maximum over the adversary's moves, by L-BFGS.

    Three things make a plain L-BFGS slow or stuck here, and each has its cure:

    - *Ill-conditioned data*: L-BFGS works in coordinates in which the loss has about the same
      curvature in every direction. They are renewed now and then (see `_Whitening`).
    - *A large lam* confines theta to a narrow curved valley. The whitening also takes off the
      steepness of the penalty, and lam is raised by factors of 10, each solution being the start
      for the next.
    - *Kinks*: where the adversary has two equally good answers, the gradient jumps, and a line
      search fails. There the penalty is smoothed (see `RenyiPenalty`), less and less, until the
      smoothing is worth less than tol / 10. Elsewhere smoothing changes nothing.

    Parameters
    ----------
    objective : FairObjective
    theta : ndarray
        The start.
    lam : float
    lam_before : float, default=0.0
        The lam that `theta` is a solution for.
    tol : float, default=1e-4
        Stop when no entry of the gradient is larger. At a kink, when no entry of the gradient
        of the smoothed objective is: then theta is nearly stationary in Clarke's sense.
    max_iter : int, default=1000
    resolution : float, default=0.0
        The smoothing need not be less than this.

    Returns
    -------
    Solution
        A named tuple: ``theta``; ``history``, whose ``columns()`` are those of `RenyiClassifier`'s
        ``history_``; and ``converged``.
    """
    history = History()
    stages = _stages(lam_before, lam) if objective.penalty is not None and lam else []
    if not theta.any():
        # Four steps without the penalty: at theta = 0 nothing depends on S, and a penalty has
        # nothing to say yet.
        theta, _ = _descend(objective, theta, 0.0, tol, min(4, max_iter), history)
    for stage in stages:
        smooth, _ = _smoothed(objective, theta, 0.1)
        budget = min(8, max_iter - history.n_iter)
        theta, _ = _descend(smooth, theta, stage, max(tol, 1e-3), budget, history)
    fraction = 0.1
    while True:
        smooth, mu = _smoothed(objective, theta, fraction, resolution)
        theta, converged = _minimize(smooth, theta, lam, tol, max_iter, history)
        if not converged or lam * mu / 2 <= tol / 10 or mu <= resolution:
            return Solution(theta, history, converged)
        _, gradient = objective(theta, lam)
        if np.abs(gradient).max() <= tol:
            return Solution(theta, history, True)
        fraction /= 10


def newton(
    objective: FairObjective,
    theta: np.ndarray,
    lam: float,
    *,
    lam_before: float = 0.0,
    tol: float = 1e-5,
    max_iter: int = 1000,
    resolution: float = 0.0,
) -> Solution:
    """Minimise the same function by Newton's method, for a model and penalty with a Hessian.

    The objective of a regression has many small bumps, and a curvature that changes from place to
    place. L-BFGS needs hundreds of iterations there, in which rounding errors grow until they
    decide which of several minima it ends in. A damped Newton method needs few, so that the
    same minimum is found, to many digits, whatever the order of the sums.

    The step is that of Levenberg and Marquardt for the matrix of the absolute values of the
    curvatures: it goes downhill where the Hessian is indefinite. As in `lbfgs`, lam grows in
    stages, and kinks are smoothed less and less.

    Parameters
    ----------
    objective : FairObjective
    theta : ndarray
        The start. Not 0, where the penalty has nothing to say.
    lam : float
    lam_before : float, default=0.0
        The lam that `theta` is a solution for.
    tol : float, default=1e-5
        Stop when no entry of the gradient of the smoothed objective is larger.
    max_iter : int, default=1000
    resolution : float, default=0.0
        The smoothing at the end. It raises the penalty by at most half of this, and only where
        the squares of two singular values differ by less.

    Returns
    -------
    Solution
        A named tuple: ``theta``; ``history``, whose ``columns()`` are those of `RenyiClassifier`'s
        ``history_``; and ``converged``.
    """
    history = History()
    for stage in _stages(lam_before, lam, first=0.1, factor=np.sqrt(10)):
        smooth, _ = _smoothed(objective, theta, 0.1, resolution)
        theta, _ = _newton(smooth, theta, stage, max(tol, 1e-3), 8, max_iter, history)
    fraction = 0.1
    while True:
        smooth, mu = _smoothed(objective, theta, fraction, resolution)
        last = mu <= max(resolution, 1e-6)
        enough = tol if last else max(tol, 1e-3)
        theta, converged = _newton(smooth, theta, lam, enough, max_iter, max_iter, history)
        if last:
            return Solution(theta, history, converged)
        fraction /= 10


def _newton(objective, theta, lam, tol, budget, max_iter, history):
    """At most `budget` steps, and `max_iter` in all; the new theta and whether it is a minimum."""
    value, gradient = objective(theta, lam)
    if not history.rows:
        history.record(objective, lam, gradient)
    # Coordinates in which the loss has curvature 1.
    (root,) = objective.model.curvature_roots()
    damping = 0.0
    for _ in range(min(budget, max_iter - history.n_iter)):
        if np.abs(gradient).max() <= tol:
            break
        curvatures, directions = np.linalg.eigh(root.T @ objective.hessian(lam) @ root)
        slopes = directions.T @ (root.T @ gradient[0])
        sizes = np.maximum(np.abs(curvatures), _LEAST_CURVATURE)
        while True:
            steps = -slopes / (sizes + damping)
            expected = -(slopes @ steps) - 0.5 * (curvatures @ steps**2)
            moved = theta + (root @ (directions @ steps))[None]
            new_value, new_gradient = objective(moved, lam)
            if expected <= 1e-13 * max(1.0, abs(value)):
                # Differences of the value are rounding errors: only the gradient shows the way.
                if np.abs(new_gradient).max() >= np.abs(gradient).max():
                    return theta, True
                gained = 1.0
            else:
                gained = (value - new_value) / expected
            if gained > 0.1:
                break
            damping = max(4 * damping, 0.1)
            if damping > 1e12:
                return theta, False
        if gained > 0.7:
            damping = damping / 4 if damping > 1e-3 else 0.0
        theta, value, gradient = moved, new_value, new_gradient
        history.record(objective, lam, gradient)
    return theta, bool(np.abs(gradient).max() <= tol)


def _stages(before, lam, first=10.0, factor=10.0):
    """The values of lam on the way, each by a factor larger than the one before."""
    stages = []
    stage = max(factor * before, first)
    while stage < lam:
        stages.append(stage)
        stage *= factor
    return stages


def _smoothed(objective, theta, fraction, resolution=0.0):
    """The objective with its penalty smoothed by a fraction of its value, and that smoothing."""
    if not objective.has_kinks:
        return objective, 0.0
    objective(theta, 0.0)
    mu = max(fraction * objective.penalty_value, resolution)
    return (objective.at_smoothing(mu), mu) if mu > 0 else (objective, 0.0)


def _minimize(objective, theta, lam, tol, max_iter, history):
    """Descend in ever longer runs, with fresh coordinates for each, until nothing is left."""
    run, status = 8, "going"
    while status == "going" and history.n_iter < max_iter:
        budget = min(run, max_iter - history.n_iter)
        theta, status = _descend(objective, theta, lam, tol, budget, history)
        run *= 2
    return theta, status == "converged"


def _descend(objective, theta, lam, tol, budget, history):
    """At most `budget` iterations of L-BFGS from theta, in whitened coordinates.

    Returns the new theta and whether the descent has "converged", is "stuck" or still "going".
    """
    if budget < 1:
        return theta, "going"
    value, gradient = objective(theta, lam)
    if not history.rows:
        history.record(objective, lam, gradient)
    if np.abs(gradient).max() <= tol:
        return theta, "converged"
    whitening = _Whitening(objective, lam)
    steepness = np.linalg.norm(whitening.gradient(gradient))
    # A Newton step gains half the square of the steepness. Too little to be seen in the value?
    if 0.5 * steepness**2 <= 1e-14 * max(1.0, abs(value)):
        return _polish(objective, theta, lam, gradient, whitening, tol, budget, history)
    last = {"z": np.zeros(theta.size), "value": value, "gradient": gradient}
    before = history.n_iter

    def function(z):
        # scipy's first step has length 1: in units of the steepness that is a Newton step.
        if not np.array_equal(z, last["z"]):
            value, gradient = objective(theta + whitening.step(steepness * z), lam)
            last.update(z=z.copy(), value=value, gradient=gradient)
        return last["value"], steepness * whitening.gradient(last["gradient"])

    def callback(intermediate_result):
        function(intermediate_result.x)
        history.record(objective, lam, last["gradient"])
        if np.abs(last["gradient"]).max() <= tol:
            raise StopIteration

    result = minimize(
        function,
        last["z"],
        jac=True,
        method="L-BFGS-B",
        callback=callback,
        options={"maxiter": budget, "maxcor": 20, "maxls": 30, "ftol": 0.0, "gtol": 0.0},
    )
    function(result.x)
    theta = theta + whitening.step(steepness * result.x)
    if np.abs(last["gradient"]).max() <= tol:
        return theta, "converged"
    # Without an iteration, what the line search has gained is rounding error: to begin again would
    # never end.
    if result.fun < value and history.n_iter > before:
        return theta, "going"
    gradient, budget = last["gradient"], budget - (history.n_iter - before)
    if 0.5 * np.linalg.norm(whitening.gradient(gradient)) ** 2 > 1e-10 * max(1.0, abs(value)):
        return theta, "stuck"
    # So near the minimum only the gradient still shows the way.
    theta, _ = _polish(objective, theta, lam, gradient, whitening, tol, budget, history)
    _, gradient = objective(theta, lam)
    return theta, "converged" if np.abs(gradient).max() <= tol else "stuck"


def _polish(objective, theta, lam, gradient, whitening, tol, budget, history):
    """Newton steps guided by the gradient, where differences of the value are rounding error."""
    for _ in range(budget):
        moved = theta - whitening.step(whitening.gradient(gradient))
        _, moved_gradient = objective(moved, lam)
        if np.abs(moved_gradient).max() >= np.abs(gradient).max():
            break
        theta, gradient = moved, moved_gradient
        history.record(objective, lam, gradient)
        if np.abs(gradient).max() <= tol:
            break
    # The minimum, to rounding error, even if tol asks for more.
    return theta, "converged"


class _Whitening:
    """Coordinates z, theta = step(z), in which the objective's curvature is about the identity.

    The curvature is taken as that of the loss, H = (R R^T)^-1 by blocks, plus 2 lam J^T J, where
    the rows of J are the gradients of the penalty's residuals (Gauss and Newton). In the
    coordinates of R it is I + 2 lam (J R)^T (J R), which differs from I in few directions:
    the right singular vectors of J R, which are shrunk to fit.
    """

    def __init__(self, objective, lam):
        """At the theta of the objective's last evaluation."""
        self.shape = objective.model.shape
        self.roots = objective.model.curvature_roots()
        self.steep, self.shrink = np.zeros((np.prod(self.shape), 0)), np.zeros(0)
        rows = [self.gradient(row) for row in objective.residual_gradients()] if lam else []
        if rows:
            self.steep, sizes, _ = np.linalg.svd(np.transpose(rows), full_matrices=False)
            self.shrink = 1 / np.sqrt(1 + 2 * lam * sizes**2) - 1

    def step(self, z):
        """From z to a step of theta."""
        z = z + self.steep @ (self.shrink * (self.steep.T @ z))
        return np.stack([_apply(R, row) for R, row in zip(self.roots, z.reshape(self.shape))])

    def gradient(self, by_theta):
        """From a gradient by theta to one by z."""
        z = np.concatenate([_apply(R.T, row) for R, row in zip(self.roots, by_theta)])
        return z + self.steep @ (self.shrink * (self.steep.T @ z))


def _lipschitz_estimate(objective, theta, lam):
    """An estimate of the Lipschitz constant of the objective's gradient."""
    objective(theta, lam)
    rows = [row.ravel() for row in objective.residual_gradients()] if lam else []
    steepest = np.linalg.norm(rows, 2) if rows else 0.0
    return objective.model.lipschitz() + 4 * lam * steepest**2


def _apply(root, row):
    """A matrix, or a diagonal, times a vector."""
    return root @ row if root.ndim == 2 else root * row
