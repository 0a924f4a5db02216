"""What the rivals for two classes have in common: reading their input, and linear scores."""

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from renyi_lib._validation import check_same_length, encode_labels
from renyi_lib.penalties import Groups


class BinaryFairClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes, the second of which, in sorted order, is the favourable Y = 1.

    `_fairness` lists the notions of fairness that a subclass knows, and `_at_least` the numbers
    among its parameters with the least value of each.
    """

    _fairness = ()
    _at_least = ()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_parameters(self):
        if self.fairness not in self._fairness:
            raise ValueError(
                f"fairness must be one of {', '.join(map(repr, self._fairness))}, "
                f"not {self.fairness!r}"
            )
        for name, least in self._at_least:
            value = getattr(self, name)
            if not isinstance(value, Real) or not least <= value < np.inf:
                raise ValueError(f"{name} must be a number, {least} or more, not {value!r}")

    def _read(self, X, y, sensitive_features, n_groups=None):
        """X as floats, y as 0 and 1, and the groups, all checked; sets what a fit has to set."""
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        classes, y = np.unique(y, return_inverse=True)
        if len(classes) == 1:
            raise ValueError(
                f"y has one class only, {classes.tolist()[0]!r}: a classifier needs two"
            )
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(classes)}."
            )
        groups = Groups.from_labels(sensitive_features, name="sensitive_features")
        check_same_length(y=y, sensitive_features=groups.codes)
        if n_groups is not None and len(groups.q) != n_groups:
            raise ValueError(
                f"{type(self).__name__} compares {n_groups} groups, but sensitive_features has "
                f"{len(groups.q)}: merge groups"
            )
        self.classes_ = classes
        self.groups_ = groups.categories
        return X, y, groups

    def _read_new(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _group_codes(self, sensitive_features, X):
        """The position of each sample's group among the groups of the fit."""
        codes, categories = encode_labels(sensitive_features, "sensitive_features")
        check_same_length(X=X, sensitive_features=codes)
        position = {group: j for j, group in enumerate(self.groups_.tolist())}
        categories = categories.tolist()
        unseen = [group for group in categories if group not in position]
        if unseen:
            raise ValueError(
                f"sensitive_features has groups that were not seen in the fit: {unseen}"
            )
        return np.array([position[group] for group in categories])[codes]


class LinearScores:
    """Scores from `coef_` and `intercept_`, and the label of the side of the boundary."""

    def decision_function(self, X):
        """The score of each sample, of shape (n,): positive means the second class."""
        X = self._read_new(X)
        return X @ self.coef_[0] + self.intercept_[0]

    def predict(self, X):
        """The class on whose side of the boundary each sample lies."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]
