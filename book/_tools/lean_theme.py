"""Sphinx extension that removes unused parts of the theme from the pages.

The theme loads all of Font Awesome as a script of half a megabyte, and again as a font, for a
dozen icons. `_templates/static/webpack-macros.html` leaves out the script; after the pages are
written, this extension reduces the font to the icons that they show.

Pygments wraps every name and comma of a program in an element, which makes up most of a page's
elements. Names, commas and operators are left as text, and only colored tokens are marked.

The contents beside each page show the chapters. Appendices, course and reference are folded,
except on their own pages, which spares keyboard users some thirty links before the text.

The boxes of sphinx-proof and sphinx-exercise repeat the same ids, and the bibliography has the
role of a list but no list items, so these ids and roles are removed.
"""

import re
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text
from sphinx.highlighting import PygmentsBridge

FONTS = "_static/vendor/fontawesome/webfonts"
UNUSED = ["_static/scripts/fontawesome.js"]
#: Icons are characters of the private use area.
PRIVATE = range(0xE000, 0xF900)
#: Tokens that look like the text around them.
PLAIN = {Name, Name.Class, Name.Namespace, Operator, Punctuation, Text, Text.Whitespace}
_WRONG = re.compile(r' (id="(proof|exercise|solution)(-content)?"|role="(list|doc-biblioentry)")')
_RULE = re.compile(r"([^{}]*){([^{}]*)}")
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{4})")


class LeanFormatter(HtmlFormatter):
    """HTML formatter that marks only tokens drawn in another color."""

    def _get_css_classes(self, ttype):
        return "" if ttype in PLAIN else super()._get_css_classes(ttype)


def drop_wrong_attributes(app, pagename, templatename, context, doctree):
    context["body"] = _WRONG.sub("", context.get("body", ""))


def folded_contents(html):
    """Return the theme's table of contents with the parts after the numbered chapters folded.

    Parameters
    ----------
    html : str
        Captions, each followed by a list of pages.
    """
    parts = re.split(r'(?=<p [^>]*class="caption")', str(html))
    for i, part in enumerate(parts):
        caption, _, rest = part.partition("</p>")
        pages, end, after = rest.rpartition("</ul>")
        words = re.sub(r"<[^>]*>", "", caption).strip()
        if end and not words.startswith(("Part ", "Before ")):
            is_open = " open" if re.search(r'class="[^"]*\bcurrent\b', pages) else ""
            title = f'<span class="caption">{words}</span>'
            parts[i] = (
                f'<details class="part"{is_open}><summary>{title}</summary>'
                f"{pages}{end}</details>{after}"
            )
    return "".join(parts)


def fold_contents(app, pagename, templatename, context, doctree):
    if "generate_toctree_html" in context:
        write = context["generate_toctree_html"]
        context["generate_toctree_html"] = lambda *a, **k: folded_contents(write(*a, **k))


def icons(sheets, pages):
    """Return the code points of the icons that are used.

    Parameters
    ----------
    sheets : iterable of str
        All style sheets. A rule for a class ``fa-…`` counts if a page has that class.
    pages : iterable of str
        All pages and scripts.
    """
    classes = set()
    for page in pages:
        classes.update(re.findall(r"\bfa-[a-z0-9-]+", page))
    used = set()
    for sheet in sheets:
        for selector, body in _RULE.findall(sheet):
            named = set(re.findall(r"\.(fa-[a-z0-9-]+)", selector))
            if named and not named & classes:
                continue
            text = _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), body)
            used.update(ord(c) for c in text if ord(c) in PRIVATE)
    return used


def subset(font, characters):
    """Return the bytes of a font reduced to these characters, compressed as WOFF."""
    options = Options()
    options.flavor = "woff"
    options.layout_features = []
    small = TTFont(font, recalcTimestamp=False)
    cutter = Subsetter(options)
    cutter.populate(unicodes=characters)
    cutter.subset(small)
    small.flavor = "woff"
    out = BytesIO()
    small.save(out)
    return out.getvalue()


def slim(app, exception):
    """Replace the fonts, remove the scripts, and make the style sheets use the new fonts."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for name in UNUSED:
        for file in out.glob(f"{name}*"):
            file.unlink()
    sheets = {path: path.read_text(encoding="utf8") for path in out.glob("_static/**/*.css")}
    sources = [*out.glob("**/*.html"), *out.glob("_static/**/*.js")]
    used = icons(sheets.values(), (path.read_text(encoding="utf8") for path in sources))
    for font in (out / FONTS).glob("*.ttf"):
        font.with_suffix(".woff").write_bytes(subset(font, used))
        font.unlink()
        font.with_suffix(".woff2").unlink()
    pattern = re.compile(
        r'url\(([^()]*/fa-[a-z0-9-]+)\.woff2\) format\("woff2"\),'
        r'url\([^()]*\) format\("truetype"\)'
    )
    for path, text in sheets.items():
        slimmer = pattern.sub(r'url(\1.woff) format("woff")', text)
        if slimmer != text:
            path.write_text(slimmer, encoding="utf8")


def setup(app):
    PygmentsBridge.html_formatter = LeanFormatter
    app.connect("html-page-context", drop_wrong_attributes)
    # This must run after the theme has defined how contents are written.
    app.connect("html-page-context", fold_contents, priority=900)
    app.connect("build-finished", slim)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
