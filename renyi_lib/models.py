"""Models that map parameters theta to class probabilities F, and gradients back, for any source.

``model.at(theta)`` evaluates a model at theta and returns a *point*, which has

- ``point.loss`` and ``point.F``, the class probabilities with a row for each *unit*;
- ``point.gradient(dF)``, the gradient with respect to theta of loss + sum(dF * F);
- ``point.pull_back(dFs)``, the gradients of sum(dF * F) alone.

`FairObjective` needs no more of a model than this to compute its value and gradient. The solvers
also use ``model.n_classes`` and ``point.theta``, and some of them use ``model.lipschitz()``,
``point.curvature_roots()`` or ``point.hessian()``. Evaluations do not change the state of models
and points.

A unit is a row or, if the penalty depends only on the joint table of label and group, a group or a
*cell*, which consists of all rows with the same label and group. In that case the penalty needs
only the mean probabilities of the units, and every evaluation is a sum over rows
(`renyi_lib.sources.Source.total`), which does not depend on where the rows are stored.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from renyi_lib._cells import Cells, CodedSource
from renyi_lib._losses import softmax_loss, total_softmax_loss
from renyi_lib.penalties import Groups
from renyi_lib.sources import ArraySource, Block, Source

__all__ = ["Point", "SoftmaxModel"]

# Up to this many features, the full Hessian of the loss is computed. With more features, computing
# and factoring it would cost more than it saves, so only its diagonal is used.
MAX_DENSE = 400

# Number of rows that are scaled at a time, so that the scaled copy of X stays in the cache.
_BLOCK = 4096
# Up to this many cells or groups, an evaluation in memory also computes the derivatives of all
# their means; for more units, or for more than two classes, a second pass on demand costs less.
_FEW_UNITS = 8
# Up to this many rows on the left, matrix-vector products are faster than a matrix product.
_FEW_PRODUCTS = 4
# Number of gradients with respect to the F of all rows that are kept in memory at a time.
_AT_ONCE = 4
# The curvature of the loss only determines the solver's coordinates, so this many rows for each
# feature suffice, unless the scale of some feature depends on only _ROWS_BEHIND rows or fewer.
_ROWS_PER_FEATURE = 100
_ROWS_BEHIND = 30


class SoftmaxModel:
    """Multinomial logistic regression as a map from theta to F, with gradients.

    F has one row of class probabilities for each unit. With the constructor, which takes arrays,
    the units are the rows. With the class method `over`, which accepts any source, they are cells
    by default.

    Parameters
    ----------
    X : ndarray or scipy CSR array of shape (n, p)
        Features.
    y : ndarray of int, shape (n,)
        Classes 0 … c-1.
    n_classes : int
        Number of classes.
    weight : ndarray of shape (n,), optional
        Probability of each row; 1 / n by default.
    fit_intercept : bool, default=True
        Whether the last column of theta multiplies a constant 1.
    l2 : float, default=0.0
        Strength of the ridge ``l2 / 2 * |theta|^2``, without intercepts, that is added to the
        loss.

    Attributes
    ----------
    shape : tuple
        Shape of theta, which has a row of coefficients for each class. For two classes it has a
        single row, and F = (1 - expit(z), expit(z)) with z = theta . x.

    See Also
    --------
    renyi_lib.objective.FairObjective : Combine the model with a penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.models import SoftmaxModel
    >>> model = SoftmaxModel(np.array([[0.0], [1.0]]), np.array([0, 1]), n_classes=2)
    >>> point = model.at(np.zeros(model.shape))
    >>> round(point.loss, 6), point.F.tolist()
    (0.693147, [[0.5, 0.5], [0.5, 0.5]])
    >>> point.gradient()
    array([[-0.25,  0.  ]])
    """

    def __init__(self, X, y, n_classes, weight=None, *, fit_intercept=True, l2=0.0):
        cells = Cells(
            classes=np.arange(n_classes),
            groups=None,
            y=np.arange(n_classes),
            codes=np.zeros(n_classes, dtype=int),
            weight=np.full(n_classes, 1 / n_classes),
            mass=float(len(y)) if weight is None else 1.0,
            n_rows=len(y),
            n_features=X.shape[1],
        )
        self._set(ArraySource(X, y, weight), cells, None, "row", fit_intercept, l2)

    @classmethod
    def over(
        cls,
        source: Source,
        cells: Cells | None = None,
        loss_weight: np.ndarray | None = None,
        *,
        by: str = "cell",
        fit_intercept: bool = True,
        l2: float = 0.0,
    ) -> "SoftmaxModel":
        """Build the model for a source.

        Parameters
        ----------
        source : Source
            Source of `Rows`, or an `ArraySource`.
        cells : Cells, optional
            Cells of the source; by default, they are counted in one pass.
        loss_weight : ndarray of shape (number of cells,), optional
            Weight of each cell in the loss; by default its probability.
        by : {"cell", "group", "row"}, default="cell"
            Units of F. Groups suffice for a penalty that does not condition on the true label.
            Rows require an `ArraySource`.
        fit_intercept : bool, default=True
            Whether to fit an intercept.
        l2 : float, default=0.0
            Strength of the ridge.

        Returns
        -------
        SoftmaxModel
            Model for the source.

        Examples
        --------
        >>> import numpy as np
        >>> from renyi_lib.models import SoftmaxModel
        >>> from renyi_lib.sources import Rows, Source
        >>> parts = [Rows(np.array([[0.0]]), [0]), Rows(np.array([[1.0]]), [1])]
        >>> model = SoftmaxModel.over(Source(lambda: iter(parts)))
        >>> model.at(np.zeros(model.shape)).gradient()
        array([[-0.25,  0.  ]])
        """
        cells = Cells.count(source) if cells is None else cells
        if not isinstance(source, ArraySource):
            source = CodedSource(source, cells)
        factor = None if loss_weight is None else loss_weight / cells.weight
        model = cls.__new__(cls)
        model._set(source, cells, factor, by, fit_intercept, l2)
        return model

    def _set(self, source, cells, factor, by, fit_intercept, l2):
        self.source = source
        self.cells = cells
        self.n_classes = len(cells.classes)
        self.by_row = by == "row"
        self.ridge = np.full(cells.n_features + fit_intercept, float(l2))
        if fit_intercept:
            self.ridge[-1] = 0.0
        self.shape = (1 if self.n_classes == 2 else self.n_classes, len(self.ridge))
        self.reading = Reading(cells, factor, by, fit_intercept, cells.mass)
        # If a pass is costly, compute everything that may be needed in the same pass.
        in_memory = isinstance(source, ArraySource)
        few = self.n_classes == 2 and len(self.reading.unit_weight) <= _FEW_UNITS
        self.with_slopes = not self.by_row and (few or not in_memory)

    @property
    def X(self) -> Any:
        """Features, if they are in memory."""
        return self.source.X

    def at(self, theta: np.ndarray, *, slopes: bool = False) -> "Point":
        """Evaluate the model at theta in one pass.

        Parameters
        ----------
        theta : ndarray
            Parameters, an array with the model's `shape`.
        slopes : bool, default=False
            Whether gradients of functions of F will be needed, in addition to that of the loss.
            These gradients are available in any case, but knowing the need in advance may save a
            pass.

        Returns
        -------
        Point
            Model at theta.
        """
        return (_RowPoint if self.by_row else _CellPoint)(self, theta.copy(), slopes)

    def canonical(self, theta: np.ndarray) -> np.ndarray:
        """Return the theta of least norm with the same F; for c > 2 classes, its rows sum to 0."""
        return theta if self.n_classes == 2 else theta - theta.mean(axis=0)

    def lipschitz(self) -> float:
        """Compute a Lipschitz constant of the loss's gradient in one pass.

        For any theta, the Hessian is at most 1/4 (two classes) or 1/2 of the second moments of x;
        see D. Böhning, "Multinomial logistic regression algorithm", Annals of the Institute of
        Statistical Mathematics 44 (1992), 197-200, doi:10.1007/BF00048682.
        """
        top = largest_eigenvalue(self.source.total(_moments, self.reading))
        return top / (4 if self.n_classes == 2 else 2) + self.ridge.max()

    @cached_property
    def sample(self) -> tuple[Source, "Reading"]:
        """Sample of rows from which to estimate the curvature, and the `Reading` for it."""
        source, reading = self.source, self.reading
        if isinstance(source, ArraySource) and source.in_blocks:
            step = self.cells.n_rows // (_ROWS_PER_FEATURE * max(1, self.cells.n_features))
            if step > 1:
                some = source.every(step)
                sums = some.total(_squares)
                # Effective number of rows that determine the mean square of a feature, which for a
                # sparse binary feature is the number of ones.
                if (sums[0] ** 2 > _ROWS_BEHIND * sums[1]).all():
                    return some, replace(reading, mass=some.total(_mass))
        return source, reading


class Point:
    """Model at one theta, with derived quantities that are computed on demand and cached.

    Attributes
    ----------
    theta : ndarray
        Parameters of the model.
    loss : float
        Mean loss, including the ridge.
    F : ndarray of shape (n, c) or (m, c)
        Class probabilities of each of n rows, or their means in each of m cells or groups.
    """

    loss: float
    F: np.ndarray
    _rows: np.ndarray | None = None  # F of each row, of shape (c, n), if it is known

    def __init__(self, model: SoftmaxModel, theta: np.ndarray):
        self.model, self.theta = model, theta

    def gradient(self, dF: np.ndarray | None = None) -> np.ndarray:
        """Compute the gradient of loss + sum(dF * F) with respect to theta."""
        raise NotImplementedError

    def pull_back(self, dFs: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Compute the gradient of sum(dF * F) with respect to theta for each dF, in one pass.

        If the units are the rows of a large X, only a few dF are kept in memory at a time, so
        more of them take several passes.
        """
        large = self.model.by_row and self.model.source.in_blocks
        found: list[np.ndarray] = []
        rest = iter(dFs)
        while several := list(islice(rest, _AT_ONCE if large else None)):
            found.extend(self._passed_back(several, False))
        return found

    def table_slopes(self, groups: Groups) -> np.ndarray:
        """Compute the derivative of each entry of ``groups.table(F)`` with respect to theta.

        With c classes and d groups, the result has shape (c, d, number of entries of theta). It
        takes one pass over the n rows, and no array of n x d numbers is created.
        """
        return self._total(_table_slopes, self.theta, self._rows, groups)

    @cached_property
    def _moments(self) -> np.ndarray:
        source, reading = self.model.sample
        known = self._rows if source is self.model.source else None
        return source.total(_curvatures, reading, self.theta, known)

    def curvature_roots(self) -> list[np.ndarray]:
        """Compute a matrix R for each row of theta, with R R^T close to the inverse Hessian.

        The Hessian is that of the loss. Each R is a (p, p) matrix or, for many features, the
        diagonal of one. Blocks of the Hessian that couple two classes are ignored, so only the
        means of F_i (1 - F_i) x x^T are used.
        """
        return [inverse_root(moments, self.model.ridge) for moments in self._moments]

    def _total(self, function, *arguments):
        return self.model.source.total(function, self.model.reading, *arguments)

    def _passed_back(self, dFs, with_loss):
        """Compute the gradient of sum(dF * F) for each dF; with_loss adds the loss's gradient."""
        if not self.model.by_row:
            dFs = [dF / self.model.reading.unit_weight[:, None] for dF in dFs]
        return self._total(_pulled_back, self.theta, self._rows, dFs, with_loss)


class _RowPoint(Point):
    """Point whose units are rows; F is stored, and a gradient takes a second pass."""

    def __init__(self, model, theta, slopes):
        super().__init__(model, theta)
        loss, parts = self._total(_forward, theta)
        self.loss = float(loss + 0.5 * np.sum(model.ridge * theta**2))
        self._rows = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        self.F = self._rows.T

    def gradient(self, dF=None):
        (gradient,) = self._passed_back([] if dF is None else [dF], True)
        return gradient + self.model.ridge * self.theta


class _CellPoint(Point):
    """Point whose units are cells or groups; one pass computes all sums that are needed."""

    def __init__(self, model, theta, slopes):
        super().__init__(model, theta)
        self.sums = self._evaluated(slopes)
        self.loss = float(self.sums.loss + 0.5 * np.sum(model.ridge * theta**2))
        self.F = self.sums.F / model.reading.unit_weight[:, None]

    def _evaluated(self, slopes):
        in_memory = isinstance(self.model.source, ArraySource)
        slopes = self.model.with_slopes and (slopes or not in_memory)
        return self._total(_evaluated, self.theta, slopes)

    def gradient(self, dF=None):
        gradient = self.sums.gradient + self.model.ridge * self.theta
        return gradient if dF is None else gradient + self.pull_back([dF])[0]

    def pull_back(self, dFs):
        if not self.model.with_slopes:
            return super().pull_back(dFs)
        slopes = self._slopes
        by_sums = [dF / self.model.reading.unit_weight[:, None] for dF in dFs]
        if self.model.n_classes == 2:
            return [(by_sum[:, 1] - by_sum[:, 0])[None] @ slopes for by_sum in by_sums]
        return [np.einsum("mi,mikp->kp", by_sum, slopes) for by_sum in by_sums]

    @cached_property
    def _slopes(self):
        sums = self.sums if self.sums.slopes is not None else self._evaluated(True)
        return sums.slopes


# --- Sums over the rows of a block ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reading:
    """Rules by which the rows of a block enter the sums.

    Attributes
    ----------
    cells : Cells
        Cells of the source.
    factor : ndarray of shape (number of cells,), or None
        Weight in the loss of a row of each cell, as a multiple of its probability.
    by : {"cell", "group", "row"}
        Units of F.
    fit_intercept : bool
        Whether the model has an intercept.
    mass : float
        Sum of all weights.
    """

    cells: Cells
    factor: np.ndarray | None
    by: str
    fit_intercept: bool
    mass: float

    @cached_property
    def unit_weight(self) -> np.ndarray:
        """Probability of each group if `by` is "group", and of each cell otherwise."""
        cells = self.cells
        return np.bincount(cells.codes, cells.weight) if self.by == "group" else cells.weight

    def units(self, block: Block) -> np.ndarray:
        """Return the cell of each row if `by` is "cell", and its group otherwise."""
        if self.by == "cell":
            return block.cell
        return self.cells.codes.astype(block.cell.dtype)[block.cell]

    def labels(self, block: Block) -> np.ndarray:
        """Return the class of each row, as 0.0 or 1.0 if there are two classes."""
        if len(self.cells.classes) == 2:
            # Cells are sorted by label.
            return (block.cell >= np.searchsorted(self.cells.y, 1)).astype(float)
        return self.cells.y[block.cell]

    def probability(self, block: Block) -> Any:
        """Return the probability of each row, or a single number if all rows have the same."""
        return 1 / self.mass if block.weight is None else block.weight / self.mass

    def loss_weight(self, block: Block) -> Any:
        """Return the weight of each row in the loss, or a single number if all are equal."""
        weight = self.probability(block)
        return weight if self.factor is None else weight * self.factor[block.cell]

    def scores(self, block: Block, theta: np.ndarray) -> np.ndarray:
        """Compute x . theta for each row of theta, of shape (k, n)."""
        p = block.X.shape[1]
        X = as_double(block.X)
        Z = np.empty((len(theta), X.shape[0]))
        for z, row in zip(Z, theta):
            # For a few classes, separate matrix-vector products are faster than a matrix product.
            z[:] = X @ row[:p] if row.any() else 0.0
            if self.fit_intercept:
                z += row[p]
        return Z

    def probabilities(self, block: Block, theta: np.ndarray, rows: np.ndarray | None) -> Any:
        """Return F of the rows, of shape (c, n), computing it unless it is already known."""
        if rows is not None:
            return rows[:, block.rows]
        return softmax_loss(self.scores(block, theta), self.labels(block))[1]

    def products(self, D: np.ndarray, block: Block) -> np.ndarray:
        """Compute the sums of D_kn x_n over the rows n, of shape (k, columns of theta)."""
        X = as_double(block.X)
        found = np.empty((len(D), X.shape[1] + self.fit_intercept))
        if sparse.issparse(X):
            found[:, : X.shape[1]] = (X.T @ D.T).T
        elif len(D) <= _FEW_PRODUCTS:
            for row, d in zip(found, D):
                row[: X.shape[1]] = d @ X
        else:
            found[:, : X.shape[1]] = D @ X
        if self.fit_intercept:
            found[:, -1] = D.sum(axis=1)
        return found

    def moments(self, block: Block, scale: np.ndarray) -> np.ndarray:
        """Compute the sum of scale_n^2 x_n x_n^T or, for many features, only its diagonal."""
        return second_moments(block.X, scale, self.fit_intercept)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over a block that an evaluation needs; adding two combines their blocks."""

    loss: float
    gradient: np.ndarray  # gradient of the loss
    F: np.ndarray  # (m, c): weighted sums of the probabilities in each unit
    slopes: np.ndarray | None  # derivative of F: (m, p) for the second class, or (m, c, c, p)

    def __add__(self, other):
        slopes = None if self.slopes is None else self.slopes + other.slopes
        sums = self.loss + other.loss, self.gradient + other.gradient, self.F + other.F
        return Sums(*sums, slopes)


class _Forward(tuple):
    """Loss and a list of F; adding two adds the losses and concatenates the lists."""

    def __add__(self, other):
        return _Forward((self[0] + other[0], self[1] + other[1]))


def _forward(block, reading, theta):
    losses, F = softmax_loss(reading.scores(block, theta), reading.labels(block))
    return _Forward((np.sum(losses * reading.loss_weight(block)), [F]))


def _evaluated(block, reading, theta, with_slopes):
    """Compute the `Sums` of a block."""
    units, m, y = reading.units(block), len(reading.unit_weight), reading.labels(block)
    weight, loss_weight = reading.probability(block), reading.loss_weight(block)
    # Equal weights can multiply the sums; other weights multiply the rows.
    each, unit = (loss_weight, 1.0) if np.ndim(loss_weight) else (None, loss_weight)
    loss, F = total_softmax_loss(reading.scores(block, theta), y, each)
    D = _loss_by_scores(F, y)
    if each is not None:
        D *= each
        F_of = F * weight
    else:
        F_of = F
    slopes = None
    if len(F) == 2 and m <= _FEW_UNITS:
        # The first row is for the loss. Row k + 1 is nonzero only at the samples of unit k, so
        # one product computes the sums of all units.
        rows = np.empty((m + 1, len(y)))
        rows[0] = D[0]
        for k in range(m):
            rows[k + 1] = units == k
        sums = rows[1:] @ F_of.T
        if with_slopes:
            rows[1:] *= F[0] * F_of[1]
        products = unit * reading.products(rows if with_slopes else rows[:1], block)
        gradient, slopes = products[:1], products[1:] if with_slopes else None
    else:
        units = units.astype(np.intp, copy=False)
        sums = np.stack([np.bincount(units, f, m) for f in F_of], axis=1)
        gradient = unit * reading.products(D, block)
        if with_slopes:
            slopes = _slopes(F, _summed_by(block, reading, units, weight, m))
    return Sums(unit * loss, gradient, unit * sums, slopes)


def _slopes(F, summed):
    """Compute derivatives of sums of F: (d, p) for the second of two classes, or (d, c, c, p).

    `summed` is a function returned by `_summed_by`, for d sums.
    """
    c = len(F)
    if c == 2:
        return summed(F[0] * F[1])
    slopes = [[summed(F[i] * ((i == k) - F[k])) for k in range(i + 1)] for i in range(c)]
    rows = [[slopes[max(i, k)][min(i, k)] for k in range(c)] for i in range(c)]
    return np.moveaxis(np.array(rows), 2, 0)


def _summed_by(block, reading, codes, weight, size):
    """Return a function that maps one number per row to sums of number * weight * x by code."""
    X, starts, shape = as_double(block.X), np.arange(len(codes) + 1), (size, len(codes))

    def summed(scale):
        # This sparse matrix has a column for each row of X, and one entry in each column.
        selection = sparse.csc_array((weight * scale, codes, starts), shape=shape)
        found = selection @ X
        found = found.toarray() if sparse.issparse(found) else found
        if reading.fit_intercept:
            found = np.column_stack([found, selection.sum(axis=1)])
        return found

    return summed


def _loss_by_scores(F, y):
    """Compute the derivative of each row's loss with respect to its scores, of shape (k, n)."""
    if len(F) == 2:
        return (F[1] - y)[None]
    D = F.copy()
    D[y, np.arange(len(y))] -= 1.0
    return D


def _pulled_back(block, reading, theta, rows, by_unit, with_loss):
    """Convert derivatives with respect to F to derivatives with respect to theta.

    Returns an array of shape (r, k, number of columns of theta). `by_unit` contains the r
    derivatives with respect to the F of rows, or to the sums of F in the cells. If `with_loss` is
    True, r is at most 1, and the derivative of the loss is added.
    """
    F = reading.probabilities(block, theta, rows)
    parts = []
    for dF in by_unit:
        if reading.by == "row":
            dF = dF[block.rows].T
        else:
            dF = (dF[reading.units(block)] * np.reshape(reading.probability(block), (-1, 1))).T
        if len(F) == 2:
            parts.append((F[0] * F[1] * (dF[1] - dF[0]))[None])
        else:
            parts.append(F * (dF - np.sum(F * dF, axis=0)))
    if with_loss:
        D = _loss_by_scores(F, reading.labels(block)) * reading.loss_weight(block)
        parts = [D + parts[0] if parts else D]
    found = reading.products(np.concatenate(parts), block)
    return found.reshape(len(parts), -1, found.shape[1])


def _curvatures(block, reading, theta, rows):
    """Compute the Hessian of the loss for each row of theta, without the ridge."""
    F = reading.probabilities(block, theta, rows)
    weight = reading.loss_weight(block)
    each = F[1:] if len(F) == 2 else F
    return np.stack([reading.moments(block, np.sqrt(label_variance(f) * weight)) for f in each])


def _table_slopes(block, reading, theta, rows, groups):
    """Compute the derivatives of the joint table, of shape (c, d, number of entries of theta)."""
    F = reading.probabilities(block, theta, rows)
    if reading.by == "row":
        codes, weight = groups.codes[block.rows], groups.weight
        weight = weight if np.ndim(weight) == 0 else weight[block.rows]
    else:
        units = reading.units(block)
        codes = groups.codes[units]
        weight = (groups.weight / reading.unit_weight)[units] * reading.probability(block)
    slopes = _slopes(F, _summed_by(block, reading, codes, weight, len(groups.q)))
    if len(F) == 2:
        return np.stack([-slopes, slopes])
    return np.moveaxis(slopes, 1, 0).reshape(len(F), len(groups.q), -1)


def _moments(block, reading):
    """Compute the weighted second moments of x."""
    weight = np.broadcast_to(reading.loss_weight(block), block.cell.shape)
    return reading.moments(block, np.sqrt(weight))


def _mass(block):
    """Compute the sum of the weights."""
    return float(len(block.cell) if block.weight is None else block.weight.sum())


def _squares(block):
    """Compute the sums of w x^2 and of (w x^2)^2 over rows with weight w, for each feature x."""
    squares = np.square(block.X, dtype=float)
    if block.weight is not None:
        squares *= block.weight[:, None]
    return np.stack([squares.sum(axis=0), np.square(squares).sum(axis=0)])


# --- Linear algebra that models share ------------------------------------------------------------


def as_double(X: Any) -> Any:
    """Return X in double precision, copying it only if necessary."""
    return X.astype(float, copy=False)


def second_moments(X: Any, scale: np.ndarray, ones: bool = False) -> np.ndarray:
    """Compute the sum over n of scale_n^2 x_n x_n^T or, for many features, only its diagonal.

    If `ones` is True, x has 1 as an additional last entry.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.models import second_moments
    >>> second_moments(np.array([[1.0], [2.0]]), np.ones(2), True)
    array([[5., 3.],
           [3., 2.]])
    """
    n, p = X.shape
    if p + ones > MAX_DENSE:
        squares = X.power(2) if sparse.issparse(X) else as_double(X) ** 2
        return np.append(squares.T @ scale**2, [np.sum(scale**2)] * ones)
    if sparse.issparse(X):
        if ones:
            X = sparse.hstack([X, np.ones((n, 1))], format="csr")
        scaled = sparse.diags_array(scale) @ X
        return (scaled.T @ scaled).toarray()
    moments = np.zeros((p + ones, p + ones))
    scaled = np.empty((min(n, _BLOCK), p + ones))
    for start in range(0, n, _BLOCK):
        part = scale[start : start + _BLOCK, None]
        some = scaled[: len(part)]
        np.multiply(X[start : start + _BLOCK], part, out=some[:, :p])
        if ones:
            some[:, p:] = part
        moments += some.T @ some
    return moments


def largest_eigenvalue(moments: np.ndarray) -> float:
    """Compute the largest eigenvalue of a matrix or, from its diagonal alone, an upper bound."""
    return float(np.linalg.eigvalsh(moments)[-1] if moments.ndim == 2 else moments.sum())


def inverse_root(hessian: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """Return R with R R^T close to inv(hessian + diag(ridge)); 1-D arrays stand for diagonals."""
    if hessian.ndim == 1:
        return 1 / np.sqrt(_positive(hessian + ridge))
    hessian = hessian + np.diag(ridge)
    # Scale the columns first, because only then do small eigenvalues mean collinear columns.
    unit = np.sqrt(_positive(np.diag(hessian)))
    values, vectors = np.linalg.eigh(hessian / np.outer(unit, unit))
    return vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1])) / unit[:, None]


def label_variance(f: np.ndarray) -> np.ndarray:
    """Compute f (1 - f), with a lower limit of the size of rounding errors.

    If a class never occurs in some category, the category's coefficient grows until its curvature
    vanishes. A Newton step divides by that curvature, so it would consist of rounding errors.
    """
    return np.maximum(f * (1 - f), np.finfo(float).eps)


def _positive(values):
    """Replace zeros with ones, because a column of zeros has no scale."""
    return np.where(values > 0, values, 1.0)
