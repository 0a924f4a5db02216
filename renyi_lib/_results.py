"""Results that more than one module gives back."""

from typing import NamedTuple

import numpy as np

__all__ = ["ConditionalRenyi"]


class ConditionalRenyi(NamedTuple):
    """The values of the third variable, the correlation given each, and their probabilities."""

    values: np.ndarray
    correlations: np.ndarray
    weights: np.ndarray
