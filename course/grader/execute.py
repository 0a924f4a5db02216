"""Run a submission in a separate process, and communicate with it.

The grader can request three things, which are to run a cell, to return the value of a name, and to
call a function with given values. Whatever the submission does, the grader gets an answer, or a
reason why there is none, within the limits.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from . import COURSE, PACKAGES, box, wire
from .sandbox import threads_of_user

GRACE = 5  # maximum seconds for a cell to end after it was interrupted
STARTUP = 60
TESTS = 30  # seconds that a test may take in addition to those of the cell
PAUSE = 0.2  # seconds between two checks of what a submission uses
RECEIVED = 256 << 20  # total bytes that a submission may send
LONGEST = 2000  # maximum characters of an error message
# If started as root, submission n runs as this user id plus n, which no system assigns to people.
FIRST_USER, USERS = 60_000, 500

# Read the first frame, create modules from the texts in it, and start. Names in angle brackets
# keep Python from looking for the files when it prints a traceback.
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
    """Error raised if the process has ended or was stopped, so that no later cell can run."""


class Tampered(CutOff):
    """Error raised if the process sends anything that the grader's own code would not send."""


class NotStarted(RuntimeError):
    """Error raised if the machine, not the submission, prevents the process from starting."""


class TimeLimit(Exception):
    """Error raised if a cell was stopped, although the next one can run."""


class Failed(Exception):
    """Error raised if the submission's own code raised an error."""

    def __init__(self, error):
        self.classes = [cut(name, 100) for name in error["classes"][:20]] or ["Exception"]
        self.text, self.where = cut(error["text"], LONGEST), cut(error["where"], 200)
        super().__init__(self.text)

    def told(self):
        """Describe for the student what happened and where."""
        if self.classes[0] == "NotImplementedError" and not self.text:
            return "no answer yet"
        place = f" ({self.where})" if self.where else ""
        return f"{self.classes[0]}: {self.text}{place}"


def open_to_all(path):
    """Return whether every user may read and reach a folder."""
    path = Path(path).resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def remove(folder):
    """Remove a folder, including unreadable or very deep subfolders that a submission created."""
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if Path(folder).exists():
            subprocess.run([*command, str(folder)], capture_output=True, check=False)


def cut(text, most):
    """Return `text`, shortened to at most `most` characters."""
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 30]} … ({len(text)} characters)"


def modules():
    """Return {name: source code} of the modules that the process runs."""
    here = Path(__file__).parent
    return {n: (here / f"{n}.py").read_text("utf-8") for n in ("wire", "sandbox", "student")}


def pin(slot):
    """Return the core for the submission in `slot`, or None if cores cannot be chosen."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return cores[slot % len(cores)]


class Session:
    """Context manager for the process of one submission.

    Parameters
    ----------
    limits : Limits
        Limits on the process.
    hidden : list of Path
        Folders that the submission may not read if there is no bubblewrap to hide them.
    number : int
        Number that distinguishes concurrent submissions, each of which runs as a separate user if
        the grader was started as root.
    scratch : Path or None
        Existing folder in which a temporary one is created if there is no bubblewrap.
    walled : bool or None
        Whether to use bubblewrap; None uses it if it is installed.
    slot : int
        Position among the concurrent submissions.
    """

    def __init__(self, limits, hidden=(), number=0, scratch=None, walled=None, slot=0):
        self.limits, self.grace = limits, min(GRACE, limits.cell_seconds)
        self.walled = bool(box.installed()) if walled is None else walled
        self.refused, self.ready, self.pid, self.folder = [], None, None, None
        self.buffer, self.received, self.looked = bytearray(), 0, 0.0
        self.interrupted = False
        try:
            self._start(hidden, number, scratch, slot)
        except BaseException:
            self.close()
            raise

    def _start(self, hidden, number, scratch, slot):
        user = FIRST_USER + number % USERS if os.getuid() == 0 else None
        if self.walled:
            home, packages = box.HOME, box.PACKAGES
        else:
            self.folder = Path(tempfile.mkdtemp(prefix="rg-", dir=scratch)).resolve()
            home, packages = self._without_wall(user)
        settings = {
            "limits": asdict(self.limits),
            "box": home,
            "uid": user,
            # A separate user has no other threads, and inside bubblewrap the kernel counts from 0.
            "others": 0 if user or self.walled else threads_of_user(os.getuid()),
            "core": pin(slot),
            "writable": [home, "/tmp" if self.walled else home, os.devnull],
            "hidden": [str(COURSE), *map(str, hidden)],
            "walled": self.walled,
        }
        keep = ("PATH", "LANG", "LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment = {name: os.environ[name] for name in keep if name in os.environ}
        environment |= {
            "HOME": f"{home}/home",
            "TMPDIR": f"{home}/tmp",
            "IPYTHONDIR": f"{home}/home/ipython",
            "USER": "student",
            "PYTHONPATH": packages,
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",
            # otherwise numba would try the library's folder first
            "NUMBA_CACHE_DIR": f"{home}/tmp",
            # otherwise joblib would start a process to count the cores
            "LOKY_MAX_CPU_COUNT": "1",
        }
        theirs_in, self.outgoing = os.pipe()
        self.incoming, theirs_out = os.pipe()
        info, theirs_info = os.pipe()
        os.set_blocking(self.outgoing, False)
        os.set_blocking(self.incoming, False)
        python = os.path.abspath(sys.executable)
        program = [python, "-P", "-c", BOOT, str(theirs_in), str(theirs_out)]
        if self.walled:
            program = box.command(program, PACKAGES, self.limits, theirs_info)
        with tempfile.TemporaryFile() as log:
            self.process = subprocess.Popen(
                program,
                pass_fds=(theirs_in, theirs_out, *([theirs_info] if self.walled else [])),
                env=environment,
                cwd=self.folder or "/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            for end in (theirs_in, theirs_out, theirs_info):
                os.close(end)
            self.end = self.deadline = time.monotonic() + STARTUP
            try:
                self.pid = self._number(info) if self.walled else self.process.pid
                self._send({"modules": modules(), "settings": settings})
                self.ready = self._receive()["ready"]
            except (CutOff, KeyError, ValueError) as problem:
                log.seek(0)
                last = log.read()[-1500:].decode(errors="replace").strip()
                raise NotStarted(
                    f"the submission's process did not start ({problem}): {last}"
                ) from problem
            finally:
                os.close(info)
        self.end = time.monotonic() + self.limits.total_seconds

    def _without_wall(self, user):
        """Create the folder of a submission that runs without bubblewrap."""
        needed = [sys.prefix, sys.base_prefix, *PACKAGES]
        if user is not None and not all(map(open_to_all, needed)):
            raise NotStarted(
                "Python or the library is in a folder that only root can read. Install "
                "bubblewrap, or grade as an ordinary user"
            )
        # The user needs only permission to pass through this folder.
        self.folder.chmod(0o711)
        home = self.folder / "box"
        (home / "path").mkdir(parents=True)
        # Only the packages under test are readable, not their parent folders with the solutions.
        for package in PACKAGES:
            (home / "path" / package.name).symlink_to(package)
        if user is not None:
            os.chown(home, user, user)
        return str(home), str(home / "path")

    def _number(self, info):
        """Return the process id outside the box, as reported by bubblewrap."""
        text = b""
        while data := os.read(info, 4096):
            text += data
        return int(json.loads(text)["child-pid"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the process now, and remove everything that it wrote."""
        if hasattr(self, "process"):
            # Inside bubblewrap everything ends with its first process. Elsewhere, the process
            # cannot start others if the guards hold; if they do not, its group ends with it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self.walled and self.pid:
                    os.kill(self.pid, signal.SIGKILL)
                else:
                    os.killpg(self.process.pid, signal.SIGKILL)
            if not self.walled or not self.pid:
                self.process.kill()
            self.process.wait()
            os.close(self.outgoing)
            os.close(self.incoming)
            del self.process
        if self.folder:
            remove(self.folder)

    # ------------------------------------------------------------------------------ the requests

    def begin(self):
        """Start the clock of a cell."""
        self.started = time.monotonic()
        self.deadline = min(self.started + self.limits.cell_seconds, self.end)
        self.interrupted = False

    @contextlib.contextmanager
    def patience(self):
        """Stop the notebook if a test of its values does not end."""

        def stop(*_):
            raise CutOff("a test of a value that this notebook returned did not end")

        before = signal.signal(signal.SIGALRM, stop)
        # Repeat every second, in case the test itself catches errors.
        signal.setitimer(signal.ITIMER_REAL, self.limits.cell_seconds + self.grace + TESTS, 1)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def run(self, source):
        """Run one cell, and return its last output; raises Failed, TimeLimit or CutOff."""
        self.begin()
        return cut(self._ask({"do": "run", "source": source}).get("printed", ""), LONGEST)

    def look(self, names):
        """Return the value of each name as {"value": ...}, {"function": True} or {"not": why}."""
        try:
            return dict(self._ask({"do": "look", "names": sorted(names)})["found"])
        except (KeyError, TypeError, ValueError):
            raise Tampered("it did not return the values of its names") from None

    def call(self, name, args, kwargs, answer, in_place=False, replace=None):
        """Call a function of the submission, and return its answer unchanged.

        `answer` is called for each callback of the function, and returns the reply. `in_place`
        says whether the function's changes to its arguments are sent back. `replace` names
        functions of the submission that are replaced by callbacks to the grader.
        """
        message = {"do": "call", "name": name, "args": args, "kwargs": kwargs}
        return self._ask(message | {"in_place": in_place, "replace": replace or {}}, answer)

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
            except (KeyError, TypeError, IndexError, ValueError):
                raise Tampered("it sent an invalid error") from None
        return done

    # ------------------------------------------------------------------------------- the pipes

    def _check(self):
        """Check the time limit and, at intervals, the resources that the process uses."""
        now = time.monotonic()
        if now > self.looked + PAUSE:
            self.looked = now
            self._check_use()
        if now <= self.deadline:
            return
        if self.interrupted:
            raise CutOff(f"it was still running {self.grace:g} seconds after it was told to stop")
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid or self.process.pid, signal.SIGINT)
        self.interrupted, self.deadline = True, now + self.grace

    def _wait(self, fd, event):
        """Wait until the pipe is ready, while checking the time limit."""
        poll = select.poll()
        poll.register(fd, event)
        self._check()
        while not poll.poll(PAUSE * 1000):
            self._check()

    def _check_use(self):
        if not self.walled or not self.pid:
            return
        with contextlib.suppress(OSError):
            # The process has its own disk, so this also counts deleted files that are still open.
            disk = os.statvfs(f"/proc/{self.pid}/root{box.HOME}")
            if disk.f_files - disk.f_ffree > self.limits.files:
                raise CutOff(f"it made more than {self.limits.files} files")
        with contextlib.suppress(OSError):
            if len(os.listdir(f"/proc/{self.pid}/task")) > self.limits.threads:
                raise CutOff(f"it started more than {self.limits.threads} threads")

    def _send(self, message):
        data = memoryview(wire.pack(message))
        while data:
            self._wait(self.outgoing, select.POLLOUT)
            try:
                data = data[os.write(self.outgoing, data) :]
            except BrokenPipeError:
                raise CutOff(
                    "Python exited in this cell (a crash, or a call that exits)"
                ) from None

    def _receive(self):
        """Return the next frame that is not a report of a refused action."""
        while True:
            try:
                message = wire.unpack(self.buffer, untrusted=True)
            except ValueError as problem:
                raise Tampered(f"it sent {problem}") from None
            self._check()
            if message is None:
                self._wait(self.incoming, select.POLLIN)
                data = os.read(self.incoming, 1 << 20)
                if not data:
                    raise CutOff("Python exited in this cell (a crash, or a call that exits)")
                self.buffer += data
                self.received += len(data)
                if self.received > RECEIVED:
                    raise CutOff(f"it sent more than {RECEIVED >> 20} MB of answers")
            elif "refused" in message:
                if len(self.refused) < 100:
                    self.refused.append(str(message["refused"])[:300])
            else:
                return message


def guards(limits, walled=None):
    """Start a process, and return the guards that are active in it on this machine."""
    with Session(limits, walled=walled) as session:
        return session.ready
