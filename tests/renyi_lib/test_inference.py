"""Tests, intervals and differences match scipy, brute force and known true values."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import chi2_contingency, hypergeom

from renyi_lib import metrics
from renyi_lib._chance import rho_of_tables
from renyi_lib._rates import gap, one_minus_ratio, rate_intervals
from renyi_lib._wishart import largest_root_isf, sum_of_largest_roots_sf
from renyi_lib._worlds import renyi_intervals
from renyi_lib.correlation import joint_table, renyi_correlation, renyi_from_joint
from renyi_lib.inference import (
    Interval,
    RenyiTest,
    difference_interval,
    fairness_interval,
    renyi_interval,
    renyi_test,
    sample_size,
)
from renyi_lib.tables import JointTable

DAYS = np.array([[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]])
FEW = 1000  # resamples, for tests that need no more


def samples(counts):
    """Labels whose joint table is `counts`."""
    return np.repeat(np.indices(counts.shape).reshape(2, -1), np.ravel(counts), axis=1)


# --- The test -----------------------------------------------------------------------------------


def test_very_large_tables_raise_for_the_asymptotic_method():
    table = np.ones((152, 152), dtype=int)
    with pytest.raises(ValueError, match="merge rare values"):
        renyi_test(table, method="asymptotic")


@pytest.mark.parametrize("shape", [(2, 2), (5, 2), (2, 9)])
def test_test_with_a_binary_variable_is_the_chi_square_test(shape):
    counts = np.random.default_rng(3).integers(5, 40, size=shape)
    oracle = chi2_contingency(counts, correction=False)
    found = renyi_test(counts, method="asymptotic")
    assert abs(found.pvalue - oracle.pvalue) < 1e-9
    assert abs(found.statistic**2 * counts.sum() - oracle.statistic) < 1e-9


def test_labels_tables_and_joint_tables_give_the_same_result():
    a, b = samples(DAYS)
    found = renyi_test(DAYS)
    words = np.array(["sun", "wind", "rain", "snow"])[a]
    tables = [(joint_table(a, b),), (pd.crosstab(a, b),), (DAYS.astype(float),)]
    for data in [(a, b), (words, b), *tables]:
        other = renyi_test(*data)
        assert (other.method, other.n_samples) == (found.method, found.n_samples)
        assert other.statistic == pytest.approx(found.statistic, rel=1e-12)
        assert other.pvalue == pytest.approx(found.pvalue, rel=1e-9)
    assert abs(found.statistic - renyi_correlation(a, b)) < 1e-12


def all_pairings(counts):
    """rho of every pairing of a small sample, each as often as it occurs."""
    a, b = samples(counts)
    return np.array(
        [
            rho_of_tables(np.bincount(a * 3 + b[list(p)], minlength=9).reshape(3, 3))
            for p in itertools.permutations(range(len(b)))
        ]
    )


def test_permuting_counts_is_equivalent_to_permuting_rows():
    counts = np.array([[2, 0, 0], [0, 1, 1], [1, 1, 1]])
    values = all_pairings(counts)
    exact = np.mean(values >= renyi_from_joint(counts) - 1e-9)
    found = renyi_test(counts, method="permutation", n_resamples=20000, random_state=0)
    assert abs(found.pvalue - exact) < 0.012


def test_permutation_p_value_of_a_two_by_two_table_is_hypergeometric():
    counts = np.array([[9, 3], [4, 9]])
    corner = np.arange(13)
    tables = np.array([[[x, 12 - x], [13 - x, x]] for x in corner])
    as_large = rho_of_tables(tables) >= rho_of_tables(counts) - 1e-9
    exact = hypergeom(25, 13, 12).pmf(corner[as_large]).sum()
    found = renyi_test(counts, method="permutation", n_resamples=40000, random_state=1)
    assert abs(found.pvalue - exact) < 0.005


def test_both_methods_agree_on_large_counts():
    counts = np.random.default_rng(4).multinomial(2000, np.ones(12) / 12).reshape(4, 3)
    limit = renyi_test(counts, method="asymptotic").pvalue
    permuted = renyi_test(counts, method="permutation", random_state=0).pvalue
    assert abs(limit - permuted) < 0.02


def test_auto_uses_permutations_for_small_counts():
    assert renyi_test(DAYS).method == "asymptotic"
    assert renyi_test(DAYS // 10, random_state=0).method == "permutation"
    assert renyi_test(np.ones((152, 152)) * 10, n_resamples=5, random_state=0).pvalue == 1


def test_statistic_within_strata_is_the_square_root_of_the_weighted_mean_square():
    rng = np.random.default_rng(5)
    given, a, b = rng.integers(2, size=500), rng.integers(3, size=500), rng.integers(4, size=500)
    conditional = renyi_correlation(a, b, given=given)
    expected = np.sqrt(conditional.weights @ conditional.correlations**2)
    for method in ("asymptotic", "permutation"):
        found = renyi_test(a, b, given=given, method=method, random_state=0)
        assert abs(found.statistic - expected) < 1e-12
        assert abs(found.pvalue - sum_of_largest_roots_sf(500 * expected**2, [(2, 3)] * 2)) < 0.02


def test_dependence_explained_by_strata_vanishes_within_them():
    # Simpson's paradox: both variables depend on the stratum and on nothing else.
    rng = np.random.default_rng(6)
    given = rng.integers(2, size=2000)
    a, b = (rng.random((2, 2000)) < 0.2 + 0.6 * given).astype(int)
    assert renyi_test(a, b).pvalue < 1e-6
    assert renyi_test(a, b, given=given).pvalue > 0.01


def test_strata_without_variation_have_no_effect():
    a, b = samples(DAYS)
    more = np.r_[a, [0] * 50], np.r_[b, [1] * 50]
    found = renyi_test(*more, given=np.r_[np.zeros(240), np.ones(50)])
    assert found.pvalue == pytest.approx(renyi_test(DAYS).pvalue, rel=1e-9)
    assert np.isclose(found.statistic, renyi_test(DAYS).statistic * np.sqrt(240 / 290))


def test_test_has_its_nominal_level():
    rng, p = np.random.default_rng(7), np.outer([0.2, 0.3, 0.5], [0.1, 0.3, 0.6])
    tables = rng.multinomial(300, p.ravel(), size=600).reshape(-1, 3, 3)
    assert (
        abs(np.mean([renyi_test(t, method="asymptotic").pvalue <= 0.05 for t in tables]) - 0.05)
        < 0.03
    )
    tables = rng.multinomial(30, p.ravel(), size=400).reshape(-1, 3, 3)
    rejected = [
        renyi_test(t, method="permutation", n_resamples=99, random_state=rng).pvalue <= 0.05
        for t in tables
    ]
    assert 0.01 < np.mean(rejected) < 0.08


@pytest.mark.parametrize("method", ["auto", "asymptotic", "permutation"])
def test_a_constant_is_independent_of_everything(method):
    for found in (
        renyi_test([1, 1, 1], [0, 1, 0], method=method),
        renyi_test([[5, 3]], method=method),
        renyi_test([[1]], method=method),
        renyi_test(["x"], ["y"], method=method),
    ):
        assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_the_cost_does_not_depend_on_the_number_of_samples():
    # Arrays of 240 billion samples would not fit in memory; what is drawn has the table's size.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = renyi_test(DAYS * 10**9)
        assert (found.pvalue, found.n_samples) == (0.0, 240 * 10**9)
        assert renyi_test(DAYS * 10**5, method="permutation", n_resamples=99).pvalue == 0.01
        wide = renyi_interval(DAYS * 10**10, n_resamples=FEW, random_state=0)
    assert 0 < wide.high - wide.low < 1e-4
    assert wide.low < wide.plugin < wide.high
    with pytest.raises(ValueError, match="use method='asymptotic'"):
        renyi_test(DAYS * 10**9, method="permutation")


def test_a_test_and_an_interval_have_readable_reprs():
    assert repr(renyi_test(DAYS)).startswith(
        "RenyiTest(statistic=0.5173, pvalue=7.267e-13, method="
    )
    assert isinstance(renyi_test(DAYS), RenyiTest)
    text = repr(Interval(0.5, 0.52, 0.4, 0.6, 0.95))
    assert text == (
        "Interval(estimate=0.5, low=0.4, high=0.6, plugin=0.52, confidence_level=0.95)"
    )


# --- The interval --------------------------------------------------------------------------------


def truth_of(shape, rho):
    """A table with uneven margins and the correlation rho."""
    p = np.arange(1, shape[0] + 1) / sum(range(1, shape[0] + 1))
    q = np.arange(shape[1], 0, -1) / sum(range(1, shape[1] + 1))
    f, g = np.linspace(-1, 1, shape[0]), np.linspace(-1, 1, shape[1])
    f, g = (f - f @ p), (g - g @ q)
    M = np.outer(f / np.sqrt(f**2 @ p), g / np.sqrt(g**2 @ q))
    P = np.outer(p, q) * (1 + rho * M)
    assert P.min() >= 0
    assert abs(rho_of_tables(P) - rho) < 1e-12
    return P


@pytest.mark.parametrize(
    ("shape", "rho", "n"), [((2, 2), 0.3, 60), ((3, 3), 0.0, 100), ((4, 3), 0.1, 500)]
)
def test_the_interval_covers_the_true_value(shape, rho, n):
    rng = np.random.default_rng(8)
    tables = rng.multinomial(n, truth_of(shape, rho).ravel(), size=300).reshape(-1, *shape)
    tables = tables[(tables.any(axis=1).all(axis=1)) & (tables.any(axis=2).all(axis=1))]
    found = renyi_intervals(tables, level=0.05, n_resamples=FEW, rng=rng)
    covered = (found[:, 2] <= rho + 1e-9) & (rho <= found[:, 3] + 1e-9)
    assert covered.mean() > 0.915  # with 300 tables, 0.95 minus 2.8 standard errors
    # Near ties the lower end is conservative, but the width is close to that of normal theory.
    width = found[:, 3] - found[:, 2]
    assert width.mean() < 1.2 * 2 * 1.96 * (1 - rho**2) / np.sqrt(n)
    below = found[:, 0] < rho
    assert rho == 0 or abs(below.mean() - 0.5) < 0.1  # the estimate is median-unbiased


def test_the_estimate_is_less_biased_than_the_plug_in_value():
    rng = np.random.default_rng(9)
    tables = rng.multinomial(100, truth_of((4, 3), 0.2).ravel(), size=200).reshape(-1, 4, 3)
    tables = tables[(tables.any(axis=1).all(axis=1)) & (tables.any(axis=2).all(axis=1))]
    found = renyi_intervals(tables, level=0.05, n_resamples=FEW, rng=rng)
    assert abs(np.median(found[:, 0]) - 0.2) < 0.04 < np.median(found[:, 1]) - 0.2


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.int64, (3, 2), elements=st.integers(0, 30)))
def test_interval_is_ordered_and_contains_zero_unless_the_test_rejects(counts):
    if np.count_nonzero(counts.any(axis=0)) < 2 or np.count_nonzero(counts.any(axis=1)) < 2:
        return
    found = renyi_interval(counts, n_resamples=FEW, random_state=0)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert abs(found.plugin - renyi_from_joint(counts)) < 1e-9
    assert found.low == 0 or renyi_test(counts, method="asymptotic").pvalue < 0.05


def test_interval_covers_a_correlation_of_one():
    found = renyi_interval(np.diag([10, 10]), random_state=0)
    assert abs(found.plugin - 1) < 1e-12
    assert found.high == 1
    # None of 20 samples is off the diagonal. Ties count by half, so the largest possible share x
    # off the diagonal solves (1 - x)^20 / 2 = 0.025, and rho = 1 - 2x.
    assert abs(found.low - (1 - 2 * (1 - 0.05 ** (1 / 20)))) < 0.03


def test_interval_covers_a_correlation_of_zero():
    found = renyi_interval(np.full((3, 3), 20), random_state=0)
    assert abs(found.plugin) < 1e-12
    assert (found.low, found.estimate) == (0.0, 0.0)
    # For the upper end, the observed value counts as at least a low quantile under independence.
    assert 0.08 < found.high < np.sqrt(largest_root_isf(0.05, 2, 2) / 180)


def test_more_confidence_and_fewer_samples_widen_the_interval():
    widths = [
        np.ptp(
            [(found := renyi_interval(DAYS, confidence_level=c, random_state=0)).low, found.high]
        )
        for c in (0.8, 0.95, 0.99)
    ]
    assert widths == sorted(widths)
    small, large = (renyi_interval(k * DAYS, random_state=0) for k in (1, 100))
    assert 8 < (small.high - small.low) / (large.high - large.low) < 12
    # In a large sample, the ends match the delta method.
    P = DAYS / DAYS.sum()
    assert abs((large.high - large.low) / 2 - 1.96 * _spread(P) / np.sqrt(24000)) < 0.0015


def _spread(P):
    """The standard error of sqrt(n) rho, by finite differences over the cells."""
    rho, influence = renyi_from_joint(P), np.empty_like(P)
    for cell in np.ndindex(P.shape):
        moved = P * (1 - 1e-6)
        moved[cell] += 1e-6
        influence[cell] = (renyi_from_joint(moved) - rho) / 1e-6
    return np.sqrt((P * influence**2).sum())


def test_reflected_bootstrap_matches_resampled_rows():
    a, b = samples(DAYS)
    rng = np.random.default_rng(10)
    rows = rng.integers(240, size=(2000, 240))
    drawn = [renyi_correlation(a[r], b[r]) for r in rows]
    low, high = 2 * renyi_from_joint(DAYS) - np.quantile(drawn, [0.975, 0.025])
    found = renyi_interval(DAYS, method="bootstrap", random_state=0)
    assert abs(found.low - low) < 0.012
    assert abs(found.high - high) < 0.012
    null = renyi_interval(np.full((3, 3), 20), method="bootstrap", random_state=0)
    assert null.low == 0


def test_the_same_seed_gives_the_same_interval():
    assert renyi_interval(DAYS, random_state=3) == renyi_interval(DAYS, random_state=3)
    generator = np.random.default_rng(3)
    assert renyi_interval(DAYS, random_state=generator) == renyi_interval(DAYS, random_state=3)


# --- Fairness ------------------------------------------------------------------------------------

SEX = np.repeat(["f", "m"], [40, 60])
HIRED = np.repeat([1, 0, 1, 0], [10, 30, 30, 30])
rng = np.random.default_rng(12)
PEOPLE = 600
GROUP = rng.integers(3, size=PEOPLE)
TRUTH = (rng.random(PEOPLE) < 0.4 + 0.1 * GROUP).astype(int)
DECISION = (rng.random(PEOPLE) < 0.3 + 0.3 * TRUTH + 0.05 * GROUP).astype(int)
METRICS = [
    metrics.demographic_parity_ratio,
    metrics.demographic_parity_difference,
    metrics.equal_opportunity_difference,
    metrics.equalized_odds_difference,
]


@pytest.mark.parametrize("metric", METRICS)
def test_plug_in_value_is_the_metric_of_the_sample(metric):
    options = {"sensitive_features": GROUP}
    by_name, by_function = (
        fairness_interval(which, TRUTH, DECISION, n_resamples=FEW, random_state=0, **options)
        for which in (metric.__name__, metric)
    )
    assert by_name == by_function
    assert abs(by_name.plugin - metric(TRUTH, DECISION, **options)) < 1e-12
    assert 0 <= by_name.low <= by_name.estimate <= by_name.high <= 1


@pytest.mark.parametrize("metric", METRICS)
def test_interval_far_from_the_bounds_matches_a_bootstrap_of_rows(metric):
    # Two groups that clearly differ: the measure is smooth there, and all methods agree.
    generator = np.random.default_rng(13)
    group = generator.integers(2, size=2000)
    truth = generator.integers(2, size=2000)
    decision = (generator.random(2000) < 0.3 + 0.2 * truth + 0.3 * group).astype(int)
    drawn = []
    for _ in range(300):
        rows = generator.integers(2000, size=2000)
        drawn.append(metric(truth[rows], decision[rows], sensitive_features=group[rows]))
    found = fairness_interval(metric, truth, decision, sensitive_features=group, random_state=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    width = high - low
    assert abs(found.high - found.low - width) < 0.25 * width
    assert abs((found.high + found.low - high - low) / 2) < 0.3 * width


@pytest.mark.parametrize(
    ("measure", "rates"),
    [
        (gap, [[0.3, 0.3]]),
        (gap, [[0.2, 0.5]]),
        (gap, [[0.3, 0.4], [0.6, 0.6]]),
        (one_minus_ratio, [[0.3, 0.3, 0.3]]),
        (one_minus_ratio, [[0.2, 0.5, 0.5]]),
    ],
)
def test_fairness_intervals_cover_the_true_value(measure, rates):
    generator = np.random.default_rng(14)
    size = np.broadcast_to(150, (300, *np.shape(rates)))
    positive = generator.binomial(size, rates)
    found = rate_intervals(measure, positive, size, level=0.05, n_resamples=FEW, rng=generator)
    truth = measure(np.array(rates))
    covered = (found[:, 2] <= truth + 1e-9) & (truth <= found[:, 3] + 1e-9)
    assert 0.91 < covered.mean() <= 1


def test_upper_end_of_p_percent_is_one_if_fairness_is_not_excluded():
    found = fairness_interval(
        "demographic_parity_ratio", None, HIRED, sensitive_features=SEX, random_state=0
    )
    assert found.high < 1  # the groups differ, with a p-value of 0.013
    close = np.repeat([1, 0, 1, 0], [18, 22, 30, 30])
    found = fairness_interval(
        "demographic_parity_ratio", None, close, sensitive_features=SEX, random_state=0
    )
    assert found.high == 1
    gap_of_it = fairness_interval(
        "demographic_parity_difference", None, close, sensitive_features=SEX, random_state=0
    )
    assert gap_of_it.low == 0


def test_fairness_intervals_are_defined_for_rates_of_zero_or_one():
    nobody = fairness_interval(
        "demographic_parity_ratio", None, np.zeros(100), sensitive_features=SEX
    )
    assert (nobody.plugin, nobody.low, nobody.high) == (1.0, 0.0, 1.0)
    only_men = fairness_interval(
        "demographic_parity_ratio",
        None,
        (SEX == "m").astype(int),
        sensitive_features=SEX,
        random_state=0,
    )
    assert (only_men.plugin, only_men.low) == (0.0, 0.0)
    assert 0.02 < only_men.high < 0.15  # none of 40: at most 1 - .025^(1/40), about .09
    zero_gap = fairness_interval(
        "demographic_parity_difference",
        None,
        np.zeros(100),
        sensitive_features=SEX,
        random_state=0,
    )
    assert (zero_gap.plugin, zero_gap.low) == (0.0, 0.0)
    assert 0.03 < zero_gap.high < 0.15
    everybody = fairness_interval(
        "demographic_parity_ratio", None, np.ones(100), sensitive_features=SEX
    )
    assert everybody.low < 1 == everybody.high


def test_labels_of_any_type_are_accepted_with_pos_label():
    words = np.where(HIRED == 1, "yes", "no")
    options = {"sensitive_features": SEX, "random_state": 0, "n_resamples": FEW}
    assert fairness_interval(
        "demographic_parity_ratio", None, words, pos_label="yes", **options
    ) == (fairness_interval("demographic_parity_ratio", None, HIRED, **options))


# --- Differences ---------------------------------------------------------------------------------


def two_models(agreement, n=3000, seed=15):
    """Decisions of a model that is unfair, and of one that is less so, on the same people."""
    generator = np.random.default_rng(seed)
    group, truth = generator.integers(2, size=(2, n))
    first = generator.random(n) < 0.3 + 0.1 * truth + 0.3 * group
    fresh = generator.random(n) < 0.45
    second = np.where(generator.random(n) < agreement, first, fresh)
    return truth, first.astype(int), second.astype(int), group


ALL = [metric.__name__ for metric in METRICS] + ["renyi_correlation"]


@pytest.mark.parametrize("metric", ALL)
def test_plug_in_difference_matches_the_metrics(metric):
    truth, first, second, group = two_models(0.5)
    options = {"sensitive_features": group, "random_state": 0, "n_resamples": FEW}
    found = difference_interval(metric, truth, first, second, **options)
    back = difference_interval(metric, truth, second, first, **options)
    if metric == "renyi_correlation":
        plugin = renyi_correlation(first, group) - renyi_correlation(second, group)
    else:
        values = [
            getattr(metrics, metric)(truth, y, sensitive_features=group) for y in (first, second)
        ]
        plugin = values[0] - values[1]
    assert abs(found.plugin - plugin) < 1e-12
    assert abs(back.plugin + plugin) < 1e-12
    assert -1 <= found.low < found.estimate < found.high <= 1
    assert found.low > 0 or found.high < 0  # 3000 samples show that the first is less fair


@pytest.mark.parametrize("metric", ["demographic_parity_difference", "demographic_parity_ratio"])
def test_difference_far_from_the_bounds_matches_a_paired_bootstrap(metric):
    truth, first, second, group = two_models(0.6)
    generator, drawn = np.random.default_rng(16), []
    measure = getattr(metrics, metric)
    for _ in range(300):
        rows = generator.integers(3000, size=3000)
        values = [measure(None, y[rows], sensitive_features=group[rows]) for y in (first, second)]
        drawn.append(values[0] - values[1])
    found = difference_interval(
        metric, truth, first, second, sensitive_features=group, random_state=0
    )
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert abs(found.high - found.low - (high - low)) < 0.25 * (high - low)
    assert abs((found.high + found.low - high - low) / 2) < 0.25 * (high - low)


def test_pairing_makes_the_interval_of_a_difference_shorter():
    truth, first, second, group = two_models(0.9)
    options = {"sensitive_features": group, "random_state": 0}
    name = "demographic_parity_difference"
    paired = difference_interval(name, truth, first, second, **options)
    alone = [fairness_interval(name, truth, y, **options) for y in (first, second)]
    unpaired = np.hypot(*(each.high - each.low for each in alone))
    assert paired.high - paired.low < 0.6 * unpaired


@pytest.mark.parametrize("metric", ALL)
def test_model_has_difference_zero_from_itself(metric):
    truth, first, _, group = two_models(0.5)
    options = {"sensitive_features": group, "random_state": 0, "n_resamples": FEW}
    for weight in (None, np.arange(1, 3001)):
        found = difference_interval(metric, truth, first, first, sample_weight=weight, **options)
        assert (found.plugin, found.estimate, found.low, found.high) == (0, 0, 0, 0)
    nearly = first.copy()
    nearly[0] = 1 - nearly[0]
    found = difference_interval(metric, truth, first, nearly, **options)
    assert found.low < 0 < found.high


def test_a_model_that_selects_everybody_differs_by_the_violation_of_the_other():
    _, first, _, group = two_models(0.5)
    found = difference_interval(
        "demographic_parity_difference",
        None,
        first,
        np.ones_like(first),
        sensitive_features=group,
        random_state=0,
        n_resamples=FEW,
    )
    violation = metrics.demographic_parity_difference(None, first, sensitive_features=group)
    assert found.plugin == pytest.approx(violation, abs=1e-12)
    assert 0 < found.low < violation < found.high


def test_difference_from_a_model_that_may_be_fair_has_the_upper_end_of_the_other():
    _, first, _, group = two_models(0.5, n=400)
    second = np.random.default_rng(17).integers(2, size=400)
    name = "demographic_parity_difference"
    options = {"sensitive_features": group, "random_state": 0}
    unfair, maybe_fair = (fairness_interval(name, None, y, **options) for y in (first, second))
    assert unfair.low > maybe_fair.low == 0 < maybe_fair.estimate
    found = difference_interval(name, None, first, second, **options)
    back = difference_interval(name, None, second, first, **options)
    assert found.high == pytest.approx(unfair.high, abs=0.01)
    assert back.low == pytest.approx(-unfair.high, abs=0.01)


# --- Weights and tables --------------------------------------------------------------------------


def measured(metric, weight, **options):
    """The interval, or the test, of any measure for a weighted sample."""
    options |= {"sample_weight": weight, "random_state": 0, "n_resamples": FEW}
    truth, first, second, group = two_models(0.5)
    if metric == "renyi_test":
        return renyi_test(first, group, sample_weight=weight)
    if metric == "renyi_interval":
        return renyi_interval(first, group, **options)
    if metric == "difference":
        options["sensitive_features"] = group
        return difference_interval("demographic_parity_ratio", truth, first, second, **options)
    return fairness_interval(metric, truth, first, sensitive_features=group, **options)


RESULTS = [metric.__name__ for metric in METRICS] + ["renyi_test", "renyi_interval", "difference"]


@pytest.mark.parametrize("metric", RESULTS)
def test_equal_weights_have_no_effect(metric):
    plain, weighted = measured(metric, None), measured(metric, np.full(3000, 0.25))
    for name in ("statistic", "pvalue", "plugin", "estimate", "low", "high"):
        value = getattr(plain, name, None)
        assert value is None or getattr(weighted, name) == pytest.approx(value, abs=1e-9)
    if metric != "renyi_test":
        assert (plain.design_effect, weighted.design_effect) == (None, pytest.approx(1.0))


@pytest.mark.parametrize("metric", METRICS)
def test_weighted_interval_contains_the_weighted_metric(metric):
    truth, first, _, group = two_models(0.5)
    weight = np.random.default_rng(1).lognormal(size=3000)
    found = measured(metric, weight)
    expected = metric(truth, first, sensitive_features=group, sample_weight=weight)
    assert found.plugin == pytest.approx(expected)
    assert found.design_effect == pytest.approx(3000 * np.sum(weight**2) / weight.sum() ** 2)
    assert "design_effect=" in repr(found)
    # A lognormal weight has a design effect of e, and widths grow with its square root.
    plain = measured(metric, None)
    assert 1.3 < (found.high - found.low) / (plain.high - plain.low) < 2.2


def test_weighted_intervals_cover_the_true_value():
    # The weights are independent of the decision, so the true value is the rates' difference.
    generator, covered = np.random.default_rng(2), []
    group = np.repeat([0, 1], [150, 450])
    for _ in range(200):
        decision = (generator.random(600) < 0.3 + 0.2 * group).astype(int)
        weight = generator.lognormal(size=600)
        found = fairness_interval(
            "demographic_parity_difference", None, decision, sensitive_features=group,
            sample_weight=weight, random_state=0, n_resamples=FEW,
        )  # fmt: skip
        covered.append(found.low <= 0.2 <= found.high)
    assert np.mean(covered) > 0.9  # .95 - 3.2 standard errors


def test_zero_weight_samples_are_dropped():
    truth, first, _, group = two_models(0.5)
    weight = np.where(np.arange(3000) < 2000, 1.0, 0.0)
    third = np.where(np.arange(3000) < 2000, group, 2)
    options = {"random_state": 0, "n_resamples": FEW}
    found = fairness_interval(
        "demographic_parity_ratio",
        truth,
        first,
        sensitive_features=third,
        sample_weight=weight,
        **options,
    )
    plain = fairness_interval(
        "demographic_parity_ratio",
        truth[:2000],
        first[:2000],
        sensitive_features=group[:2000],
        **options,
    )
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    assert found.design_effect == pytest.approx(1.0)


@pytest.mark.parametrize("metric", METRICS)
def test_joint_tables_can_replace_samples(metric):
    truth, first, _, group = two_models(0.5)
    options = {"random_state": 0, "n_resamples": FEW}
    words = np.where(first == 1, "yes", "no")
    tables = [joint_table(words[truth == y], group[truth == y]) for y in (0, 1)]
    asked = {"equal_opportunity_difference": tables[1], "equalized_odds_difference": tables}
    table = asked.get(metric.__name__, tables[0] + tables[1])
    found = fairness_interval(metric, table, pos_label="yes", **options)
    assert found == fairness_interval(metric, truth, first, sensitive_features=group, **options)


RATIO = "demographic_parity_ratio"


@pytest.mark.parametrize(
    ("metric", "tables", "options", "message"),
    [
        (RATIO, joint_table(*[[0, 1]] * 2), {"sensitive_features": [0, 1]}, "already"),
        ("equalized_odds_difference", joint_table(*[[0, 1]] * 2), {}, "a pair of JointTables"),
        (RATIO, [joint_table(*[[0, 1]] * 2)] * 2, {}, "must be one JointTable"),
        (RATIO, JointTable(), {}, "y_true is a JointTable without samples"),
        (RATIO, joint_table(["a", "b"], [0, 1]), {"pos_label": "c"}, "no label equal"),
        (RATIO, joint_table([0.5, 1], [0, 1]), {}, "decisions 0 and 1 as row labels"),
        (RATIO, joint_table([0, 1], [0, 0]), {}, "only one group"),
        (RATIO, joint_table([0, 1], [0, 1], sample_weight=[0.5, 2]), {}, "sums of weights"),
        (RATIO, [0, 1], {}, "y_pred and sensitive_features are required"),
        ("equalized_odds_difference", [joint_table([0, 1], [0, 1]), joint_table([0, 1], [1, 1])],
         {}, "no sample of group 0"),
    ],
)  # fmt: skip
def test_tables_that_are_not_decisions_by_group_raise(metric, tables, options, message):
    with pytest.raises(ValueError, match=message):
        fairness_interval(metric, tables, **options)


@pytest.mark.parametrize("weight", [[1.0, -1.0, 1.0, 1.0], [0.0] * 4, [1.0, np.nan, 1.0, 1.0]])
def test_invalid_weights_raise(weight):
    for call in (renyi_interval, renyi_test):
        with pytest.raises(ValueError, match="sample_weight"):
            call([0, 1, 0, 1], [0, 1, 1, 0], sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight requires samples"):
        renyi_interval(DAYS, sample_weight=np.ones(4))


# --- Rare groups and values ----------------------------------------------------------------------


def decisions_of(positive, size):
    """Decisions and groups with these counts."""
    group = np.repeat(np.arange(len(size)), size)
    decision = np.concatenate([np.arange(n) < k for k, n in zip(positive, size)])
    return decision.astype(int), group


@pytest.mark.parametrize("metric", ["demographic_parity_ratio", "demographic_parity_difference"])
def test_interval_and_test_agree_about_fairness(metric):
    generator = np.random.default_rng(20)
    for _ in range(25):
        size = generator.integers(15, 400, size=3)
        decision, group = decisions_of(generator.binomial(size, [0.3, 0.35, 0.42]), size)
        found = fairness_interval(metric, None, decision, sensitive_features=group)
        test = renyi_test(decision, group)
        excluded = found.high < 1 if metric == "demographic_parity_ratio" else found.low > 0
        assert excluded == (test.pvalue < 0.05)
        assert found.pvalue == pytest.approx(test.pvalue)


def test_group_of_one_sample_is_no_evidence_of_a_violation():
    decision, group = decisions_of([700, 780, 0], [1000, 1000, 1])
    found = fairness_interval(
        "demographic_parity_difference", None, decision, sensitive_features=group
    )
    assert found.low < 0.08 < 0.78 <= found.high
    rare, group = decisions_of([1, 0, 1], [1000, 1000, 1])
    found = fairness_interval(
        "demographic_parity_difference", None, rare, sensitive_features=group, random_state=0
    )
    assert found.low == 0
    coincidence = np.zeros((3, 3), dtype=int)
    coincidence[:2, :2], coincidence[2, 2] = 250, 1
    found = renyi_interval(coincidence, random_state=0)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.plugin == pytest.approx(1.0)


def test_tiny_group_does_not_hide_a_violation():
    decision, group = decisions_of([1000, 1200, 5], [2000, 2000, 10])
    found = fairness_interval(
        "demographic_parity_difference", None, decision, sensitive_features=group
    )
    assert 0.05 < found.low < found.estimate < 0.11 < 0.3 < found.high


def test_unobserved_pair_of_rare_values_raises_the_upper_end():
    # Two people have the rare row and two the rare column, and nobody has both.
    table = np.array([[49, 48, 2], [50, 47, 0], [1, 1, 0]])
    assert table[2, 2] == 0
    found = renyi_interval(table, random_state=0)
    assert found.low == 0
    # If a third of the four had both, (2/3)^4 would not be a small probability, and rho = 1/2.
    assert found.high > 0.5
    common = renyi_interval(table[:2, :2], random_state=0)
    assert common.high < 0.3


def test_the_interval_reports_the_smallest_share():
    found = renyi_interval(DAYS, n_resamples=FEW, random_state=0)
    assert (1 - found.smallest_share) ** DAYS.sum() == pytest.approx(0.025)


# --- Planning ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        {"effect": 0.2},
        {"effect": 0.5, "shares": [0.1, 0.9], "outcome_shares": [0.2, 0.3, 0.5]},
        {"effect": 0.8, "metric": "demographic_parity_ratio", "shares": [0.2, 0.8], "rate": 0.4},
        {"effect": 0.15, "metric": "demographic_parity_difference", "shares": [0.1, 0.4, 0.5]},
    ],
)
def test_planned_power_is_attained(plan):
    n = sample_size(**plan)
    generator, shares = np.random.default_rng(21), np.array(plan.get("shares", [0.5, 0.5]))
    rate, effect = plan.get("rate", 0.5), plan["effect"]
    if "metric" in plan:
        low = rate * effect if plan["metric"] == "demographic_parity_ratio" else rate - effect
        rates = np.where(shares == shares.min(), low, rate)
        P = np.stack([(1 - rates) * shares, rates * shares])
    else:
        p = np.array(plan.get("outcome_shares", [0.5, 0.5]))
        f, g = ((np.arange(len(m)) == 0) - m[0] for m in (p, shares))
        f, g = f / np.sqrt(p @ f**2), g / np.sqrt(shares @ g**2)
        P = np.outer(p, shares) * (1 + effect * np.outer(f, g))
    tables = generator.multinomial(n, P.ravel(), size=2000).reshape(-1, *P.shape)
    statistic = n * rho_of_tables(tables) ** 2
    rejected = statistic > largest_root_isf(0.05, *np.subtract(P.shape, 1))
    assert abs(rejected.mean() - 0.8) < 0.03  # 2000 samples: a standard error of .009


def test_more_power_and_smaller_effects_need_more_samples():
    sizes = [sample_size(0.2, power=power) for power in (0.5, 0.8, 0.95)]
    assert sizes == sorted(sizes)
    assert 3.5 < sample_size(0.1) / sample_size(0.2) < 4.5
    # The textbook formula is (1.96 + 0.84)^2 / rho^2.
    assert sample_size(0.1) == pytest.approx(785, rel=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effect": 0}, "effect must be a number"),
        ({"effect": 1.2}, "effect must be a number"),
        ({"effect": 1, "metric": "demographic_parity_ratio"}, "nothing to detect"),
        ({"effect": 0.6, "metric": "demographic_parity_difference"}, "Pass a higher rate"),
        ({"effect": 0.9, "shares": [0.01, 0.99]}, "at most 0.101"),
        ({"effect": 0.1, "shares": [0.5, 0.6]}, "shares must be two or more positive"),
        ({"effect": 0.1, "shares": [0.0, 1.0]}, "shares must be two or more positive"),
        ({"effect": 0.1, "outcome_shares": "many"}, "outcome_shares must be numbers"),
        ({"effect": 0.1, "metric": "fair"}, "metric must be one of"),
        ({"effect": 0.1, "power": 1}, "power must be a number"),
    ],
)
def test_impossible_plans_raise(options, message):
    with pytest.raises(ValueError, match=message):
        sample_size(**options)


# --- Invalid input -------------------------------------------------------------------------------

TABLES = {
    "empty": ([], "two-dimensional"),
    "no columns": (np.empty((3, 0)), "two-dimensional"),
    "one dimension": ([3, 4, 5], "two-dimensional"),
    "three dimensions": (np.ones((2, 2, 2)), "two-dimensional"),
    "negative": ([[3, -1], [2, 2]], "negative"),
    "missing": ([[3, np.nan], [2, 2]], "missing or infinite"),
    "infinite": ([[3, np.inf], [2, 2]], "missing or infinite"),
    "probabilities": ([[0.4, 0.1], [0.1, 0.4]], "sums of weights and probabilities"),
    "weights": (joint_table([0, 1], [0, 1], sample_weight=[0.5, 2]), "sums of weights"),
    "zero": (np.zeros((2, 2)), "zero in every cell"),
    "text": ([["a", "b"], ["c", "d"]], "must be a table of counts"),
    "ragged": ([[1, 2], [3]], "must be a table of counts"),
    "too many": ([[2**53, 1], [1, 1]], "can be counted exactly"),
}


@pytest.mark.parametrize("function", [renyi_test, renyi_interval])
@pytest.mark.parametrize(("table", "message"), TABLES.values(), ids=TABLES)
def test_table_that_does_not_contain_counts_raises(function, table, message):
    with pytest.raises(ValueError, match=message):
        function(table)


SAMPLES = {
    "lengths": ([0, 1, 0], [0, 1], "same number"),
    "empty": ([], [], "empty"),
    "missing": ([0, 1, None], [0, 1, 1], "missing value"),
    "nan": ([0.0, np.nan, 1.0], [0, 1, 1], "missing value"),
    "continuous": (np.linspace(0, 1, 50) ** 2, np.arange(50) % 2, "looks continuous"),
    "names": ([f"n{i}" for i in range(50)], np.arange(50) % 2, "different labels in 50"),
    "a table and b": (joint_table([0, 1], [0, 1]), [0, 1], "leave out b"),
}


@pytest.mark.parametrize("function", [renyi_test, renyi_interval])
@pytest.mark.parametrize(("a", "b", "message"), SAMPLES.values(), ids=SAMPLES)
def test_invalid_samples_raise(function, a, b, message):
    with pytest.raises(ValueError, match=message):
        function(a, b)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "method must be one of"),
        ({"n_resamples": 0}, "n_resamples must be a whole number"),
        ({"n_resamples": 99.5}, "n_resamples must be a whole number"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
@pytest.mark.parametrize("function", [renyi_test, renyi_interval])
def test_invalid_parameters_raise(function, options, message):
    with pytest.raises(ValueError, match=message):
        function(DAYS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence_level": 95}, "confidence_level must be a number from 0.5"),
        ({"confidence_level": 1.0}, "confidence_level must be a number from 0.5"),
        ({"confidence_level": 0.05}, "confidence_level must be a number from 0.5"),
        ({"confidence_level": 0.999}, "n_resamples must be at least 50000"),
        ({"n_resamples": 999}, "n_resamples must be at least 1000"),
    ],
)
def test_too_few_resamples_for_the_confidence_level_raise(options, message):
    with pytest.raises(ValueError, match=message):
        renyi_interval(DAYS, **options)


def test_strata_of_a_table_raise():
    with pytest.raises(ValueError, match="a table of counts has no strata"):
        renyi_test(DAYS, given=[0, 1])
    with pytest.raises(ValueError, match="given has a missing value"):
        renyi_test([0, 1], [0, 1], given=[None, 1])


@pytest.mark.parametrize("table", [[[5, 3]], [[5], [3]], [[7]], [[5, 0], [3, 0]]])
def test_interval_of_a_constant_raises(table):
    with pytest.raises(ValueError, match="has only one value"):
        renyi_interval(table)


CALLS = {
    "an unknown measure": (
        {"metric": "accuracy"},
        "metric must be one of 'demographic_parity_ratio'",
    ),
    "an unknown function": ({"metric": np.mean}, "metric must be one of"),
    "no truth": (
        {"metric": "equal_opportunity_difference", "y_true": None},
        "y_true is None",
    ),
    "probabilities": ({"y_pred": DECISION * 0.5}, "y_pred must contain decisions"),
    "one group": ({"sensitive_features": np.zeros(PEOPLE)}, "only one group"),
    "continuous groups": ({"sensitive_features": rng.normal(size=PEOPLE)}, "looks continuous"),
    "another length": ({"y_pred": DECISION[1:]}, "same number"),
    "labels": ({"y_pred": DECISION + 1}, "pos_label"),
    "missing": ({"y_pred": np.where(GROUP == 0, np.nan, 1)}, "missing or infinite"),
    "soft labels": ({"metric": "equalized_odds_difference", "y_true": TRUTH * 0.5}, "y_true"),
    "an empty cell": (
        {"metric": "equal_opportunity_difference", "y_true": TRUTH * (GROUP > 0)},
        "no sample of group 0",
    ),
}


@pytest.mark.parametrize(("changes", "message"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("function", [fairness_interval, difference_interval])
def test_invalid_decisions_raise(function, changes, message):
    call = {
        "metric": "demographic_parity_ratio",
        "y_true": TRUTH,
        "y_pred": DECISION,
        "sensitive_features": GROUP,
    }
    if function is difference_interval:
        call["y_pred_other"] = DECISION
    with pytest.raises(ValueError, match=message):
        function(**{**call, **changes})


def test_error_about_the_other_model_names_its_argument():
    with pytest.raises(ValueError, match="y_pred_other must contain decisions"):
        difference_interval(
            "demographic_parity_ratio", None, DECISION, DECISION / 2, sensitive_features=GROUP
        )
    with pytest.raises(ValueError, match="y_pred_other has 599"):
        difference_interval(
            "demographic_parity_ratio", None, DECISION, DECISION[1:], sensitive_features=GROUP
        )


def test_constant_decisions_raise_for_the_correlation():
    with pytest.raises(ValueError, match="y_pred_other is the same for every sample"):
        difference_interval(
            "renyi_correlation", None, DECISION, np.ones(PEOPLE), sensitive_features=GROUP
        )
