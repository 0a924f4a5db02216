"""Penalties for mini-batches, in which a step sees only a few samples.

The table of a small batch shows dependence even if there is none. Three classes deal with this in
different ways, with the same interface:

    value, gradient = way.value_and_grad(F, codes)

F (b x c) contains the class probabilities of a batch of b samples, and ``codes`` contains the
groups of these samples as numbers 0 … d-1. ``gradient[n, i]`` is the derivative with respect to
``F[n, i]``, which can be backpropagated through any network. Some of the objects keep state, which
each call updates, so create a new object for each training run.

- `BatchTable` uses only the batch. It is stateless, and it is biased upward in proportion to
  1 / b.
- `RunningTable` keeps an average of the tables of past batches and evaluates the penalty's
  gradient there. Its bias is that of a batch of 2 * memory - b samples, but the average lags
  behind.
- `Fermi` keeps the adversary's matrix W and takes an ascent step with each batch. Given W, its
  gradient is unbiased for any batch size.

All three accept any number of leading axes. F of shape (k, b, c) with codes of shape (k, b)
represents k networks that are trained in parallel, each with its own state.

To use them with JAX, or with any other library that can pull a gradient back, write::

    F, pull_back = jax.vjp(network, theta)
    value, dF = way.value_and_grad(numpy.asarray(F), codes)
    (by_theta,) = pull_back(lam * jax.numpy.asarray(dF))

For use inside `jax.jit`, and for torch, see `renyi_lib.autodiff`.
"""

import numpy as np
from numpy.typing import ArrayLike

from renyi_lib._parameters import choice, number, whole
from renyi_lib.penalties import best_response_W, chi_square_given_W
from renyi_lib.penalties._groups import EMPTY as _EMPTY

__all__ = ["BatchTable", "Fermi", "RunningTable", "table_of_batch"]


def table_of_batch(F: ArrayLike, codes: ArrayLike, n_groups: int) -> np.ndarray:
    """Compute T[i, j], the average over the batch of F_i 1[S = j].

    Parameters
    ----------
    F : array-like of shape (..., b, c)
        Class probabilities.
    codes : array-like of int, shape (..., b)
        Code of each sample's group, 0 … n_groups - 1.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (..., c, n_groups)
        Joint table of each batch.

    See Also
    --------
    BatchTable : Penalize the dependence in this table.

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
    """Penalty on the batch's own table, as if the batch were the population.

    Parameters
    ----------
    n_groups : int
        Number of groups d. Groups that do not occur in the batch are left out; the value for a
        batch of one group is 0.
    measure : {"chi-square", "renyi"}, default="chi-square"
        Measure to penalize: "chi-square" as in `ChiSquarePenalty`, or "renyi", which is rho_R^2 as
        in `RenyiPenalty`. For two classes or two groups they are the same.

    See Also
    --------
    RunningTable : Average the tables of several batches.
    Fermi : Keep the adversary's matrix instead of a table.

    Notes
    -----
    Let the batch contain n_j samples of group j, n in all, sampled at random within their groups,
    let p_i be the mean of F_i, and let V_ij be its variance in group j. If the label does not
    depend on the group, the mean of the chi-square value over batches is, to first order in 1 / n,

        1 / n * sum_ij (1 - n_j / n) V_ij / p_i,

    which is positive and at most (c - 1) (d - 1) / n.

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
        """Compute the penalty and its gradient with respect to the F of the batch.

        Each call counts as one step, so it updates the average of a `RunningTable`.

        Parameters
        ----------
        F : array-like of shape (..., b, c)
            Class probabilities.
        codes : array-like of int, shape (..., b)
            Code of each sample's group.

        Returns
        -------
        value : float, or ndarray with the shape of the leading axes
            Value of the penalty.
        gradient : ndarray of shape (..., b, c)
            Gradient with respect to F.
        """
        F, codes = _read(F, codes, self.n_groups)
        T = self._remembered(_table(F, codes, self.n_groups), F.shape[-2])
        value, dT = TABLE_MEASURES[self.measure](T)
        return value, _spread(dT, codes, F.dtype)

    def _remembered(self, T, size):
        return T


class RunningTable(BatchTable):
    """Penalty on a running average of the batches' tables.

    The average is updated by E <- E + beta (T - E), with the table T of the batch and
    beta = b / memory. The measure's gradient is taken *at E* and distributed over the samples of
    the batch. For a given E, its average over batches is the gradient on all samples at the table
    E, and while F does not change, E approximates the table of all samples.

    Parameters
    ----------
    n_groups : int
        Number of groups.
    measure : {"chi-square", "renyi"}, default="chi-square"
        Measure to penalize; see `BatchTable`.
    memory : float, default=5000
        Length of the memory in samples. With memory = b this class is the same as `BatchTable`.

    Attributes
    ----------
    table : ndarray of shape (..., c, d) or None
        Running average E; None before the first batch.

    See Also
    --------
    renyi_lib.autodiff.running_table_as_jax : Use a running table in a JAX training loop.

    Notes
    -----
    E is the table of a sample in which a batch that is k steps old has the weight
    beta (1 - beta)^k. The squared weights sum to beta / (2 - beta), so the noise in E, and
    therefore the bias, is that of a batch of 2 * memory - b samples. The mean age of the tables in
    E is memory - b samples, so a long memory requires a small learning rate. Until `memory`
    samples have been seen, E is their plain average.

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
    """FERMI's adversary, which takes ascent steps on an objective that is linear in the samples.

    The chi-square information of label and group is the maximum over matrices W of

        -Tr(W P_y W^T) + 2 Tr(W P_ys P_s^{-1/2}) - 1,

    where P_ys is the joint table, and P_y and P_s are the diagonal matrices of the probabilities
    p_i of the labels and q_j of the groups. For a known q, the function is linear in the joint
    table. The network uses the gradient with respect to F at the current W, which is unbiased for
    any batch size. Then each column W_i takes the ascent step

        W_i <- W_i + 2 step * mean over the batch of F_i (e_s / sqrt(q_s) - W_i),

    where s is a sample's group and e_s the unit vector of this group, so that W_i moves by the
    fraction 2 step p_i toward the batch's best response, with the p_i of the batch.

    Parameters
    ----------
    q : array-like of shape (..., d)
        Group probabilities P(S = j), computed from all samples.
    step : float, default=0.01
        Step size of the adversary, at most 1 / 2, because larger steps could overshoot.

    Attributes
    ----------
    W : ndarray of shape (..., d, c) or None
        Adversary's matrix; None before the first batch. It starts at the best response to
        independence, in which every column is sqrt(q).

    See Also
    --------
    renyi_lib.penalties.ChiSquarePenalty : Compute the maximum over W on all samples.

    References
    ----------
    A. Lowy, S. Baharlouei, R. Pavan, M. Razaviyayn and A. Beirami, "A stochastic optimization
    framework for fair risk minimization", TMLR (2022), doi:10.48550/arXiv.2102.12586, Algorithm 1
    (without its projection of W onto a bounded set, because W stays bounded for step <= 1 / 2).

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
                "q must contain the positive shares of two or more groups, computed from all "
                f"samples, not {q!r}"
            )
        if not np.allclose(self.q.sum(axis=-1), 1):
            raise ValueError(f"q must contain group shares that sum to 1, not {q!r}")
        number(0, 0.5, above=True)("step", step)
        self.step = step
        self.W: np.ndarray | None = None

    def value_and_grad(self, F: ArrayLike, codes: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Compute the value and gradient at the current W, and then take an ascent step in W.

        Parameters
        ----------
        F : array-like of shape (..., b, c)
            Class probabilities.
        codes : array-like of int, shape (..., b)
            Code of each sample's group.

        Returns
        -------
        value : float, or ndarray with the shape of the leading axes
            Value of the adversary's term.
        gradient : ndarray of shape (..., b, c)
            Gradient with respect to F.
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
    """Validate F and the codes, and convert them to floats (keeping float32) and integers."""
    F, codes = np.asarray(F), np.asarray(codes)
    F = F if F.dtype in (np.float32, np.float64) else F.astype(float)
    if F.ndim < 2 or F.shape[:-1] != codes.shape or not F.shape[-2]:
        raise ValueError(
            "F must have a row for each sample of a nonempty batch and a column for each class, "
            "and codes must have a number for each sample, but F has shape "
            f"{F.shape} and codes has shape {codes.shape}"
        )
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_groups:
        found = f"{codes.dtype} values"
        if codes.dtype.kind in "iu":
            found = f"values from {codes.min()} to {codes.max()}"
        raise ValueError(
            f"codes must be integers from 0 to {n_groups - 1}, one for each sample, not {found}: "
            "create them from the labels of all samples with Groups.from_labels(labels).codes"
        )
    return F, codes


def _table(F, codes, n_groups):
    """Compute the table in the precision of F, and return it in double precision."""
    member = np.eye(n_groups, dtype=F.dtype)[codes]
    return (np.swapaxes(F, -1, -2) @ member).astype(float) / F.shape[-2]


def _spread(dT, codes, dtype):
    """Compute dvalue/dF from dvalue/dT, by the transpose of `table_of_batch`."""
    rows = (np.swapaxes(dT, -1, -2) / codes.shape[-1]).astype(dtype)
    return np.take_along_axis(rows, codes[..., None], axis=-2)


def _chi_square(T):
    """Compute the chi-square information of each table, and its gradient."""
    q = T.sum(axis=-2)
    return chi_square_given_W(T, q, best_response_W(T, q))


def _renyi(T):
    """Compute rho_R^2 of each table, and its gradient (see `penalties.renyi_given_v`)."""
    p = np.maximum(T.sum(axis=-1, keepdims=True), _EMPTY)
    q = np.maximum(T.sum(axis=-2, keepdims=True), _EMPTY)
    excess = T - p * q
    *_, Vt = np.linalg.svd(excess / np.sqrt(p * q), full_matrices=False)
    # The entry of v for a group that does not occur is rounding error, so its h is set to 0.
    h = np.where(q > _EMPTY, Vt[..., :1, :] / np.sqrt(q), 0.0)
    m = np.sum(excess * h, axis=-1, keepdims=True) / p
    return np.sum(p * m**2, axis=(-1, -2)), 2 * m * h - m**2


TABLE_MEASURES = {"chi-square": _chi_square, "renyi": _renyi}
