"""The function that is minimized: mean loss + lam * penalty, where model and penalty meet.

With the adversary's maximum inside the penalty this function is g(theta) = max f(theta, ·), and by
Danskin's theorem its gradient is that of f at the best response, held fixed. So one evaluation of
the objective *is* the adversary's move, and the paper's algorithms are gradient descent on g.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["Evaluation", "FairObjective", "History"]


class FairObjective:
    """mean loss + lam * penalty, as a function of theta, with its gradient by Danskin's theorem.

    Parameters
    ----------
    model : SoftmaxModel
        Or any object whose method ``at(theta)`` gives a point with ``loss``, ``F``,
        ``gradient(dF)`` and ``pull_back(dFs)``, as in `renyi_lib.models`.
    penalty : Penalty or None
        Penalty to add to the loss; None adds nothing.
    groups : Groups or None
        The group of each unit of the model's F.

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
        """The objective and its gradient."""
        at = self.at(theta, lam)
        return at.value, at.gradient

    def at(self, theta: np.ndarray, lam: float, *, ahead: float = 0.0) -> "Evaluation":
        """The objective at theta, with all that a solver asks for.

        Parameters
        ----------
        theta : ndarray
            Parameters of the model.
        lam : float
            Weight of the penalty.
        ahead : float, default=0.0
            A lam for which the evaluation will be used, too. To know it may save a pass.
        """
        penalized = self.penalty is not None and bool(lam or ahead)
        if penalized and getattr(self.model, "with_slopes", False):
            point = self.model.at(theta, slopes=True)
        else:
            point = self.model.at(theta)
        return Evaluation(self, point, lam, self.penalty)

    @property
    def has_kinks(self) -> bool:
        """Whether the penalty may fail to be differentiable."""
        return self.penalty is not None and self.penalty.has_kinks(
            self.model.n_classes, len(self.groups.q)
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The objective at one theta, for one lam. Nothing about it changes.

    Attributes
    ----------
    objective : FairObjective
        The objective.
    point : Point
        The model at theta.
    lam : float
        Weight of the penalty.
    smooth_penalty : Penalty or None
        The penalty that is minimized: the objective's, possibly smoothed at its kinks.
    """

    objective: FairObjective
    point: Any
    lam: float
    smooth_penalty: Any

    def moved(self, theta: np.ndarray, *, ahead: float = 0.0) -> "Evaluation":
        """The same function at another theta; `ahead` as in `FairObjective.at`."""
        at = self.objective.at(theta, self.lam, ahead=ahead)
        return replace(at, smooth_penalty=self.smooth_penalty)

    def with_lam(self, lam: float) -> "Evaluation":
        """The same theta for another lam."""
        return self if lam == self.lam else replace(self, lam=lam)

    def smoothed(self, mu: float) -> "Evaluation":
        """The same theta with the penalty smoothed by mu; by 0, as it is."""
        penalty = self.objective.penalty
        return replace(self, smooth_penalty=penalty.smoothed(mu) if mu else penalty)

    @property
    def theta(self) -> np.ndarray:
        """Where the objective was evaluated."""
        return self.point.theta

    @property
    def loss(self) -> float:
        """The mean loss."""
        return self.point.loss

    @property
    def F(self) -> np.ndarray:
        """The class probabilities, a row for each unit of the model."""
        return self.point.F

    @cached_property
    def _penalty(self):
        if self.smooth_penalty is None:
            return 0.0, None
        return self.smooth_penalty.value_and_grad(self.F, self.objective.groups)

    @cached_property
    def penalty(self) -> float:
        """The penalty without any smoothing; 0 if there is none."""
        penalty = self.objective.penalty
        if self.smooth_penalty is penalty:
            return self._penalty[0]
        return penalty.value(self.F, self.objective.groups)

    @property
    def value(self) -> float:
        """loss + lam * penalty, with the smoothing."""
        return self.loss + self.lam * self._penalty[0]

    @cached_property
    def gradient(self) -> np.ndarray:
        """The gradient of `value` by theta."""
        _, dF = self._penalty
        return self.point.gradient(self.lam * dF if self.lam and dF is not None else None)

    @property
    def steepness(self) -> float:
        """The largest entry of the gradient, in absolute value."""
        return float(np.abs(self.gradient).max())

    def best_response(self) -> Any:
        """The adversary's best response to theta, or None."""
        return self.objective.penalty.best_response(self.F, self.objective.groups)

    def residual_gradients(self) -> list[np.ndarray]:
        """Gradients with respect to theta of the penalty's residuals.

        For very many residuals, as many rows as theta has entries, with the same Gram matrix.
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
        """The second derivative of `value`, for a linear model."""
        hessian = self.point.hessian()
        if self.smooth_penalty is not None and self.lam:
            by_F = self.smooth_penalty.hessian(self.F, self.objective.groups, self.point.model.X)
            hessian = hessian + self.lam * by_F
        return hessian


class History:
    """The history of a solver: the start, and the result of each iteration.

    Attributes
    ----------
    last : Evaluation or None
        Where the solver ended.
    """

    def __init__(self):
        self.rows = []
        self.last = None

    @property
    def n_iter(self):
        """The number of iterations so far."""
        return max(0, len(self.rows) - 1)

    def record(self, at: Evaluation):
        """Write down an evaluation."""
        lam, loss, penalty = at.lam, at.loss, at.penalty
        norm = np.linalg.norm(at.gradient)
        self.rows.append((lam, loss, penalty, loss + lam * penalty, norm, at.steepness))

    def columns(self):
        """A dict of arrays, one entry for the start and for each iteration."""
        names = ["lam", "loss", "penalty", "objective", "gradient_norm", "gradient_max"]
        return dict(zip(names, np.array(self.rows, dtype=float).reshape(-1, len(names)).T))
