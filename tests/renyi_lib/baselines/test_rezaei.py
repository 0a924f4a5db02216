"""The fair robust log loss solves its game, is exactly fair and matches the moments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from renyi_lib.baselines import RezaeiClassifier
from renyi_lib.baselines.rezaei import fair_saddle_point, robust_game
from renyi_lib.classification import RenyiClassifier
from tests.renyi_lib.baselines import biased_data, logistic_objective, parameters

scores = st.floats(-4, 4)
tilts = st.floats(-6, 6)
NOTIONS = ["demographic_parity", "equal_opportunity", "equalized_odds"]


def steep_data(n=600, seed=1):
    """Groups whose rates differ so much that probabilities have to be clipped."""
    rng = np.random.default_rng(seed)
    s = (rng.random(n) < 0.3).astype(int)
    X = np.column_stack([rng.normal(size=n) + 2 * s, rng.normal(size=n)])
    y = (2 * X.sum(axis=1) - 2 + rng.logistic(size=n) > 0).astype(int)
    return X, y, s


def mean_gaps(clf, X, y, s):
    """The differences of the groups' mean P̂ that the notion of fairness requires to be 0."""
    F = clf.predict_proba_given(X, y, sensitive_features=s)[:, 1]
    masks = {
        "demographic_parity": [np.full(len(y), True)],
        "equal_opportunity": [y == 1],
        "equalized_odds": [y == 0, y == 1],
    }[clf.fairness]
    return [F[m & (s == 1)].mean() - F[m & (s == 0)].mean() for m in masks]


class TestGame:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(z=scores, c=tilts)
    def test_strategies_are_best_responses_with_the_stated_value(self, z, c):
        value, p_hat, p_check = (a[0] for a in robust_game(np.array([z]), np.array([c]))[:3])

        def payoff(p, q):
            return -q * np.log(p) - (1 - q) * np.log1p(-p) + c * p + z * q

        assert 0 <= p_check <= 1
        assert payoff(p_hat, p_check) == pytest.approx(value, abs=1e-9)
        # The adversary's payoff is linear in q, so its maximum is attained at q = 0 or q = 1.
        assert max(payoff(p_hat, 0), payoff(p_hat, 1)) == pytest.approx(value, abs=1e-9)
        grid = np.linspace(1e-4, 1 - 1e-4, 20_001)
        assert payoff(grid, p_check).min() >= value - 1e-9

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(z=scores, c=tilts)
    def test_derivatives_agree_with_differences(self, z, c):
        h = 1e-5
        z, c = np.array([z]), np.array([c])

        def slope(index, by):
            forward, backward = (
                robust_game(z + sign * h * (by == "z"), c + sign * h * (by == "c"))[index]
                for sign in (1, -1)
            )
            return (forward - backward) / (2 * h)

        _, p_hat, p_check, by_zz, by_zc, by_cc = robust_game(z, c)
        np.testing.assert_allclose(slope(0, "z"), p_check, atol=1e-4)
        np.testing.assert_allclose(slope(0, "c"), p_hat, atol=1e-4)
        kinds = [robust_game(z + e, c + f)[4] > 0 for e in (-h, h) for f in (-h, h)]
        if all(kinds) or not any(kinds):  # second derivatives jump where clipping begins
            np.testing.assert_allclose(slope(2, "z"), by_zz, atol=1e-4)
            np.testing.assert_allclose(slope(1, "z"), by_zc, atol=1e-4)
            np.testing.assert_allclose(slope(1, "c"), by_cc, atol=1e-4)

    def test_clipping_levels_match_the_theorem(self):
        z = np.array([-3.0, 0.0, 3.0])
        p = 1 / (1 + np.exp(-z))
        np.testing.assert_allclose(robust_game(z, np.full(3, 2.5))[1], np.minimum(p, 0.4))
        np.testing.assert_allclose(robust_game(z, np.full(3, -2.5))[1], np.maximum(p, 0.6))
        np.testing.assert_allclose(robust_game(z, np.full(3, 0.9))[1], p)


@pytest.mark.parametrize("data", [biased_data, steep_data])
@pytest.mark.parametrize("fairness", NOTIONS)
def test_cells_have_equal_mean_probabilities(fairness, data):
    X, y, s = data()
    plain = RezaeiClassifier(fairness=fairness).fit(X, y, sensitive_features=s)
    plain.tilt_ = np.zeros((2, 2))  # logistic regression with the same coefficients
    clf = RezaeiClassifier(fairness=fairness).fit(X, y, sensitive_features=s)
    assert np.abs(mean_gaps(clf, X, y, s)).max() < 1e-6
    if data is steep_data:
        assert np.abs(clf.tilt_).max() > 1
        assert np.abs(mean_gaps(plain, X, y, s)).max() > 0.1


@pytest.mark.parametrize("fairness", NOTIONS)
def test_the_adversary_matches_the_moments_of_the_data(fairness):
    X, y, s = steep_data()
    clf = RezaeiClassifier(fairness=fairness).fit(X, y, sensitive_features=s)
    z = X @ clf.coef_[0] + clf.intercept_[0]
    p_check = robust_game(z, clf.tilt_[y, s])[2]
    np.testing.assert_allclose(p_check.mean(), y.mean(), atol=1e-7)
    np.testing.assert_allclose(X.T @ (p_check - y) / len(y), 0, atol=1e-7)


def test_saddle_point_matches_general_solvers():
    X, y, s = steep_data()
    with_ones = np.column_stack([X, np.ones(len(X))])
    cells = np.where(s == 1, 1 / s.mean(), -1 / (1 - s).mean())[:, None]

    def dual(theta, lam):
        z = with_ones @ theta
        value, _, p_check, *_ = robust_game(z, lam * cells[:, 0])
        return np.mean(value - y * z), with_ones.T @ (p_check - y) / len(y)

    def best(lam):
        return minimize(dual, np.zeros(3), (lam,), jac=True, options={"gtol": 1e-9})

    general = minimize_scalar(
        lambda lam: -best(lam).fun, bounds=(-3, 3), method="bounded", options={"xatol": 1e-9}
    )
    theta, multipliers, _, converged = fair_saddle_point(
        with_ones, y, cells, ridge=np.zeros(3), tol=1e-8
    )
    assert converged
    assert dual(theta, multipliers[0])[0] == pytest.approx(-general.fun, abs=1e-9)
    assert multipliers[0] == pytest.approx(general.x, abs=1e-4)
    np.testing.assert_allclose(theta, best(general.x).x, atol=1e-3)


# Old versions of SLSQP warn when they leave the bounds before clipping.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
def test_predictor_is_the_best_fair_response_to_its_adversary():
    # P̂ minimizes the expected log loss under P̌ among all predictors with equal group means. This
    # problem in n variables is solved here without the game.
    X, y, s = (a[:40] for a in steep_data())
    clf = RezaeiClassifier(fairness="demographic_parity", l2=0.01).fit(X, y, sensitive_features=s)
    z = X @ clf.coef_[0] + clf.intercept_[0]
    _, p_hat, p_check, *_ = robust_game(z, clf.tilt_[0, s])

    def loss(p):
        value = -np.sum(p_check * np.log(p) + (1 - p_check) * np.log(1 - p))
        return value, -p_check / p + (1 - p_check) / (1 - p)

    general = minimize(
        loss,
        np.full(40, 0.5),
        jac=True,
        method="SLSQP",
        bounds=[(1e-9, 1 - 1e-9)] * 40,
        constraints={"type": "eq", "fun": lambda p: p[s == 1].mean() - p[s == 0].mean()},
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert loss(p_hat)[0] <= general.fun + 1e-9
    assert loss(p_hat)[0] == pytest.approx(general.fun, abs=1e-3)
    np.testing.assert_allclose(p_hat, general.x, atol=1e-3)


@pytest.mark.parametrize("fairness", NOTIONS)
def test_identical_groups_give_logistic_regression(fairness):
    X, y, _ = biased_data()
    twice, labels, s = np.vstack([X, X]), np.tile(y, 2), np.repeat([0, 1], len(y))
    clf = RezaeiClassifier(fairness=fairness, l2=0.01).fit(twice, labels, sensitive_features=s)
    plain = LogisticRegression(C=1 / (0.01 * len(labels)), tol=1e-10).fit(twice, labels)
    np.testing.assert_allclose(clf.coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(
        clf.predict_proba(twice, sensitive_features=s), plain.predict_proba(twice), atol=1e-5
    )


@pytest.mark.parametrize("fairness", ["demographic_parity", "equal_opportunity"])
def test_unclipped_solution_is_the_limit_of_the_renyi_penalty(fairness):
    X, y, s = biased_data(n=1000, seed=6)
    clf = RezaeiClassifier(fairness=fairness).fit(X, y, sensitive_features=s)
    assert np.abs(clf.tilt_).max() < 1
    renyi = RenyiClassifier(1e5, fairness=fairness, tol=1e-7, max_iter=5000)
    renyi.fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(
        clf.predict_proba(X, sensitive_features=s), renyi.predict_proba(X), atol=1e-3
    )
    np.testing.assert_allclose(
        logistic_objective(parameters(clf), X, y)[0], renyi.history_["loss"][-1], atol=1e-4
    )


def test_unknown_label_is_averaged_with_the_probabilities_of_the_adversary():
    X, y, s = steep_data()
    clf = RezaeiClassifier(fairness="equalized_odds").fit(X, y, sensitive_features=s)
    z = X @ clf.coef_[0] + clf.intercept_[0]
    hat, check = np.array([robust_game(z, clf.tilt_[k, s])[1:3] for k in (0, 1)]).swapaxes(0, 1)
    q = np.full(len(y), 0.5)
    for _ in range(20_000):  # the fixed point by iteration
        q = q * check[1] + (1 - q) * check[0]
    expected = q * hat[1] + (1 - q) * hat[0]
    found = clf.predict_proba(X, sensitive_features=s)
    np.testing.assert_allclose(found[:, 1], expected, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    labels = clf.predict(X, sensitive_features=s)
    np.testing.assert_array_equal(labels, (expected > 0.5).astype(int))
    assert clf.score(X, y, sensitive_features=s) == pytest.approx(np.mean(labels == y))


def test_names_of_groups_and_classes_have_no_effect():
    X, y, s = steep_data()
    clf = RezaeiClassifier().fit(X, y, sensitive_features=s)
    named = RezaeiClassifier().fit(
        X, np.array(["no", "yes"])[y], sensitive_features=np.array(["f", "m"])[s]
    )
    np.testing.assert_allclose(named.coef_, clf.coef_)
    # Samples of the second group alone get the same probabilities.
    men = named.predict_proba(X[s == 1], sensitive_features=["m"] * s.sum())
    both = clf.predict_proba(X, sensitive_features=s)
    women = clf.predict_proba(X[s == 1], sensitive_features=[0] * s.sum())
    np.testing.assert_allclose(men, both[s == 1])
    assert np.abs(men - women).max() > 0.1
    assert set(named.predict(X, sensitive_features=np.array(["f", "m"])[s])) == {"no", "yes"}


def test_unseen_or_too_many_groups_raise():
    X, y, s = biased_data()
    clf = RezaeiClassifier().fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match=r"unseen in fit: \[7\]"):
        clf.predict(X, sensitive_features=np.where(s == 1, 7, 0))
    with pytest.raises(ValueError, match="compares 2 groups, but sensitive_features has 3"):
        clf.fit(X, y, sensitive_features=np.arange(len(y)) % 3)


def test_too_few_steps_warn():
    X, y, s = steep_data()
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        RezaeiClassifier(max_iter=1).fit(X, y, sensitive_features=s)
