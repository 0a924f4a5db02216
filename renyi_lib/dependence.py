"""Measures to compare the Rényi correlation with: Pearson, mutual information and HSIC.

Every measure here is 0 if one of the variables is constant.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, pearsonr
from sklearn.metrics import normalized_mutual_info_score

from renyi_lib._counting import check_size, occurring, one_hot
from renyi_lib._linalg import at_most_one
from renyi_lib._validation import (
    check_alignment,
    check_discrete,
    check_same_length,
    encode_labels,
    integer_codes,
    numeric_values,
)

__all__ = ["gaussian_waves", "hsic", "normalized_mutual_information", "pearson_correlation"]

# Number of entries in a block of HSIC features, and the largest accepted range / bandwidth.
_FEATURE_BLOCK = 2**18
_MAX_SPAN = 1e4


def pearson_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Compute Pearson's linear correlation, rho_P in Section 2 of the paper.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Numbers.

    Returns
    -------
    float
        Correlation between -1 and 1; 0 (not NaN) if one of the variables is constant.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the Rényi correlation.

    Examples
    --------
    >>> from renyi_lib.dependence import pearson_correlation
    >>> round(pearson_correlation([0, 1, 2], [1, 2, 3]), 12)
    1.0
    """
    check_alignment(a=a, b=b)
    a, b = numeric_values(a, "a"), numeric_values(b, "b")
    check_same_length(a=a, b=b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(pearsonr(a, b).statistic)


def normalized_mutual_information(a: Any, b: Any) -> float:
    """Compute the mutual information divided by the mean of the two entropies.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Labels of any type.

    Returns
    -------
    float
        Value between 0 and 1; 0 if one of the variables is constant.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the Rényi correlation.

    Notes
    -----
    This is scikit-learn's `normalized_mutual_info_score`, except for two constant variables.
    scikit-learn scores them 1, because as clusterings they are equal, whereas this function
    returns 0, because they do not depend on each other.

    References
    ----------
    N. X. Vinh, J. Epps and J. Bailey, "Information theoretic measures for clusterings comparison",
    Journal of Machine Learning Research 11 (2010), 2837-2854.

    Examples
    --------
    >>> from renyi_lib.dependence import normalized_mutual_information
    >>> round(normalized_mutual_information(["x", "y", "x", "y"], [1, 0, 1, 0]), 12)
    1.0
    """
    check_alignment(a=a, b=b)
    (a, a_values), (b, b_values) = encode_labels(a, "a"), encode_labels(b, "b")
    check_same_length(a=a, b=b)
    check_discrete(a_values, len(a), "a")
    check_discrete(b_values, len(b), "b")
    if len(a_values) == 1 or len(b_values) == 1:
        return 0.0
    return float(normalized_mutual_info_score(a, b))


def hsic(
    a: Any,
    b: Any,
    *,
    kernel: str = "gaussian",
    kernel_b: str = "delta",
    bandwidth: float | None = None,
    normalized: bool = False,
) -> float:
    """Compute the Hilbert-Schmidt independence criterion (HSIC) of two variables.

    This is the biased estimate trace(K H L H) / n^2, where K and L are the kernel matrices of the
    samples of `a` and of `b`, and H, the identity matrix minus 1/n in each entry, subtracts means.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Numbers for the kernels "gaussian" and "linear", and labels of any type for "delta".
    kernel : {"gaussian", "linear", "delta"}, default="gaussian"
        Kernel of `a`. "gaussian" is exp(-(x - y)^2 / (2 bandwidth^2)), "linear" is x y, and
        "delta" is 1 if x = y and 0 otherwise.
    kernel_b : {"gaussian", "linear", "delta"}, default="delta"
        Kernel of `b`. The defaults suit a score `a` and a group `b`.
    bandwidth : float, optional
        Bandwidth of the Gaussian kernels. The default is each variable's own standard deviation,
        which makes the value independent of units. (The common rule, the median distance between
        samples, is 0.95 standard deviations for normal samples.)
    normalized : bool, default=False
        Whether to divide by sqrt(HSIC(a, a) HSIC(b, b)), so that the value lies between 0 and 1.

    Returns
    -------
    float
        Nonnegative value; 0 if one of the variables is constant.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the Rényi correlation.
    renyi_lib.penalties.HSICPenalty : Penalize HSIC in a fair classifier.

    Notes
    -----
    No n x n matrix is formed. Each kernel is an inner product of features, phi(x) . phi(y). The
    features are the number itself for "linear", the one-hot label for "delta", and for "gaussian"
    cosines and sines, usually at a few dozen frequencies, which represent the kernel up to a
    constant and to machine precision (see `renyi_lib.dependence.gaussian_waves`). HSIC is then the
    sum of the squared covariances between the features of `a` and the features of `b`. Time and
    memory are linear in n; time also grows with range / bandwidth.

    Two linear kernels detect only linear dependence, because HSIC is then the squared covariance.
    The Gaussian and delta kernels are characteristic, so with these kernels for both variables,
    HSIC is zero only if `a` and `b` are independent in the sample.

    References
    ----------
    A. Gretton, O. Bousquet, A. Smola and B. Schölkopf, "Measuring statistical dependence with
    Hilbert-Schmidt norms", Algorithmic Learning Theory (2005), 63-77, doi:10.1007/11564089_7.

    Examples
    --------
    >>> from renyi_lib.dependence import hsic
    >>> a, b = [-1, 0, 1], [1, 0, 1]
    >>> hsic(a, b, kernel="linear", kernel_b="linear") < 1e-30
    True
    >>> round(hsic(a, b), 3)
    0.057
    """
    check_alignment(a=a, b=b)
    phi = _feature_map(a, kernel, bandwidth, "a")
    psi = _feature_map(b, kernel_b, bandwidth, "b")
    check_same_length(a=phi.values, b=psi.values)
    value = _squared_covariances(phi, psi)
    if not normalized:
        return value
    scale = np.sqrt(_squared_covariances(phi, phi)) * np.sqrt(_squared_covariances(psi, psi))
    return at_most_one(value / scale) if scale > 0 else 0.0


class _FeatureMap(NamedTuple):
    """One number for each sample, and a function that maps such numbers to features."""

    values: np.ndarray
    features: Callable
    width: int  # number of values to store for each sample


def gaussian_waves(span: float) -> tuple[np.ndarray, np.ndarray]:
    """Write the Gaussian kernel as a sum of waves, exp(-t^2/2) = const + sum_k a_k cos(w_k t).

    By Bochner's theorem, exp(-t^2/2) is the mean of cos(w t) over standard normal w. By Poisson's
    summation formula, the trapezoidal rule with step h turns that mean into the sum over all
    integers k of exp(-(t + 2 pi k / h)^2 / 2). The term k = 0 is the kernel. The other terms are
    below rounding error for |t| <= span if 2 pi / h exceeds span by the kernel's reach, and the
    sum over w ends where the normal density is below rounding error, too. The frequency 0 is left
    out, because a constant has zero covariance with every variable.

    Parameters
    ----------
    span : float
        Largest distance, in bandwidths, at which the kernel is needed.

    Returns
    -------
    frequencies, amplitudes : ndarray
        Frequencies w_k, which are multiples of the first, and amplitudes a_k.
    """
    reach = 8.6  # exp(-reach^2 / 2) < 1e-16
    step = 2 * np.pi / (span + reach)
    frequencies = step * np.arange(1, np.ceil(reach / step) + 1)
    return frequencies, 2 * step * norm.pdf(frequencies)


def _feature_map(values, kernel, bandwidth, name):
    """Return features whose inner products, after centering, equal the centered kernel."""
    if kernel == "delta":
        codes, categories = integer_codes(values, name)
        gaussian = f', or choose kernel{"_b" if name == "b" else ""}="gaussian"'
        seen = occurring(codes, 0, categories)
        check_discrete(seen, len(codes), name, otherwise=gaussian)
        return _FeatureMap(codes, partial(one_hot, size=len(categories)), width=1)
    if kernel not in ("gaussian", "linear"):
        argument = "kernel_b" if name == "b" else "kernel"
        raise ValueError(f"{argument} must be 'gaussian', 'linear' or 'delta', not {kernel!r}")
    x = numeric_values(values, name)
    if kernel == "linear":
        return _FeatureMap(x - x.mean(), lambda block: block[:, None], width=1)
    x = x - x.min() - np.ptp(x) / 2
    if bandwidth is None:
        bandwidth = x.std() or 1.0
    elif not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth must be a positive number that is finite, not {bandwidth!r}")
    span = np.ptp(x) / bandwidth
    if span > _MAX_SPAN:
        raise ValueError(
            f"bandwidth is {span:.2g} times smaller than the range of {name}: "
            "use a larger bandwidth, or transform the variable (for example, to ranks)"
        )
    frequencies, weights = gaussian_waves(span)
    amplitudes = np.sqrt(weights)

    def waves(block):
        angles = np.multiply.outer(block, frequencies)
        return np.hstack([np.cos(angles) * amplitudes, np.sin(angles) * amplitudes])

    return _FeatureMap(x / bandwidth, waves, width=2 * len(frequencies))


def _squared_covariances(phi, psi):
    """Compute the sum of squared covariances between the features of two feature maps."""
    n = len(phi.values)
    if np.ptp(phi.values) == 0 or np.ptp(psi.values) == 0:
        return 0.0
    products, phi_sum, psi_sum = 0.0, 0.0, 0.0
    block = max(1, _FEATURE_BLOCK // max(phi.width, psi.width))
    for start in range(0, n, block):
        part = slice(start, start + block)
        x, y = phi.features(phi.values[part]), psi.features(psi.values[part])
        check_size((x.shape[1], y.shape[1]), "the covariances of the features of a and b")
        products = products + x.T @ y
        phi_sum, psi_sum = phi_sum + x.sum(axis=0), psi_sum + y.sum(axis=0)
    covariances = products / n - np.outer(phi_sum / n, psi_sum / n)
    return float(np.square(covariances).sum())
