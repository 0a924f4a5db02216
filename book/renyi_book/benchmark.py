"""Comparisons, tables and a figure of the benchmark of fair classifiers at equal relaxation."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.experiments._benchmark import OPPORTUNITY, PARITY, TASKS
from renyi_book.plotting import COLORS
from renyi_book.scorecard.judging import UNDECIDED, of_interval
from renyi_book.scorecard.statistics import corrected

# n_test / n_train of the splits, for intervals that account for their overlap.
TEST_SHARE = 0.2 / 0.6
# Pairs named by the protocol. "equivalence" is the claim that there is no difference, and
# "difference" the claim that the first method is more accurate.
PAIRS = (
    ("label", "plug-in", "equivalence"),
    ("score", "plug-in", "equivalence"),
    ("bias score", "plug-in", "equivalence"),
    ("label", "linear", "difference"),
    ("label", "reduction", "difference"),
    ("label", "FairGBM", "difference"),
    ("error-parity, S", "label", "difference"),
    ("error-parity, S", "bias score", "difference"),
    ("bias score, S", "error-parity, S", "equivalence"),
    ("plug-in, S", "error-parity, S", "equivalence"),
    ("score, S", "bias score, S", "equivalence"),
    ("error-parity, S", "thresholds, S", "difference"),
)
# Pairs for equalized odds, from the protocol's extension.
ODDS_PAIRS = (
    ("label", "bias score", "equivalence"),
    ("label", "linear", "difference"),
    ("label", "reduction", "difference"),
    ("error-parity, S", "bias score", "difference"),
    ("bias score, S", "error-parity, S", "equivalence"),
    ("error-parity, S", "thresholds, S", "difference"),
)
# Minimum number of splits in which both methods must reach the level for a verdict.
FEWEST_SPLITS = 4

#: Names of the methods as shown to readers.
LABELS = {
    "unconstrained": "LightGBM, no constraint",
    "linear": "fair logistic regression (paper)",
    "label": "fair trees, label penalized",
    "score": "fair trees, score penalized",
    "bias score": "bias-score rule (library)",
    "plug-in": "bias-score rule (ten lines)",
    "reduction": "reduction (fairlearn)",
    "FairGBM": "FairGBM",
    "unconstrained, S": "LightGBM with S, no constraint",
    "score, S": "fair trees with S, score penalized",
    "bias score, S": "bias-score rule with S (library)",
    "plug-in, S": "group thresholds (ten lines)",
    "thresholds, S": "group thresholds (fairlearn)",
    "error-parity, S": "group thresholds (error-parity)",
}
NAMES = {"adult": "Adult", "bank": "Bank", "census-income": "Census-Income"}
CRITERION = {PARITY: "parity", OPPORTUNITY: "opportunity"}
# Levels shown in the table: the middle one of three, or the stricter one of two.
SHOWN = {
    ("adult", PARITY): 0.05,
    ("adult", OPPORTUNITY): 0.02,
    ("census-income", PARITY): 0.02,
    ("census-income", OPPORTUNITY): 0.05,
    ("bank", PARITY): 0.01,
}
REFERENCE = "plug-in"


def verdicts(table, pairs=PAIRS):
    """Compute the protocol's comparisons, with intervals and verdicts by the scorecard's rules.

    Parameters
    ----------
    table : DataFrame
        Table from `benchmark_frontier` or, with `ODDS_PAIRS`, from `benchmark_odds`.
    pairs : sequence of (first, second, claim)
        Pairs of methods to compare.

    Returns
    -------
    DataFrame
        One row for each data set, criterion and level, and for each pair that was run on at least
        one common split. ``ahead`` is the mean difference in accuracy, first minus second, in
        percentage points, with the interval ``low, high`` (95 % for a claimed difference, 90 % for
        equivalence) from the ``splits`` in which both methods reach the level. ``reached_first``
        and ``reached_second`` count the splits, out of ``tried``, in which each method reaches the
        level; ``smallest`` is the smallest difference that matters; and ``verdict`` is the verdict
        on the claim. For fewer than four splits, ``ahead, low, high`` are NaN, and the verdict is
        "undecided".
    """
    found = []
    for (name, criterion, level), rows in table.dropna(subset="level").groupby(
        ["dataset", "criterion", "level"], sort=False
    ):
        wide = rows.pivot(index="seed", columns="method", values="accuracy")
        for first, second, kind in pairs:
            if first not in wide or second not in wide:
                continue
            tried = rows["method"].isin([first, second]).groupby(rows["seed"]).sum() == 2
            both = wide.loc[tried[tried].index, [first, second]]
            if not len(both):
                continue
            ahead = 100 * (both[first] - both[second]).dropna()
            row = {"dataset": name, "criterion": criterion, "level": level}
            row |= {
                "first": first,
                "second": second,
                "claim": kind,
                "smallest": TASKS[name].smallest,
            }
            row |= dict.fromkeys(("ahead", "low", "high"), np.nan)
            row |= {"splits": len(ahead), "tried": len(both)}
            row["reached_first"], row["reached_second"] = both.notna().sum().tolist()
            row["verdict"] = UNDECIDED
            if len(ahead) >= FEWEST_SPLITS:
                confidence = 0.9 if kind == "equivalence" else 0.95
                mean = corrected(ahead, TEST_SHARE, level=confidence)
                row |= {"ahead": mean.estimate, "low": mean.low, "high": mean.high}
                row["verdict"] = of_interval(kind, mean.low, mean.high, TASKS[name].smallest)
            found.append(row)
    return pd.DataFrame(found)


def compared(table, reference=REFERENCE):
    """Compute each method's mean difference in accuracy from a reference at the same level.

    Differences are taken within each split and then averaged.

    Parameters
    ----------
    table : DataFrame
        Table from `benchmark_frontier` or `benchmark_odds`.
    reference : str, default="plug-in"
        Reference method, whose accuracy is subtracted.

    Returns
    -------
    DataFrame
        Columns ``dataset, criterion, level, method``; ``ahead``, the mean difference in percentage
        points, with its 95 % interval ``low, high``, which accounts for the overlap of the splits
        (NaN for fewer than four splits and for the reference); ``splits``, the number of splits in
        which both methods reach the level; and ``accuracy``, the reference's own accuracy in
        percent (NaN for other methods).
    """
    found = []
    for (name, criterion, level), rows in table.dropna(subset="level").groupby(
        ["dataset", "criterion", "level"], sort=False
    ):
        wide = 100 * rows.pivot(index="seed", columns="method", values="accuracy")
        if reference not in wide:
            continue
        for method in [m for m in LABELS if m in wide]:
            ahead = (wide[method] - wide[reference]).dropna()
            row = {"dataset": name, "criterion": criterion, "level": level, "method": method}
            row |= {"ahead": ahead.mean(), "low": np.nan, "high": np.nan, "splits": len(ahead)}
            row["accuracy"] = wide[reference].mean() if method == reference else np.nan
            if len(ahead) >= FEWEST_SPLITS and method != reference:
                mean = corrected(ahead, TEST_SHARE)
                row |= {"low": mean.low, "high": mean.high}
            found.append(row)
    return pd.DataFrame(found)


def results_table(table):
    """Return the chapter's table as a DataFrame of texts, with a row for each method.

    There is a column for each data set and criterion at the level in `SHOWN`. The row of the
    ten-line rule shows its accuracy in percent. The other rows show the difference from it in
    percentage points, with a 95 % interval if there are at least four splits. In parentheses is
    the number of splits in which both methods reach the level. A dash means fewer than two such
    splits, or none for the ten-line rule. Methods without a constraint show their own accuracy.
    The last columns are the mean CPU seconds for all settings of one criterion.
    """
    found = compared(table)
    there = set(table["dataset"])
    columns = {}
    for (name, criterion), level in SHOWN.items():
        if name not in there:
            continue
        rows = found.query("dataset == @name and criterion == @criterion and level == @level")
        entries = {row.method: _entry(row) for row in rows.itertuples()}
        plain = table.query("dataset == @name and criterion == @criterion and level != level")
        for method, accuracy in plain.groupby("method")["accuracy"].mean().items():
            entries[method] = f"{100 * accuracy:.2f} without a constraint"
        columns[f"{NAMES[name]}, {CRITERION[criterion]} {level}"] = entries
    for name in [name for name in ("adult", "census-income") if name in there]:
        of = table.query("dataset == @name").groupby("method")["cpu_seconds"].mean()
        columns[f"CPU s, {NAMES[name]}"] = of.map("{:.1f}".format).to_dict()
    methods = [method for method in LABELS if method in set(table["method"])]
    wide = {name: [of.get(m, "–") for m in methods] for name, of in columns.items()}
    return pd.DataFrame(wide, index=[LABELS[method] for method in methods])


def odds_table(table, reference="bias score"):
    """Return the chapter's table for equalized odds, with a column for each level.

    It has the format of `results_table`. The default reference is the library's rule without S.
    """
    found = compared(table, reference)
    plain = table[table["level"].isna()].groupby("method")["accuracy"].mean()
    plain = {m: f"{100 * value:.2f} without a constraint" for m, value in plain.items()}
    columns = {}
    for level, rows in found.groupby("level", sort=False):
        entries = {row.method: _entry(row, reference) for row in rows.itertuples()}
        columns[f"Adult, equalized odds {level}"] = plain | entries
    seconds = table.groupby("method")["cpu_seconds"].mean()
    columns["CPU s"] = seconds.map("{:.1f}".format).to_dict()
    methods = [method for method in LABELS if method in set(table["method"])]
    wide = {name: [of.get(m, "–") for m in methods] for name, of in columns.items()}
    return pd.DataFrame(wide, index=[LABELS[method] for method in methods])


def _entry(row, reference=REFERENCE):
    if row.method == reference:
        return f"{row.accuracy:.2f} ({row.splits})" if row.splits else "–"
    if row.splits < 2:
        return "–"
    interval = "" if np.isnan(row.low) else f" [{row.low:+.2f}, {row.high:+.2f}]"
    return f"{row.ahead:+.2f}{interval} ({row.splits})"


def results_figure(table, *, leave_out=("linear",)):
    """Plot each method's accuracy minus the ten-line rule's, at equal demographic parity.

    Parameters
    ----------
    table : DataFrame
        Table from `benchmark_frontier`.
    leave_out : sequence of str, default=("linear",)
        Methods to leave out. The linear model is so much less accurate on Adult that the
        differences between the other methods would not be visible.

    Returns
    -------
    fig : matplotlib.figure.Figure
        Figure.
    alt : str
        Alt text of the figure.
    """
    found = compared(table).query("criterion == @PARITY and method != @REFERENCE")
    found = found[(found["splits"] >= FEWEST_SPLITS) & ~found["method"].isin(leave_out)]
    names = [name for name in ("adult", "census-income", "bank") if name in set(found["dataset"])]
    methods = [m for m in LABELS if m in set(found["method"])][::-1]
    place = {method: y for y, method in enumerate(methods)}
    fig, axes = plt.subplots(1, len(names), figsize=(2.6 * len(names) + 2.4, 5.2), sharey=True)
    texts = []
    for ax, name in zip(np.atleast_1d(axes), names):
        levels = TASKS[name].levels[PARITY]
        for k, level in enumerate(levels):
            of = found.query("dataset == @name and level == @level")
            y = of["method"].map(place).astype(float) + 0.22 * ((len(levels) - 1) / 2 - k)
            color = COLORS[("sky", "blue", "vermillion")[k + 3 - len(levels)]]
            marker = "so^"[k + 3 - len(levels)]
            ax.hlines(y, of["low"], of["high"], color=color, lw=1.2)
            ax.plot(of["ahead"], y, marker, color=color, ms=5, label=f"{level}")
        ax.axvline(0, color=COLORS["black"], lw=1)
        ax.set(title=NAMES[name], xlabel="points of accuracy ahead", ylim=(-0.6, len(methods)))
        told = {"ncols": len(levels), "columnspacing": 0.8, "handletextpad": 0.1}
        ax.legend(title="gap", loc="upper center", bbox_to_anchor=(0.5, -0.16), **told)
        strict = found.query("dataset == @name and level == @levels[-1]")
        texts += [
            f"{NAMES[name]}, gap {levels[-1]}: "
            + ", ".join(f"{LABELS[row.method]} {row.ahead:+.2f}" for row in strict.itertuples())
        ]
    np.atleast_1d(axes)[0].set_yticks(range(len(methods)), [LABELS[m] for m in methods])
    alt = (
        "Accuracy of each method minus that of the ten-line bias-score rule, in points, at equal "
        "differences of positive rates, with 95 % intervals. " + "; ".join(texts) + "."
    )
    return fig, alt
