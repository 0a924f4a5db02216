"""The errata: the table, the entries and the letter say the same, and numbers are permanent."""

import re

import pytest

from renyi_book.chapters import chapters

from . import checks

NOTEBOOK = checks.read(chapters()["errata"].path)
TEXT = "\n\n".join(c.source for c in NOTEBOOK.cells if c.cell_type == "markdown")
LETTER = (checks.BOOK / "letter_to_the_authors.md").read_text(encoding="utf8")
KINDS = {
    "typo",
    "ambiguous",
    "proof gap",
    "wrong statement",
    "not reproducible from the text",
    "code differs",
    "our slip",
    "right",
}


def rows(text):
    """The table: number of the entry -> (merged numbers, where, kind, suggestion, chapter)."""
    pattern = (
        r"^\| \{ref\}`([ER]\d+) <errata-\w+>`((?:, E\d+)*) \| (.+?) \| (.+?) \| (.+) "
        r"\| \{numref\}`%s <ch-([\w-]+)>` \|$"
    )
    found = re.findall(pattern, text, re.MULTILINE)
    return {
        name: (re.findall(r"E\d+", also), where, kind, suggestion, chapter)
        for name, also, where, kind, suggestion, chapter in found
    }


def headings(text):
    """The entries, in order: number -> merged numbers; each must carry its label."""
    pattern = r"^\(errata-(\w+)\)=\n### ([ER]\d+)(?: \(with ([E\d, ]+)\))?\. \S"
    found = re.findall(pattern, text, re.MULTILINE)
    assert all(label == name.lower() for label, name, _ in found)
    return {name: re.findall(r"E\d+", also) for _, name, also in found}


TABLE, ENTRIES = rows(TEXT), headings(TEXT)


def test_the_table_lists_the_entries_in_their_order():
    assert {name: row[0] for name, row in TABLE.items()} == ENTRIES
    assert list(TABLE) == list(ENTRIES)
    assert len(ENTRIES) == len(re.findall(r"^### [ER]\d", TEXT, re.MULTILINE))


def test_every_number_that_was_given_is_still_there_once():
    numbers = [n for name, also in ENTRIES.items() for n in (name, *also)]
    entries = sorted(int(n[1:]) for n in numbers if n.startswith("E"))
    assert entries == list(range(1, len(entries) + 1))
    assert len(entries) >= 55
    assert [n for n in numbers if n.startswith("R")] == ["R1", "R2", "R3", "R4"]


@pytest.mark.parametrize("name", list(TABLE))
def test_an_entry_has_a_kind_a_suggestion_and_a_chapter(name):
    _, where, kind, suggestion, chapter = TABLE[name]
    assert kind in KINDS
    assert where.strip()
    assert suggestion.strip()
    assert chapter in chapters()


def test_an_entry_on_code_names_file_and_line():
    for name, (_, where, kind, *_) in TABLE.items():
        if kind == "code differs":
            start = TEXT.index(f"\n### {name}")
            entry = where + TEXT[start : TEXT.find("\n### ", start + 5)]
            assert re.search(r"`[\w/]+\.py`", entry), name
            assert re.search(r"\blines? \d+", entry), name


def test_other_pages_name_entries_that_exist():
    known = {n for name, also in ENTRIES.items() for n in (name, *also)}
    for page in checks.page_paths():
        text = "\n".join(c.source for c in checks.read(page).cells)
        for passage in re.findall(r"<?ch-errata>?`(?:, | \()?((?:E\d+(?:,| and)? ?)+)", text):
            assert set(re.findall(r"E\d+", passage)) <= known, page.name


def test_rows_of_the_scorecard_that_entries_name_exist():
    claims = (checks.BOOK / "claims.yml").read_text(encoding="utf8")
    named = re.findall(r"`((?:eo|bank|german|gender|limit|clusters|overhead)-[a-z0-9-]+)`", TEXT)
    assert named
    assert not [row for row in named if f"- id: {row}\n" not in claims]


def test_the_letter_is_short_and_has_its_parts():
    assert len(LETTER.split()) < 700
    questions, corrections = (
        re.findall(r"^\d\. ", LETTER[LETTER.index(start) :].split("\n\n**")[0], re.MULTILINE)
        for start in ("Three things", "Five corrections")
    )
    assert (len(questions), len(corrections)) == (3, 5)
    assert "letter-to-the-authors" in TEXT
