"""One way to check parameters, for estimators, penalties and functions alike.

A *constraint* is a function of a name and a value that raises a `ValueError` unless the value will
do. An estimator lists its constraints in `_constraints`, by parameter, and calls
`_check_parameters` before anything else.
"""

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

Constraint = Callable[[str, Any], None]


def number(least: float = -math.inf, most: float = math.inf, *, above: bool = False) -> Constraint:
    """A finite number from `least` to `most`; with `above`, greater than `least`.

    Examples
    --------
    >>> number(0)("lam", -1)
    Traceback (most recent call last):
    ...
    ValueError: lam must be a number, 0 or more, not -1
    >>> number(0, 1)("target", 80)
    Traceback (most recent call last):
    ...
    ValueError: target must be a number from 0 to 1, not 80
    """
    if math.isfinite(most):
        wanted = f"a number {'above' if above else 'from'} {least:g} {'and' if above else 'to'}"
        wanted += f" {'at most ' if above else ''}{most:g}"
    elif above:
        wanted = "a positive number" if least == 0 else f"a number above {least:g}"
    else:
        wanted = f"a number, {least:g} or more"

    def constraint(name, value):
        fits = _is(value, Real) and math.isfinite(value) and least <= value <= most
        if not fits or (above and value == least):
            raise ValueError(f"{name} must be {wanted}, not {value!r}")

    return constraint


def whole(least: int) -> Constraint:
    """A whole number, `least` or more; no truth value, and no float.

    Examples
    --------
    >>> whole(1)("max_iter", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: max_iter must be a whole number, 1 or more, not 2.5
    """

    def constraint(name, value):
        if not _is(value, Integral) or value < least:
            raise ValueError(f"{name} must be a whole number, {least} or more, not {value!r}")

    return constraint


def flag(name, value):
    """True or False (numpy's too).

    Examples
    --------
    >>> flag("fit_intercept", "no")
    Traceback (most recent call last):
    ...
    ValueError: fit_intercept must be True or False, not 'no'
    """
    if type(value).__name__ not in ("bool", "bool_"):
        raise ValueError(f"{name} must be True or False, not {value!r}")


def choice(*options: str) -> Constraint:
    """One of some texts.

    Examples
    --------
    >>> choice("lbfgs", "gd")("solver", "newton")
    Traceback (most recent call last):
    ...
    ValueError: solver must be one of 'lbfgs', 'gd', not 'newton'
    """

    def constraint(name, value):
        if not (isinstance(value, str) and value in options):
            listed = ", ".join(map(repr, options))
            raise ValueError(f"{name} must be one of {listed}, not {value!r}")

    return constraint


def instance(kind: type, wanted: str) -> Constraint:
    """An object of a class; `wanted` says in words what to give.

    Examples
    --------
    >>> instance(dict, "a dictionary")("class_weight", 3)
    Traceback (most recent call last):
    ...
    ValueError: class_weight must be a dictionary, not 3
    """

    def constraint(name, value):
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be {wanted}, not {value!r}")

    return constraint


def either(exception: Any, constraint: Constraint) -> Constraint:
    """One value, such as None or "auto", or whatever the constraint allows.

    Examples
    --------
    >>> either(None, number(0, above=True))("eta", 0)
    Traceback (most recent call last):
    ...
    ValueError: eta must be a positive number (or None), not 0
    """

    def widened(name, value):
        if isinstance(value, type(exception)) and value == exception:
            return
        try:
            constraint(name, value)
        except ValueError as error:
            allowed, _, given = str(error).rpartition(", not ")
            raise ValueError(f"{allowed} (or {exception!r}), not {given}") from None

    return widened


class Checked:
    """An object whose parameters are checked against `_constraints`, those within it too."""

    _constraints: ClassVar[Mapping[str, Constraint]] = {}

    def _check_parameters(self):
        for name, constraint in self._constraints.items():
            constraint(name, getattr(self, name))
            if isinstance(getattr(self, name), Checked):
                getattr(self, name)._check_parameters()


def _is(value, kind):
    """Whether the value is of that kind of number; a truth value is none."""
    return isinstance(value, kind) and type(value).__name__ not in ("bool", "bool_")
