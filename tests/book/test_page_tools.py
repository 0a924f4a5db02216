"""Sphinx extensions and scripts that make the pages: figures, icons, formulas, folds, print."""

import base64
import importlib
import sys
from io import BytesIO

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from fontTools.ttLib import TTFont
from pypdf import PdfWriter

from . import checks


@pytest.fixture(scope="module", autouse=True)
def tools():
    """Make the extensions importable, as in a build."""
    sys.path.insert(0, str(checks.BOOK / "_tools"))
    yield
    sys.path.remove(str(checks.BOOK / "_tools"))


def load(name):
    return importlib.import_module(name)


def drawing(width, height):
    """A figure as a notebook stores it: on white, with a blue line and a word."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'viewBox="0 0 2 1" fill="#000000">'
        '<rect class="paper" width="100%" height="100%" fill="#fff"/>'
        '<path d="M0 0L2 1" style="fill:none;stroke:#0072b2"/><text x="1" y="1">word</text></svg>'
    )


def inlined(text):
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode()


def stored_images(html):
    """Return the page made from HTML with inlined drawings, and {name: file}."""
    files = {}

    def save(name, content):
        files[name] = content.decode()
        return f"../_images/{name}"

    return BeautifulSoup(load("figures").extract_images(html, save), "html.parser"), files


def test_inline_figure_becomes_light_and_dark_files_with_reserved_size():
    wide = inlined(drawing(700, 350))
    page, files = stored_images(f'<p><img alt="b" width="700" style="c" src="{wide}"></p>')
    assert [i["class"] for i in page.find_all("img")] == [["figure-light"], ["figure-dark"]]
    for image in page.find_all("img"):
        assert (image["width"], image["height"]) == ("700", "350")
        assert (image["alt"], image["style"], image["loading"]) == ("b", "c", "lazy")
    light, dark = (files[i["src"].rpartition("/")[2]] for i in page.find_all("img"))
    assert "paper" not in light + dark
    assert "#0072b2" in light
    assert "#0072b2" not in dark


def test_still_image_keeps_its_phone_drawing_in_both_modes():
    narrow, wide = inlined(drawing(530, 400)), inlined(drawing(700, 350))
    page, files = stored_images(
        f'<picture><source media="(max-width: 600px)" srcset="{narrow}">'
        f'<img alt="b" data-narrow-text="10" src="{wide}"></picture>'
    )
    assert len(page.find_all("picture")) == 2
    assert len(files) == 4
    for picture in page.find_all("picture"):
        assert (picture.source["width"], picture.source["height"]) == ("530", "400")
        assert picture.source["media"] == "(max-width: 600px)"
        assert picture.img["data-narrow-text"] == "10"


def test_only_icons_of_used_classes_and_other_rules_are_kept():
    sheet = (
        '.fa-bars:before{content:"\uf0c9"}.fa-x:before{content:"\uf00d"}'
        '.note:after{content:"\\f12a"}'
    )
    found = load("lean_theme").icons([sheet], ['<i class="fa-solid fa-bars"></i>'])
    assert found == {0xF0C9, 0xF12A}


def test_contents_fold_parts_without_chapters_except_the_current_one():
    caption = '<p aria-level="2" class="caption" role="heading"><span>{}</span></p>\n'
    pages = '<ul class="nav"><li class="{}"><a href="#">x</a><ul><li>y</li></ul></li></ul>\n'
    html = "<div>" + "".join(
        caption.format(title) + pages.format(kind)
        for title, kind in (("Part I", ""), ("Appendices", ""), ("Reference", "current active"))
    )
    found = BeautifulSoup(load("lean_theme").folded_contents(html + "</div>"), "html.parser")
    assert [d.summary.get_text() for d in found.select("details.part")] == [
        "Appendices",
        "Reference",
    ]
    assert [d.has_attr("open") for d in found.select("details.part")] == [False, True]
    assert len(found.select("div > p.caption")) == 1
    assert len(found.select("li")) == 6
    assert str(found).endswith("</div>")


def test_code_keeps_only_colored_markup():
    from pygments import highlight
    from pygments.lexers import PythonLexer

    html = highlight(
        "def f(x):\n    return x + 1\n", PythonLexer(), load("lean_theme").LeanFormatter()
    )
    page = BeautifulSoup(html, "html.parser")
    assert page.pre.get_text() == "def f(x):\n    return x + 1\n"
    assert {s["class"][0] for s in page.select("pre span[class]")} == {"k", "nf", "mi"}


def page(*paragraphs):
    document = nodes.section()
    for parts in paragraphs:
        document += nodes.paragraph("", "", *parts)
    return document


def test_description_consists_of_the_first_sentences_without_formulas():
    text = nodes.Text("Two friends turn weather and journey into numbers. The best reply is ")
    document = page([text, nodes.math("", "f"), nodes.Text(". More.")])
    expected = "Two friends turn weather and journey into numbers."
    assert load("page_meta").description(document, "none") == expected
    assert load("page_meta").description(page([nodes.Text("Short.")]), "none") == "none"


def test_a_long_description_ends_between_words():
    short = load("page_meta").shortened("word " * 60)
    assert len(short) <= 160
    assert short.endswith("word…")


def test_a_chapter_is_cited_with_its_title_and_its_address():
    book = {
        "authors": [{"name": "Ada"}],
        "title": "B",
        "version": "1.2",
        "date-released": "2026-01-02",
    }
    cite = load("page_meta").citation("Théorème 1: x", book, "https://a.example/x.html", "chapter")
    assert (
        cite["text"] == "“Théorème 1: x”. In: Ada, B, version 1.2, 2026. https://a.example/x.html"
    )
    assert cite["bibtex"].startswith("@incollection{renyi-theoreme-1-x-2026,\n")
    assert "  booktitle = {B},\n" in cite["bibtex"]
    alone = load("page_meta").citation("B", book, None, "book")
    assert alone["bibtex"].startswith("@book{")
    assert "url" not in alone["bibtex"]


def test_search_words_refer_to_existing_pages():
    known = {p.relative_to(checks.ROOT).with_suffix("").as_posix() for p in checks.page_paths()}
    words = load("page_meta").other_words(checks.BOOK / "search_words.yml", known)
    assert words["gradient descent ascent"][0] == "book/part2_classification/min-max"
    assert words["hgr"][0] == "book/part1_dependence/maximal-correlation"


def test_search_word_without_a_page_raises(tmp_path):
    path = tmp_path / "words.yml"
    path.write_text("- words: [a b]\n  pages: [nowhere]\n")
    with pytest.raises(ValueError, match="no page book/nowhere"):
        load("page_meta").other_words(path, set())


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"GITHUB_REPOSITORY": "Some/book"}, "https://some.github.io/book/"),
        ({"BOOK_URL": "https://b.example"}, "https://b.example/"),
        ({}, None),
    ],
)
def test_site_address_is_set_if_the_book_is_published(environ, expected):
    assert load("page_meta").site_address(environ, None) == expected


PAGE = """<html><article class="bd-article"><section id="a"><h1>Title<a class="headerlink"
href="#a">#</a></h1><p id="b"><a href="#b">here</a> <a href="../q/other.html#c">there</a>
<a href="https://x.example">out</a> <a href="../../genindex.html">gone</a></p>
<img src="../../_images/i.png" loading="lazy"><img class="figure-dark" src="d.svg">
</section></article></html>"""


def test_merged_pages_have_unique_ids_and_links():
    pages = {"book/p/this.html", "book/q/other.html"}
    article = load("print_pdf").joined_page(PAGE, "book/p/this.html", pages)
    links = [link.get("href") for link in article.find_all("a")]
    assert links == ["#book/p/this--b", "#book/q/other--c", "https://x.example", None]
    assert article.find("p")["id"] == "book/p/this--b"
    assert [image["src"] for image in article.find_all("img")] == ["_images/i.png"]
    assert article.find("h2").get_text() == "Title"
    assert article["id"] == "page--book/p/this.html"


BRANCH = """<html><article class="bd-article"><section><h1>Title</h1>
<div class="tip admonition"><p class="admonition-title">Warm-up</p><p>check("x/a", y)</p></div>
<details class="sd-dropdown"><summary><span class="sd-summary-text">Answer</span></summary>
<p>Two.</p></details>
<details class="sd-dropdown"><summary><span class="sd-summary-text">Proof</span></summary>
<p>Clear.</p></details>
<details class="admonition hide"><summary>Show</summary><pre>code</pre></details>
<div class="exercise admonition">one</div><div class="solution admonition">Solved.</div>
<p id="last">What comes next</p></section></article></html>"""


def test_printed_book_has_solutions_at_the_end_and_proofs_in_place():
    article = load("print_pdf").joined_page(BRANCH, "book/p/this.html", set())
    text = " ".join(article.get_text(" ").split())
    assert "code" not in text
    order = ["Warm-up a", "Clear.", "one", "What comes next", "Answers and solutions"]
    order += ["Answer to warm-up a", "Two.", "Solved."]
    assert sorted(order, key=text.index) == order
    assert all(folded.has_attr("open") for folded in article.find_all("details"))


def write_small_book(folder):
    """A built book of a first page and two chapters in two parts, out of alphabetical order."""
    page = (
        "<html><article class=bd-article><section><h1>{}</h1><h2>Section</h2></section></article>"
    )
    nav = (
        '<nav class="bd-docs-nav"><p class="caption">Part I</p>'
        '<a class="reference internal" href="z.html">Z</a><p class="caption">Part II</p>'
        '<a class="reference internal" href="a.html">A</a></nav>'
        '<a class="book-brand"><span class="name">Name</span></a>'
        '<div class="chapter-foot"><p>Version 1.2.0 of the book.</p></div></html>'
    )
    (folder / "book").mkdir()
    (folder / "book/index.html").write_text(page.format("Name") + nav, encoding="utf8")
    for name in "za":
        (folder / f"book/{name}.html").write_text(page.format(f"Chapter {name}"), encoding="utf8")


def test_the_printed_book_follows_the_contents(tmp_path):
    write_small_book(tmp_path)
    printing = load("print_pdf")
    html, pages = printing.join(tmp_path)
    assert pages == 3
    assert (
        BeautifulSoup(html, "html.parser").select_one(".cover .edition").string == "Version 1.2.0"
    )
    chapters = ["Part I", "Chapter z", "Section", "Part II", "Chapter a", "Section"]
    assert printing.headings(html) == ["About this book", "Section", *chapters]
    numbered = printing.numbered_contents(html, [3, 5, 7])
    listed = BeautifulSoup(numbered, "html.parser").select("nav.contents li")
    assert [entry.select_one(".page").get_text() for entry in listed] == ["3", "5", "7"]


def test_outline_restores_lost_spaces():
    printing = load("print_pdf")
    writer = PdfWriter()
    writer.add_blank_page(10, 10)
    part = writer.add_outline_item("Part I", 0)
    writer.add_outline_item("1. Fairnessis", 0, parent=part)
    writer.add_outline_item("Part II", 0)
    titles = ["Part I", "1. Fairness is", "Part II"]
    printing.rename_outline(writer, titles)
    assert [entry["/Title"] for entry in printing.outline_items(writer)] == titles
    with pytest.raises(ValueError, match="3 entries, which differ from the book's 2 headings"):
        printing.rename_outline(writer, titles[:2])


def test_formula_becomes_mathml_with_tex_spacing():
    formulas = load("formulas")
    assert formulas.mathml("x^2").count("<mi>x</mi>") == 1
    assert "<mfrac>" in formulas.mathml(r"\frac{1}{2}", display=True)
    assert '</msub><mspace width="0.1667em"></mspace>' in formulas.mathml(r"P_{ij} \log P_{ij}")
    assert "<mi>ρ</mi>" in formulas.mathml(r"\corr", macros=[(r"\corr", r"\rho")])


def test_the_sign_of_independence_is_one_character():
    formula = load("formulas").mathml(r"A \perp\!\!\!\perp B")
    assert "<mo>⫫</mo>" in formula
    assert "⟂" not in formula
    assert load("formulas").mathml(r"u \perp v").count("<mo>⟂</mo>") == 1


@pytest.mark.parametrize("tex", [r"\frac{1", r"\nosuchcommand x", r"\left( x"])
def test_a_formula_that_cannot_be_converted_raises(tex):
    with pytest.raises(ValueError, match=r"[Ee]xpected|Unsupported"):
        load("formulas").mathml(tex)


def test_several_displayed_lines_are_aligned_and_not_numbered_twice():
    display_tex = load("formulas").display_tex
    assert display_tex("a = b") == "a = b"
    assert display_tex(r"a &= b \\ &= c") == r"\begin{split}a &= b \\ &= c\end{split}"
    assert display_tex("a\n\nb") == "\\begin{aligned}a\\\\b\\end{aligned}"
    starred = display_tex(r"\begin{align}a\end{align}", nowrap=True)
    assert starred == r"\begin{align*}a\end{align*}"


def test_font_subset_covers_the_formulas_and_has_narrow_tall_delimiters():
    formulas = load("formulas")
    page = '<math data-tex="x"><msqrt><mi>x</mi></msqrt><mo>(′</mo><mn>&lt;</mn></math> y'
    used = formulas.characters([page])
    assert used == {"x", "𝑥", "(", "<", "√", "′"}
    font = TTFont(BytesIO(formulas.cut_font(used)))
    kept = set(map(chr, font.getBestCmap()))
    assert kept >= used
    assert len(kept) < 10  # and their mirror images
    prime = font["glyf"][font.getBestCmap()[ord("′")]]
    assert (prime.yMin, prime.yMax) == formulas.PRIME
    constants = font["MATH"].table.MathConstants
    assert {name: getattr(constants, name).Value for name in formulas.DROP} == formulas.DROP
    variants = font["MATH"].table.MathVariants
    for base, made in zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction):
        widest = max(font["hmtx"][v.VariantGlyph][0] for v in made.MathGlyphVariantRecord)
        assert widest <= 1.31 * font["hmtx"][base][0]
        assert len(made.MathGlyphVariantRecord) >= 4


def test_the_first_use_of_a_term_links_to_the_glossary():
    tool = load("glossary_links")
    text = "```{glossary}\nscore\n  A number.\n\njoint table\n  A table.\n```\n"
    terms = tool.glossary_terms(text)
    assert terms == ["score", "joint table"]
    section = nodes.section("", nodes.title("", "A score"))
    section += nodes.paragraph("", "Joint tables of a score; the score again, and a scoreboard.")
    section += nodes.paragraph("", "", nodes.emphasis("", "joint table"), nodes.Text(" later"))
    tool.link_first_uses(section, "page", terms)
    links = [(link.astext(), link["reftarget"]) for link in section.findall(tool.pending_xref)]
    assert links == [("Joint tables", "joint table"), ("score", "score")]
    assert section[1].astext() == "Joint tables of a score; the score again, and a scoreboard."


def test_the_glossary_has_about_forty_terms_in_order():
    text = (checks.BOOK / "glossary.md").read_text(encoding="utf8")
    terms = load("glossary_links").glossary_terms(text)
    assert 38 <= len(terms) <= 60
    assert terms == sorted(terms, key=str.lower)


# -- folded code --------------------------------------------------------------------------------


def cell(source, *output, mode="input", **metadata):
    """A folded cell as MyST-NB makes it."""
    made = nodes.container(nb_element="cell_code", hide_mode=mode, cell_metadata=metadata)
    made += nodes.container("", nodes.literal_block("", source), nb_element="cell_code_source")
    if output:
        made += nodes.container("", *output, nb_element="cell_code_output")
    return made


def printed(text):
    return nodes.literal_block("", text)


def html_output(text):
    return nodes.raw("", text, format="html")


HEADS = "<thead><tr><th></th><th>loss</th><th>p%</th></tr></thead>"
TABLE = f'<table class="dataframe">{HEADS}</table>'
CELLS = {
    "code for Figure 3.2": [cell("draw()", nodes.figure("", ids=["fig-x"]))],
    "code for the table loss · p%": [cell("rows", html_output(TABLE))],
    "code for “largest difference”": [cell("print()", printed("largest difference is 0.1\n"))],
    "code for the figure in “Section”": [cell("x", html_output("<img>"))],
    "check: largest difference": [
        cell("assert x\nprint(x)", printed("largest difference 0.1"), mode="all")
    ],
    "check: both agree": [cell("# both agree\nassert x", mode="all")],
    "checks of “Section”": [cell("assert x", mode="all")],
    "definition of gap and rate": [cell("def gap(): ...\ndef rate(): ...", mode="all")],
    "computation of a and b": [cell("a, b = 1, 2", mode="all")],
    "imports": [cell("import numpy as np\nuse_house_style()", mode="all")],
    "a name of its own": [cell("x = 1", mode="all", fold="a name of its own")],
    "code for Figure 3.2 and checks": [
        cell("x = 1", mode="all"),
        cell("draw()", nodes.figure("", ids=["fig-x"])),
        cell("assert x", mode="all"),
    ],
}


@pytest.mark.parametrize(("name", "cells"), CELLS.items(), ids=CELLS)
def test_a_fold_is_named_by_its_content(name, cells):
    assert load("code_folds").name_of(cells, lambda figure: "3.2", "Section") == name


def test_adjacent_folds_are_merged_and_outputs_stay_visible():
    tool = load("code_folds")
    first, second = cell("a = 1", mode="all"), cell("print(a)", printed("one"))
    third, alone = cell("assert a", mode="all"), cell("b", printed("two"))
    last = cell("c", mode="all")
    section = nodes.section("", nodes.title("", "Title"), first, second, third, alone)
    section += [nodes.paragraph("", "text"), last]
    groups = tool.neighbors(section)
    assert groups == [[first, second, third], [alone], [last]]
    for cells in groups:
        tool.merge(cells, "code")
    folds = list(section.findall(tool.fold))
    assert [[part.astext() for part in found] for found in folds] == [
        ["a = 1", "print(a)", "assert a"],
        ["b"],
        ["c"],
    ]
    assert first[-1].astext() == "one"
    tool.tell_apart(folds)
    names = [found["name"] for found in folds]
    assert names == ["code in “Title”", "code in “Title” (2)", "code in “Title” (3)"]


# -- printed tables -----------------------------------------------------------------------------


def frame(**options):
    import pandas as pd

    return pd.DataFrame({"rho_R^2": [1.5, 20.25], "verdict": ["holds", "fails"]}, **options)


def typeset(table, known=()):
    found = load("printed_tables").typeset(table.to_html(), known)
    return BeautifulSoup(found, "html.parser")


def test_index_name_is_placed_in_the_single_header_row():
    table = typeset(frame().rename_axis("lambda"))
    assert [[th.get_text() for th in row.select("th")] for row in table.select("thead tr")] == [
        ["λ", "ρR2", "verdict"]
    ]
    assert str(table.select("thead th")[1]).endswith("ρ<sub>R</sub><sup>2</sup></th>")


def test_superscript_is_separate_from_the_subscript_and_zero_has_no_sign():
    import pandas as pd

    table = typeset(pd.DataFrame({"true ρ_R²": [-0.01, -0.24, 1.0]}).round(1))
    assert str(table.select("thead th")[1]).endswith(">true ρ<sub>R</sub>²</th>")
    assert [cell.get_text() for cell in table.select("td")] == ["0.0", "-0.2", "1.0"]


def test_column_name_is_placed_above_the_columns():
    table = typeset(frame().rename_axis("lambda").rename_axis(columns="what"))
    first, second = table.select("thead tr")
    assert [(th.get_text(), th["colspan"]) for th in first.select("th")] == [
        ("", "1"),
        ("what", "2"),
    ]
    assert [th.get_text() for th in second.select("th")] == ["λ", "ρR2", "verdict"]


def test_only_text_columns_are_marked_as_text():
    table = typeset(frame())
    assert [cell.get_text() for cell in table.select(".words")] == ["verdict", "holds", "fails"]
    named = typeset(frame(index=["one", "two"]))
    assert "one" in [cell.get_text() for cell in named.select("th.words")]


def test_numbers_are_distinguished_from_words():
    is_number = load("printed_tables").is_number
    for text in ("0.51", "0.5 [0.4, 0.6]", "10 of 20", "1e-06", "", "nan"):
        assert is_number(text), text
    for text in ("holds", "λ = 3", "sex"):
        assert not is_number(text), text


def test_slugs_become_words():
    in_words = load("printed_tables").in_words
    assert in_words("adult-beats-hsic", {"adult-beats-hsic"}) == "Adult beats HSIC"
    assert in_words("hours-per-week") == "hours per week"
    assert in_words("p_rule") == "p%"
    assert in_words("renyi_objective, score") == "Rényi objective, score"
    for kept in ("one-hot", "k-means", "rho_R", "plain k-means", "w_min"):
        assert in_words(kept) == kept


def test_a_formula_keeps_its_punctuation():
    text = nodes.paragraph("", "", nodes.Text("If ("), nodes.math("", "x"), nodes.Text("), then "))
    text += [nodes.math("", "y"), nodes.Text(" holds")]
    load("formulas").keep_punctuation(text)
    assert [part.astext() for part in text] == ["If ", "(x),", " then ", "y", " holds"]
    assert text[1]["classes"] == ["nobreak"]


def test_a_formula_at_the_end_of_bold_words_keeps_its_punctuation():
    bold = nodes.strong("", "", nodes.Text("in class "), nodes.math("", "i"))
    text = nodes.paragraph("", "", bold, nodes.Text(", and so on"))
    load("formulas").keep_punctuation(text)
    assert [part.astext() for part in text] == ["in class i,", " and so on"]
    assert bold[1]["classes"] == ["nobreak"]
