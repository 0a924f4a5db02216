"""Test the grader with the reference solution and with a zoo of wrong answers.

`python -m grader.zoo a1_dependence` prints the outcome for each wrong answer, and `python -m
grader.zoo held_back` prints the share of detected answers among those for which no test was
written. `tests/course` asserts the same. Because these answers are trusted, they run in this
process, without the sandbox.
"""

import contextlib
import json
import runpy
import signal
import sys
import types
from pathlib import Path

import nbformat

from . import RELEASE, SOURCE, ZOO, assignments, student, variants, wire
from .collect import Handin
from .execute import Failed, TimeLimit
from .grade import grade
from .judge import Judge, quiet
from .notebooks import SOLUTION, own, parts, solutions

SECONDS = 20  # seconds of processor time for a wrong answer that does not end


def answers(assignment):
    """Return the wrong answers to one assignment (see the files in `course/zoo/`).

    A file lists whole cells in ZOO, and small changes of the reference in EDITS, each with its
    name, the cell, the original code, the student's code, the test that must detect it, and a part
    of the expected message.
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


def held_back(assignment):
    """Return (name, {cell: code}) of each wrong answer that no test was written for."""
    found = runpy.run_path(str(ZOO / "held_back.py"))
    base = found["A4_BASE"] if assignment == "a4_reproduction" else {}
    return [(name, base | {cell: code}) for name, cell, code in found["HELD_BACK"][assignment]]


def reference(assignment):
    """Return the source notebook, which contains the reference solution."""
    return nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4)


def blank(assignment):
    """Return the release as a student gets it."""
    return nbformat.read(RELEASE / assignment / f"{assignment}.ipynb", as_version=4)


def grade_notebooks(notebooks, folder, **options):
    """Grade {(student, assignment): notebook}; return {(student, assignment): Result}."""
    jobs = []
    for (name, assignment), nb in notebooks.items():
        path = Path(folder) / name / f"{assignment}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(nb, path)
        jobs.append(Handin(name, assignment, path))
    return {(r.student, r.assignment): r for r in grade(jobs, hidden=[folder], **options)}


class Local(student.Server):
    """Submission's side of the protocol in this process, for trusted answers."""

    def __init__(self):
        super().__init__(wire, None, None, None)
        self.shell = types.SimpleNamespace(user_ns={"__name__": "__main__"})
        self.refused = []

    def begin(self):
        """Do nothing, because trusted answers are not timed."""

    def patience(self):
        """Do nothing, because the answers are trusted."""
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def guarded(self):
        """Convert errors to those that a session raises, and stop endless code."""

        def stop(*_):
            raise TimeLimit("this was stopped. Look for a loop that does not end.")

        before = signal.signal(signal.SIGVTALRM, stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            yield
        except TimeLimit:
            raise
        except BaseException as problem:
            raise Failed(student.explain(problem)) from None
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    def run(self, source):
        """Run one cell."""
        with quiet(), self.guarded():
            exec(compile(source, "<ipython-input>", "exec"), self.shell.user_ns)

    def look(self, names):
        """Return the value of each name."""
        return json.loads(json.dumps(super().look({"names": sorted(names)})["found"]))

    def ask(self, question):
        """Call the grader directly."""
        return json.loads(json.dumps(self.answer(json.loads(json.dumps(question)))))

    def call(self, name, args, kwargs, answer, in_place=False, replace=None):
        """Call a function of the submission."""
        self.answer = answer
        message = {"name": name, "args": args, "kwargs": kwargs}
        message = json.loads(
            json.dumps(message | {"in_place": in_place, "replace": replace or {}})
        )
        with self.guarded():
            return json.loads(json.dumps(super().call(message)))


class Bench:
    """Reference of one assignment, some of whose cells can be replaced."""

    def __init__(self, assignment, variant=0):
        self.assignment = assignment
        self.source = variants.question(reference(assignment), variant)
        self.parts = {part.name: part for part in parts(self.source)}
        self.defined = {each.cell: each for each in solutions(self.source)}
        # If cells depend on each other's results, all of them are run again.
        self.whole = assignment == "a4_reproduction"
        self.session = Local()
        self.judge = Judge(self.session, self.defined.values())
        for cell in self.source.cells:
            name = own(cell).get("grade_id", "")
            if cell.cell_type == "code" and name and name not in self.parts:
                text = SOLUTION.sub("", cell.source)
                text = variants.put(text, variant) if name == variants.CELL else text
                if own(cell).get("locked"):
                    self.judge.give(text)
                if own(cell).get("locked") or not self.whole:
                    self.session.run(text)

    def try_out(self, replace=None):
        """Return {test: message} for tests of the tasks whose cells are replaced; None for all."""
        self.judge.failed = set()
        tasks = {self.defined[name].task for name in replace or self.defined}
        found = {}
        for cell in self.source.cells:
            name = own(cell).get("grade_id", "")
            if name in self.defined and (self.whole or name in (replace or {})):
                code = (replace or {}).get(name, self.defined[name].code)
                with contextlib.suppress(Failed, TimeLimit):
                    self.session.run(code)
            part = self.parts.get(name)
            if part and not part.by_hand and (self.whole or part.task in tasks):
                found[name] = self.judge.test(part.tests, part.task)
        for name in replace or {}:
            if not self.whole:
                self.session.run(self.defined[name].code)
        return found


def family(test, names):
    """Return the tests that a mistake may fail, which are all those of its task."""
    stem = test.removesuffix("_edge")
    return {name for name in names if name == stem or name.startswith(f"{stem}_")}


def verdict(wrong, found):
    """Return what is wrong with the grading of one wrong answer, or ""."""
    lost = {name: message for name, message in found.items() if message}
    own_tests = family(wrong["caught_by"], found)
    if not own_tests & set(lost):
        return f"should lose marks in {wrong['caught_by']}, lost them in {lost or 'none'}"
    if not set(lost) <= own_tests:
        return f"should lose marks in {wrong['caught_by']} alone, lost them in {lost}"
    if not any(wrong["message"] in lost[name] for name in own_tests & set(lost)):
        return f"no message says {wrong['message']!r}: {lost}"
    return ""


def caught(bench):
    """Return {name: whether it loses marks} for the held-back answers."""
    wrong = held_back(bench.assignment)
    return {name: any(bench.try_out(replace).values()) for name, replace in wrong}


def main():
    """Print how a reference and its zoo are graded, or which held-back answers are detected."""
    if sys.argv[1] == "held_back":
        total = []
        for assignment in sys.argv[2:] or assignments():
            found = caught(Bench(assignment))
            total += found.values()
            print(f"{assignment}: {sum(found.values())} of {len(found)} caught")
            print(*(f"    missed: {name}" for name, seen in found.items() if not seen), sep="\n")
        sys.exit(f"{sum(total)} of {len(total)} caught" if not all(total) else 0)
    failures = 0
    bench = Bench(sys.argv[1])
    for name, message in bench.try_out().items():
        failures += bool(message)
        print(f"reference, {name}: {message or 'right'}")
    for wrong in answers(sys.argv[1]):
        found = bench.try_out(wrong["replace"])
        amiss = verdict(wrong, found)
        failures += bool(amiss)
        print(f"{wrong['name']}: {'AMISS: ' + amiss if amiss else 'caught'}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
