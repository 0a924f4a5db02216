"""Grade inside bubblewrap: another wall around the whole grader, if it is installed.

With `make grade BOX=bwrap …` the grader starts itself anew inside. It then sees the file system
read-only, its own /tmp, no network and no other processes; OUT is all that it can write to.
"""

import os
import shutil
import sys
from pathlib import Path

# What root needs to give each submission a user of its own, and to end it.
RIGHTS = ("SETUID", "SETGID", "CHOWN", "FOWNER", "DAC_OVERRIDE", "DAC_READ_SEARCH", "KILL")


def command(submissions, out, inner):
    """Return the command line that runs `inner` in bubblewrap with `out` writable."""
    submissions, out = str(Path(submissions).resolve()), str(Path(out).resolve())
    walls = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    walls += ["--die-with-parent", "--new-session"]
    rights = RIGHTS if os.getuid() == 0 else ()
    walls += [word for right in rights for word in ("--cap-add", f"CAP_{right}")]
    files = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    # Named once more, because either may lie in the /tmp that is covered above.
    own = ["--ro-bind", submissions, submissions, "--bind", out, out]
    return ["bwrap", *walls, *files, *own, *inner]


def enter(submissions, out, arguments):
    """Become the same command inside bubblewrap, or say what is missing."""
    if not shutil.which("bwrap"):
        sys.exit(
            "bubblewrap is not installed: its package is called bubblewrap, its command bwrap"
        )
    Path(out).mkdir(parents=True, exist_ok=True)
    inner = [sys.executable, "-m", "grader.grade", *arguments]
    os.execvp("bwrap", command(submissions, out, inner))
