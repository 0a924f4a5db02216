"""Largest eigenvalue of a Wishart matrix, whose distribution is the limit of n rho_R^2.

The limit holds under independence. Let G be an m x k matrix of independent standard Gaussians,
with m <= k. Its singular values s_1 > ... > s_m have a density proportional to::

    prod_i s_i^(k - m) exp(-s_i^2 / 2)  *  prod_{i<j} (s_i^2 - s_j^2),

which is a determinant of m functions of one variable. Its integral over s_1 <= sqrt(x) is
therefore the Pfaffian of the pairwise integrals of these functions (de Bruijn), and P(s_1^2 <= x)
is a ratio of two Pfaffians. Chiani (2014) expresses them in terms of incomplete gamma functions,
which are almost linearly dependent. This module uses Laguerre functions, which are almost
orthonormal, and Gauss-Legendre quadrature, which give 13 or more digits.

In the far tail, where rounding errors dominate 1 - P, the upper tail is approximated by half the
expected Euler characteristic of the set of unit vectors u, v with u^T G v > sqrt(x) (Kuriki and
Takemura 2001). The relative error of this approximation decreases with the tail itself.
"""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import eval_genlaguerre, eval_hermitenorm, gammaln, ndtr
from scipy.stats import chi2

# If both dimensions are larger than this, the Laguerre functions may overflow or underflow.
LARGEST = 150
# Below this tail probability, the Euler characteristic is more accurate.
_FAR = 1e-6
# The density is negligible more than this many standard deviations beyond the spectrum's edge.
_BEYOND = 9.0
# Smallest probability that 1 - P can distinguish from 0.
_ROUNDING = 1e-14
# Number of points of a numerical convolution.
_STEPS = 2048


def largest_root_sf(x, m, k):
    """Compute P(largest eigenvalue of G G^T > x) for an m x k matrix G of standard Gaussians.

    Parameters
    ----------
    x : float or array of floats
        Values to exceed.
    m, k : int
        Dimensions, at least 1; the smaller one is at most `LARGEST`.

    Returns
    -------
    ndarray with the shape of x
        Probabilities.

    References
    ----------
    M. Chiani, "Distribution of the largest eigenvalue for real Wishart and Gaussian random
    matrices and a simple approximation for the Tracy-Widom distribution", Journal of
    Multivariate Analysis 129 (2014), 69-81, doi:10.1016/j.jmva.2014.04.002.

    S. Kuriki and A. Takemura, "Tail probabilities of the maxima of multilinear forms and their
    applications", The Annals of Statistics 29 (2001), 328-371, doi:10.1214/aos/1009210545.

    Examples
    --------
    With one row, as in the first example, the distribution is chi-square.

    >>> float(largest_root_sf(3.84, 1, 1).round(3)), float(largest_root_sf(10.74, 2, 3).round(3))
    (0.05, 0.05)
    """
    m, k = min(m, k), max(m, k)
    x = np.asarray(x, dtype=float)
    if m == 1:
        return chi2.sf(x, k)
    if m > LARGEST:
        raise ValueError(
            f"the asymptotic test needs a variable with at most {LARGEST + 1} values, but both "
            f"have at least {m + 1}: merge rare values, or use renyi_test with "
            "method='permutation'"
        )
    begin = max(np.sqrt(k) - np.sqrt(m) - _BEYOND, 0.0) ** 2
    end = (np.sqrt(m) + np.sqrt(k) + _BEYOND) ** 2
    flat = x.ravel()
    tail = _far_tail(np.maximum(flat, 0.0), m, k)
    tail[flat <= begin] = 1.0
    tail[(flat >= end) & (tail > _ROUNDING)] = _ROUNDING
    near = (tail > _FAR) & (flat > begin)
    if near.any():
        whole = _log_pfaffian(np.array([end]), m, k)
        share = np.exp(_log_pfaffian(flat[near], m, k) - whole)
        tail[near] = np.clip(1 - share, _ROUNDING, 1)
    return tail.reshape(x.shape)


@lru_cache(maxsize=256)
def largest_root_isf(level, m, k):
    """Return the value that the largest eigenvalue exceeds with probability `level`.

    Examples
    --------
    >>> round(largest_root_isf(0.05, 2, 3), 2)
    10.74
    """
    m, k = min(m, k), max(m, k)
    if m == 1:
        return float(chi2.isf(level, k))
    end = chi2.isf(level, m * k)  # the sum of all eigenvalues is at least the largest
    return float(brentq(lambda x: largest_root_sf(x, m, k) - level, 0, end, xtol=1e-12))


def sum_of_largest_roots_sf(x, shapes):
    """Compute P(sum of independent largest eigenvalues > x), one eigenvalue per shape (m, k).

    If every shape has one row or column, the sum is chi-square. Otherwise the distributions are
    discretized and convolved. All terms are positive, so even small probabilities have a small
    relative error. It is at most about 1e-4 for a few shapes, and several percent for dozens
    of shapes in the far tail.

    Examples
    --------
    >>> round(sum_of_largest_roots_sf(7.81, [(1, 1), (1, 2)]), 3)
    0.05
    """
    if len(shapes) == 1:
        return float(largest_root_sf(x, *shapes[0]))
    if all(1 in shape for shape in shapes):
        return float(chi2.sf(x, sum(m * k for m, k in shapes)))
    bound = chi2.sf(x, sum(m * k for m, k in shapes))
    if x <= 0 or bound < 1e-300:
        return float(bound)
    edges = np.linspace(0, x, _STEPS + 1)
    tails = {shape: largest_root_sf(edges, *shape) for shape in set(shapes)}
    first, *others = (tails[shape] for shape in shapes)
    for tail in others:
        # P(A + B > t) = P(B > t) + sum over the steps of B of P(B in step) P(A > t - middle).
        mass = tail[:-1] - tail[1:]
        middle = np.sqrt(first[:-1]) * np.sqrt(first[1:])  # the tail of A at half steps
        first = tail + np.concatenate([[0.0], np.convolve(mass, middle)[:_STEPS]])
    return float(min(first[-1], 1.0))


def _log_pfaffian(x, m, k):
    """Compute the log-Pfaffian of the functions' pairwise integrals up to sqrt(x), for each x."""
    n_nodes = 48 + 6 * m
    u, w, integral = _quadrature(n_nodes)
    found = np.empty(len(x))
    block = max(1, 2**20 // (n_nodes * m))
    begin = max(np.sqrt(k) - np.sqrt(m) - _BEYOND, 0.0)  # the density is negligible below
    i = np.arange(m)
    norm = (gammaln(i + 1) - gammaln(i + k - m + 1)) / 2
    for start in range(0, len(x), block):
        part = slice(start, start + block)
        half = (np.sqrt(x[part])[:, None, None] - begin) / 2
        s = begin + half * (u[:, None] + 1)
        phi = eval_genlaguerre(i, k - m, s**2) * np.exp(norm + (k - m) * np.log(s) - s**2 / 2)
        before = (phi * w[:, None]).transpose(0, 2, 1) @ (integral @ phi) * half**2
        A = before.transpose(0, 2, 1) - before
        if m % 2:  # add a row and a column with the integrals of the single functions
            alone = half[:, :, 0] * (w @ phi)
            A = np.concatenate([A, alone[:, :, None]], axis=2)
            corner = np.zeros((len(A), 1, 1))
            A = np.concatenate([A, np.concatenate([-alone[:, None], corner], axis=2)], axis=1)
        found[part] = np.linalg.slogdet(A)[1] / 2
    return found


@lru_cache(maxsize=16)
def _quadrature(n_nodes):
    """Return nodes and weights on [-1, 1], and the matrix that integrates from -1 to each node."""
    u, w = np.polynomial.legendre.leggauss(n_nodes)
    V = np.polynomial.legendre.legvander(u, n_nodes)
    degree = np.arange(1, n_nodes)
    # The integral of P_j is (P_{j+1} - P_{j-1}) / (2j + 1).
    from_left = np.column_stack([u + 1, (V[:, 2:] - V[:, :-2]) / (2 * degree + 1)])
    coefficients = (V[:, :-1] * w[:, None]).T * (np.arange(n_nodes) + 0.5)[:, None]
    return u, w, from_left @ coefficients


def _far_tail(x, m, k):
    """Compute half the expected Euler characteristic of the set where u^T G v > sqrt(x).

    The Gaussian kinematic formula multiplies the intrinsic volume of dimension j of the product
    of two spheres by (2 pi)^(-(j+1)/2) H_{j-1}(t) exp(-t^2/2), where H_{j-1} is a Hermite
    polynomial and t = sqrt(x), and sums over j. Each maximum is counted twice, at (u, v) and at
    (-u, -v), which is why the result is half of the sum. The approximation is valid only in the
    far tail, so the result is 1 if sqrt(x) <= sqrt(m) + sqrt(k). It is also 1 if a term overflows,
    as happens for large matrices, so that the Pfaffians are used instead.
    """
    t = np.sqrt(x)
    with np.errstate(over="ignore", invalid="ignore"):
        volumes = np.convolve(_sphere_volumes(m), _sphere_volumes(k))
        total = volumes[0] * ndtr(-t)
        for j in range(1, len(volumes)):
            if volumes[j]:
                density = (2 * np.pi) ** (-(j + 1) / 2) * np.exp(-x / 2)
                total = total + volumes[j] * density * eval_hermitenorm(j - 1, t)
    edge = np.sqrt(m) + np.sqrt(k)
    return np.where(np.isfinite(total) & (t > edge), np.maximum(total / 2, 0), 1.0)


def _sphere_volumes(d):
    """Return the intrinsic volumes of the unit sphere in d dimensions."""
    j = np.arange(d)
    binomial = gammaln(d) - gammaln(j + 1) - gammaln(d - j)
    # The surface area of the unit sphere in n dimensions is 2 pi^(n/2) / Gamma(n/2).
    surfaces = j / 2 * np.log(np.pi) - gammaln(d / 2) + gammaln((d - j) / 2)
    log = binomial + surfaces
    return np.where((d - 1 - j) % 2 == 0, 2 * np.exp(log), 0.0)
