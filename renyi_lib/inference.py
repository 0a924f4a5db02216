"""Tests, confidence intervals and bias corrections, computed from tables of counts.

Near independence, the Rényi correlation of a sample is too large on average, because the functions
that attain it also fit the random errors of the sample. `renyi_test` decides whether the value
could be due to chance, and `renyi_interval` gives the range of values that the data support.
`fairness_interval` computes an interval for a ratio or a difference of the groups' rates, and
`difference_interval` computes one for the difference between two models on the same samples.
`sample_size` plans the size of a study.

All these functions work on tables of counts, so ten million samples cost about as much as a
thousand (a few times as much if tables are permuted). Counts are numbers of independent samples.
With `sample_weight`, the data count as the smaller number of samples that would be equally
informative (Kish's effective sample size). A table with fractions, such as sums of weights, raises
an error, because it does not say how many samples were counted.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from renyi_lib import metrics
from renyi_lib._chance import MOST_TO_PERMUTE, chance_test, rho_of_tables
from renyi_lib._counting import count_codes, count_labels, drop_empty
from renyi_lib._design import design_effect, effective_counts
from renyi_lib._dispatch import is_dask
from renyi_lib._parameters import choice, number, whole
from renyi_lib._planning import samples_needed
from renyi_lib._rates import gap, one_minus_ratio, rate_intervals
from renyi_lib._validation import (
    as_probabilities,
    check_discrete,
    check_several_groups,
    encode_labels,
    refuse_sample_matrix,
    sample_weights,
)
from renyi_lib._worlds import reflected_intervals, renyi_intervals

__all__ = [
    "Interval",
    "RenyiTest",
    "difference_interval",
    "fairness_interval",
    "interval_of_counts",
    "interval_of_table",
    "renyi_interval",
    "renyi_test",
    "sample_size",
]

# Above this number, floats cannot represent all integers.
_MOST = 2**53
# Minimum expected number of random samples outside an interval, in both tails together.
_IN_TAILS = 50


@dataclass(frozen=True)
class RenyiTest:
    """Result of `renyi_test`.

    Attributes
    ----------
    statistic : float
        Rényi correlation of the sample; with `given`, the root mean square over the strata,
        weighted by their sizes.
    pvalue : float
        Probability of a value at least this large if the variables are independent.
    method : {"asymptotic", "permutation"}
        Method by which the p-value was computed.
    n_samples : int
        Number of samples; with weights, the effective number, rounded.
    """

    statistic: float
    pvalue: float
    method: str
    n_samples: int

    def __repr__(self):
        return (
            f"RenyiTest(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}, "
            f"method={self.method!r}, n_samples={self.n_samples})"
        )


@dataclass(frozen=True)
class Interval:
    """Confidence interval.

    Attributes
    ----------
    estimate : float
        Bias-corrected estimate. For the Rényi correlation and method "inversion", it is the true
        value at which half of all samples would have a larger value than this sample; for method
        "bootstrap", it is twice the value of the sample minus the mean of the bootstrap. For
        metrics of rates, it is the value after the rates of three or more groups have been shrunk
        toward their common rate. Except with "bootstrap", it is the value under independence (or
        fairness) if the p-value is at least 0.5. For `difference_interval`, it is the difference
        between the estimates for the two models.
    plugin : float
        Value of the sample itself.
    low, high : float
        Lower and upper end of the interval.
    confidence_level : float
        Confidence level of the interval.
    pvalue : float or None
        P-value of the test of independence, or of fairness; None for `difference_interval`. The
        interval excludes independence (or fairness) if and only if the p-value is below
        1 - confidence_level, except that with method "bootstrap", it may contain 0 even then. The
        test of independence merges values that occur only once (except with "bootstrap"), and the
        test of fairness leaves out groups of one sample.
    smallest_share : float or None
        For `renyi_interval`, the smallest share that a value must have to occur in the sample with
        probability (1 + confidence_level) / 2. The upper end holds for values with at least this
        share. Rarer values, and any dependence on them, may be missing from the sample; without
        this condition, the upper end would be 1.
    design_effect : float or None
        With `sample_weight`, the number of samples with positive weight divided by the effective
        number (Kish).
    """

    estimate: float
    plugin: float
    low: float
    high: float
    confidence_level: float
    pvalue: float | None = None
    smallest_share: float | None = None
    design_effect: float | None = None

    def __repr__(self):
        more = "" if self.pvalue is None else f", pvalue={self.pvalue:.4g}"
        if self.smallest_share is not None:
            more += f", smallest_share={self.smallest_share:.2g}"
        if self.design_effect is not None:
            more += f", design_effect={self.design_effect:.3g}"
        return (
            f"Interval(estimate={self.estimate:.4g}, low={self.low:.4g}, high={self.high:.4g}, "
            f"plugin={self.plugin:.4g}, confidence_level={self.confidence_level:g}{more})"
        )


def renyi_test(
    a: Any,
    b: Any = None,
    *,
    given: Any = None,
    sample_weight: ArrayLike | None = None,
    method: str = "auto",
    n_resamples: int = 9999,
    random_state: Any = None,
) -> RenyiTest:
    """Test independence with the Rényi correlation.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Labels of any type; for measurements, use `continuous_test`. Alternatively, pass only a
        table of counts as `a`, either a `JointTable` or a two-dimensional array.
    given : array-like of shape (n,), optional
        Third variable. Independence is then tested within each of its strata, which are the
        samples with the same value.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights w. The data (with `given`, each stratum) then count as
        (sum w)^2 / sum w^2 samples.
    method : {"auto", "asymptotic", "permutation"}, default="auto"
        How to compute the p-value. "asymptotic" compares n rho^2 with its limit distribution,
        which is the distribution of the largest eigenvalue of a Wishart matrix (chi-square if one
        variable is binary). "permutation" compares it with random tables that have the same
        margins, which is exact for unweighted samples, however few. "auto" uses the limit
        distribution if every expected count is at least 2 and one of the variables has at most
        150 values, and permutations otherwise.
    n_resamples : int, default=9999
        Number of random tables, if tables are permuted.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random tables.

    Returns
    -------
    RenyiTest
        Result with ``statistic``, ``pvalue``, ``method`` and ``n_samples``.

    See Also
    --------
    renyi_interval : Compute a confidence interval of the Rényi correlation.
    renyi_correlation : Compute the Rényi correlation of a sample.

    Notes
    -----
    With `given`, the statistic is the square root of sum_s (n_s / n) rho_s^2, where stratum s has
    n_s of the n samples and the Rényi correlation rho_s. The sum of n_s rho_s^2 accumulates weak
    dependence that is spread over many strata, which a maximum would miss; it is the paper's
    penalty for equalized odds with each stratum weighted by its size. Permutations stay within
    strata. If a variable is constant within a stratum, rho_s is 0 there. The p-value then ignores
    the stratum, but its n_s still counts in the statistic.

    The p-value of a permutation test is never below 1 / (1 + n_resamples). A small table allows
    only a few values of the statistic, so the permutation test rejects less often than its nominal
    level.

    Examples
    --------
    >>> from renyi_lib.inference import renyi_test
    >>> test = renyi_test([[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]])
    >>> test.method, round(test.statistic, 3), f"{test.pvalue:.0e}"
    ('asymptotic', 0.517, '7e-13')

    Thirty throws of two dice give a table that looks strongly dependent but is due to chance:

    >>> import numpy as np
    >>> red, blue = np.random.default_rng(0).integers(1, 7, size=(2, 30))
    >>> renyi_test(red, blue, random_state=0)
    RenyiTest(statistic=0.5954, pvalue=0.761, method='permutation', n_samples=30)
    """
    choice("auto", "asymptotic", "permutation")("method", method)
    whole(1)("n_resamples", n_resamples)
    rng = _generator(random_state)
    tables = [drop_empty(table)[0] for table in _strata(a, b, given, sample_weight)]
    total = sum(table.sum() for table in tables)
    n_samples = round(total)
    if method == "permutation" and n_samples > MOST_TO_PERMUTE:
        raise ValueError(
            f"method='permutation' supports up to {MOST_TO_PERMUTE} samples, not {n_samples}: "
            "use method='asymptotic', which is accurate for large counts"
        )
    observed, pvalue, method = chance_test(tables, method=method, n_resamples=n_resamples, rng=rng)
    statistic = min(np.sqrt(observed / total), 1.0)
    return RenyiTest(float(statistic), float(pvalue), method, n_samples)


def renyi_interval(
    a: Any,
    b: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    method: str = "inversion",
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Compute a confidence interval and a bias-corrected estimate of the Rényi correlation.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Labels of any type, or a table of counts as `a`, as in `renyi_test`. Both variables must
        take at least two values. For measurements, use `continuous_interval`.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights w. The data then count as (sum w)^2 / sum w^2 samples, and the interval
        reports the design effect.
    confidence_level : float, default=0.95
        Confidence level of the interval.
    method : {"inversion", "bootstrap"}, default="inversion"
        "inversion" keeps all true values at which the sample would not be extreme (test
        inversion). "bootstrap" reflects the quantiles of the bootstrap around the value of the
        sample, and starts at 0 unless the asymptotic test rejects; it is simpler but less
        accurate.
    n_resamples : int, default=9999
        Number of random tables for the inversion or the bootstrap. "inversion" uses fewer if the
        table has many cells. It samples as many again for a permutation test if counts are small,
        and for the lower end if values are merged (see Notes).
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random numbers.

    Returns
    -------
    Interval
        Interval with ``estimate``, ``plugin`` (the value of the sample), ``low``, ``high``,
        ``confidence_level``, ``pvalue`` (of the test of independence), ``smallest_share`` (see
        Notes) and, with weights, ``design_effect``.

    See Also
    --------
    renyi_test : Test independence with the Rényi correlation.
    fairness_interval : Compute a confidence interval of a fairness metric.

    Notes
    -----
    These notes describe the method "inversion". Let P be the sample's c x d table of shares, with
    margins p and q, and let P - p q^T = diag(p)^(1/2) U diag(s) V^T diag(q)^(1/2). The candidate
    value t then has the table p q^T + diag(p)^(1/2) U diag(t, ...) V^T diag(q)^(1/2). Its other
    singular values are the sample's, multiplied by a factor and capped at t, so that all squares
    add up to chi-square / n minus its bias (c-1)(d-1)/n. As t approaches 1, the cells that
    contradict the dependence are emptied. Random tables are sampled from each candidate.

    For the lower end and for the p-value, values that occur only once are merged, because a single
    sample is no evidence of dependence. The interval contains 0 unless `renyi_test` rejects for
    the merged table at level 1 - confidence_level.

    If a rare value carries the dependence, this family of candidates is not sufficient. The upper
    end therefore also covers the correlation of two events, namely that one variable takes a given
    value, and that the other takes one of several values. It is computed from confidence limits
    for the counts of these events, which share the error probability. No upper limit can account
    for values that did not occur in the sample, so the upper end holds for values with a share of
    at least ``smallest_share``. The book's experiment `rare_values` measures the coverage.

    Examples
    --------
    >>> from renyi_lib.inference import renyi_interval
    >>> found = renyi_interval([[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]],
    ...                        random_state=0)
    >>> [round(x, 2) for x in (found.plugin, found.estimate, found.low, found.high)]
    [0.52, 0.5, 0.35, 0.59]
    """
    rng = _generator(random_state)
    (table,) = _strata(a, b, None, sample_weight)
    found = interval_of_table(
        table,
        confidence_level=confidence_level,
        method=method,
        n_resamples=n_resamples,
        random_state=rng,
    )
    if sample_weight is None:
        return found
    return replace(found, design_effect=design_effect(sample_weights(sample_weight)))


def interval_of_table(
    table: np.ndarray,
    *,
    confidence_level: float = 0.95,
    method: str = "inversion",
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Compute a confidence interval of the Rényi correlation from a table of (effective) counts.

    Parameters
    ----------
    table : ndarray of shape (c, d)
        Counts; with weights, effective numbers of samples, which need not be integers.
    confidence_level, method, n_resamples, random_state
        Same as in `renyi_interval`.

    Returns
    -------
    Interval
        Interval with the same entries as in `renyi_interval`, but without a design effect.

    See Also
    --------
    renyi_lib.renyi_interval : Compute the same interval from labels.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.inference import interval_of_table
    >>> found = interval_of_table(np.array([[40, 10], [10, 40]]) / 1.5, random_state=0)
    >>> round(found.plugin, 3)
    0.6
    """
    _check_interval(confidence_level, n_resamples)
    choice("inversion", "bootstrap")("method", method)
    table = drop_empty(table)[0]
    if min(table.shape) < 2:
        which = "a (the rows)" if table.shape[0] < 2 else "b (the columns)"
        raise ValueError(
            f"{which} has only one value, so its dependence on the other variable cannot be "
            "estimated: pass data in which both variables vary"
        )
    intervals = renyi_intervals if method == "inversion" else reflected_intervals
    options = {"level": 1 - confidence_level, "n_resamples": n_resamples}
    (row,) = intervals(table[None], rng=_generator(random_state), **options)
    unseen = -np.expm1(np.log((1 - confidence_level) / 2) / table.sum())
    estimate, plugin, low, high, pvalue = row.tolist()
    return Interval(estimate, plugin, low, high, confidence_level, pvalue, float(unseen))


def fairness_interval(
    metric: str | Callable,
    y_true: Any,
    y_pred: ArrayLike | None = None,
    *,
    sensitive_features: Any = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Compute a confidence interval and a bias-corrected estimate of a fairness metric.

    Parameters
    ----------
    metric : str or function
        Metric from `renyi_lib.metrics`: "demographic_parity_ratio",
        "demographic_parity_difference", "equal_opportunity_difference",
        "equalized_odds_difference", or one of these functions.
    y_true : array-like of shape (n,), None, JointTable, or a pair of JointTable
        True labels, which may be None for the two metrics of demographic parity. Alternatively,
        the counts, given as the `JointTable` of decisions (rows) and groups (columns), restricted
        to samples with the positive label for equal opportunity. For equalized odds, pass a pair
        of tables, the one for the negative label first. With tables, leave out `y_pred`,
        `sensitive_features` and `sample_weight`.
    y_pred : array-like of shape (n,), optional
        Decisions, 0 or 1 (or labels, with `pos_label`). Probabilities raise an error, because
        their random errors differ from those of decisions. Required unless `y_true` is a table.
    sensitive_features : array-like of shape (n,) or (n, k), optional
        Group of each sample; several columns define joint groups. Required unless `y_true` is a
        table.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights w. Each group (within each label, if the metric conditions on the
        label) then counts as (sum w)^2 / sum w^2 samples, and the interval reports the design
        effect of all samples together. Weights are not supported for Dask collections.
    pos_label : label, optional
        Label that is treated as 1.
    confidence_level : float, default=0.95
        Confidence level of the interval.
    n_resamples : int, default=9999
        Number of random tables for the test of fairness. They are needed only if counts are
        small, and fewer are used if there are many groups.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random tables.

    Returns
    -------
    Interval
        Interval of the metric. If fairness cannot be excluded, the upper end for a ratio is 1 (the
        fair value), and the lower end for a difference is 0.

    See Also
    --------
    difference_interval : Compute an interval for the difference between two models.
    renyi_lib.inference.interval_of_counts : Compute the same interval from an array of counts.
    renyi_test : Test independence with the Rényi correlation.

    Notes
    -----
    The sizes of the groups (and, if the metric conditions on the label, their numbers of
    positives) are treated as fixed, and the decisions as independent. Both ends hold for groups
    of any size. The end farther from fairness is the least fair limit over all pairs of groups, so
    a small group makes the interval wide. The end closer to fairness is found by testing for which
    widths all rates could lie in a window of that width. It excludes fairness if and only if
    `renyi_test` rejects independence of decision and group (given the label, if the metric
    conditions on it) for the data without groups of one sample.

    Examples
    --------
    In this example, 10 of 40 women and 30 of 60 men are hired.

    >>> from renyi_lib.inference import fairness_interval
    >>> sex = ["f"] * 40 + ["m"] * 60
    >>> hired = [1] * 10 + [0] * 30 + [1] * 30 + [0] * 30
    >>> found = fairness_interval(
    ...     "demographic_parity_ratio", None, hired, sensitive_features=sex, random_state=0
    ... )
    >>> [round(x, 2) for x in (found.plugin, found.low, found.high)]
    [0.5, 0.24, 0.87]

    A table of counts, which may have been accumulated month by month, gives the same interval:

    >>> from renyi_lib import joint_table
    >>> table = joint_table(hired, sex)
    >>> fairness_interval("demographic_parity_ratio", table, random_state=0) == found
    True
    """
    _check_interval(confidence_level, n_resamples)
    measure = _measure(metric, _MEASURES)
    rng = _generator(random_state)
    if y_pred is None and _are_tables(y_true):
        if sensitive_features is not None or sample_weight is not None:
            raise ValueError(
                "y_true is already a table of decisions and groups: leave out sensitive_features "
                "and sample_weight"
            )
        counts, effect = _tabulated(measure, y_true, pos_label), None
    elif y_pred is None or sensitive_features is None:
        raise ValueError(
            "y_pred and sensitive_features are required unless y_true is a JointTable of "
            "decisions and groups"
        )
    else:
        predictions = {"y_pred": y_pred}
        counts, effect = _decisions(
            measure, y_true, predictions, sensitive_features, pos_label, sample_weight
        )
    found = _measured_interval(measure, counts, confidence_level, n_resamples, rng)
    return replace(found, design_effect=effect)


def interval_of_counts(
    metric: str | Callable,
    counts: np.ndarray,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Compute a confidence interval of a fairness metric from counts of decisions.

    Parameters
    ----------
    metric, confidence_level, n_resamples, random_state
        Same as in `fairness_interval`.
    counts : ndarray of shape (2, d, 2)
        Numbers of samples by true label, group and decision; with weights, effective numbers. If
        the metric does not condition on the true label, only the sums over labels matter.

    Returns
    -------
    Interval
        Interval with the same entries as in `fairness_interval`, but without a design effect.

    See Also
    --------
    renyi_lib.fairness_interval : Compute the same interval from labels and decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.inference import interval_of_counts
    >>> counts = np.array([[[30, 10], [30, 30]], [[0, 0], [0, 0]]])
    >>> found = interval_of_counts("demographic_parity_ratio", counts, random_state=0)
    >>> [round(x, 2) for x in (found.plugin, found.low, found.high)]
    [0.5, 0.24, 0.87]
    """
    _check_interval(confidence_level, n_resamples)
    measure = _measure(metric, _MEASURES)
    rng = _generator(random_state)
    strata = counts.sum(axis=0)[None] if measure.truths is None else counts[list(measure.truths)]
    return _measured_interval(measure, strata, confidence_level, n_resamples, rng)


def _measured_interval(measure, counts, confidence_level, n_resamples, rng):
    """Compute the interval of a metric from counts by stratum, group and decision."""
    (row,) = measure.intervals(
        counts[None], level=1 - confidence_level, n_resamples=n_resamples, rng=rng
    )
    estimate, plugin, low, high, pvalue = row.tolist()
    if measure.fair_is_one:
        estimate, plugin, low, high = 1 - estimate, 1 - plugin, 1 - high, 1 - low
    return Interval(estimate, plugin, low, high, confidence_level, pvalue)


def difference_interval(
    metric: str | Callable,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    y_pred_other: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Interval:
    """Compute a confidence interval of the difference between two models' metrics.

    Because both models are evaluated on the same samples, their metrics vary together, and the
    difference is usually known more precisely than either metric. Two separate intervals do not
    show this, and they may overlap even if the models differ significantly.

    Parameters
    ----------
    metric : str or function
        Metric as in `fairness_interval`, or "renyi_correlation" of decision and group.
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        Same as in `fairness_interval`, except that tables are not accepted.
    confidence_level, random_state
        Same as in `fairness_interval`.
    y_pred_other : array-like of shape (n,)
        Decisions of the other model for the same samples.
    n_resamples : int, default=9999
        Number of random tables from which the correlation between the two models' metrics is
        estimated. Each model's own interval uses random tables as in `renyi_interval`, if the
        metric is the Rényi correlation, or else as in `fairness_interval`.

    Returns
    -------
    Interval
        Interval of the metric of `y_pred` minus the metric of `y_pred_other`, between -1 and 1,
        without a p-value. If both models make the same decision for every sample, estimate and
        ends are 0.

    See Also
    --------
    fairness_interval : Compute the interval of a single model.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.inference import difference_interval
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.integers(2, size=2000)
    >>> before = (rng.random(2000) < 0.3 + 0.3 * sex).astype(int)
    >>> after = np.where(rng.random(2000) < 0.5, before, rng.random(2000) < 0.45).astype(int)
    >>> found = difference_interval(
    ...     "demographic_parity_ratio", None, after, before, sensitive_features=sex, random_state=0
    ... )
    >>> bool(found.low > 0)
    True
    """
    _check_interval(confidence_level, n_resamples)
    measure = _measure(metric, {**_MEASURES, **_OF_RHO})
    rng = _generator(random_state)
    decisions = {"y_pred": y_pred, "y_pred_other": y_pred_other}
    counts, effect = _decisions(
        measure, y_true, decisions, sensitive_features, pos_label, sample_weight
    )
    row = paired_interval(
        measure, counts, level=1 - confidence_level, n_resamples=n_resamples, rng=rng
    )
    estimate, plugin, low, high = row
    if measure.fair_is_one:
        estimate, plugin, low, high = 0 - estimate, 0 - plugin, 0 - high, 0 - low
    return Interval(estimate, plugin, low, high, confidence_level, design_effect=effect)


def sample_size(
    effect: float,
    *,
    metric: str | Callable = "renyi_correlation",
    shares: ArrayLike = (0.5, 0.5),
    outcome_shares: ArrayLike = (0.5, 0.5),
    rate: float = 0.5,
    power: float = 0.8,
    confidence_level: float = 0.95,
    random_state: Any = 0,
) -> int:
    """Compute the number of samples needed to detect a dependence, a difference or a ratio.

    An effect is detected if `renyi_test` rejects independence. In that case, the intervals of
    `renyi_interval` and `fairness_interval` exclude independence, too.

    Parameters
    ----------
    effect : float
        True value to detect, which is a Rényi correlation or a difference above 0, or a p% ratio
        between 0 and 1.
    metric : str or function, default="renyi_correlation"
        "renyi_correlation", or a metric as in `fairness_interval`. For equal opportunity, the
        result counts only samples with the positive label. For equalized odds, it counts only
        samples with the label for which the rates differ, and is based on a test for this label
        alone; `fairness_interval` also tests the other label, which reduces the power.
    shares : array-like of shape (d,), default=(0.5, 0.5)
        Share of each group.
    outcome_shares : array-like of shape (c,), default=(0.5, 0.5)
        For "renyi_correlation", the shares of the other variable's values. The dependence is
        assumed between the rarest group and the rarest outcome.
    rate : float, default=0.5
        For the other metrics, the rate of positive decisions in every group except the smallest,
        whose rate is lower.
    power : float, default=0.8
        Probability of detection.
    confidence_level : float, default=0.95
        Confidence level of the interval; the level of the test is 1 - confidence_level.
    random_state : int, RandomState, Generator or None, default=0
        Seed or generator of the random tables that refine the result.

    Returns
    -------
    int
        Number of samples in all groups together.

    See Also
    --------
    renyi_test : Test independence with the Rényi correlation.
    fairness_interval : Compute a confidence interval of a fairness metric.

    Notes
    -----
    The computation starts from the limit distribution (noncentral chi-square if one variable is
    binary, otherwise the largest eigenvalue of a noncentral Wishart matrix) and corrects the
    result with tables sampled from the assumed distribution. The book's experiment
    `planned_power` compares the planned power with the power that is measured.

    Examples
    --------
    How many samples does it take to detect that one of two equally large groups is selected at
    four fifths of the other's rate of one half? How many if the smaller group has a share of 5 %?

    >>> from renyi_lib.inference import sample_size
    >>> shares = [(0.5, 0.5), (0.05, 0.95)]
    >>> [round(sample_size(0.8, metric="demographic_parity_ratio", shares=s), -2) for s in shares]
    [800, 4100]
    """
    number(0.05, 0.999)("power", power)
    number(0.5, 0.9999)("confidence_level", confidence_level)
    P = _planned_table(
        effect, metric=metric, shares=shares, outcome_shares=outcome_shares, rate=rate
    )
    rng = _generator(random_state)
    return samples_needed(P, power=power, level=1 - confidence_level, rng=rng)


def _planned_table(
    effect,
    *,
    metric="renyi_correlation",
    shares=(0.5, 0.5),
    outcome_shares=(0.5, 0.5),
    rate=0.5,
):
    """Return the joint table with the effect that `sample_size` should detect."""
    name = getattr(metric, "__name__", metric)
    choice(*_MEASURES, *_OF_RHO)("metric", name)
    number(0, 1, above=True)("effect", effect)
    groups = _shares(shares, "shares")
    if name in _OF_RHO:
        return _rarest_together(effect, _shares(outcome_shares, "outcome_shares"), groups)
    number(0, 1, above=True)("rate", rate)
    return _smallest_apart(effect, rate, groups, ratio=_MEASURES[name].fair_is_one)


def _shares(shares, name):
    """Validate shares, which must be positive, at least two, and sum to 1."""
    try:
        found = np.asarray(shares, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, not {shares!r}: {error}") from error
    if found.ndim != 1 or len(found) < 2 or not (found > 0).all() or abs(found.sum() - 1) > 1e-6:
        raise ValueError(
            f"{name} must be two or more positive shares that sum to 1, not {shares!r}"
        )
    return found / found.sum()


def _rarest_together(rho, p, q):
    """Return the table with these margins in which the rarest values carry the correlation rho."""
    i, j = np.argmin(p), np.argmin(q)
    f, g = ((np.arange(len(m)) == at) - m[at] for m, at in ((p, i), (q, j)))
    f, g = f / np.sqrt(p @ f**2), g / np.sqrt(q @ g**2)
    most = 1 / max(-np.outer(f, g).min(), 1.0)
    if rho > most + 1e-12:
        raise ValueError(
            f"effect={rho:g} is impossible: if the rarest values have shares {p[i]:.3g} and "
            f"{q[j]:.3g}, effect must be at most {most:.3g}"
        )
    return np.maximum(np.outer(p, q) * (1 + rho * np.outer(f, g)), 0.0)


def _smallest_apart(effect, rate, groups, *, ratio):
    """Return the table of decisions and groups in which the smallest group has a lower rate."""
    lower = rate * effect if ratio else rate - effect
    if ratio and effect == 1:
        raise ValueError(
            "effect=1 is a p% ratio without any difference, so there is nothing to detect: pass "
            "an effect below 1"
        )
    if lower < 0:
        raise ValueError(
            f"effect={effect:g} is impossible with rate={rate:g}: the smallest group's rate would "
            f"be {lower:.3g}. Pass a higher rate or a smaller effect"
        )
    rates = np.where(np.arange(len(groups)) == np.argmin(groups), lower, rate)
    return np.stack([(1 - rates) * groups, rates * groups])


# --- Fairness metrics, as functions of the table strata x groups x decision ----------------------


class _Measure(NamedTuple):
    """Fairness metric for which 0 is fair, and the functions that compute it.

    They apply to counts by stratum (S), group (G) and decision (2), of many samples (R) at once.
    """

    function: Callable  # the function in renyi_lib.metrics, which validates its arguments
    value: Callable  # applies to tables (..., S, G, 2)
    intervals: Callable  # applies to tables (R, S, G, 2)
    truths: tuple | None = None  # the true labels to condition on
    fair_is_one: bool = False  # whether to report 1 - the value
    needs_variation: bool = False  # whether constant decisions raise an error


def _of_rates(of) -> tuple[Callable, Callable]:
    """Return a metric of the groups' rates, and a function that computes its intervals."""

    def value(tables):
        return of(tables[..., 1] / tables.sum(axis=-1))

    def intervals(tables, **options):
        return rate_intervals(of, tables[..., 1], tables.sum(axis=-1), **options)

    return value, intervals


def _rho_of_decisions(tables):
    return rho_of_tables(tables[..., 0, :, :])


def _intervals_of_decisions(tables, **options):
    return renyi_intervals(tables[:, 0], **options)


_MEASURES = {
    "demographic_parity_ratio": _Measure(
        metrics.demographic_parity_ratio, *_of_rates(one_minus_ratio), fair_is_one=True
    ),
    "demographic_parity_difference": _Measure(
        metrics.demographic_parity_difference, *_of_rates(gap)
    ),
    "equal_opportunity_difference": _Measure(
        metrics.equal_opportunity_difference, *_of_rates(gap), truths=(1,)
    ),
    "equalized_odds_difference": _Measure(
        metrics.equalized_odds_difference, *_of_rates(gap), truths=(0, 1)
    ),
}
# The function only validates the arguments, so any metric that needs only decisions will do.
_OF_RHO = {
    "renyi_correlation": _Measure(
        metrics.demographic_parity_difference,
        _rho_of_decisions,
        _intervals_of_decisions,
        needs_variation=True,
    )
}


def _measure(metric, known):
    """Look up a metric by its name or by its function."""
    name = getattr(metric, "__name__", metric)
    choice(*known)("metric", name)
    return known[name]


def _are_tables(given):
    """Return whether the argument is a joint table or a list of joint tables."""
    several = given if isinstance(given, list | tuple) else [given]
    return bool(several) and all(hasattr(table, "columns") and hasattr(table, "counts")
                                 for table in several)  # fmt: skip


def _tabulated(measure, tables, pos_label):
    """Convert tables of decisions and groups to counts by stratum, group and decision."""
    tables = list(tables) if isinstance(tables, list | tuple) else [tables]
    strata = len(measure.truths or (0,))
    if len(tables) != strata:
        needed = "one JointTable" if strata == 1 else "a pair of JointTables"
        order = "" if strata == 1 else " (the one for the negative label first)"
        raise ValueError(
            f"y_true must be {needed} for {measure.function.__name__}{order}, not "
            f"{len(tables)} table{'s' if len(tables) > 1 else ''}"
        )
    groups = list(dict.fromkeys(group for table in tables for group in table.columns.tolist()))
    if not groups:
        raise ValueError("y_true is a JointTable without samples: update it with samples first")
    check_several_groups(np.array(groups, dtype=object), sum(t.counts.sum() for t in tables))
    found = np.zeros((strata, len(groups), 2), dtype=np.int64)
    for stratum, table in zip(found, tables):
        counts = _counts(table.counts, "y_true")
        positive = as_probabilities(table.rows, "the rows of y_true", pos_label)
        if not np.isin(positive, (0, 1)).all():
            raise ValueError(
                f"y_true must have the decisions 0 and 1 as row labels, not {table.rows.tolist()}:"
                " apply a threshold to probabilities before counting"
            )
        places = [groups.index(group) for group in table.columns.tolist()]
        for decision in (0, 1):
            stratum[places, decision] = counts[positive == decision].sum(axis=0)
    empty = np.argwhere(found.sum(axis=2) == 0)
    if len(empty):
        raise ValueError(
            f"y_true has no sample of group {groups[empty[0][1]]} in one of its tables, so the "
            "rate of this group is undefined: merge the group with another one, or drop it"
        )
    return found


def _decisions(measure, y_true, predictions, sensitive_features, pos_label, sample_weight=None):
    """Count samples by true label, group and decisions; also return the design effect."""
    if measure.truths is not None and y_true is None:
        raise ValueError(
            f"y_true is None, but {measure.function.__name__} compares samples with the same true "
            "label: pass y_true"
        )
    if is_dask(y_true, sensitive_features, *predictions.values()):
        if sample_weight is not None:
            raise ValueError(
                "sample_weight is not supported for Dask collections: leave out sample_weight"
            )
        counts = _decisions_of_dask(measure, y_true, predictions, sensitive_features, pos_label)
        return counts, None
    decisions = []
    for name, y_pred in predictions.items():
        with _renamed(name):
            measure.function(
                y_true,
                y_pred,
                sensitive_features=sensitive_features,
                sample_weight=sample_weight,
                pos_label=pos_label,
            )
            decision = as_probabilities(y_pred, name, pos_label)
        if len(soft := decision[~np.isin(decision, (0, 1))]):
            raise ValueError(
                f"{name} must contain decisions, 0 and 1, not probabilities such as {soft[0]:g}: "
                "apply the decision threshold first"
            )
        if measure.needs_variation and np.ptp(decision) == 0:
            raise ValueError(
                f"{name} is the same for every sample, so its dependence on the group cannot be "
                "measured: pass decisions that vary"
            )
        decisions.append(decision.astype(np.intp))
    codes, groups = encode_labels(sensitive_features, "sensitive_features")
    truth = np.zeros(len(codes), dtype=np.intp)
    if measure.truths is not None:
        truth = as_probabilities(y_true, "y_true", pos_label).astype(np.intp)
    shape = (2, len(groups), *[2] * len(decisions))
    strata = list(measure.truths or (0,))
    columns = [truth, codes, *decisions]
    if sample_weight is None:
        return count_codes(columns, shape)[strata], None
    weights = sample_weights(sample_weight)
    sums, squares = (count_codes(columns, shape, w)[strata] for w in (weights, weights**2))
    # Groups of weight 0 are dropped.
    used = sums.any(axis=tuple(k for k in range(sums.ndim) if k != 1))
    axes = tuple(range(2, sums.ndim))
    counts = effective_counts(sums[:, used], squares[:, used], axes)
    return counts, design_effect(weights)


def _decisions_of_dask(measure, y_true, predictions, sensitive_features, pos_label):
    """Count the decisions of Dask collections, partition by partition."""
    truth = {} if measure.truths is None else {"y_true": y_true}
    variables = {**truth, "sensitive_features": sensitive_features, **predictions}

    def check(name, values, n_samples):
        if name == "sensitive_features":
            check_several_groups(values, n_samples)
        elif len(soft := np.setdiff1d(as_probabilities(values, name, pos_label), (0, 1))):
            raise ValueError(
                f"{name} must contain decisions, 0 and 1, not probabilities such as {soft[0]:g}: "
                "apply the decision threshold first"
            )

    counts, values = count_labels(variables, check=check)
    for axis, (name, labels) in enumerate(zip(variables, values)):
        if name != "sensitive_features":
            positive = as_probabilities(labels, name, pos_label) == 1
            pair = [counts.compress(kept, axis).sum(axis) for kept in (~positive, positive)]
            counts = np.stack(pair, axis)
            varies = min(part.sum() for part in pair) > 0
            if name in predictions and measure.needs_variation and not varies:
                raise ValueError(
                    f"{name} is the same for every sample, so its dependence on the group cannot "
                    "be measured: pass decisions that vary"
                )
    if measure.truths is None:
        return counts[None]
    counts = counts[list(measure.truths)]
    for label, stratum in zip(measure.truths, counts):
        size = stratum.reshape(len(stratum), -1).sum(axis=1)
        if not size.all():
            group = values[list(variables).index("sensitive_features")][size.argmin()]
            raise ValueError(
                f"no sample of group {group} in sensitive_features has y_true = {label}, so the "
                "rate of this group is undefined: merge the group with another one, or drop it"
            )
    return counts


@contextmanager
def _renamed(name):
    """Reword errors about y_pred so that they name another argument."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error).replace("y_pred", name)) from error


def paired_interval(measure, counts, *, level, n_resamples, rng):
    """Compute estimate, plug-in value and ends of the difference between two models' metrics.

    The ends are combined from the ends for each model and the correlation r between the models
    (MOVER). With e, l, u for each model's estimate and ends, the lower end is::

        e_1 - e_2 - sqrt((e_1 - l_1)^2 - 2 r (e_1 - l_1)(u_2 - e_2) + (u_2 - e_2)^2).

    The metrics are 0 for a fair model. If the second model may be fair, the first may be worse by
    as much as u_1, regardless of r, and likewise with the models exchanged.

    Parameters
    ----------
    measure : _Measure
        Metric to compute for both models.
    counts : ndarray of shape (S, G, 2, 2)
        Counts by stratum, group, and the decisions of the first and of the second model.
    level, n_resamples, rng
        Same as in `renyi_intervals`.

    Returns
    -------
    tuple of four floats
        Estimate, plug-in value, lower end and upper end.

    References
    ----------
    G. Y. Zou, "Toward using confidence intervals to compare correlations", Psychological Methods
    12 (2007), 399-413, doi:10.1037/1082-989X.12.4.399.
    """
    if not counts[:, :, 0, 1].any() and not counts[:, :, 1, 0].any():
        return 0.0, 0.0, 0.0, 0.0
    seed = int(rng.integers(2**63))
    (e_1, plugin_1, l_1, u_1), (e_2, plugin_2, l_2, u_2) = (
        # Both models use the same random numbers, so equal models get equal intervals.
        measure.intervals(
            counts.sum(axis=other)[None],
            level=level,
            n_resamples=n_resamples,
            rng=np.random.default_rng(seed),
        )[0, :4].tolist()
        for other in (3, 2)
    )
    size = counts.sum(axis=(2, 3))
    cells = counts.reshape(*size.shape, 4)
    people = np.maximum(np.rint(size), 1).astype(np.int64)
    drawn = rng.multinomial(people, cells / size[..., None], size=(n_resamples, *size.shape))
    drawn = drawn.reshape(n_resamples, *counts.shape)
    values = [measure.value(drawn.sum(axis=other)) for other in (4, 3)]
    varies = min(np.ptp(value) for value in values) > 0
    r = np.clip(np.corrcoef(*values)[0, 1], -1, 1) if varies else 0.0
    estimate = e_1 - e_2
    low = estimate - _hypotenuse(e_1 - l_1, u_2 - e_2, r)
    high = estimate + _hypotenuse(u_1 - e_1, e_2 - l_2, r)
    low = min(low, -u_2) if l_1 == 0 else low
    high = max(high, u_1) if l_2 == 0 else high
    return estimate, plugin_1 - plugin_2, float(max(low, -1.0)), float(min(high, 1.0))


def _hypotenuse(x, y, r):
    """Return the third side of a triangle with sides x and y whose angle has the cosine r."""
    return np.sqrt(max(x**2 - 2 * r * x * y + y**2, 0.0))


# --- Validation of tables, and random generators -------------------------------------------------


def _strata(a, b, given, sample_weight=None):
    """Return a list of tables of a and b, one per stratum; with weights, of effective counts."""
    if b is None:
        if given is not None:
            raise ValueError(
                "given requires samples of a and b, because a table of counts has no strata: "
                "leave out given, or pass samples"
            )
        refuse_sample_matrix(a, "a")
        if sample_weight is not None:
            raise ValueError(
                "sample_weight requires samples of a and b, but a is a table of counts: leave out "
                "sample_weight"
            )
        return [_counts(getattr(a, "counts", a), "a")]
    if hasattr(a, "counts"):
        raise ValueError("a is a table of counts, which contains both variables: leave out b")
    if hasattr(b, "counts"):
        raise ValueError("b is a table of counts: pass it as a, and leave out b")
    variables = {"a": a, "b": b} if given is None else {"given": given, "a": a, "b": b}

    def count(weight):
        return count_labels(
            variables, weight, check=lambda name, seen, n: check_discrete(seen, n, name)
        )[0]

    table = count(sample_weight)
    if sample_weight is not None:
        squares = count(sample_weights(sample_weight) ** 2)
        table = effective_counts(table, squares, (table.ndim - 2, table.ndim - 1))
    return [table] if given is None else list(table)


def _counts(table, name):
    """Validate a table of nonnegative integers that are not all zero."""
    cure = ". For samples, pass both a and b" if name == "a" else ""
    try:
        table = np.asarray(table, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a table of counts: {error}{cure}") from error
    if table.ndim != 2 or table.size == 0:
        raise ValueError(
            f"{name} must be a two-dimensional table of counts, not an array of shape "
            f"{table.shape}{cure}"
        )
    if not np.isfinite(table).all():
        raise ValueError(f"{name} has missing or infinite cells: pass finite counts")
    if table.min() < 0:
        raise ValueError(
            f"{name} has negative cells, such as {table.min():g}: counts must be 0 or more"
        )
    if len(fractions := table[table != np.floor(table)]):
        raise ValueError(
            f"{name} must contain counts, which are integers, not {fractions[0]:g}: sums of "
            "weights and probabilities do not say how many independent samples were counted"
        )
    if table.sum() == 0:
        raise ValueError(f"{name} is zero in every cell: pass a table with at least one sample")
    if table.sum() >= _MOST:
        raise ValueError(
            f"{name} has {table.sum():.2g} samples, but at most {_MOST:.2g} can be counted exactly"
        )
    return table.astype(np.int64)


def _generator(random_state):
    from renyi_lib._random import as_generator

    return as_generator(random_state)


def _check_interval(confidence_level, n_resamples):
    number(0.5, 0.9999)("confidence_level", confidence_level)
    whole(1)("n_resamples", n_resamples)
    needed = round(_IN_TAILS / (1 - confidence_level))
    if n_resamples < needed:
        raise ValueError(
            f"n_resamples must be at least {needed} for confidence_level={confidence_level:g}, "
            f"not {n_resamples}: with fewer, too few random samples would lie outside the interval"
        )
