"""Sphinx extension that folds cells behind a small link describing their contents.

* The link names the figure or table that the code makes, the words that it prints, or what it
  checks or defines. A name in a cell's metadata, ``"fold"``, takes precedence.
* Neighboring folded cells form one fold, unless visible output lies between them.
* A page in `SWITCHED` has one switch for all its folds; without scripts, each opens by its link.

A fold is a ``details`` element, which needs no script, works with the keyboard and stays closed
on paper.
"""

import ast
import re

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

#: Pages with one switch, and what it shows.
SWITCHED = {"book/part4_experiments/errata": "evidence"}
#: Maximum length of a name taken from a cell's output or comments.
LONGEST = 60
_SYMBOLS = {"rho_R": "ρ_R", "lambda": "λ", "theta": "θ", "sigma": "σ", "gamma": "γ"}
_SYMBOL = re.compile(r"\b(" + "|".join(_SYMBOLS) + r")\b")
#: Outputs that have no name of their own.
BARE = {"the table", "the figure", "the live figure", "the numbers"}
_COMMAND = re.compile(r"\\(\w+)")
_DANGLING = re.compile(r"( (in|from|at|to|is|by|below|between|of|and|on|about|once))+[:=]?$")
_NUMBER = re.compile(r"^[-−+(\[]?\.?\d")


class fold(nodes.General, nodes.Element):
    """Fold with the text of its link."""


# -- names ---------------------------------------------------------------------------------------


def shortened(text):
    """Return the first words, up to `LONGEST` characters, with an ellipsis if any are cut."""
    text = " ".join(text.split()).rstrip(" :;,.=")
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rsplit(" ", 1)[0].rstrip(" :;,.=(") + " …"


def words_of(line):
    """Return the words at the start of a printed line, up to its first number.

    Parameters
    ----------
    line : str
        Printed line.

    Returns
    -------
    str
        The words, or an empty string if they have fewer than four letters. A number stays if fewer
        than ten letters precede it.
    """
    words = []
    for word in line.split():
        if words and _NUMBER.match(word) and sum(map(str.isalpha, "".join(words))) >= 10:
            break
        words.append(word)
    text = _SYMBOL.sub(lambda match: _SYMBOLS[match.group()], " ".join(words))
    text = _DANGLING.sub("", text)
    return shortened(text) if sum(map(str.isalpha, text)) >= 4 else ""


def made_by(source):
    """Describe code without output by its imports, its definitions or the names it sets."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic command of Jupyter
        return "code"
    defined, computed = [], []
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            defined.append(statement.name)
        for target in getattr(statement, "targets", []):
            found = (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
            computed += [name for name in found if name not in computed]
    if defined:
        return shortened(f"definition of {listed(defined)}")
    return shortened(f"computation of {listed(computed)}") if computed else "imports"


def listed(names):
    """Join up to three names with "and" before the last; of more, name two "and more"."""
    if len(names) > 3:
        return f"{names[0]}, {names[1]} and more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def checks_of(source):
    """Describe code with assertions by its first comment; return "" if it has no comment."""
    for line in source.splitlines():
        if line.lstrip().startswith("# ") and not line.rstrip().endswith(","):
            return shortened(f"check: {line.strip(' #')}")
    return ""


def heads_of(table):
    """Return up to three column headings of a table as one text."""
    names = []
    for row in table.select("thead tr"):
        for cell in row.find_all(["th", "td"]):
            text = " ".join(cell.get_text(" ").split())
            if re.search(r"[^\W\d_]{2}|%", text) and text not in names:
                names.append(text)
    return shortened(" · ".join(names[:3]))


def name_of(cells, number, section):
    """Return the name of a fold.

    Parameters
    ----------
    cells : list of nodes.container
        Cells of the fold.
    number : callable
        Function that returns a figure's number, such as "3.2", or None.
    section : str
        Heading of the section that contains the cells.
    """
    given = [cell["cell_metadata"]["fold"] for cell in cells if "fold" in cell["cell_metadata"]]
    if given:
        return "; ".join(given)
    shown = [cell for cell in cells if is_shown(cell)]
    sources = "\n".join(source_of(cell) for cell in cells)
    has_checks = re.search(r"^\s*assert\b|\bassert_allclose\b", sources, re.MULTILINE)
    for cell in [*shown, *cells[::-1]]:
        found = name_of_output(cell, number)
        if found in BARE:
            found += f" in “{section}”"
        if found and (cell in shown or not found.startswith("“")):
            also = " and checks" if has_checks and len(cells) > 1 else ""
            return ("code for " if cell in shown else "code and ") + found + also
        if found and has_checks:
            return "check: " + found.strip("“”")
        if found:
            return f"code and output {found}"
    if has_checks:
        return checks_of(sources) or shortened(f"checks of “{section}”")
    return made_by(sources)


def name_of_output(cell, number):
    """Describe the output of a cell by its figure, table or first words; "" if there is none."""
    output = output_of(cell)
    if output is None:
        return ""
    for figure in output.findall(nodes.figure):
        found = number(figure)
        return f"Figure {found}" if found else "the figure"
    for raw in output.findall(nodes.raw):
        page = BeautifulSoup(raw.astext(), "html.parser")
        tables = page.select("table.dataframe")
        if tables:
            heads = heads_of(tables[0])
            return f"the table {heads}" if heads else "the table"
        if page.select_one(".explorable"):
            return "the live figure"
        if page.find("table"):
            return "the table"
        if page.find("img"):
            return "the figure"
    for line in output.astext().splitlines():
        if words_of(line):
            return f"“{words_of(line)}”"
    return "the figure" if next(output.findall(nodes.image), None) else "the numbers"


# -- cells ---------------------------------------------------------------------------------------


def is_folded(node):
    """Return whether this is a cell with folded source."""
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and node.get("hide_mode") in ("all", "input")
        and node.children
        and node[0].get("nb_element") == "cell_code_source"
    )


def source_of(cell):
    return cell[0].astext()


def output_of(cell):
    last = cell[-1]
    return last if last.get("nb_element") == "cell_code_output" else None


def is_shown(cell):
    """Return whether the cell has output that stays visible."""
    return cell["hide_mode"] == "input" and output_of(cell) is not None


def neighbors(parent):
    """Return lists of folded cells that can share a fold."""
    groups, last = [], None
    for child in parent.children:
        if is_folded(child):
            if last is None or (is_shown(child) and any(map(is_shown, last))):
                last = []
                groups.append(last)
            last.append(child)
        elif not isinstance(child, (nodes.comment, nodes.target)):
            last = None
    return groups


def merge(cells, name):
    """Merge cells into one with a single fold of that name, and keep shown output outside it."""
    first, inner, shown = cells[0], [], []
    for cell in cells:
        inner.append(cell[0])
        (shown if is_shown(cell) else inner).extend(cell[1:])
    for cell in cells[1:]:
        cell.parent.remove(cell)
    first.children = []
    first += fold("", *inner, name=name)
    first += shown
    # Otherwise MyST-NB would fold the cell again.
    del first["hide_mode"]


def heading_of(node):
    """Return the title of the section that contains a node."""
    while node is not None:
        for child in node.children:
            if isinstance(child, nodes.title):
                return _COMMAND.sub(lambda m: _SYMBOLS.get(m[1], ""), child.astext())
        node = node.parent
    return "this page"


def tell_apart(folds):
    """Make the names of a page's folds unique by adding the section and then a number."""
    names = [node["name"] for node in folds]
    for node in folds:
        if names.count(node["name"]) > 1:
            node["name"] += f" in “{heading_of(node)}”"
    number_names(folds)


def number_names(folds):
    """Number folds that have the same name."""
    seen = {}
    for node in folds:
        seen[node["name"]] = count = seen.get(node["name"], 0) + 1
        if count > 1:
            node["name"] += f" ({count})"


class FoldCells(SphinxPostTransform):
    """Transform that folds cells after figures are numbered and before MyST-NB folds them."""

    default_priority = 198
    formats = ("html",)

    def run(self, **kwargs):
        numbers = self.env.toc_fignumbers.get(self.env.docname, {}).get("figure", {})

        def number(figure):
            found = next((numbers[name] for name in figure["ids"] if name in numbers), None)
            return ".".join(map(str, found)) if found else None

        parents = {id(n.parent): n.parent for n in self.document.findall(is_folded)}
        for parent in parents.values():
            for cells in neighbors(parent):
                merge(cells, name_of(cells, number, heading_of(cells[0])))
        tell_apart(list(self.document.findall(fold)))
        what = SWITCHED.get(self.env.docname)
        if what:
            self.add_switch(what)

    def add_switch(self, what):
        """Name each fold after its section, and insert a switch before the second section."""
        for node in self.document.findall(fold):
            node["name"] = shortened(f"{what}: {heading_of(node)}")
        number_names(list(self.document.findall(fold)))
        button = (
            '<p class="fold-switch pst-js-only"><button type="button" aria-pressed="false">'
            f"show {what}</button></p>"
        )
        sections = list(self.document.findall(nodes.section))
        sections[1].parent.insert(sections[1].parent.index(sections[1]), raw(button))


def raw(html):
    return nodes.raw("", html, format="html")


def visit_fold(self, node):
    self.body.append(
        f'<details class="hide fold"><summary>{self.encode(node["name"])}</summary>\n'
    )


def depart_fold(self, node):
    self.body.append("</details>\n")


def setup(app):
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.add_post_transform(FoldCells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
