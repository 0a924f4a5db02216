"""Transfer grades to the gradebooks of Canvas and Moodle.

`python -m grader.lms canvas gradebook.csv grades/grades.csv "A1 (4711)=a1_dependence" -o up.csv`
`python -m grader.lms moodle worksheet.csv grades/grades.csv a1_dependence -o up.csv`

Both commands fill in the downloaded file. Columns and rows stay unchanged, only grades are
entered, and an existing grade is never replaced by an empty one. If marks are pending, manual
marks are unreadable, or a student cannot be matched, nothing is written, unless `--partial` is
given, which writes what is complete.
"""

import argparse
import csv
import io
import re
import sys
import unicodedata
from pathlib import Path

from .late import rows, table
from .report import PROBLEMS, named

CANVAS = ("SIS Login ID", "SIS User ID", "ID", "Student")
MOODLE = ("Identifier", "Email address", "ID number", "Full name")


def exact(text):
    """Return a name in a form that can be compared, for any script."""
    text = unicodedata.normalize("NFKC", str(text)).casefold()
    return "".join(letter for letter in text if letter.isalnum() or unicodedata.combining(letter))


def plain(text):
    """Return a name without accents, for systems that drop them."""
    text = unicodedata.normalize("NFKD", exact(text))
    return "".join(letter for letter in text if not unicodedata.combining(letter))


def keys(student):
    """Return all keys by which a student's folder may be identified, the most reliable first.

    Moodle's folders end in a participant number, and Canvas's files contain a user id.
    """
    found = [student]
    moodle = re.fullmatch(r"(.+?)_(\d+)_assignsubmission_\w+_?", student)
    canvas = re.fullmatch(r"([^_]+)_(\d+)", student)
    if moodle:
        found = [f"participant{moodle[2]}", moodle[1]]
    elif canvas:
        found = [canvas[2], canvas[1]]
    return found


def grades(path, assignment):
    """Return ({student: points}, incomplete entries) of one assignment from `grades.csv`."""
    needed = ("student", "assignment", "final", "awaiting_instructor", "status")
    found, waiting = {}, []
    for line in rows(path, needed):
        if line["assignment"] != assignment:
            continue
        student = named(line["student"])
        if line["awaiting_instructor"] not in ("", "0"):
            waiting.append(f"{student}: {line['awaiting_instructor']} points await marking")
        elif line["status"] == "the grader failed":
            waiting.append(f"{student}: the grader failed, grade it by hand")
        elif line["final"]:
            found[student] = line["final"]
    return found, waiting


def place(header, lines, student, known_by):
    """Return the only row that matches a student in a column of `known_by`; None without one."""
    for same in (exact, plain):
        wanted = {same(key) for key in keys(student)} - {""}
        for name in (n for n in known_by if n in header):
            at = header.index(name)
            own = [line for line in lines if len(line) > at and same(line[at]) in wanted]
            if len(own) == 1:
                return own[0]
    return None


def enter(header, lines, column, known_by, points):
    """Write points into a column of a gradebook's rows; return the students without a row.

    Two students who match the same row get no points.
    """
    at = header.index(column)
    found = {student: place(header, lines, student, known_by) for student in points}
    taken = [id(line) for line in found.values() if line is not None]
    lost = []
    for student, line in found.items():
        if line is None or taken.count(id(line)) > 1:
            lost.append(student)
            continue
        line += [""] * (at + 1 - len(line))
        line[at] = points[student]
    return lost


def written(header, lines):
    """Return a gradebook as text, with the BOM that Excel and Moodle expect."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *lines])
    return "\ufeff" + text.getvalue()


def canvas(data, grades_path, columns):
    """Return (text, problems) of Canvas's gradebook; `columns` maps its titles to assignments."""
    header, lines = table(data)
    problems = []
    for title, assignment in columns.items():
        if title not in header:
            raise ValueError(
                f"the gradebook has no column {title!r}: its assignments are "
                f"{', '.join(header[5:]) or 'none'}"
            )
        people = [line for line in lines if "points possible" not in line[0].casefold()]
        found, waiting = grades(grades_path, assignment)
        lost = enter(header, people, title, CANVAS, found)
        problems += waiting + [f"{student}: no row, or more than one" for student in lost]
    return written(header, lines), problems


def moodle(data, grades_path, assignment):
    """Return (text, problems) of Moodle's grading worksheet with grades."""
    header, lines = table(data)
    if "Grade" not in header:
        raise ValueError(
            "the file has no column 'Grade': download the grading worksheet of the assignment"
        )
    found, waiting = grades(grades_path, assignment)
    lost = enter(header, lines, "Grade", MOODLE, found)
    return written(header, lines), waiting + [f"{s}: no row, or more than one" for s in lost]


def main():
    """Read the command line and fill a gradebook, or report why it cannot be filled yet."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="grader.lms", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("canvas", "moodle"))
    parser.add_argument("gradebook", type=Path, help="gradebook as downloaded")
    parser.add_argument("grades", type=Path, help="grades.csv")
    parser.add_argument("assignments", nargs="+", help="Canvas: 'column title=assignment'")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--partial", action="store_true", help="write the complete grades")
    chosen = parser.parse_args()
    data = chosen.gradebook.read_bytes()
    try:
        if chosen.kind == "canvas":
            columns = dict(pair.rsplit("=", 1) for pair in chosen.assignments)
            text, problems = canvas(data, chosen.grades, columns)
        else:
            text, problems = moodle(data, chosen.grades, chosen.assignments[0])
    except ValueError as problem:
        sys.exit(f"{chosen.gradebook}: {problem}")
    unread = chosen.grades.with_name(PROBLEMS)
    if unread.exists():
        problems = unread.read_text("utf-8").splitlines() + problems
    print(*problems, sep="\n", end="\n" if problems else "")
    if problems and not chosen.partial:
        sys.exit(f"Nothing was written: {len(problems)} problems. --partial writes the rest.")
    chosen.out.write_text(text, encoding="utf-8", newline="")
    print(f"{chosen.out} is ready to be uploaded" + (", INCOMPLETE" if problems else ""))


if __name__ == "__main__":
    main()
