import re

import pandas as pd
import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import ResultsError, four_points, load, outdated, run_all
from renyi_book.experiments._store import manifest
from renyi_book.experiments._tables import STORED


@pytest.fixture
def folder(tmp_path):
    run_all(tmp_path / "results", names=["four_points"], workers=1, progress=False)
    return tmp_path / "results"


def test_a_stored_table_is_read_back(folder):
    pd.testing.assert_frame_equal(load("four_points", folder), four_points(), check_dtype=False)


def test_progress_shows_the_rows_and_the_seconds_of_each_table(tmp_path, capsys):
    run_all(tmp_path, names=["four_points"], workers=1)
    assert re.search(r"four_points +300 rows +\d+\.\d s of CPU", capsys.readouterr().out)


def test_the_number_of_processes_does_not_change_the_results(tmp_path):
    for workers in (1, 2):
        names = ["four_points", "theorems"]
        run_all(tmp_path / str(workers), names=names, workers=workers, progress=False)
    for name in ("four_points.csv", "theorems.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_the_manifest_says_when_and_how_a_table_was_made(folder):
    about = manifest(folder)["four_points"]
    assert about["parameters"] == {"lams": list(range(1, 301)), "max_iter": 50}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", about["date"])
    assert {"python", "renyi-lib", "numpy", "scikit-learn"} <= set(about["versions"])


def test_a_missing_or_edited_file_raises(folder):
    with pytest.raises(ResultsError, match=r"no stored result 'theorems'.*NAMES=theorems"):
        load("theorems", folder)
    path = folder / "four_points.csv"
    path.write_text(path.read_text().replace("True", "False", 1))
    with pytest.raises(ResultsError, match="not the file that was stored"):
        load("four_points", folder)


def test_unknown_names_raise(tmp_path):
    with pytest.raises(ValueError, match="names must be among"):
        run_all(tmp_path, names=["table_9"])
    with pytest.raises(ValueError, match="name must be one of"):
        load("table_9", tmp_path)


def test_missing_tables_are_out_of_date(folder):
    lines = []
    assert outdated(folder, report=lines.append) == [n for n in STORED if n != "four_points"]
    assert len(lines) == len(STORED) - 1


@pytest.mark.parametrize("name", STORED)
def test_the_manifest_of_the_book_gives_the_versions_behind_each_table(name):
    """Of the computation or, where these were not recorded, of the slice that verified it."""
    about = manifest(BOOK / "results")[name]
    versions = about["versions"] or about["verified"]["versions"]
    assert {"python", "renyi-lib", "numpy"} <= set(versions)
