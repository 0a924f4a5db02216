"""The circle of codes that becomes an ellipse: its half-axes are singular values."""

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
    """The singular values sigma_2, sigma_3, and the circle's axes: the lists g* and g_3."""
    best = maximal_functions(counts)
    v_0 = np.sqrt(counts.sum(axis=0) / counts.sum())
    third = np.cross(v_0, v_0 * best.g)
    third *= np.sign(third[np.abs(third) > 1e-8][-1])
    return best.singular_values, best.g, third / v_0


def walk(counts, degrees):
    """The code in one direction, and what its best reply reaches: the root of E[m²]."""
    _, second, third = axes(counts)
    t = np.radians(degrees)
    code = np.cos(t) * second + np.sin(t) * third
    P = counts / counts.sum()
    p = P.sum(axis=1)
    return code, np.sqrt((P @ code / p) ** 2 @ p)


def content(days):
    """The arguments of `explorable`, for a table with three columns."""
    counts = days.to_numpy()
    sigma = axes(counts)[0]
    code, reached = walk(counts, ANGLE)
    stops = np.arange(0, 181, 30)
    return {
        "name": "ellipse",
        "still": _still(counts),
        "alt": "Left: a dashed circle of codes and, inside it, the ellipse that R makes of it; "
        "one code and its image are marked. Right: the distance of the image from the centre "
        "against the direction of the code, a wave between sigma 3 and sigma 2.",
        "data": {
            "columns": list(days.columns),
            "tables": {
                "weather": {"label": "weather", "counts": counts.tolist()},
                "tied": {"label": "nearly a tie", "counts": NEARLY_TIED.tolist()},
                "alike": {"label": "bus and car alike", "counts": ALIKE.tolist()},
            },
        },
        "say": "Turn the code v around the circle. In direction {angle} it gives the bike {bike}, "
        "the bus {bus} and the car {car}, and its best reply reaches {reached}, the length of Rv. "
        "The longest Rv belongs to [the best code](angle=0), with σ₂ = {sigma2}, which is ρ_R; "
        "the shortest to [the worst](angle=90), at a right angle, with σ₃ = {sigma3}. With "
        "[nearly a tie](table=tied) the ellipse is almost round: every code is about as good. If "
        "[bus and car are alike](table=alike&angle=90), a code that tells only these two apart is "
        "mapped to the centre, and the ellipse is a line: two columns would do, as in Theorem 2.",
        "values": {
            "angle": f"{ANGLE}°",
            "reached": fixed(reached, 4),
            "sigma2": fixed(sigma[0], 4),
            "sigma3": fixed(sigma[1], 4),
            **{name: fixed(x, 2) for name, x in zip(days.columns, code)},
        },
        "table": pd.DataFrame(
            [[*code, reached] for code, reached in (walk(counts, stop) for stop in stops)],
            [f"{stop}°" for stop in stops],
            [*days.columns, "reached"],
        ).map(lambda x: fixed(x, 4)),
        "heights": (360, 548),
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
    right.set_xlabel("direction of the code, in degrees")
    return fig
