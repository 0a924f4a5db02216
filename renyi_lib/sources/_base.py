"""Base class of sources of rows; a fit needs only sums over rows.

A `Source` applies a function to every block of rows and adds up the results. Solvers and losses do
not depend on where the rows are stored.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Block", "Rows", "Source", "add_up"]


class Rows(NamedTuple):
    """Block of rows as read from a file or a partition.

    Attributes
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n, p)
        Features.
    y : array-like of shape (n,)
        Labels or target values.
    sensitive_features : array-like of shape (n,) or (n, k), or None
        Group of each row.
    sample_weight : array-like of shape (n,), or None
        Weight of each row.
    """

    X: Any
    y: Any
    sensitive_features: Any = None
    sample_weight: Any = None


class Block(NamedTuple):
    """Block of validated and encoded rows, over which a model sums.

    Attributes
    ----------
    X : ndarray or scipy CSR array of shape (n, p)
        Features.
    cell : ndarray of int, shape (n,)
        Code of each row's cell, which is a combination of label and group.
    weight : ndarray of shape (n,), or None
        Weight of each row.
    rows : slice, or None
        Position of the rows in the whole data, if the source is in memory.
    """

    X: Any
    cell: np.ndarray
    weight: np.ndarray | None = None
    rows: slice | None = None


class Source:
    """Rows that are read in blocks, in any number of passes.

    Parameters
    ----------
    read : function without arguments
        Function that returns an iterator of `Rows` (or of `Block`), the same blocks in each call.

    Attributes
    ----------
    n_passes : int
        Number of passes over the data so far.
    feature_names : ndarray of str, or None
        Names of the features, if known.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources import Rows, Source
    >>> parts = [Rows(np.zeros((2, 1)), [0, 1]), Rows(np.zeros((3, 1)), [1, 1, 1])]
    >>> source = Source(lambda: iter(parts))
    >>> source.total(lambda rows: sum(rows.y)), source.n_passes
    (4, 1)
    """

    is_source = True

    def __init__(self, read: Callable[[], Iterable]):
        self.read = read
        self.n_passes = 0
        self.feature_names: np.ndarray | None = None

    def total(self, function: Callable, *arguments: Any) -> Any:
        """Sum ``function(rows, *arguments)`` over the blocks, skipping results that are None."""
        self.n_passes += 1
        return add_up(function(rows, *arguments) for rows in self.read())

    def total_by_block(self, function: Callable, parts: Sequence, *arguments: Any) -> Any:
        """Sum ``function(rows, part, *arguments)``, with one of the `parts` for each block.

        Only estimators that store a number for each row, such as `RenyiRegressor`, use this
        method. The blocks must come in the same order in every pass.
        """
        if not hasattr(self, "read"):
            raise NotImplementedError(
                f"{type(self).__name__} has no total_by_block(function, parts, *arguments), which "
                "this estimator requires: add this method, or load the rows into memory"
            )
        self.n_passes += 1
        return add_up(
            function(rows, part, *arguments) for rows, part in zip(self.read(), parts, strict=True)
        )


def add_up(parts: Iterable) -> Any:
    """Sum the parts that are not None, or return None if there are none.

    Examples
    --------
    >>> from renyi_lib.sources import add_up
    >>> add_up([1, None, 2]), add_up([None])
    (3, None)
    """
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total
