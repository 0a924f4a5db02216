"""Soft bins of numbers between 0 and 1, as quadratic B-splines on a uniform grid."""

import numpy as np

__all__ = ["SoftBins"]


class SoftBins:
    """Memberships of scores in soft bins, three of which are nonzero for each score."""

    def __init__(self, score, n_bins):
        cells = n_bins - 2
        position = score * cells
        self.n_bins = n_bins
        self.cell = np.clip(position.astype(int), 0, cells - 1)
        t = position - self.cell
        self.parts = ((1 - t) ** 2 / 2, 0.5 + t * (1 - t), t**2 / 2)
        self.slopes = ((t - 1) * cells, (1 - 2 * t) * cells, t * cells)

    def table(self, groups):
        """Compute T[i, j] = P(bin = i, S = j) without the (n, n_bins) array of memberships."""
        d = len(groups.q)
        place = self.cell * d + groups.codes
        T = np.zeros((self.n_bins, d))
        for k, part in enumerate(self.parts):
            counted = np.bincount(place, part * groups.weight, (self.n_bins - 2) * d)
            T[k : k + self.n_bins - 2] += counted.reshape(-1, d)
        return T

    def spread(self, dT, groups):
        """Compute dvalue/dscore from dvalue/dT."""
        place = self.cell * dT.shape[1] + groups.codes
        found = np.zeros(len(place))
        for k, slope in enumerate(self.slopes):
            entries = np.take(dT[k : k + self.n_bins - 2], place)
            entries *= slope
            found += entries
        found *= groups.weight
        return found

    def members(self):
        """Return the memberships as an array of shape (n, n_bins)."""
        return self._dense(self.parts)

    def pull_back(self, by_member):
        """Compute dvalue/dscore from dvalue/dmembers."""
        return np.einsum("nk,nk->n", by_member, self._dense(self.slopes))

    def _dense(self, parts):
        dense = np.zeros((len(self.cell), self.n_bins))
        for k, part in enumerate(parts):
            dense[np.arange(len(dense)), self.cell + k] = part
        return dense
