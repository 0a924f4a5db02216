"""Hilbert-Schmidt independence criterion of class probabilities and groups."""

from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import factorial

from renyi_lib._parameters import choice, number
from renyi_lib.dependence import gaussian_waves
from renyi_lib.penalties._base import Penalty
from renyi_lib.penalties._groups import as_groups
from renyi_lib.penalties._renyi_table import excess_over_independence

__all__ = ["HSICPenalty"]


class HSICPenalty(Penalty):
    """Penalty on the Hilbert-Schmidt independence criterion (HSIC) of F and the group.

    This is the biased estimate trace(K H L H) / n^2, where H is the centering matrix, L is
    the kernel 1[s = t] of the groups, and K is the sum over classes of a kernel k of the class
    probability,

        K(F, F') = sum_i k(F_i, F'_i),      k(x, y) = x y   or   exp(-(x - y)^2 / (2 bandwidth^2)).

    For two classes it is twice the HSIC of the score P(Ŷ = 1 | X) and S. The linear kernel detects
    only differences between the groups' mean probabilities, whereas the Gaussian kernel detects
    any difference between the groups' distributions of each F_i.

    Parameters
    ----------
    kernel : {"gaussian", "linear"}, default="gaussian"
        Kernel of each class probability.
    bandwidth : float, default=0.25
        Bandwidth of the Gaussian kernel, on the scale of probabilities. It is constant, because a
        bandwidth that adapted to F would change the kernel during a fit.

    See Also
    --------
    renyi_lib.dependence.hsic : Compute the HSIC of two variables.

    Notes
    -----
    Because S is discrete, the trace is a sum of squared covariances between indicators of groups
    and features of F, so time and memory are linear in n. To machine precision, the Gaussian
    kernel on [0, 1] is a sum of a small number of waves (18 for bandwidth 0.25).

    References
    ----------
    A. Pérez-Suay, V. Laparra, G. Mateo-García, J. Muñoz-Marí, L. Gómez-Chova and
    G. Camps-Valls, "Fair kernel learning", ECML PKDD (2017), 339-355,
    doi:10.1007/978-3-319-71249-9_21.

    Examples
    --------
    >>> from renyi_lib.dependence import hsic
    >>> from renyi_lib.penalties import HSICPenalty
    >>> score = [0.1, 0.5, 0.7, 0.7]
    >>> F = [[1 - x, x] for x in score]
    >>> value, gradient = HSICPenalty(bandwidth=0.5).value_and_grad(F, ["f", "m", "m", "f"])
    >>> round(value, 9) == round(2 * hsic(score, ["f", "m", "m", "f"], bandwidth=0.5), 9)
    True
    """

    _constraints: ClassVar = {
        "kernel": choice("gaussian", "linear"),
        "bandwidth": number(0, above=True),
    }

    def __init__(self, kernel: str = "gaussian", bandwidth: float = 0.25):
        self.kernel = kernel
        self.bandwidth = bandwidth

    @property
    def depends_on_table(self) -> bool:
        """Whether the penalty depends only on the joint table, which the linear kernel does."""
        return self.kernel == "linear"

    def terms(self, F, groups):
        groups = as_groups(groups)
        F = groups.checked(F)
        if self.kernel == "linear":
            excess = excess_over_independence(groups.table(F), groups.q)
            dT = 2 * (excess - (excess @ groups.q)[:, None])
            return [(float((excess**2).sum()), groups.spread(dT))]
        if F.shape[1] == 2 and np.abs(F[:, 0] + F[:, 1] - 1).max() < 1e-14:
            # The kernel is the same for x and 1 - x, so one class is enough.
            value, gradient = _gaussian_hsic(F[:, 1], groups, self.bandwidth)
            return [(2 * value, np.column_stack([-gradient, gradient]))]
        columns = [_gaussian_hsic(column, groups, self.bandwidth) for column in F.T]
        values, gradients = zip(*columns)
        return [(sum(values), np.column_stack(gradients))]


def _gaussian_hsic(x, groups, bandwidth):
    """Compute the HSIC of numbers in [0, 1] (Gaussian kernel) and the groups, and its gradient."""
    frequencies, amplitudes = gaussian_waves(1 / bandwidth)
    frequencies = frequencies / bandwidth
    few = len(x) < 4 * _n_cells(frequencies[-1])
    waves = (_Waves if few else _CellWaves)(x, frequencies, groups)
    mean = waves.means()
    covariance = mean - np.outer(mean.sum(axis=1), groups.q)
    value = amplitudes @ (np.abs(covariance) ** 2).sum(axis=1)
    turn = np.conj(covariance - (covariance @ groups.q)[:, None])
    gradient = waves.imaginary(-2 * (amplitudes * frequencies)[:, None] * turn)
    return float(value), gradient * groups.weight


class _Waves:
    """Waves exp(i w_k x), evaluated one at a time; w_k is k times the first frequency."""

    def __init__(self, x, frequencies, groups):
        self.first, self.n_waves, self.groups = (
            np.exp(1j * frequencies[0] * x),
            len(frequencies),
            groups,
        )

    def means(self):
        """Compute the mean of wave k over the samples of group j, times P(S = j)."""
        found = [self.groups.table(np.column_stack([w.real, w.imag])) for w in self._each()]
        return np.array([real + 1j * imaginary for real, imaginary in found])

    def imaginary(self, factors):
        """Compute the imaginary part of sum_k factors[k, s_n] exp(i w_k x_n) for each n."""
        found = np.zeros(len(self.first))
        for wave, factor in zip(self._each(), factors):
            found += (wave * factor[self.groups.codes]).imag
        return found

    def _each(self):
        wave = np.ones_like(self.first)
        for _ in range(self.n_waves):
            wave = wave * self.first
            yield wave


def _n_cells(frequency):
    """Return the number of cells of [0, 1] for which a wave turns 1/30 radian per half cell."""
    return int(np.ceil(15 * frequency))


@lru_cache(maxsize=8)
def _wave_grid(frequencies):
    """Return the waves at the middles of the cells, and (i w)^m / m! for each wave and power m."""
    frequencies, powers = np.array(frequencies), np.arange(7)
    n_cells = _n_cells(frequencies[-1])
    middles = (np.arange(n_cells) + 0.5) / n_cells
    series = (1j * frequencies[:, None]) ** powers / factorial(powers)
    return np.exp(1j * np.outer(frequencies, middles)), series


class _CellWaves:
    """Sums of waves for many x, computed from moments in the cells of a grid over [0, 1].

    Within a cell, the Taylor series of a wave about the middle is accurate to machine precision
    after seven terms. With x = middle + t and |w t| <= 1/30, the remainder is at most
    (1/30)^7 / 7! < 1e-14. It is smaller for all waves but the last ones, and those have amplitudes
    near 1e-16. The sums therefore need only the moments of t in each cell and group, whatever the
    number of waves.
    """

    def __init__(self, x, frequencies, groups):
        self.groups, self.d = groups, len(groups.q)
        self.at_middles, self.series = _wave_grid(tuple(frequencies))
        n_cells = self.at_middles.shape[1]
        cell = np.clip((x * n_cells).astype(int), 0, n_cells - 1)
        self.t = x - (cell + 0.5) / n_cells
        self.place = cell * self.d + groups.codes

    def means(self):
        """Compute the same means as `_Waves.means`."""
        shape = (self.at_middles.shape[1], self.d)
        weighted, found = np.broadcast_to(self.groups.weight, self.t.shape), 0.0
        for column in self.series.T:
            moments = np.bincount(self.place, weighted, np.prod(shape)).reshape(shape)
            found = found + column[:, None] * (self.at_middles @ moments)
            weighted = weighted * self.t
        return found

    def imaginary(self, factors):
        """Compute the same sums as `_Waves.imaginary`."""
        terms = [
            (self.at_middles.T @ (column[:, None] * factors)).imag.ravel()
            for column in self.series.T
        ]
        found = terms[-1][self.place]
        for term in terms[-2::-1]:
            found = found * self.t + term[self.place]
        return found
