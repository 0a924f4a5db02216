"""Dask collections as a source of rows, without gathering their partitions.

A Dask series or array is a plan, and its partitions may be stored in files or on other machines. A
sum over rows is computed partition by partition, and the small results are added up in a tree. The
work is done by the current Dask scheduler, which by default uses threads, or the cluster of a
`distributed.Client`. If a worker fails, Dask recomputes its results.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from renyi_lib._dispatch import is_dask
from renyi_lib.sources._base import Rows, Source, add_up

__all__ = ["DaskSource", "by_partition"]

# Number of partial results that are added up at a time on the workers.
_SPLIT_EVERY = 8


class DaskSource(Source):
    """Source that reads the partitions of Dask collections.

    Parameters
    ----------
    **columns : Dask arrays, series or data frames, or None
        Columns, named like the fields of `Rows` or of another `kind`. All must have the same
        partitions; arrays of known size are rechunked if necessary.
    kind : callable, default=Rows
        Type that is constructed from the columns of each partition.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from renyi_lib.sources import DaskSource
    >>> X, y = da.ones((6, 2), chunks=(4, 2)), da.arange(6, chunks=4)
    >>> source = DaskSource(X=X, y=y)
    >>> int(source.total(lambda rows: rows.y.sum())), source.n_passes
    (15, 1)
    """

    def __init__(self, *, kind: Callable = Rows, **columns: Any):
        self.n_passes = 0
        self.feature_names = None
        self.kind = kind
        present = {name: column for name, column in columns.items() if column is not None}
        for name, column in present.items():
            if not is_dask(column):
                raise ValueError(
                    f"{name} is in memory, but other arguments are Dask collections: convert it, "
                    "for example with dask.array.from_array, using the same partitions"
                )
        self.names = list(present)
        self.parts = list(zip(*_aligned(present)))
        names = getattr(columns.get("X"), "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names = np.array(names, dtype=object)

    def total(self, function: Callable, *arguments: Any) -> Any:
        """Sum ``function(rows, *arguments)`` over the partitions; the workers add up results."""
        return self._total(function, [()] * len(self.parts), arguments)

    def total_by_block(self, function: Callable, parts: Sequence, *arguments: Any) -> Any:
        """Sum with one part for each partition; a worker gets only the parts that it needs."""
        return self._total(function, [(part,) for part in parts], arguments)

    def _total(self, function, extras, arguments):
        import dask
        from dask import bag

        self.n_passes += 1
        # Use a single object for all tasks, so that it is sent to each worker only once.
        call = dask.delayed((function, arguments, self.kind, self.names), traverse=False)
        lists = [
            dask.delayed(_applied, pure=False, traverse=False)(call, extra, *columns)
            for extra, columns in zip(extras, self.parts, strict=True)
        ]
        total = bag.from_delayed(lists).reduction(add_up, add_up, split_every=_SPLIT_EVERY)
        # Computing the bag itself would start processes if there is no cluster; threads suffice,
        # because the work releases the GIL.
        return total.to_delayed().compute()


def _applied(call, extra, *parts):
    """Apply the function to one partition, and return the result in a list, as a bag requires."""
    function, arguments, kind, names = call
    return [function(kind(**dict(zip(names, parts))), *extra, *arguments)]


def _aligned(columns):
    """Return the partitions of each column, after checking that all columns have equally many."""
    blocks = {name: getattr(column, "chunks", None) for name, column in columns.items()}
    sizes = [chunks[0] for chunks in blocks.values() if chunks and _known(chunks[0])]
    found = {}
    for name, column in columns.items():
        if blocks[name]:
            if column.ndim > 1:
                column = column.rechunk({1: -1})
            if _known(blocks[name][0]):
                if sum(blocks[name][0]) != sum(sizes[0]):
                    raise ValueError(
                        "all arguments must have the same number of samples, but "
                        + ", ".join(f"{key} has {sum(b[0])}" for key, b in blocks.items() if b)
                    )
                column = column.rechunk({0: sizes[0]})
        # Do not optimize the graph, which would merge small partitions differently in each column.
        found[name] = np.ravel(column.to_delayed(optimize_graph=False)).tolist()
    if len({len(parts) for parts in found.values()}) > 1:
        counts = ", ".join(f"{name} has {len(parts)}" for name, parts in found.items())
        raise ValueError(
            f"all arguments must have the same partitions, but {counts}: take them from one Dask "
            "data frame, or repartition them"
        )
    return found.values()


def _known(sizes):
    return not np.isnan(sizes).any()


def by_partition(method, X, columns, dtype):
    """Apply a method to X partition by partition.

    The result has the named `columns`, or is one-dimensional if `columns` is None.
    """
    if hasattr(X, "columns"):
        empty = (
            pd.Series(dtype=dtype)
            if columns is None
            else pd.DataFrame(columns=columns, dtype=dtype)
        )
        return X.map_partitions(_of_frame, method, columns, dtype, meta=empty)
    X = X.rechunk({1: -1})
    if columns is None:
        return X.map_blocks(method, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype))
    chunks = (X.chunks[0], (len(columns),))
    return X.map_blocks(method, chunks=chunks, dtype=dtype, meta=np.empty((0, 0), dtype=dtype))


def _of_frame(X, method, columns, dtype):
    """Apply a method to a data frame, keeping its index; skip the method if it is empty."""
    width = () if columns is None else (len(columns),)
    found = method(X) if len(X) else np.empty((0, *width), dtype=dtype)
    if columns is None:
        return pd.Series(found, index=X.index)
    return pd.DataFrame(found, index=X.index, columns=columns)
