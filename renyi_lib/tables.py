"""Tables of counts that can be added across chunks, machines or months.

The discrete measures depend only on how often each pair of values occurs. Data that do not fit
into memory, are stored on several machines, or arrive over months can therefore be counted into
small tables, which are then added. Levels are matched by label and never by position, so a chunk
that lacks a level or has a new one does not affect the other levels.
"""

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from renyi_lib._counting import count_labels, drop_empty
from renyi_lib._levels import as_levels, merged_levels

__all__ = ["JointTable", "joint_table"]

_FORMAT = "renyi_lib.JointTable"


class JointTable:
    """Counts (or total weights) of each pair of values of two variables.

    A table is usually created by `joint_table`, or created empty and filled by `update`. Tables
    can be added, saved and loaded, and every function that accepts a joint table accepts a
    `JointTable`.

    Parameters
    ----------
    counts : array-like of shape (c, d), optional
        Nonnegative integers or, for weights, floats. By default, the table is empty.
    rows, columns : sequence of labels, of length c and d, optional
        Distinct values of the two variables.

    Attributes
    ----------
    counts : ndarray of shape (c, d)
        Counts or total weights.
    rows, columns : ndarray of shape (c,) and (d,)
        Values of the two variables.

    See Also
    --------
    joint_table : Count samples into a table.

    Examples
    --------
    Count the chunks of a stream. The second chunk has a level that the first one lacks:

    >>> from renyi_lib import JointTable
    >>> from renyi_lib.correlation import renyi_from_joint
    >>> table = JointTable()
    >>> for jobs, groups in [(["clerk", "clerk"], ["f", "m"]), (["baker", "clerk"], ["m", "f"])]:
    ...     table = table.update(jobs, groups)
    >>> table.to_frame()
           f  m
    baker  0  1
    clerk  2  1
    >>> JointTable.from_json(table.to_json()) == table
    True
    >>> round(renyi_from_joint(table), 3)
    0.577
    """

    def __init__(self, counts: ArrayLike = (), rows: Any = (), columns: Any = ()):
        self.rows, self.columns = as_levels(rows, "rows"), as_levels(columns, "columns")
        self.counts = _checked_counts(counts, (len(self.rows), len(self.columns)))

    def update(self, a: Any, b: Any, *, sample_weight: ArrayLike | None = None) -> "JointTable":
        """Count more samples into this table.

        If the samples cannot be counted, an error is raised and the table stays unchanged.

        Parameters
        ----------
        a, b, sample_weight
            Same as in `joint_table`.

        Returns
        -------
        JointTable
            This table.
        """
        # Compute the whole sum before assigning it, so that an error leaves the table unchanged.
        self.counts, self.rows, self.columns = self + joint_table(
            a, b, sample_weight=sample_weight
        )
        return self

    def to_frame(self) -> pd.DataFrame:
        """Return the counts with their levels as a DataFrame."""
        rows = pd.Index(self.rows, tupleize_cols=False)
        return pd.DataFrame(self.counts, rows, pd.Index(self.columns, tupleize_cols=False))

    def to_json(self) -> str:
        """Serialize the table to JSON without loss.

        Labels may be strings, numbers, booleans, dates, timestamps, durations, periods, and tuples
        of these.
        """
        rows = [_to_plain(label, "rows") for label in self.rows.tolist()]
        columns = [_to_plain(label, "columns") for label in self.columns.tolist()]
        content = {"format": _FORMAT, "version": 1, "rows": rows, "columns": columns}
        return json.dumps(content | {"counts": self.counts.tolist()})

    @classmethod
    def from_json(cls, text: str) -> "JointTable":
        """Read a table from the JSON text that `to_json` returns."""
        try:
            content = json.loads(text)
        except (TypeError, ValueError) as error:
            raise ValueError(f"text is not valid JSON: {error}") from error
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError("text is not a joint table written by JointTable.to_json")
        if content.get("version") != 1:
            raise ValueError(
                f"text has version {content.get('version')!r} of the format, but this version of "
                "renyi_lib supports only version 1: upgrade renyi_lib"
            )
        try:
            counts, rows, columns = content["counts"], content["rows"], content["columns"]
        except KeyError as error:
            raise ValueError(f"text lacks {error}, so part of the table is missing") from error
        return cls(counts, *([_from_plain(label) for label in axis] for axis in (rows, columns)))

    def save(self, path: str | Path) -> None:
        """Write the table to a JSON file, replacing an existing file atomically."""
        path = Path(path)
        # Write a second file and rename it, so that a crash leaves the old file intact.
        beside = path.with_name(path.name + ".part")
        beside.write_text(self.to_json(), encoding="utf-8")
        beside.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> "JointTable":
        """Read a table from a file written by `save`."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def __add__(self, other: "JointTable") -> "JointTable":
        if not isinstance(other, JointTable):
            return NotImplemented
        rows, into_rows = merged_levels(self.rows, other.rows, "rows")
        columns, into_columns = merged_levels(self.columns, other.columns, "columns")
        kind = np.result_type(self.counts, other.counts)
        counts = np.zeros((len(rows), len(columns)), dtype=kind)
        for table, i, j in zip((self, other), into_rows, into_columns):
            counts[np.ix_(i, j)] += table.counts
        return JointTable(counts, rows, columns)

    def __radd__(self, other):
        # sum(tables) starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointTable):
            return NotImplemented
        pairs = zip(self, other)
        return all(len(x) == len(y) and x.tolist() == y.tolist() for x, y in pairs)

    __hash__ = None  # type: ignore[assignment]
    # Adding a plain array is an error, because an array has no levels.
    __array_ufunc__ = None

    def __iter__(self) -> Iterator[np.ndarray]:
        # Allows ``counts, rows, columns = joint_table(a, b)``.
        return iter((self.counts, self.rows, self.columns))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.counts, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        c, d = self.counts.shape
        return f"<JointTable: {self.counts.sum():g} samples, {c} x {d} levels>\n{self.to_frame()}"

    def _repr_html_(self) -> str:
        return self.to_frame().to_html()


def joint_table(a: Any, b: Any, *, sample_weight: ArrayLike | None = None) -> JointTable:
    """Count how often each pair of values occurs.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (n, k)
        Labels of any type; several columns are combined into one variable. Polars and Arrow
        columns are accepted.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    JointTable
        Table with ``counts`` of shape (c, d), integers or, with weights, floats; ``rows`` and
        ``columns`` are the values of `a` and of `b` with a positive count or weight, in sorted
        order (a categorical keeps its own order). Tables of several chunks can be added.

    See Also
    --------
    renyi_lib.correlation.renyi_from_joint : Compute the Rényi correlation of a table.
    renyi_test : Test independence.

    Examples
    --------
    >>> from renyi_lib.tables import joint_table
    >>> table = joint_table(["x", "y", "x"], [3, 3, 5])
    >>> table.counts
    array([[1, 1],
           [1, 0]])
    >>> table.rows, table.columns
    (array(['x', 'y'], dtype=object), array([3, 5]))
    >>> (table + joint_table(["z"], [4])).to_frame()
       3  4  5
    x  1  0  1
    y  1  0  0
    z  0  1  0
    """
    counts, (a_values, b_values) = count_labels({"a": a, "b": b}, sample_weight)
    counts, rows, columns = drop_empty(counts)
    return JointTable(counts, a_values[rows], b_values[columns])


def _checked_counts(counts, shape):
    """Validate counts, and return them as integers or floats."""
    try:
        counts = np.asarray(counts)
        counts = counts if counts.dtype.kind in "iu" else counts.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"counts must be a table of numbers: {error}") from error
    if counts.size == 0 and 0 in shape:
        return np.zeros(shape, dtype=np.intp)
    if counts.shape != shape:
        raise ValueError(
            f"counts must have a row for each of the {shape[0]} rows and a column for each of the "
            f"{shape[1]} columns, but it has shape {counts.shape}"
        )
    if not np.isfinite(counts).all() or counts.min() < 0:
        raise ValueError("counts must be finite numbers, 0 or more, without missing values")
    return counts


def _to_plain(label, name):
    """Convert a label to JSON, with a tuple as a list and a date or duration as a dictionary."""
    if isinstance(label, tuple):
        return [_to_plain(part, name) for part in label]
    for kind, (cls, write, _) in _TIMES.items():
        if isinstance(label, cls):
            return {kind: write(label)}
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, str | int | float):
        raise ValueError(
            f"{name} has the label {label!r}, which cannot be written to JSON: convert the labels "
            "to strings, numbers, booleans or dates before counting"
        )
    return label


# Types of dates and durations, with the functions that write them to JSON and that read them.
# Timestamps are dates, too, so they come first.
_TIMES = {
    "timestamp": (datetime.datetime, lambda time: time.isoformat(), pd.Timestamp),
    "date": (datetime.date, lambda date: date.isoformat(), datetime.date.fromisoformat),
    "timedelta": (
        datetime.timedelta,
        lambda span: pd.Timedelta(span).isoformat(),
        pd.Timedelta,
    ),
    "period": (pd.Period, lambda period: [str(period), period.freqstr], lambda p: pd.Period(*p)),
}


def _from_plain(label):
    if isinstance(label, dict) and len(label) == 1:
        ((kind, text),) = label.items()
        return _TIMES[kind][2](text) if kind in _TIMES else label
    return tuple(map(_from_plain, label)) if isinstance(label, list) else label
