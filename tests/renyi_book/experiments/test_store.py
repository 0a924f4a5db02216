import io
import re
import shutil
from contextlib import redirect_stdout

import pandas as pd
import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import ResultsError, four_points, load, outdated, run_all, theorems
from renyi_book.experiments._store import manifest
from renyi_book.experiments._tables import STORED


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of two tables, made by two processes, and what was printed."""
    folder, printed = tmp_path_factory.mktemp("results") / "new", io.StringIO()
    with redirect_stdout(printed):
        run_all(folder, names=["four_points", "theorems"])
    return folder, printed.getvalue()


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made[0], tmp_path / "results")


def test_stored_tables_are_read_back(folder):
    pd.testing.assert_frame_equal(load("four_points", folder), four_points(), check_dtype=False)
    pd.testing.assert_frame_equal(
        load("theorems", folder), theorems(), check_dtype=False, rtol=1e-5
    )


def test_progress_shows_the_rows_and_the_seconds_of_each_table(made):
    assert re.search(r"four_points +300 rows +\d+\.\d s of CPU", made[1])


def test_the_manifest_records_when_and_how_a_table_was_made(folder):
    about = manifest(folder)["four_points"]
    assert about["parameters"] == {"lams": list(range(1, 301)), "max_iter": 50}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", about["date"])
    assert {"python", "renyi-lib", "numpy", "scikit-learn"} <= set(about["versions"])


def test_a_missing_or_edited_file_raises(folder):
    with pytest.raises(ResultsError, match=r"no stored result 'network'.*NAMES=network"):
        load("network", folder)
    path = folder / "four_points.csv"
    path.write_text(path.read_text().replace("True", "False", 1))
    with pytest.raises(ResultsError, match="not the file that was stored"):
        load("four_points", folder)


def test_table_computed_by_a_script_names_the_script(tmp_path):
    with pytest.raises(ValueError, match=r"run benchmarks/bench_frontier\.py"):
        run_all(tmp_path, names=["benchmark_frontier"])
    scripts = [BOOK.parent / about.script for about in STORED.values() if about.script]
    assert all(script.is_file() for script in scripts)


def test_unknown_names_raise(tmp_path):
    with pytest.raises(ValueError, match="names must be among"):
        run_all(tmp_path, names=["table_9"])
    with pytest.raises(ValueError, match="name must be one of"):
        load("table_9", tmp_path)


def test_missing_tables_are_out_of_date(folder):
    lines = []
    made = ("four_points", "theorems")
    assert outdated(folder, report=lines.append) == [n for n in STORED if n not in made]
    assert len(lines) == len(STORED) - len(made)


@pytest.mark.parametrize("name", STORED)
def test_the_manifest_of_the_book_gives_the_versions_behind_each_table(name):
    """They are those of the computation or, if not recorded, of the slice that verified it."""
    about = manifest(BOOK / "results")[name]
    versions = about["versions"] or about["verified"]["versions"]
    assert {"python", "renyi-lib", "numpy"} <= set(versions)
