"""Speed of fair k-means, relative to scikit-learn's KMeans with the same starting centers.

    python benchmarks/bench_clustering.py

The benchmark answers three questions. How much longer does a fair clustering take than a plain one
(Adult, 10000 rows, 5 columns, 14 clusters)? Does the time grow in proportion to the number of
points? How much longer does a path of 26 values of lambda take than 26 plain fits? Both methods
run on one thread, because the benchmark compares the loops and not their use of several cores.
Times are CPU times of the fastest of several runs, which alternate between the methods.
"""

import argparse
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans, kmeans_plusplus
from threadpoolctl import threadpool_limits
from timing import least_times

from renyi_lib.clustering import RenyiKMeans
from renyi_lib.datasets import load_adult
from renyi_lib.tuning import lam_path

K = 14
COLUMNS = ["capital-gain", "age", "fnlwgt", "capital-loss", "hours-per-week"]
PATH = [0.0, *np.geomspace(1e-4, 100, 25)]


def adult():
    """Load the paper's clustering data, 10000 rows of Adult with columns of unit norm."""
    data = load_adult()
    data = replace(data, train=data.train[:10_000]).encode(columns=COLUMNS, scaling="unit_norm")
    return data.X_train, data.s_train


def mixture(n_samples, rng):
    """Sample normal clusters in five dimensions, with a different group share in each cluster."""
    centers = rng.normal(size=(K, 5))
    source = rng.integers(K, size=n_samples)
    X = centers[source] + 0.5 * rng.normal(size=(n_samples, 5))
    return X, (rng.random(n_samples) < np.linspace(0.2, 0.8, K)[source]).astype(int)


def fit_against_kmeans(X, s, lams, seeds, repeats):
    """Compare CPU times with KMeans, with one row for each lambda.

    The ratios of CPU times are summarized by their median and their maximum over the seeds. Each
    model is fitted twice, until no point moves and with tol=1e-4, the default of KMeans.
    """
    tols = 0.0, 1e-4
    ratios, passes = [], []
    for seed in seeds:
        start, _ = kmeans_plusplus(X, K, random_state=seed)
        tasks = [lambda start=start: KMeans(K, init=start, n_init=1).fit(X)]
        for tol in tols:
            for lam in lams:
                model = RenyiKMeans(K, lam, init=start, tol=tol)
                tasks.append(lambda model=model: model.fit(X, sensitive_features=s))
        seconds, results = least_times(tasks, repeats)
        ratios.append(seconds[1:].reshape(2, -1) / seconds[0])
        passes.append(np.reshape([model.n_iter_ for model in results[1:]], (2, -1)))
    table = {"lambda": lams}
    for i, tol in enumerate(tols):
        table |= {
            f"tol={tol:g}: passes": np.median(passes, axis=0)[i],
            f"ratio ({tol:g})": np.median(ratios, axis=0)[i],
            f"worst ({tol:g})": np.max(ratios, axis=0)[i],
        }
    return pd.DataFrame(table)


def growth(sizes, lam, repeats, rng):
    """Measure times of whole fits and of a single pass, with one row for each number of points.

    The number of passes until no point moves grows slowly with the number of points. Only the
    time of a single pass, and that of a fit that stops at a fixed `tol`, should grow linearly.
    """
    rows = []
    for n_samples in sizes:
        X, s = mixture(n_samples, rng)
        start, _ = kmeans_plusplus(X, K, random_state=0)
        exact = RenyiKMeans(K, lam, init=start)
        early = RenyiKMeans(K, lam, init=start, tol=1e-5)
        single = RenyiKMeans(K, lam, init=np.arange(n_samples) % K, tol=1.0)
        tasks = [lambda X=X, start=start: KMeans(K, init=start, n_init=1).fit(X)]
        for model in (exact, early, single):
            tasks.append(lambda X=X, s=s, model=model: model.fit(X, sensitive_features=s))
        seconds, _ = least_times(tasks, repeats)
        rows.append(
            {
                "points": n_samples,
                "KMeans s": seconds[0],
                "fair s": seconds[1],
                "passes": exact.n_iter_,
                "tol=1e-5 s": seconds[2],
                "passes ": early.n_iter_,
                "µs a point, tol=1e-5": 1e6 * seconds[2] / n_samples,
                "µs a point, one pass": 1e6 * seconds[3] / n_samples / single.n_iter_,
            }
        )
    return pd.DataFrame(rows)


def path_against_kmeans(X, s, seeds, repeats):
    """Return a path's time divided by the time of as many plain fits, for each seed."""
    ratios = []
    for seed in seeds:
        start, _ = kmeans_plusplus(X, K, random_state=seed)
        tasks = [
            lambda start=start: KMeans(K, init=start, n_init=1).fit(X),
            lambda start=start: lam_path(
                RenyiKMeans(K, init=start), X, sensitive_features=s, lams=PATH
            ),
        ]
        (plain, path), _ = least_times(tasks, repeats)
        ratios.append(path / (len(PATH) * plain))
    return np.array(ratios)


def show(table):
    print(table.to_string(index=False, float_format="{:.3g}".format))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=8, help="number of runs to time")
    parser.add_argument("--seeds", type=int, default=5, help="number of starts for each result")
    parser.add_argument("--largest", type=int, default=1_000_000, help="most points to cluster")
    options = parser.parse_args()
    seeds = range(options.seeds)
    sizes = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= options.largest]
    lams = [0.0, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 1e3, 1e9]

    with threadpool_limits(1):
        X, s = adult()
        RenyiKMeans(2, 1.0).fit(X[:20], sensitive_features=s[:20])  # compile
        print("Adult, 10000 x 5, 14 clusters: fair fits and KMeans from the same start")
        show(fit_against_kmeans(X, s, lams, seeds, options.repeats))
        print("\nNormal clusters, 5 dimensions, 14 clusters, lambda = 1: time by number of points")
        show(growth(sizes, 1.0, max(2, options.repeats // 4), np.random.default_rng(0)))
        ratios = path_against_kmeans(X, s, seeds, options.repeats)
        print(f"\nAdult, a path of {len(PATH)} lambdas and {len(PATH)} fits of KMeans: ", end="")
        print(f"median ratio {np.median(ratios):.2f}, maximum {ratios.max():.2f}")


if __name__ == "__main__":
    main()
