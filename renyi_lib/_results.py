"""Results that several modules return."""

from typing import NamedTuple

import numpy as np

__all__ = ["ConditionalRenyi"]


class ConditionalRenyi(NamedTuple):
    """Values of the third variable, with the correlation given each value and its probability."""

    values: np.ndarray
    correlations: np.ndarray
    weights: np.ndarray
