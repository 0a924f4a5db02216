"""The scorecard's statistics, compared with simulations, hand calculations and other libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control, t, ttest_1samp

from renyi_book.experiments import interval
from renyi_book.scorecard import statistics as s

RNG = np.random.default_rng


def test_interval_without_overlap_matches_student():
    values = RNG(0).normal(1, 2, 12)
    found = s.corrected(values)
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert_allclose([found.low, found.high], [low, high])
    assert_allclose(s.p_greater(found, 0), ttest_1samp(values, 0, alternative="greater").pvalue)
    assert_allclose(s.p_less(found, 0), ttest_1samp(values, 0, alternative="less").pvalue)


def test_interval_matches_the_experiments():
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
def test_corrected_interval_has_coverage_that_student_lacks(rows):
    """The true mean is 0. With overlap, Student's interval is too short, the corrected one not."""
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


def test_zero_variance_gives_p_values_of_zero_or_one():
    mean = s.corrected([0.5, 0.5, 0.5])
    assert s.p_greater(mean, 0) == 0
    assert s.p_less(mean, 0) == 1


@pytest.mark.parametrize("values", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_invalid_sample_input_raises(values):
    with pytest.raises(ValueError, match="two or more finite numbers"):
        s.corrected(values)
    with pytest.raises(ValueError, match="ratio"):
        s.corrected([1, 2], -1)


def test_two_one_sided_tests_agree_with_the_90_percent_interval():
    for seed in range(30):
        values = RNG(seed).normal(0.2, 1, 10)
        mean = s.corrected(values, level=0.9)
        for delta in (0.3, 0.8, 1.5):
            within = -delta < mean.low and mean.high < delta
            assert (s.tost(mean, delta) < 0.05) == within
            beyond = min(s.p_greater(mean, delta), s.p_less(mean, -delta))
            assert s.p_outside(mean, delta) == beyond


def test_region_probabilities_are_posterior_masses():
    mean = s.corrected(RNG(3).normal(0.3, 1, 20), 0.4)
    posterior = t(mean.df, mean.estimate, mean.se)
    left, within, right = s.regions(mean, 0.2)
    assert_allclose([left, right], [posterior.cdf(-0.2), posterior.sf(0.2)])
    assert_allclose(left + within + right, 1)


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 500), st.integers(1, 500), st.data())
def test_log_ratio_changes_sign_if_groups_are_swapped(n_1, n_0, data):
    x_1, x_0 = data.draw(st.integers(0, n_1)), data.draw(st.integers(0, n_0))
    one, other = (
        s.log_ratio(x_1 / n_1, n_1, x_0 / n_0, n_0),
        s.log_ratio(x_0 / n_0, n_0, x_1 / n_1, n_1),
    )
    assert_allclose(one, -other, atol=1e-12)
    assert np.isfinite(one)


def test_upper_end_of_p_percent_is_one_if_parity_is_not_excluded():
    assert s.to_p_rule(-0.2, -0.5, 0.1)[2] == 1
    estimate, low, high = s.to_p_rule(-0.2, -0.5, -0.1)
    assert_allclose([estimate, low, high], np.exp([-0.2, -0.5, -0.1]))
    assert_allclose(s.to_p_rule(0.2, 0.1, 0.5), (estimate, low, high))


def overlapping(rng, means, spread, ratio, splits=30):
    """Return a row of values for each split, with the correlation that the correction assumes."""
    rho = ratio / (1 + ratio)
    z = np.sqrt(rho) * rng.normal(size=len(means))
    z = z + np.sqrt(1 - rho) * rng.normal(size=(splits, len(means)))
    return means + z @ np.asarray(spread).T


def test_folded_difference_is_the_difference_of_absolute_means():
    rng = RNG(4)
    first, second = rng.normal(-0.5, 0.1, 30), rng.normal(0.02, 0.1, 30)
    found = s.fold(s.signed(first), s.signed(second), 0.6)
    assert_allclose(found.estimate, abs(first.mean()) - abs(second.mean()))
    assert found.low < found.estimate < found.high
    rates = rng.uniform(0.1, 0.4, (30, 4))
    assert_allclose(s.gaps(rates).mean(axis=0).max(), np.ptp(rates.mean(axis=0)))
    far, near = s.gaps(rates), s.gaps(rates[:, :2])
    assert_allclose(
        s.sums(far, near).mean(axis=0).max(), far.mean(axis=0).max() + near.mean(axis=0).max()
    )


def test_folded_difference_far_from_zero_is_a_plain_difference():
    rng = RNG(5)
    first, second = rng.normal(5, 0.1, 30), rng.normal(2, 0.1, 30)
    found = s.fold(s.signed(first), s.signed(second), 0.6)
    plain = s.corrected(first - second, 0.6)
    assert_allclose([found.estimate, found.low], [plain.estimate, plain.low])
    # The error probability of the upper end is halved.
    assert_allclose(found.high, s.corrected(first - second, 0.6, level=0.975).high)
    assert_allclose(found.p_greater(2.9), s.p_greater(plain, 2.9))
    left, within, right = s.fold_regions(s.signed(first), s.signed(second), 2.95, 0.6)
    assert_allclose([left, within, right], s.regions(plain, 2.95), atol=0.03)


def test_interval_of_a_folded_difference_is_continuous_at_zero():
    rng = RNG(6)
    first, second = rng.normal(1, 0.5, 30), rng.normal(0, 0.5, 30)
    second -= second.mean()
    sides = [s.fold(s.signed(first), s.signed(second + shift), 0.6) for shift in (-1e-9, 1e-9)]
    for end in ("estimate", "low", "high"):
        assert_allclose(*(getattr(side, end) for side in sides), atol=1e-7)


@pytest.mark.parametrize(
    "means", [(0, 0), (0.5, 0), (3, 0), (0, 3), (1, 1), (3, 3), (1, -1), (0, 0.5)]
)
@pytest.mark.parametrize("correlation", [0.0, 0.75])
def test_interval_of_a_folded_difference_has_coverage(means, correlation):
    rng, spread = RNG(7), np.linalg.cholesky([[1, correlation], [correlation, 1]])
    truth, covered = abs(means[0]) - abs(means[1]), 0
    for _ in range(200):
        first, second = overlapping(rng, np.array(means, float), spread, 0.6).T
        found = s.fold(s.signed(first), s.signed(second), 0.6)
        covered += found.low <= truth <= found.high
    # With 200 draws, 0.9 is three standard errors below 0.95.
    assert covered / 200 > 0.9


@pytest.mark.parametrize(
    ("rival", "renyi"),
    [
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([-2, 0, 2, 0], [0, 0, 0, 0]),
        ([0, 0, 0, 0], [0, -5, 0, 5]),
        ([-4, 0, 4, 0], [-2, 0, 2, 0]),
    ],
)
def test_interval_has_coverage_for_four_groups(rival, renyi):
    """The bootstrap that it replaces had a coverage of only 0.65 if one method is fair."""
    rng, truth, covered = RNG(8), np.ptp(rival) - np.ptp(renyi), 0
    spread = np.diag(np.tile([2.0, 1.0, 2.0, 0.7], 2))
    for _ in range(200):
        sample = overlapping(rng, np.array([*rival, *renyi], float), spread, 0.6)
        found = s.fold(s.gaps(sample[:, :4]), s.gaps(sample[:, 4:]), 0.6)
        covered += found.low <= truth <= found.high
    assert covered / 200 > 0.9


def test_groups_are_resampled_separately():
    found = s.bootstrapped_groups([0.2, 0.4], [400, 900], s.smallest_ratio)
    assert_allclose(found.estimate, 0.5)
    delta_method = 0.5 * np.sqrt(0.8 / (0.2 * 400) + 0.6 / (0.4 * 900))
    assert_allclose(found.se, delta_method, rtol=0.1)
    none = s.bootstrapped_groups([0.0, 0.0], [5, 5], s.smallest_ratio)
    assert (none.estimate, none.low, none.high) == (1, 1, 1)


def test_holm_agrees_with_a_hand_calculation():
    assert_allclose(s.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(s.holm([0.5, 0.9]), [1.0, 1.0])


def test_benjamini_yekutieli_matches_scipy():
    p = RNG(7).uniform(size=20) ** 2
    assert_allclose(s.benjamini_yekutieli(p), false_discovery_control(p, method="by"))


def test_required_splits_are_the_fewest_with_a_short_enough_interval():
    n = s.splits_needed(2.0, 0.0, 1.4)
    lengths = [2 * t.ppf(0.975, k - 1) * 2.0 * np.sqrt(1 / k) for k in (n - 1, n)]
    assert lengths[0] > 1.4 >= lengths[1]
    assert s.splits_needed(2.0, 0.5, 1.4) is None
    many = s.corrected(RNG(9).normal(0, 2.0, 20_000), 0.5)
    assert_allclose(many.high - many.low, s.shortest(2.0, 0.5), rtol=0.02)


def test_share_of_training_rows_must_be_between_zero_and_one():
    with pytest.raises(ValueError, match="n_train"):
        s.training_ratio(10, 10)
