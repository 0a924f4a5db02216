"""Guards around the kernel that runs a submission.

A submission is somebody else's program. Each guard below stops one kind of harm, and each works
without the others:

resource limits   memory, size of a file, open files, processor time (every Unix)
Landlock          the operating system refuses files outside the submission's own folder, and
                  signals to other processes (Linux 5.13 or newer, 6.12 for signals)
seccomp           the operating system refuses new processes and network sockets (Linux)
audit hook        Python itself refuses the same things first, with a message that a student
                  understands, and notes them for the report (everywhere)

Without Landlock and seccomp (macOS, old kernels) the audit hook stands alone. It stops accidents,
not an attacker: code that calls the C library directly walks past it. `describe` says which guards
are active, and `make grade` prints it.
"""

import contextlib
import ctypes
import json
import os
import platform
import resource
import struct
import sys
from dataclasses import dataclass

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
SIGKILL = 9


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Parameters
    ----------
    cell_seconds, total_seconds : float
        Wall-clock time of one cell, and of all cells together.
    memory_mb, file_mb, output_kb : int
        Address space of the kernel, size of any file it writes, and what it may print in all.
    """

    cell_seconds: float = 60
    total_seconds: float = 300
    memory_mb: int = 4096
    file_mb: int = 64
    output_kb: int = 1024


def limit_resources(limits):
    """Set the hard resource limits of this process; what it starts inherits them."""
    wanted = {
        "RLIMIT_AS": limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": 512,
        "RLIMIT_CORE": 0,
        # Twice the wall clock: a last resort should the grader itself have died.
        "RLIMIT_CPU": int(2 * limits.total_seconds) + 1,
    }
    for name, value in wanted.items():
        # macOS knows some of these names and refuses to set them: the others still hold.
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), (value, value))


# ---------------------------------------------------------------------------------- Landlock

# The syscalls have the same numbers on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 2, 4, 8, 1 << 14
READING = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE


def landlock_version():
    """Return the version of Landlock in this kernel, 0 when there is none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(CREATE_RULESET, None, 0, 1))


def landlock(readable, writable):
    """Let this process read below `readable` and do as it likes below `writable`, no more."""
    version = landlock_version()
    if not version:
        return False
    libc = ctypes.CDLL(None, use_errno=True)

    def call(number, *args):
        result = libc.syscall(number, *args)
        if result < 0:
            raise OSError(ctypes.get_errno(), "Landlock: " + os.strerror(ctypes.get_errno()))
        return result

    # 13 rights in version 1, then renaming across folders (2) and truncation (3).
    files = (1 << (12 + min(version, 3))) - 1
    # Version 6 can also keep signals and nameless local sockets inside. (Version 4 knows about
    # the network, but ipykernel needs one port while it starts: seccomp closes the network after.)
    attributes = struct.pack("QQQ", files, 0, 3)
    ruleset = call(CREATE_RULESET, attributes, 24 if version >= 6 else 8, 0)
    for paths, rights in ((readable, READING), (writable, files)):
        for path in paths:
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            allowed = rights & files
            if not os.path.isdir(path):
                allowed &= OF_A_FILE
            call(ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, fd), 0)
            os.close(fd)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return True


# ----------------------------------------------------------------------------------- seccomp

# AUDIT_ARCH, then the numbers of: seccomp itself, clone, clone3, socket, and those refused
# outright (fork, vfork, execve, execveat, io_uring_setup; aarch64 has no fork).
SYSCALLS = {
    "x86_64": (0xC000003E, 317, 56, 435, 41, (57, 58, 59, 322, 425)),
    "aarch64": (0xC00000B7, 277, 220, 435, 198, (221, 281, 425)),
}
CLONE_THREAD, AF_UNIX, EPERM, ENOSYS = 0x10000, 1, 1, 38


def seccomp_available():
    """Say whether this machine is one for which the filter below is written."""
    return sys.platform == "linux" and platform.machine() in SYSCALLS


def seccomp():
    """Refuse new processes (threads may start) and new sockets, local ones excepted.

    It holds for all threads of this process.
    """
    if not seccomp_available():
        return False
    arch, install, clone, clone3, socket, refused = SYSCALLS[platform.machine()]
    load, equal, any_bit, leave = 0x20, 0x15, 0x45, 0x06
    allow, kill, error = 0x7FFF0000, 0x80000000, 0x00050000
    number, architecture, argument = 0, 4, 16  # offsets in struct seccomp_data
    code = [
        (load, 0, 0, architecture),
        (equal, 1, 0, arch),
        (leave, 0, 0, kill),
        (load, 0, 0, number),
        # x86-64's second numbering of the same calls (x32)
        (any_bit, 0, 1, 0x40000000),
        (leave, 0, 0, kill),
        # ENOSYS, so that the C library falls back to clone, whose flags can be read
        (equal, 0, 1, clone3),
        (leave, 0, 0, error | ENOSYS),
        (equal, 0, 4, clone),
        (load, 0, 0, argument),
        (any_bit, 0, 1, CLONE_THREAD),
        (leave, 0, 0, allow),
        (leave, 0, 0, error | EPERM),
        (equal, 0, 4, socket),
        (load, 0, 0, argument),
        (equal, 0, 1, AF_UNIX),
        (leave, 0, 0, allow),
        (leave, 0, 0, error | EPERM),
    ]
    for call in refused:
        code += [(equal, 0, 1, call), (leave, 0, 0, error | EPERM)]
    code.append((leave, 0, 0, allow))

    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    set_filter, all_threads = 1, 1
    if libc.syscall(install, set_filter, all_threads, header):
        raise OSError(ctypes.get_errno(), "seccomp: " + os.strerror(ctypes.get_errno()))
    return True


def die_with_parent():
    """Have the operating system end this process when the grader ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


# -------------------------------------------------------------------------------- audit hook

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# event -> positions of (path, dir_fd) pairs among its arguments
CHANGES = {
    "os.remove": [(0, 1)],
    "os.rmdir": [(0, 1)],
    "os.mkdir": [(0, 2)],
    "os.rename": [(0, 2), (1, 3)],
    "os.link": [(0, 2), (1, 3)],
    "os.symlink": [(1, 2)],
    "os.truncate": [(0, None)],
    "os.chmod": [(0, 2)],
    "os.chown": [(0, 3)],
    "os.utime": [(0, 3)],
    "shutil.rmtree": [(0, 1)],
}
PROCESSES = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
)
SIGNALS = ("os.kill", "os.killpg")
NETWORK = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")


def audit(writable, hidden, report):
    """Refuse, explain and note what a submission has no business doing.

    Parameters
    ----------
    writable : list of str
        Folders (and /dev/null) that may be written to.
    hidden : list of str
        Folders that may not even be read (the solutions, other people's work), the writable
        ones in them excepted.
    report : int
        A file descriptor to which refusals are appended, one JSON string a line.
    """
    realpath, join, fspath, readlink = os.path.realpath, os.path.join, os.fspath, os.readlink
    write, dumps, getpid = os.write, json.dumps, os.getpid
    writable = [realpath(path) for path in writable]
    hidden = [realpath(path) for path in hidden]

    def inside(path, folders):
        return any(path == folder or path.startswith(folder + os.sep) for folder in folders)

    def resolve(path, dir_fd):
        path = os.fsdecode(fspath(path))
        if isinstance(dir_fd, int) and dir_fd >= 0:
            with contextlib.suppress(OSError):
                path = join(readlink(f"/proc/self/fd/{dir_fd}"), path)
        return realpath(path)

    def refuse(what):
        write(report, (dumps(what[:300]) + "\n").encode())
        raise PermissionError(f"The grader refused this: {what}.")

    def hook(event, args):
        if event == "open":
            path, _, flags = args
            if isinstance(path, int) or path is None:
                return
            path = resolve(path, None)
            if flags & WRITING and not inside(path, writable):
                refuse(f"writing to {path}, outside the submission's own folder")
            if inside(path, hidden) and not inside(path, writable):
                refuse(f"reading {path}, which belongs to the grader or to somebody else")
        elif event in CHANGES:
            for where, folder in CHANGES[event]:
                if isinstance(args[where], int):
                    continue
                path = resolve(args[where], None if folder is None else args[folder])
                if not inside(path, writable):
                    refuse(f"{event} on {path}, outside the submission's own folder")
        elif event in PROCESSES:
            refuse(f"starting another process ({event})")
        elif event in SIGNALS:
            if args[0] != getpid():
                refuse(f"sending a signal to another process ({event})")
        elif event in NETWORK and not isinstance(args[1] if event != NETWORK[2] else 0, str):
            refuse(f"using the network ({event})")

    sys.addaudithook(hook)


def describe():
    """Say in one line which guards this machine offers."""
    version = landlock_version()
    files = f"Landlock {version}" if version else "no Landlock"
    calls = "seccomp" if seccomp_available() else "no seccomp"
    weak = "" if version and seccomp_available() else " (accidents only, not attacks)"
    return f"audit hook, resource limits, {files}, {calls}{weak}"
