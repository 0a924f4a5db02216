"""Who does the work: Dask collections are known without Dask, and handed to `distributed`."""

from functools import wraps
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
            "see renyi_lib.distributed for what runs on Dask"
        )


def takes_dask(function):
    """The function, which leaves Dask collections to its namesake in `renyi_lib.distributed`.

    Examples
    --------
    >>> takes_dask(len)([0, 1])
    2
    """

    @wraps(function)
    def dispatched(*arguments, **options):
        if not is_dask(*arguments, *options.values()):
            return function(*arguments, **options)
        from renyi_lib import distributed

        return getattr(distributed, function.__name__)(*arguments, **options)

    return dispatched
