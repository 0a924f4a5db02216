"""Guards around the process that runs a submission.

A submission is somebody else's program. Each guard below stops one kind of harm, and each works
without the others:

another user      started as root, the process becomes a user of its own that owns nothing
resource limits   memory, size of a file, open files, threads, processor time (every Unix)
Landlock          the operating system refuses files outside the submission's own folder, looking
                  into other processes, by version also TCP (4) and signals (6) (Linux 5.13 on)
seccomp           the operating system refuses new processes, sockets of any kind, signals, limits
                  and priorities of other processes, permissions, owners and times of files, locks,
                  shared memory and whatever else two processes can meet in (Linux)
audit hook        Python itself refuses the same things first, with a message that a student
                  understands, and tells the grader (everywhere)

Without Landlock and seccomp (macOS, old kernels) the audit hook stands alone. It stops accidents,
not an attacker: code that calls the C library directly walks past it. `describe` says which guards
are in force and what is missing, and `make grade` prints it.

This file is sent to the process as text, so it imports nothing of the grader's.
"""

import contextlib
import ctypes
import os
import platform
import resource
import struct
import sys
from dataclasses import dataclass

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_NO_NEW_PRIVS = 1, 4, 8, 38
CAPABILITY_VERSION, CAP_DAC_READ_SEARCH = 0x20080522, 2
SIGKILL = 9


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Parameters
    ----------
    cell_seconds, total_seconds : float
        Wall-clock time of one cell, and of all cells together.
    memory_mb, file_mb, disk_mb, files : int
        Address space, size of any file it writes, of all its files together, and their number.
    threads : int
        Threads that run at the same time.
    output_kb : int
        What it may print in all.
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
    """Return how many threads the user `uid` runs now, 0 where the system does not tell."""
    total = 0
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == uid:
                    total += len(os.listdir(f"/proc/{name}/task"))
    return total


def limit_resources(limits):
    """Set the hard resource limits of this process; what it starts inherits them."""
    wanted = {
        "RLIMIT_AS": limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
        # Twice the wall clock: a last resort should the grader itself have died.
        "RLIMIT_CPU": int(2 * limits.total_seconds) + 1,
        # It counts all that the user runs, so what runs already is added.
        "RLIMIT_NPROC": limits.threads + threads_of_user(os.getuid()),
    }
    for name, value in wanted.items():
        # macOS knows some of these names and refuses to set them: the others still hold.
        with contextlib.suppress(ValueError, OSError, AttributeError):
            _, hard = resource.getrlimit(getattr(resource, name))
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(getattr(resource, name), (value, value))


def become(uid, reading):
    """Give up root for good, in favour of a user that owns nothing but its own folder.

    With `reading`, the right to read any file stays, for a Python that lies in a folder closed to
    others (root's home); Landlock then says which files.
    """
    if reading and not landlock_version():
        raise PermissionError(
            "Python or the library lies in a folder that only root can read. Grade as an ordinary "
            "user, or install them where everybody can read them"
        )
    libc = ctypes.CDLL(None, use_errno=True)
    if reading:
        libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    if sys.platform == "linux":
        kept = 1 << CAP_DAC_READ_SEARCH if reading else 0
        sets = struct.pack("6I", kept, kept, 0, 0, 0, 0)
        if libc.capset(struct.pack("Ii", CAPABILITY_VERSION, 0), sets):
            raise OSError(ctypes.get_errno(), "root could not be given up")
        # Changing the user hides /proc/self from its own process; this brings it back.
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


# ---------------------------------------------------------------------------------- Landlock

# The syscalls have the same numbers on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
READING = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
# Rights over files that each version knows: 13 at first, then renaming across folders (2),
# truncation (3) and control of devices (5).
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}


def landlock_version():
    """Return the version of Landlock in this kernel, 0 when there is none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(CREATE_RULESET, None, 0, 1))


def landlock(readable, writable):
    """Let this process read below `readable` and do as it likes below `writable`, no more.

    Returns the version in force, 0 for none.
    """
    version = landlock_version()
    if not version:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)

    def call(number, *args):
        result = libc.syscall(number, *args)
        if result < 0:
            raise OSError(ctypes.get_errno(), "Landlock: " + os.strerror(ctypes.get_errno()))
        return result

    files = (1 << FILE_RIGHTS[min(version, 5)]) - 1
    # No TCP at all; signals and nameless local sockets stay inside.
    network, scope = 3 if version >= 4 else 0, 3 if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call(CREATE_RULESET, struct.pack("QQQ", files, network, scope), size, 0)
    for paths, rights in ((readable, READING), (writable, files)):
        for path in paths:
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            allowed = rights & files
            if not os.path.isdir(path):
                allowed &= OF_A_FILE
            call(ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, fd), 0)
            os.close(fd)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return version


# ----------------------------------------------------------------------------------- seccomp

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
INSTALL = {"x86_64": 317, "aarch64": 277}  # the call seccomp itself
CLONE_THREAD, AF_UNIX, SOCK_STREAM, EPERM, ENOSYS = 0x10000, 1, 1, 1, 38

# Numbers on x86-64 and arm64; None where there is no such call. Why each group is refused:
REFUSED = {
    # another program or process
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "unshare": (272, 97),
    "setns": (308, 268),
    # calls that a ring of requests would make for it, past this filter
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # sockets of any kind: local ones lead to other students' processes and to the desktop's
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # permissions, owners, times and attributes of files, which Landlock leaves alone
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    # signals and priorities of others
    "tkill": (200, 130),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # looking into other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    # places where two submissions could meet
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "flock": (73, 32),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    # memory that no limit counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # other views of the file system
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
}
# These may concern the process itself: (numbers, position of the process id).
OWN_ONLY = {
    "kill": ((62, 129), 0),
    "tgkill": ((234, 131), 0),
    "rt_sigqueueinfo": ((129, 138), 0),
    "rt_tgsigqueueinfo": ((297, 240), 0),
    "prlimit64": ((302, 261), 0),
    "sched_setaffinity": ((203, 122), 0),
}
# For these 0 stands for the calling process; for `kill` it is a whole group.
ZERO_IS_SELF = ("prlimit64", "sched_setaffinity")
# These are refused for some commands: (numbers, position of the command, commands).
SOME_COMMANDS = {
    # locks, leases, and signals by way of a file's owner
    "fcntl": ((72, 25), 1, (6, 7, 8, 10, 15, 37, 38, 1024)),
    # the same owner; attributes; typing into a terminal
    "ioctl": ((16, 29), 1, (0x8901, 0x8902, 0x40086602, 0x401C5820, 0x5412, 0x541C)),
}
# prctl: naming threads and memory, and questions. Else the process could outlive the grader, or
# hide its files from the count.
PRCTL = ((157, 167), 0, (2, 3, 15, 16, 0x53564D41))
CLONE, CLONE3, SOCKETPAIR = (56, 220), (435, 435), (53, 199)


def seccomp_available():
    """Say whether this machine is one for which the filter below is written."""
    return sys.platform == "linux" and platform.machine() in AUDIT_ARCH


def seccomp_filter(machine, pid):
    """Return the filter's instructions, for a process with the number `pid`."""
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
    for name, (numbers, position) in OWN_ONLY.items():
        own = (pid, 0) if name in ZERO_IS_SELF else (pid,)
        bodies.append((numbers, [argument(position), *among(own, allow, refuse)]))
    for numbers, position, commands in SOME_COMMANDS.values():
        bodies.append((numbers, [argument(position), *among(commands, refuse, allow)]))
    numbers, position, options = PRCTL
    bodies.append((numbers, [argument(position), *among(options, allow, refuse)]))
    # ENOSYS, so that the C library falls back to clone, whose flags can be read.
    bodies.append((CLONE3, [(leave, 0, 0, error | ENOSYS)]))
    threads_only = [(any_bit, 0, 1, CLONE_THREAD), (leave, 0, 0, allow), (leave, 0, 0, refuse)]
    bodies.append((CLONE, [argument(0), *threads_only]))
    # A pair of connected streams stays inside (asyncio wakes itself with one). A pair of
    # datagram sockets would not: each can send to any address.
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
    """Install the filter for all threads of this process; say whether it is in force."""
    if not seccomp_available():
        return False
    machine = platform.machine()
    code = seccomp_filter(machine, os.getpid())
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    set_filter, all_threads = 1, 1
    # A container may refuse it: then it is missing, and said to be.
    return libc.syscall(INSTALL[machine], set_filter, all_threads, header) == 0


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
# Of other processes: signals, resource limits.
OF_OTHERS = {
    "os.kill": "sending a signal to another process",
    "os.killpg": "sending a signal to another process",
    "resource.prlimit": "changing the limits of another process",
}
NETWORK = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")


def audit(writable, hidden, tell):
    """Refuse, explain and report what a submission has no business doing.

    Parameters
    ----------
    writable : list of str
        Folders (and /dev/null) that may be written to.
    hidden : list of str
        Folders that may not even be read (the solutions, other people's work), the writable
        ones in them excepted.
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


# ------------------------------------------------------------------------------- what is true


def missing(version, filtered, user, reading):
    """Return what the guards in force do not stop, one sentence each.

    Parameters
    ----------
    version : int
        Of Landlock, 0 for none.
    filtered : bool
        Whether the seccomp filter is in force.
    user : bool
        Whether the submission runs as a user of its own.
    reading : bool
        Whether it kept the right to read, see `become`.
    """
    gaps = []
    if not version:
        gaps.append("C code can read and write whatever the user who grades can (no Landlock)")
    elif version < 3:
        gaps.append("C code can empty files of the user who grades (Landlock 3 would stop it)")
    if not filtered:
        gaps.append(
            "C code can use sockets, start processes, change permissions and times of files, and "
            "signal or limit other processes of the user who grades (no seccomp)"
        )
    if not version and not filtered:
        gaps.append("what remains stops accidents, not attacks")
    if not user:
        gaps.append("submissions run as the user who grades: only the guards above hold them")
    if reading:
        gaps.append(
            "Python lies where only root can read, so submissions keep that right, within the "
            "folders that Landlock allows"
        )
    if sys.platform != "linux":
        gaps.append("disk and threads are not counted while a submission runs")
    return gaps


def describe(version, filtered, user, reading=False):
    """Say in lines for the instructor which guards are in force, and what is missing."""
    guards = ["audit hook", "limits on time, memory, disk, threads and output"]
    guards += [f"Landlock {version}"] if version else []
    guards += ["seccomp"] if filtered else []
    guards += ["a user of its own for each submission"] if user else []
    lines = [f"guards in force: {', '.join(guards)}"]
    lines += [f"not guarded: {gap}" for gap in missing(version, filtered, user, reading)]
    lines.append(
        "never guarded: time and memory within the limits, and flaws of the kernel itself"
    )
    return lines
