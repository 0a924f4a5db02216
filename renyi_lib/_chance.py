"""Rényi correlation of many tables at once, and the test of independence based on it.

`renyi_test`, `renyi_interval` (unless bootstrapped) and `fairness_interval` compute their p-values
with `chance_test`, so an interval excludes independence if and only if its p-value rejects it. The
intervals apply the test after merging values (or leaving out groups) that occur only once.
"""

import numpy as np
from scipy.stats import random_table

from renyi_lib._wishart import LARGEST, sum_of_largest_roots_sf

# Values whose relative difference is less than this are treated as ties.
TIE = 1e-11
# Maximum number of samples for scipy's random tables.
MOST_TO_PERMUTE = 10**9
# Number of cells of random tables that are kept in memory at a time.
_BLOCK = 2**21
# "auto" uses the limit distribution if the expected count of every cell is at least this, unless a
# table is too large for the limit distribution.
_EXPECTED = 2.0


def rho_of_tables(tables):
    """Compute the Rényi correlations of tables (last two axes) of counts or probabilities.

    Rows and columns may be empty, as is common in random tables of few samples.

    Examples
    --------
    >>> rho_of_tables(np.array([[[40, 10], [10, 40]], [[5, 5], [0, 0]]])).round(12)
    array([0.6, 0. ])
    """
    tables = np.asarray(tables)
    R = tables / tables.sum(axis=(-2, -1), keepdims=True)
    expected = R.sum(axis=-1, keepdims=True) * R.sum(axis=-2, keepdims=True)
    # Operations are in place, because there may be millions of tables.
    R -= expected
    # Numerator and denominator are both 0 in an empty row or column.
    expected[expected <= 0] = 1.0
    R /= np.sqrt(expected, out=expected)
    if min(R.shape[-2:]) == 2:  # the only nonzero singular value is the Frobenius norm
        square = np.einsum("...ij,...ij->...", R, R)
    else:
        R = R if R.shape[-2] <= R.shape[-1] else np.swapaxes(R, -1, -2)
        square = np.linalg.eigvalsh(R @ np.swapaxes(R, -1, -2))[..., -1]
    return np.sqrt(np.clip(square, 0.0, 1.0))


def chance_test(tables, *, method, n_resamples, rng):
    """Compute the sum of n rho^2 over tables, its p-value under independence, and the method.

    Parameters
    ----------
    tables : sequence of ndarray
        Counts of each stratum, without empty rows and columns. A table with one row or column
        shows no dependence and is left out. Effective counts of weighted samples need not be
        integers; they are rounded if tables are permuted.
    method : {"auto", "asymptotic", "permutation"}
        Method of computing the p-value, as in `renyi_test`.
    n_resamples : int
        Number of random tables.
    rng : Generator
        Random number generator.

    Returns
    -------
    tuple of float, float and str
        Statistic, p-value, and the method that was used, "asymptotic" or "permutation".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> options = {"method": "auto", "n_resamples": 99, "rng": rng}
    >>> statistic, pvalue, method = chance_test([np.array([[40, 10], [10, 40]])], **options)
    >>> round(statistic, 6), f"{pvalue:.0e}", method
    (36.0, '2e-09', 'asymptotic')
    """
    tables = [table for table in tables if min(table.shape) > 1]
    if not tables:
        return 0.0, 1.0, "asymptotic" if method == "auto" else method
    if method == "auto":
        method = "asymptotic" if _large_enough(tables) else "permutation"
    observed = float(sum(_scaled(table[None])[0] for table in tables))
    if method == "asymptotic":
        shapes = [(len(table) - 1, table.shape[1] - 1) for table in tables]
        return observed, sum_of_largest_roots_sf(observed, shapes), method
    whole = [np.rint(table).astype(np.int64) for table in tables]
    whole = [table for table in whole if table.any()]
    chance = sum(_permuted(table, n_resamples, rng) for table in whole)
    seen = sum(_scaled(table[None])[0] for table in whole)
    pvalue = (1 + np.sum(chance >= seen * (1 - TIE))) / (1 + n_resamples)
    return observed, float(pvalue), method


def _scaled(tables):
    """Compute n rho_R^2 of each table."""
    return tables.sum(axis=(1, 2)) * rho_of_tables(tables) ** 2


def _permuted(table, n_resamples, rng):
    """Compute n rho_R^2 of random tables with the margins of the given table."""
    chance = random_table(table.sum(axis=1), table.sum(axis=0))
    block = max(1, _BLOCK // table.size)
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    return np.concatenate([_scaled(chance.rvs(size, random_state=rng)) for size in sizes])


def _large_enough(tables):
    """Return whether the counts are large enough for the limit distribution."""
    expected = (
        table.sum(axis=1).min() / table.sum() * table.sum(axis=0).min() for table in tables
    )
    return min(expected) >= _EXPECTED and all(min(table.shape) <= LARGEST for table in tables)
