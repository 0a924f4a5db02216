"""Fairness metrics as named scikit-learn scorers.

A scorer is called with an estimator. If metadata routing is enabled, `cross_validate` and
`GridSearchCV` pass the groups to it. As for every scikit-learn scorer, greater is better, so
differences and Rényi correlations are returned with a minus sign, under names that begin with
"neg".
"""

from typing import Any, cast

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from renyi_lib._parameters import choice
from renyi_lib.correlation import renyi_correlation
from renyi_lib.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
)

__all__ = ["SCORERS", "fairness_scorer", "renyi_dependence"]


def renyi_dependence(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    kind: str | tuple[str, str] = "auto",
) -> float:
    """Compute the Rényi correlation of a prediction and the groups, with a metric's signature.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Ignored except for its length.
    y_pred : array-like of shape (n,)
        Labels of any number of classes, or scores, which are treated as a continuous variable (see
        `renyi_correlation`). Zero means that scores are fair at every threshold, or that labels
        are fair at the one threshold that produced them.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each sample; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    kind : {"auto", "discrete", "continuous"} or a pair of these, default="auto"
        Types of the prediction and of the groups, as in `renyi_correlation`. Scores that are all
        whole numbers, such as points, need ``("continuous", "discrete")``; otherwise each value
        counts as a label, with a warning if the result could be due to chance.

    Returns
    -------
    float
        Correlation between 0 and 1, where 0 is fair.

    See Also
    --------
    renyi_lib.renyi_correlation : Compute the correlation of any two variables.
    renyi_lib.fairness_scorer : Make a scorer for `cross_validate` and `GridSearchCV`.

    Examples
    --------
    >>> from renyi_lib.scorers import renyi_dependence
    >>> round(renyi_dependence(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"]), 3)
    0.577
    """
    if np.ndim(y_pred) != 1:
        raise ValueError(
            "y_pred must be one label or one score for each sample, but it has shape "
            f"{np.shape(y_pred)}: if it has the scores of several classes, choose one column"
        )
    if y_true is not None and np.shape(y_true)[0] != np.shape(y_pred)[0]:
        raise ValueError(
            "all arguments must have the same number of samples, but y_true has "
            f"{np.shape(y_true)[0]} and y_pred has {np.shape(y_pred)[0]}"
        )
    rho = renyi_correlation(y_pred, sensitive_features, sample_weight=sample_weight, kind=kind)
    return cast("float", rho)


def _score_dependence(y_true, y_score, *, sensitive_features, sample_weight=None):
    """Compute `renyi_dependence` of scores, corrected for chance even if all are whole numbers.

    The scores of a fully grown tree are 0 and 1. If they counted as labels, the tree would look
    less fair than a logistic regression even if the scores of both were independent of the group.
    """
    return renyi_dependence(
        y_true,
        y_score,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        kind=("continuous", "discrete"),
    )


# Each metric, whether greater is better, and the estimator's method whose output it measures.
# "predict_proba" stands for scores, for which `decision_function` is used if it is available.
SCORERS = {
    "demographic_parity_ratio": (demographic_parity_ratio, True, "predict"),
    "neg_demographic_parity_difference": (demographic_parity_difference, False, "predict"),
    "neg_equal_opportunity_difference": (equal_opportunity_difference, False, "predict"),
    "neg_equalized_odds_difference": (equalized_odds_difference, False, "predict"),
    "neg_renyi_decision": (renyi_dependence, False, "predict"),
    "neg_renyi_score": (_score_dependence, False, "predict_proba"),
}


def fairness_scorer(name: str, *, pos_label: Any = None):
    """Make a scorer from a fairness metric, for `cross_validate`, `GridSearchCV` and other tools.

    Parameters
    ----------
    name : str
        Name of the scorer: "demographic_parity_ratio"; "neg_demographic_parity_difference",
        "neg_equal_opportunity_difference" or "neg_equalized_odds_difference", which are
        differences with a minus sign; or "neg_renyi_decision" or "neg_renyi_score", which are
        minus the Rényi correlation of the groups with the predicted labels or with the scores (of
        the second of two classes).
    pos_label : label, optional
        Favorable label, if labels are not 0 and 1. The Rényi correlations ignore it.

    Returns
    -------
    scorer
        Function ``scorer(estimator, X, y, sensitive_features=…, sample_weight=…)``. It requests
        groups and weights by metadata routing, which must be enabled with
        ``sklearn.set_config(enable_metadata_routing=True)``.

    See Also
    --------
    renyi_lib.group_rates : Compute the rates that the metrics compare.
    RenyiClassifierCV : Choose lam for a fairness target.

    Examples
    --------
    >>> import numpy as np
    >>> import sklearn
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from renyi_lib import fairness_scorer
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_validate(
    ...         LogisticRegression(),
    ...         X,
    ...         y,
    ...         scoring={
    ...             "accuracy": "accuracy",
    ...             "fair": fairness_scorer("demographic_parity_ratio"),
    ...         },
    ...         params={"sensitive_features": s},
    ...     )
    >>> bool(np.all(scores["test_fair"] < 0.8))
    True
    """
    choice(*SCORERS)("name", name)
    if not sklearn.get_config()["enable_metadata_routing"]:
        raise ValueError(
            "fairness scorers get the groups by scikit-learn's metadata routing, which is "
            "disabled: call sklearn.set_config(enable_metadata_routing=True) first"
        )
    measure, greater_is_better, response = SCORERS[name]
    options = {}
    if pos_label is not None and not name.startswith("neg_renyi"):
        options["pos_label"] = pos_label
    # For two classes scikit-learn passes the scores of one class; for more it would pass a table.
    scores = ("decision_function", "predict_proba")
    methods = scores if response == "predict_proba" else response
    scorer = make_scorer(
        measure, response_method=methods, greater_is_better=greater_is_better, **options
    )
    return scorer.set_score_request(sensitive_features=True, sample_weight=True)
