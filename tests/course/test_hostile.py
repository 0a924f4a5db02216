"""A class of more than a hundred hostile and ten honest submissions, which are unaffected."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import nbformat
import pytest
from grader import box, sandbox
from grader.collect import collect
from grader.grade import grade
from grader.options import Options
from grader.report import Report

from . import attacks, hostile, mini

NAME = "mini"
LIMITS = sandbox.Limits(
    cell_seconds=2, total_seconds=20, memory_mb=2048, file_mb=8, disk_mb=30, output_kb=200
)
# In bubblewrap a submission does not see the files of others; elsewhere reading them is refused.
HIDDEN = "No such file or directory" if box.installed() else ""
HONEST = {f"honest {n}": {} for n in range(8)} | {
    "honest but wrong": {"one": "def one():\n    return 3"},
    "honest but unfinished": {"two": "def two():\n    raise NotImplementedError()"},
}


def snapshot(folder):
    """Return the mode, owner, size, times and content of every file below a folder."""
    seen = {}
    for path in sorted(Path(folder).rglob("*")):
        found = path.lstat()
        content = path.read_bytes() if path.is_file() and found.st_size < 10**6 else b""
        times = found.st_mtime_ns, found.st_ctime_ns
        seen[str(path)] = found.st_mode, found.st_uid, found.st_size, times, content
    return seen


def processes(scratch):
    """Return the ids of all processes whose working folder is below a folder."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd").startswith(str(scratch)):
                found.add(name)
    return found


def run(root, submissions, out, scratch):
    handins = collect(submissions, root / "source")
    report = Report(root / out, Options(), {})
    hidden = [submissions, root / out]
    for result in grade(
        handins,
        limits=LIMITS,
        workers=2,
        hidden=hidden,
        source=root / "source",
        scratch=scratch,
    ):
        report.add(result, "")
    return {(r.student): r for r in report.results.values()}


@pytest.fixture(scope="module")
def scratch():
    """Yield a folder for temporary files that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="class-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def world(tmp_path_factory, scratch):
    """Grade the ten honest submissions, then all; return the results and what else has changed."""
    root = tmp_path_factory.mktemp("class")
    (root / "source" / NAME).mkdir(parents=True)
    nbformat.write(mini.source(), root / "source" / NAME / f"{NAME}.ipynb")
    (root / "precious").mkdir()
    for student, cells in HONEST.items():
        for folder in ("ten", "fifty"):
            (root / folder / student).mkdir(parents=True)
            nbformat.write(mini.answer(**cells), root / folder / student / f"{NAME}.ipynb")
    with attacks.targets(root / "precious") as found:
        places = found | {
            "folder": root / "precious",
            "other": root / "fifty" / "honest 0" / f"{NAME}.ipynb",
        }
        bad = hostile.write(root / "fifty", NAME, places)
        alone = run(root, root / "ten", "grades alone", scratch)
        before = snapshot(root)
        everybody = run(root, root / "fifty", "grades", scratch)
        after = snapshot(root)
        ours = str(root / "grades") + "/"
        after = {path: seen for path, seen in after.items() if not path.startswith(ours)}
        after.pop(str(root / "grades"))
        left = processes(scratch), list(scratch.iterdir())
    return {
        "alone": alone,
        "everybody": everybody,
        "before": before,
        "after": after,
        "left": left,
        "bad": bad,
        "root": root,
    }


def test_class_has_at_least_a_hundred_hostile_and_ten_honest_submissions(world):
    assert len(world["bad"]) >= 100
    assert len(hostile.MORE) >= 60
    assert len(world["alone"]) == 10
    assert len(world["everybody"]) == 10 + len(world["bad"])


def test_honest_grades_are_the_same_without_hostile_submissions(world):
    for student, result in world["alone"].items():
        assert world["everybody"][student] == result
    assert world["alone"]["honest 3"].score == 5
    assert world["alone"]["honest but wrong"].score == 3


def test_nothing_outside_the_scratch_folder_changed(world):
    assert world["after"] == world["before"]


def test_no_process_or_file_is_left_behind(world):
    assert world["left"] == (set(), [])


@pytest.mark.parametrize("student", [*hostile.CHEATS, *hostile.MORE])
def test_hostile_wrong_answers_get_no_marks(world, student):
    result = world["everybody"][student]
    assert {mark.name: mark.points for mark in result.marks}["test_one"] == 0
    assert result.score in (0, 3)


@pytest.mark.parametrize(
    "student", ["drops assertions", "rewrites cells", "stubs the runner", "patches compile"]
)
def test_tampering_is_reported_as_tampering(world, student):
    result = world["everybody"][student]
    assert result.status == "tampered"
    assert "changes how cells are compiled or run" in " ".join(result.notes)


@pytest.mark.parametrize("student", ["forges frames", "writes garbage"])
def test_a_forged_answer_is_tampering(world, student):
    assert world["everybody"][student].status == "tampered"


@pytest.mark.parametrize(
    "student", ["hides errors", "equals everything", "looks at its caller", *hostile.HARM]
)
def test_harm_without_tampering_is_not_reported_as_tampering(world, student):
    assert world["everybody"][student].status in ("graded", "cut off")


def test_feedback_does_not_reveal_hidden_tests(world):
    pages = list((world["root"] / "grades" / "feedback").glob("*/*.html"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "assert one()" not in text
        assert "== 1, " not in text


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("never ends", "Look for a loop that does not end"),
        ("prints without end", "printed more than 200 KB"),
        ("takes memory", "MemoryError"),
        ("deletes", HIDDEN or "refused: os.remove on"),
        ("deletes a tree", HIDDEN or "refused: shutil.rmtree on"),
        ("writes", HIDDEN or "refused: writing to"),
        ("reads a neighbor", HIDDEN or "which belongs to the grader or to somebody else"),
        ("fills the disk", "No space left on device"),
        ("starts a shell", "refused: starting another process (subprocess.Popen)"),
        ("forks", "refused: starting another process (os.fork)"),
        ("uses the network", "refused: using the network"),
        ("kills the grader", "refused: sending a signal to another process"),
    ],
)
def test_faulty_cell_loses_only_its_own_marks_with_an_explanation(world, student, message):
    result = world["everybody"][student]
    assert (result.status, result.score) == ("graded", 3)
    assert message in " ".join([mark.message for mark in result.marks] + result.notes)


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("does not listen", "was still running 2 seconds after it was told to stop"),
        ("leaves", "Python exited in this cell"),
        ("crashes", "Python exited in this cell"),
    ],
)
def test_hung_or_crashed_process_ends_the_run_and_the_cell_is_reported(world, student, message):
    result = world["everybody"][student]
    assert (result.status, result.score) == ("cut off", 0)
    assert result.notes[0].startswith("cut off in the cell one: ")
    assert message in result.notes[0]
    assert "not run: the notebook was cut off in one" in result.marks[1].message


@pytest.mark.parametrize(
    ("student", "status", "note"),
    [
        ("linked", "refused", "the file is a link"),
        ("linked folder", "refused", "the folder is a link"),
        ("pipe", "refused", "not a regular file"),
        ("device", "refused", "the file is a link"),
        ("huge", "refused", "larger than 20 MB"),
        ("torn", "unreadable", "not a notebook"),
    ],
)
def test_only_regular_files_are_read(world, student, status, note):
    result = world["everybody"][student]
    assert (result.status, result.score, result.max_points) == (status, 0, 5)
    assert note in result.notes[0]
