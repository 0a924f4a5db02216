"""Sphinx extension for the notebooks' figures.

* The alt text of a figure is added to the page. `renyi_book.plotting.show` stores it in the
  output's own metadata, where Jupyter's tools look for it; MyST-NB reads only the cell's metadata.
* A figure consists of two images, for light and dark pages (`renyi_book.svg`); the style sheet
  shows one of them, and the browser does not fetch the other.
* A figure that was also drawn for phones is a `<picture>` with the narrow image up to 600 px.
* Every image states its width and height, so that the text does not jump when it loads, and is
  fetched only when it is about to scroll into view.
* Images inside HTML outputs, such as the frames of a slider, become files instead of text.
"""

import base64
import hashlib
import posixpath
import re
from pathlib import Path

from docutils import nodes
from myst_nb.core.render import NbElementRenderer
from sphinx.writers.html5 import HTML5Translator

from renyi_book import svg

#: The width of a page, in px, up to which the drawing for phones is shown.
PHONE = 600
#: Names of a figure's two variants, with the function that makes each from the stored drawing.
VARIANTS = {"light": svg.light, "dark": svg.dark}
_STORED = r'data:image/svg\+xml;base64,([^"]+)"'
_INLINED = re.compile(
    rf'(?:<picture><source[^>]*?srcset="{_STORED}[^>]*>)?'
    rf'<img([^>]*?) src="{_STORED}([^>]*)>(?:</picture>)?'
)
_render_image = NbElementRenderer.render_image


def render_image(self, data):
    """Render an image with MyST-NB, and add the metadata that `show` stored with it."""
    found = _render_image(self, data)
    stored = data.output_metadata.get(data.mime_type, {})
    for node in found:
        if stored.get("alt"):
            node["alt"] = stored["alt"]
        if data.mime_type == "image/svg+xml":
            drawings = {"wide": data.content}
            if stored.get("text"):
                node["text_points"] = stored["text"]
            if stored.get("narrow"):
                drawings["narrow"] = stored["narrow"]["svg"]
                node["narrow_points"] = stored["narrow"]["text"]
            node["drawings"] = drawings
            # A link to the image leads to its light variant.
            content = svg.light(data.content).encode()
            name = file_name(content)
            node["uri"] = self.write_file([name], content, overwrite=False, exists_ok=True)
    return found


def file_name(content):
    return hashlib.sha256(content).hexdigest()[:20] + ".svg"


def pictures(drawings, attributes, save):
    """Return the HTML of a figure, with one image for light pages and one for dark pages.

    Parameters
    ----------
    drawings : dict
        Stored SVG as "wide" and, if there is a drawing for phones, as "narrow".
    attributes : str
        Attributes of each image, such as its alt text, beginning with a space. Size and class are
        added.
    save : callable
        Function ``save(name, content)`` that stores a file and returns its address.
    """
    html = ""
    for variant, made in VARIANTS.items():
        address, size = {}, {}
        for kind, drawing in drawings.items():
            content = made(drawing).encode()
            address[kind] = save(file_name(content), content)
            size[kind] = 'width="{}" height="{}"'.format(*svg.size(drawing))
        tag = (
            f'<img class="figure-{variant}" src="{address["wide"]}"{attributes} '
            f'{size["wide"]} loading="lazy" decoding="async" />'
        )
        if "narrow" in drawings:
            tag = (
                f'<picture><source media="(max-width: {PHONE}px)" srcset="{address["narrow"]}" '
                f"{size['narrow']} />{tag}</picture>"
            )
        html += tag
    return html


def visit_image(self, node):
    """Write an image with its size, or both variants if it is a figure of a notebook."""
    start = len(self.body)
    HTML5Translator.visit_image(self, node)
    tag = "".join(self.body[start:])
    if "drawings" not in node:
        self.body[start:] = [
            re.sub(r"\s*/?>", ' loading="lazy" decoding="async" />', tag, count=1)
        ]
        return
    attributes = f' alt="{self.attval(node.get("alt", ""))}"'
    for name, key in (("text", "text_points"), ("narrow-text", "narrow_points")):
        if key in node:
            attributes += f' data-{name}="{node[key]}"'
    ids = "".join(f' id="{name}"' for name in node["ids"][:1])
    page = self.builder.get_target_uri(self.builder.current_docname)
    html = pictures(node["drawings"], attributes, saving(self.builder, page))
    self.body[start:] = [f"<span{ids}>{html}</span>" if ids else html]


def depart_image(self, node):
    HTML5Translator.depart_image(self, node)


def saving(builder, page):
    """Return a function ``save(name, content)`` that writes next to the book's images."""

    def save(name, content):
        path = Path(builder.outdir, builder.imagedir, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        here = posixpath.dirname(page.partition("#")[0])
        return posixpath.relpath(posixpath.join(builder.imagedir, name), here or ".")

    return save


def extract_images(html, save):
    """Replace inlined drawings with both variants as files, stored by ``save(name, content)``."""

    def replace(match):
        narrow, before, wide, after = match.groups()
        drawings = {"wide": wide, "narrow": narrow} if narrow else {"wide": wide}
        drawings = {kind: base64.b64decode(text).decode() for kind, text in drawings.items()}
        rest = re.sub(r'\s*\b(?<!-)(width|height)="\d*"', "", before + after).rstrip("/ ")
        return pictures(drawings, rest, save)

    return _INLINED.sub(replace, html)


def store_inlined_images(app, doctree, docname):
    """Store images inside HTML outputs as files next to the other images."""
    if app.builder.format != "html":
        return
    save = saving(app.builder, app.builder.get_target_uri(docname))
    for node in doctree.findall(nodes.raw):
        if "html" in node.get("format", "") and "data:image/svg+xml;base64," in node.astext():
            html = extract_images(node.astext(), save)
            node.rawsource, node.children = html, [nodes.Text(html)]


def setup(app):
    NbElementRenderer.render_image = render_image
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    app.connect("doctree-resolved", store_inlined_images)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
