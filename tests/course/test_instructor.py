"""Tools for instructors: late days, gradebooks, variants, item statistics and archives."""

import csv
import io
import json
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest
from grader import RELEASE, archives, assignments, items, late, lms, variants
from grader.sandbox import Limits
from grader.submission import Mark, Result

from .terminal import invoke

GRADES = (
    "student,assignment,score,awaiting_instructor,final,status\r\n"
    "hopper_grace,a1,20,0,18.5,graded\r\nJosé_77,a1,10,0,10,graded\r\n"
    "Ada Lovelace_123_assignsubmission_file,a1,24,0,24,graded\r\nNobody,a1,1,0,1,graded\r\n"
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
def test_canvas_gradebook_is_filled_and_unmatched_students_are_reported(grades, encoding, mark):
    given = list(csv.reader(io.StringIO(CANVAS, newline="")))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=mark).writerows(given)
    data = text.getvalue().encode(encoding)
    filled, lost = lms.canvas(data, grades, {"A1 (4711)": "a1"})
    found = read(filled)
    assert [line[5] for line in found] == ["A1 (4711)", "24", "18.5", "10"]
    assert [line[:5] for line in found] == [line[:5] for line in given]
    assert [line.split(":")[0] for line in lost] == [
        "Ada Lovelace_123_assignsubmission_file",
        "Nobody",
    ]


def test_moodle_gradebook_is_filled_by_participant_or_name(grades):
    filled, lost = lms.moodle(MOODLE.encode("utf-8-sig"), grades, "a1")
    assert [line[4] for line in read(filled)] == ["Grade", "24", "10"]
    assert [line.split(":")[0] for line in lost] == ["hopper_grace", "Nobody"]


def upload(folder, lines, gradebook, *more):
    """Run the command that fills a gradebook; return its status and its output."""
    (folder / "grades.csv").write_text(GRADES.split("\r\n")[0] + "\r\n" + lines, encoding="utf-8")
    (folder / "book.csv").write_text(gradebook, encoding="utf-8")
    words = ["canvas", folder / "book.csv", folder / "grades.csv", "A1 (4711)=a1"]
    return invoke(lms.main, [*words, "-o", folder / "up.csv", *more])[:2]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hopper_grace,a1,28,4,28,graded\r\n", "4 points await marking"),
        ("Nobody,a1,5,0,5,graded\r\n", "no row, or more than one"),
        ("hopper_grace,a1,0,0,0,the grader failed\r\n", "the grader failed"),
    ],
)
def test_export_is_refused_while_grading_is_incomplete(tmp_path, line, why):
    status, said = upload(tmp_path, line + "José_77,a1,10,0,10,graded\r\n", CANVAS)
    assert status == 1
    assert why in said
    assert not (tmp_path / "up.csv").exists()
    status, said = upload(tmp_path, line + "José_77,a1,10,0,10,graded\r\n", CANVAS, "--partial")
    assert status == 0
    assert "INCOMPLETE" in said
    assert [row[5] for row in read((tmp_path / "up.csv").read_text("utf-8"))][-1] == "10"


def test_unreadable_manual_marks_block_the_export(tmp_path):
    (tmp_path / "problems.txt").write_text("manual.csv, line 2: 'seven' is not a number\n")
    status, said = upload(tmp_path, "José_77,a1,10,0,10,graded\r\n", CANVAS)
    assert status == 1
    assert "'seven' is not a number" in said


def test_names_in_any_script_match_only_their_own_row(tmp_path):
    people = ["李雷", "韩梅梅", "Зоя", "محمد", "Jose", "José"]
    book = CANVAS.splitlines()[0] + "\r\n"
    book += "".join(f"{name},,,,S1,\r\n" for name in people)
    points = {name: str(n) for n, name in enumerate(people)}
    header, *lines = csv.reader(io.StringIO(book, newline=""))
    assert lms.enter(header, lines, "A1 (4711)", lms.CANVAS, points) == []
    assert {line[0]: line[5] for line in lines} == points
    # Two students who match the same row get no points.
    header, *lines = csv.reader(io.StringIO(book, newline=""))
    both = {"Зоя": "1", "зоя": "2"}
    assert lms.enter(header, lines, "A1 (4711)", lms.CANVAS, both) == list(both)


def test_existing_grade_is_not_overwritten_by_an_empty_one(tmp_path):
    status, said = upload(tmp_path, "José_77,a1,,,,not handed in\r\n", CANVAS)
    assert status == 0, said
    assert [row[5] for row in read((tmp_path / "up.csv").read_text("utf-8"))][-1] == "3"


def test_gradebook_without_the_column_raises(grades):
    with pytest.raises(ValueError, match="no column 'A9'"):
        lms.canvas(CANVAS.encode(), grades, {"A9": "a1"})
    with pytest.raises(ValueError, match="grading worksheet"):
        lms.moodle(CANVAS.encode(), grades, "a1")


def at(text):
    return late.moment(text)


def test_part_of_a_day_counts_as_a_late_day_in_utc():
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


def test_missing_column_or_short_row_of_a_policy_is_reported(tmp_path):
    (tmp_path / "due.csv").write_text("assignment,deadline\na1,2026-03-01\n")
    with pytest.raises(ValueError, match="no column 'due'"):
        late.Policy.read(tmp_path / "due.csv", None, 0, 10)
    (tmp_path / "due.csv").write_text("assignment,due\na1\n")
    with pytest.raises(ValueError, match="line 2 has 1 cells, but the header has 2"):
        late.Policy.read(tmp_path / "due.csv", None, 0, 10)


def test_each_student_keeps_the_assigned_variant(tmp_path):
    numbers = {variants.number("secret", f"student {n}") for n in range(50)}
    assert len(numbers) == 50
    assert variants.number("secret", "Ada") == variants.number("secret", "Ada")
    assert variants.number("", "Ada") == 0
    written = variants.write("secret", ["Ada", "Grace", "Zoe"], tmp_path)
    names = {path.name for path in written}
    assert names == {f"{name}.ipynb" for name in assignments()}
    units = {variants.number("secret", s) % 2: s for s in ("Ada", "Grace", "Zoe")}
    assert set(units) == {0, 1}  # both forms of the question occur, and one occurs twice
    for form, unit in ((0, "the natural logarithm"), (1, "logarithm to the base 2")):
        assert unit in (tmp_path / units[form] / "a1_dependence.ipynb").read_text("utf-8")
    for student in ("Ada", "Grace"):
        text = (tmp_path / student / "a1_dependence.ipynb").read_text("utf-8")
        assert f"VARIANT = {variants.number('secret', student)}" in text
        json.loads(text)


def test_time_limit_of_a4_is_within_the_limits_of_the_grader():
    text = (RELEASE / "a4_reproduction" / "a4_reproduction.ipynb").read_text("utf-8")
    limits = Limits()
    assert "5 seconds on one core, and the plan has 5 to 10 seeds" in text
    assert f"a cell after {limits.cell_seconds:g} seconds" in text
    assert f"the notebook after {limits.total_seconds:g}" in text
    # One cell runs all seeds. The test of the experiment adds three runs, and that of the results
    # five.
    assert limits.cell_seconds > 10 * 5
    assert limits.total_seconds > (10 + 3 + 5) * 5


def simulated(rng, broken, students=100):
    """Return the results of a class in which abler students are more likely to pass a test."""
    ability = rng.normal(size=students)
    tests = [f"test_{n}" for n in range(16)]
    difficulty = dict(zip(tests, rng.uniform(-1.2, 1.2, size=len(tests))))
    results = []
    for number, able in enumerate(ability):
        marks = []
        for name in tests:
            chance = 1 / (1 + np.exp(-2.2 * (able - difficulty[name])))
            if name == "test_0" and broken == "nobody passes":
                chance = 0.0
            elif name == "test_0" and broken == "a coin":
                chance = 0.5
            elif name == "test_0" and broken == "upside down":
                chance = 1 - chance
            marks.append(Mark(name, float(rng.random() < chance), 1, "told", task=1))
        results.append(Result(f"s{number}", "a1", "graded", marks, [], len(tests)))
    return results


def test_faulty_test_is_flagged_and_valid_test_is_not():
    rng = np.random.default_rng(8)
    found, false = [], []
    for broken in ("nobody passes", "a coin", "upside down") * 20:
        rows = items.statistics(simulated(rng, broken))
        flags = {row[2]: bool(row[-1]) for row in rows}
        found.append(flags.pop("test_0"))
        false += flags.values()
    assert np.mean(found) >= 0.95
    assert np.mean(false) <= 0.05


def test_item_statistics_show_the_most_common_message():
    marks = [[Mark("test_a", 0, 2, text), Mark("test_b", 1, 1)] for text in ("x", "y", "y")]
    results = [Result(f"s{n}", "a1", "graded", each, [], 3) for n, each in enumerate(marks)]
    first, second = items.statistics(results)
    assert first[2:8] == ["test_a", 3, 0.0, "", "y", round(2 / 3, 3)]
    assert second[4] == 1.0
    # too few students to call a test broken
    assert first[-1] == second[-1] == ""


def test_student_archive_contains_no_solution_or_hidden_test(tmp_path):
    students, instructors = archives.write(tmp_path)
    with zipfile.ZipFile(students) as file:
        names = file.namelist()
        text = b"".join(file.read(name) for name in names).decode("utf-8", "replace")
    assert sum(name.endswith(".ipynb") for name in names) == len(assignments())
    assert not any("source" in name or "zoo" in name or "grader" in name for name in names)
    assert "HIDDEN TESTS" not in text
    assert "BEGIN SOLUTION" not in text
    with zipfile.ZipFile(instructors) as file:
        names = file.namelist()
    for piece in ("source/a1_dependence", "zoo/a1_dependence.py", "grader/grade.py", "README.md"):
        assert any(piece in name for name in names)
