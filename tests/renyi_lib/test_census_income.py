"""Census-Income (KDD): UCI's files, which are not part of the package, and their contents."""

import gzip
import hashlib
import lzma
from functools import cache

import numpy as np
import pandas as pd
import pytest

from renyi_lib.datasets import DataFileError, _files, load_census_income

README = (_files.REPOSITORY_DATA / "README.md").read_text(encoding="utf-8")
ROWS = {"census-income.data": 199523, "census-income.test": 99762}


@cache
def loaded():
    """Load the data set once, because no test modifies it."""
    return load_census_income()


def both():
    return pd.concat([loaded().train, loaded().test])


# --- the files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _files.LARGE_SHA256)
def test_each_file_is_the_uci_original_and_the_readme_describes_it(name):
    packed = (_files.REPOSITORY_DATA / f"{name}.xz").read_bytes()
    content = lzma.decompress(packed)
    assert _files.is_genuine(name, content)
    assert content.count(b"\n") == ROWS[name]
    sha256 = _files.LARGE_SHA256[name]
    assert f"| `{name}` | {ROWS[name]} | {len(content)} | `{sha256}` |" in README
    assert len(packed) < 4e6


def test_readme_gives_license_and_doi():
    assert f"https://doi.org/{loaded().doi}" in README
    assert loaded().license == "CC BY 4.0"
    assert "CC BY 4.0" in README


@pytest.fixture
def small(monkeypatch):
    """A tiny stand-in for one of UCI's files."""
    content = b"1, 2\n"
    sha256 = hashlib.sha256(content).hexdigest()
    monkeypatch.setitem(_files.LARGE_SHA256, "census-income.data", sha256)
    monkeypatch.delenv("RENYI_LIB_DATA", raising=False)
    return content


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_files_are_read_plain_or_compressed_from_data_home(ending, pack, small, tmp_path):
    (tmp_path / f"census-income.data{ending}").write_bytes(pack(small))
    assert _files.read_large("census-income.data", "DOI", tmp_path) == small


def test_the_environment_variable_names_the_folder(small, tmp_path, monkeypatch):
    (tmp_path / "census-income.data").write_bytes(small)
    monkeypatch.setenv("RENYI_LIB_DATA", str(tmp_path))
    assert _files.read_large("census-income.data", "DOI") == small


def test_without_a_folder_the_repository_and_the_home_are_searched(small, tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "REPOSITORY_DATA", tmp_path / "nothing")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(DataFileError, match=r"nothing or .*renyi_lib_data\."):
        _files.read_large("census-income.data", "DOI")
    (tmp_path / "renyi_lib_data").mkdir()
    (tmp_path / "renyi_lib_data" / "census-income.data").write_bytes(small)
    assert _files.read_large("census-income.data", "DOI") == small


def test_missing_file_error_names_place_source_and_checksum(tmp_path):
    with pytest.raises(DataFileError) as caught:
        load_census_income(data_home=tmp_path)
    message = str(caught.value)
    for part in (
        "census-income.data is not in",
        str(tmp_path),
        "https://doi.org/10.24432/C5N30T",
        "RENYI_LIB_DATA",
        _files.LARGE_SHA256["census-income.data"],
    ):
        assert part in message


@pytest.mark.parametrize(
    ("ending", "content", "problem"),
    [
        ("", b"another file", "differs from UCI's census-income.data"),
        (".xz", b"no xz at all", "cannot be read"),
        (".gz", b"no gzip at all", "cannot be read"),
        (".gz", gzip.compress(b"1, 2\n", mtime=0)[:-4], "cannot be read"),
    ],
)
def test_a_damaged_file_raises(ending, content, problem, small, tmp_path):
    (tmp_path / f"census-income.data{ending}").write_bytes(content)
    with pytest.raises(DataFileError, match=problem):
        _files.read_large("census-income.data", "DOI", tmp_path)


# --- the tables ------------------------------------------------------------------------------


def test_columns_rows_and_classes_match_uci():
    census = loaded()
    assert census.train.shape == (199523, 42)
    assert census.test.shape == (99762, 42)
    assert list(census.train) == list(census.test) == list(census.descriptions)
    counts = {"- 50000.": 187141, "50000+.": 12382}
    assert census.train["income"].value_counts().to_dict() == counts
    # UCI's description: 6.2 % of the training rows and 6.2 % of the test rows are positive.
    shares = [(part["income"] == census.positive).mean() for part in (census.train, census.test)]
    np.testing.assert_allclose(shares, 0.062, atol=5e-4)


def test_first_row_matches_the_file():
    row = loaded().train.iloc[0]
    first = ["age", "class of worker", "detailed industry recode", "education", "sex", "year"]
    expected = [73, "Not in universe", "0", "High school graduate", "Female", "95"]
    assert row[first].tolist() == expected
    assert row["instance weight"] == 1700.09


def test_missing_values_are_preserved():
    train = loaded().train
    unknown = {column: int((train[column] == "?").sum()) for column in train}
    moved = [c for c in train if c.startswith("migration")]
    expected = {"state of previous residence": 708} | dict.fromkeys(moved, 99696)
    birth = ("father", "mother", "self")
    expected |= {f"country of birth {w}": n for w, n in zip(birth, (6713, 6119, 3393))}
    assert {column: n for column, n in unknown.items() if n} == expected
    # The questions on moving were not asked in 1995.
    assert ((train[moved[0]] == "?") == (train["year"] == "95")).all()
    assert (train["hispanic origin"] == "NA").sum() == 874
    assert not both().isna().any(axis=None)


def test_text_values_are_stripped():
    texts = both().select_dtypes(exclude="number")
    for column in texts:
        values = pd.Series(texts[column].unique())
        assert (values == values.str.strip()).all()


def test_category_codes_are_strings():
    numbers = set(loaded().train.select_dtypes("number"))
    assert numbers == {
        *("age", "wage per hour", "capital gains", "capital losses", "dividends from stocks"),
        *("instance weight", "num persons worked for employer", "weeks worked in year"),
    }


def test_gender_is_1_for_male_and_features_exclude_s_weight_and_target():
    census = loaded()
    encoded = census.encode(columns=["age"])
    np.testing.assert_array_equal(encoded.s_train, census.train["sex"] == "Male")
    assert np.bincount(encoded.s_train).tolist() == [103984, 95539]
    assert encoded.group_names == ("Female", "Male")
    assert not {"sex", "instance weight", "income"} & set(census.features)
    assert len(census.features) == 39
    np.testing.assert_array_equal(encoded.y_test, census.test["income"] == "50000+.")


def test_survey_weights_are_returned_with_the_arrays():
    census = loaded()
    encoded = census.encode(columns=["age"])
    np.testing.assert_array_equal(encoded.weight_train, census.train["instance weight"])
    np.testing.assert_array_equal(encoded.weight_test, census.test["instance weight"])
    assert encoded.weight_train.min() > 0


def test_gender_and_race_define_four_groups():
    encoded = loaded().encode(sensitive="gender-race", columns=["age"])
    assert len(encoded.group_names) == 4
    assert np.bincount(encoded.s_train).min() > 10000
