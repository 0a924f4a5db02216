"""Protocol that every penalty follows, including user-defined ones."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from renyi_lib._parameters import Checked
from renyi_lib.penalties._groups import EMPTY, Groups, as_groups

__all__ = ["Penalty", "TablePenalty"]


class Penalty(Checked, BaseEstimator):
    """Base class of penalties, which have a value and a gradient with respect to F.

    A new penalty overrides `terms`, which for most penalties returns a list with a single pair of
    value and gradient. If the penalty depends on F only through the joint table of label and
    group, derive it from `TablePenalty` instead, which is simpler and works in more places. The
    other methods have defaults that suit any penalty.

    Penalties handle their parameters like scikit-learn estimators. They can therefore be printed
    and cloned, and their parameters can be set, also through a classifier
    (``penalty__bandwidth``). Data are never parameters, and evaluating a penalty does not change
    it, so threads can share it.

    Attributes
    ----------
    depends_on_table : bool
        Whether the penalty depends on F only through the joint table of label and group (for a
        `ConditionalPenalty`, through the tables given each true label). Such a penalty can be
        fitted from every source, including blocks in memory, Parquet files and Dask.

    See Also
    --------
    TablePenalty : Base class of penalties that depend only on the joint table.
    """

    @property
    def depends_on_table(self) -> bool:
        """Whether the penalty depends on F only through the joint table of label and group."""
        return False

    def value_and_grad(
        self, F: ArrayLike, groups: "Groups | ArrayLike"
    ) -> tuple[float, np.ndarray]:
        """Compute the penalty and its gradient.

        Parameters
        ----------
        F : array-like of shape (n, c)
            Class probabilities.
        groups : Groups or array-like of shape (n,)
            Group of each sample. For repeated evaluations, count the groups once with
            `Groups.from_labels`.

        Returns
        -------
        value : float
            Value of the penalty.
        gradient : ndarray of shape (n, c)
            Gradient with respect to F.
        """
        self._check_parameters()
        terms = self.terms(F, groups)
        if len(terms) == 1:
            return terms[0]
        values, gradients = zip(*terms)
        return sum(values), sum(gradients)

    def value(self, F, groups):
        """Compute the penalty without its gradient."""
        return self.value_and_grad(F, groups)[0]

    def terms(self, F, groups):
        """Return a list of (value, gradient), one pair for each summand of the penalty."""
        raise NotImplementedError

    def best_response(self, F, groups):
        """Return the adversary's best response, or None if the penalty has no adversary."""
        return None  # noqa: RET501 (None is a meaningful result here)

    def residual_gradients(self, F, groups):
        """Return the gradients of residuals with respect to F.

        The squares of the residuals sum to the penalty, or to an upper bound on it. A large lam
        makes the objective steep in these few directions, and a solver that knows them can take
        longer steps in all other directions. The default is one residual for each summand, its
        square root. The result may be any iterable; for many residuals, return a generator.
        """
        return [
            gradient / (2 * np.sqrt(value))
            for value, gradient in self.terms(F, groups)
            if value > EMPTY
        ]

    def residual_rows(self, F, groups, slopes_of):
        """Return the gradients of the residuals with respect to the model's parameters theta.

        The residuals are those of `residual_gradients`. The result is an array with a row for each
        residual. ``slopes_of(groups)`` returns the derivatives of the joint table with respect to
        theta, of shape (c, d, number of parameters), so that no arrays of the size of F are
        needed. Return None if this method brings no advantage for the penalty or for this number
        of groups.
        """
        return None  # noqa: RET501 (None is a meaningful result here)

    def has_kinks(self, n_classes, n_groups):
        """Return whether the penalty may have kinks for this number of classes and groups."""
        return False

    def smoothed(self, mu):
        """Return a differentiable penalty, with each summand at most mu / 2 above the original."""
        return self


class TablePenalty(Penalty):
    """Base class of penalties that depend on F only through T[i, j] = P(Ŷ = i, S = j).

    A subclass overrides `of_table`. Because the penalty needs no other data, it works with every
    source of data (arrays, blocks, Parquet files, Dask collections), under every fairness
    criterion, on labels and on scores, and with boosted trees.

    See Also
    --------
    renyi_lib.penalties.RenyiPenalty : Penalize the squared Rényi correlation.
    renyi_lib.penalties.ChiSquarePenalty : Penalize the chi-square information.

    Examples
    --------
    Penalize the squared gap between the rates of the last class in two groups:

    >>> import numpy as np
    >>> from renyi_lib.penalties import TablePenalty
    >>> class SquaredGap(TablePenalty):
    ...     def of_table(self, T, q):
    ...         gap = T[-1, 1] / q[1] - T[-1, 0] / q[0]
    ...         dT = np.zeros_like(T)
    ...         dT[-1] = 2 * gap * np.array([-1, 1]) / q
    ...         return float(gap**2), dT
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]]
    >>> value, gradient = SquaredGap().value_and_grad(F, ["f", "m", "m", "f"])
    >>> round(value, 12)
    0.04

    This penalty can be minimized like any other:

    >>> from renyi_lib import PenalizedClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> fair = PenalizedClassifier(SquaredGap(), lam=100).fit(X, y, sensitive_features=s)
    >>> bool(fair.penalty_value(X, sensitive_features=s) < 1e-4)
    True
    """

    @property
    def depends_on_table(self) -> bool:
        """Whether the penalty depends only on the joint table, which is always True."""
        return True

    def of_table(self, T: np.ndarray, q: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the penalty and its gradient with respect to the table.

        Parameters
        ----------
        T : ndarray of shape (c, d)
            Joint table P(Ŷ = i, S = j).
        q : ndarray of shape (d,)
            Positive group probabilities P(S = j), held fixed.

        Returns
        -------
        value : float
            Value of the penalty.
        dT : ndarray of shape (c, d)
            Gradient with respect to T.
        """
        raise NotImplementedError

    def terms(self, F, groups):
        groups = as_groups(groups)
        value, dT = self.of_table(groups.table(F), groups.q)
        return [(value, groups.spread(dT))]

    def table_residuals(self, T: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
        """Return the gradients of residuals with respect to T; see `residual_gradients`."""
        value, dT = self.of_table(T, q)
        return [dT / (2 * np.sqrt(value))] if value > EMPTY else []

    def residual_gradients(self, F, groups):
        """Return the gradients of `table_residuals` with respect to F."""
        groups = as_groups(groups)
        return [groups.spread(dT) for dT in self.table_residuals(groups.table(F), groups.q)]

    def table_curvature(self, T: np.ndarray, q: np.ndarray) -> np.ndarray | None:
        """Approximate the second derivative with respect to each entry of T, or return None.

        Boosting uses it to damp the steps of the penalty. If it is None, boosting uses only the
        gradient, which works for any penalty.
        """
        return None
