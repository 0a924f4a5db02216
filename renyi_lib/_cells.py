"""Cells: rows of the same label and group are alike to every penalty of the joint table.

Such a penalty sees only the mean probabilities of each cell. The model therefore computes the mean
of F in each cell and its derivative with respect to theta, and the penalty treats the cells as
rows, each with the weight of the rows it stands for. No F with an entry for each row is made.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from renyi_lib._dispatch import is_dask
from renyi_lib._validation import (
    check_same_length,
    check_several_groups,
    encode_labels,
    known_codes,
    numeric_values,
    sample_weights,
)
from renyi_lib.penalties import Groups
from renyi_lib.sources import Block, ParquetRows, Rows, Source
from renyi_lib.tables import JointTable, joint_table

__all__ = ["Cells", "CodedSource", "as_source"]


@dataclass(frozen=True, eq=False)
class Cells:
    """The labels and groups of all rows, counted: what a fit has to know before it begins.

    Attributes
    ----------
    classes : ndarray of shape (c,)
    groups : ndarray of shape (d,), or None
    y, codes : ndarray of int, shape (m,)
        The class and the group of each cell that is not empty, in order of y.
    weight : ndarray of shape (m,)
        The probability of each cell.
    mass : float
        The number of rows, or the sum of their weights.
    n_rows, n_features : int
        Numbers of rows and features.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._cells import Cells
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
    def count(cls, source: Source) -> "Cells":
        """One pass over a source of `Rows`, which also checks them."""
        scan = source.total(_scanned)
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

    def as_groups(self, by: str = "cell") -> Groups | None:
        """The groups of the cells, or each once; None without groups."""
        if self.groups is None:
            return None
        if by == "group":
            q = np.bincount(self.codes, self.weight)
            return Groups.from_codes(np.arange(len(q)), self.groups, q)
        return Groups.from_codes(self.codes, self.groups, self.weight, self.y, self.classes)

    def of_rows(self, cell: np.ndarray, weight: np.ndarray | None) -> Groups | None:
        """The groups of single rows, from the cell and the weight of each; None without groups."""
        if self.groups is None:
            return None
        share = None if weight is None else weight / self.mass
        return Groups.from_codes(self.codes[cell], self.groups, share, self.y[cell], self.classes)

    def block(self, rows: Rows) -> Block | None:
        """The rows of positive weight, checked and coded; None if there are none."""
        present = _present(rows)
        return None if present is None else Block(present.X, self.of(present), present[3])

    def of(self, rows: Rows) -> np.ndarray:
        """The cell of each row."""
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


class CodedSource(Source):
    """Adapts a source of `Rows` to one of `Block`, checking and coding the rows in each pass.

    Parameters
    ----------
    source : Source
    cells : Cells
    """

    def __init__(self, source: Source, cells: Cells):
        self.source, self.cells = source, cells

    def total(self, function: Any, *arguments: Any) -> Any:
        """The sum of ``function(block, *arguments)`` over the blocks."""
        return self.source.total(_of_coded, self.cells, function, *arguments)


def _of_coded(rows, cells, function, *arguments):
    block = cells.block(rows)
    return None if block is None else function(block, *arguments)


def as_source(X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> Source | None:
    """The arguments of a fit as a source of `Rows`, or None if they are arrays in memory.

    Parameters
    ----------
    X : ParquetRows, Dask collection, Source, or anything else
        With `ParquetRows` the other arguments are names of columns. A `Source` brings everything
        along, and the other arguments are None.
    y, sensitive_features, sample_weight
        As in `fit`.

    Returns
    -------
    Source or None

    Examples
    --------
    >>> from renyi_lib._cells import as_source
    >>> as_source([[0.0], [1.0]], [0, 1], None, None) is None
    True
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
    # Zero-weight rows are dropped, and with them their groups and classes.
    return Rows(X[kept], _taken(y, kept), _taken(groups, kept), weight[kept])


def _taken(labels, kept):
    """Some of the labels, of whatever kind the container is."""
    if labels is None:
        return None
    if hasattr(labels, "loc"):
        return labels[kept]
    return labels[kept] if hasattr(labels, "shape") else np.asarray(labels, dtype=object)[kept]
