"""Squared Pearson correlation of class probabilities and groups."""

import numpy as np

from renyi_lib.penalties._base import Penalty
from renyi_lib.penalties._groups import as_groups
from renyi_lib.penalties._renyi_table import excess_over_independence

__all__ = ["PearsonPenalty"]


class PearsonPenalty(Penalty):
    """Penalty on the squared Pearson correlation of class probabilities and group indicators.

    With var_i the variance of F_i over the samples (not that of a label sampled from F), the
    penalty is

        sum over i, j of cov(F_i, 1[S = j])^2 / (var_i q_j (1 - q_j)).

    Of two classes, and of two groups, only the second is counted, because the first gives the same
    value. For binary Y and S, the penalty is therefore the squared correlation of the score
    P(Ŷ = 1 | X) and S. A class whose probability is constant adds 0, and the penalty is
    discontinuous there.

    See Also
    --------
    renyi_lib.dependence.pearson_correlation : Compute the correlation of two variables.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import PearsonPenalty
    >>> F = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]])
    >>> groups = np.array([0, 1, 1, 0])
    >>> value, gradient = PearsonPenalty().value_and_grad(F, groups)
    >>> bool(np.isclose(value, np.corrcoef(F[:, 1], groups)[0, 1] ** 2))
    True
    """

    def terms(self, F, groups):
        groups = as_groups(groups)
        F = np.asarray(F, dtype=float)
        T, q = groups.table(F), groups.q
        classes = slice(T.shape[0] == 2, None)
        columns = slice(T.shape[1] == 2, None)
        mean = T.sum(axis=1)
        centered = F - mean
        variance = (centered.T**2 * groups.weight).sum(axis=1)
        # A constant column contains only rounding errors after centering.
        variance[variance <= 1e-24 * mean**2] = np.inf
        slope = np.zeros_like(T)
        excess = excess_over_independence(T, q)
        slope[classes, columns] = excess[classes, columns] / (q * (1 - q))[columns]
        slope /= variance[:, None]
        by_class = (slope * excess).sum(axis=1)
        gradient = groups.spread(2 * (slope - (slope @ q)[:, None]))
        gradient -= (centered.T * (2 * by_class / variance)[:, None] * groups.weight).T
        return [(float(by_class.sum()), gradient)]
