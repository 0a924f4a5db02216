"""Rows of a fit are read in one way, whatever the estimator."""

import numpy as np
import pytest
from scipy import sparse

from renyi_lib import RenyiBoostingClassifier, RenyiClassifier, RenyiRegressor
from renyi_lib._rows import read_rows, warn_without_groups
from renyi_lib._validation import numeric_values
from renyi_lib.classification import NoSensitiveFeaturesWarning

X = np.arange(12.0).reshape(6, 2)
y = np.array(["no", "yes", "no", "yes", "yes", "maybe"])
s = ["f", "m", "m", "f", "m", "x"]


def test_everything_stays_together_and_weightless_rows_are_dropped_with_their_groups():
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


def test_without_groups_and_weights_there_are_none():
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


def test_one_class_raises():
    with pytest.raises(ValueError, match="y has only one class, 'no'"):
        read_rows(X, y, s, [1, 0, 1, 0, 0, 0]).with_classes()


@pytest.mark.parametrize(
    "estimator",
    [RenyiClassifier(), RenyiRegressor(), RenyiBoostingClassifier(n_estimators=2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_warning_of_a_fit_without_groups_points_at_the_caller(estimator):
    if isinstance(estimator, RenyiBoostingClassifier):
        pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    target = np.arange(40) % 2
    with pytest.warns(NoSensitiveFeaturesWarning, match="the model is") as caught:
        estimator.fit(np.random.default_rng(0).normal(size=(40, 2)), target)
    assert caught[0].filename == __file__


def test_a_fit_that_penalizes_nothing_does_not_warn(recwarn):
    warn_without_groups(RenyiClassifier(lam=0), "a plain logistic regression")
    assert not recwarn.list
