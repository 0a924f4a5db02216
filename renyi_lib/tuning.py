"""Choose lam, by fitting a path of values or by searching for the smallest value that is fair.

All functions work for any estimator with a parameter `lam`, including one inside a pipeline. The
linear models, boosted models and clusterings of this library, and `BiasScoreClassifier`, validate
the data only once. The linear models, and clusterings with ``algorithm="descent"``, also start
each fit from an earlier solution. Other estimators are cloned and refitted for each lam.

A model that was selected because it looks fair on some rows is usually less fair on new rows. With
``confidence=…``, the end of a confidence interval must therefore meet the target. The values of
lam are tested one after the other, from the value that is fairest on the training rows down to
smaller ones, until a test fails. In such a fixed sequence only the first false claim counts, so
the search needs no further correction (fixed sequence testing; Angelopoulos and others,
doi:10.1214/24-AOAS1998).

A model that selects nobody has equal selection rates, so every parity metric calls it fair. Such
models are not accepted as an answer unless ``min_selection=0`` is set.
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

# Each metric, and whether greater is better.
_METRICS = {
    "demographic_parity_ratio": (demographic_parity_ratio, True),
    "demographic_parity_difference": (demographic_parity_difference, False),
    "equal_opportunity_difference": (equal_opportunity_difference, False),
    "equalized_odds_difference": (equalized_odds_difference, False),
}
# Default targets. Targets for differences of rates have to be given.
_TARGETS = {"demographic_parity_ratio": 0.8}
# The values of the estimator parameter `fairness` that match each metric.
_FAIRNESS = {
    "demographic_parity_ratio": ("demographic_parity",),
    "demographic_parity_difference": ("demographic_parity",),
    "equal_opportunity_difference": ("equal_opportunity", "equalized_odds"),
    "equalized_odds_difference": ("equalized_odds",),
}
# The true labels (0 or 1) within which each metric compares the groups.
_TRUTHS = {"equal_opportunity_difference": (1,), "equalized_odds_difference": (0, 1)}
# A model selects almost nobody if its share of positive predictions is below this fraction of the
# share of positive labels, and almost everybody if this holds for negatives.
_MIN_SELECTION = 0.1
# Number of rows of a group whose rate is then known almost exactly.
_HUGE = 10**7
# Maximum number of groups that the checks of group sizes list by name.
_NAMED = 5
# Number of columns of X that are compared to find validation rows that were used in the fit.
_COMPARED_COLUMNS = 20
# First lam after 0. `fit_to_target` raises lam from it by factors of 2 and, with `confidence`,
# then lowers lam from the fairest value by factors of the square root of 2.
_FIRST_LAM = 0.1
_STEP = 2**0.5
# With `confidence`, lam is raised until the target is met and this many further values brought no
# improvement.
_PATIENCE = 2
# Default lams for cross-validation.
_LAMS = (0.0, *(_FIRST_LAM * _STEP**k for k in range(21)))
# Confidences that are allowed. Each end of an interval has half of its error probability, so they
# belong to intervals with a confidence_level from 0.5 to 0.99.
_CONFIDENCE = number(0.75, 0.995)
# Part of error messages that warns against choosing a new target on the rows that test it.
_NOT_ON_THESE = (
    "A second attempt needs new rows for the test, because lowering the target or the confidence "
    "now and testing on the same rows voids the guarantee"
)


class TargetNotReachedError(ValueError):
    """Error raised if no lam that was tried meets the fairness target.

    With `confidence`, it is also raised if the data cannot guarantee that the target is met.
    """


class MetricMismatchWarning(UserWarning):
    """Warning that the estimator's fairness criterion does not match the target's metric."""


class DegenerateModelWarning(UserWarning):
    """Warning that the chosen model selects almost nobody or almost everybody."""


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
    """Fit an estimator for many values of lam, in increasing order.

    Parameters
    ----------
    estimator : estimator
        Estimator with a parameter `lam`, such as `RenyiClassifier`, `PenalizedClassifier` or
        `RenyiKMeans`, or a pipeline that ends in one. It is cloned and not modified. For
        `BiasScoreClassifier`, which has no `lam`, the tolerance is the difference of rates without
        correction, divided by 1 + lam.
    X, y, sensitive_features, sample_weight
        Training data, passed to `fit` of the estimator; clustering needs no y. Dask collections
        and `ParquetRows` are accepted if the estimator supports them.
    lams : sequence of float
        Values of lam in any order; the fits go from the smallest to the largest.
    n_jobs : int, optional
        Number of joblib processes (-1 for all cores). It applies to estimators that are cloned
        and refitted for each lam, such as estimators of other libraries. Linear models, boosted
        models and clusterings of this library, and `BiasScoreClassifier`, share their data between
        fits and run in one process. The result does not depend on `n_jobs`.
    progress : bool, default=False
        Whether to show a tqdm progress bar.

    Returns
    -------
    list of estimators
        Fitted estimators, one for each of `lams` and in the same order. Pipelines share their
        fitted transformers.

    See Also
    --------
    fit_to_target : Find the smallest lam that meets a fairness target.
    RenyiClassifierCV : Choose lam by cross-validation.

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

    A path of clusterings that starts with plain k-means:

    >>> from renyi_lib import RenyiKMeans
    >>> X, s = np.array([[-5.0], [-4.0], [4.0], [5.0]]), [1, 1, 0, 0]
    >>> model = RenyiKMeans(2, random_state=0)
    >>> path = lam_path(model, X, lams=[0, 1000], sensitive_features=s)
    >>> [round(model.inertia_, 3) for model in path]
    [1.0, 82.0]
    """
    if sensitive_features is None:
        raise ValueError(
            "sensitive_features is None, but a path of fair models needs groups: pass "
            "sensitive_features"
        )
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

    Without `confidence`, lam is raised from 0 until the target is met and is then narrowed down by
    bisection to within 2 % (or 0.001). The metric is computed from the decisions of `predict`,
    which usually uses a threshold of one half. The fairness of these decisions may decrease again
    at large lam, unless the estimator has ``on="score"``. Because the search starts at 0, lam is
    raised only up to the first sufficient value.

    This model meets the target on the rows it was measured on, but on new rows it does so only
    about half of the time. With `confidence`, the search is another one (see Notes), and its model
    meets the target on new rows with that confidence; if the data cannot guarantee this, an error
    is raised.

    Parameters
    ----------
    estimator : estimator
        Estimator with a parameter `lam`, such as `RenyiClassifier`, a pipeline that ends in one,
        or a meta-estimator around one, such as scikit-learn's `TunedThresholdClassifierCV`. For
        `BiasScoreClassifier`, see `lam_path`.
    X, y, sensitive_features, sample_weight
        Training data, passed to `fit` of the estimator. The metric uses the weights, too.
    target : float, optional
        Target value of the metric, which is a fraction for the named metrics. The default is 0.8
        (four fifths) for ``metric="demographic_parity_ratio"``; other metrics have no default.
    metric : str or callable, default="demographic_parity_ratio"
        Name of a metric in `renyi_lib.metrics`: "demographic_parity_ratio" (at least `target`),
        "demographic_parity_difference", "equal_opportunity_difference" or
        "equalized_odds_difference" (at most `target`). Alternatively, a function
        ``metric(y_true, y_pred, sensitive_features=…)``, which also receives ``sample_weight=…``
        if there are weights. With a named metric, a `MetricMismatchWarning` is issued if the
        estimator uses another fairness criterion, for example ``fairness="demographic_parity"``
        with ``metric="equal_opportunity_difference"``.
    greater_is_better : bool, optional
        Whether a custom metric must be at least `target` (True) or at most `target` (False).
        Required for a custom metric, and ignored for a named one.
    pos_label : label, optional
        Favorable class, whose rates the named metrics compare and to which `min_selection`
        applies. The default is the estimator's own `pos_label` or, for two classes, the last class
        in sorted order.
    max_lam : float, default=1e4
        Largest lam to try.
    validation : tuple, optional
        Rows to compute the metric on, as ``(X, y, sensitive_features)`` with weights as an
        optional fourth entry. The default is the training data. All labels and groups must occur
        in the training data.
    confidence : float, optional
        Confidence, from 0.75 to 0.995, that the target is met on new rows like those of
        `validation`, which is then required, must not contain training rows and must not have
        weights. Custom metrics are not supported.
    min_selection : float, default=0.1
        Minimum share of rows for which a model must predict the favorable class, as a fraction of
        the share of rows that have it, and likewise for the other classes. A model below this
        limit selects almost nobody (or almost everybody), which makes all rates equal, so it is
        not accepted. With 0, every model is accepted. If the limit is lowered and the chosen model
        is below the default of 0.1, a `DegenerateModelWarning` is issued.
    min_group_size : int, optional
        Pool the smallest groups, in the metric only, until every group has at least this many
        rows to measure (of each true label within which the metric compares groups). The fit keeps
        all groups. Nothing can be guaranteed about groups of a few rows. Groups are not pooled if
        the metric is custom or the labels are Dask collections.
    progress : bool, default=False
        Whether to show a tqdm progress bar; the number of fits is not known in advance.

    Returns
    -------
    estimator
        Estimator fitted with the smallest sufficient lam that was found. In a pipeline or
        meta-estimator, this is the ``lam`` of the estimator inside; a `BiasScoreClassifier` has
        the corresponding ``tolerance``.

    Raises
    ------
    TargetNotReachedError
        If no lam that was tried meets the target or, with `confidence`, if the data cannot
        guarantee that it is met. The message states the cause and suggests remedies.

    See Also
    --------
    RenyiClassifierCV : Choose lam by cross-validation.
    lam_path : Fit an estimator for many values of lam.
    fairness_interval : Compute the interval that `confidence` uses.

    Notes
    -----
    With `confidence`, lam is raised from 0 to 0.1 and then doubled until the target is met on the
    training rows and further steps bring no improvement, or until `max_lam` would be exceeded.
    From the fairest of these values the search goes down, by factors of the square root of 2 and
    finally to 0. Each model is tested on the validation rows, where the end of its one-sided
    interval (`fairness_interval`) must meet the target and `min_selection` must hold. The first
    failure ends the search, and the last success is the answer. The training rows determine the
    order of the tests, and the validation rows only their outcomes. If the interval has its
    nominal level, the probability that the answer misses the target is therefore at most
    1 - confidence, because such an answer is possible only if the first unfair model in the order
    has passed its test.

    More validation rows make guarantees possible that fewer rows would not support, and they may
    allow a smaller lam. `min_group_size` depends only on group sizes and not on decisions, so you
    may choose it after looking at the sizes of the validation groups. The guarantee then concerns
    the pooled groups.

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

    The same search with a guarantee for new rows:

    >>> sure = fit_to_target(
    ...     RenyiClassifier(), X, y, sensitive_features=s, validation=new, confidence=0.9
    ... )
    >>> bool(sure.lam > clf.lam)
    True

    A search in which each model's threshold is tuned, so that it may differ from one half:

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
        raise ValueError(
            "sensitive_features is None, but a fairness target needs groups: pass "
            "sensitive_features"
        )
    measure, greater_is_better = _measure(metric, greater_is_better, pos_label)
    target = _checked_target(target, metric)
    _check_estimator(estimator, X, metric)
    rows = _labels_in_memory((X, y, sensitive_features, sample_weight))
    measured_on = rows if validation is None else _labels_in_memory(read_validation(validation))
    if confidence is not None:
        if validation is None:
            raise ValueError(
                "confidence needs rows that were not used in the fit: pass them as "
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
    """Value of the metric, with the shares of positive predictions and of positive labels.

    The shares are None if there is no favorable class, as in a regression.
    """

    value: float
    selected: float | None = None
    positive: float | None = None

    def degenerate(self, min_selection):
        """Return whether the model selects almost nobody or almost everybody."""
        if self.selected is None or self.positive is None:
            return False
        few = self.selected < min_selection * self.positive
        return few or 1 - self.selected < min_selection * (1 - self.positive)

    def in_words(self):
        """Describe the model's decisions for use in messages."""
        return (
            f"predicts the favorable class for {100 * self.selected:.2f} % of the rows, while "
            f"{100 * self.positive:.2f} % have it"
        )


def _warn_if_degenerate(measured: _Measured, stacklevel: int = 3) -> None:
    """Issue a `DegenerateModelWarning` if the chosen model is degenerate by the default limit."""
    if measured.degenerate(_MIN_SELECTION):
        warnings.warn(
            f"the chosen model {measured.in_words()}. It meets the target because it treats "
            "(almost) everybody alike, and it is probably useless. To avoid this, tune the "
            "threshold (TunedThresholdClassifierCV), or set class_weight='balanced' or on='score'",
            DegenerateModelWarning,
            stacklevel=stacklevel,
        )


class _Search:
    """Search for the smallest sufficient lam by one of two rules; `fit` maps lam to a model."""

    def __init__(self, fit, target, greater_is_better, max_lam, min_selection):
        self.fit, self.target, self.max_lam = fit, target, max_lam
        self.greater_is_better, self.min_selection = greater_is_better, min_selection
        # Models that would meet the target but select almost nobody or almost everybody.
        self.degenerate: list[tuple[float, _Measured]] = []

    def meets(self, value):
        return value >= self.target if self.greater_is_better else value <= self.target

    def better(self, value, other):
        return value > other if self.greater_is_better else value < other

    def value_of(self, measured, lam):
        """Return the value of the metric, or the worst possible value for a degenerate model."""
        if not measured.degenerate(self.min_selection):
            return measured.value
        if self.meets(measured.value):
            self.degenerate.append((lam, measured))
        return -np.inf if self.greater_is_better else np.inf

    def first(self, measure):
        """Raise lam from 0 until the target is met, bisect, and return the last fair model."""
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
        """Test models from the fairest on the training rows downward; return the last success."""
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
            raise self._degenerate_on_new(start, measured)
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
        if np.isnan(best):
            return TargetNotReachedError(
                f"the target {self.target} is not reached, because metric returned NaN at lam = "
                f"{lam:.4g}: pass a metric that is defined for all decisions"
            )
        if not np.isfinite(best):
            return TargetNotReachedError(
                f"the target {self.target} is not reached by any lam that was tried, up to "
                f"{self.max_lam:g}: every model treats (almost) everybody alike. Set class_weight="
                "'balanced', tune the threshold, or accept such models with min_selection=0"
            )
        return TargetNotReachedError(
            f"the target {self.target} is not reached by any lam that was tried, up to "
            f"{self.max_lam:g}: the best value is {best:.4g}, at lam = {lam:.4g}. A larger "
            "max_lam may help. If the best value is at a small lam, larger lams make the "
            "decisions at the threshold less fair, and another penalty may work better "
            "(on='score', see ScoreBinsPenalty). For a binary classifier with predict_proba, "
            "BiasScoreClassifier wrapped around it can improve fairness further"
        )

    def _only_degenerate(self, lam, measured):
        return TargetNotReachedError(
            f"the target {self.target} is reached only by models that treat (almost) everybody "
            f"alike: at lam = {lam:.4g} the model {measured.in_words()}. Set class_weight="
            "'balanced', tune the threshold (TunedThresholdClassifierCV) or use on='score', or "
            "accept such a model with min_selection=0"
        )

    def _degenerate_on_new(self, lam, measured):
        return TargetNotReachedError(
            f"the model that is fairest on the training rows, at lam = {lam:.4g}, meets the "
            f"target {self.target} on the validation rows, but it treats (almost) everybody alike "
            f"there: it {measured.in_words()}. Set class_weight='balanced', tune the threshold "
            "(TunedThresholdClassifierCV) or use on='score', or accept such a model with "
            "min_selection=0"
        )

    def _not_shown(self, reached, lam, bound_without):
        side = "least" if self.greater_is_better else "most"
        return TargetNotReachedError(
            f"the target {self.target} cannot be guaranteed with this confidence: for the model "
            f"that is fairest on the training rows, at lam = {lam:.4g}, the validation rows show "
            f"only a value of at {side} {reached:.4g}. "
            f"{_about_small_groups(bound_without, self.meets)}Hold out more rows to narrow the "
            "interval; more training rows, a larger max_lam or on='score' may help, too. "
            f"{_NOT_ON_THESE}"
        )


def _inner_has(name):
    """Return a function that checks whether the inner estimator has a method."""

    def has(self):
        inner = getattr(self, "estimator_", self.estimator)
        return inner is None or hasattr(inner, name)

    return has


class RenyiClassifierCV(MetaEstimatorMixin, Checked, ClassifierMixin, BaseEstimator):
    """Fair classifier whose lam is chosen by cross-validation, given a fairness target.

    For each lam, the rows of each test fold get their decisions from a model that was fitted to
    the fold's training rows. Among the values of lam whose decisions meet the target, the one with
    the best score is chosen, and the estimator with this lam is fitted to all rows. The target
    concerns the decisions of `predict`, which usually uses a threshold of one half; see
    `RenyiClassifier` for the effect of ``on="score"``.

    Parameters
    ----------
    estimator : estimator, default=None
        Estimator with a parameter `lam`, or a pipeline that ends in one. None means
        `RenyiClassifier`.
    lams : sequence of float, default=None
        Values to choose from. None means 0 and 21 values from 0.1 to about 100.
    target : float, default=None
        Target value of the metric, a fraction such as 0.8 for 80 %. None means 0.8 for
        ``metric="demographic_parity_ratio"``; for other metrics a target is required.
    metric : str, default="demographic_parity_ratio"
        Metric of the target: "demographic_parity_ratio" (at least `target`),
        "demographic_parity_difference", "equal_opportunity_difference" or
        "equalized_odds_difference" (at most `target`). A `MetricMismatchWarning` is issued if the
        estimator uses another fairness criterion.
    confidence : float, default=None
        Approximate confidence, from 0.75 to 0.995, that the target is met on new rows (see Notes).
        With None, only the metric of the out-of-fold decisions must meet the target.
    min_selection : float, default=0.1
        Minimum share of the favorable class among the decisions, as a fraction of its share among
        the labels, and likewise for the other classes. A value of lam whose decisions fall below
        this limit cannot be chosen; see `fit_to_target`.
    min_group_size : int, default=None
        Pool the smallest groups, in the metric only, until no group has fewer rows than this; see
        `fit_to_target`.
    scoring : str, callable or None, default="accuracy"
        Score by which the best of the values of lam that meet the target is chosen, as in
        scikit-learn. None chooses the smallest of these values.
    pos_label : label, default=None
        Favorable class. None means the estimator's own `pos_label` or, for two classes, the last
        class in sorted order.
    cv : int, splitter or iterable, default=5
        Cross-validation scheme, as in scikit-learn. If it is an int, folds are stratified by
        class and group.
    n_jobs : int, default=None
        Number of joblib processes (-1 for all cores) for the folds. The result does not depend on
        `n_jobs`.
    progress : bool, default=False
        Whether to show a tqdm progress bar.

    Attributes
    ----------
    lam_ : float
        Chosen value of lam.
    estimator_ : estimator
        Estimator with the chosen lam, fitted to all rows.
    cv_results_ : dict of ndarray
        Arrays with one value for each lam, sorted by lam: ``"lam"``; ``"fairness"``, the metric of
        the out-of-fold decisions; ``"selected"``, the share of the favorable class among these
        decisions; ``"bound"``, the end of the one-sided interval, if `confidence` is set;
        ``"train_fairness"``, the mean over folds of the metric on the training rows; ``"score"``,
        if `scoring` is not None, the mean over folds of the score on the test rows, weighted by
        their number; and ``"holds"``, whether this lam may be chosen. Empty if fitted without
        groups.
    classes_ : ndarray of shape (n_classes,)
        Class labels, in sorted order.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    Notes
    -----
    With `confidence`, the values of lam are tested as in `fit_to_target`, from the value that is
    fairest on the training rows down to smaller ones, until a test fails. For `fit_to_target`, the
    guarantee can be proved, because each test concerns a single model and uses rows to which that
    model was not fitted. For this class, it is only approximate, because the interval treats the
    decisions of all folds' models as decisions of one model, and the final model, fitted to all
    rows, is not among them. The book's chapter "Use it on your data" measures how often the
    guarantee holds. If you need a proved guarantee, use `fit_to_target` with validation rows that
    serve no other purpose.

    If this classifier is part of another estimator, groups are passed by metadata routing, with
    ``RenyiClassifierCV().set_fit_request(sensitive_features=True)``.

    See Also
    --------
    fit_to_target : Find the smallest lam that meets a target, with a guarantee.
    lam_path : Fit an estimator for many values of lam.

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
            Class labels of any type.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample. If omitted, there is nothing to choose, so lam is 0 and a
            warning is issued.
        sample_weight : array-like of shape (n,), optional
            Nonnegative weights, used in the fits, the metric and the score. Weights cannot be
            combined with `confidence`.

        Returns
        -------
        self

        Raises
        ------
        TargetNotReachedError
            If none of `lams` may be chosen. The message states the cause and suggests remedies.
        """
        need_memory(X, type(self).__name__)
        self._check_parameters()
        estimator = RenyiClassifier() if self.estimator is None else self.estimator
        lams = np.sort(np.array(_as_list(_LAMS if self.lams is None else self.lams), dtype=float))
        if not lams.size:
            raise ValueError("lams is empty: pass at least one value to choose from")
        for lam in lams.tolist():
            number(0)("each of lams", lam)
        if self.confidence is not None and sample_weight is not None:
            raise ValueError(
                "confidence requires independent rows of equal weight: leave out either "
                "sample_weight or confidence"
            )
        target = _checked_target(self.target, self.metric)
        known = {} if sample_weight is None else {"sample_weight": sample_weight}
        if sensitive_features is None:
            warnings.warn(
                "RenyiClassifierCV was fitted without sensitive_features, so nothing is penalized "
                "and lam is 0: pass sensitive_features to fit",
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
        """Compute the entries of `cv_results_` for each lam."""
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
        """Return the positions of the training rows and of the test rows for each fold."""
        if not isinstance(self.cv, int) or isinstance(self.cv, bool):
            return list(check_cv(self.cv, y, classifier=True).split(X, y))
        whole(2)("cv", self.cv)
        y_codes, classes = encode_labels(y, "y")
        cells = np.unique(group_codes * len(classes) + y_codes, return_inverse=True)[1]
        sizes = np.bincount(cells)
        if sizes.max() < self.cv:
            raise ValueError(
                f"cv={self.cv} needs at least {self.cv} rows of some group and class, but no "
                f"group has more than {sizes.max()} of the same class: lower cv, or merge groups"
            )
        with warnings.catch_warnings():
            # Cells with fewer rows than folds are allowed; their rows go to different folds.
            warnings.filterwarnings("ignore", message="The least populated class")
            return list(StratifiedKFold(self.cv).split(np.zeros(len(cells)), cells))

    def _holds(self, results, target, positive):
        """Return a mask of the values of lam that may be chosen."""
        sign = 1 if _METRICS[self.metric][1] else -1
        self._shares = [_Measured(np.nan, selected, positive) for selected in results["selected"]]
        usable = self._usable(self._shares)
        if self.confidence is None:
            return usable & (sign * results["fairness"] >= sign * target)
        holds = usable & (sign * results["bound"] >= sign * target)
        order = np.arange(self._start(results, usable), -1, -1)
        passed = order[np.logical_and.accumulate(holds[order])]
        return np.isin(np.arange(len(holds)), passed)

    def _usable(self, shares):
        """Return a mask of the values of lam that `min_selection` allows."""
        return np.array([not each.degenerate(self.min_selection) for each in shares])

    def _start(self, results, usable):
        """Return the index of the lam that is tested first."""
        sign = 1 if _METRICS[self.metric][1] else -1
        return int(np.argmax(np.where(usable, sign * results["train_fairness"], -np.inf)))

    def _choice(self, results, target):
        """Return the index of the chosen lam, or raise an error if none may be chosen."""
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
        usable = self._usable(shares)
        if met.size and not usable[met].any():
            raise TargetNotReachedError(
                f"the target {target} is reached{sure} only by models that treat (almost) "
                f"everybody alike: at lam = {results['lam'][met[0]]:.4g} the model "
                f"{shares[met[0]].in_words()}. Set class_weight='balanced', tune the threshold "
                "or use on='score', or accept such a model with min_selection=0"
            )
        cures = (
            "More rows, larger lams, an estimator with on='score' or, if some groups are small, "
            "min_group_size may help"
        )
        if self.confidence is not None and usable.any():
            # Later tests do not count, even if their bounds meet the target.
            start = self._start(results, usable)
            raise TargetNotReachedError(
                f"the target {target} cannot be guaranteed{sure}, because the first test fails: "
                f"at lam = {results['lam'][start]:.4g}, which is the fairest on the training rows "
                "among the values of lam that min_selection allows, the bound is "
                f"{results['bound'][start]:.4g}. {cures}. "
                f"{_NOT_ON_THESE}"
            )
        best = int(np.argmax(sign * results[shown]))
        raise TargetNotReachedError(
            f"the target {target} is not reached by any value of lams{sure}: the best {shown} is "
            f"{results[shown][best]:.4g}, at lam = {results['lam'][best]:.4g}. {cures}"
            + ("" if self.confidence is None else f". {_NOT_ON_THESE}")
        )

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes with the chosen classifier."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict class probabilities with the chosen classifier."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the decision function of the chosen classifier."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = RenyiClassifier() if self.estimator is None else self.estimator
        tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        return tags


def _out_of_part(estimator, lams, X, y, s, weight, pooled, part, scorer, metric, pos_label):
    """Fit one fold; return the favorable label and, for each lam, decisions, fairness and score.

    The fairness is for the training rows; the decisions and the score are for the test rows.
    """
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
    """Wrap a function so that a progress bar counts its calls."""
    bar = _with_bar(None)

    def counted(lam):
        fitted = fit(lam)
        bar.update()
        return fitted

    return counted


def _fits_by_lam(estimator, X, y, sensitive_features, sample_weight):
    """Return a function that fits the estimator for a given lam, and whether fits are independent.

    Independent fits can run in separate processes.
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
            "estimator must be an instance of a scikit-learn estimator with a parameter lam, for "
            f"example RenyiClassifier(), not {estimator!r}"
        )


def _fits_of_pipeline(pipeline, X, y, sensitive_features, sample_weight):
    """Return `_fits_by_lam` for a pipeline, whose transformers are fitted once."""
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
    """Return the name of the parameter lam, which may belong to a nested estimator."""
    names = [name for name in estimator.get_params() if name == "lam" or name.endswith("__lam")]
    if len(names) != 1:
        found = f"these: {', '.join(names)}" if names else "none"
        raise ValueError(
            "estimator must have exactly one parameter lam, but "
            f"{type(estimator).__name__} has {found}"
        )
    return names[0]


def _inner(estimator, name):
    """Return the parameter, also of a nested estimator; None unless there is exactly one."""
    if not hasattr(estimator, "get_params"):
        return None
    parameters = estimator.get_params()
    found = [key for key in parameters if key == name or key.endswith(f"__{name}")]
    return parameters[found[0]] if len(found) == 1 else None


def _checked_target(target, metric):
    """Validate the target, or return the default target of the metric."""
    if target is None:
        if callable(metric) or metric not in _TARGETS:
            name = getattr(metric, "__name__", metric)
            raise ValueError(
                f"target must be given for metric={name!r}, because the default of "
                f"{_TARGETS['demographic_parity_ratio']} is for 'demographic_parity_ratio' only. "
                "For differences, a target of 0.05 is common"
            )
        return _TARGETS[metric]
    number()("target", target)
    if not callable(metric) and not 0 <= target <= 1:
        raise ValueError(f"target must be a fraction from 0 to 1 (0.8 for 80 %), not {target!r}")
    return target


def _check_estimator(estimator, X, metric):
    """Raise errors that otherwise occur only after a fit; warn if the metric does not match."""
    _check_is_estimator(estimator)
    kind = type(estimator).__name__
    if not callable(metric) and (is_regressor(estimator) or is_clusterer(estimator)):
        raise ValueError(
            f"metric={metric!r} compares the decisions of a classifier, but {kind} is not one: "
            "pass a function metric(y_true, y_pred, sensitive_features=…) with "
            "greater_is_better, for example renyi_dependence for a regression"
        )
    if not in_memory(X) and not hasattr(estimator, "_fits_by_lam"):
        need_memory(X, kind)
    fairness = _inner(estimator, "fairness")
    if callable(metric) or not isinstance(fairness, str) or fairness in _FAIRNESS[metric]:
        return
    warnings.warn(
        f"the target concerns {metric!r}, but the estimator penalizes fairness={fairness!r}, so "
        f"raising lam may not reach the target. Set fairness={_FAIRNESS[metric][0]!r}",
        MetricMismatchWarning,
        stacklevel=3,
    )


def _check_validation(rows, others, metric, guarantee):
    """Raise an error for swapped columns or unseen labels; call `_rows_in_both`."""
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
        new = [
            _label_set(y_new, "validation y"),
            _label_set(s_new, "validation sensitive_features"),
        ]
        if not new[0] <= known[0] and new[0] <= known[1] and new[1] <= known[0]:
            raise ValueError(
                "validation must be (X, y, sensitive_features), but y and sensitive_features "
                f"are swapped: its second entry has the groups {sorted(new[0], key=str)[:3]}"
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
                "seem to be swapped: their joint counts match those in fit if they are exchanged"
            )
    return _rows_in_both(_overlap(X, X_new), guarantee)


def _rows_in_both(share, guarantee):
    """Warn or, with a guarantee, raise an error if validation rows are also training rows."""
    if share <= 0:
        return
    message = (
        f"about {100 * share:.0f} % of the validation rows are also training rows, on which "
        "models usually look fairer than on new rows: hold out other rows, for example with "
        "sklearn.model_selection.train_test_split"
    )
    if guarantee:
        raise ValueError(f"confidence needs rows that were not used in the fit, but {message}")
    warnings.warn(message, UserWarning, stacklevel=4)


def _label_set(values, name):
    return set(encode_labels(values, name)[1].tolist())


def _looks_exchanged(fitted, new, labels):
    """Return whether new y and s, with equal values, match the fit far better if swapped."""
    place = {label: code for code, label in enumerate(labels)}
    tables = []
    for pair in (fitted, new):
        codes = []
        for values in pair:
            own, categories = encode_labels(values, "validation")
            codes.append(np.array([place[label] for label in categories.tolist()])[own])
        tables.append(count_codes(codes, (len(labels), len(labels))))
    share = (tables[0] + 0.5) / (tables[0] + 0.5).sum()
    # A log-likelihood ratio of 10 corresponds to odds of about 20 000 to 1.
    return np.sum(tables[1] * (np.log(share.T) - np.log(share))) > 10


def _overlap(X, X_new):
    """Estimate the share of new rows that are training rows, corrected for coincidences."""
    old, now = _row_hashes(X), _row_hashes(X_new)
    if old is None or now is None:
        return 0.0
    share = float(np.isin(now, old).mean())
    by_chance = float(pd.Series(old).duplicated(keep=False).mean())
    excess = share - by_chance
    return excess if excess > max(0.02, 2 / np.sqrt(len(now))) else 0.0


def _row_hashes(X):
    """Hash the first columns of each row, or return None if X cannot be read as a table."""
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
    """Pool small groups; with confidence, check that the group sizes allow a guarantee."""
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
            f"sensitive_features has no rows of some label for {_named(empty)}: pool small groups "
            "with min_group_size, or merge groups"
        )
    if confidence is not None:
        _check_sizes(metric, cells, groups, target, confidence)
    return X, y, s, weight


def _cells(metric, y, codes, n_groups, pos_label):
    """Count the rows by group and by those true labels within which the metric compares groups."""
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
    """Raise an error if some groups are too small to meet the target, whatever the decisions."""
    greater_is_better = _METRICS[metric][1]
    strata = list(_TRUTHS.get(metric, (0,)))

    def possible(sizes):
        # In the best case, all samples get the same decision, and the rate of the other groups is
        # known.
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
            f"the target {target} cannot be guaranteed with a confidence of {confidence:g} by any "
            f"model, because some groups have too few rows to measure: "
            f"{', '.join(small[:_NAMED])}. Measure more rows of these groups, or set "
            "min_group_size, which pools small groups in the metric"
        )


def _named(groups):
    return ("group " if len(groups) == 1 else "groups ") + ", ".join(map(repr, groups[:_NAMED]))


def _about_small_groups(bound_without, meets):
    """Name the small groups without which the target would be met, or return an empty string."""
    n_small, dropped = 1, True
    while dropped:
        reached, dropped = bound_without(n_small)
        if dropped and meets(reached):
            return (
                f"Small groups are the cause: without {', '.join(dropped)}, the validation rows "
                f"would show {reached:.4g}; min_group_size pools small groups in the metric. "
            )
        n_small += 1
    return ""


def _labels_in_memory(rows):
    """Return the rows with labels as arrays if they are given by names of Parquet columns."""
    X, *names = rows
    if not isinstance(X, ParquetRows):
        return rows
    for argument, name in zip(("y", "sensitive_features", "sample_weight"), names):
        if name is not None and not isinstance(name, str | list | tuple):
            raise ValueError(
                f"{argument} must be the name of a Parquet column if X is a ParquetRows, but it "
                f"is of type {type(name).__name__}"
            )
    return (X, *X.labels(*names))


def _measure(metric, greater_is_better, pos_label):
    """Return a function that measures a fitted model on rows, and whether greater is fairer."""
    if callable(metric):
        if greater_is_better is None:
            raise ValueError(
                "greater_is_better is None, but it must be True or False if metric is a function"
            )

        def own(fitted, X, y, s, weight):
            known = {} if weight is None else {"sample_weight": weight}
            y_pred = _decided(fitted, X, s)
            value = metric(y, y_pred, sensitive_features=s, **known)
            try:
                label = _favorable(fitted, pos_label)
            except (AttributeError, ValueError):  # a regression, or more than two classes
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
    """Return the shares of positive predictions and of positive labels."""
    if is_dask(y, y_pred, weight):
        hits = [(part == label).astype(float) for part in (y_pred, y)]
        if weight is None:
            return tuple(_computed(hit.mean()) for hit in hits)
        return tuple(_computed((hit * weight).sum() / weight.sum()) for hit in hits)
    return tuple(
        float(np.average(np.asarray(part) == label, weights=weight)) for part in (y_pred, y)
    )


def _bound(metric, pos_label, confidence, weight):
    """Return a function that computes, for a model, the interval end that must meet the target."""
    if callable(metric):
        raise ValueError(
            f"confidence needs a metric with a known interval, one of "
            f"{', '.join(map(repr, _METRICS))}, not a custom function"
        )
    if weight is not None:
        raise ValueError(
            "confidence requires independent rows of equal weight, but validation contains "
            "weights: leave out its fourth entry"
        )

    def bound(fitted, X, y, s, n_without=0):
        """Return the interval end; with `n_without`, see `_end_without`."""
        y_pred, label = _decided(fitted, X, s), _favorable(fitted, pos_label)
        if not n_without:
            return _interval_end(metric, y, y_pred, s, label, confidence)
        if not in_memory(s) or not in_memory(y):
            return np.nan, []
        return _end_without(n_without, metric, y, y_pred, s, label, confidence)

    return bound


def _end_without(n_without, metric, y, y_pred, s, label, confidence):
    """Return the interval end without the smallest groups, and their names with their sizes.

    If fewer than two groups would remain, the end is NaN and the list is empty.
    """
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
        # Each end of the interval has half of its error probability.
        confidence_level=2 * confidence - 1,
        # Use a fixed seed, so that equal rows and decisions always give the same answer.
        random_state=0,
    )
    return found.low if _METRICS[metric][1] else found.high


def _decided(fitted, X, s):
    """Predict labels, passing the groups to an estimator that treats groups differently."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    known = {"sensitive_features": s} if getattr(last, "use_sensitive_features", False) else {}
    return fitted.predict(X, **known)


def _favorable(fitted, pos_label):
    """Return the favorable label: pos_label, the estimator's own, or the last of two classes."""
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
