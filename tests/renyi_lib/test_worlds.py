"""Candidate tables of a given rho_R, values that occur once, and limits for rare values."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, gamma, norm

from renyi_lib._chance import rho_of_tables
from renyi_lib._worlds import (
    JointTables,
    _event_high,
    _events,
    _filled,
    _limit,
    reflected_intervals,
    renyi_intervals,
    without_single_people,
)

TABLE = np.array([[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]])


def test_candidate_tables_have_the_requested_correlation():
    worlds = JointTables(TABLE[None], np.random.default_rng(0))
    t = np.array([[0.0, 0.1, 0.3, float(rho_of_tables(TABLE))]])
    P = worlds.tables(t)
    assert P.sum(axis=(2, 3)) == pytest.approx(np.ones((1, 4)))
    assert worlds.value(t) == pytest.approx(t, abs=1e-9)
    assert worlds.value(np.ones((1, 1))) == pytest.approx(1.0, abs=1e-9)


def test_bias_corrected_dependence_is_chi_square_minus_its_mean():
    tables = np.array([TABLE, TABLE[::-1] + 5, np.full((4, 3), 20)])
    found = JointTables(tables, np.random.default_rng(0))
    for table, energy in zip(tables, found.energy):
        test = chi2_contingency(table, correction=False)
        expected = max(test.statistic - test.dof, 0) / table.sum()
        assert energy == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("table", [TABLE, TABLE.T, TABLE[:2], TABLE[:, :2]])
def test_standard_error_matches_the_derivative_of_rho(table):
    P, step = table / table.sum(), 1e-6

    def slope(cell):
        towards = np.zeros(P.size)
        towards[cell] = 1.0
        towards = towards.reshape(P.shape)
        ahead, behind = (rho_of_tables((1 - h) * P + h * towards) for h in (step, -step))
        return (ahead - behind) / (2 * step)

    slopes = np.array([slope(cell) for cell in range(P.size)])
    expected = np.sqrt(P.ravel() @ slopes**2 - (P.ravel() @ slopes) ** 2)
    found = JointTables(table[None], np.random.default_rng(0))
    assert found.spread[0] == pytest.approx(expected, abs=1e-6)
    assert found.dimensions == tuple(np.sort(table.shape) - 1)


def test_candidate_tables_keep_margins_and_singular_vectors():
    worlds = JointTables(TABLE[None], np.random.default_rng(0))
    rho = float(rho_of_tables(TABLE))
    none, same, most = worlds.tables(np.array([[0.0, rho, 1.0]]))[0]
    p, q = TABLE.sum(axis=1) / TABLE.sum(), TABLE.sum(axis=0) / TABLE.sum()
    for P in (none, same):
        np.testing.assert_allclose(P.sum(axis=1), p, atol=1e-9)
        np.testing.assert_allclose(P.sum(axis=0), q, atol=1e-9)
    np.testing.assert_allclose(none, np.outer(p, q), atol=1e-9)
    # At rho = 1 the table splits into two blocks.
    assert np.count_nonzero(most) < most.size
    halfway = worlds.value(np.array([[(1 + rho) / 2]]))
    assert rho < halfway < 1


def test_samples_of_a_candidate_scatter_around_its_correlation():
    worlds = JointTables(40 * TABLE[None], np.random.default_rng(0))
    t = worlds.rho[:, None]
    drawn = worlds.draw(t, 400)
    assert drawn.shape == (1, 1, 400)
    assert drawn.mean() == pytest.approx(worlds.rho[0], abs=3e-3)
    assert drawn.std() * np.sqrt(worlds.n[0]) == pytest.approx(worlds.spread[0], rel=0.15)


def test_interval_far_from_zero_is_the_textbook_interval():
    tables = 40 * TABLE[None]
    options = {"level": 0.05, "n_resamples": 20_000, "rng": np.random.default_rng(0)}
    error = JointTables(tables, None).spread[0] / np.sqrt(tables.sum())
    for intervals in (renyi_intervals, reflected_intervals):
        (row,) = intervals(tables, **options)
        estimate, rho, low, high, pvalue = row
        assert rho == pytest.approx(rho_of_tables(TABLE))
        assert (low, high) == pytest.approx((rho - 1.96 * error, rho + 1.96 * error), abs=3e-3)
        assert estimate == pytest.approx(rho, abs=2e-3)
        assert pvalue < 1e-12


def test_reflected_interval_starts_at_zero_unless_the_test_rejects():
    independent = np.array([[[20, 31, 24], [22, 30, 26], [18, 28, 25]]])
    options = {"level": 0.05, "n_resamples": 500, "rng": np.random.default_rng(0)}
    estimate, rho, low, high, pvalue = reflected_intervals(independent, **options)[0]
    assert low == estimate == 0 < high < rho + 0.1
    assert pvalue > 0.5


def test_estimate_is_zero_if_chance_exceeds_the_value_half_of_the_time():
    independent = np.array([[[200, 310], [202, 309]]])
    options = {"level": 0.05, "n_resamples": 10_000, "rng": np.random.default_rng(0)}
    estimate, rho, low, high, pvalue = renyi_intervals(independent, **options)[0]
    assert pvalue > 0.5
    assert estimate == low == 0 < rho < high < 0.1


def test_upper_end_of_perfect_dependence_is_one():
    options = {"level": 0.05, "n_resamples": 10_000, "rng": np.random.default_rng(0)}
    _, rho, low, high, _ = renyi_intervals(np.array([[[30, 0], [0, 40]]]), **options)[0]
    assert rho == pytest.approx(1)
    assert 0.8 < low < high == 1


def test_value_that_occurs_once_does_not_raise_the_lower_end():
    options = {"level": 0.05, "n_resamples": 10_000}
    merged = np.array([[[30, 12], [10, 28]]])
    single = np.array([[[30, 12, 0], [10, 27, 1]]])
    plain, other = (
        renyi_intervals(tables, **options, rng=np.random.default_rng(0))[0]
        for tables in (merged, single)
    )
    assert other[4] == pytest.approx(plain[4])
    assert other[2] == pytest.approx(plain[2], abs=0.04)
    # Once the column of a single sample is merged, nothing is left to test.
    (alone,) = renyi_intervals(
        np.array([[[30, 1], [40, 0]]]), **options, rng=np.random.default_rng(0)
    )
    assert alone[2] == 0
    assert alone[4] == 1


def test_other_singular_values_share_the_remaining_dependence():
    values, most = np.array([[[0.5, 0.3, 0.1]]]), np.array([[[0.4]]])
    for energy in (0.01, 0.1, 0.25, 0.4):
        found = _filled(values, most, np.array([[[energy]]]))
        assert found.max() <= 0.4
        assert (found**2).sum() == pytest.approx(energy, abs=1e-9)
        assert (np.diff(found) <= 0).all()
    # Three values of at most 0.4 have a smaller sum of squares than 0.9.
    assert _filled(values, most, np.array([[[0.9]]])) == pytest.approx(0.4)
    assert _filled(values, most, np.zeros((1, 1, 1))) == pytest.approx(0.0)


def test_ties_do_not_raise_the_lower_end():
    # With nine equal singular values, a curve that ignores the other values covers only 0.86.
    rng = np.random.default_rng(3)
    p = np.arange(1, 11) / 55
    truth = 0.9 * np.outer(p, p) + 0.1 * np.diag(p)
    drawn = rng.multinomial(1000, truth.ravel(), size=60).reshape(-1, 10, 10)
    drawn = [table for table in drawn if table.any(axis=0).all() and table.any(axis=1).all()]
    low = renyi_intervals(np.array(drawn), level=0.05, n_resamples=1000, rng=rng)[:, 2]
    assert np.mean(low > 0.1) < 0.12  # 0.025 plus three standard errors is 0.09


@pytest.mark.parametrize("count", [0, 1, 3, 20, 500])
@pytest.mark.parametrize("z", [0.5, 1.0, 1.96])
def test_limits_of_counts_match_garwood(count, z):
    assert _limit(count + 1.0, z) == pytest.approx(gamma.ppf(norm.cdf(z), count + 1), rel=0.02)
    if count:
        exact = gamma.ppf(norm.cdf(-z), count)
        assert _limit(float(count), -z) == pytest.approx(exact, rel=0.05, abs=0.02)


@pytest.mark.parametrize("singles", [1, 2, 3])
def test_values_that_occur_once_are_merged(singles):
    table = np.zeros((2 + singles, 3), dtype=int)
    table[:2] = [[5, 6, 7], [8, 4, 9]]
    table[2:, 0] = 1
    merged = without_single_people(table)
    assert merged.sum() == table.sum()
    assert merged.sum(axis=1).min() > 1
    assert rho_of_tables(merged) <= rho_of_tables(table) + 1e-12
    assert without_single_people(TABLE) is not None
    np.testing.assert_array_equal(without_single_people(TABLE), TABLE)


def test_events_pair_rows_with_columns_and_with_preferred_columns():
    events = _events(np.array([[1, 5, 4], [9, 0, 1]])).tolist()
    assert [5, 10, 5] in events  # the first row and the second column
    assert [9, 10, 10] in events  # the first row and the two columns that it prefers
    assert len(events) == 2 * 3 + 2 * 1


def test_unobserved_pair_of_rare_values_may_still_be_dependent():
    table = np.array([[0, 2], [2, 196]])
    # None of the four samples with a rare value has both. The share x that has both may therefore
    # be as large as (1 - x)^4 = 0.025 allows, x = 0.6, and then three in four samples with one of
    # the values have the other.
    assert _event_high(table, 0.05) == pytest.approx(0.75, abs=0.12)
    # With many samples it is the textbook limit, slightly enlarged as the largest of several.
    large = 100 * np.array([[5, 5], [5, 5]])
    assert _event_high(large, 0.05) == pytest.approx(1.96 / np.sqrt(2000), rel=0.2)


def rare_table(share, rho):
    """A table in which the first row and column, both of that share, carry the correlation."""
    p = np.r_[share, (1 - share) * np.array([0.2, 0.3, 0.5])]
    f = np.r_[1.0, np.zeros(3)] - share
    f /= np.sqrt(p @ f**2)
    return np.outer(p, p) * (1 + rho * np.outer(f, f))


@pytest.mark.parametrize(("share", "n"), [(0.02, 200), (0.05, 200), (0.01, 500)])
def test_intervals_cover_a_correlation_that_a_rare_value_carries(share, n):
    rng = np.random.default_rng(1)
    covered = []
    for table in rng.multinomial(n, rare_table(share, 0.5).ravel(), size=100).reshape(-1, 4, 4):
        seen = table[np.ix_(table.any(axis=1), table.any(axis=0))]
        options = {"level": 0.05, "n_resamples": 1000, "rng": rng}
        (row,) = renyi_intervals(seen[None], **options)
        covered.append(row[2] <= 0.5 <= row[3])
    assert np.mean(covered) > 0.89  # 0.95 - 2.8 standard errors; the curve alone covers 0.5 to 0.8


def test_rounding_errors_of_the_cells_do_not_change_the_samples(monkeypatch):
    counts = np.array([[[9, 1, 0], [2, 30, 8], [1, 9, 40]]])
    plain = JointTables.tables
    noise = np.random.default_rng(1).normal(size=(3, 3))

    def intervals():
        options = {"level": 0.05, "n_resamples": 200, "rng": np.random.default_rng(0)}
        return renyi_intervals(counts, **options)

    expected = intervals()
    monkeypatch.setattr(
        JointTables, "tables", lambda self, t: np.abs(plain(self, t) + 1e-17 * noise)
    )
    np.testing.assert_allclose(intervals(), expected, atol=1e-9)
