"""The kinds of exercise, and how `check` finds them."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_book.checks import Choice, Function, Mistake, Number, Predicate, check, exercises

HALF = Number("a number", answer=0.5, why="It is.", mistakes=[Mistake(0.7, "Seven.")])
ROW = Number("three numbers", answer=lambda: np.array([1.0, 2, 4]), why="Yes.", mistakes=[])
PAIR = Number('"a" and "b"', answer={"a": 1.0, "b": [2.0, 3.0]}, why="Both.", mistakes=[])
CUBE = Function(
    "a function",
    answer=lambda x: x**3,
    why="Thrice.",
    cases=lambda: [(2.0,), (np.arange(40.0),)],
    mistakes=[Mistake(lambda x: x**2, "Twice.")],
)


@pytest.mark.parametrize("same", [0.5, np.float32(0.5), np.array(0.5), Fraction(1, 2)])
def test_number_of_any_type_is_accepted(same):
    assert HALF.check(same)


@pytest.mark.parametrize("same", [[1, 2, 4], (1, 2, 4), np.array([1, 2, 4]), pd.Series([1, 2, 4])])
def test_row_in_any_container_is_accepted(same):
    assert ROW.check(same)


@settings(deadline=None, derandomize=True)
@given(st.floats(-1e6, 1e6))
def test_number_is_correct_if_and_only_if_within_the_tolerance(x):
    assert bool(HALF.check(x)) == (abs(x - 0.5) <= 1e-9 + 0.5e-6)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (50, "percent"),
        (0.005, "percentage"),
        (-0.5, "sign"),
        (0.25, "square of the right number"),
        (np.sqrt(0.5), "square root"),
        (0.7, "Seven."),
        (0.50001, "without rounding"),
        (0.504, "within one percent, and too large"),
        (0.46, "within ten percent, and too small"),
        (0.9, "order of magnitude"),
        (1e5, "far off"),
        ("0.5", "`str`"),
        (True, "`bool`"),
        (0.5j, "`complex`"),
        (np.inf, "infinite"),
        ([0.5], "single number"),
        ([[1], [1, 2]], "different lengths"),
        ({"a": 0.5}, "dictionary"),
    ],
)
def test_a_wrong_number_gets_a_diagnosis(wrong, says):
    verdict = HALF.check(wrong)
    assert not verdict
    assert says in verdict.message


def test_diagnosis_does_not_reveal_the_distance_to_the_answer():
    for given_number in (0.0, 0.1, 0.4, 0.6, 3.0):
        assert "0.5" not in repr(HALF.check(given_number))


def test_the_diagnosis_counts_wrong_entries():
    assert "2 of the 3 entries are wrong" in ROW.check([1, 2.05, 4.1]).message
    assert "1 of the 3 entries is wrong" in ROW.check([1, 2, 4.1]).message
    assert "shape (3,)" in ROW.check([1, 2]).message


def test_a_dictionary_needs_its_keys_and_their_shapes():
    assert PAIR.check({"b": [2, 3], "a": 1})
    assert "keys" in PAIR.check({"a": 1}).message
    assert "'b'" in PAIR.check({"a": 1, "b": 2}).message
    assert "not a dictionary" in PAIR.check([1, 2, 3]).message


def test_reference_answer_is_computed_once_and_lazily():
    calls = []
    lazy = Number("a number", answer=lambda: calls.append(1) or 3.0, why="Three.", mistakes=[])
    assert calls == []
    assert lazy.check(3)
    assert lazy.check(3)
    assert calls == [1]


def test_function_is_run_and_a_wrong_one_is_diagnosed():
    assert CUBE.check(lambda x: x * x * x)
    assert CUBE.check(lambda x: x * x).message == "Twice."
    assert "1 of 2 cases right" in CUBE.check(lambda x: 8.0 + 0 * x).message


def test_a_failing_function_gets_a_verdict_that_names_the_case():
    def too_long(x):
        raise KeyError("lost")

    assert (
        CUBE.check(too_long).message == "Called with (2.0), your function raised KeyError: 'lost'."
    )
    assert "In case 2 of 2" in CUBE.check(lambda x: 8.0).message
    assert "a value of type `int`" in CUBE.check(3).message


def test_a_function_may_modify_its_arguments():
    def spoils(x):
        cube = x**3
        if np.ndim(x):
            x[:] = 0
        return cube

    assert CUBE.check(spoils)
    assert CUBE.check(spoils)


def test_a_choice_ignores_case():
    yes = Choice("is it", options=("yes", "no"), answer="yes", why="Y.", mistakes={"no": "N."})
    assert yes.check(" YES ")
    assert yes.check("no").message == "N."
    for nonsense in ("maybe", None, 1, ["yes"]):
        assert "'yes', 'no'" in yes.check(nonsense).message


def test_choice_tolerates_misspelling_but_not_a_wrong_option():
    sign = Choice(
        "w",
        options=("1 − w", "Rényi, h = 1"),
        answer="1 − w",
        why="W.",
        mistakes={"Rényi, h = 1": "R."},
    )
    assert sign.check("1-w")
    assert sign.check("renyi, h=1").message == "R."


def test_known_mistake_is_named_only_if_it_changes_the_number():
    rough = Number("a power", answer=1.0, why="One.", mistakes=[], atol=0.15)
    assert "square" not in rough.check(1.2).message
    assert "sign" in rough.check(-1.1).message


def test_predicate_accepts_any_object_with_the_property():
    even = Predicate(
        "even", lambda n: "Odd." if n % 2 else None, "Even.", [2], [Mistake(1, "Odd")]
    )
    assert even.check(4)
    assert even.check(5).message == "Odd."
    assert "raised TypeError" in even.check([]).message


def test_a_verdict_is_a_boolean_with_text_and_markdown():
    verdict = HALF.check(0.5)
    assert repr(verdict) == "Right. It is."
    assert verdict._repr_markdown_() == "**Right.** It is."
    assert HALF.check(1)._repr_markdown_().startswith("**Not yet.**")


def test_unknown_key_error_lists_the_valid_keys():
    with pytest.raises(
        ValueError, match="'fairness-is-independence/1', 'fairness-is-independence/2'"
    ):
        check("fairness-is-independence/99", 1)
    with pytest.raises(ValueError, match=r"the chapters are .*theorem-1, theorem-2"):
        check("theorem-99/1", 1)
    for malformed in ("1", "theorem-1", "theorem-1/", 3, None):
        with pytest.raises(ValueError, match="theorem-1/2"):
            check(malformed, 1)


def test_an_unfilled_placeholder_is_not_an_answer():
    assert check("fairness-is-independence/1", ...) == check("fairness-is-independence/1")


def test_the_list_of_exercises_describes_the_answers():
    listed = exercises()
    of_one = exercises("theorem-1")
    assert set(of_one) == {key for key in listed if key.startswith("theorem-1/")}
    assert all(isinstance(wants, str) and wants for wants in listed.values())


def test_a_chapter_is_loaded_on_demand():
    code = (
        "import sys, renyi_book.checks as c\n"
        "names = lambda: sorted(m for m in sys.modules if m.startswith('renyi_book.checks.'))\n"
        "loaded = lambda: [name for name in names() if not name.endswith('_kinds')]\n"
        "assert loaded() == [], loaded()\n"
        "c.check('fairness-is-independence/3')\n"
        "assert loaded() == ['renyi_book.checks.fairness_is_independence'], loaded()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
