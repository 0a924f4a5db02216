"""Grade the reference, the blank release and the zoo of every assignment."""

import ast
import itertools
import math
import pkgutil
import re
import runpy
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import nbformat
import numpy as np
import pytest
from grader import (
    RELEASE,
    SOURCE,
    ZOO,
    assignments,
    build,
    chapters,
    notebooks,
    page,
    submission,
    zoo,
)
from grader.judge import used_names
from grader.notebooks import chapters_in, own, parts

from renyi_book.scorecard import VERDICTS
from renyi_book.scorecard.judging import _all_of, of_interval
from renyi_book.scorecard.statistics import corrected
from renyi_lib.correlation import renyi_from_soft


@cache
def bench(assignment, variant=0):
    """Return the reference of an assignment, ready to have some of its cells replaced."""
    return zoo.Bench(assignment, variant)


@cache
def reference(assignment):
    """Return the namespace of an assignment's reference."""
    return bench(assignment).session.shell.user_ns


def graded_in(folder):
    """Grade the reference of all assignments, sandboxed."""
    notebooks = {("reference", name): zoo.reference(name) for name in assignments()}
    return zoo.grade_notebooks(notebooks, folder)


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """Return the results of the references of all assignments."""
    # In a new process, so that what all tests import is loaded once, as in a run of `make grade`.
    with ProcessPoolExecutor(1, get_context("spawn")) as other:
        return other.submit(graded_in, tmp_path_factory.mktemp("submissions")).result()


def cells(folder, assignment):
    return nbformat.read(folder / assignment / f"{assignment}.ipynb", as_version=4).cells


def regions(source, name):
    """Yield the parts of a cell between ### BEGIN name and ### END name."""
    for part in source.split(f"### BEGIN {name}\n")[1:]:
        yield part.split(f"### END {name}")[0].strip()


@pytest.mark.parametrize("assignment", assignments())
def test_committed_releases_match_their_sources(assignment):
    assert build.build(write=False, only=[assignment]) == []


@pytest.mark.parametrize("assignment", assignments())
def test_release_contains_no_solution_or_hidden_test(assignment):
    released = (RELEASE / assignment / f"{assignment}.ipynb").read_text(encoding="utf-8")
    assert "BEGIN" not in released
    assert "END SOLUTION" not in released
    text = "\n".join(cell.source for cell in cells(RELEASE, assignment))
    visible = "\n".join(
        part.split("### BEGIN")[0]
        for cell in cells(SOURCE, assignment)
        for part in cell.source.split("### END")
    )
    secrets = [
        line.strip()
        for cell in cells(SOURCE, assignment)
        for name in ("SOLUTION", "HIDDEN TESTS")
        for part in regions(cell.source, name)
        for line in part.splitlines()
        # Very short lines, and lines that are also shown elsewhere, are no secrets.
        if len(line.strip()) > 12 and line.strip() not in visible
    ]
    assert len(secrets) > 20
    assert [line for line in secrets if line in text] == []


@pytest.mark.parametrize("assignment", assignments())
def test_every_cell_of_a_source_has_a_stable_id_and_no_output(assignment):
    ids = [cell.id for cell in cells(SOURCE, assignment)]
    assert len(set(ids)) == len(ids)
    for cell in cells(SOURCE, assignment):
        own = cell.metadata.get("nbgrader")
        if own:
            assert cell.id == own["grade_id"].replace("_", "-")
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("assignment", assignments())
def test_points_in_the_first_cell_match_the_cells(assignment):
    source = cells(SOURCE, assignment)
    points = sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in source)
    # in a sentence or in a table
    assert re.search(rf"\*\*Points\*\*[ |]*{points}\b", source[0].source)
    assert "**Time**" in source[0].source


def test_reference_solutions_get_full_marks(graded):
    for assignment in assignments():
        result = graded["reference", assignment]
        lost = [(m.name, m.message) for m in result.marks if m.points not in (None, m.worth)]
        assert (assignment, lost) == (assignment, [])
        assert (result.status, result.notes) == ("graded", [])
        assert result.score + result.awaiting == result.max_points


@pytest.mark.parametrize("assignment", assignments())
def test_a_blank_release_gets_nothing(assignment):
    """The sandbox is not needed, because the release contains only our own code."""
    nb, source = zoo.blank(assignment), zoo.reference(assignment)
    assert notebooks.restore(nb, notebooks.skeleton(source)) == []
    job = submission.Job("blank", assignment, "")
    marks, status, notes = submission.run(nb, source, job, zoo.Local())
    assert (status, notes) == ("graded", [])
    assert {mark.points for mark in marks} == {0}
    assert sum(mark.worth for mark in marks) == sum(part.points for part in parts(source))


@pytest.mark.parametrize("assignment", assignments())
def test_zoo_has_at_least_twenty_wrong_answers(assignment):
    names = [wrong["name"] for wrong in zoo.answers(assignment)]
    assert len(set(names)) == len(names) >= 20


@pytest.mark.parametrize("assignment", assignments())
def test_wrong_answers_lose_the_expected_marks_with_an_explanation(assignment):
    amiss, lost = {}, set()
    for wrong in zoo.answers(assignment):
        found = bench(assignment).try_out(wrong["replace"])
        lost |= {name for name, message in found.items() if message}
        problem = zoo.verdict(wrong, found)
        if problem:
            amiss[wrong["name"]] = problem
    assert amiss == {}
    tests = {part.name for part in parts(zoo.reference(assignment)) if not part.by_hand}
    assert tests - lost == set()


@pytest.mark.parametrize("assignment", assignments())
def test_unforeseen_wrong_answers_are_detected(assignment):
    found = zoo.caught(bench(assignment))
    missed = [name for name, seen in found.items() if not seen]
    assert len(found) >= 20
    assert len(missed) <= 0.05 * len(found), missed


def test_an_honest_experiment_in_another_style_gets_full_marks_in_a4():
    """It was written from the assignment's text alone."""
    found = runpy.run_path(str(ZOO / "held_back.py"))
    messages = bench("a4_reproduction").try_out(found["A4_BASE"])
    assert {name: message for name, message in messages.items() if message} == {}


def functions(assignment):
    """Return the cells of an assignment that define functions, except for A4's experiment."""
    return [
        each
        for each in bench(assignment).defined.values()
        if each.names and f"def {min(each.names)}(" in each.code and each.cell != "run"
    ]


def own_tests(cell, found):
    """Return the messages of the tests of one cell."""
    return [message for test, message in found.items() if test.startswith(f"test_{cell}")]


EMPTY = "lambda *_, **__: {}"


@pytest.mark.parametrize("assignment", assignments())
@pytest.mark.parametrize("value", ["np.array([])", "np.nan", "(np.array([]), np.array([]))", "[]"])
def test_empty_answers_earn_nothing(assignment, value):
    assert functions(assignment)
    for each in functions(assignment):
        code = "\n".join(f"{name} = {EMPTY.format(value)}" for name in sorted(each.names))
        found = bench(assignment).try_out({each.cell: code})
        assert all(own_tests(each.cell, found)), (each.cell, found)


# A function that computes the right answer, overwrites every array that it was given, and returns
# an answer filled alike, which would look right to a test that uses the arrays afterwards.
OVERWRITE = """
def _overwrite(function):
    def filled(value):
        if isinstance(value, (tuple, list)):
            return type(value)(map(filled, value))
        if hasattr(value, "iloc"):
            value = value.copy()
            value.iloc[:, :] = {fill}
            return value
        return np.full_like(value, {fill}) if isinstance(value, np.ndarray) else {fill}

    def forged(*args, **kwargs):
        answer = function(*args, **kwargs)
        for each in args:
            if isinstance(each, np.ndarray):
                each[...] = {fill}
            elif hasattr(each, "iloc"):
                each.iloc[:, :] = {fill}
        return filled(answer)

    return forged
"""


@pytest.mark.parametrize("assignment", assignments())
@pytest.mark.parametrize("fill", [0, 1])
def test_overwritten_arguments_earn_nothing(assignment, fill):
    for each in functions(assignment):
        names = sorted(each.names)
        forged = "\n".join(f"{name} = _overwrite({name})" for name in names)
        code = "\n".join([each.code, OVERWRITE.replace("{fill}", str(fill)), forged])
        found = bench(assignment).try_out({each.cell: code})
        assert any(own_tests(each.cell, found)), (each.cell, found)


@pytest.mark.parametrize("assignment", assignments())
def test_variants_ask_different_questions(assignment):
    """The variant's reference gets full marks, but pasting the release's reference does not."""
    other = bench(assignment, 1)
    assert {name: m for name, m in other.try_out().items() if m} == {}
    changed = {
        name: each.code
        for name, each in bench(assignment).defined.items()
        if each.code != other.defined[name].code
    }
    assert changed
    base = {} if assignment != "a4_reproduction" else zoo.held_back(assignment)[0][1] | changed
    assert any(other.try_out(base | changed).values())


# ------------------------------------------------------------------- agreement with the book


def test_a5_gives_the_verdicts_of_the_scorecard():
    verdict = reference("a5_judging")["verdict"]
    grid = np.linspace(-1, 1, 9)
    for low, high, smallest in itertools.product(grid, grid, (0.25, 0.5)):
        if low <= high:
            assert verdict(low, high, smallest) == of_interval("difference", low, high, smallest)
    assert verdict(math.nan, math.nan, 1) == "cannot be tested"


def test_a4_combines_cases_as_the_scorecard_does():
    assert reference("a4_reproduction").get("VERDICTS", VERDICTS) == VERDICTS
    space = {"math": math, "np": np}
    exec(bench("a4_reproduction").defined["verdict"].code, space)
    cases = {"holds": (0.2, 0.4), "does not hold": (-0.4, -0.2), "undecided": (-0.2, 0.2)}
    for names in itertools.product(cases, repeat=3):
        intervals = {n: cases[name] for n, name in enumerate(names)}
        claimed = dict.fromkeys(intervals, (0.0, 1.0))
        assert space["verdict"](intervals, claimed) == _all_of(set(names))


@pytest.mark.parametrize("assignment", ["a4_reproduction", "a5_judging"])
def test_intervals_match_the_scorecard(assignment):
    from scipy import stats

    space = {"math": math, "np": np, "stats": stats}
    exec(bench(assignment).defined["interval"].code, space)
    d = np.random.default_rng(1).normal(size=7)
    for ratio in (0.0, 0.25, 1.0):
        want = corrected(d, ratio)
        assert np.allclose(space["interval"](d, ratio), [want.low, want.high])


@pytest.mark.parametrize("assignment", assignments())
def test_library_names_mentioned_in_texts_exist(assignment):
    text = "\n".join(cell.source for cell in cells(SOURCE, assignment))
    names = set(re.findall(r"\brenyi_(?:lib|book)(?:\.\w+)+", text))
    assert [name for name in sorted(names) if not resolves(name)] == []


def resolves(name):
    """Return whether a dotted name can be imported or looked up."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_renamed_library_name_is_detected():
    assert resolves("renyi_lib.metrics.demographic_parity_ratio")
    assert not resolves("renyi_lib.metrics.p_rule")
    assert not resolves("renyi_lib.nowhere")


@pytest.mark.parametrize("assignment", assignments())
def test_mentioned_chapters_and_sections_exist(assignment):
    text = "\n".join(cell.source for cell in cells(SOURCE, assignment))
    _, strange = page.resolve(chapters_in(text), chapters.table())
    assert strange == []
    # The check above would also pass if no chapter were mentioned.
    assert chapters_in(text)


def test_the_table_of_chapters_is_up_to_date():
    assert page.CHAPTERS.read_text("utf-8") == chapters.text(), "run make course"


def test_a1_rejects_the_parabola_of_the_chapter():
    x = list(range(-2, 3))
    code = f"""
def blind_spot():
    x = np.array({x}, dtype=float)
    P = np.zeros((5, 3))
    P[np.arange(5), [2, 1, 0, 1, 2]] = 0.2
    return x, np.array([0.0, 1.0, 4.0]), P
"""
    found = bench("a1_dependence").try_out({"blind_spot": code})
    assert "the parabola of the chapter" in found["test_blind_spot"]


def test_the_premise_of_a2_task_12_holds():
    """Confident labels independent of the group have a penalty of 0.02 in batches of 50."""
    rng = np.random.default_rng(0)
    batch = reference("a2_classification")["batch_penalty"]
    s = rng.integers(2, size=20_000)
    _, confident = batch(rng.dirichlet([0.02, 0.02], size=20_000), s, 50)
    _, undecided = batch(rng.dirichlet([1.0, 1.0], size=20_000), s, 50)
    assert 0.017 < confident < 0.023
    assert undecided < 0.6 * confident
    assert renyi_from_soft(rng.dirichlet([0.02, 0.02], size=20_000), s) ** 2 < 0.002


def test_the_sample_answer_to_task_11_of_a3_is_right():
    """The instructors' page quotes line 6's prediction and the actual change for one move."""
    space = reference("a3_clustering")
    c, w, size = np.array([[0.5], [2.5]]), np.array([0.5, 0.0]), np.array([2, 2])
    scores = space["line_6"](np.array([0.0]), 1, c, w, 16)
    cost = space["move_cost"](np.array([0.0]), 1, 0, size, c, w, 16)
    assert scores[1] - scores[0] == pytest.approx(-6)
    assert cost[1] == pytest.approx(1)
    answer = "line 6 predicts −6 for moving the point 0, but the objective rises by 1"
    assert answer in (chapters.BOOK / "course_instructors.md").read_text("utf-8")


def test_the_sample_answer_to_task_7_of_a5_is_right():
    """The solution and the instructors' page quote both intervals and the verdict."""
    space = dict(reference("a5_judging"))
    code = next(cell.source for cell in cells(SOURCE, "a5_judging") if cell.id == "case")
    exec(code, space)
    d = space["differences"](space["CASE"], "fair", "other")
    low, high = space["interval"](d, 1 / 3)
    assert space["verdict"](low, high, 0.003) == "undecided"
    narrow = space["interval"](d, 0)
    assert [round(100 * x, 1) for x in (*narrow, low, high)] == [0.2, 0.6, -0.5, 1.3]
    text = next(cell.source for cell in cells(SOURCE, "a5_judging") if cell.id == "explain")
    for piece in ("(0.2, 0.6) points", "(-0.5, 1.3) points", 'the verdict is "undecided"'):
        assert piece in text
    answer = "[0.002, 0.006], with r = 1/3 it is [−0.005, 0.013]: undecided"
    assert answer in (chapters.BOOK / "course_instructors.md").read_text("utf-8")


@pytest.mark.parametrize("assignment", assignments())
def test_comparison_helper_is_identical_in_all_assignments(assignment):
    helpers = {
        cell.source
        for name in assignments()
        for cell in cells(SOURCE, name)
        if own(cell).get("grade_id") == "compare"
    }
    assert len(helpers) == 1
    space = {"np": np}
    exec(helpers.pop(), space)
    close = space["close"]
    assert close([1, 2], [1, 2 + 1e-12])
    assert not any(
        close(got, want)
        for got, want in (
            ([], []),
            ([], [1]),
            (1, [1]),
            (math.nan, math.nan),
            ("x", 1),
            ([1], [1, 1]),
        )
    )


# --------------------------------------------------------------------------- plain nbgrader


@pytest.mark.parametrize("assignment", assignments())
def test_reference_solution_gets_full_marks_from_plain_nbgrader(assignment, tmp_path):
    scores = build.autograde(assignment, zoo.reference(assignment), tmp_path)
    tests = {
        part.name: part.points for part in parts(zoo.reference(assignment)) if not part.by_hand
    }
    assert {name: scores[name] for name in tests} == tests


@pytest.mark.parametrize("assignment", assignments())
def test_tests_do_not_use_names_that_a_student_could_redefine(assignment):
    """Each test imports the functions that it compares with, under names of its own."""
    nb = zoo.reference(assignment)
    given = set()
    for cell in nb.cells:
        if cell.cell_type == "code" and own(cell).get("grade_id") == "setup":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.ImportFrom) and node.module.startswith("renyi_lib"):
                    given |= {alias.asname or alias.name for alias in node.names}
    asked = {
        (part.name, name)
        for part in parts(nb)
        if not part.by_hand
        for name in given & used_names(part.tests)
    }
    assert asked == set()


@pytest.mark.parametrize("assignment", assignments())
def test_manually_graded_tasks_have_a_rubric(assignment):
    nb = zoo.reference(assignment)
    by_hand = sum(part.points for part in parts(nb) if part.by_hand)
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    assert by_hand >= 4
    assert "rubric for" in text
    assert f"{by_hand:g} by your instructor" in text


@pytest.mark.parametrize("assignment", assignments())
def test_chapters_are_not_referred_to_by_number(assignment):
    text = "\n".join(cell.source for cell in cells(SOURCE, assignment))
    assert re.findall(r"[Cc]hapters? \d+", text) == []
