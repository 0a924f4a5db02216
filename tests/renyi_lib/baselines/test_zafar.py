"""Zafar's covariance constraints hold exactly, at minimum loss and for the right means."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from renyi_lib.baselines import ZafarClassifier
from tests.renyi_lib.baselines import biased_data, logistic_objective, parameters


def covariance(scores, s, mask=True):
    """The covariance of the scores and the indicator s among the samples of the mask."""
    mask = np.broadcast_to(mask, s.shape)
    return np.cov(scores[mask], s[mask], bias=True)[0, 1]


@pytest.mark.parametrize("fairness", ["demographic_parity", "equal_opportunity"])
def test_covariance_is_zero_and_the_loss_matches_a_general_solver(fairness):
    X, y, s = biased_data()
    clf = ZafarClassifier(0, fairness=fairness, l2=0, tol=1e-9).fit(X, y, sensitive_features=s)
    mask = y == 1 if fairness == "equal_opportunity" else np.full(len(y), True)
    assert abs(covariance(clf.decision_function(X), s, mask)) < 1e-12
    general = minimize(
        logistic_objective,
        np.zeros(5),
        (X, y),
        jac=True,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda t: covariance(X @ t[:-1], s, mask)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert logistic_objective(parameters(clf), X, y)[0] == pytest.approx(general.fun, abs=1e-9)


def test_equality_of_opportunity_uses_means_given_the_favorable_label():
    # Centered at the group's share among all samples, the "covariance" would not be zero.
    X, y, s = biased_data()
    clf = ZafarClassifier(fairness="equal_opportunity").fit(X, y, sensitive_features=s)
    scores = clf.decision_function(X)[y == 1]
    group = s[y == 1]
    assert scores[group == 1].mean() == pytest.approx(scores[group == 0].mean(), abs=1e-10)
    assert abs(np.mean((group - s.mean()) * scores)) > 1e-3


def test_active_bound_is_attained_but_not_exceeded():
    X, y, s = biased_data()
    free = abs(ZafarClassifier(1e6).fit(X, y, sensitive_features=s).covariances_[0])
    losses = []
    for share in [0.0, 0.3, 0.9]:
        clf = ZafarClassifier(share * free).fit(X, y, sensitive_features=s)
        scores = clf.decision_function(X)
        assert abs(covariance(scores, s)) == pytest.approx(share * free, abs=1e-10)
        np.testing.assert_allclose(clf.covariances_, covariance(scores, s), atol=1e-12)
        losses.append(logistic_objective(parameters(clf), X, y, clf.l2)[0])
    assert losses[0] > losses[1] > losses[2]


def test_inactive_bound_gives_logistic_regression():
    X, y, s = biased_data()
    clf = ZafarClassifier(1e6, l2=0.01, tol=1e-9).fit(X, y, sensitive_features=s)
    plain = LogisticRegression(C=1 / (0.01 * len(y)), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(clf.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert clf.multipliers_.tolist() == [0.0]


@pytest.mark.parametrize("c", [0.0, 0.02])
def test_each_of_several_groups_has_a_covariance(c):
    X, y, s = biased_data(n_groups=4, n=600)
    clf = ZafarClassifier(c).fit(X, y, sensitive_features=s)
    scores = clf.decision_function(X)
    found = np.array([covariance(scores, (s == j).astype(float)) for j in range(4)])
    np.testing.assert_allclose(found, clf.covariances_, atol=1e-12)
    assert np.abs(found).max() == pytest.approx(c, abs=1e-10)


def test_two_group_columns_define_joint_groups():
    X, y, s = biased_data(n_groups=4, n=600)
    joint = ZafarClassifier().fit(X, y, sensitive_features=np.column_stack([s // 2, s % 2]))
    single = ZafarClassifier().fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(joint.coef_, single.coef_)


def test_without_a_ridge_a_few_samples_absorb_the_constraint():
    X, y, s = biased_data(n=2000)
    ahead = int(ZafarClassifier(1e6).fit(X, y, sensitive_features=s).covariances_[0] > 0)
    rare = np.zeros(len(y))
    rare[np.flatnonzero((y == 0) & (s == ahead))[:3]] = 1
    wide = np.column_stack([X, rare])
    plain = ZafarClassifier(1e6, l2=0).fit(wide, y, sensitive_features=s)
    constrained = ZafarClassifier(0, l2=0).fit(wide, y, sensitive_features=s)
    ridge = ZafarClassifier(0, l2=0.01).fit(wide, y, sensitive_features=s)
    assert abs(covariance(constrained.decision_function(wide), s)) < 1e-10
    assert constrained.coef_[0, -1] < 3 * plain.coef_[0, -1]
    np.testing.assert_allclose(constrained.coef_[0, :-1], plain.coef_[0, :-1], atol=1e-3)
    assert np.abs(ridge.coef_[0, :-1] - plain.coef_[0, :-1]).max() > 0.05


def mistakes_covariance(theta, X, y, s):
    z = X @ theta[:-1] + theta[-1]
    return covariance(np.minimum(z, 0), s, y == 1)


@pytest.mark.parametrize("c", [0.001, 0.01])
def test_bound_on_mistakes_holds_at_no_more_loss_than_a_general_solver(c):
    X, y, s = biased_data(n=2000, seed=2)
    clf = ZafarClassifier(c, fairness="equal_opportunity", of="mistakes", l2=0)
    clf.fit(X, y, sensitive_features=s)
    theta = parameters(clf)
    found = mistakes_covariance(theta, X, y, s)
    np.testing.assert_allclose(clf.covariances_, found, atol=1e-12)
    plain = ZafarClassifier(1e6, l2=0).fit(X, y, sensitive_features=s)
    linear = ZafarClassifier(c, fairness="equal_opportunity", l2=0).fit(X, y, sensitive_features=s)
    unfair = abs(mistakes_covariance(parameters(plain), X, y, s))
    assert abs(found) <= c + 1e-3 * unfair
    assert unfair > 0.02
    assert abs(found - mistakes_covariance(parameters(linear), X, y, s)) > 1e-3
    # A local search from the solution, under the constraint itself, finds no smaller loss.
    sign = np.sign(mistakes_covariance(parameters(plain), X, y, s))
    general = minimize(
        logistic_objective,
        theta,
        (X, y),
        jac=True,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda t: abs(found) - sign * mistakes_covariance(t, X, y, s),
        },
        options={"ftol": 1e-12, "maxiter": 200},
    )
    assert logistic_objective(theta, X, y)[0] <= general.fun + 1e-4


def test_mistakes_within_the_bound_give_logistic_regression():
    X, y, s = biased_data()
    clf = ZafarClassifier(10, fairness="equal_opportunity", of="mistakes")
    plain = ZafarClassifier(1e6).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(clf.fit(X, y, sensitive_features=s).coef_, plain.coef_)


def test_fit_without_an_intercept_has_none():
    X, y, s = biased_data()
    clf = ZafarClassifier(fit_intercept=False).fit(X, y, sensitive_features=s)
    assert clf.intercept_.tolist() == [0.0]
    assert abs(covariance(clf.decision_function(X), s)) < 1e-12


def test_too_few_steps_warn():
    X, y, s = biased_data()
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        ZafarClassifier(max_iter=1).fit(X, y, sensitive_features=s)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"c": -1}, "c must be a number, 0 or more"),
        ({"l2": None}, "l2 must be a number"),
        ({"fairness": "equalized_odds"}, "fairness must be one of"),
        ({"of": "rates"}, "of must be one of 'scores', 'mistakes'"),
        ({"of": "mistakes"}, "of='mistakes' requires fairness='equal_opportunity'"),
    ],
)
def test_invalid_parameters_raise(params, message):
    X, y, s = biased_data(n=40)
    with pytest.raises(ValueError, match=message):
        ZafarClassifier(**params).fit(X, y, sensitive_features=s)


def test_group_without_the_favorable_label_raises():
    X, y, s = biased_data(n=40)
    with pytest.raises(ValueError, match="group 1 has no sample with the label 1"):
        ZafarClassifier(fairness="equal_opportunity").fit(
            X, y, sensitive_features=np.where(y == 1, 0, s)
        )
