"""Grade one submission: run its cells in a process of its own, and the tests in this one."""

import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import variants
from .execute import CutOff, Failed, Session, Tampered, TimeLimit
from .judge import Judge
from .notebooks import (
    BLANK,
    Unusable,
    own,
    parse,
    parts,
    read_bytes,
    restore,
    select,
    skeleton,
    student_names,
)
from .sandbox import Limits


@dataclass
class Mark:
    """What one graded cell earned; `points` is None until an instructor has marked it."""

    name: str
    points: float | None
    worth: float
    message: str = ""
    answer: str = ""


@dataclass
class Result:
    """What came of one student's submission of one assignment."""

    student: str
    assignment: str
    status: str
    marks: list[Mark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    max_points: float = 0

    @property
    def score(self):
        """Points earned so far."""
        return sum(mark.points or 0 for mark in self.marks)

    @property
    def awaiting(self):
        """Points that an instructor has still to give or to refuse."""
        return sum(mark.worth for mark in self.marks if mark.points is None)

    def data(self):
        """Return the result as plain data, for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, data):
        """Return the result that `data` had been made of."""
        return cls(**data | {"marks": [Mark(**mark) for mark in data["marks"]]})


@dataclass(frozen=True)
class Job:
    """One submission to grade, and all that is needed for it.

    Parameters
    ----------
    student, assignment : str
    path : str
        The student's notebook.
    source : str
        The instructor's notebook, as JSON; empty if there is no assignment of this name.
    limits : Limits
    hidden : tuple of str
        Folders that the submission may not read.
    tasks : frozenset or None
        The tasks that count; None for all.
    variant : int
        The student's variant of the data.
    number : int
        Tells submissions that run at the same time apart.
    scratch : str
        An existing folder to work in.
    note : str
        What `collect` had to say.
    problem : str
        Why the file is not to be opened at all.
    """

    student: str
    assignment: str
    path: str
    source: str = ""
    limits: Limits = field(default_factory=Limits)
    hidden: tuple = ()
    tasks: frozenset | None = None
    variant: int = 0
    number: int = 0
    scratch: str = ""
    note: str = ""
    problem: str = ""


TAMPERED = (
    "this notebook changes how cells are compiled or run: {what}. The marks were decided outside "
    "its reach and stand, but have a look at it"
)


def control(session):
    """Run two control cells; return what is odd about the way they ran, "" if nothing is.

    One must fail with an error that nobody could foresee, one must leave a value behind. A
    submission that drops assertions or replaces IPython's machinery cannot do both. Verdicts do
    not depend on it: this only tells the instructor.
    """
    nonce = secrets.token_hex(16)
    try:
        try:
            session.run(f"assert False, {nonce!r}")
            return "an assertion that must fail did not"
        except Failed as problem:
            if problem.classes[0] != "AssertionError" or problem.text != nonce:
                return "an assertion that must fail failed otherwise"
        name = f"control_{nonce}"
        session.run(f"{name} = {nonce!r}")
        if session.look([name]).get(name) != {"value": nonce}:
            return "a control cell did not run"
    except Failed:
        return "a control cell failed"
    except Tampered as problem:
        return str(problem)
    except (TimeLimit, CutOff):
        # Out of time, or gone: no reason to accuse anybody.
        return ""
    return ""


def run(nb, source, job, session):
    """Run the cells of a mended notebook; return marks, status and notes."""
    chosen = {part.name: part for part in select(parts(source), job.tasks)}
    judge = Judge(session, student_names(source))
    marks, notes, gone, status = [], [], "", "graded"
    for cell in nb.cells:
        meta = own(cell)
        name = meta.get("grade_id", "a cell of your own")
        part = chosen.get(name)
        if part and part.by_hand:
            # What was not touched earns nothing, and asks nobody to read it.
            blank = cell.source.strip() in ("", BLANK[cell.cell_type])
            marks.append(Mark(name, 0 if blank else None, part.points, "", cell.source))
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        graded = meta.get("grade") and not meta.get("solution")
        if graded and not part:
            continue
        if gone:
            message = f"not run: the notebook was cut off in {gone}"
        else:
            try:
                message = run_cell(cell, name, part if graded else None, job, session, judge)
            except CutOff as reason:
                gone = f"{name}: {reason}"
                status = "tampered" if isinstance(reason, Tampered) else "cut off"
                notes.insert(0, f"cut off in the cell {gone}")
                message = f"cut off in this cell: {reason}"
        if graded:
            marks.append(Mark(name, 0 if message else part.points, part.points, message))
        elif message and not gone and message != "no answer yet":
            notes.append(f"{name}: {message}")
    odd = "" if gone else control(session)
    if odd:
        status = "tampered"
        notes.insert(0, TAMPERED.format(what=odd))
    notes += [f"refused: {what}" for what in list(dict.fromkeys(session.refused))[:5]]
    return marks, status, notes


def run_cell(cell, name, part, job, session, judge):
    """Run one cell where it belongs; return "" or what went wrong in it."""
    if part:
        return judge.test(part.tests)
    try:
        text = variants.put(cell.source, job.variant) if name == variants.CELL else cell.source
        if own(cell).get("locked"):
            judge.give(text)
        session.run(text)
    except Failed as problem:
        return problem.told()
    except TimeLimit as problem:
        return str(problem)
    return ""


def grade_one(job):
    """Grade one submission; whatever happens, return a `Result`."""
    result = Result(job.student, job.assignment, "graded")
    if not job.source:
        result.status = "unknown assignment"
        result.notes = [
            f"there is no assignment called {job.assignment!r}: is the file's name as it was?"
        ]
        return result
    source = parse(job.source.encode())
    result.max_points = sum(part.points for part in select(parts(source), job.tasks))
    try:
        if job.problem:
            raise Unusable("refused", job.problem)
        nb = parse(read_bytes(job.path))
        mended = restore(nb, skeleton(source))
        with Session(job.limits, job.hidden, job.number, Path(job.scratch)) as session:
            result.marks, result.status, notes = run(nb, source, job, session)
        result.notes = [*([job.note] if job.note else []), *mended, *notes]
    except Unusable as problem:
        result.status = problem.status
        result.notes = [str(problem), *([job.note] if job.note else [])]
    except Exception as problem:
        result.status = "the grader failed"
        result.notes = [f"{type(problem).__name__}: {problem}. Grade this one by hand"]
    return result
