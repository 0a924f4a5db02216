"""A penalty on the score of a two-class model, by soft bins, instead of on its label."""

from typing import ClassVar

import numpy as np

from renyi_lib._parameters import either, instance, whole
from renyi_lib.penalties._base import Penalty, TablePenalty
from renyi_lib.penalties._groups import as_groups
from renyi_lib.penalties._renyi import RenyiPenalty
from renyi_lib.penalties._splines import SoftBins

__all__ = ["ScoreBinsPenalty"]


class ScoreBinsPenalty(Penalty):
    """A penalty on the distribution of a two-class score, instead of on the label drawn from it.

    The score P(Ŷ = 1 | X) is itself turned into a randomized label, the bin it falls into, with
    soft borders: its memberships are the quadratic B-splines on a uniform grid over [0, 1], smooth
    and summing to 1. The penalty is that of the bins, with c = n_bins classes. A label that is
    thresholded anywhere is then nearly independent of S, which a penalty on the sampled label
    cannot promise.

    Parameters
    ----------
    penalty : Penalty, optional
        By default `RenyiPenalty`.
    n_bins : int, default=12

    Examples
    --------
    Both groups have the same mean score, so the sampled label treats them alike; a threshold
    at 0.6 would not.

    >>> from renyi_lib.penalties import RenyiPenalty, ScoreBinsPenalty
    >>> score = [0.5, 0.5, 0.3, 0.7]
    >>> F, groups = [[1 - x, x] for x in score], ["f", "f", "m", "m"]
    >>> RenyiPenalty().value_and_grad(F, groups)[0] < 1e-30
    True
    >>> ScoreBinsPenalty().value_and_grad(F, groups)[0] > 0.5
    True
    """

    _constraints: ClassVar = {
        "penalty": either(None, instance(Penalty, "a Penalty, such as RenyiPenalty()")),
        "n_bins": whole(3),
    }

    def __init__(self, penalty: Penalty | None = None, n_bins: int = 12):
        self.penalty = penalty
        self.n_bins = n_bins

    def terms(self, F, groups):
        groups = as_groups(groups)
        F = groups.checked(F)
        if F.shape[1] != 2:
            raise ValueError(f"score bins need two classes, but F has shape {np.shape(F)}")
        bins, penalty = self._bins(F), self.of_bins()
        if isinstance(penalty, TablePenalty):
            value, dT = penalty.of_table(bins.table(groups), groups.q)
            return [(value, _by_class(bins.spread(dT, groups)))]
        return [
            (value, _by_class(bins.pull_back(by_bin)))
            for value, by_bin in penalty.terms(bins.members(), groups)
        ]

    def residual_gradients(self, F, groups):
        """Those of the penalty of the bins."""
        groups = as_groups(groups)
        bins, penalty = self._bins(F), self.of_bins()
        if isinstance(penalty, TablePenalty):
            by_table = penalty.table_residuals(bins.table(groups), groups.q)
            return (_by_class(bins.spread(dT, groups)) for dT in by_table)
        residuals = penalty.residual_gradients(bins.members(), groups)
        return [_by_class(bins.pull_back(by_bin)) for by_bin in residuals]

    def value(self, F, groups):
        """The penalty without its gradient."""
        groups, penalty = as_groups(groups), self.of_bins()
        if isinstance(penalty, TablePenalty):
            return penalty.of_table(self._bins(F).table(groups), groups.q)[0]
        return super().value(F, groups)

    def has_kinks(self, n_classes, n_groups):
        """As the penalty of the bins."""
        return self.of_bins().has_kinks(self.n_bins, n_groups)

    def smoothed(self, mu):
        """The smoothed penalty of the bins."""
        return ScoreBinsPenalty(self.of_bins().smoothed(mu), self.n_bins)

    def of_bins(self) -> Penalty:
        """The penalty of the bins."""
        return RenyiPenalty() if self.penalty is None else self.penalty

    def _bins(self, F):
        return SoftBins(np.asarray(F, dtype=float)[:, 1], self.n_bins)


def _by_class(by_score):
    """From the gradient of the second class's probability to that of both classes'."""
    return np.column_stack([np.zeros_like(by_score), by_score])
