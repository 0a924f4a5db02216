"""Features of a source as a matrix that is read in blocks of rows."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array

from renyi_lib.sources._base import Source

__all__ = ["FeatureBlocks", "SumTuple", "over_rows", "read_columns"]


class SumTuple(tuple):
    """Tuple of sums that are added entry by entry.

    Examples
    --------
    >>> from renyi_lib.sources.features import SumTuple
    >>> SumTuple([1, 2.0]) + SumTuple([3, 4.0])
    (4, 6.0)
    """

    __slots__ = ()

    def __add__(self, other):
        return SumTuple(a + b for a, b in zip(self, other, strict=True))


class FeatureBlocks:
    """Standardized features of a source, in blocks that are read again in each pass.

    Parameters
    ----------
    source : Source
        Source of `Rows`.
    sizes : list of int
        Number of rows in each block.
    n_features : int
        Number of features.
    kept : ndarray of bool, shape (n,), optional
        Mask of the rows to keep; by default, all rows are kept.
    center, scale : ndarray of shape (n_features,), optional
        Number to subtract from each column, and number by which to divide the result.
    ones : bool, default=False
        Whether to append a column of ones.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources import Rows, Source
    >>> from renyi_lib.sources.features import FeatureBlocks
    >>> parts = [Rows(np.array([[1.0], [2.0]]), None), Rows(np.array([[3.0]]), None)]
    >>> X = FeatureBlocks(Source(lambda: iter(parts)), [2, 1], 1, ones=True)
    >>> X.total(lambda x, columns: columns[0] @ x, [np.array([1.0, 0.0, 2.0])])
    array([7., 3.])
    """

    def __init__(
        self,
        source: Source,
        sizes: list[int],
        n_features: int,
        kept: np.ndarray | None = None,
        *,
        center: np.ndarray | None = None,
        scale: np.ndarray | None = None,
        ones: bool = False,
    ):
        self.source, self.sizes, self.kept = source, sizes, kept
        self.center = np.zeros(n_features) if center is None else center
        self.scale = np.ones(n_features) if scale is None else scale
        self.ones = ones
        ends = np.cumsum([0, *sizes])
        self.masks: list = [
            None if kept is None else kept[start:stop] for start, stop in pairwise(ends)
        ]
        counts = [
            n if mask is None else np.count_nonzero(mask) for n, mask in zip(sizes, self.masks)
        ]
        self.ends = np.cumsum([0, *counts])
        self.shape = (int(self.ends[-1]), n_features + ones)

    def __getitem__(self, kept: np.ndarray) -> "FeatureBlocks":
        """Select rows of all the raw features by a mask; an earlier mask or scaling is dropped."""
        return FeatureBlocks(self.source, self.sizes, self.shape[1], kept)

    def standardized(self, weight: np.ndarray | None, center: bool, ones: bool) -> "FeatureBlocks":
        """Scale columns to variance 1, and center them if `center` is True, in two passes.

        `weight` contains probabilities, or is None for equal weights. Constant columns are not
        scaled. With `ones`, a column of ones is appended.
        """
        share = np.full(self.shape[0], 1 / self.shape[0]) if weight is None else weight
        mean = self.total(_weighted_sum, [share])
        scale = np.sqrt(self.total(_weighted_squares, [share], mean))
        scale = np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)
        return FeatureBlocks(
            self.source,
            self.sizes,
            self.shape[1],
            self.kept,
            center=mean if center else None,
            scale=scale,
            ones=ones,
        )

    def total(self, function: Callable, columns: list[np.ndarray], *arguments: Any) -> Any:
        """Sum ``function(x, columns, *arguments)`` over the blocks in one pass.

        Parameters
        ----------
        function : callable
            Function whose first argument is a block of X, and whose second argument is a list of
            the same rows of each of the `columns`.
        columns : list of ndarray
            Arrays in memory with an entry for each row of X.
        *arguments
            Further arguments, which are the same for all blocks.

        Returns
        -------
        object
            Sum of the results.
        """
        parts = [
            (size, mask, [column[start:stop] for column in columns])
            for size, mask, start, stop in zip(self.sizes, self.masks, self.ends, self.ends[1:])
        ]
        standard = (self.center, self.scale, self.ones)
        return self.source.total_by_block(_of_block, parts, standard, function, *arguments)


def over_rows(X: Any, function: Callable, columns: list[np.ndarray], *arguments: Any) -> Any:
    """Compute ``function(X, columns, *arguments)``, or its sum over blocks of X.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources.features import over_rows
    >>> over_rows(np.eye(2), lambda x, columns: columns[0] @ x, [np.array([1.0, 2.0])])
    array([1., 2.])
    """
    if isinstance(X, FeatureBlocks):
        return X.total(function, columns, *arguments)
    return function(X, columns, *arguments)


def read_columns(source: Source) -> tuple[FeatureBlocks, Any, Any, Any]:
    """Read y, sensitive_features and sample_weight into memory in one pass, but not X.

    Parameters
    ----------
    source : Source
        Source of `Rows`.

    Returns
    -------
    X : FeatureBlocks
        Features, to be read in blocks.
    y : ndarray or Series of shape (n,)
        Target values.
    sensitive_features : ndarray, Series or DataFrame, or None
        Group of each row.
    sample_weight : ndarray or Series of shape (n,), or None
        Weight of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources import Rows, Source
    >>> from renyi_lib.sources.features import read_columns
    >>> parts = [Rows(np.zeros((2, 1)), [0.5, 1.5]), Rows(np.zeros((1, 1)), [3.5])]
    >>> X, y, s, weight = read_columns(Source(lambda: iter(parts)))
    >>> X.shape, y
    ((3, 1), array([0.5, 1.5, 3.5]))
    """
    parts = source.total(_without_features) or []
    full = [rows for size, _, rows in parts if size]
    if not full:
        raise ValueError("X is empty: pass at least one sample")
    widths = sorted({width for size, width, _ in parts if size})
    if len(widths) > 1:
        raise ValueError(
            f"X has {widths[0]} features in one block and {widths[1]} in another: pass the same "
            "columns in every block"
        )
    X = FeatureBlocks(source, [size for size, _, _ in parts], widths[0])
    return X, *(_joined(column) for column in list(zip(*full))[1:])


def _joined(parts):
    """Concatenate the blocks of one or several columns."""
    if parts[0] is None:
        return None
    if hasattr(parts[0], "iloc"):
        return pd.concat(parts, ignore_index=True)
    if isinstance(parts[0], pd.api.extensions.ExtensionArray):
        return pd.concat([pd.Series(part) for part in parts], ignore_index=True)
    return np.concatenate([np.asarray(part) for part in parts])


def _without_features(rows):
    """Return a list of one tuple: the shape of a block's X, and its `Rows` without X."""
    if rows.X.shape[0] == 0:
        return [(0, 0, None)]
    return [(*_numbers(rows.X, finite=True).shape, rows._replace(X=None))]


def _numbers(X, finite=False):
    if sparse.issparse(X):
        raise ValueError(
            "X is sparse in a source that is read in blocks, but a regression needs dense blocks: "
            "load X into memory as one CSR array, or convert the blocks to dense arrays"
        )
    return check_array(X, dtype=np.float64, ensure_all_finite=finite, input_name="X")


def _of_block(rows, part, standard, function, *arguments):
    """Apply the function to one standardized block; return None for an empty block."""
    size, mask, columns = part
    if rows.X.shape[0] != size:
        raise ValueError(
            f"the data have changed between two passes: a block of {size} rows now has "
            f"{rows.X.shape[0]} rows. Store the data, and fit the stored copy"
        )
    if size == 0 or (mask is not None and not mask.any()):
        return None
    x = _numbers(rows.X)
    x = x if mask is None else x[mask]
    center, scale, ones = standard
    filled = np.empty((len(x), len(center) + ones))
    np.subtract(x, center, out=filled[:, : len(center)])
    filled[:, : len(center)] /= scale
    filled[:, len(center) :] = 1.0
    return function(filled, columns, *arguments)


def _weighted_sum(x, columns):
    return columns[0] @ x


def _weighted_squares(x, columns, mean):
    return columns[0] @ (x - mean) ** 2
