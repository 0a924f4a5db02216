"""Penalty rho_R^2 of label and group, with the adversary of Algorithm 1."""

from typing import ClassVar

import numpy as np

from renyi_lib._linalg import from_complement, in_complement
from renyi_lib._parameters import number
from renyi_lib.penalties._groups import EMPTY, as_groups
from renyi_lib.penalties._renyi_table import RenyiTable, excess_over_independence

__all__ = ["RenyiPenalty", "best_response_v", "mixed_strategy", "renyi_given_v"]


def best_response_v(T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute Algorithm 1's best response, the second right singular vector of Q.

    Q is the matrix of Theorem 1, Q_ij = T_ij / sqrt(p_i q_j) with p_i = P(Ŷ = i).

    Parameters
    ----------
    T : ndarray of shape (c, d)
        Joint table P(Ŷ = i, S = j).
    q : ndarray of shape (d,)
        Group probabilities P(S = j).

    Returns
    -------
    ndarray of shape (d,)
        Unit vector orthogonal to v_1 = sqrt(q). The sign is chosen so that its last nonzero entry
        is positive. If singular values tie, the vector is one of several maximizers.

    See Also
    --------
    renyi_given_v : Compute the adversary's term for a given v.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_v
    >>> best_response_v(np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5])).round(6)
    array([-0.707107,  0.707107])
    """
    _, V = singular_pairs(T, q)
    v = V[:, 0]
    return v * np.sign(v[np.abs(v) > 1e-8][-1])


def renyi_given_v(T: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
    """Compute the adversary's term of eq. Min-Max-Fairness_DP-discrete, v^T Q^T Q v.

    Q is the matrix of Theorem 1, Q_ij = T_ij / sqrt(p_i q_j) with p_i = P(Ŷ = i). With
    h_j = v_j / sqrt(q_j), which for a unit vector v is a function of the group with mean 0 and
    variance 1, and m_i = E[h(S) | Ŷ = i], the term and its gradient are

        v^T Q^T Q v = sum_i p_i m_i^2,        d / dT_ij = 2 m_i h_j - m_i^2.

    Parameters
    ----------
    T : ndarray of shape (c, d)
        Joint table P(Ŷ = i, S = j).
    q : ndarray of shape (d,)
        Group probabilities P(S = j).
    v : ndarray of shape (d,)
        Adversary's move, orthogonal to v_1 = sqrt(q).

    Returns
    -------
    value : float
        Value of the term.
    dT : ndarray of shape (c, d)
        Gradient with respect to T.

    See Also
    --------
    best_response_v : Compute the v that maximizes the term.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_v, renyi_given_v
    >>> T, q = np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5])
    >>> value, dT = renyi_given_v(T, q, best_response_v(T, q))
    >>> round(value, 12)
    0.04
    """
    h = v / np.sqrt(q)
    p = T.sum(axis=1)
    # Because E h = 0, subtracting the table of independence from T only reduces rounding errors.
    m = excess_over_independence(T, q) @ h / np.maximum(p, EMPTY)
    return float(p @ m**2), 2 * np.outer(m, h) - (m**2)[:, None]


class RenyiPenalty(RenyiTable):
    """Penalty rho_R^2(Ŷ, S) for any number of classes and groups, with Algorithm 1's adversary.

    With Q_ij = T_ij / sqrt(p_i q_j) for the joint table T and its margins p and q, rho_R^2 is the
    maximum of v^T Q^T Q v over vectors v of length at most 1 that are orthogonal to v_1 = sqrt(q).
    It is attained by the second right singular vector of Q (Theorem 1).

    Parameters
    ----------
    smoothing : float, default=0.0
        With 0, the penalty is rho_R^2 itself. It has a kink where the second and the third
        singular values of Q tie, which requires at least three classes and three groups. The
        gradient there is a subgradient, computed for one of the maximizers v. With smoothing
        mu > 0, the adversary plays a mixed strategy, which uses the k-th singular vector (k >= 2)
        with probability pi_k and is rewarded for mixing::

            max over pi of sum_k pi_k sigma_k^2 + (1 - sum_k pi_k^2) mu / 2.

        This is differentiable, at most mu / 2 above rho_R^2, and equal to it wherever
        sigma_2^2 - sigma_3^2 >= mu.

    See Also
    --------
    BinaryRenyiPenalty : Compute the penalty in closed form for two groups.
    ChiSquarePenalty : Penalize the sum of all sigma_k^2 after the first.

    References
    ----------
    Y. Nesterov, "Smooth minimization of non-smooth functions", Mathematical Programming 103
    (2005), 127-152, doi:10.1007/s10107-004-0552-5.

    Examples
    --------
    >>> from renyi_lib.penalties import RenyiPenalty
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]]
    >>> value, gradient = RenyiPenalty().value_and_grad(F, ["f", "m", "m", "f"])
    >>> round(value, 12)
    0.04
    """

    _constraints: ClassVar = {"smoothing": number(0)}

    def __init__(self, smoothing: float = 0.0):
        self.smoothing = smoothing

    def of_table(self, T, q):
        sigma, V = singular_pairs(T, q)
        pi = mixed_strategy(sigma**2, self.smoothing)
        moves = [renyi_given_v(T, q, V[:, k]) for k in np.flatnonzero(pi)]
        played = pi[pi > 0]
        value = sum(pi_k * value for pi_k, (value, _) in zip(played, moves))
        dT = sum(pi_k * dT for pi_k, (_, dT) in zip(played, moves))
        return float(value + 0.5 * self.smoothing * (1 - pi @ pi)), dT

    def best_response(self, F, groups):
        """Return the second right singular vector v of Q, of shape (d,)."""
        groups = as_groups(groups)
        return best_response_v(groups.table(F), groups.q)

    def has_kinks(self, n_classes, n_groups):
        """Return whether two singular values after the first can tie."""
        return min(n_classes, n_groups) > 2

    def smoothed(self, mu):
        """Return the same penalty with smoothing parameter mu."""
        return RenyiPenalty(smoothing=mu)


def singular_pairs(T, q):
    """Compute the singular values of Q after the first, and right singular vectors as columns.

    Q is expressed in a basis of the orthogonal complement of v_1 = sqrt(q), so the vectors are
    orthogonal to v_1 even if singular values are tiny or 0.
    """
    v_1, rank = np.sqrt(q), min(T.shape) - 1
    u_1 = np.sqrt(np.maximum(T.sum(axis=1), EMPTY))
    remainder = excess_over_independence(T, q) / np.outer(u_1, v_1)
    _, sigma, Vt = np.linalg.svd(in_complement(remainder.T, v_1).T, full_matrices=False)
    return sigma[:rank], np.stack([from_complement(y, v_1) for y in Vt[:rank]], axis=1)


def mixed_strategy(values, mu):
    """Return the pi that maximizes pi . values - mu / 2 |pi|^2, for values in decreasing order."""
    if mu == 0:
        return np.eye(1, len(values))[0]
    # Project values / mu onto the simplex, with a shift that makes the positive parts sum to 1.
    scaled = values / mu
    thresholds = (np.cumsum(scaled) - 1) / np.arange(1, len(scaled) + 1)
    return np.maximum(scaled - thresholds[scaled > thresholds][-1], 0)
