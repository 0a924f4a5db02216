"""Simulated tables, with a generator for each kind: given measurements plus noise."""

import numpy as np
import pandas as pd

SEEDS = range(100, 130)
ROWS = ("train", "validation", "test")
# Number of people for which (x + 1/2) / (n + 1/2) is practically the rate.
MANY = 10**9
# Values of lambda for the clusters.
LAMS = (0, 0.005, 0.3, 1, 10)


def normal(count, seed=0):
    """Standard normal numbers with mean exactly 0 and standard deviation 1."""
    z = np.random.default_rng(seed).normal(size=count)
    return (z - z.mean()) / z.std(ddof=1)


Z = dict(zip(SEEDS, normal(len(SEEDS))))


def point(lam=0.0, accuracy=0.85, p=0.3, gap=0.06, groups=2, **others):
    """Return the measures of a classifier with the given accuracy, p% and signed EO gap."""
    rates = [0.3 * p] + [0.3] * (groups - 1)
    found = {
        "lam": float(lam),
        "accuracy": accuracy,
        "p_rule": min(p, 1 / p),
        "dp_violation": 0.3 * abs(1 - p),
        "eo_violation": abs(gap),
        "eo_gap": gap,
        "soft_eo_gap": gap,
        "rho_R": 0.2,
        "soft_rho_R": 0.2,
        "nmi": 0.04,
        "score_pearson": 0.2,
        "soft_nmi": 0.04,
    }
    for g, rate in enumerate(rates):
        found |= {f"rate_{g}": rate, f"n_{g}": MANY, f"tpr_{g}": 0.5, f"pos_{g}": MANY}
    return found | {"tpr_1": 0.5 + gap} | others


def classifiers(curves, *, by="method", noise=None, noisy=None, paper=None, dataset="adult"):
    """Return a table of curves on 30 random splits and, if given, on the paper's split.

    Parameters
    ----------
    curves : dict of name to list of `point`
    by : str
        Column of the names.
    noise : dict of column to standard deviation, optional
        Noise between splits, on training and test rows; "p" multiplies the rate of the first group
        by a factor, and "gap" shifts the second group's TPR.
    noisy : str, optional
        Curve that has the noise; by default all.
    paper : dict of name to list of `point`, optional
        Curves on the paper's split, which are the same on training and test rows.
    dataset : str
        Name of the data set.
    """
    table = []
    for name, points in curves.items():
        for seed in SEEDS:
            z = Z[seed] if noisy in (None, name) else 0.0
            for rows in ROWS:
                moved = 0.0 if rows == "validation" else z
                table += [
                    {by: name, "dataset": dataset, "split": "random", "seed": seed, "rows": rows}
                    | _moved(one, moved, noise or {})
                    for one in points
                ]
    for name, points in (paper or {}).items():
        for rows in ("train", "test"):
            table += [
                {by: name, "dataset": dataset, "split": "paper", "seed": 0, "rows": rows} | one
                for one in points
            ]
    return pd.DataFrame(table)


def _moved(one, z, noise):
    one = dict(one)
    for column, sd in noise.items():
        if column == "p":
            one["rate_0"] *= np.exp(sd * z)
        elif column == "gap":
            one["tpr_1"] += sd * z
            one["soft_eo_gap"] += sd * z
        else:
            one[column] += sd * z
    return one


def by_seed(values, seeds=SEEDS, **keys):
    """Return a row for each seed and combination of keys; `values` adds columns to a row."""
    table = [{"seed": seed} for seed in seeds]
    for key, options in keys.items():
        table = [row | {key: option} for row in table for option in options]
    return pd.DataFrame([row | values(row) for row in table])


def penalties(rival, *, renyi=None, method="pearson", groups=2, noise=None, at_once=False):
    """Return paths of Rényi and a baseline, unfair at lam = 0 and as given at lam = 10.

    The first two arguments are (accuracy, p) at lam = 10, for the baseline and for Rényi. At lam =
    1, both are halfway.
    """

    def curve(end):
        accuracy, p = end
        middle = (0.85 + accuracy) / 2, (0.3 + p) / 2
        return [
            point(0, groups=groups),
            point(1, *middle, groups=groups),
            point(10, accuracy, p, groups=groups, rho_R=0.0, soft_rho_R=0.0, nmi=0, soft_nmi=0),
        ]

    curves = {"renyi": curve(renyi or (0.83, 0.95)), method: curve(rival)}
    return classifiers(curves, noise=noise, noisy=method)


def boundary(end, ridges=(0.0, 1e-2), noise=None):
    """Return paths of Zafar's bound c on the covariance; `end` is (accuracy, p) at c = 0."""
    curves = {ridge: [point(0, c=0.1), point(0, *end, c=0.0)] for ridge in ridges}
    return classifiers(curves, by="l2", noise=noise)


def opportunity(end, *, start=(0.85, 0.08), noise=None, code=()):
    """Return Rényi's paths; `start` and `end` are (accuracy, signed gap) at lam = 0 and beyond."""
    path, authors = (
        [point(0, start[0], gap=start[1]), *(point(lam, end[0], gap=end[1]) for lam in lams)]
        for lams in ((1000,), (40, 600, 1000))
    )
    codes = [point(lam, **measured) for lam, measured in dict(code).items()]
    return classifiers(
        {"paper": path, "code": authors},
        by="recipe",
        noise=noise,
        paper={"paper": path, "code": codes},
    )


def rivals(method, accuracy, gap, *, noise=None):
    """Return a table of a baseline with one point."""
    points = {method: [point(np.nan, accuracy, gap=gap)]}
    return classifiers(points, noise=noise, paper=points)


def starts(**datasets):
    """Return starting points from {name: (p, dp on training rows, dp on test rows, noise)}."""
    parts = []
    for name, (p, train, test, noise) in datasets.items():
        part = classifiers(
            {"plain": [point(0, p=p)]},
            noise={"p": noise},
            paper={"plain": [point(0, p=p)]},
            dataset=name,
        )
        part["dp_violation"] = np.where(part["rows"] == "train", train, test)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def clusters(column, at, *, algorithm="paper", noise=0.0, elsewhere=1.0, lams=LAMS):
    """Return a column that is 1 at lam = 0 and as in `at` at other lams, for both algorithms."""

    def values(row):
        known = at.get(row["lam"], elsewhere) if row["algorithm"] == algorithm else elsewhere
        value = 1.0 if row["lam"] == 0 else known + noise * Z[row["seed"]]
        return {column: value}

    return by_seed(values, algorithm=["paper", "descent"], lam=[float(lam) for lam in lams])


def proportions(width, *, noise=0.0, lams=LAMS):
    """Return smallest and largest w, which differ by a width that may depend on lambda."""

    def values(row):
        wide = width(row["lam"]) if callable(width) else width
        low, high = 0.4, 0.4 + wide + noise * abs(Z[row["seed"]])
        return {"w_min": low, "w_max": high, "balance": min(low / (1 - low), (1 - high) / high)}

    return by_seed(values, algorithm=["paper", "descent"], lam=[float(lam) for lam in lams])


def network(start=(0.3149, 0.8533), end=(0.81, 0.8334), *, seconds=1.25, noise=None):
    """Return networks with these (p%, accuracy) at lam = 0 and 10, and a factor of the time."""
    noise = noise or {}

    def values(row):
        p, accuracy = end if row["lam"] else start
        time = seconds if row["lam"] else 1.0
        z = Z[row["seed"]]
        return {
            "split": "paper",
            "p_rule": p + noise.get("p_rule", 0) * z,
            "accuracy": accuracy + noise.get("accuracy", 0) * z,
            "cpu_seconds": time + (noise.get("seconds", 0) * z if row["lam"] else 0),
        }

    return by_seed(values, lam=[0.0, 10.0], rows=["train", "test"])


def timing(times, noise=0.0):
    """Return the seconds of each step, with noise in the logarithm."""
    return by_seed(
        lambda row: {"n": 1, "seconds": times[row["what"]] * np.exp(noise * _own(row))},
        what=list(times),
    )


def _own(row):
    """Return the noise of a step; the loss has none, so that the noise does not cancel."""
    return Z[row["seed"]] if row["what"] != "loss" else 0.0
