"""What readers do with a page: find their place, enlarge, search, print."""

import re
from io import BytesIO
from pathlib import Path

import pytest
import yaml
from pypdf import PdfReader

from renyi_book import svg

CHAPTER = "book/part1_dependence/theorem-1.html"
LAST = "book/changelog.html"


def test_contents_highlight_the_current_page(visit):
    page = visit(LAST).page
    link = page.locator(".bd-sidebar-primary a[aria-current=page]")
    assert link.count() == 1
    box = page.locator(".bd-sidebar-primary").bounding_box()
    place = link.bounding_box()
    assert box["y"] <= place["y"]
    assert place["y"] + place["height"] <= box["y"] + min(box["height"], 900)


def test_phone_drawer_closes_when_a_section_is_chosen(visit):
    page = visit(CHAPTER, width=390).page
    page.locator("button.secondary-toggle").click()
    drawer = page.locator("dialog#pst-secondary-sidebar-modal")
    assert drawer.evaluate("d => d.open")
    drawer.locator("a[href^='#']").last.click()
    assert not drawer.evaluate("d => d.open")
    assert page.evaluate("scrollY") > 1000


@pytest.mark.parametrize("width", [390, 1400])
def test_figure_enlarges_and_closes_by_keyboard(visit, width):
    page = visit(CHAPTER, width=width).page
    link = page.locator(".bd-article figure a.image-reference").first
    link.scroll_into_view_if_needed()
    shown = link.locator("img:visible").bounding_box()["width"]
    link.click()
    large = page.locator("dialog.lightbox img")
    assert large.get_attribute("alt")
    assert large.bounding_box()["width"] > 1.3 * shown
    page.keyboard.press("Escape")
    assert page.locator("dialog.lightbox").count() == 0
    assert link.evaluate("e => e === document.activeElement")


@pytest.mark.parametrize(("width", "dark"), [(1400, True), (390, True), (390, False)])
def test_page_loads_only_the_figures_of_its_color_mode(visit, width, dark):
    opened = visit(CHAPTER, width=width, dark=dark)
    assert opened.label_sizes()
    figures = opened.page.locator(".bd-article img[class^=figure-]:visible")
    assert figures.count() >= 3
    mode, other = ("dark", "light") if dark else ("light", "dark")
    assert set(figures.evaluate_all("all => all.map(i => i.className)")) == {f"figure-{mode}"}
    hidden = opened.page.locator(f".bd-article img.figure-{other}")
    unwanted = hidden.evaluate_all("all => all.map(i => i.src.split('/').pop())")
    assert unwanted
    assert not [url for url in opened.requested if url.split("/")[-1] in unwanted]
    grounds = figures.evaluate_all("all => all.map(i => getComputedStyle(i).backgroundColor)")
    assert set(grounds) == {"rgba(0, 0, 0, 0)"}
    if dark:
        ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert "#" + "".join(f"{int(v):02x}" for v in re.findall(r"\d+", ground)) == svg.DARK_PAPER


def test_figures_are_light_in_print_and_dark_in_the_lightbox(visit):
    page = visit(CHAPTER, width=1400, dark=True).page
    page.emulate_media(media="print")
    # A picture has no size before it is loaded, and it is loaded only when it is near the window.
    first = page.locator(".bd-article figure img.figure-light").first
    first.evaluate("i => i.scrollIntoView()")
    first.wait_for()
    shown = page.locator(".bd-article img[class^=figure-]:visible")
    assert set(shown.evaluate_all("all => all.map(i => i.className)")) == {"figure-light"}
    page.emulate_media(media="screen")
    link = page.locator(".bd-article figure a.image-reference").first
    link.scroll_into_view_if_needed()
    dark = link.locator("img.figure-dark").evaluate("i => i.src")
    link.click()
    large = page.locator("dialog.lightbox img")
    assert large.evaluate("i => i.src") == dark
    ground = page.locator("dialog.lightbox").evaluate("d => getComputedStyle(d).backgroundColor")
    assert ground == page.evaluate("getComputedStyle(document.body).backgroundColor")


#: The first results, as the search page orders them; the last is shown first.
_RESULTS = """query => Search._performSearch(...Search._parseQuery(query)).reverse()
  .slice(0, 3).map(result => result[0].replace(/^book\\//, ''))"""


def test_search_queries_find_the_expected_pages(visit):
    queries = yaml.safe_load(Path(__file__).with_name("queries.yml").read_text(encoding="utf8"))
    assert len(queries) >= 42
    page = visit("search.html?q=algorithm+2").page
    page.wait_for_selector("#search-results li a")
    first = page.locator("#search-results li > a").first.inner_text()
    assert first.removeprefix("10. ").endswith("Algorithm 2")
    missed = {}
    for query, wanted in queries:
        found = page.evaluate(_RESULTS, query)
        if not set(found) & set(wanted):
            missed[query] = found
    assert missed == {}


def test_search_excerpts_are_taken_from_the_text(visit):
    page = visit("search.html?q=gradient+descent").page
    page.wait_for_selector("#search-results p.context")
    shown = " ".join(page.locator("#search-results p.context").all_inner_texts())
    for unwanted in ("\\", ".ipynb", "Contents", "Click to show", "Show code cell"):
        assert unwanted not in shown


@pytest.mark.parametrize(("kind", "shown"), [("as-is", False), ("all", True)])
def test_readers_can_choose_whether_solutions_are_printed(visit, kind, shown):
    page = visit(CHAPTER).page
    closed_now = "document.querySelectorAll('.solution.toggle-hidden').length"
    page.evaluate(f"() => {{ window.print = () => {{ window.closed_then = {closed_now}; }}; }}")
    page.locator(f"[data-print={kind}]").click()
    page.wait_for_function("window.closed_then !== undefined")
    assert (page.evaluate("window.closed_then") == 0) == shown
    # Afterwards the page is as it was.
    assert page.evaluate(closed_now) > 0


def test_a_chapter_prints_with_its_formulas_and_figures(visit):
    pdf = PdfReader(BytesIO(visit(CHAPTER, dark=True).page.pdf(format="A4")))
    text = "\n".join(page.extract_text() for page in pdf.pages)
    assert 8 <= len(pdf.pages) <= 40
    assert "Theorem 1: a singular value" in pdf.pages[0].extract_text()
    assert "A change of units" in text
    assert "Click to show" not in text
    assert "\\mathbb" not in text


def test_a_page_can_be_read_without_scripts(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/{CHAPTER}")
    assert page.locator(".bd-article h1").first.is_visible()
    assert page.locator(".bd-article p").first.is_visible()
    formula = page.locator(".bd-article div.math math").first
    assert formula.is_visible()
    assert "\\" not in formula.text_content()
    fold = page.locator(".bd-article details.fold").first
    assert not fold.locator("pre").first.is_visible()
    fold.locator("summary").click()
    assert fold.locator("pre").first.is_visible()
    context.close()


def test_errata_switch_shows_all_evidence_and_keeps_the_scroll_position(visit):
    page = visit("book/part4_experiments/errata.html").page
    folds = page.locator(".bd-article details.fold")
    switch = page.locator(".fold-switch button")
    place = page.locator("#errata-e20 + h3")
    place.evaluate("e => e.scrollIntoView({behavior: 'instant'})")
    before = place.bounding_box()["y"]
    for state in ("true", "false"):
        switch.click()
        assert switch.get_attribute("aria-pressed") == state
        shown = [fold.is_visible() for fold in folds.all()]
        assert all(shown) if state == "true" else not any(shown)
        assert abs(place.bounding_box()["y"] - before) < 40


def test_the_current_section_is_marked_in_the_contents(visit):
    page = visit(CHAPTER).page
    link = page.locator("#pst-page-toc-nav a").nth(3)
    link.click()
    page.wait_for_function("document.querySelectorAll('.bd-toc a[aria-current]').length == 1")
    assert link.get_attribute("aria-current") == "location"


def test_reference_shows_a_preview_of_its_target(visit):
    opened = visit(CHAPTER)
    for kind, inside in (("a[href*='#equation-']", "math"), ("a[href*='#fig-']", "figcaption")):
        link = opened.page.locator(f".bd-article a.reference.internal{kind[1:]}").first
        link.scroll_into_view_if_needed()
        link.hover()
        opened.page.wait_for_selector(f".preview:not([hidden]) {inside}")
        opened.page.keyboard.press("Escape")
        assert not opened.page.locator(".preview").is_visible()
    assert not opened.foreign_requests()
    assert not opened.ids()


def test_arrow_keys_turn_pages_unless_an_element_has_focus(visit):
    page = visit(CHAPTER).page
    page.locator("button.search-button__button:visible, .bd-article a").first.focus()
    page.keyboard.press("ArrowRight")
    assert CHAPTER in page.url
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/theorem-2.html")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/{CHAPTER}")


def test_formulas_are_copied_as_tex(visit):
    page = visit(CHAPTER).page
    copied = page.evaluate(
        """() => {
          const box = document.querySelector('.bd-article p:has(math)'), data = new DataTransfer();
          getSelection().selectAllChildren(box);
          document.dispatchEvent(new ClipboardEvent('copy', {clipboardData: data}));
          return [data.getData('text/plain'), box.querySelector('math').dataset.tex];
        }"""
    )
    assert f"${copied[1]}$" in copied[0]
