"""Grade inside bubblewrap: another wall around the whole grader, if it is installed.

`make grade BOX=bwrap …` puts this command in front. The grader then sees the file system
read-only, its own /tmp, no network and no other processes; OUT is all that it can write to.
"""

import shutil
import sys
from pathlib import Path


def command(out, inner):
    """Return the command line that runs `inner` in bubblewrap with `out` writable."""
    out = str(Path(out).resolve())
    walls = ["--unshare-all", "--die-with-parent", "--new-session"]
    files = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    return ["bwrap", *walls, *files, "--bind", out, out, *inner]


def main():
    """Print the words to put in front of the grader's command, or say what is missing."""
    out = Path(sys.argv[1])
    if not shutil.which("bwrap"):
        sys.exit(
            "bubblewrap is not installed: its package is called bubblewrap, its command bwrap"
        )
    out.mkdir(parents=True, exist_ok=True)
    print(" ".join(command(out, [])))


if __name__ == "__main__":
    main()
