"""Linear FERM satisfies its constraint in the space of the original features."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from renyi_lib.baselines import DoniniClassifier
from renyi_lib.baselines.donini import fair_features
from tests.renyi_lib.baselines import biased_data


@pytest.mark.parametrize("svm", [None, SVC(kernel="linear")])
@pytest.mark.parametrize("fairness", ["equal_opportunity", "demographic_parity"])
def test_the_weights_are_orthogonal_to_the_difference_of_means(fairness, svm):
    X, y, s = biased_data()
    clf = DoniniClassifier(0.1, fairness=fairness, svm=svm).fit(X, y, sensitive_features=s)
    mask = y == 1 if fairness == "equal_opportunity" else np.full(len(y), True)
    u = X[mask & (s == 1)].mean(axis=0) - X[mask & (s == 0)].mean(axis=0)
    np.testing.assert_allclose(clf.u_, u)
    assert abs(clf.coef_[0] @ u) < 1e-12
    assert np.linalg.norm(clf.coef_) > 0.1


def test_scores_match_the_svm_on_the_transformed_features():
    X, y, s = biased_data()
    clf = DoniniClassifier(0.1).fit(X, y, sensitive_features=s)
    features, _ = fair_features(X, clf.u_)
    np.testing.assert_allclose(clf.decision_function(X), clf.svm_.decision_function(features))
    np.testing.assert_array_equal(clf.predict(X), clf.svm_.predict(features))


def test_the_removed_feature_has_the_largest_difference():
    u = np.array([1.0, -3.0, 2.0])
    X = np.random.default_rng(0).normal(size=(5, 3))
    features, back = fair_features(X, u)
    np.testing.assert_allclose(
        features, np.column_stack([X[:, 0] + X[:, 1] / 3, X[:, 2] + X[:, 1] * 2 / 3])
    )
    np.testing.assert_allclose(back(np.array([1.0, 1.0])), [1, 1, 1])


def test_transformed_features_span_all_fair_weights():
    # A large C makes the ridge negligible, so this equals a constrained fit to the original
    # features.
    X, y, s = biased_data(n=300)
    clf = DoniniClassifier(1e4, svm=LinearSVC(dual=False, tol=1e-10)).fit(
        X, y, sensitive_features=s
    )
    sign = 2 * y - 1

    def squared_hinge(theta):
        slack = np.maximum(0, 1 - sign * (X @ theta[:-1] + theta[-1]))
        by_score = -2 * sign * slack
        return np.mean(slack**2), np.append(X.T @ by_score, by_score.sum()) / len(y)

    general = minimize(
        squared_hinge,
        np.zeros(5),
        jac=True,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda t: t[:-1] @ clf.u_},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = squared_hinge(np.append(clf.coef_[0], clf.intercept_))[0]
    assert found == pytest.approx(general.fun, abs=1e-6)


def test_equal_group_means_give_the_plain_svm():
    X, y, _ = biased_data()
    twice, labels, s = np.vstack([X, X]), np.tile(y, 2), np.repeat(["f", "m"], len(y))
    clf = DoniniClassifier(0.1).fit(twice, labels, sensitive_features=s)
    plain = LinearSVC(C=0.1, dual=False).fit(twice, labels)
    np.testing.assert_allclose(clf.coef_, plain.coef_)


def test_chosen_c_is_the_fairest_with_nearly_the_best_accuracy():
    X, y, s = biased_data(n=600)
    choices = [1e-5, 1e-3, 0.1]
    strict = DoniniClassifier(choices, near_best=1.0).fit(X, y, sensitive_features=s)
    loose = DoniniClassifier(choices, near_best=0.0).fit(X, y, sensitive_features=s)
    tables = {C: [] for C in choices}
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, 2 * y + s):
        for C in choices:
            one = DoniniClassifier(C).fit(X[train], y[train], sensitive_features=s[train])
            predicted = one.predict(X[test])
            rates = [predicted[(y[test] == 1) & (s[test] == j)].mean() for j in (0, 1)]
            tables[C].append([np.mean(predicted == y[test]), abs(rates[0] - rates[1])])
    accuracy, violation = np.array([np.mean(tables[C], axis=0) for C in choices]).T
    assert choices[accuracy.argmax()] == strict.C_
    assert choices[violation.argmin()] == loose.C_
    assert strict.C_ != loose.C_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be a positive number"),
        ({"C": []}, "C is empty"),
        ({"near_best": 2}, "near_best must be a number from 0 to 1"),
        ({"fairness": "equalized_odds"}, "fairness must be one of"),
    ],
)
def test_invalid_parameters_raise(params, message):
    X, y, s = biased_data(n=40)
    with pytest.raises(ValueError, match=message):
        DoniniClassifier(**params).fit(X, y, sensitive_features=s)


def test_group_without_the_favorable_label_raises():
    X, y, s = biased_data(n=40)
    with pytest.raises(ValueError, match="group 1 of sensitive_features has no sample"):
        DoniniClassifier(1).fit(X, y, sensitive_features=np.where(y == 1, 0, s))
