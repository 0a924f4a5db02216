"""Equalized odds at equal relaxation, by the end of ``book/results/benchmark_protocol.md``.

error-parity lives in an environment of its own, whose Python is named by a variable (the head of
``bench_frontier.py`` says how to make it)::

    export ERROR_PARITY_PYTHON=error-parity-env/bin/python
    python benchmarks/bench_odds.py

It takes about ten minutes, and writes ``book/results/benchmark_odds.csv`` and its entry in the
manifest.
"""

from pathlib import Path

from renyi_book.experiments import _store, benchmark_odds

RESULTS = Path(__file__).parents[1] / "book/results"
NAME = "benchmark_odds"
# The commit that fixed the rules, before any of their results was computed.
PROTOCOL = {"file": "benchmark_protocol.md", "commit": "5277dbb56501898c098bccbf5f6aedec6a2ff6e5"}


def main():
    path = RESULTS / f"{NAME}.csv"
    path.write_text(_store.csv_text(benchmark_odds()), encoding="utf8", newline="\n")
    entry = {"file": _store._sha256(path), "date": _store._today(), "protocol": PROTOCOL}
    entry |= {"versions": _store.versions(), "parameters": _store.parameters(NAME)}
    entry |= {"peers": _store.manifest(RESULTS)["benchmark_frontier"]["peers"]}
    _store._describe(RESULTS, NAME, entry)


if __name__ == "__main__":
    main()
