"""Run chapters in place, each from a clean kernel, so that what is stored is true.

    python book/_tools/execute.py [chapter.ipynb ...]      # all chapters when none is named

A chapter that raises, or writes a warning, is left as it was and reported.
"""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BOOK = Path(__file__).resolve().parents[1]


def chapters():
    """All notebooks of the book, in reading order."""
    return sorted(p for p in BOOK.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


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
        client.execute()
    except CellExecutionError as error:
        return str(error)
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                return f"cell {number} wrote to stderr:\n{output.text}"
    tidy(notebook)
    nbformat.write(notebook, path)
    return None


def main(names):
    failed = 0
    for path in [Path(name).resolve() for name in names] or chapters():
        start = time.perf_counter()
        problem = run(path)
        seconds = time.perf_counter() - start
        print(f"{'FAILED' if problem else 'ok':6} {seconds:6.1f} s  {path.relative_to(BOOK)}")
        if problem:
            failed += 1
            print(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
