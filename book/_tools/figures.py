"""Sphinx extension: figures of the notebooks on the page.

* The alt text that a chapter gave its figure reaches the page. `renyi_book.plotting.show` stores
  it in the output's own metadata, where Jupyter's tools look for it; MyST-NB reads only a cell's.
* A figure that was also drawn for phones is a `<picture>`: below 600 px the narrow one is shown.
* Every image says how wide and high it is, so that the text does not jump when it arrives, and is
  fetched only as it comes near the screen.
* Images inside HTML outputs, such as the frames of a slider, become files instead of text.
"""

import base64
import hashlib
import posixpath
import re
import struct
from pathlib import Path

from docutils import nodes
from myst_nb.core.render import NbElementRenderer
from sphinx.writers.html5 import HTML5Translator

#: The width, in px, below which the drawing for phones is shown.
PHONE = 600
_INLINED = re.compile(r'<img([^>]*?)src="data:image/png;base64,([^"]+)"([^>]*)>')
_INLINED_SOURCE = re.compile(r'<source([^>]*?)srcset="data:image/png;base64,([^"]+)">')
_render_image = NbElementRenderer.render_image


def png_size(data):
    """Width and height in pixels, from the head of a PNG file."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("data must be a PNG file")
    return struct.unpack(">II", data[16:24])


def render_image(self, data):
    """What MyST-NB makes of an image, with what `show` stored beside it."""
    found = _render_image(self, data)
    stored = data.output_metadata.get(data.mime_type, {})
    for node in found:
        if stored.get("alt"):
            node["alt"] = stored["alt"]
        if stored.get("text"):
            node["text_points"] = stored["text"]
        if stored.get("narrow"):
            narrow = base64.b64decode(stored["narrow"]["png"])
            name = hashlib.sha256(narrow).hexdigest() + ".png"
            address = self.write_file([name], narrow, overwrite=False, exists_ok=True)
            node["narrow"] = self.renderer.sphinx_env.relfn2path(address)[0]
            node["narrow_points"] = stored["narrow"]["text"]
    return found


def visit_image(self, node):
    """An image with its size; inside `<picture>` where there is a drawing for phones."""
    start, source = len(self.body), Path(self.builder.srcdir, node["uri"])
    HTML5Translator.visit_image(self, node)
    tag = "".join(self.body[start:])
    del self.body[start:]
    attributes = ' loading="lazy" decoding="async"'
    if source.suffix == ".png" and source.is_file():
        width, height = png_size(source.read_bytes())
        shown = int(node.get("width", width))
        tag = re.sub(r' (style|width|height)="[^"]*"', "", tag)
        attributes += f' width="{shown}" height="{round(height * shown / width)}"'
    for name, key in (("text", "text_points"), ("narrow-text", "narrow_points")):
        if key in node:
            attributes += f' data-{name}="{node[key]}"'
    tag = re.sub(r"\s*/?>", f"{attributes} />", tag.rstrip(), count=1)
    self.body.append(_picture(self.builder, node, tag) if "narrow" in node else tag)


def depart_image(self, node):
    HTML5Translator.depart_image(self, node)


def _picture(builder, node, tag):
    source = Path(builder.srcdir, node["narrow"])
    builder.images.setdefault(node["narrow"], source.name)
    width, height = png_size(source.read_bytes())
    address = posixpath.join(builder.imgpath, builder.images[node["narrow"]])
    return (
        f'<picture><source media="(max-width: {PHONE}px)" srcset="{address}" '
        f'width="{width}" height="{height}" />{tag}</picture>'
    )


def extract_images(html, save):
    """HTML whose inlined images are files, each stored by ``save(name, data)``, which gives its
    address.
    """

    def replace_source(match):
        data = base64.b64decode(match.group(2))
        address = save(hashlib.sha256(data).hexdigest() + ".png", data)
        width, height = png_size(data)
        return f'<source{match.group(1)}width="{width}" height="{height}" srcset="{address}">'

    def replace(match):
        before, encoded, after = match.groups()
        data = base64.b64decode(encoded)
        address = save(hashlib.sha256(data).hexdigest() + ".png", data)
        width, height = png_size(data)
        rest = before + after
        shown = re.search(r'\bwidth="(\d+)"', rest)
        shown = int(shown.group(1)) if shown else width
        rest = re.sub(r'\s*\b(width|height)="\d*"', "", rest).rstrip("/ ")
        return (
            f'<img{rest} width="{shown}" height="{round(height * shown / width)}" '
            f'loading="lazy" decoding="async" src="{address}">'
        )

    return _INLINED.sub(replace, _INLINED_SOURCE.sub(replace_source, html))


def store_inlined_images(app, doctree, docname):
    """Images inside HTML outputs become files beside the others."""
    if app.builder.format != "html":
        return
    page = app.builder.get_target_uri(docname).partition("#")[0]

    def save(name, data):
        path = Path(app.outdir, app.builder.imagedir, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        here = posixpath.dirname(page)
        return posixpath.relpath(posixpath.join(app.builder.imagedir, name), here or ".")

    for node in doctree.findall(nodes.raw):
        if "html" in node.get("format", "") and "data:image/png;base64," in node.astext():
            html = extract_images(node.astext(), save)
            node.rawsource, node.children = html, [nodes.Text(html)]


def setup(app):
    NbElementRenderer.render_image = render_image
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    app.connect("doctree-resolved", store_inlined_images)
    # Which images are to be copied is told while pages are written.
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
