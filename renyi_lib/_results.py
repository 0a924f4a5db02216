"""Results that several modules return."""

from typing import NamedTuple

import numpy as np

__all__ = ["ConditionalRenyi"]


class ConditionalRenyi(NamedTuple):
    """Rényi correlation of two variables given each value of a third variable.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Values of the third variable.
    correlations : ndarray of shape (m,)
        Correlation given each value.
    weights : ndarray of shape (m,)
        Probability of each value.
    """

    values: np.ndarray
    correlations: np.ndarray
    weights: np.ndarray
