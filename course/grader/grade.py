"""Grade a folder of submissions, headless: `make grade SUBMISSIONS=dir`."""

import argparse
import json
import multiprocessing
import re
import shutil
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, fields
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput, SaveAutoGrades

from . import SOURCE, assignments, report
from .build import convert, coursedir, generate
from .execute import executor
from .sandbox import Limits, describe

# nbgrader makes folders of a student's name; grading needs no more than a stand-in.
SOMEBODY = "student"


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


class Unusable(Exception):
    """A submission that cannot be run at all; the message says why."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def read(path):
    """Return the notebook at `path`, or say what is wrong with the file."""
    try:
        with warnings.catch_warnings():
            # about ids of cells, which `restore` sets anew
            warnings.simplefilter("ignore")
            nb = nbformat.read(path, as_version=4)
            nbformat.validate(nb)
    except FileNotFoundError:
        raise Unusable("missing", "nothing was handed in under this name") from None
    except Exception as problem:
        first = str(problem).strip().splitlines()[0][:200] if str(problem).strip() else ""
        raise Unusable("unreadable", f"the file is not a notebook ({first})") from None
    return nb


def restore(nb, release):
    """Put every released cell back into a submission; keep the student's answers and own cells.

    nbgrader later restores the text of the locked cells. Before it can, their marks must be right:
    whatever happened to a cell's metadata is undone here, and cells that were deleted come back
    in their places.

    Returns
    -------
    list of str
        What had to be mended, in words.
    """
    wanted = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in release.cells
        if "nbgrader" in cell.metadata
    }
    found, twice = {}, []
    for cell in nb.cells:
        own = cell.metadata.get("nbgrader")
        name = own.get("grade_id") if isinstance(own, dict) else None
        if name in wanted and name not in found:
            found[name] = cell
            continue
        cell.metadata.pop("nbgrader", None)
        if name in found:
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
    # Copied cells share an id, which nbgrader refuses.
    for position, cell in enumerate(nb.cells):
        cell["id"] = f"cell-{position}"
    nb.nbformat, nb.nbformat_minor = 4, 5
    return notes


def first_error(cell):
    """Return the message of the first error among a cell's outputs, without its type if ours."""
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            text = re.sub(r"\x1b\[[0-9;]*m", "", output.evalue).strip()
            if output.ename == "NotImplementedError" and not text:
                return "no answer yet"
            ours = output.ename in ("AssertionError", "CutOff", "NotRun", "TimeLimit")
            return text if ours and text else f"{output.ename}: {text}"
    return ""


def causes(nb):
    """Return, for each solution cell that raised an error of its own, that error."""
    found = []
    for cell in nb.cells:
        own = cell.metadata.get("nbgrader", {})
        graded = own.get("grade") and not own.get("solution")
        message = "" if graded else first_error(cell)
        if message and not message.startswith(("not run", "cut off")):
            found.append(f"{own.get('grade_id', 'a cell of your own')}: {message}")
    return found


def autograde(assignment, path, base, limits, hidden):
    """Grade the notebook at `path`; return its marks, its status and notes.

    Parameters
    ----------
    assignment : str
    path : Path
        The student's notebook.
    base : Path
        A folder in which `generate` has worked: nbgrader's records of this assignment.
    limits : Limits
    hidden : list of Path
        Folders that the submission may not read.
    """
    submitted = read(path)
    notes = restore(submitted, read(base / "release" / assignment / f"{assignment}.ipynb"))
    with tempfile.TemporaryDirectory(prefix="rg-", ignore_cleanup_errors=True) as temporary:
        root = Path(temporary).resolve()
        shutil.copy(base / "gradebook.db", root)
        place = root / "submitted" / SOMEBODY / assignment
        place.mkdir(parents=True)
        nbformat.write(submitted, place / f"{assignment}.ipynb")
        refusals = root / "refused"
        run = {}

        def execute(nb, resources):
            nb, resources = executor(root / "b", refusals, limits, hidden)(nb, resources)
            run["cut_off"] = resources.get("cut_off")
            return nb, resources

        course = coursedir(root, assignment, SOMEBODY)
        converter = Autograde(coursedir=course)
        converter.autograde_preprocessors = [
            execute,
            LimitOutput,
            SaveAutoGrades,
            CheckCellMetadata,
        ]
        convert(converter)
        graded = nbformat.read(
            root / "autograded" / SOMEBODY / assignment / f"{assignment}.ipynb", as_version=4
        )
        with Gradebook(course.db_url) as book:
            grades = book.find_submission_notebook(assignment, assignment, SOMEBODY).grades
            points = {
                g.name: (None if g.needs_manual_grade else g.auto_score or 0, g.max_score)
                for g in grades
            }
        marks = []
        for cell in graded.cells:
            own = cell.metadata.get("nbgrader", {})
            if own.get("grade"):
                answer = cell.source if own["solution"] else ""
                earned, worth = points[own["grade_id"]]
                message = first_error(cell) if earned is not None and earned < worth else ""
                marks.append(Mark(own["grade_id"], earned, worth, message, answer))
        notes += causes(graded)
        if refusals.exists():
            refused = dict.fromkeys(json.loads(line) for line in refusals.read_text().splitlines())
            notes += [f"refused: {what}" for what in list(refused)[:5]]
    if run["cut_off"]:
        return marks, "cut off", [run["cut_off"], *notes]
    return marks, "graded", notes


def grade_one(student, assignment, path, base, limits, hidden):
    """Grade one submission; whatever happens, return a `Result`."""
    if base is None:
        note = f"there is no assignment called {assignment!r}: is the file's name as it was?"
        return Result(student, assignment, "unknown assignment", notes=[note])
    release = read(base / "release" / assignment / f"{assignment}.ipynb")
    worth = sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in release.cells)
    result = Result(student, assignment, "graded", max_points=worth)
    try:
        result.marks, result.status, result.notes = autograde(
            assignment, path, base, limits, hidden
        )
    except Unusable as problem:
        result.status, result.notes = problem.status, [str(problem)]
    except Exception as problem:
        result.status = "the grader failed"
        result.notes = [f"{type(problem).__name__}: {problem}. Grade this one by hand"]
    return result


def collect(folder, source=SOURCE):
    """Return (student, assignment, path) for all that was handed in, and for what is missing.

    A student's folder holds `<assignment>.ipynb` or `<assignment>/<assignment>.ipynb`. An
    assignment counts as due when anybody has handed it in.
    """
    students = sorted(
        path for path in Path(folder).iterdir() if path.is_dir() and not path.name.startswith(".")
    )
    jobs = {}
    for student in students:
        for path in sorted([*student.glob("*.ipynb"), *student.glob("*/*.ipynb")]):
            nested = path.parent != student
            if nested and (path.parent.name.startswith(".") or path.stem != path.parent.name):
                continue
            jobs[student.name, path.stem] = path
    due = sorted({assignment for _, assignment in jobs} & set(assignments(source)))
    for student in students:
        for assignment in due:
            jobs.setdefault((student.name, assignment), student / f"{assignment}.ipynb")
    return [(student, assignment, path) for (student, assignment), path in sorted(jobs.items())]


def run_all(jobs, workers):
    """Call `grade_one` on each of `jobs`, `workers` at a time; yield results in order."""
    # nbgrader changes its working directory, so each worker is a process of its own.
    context = multiprocessing.get_context("spawn")
    results = {}
    try:
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            futures = [pool.submit(grade_one, *job) for job in jobs]
            for position, future in enumerate(futures):
                results[position] = future.result()
                yield results[position]
    except BrokenProcessPool:
        # A worker died (out of memory, say). One pool a submission finds out which one it was.
        for job in jobs[len(results) :]:
            try:
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    yield pool.submit(grade_one, *job).result()
            except BrokenProcessPool:
                note = "the grader's own process died on this notebook. Grade this one by hand"
                yield Result(job[0], job[1], "the grader failed", notes=[note])


def grade(submissions, *, limits=None, workers=2, hidden=(), source=SOURCE):
    """Grade (student, assignment, path) triples; return an iterator of `Result`.

    Examples
    --------
    ``list(grade(collect("submissions")))`` grades a folder.
    """
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="course-") as root:
        bases = {}
        handed_in = {assignment for _, assignment, _ in submissions}
        for assignment in handed_in & set(assignments(source)):
            bases[assignment] = Path(root) / assignment
            generate(assignment, bases[assignment], source)
        jobs = [(s, a, path, bases.get(a), limits, list(hidden)) for s, a, path in submissions]
        yield from run_all(jobs, workers)


def main():
    """Read the command line, grade, and write what came of it."""
    parser = argparse.ArgumentParser(prog="make grade", description=__doc__)
    parser.add_argument("submissions", type=Path, help="one folder a student")
    parser.add_argument("--out", type=Path, default=Path("grades"), help="where results go")
    parser.add_argument("--workers", type=int, default=2)
    for limit in fields(Limits):
        option = "--" + limit.name.replace("_", "-")
        parser.add_argument(option, type=limit.type, default=limit.default)
    options = parser.parse_args()
    if not options.submissions.is_dir():
        sys.exit(f"There is no folder {options.submissions}: say make grade SUBMISSIONS=dir")
    jobs = collect(options.submissions)
    if not jobs:
        sys.exit(f"No notebook in {options.submissions}: expected <student>/<assignment>.ipynb")
    limits = Limits(**{limit.name: getattr(options, limit.name) for limit in fields(Limits)})
    print(f"guards: {describe()}")
    results = []
    hidden = [options.submissions, options.out]
    for result in grade(jobs, limits=limits, workers=options.workers, hidden=hidden):
        results.append(result)
        points = f"{result.score:g}/{result.max_points:g}"
        print(result.student, result.assignment, points, result.status, sep="  ", flush=True)
    report.write(results, options.out)
    print(f"grades and feedback pages are in {options.out}")


if __name__ == "__main__":
    main()
