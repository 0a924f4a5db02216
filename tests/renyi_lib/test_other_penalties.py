"""Pearson and HSIC in the place of rho_R^2: the same classifier with another penalty."""

import numpy as np
import pytest
from sklearn.base import clone

from renyi_lib.classification import PenalizedClassifier
from renyi_lib.correlation import hsic, pearson_correlation
from renyi_lib.penalties import HSICPenalty, PearsonPenalty
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
def test_what_is_penalized_is_the_measure_of_score_and_group(classifier, measure):
    X, y, s = biased_data()
    classifier = clone(classifier).fit(X, y, sensitive_features=s)
    score = classifier.predict_proba(X)[:, 1]
    assert classifier.penalty_value(X, sensitive_features=s) == pytest.approx(measure(score, s))


@pytest.mark.parametrize("classifier", [PEARSON, GAUSSIAN, LINEAR])
def test_a_large_lam_makes_the_measure_small(classifier):
    X, y, s = biased_data()
    values = []
    for lam in [0, 10, 1000]:
        fitted = clone(classifier).set_params(lam=lam).fit(X, y, sensitive_features=s)
        values.append(fitted.penalty_value(X, sensitive_features=s))
    assert values[0] > 2 * values[1] > 4 * values[2]
    assert values[2] < 1e-3 * values[0]


@pytest.mark.parametrize("fairness", ["equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize(("classifier", "lam"), [(PEARSON, 10.0), (GAUSSIAN, 1000.0)])
def test_the_measure_given_the_label_can_be_made_small(classifier, lam, fairness):
    X, y, s = biased_data()
    fair, plain = (
        clone(classifier).set_params(fairness=fairness, lam=weight).fit(X, y, sensitive_features=s)
        for weight in (lam, 0.0)
    )
    values = [c.penalty_value(X, y, sensitive_features=s) for c in (fair, plain)]
    assert values[0] < 0.1 * values[1]
    assert fair.adversary_ is None
