"""Late days, of which some are free and the others cost points."""

import csv
import io
import math
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path


def moment(text):
    """Return a time in UTC from ISO text; without an offset it is taken as UTC."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a time: write it like 2026-03-01T23:59Z") from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def handed_in(path):
    """Return when a file was last changed, or None if it is missing or its time is invalid."""
    try:
        return datetime.fromtimestamp(os.lstat(path).st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None


def days_late(due, submitted):
    """Return the number of days, including part of a day, after the deadline."""
    return max(0, math.ceil((submitted - due).total_seconds() / 86_400))


@dataclass(frozen=True)
class Lateness:
    """Number of days late, how many of them were free, and the percentage of the score lost."""

    days: int = 0
    free: int = 0
    penalty: float = 0.0


@dataclass(frozen=True)
class Policy:
    """Due dates, and the penalty for late work.

    Parameters
    ----------
    due : dict
        Assignment to time, and (student, assignment) to time for extensions.
    submitted : dict
        (student, assignment) to time, if the time of the file is not correct.
    budget : int
        Free late days of each student for all assignments, used in the order of the deadlines.
    penalty : float
        Percentage of the score that each further day costs.
    """

    due: dict = field(default_factory=dict)
    submitted: dict = field(default_factory=dict)
    budget: int = 0
    penalty: float = 10.0

    @classmethod
    def read(cls, due, submitted, budget, penalty):
        """Return the policy in two CSV files, either of which may be None.

        The file of due dates may have a column `student`; a row with a name in it is an extension.
        """
        times = {}
        for row in rows(due, ("assignment", "due")):
            whom = row.get("student", "").strip()
            times[(whom, row["assignment"]) if whom else row["assignment"]] = moment(row["due"])
        names = ("student", "assignment", "submitted")
        known = {
            (row["student"], row["assignment"]): moment(row["submitted"])
            for row in rows(submitted, names)
        }
        return cls(times, known, budget, penalty)

    def deadline(self, student, assignment):
        """Return when a student's work is due, or None if no date is known."""
        return self.due.get((student, assignment), self.due.get(assignment))

    def of(self, student, times):
        """Return {assignment: Lateness} for one student.

        `times` says when each assignment was handed in, None for never.
        """
        left, found = self.budget, {}
        names = {key if isinstance(key, str) else key[1] for key in self.due}
        dates = {name: self.deadline(student, name) for name in names}
        dated = {name: due for name, due in dates.items() if due}
        for assignment, due in sorted(dated.items(), key=lambda item: (item[1], item[0])):
            when = self.submitted.get((student, assignment), times.get(assignment))
            days = days_late(due, when) if when else 0
            free = min(days, left)
            left -= free
            found[assignment] = Lateness(days, free, min(100.0, self.penalty * (days - free)))
        return found

    def data(self):
        """Return the policy as plain data, for JSON."""
        due = [[key, time.isoformat()] for key, time in self.due.items()]
        known = [[list(key), time.isoformat()] for key, time in self.submitted.items()]
        keyed = [[key if isinstance(key, str) else list(key), time] for key, time in due]
        return {
            "due": sorted(keyed, key=repr),
            "submitted": sorted(known),
            "budget": self.budget,
            "penalty": self.penalty,
        }

    @classmethod
    def of_data(cls, data):
        """Restore the policy from the result of `data`."""
        due = {k if isinstance(k, str) else tuple(k): moment(v) for k, v in data["due"]}
        known = {tuple(key): moment(value) for key, value in data["submitted"]}
        return cls(due, known, data["budget"], data["penalty"])


def table(data):
    """Return the header and the rows of a CSV file written by a spreadsheet program.

    A BOM, semicolons or tabs instead of commas, and old Windows encodings are supported.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    # Comments may have any length, but Python's reader stops at 128 kB by default.
    csv.field_size_limit(1 << 26)
    first = text.split("\n", 1)[0]
    mark = max(",;\t", key=first.count)
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if line]
    return (lines[0], lines[1:]) if lines else ([], [])


def rows(path, needed):
    """Return the rows of a CSV file as dictionaries; raise an error for a missing column."""
    if path is None:
        return []
    header, lines = table(Path(path).read_bytes())
    for name in needed:
        if name not in header:
            raise ValueError(
                f"{path} has no column {name!r}: its columns are {', '.join(header) or 'none'}"
            )
    for number, line in enumerate(lines, 2):
        if len(line) < len(header):
            raise ValueError(
                f"{path}, line {number} has {len(line)} cells, but the header has {len(header)}"
            )
    return [dict(zip(header, line)) for line in lines]
