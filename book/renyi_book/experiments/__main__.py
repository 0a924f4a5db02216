"""``python -m renyi_book.experiments FOLDER [NAME ...]``: compute everything and store it."""

import argparse

from renyi_book.experiments._store import STORED, run_all

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m renyi_book.experiments", description=__doc__)
    parser.add_argument("folder", help="where the CSV files go")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(STORED)}")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    run_all(arguments.folder, names=arguments.names or None, workers=arguments.workers)
