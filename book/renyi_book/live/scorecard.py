"""Scorecard as a table to search, filter and sort, for ``book/explorables/scorecard``."""

import json

import matplotlib.pyplot as plt

from renyi_book.explorables import FOLDER
from renyi_book.plotting import COLORS
from renyi_book.scorecard import NO_RESULT, VERDICTS, rows, standing, tally
from renyi_book.scorecard.figure import STYLES
from renyi_book.scorecard.page import SIGNS, as_html


def data(shown=None):
    """Return the data that the page needs in addition to the rows that it shows.

    Parameters
    ----------
    shown : list of dict, optional
        Rows from `renyi_book.scorecard.rows`.

    Returns
    -------
    dict
        ``parts`` and ``verdicts`` that occur, the verdicts' ``signs``, and ``rows``. Each of the
        rows has the claim's id, the positions of its part and verdict, whether it is the reading
        that is counted for its sentence, and its effect in units of the smallest effect that
        matters (None if it has no interval).

    Examples
    --------
    >>> from renyi_book.live import scorecard
    >>> len(scorecard.data()["rows"]) == len(scorecard.rows())
    True
    """
    shown = rows() if shown is None else shown
    parts = list(dict.fromkeys(row["part"] for row in shown))
    occurring = {row["verdict"] for row in shown}
    verdicts = [one for one in (*VERDICTS, NO_RESULT) if one in occurring]
    return {
        "parts": parts,
        "verdicts": verdicts,
        "signs": [SIGNS[one] for one in verdicts],
        "rows": [
            [
                row["id"],
                parts.index(row["part"]),
                verdicts.index(row["verdict"]),
                int(row["primary"]),
                _effect(row),
            ]
            for row in shown
        ],
    }


def html(shown=None):
    """Return the rows as folded tables, with the script that makes them searchable.

    Examples
    --------
    >>> from renyi_book.live import scorecard
    >>> scorecard.html().startswith('<div class="explorable" data-explorable="scorecard">')
    True
    """
    shown = rows() if shown is None else shown
    inline = json.dumps(data(shown), ensure_ascii=False, separators=(",", ":"))
    inline = inline.replace("<", "\\u003c")
    loader = (FOLDER / "loader.js").read_text(encoding="utf-8")
    return (
        '<div class="explorable" data-explorable="scorecard">'
        f'<div class="explorable-still">{as_html(shown)}</div>'
        f'<script type="application/json">{inline}</script><script>{loader}</script></div>'
    )


def show():
    """Show the explorable; without JavaScript, only the folded tables appear."""
    from IPython.display import HTML, display

    display(HTML(html()))


def bars(shown=None):
    """Draw the scorecard as a bar for each part of the paper, with a segment for each verdict.

    Parameters
    ----------
    shown : list of dict, optional
        Rows from `renyi_book.scorecard.rows`. Only the reading that is counted for its sentence
        is drawn.

    Returns
    -------
    Figure
        Bar chart.

    Examples
    --------
    >>> from renyi_book.live import scorecard
    >>> scorecard.bars().axes[0].get_xlabel()
    'number of claims'
    """
    shown = [row for row in (rows() if shown is None else shown) if row["primary"]]
    parts = {}
    for row in shown:
        parts.setdefault(row["part"], []).append(row)
    counts = [tally(mine) for mine in parts.values()]
    fig, ax = plt.subplots(figsize=(7, 4.6))
    hatches = dict(zip((*VERDICTS, NO_RESULT), ("", "//", "xx", "..", "\\\\", "")))
    left = [0] * len(parts)
    for verdict in tally(shown):
        widths = [count.get(verdict, 0) for count in counts]
        ax.barh(
            range(len(parts)),
            widths,
            left=left,
            color=COLORS[STYLES[verdict][0]],
            hatch=hatches[verdict],
            edgecolor="white",
            label=f"{SIGNS[verdict]} {verdict}",
        )
        for place, (width, start) in enumerate(zip(widths, left)):
            if width:
                ax.text(
                    start + width / 2,
                    place,
                    str(width),
                    ha="center",
                    va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
                )
        left = [start + width for start, width in zip(left, widths)]
    ax.set_yticks(range(len(parts)), list(parts))
    ax.invert_yaxis()
    ax.set_xlabel("number of claims")
    ax.grid(visible=False, axis="y")
    fig.legend(loc="outside lower center", ncols=3)
    return fig


def _effect(row):
    found = standing(row)
    return None if found is None else round(found["estimate"], 4)
