"""Data sets match UCI's files, and their encodings are learned from the training rows only."""

import gzip
import re
import struct
from dataclasses import FrozenInstanceError, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from renyi_lib.datasets import (
    DataFileError,
    FairDataset,
    Grouping,
    _files,
    load_adult,
    load_bank,
    load_german,
)
from renyi_lib.datasets._scaling import UnitNormScaler
from renyi_lib.datasets._sensitive import joint_codes, joint_names

LOADERS = {"adult": load_adult, "bank": load_bank, "german": load_german}
KMEANS_COLUMNS = ["capital-gain", "age", "fnlwgt", "capital-loss", "hours-per-week"]
PACKED = {name: (_files.DATA_FOLDER / f"{name}.gz").read_bytes() for name in _files.SHA256}
ORIGINAL = {name: gzip.decompress(content) for name, content in PACKED.items()}
README = (_files.DATA_FOLDER.parent / "README.md").read_text(encoding="utf-8")


@cache
def loaded(name):
    """Load a data set once for all tests that do not modify it."""
    return LOADERS[name]()


@cache
def plain(name):
    """Encode with the defaults, once for all tests that do not modify the result."""
    return loaded(name).encode()


def both(dataset):
    return pd.concat([dataset.train, dataset.test])


# --- the files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _files.SHA256)
def test_each_file_decompresses_to_the_uci_original(name):
    assert _files.is_genuine(name, ORIGINAL[name])
    assert _files.read_original(name) == ORIGINAL[name]


@pytest.mark.parametrize(
    ("name", "first_line"),
    [
        (
            "adult.data",
            "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, "
            "White, Male, 2174, 0, 40, United-States, <=50K",
        ),
        ("adult.test", "|1x3 Cross validator"),
        (
            "bank-full.csv",
            '"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";'
            '"day";"month";"duration";"campaign";"pdays";"previous";"poutcome";"y"',
        ),
        (
            "german.data",
            "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1",
        ),
    ],
)
def test_each_original_opens_with_its_known_first_line(name, first_line):
    assert ORIGINAL[name].decode().splitlines()[0] == first_line


@pytest.mark.parametrize("name", _files.SHA256)
def test_compressed_files_contain_neither_name_nor_time(name):
    magic, method, flags, mtime = struct.unpack("<2sBBI", PACKED[name][:8])
    assert (magic, method, flags, mtime) == (b"\x1f\x8b", 8, 0, 0)


def test_files_are_small_enough_for_a_package():
    assert sum(map(len, PACKED.values())) < 1.2e6


def test_readme_states_the_checksum_rows_and_bytes_of_each_file():
    rows = {"adult.data": 32561, "adult.test": 16281, "bank-full.csv": 45211, "german.data": 1000}
    for name, sha256 in _files.SHA256.items():
        size = len(ORIGINAL[name])
        assert f"| `{name}` | {rows[name]} | {size} | `{sha256}` |" in README


def test_readme_gives_the_license_and_the_doi_of_each_data_set():
    for name in LOADERS:
        assert f"https://doi.org/{loaded(name).doi}" in README
        assert loaded(name).license == "CC BY 4.0"
    assert "CC BY 4.0" in README


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """A copy of the package's data folder that a test may damage."""
    monkeypatch.setattr(_files, "DATA_FOLDER", tmp_path)
    for name, content in PACKED.items():
        (tmp_path / f"{name}.gz").write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (load_adult, "adult.data"),
        (load_adult, "adult.test"),
        (load_bank, "bank-full.csv"),
        (load_german, "german.data"),
    ],
)
def test_a_missing_file_raises_with_a_remedy(load, name, data_folder):
    load()
    (data_folder / f"{name}.gz").unlink()
    with pytest.raises(DataFileError, match=rf"{re.escape(name)}\.gz is missing") as caught:
        load()
    assert "python -m renyi_book.rebuild" in str(caught.value)
    assert "einstall" in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: b"no gzip at all", id="not gzip"),
        pytest.param(lambda content: gzip.compress(content)[:-500], id="cut off"),
        pytest.param(lambda content: gzip.compress(content)[:40] + b"x" * 400, id="garbled"),
        pytest.param(
            lambda content: gzip.compress(content.replace(b"\n", b"\r\n")), id="other line ends"
        ),
        pytest.param(lambda content: gzip.compress(content + b"\n"), id="one byte more"),
    ],
)
def test_a_damaged_file_raises_with_a_remedy(damage, data_folder):
    (data_folder / "german.data.gz").write_bytes(damage(ORIGINAL["german.data"]))
    with pytest.raises(DataFileError, match=r"german\.data\.gz (cannot be read|is damaged)") as e:
        load_german()
    assert "python -m renyi_book.rebuild" in str(e.value)
    load_bank()  # the other files are intact


# --- the raw tables --------------------------------------------------------------------------


def test_adult_matches_the_columns_rows_and_class_counts_of_uci():
    adult = loaded("adult")
    names = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race "
        "sex capital-gain capital-loss hours-per-week native-country income"
    )
    assert list(adult.train) == list(adult.test) == names.split()
    assert adult.train["income"].value_counts().to_dict() == {"<=50K": 24720, ">50K": 7841}
    assert adult.test["income"].value_counts().to_dict() == {"<=50K": 12435, ">50K": 3846}


def test_adult_rows_match_the_files_in_order():
    adult = loaded("adult")
    lines = ORIGINAL["adult.test"].decode().splitlines()
    assert adult.train.iloc[0].tolist() == [
        *[39, "State-gov", 77516, "Bachelors", 13, "Never-married", "Adm-clerical"],
        *["Not-in-family", "White", "Male", 2174, 0, 40, "United-States", "<=50K"],
    ]
    for row in (0, 7, 16280):
        fields = lines[row + 1].removesuffix(".").split(", ")
        assert [str(value) for value in adult.test.iloc[row]] == fields


def test_adult_keeps_unknown_values_as_question_marks():
    train, test = loaded("adult").train, loaded("adult").test
    expected = {"workclass": (1836, 963), "occupation": (1843, 966), "native-country": (583, 274)}
    for column in train:
        counts = ((train[column] == "?").sum(), (test[column] == "?").sum())
        assert counts == expected.get(column, (0, 0))
    # UCI's own note: 30162 and 15060 rows remain when those with unknown values are removed.
    assert [(~(part == "?").any(axis=1)).sum() for part in (train, test)] == [30162, 15060]


def test_bank_matches_the_columns_rows_and_class_counts_of_uci():
    bank = loaded("bank")
    header = ORIGINAL["bank-full.csv"].decode().splitlines()[0].replace('"', "").split(";")
    assert list(bank.train) == list(bank.test) == header
    assert both(bank)["y"].value_counts().to_dict() == {"no": 39922, "yes": 5289}
    assert bank.train.iloc[0].tolist() == [
        *[58, "management", "married", "tertiary", "no", 2143, "yes", "no", "unknown", 5, "may"],
        *[261, 1, -1, 0, "unknown", "no"],
    ]


def test_bank_splits_in_file_order_after_32000_rows():
    bank = loaded("bank")
    assert bank.train.index.tolist() == list(range(32000))
    assert bank.test.index.tolist() == list(range(32000, 45211))


def test_bank_in_file_order_shifts_from_6_to_26_percent_positive():
    encoded = loaded("bank").encode(columns=["age"])
    assert encoded.y_train.mean() == pytest.approx(0.059, abs=5e-4)
    assert encoded.y_test.mean() == pytest.approx(0.257, abs=5e-4)


def test_german_has_its_columns_rows_class_counts_and_split():
    german = loaded("german")
    assert list(german.train) == [*(f"Attribute{i}" for i in range(1, 21)), "class"]
    assert both(german)["class"].value_counts().to_dict() == {1: 700, 2: 300}
    assert german.train.index.tolist() == list(range(800))
    assert german.test.index.tolist() == list(range(800, 1000))
    first = ORIGINAL["german.data"].decode().splitlines()[0].split()
    assert [str(value) for value in german.train.iloc[0]] == first


def test_german_has_seven_numerical_and_thirteen_categorical_features():
    train = loaded("german").train.drop(columns="class")
    assert train.select_dtypes("number").shape[1] == 7
    assert train.shape[1] == 20


@pytest.mark.parametrize("name", LOADERS)
def test_no_value_is_parsed_as_missing(name):
    assert not both(loaded(name)).isna().any(axis=None)


@pytest.mark.parametrize("name", LOADERS)
def test_descriptions_cover_exactly_the_columns(name):
    dataset = loaded(name)
    assert list(dataset.descriptions) == list(dataset.train)
    assert all(dataset.descriptions.values())


def test_german_explains_every_code_that_occurs():
    german = loaded("german")
    table = both(german)
    coded = [*table.select_dtypes(exclude="number"), "class"]
    assert list(german.codes) == coded
    for column in coded:
        assert set(table[column]) <= set(german.codes[column])
        for code, meaning in german.codes[column].items():
            assert f"{code} = {meaning}" in german.descriptions[column]


@pytest.mark.parametrize("name", LOADERS)
def test_modifying_a_data_set_does_not_affect_the_next_load(name):
    modified, clean = LOADERS[name](), loaded(name)
    modified.train.iloc[:, 0] = modified.train.iloc[0, 0]
    modified.descriptions.clear()
    modified.codes.clear()
    modified.sensitive_choices.clear()
    fresh = LOADERS[name]()
    pd.testing.assert_frame_equal(fresh.train, clean.train)
    assert fresh.descriptions == clean.descriptions
    assert fresh.codes == clean.codes
    assert fresh.sensitive_choices == clean.sensitive_choices


@pytest.mark.parametrize("name", LOADERS)
def test_data_sets_without_a_weight_column_have_no_weights(name):
    encoded = plain(name)
    assert loaded(name).weight is None
    assert encoded.weight_train is None
    assert encoded.weight_test is None


def test_data_sets_and_encodings_are_immutable():
    with pytest.raises(FrozenInstanceError):
        loaded("german").name = "other"
    with pytest.raises(FrozenInstanceError):
        loaded("german").encode().X_train = None


# --- the sensitive attribute -----------------------------------------------------------------


def test_adult_gender_is_1_for_male():
    adult, encoded = loaded("adult"), plain("adult")
    np.testing.assert_array_equal(encoded.s_train, adult.train["sex"] == "Male")
    np.testing.assert_array_equal(encoded.s_test, adult.test["sex"] == "Male")
    assert encoded.group_names == ("Female", "Male")
    assert np.bincount(encoded.s_train).tolist() == [10771, 21790]
    assert np.bincount(encoded.s_test).tolist() == [5421, 10860]


def test_adult_gender_race_crosses_male_with_white():
    adult = loaded("adult")
    encoded = adult.encode(sensitive="gender-race")
    male, white = adult.train["sex"] == "Male", adult.train["race"] == "White"
    np.testing.assert_array_equal(encoded.s_train, 2 * male + white)
    names = ("Female, non-White", "Female, White", "Male, non-White", "Male, White")
    assert encoded.group_names == names
    assert np.bincount(encoded.s_test).tolist() == [1036, 4385, 1299, 9561]


def test_bank_married_is_1_only_for_married():
    bank, encoded = loaded("bank"), plain("bank")
    np.testing.assert_array_equal(encoded.s_train, bank.train["marital"] == "married")
    assert encoded.group_names == ("not married", "married")
    counts = both(bank)["marital"].value_counts().to_dict()
    assert counts == {"married": 27214, "single": 12790, "divorced": 5207}


def test_german_groups_are_the_four_codes_of_attribute_9():
    german, encoded = loaded("german"), plain("german")
    assert encoded.group_names == ("A91", "A92", "A93", "A94")
    named = np.array(encoded.group_names)
    np.testing.assert_array_equal(named[encoded.s_train], german.train["Attribute9"])
    np.testing.assert_array_equal(named[encoded.s_test], german.test["Attribute9"])


@pytest.mark.parametrize(
    ("name", "columns"), [("adult", ("sex",)), ("bank", ("marital",)), ("german", ("Attribute9",))]
)
def test_sensitive_lists_the_raw_columns_of_the_default_choice(name, columns):
    assert loaded(name).sensitive == columns


@pytest.mark.parametrize(
    ("name", "choice"),
    [(name, choice) for name in LOADERS for choice in loaded(name).sensitive_choices],
)
def test_features_exclude_the_target_and_the_columns_of_s(name, choice):
    dataset = loaded(name)
    hidden = {g.column for g in dataset.sensitive_choices[choice]} | {dataset.target}
    names = dataset.encode(sensitive=choice).feature_names
    assert not hidden & {feature.split("=")[0] for feature in names}


def test_a_value_outside_all_groups_raises():
    gender = Grouping("sex", {"Female": "Female", "Male": "Male"})
    with pytest.raises(ValueError, match=r"'sex' has the value '\?'.*Female, Male"):
        gender.codes(pd.DataFrame({"sex": ["Male", "?"]}))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30))
@settings(deadline=None, derandomize=True)
def test_joint_group_names_combine_the_names_of_their_groups(pairs):
    frame = pd.DataFrame(pairs, columns=["a", "b"])
    first = Grouping("a", {"none": 0, "one": 1, "two": 2})
    second = Grouping("b", {"rest": None, "three": 3})
    codes, names = joint_codes([first, second], frame), joint_names([first, second])
    expected = [f"{['none', 'one', 'two'][a]}, {'three' if b == 3 else 'rest'}" for a, b in pairs]
    assert [names[code] for code in codes] == expected


# --- the features ----------------------------------------------------------------------------


def test_adult_defaults_to_the_64_columns_of_the_authors():
    encoded = plain("adult")
    numbers = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    assert encoded.X_train.shape == (32561, 64)
    assert encoded.X_test.shape == (16281, 64)
    assert len(set(encoded.feature_names)) == 64
    assert list(encoded.feature_names[:6]) == numbers
    blocks = pd.Series(name.split("=")[0] for name in encoded.feature_names[6:]).value_counts()
    widths = [9, 16, 7, 15, 6, 5]
    texts = ["workclass", "education", "marital-status", "occupation", "relationship", "race"]
    assert blocks.to_dict() == dict(zip(texts, widths))
    assert {"workclass=?", "occupation=?"} <= set(encoded.feature_names)


@pytest.mark.parametrize(
    ("name", "choice", "width"),
    [
        ("adult", "gender-race", 59),
        ("bank", "married", 47),
        ("german", "gender-marital", 57),
    ],
)
def test_width_is_the_number_of_numeric_columns_and_training_categories(name, choice, width):
    dataset = loaded(name)
    encoded = dataset.encode(sensitive=choice)
    hidden = {g.column for g in dataset.sensitive_choices[choice]}
    used = dataset.train[[column for column in dataset.features if column not in hidden]]
    texts = used.select_dtypes(exclude="number")
    by_hand = used.shape[1] - texts.shape[1] + texts.nunique().sum()
    assert len(encoded.feature_names) == encoded.X_train.shape[1] == by_hand == width


@pytest.mark.parametrize("name", LOADERS)
def test_unscaled_features_are_the_raw_numbers_and_indicators(name):
    dataset, encoded = loaded(name), plain(name)
    for X, frame in ((encoded.X_train, dataset.train), (encoded.X_test, dataset.test)):
        for feature, values in zip(encoded.feature_names, X.T):
            column, _, category = feature.partition("=")
            raw = frame[column]
            np.testing.assert_array_equal(values, raw == category if category else raw)


@pytest.mark.parametrize(
    ("name", "target", "positive"),
    [("adult", "income", ">50K"), ("bank", "y", "yes"), ("german", "class", 1)],
)
def test_positive_label_is_the_favorable_outcome(name, target, positive):
    assert (loaded(name).target, loaded(name).positive) == (target, positive)


@pytest.mark.parametrize("name", LOADERS)
def test_labels_are_1_where_the_target_is_positive(name):
    dataset, encoded = loaded(name), plain(name)
    for y, frame in ((encoded.y_train, dataset.train), (encoded.y_test, dataset.test)):
        assert y.dtype.kind == "i"
        np.testing.assert_array_equal(y, frame[dataset.target] == dataset.positive)


def test_a_month_seen_only_in_bank_s_test_rows_sets_no_indicator():
    bank = loaded("bank")
    encoded = bank.encode(columns=["month"])
    september = (bank.test["month"] == "sep").to_numpy()
    assert september.any()
    assert not (bank.train["month"] == "sep").any()
    assert "month=sep" not in encoded.feature_names
    np.testing.assert_array_equal(encoded.X_test.sum(axis=1), ~september)


def test_columns_selects_features_in_the_given_order():
    adult = loaded("adult")
    encoded = adult.encode(columns=KMEANS_COLUMNS)
    assert encoded.feature_names == tuple(KMEANS_COLUMNS)
    np.testing.assert_array_equal(encoded.X_train, adult.train[KMEANS_COLUMNS])
    mixed = loaded("german").encode(columns=["Attribute15", "Attribute13", "Attribute2"])
    assert mixed.feature_names[:2] == ("Attribute13", "Attribute2")
    assert len(mixed.feature_names) == 5


def test_columns_may_select_nondefault_features():
    encoded = loaded("adult").encode(columns=["native-country"])
    assert encoded.X_train.shape[1] == 42
    assert "native-country=?" in encoded.feature_names


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("adult", {"columns": ["age", "sex"]}, "'sex', but S is derived from it"),
        (
            "adult",
            {"columns": ["age", "race"], "sensitive": "gender-race"},
            "'race', but S is derived from it",
        ),
        ("bank", {"columns": ["marital"]}, "'marital', but S is derived from it"),
        ("german", {"columns": ["Attribute9"]}, "'Attribute9', but S is derived from"),
        ("adult", {"columns": ["income"]}, "'income', which is the target"),
        ("adult", {"columns": ["salary"]}, "'salary', which adult does not have; its columns"),
        ("adult", {"columns": []}, "one or more column names without repetition"),
        ("adult", {"columns": ["age", "age"]}, "one or more column names without repetition"),
        ("adult", {"columns": "age"}, "must be a list of column names, not the string 'age'"),
        ("adult", {"sensitive": "race"}, "one of 'gender', 'gender-race' for adult, not 'race'"),
        ("bank", {"sensitive": ["marital"]}, r"one of 'married' for bank, not \['marital'\]"),
        ("german", {"scaling": "minmax"}, "None, 'standard', 'variance', 'unit_norm' or a sciki"),
        ("german", {"scaling": StandardScaler}, "an instance of a scikit-learn transformer"),
        ("german", {"scaling": 3}, "an instance of a scikit-learn transformer"),
        ("german", {"scaling": "standard", "sparse": True}, 'use scaling="variance"'),
        (
            "german",
            {"scaling": FunctionTransformer(lambda X: X[:, :2])},
            "turned 57 columns into 2 without naming them",
        ),
    ],
)
def test_invalid_arguments_of_encode_raise(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        loaded(name).encode(**arguments)


def test_race_may_be_a_feature_if_s_is_gender_only():
    assert loaded("adult").encode(columns=["race"]).X_train.shape[1] == 5


# --- scaling ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("scaling", ["standard", "variance", "unit_norm"])
def test_scaling_is_learned_from_the_training_rows_only(name, scaling):
    raw, encoded = plain(name), loaded(name).encode(scaling=scaling)
    center = raw.X_train.mean(axis=0) if scaling == "standard" else 0.0
    if scaling == "unit_norm":
        scale = np.linalg.norm(raw.X_train, axis=0)
    else:
        scale = raw.X_train.std(axis=0)
    assert (scale > 0).all()
    np.testing.assert_allclose(encoded.X_train, (raw.X_train - center) / scale, atol=1e-9)
    np.testing.assert_allclose(encoded.X_test, (raw.X_test - center) / scale, atol=1e-9)


def test_standard_gives_mean_0_and_deviation_1_on_train_but_not_on_test():
    encoded = loaded("bank").encode(scaling="standard")
    np.testing.assert_allclose(encoded.X_train.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(encoded.X_train.std(axis=0), 1, atol=1e-9)
    assert np.abs(encoded.X_test.mean(axis=0)).max() > 0.5


def test_unit_norm_gives_columns_of_norm_1_over_the_chosen_rows():
    adult = loaded("adult")
    encoded = replace(adult, train=adult.train[:10000]).encode(
        columns=KMEANS_COLUMNS, scaling="unit_norm"
    )
    assert encoded.X_train.shape == (10000, 5)
    np.testing.assert_allclose(np.linalg.norm(encoded.X_train, axis=0), 1)
    assert np.abs(np.linalg.norm(encoded.X_test, axis=0) - 1).min() > 0.1


@pytest.mark.parametrize(
    ("scaling", "as_sparse"),
    [
        *((scaling, False) for scaling in (None, "standard", "variance", "unit_norm")),
        *((scaling, True) for scaling in (None, "variance", "unit_norm")),
    ],
)
def test_constant_columns_do_not_become_nan(scaling, as_sparse):
    german = loaded("german")
    train = german.train.assign(Attribute2=0, Attribute5=7, Attribute19="A191")
    columns = ["Attribute2", "Attribute5", "Attribute13", "Attribute19"]
    encoded = replace(german, train=train).encode(
        columns=columns, scaling=scaling, sparse=as_sparse
    )
    for X in (encoded.X_train, encoded.X_test):
        assert np.isfinite(X.toarray() if as_sparse else X).all()


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("scaling", [None, "variance", "unit_norm"])
def test_sparse_and_dense_encodings_are_equal(name, scaling):
    dense = loaded(name).encode(scaling=scaling)
    thin = loaded(name).encode(scaling=scaling, sparse=True)
    for X, Z in ((dense.X_train, thin.X_train), (dense.X_test, thin.X_test)):
        assert isinstance(X, np.ndarray)
        assert isinstance(Z, sparse.csr_array)
        assert X.dtype == Z.dtype == np.float64
        np.testing.assert_allclose(Z.toarray(), X, rtol=1e-12, atol=0)
    assert dense.feature_names == thin.feature_names
    np.testing.assert_array_equal(dense.s_test, thin.s_test)


def test_sparse_features_store_no_zeros():
    encoded = loaded("adult").encode(sparse=True)
    assert encoded.X_train.nnz == np.count_nonzero(plain("adult").X_train)


def test_transformer_is_cloned_and_fitted_to_the_training_rows():
    german, scaler = loaded("german"), MinMaxScaler()
    encoded = german.encode(scaling=scaler)
    raw = plain("german")
    by_hand = MinMaxScaler().fit(raw.X_train)
    np.testing.assert_allclose(encoded.X_train, by_hand.transform(raw.X_train), rtol=1e-9)
    np.testing.assert_allclose(encoded.X_test, by_hand.transform(raw.X_test), rtol=1e-9)
    assert not hasattr(scaler, "scale_")


def test_names_of_new_columns_come_from_the_transformer():
    encoded = loaded("german").encode(scaling=PCA(n_components=3))
    assert encoded.X_test.shape == (200, 3)
    assert encoded.feature_names == ("pca0", "pca1", "pca2")


def test_transformer_without_names_keeps_the_column_names():
    raw, encoded = plain("german"), loaded("german").encode(scaling=FunctionTransformer(np.log1p))
    assert encoded.feature_names == raw.feature_names
    np.testing.assert_allclose(encoded.X_test, np.log1p(raw.X_test), rtol=1e-9)


def test_unit_norm_scaler_is_a_scikit_learn_transformer():
    check_estimator(UnitNormScaler(), on_skip=None)


@given(arrays(float, (4, 3), elements=st.floats(-1e6, 1e6, allow_subnormal=False)))
@settings(deadline=None, derandomize=True)
def test_unit_norm_divides_by_the_norm_or_leaves_zeros(X):
    norms = np.linalg.norm(X, axis=0)
    scaled = UnitNormScaler().fit_transform(X)
    for j in range(3):
        if norms[j] > 1e-150:  # below, the square underflows to zero
            # Values scaled below the smallest normal number lose digits.
            np.testing.assert_allclose(scaled[:, j] * norms[j], X[:, j], rtol=1e-12, atol=1e-300)
    assert np.isfinite(scaled).all()
    np.testing.assert_allclose(
        UnitNormScaler().fit_transform(sparse.csr_array(X)).toarray(), scaled, rtol=1e-12
    )


def test_synthetic_data_set_is_encoded_as_expected():
    frame = pd.DataFrame({"x": [1.0, 3.0], "c": ["u", "v"], "g": ["p", "q"], "t": ["+", "-"]})
    made_up = FairDataset(
        name="made-up",
        train=frame,
        test=frame.assign(c=["w", "u"]),
        target="t",
        positive="+",
        features=("c", "x"),
        sensitive_choices={"g": (Grouping("g", {"p": "p", "q": "q"}),)},
        descriptions={},
        codes={},
        doi="",
        license="",
    )
    encoded = made_up.encode()
    assert encoded.feature_names == ("x", "c=u", "c=v")
    assert encoded.X_train.tolist() == [[1, 1, 0], [3, 0, 1]]
    assert encoded.X_test.tolist() == [[1, 0, 0], [3, 1, 0]]
    assert encoded.y_train.tolist() == [1, 0]
    assert encoded.s_train.tolist() == [0, 1]
