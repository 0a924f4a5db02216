"""Cells, each of which represents all rows with the same label and group.

A penalty of the joint table depends only on the mean probabilities of each cell. The model
therefore computes the mean of F in each cell and its derivative with respect to theta, and the
penalty treats cells as rows, each with the total weight of its rows. It is not necessary to store
F for every row.
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
    """Counts of the labels and groups of all rows, which a fit needs before it starts.

    Attributes
    ----------
    classes : ndarray of shape (c,)
        Class labels.
    groups : ndarray of shape (d,), or None
        Group labels.
    y, codes : ndarray of int, shape (m,)
        Class and group of each nonempty cell, sorted by y.
    weight : ndarray of shape (m,)
        Probability of each cell.
    mass : float
        Number of rows or, with weights, the sum of their weights.
    n_rows, n_features : int
        Numbers of rows (of positive weight) and of features.

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
        """Count and validate a source of `Rows` in one pass."""
        scan = source.total(_scanned)
        if scan is None:
            raise ValueError(
                "the data are empty, or sample_weight is zero everywhere: pass at least one "
                "sample of positive weight"
            )
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
        """Create cells from the joint table of labels and groups.

        The table contains counts or sums of weights. Without groups, it has one column.
        """
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}, but a classifier needs at least "
                "two"
            )
        if groups is not None:
            check_several_groups(groups, n_rows)
        y, codes = np.nonzero(counts)
        mass = float(counts.sum())
        return cls(classes, groups, y, codes, counts[y, codes] / mass, mass, n_rows, n_features)

    def as_groups(self, by: str = "cell") -> Groups | None:
        """Return the group of each cell or, with ``by="group"``, each group once.

        Without groups, the result is None.
        """
        if self.groups is None:
            return None
        if by == "group":
            q = np.bincount(self.codes, self.weight)
            return Groups.from_codes(np.arange(len(q)), self.groups, q)
        return Groups.from_codes(self.codes, self.groups, self.weight, self.y, self.classes)

    def of_rows(self, cell: np.ndarray, weight: np.ndarray | None) -> Groups | None:
        """Return the groups of rows, given the cell and weight of each; None without groups."""
        if self.groups is None:
            return None
        share = None if weight is None else weight / self.mass
        return Groups.from_codes(self.codes[cell], self.groups, share, self.y[cell], self.classes)

    def block(self, rows: Rows) -> Block | None:
        """Validate and encode the rows of positive weight; return None if there are none."""
        present = _present(rows)
        return None if present is None else Block(present.X, self.of(present), present[3])

    def of(self, rows: Rows) -> np.ndarray:
        """Return the cell of each row."""
        y = known_codes(rows.y, self.classes, "y")
        number = np.full((len(self.classes), self.codes.max() + 1), -1)
        number[self.y, self.codes] = np.arange(len(self.y))
        groups = 0
        if self.groups is not None:
            groups = known_codes(rows.sensitive_features, self.groups, "sensitive_features")
        cell = number[y, groups]
        if cell.min() < 0:
            raise ValueError(
                "the data have changed between two passes: a combination of label and group "
                "occurs that did not occur before. Store the data, and fit the stored copy"
            )
        return cell


class CodedSource(Source):
    """Source of `Block` that validates and encodes the `Rows` of another source in each pass.

    Parameters
    ----------
    source : Source
        Source of `Rows`.
    cells : Cells
        Cells of the source.
    """

    def __init__(self, source: Source, cells: Cells):
        self.source, self.cells = source, cells

    def total(self, function: Any, *arguments: Any) -> Any:
        """Sum ``function(block, *arguments)`` over the blocks."""
        return self.source.total(_of_coded, self.cells, function, *arguments)


def _of_coded(rows, cells, function, *arguments):
    block = cells.block(rows)
    return None if block is None else function(block, *arguments)


def as_source(X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> Source | None:
    """Return the arguments of a fit as a source of `Rows`, or None for arrays in memory.

    Parameters
    ----------
    X : ParquetRows, Dask collection, Source, or anything else
        Features. With `ParquetRows`, the other arguments are column names. A `Source` contains
        everything, so the other arguments are None.
    y, sensitive_features, sample_weight
        Arguments of `fit`.

    Returns
    -------
    Source or None
        Source of the rows.

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
                "X is a Source, which contains y, sensitive_features and sample_weight: pass None "
                "for them"
            )
        return X
    columns = {"y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
    if not is_dask(X, *columns.values()):
        return None
    from renyi_lib.sources.dask import DaskSource

    return DaskSource(X=X, **columns)


@dataclass(frozen=True)
class _Scan:
    """Result of the first pass."""

    table: JointTable
    n_rows: int
    n_features: int
    grouped: bool

    def __add__(self, other):
        if self.n_features != other.n_features:
            raise ValueError(
                f"X has {self.n_features} features in one chunk and {other.n_features} in "
                "another: pass the same columns in every chunk"
            )
        table = self.table + other.table
        return _Scan(table, self.n_rows + other.n_rows, self.n_features, self.grouped)


def _scanned(rows):
    """Validate the rows, and count labels and groups."""
    rows = _present(rows, finite=True)
    if rows is None:
        return None
    check_classification_targets(encode_labels(rows.y, "y")[1])
    grouped = rows.sensitive_features is not None
    groups = rows.sensitive_features if grouped else np.zeros(rows.X.shape[0], dtype=np.intp)
    table = joint_table(rows.y, groups, sample_weight=rows.sample_weight)
    return _Scan(table, *rows.X.shape, grouped)


def _present(rows, finite=False):
    """Return the rows of positive weight, with X as numbers, or None if there are none."""
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
    # Zero-weight rows are dropped together with their groups and classes.
    return Rows(X[kept], _taken(y, kept), _taken(groups, kept), weight[kept])


def _taken(labels, kept):
    """Select labels from a container of any type."""
    if labels is None:
        return None
    if hasattr(labels, "loc"):
        return labels[kept]
    return labels[kept] if hasattr(labels, "shape") else np.asarray(labels, dtype=object)[kept]
