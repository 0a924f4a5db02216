"""Solvers: gradient descent as the paper writes it, and a fast one for the same problem."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from renyi_lib.objective import Evaluation, FairObjective, History

__all__ = ["Solution", "gradient_descent", "lbfgs", "newton"]

# In coordinates in which the loss has curvature 1, Newton's method takes no curvature to be less.
_LEAST_CURVATURE = 1e-3


class Solution(NamedTuple):
    """What a solver found, how it came there, and whether it is a minimum."""

    theta: np.ndarray
    history: History
    converged: bool

    def best_response(self, objective: FairObjective) -> Any:
        """The adversary's best response to theta, or None."""
        at = self.history.last
        return (objective.at(self.theta, 0.0) if at is None else at).best_response()


def _solution(at, history, converged):
    history.last = at
    return Solution(at.theta, history, converged)


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
        The objective.
    theta : ndarray
        The start, theta^0.
    lam : float
        Weight of the penalty.
    eta : float, optional
        The step size; by default 1 / L, for an estimate L of the Lipschitz constant of the
        gradient: a bound for the loss and, for the penalty, twice its curvature at theta^0.
    tol : float, default=1e-4
        Stop when no entry of the gradient is larger.
    max_iter : int, default=1000
        Maximum number of iterations.

    Returns
    -------
    Solution
        A named tuple: ``theta``; ``history``, whose ``columns()`` are those of `RenyiClassifier`'s
        ``history_``; and ``converged``.
    """
    at, history = objective.at(theta, lam), History()
    eta = 1 / _lipschitz_estimate(at) if eta is None else eta
    while True:
        # Line 3 of either algorithm: v (or w) is the best response to theta. It is inside the
        # penalty, whose gradient is that of f(theta, v) with v fixed.
        history.record(at)
        converged = at.steepness <= tol
        if converged or history.n_iter >= max_iter:
            return _solution(at, history, converged)
        # Line 4.
        at = at.moved(at.theta - eta * at.gradient)


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
    """Minimize g(theta), the maximum over the adversary's moves, by L-BFGS.

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
        The objective.
    theta : ndarray
        The start.
    lam : float
        Weight of the penalty.
    lam_before : float, default=0.0
        The lam that `theta` is a solution for.
    tol : float, default=1e-4
        Stop when no entry of the gradient is larger. At a kink, when no entry of the gradient
        of the smoothed objective is: then theta is nearly stationary in Clarke's sense.
    max_iter : int, default=1000
        Maximum number of iterations.
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
    if theta.any():
        at = objective.at(theta, stages[0] if stages else lam)
    else:
        # Four steps without the penalty: at theta = 0 nothing depends on S, and a penalty has
        # nothing to say yet.
        at, _ = _descend(objective.at(theta, 0.0), tol, min(4, max_iter), history, ahead=lam)
    for stage in stages:
        at, _ = _smoothed(at.with_lam(stage), 0.1)
        budget = min(8, max_iter - history.n_iter)
        at, _ = _descend(at, max(tol, 1e-3), budget, history)
    at, fraction = at.with_lam(lam), 0.1
    while True:
        at, mu = _smoothed(at, fraction, resolution)
        at, converged = _minimize(at, tol, max_iter, history)
        if not converged or lam * mu / 2 <= tol / 10 or mu <= resolution:
            return _solution(at, history, converged)
        if at.smoothed(0.0).steepness <= tol:
            return _solution(at, history, True)
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
    """Minimize the same function by Newton's method, for a model and penalty with a Hessian.

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
        The objective.
    theta : ndarray
        The start. Not 0, where the penalty has nothing to say.
    lam : float
        Weight of the penalty.
    lam_before : float, default=0.0
        The lam that `theta` is a solution for.
    tol : float, default=1e-5
        Stop when no entry of the gradient of the smoothed objective is larger.
    max_iter : int, default=1000
        Maximum number of iterations.
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
    stages = _stages(lam_before, lam, first=0.1, factor=np.sqrt(10))
    at = objective.at(theta, lam)
    for stage in stages:
        at, _ = _smoothed(at.with_lam(stage), 0.1, resolution)
        at, _ = _newton(at, max(tol, 1e-3), 8, max_iter, history)
    at, fraction = at.with_lam(lam), 0.1
    while True:
        at, mu = _smoothed(at, fraction, resolution)
        last = mu <= max(resolution, 1e-6)
        enough = tol if last else max(tol, 1e-3)
        at, converged = _newton(at, enough, max_iter, max_iter, history)
        if last:
            return _solution(at, history, converged)
        fraction /= 10


def _newton(at, tol, budget, max_iter, history):
    """At most `budget` steps, and `max_iter` in all; where they end and whether at a minimum."""
    if not history.rows:
        history.record(at)
    # Coordinates in which the loss has curvature 1.
    (root,) = at.point.curvature_roots()
    damping = 0.0
    for _ in range(min(budget, max_iter - history.n_iter)):
        if at.steepness <= tol:
            break
        curvatures, directions = np.linalg.eigh(root.T @ at.hessian() @ root)
        slopes = directions.T @ (root.T @ at.gradient[0])
        sizes = np.maximum(np.abs(curvatures), _LEAST_CURVATURE)
        while True:
            steps = -slopes / (sizes + damping)
            expected = -(slopes @ steps) - 0.5 * (curvatures @ steps**2)
            moved = at.moved(at.theta + (root @ (directions @ steps))[None])
            if expected <= 1e-13 * max(1.0, abs(at.value)):
                # Differences of the value are rounding errors: only the gradient shows the way.
                if moved.steepness >= at.steepness:
                    return at, True
                gained = 1.0
            else:
                gained = (at.value - moved.value) / expected
            if gained > 0.1:
                break
            damping = max(4 * damping, 0.1)
            if damping > 1e12:
                return at, False
        if gained > 0.7:
            damping = damping / 4 if damping > 1e-3 else 0.0
        at = moved
        history.record(at)
    return at, at.steepness <= tol


def _stages(before, lam, first=10.0, factor=10.0):
    """The values of lam on the way, each by a factor larger than the one before."""
    stages = []
    stage = max(factor * before, first)
    while stage < lam:
        stages.append(stage)
        stage *= factor
    return stages


def _smoothed(at, fraction, resolution=0.0):
    """The evaluation with its penalty smoothed by a fraction of its value, and that smoothing."""
    if not at.objective.has_kinks:
        return at, 0.0
    mu = max(fraction * at.penalty, resolution)
    return at.smoothed(mu), mu


def _minimize(at, tol, max_iter, history):
    """Descend in ever longer runs, with fresh coordinates for each, until nothing is left."""
    run, status = 8, "going"
    while status == "going" and history.n_iter < max_iter:
        budget = min(run, max_iter - history.n_iter)
        at, status = _descend(at, tol, budget, history)
        run *= 2
    return at, status == "converged"


def _descend(
    at: Evaluation, tol: float, budget: int, history: History, *, ahead: float = 0.0
) -> tuple[Evaluation, str]:
    """At most `budget` iterations of L-BFGS, in whitened coordinates.

    Returns where they end and whether the descent has "converged", is "stuck" or still "going".
    `ahead` is the lam that comes afterwards, if it is another one.
    """
    if budget < 1:
        return at, "going"
    if not history.rows:
        history.record(at)
    if at.steepness <= tol:
        return at, "converged"
    whitening = _Whitening(at)
    steepness = np.linalg.norm(whitening.gradient(at.gradient))
    # A Newton step gains half the square of the steepness. Too little to be seen in the value?
    if 0.5 * steepness**2 <= 1e-14 * max(1.0, abs(at.value)):
        return _polish(at, whitening, tol, budget, history), "converged"
    last_z = np.zeros(at.theta.size)
    before = history.n_iter
    # Not the point itself, which has as many numbers as there are rows.
    origin, start_value, function_at = at.theta, at.value, replace(at, point=None).moved

    def function(z):
        nonlocal at, last_z
        # scipy's first step has length 1: in units of the steepness that is a Newton step.
        if not np.array_equal(z, last_z):
            theta = origin + whitening.step(steepness * z)
            ends = history.n_iter - before >= budget - 1
            at, last_z = function_at(theta, ahead=ahead if ends else 0.0), z.copy()
        return at.value, steepness * whitening.gradient(at.gradient)

    def callback(intermediate_result):
        function(intermediate_result.x)
        history.record(at)
        if at.steepness <= tol:
            raise StopIteration

    result = minimize(
        function,
        last_z,
        jac=True,
        method="L-BFGS-B",
        callback=callback,
        options={"maxiter": budget, "maxcor": 20, "maxls": 30, "ftol": 0.0, "gtol": 0.0},
    )
    function(result.x)
    if at.steepness <= tol:
        return at, "converged"
    # Without an iteration, what the line search has gained is rounding error: to begin again would
    # never end.
    if result.fun < start_value and history.n_iter > before:
        return at, "going"
    left = 0.5 * np.linalg.norm(whitening.gradient(at.gradient)) ** 2
    if left > 1e-10 * max(1.0, abs(start_value)):
        return at, "stuck"
    # So near the minimum only the gradient still shows the way.
    at = _polish(at, whitening, tol, budget - (history.n_iter - before), history)
    return at, "converged" if at.steepness <= tol else "stuck"


def _polish(at, whitening, tol, budget, history):
    """Newton steps guided by the gradient, where differences of the value are rounding error.

    They end at the minimum to rounding error, even if tol asks for more.
    """
    for _ in range(budget):
        moved = at.moved(at.theta - whitening.step(whitening.gradient(at.gradient)))
        if moved.steepness >= at.steepness:
            break
        at = moved
        history.record(at)
        if at.steepness <= tol:
            break
    return at


class _Whitening:
    """Coordinates z, theta = step(z), in which the objective's curvature is about the identity.

    The curvature is taken as that of the loss, H = (R R^T)^-1 by blocks, plus 2 lam J^T J, where
    the rows of J are the gradients of the penalty's residuals (Gauss and Newton). In the
    coordinates of R it is I + 2 lam (J R)^T (J R), which differs from I in few directions:
    the right singular vectors of J R, which are shrunk to fit.
    """

    def __init__(self, at):
        self.shape, lam = at.theta.shape, at.lam
        self.roots = at.point.curvature_roots()
        self.steep, self.shrink = np.zeros((np.prod(self.shape), 0)), np.zeros(0)
        rows = [self.gradient(row) for row in at.residual_gradients()] if lam else []
        if rows:
            self.steep, sizes, _ = np.linalg.svd(np.transpose(rows), full_matrices=False)
            self.shrink = 1 / np.sqrt(1 + 2 * lam * sizes**2) - 1

    def step(self, z):
        """From z to a step of theta."""
        z = z + self.steep @ (self.shrink * (self.steep.T @ z))
        return np.stack([_apply(R, row) for R, row in zip(self.roots, z.reshape(self.shape))])

    def gradient(self, by_theta):
        """From a gradient with respect to theta to one by z."""
        z = np.concatenate([_apply(R.T, row) for R, row in zip(self.roots, by_theta)])
        return z + self.steep @ (self.shrink * (self.steep.T @ z))


def _lipschitz_estimate(at):
    """An estimate of the Lipschitz constant of the objective's gradient."""
    rows = [row.ravel() for row in at.residual_gradients()] if at.lam else []
    steepest = np.linalg.norm(rows, 2) if rows else 0.0
    return at.objective.model.lipschitz() + 4 * at.lam * steepest**2


def _apply(root, row):
    """A matrix, or a diagonal, times a vector."""
    return root @ row if root.ndim == 2 else root * row
