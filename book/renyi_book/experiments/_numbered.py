"""Penalties that treat the group's number as a quantity, S in {0, 1, 2, 3}, as in section 4.

A Pearson correlation, or HSIC with linear kernels, needs a number for each group. The paper's
remark on several attributes numbers the combinations 0 to 3. For two groups these penalties equal
the library's penalties, except that HSIC is half as large. For more groups, a single covariance
represents several gaps.
"""

import numpy as np

from renyi_lib.penalties import Penalty, TablePenalty
from renyi_lib.penalties._groups import as_groups


def _centered(q):
    """Return the groups' numbers minus their mean."""
    number = np.arange(len(q))
    return number - q @ number


class NumberedPearsonPenalty(Penalty):
    """Penalty on the squared Pearson correlation of the score P(Ŷ = 1 | X) and the group's number.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_book.experiments._numbered import NumberedPearsonPenalty
    >>> score, groups = np.array([0.1, 0.5, 0.7, 0.3]), np.array([0, 1, 2, 3])
    >>> value = NumberedPearsonPenalty().value(np.column_stack([1 - score, score]), groups)
    >>> bool(np.isclose(value, np.corrcoef(score, groups)[0, 1] ** 2))
    True
    """

    def terms(self, F, groups):
        groups = as_groups(groups)
        F = np.asarray(F, dtype=float)
        number = _centered(groups.q)
        score = F[:, 1] - groups.table(F)[1].sum()
        covariance = float(groups.table(F)[1] @ number)
        variance = float((score**2 * groups.weight).sum())
        scale = variance * float(groups.q @ number**2)
        value = covariance**2 / scale
        gradient = np.zeros_like(F)
        gradient[:, 1] = groups.weight * (
            2 * covariance / scale * number[groups.codes] - 2 * value / variance * score
        )
        return [(value, gradient)]


class NumberedHSICPenalty(TablePenalty):
    """Penalty on the HSIC of the class probabilities and the group's number, with linear kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_book.experiments._numbered import NumberedHSICPenalty
    >>> score, groups = np.array([0.1, 0.5, 0.7, 0.3]), np.array([0, 1, 2, 3])
    >>> value = NumberedHSICPenalty().value(np.column_stack([1 - score, score]), groups)
    >>> bool(np.isclose(value, 2 * np.cov(score, groups, bias=True)[0, 1] ** 2))
    True
    """

    def of_table(self, T, q):
        number = _centered(q)
        covariance = T @ number
        return float(covariance @ covariance), 2 * np.outer(covariance, number)
