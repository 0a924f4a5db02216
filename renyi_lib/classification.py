"""Fair classification: Algorithms 1 and 2, and a fast solver for the same problem.

Every classifier here minimises, over its parameters theta,

    mean loss + lam * penalty(F, S)          (eq. fair-classification for the penalty rho_R^2),

where F(theta, x) are the class probabilities of a *model* and the *penalty* (see
`renyi_lib.penalties`) measures how much the label depends on the group S. The parts know nothing
of each other: a model maps theta to F and pulls a gradient by F back to one by theta; a penalty
maps F to a value and a gradient by F. `lam` always multiplies the penalty itself beside the mean
loss, so that Algorithm 1, Algorithm 2 and both solvers minimise the same function.

With the adversary's maximum inside the penalty this function is g(theta) = max f(theta, ·), and by
Danskin's theorem its gradient is that of f at the best response, held fixed. So one evaluation of
the objective *is* the adversary's move, and the paper's algorithms are gradient descent on g.
"""

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm import tqdm

from renyi_lib import metrics
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_same_length,
    encode_labels,
    sample_weights,
)
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ConditionalPenalty,
    Groups,
    Penalty,
    RenyiPenalty,
)

__all__ = [
    "FairObjective",
    "History",
    "NoSensitiveFeaturesWarning",
    "PenalizedClassifier",
    "RenyiClassifier",
    "SoftmaxModel",
    "Solution",
    "TargetNotReachedError",
    "fit_to_target",
    "gradient_descent",
    "lbfgs",
    "renyi_path",
]

# Up to this many features, L-BFGS whitens with the full matrix of curvature; beyond, to form and
# factor it would cost more than it saves, and the diagonal has to do.
_MAX_DENSE = 400

# Rows at a time where a scaled copy of X is needed, so that the copy stays in the cache.
_BLOCK = 4096

_FAIRNESS = ("demographic_parity", "equalized_odds", "equal_opportunity")

# The metric, whether it takes the true label, and whether more of it is better.
_METRICS = {
    "p_rule": (metrics.p_rule, False, True),
    "demographic_parity_violation": (metrics.demographic_parity_violation, False, False),
    "equal_opportunity_violation": (metrics.equal_opportunity_violation, True, False),
    "equalized_odds_violation": (metrics.equalized_odds_violation, True, False),
}


class TargetNotReachedError(ValueError):
    """No lam that was tried reaches the fairness that was asked for."""


class SoftmaxModel:
    """Multinomial logistic regression on given data: from theta to F, and gradients back.

    Parameters
    ----------
    X : ndarray or scipy CSR array of shape (n, p)
    y : ndarray of int, shape (n,)
        Classes 0 … c-1.
    n_classes : int
    weight : float or ndarray of shape (n,), optional
        The probability of each sample; 1 / n by default.
    fit_intercept : bool, default=True
        Whether the last column of theta multiplies a constant 1.
    l2 : float, default=0.0
        Adds ``l2 / 2 * |theta|^2``, without the intercepts, to the loss.

    Attributes
    ----------
    shape : tuple
        The shape of theta: a row of coefficients for each class, or one row for two classes,
        where F = (1 - expit(z), expit(z)).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import SoftmaxModel
    >>> model = SoftmaxModel(np.array([[0.0], [1.0]]), np.array([0, 1]), n_classes=2)
    >>> loss, F = model.forward(np.zeros(model.shape))
    >>> round(loss, 6), F.tolist()
    (0.693147, [[0.5, 0.5], [0.5, 0.5]])
    >>> model.loss_gradient()
    array([[-0.25,  0.  ]])
    """

    def __init__(self, X, y, n_classes, weight=None, *, fit_intercept=True, l2=0.0):
        self.X = _with_ones(X) if fit_intercept else X
        self.y = y
        self.n_classes = n_classes
        self.weight = 1.0 / len(y) if weight is None else weight
        self.ridge = np.full(self.X.shape[1], float(l2))
        if fit_intercept:
            self.ridge[-1] = 0.0
        self.shape = (1 if n_classes == 2 else n_classes, self.X.shape[1])
        self._one_hot = (y, np.arange(len(y)))
        self._sign = np.where(y, -1.0, 1.0)
        self._theta = None

    def forward(self, theta):
        """The mean loss and the class probabilities F of shape (n, c) at theta."""
        if np.array_equal(theta, self._theta):
            return self._loss, self._F.T
        self._theta = theta.copy()
        # A matrix-vector product for each class: faster than one matrix product for a few.
        Z = np.stack([self.X @ row for row in theta])
        if self.n_classes == 2:
            z = Z[0]
            # No probability is formed as 1 - (the other): both keep all their digits.
            tail = np.exp(-np.abs(z))
            likely = 1 / (1 + tail)
            unlikely = tail * likely
            self._F = np.where([z < 0, z >= 0], likely, unlikely)
            losses = np.log1p(tail) + np.maximum(z * self._sign, 0)
        else:
            Z -= Z.max(axis=0)
            E = np.exp(Z)
            total = E.sum(axis=0)
            self._F = E / total
            losses = np.log(total) - Z[self._one_hot]
        ridge = 0.5 * np.sum(self.ridge * theta**2)
        self._loss = float(np.sum(losses * self.weight) + ridge)
        return self._loss, self._F.T

    def pull_back(self, dF):
        """The gradient by theta of sum(dF * F), at the last theta that went forward."""
        return self._by_theta(self._by_scores(dF))

    def loss_gradient(self, dF=None):
        """The gradient by theta of loss + sum(dF * F), at the last theta that went forward."""
        if self.n_classes == 2:
            dZ = ((self._F[1] - self.y) * self.weight)[None]
        else:
            dZ = self._F * self.weight
            dZ[self._one_hot] -= self.weight
        if dF is not None:
            dZ = dZ + self._by_scores(dF)
        return self._by_theta(dZ) + self.ridge * self._theta

    def canonical(self, theta):
        """Of all theta with the same F the one whose classes sum to 0, and so the shortest."""
        return theta if self.n_classes == 2 else theta - theta.mean(axis=0)

    def curvature_roots(self):
        """For each row of theta, a matrix R with R R^T about the inverse Hessian of the loss.

        Each is a (p, p) matrix, or for many features the diagonal of one. Of the Hessian's blocks,
        the mean of F_i (1 - F_i) x x^T, those that couple two classes are left out.
        """
        rows = self._F[1:] if self.n_classes == 2 else self._F
        return [
            self._inverse_root(self._second_moments(np.sqrt(f * (1 - f) * self.weight)))
            for f in rows
        ]

    def lipschitz(self):
        """A Lipschitz constant of the loss's gradient.

        The Hessian is at most 1/4 (two classes) or 1/2 of the second moments of x, whatever theta
        is: D. Böhning, "Multinomial logistic regression algorithm", Annals of the Institute of
        Statistical Mathematics 44 (1992), 197-200, doi:10.1007/BF00048682.
        """
        moments = self._second_moments(np.sqrt(np.broadcast_to(self.weight, self.y.shape)))
        top = np.linalg.eigvalsh(moments)[-1] if moments.ndim == 2 else moments.sum()
        return top / (4 if self.n_classes == 2 else 2) + self.ridge.max()

    def _by_scores(self, dF):
        if self.n_classes == 2:
            return (self._F[0] * self._F[1] * (dF[:, 1] - dF[:, 0]))[None]
        return self._F * (dF.T - np.sum(self._F * dF.T, axis=0))

    def _by_theta(self, dZ):
        return np.stack([self.X.T @ row for row in dZ])

    def _inverse_root(self, hessian):
        if hessian.ndim == 1:
            return 1 / np.sqrt(_positive(hessian + self.ridge))
        hessian = hessian + np.diag(self.ridge)
        # Columns on one scale first: only then do small eigenvalues mean collinear columns.
        unit = np.sqrt(_positive(np.diag(hessian)))
        values, vectors = np.linalg.eigh(hessian / np.outer(unit, unit))
        return vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1])) / unit[:, None]

    def _second_moments(self, scale):
        """sum over n of scale_n^2 x_n x_n^T; for many features, its diagonal only."""
        if self.X.shape[1] > _MAX_DENSE:
            squares = self.X.power(2) if sparse.issparse(self.X) else self.X**2
            return squares.T @ scale**2
        if sparse.issparse(self.X):
            scaled = sparse.diags_array(scale) @ self.X
            return (scaled.T @ scaled).toarray()
        moments = np.zeros((self.X.shape[1], self.X.shape[1]))
        for start in range(0, len(scale), _BLOCK):
            scaled = self.X[start : start + _BLOCK] * scale[start : start + _BLOCK, None]
            moments += scaled.T @ scaled
        return moments


class FairObjective:
    """mean loss + lam * penalty, as a function of theta, with its gradient by Danskin's theorem.

    Parameters
    ----------
    model : SoftmaxModel
        Or any object with its methods.
    penalty : Penalty or None
    groups : Groups or None

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import FairObjective, SoftmaxModel
    >>> from renyi_lib.penalties import Groups, RenyiPenalty
    >>> X, y, s = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), ["f", "f", "m"]
    >>> model = SoftmaxModel(X, y, n_classes=2)
    >>> objective = FairObjective(model, RenyiPenalty(), Groups.from_labels(s))
    >>> value, gradient = objective(np.ones(model.shape), lam=0.1)
    >>> round(value, 6), round(objective.loss, 6), round(objective.penalty_value, 6)
    (0.50011, 0.496259, 0.038506)
    """

    def __init__(self, model, penalty=None, groups=None):
        self.model = model
        self.penalty = self.true_penalty = penalty
        self.groups = groups

    def __call__(self, theta, lam):
        """The objective and its gradient; leaves `F`, `loss` and `penalty_value` behind."""
        self.loss, self.F = self.model.forward(theta)
        self.penalty_value = 0.0
        if self.penalty is None:
            return self.loss, self.model.loss_gradient()
        self.penalty_value, dF = self.penalty.value_and_grad(self.F, self.groups)
        gradient = self.model.loss_gradient(lam * dF if lam else None)
        return self.loss + lam * self.penalty_value, gradient

    def residual_gradients(self):
        """Gradients by theta of the penalty's residuals, at the last theta evaluated."""
        if self.penalty is None:
            return []
        by_F = self.penalty.residual_gradients(self.F, self.groups)
        return [self.model.pull_back(dF) for dF in by_F]

    def at_smoothing(self, mu):
        """The same objective with the penalty smoothed by mu."""
        smooth = FairObjective(self.model, self.penalty.smoothed(mu), self.groups)
        smooth.true_penalty = self.true_penalty
        return smooth

    def true_penalty_value(self):
        """The penalty without any smoothing, at the last theta evaluated."""
        if self.penalty is self.true_penalty:
            return self.penalty_value
        return self.true_penalty.value_and_grad(self.F, self.groups)[0]

    @property
    def has_kinks(self):
        """Whether the penalty may fail to be differentiable."""
        return self.penalty is not None and self.penalty.has_kinks(
            self.model.n_classes, len(self.groups.q)
        )


class History:
    """What a solver went through: the start, and what came of each iteration."""

    def __init__(self):
        self.rows = []

    @property
    def n_iter(self):
        """The number of iterations so far."""
        return max(0, len(self.rows) - 1)

    def record(self, objective, lam, gradient):
        """Write down where the objective was last evaluated."""
        loss, penalty = objective.loss, objective.true_penalty_value()
        norm, largest = np.linalg.norm(gradient), np.abs(gradient).max()
        self.rows.append((lam, loss, penalty, loss + lam * penalty, norm, largest))

    def columns(self):
        """A dict of arrays, one entry for the start and for each iteration."""
        names = ["lam", "loss", "penalty", "objective", "gradient_norm", "gradient_max"]
        return dict(zip(names, np.array(self.rows, dtype=float).reshape(-1, len(names)).T))


class Solution(NamedTuple):
    """What a solver found, how it came there, and whether it is a minimum."""

    theta: np.ndarray
    history: History
    converged: bool


def gradient_descent(objective, theta, lam, *, eta=None, tol=1e-4, max_iter=1000):
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


def lbfgs(objective, theta, lam, *, lam_before=0.0, tol=1e-4, max_iter=1000):
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
        smooth, mu = _smoothed(objective, theta, fraction)
        theta, converged = _minimise(smooth, theta, lam, tol, max_iter, history)
        if not converged or lam * mu / 2 <= tol / 10:
            return Solution(theta, history, converged)
        _, gradient = objective(theta, lam)
        if np.abs(gradient).max() <= tol:
            return Solution(theta, history, True)
        fraction /= 10


def _stages(before, lam):
    """The values of lam on the way, by factors of 10."""
    stages = []
    stage = max(10 * before, 10.0)
    while stage < lam:
        stages.append(stage)
        stage *= 10
    return stages


def _smoothed(objective, theta, fraction):
    """The objective with its penalty smoothed by a fraction of its value, and that smoothing."""
    if not objective.has_kinks:
        return objective, 0.0
    objective(theta, 0.0)
    mu = fraction * objective.penalty_value
    return (objective.at_smoothing(mu), mu) if mu > 0 else (objective, 0.0)


def _minimise(objective, theta, lam, tol, max_iter, history):
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
    return theta, "going" if result.fun < value else "stuck"


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


@dataclass(frozen=True, eq=False)
class _Problem:
    """The data of a fit, checked and counted once, for any number of values of lam."""

    objective: FairObjective
    classes: np.ndarray
    n_features: int
    feature_names: np.ndarray | None


class PenalizedClassifier(ClassifierMixin, BaseEstimator):
    """Logistic regression with any penalty on the dependence between label and group.

    Minimises mean loss + lam * penalty. `RenyiClassifier` is the case of the paper; this class
    puts other penalties, such as Pearson's correlation or HSIC, into the same machinery.

    Parameters
    ----------
    penalty : Penalty, default=None
        None is `RenyiPenalty`.
    lam : float, default=1.0
        The weight of the penalty beside the mean loss, 0 or more.
    fairness : {"demographic_parity", "equalized_odds", "equal_opportunity"}
        Whether the penalty is that of the label and the group; its sum given Y = y over all
        classes y; or its value given Y = `favourable_label`.
    favourable_label : label, default=None
        The class that equality of opportunity is about. None is the last in sorted order.
    solver : {"lbfgs", "gd"}, default="lbfgs"
        See `lbfgs` and `gradient_descent`.
    l2 : float, default=0.0
        Adds ``l2 / 2 * |coef|^2`` to the mean loss (C of scikit-learn is ``1 / (n l2)``).
    fit_intercept : bool, default=True
    eta : float, default=None
        Step size of "gd"; by default from an estimate of the gradient's Lipschitz constant.
    tol : float, default=1e-4
        The fit ends when no entry of the objective's gradient is larger.
    max_iter : int, default=1000
    warm_start : bool, default=False
        Start from the last solution instead of 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    groups_ : ndarray or None
        The groups, in the order in which `adversary_` counts them.
    adversary_ : ndarray or None
        The adversary's best response to the solution: v of Algorithm 1 or w of Algorithm 2; for
        conditional fairness, one row for each condition. None if the penalty has no adversary.
    history_ : dict of ndarray
        At the start and after each iteration: ``"lam"``, ``"loss"``, ``"penalty"``,
        ``"objective"`` (loss + lam * penalty), ``"gradient_norm"`` (Euclidean) and
        ``"gradient_max"`` (its largest entry). The solver "lbfgs" may begin with smaller values
        of lam, and at kinks the gradient is that of the smoothed objective.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had names of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import PenalizedClassifier
    >>> from renyi_lib.penalties import PearsonPenalty
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> fair = PenalizedClassifier(PearsonPenalty(), lam=100).fit(X, y, sensitive_features=s)
    >>> score = fair.predict_proba(X)[:, 1]
    >>> bool(abs(np.corrcoef(score, s)[0, 1]) < 0.01)
    True
    """

    def __init__(
        self,
        penalty=None,
        lam=1.0,
        *,
        fairness="demographic_parity",
        favourable_label=None,
        solver="lbfgs",
        l2=0.0,
        fit_intercept=True,
        eta=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
    ):
        self.penalty = penalty
        self.lam = lam
        self.fairness = fairness
        self.favourable_label = favourable_label
        self.solver = solver
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.eta = eta
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y : array-like of shape (n,)
            Classes, of any kind.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            The group of each sample, labels of any kind; several columns become one joint group.
            Without it nothing is penalised, and a warning says so.
        sample_weight : array-like of shape (n,), optional
            Weights, 0 or more, in the loss and in the penalty.

        Returns
        -------
        self
        """
        problem = self._prepare(X, y, sensitive_features, sample_weight)
        theta, lam_before = np.zeros(problem.objective.model.shape), 0.0
        if self.warm_start and hasattr(self, "coef_"):
            last = self._theta()
            if last.shape == theta.shape:
                theta, lam_before = last, float(self.history_["lam"][-1])
        return self._solve(problem, theta, lam_before)

    def decision_function(self, X):
        """Scores of the classes: of shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X):
        """Class probabilities F of shape (n, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict(self, X):
        """The most probable class of each sample."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def penalty_value(self, X, y=None, *, sensitive_features, sample_weight=None):
        """The penalty of the fitted classifier's soft labels on any data, such as a test set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y : array-like of shape (n,), optional
            True classes; needed for conditional fairness only.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Groups, all of which must have been seen in the fit.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
            For `RenyiClassifier`, rho_R^2.
        """
        F = self.predict_proba(X)
        groups = Groups.from_labels(sensitive_features, sample_weight, name="sensitive_features")
        check_same_length(X=F, sensitive_features=groups.codes)
        if self.groups_ is not None:
            seen = self.groups_.tolist()
            unseen = [group for group in groups.categories.tolist() if group not in seen]
            if unseen:
                raise ValueError(
                    f"sensitive_features has groups that were not seen in the fit: {unseen}"
                )
        if y is None and self.fairness != "demographic_parity":
            raise ValueError(f"y is needed: fairness={self.fairness!r} is conditional on it")
        codes = None if y is None else _class_codes(y, self.classes_)
        penalty = self._penalty_given(groups, codes, self.classes_)
        return penalty.value_and_grad(F, groups)[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _penalty_of(self, groups):
        """The penalty, before any conditioning on the label."""
        return RenyiPenalty() if self.penalty is None else self.penalty

    def _penalty_given(self, groups, y, classes):
        """The penalty under the notion of fairness that was asked for."""
        penalty = self._penalty_of(groups)
        if self.fairness == "demographic_parity":
            return penalty
        wanted = range(len(classes))
        if self.fairness == "equal_opportunity":
            label = classes[-1] if self.favourable_label is None else self.favourable_label
            if label not in classes:
                raise ValueError(
                    f"favourable_label={label!r} is not one of the classes {classes.tolist()}"
                )
            wanted = np.flatnonzero(classes == label)
        d = len(groups.categories)
        cells = np.bincount(y * d + groups.codes, minlength=len(classes) * d).reshape(-1, d)
        for i in wanted:
            if not cells[i].all():
                empty = groups.categories.tolist()[cells[i].argmin()]
                raise ValueError(
                    f"fairness={self.fairness!r} compares the groups among samples of class "
                    f"{classes.tolist()[i]!r}, but group {empty!r} has none: merge groups, or "
                    "ask for 'demographic_parity'"
                )
        return ConditionalPenalty(penalty, y, wanted)

    def _prepare(self, X, y, sensitive_features, sample_weight):
        """Check everything, and count what does not depend on lam."""
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        if sensitive_features is not None:
            sensitive_features, categories = encode_labels(
                sensitive_features, "sensitive_features"
            )
            check_same_length(y=y, sensitive_features=sensitive_features)
        if sample_weight is not None:
            sample_weight = sample_weights(sample_weight)
            check_same_length(y=y, sample_weight=sample_weight)
            kept = sample_weight > 0
            X, y, sample_weight = X[kept], y[kept], sample_weight[kept] / sample_weight.sum()
            if sensitive_features is not None:
                sensitive_features = sensitive_features[kept]
        classes, y = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes.tolist()[0]!r}: a classifier needs two"
            )
        groups = penalty = None
        if sensitive_features is not None:
            groups = Groups.from_labels(
                categories[sensitive_features], sample_weight, name="sensitive_features"
            )
            penalty = self._penalty_given(groups, y, classes)
        elif self.lam > 0:
            warnings.warn(
                f"{type(self).__name__} was fitted without sensitive_features: nothing is "
                "penalised, and this is a plain logistic regression",
                NoSensitiveFeaturesWarning,
                stacklevel=3,
            )
        model = SoftmaxModel(
            X, y, len(classes), sample_weight, fit_intercept=self.fit_intercept, l2=self.l2
        )
        objective = FairObjective(model, penalty, groups)
        names = getattr(self, "feature_names_in_", None)
        return _Problem(objective, classes, self.n_features_in_, names)

    def _solve(self, problem, theta, lam_before):
        """Minimise from theta, the solution for lam_before, and store the result."""
        objective, lam = problem.objective, float(self.lam)
        stops = {"tol": self.tol, "max_iter": self.max_iter}
        if self.solver == "gd":
            found = gradient_descent(objective, theta, lam, eta=self.eta, **stops)
        else:
            found = lbfgs(objective, theta, lam, lam_before=lam_before, **stops)
        theta = objective.model.canonical(found.theta)
        self.classes_ = problem.classes
        self.n_features_in_ = problem.n_features
        if problem.feature_names is not None:
            self.feature_names_in_ = problem.feature_names
        self.coef_ = theta[:, : problem.n_features].copy()
        self.intercept_ = theta[:, -1].copy() if self.fit_intercept else np.zeros(len(theta))
        self.history_ = found.history.columns()
        self.n_iter_ = found.history.n_iter
        self.groups_ = self.adversary_ = None
        if objective.groups is not None:
            self.groups_ = objective.groups.categories
            objective(theta, lam)
            self.adversary_ = objective.penalty.best_response(objective.F, objective.groups)
        if not found.converged:
            advice = "raise max_iter or tol, or scale the features"
            if self.n_iter_ < self.max_iter:
                advice = "no step lowers the objective any more, raise tol or scale the features"
            warnings.warn(
                f"{self.solver} stopped after {self.n_iter_} iterations, before the gradient was "
                f"as small as tol={self.tol}: {advice}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _theta(self):
        if self.fit_intercept:
            return np.column_stack([self.coef_, self.intercept_])
        return self.coef_

    def _check_parameters(self):
        if not isinstance(self.penalty, Penalty | None):
            raise ValueError(
                f"penalty must be a Penalty, such as RenyiPenalty(), not {self.penalty!r}"
            )
        for name, least in [("lam", 0), ("l2", 0), ("tol", 0), ("max_iter", 1)]:
            value = getattr(self, name)
            if not isinstance(value, Real) or not least <= value < np.inf:
                raise ValueError(f"{name} must be a number, {least} or more, not {value!r}")
        if self.eta is not None and not (isinstance(self.eta, Real) and 0 < self.eta < np.inf):
            raise ValueError(f"eta must be a positive number or None, not {self.eta!r}")
        for name, choices in [("fairness", _FAIRNESS), ("solver", ("lbfgs", "gd"))]:
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, choices))}, "
                    f"not {getattr(self, name)!r}"
                )


class RenyiClassifier(PenalizedClassifier):
    """Logistic regression whose label has a small Rényi correlation with the group.

    Minimises mean loss + lam * rho_R^2(Ŷ, S) (eq. fair-classification), where Ŷ is the label
    drawn with the probabilities F of the model, by Algorithm 1 or 2 of the paper.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of rho_R^2 beside the mean loss, 0 or more.
    fairness : {"demographic_parity", "equalized_odds", "equal_opportunity"}
        rho_R^2 of label and group; its sum given Y = y over all classes y (eq.
        Min-Max-Fairness_EO); or its value given Y = `favourable_label`.
    favourable_label : label, default=None
        The class that equality of opportunity is about. None is the last in sorted order.
    algorithm : {"auto", "discrete", "binary"}, default="auto"
        The adversary: that of Algorithm 1 (v, the second singular vector), of Algorithm 2 (w, in
        closed form, for two groups), or Algorithm 2 where it applies. Both give rho_R^2, and so
        the same classifier.
    solver : {"lbfgs", "gd"}, default="lbfgs"
        "gd" is the paper's loop, a best response and a gradient step in turns, and may need very
        many of them. "lbfgs" minimises the same function much faster. See `gradient_descent` and
        `lbfgs`, also for what happens at kinks of rho_R^2.
    l2 : float, default=0.0
        Adds ``l2 / 2 * |coef|^2`` to the mean loss (C of scikit-learn is ``1 / (n l2)``).
    fit_intercept : bool, default=True
    eta : float, default=None
        Step size of "gd"; by default from an estimate of the gradient's Lipschitz constant.
    tol : float, default=1e-4
        The fit ends when no entry of the objective's gradient is larger.
    max_iter : int, default=1000
    warm_start : bool, default=False
        Start from the last solution instead of 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    groups_ : ndarray or None
        The groups, in the order in which `adversary_` counts them.
    adversary_ : ndarray or None
        The best response to the solution: v of shape (n_groups,) or w of shape (n_classes,); for
        equalized odds and equality of opportunity, one row for each condition.
    history_ : dict of ndarray
        At the start and after each iteration: ``"lam"``, ``"loss"``, ``"penalty"`` (rho_R^2),
        ``"objective"`` (loss + lam * penalty), ``"gradient_norm"`` (Euclidean) and
        ``"gradient_max"`` (its largest entry). The solver "lbfgs" may begin with smaller values
        of lam, and at kinks the gradient is that of the smoothed objective.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had names of columns.

    References
    ----------
    S. Baharlouei, M. Nouiehed, A. Beirami and M. Razaviyayn, "Rényi fair inference", ICLR (2020),
    arXiv:1906.12005, doi:10.48550/arXiv.1906.12005.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import RenyiClassifier
    >>> from renyi_lib.metrics import p_rule
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=2000)
    >>> X = rng.normal(size=(2000, 3)) + (s == "m")[:, None]
    >>> y = (X.sum(axis=1) + rng.normal(size=2000) > 1).astype(int)
    >>> for lam in [0, 1, 10]:
    ...     clf = RenyiClassifier(lam=lam).fit(X, y, sensitive_features=s)
    ...     print(lam, round(p_rule(clf.predict(X), sensitive_features=s), 2))
    0 0.32
    1 0.41
    10 0.98
    """

    def __init__(
        self,
        lam=1.0,
        *,
        fairness="demographic_parity",
        favourable_label=None,
        algorithm="auto",
        solver="lbfgs",
        l2=0.0,
        fit_intercept=True,
        eta=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
    ):
        super().__init__(
            lam=lam,
            fairness=fairness,
            favourable_label=favourable_label,
            solver=solver,
            l2=l2,
            fit_intercept=fit_intercept,
            eta=eta,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
        )
        self.algorithm = algorithm

    def _penalty_of(self, groups):
        two = len(groups.q) == 2
        if self.algorithm == "binary" and not two:
            raise ValueError(
                f"algorithm='binary' needs two groups, but sensitive_features has {len(groups.q)}:"
                " use 'discrete' or 'auto'"
            )
        binary = self.algorithm == "binary" or (self.algorithm == "auto" and two)
        return BinaryRenyiPenalty() if binary else RenyiPenalty()

    def _check_parameters(self):
        super()._check_parameters()
        if self.algorithm not in ("auto", "discrete", "binary"):
            raise ValueError(
                f"algorithm must be one of 'auto', 'discrete', 'binary', not {self.algorithm!r}"
            )


def renyi_path(
    X, y, *, sensitive_features, lams, estimator=None, sample_weight=None, progress=True, **params
):
    """Classifiers for many values of lam, each started from the one before.

    Parameters
    ----------
    X, y, sensitive_features, sample_weight
        As in `RenyiClassifier.fit`.
    lams : sequence of float
        In any order; the fits go from the smallest to the largest.
    estimator : PenalizedClassifier, optional
        What to fit; by default ``RenyiClassifier(**params)``.
    progress : bool, default=True
        Whether to show a progress bar.
    **params
        Parameters of the classifier, such as ``fairness="equalized_odds"``.

    Returns
    -------
    list of classifiers
        Fitted, one for each of `lams`, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import renyi_path
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> path = renyi_path(X, y, sensitive_features=s, lams=[0, 1, 10], progress=False)
    >>> [round(c.penalty_value(X, sensitive_features=s), 3) for c in path]
    [0.097, 0.04, 0.001]
    """
    lams = [float(lam) for lam in lams]
    order = sorted(range(len(lams)), key=lams.__getitem__)
    fits = _WarmStarts(X, y, sensitive_features, sample_weight, estimator, params)
    path = {i: fits.fit(lams[i]) for i in tqdm(order, disable=not progress, desc="lam")}
    return [path[i] for i in range(len(lams))]


def fit_to_target(
    X,
    y,
    *,
    sensitive_features,
    target=0.8,
    metric="p_rule",
    greater_is_better=None,
    max_lam=1e4,
    validation=None,
    estimator=None,
    sample_weight=None,
    **params,
):
    """The classifier with the smallest lam that is as fair as asked for.

    lam is raised from 0 until the target is met, and then narrowed down by bisection to 2 % (or
    0.001). The fairness of a thresholded label may fall again at large lam; the search goes up
    from 0, so that it finds the first lam that will do.

    Parameters
    ----------
    X, y, sensitive_features, sample_weight
        As in `RenyiClassifier.fit`.
    target : float, default=0.8
    metric : str or callable, default="p_rule"
        One of the functions of `renyi_lib.metrics`: "p_rule", which is to be at least `target`,
        or "demographic_parity_violation", "equal_opportunity_violation" or
        "equalized_odds_violation", which are to be at most `target`; for two classes, where the
        positive class is the favourable label. Or ``metric(y_true, y_pred, sensitive_features)``.
    greater_is_better : bool, optional
        Whether a metric of your own is to be at least `target`, or at most.
    max_lam : float, default=1e4
        Where to give up.
    validation : tuple (X, y, sensitive_features), optional
        Data to measure on; by default those of the fit.
    estimator : PenalizedClassifier, optional
        What to fit; by default ``RenyiClassifier(**params)``.
    **params
        Parameters of the classifier, such as ``fairness="equal_opportunity"``.

    Returns
    -------
    classifier
        Fitted; its ``lam`` is the answer.

    Raises
    ------
    TargetNotReachedError
        If no lam up to `max_lam` will do. The message says what was the best.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import fit_to_target
    >>> from renyi_lib.metrics import p_rule
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=2000)
    >>> X = rng.normal(size=(2000, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=2000) > 0.5).astype(int)
    >>> clf = fit_to_target(X, y, sensitive_features=s, metric="p_rule", target=0.8)
    >>> p_rule(clf.predict(X), sensitive_features=s) >= 0.8
    True
    """
    metric, greater_is_better = _metric(metric, greater_is_better)
    X_val, y_val, s_val = (X, y, sensitive_features) if validation is None else validation
    fits = _WarmStarts(X, y, sensitive_features, sample_weight, estimator, params)
    tried = []

    def is_fair(lam):
        classifier = fits.fit(lam)
        value = metric(classifier, X_val, y_val, s_val)
        tried.append((value, classifier))
        return value >= target if greater_is_better else value <= target

    low, high = 0.0, 0.0
    while not is_fair(high):
        low, high = high, 2 * high or 0.1
        if high > max_lam:
            choose = max if greater_is_better else min
            best, classifier = choose(tried, key=lambda pair: pair[0])
            raise TargetNotReachedError(
                f"the target {target} is not reached by any lam up to {max_lam:g}: the best is "
                f"{best:.4g}, at lam = {classifier.lam:.4g}. A larger max_lam may help; if "
                "the best is at a small lam, the thresholded label gets worse again beyond it, "
                "and another penalty may do better (see ScoreBinsPenalty)"
            )
    fair = tried[-1][1]
    low = max(low, 0.001)
    while high > 1.02 * low:
        middle = np.sqrt(low * high)
        if is_fair(middle):
            high, fair = middle, tried[-1][1]
        else:
            low = middle
    return fair


class _WarmStarts:
    """Fits for any lam on one problem, each from the solution for the next smaller lam so far."""

    def __init__(self, X, y, sensitive_features, sample_weight, estimator, params):
        if estimator is not None and params:
            raise ValueError(f"give either estimator or parameters, not both: {sorted(params)}")
        self.estimator = RenyiClassifier(**params) if estimator is None else estimator
        self.problem = clone(self.estimator)._prepare(X, y, sensitive_features, sample_weight)
        self.solutions = [(0.0, np.zeros(self.problem.objective.model.shape))]

    def fit(self, lam):
        classifier = clone(self.estimator).set_params(lam=lam)
        classifier._check_parameters()
        before, theta = max(
            (pair for pair in self.solutions if pair[0] <= lam), key=lambda pair: pair[0]
        )
        classifier._solve(self.problem, theta, before)
        self.solutions.append((lam, classifier._theta()))
        return classifier


def _lipschitz_estimate(objective, theta, lam):
    """An estimate of the Lipschitz constant of the objective's gradient."""
    objective(theta, lam)
    rows = [row.ravel() for row in objective.residual_gradients()] if lam else []
    steepest = np.linalg.norm(rows, 2) if rows else 0.0
    return objective.model.lipschitz() + 4 * lam * steepest**2


def _with_ones(X):
    """X with a last column of ones, dense X stored by columns."""
    n, p = X.shape
    if sparse.issparse(X):
        return sparse.hstack([X, np.ones((n, 1))], format="csr")
    by_columns = np.empty((n, p + 1), order="F")
    # In blocks of rows that fit the cache: copying row by row into columns is slow otherwise.
    for start in range(0, n, 256):
        by_columns[start : start + 256, :p] = X[start : start + 256]
    by_columns[:, p] = 1.0
    return by_columns


def _positive(values):
    """The values, with 1 in place of 0 (a column of zeros has no scale)."""
    return np.where(values > 0, values, 1.0)


def _apply(root, row):
    """A matrix, or a diagonal, times a vector."""
    return root @ row if root.ndim == 2 else root * row


def _class_codes(y, classes):
    """The position of each label among the classes."""
    y = np.asarray(y)
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    if (classes[codes] != y).any():
        raise ValueError(f"y has labels that are not among the classes {classes.tolist()}")
    return codes


def _metric(metric, greater_is_better):
    """A function of (classifier, X, y, sensitive_features), and whether more of it is better."""
    if callable(metric):
        if greater_is_better is None:
            raise ValueError("greater_is_better must be given for a metric of your own")
        return lambda clf, X, y, s: metric(y, clf.predict(X), s), greater_is_better
    if metric not in _METRICS:
        raise ValueError(
            f"metric must be a function or one of {', '.join(map(repr, _METRICS))}, not {metric!r}"
        )
    function, takes_truth, better = _METRICS[metric]

    def measured(classifier, X, y, s):
        label = classifier.favourable_label
        label = classifier.classes_[-1] if label is None else label
        labels = (y, classifier.predict(X)) if takes_truth else (classifier.predict(X),)
        return function(*labels, sensitive_features=s, pos_label=label)

    return measured, better
