"""Submissions that differ from the released notebook, and the files of results."""

import csv
import errno
import io
import json
import os
from dataclasses import replace

import nbformat
import pytest
from grader import build, late, sandbox
from grader.collect import collect, file_name
from grader.grade import grade
from grader.notebooks import Unusable, known_tasks, parse, parts, read_bytes, task_numbers
from grader.options import Options
from grader.page import chapters
from grader.report import NoSpace, Report, clean, named
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


def moved_setup():
    nb = mini.answer(one="def one():\n    return secret()")
    nb.cells.append(nb.cells.pop(nb.cells.index(cell(nb, "given"))))
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
        own_oracle,
        false_oracle,
        moved_setup,
        stripped,
    )
}
# This function makes a notebook and is not a test.
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
def test_tampered_test_is_restored(results, student):
    result = results[student, NAME]
    assert points(result) == {"test_one": 0, "test_two": 3}
    assert result.marks[0].message == "the secret is 1"
    assert result.max_points == 5


def test_a_deleted_answer_counts_as_blank_and_the_rest_is_graded(results):
    result = results["deleted_answer", NAME]
    assert points(result) == {"test_one": 0, "test_two": 3}
    assert result.notes[0] == "these cells were missing and have been put back: one"


def test_first_of_duplicate_cells_is_graded(results):
    result = results["copied_cell", NAME]
    assert result.score == 5
    assert "occur twice" in result.notes[0]


def test_cells_added_by_the_student_are_kept(results):
    assert results["own_helper", NAME].score == 5


@pytest.mark.parametrize(
    ("student", "assignment", "status", "note"),
    [
        ("renamed", "my homework", "unknown assignment", "no assignment called 'my homework'"),
        ("stripped", NAME, "not the released notebook", "metadata is missing"),
    ],
)
def test_submission_that_cannot_run_gets_a_row_with_the_reason(
    results, student, assignment, status, note
):
    result = results[student, assignment]
    assert (result.status, result.score) == (status, 0)
    assert note in result.notes[0]


@pytest.mark.parametrize("student", ["nothing", "renamed"])
def test_missing_work_is_reported_as_not_submitted(results, student):
    result = results[student, NAME]
    assert (result.status, result.marks, result.max_points) == ("not handed in", [], 5)


def test_moved_cells_are_restored_to_their_order(results):
    result = results["moved_setup", NAME]
    assert result.score == 5
    assert "moved" in result.notes[0]


def test_oracle_redefined_by_the_student_is_ignored(results):
    assert results["own_oracle", NAME].score == 5
    assert results["false_oracle", NAME].score == 3


def test_task_numbers_are_parsed_in_common_notations():
    assert task_numbers("1-3, 5") == {1, 2, 3, 5}
    assert task_numbers("") is None
    assert task_numbers("all") is None
    for text in ("one", "9-1", "1-99999999999"):
        with pytest.raises(ValueError, match="TASKS=1-5,8"):
            task_numbers(text)
    with pytest.raises(ValueError, match="mini has no task 3, 4; it has tasks 1 to 2"):
        known_tasks({1, 3, 4}, parts(mini.source()), "mini")


# ------------------------------------------------------------------------ finding submissions


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
def test_variants_of_a_name_are_recognized(tmp_path, name):
    touch(tmp_path / "in" / "Ada" / name)
    handin = found(tmp_path, ["a1_x", "a2_y"])["Ada", "a1_x"]
    assert handin.path.name == name
    assert handin.note == ("" if name == "a1_x.ipynb" else f"handed in as {name!r}")


def test_different_assignment_is_not_a_variant(tmp_path):
    touch(tmp_path / "in" / "Ada" / "a1_xylophone.ipynb")
    assert ("Ada", "a1_x") not in found(tmp_path, ["a1_x"])


def test_variant_with_the_exact_name_is_graded_and_the_other_is_reported(tmp_path):
    touch(tmp_path / "in" / "Ada" / "a1_x (1).ipynb")
    touch(tmp_path / "in" / "Ada" / "a1_x.ipynb")
    handin = found(tmp_path, ["a1_x"])["Ada", "a1_x"]
    assert handin.path.name == "a1_x.ipynb"
    assert "and not 'a1_x (1).ipynb'" in handin.note


def test_archives_from_moodle_and_canvas_are_read(tmp_path):
    touch(tmp_path / "in" / "Ada L_123_assignsubmission_file" / "onlinetext" / "a1_x.ipynb")
    touch(tmp_path / "in" / "hoppergrace_LATE_77_4242_a1_x-1.ipynb")
    there = found(tmp_path, ["a1_x"])
    assert there["Ada L_123_assignsubmission_file", "a1_x"].path.exists()
    assert there["hoppergrace_77", "a1_x"].path.name.endswith("a1_x-1.ipynb")


def test_folders_with_unusual_names_are_graded(tmp_path):
    touch(tmp_path / "in" / ".ada" / "a1_x.ipynb")
    touch(tmp_path / "in" / ("g" * 250) / "a1_x.ipynb")
    odd = os.fsencode(tmp_path / "in") + b"/Jos\xe9"
    os.mkdir(odd)
    with open(odd + b"/a1_x.ipynb", "w") as file:
        file.write("{}")
    (tmp_path / "in" / ".git").mkdir()
    students = {student for student, _ in found(tmp_path, ["a1_x"])}
    assert students == {".ada", "g" * 250, "Jos\\xe9"}


def test_links_that_lead_nowhere_do_not_hide_a_notebook(tmp_path):
    touch(tmp_path / "in" / "Ada" / "a1_x.ipynb")
    (tmp_path / "in" / "Ada" / "loop").symlink_to("loop")
    (tmp_path / "in" / "Ada" / "data").symlink_to(tmp_path / "in" / "Ada" / "a1_x.ipynb" / "x")
    handin = found(tmp_path, ["a1_x"])["Ada", "a1_x"]
    assert (handin.problem, handin.absent) == ("", False)


def test_names_that_need_invisible_joiners_keep_them(tmp_path):
    touch(tmp_path / "in" / "نیما\u200cک" / "a1_x.ipynb")
    assert ("نیما\u200cک", "a1_x") in found(tmp_path, ["a1_x"])


def test_different_folders_remain_different_students(tmp_path):
    names = [
        "new\nline",
        "new?line",
        "new\\x0aline",
        "ada",
        "'ada",
        "=ada",
        "'=ada",
        "Ada",
        "ada ",
        "Bob?",
        file_name("Bob?"),
        "\x9b2Jada",
        "\u202eada",
        # these look like ada
        "\u200fada",
        "ada\u200b",
        "\ufeffada",
        "\u061cada",
        "a\xadda",
    ]
    for name in names:
        touch(tmp_path / "in" / name / "a1_x.ipynb")
    students = {student for student, _ in found(tmp_path, ["a1_x"])}
    assert len(students) == len(names)
    assert len({file_name(student) for student in students}) == len(names)
    assert len({clean(student) for student in students}) == len(names)
    assert {named(clean(student)) for student in students} == students
    # No name controls a terminal or reverses the direction of the text.
    assert all(student.isprintable() for student in students)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{" * 10, "not a notebook"),
        (b"[" + b"{}," * 60_000 + b"{}]", "objects in it"),
        (
            b'{"cells": [{"cell_type": "code", "source": "%s"}]}' % (b"x" * 2_000_000),
            "a cell of more",
        ),
        (b"[]", "not a notebook"),
        (b"\xff\xfe", "not a notebook"),
        (
            b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": '
            b'[{"cell_type": "markdown", "metadata": {}, "source": "%s"}]}]}' % (b"x" * 2_000_000),
            "a cell of more",
        ),
        (b'{"nbformat": 5, "cells": []}', "not a notebook"),
        (b'{"nbformat": 4, "cells": null}', "not a notebook"),
        (b'{"nbformat": 4, "metadata": {"n": %s}}' % (b"9" * 10_000), "not a notebook"),
    ],
    ids=[
        "torn",
        "bomb",
        "long cell",
        "list",
        "bytes",
        "long cell of an old format",
        "format of the future",
        "no cells",
        "long number",
    ],
)
def test_invalid_notebooks_are_rejected_before_they_are_loaded(data, why):
    with pytest.raises(Unusable, match=why):
        parse(data)


@pytest.mark.parametrize("tags", [["a", "a"], [2**61 - 1, "a"], {"a": []}])
def test_only_the_name_of_a_cell_is_read_from_its_metadata(tags):
    """Checking that some lists of tags are unique would take hours."""
    nb = json.loads(nbformat.writes(mini.answer()))
    nb["cells"][1]["metadata"] |= {"tags": tags, "collapsed": "no"}
    assert parse(json.dumps(nb).encode()).cells[1].metadata == {"nbgrader": {"grade_id": "given"}}
    sheet = {"cells": [{"cell_type": "markdown", "metadata": {"tags": tags}, "source": "x"}]}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [sheet]}
    assert parse(json.dumps(old).encode()).cells[0].metadata == {}


def test_reading_a_folder_or_a_missing_file_raises(tmp_path):
    for name in (".", "absent"):
        with pytest.raises(Unusable):
            read_bytes(tmp_path / name)


# ---------------------------------------------------------------------------- writing results


def some_result(student="=cmd()"):
    marks = [
        Mark("test_a", 0, 2, "=1+1 <b>is</b> wrong"),
        Mark("essay", None, 4, "", "I think so."),
    ]
    return Result(student, "a4", "graded", marks, ["a\x07 note"], 6)


def write(folder, *results, **options):
    report = Report(folder, Options(**options), {})
    for result in results or [some_result()]:
        report.add(result, "print")
    report.write()
    return report


def the_page(folder):
    (page,) = (folder / "feedback").glob("*/*.html")
    return page.read_text(encoding="utf-8")


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_report_lists_what_the_instructor_has_to_do(tmp_path):
    write(tmp_path)
    (row,) = rows(tmp_path / "grades.csv")
    assert (row["score"], row["max"], row["awaiting_instructor"]) == ("0", "6", "4")
    assert row["status"] == "graded, awaiting the instructor"
    assert row["what_went_wrong"] == "test_a (0/2): =1+1 <b>is</b> wrong | a note"


def test_report_escapes_formulas_and_markup(tmp_path):
    write(tmp_path)
    assert rows(tmp_path / "grades.csv")[0]["student"] == "'=cmd()"
    text = the_page(tmp_path)
    assert "&lt;b&gt;is&lt;/b&gt; wrong" in text
    assert "I think so." in text


@pytest.mark.parametrize(
    "student", ["Jos\\xe9", "x" * 252, "../../etc/passwd", "a/b", "\ud800", ".", "\U00020000" * 62]
)
def test_students_with_unusual_names_get_a_row_and_a_page(tmp_path, student):
    report = write(tmp_path, some_result("Ada"), replace(some_result(student), assignment=student))
    assert report.problems == []
    assert len(rows(tmp_path / "grades.csv")) == 2
    pages = list((tmp_path / "feedback").glob("*/*.html"))
    assert len(pages) == 2
    assert all(page.parent.parent == tmp_path / "feedback" for page in pages)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_csv_cells_never_become_formulas_for_any_separator(tmp_path, mark):
    bad = "x; =cmd()|-1\t@x\n+2;＝cmd()\u2028＠x"
    write(tmp_path, replace(some_result(bad), assignment="=a4", notes=[bad]))
    text = (tmp_path / "grades.csv").read_text(encoding="utf-8")
    # The cells as read by a program that knows quotes, and by one that does not.
    cells = [c for line in csv.reader(io.StringIO(text, newline=""), delimiter=mark) for c in line]
    cells += [c for line in text.splitlines() for c in line.replace('"', "").split(mark)]
    assert [cell for cell in cells if cell.strip()[:1] in set("=+-@＝＋－＠")] == []


def test_names_in_any_script_are_preserved(tmp_path):
    names = ["李雷", "韩梅梅", "Søren", "محمد", "Зоя", "नेहा"]
    write(tmp_path, *map(some_result, names))
    assert sorted(row["student"] for row in rows(tmp_path / "grades.csv")) == sorted(names)
    assert len({p.parent.name for p in (tmp_path / "feedback").glob("*/*.html")}) == len(names)


def test_feedback_page_has_all_its_parts(tmp_path):
    about = {"task": 2, "title": "the normalized table", "chapters": ["Theorem 1"]}
    lost = Mark("test_b", 0, 3, "wrong", **about)
    open_ = Mark(
        "essay", None, 4, "", "So.", task=3, title="explain", rubric="|p|for|\n|1|says why|"
    )
    report = Report(tmp_path, Options(), {}, book="https://book.example/")
    report.add(Result("Ada", "a4", "graded", [lost, open_], [], 7), "print")
    text = the_page(tmp_path)
    for piece in (
        "Task 2: the normalized table",
        "0 of 3",
        "<caption>",
        '<th scope="row">',
        "1: says why",
        "prefers-color-scheme: dark",
        "@media print",
        'lang="en"',
    ):
        assert piece in text
    page = chapters()["Theorem 1: a singular value"]["page"]
    assert f'<a href="https://book.example/{page}">Theorem 1</a>' in text


def test_excluded_tasks_are_excluded_only_from_their_assignment(tmp_path):
    marks = [Mark("test_a", 2, 2, task=1), Mark("test_b", 0, 3, "wrong", task=2)]
    both = [Result("Ada", name, "graded", marks, [], 5, [[1, 2], [2, 3]]) for name in ("a1", "a2")]
    blank = Result("Bob", "a2", "unreadable", [], ["torn"], 5, [[1, 2], [2, 3]])
    write(tmp_path, *both, blank, tasks={"a2": frozenset({1})})
    shown = [(r["student"], r["score"], r["max"]) for r in rows(tmp_path / "grades.csv")]
    assert shown == [("Ada", "2", "5"), ("Ada", "2", "2"), ("Bob", "0", "2")]


def test_missing_work_counts_as_zero_only_after_the_deadline(tmp_path):
    due = {"a1": late.moment("2026-03-01"), ("Zoe", "a1"): late.moment("2026-04-01")}
    options = Options(policy=late.Policy(due))
    report = Report(tmp_path, options, {}, now=late.moment("2026-03-15"))
    for student in ("Ada", "Zoe"):
        report.add(Result(student, "a1", "not handed in", max_points=5), "print")
    report.add(Result("Ada", "a2", "not handed in", max_points=5), "print")
    report.write()
    ada, later, zoe = rows(tmp_path / "grades.csv")
    assert (ada["final"], ada["status"]) == ("0", "not handed in by the due date")
    assert (later["final"], later["score"], later["status"]) == ("", "", "not handed in")
    assert zoe["final"] == ""  # she has an extension
    assert [p.parent.name for p in (tmp_path / "feedback").glob("*/*.html")] == ["Ada"]


def marked(folder, change, encoding="utf-8"):
    """Let an instructor fill in the sheet, write again, and return a row and the problems."""
    write(folder)
    sheet = (folder / "manual.csv").read_text(encoding="utf-8")
    assert "essay,4,," in sheet
    (folder / "manual.csv").write_bytes(change(sheet).encode(encoding))
    report = write(folder)
    (row,) = rows(folder / "grades.csv")
    return row, report.problems


def test_marks_entered_by_the_instructor_are_counted_and_kept(tmp_path):
    row, _ = marked(tmp_path, lambda sheet: sheet.replace("essay,4,,", "essay,4,3,well argued"))
    assert (row["score"], row["awaiting_instructor"], row["status"]) == ("3", "0", "graded")
    write(tmp_path)
    assert rows(tmp_path / "grades.csv")[0]["score"] == "3"
    assert "well argued" in the_page(tmp_path)


@pytest.mark.parametrize(
    ("encoding", "mark", "points"),
    [("utf-8-sig", ",", "3"), ("utf-8", ";", "2,5"), ("cp1252", ";", "3"), ("utf-8", "\t", "2.5")],
)
def test_sheet_saved_by_a_spreadsheet_program_is_read(tmp_path, encoding, mark, points):
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
        (lambda s: s.replace("essay,4,,", "essay,4,5,"), "'5' is not a number from 0 to 4"),
        (lambda s: s.replace("essay,4,,", "essay,4,good,"), "'good' is not a number from 0 to 4"),
        (lambda s: s.replace("essay,4,,", "essay,4,nan,"), "'nan' is not a number from 0 to 4"),
        (lambda s: s + "short,row\r\n", "line 3: too short, not counted"),
        (lambda s: s.replace("points", "mark"), "no column points; no marks were read"),
    ],
)
def test_invalid_row_is_reported_and_kept_without_affecting_others(tmp_path, change, complaint):
    row, problems = marked(tmp_path, change)
    assert complaint in " ".join(problems)
    assert complaint in (tmp_path / "problems.txt").read_text("utf-8")
    assert row["awaiting_instructor"] == "4"
    text = (tmp_path / "manual.csv").read_text(encoding="utf-8")
    assert "short,row" in text or "short" not in complaint


def test_a_comment_of_any_length_can_be_read(tmp_path):
    row, problems = marked(
        tmp_path, lambda s: s.replace("essay,4,,", f"essay,4,3,{'x' * 300_000}")
    )
    assert (row["score"], problems) == ("3", [])


def test_files_are_written_atomically(tmp_path, monkeypatch):
    write(tmp_path, some_result("Ada"))
    before = (tmp_path / "grades.csv").read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(NoSpace, match="no space"):
        write(tmp_path, some_result("Grace"))
    assert (tmp_path / "grades.csv").read_bytes() == before
    assert list(tmp_path.rglob("*.part")) == []


def test_unwritable_page_does_not_affect_other_students(tmp_path):
    (tmp_path / "feedback").mkdir()
    (tmp_path / "feedback" / "Ada").write_text("a file where a folder should be")
    report = write(tmp_path, some_result("Ada"), some_result("Grace"))
    assert "no feedback page for Ada" in report.problems[0]
    assert len(rows(tmp_path / "grades.csv")) == 2
    assert (tmp_path / "feedback" / "Grace" / "a4.html").exists()


def test_long_texts_are_truncated_before_they_are_stored(tmp_path):
    marks = [Mark("test_a", 0, 2, "m" * 10**6), Mark("essay", None, 4, "", "a" * 10**6)]
    write(tmp_path, Result("Ada", "a4", "graded", marks, ["n" * 10**6] * 500, 6))
    sizes = {p.name: p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()}
    assert max(sizes.values()) < 100_000


def test_tables_of_a_large_class_are_written_less_often(tmp_path, monkeypatch):
    """Writing takes longer the larger the class is, and must not keep the grader from grading."""
    now, written = [0.0], []

    def slow(*_):
        now[0] += 10
        written.append(now[0])
        return [], [], []

    monkeypatch.setattr("grader.report.time.monotonic", lambda: now[0])
    monkeypatch.setattr(Report, "rows", slow)
    report = Report(tmp_path, Options(), {})
    report.write()
    for seconds in (100, 209, 211):
        now[0] = seconds
        report.add(some_result("Ada"), "print")
    # After 10 seconds of writing, the next update is 200 seconds later, so its share is 1/20.
    assert written == [10, 221]


def test_grader_failure_is_never_stored_as_a_result(tmp_path):
    report = Report(tmp_path, Options(), {})
    report.add(some_result("Ada"), None)
    assert not Report(tmp_path, Options(), {}).keep(("Ada", "a4"), "print")


def test_valid_grades_are_reused(tmp_path):
    write(tmp_path, some_result("Ada"))
    report = Report(tmp_path, Options(), {})
    assert report.keep(("Ada", "a4"), "print")
    assert report.results["Ada", "a4"] == some_result("Ada")
    assert not report.keep(("Ada", "a4"), "another print")
    assert not report.keep(("Grace", "a4"), "print")


def test_outdated_release_is_explained_cell_by_cell():
    old = nbformat.writes(mini.answer())
    new = nbformat.writes(mini.answer(two="def two():\n    return 'two'"))
    words = build.explain(NAME, old, new)
    assert "did not follow from its source" in words
    assert "-    return 2\n+    return 'two'" in words
