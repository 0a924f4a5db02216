"""Read what was handed in, without trusting it, and put the released cells back."""

import ast
import os
import re
import stat
import warnings
from dataclasses import dataclass

import nbformat

from .judge import bound_names

# What nbgrader writes in place of an answer.
BLANK = {"code": "raise NotImplementedError()", "markdown": "YOUR ANSWER HERE"}
LARGEST = 50 << 20  # bytes of a notebook


class Unusable(Exception):
    """A submission that cannot be run at all; the message says why."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def read_bytes(path):
    """Return the content of a regular file of bearable size; follow no link to get there.

    Raises
    ------
    Unusable
        For a link, a pipe, a device, a folder, a file that is too large, or none.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unusable("missing", "nothing was handed in under this name") from None
    except OSError as problem:
        why = "a link" if os.path.islink(path) else f"unreadable ({problem.strerror})"
        raise Unusable("refused", f"the file is {why}; hand in the notebook itself") from None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Unusable("refused", "this is no regular file; hand in the notebook itself")
        if found.st_size > LARGEST:
            raise Unusable(
                "refused", f"the file has more than {LARGEST >> 20} MB: clear its outputs"
            )
        return file.read(LARGEST + 1)


def parse(data):
    """Return the notebook in `data`, or say what is wrong with it."""
    try:
        with warnings.catch_warnings():
            # about ids of cells, which `restore` sets anew
            warnings.simplefilter("ignore")
            nb = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
            nbformat.validate(nb)
    except Exception as problem:
        first = str(problem).strip().splitlines()[0][:200] if str(problem).strip() else ""
        raise Unusable("unreadable", f"the file is not a notebook ({first})") from None
    return nb


def own(cell):
    """Return nbgrader's metadata of a cell, {} if it has none that can be used."""
    found = cell.metadata.get("nbgrader")
    return found if isinstance(found, dict) else {}


def restore(nb, release):
    """Put every released cell back into a submission; keep the student's answers and own cells.

    Whatever happened to a cell's metadata is undone, locked cells get their text back, and cells
    that were deleted come back in their places.

    Returns
    -------
    list of str
        What had to be mended, in words.
    """
    wanted = {own(cell)["grade_id"]: cell for cell in release.cells if own(cell)}
    found, twice = {}, []
    for cell in nb.cells:
        name = own(cell).get("grade_id")
        if isinstance(name, str) and name in wanted and name not in found:
            found[name] = cell
            continue
        cell.metadata.pop("nbgrader", None)
        if isinstance(name, str) and name in found:
            twice.append(name)
    if not found:
        raise Unusable(
            "not the released notebook",
            "none of the assignment's cells can be recognised: their metadata are gone. Copy the "
            "answers into a fresh copy of the released notebook and hand that in",
        )
    previous = None
    missing = []
    for name, original in wanted.items():
        if name in found:
            cell = found[name]
            if cell.cell_type != original.cell_type:
                mended = nbformat.from_dict({**original, "source": cell.source})
                nb.cells[nb.cells.index(cell)] = found[name] = mended
            found[name].metadata = original.metadata
            if own(original).get("locked"):
                found[name].source = original.source
        else:
            missing.append(name)
            found[name] = nbformat.from_dict(original)
            after = 0 if previous is None else nb.cells.index(found[previous]) + 1
            nb.cells.insert(after, found[name])
        previous = name
    notes = []
    if missing:
        notes.append(f"these cells were missing and have been put back: {', '.join(missing)}")
    if twice:
        notes.append(f"these cells stood there twice, the first one counts: {', '.join(twice)}")
    return notes


# ------------------------------------------------------------------------------------- the source

SOLUTION = re.compile(r"^\s*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """One graded cell of a source."""

    name: str
    points: float
    task: int  # the number in the heading above it, 0 if there is none
    by_hand: bool
    tests: str  # the source of the test cell, hidden tests included


def parts(source):
    """Return the graded cells of an assignment's source notebook, in order."""
    found, task = [], 0
    for cell in source.cells:
        if cell.cell_type == "markdown":
            heading = re.search(r"^## (?:Task )?(\d+)\b", cell.source, re.MULTILINE)
            task = int(heading[1]) if heading else task
        meta = own(cell)
        if meta.get("grade"):
            by_hand = bool(meta.get("solution"))
            tests = "" if by_hand else SOLUTION.sub("", cell.source)
            found.append(Part(meta["grade_id"], meta["points"], task, by_hand, tests))
    return found


def skeleton(source):
    """Return the source without its answers and hidden tests: what a submission is mended with.

    nbgrader makes the release that students get; for mending only the names, the given cells and
    something blank in place of each answer are needed.
    """
    nb = nbformat.from_dict(source)
    for cell in nb.cells:
        meta = own(cell)
        if meta.get("solution"):
            cell.source = BLANK[cell.cell_type]
        elif meta.get("grade"):
            cell.source = cell.source.split("### BEGIN HIDDEN TESTS")[0].strip()
    return nb


def imported(source):
    """Return the modules that an assignment's given cells and tests import."""
    found = set()
    for cell in source.cells:
        if cell.cell_type == "code" and own(cell).get("locked"):
            for node in ast.walk(ast.parse(SOLUTION.sub("", cell.source))):
                if isinstance(node, ast.Import):
                    found |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    found.add(node.module)
    return found


def select(all_parts, tasks):
    """Return the parts that belong to the chosen tasks; None chooses all."""
    return [part for part in all_parts if tasks is None or part.task in tasks]


def task_numbers(text):
    """Return the set of numbers in a text such as "1-5,8"; None for an empty one."""
    if not text.strip():
        return None
    chosen = set()
    for piece in re.split(r"[,\s]+", text.strip()):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", piece)
        if not ends:
            raise ValueError(f"{piece!r} is no task number: write TASKS=1-5,8")
        chosen |= set(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return chosen


def student_names(source):
    """Return the names that a student's cells are to define."""
    names = set()
    for cell in source.cells:
        if cell.cell_type == "code" and own(cell).get("solution"):
            names |= bound_names(SOLUTION.sub("", cell.source))
    return names
