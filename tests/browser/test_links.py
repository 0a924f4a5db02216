"""Links scroll to their targets, when a page loads and on a click, on wide and narrow screens.

The processor is slowed down by a factor of four, which reveals what moves after the jump.
"""

import re
from random import Random

import pytest

from renyi_book import browser as serving

from .pages import pages

BUILT = serving.built_book()
#: Pages with places to link to; each width visits every third one, starting from another page.
PAGES = [p for p in pages(BUILT) if p.startswith("book/")] if BUILT else ["no book yet"]
VISITS = [(path, width) for i, width in enumerate((1400, 390)) for path in PAGES[i::3]]
CLICKS = 5
TOLERANCE = 5  # px
SLOWER = 4

#: Headings, figures, equations, exercises and other boxes, references, names of the API.
KINDS = [
    re.compile(rf'<{tag}\b(?=[^>]* id="([^"]+)"){inside}[^>]*>')
    for tag, inside in (
        ("section", ""),
        ("figure", ""),
        ("div", '(?=[^>]*class="math)'),
        ("div", r'(?=[^>]*class="[^"]*\b(?:exercise|solution)\b)'),
        ("div", r'(?=[^>]*class="[^"]*\bproof\b)'),
        ("div", r'(?=[^>]*class="[^"]*\bcitation\b)'),
        ("dt", ""),
        ("span", "(?=[^>]*></span>)"),
    )
]

#: Distance of a place from where its link should scroll it: below the header, or as near to it as
#: the end of the page allows.
_ERROR = """id => {
  const place = document.getElementById(id), html = document.documentElement;
  const room = parseFloat(getComputedStyle(html).scrollPaddingTop) || 0;
  const margin = parseFloat(getComputedStyle(place).scrollMarginTop) || 0;
  const wanted = place.getBoundingClientRect().top + scrollY - room - margin;
  const end = html.scrollHeight - innerHeight;
  return Math.max(0, Math.min(end, wanted)) - scrollY;
}"""

_CLICK = """async id => {
  const link = document.querySelector(`.bd-article a[href="#${CSS.escape(id)}"]`) ||
    Object.assign(document.querySelector('.bd-article').appendChild(document.createElement('a')),
      {href: '#' + id});
  link.click();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def places(html, path):
    """Return the ids of some places of a page, of every kind and the same in every run."""
    article = html[html.index("<article") : html.index("</article>")]
    found = [kind.findall(article) for kind in KINDS]
    random = Random(path)
    for ids in found:
        random.shuffle(ids)
    in_turn = [ids[i] for i in range(CLICKS + 1) for ids in found if i < len(ids)]
    return list(dict.fromkeys(in_turn))[: CLICKS + 1]


@pytest.mark.parametrize(("path", "width"), VISITS)
def test_links_scroll_to_their_targets(visit, folder, path, width):
    ids = places((folder / path).read_text(encoding="utf8"), path)
    if not ids:
        pytest.skip("no place to link to")
    page = visit(f"{path}#{ids[0]}", width=width, slower=SLOWER).page
    errors = {f"{ids[0]} (on load)": page.evaluate(_ERROR, ids[0])}
    for ident in ids[1:]:
        page.evaluate(_CLICK, ident)
        errors[ident] = page.evaluate(_ERROR, ident)
    # Content that loads late, such as a live figure, does not push the last target away.
    page.wait_for_timeout(300)
    errors[f"{ids[-1]} (later)"] = page.evaluate(_ERROR, ids[-1])
    assert {name: error for name, error in errors.items() if abs(error) > TOLERANCE} == {}
