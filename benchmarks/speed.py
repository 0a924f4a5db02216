"""Measure the speed of the library and of other libraries in one run; used by ``make bench``.

Each row is one method on one task at one size. It contains the processor time of the fastest run
on one thread, in seconds (slow tasks run once); the memory used beyond the data, in megabytes; and
the fairness of the result, where it has one. The rows are stored in
``book/results/bench_speed.json``, with versions and date, and the page "Speed" shows them.

Libraries that are not installed (``benchmarks/requirements.txt``) are skipped, and their versions
are stored as null. fair-kmeans needs a separate environment, and the variable FAIR_KMEANS_PYTHON
contains the path of its Python executable. ``--small`` is for a quick trial with a tenth of the
people, whose results are stored only if ``--out`` names a file.
"""

import argparse
import json
import logging
import os
import subprocess
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits
from timing import extra_memory, least_times, made, save

from renyi_lib import (
    ParquetRows,
    RenyiClassifier,
    RenyiKMeans,
    demographic_parity_ratio,
    fairness_report,
    renyi_correlation,
)
from renyi_lib.baselines import RenyiNetworkClassifier
from renyi_lib.boosting import renyi_objective
from renyi_lib.correlation import normalized_table

RESULTS = Path(__file__).parents[1] / "book/results/bench_speed.json"
PACKAGES = ["numpy", "scipy", "pandas", "scikit-learn", "numba", "fairlearn", "dit", "pyarrow"]
PACKAGES += ["dask", "scikit-lego", "lightgbm"]
LAM = 3.0


def measured(task, sizes, data, methods, repeats, *, most=None, fairness=None):
    """Measure every method of a task at every size, up to the method's limit in `most`.

    At the largest size, a method runs at most three times.
    """
    rows = []
    for n in sizes:
        given = data(n)
        names = [name for name in methods if n <= (most or {}).get(name, np.inf)]
        tasks = [partial(methods[name], *given) for name in names]
        seconds, results = least_times(tasks, repeats if n < max(sizes) else min(repeats, 3))
        for name, function, time, result in zip(names, tasks, seconds, results):
            row = {"task": task, "method": name, "n": n, "seconds": float(time)}
            row["extra MB"] = extra_memory(function)
            row["data MB"] = sum(getattr(part, "nbytes", 0) for part in given) / 2**20
            if fairness is not None:
                row["fairness"] = fairness(result, *given)
            print(f"{task:<34}{name:<28}{n:>9} {time:>10.4f} s  {row['extra MB'] or 0:>8.1f} MB")
            rows.append(row)
    return rows


# --- Correlation ---------------------------------------------------------------------------------


def labels(n):
    rng = np.random.default_rng(0)
    return rng.integers(14, size=n), rng.integers(2, size=n)


def by_crosstab(a, b):
    return np.linalg.svd(normalized_table(pd.crosstab(a, b)), compute_uv=False)[1]


def by_dit(a, b):
    from dit.divergences.maximum_correlation import maximum_correlation_pmf

    table = np.bincount(2 * a + b, minlength=28).reshape(14, 2)
    return maximum_correlation_pmf(table / len(a))


def correlation(sizes):
    methods = {
        "renyi_correlation": renyi_correlation,
        "numpy.bincount (counting only)": lambda a, b: np.bincount(2 * a + b),
        "pandas.crosstab and SVD": by_crosstab,
    }
    if find_spec("dit"):
        methods["bincount and dit"] = by_dit
    return measured("correlation, 14 x 2 labels", sizes, labels, methods, 20)


# --- Classification ------------------------------------------------------------------------------


def people(n, n_features=20, n_groups=2):
    rng = np.random.default_rng(0)
    s = rng.integers(n_groups, size=n)
    X = rng.normal(size=(n, n_features))
    X[:, :5] += (s % 2)[:, None] / 2
    scores = X @ np.random.default_rng(1).normal(size=n_features) / 4
    return X, (scores + rng.logistic(size=n) > 0.3).astype(int), s


def plain(X, y, s):
    return LogisticRegression(C=np.inf, max_iter=1000).fit(X, y).predict(X)


def fair(X, y, s, lam=LAM):
    return RenyiClassifier(lam).fit(X, y, sensitive_features=s).predict(X)


def by_reduction(X, y, s):
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    reduction = ExponentiatedGradient(LogisticRegression(C=np.inf), DemographicParity())
    return reduction.fit(X, y, sensitive_features=s).predict(X, random_state=0)


def by_thresholds(X, y, s):
    from fairlearn.postprocessing import ThresholdOptimizer

    model = ThresholdOptimizer(estimator=LogisticRegression(C=np.inf), predict_method="auto")
    model.fit(X, y, sensitive_features=s)
    return model.predict(X, sensitive_features=s, random_state=0)


def by_covariance(X, y, s):
    from sklego.linear_model import DemographicParityClassifier

    frame = pd.DataFrame(X).assign(s=s)
    frame.columns = frame.columns.astype(str)
    model = DemographicParityClassifier(
        sensitive_cols=["s"], covariance_threshold=0.01, train_sensitive_cols=False
    )
    return model.fit(frame, y).predict(frame)


def p_of(decision, X, y, s):
    return float(demographic_parity_ratio(None, decision, sensitive_features=s))


def classification(sizes):
    methods = {"LogisticRegression": plain, "RenyiClassifier": fair}
    if find_spec("fairlearn"):
        methods |= {"ExponentiatedGradient": by_reduction, "ThresholdOptimizer": by_thresholds}
    if find_spec("sklego") and find_spec("cvxpy"):
        methods["scikit-lego"] = by_covariance
    large = sizes[-2]
    most = {"ExponentiatedGradient": large, "ThresholdOptimizer": large, "scikit-lego": sizes[-3]}
    options = {"most": most, "fairness": p_of}
    rows = measured("fair classifier, 20 features", sizes, people, methods, 3, **options)
    two = {name: methods[name] for name in ("LogisticRegression", "RenyiClassifier")}
    many = partial(people, n_features=100)
    options = {"fairness": p_of}
    return rows + measured("fair classifier, 100 features", [large], many, two, 3, **options)


def by_lam(sizes):
    """Measure the time by the strength of the penalty, for a few and for many features."""
    methods = {"LogisticRegression": plain}
    methods |= {f"RenyiClassifier, lam {lam}": partial(fair, lam=lam) for lam in (1, 10, 100)}
    rows = []
    for n, n_features in ((sizes[-1], 20), (sizes[-2], 100)):
        task = f"fair classifier by lam, {n_features} features"
        data = partial(people, n_features=n_features)
        rows += measured(task, [n], data, methods, 3, fairness=p_of)
    return rows


def reports(sizes):
    """Measure a report with intervals by the number of groups `n`, for a fixed sample size."""

    def data(d):
        _, y, s = people(100_000, n_features=5, n_groups=d)
        return y, np.random.default_rng(2).random(y.size), s

    def report(y, score, s):
        return fairness_report(y, score, sensitive_features=s)

    return measured("report, many groups", sizes, data, {"fairness_report": report}, 1)


def many_groups(sizes):
    """Measure the time by the number of groups `n`, for a fixed number of people."""

    def data(d):
        return people(100_000, n_groups=d)

    return measured("fair classifier, many groups", sizes, data, {"RenyiClassifier": fair}, 1)


def boosting(sizes):
    """Measure the fit of a hundred trees with LightGBM, with different objectives."""
    import lightgbm

    def log_loss(raw, rows):
        p = 1 / (1 + np.exp(-raw))
        return p - rows.get_label(), p * (1 - p)

    def trees(X, y, s, objective=None, **fair):
        if objective is None:
            objective = renyi_objective(y, sensitive_features=s, lam=LAM, **fair)
        parameters = {"objective": objective, "learning_rate": 0.1, "num_threads": 1}
        return lightgbm.train({**parameters, "verbosity": -1}, lightgbm.Dataset(X, y), 100)

    methods = {
        "LightGBM's own objective": partial(trees, objective="binary"),
        "log-loss as an objective": partial(trees, objective=log_loss),
        "renyi_objective, label": partial(trees, on="label"),
        "renyi_objective, equalized odds": partial(trees, fairness="equalized_odds"),
        "renyi_objective, score": partial(trees, on="score"),
    }

    def fairness(fitted, X, y, s):
        return p_of((fitted.predict(X, raw_score=True) > 0).astype(int), X, y, s)

    return measured("fair boosting, 20 features", sizes, people, methods, 5, fairness=fairness)


def network(sizes):
    """Measure five epochs of a network with one hidden layer, with and without the penalty."""

    def fitted(X, y, s, lam):
        model = RenyiNetworkClassifier(lam, epochs=5, random_state=0)
        return model.fit(X, y, sensitive_features=s).predict(X)

    methods = {
        "the plain network": partial(fitted, lam=0.0),
        "RenyiNetworkClassifier": partial(fitted, lam=LAM),
    }
    return measured("fair network, 5 epochs", sizes, people, methods, 3, fairness=p_of)


def chunks(sizes):
    """Measure fits from files in constant memory; `data MB` is the size of X if it were loaded."""
    import pyarrow
    from pyarrow import parquet

    rows = []
    with TemporaryDirectory() as folder:
        for n in sizes:
            X, y, s = people(n)
            columns = {f"x{j}": X[:, j] for j in range(20)} | {"y": y, "s": s}
            path = f"{folder}/{n}.parquet"
            parquet.write_table(pyarrow.table(columns), path, row_group_size=100_000)
            size = X.nbytes
            del X, y, s, columns

            def from_file(path=path):
                rows = ParquetRows(path)
                return RenyiClassifier(LAM).fit(rows, "y", sensitive_features="s")

            def by_dask(path=path):
                from dask import config, dataframe

                # Use a single thread, as in all other measurements.
                with config.set(scheduler="synchronous"):
                    frame = dataframe.read_parquet(path, split_row_groups=True)
                    X = frame[[f"x{j}" for j in range(20)]]
                    return RenyiClassifier(LAM).fit(X, frame["y"], sensitive_features=frame["s"])

            methods = {"ParquetRows": from_file}
            if find_spec("dask"):
                methods["Dask"] = by_dask
            task = "fair classifier, from Parquet"
            found = measured(task, [n], lambda n: (), methods, 1)
            rows += [row | {"data MB": size / 2**20} for row in found]
    return rows


# --- Clustering ----------------------------------------------------------------------------------


def mixture(n, spread, n_features=5):
    """Sample points around ten centers with different group shares; `spread` separates them."""
    rng = np.random.default_rng(0)
    source = rng.integers(10, size=n)
    centers = spread * rng.normal(size=(10, n_features))
    X = centers[source] + 0.5 * rng.normal(size=(n, n_features))
    s = (rng.random(n) < np.linspace(0.2, 0.8, 10)[source]).astype(int)
    return X, s, kmeans_plusplus(X, 10, random_state=0)[0]


def plain_clusters(X, s, start):
    return KMeans(10, init=start, n_init=1).fit_predict(X)


def fair_clusters(X, s, start, lam=1.0):
    model = RenyiKMeans(10, lam, init=start, tol=1e-4)
    return model.fit(X, sensitive_features=s).labels_


def dependence(found, X, s, start):
    return renyi_correlation(found, s, kind="discrete")


def clustering(sizes):
    methods = {"KMeans": plain_clusters, "RenyiKMeans": fair_clusters}
    rows = []
    for name, spread in (("clusters", 1.0), ("no clusters", 0.0)):
        data = partial(mixture, spread=spread)
        rows += measured(f"fair k-means, {name}", sizes, data, methods, 3, fairness=dependence)
    methods = {"KMeans": plain_clusters}
    for lam in (0.01, 0.1, 1, 10, 100):
        methods[f"RenyiKMeans, lam {lam}"] = partial(fair_clusters, lam=lam)
    data = partial(mixture, spread=1.0, n_features=8)
    task = "fair k-means by lam, 8 columns"
    return rows + measured(task, sizes[-1:], data, methods, 3, fairness=dependence)


def halves(n):
    """Sample points in two groups of the same size, as fair-kmeans requires."""
    X, _, start = mixture(n, 1.0)
    order = np.argsort(X[:, 0] + 2 * np.random.default_rng(1).normal(size=n))
    s = np.empty(n, int)
    s[order] = np.repeat([0, 1], n // 2)
    return X, s, start


def beside_fair_kmeans(sizes):
    """Compare `RenyiKMeans` at a large lam with fair-kmeans, which mixes clusters perfectly."""
    python = os.environ.get("FAIR_KMEANS_PYTHON")
    if not python:
        print("fair-kmeans is skipped, because FAIR_KMEANS_PYTHON is not set")
        return []

    task = "fair k-means, two equal groups"
    methods = {"RenyiKMeans, lam 1000": partial(fair_clusters, lam=1e3)}
    rows = measured(task, sizes, halves, methods, 3, fairness=dependence)
    peer = Path(__file__).with_name("fair_kmeans_peer.py")
    with TemporaryDirectory() as folder:
        for n in sizes:
            X, s, start = halves(n)
            np.savez(f"{folder}/{n}.npz", X=X, s=s)
            command = [python, str(peer), f"{folder}/{n}.npz"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            row = {"task": task, "method": f"fair-kmeans {found['version']}", "n": n}
            row |= {"seconds": found["seconds"], "extra MB": None, "data MB": X.nbytes / 2**20}
            row["fairness"] = dependence(found["labels"], X, s, start)
            print(f"{task:<34}{row['method']:<28}{n:>9} {row['seconds']:>10.4f} s")
            rows.append(row)
    return rows


# --- Goals ---------------------------------------------------------------------------------------


def goals(rows):
    """Compare each goal with the measurement at the largest size that both methods share."""
    found = {(row["task"], row["method"], row["n"]): row for row in rows}

    def ratio(task, ours, reference):
        sizes = {
            method: {n for t, m, n in found if (t, m) == (task, method)} for method in methods
        }
        n = max(sizes[ours] & sizes[reference])
        return n, found[task, ours, n]["seconds"] / found[task, reference, n]["seconds"]

    methods = {row["method"] for row in rows}
    of_features = [f"fair classifier by lam, {p} features" for p in (20, 100)]
    pairs = [
        ("correlation, 14 x 2 labels", "renyi_correlation", "numpy.bincount (counting only)", 2.0),
        *(
            (task, f"RenyiClassifier, lam {lam}", "LogisticRegression", 1.3)
            for task in of_features
            for lam in (1, 10, 100)
        ),
        *(
            ("fair boosting, 20 features", f"renyi_objective, {kind}", reference, 1.3)
            for reference in ("LightGBM's own objective", "log-loss as an objective")
            for kind in ("label", "equalized odds", "score")
        ),
        *(
            ("fair k-means by lam, 8 columns", f"RenyiKMeans, lam {lam}", "KMeans", 2.0)
            for lam in (0.01, 0.1, 1, 10, 100)
        ),
        ("fair k-means, no clusters", "RenyiKMeans", "KMeans", 2.0),
    ]
    met = []
    for task, ours, reference, limit in pairs:
        n, value = ratio(task, ours, reference)
        what = f"{ours} / {reference}, seconds"
        met.append({"task": task, "what": what, "n": n, "value": value, "limit": limit})
    task = "report, many groups"
    row = found[task, "fairness_report", n := max(n for t, _, n in found if t == task)]
    goal = {"task": task, "what": "fairness_report, seconds", "n": n}
    met.append(goal | {"value": row["seconds"], "limit": 3.0})
    task = "fair classifier, 20 features"
    row = found[task, "RenyiClassifier", n := max(n for t, _, n in found if t == task)]
    if row["extra MB"] is not None:
        goal = {"task": task, "what": "extra memory / size of the data", "n": n}
        met.append(goal | {"value": row["extra MB"] / row["data MB"], "limit": 0.2})
    return [goal | {"met": bool(goal["value"] <= goal["limit"])} for goal in met]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="use a tenth of the people")
    parser.add_argument("--out", help="file for the results")
    options = parser.parse_args()
    scale = 10 if options.small else 1
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", message="Please consider using fairlearn")
    logging.disable(logging.WARNING)  # scikit-lego logs a warning in each fit
    million = [n // scale for n in (10**4, 10**5, 10**6)]
    with threadpool_limits(1):
        RenyiKMeans(2, 1.0).fit([[0.0], [1.0], [2.0]], sensitive_features=[0, 1, 0])  # compile
        rows = correlation(million)
        rows += classification(million)
        rows += by_lam(million)
        rows += chunks(million)
        rows += many_groups([n // scale for n in (20, 200, 2000, 20_000)])
        rows += reports([n // scale for n in (20, 200, 2000)])
        rows += boosting(million[:2])
        rows += network(million[:2])
        rows += clustering([n // scale for n in (10**3, 10**4, 10**5)])
        rows += beside_fair_kmeans([n // scale for n in (500, 1000, 2000)])
    content = {"made": made(PACKAGES), "rows": rows, "goals": goals(rows)}
    for goal in content["goals"]:
        said = "met" if goal["met"] else "MISSED"
        print(
            f"{said:<8}{goal['value']:>8.2f} of {goal['limit']:g}  {goal['task']}: {goal['what']}"
        )
    out = options.out or (None if options.small else RESULTS)
    if out:
        save(out, content)


if __name__ == "__main__":
    main()
