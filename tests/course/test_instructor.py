"""An instructor's day: late days, gradebooks of Canvas and Moodle, variants, another wall."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from grader import COURSE, RELEASE, box, late, lms, variants
from grader.sandbox import Limits

GRADES = (
    "student,assignment,score,final\r\n"
    "hopper_grace,a1,20,18.5\r\nJosé_77,a1,10,10\r\n"
    "Ada Lovelace_123_assignsubmission_file,a1,24,24\r\nNobody,a1,1,1\r\n"
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,A1 (4711)\r\n"
    "    Points Possible,,,,,24\r\n"
    '"Hopper, Grace",5,u5,hopper_grace,S1,\r\n'
    '"José",77,u7,jose,S1,3\r\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade\r\n"
    "Participant 123,Ada Lovelace,ada@x.org,Submitted,,24\r\n"
    "Participant 9,José,jose@x.org,Submitted,,24\r\n"
)


@pytest.fixture
def grades(tmp_path):
    (tmp_path / "grades.csv").write_text(GRADES, encoding="utf-8")
    return tmp_path / "grades.csv"


def read(text):
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text[1:], newline="")))


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8-sig", ","), ("cp1252", ";")])
def test_canvas_is_filled_as_downloaded_and_the_lost_are_named(grades, encoding, mark):
    given = list(csv.reader(io.StringIO(CANVAS, newline="")))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=mark).writerows(given)
    data = text.getvalue().encode(encoding)
    filled, lost = lms.canvas(data, grades, {"A1 (4711)": "a1"})
    found = read(filled)
    assert [line[5] for line in found] == ["A1 (4711)", "24", "18.5", "10"]
    assert [line[:5] for line in found] == [line[:5] for line in given]
    assert lost == ["Ada Lovelace_123_assignsubmission_file", "Nobody"]


def test_moodle_is_filled_by_participant_or_name(grades):
    filled, lost = lms.moodle(MOODLE.encode("utf-8-sig"), grades, "a1")
    assert [line[4] for line in read(filled)] == ["Grade", "24", "10"]
    assert lost == ["hopper_grace", "Nobody"]


def test_a_gradebook_without_the_column_is_refused(grades):
    with pytest.raises(ValueError, match="no column 'A9'"):
        lms.canvas(CANVAS.encode(), grades, {"A9": "a1"})
    with pytest.raises(ValueError, match="grading worksheet"):
        lms.moodle(CANVAS.encode(), grades, "a1")


def at(text):
    return late.moment(text)


def test_late_days_are_begun_days_in_utc():
    due = at("2026-03-01T23:59Z")
    assert late.days_late(due, at("2026-03-01T23:59Z")) == 0
    assert late.days_late(due, at("2026-03-02T00:00Z")) == 1
    assert late.days_late(due, at("2026-03-03T00:30+00:00")) == 2
    assert late.days_late(due, at("2026-03-02T00:30+02:00")) == 0
    assert at("2026-03-01T12:00") == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_budget_is_used_in_the_order_of_the_deadlines():
    policy = late.Policy(
        {"a2": at("2026-03-10"), "a1": at("2026-03-01")}, {}, budget=3, penalty=10
    )
    times = {"a1": at("2026-03-02T12:00"), "a2": at("2026-03-13")}
    found = policy.of("Ada", times)
    assert found["a1"] == late.Lateness(2, 2, 0)
    assert found["a2"] == late.Lateness(3, 1, 20)


def test_a_missing_column_or_a_short_row_of_a_policy_is_named(tmp_path):
    (tmp_path / "due.csv").write_text("assignment,deadline\na1,2026-03-01\n")
    with pytest.raises(ValueError, match="no column 'due'"):
        late.Policy.read(tmp_path / "due.csv", None, 0, 10)
    (tmp_path / "due.csv").write_text("assignment,due\na1\n")
    with pytest.raises(ValueError, match="line 2: 1 cells where 2 are due"):
        late.Policy.read(tmp_path / "due.csv", None, 0, 10)


def test_each_student_has_a_variant_of_their_own_and_it_stays(tmp_path):
    numbers = {variants.number("secret", f"student {n}") for n in range(50)}
    assert len(numbers) == 50
    assert variants.number("secret", "Ada") == variants.number("secret", "Ada")
    assert variants.number("", "Ada") == 0
    written = variants.write("secret", ["Ada", "Grace"], tmp_path)
    names = {path.name for path in written}
    assert "a1_dependence.ipynb" in names
    for student in ("Ada", "Grace"):
        text = (tmp_path / student / "a1_dependence.ipynb").read_text("utf-8")
        assert f"VARIANT = {variants.number('secret', student)}" in text
        json.loads(text)


def test_the_time_rule_of_a4_fits_into_the_graders_limits():
    text = (RELEASE / "a4_reproduction" / "a4_reproduction.ipynb").read_text("utf-8")
    limits = Limits()
    assert "5 seconds on one core, and the plan has 5 to 10 seeds" in text
    assert f"a cell after {limits.cell_seconds:g} seconds" in text
    assert f"the notebook after {limits.total_seconds:g}" in text
    # all seeds in one cell; then three runs of the experiment's test, and five of the results'
    assert limits.cell_seconds > 10 * 5
    assert limits.total_seconds > (10 + 3 + 5) * 5


def test_another_wall_needs_its_command_and_says_so(tmp_path):
    words = box.command(tmp_path / "in", tmp_path / "out", ["python"])
    assert words[0] == "bwrap"
    assert words[-4:] == ["--bind", str(tmp_path / "out"), str(tmp_path / "out"), "python"]
    (tmp_path / "in").mkdir()
    command = [sys.executable, "-m", "grader.grade", str(tmp_path / "in"), "--box", "bwrap"]
    nowhere = os.environ | {"PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True, env=nowhere)
    assert done.returncode == 1
    assert "bubblewrap is not installed" in done.stderr


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_the_grader_works_inside_bubblewrap(tmp_path):
    (tmp_path / "in" / "Ada").mkdir(parents=True)
    shutil.copy(RELEASE / "a5_judging" / "a5_judging.ipynb", tmp_path / "in" / "Ada")
    command = [sys.executable, "-m", "grader.grade", str(tmp_path / "in"), "--out"]
    done = subprocess.run(
        [*command, str(tmp_path / "out"), "--box", "bwrap"],
        cwd=COURSE,
        capture_output=True,
        text=True,
    )
    assert "Ada  a5_judging  0/24  graded" in done.stdout, done.stderr
    assert (tmp_path / "out" / "feedback" / "Ada.html").exists()
