"""Guessing game whose lowest possible cost is gamma of Theorem 2."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import renyi_binary


def paid(counts, guesses):
    """Compute the mean squared error of `guesses` of b, one for each row (class) of the counts."""
    return np.sum(counts * np.column_stack([guesses**2, (1 - guesses) ** 2])) / counts.sum()


def content(classes, b):
    """Return the arguments of `explorable` for samples of a class and a binary variable b."""
    table = pd.crosstab(np.asarray(classes), np.asarray(b))
    table = table.loc[(table[1] / table.sum(axis=1)).sort_values().index]
    counts = table.to_numpy()
    shares, sizes = counts[:, 1] / counts.sum(axis=1), counts.sum(axis=1)
    q = counts[:, 1].sum() / counts.sum()
    best = renyi_binary(classes, b)
    opening = np.full(len(shares), q.round(2))
    pays, blind = paid(counts, opening), q * (1 - q)
    certain = shares.round()
    assert paid(counts, certain) > blind, "the text says that 0 or 1 costs more"
    return {
        "name": "guessing-game",
        "still": _still(table.index, shares, sizes / sizes.sum(), opening, q),
        "alt": "One bar for each family role, as thick as the role is common, filled up to the "
        "share of men. The markers, your guesses, all stand at the dashed line, which is the "
        "share of men in the whole data set.",
        "data": {
            "names": list(table.index),
            "counts": counts.tolist(),
            "shares": shares.round(2).tolist(),
            "start": opening.tolist(),
        },
        "say": "Every guess starts at q, which ignores the role, so nothing is saved yet. Press "
        "Play to move one guess after another to the share of men in its role, or drag the "
        "markers yourself. You now save {saved} of the cost, and no guesses save more than "
        f"ρ_R² = {{rho2}}. Guesses of [only 0 or 1](w={_listed(certain)}) are right more often "
        f"than not in every role, yet they cost {fixed(paid(counts, certain), 3)}, more than the "
        f"{fixed(blind, 3)} without a hint.",
        "values": {
            "saved": fixed(1 - pays / blind, 3),
            "rho2": fixed(best.rho**2, 3),
        },
        "table": pd.DataFrame(
            {
                "people": sizes,
                "share of men": [fixed(x, 4) for x in shares],
            },
            pd.Index(table.index, name="role"),
        ),
        "heights": (365, 473),
    }


def _listed(guesses):
    return ",".join(f"{x:g}" for x in guesses)


def _still(names, shares, sizes, guesses, q):
    fig, ax = plt.subplots(figsize=(7, 3.6))
    heights = np.maximum(sizes, 0.06)
    middles = np.cumsum(heights + 0.05) - heights / 2
    ax.barh(middles, 1, heights, color="#DDDDDD")
    ax.barh(middles, shares, heights, color=COLORS["blue"])
    for y, h, guess in zip(middles, heights, guesses):
        ax.plot([guess, guess], [y - h / 2, y + h / 2], color="white", lw=6)
        ax.plot([guess, guess], [y - h / 2, y + h / 2], color=COLORS["vermillion"], lw=3)
        ax.plot(guess, y + h / 2, "^", color=COLORS["vermillion"])
    ax.axvline(q, color=COLORS["black"], ls="--", lw=1.4)
    ax.text(q, middles[-1] + heights[-1] / 2 + 0.04, "q", ha="center", va="top")
    ax.set_yticks(middles, names)
    ax.set(xlim=(0, 1), xlabel="share of men, and the guess")
    ax.invert_yaxis()
    ax.grid(visible=False)
    return fig
