"""The chapters and pages, as they are in the repository."""

import pytest

from renyi_book import svg
from renyi_book.chapters import chapters

from . import checks

NOTEBOOKS = checks.notebook_paths()
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


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_page_passes_every_check(path, known_labels, known_citations):
    page = checks.read(path)
    problems = checks.alt_texts(page) + checks.standard_tex(page)
    problems += checks.references(page, path.parent, known_labels, known_citations)
    problems += checks.typed_numbers("\n".join(cell.source for cell in page.cells))
    if path in NOTEBOOKS:
        problems += checks.executed(page) + checks.clean_outputs(page)
        problems += checks.self_contained(page)
    assert problems == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_figures_are_svg_of_at_most_150_kb(path):
    problems = []
    for i, cell in enumerate(checks.read(path).cells):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data or "data:image/png" in data.get("text/html", ""):
                problems.append(f"cell {i}: a PNG")
            drawings = []
            if "image/svg+xml" in data:
                facts = output.metadata["image/svg+xml"]
                drawings = [data["image/svg+xml"], facts.get("narrow", {}).get("svg", "")]
            if max((len(drawn.encode()) for drawn in drawings), default=0) > svg.MOST_BYTES:
                problems.append(f"cell {i}: a drawing of more than {svg.MOST_BYTES} bytes")
    assert problems == []


@pytest.mark.parametrize("chapter", chapters().values(), ids=chapters())
def test_chapter_has_the_skeleton_and_its_slug_as_label(chapter):
    page = checks.read(chapter.path)
    assert checks.skeleton(page) == []
    assert page.cells[0].source.startswith(f"(ch-{chapter.slug})=\n# {chapter.title}\n")


def test_no_source_file_contains_a_typed_chapter_number():
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


def test_every_page_is_in_the_table_of_contents():
    toc = (checks.ROOT / "_toc.yml").read_text(encoding="utf8")
    assert checks.missing_from_toc(toc, PAGES, checks.ROOT) == []
