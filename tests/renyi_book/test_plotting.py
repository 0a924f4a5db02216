"""The house style: figures carry their alt text, sliders are self-contained."""

import base64
import json

import matplotlib
import matplotlib.pyplot as plt
import pytest
from bs4 import BeautifulSoup

from renyi_book import plotting, svg

matplotlib.use("agg")

ALT = "A line that rises from left to right."


@pytest.fixture
def shown(monkeypatch):
    """Record the calls that display something, instead of displaying it."""
    calls = []
    monkeypatch.setattr("IPython.display.display", lambda *a, **k: calls.append((a, k)))
    return calls


def figure():
    fig, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    return fig


def test_show_stores_an_svg_with_its_alt_text_and_closes_the_figure(shown):
    fig = figure()
    plotting.show(fig, alt=f"  {ALT}\n ")
    ((bundle,), options) = shown[0]
    assert svg.size(bundle["image/svg+xml"]) == (640, 480)
    assert options["metadata"]["image/svg+xml"]["alt"] == ALT
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize("alt", ["", "a plot", None, 3])
def test_a_figure_without_alt_text_raises(shown, alt):
    with pytest.raises(ValueError, match="alt must describe the figure"):
        plotting.show(figure(), alt=alt)
    assert shown == []


def test_slider_contains_every_frame_and_no_external_resource(shown):
    plotting.show_slider({"0": figure(), "it's <1>": figure()}, alt=ALT, label="lambda")
    page = BeautifulSoup(shown[0][0][0].data, "html.parser")
    images = page.find_all("img")
    assert [i.parent["style"] for i in images] == ["display:block", "display:none"]
    drawings = [
        base64.b64decode(i["src"].removeprefix("data:image/svg+xml;base64,")) for i in images
    ]
    assert all(drawing.startswith(b"<svg ") for drawing in drawings)
    assert all(i["alt"].startswith(ALT) for i in images)
    assert page.find("input")["max"] == "1"
    assert page.find("output").text == "0"
    assert "http" not in str(page)
    # The handler writes the names beside the slider as they were given.
    handler = page.find("input")["oninput"]
    assert json.loads(handler.rpartition("textContent=")[2].removesuffix("[i];")) == [
        "0",
        "it's <1>",
    ]


def test_slider_without_figures_raises(shown):
    with pytest.raises(ValueError, match="figures must be"):
        plotting.show_slider({}, alt=ALT)


def test_lines_have_sufficient_contrast_on_white():
    plotting.use_house_style()
    assert plt.rcParams["figure.facecolor"] == "white"
    for name, color in plotting.COLORS.items():
        assert svg.contrast(color, "#ffffff") > 2, name
    plt.rcdefaults()


def narrow(shown):
    return shown[0][1]["metadata"]["image/svg+xml"].get("narrow")


def test_figure_too_wide_for_a_phone_gets_a_narrower_drawing(shown):
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.plot([0, 1], [0, 1])
    ax.text(0.5, 0.5, "small words", fontsize=7)
    plotting.show(fig, alt=ALT)
    assert shown[0][1]["metadata"]["image/svg+xml"]["text"] == 7
    assert narrow(shown)["text"] >= 10
    assert svg.size(narrow(shown)["svg"]) == (530, 400)


def test_a_figure_that_fits_a_phone_is_drawn_once(shown):
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(5, 4))
    ax.plot([0, 1], [0, 1])
    plotting.show(fig, alt=ALT)
    assert narrow(shown) is None


def test_draft_is_drawn_once(shown, monkeypatch):
    monkeypatch.setenv("BOOK_DRAFT", "1")
    plotting.use_house_style()
    plotting.show(plt.figure(figsize=(7, 4)), alt=ALT)
    assert narrow(shown) is None


def test_panels_side_by_side_are_stacked_and_keep_their_labels():
    plotting.use_house_style()
    fig, panels = plt.subplots(1, 2, figsize=(7, 3), sharey=True)
    panels[0].set_ylabel("shared")
    for ax in panels:
        ax.plot([0, 1], [0, 1])
    plotting.for_phones(fig)
    fig.canvas.draw()
    first, second = (ax.get_position() for ax in panels)
    assert first.y0 > second.y1
    assert tuple(fig.get_size_inches()) == pytest.approx((5.3, 6))
    assert panels[1].get_ylabel() == "shared"
    assert any(t.get_visible() and t.get_text() for t in panels[1].get_yticklabels())


def test_three_columns_become_two_and_twin_axes_stay_with_their_panel():
    plotting.use_house_style()
    fig, panels = plt.subplots(1, 3, figsize=(7, 3))
    twin = panels[2].twinx()
    plotting.for_phones(fig)
    fig.canvas.draw()
    rows = [round(ax.get_position().y0, 3) for ax in panels]
    assert rows[0] == rows[1] > rows[2]
    assert twin.get_position().bounds == panels[2].get_position().bounds


def test_a_long_title_is_broken_but_never_inside_a_formula():
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(7, 3))
    title = "A title that is as long as the figure is wide, with $a + b + c$ in it"
    ax.set_title(title, loc="left")
    plotting.for_phones(fig)
    text = ax.get_title(loc="left")
    assert "\n" in text
    assert "$a + b + c$" in text
    assert text.replace("\n", " ") == title


def test_legend_that_would_overflow_gets_fewer_columns():
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(7, 3))
    for name in ("one name of some length", "another name of some length", "and a third one"):
        ax.plot([0, 1], [0, 1], label=name)
    fig.legend(loc="outside lower left", ncols=3)
    plotting.for_phones(fig)
    fig.canvas.draw()
    box = fig.legends[0].get_window_extent()
    assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1
