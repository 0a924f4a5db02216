"""The grader is graded: reference, blank release and zoo of every assignment."""

import ast
import re

import nbformat
import pytest
from grader import RELEASE, SOURCE, assignments, build, zoo
from grader.judge import used_names
from grader.notebooks import own, parts

# A process for each wrong answer takes minutes: `python -m grader.zoo` does that. Here up to six
# share a notebook, each with its mistake in another task.
SIZE = 6
CASES = [
    (assignment, wrong, batch)
    for assignment in assignments()
    for batch in zoo.batches(assignment, SIZE)
    for wrong in batch
]


def named(value):
    if isinstance(value, list):
        return ""
    return value if isinstance(value, str) else value["name"].replace(" ", "-")


@pytest.fixture(scope="session")
def graded(request, tmp_path_factory):
    """Grade reference, blank release and zoo of all assignments in this run, at once."""
    calls = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    wanted = {call.params["assignment"] for call in calls if "assignment" in call.params}
    notebooks = {
        (name, assignment): nb
        for assignment in sorted(wanted & set(assignments()))
        for name, nb in zoo.everything(assignment, SIZE).items()
    }
    return zoo.grade_notebooks(notebooks, tmp_path_factory.mktemp("submissions"))


def cells(folder, assignment):
    return nbformat.read(folder / assignment / f"{assignment}.ipynb", as_version=4).cells


def regions(source, name):
    """Yield the parts of a cell between ### BEGIN name and ### END name."""
    for part in source.split(f"### BEGIN {name}\n")[1:]:
        yield part.split(f"### END {name}")[0].strip()


def test_committed_releases_follow_from_their_sources():
    assert build.build(write=False) == []


@pytest.mark.parametrize("assignment", assignments())
def test_nothing_of_solutions_or_hidden_tests_is_in_the_release(assignment):
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
        # a line that is shown elsewhere on purpose, or says nothing, is no secret
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
def test_points_in_the_head_cell_are_those_of_the_cells(assignment):
    source = cells(SOURCE, assignment)
    points = sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in source)
    # in a sentence or in a table
    assert re.search(rf"\*\*Points\*\*[ |]*{points}\b", source[0].source)
    assert "**Time**" in source[0].source


@pytest.mark.parametrize("assignment", assignments())
def test_reference_gets_full_marks(assignment, graded):
    result = graded["reference", assignment]
    assert [(m.name, m.message) for m in result.marks if m.points not in (None, m.worth)] == []
    assert (result.status, result.notes) == ("graded", [])
    assert result.score + result.awaiting == result.max_points


@pytest.mark.parametrize("assignment", assignments())
def test_blank_release_gets_nothing(assignment, graded):
    result = graded["blank", assignment]
    assert (result.status, result.score, result.awaiting) == ("graded", 0, 0)


@pytest.mark.parametrize("assignment", assignments())
def test_zoo_has_twenty_animals_or_more(assignment):
    names = [wrong["name"] for wrong in zoo.answers(assignment)]
    assert len(set(names)) == len(names) >= 20


@pytest.mark.parametrize("assignment", assignments())
def test_every_test_cell_has_a_wrong_answer_that_it_catches(assignment):
    tests = {part.name for part in parts(zoo.reference(assignment)) if not part.by_hand}
    assert tests - {wrong["caught_by"] for wrong in zoo.answers(assignment)} == set()


@pytest.mark.parametrize("assignment", assignments())
def test_no_test_asks_a_name_that_a_student_could_redefine(assignment):
    """What a test compares with is imported in the test itself, under a name of its own."""
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
def test_what_is_marked_by_hand_has_a_rubric(assignment):
    nb = zoo.reference(assignment)
    by_hand = sum(part.points for part in parts(nb) if part.by_hand)
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    assert by_hand >= 4
    assert "rubric for" in text
    assert f"{by_hand:g} by your instructor" in text


@pytest.mark.parametrize("assignment", assignments())
def test_no_chapter_is_called_by_a_number(assignment):
    text = "\n".join(cell.source for cell in cells(SOURCE, assignment))
    assert re.findall(r"[Cc]hapters? \d+", text) == []


@pytest.mark.parametrize(("assignment", "wrong", "batch"), CASES, ids=named)
def test_wrong_answer_loses_marks_where_it_should_and_says_why(assignment, wrong, batch, graded):
    result = graded[batch[0]["name"], assignment]
    assert zoo.verdict(wrong, result, batch) == ""


@pytest.mark.parametrize("assignment", assignments())
def test_batches_hold_every_wrong_answer_once_and_no_two_in_one_task(assignment):
    lists = zoo.batches(assignment, SIZE)
    names = [wrong["name"] for batch in lists for wrong in batch]
    assert sorted(names) == sorted(wrong["name"] for wrong in zoo.answers(assignment))
    for batch in lists:
        assert len({zoo.task(wrong) for wrong in batch}) == len(batch) <= SIZE
