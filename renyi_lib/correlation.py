"""Rényi correlation of two variables, and functions that attain it.

The Rényi (Hirschfeld-Gebelein-Rényi, maximal) correlation of two discrete variables is defined by
equation "Renyi" of the paper::

    rho_R(a, b) = sup E[f(a) g(b)]   over   E f = E g = 0,  E f^2 = E g^2 = 1,

which is 0 if and only if a and b are independent. It depends only on the joint table of a and b,
so samples are first counted into a table, and all further computations use the table. Other
measures of dependence are in `renyi_lib.dependence`.

If one of the variables is constant, every correlation computed here is 0.
"""

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from renyi_lib._counting import count_labels, drop_empty, occurring, one_hot
from renyi_lib._dispatch import is_dask
from renyi_lib._linalg import at_most_one, from_complement, in_complement
from renyi_lib._parameters import choice
from renyi_lib._results import ConditionalRenyi
from renyi_lib._validation import (
    SmallSampleWarning,
    check_discrete,
    check_same_length,
    integer_codes,
    looks_continuous,
    refuse_masked,
    refuse_sample_matrix,
    sample_weights,
)
from renyi_lib.tables import joint_table

__all__ = [
    "BinaryRenyi",
    "ConditionalRenyi",
    "MaximalFunctions",
    "SmallSampleWarning",
    "joint_table",
    "maximal_functions",
    "normalized_table",
    "renyi_binary",
    "renyi_correlation",
    "renyi_from_joint",
    "renyi_from_soft",
]

# Minimum number of samples for a warning that chance alone could give the value, and the
# correlation by chance above which it is issued.
_SMALL_EXAMPLE = 20
_LARGE_BY_CHANCE = 0.55
# A variable with this many values may be a score whose values repeat, so even a small correlation
# may be noise, and the limit is lower.
_MANY_VALUES = 20
_LARGE_FOR_MANY = 0.1


class MaximalFunctions(NamedTuple):
    """Rényi correlation, the functions f* and g* that attain it, and singular values.

    These are the singular values of the table's `normalized_table`, without the first, which is
    always 1. See `maximal_functions`.
    """

    rho: float
    f: np.ndarray
    g: np.ndarray
    singular_values: np.ndarray


class BinaryRenyi(NamedTuple):
    """Quantities rho, gamma and w of Theorem 2, which `renyi_binary` defines."""

    rho: float
    gamma: float
    w: np.ndarray


def renyi_correlation(
    a: Any,
    b: Any,
    *,
    given: Any = None,
    sample_weight: ArrayLike | None = None,
    kind: str | tuple[str, str] = "auto",
) -> float | ConditionalRenyi:
    """Compute the Rényi correlation of two variables from their samples.

    For labels, the correlation is computed by Theorem 1. For measurements, such as a score, it is
    estimated over smooth functions; see `continuous_correlation`, which also returns the
    functions. If you already have a table of counts, use `renyi_from_joint`.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Labels of any type, such as integers, strings or a categorical Series, or numbers that are
        measurements. Several columns, as in a DataFrame, are combined into one variable. Labels
        may be Dask collections, which are counted partition by partition.
    given : array-like of shape (n,), optional
        Third variable to condition on; several columns are combined.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    kind : {"auto", "discrete", "continuous"} or a pair of these, default="auto"
        Type of both variables, or of `a` and of `b`. "auto" treats floating-point numbers as
        "continuous" unless all of them are whole, and everything else as labels, so whole numbers
        such as ages or incomes in euros need ``kind="continuous"``. Because the number of samples
        plays no role in this decision, adding a row does not change it, unless the row contains
        the first fraction in a column. Without weights, "auto" raises an error if there are at
        least 20 labels and nearly every sample has its own, because each label would then
        determine its partner and the correlation would always be 1; it also issues a
        `SmallSampleWarning` for labels if chance alone gives a large value and could explain the
        result. "discrete" treats every value as a label. For Dask collections, a single "auto" or
        "discrete" is allowed, and all values are treated as labels.

    Returns
    -------
    float or ConditionalRenyi
        Correlation between 0 and 1. With `given`, a named tuple of ``values`` of the third
        variable, ``correlations`` given each value, and ``weights``, the probability of each
        value.

    Notes
    -----
    If `given` is the true label, the sum of ``correlations ** 2`` is the paper's penalty for
    equalized odds (equation "Min-Max-Fairness_EO"). Values with zero weight are left out of
    ``values``, because nothing is known about a and b given these values.

    For labels, the result is the value of the sample itself. For measurements, it is an estimate
    that is corrected for the number of functions that were combined.

    See Also
    --------
    continuous_correlation : Estimate the correlation of measurements, with its functions.
    renyi_lib.correlation.renyi_from_joint : Compute the correlation from a table of counts.
    renyi_interval : Compute a confidence interval and a bias-corrected estimate.
    renyi_test : Test independence.

    Examples
    --------
    On a parabola, Pearson's correlation is zero, but `a` determines `b`.

    >>> from renyi_lib.correlation import renyi_correlation
    >>> a = [-1, 0, 1, -1, 0, 1]
    >>> b = [1, 0, 1, 1, 0, 1]
    >>> round(renyi_correlation(a, b), 12)
    1.0
    >>> renyi_correlation(["x", "x", "y", "y"], [0, 1, 0, 1])
    0.0
    >>> renyi_correlation([0, 0, 1, 1], [0, 1, 0, 1], given=["u", "v", "v", "u"]).correlations
    array([1., 1.])

    Numbers with fractions are treated as measurements.

    >>> import numpy as np
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> round(renyi_correlation(x, noise), 2), round(renyi_correlation(x, x**2), 2)
    (0.0, 1.0)
    """
    kinds = _kinds(a, b, kind)
    if "continuous" in kinds:
        return _of_measurements(a, b, given, sample_weight, kinds)
    check = None
    if "auto" in kinds:
        check = partial(_refuse_continuous, cells=sample_weight is not None)
    if given is None:
        table = count_labels({"a": a, "b": b}, sample_weight, check=check)[0]
        rho = _from_table(table)
        if check and sample_weight is None:
            _warn_of_chance(table, rho)
        return rho
    variables = {"given": given, "a": a, "b": b}
    table, (values, _, _) = count_labels(variables, sample_weight, check=check)
    mass = table.sum(axis=(1, 2))
    seen = mass > 0
    correlations = np.array([_from_table(slab) for slab in table[seen]])
    if check and sample_weight is None:
        for value, slab, rho in zip(values[seen].tolist(), table[seen], correlations):
            _warn_of_chance(slab, rho, f" where given is {value!r}")
    return ConditionalRenyi(values[seen], correlations, mass[seen] / mass.sum())


def renyi_from_joint(P: ArrayLike) -> float:
    """Compute the Rényi correlation of a joint table of counts or probabilities.

    It is the second singular value of `normalized_table(P)`, the paper's Q (Theorem 1).

    Parameters
    ----------
    P : array-like of shape (c, d)
        Counts or probabilities of each pair of values, on any scale. Rows and columns without
        mass are allowed and do not affect the result. A matrix that looks like samples, with one
        row for each sample, raises an error; use `joint_table` to count samples.

    Returns
    -------
    float
        Correlation between 0 and 1; 0 if one of the variables is constant.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the correlation from samples.
    renyi_lib.maximal_functions : Compute the functions that attain the correlation.

    References
    ----------
    H. O. Hirschfeld, "A connection between correlation and contingency", Mathematical Proceedings
    of the Cambridge Philosophical Society 31 (1935), 520-524.

    H. O. Lancaster, "The structure of bivariate distributions", The Annals of Mathematical
    Statistics 29 (1958), 719-736.

    H. S. Witsenhausen, "On sequences of pairs of dependent random variables", SIAM Journal on
    Applied Mathematics 28 (1975), 100-113.

    Examples
    --------
    >>> from renyi_lib.correlation import renyi_from_joint
    >>> round(renyi_from_joint([[40, 10], [10, 40]]), 12)
    0.6
    """
    refuse_sample_matrix(P, "P")
    return _from_table(P)


def _from_table(P):
    """Compute `renyi_from_joint` without checking whether P is a matrix of samples."""
    core, _, _ = _core(drop_empty(_checked_table(P))[0])
    if core.size == 0:
        return 0.0
    # The eigenvalues of the Gram matrix of the shorter side are the squared singular values.
    # Squaring loses digits of the small values but not of the largest, and it is several times
    # faster than an SVD.
    gram = core.T @ core if core.shape[0] > core.shape[1] else core @ core.T
    return at_most_one(np.sqrt(np.linalg.eigvalsh(gram)[-1]))


def renyi_from_soft(F: ArrayLike, b: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the Rényi correlation of a randomized label and a discrete variable (Theorem 1).

    A classifier's Ŷ takes class i with probability F[k, i] at sample k, independently of `b` given
    the sample. The cell of class i and value j in the joint table of Ŷ and `b` is therefore the
    sum of F[k, i] over the samples with b[k] = j, divided by the number of all samples. With
    `sample_weight`, sums of weights take the place of numbers of samples.

    Parameters
    ----------
    F : array-like of shape (n, c)
        Class probabilities, which are nonnegative and sum to 1 in each row (up to 1e-5, to allow
        for single precision).
    b : array-like of shape (n,)
        Labels of any type.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    float
        Correlation between 0 and 1. If every row of F is one-hot, it equals `renyi_correlation` of
        `b` and the labels that F encodes.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the correlation from labels.

    Examples
    --------
    >>> from renyi_lib.correlation import renyi_from_soft
    >>> F = [[0.8, 0.2], [0.8, 0.2], [0.2, 0.8], [0.2, 0.8]]
    >>> round(renyi_from_soft(F, ["m", "m", "f", "f"]), 12)
    0.6
    """
    F = _class_probabilities(F)
    codes, categories = integer_codes(b, "b")
    cells = sample_weight is not None
    check_discrete(occurring(codes, 0, categories), len(codes), "b", cells=cells)
    arrays = {"F": F, "b": codes}
    weights = np.ones(len(codes))
    if sample_weight is not None:
        weights = arrays["sample_weight"] = sample_weights(sample_weight)
    check_same_length(**arrays)
    # P[i, j] is the weighted sum of F[k, i] over b[k] = j; one pass suffices for all values of b.
    return _from_table((one_hot(codes, len(categories), weights).T @ F).T)


def maximal_functions(P: ArrayLike) -> MaximalFunctions:
    """Compute the functions f* and g* that attain the Rényi correlation of a table (Theorem 1).

    Let p and q be the margins of the table, scaled to sum 1, and let Q = U diag(1, rho, ...) V^T
    be the singular value decomposition of `normalized_table(P)`. The functions are given by the
    second singular vectors::

        f*(i) = U[i, 1] / sqrt(p_i),   g*(j) = V[j, 1] / sqrt(q_j),

    so that E f* = E g* = 0, E f*^2 = E g*^2 = 1 and E[f* g*] = rho.

    Parameters
    ----------
    P : array-like of shape (c, d)
        Counts or probabilities of each pair of values, on any scale.

    Returns
    -------
    MaximalFunctions
        Named tuple of ``rho``; ``f`` of shape (c,) and ``g`` of shape (d,); and
        ``singular_values``, the min(c, d) - 1 singular values of Q in decreasing order, without
        the first, which is always 1. Their first entry, if there is one, is ``rho``.

    See Also
    --------
    renyi_lib.correlation.renyi_from_joint : Compute only the correlation.
    renyi_lib.correlation.normalized_table : Compute the matrix Q.

    Notes
    -----
    - The pair (-f*, -g*) attains the same correlation. The sign is chosen so that f* is positive
      in the last row in which it is not zero.
    - Values of probability zero do not affect the definition. Their f* (or g*) is set to 0, the
      mean, so that expectations are plain sums over the table.
    - If a variable is constant, no function of it has mean 0 and variance 1, so rho is 0 and f*
      and g* are zero. If the variables are independent, every pair of functions with the required
      means and variances is a maximizer, and one such pair is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.correlation import maximal_functions
    >>> P = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> rho, f, g, _ = maximal_functions(P)
    >>> np.round(f, 12), np.round(g, 12)
    (array([-1.,  1.]), array([-1.,  1.]))
    >>> round(float(f @ P @ g), 12) == round(rho, 12) == 0.6
    True
    """
    refuse_sample_matrix(P, "P")
    P = _checked_table(P)
    occurring, rows, columns = drop_empty(P)
    core, u_0, v_0 = _core(occurring)
    f, g = np.zeros(P.shape[0]), np.zeros(P.shape[1])
    singular_values = np.zeros(min(P.shape) - 1)
    if core.size:
        U, values, Vt = np.linalg.svd(core, full_matrices=False)
        singular_values[: len(values)] = np.minimum(values, 1.0)
        u, v = from_complement(U[:, 0], u_0), from_complement(Vt[0], v_0)
        sign = np.sign(u[np.abs(u) > 1e-8][-1])
        f[rows], g[columns] = sign * u / u_0, sign * v / v_0
    rho = float(singular_values[0]) if singular_values.size else 0.0
    return MaximalFunctions(rho, f, g, singular_values)


def renyi_binary(a: Any, b: Any, *, sample_weight: ArrayLike | None = None) -> BinaryRenyi:
    """Compute the Rényi correlation with a binary variable in closed form (Theorem 2).

    With ``p_i = P(a=i)``, ``r_i = P(b=1 | a=i)`` and ``q = P(b=1)``::

        gamma = min over w of E[(w_a - b + 1/2)^2] = sum_i p_i r_i (1 - r_i),
        w_i   = r_i - 1/2,
        rho   = sqrt(1 - gamma / (q (1 - q))) = sqrt(sum_i p_i (r_i - q)^2 / (q (1 - q))).

    Parameters
    ----------
    a : array-like of shape (n,)
        Labels of any type.
    b : array-like of shape (n,)
        Labels with at most two values. The larger value in sorted order is treated as b = 1; a
        single value is treated as b = 1 unless it is 0 or False.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    BinaryRenyi
        Named tuple of ``rho``, ``gamma``, and ``w``, which has one entry for each value of `a`
        that occurs, in sorted order. If `b` is constant, rho and gamma are 0.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the correlation for any number of values (Theorem 1).

    Notes
    -----
    Because of cancellation, the theorem's 1 - gamma / (q (1 - q)) loses all digits of a small rho.
    The sum of squares is equal to it and has only nonnegative terms. The sum for gamma also has
    only nonnegative terms, so gamma is accurate even if rho is close to 1.

    Examples
    --------
    >>> from renyi_lib.correlation import renyi_binary
    >>> rho, gamma, w = renyi_binary(["x", "x", "y", "y"], [0, 0, 0, 1])
    >>> round(rho, 12), gamma, w
    (0.57735026919, 0.125, array([-0.5,  0. ]))
    """
    counts, names, values = joint_table(a, b, sample_weight=sample_weight)
    check_discrete(names, np.size(b), "a", cells=sample_weight is not None)
    if len(values) > 2:
        raise ValueError(
            f"b must have at most two values, but it has {len(values)}, such as "
            f"{values[:5].tolist()}: use renyi_correlation instead"
        )
    if len(values) == 1:
        other = np.zeros_like(counts)
        counts = np.hstack([other, counts] if values[0] != 0 else [counts, other])
    P = _checked_table(counts)
    p, q, total = P.sum(axis=1), P.sum(axis=0), P.sum()
    r = P[:, 1] / p
    gamma = (r * P[:, 0]).sum() / total
    # (r_i - q) * p_i * total, computed as a difference of products of counts, which is exactly 0
    # if r_i = q.
    excess = P[:, 1] * total - p * q[1]
    rho = 0.0
    if q.all():
        rho = float(np.linalg.norm(excess / np.sqrt(p) / np.sqrt(total * q[0]) / np.sqrt(q[1])))
    return BinaryRenyi(at_most_one(rho), float(gamma), r - 0.5)


def normalized_table(P: ArrayLike) -> np.ndarray:
    """Compute the matrix Q of Theorem 1, ``q_ij = P(a=i, b=j) / sqrt(P(a=i) P(b=j))``.

    Parameters
    ----------
    P : array-like of shape (c, d)
        Counts or probabilities of each pair of values, on any scale.

    Returns
    -------
    ndarray of shape (c, d)
        Matrix Q, with zeros in rows and columns without mass.

    See Also
    --------
    renyi_lib.maximal_functions : Compute the functions given by the second singular vectors of Q.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.correlation import normalized_table
    >>> Q = normalized_table([[40, 10], [10, 40]])
    >>> Q
    array([[0.8, 0.2],
           [0.2, 0.8]])
    >>> np.linalg.svd(Q, compute_uv=False).round(12)
    array([1. , 0.6])
    """
    refuse_sample_matrix(P, "P")
    P = _checked_table(P)
    scale = np.sqrt(P.sum(axis=1))[:, None] * np.sqrt(P.sum(axis=0))
    return np.divide(P, scale, out=np.zeros_like(P), where=scale > 0)


def _kinds(a, b, kind):
    """Return the kind of each variable; "auto" means labels that still have to be checked."""
    if is_dask(a, b):
        # Measurements require ranks, which cannot be computed as sums over rows.
        choice("auto", "discrete")("kind", kind)
        return [kind, kind]
    kinds = list(kind) if isinstance(kind, list | tuple) else [kind, kind]
    if len(kinds) != 2:
        raise ValueError(f"kind must be a string or a pair of strings, not {kind!r}")
    for i, (name, values) in enumerate((("a", a), ("b", b))):
        choice("auto", "discrete", "continuous")("kind", kinds[i])
        if kinds[i] == "auto" and looks_continuous(values, name):
            kinds[i] = "continuous"
    return kinds


def _of_measurements(a, b, given, sample_weight, kinds):
    """Estimate the correlation over smooth functions, within the groups of `given` if any."""
    from renyi_lib.continuous import continuous_correlation, correlation_within

    kinds = ["discrete" if kind == "auto" else kind for kind in kinds]
    if given is None:
        return continuous_correlation(a, b, kind=kinds, sample_weight=sample_weight).rho
    return correlation_within(a, b, given, kind=kinds, sample_weight=sample_weight)


def _refuse_continuous(name, values, n_samples, cells):
    """Raise a `ValueError` that suggests a remedy if the variable does not consist of labels."""
    otherwise = (
        '; kind="discrete" treats every value as a label, and kind="continuous" treats numbers as '
        "measurements"
    )
    check_discrete(values, n_samples, name, cells=cells, otherwise=otherwise)


def _warn_of_chance(counts, rho, where=""):
    """Issue a `SmallSampleWarning` if chance alone gives a large value and could explain rho."""
    n = counts.sum()
    if n < _SMALL_EXAMPLE:
        return
    c, d = np.count_nonzero(counts.any(axis=1)) - 1, np.count_nonzero(counts.any(axis=0)) - 1
    # Square root of the mean of chi-square / n, and a bound on the largest singular value, both
    # under independence.
    chance = min(np.sqrt(c * d / (n - 1)), (np.sqrt(c) + np.sqrt(d)) / np.sqrt(n))
    # The standard deviation of this largest singular value is less than about 1 / sqrt(n).
    large = _LARGE_FOR_MANY if max(c, d) + 1 >= _MANY_VALUES else _LARGE_BY_CHANCE
    # For many values, also warn if chance accounts for a large part of rho.
    bound = chance + 2 / np.sqrt(n)
    if max(c, d) + 1 >= _MANY_VALUES:
        bound = max(bound, 2 * chance)
    if chance > large and rho < bound:
        warnings.warn(
            f"{n} samples{where} are few for a table of {c + 1} x {d + 1} cells: chance alone "
            f"gives a correlation of about {min(chance, 1):.2f}, and the sample has {rho:.2f}. "
            'Merge rare values, for a score pass kind="continuous", which corrects for chance, or '
            "quantify the uncertainty with renyi_lib.inference.renyi_test and renyi_interval",
            SmallSampleWarning,
            stacklevel=3,
        )


def _checked_table(P) -> np.ndarray:
    """Validate the table, and scale it by a power of two to avoid overflow."""
    try:
        P = np.asarray(P, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"P must be a table of numbers: {error}") from error
    if P.ndim != 2 or P.size == 0:
        raise ValueError(
            f"P must be a two-dimensional table with rows and columns, but it has shape {P.shape}"
        )
    low, high = P.min(), P.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("P has missing or infinite cells: every cell must be finite")
    if low < 0:
        raise ValueError(
            f"P has negative cells, such as {low:g}: counts and probabilities must be 0 or more"
        )
    if high == 0:
        raise ValueError("P is zero in every cell: at least one cell must be positive")
    return np.ldexp(P, -np.frexp(high)[1])


def _core(P):
    """Return Q without its first singular pair, and that pair, sqrt(p) and sqrt(q).

    Here Q is the normalized table, and p and q are the margins, scaled to sum 1. The singular
    values of Q are 1, with the vectors sqrt(p) and sqrt(q), and the singular values of the
    difference Q - sqrt(p) sqrt(q)^T. If the latter were computed from Q itself, they would have
    rounding errors relative to numbers of size 1, whereas the difference is as small as the values
    themselves. It is computed from differences of products of counts, which are exact for up to
    about 10^8 samples, so independent counts give exactly zero.

    The difference is returned in bases of the complements of sqrt(p) and sqrt(q), so it is also
    free of the rounding errors of the margins, and its singular vectors correspond to functions of
    mean zero by construction, even if rho is tiny or zero.
    """
    p, q, total = P.sum(axis=1), P.sum(axis=0), P.sum()
    u_0, v_0 = np.sqrt(p / total), np.sqrt(q / total)
    excess = P * total - np.outer(p, q)
    remainder = excess / (total * np.sqrt(p))[:, None] / np.sqrt(q)
    return in_complement(in_complement(remainder, u_0).T, v_0).T, u_0, v_0


def _class_probabilities(F):
    """Validate class probabilities, whose rows must sum to 1."""
    refuse_masked(F, "F")
    try:
        F = np.asarray(F, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"F must be a table of probabilities: {error}") from error
    if F.ndim != 2 or F.size == 0:
        raise ValueError(
            f"F must have a row for each sample and a column for each class, but it has shape "
            f"{F.shape}"
        )
    if not F.min() >= 0:  # also true if there is a NaN
        raise ValueError("F has negative or missing values: each entry must be a probability")
    off = np.abs(F.sum(axis=1) - 1)
    if off.max() > 1e-5:
        row = int(off.argmax())
        raise ValueError(f"each row of F must sum to 1, but row {row} sums to {F[row].sum():.6g}")
    return F
