"""Penalty on the softly binned score of a two-class model, instead of on its label."""

from typing import ClassVar

import numpy as np

from renyi_lib._parameters import either, instance, whole
from renyi_lib.penalties._base import Penalty, TablePenalty
from renyi_lib.penalties._groups import as_groups
from renyi_lib.penalties._renyi import RenyiPenalty
from renyi_lib.penalties._splines import SoftBins

__all__ = ["ScoreBinsPenalty"]


class ScoreBinsPenalty(Penalty):
    """Penalty on the distribution of a two-class score, instead of on a label sampled from it.

    The score P(Ŷ = 1 | X) is turned into another randomized label, the bin into which it falls.
    Bins have soft edges, because the memberships of a score are quadratic B-splines on a uniform
    grid over [0, 1], which are smooth and sum to 1. The penalty is applied to the bins, with
    c = n_bins classes. If it is small, decisions are nearly independent of S at every threshold,
    which a small penalty on the sampled label cannot guarantee.

    Parameters
    ----------
    penalty : Penalty, default=None
        Penalty to apply to the bins; None means `RenyiPenalty`.
    n_bins : int, default=12
        Number of bins.

    See Also
    --------
    RenyiPenalty : Penalize the label instead of the score.

    Examples
    --------
    Both groups have the same mean score, so the sampled label is independent of the group, but the
    decisions at a threshold of 0.6 are not:

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
            raise ValueError(
                f"ScoreBinsPenalty supports two classes only, but F has shape {np.shape(F)}: "
                "merge classes, or penalize the label instead, for example with RenyiPenalty()"
            )
        bins, penalty = self._bins(F), self.of_bins()
        if isinstance(penalty, TablePenalty):
            value, dT = penalty.of_table(bins.table(groups), groups.q)
            return [(value, _by_class(bins.spread(dT, groups)))]
        return [
            (value, _by_class(bins.pull_back(by_bin)))
            for value, by_bin in penalty.terms(bins.members(), groups)
        ]

    def residual_gradients(self, F, groups):
        """Return the gradients of the residuals of the bins' penalty with respect to F."""
        groups = as_groups(groups)
        bins, penalty = self._bins(F), self.of_bins()
        if isinstance(penalty, TablePenalty):
            by_table = penalty.table_residuals(bins.table(groups), groups.q)
            return (_by_class(bins.spread(dT, groups)) for dT in by_table)
        residuals = penalty.residual_gradients(bins.members(), groups)
        return [_by_class(bins.pull_back(by_bin)) for by_bin in residuals]

    def value(self, F, groups):
        """Compute the penalty without its gradient."""
        groups, penalty = as_groups(groups), self.of_bins()
        if isinstance(penalty, TablePenalty):
            return penalty.of_table(self._bins(F).table(groups), groups.q)[0]
        return super().value(F, groups)

    def has_kinks(self, n_classes, n_groups):
        """Return whether the penalty of the bins may have kinks."""
        return self.of_bins().has_kinks(self.n_bins, n_groups)

    def smoothed(self, mu):
        """Return this penalty with the penalty of the bins smoothed."""
        return ScoreBinsPenalty(self.of_bins().smoothed(mu), self.n_bins)

    def of_bins(self) -> Penalty:
        """Return the penalty that is applied to the bins."""
        return RenyiPenalty() if self.penalty is None else self.penalty

    def _bins(self, F):
        return SoftBins(np.asarray(F, dtype=float)[:, 1], self.n_bins)


def _by_class(by_score):
    """Convert a gradient for the second class's probability to one for both classes."""
    return np.column_stack([np.zeros_like(by_score), by_score])
