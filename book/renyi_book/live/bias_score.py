"""Boundary of the optimal rule on a known population, for ``book/explorables/bias-score``."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.optimize import brentq

from renyi_book.explorables import explorable, fixed
from renyi_book.plotting import COLORS
from renyi_lib.metrics import group_rates

MOST, STEP = 0.3, 0.005  # largest k on the slider, and its step


def population():
    """Return share, P(Y=1 | type) and P(S=1 | type) of each type in the chapter's population."""
    a, c = np.meshgrid(np.linspace(-2.5, 3.5, 12), np.linspace(-2.5, 2.5, 10))
    one, zero = np.exp(-((a - 1) ** 2) / 2), np.exp(-(a**2) / 2)
    share = ((one + zero) * np.exp(-(c**2) / 2)).ravel()
    eta = 1 / (1 + np.exp(2.5 - a - 1.5 * c))
    return share / share.sum(), eta.ravel(), (one / (one + zero)).ravel()


def bias_scores():
    """Return the bias score of each type."""
    share, _, sigma = population()
    q = share @ sigma
    return sigma / q - (1 - sigma) / (1 - q)


def limit():
    """Return the largest slope k that any lam can reach, rounded to the slider's grid."""
    (share, eta, _), b = population(), bias_scores()

    def gap(k):
        root = np.sqrt((1 + 4 * k * b) ** 2 - 16 * k * b * eta)
        return share @ (b * 2 * eta / (1 + 4 * k * b + root))

    return round(round(brentq(gap, 0, 5) / STEP) * STEP, 3)


def numbers(k=0.0):
    """Compute the accuracy of the rule with slope k, and the ratio and gap of its selection rates.

    Examples
    --------
    >>> from renyi_book.live import bias_score
    >>> {key: round(value, 3) for key, value in bias_score.numbers(0.0).items()}
    {'accuracy': 0.839, 'ratio': 0.407, 'gap': 0.125}
    """
    share, eta, sigma = population()
    h = eta - k * bias_scores() > 0.5
    rates = group_rates(
        None,
        np.tile(h, 2).astype(float),
        sensitive_features=np.repeat([0, 1], len(h)),
        sample_weight=np.concatenate([share * (1 - sigma), share * sigma]),
    )
    return {
        "accuracy": float(share @ np.where(h, eta, 1 - eta)),
        "ratio": float(rates.min() / rates.max()),
        "gap": float(rates[1] - rates[0]),
    }


def printed(k=0.0):
    """Return the numbers of `numbers` as text, as the page shows them."""
    found = numbers(k)
    sign = "+" if found["gap"] > 0 else ""
    return {
        "accuracy": f"{fixed(100 * found['accuracy'], 1)} %",
        "ratio": f"{fixed(100 * found['ratio'], 1)} %",
        "gap": sign + fixed(100 * found["gap"], 1),
    }


def still():
    """Draw the opening state."""
    (share, eta, _), b = population(), bias_scores()
    fig, ax = plt.subplots(figsize=(7, 4))
    for chosen, face in ((eta > 0.5, COLORS["blue"]), (eta <= 0.5, "none")):
        size = 4000 * share[chosen]
        ax.scatter(b[chosen], eta[chosen], size, facecolors=face, edgecolors=COLORS["blue"])
    ends = np.array([b.min(), b.max()])
    ax.plot(ends, 0.5 + limit() * ends, "--", color=COLORS["grey"], label="limit for λ → ∞")
    ax.axhline(0.5, color=COLORS["vermillion"], linewidth=2.4, label="k = 0")
    ax.set(xlabel="bias score b", ylabel="η, the probability of Y = 1", ylim=(-0.03, 1.03))
    ax.legend(loc="lower right")
    return fig


def show():
    """Show the explorable, with its opening numbers from the library."""
    share, eta, sigma = population()
    stops = [0.0, 0.05, 0.1, 0.15, 0.2, limit(), 0.25, 0.3]
    table = pd.DataFrame([printed(k) for k in stops], pd.Index(stops, name="k"))
    explorable(
        "bias-score",
        still=still(),
        alt="Types of people as circles, by bias score and by their probability of Y = 1. A "
        "horizontal line at one half separates filled from hollow circles, and a dashed line "
        "that rises to the right is the steepest that any λ reaches.",
        data={
            "share": share.tolist(),
            "eta": eta.tolist(),
            "sigma": sigma.tolist(),
            "limit": limit(),
        },
        say="Types above the line are accepted. Press Play, or drag the line, and watch which "
        "types change sides. Here p% is {ratio} and the accuracy is {accuracy}. At [the largest k "
        f"that λ can reach](k={limit()}) the groups' mean scores agree, but their decisions do "
        "not. With [a steeper line](k=0.25) the decisions are fair, at a lower accuracy.",
        values={key: printed()[key] for key in ("ratio", "accuracy")},
        table=table.rename(columns={"ratio": "p%", "gap": "gap, points"}),
        label="Eight positions of the line",
        heights=(380, 340),
    )
