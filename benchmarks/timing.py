"""What the benchmarks share: times in turn, extra memory, and results with their versions."""

import ctypes
import json
import multiprocessing
import platform
import time
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np


def least_times(tasks, repeats):
    """Seconds of processor time of each task, the least of several, and its result.

    The tasks take turns, so that noise hits all alike.
    """
    seconds, results = np.full(len(tasks), np.inf), [None] * len(tasks)
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            start = time.process_time()
            results[i] = task()
            seconds[i] = min(seconds[i], time.process_time() - start)
    return seconds, results


def extra_memory(task):
    """Megabytes that a task needs beyond what is there when it begins; None where unknown.

    It runs in a copy of this process. Linux with glibc only.
    """
    if not Path("/proc/self/clear_refs").exists():
        return None
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_measured, args=(task, sender))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:  # the child has died
        return None
    finally:
        child.join()


def _measured(task, sender):
    # What this process has freed but kept would be used again, and not be counted.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak so far is forgotten
    before = _status("VmRSS")
    task()
    sender.send(max(0.0, _status("VmHWM") - before))


def _status(name):
    """A field of this process's memory, in megabytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{name}:")[1].split()[0]) / 2**10


def made(packages):
    """When, and with which versions; a package that is not installed is None."""
    found = {"date": date.today().isoformat(), "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def save(path, content):
    """Write a dictionary of dictionaries and of lists of rows, one row a line."""
    parts = []
    for key, value in content.items():
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(rounded(row)) for row in value)
            parts.append(f' "{key}": [\n  {rows}\n ]')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    Path(path).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def rounded(row):
    """The row with four digits of each float."""
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}
