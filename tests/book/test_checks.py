"""Each check of the book passes a sound sample and reports each kind of broken sample."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from . import checks

OPENING = "# A title\n\n" + "A question that takes a paragraph to ask. " * 8
BOX = """:::{admonition} In this chapter
**You will be able to** do it. **You need** nothing. **Time** 5 minutes. **In the paper** § 1.
:::"""
NOTE = ":::{admonition} In the paper\nA slip.\n:::"
RECAP = "## Recap\n\n" + "- a line\n" * 5
EXERCISES = "## Exercises\n\n" + "\n".join(
    f":::{{exercise}}\n:label: ex-{i}\nTry it.\n:::" for i in range(3)
)
NEXT = "## What comes next\n\nMore."


def solution(i, *, folded=True, runs=True):
    options = ":class: dropdown\n" if folded else ""
    cells = [new_markdown_cell(f"```{{solution-start}} ex-{i}\n{options}```")]
    if runs:
        cells.append(new_code_cell("1 + 1"))
    return [*cells, new_markdown_cell("```{solution-end}\n```")]


def chapter(
    opening=OPENING,
    box=BOX,
    note=NOTE,
    recap=RECAP,
    exercises=EXERCISES,
    solutions=None,
    after=NEXT,
):
    texts = [new_markdown_cell(t) for t in (opening, box, note, recap, exercises)]
    solutions = [solution(i) for i in range(3)] if solutions is None else solutions
    return new_notebook(
        cells=[*texts, *(c for s in solutions for c in s), new_markdown_cell(after)]
    )


def test_valid_chapter_passes():
    assert checks.skeleton(chapter()) == []


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"opening": "# A title"}, "cell 0"),
        ({"box": "no box"}, "In this chapter"),
        ({"box": BOX.replace("**Time**", "Time")}, "**Time**"),
        ({"note": ""}, "In the paper"),
        ({"recap": ""}, "## Recap"),
        ({"recap": "## Recap\n\n- one line\n"}, "five lines"),
        ({"exercises": EXERCISES.replace("label: ex-2", "name: ex-2")}, "2 exercises"),
        ({"solutions": [solution(0), solution(1)]}, "exercise ex-2 has no solution"),
        ({"solutions": [solution(0), solution(1), solution(2, folded=False)]}, "not folded"),
        ({"solutions": [solution(0), solution(1), solution(2, runs=False)]}, "no cell that runs"),
        ({"after": ""}, "What comes next"),
    ],
)
def test_skeleton_check_reports_missing_parts(broken, says):
    problems = checks.skeleton(chapter(**broken))
    assert any(says in p for p in problems), problems


def run_cell(source, count=1, outputs=(), tags=()):
    metadata = {"tags": list(tags)}
    return new_code_cell(source, execution_count=count, outputs=list(outputs), metadata=metadata)


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


CHECKED = run_cell("1", outputs=[stream("1")], tags=["nbval-check-output"])


def test_valid_notebook_passes():
    notebook = new_notebook(cells=[CHECKED])
    for check in (checks.executed, checks.clean_outputs, checks.self_contained, checks.alt_texts):
        assert check(notebook) == []


@pytest.mark.parametrize(
    ("check", "cells", "says"),
    [
        (checks.executed, [CHECKED, run_cell("2", 3)], "cell 1: execution count 3, not 2"),
        (checks.executed, [CHECKED, run_cell("2", None)], "cell 1: execution count None"),
        (checks.executed, [run_cell("1")], "no result is checked"),
        (checks.executed, [run_cell("1", tags=["nbval-check-output"])], "cell 0"),
        (
            checks.clean_outputs,
            [run_cell("1/0", outputs=[new_output("error", ename="ZeroDivisionError")])],
            "cell 0: stored error",
        ),
        (
            checks.clean_outputs,
            [run_cell("w()", outputs=[stream("x", "stderr")])],
            "cell 0: stored",
        ),
        (
            checks.clean_outputs,
            [run_cell("w()", outputs=[stream("UserWarning: no")])],
            "cell 0: stored warning",
        ),
        (
            checks.alt_texts,
            [run_cell("p()", outputs=[new_output("display_data", data={"image/png": "eA=="})])],
            "cell 0: a figure without alt",
        ),
        (
            checks.alt_texts,
            [run_cell("p()", outputs=[new_output("display_data", data={"text/html": "<img>"})])],
            "cell 0: an <img>",
        ),
        (checks.alt_texts, [new_markdown_cell("![](a.png)")], "cell 0: an image"),
        (
            checks.alt_texts,
            [new_markdown_cell("```{figure} a.png\n:name: x\n```")],
            "cell 0: an image",
        ),
        (checks.self_contained, [run_cell("open('/mnt/data/a.csv')")], "cell 0: an absolute path"),
        (checks.self_contained, [run_cell("open(r'C:\\data\\a')")], "cell 0: an absolute path"),
        (
            checks.self_contained,
            [run_cell("f()", outputs=[stream("/usr/lib/python3/x.py")])],
            "the output of cell 0: an absolute path",
        ),
        (
            checks.self_contained,
            [run_cell("pd.read_csv('https://example.org/adult.data')")],
            "cell 0: the address of a data file",
        ),
        (checks.standard_tex, [new_markdown_cell("so $\\P(A)$")], "cell 0: the macro \\P"),
        (checks.self_contained, [run_cell("%pip install dit")], "cell 0: an installation"),
    ],
)
def test_notebook_checks_report_the_faulty_cell(check, cells, says):
    problems = check(new_notebook(cells=cells))
    assert any(says in p for p in problems), problems


@pytest.mark.parametrize(
    "text",
    [
        "{cite}`nobody1900`",
        "{cite:t}`renyi1959measures, nobody1900`",
        "{ref}`nowhere`",
        "{ref}`some words <nowhere>`",
        "{eq}`eq-nowhere`",
        "[a page](not_there.md)",
        "[a place](#nowhere)",
    ],
)
def test_broken_references_are_reported(text, tmp_path):
    notebook = new_notebook(cells=[new_markdown_cell("fine"), new_markdown_cell(text)])
    problems = checks.references(notebook, tmp_path, {"here"}, {"renyi1959measures"})
    assert len(problems) == 1
    assert problems[0].startswith("cell 1:")


def test_valid_references_pass(tmp_path):
    (tmp_path / "there.md").write_text("x")
    text = (
        "(here)=\n# T\n{cite}`renyi1959measures` {ref}`here` {eq}`eq-a` [p](there.md) [q](#here) "
        "[w](https://example.org) `{ref}`\n\n$$ a $$ (eq-b)\n\n```{math}\n:label: eq-a\nx\n```\n"
    )
    known = checks.labels(text)
    assert known == {"here", "eq-a", "eq-b"}
    notebook = new_notebook(cells=[new_markdown_cell(text)])
    assert checks.references(notebook, tmp_path, known, {"renyi1959measures"}) == []


def test_chapter_missing_from_the_table_of_contents_is_reported():
    toc = "root: book/index\nparts:\n  - chapters:\n      - file: book/one\n"
    root = Path("root")
    pages = [root / "book" / name for name in ("index.md", "one.ipynb", "two.ipynb")]
    assert checks.missing_from_toc(toc, pages, root) == ["book/two.ipynb is not in _toc.yml"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("<p>so \\frac{1}{2}</p>", "raw TeX"),
        ("<p>so $$x$$</p>", "raw TeX"),
        ("<p>see {ref}`x`</p>", "raw TeX or directive"),
        ('<span class="problematic">x</span>', "marked as a problem"),
        ('<script src="https://cdn.example.org/a.js"></script>', "third-party host"),
        ('<img src="a.png" alt="">', "without alt text"),
    ],
)
def test_built_page_problems_are_reported(body, says):
    problems = checks.built_page(f'<html><div class="bd-article">{body}</div></html>')
    assert len(problems) == 1
    assert says in problems[0]


@pytest.mark.parametrize("text", ["see chapter 4", "Chapters 4 and 5", "eq-ch4-definition"])
def test_typed_chapter_number_is_reported(text):
    assert len(checks.typed_numbers(text)) == 1


def test_reference_to_a_chapter_by_slug_passes():
    assert checks.typed_numbers("see {numref}`ch-theorem-1`, check('theorem-1/2')") == []


def test_valid_built_page_passes():
    body = (
        '<p>a</p><div class="math">\\frac{1}{2}</div><pre>\\frac</pre>'
        '<a href="https://doi.org/10.1">d</a><img src="a.png" alt="a figure">'
    )
    assert checks.built_page(f'<html><div class="bd-article">{body}</div></html>') == []


def test_notebook_is_read_from_disk(tmp_path):
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[CHECKED]), path)
    assert checks.executed(checks.read(path)) == []
