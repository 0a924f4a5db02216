"""The classifier works with the Pearson and HSIC penalties in place of rho_R^2."""

import numpy as np
import pytest
from sklearn.base import clone

from renyi_lib.classification import PenalizedClassifier
from renyi_lib.dependence import gaussian_waves, hsic, pearson_correlation
from renyi_lib.penalties import Groups, HSICPenalty, PearsonPenalty
from renyi_lib.penalties._hsic import _CellWaves, _Waves
from tests.renyi_lib.data import biased_data

PEARSON = PenalizedClassifier(PearsonPenalty(), lam=3.0)
GAUSSIAN = PenalizedClassifier(HSICPenalty(bandwidth=0.4), lam=30.0)
LINEAR = PenalizedClassifier(HSICPenalty("linear"), lam=30.0)


@pytest.mark.parametrize(
    ("classifier", "measure"),
    [
        (PEARSON, lambda score, s: pearson_correlation(score, s) ** 2),
        (GAUSSIAN, lambda score, s: 2 * hsic(score, s, bandwidth=0.4)),
        (LINEAR, lambda score, s: 4 * np.cov(score, s, bias=True)[0, 1] ** 2),
    ],
)
def test_penalty_equals_the_measure_of_score_and_group(classifier, measure):
    X, y, s = biased_data()
    classifier = clone(classifier).fit(X, y, sensitive_features=s)
    score = classifier.predict_proba(X)[:, 1]
    assert classifier.penalty_value(X, sensitive_features=s) == pytest.approx(measure(score, s))


@pytest.mark.parametrize("classifier", [PEARSON, GAUSSIAN, LINEAR])
def test_large_lam_makes_the_measure_small(classifier):
    X, y, s = biased_data()
    values = []
    for lam in [0, 10, 1000]:
        fitted = clone(classifier).set_params(lam=lam).fit(X, y, sensitive_features=s)
        values.append(fitted.penalty_value(X, sensitive_features=s))
    assert values[0] > 2 * values[1] > 4 * values[2]
    assert values[2] < 1e-3 * values[0]


@pytest.mark.parametrize("fairness", ["equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize(("classifier", "lam"), [(PEARSON, 10.0), (GAUSSIAN, 1000.0)])
def test_large_lam_makes_the_conditional_measure_small(classifier, lam, fairness):
    X, y, s = biased_data()
    fair, plain = (
        clone(classifier).set_params(fairness=fairness, lam=weight).fit(X, y, sensitive_features=s)
        for weight in (lam, 0.0)
    )
    values = [c.penalty_value(X, y, sensitive_features=s) for c in (fair, plain)]
    assert values[0] < 0.1 * values[1]
    assert fair.adversary_ is None


@pytest.mark.parametrize("bandwidth", [0.05, 0.25, 1.0])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_moments_in_cells_give_the_sums_of_waves_to_rounding(bandwidth, n_groups):
    rng = np.random.default_rng(0)
    # The ends of [0, 1], the borders of cells, and points slightly outside, as in differences.
    x = np.r_[0.0, 1.0, -1e-5, 1 + 1e-5, np.arange(1, 100) / 100, rng.beta(0.3, 1, size=900)]
    weight = rng.uniform(size=len(x))
    groups = Groups.from_labels(rng.integers(n_groups, size=len(x)), weight)
    frequencies = gaussian_waves(1 / bandwidth)[0] / bandwidth
    one_by_one, in_cells = (kind(x, frequencies, groups) for kind in (_Waves, _CellWaves))
    np.testing.assert_allclose(in_cells.means(), one_by_one.means(), rtol=0, atol=2e-14)
    factors = rng.normal(size=(len(frequencies), n_groups, 2)) @ [1, 1j]
    scale = np.abs(factors).sum()
    np.testing.assert_allclose(
        in_cells.imaginary(factors), one_by_one.imaginary(factors), rtol=0, atol=2e-14 * scale
    )


@pytest.mark.parametrize("n", [300, 2500])
def test_hsic_of_few_and_many_samples_matches_the_kernel_matrices(n):
    rng = np.random.default_rng(n)
    score, s = rng.beta(1, 2, size=n), rng.integers(2, size=n)
    value, gradient = HSICPenalty().value_and_grad(np.column_stack([1 - score, score]), s)
    K = np.exp(-0.5 * ((score[:, None] - score) / 0.25) ** 2)
    L = (s[:, None] == s).astype(float)
    by_group = L - L.mean(axis=0) - L.mean(axis=1)[:, None] + L.mean()
    assert value == pytest.approx(2 * np.sum(K * by_group) / n**2, rel=1e-9)
    slope = -K * (score[:, None] - score) / 0.25**2
    by_score = 2 * np.sum(slope * by_group, axis=1) / n**2
    np.testing.assert_allclose(gradient, np.column_stack([-by_score, by_score]), atol=1e-15)


def test_probabilities_need_not_sum_to_one():
    rng = np.random.default_rng(0)
    F, s = rng.uniform(size=(50, 2)), np.arange(50) % 2
    value = HSICPenalty(bandwidth=0.4).value_and_grad(F, s)[0]
    assert value == pytest.approx(sum(hsic(column, s, bandwidth=0.4) for column in F.T))
