"""One-page fairness report with rates by group, metrics with intervals, and other thresholds.

The report is written for decision makers. It states the uncertainty of rates and metrics,
evaluates many thresholds instead of only the one in use, and summarizes the findings in plain
words.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.metrics import roc_auc_score

from renyi_lib._counting import count_codes
from renyi_lib._design import design_effect, effective_counts
from renyi_lib._dispatch import is_dask
from renyi_lib._optional import missing
from renyi_lib._parameters import number, whole
from renyi_lib._rows import read_rows
from renyi_lib._validation import (
    as_probabilities,
    check_alignment,
    encode_labels,
    numeric_values,
    sample_weights,
)
from renyi_lib.inference import interval_of_counts, interval_of_table

__all__ = ["FairnessReport", "fairness_report"]

# Thresholds are quantiles of the score. Unless many scores are equal, each threshold selects, and
# rejects, at least about this share of all samples.
_FEWEST = 0.02
_THRESHOLDS = 99
# For a higher confidence level, the intervals would need more random samples than they use.
_MOST_CONFIDENT = 0.994
_BINS = 10
_FOUR_FIFTHS = 0.8
# Maximum number of small groups that the verdict lists by name.
_NAMED = 5


@dataclass(frozen=True)
class FairnessReport:
    """Fairness report, which is displayed as text or, in a notebook, as HTML.

    Attributes
    ----------
    by_group : DataFrame
        One row for each group, with the number of people; the selection rate, the true positive
        rate and the false positive rate, each with its interval; the mean score; and the accuracy.
    measures : DataFrame
        One row for each metric, with its value in the sample, the bias-corrected estimate with
        its interval, and the value that would be fair. The accuracy is not corrected, the AUC has
        no estimate, and neither has a fair value.
    by_threshold : DataFrame
        One row for each of up to 99 thresholds, which are quantiles of the score, with the shares
        of all people and of each group that are selected, and the p% ratio.
    verdict : str
        Findings in plain words.
    threshold : float
        Threshold in use.
    confidence_level : float
        Confidence level of each interval.
    small_groups : dict
        Groups with fewer people than `min_group_size`, and their sizes.
    measures_without_small : DataFrame or None
        Same as `measures`, but without the small groups; None if no group is small, if fewer than
        two groups remain, or if all remaining people get the same decision.
    design_effect : float or None
        With weights, the number of people divided by the effective number (Kish).
    """

    by_group: pd.DataFrame
    measures: pd.DataFrame
    by_threshold: pd.DataFrame
    verdict: str
    threshold: float
    confidence_level: float
    small_groups: dict = field(default_factory=dict)
    measures_without_small: pd.DataFrame | None = None
    design_effect: float | None = None

    def plot(self, ax=None):
        """Plot the p% ratio against the threshold, with four fifths and the threshold in use.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, a new figure is created. Requires matplotlib.

        Returns
        -------
        Axes
            Axes with the plot.
        """
        try:
            import matplotlib.pyplot as plt
        except ModuleNotFoundError as error:
            raise missing("matplotlib", "FairnessReport.plot", "plot") from error
        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 3.6))
        ax.plot(
            self.by_threshold.index, self.by_threshold["demographic_parity_ratio"], color="#0072b2"
        )
        ax.axhline(_FOUR_FIFTHS, color="#595959", linestyle="--", linewidth=1)
        ax.axvline(self.threshold, color="#595959", linestyle=":", linewidth=1.2)
        ax.annotate("four fifths", (1, _FOUR_FIFTHS), (-4, 3), ("axes fraction", "data"),
                    "offset points", ha="right", va="bottom")  # fmt: skip
        ax.set(xlabel="threshold", ylabel="p% rule (as a fraction)", ylim=(0, 1.02))
        return ax

    def __repr__(self) -> str:
        with pd.option_context("display.width", 100, "display.max_columns", 20):
            tables = f"{self.by_group.round(3)}\n\n{self.measures.round(3)}"
            if self.measures_without_small is not None:
                rest = self.measures_without_small.round(3)
                tables += f"\n\nWithout the small groups:\n{rest}"
        return f"{self.verdict}\n\n{tables}"

    def _repr_html_(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        lines = "".join(f"<p>{line}</p>" for line in _escape(self.verdict).split("\n"))
        rest = ""
        if self.measures_without_small is not None:
            table = _with_brackets(self.measures_without_small).to_html()
            rest = f"<p><b>Measures without the small groups</b></p>{table}"
        return (
            f'<div class="fairness-report">{lines}'
            f"<p><b>By group</b>, at the threshold {self.threshold:g}, with {level} intervals in "
            f"brackets</p>{_with_brackets(self.by_group).to_html()}"
            f"<p><b>Measures</b></p>{_with_brackets(self.measures).to_html()}{rest}</div>"
        )


def fairness_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sensitive_features: Any,
    *,
    sample_weight: ArrayLike | None = None,
    threshold: float = 0.5,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    min_group_size: int = 30,
    random_state: int | np.random.Generator | None = 0,
) -> FairnessReport:
    """Report how fairly a score treats the groups, at the threshold in use and at many others.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, 0 or 1; with `pos_label`, labels of any type.
    y_score : array-like of shape (n,)
        Score of each person; people with a score above `threshold` are selected. Hard labels 0
        and 1 are accepted, but they have only one threshold.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each person. All three arguments may be Dask collections with the same
        partitions; in that case round the scores, so that equal scores can be counted together.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights. Rates are then weighted, and intervals are based on the smaller
        number of people that would be equally informative, (sum w)^2 / sum w^2 in each group. The
        verdict states the design effect. Weights are not supported for Dask collections.
    threshold : float, default=0.5
        Threshold in use.
    pos_label : label, optional
        Label in `y_true` that is treated as 1.
    confidence_level : float, default=0.95
        Confidence level of each single interval, from 0.5 to 0.994.
    min_group_size : int, default=30
        Groups with fewer people are named in the verdict, and the metrics are also reported
        without them. The rates of such groups are so uncertain that they widen every interval.
    random_state : int, Generator or None, default=0
        Seed or generator for the intervals and tests that use random samples.

    Returns
    -------
    FairnessReport
        Report with the tables `by_group`, `measures` and `by_threshold`, the text `verdict`, and
        the method `plot`.

    See Also
    --------
    fairness_interval : Compute a confidence interval of one metric.
    renyi_lib.group_rates : Compute the selection rate of each group.

    Notes
    -----
    Intervals describe the sampling error in a sample of this size. They do not account for how
    people were sampled, nor for whether the labels themselves are fair.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import fairness_report
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["f", "m"], size=2000)
    >>> score = np.clip(rng.normal(0.45 + 0.1 * (group == "m"), 0.2), 0, 1)
    >>> truth = rng.random(2000) < score
    >>> report = fairness_report(truth, score, group)
    >>> report.by_group["selected"].round(2).to_dict()
    {'f': 0.4, 'm': 0.57}
    >>> report.measures.loc["demographic_parity_ratio", "in the sample"].round(2)
    np.float64(0.69)
    >>> print(report.verdict.splitlines()[1])
    This is below four fifths, and so is the whole interval.
    """
    number(0.5, _MOST_CONFIDENT)("confidence_level", confidence_level)
    if is_dask(y_true, y_score, sensitive_features):
        from renyi_lib._collapse import scored_alike

        alike: Any = scored_alike(y_true, y_score, sensitive_features)
        if sample_weight is not None:
            raise ValueError(
                "sample_weight is not supported for Dask collections: leave out sample_weight"
            )
        y_true, y_score, sensitive_features, people, _ = alike
    else:
        people = np.ones(np.shape(y_score)[0], dtype=np.intp)
    check_alignment(y_true=y_true, y_score=y_score, sensitive_features=sensitive_features)
    score = numeric_values(y_score, "y_score")
    truth = _truth(y_true, pos_label)
    read: Any = read_rows(
        score,
        truth,
        sensitive_features,
        sample_weight,
        lengths={"y_true": truth, "y_score": score},
        n_samples=people.sum() if sample_weight is None else None,
    )
    score, truth, codes, groups = read.X, read.y, read.codes, read.categories
    weight, square, effect = people, people, None
    if read.weight is not None:
        effect = design_effect(sample_weights(sample_weight))
        people = people[: len(score)]
        weight = read.weight * (len(score) / read.weight.sum())
        square = weight**2
    number()("threshold", threshold)
    whole(1)("min_group_size", min_group_size)
    selected = score > threshold
    if score.min() == score.max():
        raise ValueError(
            f"y_score is {score.min():g} for everybody, so no threshold selects only some people: "
            "pass scores that vary"
        )
    if selected.all() or not selected.any():
        raise ValueError(
            f"threshold={threshold:g} selects {'everybody' if selected.all() else 'nobody'}: "
            f"choose a threshold of at least {score.min():g} and below {score.max():g}"
        )
    rows = _Rows(truth, selected, score, codes, people, weight, square)
    by_group = _by_group(rows, groups, confidence_level)
    rng = np.random.default_rng(random_state)
    measures, pvalue = _measures(rows, confidence_level, rng)
    by_threshold = _by_threshold(score, codes, groups, weight)
    sizes = by_group["people"].to_numpy()
    small = {group: int(size) for group, size in zip(groups, sizes) if size < min_group_size}
    rest = _without(sizes < min_group_size, rows, confidence_level, rng)
    verdict = _verdict(by_group, measures, by_threshold, pvalue, threshold, confidence_level)
    verdict += _about_score(score, threshold, measures)
    verdict += _about_small(small, rest, min_group_size)
    if effect is not None:
        verdict += (
            f"\nThe weights have a design effect of {effect:.2f}: {people.sum()} people count as "
            f"{people.sum() / effect:.0f} of equal weight, and all intervals account for this."
        )
    return FairnessReport(
        by_group,
        measures,
        by_threshold,
        verdict,
        float(threshold),
        float(confidence_level),
        small,
        rest,
        effect,
    )


class _Rows(NamedTuple):
    """Data of a report, by column."""

    truth: np.ndarray
    selected: np.ndarray
    score: np.ndarray
    codes: np.ndarray  # codes of the groups
    people: np.ndarray  # number of people that each row represents
    weight: np.ndarray  # total weight of these people
    square: np.ndarray  # sum of their squared weights

    def counts(self, codes, shape, axes):
        """Return the table of these codes, as effective counts along the given axes."""
        sums, squares = (count_codes(codes, shape, w) for w in (self.weight, self.square))
        return effective_counts(sums.astype(float), squares.astype(float), axes)


def _without(small, rows, level, rng):
    """Compute the metrics without small groups; None without two groups and both decisions."""
    if not small.any() or np.count_nonzero(~small) < 2:
        return None
    rows = _Rows(*(column[~small[rows.codes]] for column in rows))
    if rows.selected.all() or not rows.selected.any():
        return None
    rows = rows._replace(codes=np.unique(rows.codes, return_inverse=True)[1])
    return _measures(rows, level, rng)[0]


def _about_score(score, threshold, measures):
    """Return the part of the verdict that warns about scores that look wrong."""
    lines = ""
    if 0 < threshold < 1 and not 0 <= score.min() <= score.max() <= 1:
        lines += (
            f"\nThe scores range from {score.min():.3g} to {score.max():.3g}, so they are not "
            f"probabilities: make sure that {threshold:g} is the threshold for these scores."
        )
    auc = measures["in the sample"].get("AUC", 1.0)
    if auc < 0.5:
        lines += (
            f"\nThe AUC is {auc:.3f}, below one half: positive labels have lower scores than "
            "negative ones. Is this the score of the other class?"
        )
    return lines


def _about_small(small, rest, fewest):
    """Return the part of the verdict about groups that are too small."""
    if not small:
        return ""
    named = [f"{group} ({size})" for group, size in list(small.items())[:_NAMED]]
    if len(small) > _NAMED:
        named.append(f"and {len(small) - _NAMED} more")
    line = f"\nSome groups are too small, with fewer than {fewest} people: {', '.join(named)}."
    if rest is None:
        return line
    return f"{line} Without them, p% is {_interval(rest.loc['demographic_parity_ratio'])}."


def _truth(y_true, pos_label):
    """Return the true labels as 0 and 1."""
    if pos_label is None:
        truth = as_probabilities(y_true, "y_true", None)
        if len(soft := truth[~np.isin(truth, (0, 1))]):
            raise ValueError(
                f"y_true must contain labels 0 and 1, not {soft[0]:g}: for other labels, pass "
                "pos_label, the label to treat as 1"
            )
        return truth.astype(int)
    codes, labels = encode_labels(y_true, "y_true")
    matches = np.array([label == pos_label for label in labels])
    if not matches.any():
        raise ValueError(
            f"y_true has no label equal to pos_label={pos_label!r}: pos_label must be one of its "
            f"labels, such as {labels.tolist()[0]!r}"
        )
    return matches[codes].astype(int)


def _by_group(rows, groups, level):
    """Return the size, rates with Wilson intervals, mean score and accuracy of each group."""
    truth, selected, codes = rows.truth, rows.selected, rows.codes

    def mean(values):
        return np.bincount(codes, rows.weight * values) / np.bincount(codes, rows.weight)

    columns = {"people": np.bincount(codes, rows.people).astype(np.int64)}
    decisions = rows.counts([truth, codes, selected.astype(int)], (2, len(groups), 2), axes=(0, 2))
    of_truth = rows.counts([truth, codes, selected.astype(int)], (2, len(groups), 2), axes=(2,))
    for name, counts in (
        ("selected", decisions.sum(axis=0)),
        ("true_positive_rate", of_truth[1]),
        ("false_positive_rate", of_truth[0]),
    ):
        columns |= _share(name, counts[:, 1], counts.sum(axis=1), level)
    columns |= {"mean score": mean(rows.score), "accuracy": mean(selected == truth)}
    return pd.DataFrame(columns, index=pd.Index(groups, tupleize_cols=False, name="group"))


def _share(name, count, size, level):
    """Return shares with their Wilson intervals, or NaN if there is nobody to count."""
    count, size = np.asarray(count, dtype=float), np.where(np.equal(size, 0), np.nan, size)
    z = ndtri((1 + level) / 2)
    middle = (count + z**2 / 2) / (size + z**2)
    half = z * np.sqrt(count * (size - count) / size + z**2 / 4) / (size + z**2)
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    # Set the ends at 0 and 1 exactly, without rounding errors.
    low, high = np.where(count == 0, 0.0 * size, low), np.where(count == size, 1.0, high)
    return {name: count / size, f"{name}, low": low, f"{name}, high": high}


def _measures(rows, level, rng):
    """Return each metric with its interval, and the p-value of the score's independence."""
    truth, decision, codes = rows.truth, rows.selected.astype(int), rows.codes
    found = {}
    shape = (2, codes.max() + 1, 2)
    by_truth = rows.counts([truth, codes, decision], shape, axes=(2,))
    together = rows.counts([truth, codes, decision], shape, axes=(0, 2))
    measured = {"demographic_parity_ratio": together, "demographic_parity_difference": together}
    if by_truth.sum(axis=2).all():
        measured |= {
            "equal_opportunity_difference": by_truth,
            "equalized_odds_difference": by_truth,
        }
    for name, counts in measured.items():
        found[name] = interval_of_counts(name, counts, confidence_level=level, random_state=rng)
    bins = _binned(rows.score, rows.weight)
    for name, values in (("renyi of the decision", decision), ("renyi of the score", bins)):
        table = rows.counts([values, codes], (values.max() + 1, shape[1]), axes=(0, 1))
        found[name] = interval_of_table(table, confidence_level=level, random_state=rng)
    lines = {
        name: {
            "in the sample": interval.plugin,
            "estimate": interval.estimate,
            "estimate, low": interval.low,
            "estimate, high": interval.high,
            "fair": 1.0 if name == "demographic_parity_ratio" else 0.0,
        }
        for name, interval in found.items()
    }
    size = rows.weight.sum() ** 2 / rows.square.sum()
    right = rows.weight[decision == truth].sum() / rows.weight.sum()
    share = _share("estimate", right * size, size, level)
    lines["accuracy"] = {name: float(value) for name, value in share.items()}
    lines["accuracy"]["in the sample"] = lines["accuracy"]["estimate"]
    if 0 < truth.sum() < len(truth):
        area = roc_auc_score(truth, rows.score, sample_weight=rows.weight)
        lines["AUC"] = {"in the sample": area}
    measures = pd.DataFrame.from_dict(lines, orient="index").rename_axis("measure")
    return measures, found["renyi of the score"].pvalue


def _quantiles(score, people, shares):
    """Return weighted quantiles of the score; of two possible values, take the lower one."""
    order = np.argsort(score, kind="stable")
    before = np.cumsum(people[order])
    places = np.floor((before[-1] - 1) * shares)
    return score[order][np.searchsorted(before, places, side="right")]


def _binned(score, people):
    """Assign scores to bins of about equal size; equal scores share a bin."""
    borders = np.unique(_quantiles(score, people, np.arange(1, _BINS) / _BINS))
    codes = np.searchsorted(borders, score, side="left")
    return np.unique(codes, return_inverse=True)[1]


def _by_threshold(score, codes, groups, people):
    """Compute rates and p% at quantiles of the score."""
    shares = np.linspace(_FEWEST, 1 - _FEWEST, _THRESHOLDS)
    thresholds = np.unique(_quantiles(score, people, 1 - shares))
    thresholds = thresholds[thresholds < score.max()]
    order = np.lexsort([score, codes])
    score, codes, people = score[order], codes[order], people[order]
    edges = np.searchsorted(codes, np.arange(len(groups) + 1))
    rates, sizes = [], []
    for start, end in pairwise(edges):
        before = np.concatenate([[0], np.cumsum(people[start:end])])
        below = before[np.searchsorted(score[start:end], thresholds, side="right")]
        rates.append(1 - below / before[-1])
        sizes.append(before[-1])
    rates, sizes = np.array(rates), np.array(sizes)
    names = pd.Index([f"selected, {group}" for group in groups])
    table = pd.DataFrame(rates.T, columns=names, index=pd.Index(thresholds, name="threshold"))
    table.insert(0, "selected", sizes @ rates / sizes.sum())
    highest = rates.max(axis=0)
    table["demographic_parity_ratio"] = np.divide(
        rates.min(axis=0), highest, out=np.ones_like(highest), where=highest > 0
    )
    return table


def _verdict(by_group, measures, by_threshold, pvalue, threshold, level):
    """Summarize the findings in plain words, each with its number."""
    least, most = by_group["selected"].idxmin(), by_group["selected"].idxmax()
    rates = by_group["selected"]
    p = measures.loc["demographic_parity_ratio"]
    shares = f"{rates[least]:.3f} in the group {least} and {rates[most]:.3f} in the group {most}"
    if rates[least] == rates[most]:
        shares = f"{rates[least]:.3f} in every group"
    lines = [
        f"At the threshold {threshold:g}, the share selected is {shares}, which gives a p% of "
        f"{_interval(p)}."
    ]
    if p["estimate, high"] < _FOUR_FIFTHS:
        lines.append("This is below four fifths, and so is the whole interval.")
    elif p["estimate, low"] >= _FOUR_FIFTHS:
        lines.append("This is at least four fifths, and so is the whole interval.")
    else:
        lines.append(
            "The interval contains four fifths, so these data do not settle the question."
        )
    if len(by_threshold) > 1:
        ratios, percent = by_threshold["demographic_parity_ratio"], 100 * by_threshold["selected"]
        worst = ratios.idxmin()
        lines.append(
            f"Over {len(ratios)} thresholds that select {percent.min():.0f} to "
            f"{percent.max():.0f} % of the people, p% is lowest, {ratios[worst]:.3f}, at the "
            f"threshold {worst:.3g}, and it is at least four fifths at "
            f"{100 * np.mean(ratios >= _FOUR_FIFTHS):.0f} % of these thresholds."
        )
    rho = measures.loc["renyi of the score"]
    depends = "depends" if pvalue < 1 - level else "is not shown to depend"
    p_text = f"{pvalue:.2g}" if pvalue >= 1e-4 else "below 0.0001"
    lines.append(
        f"The score {depends} on the group (p-value {p_text}): its Rényi correlation, in at "
        f"most {_BINS} bins, is {_interval(rho)}."
    )
    if "equal_opportunity_difference" in measures.index:
        gap = measures.loc["equal_opportunity_difference"]
        lines.append(
            "Among those with the positive label, the rates of two groups differ by up to "
            f"{_interval(gap)}."
        )
    else:
        lines.append(
            "A group has no sample of one of the labels, so equality of opportunity and "
            "equalized odds cannot be measured."
        )
    return "\n".join(lines)


def _interval(row):
    ends = f"{row['estimate, low']:.3f} to {row['estimate, high']:.3f}"
    return f"{row['in the sample']:.3f} in this sample (interval {ends})"


def _with_brackets(table):
    """Return the table as text, with each interval in the cell of its estimate."""
    columns = {}
    for name, values in table.items():
        if name.endswith((", low", ", high")):
            continue
        shown = values.map(lambda x: "" if pd.isna(x) else f"{x:.3f}".removesuffix(".000"))
        if f"{name}, low" in table:
            ends = zip(table[f"{name}, low"], table[f"{name}, high"])
            shown = shown + [
                "" if pd.isna(low) else f" [{low:.3f}, {high:.3f}]" for low, high in ends
            ]
        columns[name] = shown
    return pd.DataFrame(columns)


def _escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
