"""Objective of the fits, mean loss + lam * penalty, which combines a model and a penalty.

Because the penalty contains the adversary's maximum, the objective is g(theta) = max f(theta, ·),
and by Danskin's theorem its gradient is that of f at the best response, held fixed. Each
evaluation of the objective therefore includes the adversary's move, and the paper's algorithms are
gradient descent on g.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["Evaluation", "FairObjective", "History"]


class FairObjective:
    """Mean loss + lam * penalty as a function of theta, with its gradient by Danskin's theorem.

    Parameters
    ----------
    model : SoftmaxModel
        Model, or any object whose method ``at(theta)`` returns a point with ``loss``, ``F``,
        ``gradient(dF)`` and ``pull_back(dFs)``, as in `renyi_lib.models`.
    penalty : Penalty or None
        Penalty to add to the loss; None adds nothing.
    groups : Groups or None
        Group of each unit of the model's F.

    See Also
    --------
    renyi_lib.solvers.lbfgs : Minimize the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.models import SoftmaxModel
    >>> from renyi_lib.objective import FairObjective
    >>> from renyi_lib.penalties import Groups, RenyiPenalty
    >>> X, y, s = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), ["f", "f", "m"]
    >>> model = SoftmaxModel(X, y, n_classes=2)
    >>> objective = FairObjective(model, RenyiPenalty(), Groups.from_labels(s))
    >>> value, gradient = objective(np.ones(model.shape), lam=0.1)
    >>> at = objective.at(np.ones(model.shape), lam=0.1)
    >>> round(at.value, 6), round(at.loss, 6), round(at.penalty, 6)
    (0.50011, 0.496259, 0.038506)
    """

    def __init__(self, model, penalty=None, groups=None):
        self.model = model
        self.penalty = penalty
        self.groups = groups

    def __call__(self, theta: np.ndarray, lam: float) -> tuple[float, np.ndarray]:
        """Compute the objective and its gradient."""
        at = self.at(theta, lam)
        return at.value, at.gradient

    def at(self, theta: np.ndarray, lam: float, *, ahead: float = 0.0) -> "Evaluation":
        """Evaluate the objective at theta.

        Parameters
        ----------
        theta : ndarray
            Parameters of the model.
        lam : float
            Weight of the penalty.
        ahead : float, default=0.0
            Another lam for which the evaluation will be used. Knowing it may save a pass.

        Returns
        -------
        Evaluation
            Objective at theta, with everything that a solver needs.
        """
        penalized = self.penalty is not None and bool(lam or ahead)
        if penalized and getattr(self.model, "with_slopes", False):
            point = self.model.at(theta, slopes=True)
        else:
            point = self.model.at(theta)
        return Evaluation(self, point, lam, self.penalty)

    @property
    def has_kinks(self) -> bool:
        """Whether the penalty may have kinks."""
        return self.penalty is not None and self.penalty.has_kinks(
            self.model.n_classes, len(self.groups.q)
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Immutable evaluation of the objective at one theta, for one lam.

    Attributes
    ----------
    objective : FairObjective
        Objective that was evaluated.
    point : Point
        Model at theta.
    lam : float
        Weight of the penalty.
    smooth_penalty : Penalty or None
        Penalty that is minimized, namely the objective's penalty, possibly smoothed at its kinks.
    """

    objective: FairObjective
    point: Any
    lam: float
    smooth_penalty: Any

    def moved(self, theta: np.ndarray, *, ahead: float = 0.0) -> "Evaluation":
        """Evaluate the same function at another theta; see `FairObjective.at` for `ahead`."""
        at = self.objective.at(theta, self.lam, ahead=ahead)
        return replace(at, smooth_penalty=self.smooth_penalty)

    def with_lam(self, lam: float) -> "Evaluation":
        """Return the evaluation at the same theta for another lam."""
        return self if lam == self.lam else replace(self, lam=lam)

    def smoothed(self, mu: float) -> "Evaluation":
        """Return the evaluation at the same theta with smoothing mu; 0 means no smoothing."""
        penalty = self.objective.penalty
        return replace(self, smooth_penalty=penalty.smoothed(mu) if mu else penalty)

    @property
    def theta(self) -> np.ndarray:
        """Parameters at which the objective was evaluated."""
        return self.point.theta

    @property
    def loss(self) -> float:
        """Mean loss."""
        return self.point.loss

    @property
    def F(self) -> np.ndarray:
        """Class probabilities, with a row for each unit of the model."""
        return self.point.F

    @cached_property
    def _penalty(self):
        if self.smooth_penalty is None:
            return 0.0, None
        return self.smooth_penalty.value_and_grad(self.F, self.objective.groups)

    @cached_property
    def penalty(self) -> float:
        """Penalty without smoothing, or 0 if there is no penalty."""
        penalty = self.objective.penalty
        if self.smooth_penalty is penalty:
            return self._penalty[0]
        return penalty.value(self.F, self.objective.groups)

    @property
    def value(self) -> float:
        """Objective loss + lam * penalty, with smoothing."""
        return self.loss + self.lam * self._penalty[0]

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of `value` with respect to theta."""
        _, dF = self._penalty
        return self.point.gradient(self.lam * dF if self.lam and dF is not None else None)

    @property
    def steepness(self) -> float:
        """Largest absolute entry of the gradient."""
        return float(np.abs(self.gradient).max())

    def best_response(self) -> Any:
        """Return the adversary's best response to theta, or None if the penalty has no adversary.

        The objective must have a penalty.
        """
        return self.objective.penalty.best_response(self.F, self.objective.groups)

    def residual_gradients(self) -> list[np.ndarray]:
        """Return the gradients of the penalty's residuals with respect to theta.

        The squares of the residuals sum to the penalty, or to an upper bound on it. If there are
        many residuals, they may be replaced by at most as many combinations as theta has entries,
        whose gradients have the same sum of outer products.
        """
        penalty, groups = self.smooth_penalty, self.objective.groups
        if penalty is None:
            return []
        if hasattr(self.point, "table_slopes"):
            rows = penalty.residual_rows(self.F, groups, self.point.table_slopes)
            if rows is not None:
                triangle = np.asarray(np.linalg.qr(rows, mode="r"))
                return list(triangle.reshape(-1, *self.theta.shape))
        return self.point.pull_back(penalty.residual_gradients(self.F, groups))

    def hessian(self) -> np.ndarray:
        """Compute the Hessian of `value`, for a `renyi_lib.regression.LinearModel`."""
        hessian = self.point.hessian()
        if self.smooth_penalty is not None and self.lam:
            by_F = self.smooth_penalty.hessian(self.F, self.objective.groups, self.point.model.X)
            hessian = hessian + self.lam * by_F
        return hessian


class History:
    """History of a solver, with an entry for the start and for each iteration.

    Attributes
    ----------
    last : Evaluation or None
        Last evaluation of the solver; None until the solver has ended.
    """

    def __init__(self):
        self.rows = []
        self.last = None

    @property
    def n_iter(self):
        """Number of iterations so far."""
        return max(0, len(self.rows) - 1)

    def record(self, at: Evaluation):
        """Append an evaluation."""
        lam, loss, penalty = at.lam, at.loss, at.penalty
        norm = np.linalg.norm(at.gradient)
        self.rows.append((lam, loss, penalty, loss + lam * penalty, norm, at.steepness))

    def columns(self):
        """Return a dict of arrays, with an entry for the start and for each iteration."""
        names = ["lam", "loss", "penalty", "objective", "gradient_norm", "gradient_max"]
        return dict(zip(names, np.array(self.rows, dtype=float).reshape(-1, len(names)).T))
