"""Identical rows of Dask collections, combined into one row with their total weight.

Fairness metrics depend only on the table that counts the rows with each label, decision (or score)
and group. Memory therefore holds only one row for each cell of this table, however many rows the
data have.
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

# Maximum number of cells of a table in which scores are counted (32 megabytes).
MAX_SCORES = 2**22


class Alike(NamedTuple):
    """Unique rows, each of which represents all rows identical to it.

    Attributes
    ----------
    y_true, y_pred, sensitive_features : ndarray of shape (m,)
        Values of each unique row; `y_true` may be None.
    sample_weight : ndarray of shape (m,)
        Number of rows that each row represents, or the sum of their weights.
    n_rows : int
        Number of original rows, except in partitions in which all weights are 0.
    """

    y_true: np.ndarray | None
    y_pred: np.ndarray
    sensitive_features: np.ndarray
    sample_weight: np.ndarray
    n_rows: int


def decided_alike(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, pos_label: Any
) -> Alike:
    """Combine rows with the same label, decision and group.

    A probability p counts as a decision 1 of weight p and a decision 0 of weight 1 - p, so that
    rates do not change.
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
    """Combine rows with the same label, score and group; the scores are in `y_pred`."""
    source = DaskSource(
        kind=dict, y_true=y_true, y_pred=y_score, sensitive_features=sensitive_features
    )
    return _as_rows(source.total(_count_scores))


def _as_rows(found):
    if found is None:
        raise ValueError(
            "the data are empty, or sample_weight is zero everywhere: pass at least one sample of "
            "positive weight"
        )
    columns, weight = found.rows()
    return Alike(
        columns.get("y_true"),
        columns["y_pred"],
        columns["sensitive_features"],
        weight,
        found.n_rows,
    )


def _count_decisions(columns, pos_label):
    """Compute the table of labels, decisions and groups in one partition."""
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
    """Compute the table of labels, scores and groups in one partition."""
    if len(columns["y_pred"]) == 0:
        return None
    check_same_length(**columns)
    score = numeric_values(columns["y_pred"], "y_score")
    return _ScoreCounts.of({**columns, "y_pred": score})


class _ScoreCounts(LabelCounts):
    """Counts of scores, with a limit on the number of cells."""

    def check_size(self, shape):
        """Raise a `ValueError` if the table would be too large, because of too many scores."""
        if np.prod(shape) > MAX_SCORES:
            raise ValueError(
                f"y_score has {shape[self.names.index('y_pred')]} different values "
                "or more, which are too many to count: round it, for example y_score.round(4)"
            )
