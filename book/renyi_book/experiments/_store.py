"""Results on disk, with a checksum of the code that made them.

The data need no checksum of their own here: each file's is in the code of `renyi_lib.datasets`,
which refuses any other file.
"""

import ast
import hashlib
import json
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

import pandas as pd
from tqdm import tqdm

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
    "theorems": ("theorems", {}),
    "convergence": ("convergence", {}),
}
_MANIFEST = "manifest.json"
_PACKAGE = Path(__file__).parents[1]
# Parts of the library that no experiment runs through, or that only pass names on.
_NOT_RUN = {
    "checks",
    "plotting.py",
    "scorecard.py",
    "rebuild.py",
    "_store.py",
    "_summary.py",
    "__main__.py",
    "__init__.py",
    "_version.py",
}


class StaleResultsError(RuntimeError):
    """Stored results that the present code has not made."""


def run_all(folder, *, names=None, workers=2, progress=True):
    """Compute the experiments in full, and store each as a CSV file.

    Parameters
    ----------
    folder : path
        Made if need be.
    names : iterable of str, optional
        Which; by default all.
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
    code = code_checksum()
    with ProcessPoolExecutor(workers) as pool:
        runs = {name: pool.submit(compute, name) for name in names}
        for name, run in tqdm(runs.items(), desc="experiments", disable=not progress):
            run.result().to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
            manifest[name] = {"code": code, "file": _sha256(folder / f"{name}.csv")}
            path.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def compute(name):
    """One of the stored tables, computed."""
    function, options = STORED[name]
    experiment = getattr(import_module("renyi_book.experiments"), function)
    return experiment(**options, **({"progress": False} if _has_bar(experiment) else {}))


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
        If code or file have changed since. ``make experiments`` computes everything anew.
    """
    if name not in STORED:
        raise ValueError(f"name must be one of {list(STORED)}, not {name!r}")
    path, manifest = Path(folder) / f"{name}.csv", Path(folder) / _MANIFEST
    known = json.loads(manifest.read_text()).get(name, {}) if manifest.exists() else {}
    cure = "compute it anew with `make experiments`"
    if not known or not path.exists():
        raise StaleResultsError(f"there is no stored result {name!r} in {folder}: {cure}")
    if known["code"] != code_checksum():
        raise StaleResultsError(f"the library has changed since {name!r} was stored: {cure}")
    if known["file"] != _sha256(path):
        raise StaleResultsError(f"{path.name} is not the file that was stored: {cure}")
    return pd.read_csv(path)


def code_checksum():
    """Checksum of the library's code; comments, layout and docstrings do not count."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts = path.relative_to(_PACKAGE).parts
        if _NOT_RUN.isdisjoint(parts):
            digest.update("/".join(parts).encode())
            digest.update(_meaning(ast.parse(path.read_bytes())).encode())
    return digest.hexdigest()


def _meaning(node):
    """The syntax tree as text, the same for every version of Python that can read it."""
    if isinstance(node, list):
        return "[" + ",".join(_meaning(item) for item in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
        fields["body"] = fields["body"][1:]
    # Newer versions have more fields, which are empty for code that older ones can read.
    filled = ((name, value) for name, value in sorted(fields.items()) if value not in (None, []))
    inner = ",".join(f"{name}={_meaning(value)}" for name, value in filled)
    return f"{type(node).__name__}({inner})"


def _has_bar(experiment):
    return "progress" in experiment.__kwdefaults__


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
