"""Donini et al.: linear support vector machine on features transformed to make it fair."""

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
    """Linear support vector machine whose mean scores given Y = 1 are equal for two groups.

    It minimizes the empirical risk under the linear form of the fairness constraint::

        u = E[X | Y = 1, S = a] - E[X | Y = 1, S = b],        <w, u> = 0.

    Here w contains the coefficients of the features, and a and b are the second and the first
    group in sorted order. The constraint is solved for the coefficient of the feature i for
    which ``|u_i|`` is largest. The support vector machine is fitted to the features
    x_j - x_i u_j / u_i for all other j, and its solution corresponds to a w with <w, u> = 0.

    Parameters
    ----------
    C : float or sequence of float, default=(0.01, 0.1, 1.0)
        Parameter C of the support vector machine, or values to choose from by cross-validation.
        Among all values whose accuracy is at least `near_best` times the best, the one with the
        smallest violation of fairness is chosen.
    fairness : {"equal_opportunity", "demographic_parity"}, default="equal_opportunity"
        Notion of fairness. With "demographic_parity", the means in u are taken over both labels.
    svm : estimator, default=None
        Linear scikit-learn classifier with a parameter C. None means ``LinearSVC(dual=False)``,
        whose squared hinge loss can be solved fast and to full accuracy. ``SVC(kernel="linear")``
        uses the hinge loss and takes time quadratic in the number of samples.
    near_best : float, default=0.9
        Fraction of the best accuracy, between 0 and 1, that a value of C must reach.
    cv : int, default=3
        Number of folds, stratified by label and group together.
    random_state : int, RandomState, Generator or None, default=0
        Seed or generator of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels; the second one is Y = 1.
    groups_ : ndarray of shape (2,)
        Labels of the two groups, in sorted order.
    C_ : float
        Chosen value of C.
    u_ : ndarray of shape (n_features,)
        Vector u of the constraint.
    svm_ : estimator
        Support vector machine fitted to the transformed features.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the original features.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    ZafarClassifier : Bound the covariance of scores and group.
    HardtClassifier : Choose thresholds for each group after the fit.

    Notes
    -----
    As in the authors' method, the ridge penalty acts on the weights of the transformed features. A
    ridge penalty on the weights of the original features would give a slightly different solution.
    The authors use the hinge loss, and choose C from a finer grid by 10-fold cross-validation.

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
            Labels of two classes, of any type.
        sensitive_features : array-like of shape (n,), Series or DataFrame
            Group of each sample, one of two labels of any type.

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
        """Fit with one C; return u, the coefficients of X, the intercept and the fitted SVM."""
        kept = y == 1 if self.fairness == "equal_opportunity" else slice(None)
        u = mean_difference(X[kept], s[kept], self.groups_.tolist())
        features, back = fair_features(X, u)
        svm = LinearSVC(dual=False) if self.svm is None else clone(self.svm)
        svm.set_params(C=C).fit(features, y)
        return u, back(svm.coef_[0]), np.atleast_1d(svm.intercept_), svm

    def _choose(self, choices, X, y, s):
        """Choose the C with the smallest violation among those of nearly the best accuracy."""
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
            raise ValueError("C is empty: pass a positive number or a list of positive numbers")
        for C in choices:
            number(0, above=True)("C", C)


def mean_difference(X, s, groups):
    """Compute u, the mean of X over the second group minus that over the first.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Relevant samples, which for equality of opportunity are those with Y = 1.
    s : ndarray of int, shape (n,)
        Group of each sample, 0 or 1.
    groups : sequence of length 2
        Labels of the groups, for the error message.

    Returns
    -------
    ndarray of shape (p,)
        Difference of the means.

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
                f"group {groups[j]!r} of sensitive_features has no sample to compare (for equal "
                "opportunity, with the favorable label): pass more samples, or lower cv"
            )
    return X[s == 1].mean(axis=0) - X[s == 0].mean(axis=0)


def fair_features(X, u):
    """Return features whose linear functions are the functions w . x of X with <w, u> = 0.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Original features.
    u : ndarray of shape (p,)
        Vector of the constraint.

    Returns
    -------
    features : ndarray of shape (n, p - 1)
        Features x_j - x_i u_j / u_i for j other than i = argmax |u_i|, or X itself if u = 0.
    back : callable
        Function that maps weights of the features to the weights w of X with the same scores.

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
            "X has n_features = 1, and its mean differs between the groups, so its only fair "
            "linear function is constant: pass at least two features"
        )
    i = int(np.abs(u).argmax())
    ratio = np.delete(u, i) / u[i]
    features = np.delete(X, i, axis=1) - np.outer(X[:, i], ratio)
    return features, lambda weights: np.insert(weights, i, -weights @ ratio)
