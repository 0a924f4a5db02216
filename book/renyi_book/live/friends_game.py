"""The two friends who reply to each other: the correlation climbs to rho_R."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import maximal_functions

REPLIES = 12
#: The journey's list at a right angle to g*, nearly: a saddle point is close by.
SADDLE = [-0.25, -0.95, 1.55]


def standardized(f, p):
    """Mean 0 and variance 1 under the weights p."""
    f = f - f @ p
    return f / np.sqrt(f**2 @ p)


def play(counts, f, g, replies):
    """The lists and their correlation after 0, 1, … replies, the first friend beginning."""
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
    """The arguments of `explorable`, for a table of counts with named rows and columns."""
    counts = days.to_numpy()
    f, g = (np.arange(size) - (size - 1) / 2 for size in counts.shape)
    steps, rho = play(counts, f, g, REPLIES), maximal_functions(counts).rho
    scores = [score for *_, score in steps]
    alphabet = ",".join(map(str, f))
    return {
        "name": "friends-game",
        "still": _still(days, steps, rho),
        "alt": "Two number lines: after the first reply, sun is at one end of the first friend's "
        "numbers and snow at the other; the second friend still has bike, bus, car in the order "
        "of the alphabet. Below, the correlation climbs reply by reply to a dashed line.",
        "data": {
            "counts": counts.tolist(),
            "rows": list(days.index),
            "columns": list(days.columns),
            "f": f.tolist(),
            "g": g.tolist(),
        },
        "say": "Press “Best reply” and watch the two lists move in turn: after {replies} the "
        "correlation is {score}, and no reply ever lowers it. Both friends begin "
        f"[with the alphabet](replies=0), at {fixed(scores[0], 4)}; after "
        f"[twelve replies](replies={REPLIES}) they have {fixed(scores[-1], 4)}. Then start "
        f"[near the saddle point](f={alphabet}&g={','.join(map(str, SADDLE))}&replies=1): for a "
        "few turns hardly anything happens, then the friends leave. Drag the dots sideways, or "
        "write numbers of your own: from almost every start the replies lead to ρ_R = {rho}, and "
        "no numbers beat it.",
        "values": {
            "replies": "1 reply",
            "score": fixed(scores[1], 4),
            "rho": fixed(rho, 4),
        },
        "table": pd.DataFrame(
            [[*f, *g, score] for f, g, score in steps],
            pd.RangeIndex(REPLIES + 1, name="replies"),
            [*days.index, *days.columns, "correlation"],
        )
        .map(lambda x: fixed(x, 4))
        .iloc[:8],
        "label": "The first seven replies as a table",
        "heights": (400, 400),
    }


def _still(days, steps, rho):
    fig, (first, second, below) = plt.subplots(3, 1, figsize=(7, 5), height_ratios=[1, 1, 2.2])
    f, g, _ = steps[1]
    for ax, names, values, marker, color, who in (
        (first, days.index, f, "o", "blue", "first friend, told the weather: has just replied"),
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
    below.plot(scores, "o-", color=COLORS["green"], mfc="white")
    below.plot(1, scores[1], "o", color=COLORS["green"], ms=9)
    below.axhline(rho, color=COLORS["black"], ls="--", lw=1.2)
    below.text(REPLIES, rho + 0.02, rf"$\rho_R$ = {fixed(rho, 4)}", ha="right")
    below.set(xlabel="replies", ylabel="correlation", ylim=(-0.1, 0.62))
    return fig
