"""Build the student versions of the assignments, and grade submissions.

`build` makes `course/release/` from `course/source/` with nbgrader. `grade` grades a folder of
submissions: `collect` finds them, `notebooks` reads and repairs them, `execute` runs each of them
in a separate process (`student`, behind the guards of `sandbox` and inside the `box`) and
communicates with it (`wire`), `judge` runs the tests out of reach of the submission, `submission`
combines these steps, and `report` writes the results. `late`, `lms` and `variants` are further
tools for instructors, and `zoo` tests the grader.
"""

from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
SOURCE = COURSE / "source"
RELEASE = COURSE / "release"
ZOO = COURSE / "zoo"
# Packages that a submission may import, and therefore read, besides those of the environment.
PACKAGES = [COURSE.parent / "renyi_lib"]


def assignments(source=SOURCE):
    """Return the ids of all assignments in the folder `source`, in order."""
    return sorted(path.parent.name for path in Path(source).glob("*/*.ipynb"))
