"""Choosing lam: many values at once, or the smallest one that is as fair as asked for.

All work for any estimator with a parameter `lam`, also within a pipeline. Estimators of this
library are fitted along a path, the data checked and counted once and each fit started from the
one before; any other is cloned and fitted for each lam.

A model that was chosen because it looked fair looks fairer than it is. With ``confidence=…`` the
target is to be met by the end of a confidence interval, and the values of lam are tested one after
the other, from the fairest on the rows of the fit down to smaller ones, until a test fails. In
such a fixed sequence only the first false claim counts, so that no further correction is needed
for the search (the "fixed sequence" of Angelopoulos and others, doi:10.1214/24-AOAS1998).
"""

import copy
import warnings
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from renyi_lib._dispatch import need_memory
from renyi_lib._optional import missing
from renyi_lib._parameters import Checked, choice, either, flag, n_jobs_constraint, number, whole
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_same_length,
    encode_labels,
    read_validation,
)
from renyi_lib.classification import RenyiClassifier
from renyi_lib.inference import fairness_interval
from renyi_lib.metrics import (
    demographic_parity_violation,
    equal_opportunity_violation,
    equalized_odds_violation,
    p_rule,
)
from renyi_lib.sources import ParquetRows

__all__ = ["RenyiClassifierCV", "TargetNotReachedError", "fit_to_target", "lam_path"]

# The metric, and whether more of it is better.
_METRICS = {
    "p_rule": (p_rule, True),
    "demographic_parity_violation": (demographic_parity_violation, False),
    "equal_opportunity_violation": (equal_opportunity_violation, False),
    "equalized_odds_violation": (equalized_odds_violation, False),
}
# The first lam after 0. A path goes up from it by factors of 2, and, if tests decide, down from
# the fairest by factors of the square root of 2.
_FIRST_LAM = 0.1
_STEP = 2**0.5
# The way up ends when the target is met and so many further lams have brought nothing better.
_PATIENCE = 2
# The lams that are compared by cross-validation unless others are given.
_LAMS = (0.0, *(_FIRST_LAM * _STEP**k for k in range(21)))
# An interval's end is a bound for one side, at half the interval's level: from 50 to 99 %.
_CONFIDENCE = number(0.75, 0.995)
# What a refusal must not lead to: the demand would then be chosen by the rows that test it.
_NOT_ON_THESE = (
    "A second try needs rows to test on that had no part in this answer: with the same ones a "
    "demand that is lowered now, in its target or in its confidence, promises nothing"
)


class TargetNotReachedError(ValueError):
    """No lam that was tried reaches the fairness that was asked for."""


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
    """An estimator fitted for many values of lam, each from the solution of the one before.

    Parameters
    ----------
    estimator : estimator
        With a parameter `lam`, such as `RenyiClassifier`, `PenalizedClassifier` or `RenyiKMeans`,
        or a pipeline that ends in one. It stays as it is.
    X, y, sensitive_features, sample_weight
        As in its `fit`; a clustering has no y. Dask collections and `ParquetRows` can be given to
        the estimators that are fitted to them.
    lams : sequence of float
        In any order; the fits go from the smallest to the largest.
    n_jobs : int, optional
        Processes (by joblib; -1 for all cores), for estimators of other libraries: their fits
        know nothing of each other. Those of this library start from the one before, and are made
        in one process. The result does not depend on it.
    progress : bool, default=False
        Whether to show a progress bar (by tqdm).

    Returns
    -------
    list of estimators
        Fitted, one for each of `lams`, in their order. Pipelines share their fitted transformers.

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
    lams = list(lams)
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
    target: float = 0.8,
    metric: str | Callable = "p_rule",
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    max_lam: float = 1e4,
    validation: tuple | None = None,
    confidence: float | None = None,
    sample_weight: ArrayLike | None = None,
    progress: bool = False,
):
    """The classifier with the smallest lam that is as fair as asked for.

    lam is raised from 0 until the target is met, and then narrowed down by bisection to 2 % (or
    0.001). What is measured are the decisions of `predict`, made at the threshold one half. Their
    fairness may fall again at large lam, unless the estimator has ``on="score"``; the search goes
    up from 0, so that it finds the first lam that will do.

    The model that is found meets the target on the people it was measured on, and on new people
    about every second time. With `confidence` it meets the target on new people, with that
    confidence, or an error says that these data cannot promise it.

    Parameters
    ----------
    estimator : estimator
        With a parameter `lam`, such as `RenyiClassifier`, or a pipeline that ends in one, or an
        estimator around one, such as scikit-learn's `TunedThresholdClassifierCV`.
    X, y, sensitive_features, sample_weight
        As in its `fit`. The weights also count in the metric.
    target : float, default=0.8
        For the metrics by name a fraction: 0.8 for 80 %.
    metric : str or callable, default="p_rule"
        One of the functions of `renyi_lib.metrics`: "p_rule", which is to be at least `target`,
        or "demographic_parity_violation", "equal_opportunity_violation" or
        "equalized_odds_violation", which are to be at most `target`. Or a function
        ``metric(y_true, y_pred, sensitive_features=…)``, called with ``sample_weight=…`` too if
        there are weights.
    greater_is_better : bool, optional
        Whether a metric of your own is to be at least `target`, or at most.
    pos_label : label, optional
        The favourable class, for the metrics by name; by default that of the estimator or, of two
        classes, the last in sorted order.
    max_lam : float, default=1e4
        Where to give up.
    validation : tuple, optional
        ``(X, y, sensitive_features)`` to measure on, with weights as a fourth entry if need be;
        by default the data of the fit.
    confidence : float, optional
        From 0.75 to 0.995: how sure it is to be that the target is met by people like those of
        `validation`, who must not be those of the fit. For a metric by name, without weights.
    progress : bool, default=False
        Whether to show a progress bar (by tqdm); how many fits are to come is not known.

    Returns
    -------
    estimator
        Fitted; its ``lam`` is the answer.

    Raises
    ------
    TargetNotReachedError
        If no lam up to `max_lam` will do. The message says what was the best.

    Notes
    -----
    With `confidence`, lam is doubled from 0.1 on, until the target is met on the rows of the fit
    and nothing gets better any more. From the fairest of these lams on the way goes down, by
    factors of the square root of 2 and at last to 0. Each model is tested on the validation rows:
    the end of its one-sided interval (`fairness_interval`) is to meet the target. The first
    failure ends the search, and the last success is the answer. The rows of the fit decide the
    order of the tests and the validation rows decide nothing but their outcome; so, if the
    interval keeps its level, the chance that the answer misses the target is at most
    1 - confidence: it must have been the first unfair model in the order that passed its test.

    More validation rows make a promise possible, and a smaller lam enough, where fewer do not.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
    Calibrating predictive algorithms to achieve risk control", Annals of Applied Statistics 19
    (2025), 1641-1662, doi:10.1214/24-AOAS1998.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier, fit_to_target, p_rule
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=4000)
    >>> X = rng.normal(size=(4000, 2)) + s[:, None] * [1, 0]
    >>> y = (X.sum(axis=1) + rng.normal(size=4000) > 0.5).astype(int)
    >>> X, y, s, *new = X[:2000], y[:2000], s[:2000], X[2000:], y[2000:], s[2000:]
    >>> clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=0.8)
    >>> p_rule(None, clf.predict(X), sensitive_features=s) >= 0.8
    True

    The same, such that new people can rely on it:

    >>> sure = fit_to_target(
    ...     RenyiClassifier(), X, y, sensitive_features=s, validation=new, confidence=0.9
    ... )
    >>> bool(sure.lam > clf.lam)
    True

    Another threshold than one half, chosen anew for each lam:

    >>> import sklearn
    >>> from sklearn.model_selection import TunedThresholdClassifierCV
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     inner = RenyiClassifier(on="score").set_fit_request(sensitive_features=True)
    ...     tuned = TunedThresholdClassifierCV(inner, scoring="f1", thresholds=20, cv=2)
    ...     tuned = fit_to_target(tuned, X, y, sensitive_features=s, target=0.8)
    >>> p_rule(None, tuned.predict(X), sensitive_features=s) >= 0.8
    True
    """
    number(0, above=True)("max_lam", max_lam)
    either(None, _CONFIDENCE)("confidence", confidence)
    flag("progress", progress)
    measure, greater_is_better = _measure(metric, greater_is_better, pos_label)
    if not callable(metric) and not 0 <= target <= 1:
        raise ValueError(f"target must be a fraction from 0 to 1 (0.8 for 80 %), not {target!r}")
    rows = (X, y, sensitive_features, sample_weight)
    measured_on = rows if validation is None else read_validation(validation)
    if confidence is not None:
        if validation is None:
            raise ValueError(
                "confidence needs people whom the fit has not seen: give them as "
                "validation=(X, y, sensitive_features)"
            )
        bound = _bound(metric, pos_label, confidence, measured_on[3])
    fit, _ = _fits_by_lam(estimator, *rows)
    rows, measured_on = _labels_in_memory(rows), _labels_in_memory(measured_on)
    fit = _counted(fit) if progress else fit
    search = _Search(fit, target, greater_is_better, max_lam)
    if confidence is None:
        return search.first(lambda fitted: measure(fitted, *measured_on))
    return search.tested(
        lambda fitted: measure(fitted, *rows), lambda fitted: bound(fitted, *measured_on[:3])
    )


class _Search:
    """The smallest lam that will do, by two rules; `fit` is a function of lam."""

    def __init__(self, fit, target, greater_is_better, max_lam):
        self.fit, self.target, self.max_lam = fit, target, max_lam
        self.greater_is_better = greater_is_better

    def meets(self, value):
        return value >= self.target if self.greater_is_better else value <= self.target

    def better(self, value, other):
        return value > other if self.greater_is_better else value < other

    def first(self, measure):
        """The first lam, from 0 on, whose measured value meets the target."""
        tried = []

        def is_fair(lam):
            fitted = self.fit(lam)
            tried.append((measure(fitted), lam, fitted))
            return self.meets(tried[-1][0])

        low, high = 0.0, 0.0
        while not is_fair(high):
            low, high = high, 2 * high or _FIRST_LAM
            if high > self.max_lam:
                raise self._not_reached(*self._best(tried)[:2])
        fair = tried[-1][-1]
        low = max(low, 0.001)
        while high > 1.02 * low:
            middle = np.sqrt(low * high)
            if is_fair(middle):
                high, fair = middle, tried[-1][-1]
            else:
                low = middle
        return fair

    def tested(self, measure, bound):
        """The last success, from the fairest on the rows of the fit down to the first failure."""
        fitted, lam, tried, since_best = self.fit(0.0), 0.0, [], 0
        while True:
            value = measure(fitted)
            tried.append((value, lam, fitted))
            best, start, fairest = self._best(tried)
            since_best = 0 if lam == start else since_best + 1
            lam = 2 * lam or _FIRST_LAM
            if lam > self.max_lam or (since_best == _PATIENCE and self.meets(best)):
                break
            fitted = self.fit(lam)
        reached = bound(fairest)
        if not self.meets(reached):
            raise self._not_shown(reached, start)
        answer, lam = fairest, start
        while lam > 0:
            lam = lam / _STEP if lam > 1.01 * _FIRST_LAM else 0.0
            candidate = self.fit(lam)
            if not self.meets(bound(candidate)):
                break
            answer = candidate
        return answer

    def _best(self, tried):
        best = tried[0]
        for each in tried[1:]:
            best = each if self.better(each[0], best[0]) else best
        return best

    def _not_reached(self, best, lam):
        return TargetNotReachedError(
            f"the target {self.target} is not reached by any lam up to {self.max_lam:g}: the best "
            f"is {best:.4g}, at lam = {lam:.4g}. A larger max_lam may help; if "
            "the best is at a small lam, the thresholded label gets worse again beyond it, "
            "and another penalty may do better (on='score', see ScoreBinsPenalty); "
            "BiasScoreClassifier around this estimator goes on where lam has no more effect"
        )

    def _not_shown(self, reached, lam):
        side = "least" if self.greater_is_better else "most"
        return TargetNotReachedError(
            f"the target {self.target} cannot be promised with this confidence: of the model that "
            f"is fairest on the rows of the fit, at lam = {lam:.4g}, the validation rows show at "
            f"{side} {reached:.4g}. Hold back more rows, which narrows this down; more rows for "
            f"the fit, a larger max_lam or on='score' may help too. {_NOT_ON_THESE}"
        )


def _inner_has(name):
    """Whether the estimator within, fitted or not, has a method."""

    def has(self):
        inner = getattr(self, "estimator_", self.estimator)
        return inner is None or hasattr(inner, name)

    return has


class RenyiClassifierCV(MetaEstimatorMixin, Checked, ClassifierMixin, BaseEstimator):
    """A fair classifier whose lam is chosen by cross-validation, for a fairness target.

    For each lam, every person is decided about by a model that was fitted without her. Of the
    lams whose decisions meet the target the most accurate is fitted to all rows. The target is
    about decisions at the threshold one half; see `RenyiClassifier` for what ``on="score"`` adds.

    Parameters
    ----------
    estimator : estimator, default=None
        With a parameter `lam`, or a pipeline that ends in one. None is `RenyiClassifier`.
    lams : sequence of float, default=None
        The values to choose from. None is 0 and 21 values from 0.1 to about 100.
    target : float, default=0.8
        A fraction: 0.8 for 80 %.
    metric : str, default="p_rule"
        "p_rule", which is to be at least `target`, or "demographic_parity_violation",
        "equal_opportunity_violation" or "equalized_odds_violation", which are to be at most
        `target`.
    confidence : float, default=None
        From 0.75 to 0.995: that the target is met by new people is to be so sure. None asks for
        no more than that the estimate meets it.
    scoring : str, callable or None, default="accuracy"
        What decides between the lams that are fair enough, as in scikit-learn; None takes the
        smallest of them.
    pos_label : label, default=None
        The favourable class; by default that of the estimator or, of two classes, the last in
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
        person; ``"bound"``, with `confidence`, the end of its one-sided interval;
        ``"train_fairness"``, the mean over the parts of the metric on the rows of the fit;
        ``"score"``; ``"holds"``, whether lam is one of those to choose from.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had names of columns.

    Notes
    -----
    With `confidence` the lams are tested as in `fit_to_target`: from the fairest on the rows of
    the fits down to smaller ones, until one fails. There the guarantee is a theorem about one
    model; here it is less. The interval counts the decisions of `cv` models as those of one, and
    the model that is fitted to all rows at the end is none of them. The book's chapter "Use it
    on your data" measures how often the promise is kept. Who needs the theorem takes
    `fit_to_target`, with validation rows that are used for nothing else.

    Within another estimator the groups are handed on by metadata routing:
    ``RenyiClassifierCV().set_fit_request(sensitive_features=True)``.

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
        "target": number(0, 1),
        "metric": choice(*_METRICS),
        "confidence": either(None, _CONFIDENCE),
        "n_jobs": n_jobs_constraint,
        "progress": flag,
    }

    def __init__(
        self,
        estimator=None,
        *,
        lams=None,
        target=0.8,
        metric="p_rule",
        confidence=None,
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
        lams = np.sort(np.array(_LAMS if self.lams is None else list(self.lams), dtype=float))
        if not lams.size:
            raise ValueError("lams is empty: give at least one value to choose from")
        for lam in lams.tolist():
            number(0)("each of lams", lam)
        if self.confidence is not None and sample_weight is not None:
            raise ValueError(
                "confidence needs people who count once each: leave out sample_weight, or "
                "confidence"
            )
        known = {} if sample_weight is None else {"sample_weight": sample_weight}
        if sensitive_features is None:
            warnings.warn(
                "RenyiClassifierCV was fitted without sensitive_features: nothing is penalised, "
                "and lam is 0",
                NoSensitiveFeaturesWarning,
                stacklevel=2,
            )
            fitted = clone(estimator).set_params(**{_name_of_lam(estimator): 0.0})
            return self._store(0.0, fitted.fit(X, y, **known), {})
        results = self._cross_validate(estimator, lams, X, y, sensitive_features, sample_weight)
        lam = float(lams[self._choice(results)])
        fit, _ = _fits_by_lam(estimator, X, y, sensitive_features, sample_weight)
        return self._store(lam, fit(lam), results)

    def _store(self, lam, fitted, results):
        self.lam_, self.estimator_, self.cv_results_ = lam, fitted, results
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _cross_validate(self, estimator, lams, X, y, s, weight):
        """What `cv_results_` has, for each lam."""
        check_classification_targets(y)
        codes, _ = encode_labels(s, "sensitive_features")
        check_same_length(y=y, sensitive_features=codes)
        parts = self._parts(X, y, codes)
        scorer = None if self.scoring is None else check_scoring(estimator, self.scoring)
        todo = _with_bar(parts) if self.progress else parts
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_out_of_part)(
                estimator, lams, X, y, s, weight, part, scorer, self.metric, self.pos_label
            )
            for part in todo
        )
        rows = np.concatenate([test for _, test in parts])
        truth, group, weight = (_rows(values, rows) for values in (y, s, weight))
        label = found[0][0]
        decided = [np.concatenate(each) for each in zip(*(part[1] for part in found))]
        measure, _ = _METRICS[self.metric]
        known = {"sensitive_features": group, "pos_label": label}
        fairness = [measure(truth, each, sample_weight=weight, **known) for each in decided]
        results = {"lam": lams, "fairness": np.array(fairness)}
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
        results["holds"] = self._holds(results)
        return results

    def _parts(self, X, y, group_codes):
        """Pairs of rows to fit on and rows to decide about."""
        if not isinstance(self.cv, int) or isinstance(self.cv, bool):
            return list(check_cv(self.cv, y, classifier=True).split(X, y))
        whole(2)("cv", self.cv)
        y_codes, classes = encode_labels(y, "y")
        cells = np.unique(group_codes * len(classes) + y_codes, return_inverse=True)[1]
        return list(StratifiedKFold(self.cv).split(np.zeros(len(cells)), cells))

    def _holds(self, results):
        """Which lams may be chosen."""
        _, greater_is_better = _METRICS[self.metric]
        sign = 1 if greater_is_better else -1
        if self.confidence is None:
            return sign * results["fairness"] >= sign * self.target
        holds = sign * results["bound"] >= sign * self.target
        start = int(np.argmax(sign * results["train_fairness"]))
        order = np.arange(start, -1, -1)
        passed = order[np.logical_and.accumulate(holds[order])]
        return np.isin(np.arange(len(holds)), passed)

    def _choice(self, results):
        """The position of the best lam."""
        allowed = np.flatnonzero(results["holds"])
        if not allowed.size:
            sign = 1 if _METRICS[self.metric][1] else -1
            shown = "fairness" if self.confidence is None else "bound"
            best = int(np.argmax(sign * results[shown]))
            sure = "" if self.confidence is None else f" with a confidence of {self.confidence:g}"
            raise TargetNotReachedError(
                f"the target {self.target} is not reached by any of lams{sure}: the best {shown} "
                f"is {results[shown][best]:.4g}, at lam = {results['lam'][best]:.4g}. More rows, "
                "lams that go further up or an estimator with on='score' may help"
                + ("" if self.confidence is None else f". {_NOT_ON_THESE}")
            )
        return allowed[0 if self.scoring is None else results["score"][allowed].argmax()]

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


def _out_of_part(estimator, lams, X, y, s, weight, part, scorer, metric, pos_label):
    """The favourable label and, for each lam, decisions, fairness on the fit's rows, score."""
    rows = [[_rows(values, chosen) for values in (X, y, s, weight)] for chosen in part]
    fit, _ = _fits_by_lam(estimator, *rows[0])
    measure, _ = _measure(metric, None, pos_label)
    decided, fairness, scores = [], [], []
    for lam in lams.tolist():
        fitted = fit(lam)
        decided.append(_decided(fitted, rows[1][0], rows[1][2]))
        fairness.append(measure(fitted, *rows[0]))
        if scorer is not None:
            known = {} if weight is None else {"sample_weight": rows[1][3]}
            scores.append(scorer(fitted, rows[1][0], rows[1][1], **known))
    return _favorable(fitted, pos_label), decided, fairness, scores


def _rows(values, chosen):
    return None if values is None else _safe_indexing(values, chosen)


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
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ValueError(
            "estimator must be an estimator of scikit-learn's kind, with a parameter lam, such as "
            f"RenyiClassifier(), not {estimator!r}"
        )
    if hasattr(estimator, "_fits_by_lam"):
        return estimator._fits_by_lam(X, y, sensitive_features, sample_weight), False
    if isinstance(estimator, Pipeline):
        return _fits_of_pipeline(estimator, X, y, sensitive_features, sample_weight)
    name = _name_of_lam(estimator)
    known = {"sensitive_features": sensitive_features}
    if sample_weight is not None:
        known["sample_weight"] = sample_weight
    return lambda lam: clone(estimator).set_params(**{name: lam}).fit(X, y, **known), True


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


def _labels_in_memory(rows):
    """The same rows with the labels as arrays, where they are names of columns of files."""
    X, *names = rows
    return (X, *X.labels(*names)) if isinstance(X, ParquetRows) else rows


def _measure(metric, greater_is_better, pos_label):
    """A function of (fitted, X, y, sensitive_features, sample_weight), and which way is fair."""
    if callable(metric):
        if greater_is_better is None:
            raise ValueError("greater_is_better must be given for a metric of your own")

        def own(fitted, X, y, s, weight):
            known = {} if weight is None else {"sample_weight": weight}
            return metric(y, _decided(fitted, X, s), sensitive_features=s, **known)

        return own, greater_is_better
    if metric not in _METRICS:
        raise ValueError(
            f"metric must be a function or one of {', '.join(map(repr, _METRICS))}, not {metric!r}"
        )
    function, better = _METRICS[metric]

    def measured(fitted, X, y, s, weight):
        label = _favorable(fitted, pos_label)
        y_pred = _decided(fitted, X, s)
        return function(y, y_pred, sensitive_features=s, sample_weight=weight, pos_label=label)

    return measured, better


def _bound(metric, pos_label, confidence, weight):
    """The end of the one-sided interval that must meet the target, as a function of a model."""
    if callable(metric):
        raise ValueError(
            f"confidence needs a metric whose interval is known, one of "
            f"{', '.join(map(repr, _METRICS))}, not a function of your own"
        )
    if weight is not None:
        raise ValueError(
            "confidence needs people who count once each: weights do not tell how many "
            "independent people stand behind them. Leave out the weights of the rows to measure on"
        )

    def bound(fitted, X, y, s):
        return _interval_end(
            metric, y, _decided(fitted, X, s), s, _favorable(fitted, pos_label), confidence
        )

    return bound


def _interval_end(metric, y_true, y_pred, s, pos_label, confidence):
    found = fairness_interval(
        metric,
        y_true,
        y_pred,
        sensitive_features=s,
        pos_label=pos_label,
        # Each of the two ends fails with half of what the whole interval may.
        confidence_level=2 * confidence - 1,
        # The same people and decisions always get the same answer.
        random_state=0,
    )
    return found.low if _METRICS[metric][1] else found.high


def _decided(fitted, X, s):
    """The predicted labels; the groups are handed to an estimator that treats them apart."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    known = {"sensitive_features": s} if getattr(last, "use_sensitive_features", False) else {}
    return fitted.predict(X, **known)


def _favorable(fitted, pos_label):
    """The favourable label: as told, or the estimator's own, or the last of two."""
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
