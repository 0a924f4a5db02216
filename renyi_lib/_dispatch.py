"""Checks for data that are not in memory, without importing Dask."""

from typing import Any


def is_dask(*values: Any) -> bool:
    """Return whether any of the values is a Dask collection, without importing Dask.

    Examples
    --------
    >>> is_dask([0, 1], None)
    False
    """
    return any(hasattr(type(value), "__dask_graph__") for value in values)


def refuse_dask(values, name):
    """Raise a `ValueError` for a Dask collection that would have to be loaded into memory.

    Examples
    --------
    >>> refuse_dask([0, 1], "a")
    """
    if is_dask(values):
        raise ValueError(
            f"{name} is a Dask collection, but this function needs data in memory: call "
            f"{name}.compute(), or take a sample"
        )


def in_memory(X: Any) -> bool:
    """Return whether X is neither a Dask collection nor a source of rows.

    Examples
    --------
    >>> in_memory([[0.0], [1.0]])
    True
    """
    return not (is_dask(X) or getattr(type(X), "is_source", False))


def need_memory(X: Any, who: str) -> None:
    """Raise a `ValueError` if X is not in memory, before any work is done.

    Examples
    --------
    >>> need_memory([[0.0], [1.0]], "RenyiKMeans")
    """
    if not in_memory(X):
        raise ValueError(
            f"{who} needs X in memory, but X is {type(X).__name__}: load it (or a sample of it) "
            "as an array or a data frame first. Only RenyiClassifier, PenalizedClassifier and "
            "RenyiRegressor can be fitted to Parquet files and Dask collections directly"
        )
