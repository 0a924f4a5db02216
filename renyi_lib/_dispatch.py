"""Dask collections are known without Dask."""

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
