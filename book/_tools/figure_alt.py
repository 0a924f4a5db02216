"""Sphinx extension: the alt text a chapter gave its figure reaches the HTML page.

`renyi_book.plotting.show` stores the text in the output's own metadata, where Jupyter's tools look
for it. MyST-NB reads only a cell's metadata; this adds the output's.
"""

from myst_nb.core.render import NbElementRenderer

_render_image = NbElementRenderer.render_image


def _render_image_with_alt(self, data):
    nodes = _render_image(self, data)
    alt = data.output_metadata.get(data.mime_type, {}).get("alt")
    if alt:
        for node in nodes:
            node["alt"] = alt
    return nodes


def setup(app):
    NbElementRenderer.render_image = _render_image_with_alt
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
