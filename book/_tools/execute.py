"""Run chapters in place, each from a clean kernel, so that what is stored is true.

    python book/_tools/execute.py [chapter.ipynb ...]      # all chapters when none is named
    python book/_tools/execute.py --stale                  # those that would come out differently

A chapter that raises, or writes a warning, is left as it was and reported. What a chapter depended
on when it was run is written down in book/results/chapters.json (`renyi_book.freshness`).
"""

import argparse
import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from renyi_book import freshness

BOOK = Path(__file__).resolve().parents[1]


def chapters(book):
    """All notebooks of the book, in reading order."""
    return sorted(p for p in book.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def tidy(notebook):
    """Drop what differs between machines and runs without the chapter having changed."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("jupyter", None)
        cell.metadata.pop("editable", None)


def run(path):
    """Execute one chapter; return what went wrong, or None."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        # On a busy machine one print may arrive in pieces; stored, it is one output.
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        # In a thread of its own: where a loop runs already, asyncio starts no other.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(client.async_execute())).result()
    except CellExecutionError as error:
        return str(error)
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                return f"cell {number} wrote to stderr:\n{output.text}"
    tidy(notebook)
    nbformat.write(notebook, path)
    return None


def timed(path, book):
    """Execute one chapter; return it, what it depended on, what went wrong, and the seconds."""
    # Before the run: whoever edits something meanwhile has a stale chapter.
    sums = freshness.dependencies(path, book)
    start = time.perf_counter()
    problem = run(path)
    return path, sums, problem, time.perf_counter() - start


def main(paths, book=BOOK, jobs=2):
    """Execute chapters, `jobs` at a time, and remember what they depended on; how many failed."""
    failed = 0
    # Threads are enough: the work is done by the kernels, and each is a process.
    with ThreadPoolExecutor(jobs) as pool:
        for path, sums, problem, seconds in pool.map(timed, paths, repeat(book)):
            outcome = "FAILED" if problem else "ok"
            print(f"{outcome:6} {seconds:6.1f} s  {path.relative_to(book)}", flush=True)
            if problem:
                failed += 1
                print(problem)
            else:
                freshness.remember(path, sums, book)
    return failed


def stale(book=BOOK):
    """The chapters that have to be run again; says why."""
    reasons = {path: freshness.changes(path, book) for path in chapters(book)}
    for path, changed in reasons.items():
        if changed:
            print(f"stale: {path.relative_to(book)} ({', '.join(changed)})")
    return [path for path, changed in reasons.items() if changed]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", help="notebooks; by default all")
    parser.add_argument("--stale", action="store_true", help="only those that have to be")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    arguments = parser.parse_args()
    named = [Path(name).resolve() for name in arguments.chapters]
    chosen = stale() if arguments.stale else named or chapters(BOOK)
    sys.exit(bool(main(chosen, jobs=arguments.jobs)))
