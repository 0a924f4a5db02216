"""Confidence intervals by test inversion.

There is a family of distributions, one for each t >= 0. At t = 0 there is no dependence (or
unfairness), and the measure of dependence grows with t. A candidate t is kept unless the observed
value is among the extreme values of samples from its distribution, and the candidates that are
kept form the interval. This method does not assume normality, and it is valid at 0, where the
error of a nonnegative measure is one-sided. The candidate for which the observed value is the
median is a bias-corrected estimate.

The level alpha = 1 - confidence is split into a(t) for the lower tail and alpha - a(t) for the
upper tail. At t = 0 the upper tail gets all of alpha, so 0 is in the interval unless the one-sided
test at level alpha rejects. Above the test's critical value, both tails get alpha / 2.

By chance, a sample may look more independent than almost all samples of independent variables. For
the upper end, an observed value therefore counts as at least the quantile
`POWER_CONSTRAINT_QUANTILE` under independence (the "power-constrained limits" of particle
physics).

All functions treat many samples at once, which is needed to measure coverage; users have only one
sample.
"""

import numpy as np
from scipy.special import ndtri

# Number of candidates in a first, coarse search, and, in a second search, around each end and
# around the median.
_COARSE = 12
_FINE = 3
# Fraction of the random samples that the first search gets.
_FIRST = 0.3
# Quantile under independence below which an observed value is attributed to chance.
POWER_CONSTRAINT_QUANTILE = 0.16
# Values that differ by less than this are treated as ties.
_TIE = 1e-11


def invert(worlds, observed, *, least, low, high, critical, level, n_resamples):
    """Compute the measure at the lower end of the interval, at the median and at the upper end.

    Parameters
    ----------
    worlds : object with the methods `draw` and `value`
        Family of distributions for each of R samples, evaluated at K candidates t of each.
        ``draw(t, size)`` returns the measures of `size` random samples for each t,
        (R, K) -> (R, K, size), and ``value(t)`` the true measure, (R, K) -> (R, K), which
        increases with t.
    observed : ndarray of shape (R,)
        Measure of each sample.
    least : ndarray of shape (R,)
        Value that replaces a smaller observed value when the upper end is computed.
    low, high : ndarray of shape (R,)
        Search range of t.
    critical : ndarray of shape (R,)
        Value of the measure above which both tails get the same share of the level.
    level : float
        1 - the confidence level.
    n_resamples : int
        Total number of random samples for each observed value.

    Returns
    -------
    ndarray of shape (R, 3)
        Lower end, median and upper end, as values of the measure.
    """

    seen = np.stack([observed, observed, np.maximum(observed, least)])[:, :, None, None]

    def tails(t):
        """Return the target share of random values above the observed one, for ends and median."""
        below = level / 2 * np.minimum(1.0, worlds.value(t) / critical[:, None])
        return np.stack([level - below, np.full_like(below, 0.5), 1 - below])

    def score(t, size):
        """Return the normal quantile of the share of larger random values, minus the target's."""
        drawn = worlds.draw(t, size)
        above = (drawn > seen + _TIE).sum(axis=-1) + 0.5 * (np.abs(drawn - seen) <= _TIE).sum(-1)
        share = ndtri((above + 1 / 3) / (size + 2 / 3))
        # Clip, because an end with an empty tail corresponds to an infinite quantile.
        return share - np.clip(ndtri(tails(t)), -8.0, 8.0)

    size = max(int(_FIRST * n_resamples / _COARSE), 10)
    t = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _COARSE)
    coarse = score(t, size)
    step = (high - low) / (_COARSE - 1)
    size = max(int((1 - _FIRST) * n_resamples / (3 * _FINE)), 10)
    ends = []
    for target in range(3):
        near = _crossing(t, coarse[target])
        around = near[:, None] + step[:, None] * np.linspace(-0.6, 0.6, _FINE)
        around = np.clip(around, low[:, None], high[:, None])
        fine = score(around, size)[target]
        ends.append(_line_root(around, fine, near, 0.6 * step))
    ends = np.clip(np.stack(ends, axis=1), low[:, None], high[:, None])
    return worlds.value(ends)


def _crossing(t, h):
    """Return where the monotonized scores cross 0, or the nearest end of t if they do not."""
    up = np.maximum.accumulate(h, axis=1)
    down = np.minimum.accumulate(h[:, ::-1], axis=1)[:, ::-1]
    h = (up + down) / 2
    right = np.clip((h < 0).sum(axis=1), 1, h.shape[1] - 1)
    rows = np.arange(len(h))
    h_0, h_1 = h[rows, right - 1], h[rows, right]
    share = np.clip(np.divide(-h_0, h_1 - h_0, out=np.ones_like(h_0), where=h_1 > h_0), 0, 1)
    return t[rows, right - 1] + share * (t[rows, right] - t[rows, right - 1])


def _line_root(t, h, near, reach):
    """Return where the least-squares line through the scores crosses 0, near a first guess."""
    t_mean, h_mean = t.mean(axis=1), h.mean(axis=1)
    spread = ((t - t_mean[:, None]) ** 2).sum(axis=1)
    slope = ((t - t_mean[:, None]) * (h - h_mean[:, None])).sum(axis=1)
    rising = (slope > 0) & (spread > 0)
    root = t_mean - np.divide(h_mean * spread, slope, out=np.zeros_like(slope), where=rising)
    root = np.where(rising, root, near)
    return np.clip(root, near - reach, near + reach)
