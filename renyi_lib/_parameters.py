"""Parameter checks, shared by estimators, penalties and functions.

A *constraint* defines and describes the allowed values of a parameter. Called with the name of a
parameter and its value, it raises a `ValueError` unless the value is allowed. An estimator lists
its constraints by parameter in `_constraints`, and calls `_check_parameters` first.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar


@dataclass(frozen=True)
class Constraint:
    """Allowed values of a parameter.

    Parameters
    ----------
    wanted : str
        Description of the allowed values, which follows "must be" in the error message.
    allows : callable
        Function that returns whether a value is allowed.

    Examples
    --------
    >>> Constraint("even", lambda value: value % 2 == 0)("n_folds", 3)
    Traceback (most recent call last):
    ...
    ValueError: n_folds must be even, not 3
    """

    wanted: str
    allows: Callable[[Any], bool]

    def __call__(self, name: str, value: Any) -> None:
        if not self.allows(value):
            raise ValueError(f"{name} must be {self.wanted}, not {value!r}")


def number(least: float = -math.inf, most: float = math.inf, *, above: bool = False) -> Constraint:
    """Require a finite number from `least` to `most`; with `above`, greater than `least`.

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
    elif not math.isfinite(least):
        wanted = "a finite number"
    elif above:
        wanted = "a positive number" if least == 0 else f"a number above {least:g}"
    else:
        wanted = f"a number, {least:g} or more"

    def allows(value):
        fits = _is(value, Real) and math.isfinite(value) and least <= value <= most
        return fits and not (above and value == least)

    return Constraint(wanted, allows)


def whole(least: int) -> Constraint:
    """Require an integer of at least `least`; booleans and floats such as 2.0 are not allowed.

    Examples
    --------
    >>> whole(1)("max_iter", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: max_iter must be a whole number, 1 or more, not 2.5
    """
    return Constraint(
        f"a whole number, {least} or more",
        lambda value: _is(value, Integral) and value >= least,
    )


def choice(*options: str) -> Constraint:
    """Require one of the given strings.

    Examples
    --------
    >>> choice("lbfgs", "gd")("solver", "newton")
    Traceback (most recent call last):
    ...
    ValueError: solver must be one of 'lbfgs', 'gd', not 'newton'
    """
    return Constraint(
        f"one of {', '.join(map(repr, options))}",
        lambda value: isinstance(value, str) and value in options,
    )


def instance(kind: type, wanted: str) -> Constraint:
    """Require an instance of `kind`, which `wanted` describes in the error message.

    Examples
    --------
    >>> instance(dict, "a dictionary")("class_weight", 3)
    Traceback (most recent call last):
    ...
    ValueError: class_weight must be a dictionary, not 3
    """
    return Constraint(wanted, lambda value: isinstance(value, kind))


def either(exception: Any, constraint: Constraint) -> Constraint:
    """Allow one value, such as None or "auto", in addition to those of the constraint.

    Examples
    --------
    >>> either(None, number(0, above=True))("eta", 0)
    Traceback (most recent call last):
    ...
    ValueError: eta must be a positive number (or None), not 0
    """
    return Constraint(
        f"{constraint.wanted} (or {exception!r})",
        lambda value: (
            (isinstance(value, type(exception)) and value == exception) or constraint.allows(value)
        ),
    )


class Checked:
    """Object whose parameters, including nested ones, are checked against `_constraints`."""

    _constraints: ClassVar[Mapping[str, Constraint]] = {}

    def _check_parameters(self):
        for name, constraint in self._constraints.items():
            constraint(name, getattr(self, name))
            if isinstance(getattr(self, name), Checked):
                getattr(self, name)._check_parameters()


def _is(value, kind):
    """Return whether the value is a number of the given type; booleans do not count as numbers."""
    return isinstance(value, kind) and type(value).__name__ not in ("bool", "bool_")


# True or False, including numpy booleans.
flag = Constraint("True or False", lambda value: type(value).__name__ in ("bool", "bool_"))

# None means one process (or thread), and -1 means all cores.
n_jobs_constraint = Constraint(
    "a number of processes or threads, 1 or more, or -1 for all cores (or None)",
    lambda value: value is None or (_is(value, Integral) and value >= -1 and value != 0),
)
