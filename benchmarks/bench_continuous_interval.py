"""Coverage of `continuous_interval`: how often an interval contains the true value.

Run ``OMP_NUM_THREADS=1 python benchmarks/bench_continuous_interval.py``. It writes
``book/results/bench_continuous_interval.json``, which the chapter on continuous attributes shows.
The pairs of variables are those of `bench_continuous`, a pair of more strongly correlated Gaussian
variables, and a pair of a continuous and a discrete variable. Their correlations are known.
"""

import json
import platform
import sys
import warnings
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bench_continuous import gaussian, pairs

from renyi_lib.continuous import continuous_interval

RESULTS = Path(__file__).parents[1] / "book/results/bench_continuous_interval.json"
SIZES = 100, 500, 5000
SAMPLES = 40
MIXED = "continuous", "discrete"


def sign(r, n, rng):
    x, y = gaussian(r, n, rng)
    return x, y > 0


def all_pairs():
    """Yield the name, the sampler, the true correlation and the kind of each pair."""
    for name, sample, truth in pairs():
        yield name, sample, truth, "continuous"
    yield "Gaussian, r = 0.95", partial(gaussian, 0.95), 0.95, "continuous"
    truth = float(np.sqrt(2 * np.arcsin(0.6**2) / np.pi))
    yield "number and sign, r = 0.6", partial(sign, 0.6), truth, MIXED


def run(sizes=SIZES, samples=SAMPLES):
    for n in sizes:
        for name, sample, truth, kind in all_pairs():
            ends = []
            for seed in range(samples):
                found = continuous_interval(*sample(n, np.random.default_rng(seed)), kind=kind)
                ends.append((found.low, found.high))
            low, high = np.transpose(ends)
            row = {"pair": name, "truth": truth, "n": n, "samples": samples}
            row |= {"coverage": np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high))}
            row |= {
                "too high": np.mean(low > truth + 1e-9),
                "too low": np.mean(high < truth - 1e-9),
            }
            row |= {"width": np.mean(high - low)}
            print(row, flush=True)
            yield {key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    made = {"date": date.today().isoformat(), "python": platform.python_version()}
    made |= {package: version(package) for package in ("renyi-lib", "numpy", "scipy")}
    table = ",\n  ".join(json.dumps(row) for row in run())
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    out.write_text(f'{{\n "made": {json.dumps(made)},\n "rows": [\n  {table}\n ]\n}}\n')
