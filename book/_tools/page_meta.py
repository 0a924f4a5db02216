"""Sphinx extension for search, sharing and citation metadata of each page.

It adds a description (the page's first sentences), the card shown by links to the book, citations,
synonyms for the search (`book/search_words.yml`) and the logo. Addresses are absolute if the
book's site is known (`repository_links`, or the variable BOOK_URL), and relative otherwise.
"""

import os
import re
import unicodedata
from pathlib import Path

import yaml
from docutils import nodes

from repository_links import git_remote, pages_url

LINE = "One paper; every theorem, algorithm and claim run"
CARD = "_static/social-card.png"
CARD_ALT = "A dashed circle, the ellipse that it becomes, and the title of the book."
_LONGEST = 160


def description(doctree, fallback):
    """Return the first sentences without formulas, in up to 160 characters, or the fallback."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(_words(paragraph).split())
            found = ""
            for sentence in re.findall(r".+?[.!?:](?=\s|$)", text):
                if "\0" in sentence:
                    break
                if found and len(found) + len(sentence) > _LONGEST:
                    break
                found += sentence
            if len(found) >= 40:
                return shortened(found.strip())
    return fallback


def shortened(text):
    """Shorten a text to at most 160 characters, cutting between words."""
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _words(node):
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return "\0"
    return "".join(_words(child) for child in node.children)


def citation(title, book, address, kind):
    """Return the citation of a page, as a sentence and as a BibTeX entry.

    Parameters
    ----------
    title : str
        Title of the page.
    book : dict
        Contents of CITATION.cff.
    address : str or None
        Address of the page.
    kind : {"chapter", "book"}
        What to cite.
    """
    authors = " and ".join(a.get("name", a.get("family-names")) for a in book["authors"])
    year, version = str(book["date-released"])[:4], book["version"]
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    key = "-".join(["renyi", *re.findall(r"[a-z0-9]+", ascii_title.lower())[:3], year])
    ending = f" {address}" if address else ""
    if kind == "chapter":
        text = f"“{title}”. In: {authors}, {book['title']}, version {version}, {year}.{ending}"
        fields = {"title": title, "booktitle": book["title"]}
    else:
        text = f"{authors}: {book['title']}, version {version}, {year}.{ending}"
        fields = {"title": book["title"]}
    fields |= {"author": "{" + authors + "}", "year": year, "edition": f"version {version}"}
    if address:
        fields["url"] = address
    entry = "@incollection" if kind == "chapter" else "@book"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return {"text": text, "bibtex": f"{entry}{{{key},\n{lines}}}", "kind": kind}


def other_words(path, known):
    """Return the search's synonyms with their pages; raise an error for invalid entries."""
    entries = yaml.safe_load(path.read_text(encoding="utf8"))
    found = {}
    for entry in entries:
        pages = [f"book/{name}" for name in entry["pages"]]
        missing = [page for page in pages if page not in known]
        if missing:
            raise ValueError(f"{path.name}: there is no page {', '.join(missing)}")
        for word in entry["words"]:
            if word != word.lower() or word in found:
                raise ValueError(f"{path.name}: {word!r} must be lower-case and occur only once")
            found[word] = pages
    return found


def draw_card(path, title, line):
    """Draw the picture shown by links to the book, 1200 x 630 px."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, Ellipse

    fig = Figure(figsize=(12, 6.3), dpi=100, facecolor="#fbfaf7")
    FigureCanvasAgg(fig)
    ax = fig.add_axes((0.62, 0.09, 0.36, 0.82), aspect="equal")
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
    ax.axis("off")
    ax.add_patch(Circle((0, 0), 1, fill=False, ls=(0, (4, 4)), lw=2.5, ec="#777777"))
    ax.add_patch(Ellipse((0, 0), 2, 1.08, angle=28, fill=False, lw=6, ec="#0072B2"))
    tip = (-0.54 * 0.4695, 0.54 * 0.8829)
    ax.plot([0, tip[0]], [0, tip[1]], lw=6, color="#D55E00", solid_capstyle="round")
    ax.plot(*tip, "o", ms=17, color="#D55E00")
    first, _, second = title.partition(", ")
    fig.text(0.06, 0.62, first, fontsize=44, weight="bold", color="#1b1f23", va="bottom")
    fig.text(0.06, 0.60, second, fontsize=44, style="italic", color="#0072B2", va="top")
    fig.text(0.06, 0.30, line.replace("; ", ";\n"), fontsize=24, color="#444444", va="top")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, metadata={"Software": None})


def site_address(environ, remote):
    """Return the book's address, with a trailing slash, or None if it is not known."""
    address = environ.get("BOOK_URL") or pages_url(environ, remote)
    return address.rstrip("/") + "/" if address else None


def add_context(app, pagename, templatename, context, doctree):
    """Pass the templates their data under the name page_meta."""
    source, title = Path(app.srcdir), context.get("title", "")
    plain = re.sub(r"<[^>]+>|\\[()]", "", title)
    site = app.renyi_site
    general = shortened(f"{plain}: from {app.config.html_title}. {LINE}.")
    book = pagename == app.config.root_doc
    page = {
        "site": site,
        "kind": "website" if book else "article",
        "title": app.config.html_title if book else f"{plain} · {app.config.html_title}",
        "description": description(doctree, general) if doctree is not None else general,
        "card": CARD,
        "card_alt": CARD_ALT,
        "line": LINE,
        "logo": app.renyi_logo,
        "cite": None,
        "words": app.renyi_words if pagename == "search" else None,
    }
    if doctree is not None:
        address = f"{site}{pagename}.html" if site else None
        cff = yaml.safe_load((source / "CITATION.cff").read_text(encoding="utf8"))
        page["cite"] = citation(plain, cff, address, "book" if book else "chapter")
        page["version"] = cff["version"]
    context["page_meta"] = page


def prepare(app):
    source = Path(app.srcdir, "book")
    app.renyi_site = site_address(os.environ, git_remote(app.srcdir))
    app.renyi_logo = (source / "_static/logo.svg").read_text(encoding="utf8").strip()
    if app.builder.format == "html":
        draw_card(Path(app.outdir, CARD), app.config.html_title, LINE)


def read_words(app, env):
    words = Path(app.srcdir, "book/search_words.yml")
    app.renyi_words = other_words(words, env.found_docs) if words.exists() else {}


def add_foot(app, config):
    config.html_theme_options["article_footer_items"] = ["chapter-foot.html"]


def setup(app):
    # This must run before the theme reads its options.
    app.connect("config-inited", add_foot, priority=100)
    app.connect("builder-inited", prepare)
    app.connect("env-updated", read_words)
    app.connect("html-page-context", add_context)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
