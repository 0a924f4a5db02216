"""The benchmark of fair classifiers at equal relaxation: its comparisons, table and figure."""

import numpy as np
import pandas as pd

from renyi_book.experiments._benchmark import TASKS
from renyi_book.scorecard.judging import UNDECIDED, of_interval
from renyi_book.scorecard.statistics import corrected

# n_test / n_train of the splits, for intervals that allow for their overlap.
TEST_SHARE = 0.2 / 0.6
# Pairs that the protocol names: "equivalence" claims no difference, "difference" that the first
# is the more accurate one.
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
# A verdict needs so many splits in which both methods come to the level.
FEWEST_SPLITS = 4


def verdicts(table):
    """The protocol's comparisons, with intervals and verdicts by the scorecard's rules.

    Parameters
    ----------
    table : DataFrame
        The table of `benchmark_frontier`.

    Returns
    -------
    DataFrame
        A row for each data set, criterion, level and pair: ``ahead`` is the mean difference in
        accuracy, first minus second, in points, with the interval ``low, high`` (95 % for a
        claimed difference, 90 % for equivalence) and the number ``splits`` behind it;
        ``reached_first`` and ``reached_second`` of ``tried`` splits; ``smallest``, the smallest
        difference that matters; ``verdict``.
    """
    found = []
    for (name, criterion, level), rows in table.dropna(subset="level").groupby(
        ["dataset", "criterion", "level"], sort=False
    ):
        wide = rows.pivot(index="seed", columns="method", values="accuracy")
        for first, second, kind in PAIRS:
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
