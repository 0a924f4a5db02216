"""The fairness measures against their definitions, sample by sample."""

from itertools import combinations, product

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_lib.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    group_rates,
)

properties = settings(deadline=None, derandomize=True)


def samples(*variables):
    """Columns of samples, of which the last, the groups, has two values or more."""
    rows = st.lists(st.tuples(*variables), min_size=2, max_size=40)
    several = rows.filter(lambda rows: len({row[-1] for row in rows}) > 1)
    return several.map(lambda rows: [list(column) for column in zip(*rows)])


labels = st.integers(0, 1)
groups = st.sampled_from("xyz")


def rates_of_groups(y_pred, s, y_true=None, y=None):
    """Mean of y_pred in each group, among all samples or those with the true label y."""
    rates = []
    for group in sorted(set(s)):
        chosen = [
            prediction
            for prediction, own, truth in zip(y_pred, s, y_true or s)
            if own == group and (y is None or truth == y)
        ]
        rates.append(sum(chosen) / len(chosen))
    return rates


@given(samples(labels, groups))
@properties
def test_metrics_of_positive_rates_match_their_definitions(columns):
    y_pred, s = columns
    rates = rates_of_groups(y_pred, s)
    pairs = list(combinations(rates, 2))
    assert group_rates(None, y_pred, sensitive_features=s).tolist() == rates
    gap = max(abs(a - b) for a, b in pairs)
    assert demographic_parity_difference(None, y_pred, sensitive_features=s) == gap
    ratios = [min(a, b) / max(a, b) if a != b else 1.0 for a, b in pairs]
    assert demographic_parity_ratio(None, y_pred, sensitive_features=s) == min(ratios)


@given(samples(labels, st.floats(0, 1), groups))
@properties
def test_metrics_given_the_true_label_match_their_definitions(columns):
    # One sample more in each cell, so that every rate is defined.
    cells = list(product((0, 1), (0.25,), sorted(set(columns[2]))))
    y_true, y_pred, s = (ours + list(more) for ours, more in zip(columns, zip(*cells)))
    gaps = [
        max(abs(a - b) for a, b in combinations(rates, 2))
        for rates in (rates_of_groups(y_pred, s, y_true, y) for y in (0, 1))
    ]
    found = equal_opportunity_difference(y_true, y_pred, sensitive_features=s)
    assert found == pytest.approx(gaps[1], abs=1e-14)
    found = equalized_odds_difference(y_true, y_pred, sensitive_features=s)
    assert found == pytest.approx(max(gaps), abs=1e-14)


@given(samples(st.floats(0, 1), groups))
@properties
def test_every_measure_lies_between_zero_and_one(columns):
    y_pred, s = columns
    assert 0 <= demographic_parity_ratio(None, y_pred, sensitive_features=s) <= 1
    assert 0 <= demographic_parity_difference(None, y_pred, sensitive_features=s) <= 1


def test_demographic_parity_ratio_is_the_p_percent_of_the_paper():
    y_pred = [1, 0, 0, 0, 1, 1, 1, 0]
    s = [0] * 4 + [1] * 4
    assert demographic_parity_ratio(None, y_pred, sensitive_features=s) == pytest.approx(1 / 3)
    assert demographic_parity_difference(None, y_pred, sensitive_features=s) == 0.5


def test_soft_predictions_are_measured_by_mean_probabilities():
    y_pred, s = [0.2, 0.4, 0.5, 0.7], ["f", "f", "m", "m"]
    assert group_rates(None, y_pred, sensitive_features=s).to_dict() == pytest.approx(
        {"f": 0.3, "m": 0.6}
    )
    assert demographic_parity_ratio(None, y_pred, sensitive_features=s) == pytest.approx(0.5)


def test_p_rule_is_defined_for_zero_rates():
    s = ["f", "f", "m", "m"]
    assert demographic_parity_ratio(None, [0, 0, 1, 0], sensitive_features=s) == 0.0
    assert demographic_parity_ratio(None, [0, 0, 0, 0], sensitive_features=s) == 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_agree_with_fairlearn(seed, weighted):
    rng = np.random.default_rng(seed)
    y_true, y_pred = rng.integers(2, size=(2, 60))
    known = {"sensitive_features": rng.choice(list("xyz"), size=60)}
    if weighted:
        known["sample_weight"] = rng.uniform(0.1, 3, size=60)
    for ours, theirs in [
        (demographic_parity_ratio(y_true, y_pred, **known), fairlearn.demographic_parity_ratio),
        (
            demographic_parity_difference(None, y_pred, **known),
            fairlearn.demographic_parity_difference,
        ),
        (
            equal_opportunity_difference(y_true, y_pred, **known),
            fairlearn.equal_opportunity_difference,
        ),
        (equalized_odds_difference(y_true, y_pred, **known), fairlearn.equalized_odds_difference),
    ]:
        assert ours == pytest.approx(theirs(y_true, y_pred, **known), rel=1e-12)


@pytest.mark.parametrize("measure", [demographic_parity_ratio, demographic_parity_difference])
def test_zero_weight_group_is_dropped(measure):
    y_pred, s, weight = [1, 0, 1, 1, 0], list("ffmmd"), [1, 1, 1, 1, 0]
    with_it = measure(None, y_pred, sensitive_features=s, sample_weight=weight)
    assert with_it == measure(None, y_pred[:4], sensitive_features=s[:4]) == 0.5


def test_equal_opportunity_ignores_the_negatives_and_equalized_odds_does_not():
    y_true = [1, 1, 0, 0]
    y_pred = [1, 1, 1, 0]
    s = ["f", "m", "f", "m"]
    assert equal_opportunity_difference(y_true, y_pred, sensitive_features=s) == 0.0
    assert equalized_odds_difference(y_true, y_pred, sensitive_features=s) == 1.0


@pytest.mark.parametrize(
    "convert", [np.array, tuple, pd.Series, pd.Categorical, lambda s: pd.DataFrame({"s": s})]
)
def test_groups_in_any_container_are_accepted(convert):
    s = ["f", "f", "m", "m"]
    assert demographic_parity_ratio(None, [1, 0, 1, 1], sensitive_features=convert(s)) == 0.5


def test_several_attributes_define_joint_groups():
    s = pd.DataFrame({"sex": ["f", "f", "m", "m"], "race": [0, 1, 0, 1]})
    rates = group_rates(None, [1, 0, 1, 1], sensitive_features=s)
    assert rates.to_dict() == {("f", 0): 1.0, ("f", 1): 0.0, ("m", 0): 1.0, ("m", 1): 1.0}
    assert demographic_parity_difference(None, [1, 0, 1, 1], sensitive_features=s) == 1.0


def test_pos_label_is_treated_as_one():
    y_true, y_pred = [">50K", ">50K", "<=50K", ">50K"], [">50K", "<=50K", "<=50K", ">50K"]
    options = {"sensitive_features": ["f", "m", "m", "m"], "pos_label": ">50K"}
    assert demographic_parity_ratio(None, y_pred, **options) == pytest.approx(1 / 3)
    assert equal_opportunity_difference(y_true, y_pred, **options) == 0.5
    signs = np.where(np.array(y_pred) == ">50K", 1, -1)
    assert demographic_parity_ratio(
        None, signs, sensitive_features=["f", "m", "m", "m"], pos_label=1
    ) == pytest.approx(1 / 3)
    assert demographic_parity_ratio(None, ["no"] * 4, **options) == 1.0


@pytest.mark.parametrize(
    ("measure", "y"), [(equal_opportunity_difference, 1), (equalized_odds_difference, 0)]
)
def test_a_group_without_a_rate_raises(measure, y):
    y_true = [y, 1 - y, 1 - y, 1 - y]
    with pytest.raises(ValueError, match=rf"group m in sensitive_features has y_true = {y}"):
        measure(y_true, [1, 1, 0, 0], sensitive_features=["f", "f", "m", "m"])


@pytest.mark.parametrize(
    ("y_pred", "options", "message"),
    [
        ([1, 2], {}, "y_pred must contain labels 0 and 1.*pos_label"),
        ([-1, 1], {}, "y_pred must contain labels 0 and 1.*pos_label"),
        (["no", "yes"], {}, "pass pos_label"),
        ([0.5, np.nan], {}, "y_pred has missing or infinite values"),
        (["no", "yes"], {"pos_label": "Yes"}, "y_pred has no label equal to pos_label='Yes'"),
        ([0, 1, 1], {}, "y_pred has 3, sensitive_features has 2"),
        ([], {}, "y_pred is empty"),
    ],
)
def test_invalid_predictions_raise(y_pred, options, message):
    with pytest.raises(ValueError, match=message):
        demographic_parity_ratio(None, y_pred, sensitive_features=["f", "m"], **options)


def test_other_invalid_arguments_raise():
    with pytest.raises(ValueError, match="sensitive_features has a missing value"):
        demographic_parity_ratio(None, [0, 1], sensitive_features=["f", None])
    with pytest.raises(ValueError, match="y_true must contain labels 0 and 1, not probabilities"):
        equal_opportunity_difference([0.5, 1], [0, 1], sensitive_features=["f", "m"])
    with pytest.raises(ValueError, match="y_true has 3, y_pred has 2"):
        demographic_parity_ratio([0, 1, 1], [0, 1], sensitive_features=["f", "m"])
    with pytest.raises(ValueError, match="y_true has 3, y_pred has 2"):
        equal_opportunity_difference([0, 1, 1], [0, 1], sensitive_features=["f", "m"])


@pytest.mark.parametrize("moved", ["y_true", "y_pred", "sensitive_features", "sample_weight"])
def test_rows_of_pandas_in_another_order_raise(moved):
    names = ["y_true", "y_pred", "sensitive_features", "sample_weight"]
    columns = dict.fromkeys(names, pd.Series([0, 1, 1, 0], index=list("abcd")))
    columns[moved] = columns[moved].loc[list("badc")]
    truth, prediction = columns.pop("y_true"), columns.pop("y_pred")
    with pytest.raises(ValueError, match="same index labels in another order"):
        equalized_odds_difference(truth, prediction, **columns)


def test_groups_are_given_by_keyword_only():
    with pytest.raises(TypeError):
        demographic_parity_ratio(None, [0, 1], ["f", "m"])


COMPARING = pytest.mark.parametrize(
    "metric",
    [
        demographic_parity_difference,
        demographic_parity_ratio,
        equal_opportunity_difference,
        equalized_odds_difference,
    ],
)


@COMPARING
def test_single_group_has_a_rate_but_no_comparison(metric):
    with pytest.raises(ValueError, match="sensitive_features has only one group, 'f'"):
        metric([0, 1, 1], [0, 1, 0], sensitive_features=["f"] * 3)
    rates = group_rates([0, 1, 1], [0, 1, 0], sensitive_features=["f"] * 3)
    assert rates.to_dict() == {"f": pytest.approx(1 / 3)}


@COMPARING
def test_missing_groups_raise(metric):
    with pytest.raises(ValueError, match="sensitive_features"):
        metric([0, 1], [0, 1], sensitive_features=None)


@COMPARING
def test_dask_collections_give_the_same_measure(metric):
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    rng = np.random.default_rng(0)
    y_true, y_pred, s = rng.integers(2, size=(3, 60))
    collections = [da.from_array(column, chunks=25) for column in (y_true, y_pred, s)]
    found = metric(*collections[:2], sensitive_features=collections[2])
    assert found == pytest.approx(metric(y_true, y_pred, sensitive_features=s), rel=1e-12)
