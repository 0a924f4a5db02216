"""Errata, scorecard and letter agree on each sentence, and numbers of entries are permanent."""

import re

import pytest

from renyi_book.chapters import chapters
from renyi_book.scorecard import VERDICTS
from renyi_book.scorecard import rows as scorecard_rows

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
    """The table: number of the entry -> merged numbers, where, kind, suggestion, rows, chapter."""
    pattern = (
        r"^\| \{ref\}`([ER]\d+) <errata-\w+>`((?:, E\d+)*) \| (.+?) \| (.+?) \| (.+) "
        r"\| (.*) \| \{numref\}`%s <ch-([\w-]+)>` \|$"
    )
    found = re.findall(pattern, text, re.MULTILINE)
    return {
        name: (re.findall(r"E\d+", also), where, kind, suggestion, listed, chapter)
        for name, also, where, kind, suggestion, listed, chapter in found
    }


def headings(text):
    """The entries, in order: number -> merged numbers; each must carry its label."""
    pattern = r"^\(errata-(\w+)\)=\n### ([ER]\d+)(?: \(with ([E\d, ]+)\))?\. \S"
    found = re.findall(pattern, text, re.MULTILINE)
    assert all(label == name.lower() for label, name, _ in found)
    return {name: re.findall(r"E\d+", also) for _, name, also in found}


TABLE, ENTRIES = rows(TEXT), headings(TEXT)


def test_table_lists_the_entries_in_order():
    assert {name: row[0] for name, row in TABLE.items()} == ENTRIES
    assert list(TABLE) == list(ENTRIES)
    assert len(ENTRIES) == len(re.findall(r"^### [ER]\d", TEXT, re.MULTILINE))


def test_published_erratum_numbers_still_exist_and_are_unique():
    numbers = [n for name, also in ENTRIES.items() for n in (name, *also)]
    entries = sorted(int(n[1:]) for n in numbers if n.startswith("E"))
    assert entries == list(range(1, len(entries) + 1))
    assert len(entries) >= 59
    assert [n for n in numbers if n.startswith("R")] == ["R1", "R2", "R3", "R4"]


@pytest.mark.parametrize("name", list(TABLE))
def test_entries_have_a_kind_a_suggestion_and_a_chapter(name):
    _, where, kind, suggestion, _, chapter = TABLE[name]
    assert kind in KINDS
    assert where.strip()
    assert suggestion.strip()
    assert chapter in chapters()


def test_entries_on_code_name_file_and_line():
    for name, (_, where, kind, *_) in TABLE.items():
        if kind == "code differs":
            start = TEXT.index(f"\n### {name}")
            entry = where + TEXT[start : TEXT.find("\n### ", start + 5)]
            assert re.search(r"`[\w/]+\.py`", entry), name
            assert re.search(r"\blines? \d+", entry), name


def test_other_pages_refer_to_existing_entries():
    known = {n for name, also in ENTRIES.items() for n in (name, *also)}
    for page in checks.page_paths():
        text = "\n".join(c.source for c in checks.read(page).cells)
        for passage in re.findall(r"<?ch-errata>?`(?:, | \()?((?:E\d+(?:,| and)? ?)+)", text):
            assert set(re.findall(r"E\d+", passage)) <= known, page.name


# --- One verdict for each sentence of the paper ------------------------------------------------

SHOWN = {row["id"]: row for row in scorecard_rows(checks.BOOK / "results")}
# Verdicts that are consistent with each kind of entry. A wrong statement cannot hold, and only a
# wrong statement may be said not to hold.
ALLOWED = {
    "wrong statement": {"does not hold", "holds in part"},
    "right": {"holds"},
    "typo": {"holds"},
    "proof gap": {"holds", "holds in part", "cannot be tested"},
    "ambiguous": {"holds", "holds in part", "undecided", "cannot be tested"},
    "not reproducible from the text": {"holds", "holds in part", "undecided", "cannot be tested"},
}


def linked():
    """Return {entry: counted rows of the sentences whose claims name it}."""
    found = {}
    for row in SHOWN.values():
        for entry in row.get("errata", []):
            found.setdefault(entry, []).append(SHOWN[row["counted"]])
    return found


def test_claims_refer_to_existing_entries():
    assert set(linked()) <= set(TABLE)


@pytest.mark.parametrize("name", list(TABLE))
def test_table_shows_the_verdicts_of_the_scorecard(name):
    told = re.findall(r"`([\w-]+)`: ([a-z ]+)", TABLE[name][4])
    assert told == [(row["id"], row["verdict"]) for row in linked().get(name, [])]


@pytest.mark.parametrize("name", list(linked()))
def test_kind_of_an_entry_is_consistent_with_the_verdict(name):
    kind = TABLE[name][2]
    for row in linked()[name]:
        assert row["verdict"] in ALLOWED[kind], row["id"]


def test_mathematical_claims_that_fail_have_an_entry():
    parts = ("the measure", "theorems and algorithms")
    false = [r for r in SHOWN.values() if r["primary"] and r["verdict"] == "does not hold"]
    assert all(row.get("errata") for row in false if row["part"] in parts)


def test_entries_refer_to_existing_scorecard_rows():
    named = set(
        re.findall(
            r"`((?:eo|bank|german|gender|limit|clusters|overhead|solved)-[a-z0-9-]+)`", TEXT
        )
    )
    assert len(named) > 10
    assert named <= set(SHOWN)


def test_entries_state_which_reading_is_counted():
    """If a row that an entry names is not counted, the entry names the one that is."""
    for start in re.finditer(r"^### ([ER]\d+)", TEXT, re.MULTILINE):
        entry = TEXT[start.start() : TEXT.find("\n### ", start.end())]
        for name in set(re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", entry)) & set(SHOWN):
            counted = SHOWN[name]["counted"]
            table = TABLE[start.group(1)][4]
            assert f"`{counted}`" in entry or f"`{counted}`" in table, (start.group(1), name)


WORDS = dict(
    enumerate(
        [
            "none",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
)


def test_letter_states_the_outcome_of_the_comparisons():
    of = [SHOWN[SHOWN[n]["counted"]] for n in SHOWN["favourable-performance"]["options"]["of"]]
    count = {v: WORDS[sum(r["verdict"] == v for r in of)] for v in VERDICTS}
    told = " ".join(LETTER.split())
    assert f"Of the {WORDS[len(of)]} comparisons" in told
    assert f"{count['holds']} holds in our runs" in told
    no = f"{count['does not hold'].capitalize()} do not hold, because our intervals exclude a lead"
    assert f"{no} that matters" in told
    assert f"and {count['undecided']} are undecided" in told
    assert count["holds in part"] == "none"
    (holds,) = (row for row in of if row["verdict"] == "holds")
    assert holds["id"] == "adult-beats-hsic-interpolated"
    limits = [
        r["id"]
        for r in SHOWN.values()
        if r["primary"]
        and r["rule"] in ("gets_farther", "ends_fairer")
        and r["verdict"] == "holds"
        and "covariance" not in r["id"]
    ]
    assert sorted(limits) == [
        "adult-limit-pearson-boundary",
        "gender-race-limit-hsic-number-end",
        "gender-race-limit-pearson-number-end",
    ]


def test_all_pages_give_the_same_verdict_on_vanishing_violation():
    """The scorecard, entry E27, the chapter and the letter agree on the caption of Fig. 1."""
    counted = {SHOWN[f"eo-{rows}-to-zero"]["counted"] for rows in ("train", "test")}
    assert counted == {"eo-train-to-zero", "eo-test-to-zero"}
    (verdict,) = {SHOWN[name]["verdict"] for name in counted}
    soft = SHOWN["eo-train-to-zero-soft"]["verdict"]
    pages = {
        "E27": TEXT[TEXT.index("### E27") : TEXT.index("### E28")],
        "letter": LETTER,
        "chapter": "\n".join(
            c.source for c in checks.read(chapters()["equality-of-opportunity"].path).cells
        ),
    }
    said = {
        "E27": f'"goes to 0" is {verdict} on the training rows (`eo-train-to-zero`) and on the '
        "test rows (`eo-test-to-zero`)",
        "letter": f"the violation goes to 0 is {verdict} for the thresholded label, although "
        f"it {soft} for the randomized label on the training rows",
        "chapter": f'"goes to 0" is *{verdict}* for the decision',
    }
    for name, sentence in said.items():
        assert sentence in " ".join(pages[name].split()), name


def test_letter_is_short_and_complete():
    assert len(LETTER.split()) < 700
    questions, corrections = (
        re.findall(r"^\d\. ", LETTER[LETTER.index(start) :].split("\n\n**")[0], re.MULTILINE)
        for start in ("Five questions", "Five corrections")
    )
    assert (len(questions), len(corrections)) == (5, 5)
    for asked in ("Fig. 1 (c)", "four groups", "kernel"):
        assert asked in LETTER[LETTER.index("Five questions") : LETTER.index("Five corrections")]
    assert "letter-to-the-authors" in TEXT
