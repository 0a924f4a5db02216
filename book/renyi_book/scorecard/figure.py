"""Plots of measured rows on a common scale, in units of the smallest effect that matters."""

import matplotlib.pyplot as plt
import numpy as np

from renyi_book.plotting import COLORS
from renyi_book.scorecard.judging import (
    FAILS,
    HOLDS,
    NO_RESULT,
    PART,
    UNDECIDED,
    UNTESTABLE,
    VERDICTS,
)

#: Color and marker of each verdict. The colors are the same as in the live table
#: (``book/explorables/explorables.css``), and the markers distinguish verdicts without color.
STYLES = {
    HOLDS: ("blue", "o"),
    PART: ("green", "D"),
    FAILS: ("vermillion", "X"),
    UNDECIDED: ("purple", "s"),
    UNTESTABLE: ("grey", "|"),
    NO_RESULT: ("grey", "."),
}
#: Number of smallest effects at which the axis is cut. It is linear up to 2, then logarithmic.
LIMIT = 40.0
# How words of an identifier are written in a figure.
_WORDS = {
    "adult": "Adult",
    "bank": "Bank",
    "chi": "χ",
    "donini": "Donini",
    "eo": "EO",
    "ermi": "ERMI",
    "favourable": "favorable",
    "german": "German",
    "hardt": "Hardt",
    "hsic": "HSIC",
    "lambda": "λ",
    "mi": "MI",
    "nmi": "NMI",
    "normalised": "normalized",
    "pearson": "Pearson",
    "renyi": "Rényi",
    "rezaei": "Rezaei",
    "s": "S",
    "shannon": "Shannon",
    "unnormalised": "unnormalized",
    "zafar": "Zafar",
}
# Distance of a line below its name, in rows.
BELOW = 0.22
_TICKS = (-30, -10, -3, -1, 0, 1, 3, 10, 30)


def standing(row):
    """Return estimate, interval and the paper's value in units of the smallest effect.

    Parameters
    ----------
    row : dict
        Row from `renyi_book.scorecard.rows`.

    Returns
    -------
    dict or None
        Entries ``estimate, low, high, paper``, where ``paper`` may be None; None if the row has no
        interval or no smallest effect.
    """
    if row.get("estimate") is None or not row.get("delta") or row.get("low") is None:
        return None
    scale = 1 / row["delta"]
    paper = row["paper"].get("effect")
    return {
        **{name: row[name] * scale for name in ("estimate", "low", "high")},
        "paper": None if paper is None else paper * scale,
    }


def name_in_words(identifier):
    """Return a claim's identifier as words, without hyphens and with proper names.

    >>> name_in_words("adult-beats-hsic")
    'Adult beats HSIC'
    """
    words = " ".join(_WORDS.get(word, word) for word in identifier.split("-"))
    return words[0].upper() + words[1:] if words[0].isascii() else words


def forest(shown, *, limit=LIMIT, ax=None):
    """Draw the estimate, interval and paper's value (if any) of each row that has an interval.

    The name of a row is above its line, so that the figure fits on a phone. Rows that claim a
    difference of 0 are marked, and effects too small to matter are shaded.

    Parameters
    ----------
    shown : list of dict
        Rows from `renyi_book.scorecard.rows`.
    limit : float, default=40
        Units of the smallest effect beyond which an interval is cut off with an arrow.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Figure
        Forest plot.
    """
    drawn = _measured(shown)
    if ax is None:
        _, ax = plt.subplots(figsize=(5.4, 1.5 + 0.32 * max(len(drawn), 1)))
    for height, (row, place) in enumerate(drawn):
        _line(ax, height + BELOW, row, place, limit)
    ax.set_yticks(range(len(drawn)), [_name(row) for row, _ in drawn], fontsize=9)
    _names_inside(ax, va="bottom")
    ax.set_ylim(len(drawn) - 0.5, -0.8)
    _axis(ax, limit)
    _legend(
        ax, {row["verdict"] for row, _ in drawn}, any(p["paper"] is not None for _, p in drawn)
    )
    return ax.figure


def overview(shown, *, limit=LIMIT):
    """Draw all measured rows in one figure, by part of the paper, in two columns.

    Parameters
    ----------
    shown : list of dict
        Rows from `renyi_book.scorecard.rows`.
    limit : float, default=40
        Units of the smallest effect beyond which an interval is cut off.

    Returns
    -------
    Figure
        Overview.
    """
    parts = {}
    for row, place in _measured(shown):
        parts.setdefault(row["part"], []).append((row, place))
    largest = max(parts, key=lambda part: len(parts[part]))
    columns = [[part for part in parts if part != largest], [largest]]
    lines = max(sum(len(parts[p]) + 2 for p in column) for column in columns)
    fig, axes = plt.subplots(1, 2, figsize=(10, 1.6 + 0.17 * lines))
    for ax, column in zip(axes, columns):
        height, names = 0, {}
        for part in column:
            names[height] = f"{part} ({len(parts[part])})"
            height += 1
            for row, place in sorted(parts[part], key=lambda pair: -pair[1]["estimate"]):
                _line(ax, height, row, place, limit, markersize=4)
                names[height] = name_in_words(row["id"])
                height += 1
            height += 1
        ax.set_yticks(list(names), list(names.values()), fontsize=9)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        heads = {f"{part} ({len(parts[part])})" for part in column}
        for label in ax.get_yticklabels():
            if label.get_text() in heads:
                label.set_fontweight("bold")
        ax.set_ylim(lines - 0.5, -0.8)
        _axis(ax, limit)
        ax.set_xticks([-10, -1, 0, 1, 10], ["−10", "−1", "0", "1", "10"])
        ax.set_xlabel("effect, in smallest effects")
    _legend(axes[0], {row["verdict"] for rows in parts.values() for row, _ in rows}, True)
    return fig


def universes(table, listed, *, limit=LIMIT):
    """Draw a marker for each universe of each claim, in units of the claim's smallest effect.

    Parameters
    ----------
    table : DataFrame
        Table from `renyi_book.scorecard.multiverse`.
    listed : list of dict
        Claims.
    limit : float, default=40
        Units of the smallest effect beyond which the axis is cut.

    Returns
    -------
    Figure
        Figure with one row for each claim.
    """
    known = {claim["id"]: claim for claim in listed}
    names = list(dict.fromkeys(table["claim"]))
    _, ax = plt.subplots(figsize=(5.4, 1.5 + 0.36 * len(names)))
    for height, name in enumerate(names):
        rows = table[table["claim"] == name]
        for one in VERDICTS:
            of = rows.loc[rows["verdict"] == one, "estimate"]
            color, mark = STYLES[one]
            x = np.clip(of / known[name]["smallest"]["delta"], -limit, limit)
            # Spread the markers slightly and deterministically, so that equal ones can be counted.
            y = height + BELOW + 0.1 * ((np.arange(len(x)) % 3) - 1)
            ax.plot(x, y, mark, color=COLORS[color], markersize=4, alpha=0.7)
    ax.set_yticks(range(len(names)), [name_in_words(name) for name in names], fontsize=9)
    _names_inside(ax, va="bottom")
    ax.set_ylim(len(names) - 0.4, -0.8)
    _axis(ax, limit)
    _legend(ax, set(table["verdict"]), False)
    return ax.figure


def _measured(shown):
    drawn = [(row, standing(row)) for row in shown]
    return [(row, place) for row, place in drawn if place is not None]


def _to_zero(row):
    """Return whether the claim is that there is no difference."""
    return row["direction"] != "greater"


def _name(row):
    name = name_in_words(row["id"])
    return f"{name} (claimed: 0)" if _to_zero(row) else name


def _line(ax, height, row, place, limit, markersize=5.0):
    name, mark = STYLES[row["verdict"]]
    color = COLORS[name]
    low, high = np.clip([place["low"], place["high"]], -limit, limit)
    ax.plot([low, high], [height, height], color=color, linewidth=1.5)
    if place["paper"] is not None:
        beyond = abs(place["paper"]) > limit
        paper = np.clip(place["paper"], -limit, limit)
        ax.plot(paper, height, ">" if beyond else "+", color=COLORS["black"], markersize=7)
    for end, cut in ((place["low"], "<"), (place["high"], ">")):
        if abs(end) > limit:
            ax.plot(np.sign(end) * limit, height, cut, color=color, markersize=markersize)
    if abs(place["estimate"]) <= limit:
        style = {"markerfacecolor": "white"} if _to_zero(row) else {}
        ax.plot(place["estimate"], height, mark, color=color, markersize=markersize, **style)


def _names_inside(ax, **style):
    """Write the names inside the axes at the left, because phones are narrow."""
    ax.tick_params(axis="y", length=0, pad=-3)
    ax.grid(axis="y", visible=False)
    for label in ax.get_yticklabels():
        label.set(ha="left", **style)


def _axis(ax, limit):
    ax.axvspan(-1, 1, color=COLORS["grey"], alpha=0.15)
    ax.axvline(0, color=COLORS["black"], linewidth=1)
    ax.set_xscale("symlog", linthresh=2, linscale=1.3)
    ax.set_xlim(-limit * 1.1, limit * 1.1)
    ticks = [tick for tick in _TICKS if abs(tick) <= limit]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("in the claimed direction, in smallest effects")


def _legend(ax, verdicts, paper):
    """Add a legend of the markers below the axes, in columns that fit on a phone."""
    marks = [
        plt.Line2D([], [], color=COLORS[color], marker=mark, markersize=5, label=verdict)
        for verdict, (color, mark) in STYLES.items()
        if verdict in verdicts
    ]
    if paper:
        style = {"color": COLORS["black"], "marker": "+", "linestyle": "none", "markersize": 7}
        marks.append(plt.Line2D([], [], label="the paper's value", **style))
    marks.append(plt.Rectangle((0, 0), 1, 1, color=COLORS["grey"], alpha=0.15, label="too small"))
    ax.figure.legend(handles=marks, loc="outside lower center", ncol=3, fontsize=9)
