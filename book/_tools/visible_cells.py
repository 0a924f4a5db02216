"""Check that each chapter runs if a reader copies only the code visible on the page.

    python book/_tools/visible_cells.py [chapter.ipynb ...]   # all chapters if none is given

Runs the visible cells of each chapter in a new process and reports the first cell that fails.
`undefined` finds most of these failures without running anything, and a test applies it to every
chapter.
"""

import argparse
import builtins
import json
import re
import subprocess
import symtable
import sys
import tempfile
from pathlib import Path

BOOK = Path(__file__).resolve().parents[1]
#: Tags of cells whose code a reader does not see, or sees only after a click.
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
#: Names that every notebook has without defining them.
GIVEN = {*dir(builtins), "display", "get_ipython", "__file__", "__name__"}


def visible(notebook):
    """Return the code cells that are neither folded nor part of a solution."""
    inside, found = False, []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            for end in re.findall(r"\{solution-(start|end)\}", source):
                inside = end == "start"
        elif not inside and not FOLDED & set(cell["metadata"].get("tags", [])):
            found.append(cell)
    return found


def names(source):
    """Return the global names that a cell binds, and those that it uses."""
    bound, used = set(), set()

    def visit(table, top):
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if top and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                bound.add(name)
            if symbol.is_referenced() and (top or symbol.is_global()):
                used.add(name)
            if not top and symbol.is_declared_global() and symbol.is_assigned():
                bound.add(name)
        for child in table.get_children():
            visit(child, False)

    visit(symtable.symtable(source, "cell", "exec"), True)
    return bound, used


def undefined(notebook):
    """Return names that visible code uses but does not define.

    Returns
    -------
    list of str
        One line for each cell with such names.
    """
    problems, known = [], set(GIVEN)
    for cell in visible(notebook):
        bound, used = names("".join(cell["source"]))
        known |= bound
        if used - known:
            problems.append(f"cell {cell['id']} uses {', '.join(sorted(used - known))}")
    return problems


def run(path):
    """Run the visible cells of a chapter, and return what went wrong, or None."""
    notebook = json.loads(path.read_text(encoding="utf8"))
    blocks = [{"id": c["id"], "source": "".join(c["source"])} for c in visible(notebook)]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "visible.json"
        script.write_text(json.dumps(blocks), encoding="utf8")
        command = [sys.executable, "-c", _RUNNER, str(script)]
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


_RUNNER = """
import json, sys
import matplotlib
matplotlib.use("agg")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for block in json.load(open(sys.argv[1], encoding="utf8")):
    result = shell.run_cell(block["source"])
    error = result.error_in_exec or result.error_before_exec
    if error is not None:
        sys.stdout.flush()
        sys.exit(f"cell {block['id']}: {type(error).__name__}: {str(error).splitlines()[0]}")
"""


def main(paths):
    """Run chapters, and return how many failed."""
    failed = 0
    for path in paths:
        problem = run(path)
        failed += problem is not None
        print(f"{'FAILED' if problem else 'ok':6}  {path.stem}  {problem or ''}", flush=True)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", help="notebooks; by default all")
    arguments = parser.parse_args()
    chosen = [Path(name).resolve() for name in arguments.chapters]
    sys.exit(bool(main(chosen or sorted(BOOK.rglob("*.ipynb")))))
