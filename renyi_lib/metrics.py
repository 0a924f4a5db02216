"""Group fairness metrics, as used in the paper's experiments.

Every function here computes rates ``P(Ŷ=1 | ...)`` of the groups of `sensitive_features`, and all
but `group_rates` compare them. Predictions may be hard or soft. `y_pred` contains the probability
that Ŷ=1, so a hard label is a probability of 0 or 1. Other labels require `pos_label`, the label
that is treated as Ŷ=1.

All functions are called like scikit-learn's metrics, as
``metric(y_true, y_pred, *, sensitive_features, sample_weight=None, pos_label=None)``. Metrics that
depend only on the predictions accept None as `y_true`.

The functions that compare groups have the names of fairlearn's metrics and share the arguments
`y_true`, `y_pred`, `sensitive_features` and `sample_weight` with them. In addition, they have
`pos_label`. They lack fairlearn's arguments `method` and (of `equalized_odds_difference`) `agg`,
and compute what fairlearn computes with the defaults ``method="between_groups"`` and
``agg="worst_case"``. For labels 0 and 1 the values agree, except where a rate or a ratio is
undefined. Here, a group without a required true label raises an error, and the ratio is 1 if no
sample is selected.

Several columns of `sensitive_features` define joint groups, one for each combination that occurs.
A function that compares groups raises an error if there is only one group. Rows are matched by
position, as in scikit-learn. Masked arrays raise an error, as do pandas objects whose indices
contain the same labels in another order.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from renyi_lib._dispatch import is_dask
from renyi_lib._rows import read_rows
from renyi_lib._validation import (
    as_probabilities,
    check_alignment,
)

__all__ = [
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "group_rates",
]


def group_rates(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> pd.Series:
    """Compute the share of each group that is predicted positive, ``P(Ŷ=1 | S=s)``.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Ignored except for its length, because the rates depend only on decisions. It comes first
        as in scikit-learn's metrics.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any type.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each sample; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    pos_label : label, optional
        Label in `y_pred` that is treated as 1.

    Returns
    -------
    Series
        Rate of each group, indexed by group in sorted order (a categorical keeps its own order).

    See Also
    --------
    demographic_parity_ratio : Compute the smallest ratio of two groups' rates.
    fairness_report : Report rates with intervals, and compare many thresholds.

    Examples
    --------
    >>> from renyi_lib.metrics import group_rates
    >>> group_rates(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"]).to_dict()
    {'f': 0.5, 'm': 1.0}
    """
    samples = _read(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    groups = samples.categories
    index = pd.Index(groups, tupleize_cols=False, name="group")
    return pd.Series(_rates(samples), index=index, name="rate")


def demographic_parity_ratio(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the p% ratio, which is the smallest ratio of the positive rates of two groups.

    For two groups this is the paper's p%, the smaller of ``P(Ŷ=1 | S=1) / P(Ŷ=1 | S=0)`` and its
    inverse, as a fraction. The paper defines it for two groups only; for more groups, it is the
    minimum over pairs.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Ignored except for its length. It comes first so that the metric can be passed to
        scikit-learn's `make_scorer` or fairlearn's `MetricFrame`.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any type.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each sample; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    pos_label : label, optional
        Label in `y_pred` that is treated as 1.

    Returns
    -------
    float
        Ratio between 0 and 1, where 1 is fair; 0.8 is the "four fifths" of US law. The ratio is 0
        if some groups, but not all, have rate 0. It is 1 if no sample is selected, because all
        rates are then equal; by default, `fit_to_target` does not accept such a model.

    See Also
    --------
    demographic_parity_difference : Compute the largest difference instead of the smallest ratio.
    fairness_interval : Compute a confidence interval.

    Examples
    --------
    >>> from renyi_lib.metrics import demographic_parity_ratio
    >>> demographic_parity_ratio(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
    0.5
    """
    rates = _compared(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return float(rates.min() / rates.max()) if rates.max() > 0 else 1.0


def demographic_parity_difference(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the largest difference between the positive rates of two groups.

    This is the paper's DP violation, the maximum over a and b of
    ``|P(Ŷ=1 | S=a) - P(Ŷ=1 | S=b)|``.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Ignored except for its length. It comes first so that the metric can be passed to
        scikit-learn's `make_scorer` or fairlearn's `MetricFrame`.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any type.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each sample; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    pos_label : label, optional
        Label in `y_pred` that is treated as 1.

    Returns
    -------
    float
        Difference between 0 and 1, where 0 is fair.

    See Also
    --------
    demographic_parity_ratio : Compute the smallest ratio instead of the largest difference.
    fairness_interval : Compute a confidence interval.

    Examples
    --------
    >>> from renyi_lib.metrics import demographic_parity_difference
    >>> demographic_parity_difference(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
    0.5
    """
    return float(np.ptp(_compared(y_true, y_pred, sensitive_features, sample_weight, pos_label)))


def equal_opportunity_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the largest difference between the true positive rates of two groups.

    For two groups this is the paper's EO violation, ``|P(Ŷ=1 | S=1, Y=1) - P(Ŷ=1 | S=0, Y=1)|``;
    for more groups, it is the maximum over pairs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, 0 or 1; with `pos_label`, labels of any type.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any type.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each sample. Every group must have samples with Y=1.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    pos_label : label, optional
        Label in `y_true` and `y_pred` that is treated as 1.

    Returns
    -------
    float
        Difference between 0 and 1, where 0 is fair.

    See Also
    --------
    equalized_odds_difference : Compare false positive rates as well.
    fairness_interval : Compute a confidence interval.

    Examples
    --------
    >>> from renyi_lib.metrics import equal_opportunity_difference
    >>> equal_opportunity_difference(
    ...     [1, 1, 1, 1, 0], [1, 0, 1, 1, 0], sensitive_features=["f", "f", "m", "m", "m"]
    ... )
    0.5
    """
    return _gap_given((1,), y_true, y_pred, sensitive_features, sample_weight, pos_label)


def equalized_odds_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the largest difference between the true or false positive rates of two groups.

    This is the maximum over y, a and b of ``|P(Ŷ=1 | S=a, Y=y) - P(Ŷ=1 | S=b, Y=y)|``. It is zero
    if and only if Ŷ is independent of S given Y, which is the paper's condition of equalized odds.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, 0 or 1; with `pos_label`, labels of any type.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any type.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each sample. Every group must have samples with Y=0 and with Y=1.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    pos_label : label, optional
        Label in `y_true` and `y_pred` that is treated as 1.

    Returns
    -------
    float
        Difference between 0 and 1, where 0 is fair.

    See Also
    --------
    equal_opportunity_difference : Compare true positive rates only.
    fairness_interval : Compute a confidence interval.

    Examples
    --------
    >>> from renyi_lib.metrics import equalized_odds_difference
    >>> equalized_odds_difference(
    ...     [1, 1, 0, 0], [1, 0, 1, 0], sensitive_features=["f", "m", "f", "m"]
    ... )
    1.0
    """
    return _gap_given((0, 1), y_true, y_pred, sensitive_features, sample_weight, pos_label)


def _gap_given(values, y_true, y_pred, sensitive_features, sample_weight, pos_label):
    """Compute the largest difference of the groups' rates given Y=y, over all y in `values`."""
    samples = _read(
        y_true, y_pred, sensitive_features, sample_weight, pos_label, by_truth=True, compared=True
    )
    return float(
        max(np.ptp(_rates(samples.some(samples.y == y), f"y_true = {y}")) for y in values)
    )


def _compared(y_true, y_pred, sensitive_features, sample_weight, pos_label):
    """Compute the rate of each group; raise an error if there is only one group."""
    return _rates(
        _read(y_true, y_pred, sensitive_features, sample_weight, pos_label, compared=True)
    )


def _read(
    y_true, y_pred, sensitive_features, sample_weight, pos_label, *, by_truth=False, compared=False
):
    """Validate the samples for a metric, given as arrays or Dask collections.

    If `by_truth` is False, only the length of y_true is checked. If `compared` is True, there must
    be at least two groups, and not a separate group for each sample.
    """
    n_samples = None
    if is_dask(y_true, y_pred, sensitive_features, sample_weight):
        from renyi_lib._collapse import decided_alike

        alike = decided_alike(
            y_true if by_truth else None, y_pred, sensitive_features, sample_weight, pos_label
        )
        y_true, y_pred, sensitive_features, sample_weight, n_samples = alike
    check_alignment(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    truth = None
    if by_truth:
        truth = as_probabilities(y_true, "y_true", pos_label)
        if len(soft := truth[~np.isin(truth, (0, 1))]):
            raise ValueError(
                "y_true must contain labels 0 and 1, not probabilities such as "
                f"{soft[0]:g}: pass the true labels"
            )
    positive = as_probabilities(y_pred, "y_pred", pos_label)
    lengths = {"y_pred": positive}
    if y_true is not None:
        lengths = {"y_true": truth if by_truth else y_true, **lengths}
    return read_rows(
        positive,
        truth,
        sensitive_features,
        sample_weight,
        lengths=lengths,
        compared=compared,
        n_samples=n_samples,
    )


def _rates(samples, condition="a label"):
    """Compute the mean probability of each group; raise an error if a group has no sample."""
    positive, codes, groups, weight = samples.X, samples.codes, samples.categories, samples.weight
    if weight is not None:
        positive = positive * weight
    size = np.bincount(codes, weight, minlength=len(groups))
    if not size.all():
        raise ValueError(
            f"no sample of group {groups[size.argmin()]} in sensitive_features has "
            f"{condition}, so the rate of this group is undefined: merge the group with another "
            "one, or drop it"
        )
    return np.bincount(codes, weights=positive, minlength=len(groups)) / size
