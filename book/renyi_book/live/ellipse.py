"""Circle of functions that R, the conditional expectation, maps to an ellipse.

The semi-axes of the ellipse are the second and the third singular value.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from renyi_book.explorables import fixed
from renyi_book.plotting import COLORS
from renyi_lib.correlation import maximal_functions

ANGLE = 40
# Rows: cloud, rain, snow, sun; columns: bike, bus, car.
NEARLY_TIED = np.array([[20, 20, 20], [10, 40, 10], [10, 10, 40], [44, 10, 10]])
ALIKE = np.array([[28, 16, 16], [6, 27, 27], [3, 18, 18], [52, 14, 14]])


def axes(counts):
    """Return the singular values sigma_2 and sigma_3, and the circle's axes g* and g_3."""
    best = maximal_functions(counts)
    v_0 = np.sqrt(counts.sum(axis=0) / counts.sum())
    third = np.cross(v_0, v_0 * best.g)
    third *= np.sign(third[np.abs(third) > 1e-8][-1])
    return best.singular_values, best.g, third / v_0


def walk(counts, degrees):
    """Return the function in one direction, and its correlation with the best reply to it."""
    _, second, third = axes(counts)
    t = np.radians(degrees)
    code = np.cos(t) * second + np.sin(t) * third
    P = counts / counts.sum()
    p = P.sum(axis=1)
    return code, np.sqrt((P @ code / p) ** 2 @ p)


def content(days):
    """Return the arguments of `explorable`, for a table of counts with three columns."""
    counts = days.to_numpy()
    reached = walk(counts, ANGLE)[1]
    stops = np.arange(0, 181, 30)
    return {
        "name": "ellipse",
        "still": _still(counts),
        "alt": "A dashed circle of functions and, inside it, the ellipse to which R maps it. One "
        "function v and its image are marked. Beside it, the length of the image against the "
        "direction of v is a wave between sigma 3 and sigma 2.",
        "data": {
            "columns": list(days.columns),
            "tables": {
                "weather": {"label": "weather", "counts": counts.tolist()},
                "tied": {"label": "nearly a tie", "counts": NEARLY_TIED.tolist()},
                "alike": {"label": "bus and car alike", "counts": ALIKE.tolist()},
            },
        },
        "say": "Turn v around the circle. In direction {angle}, Rv has the length {reached}. It "
        "is longest for [the best function](angle=0), where the length is σ₂ = ρ_R, and shortest "
        "for [the worst](angle=90). With [nearly a tie](table=tied) the ellipse is almost round. "
        "When [bus and car are alike](table=alike&angle=90), a function that separates only these "
        "two is mapped to 0, and the ellipse collapses to a line.",
        "values": {"angle": f"{ANGLE}°", "reached": fixed(reached, 4)},
        "table": pd.DataFrame(
            [[*code, reached] for code, reached in (walk(counts, stop) for stop in stops)],
            [f"{stop}°" for stop in stops],
            [*days.columns, "length of Rv"],
        ).map(lambda x: fixed(x, 4)),
        "heights": (358, 476),
    }


def _still(counts):
    sigma = axes(counts)[0]
    t = np.radians(np.arange(361))
    here = np.radians(ANGLE)
    point, image = np.array([np.cos(here), np.sin(here)]), sigma * [np.cos(here), np.sin(here)]
    fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.6))
    left.plot(np.cos(t), np.sin(t), "--", color=COLORS["blue"])
    left.plot(sigma[0] * np.cos(t), sigma[1] * np.sin(t), color=COLORS["vermillion"])
    left.plot([0, image[0]], [0, image[1]], color=COLORS["vermillion"], lw=3)
    left.plot(*np.transpose([point, image]), ":", color=COLORS["grey"], lw=1.4)
    left.plot(*point, "o", color=COLORS["blue"], ms=9)
    left.plot(*image, "s", color=COLORS["vermillion"], ms=8)
    left.text(*(point + 0.08), "v", color=COLORS["blue"])
    left.text(image[0] + 0.05, image[1] + 0.08, "Rv", color=COLORS["vermillion"])
    left.set(aspect="equal", xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xlabel="g*", ylabel="$g_3$")
    reached = [walk(counts, degrees)[1] for degrees in range(361)]
    right.plot(reached, color=COLORS["vermillion"])
    right.plot([ANGLE, ANGLE], [0, reached[ANGLE]], color=COLORS["vermillion"], lw=3)
    right.plot(ANGLE, reached[ANGLE], "s", color=COLORS["vermillion"], ms=8)
    for value, name in zip(sigma, (r"$\sigma_2$", r"$\sigma_3$")):
        right.axhline(value, color=COLORS["grey"], ls="--", lw=1.2)
        right.text(362, value, name, va="center")
    right.set(xticks=range(0, 361, 90), xlim=(0, 360), ylim=(0, 0.62), title="length of Rv")
    right.set_xlabel("direction of v, in degrees")
    return fig
