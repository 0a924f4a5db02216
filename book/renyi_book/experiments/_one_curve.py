"""Intervals by inversion along a single curve of candidates; they fail if a group is small.

This is the simplest way to invert a test. It moves the groups' rates (or the table) along one
line, from independence through the observed values and beyond, and keeps the candidates that the
sample does not reject. It works if all groups are large. The calibration appendix compares it with
the library's intervals.
"""

import numpy as np

from renyi_lib._chance import rho_of_tables
from renyi_lib._inversion import POWER_CONSTRAINT_QUANTILE, invert
from renyi_lib._rates import gap, one_minus_ratio
from renyi_lib._wishart import largest_root_sf
from renyi_lib._worlds import JointTables, along

# Half the width of the search range around the observed value, in standard errors.
_REACH = 4.5


def curve_renyi_intervals(tables, *, level, n_resamples, rng):
    """Compute intervals of rho_R along one curve.

    The columns are those of `renyi_lib._worlds.renyi_intervals`, without the p-value.
    """
    rho, (m, k) = rho_of_tables(tables), np.subtract(tables.shape[1:], 1)
    low, middle, high = along(_Tables(tables, rng), level, n_resamples).T
    high = np.where(rho > 1 - 1e-12, 1.0, high)
    by_chance = largest_root_sf(tables.sum(axis=(1, 2)) * rho**2, m, k)
    return _with_zero(low, middle, high, rho, by_chance, level)


class _Tables(JointTables):
    """Tables whose remaining singular values never exceed the sample's."""

    def others(self, t, left):
        s = self.s[:, None, 1:]
        squares = np.maximum((s**2).sum(axis=-1, keepdims=True), 1e-300)
        return np.minimum(np.minimum(np.sqrt(left / squares), 1.0) * s, t)


def _with_zero(low, estimate, high, observed, by_chance, level):
    """Set the lower end to 0 if the p-value is at least `level`, the estimate if at least 1/2."""
    low = np.where(by_chance >= level, 0.0, low)
    estimate = np.where(by_chance >= 0.5, 0.0, np.clip(estimate, low, high))
    return np.column_stack([estimate, observed, low, high])


def curve_rate_intervals(measure, positive, size, *, level, n_resamples, rng):
    """Compute intervals of a measure of the groups' rates along one curve.

    The columns are those of `renyi_lib._rates.rate_intervals`, without the p-value.
    """
    worlds = _Rates(measure, positive, size, rng)
    fair = worlds.draw(np.zeros((len(size), 1)), n_resamples)[:, 0]
    least = np.quantile(fair, POWER_CONSTRAINT_QUANTILE, axis=1)
    low, high, critical = worlds.search_bounds(least)
    bounds = {"least": least, "low": low, "high": high, "critical": critical}
    ends = invert(worlds, worlds.observed, **bounds, level=level, n_resamples=n_resamples)
    as_large = (fair >= worlds.observed[:, None] - 1e-11).sum(axis=1)
    by_chance = (1 + as_large) / (1 + n_resamples)
    top = ends[:, 2]
    if measure is one_minus_ratio:  # if no decision is positive, the ratio is arbitrary
        top = np.where(positive.any(axis=(1, 2)), top, 1.0)
    return _with_zero(ends[:, 0], ends[:, 1], top, worlds.observed, by_chance, level)


class _Rates:
    """Rates that move from the strata's common rates toward the observed ones, and beyond."""

    def __init__(self, measure, positive, size, rng):
        self.measure, self.size, self.rng = measure, size, rng
        rates = positive / size
        self.common = positive.sum(axis=-1, keepdims=True) / size.sum(axis=-1, keepdims=True)
        self.observed = measure(rates)
        # Equal rates have no direction, so the smallest group moves (the first, for equal sizes).
        smallest = size == size.min(axis=-1, keepdims=True)
        direction = smallest - np.where(smallest.all(axis=-1, keepdims=True), 0.5, 0.0)
        direction[..., 0] += np.where(smallest.all(axis=-1), 1.0, 0.0)
        none = (self.observed == 0)[:, None, None]
        self.offset = np.where(none, direction, self._shrunken(rates - self.common))
        self.unit = gap(self.offset)[:, None]

    def _shrunken(self, offset):
        """Shrink all offsets except the two that determine the measure.

        Chance spreads the rates of equal groups. Without shrinkage, the groups between the
        extremes would too often become the extremes of a random sample.
        """
        variance = np.maximum(self.common * (1 - self.common), 1e-300)
        chi_square = (self.size * offset**2 / variance).sum(axis=-1, keepdims=True)
        excess = 1 - (offset.shape[-1] - 1) / np.maximum(chi_square, 1e-300)
        widths = np.ptp(offset, axis=-1, keepdims=True)
        ends = (offset == offset.max(axis=-1, keepdims=True)) | (
            offset == offset.min(axis=-1, keepdims=True)
        )
        decisive = ends & (widths == widths.max(axis=1, keepdims=True))
        return np.where(decisive, offset, offset * np.sqrt(np.maximum(excess, 0.0)))

    def rates(self, t):
        """Return the rates of the candidates t, (R, K) -> (R, K, S, G)."""
        offset, common = self.offset[:, None], self.common[:, None]
        if self.measure is gap:
            rates = common + (t / self.unit)[:, :, None, None] * offset
            over = np.maximum(rates.max(axis=-1, keepdims=True) - 1, 0.0)
            under = np.maximum(-rates.min(axis=-1, keepdims=True), 0.0)
            rates = rates - over + under
        else:
            # Solve (common + f * lowest) / (common + f * highest) = 1 - t for f.
            low, high = offset.min(axis=-1), offset.max(axis=-1)
            scale = (1 - t)[:, :, None] * high - low
            factor = common[..., 0] * t[:, :, None] / np.maximum(scale, 1e-300)
            rates = common + factor[..., None] * offset
            rates = rates / np.maximum(rates.max(axis=-1, keepdims=True), 1.0)
        return np.clip(rates, 0.0, 1.0)

    def value(self, t):
        return self.measure(self.rates(t))

    def draw(self, t, size):
        rates = self.rates(t)[:, :, None]
        n = self.size[:, None, None]
        shape = (*t.shape, size, *rates.shape[3:])
        return self.measure(self.rng.binomial(n, rates, size=shape) / n)

    def search_bounds(self, luck):
        """Return the search range, and the value above which both tails get half the level.

        The observed value counts as at least `luck` for the upper end of the range.
        """
        common = (self.common * self.size.sum(axis=-1, keepdims=True) + 0.5) / (
            self.size.sum(axis=-1, keepdims=True) + 1
        )
        variance = common * (1 - common) / self.size
        # Standard error of the difference of the two least precisely known rates.
        error = np.sqrt(np.sort(variance, axis=-1)[..., -2:].sum(axis=-1)).max(axis=-1)
        least = 3 / self.size.min(axis=(1, 2))
        if self.measure is gap:
            low = self.observed - _REACH * error - least
            high = np.maximum(self.observed, luck) + _REACH * error + least
        else:
            error = error / common[:, 0, 0]
            # The error of a ratio grows with the ratio, and the relative error of a rare rate has
            # no bound.
            low = 1 - (1 - self.observed + least) * np.exp(2 * _REACH * error)
            high = np.maximum(self.observed, luck) + _REACH * error + least
        critical = 2.5 * error
        return np.maximum(low, 0.0), np.minimum(high, 1.0), np.minimum(critical, 1.0)
