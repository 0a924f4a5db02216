"""How fairly a prediction treats the groups: the measures of the paper's experiments.

Every function here compares rates ``P(Ŷ=1 | ...)`` between the groups of `sensitive_features`. A
prediction may be hard or soft: `y_pred` holds the probability that Ŷ=1, and a hard label is a
probability of 0 or 1. Labels of any other kind need `pos_label`, the label that means Ŷ=1.

All have the shape ``measure(y_true, y_pred, *, sensitive_features, sample_weight)`` of
scikit-learn and fairlearn. Measures that look at the predictions alone accept None for the truth.

Several columns of `sensitive_features` are taken together: each combination that occurs is one
group. A function that compares groups refuses a single one: there is nothing to compare.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from renyi_lib._dispatch import takes_dask
from renyi_lib._validation import (
    check_same_length,
    check_several_groups,
    encode_labels,
    numeric_values,
    sample_weights,
    without_unused,
)

__all__ = [
    "demographic_parity_violation",
    "equal_opportunity_violation",
    "equalized_odds_violation",
    "group_rates",
    "p_rule",
]


@takes_dask
def group_rates(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> pd.Series:
    """Share of each group that is predicted positive, ``P(Ŷ=1 | S=s)``.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Not looked at, but for its length: a rate of decisions needs no truth. It stands first so
        that every measure can be handed to `make_scorer` or `MetricFrame`.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any kind.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Groups.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.
    pos_label : label, optional
        The label in `y_pred` that means Ŷ=1.

    Returns
    -------
    Series
        The rate of each group, indexed by group in sorted order.

    Examples
    --------
    >>> from renyi_lib.metrics import group_rates
    >>> group_rates(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"]).to_dict()
    {'f': 0.5, 'm': 1.0}
    """
    positive, codes, groups, weight, _ = _read(
        y_pred, sensitive_features, sample_weight, pos_label, _of_any_kind(y_true)
    )
    index = pd.Index(groups, tupleize_cols=False, name="group")
    return pd.Series(_rates(positive, codes, groups, weight), index=index, name="rate")


@takes_dask
def p_rule(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The p % rule: smallest ratio of the positive rates of two groups.

    For two groups this is the paper's p%, the smaller of ``P(Ŷ=1 | S=1) / P(Ŷ=1 | S=0)`` and its
    inverse, as a fraction. The paper defines it for two groups only; for more we take the minimum
    over pairs.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `group_rates`.

    Returns
    -------
    float
        Between 0 and 1, where 1 is fair: 0.8 is the "four fifths". It is 0 if some group but not
        every group has rate 0, and 1 if all have: then all rates are equal.

    Examples
    --------
    >>> from renyi_lib.metrics import p_rule
    >>> p_rule(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
    0.5
    """
    rates = _compared(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return float(rates.min() / rates.max()) if rates.max() > 0 else 1.0


@takes_dask
def demographic_parity_violation(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Largest difference of the positive rates of two groups.

    This is the paper's DP violation, the maximum over a and b of
    ``|P(Ŷ=1 | S=a) - P(Ŷ=1 | S=b)|``.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `group_rates`.

    Returns
    -------
    float
        Between 0 and 1, where 0 is fair.

    Examples
    --------
    >>> from renyi_lib.metrics import demographic_parity_violation
    >>> demographic_parity_violation(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
    0.5
    """
    return float(np.ptp(_compared(y_true, y_pred, sensitive_features, sample_weight, pos_label)))


@takes_dask
def equal_opportunity_violation(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Largest difference of the true positive rates of two groups.

    For two groups this is the paper's EO violation, ``|P(Ŷ=1 | S=1, Y=1) - P(Ŷ=1 | S=0, Y=1)|``;
    for more we take the maximum over pairs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, 0 and 1; with `pos_label`, of any kind.
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any kind.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Groups. Each must have a sample with Y=1, or its rate is undefined: a `ValueError`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.
    pos_label : label, optional
        The label in `y_true` and `y_pred` that means 1.

    Returns
    -------
    float
        Between 0 and 1, where 0 is fair.

    Examples
    --------
    >>> from renyi_lib.metrics import equal_opportunity_violation
    >>> equal_opportunity_violation(
    ...     [1, 1, 1, 1, 0], [1, 0, 1, 1, 0], sensitive_features=["f", "f", "m", "m", "m"]
    ... )
    0.5
    """
    return _gap_given((1,), y_true, y_pred, sensitive_features, sample_weight, pos_label)


@takes_dask
def equalized_odds_violation(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Largest gap of positive rates given the true label, over both its values.

    The maximum over y, a and b of ``|P(Ŷ=1 | S=a, Y=y) - P(Ŷ=1 | S=b, Y=y)|``: zero if and only if
    Ŷ is independent of S given Y, which is the paper's condition of equalized odds.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `equal_opportunity_violation`; here each group needs samples with Y=0 and with Y=1.

    Returns
    -------
    float
        Between 0 and 1, where 0 is fair.

    Examples
    --------
    >>> from renyi_lib.metrics import equalized_odds_violation
    >>> equalized_odds_violation(
    ...     [1, 1, 0, 0], [1, 0, 1, 0], sensitive_features=["f", "m", "f", "m"]
    ... )
    1.0
    """
    return _gap_given((0, 1), y_true, y_pred, sensitive_features, sample_weight, pos_label)


def _gap_given(values, y_true, y_pred, sensitive_features, sample_weight, pos_label):
    """Largest gap of the groups' rates among the samples with Y=y, over the given values y."""
    truth = _probabilities(y_true, "y_true", pos_label)
    if not np.isin(truth, (0, 1)).all():
        raise ValueError("y_true must hold labels 0 and 1, not probabilities")
    positive, codes, groups, weight, truth = _read(
        y_pred, sensitive_features, sample_weight, pos_label, truth
    )
    check_several_groups(groups, len(codes))
    gaps = []
    for y in values:
        among = truth == y
        kept = None if weight is None else weight[among]
        rates = _rates(positive[among], codes[among], groups, kept, f"y_true = {y}")
        gaps.append(np.ptp(rates))
    return float(max(gaps))


def _compared(y_true, y_pred, sensitive_features, sample_weight, pos_label):
    """The rates of two groups or more."""
    positive, codes, groups, weight, _ = _read(
        y_pred, sensitive_features, sample_weight, pos_label, _of_any_kind(y_true)
    )
    check_several_groups(groups, len(codes))
    return _rates(positive, codes, groups, weight)


def _of_any_kind(y_true):
    """A truth that only its length matters of; None for none."""
    return None if y_true is None else np.zeros(len(y_true))


def _read(y_pred, sensitive_features, sample_weight, pos_label, truth):
    """P(Ŷ=1) and the group of each sample, the groups, the weights or None, and the truth.

    Whoever has no weight is not there, and neither is a group of such.
    """
    positive = _probabilities(y_pred, "y_pred", pos_label)
    codes, groups = encode_labels(sensitive_features, "sensitive_features")
    truth = np.zeros(len(positive)) if truth is None else truth
    arrays = {"y_true": truth, "y_pred": positive, "sensitive_features": codes}
    if sample_weight is None:
        check_same_length(**arrays)
        return positive, codes, groups, None, truth
    weight = sample_weights(sample_weight)
    check_same_length(**arrays, sample_weight=weight)
    kept = weight > 0
    codes, groups = without_unused(codes[kept], groups)
    return positive[kept], codes, groups, weight[kept], truth[kept]


def _probabilities(labels, name, pos_label):
    """The labels as probabilities of the label 1."""
    if pos_label is None:
        values = numeric_values(labels, name)
        if values.min() < 0 or values.max() > 1:
            raise ValueError(
                f"{name} must hold labels 0 and 1, or probabilities: "
                "for other labels give pos_label, the one that means 1"
            )
        return values
    codes, categories = encode_labels(labels, name)
    matches = np.array([label == pos_label for label in categories])
    # A constant prediction may lack the positive label; two others are rather a slip of the pen.
    if len(categories) > 1 and not matches.any():
        raise ValueError(f"{name} has no label equal to pos_label={pos_label!r}")
    return matches[codes].astype(float)


def _rates(positive, codes, groups, weight, condition="a label"):
    """Mean of the probabilities by group, each of which must have a sample."""
    if weight is not None:
        positive = positive * weight
    size = np.bincount(codes, weight, minlength=len(groups))
    if not size.all():
        raise ValueError(
            f"no sample of the group {groups[size.argmin()]} in sensitive_features has "
            f"{condition}, so that its rate is undefined: merge it with another or drop it"
        )
    return np.bincount(codes, weights=positive, minlength=len(groups)) / size
