"""Isolation of a submission's process by bubblewrap, if it is installed.

Inside, the process sees only Python and the library under test, both read-only. It sees no other
processes and no network, and shares no memory with others. It can write only below `/box`, which
is a disk in memory of limited size that is discarded with the process.
"""

import os
import shutil
import sys
from pathlib import Path

HOME = "/box"  # the only writable folder inside
PACKAGES = "/packages"
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", "/etc/fonts")
SETTINGS = ("/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/mime.types")
DEVICES = ("null", "zero", "random", "urandom")


def installed():
    """Return the path of bubblewrap's command, or None if it is not installed."""
    return shutil.which("bwrap") if sys.platform == "linux" else None


def command(program, packages, limits, info):
    """Return the command line that runs `program` inside bubblewrap.

    Parameters
    ----------
    program : list of str
        Command to run.
    packages : list of Path
        Packages that can be imported inside, besides those of the environment.
    limits : sandbox.Limits
        Limits on the process.
    info : int
        File descriptor to which bubblewrap writes the id of the process.
    """
    words = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--as-pid-1"]
    words += ["--info-fd", str(info)]
    if os.getuid() == 0:
        # Just enough rights for the process to become another user, after which it has none.
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    own = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    own = set(map(os.path.abspath, own))
    shown = {path: path for path in (*SYSTEM, *SETTINGS, *sorted(own))}
    shown |= {str(package): f"{PACKAGES}/{Path(package).name}" for package in packages}
    # bubblewrap would make these for root alone, and the process becomes another user.
    folders = {str(folder) for path in shown.values() for folder in Path(path).parents}
    for folder in sorted(folders - {"/"}):
        words += ["--perms", "0755", "--dir", folder]
    for path, place in shown.items():
        words += ["--ro-bind-try", path, place]
    words += ["--proc", "/proc", "--tmpfs", "/dev"]
    for name in DEVICES:
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    words += ["--size", str(limits.disk_mb << 20), "--perms", "0777", "--tmpfs", HOME]
    if "/tmp" not in folders:  # /tmp is among them if the environment lies inside it
        words += ["--symlink", f"{HOME}/tmp", "/tmp"]
    words += ["--chdir", HOME]
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [installed(), *words, *program]
