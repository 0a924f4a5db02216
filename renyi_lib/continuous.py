"""Maximal correlation of continuous variables, and of a continuous variable and labels.

The supremum over all functions f and g cannot be estimated from a sample, because if no two
values are equal, some f and g reach 1 regardless of the distribution. Here f and g are restricted
to smooth functions, and the degree of smoothness is chosen by cross-validation::

    u        = the ranks of the variable, divided by n (so only the order of the values matters)
    space    = natural cubic splines in u whose knots are quantiles
    phi_1, … = orthonormal functions of mean zero in that space, the smoothest first
    psi_1, … = the same for the second variable
    W        = E[phi_i(a) psi_j(b)], the whitened cross-covariance
    rho_k    = the largest singular value of the leading k x k block of W

rho_k is the maximal correlation over the k smoothest functions of each variable, which is the
paper's Theorem 1 with functions in place of labels. For a discrete variable, all indicator
functions are used.

Ranks have ties where values repeat, so the functions are orthonormal with respect to the masses of
the distinct values. A variable with m distinct values has at most m - 1 functions, and the
estimate is at most 1.

The number of functions that are tried grows like the square root of the number of samples, without
a limit, which makes the estimate consistent. As n grows, the largest space approximates every
function, while the largest singular value of its noise, which is of the order n^{-1/4}, tends to
0. Cross-validation prefers a larger space only if it increases the correlation on held-out
samples.

All computations use the joint table of two grids with about `_CELLS` cells each. If there are more
distinct values than cells, neighboring values share a cell.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline
from scipy.linalg import cholesky, solve_triangular
from scipy.stats import chi2

from renyi_lib._counting import count_sparse
from renyi_lib._inversion import POWER_CONSTRAINT_QUANTILE
from renyi_lib._linalg import at_most_one as _at_most_one
from renyi_lib._linalg import in_complement as _outside
from renyi_lib._parameters import choice, either, number, whole
from renyi_lib._random import repeatable
from renyi_lib._results import ConditionalRenyi
from renyi_lib._validation import (
    SmallSampleWarning,
    check_alignment,
    check_discrete,
    check_same_length,
    encode_labels,
    known_codes,
    numeric_values,
    sample_weights,
)

__all__ = [
    "ContinuousInterval",
    "ContinuousRenyi",
    "ContinuousTest",
    "LabelFunction",
    "SmoothFunction",
    "continuous_correlation",
    "continuous_interval",
    "continuous_test",
    "correlation_within",
    "smooth_basis",
    "without_bias",
]

# Number of cells of a variable's grid, and the minimum number of cells for each function. The
# tenth function loses 1e-4 of its variance within the cells, and the last function about 1 %.
_CELLS = 1024
_CELLS_EACH = 8
# Minimum number of samples for each function that is tried.
_SAMPLES_EACH = 10
# Maximum number of functions for small samples, and the number of functions above which the sizes
# grow in larger steps.
_SOME_FUNCTIONS = 16
_CLOSE_RUNGS = 48
_FOLDS = 5
# Limits for the warning: too few samples, or too high a correlation by chance alone.
_SMALL_SAMPLE = 20
_LARGE_BY_CHANCE = 0.75
_FEW_ENOUGH_TO_PERMUTE = 1000
# Prevents division by zero for directions that a fold's training rows lack, such as rare labels.
_RIDGE = 1e-6
# Number of draws from the limit distribution, which are the same for all samples.
_DRAWS = 4000
# Number of candidates for the ends of an interval and of draws for each, and the limits of the
# variance of the correlation, relative to its variance for normal variables.
_CANDIDATES = 8
_INTERVAL_DRAWS = 400
_SPREADS = 0.05, 20.0
# The upper end also allows for functions up to this many sizes larger than the chosen size.
_RUNGS_ABOVE = 2
_PERMUTATIONS = 199


class SmoothFunction:
    """Piecewise linear function of one variable, constant beyond the first and last points.

    Parameters
    ----------
    points : array-like of shape (m,)
        Points in increasing order.
    values : array-like of shape (m,)
        Values of the function at the points.

    Examples
    --------
    >>> SmoothFunction([0.0, 2.0], [-1.0, 1.0])([0.5, 7.0])
    array([-0.5,  1. ])
    """

    def __init__(self, points: ArrayLike, values: ArrayLike):
        self.points, self.values = np.asarray(points), np.asarray(values)

    def __call__(self, x: ArrayLike) -> np.ndarray:
        return np.interp(numeric_values(x, "x"), self.points, self.values)

    def __repr__(self):
        return (
            f"SmoothFunction({len(self.points)} points, {self.points[0]:g} … {self.points[-1]:g})"
        )


class LabelFunction:
    """Function of labels, given by its value at each label.

    Parameters
    ----------
    points : array-like of shape (m,)
        Labels.
    values : array-like of shape (m,)
        Value of the function at each label.

    Examples
    --------
    >>> LabelFunction(np.array(["f", "m"]), [-1.0, 1.0])(["m", "f"])
    array([ 1., -1.])
    """

    def __init__(self, points: ArrayLike, values: ArrayLike):
        self.points, self.values = np.asarray(points), np.asarray(values)

    def __call__(self, x: Any) -> np.ndarray:
        return self.values[known_codes(x, self.points, "x")]

    def __repr__(self):
        return f"LabelFunction({dict(zip(self.points.tolist(), self.values.round(3).tolist()))})"


@dataclass(frozen=True)
class ContinuousRenyi:
    """Result of `continuous_correlation`.

    Attributes
    ----------
    rho : float
        Estimate of the maximal correlation, which is the plug-in value corrected for the bias
        that comes from combining many functions.
    f, g : SmoothFunction or LabelFunction
        Functions that attain the plug-in value. In the sample, they have mean 0 and variance 1 up
        to the width of the grid's cells, or they are 0 if a variable is constant.
    plug_in : float
        Correlation of f and g in the sample. It is too large on average, because f and g were
        chosen for this sample.
    cross_validated : float
        Correlation, on held-out samples, of functions that were chosen on the other samples. It is
        too small on average, and it may be negative if the dependence is weak.
    n_functions : tuple of int
        Numbers of functions of `a` and of `b` that were combined.
    path : dict
        Mapping from each pair of numbers of functions that was tried, as in `n_functions`, to
        ``(plug_in, cross_validated)``.
    """

    rho: float
    f: Callable = field(repr=False)
    g: Callable = field(repr=False)
    plug_in: float
    cross_validated: float
    n_functions: tuple[int, int]
    path: dict = field(repr=False)


class ContinuousInterval(NamedTuple):
    """Confidence interval computed by `continuous_interval`.

    Attributes
    ----------
    rho : float
        Estimate of the maximal correlation, as from `continuous_correlation`.
    low, high : float
        Lower and upper end of the interval.
    confidence_level : float
        Confidence level of the interval.
    n_functions : tuple of int
        Numbers of functions of `a` and of `b` that the interval refers to. The upper end also
        allows for more functions (see the notes of `continuous_interval`).
    """

    rho: float
    low: float
    high: float
    confidence_level: float
    n_functions: tuple[int, int]


class ContinuousTest(NamedTuple):
    """Result of `continuous_test`.

    Attributes
    ----------
    statistic : float
        Largest of the standardized correlations; with `given`, Fisher's statistic.
    pvalue : float
        Probability of a value at least this large if the variables are independent.
    method : {"permutation", "limit", "limit and permutation"}
        Method by which the p-value was computed; with `given`, possibly both.
    """

    statistic: float
    pvalue: float
    method: str


def continuous_correlation(
    a: Any,
    b: Any,
    *,
    kind: str | Sequence[str] = "continuous",
    sample_weight: ArrayLike | None = None,
    max_functions: int | None = None,
    random_state: Any = 0,
) -> ContinuousRenyi:
    """Estimate the maximal correlation of continuous variables, with the functions attaining it.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Numbers, or labels of any type if `kind` is "discrete" for that variable.
    kind : {"continuous", "discrete"} or a pair of these, default="continuous"
        Types of `a` and `b`, for example ``("continuous", "discrete")`` for a score and a group.
        A single "continuous" applies to both; at least one variable must be continuous.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero. Ranks, functions and correlation refer to the weighted
        sample; n becomes (sum of the weights)^2 / (sum of their squares).
    max_functions : int, optional
        Maximum number of functions of a continuous variable; the default is 16, or sqrt(n) / 4
        for more than 4096 samples. Fewer are tried if there are fewer than ten samples for each
        function. Cross-validation chooses how many are used.
    random_state : int, RandomState, Generator or None, default=0
        Seed or generator that assigns the samples to the five folds.

    Returns
    -------
    ContinuousRenyi
        Estimate, with its functions and the values for each number of functions.

    See Also
    --------
    continuous_test : Test independence.
    continuous_interval : Compute a confidence interval.
    renyi_lib.renyi_correlation : Compute the correlation of any two variables.

    Notes
    -----
    - Only the order of a continuous variable's values matters, so logarithms, units and outliers
      do not affect the result.
    - The correction treats p functions of one variable and q of the other as p- and q-dimensional
      Gaussian vectors with one correlated direction. Then the square of the largest sample
      canonical correlation tends to ``r (1 - c + c / r) (1 - d + d / r)`` with r = rho^2,
      c = p / n, d = q / n, if r is large enough to be detectable. The larger solution r of this
      equation is used; if there is none, rho is 0.
    - Dependence through rougher functions than those that are tried cannot be detected. From n
      samples, `rho` estimates the supremum over functions with at most about 16 turning points,
      or sqrt(n) / 4 for more than 4096 samples. This supremum is at most the maximal correlation
      and tends to it as n grows. No estimator can do better without assumptions, because n
      samples cannot distinguish a rough function from chance.
    - If a variable is constant, rho is 0, and f and g are zero.

    References
    ----------
    Z. Bao, J. Hu, G. Pan and W. Zhou, "Canonical correlation coefficients of high-dimensional
    Gaussian vectors: finite rank case", Annals of Statistics 47 (2019), 612-640,
    doi:10.1214/18-AOS1704.

    Examples
    --------
    On a circle, no line fits the points, but x determines y up to its sign.

    >>> import numpy as np
    >>> from renyi_lib import continuous_correlation
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 1000)
    >>> x, y = np.cos(angle), np.sin(angle)
    >>> found = continuous_correlation(x, y)
    >>> round(found.rho, 3)
    1.0
    >>> bool(found.f([-1.0]) * found.f([0.0]) < 0 < found.f([-1.0]) * found.f([1.0]))
    True
    """
    either(None, whole(1))("max_functions", max_functions)
    random_state = repeatable(random_state)
    arrays = {}
    if sample_weight is not None:
        arrays["sample_weight"] = sample_weights(sample_weight)
    first, second = _read(a, b, kind, **arrays)
    return _estimate(first, second, arrays.get("sample_weight"), max_functions, random_state)


def continuous_interval(
    a: Any,
    b: Any,
    *,
    kind: str | Sequence[str] = "continuous",
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    max_functions: int | None = None,
    random_state: Any = 0,
) -> ContinuousInterval:
    """Compute a confidence interval of the maximal correlation of continuous variables.

    Parameters
    ----------
    a, b, kind, max_functions
        Same as in `continuous_correlation`.
    confidence_level : float, default=0.95
        Confidence level of the interval.
    sample_weight : array-like of shape (n,), optional
        Nonnegative sample weights; by default, all samples count equally.
    random_state : int, RandomState, Generator or None, default=0
        Seed or generator of the folds and of the random draws.

    Returns
    -------
    ContinuousInterval
        Estimate, both ends, confidence level and numbers of functions.

    See Also
    --------
    continuous_test : Test independence.
    renyi_lib.renyi_interval : Compute the interval for two discrete variables.

    Notes
    -----
    - The interval is for the supremum over as many smooth functions as cross-validation has
      chosen. The upper end also allows for functions up to two sizes larger. A supremum over
      smooth functions is at most the maximal correlation, so `low` is also a lower limit of the
      maximal correlation, whereas `high` is an upper limit only if the functions that attain the
      maximal correlation are as smooth. No upper limit below 1 holds for all functions, because
      the variables may always depend on each other through a pattern that is too fine for the
      sample.
    - Without weights, `low` is 0 unless `continuous_test`, with 199 permutations if it permutes,
      rejects independence at the level 1 - confidence_level. This test accounts for the choice of
      the functions.
    - A candidate value is kept unless the observed value lies in one of the tails of the
      candidate's distribution. In this distribution, the whitened cross-covariance has the
      candidate rho as its first entry, plus normal noise. The variance of the first entry is 1 / n
      times the variance of ``f g - r (f^2 + g^2) / 2`` in the sample, where r is the observed
      value, up to a factor that depends on rho. The other entries of the first row and column have
      variance (1 - rho^2) / n, and all remaining entries have variance 1 / n.
    - If the observed value is below the 16 % quantile of the values expected under independence,
      the upper end uses this quantile instead, so that a lucky sample does not make the interval
      too short. If necessary, the interval is extended to contain the estimate.
    - If a variable is constant, the estimate and both ends are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import continuous_interval
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> found = continuous_interval(x, 0.5 * x + np.sqrt(0.75) * noise)
    >>> bool(0.4 < found.low < 0.5 < found.high < 0.6)
    True
    """
    number(0, 1, above=True)("confidence_level", confidence_level)
    either(None, whole(1))("max_functions", max_functions)
    random_state = repeatable(random_state)
    arrays = {}
    if sample_weight is not None:
        arrays["sample_weight"] = sample_weights(sample_weight)
    first, second = _read(a, b, kind, **arrays)
    weights = arrays.get("sample_weight")
    found = _estimate(first, second, weights, max_functions, random_state)
    if not found.path:
        return ContinuousInterval(0.0, 0.0, 0.0, confidence_level, (0, 0))
    tail = (1 - confidence_level) / 2
    pair = _Pair.of(first, second, weights, max_functions)
    W = pair.moments(np.zeros(pair.n, dtype=np.intp)).cross_covariance()
    rng = np.random.default_rng(random_state)
    chosen = pair.sizes.index(found.n_functions)
    low, high = pair.kept(W, found.n_functions, rng, tail)
    # The true functions may be slightly rougher than those that were detected.
    rougher = pair.sizes[min(chosen + _RUNGS_ABOVE, len(pair.sizes) - 1)]
    if rougher != found.n_functions:
        high = max(high, pair.kept(W, rougher, rng, tail)[1])
    if weights is None:
        options = "auto", _PERMUTATIONS, max_functions, random_state
        if _test(first, second, *options).pvalue > 1 - confidence_level:
            low = 0.0
    return ContinuousInterval(
        found.rho,
        float(min(low, found.rho)),
        float(max(high, found.rho)),
        confidence_level,
        found.n_functions,
    )


def correlation_within(
    a: Any,
    b: Any,
    given: Any,
    *,
    kind: str | Sequence[str] = "continuous",
    sample_weight: ArrayLike | None = None,
) -> ConditionalRenyi:
    """Compute `continuous_correlation` within each group of a third variable.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Numbers, or labels of any type if `kind` is "discrete" for that variable.
    given : array-like of shape (n,)
        Labels of the third variable.
    kind : {"continuous", "discrete"} or a pair of these, default="continuous"
        Types of `a` and `b`, as in `continuous_correlation`.
    sample_weight : array-like of shape (n,), optional
        Nonnegative sample weights; by default, all samples count equally.

    Returns
    -------
    ConditionalRenyi
        Named tuple of ``values`` of the third variable with positive weight, ``correlations``
        within the group of each value, and ``weights``, the share of each group.

    See Also
    --------
    renyi_lib.continuous_correlation : Estimate the correlation of all samples together.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.continuous import correlation_within
    >>> x, y = np.random.default_rng(1).normal(size=(2, 4000))
    >>> up = np.arange(4000) < 2000
    >>> y = np.where(up, x, y)
    >>> correlation_within(x, y, up).correlations.round(1)
    array([0., 1.])
    """
    groups, categories = encode_labels(given, "given")
    check_discrete(categories, len(groups), "given")
    weights = np.ones(len(groups)) if sample_weight is None else sample_weights(sample_weight)
    first, second = _read(a, b, kind, given=groups, sample_weight=weights)
    mass = np.bincount(groups, weights)
    seen = np.flatnonzero(mass)
    correlations = [
        _estimate(first.at(rows), second.at(rows), weights[rows]).rho
        for rows in (groups == group for group in seen)
    ]
    return ConditionalRenyi(categories[seen], np.array(correlations), mass[seen] / mass.sum())


def continuous_test(
    a: Any,
    b: Any,
    *,
    given: Any = None,
    kind: str | Sequence[str] = "continuous",
    method: str = "auto",
    n_permutations: int = 999,
    max_functions: int | None = None,
    random_state: Any = 0,
) -> ContinuousTest:
    """Test the independence of two continuous variables, or of a continuous and a discrete one.

    For each number of functions, the plug-in correlation is compared with its mean under
    independence, in units of its standard deviation. The statistic is the largest of these
    values. Because it is compared with its own distribution under independence, the p-value
    accounts for trying several degrees of smoothness.

    Parameters
    ----------
    a, b, kind, max_functions
        Same as in `continuous_correlation`.
    given : array-like of shape (n,), optional
        Labels of a third variable. Independence is then tested within each of its groups, and the
        p-values are combined by Fisher's method, whose statistic is returned.
    method : {"auto", "permutation", "limit"}, default="auto"
        "permutation" pairs the values of `b` with the values of `a` at random many times, which is
        exact for every n. "limit" samples from the distribution for large n, in which the
        covariances of the functions of `a` and `b` are independent normal variables of variance
        1 / n; its cost hardly depends on n. "auto" uses "permutation" for up to 1000 samples (with
        `given`, in the group) and "limit" for more.
    n_permutations : int, default=999
        Number of random permutations, at least 19; not used by "limit".
    random_state : int, RandomState, Generator or None, default=0
        Seed or generator of the permutations. The draws of "limit" are always the same.

    Returns
    -------
    ContinuousTest
        Statistic, p-value and the method that was used.

    See Also
    --------
    renyi_lib.continuous_correlation : Estimate the maximal correlation.
    continuous_interval : Compute a confidence interval.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import continuous_test
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 5000))
    >>> continuous_test(x, noise).pvalue > 0.05
    True
    >>> continuous_test(x, x**2 + 3 * noise).pvalue < 0.01
    True
    """
    choice("auto", "permutation", "limit")("method", method)
    either(None, whole(1))("max_functions", max_functions)
    whole(19)("n_permutations", n_permutations)
    random_state = repeatable(random_state)
    if given is None:
        first, second = _read(a, b, kind)
        return _test(first, second, method, n_permutations, max_functions, random_state)
    groups, categories = encode_labels(given, "given")
    check_discrete(categories, len(groups), "given")
    first, second = _read(a, b, kind, given=groups)
    tests = [
        _test(first.at(rows), second.at(rows), method, n_permutations, max_functions, random_state)
        for rows in (groups == group for group in range(len(categories)))
    ]
    statistic = -2 * np.log([test.pvalue for test in tests]).sum()
    methods = " and ".join(sorted({test.method for test in tests}))
    return ContinuousTest(float(statistic), float(chi2.sf(statistic, 2 * len(tests))), methods)


def without_bias(rho: float, p: int, q: int, n: float) -> float:
    """Correct a sample canonical correlation for the bias from combining many functions.

    Parameters
    ----------
    rho : float
        Largest sample canonical correlation.
    p, q : int
        Numbers of functions of the two variables.
    n : float
        Number of samples minus 1, because the mean uses one degree of freedom.

    Returns
    -------
    float
        Corrected correlation, or 0 if chance alone would give so large a value.

    See Also
    --------
    renyi_lib.continuous_correlation : Estimate a correlation with this correction.

    Examples
    --------
    With one function of each variable the correction is small, with ten it is large:

    >>> round(without_bias(0.5, 1, 1, 200), 3), round(without_bias(0.5, 10, 10, 200), 3)
    (0.492, 0.392)
    >>> without_bias(0.2, 10, 10, 200)
    0.0
    """
    c, d = p / n, q / n
    if max(c, d) >= 1:
        return 0.0
    # Take the larger root r of rho^2 r = ((1 - c) r + c) ((1 - d) r + d).
    square, linear, constant = (1 - c) * (1 - d), c * (1 - d) + d * (1 - c) - rho**2, c * d
    discriminant = linear**2 - 4 * square * constant
    if linear > 0 or discriminant < 0:
        return 0.0
    return _at_most_one(np.sqrt((np.sqrt(discriminant) - linear) / (2 * square)))


def _estimate(first, second, weights=None, max_functions=None, random_state=0):
    """Implement `continuous_correlation` for validated variables."""
    pair = _Pair.of(first, second, weights, max_functions)
    if not pair.sizes:
        f, g = (side.function(np.zeros(len(side.points))) for side in (pair.x, pair.y))
        return ContinuousRenyi(0.0, f, g, 0.0, 0.0, (0, 0), {})
    folds = np.random.default_rng(random_state).permutation(pair.n) % _FOLDS
    moments = pair.moments(folds)
    W = moments.cross_covariance()
    plug_ins = _largest_values(W[None], pair.sizes)[0]
    scores = _held_out(moments, pair.sizes)
    best = int(np.argmax(scores))
    p, q = pair.sizes[best]
    U, _, Vt = np.linalg.svd(W[:p, :q])
    f, g = pair.x.basis[:, :p] @ U[:, 0], pair.y.basis[:, :q] @ Vt[0]
    sign = 1.0 if f[-1] >= 0 else -1.0
    _warn_if_small(p, q, pair.effective_n)
    return ContinuousRenyi(
        rho=without_bias(plug_ins[best], p, q, pair.effective_n - 1),
        f=pair.x.function(sign * f),
        g=pair.y.function(sign * g),
        plug_in=_at_most_one(plug_ins[best]),
        cross_validated=float(scores[best]),
        n_functions=(p, q),
        path={
            size: (_at_most_one(value), float(score))
            for size, value, score in zip(pair.sizes, plug_ins, scores)
        },
    )


def _kept(observed, noise, spread, tail, n):
    """Return the smallest and the largest candidate that the observed value does not reject."""

    def law(rho):
        W = noise.copy()
        W[:, 0, :] *= np.sqrt(1 - rho**2)
        W[:, :, 0] *= np.sqrt(1 - rho**2)
        W[:, 0, 0] = rho + noise[:, 0, 0] * spread * (1 - rho**2)
        return np.minimum(_largest_values(W, [W.shape[1:]])[:, 0], 1.0)

    reach = 5 * max(spread * (1 - observed**2), 1 - observed) / np.sqrt(n)
    by_chance = np.sum(np.sqrt(noise.shape[1:])) / np.sqrt(n)
    least, most = observed - reach - by_chance, observed + reach
    if least <= 0:  # in this case the observed value may be mostly due to chance
        least, most = 0.0, most + 3 / np.sqrt(n)
    candidates = np.linspace(least, min(most, 1.0), _CANDIDATES)
    drawn = np.array([law(rho) for rho in candidates])
    below, above = np.maximum.accumulate(np.quantile(drawn, [tail, 1 - tail], axis=1), axis=1)
    seen = (
        max(observed, np.quantile(drawn[0], POWER_CONSTRAINT_QUANTILE)) if least == 0 else observed
    )
    return np.interp(observed, above, candidates), np.interp(seen, below, candidates)


def _test(first, second, method, n_permutations, max_functions, random_state):
    """Implement `continuous_test` for validated variables."""
    pair = _Pair.of(first, second, None, max_functions)
    if method == "auto":
        method = "permutation" if pair.n <= _FEW_ENOUGH_TO_PERMUTE else "limit"
    if not pair.sizes:
        return ContinuousTest(0.0, 1.0, method)
    if method == "permutation":
        X, Y = pair.x.basis[pair.x.codes] / pair.n, pair.y.basis[pair.y.codes]
        rng = np.random.default_rng(random_state)
        by_chance = [X.T @ Y[rng.permutation(pair.n)] for _ in range(n_permutations)]
        draws = _largest_values(np.array([X.T @ Y, *by_chance]), pair.sizes)
    else:
        moments = pair.moments(np.zeros(pair.n, dtype=np.intp))
        seen = _largest_values(moments.xy / np.sqrt(pair.n), pair.sizes)
        draws = np.vstack([seen, _limit_law(tuple(pair.sizes))])
    # The sample counts as one of the draws, so no p-value is 0 and the level of the permutation
    # test is exact.
    mean, deviation = draws.mean(axis=0), draws.std(axis=0)
    excess = ((draws - mean) / np.maximum(deviation, 1e-9)).max(axis=1)
    # Values that differ only by rounding are treated as equal.
    pvalue = np.mean(excess >= excess[0] - 1e-9)
    return ContinuousTest(float(excess[0]), float(pvalue), method)


class _Side(NamedTuple):
    """Variable on its grid of cells."""

    codes: np.ndarray  # cell of each sample
    points: np.ndarray  # a value in each cell
    basis: np.ndarray  # orthonormal functions of mean zero, with a row for each cell
    smooth: bool  # whether functions are ordered by smoothness, or span all functions of labels

    def function(self, values):
        return (SmoothFunction if self.smooth else LabelFunction)(self.points, values)


class _Pair(NamedTuple):
    """Two variables on their grids, and the numbers of functions of each to combine."""

    x: _Side
    y: _Side
    n: int
    weights: np.ndarray | None
    effective_n: float  # number of equally weighted samples that would be as informative
    sizes: list[tuple[int, int]]

    @classmethod
    def of(cls, first, second, weights, max_functions):
        n = effective_n = len(first.values)
        if weights is not None:
            if not weights.all():
                rows = weights > 0
                return cls.of(first.at(rows), second.at(rows), weights[rows], max_functions)
            effective_n = weights.sum() ** 2 / np.square(weights).sum()
        if max_functions is None:
            max_functions = max(np.sqrt(effective_n) / 4, _SOME_FUNCTIONS)
        most = int(min(max_functions, max(1, effective_n // _SAMPLES_EACH)))
        x, y = (on_a_grid(variable, weights, most) for variable in (first, second))
        return cls(x, y, n, weights, effective_n, _sizes(x, y, most))

    def kept(self, W, size, rng, tail):
        """Return the ends of an interval for the correlation over `size` = (p, q) functions."""
        p, q = size
        U, values, Vt = np.linalg.svd(W[:p, :q])
        rho = min(values[0], 1.0)
        f = (self.x.basis[:, :p] @ U[:, 0])[self.x.codes]
        g = (self.y.basis[:, :q] @ Vt[0])[self.y.codes]
        influence = f * g - rho * (f**2 + g**2) / 2
        # For normal variables the variance is (1 - rho^2)^2; `spread` is relative to it.
        spread = np.average(influence**2, weights=self.weights) / max((1 - rho**2) ** 2, 1e-12)
        n = max(self.effective_n - 1, 1)
        noise = rng.normal(size=(_INTERVAL_DRAWS, p, q)) / np.sqrt(n)
        return _kept(rho, noise, np.sqrt(np.clip(spread, *_SPREADS)), tail, n)

    def moments(self, folds):
        """Compute sums over the samples of each fold."""
        X, Y, count = self.x.basis, self.y.basis, folds.max() + 1
        rows, columns = folds * len(X) + self.x.codes, folds * len(Y) + self.y.codes
        table = count_sparse(rows, self.y.codes, (count * len(X), len(Y)), self.weights)
        by_x, by_y = (
            np.bincount(codes, self.weights, minlength=count * len(B)).reshape(count, -1, 1)
            for codes, B in ((rows, X), (columns, Y))
        )
        return _Moments(
            xy=X.T @ (table @ Y).reshape(count, len(X), -1),
            xx=X.T @ (by_x * X),
            yy=Y.T @ (by_y * Y),
            x=X.T @ by_x,
            y=Y.T @ by_y,
            mass=by_x.sum(axis=1, keepdims=True),
        )


class _Moments(NamedTuple):
    """Sums of products, of single functions and of weights over the samples of each fold."""

    xy: np.ndarray
    xx: np.ndarray
    yy: np.ndarray
    x: np.ndarray
    y: np.ndarray
    mass: np.ndarray

    def cross_covariance(self):
        """Return W of all folds together."""
        return self.xy.sum(axis=0) / self.mass.sum()

    def about(self, mean_x, mean_y):
        """Return sums of products of deviations from the given means: xy, xx and yy."""
        return tuple(
            product - first * _T(m_2) - m_1 * _T(second) + self.mass * m_1 * _T(m_2)
            for product, first, second, m_1, m_2 in (
                (self.xy, self.x, self.y, mean_x, mean_y),
                (self.xx, self.x, self.x, mean_x, mean_x),
                (self.yy, self.y, self.y, mean_y, mean_y),
            )
        )


class Variable(NamedTuple):
    """Values of a variable, either numbers or codes of labels."""

    values: np.ndarray
    labels: np.ndarray | None

    def at(self, rows):
        return Variable(self.values[rows], self.labels)


def _read(a, b, kind, **others):
    """Validate both variables, and other arrays of the same length."""
    kinds = (kind, kind) if isinstance(kind, str) else tuple(kind)
    if len(kinds) != 2:
        raise ValueError(f"kind must be a string or a pair of strings, not {kind!r}")
    for own in kinds:
        choice("continuous", "discrete")("kind", own)
    if kinds == ("discrete", "discrete"):
        raise ValueError(
            f"kind={kind!r} means that both variables are labels: use renyi_correlation, "
            "renyi_interval or renyi_test instead"
        )
    check_alignment(a=a, b=b)
    variables = [_variable(v, name, own) for v, name, own in zip((a, b), "ab", kinds)]
    check_same_length(a=variables[0].values, b=variables[1].values, **others)
    return variables


def _variable(values, name, kind):
    if kind == "continuous":
        return Variable(numeric_values(values, name), None)
    codes, labels = encode_labels(values, name)
    otherwise = f'; if {name} is numeric, declare it as "continuous" in kind'
    check_discrete(labels, len(codes), name, otherwise=otherwise)
    return Variable(codes, labels)


def on_a_grid(variable, weights, most):
    """Assign a variable to cells, and compute the orthonormal functions to combine."""
    values, labels = variable
    if labels is not None:
        return _Side(values, labels, _label_basis(values, len(labels), weights), smooth=False)
    points, codes = np.unique(values, return_inverse=True)
    mass = np.bincount(codes, weights)
    mass = mass / mass.sum()
    rank = np.cumsum(mass) - mass / 2
    cells = max(_CELLS, _CELLS_EACH * most)
    if len(points) > cells:
        cell = (rank * cells).astype(np.intp)
        is_first = np.diff(cell, prepend=-1) > 0
        first = np.flatnonzero(is_first)
        codes = (np.cumsum(is_first) - 1)[codes]
        middle = (first + np.append(first[1:], len(cell)) - 1) // 2
        points, mass = points[middle], np.add.reduceat(mass, first)
    return _Side(codes, points, basis_of_ranks(mass.tobytes(), most), smooth=True)


@lru_cache(maxsize=4)
def basis_of_ranks(mass, most):
    """Compute functions of the ranks from the masses, which are bytes, as a key for the cache."""
    mass = np.frombuffer(mass)
    basis = smooth_basis(np.cumsum(mass) - mass / 2, mass, most)
    basis.flags.writeable = False
    return basis


def _label_basis(codes, size, weights):
    """Return orthonormal functions of mean zero that span all functions of the labels."""
    mass = np.bincount(codes, weights, minlength=size)
    seen = mass > 0
    root = np.sqrt(mass[seen] / mass.sum())
    basis = np.zeros((size, len(root) - 1))
    basis[seen] = _outside(np.eye(len(root)), root).T / root[:, None]
    return basis


def _sizes(x, y, most):
    """Return the numbers of functions to try: 1, 2, 3, …, then steps of a quarter, then a half."""
    p, q = x.basis.shape[1], y.basis.shape[1]
    if not (p and q):
        return []
    ladder = [1]
    while ladder[-1] < most:
        step = 1.25 if ladder[-1] < _CLOSE_RUNGS else 1.5
        ladder.append(min(max(ladder[-1] + 1, round(step * ladder[-1])), most))
    sizes = [(min(k, p) if x.smooth else p, min(k, q) if y.smooth else q) for k in ladder]
    return list(dict.fromkeys(sizes))


def smooth_basis(u: np.ndarray, mass: np.ndarray, most: int = 16) -> np.ndarray:
    """Compute orthonormal functions of mean zero, ordered from smooth to rough.

    The functions are natural cubic splines with knots at quantiles. Among all such functions with
    mean 0 and variance 1, the first has the smallest integral of the squared second derivative,
    the second has the smallest integral among those uncorrelated with the first, and so on (the
    Demmler-Reinsch basis). The first is a straight line; function j has about j - 1 turning
    points.

    Parameters
    ----------
    u : ndarray of shape (m,)
        Points at which to evaluate the functions, in increasing order.
    mass : ndarray of shape (m,)
        Positive probability of each point.
    most : int, default=16
        Maximum number of functions; fewer are returned if there are too few points.

    Returns
    -------
    ndarray of shape (m, k)
        Values of the k functions at the points.

    Examples
    --------
    >>> import numpy as np
    >>> mass = np.full(100, 0.01)
    >>> basis = smooth_basis(np.linspace(0, 1, 100), mass, 3)
    >>> np.round(basis.T @ (mass[:, None] * basis), 12) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    if len(u) == 1:
        return np.zeros((1, 0))
    # Knots are a subset of the points. With as many knots as points, every function is a spline.
    count = min(len(u), most + most // 2 + 2)
    rank = np.cumsum(mass) - mass / 2
    nearest = np.interp(np.linspace(rank[0], rank[-1], count), rank, np.arange(len(u)))
    at = np.unique(np.rint(nearest).astype(np.intp)) if count < len(u) else np.arange(len(u))
    root = np.sqrt(mass)
    line = np.linalg.qr(root[:, None] * np.column_stack([np.ones_like(u), u]))[0]
    curves = root[:, None] * _bent_by_one(u[at], u)
    for _ in range(2):  # the second pass removes rounding errors of the first
        curves = curves - line @ (line.T @ curves)
    # Find the functions with the largest variance for a given bending, which is numerically more
    # stable than finding those with the least bending for a given variance.
    size, V = np.linalg.eigh(curves.T @ curves)
    size, V = size[::-1], V[:, ::-1]
    smooth = curves @ V[:, (size > 1e-14 * size[:1].sum())[: most - 1].nonzero()[0]]
    basis = np.linalg.qr(np.hstack([line, smooth]))[0][:, 1:] / root[:, None]
    return basis * np.where(basis[-1] < 0, -1.0, 1.0)


def _bent_by_one(knots, u):
    """Evaluate, at u, natural cubic splines whose second derivatives are orthonormal.

    The second derivative is piecewise linear and zero at the first and last knots, so it is a sum
    of hat functions. The splines are these sums integrated twice, up to a straight line.
    """
    if len(knots) == 2:
        return np.zeros((len(u), 0))
    h = np.diff(knots)
    hats = BSpline(np.r_[knots[0], knots, knots[-1]], np.eye(len(knots))[:, 1:-1], 1)
    # The Cholesky factorization reads only the lower triangle of the hat functions' products.
    products = np.diag((h[:-1] + h[1:]) / 3) + np.diag(h[1:-1] / 6, -1)
    return solve_triangular(
        cholesky(products, lower=True), hats.antiderivative(2)(u).T, lower=True
    ).T


def _held_out(fold, sizes):
    """Return the correlation of the functions on held-out samples for each size."""
    train = _Moments(*(np.sum(part, axis=0) - part for part in fold))
    means = train.x / train.mass, train.y / train.mass
    xy, xx, yy = (product / train.mass for product in train.about(*means))
    # The inverse Cholesky factor of a leading block is the leading block of the full inverse
    # factor, so one whitening serves all sizes.
    L, R = _inverse_root(xx), _inverse_root(yy)
    W = L @ xy @ _T(R)
    xy, xx, yy = fold.about(*means)
    xy, xx, yy = L @ xy @ _T(R), L @ xx @ _T(L), R @ yy @ _T(R)
    scores = []
    for p, q in sizes:
        # Compute the right singular vector and derive the left one, which is faster than an SVD.
        block = W[:, :p, :q]
        v = np.linalg.eigh(_T(block) @ block)[1][:, :, -1]
        u = (block @ v[:, :, None])[:, :, 0]
        u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-300)
        covariance, var_f, var_g = (
            np.einsum("ni,nij,nj", left, products[:, : left.shape[1], : right.shape[1]], right)
            for left, products, right in ((u, xy, v), (u, xx, u), (v, yy, v))
        )
        scale = np.sqrt(var_f * var_g)
        scores.append(covariance / scale if scale > 0 else 0.0)
    return np.array(scores)


def _inverse_root(covariance):
    """Return the inverse Cholesky factors of a stack of covariance matrices."""
    ridge = _RIDGE * np.eye(covariance.shape[-1])
    return np.linalg.inv(np.linalg.cholesky(covariance + ridge))


def _largest_values(Ws, sizes):
    """Return the largest singular values of leading blocks: a row per W, a column per size."""
    squares = []
    for p, q in sizes:
        block = Ws[:, :p, :q]
        gram = _T(block) @ block if p > q else block @ _T(block)
        squares.append(np.linalg.eigvalsh(gram)[:, -1])
    return np.sqrt(np.maximum(squares, 0)).T


@cache
def _limit_law(sizes):
    """Sample sqrt(n) times the largest singular values under independence."""
    shape = _DRAWS, *np.max(sizes, axis=0)
    return _largest_values(np.random.default_rng(0).normal(size=shape), sizes)


def _warn_if_small(p, q, n):
    """Issue a `SmallSampleWarning` if the sample is too small for the number of functions."""
    chance = min(1.0, (np.sqrt(p) + np.sqrt(q)) / np.sqrt(n))
    if n < _SMALL_SAMPLE or chance > _LARGE_BY_CHANCE:
        warnings.warn(
            f"{n:.0f} samples are few for {p} and {q} functions (with weights, this is the "
            "effective number of samples): chance alone gives a correlation of about "
            f"{chance:.2f} before the correction. Use continuous_test to check whether there is "
            "any dependence",
            SmallSampleWarning,
            stacklevel=3,
        )


def _T(stack):
    """Transpose each matrix of a stack."""
    return np.swapaxes(stack, -1, -2)
