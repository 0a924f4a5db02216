"""Which chapters have to be run again: what each depended on when it was last executed.

A chapter depends on the code of its cells and on all that this reaches, and on the files that it
reads: stored results, the claims, the names and order of the chapters. ``make execute`` writes
down the checksums of these; a chapter whose checksums have changed since is stale.
"""

import ast
import hashlib
import json
import re

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from renyi_book.chapters import BOOK, chapters
from renyi_book.experiments._store import STORED, sha256
from renyi_book.reach import Use, checksum, reached

_RECORD = "results/chapters.json"
# The chapter's cells, taken as a module.
_CELLS = "cells"


def dependencies(path, book=BOOK):
    """What a chapter depends on, each with its checksum.

    Parameters
    ----------
    path : Path
        A notebook.
    book : Path, optional
        The folder of the book.

    Returns
    -------
    dict of str to str
        "code", and the files that the chapter reads, relative to the book.
    """
    text = _code(path)
    # Words of errors count here, for a chapter may show them. Of the checks it asks its own only.
    own_checks = f"renyi_book.checks.{path.stem.replace('-', '_')}"
    found = reached(
        [Use(_CELLS)],
        messages=True,
        computed={"renyi_book.checks": [own_checks]},
        extra={_CELLS: text},
    )
    files = {f"results/{name}.csv" for name in tables_read(text, found)}
    if "renyi_book.scorecard.table:claims" in found or "claims.yml" in text:
        files |= {"claims.yml", "results/verdicts.json"}
    sums = {"code": checksum(found)} | {file: _sum(book / file) for file in sorted(files)}
    if any(key.startswith(f"{_CELLS}:") and "renyi_book.chapters" in found[key] for key in found):
        listed = [(chapter.slug, chapter.title) for chapter in chapters(book).values()]
        sums["chapters"] = hashlib.sha256(repr(listed).encode()).hexdigest()
    return sums


def tables_read(text, found):
    """The stored tables that a chapter may read.

    Parameters
    ----------
    text : str
        The code of its cells.
    found : collection of str
        What this code reaches.

    Returns
    -------
    set of str
    """
    if "renyi_book.scorecard.table:weigh" in found:
        return set(STORED)
    if "renyi_book.experiments._store:load" not in found:
        return set()
    calls = [
        node.args[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and node.args and _called(node) == "load"
    ]
    # Without a call by that name it goes by another, and may read anything.
    patterns = [_pattern(argument) for argument in calls] or [".*"]
    return {name for name in STORED if any(re.fullmatch(p, name) for p in patterns)}


def changes(path, book=BOOK):
    """What has changed for a chapter since it was last executed.

    Parameters
    ----------
    path : Path
        A notebook.
    book : Path, optional
        The folder of the book.

    Returns
    -------
    list of str
        Keys of `dependencies`; "never executed" if nothing is known; empty if all is as it was.
    """
    known = _record(book).get(_key(path, book))
    if known is None:
        return ["never executed"]
    now = dependencies(path, book)
    return sorted(key for key in known | now if known.get(key) != now.get(key))


def remember(path, sums, book=BOOK):
    """Write down what a chapter depended on when it was executed.

    Parameters
    ----------
    path : Path
        A notebook.
    sums : dict of str to str
        From `dependencies`, taken before the execution.
    book : Path, optional
        The folder of the book.
    """
    known = {key: value for key, value in _record(book).items() if (book / key).exists()}
    text = json.dumps(known | {_key(path, book): sums}, indent=1, sort_keys=True)
    (book / _RECORD).write_text(text + "\n", encoding="utf8")


def _record(book):
    path = book / _RECORD
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def _key(path, book):
    return path.relative_to(book).as_posix()


def _code(path):
    """The code of a notebook's cells as one text; lines that only Jupyter knows become calls."""
    cells = nbformat.read(path, as_version=4).cells
    plain = TransformerManager().transform_cell
    return "\n".join(plain(cell.source) for cell in cells if cell.cell_type == "code")


def _called(call):
    return getattr(call.func, "id", getattr(call.func, "attr", None))


def _pattern(argument):
    """A pattern of the texts that an argument can be: an f-string's fields can be anything."""
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    return "".join(
        re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in parts
    )


def _sum(path):
    return sha256(path) if path.exists() else "not there"
