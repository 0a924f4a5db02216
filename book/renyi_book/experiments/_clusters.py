"""Fair clusters in Fig. 3 and in the two examples of appendix C (Figs. 4 and 5, four points)."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from tqdm import tqdm

from renyi_book.experiments._splits import FRESH
from renyi_lib.clustering import RenyiKMeans, tradeoff_table
from renyi_lib.datasets import load_adult, load_bank
from renyi_lib.tuning import lam_path

# Columns and sensitive attribute of each panel of Fig. 3.
CLUSTERED = {
    "adult": (("capital-gain", "age", "fnlwgt", "capital-loss", "hours-per-week"), "gender"),
    "bank": (("age", "balance", "duration"), "married"),
}


def fair_clusters(
    dataset="adult",
    *,
    algorithms=("paper", "descent"),
    lams=(0, 1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.3, 1, 3, 10),
    n_clusters=14,
    n_rows=10000,
    max_iter=100,
    seeds=FRESH,
    progress=True,
):
    """Measure the groups' proportions and the loss of fair k-means over lam (a panel of Fig. 3).

    "paper" is Algorithm 3 from a random assignment for each lam. It may not converge, so it is
    stopped after `max_iter` passes. "descent" increases lam from the plain k-means solution and
    moves a point only if the objective decreases. Columns are scaled to unit norm.

    Parameters
    ----------
    dataset : {"adult", "bank"}
        Data set.
    algorithms : sequence of {"paper", "descent"}
        Algorithms to run.
    lams : sequence of float
        Weights of the penalty, in increasing order.
    n_clusters : int, default=14
        Number of clusters.
    n_rows : int or None, default=10000
        Number of rows, the first ones of the data set; None means all. The paper states 10000 for
        Adult and no number for Bank.
    max_iter : int, default=100
        Maximum number of passes over the data for "paper".
    seeds : iterable of int
        Seeds of the starts.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, algorithm, seed``, the columns of
        `renyi_lib.clustering.tradeoff_table`, ``p``, the overall proportion of S = 1, and
        ``cycle_length``, the length in passes of the cycle of Algorithm 3 (0 if no cycle was
        detected, and for "descent").

    Examples
    --------
    >>> from renyi_book.experiments import fair_clusters
    >>> table = fair_clusters(
    ...     algorithms=["descent"], lams=[0, 1], n_rows=2000, seeds=[0], progress=False
    ... )
    >>> bool(table["w_sd"].iloc[1] < table["w_sd"].iloc[0] / 10)
    True
    """
    if dataset not in CLUSTERED:
        raise ValueError(f"dataset must be 'adult' or 'bank', not {dataset!r}")
    X, s = clustered_points(dataset, n_rows)
    tables = []
    for seed in tqdm(seeds, desc=f"{dataset}, clusters", disable=not progress, leave=False):
        for algorithm in algorithms:
            if algorithm == "descent":
                path = lam_path(
                    RenyiKMeans(n_clusters, random_state=seed), X, sensitive_features=s, lams=lams
                )
            else:
                path = [_algorithm_3(X, s, lam, n_clusters, seed, max_iter) for lam in lams]
            table = tradeoff_table(path)
            table.insert(0, "dataset", dataset)
            table.insert(1, "algorithm", algorithm)
            table.insert(2, "seed", int(seed))
            cycles = [getattr(model, "cycle_length_", 0) for model in path]
            tables.append(table.assign(p=s.mean(), cycle_length=cycles))
    return pd.concat(tables, ignore_index=True)


def clusters_stop(
    *,
    datasets=("adult", "bank"),
    lams=(1e-4, 5e-3, 0.1, 1, 10),
    n_clusters=14,
    n_rows=10000,
    max_iter=1000,
    seeds=FRESH[:10],
    progress=True,
):
    """Measure whether Algorithm 3 stops, by default with ten times the passes of `fair_clusters`.

    Parameters
    ----------
    datasets : sequence of {"adult", "bank"}
        Data sets.
    lams : sequence of float
        Weights of the penalty.
    n_clusters : int, default=14
        Number of clusters.
    n_rows : int or None, default=10000
        Number of rows, the first ones of the data set; None means all.
    max_iter : int, default=1000
        Maximum number of passes.
    seeds : iterable of int
        Seeds of the random starts.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, seed, lam, max_iter``; ``n_iter``, the number of passes made;
        ``converged``, whether the last pass moved no point; and ``cycle_length`` as in
        `fair_clusters`.

    Examples
    --------
    >>> from renyi_book.experiments import clusters_stop
    >>> table = clusters_stop(
    ...     datasets=["adult"], lams=[1], n_rows=500, max_iter=20, seeds=[0], progress=False
    ... )
    >>> table["converged"].tolist()
    [False]
    """
    found = []
    for dataset in datasets:
        X, s = clustered_points(dataset, n_rows)
        for seed in tqdm(seeds, desc=f"{dataset}, stop", disable=not progress, leave=False):
            for lam in lams:
                model = _algorithm_3(X, s, lam, n_clusters, seed, max_iter)
                found.append(
                    {
                        "dataset": dataset,
                        "seed": int(seed),
                        "lam": float(lam),
                        "max_iter": int(max_iter),
                        "n_iter": int(model.n_iter_),
                        "converged": bool(model.converged_),
                        "cycle_length": int(model.cycle_length_),
                    }
                )
    return pd.DataFrame(found)


def clustered_points(dataset, n_rows=10000):
    """Return X, with columns of unit norm, and S for the first `n_rows` rows; None means all."""
    columns, sensitive = CLUSTERED[dataset]
    data = load_adult() if dataset == "adult" else load_bank()
    rows = pd.concat([data.train, data.test], ignore_index=True).iloc[:n_rows]
    arrays = replace(data, train=rows).encode(
        sensitive=sensitive, columns=list(columns), scaling="unit_norm"
    )
    return arrays.X_train, arrays.s_train


def toy_clusters(
    *,
    lams=(0, 10, 20, 30, 50, 100, 200, 1000),
    n_points=500,
    spread=0.4,
    max_iter=300,
    seeds=FRESH,
    progress=True,
):
    """Run Algorithm 3 on five neighborhoods, two of them with a single group (Figs. 4 and 5).

    Parameters
    ----------
    lams : sequence of float
        Weights of the penalty.
    n_points : int, default=500
        Number of points around each center.
    spread : float, default=0.4
        Standard deviation around a center; the centers lie in a square of side 10.
    max_iter : int, default=300
        Maximum number of passes.
    seeds : iterable of int
        Seeds of the centers, points, groups and starts.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``seed``, the columns of `renyi_lib.clustering.tradeoff_table`, and ``together``,
        the largest fraction of a one-group neighborhood's points that share a cluster, averaged
        over the two such neighborhoods.

    Examples
    --------
    >>> from renyi_book.experiments import toy_clusters
    >>> table = toy_clusters(lams=[0, 1000], seeds=[0], progress=False)
    >>> bool(table["together"].iloc[0] > table["together"].iloc[1])
    True
    """
    rows = []
    for seed in tqdm(seeds, desc="toy", disable=not progress, leave=False):
        rng = np.random.default_rng(seed)
        home = np.repeat(np.arange(5), n_points)
        X = rng.uniform(0, 10, size=(5, 2))[home] + rng.normal(0, spread, size=(len(home), 2))
        s = rng.integers(0, 2, size=len(home))
        # Centers 2 and 4 in the paper.
        s[home == 1], s[home == 3] = 1, 0
        for lam in lams:
            model = _algorithm_3(X, s, lam, 5, seed, max_iter)
            largest = [np.bincount(model.labels_[home == k]).max() / n_points for k in (1, 3)]
            row = tradeoff_table([model]).iloc[0].to_dict()
            rows.append({"seed": int(seed), **row, "together": float(np.mean(largest))})
    return pd.DataFrame(rows)


def four_points(*, lams=range(1, 301), max_iter=50):
    """Run Algorithm 3 on the four points of appendix C, from the start given there.

    Parameters
    ----------
    lams : sequence of float
        Weights of the penalty.
    max_iter : int, default=50
        Maximum number of passes.

    Returns
    -------
    DataFrame
        Columns ``lam``, ``fair`` (whether the algorithm converges with one point of each group in
        each cluster), ``converged`` and ``cycle_length`` (0 if no cycle was detected).

    Examples
    --------
    >>> from renyi_book.experiments import four_points
    >>> four_points(lams=[10, 100, 1000])["fair"].tolist()
    [False, True, False]
    """
    X, s = np.array([[-5.0], [-4.0], [4.0], [5.0]]), np.array([1, 1, 0, 0])
    rows = []
    for lam in lams:
        model = _algorithm_3(X, s, lam, 2, [0, 0, 1, 1], max_iter)
        rows.append(
            {
                "lam": float(lam),
                "fair": bool(model.penalty_ == 0 and model.converged_),
                "converged": bool(model.converged_),
                "cycle_length": int(model.cycle_length_),
            }
        )
    return pd.DataFrame(rows)


def _algorithm_3(X, s, lam, n_clusters, start, max_iter):
    """Run Algorithm 3 as printed, from the assignment `start`, or a random one if it is a seed."""
    given = not np.isscalar(start)
    model = RenyiKMeans(
        n_clusters,
        lam,
        algorithm="paper",
        init=np.asarray(start) if given else "random-assignment",
        max_iter=max_iter,
        random_state=None if given else start,
    )
    with warnings.catch_warnings():
        # Not converging is a result here, recorded in the column `converged`.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sensitive_features=s)
