"""Adversary of a boosted model, damped so that it moves no faster than trees can follow.

In each round, a boosting library takes a gradient and a Hessian with respect to the raw scores z
and moves z by -eta * gradient / Hessian as far as a tree can. The Hessian is that of the loss
alone. If the adversary gives its best response in each round, the game diverges for lam above a
limit, because the tree does not account for how its own step changes the response. For two classes
and two groups, the limit is about 1 / (eta * tau), where tau <= 1 is the share of the variance of
the group that a tree can explain.

**One round, linearized.** The penalty depends on the table T[i, j] = P(class i, group j) with the
margins p and q. Its gradient dT splits into a contrast x, for which sum_j q_j x_ij = 0, and a mean
over the groups, which is of second order. For rho_R^2 and chi-square, this mean is
-sum_j q_j x_ij^2 / 4. The adversary uses a matrix M in place of lam * dT, and at a fixed point the
contrast of M should be lam * x. Near independence x = 2 B z for a linear map B, and with the inner
product sum_ij p_i q_j v_ij w_ij of contrasts, a step moves x by -eta A' M. Here
A' = 2 B L H^{-1} B^*, where B^* is the adjoint of B, H is the Hessian, and L is the H-orthogonal
projection onto the functions that are constant on the leaves. Therefore A' is symmetric and at
most A = 2 B H^{-1} B^*, which needs only sums over the samples of each group. Without damping, the
game is stable only if lam < 2 / (eta * the largest eigenvalue of A'). For two classes and two
groups with equal scores, A' = tau A, and the eigenvalue of A is 2.

**The damped adversary** splits its move into a fast and a slow part. Let a = 1/2,
b = (1 - sqrt(1 - a))^2 and r = (1 + lam eta A / a)^{-1}, a matrix that acts on the contrasts of
all groups together. The adversary then computes, in each round::

    slow part   u <- u + (b / a) r (lam (1 - r) x - u)
    contrast    M  = lam r x + u
    mean        -sum_j q_j M_ij^2 / (4 lam)

The fast part lam r x is at most a / (eta A) times x for any lam. At a fixed point
u = lam (1 - r) x, so the contrast of M is lam * x and its mean is lam times the mean of dT, as in
the undamped game. As lam grows, u tends to the Lagrange multiplier of independence.

**Proposition.** Let the loss be quadratic with the Hessian H that the library receives, let
x = 2 B z hold exactly, let A, L and the leaves be the same in each round, and let the mean be 0.
Then for every lam > 0, every eta in (0, 1] and every L, all eigenvalues of a round lie inside the
unit circle, even if A is replaced by any larger symmetric matrix. *Proof.* Put k = b / a and let t
be an eigenvalue. On an eigenvector of A with r in (0, 1) a round multiplies x by
D(t) = lam r (t (1 + k - k r) - (1 - k r)) / (t - 1 + k r) to give M, and
(t - 1 + eta) x = -eta A' M. Taking the inner product with M shows that a weighted mean of
``G_r(t) = (t - 1 + eta) (t - 1 + k r) / (a (1 - r) (t (1 + k - k r) - (1 - k r)))`` over the
eigenvectors equals -f with f in [0, 1]. On the upper half of the unit circle, with c = 1 - k r and
c' = 1 - eta, the imaginary part of 1 / G_r has the sign of
``-(1 + k - k r) (1 - c c') + c (2 Re t - c - c') <= -(1 - c)^2 < 0``, so no mean of the G_r is
real. Moreover, G_r(1) > 0 and G_r(-1) < -1, so no eigenvalue is on the circle. For A' = 0 the
eigenvalues 1 - eta and 1 - k r are inside, and eigenvalues depend continuously on A'. As lam
grows, r tends to 0, and the eigenvalues tend to the roots of
t^2 - (2 - eta - f (a + b)) t + (1 - eta - f a), where f are the eigenvalues of
A^{-1/2} A' A^{-1/2}, so the rate of convergence tends to a limit.

Nothing is proved beyond first order, for trees that change from round to round, or for rho_R^2
with three or more classes *and* groups, which has a kink at independence.

**Bins.** The slopes of soft bins change as soon as a score moves within a bin, so A would miss
directions in which no score can move in this round but many can in the next, and the slow part
would grow there without bound. In each cell of the bins' grid, A therefore uses the mean of each
product of two slopes and the largest (du/dz)^2 / H, where u is the binned score; for the score of
a classifier, this is the largest Hessian in the cell. Furthermore, the fast and the slow part are
functions of bin and group, not of samples, so a sample that changes bins is subject to the value
of the new bin.

A penalty that is not a function of a table, or that has no `table_curvature`, is damped with a
single factor r, as if the penalty were the square of one function of z.
"""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from renyi_lib.penalties import ConditionalPenalty, Groups, ScoreBinsPenalty, TablePenalty
from renyi_lib.penalties._groups import EMPTY
from renyi_lib.penalties._splines import SoftBins

__all__ = [
    "AtScores",
    "RowAdversary",
    "TableAdversary",
    "adversary_of",
    "contrast",
    "damped",
    "held_back",
    "hold_contrast",
    "round_matrix",
]

# Gains of the fast and the slow part. With these values, a round without the loss has a double
# eigenvalue in the limit of large lam if trees follow every step.
FAST = 0.5
SLOW = (1 - np.sqrt(1 - FAST)) ** 2
# For classes, A changes as slowly as the scores and is updated every few rounds; for bins, it is
# updated in each round, because a bin may be empty in one round and not in the next.
_ROUNDS_BETWEEN = 4


def held_back(gain, lam, learning_rate):
    """Compute r = (1 + lam eta A / a)^{-1}, the part of the response that is fast.

    Parameters
    ----------
    gain : ndarray of shape (..., c, c)
        Matrix A. A step along M with learning rate 1 moves the gradient x by at most A M.
    lam : float
        Weight of the penalty.
    learning_rate : float
        Learning rate eta.

    Returns
    -------
    ndarray of shape (..., c, c)
        Matrix r.
    """
    return np.linalg.inv(np.eye(gain.shape[-1]) + (lam * learning_rate / FAST) * gain)


def contrast(x, q):
    """Split x, of shape (d, c), into its contrast and its mean over the groups; return both."""
    mean = q @ x
    return x - mean, mean


def hold_contrast(held, q):
    """Return r as a map of the contrasts of all groups together.

    Here A multiplies each group by its own matrix and then projects onto contrasts. The inverse of
    1 + lam eta A / a therefore maps x to r_j (x_j - mu), with the mu for which the result is a
    contrast.

    Parameters
    ----------
    held : ndarray of shape (d, c, c)
        Matrix r of each group, computed by `held_back`.
    q : ndarray of shape (d,)
        Group probabilities P(S = j).

    Returns
    -------
    callable
        Function that maps an array of shape (d, c) to another one.

    Examples
    --------
    >>> import numpy as np
    >>> held = held_back(np.array([[[1.0]], [[3.0]]]), lam=5.0, learning_rate=0.1)
    >>> hold_contrast(held, np.array([0.5, 0.5]))(np.array([[1.0], [-1.0]])).round(3)
    array([[ 0.333],
           [-0.333]])
    """
    weighted = q[:, None, None] * held
    spread = np.linalg.solve(weighted.sum(axis=0), weighted)

    def hold(x):
        mu = np.einsum("jik,jk->i", spread, x)
        return np.matmul(held, (x - mu)[..., None])[..., 0]

    return hold


def damped(x, slow, hold, lam):
    """Compute one move of the damped adversary.

    Parameters
    ----------
    x : ndarray
        Gradient of the penalty, or its contrast. Without damping, the move would be lam * x.
    slow : ndarray of the same shape
        Current slow part of the move.
    hold : callable
        Function that multiplies such an array by the matrix r of the module docstring.
    lam : float
        Weight of the penalty.

    Returns
    -------
    move : ndarray
        Move M, which is lam * x at a fixed point.
    slow : ndarray
        Updated slow part.

    Examples
    --------
    If a step moves nothing, the adversary is not damped:

    >>> import numpy as np
    >>> x = np.array([[0.5, -0.5]])
    >>> damped(x, 0 * x, lambda x: x, lam=3.0)[0]
    array([[ 1.5, -1.5]])
    """
    fast = hold(x)
    slow = slow + SLOW / FAST * hold(lam * (x - fast) - slow)
    return lam * fast + slow, slow


def round_matrix(loop, follows=1.0, learning_rate=0.0):
    """Return the matrix by which one linearized round multiplies the state (x, eta alpha u).

    Parameters
    ----------
    loop : float
        Value of lam * eta * alpha, with alpha an eigenvalue of A.
    follows : float, default=1.0
        Fraction f of the adversary's step that the tree follows.
    learning_rate : float, default=0.0
        Learning rate eta, the fraction of the way to its minimum that the loss covers in a round.
        With 0, the loss is left out.

    Returns
    -------
    ndarray of shape (2, 2)
        Matrix of the round.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.abs(np.linalg.eigvals(round_matrix(1e9))).max() < 0.72)
    True
    """
    r = 1 / (1 + loop / FAST)
    kept = SLOW / FAST * r
    fast, slow = loop * r, kept * loop * (1 - r)
    return np.array(
        [[1 - learning_rate - follows * (fast + slow), -follows * (1 - kept)], [slow, 1 - kept]],
    )


class AtScores:
    """Model at the raw scores z, with the quantities that the adversary needs.

    The argument `cells` of the methods is a `Groups` object. A cell is a group or, for a penalty
    given the true label, a combination of label and group.

    Attributes
    ----------
    F : ndarray of shape (n, c)
        Class probabilities, or memberships in the bins.
    hessian : ndarray of shape (n,) or (n, c)
        Hessian of each sample's loss with respect to z, without weights.
    """

    def table(self, cells):
        """Compute T[i, j] = P(Ŷ = i, cell = j)."""
        raise NotImplementedError

    def gain(self, cells, ratio):
        """Compute K, the sum of ratio * D H^{-1} D^T over each cell, where D = dF/dz.

        `ratio` is the square of a sample's weight in the penalty, divided by its weight in the
        loss. The result has the shape (number of cells, c, c).
        """
        raise NotImplementedError

    def pull_back(self, by_table, cells):
        """Compute dvalue/dz from dvalue/dT."""
        raise NotImplementedError


class TwoClasses(AtScores):
    """Model of two classes, in which z is the log-odds of the second class."""

    def __init__(self, p, slope):
        self.p, self.hessian = p, slope

    @property
    def F(self):
        """Class probabilities."""
        return np.column_stack([1 - self.p, self.p])

    def table(self, cells):
        """Compute T[i, j] = P(Ŷ = i, cell = j)."""
        # A weight that all rows share multiplies the sums instead of each row.
        even = np.ndim(cells.weight) == 0
        second = np.bincount(cells.codes, self.p if even else self.p * cells.weight, len(cells.q))
        second *= cells.weight if even else 1.0
        return np.array([cells.q - second, second])

    def gain(self, cells, ratio):
        """Compute K of each cell; see `AtScores.gain`."""
        k = np.bincount(cells.codes, self.hessian * ratio, len(cells.q))
        return k[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])

    def pull_back(self, by_table, cells):
        """Compute dvalue/dz from dvalue/dT."""
        even = np.ndim(cells.weight) == 0
        rise = (by_table[1] - by_table[0]) * (cells.weight if even else 1.0)
        found = np.take(rise, cells.codes)
        found *= self.hessian
        if not even:
            found *= cells.weight
        return found

    def from_F(self, dF):
        """Compute dvalue/dz from dvalue/dF."""
        return self.hessian * (dF[:, 1] - dF[:, 0])


class Softmax(AtScores):
    """Model of three or more classes, with a raw score z for each class."""

    def __init__(self, F):
        self.F = F
        # With the diagonal of the Hessian alone, the classes together would overshoot, so multiply
        # it by c / (c - 1), as LightGBM does.
        classes = F.shape[1]
        self.hessian = np.maximum(F * (1 - F), 1e-16) * (classes / (classes - 1))

    def table(self, cells):
        """Compute T[i, j] = P(Ŷ = i, cell = j)."""
        return cells.table(self.F)

    def gain(self, cells, ratio):
        """Compute K of each cell; see `AtScores.gain`."""
        F, c = self.F, self.F.shape[1]
        # Because D = diag(F) - F F^T, D H^{-1} D^T needs only sums of a few products over samples.
        lifted = F**2 / self.hessian
        total = lifted.sum(axis=1)
        K = np.empty((len(cells.q), c, c))
        for i in range(c):
            for k in range(i, c):
                term = F[:, i] * F[:, k] * total - F[:, k] * lifted[:, i] - F[:, i] * lifted[:, k]
                term += lifted[:, i] if i == k else 0
                K[:, i, k] = K[:, k, i] = np.bincount(cells.codes, term * ratio, len(cells.q))
        return K

    def pull_back(self, by_table, cells):
        """Compute dvalue/dz from dvalue/dT."""
        return self.from_F(cells.spread(by_table))

    def from_F(self, dF):
        """Compute dvalue/dz from dvalue/dF."""
        return self.F * (dF - np.sum(self.F * dF, axis=1, keepdims=True))


class Binned(AtScores):
    """Model of the soft bins of a score u in [0, 1].

    Parameters
    ----------
    u : ndarray of shape (n,)
        Scores.
    n_bins : int
        Number of bins.
    slope : ndarray of shape (n,)
        Derivatives du/dz.
    steepness : ndarray of shape (n_bins - 2,)
        Largest (du/dz)^2 / Hessian in each cell of the bins' grid.
    """

    def __init__(self, u, n_bins, slope, steepness):
        self.u, self.n_bins, self.slope, self.steepness = u, n_bins, slope, steepness
        n_cells = n_bins - 2
        position = u * n_cells
        lower = np.floor(position)
        np.minimum(lower, n_cells - 1, out=lower)
        self.cell = lower.astype(np.intp)
        self.t = np.subtract(position, lower, out=position)
        self._last, self._zeroth = (None, None), None

    def table(self, cells):
        """Compute the table from sums of 1, t and t^2, where t is the position in the grid cell.

        This is possible because memberships are quadratic in t.
        """
        place, shape = self._place(cells)
        even = np.ndim(cells.weight) == 0
        t = self.t if even else self.t * cells.weight
        first, second = self._sums(place, t, shape), self._sums(place, t * self.t, shape)
        if even:
            first *= cells.weight
            second *= cells.weight
        self._zeroth = zeroth = self._sums(place, cells.weight, shape)
        T = np.zeros((self.n_bins, shape[1]))
        T[:-2] += (zeroth + second) / 2 - first
        T[1:-1] += zeroth / 2 + first - second
        T[2:] += second / 2
        # The rounding error of a nearly empty bin must not become a negative probability.
        return np.maximum(T, 0)

    def gain(self, cells, ratio):
        """Compute K of each cell from mean products of slopes; see `AtScores.gain`."""
        place, shape = self._place(cells)
        even = np.ndim(ratio) == 0 and np.ndim(cells.weight) == 0
        # If all weights are equal, `table` has already computed these sums.
        known = even and self._zeroth is not None
        mass = self._zeroth * (ratio / cells.weight) if known else self._sums(place, ratio, shape)
        mass = mass * (self.steepness * shape[0] ** 2)[:, None]
        mass = np.ascontiguousarray(mass.T)
        along, across = _MEAN_SLOPES[0, 0] * mass, _MEAN_SLOPES[0, 1] * mass
        n = self.n_bins
        K = np.zeros((shape[1], n * n))
        for i in range(3):
            for k in range(3):
                # The entries (cell + i, cell + k) of all cells form a diagonal, which is a slice.
                begin = i * n + k
                diagonal = K[:, begin : begin + (shape[0] - 1) * (n + 1) + 1 : n + 1]
                diagonal += along if i == k else across
        return K.reshape(-1, n, n)

    def pull_back(self, by_table, cells):
        """Compute dvalue/dz from dvalue/dT.

        The slopes of the three memberships are t - 1, 1 - 2 t and t, times the number of cells.
        """
        place, shape = self._place(cells)
        even = np.ndim(cells.weight) == 0
        rise = (by_table[1:] - by_table[:-1]) * (shape[0] * (cells.weight if even else 1.0))
        found = np.take(rise[1:] - rise[:-1], place)
        found *= self.t
        found += np.take(rise[:-1], place)
        found *= self.slope
        if not even:
            found *= cells.weight
        return found

    @property
    def F(self):
        """Memberships of the samples in the bins."""
        return SoftBins(self.u, self.n_bins).members()

    def _place(self, cells):
        """Return a code for each sample's grid cell and group, and the numbers of both."""
        if self._last[0] is not cells:
            place = self.cell * len(cells.q)
            place += cells.codes
            self._last = cells, place
        return self._last[1], (self.n_bins - 2, len(cells.q))

    @staticmethod
    def _sums(place, values, shape):
        if np.ndim(values) == 0:
            return np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape) * values
        return np.bincount(place, values, shape[0] * shape[1]).reshape(shape)


# Means over a grid cell of the products of the slopes t - 1, 1 - 2 t and t of three bins.
_MEAN_SLOPES = (np.eye(3) - 1 / 3) / 2


@lru_cache
def _nearest_middle(n_bins):
    """Return the point of each grid cell that is nearest to 1/2, where du/dz is largest."""
    border = np.linspace(0, 1, n_bins - 1)
    return np.clip(0.5, border[:-1], border[1:])


def logistic_bins(at, n_bins):
    """Return the soft bins of a two-class score."""
    u = _nearest_middle(n_bins)
    return Binned(at.p, n_bins, at.hessian, u * (1 - u))


class PredictionBins(Binned):
    """Model of the soft bins of a prediction z, with u = Phi((z - mean) / deviation).

    Mean and deviation are those of y, and `unit` is such that the Hessian of the loss with respect
    to z is 1 / unit^2. Bins that adapted to the mean and spread of the predictions would not work,
    because a large lam would then drive the predictions apart.
    """

    def __init__(self, z, mean, deviation, unit, n_bins):
        x = (z - mean) / deviation
        steepness = (_density(ndtri(_nearest_middle(n_bins))) * unit / deviation) ** 2
        super().__init__(ndtr(x), n_bins, _density(x) / deviation, steepness)
        self.hessian = np.full(len(z), 1 / unit**2)

    def from_F(self, dF):
        """Compute dvalue/dz from dvalue/dF, where F are the memberships."""
        return SoftBins(self.u, self.n_bins).pull_back(dF) * self.slope


def _density(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


class TableAdversary:
    """Damped adversary of a penalty that is a function of a table, or a sum of such functions.

    Parameters
    ----------
    penalty : TablePenalty
        Penalty with a `table_curvature`.
    conditions : list of Groups
        Groups for each table, either of all samples or of the samples with each relevant label.
        No sample belongs to two of them.
    bins : int or None
        Number of bins of a two-class score. With None, the rows of the table are the classes or,
        for a regression, the bins of the prediction.
    lam : float
        Weight of the penalty.
    learning_rate : float
        Learning rate of the trees.
    loss_weight : float or ndarray of shape (n,)
        Weight of each sample in the loss; the weights sum to 1.
    """

    def __init__(self, penalty, conditions, bins, lam, learning_rate, loss_weight):
        self.penalty, self.conditions, self.bins = penalty, conditions, bins
        self.lam, self.learning_rate = lam, learning_rate
        self.cells = _joined(conditions)
        ends = np.cumsum([len(groups.q) for groups in conditions])
        self.parts = [slice(end - len(g.q), end) for end, g in zip(ends, conditions)]
        # Samples with almost no weight in the loss have almost no Hessian, so use at least 1 % of
        # their weight in the penalty.
        floor = np.maximum(loss_weight, 0.01 * self.cells.weight)
        self.ratio = self.cells.weight**2 / np.maximum(floor, EMPTY)
        self.slow, self.rounds, self.holds = np.zeros((1, 1)), 0, [None] * len(conditions)

    def __call__(self, at, scale=1.0):
        """Compute the penalty, and scale * lam times its damped gradient with respect to z."""
        if self.bins is not None:
            at = logistic_bins(at, self.bins)
        renew = isinstance(at, Binned) or self.rounds % _ROUNDS_BETWEEN == 0
        T = at.table(self.cells)
        if renew:
            held = self._held(at, T)
        if self.rounds == 0:
            self.slow = np.zeros_like(T.T)
        self.rounds += 1
        value, move = 0.0, np.empty_like(self.slow)
        for k, (part, groups) in enumerate(zip(self.parts, self.conditions)):
            given, dT = self.penalty.of_table(T[:, part], groups.q)
            value += given
            if renew:
                self.holds[k] = hold_contrast(held[part], groups.q)
            move[part], self.slow[part] = self._moved(
                T[:, part], dT.T, self.slow[part], self.holds[k], groups.q
            )
        return value, at.pull_back(scale * move.T, self.cells)

    def _held(self, at, T):
        """Compute r of each cell."""
        gain = at.gain(self.cells, self.ratio)
        for part, groups in zip(self.parts, self.conditions):
            gain[part] *= self.penalty.table_curvature(T[:, part], groups.q).T[:, :, None]
        return held_back(gain, self.lam, self.learning_rate)

    def _moved(self, T, dT, slow, hold, q):
        """Compute the move, including its mean, and the updated slow part in one condition."""
        p = T.sum(axis=1)
        p = p / max(p.sum(), EMPTY)
        x, mean = contrast(dT, q)
        # A constant over the classes moves no score, and subtracting it avoids a loss of digits.
        move, slow = damped(x - (x @ p)[:, None], slow, hold, self.lam)
        move = move - (move @ p)[:, None]
        # The mean is of second order in the contrast, so compute it from the damped contrast.
        square = q @ x**2
        bend = np.divide(mean, square, out=np.full_like(mean, -0.25), where=square > EMPTY)
        return move + bend * (q @ move**2) / max(self.lam, EMPTY), slow


class RowAdversary:
    """Damped adversary of any penalty, with a single factor r and a slow part for each sample."""

    def __init__(self, penalty, groups, lam, learning_rate, loss_weight):
        self.penalty, self.groups = penalty, groups
        self.lam, self.learning_rate = lam, learning_rate
        self.loss_weight = np.maximum(np.maximum(loss_weight, 0.01 * groups.weight), EMPTY)
        self.slow, self.gain = 0.0, 0.0

    def __call__(self, at, scale=1.0):
        """Compute the penalty, and scale * lam times its damped gradient with respect to z."""
        value, dF = self.penalty.value_and_grad(at.F, self.groups)
        by_z = at.from_F(dF)
        if value > EMPTY:
            steps = (by_z**2 / np.maximum(at.hessian, 1e-16)).T / self.loss_weight
            # Near a penalty of 0, this estimate may suddenly be too small, so let it fall slowly.
            self.gain = max(float(steps.sum()) / (2 * value), self.gain / 2)
        held = 1 / (1 + self.lam * self.learning_rate * self.gain / FAST)
        move, self.slow = damped(dF, self.slow, lambda x: held * x, self.lam)
        return value, at.from_F(scale * move)


def adversary_of(penalty, groups, lam, learning_rate, loss_weight):
    """Return the damped adversary that suits a penalty."""
    conditions, inner = [groups], penalty
    if isinstance(penalty, ConditionalPenalty):
        conditions, inner = penalty.conditions(groups), penalty.penalty
    bins = None
    if isinstance(inner, ScoreBinsPenalty):
        bins, inner = inner.n_bins, inner.of_bins()
    if isinstance(inner, TablePenalty) and _is_smooth(inner, conditions[0].q):
        return TableAdversary(inner, conditions, bins, lam, learning_rate, loss_weight)
    return RowAdversary(penalty, groups, lam, learning_rate, loss_weight)


def _is_smooth(penalty, q):
    """Return whether the penalty has a table curvature, which `TableAdversary` requires."""
    even = np.outer([0.5, 0.5], q)
    return penalty.table_curvature(even, q) is not None


def _joined(conditions):
    """Combine all conditions' groups into the cells of one table; other samples get weight 0."""
    if len(conditions) == 1:
        return conditions[0]
    first, d = conditions[0], len(conditions[0].q)
    codes, weight = first.codes.copy(), np.zeros(len(first.codes))
    for k, given in enumerate(conditions):
        codes += k * d * (given.weight > 0)
        weight += given.weight
    q = np.concatenate([given.q for given in conditions])
    return Groups(codes, np.arange(len(q)), weight, q)
