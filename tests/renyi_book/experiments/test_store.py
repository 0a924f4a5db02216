import json
import re
import shutil
import time

import pandas as pd
import pytest

from renyi_book.experiments import StaleResultsError, _store, four_points, load, run_all, stale
from renyi_book.reach import packages


@pytest.fixture
def folder(tmp_path):
    run_all(tmp_path / "results", names=["four_points"], workers=1, progress=False)
    return tmp_path / "results"


def test_a_stored_table_comes_back(folder):
    pd.testing.assert_frame_equal(load("four_points", folder), four_points(), check_dtype=False)


def test_progress_tells_the_rows_and_the_seconds_of_each_table(tmp_path, capsys):
    run_all(tmp_path, names=["four_points"], workers=1)
    assert re.search(r"four_points +300 rows +\d+\.\d s of CPU", capsys.readouterr().out)


def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    for workers in (1, 2):
        names = ["four_points", "theorems"]
        run_all(tmp_path / str(workers), names=names, workers=workers, progress=False)
    for name in ("four_points.csv", "theorems.csv", "manifest.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_results_of_other_code_are_refused(folder):
    manifest = folder / "manifest.json"
    known = json.loads(manifest.read_text())
    known["four_points"]["code"] = "0" * 64
    manifest.write_text(json.dumps(known))
    changed = r"the code behind 'four_points' has changed.*make refresh"
    with pytest.raises(StaleResultsError, match=changed):
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


def test_what_is_not_there_or_was_edited_is_stale(folder):
    others = [name for name in _store.STORED if name != "four_points"]
    assert stale(folder) == others
    (folder / "four_points.csv").write_text("lam,fair\n")
    assert stale(folder) == list(_store.STORED)


# --- Which edit makes which table stale: on a copy of the code -----------------------------------


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A copy of the packages, and the checksums of its tables."""
    root = tmp_path_factory.mktemp("original")
    for name, folder in packages().items():
        shutil.copytree(folder, root / name, ignore=shutil.ignore_patterns("data", "__pycache__"))
    return root, checksums(root)


@pytest.fixture
def copy(original):
    """The copy, to edit, and a way to see which tables are touched; mended afterwards."""
    root, before = original
    texts = {path: path.read_bytes() for path in root.rglob("*.py")}

    def touched():
        after = checksums(root)
        return {name for name in before if before[name] != after[name]}

    yield root, touched
    for path, text in texts.items():
        if path.read_bytes() != text:
            path.write_bytes(text)


def checksums(root):
    folders = {name: root / name for name in packages()}
    return {name: _store.code_checksum(name, folders) for name in _store.STORED}


def append(path, text):
    path.write_text(path.read_text(encoding="utf8") + text, encoding="utf8")


def substitute(root, pattern, replacement):
    """Replace in every file of the packages; how often."""
    total = 0
    for path in root.rglob("*.py"):
        text, count = re.subn(
            pattern, replacement, path.read_text(encoding="utf8"), flags=re.MULTILINE
        )
        if count:
            path.write_text(text, encoding="utf8")
        total += count
    return total


CLASSIFIED = {
    "starting_points",
    "equal_opportunity",
    "equal_opportunity_rivals",
    "penalties_adult",
    "penalties_bank",
    "penalties_german",
    "penalties_adult_gender_race",
    "boundary_covariance",
}
CLUSTERED = {"clusters_adult", "clusters_bank"}
ALGORITHM_3 = CLUSTERED | {"clusters_stop", "toy_clusters", "four_points", "multiverse"}
MEASURED = CLASSIFIED | {"network", "multiverse", "boosting"}
BATCHED = {
    f"fermi_{problem}{part}" for problem in ("gender", "occupation") for part in ("", "_one")
}


@pytest.mark.parametrize(
    ("module", "name", "tables"),
    [
        ("renyi_book/experiments/_theory.py", "theorems", {"theorems"}),
        ("renyi_book/experiments/_clusters.py", "fair_clusters", CLUSTERED),
        ("renyi_book/experiments/_network.py", "fair_network", {"network"}),
        ("renyi_book/experiments/_fermi.py", "train", BATCHED),
        ("renyi_lib/stochastic.py", "Fermi", BATCHED),
        ("renyi_book/experiments/_classification.py", "_tidy", CLASSIFIED),
        ("renyi_book/experiments/_measures.py", "measures", MEASURED),
        ("renyi_lib/clustering.py", "RenyiKMeans", ALGORITHM_3),
        ("renyi_book/experiments/_multiverse.py", "_row", {"multiverse"}),
        ("renyi_lib/baselines/neural_network.py", "RenyiNetworkClassifier", {"network"}),
        (
            "renyi_lib/datasets/_german.py",
            "load_german",
            MEASURED | {"convergence", "timing", "promises"},
        ),
        ("renyi_book/experiments/_promises.py", "_outcome", {"promises"}),
        ("renyi_book/plotting.py", "show", set()),
        ("renyi_book/scorecard/table.py", "findings", set()),
        ("renyi_book/experiments/_summary.py", "interval", {"multiverse"}),
        ("renyi_book/experiments/_summary.py", "summarize", set()),
    ],
)
def test_an_edit_makes_the_tables_stale_that_reach_it(copy, module, name, tables):
    root, touched = copy
    append(root / module, f"\n{name} = {name}\n")
    assert touched() == tables


def test_words_in_errors_warnings_docstrings_and_comments_make_nothing_stale(copy):
    root, touched = copy
    assert substitute(root, r'((raise \w+|warnings\.warn)\(\s*f?")', r"\1Oh, ") > 50
    assert substitute(root, r'^(\s*""")(\w)', r"\1Oh, \2") > 200
    assert substitute(root, r"^(def .*)", r"# Oh\n\1") > 200
    assert touched() == set()


def test_a_type_of_error_makes_what_may_raise_it_stale(copy):
    root, touched = copy
    assert substitute(root, "raise ValueError", "raise KeyError") > 50
    assert touched() == set(_store.STORED)


def test_other_data_make_the_tables_stale_that_load_data(copy):
    root, touched = copy
    assert substitute(root / "renyi_lib" / "datasets", r"[0-9a-f]{63}([0-9a-f])", r"\1" * 64) >= 4
    simulated = {"calibration", "calibration_fairness", "theorems", "toy_clusters", "four_points"}
    assert touched() == set(_store.STORED) - simulated


def test_an_option_makes_its_table_stale(monkeypatch):
    before = _store.code_checksum("clusters_bank")
    monkeypatch.setitem(_store.STORED, "clusters_bank", ("fair_clusters", {"dataset": "bank"}))
    assert _store.code_checksum("clusters_bank") != before


def test_the_second_look_is_quick():
    _store.code_checksum("penalties_adult")
    began = time.process_time()
    _store.code_checksum("penalties_adult")
    assert time.process_time() - began < 0.05
