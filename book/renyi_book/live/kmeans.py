"""Fair k-means visit by visit on the paper's four points, for ``book/explorables/fair-kmeans``."""

import warnings
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from renyi_book.explorables import explorable, fixed
from renyi_book.plotting import COLORS
from renyi_lib.clustering import RenyiKMeans, renyi_kmeans_objective

#: The points, their groups, the first clusters and the opening lambda.
POINTS = {"x": [-5, -4, 4, 5], "s": [1, 1, 0, 0], "start": [0, 0, 1, 1], "lam": 85}
# Maximum number of passes in which to look for a cycle.
PASSES = 60


def objective(x, s, labels, lam):
    """Compute the library's objective G of an assignment."""
    return _objective(*(tuple(map(float, one)) for one in (x, s, labels)), lam)


def fixed_centers(x, s, labels, centers, lam):
    """Compute F, the objective for fixed centers and the adversary's best reply, up to a constant.

    F is G plus the amount by which moving the centers to the means would decrease the objective.
    """
    x, labels = np.asarray(x, dtype=float), np.asarray(labels)
    sse = np.sum((x - np.asarray(centers)[labels]) ** 2)
    at_means = objective(x, s, labels, 0.0)
    return objective(x, s, labels, lam) - at_means + sse


def visits(x, s, start, lam, count, *, algorithm):
    """Return the first visits of an algorithm, one row for each.

    Parameters
    ----------
    x, s, start : sequence
        Points on a line, their groups (0 or 1) and initial clusters (0 or 1).
    lam : float
        Weight of the penalty.
    count : int
        Number of visits, including those after the algorithm has stopped.
    algorithm : {"paper", "descent"}
        Algorithm 3 of the paper, or the descent method.

    Returns
    -------
    DataFrame
        Columns ``point``, the point visited; ``believed``, the change of the objective that the
        algorithm predicts for moving it, or NaN where the descent method would empty a cluster;
        ``moved``; and after the visit, ``labels``, the changes ``dF`` (see `fixed_centers`) and
        ``dG`` (see `objective`), and ``G``.

    Examples
    --------
    >>> from renyi_book.live.kmeans import POINTS, visits
    >>> second = visits(**POINTS, count=2, algorithm="paper").iloc[1]
    >>> second[["believed", "dF", "dG"]].astype(float).round(2).tolist()
    [-13.0, 15.33, -9.0]
    """
    x, s, labels = np.asarray(x, dtype=float), np.asarray(s), np.array(start)
    centers, w = _means(x, labels, np.zeros(2)), _means(s, labels, np.zeros(2))
    found = []
    for visit in range(count):
        n = visit % len(x)
        if algorithm == "descent":
            centers, w = _means(x, labels, centers), _means(s, labels, w)
        own = labels[n]
        after = labels.copy()
        after[n] = 1 - own
        if algorithm == "paper":
            t = (x[n] - centers) ** 2 - lam * (w - s[n]) ** 2
            believed = t[1 - own] - t[own]
        elif np.sum(labels == own) < 2:
            believed = np.nan
        else:
            believed = objective(x, s, after, lam) - objective(x, s, labels, lam)
        moved = bool(believed < -1e-9)
        after = after if moved else labels
        found.append(
            {
                "point": n,
                "believed": believed,
                "moved": moved,
                "labels": after.tolist(),
                "dF": fixed_centers(x, s, after, centers, lam)
                - fixed_centers(x, s, labels, centers, lam),
                "dG": objective(x, s, after, lam) - objective(x, s, labels, lam),
                "G": objective(x, s, after, lam),
            }
        )
        labels = after
        w = _means(s, labels, w)
        if n == len(x) - 1:
            centers = _means(x, labels, centers)
    return pd.DataFrame(found)


def still():
    """Plot the objective after each visit for both algorithms, from the opening state."""
    start = objective(*POINTS.values())
    fig, ax = plt.subplots(figsize=(7, 3.6))
    for algorithm, name, style, color in (
        ("paper", "Algorithm 3", "--", "purple"),
        ("descent", "the descent method", "-", "green"),
    ):
        path = visits(**POINTS, count=24, algorithm=algorithm)
        heights = [start, *path["G"]]
        ax.plot(heights, style, color=COLORS[color], label=name)
    ax.set(
        xlabel="visits (four are a pass)",
        ylabel="the objective G",
        xticks=range(0, 25, 4),
        ylim=(None, 92),
    )
    ax.legend(loc="upper center", ncols=2)
    return fig


def show():
    """Show the explorable, with its opening numbers from the library."""
    paths = {
        name: visits(**POINTS, count=8, algorithm=algorithm)
        for name, algorithm in (("Algorithm 3", "paper"), ("descent method", "descent"))
    }
    second = paths["Algorithm 3"].iloc[1]
    explorable(
        "fair-kmeans",
        still=still(),
        alt="The objective after each of 24 visits at lambda 85. By Algorithm 3 it falls, rises "
        "and falls again forever. By the descent method it falls once and stays.",
        data=POINTS,
        say="Press Play, or step through the visits. Each move has two bars, the change of the "
        "objective that the algorithm predicts and the change that occurs once the adversary has "
        f"replied. At [visit 2](visit=2) Algorithm 3 predicts {_signed(second['believed'])} and "
        f"gets {_signed(second['dF'])}. With λ = {{lam}} it {{end}}. With "
        "[λ = 100](lam=100&visit=8), the paper's remedy, it ends with fair clusters, and "
        "with [λ = 170](lam=170&visit=2) it "
        "empties a cluster.",
        values={"lam": str(POINTS["lam"]), "end": f"repeats a cycle of {_cycle()} passes forever"},
        table=pd.concat(paths)[["point", "believed", "dF", "dG", "G"]]
        .assign(point=lambda t: t["point"] + 1)
        .round(2)
        .rename_axis(["", "visit"])
        .rename(lambda visit: visit + 1, level=1),
        label="The first eight visits as a table",
        heights=(340, 618),
    )


def _cycle():
    """Return the length, in passes, of the cycle of Algorithm 3 from the opening state."""
    x, s, start, lam = POINTS.values()
    model = RenyiKMeans(2, lam, algorithm="paper", init=np.array(start), max_iter=PASSES, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(np.reshape(x, (-1, 1)), sensitive_features=s).cycle_length_


@cache
def _objective(x, s, labels, lam):
    X = np.reshape(x, (-1, 1))
    return renyi_kmeans_objective(
        X, np.array(labels, dtype=int), sensitive_features=np.array(s), lam=lam
    ).objective


def _means(values, labels, before):
    return np.array(
        [values[labels == k].mean() if np.any(labels == k) else before[k] for k in (0, 1)]
    )


def _signed(x):
    text = fixed(x, 2)
    return f"+{text}" if x > 0 and float(text) else text
