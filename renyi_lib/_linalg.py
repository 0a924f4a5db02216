"""Orthonormal basis of the orthogonal complement of a vector, by one Householder reflection.

The reflection that maps the nonnegative unit vector x to minus the first axis has -x as its first
column, so its other columns are a basis of the complement of x. This basis can be formed
(`complement`) or, for long vectors, only applied (`in_complement` and `from_complement`).
"""

import numpy as np

__all__ = ["at_most_one", "complement", "from_complement", "in_complement"]


def complement(x):
    """Return an orthonormal basis of the orthogonal complement of x, as columns of a matrix.

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
    """Compute ``complement(x).T @ M`` without forming the basis."""
    mirror = x + np.eye(1, len(x))[0]
    return (M - np.outer(mirror, mirror @ M / mirror[0]))[1:]


def from_complement(y, x):
    """Compute ``complement(x) @ y`` without forming the basis."""
    mirror = x + np.eye(1, len(x))[0]
    y = np.concatenate([[0.0], y])
    return y - mirror * (mirror @ y / mirror[0])


def at_most_one(rho):
    """Clip a correlation that exceeds 1 because of rounding errors."""
    return float(min(rho, 1.0))
