"""Apply error-parity to prepared scores, in the environment in which it is installed.

This script needs ``error-parity==0.3.12 ecos`` and nothing of this library. Each file ``N.npz`` in
the folder contains ``score_validation, y_validation, s_validation, score_test, s_test,
tolerances`` and ``constraints``. For each of these files, the script writes
``N.error_parity.npz``, unless it exists, with the probability of the decision 1 for every test
row, by constraint and tolerance, and the CPU seconds of each constraint's fits.
"""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

PACKAGES = ["error-parity", "ecos", "cvxpy", "scikit-learn", "numpy"]
# Number of randomized predictions that are averaged to estimate the probability of a decision.
DRAWS = 50


def decided(data, constraint, tolerance):
    """Return the probability of the decision 1 for each test row, and the fit's CPU seconds."""
    from error_parity import RelaxedThresholdOptimizer

    began = time.process_time()
    model = RelaxedThresholdOptimizer(
        predictor=lambda X: X.ravel(),
        constraint=constraint,
        tolerance=float(tolerance),
        seed=0,
        max_roc_ticks=None,
    )
    X = data["score_validation"][:, None]
    model.fit(X=X, y=data["y_validation"], group=data["s_validation"])
    seconds = time.process_time() - began
    np.random.seed(0)  # noqa: NPY002 - part of error-parity draws from the global generator
    X = data["score_test"][:, None]
    draws = [model(X, group=data["s_test"]) for _ in range(DRAWS)]
    return np.mean(draws, axis=0), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    versions = {package: version(package) for package in PACKAGES}
    (folder / "error_parity.json").write_text(json.dumps(versions), encoding="utf-8")
    paths = [path for path in sorted(folder.glob("[0-9]*.npz")) if len(path.suffixes) == 1]
    for path in paths:
        if path.with_suffix(".error_parity.npz").exists():
            continue
        data = dict(np.load(path))
        found, seconds = {}, {}
        for constraint, tolerances in zip(data["constraints"].tolist(), data["tolerances"]):
            results = [decided(data, constraint, tolerance) for tolerance in tolerances]
            found[constraint] = np.array([decision for decision, _ in results])
            seconds[f"{constraint}_seconds"] = sum(spent for _, spent in results)
        np.savez(path.with_suffix(".error_parity.npz"), **found, **seconds)


if __name__ == "__main__":
    main()
