"""Dask collections: sums over people, wherever the people are.

A Dask series or array is a plan, and its partitions may lie in files or on other machines. Nothing
here gathers them. Labels are counted partition by partition, and the small tables are added up in
a tree; a classifier is fitted by passes over the partitions (`renyi_lib.chunks`). The work is
done by whatever scheduler Dask has been given: threads by default, or the cluster of a
`distributed.Client`. What a worker loses when it dies, Dask computes again.

The functions have the names and the arguments of those for data in memory, and their results.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from renyi_lib import inference, metrics
from renyi_lib._counting import count_codes
from renyi_lib._dispatch import is_dask
from renyi_lib._parameters import choice
from renyi_lib._validation import (
    check_discrete,
    check_same_length,
    check_several_groups,
    encode_labels,
    numeric_values,
    sample_weights,
)
from renyi_lib.chunks import Chunks, Rows, add_up
from renyi_lib.correlation import ConditionalRenyi, renyi_from_joint
from renyi_lib.inference import Interval, RenyiTest
from renyi_lib.tables import JointTable
from renyi_lib.tables import joint_table as _joint_table

__all__ = [
    "DaskChunks",
    "decision_function",
    "demographic_parity_violation",
    "equal_opportunity_violation",
    "equalized_odds_violation",
    "fairness_interval",
    "group_rates",
    "interval_of_counts",
    "joint_table",
    "p_rule",
    "predict",
    "predict_proba",
    "renyi_correlation",
    "renyi_interval",
    "renyi_test",
    "scored_people",
]

# Results of so many partitions are added up at a time, on the workers.
_SPLIT_EVERY = 8
# Scores are counted in a table of at most this many cells (32 megabytes).
_MAX_SCORES = 2**22


class DaskChunks(Chunks):
    """The partitions of Dask collections, as chunks.

    Parameters
    ----------
    **columns : Dask arrays, series or data frames, or None
        By the names of the fields of `Rows`, or by any others if `kind` says so. All with the
        same partitions; an array's are made so if its sizes are known.
    kind : callable, default=Rows
        What is made of the columns of a partition.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from renyi_lib.distributed import DaskChunks
    >>> X, y = da.ones((6, 2), chunks=(4, 2)), da.arange(6, chunks=4)
    >>> chunks = DaskChunks(X=X, y=y)
    >>> int(chunks.total(lambda rows: rows.y.sum())), chunks.n_passes
    (15, 1)
    """

    def __init__(self, *, kind: Callable = Rows, **columns: Any):
        self.n_passes = 0
        self.kind = kind
        present = {name: column for name, column in columns.items() if column is not None}
        for name, column in present.items():
            if not is_dask(column):
                raise ValueError(
                    f"{name} is in memory, and the others are Dask collections: make it one, for "
                    "example with dask.array.from_array, with the partitions of the others"
                )
        self.names = list(present)
        self.parts = list(zip(*_aligned(present)))
        names = getattr(columns.get("X"), "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names = np.array(names, dtype=object)

    def total(self, function: Callable, *arguments: Any) -> Any:
        """The sum of ``function(rows, *arguments)`` over the partitions, added on the workers."""
        import dask
        from dask import bag

        self.n_passes += 1
        # One object for all tasks: it is sent to a worker once.
        call = dask.delayed((function, arguments, self.kind, self.names), traverse=False)
        lists = [dask.delayed(_applied, pure=False)(call, *parts) for parts in self.parts]
        total = bag.from_delayed(lists).reduction(add_up, add_up, split_every=_SPLIT_EVERY)
        # A bag would start processes if there is no cluster; the work here releases the lock.
        return total.to_delayed().compute()


def _applied(call, *parts):
    """The function of one partition, in a list, as a bag has it."""
    function, arguments, kind, names = call
    return [function(kind(**dict(zip(names, parts))), *arguments)]


def _aligned(columns):
    """For each column its partitions, all of the same number."""
    blocks = {name: getattr(column, "chunks", None) for name, column in columns.items()}
    sizes = [chunks[0] for chunks in blocks.values() if chunks and _known(chunks[0])]
    found = {}
    for name, column in columns.items():
        if blocks[name]:
            if column.ndim > 1:
                column = column.rechunk({1: -1})
            if _known(blocks[name][0]):
                if sum(blocks[name][0]) != sum(sizes[0]):
                    raise ValueError(
                        "all arguments need the same number of samples, but "
                        + ", ".join(f"{key} has {sum(b[0])}" for key, b in blocks.items() if b)
                    )
                column = column.rechunk({0: sizes[0]})
        # As they are: Dask would join small partitions of a file, for each column otherwise.
        found[name] = np.ravel(column.to_delayed(optimize_graph=False)).tolist()
    if len({len(parts) for parts in found.values()}) > 1:
        counts = ", ".join(f"{name} has {len(parts)}" for name, parts in found.items())
        raise ValueError(
            f"all arguments need the same partitions, but {counts}: take them from one Dask data "
            "frame, or repartition them"
        )
    return found.values()


def _known(sizes):
    return not np.isnan(sizes).any()


# --- Labels, counted -----------------------------------------------------------------------------


class _Labels(dict):
    """The columns of a partition, by name."""

    def __init__(self, **columns):
        super().__init__(columns)


def joint_table(a: Any, b: Any, *, sample_weight: Any = None) -> JointTable:
    """Count how often each pair of values occurs, partition by partition.

    Parameters
    ----------
    a, b : Dask array or series, or data frame for several columns
    sample_weight : Dask array or series, optional

    Returns
    -------
    JointTable
        As `renyi_lib.joint_table` gives it. Every function that takes a table takes it.

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import joint_table
    >>> joint_table(da.from_array([0, 1, 0, 1], 2), da.from_array([0, 0, 0, 1], 2)).counts
    array([[2, 0],
           [1, 1]])
    """
    chunks = DaskChunks(kind=_Labels, a=a, b=b, sample_weight=sample_weight)
    return _some(chunks.total(_counted))


def _counted(columns):
    """The table of a partition; None if nobody is in it."""
    weight = columns.get("sample_weight")
    if len(columns["a"]) == 0 or (weight is not None and not np.any(weight)):
        return None
    return _joint_table(**columns)


def _some(total):
    if total is None:
        raise ValueError("the data are empty: give at least one sample of positive weight")
    return total


def renyi_correlation(
    a: Any, b: Any, *, given: Any = None, sample_weight: Any = None, kind: Any = "auto"
) -> float | ConditionalRenyi:
    """Rényi correlation of two discrete variables in Dask collections, from their table.

    Parameters
    ----------
    a, b, given : Dask array or series, or data frame for several columns
        Labels. Measurements have to be cut into bins: their ranks are no sum over people.
    sample_weight : Dask array or series, optional
    kind : {"auto", "discrete"}
        "auto" refuses numbers that are measurements, "discrete" takes every value as a label.

    Returns
    -------
    float or ConditionalRenyi
        As in `renyi_lib.renyi_correlation`.

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import renyi_correlation
    >>> a, b = da.from_array([0, 1, 0, 1], 2), da.from_array([0, 1, 0, 1], 2)
    >>> round(renyi_correlation(a, b), 12)
    1.0
    """
    choice("auto", "discrete")("kind", kind)
    if given is None:
        table = joint_table(a, b, sample_weight=sample_weight)
        if kind == "auto" and sample_weight is None:
            for name, values in (("a", table.rows), ("b", table.columns)):
                check_discrete(values, table.counts.sum(), name)
        return renyi_from_joint(table)
    strata = _strata(a, b, given, sample_weight)
    mass = np.array([table.counts.sum() for table in strata.values()])
    correlations = np.array([renyi_from_joint(table) for table in strata.values()])
    return ConditionalRenyi(_plain(list(strata)), correlations, mass / mass.sum())


def _strata(a, b, given, sample_weight):
    """The table of a and b for each value of the third variable."""
    chunks = DaskChunks(kind=_Labels, given=given, a=a, b=b, sample_weight=sample_weight)
    whole = _some(chunks.total(_counted_given))
    width = given.shape[1] if given.ndim == 2 else 1
    strata = {}
    for i, labels in enumerate(whole.rows):
        value, label = (
            part[0] if len(part) == 1 else part for part in (labels[:width], labels[width:])
        )
        strata.setdefault(value, []).append((i, label))
    return {
        value: JointTable(whole.counts[[i for i, _ in rows]], [x for _, x in rows], whole.columns)
        for value, rows in strata.items()
    }


def _counted_given(columns):
    given, a = columns.pop("given"), columns.pop("a")
    return _counted(_Labels(a=_side_by_side(given, a), **columns))


def _side_by_side(*variables):
    """Several variables, each of one column or more, as one data frame."""
    frames = [pd.DataFrame(variable).reset_index(drop=True) for variable in variables]
    return pd.concat(frames, axis=1, ignore_index=True)


def renyi_test(a: Any, b: Any, **options: Any) -> RenyiTest:
    """Test of independence of two variables in Dask collections.

    Parameters
    ----------
    a, b : Dask array or series, or data frame for several columns
    **options
        `method`, `n_resamples` and `random_state` of `renyi_lib.renyi_test`. Its `given` takes
        people and not tables: test the strata one by one.

    Returns
    -------
    RenyiTest

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import renyi_test
    >>> a = da.from_array([0, 1] * 50, 20)
    >>> round(renyi_test(a, a).statistic, 12)
    1.0
    """
    if options.get("given") is not None:
        raise ValueError(
            "given takes data in memory: of Dask collections, test the strata one by one, for "
            "example renyi_test(a[given == 0], b[given == 0])"
        )
    return inference.renyi_test(joint_table(a, b), **options)


def renyi_interval(a: Any, b: Any, **options: Any) -> Interval:
    """Confidence interval of the Rényi correlation of two variables in Dask collections.

    Parameters
    ----------
    a, b : Dask array or series, or data frame for several columns
    **options
        As in `renyi_lib.renyi_interval`.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import renyi_interval
    >>> a = da.from_array([0, 1, 1, 0] * 25, 20)
    >>> b = da.from_array([0, 1, 0, 1] * 25, 20)
    >>> renyi_interval(a, b, random_state=0).low
    0.0
    """
    return inference.renyi_interval(joint_table(a, b), **options)


# --- Measures of fairness ------------------------------------------------------------------------


def group_rates(y_true: Any, y_pred: Any, **columns: Any) -> pd.Series:
    """Share of each group that is predicted positive, from Dask collections.

    Parameters
    ----------
    y_true, y_pred : Dask array or series
        `y_true` may be None.
    **columns
        `sensitive_features`, `sample_weight` and `pos_label`, as in `renyi_lib.group_rates`.

    Returns
    -------
    Series

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import group_rates
    >>> hired, sex = da.from_array([1, 0, 1, 1], 2), da.from_array(["f", "f", "m", "m"], 2)
    >>> group_rates(None, hired, sensitive_features=sex).to_dict()
    {'f': 0.5, 'm': 1.0}
    """
    return _measured(metrics.group_rates, None, y_pred, **columns)


def p_rule(y_true: Any, y_pred: Any, **columns: Any) -> float:
    """The p % rule, from Dask collections; arguments as in `group_rates`.

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import p_rule
    >>> hired, sex = da.from_array([1, 0, 1, 1], 2), da.from_array(["f", "f", "m", "m"], 2)
    >>> p_rule(None, hired, sensitive_features=sex)
    0.5
    """
    return _measured(metrics.p_rule, None, y_pred, **columns)


def demographic_parity_violation(y_true: Any, y_pred: Any, **columns: Any) -> float:
    """Largest difference of the positive rates; arguments as in `group_rates`.

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import demographic_parity_violation
    >>> hired, sex = da.from_array([1, 0, 1, 1], 2), da.from_array(["f", "f", "m", "m"], 2)
    >>> demographic_parity_violation(None, hired, sensitive_features=sex)
    0.5
    """
    return _measured(metrics.demographic_parity_violation, None, y_pred, **columns)


def equal_opportunity_violation(y_true: Any, y_pred: Any, **columns: Any) -> float:
    """Largest difference of the true positive rates; arguments as in `group_rates`.

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import equal_opportunity_violation
    >>> hired, sex = da.from_array([1, 0, 1, 1], 2), da.from_array(["f", "f", "m", "m"], 2)
    >>> equal_opportunity_violation(da.ones(4, chunks=2), hired, sensitive_features=sex)
    0.5
    """
    return _measured(metrics.equal_opportunity_violation, y_true, y_pred, **columns)


def equalized_odds_violation(y_true: Any, y_pred: Any, **columns: Any) -> float:
    """Largest gap of positive rates given the true label; arguments as in `group_rates`.

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import equalized_odds_violation
    >>> truth, hired = da.from_array([1, 1, 0, 0], 2), da.from_array([1, 0, 1, 0], 2)
    >>> sex = da.from_array(["f", "m", "f", "m"], 2)
    >>> equalized_odds_violation(truth, hired, sensitive_features=sex)
    1.0
    """
    return _measured(metrics.equalized_odds_violation, y_true, y_pred, **columns)


def fairness_interval(
    metric: str | Callable,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Confidence interval of a measure of fairness, from Dask collections.

    Parameters
    ----------
    metric, pos_label, confidence_level, n_resamples, random_state
        As in `renyi_lib.fairness_interval`.
    y_true, y_pred, sensitive_features : Dask array or series
        As there.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import fairness_interval
    >>> sex = da.from_array(["f"] * 40 + ["m"] * 60, 25)
    >>> hired = da.from_array([1] * 10 + [0] * 30 + [1] * 30 + [0] * 30, 25)
    >>> found = fairness_interval("p_rule", None, hired, sensitive_features=sex, random_state=0)
    >>> [round(x, 2) for x in (found.plugin, found.low, found.high)]
    [0.5, 0.27, 0.84]
    """
    measure = inference._measure(metric, inference._MEASURES)
    return interval_of_counts(
        metric,
        _decisions(measure, y_true, y_pred, sensitive_features, pos_label),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=random_state,
    )


def interval_of_counts(
    metric: str | Callable,
    counts: np.ndarray,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Confidence interval of a measure of fairness, from the counts of decisions.

    Parameters
    ----------
    metric, confidence_level, n_resamples, random_state
        As in `renyi_lib.fairness_interval`.
    counts : ndarray of int, shape (2, d, 2)
        People by true label, group and decision. Where the measure does not ask for the truth,
        the labels do not matter.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.distributed import interval_of_counts
    >>> counts = np.array([[[30, 10], [30, 30]], [[0, 0], [0, 0]]])
    >>> found = interval_of_counts("p_rule", counts, random_state=0)
    >>> [round(x, 2) for x in (found.plugin, found.low, found.high)]
    [0.5, 0.27, 0.84]
    """
    inference._check_interval(confidence_level, n_resamples)
    measure = inference._measure(metric, inference._MEASURES)
    rng = inference._generator(random_state)
    strata = counts.sum(axis=0)[None] if measure.truths is None else counts[list(measure.truths)]
    (row,) = measure.intervals(
        strata[None], level=1 - confidence_level, n_resamples=n_resamples, rng=rng
    )
    estimate, plugin, low, high = row.tolist()
    if measure.fair_is_one:
        estimate, plugin, low, high = 1 - estimate, 1 - plugin, 1 - high, 1 - low
    return Interval(estimate, plugin, low, high, confidence_level)


def _decisions(measure, y_true, y_pred, sensitive_features, pos_label):
    """Counts by truth, group, and decision."""
    if measure.truths is None:
        y_true = None
    elif y_true is None:
        raise ValueError(
            f"y_true is needed: {measure.function.__name__} compares people of the same truth"
        )
    alike = _alike(y_true, y_pred, sensitive_features, None, pos_label)
    _measure_of_alike(measure.function, alike, pos_label)
    decision = metrics._probabilities(alike["y_pred"], "y_pred", pos_label)
    counts = np.asarray(alike["sample_weight"])
    if not (counts == np.floor(counts)).all():
        raise ValueError(
            "y_pred must hold decisions, 0 and 1, not probabilities: cut them at the threshold "
            "that is used"
        )
    codes, groups = encode_labels(alike["sensitive_features"], "sensitive_features")
    truth = np.zeros(len(codes))
    if y_true is not None:
        truth = metrics._probabilities(alike["y_true"], "y_true", pos_label)
    axes = [values.astype(np.intp) for values in (truth, codes, decision)]
    return count_codes(axes, (2, len(groups), 2), counts).astype(np.int64)


def _measured(function, y_true, y_pred, *, sensitive_features, sample_weight=None, pos_label=None):
    """A measure of the people in Dask collections."""
    alike = _alike(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return _measure_of_alike(function, alike, pos_label)


def _measure_of_alike(function, alike, pos_label):
    # Each eight times, at an eighth of its weight: who is rare among the alike is not rare.
    columns = {
        name: None if values is None else np.repeat(values, 8) for name, values in alike.items()
    }
    columns["sample_weight"] = columns["sample_weight"] / 8
    y_true, y_pred = columns.pop("y_true"), columns.pop("y_pred")
    return function(y_true, y_pred, **columns, pos_label=pos_label)


def _alike(y_true, y_pred, sensitive_features, sample_weight, pos_label):
    """People of the same truth, prediction and group as one, with the weight of them all.

    The arguments of a measure, in memory, as small as the table of these three. A probability p
    is a label 1 of weight p, and a label 0 of weight 1 - p: every rate stays what it was.
    """
    chunks = DaskChunks(
        kind=_Labels,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    found = _some(chunks.total(_counted_decisions, pos_label))
    groups = [label[1] if len(label) == 2 else label[1:] for label in found.table.rows]
    check_several_groups(_objects(dict.fromkeys(groups)), found.n_rows)
    row, column = np.nonzero(found.table.counts)
    return {
        "y_true": None
        if y_true is None
        else _plain([label[0] for label in found.table.rows])[row],
        "y_pred": found.table.columns[column],
        "sensitive_features": _objects(groups)[row],
        "sample_weight": found.table.counts[row, column],
    }


@dataclass(frozen=True)
class _Decisions:
    """What one partition adds to the table."""

    table: JointTable
    n_rows: int

    def __add__(self, other):
        return _Decisions(self.table + other.table, self.n_rows + other.n_rows)


def _counted_decisions(columns, pos_label):
    """The table (truth, group) x prediction of a partition."""
    y_pred, weight = columns["y_pred"], columns.get("sample_weight")
    n_rows = len(y_pred)
    if n_rows == 0 or (weight is not None and not np.any(weight)):
        return None
    check_same_length(**columns)
    truth = columns.get("y_true", np.zeros(n_rows, dtype=np.intp))
    people = _side_by_side(truth, columns["sensitive_features"])
    if pos_label is not None:
        return _Decisions(_joint_table(people, y_pred, sample_weight=weight), n_rows)
    positive = metrics._probabilities(y_pred, "y_pred", None)
    if np.isin(positive, (0, 1)).all():
        decision = positive.astype(np.intp)
        return _Decisions(_joint_table(people, decision, sample_weight=weight), n_rows)
    weight = np.ones(n_rows) if weight is None else sample_weights(weight)
    tables = [
        _joint_table(people, np.full(n_rows, label), sample_weight=weight * share)
        for label, share in ((0, 1 - positive), (1, positive))
        if (weight * share).any()
    ]
    return _Decisions(add_up(tables), n_rows)


def scored_people(y_true: Any, y_score: Any, sensitive_features: Any) -> tuple:
    """People of the same truth, score and group as one, and how many there are of each.

    Parameters
    ----------
    y_true, y_score, sensitive_features : Dask array or series
        Scores of so many different values that they cannot be counted are refused.

    Returns
    -------
    y_true, y_score, sensitive_features, people : ndarray of shape (m,)

    Examples
    --------
    >>> import dask.array as da
    >>> from renyi_lib.distributed import scored_people
    >>> truth, score = da.from_array([0, 1, 1], 2), da.from_array([0.5, 0.7, 0.7], 2)
    >>> scored_people(truth, score, da.from_array(["f", "m", "m"], 2))[3]
    array([1, 2])
    """
    columns = {"y_true": y_true, "y_score": y_score, "sensitive_features": sensitive_features}
    found = _some(DaskChunks(kind=_Labels, **columns).total(_counted_scores))
    row, column = np.nonzero(found.table.counts)
    groups = [label[1] if len(label) == 2 else label[1:] for label in found.table.rows]
    truth = _plain([label[0] for label in found.table.rows])
    people = found.table.counts[row, column]
    return truth[row], found.table.columns[column], _objects(groups)[row], people


def _counted_scores(columns):
    """The table (truth, group) x score of a partition."""
    if len(columns["y_score"]) == 0:
        return None
    score = numeric_values(columns["y_score"], "y_score")
    check_same_length(**columns)
    people = _side_by_side(columns["y_true"], columns["sensitive_features"])
    return _Scores(_joint_table(people, score), len(score))


class _Scores(_Decisions):
    """The same, of scores, which may be too many."""

    def __add__(self, other):
        found = _Scores(self.table + other.table, self.n_rows + other.n_rows)
        if found.table.counts.size > _MAX_SCORES:
            raise ValueError(
                f"y_score has {len(found.table.columns)} different values in a part of the data, "
                "too many to count: round it, for example y_score.round(4)"
            )
        return found


def _objects(labels):
    """The labels as an array, tuples as they are."""
    found = np.empty(len(labels), dtype=object)
    found[:] = list(labels)
    return found


def _plain(labels):
    """Numbers as numbers, all else as it is."""
    numbers = all(isinstance(label, bool | int | float) for label in labels)
    return np.array(labels) if numbers else _objects(labels)


# --- A fitted classifier -------------------------------------------------------------------------


def predict(classifier: Any, X: Any) -> Any:
    """The most probable class of each sample, as a Dask array, or a series for a data frame.

    Parameters
    ----------
    classifier : fitted classifier
    X : Dask array of shape (n, p) or data frame

    Returns
    -------
    Dask array or series
        Computed when it is asked for.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier
    >>> from renyi_lib.distributed import predict
    >>> X = np.arange(6.0)[:, None]
    >>> clf = RenyiClassifier(0).fit(X, [0, 0, 1, 0, 1, 1], sensitive_features=[0, 1] * 3)
    >>> predict(clf, da.from_array(X, chunks=(4, 1))).compute()
    array([0, 0, 0, 1, 1, 1])
    """
    return _by_partition(classifier.predict, X, None, classifier.classes_.dtype)


def predict_proba(classifier: Any, X: Any) -> Any:
    """Class probabilities F, as a Dask array, or a data frame with a column for each class.

    Parameters
    ----------
    classifier, X
        As in `predict`.

    Returns
    -------
    Dask array or data frame
        Computed when it is asked for.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier
    >>> from renyi_lib.distributed import predict_proba
    >>> X = np.arange(6.0)[:, None]
    >>> clf = RenyiClassifier(0).fit(X, [0, 0, 1, 0, 1, 1], sensitive_features=[0, 1] * 3)
    >>> predict_proba(clf, da.from_array(X, chunks=(4, 1))).shape
    (6, 2)
    """
    return _by_partition(classifier.predict_proba, X, classifier.classes_.tolist(), float)


def decision_function(classifier: Any, X: Any) -> Any:
    """Scores of the classes, one column for two classes; as `predict` and `predict_proba`.

    Parameters
    ----------
    classifier, X
        As in `predict`.

    Returns
    -------
    Dask array, series or data frame

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from renyi_lib import RenyiClassifier
    >>> from renyi_lib.distributed import decision_function
    >>> X = np.arange(6.0)[:, None]
    >>> clf = RenyiClassifier(0).fit(X, [0, 0, 1, 0, 1, 1], sensitive_features=[0, 1] * 3)
    >>> decision_function(clf, da.from_array(X, chunks=(4, 1))).shape
    (6,)
    """
    classes = classifier.classes_.tolist()
    columns = None if len(classes) == 2 else classes
    return _by_partition(classifier.decision_function, X, columns, float)


def _by_partition(method, X, columns, dtype):
    """What a method makes of X, partition by partition: one column, or several with names."""
    if hasattr(X, "columns"):
        empty = (
            pd.Series(dtype=dtype)
            if columns is None
            else pd.DataFrame(columns=columns, dtype=dtype)
        )
        return X.map_partitions(_of_frame, method, columns, dtype, meta=empty)
    X = X.rechunk({1: -1})
    if columns is None:
        return X.map_blocks(method, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype))
    chunks = (X.chunks[0], (len(columns),))
    return X.map_blocks(method, chunks=chunks, dtype=dtype, meta=np.empty((0, 0), dtype=dtype))


def _of_frame(X, method, columns, dtype):
    """What a method makes of a data frame, with its index; of nobody, nothing."""
    width = () if columns is None else (len(columns),)
    found = method(X) if len(X) else np.empty((0, *width), dtype=dtype)
    if columns is None:
        return pd.Series(found, index=X.index)
    return pd.DataFrame(found, index=X.index, columns=columns)
