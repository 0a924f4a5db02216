"""Measures of how evenly groups are spread over clusters match their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from renyi_lib.cluster_metrics import (
    balance,
    balance_of_table,
    cluster_penalty,
    cluster_proportions,
    penalty_of_table,
    proportion_summary,
    summary_of_table,
    weighted_deviation,
)
from renyi_lib.correlation import renyi_correlation

properties = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def clusterings(draw, groups=2):
    """Labels and groups, in which every group occurs at least once."""
    n = draw(st.integers(groups, 40))
    labels = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    rest = draw(st.lists(st.integers(0, groups - 1), min_size=n - groups, max_size=n - groups))
    return np.array(labels), np.array([*range(groups), *rest])


@properties
@given(clusterings())
def test_penalty_of_two_groups_is_the_weighted_sum_of_squared_deviations(case):
    labels, s = case
    p = s.mean()
    expected = sum(
        (labels == k).sum() * (s[labels == k].mean() - p) ** 2 for k in np.unique(labels)
    )
    assert cluster_penalty(labels, sensitive_features=s) == pytest.approx(expected, abs=1e-12)


@properties
@given(clusterings())
def test_penalty_of_two_groups_is_n_p_q_times_the_squared_renyi_correlation(case):
    labels, s = case
    p = s.mean()
    expected = len(s) * p * (1 - p) * renyi_correlation(labels, s) ** 2
    assert cluster_penalty(labels, sensitive_features=s) == pytest.approx(expected, abs=1e-9)
    deviation = np.sqrt(p * (1 - p)) * renyi_correlation(labels, s)
    assert weighted_deviation(labels, sensitive_features=s) == pytest.approx(deviation, abs=1e-9)


@properties
@given(clusterings(groups=3))
def test_penalty_of_more_groups_is_a_fixed_multiple_of_chi_square(case):
    labels, s = case
    table = np.array([[np.sum((labels == k) & (s == g)) for g in range(3)] for k in set(labels)])
    shares = table.sum(axis=0) / len(s)
    chi_square = chi2_contingency(table, correction=False).statistic
    expected = (1 - (shares**2).sum()) / (2 * (3 - 1)) * chi_square
    assert cluster_penalty(labels, sensitive_features=s) == pytest.approx(expected, abs=1e-9)


def test_penalty_of_equal_groups_is_half_the_unweighted_sum_of_squares():
    s = np.repeat([0, 1, 2], 4)
    labels = np.array([0, 0, 0, 1, 0, 1, 1, 1, 1, 2, 2, 2])
    expected = sum(
        (labels == k).sum() * ((s[labels == k] == g).mean() - 1 / 3) ** 2 / 2
        for k in range(3)
        for g in range(3)
    )
    assert cluster_penalty(labels, sensitive_features=s) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_penalty_of_clusters_equal_to_groups_is_half_the_indicator_variance(n_groups):
    s = np.repeat(np.arange(n_groups), np.arange(1, n_groups + 1) * 3)
    indicator = np.eye(n_groups)[s]
    half_variance = ((indicator - indicator.mean(axis=0)) ** 2).sum() / 2
    assert cluster_penalty(s, sensitive_features=s) == pytest.approx(half_variance, rel=1e-12)


def test_fair_clusters_have_penalty_exactly_zero():
    labels = np.repeat(np.arange(7), 9)
    s = np.tile(np.repeat([0, 1, 2], 3), 7)
    assert cluster_penalty(labels, sensitive_features=s) == 0.0
    assert weighted_deviation(labels, sensitive_features=s) == 0.0


def test_empty_rows_and_columns_of_a_table_have_no_effect():
    table = np.array([[3, 1], [2, 5]])
    padded = np.array([[3, 0, 1], [0, 0, 0], [2, 0, 5]])
    assert penalty_of_table(padded) == penalty_of_table(table)
    with_empty_cluster = np.array([[3, 1], [0, 0], [2, 5]])
    assert balance_of_table(with_empty_cluster) == balance_of_table(table)
    assert summary_of_table(with_empty_cluster, 1) == summary_of_table(table, 1)


def test_proportions_are_shares_of_each_group_in_each_cluster():
    frame = cluster_proportions(["x", "x", "y", "y"], sensitive_features=["f", "m", "m", "m"])
    assert frame.index.tolist() == ["x", "y"]
    assert frame.columns.tolist() == ["f", "m"]
    assert frame.to_numpy().tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_proportions_of_a_joint_group_keep_one_column_for_each_combination():
    frame = cluster_proportions(
        [0, 0, 1], sensitive_features=np.array([["f", "w"], ["m", "w"], ["m", "b"]])
    )
    assert frame.columns.tolist() == [("f", "w"), ("m", "b"), ("m", "w")]
    assert frame.loc[0].tolist() == [0.5, 0.0, 0.5]


def test_summary_counts_each_cluster_once():
    labels = [0, 0, 0, 0, 1]
    s = [1, 0, 0, 0, 1]
    summary = proportion_summary(labels, sensitive_features=s)
    assert summary == {"min": 0.25, "max": 1.0, "mean": 0.625, "sd": 0.375, "overall": 0.4}


def test_summary_can_be_computed_for_either_group():
    labels, s = [0, 0, 1, 1], ["a", "a", "a", "b"]
    assert proportion_summary(labels, sensitive_features=s)["max"] == 0.5
    assert proportion_summary(labels, sensitive_features=s, group="a")["max"] == 1.0


def test_summary_of_three_groups_requires_a_choice():
    with pytest.raises(ValueError, match="3 groups: choose one of them"):
        proportion_summary([0, 0, 1], sensitive_features=["a", "b", "c"])
    with pytest.raises(ValueError, match="group must be one of"):
        proportion_summary([0, 0, 1], sensitive_features=["a", "b", "c"], group="z")


@properties
@given(clusterings())
def test_balance_matches_the_definition_of_chierichetti(case):
    labels, s = case
    worst = 1.0
    for k in np.unique(labels):
        w = s[labels == k].mean()
        ratio = 0.0 if w in (0, 1) else min(w / (1 - w), (1 - w) / w)
        worst = min(worst, ratio)
    assert balance(labels, sensitive_features=s) == pytest.approx(worst, abs=1e-12)


@properties
@given(clusterings(groups=3))
def test_balance_never_exceeds_the_balance_of_the_data(case):
    labels, s = case
    assert balance(labels, sensitive_features=s) <= balance(np.zeros_like(s), sensitive_features=s)


def test_balance_of_one_group_raises():
    with pytest.raises(ValueError, match="only one group"):
        balance([0, 1], sensitive_features=["a", "a"])


@pytest.mark.parametrize(
    "measure",
    [balance, cluster_penalty, cluster_proportions, proportion_summary, weighted_deviation],
)
def test_integer_weights_equal_repeated_rows(measure):
    labels, s = np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0, 1, 1, 0, 0, 1, 1])
    times = np.array([2, 1, 3, 1, 2, 2, 0])
    weighted = measure(labels, sensitive_features=s, sample_weight=times)
    repeated = measure(np.repeat(labels, times), sensitive_features=np.repeat(s, times))
    if measure is proportion_summary:
        weighted, repeated = list(weighted.values()), list(repeated.values())
    np.testing.assert_allclose(weighted, repeated)


def test_different_lengths_raise():
    with pytest.raises(ValueError, match="labels has 3, sensitive_features has 2"):
        weighted_deviation([0, 1, 1], sensitive_features=[0, 1])
