"""Intervals for gaps and ratios of groups' rates that hold with groups of any size.

The sizes of the groups are fixed, and each group's count of positive decisions is binomial. Each
side of an interval inverts a test that is exact group by group:

- *Upper end of the violation.* The rates of two groups differ by d or more only if some pair
  does, so it is enough that every pair rejects it at the level of one test (an intersection-union
  test, without a correction for the number of pairs). A small group rejects little, and the upper
  end is large.
- *Lower end of the violation.* All rates lie in a window of width d. Each group's evidence against
  the window is the normal quantile of an exact binomial tail; the squares are added and compared
  with chi-square. A small group adds little evidence, and cannot hide that of the large ones.

At d = 0 the second test is one of independence. There we take `renyi_lib._chance.chance_test`
itself, so that an interval excludes fairness exactly when the test does. A group of one person
never counts as evidence of a violation.
"""

import numpy as np
from scipy.special import betainc, betaincinv, ndtr, ndtri, xlogy
from scipy.stats import chi2

from renyi_lib._chance import MOST_TO_PERMUTE, chance_test

# Groups with fewer people than this are no evidence of a violation.
FEWEST = 2
# How the evidence is split between two groups, from all on one to all on the other.
_ANGLES = np.linspace(0, np.pi / 2, 17)
_GRID = 33
# A root is found by looking at so many places, so often, each time around the best.
_STEPS, _ROUNDS = 33, 4
# Tails below this are replaced by their deviance.
_FAR = 1e-250
# Cells of random tables: fewer are drawn of large tables, but at least so many.
_CELLS = 2**20
_FEWEST_DRAWS = 250


def gap(rates):
    """The largest difference of two groups' rates, over the strata: (..., S, G) -> (...)."""
    return np.ptp(rates, axis=-1).max(axis=-1)


def one_minus_ratio(rates):
    """1 - the smallest ratio of two groups' rates; 0 if all are 0. (..., 1, G) -> (...)."""
    low, high = rates.min(axis=-1)[..., 0], rates.max(axis=-1)[..., 0]
    return np.where(high > 0, 1 - low / np.where(high > 0, high, 1.0), 0.0)


def rate_intervals(measure, positive, size, *, level, n_resamples, rng):
    """Estimate, plug-in value, ends and p-value for a measure of rates, where 0 is fair.

    Parameters
    ----------
    measure : {gap, one_minus_ratio}
    positive, size : ndarray of shape (R, S, G)
        Positive decisions, and all, in each stratum of the truth and each group.
    level : float
        1 - the confidence level.
    n_resamples : int
        Random samples, for the p-value where counts are small; fewer if there are many groups.
    rng : Generator

    Returns
    -------
    ndarray of shape (R, 5)

    Examples
    --------
    Groups of 2000 and 2000 people, and one of ten that does not hide their difference:

    >>> positive, size = np.array([[[1000, 1200, 5]]]), np.array([[[2000, 2000, 10]]])
    >>> options = {"level": 0.05, "n_resamples": 1000, "rng": np.random.default_rng(0)}
    >>> rate_intervals(gap, positive, size, **options)[0, 2:4].round(2)
    array([0.06, 0.41])
    """
    observed = measure(positive / size)
    draws = int(np.clip(_CELLS // size[0].size, _FEWEST_DRAWS, n_resamples))
    rows = []
    for x, n, value in zip(positive, size, observed):
        pvalue, df = _fair_pvalue(x, n, draws, rng)
        low = _lower(measure, x, n, level, pvalue, df) if pvalue < level else 0.0
        high = max(_upper(measure, x, n, level), value)
        low = min(low, value)
        estimate = np.clip(measure(_shrunken(x, n)), low, high) if pvalue < 0.5 else 0.0
        rows.append((estimate, value, low, high, pvalue))
    return np.array(rows, dtype=float).reshape(-1, 5)


def _fair_pvalue(x, n, n_resamples, rng):
    """The p-value of equal rates, and the degrees of freedom of its statistic."""
    tables = []
    for positive, size in zip(x, n):
        kept = size >= FEWEST
        table = np.stack([size - positive, positive], axis=1)[kept]
        tables.append(table[:, table.any(axis=0)])
    df = sum(len(table) - 1 for table in tables if min(table.shape) > 1)
    method = "auto" if n.sum() <= MOST_TO_PERMUTE else "asymptotic"
    pvalue = chance_test(tables, method=method, n_resamples=n_resamples, rng=rng)[1]
    return pvalue, max(df, 1)


def _upper(measure, x, n, level):
    """The largest violation that some pair of groups does not reject."""
    evidence = -ndtri(level / 2)
    # p varies along the last axis, so that pairs of limits share the evidence.
    above, below = ndtr(evidence * np.sin(_ANGLES)), ndtr(-evidence * np.cos(_ANGLES))
    worst = 0.0
    for positive, size in zip(x, n):
        # Groups alike give the same limits; two of a kind are enough to make a pair.
        pairs, times = np.unique(np.stack([positive, size]), axis=1, return_counts=True)
        k, m = (np.repeat(row, np.minimum(times, 2))[:, None] for row in pairs)
        with np.errstate(all="ignore"):
            most = np.where(k < m, betaincinv(k + 1.0, np.maximum(m - k, 0.5), above), 1.0)
            least = np.where(k > 0, betaincinv(np.maximum(k, 0.5), m - k + 1.0, below), 0.0)
        worst = max(worst, _worst_pair(measure, least, most))
    return float(worst)


def _worst_pair(measure, least, most):
    """The largest violation between the upper limit of one group and the lower of another."""
    places = np.arange(least.shape[1])
    first, second = np.argpartition(-most, 1, axis=0)[:2]
    lowest, next_lowest = np.argpartition(least, 1, axis=0)[:2]
    candidates = [
        (highest, other) for highest in (first, second) for other in (lowest, next_lowest)
    ]
    worst = 0.0
    for highest, other in candidates:
        top, bottom = most[highest, places], least[other, places]
        value = top - bottom if measure is gap else 1 - bottom / top
        worst = max(worst, np.max(np.where(highest != other, value, 0.0)))
    return worst


def _lower(measure, x, n, level, pvalue, df):
    """The smallest violation that the groups together do not reject."""
    critical = chi2.isf(level, df)
    curves = []
    for positive, size in zip(x, n):
        kept = size >= FEWEST
        pairs, times = np.unique(
            np.stack([positive[kept], size[kept]]), axis=1, return_counts=True
        )
        if kept.sum() > 1:
            curves.append(_evidence_curves(*pairs, times, critical))

    def against(widths):
        """The evidence against windows of these widths (ratios: of 1 - width)."""
        return sum(_evidence(measure, curve, widths) for curve in curves)

    at_zero = against(np.zeros(1))[0]
    if at_zero <= critical:
        # Exact tails are conservative: a test that rejects has more evidence than they show.
        critical *= min(at_zero / chi2.isf(pvalue, df), 1.0) if pvalue > 0 else 0.0
    return float(_solve(lambda widths: -against(widths), np.array([-critical]))[0])


def _evidence_curves(k, n, times, critical):
    """The roots of the evidence that rates are not above a, and not below b, on two grids."""
    k, n, times = (np.asarray(v, dtype=float)[:, None] for v in (k, n, times))

    def above(a):  # against all rates being a or more; grows with a
        return np.sqrt((times * _score(k, n, a) ** 2).sum(axis=0))

    def below(b):  # against all rates being b or less; falls with b
        return np.sqrt((times * _score(n - k, n, 1 - b) ** 2).sum(axis=0))

    most = 1.02 * np.sqrt(critical)
    targets = np.array([1e-3 * most, most])
    start, end = _solve(above, targets)
    a = np.linspace(start, end, _GRID)
    last, first = 1 - _solve(lambda c: below(1 - c), targets)
    b = np.linspace(first, last, _GRID)
    return a, above(a), b, below(b)


def _solve(rising, targets):
    """Where a function on [0, 1] that grows reaches the targets."""
    steps = np.linspace(0, 1, _STEPS)
    low, width = np.zeros((len(targets), 1)), 1.0
    for _ in range(_ROUNDS):
        p = np.minimum(low + width * steps, 1.0)
        under = rising(p.ravel()).reshape(p.shape) < targets[:, None]
        last = np.maximum(np.count_nonzero(under, axis=1) - 1, 0)[:, None]
        low, width = np.take_along_axis(p, last, axis=1), width / (_STEPS - 1)
    return np.minimum(low[:, 0] + width, 1.0)


def _score(k, n, p):
    """How surprising k or fewer of n are if the rate is p, as a normal quantile, at least 0.

    The tail counts k itself by half (the mid-p value).
    """
    with np.errstate(all="ignore"):
        tail = np.where(k < n, betainc(np.maximum(n - k, 0.5), k + 1.0, 1 - p), 1.0)
        tail += np.where(k > 0, betainc(n - k + 1.0, np.maximum(k, 0.5), 1 - p), 0.0)
        tail /= 2
        deviance = xlogy(k, k / (n * p)) + xlogy(n - k, (n - k) / (n * (1 - p)))
    far = np.sqrt(2 * np.clip(np.nan_to_num(deviance, nan=0.0, posinf=1e300), 0.0, 1e300))
    return np.maximum(np.where(tail < _FAR, far, -ndtri(np.maximum(tail, _FAR))), 0.0)


def _evidence(measure, curve, widths):
    """The least evidence of one stratum, over all windows of each width."""
    a, above, b, below = curve
    widths = widths[:, None]
    if measure is gap:
        starts, ends = b - widths, a + widths
    else:
        starts, ends = b * (1 - widths), a / np.maximum(1 - widths, 1e-300)
    lower = np.concatenate([np.broadcast_to(a, ends.shape), starts], axis=1)
    upper = np.concatenate([ends, np.broadcast_to(b, starts.shape)], axis=1)
    return (_at(lower, a, above) ** 2 + _at(upper, b, below) ** 2).min(axis=1)


def _at(p, grid, values):
    """The curve at p: 0 on the side without evidence, and a lot beyond the other end."""
    found = np.interp(p, grid, values)
    if values[0] < values[-1]:
        return np.where(p < grid[0], 0.0, np.where(p > grid[-1], 2 * values[-1], found))
    return np.where(p > grid[-1], 0.0, np.where(p < grid[0], 2 * values[0], found))


def _shrunken(x, n):
    """Rates drawn towards the stratum's common one, the more so the smaller the group.

    Chance spreads the rates of groups that are alike, and the extremes of many rates are too far
    apart. Each group's weight is n / (n + M), where M makes the groups differ by what chi-square
    has beyond its mean (an empirical Bayes estimate). Two rates stay as they are, since their
    difference is not selected.
    """
    if n.shape[-1] == 2:
        return x / n
    total = n.sum(axis=-1, keepdims=True)
    common = x.sum(axis=-1, keepdims=True) / total
    variance = np.maximum(common * (1 - common), 1e-300)
    chi_square = (n * (x / n - common) ** 2 / variance).sum(axis=-1, keepdims=True)
    excess = np.maximum(chi_square - (n.shape[-1] - 1), 1e-300)
    M = (total - (n.astype(float) ** 2).sum(axis=-1, keepdims=True) / total) / excess
    return common + n / (n + M) * (x / n - common)
