"""The report agrees with the measures and intervals, and its words follow from its numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from renyi_lib import (
    demographic_parity_ratio,
    fairness_report,
    group_rates,
    renyi_correlation,
)
from renyi_lib.inference import fairness_interval, renyi_interval
from renyi_lib.metrics import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)

rng = np.random.default_rng(0)
N = 3000
group = rng.choice(["f", "m"], size=N, p=[0.4, 0.6])
score = np.clip(rng.normal(0.4 + 0.15 * (group == "m"), 0.2, size=N), 0.01, 0.99)
truth = (rng.random(N) < score).astype(int)
report = fairness_report(truth, score, group)


def test_table_by_group_contains_the_rates():
    decision = score > 0.5
    np.testing.assert_allclose(
        report.by_group["selected"], group_rates(None, decision, sensitive_features=group)
    )
    for name, y in (("true_positive_rate", 1), ("false_positive_rate", 0)):
        among = truth == y
        np.testing.assert_allclose(
            report.by_group[name],
            group_rates(None, decision[among], sensitive_features=group[among]),
        )
    assert report.by_group["people"].to_dict() == pd.Series(group).value_counts().to_dict()
    inside = report.by_group["selected, low"] < report.by_group["selected"]
    assert inside.all()
    assert (report.by_group["selected"] < report.by_group["selected, high"]).all()


def test_score_equal_to_the_threshold_is_not_selected():
    score = np.tile([0.2, 0.5, 0.8], 20)
    s, y = np.repeat(["f", "m"], 30), np.tile([0, 1], 30)
    rates = fairness_report(y, score, s, threshold=0.5).by_group["selected"]
    np.testing.assert_allclose(rates, 1 / 3)


def test_table_by_group_contains_mean_score_and_accuracy():
    table = report.by_group
    for name in table.index:
        rows = group == name
        assert table.loc[name, "mean score"] == pytest.approx(score[rows].mean())
        assert table.loc[name, "accuracy"] == pytest.approx(
            np.mean((score > 0.5)[rows] == truth[rows])
        )


def test_intervals_of_the_rates_match_wilson():
    for name, row in report.by_group.iterrows():
        among = score[group == name] > 0.5
        wilson = binomtest(among.sum(), len(among)).proportion_ci(method="wilson")
        assert row[["selected, low", "selected, high"]].tolist() == pytest.approx(list(wilson))


@pytest.mark.parametrize("label", [0, 1])
def test_equal_labels_give_no_auc(label):
    found = fairness_report(np.full(N, label), score, group)
    assert "AUC" not in found.measures.index
    assert "AUC" in report.measures.index


@pytest.mark.parametrize("threshold", [0, 0.5, 1])
def test_scores_outside_0_and_1_are_questioned_for_a_threshold_between_them(threshold):
    found = fairness_report(truth, 6 * score - 2, group, threshold=threshold)
    assert ("so they are not probabilities" in found.verdict) == (threshold == 0.5)


def test_metrics_and_intervals_match_the_library():
    decision = (score > 0.5).astype(int)
    for measure in (
        demographic_parity_ratio,
        demographic_parity_difference,
        equal_opportunity_difference,
        equalized_odds_difference,
    ):
        row = report.measures.loc[measure.__name__]
        value = measure(truth, decision, sensitive_features=group)
        assert row["in the sample"] == pytest.approx(value)
        interval = fairness_interval(
            measure, truth, decision, sensitive_features=group, random_state=1
        )
        assert row["estimate, low"] == pytest.approx(interval.low, abs=0.02)
        assert row["estimate, high"] == pytest.approx(interval.high, abs=0.02)
    rho = report.measures.loc["renyi of the decision", "in the sample"]
    assert rho == pytest.approx(renyi_correlation(decision, group))
    binned = report.measures.loc["renyi of the score"]
    tenths = pd.qcut(score, 10, labels=False)
    assert binned["in the sample"] == pytest.approx(renyi_correlation(tenths, group))
    assert binned["estimate, low"] == pytest.approx(
        renyi_interval(tenths, group, random_state=1).low, abs=0.02
    )
    assert report.measures.loc["accuracy", "in the sample"] == np.mean(decision == truth)
    assert report.measures.loc["AUC", "in the sample"] == roc_auc_score(truth, score)


def test_p_rule_is_computed_at_every_threshold():
    table = report.by_threshold
    assert len(table) > 90
    for threshold in table.index[::10]:
        decision = score > threshold
        expected = demographic_parity_ratio(None, decision, sensitive_features=group)
        assert table.loc[threshold, "demographic_parity_ratio"] == pytest.approx(
            expected, abs=1e-12
        )
        assert table.loc[threshold, "selected"] == pytest.approx(decision.mean())
        rates = group_rates(None, decision, sensitive_features=group)
        for name, rate in rates.items():
            assert table.loc[threshold, f"selected, {name}"] == pytest.approx(rate)


@pytest.mark.parametrize("digits", [6, 1])
def test_the_verdict_states_the_evaluated_thresholds(digits):
    found = fairness_report(truth, score.round(digits), group)
    share, ratio = found.by_threshold["selected"], found.by_threshold["demographic_parity_ratio"]
    words = f"select {100 * share.min():.0f} to {100 * share.max():.0f} % of the people"
    assert f"Over {len(share)} thresholds that {words}" in found.verdict
    assert f"at {100 * np.mean(ratio >= 0.8):.0f} % of these thresholds." in found.verdict
    if digits == 6:
        assert "Over 99 thresholds that select 2 to 98 % of the people" in found.verdict


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.3, "below four fifths, and so is the whole interval"),
        (0.0, "at least four fifths, and so is the whole interval"),
        (0.1, "do not settle"),
    ],
)
def test_the_verdict_follows_from_the_interval(gap, words):
    s = np.arange(4000) % 2
    drawn = np.random.default_rng(1).random(4000) < 0.5 - gap * s
    found = fairness_report(drawn, drawn.astype(float), s)
    assert words in found.verdict
    low, high = found.measures.loc["demographic_parity_ratio", ["estimate, low", "estimate, high"]]
    assert (high < 0.8) == (gap == 0.3)
    assert (low >= 0.8) == (gap == 0.0)


def test_an_independent_score_is_not_reported_as_dependent():
    s = rng.integers(2, size=N)
    assert "is not shown to depend" in fairness_report(truth, score, s).verdict
    assert "The score depends on the group" in report.verdict


def test_a_score_fair_at_one_threshold_only_is_detected():
    # The rates above one half are equal, but the second group has more extreme scores.
    s = np.arange(2000) % 2
    high = np.arange(2000) % 4 < 2
    scores = np.where(s == 0, np.where(high, 0.6, 0.4), np.where(high, 0.9, 0.1))
    found = fairness_report(high, scores + 1e-4 * rng.random(2000), s)
    assert found.measures.loc["demographic_parity_ratio", "in the sample"] == 1
    # It is not quite 1, because two of the ten bins contain samples of both groups.
    assert found.measures.loc["renyi of the score", "in the sample"] > 0.85
    assert found.by_threshold["demographic_parity_ratio"].min() < 0.1


def test_labels_of_any_type_and_joint_groups_are_accepted():
    found = fairness_report(
        np.array(["no", "yes"])[truth],
        score,
        pd.DataFrame({"sex": group, "old": rng.integers(2, size=N)}),
        pos_label="yes",
        threshold=0.3,
    )
    assert len(found.by_group) == 4
    assert found.threshold == 0.3
    assert ("f", 0) in found.by_group.index


def test_group_without_a_label_is_reported_but_not_measured():
    found = fairness_report([1, 1, 1, 0], [0.9, 0.2, 0.3, 0.4], ["a", "b", "a", "b"])
    assert "cannot be measured" in found.verdict
    assert "equal_opportunity_difference" not in found.measures.index


def test_the_same_seed_gives_the_same_report():
    again = fairness_report(truth, score, group)
    pd.testing.assert_frame_equal(again.measures, report.measures)
    assert again.verdict == report.verdict


def test_report_is_shown_as_text_and_html():
    assert report.verdict in repr(report)
    html = report._repr_html_()
    assert len(re.findall("<table", html)) == 2
    assert "nan" not in html.lower()
    assert (
        "&lt;b&gt;"
        in fairness_report(truth, score, np.where(group == "f", "<b>", "m"))._repr_html_()
    )


def test_the_plot_shows_the_p_rule_and_the_threshold():
    ax = report.plot()
    curve = ax.lines[0]
    np.testing.assert_array_equal(
        curve.get_ydata(), report.by_threshold["demographic_parity_ratio"]
    )
    assert ax.get_xlabel() == "threshold"
    ax.figure.clear()


def test_small_groups_are_reported_and_excluded():
    tiny = group.astype(object).copy()
    tiny[:3] = "x"
    found = fairness_report(truth, score, tiny)
    assert found.small_groups == {"x": 3}
    assert "fewer than 30 people: x (3)." in found.verdict
    rest = fairness_report(truth[3:], score[3:], group[3:])
    for name in ("demographic_parity_ratio", "demographic_parity_difference"):
        row = found.measures_without_small.loc[name]
        for column in ("in the sample", "estimate, low", "estimate, high"):
            assert row[column] == pytest.approx(rest.measures.loc[name, column], abs=1e-3)
        width = row["estimate, high"] - row["estimate, low"]
        row = found.measures.loc[name]
        assert row["estimate, high"] - row["estimate, low"] > 2 * width
    assert "Without the small groups" in repr(found)
    assert len(re.findall("<table", found._repr_html_())) == 3


def test_weights_change_rates_and_intervals():
    weight = np.random.default_rng(3).lognormal(size=N)
    found = fairness_report(truth, score, group, sample_weight=weight)
    options = {"sensitive_features": group, "sample_weight": weight}
    decision = (score > 0.5).astype(int)
    rates = group_rates(None, decision, **options)
    np.testing.assert_allclose(found.by_group["selected"], rates)
    for measure in (demographic_parity_ratio, equal_opportunity_difference):
        interval = fairness_interval(measure, truth, decision, random_state=0, **options)
        row = found.measures.loc[measure.__name__]
        assert row["in the sample"] == pytest.approx(interval.plugin)
        assert row["estimate, low"] == pytest.approx(interval.low, abs=0.01)
        assert row["estimate, high"] == pytest.approx(interval.high, abs=0.01)
    assert found.by_group["people"].sum() == N
    assert found.design_effect == pytest.approx(interval.design_effect)
    assert f"a design effect of {found.design_effect:.2f}" in found.verdict
    area = roc_auc_score(truth, score, sample_weight=weight)
    assert found.measures.loc["AUC", "in the sample"] == pytest.approx(area)
    at = found.by_threshold.index[40]
    expected = demographic_parity_ratio(None, score > at, **options)
    assert found.by_threshold.loc[at, "demographic_parity_ratio"] == pytest.approx(expected)


def test_equal_weights_and_zero_weight_rows_have_no_effect():
    plain = fairness_report(truth[:2000], score[:2000], group[:2000])
    weight = np.where(np.arange(N) < 2000, 0.5, 0.0)
    found = fairness_report(truth, score, group, sample_weight=weight)
    for name in ("by_group", "measures", "by_threshold"):
        expected, table = getattr(plain, name), getattr(found, name)
        pd.testing.assert_frame_equal(table, expected, rtol=1e-6, atol=1e-9)
    assert found.design_effect == pytest.approx(1.0)
    assert plain.design_effect is None


def test_large_enough_groups_are_not_reported_as_small():
    assert report.small_groups == {}
    assert report.measures_without_small is None
    assert "too small" not in report.verdict
    assert (
        fairness_report(truth, score, group, min_group_size=10**6).measures_without_small is None
    )


def test_two_thousand_groups_are_reported():
    many = np.arange(20_000) % 2000
    chance = np.random.default_rng(3).random(20_000).round(3)
    found = fairness_report((chance > 0.3).astype(int), chance, many)
    assert len(found.by_group) == 2000
    assert found.measures.loc["demographic_parity_difference", "estimate, low"] < 0.05
    assert "and 1995 more" in found.verdict


GOOD = {
    "y_true": [0, 1, 0, 1],
    "y_score": [0.1, 0.9, 0.7, 0.2],
    "sensitive_features": list("abab"),
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_true": [0, 1, 2, 1]}, "y_true must contain labels 0 and 1"),
        (
            {"y_true": ["x", "y", "x", "y"]},
            "y_true contains the labels 'x' and 'y': pass pos_label",
        ),
        ({"y_true": [0, 1, 0]}, "y_true has 3"),
        ({"y_score": [0.1, np.nan, 0.7, 0.2]}, "y_score has missing or infinite values"),
        ({"y_score": [[0.1, 0.9]] * 4}, "y_score must be one number for each sample"),
        ({"y_score": [3.0, 2.0, 5.0, 7.0]}, "threshold=0.5 selects everybody"),
        ({"threshold": 1.0}, "threshold=1 selects nobody"),
        ({"y_score": [0.4] * 4}, "y_score is 0.4 for everybody"),
        ({"threshold": "half"}, "threshold must be a finite number"),
        ({"sensitive_features": list("aaaa")}, "sensitive_features has only one group"),
        ({"sensitive_features": ["a", None, "b", "b"]}, "sensitive_features has a missing value"),
        ({"min_group_size": 0}, "min_group_size must be a whole number"),
        ({"confidence_level": 95}, "confidence_level must be a number"),
        ({"confidence_level": 1.0}, "confidence_level must be a number from 0.5 to 0.994"),
        ({"confidence_level": 0.999}, "confidence_level must be a number from 0.5 to 0.994"),
        (
            {"pos_label": "yes"},
            "no label equal to pos_label='yes': pos_label must be one of its labels, such as 0",
        ),
    ],
)
def test_invalid_report_input_raises(change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        fairness_report(**(GOOD | change))
