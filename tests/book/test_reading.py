"""Visible code runs on its own, stated minutes are computed, and paths contain what they need."""

import json

import pytest

from renyi_book.chapters import chapters

from . import checks
from .test_tools import load

visible_cells = load("visible_cells")
minutes = load("minutes")


def notebook(path):
    return json.loads(path.read_text(encoding="utf8"))


NOTEBOOKS = {path.stem: path for path in checks.notebook_paths()}


@pytest.mark.parametrize("slug", NOTEBOOKS)
def test_visible_code_uses_only_names_that_visible_code_defines(slug):
    assert visible_cells.undefined(notebook(NOTEBOOKS[slug])) == []


def cell(source, *tags, kind="code"):
    return {"cell_type": kind, "id": "a", "metadata": {"tags": list(tags)}, "source": [source]}


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        ([cell("import numpy as np"), cell("np.ones(3)")], ""),
        ([cell("import numpy as np", "hide-cell"), cell("np.ones(3)")], "np"),
        ([cell("a = 1", "remove-input"), cell("def f(x):\n    return a + x")], "a"),
        ([cell("def f(x):\n    return [y for y in x if len(x)]"), cell("f('ab')")], ""),
        ([cell("for i in range(3):\n    print(i)"), cell("i += 1")], ""),
        ([cell("a", "hide-input")], ""),
        (
            [
                cell("```{solution-start} ex\n```", kind="markdown"),
                cell("b = 2"),
                cell("```{solution-end}\n```", kind="markdown"),
                cell("print(b)"),
            ],
            "b",
        ),
    ],
)
def test_names_defined_only_in_folded_code_are_reported(cells, missing):
    expected = [f"cell a uses {missing}"] if missing else []
    assert visible_cells.undefined({"cells": cells}) == expected


def test_running_visible_cells_reports_the_failing_cell(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [cell("x = 1"), cell("y = 2", "hide-cell")]
    path.write_text(json.dumps({"cells": [*cells, cell("print(x)")]}))
    assert visible_cells.run(path) is None
    path.write_text(json.dumps({"cells": [*cells, cell("print(y)")]}))
    assert visible_cells.run(path) == "cell a: NameError: name 'y' is not defined"


@pytest.mark.parametrize("slug", chapters())
def test_stated_minutes_match_the_formula(slug):
    path = chapters()[slug].path
    measured = minutes.length(notebook(path))
    assert minutes.stated(minutes.markdown(path)) == (measured.minutes, measured.exercise_minutes)


def test_length_is_counted_as_documented():
    text = """(ch-a)=
# Three words here

Two $x + y$ words.

$$
a = b
$$ (eq-a)

:::{admonition} In this chapter
:class: tip
Left out.
:::

:::{admonition} Warm-up
Three words here.
:::

:::{dropdown} Answer
Left out.
:::

:::{dropdown} Proof
Four words of proof.
:::

```python
left = out
```

## Exercises

:::{exercise}
:label: ex-a
Left out.
:::

## What comes next

Nothing."""
    page = {"cells": [cell(text, kind="markdown"), cell("x = 1"), cell("y", "hide-input")]}
    measured = minutes.length(page)
    # title, sentence with its formula, displayed formula, warm-up, last section with its heading
    assert measured.words == 3 + 3 + minutes.DISPLAY + 3 + 4
    assert (measured.proof_words, measured.cells, measured.warm_ups) == (4, 1, 1)
    assert measured.exercises == 1
    long = minutes.Length(2000, 120, 10, 3, 2, 4)
    assert (long.minutes, long.exercise_minutes) == (40, 40)  # 20 + 2 + 13 + 6 = 41


def test_the_guide_states_the_times_of_all_chapters():
    stated = [minutes.stated(minutes.markdown(chapter.path)) for chapter in chapters().values()]
    expected = minutes.guide_sentence(*zip(*filter(None, stated)))
    assert expected in (checks.BOOK / "how_to_run.md").read_text(encoding="utf8")


PATHS = minutes.paths(minutes.markdown(checks.BOOK / "index.ipynb"))


def test_the_landing_page_has_paths_for_readers_and_practitioners():
    assert len(PATHS) >= 3
    assert "use-it" in PATHS["For practitioners"][1]


@pytest.mark.parametrize("name", PATHS)
def test_paths_contain_prerequisites_in_order_and_state_their_hours(name):
    hours, slugs = PATHS[name]
    read = set()
    for slug in slugs:
        text = minutes.markdown(chapters()[slug].path)
        assert set(minutes.needs(text)) <= read, slug
        read.add(slug)
    total = sum(minutes.stated(minutes.markdown(chapters()[slug].path))[0] for slug in slugs)
    assert hours == minutes.hours(total)


@pytest.mark.parametrize("slug", chapters())
def test_chapter_boxes_list_their_symbols(slug):
    assert "**Symbols**" in minutes.markdown(chapters()[slug].path)


def test_at_most_six_letters_have_two_meanings():
    text = (checks.BOOK / "notation.md").read_text(encoding="utf8")
    section = text.split("## Letters with two meanings")[1].split("\n(")[0]
    rows = [line for line in section.splitlines() if line.startswith("| $")]
    assert 1 <= len(rows) <= 6
