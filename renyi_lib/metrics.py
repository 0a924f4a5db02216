"""How fairly a prediction treats the groups: the measures of the paper's experiments.

Every function here compares rates ``P(Ŷ=1 | ...)`` between the groups of `sensitive_features`. A
prediction may be hard or soft: `y_pred` holds the probability that Ŷ=1, and a hard label is a
probability of 0 or 1. Labels of any other kind need `pos_label`, the label that means Ŷ=1.

Several columns of `sensitive_features` are taken together: each combination that occurs is one
group. With one group there is nothing to compare, and every function reports perfect fairness.
"""

import numpy as np
import pandas as pd

from renyi_lib._validation import check_same_length, encode_labels, numeric_values

__all__ = [
    "demographic_parity_violation",
    "equal_opportunity_violation",
    "equalized_odds_violation",
    "group_rates",
    "p_rule",
]


def group_rates(y_pred, *, sensitive_features, pos_label=None):
    """Share of each group that is predicted positive, ``P(Ŷ=1 | S=s)``.

    Parameters
    ----------
    y_pred : array-like of shape (n,)
        Probabilities that Ŷ=1, or hard labels 0 and 1; with `pos_label`, labels of any kind.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Groups.
    pos_label : label, optional
        The label in `y_pred` that means Ŷ=1.

    Returns
    -------
    Series
        The rate of each group, indexed by group in sorted order.

    Examples
    --------
    >>> from renyi_lib.metrics import group_rates
    >>> group_rates([1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"]).to_dict()
    {'f': 0.5, 'm': 1.0}
    """
    positive, codes, groups = _compared(y_pred, sensitive_features, pos_label)
    index = pd.Index(groups, tupleize_cols=False, name="group")
    return pd.Series(_rates(positive, codes, groups), index=index, name="rate")


def p_rule(y_pred, *, sensitive_features, pos_label=None):
    """The p % rule: smallest ratio of the positive rates of two groups.

    For two groups this is the paper's p%, the smaller of ``P(Ŷ=1 | S=1) / P(Ŷ=1 | S=0)`` and its
    inverse, as a fraction. The paper defines it for two groups only; for more we take the minimum
    over pairs.

    Parameters
    ----------
    y_pred, sensitive_features, pos_label
        As in `group_rates`.

    Returns
    -------
    float
        Between 0 and 1, where 1 is fair: 0.8 is the "four fifths". It is 0 if some group but not
        every group has rate 0, and 1 if all have: then all rates are equal.

    Examples
    --------
    >>> from renyi_lib.metrics import p_rule
    >>> p_rule([1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
    0.5
    """
    rates = group_rates(y_pred, sensitive_features=sensitive_features, pos_label=pos_label)
    return float(rates.min() / rates.max()) if rates.max() > 0 else 1.0


def demographic_parity_violation(y_pred, *, sensitive_features, pos_label=None):
    """Largest difference of the positive rates of two groups.

    This is the paper's DP violation, the maximum over a and b of
    ``|P(Ŷ=1 | S=a) - P(Ŷ=1 | S=b)|``.

    Parameters
    ----------
    y_pred, sensitive_features, pos_label
        As in `group_rates`.

    Returns
    -------
    float
        Between 0 and 1, where 0 is fair.

    Examples
    --------
    >>> from renyi_lib.metrics import demographic_parity_violation
    >>> demographic_parity_violation([1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"])
    0.5
    """
    rates = group_rates(y_pred, sensitive_features=sensitive_features, pos_label=pos_label)
    return float(np.ptp(rates))


def equal_opportunity_violation(y_true, y_pred, *, sensitive_features, pos_label=None):
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
    return _gap_given(y_true, (1,), y_pred, sensitive_features, pos_label)


def equalized_odds_violation(y_true, y_pred, *, sensitive_features, pos_label=None):
    """Largest gap of positive rates given the true label, over both its values.

    The maximum over y, a and b of ``|P(Ŷ=1 | S=a, Y=y) - P(Ŷ=1 | S=b, Y=y)|``: zero if and only if
    Ŷ is independent of S given Y, which is the paper's condition of equalized odds.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, pos_label
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
    return _gap_given(y_true, (0, 1), y_pred, sensitive_features, pos_label)


def _gap_given(y_true, values, y_pred, sensitive_features, pos_label):
    """Largest gap of the groups' rates among the samples with Y=y, over the given values y."""
    truth = _probabilities(y_true, "y_true", pos_label)
    if not np.isin(truth, (0, 1)).all():
        raise ValueError("y_true must hold labels 0 and 1, not probabilities")
    positive, codes, groups = _compared(y_pred, sensitive_features, pos_label)
    check_same_length(y_true=truth, y_pred=positive)
    gaps = []
    for y in values:
        among = truth == y
        gaps.append(np.ptp(_rates(positive[among], codes[among], groups, f"y_true = {y}")))
    return float(max(gaps))


def _compared(y_pred, sensitive_features, pos_label):
    """P(Ŷ=1) and the group of each sample, and the groups."""
    positive = _probabilities(y_pred, "y_pred", pos_label)
    codes, groups = encode_labels(sensitive_features, "sensitive_features")
    check_same_length(y_pred=positive, sensitive_features=codes)
    return positive, codes, groups


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


def _rates(positive, codes, groups, condition="a label"):
    """Mean of the probabilities by group, each of which must have a sample."""
    size = np.bincount(codes, minlength=len(groups))
    if not size.all():
        raise ValueError(
            f"no sample of the group {groups[size.argmin()]} in sensitive_features has "
            f"{condition}, so that its rate is undefined: merge it with another or drop it"
        )
    return np.bincount(codes, weights=positive, minlength=len(groups)) / size
