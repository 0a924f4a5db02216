"""Common treatment of `random_state`, as None, an integer, a `RandomState` or a `Generator`.

An integer gives the same results in each call. A `RandomState` or a `Generator` changes its state
when it is used, so two calls with the same object differ. None gives a different stream each time.
"""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["as_generator", "as_random_state", "repeatable"]


def as_generator(random_state: Any, name: str = "random_state") -> np.random.Generator:
    """Convert a `random_state` to a `Generator`.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._random import as_generator
    >>> bool(as_generator(0).random() == np.random.default_rng(0).random())
    True
    >>> as_generator("seed")
    Traceback (most recent call last):
    ...
    ValueError: random_state must be None, a whole number that is 0 or more, a RandomState or a \
Generator, not 'seed'
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1, size=4))
    _check(random_state, name)
    return np.random.default_rng(random_state)


def as_random_state(random_state: Any, name: str = "random_state") -> np.random.RandomState:
    """Convert a `random_state` to a `RandomState`, which parts of scikit-learn require.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._random import as_random_state
    >>> as_random_state(0).randint(100) == np.random.RandomState(0).randint(100)
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return random_state
    _check(random_state, name)
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**31 - 1, size=4))
    if random_state is None:
        return check_random_state(None)  # numpy's global stream, as in scikit-learn
    return np.random.RandomState(random_state)


def repeatable(random_state: Any, name: str = "random_state") -> int | np.random.Generator:
    """Return an integer unchanged, so that it can seed several equal streams.

    Any other `random_state` is converted to a `Generator`.

    Examples
    --------
    >>> from renyi_lib._random import repeatable
    >>> repeatable(3)
    3
    """
    if isinstance(random_state, Integral):
        _check(random_state, name)
        return int(random_state)
    return as_generator(random_state, name)


def _check(random_state, name):
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    fits = random_state is None or isinstance(random_state, np.random.Generator)
    if not fits and not (whole and random_state >= 0):
        raise ValueError(
            f"{name} must be None, a whole number that is 0 or more, a RandomState or a "
            f"Generator, not {random_state!r}"
        )
