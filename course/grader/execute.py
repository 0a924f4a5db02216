"""Run the cells of a notebook in a sandboxed kernel, whatever they do.

nbgrader's own executor gives up on a notebook whose kernel dies, and a test cell that never ran
has no error and so would earn full marks. Here every cell ends with an output that tells what
happened to it, and nbgrader scores the rest as usual.
"""

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from queue import Empty

from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbformat.v4 import new_output, output_from_msg

from . import COURSE, LIBRARY
from .kernel import SETTINGS

GRACE = 5  # seconds for a cell to end after it was interrupted
STARTUP = 60


class CutOff(Exception):
    """The kernel is gone, or had to be ended; nothing after this cell can run."""


def error(name, message):
    """Return an error output: nbgrader gives a test cell with one no marks."""
    return new_output("error", ename=name, evalue=message, traceback=[f"{name}: {message}"])


def system_folders():
    """Return what Python itself has to read."""
    own = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    return [*sorted(own), "/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev"]


def start_kernel(box, report, limits, hidden):
    """Start a kernel that lives in the folder `box`; return its manager and its client."""
    box = Path(box)
    for name in ("home", "tmp", "work", "path", "kernels/box"):
        (box / name).mkdir(parents=True, exist_ok=True)
    # The library under test, and not the folder it lies in, where the solutions are.
    (box / "path" / "renyi_lib").symlink_to(LIBRARY)
    argv = [sys.executable, str(Path(__file__).with_name("kernel.py")), "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "submission", "language": "python"}
    (box / "kernels" / "box" / "kernel.json").write_text(json.dumps(spec))

    settings = {
        "limits": asdict(limits),
        "report": str(report),
        "readable": [*system_folders(), str(LIBRARY)],
        "writable": [str(box), "/dev/null"],
        "hidden": [str(COURSE), *map(str, hidden)],
    }
    keep = ("PATH", "LANG", "LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = {name: os.environ[name] for name in keep if name in os.environ}
    environment |= {
        SETTINGS: json.dumps(settings),
        "HOME": str(box / "home"),
        "TMPDIR": str(box / "tmp"),
        "PYTHONPATH": str(box / "path"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "agg",
        # numba would try the library's own folder first
        "NUMBA_CACHE_DIR": str(box / "tmp"),
        # joblib would start a process to count the cores
        "LOKY_MAX_CPU_COUNT": "1",
        # tests see what they compute, not a debugger's hint about frozen modules
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    manager = KernelManager(
        kernel_name="box",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(box / "kernels")]),
        transport="ipc",  # sockets in the box, so that the network can be closed altogether
        ip=str(box / "s"),
        connection_file=str(box / "kernel.json"),
    )
    log = (box / "kernel.log").open("wb")
    manager.start_kernel(env=environment, cwd=str(box / "work"), stdout=log, stderr=log)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=STARTUP)
    except RuntimeError as problem:
        stop_kernel(manager, client)
        last = (box / "kernel.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"The sandboxed kernel did not start: {problem}\n{last}") from problem
    return manager, client


def stop_kernel(manager, client):
    """End the kernel and all that it may have started, now."""
    client.stop_channels()
    pid = manager.provisioner.pid if manager.provisioner else None
    manager.shutdown_kernel(now=True)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            # Jupyter gives each kernel a process group of its own.
            os.killpg(pid, signal.SIGKILL)


class Runner:
    """Run cells one after the other, within the limits."""

    def __init__(self, manager, client, limits):
        self.manager, self.client, self.limits = manager, client, limits
        self.end = time.monotonic() + limits.total_seconds
        self.received = 0

    def run(self, cell):
        """Run one cell, fill in its outputs, and raise `CutOff` if it was the last to run."""
        cell.outputs = []
        start = time.monotonic()
        deadline = min(start + self.limits.cell_seconds, self.end)
        interrupted = False
        # Errors do not stop the notebook: each test stands for itself.
        request = self.client.execute(cell.source, allow_stdin=False, stop_on_error=False)
        while True:
            now = time.monotonic()
            if now > deadline and not interrupted:
                self.manager.interrupt_kernel()
                interrupted, deadline = True, now + GRACE
            elif now > deadline:
                raise CutOff(f"it still ran {GRACE} seconds after it was told to stop")
            try:
                message = self.client.get_iopub_msg(timeout=0.25)
            except Empty:
                if not self.manager.is_alive():
                    died = "the kernel died in it (a crash, or a call that ends Python)"
                    raise CutOff(died) from None
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            self._take(message, cell)
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                break
        self._check_reply(request, cell)
        if interrupted:
            # In place of the KeyboardInterrupt, which no student has typed.
            cell.outputs = [output for output in cell.outputs if output.output_type != "error"]
            message = (
                f"this cell was stopped after {time.monotonic() - start:.0f} seconds. Look for a "
                "loop that does not end, or for work that grows too fast with the data."
            )
            cell.outputs.append(error("TimeLimit", message))
            if time.monotonic() > self.end:
                raise CutOff(f"the notebook ran for more than {self.limits.total_seconds:g} s")

    def _take(self, message, cell):
        """Add what the kernel sent to the cell's outputs."""
        kind = message["msg_type"]
        if kind not in ("stream", "error", "display_data", "execute_result"):
            return
        self.received += len(json.dumps(message["content"], default=str))
        # The kernel caps what is printed; this also bounds figures, and a kernel tampered with.
        if self.received > 8 * (self.limits.output_kb << 10):
            raise CutOff(f"it produced more than {8 * self.limits.output_kb} KB of output")
        output = output_from_msg(message)
        last = cell.outputs[-1] if cell.outputs else None
        if kind == "stream" and last and last.get("name") == output.name:
            last.text += output.text
        else:
            cell.outputs.append(output)

    def _check_reply(self, request, cell):
        """Add the error that the kernel reports if none was shown (a cell can hide tracebacks)."""
        try:
            while True:
                reply = self.client.get_shell_msg(timeout=GRACE)
                if reply["parent_header"].get("msg_id") == request:
                    break
        except Empty:
            raise CutOff("the kernel did not say how the cell ended") from None
        content = reply["content"]
        if content["status"] != "ok" and not any(o.output_type == "error" for o in cell.outputs):
            name = content.get("ename", "Error")
            cell.outputs.append(error(name, content.get("evalue", "the cell did not run")))


def executor(box, report, limits, hidden=()):
    """Return a preprocessor for nbgrader that runs a notebook in the sandbox."""

    def execute(nb, resources):
        manager, client = start_kernel(box, report, limits, hidden)
        code = [c for c in nb.cells if c.cell_type == "code" and c.source.strip()]
        try:
            runner = Runner(manager, client, limits)
            for position, cell in enumerate(code):
                try:
                    runner.run(cell)
                except CutOff as reason:
                    name = cell.metadata.get("nbgrader", {}).get("grade_id", "a cell of your own")
                    message = f"{name}: {reason}"
                    resources["cut_off"] = f"cut off in the cell {message}"
                    cell.outputs.append(error("CutOff", f"cut off in this cell: {reason}"))
                    for rest in code[position + 1 :]:
                        rest.outputs = [
                            error("NotRun", f"not run: the notebook was cut off in {message}")
                        ]
                    break
        finally:
            stop_kernel(manager, client)
        return nb, resources

    return execute
