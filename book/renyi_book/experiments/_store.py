"""Results on disk, each with a checksum of the code that made it.

The data need no checksum of their own here: each file's is in the code of `renyi_lib.datasets`,
which refuses any other file.
"""

import hashlib
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from renyi_book.reach import Use, checksum, reached

# The tables that are stored: the function that makes each, and its options.
STORED = {
    "starting_points": ("starting_points", {}),
    "equal_opportunity": ("equal_opportunity", {}),
    "equal_opportunity_rivals": ("equal_opportunity_rivals", {}),
    "penalties_adult": ("penalties_compared", {"dataset": "adult"}),
    "penalties_bank": ("penalties_compared", {"dataset": "bank"}),
    "penalties_german": ("penalties_compared", {"dataset": "german"}),
    "penalties_adult_gender_race": ("penalties_compared", {"dataset": "adult-gender-race"}),
    "boundary_covariance": ("boundary_covariance", {}),
    "clusters_adult": ("fair_clusters", {"dataset": "adult"}),
    "clusters_bank": ("fair_clusters", {"dataset": "bank", "n_rows": None}),
    "toy_clusters": ("toy_clusters", {}),
    "four_points": ("four_points", {}),
    "network": ("fair_network", {}),
    "fermi_gender": ("batches_compared", {"problem": "gender"}),
    "fermi_occupation": ("batches_compared", {"problem": "occupation"}),
    # Apart, as they take as long as the others together.
    "fermi_gender_one": ("batches_compared", {"problem": "gender", "sizes": ("1", "reference")}),
    "fermi_occupation_one": (
        "batches_compared",
        {"problem": "occupation", "sizes": ("1", "reference")},
    ),
    "calibration": ("calibration", {}),
    "calibration_fairness": ("fairness_calibration", {}),
    "theorems": ("theorems", {}),
    "convergence": ("convergence", {}),
    "clusters_stop": ("clusters_stop", {}),
    "timing": ("timing", {}),
    "multiverse": ("multiverse", {}),
    "adult_scores": ("adult_scores", {}),
    "promises": ("promises", {}),
    "boosting": ("fair_boosting", {}),
}
# What takes longest begins first, so that no process is left with it alone at the end.
_LONG = (
    "multiverse",
    "boosting",
    "fermi_occupation_one",
    "calibration",
    "promises",
    "fermi_gender_one",
    "network",
    "fermi_occupation",
    "penalties_adult_gender_race",
    "penalties_adult",
    "clusters_bank",
    "equal_opportunity_rivals",
    "penalties_bank",
    "penalties_german",
    "boundary_covariance",
    "fermi_gender",
    "calibration_fairness",
)
_MANIFEST = "manifest.json"


class StaleResultsError(RuntimeError):
    """Stored results that the present code has not made."""


def run_all(folder, *, names=None, workers=2, progress=True):
    """Compute the experiments in full, and store each as a CSV file.

    Parameters
    ----------
    folder : path
        Made if need be.
    names : iterable of str, optional
        Which; by default all. `stale` tells which need it.
    workers : int, default=2
        Processes.
    progress : bool, default=True
    """
    folder = Path(folder)
    names = list(STORED) if names is None else list(names)
    unknown = [name for name in names if name not in STORED]
    if unknown:
        raise ValueError(f"names must be of {list(STORED)}, not {unknown}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _MANIFEST
    manifest = json.loads(path.read_text()) if path.exists() else {}
    # Before the work begins: whoever edits code meanwhile gets a stale result, not a false one.
    code = {name: code_checksum(name) for name in names}
    long_first = sorted(names, key=lambda name: (*_LONG, name).index(name))
    total = 0.0
    # New processes, which inherit nothing: a copy of one that has threads may never end.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        runs = {pool.submit(_timed, name): name for name in long_first}
        for run in tqdm(as_completed(runs), "experiments", len(runs), disable=not progress):
            name = runs[run]
            table, seconds = run.result()
            total += seconds
            _write(table, folder / f"{name}.csv")
            manifest[name] = {"code": code[name], "file": sha256(folder / f"{name}.csv")}
            path.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
            if progress:
                tqdm.write(f"{name:28}{len(table):7} rows{seconds:8.1f} s of CPU")
    if progress:
        tqdm.write(f"{'in all':28}{total / 60:20.1f} min of CPU")


def compute(name):
    """One of the stored tables, computed."""
    function, options = STORED[name]
    experiment = getattr(import_module("renyi_book.experiments"), function)
    return experiment(**options, **({"progress": False} if _has_bar(experiment) else {}))


def _timed(name):
    """A stored table, and the seconds of CPU that it took."""
    began = time.process_time()
    return compute(name), time.process_time() - began


def load(name, folder):
    """A stored table, if the present code has made it.

    Parameters
    ----------
    name : str
    folder : path
        Where `run_all` stored it.

    Returns
    -------
    DataFrame

    Raises
    ------
    StaleResultsError
        If the code behind it or the file have changed since. ``make refresh`` computes anew what
        has become stale.
    """
    if name not in STORED:
        raise ValueError(f"name must be one of {list(STORED)}, not {name!r}")
    problem = _problem(name, Path(folder))
    if problem:
        raise StaleResultsError(f"{problem}: compute it anew with `make refresh`")
    return pd.read_csv(Path(folder) / f"{name}.csv")


def stale(folder):
    """The names of the tables that `load` would refuse.

    Parameters
    ----------
    folder : path
        Where `run_all` stored the results.

    Returns
    -------
    list of str
    """
    return [name for name in STORED if _problem(name, Path(folder))]


def code_checksum(name, folders=None):
    """Checksum of the code and the options behind one table.

    Parameters
    ----------
    name : str
    folders : dict of str to Path, optional
        Other folders of the packages than those that are imported.

    Returns
    -------
    str
    """
    function, options = STORED[name]
    start = [Use("renyi_book.experiments", function), Use(__name__, _write.__name__)]
    code = checksum(reached(start, folders))
    return hashlib.sha256(f"{options} {code}".encode()).hexdigest()


def sha256(path):
    """Checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _problem(name, folder):
    """Why a stored table is not to be used; None if nothing speaks against it."""
    path, manifest = folder / f"{name}.csv", folder / _MANIFEST
    known = json.loads(manifest.read_text()).get(name) if manifest.exists() else None
    if known is None or not path.exists():
        return f"there is no stored result {name!r} in {folder}"
    if known["code"] != code_checksum(name):
        return f"the code behind {name!r} has changed since it was stored"
    if known["file"] != sha256(path):
        return f"{path.name} is not the file that was stored"
    return None


def _write(table, path):
    table.to_csv(path, index=False, float_format="%.6g")


def _has_bar(experiment):
    return "progress" in experiment.__kwdefaults__
