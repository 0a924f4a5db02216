"""Joint tables by rho_R, for `renyi_lib._inversion`, and rare values, which need more.

All functions take many samples at once, along the first axis.

The candidates of an inversion form one curve through the sample's table. Where a rare value
carries the dependence, the sample's own direction and margins say little: in two people of a group
that never met a rare outcome, the two may yet go together always. So the upper end is also that of
pairs of events, such as a value against all others, as tables of two rows and two columns.
"""

import numpy as np
from scipy.special import ndtri

from renyi_lib._chance import MOST_TO_PERMUTE, chance_test, rho_of_tables
from renyi_lib._inversion import POWER_CONSTRAINT_QUANTILE, invert
from renyi_lib._wishart import largest_root_isf, largest_root_sf

# The search covers so many standard errors and critical values around the observed value.
_REACH = 4.5
# No standard error of sqrt(n) rho is taken to be below this, as it is 0 where rho is 1.
_LEAST_SPREAD = 0.3
# Where the test rejects, the lower end is not below this part of the sample's value.
_LEAST_LOW = 1e-3
# Values that occur less often are merged before the lower end is found.
_FEWEST = 2
# So many pairs of events are looked at, those that reach farthest.
_EVENTS = 20
# Steps of a bisection.
_HALVINGS = 60
_DIGITS = 12
# Cells of random tables: fewer are drawn of large tables, but at least so many.
_CELLS = 2**20
_FEWEST_DRAWS = 250


def renyi_intervals(tables, *, level, n_resamples, rng):
    """Estimate, plug-in value, ends and p-value for rho_R, a row for each table.

    Parameters
    ----------
    tables : ndarray of shape (R, c, d)
        Counts; no row or column of a table is empty.
    level : float
        1 - the confidence level.
    n_resamples : int
        Random tables in all; fewer if the tables are large.
    rng : Generator
        Random number generator.

    Returns
    -------
    ndarray of shape (R, 5)
    """
    n_resamples = int(np.clip(_CELLS // tables[0].size, _FEWEST_DRAWS, n_resamples))
    pvalue, merged = _pvalues(tables, n_resamples, rng)
    ends = _curve(tables, level, n_resamples, rng)
    for i, table in merged.items():
        # Merging values can only lessen rho_R, so that the lower end holds for all of them.
        small = min(table.shape) > 1 and pvalue[i] < level
        ends[i, 0] = _curve(table[None], level, n_resamples, rng)[0, 0] if small else 0.0
    rho = rho_of_tables(tables)
    high = np.maximum(ends[:, 2], [_event_high(table, level) for table in tables])
    high[rho > 1 - 1e-12] = 1.0
    low = np.where(pvalue < level, np.maximum(ends[:, 0], _LEAST_LOW * rho), 0.0)
    estimate = np.where(pvalue >= 0.5, 0.0, np.clip(ends[:, 1], low, high))
    return np.column_stack([estimate, rho, low, high, pvalue])


def _pvalues(tables, n_resamples, rng):
    """The p-value of independence of each table; and those tables that had values merged."""
    pvalues, merged = np.empty(len(tables)), {}
    for i, table in enumerate(tables):
        kept = without_single_people(table)
        if kept.shape != table.shape:
            merged[i] = kept
        method = "auto" if kept.sum() <= MOST_TO_PERMUTE else "asymptotic"
        pvalues[i] = chance_test([kept], method=method, n_resamples=n_resamples, rng=rng)[1]
    return pvalues, merged


def without_single_people(table):
    """The table with values that occur once merged, for one person proves nothing.

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
            if len(single) == 1:  # into the next smallest
                single = np.argsort(sizes, kind="stable")[:2]
            rest = np.delete(table, single, axis=0)
            table = np.concatenate([rest, table[single].sum(axis=0, keepdims=True)])
        table = np.moveaxis(table, 0, axis)
    return table


def _event_high(table, level):
    """The largest upper end of the correlation of two events, one of them a single value.

    The events are a row and a column, or a row and the columns that it prefers. Their correlation
    grows with the counts of both and of neither, and falls with those of either alone. Each count
    gets its limit at z_k standard deviations, where the squares of the four z_k add up to z^2, and
    the end is the largest correlation over all such splits. With large counts that is the
    correlation plus z standard errors, and with small ones it is about exact for each count.
    """
    n, z = table.sum(), -ndtri(level / 2)
    counts = np.unique(np.concatenate([_events(table), _events(table.T)]), axis=0)
    both, rows, columns = counts.T.astype(float)
    # A first look, with the margins as they are.
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
    """The quantile of a gamma variable, at z standard deviations, by Wilson and Hilferty.

    With the shape k + 1 and z > 0 it is the upper limit of a Poisson mean of which k were counted,
    with the shape k and z < 0 the lower one.
    """
    shape = np.maximum(shape, 1e-9)
    return shape * np.maximum(1 - 1 / (9 * shape) + z / (3 * np.sqrt(shape)), 0.0) ** 3


def _splits(steps):
    """How four counts share the evidence, as columns of length 1: two upwards, two downwards."""
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
    """Counts of (both, row, columns) for each row with each column, and with those it prefers."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    single = np.stack(np.broadcast_arrays(table, rows[:, None], columns), axis=-1)
    order = np.argsort(-table / columns, axis=1, kind="stable")
    together = np.take_along_axis(table, order, axis=1).cumsum(axis=1)
    sets = np.stack(
        np.broadcast_arrays(together, rows[:, None], columns[order].cumsum(axis=1)), axis=-1
    )
    return np.concatenate([single, sets[:, 1:-1]], axis=1).reshape(-1, 3)


def _curve(tables, level, n_resamples, rng):
    """Lower end, median and upper end by inversion along the curve of each table."""
    return along(JointTables(tables, rng), level, n_resamples)


def along(worlds, level, n_resamples):
    """Lower end, median and upper end by inversion along curves of tables.

    Parameters
    ----------
    worlds : JointTables
    level, n_resamples
        As in `renyi_intervals`.

    Returns
    -------
    ndarray of shape (R, 3)
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
    """The bootstrap's interval of rho_R, reflected; it starts at 0 unless the test rejects.

    Parameters and result as in `renyi_intervals`.
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
    """Tables with the margins and the singular vectors of a sample, and any rho_R."""

    def __init__(self, tables, rng):
        self.n = tables.sum(axis=(1, 2))
        self.rng = rng
        P = tables / self.n[:, None, None]
        p, q = P.sum(axis=2), P.sum(axis=1)
        self.independent = p[:, :, None] * q[:, None]
        self.root = np.sqrt(self.independent)
        R = (P - self.independent) / self.root
        # R has no part along sqrt(p) and sqrt(q). With the singular value 2 these two come first,
        # and all other vectors are orthogonal to them, also those of the value 0.
        U, s, Vt = np.linalg.svd(R + 2 * self.root, full_matrices=False)
        U, s, Vt = U[:, :, 1:], s[:, 1:], Vt[:, 1:]
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

    def tables(self, t):
        """The tables of the worlds t, (R, K) -> (R, K, c, d)."""
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
        """The further singular values of the worlds t, whose squares may add up to `left`."""
        return _filled(self.s[:, None, 1:], t, left)

    def value(self, t):
        return rho_of_tables(self.tables(t))

    def draw(self, t, size):
        P = self.tables(t)
        # Rounded, so that the last bits of the decomposition do not change what is drawn: a cell
        # of 1e-17 takes a random number, and one of 0 does not.
        cells = P.round(_DIGITS).reshape(*t.shape, 1, -1)
        cells /= cells.sum(axis=-1, keepdims=True)
        n = np.rint(self.n).astype(np.int64)[:, None, None]
        counts = self.rng.multinomial(n, cells, size=(*t.shape, size))
        return rho_of_tables(counts.reshape(*t.shape, size, *P.shape[2:]))


def _filled(values, most, energy):
    """The values times a common factor, each at most `most`, with that sum of squares.

    If even the largest values allowed have less, they are taken. Ties are the hard case for a
    lower end, because the largest of several equal singular values gains most by chance; so what
    the largest value does not have goes to the others.
    """
    if not values.shape[-1]:
        return np.broadcast_to(values, (*most.shape[:2], 0))
    low, high = np.zeros_like(most), most / np.maximum(values[..., -1:], 1e-12)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        less = (np.minimum(middle * values, most) ** 2).sum(axis=-1, keepdims=True) < energy
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.minimum(high * values, most)
