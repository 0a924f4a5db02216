"""Speed of the Rényi correlation and of HSIC, relative to simple references.

Run ``python benchmarks/bench_correlation.py``. Each ratio divides the library's fastest time in
several runs by the reference's fastest time in as many runs. The runs alternate, so that both are
exposed to the same load.
"""

from functools import partial

import numpy as np
import pandas as pd
from timing import least_times

from renyi_lib.correlation import normalized_table, renyi_correlation, renyi_from_joint
from renyi_lib.dependence import hsic

N = 10**6
GOAL = 3.0


def report(title, ours, reference, note=""):
    print(
        f"{title:<46}{1e3 * ours:>9.2f} ms  /{1e3 * reference:>9.2f} ms  ={ours / reference:>7.2f}"
        f"  {note}"
    )


def counting(rng):
    """Time one million integer labels against a single bincount of their combined code."""
    print(f"\nrenyi_correlation of {N:,} integer labels / numpy.bincount of the combined code")
    for c, d in [(2, 2), (14, 5), (100, 100)]:
        a, b = rng.integers(0, c, N), rng.integers(0, d, N)
        combined = a * d + b
        for dtype, low in [("int64", 0), ("int64", 1), ("int64", -1), ("int32", 0), ("int8", 0)]:
            x, y = (a + low).astype(dtype), (b + low).astype(dtype)
            tasks = [partial(renyi_correlation, x, y), partial(np.bincount, combined)]
            (ours, reference), _ = least_times(tasks, repeats=150)
            verdict = "ok" if ours <= GOAL * reference else f"above the goal of {GOAL:g}"
            report(f"{c} x {d}, {dtype}, labels from {low}", ours, reference, verdict)


def other_labels(rng):
    """Time strings and categoricals against pandas.crosstab followed by an SVD."""

    def by_pandas(x, y):
        return np.linalg.svd(normalized_table(pd.crosstab(x, y)), compute_uv=False)[1]

    print(f"\nrenyi_correlation of {N:,} labels / pandas.crosstab and an SVD")
    a = pd.Series(rng.integers(0, 14, N)).map(lambda code: f"occupation {code}")
    b = pd.Series(rng.integers(0, 2, N)).map({0: "f", 1: "m"})
    for kind in ["str", "category"]:
        x, y = a.astype(kind), b.astype(kind)
        tasks = [partial(renyi_correlation, x, y), partial(by_pandas, x, y)]
        (ours, reference), _ = least_times(tasks, repeats=3)
        report(f"14 x 2, {kind}", ours, reference)


def large_table(rng):
    """Time `renyi_from_joint`, which needs one singular value, against a full SVD of Q."""
    print("\nrenyi_from_joint of a 1000 x 1000 table / SVD of Q")
    table = rng.integers(0, 5, (1000, 1000))
    tasks = [
        lambda: renyi_from_joint(table),
        lambda: np.linalg.svd(normalized_table(table), compute_uv=False)[1],
    ]
    (ours, reference), _ = least_times(tasks, repeats=3)
    report("1000 x 1000", ours, reference)


def kernels(rng):
    """Time HSIC by features against HSIC by kernel matrices."""

    def by_the_trace():
        K = np.exp(-((a[:, None] - a) ** 2) / (2 * a.var()))
        L = (b[:, None] == b).astype(float)
        L -= L.mean(axis=0)
        L -= L.mean(axis=1, keepdims=True)
        return np.sum(K * L) / len(a) ** 2

    print("\nhsic of a Gaussian score and a group / its definition with n x n matrices")
    a, b = rng.normal(size=4000), rng.integers(0, 3, 4000)
    report("n = 4000", *least_times([lambda: hsic(a, b), by_the_trace], repeats=3)[0])


if __name__ == "__main__":
    for benchmark in [counting, other_labels, large_table, kernels]:
        benchmark(np.random.default_rng(0))
