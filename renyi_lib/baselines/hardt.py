"""Hardt et al.: thresholds for each group on the scores of any classifier, using fairlearn."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from renyi_lib._optional import missing
from renyi_lib._parameters import choice, whole
from renyi_lib._random import as_random_state
from renyi_lib.baselines._base import BinaryFairClassifier
from renyi_lib.classification import PenalizedClassifier

__all__ = ["HardtClassifier"]

_CONSTRAINTS = {
    "demographic_parity": "demographic_parity",
    "equalized_odds": "equalized_odds",
    "equal_opportunity": "true_positive_rate_parity",
}


class HardtClassifier(BinaryFairClassifier):
    """Logistic regression with thresholds that are chosen for each group after the fit.

    This is a post-processing method. Among all rules that satisfy the constraint on the training
    data and use one mixture of thresholds for each group, it chooses the one with the highest
    accuracy (or other `objective`) there. The work is done by fairlearn's `ThresholdOptimizer`
    (``pip install "renyi-lib[baselines]"``); this class gives it the interface of the other
    baselines.

    Parameters
    ----------
    fairness : {"equal_opportunity", "demographic_parity", "equalized_odds"}, \
default="equal_opportunity"
        Notion of fairness.
    estimator : estimator, default=None
        Binary classifier whose scores get the thresholds. None means logistic regression without
        any penalty.
    objective : str, default="accuracy_score"
        Objective to maximize; see `ThresholdOptimizer`.
    grid_size : int, default=1000
        Number of values of the groups' common rate to try.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the sampled labels. An integer gives the same labels in each call.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels; the second one is Y = 1.
    groups_ : ndarray
        Group labels, in sorted order.
    optimizer_ : ThresholdOptimizer
        Fitted optimizer, whose labels are 0 and 1, and whose groups are positions in `groups_`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    renyi_lib.BiasScoreClassifier : Correct predictions without using the group.

    Notes
    -----
    Predictions are randomized, because a single threshold for each group cannot, in general,
    satisfy the constraint exactly. `predict` samples labels, and `predict_proba` returns their
    distribution. Both require the groups.

    References
    ----------
    M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning", NeurIPS
    (2016), doi:10.48550/arXiv.1610.02413.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines import HardtClassifier
    >>> from renyi_lib.metrics import demographic_parity_ratio
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=500)
    >>> X = rng.normal(size=(500, 2)) + (s == "m")[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> clf = HardtClassifier(fairness="demographic_parity").fit(X, y, sensitive_features=s)
    >>> F = clf.predict_proba(X, sensitive_features=s)
    >>> round(demographic_parity_ratio(None, F[:, 1], sensitive_features=s), 2)
    1.0
    """

    draws_label = True
    _constraints: ClassVar = {"fairness": choice(*_CONSTRAINTS), "grid_size": whole(2)}

    def __init__(
        self,
        *,
        fairness="equal_opportunity",
        estimator=None,
        objective="accuracy_score",
        grid_size=1000,
        random_state=None,
    ):
        self.fairness = fairness
        self.estimator = estimator
        self.objective = objective
        self.grid_size = grid_size
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: Any) -> "HardtClassifier":
        """Fit the classifier, then the thresholds on its scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            Labels of two classes, of any type.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample, given by labels of any type; several columns define joint
            groups. Each group needs samples of both classes.

        Returns
        -------
        self
        """
        try:
            from fairlearn.postprocessing import ThresholdOptimizer
        except ImportError as error:
            raise missing("fairlearn", type(self).__name__, "baselines") from error
        X, y, groups = self._read(X, y, sensitive_features)
        for code, label in enumerate(self.classes_.tolist()):
            groups.given(y == code, label)  # raises an error for a group without this class
        estimator = (
            PenalizedClassifier(lam=0.0) if self.estimator is None else clone(self.estimator)
        )
        self.optimizer_ = ThresholdOptimizer(
            estimator=estimator,
            constraints=_CONSTRAINTS[self.fairness],
            objective=self.objective,
            grid_size=self.grid_size,
        )
        self.optimizer_.fit(X, y, sensitive_features=groups.codes)
        return self

    def predict_proba(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict the probabilities from which labels are sampled, of shape (n, 2)."""
        X = self._read_new(X)
        codes = self._group_codes(sensitive_features, X)
        # fairlearn has no public method for these probabilities.
        return self.optimizer_.interpolated_thresholder_._pmf_predict(X, sensitive_features=codes)

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Sample labels from the class probabilities of each sample."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        drawn = as_random_state(self.random_state).uniform(size=len(positive)) < positive
        return self.classes_[drawn.astype(int)]

    def score(self, X, y, sample_weight=None, *, sensitive_features=None) -> float:
        """Compute the expected accuracy of the randomized predictions."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        correct = np.where(np.asarray(y) == self.classes_[1], positive, 1 - positive)
        return float(np.average(correct, weights=sample_weight))
