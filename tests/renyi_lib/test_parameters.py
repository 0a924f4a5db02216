"""Every estimator and penalty rejects the same invalid parameters by name."""

import numpy as np
import pytest
from sklearn.base import clone

from renyi_lib._parameters import choice, either, flag, number, whole
from renyi_lib.baselines import (
    DoniniClassifier,
    HardtClassifier,
    RenyiNetworkClassifier,
    RezaeiClassifier,
    ZafarClassifier,
)
from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.clustering import RenyiKMeans
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ConditionalPenalty,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
    ScoreBinsPenalty,
)
from tests.renyi_lib.data import biased_data

ESTIMATORS = [
    RenyiClassifier(),
    PenalizedClassifier(),
    RenyiKMeans(3),
    ZafarClassifier(),
    RezaeiClassifier(),
    DoniniClassifier(),
    HardtClassifier(),
    RenyiNetworkClassifier(),
]
# Invalid values of each parameter, in every estimator that has it.
INVALID = {
    "lam": [True, "much", -1, np.nan, np.inf, None],
    "max_iter": [2.5, True, 0, -3, "many"],
    "fit_intercept": ["no", 1, None],
    "warm_start": ["yes", 0],
    "tol": [-1.0, True, "small"],
    "l2": [-1.0, True],
    "eta": [0, -1, True, "auto"],
    "solver": ["newton", 3],
    "fairness": ["equality", None],
    "on": ["labels", None],
    "algorithm": ["lloyd", True],
    "class_weight": ["even", 3],
    "n_clusters": [0, 2.5, True],
    "hidden": [0, 1.5],
    "batch_size": [0, True],
    "epochs": [0],
    "learning_rate": [0, "fast"],
    "grid_size": [1, 2.5],
    "c": [-1, "none"],
    "of": ["errors"],
    "near_best": [-0.1, 1.1],
    "cv": [1],
    "C": [0, -1, "large", ()],
    "penalty": ["renyi", RenyiPenalty],
}
CASES = [
    pytest.param(estimator, name, value, id=f"{type(estimator).__name__}-{name}={value!r}")
    for estimator in ESTIMATORS
    for name in estimator.get_params(deep=False)
    for value in INVALID.get(name, [])
]


@pytest.mark.parametrize(("estimator", "name", "value"), CASES)
def test_invalid_parameters_raise_before_the_fit(estimator, name, value):
    X, y, s = biased_data(60)
    broken = clone(estimator).set_params(**{name: value})
    with pytest.raises(ValueError, match=rf"^{name} "):
        broken.fit(X, y, sensitive_features=s)


def test_every_parameter_is_checked_or_unrestricted():
    free = {"pos_label", "init", "n_init", "random_state", "svm", "estimator", "objective"}
    for estimator in ESTIMATORS:
        unchecked = set(estimator.get_params(deep=False)) - set(INVALID) - free
        assert unchecked == set(), type(estimator).__name__


def test_a_lam_beyond_the_limit_raises():
    X, y, s = biased_data(60)
    with pytest.raises(ValueError, match=r"lam must be a number from 0 to 1e\+12, not 1e\+300"):
        RenyiClassifier(1e300).fit(X, y, sensitive_features=s)
    largest = RenyiClassifier(1e12).fit(X, y, sensitive_features=s)
    assert np.isfinite(largest.coef_).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_single_group_raises_in_every_estimator(estimator):
    X, y, _ = biased_data(60)
    with pytest.raises(ValueError, match="sensitive_features has only one group, 'a'"):
        clone(estimator).fit(X, y, sensitive_features=["a"] * 60)


PENALTIES = [
    (RenyiPenalty(0.1), "RenyiPenalty(smoothing=0.1)"),
    (BinaryRenyiPenalty(), "BinaryRenyiPenalty()"),
    (HSICPenalty("linear"), "HSICPenalty(kernel='linear')"),
    (PearsonPenalty(), "PearsonPenalty()"),
    (
        ScoreBinsPenalty(HSICPenalty(bandwidth=0.5)),
        "ScoreBinsPenalty(penalty=HSICPenalty(bandwidth=0.5))",
    ),
    (
        ConditionalPenalty(RenyiPenalty(), [1]),
        "ConditionalPenalty(penalty=RenyiPenalty(), values=[1])",
    ),
]


@pytest.mark.parametrize(("penalty", "text"), PENALTIES)
def test_a_penalty_prints_its_parameters_and_can_be_cloned(penalty, text):
    assert repr(penalty) == text
    assert repr(clone(penalty)) == text


def test_penalty_parameters_can_be_set_from_the_classifier():
    X, y, s = biased_data()
    clf = PenalizedClassifier(HSICPenalty(bandwidth=0.1), lam=100)
    assert clf.get_params()["penalty__bandwidth"] == 0.1
    clf.set_params(penalty__bandwidth=0.4).fit(X, y, sensitive_features=s)
    same = PenalizedClassifier(HSICPenalty(bandwidth=0.4), lam=100).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(clf.coef_, same.coef_)


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        (RenyiPenalty(-1), "smoothing must be a number, 0 or more, not -1"),
        (HSICPenalty(bandwidth="wide"), "bandwidth must be a positive number, not 'wide'"),
        (ScoreBinsPenalty(n_bins=2.5), "n_bins must be a whole number, 3 or more, not 2.5"),
        (ScoreBinsPenalty("renyi"), "penalty must be a Penalty"),
        (ScoreBinsPenalty(HSICPenalty("cubic")), "kernel must be one of 'gaussian', 'linear'"),
        (ConditionalPenalty(RenyiPenalty(True)), "smoothing must be a number"),
    ],
)
def test_invalid_penalty_parameters_raise_alone_and_in_a_classifier(penalty, message):
    F = np.array([[0.2, 0.8], [0.7, 0.3]])
    with pytest.raises(ValueError, match=message):
        penalty.value_and_grad(F, ["f", "m"])
    X, y, s = biased_data(60)
    with pytest.raises(ValueError, match=message):
        PenalizedClassifier(penalty).fit(X, y, sensitive_features=s)


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (number(0), [0, 1.5, np.float32(2), np.int64(3)], [-1, np.inf, np.bool_(True), "1", None]),
        (number(0, 1), [0, 1], [-0.1, 1.1]),
        (number(0, above=True), [1e-300], [0, -1]),
        (number(0, 5, above=True), [5], [0, 5.1]),
        (number(2, above=True), [2.1], [2]),
        (whole(2), [2, np.int8(3)], [1, 2.0, True, "2"]),
        (flag, [True, False, np.bool_(False)], [0, 1, "True", None]),
        (choice("a", "b"), ["a", "b"], ["c", None, ["a"], 1]),
        (either(None, whole(1)), [None, 3], [0, "None", False]),
        (either("auto", whole(1)), ["auto", 3], ["Auto", None]),
    ],
)
def test_a_constraint_accepts_valid_values_and_names_invalid_ones(constraint, good, bad):
    for value in good:
        constraint("x", value)
    for value in bad:
        with pytest.raises(ValueError, match=r"^x must be "):
            constraint("x", value)
