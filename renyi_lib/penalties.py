"""Dependence between a classifier's soft labels and the groups, as a differentiable penalty.

A classifier gives sample n the class i with probability F[n, i]. A *penalty* measures how much
that randomised label Ŷ depends on the sample's group S, and how the measure changes with F:

    value, gradient = penalty.value_and_grad(F, groups)

with ``gradient[n, i]`` the derivative by ``F[n, i]``. Nothing else is asked of a penalty, so a
classifier that minimises loss + lam * penalty takes any of them, and a new one is one new class.

Most penalties depend on F through the joint table T[i, j] = P(Ŷ = i, S = j) only. They are pure
functions of that small table; `Groups` makes the one pass over the samples that leads from F to T,
and the one that leads from dvalue/dT back to dvalue/dF.

The Rényi penalty is a maximum over an adversary's moves. Its gradient is that of the inner
function at the adversary's best response, held fixed (Danskin's theorem). In Algorithm 1 the
adversary chooses a function of S (the vector v), in Algorithm 2 a function of Ŷ (the vector w).
Both are exactly rho_R^2 at the best response: here the factor 1 / (q (1 - q)) that the paper
absorbs in lambda for Algorithm 2 is written out.

The gradients treat the entries of F as free numbers and the probabilities of the groups as given.
"""

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import factorial
from sklearn.base import BaseEstimator

from renyi_lib._parameters import Checked, choice, either, instance, number, whole
from renyi_lib._validation import (
    check_same_length,
    check_several_groups,
    encode_labels,
    integer_codes,
    sample_weights,
)
from renyi_lib.correlation import _back, _outside, gaussian_waves

__all__ = [
    "BinaryRenyiPenalty",
    "ChiSquarePenalty",
    "ConditionalPenalty",
    "Groups",
    "HSICPenalty",
    "PearsonPenalty",
    "Penalty",
    "RenyiPenalty",
    "ScoreBinsPenalty",
    "best_response_W",
    "best_response_v",
    "best_response_w",
    "chi_square_given_W",
    "renyi_given_v",
    "renyi_given_w",
]

# Below this mass a class is taken as empty: it adds 0 to every penalty. Far below any sum that a
# sample of positive weight contributes to, so that no other result changes.
_EMPTY = 1e-290

# With more groups than these, d, no d x d matrix is made and no array for each group: the
# reflection behind `_complement` is applied, and residuals go straight to theta. With fewer, sums
# keep the order, and so the last bits, of the book's experiments.
MANY_GROUPS = 100


@dataclass(frozen=True, eq=False)
class Groups:
    """The group S of each sample, coded and counted once.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        The group of each sample, 0 … d-1.
    categories : ndarray of shape (d,)
        What the caller calls the groups.
    weight : float or ndarray of shape (n,)
        The probability of each sample; a number if all are equally likely.
    q : ndarray of shape (d,)
        P(S = j), all positive.

    Examples
    --------
    >>> from renyi_lib.penalties import Groups
    >>> groups = Groups.from_labels(["f", "m", "m", "f"])
    >>> groups.table([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]])
    array([[0.3, 0.2],
           [0.2, 0.3]])
    """

    codes: np.ndarray
    categories: np.ndarray
    weight: float | np.ndarray
    q: np.ndarray

    @classmethod
    def from_labels(
        cls, labels: Any, sample_weight: ArrayLike | None = None, *, name: str = "groups"
    ) -> "Groups":
        """Labels of any kind; several columns, as in a DataFrame, become one joint group."""
        codes, categories = encode_labels(labels, name)
        check_several_groups(categories, len(codes), name)
        weight = None
        if sample_weight is not None:
            weight = sample_weights(sample_weight)
            check_same_length(**{name: codes, "sample_weight": weight})
            weight = weight / weight.sum()
        return cls.from_codes(codes, categories, weight)

    @classmethod
    def from_codes(
        cls, codes: np.ndarray, categories: np.ndarray, weight: np.ndarray | None = None
    ) -> "Groups":
        """Labels that are coded already, and probabilities of the samples that sum to 1."""
        each = 1.0 / len(codes) if weight is None else weight
        return cls._counted(codes, categories, each, "of positive weight")

    def given(self, mask: np.ndarray, label: Any = True) -> "Groups":
        """The same groups under the conditional distribution given that `mask` is true.

        `label` is what the error calls the condition if a group has no sample in it.
        """
        weight = mask * self.weight
        weight = weight / max(weight.sum(), _EMPTY)
        return self._counted(self.codes, self.categories, weight, f"with the label {label!r}")

    @classmethod
    def _counted(cls, codes, categories, weight, condition):
        weights = np.broadcast_to(weight, codes.shape)
        q = np.bincount(codes, weights=weights, minlength=len(categories))
        if not q.all():
            raise ValueError(
                f"group {categories.tolist()[q.argmin()]!r} has no sample {condition}, so that "
                "its distribution there is not known: merge it with another group or leave it out"
            )
        return cls(codes, categories, weight, q)

    def table(self, F: ArrayLike) -> np.ndarray:
        """T[i, j] = P(Ŷ = i, S = j), the average of F by group: one pass over F."""
        F = self._of_shape(F)
        d = len(self.q)
        T = np.array([np.bincount(self.codes, column * self.weight, d) for column in F.T])
        _check_finite(T)
        return T

    def checked(self, F: ArrayLike) -> np.ndarray:
        """F as an array, if it has a row for each sample and is finite."""
        F = self._of_shape(F)
        _check_finite(F)
        return F

    def _of_shape(self, F) -> np.ndarray:
        F = np.asarray(F, dtype=float)
        if F.ndim != 2 or len(F) != len(self.codes):
            raise ValueError(
                f"F must have a row for each of the {len(self.codes)} samples and a column for "
                f"each class, got shape {F.shape}"
            )
        return F

    def spread(self, dT: np.ndarray) -> np.ndarray:
        """dvalue/dF from dvalue/dT, the transpose of `table`."""
        return (np.take(dT, self.codes, axis=1) * self.weight).T


def _check_finite(values):
    if not np.isfinite(values).all():
        raise ValueError("F has missing or infinite values: each entry must be a probability")


def best_response_v(T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Algorithm 1's best response: the second right singular vector of Q.

    Parameters
    ----------
    T : ndarray of shape (c, d)
        P(Ŷ = i, S = j).
    q : ndarray of shape (d,)
        P(S = j).

    Returns
    -------
    ndarray of shape (d,)
        A unit vector orthogonal to v_1 = sqrt(q). Its sign is chosen so that its last entry that
        is not zero is positive. If singular values tie it is one of several maximisers.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_v
    >>> best_response_v(np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5])).round(6)
    array([-0.707107,  0.707107])
    """
    _, V = _singular_pairs(T, q)
    v = V[:, 0]
    return v * np.sign(v[np.abs(v) > 1e-8][-1])


def renyi_given_v(T: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
    """The adversary's term of eq. Min-Max-Fairness_DP-discrete, v^T Q^T Q v, and its gradient.

    With h_j = v_j / sqrt(q_j), a function of the group with mean 0 and variance 1,
    p_i = P(Ŷ = i) and m_i = E[h(S) | Ŷ = i],

        v^T Q^T Q v = sum_i p_i m_i^2,        d / dT_ij = 2 m_i h_j - m_i^2.

    Parameters
    ----------
    T : ndarray of shape (c, d)
        P(Ŷ = i, S = j).
    q : ndarray of shape (d,)
        P(S = j).
    v : ndarray of shape (d,)
        The adversary's move, orthogonal to v_1 = sqrt(q).

    Returns
    -------
    value : float
    dT : ndarray of shape (c, d)

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
    # E h = 0: to take the table of independence off T changes nothing but the rounding error.
    m = _excess(T, q) @ h / np.maximum(p, _EMPTY)
    return float(p @ m**2), 2 * np.outer(m, h) - (m**2)[:, None]


def best_response_w(T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Algorithm 2's best response, w_i = (P(Ŷ=i, S=1) - P(Ŷ=i, S=0)) / (2 P(Ŷ=i)).

    Parameters
    ----------
    T : ndarray of shape (c, 2)
        P(Ŷ = i, S = j).
    q : ndarray of shape (2,)
        P(S = j).

    Returns
    -------
    ndarray of shape (c,)
        Equal to P(S = 1 | Ŷ = i) - 1/2. For a class without mass any w_i is a best response; it
        is given that of independence, P(S = 1) - 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.penalties import best_response_w
    >>> best_response_w(np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([0.5, 0.5]))
    array([-0.1,  0.1])
    """
    return q[1] - 0.5 + _excess(T, q)[:, 1] / np.maximum(T.sum(axis=1), _EMPTY)


def renyi_given_w(T: np.ndarray, q: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """The adversary's term of eq. Binary-Min-Max-Fairness, scaled to rho_R^2, and its gradient.

    The paper's term, sum_i (w_i (P(Ŷ=i, S=1) - P(Ŷ=i, S=0)) - w_i^2 P(Ŷ=i)), has the maximum
    1/4 - gamma. By Theorem 2, rho_R^2 = 1 - gamma / (q (1 - q)) with q = P(S = 1); so it is that
    term less (q - 1/2)^2, over q (1 - q). With u_i = w_i - (q - 1/2) and
    b_i = P(Ŷ=i, S=1) - q P(Ŷ=i) this reads

        sum_i (2 u_i b_i - u_i^2 P(Ŷ=i)) / (q (1 - q)),

    where every term goes to 0 with rho_R, and no digits are lost.

    Parameters
    ----------
    T : ndarray of shape (c, 2)
        P(Ŷ = i, S = j).
    q : ndarray of shape (2,)
        P(S = j).
    w : ndarray of shape (c,)
        The adversary's move.

    Returns
    -------
    value : float
    dT : ndarray of shape (c, 2)

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
    """The same as a function of u = w - (q - 1/2), how far the move is from independence."""
    p = T[:, 0] + T[:, 1]
    variance = q[0] * q[1]
    value = (2 * u @ (T[:, 1] - q[1] * p) - (u * u) @ p) / variance
    dT = np.empty((len(u), 2))
    dT[:, 0] = -u * (2 * q[1] + u) / variance
    dT[:, 1] = u * (2 * q[0] - u) / variance
    return float(value), dT


def best_response_W(T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """FERMI's best response, W_ji = P(S = j | Ŷ = i) / sqrt(q_j).

    Parameters
    ----------
    T : ndarray of shape (..., c, d)
        P(Ŷ = i, S = j); leading axes hold several tables.
    q : ndarray of shape (..., d)
        P(S = j). A group that does not occur has q_j = 0, and gets the W of independence.

    Returns
    -------
    ndarray of shape (..., d, c)
        For a class without mass any column is a best response; it is given that of independence,
        sqrt(q).

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
    U = (T - p * q[..., None, :]) / np.maximum(p * root, _EMPTY)
    return np.swapaxes(root + U, -1, -2)


def chi_square_given_W(
    T: np.ndarray, q: np.ndarray, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """FERMI's adversary's term, -Tr(W P_y W^T) + 2 Tr(W P_ys P_s^{-1/2}) - 1, and its gradient.

    With U = W - sqrt(q), the distance from the move that independence calls for, it reads
    ``sum_ij 2 U_ji (T_ij - p_i q_j) / sqrt(q_j) - sum_i p_i |U_i|^2``,

    where every term goes to 0 with the dependence, and no digits are lost. It is linear in T: the
    average over batches of its gradient by F is its gradient on all samples, for any W.

    Parameters
    ----------
    T : ndarray of shape (..., c, d)
        P(Ŷ = i, S = j); leading axes hold several tables.
    q : ndarray of shape (..., d)
        P(S = j).
    W : ndarray of shape (..., d, c)
        The adversary's move.

    Returns
    -------
    value : float, or ndarray of the leading axes' shape
    dT : ndarray of shape (..., c, d)

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
    slope = U / np.maximum(root, _EMPTY**0.5)
    dT = 2 * (slope - np.sum(slope * q[..., None, :], axis=-1, keepdims=True))
    dT = dT - np.sum(U**2, axis=-1, keepdims=True)
    return np.sum(dT * T, axis=(-1, -2)), dT


class Penalty(Checked, BaseEstimator):
    """What every penalty gives: a value and its gradient by the class probabilities.

    A new penalty overrides `terms`, which for most of them is a list of one pair. Penalties are
    estimators in the sense of scikit-learn as far as their parameters go: they can be printed,
    cloned and set, also from a classifier (``penalty__bandwidth``).
    """

    def value_and_grad(
        self, F: ArrayLike, groups: "Groups | ArrayLike"
    ) -> tuple[float, np.ndarray]:
        """The penalty and its gradient.

        Parameters
        ----------
        F : array-like of shape (n, c)
            Class probabilities.
        groups : Groups or array-like of shape (n,)
            The group of each sample. To evaluate more than once, count the groups once, with
            `Groups.from_labels`.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n, c)
        """
        self._check_parameters()
        terms = self.terms(F, groups)
        if len(terms) == 1:
            return terms[0]
        values, gradients = zip(*terms)
        return sum(values), sum(gradients)

    def value(self, F, groups):
        """The penalty without its gradient."""
        return self.value_and_grad(F, groups)[0]

    def terms(self, F, groups):
        """A list of (value, gradient), one pair for each summand of the penalty."""
        raise NotImplementedError

    def best_response(self, F, groups):
        """The adversary's best response, or None if the penalty is not a maximum over one."""
        return None  # noqa: RET501 (None is the answer here)

    def residual_gradients(self, F, groups):
        """Gradients by F of residuals whose squares sum to the penalty, or to a bound of it.

        A large lam makes the objective steep in these few directions; a solver that knows them
        can step along the others. By default one residual for each summand, its square root.
        """
        return [
            gradient / (2 * np.sqrt(value))
            for value, gradient in self.terms(F, groups)
            if value > _EMPTY
        ]

    def residual_rows(self, F, groups, slopes_of):
        """The same residuals' gradients by theta, as rows, without an array of F's size for each.

        ``slopes_of(groups)`` gives the derivatives of the joint table by theta, of shape
        (c, d, number of parameters). None if this penalty, or so few groups, need no such way.
        """
        return None  # noqa: RET501 (None is the answer here)

    def has_kinks(self, n_classes, n_groups):
        """Whether the penalty may fail to be differentiable for so many classes and groups."""
        return False

    def smoothed(self, mu):
        """A differentiable penalty, each summand of which is at most mu / 2 above the true one."""
        return self


class _RenyiTable(Penalty):
    """What the two forms of rho_R^2 have in common: they are functions of the table T."""

    def terms(self, F, groups):
        groups = _as_groups(groups)
        value, dT = self._of_table(groups.table(F), groups.q)
        return [(value, groups.spread(dT))]

    def residual_gradients(self, F, groups):
        """The entries of Q outside its first singular pair: their squares sum to |Q|^2 - 1."""
        groups = _as_groups(groups)
        return [groups.spread(dT) for dT in self._residuals_of_table(groups.table(F), groups.q)]

    def residual_rows(self, F, groups, slopes_of):
        """Those of the entries of Q, for many groups."""
        groups = _as_groups(groups)
        own = type(self)._residuals_of_table is not _RenyiTable._residuals_of_table
        if own or len(groups.q) <= MANY_GROUPS:
            return None
        return self._residual_rows(groups.table(F), groups.q, slopes_of(groups))

    @staticmethod
    def _residuals_of_table(T, q):
        """The gradients of those entries by T."""
        p = np.maximum(T.sum(axis=1), _EMPTY)
        left, right = _complement(np.sqrt(p / p.sum())), _complement(np.sqrt(q))
        h = right / np.sqrt(q)[:, None]
        m = _excess(T, q) @ h / p[:, None]
        f = left / np.sqrt(p)[:, None]
        return [
            f[:, [k]] * (h[:, j] - m[:, [j]] / 2)
            for k in range(f.shape[1])
            for j in range(h.shape[1])
        ]

    @staticmethod
    def _residual_rows(T, q, slopes):
        """The gradients of those entries by theta, (c-1)(d-1) rows in O(c^2 d) numbers of it.

        ``slopes[i, j]`` is the derivative of T[i, j] by theta, as a vector.
        """
        p, root = np.maximum(T.sum(axis=1), _EMPTY), np.sqrt(q)
        f = _complement(np.sqrt(p / p.sum())) / np.sqrt(p)[:, None]
        m = _outside((_excess(T, q) / root).T, root) / p
        by_class = [
            _outside(slope / root[:, None], root) - np.outer(m[:, i] / 2, slope.sum(axis=0))
            for i, slope in enumerate(slopes)
        ]
        return np.concatenate(np.tensordot(f, by_class, (0, 0)))


class RenyiPenalty(_RenyiTable):
    """rho_R^2(Ŷ, S) for any number of classes and groups: Algorithm 1's adversary.

    rho_R^2 is the maximum of v^T Q^T Q v over vectors v of length at most 1 that are orthogonal
    to v_1 = sqrt(q), attained by the second right singular vector of Q (Theorem 1).

    Parameters
    ----------
    smoothing : float, default=0.0
        With 0, the penalty is rho_R^2 itself. That has a kink where the second and the third
        singular value of Q tie, which takes at least three classes and three groups; the gradient
        there is that of one of the maximisers, a subgradient. With mu > 0 the adversary mixes its
        moves: it plays the k-th singular vector with probability pi_k, and is paid for mixing::

            max over pi of sum_k pi_k sigma_k^2 + (1 - sum_k pi_k^2) mu / 2.

        This is differentiable, at most mu / 2 above rho_R^2, and equal to it wherever
        sigma_2^2 - sigma_3^2 >= mu.

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

    def _of_table(self, T, q):
        sigma, V = _singular_pairs(T, q)
        pi = _mixed_strategy(sigma**2, self.smoothing)
        moves = [renyi_given_v(T, q, V[:, k]) for k in np.flatnonzero(pi)]
        played = pi[pi > 0]
        value = sum(pi_k * value for pi_k, (value, _) in zip(played, moves))
        dT = sum(pi_k * dT for pi_k, (_, dT) in zip(played, moves))
        return float(value + 0.5 * self.smoothing * (1 - pi @ pi)), dT

    def best_response(self, F, groups):
        """The second right singular vector v of Q, of shape (d,)."""
        groups = _as_groups(groups)
        return best_response_v(groups.table(F), groups.q)

    def has_kinks(self, n_classes, n_groups):
        """Two singular values after the first can tie if there are two."""
        return min(n_classes, n_groups) > 2

    def smoothed(self, mu):
        """The same penalty with the smoothing mu."""
        return RenyiPenalty(smoothing=mu)


class BinaryRenyiPenalty(_RenyiTable):
    """rho_R^2(Ŷ, S) for two groups, in closed form: Algorithm 2's adversary (Theorem 2).

    The second category in sorted order counts as S = 1; the penalty does not depend on which.

    Examples
    --------
    >>> from renyi_lib.penalties import BinaryRenyiPenalty
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]]
    >>> value, gradient = BinaryRenyiPenalty().value_and_grad(F, ["f", "m", "m", "f"])
    >>> round(value, 12)
    0.04
    """

    def _of_table(self, T, q):
        _check_two(q)
        p = T[:, 0] + T[:, 1]
        return _given_u(T, q, (T[:, 1] - q[1] * p) / np.maximum(p, _EMPTY))

    def best_response(self, F, groups):
        """The closed-form w of Algorithm 2, of shape (c,)."""
        groups = _as_groups(groups)
        _check_two(groups.q)
        return best_response_w(groups.table(F), groups.q)


class ChiSquarePenalty(_RenyiTable):
    """Chi-square information of Ŷ and S: the sum of *all* sigma_i^2 after the first.

    With P_ij = P(Ŷ = i, S = j) and its margins p and q,

        sum_ij (P_ij - p_i q_j)^2 / (p_i q_j) = sigma_2^2 + sigma_3^2 + …

    which FERMI calls exponential Rényi mutual information. It is rho_R^2 if there are two classes
    or two groups, and between rho_R^2 and (min(c, d) - 1) rho_R^2 in general. Unlike rho_R^2 it
    has no kink. It is the maximum over matrices W of a function that is linear in the table P
    (`chi_square_given_W`), on which FERMI's stochastic steps rest (`renyi_lib.stochastic.Fermi`).

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

    def _of_table(self, T, q):
        value, dT = chi_square_given_W(T, q, best_response_W(T, q))
        return (float(value) if T.ndim == 2 else value), dT

    def best_response(self, F, groups):
        """The W of FERMI, of shape (d, c)."""
        groups = _as_groups(groups)
        return best_response_W(groups.table(F), groups.q)


class ConditionalPenalty(Penalty):
    """The sum of a penalty given Y = y over labels y (eq. Min-Max-Fairness_EO).

    Over all labels this is equalized odds; over one of them, equality of opportunity.

    Parameters
    ----------
    penalty : Penalty
    y : array-like of shape (n,)
        The true label of each sample.
    values : sequence, optional
        The labels to sum over; by default all that occur.

    Examples
    --------
    >>> from renyi_lib.penalties import ConditionalPenalty, RenyiPenalty
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.2, 0.8]]
    >>> groups = ["f", "m", "m", "f"]
    >>> odds = ConditionalPenalty(RenyiPenalty(), y=[0, 0, 1, 1])
    >>> round(odds.value_and_grad(F, groups)[0], 6)
    0.190476
    >>> opportunity = ConditionalPenalty(RenyiPenalty(), y=[0, 0, 1, 1], values=[1])
    >>> opportunity.value_and_grad(F, groups)[0] < 1e-30
    True
    """

    _constraints: ClassVar = {"penalty": instance(Penalty, "a Penalty, such as RenyiPenalty()")}

    def __init__(self, penalty: Penalty, y: Any, values: list | None = None):
        self.penalty = penalty
        self.y = y
        self.values = values

    def terms(self, F, groups):
        conditions = self._conditions(_as_groups(groups))
        return [term for given in conditions for term in self.penalty.terms(F, given)]

    def best_response(self, F, groups):
        """The adversary's best response given each of the labels, one row for each."""
        conditions = self._conditions(_as_groups(groups))
        responses = [self.penalty.best_response(F, given) for given in conditions]
        return None if responses[0] is None else np.stack(responses)

    def residual_gradients(self, F, groups):
        """The residuals given each of the labels."""
        conditions = self._conditions(_as_groups(groups))
        return [r for given in conditions for r in self.penalty.residual_gradients(F, given)]

    def residual_rows(self, F, groups, slopes_of):
        """Those given each of the labels."""
        conditions = self._conditions(_as_groups(groups))
        rows = [self.penalty.residual_rows(F, given, slopes_of) for given in conditions]
        return None if rows[0] is None else np.concatenate(rows)

    def has_kinks(self, n_classes, n_groups):
        """As the penalty that is summed."""
        return self.penalty.has_kinks(n_classes, n_groups)

    def smoothed(self, mu):
        """The same sum of smoothed penalties."""
        smooth = copy.copy(self)
        smooth.penalty = self.penalty.smoothed(mu)
        return smooth

    def _conditions(self, groups):
        """The groups given each of the labels; counted anew only for other groups or labels."""
        asked = (groups, self.y, self.values)
        last, given = getattr(self, "_last", ((None,) * 3, []))
        if not all(now is before for now, before in zip(asked, last)):
            given = self._counted(groups)
            self._last = (asked, given)
        return given

    def _counted(self, groups):
        codes, labels = integer_codes(self.y, "y")
        check_same_length(groups=groups.codes, y=codes)
        code_of = {label: code for code, label in enumerate(labels.tolist())}
        occurring = np.bincount(codes, minlength=len(labels)) > 0
        wanted = labels[occurring].tolist() if self.values is None else list(self.values)
        unknown = [v for v in wanted if v not in code_of or not occurring[code_of[v]]]
        if unknown:
            raise ValueError(
                f"values asks for the label {unknown[0]!r}, which does not occur in y"
            )
        return [groups.given(codes == code_of[value], value) for value in wanted]


class PearsonPenalty(Penalty):
    """Squared Pearson correlation between class probabilities and group indicators.

    With var_i the variance of F_i over the samples (not that of the label drawn from it),

        sum over i, j of cov(F_i, 1[S = j])^2 / (var_i q_j (1 - q_j)).

    Of two classes, and of two groups, only the second is counted, as the first says the same: for
    binary Y and S this is the squared correlation of the score P(Ŷ = 1 | X) and S. A class of
    constant probability adds 0. Near such a point the value is not continuous.

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
        groups = _as_groups(groups)
        F = np.asarray(F, dtype=float)
        T, q = groups.table(F), groups.q
        classes = slice(T.shape[0] == 2, None)
        columns = slice(T.shape[1] == 2, None)
        mean = T.sum(axis=1)
        centered = F - mean
        variance = (centered.T**2 * groups.weight).sum(axis=1)
        # What is left of a constant after its mean is taken off is rounding error.
        variance[variance <= 1e-24 * mean**2] = np.inf
        slope = np.zeros_like(T)
        slope[classes, columns] = _excess(T, q)[classes, columns] / (q * (1 - q))[columns]
        slope /= variance[:, None]
        by_class = (slope * _excess(T, q)).sum(axis=1)
        gradient = groups.spread(2 * (slope - (slope @ q)[:, None]))
        gradient -= (centered.T * (2 * by_class / variance)[:, None] * groups.weight).T
        return [(float(by_class.sum()), gradient)]


class HSICPenalty(Penalty):
    """Hilbert-Schmidt independence criterion of the class probabilities and the group.

    The biased estimate trace(K H L H) / n^2, with L the kernel 1[s = t] of the groups and K the
    sum over the classes of a kernel of that class's probability,

        K(F, F') = sum_i k(F_i, F'_i),      k(x, y) = x y   or   exp(-(x - y)^2 / (2 bandwidth^2)).

    With two classes this is twice the HSIC of the score P(Ŷ = 1 | X) and S. The linear kernel sees
    differences of the groups' mean probabilities only; the Gaussian one sees any difference
    between the groups' distributions of each F_i.

    Parameters
    ----------
    kernel : {"gaussian", "linear"}, default="gaussian"
    bandwidth : float, default=0.25
        Of the Gaussian kernel, on the scale of probabilities. It is a constant, as the penalty
        would not be a fixed function of F otherwise.

    Notes
    -----
    As S is discrete, the trace is a sum of squared covariances between indicators of groups and
    features of F: linear in n in time and memory. The Gaussian kernel on [0, 1] is, to machine
    precision, a sum of a few dozen waves (18 for bandwidth 0.25), so that no digit is given up.

    References
    ----------
    A. Pérez-Suay, V. Laparra, G. Mateo-García, J. Muñoz-Marí, L. Gómez-Chova and
    G. Camps-Valls, "Fair kernel learning", ECML PKDD (2017), 339-355,
    doi:10.1007/978-3-319-71249-9_21.

    Examples
    --------
    >>> from renyi_lib.correlation import hsic
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

    def terms(self, F, groups):
        groups = _as_groups(groups)
        F = groups.checked(F)
        if self.kernel == "linear":
            excess = _excess(groups.table(F), groups.q)
            dT = 2 * (excess - (excess @ groups.q)[:, None])
            return [(float((excess**2).sum()), groups.spread(dT))]
        if F.shape[1] == 2 and np.abs(F[:, 0] + F[:, 1] - 1).max() < 1e-14:
            # A kernel of distances sees no difference between x and 1 - x: one class is enough.
            value, gradient = _gaussian_hsic(F[:, 1], groups, self.bandwidth)
            return [(2 * value, np.column_stack([-gradient, gradient]))]
        columns = [_gaussian_hsic(column, groups, self.bandwidth) for column in F.T]
        values, gradients = zip(*columns)
        return [(sum(values), np.column_stack(gradients))]


class ScoreBinsPenalty(Penalty):
    """A penalty on the distribution of a two-class score, instead of on the label drawn from it.

    The score P(Ŷ = 1 | X) is itself turned into a randomised label, the bin it falls into, with
    soft borders: its memberships are the quadratic B-splines on a uniform grid over [0, 1], smooth
    and summing to 1. The penalty is that of the bins, with c = n_bins classes. A label that is
    thresholded anywhere is then nearly independent of S, which a penalty on the drawn label
    cannot promise.

    Parameters
    ----------
    penalty : Penalty, optional
        By default `RenyiPenalty`.
    n_bins : int, default=12

    Examples
    --------
    Both groups have the same mean score, and so are treated alike by the drawn label; a threshold
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
        groups = _as_groups(groups)
        F = groups.checked(F)
        if F.shape[1] != 2:
            raise ValueError(f"score bins need two classes, but F has shape {np.shape(F)}")
        bins, penalty = self._bins(F), self._of_bins()
        if isinstance(penalty, _RenyiTable):
            value, dT = penalty._of_table(bins.table(groups), groups.q)
            return [(value, _by_class(bins.spread(dT, groups)))]
        return [
            (value, _by_class(bins.pull_back(by_bin)))
            for value, by_bin in penalty.terms(bins.members(), groups)
        ]

    def residual_gradients(self, F, groups):
        """Those of the penalty of the bins."""
        groups = _as_groups(groups)
        bins, penalty = self._bins(F), self._of_bins()
        if isinstance(penalty, _RenyiTable):
            by_table = penalty._residuals_of_table(bins.table(groups), groups.q)
            return [_by_class(bins.spread(dT, groups)) for dT in by_table]
        residuals = penalty.residual_gradients(bins.members(), groups)
        return [_by_class(bins.pull_back(by_bin)) for by_bin in residuals]

    def value(self, F, groups):
        """The penalty without its gradient."""
        groups, penalty = _as_groups(groups), self._of_bins()
        if isinstance(penalty, _RenyiTable):
            return penalty._of_table(self._bins(F).table(groups), groups.q)[0]
        return super().value(F, groups)

    def has_kinks(self, n_classes, n_groups):
        """As the penalty of the bins."""
        return self._of_bins().has_kinks(self.n_bins, n_groups)

    def smoothed(self, mu):
        """The smoothed penalty of the bins."""
        return ScoreBinsPenalty(self._of_bins().smoothed(mu), self.n_bins)

    def _of_bins(self):
        return RenyiPenalty() if self.penalty is None else self.penalty

    def _bins(self, F):
        return _SoftBins(np.asarray(F, dtype=float)[:, 1], self.n_bins)


class _SoftBins:
    """Memberships of each score in the bins: quadratic B-splines, three of them not 0."""

    def __init__(self, score, n_bins):
        cells = n_bins - 2
        position = score * cells
        self.n_bins = n_bins
        self.cell = np.clip(position.astype(int), 0, cells - 1)
        t = position - self.cell
        self.parts = ((1 - t) ** 2 / 2, 0.5 + t * (1 - t), t**2 / 2)
        self.slopes = ((t - 1) * cells, (1 - 2 * t) * cells, t * cells)

    def table(self, groups):
        """T[i, j] = P(bin = i, S = j), without the n x n_bins memberships."""
        d = len(groups.q)
        place = self.cell * d + groups.codes
        T = np.zeros((self.n_bins, d))
        for k, part in enumerate(self.parts):
            counted = np.bincount(place, part * groups.weight, (self.n_bins - 2) * d)
            T[k : k + self.n_bins - 2] += counted.reshape(-1, d)
        return T

    def spread(self, dT, groups):
        """dvalue/dscore from dvalue/dT."""
        place = self.cell * dT.shape[1] + groups.codes
        entries = [np.take(dT[k : k + self.n_bins - 2], place) for k in range(3)]
        return sum(slope * e for slope, e in zip(self.slopes, entries)) * groups.weight

    def members(self):
        """The memberships as an array of shape (n, n_bins)."""
        return self._dense(self.parts)

    def pull_back(self, by_member):
        """dvalue/dscore from dvalue/dmembers."""
        return np.einsum("nk,nk->n", by_member, self._dense(self.slopes))

    def _dense(self, parts):
        dense = np.zeros((len(self.cell), self.n_bins))
        for k, part in enumerate(parts):
            dense[np.arange(len(dense)), self.cell + k] = part
        return dense


def _by_class(by_score):
    """The gradient by both classes' probabilities of what depends on the second alone."""
    return np.column_stack([np.zeros_like(by_score), by_score])


def _as_groups(groups):
    return groups if isinstance(groups, Groups) else Groups.from_labels(groups)


def _check_two(q):
    if len(q) != 2:
        raise ValueError(
            f"the closed form of Theorem 2 needs two groups, but there are {len(q)}: "
            "use RenyiPenalty"
        )


def _excess(T, q):
    """T less the table that independence would give, with the same P(Ŷ = i)."""
    return T - np.outer(T.sum(axis=1), q)


def _singular_pairs(T, q):
    """Singular values of Q after the first, and the right singular vectors as columns.

    Q is taken in a basis of the complement of v_1 = sqrt(q), so that the vectors are orthogonal
    to v_1 even where singular values are tiny or 0.
    """
    v_1, rank = np.sqrt(q), min(T.shape) - 1
    u_1 = np.sqrt(np.maximum(T.sum(axis=1), _EMPTY))
    remainder = _excess(T, q) / np.outer(u_1, v_1)
    if len(q) > MANY_GROUPS:
        _, sigma, Vt = np.linalg.svd(_outside(remainder.T, v_1).T, full_matrices=False)
        return sigma[:rank], np.stack([_back(y, v_1) for y in Vt[:rank]], axis=1)
    basis = _complement(v_1)
    _, sigma, Vt = np.linalg.svd(remainder @ basis, full_matrices=False)
    return sigma[:rank], basis @ Vt[:rank].T


def _complement(x):
    """An orthonormal basis, as columns, of what is orthogonal to the non-negative unit vector x.

    These are the columns after the first of the reflection that maps x to the first axis.
    """
    mirror = x + np.eye(1, len(x))[0]
    return (np.eye(len(x)) - np.outer(mirror, mirror) / mirror[0])[:, 1:]


def _mixed_strategy(values, mu):
    """The probabilities pi that maximise pi . values - mu / 2 |pi|^2; values decrease."""
    if mu == 0:
        return np.eye(1, len(values))[0]
    # The projection of values / mu on the simplex: subtract what makes the positive part sum to 1.
    scaled = values / mu
    thresholds = (np.cumsum(scaled) - 1) / np.arange(1, len(scaled) + 1)
    return np.maximum(scaled - thresholds[scaled > thresholds][-1], 0)


def _gaussian_hsic(x, groups, bandwidth):
    """HSIC of numbers in [0, 1] under a Gaussian kernel and the groups, and its gradient by x."""
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
    """The waves exp(i w_k x), summed one by one; every w_k is a multiple of the first."""

    def __init__(self, x, frequencies, groups):
        self.first, self.n_waves, self.groups = (
            np.exp(1j * frequencies[0] * x),
            len(frequencies),
            groups,
        )

    def means(self):
        """The mean of wave k over the people of group j, times P(S = j)."""
        found = [self.groups.table(np.column_stack([w.real, w.imag])) for w in self._each()]
        return np.array([real + 1j * imaginary for real, imaginary in found])

    def imaginary(self, factors):
        """The imaginary part of sum_k factors[k, s_n] exp(i w_k x_n) for each n."""
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
    """How many cells of [0, 1] keep a wave within 1/30 of a radian of the middle of its cell."""
    return int(np.ceil(15 * frequency))


@lru_cache(maxsize=8)
def _wave_grid(frequencies):
    """The waves at the middles of the cells, and (i w)^m / m! for each wave and power m."""
    frequencies, powers = np.array(frequencies), np.arange(7)
    n_cells = _n_cells(frequencies[-1])
    middles = (np.arange(n_cells) + 0.5) / n_cells
    series = (1j * frequencies[:, None]) ** powers / factorial(powers)
    return np.exp(1j * np.outer(frequencies, middles)), series


class _CellWaves:
    """The same sums for many x: [0, 1] is cut into cells, in each of which Taylor's series of a
    wave about the middle ends, to machine precision, after seven terms.

    With x = middle + t and |w t| <= 1/30, the remainder is at most (1/30)^7 / 7! < 1e-14, and
    less for all but the last waves, whose amplitudes are themselves near 1e-16. So the sums need
    the moments of t in each cell and group only: a few counts, however many waves there are.
    """

    def __init__(self, x, frequencies, groups):
        self.groups, self.d = groups, len(groups.q)
        self.at_middles, self.series = _wave_grid(tuple(frequencies))
        n_cells = self.at_middles.shape[1]
        cell = np.clip((x * n_cells).astype(int), 0, n_cells - 1)
        self.t = x - (cell + 0.5) / n_cells
        self.place = cell * self.d + groups.codes

    def means(self):
        """As in `_Waves`."""
        shape = (self.at_middles.shape[1], self.d)
        weighted, found = np.broadcast_to(self.groups.weight, self.t.shape), 0.0
        for column in self.series.T:
            moments = np.bincount(self.place, weighted, np.prod(shape)).reshape(shape)
            found = found + column[:, None] * (self.at_middles @ moments)
            weighted = weighted * self.t
        return found

    def imaginary(self, factors):
        """As in `_Waves`."""
        terms = [
            (self.at_middles.T @ (column[:, None] * factors)).imag.ravel()
            for column in self.series.T
        ]
        found = terms[-1][self.place]
        for term in terms[-2::-1]:
            found = found * self.t + term[self.place]
        return found
