"""Shared base class of the penalties that are functions of the normalized table Q."""

import numpy as np

from renyi_lib._linalg import complement, in_complement
from renyi_lib.penalties._base import TablePenalty
from renyi_lib.penalties._groups import EMPTY, as_groups

__all__ = ["RenyiTable", "excess_over_independence"]

# With more groups than this, the residuals' gradients with respect to theta are computed from the
# derivatives of the table, without an array of the size of F for each residual. This is slower for
# few groups but about 10 times faster for a hundred.
MANY_GROUPS = 10


class RenyiTable(TablePenalty):
    """Base class of the penalties rho_R^2 and chi-square."""

    def residual_rows(self, F, groups, slopes_of):
        """Return the gradients of the residuals with respect to theta.

        The result is None if there are few groups or if a subclass has its own residuals.
        """
        groups = as_groups(groups)
        own = type(self).table_residuals is not RenyiTable.table_residuals
        if own or len(groups.q) <= MANY_GROUPS:
            return None
        return self._residual_rows(groups.table(F), groups.q, slopes_of(groups))

    def table_residuals(self, T, q):
        """Return the gradients of the entries of Q, in a basis without its first singular pair.

        The matrix Q has the entries T_ij / sqrt(p_i q_j), and its first singular vectors are
        sqrt(p) and sqrt(q). In this basis, the squares of the entries sum to |Q|^2 - 1.
        """
        p = np.maximum(T.sum(axis=1), EMPTY)
        left, right = complement(np.sqrt(p / p.sum())), complement(np.sqrt(q))
        h = right / np.sqrt(q)[:, None]
        m = excess_over_independence(T, q) @ h / p[:, None]
        f = left / np.sqrt(p)[:, None]
        return [
            f[:, [k]] * (h[:, j] - m[:, [j]] / 2)
            for k in range(f.shape[1])
            for j in range(h.shape[1])
        ]

    def table_curvature(self, T, q):
        """Return the curvature of chi-square for fixed probabilities of the classes."""
        return 2 / np.maximum(np.outer(T.sum(axis=1), q), EMPTY)

    @staticmethod
    def _residual_rows(T, q, slopes):
        """Compute the gradients of the residuals with respect to theta, as (c-1)(d-1) rows.

        ``slopes[i, j]`` is the gradient of T[i, j], as a vector, and O(c^2 d) such vectors are
        computed.
        """
        p, root = np.maximum(T.sum(axis=1), EMPTY), np.sqrt(q)
        f = complement(np.sqrt(p / p.sum())) / np.sqrt(p)[:, None]
        m = in_complement((excess_over_independence(T, q) / root).T, root) / p
        by_class = [
            in_complement(slope / root[:, None], root) - np.outer(m[:, i] / 2, slope.sum(axis=0))
            for i, slope in enumerate(slopes)
        ]
        return np.concatenate(np.tensordot(f, by_class, (0, 0)))


def excess_over_independence(T, q):
    """Return T minus the table under independence with the same P(Ŷ = i)."""
    return T - np.outer(T.sum(axis=1), q)
