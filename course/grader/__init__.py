"""Build the student versions of the assignments, and grade what comes back.

`build` makes `course/release/` from `course/source/` with nbgrader; `grade` grades a folder of
submissions; `sandbox`, `kernel` and `execute` keep a submission from doing harm while it runs;
`report` writes the CSV and the feedback pages; `zoo` grades the grader.
"""

from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
SOURCE = COURSE / "source"
RELEASE = COURSE / "release"
ZOO = COURSE / "zoo"
LIBRARY = COURSE.parent / "renyi_lib"


def assignments(source=SOURCE):
    """Return the ids of all assignments in the folder `source`, in their order."""
    return sorted(path.parent.name for path in Path(source).glob("*/*.ipynb"))
