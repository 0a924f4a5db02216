"""Penalties match independent oracles, finite differences and limiting cases."""

from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_lib.correlation import renyi_binary, renyi_from_soft
from renyi_lib.dependence import hsic
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ConditionalPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    Penalty,
    RenyiPenalty,
    ScoreBinsPenalty,
    best_response_v,
    best_response_w,
    renyi_given_v,
    renyi_given_w,
)

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)


def soft_labels(rng, n, c, spread=1.0):
    scores = spread * rng.normal(size=(n, c))
    F = np.exp(scores - scores.max(axis=1, keepdims=True))
    return F / F.sum(axis=1, keepdims=True)


def some_groups(rng, n, d):
    """Every group occurs, even for small n."""
    return rng.permutation(np.r_[np.arange(d), rng.integers(d, size=n - d)])


def problem(seed, n=40, c=3, d=3):
    rng = np.random.default_rng(seed)
    return soft_labels(rng, n, c), some_groups(rng, n, d), rng


def random_table(seed, c=3, d=3):
    rng = np.random.default_rng(seed)
    T = rng.dirichlet(np.ones(c * d)).reshape(c, d)
    return T, T.sum(axis=0), rng


def numerical_gradient(function, x, h=1e-6):
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = h
        gradient[index] = (function(x + step) - function(x - step)) / (2 * h)
    return gradient


cases = st.tuples(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5))


class TestRenyi:
    @PROPERTY
    @given(cases)
    def test_value_is_the_squared_renyi_correlation(self, case):
        seed, c, d = case
        F, s, rng = problem(seed, c=c, d=d)
        weight = rng.uniform(0.1, 2, size=len(s))
        value, _ = RenyiPenalty().value_and_grad(F, s)
        assert value == pytest.approx(renyi_from_soft(F, s) ** 2, rel=1e-9, abs=1e-15)
        value, _ = RenyiPenalty().value_and_grad(F, Groups.from_labels(s, weight))
        expected = renyi_from_soft(F, s, sample_weight=weight) ** 2
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-15)

    @PROPERTY
    @given(cases)
    def test_both_forms_agree_for_two_groups(self, case):
        seed, c, _ = case
        F, s, _ = problem(seed, c=c, d=2)
        discrete, discrete_gradient = RenyiPenalty().value_and_grad(F, s)
        binary, binary_gradient = BinaryRenyiPenalty().value_and_grad(F, s)
        assert binary == pytest.approx(discrete, rel=1e-10, abs=1e-16)
        np.testing.assert_allclose(binary_gradient, discrete_gradient, rtol=1e-9, atol=1e-15)

    def test_hard_labels_give_the_closed_form_of_theorem_2(self):
        rng = np.random.default_rng(3)
        labels, s = rng.integers(3, size=200), rng.integers(2, size=200)
        value, _ = BinaryRenyiPenalty().value_and_grad(np.eye(3)[labels], s)
        rho, _, w = renyi_binary(labels, s)
        assert value == pytest.approx(rho**2, rel=1e-12)
        np.testing.assert_allclose(
            BinaryRenyiPenalty().best_response(np.eye(3)[labels], s), w, rtol=1e-12
        )

    @pytest.mark.parametrize("penalty", [RenyiPenalty(), BinaryRenyiPenalty()])
    def test_independence_is_exactly_fair_and_stationary(self, penalty):
        F = np.tile([0.2, 0.3, 0.5], (6, 1))
        value, gradient = penalty.value_and_grad(F, [0, 0, 1, 1, 1, 1])
        assert value < 1e-30
        assert np.abs(gradient - gradient.mean(axis=1, keepdims=True)).max() < 1e-15

    @pytest.mark.parametrize(("c", "d"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 3)])
    def test_value_and_gradient_agree_with_50_digit_arithmetic(self, c, d):
        F, s, _ = problem(c * 10 + d, n=9, c=c, d=d)
        penalties = [RenyiPenalty()] + [BinaryRenyiPenalty()] * (d == 2)
        with mpmath.workdps(50):
            exact = [[mpmath.mpf(float(x)) for x in row] for row in F]
            expected = float(mp_rho_squared(exact, s, c, d))
            h = mpmath.mpf(10) ** -20
            slopes = np.empty_like(F)
            for n, i in np.ndindex(F.shape):
                values = []
                for sign in (1, -1):
                    moved = [list(row) for row in exact]
                    moved[n][i] += sign * h
                    values.append(mp_rho_squared(moved, s, c, d))
                slopes[n, i] = float((values[0] - values[1]) / (2 * h))
        for penalty in penalties:
            value, gradient = penalty.value_and_grad(F, s)
            assert value == pytest.approx(expected, rel=1e-12)
            np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-13)

    def test_names_and_order_of_groups_have_no_effect(self):
        F, s, _ = problem(5, d=3)
        names = np.array(["z", "a", "m"])[s]
        assert RenyiPenalty().value_and_grad(F, names)[0] == pytest.approx(
            RenyiPenalty().value_and_grad(F, s)[0], rel=1e-12
        )


def mp_rho_squared(F, s, c, d):
    """rho_R^2 from its definition in multiple precision: the eigenvalues of (Q P)(Q P)^T.

    P projects on the complement of v_1 = sqrt(q), where q are the shares of the groups.
    """
    n = len(F)
    q = [mpmath.mpf(int((np.asarray(s) == j).sum())) / n for j in range(d)]
    T = mpmath.matrix(c, d)
    for row, j in zip(F, s):
        for i in range(c):
            T[i, int(j)] += row[i] / n
    Q = mpmath.matrix(c, d)
    for i in range(c):
        p = sum(T[i, j] for j in range(d))
        for j in range(d):
            Q[i, j] = T[i, j] / mpmath.sqrt(p * q[j])
    P = mpmath.matrix(d, d)
    for j in range(d):
        for k in range(d):
            P[j, k] = (1 if j == k else 0) - mpmath.sqrt(q[j] * q[k])
    values, _ = mpmath.eigsy((Q * P) * (Q * P).T)
    return max(values)


class TestAdversary:
    @PROPERTY
    @given(cases)
    def test_v_is_a_best_response_and_orthogonal_to_v1(self, case):
        seed, c, d = case
        T, q, rng = random_table(seed, c, d)
        v = best_response_v(T, q)
        assert np.linalg.norm(v) == pytest.approx(1)
        assert abs(v @ np.sqrt(q)) < 1e-14
        best, _ = renyi_given_v(T, q, v)
        for other in rng.normal(size=(50, d)):
            other -= np.sqrt(q) * (np.sqrt(q) @ other)
            assert renyi_given_v(T, q, other / np.linalg.norm(other))[0] <= best + 1e-14

    @PROPERTY
    @given(cases)
    def test_w_is_a_best_response(self, case):
        seed, c, _ = case
        T, q, rng = random_table(seed, c, 2)
        w = best_response_w(T, q)
        np.testing.assert_allclose(w, (T[:, 1] - T[:, 0]) / (2 * T.sum(axis=1)), atol=1e-14)
        best, _ = renyi_given_w(T, q, w)
        for other in w + rng.normal(size=(50, c)) * rng.uniform(0.01, 1):
            assert renyi_given_w(T, q, other)[0] <= best + 1e-14

    def test_v_is_orthogonal_to_v1_even_under_exact_independence(self):
        q = np.array([0.2, 0.3, 0.5])
        T = np.outer([0.4, 0.6], q)
        v = best_response_v(T, q)
        assert abs(v @ np.sqrt(q)) < 1e-15
        assert renyi_given_v(T, q, v)[0] < 1e-30

    @PROPERTY
    @given(cases)
    def test_value_given_v_is_the_quadratic_form_of_the_paper(self, case):
        seed, c, d = case
        T, q, rng = random_table(seed, c, d)
        v = rng.normal(size=d)
        v -= np.sqrt(q) * (np.sqrt(q) @ v)
        Q = T / np.sqrt(np.outer(T.sum(axis=1), q))
        assert renyi_given_v(T, q, v)[0] == pytest.approx(v @ Q.T @ Q @ v, rel=1e-10)

    @PROPERTY
    @given(cases)
    def test_value_given_w_is_the_centered_and_scaled_term_of_the_paper(self, case):
        seed, c, _ = case
        T, q, rng = random_table(seed, c, 2)
        w = rng.normal(size=c)
        paper = w @ (T[:, 1] - T[:, 0]) - w**2 @ T.sum(axis=1)
        scaled = (paper - (q[1] - 0.5) ** 2) / (q[0] * q[1])
        assert renyi_given_w(T, q, w)[0] == pytest.approx(scaled, rel=1e-9, abs=1e-12)

    @pytest.mark.parametrize(("c", "d"), [(2, 2), (3, 4), (4, 3)])
    def test_gradients_at_a_fixed_move_agree_with_differences(self, c, d):
        T, q, rng = random_table(c + d, c, d)
        v = rng.normal(size=d)
        v -= np.sqrt(q) * (np.sqrt(q) @ v)
        slopes = numerical_gradient(lambda t: renyi_given_v(t, q, v)[0], T)
        np.testing.assert_allclose(renyi_given_v(T, q, v)[1], slopes, rtol=1e-6, atol=1e-6)
        T, q, rng = random_table(c, c, 2)
        w = rng.normal(size=c)
        slopes = numerical_gradient(lambda t: renyi_given_w(t, q, w)[0], T)
        np.testing.assert_allclose(renyi_given_w(T, q, w)[1], slopes, rtol=1e-6, atol=1e-6)

    def test_gradient_equals_the_gradient_for_the_fixed_best_response(self):
        T, q, _ = random_table(1, 3, 4)
        of_the_maximum = numerical_gradient(
            lambda t: renyi_given_v(t, q, best_response_v(t, q))[0], T
        )
        at_the_response = renyi_given_v(T, q, best_response_v(T, q))[1]
        np.testing.assert_allclose(at_the_response, of_the_maximum, rtol=1e-6, atol=1e-6)


y = np.arange(30) % 3
PENALTIES = {
    "renyi": (RenyiPenalty(), 3, 3),
    "renyi, 2 classes": (RenyiPenalty(), 2, 4),
    "renyi, 2 groups": (RenyiPenalty(), 4, 2),
    "binary": (BinaryRenyiPenalty(), 3, 2),
    "renyi, smoothed": (RenyiPenalty(smoothing=0.05), 3, 4),
    "equalized odds": (ConditionalPenalty(RenyiPenalty()), 3, 2),
    "equal opportunity": (ConditionalPenalty(BinaryRenyiPenalty(), [1]), 2, 2),
    "pearson": (PearsonPenalty(), 2, 2),
    "pearson, many": (PearsonPenalty(), 3, 4),
    "hsic linear": (HSICPenalty("linear"), 3, 3),
    "hsic gaussian": (HSICPenalty("gaussian", bandwidth=0.3), 2, 2),
    "hsic gaussian, many": (HSICPenalty("gaussian", bandwidth=0.1), 3, 3),
    "score bins": (ScoreBinsPenalty(n_bins=6), 2, 3),
    "score bins, odds": (ConditionalPenalty(ScoreBinsPenalty(n_bins=4)), 2, 2),
    "bins of pearson": (ScoreBinsPenalty(PearsonPenalty(), n_bins=4), 2, 2),
}


@pytest.mark.parametrize("name", PENALTIES)
class TestEveryPenalty:
    @pytest.fixture
    def setup(self, name):
        penalty, c, d = PENALTIES[name]
        rng = np.random.default_rng(len(name))
        F = soft_labels(rng, 30, c)
        s = np.repeat(np.arange(d), 30)[: 30 * d : d]  # blocks, so that each group has every label
        return penalty, F, s, rng.uniform(0.2, 2, size=30)

    def test_gradient_agrees_with_differences(self, setup):
        penalty, F, s, _ = setup
        groups = Groups.from_labels(s, y=y)
        _, gradient = penalty.value_and_grad(F, groups)
        slopes = numerical_gradient(lambda f: penalty.value_and_grad(f, groups)[0], F, h=1e-5)
        assert np.abs(slopes).max() > 1e-4
        np.testing.assert_allclose(gradient, slopes, atol=1e-6 * np.abs(slopes).max())

    def test_gradient_agrees_with_differences_under_weights(self, setup):
        penalty, F, s, weight = setup
        groups = Groups.from_labels(s, weight, y=y)
        _, gradient = penalty.value_and_grad(F, groups)
        slopes = numerical_gradient(lambda f: penalty.value_and_grad(f, groups)[0], F, h=1e-5)
        np.testing.assert_allclose(gradient, slopes, atol=1e-6 * np.abs(slopes).max())

    def test_a_weight_of_two_equals_two_samples(self, setup):
        penalty, F, s, _ = setup
        weight = np.r_[np.full(7, 2.0), np.ones(23)]
        weighted, _ = penalty.value_and_grad(F, Groups.from_labels(s, weight, y=y))
        twice = Groups.from_labels(np.r_[s, s[:7]], y=np.r_[y, y[:7]])
        repeated, _ = penalty.value_and_grad(np.r_[F, F[:7]], twice)
        assert weighted == pytest.approx(repeated, rel=1e-10)

    def test_value_is_positive_and_zero_for_constant_probabilities(self, setup, name):
        penalty, F, s, _ = setup
        groups = Groups.from_labels(s, y=y)
        assert penalty.value_and_grad(F, groups)[0] > 0
        value, gradient = penalty.value_and_grad(np.tile(F[:1], (30, 1)), groups)
        assert np.isfinite(gradient).all()
        assert abs(value) < (1e-12 if name != "renyi, smoothed" else 0.05 / 2)

    def test_memory_layout_and_type_of_the_input_have_no_effect(self, setup):
        penalty, F, s, _ = setup
        value, gradient = penalty.value_and_grad(F, Groups.from_labels(s, y=y))
        other, other_gradient = penalty.value_and_grad(
            np.asfortranarray(F), Groups.from_labels(pd.Series(s), y=pd.Series(y))
        )
        assert other == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(other_gradient, gradient, rtol=1e-11, atol=1e-16)
        if not isinstance(penalty, ConditionalPenalty):
            assert penalty.value_and_grad(F.tolist(), list(s))[0] == pytest.approx(value)

    def test_a_missing_value_or_a_wrong_shape_raises(self, setup):
        penalty, F, s, _ = setup
        groups = Groups.from_labels(s, y=y)
        with pytest.raises(ValueError, match="F must have a row for each of the 30 samples"):
            penalty.value_and_grad(F[:-1], groups)
        F[3, 1] = np.nan
        with pytest.raises(ValueError, match="F has missing"):
            penalty.value_and_grad(F, groups)


def test_value_at_independence_is_zero_up_to_smoothing():
    F = np.tile([0.2, 0.3, 0.5], (12, 1))
    s = np.arange(12) % 4
    assert RenyiPenalty().value_and_grad(F, s)[0] < 1e-30
    # With two singular values, both 0, the mixed strategy is even, which gives (1 - 1/2) mu / 2.
    assert RenyiPenalty(smoothing=0.04).value_and_grad(F, s)[0] == pytest.approx(0.01)


@pytest.mark.parametrize(
    "name", ["renyi, 2 classes", "renyi, 2 groups", "binary", "equalized odds", "score bins"]
)
def test_near_independence_the_penalty_is_the_sum_of_its_squared_residuals(name):
    penalty, c, d = PENALTIES[name]
    d = 2 if name == "score bins" else d
    rng = np.random.default_rng(0)
    F, s = soft_labels(rng, 30, c), np.repeat(np.arange(d), 30)[: 30 * d : d]
    groups = Groups.from_labels(s, y=y)
    start = np.tile(F.mean(axis=0), (30, 1))
    expected = sum(
        (gradient * (F - start)).sum() ** 2
        for gradient in penalty.residual_gradients(start, groups)
    )
    t = 1e-5
    value, _ = penalty.value_and_grad(start + t * (F - start), groups)
    assert value / t**2 == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("penalty", [RenyiPenalty(), BinaryRenyiPenalty()])
def test_with_two_classes_and_two_groups_the_residual_is_the_correlation_itself(penalty):
    F, s, _ = problem(6, c=2, d=2)
    value, gradient = penalty.value_and_grad(F, s)
    (residual,) = penalty.residual_gradients(F, s)
    # As rows of F sum to 1, only the difference between the two classes matters.
    by_score = 2 * np.sqrt(value) * (residual[:, 1] - residual[:, 0])
    expected = gradient[:, 1] - gradient[:, 0]
    by_score *= np.sign(by_score[0] * expected[0])
    np.testing.assert_allclose(by_score, expected, rtol=1e-9)


def test_condition_on_no_label_raises():
    groups = Groups.from_labels([0, 1, 0, 1], y=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="values is empty: name a label"):
        ConditionalPenalty(RenyiPenalty(), values=[]).value_and_grad(np.full((4, 2), 0.5), groups)


def test_with_several_singular_values_the_squared_residuals_exceed_the_penalty():
    F, s, _ = problem(0, c=4, d=4)
    start = np.tile(F.mean(axis=0), (len(F), 1))
    gradients = RenyiPenalty().residual_gradients(start, s)
    assert len(gradients) == 9
    bound = sum((gradient * (F - start)).sum() ** 2 for gradient in gradients)
    value, _ = RenyiPenalty().value_and_grad(start + 1e-5 * (F - start), s)
    assert 0.3 * bound < value / 1e-10 < bound


class TestKinks:
    """Three classes, three groups, and a table with equal second and third singular values."""

    q = np.full(3, 1 / 3)
    tied = 0.15 * np.eye(3) / 3 + 0.85 / 9
    twist = np.array([[2, -1, -1], [-1, 0, 1], [-1, 1, 0]]) / 100

    def rho_squared(self, T, mu=0.0):
        return RenyiPenalty(smoothing=mu).of_table(T, self.q)

    def test_the_example_is_tied_and_its_penalty_has_a_kink(self):
        sigma = np.linalg.svd(3 * self.tied, compute_uv=False)
        assert sigma[1] == pytest.approx(sigma[2], rel=1e-12)
        t = 1e-6
        up = (self.rho_squared(self.tied + t * self.twist)[0] - self.rho_squared(self.tied)[0]) / t
        down = (
            self.rho_squared(self.tied)[0] - self.rho_squared(self.tied - t * self.twist)[0]
        ) / t
        assert up - down > 1e-3

    def test_the_gradient_at_a_kink_is_a_subgradient(self):
        value, dT = self.rho_squared(self.tied)
        rng = np.random.default_rng(0)
        t = 1e-6
        for _ in range(20):
            direction = rng.normal(size=(3, 3)) / 100
            slope = (self.rho_squared(self.tied + t * direction)[0] - value) / t
            assert slope >= np.sum(dT * direction) - 1e-7

    @pytest.mark.parametrize("mu", [1e-3, 1e-2, 0.1])
    def test_smoothing_removes_the_kink_and_adds_at_most_half_mu(self, mu):
        value, dT = self.rho_squared(self.tied, mu)
        slopes = numerical_gradient(lambda t: self.rho_squared(t, mu)[0], self.tied, h=1e-7)
        np.testing.assert_allclose(dT, slopes, atol=1e-5)
        assert 0 < value - self.rho_squared(self.tied)[0] <= mu / 2

    @PROPERTY
    @given(st.integers(0, 10**6), st.floats(1e-4, 0.5))
    def test_smoothing_has_no_effect_where_the_gap_is_wide(self, seed, mu):
        T, q, _ = random_table(seed, 4, 4)
        exact, exact_gradient = RenyiPenalty().of_table(T, q)
        smooth, gradient = RenyiPenalty(smoothing=mu).of_table(T, q)
        Q = T / np.sqrt(np.outer(T.sum(axis=1), q))
        sigma = np.linalg.svd(Q, compute_uv=False)
        assert -1e-12 <= smooth - exact <= mu / 2
        if sigma[1] ** 2 - sigma[2] ** 2 >= mu:
            assert smooth == pytest.approx(exact, rel=1e-12)
            np.testing.assert_allclose(gradient, exact_gradient, rtol=1e-12)

    def test_kinks_need_three_classes_and_three_groups(self):
        assert RenyiPenalty().has_kinks(3, 3)
        assert not RenyiPenalty().has_kinks(2, 9)
        assert not RenyiPenalty().has_kinks(9, 2)
        assert not BinaryRenyiPenalty().has_kinks(9, 2)
        assert ScoreBinsPenalty(n_bins=5).has_kinks(2, 3)
        assert ConditionalPenalty(RenyiPenalty()).has_kinks(3, 3)
        assert not PearsonPenalty().has_kinks(3, 3)

    def test_smoothing_a_wrapper_smooths_the_inner_penalty(self):
        F, s, _ = problem(2, n=30, c=2, d=3)
        bins = ScoreBinsPenalty(n_bins=5)
        assert bins.smoothed(0.5).value_and_grad(F, s)[0] > bins.value_and_grad(F, s)[0]
        F, s, _ = problem(2, n=30, c=3, d=3)
        odds, groups = ConditionalPenalty(RenyiPenalty()), Groups.from_labels(s, y=s * 0)
        assert odds.smoothed(0.1).value_and_grad(F, groups)[0] == pytest.approx(
            RenyiPenalty(smoothing=0.1).value_and_grad(F, s)[0]
        )
        assert PearsonPenalty().smoothed(0.1).value_and_grad(F, s)[0] == pytest.approx(
            PearsonPenalty().value_and_grad(F, s)[0]
        )


class TestEmptyClass:
    """A class whose probability goes to 0 adds nothing, and nothing becomes infinite."""

    @pytest.mark.parametrize("penalty", [RenyiPenalty(), BinaryRenyiPenalty(), PearsonPenalty()])
    @pytest.mark.parametrize("mass", [0.0, 1e-320, 1e-300, 1e-200, 1e-20])
    def test_empty_class_does_not_affect_the_other_classes(self, penalty, mass):
        F, s, _ = problem(4, c=3, d=2)
        if isinstance(penalty, PearsonPenalty):
            expected = PearsonPenalty().value_and_grad(F, s)[0]
            F = np.column_stack([F, np.full(len(F), mass)])
        else:
            expected = penalty.value_and_grad(F, s)[0]
            F = np.column_stack([F, mass * np.random.default_rng(0).uniform(size=len(F))])
        value, gradient = penalty.value_and_grad(F, s)
        assert value == pytest.approx(expected, rel=1e-12)
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() < 10
        assert all(np.isfinite(r).all() for r in penalty.residual_gradients(F, s))

    def test_single_class_has_penalty_zero(self):
        F = np.tile([1.0, 0.0], (6, 1))
        for penalty in (RenyiPenalty(), BinaryRenyiPenalty(), PearsonPenalty()):
            value, gradient = penalty.value_and_grad(F, [0, 1, 0, 1, 1, 1])
            assert value < 1e-30
            assert np.isfinite(gradient).all()

    def test_value_is_continuous_as_a_class_vanishes(self):
        F, s, rng = problem(4, c=2, d=2)
        share = rng.uniform(size=len(F))
        values = [
            RenyiPenalty().value_and_grad(np.column_stack([1 - t * share, t * share]), s)[0]
            for t in (1e-2, 1e-4, 1e-6)
        ]
        # A class of mass p contributes p E[h | class]^2, which falls in proportion to t.
        assert values[1] / values[0] == pytest.approx(1e-2, rel=0.05)
        assert values[2] / values[1] == pytest.approx(1e-2, rel=0.05)


class TestConditional:
    def test_conditional_penalty_is_the_sum_over_the_labels(self):
        F, s, rng = problem(8, n=60, c=3, d=3)
        y = rng.permutation(np.repeat(["a", "b", "c"], 20))
        odds, groups = ConditionalPenalty(RenyiPenalty()), Groups.from_labels(s, y=y)
        value, gradient = odds.value_and_grad(F, groups)
        expected = np.zeros_like(F)
        total = 0.0
        for label in "abc":
            rows = y == label
            part, expected[rows] = RenyiPenalty().value_and_grad(F[rows], s[rows])
            total += part
        assert value == pytest.approx(total, rel=1e-12)
        np.testing.assert_allclose(gradient, expected, atol=1e-16)

    def test_conditioning_on_one_label_is_equality_of_opportunity(self):
        F, s, rng = problem(9, n=60, c=2, d=2)
        y = rng.integers(2, size=60)
        penalty = ConditionalPenalty(BinaryRenyiPenalty(), values=[1])
        groups = Groups.from_labels(s, y=y)
        value, gradient = penalty.value_and_grad(F, groups)
        assert value == pytest.approx(renyi_from_soft(F[y == 1], s[y == 1]) ** 2, rel=1e-10)
        assert not gradient[y == 0].any()
        assert penalty.best_response(F, groups).shape == (1, 2)

    def test_best_responses_given_each_label_are_stacked(self):
        F, s, _ = problem(9, n=60, c=4, d=3)
        y = np.arange(60) % 2
        groups = Groups.from_labels(s, y=y)
        responses = ConditionalPenalty(RenyiPenalty()).best_response(F, groups)
        assert responses.shape == (2, 3)
        np.testing.assert_allclose(
            responses[1], RenyiPenalty().best_response(F[y == 1], s[y == 1]), atol=1e-12
        )

    def test_value_uses_the_groups_of_each_call(self):
        F, s, _ = problem(9, n=60, c=2, d=2)
        y = np.arange(60) % 2
        penalty = ConditionalPenalty(RenyiPenalty())
        first, second = Groups.from_labels(s, y=y), Groups.from_labels(s[::-1], y=y)
        a, b = penalty.value_and_grad(F, first)[0], penalty.value_and_grad(F, second)[0]
        fresh = ConditionalPenalty(RenyiPenalty()).value_and_grad(F, second)[0]
        assert abs(a - b) > 1e-6
        assert b == pytest.approx(fresh, rel=1e-12)

    def test_threads_can_share_a_penalty(self):
        F, s, _ = problem(9, n=60, c=2, d=2)
        penalty = ConditionalPenalty(RenyiPenalty())
        before = vars(penalty).copy()
        many = [Groups.from_labels(np.roll(s, i), y=np.arange(60) % 2) for i in range(8)]
        expected = [ConditionalPenalty(RenyiPenalty()).value(F, groups) for groups in many]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda i: penalty.value(F, many[i % 8]), range(80)))
        np.testing.assert_allclose(found, expected * 10, rtol=1e-12)
        assert vars(penalty) == before

    def test_groups_without_labels_raise(self):
        with pytest.raises(ValueError, match=r"no true labels.*Groups.from_labels"):
            ConditionalPenalty(RenyiPenalty()).value(np.full((4, 2), 0.5), [0, 0, 1, 1])
        with pytest.raises(ValueError, match=r"no true labels.*Groups.from_labels"):
            ConditionalPenalty(RenyiPenalty(), [1]).value(np.full((4, 2), 0.5), [0, 0, 1, 1])

    def test_empty_cell_raises(self):
        F = np.full((4, 2), 0.5)
        groups = Groups.from_labels(["a", "a", "b", "a"], y=["no", "no", "yes", "yes"])
        with pytest.raises(ValueError, match="group 'b' has no sample with the label 'no'"):
            ConditionalPenalty(RenyiPenalty()).value_and_grad(F, groups)

    def test_unknown_label_and_different_length_raise(self):
        F = np.full((4, 2), 0.5)
        groups = Groups.from_labels([0, 0, 1, 1], y=[0, 1, 0, 1])
        with pytest.raises(ValueError, match="the label 7, which does not occur in y"):
            ConditionalPenalty(RenyiPenalty(), [7]).value_and_grad(F, groups)
        with pytest.raises(ValueError, match="groups has 4, y has 3"):
            Groups.from_labels([0, 0, 1, 1], y=[0, 1, 0])


class TestPearson:
    def test_binary_value_is_the_squared_correlation_of_score_and_group(self):
        F, s, _ = problem(10, n=80, c=2, d=2)
        value, _ = PearsonPenalty().value_and_grad(F, s)
        assert value == pytest.approx(np.corrcoef(F[:, 1], s)[0, 1] ** 2, rel=1e-12)

    def test_many_classes_and_groups_sum_over_the_indicators(self):
        F, s, _ = problem(11, n=80, c=3, d=4)
        expected = sum(np.corrcoef(F[:, i], s == j)[0, 1] ** 2 for i in range(3) for j in range(4))
        assert PearsonPenalty().value_and_grad(F, s)[0] == pytest.approx(expected, rel=1e-12)

    def test_value_exceeds_the_squared_renyi_correlation_of_the_sampled_label(self):
        # The covariance is the same, but the score has a smaller variance than the label.
        F, s, _ = problem(12, n=80, c=2, d=2)
        assert PearsonPenalty().value_and_grad(F, s)[0] > RenyiPenalty().value_and_grad(F, s)[0]


class TestHSIC:
    @PROPERTY
    @given(cases, st.floats(0.03, 3.0))
    def test_value_matches_the_trace_of_the_kernel_matrices(self, case, bandwidth):
        seed, c, d = case
        F, s, _ = problem(seed, n=25, c=c, d=d)
        H = np.eye(25) - 1 / 25
        L = (s[:, None] == s).astype(float)
        K = np.exp(-((F[:, None] - F) ** 2) / (2 * bandwidth**2)).sum(axis=2)
        expected = np.trace(K @ H @ L @ H) / 25**2
        value, _ = HSICPenalty(bandwidth=bandwidth).value_and_grad(F, s)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-14)
        expected = np.trace(F @ F.T @ H @ L @ H) / 25**2
        value, _ = HSICPenalty("linear").value_and_grad(F, s)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-15)

    def test_two_classes_give_twice_the_hsic_of_the_score(self):
        F, s, _ = problem(13, n=50, c=2, d=3)
        for kernel in ("gaussian", "linear"):
            value, _ = HSICPenalty(kernel, bandwidth=0.2).value_and_grad(F, s)
            expected = 2 * hsic(F[:, 1], s, kernel=kernel, bandwidth=0.2)
            assert value == pytest.approx(expected, rel=1e-10)

    def test_gaussian_kernel_detects_what_the_linear_kernel_misses(self):
        score = np.r_[np.full(50, 0.5), np.tile([0.2, 0.8], 25)]
        F, s = np.column_stack([1 - score, score]), np.repeat([0, 1], 50)
        assert HSICPenalty("linear").value_and_grad(F, s)[0] < 1e-30
        assert HSICPenalty("gaussian").value_and_grad(F, s)[0] > 0.01

    def test_invalid_parameters_raise(self):
        F = np.full((2, 2), 0.5)
        with pytest.raises(ValueError, match="kernel must be one of 'gaussian', 'linear'"):
            HSICPenalty("cubic").value_and_grad(F, [0, 1])
        with pytest.raises(ValueError, match="bandwidth must be a positive number"):
            HSICPenalty(bandwidth=0).value_and_grad(F, [0, 1])


class TestScoreBins:
    def test_value_is_zero_if_and_only_if_both_groups_have_equal_scores(self):
        score = np.linspace(0.1, 0.9, 20)
        s = np.repeat([0, 1], 20)
        F = np.column_stack([1 - np.r_[score, score], np.r_[score, score]])
        assert ScoreBinsPenalty().value_and_grad(F, s)[0] < 1e-25
        F = np.column_stack([1 - np.r_[score, score**2], np.r_[score, score**2]])
        assert ScoreBinsPenalty().value_and_grad(F, s)[0] > 0.1

    def test_memberships_are_probabilities_with_the_score_as_their_mean(self):
        from renyi_lib.penalties._splines import SoftBins

        score = np.linspace(0, 1, 101)
        bins = SoftBins(score, 8)
        members = bins.members()
        assert members.min() >= 0
        np.testing.assert_allclose(members.sum(axis=1), 1, atol=1e-14)
        np.testing.assert_allclose(np.sum(bins.slopes, axis=0), 0, atol=1e-12)
        centers = (np.arange(8) - 0.5) / 6
        np.testing.assert_allclose(members @ centers, score, atol=1e-14)

    @pytest.mark.parametrize("n_groups", [2, 4])
    def test_table_of_the_bins_matches_their_memberships(self, n_groups):
        from renyi_lib.penalties._splines import SoftBins

        rng = np.random.default_rng(0)
        score, weight = np.r_[0.0, 1.0, rng.uniform(size=98)], rng.uniform(size=100)
        groups, bins = Groups.from_labels(np.arange(100) % n_groups, weight), SoftBins(score, 7)
        np.testing.assert_allclose(bins.table(groups), groups.table(bins.members()), atol=1e-15)
        dT = rng.normal(size=(7, n_groups))
        by_members = bins.pull_back(groups.spread(dT))
        np.testing.assert_allclose(bins.spread(dT, groups), by_members, atol=1e-14)
        F = np.column_stack([1 - score, score])
        for penalty in (ScoreBinsPenalty(), ScoreBinsPenalty(PearsonPenalty())):
            assert penalty.value(F, groups) == penalty.value_and_grad(F, groups)[0]

    def test_residual_of_a_penalty_without_a_table_is_its_square_root(self):
        F, s, _ = problem(0, c=2)
        penalty = ScoreBinsPenalty(HSICPenalty())
        value, gradient = penalty.value_and_grad(F, s)
        (residual,) = penalty.residual_gradients(F, s)
        np.testing.assert_allclose(2 * np.sqrt(value) * residual, gradient, atol=1e-14)

    def test_score_bins_require_two_classes_and_three_bins(self):
        with pytest.raises(ValueError, match="ScoreBinsPenalty supports two classes only"):
            ScoreBinsPenalty().value_and_grad(np.full((4, 3), 1 / 3), [0, 1, 0, 1])
        with pytest.raises(ValueError, match="n_bins must be a whole number, 3 or more"):
            ScoreBinsPenalty(n_bins=2).value_and_grad(np.full((4, 2), 0.5), [0, 1, 0, 1])


class TestGroups:
    def test_several_columns_define_joint_groups(self):
        frame = pd.DataFrame({"sex": ["f", "m", "f", "m"], "race": ["x", "x", "y", "y"]})
        groups = Groups.from_labels(frame)
        assert groups.categories.tolist() == [("f", "x"), ("f", "y"), ("m", "x"), ("m", "y")]
        np.testing.assert_allclose(groups.q, 0.25)

    def test_spread_is_the_transpose_of_table(self):
        F, s, rng = problem(14, c=3, d=4)
        groups = Groups.from_labels(s, rng.uniform(size=len(s)))
        dT = rng.normal(size=(3, 4))
        assert np.sum(groups.spread(dT) * F) == pytest.approx(np.sum(dT * groups.table(F)))

    def test_column_sums_of_the_table_are_group_shares(self):
        F, s, rng = problem(15, c=3, d=4)
        groups = Groups.from_labels(s, rng.uniform(size=len(s)))
        np.testing.assert_allclose(groups.table(F).sum(axis=0), groups.q, rtol=1e-12)

    @pytest.mark.parametrize(
        ("labels", "weight", "message"),
        [
            (["a", "a"], None, "groups has only one group, 'a'"),
            (["a", None], None, "groups has a missing value"),
            (["a", "b"], [1.0], "groups has 2, sample_weight has 1"),
            (["a", "b"], [1.0, -1.0], "sample_weight has negative values"),
            (["a", "b"], [0.0, 1.0], "group 'a' has no sample of positive weight"),
        ],
    )
    def test_invalid_input_raises(self, labels, weight, message):
        with pytest.raises(ValueError, match=message):
            Groups.from_labels(labels, weight)

    def test_the_binary_form_rejects_three_groups(self):
        F, s, _ = problem(16, d=3)
        for method in (BinaryRenyiPenalty().value_and_grad, BinaryRenyiPenalty().best_response):
            with pytest.raises(ValueError, match="needs exactly two groups, but there are 3"):
                method(F, s)


def test_a_new_penalty_needs_only_one_method():
    class Gap(Penalty):
        """The squared difference of the two groups' mean probability of the last class."""

        def terms(self, F, groups):
            signs = np.where(groups.codes == 1, 1, -1) / groups.q[groups.codes]
            gap = np.sum(F[:, -1] * signs * groups.weight)
            gradient = np.zeros_like(F)
            gradient[:, -1] = 2 * gap * signs * groups.weight
            return [(gap**2, gradient)]

    F, s, _ = problem(17, c=2, d=2)
    groups = Groups.from_labels(s)
    value, gradient = Gap().value_and_grad(F, groups)
    assert value == pytest.approx((F[s == 1, 1].mean() - F[s == 0, 1].mean()) ** 2)
    (residual,) = Gap().residual_gradients(F, groups)
    np.testing.assert_allclose(2 * np.sqrt(value) * residual, gradient, atol=1e-15)


@pytest.mark.parametrize("conditional", [False, True])
def test_residual_rows_of_many_groups_have_the_gram_matrix_of_the_gradients(conditional):
    rng = np.random.default_rng(0)
    n, d = 900, 60
    F, steps = rng.dirichlet(np.ones(3), size=n), rng.normal(size=(4, n, 3))
    groups = Groups.from_labels(np.arange(n) % d, y=np.arange(n) // d % 2)
    penalty = ConditionalPenalty(RenyiPenalty()) if conditional else RenyiPenalty()

    def slopes_of(groups):
        return np.stack([groups.table(step) for step in steps], axis=-1)

    rows = penalty.residual_rows(F, groups, slopes_of)
    gradients = np.array(
        [[np.sum(each * step) for step in steps] for each in penalty.residual_gradients(F, groups)]
    )
    np.testing.assert_allclose(rows.T @ rows, gradients.T @ gradients, rtol=1e-9, atol=1e-12)
