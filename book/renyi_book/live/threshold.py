"""Women selected for every 100 men, at every threshold, for ``book/explorables/threshold``."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import explorable, fixed
from renyi_book.live.scores import LAM, METHOD, THRESHOLD, counts
from renyi_book.plotting import COLORS

#: Weight of the penalty and label on the page for each of the two models.
MODELS = {"usual": (0, "trained as usual"), "fair": (LAM, "trained to be fair")}


def data():
    """Return the group sizes and each model's numbers of women and men selected by threshold."""
    found = {key: counts()[METHOD, lam].sum(axis=2) for key, (lam, _) in MODELS.items()}
    everybody = found["usual"]
    return {"steps": len(everybody) - 1, "size": everybody[0].tolist()} | {
        key: selected.tolist() for key, selected in found.items()
    }


def relative(model, k):
    """Compute how many women are selected for every 100 men at the threshold k / 100.

    The groups are scaled to equal size. The result is 100 if no men are selected.

    Examples
    --------
    >>> from renyi_book.live import threshold
    >>> [round(threshold.relative(model, 50)) for model in threshold.MODELS]
    [31, 100]
    """
    selected = counts()[METHOD, MODELS[model][0]].sum(axis=2)
    women, men = selected[k] / selected[0]
    return 100 * women / men if men else 100.0


def still():
    """Draw the opening state."""
    steps = np.arange(5, 96)
    fig, ax = plt.subplots(figsize=(7, 3.2))
    ax.axhline(100, color=COLORS["black"], linewidth=1)
    for model, style, color in (("usual", "--", "vermillion"), ("fair", "-", "blue")):
        heights = [relative(model, k) for k in steps]
        ax.plot(steps / 100, heights, style, color=COLORS[color], label=MODELS[model][1])
        at = relative(model, round(100 * THRESHOLD))
        ax.plot(THRESHOLD, at, "o", color=COLORS[color])
        ax.annotate(fixed(at, 0), (THRESHOLD, at), (8, -14), textcoords="offset points")
    ax.axvline(THRESHOLD, color=COLORS["black"], linewidth=1.5)
    ax.set(xlabel="score needed to be selected", ylabel="women for every 100 men", ylim=(0, 170))
    ax.legend(loc="upper left")
    return fig


def show():
    """Show the figure of the landing page, with its opening numbers from the library."""
    grid = (20, 30, 40, 50, 60, 70, 80)
    table = pd.DataFrame(
        {name: [round(relative(key, k)) for k in grid] for key, (_, name) in MODELS.items()},
        index=pd.Index([fixed(k / 100, 1) for k in grid], name="threshold"),
    )
    explorable(
        "threshold",
        still=still(),
        alt="Women selected for every 100 men, against the score that is needed to be selected. "
        "For the model trained as usual the curve stays near 32 over most of the range. For the "
        "model trained to be fair it rises from 77 at a threshold of 0.25 through 100 at 0.5 to "
        "more than 150 at 0.75, and falls again.",
        data=data(),
        table=table,
        label="Women selected for every 100 men, as a table",
        heights=(270, 230),
    )
