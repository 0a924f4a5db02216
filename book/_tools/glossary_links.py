"""Sphinx extension that links the first use of a term in a chapter to the glossary.

The terms come from `book/glossary.md`. Only the running text of notebooks is searched, without
headings and captions, and without text that is already a link, emphasized or code.
"""

import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref

GLOSSARY = "book/glossary"
_BLOCK = re.compile(r"^```\{glossary\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


def glossary_terms(text):
    """Return the terms on a page, which are the unindented lines of its glossaries."""
    lines = "\n".join(_BLOCK.findall(text)).splitlines()
    return [line.strip() for line in lines if line.strip() and not line[0].isspace()]


@cache
def pattern(terms):
    """Return a pattern that finds any of the terms or their plurals, longest first."""
    longest = sorted(terms, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest))})(?:s|es)?(?![\w-])", re.I)


def link_first_uses(doctree, docname, terms):
    """Link the first use of each term in the document's paragraphs."""
    names = {term.lower(): term for term in terms}
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if not isinstance(paragraph.parent, nodes.section):
            continue
        for text in [child for child in paragraph.children if isinstance(child, nodes.Text)]:
            words, new, done = text.astext(), [], 0
            for found in pattern(tuple(terms)).finditer(words):
                term = names.pop(found.group(1).lower(), None)
                if term is None:
                    continue
                link = pending_xref(
                    "",
                    nodes.inline("", found.group(), classes=["glossary-term"]),
                    refdomain="std",
                    reftype="term",
                    reftarget=term,
                    refdoc=docname,
                    refwarn=True,
                )
                new += [nodes.Text(words[done : found.start()]), link]
                done = found.end()
            if new:
                paragraph.replace(text, [*new, nodes.Text(words[done:])])


def link_document(app, doctree):
    page, docname = Path(app.srcdir, GLOSSARY + ".md"), app.env.docname
    if page.exists() and str(app.env.doc2path(docname)).endswith(".ipynb"):
        terms = glossary_terms(page.read_text(encoding="utf8"))
        link_first_uses(doctree, docname, terms)


def setup(app):
    app.connect("doctree-read", link_document)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
