"""Equalized odds at equal relaxation, as described at the end of the protocol of the benchmark.

The protocol is ``book/results/benchmark_protocol.md``. error-parity is installed in a separate
environment (see the docstring of ``bench_frontier.py``), and an environment variable contains the
path of its Python executable::

    export ERROR_PARITY_PYTHON=error-parity-env/bin/python
    python benchmarks/bench_odds.py PARTS

The computation takes about ten minutes of CPU time. Each split is written to the folder PARTS when
it is done, and splits that another process has started are skipped. ``--collect`` then writes
``book/results/benchmark_odds.csv`` and its entry in the manifest.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from bench_frontier import SLOW, peer_versions

from renyi_book.experiments import _store, benchmark_odds
from renyi_book.experiments._benchmark import BENCHMARK_SEEDS, SPLITS_OF_REDUCTION
from renyi_book.experiments._odds import ODDS_METHODS

RESULTS = Path(__file__).parents[1] / "book/results"
NAME = "benchmark_odds"
# The commit that fixed the rules, before any results were computed.
PROTOCOL = {
    "file": "benchmark_protocol.md",
    "commit": "5277dbb56501898c098bccbf5f6aedec6a2ff6e5",
}


def compute(folder):
    """Compute and write the splits that no process has started, the slow reduction last."""
    fast = [method for method in ODDS_METHODS if method not in SLOW]
    parts = [(f"{seed}.csv", seed, fast) for seed in BENCHMARK_SEEDS]
    slow = BENCHMARK_SEEDS[:SPLITS_OF_REDUCTION]
    parts += [(f"{seed}-slow.csv", seed, SLOW) for seed in slow]
    for file, seed, methods in parts:
        path = folder / file
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        table = benchmark_odds(methods=methods, seeds=[seed], progress=False)
        path.write_text(_store.csv_text(table), encoding="utf8")
        print(file, flush=True)


def collect(folder):
    """Store the finished splits as one table, with its manifest entry."""
    parts = [pd.read_csv(path) for path in sorted(folder.glob("*.csv")) if path.stat().st_size]
    order = {method: place for place, method in enumerate(ODDS_METHODS)}
    table = pd.concat(parts, ignore_index=True).sort_values(
        ["seed", "method", "level"],
        key=lambda column: column.map(order) if column.name == "method" else column,
        ascending=[True, True, False],
    )
    path = RESULTS / f"{NAME}.csv"
    path.write_text(_store.csv_text(table), encoding="utf8", newline="\n")
    entry = {"file": _store._sha256(path), "date": _store._today(), "protocol": PROTOCOL}
    entry |= {"versions": _store.versions(), "parameters": _store.parameters(NAME)}
    entry |= {"peers": json.loads((folder / "peers.json").read_text(encoding="utf8"))}
    entry |= {"splits": {"adult": table["seed"].nunique()}}
    _store._describe(RESULTS, NAME, entry)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="PARTS")
    parser.add_argument("--collect", action="store_true", help="store the splits in PARTS")
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    if told.collect:
        collect(told.folder)
        return
    versions = peer_versions(["error-parity, S"])
    (told.folder / "peers.json").write_text(json.dumps(versions), encoding="utf8")
    compute(told.folder)


if __name__ == "__main__":
    main()
