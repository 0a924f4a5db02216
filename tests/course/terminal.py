"""Run a command of the grader in this process, as a terminal would see it."""

import contextlib
import io
import sys


def invoke(main, words, encoding="utf-8"):
    """Call a program's `main` with a command line; return (status, stdout, stderr)."""
    said = {name: io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for name in "oe"}
    before = sys.argv
    sys.argv = [main.__module__, *map(str, words)]
    try:
        with contextlib.redirect_stdout(said["o"]), contextlib.redirect_stderr(said["e"]):
            main()
        status = 0
    except SystemExit as problem:
        status = problem.code if isinstance(problem.code, int) else 1
        said["e"].write("" if isinstance(problem.code, int) else str(problem.code))
    finally:
        sys.argv = before
    return status, *(said[name].buffer.getvalue().decode() for name in "oe")
