"""An orthonormal basis of what is orthogonal to a vector, by one Householder reflection.

The reflection that takes the non-negative unit vector x to the first axis, without that axis, is a
basis of the complement of x. It can be formed (`complement`) or, for long vectors, only applied.
"""

import numpy as np

__all__ = ["at_most_one", "complement", "from_complement", "in_complement"]


def complement(x):
    """An orthonormal basis of the complement of x, as the columns of a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib._linalg import complement
    >>> complement(np.array([0.6, 0.8])).round(6)
    array([[-0.8],
           [ 0.6]])
    """
    mirror = x + np.eye(1, len(x))[0]
    return (np.eye(len(x)) - np.outer(mirror, mirror) / mirror[0])[:, 1:]


def in_complement(M, x):
    """The columns of M in the coordinates of the basis: ``complement(x).T @ M``, without it."""
    mirror = x + np.eye(1, len(x))[0]
    return (M - np.outer(mirror, mirror @ M / mirror[0]))[1:]


def from_complement(y, x):
    """The vector whose coordinates in the basis are y: ``complement(x) @ y``, without it."""
    mirror = x + np.eye(1, len(x))[0]
    y = np.concatenate([[0.0], y])
    return y - mirror * (mirror @ y / mirror[0])


def at_most_one(rho):
    """Cut off the rounding error that lifts a perfect correlation above 1."""
    return float(min(rho, 1.0))
