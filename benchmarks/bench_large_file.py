"""Time, passes and peak memory of a fit from a file that is larger than the memory it needs.

Run ``python benchmarks/bench_large_file.py``. Ten million people with 20 features are written
to a Parquet file, chunk by chunk, and a separate process fits a classifier from this file. The
result is stored in ``book/results/bench_large_file.json``, for the chapter on large data. For a
quick trial, pass a smaller number with ``--people`` and another file with ``--out``.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow
from pyarrow import parquet
from timing import made, save

RESULTS = Path(__file__).parents[1] / "book/results/bench_large_file.json"
FEATURES = 20
STEP = 100_000


def chunk(number):
    """Sample one chunk of the people as a table, with a seed that follows from its number."""
    rng = np.random.default_rng(number + 1)
    s = rng.integers(2, size=STEP)
    X = rng.normal(size=(STEP, FEATURES))
    X[:, :5] += s[:, None] / 2
    scores = X @ np.random.default_rng(0).normal(size=FEATURES) / 4
    y = (scores + rng.logistic(size=STEP) > 0.3).astype(np.int8)
    columns = {f"x{j}": X[:, j] for j in range(FEATURES)}
    return pyarrow.table(columns | {"y": y, "s": np.where(s, "m", "f")})


def write(path, people):
    with parquet.ParquetWriter(
        path, chunk(0).schema, compression="none", use_dictionary=["s"]
    ) as writer:
        for number in range(people // STEP):
            writer.write_table(chunk(number))


def fit(path):
    """Fit from a file; return iterations, passes, seconds, and memory before and at the peak."""
    import resource

    from renyi_lib import ParquetRows, RenyiClassifier

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10

    before, start = peak(), time.process_time()
    chunks = ParquetRows(path).chunks("y", "s")
    classifier = RenyiClassifier(3.0).fit(chunks, None)
    seconds = time.process_time() - start
    found = {"iterations": int(classifier.n_iter_), "passes": chunks.n_passes}
    return found | {"seconds": seconds, "MB before": before, "peak MB": peak()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=float, default=1e7, help="number of people")
    parser.add_argument("--out", default=RESULTS, help="file for the result")
    parser.add_argument("--fit", help="only fit from this file, and print time and memory")
    options = parser.parse_args()
    if options.fit:
        print(json.dumps(fit(options.fit)))
        return
    people = int(options.people) // STEP * STEP
    with TemporaryDirectory() as folder:
        path = f"{folder}/people.parquet"
        write(path, people)
        row = {"people": people, "file MB": Path(path).stat().st_size / 2**20}
        command = [sys.executable, __file__, "--fit", path]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    row |= json.loads(done.stdout)
    print(row)
    save(options.out, {"made": made(["numpy", "pyarrow", "scikit-learn"]), "rows": [row]})


if __name__ == "__main__":
    main()
