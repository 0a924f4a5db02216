"""Large data in memory: a fit that reads X where it lies, a block of rows at a time.

`renyi_lib.chunks` shows that a fit needs sums over people only, by *cell* (label and group). In
memory the chunks are blocks of rows of X, small enough for the processor's cache: X is read once
for a new theta, is never copied as a whole, not even beside a column of ones or from single to
double precision, and what is made on the way is as long as a block. The cells are counted once.

Small data are better off with `SoftmaxModel`, which trades a copy of X for fewer calls. See
`LARGE`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from renyi_lib._counting import count_codes
from renyi_lib._losses import logistic
from renyi_lib._validation import check_same_length, sample_weights, unshifted_codes
from renyi_lib.chunks import (
    Cells,
    ChunkedSoftmaxModel,
    Sums,
    beside_ones,
    curvatures,
    groups_of,
    objective_of_cells,
)
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.sources.blocks import ArrayBlocks, rows_of_block

__all__ = [
    "LARGE",
    "BlockedSoftmaxModel",
    "blocked_problem",
    "coded_cells",
    "scores",
]

# From this many numbers in a dense X on, it is read in blocks: 32 MB, as much as a processor's
# last cache holds. Below, the copy that `SoftmaxModel` makes is cheap, and a fit is faster.
LARGE = 4_000_000

# Up to this many cells, an evaluation brings the derivatives of all their means along; for more
# of them, or for several classes, a second pass that knows what it is asked for costs less.
_FEW_CELLS = 8
# The curvature of the loss only sets the coordinates of the solver: this many rows for each
# feature are enough to know it, if no feature's scale rests on fewer rows than the second number.
_ROWS_PER_FEATURE = 100
_ROWS_BEHIND = 30


def coded_cells(
    y: np.ndarray, sensitive_features: Any, weight: np.ndarray | None, n_features: int
) -> tuple[Cells, np.ndarray]:
    """The cells of label and group, and the cell of each person in as few bytes as will do.

    Parameters
    ----------
    y : ndarray of shape (n,)
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame, or None
    weight : ndarray of shape (n,), or None
        Who has weight 0 is not counted, and has any cell.
    n_features : int

    Returns
    -------
    cells : Cells
    cell : ndarray of unsigned int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.blocks import coded_cells
    >>> cells, cell = coded_cells(np.array([0, 1, 1, 1]), ["f", "m", "m", "m"], None, 1)
    >>> cells.weight, cell
    (array([0.25, 0.75]), array([0, 1, 1, 1], dtype=uint8))
    """
    labels, low, classes = _class_codes(y)
    codes, lowest, groups = np.zeros(1, dtype=np.uint8), 0, np.zeros(1)
    if sensitive_features is not None:
        codes, lowest, groups = unshifted_codes(sensitive_features, "sensitive_features")
        check_same_length(y=labels, sensitive_features=codes)
    codes = np.broadcast_to(codes, labels.shape)
    shape = (len(classes), len(groups))
    counts = count_codes([labels, codes], shape, weight, lows=(low, lowest))
    rows, columns = counts.any(axis=1), counts.any(axis=0)
    n_rows = len(labels) if weight is None else int(np.count_nonzero(weight))
    cells = Cells.of_table(
        counts[rows][:, columns],
        classes[rows],
        None if sensitive_features is None else groups[columns],
        n_rows,
        n_features,
    )
    number = np.zeros(shape, dtype=np.min_scalar_type(len(cells.y)))
    number[np.flatnonzero(rows)[cells.y], np.flatnonzero(columns)[cells.codes]] = np.arange(
        len(cells.y)
    )
    cell = np.empty(len(labels), dtype=number.dtype)
    for start in range(0, len(labels), 2**14):
        part = slice(start, start + 2**14)
        of_label, of_group = (c[part].astype(np.intp) for c in (labels, codes))
        cell[part] = number[of_label - low, of_group - lowest]
    return cells, cell


def _class_codes(y):
    """As `unshifted_codes`, with the classes as numpy sorts them."""
    if y.dtype.kind in "iub":
        codes, low, classes = unshifted_codes(y, "y")
        if codes is y:
            return codes, low, classes
    classes, codes = np.unique(y, return_inverse=True)
    return codes, 0, classes


class BlockedSoftmaxModel(ChunkedSoftmaxModel):
    """`SoftmaxModel` of a large dense X; in place of F, its mean in each cell.

    Parameters
    ----------
    blocks : ArrayBlocks
    cells : Cells
    loss_weight : ndarray of shape (m,), optional
        The weight of each cell in the loss; by default its probability.
    fit_intercept : bool, default=True
    l2 : float, default=0.0

    Notes
    -----
    A new theta costs one pass. With two classes and few cells it brings the gradient of every
    function of F's means along, once such a gradient has been asked for; otherwise each
    `pull_back` is another pass.

    `curvature_roots` looks at every k-th row only, as many as tell the curvature well enough,
    unless a feature is too rare for that.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.blocks import BlockedSoftmaxModel, coded_cells
    >>> from renyi_lib.sources import ArrayBlocks
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> cells, cell = coded_cells(y, None, None, 1)
    >>> model = BlockedSoftmaxModel(ArrayBlocks(X, cell), cells)
    >>> loss, F = model.forward(np.zeros(model.shape))
    >>> round(loss, 6), F.tolist()
    (0.693147, [[0.5, 0.5], [0.5, 0.5]])
    >>> model.loss_gradient()
    array([[-0.25,  0.  ]])
    """

    def __init__(
        self,
        blocks: ArrayBlocks,
        cells: Cells,
        loss_weight: np.ndarray | None = None,
        *,
        fit_intercept: bool = True,
        l2: float = 0.0,
    ):
        super().__init__(blocks, cells, loss_weight, fit_intercept=fit_intercept, l2=l2)
        factor = None if loss_weight is None else self._reading.factor
        self._reading = _Coded(cells, factor, fit_intercept, cells.mass)
        self._few = self.n_classes == 2 and len(cells.y) <= _FEW_CELLS
        self._asked = False
        self._sample: tuple | None = None

    def pull_back(self, dF: np.ndarray) -> np.ndarray:
        """The gradient by theta of sum(dF * F), at the last theta that went forward."""
        return self.pull_back_all([dF])[0]

    def pull_back_all(self, dFs: list[np.ndarray]) -> list[np.ndarray]:
        """`pull_back` of several, in one pass at most."""
        if not dFs:
            return []
        if self._few:
            if not self._sums.slopes.size:
                self._asked = True
                self._sums = self._evaluated(self._theta)
            return [super(BlockedSoftmaxModel, self).pull_back(dF) for dF in dFs]
        by_sums = np.stack(dFs) / self.cells.weight[:, None]
        return list(self.chunks.total(_pulled_back, self._reading, self._theta, by_sums))

    def _evaluated(self, theta):
        if self.n_classes > 2:
            return self.chunks.total(_evaluated, self._reading, theta)
        # Until somebody asks for the derivatives of F's means, only the loss is minimised.
        slopes = self._few and self._asked
        return self.chunks.total(_evaluated_binary, self._reading, theta, slopes)

    def curvature_roots(self) -> list[np.ndarray]:
        """As in `SoftmaxModel`, from some of the rows."""
        if self._sample is None:
            self._sample = self._sampled()
        blocks, reading = self._sample
        moments = blocks.total(curvatures, reading, self._theta)
        return [self._inverse_root(moment) for moment in moments]

    def _sampled(self):
        """Enough rows to know the curvature, and how to read them; all rows if in doubt."""
        step = self.cells.n_rows // (_ROWS_PER_FEATURE * max(1, self.cells.n_features))
        if step > 1:
            some = self.chunks.every(step)
            sums = some.total(_squares)
            # As many rows of equal size as would leave a feature's mean square as uncertain: of
            # a rare feature of zeros and ones, the ones.
            if sums is not None and (sums[0] ** 2 > _ROWS_BEHIND * sums[1]).all():
                mass = some.total(_mass)
                return some, replace(self._reading, mass=mass)
        return self.chunks, self._reading


def blocked_problem(
    classifier: Any, X: Any, y: np.ndarray, sensitive_features: Any, sample_weight: Any
) -> tuple[FairObjective, np.ndarray] | None:
    """What a classifier minimises over a large dense X, and the classes; None for the others.

    A penalty that looks at each person's probability, such as that of a score, needs F as a
    whole, and is one of the others.

    Parameters
    ----------
    classifier : PenalizedClassifier
    X : ndarray or sparse array of shape (n, p)
        Checked already.
    y : ndarray of shape (n,)
        Checked already.
    sensitive_features, sample_weight
        As in `fit`.

    Returns
    -------
    objective : FairObjective
    classes : ndarray
    """
    if sparse.issparse(X) or X.size < LARGE or classifier.on == "score":
        return None
    weight = None
    if sample_weight is not None:
        weight = sample_weights(sample_weight)
        check_same_length(y=y, sample_weight=weight)
    cells, cell = coded_cells(y, sensitive_features, weight, X.shape[1])
    if cells.groups is not None and not classifier._penalty_of(groups_of(cells)).depends_on_table:
        return None
    blocks = ArrayBlocks(X, cell, weight)
    objective = objective_of_cells(classifier, BlockedSoftmaxModel, blocks, cells)
    return objective, cells.classes


def scores(X: Any, coef: np.ndarray) -> np.ndarray:
    """X @ coef.T in double precision; a large dense X of another kind is widened by blocks.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, p)
    coef : ndarray of shape (k, p)

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.blocks import scores
    >>> scores(np.ones((2, 3), dtype=np.float32), np.array([[1.0, 2.0, 3.0]]))
    array([[6.],
           [6.]])
    """
    if sparse.issparse(X) or X.size < LARGE or X.dtype == coef.dtype:
        return safe_sparse_dot(X, coef.T, dense_output=True)
    found = np.empty((len(X), len(coef)))
    size = rows_of_block(X)
    for start in range(0, len(X), size):
        found[start : start + size] = X[start : start + size] @ coef.T
    return found


@dataclass(frozen=True)
class _Coded:
    """How a block becomes a small problem of its own, as `_Reading` does it with a chunk."""

    cells: Cells
    factor: np.ndarray | None
    fit_intercept: bool
    mass: float

    def __call__(self, block):
        """The model of these rows, and the cell and the probability of each."""
        weight = self.weight(block)
        model = SoftmaxModel(
            beside_ones(block.X) if self.fit_intercept else block.X.astype(float, copy=False),
            self.cells.y[block.cell],
            len(self.cells.classes),
            weight if self.factor is None else weight * self.factor[block.cell],
            fit_intercept=False,
        )
        return model, block.cell, weight

    def weight(self, block):
        """The probability of each person."""
        if block.weight is None:
            return np.full(len(block.cell), 1 / self.mass)
        return block.weight / self.mass


def _evaluated(block, reading, theta):
    """Loss, gradient and the means of F, without their derivatives."""
    model, cell, weight = reading(block)
    loss, F = model.forward(theta)
    m = len(reading.cells.y)
    sums = np.stack([np.bincount(cell, f * weight, m) for f in F.T], axis=1)
    return Sums(loss, model.loss_gradient(), sums, np.zeros(0))


def _evaluated_binary(block, reading, theta, with_slopes):
    """The same for two classes, with the derivatives if asked for.

    The intercept is kept apart, so that X is not copied.
    """
    cells, m = reading.cells, len(reading.cells.y)
    X = block.X.astype(float, copy=False)
    n, p = X.shape
    z = X @ theta[0, :p] if theta.any() else np.zeros(n)
    if reading.fit_intercept:
        z += theta[0, p]
    F_0, F_1, tail = logistic(z)
    size, rest = np.abs(z), 1 + tail
    # Cells are in order of their labels.
    y = (block.cell >= np.searchsorted(cells.y, 1)).astype(float)
    # The first row is for the gradient of the loss. Row k + 1 has the people of cell k only, so
    # that one product adds up x over every cell.
    scaled = np.empty((m + 1 if with_slopes else 1, n))
    np.subtract(F_1, y, out=scaled[0])
    if with_slopes:
        both = F_0 * F_1
        for k in range(m):
            np.multiply(both, block.cell == k, out=scaled[k + 1])
    # A person's loss is log(1 + exp(z)) - z y, and max(z, 0) is (|z| + z) / 2.
    if block.weight is None and reading.factor is None:
        weight = 1 / reading.mass
        loss = _sum_of_logs(rest) + (size.sum() + z.sum()) / 2 - z @ y
    else:
        weight = 1.0
        probability = reading.weight(block)
        F_0 *= probability
        F_1 *= probability
        scaled *= probability
        if reading.factor is not None:
            factor = reading.factor[block.cell]
            scaled[0] *= factor
            probability *= factor
        loss = probability @ (np.log(rest) + (size + z) / 2 - z * y)
    slopes = np.empty((len(scaled), theta.shape[1]))
    slopes[:, :p] = scaled @ X
    if reading.fit_intercept:
        slopes[:, p] = scaled.sum(axis=1)
    slopes *= weight
    sums = np.stack([np.bincount(block.cell, f, m) for f in (F_0, F_1)], axis=1)
    return Sums(loss * weight, slopes[:1], sums * weight, slopes[1:])


def _sum_of_logs(numbers):
    """The sum of the logarithms of numbers between 1 and 2, by one logarithm for 32 of them."""
    whole = len(numbers) // 32 * 32
    products = numbers[:whole].reshape(32, -1).prod(axis=0)
    return np.log(products).sum() + np.log(numbers[whole:]).sum()


def _pulled_back(block, reading, theta, by_sums):
    """For each derivative by the means of F, that by theta."""
    model, cell, weight = reading(block)
    model.forward(theta)
    return np.stack(model.pull_back_all([by_sum[cell] * weight[:, None] for by_sum in by_sums]))


def _mass(block):
    """What the rows weigh."""
    return float(len(block.cell) if block.weight is None else block.weight.sum())


def _squares(block):
    """The sums of the squares of each feature, with the weights, and of their squares."""
    squares = np.square(block.X, dtype=float)
    if block.weight is not None:
        squares *= block.weight[:, None]
    return np.stack([squares.sum(axis=0), np.square(squares).sum(axis=0)])
