"""Read submitted notebooks without trusting them, and restore the released cells."""

import ast
import json
import os
import re
import stat
import warnings
from dataclasses import dataclass

import nbformat

from .judge import bound_names

# Text that nbgrader writes in place of an answer.
BLANK = {"code": "raise NotImplementedError()", "markdown": "YOUR ANSWER HERE"}
LARGEST = 20 << 20  # bytes of a notebook
OBJECTS = 50_000  # maximum number of JSON objects, which only a malicious file exceeds
LONGEST = 1 << 20  # characters of a cell


class Unusable(Exception):
    """Error raised if a submission cannot be run; the message gives the reason."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def read_bytes(path):
    """Return the content of a regular file of limited size, without following links.

    Raises
    ------
    Unusable
        If it is a link, a pipe, a device or a folder, too large, or missing.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unusable("missing", "nothing was handed in under this name") from None
    except OSError as problem:
        why = "a link" if os.path.islink(path) else f"unreadable ({problem.strerror})"
        raise Unusable("refused", f"the file is {why}; hand in the notebook itself") from None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Unusable("refused", "this is not a regular file; hand in the notebook itself")
        if found.st_size > LARGEST:
            raise Unusable(
                "refused", f"the file is larger than {LARGEST >> 20} MB: clear its outputs"
            )
        data = b""
        while len(data) <= LARGEST and (more := os.read(fd, 1 << 20)):
            data += more
        return data
    except OSError as problem:
        raise Unusable("refused", f"the file cannot be read ({problem.strerror})") from None
    finally:
        os.close(fd)


def parse(data, ours=False):
    """Return the notebook in `data` without outputs, or raise an error that says what is wrong.

    Of the metadata of a submitted cell, only the name matters. Nothing else is kept, because
    validating it could take very long. `ours` keeps the metadata of an instructor's notebook.
    """
    try:
        text = data.decode("utf-8-sig")
        if text.count("{") + text.count("[") > OBJECTS:
            raise ValueError(f"more than {OBJECTS} objects in it: clear its outputs")
        found = json.loads(text)
        # Older formats keep their cells in sheets.
        for each in (found, *found.get("worksheets", [])):
            for cell in each.get("cells", []):
                if cell.get("cell_type") == "code":
                    cell["outputs"], cell["execution_count"] = [], None
                if not ours:
                    cell["metadata"] = named(cell.get("metadata", {}))
                if len("".join(cell.get("source", cell.get("input", "")))) > LONGEST:
                    raise ValueError(f"a cell of more than {LONGEST >> 20} MB")
        with warnings.catch_warnings():
            # Cells without a valid id cause warnings, but ids of submitted cells do not matter.
            warnings.simplefilter("ignore")
            nb = nbformat.reads(json.dumps(found), as_version=4)
            nbformat.validate(nb)
    except MemoryError:
        raise
    except Exception as problem:
        first = str(problem).strip().splitlines()[0][:200] if str(problem).strip() else ""
        raise Unusable("unreadable", f"the file is not a notebook ({first})") from None
    return nb


def named(metadata):
    """Return the metadata of a cell reduced to its name."""
    mark = metadata.get("nbgrader")
    name = mark.get("grade_id") if isinstance(mark, dict) else None
    return {"nbgrader": {"grade_id": name}} if isinstance(name, str) else {}


def own(cell):
    """Return nbgrader's metadata of a cell, or {} if there is none that can be used."""
    found = cell.metadata.get("nbgrader")
    return found if isinstance(found, dict) else {}


def restore(nb, release):
    """Restore every released cell of a submission; keep the student's answers and own cells.

    Changes to a cell's metadata are undone, locked cells get their original text, and deleted
    cells are inserted again at their places.

    Returns
    -------
    list of str
        Descriptions of what was restored.
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
            "none of the assignment's cells can be recognized: their metadata is missing. Copy "
            "the answers into a fresh copy of the released notebook and hand that in",
        )
    # A cell added by the student stays after the released cell that it follows.
    ours = {id(cell): name for name, cell in found.items()}
    followers, place, order = {None: []}, None, []
    for cell in nb.cells:
        if id(cell) in ours:
            place = ours[id(cell)]
            order.append(place)
        else:
            followers.setdefault(place, []).append(cell)
    missing, cells = [], followers[None]
    for name, original in wanted.items():
        if name in found:
            cell = found[name]
            if cell.cell_type != original.cell_type:
                cell = nbformat.from_dict({**original, "source": cell.source})
            cell.metadata = original.metadata
            if own(original).get("locked"):
                cell.source = original.source
        else:
            missing.append(name)
            cell = nbformat.from_dict(original)
        cells += [cell, *followers.get(name, [])]
    nb.cells = cells
    notes = []
    if missing:
        notes.append(f"these cells were missing and have been put back: {', '.join(missing)}")
    if order != [name for name in wanted if name in found]:
        notes.append("released cells had been moved and are back in their order")
    if twice:
        notes.append(f"these cells occur twice, and the first one counts: {', '.join(twice)}")
    return notes


# ------------------------------------------------------------------------------------- the source

SOLUTION = re.compile(r"^\s*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """Graded cell of a source."""

    name: str
    points: float
    task: int  # number in the heading above it; 0 if there is none
    by_hand: bool
    tests: str  # source of the test cell, including hidden tests
    title: str = ""  # title of the task
    rubric: str = ""  # rubric of a cell that is marked by hand
    chapters: tuple = ()  # chapters of the book that the task and its tests name


HEADING = re.compile(r"^## (?:Task )?(\d+)[.:]\s*([^\n]*?)\s*(?:\([^()]*\))?\s*$", re.MULTILINE)
RUBRIC = re.compile(r"^#{2,3} The rubric", re.MULTILINE)


def parts(source):
    """Return the graded cells of an assignment's source notebook, in order."""
    found, task, title, text = [], 0, "", ""
    texts = [cell.source for cell in source.cells if cell.cell_type == "markdown"]
    rubrics = [text for text in texts if RUBRIC.search(text)]
    for cell in source.cells:
        if cell.cell_type == "markdown":
            heading = HEADING.search(cell.source)
            if heading:
                task, title, text = int(heading[1]), heading[2], ""
            text += cell.source
        meta = own(cell)
        if meta.get("grade"):
            by_hand = bool(meta.get("solution"))
            tests = "" if by_hand else SOLUTION.sub("", cell.source)
            found.append(
                Part(
                    meta["grade_id"],
                    meta["points"],
                    task,
                    by_hand,
                    tests,
                    title,
                    rubrics[0] if by_hand and rubrics else "",
                    tuple(chapters_in(text + cell.source)),
                )
            )
    return found


def chapters_in(text):
    """Return the titles of the chapters that a text mentions, in the order of the text."""
    title = r"[*']([^*'\n]+)[*']"
    lists = re.findall(rf"[Cc]hapters? ((?:(?:, | and )?{title})+)", text)
    return [one for some in lists for one in re.findall(title, some[0])]


def skeleton(source):
    """Return the source without answers and hidden tests, from which submissions are restored.

    nbgrader creates the release for students. To restore a submission, only the names, the given
    cells and a blank in place of each answer are needed.
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
    """Return the parts that belong to the chosen tasks; None means all."""
    return [part for part in all_parts if tasks is None or part.task in tasks]


def task_numbers(text):
    """Return the set of numbers in a text such as "1-5,8"; None for "all"."""
    if text.strip() in ("", "all"):
        return None
    chosen = set()
    for piece in re.split(r"[,\s]+", text.strip()):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", piece)
        if not ends:
            raise ValueError(f"{piece!r} is not a task number: write TASKS=1-5,8")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not first <= last < 1000:
            raise ValueError(f"{piece!r} is not a range of tasks: write TASKS=1-5,8")
        chosen |= set(range(first, last + 1))
    return chosen


def known_tasks(chosen, all_parts, assignment):
    """Return `chosen` if the assignment has all of these tasks; otherwise raise an error."""
    there = {part.task for part in all_parts}
    unknown = chosen - there
    if unknown:
        raise ValueError(
            f"{assignment} has no task {', '.join(map(str, sorted(unknown)))}; it has tasks "
            f"{min(there)} to {max(there)}"
        )
    return chosen


@dataclass(frozen=True)
class Defined:
    """Names that a solution cell must define."""

    cell: str
    task: int
    names: frozenset
    in_place: bool  # whether its functions change their arguments in place
    code: str  # the reference
    own_choice: bool = False  # whether each student's solution is different

    @property
    def replaceable(self):
        """Whether the reference can replace a wrong answer in the tests of other tasks."""
        return not (self.in_place or self.own_choice)


def solutions(source):
    """Return the definitions of each solution cell of a source, in order."""
    found, task = [], 0
    for cell in source.cells:
        heading = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
        task = int(heading[1]) if heading else task
        if cell.cell_type == "code" and own(cell).get("solution"):
            code = SOLUTION.sub("", cell.source)
            tags, names = cell.metadata.get("tags", []), frozenset(bound_names(code))
            how = "in-place" in tags, code, "own-choice" in tags
            found.append(Defined(own(cell)["grade_id"], task, names, *how))
    return found
