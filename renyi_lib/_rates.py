"""Intervals for differences and ratios of groups' rates that are valid for groups of any size.

The *violation* is the largest difference of two rates or, for ratios, 1 - the smallest ratio. The
sizes of the groups are fixed, and each group's count of positive decisions is binomial. Each end
of an interval inverts a test that uses the binomial distribution of every group:

- *Upper end of the violation.* The hypothesis is that the violation between some pair of groups is
  d or more, so it is rejected if every pair rejects it at the level of a single test (an
  intersection-union test, without a correction for the number of pairs). A small group rejects
  only large violations, so it makes the upper end large.
- *Lower end of the violation.* The hypothesis is that all rates lie in a window of width d. Each
  group's evidence against the window is the normal quantile of a binomial mid-p value, and the sum
  of the squared quantiles is compared with chi-square. A small group adds little evidence but
  cannot hide the evidence of large groups.

At d = 0 the second test is a test of independence. In this case, `renyi_lib._chance.chance_test`
is used instead, so an interval excludes fairness if and only if that test rejects it. A group of
one sample never counts as evidence of a violation.
"""

import numpy as np
from scipy.special import betainc, betaincinv, chdtri, ndtr, ndtri, xlogy

from renyi_lib._chance import MOST_TO_PERMUTE, chance_test

# Groups with fewer samples than this do not count as evidence of a violation.
FEWEST = 2
# Angles that split the evidence between two groups, from all on one to all on the other.
_ANGLES = np.linspace(0, np.pi / 2, 17)
# Number of points of each grid of rates.
_GRID = 33
# An equation is solved by evaluating this many points in each of this many rounds, every time in
# the step that contains the solution.
_STEPS, _ROUNDS = 5, 10
# For tail probabilities below this, the normal score is computed from the deviance.
_FAR = 1e-250
# Maximum number of cells of all random tables together, and minimum number of tables.
_CELLS = 2**20
_FEWEST_DRAWS = 250


def gap(rates):
    """Compute the largest difference of two rates in any of S strata, (..., S, G) -> (...)."""
    return np.ptp(rates, axis=-1).max(axis=-1)


def one_minus_ratio(rates):
    """Compute 1 - the smallest ratio of two rates (0 if all are 0), (..., 1, G) -> (...)."""
    low, high = rates.min(axis=-1)[..., 0], rates.max(axis=-1)[..., 0]
    return np.where(high > 0, 1 - low / np.where(high > 0, high, 1.0), 0.0)


def rate_intervals(measure, positive, size, *, level, n_resamples, rng):
    """Compute estimate, plug-in value, ends and p-value for a metric of rates that is 0 if fair.

    Parameters
    ----------
    measure : {gap, one_minus_ratio}
        Violation, as a function of the rates.
    positive, size : ndarray of shape (R, S, G)
        Numbers of positive decisions and of all people in R samples, by stratum (true label) and
        group; with weights, effective numbers.
    level : float
        1 - the confidence level.
    n_resamples : int
        Number of random tables for the p-value if counts are small; fewer are used if there are
        many groups.
    rng : Generator
        Random number generator.

    Returns
    -------
    ndarray of shape (R, 5)
        Estimate, plug-in value, lower end, upper end and p-value of each sample.

    Examples
    --------
    Two groups of 2000 people, and a group of ten that does not hide their difference:

    >>> positive, size = np.array([[[1000, 1200, 5]]]), np.array([[[2000, 2000, 10]]])
    >>> options = {"level": 0.05, "n_resamples": 1000, "rng": np.random.default_rng(0)}
    >>> rate_intervals(gap, positive, size, **options)[0, 2:4].round(2)
    array([0.06, 0.41])
    """
    observed = measure(positive / size)
    draws = int(np.clip(_CELLS // size[0].size, _FEWEST_DRAWS, n_resamples))
    tests = [_fair_pvalue(x, n, draws, rng) for x, n in zip(positive, size)]
    pvalue, df = np.array(tests, dtype=float).reshape(-1, 2).T
    low, unfair = np.zeros(len(size)), pvalue < level
    if unfair.any():
        evidence = pvalue[unfair], df[unfair]
        low[unfair] = _lower(measure, positive[unfair], size[unfair], level, *evidence)
    upper = np.array([_upper(measure, x, n, level) for x, n in zip(positive, size)])
    low, high = np.minimum(low, observed), np.maximum(upper, observed)
    estimate = np.clip(measure(_shrunken(positive, size)), low, high)
    estimate = np.where(pvalue < 0.5, estimate, 0.0)
    return np.column_stack([estimate, observed, low, high, pvalue])


def _fair_pvalue(x, n, n_resamples, rng):
    """Compute the p-value of equal rates, and the degrees of freedom of its statistic."""
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
    """Compute the largest violation that some pair of groups does not reject."""
    evidence = -ndtri(level / 2)
    # The splits of the evidence between the two groups of a pair vary along the last axis.
    above, below = ndtr(evidence * np.sin(_ANGLES)), ndtr(-evidence * np.cos(_ANGLES))
    worst = 0.0
    for positive, size in zip(x, n):
        # Identical groups give the same limits, so two of them suffice to form a pair.
        pairs, times = np.unique(np.stack([positive, size]), axis=1, return_counts=True)
        k, m = (np.repeat(row, np.minimum(times, 2))[:, None] for row in pairs)
        with np.errstate(all="ignore"):
            most = np.where(k < m, betaincinv(k + 1.0, np.maximum(m - k, 0.5), above), 1.0)
            least = np.where(k > 0, betaincinv(np.maximum(k, 0.5), m - k + 1.0, below), 0.0)
        worst = max(worst, _worst_pair(measure, least, most))
    return float(worst)


def _worst_pair(measure, least, most):
    """Compute the largest violation between one group's upper and another's lower limit."""
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
    """Compute for each sample the smallest violation that the groups together do not reject."""
    critical = chdtri(df, level)
    curves = []
    for stratum in range(x.shape[1]):
        k, m, times = x[:, stratum], n[:, stratum], (n[:, stratum] >= FEWEST).astype(float)
        if len(k) == 1:  # identical groups are evaluated once and counted with their number
            pairs = np.stack([k[0], m[0]])[:, times[0] > 0]
            (k, m), times = np.unique(pairs, axis=1, return_counts=True)
            k, m, times = k[None], m[None], times[None].astype(float)
        if k.shape[1]:
            curves.append(_evidence_curves(k, m, times, critical))

    def against(widths):
        """Compute the evidence against windows of these widths (relative ones for ratios)."""
        return sum(_evidence(measure, curve, widths) for curve in curves)

    at_zero = against(np.zeros((len(x), 1)))[:, 0]
    # If the mid-p values show too little evidence against fairness, although the test rejects it,
    # the critical value is multiplied by the ratio of their evidence to the evidence of the test.
    least = chdtri(df, np.clip(pvalue, 1e-300, 1.0))
    shown = np.minimum(at_zero / np.maximum(least, 1e-300), 1.0)
    critical = np.where(at_zero <= critical, critical * shown, critical)
    return _solve(lambda widths: -against(widths), -critical[:, None])[:, 0]


def _evidence_curves(k, n, times, critical):
    """Return square roots of the evidence that some rates are below a, or above b, on two grids.

    The result is (a, roots, b, roots). The arguments k (positive decisions), n (people) and times
    (number of identical groups) have a row for each sample and a column for each group.
    """
    k, n, times = (np.asarray(v, dtype=float)[:, :, None] for v in (k, n, times))

    def above(a):  # against all rates being at least a; increases with a
        return np.sqrt((times * _score(k, n, a[:, None]) ** 2).sum(axis=1))

    def below(b):  # against all rates being at most b; decreases with b
        return np.sqrt((times * _score(n - k, n, 1 - b[:, None]) ** 2).sum(axis=1))

    targets = 1.02 * np.sqrt(critical)[:, None] * np.array([1e-3, 1.0])
    a = np.linspace(*_solve(above, targets).T, _GRID, axis=1)
    b = np.linspace(*(1 - _solve(lambda c: below(1 - c), targets)).T[::-1], _GRID, axis=1)
    return a, above(a), b, below(b)


def _solve(rising, targets):
    """Find where increasing functions on [0, 1], one for each row, reach the row's targets."""
    steps = np.linspace(0, 1, _STEPS)
    low, width = np.zeros((*targets.shape, 1)), 1.0
    for _ in range(_ROUNDS):
        p = np.minimum(low + width * steps, 1.0)
        under = rising(p.reshape(len(p), -1)).reshape(p.shape) < targets[..., None]
        last = np.maximum(np.count_nonzero(under, axis=-1) - 1, 0)[..., None]
        low, width = np.take_along_axis(p, last, axis=-1), width / (_STEPS - 1)
    return np.minimum(low[..., 0] + width, 1.0)


def _score(k, n, p):
    """Convert the mid-p value of k or fewer of n at rate p to a nonnegative normal score."""
    with np.errstate(all="ignore"):
        tail = np.where(k < n, betainc(np.maximum(n - k, 0.5), k + 1.0, 1 - p), 1.0)
        tail += np.where(k > 0, betainc(n - k + 1.0, np.maximum(k, 0.5), 1 - p), 0.0)
        tail /= 2
        deviance = xlogy(k, k / (n * p)) + xlogy(n - k, (n - k) / (n * (1 - p)))
    far = np.sqrt(2 * np.clip(np.nan_to_num(deviance, nan=0.0, posinf=1e300), 0.0, 1e300))
    return np.maximum(np.where(tail < _FAR, far, -ndtri(np.maximum(tail, _FAR))), 0.0)


def _evidence(measure, curve, widths):
    """Compute the smallest evidence of one stratum over all windows of each width."""
    a, above, b, below = (part[:, None] for part in curve)
    widths = widths[:, :, None]
    if measure is gap:
        starts, ends = b - widths, a + widths
    else:
        starts, ends = b * (1 - widths), a / np.maximum(1 - widths, 1e-300)
    lower = np.concatenate([np.broadcast_to(a, ends.shape), starts], axis=2)
    upper = np.concatenate([ends, np.broadcast_to(b, starts.shape)], axis=2)
    return (_at(lower, a, above) ** 2 + _at(upper, b, below) ** 2).min(axis=2)


def _at(p, grid, values):
    """Interpolate curves at p, and extend them beyond their grids.

    Beyond the end with the smaller value, the result is 0. Beyond the other end, it is twice the
    value at that end. Grids are equally spaced, and the last axis of each contains the points.
    """
    first, last = grid[..., :1], grid[..., -1:]
    place = (p - first) / np.maximum(last - first, 1e-300) * (_GRID - 1)
    inside = np.clip(place, 0, _GRID - 1)
    left = np.minimum(inside.astype(np.intp), _GRID - 2)
    values = np.broadcast_to(values, (*p.shape[:-1], _GRID))
    before, after = (np.take_along_axis(values, left + k, axis=-1) for k in (0, 1))
    found = before + (inside - left) * (after - before)
    rises = values[..., :1] < values[..., -1:]
    found = np.where(place < 0, np.where(rises, 0.0, 2 * values[..., :1]), found)
    return np.where(place > _GRID - 1, np.where(rises, 2 * values[..., -1:], 0.0), found)


def _shrunken(x, n):
    """Shrink rates toward the stratum's common rate, more strongly for smaller groups.

    Chance spreads the rates of equal groups, so the extremes of many rates are too far apart. The
    weight of each group's own rate is n / (n + M), where M is estimated from the excess of
    chi-square over its mean under equal rates (empirical Bayes). The rates of only two groups are
    not changed, because no pair has to be selected.
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
