"""The fair regressor matches least squares without a penalty and known solutions with one."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import renyi_lib
from renyi_lib import RenyiRegressor, continuous_correlation, lam_path
from renyi_lib.classification import NoSensitiveFeaturesWarning
from renyi_lib.objective import FairObjective
from renyi_lib.regression import LinearModel, _standardized
from renyi_lib.smooth_penalties import PredictionPenalty, ordered_groups


def gaussian(n, p=4, seed=0):
    """Jointly Gaussian X, y and S, and the true cov(X), cov(X, y), var(y) and cov(X, S)."""
    rng = np.random.default_rng(seed)
    mix, by_s, beta = rng.normal(size=(p, p)), rng.normal(size=p), rng.normal(size=p)
    s = rng.normal(size=n)
    X = rng.normal(size=(n, p)) @ mix + np.outer(s, by_s)
    y = 5 + X @ beta + s + 2 * rng.normal(size=n)
    cov = mix.T @ mix + np.outer(by_s, by_s)
    truth = cov, cov @ beta + by_s, beta @ cov @ beta + 2 * beta @ by_s + 5, by_s
    return X, y, s, truth


def best(truth, lam):
    """R^2 and rho^2 of the best linear prediction for lam: an eigenvalue problem."""
    cov, with_y, var_y, with_s = truth
    root = np.linalg.cholesky(cov)
    a, b = np.linalg.solve(root, with_y) / np.sqrt(var_y), np.linalg.solve(root, with_s)
    u = np.linalg.eigh(np.outer(a, a) - lam * np.outer(b, b))[1][:, -1]
    return (a @ u) ** 2, (b @ u) ** 2


def true_values(coef, truth):
    """R^2 and rho^2 in the population, with the best scale, of a prediction."""
    cov, with_y, var_y, with_s = truth
    variance = coef @ cov @ coef
    return (coef @ with_y) ** 2 / variance / var_y, (coef @ with_s) ** 2 / variance


def u_shaped(n=2000, seed=0):
    """A feature that depends on |age - 45|, and is therefore uncorrelated with the age."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 70, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.abs(age - 45) / 7
    return X, X.sum(axis=1) + rng.normal(size=n), age


def test_scikit_learn_checks_pass():
    code = """
import warnings
from sklearn.utils.estimator_checks import check_estimator
from renyi_lib import RenyiRegressor
from renyi_lib.classification import NoSensitiveFeaturesWarning
warnings.simplefilter("error")
warnings.simplefilter("ignore", NoSensitiveFeaturesWarning)
for result in check_estimator(RenyiRegressor(), on_fail=None):
    print(result["status"], result["check_name"], result["exception"] or "")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) > 40
    assert [line for line in lines if not line.startswith("passed")] == []


class TestWithoutAPenalty:
    @pytest.mark.parametrize("storage", ["dense", "sparse"])
    @pytest.mark.parametrize("fit_intercept", [True, False])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_lam_zero_is_least_squares(self, storage, fit_intercept, weighted):
        X, y, _, _ = gaussian(200)
        X = (X * [1, 0.01, 100, 1] + [0, 0, 300, 1]) * (X > -1)
        weight = np.random.default_rng(1).integers(0, 3, size=200) if weighted else None
        expected = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
        X = X if storage == "dense" else sparse.csr_array(X)
        reg = RenyiRegressor(0, fit_intercept=fit_intercept, tol=1e-9)
        reg.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(reg.coef_, expected.coef_, rtol=1e-5)
        assert reg.intercept_ == pytest.approx(expected.intercept_, rel=1e-5)
        np.testing.assert_allclose(reg.predict(X), expected.predict(X), rtol=1e-5)

    def test_lam_zero_with_l2_is_ridge_regression(self):
        X, y, _, _ = gaussian(200)
        expected = Ridge(alpha=30).fit(X, y)
        reg = RenyiRegressor(0, l2=30 / 200, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(reg.coef_, expected.coef_, rtol=1e-6)

    def test_fit_does_not_change_sparse_data(self):
        X = sparse.csr_array(sparse.random(50, 3, density=0.5, random_state=0))
        before = X.toarray()
        RenyiRegressor(0).fit(X, np.arange(50.0))
        np.testing.assert_array_equal(X.toarray(), before)


class TestModel:
    @pytest.mark.parametrize("lam", [0.0, 0.7])
    def test_gradient_agrees_with_differences(self, lam):
        X, y, s, _ = gaussian(150)
        model = LinearModel(X, y, l2=0.1)
        objective = FairObjective(model, PredictionPenalty("continuous", 5), ordered_groups(s))
        rng = np.random.default_rng(0)
        theta, way, step = rng.normal(size=(1, 5)), rng.normal(size=(1, 5)), 1e-6
        _, gradient = objective(theta, lam)
        up, down = (objective(theta + sign * step * way, lam)[0] for sign in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(np.sum(gradient * way), rel=1e-6)

    def test_curvature_and_lipschitz_constant_match_the_hessian(self):
        X, y, _, _ = gaussian(150)
        model = LinearModel(X, y)
        ones = np.column_stack([X, np.ones(150)])
        hessian = 2 * ones.T @ ones / 150
        (root,) = model.at(np.zeros((1, 5))).curvature_roots()
        np.testing.assert_allclose(root @ root.T @ hessian, np.eye(5), atol=1e-8)
        assert model.lipschitz() == pytest.approx(np.linalg.eigvalsh(hessian)[-1])

    def test_pulling_back_many_gradients_matches_one_by_one(self):
        X, y, _, _ = gaussian(60)
        point = LinearModel(X, y).at(np.zeros((1, 5)))
        by_F = list(np.random.default_rng(0).normal(size=(37, 60)))
        for row, dF in zip(point.pull_back(by_F), by_F, strict=True):
            np.testing.assert_allclose(row, point.pull_back([dF])[0], atol=1e-12)


class TestKnownSolution:
    """For jointly Gaussian X and S, rho_R is |Pearson's r|, and an eigenvector is optimal."""

    @pytest.mark.parametrize("lam", [0, 0.3, 1, 3, 10])
    def test_fits_lie_on_the_known_frontier(self, lam):
        X, y, s, truth = gaussian(20_000)
        found = true_values(RenyiRegressor(lam).fit(X, y, sensitive_features=s).coef_, truth)
        np.testing.assert_allclose(found, best(truth, lam), atol=0.01)
        # The objective in the population is close to that of the best prediction.
        regret = np.array([1, -lam]) @ (np.array(best(truth, lam)) - found)
        assert -1e-9 < regret < 0.005

    def test_limit_for_large_lam_is_the_fair_projection(self):
        X, y, s, truth = gaussian(20_000)
        r2, rho2 = true_values(RenyiRegressor(100).fit(X, y, sensitive_features=s).coef_, truth)
        expected, _ = best(truth, 1e9)
        assert rho2 < 1e-3
        assert r2 > 0.9 * expected

    def test_known_solution_for_two_groups_of_equal_variance(self):
        # X given S is normal and only its mean depends on S, so a linear prediction is independent
        # of S if and only if it is orthogonal to the difference of the means.
        rng = np.random.default_rng(2)
        s = rng.integers(2, size=20_000)
        X = rng.normal(size=(20_000, 3)) + np.outer(s, [1, 0.5, 0])
        y = X @ [1, 1, 1] + rng.normal(size=20_000)
        reg = RenyiRegressor(100).fit(X, y, sensitive_features=np.where(s, "m", "f"))
        assert reg.kind_ == "discrete"
        direction = reg.coef_ / np.linalg.norm(reg.coef_)
        assert abs(direction @ [1, 0.5, 0]) < 0.05
        best_one = np.array([-0.2, 0.4, 1.0])  # the part of [1, 1, 1] orthogonal to [1, 0.5, 0]
        assert direction @ best_one / np.linalg.norm(best_one) > 0.97

    def test_a_dependence_without_correlation_is_removed(self):
        X, y, age = u_shaped()
        rho = [
            continuous_correlation(
                RenyiRegressor(lam).fit(X, y, sensitive_features=age).predict(X), age
            ).rho
            for lam in (0, 30)
        ]
        assert rho[0] > 0.4
        assert rho[1] < 0.1

    def test_feature_equal_to_the_attribute_gives_a_constant_prediction(self):
        s = np.random.default_rng(3).normal(size=500)
        y = 2 * s + 7
        kept = RenyiRegressor(0.5).fit(s[:, None], y, sensitive_features=s)
        assert kept.score(s[:, None], y) > 0.99
        dropped = RenyiRegressor(2.0).fit(s[:, None], y, sensitive_features=s)
        assert dropped.coef_.tolist() == [0.0]
        np.testing.assert_allclose(dropped.predict(s[:5, None]), y.mean())

    def test_chance_alone_does_not_lead_to_a_constant(self):
        X, y, s, _ = gaussian(2000)
        reg = RenyiRegressor(1e6).fit(X, y, sensitive_features=s)
        assert np.abs(reg.coef_).max() > 0.01

    def test_units_of_the_data_have_no_effect(self):
        X, y, s, _ = gaussian(2000)
        plain = RenyiRegressor(1).fit(X, y, sensitive_features=s).predict(X)
        scaled = RenyiRegressor(1).fit(1e5 * X + 3, 1e-3 * y, sensitive_features=np.exp(s))
        np.testing.assert_allclose(
            scaled.predict(1e5 * X + 3) * 1e3, plain, atol=0.02 * plain.std()
        )

    @pytest.mark.parametrize("unit", [1e-12, 1e12])
    def test_unit_of_the_target_may_be_tiny_or_huge(self, unit):
        X, y, s, _ = gaussian(200)
        plain = RenyiRegressor(1).fit(X, y, sensitive_features=s)
        scaled = RenyiRegressor(1).fit(X, unit * y, sensitive_features=s)
        np.testing.assert_allclose(scaled.coef_ / unit, plain.coef_, rtol=1e-6)


class TestPortability:
    """Relative errors of 1e-12 in the inputs do not change the minimum."""

    @pytest.mark.parametrize("lam", [0.3, 3.0, 30.0])
    def test_perturbed_inputs_give_the_same_solution(self, lam):
        # Coarse features give predictions that form clusters, as in Adult.
        rng = np.random.default_rng(0)
        age = rng.integers(18, 80, size=1500)
        X = np.column_stack([rng.random(1500) < share for share in np.linspace(0.1, 0.5, 6)])
        X = np.column_stack([X, age < 25, age > 60, np.abs(age - 45) > rng.normal(20, 5, 1500)])
        y = X @ rng.normal(size=9) - 1.5 * X[:, 6] + rng.normal(size=1500)
        reg = RenyiRegressor(lam, kind="continuous")
        plain = reg.fit(X, y, sensitive_features=age).coef_
        assert reg.history_["gradient_max"][-1] <= 1e-5 * (1 + lam / 10)
        shaken = X * (1 + 1e-12 * rng.normal(size=X.shape))
        found = reg.fit(shaken, y, sensitive_features=age).coef_
        np.testing.assert_allclose(found, plain, atol=5e-5)

    def test_newton_and_lbfgs_find_the_same_minimum(self, monkeypatch):
        X, y, age = u_shaped()
        plain = RenyiRegressor(1).fit(X, y, sensitive_features=age).coef_
        monkeypatch.setattr(LinearModel, "has_hessian", False)
        found = RenyiRegressor(1).fit(X, y, sensitive_features=age).coef_
        np.testing.assert_allclose(found, plain, rtol=1e-4)


class TestInterface:
    def test_penalty_value_and_adversary_are_consistent(self):
        X, y, age = u_shaped()
        reg = RenyiRegressor(1).fit(X, y, sensitive_features=age)
        value = reg.penalty_value(X, sensitive_features=age)
        assert value == pytest.approx(reg.history_["penalty"][-1], rel=1e-6)
        assert reg.kind_ == "continuous"
        middle, ends = np.abs(reg.groups_ - 45) < 5, np.abs(reg.groups_ - 45) > 20
        assert reg.adversary_[middle].mean() * reg.adversary_[ends].mean() < 0

    def test_zero_weight_samples_are_dropped(self):
        X, y, age = u_shaped(600)
        weight = np.repeat([1.0, 0.0], 300)
        weighted = RenyiRegressor(1).fit(X, y, sensitive_features=age, sample_weight=weight)
        alone = RenyiRegressor(1).fit(X[:300], y[:300], sensitive_features=age[:300])
        np.testing.assert_allclose(weighted.coef_, alone.coef_, rtol=1e-3)

    @pytest.mark.parametrize("n", [30, 100, 400])
    @pytest.mark.parametrize("kind", ["continuous", "discrete"])
    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_weights_equal_repeated_rows(self, n, kind, fit_intercept):
        X, y, age = u_shaped(n)
        s = age if kind == "continuous" else np.where(np.abs(age - 45) > 12, "ends", "middle")
        reg = RenyiRegressor(0.5, kind=kind, fit_intercept=fit_intercept)
        for weight in (np.full(n, 2), np.random.default_rng(1).integers(1, 4, size=n)):
            rows = np.repeat(np.arange(n), weight)
            repeated = clone(reg).fit(X[rows], y[rows], sensitive_features=s[rows])
            weighted = clone(reg).fit(X, y, sensitive_features=s, sample_weight=weight)
            np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-7)
            value = weighted.penalty_value(X, sensitive_features=s, sample_weight=weight)
            expected = repeated.penalty_value(X[rows], sensitive_features=s[rows])
            assert value == pytest.approx(expected, rel=1e-4)

    def test_weights_that_sum_to_one_do_not_count_as_one_row(self):
        X, y, age = u_shaped(400)
        plain = RenyiRegressor(1).fit(X, y, sensitive_features=age)
        weight = np.full(400, 1 / 400)
        weighted = RenyiRegressor(1).fit(X, y, sensitive_features=age, sample_weight=weight)
        np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6)

    def test_columns_are_scaled_by_their_weighted_variance(self):
        X = np.array([[0.0, 1.0], [1.0, 5.0], [4.0, 2.0]])
        weight = np.array([1, 1, 4])
        rows = np.repeat(np.arange(3), weight)
        for center in (True, False):
            _, shift, scale = _standardized(X.copy(), weight / 6, center)
            np.testing.assert_allclose(scale, X[rows].std(axis=0))
            np.testing.assert_allclose(shift, X[rows].mean(axis=0) if center else 0)

    def test_whole_years_are_labels_by_default(self):
        X, y, age = u_shaped()
        years = np.floor(age).astype(int)
        assert RenyiRegressor(1).fit(X, y, sensitive_features=years).kind_ == "discrete"
        reg = RenyiRegressor(1, kind="continuous").fit(X, y, sensitive_features=years)
        assert reg.kind_ == "continuous"
        assert reg.penalty_value(X[:500], sensitive_features=years[:500]) < 1

    def test_path_pipeline_and_clone_are_supported(self):
        X, y, age = u_shaped()
        lams = [3, 0, 1]
        path = lam_path(RenyiRegressor(), X, y, lams=lams, sensitive_features=age)
        values = [reg.penalty_value(X, sensitive_features=age) for reg in path]
        assert [reg.lam for reg in path] == lams
        assert values[1] > values[2] > values[0]
        alone = RenyiRegressor(1).fit(X, y, sensitive_features=age)
        np.testing.assert_allclose(path[2].coef_, alone.coef_, atol=5e-3)
        pipeline = make_pipeline(StandardScaler(), RenyiRegressor())
        scaled = lam_path(pipeline, X, y, lams=[1], sensitive_features=age)[0]
        np.testing.assert_allclose(scaled.predict(X), alone.predict(X), atol=0.02)
        pipeline.fit(X, y, renyiregressor__sensitive_features=age)
        np.testing.assert_allclose(pipeline.predict(X), alone.predict(X), atol=0.02)
        assert clone(RenyiRegressor(2, n_functions=5)).n_functions == 5

    def test_warm_start_continues_from_the_last_solution(self):
        X, y, age = u_shaped()
        reg = RenyiRegressor(3, warm_start=True).fit(X, y, sensitive_features=age)
        first, steps = reg.coef_, reg.n_iter_
        reg.fit(X, y, sensitive_features=age)
        assert reg.n_iter_ < steps
        np.testing.assert_allclose(reg.coef_, first, atol=1e-2)

    def test_warm_start_with_lam_zero_is_least_squares(self):
        X, y, age = u_shaped(200)
        reg = RenyiRegressor(3, warm_start=True).fit(X, y, sensitive_features=age)
        reg.set_params(lam=0).fit(X, y, sensitive_features=age)
        np.testing.assert_allclose(reg.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-5)

    @pytest.mark.parametrize(
        "storage", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array]
    )
    def test_fit_does_not_change_x(self, storage):
        X, y, age = u_shaped(200)
        given = storage(X)
        before = given.copy()
        RenyiRegressor(1).fit(given, y, sensitive_features=age)
        assert abs(given - before).max() == 0

    def test_groups_are_routed_in_a_grid_search(self):
        import sklearn

        X, y, age = u_shaped(400)
        with sklearn.config_context(enable_metadata_routing=True):
            reg = RenyiRegressor().set_fit_request(sensitive_features=True)
            grid = GridSearchCV(reg, {"lam": [0, 100]}, cv=3)
            grid.fit(X, y, sensitive_features=age)
            assert grid.best_params_ == {"lam": 0}
            scores = cross_validate(reg, X, y, params={"sensitive_features": age}, cv=3)
            assert (scores["test_score"] > 0.3).all()

    def test_feature_names_of_data_frames_are_stored(self):
        X, y, age = u_shaped(300)
        frame = pd.DataFrame(X, columns=list("abc"))
        reg = RenyiRegressor().fit(frame, pd.Series(y), sensitive_features=pd.Series(age))
        assert reg.feature_names_in_.tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            reg.predict(frame[["b", "a", "c"]])

    def test_sparse_and_dense_agree(self):
        X, y, age = u_shaped(500)
        X = np.where(np.abs(X) > 0.5, X, 0)
        dense = RenyiRegressor(1, tol=1e-5).fit(X, y, sensitive_features=age)
        thin = RenyiRegressor(1, tol=1e-5).fit(sparse.csr_array(X), y, sensitive_features=age)
        np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-2)


class TestInvalidInput:
    X, y, age = u_shaped(200)

    def test_fit_without_groups_warns(self):
        with pytest.warns(NoSensitiveFeaturesWarning, match="plain linear regression"):
            reg = RenyiRegressor(1).fit(self.X, self.y)
        assert reg.kind_ is None
        expected = LinearRegression().fit(self.X, self.y).coef_
        np.testing.assert_allclose(reg.coef_, expected, rtol=1e-6)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"lam": -1}, "lam must be a number"),
            ({"lam": 1e300}, "lam must be a number"),
            ({"kind": "number"}, "kind must be one of"),
            ({"n_functions": 1}, "n_functions must be a whole number, 2 or more"),
            ({"n_functions_s": 0}, "n_functions_s must be"),
            ({"l2": -1}, "l2 must be"),
            ({"tol": None}, "tol must be"),
            ({"max_iter": 0}, "max_iter must be"),
        ],
    )
    def test_invalid_parameters_raise(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            RenyiRegressor(**parameters).fit(self.X, self.y, sensitive_features=self.age)

    @pytest.mark.parametrize(
        ("s", "message"),
        [
            (np.ones(200), "only one group"),
            (np.arange(199), "same number of samples"),
            (["f"] * 199 + [None], "missing value"),
            ([f"name {i}" for i in range(200)], "fewer than two samples for each label"),
        ],
    )
    def test_invalid_labels_raise(self, s, message):
        with pytest.raises(ValueError, match=message):
            RenyiRegressor(1).fit(self.X, self.y, sensitive_features=s)

    @pytest.mark.parametrize(
        ("s", "message"),
        [
            (np.ones(200), "sensitive_features is constant"),
            (np.full(200, np.nan), "missing or infinite"),
            (["f", "m"] * 100, "must contain numbers"),
            (np.ones((200, 2)), "one number for each sample"),
        ],
    )
    def test_invalid_numbers_raise(self, s, message):
        with pytest.raises(ValueError, match=message):
            RenyiRegressor(1, kind="continuous").fit(self.X, self.y, sensitive_features=s)

    def test_unseen_groups_and_different_lengths_raise_in_penalty_value(self):
        s = np.where(self.age > 45, "old", "young")
        reg = RenyiRegressor(1).fit(self.X, self.y, sensitive_features=s)
        with pytest.raises(ValueError, match="unseen in fit"):
            reg.penalty_value(self.X[:2], sensitive_features=["old", "middle"])
        with pytest.raises(ValueError, match="same number of samples"):
            reg.penalty_value(self.X[:3], sensitive_features=["old", "young"])

    def test_too_few_iterations_warn(self):
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            RenyiRegressor(1, max_iter=1).fit(self.X, self.y, sensitive_features=self.age)

    def test_constant_target_is_supported(self):
        reg = RenyiRegressor(1).fit(self.X, np.full(200, 3.0), sensitive_features=self.age)
        np.testing.assert_allclose(reg.predict(self.X), 3.0)

    def test_constant_and_zero_columns_are_supported(self):
        X = np.column_stack([self.X, np.full(200, 1e8), np.zeros(200)])
        reg = RenyiRegressor(1).fit(X, self.y, sensitive_features=self.age)
        assert np.isfinite(reg.coef_).all()
        alone = RenyiRegressor(1).fit(self.X, self.y, sensitive_features=self.age)
        np.testing.assert_allclose(reg.predict(X), alone.predict(self.X), atol=0.05)


def test_regressor_is_public():
    assert renyi_lib.RenyiRegressor is RenyiRegressor
