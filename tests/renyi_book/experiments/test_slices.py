"""A slice of each stored table is recomputed and compared."""

import shutil
from dataclasses import replace

import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import _slices, load
from renyi_book.experiments import _store as store
from renyi_book.experiments._tables import STORED

RESULTS = BOOK / "results"


@pytest.mark.parametrize("name", STORED)
def test_a_recomputed_slice_agrees_with_the_stored_table(name):
    assert _slices.differences(name, RESULTS) == []


# --- Changes that the comparison detects, on tables that are quick to compute --------------------


@pytest.fixture
def folder(tmp_path):
    """A copy of the stored table of the theorems."""
    for name in ("theorems.csv", "manifest.json"):
        shutil.copy(RESULTS / name, tmp_path)
    return tmp_path


def edited(folder, column, factor, row):
    """Multiply one number of the copy."""
    table = load("theorems", folder)
    table.loc[row, column] *= factor
    (folder / "theorems.csv").write_text(store.csv_text(table))


def test_checksum_detects_a_number_changed_by_two_percent(folder):
    edited(folder, "theorem_1", 1.02, row=50)
    assert _slices.differences("theorems", folder) == [
        "theorems.csv is not the file that was stored"
    ]


def test_slice_detects_a_number_changed_by_two_percent(folder):
    edited(folder, "theorem_1", 1.02, row=50)
    # The checksum has been renewed as well.
    about = store.manifest(folder)["theorems"]
    store._describe(folder, "theorems", about | {"file": store._sha256(folder / "theorems.csv")})
    (problem,) = _slices.differences("theorems", folder)
    assert problem.startswith("theorem_1 differs in 1 of ")


def test_a_difference_below_the_tolerance_is_ignored():
    table = load("theorems", RESULTS)
    nudged = table.assign(theorem_1=table["theorem_1"] * (1 + 1e-5))
    assert _slices.compare("theorems", nudged, table) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda t: t.assign(more=1), "columns that are not stored: ['more']"),
        (lambda t: t.assign(seed=t["seed"] + 7), "28 rows are not stored"),
        (lambda t: t.assign(theorem_2=0.5), "theorem_2 differs in 100 of 100 rows"),
    ],
)
def test_changed_rows_columns_or_missing_values_are_detected(change, problem):
    table = load("theorems", RESULTS)
    (found,) = _slices.compare("theorems", change(table), table)
    assert problem in found


def test_changed_parameters_are_detected(folder, monkeypatch):
    monkeypatch.setitem(STORED, "theorems", replace(STORED["theorems"], options={"sweeps": 9}))
    assert _slices.differences("theorems", folder) == ["its parameters have changed"]


def test_words_are_compared_as_text():
    table = load("four_points", RESULTS)
    (found,) = _slices.compare("four_points", table.assign(fair=~table["fair"]), table)
    assert found.startswith("fair differs in 300 of 300 rows")


def test_clock_columns_are_not_compared():
    table = load("timing", RESULTS)
    assert _slices.compare("timing", table.assign(seconds=9.0), table) == []
