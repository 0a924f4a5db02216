"""Time of tests and intervals for ten million people, relative to ten thousand.

Run ``python benchmarks/bench_inference.py``. All functions work on counts, so the ratio of the two
times should be close to 1. Sampling a random table with given margins, however, takes a few times
longer if the counts are large, which is why `renyi_test` then uses the limit distribution.
(``make experiments NAMES="calibration calibration_fairness"`` measures the error rates of the
tests and the coverage of the intervals.)
"""

import time
from functools import partial

import numpy as np

from renyi_lib.inference import renyi_interval, renyi_test

SMALL, LARGE = 10**4, 10**7
CALLS = {
    "renyi_test, asymptotic": partial(renyi_test, method="asymptotic"),
    "renyi_test, permutation": partial(renyi_test, method="permutation", random_state=0),
    "renyi_interval": partial(renyi_interval, random_state=0),
}


def best_time(call, table, repeats=7):
    """Return the time of the fastest run in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call(table)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (4, 3), (10, 10)):
        cells = np.ones(np.prod(shape)) / np.prod(shape)
        small, large = (rng.multinomial(n, cells).reshape(shape) for n in (SMALL, LARGE))
        for name, call in CALLS.items():
            few, many = best_time(call, small), best_time(call, large)
            print(
                f"{shape[0]:>2} x {shape[1]:<2} {name:<26}{1e3 * many:>9.1f} ms  /"
                f"{1e3 * few:>9.1f} ms  ={many / few:>6.2f}"
            )
