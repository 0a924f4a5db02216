"""Guards inside the process that runs a submission.

A submission is an untrusted program. bubblewrap (see `box`) isolates its process, which gets
separate files, processes and network, and a disk of limited size. The guards below add what
bubblewrap cannot provide:

resource limits   memory, size of a file, open files, threads, processor time, one core (any Unix)
another user      if started as root, the process becomes a separate user that owns nothing
seccomp           the kernel refuses new processes, namespaces, sockets, memory that no limit
                  counts, and the few places where two submissions could still meet (Linux)
audit hook        Python itself refuses the commonest of these first, with a message that a student
                  understands, and tells the grader (everywhere)

Without bubblewrap, these guards prevent accidents but do not stop an attacker, because code that
calls the C library directly can read and write whatever the grading user can. `describe` lists the
active and the missing guards, and `make grade` prints this list.

This file is sent to the process as text, so it imports nothing from the rest of the grader.
"""

import contextlib
import ctypes
import os
import platform
import struct
import sys
from dataclasses import dataclass

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
SIGKILL = 9


@dataclass(frozen=True)
class Limits:
    """Resources that a submission may use.

    Parameters
    ----------
    cell_seconds, total_seconds : float
        Wall-clock time of one cell, and of all cells together.
    memory_mb, file_mb, disk_mb, files : int
        Address space, size of each file and of all files that it writes, and number of files.
    threads : int
        Threads that run at the same time.
    output_kb : int
        Total amount of output.
    """

    cell_seconds: float = 60
    total_seconds: float = 300
    memory_mb: int = 4096
    file_mb: int = 64
    disk_mb: int = 256
    files: int = 2000
    threads: int = 64
    output_kb: int = 1024


def threads_of_user(uid):
    """Return how many threads the user `uid` runs now, or 0 if this is unknown."""
    total = 0
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == uid:
                    total += len(os.listdir(f"/proc/{name}/task"))
    return total


def limit_resources(limits, others=0):
    """Set the hard resource limits of this process; `others` threads of its user run already."""
    import resource

    wanted = {
        "RLIMIT_AS": limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
        # Twice the wall-clock limit, as a last resort if the grader itself has died.
        "RLIMIT_CPU": int(2 * limits.total_seconds) + 1,
        "RLIMIT_NPROC": limits.threads + others,
    }
    for name, value in wanted.items():
        # macOS knows some of these limits but cannot set them; the others are still set.
        with contextlib.suppress(ValueError, OSError, AttributeError):
            _, hard = resource.getrlimit(getattr(resource, name))
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(getattr(resource, name), (value, value))


def become(uid):
    """Switch permanently from root to a user that owns nothing."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    if sys.platform == "linux":
        # Changing the user hides /proc/self from its own process; this brings it back.
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def keep_to(core):
    """Stay on one core, so that a submission with many threads cannot slow its neighbors."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})


def die_with_parent():
    """Let the operating system end this process when its parent ends for any reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


# ----------------------------------------------------------------------------------- seccomp

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
INSTALL = {"x86_64": 317, "aarch64": 277}  # the call seccomp itself
CLONE_THREAD, AF_UNIX, SOCK_STREAM, EPERM, ENOSYS = 0x10000, 1, 1, 1, 38

# Numbers on x86-64 and arm64; None where there is no such call. Why each group is refused:
REFUSED = {
    # another program or process, which no limit counts
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    # new namespaces, in which an ordinary user can mount a disk without a limit
    "unshare": (272, 97),
    "setns": (308, 268),
    # asynchronous requests, whose calls would bypass this filter
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # sockets of the few families that a network namespace does not separate
    "socket": (41, 198),
    # keys, which no namespace separates
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # memory that no limit counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    # resources that all processes of the machine share
    "io_setup": (206, 0),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "syslog": (103, 116),
    # meeting at a file of the system that both can read
    "flock": (73, 32),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "futex_wake": (454, 454),
    "futex_requeue": (456, 456),
    # leaving the core that it was given
    "sched_setaffinity": (203, 122),
    # parts of the kernel that an assignment has no use for
    "ptrace": (101, 117),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
}
# These are refused for some commands: (numbers, position of the command, commands).
SOME_COMMANDS = {
    # locks and leases of files, notes on who opens them, and hints that others can read
    "fcntl": ((72, 25), 1, (6, 7, 37, 38, 1024, 1026, 1036, 1038)),
    # waking those who wait at shared memory (waking within the process has the flag 128)
    "futex": ((202, 98), 1, (1, 3, 4, 5, 10)),
}
# prctl may only name threads and memory, and read settings. Otherwise the process could outlive
# the grader, or hide from it how much it uses.
PRCTL = ((157, 167), 0, (2, 3, 15, 16, 0x53564D41))
CLONE, CLONE3, SOCKETPAIR = (56, 220), (435, 435), (53, 199)


def seccomp_available():
    """Return whether the filter below supports this machine."""
    return sys.platform == "linux" and platform.machine() in AUDIT_ARCH


def seccomp_filter(machine):
    """Return the filter's instructions."""
    column = list(AUDIT_ARCH).index(machine)
    load, equal, any_bit, mask, leave = 0x20, 0x15, 0x45, 0x54, 0x06
    allow, kill, error = 0x7FFF0000, 0x80000000, 0x00050000
    number, architecture = 0, 4  # offsets in struct seccomp_data

    def argument(position):
        return (load, 0, 0, 16 + 8 * position)

    def among(values, hit, miss):
        """Return `hit` if the loaded number is one of `values`, else `miss`."""
        code = [line for v in values for line in ((equal, 0, 1, v), (leave, 0, 0, hit))]
        return [*code, (leave, 0, 0, miss)]

    refuse = error | EPERM
    bodies = [(numbers, [(leave, 0, 0, refuse)]) for numbers in REFUSED.values()]
    for numbers, position, commands in SOME_COMMANDS.values():
        bodies.append((numbers, [argument(position), *among(commands, refuse, allow)]))
    numbers, position, options = PRCTL
    bodies.append((numbers, [argument(position), *among(options, allow, refuse)]))
    # ENOSYS, so that the C library falls back to clone, whose flags can be read.
    bodies.append((CLONE3, [(leave, 0, 0, error | ENOSYS)]))
    threads_only = [(any_bit, 0, 1, CLONE_THREAD), (leave, 0, 0, allow), (leave, 0, 0, refuse)]
    bodies.append((CLONE, [argument(0), *threads_only]))
    # A pair of connected local streams stays inside (asyncio wakes itself with one).
    streams = [argument(1), (mask, 0, 0, 0xF), *among((SOCK_STREAM,), allow, refuse)]
    local = [argument(0), (equal, 1, 0, AF_UNIX), (leave, 0, 0, refuse), *streams]
    bodies.append((SOCKETPAIR, local))

    code = [
        (load, 0, 0, architecture),
        (equal, 1, 0, AUDIT_ARCH[machine]),
        (leave, 0, 0, kill),
        (load, 0, 0, number),
        # x86-64's second numbering of the same calls (x32)
        (any_bit, 0, 1, 0x40000000),
        (leave, 0, 0, kill),
    ]
    for numbers, body in bodies:
        if numbers[column] is not None:
            # Every body ends by leaving, so the call's number is still loaded after it.
            code += [(equal, 0, len(body), numbers[column]), *body]
    return [*code, (leave, 0, 0, allow)]


def seccomp():
    """Install the filter for all threads of this process; return whether it is active."""
    if not seccomp_available():
        return False
    machine = platform.machine()
    code = seccomp_filter(machine)
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    set_filter, all_threads = 1, 1
    # A container may not allow the filter, in which case it is reported as missing.
    return libc.syscall(INSTALL[machine], set_filter, all_threads, header) == 0


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
    "os.setxattr": [(0, None)],
    "os.removexattr": [(0, None)],
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
# Actions on other processes.
OF_OTHERS = {
    "os.kill": "sending a signal to another process",
    "os.killpg": "sending a signal to another process",
    "resource.prlimit": "changing the limits of another process",
}
NETWORK = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")


def audit(writable, hidden, tell):
    """Block, explain and report actions that a submission is not allowed to take.

    Parameters
    ----------
    writable : list of str
        Folders (and /dev/null) that may be written to.
    hidden : list of str
        Folders that may not even be read (the solutions, other people's work), except for the
        writable ones in them.
    tell : callable
        Called with a sentence for each refusal.
    """
    realpath, join, fspath, readlink = os.path.realpath, os.path.join, os.fspath, os.readlink
    getpid = os.getpid
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
        tell(what[:300])
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
        elif event in OF_OTHERS:
            if args[0] not in (0, getpid()) or (args[0] == 0 and event != "resource.prlimit"):
                refuse(f"{OF_OTHERS[event]} ({event})")
        elif event in NETWORK:
            refuse(f"using the network ({event})")

    sys.addaudithook(hook)


# ----------------------------------------------------------------------- reports on the guards


def missing(walled, filtered, user):
    """Return what the active guards do not prevent, one sentence for each.

    Parameters
    ----------
    walled : bool
        Whether the process runs inside bubblewrap.
    filtered : bool
        Whether the seccomp filter is active.
    user : bool
        Whether the submission runs as a separate user.
    """
    gaps = []
    if not walled:
        gaps.append(
            "without bubblewrap a submission that calls C code can read and write all that the "
            "user who grades can, signal that user's processes and fill the disk. This stops "
            "accidents, not attacks: install bubblewrap (Linux), or grade in a virtual machine"
        )
    if not filtered:
        gaps.append(
            "C code can start processes, open sockets and take memory that no limit counts "
            "(no seccomp)"
        )
    if not (walled or user):
        gaps.append("submissions run as the user who grades")
    return gaps


def describe(walled, filtered, user):
    """Return lines that tell the instructor which guards are active and which are missing."""
    guards = ["bubblewrap"] if walled else []
    guards += ["seccomp"] if filtered else []
    guards += ["a separate user for each submission"] if user else []
    guards += ["limits on time, memory, threads and output", "audit hook"]
    lines = [f"guards in force: {', '.join(guards)}"]
    lines += [f"NOT GUARDED: {gap}" for gap in missing(walled, filtered, user)]
    lines.append(
        "never guarded: time and memory within the limits, and flaws of the kernel itself"
    )
    return lines
