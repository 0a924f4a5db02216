"""The frozen and the best-replying inspector, for ``book/explorables/adversary``."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import expit

from renyi_book.explorables import explorable, fixed
from renyi_book.plotting import COLORS
from renyi_lib.penalties import best_response_v, renyi_given_v

#: Shares of the groups (young, middle, old); the logits of their rates of loans at dial theta are
#: base + tilt * theta; and the length of a gradient step.
BANK = {
    "shares": [0.3, 0.4, 0.3],
    "base": [-1.5, 0.0, 1.2],
    "tilt": [1.2, -1.5, -0.6],
    "rate": 1.5,
}
GROUPS = ("young", "middle", "old")
START, STEPS = 0.0, 30


def rates(theta):
    """The share of each group that gets a loan."""
    return expit(np.array(BANK["base"]) + np.array(BANK["tilt"]) * theta)


def question(theta):
    """The best v at theta, by the library."""
    table, q = _table(rates(theta))
    return best_response_v(table, q)


def paid(theta, v):
    """What an inspector with v is paid at theta, and the slope by theta with v held."""
    r = rates(theta)
    table, q = _table(r)
    value, by_table = renyi_given_v(table, q, v)
    moved = q * r * (1 - r) * np.array(BANK["tilt"])
    return value, float(np.sum(by_table * np.array([-moved, moved])))


def path(start, steps, *, frozen):
    """Where the dial stands after 0, 1, ..., steps gradient steps."""
    first, places = question(start), [start]
    for _ in range(steps):
        v = first if frozen else question(places[-1])
        places.append(places[-1] - BANK["rate"] * paid(places[-1], v)[1])
    return places


def numbers(start=START, steps=STEPS):
    """The numbers of a state, as the page computes them.

    Examples
    --------
    >>> from renyi_book.live import adversary
    >>> found = adversary.numbers()
    >>> found["seen"] < 0.001 < found["before"] < found["frozen"]
    True
    """
    first = question(start)
    theta, other = (path(start, steps, frozen=kind)[-1] for kind in (True, False))
    seen, followed = paid(theta, first)
    true, slope = paid(theta, question(theta))
    return {
        "before": paid(start, first)[0],
        "theta_frozen": theta,
        "theta_moving": other,
        "seen": seen,
        "frozen": true,
        "moving": paid(other, question(other))[0],
        "followed": followed,
        "slope": slope,
    }


def still():
    """The opening state as a picture."""
    found, first = numbers(), question(START)
    dial = np.linspace(-1.5, 3.5, 201)
    fig, ax = plt.subplots(figsize=(7, 3.9))
    ax.plot(
        dial,
        [paid(t, question(t))[0] for t in dial],
        color=COLORS["black"],
        linewidth=2.4,
        label="best question: ρ_R²",
    )
    ax.plot(
        dial,
        [paid(t, first)[0] for t in dial],
        "--",
        color=COLORS["vermillion"],
        label="first question",
    )
    theta = found["theta_frozen"]
    ax.plot([theta] * 2, [found["seen"], found["frozen"]], color=COLORS["vermillion"])
    ax.plot(theta, found["seen"], "s", color="white", markeredgecolor=COLORS["vermillion"], ms=9)
    ax.plot(theta, found["frozen"], "s", color=COLORS["vermillion"], ms=9, label="frozen: truth")
    ax.plot(
        found["theta_moving"], found["moving"], "o", color=COLORS["blue"], ms=10, label="replying"
    )
    ax.axvline(START, color=COLORS["grey"], linestyle=":", linewidth=1.2)
    ax.set(xlabel="the bank's dial θ", ylabel="what an inspector is paid", ylim=(-0.02, 0.7))
    ax.legend(loc="upper center")
    return fig


def show():
    """The explorable, with its opening numbers by the library."""
    found = numbers()
    groups = pd.DataFrame(
        {
            "start": rates(START),
            "frozen inspector": rates(found["theta_frozen"]),
            "replying inspector": rates(found["theta_moving"]),
        },
        pd.Index(GROUPS, name="share with a loan"),
    )
    explorable(
        "adversary",
        still=still(),
        alt="Two curves over the bank's dial. The thick one, the best question, has its lowest "
        "point near 0.6. The dashed one, the question that was best at 0, touches it there and "
        "falls to zero near 1.4, where the bank that trusts it stands: the thick curve is high "
        "above. The bank with the replying inspector stands at the lowest point.",
        data=BANK,
        say="After these steps the frozen inspector sees {seen}, and the truth is {frozen}; "
        "before the first step it was {before}. Try [one step](steps=1): the two banks still "
        "stand together, since where she has just been asked the slope of her question is the "
        "true slope. Then they part. Try [a start almost at the best place](start=1): her "
        "question leads the bank away from it.",
        values={key: fixed(found[key], 3) for key in ("before", "seen", "frozen")},
        table=groups.round(3),
        label="The rates of the three groups",
        heights=(480, 480),
    )


def _table(r):
    q = np.array(BANK["shares"])
    return np.array([q * (1 - r), q * r]), q
