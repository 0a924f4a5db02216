"""Print the whole book as one PDF, by joining the built pages and printing with Chromium.

    python book/_tools/print_pdf.py _build/html _build/pdf/book.pdf

The pages are joined in the order of the table of contents. Each id is prefixed with the name of
its page, so that ids stay unique, and links between pages become links inside the file. Parts,
chapters and sections become the outline. Proofs and other folded text are printed in place,
answers and solutions at the end of their chapter. Folded code is not printed.
"""

import argparse
import posixpath
import re
import sys
import unicodedata
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup

#: Placeholder for a page number in the contents until the number is known.
_NUMBER = "000"
#: Minutes that Chromium may take for each step, such as printing.
PATIENCE = 20
_HEAD = """<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>
<meta charset="utf-8"><title>{title}</title>{sheets}
<style>{style}</style></head><body class="book">
"""
_STYLE = """
body.book { margin: 0; font-size: 10pt; }
body.book * { box-shadow: none !important; }
body.book h1.part { font-size: 26pt; margin-top: 80mm; break-before: page; break-after: page; }
body.book .bd-article h2 { font-size: 20pt; margin: 0 0 5mm; }
body.book .bd-article h3 { font-size: 14pt; margin: 8mm 0 3mm; }
body.book .bd-article :is(h4, h5, h6) { font-size: 11.5pt; font-weight: 650; margin: 6mm 0 2mm; }
body.book article.bd-article { break-before: page; }
body.book .cover { margin-top: 70mm; }
body.book .cover :is(.name, .line) { display: block; }
body.book .cover .name { font-size: 32pt; font-weight: 700; margin: 8mm 0 3mm; }
body.book .cover .line { font-size: 15pt; }
body.book .cover .edition { display: block; margin-top: 110mm; font-size: 11pt; }
body.book .cover svg { width: 34mm; height: 34mm; }
body.book nav.contents .h1 { font-size: 20pt; font-weight: 700; }
body.book nav.contents { break-before: page; border: 0; }
body.book nav.contents ul { list-style: none; padding-left: 0; margin: 0; }
body.book nav.contents li { display: flex; align-items: baseline; break-inside: avoid; }
body.book nav.contents .dots { flex: 1; border-bottom: 0.6pt dotted #777; margin: 0 2mm; }
body.book nav.contents .page { min-width: 8mm; text-align: right; }
body.book nav.contents .caption { font-weight: 700; margin: 4mm 0 1mm; break-after: avoid; }
body.book a { text-decoration: none; color: #003a5d; }
body.book :is(.glossary-term, a.reference:has(> .glossary-term)) {
  text-decoration: none; border: 0;
}
body.book a.image-reference { display: inline; }
body.book figcaption { font-size: 8.5pt; color: #333; line-height: 1.4; }
body.book details > summary {
  display: block !important; list-style: none; background: none; border: 0; padding: 0;
  font-weight: 700; break-after: avoid;
}
body.book details > summary::before { content: none; }
body.book :is(details.sd-dropdown, .solution) {
  border: 0; border-left: 2pt solid #bbb; border-radius: 0;
}
body.book details.sd-dropdown > summary { padding: 0 0 0 3mm !important; }
body.book details.sd-dropdown .sd-card-body { padding: 1mm 0 0 3mm !important; }
body.book .solution { padding: 0 0 0 3mm; }
body.book .solution > .admonition-title { background: none !important; margin: 0; padding: 0; }
body.book .solution > section { margin: 0; padding: 0; }
body.book .solutions > :last-child, body.book .solutions > :last-child :last-child {
  margin-bottom: 0 !important; padding-bottom: 0 !important;
}
body.book :is(.sd-card, .solution, .cell, pre) { break-inside: auto; }
body.book :is(.exercise, .admonition.tip) { break-inside: avoid; }
body.book .bd-article img { max-height: 150mm; }
body.book :is(.sd-card, .solution, .exercise, .cell) { overflow: visible; }
body.book .sd-card { display: block; }
body.book :is(.proof, .theorem, .definition) > :is(section, .proof-content) { padding: 0 3mm; }
body.book table.claims small { font-size: 7.5pt; }
body.book table.claims { table-layout: fixed; width: 100%; }
body.book table.claims tr { break-inside: avoid; }
body.book table.claims th:nth-child(1) { width: 41%; }
body.book table.claims th:nth-child(2) { width: 11%; }
body.book table.claims th:nth-child(4) { width: 13%; }
"""
_FOOT = (
    '<div style="font-size:8px;width:100%;text-align:center;color:#555">'
    '<span class="pageNumber"></span></div>'
)


#: Elements that are not printed, such as links and buttons of the website and folded code.
_SCREEN_ONLY = (
    "a.headerlink, script, button.copybtn, .chapter-foot, details.hide, .fold-switch, "
    ".sd-container-fluid:has(.sd-btn)"
)


def contents(index):
    """Return the parts and their pages, in order, from the sidebar of the first page.

    Parameters
    ----------
    index : BeautifulSoup
        Built first page.

    Returns
    -------
    list of (str, list of str)
        Caption, and addresses of pages relative to the first page.
    """
    found = [("", [])]
    for entry in index.select("nav.bd-docs-nav .caption, nav.bd-docs-nav a.reference.internal"):
        if "caption" in entry["class"]:
            found.append((entry.get_text(" ", strip=True), []))
        else:
            found[-1][1].append(entry["href"].partition("#")[0])
    return [(caption, pages) for caption, pages in found if pages]


def anchor(page, ident=""):
    """Return the id of a location in the joined file."""
    return f"{page.removesuffix('.html')}--{ident}".strip("-") if ident else f"page--{page}"


def solutions_last(article):
    """Move the answers to warm-ups and the solutions of exercises to the end of the article."""
    moved = []
    for answer in article.select("details.sd-dropdown"):
        question = answer.find_previous_sibling()
        title = answer.select_one(".sd-summary-text")
        if question is None or title is None or title.get_text(strip=True) != "Answer":
            continue
        # The letter of a warm-up is part of the key in its call of `check`.
        letter = re.search(r'check\("[^"]*/(\w)"', question.get_text())
        title.string = f"Answer to warm-up {letter[1]}" if letter else "Answer to the warm-up"
        moved.append(answer)
        if letter:
            question.select_one(".admonition-title").append(f" {letter[1]}")
    moved += article.select(".solution")
    if not moved:
        return
    soup = BeautifulSoup('<section class="solutions"><h2></h2></section>', "html.parser")
    answers = any(block.name == "details" for block in moved)
    solutions = any(block.name != "details" for block in moved)
    names = ["answers"] * answers + ["solutions"] * solutions
    soup.h2.string = " and ".join(names).capitalize()
    for block in moved:
        soup.section.append(block.extract())
    (article.find("section") or article).append(soup.section)


def joined_page(html, page, pages):
    """Return the article of one page, with ids and links adapted to the joined file.

    Parameters
    ----------
    html : str
        Built page.
    page : str
        Address of the page, relative to the book's folder.
    pages : set of str
        All pages of the joined file; links to other pages are removed.
    """
    article = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    for unwanted in article.select(_SCREEN_ONLY):
        unwanted.decompose()
    for folded in article.find_all("details"):
        folded["open"] = ""
        for marker in folded.select(".sd-summary-state-marker"):
            marker.decompose()
    solutions_last(article)
    for element in article.find_all(id=True):
        element["id"] = anchor(page, element["id"])
    folder = posixpath.dirname(page)
    for link in article.find_all("a", href=True):
        address = urlsplit(link["href"])
        if address.scheme:
            continue
        target = posixpath.normpath(posixpath.join(folder, address.path)) if address.path else page
        if target in pages:
            link["href"] = "#" + anchor(target, address.fragment)
        else:
            del link["href"]
    for image in article.find_all(["img", "source"]):
        for name in ("src", "srcset"):
            if image.has_attr(name) and not image[name].startswith("data:"):
                image[name] = posixpath.normpath(posixpath.join(folder, image[name]))
        if image.has_attr("loading"):
            del image["loading"]
    # Remove the drawings for phones and for dark pages.
    for unused in article.select("source, img.figure-dark"):
        unused.decompose()
    # Parts form the first level of the outline, and chapters the second.
    for level in range(5, 0, -1):
        for heading in article.find_all(f"h{level}"):
            heading.name = f"h{level + 1}"
    article["id"] = anchor(page)
    return article


def join(folder, root="book/index.html"):
    """Return the joined file as HTML, and the number of pages that it joins."""
    folder = Path(folder)
    index = BeautifulSoup((folder / root).read_text(encoding="utf8"), "html.parser")
    base = posixpath.dirname(root)
    parts = [
        (caption, [posixpath.normpath(posixpath.join(base, page)) for page in pages if page])
        for caption, pages in contents(index)
    ]
    pages = {root, *(page for _, part in parts for page in part)}
    sheets = "".join(
        f'<link rel="stylesheet" href="{posixpath.normpath(posixpath.join(base, s["href"]))}">'
        for s in index.select("link[rel=stylesheet]")
        if not urlsplit(s["href"]).scheme
    )
    brand = index.select_one(".book-brand")
    head = _HEAD.format(title=brand.select_one(".name").get_text(), sheets=sheets, style=_STYLE)
    foot = index.select_one(".chapter-foot")
    version = re.search(r"Version [\w.]*\w", foot.get_text() if foot else "")
    edition = f'<span class="edition">{version.group()}</span>' if version else ""
    cover = f'<div class="cover">{brand.decode_contents()}{edition}</div>'
    listing, body = ['<nav class="contents"><p class="h1">Contents</p>'], []
    for caption, part in [("", [root]), *parts]:
        if caption:
            listing.append(f'<p class="caption">{caption}</p>')
            body.append(f'<h1 class="part">{caption}</h1>')
        listing.append("<ul>")
        for page in part:
            article = joined_page((folder / page).read_text(encoding="utf8"), page, pages)
            heading = article.find("h2")
            title = "About this book" if page == root else heading.get_text().strip()
            if page == root:  # the first page belongs to no part
                heading.name = "h1"
                heading.string = title
            listing.append(
                f'<li><a href="#{anchor(page)}">{title}</a><span class="dots"></span>'
                f'<span class="page">{_NUMBER}</span></li>'
            )
            body.append(str(article))
        listing.append("</ul>")
    listing.append("</nav>")
    return "".join([head, cover, *listing, *body, "</body></html>"]), len(pages)


def headings(html):
    """Return the headings that Chromium puts into the outline, in order."""
    found = BeautifulSoup(html, "html.parser").find_all(re.compile("^h[1-6]$"))
    return [" ".join(heading.get_text().split()) for heading in found]


def numbered_contents(html, numbers):
    """Return the book with page numbers in its table of contents."""
    for number in numbers:
        html = html.replace(f">{_NUMBER}<", f">{number}<", 1)
    return html


def page_numbers(writer, html):
    """Return the page on which each entry of the table of contents begins."""
    places = writer.named_destinations
    targets = re.findall(r'<li><a href="#([^"]*)">', html.partition("</nav>")[0])
    return [writer.get_destination_page_number(places[f"/{target}"]) + 1 for target in targets]


def printed(page, address, html, output):
    """Print HTML to a file, as if it had been loaded from the address."""
    kind = "text/html; charset=utf-8"
    page.route(address, lambda route: route.fulfill(body=html, content_type=kind))
    page.goto(address, wait_until="load")
    page.evaluate("document.fonts.ready")
    page.pdf(
        path=output,
        format="A4",
        outline=True,
        tagged=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=_FOOT,
        margin={"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"},
    )


def outline_items(writer):
    """Return the entries of a PDF's outline, in order."""
    from pypdf.generic import NullObject

    waiting, found = [writer.root_object["/Outlines"].get("/First")], []
    while waiting:
        entry = waiting.pop()
        entry = entry and entry.get_object()
        if entry is None or isinstance(entry, NullObject):
            continue
        found.append(entry)
        waiting += [entry.get("/Next"), entry.get("/First")]
    return found


def _squeezed(title):
    """Return a title without spaces, and with plain letters instead of mathematical ones."""
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", title))


def rename_outline(writer, titles):
    """Replace the titles of the outline, in which Chromium drops spaces where a heading wraps."""
    from pypdf.generic import NameObject, TextStringObject

    entries = outline_items(writer)
    found = [_squeezed(str(entry["/Title"])) for entry in entries]
    if found != [_squeezed(title) for title in titles]:
        raise ValueError(
            f"the outline has {len(found)} entries, which differ from the book's {len(titles)} "
            "headings"
        )
    for entry, title in zip(entries, titles):
        entry[NameObject("/Title")] = TextStringObject(title)


def print_pdf(folder, output):
    """Print the book, and return the number of printed pages."""
    from pypdf import PdfWriter

    from renyi_book import browser as serving

    folder, output = Path(folder), Path(output)
    html, _ = join(folder)
    output.parent.mkdir(parents=True, exist_ok=True)
    with serving.serve(folder) as site, serving.browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 60_000)
        page.emulate_media(media="print", color_scheme="light")
        # The joined page is not stored on disk. Its address in the root makes relative links work.
        printed(page, f"{site}/print.html", html, output)
        # The page numbers are known only once the book has been printed, so it is printed twice.
        numbers = page_numbers(PdfWriter(clone_from=output), html)
        html = numbered_contents(html, numbers)
        printed(page, f"{site}/numbered.html", html, output)
    writer = PdfWriter(clone_from=output)
    if page_numbers(writer, html) != numbers:
        raise RuntimeError("the page numbers changed between the two prints")
    rename_outline(writer, headings(html))
    title = BeautifulSoup(html[:2000], "html.parser").title.get_text()
    writer.add_metadata({"/Title": title, "/Creator": "", "/Producer": "Chromium"})
    writer.write(output)
    return len(writer.pages)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the built book, _build/html")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    from renyi_book import browser as serving

    reason = serving.missing()
    if reason:
        sys.exit(f"the PDF needs a browser and a built book: {reason}")
    print(f"{print_pdf(arguments.folder, arguments.output)} pages: {arguments.output}")
