"""The strict build of the whole book, and small builds that show which problems it detects."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell, new_notebook

import renyi_lib
from renyi_book.chapters import chapters

from . import checks


def build(source, output, strict=True, **environment):
    """Run the command of `make book` in another folder; return the completed process."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")}
    command = [Path(sys.executable).with_name("jupyter-book"), "build", source]
    rigor = ["-W", "-n", "--keep-going"] if strict else []
    options = ["--all", *rigor, "-q", "--path-output", output]
    return subprocess.run(
        [*command, *options], capture_output=True, text=True, env={**env, **environment}
    )


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """Return the folder of a strict build, made here unless the variable BOOK_HTML names one."""
    if "BOOK_HTML" in os.environ:
        return Path(os.environ["BOOK_HTML"])
    output = tmp_path_factory.mktemp("built")
    done = build(checks.ROOT, output)
    assert done.returncode == 0, done.stdout + done.stderr
    return output / "_build" / "html"


def test_every_source_becomes_a_page(html):
    for page in checks.page_paths():
        assert (html / page.relative_to(checks.ROOT).with_suffix(".html")).exists(), page


def test_no_built_page_has_a_problem(html):
    problems = [
        f"{page.relative_to(html)}: {problem}"
        for page in sorted(html.glob("book/**/*.html"))
        for problem in checks.built_page(page.read_text(encoding="utf8"))
    ]
    assert problems == []


def test_formulas_use_a_font_bundled_with_the_book(html):
    page = (html / "book/notation.html").read_text(encoding="utf8")
    assert page.count("<math ") > 100
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts
    assert [script for script in scripts if "mathjax" in script.lower()] == []
    assert "_static/formulas.css" in page
    sheet = (html / "_static/formulas.css").read_text(encoding="utf8")
    assert "font-family:'Book Math';src:url(data:font/woff" in sheet
    assert len(sheet) < 150_000


def test_every_page_has_a_description_and_a_preview_card(html):
    seen = {}
    for source in checks.page_paths():
        page = html / source.relative_to(checks.ROOT).with_suffix(".html")
        text = page.read_text(encoding="utf8")
        head = BeautifulSoup(text.partition("<body")[0], "html.parser").head
        text = head.find("meta", attrs={"name": "description"})["content"]
        assert 40 <= len(text) <= 160, (page.name, text)
        seen.setdefault(text, []).append(page.name)
        assert head.find("meta", property="og:title")["content"]
        card = head.find("meta", property="og:image")["content"]
        assert (page.parent / card).exists()
    assert [names for names in seen.values() if len(names) > 1] == []


def test_unused_assets_are_not_shipped(html):
    assert not list(html.glob("_static/scripts/fontawesome*"))
    fonts = list(html.glob("_static/vendor/fontawesome/webfonts/*"))
    assert sum(font.stat().st_size for font in fonts) < 20_000
    assert all(font.suffix == ".woff" for font in fonts)


def test_the_404_page_links_to_the_landing_page(html):
    page = BeautifulSoup((html / "404.html").read_text(encoding="utf8"), "html.parser")
    assert (html / page.find("a")["href"]).exists()


def test_the_api_reference_links_every_public_name(html):
    page = BeautifulSoup((html / "book/api.html").read_text(encoding="utf8"), "html.parser")
    links = page.select("table.api-summary td a")
    assert {link.get_text() for link in links} >= set(renyi_lib._MODULE_OF)
    for link in links:
        address, _, ident = link["href"].partition("#")
        target = (html / "book" / address).read_text(encoding="utf8")
        assert f'id="{ident}"' in target


def test_explorable_scripts_are_copied_to_the_build(html):
    scripts = html / "book/explorables"
    for view in checks.BOOK.glob("explorables/*/view.js"):
        copied = scripts / view.parent.name
        assert (copied / "view.js").read_bytes() == view.read_bytes()
        assert (copied / "plain.js").stat().st_size > view.stat().st_size
    assert not list(scripts.rglob("*.md"))


def small_book(source, **pages):
    """The book's own configuration around a few numbered chapters, given as Markdown."""
    for folder in ("_tools", "_static", "_templates", "explorables"):
        shutil.copytree(checks.BOOK / folder, source / "book" / folder)
    (source / "book/results").mkdir()
    exports = "book/results/claims.csv", "book/results/claims.json"
    for name in ("_config.yml", "references.bib", "CITATION.cff", *exports):
        shutil.copy(checks.ROOT / name, source / name)
    (source / "book/index.md").write_text("# A book\n\nWith a page, and $x^2$.\n")
    contents = "format: jb-book\nroot: book/index\nparts:\n  - numbered: true\n    chapters:\n"
    for name, text in pages.items():
        contents += f"      - file: book/{name}\n"
        page = new_notebook(
            cells=[new_markdown_cell(text)],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(page, source / f"book/{name}.ipynb")
    (source / "_toc.yml").write_text(contents)
    return source


def built_page(output, name):
    return (output / f"_build/html/book/{name}.html").read_text(encoding="utf8")


def test_chapters_are_numbered_by_the_table_of_contents(tmp_path):
    source = small_book(
        tmp_path / "source",
        old="(ch-old)=\n# Old\n\nSee {numref}`ch-last`.",
        inserted="(ch-inserted)=\n# Inserted",
        last="(ch-last)=\n# Last",
    )
    assert list(chapters(source / "book")) == ["old", "inserted", "last"]
    done = build(source, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    page = built_page(tmp_path, "old")
    article = BeautifulSoup(page, "html.parser").select_one("article")
    assert article.select_one("span.std-numref").get_text() == "chapter 3"
    # The copy is in no repository, so there is nothing to link to.
    assert "mybinder.org" not in page
    assert "github.com" not in page


def test_launch_buttons_link_to_the_repository(tmp_path):
    source = small_book(tmp_path / "source", page="# A page")
    site = {"GITHUB_REPOSITORY": "someone/a-book", "GITHUB_REF_NAME": "main"}
    done = build(source, tmp_path, **site, BOOK_JUPYTERLITE="https://lite.example/lab")
    assert done.returncode == 0, done.stdout + done.stderr
    page = built_page(tmp_path, "page")
    assert (
        "https://mybinder.org/v2/gh/someone/a-book/main?urlpath=lab/tree/book/page.ipynb" in page
    )
    assert 'href="https://github.com/someone/a-book"' in page
    colab = "https://colab.research.google.com/github/someone/a-book/blob/main/book/page.ipynb"
    assert colab in page
    assert "https://lite.example/lab?path=book/page.ipynb" in page
    for host in ("mybinder.org", "colab.research.google.com", "lite.example"):
        assert f"(opens {host})" in page
    assert '<link rel="canonical" href="https://someone.github.io/a-book/book/page.html"' in page


def test_strict_build_reports_every_broken_reference(tmp_path):
    broken = ["{ref}`nowhere`", "{cite}`nobody1900`", "[x](not_there.md)", "```{nosuch}\n```"]
    broken.append(r"A formula, $\nosuchsymbol$.")
    source = small_book(tmp_path / "source", page="# A page\n\n" + "\n\n".join(broken))
    done = build(source, tmp_path)
    assert done.returncode != 0
    for name in ("nowhere", "nobody1900", "not_there.md", "nosuch", r"\nosuchsymbol"):
        assert name in done.stderr, (name, done.stderr)
    assert re.search(r"page\.ipynb\S* WARNING: formula cannot be typeset", done.stderr), (
        done.stderr
    )
