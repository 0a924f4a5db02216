"""Choosing lam: a path over many values, or the smallest value that meets a fairness target.

All functions work for any estimator with a parameter `lam`, also within a pipeline. Estimators of
this library are fitted along a path: the data are checked and counted once, and each fit starts
from the solution before it. Other estimators are cloned and fitted for each lam.

A model that was chosen because it looked fair looks fairer than it is. With ``confidence=…`` the
target must therefore be met by the end of a confidence interval, and the values of lam are tested
one after the other, from the fairest on the training rows down to smaller ones, until a test
fails. In such a fixed sequence only the first false claim counts, so the search needs no further
correction (fixed sequence testing; Angelopoulos and others, doi:10.1214/24-AOAS1998).

A model that selects nobody has equal selection rates, so every parity metric calls it fair. Such
models do not count as an answer here, unless ``min_selection=0`` asks for them.
"""

import copy
import warnings
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    clone,
    is_clusterer,
    is_regressor,
)
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from renyi_lib._counting import count_codes
from renyi_lib._dispatch import in_memory, is_dask, need_memory
from renyi_lib._optional import missing
from renyi_lib._parameters import Checked, choice, either, flag, n_jobs_constraint, number, whole
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_alignment,
    check_same_length,
    check_several_groups,
    encode_labels,
    pool_groups,
    read_validation,
)
from renyi_lib.classification import RenyiClassifier
from renyi_lib.inference import fairness_interval, interval_of_counts
from renyi_lib.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
)
from renyi_lib.sources import ParquetRows

__all__ = [
    "DegenerateModelWarning",
    "MetricMismatchWarning",
    "RenyiClassifierCV",
    "TargetNotReachedError",
    "fit_to_target",
    "lam_path",
]

# The metric, and whether greater is better.
_METRICS = {
    "demographic_parity_ratio": (demographic_parity_ratio, True),
    "demographic_parity_difference": (demographic_parity_difference, False),
    "equal_opportunity_difference": (equal_opportunity_difference, False),
    "equalized_odds_difference": (equalized_odds_difference, False),
}
# The target where none is given. A difference has no customary one.
_TARGETS = {"demographic_parity_ratio": 0.8}
# The values of an estimator's parameter `fairness` that serve each metric.
_FAIRNESS = {
    "demographic_parity_ratio": ("demographic_parity",),
    "demographic_parity_difference": ("demographic_parity",),
    "equal_opportunity_difference": ("equal_opportunity", "equalized_odds"),
    "equalized_odds_difference": ("equalized_odds",),
}
# The true labels (0 or 1) among which each metric compares the groups.
_TRUTHS = {"equal_opportunity_difference": (1,), "equalized_odds_difference": (0, 1)}
# A model whose share of positive predictions is below this fraction of the share of positive
# labels, or the same for negatives, selects almost nobody or almost everybody.
_MIN_SELECTION = 0.1
# A number of rows with which a rate is known almost exactly.
_HUGE = 10**7
# Groups that a message names one by one.
_NAMED = 5
# Columns of X that are compared to find validation rows that were fitted.
_COMPARED_COLUMNS = 20
# The first lam after 0. A path goes up from it by factors of 2, and, if tests decide, down from
# the fairest by factors of the square root of 2.
_FIRST_LAM = 0.1
_STEP = 2**0.5
# The search upwards ends when the target is met and so many further lams were no better.
_PATIENCE = 2
# The lams that are compared by cross-validation unless others are given.
_LAMS = (0.0, *(_FIRST_LAM * _STEP**k for k in range(21)))
# An interval's end is a bound for one side, at half the interval's level: from 50 to 99 %.
_CONFIDENCE = number(0.75, 0.995)
# What a refusal must not lead to: a demand that is chosen by the rows that test it.
_NOT_ON_THESE = (
    "A second attempt needs new validation rows: with the same rows, a target or a confidence "
    "that is lowered now guarantees nothing"
)


class TargetNotReachedError(ValueError):
    """No lam that was tried meets the fairness target."""


class MetricMismatchWarning(UserWarning):
    """The metric of the target is not the definition of fairness that the estimator penalizes."""


class DegenerateModelWarning(UserWarning):
    """The chosen model predicts (almost) the same class for all samples."""


def lam_path(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    lams: Iterable[float],
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> list:
    """Fit an estimator for many values of lam, each starting from the previous solution.

    Parameters
    ----------
    estimator : estimator
        With a parameter `lam`, such as `RenyiClassifier`, `PenalizedClassifier` or `RenyiKMeans`,
        or a pipeline that ends in one. It is cloned and not changed.
    X, y, sensitive_features, sample_weight
        As in its `fit`; a clustering has no y. Dask collections and `ParquetRows` can be given to
        the estimators that are fitted to them.
    lams : sequence of float
        In any order; the fits go from the smallest to the largest.
    n_jobs : int, optional
        Processes (by joblib; -1 for all cores), for estimators of other libraries, whose fits are
        independent. Those of this library start from the solution before and run in one process.
        The result does not depend on `n_jobs`.
    progress : bool, default=False
        Whether to show a progress bar (by tqdm).

    Returns
    -------
    list of estimators
        Fitted, one for each of `lams`, in their order. Pipelines share their fitted transformers.

    See Also
    --------
    fit_to_target : The smallest lam that meets a fairness target.
    RenyiClassifierCV : Chooses lam by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier, lam_path
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> path = lam_path(RenyiClassifier(), X, y, lams=[0, 1, 10], sensitive_features=s)
    >>> [round(c.penalty_value(X, sensitive_features=s), 3) for c in path]
    [0.097, 0.04, 0.001]

    Clusters, from plain k-means on:

    >>> from renyi_lib import RenyiKMeans
    >>> X, s = np.array([[-5.0], [-4.0], [4.0], [5.0]]), [1, 1, 0, 0]
    >>> model = RenyiKMeans(2, random_state=0)
    >>> path = lam_path(model, X, lams=[0, 1000], sensitive_features=s)
    >>> [round(model.inertia_, 3) for model in path]
    [1.0, 82.0]
    """
    if sensitive_features is None:
        raise ValueError("sensitive_features is None: a path of fair models needs the groups")
    lams = _as_list(lams)
    for lam in lams:
        number(0)("each of lams", lam)
    lams = [float(lam) for lam in lams]
    order = sorted(range(len(lams)), key=lams.__getitem__)
    flag("progress", progress)
    n_jobs_constraint("n_jobs", n_jobs)
    fit, independent = _fits_by_lam(estimator, X, y, sensitive_features, sample_weight)
    todo = _with_bar(order) if progress else order
    if independent and n_jobs is not None:
        fitted = Parallel(n_jobs=n_jobs)(delayed(fit)(lams[i]) for i in todo)
    else:
        fitted = [fit(lams[i]) for i in todo]
    path = dict(zip(order, fitted))
    return [path[i] for i in range(len(lams))]


def fit_to_target(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sensitive_features: Any,
    target: float | None = None,
    metric: str | Callable = "demographic_parity_ratio",
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    max_lam: float = 1e4,
    validation: tuple | None = None,
    confidence: float | None = None,
    min_selection: float = _MIN_SELECTION,
    min_group_size: int | None = None,
    sample_weight: ArrayLike | None = None,
    progress: bool = False,
):
    """Fit the classifier with the smallest lam that meets a fairness target.

    lam is raised from 0 until the target is met, and then narrowed down by bisection to 2 % (or
    0.001). The decisions of `predict` are measured, which are made at the threshold one half.
    Their fairness may fall again at large lam, unless the estimator has ``on="score"``; the search
    starts at 0 and therefore finds the first lam that is sufficient.

    The model that is found meets the target on the rows it was measured on, and on new rows only
    about half of the time. With `confidence` it meets the target on new rows with that
    confidence, or an error says that these data cannot guarantee it.

    Parameters
    ----------
    estimator : estimator
        With a parameter `lam`, such as `RenyiClassifier`, or a pipeline that ends in one, or an
        estimator around one, such as scikit-learn's `TunedThresholdClassifierCV`.
    X, y, sensitive_features, sample_weight
        As in its `fit`. The weights also count in the metric.
    target : float, optional
        A fraction for the metrics by name. The default is 0.8, four fifths, for
        ``metric="demographic_parity_ratio"``; any other metric needs a target.
    metric : str or callable, default="demographic_parity_ratio"
        One of the functions of `renyi_lib.metrics`: "demographic_parity_ratio", which must be at
        least `target`,
        or "demographic_parity_difference", "equal_opportunity_difference" or
        "equalized_odds_difference", which must be at most `target`. Or a function
        ``metric(y_true, y_pred, sensitive_features=…)``, called with ``sample_weight=…`` too if
        there are weights. A `MetricMismatchWarning` says so if the estimator penalizes another
        definition of fairness, for example ``fairness="demographic_parity"`` with
        ``metric="equal_opportunity_difference"``.
    greater_is_better : bool, optional
        For a metric of your own, whether it must be at least `target`, or at most.
    pos_label : label, optional
        The favorable class, for the metrics by name; by default that of the estimator or, of two
        classes, the last in sorted order.
    max_lam : float, default=1e4
        The largest lam to try.
    validation : tuple, optional
        ``(X, y, sensitive_features)`` to measure on, with weights as a fourth entry if needed;
        by default the data of the fit. Labels and groups must occur in the fit.
    confidence : float, optional
        From 0.75 to 0.995: the confidence that the target is met on rows like those of
        `validation`, which must not be rows of the fit. For a metric by name, without weights.
    min_selection : float, default=0.1
        A model must predict the favorable class for at least this fraction of the share of rows
        that have it, and likewise for the other classes. Otherwise it selects almost nobody (or
        almost everybody), which makes all rates equal, and it does not count as an answer. With 0
        every model counts, and a `DegenerateModelWarning` describes such an answer.
    min_group_size : int, optional
        Pool the smallest groups, in the metric only, until no group has fewer measured rows than
        this (of each true label that the metric compares). The fit keeps all groups. Nothing can
        be guaranteed about groups of a few rows.
    progress : bool, default=False
        Whether to show a progress bar (by tqdm); the number of fits is not known in advance.

    Returns
    -------
    estimator
        Fitted; its ``lam`` is the answer.

    Raises
    ------
    TargetNotReachedError
        If no lam up to `max_lam` is sufficient. The message gives the best value and the cause.

    See Also
    --------
    RenyiClassifierCV : Chooses lam by cross-validation.
    lam_path : Fits for many values of lam.
    fairness_interval : The interval that `confidence` uses.

    Notes
    -----
    With `confidence`, lam is doubled from 0.1 on, until the target is met on the training rows
    and nothing improves any more. From the fairest of these lams the search goes down, by factors
    of the square root of 2 and finally to 0. Each model is tested on the validation rows: the end
    of its one-sided interval (`fairness_interval`) must meet the target. The first failure ends
    the search, and the last success is the answer. The training rows determine the order of the
    tests, and the validation rows only their outcome. If the interval keeps its level, the
    probability that the answer misses the target is therefore at most 1 - confidence, because it
    must have been the first unfair model in the order that passed its test.

    More validation rows make a guarantee possible, and a smaller lam sufficient, where fewer do
    not. `min_group_size` looks at sizes only and not at decisions, so choosing it in view of the
    sizes of the validation groups does not weaken the guarantee, which is then about the pooled
    groups.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
    Calibrating predictive algorithms to achieve risk control", Annals of Applied Statistics 19
    (2025), 1641-1662, doi:10.1214/24-AOAS1998.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier, fit_to_target, demographic_parity_ratio
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=4000)
    >>> X = rng.normal(size=(4000, 2)) + s[:, None] * [1, 0]
    >>> y = (X.sum(axis=1) + rng.normal(size=4000) > 0.5).astype(int)
    >>> X, y, s, *new = X[:2000], y[:2000], s[:2000], X[2000:], y[2000:], s[2000:]
    >>> clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=0.8)
    >>> demographic_parity_ratio(None, clf.predict(X), sensitive_features=s) >= 0.8
    True

    The same with a guarantee for new rows:

    >>> sure = fit_to_target(
    ...     RenyiClassifier(), X, y, sensitive_features=s, validation=new, confidence=0.9
    ... )
    >>> bool(sure.lam > clf.lam)
    True

    A threshold other than one half, chosen for each lam:

    >>> import sklearn
    >>> from sklearn.model_selection import TunedThresholdClassifierCV
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     inner = RenyiClassifier(on="score").set_fit_request(sensitive_features=True)
    ...     tuned = TunedThresholdClassifierCV(inner, scoring="f1", thresholds=20, cv=2)
    ...     tuned = fit_to_target(tuned, X, y, sensitive_features=s, target=0.8)
    >>> demographic_parity_ratio(None, tuned.predict(X), sensitive_features=s) >= 0.8
    True
    """
    number(0, above=True)("max_lam", max_lam)
    either(None, _CONFIDENCE)("confidence", confidence)
    number(0, 1)("min_selection", min_selection)
    either(None, whole(1))("min_group_size", min_group_size)
    flag("progress", progress)
    if sensitive_features is None:
        raise ValueError("sensitive_features is None: a fairness target needs the groups")
    measure, greater_is_better = _measure(metric, greater_is_better, pos_label)
    target = _checked_target(target, metric)
    _check_estimator(estimator, X, metric)
    rows = _labels_in_memory((X, y, sensitive_features, sample_weight))
    measured_on = rows if validation is None else _labels_in_memory(read_validation(validation))
    if confidence is not None:
        if validation is None:
            raise ValueError(
                "confidence needs rows that the fit has not seen: give them as "
                "validation=(X, y, sensitive_features)"
            )
        bound = _bound(metric, pos_label, confidence, measured_on[3])
    if validation is not None:
        _check_validation(rows, measured_on, metric, guarantee=confidence is not None)
    if not callable(metric):
        own = pos_label if pos_label is not None else _inner(estimator, "pos_label")
        measured_on = _pooled(measured_on, metric, own, min_group_size, target, confidence)
    fit, _ = _fits_by_lam(estimator, X, y, sensitive_features, sample_weight)
    fit = _counted(fit) if progress else fit
    search = _Search(fit, target, greater_is_better, max_lam, min_selection)
    if confidence is None:
        return search.first(lambda fitted: measure(fitted, *measured_on))
    return search.tested(
        lambda fitted: measure(fitted, *rows),
        lambda fitted: measure(fitted, *measured_on),
        lambda fitted, *without: bound(fitted, *measured_on[:3], *without),
    )


class _Measured(NamedTuple):
    """The value of the metric, and the shares of positive predictions and of positive labels.

    The shares are None where there is no favorable class, as for a regression.
    """

    value: float
    selected: float | None = None
    positive: float | None = None

    def degenerate(self, min_selection):
        """Whether almost nobody is selected, or almost everybody."""
        if self.selected is None or self.positive is None:
            return False
        few = self.selected < min_selection * self.positive
        return few or 1 - self.selected < min_selection * (1 - self.positive)

    def in_words(self):
        """What the model does, for messages."""
        return (
            f"predicts the favorable class for {self.selected:.2%} of the rows, while "
            f"{self.positive:.2%} have it"
        )


def _warn_if_degenerate(measured: _Measured, stacklevel: int = 3) -> None:
    """A `DegenerateModelWarning`, if the chosen model is degenerate by the default standard."""
    if measured.degenerate(_MIN_SELECTION):
        warnings.warn(
            f"the chosen model {measured.in_words()}. It meets the target because it treats "
            "(almost) everybody alike, and is probably useless. Other thresholds "
            "(TunedThresholdClassifierCV), class_weight='balanced' or on='score' may help",
            DegenerateModelWarning,
            stacklevel=stacklevel,
        )


class _Search:
    """The smallest lam that is sufficient, by two rules; `fit` is a function of lam."""

    def __init__(self, fit, target, greater_is_better, max_lam, min_selection):
        self.fit, self.target, self.max_lam = fit, target, max_lam
        self.greater_is_better, self.min_selection = greater_is_better, min_selection
        # Models that would meet the target and select almost nobody, or almost everybody.
        self.degenerate: list[tuple[float, _Measured]] = []

    def meets(self, value):
        return value >= self.target if self.greater_is_better else value <= self.target

    def better(self, value, other):
        return value > other if self.greater_is_better else value < other

    def value_of(self, measured, lam):
        """The value of the metric; of a degenerate model the worst there is."""
        if not measured.degenerate(self.min_selection):
            return measured.value
        if self.meets(measured.value):
            self.degenerate.append((lam, measured))
        return -np.inf if self.greater_is_better else np.inf

    def first(self, measure):
        """The first lam, from 0 on, whose measured value meets the target."""
        tried = []

        def is_fair(lam):
            fitted = self.fit(lam)
            measured = measure(fitted)
            tried.append((self.value_of(measured, lam), lam, fitted, measured))
            return self.meets(tried[-1][0])

        low, high = 0.0, 0.0
        while not is_fair(high):
            low, high = high, 2 * high or _FIRST_LAM
            if high > self.max_lam:
                raise self._not_reached(*self._best(tried)[:2])
        fair = tried[-1]
        low = max(low, 0.001)
        while high > 1.02 * low:
            middle = np.sqrt(low * high)
            if is_fair(middle):
                high, fair = middle, tried[-1]
            else:
                low = middle
        _warn_if_degenerate(fair[3], stacklevel=4)
        return fair[2]

    def tested(self, measure, validate, bound):
        """The last success, from the fairest on the training rows down to the first failure."""
        fitted, lam, tried, since_best = self.fit(0.0), 0.0, [], 0
        while True:
            tried.append((self.value_of(measure(fitted), lam), lam, fitted))
            best, start, fairest = self._best(tried)
            since_best = 0 if lam == start else since_best + 1
            lam = 2 * lam or _FIRST_LAM
            if lam > self.max_lam or (since_best == _PATIENCE and self.meets(best)):
                break
            fitted = self.fit(lam)
        if not np.isfinite(best):
            raise self._not_reached(best, start)
        reached = bound(fairest)
        if not self.meets(reached):
            raise self._not_shown(reached, start, lambda *without: bound(fairest, *without))
        measured = validate(fairest)
        if measured.degenerate(self.min_selection):
            raise self._only_degenerate(start, measured)
        answer, lam = fairest, start
        while lam > 0:
            lam = lam / _STEP if lam > 1.01 * _FIRST_LAM else 0.0
            candidate = self.fit(lam)
            found = validate(candidate)
            if found.degenerate(self.min_selection) or not self.meets(bound(candidate)):
                break
            answer, measured = candidate, found
        _warn_if_degenerate(measured, stacklevel=4)
        return answer

    def _best(self, tried):
        best = tried[0]
        for each in tried[1:]:
            best = each if self.better(each[0], best[0]) else best
        return best

    def _not_reached(self, best, lam):
        if self.degenerate:
            return self._only_degenerate(*self.degenerate[0])
        if not np.isfinite(best):
            return TargetNotReachedError(
                f"the target {self.target} is not reached by any lam up to {self.max_lam:g}: "
                "every model predicts (almost) the same class for everybody. Set class_weight="
                "'balanced' or tune the threshold, or accept such models with min_selection=0"
            )
        return TargetNotReachedError(
            f"the target {self.target} is not reached by any lam up to {self.max_lam:g}: the best "
            f"value is {best:.4g}, at lam = {lam:.4g}. A larger max_lam may help. If the best "
            "value is at a small lam, the thresholded label gets worse again beyond it, and "
            "another penalty may do better (on='score', see ScoreBinsPenalty). "
            "BiasScoreClassifier around this estimator continues where lam has no more effect"
        )

    def _only_degenerate(self, lam, measured):
        return TargetNotReachedError(
            f"the target {self.target} is reached only by models that treat (almost) everybody "
            f"alike: at lam = {lam:.4g} the model {measured.in_words()}. Set class_weight="
            "'balanced', tune the threshold (TunedThresholdClassifierCV) or use on='score'; "
            "min_selection=0 accepts such a model"
        )

    def _not_shown(self, reached, lam, bound_without):
        side = "least" if self.greater_is_better else "most"
        return TargetNotReachedError(
            f"the target {self.target} cannot be guaranteed with this confidence: for the model "
            f"that is fairest on the training rows, at lam = {lam:.4g}, the validation rows show "
            f"at {side} {reached:.4g}. {_about_small_groups(bound_without, self.meets)}Hold back "
            "more rows, which narrows the interval; more rows for the fit, a larger max_lam or "
            f"on='score' may help too. {_NOT_ON_THESE}"
        )


def _inner_has(name):
    """Whether the estimator within, fitted or not, has a method."""

    def has(self):
        inner = getattr(self, "estimator_", self.estimator)
        return inner is None or hasattr(inner, name)

    return has


class RenyiClassifierCV(MetaEstimatorMixin, Checked, ClassifierMixin, BaseEstimator):
    """A fair classifier whose lam is chosen by cross-validation, for a fairness target.

    For each lam, every row gets its decision from a model that was fitted without it. Of the lams
    whose decisions meet the target, the one with the best score is fitted to all rows. The target
    is about decisions at the threshold one half; see `RenyiClassifier` for what ``on="score"``
    adds.

    Parameters
    ----------
    estimator : estimator, default=None
        With a parameter `lam`, or a pipeline that ends in one. None is `RenyiClassifier`.
    lams : sequence of float, default=None
        The values to choose from. None is 0 and 21 values from 0.1 to about 100.
    target : float, default=None
        A fraction, such as 0.8 for 80 %. None is 0.8 for ``metric="demographic_parity_ratio"``;
        any other metric needs a target.
    metric : str, default="demographic_parity_ratio"
        "demographic_parity_ratio", which must be at least `target`, or
        "demographic_parity_difference", "equal_opportunity_difference" or
        "equalized_odds_difference", which must be at most `target`. A `MetricMismatchWarning`
        is issued if the estimator penalizes another definition.
    confidence : float, default=None
        From 0.75 to 0.995: the confidence that the target is met on new rows. With None only the
        estimate must meet it.
    min_selection : float, default=0.1
        Lams whose decisions select less than this fraction of the share of favorable labels, or
        reject so few, cannot be chosen; see `fit_to_target`.
    min_group_size : int, default=None
        Pool the smallest groups, in the metric only, until no group has fewer rows than this; see
        `fit_to_target`.
    scoring : str, callable or None, default="accuracy"
        What decides between the lams that meet the target, as in scikit-learn; None takes the
        smallest of them.
    pos_label : label, default=None
        The favorable class; by default that of the estimator or, of two classes, the last in
        sorted order.
    cv : int, splitter or iterable, default=5
        As in scikit-learn. For a number, each part gets its share of every class and group.
    n_jobs : int, default=None
        Processes (by joblib; -1 for all cores), for the parts. The result does not depend on it.
    progress : bool, default=False
        Whether to show a progress bar (by tqdm).

    Attributes
    ----------
    lam_ : float
    estimator_ : estimator
        Fitted to all rows, with this lam.
    cv_results_ : dict of ndarray
        ``"lam"``; ``"fairness"``, the metric of all decisions by models that had not seen the
        row; ``"selected"``, the share of the favorable class among these decisions; ``"bound"``,
        with `confidence`, the end of the one-sided interval; ``"train_fairness"``, the mean over
        the parts of the metric on the training rows; ``"score"``; ``"holds"``, whether lam is one
        of those to choose from.
    classes_ : ndarray of shape (n_classes,)
        Class labels, in sorted order.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        If X had names of columns.

    Notes
    -----
    With `confidence` the lams are tested as in `fit_to_target`: from the fairest on the rows of
    the fits down to smaller ones, until one fails. There the guarantee is a theorem about one
    model; here it is less. The interval counts the decisions of `cv` models as those of one, and
    the model that is fitted to all rows at the end is none of them. The book's chapter "Use it
    on your data" measures how often the guarantee holds. If you need the theorem, use
    `fit_to_target` with validation rows that are used for nothing else.

    Within another estimator the groups are passed on by metadata routing:
    ``RenyiClassifierCV().set_fit_request(sensitive_features=True)``.

    See Also
    --------
    fit_to_target : The smallest lam that meets a target, with a guarantee.
    lam_path : Fits for many values of lam.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=2000)
    >>> X = rng.normal(size=(2000, 2)) + (s == "m")[:, None] * [1, 0]
    >>> y = (X.sum(axis=1) + rng.normal(size=2000) > 0.5).astype(int)
    >>> clf = RenyiClassifierCV(target=0.8, confidence=0.9).fit(X, y, sensitive_features=s)
    >>> chosen = clf.cv_results_["lam"] == clf.lam_
    >>> bool(clf.cv_results_["bound"][chosen].item() >= 0.8)
    True
    """

    _constraints: ClassVar = {
        "target": either(None, number(0, 1)),
        "metric": choice(*_METRICS),
        "confidence": either(None, _CONFIDENCE),
        "min_selection": number(0, 1),
        "min_group_size": either(None, whole(1)),
        "n_jobs": n_jobs_constraint,
        "progress": flag,
    }

    def __init__(
        self,
        estimator=None,
        *,
        lams=None,
        target=None,
        metric="demographic_parity_ratio",
        confidence=None,
        min_selection=_MIN_SELECTION,
        min_group_size=None,
        scoring="accuracy",
        pos_label=None,
        cv=5,
        n_jobs=None,
        progress=False,
    ):
        self.estimator = estimator
        self.lams = lams
        self.target = target
        self.metric = metric
        self.confidence = confidence
        self.min_selection = min_selection
        self.min_group_size = min_group_size
        self.scoring = scoring
        self.pos_label = pos_label
        self.cv = cv
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "RenyiClassifierCV":
        """Choose lam, and fit the classifier with it to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            Classes, of any kind.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            The group of each sample. Without it there is nothing to choose: lam is 0, and a
            warning says so.
        sample_weight : array-like of shape (n,), optional
            Weights, 0 or more, in the fits, the metric and the score. Not with `confidence`.

        Returns
        -------
        self
        """
        need_memory(X, type(self).__name__)
        self._check_parameters()
        estimator = RenyiClassifier() if self.estimator is None else self.estimator
        lams = np.sort(np.array(_as_list(_LAMS if self.lams is None else self.lams), dtype=float))
        if not lams.size:
            raise ValueError("lams is empty: give at least one value to choose from")
        for lam in lams.tolist():
            number(0)("each of lams", lam)
        if self.confidence is not None and sample_weight is not None:
            raise ValueError(
                "confidence needs independent rows that count once each: leave out sample_weight, "
                "or confidence"
            )
        target = _checked_target(self.target, self.metric)
        known = {} if sample_weight is None else {"sample_weight": sample_weight}
        if sensitive_features is None:
            warnings.warn(
                "RenyiClassifierCV was fitted without sensitive_features: nothing is penalized, "
                "and lam is 0",
                NoSensitiveFeaturesWarning,
                stacklevel=2,
            )
            fitted = clone(estimator).set_params(**{_name_of_lam(estimator): 0.0})
            return self._store(0.0, fitted.fit(X, y, **known), {})
        _check_estimator(estimator, X, self.metric)
        check_alignment(
            X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        results = self._cross_validate(
            estimator, lams, X, y, sensitive_features, sample_weight, target
        )
        lam = float(lams[self._choice(results, target)])
        fit, _ = _fits_by_lam(estimator, X, y, sensitive_features, sample_weight)
        return self._store(lam, fit(lam), results)

    def _store(self, lam, fitted, results):
        self.lam_, self.estimator_, self.cv_results_ = lam, fitted, results
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _cross_validate(self, estimator, lams, X, y, s, weight, target):
        """What `cv_results_` has, for each lam."""
        check_classification_targets(y)
        codes, _ = encode_labels(s, "sensitive_features")
        check_same_length(y=y, sensitive_features=codes)
        label = self.pos_label if self.pos_label is not None else _inner(estimator, "pos_label")
        rows = (X, y, s, weight)
        pooled = _pooled(rows, self.metric, label, self.min_group_size, target, self.confidence)[2]
        parts = self._parts(X, y, codes)
        scorer = None if self.scoring is None else check_scoring(estimator, self.scoring)
        todo = _with_bar(parts) if self.progress else parts
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_out_of_part)(
                estimator, lams, *rows, pooled, part, scorer, self.metric, self.pos_label
            )
            for part in todo
        )
        rows = np.concatenate([test for _, test in parts])
        truth, group, weight = (_rows(values, rows) for values in (y, pooled, weight))
        label = found[0][0]
        decided = [np.concatenate(each) for each in zip(*(part[1] for part in found))]
        measure, _ = _METRICS[self.metric]
        known = {"sensitive_features": group, "pos_label": label}
        fairness = [measure(truth, each, sample_weight=weight, **known) for each in decided]
        shares = np.array([_shares(truth, each, weight, label) for each in decided])
        results = {"lam": lams, "fairness": np.array(fairness), "selected": shares[:, 0]}
        if self.confidence is not None:
            results["bound"] = np.array(
                [
                    _interval_end(self.metric, truth, each, group, label, self.confidence)
                    for each in decided
                ]
            )
        results["train_fairness"] = np.mean([part[2] for part in found], axis=0)
        if scorer is not None:
            sizes = [len(test) for _, test in parts]
            results["score"] = np.average([part[3] for part in found], axis=0, weights=sizes)
        results["holds"] = self._holds(results, target, positive=shares[0, 1])
        return results

    def _parts(self, X, y, group_codes):
        """Pairs of rows to fit on and rows to decide about."""
        if not isinstance(self.cv, int) or isinstance(self.cv, bool):
            return list(check_cv(self.cv, y, classifier=True).split(X, y))
        whole(2)("cv", self.cv)
        y_codes, classes = encode_labels(y, "y")
        cells = np.unique(group_codes * len(classes) + y_codes, return_inverse=True)[1]
        sizes = np.bincount(cells)
        if sizes.max() < self.cv:
            raise ValueError(
                f"cv={self.cv} needs at least {self.cv} rows of some group and class, but the "
                f"largest has {sizes.max()}: lower cv, or merge groups"
            )
        with warnings.catch_warnings():
            # Rows of a small cell go to different parts, which is all that is needed here.
            warnings.filterwarnings("ignore", message="The least populated class")
            return list(StratifiedKFold(self.cv).split(np.zeros(len(cells)), cells))

    def _holds(self, results, target, positive):
        """Which lams may be chosen."""
        sign = 1 if _METRICS[self.metric][1] else -1
        shares = [_Measured(np.nan, selected, positive) for selected in results["selected"]]
        usable = np.array([not each.degenerate(self.min_selection) for each in shares])
        self._shares = shares
        if self.confidence is None:
            return usable & (sign * results["fairness"] >= sign * target)
        holds = usable & (sign * results["bound"] >= sign * target)
        start = int(np.argmax(np.where(usable, sign * results["train_fairness"], -np.inf)))
        order = np.arange(start, -1, -1)
        passed = order[np.logical_and.accumulate(holds[order])]
        return np.isin(np.arange(len(holds)), passed)

    def _choice(self, results, target):
        """The position of the best lam."""
        shares = vars(self).pop("_shares")
        allowed = np.flatnonzero(results["holds"])
        if allowed.size:
            best = allowed[0 if self.scoring is None else results["score"][allowed].argmax()]
            _warn_if_degenerate(shares[best], stacklevel=4)
            return best
        sign = 1 if _METRICS[self.metric][1] else -1
        shown = "fairness" if self.confidence is None else "bound"
        met = np.flatnonzero(sign * results[shown] >= sign * target)
        sure = "" if self.confidence is None else f" with a confidence of {self.confidence:g}"
        if met.size:
            raise TargetNotReachedError(
                f"the target {target} is reached{sure} only by models that treat (almost) "
                f"everybody alike: at lam = {results['lam'][met[0]]:.4g} the model "
                f"{shares[met[0]].in_words()}. Set class_weight='balanced', tune the threshold "
                "or use on='score'; min_selection=0 accepts such a model"
            )
        best = int(np.argmax(sign * results[shown]))
        raise TargetNotReachedError(
            f"the target {target} is not reached by any of lams{sure}: the best {shown} "
            f"is {results[shown][best]:.4g}, at lam = {results['lam'][best]:.4g}. More rows, "
            "larger lams, an estimator with on='score' or, if some groups are small, "
            "min_group_size may help" + ("" if self.confidence is None else f". {_NOT_ON_THESE}")
        )

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The classes that the chosen classifier predicts."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities of the chosen classifier."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores of the chosen classifier."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = RenyiClassifier() if self.estimator is None else self.estimator
        tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        return tags


def _out_of_part(estimator, lams, X, y, s, weight, pooled, part, scorer, metric, pos_label):
    """The favorable label and, for each lam, decisions, fairness on the training rows, score."""
    rows = [[_rows(values, chosen) for values in (X, y, s, weight)] for chosen in part]
    measured = [*rows[0][:2], _rows(pooled, part[0]), rows[0][3]]
    fit, _ = _fits_by_lam(estimator, *rows[0])
    measure, _ = _measure(metric, None, pos_label)
    decided, fairness, scores = [], [], []
    for lam in lams.tolist():
        fitted = fit(lam)
        decided.append(_decided(fitted, rows[1][0], rows[1][2]))
        fairness.append(measure(fitted, *measured).value)
        if scorer is not None:
            known = {} if weight is None else {"sample_weight": rows[1][3]}
            scores.append(scorer(fitted, rows[1][0], rows[1][1], **known))
    return _favorable(fitted, pos_label), decided, fairness, scores


def _rows(values, chosen):
    return None if values is None else _safe_indexing(values, chosen)


def _as_list(lams):
    if isinstance(lams, str) or not isinstance(lams, Iterable):
        raise ValueError(f"lams must be a sequence of numbers, such as [0, 1, 10], not {lams!r}")
    return list(lams)


def _with_bar(items):
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise missing("tqdm", "progress=True", "progress") from error
    return tqdm(items, desc="lam")


def _counted(fit):
    """The same function, with a bar that counts its calls."""
    bar = _with_bar(None)

    def counted(lam):
        fitted = fit(lam)
        bar.update()
        return fitted

    return counted


def _fits_by_lam(estimator, X, y, sensitive_features, sample_weight):
    """A function from lam to the estimator fitted with it, and whether its fits are independent.

    If they are, each can be made in a process of its own.
    """
    _check_is_estimator(estimator)
    if hasattr(estimator, "_fits_by_lam"):
        return estimator._fits_by_lam(X, y, sensitive_features, sample_weight), False
    if isinstance(estimator, Pipeline):
        return _fits_of_pipeline(estimator, X, y, sensitive_features, sample_weight)
    name = _name_of_lam(estimator)
    known = {"sensitive_features": sensitive_features}
    if sample_weight is not None:
        known["sample_weight"] = sample_weight
    return lambda lam: clone(estimator).set_params(**{name: lam}).fit(X, y, **known), True


def _check_is_estimator(estimator):
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ValueError(
            "estimator must be an estimator of scikit-learn's kind, with a parameter lam, such as "
            f"RenyiClassifier(), not {estimator!r}"
        )


def _fits_of_pipeline(pipeline, X, y, sensitive_features, sample_weight):
    """The same for a pipeline, whose transformers know nothing of lam and are fitted once."""
    *steps, (name, last) = clone(pipeline).steps
    if steps:
        transformers = Pipeline(steps)
        X = transformers.fit_transform(X, y)
        steps = transformers.steps
    fit_last, independent = _fits_by_lam(last, X, y, sensitive_features, sample_weight)

    def fit(lam):
        fitted = copy.copy(pipeline)
        fitted.steps = [*steps, (name, fit_last(lam))]
        return fitted

    return fit, independent


def _name_of_lam(estimator):
    """The parameter to set: lam, or that of an estimator inside this one."""
    names = [name for name in estimator.get_params() if name == "lam" or name.endswith("__lam")]
    if len(names) != 1:
        found = f"these: {', '.join(names)}" if names else "none"
        raise ValueError(
            f"estimator must have one parameter lam, but {type(estimator).__name__} has {found}"
        )
    return names[0]


def _inner(estimator, name):
    """A parameter of the estimator, or of the only one inside it that has it; else None."""
    if not hasattr(estimator, "get_params"):
        return None
    parameters = estimator.get_params()
    found = [key for key in parameters if key == name or key.endswith(f"__{name}")]
    return parameters[found[0]] if len(found) == 1 else None


def _checked_target(target, metric):
    """The target, or the customary one of the metric."""
    if target is None:
        if callable(metric) or metric not in _TARGETS:
            name = getattr(metric, "__name__", metric)
            raise ValueError(
                f"target must be given for metric={name!r}: the default of "
                f"{_TARGETS['demographic_parity_ratio']} is for 'demographic_parity_ratio' only. "
                "A difference of rates of at most 0.05 is a common choice"
            )
        return _TARGETS[metric]
    number()("target", target)
    if not callable(metric) and not 0 <= target <= 1:
        raise ValueError(f"target must be a fraction from 0 to 1 (0.8 for 80 %), not {target!r}")
    return target


def _check_estimator(estimator, X, metric):
    """Refuse what could only fail after a fit, and warn of a metric that is not penalized."""
    _check_is_estimator(estimator)
    kind = type(estimator).__name__
    if not callable(metric) and (is_regressor(estimator) or is_clusterer(estimator)):
        raise ValueError(
            f"metric={metric!r} compares the decisions of a classifier, and {kind} is none: give "
            "a function metric(y_true, y_pred, sensitive_features=…) with greater_is_better, for "
            "example renyi_dependence for a regression"
        )
    if not in_memory(X) and not hasattr(estimator, "_fits_by_lam"):
        need_memory(X, kind)
    fairness = _inner(estimator, "fairness")
    if callable(metric) or not isinstance(fairness, str) or fairness in _FAIRNESS[metric]:
        return
    warnings.warn(
        f"the target is about {metric!r}, but the estimator penalizes fairness={fairness!r}: "
        f"raising lam may not reach it. Set fairness={_FAIRNESS[metric][0]!r}",
        MetricMismatchWarning,
        stacklevel=3,
    )


def _check_validation(rows, others, metric, guarantee):
    """Refuse validation rows in the wrong order, with new labels or groups, or from the fit."""
    X, y, s, _ = rows
    X_new, y_new, s_new, _ = others
    if X_new is X:
        return _rows_in_both(1.0, guarantee)
    if not in_memory(X) or not in_memory(X_new):
        return None
    names = ("X", "y", "sensitive_features")
    check_alignment(**{f"validation {name}": part for name, part in zip(names, others)})
    if not callable(metric):
        known = [_label_set(y, "y"), _label_set(s, "sensitive_features")]
        new = [_label_set(y_new, "validation y"), _label_set(s_new, "validation groups")]
        if not new[0] <= known[0] and new[0] <= known[1] and new[1] <= known[0]:
            raise ValueError(
                "validation must be (X, y, sensitive_features), but y and sensitive_features "
                f"are exchanged: its second entry holds the groups {sorted(new[0], key=str)[:3]}"
            )
        for name, old, now in zip(names[1:], known, new):
            if not now <= old:
                unseen = sorted(now - old, key=str)[:5]
                raise ValueError(
                    f"validation: {name} contains labels unseen in fit: {unseen}; the fit had "
                    f"{sorted(old, key=str)[:10]}"
                )
        if known[0] == known[1] and _looks_exchanged(
            (y, s), (y_new, s_new), sorted(known[0], key=str)
        ):
            raise ValueError(
                "validation must be (X, y, sensitive_features), but y and sensitive_features "
                "look exchanged: their joint counts match those in fit with the two swapped"
            )
    return _rows_in_both(_overlap(X, X_new), guarantee)


def _rows_in_both(share, guarantee):
    """Refuse, or warn of, validation rows that were fitted."""
    if share <= 0:
        return
    message = (
        f"about {share:.0%} of the validation rows are rows of the fit, on which every model "
        "looks fairer than it is: hold back other rows, for example with "
        "sklearn.model_selection.train_test_split"
    )
    if guarantee:
        raise ValueError(f"confidence needs rows that the fit has not seen, but {message}")
    warnings.warn(message, UserWarning, stacklevel=4)


def _label_set(values, name):
    return set(encode_labels(values, name)[1].tolist())


def _looks_exchanged(fitted, new, labels):
    """Whether labels and groups of the same names fit far better if they are exchanged."""
    place = {label: code for code, label in enumerate(labels)}
    tables = []
    for pair in (fitted, new):
        codes = []
        for values in pair:
            own, categories = encode_labels(values, "validation")
            codes.append(np.array([place[label] for label in categories.tolist()])[own])
        tables.append(count_codes(codes, (len(labels), len(labels))))
    share = (tables[0] + 0.5) / (tables[0] + 0.5).sum()
    # A log-likelihood ratio of 10 is 20 000 to 1.
    return np.sum(tables[1] * (np.log(share.T) - np.log(share))) > 10


def _overlap(X, X_new):
    """The share of new rows that were fitted, beyond those that are equal by coincidence."""
    old, now = _row_hashes(X), _row_hashes(X_new)
    if old is None or now is None:
        return 0.0
    share = float(np.isin(now, old).mean())
    by_chance = float(pd.Series(old).duplicated(keep=False).mean())
    excess = share - by_chance
    return excess if excess > max(0.02, 2 / np.sqrt(len(now))) else 0.0


def _row_hashes(X):
    """A number for each row, equal for equal rows; None if X cannot be read as a table."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)[:, :_COMPARED_COLUMNS].toarray()
    try:
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        frame = frame.iloc[:, :_COMPARED_COLUMNS].reset_index(drop=True)
        frame.columns = range(frame.shape[1])
        return pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except (TypeError, ValueError):
        return None


def _pooled(rows, metric, pos_label, min_group_size, target, confidence):
    """The rows with small groups pooled, after a check that the sizes allow for a guarantee."""
    X, y, s, weight = rows
    if not in_memory(s) or not in_memory(y):
        return rows
    codes, groups = encode_labels(s, "sensitive_features")
    cells = _cells(metric, y, codes, len(groups), pos_label)
    if min_group_size is not None:
        codes, groups, cells = pool_groups(codes, groups, cells, min_group_size)
        s = groups[codes]
    check_several_groups(groups, len(codes))
    empty = [group for group, size in zip(groups.tolist(), cells.min(axis=0)) if size == 0]
    if empty:
        raise ValueError(
            f"metric={metric!r} compares the groups among rows of the same label, but "
            f"{_named(empty)} of sensitive_features has no row of one label: pool small groups "
            "with min_group_size, or merge them yourself"
        )
    if confidence is not None:
        _check_sizes(metric, cells, groups, target, confidence)
    return X, y, s, weight


def _cells(metric, y, codes, n_groups, pos_label):
    """The number of rows by true label, of those that the metric compares, and group."""
    truths = _TRUTHS.get(metric)
    if truths is None:
        return np.bincount(codes, minlength=n_groups)[None]
    truth, classes = encode_labels(y, "y")
    if pos_label is None:
        pos_label = classes.tolist()[-1]
    check_same_length(y=truth, sensitive_features=codes)
    positive = np.array([label == pos_label for label in classes.tolist()])[truth]
    return count_codes([positive.astype(np.intp), codes], (2, n_groups))[list(truths)]


def _check_sizes(metric, cells, groups, target, confidence):
    """Raise an error that names groups so small that no decisions could show the target."""
    greater_is_better = _METRICS[metric][1]
    strata = list(_TRUTHS.get(metric, (0,)))

    def possible(sizes):
        # At best everybody gets the same decision, and the other group is known exactly.
        counts = np.zeros((2, 2, 2), dtype=np.int64)
        counts[strata, 0, int(greater_is_better)] = sizes
        counts[strata, 1, int(greater_is_better)] = _HUGE
        found = interval_of_counts(
            metric, counts, confidence_level=2 * confidence - 1, random_state=0
        )
        return found.low >= target if greater_is_better else found.high <= target

    if not possible(_HUGE):
        return
    small = [
        f"{group!r} ({sizes.min()} rows)"
        for group, sizes in zip(groups.tolist(), cells.T)
        if not possible(sizes)
    ]
    if small:
        raise TargetNotReachedError(
            f"the target {target} cannot be guaranteed with a confidence of {confidence:g}, "
            f"whatever the model, because of groups with too few rows to measure: "
            f"{', '.join(small[:_NAMED])}. Hold back more rows of these groups, or give "
            "min_group_size, which pools small groups in the metric"
        )


def _named(groups):
    return ("group " if len(groups) == 1 else "groups ") + ", ".join(map(repr, groups[:_NAMED]))


def _about_small_groups(bound_without, meets):
    """Which groups stand in the way, if the target would be met without the smallest of them."""
    n_small, dropped = 1, True
    while dropped:
        reached, dropped = bound_without(n_small)
        if dropped and meets(reached):
            return (
                f"The cause are small groups: without {', '.join(dropped)} the validation rows "
                f"would show {reached:.4g}; min_group_size pools small groups in the metric. "
            )
        n_small += 1
    return ""


def _labels_in_memory(rows):
    """The same rows with the labels as arrays, where they are names of columns of files."""
    X, *names = rows
    if not isinstance(X, ParquetRows):
        return rows
    for argument, name in zip(("y", "sensitive_features", "sample_weight"), names):
        if name is not None and not isinstance(name, str | list | tuple):
            raise ValueError(
                f"{argument} must be the name of a column of the Parquet files, as X is "
                f"ParquetRows, not {type(name).__name__}"
            )
    return (X, *X.labels(*names))


def _measure(metric, greater_is_better, pos_label):
    """A function of (fitted, X, y, sensitive_features, sample_weight), and which way is fair."""
    if callable(metric):
        if greater_is_better is None:
            raise ValueError("greater_is_better must be given if metric is a function")

        def own(fitted, X, y, s, weight):
            known = {} if weight is None else {"sample_weight": weight}
            y_pred = _decided(fitted, X, s)
            value = metric(y, y_pred, sensitive_features=s, **known)
            try:
                label = _favorable(fitted, pos_label)
            except (AttributeError, ValueError):  # a regression, or several classes
                return _Measured(value)
            return _Measured(value, *_shares(y, y_pred, weight, label))

        return own, greater_is_better
    if metric not in _METRICS:
        raise ValueError(
            f"metric must be a function or one of {', '.join(map(repr, _METRICS))}, not {metric!r}"
        )
    function, better = _METRICS[metric]

    def measured(fitted, X, y, s, weight):
        label = _favorable(fitted, pos_label)
        y_pred = _decided(fitted, X, s)
        value = function(y, y_pred, sensitive_features=s, sample_weight=weight, pos_label=label)
        return _Measured(value, *_shares(y, y_pred, weight, label))

    return measured, better


def _computed(value):
    return float(value.compute() if is_dask(value) else value)


def _shares(y, y_pred, weight, label):
    """The shares of positive predictions and of positive labels."""
    if is_dask(y, y_pred, weight):
        hits = [(part == label).astype(float) for part in (y_pred, y)]
        if weight is None:
            return tuple(_computed(hit.mean()) for hit in hits)
        return tuple(_computed((hit * weight).sum() / weight.sum()) for hit in hits)
    return tuple(
        float(np.average(np.asarray(part) == label, weights=weight)) for part in (y_pred, y)
    )


def _bound(metric, pos_label, confidence, weight):
    """The end of the one-sided interval that must meet the target, as a function of a model."""
    if callable(metric):
        raise ValueError(
            f"confidence needs a metric whose interval is known, one of "
            f"{', '.join(map(repr, _METRICS))}, not a custom function"
        )
    if weight is not None:
        raise ValueError(
            "confidence needs independent rows that count once each, and weights do not tell how "
            "many there are: leave out the weights of the rows to measure on"
        )

    def bound(fitted, X, y, s, n_without=0):
        """The end of the interval; and, without the smallest groups, their names."""
        y_pred, label = _decided(fitted, X, s), _favorable(fitted, pos_label)
        if not n_without:
            return _interval_end(metric, y, y_pred, s, label, confidence)
        if not in_memory(s) or not in_memory(y):
            return np.nan, []
        return _end_without(n_without, metric, y, y_pred, s, label, confidence)

    return bound


def _end_without(n_without, metric, y, y_pred, s, label, confidence):
    """The interval's end without the smallest groups, and these; none if too few are left."""
    codes, groups = encode_labels(s, "sensitive_features")
    if len(groups) - n_without < 2:
        return np.nan, []
    sizes = _cells(metric, y, codes, len(groups), label).min(axis=0)
    small = np.argsort(sizes, kind="stable")[:n_without]
    kept = ~np.isin(codes, small)
    end = _interval_end(
        metric, np.asarray(y)[kept], np.asarray(y_pred)[kept], codes[kept], label, confidence
    )
    return end, [f"{groups.tolist()[g]!r} ({sizes[g]} rows)" for g in small]


def _interval_end(metric, y_true, y_pred, s, pos_label, confidence):
    found = fairness_interval(
        metric,
        y_true,
        y_pred,
        sensitive_features=s,
        pos_label=pos_label,
        # Each of the two ends has half of the interval's error probability.
        confidence_level=2 * confidence - 1,
        # The same rows and decisions always give the same answer.
        random_state=0,
    )
    return found.low if _METRICS[metric][1] else found.high


def _decided(fitted, X, s):
    """The predicted labels; the groups are handed to an estimator that treats them apart."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    known = {"sensitive_features": s} if getattr(last, "use_sensitive_features", False) else {}
    return fitted.predict(X, **known)


def _favorable(fitted, pos_label):
    """The favorable label: as given, or the estimator's own, or the last of two."""
    if pos_label is None:
        last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        pos_label = getattr(last, "pos_label", None)
    classes = fitted.classes_.tolist()
    if pos_label is None and len(classes) == 2:
        pos_label = classes[-1]
    if pos_label not in classes:
        raise ValueError(
            f"pos_label must be the class whose rates are compared, one of {classes}, "
            f"not {pos_label!r}"
        )
    return pos_label
