"""Joint table to which people can be added, with the values of Pearson, NMI and Rényi."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import maximal_functions
from renyi_lib.dependence import normalized_mutual_information, pearson_correlation

VALUES = np.array([-1, 0, 1])
VALLEY = np.array([[2, 5, 13], [14, 4, 2], [2, 5, 13]])
LINE = np.array([[14, 4, 2], [4, 12, 4], [2, 4, 14]])
INDEPENDENT = np.outer([1, 2, 3], [1, 2, 3])
BADGE = np.array([[1, 0, 0], [0, 10, 10], [0, 10, 10]])


def measures(counts):
    """Compute Pearson, NMI and rho_R of counts whose rows and columns stand for -1, 0 and 1."""
    a, b = (np.repeat(VALUES[k], counts.ravel()) for k in np.indices(counts.shape).reshape(2, -1))
    return {
        "pearson": pearson_correlation(a, b),
        "nmi": normalized_mutual_information(a, b),
        "rho": maximal_functions(counts).rho,
    }


def content():
    """Return the arguments of `explorable`."""
    counts, seen = LINE, measures(LINE)
    valley, badge = measures(VALLEY), measures(BADGE)
    return {
        "name": "joint-table",
        "still": _still(counts, seen),
        "alt": "A table of nine cells with most people on the diagonal, and three bars. Pearson "
        "and Rényi are nearly equally long, and NMI is shorter. Below, f* and g* both rise.",
        "data": {
            "counts": counts.ravel().tolist(),
            "a": VALUES.tolist(),
            "b": VALUES.tolist(),
        },
        "say": "The table opens with a line, so Pearson, {pearson}, sees as much as Rényi, {rho}. "
        f"Now try [a valley](counts={_listed(VALLEY)}). Pearson drops to "
        f"{fixed(valley['pearson'], 3)}, but Rényi finds {fixed(valley['rho'], 3)}, because its "
        "f* gives −1 and 1 the same value. If both are "
        f"[independent](counts={_listed(INDEPENDENT)}), all three are 0. With "
        f"[one person who wears a badge](counts={_listed(BADGE)}) among 41, "
        f"Rényi is {fixed(badge['rho'], 3)} and NMI {fixed(badge['nmi'], 3)}.",
        "values": {key: fixed(seen[key], 3) for key in ("pearson", "rho")},
        "table": pd.DataFrame(counts, _names("a"), _names("b")),
        "heights": (295, 571),
    }


def _listed(counts):
    return ",".join(map(str, counts.ravel()))


def _names(letter):
    return [f"{letter} = {fixed(value, 0)}" for value in VALUES]


def _still(counts, seen):
    best = maximal_functions(counts)
    fig, axes = plt.subplot_mosaic([["table", "bars"], ["table", "lists"]], figsize=(7, 4))
    ax = axes["table"]
    ax.imshow(counts, cmap="Blues", vmin=0, vmax=28)
    for (i, j), n in np.ndenumerate(counts):
        ax.text(j, i, n, ha="center", va="center", fontsize=13)
    ax.set_xticks(range(3), _names("b"))
    ax.set_yticks(range(3), _names("a"))
    ax.grid(visible=False)
    ax.set_title("people")
    ax = axes["bars"]
    names, heights = ["|Pearson|", "NMI", "Rényi"], [abs(x) for x in seen.values()]
    ax.barh(names, heights, color=[COLORS[c] for c in ("grey", "green", "vermillion")])
    for k, height in enumerate(heights):
        ax.text(height + 0.02, k, fixed(height, 3), va="center")
    ax.set(xlim=(0, 1), ylim=(2.5, -0.5))
    ax.grid(axis="y", visible=False)
    ax = axes["lists"]
    ax.plot(VALUES, best.f, "o-", color=COLORS["blue"], label="f*(a)")
    ax.plot(VALUES, best.g, "s--", color=COLORS["vermillion"], label="g*(b)")
    ax.set(xticks=VALUES, ylim=(-2, 2))
    ax.legend(ncols=2, loc="upper center")
    return fig
