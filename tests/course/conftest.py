"""The course's tests run where nbgrader is: in .venv-course, as `make test` does."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

# nbgrader is not part of the book's environment, and without it these modules cannot be imported.
# Ignoring them here, rather than on the command line, holds for everyone who types pytest.
if importlib.util.find_spec("nbgrader") is None:
    collect_ignore_glob = ["test_*.py"]

# The grader is a program beside the assignments, not an installed package. The process of which
# its grading processes are copies looks for it in the environment alone, as `make grade` has it:
# without it each of them would load everything anew.
COURSE = str(Path(__file__).resolve().parents[2] / "course")
sys.path.insert(0, COURSE)
os.environ["PYTHONPATH"] = os.pathsep.join([COURSE, *filter(None, [os.environ.get("PYTHONPATH")])])

# Tests that share something slow run in the same process: those of a class that is graded once,
# those of one assignment. The others are dealt out one by one.
SHARED = re.compile(r"test_(?:hostile|grade|sandbox|wire)\.py|(?<=[\[-])a\d_\w+(?=\])")


def group(nodeid):
    """Return the name of the group of tests that run in the same process."""
    found = SHARED.search(nodeid)
    return found.group() if found else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep groups of tests together, by their names.

    pytest-xdist 3.8 does not see its own marker `xdist_group` under pytest 9.2: each process
    would grade every class anew.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group(nodeid)

    return Groups(config, log) if config.getvalue("dist") == "loadgroup" else None
