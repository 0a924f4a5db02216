"""Coined words must not come back, and spelling is American, in everything people read."""

import ast
import io
import json
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Coined or translated words, with the field's own words for them.
COINED = {
    r"\brivals?\b": "baseline, competing method",
    r"\bgorges?\b": "kink, narrow valley",
    r"\bdrawn labels?\b": "sampled label",
    r"\bderivatives? by (?!primes)[a-z$\\]": "derivative with respect to",
    r"\bat a right angle to\b": "orthogonal to",
    r"\bholds? the truth\b": "covers the true value",
    r"\bask(?:s|ed|ing)? every candidate\b": "test inversion",
    r"\b(?:right|wrong) (?:decisions?|selections?)\b": "accuracy, true or false positives",
    r"\bdecides? right\b": "accuracy",
    r"\bcomes? to rest\b": "converge",
    r"\bswings? up\b": "diverge",
    r"\btold from (?:zero|chance|noise)\b": "distinguishable from",
    r"\bleft-over\b": "residual",
    r"\btraining files?\b": "training set",
    r"\bwhoever\b": "a person who",
    r"\b(?:keep|keeps|kept|keeping) (?:its|their|the|a) promises?\b": "guarantee",
    r"\bwhere to look\b": "name the place",
    r"\bin rooms\b": "module, package, layer",
    r"\bstale\b": "out of date",
    r"\bin the median\b": "the median is",
    r"\bevery second time\b": "half of the time",
}
BRITISH = {
    r"\w*colour\w*": "color",
    r"\w*favour\w*": "favor",
    r"\w*behaviour\w*": "behavior",
    r"\bneighbour\w*": "neighbor",
    r"\blicence\w*": "license",
    r"\b(?:centre|centres|centred)\b": "center",
    r"\b\w+(?:timis|inimis|aximis|ormalis|enalis)(?:e|es|ed|er|ers|ing|ation)\b": "-ize",
    r"\b\w+(?:egularis|andomis|eneralis|ummaris|nitialis)(?:e|es|ed|er|ers|ing)\b": "-ize",
    r"\banalys(?:e|ed|es the|ing)\b": "analyze",
    r"\bmodelling\b": "modeling",
    r"\blabell(?:ed|ing)\b": "labeled",
    r"\bgrey\b": "gray",
    r"\bjudgement\b": "judgment",
    r"\bwhilst\b": "while",
}
WORDS = {**COINED, **BRITISH}
# Titles and quotations keep their authors' words.
QUOTED = re.compile(r"[“\"][^“”\"\n]*[”\"]|`[^`\n]*`|\{cite\w*\}|https?://\S+|\]\([^)]*\)")


def pieces_of_python(text):
    """Comments and string constants of a Python source, with the lines they begin in."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def pieces(path):
    """What people read in a file, as pairs of a place and a text."""
    text = path.read_text(encoding="utf8")
    if path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield cell["id"], source
            elif not source.startswith("%%"):
                for _, piece in pieces_of_python(source):
                    yield cell["id"], piece
    elif path.suffix == ".py":
        yield from pieces_of_python(text)
    else:
        yield from enumerate(text.splitlines(), 1)


def files():
    """The pages, the code with its comments and messages, and the files at the top level."""
    patterns = (
        "*.md", "Makefile", ".ci/*", "book/**/*.md", "book/**/*.ipynb", "book/**/*.py",
        "book/explorables/*.js", "book/_static/*.js", "renyi_lib/**/*.py", "renyi_lib/**/*.md",
        "tests/**/*.py", "course/**/*.py", "course/**/*.md", "course/**/*.ipynb",
        "benchmarks/**/*.py",
    )  # fmt: skip
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    # The frozen rules keep their words, and so do the sentences that a test forbids.
    skipped = ("_build", ".ipynb_checkpoints", "node_modules", "rules")
    found -= {ROOT / "tests/book/test_corrected_statements.py"}
    found -= {ROOT / "tests/renyi_book/scorecard/test_rules.py"}
    return sorted(
        path
        for path in found - {Path(__file__).resolve()}
        if not any(part in path.parts for part in skipped)
    )


def complaints(path):
    """The words of the list in a file: (place, the word, what to write instead)."""
    found = []
    for place, text in pieces(path):
        plain = QUOTED.sub(" ", text) if path.suffix in {".md", ".ipynb"} else text
        for pattern, better in WORDS.items():
            for hit in re.finditer(pattern, plain, re.IGNORECASE):
                found.append((place, hit.group(), better))
    return found


def test_pages_code_and_messages_avoid_the_listed_words():
    found = {str(path.relative_to(ROOT)): list_ for path in files() if (list_ := complaints(path))}
    assert found == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "It beats its rivals."),
        ("code.py", '"""The derivative by x, in two words."""\n'),
        ("code.py", "# The colour of a line\n"),
        ("page.ipynb", '{"cells": [{"id": 1, "cell_type": "markdown", "source": ["is stale"]}]}'),
    ],
)  # fmt: skip
def test_listed_word_is_reported(name, text, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf8")
    assert len(complaints(tmp_path / name)) == 1


def test_quotations_are_exempt(tmp_path):
    (tmp_path / "page.md").write_text('The paper says "our rivals" and `colour`.', encoding="utf8")
    assert complaints(tmp_path / "page.md") == []
