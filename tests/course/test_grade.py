"""What is handed in is not always what was given out."""

import csv
import subprocess
import sys

import nbformat
import pytest
from grader import COURSE, build, report, sandbox
from grader.grade import Mark, Result, collect, grade
from nbformat.v4 import new_code_cell, new_markdown_cell

from . import mini

NAME = "mini"


def cell(nb, name):
    return next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def tampered_test():
    nb = mini.answer(one="def one():\n    return 7")
    cell(nb, "test_one").source = "assert True"
    return nb


def tampered_metadata():
    nb = mini.answer(one="def one():\n    return 7")
    cell(nb, "test_one").metadata.nbgrader |= {"grade": False, "locked": False, "points": 99}
    return nb


def skipped_test():
    nb = mini.answer(one="def one():\n    return 7")
    cell(nb, "test_one").metadata.tags = ["skip-execution"]
    return nb


def test_as_text():
    nb = mini.answer(one="def one():\n    return 7")
    position = nb.cells.index(cell(nb, "test_one"))
    meta = nb.cells[position].metadata
    nb.cells[position] = new_markdown_cell("no test here", metadata=meta)
    return nb


def deleted_test():
    nb = mini.answer(one="def one():\n    return 7")
    nb.cells.remove(cell(nb, "test_one"))
    return nb


def deleted_answer():
    nb = mini.answer()
    nb.cells.remove(cell(nb, "one"))
    return nb


def copied_cell():
    nb = mini.answer()
    copy = nbformat.from_dict(cell(nb, "one"))
    copy.id, copy.source = "copy", "def one():\n    return 7"
    nb.cells.append(copy)
    return nb


def own_helper():
    nb = mini.answer(one="def one():\n    return helper()")
    nb.cells.insert(1, new_code_cell("def helper():\n    return 1"))
    return nb


def stripped():
    nb = mini.answer()
    for each in nb.cells:
        each.metadata.pop("nbgrader", None)
    return nb


ODD = {
    f.__name__: f
    for f in (
        tampered_test,
        tampered_metadata,
        skipped_test,
        test_as_text,
        deleted_test,
        deleted_answer,
        copied_cell,
        own_helper,
        stripped,
    )
}
# it makes a notebook, it is not a test
test_as_text.__test__ = False


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("grade")
    (root / "source" / NAME).mkdir(parents=True)
    nbformat.write(mini.source(), root / "source" / NAME / f"{NAME}.ipynb")
    for student, make in ODD.items():
        (root / "in" / student / NAME).mkdir(parents=True)
        nbformat.write(make(), root / "in" / student / NAME / f"{NAME}.ipynb")
    for student in ("nothing", "torn", "renamed"):
        (root / "in" / student).mkdir()
    (root / "in" / "torn" / f"{NAME}.ipynb").write_text('{"cells": [')
    nbformat.write(mini.answer(), root / "in" / "renamed" / "my homework.ipynb")
    jobs = collect(root / "in", root / "source")
    graded = grade(jobs, limits=sandbox.Limits(cell_seconds=30), source=root / "source")
    return {(r.student, r.assignment): r for r in graded}


def points(result):
    return {mark.name: mark.points for mark in result.marks}


@pytest.mark.parametrize(
    "student",
    ["tampered_test", "tampered_metadata", "skipped_test", "test_as_text", "deleted_test"],
)
def test_a_test_that_was_tampered_with_is_restored(results, student):
    result = results[student, NAME]
    assert points(result) == {"test_one": 0, "test_two": 3}
    assert result.marks[0].message == "the secret is 1"
    assert result.max_points == 5


def test_a_deleted_answer_counts_as_blank_and_the_rest_is_graded(results):
    result = results["deleted_answer", NAME]
    assert points(result) == {"test_one": 0, "test_two": 3}
    assert result.notes[0] == "these cells were missing and have been put back: one"


def test_of_a_cell_that_stands_twice_the_first_is_graded(results):
    result = results["copied_cell", NAME]
    assert result.score == 5
    assert "stood there twice" in result.notes[0]


def test_cells_of_the_students_own_are_kept(results):
    assert results["own_helper", NAME].score == 5


@pytest.mark.parametrize(
    ("student", "assignment", "status", "note"),
    [
        ("nothing", NAME, "missing", "nothing was handed in"),
        ("torn", NAME, "unreadable", "not a notebook"),
        ("renamed", "my homework", "unknown assignment", "no assignment called 'my homework'"),
        ("renamed", NAME, "missing", "nothing was handed in"),
        ("stripped", NAME, "not the released notebook", "metadata are gone"),
    ],
)
def test_what_cannot_be_run_gets_a_row_that_says_why(results, student, assignment, status, note):
    result = results[student, assignment]
    assert (result.status, result.score) == (status, 0)
    assert note in result.notes[0]


def some_results():
    marks = [
        Mark("test_a", 0, 2, "=1+1 <b>is</b> wrong"),
        Mark("essay", None, 4, "", "I think so."),
    ]
    return [Result("=cmd()", "a4", "graded", marks, ["a\x07 note"], 6)]


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_report_says_what_awaits_the_instructor(tmp_path):
    report.write(some_results(), tmp_path)
    (row,) = rows(tmp_path / "grades.csv")
    assert (row["score"], row["max"], row["awaiting_instructor"]) == ("0", "6", "4")
    assert row["status"] == "graded, awaiting the instructor"
    assert row["what_went_wrong"] == "test_a (0/2): =1+1 <b>is</b> wrong | a note"


def test_report_disarms_formulas_and_markup(tmp_path):
    report.write(some_results(), tmp_path)
    assert rows(tmp_path / "grades.csv")[0]["student"] == "'=cmd()"
    (page,) = (tmp_path / "feedback").iterdir()
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;is&lt;/b&gt; wrong" in text
    assert "I think so." in text


def test_marks_that_the_instructor_entered_are_counted_and_kept(tmp_path):
    report.write(some_results(), tmp_path)
    sheet = (tmp_path / "manual.csv").read_text(encoding="utf-8")
    assert "essay,4,," in sheet
    marked = sheet.replace("essay,4,,", "essay,4,3,well argued")
    (tmp_path / "manual.csv").write_text(marked, encoding="utf-8")
    for _ in range(2):
        report.write(some_results(), tmp_path)
        (row,) = rows(tmp_path / "grades.csv")
        assert (row["score"], row["awaiting_instructor"], row["status"]) == ("3", "0", "graded")
    (page,) = (tmp_path / "feedback").iterdir()
    assert "well argued" in page.read_text(encoding="utf-8")


def test_a_mark_beyond_the_maximum_is_refused(tmp_path):
    report.write(some_results(), tmp_path)
    sheet = (tmp_path / "manual.csv").read_text(encoding="utf-8")
    (tmp_path / "manual.csv").write_text(
        sheet.replace("essay,4,,", "essay,4,5,"), encoding="utf-8"
    )
    with pytest.raises(SystemExit, match="from 0 to 4"):
        report.write(some_results(), tmp_path)


def test_a_stale_release_is_explained_cell_by_cell():
    old = nbformat.writes(mini.answer())
    new = nbformat.writes(mini.answer(two="def two():\n    return 'two'"))
    words = build.explain(NAME, old, new)
    assert "did not follow from its source" in words
    assert "-    return 2\n+    return 'two'" in words


def test_the_command_asks_for_a_folder_that_is_there(tmp_path):
    command = [sys.executable, "-m", "grader.grade", str(tmp_path / "absent")]
    done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 1
    assert "make grade SUBMISSIONS=dir" in done.stderr


def test_the_command_grades_a_folder(tmp_path):
    """The blank release of A1, through the command line, to the files that an instructor opens."""
    place = tmp_path / "in" / "Ada" / "a1_dependence.ipynb"
    place.parent.mkdir(parents=True)
    release = COURSE / "release" / "a1_dependence" / "a1_dependence.ipynb"
    place.write_bytes(release.read_bytes())
    command = [sys.executable, "-m", "grader.grade", str(tmp_path / "in"), "--out"]
    done = subprocess.run(
        [*command, str(tmp_path / "out")], cwd=COURSE, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("guards: audit hook, resource limits, ")
    (row,) = rows(tmp_path / "out" / "grades.csv")
    assert (row["student"], row["score"], row["max"]) == ("Ada", "0", "24")
    assert "test_joint (0/2): no answer yet" in row["what_went_wrong"]
    assert "24 points" in (tmp_path / "out" / "feedback" / "Ada.html").read_text(encoding="utf-8")
