"""Mixin for linear models, with warm starts and predictions for data that are not in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from renyi_lib._dispatch import is_dask, need_memory
from renyi_lib.sources import ParquetRows
from renyi_lib.sources.dask import by_partition

__all__ = ["LinearMixin"]


class LinearMixin:
    """Mixin for linear estimators that define `_prepare`, `_solve` and `_theta`."""

    _prepare: Any
    _solve: Any
    _theta: Any
    warm_start: bool
    history_: dict
    feature_names_in_: np.ndarray

    def _fit(self, X, y, sensitive_features, sample_weight):
        """Fit from 0 or, with `warm_start`, from the last solution if it has the same shape."""
        problem = self._prepare(X, y, sensitive_features, sample_weight)
        theta, lam_before = np.zeros(problem.objective.model.shape), 0.0
        if self.warm_start and hasattr(self, "coef_"):
            last = self._last_theta(problem)
            if last.shape == theta.shape:
                theta, lam_before = last, float(self.history_["lam"][-1])
        return self._solve(problem, theta, lam_before)

    def _last_theta(self, problem):
        """Return the last solution as a start for this problem."""
        return self._theta()

    def _fits_by_lam(self, X, y, sensitive_features, sample_weight) -> Callable:
        """Return a function from lam to a fitted estimator; data are validated only once.

        Each fit starts from the solution for the largest previous lam that does not exceed the new
        one, or from theta = 0 if there is none.
        """
        problem = clone(self)._prepare(X, y, sensitive_features, sample_weight)
        solutions = [(0.0, np.zeros(problem.objective.model.shape))]

        def fit(lam):
            estimator = clone(self).set_params(lam=lam)
            estimator._check_parameters()
            before, theta = max(
                (pair for pair in solutions if pair[0] <= lam), key=lambda pair: pair[0]
            )
            estimator._solve(problem, theta, before)
            solutions.append((lam, estimator._theta()))
            return estimator

        return fit

    def _by_part(self, method, X, columns, dtype):
        """Apply a method to Dask partitions, returning a collection, or to chunks of files.

        For `ParquetRows`, the results for all chunks are concatenated into an array.
        """
        if is_dask(X):
            return by_partition(method, X, columns, dtype)
        if isinstance(X, ParquetRows):
            return np.concatenate([method(part) for part in X.chunks_of(self.feature_names_in_)])
        return need_memory(X, "A prediction")
