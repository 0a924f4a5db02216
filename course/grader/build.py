"""Build the student versions from the sources (`make course`)."""

import difflib
import logging
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning

from . import RELEASE, SOURCE, assignments, chapters, variants

# nbgrader calls the command `alembic` by name, which is next to this Python.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


class Log(logging.Handler):
    """Handler that keeps the errors nbgrader logs, because its exceptions do not contain them."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.lines = []

    def emit(self, record):
        """Store the lines of one message."""
        self.lines += record.getMessage().strip().splitlines()


def convert(converter):
    """Run one of nbgrader's converters; raise a RuntimeError with its errors if it fails."""
    log = logging.Logger("nbgrader")
    kept = Log()
    log.addHandler(kept)
    converter.log = log
    try:
        with warnings.catch_warnings():
            # nbgrader 0.9.6 causes this harmless warning with SQLAlchemy 2.1.
            warnings.simplefilter("ignore", SAWarning)
            converter.start()
    except NbGraderException as problem:
        raise RuntimeError("\n".join(kept.lines)) from problem


def coursedir(root, assignment, student="*"):
    """Return nbgrader's configuration for the folder `root`."""
    course = CourseDirectory()
    course.root = str(root)
    course.db_url = f"sqlite:///{root}/gradebook.db"
    course.assignment_id, course.student_id = assignment, student
    return course


@cache
def empty_gradebook():
    """Return the bytes of an empty gradebook, which nbgrader creates in a separate process."""
    with tempfile.TemporaryDirectory(prefix="course-") as root:
        Gradebook(f"sqlite:///{root}/gradebook.db").close()
        return (Path(root) / "gradebook.db").read_bytes()


def generate(assignment, root, source=SOURCE, variant=0):
    """Have nbgrader write `root/release/...` and `root/gradebook.db`; return the release's path.

    Parameters
    ----------
    assignment : str
        Id of the assignment, which is the name of its folder in `source`.
    root : Path
        Empty folder to work in.
    source : Path
        Folder with the sources.
    variant : int
        Number of the variant of questions and data.
    """
    place = Path(root) / "source" / assignment
    shutil.copytree(Path(source) / assignment, place)
    path = place / f"{assignment}.ipynb"
    nb = variants.question(nbformat.read(path, as_version=4), variant)
    for cell in nb.cells:
        # Other forms of a question are only for the instructor.
        cell.metadata.pop("course", None)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == variants.CELL:
            cell.source = variants.put(cell.source, variant)
    nbformat.write(nb, path)
    (Path(root) / "gradebook.db").write_bytes(empty_gradebook())
    converter = GenerateAssignment(coursedir=coursedir(root, assignment))
    convert(converter)
    # The tests must not be next to the code that runs.
    shutil.rmtree(place)
    return Path(root) / "release" / assignment / f"{assignment}.ipynb"


@cache
def generated(assignment):
    """Return the release of an assignment as text, and the bytes of its gradebook."""
    with tempfile.TemporaryDirectory(prefix="course-") as root:
        text = generate(assignment, root).read_text(encoding="utf-8")
        return text, (Path(root) / "gradebook.db").read_bytes()


def autograde(assignment, submission, root):
    """Grade one notebook with plain nbgrader; return {graded cell: points}."""
    (Path(root) / "gradebook.db").write_bytes(generated(assignment)[1])
    handed_in = Path(root) / "submitted" / "student" / assignment / f"{assignment}.ipynb"
    handed_in.parent.mkdir(parents=True)
    nbformat.write(submission, handed_in)
    # Grading needs the source, which `generate` removes.
    place = Path(root) / "source" / assignment
    shutil.copytree(SOURCE / assignment, place)
    course = coursedir(root, assignment, "student")
    convert(Autograde(coursedir=course))
    with Gradebook(course.db_url) as book:
        found = book.find_submission_notebook(assignment, assignment, "student")
        return {grade.name: grade.auto_score for grade in found.grades}


def sources(text):
    """Return the notebook in `text` as lines that can be compared cell by cell."""
    nb = nbformat.reads(text, as_version=4)
    return [
        line
        for cell in nb.cells
        for line in (f"[{cell.cell_type} {cell.id}]", *cell.source.splitlines(), "")
    ]


def explain(assignment, old, new):
    """Describe how a release differs from the one that is built from its source."""
    if old is None:
        return (
            f"{assignment}: there was no release yet; it is now in course/release/{assignment}/."
        )
    diff = list(
        difflib.unified_diff(
            sources(old),
            sources(new),
            "the stored release",
            "the release from the source",
            n=1,
            lineterm="",
        )
    )
    what = "\n".join(diff[:60]) if diff else "(only metadata differ: points, ids or checksums)"
    return f"{assignment}: the release did not follow from its source. It does now.\n{what}"


def build(write=True, only=None):
    """Rebuild all releases, or `only` some; return one explanation for each that differed."""
    differences = []
    for assignment in assignments() if only is None else only:
        new, _ = generated(assignment)
        path = RELEASE / assignment / f"{assignment}.ipynb"
        old = path.read_text(encoding="utf-8") if path.exists() else None
        if old != new:
            differences.append(explain(assignment, old, new))
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(new, encoding="utf-8")
    return differences


def main():
    """Build all releases, and fail if any was outdated, so that this is noticed."""
    differences = build()
    if chapters.write():
        differences.append(
            "course/grader/chapters.json did not follow from the book. It does now."
        )
    for difference in differences:
        print(difference)
    if differences:
        sys.exit("course/release/ has been rewritten: look at it, and commit it with its source.")
    print(f"course/release/ is up to date: {', '.join(assignments())}")


if __name__ == "__main__":
    main()
