"""Accuracy and time of this library and of fairlearn at equal fairness.

Every method is fitted for a few settings on 6 000 rows. Among the settings that meet the target on
up to 6 000 validation rows, the one that is most accurate on these rows is chosen, and it is then
evaluated on the test rows. A split counts only for the methods that meet the target on its
validation rows. All methods are based on a logistic regression. `ThresholdOptimizer`,
`CorrelationRemover` and "Renyi label, S as a feature" need a person's group at prediction time;
the other methods do not::

    python benchmarks/bench_fairlearn.py

The results are stored in ``book/results/bench_fairlearn.json``, with versions and date. The labels
of `ExponentiatedGradient` and `ThresholdOptimizer` are sampled with a fixed seed. Seconds are
processor times for one setting, averaged over settings and splits.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.preprocessing import CorrelationRemover
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, TruePositiveRateParity
from sklearn.linear_model import LogisticRegression
from timing import made, save

from renyi_book.experiments._splits import Rows, encoded_splits
from renyi_lib import (
    RenyiClassifier,
    demographic_parity_ratio,
    equal_opportunity_difference,
    lam_path,
)

RESULTS = Path(__file__).parents[1] / "book/results/bench_fairlearn.json"
DATA = ("adult", "bank", "adult-gender-race")
SEEDS = range(201, 206)
TRAIN, VALIDATION = 6000, 6000
# The metric of each target, whether greater is better, and the target itself.
TARGETS = {
    "demographic_parity_ratio 0.8": ("demographic_parity_ratio", True, 0.8),
    "demographic_parity_ratio 0.9": ("demographic_parity_ratio", True, 0.9),
    "equal_opportunity 0.05": ("equal_opportunity", False, 0.05),
}
METRICS = {
    "demographic_parity_ratio": demographic_parity_ratio,
    "equal_opportunity": equal_opportunity_difference,
}
LAMS = [0.0, *(0.1 * 2 ** (k / 2) for k in range(21))]
BOUNDS = (0.1, 0.05, 0.03, 0.02, 0.01, 0.003)
TOLERANCES = (0.1, 0.05, 0.02, None)
ALPHAS = (0.5, 0.9, 1.0)


def ours(kind, on, with_s=False):
    """Return a function that fits a path over lam, and returns pairs of lam and predictions."""

    def run(train, others):
        fairness = (
            "demographic_parity" if kind == "demographic_parity_ratio" else "equal_opportunity"
        )
        model = RenyiClassifier(on=on, fairness=fairness)
        X = [_with_groups(rows) if with_s else rows.X for rows in (train, *others)]
        path = lam_path(model, X[0], train.y, sensitive_features=train.s, lams=LAMS)
        return [(lam, [m.predict(x) for x in X[1:]]) for lam, m in zip(LAMS, path)]

    return run


def reduction(kind):
    """Return a function that fits fairlearn's exponentiated gradient for each bound."""

    def run(train, others):
        constraint = (
            DemographicParity if kind == "demographic_parity_ratio" else TruePositiveRateParity
        )
        found = []
        for bound in BOUNDS:
            model = ExponentiatedGradient(
                LogisticRegression(max_iter=1000), constraint(difference_bound=bound)
            )
            model.fit(train.X, train.y, sensitive_features=train.s)
            found.append((bound, [model.predict(rows.X, random_state=0) for rows in others]))
        return found

    return run


def thresholds(kind):
    """Return a function that chooses a threshold for each group, for each tolerance."""

    def run(train, others):
        rule = (
            "demographic_parity"
            if kind == "demographic_parity_ratio"
            else "true_positive_rate_parity"
        )
        base = LogisticRegression(max_iter=1000).fit(train.X, train.y)
        found = []
        for tol in TOLERANCES:
            model = ThresholdOptimizer(
                estimator=base,
                constraints=rule,
                prefit=True,
                predict_method="predict_proba",
                tol=tol,
            )
            model.fit(train.X, train.y, sensitive_features=train.s)
            predictions = [
                model.predict(rows.X, sensitive_features=rows.s, random_state=0) for rows in others
            ]
            found.append((tol, predictions))
        return found

    return run


def removal(train, others):
    """Fit to features whose linear correlation with the groups was removed, for each alpha."""
    found = []
    n_groups = _with_groups(train).shape[1] - train.X.shape[1]
    columns = list(range(train.X.shape[1], train.X.shape[1] + n_groups))
    for alpha in ALPHAS:
        remover = CorrelationRemover(sensitive_feature_ids=columns, alpha=alpha)
        X = remover.fit_transform(_with_groups(train))
        model = LogisticRegression(max_iter=1000).fit(X, train.y)
        found.append(
            (alpha, [model.predict(remover.transform(_with_groups(rows))) for rows in others])
        )
    return found


def _with_groups(rows):
    """Return the features, followed by an indicator of each group except the first."""
    return np.column_stack([rows.X, *(rows.s == group for group in np.unique(rows.s)[1:])])


def methods(kind):
    """Return the functions that fit the methods, by name."""
    return {
        "Renyi label": ours(kind, "label"),
        "Renyi score": ours(kind, "score"),
        "Renyi label, S as a feature": ours(kind, "label", with_s=True),
        "ExponentiatedGradient": reduction(kind),
        "ThresholdOptimizer (S)": thresholds(kind),
        "CorrelationRemover (S)": removal,
    }


def split(name, seed):
    """Return the training, validation and test rows of a split."""
    ((_, parts),) = encoded_splits(name, [seed], paper=False)
    rng = np.random.default_rng(seed)
    train, validation, test = (parts[part] for part in ("train", "validation", "test"))
    return some(train, TRAIN, rng), some(validation, VALIDATION, rng), test


def some(rows, size, rng):
    """Return a random subset of at most `size` rows."""
    kept = rng.permutation(len(rows.y))[:size]
    return Rows(*(np.asarray(part)[kept] for part in rows))


def rows_of(name, seed):
    """Return the results of one split, with a row for each method and target."""
    train, *others = split(name, seed)
    found = []
    for kind in METRICS:
        for method, run in methods(kind).items():
            began = time.process_time()
            settings = run(train, others)
            seconds = (time.process_time() - began) / len(settings)
            table = pd.DataFrame(
                [measured(kind, setting, *zip(others, y_pred)) for setting, y_pred in settings]
            )
            for target, (metric, greater, level) in TARGETS.items():
                if metric == kind:
                    row = {"data": name, "seed": seed, "method": method, "target": target}
                    found.append(row | {"cpu_seconds": seconds} | chosen(table, greater, level))
    return found


def measured(kind, setting, validation, test):
    """Compute accuracy and fairness on the validation rows and on the test rows."""
    row = {"setting": setting}
    for part, (rows, y_pred) in {"validation": validation, "test": test}.items():
        row[f"{part} accuracy"] = float(np.mean(y_pred == rows.y))
        row[f"{part} fairness"] = METRICS[kind](rows.y, y_pred, sensitive_features=rows.s)
    return row


def chosen(table, greater_is_better, level):
    """Return the test results of the most accurate setting that meets the target in validation."""
    value = table["validation fairness"]
    table = table[value >= level if greater_is_better else value <= level]
    if table.empty:
        return {"setting": None, "met": False, "accuracy": None, "fairness": None}
    best = table.loc[table["validation accuracy"].idxmax()]
    return {
        "setting": None if pd.isna(best["setting"]) else float(best["setting"]),
        "met": True,
        "accuracy": round(float(best["test accuracy"]), 5),
        "fairness": round(float(best["test fairness"]), 5),
    }


def summary(rows):
    """Average the results over splits, and count the splits in which the target was met."""
    table = pd.DataFrame(rows)
    keys = ["data", "target", "method"]
    found = table.groupby(keys, sort=False).agg(
        accuracy=("accuracy", "mean"),
        fairness=("fairness", "mean"),
        splits=("accuracy", "count"),
        cpu_seconds=("cpu_seconds", "mean"),
    )
    return found.round(4)


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="number of splits")
    parser.add_argument("--no-save", action="store_true", help="print only")
    options = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.data:
            for seed in SEEDS[: options.seeds]:
                rows += rows_of(name, seed)
    print(summary(rows).to_string())
    if not options.no_save:
        here = made(["renyi-lib", "fairlearn", "scikit-learn", "numpy"])
        save(RESULTS, {"made": here, "rows": rows})


if __name__ == "__main__":
    main()
