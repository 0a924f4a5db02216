"""Write the grades, statistics of the tests, a marking sheet, and feedback for each submission.

The sheet `manual.csv` lists every answer that must be marked manually. Fill in its `points` column
(and a comment, if you like) and run `make grade` again, which keeps and counts these marks.

Every file is written to a temporary file that then replaces the old one, and every result has a
separate file. Therefore neither an interrupted run nor a full disk loses finished results.
"""

import csv
import errno
import hashlib
import io
import json
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path

from . import items
from .collect import file_name
from .late import Lateness, table
from .page import page
from .submission import Result

COLUMNS = [
    "student",
    "assignment",
    "score",
    "max",
    "awaiting_instructor",
    "late_days",
    "penalty_percent",
    "final",
    "status",
    "what_went_wrong",
]
MANUAL = ["student", "assignment", "criterion", "max", "points", "comment", "rubric", "answer"]
NEEDED = ("student", "assignment", "criterion", "points")
FINISHED = ".finished"
PROBLEMS = "problems.txt"
NOT_HANDED_IN = "not handed in"
PAUSE = 2  # minimum seconds between two updates of the tables
PART = 0.05  # maximum share of the time spent on updating them, however large the class

# A spreadsheet may split a cell at a different separator and interpret a piece that begins with
# one of these characters as a formula. Each such place is escaped by an additional apostrophe,
# also for the full-width signs of Japanese and Chinese keyboards.
BEFORE, SIGN = r"(^|[;|\t\r\n\u2028\u2029])([ \t]*)", r"(?=[=+\-@＝＋－＠])"
FORMULA = re.compile(f"{BEFORE}('*){SIGN}")
DISARMED = re.compile(f"{BEFORE}'('*){SIGN}")


class NoSpace(Exception):
    """Error raised if the disk is full."""


def clean(text):
    """Return `text` without characters on which a terminal or a spreadsheet would act."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)
    text = text.encode("utf-8", "backslashreplace").decode()
    return FORMULA.sub(r"\1\2'\3", text)


def named(text):
    """Restore the name that was passed to `clean`."""
    return DISARMED.sub(r"\1\2\3", text)


def put(path, text):
    """Write a file atomically."""
    path = Path(path)
    temporary = path.with_name(path.name[:40] + ".part")  # 165 bytes at most
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NoSpace(f"{path} could not be written ({problem.strerror})") from problem
        raise


def as_csv(lines):
    """Return rows as the text of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue()


def problems(result):
    """Return all problems, one string for each, lost marks first."""
    lost = [
        f"{mark.name} ({mark.points:g}/{mark.worth:g}): {mark.message or 'no answer'}"
        for mark in result.marks
        if mark.points is not None and mark.points < mark.worth
    ]
    return lost + result.notes


def row(result, lateness):
    """Return the line of `grades.csv` for one result."""
    status = result.status
    if result.awaiting:
        status = f"{status}, awaiting the instructor"
    charged = [lateness.days, lateness.penalty]
    if result.status == NOT_HANDED_IN:
        numbers = ["", f"{result.max_points:g}", "", "", "", ""]
    else:
        final = round(result.score * (1 - lateness.penalty / 100), 2)
        values = [result.score, result.max_points, result.awaiting, *charged, final]
        numbers = [f"{value:g}" for value in values]
    wrong = " | ".join(problems(result))
    return [
        clean(result.student),
        clean(result.assignment),
        *numbers,
        status,
        clean(wrong[:3000]),
    ]


class Sheet:
    """The instructor's marks in `manual.csv`, as saved by a spreadsheet program.

    A row that cannot be used is listed in `problems`, stays in the file unchanged, and does not
    affect other rows.
    """

    def __init__(self, path):
        self.path, self.broken, self.unread = Path(path), [], {}
        self.given, self.odd = {}, []
        if not self.path.exists():
            return
        header, lines = table(self.path.read_bytes())
        lost = [name for name in NEEDED if name not in header]
        if lost:
            self.odd = [header, *lines]
            self.broken.append(f"{self.path}: no column {', '.join(lost)}; no marks were read")
            return
        for number, line in enumerate(lines, 2):
            if line == header:
                continue
            if len(line) <= max(header.index(name) for name in NEEDED):
                self.odd.append(line)
                shown = ", ".join(line)[:200]
                self.broken.append(f"{self.path}, line {number}: too short, not counted: {shown}")
                continue
            found = dict(zip(header, line))
            self.given[tuple(found[name] for name in MANUAL[:3])] = number, found

    @property
    def problems(self):
        """Problems of the sheet, one line for each."""
        return [*self.broken, *self.unread.values()]

    def enter(self, result):
        """Enter the points of the sheet into a result's pending marks; return its rows."""
        rows = []
        for mark in result.marks:
            if mark.points is not None:
                continue
            names = (clean(result.student), clean(result.assignment), mark.name)
            number, found = self.given.get(names, (0, {}))
            points, comment = found.get("points", ""), found.get("comment", "")
            about = [clean(mark.rubric[:3000]), clean(mark.answer[:8000])]
            rows.append([*names, f"{mark.worth:g}", points, comment, *about])
            self.unread.pop(names, None)
            if points.strip():
                try:
                    value = float(points.strip().replace(",", "."))
                except ValueError:
                    value = -1
                if 0 <= value <= mark.worth:
                    mark.points, mark.message = value, comment[:4000]
                else:
                    where = f"{self.path}, line {number}, {', '.join(names)}"
                    what = f"{points[:100]!r} is not a number from 0 to {mark.worth:g}"
                    self.unread[names] = f"{where}: {what}"
        return rows

    def text(self, rows):
        """Return the updated sheet, with pending answers and rows that belong to other work."""
        due = {tuple(row[:3]) for row in rows}
        rest = [
            [found.get(name, "") for name in MANUAL]
            for names, (_, found) in self.given.items()
            if names not in due
        ]
        return as_csv([MANUAL, *rows, *rest, *self.odd])


class Report:
    """Results so far, which are always stored on disk.

    Parameters
    ----------
    out : Path
        Folder for the tables and pages.
    options : options.Options
        Tasks that count, and the penalty for late work.
    times : dict
        Time of submission, by (student, assignment).
    book : str
        Address of the book, for links.
    now : datetime or None
        Current time, for missing work.
    """

    def __init__(self, out, options, times, book="", now=None):
        self.out, self.options, self.times, self.book = Path(out), options, times, book
        self.now = now or datetime.now(UTC)
        (self.out / "feedback").mkdir(parents=True, exist_ok=True)
        (self.out / FINISHED).mkdir(exist_ok=True)
        self.sheet = Sheet(self.out / "manual.csv")
        self.results, self.unwritten, self.next_write = {}, {}, 0.0

    @property
    def problems(self):
        """Problems to fix before grades can be exported, one line for each."""
        return [*self.sheet.problems, *self.unwritten.values()]

    def _record(self, key):
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]
        return self.out / FINISHED / f"{name}.json"

    def keep(self, key, fingerprint):
        """Reuse an earlier result with this fingerprint (None: any); return whether it exists."""
        try:
            record = json.loads(self._record(key).read_text("utf-8"))
            if record["fingerprint"] is None or fingerprint not in (None, record["fingerprint"]):
                return False
            self.results[key] = Result.of(record["result"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return True

    def add(self, result, fingerprint):
        """Store a new result and update its files; one with fingerprint None is never reused."""
        key = result.student, result.assignment
        self.results[key] = result
        put(self._record(key), json.dumps({"fingerprint": fingerprint, "result": result.data()}))
        if time.monotonic() > self.next_write:
            self.write(result.student)
        else:
            self.page(result)

    def counted(self, result):
        """Return a copy of a result with the tasks that count, without manual marks."""
        found = Result.of(result.data())
        tasks = self.options.tasks.get(result.assignment)
        if tasks is not None:
            found.marks = [mark for mark in found.marks if mark.task in tasks]
            found.max_points -= sum(points for task, points in found.worths if task not in tasks)
        if found.status == NOT_HANDED_IN:
            due = self.options.policy.deadline(result.student, result.assignment)
            if due is not None and self.now > due:
                found.status = "not handed in by the due date"
        return found

    def charge(self, result):
        """Return the lateness of a result."""
        student = result.student
        times = {a: when for (whom, a), when in self.times.items() if whom == student}
        return self.options.policy.of(student, times).get(result.assignment, Lateness())

    def page(self, result):
        """Write the page of one result with manual marks; a problem is reported, not raised."""
        key = result.student, result.assignment
        found = self.counted(result)
        self.sheet.enter(found)
        folder = self.out / "feedback" / file_name(result.student)
        path = folder / f"{file_name(result.assignment)}.html"
        try:
            if found.status == NOT_HANDED_IN:
                path.unlink(missing_ok=True)
                return
            folder.mkdir(exist_ok=True)
            put(path, page(found, self.charge(result), self.book))
            self.unwritten.pop(key, None)
        except NoSpace:
            raise
        except Exception as problem:
            what = f"{type(problem).__name__}: {problem}"
            self.unwritten[key] = f"no feedback page for {key[0]}, {key[1]} ({what})"[:500]

    def rows(self):
        """Return the lines of `grades.csv` and `manual.csv`, and the results they are based on."""
        marked = [self.counted(self.results[key]) for key in sorted(self.results)]
        manual = [line for result in marked for line in self.sheet.enter(result)]
        by_student = {}
        for (whom, assignment), when in self.times.items():
            by_student.setdefault(whom, {})[assignment] = when
        charges = {
            whom: self.options.policy.of(whom, by_student.get(whom, {}))
            for whom in {result.student for result in marked}
        }
        lines = [row(r, charges[r.student].get(r.assignment, Lateness())) for r in marked]
        return lines, manual, marked

    def write(self, student=None):
        """Write all tables, and the feedback pages (of one student, or of all)."""
        start = time.monotonic()
        lines, manual, marked = self.rows()
        if manual or self.sheet.given or self.sheet.odd:
            put(self.out / "manual.csv", self.sheet.text(manual))
        put(self.out / "grades.csv", as_csv([COLUMNS, *lines]))
        put(
            self.out / "items.csv", as_csv([items.COLUMNS, *map(disarm, items.statistics(marked))])
        )
        for key, result in self.results.items():
            if student in (None, key[0]):
                self.page(result)
        if self.problems:
            put(self.out / PROBLEMS, "\n".join(self.problems) + "\n")
        else:
            (self.out / PROBLEMS).unlink(missing_ok=True)
        end = time.monotonic()
        self.next_write = end + max(PAUSE, (end - start) / PART)

    def preview(self, options):
        """Return the grades that other options would change, one line for each."""
        before = {tuple(line[:2]): line for line in self.rows()[0]}
        other = Report.__new__(Report)
        other.__dict__ = {**self.__dict__, "options": options}
        after = {tuple(line[:2]): line for line in other.rows()[0]}
        lines = []
        for key, old in before.items():
            new = after[key]
            shown = [
                f"{line[2] or '–'} of {line[3]}, final {line[7] or '–'}" for line in (old, new)
            ]
            if shown[0] != shown[1]:
                lines.append(f"{key[0]}, {key[1]}: {shown[0]} → {shown[1]}")
        return lines


def disarm(line):
    """Return a row with its texts cleaned."""
    return [clean(cell) if isinstance(cell, str) else cell for cell in line]


def absent(handin, worths):
    """Return the result of work that was not submitted."""
    notes = [handin.note] if handin.note else []
    most = sum(points for _, points in worths)
    return Result(handin.student, handin.assignment, NOT_HANDED_IN, [], notes, most, worths)
