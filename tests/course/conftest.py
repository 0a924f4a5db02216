"""The course's tests run where nbgrader is: in .venv-course, as `make test` does."""

import importlib.util
import sys
from pathlib import Path

# nbgrader is not part of the book's environment, and without it these modules cannot be imported.
# Ignoring them here, rather than on the command line, holds for everyone who types pytest.
if importlib.util.find_spec("nbgrader") is None:
    collect_ignore_glob = ["test_*.py"]

# The grader is a program beside the assignments, not an installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "course"))


def pytest_configure(config):
    """Know the marker of pytest-xdist where that is not installed, too."""
    config.addinivalue_line("markers", "xdist_group(name): run in the same process")
