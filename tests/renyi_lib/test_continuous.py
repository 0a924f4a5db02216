"""Maximal correlation of continuous variables: known values, invariances, and an exact test."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.stats import kstest, norm

from renyi_lib import (
    continuous,
    continuous_correlation,
    continuous_interval,
    continuous_test,
    renyi_correlation,
)
from renyi_lib.continuous import correlation_within, smooth_basis, without_bias
from renyi_lib.correlation import SmallSampleWarning, joint_table, maximal_functions

MIXED = ("continuous", "discrete")


def gaussian_pair(r, n, seed=0):
    x, noise = np.random.default_rng(seed).normal(size=(2, n))
    return x, r * x + np.sqrt(1 - r**2) * noise


def cosine_pair(rhos, n, seed=0):
    """Uniform variables with density 1 + sum of 2 rho_k cos(k pi u) cos(k pi v)."""
    rng = np.random.default_rng(seed)
    u, v, w = rng.random((3, 20 * n))
    waves = [2 * r * np.cos(k * np.pi * u) * np.cos(k * np.pi * v) for k, r in enumerate(rhos, 1)]
    kept = np.flatnonzero(w * (1 + 2 * np.sum(np.abs(rhos))) < 1 + sum(waves))[:n]
    assert len(kept) == n
    return u[kept], v[kept]


# --- known values -------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [0.0, 0.3, -0.5, 0.7, 0.95])
@pytest.mark.parametrize(("n", "error"), [(1000, 0.06), (10_000, 0.02), (100_000, 0.006)])
def test_estimate_for_a_gaussian_pair_is_its_correlation(r, n, error):
    assert continuous_correlation(*gaussian_pair(r, n)).rho == pytest.approx(abs(r), abs=error)


def test_functional_dependence_and_a_circle_have_correlation_one():
    rng = np.random.default_rng(1)
    x, angle = rng.normal(size=500), rng.uniform(0, 2 * np.pi, 500)
    for pair in ((x, x**2), (x, np.exp(x)), (np.cos(angle), np.sin(angle))):
        assert continuous_correlation(*pair).rho > 0.998


@pytest.mark.parametrize("rhos", [(0.4, 0.2), (0, 0, 0.45), (0.1, -0.35)])
def test_known_density_gives_its_largest_singular_value_and_functions(rhos):
    u, v = cosine_pair(rhos, 20_000)
    found = continuous_correlation(u, v)
    assert found.rho == pytest.approx(max(np.abs(rhos)), abs=0.02)
    k = np.argmax(np.abs(rhos)) + 1
    at = (np.arange(200) + 0.5) / 200
    truth = np.sqrt(2) * np.cos(k * np.pi * at)
    assert abs(np.mean(truth * found.f(at))) > 0.98
    assert abs(np.mean(truth * found.g(at))) > 0.98


@pytest.mark.parametrize("r", [0.0, 0.4, 0.8])
def test_correlation_of_a_gaussian_variable_and_a_sign_matches_its_formula(r):
    x, y = gaussian_pair(r, 20_000, seed=3)
    # E Phi(c x)^2 = 1/4 + arcsin(r^2) / (2 pi) with c = r / sqrt(1 - r^2)
    truth = np.sqrt(2 * np.arcsin(r**2) / np.pi)
    label = np.where(y > 0, "up", "down")
    assert continuous_correlation(x, label, kind=MIXED).rho == pytest.approx(truth, abs=0.02)
    assert renyi_correlation(label, x) == pytest.approx(truth, abs=0.02)


def test_numbers_with_few_values_have_the_correlation_of_the_table():
    rng = np.random.default_rng(4)
    a = rng.integers(0, 6, 3000)
    b = (a + rng.integers(0, 3, 3000)) % 5
    truth = maximal_functions(joint_table(a, b).counts)
    both, one = continuous_correlation(a, b), continuous_correlation(a, b, kind=MIXED)
    for found in (both, one):
        assert list(found.path.values())[-1][0] == pytest.approx(truth.rho, abs=1e-12)


def test_a_binary_number_and_labels_have_the_functions_of_the_table():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, [[2], [4]], (2, 1000))
    truth, found = (
        maximal_functions(joint_table(a, b).counts),
        continuous_correlation(a, b, kind=MIXED),
    )
    assert found.n_functions == (1, 3)
    assert found.f([0, 1]) == pytest.approx(truth.f, abs=1e-9)
    assert found.g([0, 1, 2, 3]) == pytest.approx(truth.g, abs=1e-9)


def test_the_plug_in_is_the_canonical_correlation_of_the_functions():
    x, y = gaussian_pair(0.6, 700, seed=5)

    def design(values):
        u = (values.argsort().argsort() + 0.5) / len(values)
        order = np.sort(u)
        columns = smooth_basis(order, np.full(len(u), 1 / len(u)), 16)
        return columns[values.argsort().argsort()]

    for (p, q), (plug_in, _) in continuous_correlation(x, y).path.items():
        X, Y = design(x)[:, :p] @ np.triu(np.ones((p, p))), design(y)[:, :q]
        Q, R = np.linalg.qr(X - X.mean(axis=0))[0], np.linalg.qr(Y - Y.mean(axis=0))[0]
        assert plug_in == pytest.approx(np.linalg.svd(Q.T @ R)[1][0], abs=1e-9)


# --- the functions ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 300])
def test_the_smoothest_functions_come_first_and_are_orthonormal(n):
    rng = np.random.default_rng(6)
    u = np.sort(rng.random(n))
    mass = rng.dirichlet(np.full(n, 3.0))
    basis = smooth_basis(u, mass, 10)
    assert basis.shape == (n, 10)
    assert mass @ basis == pytest.approx(np.zeros(10), abs=1e-10)
    assert basis.T @ (mass[:, None] * basis) == pytest.approx(np.eye(10), abs=1e-8)
    line = (u - mass @ u) / np.sqrt(mass @ (u - mass @ u) ** 2)
    assert basis[:, 0] == pytest.approx(line, abs=1e-6)
    turns = (np.diff(np.sign(np.diff(basis, axis=0)), axis=0) != 0).sum(axis=0)
    assert list(turns[:6]) == list(range(6))


def test_functions_of_a_uniform_variable_match_a_brute_force_minimum():
    u = (np.arange(60) + 0.5) / 60
    basis = smooth_basis(u, np.full(60, 1 / 60), 20)

    def bending(f):
        return np.sum(np.diff(f, 2) ** 2) * 60**3

    rough = [bending(f) for f in basis.T]
    assert rough == sorted(rough)
    # The minima over all vectors are the eigenvalues of the second differences.
    D = np.diff(np.eye(60), 2, axis=0) * 60**2 / np.sqrt(60)
    least = np.linalg.eigvalsh(D.T @ D)[2:6] * 60
    assert np.array(rough[1:5]) / least == pytest.approx(np.ones(4), abs=0.15)


def test_splines_are_orthonormal_in_their_second_derivatives():
    rng = np.random.default_rng(8)
    knots = np.cumsum(rng.uniform(0.1, 1, 8))
    spline = CubicSpline(knots, continuous._bent_by_one(knots, knots), bc_type="natural")
    bends, h = spline.derivative(2), np.diff(knots)
    left, middle, right = (bends(knots[:-1] + part * h) for part in (0, 0.5, 1))
    # Simpson's rule is exact for products of lines.
    products = [np.einsum("n,ni,nj->ij", h / 6, f, f) for f in (left, middle, right)]
    np.testing.assert_allclose(products[0] + 4 * products[1] + products[2], np.eye(6), atol=1e-9)
    between = rng.uniform(knots[0], knots[-1], 20)
    np.testing.assert_allclose(continuous._bent_by_one(knots, between), spline(between), atol=1e-9)


@pytest.mark.parametrize("n", [200, 1000, 30_000])
def test_f_and_g_have_mean_zero_variance_one_and_attain_the_plug_in(n):
    x, y = gaussian_pair(0.5, n, seed=7)
    found = continuous_correlation(x, np.exp(y))
    f, g = found.f(x), found.g(np.exp(y))
    error = 1e-9 if n <= 1024 else 3e-3
    assert [f.mean(), g.mean()] == pytest.approx([0, 0], abs=error)
    assert [f.var(), g.var()] == pytest.approx([1, 1], abs=error)
    assert (f * g).mean() == pytest.approx(found.plug_in, abs=error)


def test_functions_can_be_evaluated_at_new_and_distant_points():
    x, y = gaussian_pair(0.8, 4000, seed=8)
    found = continuous_correlation(x, y)
    x_new, y_new = gaussian_pair(0.8, 4000, seed=9)
    assert np.corrcoef(found.f(x_new), found.g(y_new))[0, 1] == pytest.approx(0.8, abs=0.03)
    assert found.f([1e9]) == found.f([x.max()]) == found.f.values[-1]
    assert "4" in repr(found.f)
    label = continuous_correlation(x, y > 0, kind=MIXED).g
    assert "True" in repr(label)
    with pytest.raises(ValueError, match="labels unseen in fit"):
        label(["neither"])


# --- invariances --------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([40, 333, 1500]))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_only_the_order_of_the_values_matters(seed, n):
    x, y = gaussian_pair(0.4, n, seed)
    once = continuous_correlation(x, y)
    for monotone in (np.exp, np.cbrt, lambda t: 1e200 * t, lambda t: np.sinh(5 * t)):
        again = continuous_correlation(monotone(x), y)
        assert again.rho == once.rho
        assert again.cross_validated == once.cross_validated
    for size, (plug_in, _) in continuous_correlation(-x, y).path.items():
        assert plug_in == pytest.approx(once.path[size][0], abs=0.02)
    swapped = continuous_correlation(y, x)
    assert swapped.rho == pytest.approx(once.rho, abs=1e-9)
    assert 0 <= once.rho <= once.plug_in <= 1


def test_label_names_have_no_effect():
    x, y = gaussian_pair(0.5, 500, seed=10)
    groups = np.digitize(y, [-1, 0, 1])
    names = np.array(list("bdac"))[groups]
    one, other = (continuous_correlation(x, b, kind=MIXED) for b in (groups, pd.Series(names)))
    assert one.rho == pytest.approx(other.rho, abs=1e-9)
    assert one.g([3]) == pytest.approx(other.g(["c"]), abs=1e-9)


def test_integer_weights_equal_repeated_rows():
    rng = np.random.default_rng(11)
    x, y = gaussian_pair(0.5, 600, seed=11)
    weight = rng.integers(0, 4, 600)
    weighted = continuous_correlation(x, y, sample_weight=weight)
    repeated = continuous_correlation(np.repeat(x, weight), np.repeat(y, weight))
    for size, (plug_in, _) in weighted.path.items():
        assert plug_in == pytest.approx(repeated.path[size][0], abs=1e-9)
    same = continuous_correlation(x, y, sample_weight=np.full(600, 7.0))
    assert same.rho == pytest.approx(continuous_correlation(x, y).rho, abs=1e-9)


def test_weights_correct_a_skewed_sample():
    # Samples are kept with probability 1 if x and y have the same sign, and otherwise with 1/5,
    # which the weights correct.
    x, y = gaussian_pair(0.0, 40_000, seed=12)
    kept = (x * y > 0) | (np.random.default_rng(12).random(40_000) < 0.2)
    x, y = x[kept], y[kept]
    assert continuous_correlation(x, y).rho > 0.5
    weight = np.where(x * y > 0, 1.0, 5.0)
    assert continuous_correlation(x, y, sample_weight=weight).rho < 0.06


def test_grid_has_a_negligible_effect(monkeypatch):
    x, y = gaussian_pair(0.7, 8000, seed=13)
    with_cells = continuous_correlation(x, y)
    monkeypatch.setattr(continuous, "_CELLS", 10**9)
    exact = continuous_correlation(x, y)
    for size, (plug_in, score) in with_cells.path.items():
        assert (plug_in, score) == pytest.approx(exact.path[size], abs=5e-4)


def test_ties_and_a_point_mass_are_supported():
    rng = np.random.default_rng(14)
    x = np.where(rng.random(3000) < 0.5, 40.0, rng.normal(40, 10, 3000).round())
    assert continuous_correlation(x, (x - 40) ** 2).rho > 0.99
    assert continuous_correlation(x, rng.normal(size=3000)).rho < 0.08


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_equal_atoms_have_correlation_at_most_one(share):
    rng = np.random.default_rng(15)
    binary = (rng.random(500) < share).astype(int)
    assert continuous_correlation(binary, binary).rho == pytest.approx(1, abs=1e-12)
    assert continuous_correlation(binary, 1 - binary).plug_in == pytest.approx(1, abs=1e-12)
    half = np.where(binary == 1, rng.normal(size=500), 0.0)
    found = continuous_correlation(half, half)
    assert 0.999 < found.rho <= 1
    assert max(plug_in for plug_in, _ in found.path.values()) <= 1


# --- how many functions -------------------------------------------------------------------------


def test_number_of_functions_grows_with_the_samples_without_a_limit():
    def most(n):
        x = np.arange(n) % 5003 / 7
        return max(p for p, _ in continuous_correlation(x, x % 3.1).path)

    assert [most(n) for n in (400, 4000, 40_000, 400_000)] == [16, 16, 50, 158]


def test_enough_samples_detect_a_pattern_too_fine_for_48_functions():
    rng = np.random.default_rng(27)
    seen = {}
    for n in (20_000, 400_000):
        position = rng.random(n)
        stripe = (position * 100).astype(int) % 2
        seen[n] = continuous_correlation(position, stripe, kind=MIXED).rho
    assert seen[20_000] < 0.2
    assert seen[400_000] > 0.85


# --- the interval -------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [0.0, 0.4, 0.8])
def test_interval_covers_the_correlation_of_gaussian_pairs(r):
    found = [continuous_interval(*gaussian_pair(r, 300, seed)) for seed in range(40)]
    assert all(0 <= each.low <= each.rho <= each.high <= 1 for each in found)
    assert np.mean([each.low <= r <= each.high for each in found]) >= 0.875
    assert np.mean([each.high - each.low for each in found]) < 0.35


def test_interval_covers_with_a_binary_variable_and_with_weights():
    x, y = gaussian_pair(0.6, 2000, seed=28)
    truth = np.sqrt(2 * np.arcsin(0.36) / np.pi)
    plain = continuous_interval(x, y > 0, kind=MIXED)
    assert plain.low < truth < plain.high
    assert plain.high - plain.low < 0.15
    assert plain.n_functions[1] == 1
    same = continuous_interval(x, y > 0, kind=MIXED, sample_weight=np.full(2000, 3.0))
    assert (same.low, same.high) == pytest.approx((plain.low, plain.high))
    narrow = continuous_interval(x, y > 0, kind=MIXED, confidence_level=0.5)
    assert plain.low < narrow.low < narrow.high < plain.high


def test_interval_excludes_0_only_if_the_test_rejects():
    for seed in range(12):
        x, y = gaussian_pair(0.15, 200, seed)
        found = continuous_interval(x, y)
        rejected = continuous_test(x, y, n_permutations=199).pvalue <= 0.05
        assert found.low == 0 or rejected


def test_interval_also_considers_rougher_functions_than_those_detected(monkeypatch):
    kept, sizes = continuous._Pair.kept, []

    def recorded(pair, W, size, rng, tail):
        sizes.append(size)
        return kept(pair, W, size, rng, tail)

    monkeypatch.setattr(continuous._Pair, "kept", recorded)
    found = continuous_interval(*gaussian_pair(0.6, 1000, seed=3))
    assert sizes[0] == found.n_functions
    assert len(sizes) == 2
    assert sum(sizes[1]) > sum(sizes[0])


def test_moments_about_other_means_match_the_deviations():
    rng = np.random.default_rng(4)
    x, y, weight = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.random(20)
    X, Y, w = x.T * weight, y.T * weight, weight.sum()
    moments = continuous._Moments(
        *(each[None] for each in (X @ y, X @ x, Y @ y, X.sum(1)[:, None], Y.sum(1)[:, None])),
        np.full((1, 1, 1), w),
    )
    a, b = rng.normal(size=3), rng.normal(size=2)
    found = moments.about(a[None, :, None], b[None, :, None])
    for product, (left, right) in zip(found, ((x - a, y - b), (x - a, x - a), (y - b, y - b))):
        np.testing.assert_allclose(product[0], left.T @ (weight[:, None] * right), atol=1e-12)


def test_interval_of_a_function_and_of_a_constant_is_correct():
    x = np.random.default_rng(29).normal(size=200)
    found = continuous_interval(x, x)
    assert found.low > 0.99
    assert found.high == pytest.approx(1)
    assert continuous_interval(x, np.ones(200))[:3] == (0, 0, 0)
    for level in (95, 0):
        with pytest.raises(ValueError, match=r"^confidence_level must be"):
            continuous_interval(x, x, confidence_level=level)


def test_interval_does_not_depend_on_which_variable_comes_first():
    noise = np.random.default_rng(0).normal(size=(300, 6, 3)) / np.sqrt(50)
    for observed in (0.3, 0.7, 0.95):
        one = continuous._kept(observed, noise, 1.3, 0.025, 50)
        other = continuous._kept(observed, noise.transpose(0, 2, 1), 1.3, 0.025, 50)
        assert one == pytest.approx(other, abs=1e-9)
        assert one[0] < observed < one[1]


# --- the correction -----------------------------------------------------------------------------


def test_correction_inverts_the_limit_of_the_largest_canonical_correlation():
    n, p, q = 400, 20, 10
    rng = np.random.default_rng(15)
    plug_in = []
    for _ in range(60):
        X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
        Y[:, 0] = 0.6 * X[:, 0] + 0.8 * Y[:, 0]
        Q, R = np.linalg.qr(X - X.mean(axis=0))[0], np.linalg.qr(Y - Y.mean(axis=0))[0]
        plug_in.append(np.linalg.svd(Q.T @ R)[1][0])
    assert np.mean(plug_in) > 0.62
    corrected = [without_bias(rho, p, q, n - 1) for rho in plug_in]
    assert np.mean(corrected) == pytest.approx(0.6, abs=0.015)


@given(st.floats(0.01, 1), st.integers(1, 30), st.integers(1, 30))
def test_the_correction_solves_its_equation(rho, p, q):
    n = 200
    r = without_bias(rho, p, q, n) ** 2
    assert r <= rho**2 + 1e-12
    if r:
        c, d = p / n, q / n
        assert r * (1 - c + c / r) * (1 - d + d / r) == pytest.approx(rho**2, abs=1e-9)
    assert without_bias(rho, 300, q, n) == 0


@pytest.mark.parametrize("largest", [1, 7])
def test_correction_uses_the_effective_sample_size_minus_one(largest):
    x, y = gaussian_pair(0.5, 600, seed=11)
    weight = np.random.default_rng(11).integers(1, largest + 1, 600)
    found = continuous_correlation(x, y, sample_weight=weight)
    n = weight.sum() ** 2 / (weight**2).sum()
    corrected = without_bias(found.plug_in, *found.n_functions, n - 1)
    assert found.rho == pytest.approx(corrected, abs=1e-9)


@pytest.mark.parametrize("largest", [1, 7])
def test_noise_of_the_interval_has_the_effective_sample_size_minus_one(monkeypatch, largest):
    x, y = gaussian_pair(0.5, 200, seed=11)
    weight = np.random.default_rng(11).integers(1, largest + 1, 200)
    plain, sizes = continuous._kept, []

    def recorded(observed, noise, spread, tail, n):
        sizes.append(n)
        assert noise.std() * np.sqrt(n) == pytest.approx(1, abs=0.1)
        assert tail == pytest.approx(0.025)
        return plain(observed, noise, spread, tail, n)

    monkeypatch.setattr(continuous, "_kept", recorded)
    continuous_interval(x, y, sample_weight=weight)
    n = weight.sum() ** 2 / (weight**2).sum()
    assert sizes == pytest.approx([n - 1] * len(sizes))
    assert sizes


def test_estimates_of_independent_variables_are_small_on_average():
    found = [continuous_correlation(*gaussian_pair(0, 1000, seed)) for seed in range(30)]
    assert np.mean([f.rho for f in found]) < 0.04
    assert np.mean([f.plug_in for f in found]) > 0.08


# --- the test of independence -------------------------------------------------------------------


@pytest.mark.parametrize(("method", "n"), [("permutation", 60), ("limit", 1500)])
def test_p_values_of_independent_variables_are_uniform(method, n):
    rng = np.random.default_rng(26)
    found = [
        continuous_test(*rng.exponential(size=(2, n)), method=method, n_permutations=99).pvalue
        for _ in range(200)
    ]
    assert kstest(found, "uniform").pvalue > 0.01


def test_permutation_and_limit_distributions_agree():
    x, y = gaussian_pair(0.06, 2000, seed=17)
    limit, permuted = (continuous_test(x, y, method=m) for m in ("limit", "permutation"))
    assert limit.pvalue == pytest.approx(permuted.pvalue, abs=0.04)
    assert limit.statistic == pytest.approx(permuted.statistic, abs=0.4)


def test_dependence_is_detected_where_pearson_is_zero():
    rng = np.random.default_rng(18)
    x, noise = rng.normal(size=(2, 300))
    assert continuous_test(x, x**2 + noise).pvalue == 0.001
    assert continuous_test(x, np.abs(x) + noise > 1, kind=MIXED).pvalue < 0.01
    assert continuous_test(*gaussian_pair(0.2, 20_000)).pvalue < 0.001
    assert continuous_test(x, np.zeros(300)).pvalue == 1


def test_dependence_explained_by_groups_vanishes_within_them():
    rng = np.random.default_rng(19)
    group = rng.integers(0, 3, 3000)
    x, y = group + rng.normal(size=(2, 3000))
    assert continuous_test(x, y).pvalue < 0.001
    assert continuous_test(x, y, given=group).pvalue > 0.05
    assert continuous_test(x, x + y, given=group).pvalue < 0.001
    assert renyi_correlation(x, y) > 0.3
    inside = renyi_correlation(x, y, given=group)
    assert inside.correlations.max() < 0.2
    assert list(inside.values) == [0, 1, 2]
    assert inside.weights == pytest.approx(np.bincount(group) / 3000)


# --- renyi_correlation --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 50, 20_000])
def test_numbers_that_rarely_repeat_are_treated_as_continuous(n):
    x, y = gaussian_pair(0.5, n, seed=20)
    assert renyi_correlation(x, y) == continuous_correlation(x, y).rho < 0.95
    text = np.where(y > 0, "m", "f")
    mixed = continuous_correlation(text, x, kind=("discrete", "continuous")).rho
    assert renyi_correlation(text, pd.array(x, dtype="Float64")) == mixed


def test_the_caller_can_choose_the_type_of_each_variable():
    rng = np.random.default_rng(21)
    age = rng.integers(17, 91, 3000)
    score = age / 90 + rng.normal(size=3000)
    income = 10**6 + rng.permutation(3000)
    assert renyi_correlation(age, score) == renyi_correlation(age, score, kind=MIXED[::-1])
    smooth = renyi_correlation(age, score, kind="continuous")
    assert smooth == continuous_correlation(age, score).rho
    assert abs(smooth - np.corrcoef(age, score)[0, 1]) < 0.05 < renyi_correlation(age, score)
    with pytest.raises(ValueError, match=r'^a has 3000 different labels.*kind="continuous"'):
        renyi_correlation(income, age)
    assert renyi_correlation(income, age, kind=("continuous", "auto")) < 0.3
    with pytest.raises(ValueError, match=r"^b has 300 different labels in 300"):
        renyi_correlation(score[:300], [f"person {i}" for i in range(300)])


@pytest.mark.parametrize("n", [40, 199, 200, 4000])
def test_kind_does_not_depend_on_the_number_of_samples(n):
    # Once, 40 wages were taken as labels in 200 samples or more, which gave 0.198 instead of 0.
    rng = np.random.default_rng(30)
    wage = (rng.integers(40, size=n) + 80) / 8
    raised = rng.random(n)
    expected = continuous_correlation(wage, raised).rho
    assert renyi_correlation(wage, raised) == expected
    assert renyi_correlation(wage, raised > 0.5) == (
        continuous_correlation(wage, raised > 0.5, kind=MIXED).rho
    )


def test_weights_are_used_within_groups():
    x, y = gaussian_pair(0.5, 2000, seed=22)
    group = np.repeat(["u", "v", "w"], [900, 900, 200])
    weight = np.repeat([1.0, 3.0, 0.0], [900, 900, 200])
    found = renyi_correlation(x, y, given=group, sample_weight=weight)
    assert list(found.values) == ["u", "v"]
    assert found.weights == pytest.approx([0.25, 0.75])
    assert found.correlations[1] == pytest.approx(renyi_correlation(x[900:1800], y[900:1800]))
    same = correlation_within(x, y, group)
    assert same.correlations[0] == pytest.approx(found.correlations[0])


# --- degenerate and invalid input ----------------------------------------------------------------


def test_constants_have_correlation_zero():
    x = np.linspace(0, 1, 50) ** 2
    found = continuous_correlation(x, np.ones(50))
    assert (found.rho, found.plug_in, found.n_functions) == (0, 0, (0, 0))
    assert (found.f(x) == 0).all()
    assert continuous_correlation(np.ones(50), ["same"] * 50, kind=MIXED).rho == 0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 19])
def test_few_samples_give_an_estimate_and_a_warning(n):
    x, y = gaussian_pair(0.5, n, seed=23)
    if n == 1:
        assert continuous_correlation(x, y).rho == 0
        return
    with pytest.warns(SmallSampleWarning, match=f"{n} samples are few for 1 and 1 functions"):
        found = continuous_correlation(x, y)
    assert 0 <= found.rho <= 1
    assert 0 < continuous_test(x, y).pvalue <= 1


def test_many_labels_for_few_samples_warn():
    rng = np.random.default_rng(24)
    with pytest.warns(SmallSampleWarning, match="chance alone"):
        continuous_correlation(rng.normal(size=60), np.arange(60) % 30, kind=MIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        continuous_correlation(rng.normal(size=60), np.arange(60) % 3, kind=MIXED)


def test_label_that_occurs_in_one_fold_only_is_supported():
    x = np.random.default_rng(25).normal(size=100)
    label = np.where(x > np.sort(x)[-3], "rare", np.where(x > 0, "up", "down"))
    assert np.isfinite(continuous_correlation(x, label, kind=MIXED).cross_validated)


INVALID = {
    "missing": (lambda: continuous_correlation([1.0, np.nan], [1, 2]), r"^a has .*missing"),
    "infinite": (lambda: continuous_correlation([1.0, 2], [1, np.inf]), r"^b has .*infinite"),
    "text": (lambda: continuous_correlation([1.0, 2], ["x", "y"]), r"^b must contain numbers"),
    "lengths": (lambda: continuous_correlation([1.0, 2], [1.0]), "same number of samples"),
    "empty": (lambda: continuous_correlation([], []), r"^a is empty"),
    "two columns": (lambda: continuous_correlation(np.ones((5, 2)), np.ones(5)), r"^a must be"),
    "kind": (lambda: continuous_correlation([1.0], [1], kind="auto"), r"^kind must be one of"),
    "kinds": (lambda: renyi_correlation([1.0], [1], kind=["auto"] * 3), r"^kind must be .* pair"),
    "no kinds": (lambda: continuous_correlation([1.0], [1], kind=[]), r"^kind must be .* pair"),
    "labels": (lambda: continuous_test([1], [1], kind="discrete"), "renyi_correlation"),
    "functions": (lambda: continuous_correlation([1.0], [1], max_functions=0), "^max_functions"),
    "seed": (lambda: continuous_test([1.0], [1.0], random_state=-1), "^random_state"),
    "method": (lambda: continuous_test([1.0], [1.0], method="exact"), "^method must be one of"),
    "permutations": (lambda: continuous_test([1.0], [1.0], n_permutations=3), "^n_permutations"),
    "weights": (
        lambda: continuous_correlation([1.0, 2], [1.0, 2], sample_weight=[0, 0]),
        "^sample_weight is zero everywhere",
    ),
    "short weights": (
        lambda: continuous_correlation([1.0, 2], [1.0, 2], sample_weight=[1.0]),
        "sample_weight has 1",
    ),
    "short weights within groups": (
        lambda: correlation_within([1.0, 2], [1.0, 2], ["u", "v"], sample_weight=[1.0]),
        "sample_weight has 1",
    ),
    "a label for each sample": (
        lambda: continuous_correlation(np.arange(90), list(map(str, range(90))), kind=MIXED),
        r"^b has 90 different labels",
    ),
    "given": (
        lambda: renyi_correlation(
            np.arange(90) / 7, np.arange(90) / 9, given=norm.ppf((np.arange(90) + 0.5) / 90)
        ),
        r"^given looks continuous",
    ),
}


@pytest.mark.parametrize(("call", "message"), INVALID.values(), ids=INVALID)
def test_invalid_input_raises(call, message):
    with pytest.raises(ValueError, match=message):
        call()
