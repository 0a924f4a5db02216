"""Penalties for mini-batches: what to do when a step sees only a few samples.

The table of a small batch shows dependence where there is none. Three ways, one interface:

    value, gradient = way.value_and_grad(F, codes)

F (b x c) holds the class probabilities of a batch of b samples, ``codes`` their groups as numbers
0 … d-1, and ``gradient[n, i]`` is the derivative with respect to ``F[n, i]``, which can be
backpropagated through any network. A way has a memory, and each call is one step of it, so make a
new one for each training run.

- `BatchTable` looks at the batch alone. No memory; biased upwards by about 1 / b.
- `RunningTable` keeps an average of the tables of past batches, and asks the penalty for its
  gradient there. The bias is that of a batch of 2 * memory - b samples; the price is age.
- `Fermi` keeps the adversary's matrix W and lets it climb a little with each batch. Given W its
  gradient is unbiased for any batch size.

All three take any number of leading axes: F of shape (k, b, c) with codes of shape (k, b) is k
networks trained side by side, each with a memory of its own.

With JAX, or any library that can pull a gradient back::

    F, pull_back = jax.vjp(network, theta)
    value, dF = way.value_and_grad(numpy.asarray(F), codes)
    (by_theta,) = pull_back(lam * jax.numpy.asarray(dF))

Inside `jax.jit`, and for torch, see `renyi_lib.autodiff`.
"""

import numpy as np
from numpy.typing import ArrayLike

from renyi_lib._parameters import choice, number, whole
from renyi_lib.penalties import best_response_W, chi_square_given_W
from renyi_lib.penalties._groups import EMPTY as _EMPTY

__all__ = ["BatchTable", "Fermi", "RunningTable", "table_of_batch"]


def table_of_batch(F: ArrayLike, codes: ArrayLike, n_groups: int) -> np.ndarray:
    """T[i, j] = the average over the batch of F_i 1[S = j].

    Parameters
    ----------
    F : array-like of shape (..., b, c)
        Class probabilities.
    codes : array-like of int, shape (..., b)
        The group of each sample, 0 … n_groups - 1.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (..., c, n_groups)

    Examples
    --------
    >>> from renyi_lib.stochastic import table_of_batch
    >>> table_of_batch([[0.75, 0.25], [0.5, 0.5]], [2, 0], n_groups=3)
    array([[0.25 , 0.   , 0.375],
           [0.25 , 0.   , 0.125]])
    """
    F, codes = _read(F, codes, n_groups)
    return _table(F, codes, n_groups)


class BatchTable:
    """The penalty of the batch's own table, as if the batch were the population.

    Parameters
    ----------
    n_groups : int
        d. A group that is not in the batch is left out; a batch of one group has the value 0.
    measure : {"chi-square", "renyi"}, default="chi-square"
        What is penalized: the measure of `ChiSquarePenalty`, or rho_R^2, that of `RenyiPenalty`.
        With two classes or two groups they are the same.

    Notes
    -----
    Let the batch hold n_j samples of group j, n in all, drawn at random within their groups, and
    let V_ij be the variance of F_i in group j. Where the label does not depend on the group, the
    mean of the chi-square value over batches is, to first order in 1 / n,

        1 / n * sum_ij (1 - n_j / n) V_ij / p_i,

    at most (c - 1) (d - 1) / n, and not 0.

    Examples
    --------
    >>> from renyi_lib.stochastic import BatchTable
    >>> way = BatchTable(n_groups=2)
    >>> value, gradient = way.value_and_grad([[0.75, 0.25], [0.25, 0.75]], [0, 1])
    >>> round(float(value), 12)
    0.25
    """

    def __init__(self, n_groups: int, measure: str = "chi-square"):
        whole(2)("n_groups", n_groups)
        choice(*TABLE_MEASURES)("measure", measure)
        self.n_groups = n_groups
        self.measure = measure

    def value_and_grad(self, F: ArrayLike, codes: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """One step: the penalty, and its gradient with respect to the F of the batch.

        Parameters
        ----------
        F : array-like of shape (..., b, c)
        codes : array-like of int, shape (..., b)

        Returns
        -------
        value : float, or ndarray of the leading axes' shape
        gradient : ndarray of shape (..., b, c)
        """
        F, codes = _read(F, codes, self.n_groups)
        T = self._remembered(_table(F, codes, self.n_groups), F.shape[-2])
        value, dT = TABLE_MEASURES[self.measure](T)
        return value, _spread(dT, codes, F.dtype)

    def _remembered(self, T, size):
        return T


class RunningTable(BatchTable):
    """The penalty of a running average of the batches' tables.

    E <- E + beta (T - E) with the table T of the batch and beta = b / memory. The gradient is that
    of the measure *at E*, spread over the samples of the batch: on average over batches this is
    the gradient on all samples at the table E, and at rest E is the table of all samples.

    Parameters
    ----------
    n_groups : int
        Number of groups.
    measure : {"chi-square", "renyi"}, default="chi-square"
        As in `BatchTable`.
    memory : float, default=5000
        In samples. With memory = b it is `BatchTable`.

    Attributes
    ----------
    table : ndarray of shape (..., c, d) or None
        E, once a batch has been seen.

    Notes
    -----
    E is the table of a sample in which a batch that is k steps old has the weight
    beta (1 - beta)^k. The squares of the weights sum to beta / (2 - beta), so that its noise, and
    with it the bias, are those of a batch of 2 * memory - b samples. Its mean age is memory - b
    samples: a small learning rate allows a long memory. Until `memory` samples have been seen E is
    their plain average.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.stochastic import BatchTable, RunningTable
    >>> rng = np.random.default_rng(0)
    >>> plain, running = BatchTable(2), RunningTable(2, memory=500)
    >>> seen = []
    >>> for _ in range(1000):  # 50 people whose label has nothing to do with their group
    ...     x, s = rng.random(50), rng.integers(2, size=50)
    ...     F = np.column_stack([1 - x, x])
    ...     seen.append([way.value_and_grad(F, s)[0] for way in (plain, running)])
    >>> np.mean(seen, axis=0).round(4)  # about 1 / (3 * 50) and 1 / (3 * 950)
    array([0.007 , 0.0003])
    """

    def __init__(self, n_groups: int, measure: str = "chi-square", *, memory: float = 5000.0):
        super().__init__(n_groups, measure)
        number(1)("memory", memory)
        self.memory = memory
        self.table = None
        self._seen = 0

    def _remembered(self, T, size):
        self._seen += size
        if self.table is None:
            self.table = T
        else:
            beta = min(1.0, max(size / self.memory, size / self._seen))
            self.table = self.table + beta * (T - self.table)
        return self.table


class Fermi:
    """FERMI: an adversary that climbs, and is linear in the samples.

    The chi-square information of label and group is the maximum over matrices W of

        -Tr(W P_y W^T) + 2 Tr(W P_ys P_s^{-1/2}) - 1,

    which is linear in the joint table once the shares P_s of the groups are known. The network
    takes the gradient with respect to F at the present W, unbiased for any batch; then W climbs,

        W_i <- W_i + 2 step * mean over the batch of F_i (e_s / sqrt(q_s) - W_i).

    So each column of W goes the part 2 step p_i of the way to the batch's best response.

    Parameters
    ----------
    q : array-like of shape (..., d)
        P(S = j), from all samples.
    step : float, default=0.01
        Of the adversary. Above 1 / 2 the climb may overshoot.

    Attributes
    ----------
    W : ndarray of shape (..., d, c) or None
        At the start the move that independence calls for, every column sqrt(q).

    References
    ----------
    A. Lowy, S. Baharlouei, R. Pavan, M. Razaviyayn and A. Beirami, "A stochastic optimization
    framework for fair risk minimization", TMLR (2022), doi:10.48550/arXiv.2102.12586, Algorithm 1
    (without its projection of W on a bounded set: W stays bounded for step <= 1 / 2).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.stochastic import Fermi
    >>> way = Fermi(q=[0.5, 0.5], step=0.05)
    >>> F, codes = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 1])
    >>> values = [way.value_and_grad(F, codes)[0] for _ in range(200)]
    >>> round(float(values[0]), 6), round(float(values[-1]), 6)  # the maximum is 0.25
    (0.0, 0.25)
    """

    def __init__(self, q: ArrayLike, *, step: float = 0.01):
        self.q = np.asarray(q, dtype=float)
        if self.q.ndim == 0 or self.q.shape[-1] < 2 or not (self.q > 0).all():
            raise ValueError(
                "q must hold the shares of two or more groups, all positive: count them on all "
                f"samples; got {q!r}"
            )
        if not np.allclose(self.q.sum(axis=-1), 1):
            raise ValueError(f"q must sum to 1, as shares of groups do; got {q!r}")
        number(0, 0.5, above=True)("step", step)
        self.step = step
        self.W: np.ndarray | None = None

    def value_and_grad(self, F: ArrayLike, codes: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """One step: value and gradient with respect to F at the present W, which then climbs.

        Parameters
        ----------
        F : array-like of shape (..., b, c)
        codes : array-like of int, shape (..., b)

        Returns
        -------
        value : float, or ndarray of the leading axes' shape
        gradient : ndarray of shape (..., b, c)
        """
        n_groups = self.q.shape[-1]
        F, codes = _read(F, codes, n_groups)
        T = _table(F, codes, n_groups)
        root = np.sqrt(self.q)[..., None]
        if self.W is None:
            shape = (*T.shape[:-2], n_groups, T.shape[-2])
            self.W = np.broadcast_to(root, shape).copy()
        value, dT = chi_square_given_W(T, self.q, self.W)
        pull = np.swapaxes(T, -1, -2) / root - T.sum(axis=-1)[..., None, :] * self.W
        self.W = self.W + 2 * self.step * pull
        return value, _spread(dT, codes, F.dtype)


def _read(F, codes, n_groups) -> tuple[np.ndarray, np.ndarray]:
    """F as floats and the codes as integers, checked; single precision stays what it is."""
    F, codes = np.asarray(F), np.asarray(codes)
    F = F if F.dtype in (np.float32, np.float64) else F.astype(float)
    if F.ndim < 2 or F.shape[:-1] != codes.shape or not F.shape[-2]:
        raise ValueError(
            "F must have a row for each sample of the batch and a column for each class, and "
            f"codes a number for each sample, got shapes {F.shape} and {codes.shape}"
        )
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_groups:
        raise ValueError(
            f"codes must be whole numbers from 0 to {n_groups - 1}, one for each sample's group: "
            "Groups.from_labels(labels).codes makes them of any labels"
        )
    return F, codes


def _table(F, codes, n_groups):
    """In double precision, whatever that of F: from here on there are few numbers."""
    member = np.eye(n_groups, dtype=F.dtype)[codes]
    return (np.swapaxes(F, -1, -2) @ member).astype(float) / F.shape[-2]


def _spread(dT, codes, dtype):
    """dvalue/dF from dvalue/dT, the transpose of `table_of_batch`."""
    rows = (np.swapaxes(dT, -1, -2) / codes.shape[-1]).astype(dtype)
    return np.take_along_axis(rows, codes[..., None], axis=-2)


def _chi_square(T):
    """Chi-square information of each table, and its gradient with respect to the table."""
    q = T.sum(axis=-2)
    return chi_square_given_W(T, q, best_response_W(T, q))


def _renyi(T):
    """rho_R^2 of each of some tables, sum_i p_i m_i^2 with m_i = E[h(S) | i], and its gradient."""
    p = np.maximum(T.sum(axis=-1, keepdims=True), _EMPTY)
    q = np.maximum(T.sum(axis=-2, keepdims=True), _EMPTY)
    excess = T - p * q
    *_, Vt = np.linalg.svd(excess / np.sqrt(p * q), full_matrices=False)
    # A group that does not occur has no say; what rounding leaves of v there is not to be divided.
    h = np.where(q > _EMPTY, Vt[..., :1, :] / np.sqrt(q), 0.0)
    m = np.sum(excess * h, axis=-1, keepdims=True) / p
    return np.sum(p * m**2, axis=(-1, -2)), 2 * m * h - m**2


TABLE_MEASURES = {"chi-square": _chi_square, "renyi": _renyi}
