"""Grade one submission, running its cells in a separate process and the tests in this one."""

import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import variants
from .execute import LONGEST, CutOff, Failed, Session, Tampered, TimeLimit, cut
from .judge import Judge
from .notebooks import (
    BLANK,
    Unusable,
    own,
    parse,
    parts,
    read_bytes,
    restore,
    skeleton,
    solutions,
)
from .sandbox import Limits


@dataclass
class Mark:
    """Points of one graded cell; `points` is None until an instructor has marked it."""

    name: str
    points: float | None
    worth: float
    message: str = ""
    answer: str = ""
    task: int = 0
    title: str = ""
    rubric: str = ""
    chapters: list = field(default_factory=list)


@dataclass
class Result:
    """Result of one student's submission of one assignment."""

    student: str
    assignment: str
    status: str
    marks: list[Mark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    max_points: float = 0
    worths: list = field(default_factory=list)  # (task, points) of every graded cell

    @property
    def score(self):
        """Points earned so far."""
        return sum(mark.points or 0 for mark in self.marks)

    @property
    def awaiting(self):
        """Points that an instructor still has to award or deny."""
        return sum(mark.worth for mark in self.marks if mark.points is None)

    def data(self):
        """Return the result as plain data, for JSON, with all texts cut to a few kilobytes."""
        data = asdict(self)
        for mark in data["marks"]:
            mark["message"] = cut(mark["message"], LONGEST)
            mark["answer"] = cut(mark["answer"], ANSWER)
        return data | {"notes": [cut(note, LONGEST) for note in self.notes[:NOTES]]}

    @classmethod
    def of(cls, data):
        """Restore the result from the output of `data`."""
        return cls(**data | {"marks": [Mark(**mark) for mark in data["marks"]]})


@dataclass(frozen=True)
class Job:
    """Submission to grade, with everything needed for it.

    Parameters
    ----------
    student, assignment : str
        Names of the student and of the assignment.
    path : str
        Path of the student's notebook.
    source : str
        Instructor's notebook as JSON; empty if there is no assignment of this name.
    limits : Limits
        Limits on the process.
    hidden : tuple of str
        Folders that the submission may not read.
    variant : int
        Student's variant of questions and data.
    number : int
        Number that distinguishes concurrent submissions and their users.
    slot : int
        Position among the concurrent submissions.
    walled : bool or None
        Whether to use bubblewrap; None uses it if it is installed.
    scratch : str
        Existing folder to work in.
    note : str
        Remark of `collect`.
    problem : str
        Reason for not opening the file, if any.
    """

    student: str
    assignment: str
    path: str
    source: str = ""
    limits: Limits = field(default_factory=Limits)
    hidden: tuple = ()
    variant: int = 0
    number: int = 0
    slot: int = 0
    walled: bool | None = None
    scratch: str = ""
    note: str = ""
    problem: str = ""


FAILED = "the grader failed"
ANSWER = 8000  # maximum characters of a written answer that are stored
NOTES = 20
TAMPERED = (
    "this notebook changes how cells are compiled or run: {what}. The marks were decided outside "
    "its reach and stand, but have a look at it"
)


def control(session):
    """Run two control cells; return what is suspicious about their results, or "".

    One cell must fail with an unpredictable error, and the other must define a value. A submission
    that drops assertions or replaces parts of IPython cannot pass both. The outcome does not
    affect marks and is only reported to the instructor.
    """
    nonce = secrets.token_hex(16)
    try:
        try:
            session.run(f"assert False, {nonce!r}")
            return "an assertion that must fail did not"
        except Failed as problem:
            if problem.classes[0] != "AssertionError" or problem.text != nonce:
                return "an assertion that must fail failed with another error"
        name = f"control_{nonce}"
        session.run(f"{name} = {nonce!r}")
        if session.look([name]).get(name) != {"value": nonce}:
            return "a control cell did not run"
    except Failed:
        return "a control cell failed"
    except Tampered as problem:
        return str(problem)
    except (TimeLimit, CutOff):
        # A process that ran out of time or ended is no evidence of tampering.
        return ""
    return ""


def mark_of(part, points, message="", answer=""):
    """Return the mark of one graded cell."""
    about = {"task": part.task, "title": part.title, "chapters": list(part.chapters)}
    return Mark(part.name, points, part.points, message, answer, **about, rubric=part.rubric)


def run(nb, source, job, session):
    """Run the cells of a restored notebook; return marks, status and notes."""
    graded_parts = {part.name: part for part in parts(source)}
    judge = Judge(session, solutions(source))
    marks, notes, gone, status = [], [], "", "graded"
    for cell in nb.cells:
        meta = own(cell)
        name = meta.get("grade_id", "a cell of your own")
        part = graded_parts.get(name)
        if part and part.by_hand:
            # An unchanged answer earns no points and needs no manual marking.
            blank = cell.source.strip() in ("", BLANK[cell.cell_type])
            marks.append(mark_of(part, 0 if blank else None, "", cell.source))
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        graded = meta.get("grade") and not meta.get("solution")
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
            marks.append(mark_of(part, 0 if message else part.points, message))
        elif message and not gone and message != "no answer yet":
            notes.append(f"{name}: {message}")
    odd = "" if gone else control(session)
    if odd:
        status = "tampered"
        notes.insert(0, TAMPERED.format(what=odd))
    notes += [f"refused: {what}" for what in list(dict.fromkeys(session.refused))[:5]]
    return marks, status, notes


def run_cell(cell, name, part, job, session, judge):
    """Run one cell in the proper process; return "" or a description of its error."""
    if part:
        return judge.test(part.tests, part.task)
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
    try:
        if not job.source:
            raise Unusable(
                "unknown assignment",
                f"there is no assignment called {job.assignment!r}: has the file been renamed?",
            )
        source = variants.question(parse(job.source.encode(), ours=True), job.variant)
        result.worths = [[part.task, part.points] for part in parts(source)]
        result.max_points = sum(points for _, points in result.worths)
        if job.problem:
            raise Unusable("refused", job.problem)
        nb = parse(read_bytes(job.path))
        restored = restore(nb, skeleton(source))
        where = Path(job.scratch) if job.scratch else None
        with Session(
            job.limits, job.hidden, job.number, where, walled=job.walled, slot=job.slot
        ) as session:
            result.marks, result.status, notes = run(nb, source, job, session)
        result.notes = [*([job.note] if job.note else []), *restored, *notes]
    except Unusable as problem:
        result.status = problem.status
        result.notes = [str(problem), *([job.note] if job.note else [])]
    except Exception as problem:
        result.status = FAILED
        result.notes = [f"{type(problem).__name__}: {cut(problem, LONGEST)}. Grade it by hand"]
    return result
