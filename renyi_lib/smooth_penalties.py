"""Penalties for numeric variables, such as an age, an income or the prediction of a regression.

Both penalties here are the square of a maximal correlation over *some* functions of the prediction
and of the attribute, as in `renyi_lib.continuous`. Let b(n) be the functions of the prediction at
sample n (indicators of the class, or splines of the prediction), let psi be orthonormal functions
of S with mean zero, and

    C = E[b psi^T],      G = E[b b^T].

The adversary chooses a function h = psi . v of S. Its payoff is the variance of the best
prediction f = b . a of h, which is the part of h that b determines:

    rho^2 = max over |v| <= 1 and a of   2 a^T C v - a^T G a,

which is the largest eigenvalue of C^T G^-1 C.

By Danskin's theorem, the gradient is that of the inner function with v and a held fixed::

    d / dC = 2 a v^T,      d / dG = - a a^T,

and if b depends on a number z(n), with f the best prediction as a function of z,

    d / dz(n) = 2 weight(n) f'(z(n)) (h(s(n)) - f(z(n))).

As in `RenyiPenalty`, smoothing mu > 0 makes the adversary mix singular vectors, which removes the
kink where two singular values tie.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.special import kve, ndtr

from renyi_lib._linalg import complement
from renyi_lib._parameters import choice, number, whole
from renyi_lib._validation import check_same_length, numeric_values, sample_weights
from renyi_lib.continuous import Variable, basis_of_ranks, on_a_grid
from renyi_lib.penalties import Groups, Penalty
from renyi_lib.penalties._groups import EMPTY, as_groups
from renyi_lib.penalties._renyi import mixed_strategy
from renyi_lib.penalties._renyi_table import RenyiTable
from renyi_lib.penalties._splines import SoftBins
from renyi_lib.sources.features import SumTuple, over_rows

__all__ = ["ContinuousRenyiPenalty", "PredictionPenalty", "ordered_groups"]

# Weight of additional uniformly distributed predictions in the Gram matrix of the splines, which
# would otherwise be singular if there are regions without predictions.
_EVENLY = 1e-3
# E sqrt(1 + z^2) for a standard normal z, which fixes the scale of a prediction; see `_scale`.
_NORMAL_SCALE = float(kve(0, 0.25) + kve(1, 0.25)) / np.sqrt(8 * np.pi)
# Number of rows for sums over blocks of X, so that a block stays in the cache.
_BLOCK = 4096
# With more functions of S than this, those that are uncorrelated with all functions of the
# prediction are left out of the Hessian.
_MAX_FUNCTIONS = 64
# A prediction that varies by less than this fraction of its size is treated as constant.
_CONSTANT = 1e-12


def ordered_groups(s: Any, sample_weight: ArrayLike | None = None, *, name: str = "s") -> Groups:
    """Turn numbers into at most 1024 ordered groups for the penalties of this module.

    Parameters
    ----------
    s : array-like of shape (n,)
        Numbers; only their order matters. If there are more than 1024 distinct numbers,
        neighboring ones share a group.
    sample_weight : array-like of shape (n,), optional
        Positive weights.
    name : str, default="s"
        Name of the argument in error messages.

    Returns
    -------
    Groups
        Groups in increasing order.

    See Also
    --------
    renyi_lib.penalties.Groups.from_labels : Count groups given by labels.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.smooth_penalties import ContinuousRenyiPenalty, ordered_groups
    >>> age = np.random.default_rng(0).uniform(18, 80, 5000)
    >>> share = np.where(np.abs(age - 49) > 20, 0.9, 0.1)  # the young and the old
    >>> F = np.column_stack([1 - share, share])
    >>> groups = ordered_groups(age)
    >>> len(groups.categories), round(ContinuousRenyiPenalty().value(F, groups), 1)
    (1024, 0.6)
    """
    values, weights = numeric_values(s, name), None
    if sample_weight is not None:
        weights = sample_weights(sample_weight)
        check_same_length(**{name: values, "sample_weight": weights})
    side = on_a_grid(Variable(values, None), weights, 1)
    if len(side.points) < 2:
        raise ValueError(f"{name} is constant, but it must take at least two different values")
    weights = weights if weights is None else weights / weights.sum()
    return Groups.from_codes(side.codes, side.points, weights)


class ContinuousRenyiPenalty(RenyiTable):
    """Penalty rho_R^2 of the label and an *ordered* attribute, over smooth functions of its ranks.

    `RenyiPenalty` lets the adversary choose any number for each group, so with seventy different
    ages it overfits noise. Here the adversary may use only the `n_functions` smoothest functions
    of the rank, which are those of `continuous_correlation`.

    Parameters
    ----------
    n_functions : int, default=8
        Number of functions. If there are at most n_functions + 1 groups, all functions are used,
        and the penalty is the same as `RenyiPenalty`.
    smoothing : float, default=0.0
        Smoothing of the kinks; see `RenyiPenalty`.

    See Also
    --------
    renyi_lib.penalties.RenyiPenalty : Penalize the correlation with unordered groups.

    Notes
    -----
    Groups must be ordered, as numbers and ordered pandas categoricals are. `PenalizedClassifier`
    does not accept numbers with fractions that hardly ever repeat as groups;
    `pandas.qcut(s, 200, labels=False)` turns them into ordered groups.

    Examples
    --------
    Fit a classifier whose label says little about age, whatever the shape of the dependence:

    >>> import numpy as np
    >>> from renyi_lib import PenalizedClassifier
    >>> from renyi_lib.smooth_penalties import ContinuousRenyiPenalty
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(18, 80, 4000)
    >>> X = np.column_stack([np.abs(age - 49) / 18, rng.normal(size=4000)]) + 0.5 * rng.normal(
    ...     size=(4000, 2)
    ... )
    >>> y = X.sum(axis=1) + rng.normal(size=4000) > 1
    >>> for lam in (0, 10):
    ...     clf = PenalizedClassifier(ContinuousRenyiPenalty(), lam)
    ...     value = clf.fit(X, y, sensitive_features=age).penalty_value(X, sensitive_features=age)
    ...     print(lam, round(value, 3))
    0 0.063
    10 0.002
    """

    _constraints: ClassVar = {"n_functions": whole(1), "smoothing": number(0)}

    def __init__(self, n_functions: int = 8, smoothing: float = 0.0):
        self.n_functions = n_functions
        self.smoothing = smoothing

    def of_table(self, T, q):
        psi = _functions_of(q, self.n_functions)
        p = np.maximum(T.sum(axis=1), EMPTY)
        value, pi, A, V = _adversary(T @ psi / np.sqrt(p)[:, None], self.smoothing)
        guess, h = A / np.sqrt(p)[:, None], psi @ V
        dT = (2 * guess * pi) @ h.T - (guess**2 @ pi)[:, None]
        return value, dT

    def best_response(self, F, groups):
        """Return the adversary's function of the d groups, standardized to mean 0 and variance 1.

        The sign is chosen so that the last group's value is not negative.
        """
        groups = as_groups(groups)
        psi = _functions_of(groups.q, self.n_functions)
        p = np.maximum(groups.table(F).sum(axis=1), EMPTY)
        h = psi @ _adversary(groups.table(F) @ psi / np.sqrt(p)[:, None], 0.0)[3][:, 0]
        return h * (1.0 if h[-1] >= 0 else -1.0)

    def has_kinks(self, n_classes, n_groups):
        """Return whether two singular values can tie."""
        return min(n_classes - 1, n_groups - 1, self.n_functions) > 1

    def smoothed(self, mu):
        """Return the same penalty with smoothing parameter mu."""
        return ContinuousRenyiPenalty(self.n_functions, smoothing=mu)

    def table_residuals(self, T, q):
        psi = _functions_of(q, self.n_functions)
        p = np.maximum(T.sum(axis=1), EMPTY)
        f = complement(np.sqrt(p / p.sum())) / np.sqrt(p)[:, None]
        m = T @ psi / p[:, None]
        return [
            f[:, [k]] * (psi[:, j] - m[:, [j]] / 2)
            for k in range(f.shape[1])
            for j in range(psi.shape[1])
        ]


class PredictionPenalty(Penalty):
    """Penalty rho_R^2 of a numeric prediction and the attribute, over smooth functions of both.

    The functions of the prediction are quadratic splines of u = Phi(z), z = (prediction - mean) /
    scale, on equally spaced knots in [0, 1]. The scale is chosen such that the mean of
    sqrt(1 + z^2) has the same value as for a standard normal z. For a normal prediction it is the
    standard deviation, but it is less sensitive to outliers. The penalty does not depend on the
    prediction's origin and units, and it is a smooth function of the prediction. For unordered
    groups, all functions of S are used; for ordered groups, the smoothest functions of the rank.
    The argument F of the methods is the prediction, so F and the gradient have the shape (n,).

    Parameters
    ----------
    kind : {"discrete", "continuous"}, default="discrete"
        Whether the groups S are unordered ("discrete") or ordered ("continuous"), such as those
        of `ordered_groups`.
    n_functions : int, default=16
        Number of functions of the prediction.
    n_functions_s : int, default=8
        Number of functions of the attribute, used only if `kind` is "continuous".
    smoothing : float, default=0.0
        Smoothing of the kinks; see `RenyiPenalty`.

    See Also
    --------
    ordered_groups : Turn numbers into ordered groups.
    renyi_lib.RenyiRegressor : Fit a regression with this penalty.

    Notes
    -----
    The value for a constant prediction is 0. The penalty is discontinuous there, because it
    depends on the shape of the prediction and not on its size.

    Examples
    --------
    The penalty detects that s^2 depends on s, although their Pearson correlation is 0:

    >>> import numpy as np
    >>> from renyi_lib.smooth_penalties import PredictionPenalty, ordered_groups
    >>> s, noise = np.random.default_rng(0).normal(size=(2, 20000))
    >>> penalty = PredictionPenalty("continuous")
    >>> round(penalty.value(s**2 + noise, ordered_groups(s)), 1)
    0.7
    >>> penalty.value(noise, ordered_groups(s)) < 0.003
    True
    """

    _constraints: ClassVar = {
        "kind": choice("discrete", "continuous"),
        "n_functions": whole(2),
        "n_functions_s": whole(1),
        "smoothing": number(0),
    }

    def __init__(
        self,
        kind: str = "discrete",
        n_functions: int = 16,
        n_functions_s: int = 8,
        smoothing: float = 0.0,
    ):
        self.kind = kind
        self.n_functions = n_functions
        self.n_functions_s = n_functions_s
        self.smoothing = smoothing

    def terms(self, F, groups):
        groups = as_groups(groups)
        splines = _Splines(F, groups, self.n_functions)
        if splines.constant:
            return [(0.0, np.zeros(len(groups.codes)))]
        psi = self._psi(groups)
        value, pi, A, V = _adversary(splines.whitened(psi), self.smoothing)
        coefficients, h = splines.unwhitened(A), psi @ V
        gradient = 0.0
        for share, a, of_s in zip(pi, coefficients.T, h.T):
            if share > 0:
                f, slope = splines.function(a)
                gradient = gradient + 2 * share * slope * (of_s[groups.codes] - f)
        return [(value, splines.by_prediction(gradient * groups.weight))]

    def best_response(self, F, groups):
        """Return the adversary's function of the d groups, standardized to mean 0 and variance 1.

        The sign is chosen so that the last group's value is not negative. For a constant
        prediction, the result is zero.
        """
        groups = as_groups(groups)
        splines = _Splines(F, groups, self.n_functions)
        psi = self._psi(groups)
        if splines.constant:
            return np.zeros(len(groups.q))
        h = psi @ _adversary(splines.whitened(psi), 0.0)[3][:, 0]
        return h * (1.0 if h[-1] >= 0 else -1.0)

    def residual_gradients(self, F, groups):
        """Return the gradients of the entries of the whitened C, the matrix L^-1 C with L L^T = G.

        The squares of these entries sum to an upper bound on the penalty.
        """
        groups = as_groups(groups)
        splines = _Splines(F, groups, self.n_functions)
        if splines.constant:
            return []
        psi = self._psi(groups)
        W = splines.whitened(psi)
        left = [splines.function(a)[1] for a in splines.unwhitened(np.eye(len(W))).T]
        guesses = splines.unwhitened(W)
        right = [of_s[groups.codes] - splines.function(a)[0] for of_s, a in zip(psi.T, guesses.T)]
        return _Products(left, right, lambda by_z: splines.by_prediction(by_z * groups.weight))

    def hessian(self, F: ArrayLike, groups: Groups, X) -> np.ndarray:
        """Compute the Hessian of the penalty with respect to theta, where F = X theta.

        It is the sum of the Hessian of the payoff with the adversary's functions held fixed, the
        change of the best prediction f for a fixed function of S, and the change of the
        adversary's mixture of singular vectors. The last part grows as two singular values
        approach each other. If S has more than 64 functions, the last part leaves out those that
        are uncorrelated with all functions of the prediction.

        Parameters
        ----------
        F : array-like of shape (n,)
            Prediction.
        groups : Groups
            Groups of the samples.
        X : ndarray, scipy CSR array or FeatureBlocks of shape (n, p)
            Features.

        Returns
        -------
        ndarray of shape (p, p)
            Hessian.
        """
        groups = as_groups(groups)
        splines = _Splines(F, groups, self.n_functions)
        if splines.constant:
            return np.zeros((X.shape[1], X.shape[1]))
        psi = self._psi(groups)
        W = splines.whitened(psi)
        _, sigma, Vt = np.linalg.svd(W, full_matrices=psi.shape[1] <= _MAX_FUNCTIONS)
        values = np.zeros(len(Vt))
        values[: len(sigma)] = sigma**2
        pi = mixed_strategy(sigma**2, self.smoothing)
        played = max(1, np.count_nonzero(pi))
        of_s, coefficients = psi @ Vt.T, splines.unwhitened(W @ Vt.T)
        push, bend = 0.0, 0.0
        for share, a, g in zip(pi[:played], coefficients.T, of_s.T):
            f, slope = splines.function(a)
            left = g[groups.codes] - f
            push = push + 2 * share * slope * left
            bend = bend + 2 * share * (splines.second_derivative(a) * left - slope**2)
        sums = splines.sums(X, push, bend, of_s, coefficients, played)
        chain = splines.chain(sums)
        payoff = splines.second_order(sums, chain)
        # Change of the best prediction for each function of S that the adversary plays.
        response = splines.whiten(sums.response @ chain) * np.sqrt(2 * pi[:played, None])
        response = response.reshape(-1, X.shape[1])
        # Derivative of each entry of C^T G^-1 C in the basis of its eigenvectors.
        halves = np.tensordot(coefficients[:, :played], sums.by_spline @ chain, (0, 0))
        other = np.tensordot(sums.by_spline[:, :played] @ chain, coefficients, (0, 0))
        entries = halves + other.transpose(0, 2, 1)
        mixing = _mixing_rows(entries, values, pi[:played], self.smoothing)
        return payoff + response.T @ response + mixing.T @ mixing

    def by_chance(self, groups: Groups, n_samples: float | None = None) -> float:
        """Estimate the value if prediction and attribute are independent.

        Parameters
        ----------
        groups : Groups
            Groups of the samples.
        n_samples : float, optional
            Number of samples that the weights represent. The default is the effective number,
            1 / sum(weight^2).

        Returns
        -------
        float
            (sqrt(K) + sqrt(L))^2 / n_samples, but at most 1, for K functions of the prediction and
            L functions of the attribute. This is the edge of the spectrum of a large noise matrix.
        """
        if n_samples is None:
            n_samples = 1 / np.sum(np.broadcast_to(groups.weight, groups.codes.shape) ** 2)
        both = np.sqrt(self.n_functions) + np.sqrt(self._psi(groups).shape[1])
        return float(min(1.0, both**2 / n_samples))

    def has_kinks(self, n_classes, n_groups):
        """Return whether two singular values can tie."""
        return n_groups > 2

    def smoothed(self, mu):
        """Return the same penalty with smoothing parameter mu."""
        return PredictionPenalty(self.kind, self.n_functions, self.n_functions_s, smoothing=mu)

    def _psi(self, groups):
        most = self.n_functions_s if self.kind == "continuous" else len(groups.q)
        return _functions_of(groups.q, most)


class _Splines:
    """Quadratic splines of the standardized prediction, with the sums that the penalty needs."""

    def __init__(self, prediction, groups, n_functions):
        prediction = np.asarray(prediction, dtype=float)
        if prediction.shape != groups.codes.shape:
            raise ValueError(
                f"F must contain one prediction for each of the {len(groups.codes)} samples, but "
                f"it has shape {prediction.shape}"
            )
        if not np.isfinite(prediction).all():
            raise ValueError("F has missing or infinite predictions: every entry must be finite")
        self.groups, self.weight = groups, np.broadcast_to(groups.weight, prediction.shape)
        centered = prediction - self.weight @ prediction
        deviation = self.weight @ np.abs(centered)
        self.constant = not deviation > _CONSTANT * np.abs(prediction).max()
        if self.constant:
            return
        self.scale = _scale(centered, self.weight, deviation)
        self.z = centered / self.scale
        self.density = np.exp(-(self.z**2) / 2) / np.sqrt(2 * np.pi)
        self.bins = SoftBins(ndtr(self.z), n_functions + 1)
        self.root = np.linalg.cholesky(self._gram() + _EVENLY * _even_gram(n_functions + 1))

    def _gram(self):
        """Compute E[b b^T], where only three splines are nonzero at each sample."""
        size, parts = self.bins.n_bins, self.bins.parts
        gram = np.zeros((size, size))
        at = np.arange(size - 2)
        for i in range(3):
            for j in range(i, 3):
                products = parts[i] * parts[j] * self.weight
                sums = np.bincount(self.bins.cell, products, size - 2)
                gram[at + i, at + j] += sums
                if i < j:
                    gram[at + j, at + i] += sums
        return gram

    def whitened(self, psi):
        """Compute L^-1 C with L L^T = G."""
        return solve_triangular(self.root, self.bins.table(self.groups) @ psi, lower=True)

    def unwhitened(self, A):
        """Return the spline coefficients, as columns, of functions in whitened coordinates."""
        return solve_triangular(self.root, A, lower=True, trans="T")

    def function(self, a):
        """Evaluate the function b . a at each sample, and its derivative with respect to z."""
        at = [a[self.bins.cell + k] for k in range(3)]
        value = sum(part * each for part, each in zip(self.bins.parts, at))
        slope = sum(slope * each for slope, each in zip(self.bins.slopes, at))
        return value, slope * self.density

    def second_derivative(self, a):
        """Evaluate the second derivative of b . a with respect to z at each sample."""
        cells = self.bins.n_bins - 2
        bends = (cells**2 * np.diff(a, 2))[self.bins.cell]
        return bends * self.density**2 - self.z * self.function(a)[1]

    def by_prediction(self, by_z):
        """Apply the chain rule to z = (prediction - mean) / scale for all predictions."""
        by_scale = (by_z @ self.z) * self._scale_slopes()
        return (by_z - self.weight * (by_z.sum() + by_scale)) / self.scale

    def _scale_slopes(self):
        """Return the scale's derivative with respect to each prediction, divided by its weight."""
        slope = self.z / np.sqrt(1 + self.z**2)
        return (slope - self.weight @ slope) / (self.weight @ (slope * self.z))

    def sums(self, X, push, bend, of_s, coefficients, played):
        """Compute all sums over rows of X that the Hessian needs, in one pass.

        For the vectors (x, 1, z) of the samples, these are the means, also weighted by the
        derivative of the scale and by `push`, the first derivative of the payoff with respect to
        z; the second moments, weighted by the payoff's second derivative (`bend`, and the part
        that comes from the scale); and the cross derivatives of splines and functions of S. The
        columns of `of_s` are functions of S, and those of `coefficients` are the splines that
        predict them best. The adversary plays the first `played` of them.
        """
        root = np.sqrt(1 + self.z**2)
        # d^2z = -2 dz ds / s - z d^2s / s, and d^2s / s = E[dz^2 / root^3] / E[z^2 / root].
        level = self.weight @ (push * self.z) / (self.weight @ (self.z**2 / root))
        factor = self.weight * (bend - level / root**3)
        first = self.weight * np.stack([np.ones(len(self.z)), self._scale_slopes(), push])
        columns = [first.T, factor, self.z, self.weight, self.density, self.groups.codes]
        columns += [self.bins.cell, *self.bins.parts, *self.bins.slopes]
        return _CurvatureSums(
            *over_rows(X, _curvature_sums, columns, self.bins.n_bins, of_s, coefficients, played)
        )

    def chain(self, sums):
        """Return the matrix that maps a sample's (x, 1, z) to the gradient of z in theta."""
        p = sums.first.shape[1] - 2
        return np.concatenate([np.eye(p), -sums.first[:2, :p]]) / self.scale

    def second_order(self, sums, chain):
        """Return the sum of weight (bend dz^2 + push d^2z), as a matrix in theta."""
        turn = np.outer(sums.first[2] @ chain, chain[-1])
        return chain.T @ sums.second @ chain + turn + turn.T

    def whiten(self, tensor):
        """Multiply L^-1 by a tensor whose first axis indexes the splines."""
        flat = solve_triangular(self.root, tensor.reshape(len(tensor), -1), lower=True)
        return flat.reshape(tensor.shape)


class _CurvatureSums(NamedTuple):
    """Result of `_Splines.sums`."""

    first: np.ndarray
    second: np.ndarray
    by_spline: np.ndarray
    response: np.ndarray


def _curvature_sums(X, columns, n_bins, of_s, coefficients, played):
    """Compute the sums of `_Splines.sums` over a block of X."""
    first, factor, z, weight, density, codes, cells, *splines = columns
    parts, slopes = splines[:3], splines[3:]
    size = X.shape[1] + 2
    moments, second = np.zeros((3, size)), np.zeros((size, size))
    for start in range(0, len(z), _BLOCK):
        rows = slice(start, start + _BLOCK)
        x = _extended(X, z, rows)
        moments += first[rows].T @ x
        second += x.T @ (x * factor[rows, None])
    # For each spline b and each function g of S with the best prediction f, sum weight b' (g - f)
    # and, if the adversary plays g, weight (b' (g - f) - b f').
    by_spline = np.zeros((n_bins, of_s.shape[1], size))
    response = np.zeros((n_bins, played, size))
    order = np.argsort(cells, kind="stable")
    ends = np.cumsum(np.bincount(cells, minlength=n_bins - 2))
    for cell, of_cell in enumerate(np.split(order, ends[:-1])):
        near = slice(cell, cell + 3)
        for start in range(0, len(of_cell), _BLOCK):
            rows = of_cell[start : start + _BLOCK]
            x = _extended(X, z, rows)
            part = np.stack([part[rows] for part in parts], axis=1)
            slope = np.stack([slope[rows] for slope in slopes], axis=1)
            slope *= density[rows, None]
            left = of_s[codes[rows]] - part @ coefficients[near]
            f_slope = slope @ coefficients[near, :played]
            slope *= weight[rows, None]
            part *= weight[rows, None]
            pushed = slope[:, :, None] * left[:, None]
            answer = pushed[:, :, :played] - part[:, :, None] * f_slope[:, None]
            for sums, terms in ((by_spline, pushed), (response, answer)):
                found = terms.reshape(len(rows), -1).T @ x
                sums[near] += found.reshape(3, -1, size)
    return SumTuple([moments, second, by_spline, response])


def _extended(X, z, rows):
    x = X[rows].toarray() if sparse.issparse(X) else X[rows]
    return np.column_stack([x, np.ones(len(x)), z[rows]])


def _scale(centered, weight, deviation):
    """Find s such that sqrt(1 + (centered / s)^2) has the same mean as for a standard normal.

    Newton's method is applied to 1 / s, in which the mean is convex. A standard deviation would be
    inflated by a few large predictions, which would squeeze all other predictions into a range
    that the splines do not resolve, and the mean absolute deviation has a kink wherever a
    prediction crosses the mean.
    """
    inverse = 2 / deviation  # to the right of the solution, because sqrt(1 + z^2) >= |z|
    for _ in range(50):
        roots = np.sqrt(1 + (inverse * centered) ** 2)
        excess = weight @ roots - _NORMAL_SCALE
        step = excess / (weight @ (inverse * centered**2 / roots))
        inverse -= step
        if abs(step) <= 1e-9 * inverse:  # the next step would be rounding error
            break
    return 1 / inverse


def _mixing_rows(entries, values, pi, mu):
    """Return rows whose outer products sum to the mixture's contribution to the Hessian.

    The matrix C^T G^-1 C has the eigenvalues `values`, and `entries[i, j]` is the derivative of
    its entry (i, j) in the basis of its eigenvectors, for each eigenvector i that the adversary
    plays. `pi` contains the probabilities of these eigenvectors.
    """
    played, rows = len(pi), []
    for i in range(played):
        for j in range(i + 1, len(values)):
            # Difference quotient of pi with respect to the eigenvalues.
            gap = max(values[i] - values[j], 1e-12 * values[0])
            speed = 1 / mu if j < played else pi[i] / gap
            rows.append(np.sqrt(2 * speed) * entries[i, j])
    if played > 1:
        diagonal = entries[np.arange(played), np.arange(played)]
        rows.extend((diagonal - diagonal.mean(axis=0)) / np.sqrt(mu))
    return np.reshape(rows, (-1, entries.shape[2]))


class _Products(Sequence):
    """All products of a left and a right factor, computed on demand.

    There may be a hundred products, each as long as the sample, so a list of all of them would
    need too much memory.
    """

    def __init__(self, left, right, finish):
        self.left, self.right, self.finish = left, right, finish

    def __len__(self):
        return len(self.left) * len(self.right)

    def __getitem__(self, item):
        k, j = divmod(range(len(self))[item], len(self.right))
        return self.finish(self.left[k] * self.right[j])


def _adversary(W, mu):
    """Compute the largest squared singular value of W, mixed if mu > 0, and its maximizers.

    Returns the value, the probabilities of the moves, W V for the moves (as columns, which are
    best predictions in whitened coordinates) and V (the moves).
    """
    _, sigma, Vt = np.linalg.svd(W, full_matrices=False)
    pi = mixed_strategy(sigma**2, mu)
    played = max(1, np.count_nonzero(pi))
    pi, V = pi[:played], Vt[:played].T
    value = pi @ sigma[:played] ** 2 + 0.5 * mu * (1 - pi @ pi)
    return float(value), pi, W @ V, V


def _functions_of(q, most):
    """Return orthonormal functions of mean zero on the groups, either all or the smoothest."""
    if most >= len(q) - 1:
        return complement(np.sqrt(q)) / np.sqrt(q)[:, None]
    return basis_of_ranks(np.ascontiguousarray(q).tobytes(), most)


@lru_cache(maxsize=8)
def _even_gram(size):
    """Compute E[b b^T] for uniform u, which is the Gram matrix of quadratic B-splines."""
    nodes, weights = np.polynomial.legendre.leggauss(3)  # exact for products of parabolas
    cells = np.arange(size - 2)
    u = (cells[:, None] + (nodes + 1) / 2).ravel() / (size - 2)
    members = SoftBins(u, size).members()
    return members.T @ (np.tile(weights / 2, size - 2)[:, None] * members) / (size - 2)
