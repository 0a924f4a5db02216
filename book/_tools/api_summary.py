"""Sphinx extension for summaries and links in the API reference.

* ``{api-summary} api/metrics`` inserts a table of the objects that a page documents, with a link
  and the first sentence of the docstring for each. Without an argument, it lists its own page.
* In docstrings, a name in single backticks becomes a link if it names exactly one documented
  object, and code otherwise.
* ``rho_R``, ``rho_P`` and their squares, written so for readers in a terminal, become formulas.
"""

import importlib
import inspect
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

#: Types of objects in a summary; methods are documented on the page of their class.
KINDS = {"function", "class", "exception"}


_RHO = re.compile(r"(?<![\w`.])rho_([RP])(\^2)?(?![\w`^])")


class summary(nodes.General, nodes.Element):
    """Placeholder for a table that is inserted once all pages have been read."""


class ApiSummary(SphinxDirective):
    """Directive that inserts a placeholder for the summary table."""

    optional_arguments = 1

    def run(self):
        page = f"book/{self.arguments[0]}" if self.arguments else self.env.docname
        return [summary(page=page)]


def first_sentence(name):
    """Return the first paragraph, one sentence, of an object's docstring, given its full name."""
    module, _, attribute = name.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(module), attribute)) or ""
    line = " ".join(text.split("\n\n")[0].split())
    if not line:
        raise ValueError(f"{name} has no docstring")
    return line


def fill(app, doctree, docname):
    """Replace the placeholders with tables."""
    objects = app.env.domains["py"].objects
    for mark in list(doctree.findall(summary)):
        found = {
            name: entry
            for name, entry in objects.items()
            if entry.docname == mark["page"] and entry.objtype in KINDS and not entry.aliased
        }
        if not found:
            raise ValueError(f"{docname}: nothing is documented on {mark['page']}")
        body = nodes.tbody()
        for name, entry in found.items():
            text = nodes.literal("", name.rpartition(".")[2])
            address = entry.docname, entry.node_id
            name_link = make_refnode(app.builder, docname, *address, text, name)
            sentence = [n for i, part in enumerate(_parts(name)) for n in _code_or_text(part, i)]
            cells = ([name_link], sentence)
            row = nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *c)) for c in cells))
            body += row
        columns = [nodes.colspec(colwidth=width) for width in (30, 70)]
        head = nodes.thead("", nodes.row("", *(_head(w) for w in ("name", "what it is"))))
        group = nodes.tgroup("", *columns, head, body, cols=2)
        mark.replace_self(nodes.table("", group, classes=["api-summary"]))


def _parts(name):
    return first_sentence(name).replace("``", "`").split("`")


def _code_or_text(part, position):
    """Return a part of a sentence as nodes; every second part was in backticks."""
    if position % 2:
        return [nodes.literal("", part)]
    found, end = [], 0
    for match in _RHO.finditer(part):
        found += [nodes.Text(part[end : match.start()]), nodes.math("", _tex(match))]
        end = match.end()
    return [*found, nodes.Text(part[end:])]


def _tex(match):
    return rf"\rho_{match.group(1)}{match.group(2) or ''}"


def set_symbols(app, what, name, obj, options, lines):
    """Turn symbols in a docstring into formulas, except in lines with backticks or prompts."""
    for i, line in enumerate(lines):
        if "`" not in line and not line.lstrip().startswith((">>>", "...")):
            lines[i] = _RHO.sub(lambda match: rf"\ :math:`{_tex(match)}`\ ", line)


def _head(word):
    return nodes.entry("", nodes.paragraph("", word))


def name_role(role, rawtext, text, lineno, inliner, options=None, content=()):
    """Return a reference that becomes a link if an object of that name is documented."""
    env = inliner.document.settings.env
    code = nodes.literal(rawtext, text)
    node = addnodes.pending_xref(
        rawtext, code, reftype="maybe", reftarget=text, refdoc=env.docname, refdomain=""
    )
    return [node], []


def link(app, env, node, content):
    """Return a link if exactly one documented object has the name, and just the name otherwise."""
    if node.get("reftype") != "maybe":
        return None
    name = node["reftarget"].removesuffix("()")
    objects = env.domains["py"].objects
    found = [
        full
        for full, entry in objects.items()
        if (full == name or full.endswith(f".{name}")) and not entry.aliased
    ]
    if len(found) != 1:
        return content
    entry = objects[found[0]]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, content, found[0]
    )


def setup(app):
    app.add_node(summary)
    app.add_directive("api-summary", ApiSummary)
    app.add_role("maybe", name_role)
    app.connect("doctree-resolved", fill)
    app.connect("autodoc-process-docstring", set_symbols)
    app.connect("missing-reference", link)
    app.connect("config-inited", lambda app, config: setattr(config, "default_role", "maybe"))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
