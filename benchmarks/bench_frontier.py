"""Fair classifiers at equal relaxation, according to ``book/results/benchmark_protocol.md``.

FairGBM and error-parity are installed in separate environments, and two environment variables
contain the paths of their Python executables::

    python3.11 -m venv fairgbm-env
    fairgbm-env/bin/pip install fairgbm "scikit-learn<1.6" "numpy<2"
    python3.11 -m venv error-parity-env
    error-parity-env/bin/pip install error-parity==0.3.12 ecos
    export FAIRGBM_PYTHON=fairgbm-env/bin/python ERROR_PARITY_PYTHON=error-parity-env/bin/python
    python benchmarks/bench_frontier.py PARTS

Each split is written to the folder PARTS when it is done, and splits that exist there are not
computed again. ``--collect`` then writes ``book/results/benchmark_frontier.csv``, its entry in the
manifest with the commit of the protocol, and the verdicts in ``benchmark_verdicts.csv``.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

import pandas as pd
from error_parity_peer import PACKAGES as ERROR_PARITY
from fairgbm_peer import PACKAGES as FAIRGBM

from renyi_book.benchmark import verdicts
from renyi_book.experiments import _store
from renyi_book.experiments._benchmark import (
    BENCHMARK_SEEDS,
    METHODS,
    PEERS,
    SPLITS_OF_REDUCTION,
    TASKS,
    read_answer,
    run_peer,
    split_frontier,
    takes_part,
)

RESULTS = Path(__file__).parents[1] / "book/results"
NAME = "benchmark_frontier"
# The commit that fixed the rules, before any results were seen.
PROTOCOL = {
    "file": "benchmark_protocol.md",
    "commit": "c7f09a1c56b8fe1c039f3ef3931f41d70a692218",
}
SLOW = ("reduction",)
ORDER = ("adult", "census-income", "bank")


def parts():
    """Yield (file name, data set, seed, methods), in the order of the computation."""
    alone = [method for method in METHODS if method not in (*PEERS, *SLOW)]
    for name in ORDER:
        for methods, kind in ((alone + list(PEERS), ""), (list(PEERS), "-peers")):
            for seed in BENCHMARK_SEEDS:
                yield f"{name}-{seed}{kind}.csv", name, seed, methods
    for name, task in TASKS.items():
        for seed in BENCHMARK_SEEDS[:SPLITS_OF_REDUCTION]:
            if task.bounds:
                yield f"{name}-{seed}-slow.csv", name, seed, list(SLOW)


def answers(folder, name, seed):
    """Return the peers' results for a split; run a peer on all stored splits if one is missing."""
    found = {}
    for method in PEERS:
        if takes_part(method, TASKS[name], seed):
            path = folder / PEERS[method].script / f"{seed}-{name}.npz"
            if not path.with_suffix(f".{PEERS[method].script}.npz").exists():
                run_peer(method, path.parent)
            found[method] = read_answer(method, path)
    return found


def collect(folder):
    """Store the finished parts as one table, with its manifest entry and the verdicts."""
    done = [folder / file for file, *_ in parts() if (folder / file).exists()]
    order = {method: place for place, method in enumerate(METHODS)}
    table = pd.concat([pd.read_csv(path) for path in done], ignore_index=True)
    table = table.sort_values(
        ["dataset", "criterion", "method", "seed", "level"],
        key=lambda column: column.map(order) if column.name == "method" else column,
        ascending=[True, True, True, True, False],
    )
    (RESULTS / f"{NAME}.csv").write_text(_store.csv_text(table), encoding="utf8", newline="\n")
    entry = {
        "file": _store._sha256(RESULTS / f"{NAME}.csv"),
        "date": _store._today(),
        "versions": _store.versions(),
        "parameters": _store.parameters(NAME),
        "protocol": PROTOCOL,
        "peers": json.loads((folder / "peers.json").read_text(encoding="utf8")),
        "splits": table.groupby("dataset")["seed"].nunique().to_dict(),
    }
    _store._describe(RESULTS, NAME, entry)
    summary = _store.csv_text(verdicts(_store.load(NAME, RESULTS)))
    (RESULTS / "benchmark_verdicts.csv").write_text(summary, encoding="utf8", newline="\n")


def peer_versions(methods=tuple(PEERS)):
    """Return the versions of the packages in the peers' environments."""
    found, packages_of = {}, {"FairGBM": FAIRGBM, "error-parity, S": ERROR_PARITY}
    for method in methods:
        packages = packages_of[method]
        code = "import json, sys; from importlib.metadata import version; "
        code += "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
        command = [os.environ[PEERS[method].variable], "-c", code, *packages]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        found |= json.loads(done.stdout)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="PARTS")
    parser.add_argument("--collect", action="store_true", help="store the splits in PARTS")
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    if told.collect:
        collect(told.folder)
        return
    (told.folder / "peers.json").write_text(json.dumps(peer_versions()), encoding="utf8")
    for peer in PEERS.values():
        (told.folder / peer.script).mkdir(exist_ok=True)
    for file, name, seed, methods in parts():
        if (told.folder / file).exists():
            continue
        how = {"keep": told.folder}
        if file.endswith("-peers.csv"):
            how = {"answers": answers(told.folder, name, seed)}
        table = pd.DataFrame(split_frontier(name, seed, methods, **how))
        (told.folder / file).write_text(_store.csv_text(table), encoding="utf8")
        print(file, flush=True)


if __name__ == "__main__":
    main()
