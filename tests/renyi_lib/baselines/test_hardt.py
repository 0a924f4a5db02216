"""Hardt's thresholds, as found by fairlearn, satisfy the constraint on the training data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from renyi_lib.baselines import HardtClassifier
from renyi_lib.metrics import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)
from tests.renyi_lib.baselines import biased_data

VIOLATIONS = {
    "demographic_parity": lambda y, F, s: demographic_parity_difference(
        None, F, sensitive_features=s
    ),
    "equal_opportunity": lambda y, F, s: equal_opportunity_difference(y, F, sensitive_features=s),
    "equalized_odds": lambda y, F, s: equalized_odds_difference(y, F, sensitive_features=s),
}


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("fairness", VIOLATIONS)
def test_constraint_holds_on_the_training_data(fairness, n_groups):
    X, y, s = biased_data(n=600, n_groups=n_groups)
    clf = HardtClassifier(fairness=fairness).fit(X, y, sensitive_features=s)
    F = clf.predict_proba(X, sensitive_features=s)
    assert VIOLATIONS[fairness](y, F[:, 1], s) < 1e-10
    base = clf.optimizer_.estimator_.predict(X)
    assert VIOLATIONS[fairness](y, base, s) > 0.05


def test_labels_are_sampled_with_their_probabilities():
    X, y, s = biased_data()
    clf = HardtClassifier(fairness="equalized_odds").fit(X, y, sensitive_features=s)
    F = clf.predict_proba(X, sensitive_features=s)[:, 1]
    assert ((F > 0.05) & (F < 0.95)).any()
    again = clf.set_params(random_state=0).predict(
        np.tile(X, (400, 1)), sensitive_features=np.tile(s, 400)
    )
    drawn = again.reshape(400, -1).mean(axis=0)
    assert np.abs(drawn - F).max() < 5 * np.sqrt(0.25 / 400)
    assert clf.score(X, y, sensitive_features=s) == pytest.approx(
        np.mean(np.where(y == 1, F, 1 - F))
    )


def test_known_thresholds_are_found():
    # One feature determines the label, with threshold 0 in the first group and 1 in the second. A
    # separate threshold for each group is therefore fair and always correct.
    x = np.tile(np.linspace(-2, 3, 200), 2)
    s = np.repeat(["a", "b"], 200)
    y = np.where(s == "a", x > 0, x > 1).astype(int)
    clf = HardtClassifier(random_state=0).fit(x[:, None], y, sensitive_features=s)
    predicted = clf.predict(x[:, None], sensitive_features=s)
    np.testing.assert_array_equal(predicted, y)


def test_seed_determines_the_sampled_labels():
    X, y, s = biased_data()
    clf = HardtClassifier(fairness="equalized_odds", random_state=3)
    clf.fit(X, y, sensitive_features=s)
    first = clf.predict(X, sensitive_features=s)
    np.testing.assert_array_equal(clf.predict(X, sensitive_features=s), first)
    other = clf.set_params(random_state=4).predict(X, sensitive_features=s)
    assert (other != first).any()


def test_any_classifier_labels_and_joint_groups_are_accepted():
    X, y, s = biased_data(n=800, n_groups=4)
    frame = pd.DataFrame(
        {"sex": np.array(["f", "m"])[s // 2], "race": np.array(["b", "w"])[s % 2]}
    )
    labels = np.array(["no", "yes"])[y]
    clf = HardtClassifier(estimator=GaussianNB(), random_state=0)
    clf.fit(X, labels, sensitive_features=frame)
    assert isinstance(clf.optimizer_.estimator_, GaussianNB)
    assert set(clf.predict(X, sensitive_features=frame)) == {"no", "yes"}
    F = clf.predict_proba(X, sensitive_features=frame)[:, 1]
    assert equal_opportunity_difference(y, F, sensitive_features=s) < 1e-10


def test_invalid_input_raises():
    X, y, s = biased_data(n=60)
    with pytest.raises(ValueError, match="fairness must be one of"):
        HardtClassifier(fairness="parity").fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="has no sample with the label"):
        HardtClassifier().fit(X, y, sensitive_features=np.where(y == 1, 0, 1))
    with pytest.raises(ValueError, match="X has 60, sensitive_features has 59"):
        HardtClassifier().fit(X, y, sensitive_features=s).predict(X, sensitive_features=s[1:])
    with pytest.raises(NotFittedError):
        HardtClassifier().predict(X, sensitive_features=s)
