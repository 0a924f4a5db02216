"""The function that is minimised: mean loss + lam * penalty, where model and penalty meet.

With the adversary's maximum inside the penalty this function is g(theta) = max f(theta, ·), and by
Danskin's theorem its gradient is that of f at the best response, held fixed. So one evaluation of
the objective *is* the adversary's move, and the paper's algorithms are gradient descent on g.
"""

import numpy as np

__all__ = ["FairObjective", "History"]


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
    >>> from renyi_lib.models import SoftmaxModel
    >>> from renyi_lib.objective import FairObjective
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

    def __call__(self, theta: np.ndarray, lam: float) -> tuple[float, np.ndarray]:
        """The objective and its gradient; leaves `F`, `loss` and `penalty_value` behind."""
        self.loss, self.F = self.model.forward(theta)
        self.penalty_value = 0.0
        if self.penalty is None:
            return self.loss, self.model.loss_gradient()
        self.penalty_value, dF = self.penalty.value_and_grad(self.F, self.groups)
        gradient = self.model.loss_gradient(lam * dF if lam else None)
        return self.loss + lam * self.penalty_value, gradient

    def residual_gradients(self):
        """Gradients by theta of the penalty's residuals, at the last theta evaluated.

        For very many residuals, as many rows as theta has entries, with the same Gram matrix.
        """
        if self.penalty is None:
            return []
        if hasattr(self.model, "table_slopes"):
            rows = self.penalty.residual_rows(self.F, self.groups, self.model.table_slopes)
            if rows is not None:
                return list(np.linalg.qr(rows, mode="r").reshape(-1, *self.model.shape))
        by_F = self.penalty.residual_gradients(self.F, self.groups)
        if len(by_F) > 1 and hasattr(self.model, "pull_back_all"):
            return self.model.pull_back_all(by_F)
        return [self.model.pull_back(dF) for dF in by_F]

    def hessian(self, lam: float) -> np.ndarray:
        """The second derivative at the last theta evaluated, for a linear model."""
        hessian = self.model.hessian()
        if self.penalty is not None and lam:
            hessian = hessian + lam * self.penalty.hessian(self.F, self.groups, self.model.X)
        return hessian

    def at_smoothing(self, mu):
        """The same objective with the penalty smoothed by mu."""
        smooth = FairObjective(self.model, self.penalty.smoothed(mu), self.groups)
        smooth.true_penalty = self.true_penalty
        return smooth

    def true_penalty_value(self):
        """The penalty without any smoothing, at the last theta evaluated."""
        if self.penalty is self.true_penalty:
            return self.penalty_value
        return self.true_penalty.value(self.F, self.groups)

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
