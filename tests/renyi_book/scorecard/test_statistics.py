"""The scorecard's statistics against simulations, by hand, and against other libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control, t, ttest_1samp

from renyi_book.experiments import interval
from renyi_book.scorecard import statistics as s

RNG = np.random.default_rng


def test_without_overlap_it_is_student_s_interval():
    values = RNG(0).normal(1, 2, 12)
    found = s.corrected(values)
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert_allclose([found.low, found.high], [low, high])
    assert_allclose(s.p_greater(found, 0), ttest_1samp(values, 0, alternative="greater").pvalue)
    assert_allclose(s.p_less(found, 0), ttest_1samp(values, 0, alternative="less").pvalue)


def test_it_is_the_interval_that_the_experiments_use():
    values = RNG(1).normal(size=9)
    assert_allclose(s.corrected(values, 0.5)[:3], interval(values, test_share=0.5).to_numpy())


def split_means(rng, n_train, n_test, splits, rows):
    """Means over random subsets of one sample, as measures on test or training rows are."""
    data = rng.normal(size=n_train + n_test)
    means = []
    for _ in range(splits):
        order = rng.permutation(len(data))
        means.append(data[order[:n_train] if rows == "train" else order[n_train:]].mean())
    return means


@pytest.mark.parametrize("rows", ["test", "train"])
def test_the_corrected_interval_covers_where_student_s_does_not(rows):
    """The truth is 0. Overlap makes Student's interval far too short; the corrected one is not."""
    rng, n_train, n_test = RNG(2), 60, 40
    share = n_test / n_train if rows == "test" else s.training_ratio(n_train, 100)
    plain, wide = [], []
    for _ in range(400):
        means = split_means(rng, n_train, n_test, 15, rows)
        plain.append(abs(s.corrected(means).estimate) < s.corrected(means).high - np.mean(means))
        found = s.corrected(means, share)
        wide.append(found.low < 0 < found.high)
    assert np.mean(plain) < 0.8
    assert np.mean(wide) > 0.92


def test_no_spread_decides_at_once():
    mean = s.corrected([0.5, 0.5, 0.5])
    assert s.p_greater(mean, 0) == 0
    assert s.p_less(mean, 0) == 1


@pytest.mark.parametrize("values", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_what_is_no_sample_is_refused(values):
    with pytest.raises(ValueError, match="two or more finite numbers"):
        s.corrected(values)
    with pytest.raises(ValueError, match="ratio"):
        s.corrected([1, 2], -1)


def test_two_one_sided_tests_are_the_interval_of_90_percent_within_delta():
    for seed in range(30):
        values = RNG(seed).normal(0.2, 1, 10)
        mean = s.corrected(values, level=0.9)
        for delta in (0.3, 0.8, 1.5):
            within = -delta < mean.low and mean.high < delta
            assert (s.tost(mean, delta) < 0.05) == within
            beyond = min(s.p_greater(mean, delta), s.p_less(mean, -delta))
            assert s.p_outside(mean, delta) == beyond


def test_the_regions_are_the_posterior_s_masses():
    mean = s.corrected(RNG(3).normal(0.3, 1, 20), 0.4)
    posterior = t(mean.df, mean.estimate, mean.se)
    left, within, right = s.regions(mean, 0.2)
    assert_allclose([left, right], [posterior.cdf(-0.2), posterior.sf(0.2)])
    assert_allclose(left + within + right, 1)


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 500), st.integers(1, 500), st.data())
def test_a_log_ratio_turns_its_sign_with_the_groups(n_1, n_0, data):
    x_1, x_0 = data.draw(st.integers(0, n_1)), data.draw(st.integers(0, n_0))
    one, other = (
        s.log_ratio(x_1 / n_1, n_1, x_0 / n_0, n_0),
        s.log_ratio(x_0 / n_0, n_0, x_1 / n_1, n_1),
    )
    assert_allclose(one, -other, atol=1e-12)
    assert np.isfinite(one)


def test_p_percent_has_the_upper_end_one_where_parity_is_covered():
    assert s.to_p_rule(-0.2, -0.5, 0.1)[2] == 1
    estimate, low, high = s.to_p_rule(-0.2, -0.5, -0.1)
    assert_allclose([estimate, low, high], np.exp([-0.2, -0.5, -0.1]))
    assert_allclose(s.to_p_rule(0.2, 0.1, 0.5), (estimate, low, high))


def test_the_fold_is_taken_at_the_mean_and_not_at_every_split():
    """Around parity |x| has a positive mean; the mean of the signed values has not."""
    parity = RNG(4).normal(0, 0.1, 2000)
    far = parity - 0.5
    assert_allclose(s.aligned(far, parity).mean(), abs(far.mean()) - abs(parity.mean()))
    assert np.abs(parity).mean() > 0.07
    assert abs(parity.mean()) < 0.01


def test_a_bootstrap_of_a_mean_is_about_the_corrected_interval():
    sample = RNG(5).normal(2, 1, (30, 1))
    found, drawn = s.bootstrapped(sample, lambda means: means[..., 0], 0.5)
    wanted = s.corrected(sample[:, 0], 0.5)
    assert_allclose(found.se, wanted.se, rtol=0.1)
    assert_allclose([found.low, found.high], [wanted.low, wanted.high], atol=0.25)
    assert len(drawn) == s.DRAWS


def test_the_range_of_mean_rates_is_not_pulled_up_by_noise():
    """Three groups with the same rate: every split shows a range, the mean rates hardly one."""
    sample = 0.3 + RNG(6).normal(0, 0.05, (30, 3))
    each = s.largest_difference(sample).mean()
    assert s.spread_of_means(sample) < each / 2


def test_groups_are_drawn_by_themselves():
    found = s.bootstrapped_groups([0.2, 0.4], [400, 900], s.smallest_ratio)
    assert_allclose(found.estimate, 0.5)
    delta_method = 0.5 * np.sqrt(0.8 / (0.2 * 400) + 0.6 / (0.4 * 900))
    assert_allclose(found.se, delta_method, rtol=0.1)
    none = s.bootstrapped_groups([0.0, 0.0], [5, 5], s.smallest_ratio)
    assert (none.estimate, none.low, none.high) == (1, 1, 1)


def test_holm_by_hand():
    assert_allclose(s.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(s.holm([0.5, 0.9]), [1.0, 1.0])


def test_benjamini_and_yekutieli_is_scipy_s():
    p = RNG(7).uniform(size=20) ** 2
    assert_allclose(s.benjamini_yekutieli(p), false_discovery_control(p, method="by"))


def test_the_detectable_effect_is_detected_four_times_in_five():
    rng = RNG(8)
    mean = s.Mean(0.0, -1.0, 1.0, 1 / np.sqrt(20), 19, 20)
    effect = s.detectable(mean)
    seen = [s.p_greater(s.corrected(rng.normal(effect, 1, 20)), 0) < 0.025 for _ in range(1500)]
    assert_allclose(np.mean(seen), 0.8, atol=0.05)


def test_half_the_interval_is_what_the_needed_splits_promise():
    n = s.splits_needed(2.0, 0.0, 0.7)
    halves = [t.ppf(0.975, k - 1) * 2.0 * np.sqrt(1 / k) for k in (n - 1, n)]
    assert halves[0] > 0.7 >= halves[1]
    assert s.splits_needed(2.0, 0.5, 0.7) is None


def test_training_rows_must_be_some_and_not_all():
    with pytest.raises(ValueError, match="n_train"):
        s.training_ratio(10, 10)
