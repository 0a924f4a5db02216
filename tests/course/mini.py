"""A two-task assignment without imports, for tests of the grader itself."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

RIGHT = {"one": "def one():\n    return 1", "two": "def two():\n    return 2"}


def solution(name, body):
    source = f"def {name}():\n    ### BEGIN SOLUTION\n    return {body}\n    ### END SOLUTION"
    return graded(source, name, grade=False, solution=True)


def graded(source, name, *, grade, solution, points=None):
    meta = {"schema_version": 3, "grade_id": name, "grade": grade, "solution": solution}
    meta |= {"locked": not solution, "task": False}
    if points:
        meta["points"] = points
    return new_code_cell(source, id=name.replace("_", "-"), metadata={"nbgrader": meta})


def test_cell(name, value, points):
    source = (
        f"assert {name}() is not None, 'nothing came back'\n### BEGIN HIDDEN TESTS\n"
        f"assert {name}() == {value} * secret(), 'the secret is {value}'\n### END HIDDEN TESTS"
    )
    return graded(source, f"test_{name}", grade=True, solution=False, points=points)


def source():
    """Return the instructor's notebook: 2 points for `one`, 3 for `two`."""
    cells = [
        new_markdown_cell("# A very small assignment", id="head"),
        graded("def secret():\n    return 1", "given", grade=False, solution=False),
        new_markdown_cell("## Task 1: the first (2 points)\n\nSee chapter *Theorem 1*.", id="h1"),
        solution("one", 1),
        test_cell("one", 1, 2),
        new_markdown_cell("## Task 2: the second (3 points)", id="h2"),
        solution("two", 2),
        test_cell("two", 2, 3),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def answer(**cells):
    """Return a submission with the right answers, except for those given as `one=` or `two=`."""
    nb = source()
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in RIGHT:
            cell.source = cells.get(name, RIGHT[name])
        elif name:
            cell.source = cell.source.split("### BEGIN")[0].strip()
    return nb
