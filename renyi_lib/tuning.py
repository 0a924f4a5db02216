"""Choosing lam: many values at once, or the smallest one that is as fair as asked for.

Both work for any estimator with a parameter `lam`, also within a pipeline. Estimators of this
library are fitted along a path, the data checked and counted once and each fit started from the
one before; any other is cloned and fitted for each lam.
"""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from renyi_lib._optional import missing
from renyi_lib._parameters import number
from renyi_lib.metrics import (
    demographic_parity_violation,
    equal_opportunity_violation,
    equalized_odds_violation,
    p_rule,
)

__all__ = ["TargetNotReachedError", "fit_to_target", "lam_path"]

# The metric, and whether more of it is better.
_METRICS = {
    "p_rule": (p_rule, True),
    "demographic_parity_violation": (demographic_parity_violation, False),
    "equal_opportunity_violation": (equal_opportunity_violation, False),
    "equalized_odds_violation": (equalized_odds_violation, False),
}


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
    progress: bool = False,
) -> list:
    """An estimator fitted for many values of lam, each from the solution of the one before.

    Parameters
    ----------
    estimator : estimator
        With a parameter `lam`, such as `RenyiClassifier`, `PenalizedClassifier` or `RenyiKMeans`,
        or a pipeline that ends in one. It stays as it is.
    X, y, sensitive_features, sample_weight
        As in its `fit`; a clustering has no y.
    lams : sequence of float
        In any order; the fits go from the smallest to the largest.
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
    fit = _fits_by_lam(estimator, X, y, sensitive_features, sample_weight)
    path = {i: fit(lams[i]) for i in (_with_bar(order) if progress else order)}
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
    sample_weight: ArrayLike | None = None,
):
    """The classifier with the smallest lam that is as fair as asked for.

    lam is raised from 0 until the target is met, and then narrowed down by bisection to 2 % (or
    0.001). The fairness of a thresholded label may fall again at large lam; the search goes up
    from 0, so that it finds the first lam that will do.

    Parameters
    ----------
    estimator : estimator
        With a parameter `lam`, such as `RenyiClassifier`, or a pipeline that ends in one.
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

    Returns
    -------
    estimator
        Fitted; its ``lam`` is the answer.

    Raises
    ------
    TargetNotReachedError
        If no lam up to `max_lam` will do. The message says what was the best.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier, fit_to_target, p_rule
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=2000)
    >>> X = rng.normal(size=(2000, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=2000) > 0.5).astype(int)
    >>> clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=0.8)
    >>> p_rule(None, clf.predict(X), sensitive_features=s) >= 0.8
    True
    """
    number(0, above=True)("max_lam", max_lam)
    measure, greater_is_better = _measure(metric, greater_is_better, pos_label)
    if not callable(metric) and not 0 <= target <= 1:
        raise ValueError(f"target must be a fraction from 0 to 1 (0.8 for 80 %), not {target!r}")
    measured_on = (X, y, sensitive_features, sample_weight)
    if validation is not None:
        measured_on = _validation_data(validation)
    fit = _fits_by_lam(estimator, X, y, sensitive_features, sample_weight)
    tried = []

    def is_fair(lam):
        fitted = fit(lam)
        value = measure(fitted, *measured_on)
        tried.append((value, lam, fitted))
        return value >= target if greater_is_better else value <= target

    low, high = 0.0, 0.0
    while not is_fair(high):
        low, high = high, 2 * high or 0.1
        if high > max_lam:
            choose = max if greater_is_better else min
            best, lam, _ = choose(tried, key=lambda each: each[0])
            raise TargetNotReachedError(
                f"the target {target} is not reached by any lam up to {max_lam:g}: the best is "
                f"{best:.4g}, at lam = {lam:.4g}. A larger max_lam may help; if "
                "the best is at a small lam, the thresholded label gets worse again beyond it, "
                "and another penalty may do better (see ScoreBinsPenalty)"
            )
    fair = tried[-1][-1]
    low = max(low, 0.001)
    while high > 1.02 * low:
        middle = np.sqrt(low * high)
        if is_fair(middle):
            high, fair = middle, tried[-1][-1]
        else:
            low = middle
    return fair


def _with_bar(items):
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise missing("tqdm", "progress=True", "progress") from error
    return tqdm(items, desc="lam")


def _fits_by_lam(estimator, X, y, sensitive_features, sample_weight):
    """A function from lam to the estimator fitted with it."""
    if hasattr(estimator, "_fits_by_lam"):
        return estimator._fits_by_lam(X, y, sensitive_features, sample_weight)
    if isinstance(estimator, Pipeline):
        return _fits_of_pipeline(estimator, X, y, sensitive_features, sample_weight)
    name = _name_of_lam(estimator)
    known = {"sensitive_features": sensitive_features}
    if sample_weight is not None:
        known["sample_weight"] = sample_weight
    return lambda lam: clone(estimator).set_params(**{name: lam}).fit(X, y, **known)


def _fits_of_pipeline(pipeline, X, y, sensitive_features, sample_weight):
    """The same for a pipeline, whose transformers know nothing of lam and are fitted once."""
    *steps, (name, last) = clone(pipeline).steps
    if steps:
        transformers = Pipeline(steps)
        X = transformers.fit_transform(X, y)
        steps = transformers.steps
    fit_last = _fits_by_lam(last, X, y, sensitive_features, sample_weight)

    def fit(lam):
        fitted = copy.copy(pipeline)
        fitted.steps = [*steps, (name, fit_last(lam))]
        return fitted

    return fit


def _name_of_lam(estimator):
    """The parameter to set: lam, or that of an estimator inside this one."""
    names = [name for name in estimator.get_params() if name == "lam" or name.endswith("__lam")]
    if len(names) != 1:
        found = f"these: {', '.join(names)}" if names else "none"
        raise ValueError(
            f"estimator must have one parameter lam, but {type(estimator).__name__} has {found}"
        )
    return names[0]


def _measure(metric, greater_is_better, pos_label):
    """A function of (fitted, X, y, sensitive_features, sample_weight), and which way is fair."""
    if callable(metric):
        if greater_is_better is None:
            raise ValueError("greater_is_better must be given for a metric of your own")

        def own(fitted, X, y, s, weight):
            known = {} if weight is None else {"sample_weight": weight}
            return metric(y, fitted.predict(X), sensitive_features=s, **known)

        return own, greater_is_better
    if metric not in _METRICS:
        raise ValueError(
            f"metric must be a function or one of {', '.join(map(repr, _METRICS))}, not {metric!r}"
        )
    function, better = _METRICS[metric]

    def measured(fitted, X, y, s, weight):
        label = _favorable(fitted, pos_label)
        y_pred = fitted.predict(X)
        return function(y, y_pred, sensitive_features=s, sample_weight=weight, pos_label=label)

    return measured, better


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


def _validation_data(validation):
    """X, y, sensitive_features and sample_weight (or None)."""
    if not isinstance(validation, tuple | list) or len(validation) not in (3, 4):
        size = f" with {len(validation)}" if isinstance(validation, tuple | list) else ""
        raise ValueError(
            "validation must be (X, y, sensitive_features), or these and sample_weight, "
            f"not a {type(validation).__name__}{size}"
        )
    return (*validation, None)[:4]
