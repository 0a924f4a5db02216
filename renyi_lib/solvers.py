"""Solvers: the paper's gradient descent, and faster methods for the same problem.

All of them use one thread of BLAS. Their many small products gain little from more threads, and
lose very much if other processes use the cores or if a container may use only some of them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController  # a requirement of scikit-learn

from renyi_lib.objective import Evaluation, FairObjective, History

__all__ = ["Solution", "gradient_descent", "lbfgs", "newton"]

P = ParamSpec("P")

# Lower limit of the curvatures in Newton's method, relative to a loss with curvature 1.
_LEAST_CURVATURE = 1e-3


@cache
def _controller() -> ThreadpoolController:
    """Find the libraries with threads, once, because this takes longer than a short fit."""
    return ThreadpoolController()


def _on_one_thread(solver: Callable[P, "Solution"]) -> Callable[P, "Solution"]:
    """Decorate a solver so that it uses one thread of BLAS."""

    @wraps(solver)
    def limited(*args: P.args, **options: P.kwargs) -> "Solution":
        with _controller().limit(limits=1, user_api="blas"):
            return solver(*args, **options)

    return limited


class Solution(NamedTuple):
    """Result of a solver, with its history and whether it converged."""

    theta: np.ndarray
    history: History
    converged: bool

    def best_response(self, objective: FairObjective) -> Any:
        """Return the adversary's best response to theta, or None if the penalty has no adversary.

        The objective must have a penalty.
        """
        at = self.history.last
        return (objective.at(self.theta, 0.0) if at is None else at).best_response()


def _solution(at, history, converged):
    history.last = at
    return Solution(at.theta, history, converged)


@_on_one_thread
def gradient_descent(
    objective: FairObjective,
    theta: np.ndarray,
    lam: float,
    *,
    eta: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Solution:
    """Run Algorithm 1 or 2 as written, alternating a best response and a gradient step.

    Parameters
    ----------
    objective : FairObjective
        Objective to minimize.
    theta : ndarray
        Start theta^0.
    lam : float
        Weight of the penalty.
    eta : float, optional
        Step size; by default 1 / L, where L is an estimate of the Lipschitz constant of the
        gradient. The estimate is a bound for the loss plus 2 lam times the penalty's curvature at
        theta^0, which is itself estimated from the gradients of the penalty's residuals.
    tol : float, default=1e-4
        The iteration stops when no entry of the gradient exceeds `tol` in absolute value.
    max_iter : int, default=1000
        Maximum number of iterations.

    Returns
    -------
    Solution
        Named tuple of ``theta``; ``history``, whose ``columns()`` are those of
        `RenyiClassifier.history_`; and ``converged``.

    See Also
    --------
    lbfgs : Minimize the same function much faster.
    """
    at, history = objective.at(theta, lam), History()
    eta = 1 / _lipschitz_estimate(at) if eta is None else eta
    while True:
        # Line 3 of either algorithm: v (or w) is the best response to theta. It is computed inside
        # the penalty, whose gradient is that of f(theta, v) with v fixed.
        history.record(at)
        converged = at.steepness <= tol
        if converged or history.n_iter >= max_iter:
            return _solution(at, history, converged)
        # Line 4 of either algorithm: take a gradient step.
        at = at.moved(at.theta - eta * at.gradient)


@_on_one_thread
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

    Plain L-BFGS is slow here or gets stuck, for three reasons. They are remedied as follows:

    - *Ill-conditioned data*: L-BFGS works in coordinates in which the loss has about the same
      curvature in every direction. These coordinates are updated from time to time (see
      `_Whitening`).
    - *A large lam* confines theta to a narrow curved valley. The whitening also accounts for the
      steepness of the penalty, and lam is raised in stages by factors of 10. Each stage takes a
      few iterations, starting from the result of the previous stage.
    - *Kinks*: If the adversary has two equally good moves, the gradient jumps, and a line search
      fails. The penalty is therefore smoothed at kinks (see `RenyiPenalty`), less and less, until
      the effect of smoothing is below tol / 10, or its amount is down to `resolution`. Away from
      kinks, smoothing has no effect.

    Parameters
    ----------
    objective : FairObjective
        Objective to minimize.
    theta : ndarray
        Start of the iteration.
    lam : float
        Weight of the penalty.
    lam_before : float, default=0.0
        Value of lam for which `theta` is a solution.
    tol : float, default=1e-4
        The iteration stops when no entry of the gradient exceeds `tol` in absolute value. At a
        kink, the gradient of the smoothed objective is used, so that theta is nearly stationary
        in Clarke's sense.
    max_iter : int, default=1000
        Maximum number of iterations.
    resolution : float, default=0.0
        Lower limit of the amount mu of smoothing; see `newton`.

    Returns
    -------
    Solution
        Named tuple of ``theta``; ``history``, whose ``columns()`` are those of
        `RenyiClassifier.history_`; and ``converged``.

    See Also
    --------
    gradient_descent : Run the paper's algorithms as written.
    newton : Use Newton's method for models and penalties with a Hessian.
    """
    history = History()
    stages = _stages(lam_before, lam) if objective.penalty is not None and lam else []
    if theta.any():
        at = objective.at(theta, stages[0] if stages else lam)
    else:
        # Take up to four steps without the penalty, because it has no effect at theta = 0, where
        # nothing depends on S.
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


@_on_one_thread
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
    """Minimize the objective by Newton's method, for models and penalties with a Hessian.

    The objective of a regression has many small bumps and varying curvature. L-BFGS needs
    hundreds of iterations, in which rounding errors grow until they determine which of several
    minima it reaches. A damped Newton method needs only a few, so it finds the same minimum to
    many digits for any order of summation.

    The step is that of Levenberg and Marquardt for the matrix of absolute curvatures, so it is a
    descent direction even if the Hessian is indefinite. As in `lbfgs`, lam grows in stages, and
    kinks are smoothed less and less.

    Parameters
    ----------
    objective : FairObjective
        Objective to minimize.
    theta : ndarray
        Start of the iteration, which must not be 0, because the penalty has no effect there.
    lam : float
        Weight of the penalty.
    lam_before : float, default=0.0
        Value of lam for which `theta` is a solution.
    tol : float, default=1e-5
        The iteration stops when no entry of the gradient of the smoothed objective exceeds `tol`
        in absolute value.
    max_iter : int, default=1000
        Maximum number of iterations.
    resolution : float, default=0.0
        Lower limit of the smoothing mu, whose final value is this limit or, if the limit is
        smaller than 1e-6, at most 1e-6. Smoothing raises the penalty by at most mu / 2, and only
        where the squares of two singular values differ by less than mu.

    Returns
    -------
    Solution
        Named tuple of ``theta``; ``history``, whose ``columns()`` are those of
        `RenyiClassifier.history_`; and ``converged``.

    See Also
    --------
    lbfgs : Minimize without a Hessian.
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
    """Take at most `budget` steps, with at most `max_iter` in the history.

    Returns the last evaluation and whether the steps converged.
    """
    if not history.rows:
        history.record(at)
    # Use coordinates in which the loss has curvature 1.
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
                # Differences of the value are rounding errors, so only the gradient is reliable.
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
    """Return the intermediate values of lam, each larger than the previous one by a factor."""
    stages = []
    stage = max(factor * before, first)
    while stage < lam:
        stages.append(stage)
        stage *= factor
    return stages


def _smoothed(at, fraction, resolution=0.0):
    """Smooth a penalty that may have kinks, and also return the amount mu of the smoothing.

    The amount is a fraction of the penalty's value, but at least `resolution`. Without kinks, it
    is 0.
    """
    if not at.objective.has_kinks:
        return at, 0.0
    mu = max(fraction * at.penalty, resolution)
    return at.smoothed(mu), mu


def _minimize(at, tol, max_iter, history):
    """Descend in runs of growing length, each with new coordinates.

    Returns the last evaluation and whether the descent converged. It may also get stuck or reach
    `max_iter`.
    """
    run, status = 8, "going"
    while status == "going" and history.n_iter < max_iter:
        budget = min(run, max_iter - history.n_iter)
        at, status = _descend(at, tol, budget, history)
        run *= 2
    return at, status == "converged"


def _descend(
    at: Evaluation, tol: float, budget: int, history: History, *, ahead: float = 0.0
) -> tuple[Evaluation, str]:
    """Run at most `budget` iterations of L-BFGS in whitened coordinates.

    Returns the last evaluation and whether the descent has "converged", is "stuck" or still
    "going". `ahead` is the next value of lam, if it differs.
    """
    if budget < 1:
        return at, "going"
    if not history.rows:
        history.record(at)
    if at.steepness <= tol:
        return at, "converged"
    whitening = _Whitening(at)
    steepness = np.linalg.norm(whitening.gradient(at.gradient))
    # A Newton step gains half the squared steepness, which may be too little to show in the value.
    if 0.5 * steepness**2 <= 1e-14 * max(1.0, abs(at.value)):
        return _polish(at, whitening, tol, budget, history), "converged"
    last_z = np.zeros(at.theta.size)
    before = history.n_iter
    # Drop the point itself, because its arrays are as long as the data.
    origin, start_value, function_at = at.theta, at.value, replace(at, point=None).moved

    def function(z):
        nonlocal at, last_z
        # scipy's first step has length 1, which is a Newton step in units of the steepness.
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
    # If there was no iteration, the gain of the line search is rounding error, and repeating it
    # would loop forever.
    if result.fun < start_value and history.n_iter > before:
        return at, "going"
    left = 0.5 * np.linalg.norm(whitening.gradient(at.gradient)) ** 2
    if left > 1e-10 * max(1.0, abs(start_value)):
        return at, "stuck"
    # So close to the minimum, only the gradient is still reliable.
    at = _polish(at, whitening, tol, budget - (history.n_iter - before), history)
    return at, "converged" if at.steepness <= tol else "stuck"


def _polish(at, whitening, tol, budget, history):
    """Take Newton steps guided by the gradient if differences of the value are rounding errors.

    The steps end where rounding errors prevent a smaller gradient, even if it still exceeds `tol`.
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
    """Coordinates z for steps of theta, in which the Hessian is close to the identity.

    The curvature is approximated by that of the loss, H = (R R^T)^-1 in blocks, plus
    2 lam J^T J, where the rows of J are the gradients of the penalty's residuals (Gauss-Newton).
    In the coordinates of R it is I + 2 lam (J R)^T (J R), which differs from I only in a few
    directions, the right singular vectors of J R, along which z is rescaled.
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
        """Map z to a step of theta."""
        z = z + self.steep @ (self.shrink * (self.steep.T @ z))
        return np.stack([_apply(R, row) for R, row in zip(self.roots, z.reshape(self.shape))])

    def gradient(self, by_theta):
        """Map a gradient with respect to theta to one with respect to z."""
        z = np.concatenate([_apply(R.T, row) for R, row in zip(self.roots, by_theta)])
        return z + self.steep @ (self.shrink * (self.steep.T @ z))


def _lipschitz_estimate(at):
    """Estimate the Lipschitz constant of the objective's gradient."""
    rows = [row.ravel() for row in at.residual_gradients()] if at.lam else []
    steepest = np.linalg.norm(rows, 2) if rows else 0.0
    return at.objective.model.lipschitz() + 4 * at.lam * steepest**2


def _apply(root, row):
    """Multiply a matrix, or a diagonal, by a vector."""
    return root @ row if root.ndim == 2 else root * row
