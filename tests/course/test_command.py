"""The grader as instructors run it: `make grade`, and the program behind it."""

import csv
import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from grader import COURSE, grade
from grader.box import installed

from . import mini
from .terminal import invoke

NAME = "mini"


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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
    status, said, problem = invoke(grade.main, [*command[3:], *more])
    assert (status, problem) == (0, "")
    return said


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_repeated_runs_give_the_same_files_and_print_the_guards_first(tmp_path):
    command = class_of(tmp_path, Ada={}, Grace={"one": "def one():\n    return 5"})
    said = run(command, tmp_path / "one", "--workers", 2)
    run(command, tmp_path / "two", "--workers", 1)
    assert said.startswith("guards in force: ")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert [row["score"] for row in rows(tmp_path / "one" / "grades.csv")] == ["5", "3"]
    assert "5 points" in (tmp_path / "one" / "feedback" / "Ada" / "mini.html").read_text("utf-8")


def test_interrupted_run_keeps_finished_grades_and_can_be_resumed(tmp_path):
    slow = {"one": "import time\ntime.sleep(500)"}
    command = class_of(tmp_path, Ada={}, Bob=slow)
    out = tmp_path / "out"
    long = ["--cell-seconds", "600", "--total-seconds", "600"]
    first = subprocess.Popen(
        [*command, str(out), "--workers", "1", *long],
        cwd=COURSE,
        stdout=subprocess.PIPE,
        text=True,
        # A shell lets its background jobs ignore Ctrl-C, children inherit this, and these tests
        # may be such a job.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 300
    while "Ada" not in (out / "grades.csv").read_text() if (out / "grades.csv").exists() else True:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    first.send_signal(signal.SIGINT)
    # Wait until the last of its processes has closed the output that they share.
    said, _ = first.communicate(timeout=120)
    assert first.returncode == 130
    assert "run the command again to go on" in said
    assert [row["student"] for row in rows(out / "grades.csv")] == ["Ada"]
    # The run stopped before Bob, so the next run grades only him.
    nbformat.write(mini.answer(), tmp_path / "in" / "Bob" / f"{NAME}.ipynb")
    said = run(command, out)
    assert "1 graded before and unchanged, 1 to grade" in said
    assert [row["score"] for row in rows(out / "grades.csv")] == ["5", "5"]


def test_single_student_can_be_regraded_without_affecting_others(tmp_path):
    command = class_of(tmp_path, Ada={}, Grace={"one": "def one():\n    return 5"})
    run(command, tmp_path / "out")
    for student in ("Ada", "Grace"):
        nbformat.write(mini.answer(two=""), tmp_path / "in" / student / f"{NAME}.ipynb")
    run(command, tmp_path / "out", "--student", "Grace")
    scores = {row["student"]: row["score"] for row in rows(tmp_path / "out" / "grades.csv")}
    assert scores == {"Ada": "5", "Grace": "2"}


def test_late_days_are_counted_and_deducted(tmp_path):
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
    # Two days and an hour count as three days, one of which is free.
    assert (grace["late_days"], grace["penalty_percent"], grace["final"]) == ("3", "20", "4")


def stopped(command, *more):
    status, said, problem = invoke(grade.main, [*command[3:], *more])
    assert status == 1
    return said + problem


def test_options_that_change_marks_are_remembered_and_changes_must_be_explicit(tmp_path):
    command = class_of(tmp_path, Ada={"one": "def one():\n    return 5"})
    out = tmp_path / "out"
    (tmp_path / "due.csv").write_text(f"assignment,due\n{NAME},2026-03-01T12:00Z\n")
    (tmp_path / "sent.csv").write_text(
        f"student,assignment,submitted\nAda,{NAME},2026-03-01T13:00Z\n"
    )
    run(command, out, "--due", tmp_path / "due.csv", "--submitted", tmp_path / "sent.csv")
    assert rows(out / "grades.csv")[0]["final"] == "2.7"
    # Options that are not given again are remembered.
    assert "1 graded before and unchanged" in run(command, out)
    assert rows(out / "grades.csv")[0]["final"] == "2.7"
    before = (out / "grades.csv").read_bytes()
    said = stopped(command, out, "--tasks", "1", "--assignment", NAME)
    assert "Ada, mini: 3 of 5, final 2.7 → 0 of 2, final 0" in said
    assert "CHANGE=1" in said
    assert (out / "grades.csv").read_bytes() == before
    run(command, out, "--tasks", "1", "--assignment", NAME, "--change", 1, "--due", "none")
    row = rows(out / "grades.csv")[0]
    assert (row["score"], row["max"], row["late_days"]) == ("0", "2", "0")
    run(command, out, "--tasks", "all", "--assignment", NAME, "--change", 1)
    assert rows(out / "grades.csv")[0]["max"] == "5"


def test_missing_folder_is_reported(tmp_path):
    assert "make grade SUBMISSIONS=dir" in stopped([0, 0, 0, tmp_path / "absent"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--tasks", "1"], "requires ASSIGNMENT="),
        (["--tasks", "1-99", "--assignment", NAME], "mini has no task 3, 4"),
        (["--assignment", "a9"], "no assignment 'a9': choose one of mini"),
        (["--student", "Zoe"], "No student 'Zoe'"),
        (["--due", "absent.csv"], "absent.csv"),
    ],
)
def test_invalid_options_raise(tmp_path, options, why):
    command = class_of(tmp_path, Ada={})
    assert why in stopped(command, tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def make(folder, *words, **more):
    """Run `make grade` with this Python."""
    settings = {"COURSE_PYTHON": sys.executable, "COURSE_READY": "", **more}
    words = [*words, *(f"{name}={value}" for name, value in settings.items())]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "COURSE_"))}
    return subprocess.run(
        ["make", "-s", "grade", *words],
        cwd=COURSE.parent,
        capture_output=True,
        text=True,
        env=environment | {"COURSE_SOURCE": str(folder / "source")},
    )


BOMBS = {
    # an error message of 40 MB
    "talker": "class Loud(Exception):\n    def __str__(self):\n        return 'x' * (40 << 20)\n"
    "def one():\n    raise Loud()",
    "giver": "def one():\n    return 'x' * (100 << 20)",
    "nester": "def one():\n    return [[]] * 10**7",
    "taker": "def one():\n    return list(bytearray(10**11))",
}


def test_no_submission_stops_the_grading_of_the_class(tmp_path):
    """The class has Ada, whose answers are right, and all that once stopped a whole class."""
    class_of(tmp_path, Ada={}, **{name: {"one": text} for name, text in BOMBS.items()})
    inside = tmp_path / "in"
    (inside / "folder" / f"{NAME}.ipynb").mkdir(parents=True)
    (inside / "linked").symlink_to(inside / "Ada", target_is_directory=True)
    (inside / "closed").mkdir(mode=0)
    for name in (
        "future",
        "past",
        "new\nline",
        "=cmd",
        "'=cmd",
        "x" * 240,
        "李雷",
        "`touch pwned`",
    ):
        (inside / name).mkdir()
        nbformat.write(mini.answer(), inside / name / f"{NAME}.ipynb")
    for name, seconds in (("future", 2**55), ("past", -(2**55))):
        os.utime(inside / name / f"{NAME}.ipynb", (0, seconds))
    essay = mini.answer()
    essay.cells.append(nbformat.v4.new_markdown_cell("x" * 900_000))
    for name, text in (
        ("long", nbformat.writes(essay)),
        ("bomb", '{"cells": [' + "{}," * 10**6 + "{}]}"),
        ("deep", "[" * 10**6),
        ("empty", ""),
    ):
        (inside / name).mkdir()
        (inside / name / f"{NAME}.ipynb").write_text(text)
    done = make(tmp_path, SUBMISSIONS=inside, OUT=tmp_path / "out")
    (inside / "closed").chmod(0o700)
    assert done.returncode == 0, done.stderr
    grades = {row["student"]: row for row in rows(tmp_path / "out" / "grades.csv")}
    right = {"Ada", "future", "past", "new\\x0aline", "x" * 240, "李雷", "`touch pwned`", "long"}
    assert {name for name, row in grades.items() if row["score"] == "5"} >= right
    assert len(grades) == len(list(inside.iterdir()))
    assert all(grades[name]["score"] in ("0", "3") for name in BOMBS)
    assert not any("grader failed" in row["status"] for row in grades.values())
    sizes = [p.stat().st_size for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert max(sizes) < 200_000
    assert not (COURSE.parent / "pwned").exists()
    again = make(tmp_path, SUBMISSIONS=inside, OUT=tmp_path / "out", STUDENT="`touch pwned`")
    assert again.returncode == 0
    assert not (COURSE.parent / "pwned").exists()


def test_terminal_without_unicode_is_supported(tmp_path):
    command = class_of(tmp_path, 李雷={})
    status, said, problem = invoke(grade.main, [*command[3:], tmp_path / "out"], encoding="ascii")
    assert (status, problem) == (0, "")
    assert "\\u674e" in said


@pytest.mark.skipif(not installed(), reason="needs bubblewrap for a small disk")
def test_full_disk_gives_a_message_and_loses_no_results(tmp_path):
    command = class_of(tmp_path, Ada={}, Bob={}, Zoe={"one": "def one():\n    return 'x' * 9999"})
    # a disk with room for the first files only
    walls = [installed(), "--dev-bind", "/", "/", "--size", "28672", "--tmpfs", "/mnt"]
    script = f"cd {COURSE} && {' '.join(command)} /mnt/out; cp -r /mnt/out {tmp_path}/saved"
    done = subprocess.run([*walls, "sh", "-c", script], capture_output=True, text=True)
    assert "Stopped: " in done.stderr
    assert "make room, and run the command again" in done.stderr
    saved = tmp_path / "saved"
    assert list(saved.rglob("*.part")) == []
    # With enough room, the next run continues.
    run(command, saved)
    assert [row["score"] for row in rows(saved / "grades.csv")] == ["5", "5", "3"]


def test_notebook_that_times_out_is_not_retried(tmp_path, monkeypatch):
    command = class_of(tmp_path, Ada={})
    path = tmp_path / "source" / NAME / f"{NAME}.ipynb"
    flag = tmp_path / "tried"
    slow = f"import time; open({str(flag)!r}, 'a').write('x'); time.sleep(60)"
    text = path.read_text("utf-8")
    path.write_text(text.replace("assert one() is not None", slow + r"\nassert one() is not None"))
    monkeypatch.setattr(grade, "SLACK", 0)
    run(command, tmp_path / "out", "--cell-seconds", 1, "--total-seconds", 3)
    assert flag.read_text() == "x"
    (row,) = rows(tmp_path / "out" / "grades.csv")
    assert (row["score"], row["status"]) == ("0", "the grader failed")


def test_grader_failure_is_retried(tmp_path):
    """The test ends the grading process itself twice, and passes the third time."""
    command = class_of(tmp_path, Ada={})
    path = tmp_path / "source" / NAME / f"{NAME}.ipynb"
    flag = tmp_path / "tried"
    text = path.read_text("utf-8")
    bad = f"import os; open({str(flag)!r}, 'a').write('x'); "
    bad += f"os.path.getsize({str(flag)!r}) > 2 or os._exit(1)"
    path.write_text(text.replace("assert one() is not None", bad + r"\nassert one() is not None"))
    run(command, tmp_path / "out")
    assert flag.read_text() == "xxx"
    assert rows(tmp_path / "out" / "grades.csv")[0]["score"] == "5"
