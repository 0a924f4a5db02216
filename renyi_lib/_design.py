"""Weighted samples as counts of fewer people: the effective sample size of Kish.

A weighted mean of n people with the weights w has the variance of a plain mean of
(sum w)^2 / sum w^2 people. So a weighted table is scaled until its sum is that number, and all
that is known about counts applies to it. The design effect n sum w^2 / (sum w)^2 says by which
factor the sample has become smaller. Clusters and strata of a survey are not known to it.
"""

import numpy as np

__all__ = ["design_effect", "effective_counts"]


def effective_counts(sums, squares, axes):
    """Sums of weights, scaled to the effective number of people.

    Parameters
    ----------
    sums, squares : ndarray
        The weights of each cell, and their squares, added up.
    axes : tuple of int
        The axes of the variable whose shares are estimated; each table along them is scaled for
        itself.

    Returns
    -------
    ndarray

    Examples
    --------
    A hundred people, half of whom have four times the weight, are worth 74:

    >>> sums, squares = np.array([[100.0, 150.0]]), np.array([[300.0, 550.0]])
    >>> effective_counts(sums, squares, (1,)).sum().round(1)
    np.float64(73.5)
    """
    total, square = (part.sum(axis=axes, keepdims=True) for part in (sums, squares))
    return sums * np.divide(total, square, out=np.zeros_like(total), where=square > 0)


def design_effect(weights):
    """By which factor unequal weights make a sample smaller; 1 for equal weights.

    Examples
    --------
    >>> design_effect(np.array([1.0, 1.0, 4.0]))
    1.5
    """
    used = weights[weights > 0]
    return float(len(used) * (used @ used) / used.sum() ** 2)
