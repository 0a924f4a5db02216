"""Contingency tables, into which samples of several variables are counted."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from renyi_lib._dispatch import is_dask
from renyi_lib._levels import as_levels, merged_levels
from renyi_lib._validation import (
    check_alignment,
    check_same_length,
    read_arrow,
    sample_weights,
    unshifted_codes,
)

# Number of samples counted at a time, small enough for their codes to stay in the cache.
_BLOCK = 2**17
# Maximum number of cells of a dense table (half a gigabyte).
_MAX_CELLS = 2**26


def count_labels(variables, sample_weight=None, *, check=None):
    """Cross-tabulate several variables; also return the values along each axis.

    Parameters
    ----------
    variables : dict of str to labels
        Labels of any type, keyed by argument name; the names are used in error messages. Dask
        collections are counted partition by partition.
    sample_weight : array-like of shape (n,), optional
        Nonnegative sample weights; by default, all samples count equally.
    check : function of (name, values that occur, number of samples), optional
        Function that may raise an error about a variable. It is called for each variable, before
        the samples are counted (afterwards for Dask collections). If there are many samples for
        each value, all values are assumed to occur.

    Returns
    -------
    table : ndarray
        Counts, or sums of weights if `sample_weight` is given, with one axis for each variable.
    values : list of ndarray
        Values along each axis, some of which may not occur.

    Examples
    --------
    >>> table, values = count_labels({"a": ["x", "y", "x"], "b": [0, 0, 2]})
    >>> table
    array([[1, 0, 1],
           [1, 0, 0]])
    >>> values
    [array(['x', 'y'], dtype=object), array([0, 1, 2])]
    """
    if is_dask(*variables.values(), sample_weight):
        return _count_partitions(variables, sample_weight, check)
    check_alignment(**variables, sample_weight=sample_weight)
    coded = {name: unshifted_codes(read_arrow(labels), name) for name, labels in variables.items()}
    arrays = {name: codes for name, (codes, _, _) in coded.items()}
    weights = None
    if sample_weight is not None:
        weights = arrays["sample_weight"] = sample_weights(sample_weight)
    check_same_length(**arrays)
    values = [categories for _, _, categories in coded.values()]
    if check is not None:
        for name, (codes, low, categories) in coded.items():
            check(name, occurring(codes, low, categories), len(codes))
    shape = tuple(map(len, values))
    check_size(shape, "the joint table of " + ", ".join(variables))
    codes, lows, _ = zip(*coded.values())
    return count_codes(codes, shape, weights, lows=lows), values


def _count_partitions(variables, sample_weight, check):
    """Implement `count_labels` for Dask collections."""
    from renyi_lib.sources.dask import DaskSource

    columns = {**variables, "sample_weight": sample_weight}
    found = DaskSource(kind=dict, **columns).total(_counted)
    if found is None:
        raise ValueError(
            "the data are empty, or sample_weight is zero everywhere: pass at least one sample of "
            "positive weight"
        )
    if check is not None:
        for name, values in zip(found.names, found.values):
            check(name, values, found.n_rows)
    return found.table, list(found.values)


def _counted(columns):
    weight = columns.pop("sample_weight", None)
    return LabelCounts.of(columns, weight)


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Joint table of several variables in part of the rows; adding tables combines their rows.

    Attributes
    ----------
    names : tuple of str
        Names of the variables.
    table : ndarray
        Counts or sums of weights, with an axis for each variable.
    values : tuple of ndarray
        Labels along each axis, all of which occur.
    n_rows : int
        Number of rows. Rows of weight 0 count, except in parts without any positive weight.

    Examples
    --------
    >>> first = LabelCounts.of({"a": ["x", "y"], "b": [0, 1]})
    >>> both = first + LabelCounts.of({"a": ["z"], "b": [1]})
    >>> both.table, both.n_rows
    (array([[1, 0],
           [0, 1],
           [0, 1]]), 3)
    """

    names: tuple
    table: np.ndarray
    values: tuple
    n_rows: int

    @classmethod
    def of(cls, variables, sample_weight=None):
        """Count the variables; return None if there are no rows of positive weight."""
        n_rows = len(next(iter(variables.values())))
        if n_rows == 0 or (sample_weight is not None and not np.any(sample_weight)):
            return None
        table, values = count_labels(variables, sample_weight)
        axes = range(table.ndim)
        seen = [table.any(axis=tuple(k for k in axes if k != axis)) for axis in axes]
        values = tuple(labels[kept] for labels, kept in zip(values, seen))
        return cls(tuple(variables), table[np.ix_(*seen)], values, n_rows)

    def __add__(self, other):
        merged = [
            merged_levels(ours, theirs, name)
            for name, ours, theirs in zip(self.names, self.values, other.values)
        ]
        shape = tuple(len(labels) for labels, _ in merged)
        self.check_size(shape)
        table = np.zeros(shape, dtype=np.result_type(self.table, other.table))
        for k, part in enumerate((self, other)):
            table[np.ix_(*(places[k] for _, places in merged))] += part.table
        values = tuple(as_levels(labels, name) for name, (labels, _) in zip(self.names, merged))
        return type(self)(self.names, table, values, self.n_rows + other.n_rows)

    def check_size(self, shape):
        """Raise a `ValueError` if the table would be too large."""
        check_size(shape, "the joint table of " + ", ".join(self.names))

    def rows(self):
        """Return the nonempty cells as rows, with the values of each variable and the counts."""
        cells = np.nonzero(self.table)
        columns = {
            name: values[place] for name, values, place in zip(self.names, self.values, cells)
        }
        return columns, self.table[cells]


def occurring(codes, low, categories):
    """Return the categories that occur, for codes from `low`; with many samples, return all."""
    if len(codes) >= 8 * len(categories):
        return categories
    return categories[np.unique(codes.astype(np.intp)) - low]


def count_codes(codes, shape, weights=None, *, lows=None):
    """Count several integer-coded variables into a table.

    Parameters
    ----------
    codes : sequence of ndarray of int, each of shape (n,)
        Codes of two or more variables.
    shape : tuple of int
        Number of values of each variable.
    weights : ndarray of shape (n,), optional
        Weight of each sample.
    lows : sequence of int, optional
        Smallest code of each variable, 0 by default.

    Returns
    -------
    ndarray of the given shape
        Counts or sums of weights.

    Examples
    --------
    >>> count_codes([np.array([0, 1, 0]), np.array([0, 0, 1])], (2, 2))
    array([[1, 1],
           [1, 0]])
    """
    first, *others = codes
    sizes = shape[1:]
    cells = math.prod(shape)
    shift, *later = lows or [0] * len(codes)
    for low, size in zip(later, sizes):
        shift = shift * size + low
    # Memory traffic dominates the cost, so the cell number of each sample is computed in a small
    # buffer, as a byte if possible. Overflow of intermediate results is harmless, because bytes
    # are exact modulo 256.
    small = np.uint8 if cells < 256 else np.intp
    shift = np.int64(shift).astype(small)
    table = np.zeros(cells, dtype=np.intp if weights is None else float)
    block = max(_BLOCK, cells)
    buffer = np.empty(min(block, len(first)), dtype=small)
    for start in range(0, len(first), block):
        part = slice(start, start + block)
        earlier = first[part].astype(small, copy=False)
        cell = buffer[: len(earlier)]
        for code, size in zip(others, sizes):
            np.multiply(earlier, small(size), out=cell)
            cell += code[part].astype(small, copy=False)
            earlier = cell
        if shift:
            cell -= shift
        if weights is None:
            table += _bincount(cell, cells)
        else:
            table += np.bincount(cell, weights[part], minlength=cells)
    return table.reshape(shape)


def count_sparse(rows, columns, shape, weights=None):
    """Count two integer-coded variables into a sparse table, for tables with many empty cells.

    Parameters
    ----------
    rows, columns : ndarray of int, each of shape (n,)
        Codes of the two variables.
    shape : tuple of int
        Number of values of each variable.
    weights : ndarray of shape (n,), optional
        Weight of each sample.

    Returns
    -------
    sparse array of the given shape
        Counts or sums of weights.

    Examples
    --------
    >>> count_sparse(np.array([0, 1, 0]), np.array([0, 0, 0]), (2, 2)).toarray()
    array([[2., 0.],
           [1., 0.]])
    """
    weights = np.ones(len(rows)) if weights is None else weights
    return sparse.csr_array((weights, (rows, columns)), shape=shape)


def check_size(shape, what):
    """Return the number of cells of a table, or raise an error if it would be too large."""
    cells = math.prod(shape)
    if cells > _MAX_CELLS:
        raise ValueError(
            f"{what} would have {' x '.join(map(str, shape))} cells, too many for memory: "
            "merge values, or cut a continuous variable into bins"
        )
    return cells


def drop_empty(table):
    """Return the table without empty rows and columns, and masks of the rows and columns kept."""
    rows, columns = table.any(axis=1), table.any(axis=0)
    if rows.all() and columns.all():
        return table, rows, columns
    return table[np.ix_(rows, columns)], rows, columns


def _bincount(cell, cells):
    """Apply `numpy.bincount` to integers from 0 to cells - 1; bytes are counted in pairs.

    For a small table of a million samples, this takes about half the time.
    """
    if cell.dtype != np.uint8 or len(cell) < 256 * cells:
        return np.bincount(cell, minlength=cells)
    # Each pair of bytes is read as one number, so there are half as many numbers to count. The
    # counts are the sum of the two margins of the table of pairs.
    pairs = cell[: len(cell) // 2 * 2].view(np.uint16)
    table = np.bincount(pairs, minlength=256 * cells).reshape(cells, 256)
    counts = table.sum(axis=1) + table[:, :cells].sum(axis=0)
    if len(cell) % 2:
        counts[cell[-1]] += 1
    return counts


def one_hot(codes, size, weights=None):
    """Return a sparse indicator matrix with one row for each sample, times its weight if given."""
    weights = np.ones(len(codes)) if weights is None else weights
    start_of_row = np.arange(len(codes) + 1)
    return sparse.csr_array((weights, codes, start_of_row), shape=(len(codes), size))
