"""Logistic loss as a stateless function of scores and labels.

Linear models, blocks of rows, boosted trees and the baselines all use this implementation.
"""

import numpy as np

__all__ = ["logistic", "softmax_loss", "total_softmax_loss"]


def logistic(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute P(Y = 0) and P(Y = 1), as rows, and exp(-|z|), where z are the log-odds of Y = 1.

    Neither probability is computed as 1 minus the other, so both are accurate to all digits.

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
    """Compute the loss of each sample, -log P(Y = y), and the class probabilities.

    Parameters
    ----------
    Z : ndarray of shape (1, n) or (c, n)
        Score of the second of two classes, or the scores of all classes.
    y : ndarray of int, shape (n,)
        Code of each sample's class; for two classes, 0.0 and 1.0 are accepted, too.

    Returns
    -------
    losses : ndarray of shape (n,)
        Loss of each sample.
    F : ndarray of shape (2, n) or (c, n)
        Class probabilities.

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
    """Compute the sum of the losses, with optional weights, and the class probabilities.

    Parameters
    ----------
    Z, y
        Same as in `softmax_loss`.
    weight : ndarray of shape (n,), optional
        Weight of each sample.

    Returns
    -------
    loss : float
        Sum of the losses.
    F : ndarray of shape (2, n) or (c, n)
        Class probabilities.

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
    # The loss of a sample is log(1 + exp(z)) - z y.
    return float(_sum_of_logs(1 + tail) + np.maximum(z, 0).sum() - z @ y), F


def _sum_of_logs(numbers):
    """Sum the logarithms of numbers between 1 and 2, with one logarithm for each 32 numbers."""
    whole = len(numbers) // 32 * 32
    products = numbers[:whole].reshape(32, -1).prod(axis=0)
    return np.log(products).sum() + np.log(numbers[whole:]).sum()
