"""Correlations of many tables at once, and the test of independence, against scipy."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, hypergeom

from renyi_lib import _chance
from renyi_lib._chance import chance_test, rho_of_tables
from renyi_lib._wishart import largest_root_sf

SMALL = np.array([[9, 1], [2, 10]])


def chi_square(table):
    return chi2_contingency(table, correction=False)


def exact_pvalue(table, tie=1e-9):
    """The probability of tables with these margins and at least the same rho_R."""
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    x = np.arange(max(0, rows[0] + columns[0] - n), min(rows[0], columns[0]) + 1)
    distance = np.abs(x - rows[0] * columns[0] / n)
    observed = abs(table[0, 0] - rows[0] * columns[0] / n)
    chance = hypergeom(n, rows[0], columns[0]).pmf(x)
    return chance[distance >= observed - tie].sum()


def run(tables, method="auto", n_resamples=999):
    options = {"method": method, "n_resamples": n_resamples, "rng": np.random.default_rng(0)}
    return chance_test(tables, **options)


@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (3, 3), (3, 6), (6, 3)])
def test_correlation_is_the_second_singular_value_of_the_scaled_table(shape):
    tables = np.random.default_rng(0).integers(1, 30, size=(4, *shape))
    for table, rho in zip(tables, rho_of_tables(tables)):
        p, q = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
        singular = np.linalg.svd(table / table.sum() / np.sqrt(np.outer(p, q)))[1]
        assert rho == pytest.approx(singular[1], abs=1e-12)
        assert rho_of_tables(7 * table) == pytest.approx(rho, abs=1e-12)


@pytest.mark.parametrize("width", [2, 3])
def test_empty_rows_and_columns_do_not_change_the_correlation(width):
    table = np.random.default_rng(1).integers(1, 30, size=(3, width))
    padded = np.zeros((5, width + 1), dtype=int)
    padded[1:4, :width] = table
    assert rho_of_tables(padded) == pytest.approx(rho_of_tables(table), abs=1e-12)


def test_asymptotic_test_of_two_rows_is_the_chi_square_test():
    table = np.array([[30, 20, 25], [40, 15, 45]])
    statistic, pvalue, method = run([table])
    expected = chi_square(table)
    assert (statistic, pvalue) == pytest.approx((expected.statistic, expected.pvalue))
    assert method == "asymptotic"


def test_asymptotic_test_of_larger_tables_uses_the_largest_root():
    table = np.random.default_rng(2).integers(20, 40, size=(4, 6))
    statistic, pvalue, _ = run([table])
    assert statistic == pytest.approx(table.sum() * rho_of_tables(table) ** 2)
    assert pvalue == pytest.approx(float(largest_root_sf(statistic, 3, 5)))


def test_statistics_of_strata_add_up_and_constant_strata_add_zero():
    tables = [np.array([[30, 20], [25, 40]]), np.array([[50, 31], [22, 17]])]
    each = [chi_square(table) for table in tables]
    statistic, pvalue, _ = run([*tables, np.array([[10], [20]])])
    assert statistic == pytest.approx(sum(test.statistic for test in each))
    # The sum of two squared standard normals is exponential with mean 2.
    assert pvalue == pytest.approx(np.exp(-statistic / 2))


@pytest.mark.parametrize(("given", "used"), [("auto", "asymptotic"), ("permutation",) * 2])
def test_tables_without_variation_show_no_dependence(given, used):
    assert run([np.array([[10], [20]])], given) == (0.0, 1.0, used)
    assert run([], given) == (0.0, 1.0, used)


def test_permutation_test_agrees_with_the_hypergeometric_distribution():
    table = np.array([[7, 3], [4, 8]])
    _, pvalue, method = run([table], "permutation", 20_000)
    assert method == "permutation"
    assert pvalue == pytest.approx(exact_pvalue(table), abs=0.012)  # three standard errors
    # Tables exactly as extreme as the observed one count, and contribute most of the p-value.
    assert exact_pvalue(table) > 2.5 * exact_pvalue(table, tie=-1e-9)


def test_smallest_permutation_pvalue_counts_the_observed_table():
    certain = np.array([[60, 0], [0, 60]])
    assert run([certain], "permutation", 99)[1] == pytest.approx(1 / 100)


def test_permutations_in_blocks_give_the_same_result(monkeypatch):
    at_once = run([SMALL], "permutation", 101)
    monkeypatch.setattr(_chance, "_BLOCK", 4 * SMALL.size)
    assert len(_chance._permuted(SMALL, 101, np.random.default_rng(0))) == 101
    assert run([SMALL], "permutation", 101) == at_once


def test_strata_are_permuted_separately():
    # Each stratum is balanced, but their sum looks dependent: permuting the sum would reject.
    tables = [np.array([[40, 8], [10, 2]]), np.array([[2, 10], [8, 40]])]
    assert run([sum(tables)], "permutation", 199)[1] < 0.02
    assert run(tables, "permutation", 199)[1] > 0.9


@pytest.mark.parametrize(("n", "method"), [(49, "asymptotic"), (51, "permutation")])
def test_auto_permutes_if_an_expected_count_is_below_two(n, method):
    # The smallest expected count is 10 * 10 / n.
    assert run([np.array([[3, 7], [7, n - 17]])])[2] == method
    assert run([np.array([[30, 20], [20, 30]]), np.array([[3, 7], [7, n - 17]])])[2] == method


def test_fractional_effective_counts_are_rounded_for_permutations_only():
    table = SMALL + np.array([[0.3, -0.3], [0.2, -0.2]])
    statistic, pvalue, _ = run([table, np.array([[0.2, 0.1], [0.1, 0.3]])], "permutation")
    assert pvalue == run([SMALL], "permutation")[1]
    assert statistic > float(table.sum() * rho_of_tables(table) ** 2)
