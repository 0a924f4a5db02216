"""Frozen and best-replying inspectors, for ``book/explorables/adversary``."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import expit

from renyi_book.explorables import explorable, fixed
from renyi_book.plotting import COLORS
from renyi_lib.penalties import best_response_v, renyi_given_v

#: Shares of the groups (young, middle, old), whose loan rates at theta have the logits
#: base + tilt * theta, and the step size ("rate") of gradient descent.
BANK = {
    "shares": [0.3, 0.4, 0.3],
    "base": [-1.5, 0.0, 1.2],
    "tilt": [1.2, -1.5, -0.6],
    "rate": 1.5,
}
GROUPS = ("young", "middle", "old")
START, STEPS = 0.0, 30  # start of both banks, and the maximum number of steps


def rates(theta):
    """Return the share of each group that gets a loan."""
    return expit(np.array(BANK["base"]) + np.array(BANK["tilt"]) * theta)


def question(theta):
    """Compute v, the inspector's best question at theta, with the library."""
    table, q = _table(rates(theta))
    return best_response_v(table, q)


def paid(theta, v):
    """Return the value of the question v at theta, and its derivative in theta for fixed v."""
    r = rates(theta)
    table, q = _table(r)
    value, by_table = renyi_given_v(table, q, v)
    moved = q * r * (1 - r) * np.array(BANK["tilt"])
    return value, float(np.sum(by_table * np.array([-moved, moved])))


def path(start, steps, *, frozen):
    """Return the values of theta after 0, 1, ..., `steps` gradient steps.

    A frozen inspector keeps the question that is best at the start; the other one replies to each
    step with the best question.
    """
    first, places = question(start), [start]
    for _ in range(steps):
        v = first if frozen else question(places[-1])
        places.append(places[-1] - BANK["rate"] * paid(places[-1], v)[1])
    return places


def numbers(start=START, steps=0):
    """Compute the numbers of the state `steps` steps after theta = `start`, as the page does.

    They are the penalty at the start (``before``); theta of the bank with the frozen inspector and
    of the bank with the replying inspector (``theta_frozen``, ``theta_moving``); for the first
    bank, the value that its inspector sees (``seen``), the penalty (``frozen``), and the slopes of
    her question and of the best question (``followed``, ``slope``); and the penalty of the second
    bank (``moving``).

    Examples
    --------
    >>> from renyi_book.live import adversary
    >>> found = adversary.numbers(steps=30)
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
    """Draw the opening state."""
    found, first = numbers(), question(START)
    thetas = np.linspace(-1.5, 3.5, 201)
    fig, ax = plt.subplots(figsize=(7, 3.9))
    ax.plot(
        thetas,
        [paid(t, question(t))[0] for t in thetas],
        color=COLORS["black"],
        linewidth=2.4,
        label=r"value of the best question, $\rho_R^2$",
    )
    ax.plot(
        thetas,
        [paid(t, first)[0] for t in thetas],
        "--",
        color=COLORS["vermillion"],
        label="value of the first question",
    )
    ax.plot(
        START, found["before"], "s", color=COLORS["vermillion"], ms=13, label="frozen inspector"
    )
    ax.plot(START, found["before"], "o", color=COLORS["blue"], ms=8, label="replying inspector")
    ax.axvline(START, color=COLORS["grey"], linestyle=":", linewidth=1.2)
    ax.set(xlabel="the bank's parameter θ", ylabel="what an inspector measures", ylim=(-0.02, 0.7))
    ax.legend(loc="upper center")
    return fig


def show():
    """Show the explorable, with its opening numbers from the library."""
    found, last = numbers(), numbers(steps=STEPS)
    groups = pd.DataFrame(
        {
            "start": rates(START),
            "frozen inspector": rates(last["theta_frozen"]),
            "replying inspector": rates(last["theta_moving"]),
        },
        pd.Index(GROUPS, name="share with a loan"),
    )
    explorable(
        "adversary",
        still=still(),
        alt="Two curves over the bank's parameter. The solid one, the value of the best question, "
        "is lowest near 0.6. The dashed one, the value of the question that is best at 0, touches "
        "it there and falls to zero near 1.4. Both banks stand where the two curves touch.",
        data=BANK,
        say="Two copies of a bank start at the same θ. Press Play. After [one step](steps=1) they "
        "are still together, because at the start both questions have the same slope. Then they "
        f"part. After [{STEPS} steps](steps={STEPS}) the frozen inspector sees "
        f"{fixed(last['seen'], 3)}, while the true ρ_R² of her bank has grown from "
        f"{fixed(last['before'], 3)} to {fixed(last['frozen'], 3)}. Now, after {{steps}}, it is "
        "{frozen}.",
        values={"steps": "0 steps", "frozen": fixed(found["frozen"], 3)},
        table=groups.round(3),
        label=f"The rates of the three groups after {STEPS} steps",
        heights=(440, 430),
    )


def _table(r):
    q = np.array(BANK["shares"])
    return np.array([q * (1 - r), q * r]), q
