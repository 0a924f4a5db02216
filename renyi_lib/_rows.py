"""Validation of rows in memory, shared by estimators, metrics and reports."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from renyi_lib._cells import Cells
from renyi_lib._counting import count_codes
from renyi_lib._dispatch import is_dask
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_same_length,
    check_several_groups,
    encode_labels,
    sample_weights,
    unshifted_codes,
    without_unused,
)
from renyi_lib.penalties import Groups
from renyi_lib.sources import ParquetRows

__all__ = ["TrainingRows", "labels_in_memory", "read_cells", "read_rows", "warn_without_groups"]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Validated and encoded rows; `read_rows` drops those of weight 0 unless `keep_all` is True.

    Attributes
    ----------
    X : ndarray, sparse array or FeatureBlocks of shape (n, p), or None
        Features or, for a metric, the predictions of shape (n,).
    y : ndarray of shape (n,), or None
        Targets.
    codes : ndarray of shape (n,), or None
        Code of each row's group, or the attribute itself if it is numeric.
    categories : ndarray of shape (d,), or None
        Group labels, all of which occur unless `some` has dropped their rows; None without groups
        or if the attribute is numeric.
    weight : ndarray of shape (n,), or None
        Weight of each row.
    classes : ndarray, or None
        Classes, if y contains their codes.
    kept : ndarray of bool, or None
        Mask of these rows among the original rows; None if all were kept.
    """

    X: Any
    y: Any
    codes: np.ndarray | None
    categories: np.ndarray | None
    weight: np.ndarray | None
    classes: np.ndarray | None = None
    kept: np.ndarray | None = None

    def some(self, kept: np.ndarray) -> "TrainingRows":
        """Select rows by a mask, leaving `categories`, `classes` and `kept` unchanged."""
        return replace(
            self,
            X=None if self.X is None else self.X[kept],
            y=None if self.y is None else self.y[kept],
            codes=None if self.codes is None else self.codes[kept],
            weight=None if self.weight is None else self.weight[kept],
        )

    def with_classes(self) -> "TrainingRows":
        """Return the same rows with y encoded as class codes; y must have at least two classes."""
        check_classification_targets(self.y)
        classes, y = np.unique(self.y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}, but a classifier needs at least "
                "two"
            )
        return replace(self, y=y, classes=classes)

    def shares(self) -> np.ndarray | None:
        """Return the weights as probabilities, or None for equal weights."""
        return None if self.weight is None else self.weight / self.weight.sum()

    def groups(self) -> Groups | None:
        """Return the counted `Groups`, or None without groups.

        They include the true labels if y contains classes.
        """
        if self.codes is None:
            return None
        truth = None if self.classes is None else self.y
        codes, categories = without_unused(self.codes, self.categories)
        return Groups.from_codes(codes, categories, self.shares(), truth, self.classes)


def read_rows(
    X: Any,
    y: np.ndarray | None,
    sensitive_features: Any,
    sample_weight: Any,
    encode: Callable = encode_labels,
    *,
    keep_all: bool = False,
    lengths: dict[str, Any] | None = None,
    compared: bool = True,
    n_samples: int | None = None,
) -> TrainingRows:
    """Validate the groups and weights of a validated X and y, and drop zero-weight rows.

    Estimators, metrics and reports read rows in memory with this function.

    Parameters
    ----------
    X : ndarray, sparse array or FeatureBlocks of shape (n, p), or None
        Validated features or, for a metric, the predictions of shape (n,).
    y : ndarray of shape (n,), or None
        Validated targets.
    sensitive_features : array-like of shape (n,) or (n, k), or None
        Group of each row.
    sample_weight : array-like of shape (n,), or None
        Weight of each row.
    encode : callable, default=encode_labels
        Function that maps the groups and the name of the argument to codes and categories. If
        the categories are None, the codes are numbers and are not compared as groups.
    keep_all : bool, default=False
        Whether to keep rows of weight 0.
    lengths : dict of array-like, optional
        Arrays that must have as many samples as the groups and weights, by their names in error
        messages; by default y or, without y, X. With `lengths`, groups are required.
    compared : bool, default=True
        Whether to require at least two groups, and not a separate group for each sample.
    n_samples : int, optional
        Number of samples that the rows represent; by default the number of rows.

    Returns
    -------
    TrainingRows
        Rows of positive weight, or all rows if `keep_all` is True.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._rows import read_rows
    >>> y = np.array([0, 1, 1, 0])
    >>> rows = read_rows(None, y, ["f", "m", "x", "m"], [1.0, 2.0, 0.0, 1.0])
    >>> rows.y, rows.codes, rows.categories
    (array([0, 1, 0]), array([0, 1, 1]), array(['f', 'm'], dtype=object))
    """
    codes = categories = weight = None
    grouped = sensitive_features is not None or lengths is not None
    if lengths is None:
        lengths = {"X": range(X.shape[0])} if y is None else {"y": y}
    if grouped:
        codes, categories = encode(sensitive_features, "sensitive_features")
        lengths = {**lengths, "sensitive_features": codes}
    if sample_weight is not None:
        weight = sample_weights(sample_weight)
        lengths = {**lengths, "sample_weight": weight}
    check_same_length(**lengths)
    rows = TrainingRows(X, y, codes, categories, weight)
    if weight is not None and not weight.all() and not keep_all:
        rows = replace(rows.some(weight > 0), kept=weight > 0)
    if rows.categories is not None:
        codes, categories = without_unused(rows.codes, rows.categories)
        if compared:
            check_several_groups(categories, len(codes) if n_samples is None else n_samples)
        rows = replace(rows, codes=codes, categories=categories)
    return rows


def read_cells(
    X: Any, y: np.ndarray, sensitive_features: Any, sample_weight: Any
) -> tuple[Cells, np.ndarray, np.ndarray | None]:
    """Encode labels and groups as cells, in as few bytes as possible, and count the cells.

    Parameters
    ----------
    X, y, sensitive_features, sample_weight
        Same as in `read_rows`.

    Returns
    -------
    cells : Cells
        Cells of the rows of positive weight.
    cell : ndarray of unsigned int, shape (n,)
        Cell of each row; arbitrary for rows of weight 0.
    weight : ndarray of shape (n,), or None
        Weight of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._rows import read_cells
    >>> X, y = np.zeros((4, 1)), np.array([0, 1, 1, 1])
    >>> cells, cell, _ = read_cells(X, y, ["f", "m", "m", "m"], None)
    >>> cells.weight, cell
    (array([0.25, 0.75]), array([0, 1, 1, 1], dtype=uint8))
    """
    labels, low, classes = _class_codes(y)
    weight = None
    if sample_weight is not None:
        weight = sample_weights(sample_weight)
        check_same_length(y=y, sample_weight=weight)
    codes, lowest, groups = np.zeros(1, dtype=np.uint8), 0, np.zeros(1)
    if sensitive_features is not None:
        codes, lowest, groups = unshifted_codes(sensitive_features, "sensitive_features")
        check_same_length(y=labels, sensitive_features=codes)
    codes = np.broadcast_to(codes, labels.shape)
    shape = (len(classes), len(groups))
    counts = count_codes([labels, codes], shape, weight, lows=(low, lowest))
    rows, columns = counts.any(axis=1), counts.any(axis=0)
    cells = Cells.of_table(
        counts[rows][:, columns],
        classes[rows],
        None if sensitive_features is None else groups[columns],
        len(labels) if weight is None else int(np.count_nonzero(weight)),
        X.shape[1],
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
    return cells, cell, weight


def _class_codes(y):
    """Return the result of `unshifted_codes`, with the classes as numpy sorts them."""
    if y.dtype.kind in "iub":
        codes, low, classes = unshifted_codes(y, "y")
        if codes is y:
            return codes, low, classes
    classes, codes = np.unique(y, return_inverse=True)
    return codes, 0, classes


def labels_in_memory(X: Any, *columns: Any) -> tuple:
    """Load columns that are column names or Dask collections; return other columns unchanged.

    Parameters
    ----------
    X : ParquetRows, or anything else
        Features. If X is a `ParquetRows`, named columns are read from its files.
    *columns : str, list of str, Dask collection, array-like or None
        Columns to load.

    Returns
    -------
    tuple
        Columns in memory.

    Examples
    --------
    >>> from renyi_lib._rows import labels_in_memory
    >>> labels_in_memory([[0.5]], ["f"], None)
    (['f'], None)
    """
    if isinstance(X, ParquetRows):
        names = [name for name in columns if isinstance(name, str | list | tuple)]
        read = iter(X.labels(*names))
        return tuple(
            next(read) if isinstance(column, str | list | tuple) else column for column in columns
        )
    if is_dask(*columns):
        import dask

        return dask.compute(*columns)
    return columns


def warn_without_groups(estimator: Any, plain: str, stacklevel: int = 4) -> None:
    """Warn that a fit with lam > 0 has no groups and is therefore a `plain` model."""
    if estimator.lam > 0:
        warnings.warn(
            f"{type(estimator).__name__} was fitted without sensitive_features, so nothing is "
            f"penalized and the model is {plain}: pass sensitive_features to fit, or set lam=0",
            NoSensitiveFeaturesWarning,
            stacklevel=stacklevel,
        )
