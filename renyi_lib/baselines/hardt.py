"""Hardt et al.: thresholds for each group on the scores of any classifier, by fairlearn."""

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
    """A logistic regression whose thresholds are then chosen for each group, to be fair.

    Post-processing: of all mixtures of thresholds, one mixture for each group, that satisfy the
    constraint on the training data, the one with the highest accuracy there. The work is done by
    fairlearn's `ThresholdOptimizer` (``pip install "renyi-lib[baselines]"``); this class gives it
    the interface of the other baselines.

    Parameters
    ----------
    fairness : {"equal_opportunity", "demographic_parity", "equalized_odds"}
    estimator : estimator, default=None
        A classifier of two classes. None is logistic regression without a penalty.
    objective : str, default="accuracy_score"
        What to maximize; see `ThresholdOptimizer`.
    grid_size : int, default=1000
        The number of values of the groups' common rate that are tried.
    random_state : int, RandomState, Generator or None, default=None
        Of the random labels. An integer gives the same labels at each call.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second is Y = 1.
    groups_ : ndarray
        Group labels, in sorted order.
    optimizer_ : ThresholdOptimizer
        Fitted; its labels are 0 and 1, and its groups the positions in `groups_`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        If X had names of columns.

    Notes
    -----
    The label is random, as one threshold for each group cannot satisfy the constraint exactly:
    `predict` draws it, `predict_proba` gives its distribution. Both need to know the groups.

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
            Two classes, of any kind.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            The group of each sample, labels of any kind; several columns become one joint group.
            Each group needs samples of both classes.

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
            groups.given(y == code, label)  # for its check that no group is empty
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
        """The probabilities with which the label is drawn, of shape (n, 2)."""
        X = self._read_new(X)
        codes = self._group_codes(sensitive_features, X)
        # The one thing that fairlearn computes and does not show.
        return self.optimizer_.interpolated_thresholder_._pmf_predict(X, sensitive_features=codes)

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Randomized predictions, drawn from the class probabilities of each sample."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        drawn = as_random_state(self.random_state).uniform(size=len(positive)) < positive
        return self.classes_[drawn.astype(int)]

    def score(self, X, y, sample_weight=None, *, sensitive_features=None) -> float:
        """The expected accuracy of the randomized predictions."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        correct = np.where(np.asarray(y) == self.classes_[1], positive, 1 - positive)
        return float(np.average(correct, weights=sample_weight))
