"""A source of rows: everything that a fit needs is a sum over them.

`Source` is all that is asked of data: apply a function to every block of rows and add up what
comes back. Solvers and losses do not know where the rows are.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Block", "Rows", "Source", "add_up"]


class Rows(NamedTuple):
    """Some of the rows, as a file or a partition gives them.

    Attributes
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n, p)
    y : array-like of shape (n,)
    sensitive_features : array-like of shape (n,) or (n, k), or None
    sample_weight : array-like of shape (n,), or None
    """

    X: Any
    y: Any
    sensitive_features: Any = None
    sample_weight: Any = None


class Block(NamedTuple):
    """Some of the rows, checked and coded: what a model sums over.

    Attributes
    ----------
    X : ndarray or scipy CSR array of shape (n, p)
        Features.
    cell : ndarray of int, shape (n,)
        The cell of each row, a combination of label and group.
    weight : ndarray of shape (n,), or None
    rows : slice, or None
        Which rows of all they are, if the source is in memory.
    """

    X: Any
    cell: np.ndarray
    weight: np.ndarray | None = None
    rows: slice | None = None


class Source:
    """Rows, a block at a time, which can be gone through any number of times.

    Parameters
    ----------
    read : function without arguments
        Gives an iterator of `Rows` (or of `Block`), the same ones each time it is called.

    Attributes
    ----------
    n_passes : int
        How often the data were gone through.

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
        """The sum of ``function(rows, *arguments)`` over the blocks; None stands for nothing."""
        self.n_passes += 1
        return add_up(function(rows, *arguments) for rows in self.read())

    def total_by_block(self, function: Callable, parts: Sequence, *arguments: Any) -> Any:
        """The sum of ``function(rows, part, *arguments)``, with one of the `parts` for each block.

        Only an estimator that keeps a number for each row, such as `RenyiRegressor`, needs this.
        The order of the blocks is the same in every pass.
        """
        if not hasattr(self, "read"):
            raise NotImplementedError(
                f"{type(self).__name__} has no total_by_block(function, parts, *arguments), which "
                "this estimator needs: add this method, or load the rows into memory"
            )
        self.n_passes += 1
        return add_up(
            function(rows, part, *arguments) for rows, part in zip(self.read(), parts, strict=True)
        )


def add_up(parts: Iterable) -> Any:
    """The sum of the parts that are not None, or None if there are none.

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
