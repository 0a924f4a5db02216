"""Penalties over smooth functions match discrete penalties, brute force and differences."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.base import clone

from renyi_lib import PenalizedClassifier, continuous_correlation
from renyi_lib.penalties import Groups, RenyiPenalty, ScoreBinsPenalty
from renyi_lib.penalties._splines import SoftBins
from renyi_lib.smooth_penalties import (
    ContinuousRenyiPenalty,
    PredictionPenalty,
    _even_gram,
    _functions_of,
    _Splines,
    ordered_groups,
)


def probabilities(n, c, rng):
    F = rng.random((n, c))
    return F / F.sum(axis=1, keepdims=True)


def numbers(kind, rng, n=400):
    """A prediction that depends on S, and the groups of S, with weights."""
    s = rng.normal(size=n) if kind == "continuous" else rng.integers(4, size=n)
    weight = rng.random(n) + 0.1
    groups = ordered_groups(s, weight) if kind == "continuous" else Groups.from_labels(s, weight)
    return 3 + 2 * np.sin(s) + 1.3 * rng.normal(size=n), groups


class TestContinuousRenyiPenalty:
    def test_all_functions_give_the_value_and_gradient_of_renyi_penalty(self):
        rng = np.random.default_rng(0)
        s = rng.integers(6, size=200)
        F = probabilities(200, 3, rng)
        for theirs, ours in zip(
            RenyiPenalty().value_and_grad(F, s), ContinuousRenyiPenalty(5).value_and_grad(F, s)
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-13)

    def test_fewer_functions_give_a_smaller_value(self):
        rng = np.random.default_rng(1)
        s = rng.integers(30, size=500)
        F = probabilities(500, 3, rng)
        values = [ContinuousRenyiPenalty(k).value(F, s) for k in (1, 2, 4, 8, 29)]
        assert np.all(np.diff(values) > 0)

    @pytest.mark.parametrize("smoothing", [0.0, 0.01])
    @pytest.mark.parametrize("c", [2, 3])
    def test_gradient_agrees_with_differences(self, smoothing, c):
        rng = np.random.default_rng(2)
        s, weight = rng.normal(size=300), rng.random(300) + 0.1
        groups, penalty = ordered_groups(s, weight), ContinuousRenyiPenalty(5, smoothing)
        F, way = probabilities(300, c, rng), rng.normal(size=(300, c))
        _, gradient = penalty.value_and_grad(F, groups)
        step = 1e-5
        difference = penalty.value(F + step * way, groups) - penalty.value(F - step * way, groups)
        assert difference / (2 * step) == pytest.approx(np.sum(gradient * way), rel=1e-6)

    def test_residual_gradients_add_up_to_the_gradient_of_their_squares(self):
        # As a function of the table a residual is homogeneous of degree 1/2: r = 2 <gradient, T>.
        rng = np.random.default_rng(3)
        groups, F = ordered_groups(rng.normal(size=300)), probabilities(300, 3, rng)
        way, step = rng.normal(size=(300, 3)), 1e-5

        def squares(F):
            T = groups.table(F)
            return np.sum((T @ _functions_of(groups.q, 2)) ** 2 / T.sum(axis=1)[:, None])

        difference = (squares(F + step * way) - squares(F - step * way)) / (2 * step)
        gradients = ContinuousRenyiPenalty(2).residual_gradients(F, groups)
        assert len(gradients) == 4
        found = sum(4 * np.sum(each * F) * np.sum(each * way) for each in gradients)
        assert found == pytest.approx(difference, rel=1e-6)

    def test_penalty_works_in_score_bins(self):
        rng = np.random.default_rng(4)
        s = rng.normal(size=2000)
        x = norm.cdf(s**2 - 1)
        F, groups = np.column_stack([1 - x, x]), ordered_groups(s)
        assert ScoreBinsPenalty(ContinuousRenyiPenalty()).value(F, groups) > 0.5

    def test_best_response_attains_the_value(self):
        rng = np.random.default_rng(5)
        s = rng.normal(size=1000)
        x = norm.cdf(s)
        F, groups = np.column_stack([1 - x, x]), ordered_groups(s)
        h = ContinuousRenyiPenalty(4).best_response(F, groups)
        assert groups.q @ h == pytest.approx(0, abs=1e-12)
        assert groups.q @ h**2 == pytest.approx(1)
        T = groups.table(F)
        value = np.sum((T @ h) ** 2 / T.sum(axis=1))
        assert value == pytest.approx(ContinuousRenyiPenalty(4).value(F, groups))

    def test_penalty_makes_a_classifier_fair_with_respect_to_age(self):
        rng = np.random.default_rng(6)
        age = rng.integers(18, 80, 4000)
        X = np.column_stack([np.abs(age - 49) / 18, rng.normal(size=4000)])
        X += 0.5 * rng.normal(size=(4000, 2))
        y = X.sum(axis=1) + rng.normal(size=4000) > 1
        rho = []
        for lam in (0.0, 30.0):
            clf = PenalizedClassifier(ContinuousRenyiPenalty(), lam)
            score = clf.fit(X, y, sensitive_features=age).predict_proba(X)[:, 1]
            rho.append(continuous_correlation(score, age).rho)
        assert rho[0] > 0.3
        assert rho[1] < 0.1

    def test_smoothing_keeps_the_other_parameters_and_kinks_need_two_functions(self):
        smooth = ContinuousRenyiPenalty(3).smoothed(0.2)
        assert smooth.get_params() == {"n_functions": 3, "smoothing": 0.2}
        penalty = ContinuousRenyiPenalty(2)
        assert penalty.has_kinks(3, 3)
        assert not penalty.has_kinks(2, 9)
        assert not penalty.has_kinks(9, 2)
        assert not ContinuousRenyiPenalty(1).has_kinks(3, 9)

    def test_parameters_are_checked_and_cloned(self):
        assert clone(ContinuousRenyiPenalty(3)).n_functions == 3
        with pytest.raises(ValueError, match="n_functions must be a whole number"):
            ContinuousRenyiPenalty(0).value_and_grad([[0.5, 0.5]] * 4, [0, 1, 0, 1])


class TestPredictionPenalty:
    @pytest.mark.parametrize("kind", ["discrete", "continuous"])
    @pytest.mark.parametrize("smoothing", [0.0, 0.05])
    def test_gradient_agrees_with_differences(self, kind, smoothing):
        rng = np.random.default_rng(0)
        x, groups = numbers(kind, rng)
        penalty = PredictionPenalty(kind, 6, 5, smoothing)
        _, gradient = penalty.value_and_grad(x, groups)
        way, step = rng.normal(size=len(x)), 1e-5
        difference = penalty.value(x + step * way, groups) - penalty.value(x - step * way, groups)
        assert difference / (2 * step) == pytest.approx(gradient @ way, rel=1e-5)

    @pytest.mark.parametrize("kind", ["discrete", "continuous"])
    def test_residual_gradients_add_up_to_the_gradient_of_their_squares(self, kind):
        rng = np.random.default_rng(1)
        x, groups = numbers(kind, rng)
        penalty = PredictionPenalty(kind, 5, 3)
        way, step = rng.normal(size=len(x)), 1e-5

        def W(x):
            return _Splines(x, groups, 5).whitened(penalty._psi(groups))

        squares = (np.sum(W(x + step * way) ** 2) - np.sum(W(x - step * way) ** 2)) / (2 * step)
        rows = np.array([row @ way for row in penalty.residual_gradients(x, groups)])
        assert 2 * rows @ W(x).ravel() == pytest.approx(squares, rel=1e-5)

    @pytest.mark.parametrize("kind", ["discrete", "continuous"])
    def test_best_response_attains_the_value(self, kind):
        x, groups = numbers(kind, np.random.default_rng(9))
        penalty = PredictionPenalty(kind, 6, 5)
        h = penalty.best_response(x, groups)
        assert groups.q @ h == pytest.approx(0, abs=1e-9)
        assert groups.q @ h**2 == pytest.approx(1)
        assert h[-1] >= 0
        # The share of h that a weighted regression on the splines explains.
        B, root = _Splines(x, groups, 6).bins.members(), np.sqrt(groups.weight)[:, None]
        coefficients = np.linalg.lstsq(root * B, root[:, 0] * h[groups.codes], rcond=None)[0]
        explained = groups.weight @ (B @ coefficients) ** 2
        assert explained == pytest.approx(penalty.value(x, groups), rel=1e-3)

    def test_smoothing_keeps_the_other_parameters_and_kinks_need_three_groups(self):
        smooth = PredictionPenalty("continuous", 6, 5).smoothed(0.2)
        expected = {"kind": "continuous", "n_functions": 6, "n_functions_s": 5, "smoothing": 0.2}
        assert smooth.get_params() == expected
        assert PredictionPenalty().has_kinks(2, 3)
        assert not PredictionPenalty().has_kinks(2, 2)

    def test_chance_level_is_the_edge_of_the_noise_spectrum(self):
        groups = Groups.from_labels(np.arange(3000) % 5)
        penalty = PredictionPenalty(n_functions=9)
        assert penalty.by_chance(groups) == pytest.approx((3 + 2) ** 2 / 3000)
        assert penalty.by_chance(groups, 500) == pytest.approx(25 / 500)
        assert penalty.by_chance(groups, 10) == 1
        weighted = Groups.from_labels(np.arange(3000) % 5, np.repeat([1.0, 2.0], 1500))
        # The effective number of rows is (1 + 2)^2 / (2 (1 + 4)) = 0.9 of them.
        assert penalty.by_chance(weighted) == pytest.approx(25 / (0.9 * 3000))

    @pytest.mark.parametrize("smoothing", [0.0, 0.05, 1.0])
    @pytest.mark.parametrize("n_groups", [2, 4, 12])
    @pytest.mark.parametrize("storage", ["dense", "sparse"])
    def test_hessian_agrees_with_differences(self, smoothing, n_groups, storage):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(120, 3)), rng.integers(n_groups, size=120)
        weight = rng.uniform(1, 2, size=120)
        groups = Groups.from_labels(s, weight)
        penalty = PredictionPenalty("discrete", 5, smoothing=smoothing)
        theta, way, step = rng.normal(size=3), rng.normal(size=3), 1e-6

        def gradient(theta):
            return X.T @ penalty.value_and_grad(X @ theta, groups)[1]

        expected = (gradient(theta + step * way) - gradient(theta - step * way)) / (2 * step)
        given = X if storage == "dense" else sparse.csr_array(X)
        found = penalty.hessian(X @ theta, groups, given)
        np.testing.assert_allclose(found @ way, expected, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found, found.T, atol=1e-10)

    def test_hessian_of_a_constant_is_zero(self):
        found = PredictionPenalty().hessian(
            np.ones(4), Groups.from_labels([0, 1, 0, 1]), np.eye(4)
        )
        assert not found.any()

    def test_scale_is_the_normal_standard_deviation_and_resists_an_outlier(self):
        z = norm.ppf((np.arange(10_000) + 0.5) / 10_000)
        groups = Groups.from_codes(np.arange(len(z)) % 2, np.arange(2))
        assert _Splines(3 * z + 7, groups, 5).scale == pytest.approx(3, rel=1e-3)
        z[0] = -1e3  # the standard deviation would become ten times as large
        assert _Splines(3 * z, groups, 5).scale == pytest.approx(3, rel=0.25)

    def test_value_agrees_with_a_least_squares_computation(self):
        # rho^2 = the largest share of a function of S that a regression on splines explains.
        rng = np.random.default_rng(2)
        n, s = 3000, rng.integers(3, size=3000)
        x = rng.normal(size=n) * (1 + s)
        level = norm.expect(lambda z: np.sqrt(1 + z**2))
        scale = brentq(lambda d: np.sqrt(1 + ((x - x.mean()) / d) ** 2).mean() - level, 0.1, 10)
        B = SoftBins(norm.cdf((x - x.mean()) / scale), 9).members()
        indicators = (np.eye(3)[s] - np.eye(3)[s].mean(axis=0))[:, :2]
        fitted = B @ np.linalg.lstsq(B, indicators, rcond=None)[0]
        values = np.linalg.eigvals(
            np.linalg.solve(indicators.T @ indicators, fitted.T @ indicators)
        )
        found = PredictionPenalty(n_functions=8).value(x, s)
        assert found == pytest.approx(values.real.max(), rel=5e-3)

    @pytest.mark.parametrize("rho", [0.3, 0.7, 0.95])
    def test_gaussian_pairs_have_their_squared_correlation(self, rho):
        x, noise = np.random.default_rng(3).normal(size=(2, 50_000))
        y = rho * x + np.sqrt(1 - rho**2) * noise
        found = PredictionPenalty("continuous").value(y, ordered_groups(x))
        assert np.sqrt(found) == pytest.approx(rho, abs=0.012)

    def test_independence_gives_less_than_chance_allows(self):
        x, s = np.random.default_rng(4).normal(size=(2, 5000))
        penalty, groups = PredictionPenalty("continuous"), ordered_groups(s)
        assert 0 < penalty.value(x, groups) < penalty.by_chance(groups) < 0.02

    def test_detects_nonlinear_dependence(self):
        s, noise = np.random.default_rng(5).normal(size=(2, 5000))
        y = s**2 + 0.1 * noise
        assert abs(np.corrcoef(s, y)[0, 1]) < 0.05
        assert PredictionPenalty("continuous").value(y, ordered_groups(s)) > 0.9

    def test_origin_scale_and_sign_have_no_effect_and_outliers_little(self):
        rng = np.random.default_rng(6)
        x, groups = numbers("continuous", rng)
        penalty = PredictionPenalty("continuous")
        value = penalty.value(x, groups)
        assert penalty.value(1e6 - 40 * x, groups) == pytest.approx(value, rel=1e-7)
        x[0] = 20 * x.max()
        assert penalty.value(x, groups) == pytest.approx(value, abs=0.05)

    @pytest.mark.parametrize("kind", ["discrete", "continuous"])
    def test_a_constant_score_has_value_zero(self, kind):
        _, groups = numbers(kind, np.random.default_rng(7))
        penalty = PredictionPenalty(kind)
        for constant in (0.0, 0.1, 1e9):
            x = np.full(len(groups.codes), constant)
            value, gradient = penalty.value_and_grad(x, groups)
            assert value == 0
            assert not gradient.any()
            assert list(penalty.residual_gradients(x, groups)) == []
            assert not penalty.best_response(x, groups).any()

    def test_integer_weights_equal_repeated_rows(self):
        rng = np.random.default_rng(8)
        x, s, times = rng.normal(size=200), rng.normal(size=200), rng.integers(1, 4, size=200)
        penalty = PredictionPenalty("continuous", 5, 4)
        weighted = penalty.value(x, ordered_groups(s, times))
        repeated = penalty.value(np.repeat(x, times), ordered_groups(np.repeat(s, times)))
        assert weighted == pytest.approx(repeated, rel=1e-9)

    @pytest.mark.parametrize(
        ("F", "message"),
        [(np.zeros((4, 2)), "one prediction"), ([1.0, np.nan, 0, 0], "missing or infinite")],
    )
    def test_invalid_predictions_raise(self, F, message):
        with pytest.raises(ValueError, match=message):
            PredictionPenalty().value_and_grad(F, [0, 1, 0, 1])


def test_even_gram_matches_a_fine_uniform_grid():
    u = (np.arange(200_000) + 0.5) / 200_000
    members = SoftBins(u, 7).members()
    np.testing.assert_allclose(_even_gram(7), members.T @ members / len(u), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_best_response_of_the_last_group_is_not_negative(seed):
    rng = np.random.default_rng(seed)
    s = rng.integers(6, size=60)
    F, z = probabilities(60, 2, rng), rng.normal(size=60)
    assert ContinuousRenyiPenalty(3).best_response(F, s)[-1] >= 0
    assert PredictionPenalty("discrete").best_response(z, s)[-1] >= 0


class TestOrderedGroups:
    def test_only_the_order_matters(self):
        s = np.random.default_rng(0).normal(size=5000)
        one, other = ordered_groups(s), ordered_groups(np.exp(s))
        np.testing.assert_array_equal(one.codes, other.codes)
        assert len(one.q) == 1024
        assert (np.diff(one.categories) > 0).all()

    def test_few_distinct_values_remain_separate_groups(self):
        groups = ordered_groups(pd.Series([3, 1, 3, 2]))
        assert groups.categories.tolist() == [1, 2, 3]
        assert groups.q.tolist() == [0.25, 0.25, 0.5]

    def test_invalid_numbers_raise(self):
        with pytest.raises(ValueError, match="age is constant"):
            ordered_groups([1, 1], name="age")
        with pytest.raises(ValueError, match="age must contain numbers"):
            ordered_groups(["old", "young"], name="age")
        with pytest.raises(ValueError, match="same number of samples"):
            ordered_groups([1, 2], [1, 2, 3])
