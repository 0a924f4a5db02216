"""Penalty rho_R^2 of label and group, for two groups, with the adversary of Algorithm 2."""

import numpy as np

from renyi_lib.penalties._groups import EMPTY, as_groups
from renyi_lib.penalties._renyi_table import RenyiTable, excess_over_independence

__all__ = ["BinaryRenyiPenalty", "best_response_w", "renyi_given_w"]


def best_response_w(T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute Algorithm 2's best response, w_i = (P(Ŷ=i, S=1) - P(Ŷ=i, S=0)) / (2 P(Ŷ=i)).

    Parameters
    ----------
    T : ndarray of shape (c, 2)
        Joint table P(Ŷ = i, S = j).
    q : ndarray of shape (2,)
        Group probabilities P(S = j).

    Returns
    -------
    ndarray of shape (c,)
        Best response, which equals P(S = 1 | Ŷ = i) - 1/2. For a class without mass, every w_i is
        a best response, and its value under independence, P(S = 1) - 1/2, is returned.

    See Also
    --------
    renyi_given_w : Compute the adversary's term for a given w.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_w
    >>> best_response_w(np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5]))
    array([-0.1,  0.1])
    """
    return q[1] - 0.5 + excess_over_independence(T, q)[:, 1] / np.maximum(T.sum(axis=1), EMPTY)


def renyi_given_w(T: np.ndarray, q: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Compute the adversary's term of eq. Binary-Min-Max-Fairness, scaled to rho_R^2.

    The paper's term, sum_i (w_i (P(Ŷ=i, S=1) - P(Ŷ=i, S=0)) - w_i^2 P(Ŷ=i)), has the maximum
    1/4 - gamma, with the gamma of Theorem 2, by which rho_R^2 = 1 - gamma / (q_0 q_1). Therefore
    rho_R^2 is the maximum of that term minus (q_1 - 1/2)^2, divided by q_0 q_1. With
    u_i = w_i - (q_1 - 1/2) and b_i = P(Ŷ=i, S=1) - q_1 P(Ŷ=i), the scaled term is

        sum_i (2 u_i b_i - u_i^2 P(Ŷ=i)) / (q_0 q_1),

    in which every term is small if rho_R is small, so there is no cancellation of digits.

    Parameters
    ----------
    T : ndarray of shape (c, 2)
        Joint table P(Ŷ = i, S = j).
    q : ndarray of shape (2,)
        Group probabilities P(S = j).
    w : ndarray of shape (c,)
        Adversary's move.

    Returns
    -------
    value : float
        Value of the term.
    dT : ndarray of shape (c, 2)
        Gradient with respect to T.

    See Also
    --------
    best_response_w : Compute the w that maximizes the term.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_w, renyi_given_w
    >>> T, q = np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5])
    >>> value, dT = renyi_given_w(T, q, best_response_w(T, q))
    >>> round(value, 12)
    0.04
    """
    return _given_u(T, q, w - (q[1] - 0.5))


def _given_u(T, q, u):
    """Compute `renyi_given_w` as a function of u = w - (q_1 - 1/2)."""
    p = T[:, 0] + T[:, 1]
    variance = q[0] * q[1]
    value = (2 * u @ (T[:, 1] - q[1] * p) - (u * u) @ p) / variance
    dT = np.empty((len(u), 2))
    dT[:, 0] = -u * (2 * q[1] + u) / variance
    dT[:, 1] = u * (2 * q[0] - u) / variance
    return float(value), dT


class BinaryRenyiPenalty(RenyiTable):
    """Penalty rho_R^2(Ŷ, S) for two groups in closed form, with Algorithm 2's adversary.

    The closed form is given by Theorem 2. The second category in sorted order is treated as S = 1;
    the value of the penalty does not depend on this choice.

    See Also
    --------
    RenyiPenalty : Compute the penalty for any number of groups.

    Examples
    --------
    >>> from renyi_lib.penalties import BinaryRenyiPenalty
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]]
    >>> value, gradient = BinaryRenyiPenalty().value_and_grad(F, ["f", "m", "m", "f"])
    >>> round(value, 12)
    0.04
    """

    def of_table(self, T, q):
        _check_two(q)
        p = T[:, 0] + T[:, 1]
        return _given_u(T, q, (T[:, 1] - q[1] * p) / np.maximum(p, EMPTY))

    def best_response(self, F, groups):
        """Return the closed-form w of Algorithm 2, of shape (c,)."""
        groups = as_groups(groups)
        _check_two(groups.q)
        return best_response_w(groups.table(F), groups.q)


def _check_two(q):
    if len(q) != 2:
        raise ValueError(
            f"BinaryRenyiPenalty needs exactly two groups, but there are {len(q)}: use "
            "RenyiPenalty"
        )
