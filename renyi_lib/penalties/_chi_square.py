"""Chi-square information of label and group, with FERMI's adversary."""

import numpy as np

from renyi_lib.penalties._groups import EMPTY, as_groups
from renyi_lib.penalties._renyi_table import RenyiTable

__all__ = ["ChiSquarePenalty", "best_response_W", "chi_square_given_W"]


def best_response_W(T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute FERMI's best response, W_ji = P(S = j | Ŷ = i) / sqrt(q_j).

    Parameters
    ----------
    T : ndarray of shape (..., c, d)
        Joint table P(Ŷ = i, S = j); leading axes stack several tables.
    q : ndarray of shape (..., d)
        Group probabilities P(S = j). A group that does not occur has q_j = 0, and its W_ji are
        0.

    Returns
    -------
    ndarray of shape (..., d, c)
        Best response. For a class without mass, every column is a best response, and the
        column under independence, sqrt(q), is returned.

    See Also
    --------
    chi_square_given_W : Compute the adversary's term for a given W.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_W
    >>> best_response_W(np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5])).round(6)
    array([[0.848528, 0.565685],
           [0.565685, 0.848528]])
    """
    root = np.sqrt(q)[..., None, :]
    p = T.sum(axis=-1, keepdims=True)
    U = (T - p * q[..., None, :]) / np.maximum(p * root, EMPTY)
    return np.swapaxes(root + U, -1, -2)


def chi_square_given_W(
    T: np.ndarray, q: np.ndarray, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the term of FERMI's adversary, -Tr(W P_y W^T) + 2 Tr(W P_ys P_s^{-1/2}) - 1.

    P_y and P_s are the diagonal matrices of the probabilities p_i = P(Ŷ = i) and q_j, and P_ys is
    T. Let U = W - sqrt(q), with columns U_i, be the deviation of W from the best response under
    independence. The term then equals
    ``sum_ij 2 U_ji (T_ij - p_i q_j) / sqrt(q_j) - sum_i p_i |U_i|^2``. It is computed in this
    form, which loses fewer digits if the dependence is weak. The term is linear in T. For any
    fixed W, the average over batches of its gradient with respect to F is therefore the gradient
    on all samples.

    Parameters
    ----------
    T : ndarray of shape (..., c, d)
        Joint table P(Ŷ = i, S = j); leading axes stack several tables.
    q : ndarray of shape (..., d)
        Group probabilities P(S = j).
    W : ndarray of shape (..., d, c)
        Adversary's move.

    Returns
    -------
    value : float, or ndarray with the shape of the leading axes
        Value of the term.
    dT : ndarray of shape (..., c, d)
        Gradient with respect to T.

    See Also
    --------
    best_response_W : Compute the W that maximizes the term.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_W, chi_square_given_W
    >>> T, q = np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5])
    >>> value, dT = chi_square_given_W(T, q, best_response_W(T, q))
    >>> round(float(value), 12)
    0.04
    """
    root = np.sqrt(q)[..., None, :]
    U = np.swapaxes(W, -1, -2) - root
    slope = U / np.maximum(root, EMPTY**0.5)
    dT = 2 * (slope - np.sum(slope * q[..., None, :], axis=-1, keepdims=True))
    dT = dT - np.sum(U**2, axis=-1, keepdims=True)
    return np.sum(dT * T, axis=(-1, -2)), dT


class ChiSquarePenalty(RenyiTable):
    """Penalty on the chi-square information of Ŷ and S.

    With P_ij = P(Ŷ = i, S = j) and its margins p and q, the penalty is

        sum_ij (P_ij - p_i q_j)^2 / (p_i q_j) = sigma_2^2 + sigma_3^2 + …

    which is the sum of *all* squared singular values after the first. FERMI calls it exponential
    Rényi mutual information. It equals rho_R^2 if there are two classes or two groups, and it lies
    between rho_R^2 and (min(c, d) - 1) rho_R^2 in general. Unlike rho_R^2 it has no kink. It is
    the maximum over matrices W of a function that is linear in the table P
    (`chi_square_given_W`), which is the basis of FERMI's stochastic steps
    (`renyi_lib.stochastic.Fermi`).

    See Also
    --------
    RenyiPenalty : Penalize only the largest sigma_i^2 after the first.

    References
    ----------
    A. Lowy, S. Baharlouei, R. Pavan, M. Razaviyayn and A. Beirami, "A stochastic optimization
    framework for fair risk minimization", TMLR (2022), doi:10.48550/arXiv.2102.12586.

    Examples
    --------
    >>> from renyi_lib.penalties import ChiSquarePenalty
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]]
    >>> value, gradient = ChiSquarePenalty().value_and_grad(F, ["f", "m", "m", "f"])
    >>> round(value, 12)
    0.04
    """

    def of_table(self, T, q):
        value, dT = chi_square_given_W(T, q, best_response_W(T, q))
        return (float(value) if T.ndim == 2 else value), dT

    def best_response(self, F, groups):
        """Return the best response W of FERMI's adversary, of shape (d, c)."""
        groups = as_groups(groups)
        return best_response_W(groups.table(F), groups.q)
