"""Accuracy and time of our estimator of maximal correlation and of those of maxcorr.

Run ``OMP_NUM_THREADS=1 python benchmarks/bench_continuous.py`` in an environment with `maxcorr`
and `torch`, which only this benchmark needs. It writes ``book/results/bench_continuous.json``,
which a chapter shows. The pairs of continuous variables have known maximal correlations. Times are
medians over the samples, in seconds of CPU time on one thread, without imports and without a first
call.

maxcorr's estimators run with their default settings. They are polynomial kernels for both
variables ("dk") or for one ("sk"), a neural network ("nn"), kernel densities ("kde", the estimator
of Mary et al.) and random features ("rdc"). We add polynomials of degree 12, which can oscillate
as often as our functions.
"""

import json
import platform
import sys
import time
import warnings
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.stats import norm

from renyi_lib import continuous
from renyi_lib.continuous import continuous_correlation

RESULTS = Path(__file__).parents[1] / "book/results/bench_continuous.json"
REPEATS = {200: 12, 1000: 8, 10_000: 5}
SLOW = {"dk of degree 12": 2}  # maximum number of runs


def gaussian(r, n, rng):
    x, noise = rng.normal(size=(2, n))
    return x, r * x + np.sqrt(1 - r**2) * noise


def circle(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.cos(angle), np.sin(angle)


def wave(n, rng):
    """Sample from the density 1 + 0.9 cos(3 pi u) cos(3 pi v); its maximal correlation is 0.45."""
    u, v, w = rng.random((3, 6 * n))
    kept = np.flatnonzero(1.9 * w < 1 + 0.9 * np.cos(3 * np.pi * u) * np.cos(3 * np.pi * v))[:n]
    return u[kept], v[kept]


def with_noise(function, sigma, n, rng):
    x = rng.uniform(-1, 1, n)
    return x, function(x) + sigma * rng.normal(size=n)


def truth_with_noise(function, sigma):
    """Compute the second singular value of a fine joint table of the pair from `with_noise`."""
    x = (np.arange(4000) + 0.5) / 2000 - 1
    mean = function(x)
    y = np.linspace(mean.min() - 7 * sigma, mean.max() + 7 * sigma, 2000)
    P = norm.pdf(y, mean[:, None], sigma)
    P /= P.sum()
    Q = P / np.sqrt(P.sum(axis=1))[:, None] / np.sqrt(P.sum(axis=0))
    return float(np.sqrt(np.linalg.eigvalsh(Q.T @ Q)[-2]))


def pairs():
    """Yield the name, the sampler and the true correlation of each pair."""
    yield from ((f"Gaussian, r = {r}", partial(gaussian, r), r) for r in (0.0, 0.3, 0.7))
    parabola, sine = np.square, lambda x: np.sin(4 * np.pi * x)
    yield (
        "parabola with noise",
        partial(with_noise, parabola, 0.3),
        truth_with_noise(parabola, 0.3),
    )
    yield "four waves with noise", partial(with_noise, sine, 0.3), truth_with_noise(sine, 0.3)
    yield "density with one wave", wave, 0.45
    yield "circle", circle, 1.0


def estimators():
    """Yield the name of each estimator, and a function that applies it to two arrays."""
    import maxcorr
    import torch

    torch.set_num_threads(1)

    def ours(x, y):
        continuous.basis_of_ranks.cache_clear()  # time each call as if it were the first one
        return continuous_correlation(x, y).rho

    def peer(x, y, **options):
        return maxcorr.indicator("hgr", **options).compute(x, y)

    def peer_in_torch(x, y, **options):
        torch.manual_seed(0)
        x, y = (torch.tensor(v, dtype=torch.float32) for v in (x, y))
        return peer(x, y, backend="torch", **options).item()

    yield "this book", ours
    yield "dk", partial(peer, algorithm="dk")
    yield "dk of degree 12", partial(peer, algorithm="dk", kernel_a=12, kernel_b=12)
    yield "sk", partial(peer, algorithm="sk")
    yield "nn", partial(peer_in_torch, algorithm="nn")
    yield "kde", partial(peer_in_torch, algorithm="kde")
    yield "rdc", partial(peer, algorithm="rdc")


def measure(estimate, sample, n, repeats):
    """Return the estimate for each of several samples, and the median time in CPU seconds."""
    values, seconds = [], []
    for seed in range(repeats):
        x, y = sample(n, np.random.default_rng(seed))
        np.random.seed(seed)  # noqa: NPY002 - some estimators use the global generator
        start = time.process_time()
        values.append(estimate(x, y))
        seconds.append(time.process_time() - start)
    return np.array(values), np.median(seconds)


def run():
    rows = []
    methods, truths = list(estimators()), list(pairs())
    for _, estimate in methods:
        estimate(*gaussian(0.5, 50, np.random.default_rng(0)))
    for n, repeats in REPEATS.items():
        for pair, sample, truth in truths:
            for name, estimate in methods:
                runs = min(repeats, SLOW.get(name, repeats))
                values, seconds = measure(estimate, sample, n, runs)
                row = {"estimator": name, "pair": pair, "truth": truth, "n": n, "runs": runs}
                row["mean"], row["rmse"] = np.mean(values), np.sqrt(np.mean((values - truth) ** 2))
                rows.append(row | {"seconds": seconds})
                print(
                    f"{n:>6} {pair:<22}{truth:>7.3f} {name:<16}{row['mean']:>7.3f}"
                    f"{row['rmse']:>8.3f}{1e3 * seconds:>10.1f} ms",
                    flush=True,
                )
    values, seconds = measure(methods[0][1], partial(gaussian, 0.7), 10**6, 3)
    row = {"estimator": "this book", "pair": "Gaussian, r = 0.7", "truth": 0.7, "n": 10**6}
    rmse = np.sqrt(np.mean((values - 0.7) ** 2))
    rows.append(row | {"runs": 3, "mean": values.mean(), "rmse": rmse, "seconds": seconds})
    print(f"one million samples: {seconds:.2f} s, error {rmse:.4f}")
    return rows


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    warnings.filterwarnings("ignore", module="scipy|torch|maxcorr")
    packages = ("maxcorr", "torch", "numpy", "scipy")
    made = {"date": date.today().isoformat(), "python": platform.python_version()}
    made |= {package: version(package) for package in packages}
    table = [{key: rounded(value) for key, value in row.items()} for row in run()]
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    rows = ",\n  ".join(json.dumps(row) for row in table)
    out.write_text(f'{{\n "made": {json.dumps(made)},\n "rows": [\n  {rows}\n ]\n}}\n')
