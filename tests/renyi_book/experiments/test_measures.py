import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_book.experiments._measures import measures
from renyi_lib.correlation import renyi_correlation, renyi_from_soft
from renyi_lib.dependence import normalized_mutual_information
from renyi_lib.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    group_rates,
)

Y = np.array([1, 1, 1, 1, 0, 0, 0, 0])
S = np.array([0, 0, 1, 1, 0, 0, 1, 1])
HARD = np.array([1, 0, 1, 1, 0, 0, 1, 0])
SCORE = np.array([0.9, 0.4, 0.8, 0.7, 0.1, 0.2, 0.6, 0.3])


def test_measures_match_a_small_case_computed_by_hand():
    found = measures(Y, HARD, S, SCORE)
    assert found["accuracy"] == 6 / 8
    assert found["p_rule"] == pytest.approx((1 / 4) / (3 / 4))
    assert found["dp_violation"] == pytest.approx(3 / 4 - 1 / 4)
    assert found["eo_gap"] == pytest.approx(1 - 1 / 2)
    assert found["eo_violation"] == pytest.approx(1 / 2)
    assert found["soft_dp_violation"] == pytest.approx(2.4 / 4 - 1.6 / 4)
    assert found["soft_eo_gap"] == pytest.approx(1.5 / 2 - 1.3 / 2)
    assert found["score_pearson"] == pytest.approx(abs(np.corrcoef(SCORE, S)[0, 1]))
    assert found["rho_R"] == pytest.approx(abs(np.corrcoef(HARD, S)[0, 1]))


def test_a_random_decision_counts_with_its_probability():
    rng = np.random.default_rng(0)
    probability = rng.uniform(size=8)
    drawn = rng.uniform(size=(200_000, 8)) < probability
    assert measures(Y, probability, S)["accuracy"] == pytest.approx((drawn == Y).mean(), abs=2e-3)


def test_without_a_score_there_are_no_soft_measures():
    assert not any(name.startswith("soft") for name in measures(Y, HARD, S))


def test_with_several_groups_there_is_no_signed_gap():
    found = measures(Y, HARD, np.array([0, 1, 2, 0, 0, 1, 2, 0]), SCORE)
    assert "eo_gap" not in found
    assert found["eo_violation"] == pytest.approx(1.0)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_violation_is_the_absolute_gap(seed):
    rng = np.random.default_rng(seed)
    s = np.r_[S, rng.integers(2, size=20)]
    y = np.r_[Y, rng.integers(2, size=20)]
    score = rng.uniform(size=len(s))
    found = measures(y, (score > 0.5).astype(int), s, score)
    assert found["eo_violation"] == pytest.approx(abs(found["eo_gap"]))
    assert found["soft_eo_violation"] == pytest.approx(abs(found["soft_eo_gap"]))


@settings(deadline=None, derandomize=True, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), n_groups=st.integers(2, 4))
def test_measures_from_one_table_match_the_separate_metrics_of_the_library(seed, n_groups):
    rng = np.random.default_rng(seed)
    s = np.r_[np.repeat(np.arange(n_groups), 2), rng.integers(n_groups, size=30)]
    y = np.r_[np.tile([0, 1], n_groups), rng.integers(2, size=30)]
    score = rng.uniform(size=len(s))
    hard = (score > 0.6).astype(int)
    found = measures(y, hard, s, score)
    among = y == 1
    for prefix, positive in (("", hard), ("soft_", score)):
        groups = {"sensitive_features": s}
        assert found[f"{prefix}p_rule"] == pytest.approx(
            demographic_parity_ratio(None, positive, **groups)
        )
        gap = demographic_parity_difference(None, positive, **groups)
        assert found[f"{prefix}dp_violation"] == pytest.approx(gap)
        gap = equal_opportunity_difference(y, positive, **groups)
        assert found[f"{prefix}eo_violation"] == pytest.approx(gap)
    soft = np.column_stack([1 - score, score])
    assert found["rho_R"] == pytest.approx(renyi_correlation(hard, s), abs=1e-12)
    assert found["soft_rho_R"] == pytest.approx(renyi_from_soft(soft, s), abs=1e-12)
    assert found["nmi"] == pytest.approx(normalized_mutual_information(hard, s), abs=1e-12)
    pearson = max(abs(np.corrcoef(score, s == j)[0, 1]) for j in range(n_groups))
    assert found["score_pearson"] == pytest.approx(pearson)
    rates = group_rates(None, hard, sensitive_features=s)
    assert [found[f"rate_{j}"] for j in range(n_groups)] == pytest.approx(rates.tolist())
    assert [found[f"n_{j}"] for j in range(n_groups)] == np.bincount(s).tolist()
    rates = group_rates(None, hard[among], sensitive_features=s[among])
    assert [found[f"tpr_{j}"] for j in range(n_groups)] == pytest.approx(rates.tolist())
    assert [found[f"pos_{j}"] for j in range(n_groups)] == np.bincount(s[among]).tolist()


def test_mutual_information_of_the_sampled_label_matches_enumerated_labels():
    probabilities = np.array([0.25, 0.75] * 4)
    draws = np.repeat([0, 1, 1, 1], 8).reshape(4, 8)
    draws[:, ::2] = 1 - draws[:, ::2]
    groups = np.tile(np.arange(2), 4)
    labels, people = draws.ravel(), np.tile(groups, 4)
    found = measures(Y, (probabilities > 0.5).astype(int), groups, probabilities)
    assert found["soft_nmi"] == pytest.approx(normalized_mutual_information(labels, people))


def test_mutual_information_of_the_sampled_label_uses_fractional_counts():
    probabilities, groups = np.array([0.3, 0.4, 0.2, 0.9]), np.array([0, 0, 1, 1])
    drawn = np.array([[1.3, 0.9], [0.7, 1.1]])
    joint = drawn / 4
    logs = np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    entropies = [-np.sum(q * np.log(q)) for q in (joint.sum(axis=0), joint.sum(axis=1))]
    found = measures(Y[:4], (probabilities > 0.5).astype(int), groups, probabilities)
    assert found["soft_nmi"] == pytest.approx(np.sum(joint * logs) / np.mean(entropies))


def test_a_group_without_positives_has_no_true_positive_rate():
    found = measures(np.array([1, 0, 0, 1]), np.array([1, 1, 0, 0]), np.array([0, 1, 1, 0]))
    assert found["pos_1"] == 0
    assert np.isnan(found["tpr_1"])
    assert found["eo_violation"] == 0


def test_a_constant_score_is_independent():
    found = measures(Y, np.ones(8, dtype=int), S, np.full(8, 0.7))
    assert found["score_pearson"] == found["soft_rho_R"] == found["rho_R"] == 0
