"""Run a submission in a process of its own, and talk to it.

The grader asks three things: run this cell, what does this name hold, call this function with
these values. Whatever the submission does, an answer or a reason why there is none comes back
within the limits.
"""

import contextlib
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from . import COURSE, PACKAGES, wire

GRACE = 5  # seconds for a cell to end after it was interrupted
STARTUP = 60
PAUSE = 0.2  # seconds between two looks at what a submission uses
RECEIVED = 256 << 20  # bytes that a submission may send in all
# Started as root, submission n runs as this user plus n. No system gives these numbers to people.
FIRST_USER, USERS = 60_000, 500

# Read the first frame, make modules of the texts in it, and go. Names in angle brackets keep
# Python from looking for the files when it prints a traceback.
BOOT = """
import json, os, struct, sys, types
incoming, outgoing = map(int, sys.argv[1:])
def take(count):
    data = b""
    while len(data) < count:
        data += os.read(incoming, count - len(data)) or sys.exit("the grader has gone")
    return data
first = json.loads(take(struct.unpack("!I", take(4))[0]))
modules = {}
for name, text in first["modules"].items():
    modules[name] = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, f"<grader: {name}>", "exec"), modules[name].__dict__)
for name in modules:
    del sys.modules[name]
start = modules["student"].main
settings = first["settings"]
del sys.argv[1:]
start(settings, modules["sandbox"], modules["wire"], incoming, outgoing)
"""


class CutOff(Exception):
    """The process is gone, or had to be ended; nothing after this cell can run."""


class Tampered(CutOff):
    """What came from the process is not what the grader's half of it sends."""


class TimeLimit(Exception):
    """A cell was stopped; the next one can run."""


class Failed(Exception):
    """The submission's own code raised an error."""

    def __init__(self, error):
        self.classes = [str(name) for name in error["classes"]]
        self.text, self.where = str(error["text"]), str(error["where"])
        super().__init__(self.text)

    def told(self):
        """Say what happened, and where, as the student should read it."""
        if self.classes[0] == "NotImplementedError" and not self.text:
            return "no answer yet"
        place = f" ({self.where})" if self.where else ""
        return f"{self.classes[0]}: {self.text}{place}"


def system_folders():
    """Return what Python itself has to read."""
    own = sorted({sys.prefix, sys.base_prefix, sys.exec_prefix})
    devices = [f"/dev/{name}" for name in ("null", "zero", "random", "urandom")]
    # Of /etc only what everybody may read anyway.
    names = ("ld.so.cache", "localtime", "timezone", "passwd", "group", "nsswitch.conf")
    settings = [f"/etc/{name}" for name in (*names, "fonts", "mime.types", "alternatives")]
    return [*own, "/usr", "/lib", "/lib64", "/bin", "/proc", "/sys", *settings, *devices]


def open_to_all(path):
    """Say whether everybody may read a folder and get there."""
    path = Path(path).resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def remove(folder):
    """Remove a folder whatever a submission left in it: unreadable or very deep ones, too."""
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if Path(folder).exists():
            subprocess.run([*command, str(folder)], capture_output=True, check=False)


def used(folder, pid, most):
    """Return (bytes, files) below `folder`, files counted that are deleted and still open.

    It stops counting at `most` files; a folder too deep to be read counts as too many.
    """
    size = count = 0
    stack = [str(folder)]
    try:
        while stack and count <= most:
            for entry in os.scandir(stack.pop()):
                count += 1
                with contextlib.suppress(FileNotFoundError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
    except FileNotFoundError:
        pass
    except OSError:
        return size, most + 1
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{pid}/fd/{name}")
                if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                    size += found.st_blocks * 512
    return size, count


def threads(pid):
    """Return the number of threads of a process, 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 0


class Session:
    """One submission's process, from its start to its end; a context manager.

    Parameters
    ----------
    limits : Limits
    hidden : list of Path
        Folders that the submission may not read.
    number : int
        Tells submissions that run at the same time apart: each has a user of its own when the
        grader was started as root.
    scratch : Path or None
        An existing folder in which to make its own.
    """

    def __init__(self, limits, hidden=(), number=0, scratch=None):
        self.limits = limits
        self.refused, self.ready = [], None
        self.root = Path(tempfile.mkdtemp(prefix="rg-", dir=scratch)).resolve()
        self.box = self.root / "box"
        self.buffer, self.received = bytearray(), 0
        self.interrupted = False
        try:
            self._start(hidden, number)
        except BaseException:
            self.close()
            raise

    def _start(self, hidden, number):
        for name in ("home", "tmp", "work", "path"):
            (self.box / name).mkdir(parents=True)
        # The packages under test, and not the folders they lie in, where the solutions are.
        for package in PACKAGES:
            (self.box / "path" / package.name).symlink_to(package)
        uid = FIRST_USER + number % USERS if os.getuid() == 0 else None
        needed = [sys.prefix, sys.base_prefix, *PACKAGES]
        # The root folder is this user's business only in that it must get through.
        self.root.chmod(0o711)
        settings = {
            "limits": asdict(self.limits),
            "box": str(self.box),
            "uid": uid,
            "reading": uid is not None and not all(map(open_to_all, needed)),
            "readable": [*system_folders(), *map(str, PACKAGES)],
            "writable": [str(self.box), os.devnull],
            "hidden": [str(COURSE), *map(str, hidden)],
        }
        keep = ("PATH", "LANG", "LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment = {name: os.environ[name] for name in keep if name in os.environ}
        environment |= {
            "HOME": str(self.box / "home"),
            "TMPDIR": str(self.box / "tmp"),
            "IPYTHONDIR": str(self.box / "home" / "ipython"),
            "USER": "student",
            "PYTHONPATH": str(self.box / "path"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",
            # numba would try the library's own folder first
            "NUMBA_CACHE_DIR": str(self.box / "tmp"),
            # joblib would start a process to count the cores
            "LOKY_MAX_CPU_COUNT": "1",
        }
        theirs_in, self.outgoing = os.pipe()
        self.incoming, theirs_out = os.pipe()
        os.set_blocking(self.outgoing, False)
        os.set_blocking(self.incoming, False)
        with (self.root / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", BOOT, str(theirs_in), str(theirs_out)],
                pass_fds=(theirs_in, theirs_out),
                env=environment,
                cwd=self.box / "work",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        os.close(theirs_in)
        os.close(theirs_out)
        here = Path(__file__).parent
        texts = {n: (here / f"{n}.py").read_text("utf-8") for n in ("wire", "sandbox", "student")}
        self.end = self.deadline = time.monotonic() + STARTUP
        try:
            self._send({"modules": texts, "settings": settings})
            self.ready = self._receive()["ready"]
        except (CutOff, KeyError) as problem:
            last = (self.root / "log").read_text(errors="replace")[-1500:]
            raise RuntimeError(
                f"the sandboxed process did not start: {problem}\n{last}"
            ) from problem
        self.end = time.monotonic() + self.limits.total_seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the process now, and remove all that it wrote."""
        if hasattr(self, "process"):
            # It could not start others, where the guards hold; where not, its group ends with it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
            os.close(self.outgoing)
            os.close(self.incoming)
            del self.process
        remove(self.root)

    # ------------------------------------------------------------------------- what it is asked

    def begin(self):
        """Start the clock of a cell."""
        self.started = time.monotonic()
        self.deadline = min(self.started + self.limits.cell_seconds, self.end)
        self.interrupted = False

    def run(self, source):
        """Run one cell; return what it printed last. Raises Failed, TimeLimit or CutOff."""
        self.begin()
        return str(self._ask({"do": "run", "source": source}).get("printed", ""))

    def look(self, names):
        """Return what each name holds: {"value": ...}, {"function": True} or {"not": why}."""
        return dict(self._ask({"do": "look", "names": sorted(names)})["found"])

    def call(self, name, args, kwargs, answer):
        """Call a function of the submission; return its answer as it came.

        `answer` is called with each question that the function asks back, and returns the reply.
        """
        return self._ask({"do": "call", "name": name, "args": args, "kwargs": kwargs}, answer)

    def _ask(self, message, answer=None):
        self._send(message)
        while True:
            reply = self._receive()
            if "back" in reply and answer is not None:
                self._send(answer(reply))
                continue
            done = reply.get("done")
            if not isinstance(done, dict):
                raise Tampered("it sent what the grader had not asked for")
            break
        self._check_use()
        if self.interrupted:
            seconds = time.monotonic() - self.started
            if time.monotonic() > self.end:
                raise CutOff(f"the notebook ran for more than {self.limits.total_seconds:g} s")
            raise TimeLimit(
                f"this was stopped after {seconds:.0f} seconds. Look for a loop that does not "
                "end, or for work that grows too fast with the data."
            )
        if "error" in done:
            try:
                raise Failed(done["error"])
            except (KeyError, TypeError, IndexError):
                raise Tampered("it sent an error that is none") from None
        return done

    # ------------------------------------------------------------------------------- the pipes

    def _wait(self, fd, event):
        """Wait until the pipe is ready, the clock has run out, or too much is used."""
        poll = select.poll()
        poll.register(fd, event)
        while not poll.poll(PAUSE * 1000):
            now = time.monotonic()
            self._check_use()
            if now > self.deadline and not self.interrupted:
                self.process.send_signal(signal.SIGINT)
                self.interrupted, self.deadline = True, now + GRACE
            elif now > self.deadline:
                raise CutOff(f"it still ran {GRACE} seconds after it was told to stop")

    def _check_use(self):
        size, count = used(self.box, self.process.pid, self.limits.files)
        if size > self.limits.disk_mb << 20:
            raise CutOff(f"it wrote more than {self.limits.disk_mb} MB")
        if count > self.limits.files:
            raise CutOff(f"it made more than {self.limits.files} files, or folders too deep")
        if threads(self.process.pid) > self.limits.threads:
            raise CutOff(f"it started more than {self.limits.threads} threads")

    def _send(self, message):
        data = memoryview(wire.pack(message))
        while data:
            self._wait(self.outgoing, select.POLLOUT)
            try:
                data = data[os.write(self.outgoing, data) :]
            except BrokenPipeError:
                raise CutOff("Python ended in it (a crash, or a call that ends it)") from None

    def _receive(self):
        """Return the next frame that is not a note about something refused."""
        while True:
            try:
                message = wire.unpack(self.buffer)
            except ValueError as problem:
                raise Tampered(f"it sent {problem}") from None
            if message is None:
                self._wait(self.incoming, select.POLLIN)
                data = os.read(self.incoming, 1 << 20)
                if not data:
                    raise CutOff("Python ended in it (a crash, or a call that ends it)")
                self.buffer += data
                self.received += len(data)
                if self.received > RECEIVED:
                    raise CutOff(f"it sent more than {RECEIVED >> 20} MB of answers")
            elif "refused" in message:
                if len(self.refused) < 100:
                    self.refused.append(str(message["refused"])[:300])
            else:
                return message


def guards(limits):
    """Return what a process really has in force on this machine: start one and ask."""
    with Session(limits) as session:
        return session.ready
