"""Chapters by slug, in reading order.

A chapter is identified by its slug, which is the name of its file without the ending. Its number
follows from the table of contents and is stored nowhere else.
"""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

BOOK = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Chapter:
    """Chapter with its slug, notebook and title."""

    slug: str
    path: Path
    title: str

    def page_from(self, path):
        """Return the address of the chapter's page, relative to the page of another notebook."""
        target = self.path.with_suffix(".html")
        return Path(os.path.relpath(target, path.parent)).as_posix()


@cache
def chapters(book=BOOK):
    """Return every numbered chapter of the book by slug, in the order of ``_toc.yml``.

    Parameters
    ----------
    book : Path, optional
        Folder of the chapters, whose parent contains the table of contents.

    Returns
    -------
    dict of str to Chapter
        Chapters by slug.

    Examples
    --------
    >>> from renyi_book.chapters import chapters
    >>> chapters()["theorem-1"].title
    'Theorem 1: a singular value'
    """
    root = Path(book).parent
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8"))
    paths = [
        root / f"{entry['file']}.ipynb"
        for part in contents["parts"]
        if part.get("numbered")
        for entry in part["chapters"]
    ]
    return {path.stem: Chapter(path.stem, path, _title(path)) for path in paths}


def _title(path):
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    lines = "".join(cells[0]["source"]).splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))
