"""How sure a computed value is: a test, an interval and a bias correction, from counts.

Near independence the Rényi correlation of a sample is too large, since its functions are chosen
after the chance errors have been seen. `renyi_test` tells chance from dependence, `renyi_interval`
says how strong the dependence may be. `fairness_interval` does the same for p% and for violations
of fairness, and `difference_interval` for the difference between two models on the same people.
`sample_size` says how many people a study needs.

All of them work on tables of counts, so that ten million people cost what a thousand do (a few
times as much where tables are permuted). Counts are numbers of independent people. With
`sample_weight` the sample counts as the smaller number of people that would be as informative
(the effective sample size of Kish). A table of sums of weights is refused, since it does not tell
how many people stand behind it.
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

# From here on a float cannot count one by one.
_MOST = 2**53
# So many of the random samples must be expected beyond the ends of an interval.
_IN_TAILS = 50


@dataclass(frozen=True)
class RenyiTest:
    """What `renyi_test` found.

    Attributes
    ----------
    statistic : float
        The Rényi correlation of the sample; with `given`, the root of its mean square.
    pvalue : float
        How probable so large a value is if the variables are independent.
    method : {"asymptotic", "permutation"}
        How the p-value was found.
    n_samples : int
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
    """A confidence interval.

    Attributes
    ----------
    estimate : float
        Corrected for bias. Of rho_R, the truth under which half of all samples show more than
        this one; of measures of rates, the value of rates that are drawn towards the common one.
    plugin : float
        The value of the sample itself.
    low, high : float
        The ends.
    confidence_level : float
        Confidence level of the interval.
    pvalue : float or None
        Of the test of independence, or of fairness. The interval excludes independence (or
        fairness) exactly if it is below 1 - confidence_level. Groups of one person are left out.
    smallest_share : float or None
        For `renyi_interval`, the smallest share that a value must have to occur in the sample
        almost surely. The upper end holds for values of at least this share. Rarer values may
        be missing, and any dependence with them; without such a floor the upper end is 1.
    design_effect : float or None
        With `sample_weight`, the number of people divided by the effective number (Kish).
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
    """Test of independence by the Rényi correlation.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Labels of any kind, as in `renyi_correlation`. Or a table of counts alone, as `a`: a
        `JointTable` or an array of two dimensions.
    given : array-like of shape (n,), optional
        A third variable. Then the test is of independence within each of its strata.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights. Each stratum then counts as (sum w)^2 / sum w^2 people.
    method : {"auto", "asymptotic", "permutation"}
        "asymptotic": n rho^2 is compared with its limit law, that of the largest eigenvalue of a
        Wishart matrix (chi-square if one variable is binary). "permutation": with tables of the
        same margins, drawn at random; exact for any sample. "auto": the limit law where each cell
        is expected to hold 2 samples or more, permutation where it is not.
    n_resamples : int, default=9999
        Random tables.
    random_state : int, Generator or None
        Seed of the random tables.

    Returns
    -------
    RenyiTest
        With ``statistic``, ``pvalue``, ``method`` and ``n_samples``.

    Notes
    -----
    With `given` the statistic is the root of sum_s (n_s / n) rho_s^2, over the strata s. The sum
    of n_s rho_s^2 gathers weak dependence that is spread over many strata, which a maximum would
    miss; it is the paper's penalty for equalized odds with each stratum weighted by its size.
    Permutations stay within strata. A variable that is constant (within a stratum) shows no
    dependence and changes nothing.

    A p-value of a permutation test is never below 1 / (1 + n_resamples). In a small table few
    values are possible, and the permutation test rejects less often than its level says.

    Examples
    --------
    >>> from renyi_lib.inference import renyi_test
    >>> test = renyi_test([[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]])
    >>> test.method, round(test.statistic, 3), f"{test.pvalue:.0e}"
    ('asymptotic', 0.517, '7e-13')

    Two dice, thirty throws, whose table looks strongly dependent:

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
            f"method='permutation' takes up to {MOST_TO_PERMUTE} samples, not {n_samples}: "
            "take 'asymptotic', which needs no more than counts that are large"
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
    """Confidence interval and bias-corrected estimate of the Rényi correlation.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Labels of any kind, or a table of counts alone, as in `renyi_test`. Both must vary.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights. The sample then counts as (sum w)^2 / sum w^2 people, and
        the interval states the design effect.
    confidence_level : float, default=0.95
        Confidence level of the interval.
    method : {"inversion", "bootstrap"}
        "inversion" keeps the candidates for the truth under which the sample would not be
        extreme. "bootstrap" reflects the bootstrap's quantiles around the value of the sample,
        and starts at 0 unless the test rejects; simple, and measurably worse.
    n_resamples : int, default=9999
        Random tables in all.
    random_state : int, Generator or None
        Seed or generator of the random numbers.

    Returns
    -------
    Interval
        With ``estimate``, ``plugin`` (the value of the sample), ``low``, ``high`` and
        ``confidence_level``.

    Notes
    -----
    With D = diag(p)^(1/2) U diag(s) V^T diag(q)^(1/2) for the table minus the product of its
    margins, the candidate t has the table p q^T + diag(p)^(1/2) U diag(t, ...) V^T diag(q)^(1/2).
    The further singular values are those of the sample, times a factor and at most t, so that
    all squares add up to chi-square / n minus its bias (c-1)(d-1)/n. Towards t = 1 the cells that
    speak against the dependence are emptied. Tables are drawn from each candidate.

    The interval contains 0 unless `renyi_test` rejects at level 1 - confidence_level; for both the
    lower end and that test, values that occur only once are merged, since one person proves
    nothing.

    Where a rare value carries the dependence, the curve is not enough. The upper end is therefore
    also that of the correlation of two events, a value of one variable and one or several of the
    other, whose counts get exact limits that share the error between them. Values that did not
    occur in the sample are beyond any upper limit: it holds for values with a share of at least
    ``smallest_share``.
    The book's experiment `rare_values` measures the coverage.

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
    """Confidence interval of the Rényi correlation, from a table of (effective) counts.

    Parameters
    ----------
    table : ndarray of shape (c, d)
        Counts; with weights, effective numbers of samples, which need not be whole.
    confidence_level, method, n_resamples, random_state
        As in `renyi_interval`.

    Returns
    -------
    Interval

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
            f"{which} has one value only: a sample without variation says nothing about how the "
            "variables depend on each other"
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
    """Confidence interval and bias-corrected estimate of a measure of fairness.

    Parameters
    ----------
    metric : str or function
        "demographic_parity_ratio", "demographic_parity_difference",
        "equal_opportunity_difference" or "equalized_odds_difference", or the function of that
        name in `renyi_lib.metrics`.
    y_true : array-like of shape (n,), None, JointTable, or a pair of JointTable
        True labels; None will do for the first two. Or the counts alone, as the `JointTable` of
        decisions (its rows) and groups, of the people with the positive label for equal
        opportunity; for equalized odds a pair of tables, that of the negative label first. Then
        `y_pred`, `sensitive_features` and `sample_weight` are left out.
    y_pred : array-like of shape (n,)
        Decisions, 0 and 1 (or labels, with `pos_label`). Not probabilities: their chance errors
        are others than those of decisions.
    sensitive_features : array-like of shape (n,) or (n, k)
        Groups.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights. Each group (and label, given the truth) then counts as
        (sum w)^2 / sum w^2 people, and the interval states the design effect.
    pos_label : label, optional
        The label that means 1.
    confidence_level : float, default=0.95
        Confidence level of the interval.
    n_resamples : int, default=9999
        Random samples in all.
    random_state : int, Generator or None
        Seed or generator of the random numbers.

    Returns
    -------
    Interval
        Of p%, where 1 is fair, the upper end is 1 where fairness cannot be excluded; of a
        violation, where 0 is fair, the lower end is 0.

    Notes
    -----
    The groups' sizes (and, given the truth, their numbers of positives) are taken as they are, and
    the decisions as independent. Both ends hold with groups of any size. The end away from
    fairness is the largest limit of any pair of groups, so that a small group makes it wide. The
    end towards fairness asks whether all rates could lie in a window of that width; it excludes
    fairness exactly when `renyi_test` rejects independence of decision and group (given the truth
    where the measure asks for it). Groups of one person are left out of this second question.

    Examples
    --------
    Of 40 women 10 are hired, of 60 men 30.

    >>> from renyi_lib.inference import fairness_interval
    >>> sex = ["f"] * 40 + ["m"] * 60
    >>> hired = [1] * 10 + [0] * 30 + [1] * 30 + [0] * 30
    >>> found = fairness_interval(
    ...     "demographic_parity_ratio", None, hired, sensitive_features=sex, random_state=0
    ... )
    >>> [round(x, 2) for x in (found.plugin, found.low, found.high)]
    [0.5, 0.24, 0.87]

    The same from a table of counts, as it may have been added up month by month:

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
                "y_true is a table of decisions and groups already: leave out sensitive_features "
                "and sample_weight"
            )
        counts, effect = _tabulated(measure, y_true, pos_label), None
    elif y_pred is None or sensitive_features is None:
        raise ValueError(
            "y_pred and sensitive_features are needed, unless y_true is a JointTable of decisions "
            "and groups"
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
    """Confidence interval for a fairness metric, computed from counts of decisions.

    Parameters
    ----------
    metric, confidence_level, n_resamples, random_state
        As in `fairness_interval`.
    counts : ndarray of shape (2, d, 2)
        Samples by true label, group and decision; with weights, effective numbers of them. Where
        the measure does not ask for the truth, the labels do not matter.

    Returns
    -------
    Interval

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
    """The interval of a measure, from counts by stratum, group and decision."""
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
    """Confidence interval of the difference between two models on the same people.

    The two models err on the same people, so that their measures rise and fall together, and the
    difference is known better than either. Two intervals that overlap do not show this.

    Parameters
    ----------
    metric : str or function
        As in `fairness_interval`, or "renyi_correlation", of decision and group.
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `fairness_interval`, without tables.
    confidence_level, n_resamples, random_state
        As in `fairness_interval`.
    y_pred_other : array-like of shape (n,)
        Decisions of the other model, on the same people.

    Returns
    -------
    Interval
        Of the measure of `y_pred` minus that of `y_pred_other`, between -1 and 1. If both decide
        alike for everybody, they are taken for the same model, and all of it is 0.

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
    """How many people are needed to detect a dependence, a gap or a ratio.

    An effect is detected if `renyi_test` rejects independence, which is also when the intervals of
    `renyi_interval` and `fairness_interval` exclude it.

    Parameters
    ----------
    effect : float
        The truth that is to be detected: a Rényi correlation or a gap, above 0, or a p%, below 1.
    metric : str or function
        "renyi_correlation", or a measure as in `fairness_interval`. For equal opportunity the
        answer counts people with the positive label only, and for equalized odds those of the
        label whose rates differ.
    shares : array-like of shape (d,)
        The groups' shares of all people.
    outcome_shares : array-like of shape (c,)
        For "renyi_correlation", the shares of the other variable's values. The dependence is
        that of the rarest group with the rarest outcome.
    rate : float, default=0.5
        For the other measures, the rate of positive decisions in every group but the smallest,
        whose rate is lower.
    power : float, default=0.8
        The probability of detection.
    confidence_level : float, default=0.95
        Confidence level of the interval.
    random_state : int, Generator or None, default=0
        For the random tables that refine the answer.

    Returns
    -------
    int
        People in all groups together.

    Notes
    -----
    The answer starts from the limit law (noncentral chi-square if one variable is binary, else the
    largest root of a noncentral Wishart matrix) and is corrected with tables drawn from the
    assumed truth. The book's experiment `planned_power` compares the planned power with the power
    that is then found.

    Examples
    --------
    How many people does it take to see that one of two equal groups is selected at four fifths of
    the other's rate of one half? And if the smaller group is one in twenty?

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
    """The joint table that `sample_size` plans for."""
    name = getattr(metric, "__name__", metric)
    choice(*_MEASURES, *_OF_RHO)("metric", name)
    number(0, 1, above=True)("effect", effect)
    groups = _shares(shares, "shares")
    if name in _OF_RHO:
        return _rarest_together(effect, _shares(outcome_shares, "outcome_shares"), groups)
    number(0, 1, above=True)("rate", rate)
    return _smallest_apart(effect, rate, groups, ratio=_MEASURES[name].fair_is_one)


def _shares(shares, name):
    """Positive shares of at least two values, with the sum 1."""
    try:
        found = np.asarray(shares, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from error
    if found.ndim != 1 or len(found) < 2 or not (found > 0).all() or abs(found.sum() - 1) > 1e-6:
        raise ValueError(
            f"{name} must be two or more positive shares that sum to 1, not {shares!r}"
        )
    return found / found.sum()


def _rarest_together(rho, p, q):
    """The table with these margins in which the two rarest values carry the correlation rho."""
    i, j = np.argmin(p), np.argmin(q)
    f, g = ((np.arange(len(m)) == at) - m[at] for m, at in ((p, i), (q, j)))
    f, g = f / np.sqrt(p @ f**2), g / np.sqrt(q @ g**2)
    most = 1 / max(-np.outer(f, g).min(), 1.0)
    if rho > most + 1e-12:
        raise ValueError(
            f"effect={rho:g} is impossible: when the rarest values have shares {p[i]:.3g} and "
            f"{q[j]:.3g}, it can be at most {most:.3g}: give a smaller effect"
        )
    return np.maximum(np.outer(p, q) * (1 + rho * np.outer(f, g)), 0.0)


def _smallest_apart(effect, rate, groups, *, ratio):
    """The table of decisions and groups in which the smallest group has a lower rate."""
    lower = rate * effect if ratio else rate - effect
    if ratio and effect == 1:
        raise ValueError("effect=1 is a p% without a difference: there is nothing to detect")
    if lower < 0:
        raise ValueError(
            f"effect={effect:g} is impossible with rate={rate:g}: the smallest group's rate would "
            f"be {lower:.3g}. Give a higher rate"
        )
    rates = np.where(np.arange(len(groups)) == np.argmin(groups), lower, rate)
    return np.stack([(1 - rates) * groups, rates * groups])


# --- Measures of fairness, as functions of the table strata x groups x decision ------------------


class _Measure(NamedTuple):
    """A measure where 0 is fair, and how to find it."""

    function: Callable  # of renyi_lib.metrics, which checks what it is given
    value: Callable  # of tables (..., S, G, 2)
    intervals: Callable  # of tables (R, S, G, 2)
    truths: tuple | None = None  # the values of the truth to condition on
    fair_is_one: bool = False
    needs_variation: bool = False


def _of_rates(of) -> tuple[Callable, Callable]:
    """A measure of the groups' rates, and its intervals."""

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
# The check of its arguments is that of any measure that looks at decisions alone.
_OF_RHO = {
    "renyi_correlation": _Measure(
        metrics.demographic_parity_difference,
        _rho_of_decisions,
        _intervals_of_decisions,
        needs_variation=True,
    )
}


def _measure(metric, known):
    """The measure of that name, or of the function that has it."""
    name = getattr(metric, "__name__", metric)
    choice(*known)("metric", name)
    return known[name]


def _are_tables(given):
    """Whether these are joint tables: one, or several in a list."""
    several = given if isinstance(given, list | tuple) else [given]
    return bool(several) and all(hasattr(table, "columns") and hasattr(table, "counts")
                                 for table in several)  # fmt: skip


def _tabulated(measure, tables, pos_label):
    """Counts by stratum, group and decision, of tables of decisions and groups."""
    tables = list(tables) if isinstance(tables, list | tuple) else [tables]
    strata = len(measure.truths or (0,))
    if len(tables) != strata:
        needed = "a table" if strata == 1 else "a pair of tables, by the true label,"
        raise ValueError(f"y_true must be {needed} for {measure.function.__name__}")
    groups = list(dict.fromkeys(group for table in tables for group in table.columns.tolist()))
    check_several_groups(np.array(groups, dtype=object), sum(t.counts.sum() for t in tables))
    found = np.zeros((strata, len(groups), 2), dtype=np.int64)
    for stratum, table in zip(found, tables):
        counts = _counts(table.counts, "y_true")
        positive = as_probabilities(table.rows, "the rows of y_true", pos_label)
        if not np.isin(positive, (0, 1)).all():
            raise ValueError("the rows of y_true must be decisions, 0 and 1, not probabilities")
        places = [groups.index(group) for group in table.columns.tolist()]
        for decision in (0, 1):
            stratum[places, decision] = counts[positive == decision].sum(axis=0)
    empty = np.argwhere(found.sum(axis=2) == 0)
    if len(empty):
        raise ValueError(
            f"y_true has no sample of the group {groups[empty[0][1]]} in one of its tables, so "
            "that its rate is undefined: merge it with another or drop it"
        )
    return found


def _decisions(measure, y_true, predictions, sensitive_features, pos_label, sample_weight=None):
    """Counts by stratum of the truth, group, and decision of each model; and a design effect."""
    if measure.truths is not None and y_true is None:
        raise ValueError(
            f"y_true is needed: {measure.function.__name__} compares people of the same truth"
        )
    if is_dask(y_true, sensitive_features, *predictions.values()):
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported for Dask collections: leave it out")
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
        if not np.isin(decision, (0, 1)).all():
            raise ValueError(
                f"{name} must hold decisions, 0 and 1, not probabilities: cut them at the "
                "threshold that is used"
            )
        if measure.needs_variation and np.ptp(decision) == 0:
            raise ValueError(
                f"{name} decides the same for everyone: how decisions depend on the group cannot "
                "be told from it"
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
    """The same counts, partition by partition."""
    truth = {} if measure.truths is None else {"y_true": y_true}
    variables = {**truth, "sensitive_features": sensitive_features, **predictions}

    def check(name, values, n_samples):
        if name == "sensitive_features":
            check_several_groups(values, n_samples)
        elif not np.isin(as_probabilities(values, name, pos_label), (0, 1)).all():
            raise ValueError(
                f"{name} must hold decisions, 0 and 1, not probabilities: cut them at the "
                "threshold that is used"
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
                    f"{name} decides the same for everyone, so its dependence on the group "
                    "cannot be measured"
                )
    if measure.truths is None:
        return counts[None]
    counts = counts[list(measure.truths)]
    for label, stratum in zip(measure.truths, counts):
        size = stratum.reshape(len(stratum), -1).sum(axis=1)
        if not size.all():
            group = values[list(variables).index("sensitive_features")][size.argmin()]
            raise ValueError(
                f"no sample of the group {group} in sensitive_features has y_true = {label}, so "
                "that its rate is undefined: merge it with another or drop it"
            )
    return counts


@contextmanager
def _renamed(name):
    """Errors about y_pred, said about another argument."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error).replace("y_pred", name)) from error


def paired_interval(measure, counts, *, level, n_resamples, rng):
    """Estimate, plug-in value and ends for the difference of two models, where 0 is fair.

    The ends are put together from those of each model and the correlation r of the two (MOVER):
    with e, l, u for each model's estimate and ends, the lower end is::

        e_1 - e_2 - sqrt((e_1 - l_1)^2 - 2 r (e_1 - l_1)(u_2 - e_2) + (u_2 - e_2)^2).

    Where the second model may be fair, the first may be worse by all of u_1, whatever r.

    Parameters
    ----------
    measure : _Measure
    counts : ndarray of shape (S, G, 2, 2)
        By stratum, group, and the decisions of the first and of the second model.
    level, n_resamples, rng
        As in `renyi_intervals`.

    References
    ----------
    G. Y. Zou, "Toward using confidence intervals to compare correlations", Psychological Methods
    12 (2007), 399-413, doi:10.1037/1082-989X.12.4.399.
    """
    if not counts[:, :, 0, 1].any() and not counts[:, :, 1, 0].any():
        return 0.0, 0.0, 0.0, 0.0
    seed = int(rng.integers(2**63))
    (e_1, plugin_1, l_1, u_1), (e_2, plugin_2, l_2, u_2) = (
        # The same random numbers for both: equal models get equal intervals.
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
    """The third side of a triangle with sides x and y, whose angle has the cosine r."""
    return np.sqrt(max(x**2 - 2 * r * x * y + y**2, 0.0))


# --- Reading, and random tables ------------------------------------------------------------------


def _strata(a, b, given, sample_weight=None):
    """The table of a and b in each stratum of the third variable, as (effective) counts."""
    if b is None:
        if given is not None:
            raise ValueError("given needs samples of a and b: a table of counts has no strata")
        refuse_sample_matrix(a, "a")
        if sample_weight is not None:
            raise ValueError("sample_weight needs samples of a and b, and a is a table")
        return [_counts(getattr(a, "counts", a), "a")]
    if hasattr(a, "counts") or hasattr(b, "counts"):
        raise ValueError("a is a table of counts already: b must be left out")
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
    """A table of whole, non-negative numbers, not all zero."""
    try:
        table = np.asarray(table, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a table of counts if no second variable is given: {error}"
        ) from error
    if table.ndim != 2 or table.size == 0:
        raise ValueError(
            f"{name} must be a table of counts with rows and columns if no second variable is "
            f"given; it has shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError(f"{name} has cells that are missing or infinite: a count is neither")
    if table.min() < 0:
        raise ValueError(f"{name} has negative cells: counts are zero or more")
    if not (table == np.floor(table)).all():
        raise ValueError(
            f"{name} must hold counts, whole numbers of people: sums of weights and probabilities "
            "do not tell how many independent people stand behind them"
        )
    if table.sum() == 0:
        raise ValueError(f"{name} is zero everywhere: there are no samples")
    if table.sum() >= _MOST:
        raise ValueError(f"{name} has {table.sum():.2g} samples, more than can be counted exactly")
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
            f"n_resamples must be {needed} or more for a confidence_level of "
            f"{confidence_level:g}, not {n_resamples}: too few would lie beyond the ends"
        )
