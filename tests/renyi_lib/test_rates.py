"""Intervals of rates: exact limits, windows by brute force, and coverage with tiny groups."""

import numpy as np
import pytest
from scipy.stats import binomtest

from renyi_lib._rates import _lower, _shrunken, _upper, gap, one_minus_ratio, rate_intervals


def intervals(measure, positive, size, seed=0):
    options = {"level": 0.05, "n_resamples": 1000, "rng": np.random.default_rng(seed)}
    return rate_intervals(measure, np.array(positive), np.array(size), **options)


def test_beside_a_known_rate_the_upper_end_is_that_of_clopper_and_pearson():
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


def test_far_from_zero_two_groups_have_the_textbook_interval():
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


def test_equal_groups_cost_no_more_than_their_kinds():
    many = intervals(gap, [[[30] * 40 + [75]]], [[[100] * 41]])[0]
    assert 0 < many[2] < 0.45 < many[3] < 0.65


def test_small_groups_are_drawn_to_the_common_rate():
    rates = _shrunken(np.array([[500, 600, 0]]), np.array([[1000, 1000, 1]]))[0]
    assert rates[:2] == pytest.approx([0.5, 0.6], abs=0.01)
    assert 0.4 < rates[2] < 0.56
