"""Confidence intervals by asking which truths could have shown what was seen.

A family of worlds, one for each t >= 0: t = 0 is the world without any dependence (or
unfairness), and the measure grows with t. A candidate t is kept unless the observed value is among
the extreme values of samples drawn from its world. What is kept is the interval. It needs no
distribution to be normal, it holds at 0, where a measure that cannot be negative errs to one side
only, and the median of the samples tells the bias.

Of level alpha = 1 - confidence, the share a(t) lies in the lower tail and alpha - a(t) in the
upper. At t = 0 all of it is in the upper tail: so 0 is in the interval unless the one-sided test
at level alpha rejects. From the test's critical value on, both tails have alpha / 2.

A sample may look more independent than almost all independent samples do, which is luck and no
knowledge. For the upper end an observed value therefore counts as at least the quantile
`POWER_CONSTRAINT_QUANTILE` of chance (the "power-constrained limits" of particle physics).

All is done for many samples at once, as the measurement of coverage needs; a user has one.
"""

import numpy as np
from scipy.special import ndtri

# Candidates of a first, coarse look; then so many around each of the three ends.
_COARSE = 12
_FINE = 3
# The share of the draws that the first look gets.
_FIRST = 0.3
# Share of the independent samples whose dependence is no more than chance.
POWER_CONSTRAINT_QUANTILE = 0.16
# Values that differ by less are ties.
_TIE = 1e-11


def invert(worlds, observed, *, least, low, high, critical, level, n_resamples):
    """The candidates t at the lower end, at the median, and at the upper end.

    Parameters
    ----------
    worlds : object with the methods `draw` and `value`
        ``draw(t, size)`` gives the measures of `size` samples from each world, (R, K) -> (R, K,
        size); ``value(t)`` the measure of the worlds themselves, (R, K) -> (R, K), increasing.
    observed : ndarray of shape (R,)
        The measure of each sample.
    least : ndarray of shape (R,)
        What the measure counts as at least, for the upper end.
    low, high : ndarray of shape (R,)
        The range that is searched.
    critical : ndarray of shape (R,)
        The value from which on both tails get the same share.
    level : float
        1 - the confidence level.
    n_resamples : int
        Samples in all, for each observed value.

    Returns
    -------
    ndarray of shape (R, 3)
        Values of the measure.
    """

    seen = np.stack([observed, observed, np.maximum(observed, least)])[:, :, None, None]

    def tails(t):
        """What each end asks the share of values above the observed one to be."""
        below = level / 2 * np.minimum(1.0, worlds.value(t) / critical[:, None])
        return np.stack([level - below, np.full_like(below, 0.5), 1 - below])

    def score(t, size):
        """The share of values above, minus each target, both as normal quantiles."""
        drawn = worlds.draw(t, size)
        above = (drawn > seen + _TIE).sum(axis=-1) + 0.5 * (np.abs(drawn - seen) <= _TIE).sum(-1)
        share = ndtri((above + 1 / 3) / (size + 2 / 3))
        # A cap, as an end where one tail is empty asks for a quantile at infinity.
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
    """Where the scores, made monotone, cross 0; the nearest end of t if they do not."""
    up = np.maximum.accumulate(h, axis=1)
    down = np.minimum.accumulate(h[:, ::-1], axis=1)[:, ::-1]
    h = (up + down) / 2
    right = np.clip((h < 0).sum(axis=1), 1, h.shape[1] - 1)
    rows = np.arange(len(h))
    h_0, h_1 = h[rows, right - 1], h[rows, right]
    share = np.clip(np.divide(-h_0, h_1 - h_0, out=np.ones_like(h_0), where=h_1 > h_0), 0, 1)
    return t[rows, right - 1] + share * (t[rows, right] - t[rows, right - 1])


def _line_root(t, h, near, reach):
    """The root of the least-squares line through the scores, within reach of a first guess."""
    t_mean, h_mean = t.mean(axis=1), h.mean(axis=1)
    spread = ((t - t_mean[:, None]) ** 2).sum(axis=1)
    slope = ((t - t_mean[:, None]) * (h - h_mean[:, None])).sum(axis=1)
    rising = (slope > 0) & (spread > 0)
    root = t_mean - np.divide(h_mean * spread, slope, out=np.zeros_like(slope), where=rising)
    root = np.where(rising, root, near)
    return np.clip(root, near - reach, near + reach)
