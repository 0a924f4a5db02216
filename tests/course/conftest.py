"""The course's tests need nbgrader and therefore run in .venv-course, as in `make test-course`."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

# nbgrader is not part of the book's environment, and without it these modules cannot be imported.
# They are ignored here rather than on the command line, so that plain pytest works for everyone.
if importlib.util.find_spec("nbgrader") is None:
    collect_ignore_glob = ["test_*.py"]

# The grader is a program beside the assignments, not an installed package. The process from which
# the grading processes are forked finds it only through PYTHONPATH, which `make grade` sets, too.
# Otherwise each grading process would load everything again.
COURSE = str(Path(__file__).resolve().parents[2] / "course")
sys.path.insert(0, COURSE)
os.environ["PYTHONPATH"] = os.pathsep.join([COURSE, *filter(None, [os.environ.get("PYTHONPATH")])])

# Tests that share something slow, such as a class that is graded once or the reference of an
# assignment, run in the same process. The other tests are distributed one by one.
SHARED = re.compile(r"test_(?:hostile|grade|sandbox|wire)\.py|(?<=[\[-])a\d_\w+(?=\])")


def group(nodeid):
    """Return the name of the group of tests that run in the same process."""
    found = SHARED.search(nodeid)
    return found.group() if found else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep groups of tests together, by their names.

    pytest-xdist 3.8 does not see its own marker `xdist_group` under pytest 9.2, so each process
    would grade every class again.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group(nodeid)

    return Groups(config, log) if config.getvalue("dist") == "loadgroup" else None
