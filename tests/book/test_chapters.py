"""The chapters and pages, as they are in the repository."""

import pytest

from renyi_book.chapters import chapters

from . import checks

NOTEBOOKS = checks.notebook_paths()
CHAPTERS = checks.chapter_paths()
PAGES = checks.page_paths()


def names(paths):
    return [str(p.relative_to(checks.BOOK)) for p in paths]


@pytest.fixture(scope="module")
def known_labels():
    notebooks = [checks.read(page) for page in PAGES]
    return set().union(
        *(checks.labels(cell.source) for notebook in notebooks for cell in notebook.cells),
        *(checks.figure_names(notebook) for notebook in notebooks),
    )


@pytest.fixture(scope="module")
def known_citations():
    return checks.citation_keys((checks.ROOT / "references.bib").read_text(encoding="utf8"))


def test_there_are_chapters():
    assert CHAPTERS


@pytest.mark.parametrize("path", CHAPTERS, ids=names(CHAPTERS))
def test_chapter_has_the_skeleton(path):
    assert checks.skeleton(checks.read(path)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
@pytest.mark.parametrize(
    "check",
    [checks.executed, checks.clean_outputs, checks.self_contained],
    ids=lambda c: c.__name__,
)
def test_notebook_stores_what_a_clean_run_gives(path, check):
    assert check(checks.read(path)) == []


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_every_figure_has_alt_text(path):
    assert checks.alt_texts(checks.read(path)) == []


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_formulas_are_standard_tex(path):
    assert checks.standard_tex(checks.read(path)) == []


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_references_lead_somewhere(path, known_labels, known_citations):
    found = checks.references(checks.read(path), path.parent, known_labels, known_citations)
    assert found == []


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_no_page_types_the_number_of_a_chapter(path):
    sources = "\n".join(cell.source for cell in checks.read(path).cells)
    assert checks.typed_numbers(sources) == []


def test_neither_code_nor_claims_nor_course_type_the_number_of_a_chapter():
    patterns = [
        "book/claims.yml",
        "book/renyi_book/**/*.py",
        "renyi_lib/**/*.py",
        "course/**/*.py",
    ]
    patterns += ["course/source/*/*.ipynb", "*.md", "*.yml"]
    found = {
        str(path.relative_to(checks.ROOT)): checks.typed_numbers(path.read_text(encoding="utf8"))
        for pattern in patterns
        for path in checks.ROOT.glob(pattern)
    }
    assert len(found) > 60
    assert {path: problems for path, problems in found.items() if problems} == {}


@pytest.mark.parametrize("chapter", chapters().values(), ids=chapters())
def test_a_chapter_s_label_is_its_slug(chapter):
    first = checks.read(chapter.path).cells[0].source
    assert first.startswith(f"(ch-{chapter.slug})=\n# {chapter.title}\n")


def test_every_page_is_in_the_table_of_contents():
    toc = (checks.ROOT / "_toc.yml").read_text(encoding="utf8")
    assert checks.missing_from_toc(toc, PAGES, checks.ROOT) == []
