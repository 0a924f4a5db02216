"""The forest: every measured row on one axis, in units of the smallest effect that matters."""

import matplotlib.pyplot as plt
import numpy as np

from renyi_book.plotting import COLORS
from renyi_book.scorecard.judging import FAILS, HOLDS, NO_RESULT, PART, UNDECIDED, UNTESTABLE

#: Colour and mark of each verdict; the marks tell them apart without colour.
STYLES = {
    HOLDS: ("blue", "o"),
    PART: ("sky", "D"),
    FAILS: ("vermillion", "X"),
    UNDECIDED: ("orange", "s"),
    UNTESTABLE: ("grey", "|"),
    NO_RESULT: ("grey", "."),
}


def standing(row):
    """Estimate and interval of a row in units of its smallest effect, the paper's value too.

    Parameters
    ----------
    row : dict
        From `renyi_book.scorecard.rows`.

    Returns
    -------
    dict or None
        ``estimate, low, high, paper``; None if the row has no interval.
    """
    if row.get("estimate") is None or not row.get("delta") or row.get("low") is None:
        return None
    scale = 1 / row["delta"]
    paper = row["paper"].get("effect")
    return {
        **{name: row[name] * scale for name in ("estimate", "low", "high")},
        "paper": None if paper is None else paper * scale,
    }


def forest(shown, *, limit=12.0, ax=None):
    """Draw the rows that have an interval: estimate, interval, smallest effect, paper's value.

    Parameters
    ----------
    shown : list of dict
        From `renyi_book.scorecard.rows`.
    limit : float, default=12
        Units of the smallest effect beyond which an interval is cut off with an arrow.
    ax : Axes, optional

    Returns
    -------
    Figure
    """
    drawn = [(row, standing(row)) for row in shown]
    drawn = [(row, place) for row, place in drawn if place is not None]
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 1.2 + 0.22 * max(len(drawn), 1)))
    ax.axvspan(-1, 1, color=COLORS["grey"], alpha=0.15, label="too small to matter")
    ax.axvline(0, color=COLORS["black"], linewidth=1)
    said = set()
    for height, (row, place) in enumerate(drawn):
        color, mark = STYLES[row["verdict"]]
        low, high = np.clip([place["low"], place["high"]], -limit, limit)
        ax.plot([low, high], [height, height], color=COLORS[color], linewidth=1.5)
        for end, cut in ((place["low"], "<"), (place["high"], ">")):
            if abs(end) > limit:
                ax.plot(np.sign(end) * limit, height, cut, color=COLORS[color], markersize=4)
        label = row["verdict"] if row["verdict"] not in said else None
        middle = np.clip(place["estimate"], -limit, limit)
        ax.plot(middle, height, mark, color=COLORS[color], markersize=5, label=label)
        said.add(row["verdict"])
        if place["paper"] is not None:
            paper = np.clip(place["paper"], -limit, limit)
            label = None if "paper" in said else "the paper's value"
            ax.plot(paper, height, "k+", markersize=6, label=label)
            said.add("paper")
    ax.set_yticks(range(len(drawn)), [row["id"] for row, _ in drawn], fontsize=7)
    ax.set(xlim=(-limit * 1.03, limit * 1.03), ylim=(len(drawn) - 0.4, -0.6))
    ax.set_xlabel("effect in the claimed direction, in units of the smallest that matters")
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.06), ncol=3, fontsize=8)
    return ax.figure
