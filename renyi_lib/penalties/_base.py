"""What a penalty is: the protocol that every penalty follows, also one of your own."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from renyi_lib._parameters import Checked
from renyi_lib.penalties._groups import EMPTY, Groups, as_groups

__all__ = ["Penalty", "TablePenalty"]


class Penalty(Checked, BaseEstimator):
    """The protocol of a penalty: a value and its gradient with respect to the class probabilities.

    A new penalty overrides `terms`, which for most penalties is a list of one pair. If it depends
    on F through the joint table of label and group only, it is a `TablePenalty`, which is simpler
    to write and works in more places. The other methods have defaults that suit any penalty.

    Penalties are estimators in the sense of scikit-learn as far as their parameters go: they can
    be printed, cloned and set, also from a classifier (``penalty__bandwidth``). Data are never
    parameters, and evaluating a penalty does not change it, so that threads can share one.

    Attributes
    ----------
    depends_on_table : bool
        Whether the penalty depends on F only through the joint table of label and group (for a
        `ConditionalPenalty`, the tables given each true label). Such a penalty can be fitted from
        every source, blocks of memory, Parquet files and Dask included.

    See Also
    --------
    TablePenalty : For penalties that depend on the joint table only.
    """

    @property
    def depends_on_table(self) -> bool:
        """Whether the penalty depends on F only through the joint table of label and group."""
        return False

    def value_and_grad(
        self, F: ArrayLike, groups: "Groups | ArrayLike"
    ) -> tuple[float, np.ndarray]:
        """The penalty and its gradient.

        Parameters
        ----------
        F : array-like of shape (n, c)
            Class probabilities.
        groups : Groups or array-like of shape (n,)
            The group of each sample. To evaluate more than once, count the groups once, with
            `Groups.from_labels`.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n, c)
        """
        self._check_parameters()
        terms = self.terms(F, groups)
        if len(terms) == 1:
            return terms[0]
        values, gradients = zip(*terms)
        return sum(values), sum(gradients)

    def value(self, F, groups):
        """The penalty without its gradient."""
        return self.value_and_grad(F, groups)[0]

    def terms(self, F, groups):
        """A list of (value, gradient), one pair for each summand of the penalty."""
        raise NotImplementedError

    def best_response(self, F, groups):
        """The adversary's best response, or None if the penalty is not a maximum over one."""
        return None  # noqa: RET501 (None is the answer here)

    def residual_gradients(self, F, groups):
        """Gradients with respect to F of residuals.

        The squares of the residuals sum to the penalty, or to a bound of it.
        A large lam makes the objective steep in these few directions; a solver that knows them
        can step along the others. By default one residual for each summand, its square root. Any
        iterable will do: if there are many, make each when it is asked for.
        """
        return [
            gradient / (2 * np.sqrt(value))
            for value, gradient in self.terms(F, groups)
            if value > EMPTY
        ]

    def residual_rows(self, F, groups, slopes_of):
        """The same residuals' gradients with respect to theta, without arrays of F's size.

        ``slopes_of(groups)`` gives the derivatives of the joint table with respect to theta, of
        shape (c, d, number of parameters). The gradients are the rows of the result. None if this
        penalty, or so few groups, do not need it.
        """
        return None  # noqa: RET501 (None is the answer here)

    def has_kinks(self, n_classes, n_groups):
        """Whether the penalty may fail to be differentiable for so many classes and groups."""
        return False

    def smoothed(self, mu):
        """A differentiable penalty, each summand of which is at most mu / 2 above the true one."""
        return self


class TablePenalty(Penalty):
    """A penalty that depends on F only through the table T[i, j] = P(Ŷ = i, S = j).

    A subclass overrides `of_table`. Because nothing else of the data is needed, the penalty works
    with every source of data (arrays, blocks, Parquet files, Dask collections), under every
    notion of fairness, on labels and on scores, and with boosted trees.

    See Also
    --------
    renyi_lib.penalties.RenyiPenalty : A penalty of this kind.
    renyi_lib.penalties.ChiSquarePenalty : Another one.

    Examples
    --------
    The squared gap between the groups' rates of the last class, for two groups:

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

    It can be minimized like any other penalty:

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
        """True."""
        return True

    def of_table(self, T: np.ndarray, q: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalty and its gradient with respect to the table.

        Parameters
        ----------
        T : ndarray of shape (c, d)
            P(Ŷ = i, S = j).
        q : ndarray of shape (d,)
            P(S = j), all positive; held fixed.

        Returns
        -------
        value : float
        dT : ndarray of shape (c, d)
        """
        raise NotImplementedError

    def terms(self, F, groups):
        groups = as_groups(groups)
        value, dT = self.of_table(groups.table(F), groups.q)
        return [(value, groups.spread(dT))]

    def table_residuals(self, T: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
        """Gradients with respect to T of residuals, as in `residual_gradients`."""
        value, dT = self.of_table(T, q)
        return [dT / (2 * np.sqrt(value))] if value > EMPTY else []

    def residual_gradients(self, F, groups):
        """Those of `table_residuals`, by F."""
        groups = as_groups(groups)
        return [groups.spread(dT) for dT in self.table_residuals(groups.table(F), groups.q)]

    def table_curvature(self, T: np.ndarray, q: np.ndarray) -> np.ndarray | None:
        """An approximation of the second derivative with respect to each entry of T, or None.

        Boosting damps the penalty's moves by it. With None it uses the gradient alone, which
        suits any penalty.
        """
        return None
