"""Two friends who reply to each other, so that the correlation increases to rho_R."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import maximal_functions

REPLIES = 12
#: The second friend's starting numbers, nearly orthogonal to g*, for a start near a saddle point.
SADDLE = [-0.25, -0.95, 1.55]


def standardized(f, p):
    """Standardize f to mean 0 and variance 1 under the weights p."""
    f = f - f @ p
    return f / np.sqrt(f**2 @ p)


def play(counts, f, g, replies):
    """Return both friends' numbers and their correlation after 0, 1, ..., `replies` replies.

    The first friend replies first.
    """
    P = counts / counts.sum()
    p, q = P.sum(axis=1), P.sum(axis=0)
    steps = []
    for k in range(replies + 1):
        if k % 2:
            f = standardized(P @ g / p, p)
        elif k:
            g = standardized(f @ P / q, q)
        steps.append((f, g, standardized(f, p) @ P @ standardized(g, q)))
    return steps


def content(days):
    """Return the arguments of `explorable`, for a table of counts with named rows and columns."""
    counts = days.to_numpy()
    f, g = (np.arange(size) - (size - 1) / 2 for size in counts.shape)
    steps, rho = play(counts, f, g, REPLIES), maximal_functions(counts).rho
    scores = [score for *_, score in steps]
    alphabet = ",".join(map(str, f))
    return {
        "name": "friends-game",
        "still": _still(days, steps, rho),
        "alt": "Two number lines. The first friend has cloud, rain, snow and sun in the order of "
        "the alphabet, and the second friend bike, bus and car. Below, one dot shows a small "
        "correlation before the first reply, far under a dashed line.",
        "data": {
            "counts": counts.tolist(),
            "rows": list(days.index),
            "columns": list(days.columns),
            "f": f.tolist(),
            "g": g.tolist(),
        },
        "say": "Press Play. The friends reply in turn, and no reply lowers the correlation, which "
        f"climbs from {fixed(scores[0], 4)} to {fixed(scores[-1], 4)} after "
        f"[twelve replies](replies={REPLIES}). After {{replies}} it is {{score}}. If they start "
        f"[near the saddle point](f={alphabet}&g={','.join(map(str, SADDLE))}), hardly anything "
        "changes for a few turns. Drag a dot to start from numbers of your own.",
        "values": {
            "replies": "0 replies",
            "score": fixed(scores[0], 4),
        },
        "table": pd.DataFrame(
            [[*f, *g, score] for f, g, score in steps],
            pd.RangeIndex(REPLIES + 1, name="replies"),
            [*days.index, *days.columns, "correlation"],
        )
        .map(lambda x: fixed(x, 4))
        .iloc[:8],
        "label": "The first seven replies as a table",
        "heights": (392, 392),
    }


def _still(days, steps, rho):
    fig, (first, second, below) = plt.subplots(3, 1, figsize=(7, 5), height_ratios=[1, 1, 2.2])
    f, g, _ = steps[0]
    for ax, names, values, marker, color, who in (
        (first, days.index, f, "o", "blue", "first friend, told the weather"),
        (second, days.columns, g, "s", "vermillion", "second friend, told the journey"),
    ):
        ax.axhline(0, color=COLORS["grey"], lw=1)
        ax.plot(values, 0 * values, marker, color=COLORS[color], ms=9)
        for x, name in zip(values, names):
            ax.text(x, 0.35, name, ha="center")
        ax.set(xlim=(-3, 3), ylim=(-0.4, 1), yticks=[])
        ax.grid(visible=False)
        ax.spines["left"].set_visible(False)
        ax.set_title(who, color=COLORS[color], fontsize=11)
    scores = [score for *_, score in steps]
    below.plot(0, scores[0], "o", color=COLORS["green"], ms=9)
    below.axhline(rho, color=COLORS["black"], ls="--", lw=1.2)
    below.text(REPLIES, rho + 0.02, rf"$\rho_R$ = {fixed(rho, 4)}", ha="right")
    below.set(xlabel="replies", ylabel="correlation", xlim=(-0.4, REPLIES), ylim=(-0.1, 0.62))
    return fig
