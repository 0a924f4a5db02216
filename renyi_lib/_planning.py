"""Sample size for a test of independence, from the Wishart distribution and random tables.

Close to independence, the test statistic n rho^2 is distributed approximately like the largest
eigenvalue of a noncentral Wishart matrix G G^T, where the mean of the Gaussian matrix G has a
single nonzero singular value, sqrt(n) rho. For tables of a given size, the power therefore depends
only on n rho^2, which gives a first estimate of the number of samples. Farther from independence,
the distribution depends on the whole table. Tables are therefore sampled for several sample sizes
around the first estimate. The probit of the power is almost linear in sqrt(n), so a line is fitted
to it.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import ncx2

from renyi_lib._chance import rho_of_tables
from renyi_lib._wishart import largest_root_isf

_DRAWS = 10_000
_AROUND = np.array([0.75, 0.9, 1.0, 1.1, 1.3])
_ROUNDS = 3


def samples_needed(P, *, power, level, rng):
    """Compute the number of samples from the table P at which the test has the given power.

    Examples
    --------
    >>> P = np.array([[0.3, 0.2], [0.2, 0.3]])
    >>> n = samples_needed(P, power=0.8, level=0.05, rng=np.random.default_rng(0))
    >>> 185 < n < 205
    True
    """
    rho = float(rho_of_tables(P))
    m, k = sorted(np.subtract(P.shape, 1))
    n = max(_noncentrality(m, k, power, level) / rho**2, min(P.shape))
    for _ in range(_ROUNDS):
        sizes = np.unique(np.maximum(np.round(n * _AROUND), min(P.shape)))
        reached = np.array([power_of(P, int(size), level, rng) for size in sizes])
        inside = (reached > 0.005) & (reached < 0.995)
        if np.count_nonzero(inside) < 2:  # too far away to fit a line
            n = n * (0.5 if reached.mean() > power else 2.0)
            continue
        slope, start = np.polyfit(np.sqrt(sizes[inside]), ndtri(reached[inside]), 1)
        if slope > 0:
            target = (ndtri(power) - start) / slope
            n = np.clip(max(target, 0.0) ** 2, 0.3 * n, 3 * n)
    return int(np.ceil(max(n, min(P.shape))))


def power_of(P, n, level, rng):
    """Estimate the share of samples of size n for which the asymptotic test rejects."""
    tables = rng.multinomial(n, P.ravel(), size=_DRAWS).reshape(-1, *P.shape)
    statistic = n * rho_of_tables(tables) ** 2
    c, d = (tables.any(axis=axis).sum(axis=1) for axis in (2, 1))
    rejected = np.zeros(_DRAWS, dtype=bool)
    for rows, columns in set(zip(c.tolist(), d.tolist())):
        if min(rows, columns) > 1:
            here = (c == rows) & (d == columns)
            critical = largest_root_isf(level, rows - 1, columns - 1)
            rejected[here] = statistic[here] > critical
    return rejected.mean()


def _noncentrality(m, k, power, level):
    """Return the n rho^2 at which the largest eigenvalue is significant with this power."""
    critical = largest_root_isf(level, m, k)
    if m > 1:
        G = np.random.default_rng(0).normal(size=(1000, m, k))

    def reached(value):
        if m == 1:
            return ncx2.sf(critical, k, value)
        moved = G.copy()
        moved[:, 0, 0] += np.sqrt(value)
        return np.mean(np.linalg.norm(moved, 2, axis=(1, 2)) ** 2 > critical)

    low, high = 0.0, 4 * critical + 40 + 4 * ndtri(power) ** 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < power else (low, middle)
    return high
