"""Carry grades into the gradebooks of Canvas and Moodle.

`python -m grader.lms canvas gradebook.csv grades/grades.csv "A1 (4711)=a1_dependence" -o up.csv`
`python -m grader.lms moodle worksheet.csv grades/grades.csv a1_dependence -o up.csv`

Both fill the file as it was downloaded: columns and rows stay, only grades are entered. Whoever
cannot be matched is named, and no grade that stands there is overwritten by nothing.
"""

import argparse
import csv
import io
import re
import sys
import unicodedata
from pathlib import Path

from .late import rows, table

CANVAS = ("SIS Login ID", "SIS User ID", "ID", "Student")
MOODLE = ("Identifier", "Email address", "ID number", "Full name")


def plain(text):
    """Return a name as it can be compared: no case, no accents, letters and digits only."""
    text = unicodedata.normalize("NFKD", str(text)).casefold()
    return re.sub(r"[^a-z0-9]", "", text)


def keys(student):
    """Return all that the name of a student's folder may be known by, the surest first.

    Moodle's folders end in a participant's number, Canvas's files carry a user's.
    """
    found = [plain(student)]
    moodle = re.fullmatch(r"(.+?)_(\d+)_assignsubmission_\w+_?", student)
    canvas = re.fullmatch(r"([^_]+)_(\d+)", student)
    if moodle:
        found = [f"participant{moodle[2]}", plain(moodle[1])]
    elif canvas:
        found = [canvas[2], plain(canvas[1])]
    return found


def grades(path, assignment):
    """Return {student: points} of one assignment from `grades.csv`."""
    lines = rows(path, ("student", "assignment", "final"))
    return {
        line["student"].removeprefix("'"): line["final"]
        for line in lines
        if line["assignment"] == assignment
    }


def enter(header, lines, column, known_by, points):
    """Write points into a column of a gradebook's rows; return the students without a row.

    A student is matched by the first of the columns `known_by` in which exactly one row agrees.
    """
    place = header.index(column)
    lost = []
    for student, value in points.items():
        for name in (n for n in known_by if n in header):
            at = header.index(name)
            own = [line for line in lines if len(line) > at and plain(line[at]) in keys(student)]
            if len(own) == 1:
                own[0] += [""] * (place + 1 - len(own[0]))
                own[0][place] = value
                break
        else:
            lost.append(student)
    return lost


def written(header, lines):
    """Return a gradebook as text, with the BOM that Excel and Moodle expect."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *lines])
    return "\ufeff" + text.getvalue()


def canvas(data, grades_path, columns):
    """Return (text, lost) of Canvas's gradebook; `columns` maps its titles to assignments."""
    header, lines = table(data)
    lost = []
    for title, assignment in columns.items():
        if title not in header:
            raise ValueError(f"no column {title!r}; Canvas has {', '.join(header[5:]) or 'none'}")
        people = [line for line in lines if "points possible" not in line[0].casefold()]
        found = grades(grades_path, assignment)
        lost += enter(header, people, title, CANVAS, found)
    return written(header, lines), lost


def moodle(data, grades_path, assignment):
    """Return (text, lost) of Moodle's grading worksheet with grades."""
    header, lines = table(data)
    if "Grade" not in header:
        raise ValueError("no column 'Grade': download the grading worksheet of the assignment")
    lost = enter(header, lines, "Grade", MOODLE, grades(grades_path, assignment))
    return written(header, lines), lost


def main():
    """Read the command line, fill a gradebook, and name whoever has no row in it."""
    parser = argparse.ArgumentParser(prog="grader.lms", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("canvas", "moodle"))
    parser.add_argument("gradebook", type=Path, help="as it was downloaded")
    parser.add_argument("grades", type=Path, help="grades.csv")
    parser.add_argument("assignments", nargs="+", help="Canvas: 'column title=assignment'")
    parser.add_argument("-o", "--out", type=Path, required=True)
    chosen = parser.parse_args()
    data = chosen.gradebook.read_bytes()
    try:
        if chosen.kind == "canvas":
            columns = dict(pair.rsplit("=", 1) for pair in chosen.assignments)
            text, lost = canvas(data, chosen.grades, columns)
        else:
            text, lost = moodle(data, chosen.grades, chosen.assignments[0])
    except ValueError as problem:
        sys.exit(f"{chosen.gradebook}: {problem}")
    chosen.out.write_text(text, encoding="utf-8", newline="")
    for student in lost:
        print(f"no row, or more than one, for {student}")
    print(f"{chosen.out} is ready to be uploaded")


if __name__ == "__main__":
    main()
