"""Stored results, with a manifest of how they were computed.

The checksums of the data files are in `renyi_lib.datasets`, which raises an error for any other
file, so the manifest does not repeat them.
"""

import datetime
import hashlib
import inspect
import json
import platform
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._tables import STORED

_MANIFEST = "manifest.json"
_PACKAGES = ["renyi-lib", "numpy", "scipy", "pandas", "scikit-learn"]
_PACKAGES += ["numba", "lightgbm", "fairlearn"]


class ResultsError(RuntimeError):
    """Error raised if a stored result is missing or was edited."""


def run_all(folder, *, names=None, workers=2, progress=True):
    """Compute tables in full, and store each as a CSV file.

    The file ``manifest.json`` records for each table when it was computed, with which parameters
    (including seeds) and which versions of the packages.

    Parameters
    ----------
    folder : path
        Folder for the results, which is created if it does not exist.
    names : iterable of str, optional
        Names of the tables; by default, all except those that a script computes. `outdated`
        returns the names of those that must be recomputed.
    workers : int, default=2
        Number of processes.
    progress : bool, default=True
        Whether to show a progress bar.
    """
    folder = Path(folder)
    names = [n for n in STORED if not STORED[n].script] if names is None else list(names)
    unknown = [name for name in names if name not in STORED]
    if unknown:
        raise ValueError(f"names must be among {list(STORED)}, not {unknown}")
    for name in names:
        if STORED[name].script:
            raise ValueError(
                f"names contains {name!r}, which a script computes: run {STORED[name].script}"
            )
    folder.mkdir(parents=True, exist_ok=True)
    total = 0.0
    # Spawn new processes, because forking a process with threads may deadlock.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        runs = {pool.submit(_timed, name): name for name in sorted(names, key=list(STORED).index)}
        for run in tqdm(as_completed(runs), "experiments", len(runs), disable=not progress):
            name = runs[run]
            table, seconds = run.result()
            total += seconds
            path = folder / f"{name}.csv"
            path.write_text(csv_text(table), encoding="utf8", newline="\n")
            entry = {"file": _sha256(path), "date": _today(), "versions": versions()}
            _describe(folder, name, entry | {"parameters": parameters(name)})
            if progress:
                tqdm.write(f"{name:28}{len(table):7} rows{seconds:8.1f} s of CPU")
    if progress:
        tqdm.write(f"{'in all':28}{total / 60:20.1f} min of CPU")


def load(name, folder):
    """Read a stored table.

    Parameters
    ----------
    name : str
        Name of the table.
    folder : path
        Folder in which `run_all` stored it.

    Returns
    -------
    DataFrame
        Stored table.

    Raises
    ------
    ResultsError
        If the file is missing, or differs from the file that was stored.
    ValueError
        If there is no table of this name.
    """
    if name not in STORED:
        raise ValueError(f"name must be one of {list(STORED)}, not {name!r}")
    problem = file_problem(name, folder)
    if problem:
        command = STORED[name].script or f"make experiments NAMES={name}"
        raise ResultsError(f"{problem}: compute it with `{command}`")
    return pd.read_csv(Path(folder) / f"{name}.csv")


def compute(name, **options):
    """Compute a stored table or, with other options, a part of it."""
    stored = STORED[name]
    experiment = _experiment(name)
    quiet = {"progress": False} if "progress" in inspect.signature(experiment).parameters else {}
    return experiment(**(stored.options | options | quiet))


def parameters(name):
    """Return the parameters of the experiment behind a table, except `progress`, with values."""
    signature = inspect.signature(_experiment(name)).parameters
    values = {key: parameter.default for key, parameter in signature.items()}
    values = values | STORED[name].options
    values.pop("progress", None)
    return json.loads(json.dumps(values, default=list))


def versions():
    """Return the versions of Python and of the packages on which results depend."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def manifest(folder):
    """Return the manifest of the stored tables."""
    path = Path(folder) / _MANIFEST
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def file_problem(name, folder):
    """Return why a stored file cannot be used, or None if it can."""
    path, known = Path(folder) / f"{name}.csv", manifest(folder).get(name)
    if known is None or not path.exists():
        return f"there is no stored result {name!r} in {folder}"
    if known["file"] != _sha256(path):
        return f"{path.name} is not the file that was stored"
    return None


def csv_text(table):
    """Format a table for storage, with six digits for each number."""
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def _describe(folder, name, entry):
    entries = sorted((manifest(folder) | {name: entry}).items())
    # One line for each fact, because one line for each seed would make the file long.
    facts = ["\n".join(json.dumps({k: e[k]})[1:-1] + "," for k in sorted(e)) for _, e in entries]
    text = ",\n".join(f'"{n}": {{\n{f[:-1]}\n}}' for (n, _), f in zip(entries, facts))
    (folder / _MANIFEST).write_text(f"{{\n{text}\n}}\n", encoding="utf8")


def _experiment(name):
    return getattr(import_module("renyi_book.experiments"), STORED[name].function)


def _timed(name):
    """Compute a stored table, and measure its CPU seconds."""
    began = time.process_time()
    return compute(name), time.process_time() - began


def _today():
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
