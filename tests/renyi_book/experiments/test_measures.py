import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_book.experiments._measures import measures

Y = np.array([1, 1, 1, 1, 0, 0, 0, 0])
S = np.array([0, 0, 1, 1, 0, 0, 1, 1])
HARD = np.array([1, 0, 1, 1, 0, 0, 1, 0])
SCORE = np.array([0.9, 0.4, 0.8, 0.7, 0.1, 0.2, 0.6, 0.3])


def test_the_measures_of_a_small_case_by_hand():
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


def test_a_constant_score_depends_on_nothing():
    found = measures(Y, np.ones(8, dtype=int), S, np.full(8, 0.7))
    assert found["score_pearson"] == found["soft_rho_R"] == found["rho_R"] == 0
