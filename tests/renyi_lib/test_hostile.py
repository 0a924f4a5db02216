"""Calls that practitioners make by mistake get a warning or an error that names the argument."""

import warnings

import numpy as np
import pandas as pd
import pytest

from renyi_lib import (
    JointTable,
    RenyiClassifier,
    RenyiKMeans,
    balance,
    continuous_correlation,
    continuous_test,
    demographic_parity_violation,
    difference_interval,
    equal_opportunity_violation,
    equalized_odds_violation,
    fairness_interval,
    fairness_report,
    fairness_scorer,
    fit_to_target,
    hsic,
    joint_table,
    lam_path,
    maximal_functions,
    normalized_mutual_information,
    p_rule,
    pearson_correlation,
    renyi_binary,
    renyi_correlation,
    renyi_dependence,
    renyi_from_joint,
    renyi_from_soft,
    renyi_interval,
    renyi_test,
)
from renyi_lib.correlation import SmallSampleWarning

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 2))
y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
s = (X[:, 1] + rng.normal(size=N) > 0).astype(int)
three = rng.integers(3, size=N)
age = 50 + 12 * rng.normal(size=N)
name = [f"person {i}" for i in range(N)]
one = np.zeros(N)
hole = np.where(np.arange(N) == 7, np.nan, s)
C = RenyiClassifier

GROUPED = {
    "p_rule": lambda s: p_rule(y, y, sensitive_features=s),
    "demographic_parity_violation": lambda s: demographic_parity_violation(
        y, y, sensitive_features=s
    ),
    "equal_opportunity_violation": lambda s: equal_opportunity_violation(
        y, y, sensitive_features=s
    ),
    "equalized_odds_violation": lambda s: equalized_odds_violation(y, y, sensitive_features=s),
    "balance": lambda s: balance(y, sensitive_features=s),
    "RenyiClassifier": lambda s: RenyiClassifier().fit(X, y, sensitive_features=s),
    "RenyiKMeans": lambda s: RenyiKMeans(2).fit(X, sensitive_features=s),
    "lam_path": lambda s: lam_path(C(), X, y, lams=[0, 1], sensitive_features=s),
    "fit_to_target": lambda s: fit_to_target(C(), X, y, sensitive_features=s),
    "fairness_interval": lambda s: fairness_interval("p_rule", None, y, sensitive_features=s),
    "difference_interval": lambda s: difference_interval(
        "p_rule", None, y, 1 - y, sensitive_features=s
    ),
    "fairness_report": lambda s: fairness_report(y, X[:, 0], s),
}


@pytest.mark.parametrize("call", GROUPED.values(), ids=GROUPED)
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (age, r"sensitive_features looks continuous: it has 300 .*bins"),
        (name, r"sensitive_features has 300 different labels in 300"),
        (one, r"sensitive_features has one group only"),
        (hole, r"sensitive_features has a missing value"),
        (s[:-1], r"sensitive_features has 299"),
    ],
    ids=["a measurement", "a name for each", "one group", "a missing value", "too short"],
)
def test_invalid_groups_raise(call, groups, words):
    with pytest.raises(ValueError, match=words):
        call(groups)


REFUSED = {
    # --- dependence
    "a name for each person": (lambda: renyi_correlation(name, s), "^a has 300 different"),
    "whole numbers that never repeat": (lambda: renyi_correlation(np.arange(N), s), "^a has 300"),
    "dates that never repeat": (
        lambda: renyi_correlation(pd.date_range("2020", periods=N), s),
        "^a has 300 different labels",
    ),
    "a missing label": (lambda: renyi_correlation([1, np.nan], [0, 1]), "^a has a missing"),
    "None": (lambda: renyi_correlation(None, [0, 1]), "^a must be one label"),
    "a number": (lambda: renyi_correlation(1, 2), "^a must be one label"),
    "one text": (lambda: renyi_correlation("abc", "abd"), "^a must be one label"),
    "a dictionary": (lambda: renyi_correlation({"x": 1}, [0]), "^a must be one label"),
    "a set": (lambda: renyi_correlation({1, 2}, [0, 1]), "^a must be one label"),
    "a generator": (lambda: renyi_correlation(iter([1, 2]), [0, 1]), "^a must be one label"),
    "a cube": (lambda: renyi_correlation(np.zeros((2, 2, 2)), [0, 1]), "^a must be one label"),
    "ragged rows": (lambda: renyi_correlation([[1], [1, 2]], [0, 1]), "^a is not a list"),
    "nothing": (lambda: renyi_correlation([], []), "^a is empty"),
    "unequal lengths": (lambda: renyi_correlation([1, 2, 3], [1, 2]), "a has 3, b has 2"),
    "masked values": (
        lambda: renyi_correlation(np.ma.array([1, 2], mask=[0, 1]), [0, 1]),
        "^a has masked values",
    ),
    "negative weights": (
        lambda: renyi_correlation([0, 1], [0, 1], sample_weight=[-1, 1]),
        "^sample_weight has negative",
    ),
    "weights of text": (
        lambda: renyi_correlation([0, 1], [0, 1], sample_weight=["a", "b"]),
        "^sample_weight must hold numbers",
    ),
    "weights of zero": (
        lambda: renyi_correlation([0, 1], [0, 1], sample_weight=[0, 0]),
        "^sample_weight is all zero",
    ),
    "an unknown kind": (lambda: renyi_correlation(y, s, kind="cont"), "^kind must be one of"),
    "three kinds": (lambda: renyi_correlation(y, s, kind=("auto",) * 3), "^kind must be"),
    "text as measurements": (
        lambda: renyi_correlation(["x", "y"] * 9, s[:18], kind="continuous"),
        "^a must hold numbers",
    ),
    "a measurement to condition on": (
        lambda: renyi_correlation(y, s, given=age),
        "^given looks continuous",
    ),
    "a name to condition on": (lambda: renyi_correlation(y, s, given=name), "^given has 300"),
    "infinite measurements": (
        lambda: continuous_correlation([1.5, np.inf, 2.5], [1, 2, 3]),
        "^a has values that are missing or infinite",
    ),
    "no functions": (
        lambda: continuous_correlation(age, X[:, 0], max_functions=0),
        "^max_functions must be",
    ),
    "too few permutations": (
        lambda: continuous_test(age, X[:, 0], n_permutations=3),
        "^n_permutations must be",
    ),
    "negative cells": (lambda: renyi_from_joint([[1, -1], [1, 1]]), "^P has negative"),
    "an empty table": (lambda: renyi_from_joint([[0, 0], [0, 0]]), "^P is zero everywhere"),
    "a table of text": (lambda: renyi_from_joint([["a"]]), "^P must be a table of numbers"),
    "a row for a table": (lambda: maximal_functions([1, 2]), "^P must be a table"),
    "a missing cell": (lambda: maximal_functions([[1, np.nan]]), "^P has cells that are missing"),
    "soft rows that sum to 0.9": (lambda: renyi_from_soft([[0.5, 0.4]], [0]), "row 0 sums to 0.9"),
    "hard labels for soft": (lambda: renyi_from_soft(y, s), "^F must have a row"),
    "a measurement for Theorem 2": (lambda: renyi_binary(age, s), "^a looks continuous"),
    "three values for Theorem 2": (lambda: renyi_binary(s, three), "^b must have two values"),
    "text for a Gaussian kernel": (lambda: hsic(["x", "y"], [0, 1]), "^a must hold numbers"),
    "a negative bandwidth": (lambda: hsic(age, s, bandwidth=-1), "^bandwidth must be"),
    "an unknown kernel": (lambda: hsic(age, s, kernel="rbf"), "^kernel must be"),
    "text for Pearson": (lambda: pearson_correlation(["x", "y"], [0, 1]), "^a must hold numbers"),
    "a hole for Pearson": (lambda: pearson_correlation([1, np.nan], [0, 1]), "^a has values"),
    "a measurement for information": (
        lambda: normalized_mutual_information(age, s),
        "^a looks continuous",
    ),
    # --- tables
    "damaged JSON": (lambda: JointTable.from_json("{"), "^text is not JSON"),
    "text added to numbers": (
        lambda: joint_table([1], [1]) + joint_table(["1"], [1]),
        "^rows are text in one table",
    ),
    "levels twice": (
        lambda: JointTable([[1, 2]], ["x"], ["u", "u"]),
        "^columns has a label twice",
    ),
    # --- inference
    "a test of one column": (lambda: renyi_test(y), "b|two dimensions|table"),
    "a test of fractions": (lambda: renyi_test([[0.5, 0.5], [0.2, 0.8]]), "whole|counts"),
    "a test of measurements": (lambda: renyi_test(age, s), "^a looks continuous"),
    "an interval of a constant": (lambda: renyi_interval(one, s), "has one value only"),
    "a confidence of 95": (
        lambda: renyi_interval(y, s, confidence_level=95),
        "^confidence_level must be",
    ),
    "no resamples": (lambda: renyi_interval(y, s, n_resamples=0), "^n_resamples must be"),
    "an unknown measure": (
        lambda: fairness_interval("fair", None, y, sensitive_features=s),
        "^metric must be",
    ),
    "probabilities for decisions": (
        lambda: fairness_interval("p_rule", None, age / 100, sensitive_features=s),
        "^y_pred",
    ),
    # --- measures
    "log-odds for decisions": (lambda: p_rule(y, X[:, 0], sensitive_features=s), "^y_pred must"),
    "three classes": (lambda: p_rule(y, three, sensitive_features=s), "^y_pred must"),
    "no groups": (lambda: p_rule(y, y, sensitive_features=None), "^sensitive_features must be"),
    "a truth without positives": (
        lambda: equal_opportunity_violation(one, y, sensitive_features=s),
        "has y_true = 1, so that its rate is undefined",
    ),
    "probabilities for the truth": (
        lambda: equal_opportunity_violation(age / 100, y, sensitive_features=s),
        "^y_true must hold labels 0 and 1",
    ),
    "a truth of another length": (
        lambda: p_rule(y[:-1], y, sensitive_features=s),
        "y_true has 299",
    ),
    "scores of several classes": (
        lambda: renyi_dependence(y, X, sensitive_features=s),
        "choose one column",
    ),
    "a scorer without routing": (lambda: fairness_scorer("p_rule"), "enable_metadata_routing"),
    # --- estimators and tuning
    "three classes, which one?": (
        lambda: fit_to_target(C(), X, three, sensitive_features=s),
        "^pos_label must be the class",
    ),
    "a target of 80": (
        lambda: fit_to_target(C(), X, y, sensitive_features=s, target=80),
        r"^target must be a fraction from 0 to 1 \(0.8 for 80 %\)",
    ),
    "a validation without groups": (
        lambda: fit_to_target(C(), X, y, sensitive_features=s, validation=(X, y)),
        "^validation must be",
    ),
    "a path without groups": (
        lambda: lam_path(C(), X, y, lams=[1], sensitive_features=None),
        "^sensitive_features is None",
    ),
    "a negative lam on a path": (
        lambda: lam_path(C(), X, y, lams=[-1], sensitive_features=s),
        "^each of lams must be",
    ),
    "a huge lam": (lambda: C(lam=1e300).fit(X, y, sensitive_features=s), "^lam must be"),
    "a negative lam": (lambda: C(lam=-1).fit(X, y, sensitive_features=s), "^lam must be"),
    "a lam of text": (lambda: C(lam="1").fit(X, y, sensitive_features=s), "^lam must be"),
    "a lam that is none": (lambda: C(lam=np.nan).fit(X, y, sensitive_features=s), "^lam must be"),
    "an unknown fairness": (
        lambda: C(fairness="parity").fit(X, y, sensitive_features=s),
        "^fairness must be one of",
    ),
    "holes in X": (
        lambda: C().fit(np.where(X > 2, np.nan, X), y, sensitive_features=s),
        "X contains NaN",
    ),
    "a measurement for y": (lambda: C().fit(X, age, sensitive_features=s), "continuous"),
    "one class": (lambda: C().fit(X, one, sensitive_features=s), "^y has one class only"),
    "other columns at prediction": (
        lambda: C().fit(X, y, sensitive_features=s).predict(X[:, :1]),
        "X has 1 features",
    ),
    "more clusters than points": (
        lambda: RenyiKMeans(500).fit(X, sensitive_features=s),
        "n_samples=300 should be >= n_clusters=500",
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_invalid_input_raises_an_error_that_names_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_independent_measurements_have_a_small_correlation():
    # Counting each value as a label would give 1.
    noise = rng.normal(size=(2, 20, 1000))
    group = rng.integers(2, size=1000)
    assert np.mean([renyi_correlation(a, b) for a, b in zip(*noise)]) < 0.1
    assert np.mean([renyi_correlation(a, group) for a in noise[0]]) < 0.1


def test_correlation_that_chance_explains_warns():
    a, b = rng.integers(10, size=(2, 100))
    with pytest.warns(SmallSampleWarning, match=r"chance alone gives a correlation of about 0\.6"):
        assert renyi_correlation(a, b) > 0.4


@pytest.mark.parametrize(
    ("a", "b", "rho"),
    [
        ([b"x", b"y"], [0, 1], 1),
        ([1, "1", 1, "1"], [0, 1, 0, 1], 1),
        ([1.0, np.inf, 1.0, 2.0], [0, 1, 0, 1], 1),
        ([True, False, True, False], ["u", "v", "v", "u"], 0),
        ([[1], [2], [1], [2]], [0, 1, 0, 1], 1),
        ([5], [7], 0),
    ],
)
def test_unusual_labels_are_accepted(a, b, rho):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renyi_correlation(a, b) == pytest.approx(rho, abs=1e-12)
