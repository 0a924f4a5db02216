"""Run chapters in place, each in a new kernel, to update their stored outputs.

    python book/_tools/execute.py [chapter.ipynb ...]      # all chapters if none is given
    python book/_tools/execute.py --failing                # only chapters that fail nbval

A chapter that raises an error or writes to stderr, such as a warning, is reported and left
unchanged.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BOOK = Path(__file__).resolve().parents[1]


def chapters(book):
    """Return all notebooks of the book, sorted by path."""
    return sorted(p for p in book.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def tidy(notebook):
    """Remove metadata that differ between machines and runs even if the chapter is unchanged."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("jupyter", None)
        cell.metadata.pop("editable", None)


def run(path):
    """Execute one chapter, and return what went wrong, or None."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        # On a busy machine, the text of one print may arrive in pieces; store a single output.
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        # Use a separate thread, because asyncio cannot start a loop in a thread that runs one.
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


def timed(path):
    """Execute one chapter, and return its path, what went wrong, and the seconds taken."""
    start = time.perf_counter()
    problem = run(path)
    return path, problem, time.perf_counter() - start


def main(paths, book=BOOK, jobs=2):
    """Execute chapters, `jobs` at a time, and return how many failed."""
    failed = 0
    # Threads are enough, because the kernels, which do the work, are separate processes.
    with ThreadPoolExecutor(jobs) as pool:
        for path, problem, seconds in pool.map(timed, paths):
            outcome = "FAILED" if problem else "ok"
            print(f"{outcome:6} {seconds:6.1f} s  {path.relative_to(book)}", flush=True)
            if problem:
                failed += 1
                print(problem)
    return failed


def passes(path):
    """Return whether nbval reproduces the stored outputs of a chapter."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--nbval-lax", str(path)]
    return subprocess.run(command, capture_output=True).returncode == 0


def failing(paths, jobs=2):
    """Return the chapters that raise an error or whose stored outputs are out of date."""
    with ThreadPoolExecutor(jobs) as pool:
        return [path for path, passed in zip(paths, pool.map(passes, paths)) if not passed]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", help="notebooks; by default all")
    parser.add_argument("--failing", action="store_true", help="only chapters that fail nbval")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel runs (2)")
    arguments = parser.parse_args()
    chosen = [Path(name).resolve() for name in arguments.chapters] or chapters(BOOK)
    if arguments.failing:
        chosen = failing(chosen, arguments.jobs)
        print(f"{len(chosen)} chapters differ from their stored outputs")
    sys.exit(bool(main(chosen, jobs=arguments.jobs)))
