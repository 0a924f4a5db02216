"""What is handed in is not always what was given out."""

import csv
import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from grader import COURSE, build, late, sandbox
from grader.collect import collect
from grader.grade import grade
from grader.notebooks import task_numbers
from grader.report import Report
from grader.submission import Mark, Result
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


def own_oracle():
    return mini.answer(one="def secret():\n    return 8\ndef one():\n    return 1")


def false_oracle():
    return mini.answer(one="def secret():\n    return 7\ndef one():\n    return 7")


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
        own_oracle,
        false_oracle,
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
    for student in ("nothing", "renamed"):
        (root / "in" / student).mkdir()
    nbformat.write(mini.answer(), root / "in" / "renamed" / "my homework.ipynb")
    handins = collect(root / "in", root / "source")
    graded = grade(handins, limits=sandbox.Limits(cell_seconds=30), source=root / "source")
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
        ("renamed", "my homework", "unknown assignment", "no assignment called 'my homework'"),
        ("renamed", NAME, "missing", "nothing was handed in"),
        ("stripped", NAME, "not the released notebook", "metadata are gone"),
    ],
)
def test_what_cannot_be_run_gets_a_row_that_says_why(results, student, assignment, status, note):
    result = results[student, assignment]
    assert (result.status, result.score) == (status, 0)
    assert note in result.notes[0]


def test_an_oracle_that_the_student_redefines_is_not_asked(results):
    assert results["own_oracle", NAME].score == 5
    assert results["false_oracle", NAME].score == 3


def test_tasks_can_be_chosen(tmp_path):
    (tmp_path / "source" / NAME).mkdir(parents=True)
    source = mini.source()
    source.cells.insert(1, new_markdown_cell("## Task 1. The first", id="h1"))
    source.cells.insert(5, new_markdown_cell("## Task 2. The second", id="h2"))
    nbformat.write(source, tmp_path / "source" / NAME / f"{NAME}.ipynb")
    (tmp_path / "in" / "Ada").mkdir(parents=True)
    answer = mini.answer(one="def one():\n    raise NotImplementedError()")
    nbformat.write(answer, tmp_path / "in" / "Ada" / f"{NAME}.ipynb")
    handins = collect(tmp_path / "in", tmp_path / "source")
    (result,) = grade(handins, source=tmp_path / "source", tasks=task_numbers("2"))
    assert [(m.name, m.points) for m in result.marks] == [("test_two", 3)]
    assert result.max_points == 3


def test_numbers_of_tasks_are_read_as_one_writes_them():
    assert task_numbers("1-3, 5") == {1, 2, 3, 5}
    assert task_numbers("") is None
    with pytest.raises(ValueError, match="TASKS=1-5,8"):
        task_numbers("one")


# ------------------------------------------------------------------------------- what is found


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def found(folder, ids):
    for name in ids:
        touch(folder / "source" / name / f"{name}.ipynb")
    handins = collect(folder / "in", folder / "source")
    return {(h.student, h.assignment): h for h in handins}


@pytest.mark.parametrize(
    "name",
    [
        "a1_x.ipynb",
        "a1_x (1).ipynb",
        "A1_X.ipynb",
        "a1 x.ipynb",
        "a1_x-2.IPYNB",
        "Copy of a1_x.ipynb",
    ],
)
def test_variants_of_a_name_are_recognised(tmp_path, name):
    touch(tmp_path / "in" / "Ada" / name)
    handin = found(tmp_path, ["a1_x", "a2_y"])["Ada", "a1_x"]
    assert handin.path.name == name
    assert handin.note == ("" if name == "a1_x.ipynb" else f"handed in as {name!r}")


def test_another_assignment_is_not_a_variant(tmp_path):
    touch(tmp_path / "in" / "Ada" / "a1_xylophone.ipynb")
    assert ("Ada", "a1_x") not in found(tmp_path, ["a1_x"])


def test_of_two_variants_the_exact_name_is_graded_and_the_other_named(tmp_path):
    touch(tmp_path / "in" / "Ada" / "a1_x (1).ipynb")
    touch(tmp_path / "in" / "Ada" / "a1_x.ipynb")
    handin = found(tmp_path, ["a1_x"])["Ada", "a1_x"]
    assert handin.path.name == "a1_x.ipynb"
    assert "and not 'a1_x (1).ipynb'" in handin.note


def test_moodles_and_canvas_ways_of_packing_are_understood(tmp_path):
    touch(tmp_path / "in" / "Ada L_123_assignsubmission_file" / "onlinetext" / "a1_x.ipynb")
    touch(tmp_path / "in" / "hoppergrace_LATE_77_4242_a1_x-1.ipynb")
    there = found(tmp_path, ["a1_x"])
    assert there["Ada L_123_assignsubmission_file", "a1_x"].path.exists()
    assert there["hoppergrace_77", "a1_x"].path.name.endswith("a1_x-1.ipynb")


def test_folders_with_a_dot_or_odd_bytes_or_long_names_are_not_lost(tmp_path):
    touch(tmp_path / "in" / ".ada" / "a1_x.ipynb")
    touch(tmp_path / "in" / ("g" * 250) / "a1_x.ipynb")
    odd = os.fsencode(tmp_path / "in") + b"/Jos\xe9"
    os.mkdir(odd)
    with open(odd + b"/a1_x.ipynb", "w") as file:
        file.write("{}")
    (tmp_path / "in" / ".git").mkdir()
    students = {student for student, _ in found(tmp_path, ["a1_x"])}
    assert students == {".ada", "g" * 250, "Jos\\xe9"}


# ------------------------------------------------------------------------------ what is written


def some_result(student="=cmd()"):
    marks = [
        Mark("test_a", 0, 2, "=1+1 <b>is</b> wrong"),
        Mark("essay", None, 4, "", "I think so."),
    ]
    return Result(student, "a4", "graded", marks, ["a\x07 note"], 6)


def write(folder, *results, **options):
    report = Report(folder, late.Policy(**options), {})
    for result in results or [some_result()]:
        report.add(result, "print")
    return report


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_report_says_what_awaits_the_instructor(tmp_path):
    write(tmp_path)
    (row,) = rows(tmp_path / "grades.csv")
    assert (row["score"], row["max"], row["awaiting_instructor"]) == ("0", "6", "4")
    assert row["status"] == "graded, awaiting the instructor"
    assert row["what_went_wrong"] == "test_a (0/2): =1+1 <b>is</b> wrong | a note"


def test_report_disarms_formulas_and_markup(tmp_path):
    write(tmp_path)
    assert rows(tmp_path / "grades.csv")[0]["student"] == "'=cmd()"
    (page,) = (tmp_path / "feedback").iterdir()
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;is&lt;/b&gt; wrong" in text
    assert "I think so." in text


@pytest.mark.parametrize(
    "student", ["Jos\\xe9", "x" * 252, "../../etc/passwd", "a/b", "\ud800", "."]
)
def test_any_name_gets_its_row_and_its_page(tmp_path, student):
    write(tmp_path, some_result("Ada"), some_result(student))
    assert len(rows(tmp_path / "grades.csv")) == 2
    pages = list((tmp_path / "feedback").iterdir())
    assert len(pages) == 2
    assert all(page.parent == tmp_path / "feedback" for page in pages)


def marked(folder, change, encoding="utf-8"):
    """Let an instructor fill in the sheet, write again, and return grades and complaints."""
    write(folder)
    sheet = (folder / "manual.csv").read_text(encoding="utf-8")
    assert "essay,4,," in sheet
    (folder / "manual.csv").write_bytes(change(sheet).encode(encoding))
    report = write(folder)
    (row,) = rows(folder / "grades.csv")
    return row, report.problems


def test_marks_that_the_instructor_entered_are_counted_and_kept(tmp_path):
    row, _ = marked(tmp_path, lambda sheet: sheet.replace("essay,4,,", "essay,4,3,well argued"))
    assert (row["score"], row["awaiting_instructor"], row["status"]) == ("3", "0", "graded")
    write(tmp_path)
    assert rows(tmp_path / "grades.csv")[0]["score"] == "3"
    (page,) = (tmp_path / "feedback").iterdir()
    assert "well argued" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("encoding", "mark", "points"),
    [("utf-8-sig", ",", "3"), ("utf-8", ";", "2,5"), ("cp1252", ";", "3"), ("utf-8", "\t", "2.5")],
)
def test_a_sheet_from_a_spreadsheet_is_read_as_it_is(tmp_path, encoding, mark, points):
    def change(sheet):
        return (
            sheet.replace("essay,4,,", f"essay,4,@{points}@,é")
            .replace(",", mark)
            .replace(f"@{points.replace(',', mark)}@", points)
        )

    row, problems = marked(tmp_path, change, encoding)
    assert (row["score"], problems) == (points.replace(",", "."), [])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda s: s.replace("essay,4,,", "essay,4,5,"), "'5' is no number from 0 to 4"),
        (lambda s: s.replace("essay,4,,", "essay,4,good,"), "'good' is no number from 0 to 4"),
        (lambda s: s + "short,row\r\n", "line 3: too short, not counted"),
        (lambda s: s.replace("points", "mark"), "no column points; no marks were read"),
    ],
)
def test_a_broken_row_is_named_kept_and_costs_nobody_anything(tmp_path, change, complaint):
    row, problems = marked(tmp_path, change)
    assert complaint in " ".join(problems)
    assert row["awaiting_instructor"] == "4"
    text = (tmp_path / "manual.csv").read_text(encoding="utf-8")
    assert "short,row" in text or "short" not in complaint


def test_files_are_whole_at_any_time(tmp_path, monkeypatch):
    write(tmp_path, some_result("Ada"))
    before = (tmp_path / "grades.csv").read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        write(tmp_path, some_result("Grace"))
    assert (tmp_path / "grades.csv").read_bytes() == before


def test_what_was_graded_is_kept_while_it_holds(tmp_path):
    write(tmp_path, some_result("Ada"))
    report = Report(tmp_path, late.Policy(), {})
    assert report.keep(("Ada", "a4"), "print")
    assert report.results["Ada", "a4"] == some_result("Ada")
    assert not report.keep(("Ada", "a4"), "another print")
    assert not report.keep(("Grace", "a4"), "print")


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


def class_of(folder, **students):
    """Hand in `mini` for each student; return the command that grades the class."""
    (folder / "source" / NAME).mkdir(parents=True)
    nbformat.write(mini.source(), folder / "source" / NAME / f"{NAME}.ipynb")
    for student, cells in students.items():
        (folder / "in" / student).mkdir(parents=True)
        nbformat.write(mini.answer(**cells), folder / "in" / student / f"{NAME}.ipynb")
    command = [sys.executable, "-m", "grader.grade", str(folder / "in")]
    return [*command, "--source", str(folder / "source"), "--out"]


def run(command, *more):
    done = subprocess.run([*command, *map(str, more)], cwd=COURSE, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_two_runs_give_the_same_files_and_the_first_line_names_the_guards(tmp_path):
    command = class_of(tmp_path, Ada={}, Grace={"one": "def one():\n    return 5"})
    said = run(command, tmp_path / "one", "--workers", 2)
    run(command, tmp_path / "two", "--workers", 1)
    assert said.startswith("guards in force: audit hook, limits on time")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert [row["score"] for row in rows(tmp_path / "one" / "grades.csv")] == ["5", "3"]
    assert "5 points" in (tmp_path / "one" / "feedback" / "Ada.html").read_text("utf-8")


def test_ctrl_c_leaves_what_is_graded_and_a_second_run_goes_on(tmp_path):
    slow = {"one": "import time\ntime.sleep(50)"}
    command = class_of(tmp_path, Ada={}, Bob=slow)
    out = tmp_path / "out"
    first = subprocess.Popen(
        [*command, str(out), "--workers", "1"],
        cwd=COURSE,
        stdout=subprocess.PIPE,
        text=True,
        # A shell has its background jobs ignore Ctrl-C, and children inherit that: these tests
        # may be such a job.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while "Ada" not in (out / "grades.csv").read_text() if (out / "grades.csv").exists() else True:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    first.send_signal(signal.SIGINT)
    said, _ = first.communicate(timeout=30)
    assert first.returncode == 130
    assert "run the command again to go on" in said
    assert [row["student"] for row in rows(out / "grades.csv")] == ["Ada"]
    nbformat.write(mini.answer(), tmp_path / "in" / "Bob" / f"{NAME}.ipynb")
    said = run(command, out)
    assert "1 graded before and unchanged, 1 to grade" in said
    assert [row["score"] for row in rows(out / "grades.csv")] == ["5", "5"]


def test_one_student_can_be_graded_anew_and_the_others_stay(tmp_path):
    command = class_of(tmp_path, Ada={}, Grace={"one": "def one():\n    return 5"})
    run(command, tmp_path / "out")
    for student in ("Ada", "Grace"):
        nbformat.write(mini.answer(two=""), tmp_path / "in" / student / f"{NAME}.ipynb")
    run(command, tmp_path / "out", "--student", "Grace")
    scores = {row["student"]: row["score"] for row in rows(tmp_path / "out" / "grades.csv")}
    assert scores == {"Ada": "5", "Grace": "2"}


def test_late_days_are_counted_and_charged(tmp_path):
    command = class_of(tmp_path, Ada={}, Grace={})
    (tmp_path / "due.csv").write_text(f"assignment,due\n{NAME},2026-03-01T12:00Z\n")
    (tmp_path / "submitted.csv").write_text(
        f"student;assignment;submitted\nAda;{NAME};2026-03-01T11:00Z\n"
        f"Grace;{NAME};2026-03-03T13:00+00:00\n",
        encoding="utf-8-sig",
    )
    when = ["--due", tmp_path / "due.csv", "--submitted", tmp_path / "submitted.csv"]
    run(command, tmp_path / "out", *when, "--late-budget", 1, "--late-penalty", 10)
    ada, grace = rows(tmp_path / "out" / "grades.csv")
    assert (ada["late_days"], ada["final"]) == ("0", "5")
    # two days and an hour: three days, one of them free
    assert (grace["late_days"], grace["penalty_percent"], grace["final"]) == ("3", "20", "4")
