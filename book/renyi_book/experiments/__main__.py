"""Compute and store results with ``python -m renyi_book.experiments FOLDER [NAME ...]``."""

import argparse

from renyi_book.experiments import outdated, run_all
from renyi_book.experiments._tables import STORED

NAMES = f"tables; by default, all except those that a script computes: {', '.join(STORED)}"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m renyi_book.experiments", description=__doc__)
    parser.add_argument("folder", help="folder for the CSV files")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("names", nargs="*", default=[], metavar="NAME", help=NAMES)
    which.add_argument("--outdated", action="store_true", help="only tables that are out of date")
    parser.add_argument("--workers", type=int, default=2, help="number of processes")
    arguments = parser.parse_args()
    by_default = [name for name in STORED if not STORED[name].script]
    names = outdated(arguments.folder) if arguments.outdated else arguments.names or by_default
    if names:
        run_all(arguments.folder, names=names, workers=arguments.workers)
    else:
        print("all results are up to date")
