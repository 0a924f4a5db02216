"""Kish's effective sample size, which treats weighted samples as counts of fewer samples.

A weighted mean of n samples with weights w has the variance of an unweighted mean of
(sum w)^2 / sum w^2 samples. A weighted table is therefore scaled so that its sum is that number,
and methods for counts are applied to it. The design effect n sum w^2 / (sum w)^2 is the factor by
which the sample becomes smaller. It does not account for clusters and strata of a survey.
"""

import numpy as np

__all__ = ["design_effect", "effective_counts"]


def effective_counts(sums, squares, axes):
    """Scale sums of weights to effective numbers of samples.

    Parameters
    ----------
    sums, squares : ndarray
        Sums of the weights and of the squared weights in each cell.
    axes : tuple of int
        Axes of the variable whose shares are estimated; each table along them is scaled
        separately.

    Returns
    -------
    ndarray
        Effective counts.

    Examples
    --------
    A hundred people, half of whom have four times the weight, count as 73.5:

    >>> sums, squares = np.array([[110.0, 140.0]]), np.array([[350.0, 500.0]])
    >>> effective_counts(sums, squares, (1,)).sum().round(1)
    np.float64(73.5)
    """
    total, square = (part.sum(axis=axes, keepdims=True) for part in (sums, squares))
    return sums * np.divide(total, square, out=np.zeros_like(total), where=square > 0)


def design_effect(weights):
    """Compute the factor by which unequal weights reduce the sample size; 1 for equal weights.

    Examples
    --------
    >>> design_effect(np.array([1.0, 1.0, 4.0]))
    1.5
    """
    used = weights[weights > 0]
    return float(len(used) * (used @ used) / used.sum() ** 2)
