"""Intervals of rates: exact limits, windows by brute force, and coverage with tiny groups."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, chi2_contingency, norm

from renyi_lib._rates import (
    _fair_pvalue,
    _lower,
    _score,
    _shrunken,
    _solve,
    _upper,
    gap,
    one_minus_ratio,
    rate_intervals,
)


def intervals(measure, positive, size, seed=0):
    options = {"level": 0.05, "n_resamples": 1000, "rng": np.random.default_rng(seed)}
    return rate_intervals(measure, np.array(positive), np.array(size), **options)


def test_upper_end_with_a_known_rate_is_clopper_pearson():
    known, size = 10**9, 12
    exact = binomtest(3, size).proportion_ci(0.95, method="exact")
    upper = _upper(gap, np.array([[known // 2, 3]]), np.array([[known, size]]), 0.05)
    assert upper == pytest.approx(max(exact.high - 0.5, 0.5 - exact.low), abs=2e-3)
    ratio = _upper(one_minus_ratio, np.array([[known // 2, 3]]), np.array([[known, size]]), 0.05)
    assert ratio == pytest.approx(1 - exact.low / 0.5, abs=2e-3)


def test_the_lower_end_is_the_narrowest_window_that_is_not_rejected():
    x, n = np.array([[30, 62, 45]]), np.array([[100, 100, 100]])
    (low,) = _lower(gap, x[None], n[None], 0.05, np.array([1e-6]), np.array([2.0]))
    # Brute force, with the deviance in place of exact tails.
    c = np.linspace(0.2, 0.6, 801)[:, None]
    for width, side in ((low - 0.02, 1), (low + 0.02, -1)):
        p = np.clip(x / n, c, c + width)
        deviance = 2 * (x * np.log(x / n / p) + (n - x) * np.log((1 - x / n) / (1 - p))).sum(
            axis=1
        )
        assert side * (deviance.min() - 5.99) > 0


@pytest.mark.parametrize("positive", [[30, 33, 62], [30, 59, 62]])
def test_the_lower_end_adds_up_the_squared_scores_of_all_groups(positive):
    k, n, critical = np.array([positive], dtype=float), 100.0, 5.991464547
    (low,) = _lower(
        gap, k[:, None], np.full((1, 1, 3), 100), 0.05, np.array([1e-9]), np.array([2.0])
    )
    starts = np.linspace(0.3, 0.6, 3001)[:, None]

    def evidence(width):
        above, below = _score(k, n, starts), _score(n - k, n, 1 - starts - width)
        return (above**2 + below**2).sum(axis=1).min()

    assert evidence(low) == pytest.approx(critical, abs=0.01)


def test_interval_of_two_groups_far_from_zero_is_the_textbook_interval():
    (row,) = intervals(gap, [[[300, 600]]], [[[1000, 1000]]])
    error = np.sqrt(0.3 * 0.7 / 1000 + 0.6 * 0.4 / 1000)
    assert row[2] == pytest.approx(0.3 - 1.96 * error, abs=0.003)
    assert row[3] == pytest.approx(0.3 + 1.96 * error, abs=0.003)
    assert row[0] == row[1] == pytest.approx(0.3)


@pytest.mark.parametrize("small", [1, 3, 10])
@pytest.mark.parametrize("rates", [[0.7, 0.78, 0.7], [0.05, 0.05, 0.3], [0.3, 0.4, 1.0]])
@pytest.mark.parametrize("measure", [gap, one_minus_ratio])
def test_a_tiny_third_group_does_not_break_coverage(measure, rates, small):
    size = np.broadcast_to([200, 200, small], (150, 1, 3))
    positive = np.random.default_rng(small).binomial(size, rates)
    found = intervals(measure, positive, size)
    truth = measure(np.array([rates]))
    covered = (found[:, 2] <= truth + 1e-9) & (truth <= found[:, 3] + 1e-9)
    assert covered.mean() > 0.9  # .95 - 2.8 standard errors


def test_interval_of_many_identical_groups_contains_the_gap():
    many = intervals(gap, [[[30] * 40 + [75]]], [[[100] * 41]])[0]
    assert 0 < many[2] < 0.45 < many[3] < 0.65


def test_small_groups_are_shrunk_toward_the_common_rate():
    rates = _shrunken(np.array([[500, 600, 0]]), np.array([[1000, 1000, 1]]))[0]
    assert rates[:2] == pytest.approx([0.5, 0.6], abs=0.01)
    assert 0.4 < rates[2] < 0.56


def test_measures_of_rates_take_the_extreme_groups_and_the_worst_stratum():
    rates = np.array([[0.2, 0.5, 0.3], [0.6, 0.9, 0.5]])
    assert gap(rates) == pytest.approx(0.4)
    assert one_minus_ratio(rates[:1]) == pytest.approx(0.6)
    assert one_minus_ratio(np.zeros((1, 3))) == 0


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("k", [0, 1, 4, 11, 12])
def test_score_is_the_normal_quantile_of_the_mid_p_value(k, p):
    tail = binom.cdf(k, 12, p) - binom.pmf(k, 12, p) / 2
    found = _score(np.array(float(k)), np.array(12.0), np.array(p))
    assert found == pytest.approx(max(-norm.ppf(tail), 0), abs=1e-9)


def test_score_far_out_is_the_square_root_of_the_deviance():
    k, n, p = 1000.0, 10_000.0, 0.5
    deviance = 2 * (k * np.log(k / (n * p)) + (n - k) * np.log((n - k) / (n * (1 - p))))
    assert _score(np.array(k), np.array(n), np.array(p)) == pytest.approx(np.sqrt(deviance))
    # With a rate of 1, a count below n has probability zero.
    assert _score(np.array(3.0), np.array(5.0), np.array(1.0)) > 1e100


def test_roots_of_increasing_functions_are_found_for_each_row_and_target():
    targets = np.array([[0.04, 0.49, 2.0], [0.3, 0.9, -1.0]])
    power = np.array([[2], [1]])
    found = _solve(lambda p: p**power, targets)
    np.testing.assert_allclose(found, [[0.2, 0.7, 1.0], [0.3, 0.9, 0.0]], atol=1e-5)


@pytest.mark.parametrize("counts", [[(3, 10), (9, 12)], [(0, 6), (6, 6)], [(2, 9), (2, 9)]])
def test_upper_end_is_the_worst_pair_of_one_sided_limits(counts):
    def limit(count, confidence, side):
        interval = binomtest(*count, alternative=side).proportion_ci(confidence)
        return interval.high if side == "less" else interval.low

    gaps, ratios = [], []
    for angle in np.linspace(0, np.pi / 2, 17):
        up, down = norm.cdf(1.959964 * np.sin(angle)), norm.cdf(1.959964 * np.cos(angle))
        for one, other in (counts, counts[::-1]):
            most, least = limit(one, up, "less"), limit(other, down, "greater")
            gaps.append(most - least)
            ratios.append(1 - least / most)
    x, n = np.array(counts).T[:, None]
    assert _upper(gap, x, n, 0.05) == pytest.approx(max(gaps), abs=1e-6)
    assert _upper(one_minus_ratio, x, n, 0.05) == pytest.approx(max(ratios), abs=1e-6)


def test_pvalue_of_equal_rates_ignores_groups_of_one_sample_and_adds_strata():
    x, n = np.array([[30, 55, 1], [20, 24, 0]]), np.array([[80, 90, 1], [50, 40, 1]])
    tests = [
        chi2_contingency(np.stack([size - positive, positive])[:, :2], correction=False)
        for positive, size in zip(x, n)
    ]
    rng = np.random.default_rng(0)
    pvalue, df = _fair_pvalue(x[:1], n[:1], 100, rng)
    assert (pvalue, df) == pytest.approx((tests[0].pvalue, 1))
    pvalue, df = _fair_pvalue(x, n, 100, rng)
    assert df == 2
    assert pvalue == pytest.approx(np.exp(-(tests[0].statistic + tests[1].statistic) / 2))
    # The same decision for all samples is no evidence of a difference.
    assert _fair_pvalue(n[:1], n[:1], 100, rng) == (1.0, 1)


def test_groups_of_equal_size_are_shrunk_by_the_james_stein_factor():
    x, size = np.array([40, 55, 47, 62, 51]), 100
    chi_square = chi2_contingency(np.stack([x, size - x]), correction=False).statistic
    rates = _shrunken(x[None], np.full((1, 5), size))[0]
    expected = 0.51 + (1 - 4 / chi_square) * (x / size - 0.51)
    np.testing.assert_allclose(rates, expected, rtol=1e-12)
    # Rates that vary less than by chance are shrunk to the common rate.
    alike = _shrunken(np.array([[50, 51, 50]]), np.full((1, 3), size))
    np.testing.assert_allclose(alike, 151 / 300, rtol=1e-9)
    pair = _shrunken(np.array([[50, 51]]), np.array([[100, 101]]))
    np.testing.assert_allclose(pair, [[50 / 100, 51 / 101]])


def test_shrinking_several_samples_and_strata_at_once_equals_shrinking_each():
    rng = np.random.default_rng(18)
    n = rng.integers(20, 90, size=(3, 2, 4))
    x = rng.binomial(n, rng.random((3, 2, 4)))
    each = [[_shrunken(*stratum) for stratum in zip(*sample)] for sample in zip(x, n)]
    np.testing.assert_allclose(_shrunken(x, n), each, rtol=1e-12)


def test_estimate_is_zero_if_chance_alone_would_show_more_half_of_the_time():
    fair, unfair = intervals(gap, [[[50, 52]], [[30, 60]]], np.full((2, 1, 2), 100))
    assert fair[0] == fair[2] == 0 < fair[1] < fair[3]
    assert fair[4] > 0.5
    assert 0 < unfair[2] < unfair[0] == unfair[1] < unfair[3]


@pytest.mark.parametrize("measure", [gap, one_minus_ratio])
def test_samples_processed_together_or_one_by_one_agree(measure):
    size = np.array([[[100, 150, 80]], [[90, 60, 200]], [[300, 70, 110]]])
    positive = np.array([[[30, 80, 25]], [[40, 30, 90]], [[60, 35, 60]]])
    together = intervals(measure, positive, size)
    alone = [intervals(measure, [x], [n])[0] for x, n in zip(positive, size)]
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_lower_end_of_a_ratio_is_the_textbook_interval_for_large_groups():
    (row,) = intervals(one_minus_ratio, [[[3000, 6000]]], [[[10_000, 10_000]]])
    error = np.sqrt(0.7 / 3000 + 0.4 / 6000)  # of the logarithm of the ratio
    low, high = 1 - 0.5 * np.exp(1.96 * error), 1 - 0.5 * np.exp(-1.96 * error)
    assert (row[2], row[3]) == pytest.approx((low, high), abs=0.002)


def test_a_violation_in_one_stratum_is_not_hidden_by_another():
    (row,) = intervals(gap, [[[300, 600], [500, 500]]], [[[1000, 1000], [1000, 1000]]])
    # With two degrees of freedom, the 95 % quantile of chi-square is 5.99.
    error = np.sqrt(0.3 * 0.7 / 1000 + 0.6 * 0.4 / 1000)
    assert row[2] == pytest.approx(0.3 - np.sqrt(5.99) * error, abs=0.004)
    assert row[3] == pytest.approx(0.3 + 1.96 * error, abs=0.003)
