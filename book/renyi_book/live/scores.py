"""Effect of lambda and the threshold on real scores of Adult, for ``book/explorables/scores``."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm

from renyi_book.chapters import BOOK
from renyi_book.experiments import load
from renyi_book.explorables import explorable, fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import renyi_from_joint

#: Each method's name on the page, which is the target of its penalty or its model. Other methods
#: of the stored table are left out.
NAMES = {"label": "the sampled label", "bins": "the score's bins", "boosting": "boosted trees"}
#: Opening state: the penalty on the label, at a lambda with a gap of nearly 0 at threshold 0.5.
METHOD, LAM, THRESHOLD = "label", 8, 0.5
_COUNTS = ["above_00", "above_01", "above_10", "above_11"]


@cache
def counts():
    """Return the stored counts, an array of shape (101, 2, 2) for each (method, lam).

    Entry [k, s, y] is the number of test rows of group s and label y with a score above k / 100.

    Examples
    --------
    >>> from renyi_book.live import scores
    >>> scores.counts()["label", 8][0].tolist()  # everybody: women, then men, by label
    [[4831, 590], [7604, 3256]]
    """
    table = load("adult_scores", BOOK / "results")
    return {
        (method, float(lam)): rows[_COUNTS].to_numpy().reshape(-1, 2, 2)
        for (method, lam), rows in table.groupby(["method", "lam"], sort=False)
        if method in NAMES
    }


def data():
    """Return the counts from which the page computes rates, with the methods and lambdas."""
    found = counts()
    methods = list(dict.fromkeys(method for method, _ in found))
    lams = list(dict.fromkeys(lam for _, lam in found))
    everybody = next(iter(found.values()))
    return {
        "methods": methods,
        "names": [NAMES[method] for method in methods],
        "lams": [int(lam) if lam == int(lam) else lam for lam in lams],
        "lam": LAM,
        "steps": len(everybody) - 1,
        "size": everybody[0].sum(axis=1).tolist(),
        "negatives": int(everybody[0, :, 0].sum()),
        "cells": {method: [_per_cell(found[method, lam]) for lam in lams] for method in methods},
    }


def measure(above, k):
    """Compute the numbers that the page prints for a model at threshold k / 100.

    Parameters
    ----------
    above : ndarray of shape (101, 2, 2)
        Counts from `counts`.
    k : int
        Threshold in hundredths.

    Returns
    -------
    dict
        By group (women, men), the numbers ``selected`` and their ``rates``; the number of
        ``correct`` decisions and the ``accuracy``; ``pRule``, the smaller rate divided by the
        larger one (1 if both are 0); ``gap`` and ``eoGap``, the differences of rates and of true
        positive rates, men minus women; ``rhoLabel`` and ``rhoScore``, rho_R of the group with the
        decision and with ten bins of the score; and ``chance``, below which the absolute gap stays
        with a probability of 95 % if both groups have the same rate.
    """
    everybody, chosen = above[0], above[k]
    size, selected = everybody.sum(axis=1), chosen.sum(axis=1)
    rates, tpr = selected / size, chosen[:, 1] / everybody[:, 1]
    correct = int(chosen[:, 1].sum() + everybody[:, 0].sum() - chosen[:, 0].sum())
    overall = selected.sum() / size.sum()
    spread = np.sqrt(overall * (1 - overall) * np.sum(1 / size))
    return {
        "selected": selected.tolist(),
        "rates": rates.tolist(),
        "correct": correct,
        "accuracy": correct / int(size.sum()),
        "pRule": float(rates.min() / rates.max()) if rates.max() else 1.0,
        "gap": float(rates[1] - rates[0]),
        "eoGap": float(tpr[1] - tpr[0]),
        "rhoLabel": renyi_from_joint([selected, size - selected]),
        "rhoScore": renyi_from_joint(_cells(above)),
        "chance": float(norm.ppf(0.975) * spread),
    }


def still():
    """Draw both histograms and the gap at every threshold in the opening state."""
    found = counts()
    above = found[METHOD, LAM]
    fig, (upper, lower) = plt.subplots(2, 1, figsize=(7, 6.2), sharex=True)
    wide = -np.diff(above.sum(axis=2)[::4], axis=0) / above[0].sum(axis=1)
    left = np.arange(25) / 25
    for s, name, sign, color in ((0, "women", 1, "vermillion"), (1, "men", -1, "blue")):
        for inside, alpha in ((left >= THRESHOLD, 1.0), (left < THRESHOLD, 0.35)):
            upper.bar(
                left[inside],
                sign * np.sqrt(wide[inside, s]),
                0.037,
                align="edge",
                color=COLORS[color],
                alpha=alpha,
                label=name if alpha == 1 else None,
            )
    ticks = np.array([0.04, 0.16, 0.36])
    upper.set_yticks(
        [*-np.sqrt(ticks[::-1]), 0, *np.sqrt(ticks)],
        ["36 %", "16 %", "4 %", "0", "4 %", "16 %", "36 %"],
    )
    upper.set_ylabel("share of the group, square-root scale")
    upper.legend(loc="upper right")
    grid = np.arange(101) / 100
    half = [100 * measure(above, k)["chance"] for k in range(101)]
    lower.fill_between(grid, np.negative(half), half, color="#DDDDDD", label="chance alone")
    for method, style, color in (("label", "--", "purple"), ("bins", "-", "green")):
        gaps = [100 * measure(found[method, LAM], k)["gap"] for k in range(101)]
        lower.plot(grid, gaps, style, color=COLORS[color], label=f"penalty on {NAMES[method]}")
    lower.axhline(0, color=COLORS["black"], linewidth=1)
    for ax in (upper, lower):
        ax.axvline(THRESHOLD, color=COLORS["black"], linewidth=1.5)
    lower.set(xlabel="score, and threshold", ylabel="gap in points, men minus women")
    lower.legend(loc="upper right")
    return fig


def opening():
    """Return the texts of the page's linked numbers in the opening state."""
    women, men = measure(counts()[METHOD, LAM], round(100 * THRESHOLD))["rates"]
    return {"t": fixed(THRESHOLD, 2), "women": percent(women), "men": percent(men)}


def show():
    """Show the explorable, with its opening numbers from the library."""
    found = counts()
    rows = {
        (NAMES[method], fixed(k / 100, 1)): measure(found[method, LAM], k)
        for method in NAMES
        for k in (20, 30, 40, 50, 60, 70)
    }
    table = pd.DataFrame(rows).T[["pRule", "gap", "eoGap", "accuracy", "rhoLabel", "rhoScore"]]
    table = table.astype(float).round(3).rename_axis(["penalty on", "threshold"])
    table.columns = ["p%", "gap", "EO gap", "accuracy", "ρ_R, decision", "ρ_R, score"]
    explorable(
        "scores",
        still=still(),
        alt="Above, mirrored histograms of the scores of women and men, alike but for more men in "
        "the middle and more women high up. Below, the gap between the shares selected against "
        "the threshold. With the penalty on the label it is zero at one half, five points and "
        "more below it and negative above, far outside the band of chance. With the penalty on "
        "the score's bins it stays near zero throughout.",
        data=data(),
        say=_say(found),
        values=opening(),
        table=table,
        label=f"All three at λ = {LAM} and six thresholds, as a table",
        heights=(490, 488),
    )


def _say(found):
    label, bins = (measure(found[method, LAM], 30)["pRule"] for method in ("label", "bins"))
    trees = measure(found["boosting", LAM], 50)
    return (
        "At the threshold {t}, {women} of the women and {men} of the men are selected. "
        "[Move the threshold to 0.3](t=0.3), or drag the line, and p% falls to "
        f"{percent(label)}. If [the penalty acts on the score](method=bins&t=0.3) instead of the "
        f"sampled label, p% at 0.3 is {percent(bins)}. [Boosted trees](method=boosting&t=0.5) "
        f"reach an accuracy of {percent(trees['accuracy'])} at a p% of {percent(trees['pRule'])}."
    )


def percent(x):
    """Format a share as the page does."""
    return f"{fixed(100 * x, 1)} %"


def points(x):
    """Format a difference of shares in percentage points, with its sign, as the page does."""
    text = fixed(100 * x, 2)
    return f"+{text}" if x > 0 and float(text) else text


def _per_cell(above):
    """Return one list with the counts of women, of men and of Y = 1 in equal cells of [0, 1]."""
    lists = [*above.sum(axis=2).T, above[:, :, 1].sum(axis=1)]
    return np.concatenate([-np.diff(one) for one in lists]).tolist()


def _cells(above):
    """Count people in ten equal cells of the score, by group."""
    return -np.diff(above.sum(axis=2)[::10], axis=0)
