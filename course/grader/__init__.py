"""Build the student versions of the assignments, and grade what comes back.

`build` makes `course/release/` from `course/source/` with nbgrader. `grade` grades a folder of
submissions: `collect` finds them, `notebooks` reads and mends them, `execute` runs each in a
process of its own (`student`, behind the guards of `sandbox`) and talks to it (`wire`), `judge`
runs the tests where no submission can reach, `submission` puts these together, `report` writes
what came of it. `late`, `lms`, `variants` and `box` are for an instructor's day; `zoo` grades the
grader.
"""

from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
SOURCE = COURSE / "source"
RELEASE = COURSE / "release"
ZOO = COURSE / "zoo"
# What a submission may import beside the environment's packages, and so read.
PACKAGES = [COURSE.parent / "renyi_lib"]


def assignments(source=SOURCE):
    """Return the ids of all assignments in the folder `source`, in their order."""
    return sorted(path.parent.name for path in Path(source).glob("*/*.ipynb"))
