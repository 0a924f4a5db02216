"""Write grades: a CSV of all, one page of feedback a student, and a sheet for manual marks.

The sheet `manual.csv` lists every answer that a person has to mark. Fill in its `points` column
(and a comment, if you like) and run `make grade` again: filled marks are kept and counted.

Everything is written to a temporary file that then takes the place of the old one, after each
single result: whoever interrupts the grader finds all that was finished, and never half a file.
"""

import csv
import html
import io
import json
import os
import re
from pathlib import Path

from .collect import file_name
from .late import Lateness, table
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
MANUAL = ["student", "assignment", "criterion", "max", "points", "comment"]
FINISHED = ".finished"

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Feedback for {student}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; vertical-align: top; padding: .4rem .6rem;
  border-bottom: 1px solid #ccc; }}
td.points {{ white-space: nowrap; }}
td p, li {{ white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .5rem; }}
.lost {{ border-left: .4rem solid #d55e00; }} .full {{ border-left: .4rem solid #009e73; }}
.wait {{ border-left: .4rem solid #0072b2; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #eee; background: #181818; }} }}
</style></head><body>
<h1>Feedback for {student}</h1>
{body}
</body></html>
"""


def clean(text):
    """Return `text` without what a terminal or a spreadsheet would act on."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", text)
    text = text.encode("utf-8", "backslashreplace").decode()
    return "'" + text if text.lstrip()[:1] in ("=", "+", "-", "@") else text


def put(path, text):
    """Write a file whole or not at all."""
    path = Path(path)
    temporary = path.with_name(path.name + ".part")
    with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def as_csv(lines):
    """Return rows as the text of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue()


def problems(result):
    """Return all that went wrong, one string each, the lost marks first."""
    lost = [
        f"{mark.name} ({mark.points:g}/{mark.worth:g}): {mark.message or 'no answer'}"
        for mark in result.marks
        if mark.points is not None and mark.points < mark.worth
    ]
    return lost + result.notes


def row(result, lateness):
    """Return the line of `grades.csv` for one result."""
    status = result.status
    if status == "graded" and result.awaiting:
        status = "graded, awaiting the instructor"
    final = result.score * (1 - lateness.penalty / 100)
    values = (result.score, result.max_points, result.awaiting)
    charged = (lateness.days, lateness.penalty, round(final, 2))
    wrong = " | ".join(problems(result))
    return [
        clean(result.student),
        clean(result.assignment),
        *(f"{value:g}" for value in (*values, *charged)),
        status,
        clean(wrong[:5000]),
    ]


def section(result, lateness):
    """Return one assignment's part of a feedback page."""
    lines = []
    for mark in result.marks:
        state = "wait" if mark.points is None else "full" if mark.points >= mark.worth else "lost"
        shown = {"wait": "to be marked", "full": "right", "lost": mark.message or "no answer"}
        earned = "–" if mark.points is None else f"{mark.points:g}"
        told = state == "full" and mark.message
        comment = f"<p>{html.escape(mark.message)}</p>" if told else ""
        answer = f"<p>{html.escape(mark.answer)}</p>" if mark.answer else ""
        lines.append(
            f'<tr class="{state}"><td><code>{html.escape(mark.name)}</code></td>'
            f'<td class="points">{earned} of {mark.worth:g}</td>'
            f"<td><p>{html.escape(shown[state])}</p>{comment}{answer}</td></tr>"
        )
    rows = f"<table><tr><th>part</th><th>points</th><th></th></tr>{''.join(lines)}</table>"
    notes = "".join(f"<li>{html.escape(note[:1500])}</li>" for note in result.notes)
    awaiting = f", {result.awaiting:g} more to be marked by hand" if result.awaiting else ""
    days = f"{lateness.days} late, {lateness.free} of them free"
    late = f" Days {days}: {lateness.penalty:g} % off." if lateness.days else ""
    return (
        f"<h2>{html.escape(result.assignment)}: {result.score:g} of {result.max_points:g} points"
        f"{awaiting}</h2><p>Status: {html.escape(result.status)}.{late}</p>"
        + (rows if lines else "")
        + (f"<h3>What else was noticed</h3><ul>{notes}</ul>" if notes else "")
    )


class Sheet:
    """The instructor's marks: `manual.csv`, read as spreadsheets leave it.

    A row that cannot be used is named in `problems`, stays in the file as it is, and costs no
    other row anything.
    """

    def __init__(self, path):
        self.path, self.problems = Path(path), []
        self.given, self.odd = {}, []
        if not self.path.exists():
            return
        header, lines = table(self.path.read_bytes())
        lost = [name for name in (*MANUAL[:3], "points") if name not in header]
        if lost:
            self.odd = [header, *lines]
            self.problems.append(f"{self.path}: no column {', '.join(lost)}; no marks were read")
            return
        for number, line in enumerate(lines, 2):
            if line == header:
                continue
            if len(line) <= max(header.index(name) for name in (*MANUAL[:3], "points")):
                self.odd.append(line)
                self.problems.append(f"{self.path}, line {number}: too short, not counted: {line}")
                continue
            found = dict(zip(header, line))
            self.given[tuple(found[name] for name in MANUAL[:3])] = number, found

    def enter(self, result):
        """Give a result's open marks the points that the sheet has for them; return its rows."""
        rows = []
        for mark in result.marks:
            if mark.points is not None:
                continue
            names = (clean(result.student), clean(result.assignment), mark.name)
            number, line = self.given.get(names, (0, {}))
            points, comment = line.get("points", ""), line.get("comment", "")
            rows.append([*names, f"{mark.worth:g}", points, comment])
            if points.strip():
                try:
                    value = float(points.strip().replace(",", "."))
                except ValueError:
                    value = -1
                if 0 <= value <= mark.worth:
                    mark.points, mark.message = value, comment
                else:
                    where = f"{self.path}, line {number}"
                    what = f"{where}: {points!r} is no number from 0 to {mark.worth:g}"
                    if what not in self.problems:
                        self.problems.append(what)
        return rows

    def text(self, rows):
        """Return the sheet anew: what is due, and what in it belongs to other work."""
        due = {tuple(row[:3]) for row in rows}
        rest = [
            [line.get(name, "") for name in MANUAL]
            for names, (_, line) in self.given.items()
            if names not in due
        ]
        return as_csv([MANUAL, *rows, *rest, *self.odd])


class Report:
    """What is graded so far, on disk at any time.

    Parameters
    ----------
    out : Path
    policy : late.Policy
    times : dict
        (student, assignment) to when it was handed in.
    """

    def __init__(self, out, policy, times):
        self.out, self.policy, self.times = Path(out), policy, times
        (self.out / "feedback").mkdir(parents=True, exist_ok=True)
        (self.out / FINISHED).mkdir(exist_ok=True)
        self.sheet = Sheet(self.out / "manual.csv")
        self.results = {}

    @property
    def problems(self):
        """What is amiss with the instructor's sheet, one line each."""
        return self.sheet.problems

    def _record(self, key):
        return self.out / FINISHED / f"{file_name(f'{key[0]}  {key[1]}')}.json"

    def keep(self, key, fingerprint):
        """Take over an earlier result if its fingerprint is this (None: any); say whether."""
        try:
            record = json.loads(self._record(key).read_text("utf-8"))
            if fingerprint not in (None, record["fingerprint"]):
                return False
            self.results[key] = Result.of(record["result"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return True

    def add(self, result, fingerprint):
        """Store a new result and bring all files up to date."""
        key = result.student, result.assignment
        self.results[key] = result
        put(self._record(key), json.dumps({"fingerprint": fingerprint, "result": result.data()}))
        self.write(result.student)

    def write(self, student=None):
        """Write `grades.csv`, `manual.csv` and the feedback pages (of one student, or of all)."""
        # Marks by hand are entered into copies: what is stored is what the tests gave.
        marked = [Result.of(self.results[key].data()) for key in sorted(self.results)]
        manual = [line for result in marked for line in self.sheet.enter(result)]
        if manual or self.sheet.given or self.sheet.odd:
            put(self.out / "manual.csv", self.sheet.text(manual))
        by_student = {}
        for result in marked:
            by_student.setdefault(result.student, []).append(result)
        lines = []
        for name, own in by_student.items():
            times = {r.assignment: self.times.get((name, r.assignment)) for r in own}
            late = self.policy.of(name, times)
            charges = [late.get(r.assignment, Lateness()) for r in own]
            lines += [row(result, charge) for result, charge in zip(own, charges)]
            if student in (None, name):
                body = "\n".join(map(section, own, charges))
                page = PAGE.format(student=html.escape(name), body=body)
                put(self.out / "feedback" / f"{file_name(name)}.html", page)
        put(self.out / "grades.csv", as_csv([COLUMNS, *lines]))
