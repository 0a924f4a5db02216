"""Base classes of the baselines for two classes, with validation and linear scores."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from renyi_lib._dispatch import need_memory
from renyi_lib._parameters import Checked
from renyi_lib._rows import read_rows
from renyi_lib._validation import check_same_length, known_codes


class BinaryFairClassifier(Checked, ClassifierMixin, BaseEstimator):
    """Base class of binary classifiers; the second class in sorted order is the favorable Y = 1.

    Subclasses predict with ``predict(X, *, sensitive_features=None)`` and, if they estimate
    probabilities, with ``predict_proba(X, *, sensitive_features=None)``. If `draws_label` is True,
    labels are sampled from these probabilities; otherwise the more probable class is predicted.
    """

    draws_label: ClassVar[bool] = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict the more probable class of each sample."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return self.classes_[(positive > 0.5).astype(int)]

    def score(self, X, y, sample_weight=None, *, sensitive_features=None) -> float:
        """Compute the accuracy of the predicted labels."""
        predicted = self.predict(X, sensitive_features=sensitive_features)
        return accuracy_score(y, predicted, sample_weight=sample_weight)

    def _read(self, X, y, sensitive_features, n_groups=None) -> tuple[np.ndarray, np.ndarray, Any]:
        """Validate the data; return X as floats, y as 0 and 1, and the groups; set attributes."""
        self._check_parameters()
        need_memory(X, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        rows = read_rows(X, y, sensitive_features, None).with_classes()
        classes = np.asarray(rows.classes)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(classes)}."
            )
        groups = rows.groups()
        if groups is None:
            raise ValueError(
                f"sensitive_features is None, but {type(self).__name__} needs the group of each "
                "sample: pass sensitive_features"
            )
        if n_groups is not None and len(groups.q) != n_groups:
            raise ValueError(
                f"{type(self).__name__} compares {n_groups} groups, but sensitive_features has "
                f"{len(groups.q)}: pass exactly {n_groups}, for example by merging groups"
            )
        self.classes_ = classes
        self.groups_ = groups.categories
        return rows.X, rows.y, groups

    def _read_new(self, X):
        check_is_fitted(self)
        need_memory(X, type(self).__name__)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _group_codes(self, sensitive_features, X):
        """Return the code of each sample's group, among the groups seen in `fit`."""
        if sensitive_features is None:
            raise ValueError(
                f"sensitive_features is None, but {type(self).__name__} uses a different rule for "
                "each group: pass the groups when predicting as well"
            )
        codes = known_codes(sensitive_features, self.groups_, "sensitive_features")
        check_same_length(X=X, sensitive_features=codes)
        return codes


class LinearScores:
    """Mixin for scores from `coef_` and `intercept_`, and labels from their signs."""

    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray
    _read_new: Callable[[Any], np.ndarray]

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the score of each sample, of shape (n,); positive means the second class."""
        X = self._read_new(X)
        return X @ self.coef_[0] + self.intercept_[0]

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict classes from the signs of the scores; groups are ignored."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]


class LogisticScores(LinearScores):
    """Mixin for linear scores with the probabilities of a logistic regression."""

    def predict_proba(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict class probabilities of shape (n, 2); groups are ignored."""
        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])
