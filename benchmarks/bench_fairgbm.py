"""Equality of opportunity and equalized odds on Adult, beside FairGBM.

FairGBM's last release does not run with today's scikit-learn, so it lives in an environment of its
own, and its Python is named by ``--python`` or the variable FAIRGBM_PYTHON::

    python3.11 -m venv fairgbm-env
    fairgbm-env/bin/pip install fairgbm "scikit-learn<1.6" "numpy<2"
    python benchmarks/bench_fairgbm.py --python fairgbm-env/bin/python

The splits are those of the table "boosting", the trees the same for all. FairGBM's tolerances
begin at 0.01: with 0 it over-corrected on a split of another seed, on which the others were
chosen, too. It has no demographic parity to be compared in. The result goes to
``book/results/bench_fairgbm.json``, with versions and date, for the chapter on fair boosting.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from fairgbm_peer import KINDS
from timing import made, save

from renyi_book.experiments import FRESH
from renyi_book.experiments._measures import measures
from renyi_book.experiments._splits import encoded_splits
from renyi_lib import RenyiBoostingClassifier, lam_path
from renyi_lib.metrics import equalized_odds_difference

RESULTS = Path(__file__).parents[1] / "book/results/bench_fairgbm.json"
ROUNDS = 150
LAMS = (1, 3, 10, 30)
TOLERANCES = (0.05, 0.03, 0.02, 0.01)
MEASURES = ("accuracy", "p_rule", "eo_violation")


def measured(score, rows):
    """What is measured of decisions at one half."""
    decision = (score > 0.5).astype(int)
    found = measures(rows.y, decision, rows.s)
    odds = equalized_odds_difference(rows.y, decision, sensitive_features=rows.s)
    return {name: found[name] for name in MEASURES} | {"odds_violation": float(odds)}


def ours(data):
    """(kind, lam, CPU seconds, scores of validation and test rows); kind "none" is plain trees."""
    X, y, s = data["train"]
    for kind, lams in {"none": (0,), **dict.fromkeys(KINDS, LAMS)}.items():
        told = {} if kind == "none" else {"fairness": kind}
        model = RenyiBoostingClassifier(n_estimators=ROUNDS, random_state=0, **told)
        for lam in lams:
            began = time.process_time()
            (fitted,) = lam_path(model, X, y, sensitive_features=s, lams=[lam])
            seconds = time.process_time() - began
            scores = [fitted.predict_proba(data[rows].X)[:, 1] for rows in ("validation", "test")]
            yield kind, float(lam), seconds, scores


def fairgbm(python, splits):
    """For each split the same of FairGBM, and the versions it was run with."""
    with TemporaryDirectory() as folder:
        folder = Path(folder)
        for number, (_, data) in enumerate(splits):
            told = {f"{part}_train": values for part, values in zip("Xys", data["train"])}
            told |= {f"X_{rows}": data[rows].X for rows in ("validation", "test")}
            np.savez(folder / f"{number}.npz", **told, rounds=ROUNDS, tolerances=TOLERANCES)
        peer = Path(__file__).with_name("fairgbm_peer.py")
        # Its environment is its own: no path of this one leads into it.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment["OMP_NUM_THREADS"] = "1"
        subprocess.run([python, peer, folder], check=True, env=environment)
        versions = json.loads((folder / "versions.json").read_text(encoding="utf-8"))
        found = []
        for number in range(len(splits)):
            of = np.load(folder / f"{number}.fairgbm.npz")
            scores = zip(of["validation"], of["test"])
            settings = of["kind"].tolist(), of["tolerance"].tolist(), of["seconds"].tolist()
            found.append(list(zip(*settings, scores)))
    return found, versions


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=os.environ.get("FAIRGBM_PYTHON"))
    parser.add_argument("--splits", type=int, default=25)
    parser.add_argument("--out", type=Path, default=RESULTS)
    told = parser.parse_args()
    if not told.python:
        parser.error("name the Python that has FairGBM: --python or FAIRGBM_PYTHON")
    splits = list(encoded_splits("adult", FRESH[: told.splits], paper=False))
    theirs, versions = fairgbm(told.python, splits)
    table = []
    for (where, data), of_peer in zip(splits, theirs):
        for method, found in (("ours", ours(data)), ("FairGBM", of_peer)):
            for kind, setting, seconds, scores in found:
                for rows, score in zip(("validation", "test"), scores):
                    key = {"method": method, "kind": kind, "seed": where["seed"]}
                    key |= {"setting": setting, "rows": rows, "cpu_seconds": seconds}
                    table.append(key | measured(score, data[rows]))
    here = made(["renyi-lib", "lightgbm", "numpy", "scikit-learn"])
    save(told.out, {"made": here, "peer": versions, "rows": table})


if __name__ == "__main__":
    main()
