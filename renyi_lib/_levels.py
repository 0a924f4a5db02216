"""Levels of a variable, kept in order when tables of several chunks are added."""

from collections import Counter

import numpy as np
import pandas as pd

__all__ = ["as_levels", "merged_levels"]


def as_levels(labels, name):
    """Return labels as a one-dimensional array, or raise a `ValueError` if any is repeated.

    Numbers are not turned into strings. Dates and durations in an array become pandas objects, and
    a list of numbers becomes a numeric array.
    """
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        # Keep dates and durations as pandas objects; numpy's `tolist` would give nanoseconds.
        levels = np.array(pd.Index(labels), object) if labels.dtype.kind in "mM" else labels
    else:
        labels = list(labels)
        plain = np.array(labels) if labels and not _has(labels, (str, tuple)) else None
        if plain is not None and plain.ndim == 1 and plain.dtype.kind in "biuf":
            levels = plain
        else:
            levels = np.empty(len(labels), dtype=object)
            levels[:] = labels
    try:
        different = len(set(levels.tolist()))
    except TypeError as error:
        raise ValueError(
            f"{name} has labels that are not hashable ({error}): convert them, for example to "
            "strings"
        ) from error
    if different < len(levels):
        repeated = Counter(levels.tolist()).most_common(1)[0][0]
        raise ValueError(
            f"{name} contains the label {repeated!r} more than once: every label must occur only "
            "once"
        )
    return levels


def merged_levels(first, second, name):
    """Return the levels of both tables, and the positions of each table's levels among them."""
    both = [labels.tolist() for labels in (first, second)]
    if all(both) and _is_text(both[0]) != _is_text(both[1]) and not _mixed(both):
        raise ValueError(
            f"{name} has strings in one part of the data and other labels in another, such as "
            f"{both[0][0]!r} and {both[1][0]!r}, so 1 and '1' would be counted separately: "
            "convert all labels to one type"
        )
    known = dict.fromkeys(both[0]) | dict.fromkeys(both[1])
    if list(known) != both[0]:
        # New levels are inserted in order if the labels are sorted; otherwise, as in a categorical
        # with its own order, they are appended.
        in_order = [_in_order(labels) for labels in both]
        if None not in in_order and in_order == both:
            known = dict.fromkeys(_in_order(list(known)) or known)
    place = {label: i for i, label in enumerate(known)}
    return list(known), [[place[label] for label in labels] for labels in both]


def _in_order(labels):
    """Return the sorted labels, or None if they cannot be compared."""
    try:
        return sorted(labels)
    except TypeError:
        return None


def _has(labels, kind):
    return any(isinstance(label, kind) for label in labels)


def _is_text(labels):
    return _has(labels, str)


def _mixed(both):
    """Return whether the labels of at least one table include both strings and other types."""
    return any(_is_text(labels) and not all(isinstance(x, str) for x in labels) for labels in both)
