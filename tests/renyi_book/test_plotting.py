"""The house style: figures carry their alt text, sliders are self-contained."""

import base64
import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup

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
def test_a_figure_without_a_real_alt_text_is_refused(shown, alt):
    with pytest.raises(ValueError, match="alt must say in words"):
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


def test_slider_refuses_no_figures(shown):
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
