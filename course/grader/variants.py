"""A variant of the data for each student, by a seed that only the instructor knows.

A source that wants variants has a given cell called `variant` that says ``VARIANT = 0``, and draws
its data with that number. `python -m grader.variants SEED names.txt OUT` writes one release for
each student with a number of their own; `make grade SEED=…` puts the same number back.
"""

import hashlib
import re
import sys
from pathlib import Path

from . import RELEASE, assignments

CELL = "variant"
LINE = re.compile(r"^VARIANT = \d+$", re.MULTILINE)


def number(seed, student):
    """Return the variant of a student; 0, the one in the release, without a seed."""
    if not seed:
        return 0
    digest = hashlib.sha256(f"{seed}\n{student}".encode("utf-8", "backslashreplace")).digest()
    return 1 + int.from_bytes(digest[:4], "big") % 999_999


def put(source, variant):
    """Return a cell's text with the variant in it."""
    return LINE.sub(f"VARIANT = {variant}", source)


def write(seed, students, out, release=RELEASE):
    """Write `out/<student>/<id>.ipynb` for each student and each assignment with variants."""
    written = []
    for assignment in assignments(release):
        text = (Path(release) / assignment / f"{assignment}.ipynb").read_text("utf-8")
        if '"VARIANT = 0"' not in text:
            continue
        for student in students:
            own = text.replace('"VARIANT = 0"', f'"VARIANT = {number(seed, student)}"')
            path = Path(out) / student / f"{assignment}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(own, encoding="utf-8")
            written.append(path)
    return written


def main():
    """Read the command line and write the students' copies."""
    if len(sys.argv) != 4:
        sys.exit("usage: python -m grader.variants SEED names.txt OUT (one name a line)")
    seed, names, out = sys.argv[1:]
    students = [s.strip() for s in Path(names).read_text("utf-8-sig").splitlines() if s.strip()]
    written = write(seed, students, out)
    print(f"{len(written)} notebooks for {len(students)} students are in {out}")


if __name__ == "__main__":
    main()
