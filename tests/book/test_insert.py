"""A chapter can be inserted anywhere: nothing but the table of contents has to change."""

import shutil

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell, new_notebook

from renyi_book.chapters import chapters

from . import checks
from .test_build import build

NEW = "book/part1_dependence/a-new-chapter"
SECOND = "      - file: book/part1_dependence/what-others-miss\n"


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The built pages of a copy with a new second chapter; the copy differs in _toc.yml alone."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("_config.yml", "references.bib", "CHANGELOG.md", "CITATION.cff"):
        shutil.copy(checks.ROOT / name, copy)
    shutil.copytree(checks.BOOK, copy / "book", ignore=shutil.ignore_patterns("__pycache__"))
    text = "(ch-a-new-chapter)=\n# A new chapter\n\nBefore {numref}`ch-what-others-miss`."
    page = new_notebook(
        cells=[new_markdown_cell(text)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(page, copy / f"{NEW}.ipynb")
    contents = (checks.ROOT / "_toc.yml").read_text(encoding="utf8")
    assert contents.count(SECOND) == 1
    new_contents = contents.replace(SECOND, f"      - file: {NEW}\n{SECOND}")
    (copy / "_toc.yml").write_text(new_contents, encoding="utf8")
    for chapter in (copy / "book").glob("**/*.ipynb"):
        # What mentions chapters is text; without the rest the build takes half as long. It is not
        # strict: the text mentions figures, too.
        text_alone(chapter)
    done = build(copy, copy, strict=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "_build" / "html" / "book"


def text_alone(path):
    """Take the code and its outputs out of a chapter."""
    chapter = nbformat.read(path, as_version=4)
    chapter.cells = [cell for cell in chapter.cells if cell.cell_type != "code"]
    nbformat.write(chapter, path)


def mentioned(page):
    """The chapters that a page mentions by number, as it shows them."""
    shown = BeautifulSoup(page.read_text(encoding="utf8"), "html.parser")
    return {
        link["href"].partition("#")[0].rpartition("/")[2].removesuffix(".html"): link.get_text()
        for link in shown.select("article a.reference.internal:has(span.std-numref)")
        if "chapter" in link.get_text().lower()
    }


def test_sphinx_counts_the_chapters_anew_wherever_one_is_mentioned(html):
    order = list(chapters())
    order.insert(1, "a-new-chapter")
    seen = 0
    for page in html.glob("**/*.html"):
        for slug, text in mentioned(page).items():
            if slug in order:
                assert text.lower() == f"chapter {order.index(slug) + 1}", page
                seen += 1
    assert seen > 50


def test_the_list_of_chapters_and_their_checks_know_the_new_one(html):
    copied = chapters(html.parents[2] / "book")
    assert list(copied)[:3] == ["fairness-is-independence", "a-new-chapter", "what-others-miss"]
    assert [slug for slug in copied if slug != "a-new-chapter"] == list(chapters())
