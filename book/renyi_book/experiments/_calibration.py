"""Size, power and coverage of tests and intervals, simulated with known true values."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._coverage import by_shape, covered, samples
from renyi_book.experiments._one_curve import curve_renyi_intervals
from renyi_lib import inference
from renyi_lib._chance import rho_of_tables
from renyi_lib._wishart import largest_root_sf
from renyi_lib._worlds import reflected_intervals

SHAPES = ((2, 2), (2, 8), (3, 3), (4, 3), (10, 10))


def calibration(
    *,
    shapes=SHAPES,
    sizes=(50, 200, 1000, 10_000),
    rhos=(0.0, 0.1, 0.3, 0.6, 0.9),
    replicates=400,
    n_resamples=1000,
    seed=0,
    progress=True,
):
    """Measure how often tests at 5 % reject independence and 95 % intervals cover the true value.

    Parameters
    ----------
    shapes : sequence of (int, int)
        Shapes of the tables, all of which have uneven margins; see `true_table`.
    sizes : sequence of int
        Sample sizes.
    rhos : sequence of float
        True values of rho_R. For 0, the size of the tests is measured, too.
    replicates : int, default=400
        Number of simulated samples for each row; a quarter of it for tables of more than 50 cells,
        and five times as many for tests.
    n_resamples : int, default=1000
        Number of random tables for each interval; about a fifth of it for each permutation test,
        and three tenths for the reflected bootstrap.
    seed : int, default=0
        Random seed.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``rows, columns, n, rho``; ``spectrum``, "one" if rho_R is the only singular value
        besides 1 and "many" if there are others of similar size; ``expected``, the smallest
        expected count of a cell under independence; ``what``, "size" of a test or "coverage" of an
        interval; ``method`` ("asymptotic" or "permutation" for tests, "inversion" or "bootstrap"
        for intervals); ``share``, the fraction of the ``replicates`` samples for which the test
        rejects or the interval covers the true value; for intervals also ``above`` and ``below``,
        the shares of intervals entirely above and below the true value, the median ``width`` and
        the median ``estimate``.

    Notes
    -----
    The method "inversion" searches only one curve of tables. The library's interval, which
    `rare_values` measures, also accounts for rare values.

    Samples in which a variable is constant are replaced, because they have no interval.

    Examples
    --------
    >>> from renyi_book.experiments import calibration
    >>> table = calibration(
    ...     shapes=[(2, 2)], sizes=[200], rhos=[0.0], replicates=100, progress=False
    ... )
    >>> table[["what", "method"]].drop_duplicates().to_numpy().tolist()
    [['size', 'asymptotic'], ['size', 'permutation'], ['coverage', 'inversion'], \
['coverage', 'bootstrap']]
    """
    cells = [
        (shape, n, rho, spectrum)
        for shape in shapes
        for n in sizes
        for rho in rhos
        for spectrum in ("one", "many")
        if true_table(shape, rho, spectrum) is not None
    ]
    found = []
    for shape, n, rho, spectrum in tqdm(cells, desc="cells", disable=not progress, leave=False):
        truth = true_table(shape, rho, spectrum)
        code = [seed, *shape, n, round(1000 * rho), ("one", "many").index(spectrum)]
        rng = np.random.default_rng(code)
        times = replicates if truth.size <= 50 else replicates // 4
        where = {
            "rows": shape[0],
            "columns": shape[1],
            "n": n,
            "rho": rho,
            "spectrum": spectrum,
            "expected": n * truth.sum(axis=1).min() * truth.sum(axis=0).min(),
        }
        if rho == 0:
            tables = samples(truth, n, 5 * times, rng)
            found += [where | row for row in _sizes(tables, n_resamples // 5, rng)]
        tables = samples(truth, n, times, rng)
        found += [where | row for row in _coverages(tables, rho, n_resamples, rng)]
    return pd.DataFrame(found)


def true_table(shape, rho, spectrum):
    """Return a joint table with uneven margins and the given rho_R, or None if there is none.

    Let p and q be the margins. With the spectrum "one", the entries are p_i q_j (1 + rho f_i g_j)
    for standardized linear f and g. With "many", the table is a mixture of p q^T and the table
    that pairs the two variables in order as far as the margins allow. For rho = 0, or if a
    variable has only two values, "one" gives the mixture, and "many" gives None.

    Examples
    --------
    >>> from renyi_book.experiments import true_table
    >>> true_table((2, 2), 0.6, "one").round(3)
    array([[0.227, 0.023],
           [0.173, 0.577]])
    """
    p, q = _margin(shape[0], 0.25), _margin(shape[1], 0.4)
    independent = np.outer(p, q)
    if rho == 0 or min(shape) == 2:
        # Both spectra agree here, because there is no second correlation, and the mixture allows
        # larger correlations.
        if spectrum == "many":
            return None
        spectrum = "many"
    if spectrum == "one":
        f, g = (_standardized(np.arange(len(m), dtype=float), m) for m in (p, q))
        P = independent * (1 + rho * np.outer(f, g))
        return P if P.min() >= 0 else None
    paired = _in_order(p, q)
    most = float(rho_of_tables(paired))
    return independent + rho / most * (paired - independent) if rho <= most else None


def _margin(size, of_two):
    """Return probabilities proportional to 1, 2, 3 …; for two values, `of_two` and the rest."""
    if size == 2:
        return np.array([of_two, 1 - of_two])
    return np.arange(1, size + 1) / (size * (size + 1) / 2)


def _standardized(f, p):
    f = f - p @ f
    return f / np.sqrt(p @ f**2)


def _in_order(p, q):
    """Return the joint table of two variables that increase together, with margins p and q."""
    edges = np.unique(np.r_[0.0, np.cumsum(p), np.cumsum(q)].round(12))
    middle = (edges[1:] + edges[:-1]) / 2
    table = np.zeros((len(p), len(q)))
    rows, columns = (np.searchsorted(np.cumsum(m).round(12), middle) for m in (p, q))
    np.add.at(table, (rows, columns), np.diff(edges))
    return table


def _sizes(tables, n_resamples, rng):
    """Measure how often each type of test rejects independence at 5 %."""
    limit = np.concatenate(
        [
            largest_root_sf(
                stack.sum(axis=(1, 2)) * rho_of_tables(stack) ** 2,
                *np.subtract(stack.shape[1:], 1),
            )
            for stack in by_shape(tables)
        ]
    )
    options = {"method": "permutation", "n_resamples": n_resamples - 1, "random_state": rng}
    permuted = [inference.renyi_test(table, **options).pvalue for table in tables]
    for method, pvalues in (("asymptotic", limit), ("permutation", permuted)):
        rejected = np.mean(np.array(pvalues) <= 0.05)
        yield {"what": "size", "method": method, "share": rejected, "replicates": len(tables)}


def _coverages(tables, rho, n_resamples, rng):
    """Measure how often each type of interval covers the true value."""
    methods = {
        "inversion": (curve_renyi_intervals, n_resamples),
        "bootstrap": (reflected_intervals, 3 * n_resamples // 10),
    }
    for method, (intervals, times) in methods.items():
        options = {"level": 0.05, "n_resamples": times, "rng": rng}
        ends = np.concatenate([intervals(stack, **options) for stack in by_shape(tables)])
        yield {"what": "coverage", "method": method} | covered(ends, rho)


# Rates of positive decisions by group, for each of two models.
_RATES = {
    "two groups, fair": ([0.3, 0.3], [0.3, 0.3]),
    "two groups, nearly fair": ([0.3, 0.35], [0.35, 0.3]),
    "two groups, unfair": ([0.3, 0.5], [0.3, 0.4]),
    "two groups, one model fair": ([0.3, 0.5], [0.3, 0.3]),
    "two groups, rare": ([0.05, 0.15], [0.06, 0.1]),
    "four groups, fair": ([0.3] * 4, [0.3] * 4),
    "four groups, unfair": ([0.3, 0.35, 0.4, 0.45], [0.35, 0.4, 0.4, 0.4]),
    "four groups, one apart": ([0.2, 0.5, 0.5, 0.5], [0.3, 0.5, 0.5, 0.5]),
}


def fairness_calibration(
    *,
    cases=tuple(_RATES),
    sizes=(100, 1000),
    agreement=0.7,
    replicates=300,
    n_resamples=1000,
    seed=0,
    progress=True,
):
    """Measure how often 95 % intervals of fairness metrics and differences cover the true value.

    Parameters
    ----------
    cases : sequence of str
        Names of cases, from "two groups, fair" to "four groups, one apart", each with the rates of
        two models.
    sizes : sequence of int
        Numbers of people in the smallest group; every other group has twice as many.
    agreement : float, default=0.7
        Degree to which the two models agree, from 0 (independent) to 1 (as often as possible).
    replicates : int, default=300
        Number of samples for each row.
    n_resamples : int, default=1000
        Number of random tables for each test of fairness, and for the correlation of two models.
    seed : int, default=0
        Random seed.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``case, n`` (people in the smallest group), ``metric``, ``what`` ("value" of the
        first model, or "difference", the first model's value minus the second's), ``truth``, and
        ``share, replicates, above, below, width, estimate`` as in `calibration`. The value of the
        ratio is counted as 1 minus the ratio.

    Examples
    --------
    >>> from renyi_book.experiments import fairness_calibration
    >>> table = fairness_calibration(
    ...     cases=["two groups, unfair"], sizes=[100], replicates=20, progress=False
    ... )
    >>> ratio = table.query("metric == 'demographic_parity_ratio'")
    >>> ratio[["what", "truth"]].round(2).to_numpy().tolist()
    [['value', 0.4], ['difference', 0.15]]
    """
    found = []
    bar = tqdm([(case, n) for case in cases for n in sizes], disable=not progress, leave=False)
    for case, n in bar:
        rng = np.random.default_rng([seed, list(_RATES).index(case), n])
        first, second = np.array(_RATES[case])[:, None]
        size = np.array([[n] + [2 * n] * (first.shape[1] - 1)])
        both = first * second + agreement * (np.minimum(first, second) - first * second)
        cells = np.stack([1 - first - second + both, second - both, first - both, both], axis=-1)
        drawn = rng.multinomial(size, cells, size=(replicates, *size.shape))
        drawn = drawn.reshape(*drawn.shape[:-1], 2, 2)
        for metric in ("demographic_parity_ratio", "demographic_parity_difference"):
            measure = inference._MEASURES[metric]
            values = [measure.value(np.stack([1 - r, r], axis=-1)) for r in (first, second)]
            options = {"level": 0.05, "n_resamples": n_resamples, "rng": rng}
            where = {"case": case, "n": n, "metric": metric}
            ends = measure.intervals(drawn.sum(axis=-1), **options)
            truth = {"what": "value", "truth": float(values[0])}
            found.append(where | truth | covered(ends, truth["truth"]))
            ends = [inference.paired_interval(measure, table, **options) for table in drawn]
            truth = {"what": "difference", "truth": float(values[0] - values[1])}
            found.append(where | truth | covered(ends, truth["truth"]))
    return pd.DataFrame(found)
