"""Write grades: a CSV of all, one page of feedback a student, and a sheet for manual marks.

The sheet `manual.csv` lists every answer that a person has to mark. Fill in its `points` column
(and a comment, if you like) and run `make grade` again: filled marks are kept and counted.
"""

import csv
import html
import itertools
import re
from pathlib import Path

COLUMNS = [
    "student",
    "assignment",
    "score",
    "max",
    "awaiting_instructor",
    "status",
    "what_went_wrong",
]
MANUAL = ["student", "assignment", "criterion", "max", "points", "comment"]

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
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def problems(result):
    """Return all that went wrong, one string each, the lost marks first."""
    lost = [
        f"{mark.name} ({mark.points:g}/{mark.worth:g}): {mark.message or 'no answer'}"
        for mark in result.marks
        if mark.points is not None and mark.points < mark.worth
    ]
    return lost + result.notes


def row(result):
    """Return the line of `grades.csv` for one result."""
    status = result.status
    if status == "graded" and result.awaiting:
        status = "graded, awaiting the instructor"
    values = (result.score, result.max_points, result.awaiting)
    wrong = " | ".join(problems(result))
    return [
        clean(result.student),
        clean(result.assignment),
        *(f"{value:g}" for value in values),
        status,
        clean(wrong[:5000]),
    ]


def table(result):
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
    return (
        f"<h2>{html.escape(result.assignment)}: {result.score:g} of {result.max_points:g} points"
        f"{awaiting}</h2><p>Status: {html.escape(result.status)}.</p>"
        + (rows if lines else "")
        + (f"<h3>What else was noticed</h3><ul>{notes}</ul>" if notes else "")
    )


def manual_marks(results, path):
    """Enter the instructor's marks from the sheet at `path`; write it anew with what is due."""
    given = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                given[line["student"], line["assignment"], line["criterion"]] = line
    rows = []
    for result in results:
        for mark in result.marks:
            if mark.points is not None:
                continue
            names = (clean(result.student), result.assignment, mark.name)
            line = given.pop(names, {"points": "", "comment": ""})
            rows.append([*names, f"{mark.worth:g}", line["points"], line["comment"]])
            if line["points"].strip():
                try:
                    mark.points = float(line["points"])
                except ValueError:
                    mark.points = -1
                if not 0 <= mark.points <= mark.worth:
                    raise SystemExit(
                        f"{path}: {line['points']!r} points for {names}; they must be a number "
                        f"from 0 to {mark.worth:g}"
                    )
                mark.message = line["comment"]
    # Marks for work not graded this time stay in the sheet.
    rows += [[line[column] for column in MANUAL] for line in given.values()]
    if rows:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([MANUAL, *rows])


def write(results, out):
    """Write `grades.csv`, `manual.csv` and `feedback/<student>.html` into the folder `out`."""
    out = Path(out)
    (out / "feedback").mkdir(parents=True, exist_ok=True)
    manual_marks(results, out / "manual.csv")
    with (out / "grades.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *map(row, results)])
    for student, own in itertools.groupby(results, key=lambda result: result.student):
        page = PAGE.format(student=html.escape(student), body="\n".join(map(table, own)))
        (out / "feedback" / f"{student}.html").write_text(page, encoding="utf-8")
