"""Which chapters have to be run again: on a small book, and on this one."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from renyi_book import freshness
from renyi_book.chapters import chapters
from renyi_book.experiments._store import STORED

HEAD = "from renyi_book.experiments import load\n"


@pytest.fixture
def book(tmp_path):
    """A folder with two stored tables and the claims."""
    (tmp_path / "results").mkdir()
    for name in ("theorems", "network"):
        (tmp_path / "results" / f"{name}.csv").write_text("x\n1\n")
    (tmp_path / "claims.yml").write_text("[]\n")
    return tmp_path


def write(book, *sources, text="Words."):
    path = book / "page.ipynb"
    cells = [new_markdown_cell(text), *map(new_code_cell, sources)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def remembered(book, *sources):
    path = write(book, *sources)
    freshness.remember(path, freshness.dependencies(path, book), book)
    return path


def test_a_chapter_is_stale_until_it_was_executed(book):
    path = write(book, "x = 1")
    assert freshness.changes(path, book) == ["never executed"]
    remembered(book, "x = 1")
    assert freshness.changes(path, book) == []


def test_words_and_comments_leave_a_chapter_fresh_and_code_does_not(book):
    path = remembered(book, "x = 1")
    write(book, "# one\nx = 1", text="Other words.")
    assert freshness.changes(path, book) == []
    write(book, "x = 2")
    assert freshness.changes(path, book) == ["code"]


def test_a_chapter_is_stale_when_a_table_that_it_reads_has_changed(book):
    path = remembered(book, HEAD + 'load("theorems", "../results")')
    (book / "results" / "network.csv").write_text("x\n2\n")
    assert freshness.changes(path, book) == []
    (book / "results" / "theorems.csv").write_text("x\n2\n")
    assert freshness.changes(path, book) == ["results/theorems.csv"]
    (book / "results" / "theorems.csv").write_text("x\n1\n")
    assert freshness.changes(path, book) == []


def test_a_chapter_that_weighs_claims_is_stale_when_these_or_any_table_have_changed(book):
    path = remembered(book, "from renyi_book.scorecard import findings")
    (book / "claims.yml").write_text("- id: a\n")
    assert freshness.changes(path, book) == ["claims.yml"]
    (book / "results" / "network.csv").write_text("x\n2\n")
    assert freshness.changes(path, book) == ["claims.yml", "results/network.csv"]


def test_a_chapter_is_stale_when_library_code_that_it_reaches_has_changed(book, monkeypatch):
    path = remembered(book, "from renyi_lib.metrics import p_rule")
    follow = freshness.reached

    def after_an_edit(*args, **options):
        found = follow(*args, **options)
        return found | {key: "edited" for key in found if key == "renyi_lib.metrics:p_rule"}

    monkeypatch.setattr(freshness, "reached", after_an_edit)
    assert freshness.changes(path, book) == ["code"]
    other = remembered(book, "x = 1")
    assert freshness.changes(other, book) == []


CLUSTERS = {"clusters_adult", "clusters_bank", "clusters_stop"}


@pytest.mark.parametrize(
    ("call", "tables"),
    [
        ('load("theorems", "../results")', {"theorems"}),
        ('load(f"clusters_{name}", "../results")', CLUSTERS),
        ("load(name, folder)", set(STORED)),
        ("read = load\nread('theorems', folder)", set(STORED)),
    ],
)
def test_the_tables_are_those_that_a_call_can_name(book, call, tables):
    found = freshness.dependencies(write(book, HEAD + call), book)
    assert found.keys() == {"code"} | {f"results/{name}.csv" for name in tables}


def test_a_load_of_something_else_reads_no_table(book):
    path = write(book, "import numpy as np\nnp.load('theorems')")
    assert freshness.dependencies(path, book).keys() == {"code"}


def test_lines_that_only_jupyter_knows_are_understood(book):
    assert freshness.dependencies(write(book, "%matplotlib inline\nx = 1"), book).keys() == {
        "code"
    }


def test_a_chapter_that_is_no_more_is_forgotten(book):
    remembered(book, "x = 1").unlink()
    other = book / "other.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("x = 1")]), other)
    freshness.remember(other, {"code": "1"}, book)
    assert list(freshness._record(book)) == ["other.ipynb"]


def test_of_this_book_the_chapters_of_the_experiments_read_results():
    slugs = "equality-of-opportunity", "scorecard", "theorem-1"
    found = {slug: freshness.dependencies(chapters()[slug].path) for slug in slugs}
    readers = {slug: {key for key in found[slug] if key.endswith(".csv")} for slug in slugs}
    assert readers["equality-of-opportunity"] == {
        "results/equal_opportunity.csv",
        "results/equal_opportunity_rivals.csv",
    }
    # It shows the stored verdicts, and reads itself only what it computes by hand.
    assert readers["scorecard"] == {
        "results/clusters_adult.csv",
        "results/equal_opportunity.csv",
        "results/equal_opportunity_rivals.csv",
        "results/multiverse.csv",
    }
    assert {"claims.yml", "results/verdicts.json"} <= set(found["scorecard"])
    assert readers["theorem-1"] == set()
