"""Data in chunks: a fit that never sees all people at once, and finds what it would have found.

Everything that a fit needs of the people is a sum over them. Two people with the same label and
the same group, in one *cell*, are alike to every penalty that is a function of the joint table: it
sees the mean probabilities of the cell only. So a pass over the chunks leaves, for each cell, the
mean of F and its derivative by theta, and beside them the loss and its gradient. The penalty then
takes the cells for people, each with the weight of those it stands for, and nothing else has to
change: not the penalties, not the solvers, and no F with a row for each person is ever made.

`Source` is all that is asked of a source: apply a function to every chunk and add up what comes
back. `ParquetRows` reads files in constant memory; `renyi_lib.sources.DaskSource` leaves the
work to Dask.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from renyi_lib._dispatch import is_dask
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_same_length,
    check_several_groups,
    encode_labels,
    known_codes,
    loss_weights,
    numeric_values,
    sample_weights,
)
from renyi_lib.models import SoftmaxModel, label_variance
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import Groups
from renyi_lib.sources import ParquetRows, Rows, Source
from renyi_lib.tables import JointTable, joint_table

__all__ = ["Cells", "ChunkedSoftmaxModel"]


# --- The cells: who is alike to a penalty --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cells:
    """Label and group of everybody, counted: what a fit has to know of the data before it begins.

    Attributes
    ----------
    classes : ndarray of shape (c,)
    groups : ndarray of shape (d,), or None
    y, codes : ndarray of int, shape (m,)
        The class and the group of each cell in which there is anybody.
    weight : ndarray of shape (m,)
        The probability of each cell.
    mass : float
        What all weigh together: people, or the sum of their weights.
    n_rows, n_features : int

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.chunks import Cells
    >>> from renyi_lib.sources import Rows, Source
    >>> X = np.zeros((2, 1))
    >>> parts = [Rows(X, [0, 1], ["f", "m"]), Rows(X, [1, 1], ["m", "m"])]
    >>> cells = Cells.count(Source(lambda: iter(parts)))
    >>> cells.y, cells.codes, cells.weight
    (array([0, 1]), array([0, 1]), array([0.25, 0.75]))
    """

    classes: np.ndarray
    groups: np.ndarray | None
    y: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    mass: float
    n_rows: int
    n_features: int

    @classmethod
    def count(cls, chunks: Source) -> "Cells":
        """One pass over the chunks, which also looks whether everything can be used."""
        scan = chunks.total(_scanned)
        if scan is None:
            raise ValueError("the data are empty: give at least one sample of positive weight")
        counts, classes, groups = scan.table
        return cls.of_table(
            counts, classes, groups if scan.grouped else None, scan.n_rows, scan.n_features
        )

    @classmethod
    def of_table(
        cls,
        counts: np.ndarray,
        classes: np.ndarray,
        groups: np.ndarray | None,
        n_rows: int,
        n_features: int,
    ) -> "Cells":
        """From the table of label and group: counts, or the sums of weights.

        Without groups the table has one column.
        """
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes.tolist()[0]!r}: a classifier needs two"
            )
        if groups is not None:
            check_several_groups(groups, n_rows)
        y, codes = np.nonzero(counts)
        mass = float(counts.sum())
        return cls(classes, groups, y, codes, counts[y, codes] / mass, mass, n_rows, n_features)

    def of(self, rows: Rows) -> np.ndarray:
        """The cell of each person."""
        y = known_codes(rows.y, self.classes, "y")
        number = np.full((len(self.classes), self.codes.max() + 1), -1)
        number[self.y, self.codes] = np.arange(len(self.y))
        groups = 0
        if self.groups is not None:
            groups = known_codes(rows.sensitive_features, self.groups, "sensitive_features")
        cell = number[y, groups]
        if cell.min() < 0:
            raise ValueError(
                "the data have changed between two passes: a label and a group come together now "
                "that did not before. Store them, and fit what is stored"
            )
        return cell


@dataclass(frozen=True)
class _Scan:
    """What the first pass finds."""

    table: JointTable
    n_rows: int
    n_features: int
    grouped: bool

    def __add__(self, other):
        if self.n_features != other.n_features:
            raise ValueError(
                f"X has {self.n_features} features in one chunk and {other.n_features} in another"
            )
        table = self.table + other.table
        return _Scan(table, self.n_rows + other.n_rows, self.n_features, self.grouped)


def _scanned(rows):
    """Label and group counted, and everything checked."""
    rows = _present(rows, finite=True)
    if rows is None:
        return None
    check_classification_targets(encode_labels(rows.y, "y")[1])
    grouped = rows.sensitive_features is not None
    groups = rows.sensitive_features if grouped else np.zeros(rows.X.shape[0], dtype=np.intp)
    table = joint_table(rows.y, groups, sample_weight=rows.sample_weight)
    return _Scan(table, *rows.X.shape, grouped)


def _present(rows, finite=False):
    """The rows of positive weight, X as numbers; None if there are none."""
    X, y, groups, weight = rows
    if X.shape[0] == 0:
        return None
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=np.float64,
        order="C",
        ensure_all_finite=finite,
        input_name="X",
    )
    lengths = {"X": range(X.shape[0]), "y": y}
    if groups is not None:
        lengths["sensitive_features"] = groups
    if weight is None:
        check_same_length(**lengths)
        return Rows(X, y, groups)
    weight = numeric_values(weight, "sample_weight")
    check_same_length(**lengths, sample_weight=weight)
    kept = weight != 0
    if not kept.any():
        return None
    weight = sample_weights(weight)
    if kept.all():
        return Rows(X, y, groups, weight)
    # Whoever has no weight is not there, and neither is a group or class of such.
    return Rows(X[kept], _taken(y, kept), _taken(groups, kept), weight[kept])


def _taken(labels, kept):
    """Some of the labels, of whatever kind the container is."""
    if labels is None:
        return None
    if hasattr(labels, "loc"):
        return labels[kept]
    return labels[kept] if hasattr(labels, "shape") else np.asarray(labels, dtype=object)[kept]


# --- The model: sums over the chunks -------------------------------------------------------------


class ChunkedSoftmaxModel(SoftmaxModel):
    """`SoftmaxModel` of people whom nobody sees all at once; in place of F, its mean in each cell.

    Parameters
    ----------
    chunks : Source
    cells : Cells
    loss_weight : ndarray of shape (m,), optional
        The weight of each cell in the loss; by default its probability.
    fit_intercept : bool, default=True
    l2 : float, default=0.0

    Notes
    -----
    A new theta costs one pass, which brings the gradient of every function of F's means along:
    for c classes, m cells and p features a table of m p numbers (two classes) or m c^2 p. That is
    what travels over the network, for each chunk. `curvature_roots` and `lipschitz` cost a pass
    each.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.chunks import Cells, ChunkedSoftmaxModel
    >>> from renyi_lib.sources import Rows, Source
    >>> parts = [Rows(np.array([[0.0]]), [0]), Rows(np.array([[1.0]]), [1])]
    >>> chunks = Source(lambda: iter(parts))
    >>> model = ChunkedSoftmaxModel(chunks, Cells.count(chunks))
    >>> loss, F = model.forward(np.zeros(model.shape))
    >>> round(loss, 6), F.tolist()
    (0.693147, [[0.5, 0.5], [0.5, 0.5]])
    >>> model.loss_gradient()
    array([[-0.25,  0.  ]])
    """

    def __init__(
        self,
        chunks: Source,
        cells: Cells,
        loss_weight: np.ndarray | None = None,
        *,
        fit_intercept: bool = True,
        l2: float = 0.0,
    ):
        self.chunks = chunks
        self.cells = cells
        self.n_classes = len(cells.classes)
        self.ridge = np.full(cells.n_features + fit_intercept, float(l2))
        if fit_intercept:
            self.ridge[-1] = 0.0
        self.shape = (1 if self.n_classes == 2 else self.n_classes, len(self.ridge))
        factor = np.ones_like(cells.weight) if loss_weight is None else loss_weight / cells.weight
        self._reading: Any = _Reading(cells, factor, fit_intercept)
        self._theta = None

    def forward(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean loss, and the mean probabilities of each cell, of shape (m, c): one pass."""
        if self._theta is None or not np.array_equal(theta, self._theta):
            self._sums = self._evaluated(theta)
            self._theta = theta.copy()
            self._loss = float(self._sums.loss + 0.5 * np.sum(self.ridge * theta**2))
        return self._loss, self._sums.F / self.cells.weight[:, None]

    def _evaluated(self, theta):
        return self.chunks.total(_evaluated, self._reading, theta)

    def pull_back(self, dF: np.ndarray) -> np.ndarray:
        """The gradient by theta of sum(dF * F), at the last theta that went forward: no pass."""
        by_sum = dF / self.cells.weight[:, None]
        if self.n_classes == 2:
            return (by_sum[:, 1] - by_sum[:, 0])[None] @ self._sums.slopes
        return np.einsum("mi,mikp->kp", by_sum, self._sums.slopes)

    def pull_back_all(self, dFs: list[np.ndarray]) -> list[np.ndarray]:
        """`pull_back` of several."""
        return [self.pull_back(dF) for dF in dFs]

    def table_slopes(self, groups: Groups) -> np.ndarray:
        """As in `SoftmaxModel`, by one pass; in `groups` the cells stand for people."""
        return self.chunks.total(_table_slopes, self._reading, self._theta, groups)

    def loss_gradient(self, dF: np.ndarray | None = None) -> np.ndarray:
        """The gradient by theta of loss + sum(dF * F), at the last theta: no pass."""
        gradient = self._sums.gradient + self.ridge * self._theta
        return gradient if dF is None else gradient + self.pull_back(dF)

    def curvature_roots(self) -> list[np.ndarray]:
        """As in `SoftmaxModel`, by one pass."""
        moments = self.chunks.total(curvatures, self._reading, self._theta)
        return [self._inverse_root(moment) for moment in moments]

    def lipschitz(self) -> float:
        """As in `SoftmaxModel`, by one pass."""
        moments = self.chunks.total(_moments, self._reading)
        top = np.linalg.eigvalsh(moments)[-1] if moments.ndim == 2 else moments.sum()
        return top / (4 if self.n_classes == 2 else 2) + self.ridge.max()


@dataclass(frozen=True)
class _Reading:
    """How a chunk becomes a small problem of its own."""

    cells: Cells
    factor: np.ndarray
    fit_intercept: bool

    def __call__(self, rows):
        """The model of these rows, and the cell and the probability of each; None for no rows."""
        rows = _present(rows)
        if rows is None:
            return None
        X, cell = rows.X, self.cells.of(rows)
        if self.fit_intercept:
            X = beside_ones(X)
        weight = np.ones(len(cell)) if rows.sample_weight is None else rows.sample_weight
        weight = weight / self.cells.mass
        model = SoftmaxModel(
            X,
            self.cells.y[cell],
            len(self.cells.classes),
            weight * self.factor[cell],
            fit_intercept=False,
        )
        return model, cell, weight


def beside_ones(X):
    """X and a column of ones, by rows."""
    if sparse.issparse(X):
        return sparse.hstack([X, np.ones((X.shape[0], 1))], format="csr")
    joined = np.empty((X.shape[0], X.shape[1] + 1))
    joined[:, :-1] = X
    joined[:, -1] = 1.0
    return joined


@dataclass(frozen=True, eq=False)
class Sums:
    """What an evaluation needs of a chunk; the sum of two is that of both chunks together."""

    loss: float
    gradient: np.ndarray  # of the loss
    F: np.ndarray  # (m, c): the probabilities in each cell, summed with the people's weights
    slopes: np.ndarray  # its derivative: (m, p) of the second class, or (m, c, c, p)

    def __add__(self, other):
        pairs = zip(vars(self).values(), vars(other).values())
        return Sums(*(ours + theirs for ours, theirs in pairs))


def _evaluated(rows, reading, theta):
    """Loss, gradient, and the means of F with their derivatives."""
    read = reading(rows)
    if read is None:
        return None
    model, cell, weight = read
    loss, F = model.forward(theta)

    starts = np.arange(len(cell) + 1)

    def by_cell(values, scale):
        # A matrix with a column for each person and one entry in it: no more than it says.
        shape = (len(reading.cells.y), len(cell))
        found = sparse.csc_array((weight * scale, cell, starts), shape=shape) @ values
        return found.toarray() if sparse.issparse(found) else found

    sums = by_cell(np.ascontiguousarray(F), 1.0)
    if model.n_classes == 2:
        slopes = by_cell(model.X, F[:, 0] * F[:, 1])
    else:
        c = model.n_classes
        slopes = np.empty((len(sums), c, c, model.X.shape[1]))
        for i in range(c):
            slopes[:, i, i] = by_cell(model.X, F[:, i] * (1 - F[:, i]))
            for k in range(i):
                slopes[:, i, k] = slopes[:, k, i] = by_cell(model.X, -F[:, i] * F[:, k])
    return Sums(loss, model.loss_gradient(), sums, slopes)


def curvatures(rows, reading, theta):
    """For each row of theta, the Hessian of the loss but for the ridge."""
    read = reading(rows)
    if read is None:
        return None
    model = read[0]
    _, F = model.forward(theta)
    rows_of_F = F.T[1:] if model.n_classes == 2 else F.T
    return np.stack(
        [model._second_moments(np.sqrt(label_variance(f) * model.weight)) for f in rows_of_F]
    )


def _table_slopes(rows, reading, theta, groups):
    """The derivatives of the joint table of label and group, a person's group that of the cell."""
    read = reading(rows)
    if read is None:
        return None
    model, cell, weight = read
    model.forward(theta)
    weight = weight * (groups.weight / reading.cells.weight)[cell]
    return model.table_slopes(Groups(groups.codes[cell], groups.categories, weight, groups.q))


def _moments(rows, reading):
    """The second moments of x."""
    read = reading(rows)
    return None if read is None else read[0]._second_moments(np.sqrt(read[0].weight))


# --- The problem of a fit ------------------------------------------------------------------------


def as_chunks(X, y, sensitive_features, sample_weight):
    """The data of a fit as chunks, or None if they are in memory.

    Parameters
    ----------
    X : ParquetRows, Dask collection, Source, or anything else
        With `ParquetRows` the other arguments are names of columns. `Source` bring everything
        along, and the other arguments are None.
    y, sensitive_features, sample_weight
        As in `fit`.

    Returns
    -------
    Source or None
    """
    if isinstance(X, ParquetRows):
        return X.chunks(y, sensitive_features, sample_weight)
    if isinstance(X, Source):
        if not (y is sensitive_features is sample_weight is None):
            raise ValueError(
                "A Source brings y, sensitive_features and sample_weight along: give None for them"
            )
        return X
    columns = {"y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
    if not is_dask(X, *columns.values()):
        return None
    from renyi_lib.sources.dask import DaskSource

    return DaskSource(X=X, **columns)


def chunked_problem(classifier, chunks):
    """What a classifier minimises over the chunks, and what it has to know to do so.

    One pass, which checks and counts; the solver makes the others.

    Parameters
    ----------
    classifier : PenalizedClassifier
    chunks : Source

    Returns
    -------
    objective : FairObjective
    classes : ndarray
    n_features : int
    feature_names : ndarray or None
    """
    classifier._check_parameters()
    cells = Cells.count(chunks)
    if cells.groups is not None:
        if classifier.on == "score":
            raise ValueError(
                "on='score' looks at each person's probability, not at the joint table of label "
                "and group only: for data in chunks leave on='label'"
            )
        penalty = classifier._penalty_of(groups_of(cells))
        if not penalty.depends_on_table:
            raise ValueError(needs_rows(penalty))
    objective = objective_of_cells(classifier, ChunkedSoftmaxModel, chunks, cells)
    return objective, cells.classes, cells.n_features, getattr(chunks, "feature_names", None)


def objective_of_cells(classifier, model, chunks, cells):
    """What a classifier minimises: the penalty takes the cells for people.

    Parameters
    ----------
    classifier : PenalizedClassifier
        Its penalty is a function of the joint table.
    model : class
        `ChunkedSoftmaxModel` or `renyi_lib.blocks.BlockedSoftmaxModel`.
    chunks : Source
    cells : Cells

    Returns
    -------
    FairObjective
    """
    groups = penalty = None
    if cells.groups is not None:
        groups = groups_of(cells)
        penalty = classifier._penalty_given(groups, cells.classes)
    elif classifier.lam > 0:
        warnings.warn(
            f"{type(classifier).__name__} was fitted without sensitive_features: nothing is "
            "penalised, and this is a plain logistic regression",
            NoSensitiveFeaturesWarning,
            stacklevel=5,
        )
    weight = None
    if classifier.class_weight is not None:
        weight = loss_weights(classifier.class_weight, cells.classes, cells.y, cells.weight)
    options = {"fit_intercept": classifier.fit_intercept, "l2": classifier.l2}
    return FairObjective(model(chunks, cells, weight, **options), penalty, groups)


def needs_rows(penalty):
    """The message for a penalty that depends on more of F than the joint table."""
    return (
        f"penalty={penalty} depends on the probabilities of single rows, not only on the joint "
        "table of label and group: data in chunks need a penalty whose depends_on_table is true, "
        "such as RenyiPenalty or ChiSquarePenalty"
    )


def groups_of(cells):
    """The groups, with the cells for people."""
    return Groups.from_codes(cells.codes, cells.groups, cells.weight, cells.y, cells.classes)
