"""The joint table whose mass can be moved: what Pearson, NMI and Rényi see of it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import maximal_functions
from renyi_lib.dependence import normalized_mutual_information, pearson_correlation

VALUES = np.array([-1, 0, 1])
HOLLOW = np.array([[2, 5, 13], [14, 4, 2], [2, 5, 13]])
LINE = np.array([[14, 4, 2], [4, 12, 4], [2, 4, 14]])
INDEPENDENT = np.outer([1, 2, 3], [1, 2, 3])
BADGE = np.array([[1, 0, 0], [0, 10, 10], [0, 10, 10]])


def measures(counts):
    """Pearson, NMI and rho_R of a table of counts, its rows and columns worth -1, 0, 1."""
    a, b = (np.repeat(VALUES[k], counts.ravel()) for k in np.indices(counts.shape).reshape(2, -1))
    return {
        "pearson": pearson_correlation(a, b),
        "nmi": normalized_mutual_information(a, b),
        "rho": maximal_functions(counts).rho,
    }


def content():
    """The arguments of `explorable`."""
    counts, seen = HOLLOW, measures(HOLLOW)
    badge = measures(BADGE)
    return {
        "name": "joint-table",
        "still": _still(counts, seen),
        "alt": "A table of nine cells whose mass forms a V, and three bars: Pearson zero, NMI "
        "short, Rényi the longest. Below, f* is a valley in a and g* rises with b.",
        "data": {
            "counts": counts.ravel().tolist(),
            "a": VALUES.tolist(),
            "b": VALUES.tolist(),
        },
        "say": "Now: Pearson {pearson}, NMI {nmi}, Rényi {rho}. In the first table small a and "
        "large a both go with large b. For Pearson left and right cancel, "
        f"{fixed(seen['pearson'], 3)}; Rényi finds {fixed(seen['rho'], 3)}, because its f* gives "
        "−1 and 1 the same number. "
        f"Try [a line](counts={_listed(LINE)}): Pearson and Rényi agree, as the question that "
        "Pearson asks is the best one. Make the two "
        f"[independent](counts={_listed(INDEPENDENT)}): every D is 0, and so are all three. Put "
        f"[one person with a badge](counts={_listed(BADGE)}) beside forty others: Rényi jumps to "
        f"{fixed(badge['rho'], 3)} for that one person, NMI says {fixed(badge['nmi'], 3)}. Then "
        "move the sliders yourself: can you keep Pearson at 0 and make Rényi larger than in the "
        "first table?",
        "values": {key: fixed(value, 3) for key, value in seen.items()},
        "table": pd.DataFrame(counts, _names("a"), _names("b")),
        "heights": (367, 709),
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
