"""Pearson and HSIC: the penalised classifier with the penalty that the name promises."""

import numpy as np
import pytest
from sklearn.base import clone

from renyi_lib.baselines import HSICClassifier, PearsonClassifier
from renyi_lib.classification import PenalizedClassifier
from renyi_lib.correlation import hsic, pearson_correlation
from renyi_lib.penalties import HSICPenalty, PearsonPenalty
from tests.baselines import biased_data

CASES = {
    "pearson": (PearsonClassifier(3.0), PearsonPenalty()),
    "gaussian": (HSICClassifier(30.0, bandwidth=0.4), HSICPenalty("gaussian", 0.4)),
    "linear": (HSICClassifier(30.0, kernel="linear"), HSICPenalty("linear")),
}


@pytest.mark.parametrize("case", CASES)
def test_the_classifier_is_that_of_its_penalty(case):
    classifier, penalty = CASES[case]
    X, y, s = biased_data()
    classifier.fit(X, y, sensitive_features=s)
    generic = PenalizedClassifier(penalty, lam=classifier.lam).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(classifier.coef_, generic.coef_)
    value = classifier.penalty_value(X, sensitive_features=s)
    score = classifier.predict_proba(X)[:, 1]
    if case == "pearson":
        assert value == pytest.approx(pearson_correlation(score, s) ** 2)
    elif case == "gaussian":
        assert value == pytest.approx(2 * hsic(score, s, bandwidth=0.4))
    else:
        assert value == pytest.approx(4 * np.cov(score, s, bias=True)[0, 1] ** 2)


@pytest.mark.parametrize(
    "classifier", [PearsonClassifier(), HSICClassifier(), HSICClassifier(kernel="linear")]
)
def test_a_large_lam_makes_the_measure_small(classifier):
    X, y, s = biased_data()
    values = []
    for lam in [0, 10, 1000]:
        classifier.set_params(lam=lam).fit(X, y, sensitive_features=s)
        values.append(classifier.penalty_value(X, sensitive_features=s))
    assert values[0] > 2 * values[1] > 4 * values[2]
    assert values[2] < 1e-3 * values[0]


def test_a_bad_kernel_is_named():
    X, y, s = biased_data(n=40)
    with pytest.raises(ValueError, match="kernel must be 'gaussian' or 'linear'"):
        HSICClassifier(kernel="cosine").fit(X, y, sensitive_features=s)


@pytest.mark.parametrize("fairness", ["equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("classifier", [PearsonClassifier(10.0), HSICClassifier(1000.0)])
def test_the_measure_given_the_label_can_be_made_small(classifier, fairness):
    X, y, s = biased_data()
    classifier = clone(classifier).set_params(fairness=fairness)
    classifier.fit(X, y, sensitive_features=s)
    plain = clone(classifier).set_params(lam=0).fit(X, y, sensitive_features=s)
    values = [c.penalty_value(X, y, sensitive_features=s) for c in (classifier, plain)]
    assert values[0] < 0.1 * values[1]
    assert classifier.adversary_ is None
