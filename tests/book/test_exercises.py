"""Every exercise of every chapter can be checked, and its own solution passes the check."""

import re

import nbformat
import pytest

from renyi_book.checks import exercises

from . import checks

CHAPTERS = checks.chapter_paths()


def checked_exercises(notebook, chapter):
    """Each exercise names its check, in order, and the last cell of its solution passes it."""
    problems, labels, last_cell, solving = [], [], {}, None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if solving:
                last_cell[solving] = cell
            continue
        for label, text in re.findall(
            r"^:::\{exercise\}.*?\n:label: (\S+)\n(.*?)^:::$",
            cell.source,
            re.DOTALL | re.MULTILINE,
        ):
            labels.append(label)
            key = f"{chapter}/{len(labels)}"
            line = text.strip().splitlines()[-1]
            if not re.match(rf'Check yourself: .*`check\("{key}", ', line):
                problems.append(f'{label} does not end with: Check yourself: `check("{key}", …)`')
        for start, label in re.findall(r"\{solution-(start\} (\S+)|end\})", cell.source):
            solving = label if start.startswith("start") else None
    for number, label in enumerate(labels, start=1):
        key = f"{chapter}/{number}"
        cell = last_cell.get(label)
        if cell is None or f'check("{key}", ' not in cell.source:
            problems.append(f'the solution of {label} does not end with check("{key}", …)')
        elif not any(
            output.get("data", {}).get("text/plain", "").startswith("Right.")
            for output in cell.outputs
        ):
            problems.append(f"the solution of {label} does not pass its own check")
    return problems


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_solution_passes_the_check_of_its_exercise(path):
    assert checked_exercises(checks.read(path), path.stem) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_check_of_a_chapter_belongs_to_an_exercise(path):
    text = "\n".join(c.source for c in checks.read(path).cells if c.cell_type == "markdown")
    count = len(re.findall(r"^:::\{exercise\}", text, re.MULTILINE))
    warm_ups = re.findall(rf'Check yourself: .*`check\("{path.stem}/([a-z])", ', text)
    assert warm_ups == sorted(warm_ups)
    asked = [*warm_ups, *range(1, count + 1)]
    assert sorted(exercises(path.stem)) == sorted(f"{path.stem}/{key}" for key in asked)


def example(
    line='Check yourself: `check("theorem-1/1", x)`.',
    call='check("theorem-1/1", 1)',
    says="Right.",
):
    new = nbformat.v4
    shown = new.new_output("execute_result", {"text/plain": says})
    return new.new_notebook(
        cells=[
            new.new_markdown_cell(f":::{{exercise}}\n:label: ex-theorem-1-a\nAsk.\n\n{line}\n:::"),
            new.new_markdown_cell("```{solution-start} ex-theorem-1-a\n:class: dropdown\n```"),
            new.new_code_cell("x = 1"),
            new.new_code_cell(call, outputs=[shown]),
            new.new_markdown_cell("```{solution-end}\n```"),
            new.new_code_cell("after"),
        ]
    )


def test_valid_exercise_passes():
    assert checked_exercises(example(), "theorem-1") == []


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"line": "Nothing."}, "does not end with: Check yourself"),
        (
            {"line": 'Check yourself: `check("theorem-1/2", x)`.'},
            "does not end with: Check yourself",
        ),
        ({"call": 'check("theorem-1/2", 1)'}, "solution of ex-theorem-1-a does not end with"),
        ({"call": "x"}, "solution of ex-theorem-1-a does not end with"),
        ({"says": "Not yet. Off."}, "does not pass its own check"),
    ],
)
def test_invalid_exercise_is_reported(changed, problem):
    (found,) = checked_exercises(example(**changed), "theorem-1")
    assert problem in found
