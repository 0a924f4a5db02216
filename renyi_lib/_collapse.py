"""Rows of Dask collections that are alike, taken as one row with the weight of them all.

Measures of fairness depend on how many rows have the same label, decision and group. So the rows
in memory are as few as the cells of that table, however many there were.
"""

from typing import Any, NamedTuple

import numpy as np

from renyi_lib._counting import LabelCounts
from renyi_lib._validation import (
    as_probabilities,
    check_same_length,
    numeric_values,
    sample_weights,
)
from renyi_lib.sources import DaskSource, add_up

__all__ = ["Alike", "decided_alike", "scored_alike"]

# Scores are counted in a table of at most this many cells (32 megabytes).
MAX_SCORES = 2**22


class Alike(NamedTuple):
    """Unique rows, each of which represents all rows identical to it.

    Attributes
    ----------
    y_true, y_pred, sensitive_features : ndarray of shape (m,)
        `y_true` may be None.
    sample_weight : ndarray of shape (m,)
        How many rows each stands for, or the sum of their weights.
    n_rows : int
        How many rows there were.
    """

    y_true: np.ndarray | None
    y_pred: np.ndarray
    sensitive_features: np.ndarray
    sample_weight: np.ndarray
    n_rows: int


def decided_alike(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, pos_label: Any
) -> Alike:
    """Rows of the same truth, decision and group.

    A probability p is a decision 1 of weight p and a decision 0 of weight 1 - p, so that every
    rate stays what it was.
    """
    source = DaskSource(
        kind=dict,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    return _as_rows(source.total(_count_decisions, pos_label))


def scored_alike(y_true: Any, y_score: Any, sensitive_features: Any) -> Alike:
    """Rows of the same truth, score and group; the scores are in `y_pred`."""
    source = DaskSource(
        kind=dict, y_true=y_true, y_pred=y_score, sensitive_features=sensitive_features
    )
    return _as_rows(source.total(_count_scores))


def _as_rows(found):
    if found is None:
        raise ValueError("the data are empty: give at least one sample of positive weight")
    columns, weight = found.rows()
    return Alike(
        columns.get("y_true"),
        columns["y_pred"],
        columns["sensitive_features"],
        weight,
        found.n_rows,
    )


def _count_decisions(columns, pos_label):
    """The table of one partition."""
    weight = columns.pop("sample_weight", None)
    n_rows = len(columns["y_pred"])
    if n_rows == 0 or (weight is not None and not np.any(weight)):
        return None
    check_same_length(**columns)
    if pos_label is not None:
        return LabelCounts.of(columns, weight)
    positive = as_probabilities(columns["y_pred"], "y_pred", None)
    if np.isin(positive, (0, 1)).all():
        return LabelCounts.of({**columns, "y_pred": positive.astype(np.intp)}, weight)
    weight = np.ones(n_rows) if weight is None else sample_weights(weight)
    parts = [
        LabelCounts.of({**columns, "y_pred": np.full(n_rows, decision)}, weight * share)
        for decision, share in ((0, 1 - positive), (1, positive))
    ]
    whole = add_up(parts)
    return LabelCounts(whole.names, whole.table, whole.values, n_rows)


def _count_scores(columns):
    """The table of one partition."""
    if len(columns["y_pred"]) == 0:
        return None
    check_same_length(**columns)
    score = numeric_values(columns["y_pred"], "y_score")
    return _ScoreCounts.of({**columns, "y_pred": score})


class _ScoreCounts(LabelCounts):
    """Counts of scores, which may have too many values."""

    def check_size(self, shape):
        """Raise a `ValueError` if there are too many."""
        if np.prod(shape) > MAX_SCORES:
            raise ValueError(
                f"y_score has {shape[self.names.index('y_pred')]} different values in a part of "
                "the data, too many to count: round it, for example y_score.round(4)"
            )
