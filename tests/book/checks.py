"""Conditions on every chapter and page. A check returns a list of problems and their places."""

import re
from functools import cache
from pathlib import Path

import nbformat
import yaml
from bs4 import BeautifulSoup

from renyi_book.chapters import chapters

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"


def chapter_paths():
    """The numbered chapters, in reading order."""
    return [chapter.path for chapter in chapters().values()]


def notebook_paths():
    return sorted(p for p in BOOK.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def page_paths():
    """Every source of a page: notebooks and Markdown files, but no README of a folder."""
    return sorted([*notebook_paths(), *(p for p in BOOK.rglob("*.md") if p.name != "README.md")])


@cache
def read(path):
    """A notebook, read once; a Markdown page counts as a notebook with one cell."""
    if path.suffix == ".md":
        text = path.read_text(encoding="utf8")
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    return nbformat.read(path, as_version=4)


def _cells(notebook, kind):
    return [(i, c) for i, c in enumerate(notebook.cells) if c.cell_type == kind]


def _text(notebook):
    return "\n\n".join(c.source for _, c in _cells(notebook, "markdown"))


# -- the skeleton of a chapter ---------------------------------------------------------------


def skeleton(notebook):
    """Title and opening, box, paper's note, recap, exercises with solutions, what comes next."""
    problems = []
    first = notebook.cells[0]
    title = re.match(r"(\(.+\)=\s+)?# \S.*\n+(\w.{200,})", first.source, re.DOTALL)
    if first.cell_type != "markdown" or not title:
        problems.append("cell 0: must be a title and a paragraph that opens the question")
    text = _text(notebook)
    box = re.search(r":::\{admonition\} In this chapter(.*?)\n:::", text, re.DOTALL)
    if not box:
        problems.append("no box 'In this chapter'")
    else:
        for part in ("You will be able to", "You need", "Time", "In the paper"):
            if f"**{part}**" not in box.group(1):
                problems.append(f"the box 'In this chapter' does not say **{part}**")
    if not re.search(r"\{(admonition|margin)\} In the paper", text):
        problems.append("no 'In the paper' note")
    for heading in ("Recap", "Exercises", "What comes next"):
        if not re.search(rf"^## {heading}\s*$", text, re.MULTILINE):
            problems.append(f"no section '## {heading}'")
    recap = re.search(r"^## Recap\s*$(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    if recap and len(re.findall(r"^- ", recap.group(1), re.MULTILINE)) != 5:
        problems.append("the recap must have five lines, each beginning with '- '")
    exercises = re.findall(r"\{exercise\}.*?\n:label: (\S+)", text)
    if len(exercises) < 3:
        problems.append(f"{len(exercises)} exercises with a label; three or more are needed")
    return problems + _solutions(notebook, exercises)


def _solutions(notebook, exercises):
    """Every exercise has a folded solution with at least one code cell in it."""
    problems, solved, current, ran = [], set(), None, False
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            ran = True
            continue
        for label, options in re.findall(
            r"\{(?:solution-start\} (\S+)|solution-end\})\n((?::.*\n)*)", cell.source + "\n"
        ):
            if label:
                current, ran = label, False
                if ":class: dropdown" not in options:
                    problems.append(f"cell {i}: the solution of {label} is not folded (dropdown)")
            else:
                if not ran:
                    problems.append(f"cell {i}: the solution of {current} has no cell that runs")
                solved.add(current)
    return problems + [f"exercise {e} has no solution" for e in exercises if e not in solved]


# -- stored outputs ---------------------------------------------------------------------------


def executed(notebook):
    """Execution counts run 1, 2, 3 … as from a clean kernel, and something is checked."""
    problems = []
    code = _cells(notebook, "code")
    for expected, (i, cell) in enumerate(code, start=1):
        if cell.execution_count != expected:
            problems.append(f"cell {i}: execution count {cell.execution_count}, not {expected}")
    checked = [(i, c) for i, c in code if "nbval-check-output" in c.metadata.get("tags", [])]
    if not checked:
        problems.append("no cell has the tag nbval-check-output: no result is checked")
    return problems + [
        f"cell {i}: has the tag nbval-check-output but prints nothing"
        for i, cell in checked
        if not cell.outputs
    ]


def clean_outputs(notebook):
    """No stored error, warning or text on stderr."""
    problems = []
    for i, cell in _cells(notebook, "code"):
        for output in cell.outputs:
            if output.output_type == "error":
                problems.append(f"cell {i}: stored error {output.ename}")
            elif output.get("name") == "stderr":
                problems.append(f"cell {i}: stored stderr text: {output.text[:80]!r}")
            elif "Warning:" in str(output.get("text", "")):
                problems.append(f"cell {i}: stored warning: {output.text[:80]!r}")
    return problems


def alt_texts(notebook):
    """Every figure has a text for readers who cannot see it."""
    problems = []
    for i, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            for mime in output.get("data", {}):
                alt = output.metadata.get(mime, {}).get("alt", "")
                if mime.startswith("image/") and not alt.strip():
                    problems.append(f"cell {i}: a figure without alt text (use plotting.show)")
            page = BeautifulSoup(str(output.get("data", {}).get("text/html", "")), "html.parser")
            if any(not image.get("alt", "").strip() for image in page.find_all("img")):
                problems.append(f"cell {i}: an <img> without alt text")
        if cell.cell_type == "markdown" and re.search(r"!\[\s*\]\(", cell.source):
            problems.append(f"cell {i}: an image without alt text")
        for options in re.findall(r"\{(?:image|figure)\} [^\n]+\n((?::.*\n)*)", cell.source):
            if cell.cell_type == "markdown" and ":alt:" not in options:
                problems.append(f"cell {i}: an image directive without :alt:")
    return problems


_ABSOLUTE = re.compile(
    r"""(?:^|[\s"'(=])(/(?:home|root|tmp|Users|usr|opt|work|mnt|var)/\S+|[A-Z]:\\\w\S*)"""
)
_DATA_ADDRESS = re.compile(r"(?:https?|ftp|s3)://\S+\.(?:csv|data|test|zip|gz|parquet|json)\b")
_PIP = re.compile(r"(?:^|\s|!|%)(?:pip|conda|mamba)3?\s+install\b")


def self_contained(notebook):
    """No absolute path, address of a data file, or installation in a cell or its output."""
    problems = []
    for i, cell in _cells(notebook, "code"):
        outputs = "\n".join(
            str(o.get("text", "")) + str(o.get("data", {}).get("text/plain", ""))
            for o in cell.outputs
        )
        for where, text in (("", cell.source), ("the output of ", outputs)):
            for pattern, what in (
                (_ABSOLUTE, "an absolute path"),
                (_DATA_ADDRESS, "the address of a data file"),
                (_PIP, "an installation"),
            ):
                found = pattern.search(text)
                if found:
                    problems.append(f"{where}cell {i}: {what}: {found.group(0).strip()[:60]}")
    return problems


_MACRO = re.compile(r"\\(?:E|P|R|F|L|Yhat|indep|Var|Cov|diag|sign)(?![A-Za-z])")


def standard_tex(notebook):
    """Formulas use no macro of our own, which JupyterLab would not know (or print \\P as ¶)."""
    return [
        f"cell {i}: the macro {found.group(0)} is not standard TeX"
        for i, cell in _cells(notebook, "markdown")
        for found in [_MACRO.search(cell.source)]
        if found
    ]


_TYPED = re.compile(r"\bchapters? \d+|\bch\d+-", re.IGNORECASE)


def typed_numbers(text):
    """No chapter is referred to by a typed number, which only the table of contents determines."""
    return [f"a chapter's number is typed: {found.group(0)!r}" for found in _TYPED.finditer(text)]


# -- references -------------------------------------------------------------------------------


def citation_keys(bib_text):
    return set(re.findall(r"@\w+\{\s*([^,\s]+),", bib_text))


def labels(text):
    """Every label that a page defines."""
    found = set(re.findall(r"^\(([^)\n]+)\)=\s*$", text, re.MULTILINE))
    found |= set(re.findall(r"^:(?:label|name): (\S+)\s*$", text, re.MULTILINE))
    found |= set(re.findall(r"\$\$ \(([^)\s]+)\)\s*$", text, re.MULTILINE))
    found |= set(re.findall(r"\\label\{([^}]+)\}", text))
    return found


def figure_names(notebook):
    """The names of the figures that cells make, which are labels too."""
    figures = (c.metadata.get("mystnb", {}).get("figure", {}) for _, c in _cells(notebook, "code"))
    return {figure["name"] for figure in figures if "name" in figure}


def references(notebook, folder, known_labels, known_citations):
    """Citations, cross-references and local links lead somewhere."""
    problems = []
    for i, cell in _cells(notebook, "markdown"):
        source = re.sub(
            r"```\w*\n.*?```|`[^`{}\n]+`(?!`)", "", _keep_roles(cell.source), flags=re.S
        )
        for keys in re.findall(r"\{cite(?::\w+)?\}⟦([^⟧]+)⟧", source):
            for key in re.split(r"\s*,\s*", keys.strip()):
                if key not in known_citations:
                    problems.append(f"cell {i}: citation {key!r} is not in references.bib")
        for target in re.findall(r"\{(?:ref|numref|eq|prf:ref|solution-start)\}⟦([^⟧]+)⟧", source):
            label = re.sub(r".*<(.+)>$", r"\1", target.strip())
            if label not in known_labels:
                problems.append(f"cell {i}: reference to {label!r}, which no page defines")
        for target in re.findall(r"\]\(([^)\s]+)\)", source):
            if re.match(r"\w+:", target):
                continue
            path, _, fragment = target.partition("#")
            if path and not (folder / path).exists() and path not in known_labels:
                problems.append(f"cell {i}: link to {target!r}, which does not exist")
            if fragment and not path and fragment not in known_labels:
                problems.append(f"cell {i}: link to {target!r}, which no page defines")
    return problems


def _keep_roles(source):
    """Mark roles so that plain `code` can be dropped without dropping them."""
    return re.sub(r"(?<!`)(\{[\w:-]+\})`([^`]+)`", r"\1⟦\2⟧", source)


def toc_files(toc):
    """Every file that a table of contents lists."""
    if isinstance(toc, dict):
        here = [toc[k] for k in ("file", "root") if k in toc]
        return here + [f for value in toc.values() for f in toc_files(value)]
    if isinstance(toc, list):
        return [f for item in toc for f in toc_files(item)]
    return []


def missing_from_toc(toc_text, pages, root):
    listed = set(toc_files(yaml.safe_load(toc_text)))
    return [
        f"{page.relative_to(root)} is not in _toc.yml"
        for page in pages
        if str(page.relative_to(root).with_suffix("")) not in listed
    ]


# -- the built page ---------------------------------------------------------------------------

_RAW = re.compile(
    r"\\(?:frac|mathbb|rho|begin|left|sum|text|Yhat|indep)\b|\$\$|\$\\|\{(?:ref|eq|cite|numref|glue)[:}]"
)
_FORMULAS_AND_LISTINGS = re.compile(r"<(math|pre)\b.*?</\1>", re.DOTALL)


def built_page(html):
    """No leftover of TeX or of a directive, no mark of a broken reference, no third-party host."""
    # Formulas and listings are half of a page, and parsing them takes half of the time.
    page = BeautifulSoup(_FORMULAS_AND_LISTINGS.sub("", html), "html.parser")
    problems = [
        f"marked as a problem: {' '.join(m.get_text().split())[:80]!r}"
        for m in page.select(".problematic, .system-message")
    ]
    for tag in page.select("script[src], link[rel=stylesheet], img[src], iframe[src]"):
        address = tag.get("src") or tag.get("href")
        if re.match(r"(https?:)?//", address):
            problems.append(f"loads from a third-party host: {address}")
    for image in page.select(".bd-article img"):
        if not image.get("alt", "").strip():
            problems.append(f"an image without alt text: {image.get('src', '')[:60]}")
    for tag in page.select("script, style, code, .math, title, meta"):
        tag.decompose()
    body = page.select_one(".bd-article") or page
    for line in body.get_text("\n").splitlines():
        if _RAW.search(line):
            problems.append(f"raw TeX or directive in the text: {line.strip()[:80]!r}")
    return problems
