"""Data that are not in memory: Dask collections, known without Dask, and sources of rows."""

from typing import Any


def is_dask(*values: Any) -> bool:
    """Whether any of these is a Dask collection. Dask itself is not imported to see this.

    Examples
    --------
    >>> is_dask([0, 1], None)
    False
    """
    return any(hasattr(type(value), "__dask_graph__") for value in values)


def refuse_dask(values, name):
    """Raise a `ValueError` where a Dask collection would be gathered in memory, unasked.

    Examples
    --------
    >>> refuse_dask([0, 1], "a")
    """
    if is_dask(values):
        raise ValueError(
            f"{name} is a Dask collection, and this needs it in memory: call {name}.compute(), or "
            "take a sample"
        )


def in_memory(X: Any) -> bool:
    """Whether X is neither a Dask collection nor a source of rows.

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
            f"{who} needs X in memory, and X is {type(X).__name__}: load it (or a sample of it) "
            "as an array or a data frame first. RenyiClassifier, PenalizedClassifier and "
            "RenyiRegressor are fitted to Parquet files and to Dask collections as they are"
        )
