"""Figures as SVG: reproducible files, words as text, light and dark colors."""

import base64
import io
import re
import xml.etree.ElementTree as ET

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from renyi_book import plotting, svg
from renyi_book.explorables import FOLDER
from renyi_book.scorecard.figure import STYLES

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def house_style():
    plotting.use_house_style()
    yield
    plt.close("all")
    plt.rcdefaults()


def words(drawn):
    """Return {words: attributes} of the texts of a drawing."""
    found = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    return {"".join(text.itertext()): text.attrib for text in found}


def some_figure(n=20):
    fig, ax = plt.subplots(figsize=(5, 3))
    draw = np.random.default_rng(0)
    ax.scatter(*draw.normal(size=(2, n)), color=plotting.COLORS["blue"], label="points")
    ax.axhline(0, color=plotting.COLORS["black"])
    ax.set(title="A title", xlabel=r"weight $\lambda$", ylabel="upwards")
    return fig


def test_equal_figures_give_equal_svg():
    assert svg.svg(some_figure()) == svg.svg(some_figure())


def test_words_are_svg_text_in_the_fonts_of_the_page():
    drawn = svg.svg(some_figure())
    found = words(drawn)
    assert {"A title", "weight λ", "upwards"} <= set(found)
    assert found["weight λ"]["text-anchor"] == "middle"
    assert found["upwards"]["transform"].startswith("rotate(-90")
    assert svg.FONTS in drawn
    assert "DejaVu" not in drawn


def test_multiline_text_keeps_its_alignment_in_any_font():
    fig, ax = plt.subplots()
    ax.text(0.5, 0.5, "first\nthe second line", ha="right")
    ax.text(0.5, 0.2, "in the\nmiddle of it", ha="center")
    found = words(svg.svg(fig))
    assert found["first"]["text-anchor"] == found["the second line"]["text-anchor"] == "end"
    assert float(found["first"]["x"]) == pytest.approx(float(found["the second line"]["x"]))
    assert found["in the"]["x"] == found["middle of it"]["x"]


@pytest.mark.parametrize(
    ("formula", "spans"),
    [
        (r"$\rho_R^2$", [("ρ", True, 0), ("R", True, -1), ("2", False, 1)]),
        ("slope $-1/4$", [("slope −1/4", False, 0)]),
        (r"$\mathdefault{10^{-3}}$", [("10", False, 0), ("−3", False, 1)]),
        (r"$J - \min J$", [("J", True, 0), ("\u2009−\u2009min\u2009", False, 0), ("J", True, 0)]),
        (r"$\lambda'$", [("λ", True, 0), ("′", False, 0)]),
        (r"$\hat\rho$", None),
        (r"$x_{i_j}$", None),
    ],
)
def test_simple_formulas_become_text_with_indices(formula, spans):
    assert svg.math_spans(formula) == spans


def test_complex_formula_is_drawn_as_outlines():
    fig = plt.figure()
    fig.text(0.5, 0.5, r"$\sqrt{p}$")
    drawn = svg.svg(fig)
    assert words(drawn) == {}
    assert "<path id=" in drawn


def test_many_marks_are_rasterized_and_words_stay_text():
    few, many = svg.svg(some_figure(20)), svg.svg(some_figure(20_000))
    assert "<image" not in few
    assert many.count("<image") == 1
    assert len(many.encode()) < svg.MOST_BYTES
    assert "A title" in words(many)


def test_circles_drawn_as_eight_curves_become_arcs():
    fig, ax = plt.subplots()
    ax.scatter([0.2, 0.4, 0.6], [0.2, 0.4, 0.6], [10, 100, 1000])
    drawn = svg.svg(fig)
    radii = [float(r) for r in re.findall(r'd="M[^a"]*a([\d.]+) ', drawn)]
    assert radii == pytest.approx(np.sqrt([10, 100, 1000]) / 2, abs=0.01)
    assert "C" not in "".join(re.findall(r' d="([^"]*)"', drawn))


def test_only_the_stored_drawing_has_a_white_background():
    drawn = svg.svg(some_figure())
    assert 'class="paper"' in drawn
    for variant in (svg.light(drawn), svg.dark(drawn)):
        assert 'class="paper"' not in variant
        assert svg.size(variant) == svg.size(drawn) == (500, 300)


@pytest.mark.parametrize("name", plotting.COLORS)
def test_palette_has_sufficient_contrast_on_a_dark_page(name):
    color = svg.dark_color(plotting.COLORS[name])
    assert svg.contrast(color, svg.DARK_PAPER) >= 4.5


def test_dark_colors_of_the_palette_are_distinct():
    assert len({svg.dark_color(color) for color in plotting.COLORS.values()}) == len(
        plotting.COLORS
    )


@pytest.mark.parametrize("color", ["#000000", "#222222", "#444444", "#555555", "#8a5f00"])
def test_text_colors_have_sufficient_contrast_on_a_dark_page(color):
    assert svg.contrast(svg.dark_color(color), svg.DARK_PAPER) >= 4.5


def test_colors_visible_on_white_are_visible_on_a_dark_page():
    steps = range(0, 256, 51)
    colors = [f"#{r:02x}{g:02x}{b:02x}" for r in steps for g in steps for b in steps]
    seen = [color for color in colors if svg.contrast(color, "#ffffff") >= 3]
    assert len(seen) > 100
    assert min(svg.contrast(svg.dark_color(c), svg.DARK_PAPER) for c in seen) >= 3


def test_dark_text_and_lines_are_recolored():
    dark = svg.dark(svg.svg(some_figure()))
    colors = set(re.findall("#[0-9a-f]{6}", dark))
    assert svg.dark_color("#000000") in colors
    assert svg.dark_color(plotting.COLORS["blue"]) in colors
    assert not {"#000000", "#ffffff", plotting.COLORS["blue"].lower()} & colors


def pixels(drawn):
    encoded = re.search('data:image/png;base64,([^"]+)', drawn).group(1)
    return np.array(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA"))[..., :3]


def test_images_are_inverted_in_lightness():
    fig, ax = plt.subplots()
    ax.imshow([[0, 1]], cmap="Blues")
    drawn = svg.svg(fig)
    before, after = (pixels(d).mean(axis=2) for d in (drawn, svg.dark(drawn)))
    assert before[0, 0] > 200 > 100 > before[0, -1]
    assert after[0, 0] < 60 < 120 < after[0, -1]


def test_a_filled_map_keeps_its_colors():
    fig, ax = plt.subplots()
    ax.contourf(np.add.outer(np.arange(5), np.arange(5)), cmap="cividis")
    ax.plot([1, 2], [1, 2], color="white")
    drawn = svg.svg(fig)
    kept = re.findall('<g class="kept".*?</g>', drawn)
    assert len(kept) == 2
    dark = svg.dark(drawn)
    assert all(group in dark for group in kept)


def test_drawing_without_a_size_raises():
    with pytest.raises(ValueError, match="drawn must be an SVG"):
        svg.size("<svg>")


def test_verdicts_have_the_same_colors_in_figures_and_in_the_table():
    sheet = (FOLDER / "explorables.css").read_text(encoding="utf8")
    used = dict(
        re.findall(r'claims-bar \[data-verdict="([^"]+)"\] \{ border-color: var\((.+?)\)', sheet)
    )
    assert len(used) == 4
    variables = {"blue": "--ex-a", "vermillion": "--ex-b", "green": "--ex-c", "purple": "--ex-d"}
    assert used == {verdict: variables[STYLES[verdict][0]] for verdict in used}
