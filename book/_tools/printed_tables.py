"""Sphinx extension that typesets tables printed by pandas.

* The names of the index move into the header row above; pandas puts them into a separate row.
* Columns of numbers and their headings are aligned to the right, columns of words to the left.
* Symbols such as ``rho_R^2`` are typeset, and the names of claims, columns of the data and
  results of functions are spelled out as words.

Cells keep their numbers as printed, except for the sign of a zero. Wide tables on reference pages
get a class that turns their rows into blocks on a phone.
"""

import html
import re
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes

_TABLE = re.compile(r'<table[^>]*class="[^"]*\bdataframe\b.*?</table>', re.DOTALL)
_STYLE = re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL)
#: Words that may accompany the numbers of a column.
_UNITS = re.compile(r"\b(of|to|and|in|s|ms|kB|MB|GB|nan|inf|None|times)\b", re.IGNORECASE)
_NUMBERS = re.compile(r"[-−–—+±×*/^%~≈<>≤≥=\d.,:;()\[\]\s…eE]*")
_GREEK = {
    "lambda": "λ",
    "lam": "λ",
    "rho": "ρ",
    "phi": "φ",
    "sigma": "σ",
    "theta": "θ",
    "gamma": "γ",
    "eta": "η",
    "eps": "ε",
    "chi2": "χ²",
}
_LETTER = re.compile(r"(?<![\w-])(" + "|".join(_GREEK) + r")(?![\w-])")
_INDEX = re.compile(r"(?<![A-Za-zα-ω])([A-Za-zα-ωχ]|NMI|HSIC)_([^\W²³]{1,3})(?![^\W²³])")
_NEGATIVE_ZERO = re.compile(r"-(0(?:\.0*)?)")
_POWER = re.compile(r"\^(\([^)]*\)|[-−]?[\d.]+)")
#: Abbreviated names, and the words they stand for.
WORDS = {
    "p_rule": "p%",
    "eo_gap": "EO gap",
    "soft_eo_gap": "EO gap, sampled label",
    "soft_rho_R": "rho_R, sampled label",
    "fair_dp": "fair: DP violation below",
    "fair_eo": "fair: EO violation below",
    "fair_p_rule": "fair: p% above",
    "n_iter": "passes",
    "adult": "Adult",
    "bank": "Bank",
    "german": "German",
}
#: Spelling of words in the name of a claim.
SPELLED = {
    "adult": "Adult",
    "bank": "Bank",
    "german": "German",
    "pearson": "Pearson",
    "hsic": "HSIC",
    "eo": "EO",
    "dp": "DP",
    "donini": "Donini",
    "hardt": "Hardt",
    "zafar": "Zafar",
    "rezaei": "Rezaei",
    "lambda": "λ",
    "renyi": "Rényi",
    "ermi": "ERMI",
    "fermi": "FERMI",
    "sd": "SD",
}
#: Pages whose tables are read row by row.
STACKED = {"book/notation": "notation", "book/paper_index": "paper-index", "book/api": "by-task"}
_SLUG = re.compile(r"[a-z][a-z0-9]+([-_][a-z0-9]+)+")


@cache
def claims(folder):
    """Return the names of all claims of both scorecards."""
    found = set()
    for name in ("claims.yml", "claims_fermi.yml"):
        path = Path(folder, name)
        if path.exists():
            found.update(re.findall(r"^- id: (\S+)", path.read_text(encoding="utf8"), re.M))
    return frozenset(found)


def in_words(label, known=()):
    """Spell out a label that is the name of a claim, a column or a result.

    Parameters
    ----------
    label : str
        Label to spell out.
    known : collection of str
        Names of claims.
    """
    if label in WORDS:
        return WORDS[label]
    if label in known:
        spelled = " ".join(SPELLED.get(word, word) for word in label.split("-"))
        return spelled.replace("gender race", "gender and race")
    head, comma, rest = label.partition(", ")
    if _SLUG.fullmatch(head) and ("_" in head or head.count("-") > 1):
        spelled = (SPELLED.get(word, word) for word in re.split("[-_]", head))
        return " ".join(spelled) + comma + rest
    return label


def with_symbols(text):
    """Return the HTML of a label, with Greek letters, subscripts and powers."""
    text = re.sub(r"\brho_", "ρ_", text)
    text = html.escape(_LETTER.sub(lambda m: _GREEK[m.group(1)], text), quote=False)
    text = _INDEX.sub(r"\1<sub>\2</sub>", text)
    return _POWER.sub(lambda m: f"<sup>{m.group(1).strip('()')}</sup>", text)


def is_number(text):
    """Return whether a cell is empty or contains only numbers, signs and units."""
    return not text or bool(_NUMBERS.fullmatch(_UNITS.sub("", text)))


def merge_heads(table):
    """Move the names of the index from a separate row into the row above.

    If the columns have a name, too, it is placed above them or, if their header has several rows,
    after the index name and a backslash.
    """
    rows = table.select("thead > tr")
    if len(rows) < 2:
        return
    body = table.select_one("tbody > tr")
    levels = len(body.find_all("th", recursive=False)) if body else 0
    above, names = rows[-2].find_all("th"), rows[-1].find_all("th")
    texts = [name.get_text(strip=True) for name in names]
    if not levels or any(texts[levels:]) or not any(texts[:levels]) or len(above) < len(names):
        return
    of_columns = above[levels - 1].get_text(strip=True)
    for cell, text in zip(above, texts[:levels]):
        cell.string = text
    rows[-1].decompose()
    if of_columns and texts[levels - 1]:
        if len(rows) == 2:
            span = BeautifulSoup(
                f'<tr><th colspan="{levels}"></th><th colspan="{len(names) - levels}"></th></tr>',
                "html.parser",
            ).tr
            span.find_all("th")[1].string = of_columns
            rows[0].insert_before(span)
        else:
            above[levels - 1].string = f"{texts[levels - 1]} \\ {of_columns}"


def columns(table):
    """Return the cells of each column of the body and of the head, without spanning cells."""
    grid, heads = {}, {}
    for part, found in (("tbody", grid), ("thead", heads)):
        open_until = {}
        for i, row in enumerate(table.select(f"{part} > tr")):
            at = 0
            for cell in row.find_all(["th", "td"], recursive=False):
                while open_until.get(at, 0) > i:
                    at += 1
                width = int(cell.get("colspan", 1))
                if width == 1:
                    found.setdefault(at, []).append(cell)
                open_until[at] = i + int(cell.get("rowspan", 1))
                at += width
    return grid, heads


def align(table):
    """Mark the cells of columns of words, and headings that span several columns."""
    grid, heads = columns(table)
    for at, cells in grid.items():
        texts = [cell.get_text(strip=True) for cell in cells]
        if not any(texts) or not all(map(is_number, texts)):
            for cell in cells + heads.get(at, []):
                cell["class"] = "words"
    for cell in table.select("thead th[colspan]"):
        if int(cell["colspan"]) > 1:
            cell["class"] = "over"


def typeset(found, known=()):
    """Typeset the HTML of a pandas table for the book."""
    table = BeautifulSoup(found, "html.parser").table
    merge_heads(table)
    align(table)
    for row in table.select("tr[style]"):
        del row["style"]
    del table["border"]
    for cell in table.find_all(["th", "td"]):
        text = cell.string
        zero = _NEGATIVE_ZERO.fullmatch(text or "")
        if zero:
            cell.string = zero.group(1)
            continue
        if text is None or (cell.name == "td" and "_" not in text and "^" not in text):
            continue
        label = in_words(text, known)
        new = with_symbols(label)
        if new != html.escape(text, quote=False):
            if text in known:
                cell["title"] = text
            cell.clear()
            cell.append(BeautifulSoup(new, "html.parser"))
    return str(table)


def typeset_tables(app, doctree, docname):
    """Typeset all tables of a page."""
    for table in doctree.findall(nodes.table):
        if docname in STACKED and "api-summary" not in table["classes"]:
            table["classes"] = sorted({*table["classes"], STACKED[docname]})
    known = claims(str(Path(app.srcdir, "book")))
    for node in doctree.findall(nodes.raw):
        text = node.astext()
        if "html" in node.get("format", "") and 'class="dataframe"' in text:
            text = _STYLE.sub("", text)
            new = _TABLE.sub(lambda match: typeset(match.group(), known), text)
            node.rawsource, node.children = new, [nodes.Text(new)]


def setup(app):
    app.connect("doctree-resolved", typeset_tables)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
