"""The logistic loss, once: a function of scores and labels, without any state.

Linear models, blocks of rows, boosted trees and the baselines all take their loss from here.
"""

import numpy as np

__all__ = ["logistic", "softmax_loss", "total_softmax_loss"]


def logistic(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(Y = 0) and P(Y = 1) at the scores z of two classes, as rows, and exp(-|z|).

    No probability is formed as 1 - (the other): both keep all their digits.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._losses import logistic
    >>> F, tail = logistic(np.zeros(1))
    >>> F.tolist(), tail.tolist()
    ([[0.5], [0.5]], [1.0])
    """
    tail = np.abs(z)
    np.exp(np.negative(tail, out=tail), out=tail)
    likely = 1 + tail
    np.divide(1, likely, out=likely)
    F, negative = np.empty((2, len(z))), z < 0
    np.multiply(likely, np.where(negative, 1.0, tail), out=F[0])
    np.multiply(likely, np.where(negative, tail, 1.0), out=F[1])
    return F, tail


def softmax_loss(Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss of each sample, -log P(Y = y), and the class probabilities.

    Parameters
    ----------
    Z : ndarray of shape (1, n) or (c, n)
        For two classes the score of the second, else the scores of all classes.
    y : ndarray of int, shape (n,)

    Returns
    -------
    losses : ndarray of shape (n,)
    F : ndarray of shape (2, n) or (c, n)

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._losses import softmax_loss
    >>> losses, F = softmax_loss(np.zeros((1, 2)), np.array([0, 1]))
    >>> losses.round(6), F.tolist()
    (array([0.693147, 0.693147]), [[0.5, 0.5], [0.5, 0.5]])
    """
    if len(Z) == 1:
        z = Z[0]
        F, tail = logistic(z)
        return np.log1p(tail) + np.maximum(np.where(y, -z, z), 0), F
    Z = Z - Z.max(axis=0)
    E = np.exp(Z)
    total = E.sum(axis=0)
    return np.log(total) - Z[y, np.arange(len(y))], E / total


def total_softmax_loss(
    Z: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """The sum of the losses, weighted if weights are given, and the class probabilities.

    Parameters
    ----------
    Z, y
        As in `softmax_loss`.
    weight : ndarray of shape (n,), optional

    Returns
    -------
    loss : float
    F : ndarray of shape (2, n) or (c, n)

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._losses import total_softmax_loss
    >>> round(total_softmax_loss(np.zeros((1, 2)), np.array([0, 1]))[0], 6)
    1.386294
    """
    if len(Z) > 1 or weight is not None:
        losses, F = softmax_loss(Z, y)
        return float(losses.sum() if weight is None else losses @ weight), F
    z = Z[0]
    F, tail = logistic(z)
    # A loss is log(1 + exp(z)) - z y.
    return float(_sum_of_logs(1 + tail) + np.maximum(z, 0).sum() - z @ y), F


def _sum_of_logs(numbers):
    """The sum of the logarithms of numbers between 1 and 2, by one logarithm for 32 of them."""
    whole = len(numbers) // 32 * 32
    products = numbers[:whole].reshape(32, -1).prod(axis=0)
    return np.log(products).sum() + np.log(numbers[whole:]).sum()
