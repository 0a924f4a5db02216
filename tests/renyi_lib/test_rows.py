"""All estimators read the rows of a fit in the same way."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from renyi_lib import RenyiBoostingClassifier, RenyiClassifier, RenyiRegressor
from renyi_lib._rows import labels_in_memory, read_cells, read_rows, warn_without_groups
from renyi_lib._validation import numeric_values
from renyi_lib.classification import NoSensitiveFeaturesWarning
from renyi_lib.sources import ParquetRows

X = np.arange(12.0).reshape(6, 2)
y = np.array(["no", "yes", "no", "yes", "yes", "maybe"])
s = ["f", "m", "m", "f", "m", "x"]


def test_zero_weight_rows_are_dropped_with_their_groups():
    rows = read_rows(X, y, s, [1, 2, 0, 1, 3, 0]).with_classes()
    assert rows.X.tolist() == X[[0, 1, 3, 4]].tolist()
    assert rows.classes.tolist() == ["no", "yes"]
    assert rows.y.tolist() == [0, 1, 1, 1]
    assert rows.categories.tolist() == ["f", "m"]
    assert rows.codes.tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(rows.shares(), np.array([1, 2, 1, 3]) / 7)
    groups = rows.groups()
    np.testing.assert_allclose(groups.q, [2 / 7, 5 / 7])
    assert groups.true_labels() == ["no", "yes"]


def test_rows_can_all_be_kept():
    rows = read_rows(None, y, s, [1, 2, 0, 1, 3, 0.5], keep_all=True)
    assert rows.X is None
    assert len(rows.y) == len(rows.codes) == len(rows.weight) == 6


def test_missing_groups_and_weights_remain_none():
    rows = read_rows(sparse.csr_array(X), y, None, None)
    assert rows.codes is rows.categories is rows.weight is None
    assert rows.groups() is None
    assert rows.shares() is None
    part = rows.some(np.array([0, 3]))
    assert part.X.toarray().tolist() == X[[0, 3]].tolist()
    assert part.y.tolist() == ["no", "yes"]


def test_a_numeric_attribute_is_not_encoded():
    ages = [20.5, 30.0, 31.0, 44.0, 50.0, 61.0]
    rows = read_rows(
        X, y, ages, [1, 1, 1, 1, 1, 0], lambda v, name: (numeric_values(v, name), None)
    )
    assert rows.codes.tolist() == ages[:5]
    assert rows.categories is None


@pytest.mark.parametrize(
    ("groups", "weights", "message"),
    [
        (s[:5], None, "y has 6, sensitive_features has 5"),
        (s, [1.0] * 5, "y has 6, sensitive_features has 6, sample_weight has 5"),
        (["f"] * 6, None, "only one group, 'f'"),
        (s, [1, 0, 0, 1, 0, 0], "only one group, 'f'"),
        (s, [-1.0] * 6, "negative"),
    ],
)
def test_inconsistent_input_raises(groups, weights, message):
    with pytest.raises(ValueError, match=message):
        read_rows(X, y, groups, weights)


def test_kept_marks_the_original_rows():
    rows = read_rows(X, y, s, [1, 2, 0, 1, 3, 0])
    assert rows.kept.tolist() == [True, True, False, True, True, False]
    assert read_rows(X, y, s, np.ones(6)).kept is None
    assert read_rows(X, y, s, [1, 2, 0, 1, 3, 0], keep_all=True).kept is None


def test_a_group_for_each_sample_raises_unless_groups_are_not_compared():
    many = [f"person {i}" for i in range(300)]
    labels = np.arange(300) % 2
    with pytest.raises(ValueError, match="sensitive_features has 300"):
        read_rows(None, labels, many, None)
    # The rows may stand for more samples than there are rows.
    assert len(read_rows(None, labels, many, None, n_samples=10**6).categories) == 300
    assert len(read_rows(None, labels, many, None, compared=False).categories) == 300


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "labels",
    [
        lambda i: np.array(["no", "yes", "maybe"])[i % 3],
        lambda i: i % 3 + 7,
        lambda i: -5 * (i % 3),
        lambda i: i % 2 == 0,
    ],
    ids=["text", "consecutive", "apart", "bool"],
)
def test_cells_count_labels_and_groups_and_encode_each_row(labels, weighted):
    i = np.arange(40_000)  # more than one block of rows
    target, group = labels(i), np.array([3, 4, 9])[i // 6 % 3]
    weight = np.where(group == 4, 0.0, 1.0 + i % 2) if weighted else None
    cells, cell, given = read_cells(np.zeros((len(i), 5)), target, group, weight)
    mass = np.ones(len(i)) if weight is None else weight
    assert cells.n_rows == np.count_nonzero(mass)
    assert cells.n_features == 5
    assert cells.mass == mass.sum()
    assert (given is None) == (weight is None)
    there = mass > 0
    assert cells.classes.tolist() == sorted(set(target.tolist()))
    assert cells.groups.tolist() == sorted(set(group[there].tolist()))
    np.testing.assert_array_equal(cells.classes[cells.y[cell]][there], target[there])
    np.testing.assert_array_equal(cells.groups[cells.codes[cell]][there], group[there])
    np.testing.assert_allclose(cells.weight, np.bincount(cell, mass) / mass.sum())


def test_cells_without_groups_are_classes():
    cells, cell, _ = read_cells(X, y, None, None)
    assert cells.groups is None
    assert cells.classes[cell].tolist() == y.tolist()
    assert cells.as_groups() is None


@pytest.mark.parametrize(
    ("groups", "weights", "message"),
    [
        (s[:5], None, "y has 6, sensitive_features has 5"),
        (s, [1.0] * 5, "y has 6, sample_weight has 5"),
        (["f"] * 6, None, "only one group, 'f'"),
        (s, [1, 0, 1, 0, 0, 0], "only one class, 'no'"),
    ],
)
def test_cells_of_inconsistent_input_raise(groups, weights, message):
    with pytest.raises(ValueError, match=message):
        read_cells(X, y, groups, weights)


def test_columns_of_files_and_dask_collections_are_read_into_memory(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    frame = pd.DataFrame({"x": X[:, 0], "y": y, "s": s})
    frame.to_parquet(tmp_path / "rows.parquet")
    labels, own, nothing, both = labels_in_memory(
        ParquetRows(tmp_path / "rows.parquet"), "y", y, None, ["y", "s"]
    )
    assert labels.tolist() == y.tolist()
    assert own is y
    assert nothing is None
    assert both.to_dict("list") == {"y": y.tolist(), "s": s}
    computed, same = labels_in_memory(X, da.arange(6, chunks=4), None)
    assert type(computed) is np.ndarray
    assert computed.tolist() == list(range(6))
    assert same is None
    assert labels_in_memory(X, y)[0] is y


def test_single_class_raises():
    with pytest.raises(ValueError, match="y has only one class, 'no'"):
        read_rows(X, y, s, [1, 0, 1, 0, 0, 0]).with_classes()


@pytest.mark.parametrize(
    "estimator",
    [RenyiClassifier(), RenyiRegressor(), RenyiBoostingClassifier(n_estimators=2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_warning_about_missing_groups_points_to_the_caller(estimator):
    if isinstance(estimator, RenyiBoostingClassifier):
        pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    target = np.arange(40) % 2
    with pytest.warns(NoSensitiveFeaturesWarning, match="the model is") as caught:
        estimator.fit(np.random.default_rng(0).normal(size=(40, 2)), target)
    assert caught[0].filename == __file__


def test_a_fit_that_penalizes_nothing_does_not_warn(recwarn):
    warn_without_groups(RenyiClassifier(lam=0), "a plain logistic regression")
    assert not recwarn.list
