"""The landing page's figure shows the library's numbers and can be used by everyone."""

import pytest

from renyi_book.explorables import fixed
from renyi_book.live import scores, threshold
from tests.browser.explorable_fixtures import (
    chromium,
    model,
    placed,
    printed,
    settled,
    site,
    visit,
)

__all__ = ["chromium", "site", "visit"]  # fixtures, used by name


@pytest.fixture(scope="session")
def body():
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", lambda shown: found.append(shown.data))
        threshold.show()
    return found[0]


def test_numbers_match_python(visit, body, site):
    page, grid = visit("threshold", body), list(range(5, 96))
    code = "x.grid.map((k) => ['usual', 'fair'].map((one) => m.relative(x.data, one, k)))"
    found = model(page, site, "threshold", code, {"data": threshold.data(), "grid": grid})
    for k, pair in zip(grid, found):
        ours = [threshold.relative(name, k) for name in threshold.MODELS]
        assert pair == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize("k", [5, 50, 70, 95])
def test_displayed_ratio_is_the_ratio_of_the_selection_rates(k):
    for name, (lam, _) in threshold.MODELS.items():
        women, men = scores.measure(scores.counts()[scores.METHOD, lam], k)["rates"]
        assert threshold.relative(name, k) == pytest.approx(100 * women / men)


def test_the_handle_and_the_slider_move_the_threshold(visit, body):
    page = visit("threshold", body)
    box = placed(page, page.locator("[data-handle]"))
    x, y = box["x"] + box["width"] / 2, box["y"] + 60
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 120, y, steps=4)
    page.mouse.up()
    slider = settled(page).get_by_role("slider", name="threshold")
    moved = float(slider.input_value())
    assert 0.1 < moved < 0.45
    slider.fill("0.7")
    text = settled(page).locator(".explorable-summary").inner_text()
    assert f"selects {fixed(threshold.relative('usual', 70), 0)} women for every 100 men" in text
    assert f"trained to be fair selects {fixed(threshold.relative('fair', 70), 0)}." in text


def test_slider_is_the_only_control(visit, body):
    page = visit("threshold", body)
    assert page.locator("input").count() == 1
    assert printed(page, "threshold") == {}


@pytest.mark.parametrize(("width", "most"), [(390, 380), (760, 380)])
def test_figure_and_control_leave_room_on_the_first_screen(visit, body, width, most):
    page = visit("threshold", body, width=width)
    assert settled(page).locator(".explorable-live").bounding_box()["height"] < most
