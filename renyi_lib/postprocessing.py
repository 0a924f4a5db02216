"""Fair decisions from the predictions of any classifier, by the bias-score rule.

Let eta(x) = P(Y=1 | x). Among all rules whose positive rates differ between the groups by at most
a tolerance, the most accurate one accepts x if

    eta(x) - sum_a mu_a P(S=a | x) / P(S=a) > 1/2,

with one multiplier mu_a for each group; the multipliers sum to zero. For two groups this is
``eta(x) - k b(x) > 1/2`` with the *bias score* ``b(x) = P(S=1|x) / P(S=1) - P(S=0|x) / P(S=0)``.
For equal opportunity and equalized odds, the probabilities of the groups are replaced by the
probabilities of the pairs of class and group. The classifier therefore needs two estimates, eta
and the probabilities of the groups, and the multipliers of every tolerance follow from them
without another fit.

The minimizer of log-loss + lam * rho_R^2, thresholded at one half, has the same form up to a
shift, with a multiplier that tends to a finite limit as lam grows; the book's chapter "The optimal
rule" proves it.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_random_state,
    get_tags,
    indexable,
)
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from renyi_lib._dispatch import need_memory
from renyi_lib._parameters import choice, flag, number
from renyi_lib._rows import read_rows
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    class_codes,
    known_codes,
    sample_weights,
)
from renyi_lib.baselines._base import BinaryFairClassifier

__all__ = ["BiasScoreClassifier", "ToleranceNotReachedWarning"]

# The classes within which the groups are compared; None stands for all rows.
_CONDITIONS = {
    "demographic_parity": (None,),
    "equal_opportunity": (1,),
    "equalized_odds": (0, 1),
}
# Tolerances, as fractions of the difference without correction, for which a path of several
# multipliers is computed. The multipliers in between are interpolated.
_TOLERANCES = np.linspace(1, 0, 25)[1:] ** 1.5
_BETWEEN = np.arange(1, 9)[:, None] / 8
# At a solution some rows lie exactly on the boundary. Slightly smaller multipliers keep them on
# the side where they were without a correction, regardless of rounding errors.
_SHRINK = 1 - 1e-5
# Number of cuts that are kept from one tolerance to the next.
_CUTS = 40
# Largest change of eta that a multiplier may cause for a sample known to belong to its cell.
_LARGEST = 20.0


class ToleranceNotReachedWarning(UserWarning):
    """Warning that no rule that was tried meets the tolerance on the training rows."""


@dataclass(frozen=True, eq=False)
class _Path:
    """Decision rules, ordered from the most accurate one to parity.

    Attributes
    ----------
    multipliers : ndarray of shape (m, n_cells)
        Multipliers of each rule.
    difference : ndarray of shape (m,)
        Largest difference of rates of each rule on the training rows, from out-of-fold estimates.
    """

    multipliers: np.ndarray
    difference: np.ndarray

    def position(self, tolerance: float) -> int:
        """Return the index of the first rule within the tolerance, or else of the fairest rule."""
        within = self.difference <= tolerance
        return int(within.argmax() if within.any() else self.difference.argmin())


class BiasScoreClassifier(MetaEstimatorMixin, BinaryFairClassifier):
    """Classifier that makes the most accurate decisions within a fairness tolerance.

    The predictions of any classifier are corrected by the probability of each group given X and
    thresholded at one half. The groups are needed in `fit`, but not for predictions unless
    `use_sensitive_features` is True. One fit gives the decisions for every tolerance; see
    `with_tolerance` and `frontier`.

    Parameters
    ----------
    estimator : classifier, default=None
        Binary classifier with `predict_proba`; None means `LogisticRegression`. It is cloned and
        fitted unless `prefit` is True. If its `fit` accepts ``sensitive_features``, they are
        passed on, so that a fair classifier can be made fairer.
    fairness : {"demographic_parity", "equal_opportunity", "equalized_odds"}, \
default="demographic_parity"
        Rates to compare between the groups, which are the positive rate, the true positive rate,
        or the true and the false positive rate.
    tolerance : float, default=0.05
        Largest difference of these rates that is allowed between two groups.
    sensitive_estimator : classifier, default=None
        Classifier that estimates the probability of each group given X, or given X and the class.
        None means a clone of `estimator`, or of what it wraps if it is a `FrozenEstimator`, with
        ``lam=0`` if it has this parameter, because a fair classifier would avoid what reveals the
        group. If its `fit` accepts ``sensitive_features``, they are passed on as well.
    use_sensitive_features : bool, default=False
        Whether decisions may depend on the sample's group. The rule then amounts to one threshold
        for each group, `sensitive_estimator` is not used, and the prediction methods require
        ``sensitive_features``. The estimator is still fitted to X only, so include the groups in
        X if the estimator should use them.
    prefit : bool, default=False
        Whether `estimator` is already fitted. It should have been fitted to other rows than those
        passed to `fit`, because it is overconfident about its own training rows. Because `clone`
        resets a fitted estimator, wrap it in scikit-learn's `FrozenEstimator` if this classifier
        is cloned.
    cv : int, splitter, iterable or None, default=None
        Cross-validation scheme for the out-of-fold estimates that determine the multipliers. None
        means five folds. With None or an int, the folds are stratified by class and group; all
        other values are as in scikit-learn. The estimators used for predictions are fitted to all
        rows, except for a prefit one.
    random_state : int, RandomState or None, default=None
        Seed or generator that shuffles the rows before they are split into folds, if `cv` is None
        or an int.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels; the second one is the favorable class.
    groups_ : ndarray or None
        Group labels; None if fitted without groups.
    estimator_ : classifier
        Classifier fitted to all rows, or `estimator` itself if `prefit` is True.
    sensitive_estimators_ : dict
        Classifiers that estimate the group. Each key is the class to whose rows the classifier
        was fitted, or None for all rows. Empty if `use_sensitive_features` is True or if fitted
        without groups.
    multipliers_ : DataFrame of shape (n_conditions, n_groups), or None
        Multiplier of each group, with one row for each class within which groups are compared
        ("all" for demographic parity); each row sums to zero. None if fitted without groups.
    k_ : float
        Sum of the positive multipliers. For two groups and one rate, it is the absolute value of
        the factor k of the bias score (see Notes). 0 if fitted without groups.
    difference_ : float or None
        Largest difference of rates between two groups on the training rows, from out-of-fold
        estimates; None if fitted without groups.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    renyi_lib.RenyiClassifier : Train with a penalty instead of correcting predictions afterwards.
    renyi_lib.fit_to_target : Find the largest tolerance that meets a target on validation rows,
        optionally with a given confidence.
    renyi_lib.baselines.HardtClassifier : Make randomized decisions that use the group.

    Notes
    -----
    Let eta be the probability of the favorable class given X, and W the probability of each group
    given X, divided by its share (for true and false positive rates, of each pair of class and
    group). The rule is ``eta - W mu > 1/2``. For two groups and one rate, it has a single
    multiplier k, because W mu is k times the bias score, the difference of the two columns of W.
    The smallest k whose decisions are within the tolerance is found exactly. With several
    multipliers, the rule is the solution of a linear program over all decision rules, which is
    solved in its dual by minimizing ``mean(max(eta - 1/2 - W mu, 0)) + tolerance * sum(|mu|) / 2``
    over multipliers that sum to zero (for each class). The tightest cutting planes for one
    tolerance are reused for the next.

    The rates are computed from the observed groups, not from their estimated probabilities. A
    tolerance can be missed on new rows by chance; `fit_to_target` with ``confidence`` accounts
    for that.

    References
    ----------
    W. Chen, Y. Klochkov and Y. Liu, "Post-hoc bias scoring is optimal for fair classification",
    ICLR (2024), arXiv:2310.05725.

    X. Zeng, K. Jiang, G. Cheng and E. Dobriban, "Bayes-optimal fair classification with linear
    disparity constraints via pre-, in-, and post-processing", arXiv:2402.02817 (2024).

    R. Xian and H. Zhao, "A unified post-processing framework for group fairness in
    classification", arXiv:2405.04025 (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import BiasScoreClassifier, demographic_parity_difference
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=4000)
    >>> X = rng.normal(size=(4000, 3)) + (s == "m")[:, None] * [1, 0.5, 0]
    >>> y = (X.sum(axis=1) + rng.normal(size=4000) > 1).astype(int)
    >>> fair = BiasScoreClassifier(tolerance=0.05, random_state=0).fit(X, y, sensitive_features=s)
    >>> round(demographic_parity_difference(y, fair.predict(X), sensitive_features=s), 2)
    0.05

    Another tolerance does not require another fit:

    >>> fairer = fair.with_tolerance(0.01)
    >>> round(demographic_parity_difference(y, fairer.predict(X), sensitive_features=s), 2)
    0.01
    >>> frontier = fair.frontier(X, y, s)
    >>> frontier.columns.tolist()
    ['tolerance', 'k', 'accuracy', 'difference', 'ratio']
    """

    _constraints: ClassVar = {
        "fairness": choice(*_CONDITIONS),
        "tolerance": number(0, 1),
        "use_sensitive_features": flag,
        "prefit": flag,
    }

    def __init__(
        self,
        estimator=None,
        *,
        fairness="demographic_parity",
        tolerance=0.05,
        sensitive_estimator=None,
        use_sensitive_features=False,
        prefit=False,
        cv=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.fairness = fairness
        self.tolerance = tolerance
        self.sensitive_estimator = sensitive_estimator
        self.use_sensitive_features = use_sensitive_features
        self.prefit = prefit
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "BiasScoreClassifier":
        """Fit the estimators, and determine the multipliers for the tolerance.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            Features in any form that `estimator` accepts.
        y : array-like of shape (n,)
            Labels of two classes, of any type.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each row; several columns define joint groups. If omitted, predictions are
            not corrected, and a warning is issued.
        sample_weight : array-like of shape (n,), optional
            Nonnegative weights, used in the fits of both estimators and in the rates.

        Returns
        -------
        self
        """
        self._fit(X, y, sensitive_features, sample_weight)
        if self.groups_ is not None:
            self._warn_if_missed()
        return self

    def predict_proba(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict corrected probabilities of both classes, to be thresholded at one half.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, n_features)
            Features.
        sensitive_features : array-like of shape (n,) or (n, k), optional
            Group of each row; required if `use_sensitive_features` is True, otherwise ignored.

        Returns
        -------
        ndarray of shape (n, 2)
            Class probabilities; the second column is the estimate of P(Y=1 | x) minus the
            correction, clipped to [0, 1].
        """
        check_is_fitted(self)
        need_memory(X, type(self).__name__)
        eta = _positive(self.estimator_, X)
        if self.groups_ is not None:
            W = self._weights_of_cells(X, eta, sensitive_features)
            eta = np.clip(eta - W @ self.multipliers_.to_numpy().ravel(), 0, 1)
        return np.column_stack([1 - eta, eta])

    def with_tolerance(self, tolerance: float) -> "BiasScoreClassifier":
        """Return a copy of this fitted classifier with another tolerance, without another fit.

        Parameters
        ----------
        tolerance : float
            Largest difference of rates that is allowed between two groups.

        Returns
        -------
        BiasScoreClassifier
            Classifier that shares its fitted estimators with this one.
        """
        check_is_fitted(self)
        self._constraints["tolerance"]("tolerance", tolerance)
        other = self._at(tolerance)
        if other.groups_ is not None:
            other._warn_if_missed()
        return other

    def frontier(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
        *,
        n_points: int = 51,
    ) -> pd.DataFrame:
        """Compute the accuracy and fairness of each rule, from the most accurate to the fairest.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            Rows on which to evaluate the rules, such as a test set.
        n_points : int, default=51
            Number of tolerances to try, equally spaced between the difference without correction
            and the smallest difference on the training rows.

        Returns
        -------
        DataFrame
            One row for each distinct rule, with ``"tolerance"`` (the difference on the training
            rows), ``"k"`` (see the attribute `k_`) and, on the given rows, ``"accuracy"``,
            ``"difference"`` (the largest difference of rates between two groups) and ``"ratio"``
            (their smallest ratio).
        """
        check_is_fitted(self)
        if self.groups_ is None:
            raise ValueError(
                "frontier requires groups, but this classifier was fitted without "
                "sensitive_features: pass sensitive_features to fit"
            )
        eta = _positive(self.estimator_, X)
        W = self._weights_of_cells(X, eta, sensitive_features)
        truth = class_codes(column_or_1d(y), self.classes_)
        codes = known_codes(sensitive_features, self.groups_, "sensitive_features")
        options: Any = {"keep_all": True, "lengths": {"X": eta, "y": truth}, "compared": False}
        weight = read_rows(eta, truth, sensitive_features, sample_weight, **options).weight
        conditions = _CONDITIONS[self.fairness]
        differences = self._path.difference
        steps = np.linspace(differences[0], differences.min(), n_points)
        rows = []
        for position in dict.fromkeys(self._path.position(step) for step in steps):
            multipliers = self._path.multipliers[position]
            decided = eta - W @ multipliers > 0.5
            rates = _rates(decided, truth, codes, weight, conditions, self.groups_)
            top = rates.max(axis=1)
            ratio = np.divide(rates.min(axis=1), top, out=np.ones(len(top)), where=top > 0)
            rows.append(
                {
                    "tolerance": differences[position],
                    "k": _strength(multipliers),
                    "accuracy": np.average(decided == truth, weights=weight),
                    "difference": np.ptp(rates, axis=1).max(),
                    "ratio": ratio.min(),
                }
            )
        return pd.DataFrame(rows)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = LogisticRegression() if self.estimator is None else self.estimator
        tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    def _fits_by_lam(self, X, y, sensitive_features, sample_weight) -> Callable:
        """Return a function from lam to a fitted classifier, for `renyi_lib.tuning`.

        The tolerance is the difference without correction, divided by 1 + lam.
        """
        fitted = copy.copy(self)._fit(X, y, sensitive_features, sample_weight)
        start = 0.0 if fitted.groups_ is None else fitted._path.difference[0]
        return lambda lam: fitted._at(start / (1 + lam))

    def _fit(self, X, y, sensitive_features, sample_weight):
        self._check_parameters()
        need_memory(X, type(self).__name__)
        X, y = indexable(X, column_or_1d(y, warn=True))
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if not len(y):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        kept = np.arange(len(y))
        if sample_weight is not None:
            sample_weight = sample_weights(sample_weight)
            kept = np.flatnonzero(sample_weight)
        rows = read_rows(None, y, sensitive_features, sample_weight).with_classes()
        if len(rows.classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(rows.classes)}."
            )
        estimator = LogisticRegression() if self.estimator is None else self.estimator
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"estimator must have predict_proba, but {type(estimator).__name__} does not: "
                "wrap it in CalibratedClassifierCV"
            )
        if self.prefit:
            check_is_fitted(
                estimator,
                msg="prefit=True requires a fitted estimator, but this %(name)s is not fitted. If "
                "it was cloned, wrap it in sklearn.frozen.FrozenEstimator first.",
            )
        groups = None if rows.categories is None else rows.categories[rows.codes]
        given = _Given(_safe_indexing(X, kept), rows.y, rows.codes, rows.weight, groups)
        self.estimator_ = estimator if self.prefit else given.fit(estimator, rows.classes[rows.y])
        self.classes_ = rows.classes
        if not np.array_equal(self.estimator_.classes_, self.classes_):
            raise ValueError(
                f"estimator was fitted to the classes {self.estimator_.classes_.tolist()}, but y "
                f"has {self.classes_.tolist()}: pass y with the same classes"
            )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.groups_, self.sensitive_estimators_ = rows.categories, {}
        self.multipliers_, self.k_, self.difference_ = None, 0.0, None
        if self.groups_ is None:
            warnings.warn(
                "BiasScoreClassifier was fitted without sensitive_features, so its predictions "
                "are not corrected: pass sensitive_features to fit",
                NoSensitiveFeaturesWarning,
                stacklevel=3,
            )
            return self
        sensitive = self.sensitive_estimator
        if sensitive is None:
            # Fitting a frozen estimator to the groups would not change it.
            frozen = isinstance(estimator, FrozenEstimator)
            sensitive = estimator.estimator if frozen else estimator
            if "lam" in sensitive.get_params():
                # A penalty would keep the model from recognizing the group.
                sensitive = clone(sensitive).set_params(lam=0)
        conditions = _CONDITIONS[self.fairness]
        _check_cells(given, conditions, rows.classes, rows.categories)
        self.sensitive_estimators_ = self._fit_sensitive(sensitive, given)
        self._set_path(estimator, sensitive, given, kept, X, y)
        return self._choose()

    def _fit_sensitive(self, sensitive, given):
        """Fit the classifier of the groups to the rows of each condition."""
        if self.use_sensitive_features:
            return {}
        labels = np.arange(len(self.groups_))
        return {
            None if c is None else self.classes_.tolist()[c]: part.fit(sensitive, labels[part.s])
            for c in _CONDITIONS[self.fairness]
            for part in [given if c is None else given.some(given.y == c)]
        }

    def _set_path(self, estimator, sensitive, given, kept, X, y):
        """Compute the rules, from the most accurate one to parity, with out-of-fold estimates."""
        conditions = _CONDITIONS[self.fairness]
        masses = _by_cell(np.ones(len(given.y)), given.y, given.s, given.weight, conditions)
        self._masses = masses / (len(given.y) if given.weight is None else given.weight.sum())
        if self.prefit and self.use_sensitive_features:
            parts = [(None, np.arange(len(given.y)))]
        else:
            parts = self._parts(given, kept, X, y)
        etas, weights, rows = [], [], np.concatenate([test for _, test in parts])
        for train, test in parts:
            fold = copy.copy(self)
            if train is not None:
                seen = given.some(train)
                if not self.prefit:
                    fold.estimator_ = seen.fit(estimator, self.classes_[seen.y])
                fold.sensitive_estimators_ = fold._fit_sensitive(sensitive, seen)
            unseen = given.some(test)
            eta = _positive(fold.estimator_, unseen.X)
            etas.append(eta)
            weights.append(fold._cells(unseen.X, eta, unseen.s) / self._masses.ravel())
        eta, W, out = np.concatenate(etas), np.concatenate(weights), given.some(rows)

        if W.shape[1] == 2:
            self._path = _path_of_one(eta, W, out, conditions)
        else:

            def measured(decided):
                return _rates(decided, out.y, out.s, out.weight, conditions, self.groups_)

            self._path = _path_of_several(eta, W, out.weight, self._masses, measured)

    def _parts(self, given, kept, X, y):
        """Return pairs of training and test rows, as positions among the rows kept."""
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            place = np.full(len(y), -1)
            place[kept] = np.arange(len(kept))
            splits = check_cv(self.cv, y, classifier=True).split(X, y)
            return [tuple(place[rows][place[rows] >= 0] for rows in pair) for pair in splits]
        folds = 5 if self.cv is None else int(self.cv)
        if isinstance(self.cv, bool) or folds < 2:
            raise ValueError(
                "cv must be a number of folds (at least 2), a splitter, an iterable of splits or "
                f"None, not {self.cv!r}"
            )
        order = check_random_state(self.random_state).permutation(len(given.y))
        cells = given.y * len(self.groups_) + given.s
        order = order[np.argsort(cells[order], kind="stable")]
        fold = np.empty(len(order), dtype=int)
        fold[order] = np.arange(len(order)) % folds
        return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(folds)]

    def _cells(self, X, eta, codes):
        """Estimate P(condition and group | x) for each cell, of shape (n, n_cells)."""
        n_groups, columns = len(self.groups_), []
        for c in _CONDITIONS[self.fairness]:
            if self.use_sensitive_features:
                shares = np.eye(n_groups)[codes]
            else:
                label = None if c is None else self.classes_.tolist()[c]
                model = self.sensitive_estimators_[label]
                shares = np.zeros((len(eta), n_groups))
                shares[:, model.classes_] = model.predict_proba(X)
            of_class = 1.0 if c is None else (eta if c == 1 else 1 - eta)[:, None]
            columns.append(of_class * shares)
        return np.hstack(columns)

    def _weights_of_cells(self, X, eta, sensitive_features):
        codes = self._group_codes(sensitive_features, eta) if self.use_sensitive_features else None
        return self._cells(X, eta, codes) / self._masses.ravel()

    def _at(self, tolerance):
        other = copy.copy(self)
        other.tolerance = tolerance
        return other if other.groups_ is None else other._choose()

    def _choose(self):
        """Set the multipliers that belong to the tolerance."""
        position = self._path.position(self.tolerance)
        multipliers = self._path.multipliers[position]
        conditions = _CONDITIONS[self.fairness]
        index = ["all" if c is None else self.classes_.tolist()[c] for c in conditions]
        self.multipliers_ = pd.DataFrame(
            multipliers.reshape(len(conditions), -1),
            index=pd.Index(index, name="class"),
            columns=pd.Index(self.groups_, tupleize_cols=False, name="group"),
        )
        self.k_ = _strength(multipliers)
        self.difference_ = float(self._path.difference[position])
        return self

    def _warn_if_missed(self):
        if self.difference_ > self.tolerance:
            warnings.warn(
                f"tolerance={self.tolerance:g} is not reached: the smallest difference of rates "
                f"on the training rows is {self.difference_:.4g}. Possible causes are many rows "
                "with the same score or a group that is too small: raise tolerance, or merge "
                "groups",
                ToleranceNotReachedWarning,
                stacklevel=3,
            )


@dataclass(frozen=True, eq=False)
class _Given:
    """Training rows, with y and s as codes and `groups` as the group label of each row.

    Without groups, `s` and `groups` are None; without weights, `weight` is None.
    """

    X: Any
    y: np.ndarray
    s: np.ndarray | None
    weight: np.ndarray | None
    groups: np.ndarray | None

    def some(self, rows):
        """Select rows by position or by a mask."""
        others = (
            None if each is None else each[rows]
            for each in (self.y, self.s, self.weight, self.groups)
        )
        return _Given(_safe_indexing(self.X, rows), *others)

    def fit(self, estimator, target):
        """Fit a clone of the estimator to the target."""
        known = {}
        if self.weight is not None:
            if not has_fit_parameter(estimator, "sample_weight"):
                raise ValueError(
                    f"{type(estimator).__name__} does not accept sample_weight: leave out the "
                    "weights, or use another estimator"
                )
            known["sample_weight"] = self.weight
        if self.groups is not None and has_fit_parameter(estimator, "sensitive_features"):
            known["sensitive_features"] = self.groups
        return clone(estimator).fit(self.X, target, **known)


def _positive(estimator, X):
    """Estimate the probability of the second class."""
    return np.asarray(estimator.predict_proba(X), dtype=float)[:, 1]


def _strength(multipliers):
    return float(np.abs(multipliers).sum() / 2)


def _by_cell(values, y, s, weight, conditions):
    """Compute weighted sums by condition and group, of shape (n_conditions, n_groups)."""
    values = values if weight is None else values * weight
    n_groups = s.max() + 1
    among = [np.ones(len(y), dtype=bool) if c is None else y == c for c in conditions]
    return np.array(
        [np.bincount(s[kept], weights=values[kept], minlength=n_groups) for kept in among]
    )


def _rates(decided, y, s, weight, conditions, groups):
    """Compute the positive rate of each group given each condition."""
    size = _by_cell(np.ones(len(y)), y, s, weight, conditions)
    if size.shape[1] < len(groups) or not size.all():
        empty = size.shape[1] if size.shape[1] < len(groups) else size.min(axis=0).argmin()
        raise ValueError(
            f"group {groups.tolist()[empty]!r} of sensitive_features has no rows, or no rows of a "
            "class whose rates are compared, so its rate is undefined: merge groups, or drop this "
            "group"
        )
    return _by_cell(decided.astype(float), y, s, weight, conditions) / size


def _check_cells(given, conditions, classes, groups):
    counts = _by_cell(np.ones(len(given.y)), given.y, given.s, None, conditions)
    if (counts < 2).any():
        i, a = np.unravel_index(counts.argmin(), counts.shape)
        c = conditions[i]
        among = "" if c is None else f" of class {classes.tolist()[c]!r}"
        other = "" if c is None else ", or choose another value of fairness"
        raise ValueError(
            f"group {groups.tolist()[a]!r} of sensitive_features has {int(counts[i, a])} row(s)"
            f"{among} with positive weight, but needs at least 2: merge groups{other}"
        )


def _path_of_one(eta, W, rows, conditions):
    """Compute all rules eta - k b > 1/2 for two groups and one rate, from k = 0 to zero gap.

    The decision about a row changes only once, at k = (eta - 1/2) / b, so the gaps of all rules
    are a cumulative sum over the sorted values of k. Each rule uses the midpoint of two values.
    """
    signs = np.array([-1.0, 1.0])
    size = _by_cell(np.ones(len(eta)), rows.y, rows.s, rows.weight, conditions)[0]
    part = (signs / size)[rows.s]
    part = part if rows.weight is None else part * rows.weight
    if conditions[0] is not None:
        part = np.where(rows.y == conditions[0], part, 0.0)
    accepted = eta > 0.5
    gap = float(part[accepted].sum())
    signs = signs if gap >= 0 else -signs
    bias = W @ signs
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(bias == 0, np.inf, (eta - 0.5) / bias)
    changes = (change > 0) & np.isfinite(change)
    steps, where = np.unique(change[changes], return_inverse=True)
    turned = np.where(accepted, -part, part)[changes]
    gaps = gap + np.concatenate([[0.0], np.cumsum(np.bincount(where, turned, len(steps)))])
    crossed = np.flatnonzero(gaps * np.sign(gap) <= 0)
    last = crossed[0] if crossed.size else len(steps)
    ends = np.append(steps, 2 * steps[-1:])
    k = np.concatenate([[0.0], (ends[:-1] + ends[1:]) / 2])[: last + 1]
    return _Path(k[:, None] * signs, np.abs(gaps[: last + 1]))


def _path_of_several(eta, W, weight, masses, measured):
    """Solve the dual for several multipliers and for tolerances down to zero.

    The dual computes the rates from the estimated probabilities of the groups. The difference
    from the measured rates at one solution corrects the constraint of the next.
    """
    weight = np.full(len(eta), 1 / len(eta)) if weight is None else weight / weight.sum()
    dual = _Dual(eta - 0.5, W, weight, masses)

    def rule(multipliers):
        decided = eta - W @ multipliers > 0.5
        rates = measured(decided)
        return np.ptp(rates, axis=1).max(), rates.ravel() - W.T @ (weight * decided)

    before = np.zeros(W.shape[1])
    start, excess = rule(before)
    path, differences = [before], [start]
    for tolerance in start * _TOLERANCES:
        after = dual.solve(tolerance, excess)
        for multipliers in _SHRINK * (before + _BETWEEN * (after - before)):
            difference, excess = rule(multipliers)
            path.append(multipliers)
            differences.append(difference)
        before = after
    return _Path(np.array(path), np.array(differences))


class _Dual:
    """Minimize mean(max(c - W mu, 0)) + tolerance * sum(|mu|) / 2 - excess @ mu by cutting planes.

    Here c is eta - 1/2, and the multipliers mu sum to zero for each condition. The mean is a
    convex function of mu, so its tangent at any point is a lower bound everywhere. These bounds do
    not depend on the tolerance and are reused.
    """

    def __init__(self, c, W, weight, masses):
        self.c, self.W, self.weight = c, W, weight
        self.limit = _LARGEST * masses.ravel()
        self.sums = np.kron(np.eye(masses.shape[0]), np.ones(masses.shape[1]))
        self.slopes, self.heights = np.empty((0, W.shape[1])), np.empty(0)
        self._value(np.zeros(W.shape[1]))

    def _value(self, mu):
        """Compute the mean at mu, and store its tangent as a cut."""
        score = self.c - self.W @ mu
        accepted = self.weight * (score > 0)
        value, slope = float(accepted @ score), -(accepted @ self.W)
        self.slopes = np.vstack([self.slopes, slope])
        self.heights = np.append(self.heights, value - slope @ mu)
        return value

    def solve(self, tolerance, excess, *, gap=1e-6, max_cuts=100):
        """Solve for mu by a sequence of linear programs.

        Their variables are the positive and negative parts of mu, and one more that stands for
        the mean and that the cuts bound from below.
        """
        m = self.W.shape[1]
        cost = np.concatenate([tolerance / 2 - excess, tolerance / 2 + excess, [1.0]])
        equal = np.hstack([self.sums, -self.sums, np.zeros((len(self.sums), 1))])
        bounds = [(0, limit) for limit in [*self.limit, *self.limit]] + [(0, None)]
        best, best_mu = np.inf, np.zeros(m)
        for _ in range(max_cuts):
            cuts = np.hstack([self.slopes, -self.slopes, -np.ones((len(self.slopes), 1))])
            found = linprog(
                cost,
                A_ub=cuts,
                b_ub=-self.heights,
                A_eq=equal,
                b_eq=np.zeros(len(equal)),
                bounds=bounds,
                method="highs",
            )
            mu = found.x[:m] - found.x[m:-1]
            value = self._value(mu) + tolerance * np.abs(mu).sum() / 2 - excess @ mu
            if value < best:
                best, best_mu = value, mu
            if best - found.fun <= gap:
                break
        tightest = np.sort(np.argsort(-self.heights - self.slopes @ best_mu)[:_CUTS])
        self.slopes, self.heights = self.slopes[tightest], self.heights[tightest]
        return best_mu
