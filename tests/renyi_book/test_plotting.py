"""The house style: figures carry their alt text, sliders are self-contained."""

import base64
import io
import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup
from PIL import Image

from renyi_book import plotting

matplotlib.use("agg")

ALT = "A line that rises from left to right."


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, instead of a notebook."""
    calls = []
    monkeypatch.setattr("IPython.display.display", lambda *a, **k: calls.append((a, k)))
    return calls


def figure():
    fig, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    return fig


def test_show_stores_a_png_with_its_alt_text_and_closes_the_figure(shown):
    fig = figure()
    plotting.show(fig, alt=f"  {ALT}\n ")
    ((bundle,), options) = shown[0]
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert options["metadata"]["image/png"]["alt"] == ALT
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize("alt", ["", "a plot", None, 3])
def test_a_figure_without_alt_text_raises(shown, alt):
    with pytest.raises(ValueError, match="alt must describe the figure"):
        plotting.show(figure(), alt=alt)
    assert shown == []


def test_slider_holds_every_frame_and_nothing_from_elsewhere(shown):
    plotting.show_slider({"0": figure(), "it's <1>": figure()}, alt=ALT, label="lambda")
    page = BeautifulSoup(shown[0][0][0].data, "html.parser")
    images = page.find_all("img")
    assert [i["style"].split("display:")[1] for i in images] == ["block", "none"]
    assert all(i["src"].startswith("data:image/png;base64,") for i in images)
    assert all(i["alt"].startswith(ALT) for i in images)
    assert page.find("input")["max"] == "1"
    assert page.find("output").text == "0"
    assert "http" not in str(page)
    # What the handler writes beside the slider are the names as they were given.
    handler = page.find("input")["oninput"]
    assert json.loads(handler.rpartition("textContent=")[2].removesuffix("[i];")) == [
        "0",
        "it's <1>",
    ]


def test_slider_rejects_no_figures(shown):
    with pytest.raises(ValueError, match="figures must be"):
        plotting.show_slider({}, alt=ALT)


def luminance(color):
    rgb = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_lines_stand_out_from_the_white_they_are_drawn_on():
    plotting.use_house_style()
    assert plt.rcParams["figure.facecolor"] == "white"
    for name, color in plotting.COLORS.items():
        contrast = 1.05 / (luminance(color) + 0.05)
        assert contrast > 2, (name, contrast)
    plt.rcdefaults()


def narrow(shown):
    return shown[0][1]["metadata"]["image/png"].get("narrow")


def size(png):
    return [int.from_bytes(base64.b64decode(png)[at : at + 4]) for at in (16, 20)]


def test_a_figure_too_wide_for_a_phone_is_drawn_again_narrower(shown):
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.plot([0, 1], [0, 1])
    ax.text(0.5, 0.5, "small words", fontsize=7)
    plotting.show(fig, alt=ALT)
    assert shown[0][1]["metadata"]["image/png"]["text"] == 7
    assert narrow(shown)["text"] >= 10
    width, height = size(narrow(shown)["png"])
    assert width / 144 == pytest.approx(5.3, abs=0.02)
    assert height / 144 == pytest.approx(4, abs=0.02)


def test_a_figure_that_fits_a_phone_is_drawn_once(shown):
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(5, 4))
    ax.plot([0, 1], [0, 1])
    plotting.show(fig, alt=ALT)
    assert narrow(shown) is None


def test_draft_is_drawn_once_and_coarsely(shown, monkeypatch):
    monkeypatch.setenv("BOOK_DRAFT", "1")
    plotting.use_house_style()
    plotting.show(plt.figure(figsize=(7, 4)), alt=ALT)
    assert narrow(shown) is None
    assert size(shown[0][0][0]["image/png"]) == [252, 144]


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


def test_three_columns_become_two_and_a_twin_stays_with_its_panel():
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


def test_a_legend_that_would_stick_out_gets_fewer_columns():
    plotting.use_house_style()
    fig, ax = plt.subplots(figsize=(7, 3))
    for name in ("one name of some length", "another name of some length", "and a third one"):
        ax.plot([0, 1], [0, 1], label=name)
    fig.legend(loc="outside lower left", ncols=3)
    plotting.for_phones(fig)
    fig.canvas.draw()
    box = fig.legends[0].get_window_extent()
    assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1


def test_fewer_colors_look_the_same_and_white_stays_white():
    fig, ax = plt.subplots(figsize=(4, 3))
    ax.imshow(np.add.outer(np.arange(40), np.arange(30)), cmap="cividis")
    drawn = io.BytesIO()
    fig.savefig(drawn, format="png")
    plt.close(fig)
    before = Image.open(drawn).convert("RGB")
    after = plotting.few_colors(before).convert("RGB")
    a, b = np.asarray(before).astype(int), np.asarray(after).astype(int)
    white = (a == 255).all(axis=2)
    assert white.mean() > 0.3
    assert (b[white] == 255).all()
    assert np.abs(a - b).max(axis=2).mean() < 5
    assert np.abs(a - b).max() < 50
