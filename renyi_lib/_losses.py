"""The logistic loss, once: a function of scores and labels, without any state.

Linear models, blocks of rows, boosted trees and the baselines all take their loss from here.
"""

import numpy as np

__all__ = ["logistic", "softmax_loss"]


def logistic(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(Y = 0), P(Y = 1) and exp(-|z|) at the scores z of two classes.

    No probability is formed as 1 - (the other): both keep all their digits.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._losses import logistic
    >>> [float(part[0]) for part in logistic(np.zeros(1))]
    [0.5, 0.5, 1.0]
    """
    tail = np.exp(-np.abs(z))
    likely = 1 / (1 + tail)
    unlikely = tail * likely
    negative = z < 0
    return np.where(negative, likely, unlikely), np.where(negative, unlikely, likely), tail


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
        F = np.empty((2, len(z)))
        F[0], F[1], tail = logistic(z)
        return np.log1p(tail) + np.maximum(np.where(y, -z, z), 0), F
    Z = Z - Z.max(axis=0)
    E = np.exp(Z)
    total = E.sum(axis=0)
    return np.log(total) - Z[y, np.arange(len(y))], E / total
