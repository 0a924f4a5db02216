"""Attacks of a hostile submission, as snippets that report whether they succeeded.

Each snippet sets `outcome` to "through" or to what stopped it. `targets` creates the files,
sockets and process of the grader's side at which they aim. The same snippets also run unguarded as
controls, because an attack that never succeeds proves nothing.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading

HEAD = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def tried(result):
    return "through" if result >= 0 else os.strerror(ctypes.get_errno())
"""
X86 = "x86_64"

# Calls of the C library or of the kernel itself, which no audit hook sees.
CALLS = {
    "connects to a local socket": """
fd = libc.socket(1, 1, 0)
outcome = tried(-1 if fd < 0 else libc.connect(fd, struct.pack("H108s", 1, b"{unix}"), 110))
""",
    "connects to a nameless local socket": """
fd = libc.socket(1, 1, 0)
name = b"\\0" + b"{abstract}"
outcome = tried(-1 if fd < 0 else libc.connect(fd, struct.pack("H", 1) + name, 2 + len(name)))
""",
    "sends from a pair of datagram sockets": """
pair = (ctypes.c_int * 2)()
address = struct.pack("H108s", 1, b"{datagram}")
made = libc.socketpair(1, 2, 0, pair)
outcome = tried(-1 if made < 0 else libc.sendto(pair[0], b"psst", 4, 0, address, 110))
""",
    "connects by TCP": """
fd = libc.socket(2, 1, 0)
address = struct.pack("!HH4s8x", 0, {port}, bytes([127, 0, 0, 1]))
address = struct.pack("H", 2) + address[2:]
outcome = tried(-1 if fd < 0 else libc.connect(fd, address, 16))
""",
    "sends by UDP": """
fd = libc.socket(2, 2, 0)
address = struct.pack("H", 2) + struct.pack("!H4s8x", {port}, bytes([127, 0, 0, 1]))
outcome = tried(-1 if fd < 0 else libc.sendto(fd, b"psst", 4, 0, address, 16))
""",
    "changes permissions": "outcome = tried(libc.chmod(b'{victim}', 0o600))",
    "changes times": "outcome = tried(libc.utimes(b'{victim}', None))",
    "changes the owner": "outcome = tried(libc.chown(b'{victim}', os.getuid(), os.getgid()))",
    "sets an attribute": "outcome = tried(libc.setxattr(b'{victim}', b'user.x', b'1', 1, 0))",
    "reads another's file": "outcome = tried(libc.open(b'{victim}', 0))",
    "writes another's file": "outcome = tried(libc.open(b'{victim}', 1))",
    "deletes another's file": "outcome = tried(libc.unlink(b'{sacrifice}'))",
    "moves another's file": "outcome = tried(libc.rename(b'{sacrifice}', b'{sacrifice}2'))",
    "makes a file elsewhere": "outcome = tried(libc.open(b'{elsewhere}', 0o101, 0o600))",
    "empties a file": "outcome = tried(libc.truncate(b'{sacrifice}', 0))",
    "limits another process": """
limit = (ctypes.c_ulong * 2)()
libc.getrlimit(1, limit)
outcome = tried(libc.prlimit(ctypes.c_int({pid}), 1, limit, None))
""",
    "signals another process": "outcome = tried(libc.kill({pid}, 18))",
    "signals a thread of another": "outcome = tried(libc.syscall(234, {pid}, {pid}, 18))",
    "queues a signal": """
info = struct.pack("iii", 18, 0, -1) + bytes(116)
outcome = tried(libc.syscall(129, {pid}, 18, info))
""",
    "opens another process": "outcome = tried(libc.syscall(434, {pid}, 0))",
    "sends a file's signals to another process": """
ends = os.pipe()
outcome = tried(libc.fcntl(ends[0], 8, {pid}))
""",
    "lowers another's priority": "outcome = tried(libc.setpriority(0, {pid}, 19))",
    "binds another to a processor": """
mask = (ctypes.c_ulong * 16)()
libc.sched_getaffinity({pid}, 128, mask)
outcome = tried(libc.sched_setaffinity({pid}, 128, mask))
""",
    "lowers another's disk priority": "outcome = tried(libc.syscall(251, 1, {pid}, 16391))",
    "traces another process": "outcome = tried(libc.syscall(101, 0x4206, {pid}, 0, 0))",
    "shares memory": "outcome = tried(libc.shmget(0x5EC2E7, 64, 0o1600))",
    "makes semaphores": "outcome = tried(libc.semget(0, 32000, 0o1600))",
    "makes a queue of messages": "outcome = tried(libc.msgget(0, 0o1600))",
    "takes asynchronous requests that all processes share": """
ring = ctypes.c_ulong(0)
outcome = tried(libc.syscall(206, 100, ctypes.byref(ring)))
""",
    "flushes all disks": "outcome = tried(libc.syscall(162))",
    "is notified of changes in a folder": """
fd = os.open("/usr/lib", 0)
outcome = tried(libc.fcntl(fd, 1026, ctypes.c_long(0x20)))
""",
    "adds a key": "outcome = tried(libc.syscall(248, b'user', b'x', b'y', 1, -3))",
    "locks a file": """
fd = os.open("/usr", 0)
outcome = tried(libc.flock(fd, 1 | 4))
""",
    "locks a part of a file": """
fd = os.open(os.__file__, 0)
outcome = tried(libc.fcntl(fd, 6, struct.pack("hhqqi", 0, 0, 0, 1, 0)))
""",
    "watches a folder": "outcome = tried(libc.inotify_init())",
    "makes a file of memory": "outcome = tried(libc.memfd_create(b'x', 0))",
    "makes a ring of requests": """
outcome = tried(libc.syscall(425, 4, (ctypes.c_char * 256)()))
""",
    "forks": """
pid = libc.fork()
if pid == 0:
    os._exit(0)
outcome = tried(pid)
""",
    "starts a program": """
argv = (ctypes.c_char_p * 2)(b"/bin/true", None)
pid = ctypes.c_int()
failed = libc.posix_spawn(ctypes.byref(pid), b"/bin/true", None, None, argv, None)
outcome = "through" if failed == 0 else os.strerror(failed)
""",
    "unshares a namespace": "outcome = tried(libc.unshare(0x10000000 | 0x00020000))",
    "mounts a disk without a limit": """
outcome = tried(libc.mount(b"none", b"/box/work", b"tmpfs", 0, None))
""",
    "reads the command lines of others": """
lines = [open(f"/proc/{n}/cmdline").read() for n in os.listdir("/proc") if n.isdigit()]
outcome = "through" if len(lines) > 1 else "alone"
""",
    "wakes threads that wait at a shared page": """
import mmap
with open(os.__file__, "rb") as file:
    page = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)
libc.mmap.restype = ctypes.c_void_p
address = libc.mmap(None, 4096, 1, 1, os.open(os.__file__, 0), 0)
outcome = tried(libc.syscall(202, ctypes.c_void_p(address), 1, 1, None, None, 0))
""",
    "outlives the grader": "outcome = tried(libc.prctl(1, 0, 0, 0, 0))",
    "hides from the grader": "outcome = tried(libc.prctl(4, 0, 0, 0, 0))",
}
# Calls by number are written for one architecture.
BY_NUMBER = [name for name, code in CALLS.items() if "libc.syscall(" in code]


@contextlib.contextmanager
def targets(folder):
    """Create the targets of the attacks; yield {placeholder: value}."""
    for name in ("victim", "sacrifice"):
        (folder / name).write_text("still here")
        (folder / name).chmod(0o644)
    listener, datagram, abstract = (socket.socket(socket.AF_UNIX) for _ in range(3))
    datagram.close()
    datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(folder / "u"))
    datagram.bind(str(folder / "d"))
    for path in (folder / "u", folder / "d"):
        path.chmod(0o777)
    nameless = f"course-{os.getpid()}-{threading.get_ident()}"
    abstract.bind("\0" + nameless)
    tcp = socket.create_server(("127.0.0.1", 0))
    listener.listen()
    abstract.listen()
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        yield {
            "victim": str(folder / "victim"),
            "sacrifice": str(folder / "sacrifice"),
            "elsewhere": str(folder / "elsewhere"),
            "unix": str(folder / "u"),
            "datagram": str(folder / "d"),
            "abstract": nameless,
            "port": str(tcp.getsockname()[1]),
            "pid": str(sleeper.pid),
        }
    finally:
        sleeper.kill()
        sleeper.wait()
        for each in (listener, datagram, abstract, tcp):
            each.close()


def code(name, found):
    """Return the snippet `name`, aimed at the targets `found`."""
    text = HEAD + CALLS[name]
    for key, value in found.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def unguarded(text, folder):
    """Run a snippet in a plain Python; return its outcome."""
    done = subprocess.run(
        [sys.executable, "-c", text + "\nprint(outcome)"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout.strip() or done.stderr.strip()
