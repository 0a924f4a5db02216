"""Families of worlds for `renyi_lib._inversion`: joint tables by rho_R, groups' rates by fairness.

All functions take many samples at once, along the first axis.
"""

import numpy as np

from renyi_lib._inversion import LUCK, invert
from renyi_lib._wishart import largest_root_isf, largest_root_sf

# Where to look: so many standard errors and critical values around the observed value.
_REACH = 4.5
# No standard error of sqrt(n) rho is taken to be below this, as it is 0 where rho is 1.
_LEAST_SPREAD = 0.3


def rho_of_tables(tables):
    """The Rényi correlations of tables (the last two axes) of counts or probabilities.

    Rows and columns may be empty: random tables of few samples often have such.

    Examples
    --------
    >>> rho_of_tables(np.array([[[40, 10], [10, 40]], [[5, 5], [0, 0]]])).round(12)
    array([0.6, 0. ])
    """
    tables = np.asarray(tables)
    # In place from here on: there may be millions of tables.
    R = tables / tables.sum(axis=(-2, -1), keepdims=True)
    expected = R.sum(axis=-1, keepdims=True) * R.sum(axis=-2, keepdims=True)
    R -= expected
    # Both are 0 in an empty row or column.
    expected[expected <= 0] = 1.0
    R /= np.sqrt(expected, out=expected)
    if min(R.shape[-2:]) == 2:  # one singular value, hence the root of the sum of squares
        square = np.einsum("...ij,...ij->...", R, R)
    else:
        R = R if R.shape[-2] <= R.shape[-1] else np.swapaxes(R, -1, -2)
        square = np.linalg.eigvalsh(R @ np.swapaxes(R, -1, -2))[..., -1]
    return np.sqrt(np.clip(square, 0.0, 1.0))


def renyi_intervals(tables, *, level, n_resamples, rng):
    """Estimate, plug-in value and ends of the interval of rho_R, a row for each table.

    Parameters
    ----------
    tables : ndarray of shape (R, c, d)
        Counts; no row or column of a table is empty.
    level : float
        1 - the confidence level.
    n_resamples : int
    rng : Generator

    Returns
    -------
    ndarray of shape (R, 4)
    """
    worlds = _JointTables(tables, rng)
    m, k = worlds.dimensions
    error = np.maximum(worlds.spread, _LEAST_SPREAD) / np.sqrt(worlds.n)
    critical = np.minimum(np.sqrt(largest_root_isf(level, m, k) / worlds.n), 1.0)
    low = np.maximum(worlds.rho - _REACH * error - 1.2 * critical, 0.0)
    least = np.minimum(np.sqrt(largest_root_isf(1 - LUCK, m, k) / worlds.n), 1.0)
    high = np.minimum(np.maximum(worlds.rho, least) + _REACH * error + 3 / worlds.n, 1.0)
    ends = invert(
        worlds.rho,
        least,
        worlds.draw,
        worlds.value,
        low,
        high,
        critical,
        level=level,
        n_resamples=n_resamples,
    )
    top = np.where(worlds.rho > 1 - 1e-12, 1.0, ends[:, 2])
    by_chance = largest_root_sf(worlds.n * worlds.rho**2, m, k)
    return _with_zero(ends[:, 0], ends[:, 1], top, worlds.rho, by_chance, level)


def _with_zero(low, estimate, high, observed, by_chance, level):
    """The lower end is 0 unless a test rejects 0, the estimate if chance gives more by half."""
    low = np.where(by_chance >= level, 0.0, low)
    estimate = np.where(by_chance >= 0.5, 0.0, np.clip(estimate, low, high))
    return np.column_stack([estimate, observed, low, high])


def reflected_intervals(tables, *, level, n_resamples, rng):
    """The bootstrap's interval of rho_R, reflected; it starts at 0 unless the test rejects.

    Parameters and result as in `renyi_intervals`.
    """
    n = tables.sum(axis=(1, 2))
    m, k = np.subtract(tables.shape[1:], 1)
    cells = (tables / n[:, None, None]).reshape(len(tables), 1, -1)
    drawn = rng.multinomial(n[:, None], cells, size=(len(tables), n_resamples))
    drawn = rho_of_tables(drawn.reshape(len(tables), n_resamples, *tables.shape[1:]))
    rho = rho_of_tables(tables)
    low, high = np.clip(2 * rho - np.quantile(drawn, [1 - level / 2, level / 2], axis=1), 0, 1)
    low[largest_root_sf(n * rho**2, m, k) >= level] = 0.0
    estimate = np.clip(2 * rho - drawn.mean(axis=1), low, high)
    return np.column_stack([estimate, rho, low, high])


class _JointTables:
    """Tables with the margins and the singular vectors of a sample, and any rho_R."""

    def __init__(self, tables, rng):
        self.n = tables.sum(axis=(1, 2))
        self.rng = rng
        P = tables / self.n[:, None, None]
        p, q = P.sum(axis=2), P.sum(axis=1)
        self.independent = p[:, :, None] * q[:, None]
        self.root = np.sqrt(self.independent)
        R = (P - self.independent) / self.root
        # Singular vectors within the complements of sqrt(p) and sqrt(q), also of the value 0.
        rows, columns = _complement(np.sqrt(p)), _complement(np.sqrt(q))
        U, s, Vt = np.linalg.svd(rows.transpose(0, 2, 1) @ R @ columns, full_matrices=False)
        U, Vt = rows @ U, Vt @ columns.transpose(0, 2, 1)
        small, large = sorted(P.shape[1:])
        self.dimensions = m, k = small - 1, large - 1
        self.U, self.s, self.Vt = U, s, Vt
        self.rho = np.minimum(s[:, 0], 1.0)
        # Cells that speak against the dependence; empty, they leave two blocks, and rho_R = 1.
        product = U[:, :, :1] * Vt[:, :1]
        self.against = product < 0
        # The influence of a sample on rho is f g - rho (f^2 + g^2) / 2.
        f, g = U[:, :, 0] / np.sqrt(p), Vt[:, 0] / np.sqrt(q)
        squares = f[:, :, None] ** 2 + g[:, None] ** 2
        influence = f[:, :, None] * g[:, None] - self.rho[:, None, None] * squares / 2
        self.spread = np.sqrt((P * influence**2).sum(axis=(1, 2)))
        # Sum of squares of all singular values, without what chance adds on average.
        self.energy = np.maximum((s**2).sum(axis=1) - m * k / self.n, 0.0)
        self.others = np.maximum((s[:, 1:] ** 2).sum(axis=1), 1e-300)

    def tables(self, t):
        """The tables of the worlds t, (R, K) -> (R, K, c, d)."""
        left = np.maximum(self.energy[:, None] - t**2, 0.0) / self.others[:, None]
        factor = np.minimum(np.sqrt(left), 1.0)[:, :, None]
        others = np.minimum(factor * self.s[:, None, 1:], t[:, :, None])
        s = np.concatenate([t[:, :, None], others], axis=2)
        R = (self.U[:, None] * s[:, :, None]) @ self.Vt[:, None]
        P = np.maximum(self.independent[:, None] + self.root[:, None] * R, 0.0)
        room = np.maximum(1 - self.rho, 1e-12)[:, None]
        emptied = np.clip((t - self.rho[:, None]) / room, 0.0, 1.0) ** 2
        P *= 1 - emptied[:, :, None, None] * self.against[:, None]
        return P / P.sum(axis=(2, 3), keepdims=True)

    def value(self, t):
        return rho_of_tables(self.tables(t))

    def draw(self, t, size):
        P = self.tables(t)
        cells = P.reshape(*t.shape, 1, -1)
        n = self.n[:, None, None]
        counts = self.rng.multinomial(n, cells, size=(*t.shape, size))
        return rho_of_tables(counts.reshape(*t.shape, size, *P.shape[2:]))


def _complement(x):
    """An orthonormal basis of the complement of each positive unit vector, as columns.

    The Householder reflection that takes the vector to the first axis, without that axis.
    """
    identity = np.eye(x.shape[1])
    mirror = x + identity[0]
    outer = mirror[:, :, None] * mirror[:, None] / mirror[:, :1, None]
    return (identity - outer)[:, :, 1:]


def gap(rates):
    """The largest difference of two groups' rates, over the strata: (..., S, G) -> (...)."""
    return np.ptp(rates, axis=-1).max(axis=-1)


def one_minus_ratio(rates):
    """1 - the smallest ratio of two groups' rates; 0 if all are 0. (..., 1, G) -> (...)."""
    low, high = rates.min(axis=-1)[..., 0], rates.max(axis=-1)[..., 0]
    return np.where(high > 0, 1 - low / np.where(high > 0, high, 1.0), 0.0)


def rate_intervals(measure, positive, size, *, level, n_resamples, rng):
    """Estimate, plug-in value and ends for a measure of the groups' rates, where 0 is fair.

    Parameters
    ----------
    measure : {gap, one_minus_ratio}
    positive, size : ndarray of shape (R, S, G)
        Positive decisions, and all, in each stratum of the truth and each group.
    level, n_resamples, rng
        As in `renyi_intervals`.

    Returns
    -------
    ndarray of shape (R, 4)
    """
    worlds = _Rates(measure, positive, size, rng)
    fair = worlds.draw(np.zeros((len(size), 1)), n_resamples)[:, 0]
    least = np.quantile(fair, LUCK, axis=1)
    low, high, critical = worlds.where_to_look(least)
    ends = invert(
        worlds.observed,
        least,
        worlds.draw,
        worlds.value,
        low,
        high,
        critical,
        level=level,
        n_resamples=n_resamples,
    )
    as_large = (fair >= worlds.observed[:, None] - 1e-11).sum(axis=1)
    by_chance = (1 + as_large) / (1 + n_resamples)
    top = ends[:, 2]
    if measure is one_minus_ratio:  # where no decision is positive, any ratio will do
        top = np.where(positive.any(axis=(1, 2)), top, 1.0)
    return _with_zero(ends[:, 0], ends[:, 1], top, worlds.observed, by_chance, level)


class _Rates:
    """Rates that move from the strata's common ones towards those observed, and beyond."""

    def __init__(self, measure, positive, size, rng):
        self.measure, self.size, self.rng = measure, size, rng
        rates = positive / size
        self.common = positive.sum(axis=-1, keepdims=True) / size.sum(axis=-1, keepdims=True)
        self.observed = measure(rates)
        # Without any difference there is no direction: then the smallest group moves.
        smallest = size == size.min(axis=-1, keepdims=True)
        direction = smallest - np.where(smallest.all(axis=-1, keepdims=True), 0.5, 0.0)
        direction[..., 0] += np.where(smallest.all(axis=-1), 1.0, 0.0)
        none = (self.observed == 0)[:, None, None]
        self.offset = np.where(none, direction, self._shrunken(rates - self.common))
        self.unit = gap(self.offset)[:, None]

    def _shrunken(self, offset):
        """The offsets, less what chance adds to all but the two that make the measure.

        Chance spreads the rates of groups that are alike. Left so, the groups between the
        extremes would too often become the extremes of a drawn sample.
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
        """The rates of the worlds t, (R, K) -> (R, K, S, G)."""
        offset, common = self.offset[:, None], self.common[:, None]
        if self.measure is gap:
            rates = common + (t / self.unit)[:, :, None, None] * offset
            over = np.maximum(rates.max(axis=-1, keepdims=True) - 1, 0.0)
            under = np.maximum(-rates.min(axis=-1, keepdims=True), 0.0)
            rates = rates - over + under
        else:
            # (common + f * lowest) / (common + f * highest) = 1 - t, solved for f
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

    def where_to_look(self, luck):
        """Smallest and largest candidate, and where both tails become equal."""
        common = (self.common * self.size.sum(axis=-1, keepdims=True) + 0.5) / (
            self.size.sum(axis=-1, keepdims=True) + 1
        )
        variance = common * (1 - common) / self.size
        # Of the difference of the two groups that are known worst.
        error = np.sqrt(np.sort(variance, axis=-1)[..., -2:].sum(axis=-1)).max(axis=-1)
        least = 3 / self.size.min(axis=(1, 2))
        if self.measure is gap:
            low = self.observed - _REACH * error - least
            high = np.maximum(self.observed, luck) + _REACH * error + least
        else:
            error = error / common[:, 0, 0]
            # The error of a ratio grows with it, and that of the rarer rate without bound.
            low = 1 - (1 - self.observed + least) * np.exp(2 * _REACH * error)
            high = np.maximum(self.observed, luck) + _REACH * error + least
        critical = 2.5 * error
        return np.maximum(low, 0.0), np.minimum(high, 1.0), np.minimum(critical, 1.0)
