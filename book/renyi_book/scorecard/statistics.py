"""Statistics of the scorecard, computed from one number per split or seed.

Splits of one data set overlap. Nadeau and Bengio's correction widens the interval of a mean over
J splits by ``ratio = n_test / n_train``, so that its standard error is s sqrt(1/J + ratio).
Benavoli's correlated Bayesian t-test has the same center, scale and degrees of freedom, so one
computation gives the interval and the probabilities of the three regions around the smallest
effect that matters.
"""

from bisect import bisect_left
from itertools import permutations
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

#: Number of bootstrap draws and their seed, which is fixed so that verdicts are reproducible.
DRAWS = 2000
SEED = 20261116


class Mean(NamedTuple):
    """Mean with its interval, standard error and degrees of freedom."""

    estimate: float
    low: float
    high: float
    se: float
    df: int
    n: int


def corrected(values, ratio=0.0, *, level=0.95):
    """Compute the mean of paired differences, with Nadeau and Bengio's interval.

    Parameters
    ----------
    values : array-like of shape (J,)
        Two or more finite values, one for each split or seed.
    ratio : float, default=0
        n_test / n_train of the splits; 0 for independent seeds (Student's interval).
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    Mean
        Mean with its interval.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003),
    239-281, doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import corrected
    >>> found = corrected([1.0, 2.0, 3.0], ratio=0.5)
    >>> round(found.estimate, 2), round(found.low, 2), round(found.high, 2)
    (2.0, -1.93, 5.93)
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(f"values must be two or more finite numbers, not {values!r}")
    if ratio < 0:
        raise ValueError(f"ratio must be 0 or more, not {ratio!r}")
    n = len(values)
    se = float(values.std(ddof=1) * np.sqrt(1 / n + ratio))
    half = float(student.ppf((1 + level) / 2, n - 1)) * se
    mean = float(values.mean())
    return Mean(mean, mean - half, mean + half, se, n - 1, n)


def training_ratio(n_train, n_total):
    """Compute the ratio for measurements on *training* rows by our own heuristic, not Nadeau's.

    Two training sets share n_train / n_total of their rows. If rho is the correlation of two
    results, the variance of the mean is estimated by s^2 (1/J + rho / (1 - rho)). With that share
    as rho, the ratio is n_train / (n_total - n_train). The tests simulate the coverage.

    Parameters
    ----------
    n_train, n_total : int
        Numbers of training rows and of all rows.

    Returns
    -------
    float
        Ratio for `corrected`.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import training_ratio
    >>> training_ratio(80, 100)
    4.0
    """
    if not 0 < n_train < n_total:
        raise ValueError(f"n_train must be above 0 and below n_total = {n_total}, not {n_train!r}")
    return n_train / (n_total - n_train)


def p_greater(mean, threshold):
    """Compute the one-sided p-value against "the mean is at most `threshold`"."""
    return _tail(mean.estimate - threshold, mean)


def p_less(mean, threshold):
    """Compute the one-sided p-value against "the mean is at least `threshold`"."""
    return _tail(threshold - mean.estimate, mean)


def _tail(distance, mean):
    if mean.se == 0:
        return 0.0 if distance > 0 else 1.0
    return float(student.sf(distance / mean.se, mean.df))


def tost(mean, delta):
    """Compute the p-value of two one-sided tests against "the mean is not within delta of 0".

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import corrected, tost
    >>> tost(corrected([0.01, -0.01, 0.0, 0.005]), 0.02) < 0.05
    True
    """
    return max(p_greater(mean, -delta), p_less(mean, delta))


def p_outside(mean, delta):
    """Compute the p-value against "the mean is within delta of 0", for the nearer side."""
    return min(p_greater(mean, delta), p_less(mean, -delta))


def regions(mean, delta):
    """Compute the posterior probabilities that the effect is below, within and above ±delta.

    In Benavoli's correlated Bayesian t-test, the posterior is Student's distribution around the
    mean with the corrected standard error.

    Parameters
    ----------
    mean : Mean
        Mean with its standard error.
    delta : float
        Smallest effect that matters.

    Returns
    -------
    tuple of float
        P(effect < -delta), P(-delta <= effect <= delta), P(effect > delta).

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import corrected, regions
    >>> [round(p, 2) for p in regions(corrected([-1.0, 0.0, 1.0]), 2.0)]
    [0.04, 0.93, 0.04]
    """
    # The posterior mass below a threshold is the p-value against "at most that threshold".
    left, right = p_greater(mean, -delta), p_less(mean, delta)
    return left, max(0.0, 1 - left - right), right


# --- Folded measures -------------------------------------------------------------------------


def log_ratio(rate_1, n_1, rate_0, n_0):
    """Compute the signed log ratio of two groups' rates, each as (x + 1/2) / (n + 1/2).

    x is the number of positive decisions among n people. Apart from the halves, p% is
    exp(-|log ratio|). Because p% cannot exceed 1, its mean over splits is biased if the true value
    is near 1, whereas the signed log ratio has no such bound.

    Parameters
    ----------
    rate_1, rate_0 : float or array-like
        Shares of positive decisions.
    n_1, n_0 : float or array-like
        Sizes of the groups.

    Returns
    -------
    float or ndarray
        Signed log ratio.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import log_ratio
    >>> float(log_ratio(0.5, 100, 0.5, 100))
    0.0
    """
    rates, sizes = (rate_1, rate_0), (n_1, n_0)
    first, second = (
        np.log((np.asarray(rate) * n + 0.5) / (np.asarray(n) + 0.5))
        for rate, n in zip(rates, sizes)
    )
    return first - second


def to_p_rule(estimate, low, high):
    """Convert a signed log ratio and its interval to p%; the upper end is 1 if 0 is covered.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import to_p_rule
    >>> [round(p, 3) for p in to_p_rule(0.1, -0.1, 0.3)]
    [0.905, 0.741, 1.0]
    """
    worst = float(np.exp(-max(abs(low), abs(high))))
    best = 1.0 if low <= 0 <= high else float(np.exp(-min(abs(low), abs(high))))
    return float(np.exp(-abs(estimate))), worst, best


def signed(values):
    """Return values and their negatives as two columns, whose maximum is the absolute value."""
    values = np.asarray(values, dtype=float)
    return np.stack([values, -values], axis=-1)


def gaps(rates):
    """Return all differences of two groups' rates as columns, whose maximum is the violation."""
    rates = np.asarray(rates, dtype=float)
    first, second = zip(*permutations(range(rates.shape[-1]), 2))
    return rates[..., list(first)] - rates[..., list(second)]


def sums(first, second):
    """Add each column of `first` to each of `second`; the largest sum is the sum of the maxima."""
    return (first[..., :, None] + second[..., None, :]).reshape(*first.shape[:-1], -1)


class Fold(NamedTuple):
    """Difference of two violations, with its interval.

    ``means`` and ``errors`` are the plain differences of `fold` and their standard errors.
    """

    estimate: float
    low: float
    high: float
    means: np.ndarray
    errors: np.ndarray
    n: int

    def p_greater(self, threshold):
        """Compute the one-sided p-value against "the difference is at most `threshold`"."""
        p = _tails(self.means - threshold, self.errors, self.n - 1)
        return min(1.0, _below(len(self.means)) * float(p.max(axis=1).min()))

    def p_less(self, threshold):
        """Compute the one-sided p-value against "the difference is at least `threshold`"."""
        p = _tails(threshold - self.means, self.errors, self.n - 1)
        return min(1.0, _above(self.means.shape[1]) * float(p.min(axis=1).max()))


def _below(columns):
    """Return the divisor of the lower end's error probability, given the columns of `first`."""
    return columns / 2


def _above(columns):
    """Return the divisor of the upper end's error probability, given the columns of `second`."""
    return columns


def _tails(distance, errors, df):
    with np.errstate(divide="ignore", invalid="ignore"):
        p = student.sf(distance / errors, df)
    return np.where(errors > 0, p, np.where(distance > 0, 0.0, 1.0))


def fold(first, second, ratio=0.0, *, level=0.95):
    """Compute the largest column mean of `first` minus that of `second`, with an interval.

    A violation is the absolute value of a mean, or the largest of several differences of means. If
    it is near 0, the mean that is largest changes from sample to sample, and an interval around
    the mean that happens to be largest has too little coverage. However, the maximum of A minus
    the maximum of B is the maximum over A of the minimum over B of plain differences. Each plain
    difference has an interval, and applying the same maximum of minima to the ends of these
    intervals gives an interval for the difference of the maxima, which is a continuous function of
    the data. The error probabilities of the plain intervals are divided by the number of
    differences that may be extreme (half of it for the lower end, because columns come in pairs of
    opposite sign). The tests simulate the coverage.

    Parameters
    ----------
    first, second : ndarray of shape (J, k)
        Values with a row for each split, from `signed`, `gaps` or `sums`.
    ratio : float, default=0
        Correction for overlapping splits, as in `corrected`.
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    Fold
        Difference with its interval.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import fold, signed
    >>> round(fold(signed([-0.3, -0.1]), signed([0.1, -0.05])).estimate, 3)
    0.175
    """
    n = len(first)
    means = first.mean(axis=0)[:, None] - second.mean(axis=0)
    away = [values - values.mean(axis=0) for values in (first, second)]
    squares = [(values**2).sum(axis=0) for values in away]
    variances = (squares[0][:, None] + squares[1] - 2 * away[0].T @ away[1]) / (n - 1)
    errors = np.sqrt(np.maximum(variances, 0) * (1 / n + ratio))
    alpha = (1 - level) / 2
    below, above = (
        student.ppf(1 - alpha / _below(first.shape[1]), n - 1),
        student.ppf(1 - alpha / _above(second.shape[1]), n - 1),
    )
    low = (means - below * errors).min(axis=1).max()
    high = (means + above * errors).min(axis=1).max()
    return Fold(float(means.min(axis=1).max()), float(low), float(high), means, errors, n)


def fold_regions(first, second, delta, ratio=0.0, *, draws=4000, seed=SEED):
    """Compute `regions` for `fold`, by sampling the means from their joint posterior.

    The means have a multivariate t distribution with the corrected covariance.
    """
    both = np.concatenate([first, second], axis=1)
    n, k = len(first), first.shape[1]
    away = (both - both.mean(axis=0)) * np.sqrt((1 / n + ratio) / (n - 1))
    rng = np.random.default_rng(seed)
    heavy = np.sqrt((n - 1) / rng.chisquare(n - 1, size=(draws, 1)))
    # A normal vector with the covariance away.T @ away.
    drawn = both.mean(axis=0) + heavy * (rng.normal(size=(draws, n)) @ away)
    ahead = drawn[:, :k].max(axis=1) - drawn[:, k:].max(axis=1)
    return tuple(
        float(share.mean()) for share in (ahead < -delta, np.abs(ahead) <= delta, ahead > delta)
    )


def bootstrapped_groups(rates, sizes, statistic, *, level=0.95, draws=DRAWS, seed=SEED):
    """Bootstrap a statistic of several groups' rates on a fixed set of rows.

    It is used for the paper's single split, where the people of each group are a sample and the
    smallest ratio or the largest difference over groups has no simple interval.

    Parameters
    ----------
    rates, sizes : array-like of shape (groups,)
        Rate and size of each group.
    statistic : callable
        Function from rates (..., groups) to numbers (...); see `smallest_ratio`.
    level : float, default=0.95
        Confidence level.
    draws, seed : int
        Number of bootstrap samples, and their seed.

    Returns
    -------
    Mean
        Statistic with its interval.
    """
    rates, sizes = np.asarray(rates, dtype=float), np.asarray(sizes).round().astype(int)
    drawn = statistic(
        np.random.default_rng(seed).binomial(sizes, rates, (draws, len(rates))) / sizes
    )
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    n = int(sizes.sum())
    return Mean(float(statistic(rates)), float(low), float(high), float(drawn.std()), n - 1, n)


def smallest_ratio(rates):
    """Compute p% of any number of groups, the smallest rate over the largest (1 if all are 0)."""
    largest = rates.max(axis=-1)
    ratio = rates.min(axis=-1) / np.where(largest > 0, largest, 1)
    return np.where(largest > 0, ratio, 1.0)


def largest_difference(rates):
    """Compute the DP violation of any number of groups."""
    return rates.max(axis=-1) - rates.min(axis=-1)


# --- Many rows -------------------------------------------------------------------------------


def holm(p_values):
    """Compute Holm's adjusted p-values, to be compared with alpha.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import holm
    >>> [round(float(p), 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = steps
    return adjusted


def benjamini_yekutieli(p_values):
    """Compute adjusted p-values that control the false discovery rate under any dependence.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import benjamini_yekutieli
    >>> [round(float(p), 3) for p in benjamini_yekutieli([0.01, 0.02])]
    [0.03, 0.03]
    """
    p = np.asarray(p_values, dtype=float)
    n = len(p)
    order = np.argsort(p, kind="stable")
    factors = n * (1 / np.arange(1, n + 1)).sum() / np.arange(1, n + 1)
    steps = np.minimum.accumulate((p[order] * factors)[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1, steps)
    return adjusted


# --- Power -----------------------------------------------------------------------------------


def splits_needed(sd, ratio, length, *, level=0.95, most=10_000):
    """Return the fewest splits for an interval as short as `length`; None if more than `most`.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import splits_needed
    >>> splits_needed(1.0, 0.0, 1.0), splits_needed(1.0, 0.5, 1.0)
    (18, None)
    """

    def too_long(n):
        half = student.ppf((1 + level) / 2, n - 1) * sd * np.sqrt(1 / n + ratio)
        return 2 * half > length

    if too_long(most):
        return None
    # The length decreases with n, so the first sufficient number is found by bisection.
    return bisect_left(range(2, most), True, key=lambda n: not too_long(n)) + 2


def shortest(sd, ratio, *, level=0.95):
    """Return the length that the corrected interval approaches as the number of splits grows.

    Examples
    --------
    >>> from renyi_book.scorecard.statistics import shortest
    >>> round(shortest(1.0, 0.5), 2)
    2.77
    """
    return float(2 * norm.ppf((1 + level) / 2) * sd * np.sqrt(ratio))
