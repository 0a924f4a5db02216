"""Grade the grader: the reference, the blank release and a zoo of wrong answers.

`python -m grader.zoo a1_dependence` prints a table; `tests/course` asserts the same.
"""

import runpy
import sys
import tempfile
from pathlib import Path

import nbformat

from . import RELEASE, SOURCE, ZOO
from .collect import Handin
from .grade import grade
from .notebooks import SOLUTION, own
from .sandbox import Limits


def answers(assignment):
    """Return the wrong answers to one assignment (see the files in `course/zoo/`).

    A file lists whole cells in ZOO, and in EDITS small changes of the reference: name, cell, what
    stands there, what the student wrote instead, the test that must catch it, a piece of what it
    must say.
    """
    found = runpy.run_path(str(ZOO / f"{assignment}.py"))
    right = {own(cell).get("grade_id"): cell.source for cell in reference(assignment).cells}
    wrong = list(found["ZOO"])
    for name, cell, old, new, caught_by, message in found["EDITS"]:
        text = SOLUTION.sub("", right[cell])
        if old not in text:
            raise ValueError(f"{assignment}, {name!r}: the reference of {cell} has no {old!r}")
        replace = found.get("BASE", {}) | {cell: text.replace(old, new)}
        wrong.append(
            {"name": name, "replace": replace, "caught_by": caught_by, "message": message}
        )
    return wrong


def family(test):
    """Return the tests that a mistake may cost: one in the core can also cost the edge cases."""
    return {test, f"{test}_edge"}


def reference(assignment):
    """Return the source notebook: the reference solution."""
    return nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4)


def blank(assignment):
    """Return the release as a student gets it."""
    return nbformat.read(RELEASE / assignment / f"{assignment}.ipynb", as_version=4)


def with_answers(assignment, replace):
    """Return the reference with some solution cells replaced."""
    nb = reference(assignment)
    cells = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in nb.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for name, source in replace.items():
        if name not in cells:
            raise KeyError(f"{assignment} has no solution cell {name!r}; it has {list(cells)}")
        cells[name].source = source
    return nb


def grade_notebooks(notebooks, folder, **options):
    """Grade {(student, assignment): notebook}; return {(student, assignment): Result}."""
    jobs = []
    for (student, assignment), nb in notebooks.items():
        path = Path(folder) / student / f"{assignment}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(nb, path)
        jobs.append(Handin(student, assignment, path))
    return {(r.student, r.assignment): r for r in grade(jobs, hidden=[folder], **options)}


def task(wrong):
    """Return the test that a wrong answer is about, whether its core or its edge cases."""
    return wrong["caught_by"].removesuffix("_edge")


def batches(assignment, size):
    """Return the wrong answers in lists of up to `size` that do not get into each other's way.

    Those in a list answer different tasks wrongly, so that one notebook can hold them all. What a
    wrong answer does to the test of another one in its list then goes unseen, unless it changes
    that test's message: size 1 is the strict way, and a kernel for each answer.
    """
    lists = []
    for wrong in answers(assignment):
        for batch in lists:
            replaced = {name: code for other in batch for name, code in other["replace"].items()}
            if (
                len(batch) < size
                and not any(task(wrong) == task(other) for other in batch)
                and all(
                    replaced.get(name, code) == code for name, code in wrong["replace"].items()
                )
            ):
                batch.append(wrong)
                break
        else:
            lists.append([wrong])
    return lists


def everything(assignment, size=1):
    """Return {name: notebook} of the reference, the blank release and the zoo.

    With `size` > 1, notebooks of the zoo hold several wrong answers; see `batches`. Each is named
    after its first one.
    """
    notebooks = {"reference": reference(assignment), "blank": blank(assignment)}
    for batch in batches(assignment, size):
        replace = {name: code for wrong in batch for name, code in wrong["replace"].items()}
        notebooks[batch[0]["name"]] = with_answers(assignment, replace)
    return notebooks


def verdict(wrong, result, batch=()):
    """Return what is amiss with the grading of one wrong answer, "" if nothing is.

    `batch` holds the wrong answers that are in the same notebook.
    """
    lost = {m.name: m.message for m in result.marks if m.points is not None and m.points < m.worth}
    if result.status != "graded":
        return f"status {result.status}: {result.notes}"
    expected = {wrong["caught_by"], *(other["caught_by"] for other in batch)}
    allowed = set().union(*map(family, expected))
    if not expected <= set(lost) <= allowed:
        return f"should lose marks in {expected} alone, lost them in {lost or 'none'}"
    if wrong["message"] not in lost[wrong["caught_by"]]:
        return f"the message does not say {wrong['message']!r}: {lost[wrong['caught_by']]}"
    return ""


def main():
    """Print how one assignment's reference, blank release and zoo are graded."""
    assignment = sys.argv[1]
    notebooks = {(name, assignment): nb for name, nb in everything(assignment).items()}
    wrong = {answer["name"]: answer for answer in answers(assignment)}
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        results = grade_notebooks(notebooks, folder, limits=Limits())
    for (name, _), result in results.items():
        print(f"{name:45s} {result.score:g}/{result.max_points:g}  {result.status}")
        if name in wrong:
            amiss = verdict(wrong[name], result)
            failures += bool(amiss)
            lost = [m for m in result.marks if m.points is not None and m.points < m.worth]
            print(f"    {'AMISS: ' + amiss if amiss else lost[0].name + ': ' + lost[0].message}")
        else:
            for mark in result.marks:
                if name == "reference" and mark.points is not None and mark.points < mark.worth:
                    print(f"    AMISS: {mark.name}: {mark.message}")
            for note in result.notes if name == "reference" else ():
                print(f"    {note}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
