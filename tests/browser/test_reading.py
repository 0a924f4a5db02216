"""What readers do with a page: find their place, enlarge, search, print."""

import re
from io import BytesIO

import pytest
from pypdf import PdfReader

CHAPTER = "book/part1_dependence/theorem-1.html"
LAST = "book/changelog.html"


def test_the_contents_show_where_one_is(visit):
    page = visit(LAST).page
    link = page.locator(".bd-sidebar-primary a[aria-current=page]")
    assert link.count() == 1
    box = page.locator(".bd-sidebar-primary").bounding_box()
    place = link.bounding_box()
    assert box["y"] <= place["y"]
    assert place["y"] + place["height"] <= box["y"] + min(box["height"], 900)


def test_a_phone_s_drawer_closes_when_a_section_is_chosen(visit):
    page = visit(CHAPTER, width=390).page
    page.locator("button.secondary-toggle").click()
    drawer = page.locator("dialog#pst-secondary-sidebar-modal")
    assert drawer.evaluate("d => d.open")
    drawer.locator("a[href^='#']").last.click()
    assert not drawer.evaluate("d => d.open")
    assert page.evaluate("scrollY") > 1000


@pytest.mark.parametrize("width", [390, 1400])
def test_a_figure_enlarges_and_goes_away_by_key(visit, width):
    page = visit(CHAPTER, width=width).page
    link = page.locator(".bd-article figure a.image-reference").first
    link.scroll_into_view_if_needed()
    shown = link.locator("img").bounding_box()["width"]
    link.click()
    large = page.locator("dialog.lightbox img")
    assert large.get_attribute("alt")
    assert large.bounding_box()["width"] > 1.3 * shown
    page.keyboard.press("Escape")
    assert page.locator("dialog.lightbox").count() == 0
    assert link.evaluate("e => e === document.activeElement")


def results(visit, query):
    page = visit(f"search.html?q={query.replace(' ', '+')}").page
    page.wait_for_selector("#search-results li a")
    return page.locator("#search-results li > a").all_inner_texts()


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("algorithm 2", "Algorithm 2"),
        ("Algorithm 1", "Algorithm 1"),
        ("the scorecard", "The scorecard"),
        ("notation", "Notation"),
        ("theorem 2", "Theorem 2: the binary case"),
    ],
)
def test_a_title_that_one_types_comes_first(visit, query, title):
    assert re.sub(r"^\d+\. ", "", results(visit, query)[0]) == title


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("gradient descent ascent", "From a constraint to a game"),
        ("HGR", "The maximal correlation"),
        ("maximal correlation", "The maximal correlation"),
        ("demographic parity", "Fairness is independence"),
    ],
)
def test_other_words_for_a_thing_find_it(visit, query, title):
    assert title in results(visit, query)[0]


def test_the_lines_shown_of_a_page_have_no_raw_tex(visit):
    page = visit("search.html?q=gradient+descent").page
    page.wait_for_selector("#search-results p.context")
    assert "\\" not in " ".join(page.locator("#search-results p.context").all_inner_texts())


@pytest.mark.parametrize(("kind", "shown"), [("as-is", False), ("all", True)])
def test_solutions_are_printed_as_the_reader_chooses(visit, kind, shown):
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
    assert "\\" not in formula.inner_text()
    context.close()
