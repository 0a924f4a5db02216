"""Donini et al.: a linear support vector machine that is fair by a change of the features."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from renyi_lib._parameters import choice, number, whole
from renyi_lib._random import as_random_state
from renyi_lib.baselines._base import BinaryFairClassifier, LinearScores
from renyi_lib.metrics import demographic_parity_difference, equal_opportunity_difference

__all__ = ["DoniniClassifier", "fair_features", "mean_difference"]


class DoniniClassifier(LinearScores, BinaryFairClassifier):
    """Linear support vector machine with equal mean scores of the groups given Y = 1.

    Empirical risk minimization under the linear form of the fairness constraint::

        u = E[X | Y = 1, S = a] - E[X | Y = 1, S = b],        <w, u> = 0,

    solved for the weight of the feature i where u is largest in size: the machine is fitted to
    the features x_j - x_i u_j / u_i, j other than i, and its solution is a w with <w, u> = 0.

    Parameters
    ----------
    C : float or sequence of float, default=(0.01, 0.1, 1.0)
        The machine's C, or those to choose from by cross-validation: of all values whose accuracy
        is at least `near_best` times the best, the one with the smallest violation of fairness.
    fairness : {"equal_opportunity", "demographic_parity"}, default="equal_opportunity"
        With "demographic_parity" the means in u are taken over both labels.
    svm : estimator, default=None
        A linear classifier of scikit-learn with a parameter C. None is
        ``LinearSVC(dual=False)``, whose squared hinge loss is solved to full accuracy at once;
        ``SVC(kernel="linear")`` has the hinge loss, in time quadratic in the samples.
    near_best : float, default=0.9
        Between 0 and 1.
    cv : int, default=3
        The number of folds, stratified by label and group together.
    random_state : int, RandomState, Generator or None, default=0
        Of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second is Y = 1.
    groups_ : ndarray of shape (2,)
        The two group labels, in sorted order.
    C_ : float
        The value that was chosen.
    u_ : ndarray of shape (n_features,)
        The constraint.
    svm_ : estimator
        Fitted to the changed features.
    coef_ : ndarray of shape (1, n_features)
        The weights of the features as given.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        If X had names of columns.

    Notes
    -----
    The machine's ridge acts on the weights of the changed features, as in the authors' method;
    the smallest weights of the features as given under <w, u> = 0 would be slightly different.
    The authors take the hinge loss, and 10 folds over a finer grid of C.

    References
    ----------
    M. Donini, L. Oneto, S. Ben-David, J. Shawe-Taylor and M. Pontil, "Empirical risk minimization
    under fairness constraints", NeurIPS (2018), doi:10.48550/arXiv.1802.08626.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines import DoniniClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 3)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> clf = DoniniClassifier().fit(X, y, sensitive_features=s)
    >>> scores = clf.decision_function(X)[y == 1]
    >>> bool(abs(scores[s[y == 1] == 1].mean() - scores[s[y == 1] == 0].mean()) < 1e-12)
    True
    """

    _constraints: ClassVar = {
        "fairness": choice("equal_opportunity", "demographic_parity"),
        "near_best": number(0, 1),
        "cv": whole(2),
    }

    def __init__(
        self,
        C=(0.01, 0.1, 1.0),
        *,
        fairness="equal_opportunity",
        svm=None,
        near_best=0.9,
        cv=3,
        random_state=0,
    ):
        self.C = C
        self.fairness = fairness
        self.svm = svm
        self.near_best = near_best
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: Any) -> "DoniniClassifier":
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            Two classes, of any kind.
        sensitive_features : array-like of shape (n,), Series or DataFrame
            Two groups, labels of any kind.

        Returns
        -------
        self
        """
        X, y, groups = self._read(X, y, sensitive_features, n_groups=2)
        s = groups.codes
        choices = [float(self.C)] if isinstance(self.C, Real) else [float(C) for C in self.C]
        self.C_ = choices[0] if len(choices) == 1 else self._choose(choices, X, y, s)
        u, coef, intercept, self.svm_ = self._fit_fair(X, y, s, self.C_)
        self.u_, self.coef_, self.intercept_ = u, coef[None], intercept
        return self

    def _fit_fair(self, X, y, s, C):
        """u, and the weights of X, the intercept and the machine itself for one C."""
        kept = y == 1 if self.fairness == "equal_opportunity" else slice(None)
        u = mean_difference(X[kept], s[kept], self.groups_.tolist())
        features, back = fair_features(X, u)
        svm = LinearSVC(dual=False) if self.svm is None else clone(self.svm)
        svm.set_params(C=C).fit(features, y)
        return u, back(svm.coef_[0]), np.atleast_1d(svm.intercept_), svm

    def _choose(self, choices, X, y, s):
        """The value of C with the least violation among those of nearly the best accuracy."""
        folds = StratifiedKFold(
            self.cv, shuffle=True, random_state=as_random_state(self.random_state)
        )
        accuracy, violation = np.zeros((2, len(choices), self.cv))
        for k, (train, test) in enumerate(folds.split(X, 2 * y + s)):
            for i, C in enumerate(choices):
                _, coef, intercept, _ = self._fit_fair(X[train], y[train], s[train], C)
                predicted = (X[test] @ coef + intercept > 0).astype(int)
                accuracy[i, k] = (predicted == y[test]).mean()
                violation[i, k] = self._violation(y[test], predicted, s[test])
        accuracy, violation = accuracy.mean(axis=1), violation.mean(axis=1)
        violation[accuracy < self.near_best * accuracy.max()] = np.inf
        return choices[int(violation.argmin())]

    def _violation(self, y, predicted, s):
        if self.fairness == "equal_opportunity":
            return equal_opportunity_difference(y, predicted, sensitive_features=s)
        return demographic_parity_difference(None, predicted, sensitive_features=s)

    def _check_parameters(self):
        super()._check_parameters()
        choices = [self.C] if isinstance(self.C, Real) else list(np.atleast_1d(self.C))
        if not choices:
            raise ValueError("C is empty: give a positive number or a list of positive numbers")
        for C in choices:
            number(0, above=True)("C", C)


def mean_difference(X, s, groups):
    """u, the mean of X over the second group less that over the first.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The samples that count: for equality of opportunity, those with Y = 1.
    s : ndarray of int, shape (n,)
        0 or 1.
    groups : sequence of length 2
        What the groups are called, for the error message.

    Returns
    -------
    ndarray of shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.donini import mean_difference
    >>> mean_difference(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), ["f", "m"])
    array([5.])
    """
    for j in (0, 1):
        if not (s == j).any():
            raise ValueError(
                f"group {groups[j]!r} of sensitive_features has no sample with the favorable "
                "label, so its mean cannot be computed: give more samples, or use fewer folds"
            )
    return X[s == 1].mean(axis=0) - X[s == 0].mean(axis=0)


def fair_features(X, u):
    """The features whose linear functions are those of X with <w, u> = 0, and the way back.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features.
    u : ndarray of shape (p,)

    Returns
    -------
    features : ndarray of shape (n, p - 1)
        x_j - x_i u_j / u_i for j other than i = argmax |u_i|; X itself if u = 0.
    back : callable
        From weights of the features to the weights w of X with the same scores.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.donini import fair_features
    >>> features, back = fair_features(np.array([[1.0, 5.0], [2.0, 6.0]]), np.array([1.0, 2.0]))
    >>> features
    array([[-1.5],
           [-1. ]])
    >>> back(np.array([1.0]))
    array([ 1. , -0.5])
    """
    if not u.any():
        return X, lambda weights: weights
    if len(u) == 1:
        raise ValueError(
            "X has n_features = 1, and its mean differs between the groups, so that no linear "
            "function of it but 0 is fair: give two features or more"
        )
    i = int(np.abs(u).argmax())
    ratio = np.delete(u, i) / u[i]
    features = np.delete(X, i, axis=1) - np.outer(X[:, i], ratio)
    return features, lambda weights: np.insert(weights, i, -weights @ ratio)
