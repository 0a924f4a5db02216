"""The comparison of chapters' outputs, as a function and in an nbval run."""

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import nbformat.v4 as nbf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from renyi_book.compare_outputs import differences

BOOK = Path(__file__).resolve().parents[2] / "book"

AGREE = [
    ("0.812", "0.813"),
    ("0.3", "0.301"),
    ("-0.0", "0.0"),
    ("-0", "0"),
    ("-0.00", "+0.01"),
    ("\u22120.25", "\u22120.24"),
    ("1.0e-05", "9.9e-06"),
    ("2e-05", "3e-05"),
    ("1,234.5", "1,234.4"),
    ("45.3 %", "45.4 %"),
    ("0.35s", "0.36s"),
    (".039", ".040"),
    ("array([ 0.1 , -0.25])", "array([0.101, -0.25])"),
    ("[ 0.12 -0.  ]", "[0.12 0.  ]"),
    ("a   1\nbb  2 ", "a 1\n bb 2"),
    ("nan inf", "nan  inf"),
    ("<td>0.12</td>", "<td>0.13</td>"),
    ("between 0.1-0.3 and 0.5.", "between 0.2-0.4 and 0.6."),
]
DIFFER = [
    ("0.812", "0.814"),
    ("0.3", "0.302"),
    ("0.05", "-0.05"),
    ("2e-05", "4e-05"),
    ("216", "217"),
    ("1.", "2."),
    ("3", "3.0"),
    ("45 %", "46 %"),
    ("nan", "0.0"),
    ("inf", "-inf"),
    ("0.1", "nan"),
    ("0.1 0.2", "0.1"),
    ("0.1", "0.1\n"),
    ("0.1", "0.1 %"),
    ("yes 0.1", "no 0.1"),
    ("version 1.2.3", "version 1.2.4"),
    ("x0.1", "x0.2"),
    ("3e5f", "4e5f"),
    ('<td style="width: 0.1em">1</td>', '<td style="width: 0.2em">1</td>'),
    ("<style>.a {opacity: 0.1}</style>", "<style>.a {opacity: 0.2}</style>"),
    ("0.1\n0.2", "0.1 0.2"),
]


@pytest.mark.parametrize(("expected", "actual"), AGREE)
def test_equal_outputs_agree(expected, actual):
    assert differences(expected, actual) == differences(actual, expected) == []


@pytest.mark.parametrize(("expected", "actual"), DIFFER)
def test_different_outputs_are_reported(expected, actual):
    assert differences(expected, actual)
    assert differences(actual, expected)


def test_all_wrong_numbers_are_reported():
    assert differences("0.1 in 5, 0.30", "0.3 in 6, 0.31") == ["0.1 became 0.3", "5 became 6"]


def test_stated_tolerance_replaces_the_default():
    assert not differences("loss 0.81 after 216 steps", "loss 0.85 after 220 steps", tolerance=4)
    assert differences("loss 0.81 after 216 steps", "loss 0.85 after 220 steps", tolerance=3)
    assert differences("0.81", "0.82", tolerance=0)


@pytest.mark.parametrize("tolerance", [-1, float("nan"), "0.1"])
def test_invalid_tolerance_raises(tolerance):
    with pytest.raises(ValueError, match="tolerance must be None or a number, 0 or more"):
        differences("1", "1", tolerance)


printed = st.tuples(st.integers(-(10**9), 10**9), st.integers(1, 6), st.sampled_from("fe"))


@given(printed, st.integers(-5, 5), st.text(alphabet="ab :,[]\n<>/%", max_size=8))
def test_only_one_unit_of_the_last_digit_is_accepted(number, steps, words):
    digits, places, kind = number
    exponent = "e-07" if kind == "e" else ""
    old, new = (f"{words} {n / 10**places:.{places}f}{exponent}" for n in (digits, digits + steps))
    assert bool(differences(old, new)) == (abs(steps) > 1)


@given(st.text(max_size=40), st.integers(0, 40))
def test_every_text_agrees_with_itself_and_no_letter_may_change(text, place):
    assert not differences(text, text)
    if place < len(text) and text[place].isalpha():
        assert differences(text, text[:place] + "#" + text[place + 1 :])


def cell(source, stored, checked=True, **metadata):
    """A code cell whose stored output is `stored`, printed or shown."""
    if source.startswith("print"):
        outputs = [nbf.new_output("stream", name="stdout", text=stored)]
    else:
        data = {"text/plain": "table", "text/html": stored}
        outputs = [nbf.new_output("execute_result", data, execution_count=1)]
    tags = ["nbval-check-output"] if checked else []
    return nbf.new_code_cell(
        source, outputs=outputs, execution_count=1, metadata={"tags": tags, **metadata}
    )


TABLE = """
class Table:
    __repr__ = lambda self: "table"
    _repr_html_ = lambda self: "<td>0.812</td>"
Table()
"""
CELLS = {
    "exact": (cell("print(0.812, 25)", "0.812 25\n"), True),
    "last digit": (cell("print(0.812, 25)", "0.813 25\n"), True),
    "two digits off": (cell("print(0.812, 25)", "0.814 25\n"), False),
    "count": (cell("print(0.812, 25)", "0.812 26\n"), False),
    "words": (cell("print('loss', 0.812)", "risk 0.812\n"), False),
    "tolerance": (cell("print(0.812)", "0.814\n", tolerance=0.002), True),
    "beyond tolerance": (cell("print(0.812)", "0.815\n", tolerance=0.002), False),
    "table": (cell(TABLE, "<td>0.813</td>"), True),
    "wrong table": (cell(TABLE, "<td>0.912</td>"), False),
    "unchecked": (cell("print(0.812)", "0.9\n", checked=False), True),
    "stderr": (cell("import sys; sys.stderr.write('!');", "", checked=False), False),
    "warning": (cell("import warnings; warnings.warn('!')", "", checked=False), False),
    "exception": (cell("1 / 0", "", checked=False), False),
}


@pytest.fixture(scope="module")
def nbval_run(tmp_path_factory):
    """Return which cells of a notebook pass when it is tested like a chapter, and the report."""
    folder = tmp_path_factory.mktemp("book")
    shutil.copy(BOOK / "conftest.py", folder)
    cells = [cell for cell, _ in CELLS.values()]
    (folder / "chapter.ipynb").write_text(nbf.writes(nbf.new_notebook(cells=cells)))
    options = "--nbval-lax -n 1 --dist loadfile --junitxml report.xml -p no:cacheprovider"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split(), "chapter.ipynb"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    cases = ET.parse(folder / "report.xml").iter("testcase")
    return [case.find("failure") is None for case in cases], run.stdout


@pytest.mark.parametrize("name", CELLS)
def test_nbval_uses_the_comparison(nbval_run, name):
    passed, report = nbval_run
    assert len(passed) == len(CELLS), report
    assert passed[list(CELLS).index(name)] == CELLS[name][1], report


def test_report_shows_the_wrong_numbers(nbval_run):
    assert "0.814 became 0.812" in nbval_run[1]
    assert "The cell wrote to stderr" in nbval_run[1]
