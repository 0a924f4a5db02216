"""Chapters and sections of the book, to which feedback can link.

`make course` writes `chapters.json` next to this file from the notebooks of the book.
"""

import json
import re
from pathlib import Path

from . import COURSE
from .page import CHAPTERS

BOOK = COURSE.parent / "book"


def anchor(title):
    """Return the name that Sphinx gives to a heading's anchor."""
    text = re.sub(r"[^a-z0-9]+", "-", re.sub(r"[`$*{}]", "", title).lower())
    return re.sub(r"^[-0-9]+|-+$", "", text)


def of(path):
    """Return (title, sections) of one chapter's notebook."""
    nb = json.loads(Path(path).read_text("utf-8"))
    text = "\n".join("".join(c["source"]) for c in nb["cells"] if c["cell_type"] == "markdown")
    text = re.sub(r"^(:::+|```+).*?^\1\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    sections = re.findall(r"^##+ (.+?)\s*$", text, re.MULTILINE)
    return title[1].strip() if title else "", {name: anchor(name) for name in sections}


def table(book=BOOK):
    """Return {title: {"page": path, "sections": {title: anchor}}} of all chapters."""
    found = {}
    for path in sorted([*book.glob("part*/*.ipynb"), *book.glob("appendices/*.ipynb")]):
        title, sections = of(path)
        page = path.relative_to(book.parent).with_suffix(".html").as_posix()
        found[title] = {"page": page, "sections": sections}
    return found


def text(book=BOOK):
    """Return the content of `chapters.json`."""
    return json.dumps(table(book), indent=1, ensure_ascii=False) + "\n"


def write(book=BOOK):
    """Write `chapters.json`, and return whether it has changed."""
    old = CHAPTERS.read_text("utf-8") if CHAPTERS.exists() else ""
    CHAPTERS.write_text(text(book), encoding="utf-8")
    return old != text(book)
