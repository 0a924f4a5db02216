"""Fair clusters: Fig. 3, and the two examples of appendix C (Figs. 4 and 5, four points)."""

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

# What each panel of Fig. 3 clusters: the columns, and S.
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
    """Proportions and loss of fair k-means over lam (a panel of Fig. 3).

    "paper" is Algorithm 3 from a random assignment for each lam; it need not stop, and is cut off
    after `max_iter` passes. "descent" goes up the lams from the plain k-means solution, and moves
    a point only when the objective falls. The columns are scaled to unit norm.

    Parameters
    ----------
    dataset : {"adult", "bank"}
    algorithms : sequence of {"paper", "descent"}
    lams : sequence of float
        In increasing order.
    n_clusters : int, default=14
    n_rows : int or None, default=10000
        The first rows of the file; None takes all. The paper says 10000 for Adult and nothing for
        Bank.
    max_iter : int, default=100
        Passes over the data for "paper".
    seeds : iterable of int
        One start for each.
    progress : bool, default=True

    Returns
    -------
    DataFrame
        ``dataset, algorithm, seed`` and the columns of `renyi_lib.clustering.tradeoff_table`, and
        ``p``, the proportion of S = 1 among all, and ``cycle_length``, the passes after which
        Algorithm 3 came back to an earlier state (0 if it did not).

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
    """Whether Algorithm 3 stops if it may take ten times as many passes as in Fig. 3's tables.

    Parameters
    ----------
    datasets : sequence of {"adult", "bank"}
    lams : sequence of float
    n_clusters : int, default=14
    n_rows : int, default=10000
        The first rows of the file.
    max_iter : int, default=1000
    seeds : iterable of int
        One random start for each.
    progress : bool, default=True

    Returns
    -------
    DataFrame
        ``dataset, seed, lam, max_iter, n_iter, converged, cycle_length``.

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
    """X, scaled to unit norm, and S of the first rows of a file (all of them with None)."""
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
    """Algorithm 3 on five neighborhoods, two of which have one group only (Figs. 4 and 5).

    Parameters
    ----------
    lams : sequence of float
    n_points : int, default=500
        Around each center.
    spread : float, default=0.4
        Standard deviation around a center; the centers lie in a square of side 10.
    max_iter : int, default=300
    seeds : iterable of int
        New centers, points, groups and start for each.
    progress : bool, default=True

    Returns
    -------
    DataFrame
        ``seed``, the columns of `renyi_lib.clustering.tradeoff_table`, and ``together``: which
        part of the two one-group neighborhoods stays in the largest cluster of its own.

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
        # The paper's centers 2 and 4.
        s[home == 1], s[home == 3] = 1, 0
        for lam in lams:
            model = _algorithm_3(X, s, lam, 5, seed, max_iter)
            largest = [np.bincount(model.labels_[home == k]).max() / n_points for k in (1, 3)]
            row = tradeoff_table([model]).iloc[0].to_dict()
            rows.append({"seed": int(seed), **row, "together": float(np.mean(largest))})
    return pd.DataFrame(rows)


def four_points(*, lams=tuple(range(1, 301)), max_iter=50):
    """Algorithm 3 on the four points of appendix C, from the start given there.

    Parameters
    ----------
    lams : sequence of float
    max_iter : int, default=50

    Returns
    -------
    DataFrame
        ``lam``, ``fair`` (whether each cluster ended with one point of either group),
        ``converged`` and ``cycle_length`` (0 if it did not come back to an earlier state).

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
    """Algorithm 3 as printed, from a random assignment (a seed) or a given one."""
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
        # That it does not stop is a result here: the column `converged`.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sensitive_features=s)
