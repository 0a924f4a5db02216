import json

import pandas as pd
import pytest

from renyi_book.experiments import StaleResultsError, _store, four_points, load, run_all


@pytest.fixture
def folder(tmp_path):
    run_all(tmp_path / "results", names=["four_points"], workers=1, progress=False)
    return tmp_path / "results"


def test_a_stored_table_comes_back(folder):
    pd.testing.assert_frame_equal(load("four_points", folder), four_points(), check_dtype=False)


def test_results_of_other_code_are_refused(folder):
    manifest = folder / "manifest.json"
    known = json.loads(manifest.read_text())
    known["four_points"]["code"] = "0" * 64
    manifest.write_text(json.dumps(known))
    with pytest.raises(StaleResultsError, match=r"the library has changed.*make experiments"):
        load("four_points", folder)


def test_a_file_that_was_edited_is_refused(folder):
    path = folder / "four_points.csv"
    path.write_text(path.read_text().replace("True", "False", 1))
    with pytest.raises(StaleResultsError, match="not the file that was stored"):
        load("four_points", folder)


def test_a_result_that_is_not_there_is_refused(folder):
    with pytest.raises(StaleResultsError, match="no stored result 'theorems'"):
        load("theorems", folder)


def test_an_unknown_name_is_refused(tmp_path):
    with pytest.raises(ValueError, match="names must be of"):
        run_all(tmp_path, names=["table_9"])
    with pytest.raises(ValueError, match="name must be one of"):
        load("table_9", tmp_path)


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ('"""Other words."""\nx = 1\n', True),
        ("# a comment\n\n\nx  =  1\n", True),
        ("x = 2\n", False),
        ("y = 1\n", False),
        ("x = 1\nx = 1\n", False),
    ],
)
def test_the_checksum_sees_code_and_not_comments(tmp_path, monkeypatch, after, same):
    monkeypatch.setattr(_store, "_PACKAGE", tmp_path)
    (tmp_path / "module.py").write_text('"""Words."""\nx = 1\n')
    before = _store.code_checksum()
    (tmp_path / "module.py").write_text(after)
    assert (_store.code_checksum() == before) is same


def test_the_checksum_does_not_see_what_no_experiment_runs_through(tmp_path, monkeypatch):
    monkeypatch.setattr(_store, "_PACKAGE", tmp_path)
    before = _store.code_checksum()
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "ch01.py").write_text("x = 1\n")
    assert _store.code_checksum() == before
