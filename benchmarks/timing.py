"""Helpers of the benchmarks, which measure time and memory and store results with versions."""

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
    """Return each task's shortest processor time in seconds over all runs, and its last result.

    The tasks take turns, so that noise affects all of them alike.
    """
    seconds, results = np.full(len(tasks), np.inf), [None] * len(tasks)
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            start = time.process_time()
            results[i] = task()
            seconds[i] = min(seconds[i], time.process_time() - start)
    return seconds, results


def extra_memory(task):
    """Return the additional memory that a task needs, in megabytes, or None if it is unknown.

    The task runs in a fork of this process. The measurement requires Linux with glibc.
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
    # Return freed memory to the system first, because reusing it would not be counted.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    before = _status("VmRSS")
    task()
    sender.send(max(0.0, _status("VmHWM") - before))


def _status(name):
    """Return a field of this process's memory statistics, in megabytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{name}:")[1].split()[0]) / 2**10


def made(packages):
    """Return the date, and the versions of Python and of the packages (None if missing)."""
    found = {"date": date.today().isoformat(), "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def save(path, content):
    """Write a dictionary of dictionaries and lists of rows as JSON, with one line per row."""
    parts = []
    for key, value in content.items():
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(rounded(row)) for row in value)
            parts.append(f' "{key}": [\n  {rows}\n ]')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    Path(path).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def rounded(row):
    """Return the row with every float rounded to four significant digits."""
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}
