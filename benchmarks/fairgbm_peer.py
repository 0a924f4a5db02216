"""Fit FairGBM to prepared splits; run by `bench_frontier.py` in the environment of FairGBM.

This script needs ``fairgbm "scikit-learn<1.6" "numpy<2"`` and nothing of this library. Each file
``N.npz`` in the folder contains ``X_train, y_train, s_train, X_validation, X_test, rounds,
tolerances`` and, if they differ from the defaults, ``kinds`` and ``learning_rate``. For each of
these files, the script writes ``N.fairgbm.npz``, unless it exists, with the settings, the scores
of validation and test rows, and the CPU seconds.
"""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

# FairGBM's constraints: on false negative rates (equal opportunity), or on both error rates.
KINDS = {"equal_opportunity": "FNR", "equalized_odds": "FPR,FNR"}
PACKAGES = ["fairgbm", "scikit-learn", "numpy"]


def fitted(data, kind, tolerance):
    """Fit trees with our model's parameters; return validation and test scores, and CPU time."""
    from fairgbm import FairGBMClassifier

    model = FairGBMClassifier(
        constraint_type=KINDS[kind],
        constraint_fnr_threshold=tolerance,
        constraint_fpr_threshold=tolerance,
        n_estimators=int(data["rounds"]),
        learning_rate=float(data.get("learning_rate", 0.1)),
        min_child_samples=0,
        min_child_weight=1.0,
        n_jobs=1,
        random_state=0,
        verbosity=-1,
    )
    began = time.process_time()
    model.fit(data["X_train"], data["y_train"], constraint_group=data["s_train"])
    seconds = time.process_time() - began
    return [
        model.predict_proba(data[f"X_{rows}"])[:, 1] for rows in ("validation", "test")
    ], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    versions = {package: version(package) for package in PACKAGES}
    (folder / "versions.json").write_text(json.dumps(versions), encoding="utf-8")
    paths = [path for path in sorted(folder.glob("[0-9]*.npz")) if len(path.suffixes) == 1]
    for path in paths:
        if path.with_suffix(".fairgbm.npz").exists():
            continue
        data = dict(np.load(path))
        kinds = data.pop("kinds", np.array(list(KINDS))).tolist()
        settings = [(kind, tol) for kind in kinds for tol in data["tolerances"].tolist()]
        found = [fitted(data, *setting) for setting in settings]
        scores, seconds = zip(*found)
        np.savez(
            path.with_suffix(".fairgbm.npz"),
            kind=[kind for kind, _ in settings],
            tolerance=[tolerance for _, tolerance in settings],
            validation=[of[0] for of in scores],
            test=[of[1] for of in scores],
            seconds=seconds,
        )


if __name__ == "__main__":
    main()
