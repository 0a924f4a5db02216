"""Every explorable opens before its answer, fits the screen, and can be used by anyone.

One visit on a wide screen and one on a phone do most of the checks.
"""

import gzip
import os
import re

import numpy as np
import pytest

from renyi_book.explorables import FOLDER
from renyi_book.scorecard import rows
from tests.book.test_tools import load
from tests.browser.explorable_fixtures import (
    bodies,
    chromium,
    placed,
    printed,
    settled,
    site,
    visit,
)

__all__ = ["chromium", "site", "visit"]  # fixtures, used by name

NAMES = sorted(path.parent.name for path in FOLDER.glob("*/view.js"))
#: The scorecard is a table, with neither picture nor guide.
FIGURES = [name for name in NAMES if name != "scorecard"]
#: The landing page's figure has no guide, because the text of the page says what to do.
GUIDED = [name for name in FIGURES if name != "threshold"]
PLAYED = ["adversary", "bias-score", "fair-kmeans", "friends-game", "guessing-game"]
#: A part of the summary of each when it opens.
OPENING = {
    "adversary": "After 0 steps from θ = 0.0",
    "bias-score": "With k = 0.000",
    "ellipse": "The function in direction 40°",
    "fair-kmeans": "λ = 85. Algorithm 3, before the first visit",
    "friends-game": "After 0 replies",
    "guessing-game": "you save 0.000 of a possible",
    "joint-table": "Pearson 0.600, NMI 0.225, Rényi 0.600",
    "scores": "Threshold 0.50, λ = 8",
    "threshold": "At the threshold 0.50",
}
PHONE = {"width": 390, "height": 844, "has_touch": True, "reduced_motion": "reduce"}
HEADER = 64  # px that the theme's header takes of a phone's screen

#: Pairs of words in the picture that overlap, now.
_OVERLAPS = """
const overlaps = () => {
  const all = [...document.querySelectorAll('.explorable-stage text')]
    .filter((n) => n.textContent.trim()).map((n) => [n.textContent, n.getBoundingClientRect()]);
  const found = [];
  all.forEach(([one, a], k) => all.slice(k + 1).forEach(([other, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 3) found.push(`${one} | ${other}`);
  }));
  return found;
};
const frames = () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
"""
#: The same at every stop of the main slider, or at forty of them, and at every phrase to try.
_ALL_OVERLAPS = f"""async () => {{ {_OVERLAPS}
  const found = new Set(overlaps());
  const note = (where) => overlaps().forEach((pair) => found.add(`${{where}}: ${{pair}}`));
  const slider = document.querySelector('.explorable-main .explorable-range input');
  const walk = async (where) => {{
    if (!slider) return;
    const [low, high, step] = [slider.min, slider.max, slider.step].map(Number);
    const stops = Math.round((high - low) / step);
    for (let k = 0; k <= stops; k += Math.ceil(stops / 40)) {{
      slider.value = low + k * step;
      slider.dispatchEvent(new Event('input'));
      await frames();
      note(`${{where}}${{slider.value}}`);
    }}
  }};
  await walk('');
  for (const phrase of document.querySelectorAll('button.explorable-try')) {{
    phrase.click();
    await frames();
    note(phrase.textContent);
  }}
  await walk('after the last phrase, ');
  [...document.querySelectorAll('button')].find((n) => n.textContent === 'Reset').click();
  await frames();
  return [...found];
}}"""
#: The number of characters in the longest line of the guide.
_LONGEST_LINE = """node => {
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let [longest, now, last] = [0, 0, -Infinity];
  while (texts.nextNode()) {
    for (let k = 0; k < texts.currentNode.length; k += 1) {
      range.setStart(texts.currentNode, k);
      range.setEnd(texts.currentNode, k + 1);
      const { left, width } = range.getBoundingClientRect();
      if (!width) continue;
      if (left < last - 40) now = 0;
      now += 1;
      last = left;
      longest = Math.max(longest, now);
    }
  }
  return longest;
}"""


def heights(page):
    """Return the heights of the drawing, of the space reserved for it, and of the parts."""
    return page.evaluate(
        """() => {
          const high = (s) => document.querySelector(s).getBoundingClientRect().height;
          const stage = document.querySelector('.explorable-stage');
          const inside = [...stage.children].map((n) => n.getBoundingClientRect().height);
          return { drawn: Math.max(...inside), main: high('.explorable-main'),
                   all: high('.explorable'),
                   reserved: parseFloat(getComputedStyle(stage).minHeight) };
        }"""
    )


def contrast(one, other):
    """WCAG's contrast ratio of two CSS colors."""
    lights = []
    for color in (one, other):
        rgb = np.array(re.findall(r"[\d.]+", color)[:3], dtype=float) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        lights.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def faint(page):
    """Return words whose color is too close to the page or to the filled circle below them."""
    pairs = page.eval_on_selector_all(
        ".explorable-stage text, .explorable output, .explorable dt, .explorable button",
        """all => all.map((n) => { const s = getComputedStyle(n);
          const ground = getComputedStyle(document.documentElement).backgroundColor;
          const disc = n.closest('[data-point]')?.querySelector('circle:last-of-type');
          return [n.textContent, n instanceof SVGElement ? s.fill : s.color,
                  disc ? getComputedStyle(disc).fill : ground]; })""",
    )
    assert len(pairs) > 5
    return [pair for pair in pairs if contrast(*pair[1:]) < 4.5]


@pytest.mark.parametrize("name", FIGURES)
def test_explorables_fit_a_wide_screen(visit, name):
    page = visit(name, bodies()[name], width=1400, reduced_motion="reduce")
    page.add_style_tag(content="html[data-theme=light] { background: #fff; }")
    summary, voice = page.locator(".explorable-summary"), page.locator(".explorable-voice")
    # It opens before its answer, with the numbers that the page had before the script ran.
    opened, words = printed(page, name), summary.text_content()
    assert OPENING[name] in words
    baked = re.findall(r'<output [^>]*data-value="(\w+)">([^<]*)</output>', bodies()[name])
    assert {key: opened[key] for key, _ in baked} == dict(baked)
    assert page.locator(".explorable-readouts dd").count() <= 3
    # The guide is short and above the picture, and everything fits one screen.
    if name in GUIDED:
        assert baked
        guide = page.locator(".explorable-say")
        assert 45 < guide.evaluate(_LONGEST_LINE) <= 70
        assert guide.bounding_box()["y"] < page.locator(".explorable-stage").bounding_box()["y"]
    found = heights(page)
    assert found["reserved"] - 1 <= found["drawn"] <= found["reserved"] + 1, found
    assert found["all"] <= 900, found
    assert page.evaluate(_ALL_OVERLAPS) == []
    # Words are legible in both themes.
    assert faint(page) == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert faint(page) == []
    # The picture is described, and nothing is spoken before the first change.
    picture = page.locator(".explorable-stage svg")
    assert picture.get_attribute("role") == "img"
    assert picture.get_attribute("aria-label")
    assert page.locator(f"#{picture.get_attribute('aria-describedby')}").text_content() == words
    page.goto(page.url.split("#")[0])
    page.wait_for_selector(".explorable[data-live=yes]")
    assert voice.get_attribute("aria-live") == "polite"
    assert voice.text_content() == ""
    slider = page.locator("input[type=range]").first
    slider.evaluate("n => n.closest('details')?.setAttribute('open', '')")
    told = slider.get_attribute("aria-valuetext")
    slider.press("End" if slider.input_value() == slider.get_attribute("min") else "Home")
    settled(page)
    assert slider.get_attribute("aria-valuetext") != told
    assert summary.text_content() != words
    page.wait_for_function("document.querySelector('.explorable-voice').textContent !== ''")
    assert voice.text_content() == summary.text_content()
    page.get_by_role("button", name="Reset").click()
    assert printed(settled(page), name) == opened
    unnamed = page.eval_on_selector_all(
        "input, button",
        "all => all.filter((n) => !(n.ariaLabel || n.textContent || n.closest('label'))).length",
    )
    assert unnamed == 0


def at_rest(page):
    """Wait until the page has not scrolled for ten frames, because a swipe sets it in motion."""
    page.evaluate(
        """async () => {
          const frame = () => new Promise(requestAnimationFrame);
          for (let [quiet, last] = [0, scrollY]; quiet < 10; last = scrollY) {
            await frame();
            quiet = scrollY === last ? quiet + 1 : 0;
          }
        }"""
    )
    return page


def swipe(page, x, y, across=0, down=0):
    """Put a finger down at (x, y) and move it in small steps, like a real one."""
    at_rest(page)
    touch = page.context.new_cdp_session(page)

    def send(kind, points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", [{"x": x, "y": y}])
    for k in range(1, 11):
        send("touchMove", [{"x": x + across * k / 10, "y": y + down * k / 10}])
    send("touchEnd", [])
    touch.detach()
    settled(page)


@pytest.mark.parametrize("name", NAMES)
def test_explorables_fit_a_phone(visit, name):
    page = visit(name, bodies()[name], **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.eval_on_selector_all(
        "button, input[type=range], summary, select, .explorable label:has(input)",
        "all => all.filter((n) => n.offsetParent && n.getBoundingClientRect().height < 43.5)"
        ".map((n) => n.outerHTML.slice(0, 90))",
    )
    assert small == []
    sizes = page.eval_on_selector_all(
        ".explorable-stage text, .explorable output, .explorable dt, .explorable th",
        "all => all.map((n) => parseFloat(getComputedStyle(n).fontSize))",
    )
    assert min(sizes) >= 12
    beyond = page.eval_on_selector_all(
        ".explorable-stage text",
        "all => all.filter((n) => { const b = n.getBoundingClientRect(); "
        "return b.left < -1 || b.right > 391; }).map((n) => n.textContent)",
    )
    assert beyond == []
    if name == "scorecard":
        return
    found = heights(page)
    assert found["reserved"] - 1 <= found["drawn"] <= found["reserved"] + 1, found
    assert found["main"] <= 844 - HEADER, found
    assert page.evaluate(_ALL_OVERLAPS) == []


@pytest.mark.parametrize("name", FIGURES)
def test_touch_scrolls_the_page_and_links_keep_the_picture(visit, name):
    page = visit(name, bodies()[name], **PHONE)
    summary = page.locator(".explorable-summary")
    page.add_style_tag(content="body { padding: 300px 1rem 1500px !important; }")
    before = summary.text_content()
    sliders = page.locator("input[type=range]:visible")
    places = [
        page.locator(selector).first
        for selector in (".explorable-stage .dot", ".explorable-stage")
    ]
    places = [
        place
        for place in [*places, *([sliders.first] if sliders.count() else [])]
        if place.count()
    ]
    for place in places:
        place.evaluate("n => n.scrollIntoView({ block: 'center' })")
        at_rest(page)
        box, start = placed(page, place), page.evaluate("scrollY")
        swipe(page, box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2, down=-150)
        page.wait_for_function("start => scrollY > start + 50", arg=start)
        assert summary.text_content() == before
    # A sideways swipe moves the slider.
    if sliders.count():
        sliders.first.evaluate("n => n.scrollIntoView({ block: 'center' })")
        at_rest(page)
        box = sliders.first.bounding_box()
        swipe(
            page,
            box["x"] + box["width"] * 0.5,
            box["y"] + box["height"] / 2,
            across=box["width"] * 0.4,
        )
        page.wait_for_function(
            "words => document.querySelector('.explorable-summary').textContent !== words",
            arg=before,
        )
    for phrase in page.locator("button.explorable-try").all():
        phrase.evaluate("n => n.scrollIntoView({ block: 'center' })")
        phrase.tap()
        box = settled(page).locator(".explorable-main").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 844


@pytest.mark.parametrize("name", PLAYED)
def test_play_runs_until_it_is_paused(visit, name):
    page = visit(name, bodies()[name])
    play = page.get_by_role("button", name="Play")
    words = page.locator(".explorable-summary").text_content()
    play.click()
    page.wait_for_function(
        "words => document.querySelector('.explorable-summary').textContent !== words", arg=words
    )
    page.get_by_role("button", name="Pause").click()
    words = settled(page).locator(".explorable-summary").text_content()
    assert play.is_visible()
    page.emulate_media(reduced_motion="reduce")
    play.click()
    assert settled(page).locator(".explorable-summary").text_content() != words
    step = page.locator(".explorable-main button:not(:text('Play')):not(:text('Reset'))")
    if step.count():
        assert step.is_disabled()
    else:
        slider = page.locator(".explorable-main input[type=range]")
        assert slider.input_value() == slider.get_attribute("max")


@pytest.mark.parametrize("name", GUIDED)
def test_the_address_keeps_the_state_and_the_drawing_follows_the_width(visit, name):
    page = visit(name, bodies()[name])
    before = printed(page, name)
    page.locator("button.explorable-try").last.click()
    after = printed(settled(page), name)
    assert after != before
    page.wait_for_function(f"location.hash.includes('{name}.')")
    page.reload()
    page.wait_for_selector(".explorable[data-live=yes]")
    assert printed(page, name) == after
    page.set_viewport_size({"width": 340, "height": 800})
    page.wait_for_function(
        "document.querySelector('.explorable-stage svg').getBoundingClientRect().width < 345"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 340
    # On paper the settings are in words, and there are no controls.
    page.emulate_media(media="print")
    assert page.locator(":is(.explorable-controls, input):visible").count() == 0
    assert page.locator(".explorable-summary").bounding_box()["height"] > 10


def test_pictures_and_numbers_are_shown_without_scripts(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in NAMES:
        page.goto(site.add(f"{name}-still", bodies()[name]))
        assert page.locator("button").count() == 0
        if name == "scorecard":
            assert page.locator("tr[id^=claim-]").count() == len(rows())
            continue
        assert len(page.locator(".explorable-still img").get_attribute("alt").split()) > 10
        assert (page.locator(".explorable-say output").count() > 0) == (name in GUIDED)
        page.locator("summary").click()
        assert page.locator("details table").is_visible()
    context.close()


def test_explorables_work_on_pages_opened_as_files(chromium, site):
    plain_script = load("explorable_files").plain_script
    context = chromium.new_context()
    page = context.new_page()
    for name in NAMES:
        path = site.folder / "book" / "explorables" / name / "plain.js"
        path.write_text(plain_script(name), encoding="utf-8")
        site.add(f"{name}-file", bodies()[name])
        page.goto((site.folder / "book" / "part" / f"{name}-file.html").as_uri())
        page.wait_for_selector(".explorable[data-live=yes]")
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_explorable_scripts_are_small(name):
    own = [path.read_bytes() for path in (FOLDER / name).glob("*.js")]
    assert len(gzip.compress(b"".join(own))) <= 15_000
    used = {"shared.js", "explorables.css", *re.findall(rb'"\.\./(\w+\.js)"', b"".join(own))}
    shared = [(FOLDER / os.fsdecode(file)).read_bytes() for file in used]
    data = re.search(r'<script type="application/json">(.*?)</script>', bodies()[name])[1]
    assert len(gzip.compress(b"".join([*own, *shared, data.encode()]))) <= 30_000
