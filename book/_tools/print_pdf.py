"""The whole book as one PDF: the built pages, one after another, printed by Chromium.

    python book/_tools/print_pdf.py _build/html _build/pdf/book.pdf

The pages are joined in the order of the contents. Ids get the name of their page in front, so that
none stands twice, and links between pages become links inside the file. Parts and chapters become
the outline. Solutions are printed, code that is folded is not.
"""

import argparse
import posixpath
import sys
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup

#: Minutes that Chromium may take to print.
PATIENCE = 20
_HEAD = """<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>
<meta charset="utf-8"><title>{title}</title>{sheets}
<style>{style}</style></head><body class="book">
"""
_STYLE = """
body.book { margin: 0; font-size: 10pt; }
body.book h1.part { font-size: 26pt; margin-top: 80mm; break-before: page; break-after: page; }
body.book .bd-article > section > h2:first-of-type { font-size: 20pt; margin-top: 0; }
body.book article.bd-article { break-before: page; }
body.book .cover { margin-top: 70mm; }
body.book .cover :is(.name, .line) { display: block; }
body.book .cover .name { font-size: 32pt; font-weight: 700; margin: 8mm 0 3mm; }
body.book .cover .line { font-size: 15pt; }
body.book .cover svg { width: 34mm; height: 34mm; }
body.book nav.contents { break-before: page; border: 0; }
body.book nav.contents ul { list-style: none; padding-left: 0; }
body.book nav.contents .caption { font-weight: 700; margin: 4mm 0 1mm; }
body.book a { text-decoration: none; color: #003a5d; }
body.book a.image-reference { display: inline; }
"""
_FOOT = (
    '<div style="font-size:8px;width:100%;text-align:center;color:#555">'
    '<span class="pageNumber"></span></div>'
)


def contents(index):
    """The parts and their pages, in order, from the sidebar of the first page.

    Parameters
    ----------
    index : BeautifulSoup
        The built first page.

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
    """The id of a place in the joined file."""
    return f"{page.removesuffix('.html')}--{ident}".strip("-") if ident else f"page--{page}"


def joined_page(html, page, pages):
    """The article of one page, with ids and links as in the joined file.

    Parameters
    ----------
    html : str
        The built page.
    page : str
        Its address, relative to the book's folder.
    pages : set of str
        All pages of the joined file; links to others are left out.
    """
    article = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    for unwanted in article.select("a.headerlink, script, button.copybtn, .chapter-foot"):
        unwanted.decompose()
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
    for source in article.find_all("source"):  # the drawing for phones
        source.decompose()
    # Parts are the first level of the outline, chapters the second.
    for level in range(5, 0, -1):
        for heading in article.find_all(f"h{level}"):
            heading.name = f"h{level + 1}"
    article["id"] = anchor(page)
    return article


def join(folder, root="book/index.html"):
    """The joined file as HTML, and how many pages it holds."""
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
    text = [
        _HEAD.format(title=brand.select_one(".name").get_text(), sheets=sheets, style=_STYLE),
        f'<div class="cover">{brand.decode_contents()}</div>',
    ]
    listing, body = ['<nav class="contents"><h1>Contents</h1>'], []
    body.append(str(joined_page((folder / root).read_text(encoding="utf8"), root, pages)))
    for caption, part in parts:
        if caption:
            listing.append(f'<p class="caption">{caption}</p>')
            body.append(f'<h1 class="part">{caption}</h1>')
        listing.append("<ul>")
        for page in part:
            article = joined_page((folder / page).read_text(encoding="utf8"), page, pages)
            title = article.find("h2").get_text(" ", strip=True)
            listing.append(f'<li><a href="#{anchor(page)}">{title}</a></li>')
            body.append(str(article))
        listing.append("</ul>")
    listing.append("</nav>")
    return "".join([*text, *listing, *body, "</body></html>"]), len(pages)


def print_pdf(folder, output):
    """Print the book; gives the number of pages on paper."""
    from pypdf import PdfReader, PdfWriter

    from renyi_book import browser as serving

    folder, output = Path(folder), Path(output)
    html, _ = join(folder)
    with serving.serve(folder) as site, serving.browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 60_000)
        # The joined page is nowhere on the disk: its address, in the root, makes its links right.
        kind = "text/html; charset=utf-8"
        page.route(f"{site}/print.html", lambda route: route.fulfill(body=html, content_type=kind))
        page.emulate_media(media="print", color_scheme="light")
        page.goto(f"{site}/print.html", wait_until="load")
        page.evaluate("document.fonts.ready")
        output.parent.mkdir(parents=True, exist_ok=True)
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
    writer = PdfWriter(clone_from=output)
    title = BeautifulSoup(html[:2000], "html.parser").title.get_text()
    writer.add_metadata({"/Title": title, "/Creator": "", "/Producer": "Chromium"})
    writer.write(output)
    return len(PdfReader(output).pages)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the built book, _build/html")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    from renyi_book import browser as serving

    reason = serving.missing()
    if reason:
        sys.exit(f"No PDF without a browser and a built book: {reason}")
    print(f"{print_pdf(arguments.folder, arguments.output)} pages: {arguments.output}")
