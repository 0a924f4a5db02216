"""Variants of questions and data for each student, from a seed known only to the instructor.

A source with variants has a given cell called `variant` that contains ``VARIANT = 0``, and samples
its data with that number as the seed. Cells can also have other forms, which ask a different
question (see `question`). `python -m grader.variants names.txt OUT`, with the seed in COURSE_SEED,
writes one release for each student with an individual number, which `make grade SEED=…` restores.
"""

import hashlib
import math
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat

from . import SOURCE, assignments

CELL = "variant"
LINE = re.compile(r"^VARIANT = \d+$", re.MULTILINE)


def number(seed, student):
    """Return the variant of a student; without a seed it is 0, the variant of the release."""
    if not seed:
        return 0
    digest = hashlib.sha256(f"{seed}\n{student}".encode("utf-8", "backslashreplace")).digest()
    return 1 + int.from_bytes(digest[:4], "big") % 999_999


def question(nb, variant):
    """Return a source with the questions of one variant.

    A cell of the source may have other forms in its metadata: `{"course": {"forms": [[[old, new],
    ...], ...]}}`, one list of replacements for each further form. Variant v has form v modulo the
    number of forms; form 0 is the source as it stands.
    """
    for cell in nb.cells:
        forms = cell.metadata.get("course", {}).get("forms", [])
        form = variant % (len(forms) + 1)
        for old, new in forms[form - 1] if form else []:
            if old not in cell.source:
                raise ValueError(f"the cell {cell.id} has no {old!r} to replace")
            cell.source = cell.source.replace(old, new)
    return nb


def forms(nb):
    """Return the number of variants after which the questions of a source repeat."""
    return math.lcm(*(1 + len(c.metadata.get("course", {}).get("forms", [])) for c in nb.cells))


def put(source, variant):
    """Return a cell's text with the number of the variant."""
    return LINE.sub(f"VARIANT = {variant}", source)


def write(seed, students, out, source=SOURCE):
    """Write `out/<student>/<id>.ipynb` for each student and each assignment."""
    from .build import generate

    written = []
    for assignment in assignments(source):
        path = Path(source) / assignment / f"{assignment}.ipynb"
        period, releases = forms(nbformat.read(path, as_version=4)), {}
        for student in students:
            variant = number(seed, student)
            # Releases that differ only in their number are built once.
            form = variant % period
            if form not in releases:
                with tempfile.TemporaryDirectory(prefix="course-") as root:
                    release = generate(assignment, root, source, variant)
                    releases[form] = variant, release.read_text("utf-8")
            built, text = releases[form]
            path = Path(out) / student / f"{assignment}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            own = text.replace(f'"VARIANT = {built}"', f'"VARIANT = {variant}"')
            path.write_text(own, encoding="utf-8")
            written.append(path)
    return written


def main():
    """Read the command line and write the students' copies."""
    seed = os.environ.get("COURSE_SEED", "")
    if len(sys.argv) != 3 or not seed:
        sys.exit("usage: COURSE_SEED=… python -m grader.variants NAMES OUT, with a name per line")
    names, out = sys.argv[1:]
    students = [s.strip() for s in Path(names).read_text("utf-8-sig").splitlines() if s.strip()]
    written = write(seed, students, out)
    print(f"{len(written)} notebooks for {len(students)} students are in {out}")


if __name__ == "__main__":
    main()
