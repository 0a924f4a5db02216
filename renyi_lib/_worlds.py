"""Families of joint tables with any Rényi correlation rho_R, and limits for rare values.

All functions treat many samples at once, along the first axis.

The candidates of an inversion (see `_inversion`) form one curve through the sample's table. If a
rare value carries the dependence, the sample's own singular vectors and margins say little about
it. For example, if a group of two samples shows no case of a rare outcome, the outcome may still
be common in this group in the population. The upper end is therefore at least the largest upper
end for two events, such as that a variable takes a certain value, in a table of two rows and two
columns.
"""

import numpy as np
from scipy.special import ndtri

from renyi_lib._chance import MOST_TO_PERMUTE, chance_test, rho_of_tables
from renyi_lib._inversion import POWER_CONSTRAINT_QUANTILE, invert
from renyi_lib._wishart import largest_root_isf, largest_root_sf

# Half the width of the search range around the observed value, in standard errors.
_REACH = 4.5
# Lower limit of the standard error of sqrt(n) rho, which would be 0 for rho = 1.
_LEAST_SPREAD = 0.3
# If the test rejects, the lower end is at least this fraction of the sample's value.
_LEAST_LOW = 1e-3
# Values that occur less often than this are merged before the lower end is computed.
_FEWEST = 2
# Number of pairs of events to examine, which are those with the largest first estimates.
_EVENTS = 20
# Number of bisection steps.
_HALVINGS = 60
_DIGITS = 12
# Maximum number of cells of all random tables together, and minimum number of tables.
_CELLS = 2**20
_FEWEST_DRAWS = 250


def renyi_intervals(tables, *, level, n_resamples, rng):
    """Compute estimate, plug-in value, ends and p-value for rho_R, with a row for each table.

    Parameters
    ----------
    tables : ndarray of shape (R, c, d)
        Counts; no row or column of a table is empty.
    level : float
        1 - the confidence level.
    n_resamples : int
        Number of random tables for each inversion or permutation test; fewer if the tables are
        large.
    rng : Generator
        Random number generator.

    Returns
    -------
    ndarray of shape (R, 5)
        Estimate, plug-in value, lower end, upper end and p-value of each table.
    """
    n_resamples = int(np.clip(_CELLS // tables[0].size, _FEWEST_DRAWS, n_resamples))
    pvalue, merged = _pvalues(tables, n_resamples, rng)
    ends = _curve(tables, level, n_resamples, rng)
    for i, table in merged.items():
        # Merging values can only reduce rho_R, so the lower end for the merged table is valid.
        small = min(table.shape) > 1 and pvalue[i] < level
        ends[i, 0] = _curve(table[None], level, n_resamples, rng)[0, 0] if small else 0.0
    rho = rho_of_tables(tables)
    high = np.maximum(ends[:, 2], [_event_high(table, level) for table in tables])
    high[rho > 1 - 1e-12] = 1.0
    low = np.where(pvalue < level, np.maximum(ends[:, 0], _LEAST_LOW * rho), 0.0)
    estimate = np.where(pvalue >= 0.5, 0.0, np.clip(ends[:, 1], low, high))
    return np.column_stack([estimate, rho, low, high, pvalue])


def _pvalues(tables, n_resamples, rng):
    """Compute the p-value of independence for each table; also return merged tables by index."""
    pvalues, merged = np.empty(len(tables)), {}
    for i, table in enumerate(tables):
        kept = without_single_people(table)
        if kept.shape != table.shape:
            merged[i] = kept
        method = "auto" if kept.sum() <= MOST_TO_PERMUTE else "asymptotic"
        pvalues[i] = chance_test([kept], method=method, n_resamples=n_resamples, rng=rng)[1]
    return pvalues, merged


def without_single_people(table):
    """Merge values with a count below 2, because a single sample is no evidence of dependence.

    Examples
    --------
    >>> without_single_people(np.array([[5, 5, 0], [6, 4, 0], [0, 0, 1]]))
    array([[6, 4],
           [5, 6]])
    """
    for axis in (0, 1):
        table = np.moveaxis(table, axis, 0)
        while len(table) > 1 and (sizes := table.sum(axis=1)).min() < _FEWEST:
            single = np.flatnonzero(sizes < _FEWEST)
            if len(single) == 1:  # merge it with the next smallest value
                single = np.argsort(sizes, kind="stable")[:2]
            rest = np.delete(table, single, axis=0)
            table = np.concatenate([rest, table[single].sum(axis=0, keepdims=True)])
        table = np.moveaxis(table, 0, axis)
    return table


def _event_high(table, level):
    """Compute the largest upper end for two events, at least one of which is a single value.

    The events are a row and a column, or a row and the columns that it prefers (or a column and
    its preferred rows). Their correlation increases with the numbers of samples with both events
    and with neither, and decreases with the numbers of samples with only one of them. Each of
    these four counts gets its limit at z_k standard deviations. The squares of the z_k sum to z^2,
    where z is the normal quantile of 1 - level / 2, and the end is the largest correlation over a
    grid of such splits. For large counts, this is the correlation plus z standard errors; for
    small counts, each count's limit is nearly exact.
    """
    n, z = table.sum(), -ndtri(level / 2)
    counts = np.unique(np.concatenate([_events(table), _events(table.T)]), axis=0)
    both, rows, columns = counts.T.astype(float)
    # Make a first estimate with the margins held fixed.
    expected = rows * columns / n
    most = np.minimum(_limit(both + 1, z), np.minimum(rows, columns))
    reach = (most - expected) / np.sqrt(
        np.maximum(expected * (n - rows) * (n - columns) / n, 1e-9)
    )
    worth = np.argsort(-reach, kind="stable")[:_EVENTS]
    both, rows, columns = both[worth, None], rows[worth, None], columns[worth, None]
    x, rest, r, c = (
        _limit(count, z * part)
        for count, part in zip(
            (both + 1, n - rows - columns + both + 1, rows - both, columns - both), _SPLITS
        )
    )
    margins = (x + r) * (x + c) * (r + rest) * (c + rest)
    phi = (x * rest - r * c) / np.sqrt(np.maximum(margins, 1e-300))
    return float(np.clip(phi.max(), 0.0, 1.0))


def _limit(shape, z):
    """Compute the quantile of a gamma variable at z standard deviations (Wilson-Hilferty).

    With shape k + 1 and z > 0, it is the upper limit of a Poisson mean for a count of k; with
    shape k and z < 0, it is the lower limit.
    """
    shape = np.maximum(shape, 1e-9)
    return shape * np.maximum(1 - 1 / (9 * shape) + z / (3 * np.sqrt(shape)), 0.0) ** 3


def _splits(steps):
    """Return unit vectors, as columns, that split z over two upper and two lower limits."""
    angles = np.meshgrid(*[np.linspace(0, np.pi / 2, steps)] * 3)
    first, second, third = (angle.ravel() for angle in angles)
    upwards, downwards = np.cos(first), -np.sin(first)
    return np.stack(
        [
            upwards * np.cos(second),
            upwards * np.sin(second),
            downwards * np.cos(third),
            downwards * np.sin(third),
        ]
    )


_SPLITS = _splits(7)


def _events(table):
    """Return counts for each row with each column, and with each set of its preferred columns.

    Each row of the result contains the numbers of samples in the intersection, in the row and in
    the columns. The preferred columns are the k columns in which the row has the largest shares,
    for each k.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    single = np.stack(np.broadcast_arrays(table, rows[:, None], columns), axis=-1)
    order = np.argsort(-table / columns, axis=1, kind="stable")
    together = np.take_along_axis(table, order, axis=1).cumsum(axis=1)
    sets = np.stack(
        np.broadcast_arrays(together, rows[:, None], columns[order].cumsum(axis=1)), axis=-1
    )
    return np.concatenate([single, sets[:, 1:-1]], axis=1).reshape(-1, 3)


def _curve(tables, level, n_resamples, rng):
    """Compute lower end, median and upper end by inversion along the curve of each table."""
    return along(JointTables(tables, rng), level, n_resamples)


def along(worlds, level, n_resamples):
    """Compute lower end, median and upper end by inversion along curves of tables.

    Parameters
    ----------
    worlds : JointTables
        Curves of tables.
    level, n_resamples
        Same as in `renyi_intervals`.

    Returns
    -------
    ndarray of shape (R, 3)
        Lower end, median and upper end.
    """
    m, k = worlds.dimensions
    error = np.maximum(worlds.spread, _LEAST_SPREAD) / np.sqrt(worlds.n)
    critical = np.minimum(np.sqrt(largest_root_isf(level, m, k) / worlds.n), 1.0)
    low = np.maximum(worlds.rho - _REACH * error - 1.2 * critical, 0.0)
    least = np.minimum(
        np.sqrt(largest_root_isf(1 - POWER_CONSTRAINT_QUANTILE, m, k) / worlds.n), 1.0
    )
    high = np.minimum(np.maximum(worlds.rho, least) + _REACH * error + 3 / worlds.n, 1.0)
    ends = {"least": least, "low": low, "high": high, "critical": critical}
    return invert(worlds, worlds.rho, **ends, level=level, n_resamples=n_resamples)


def reflected_intervals(tables, *, level, n_resamples, rng):
    """Compute the reflected bootstrap interval of rho_R.

    It starts at 0 unless the asymptotic test rejects. Parameters and result are the same as in
    `renyi_intervals`, except that the number of random tables is never reduced.
    """
    n = tables.sum(axis=(1, 2))
    m, k = np.subtract(tables.shape[1:], 1)
    cells = (tables / n[:, None, None]).reshape(len(tables), 1, -1)
    whole = np.rint(n).astype(np.int64)[:, None]
    drawn = rng.multinomial(whole, cells, size=(len(tables), n_resamples))
    drawn = rho_of_tables(drawn.reshape(len(tables), n_resamples, *tables.shape[1:]))
    rho = rho_of_tables(tables)
    low, high = np.clip(2 * rho - np.quantile(drawn, [1 - level / 2, level / 2], axis=1), 0, 1)
    pvalue = largest_root_sf(n * rho**2, m, k)
    low[pvalue >= level] = 0.0
    estimate = np.clip(2 * rho - drawn.mean(axis=1), low, high)
    return np.column_stack([estimate, rho, low, high, pvalue])


class JointTables:
    """Tables with the margins and singular vectors of a sample, and any value t of rho_R.

    All of this holds only approximately if cells are clipped at 0 or emptied.
    """

    def __init__(self, tables, rng):
        self.n = tables.sum(axis=(1, 2))
        self.rng = rng
        P = tables / self.n[:, None, None]
        p, q = P.sum(axis=2), P.sum(axis=1)
        self.independent = p[:, :, None] * q[:, None]
        self.root = np.sqrt(self.independent)
        R = (P - self.independent) / self.root
        # R has no component along sqrt(p) and sqrt(q). If these two vectors are given the singular
        # value 2, they come first, and all other vectors, including those of the value 0, are
        # orthogonal to them.
        U, s, Vt = np.linalg.svd(R + 2 * self.root, full_matrices=False)
        U, s, Vt = U[:, :, 1:], s[:, 1:], Vt[:, 1:]
        small, large = sorted(P.shape[1:])
        self.dimensions = m, k = small - 1, large - 1
        self.U, self.s, self.Vt = U, s, Vt
        self.rho = np.minimum(s[:, 0], 1.0)
        # Emptying the cells that contradict the dependence leaves two blocks, for which rho_R = 1.
        product = U[:, :, :1] * Vt[:, :1]
        self.against = product < 0
        # The influence of a sample on rho is f g - rho (f^2 + g^2) / 2.
        f, g = U[:, :, 0] / np.sqrt(p), Vt[:, 0] / np.sqrt(q)
        squares = f[:, :, None] ** 2 + g[:, None] ** 2
        influence = f[:, :, None] * g[:, None] - self.rho[:, None, None] * squares / 2
        self.spread = np.sqrt((P * influence**2).sum(axis=(1, 2)))
        # Sum of squares of all singular values, minus the average contribution of chance.
        self.energy = np.maximum((s**2).sum(axis=1) - m * k / self.n, 0.0)

    def tables(self, t):
        """Return the tables of K candidates t for each of R samples, (R, K) -> (R, K, c, d)."""
        left = np.maximum(self.energy[:, None] - t**2, 0.0)
        others = self.others(t[:, :, None], left[:, :, None])
        s = np.concatenate([t[:, :, None], others], axis=2)
        R = (self.U[:, None] * s[:, :, None]) @ self.Vt[:, None]
        P = np.maximum(self.independent[:, None] + self.root[:, None] * R, 0.0)
        room = np.maximum(1 - self.rho, 1e-12)[:, None]
        emptied = np.clip((t - self.rho[:, None]) / room, 0.0, 1.0) ** 2
        P *= 1 - emptied[:, :, None, None] * self.against[:, None]
        return P / P.sum(axis=(2, 3), keepdims=True)

    def others(self, t, left):
        """Return the other singular values of the candidates t, whose squares sum to `left`."""
        return _filled(self.s[:, None, 1:], t, left)

    def value(self, t):
        return rho_of_tables(self.tables(t))

    def draw(self, t, size):
        P = self.tables(t)
        # Round, so that the last bits of the decomposition do not change the random tables: a cell
        # of 1e-17 uses a random number, whereas a cell of 0 does not.
        cells = P.round(_DIGITS).reshape(*t.shape, 1, -1)
        cells /= cells.sum(axis=-1, keepdims=True)
        n = np.rint(self.n).astype(np.int64)[:, None, None]
        counts = self.rng.multinomial(n, cells, size=(*t.shape, size))
        return rho_of_tables(counts.reshape(*t.shape, size, *P.shape[2:]))


def _filled(values, most, energy):
    """Scale values by a common factor, and clip them at `most`, so that squares sum to `energy`.

    If even the largest allowed values have a smaller sum, they are used. The part of the sum that
    the largest value cannot take goes to the other values, which leads to ties. Ties are the hard
    case for a lower end, because chance increases the largest of several equal values the most.
    """
    if not values.shape[-1]:
        return np.broadcast_to(values, (*most.shape[:2], 0))
    low, high = np.zeros_like(most), most / np.maximum(values[..., -1:], 1e-12)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        less = (np.minimum(middle * values, most) ** 2).sum(axis=-1, keepdims=True) < energy
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.minimum(high * values, most)
