"""Check that claims.yml, the frozen rules, the stored results and the chapter agree."""

import ast
import csv
import json
from functools import cache

import pytest

from renyi_book.chapters import chapters
from renyi_book.scorecard import (
    NO_RESULT,
    VERDICTS,
    claims,
    findings,
    in_words,
    rows,
    stored,
    tally,
)
from renyi_book.scorecard.frozen import RULES_FILE, problems
from renyi_book.scorecard.page import as_shown
from renyi_book.scorecard.rules import RULES
from renyi_book.scorecard.table import SUMMARY

from . import checks

RESULTS = checks.BOOK / "results"
CLAIMS = claims()
IDS = [claim["id"] for claim in CLAIMS]
FIELDS = (
    "id part kind where claim reading estimand population direction paper smallest analysis rule "
    "test chapter seen_before deviations history"
)
# Number of rows in the first edition, whose ids are permanent.
FIRST_EDITION = 49


@pytest.fixture(scope="module")
def found():
    return findings(RESULTS, stability=False)


@pytest.fixture(scope="module")
def known():
    """The findings that `make scorecard` stored."""
    return stored(RESULTS)["findings"]


def test_claim_ids_are_unique_and_include_those_of_the_first_edition():
    assert len(set(IDS)) == len(IDS)
    old = [c for c in CLAIMS if any(one["edition"] == "first" for one in c["history"])]
    assert len(old) == FIRST_EDITION
    assert {claim["history"][0]["verdict"] for claim in old} <= set(VERDICTS)


def test_every_change_to_the_frozen_rules_is_declared():
    assert problems() == []


def test_frozen_rules_match_the_claims():
    fixed = json.loads(RULES_FILE.read_text(encoding="utf8"))
    assert set(fixed["claims"]) | set(fixed["added"]["claims"]) == set(IDS)
    assert not set(fixed["claims"]) & set(fixed["added"]["claims"])
    for told in fixed["deviations"]:
        assert set(told) >= {"code", "what", "why", "favours"}


def test_claims_have_every_field():
    kinds = {"difference", "value", "trend", "rate", "theorem", "untestable"}
    for claim in CLAIMS:
        name = claim["id"]
        assert set(FIELDS.split()) <= set(claim), name
        assert claim["kind"] in kinds, name
        assert claim["rule"] in RULES or claim["rule"] == SUMMARY, name
        assert claim["paper"]["source"] in ("text", "plot", "script"), name
        assert claim["smallest"]["delta"] > 0, name
        assert claim["smallest"]["why"], name
        assert claim["seen_before"] in ("none", "some", "all"), name
        assert claim.get("reading_of", IDS[0]) in IDS, name
        assert claim["kind"] != "untestable" or claim["reason"], name
        for told in claim["deviations"]:
            assert set(told) >= {"what", "why", "favours"}, name


@pytest.mark.parametrize("name", IDS)
def test_stored_verdicts_follow_from_the_results(name, found, known):
    assert found[name]["verdict"] in (*VERDICTS, NO_RESULT)
    for field, value in found[name].items():
        if isinstance(value, float) and known[name][field] is not None:
            assert known[name][field] == pytest.approx(value, rel=1e-3, abs=1e-6), field
        elif field.startswith("verdict"):
            assert known[name][field] == value, "run `make scorecard`"


def test_undecided_rows_state_their_power(found):
    undecided = [row for row in found.values() if row["verdict"] == "undecided"]
    assert undecided
    assert all(row["power"] for row in undecided)


def test_exported_files_match_the_rows():
    shown = rows(RESULTS)
    written = json.loads((RESULTS / "claims.json").read_text(encoding="utf8"))
    assert written == json.loads(json.dumps(shown)), "run `make scorecard`"
    with (RESULTS / "claims.csv").open(encoding="utf8") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [row["id"] for row in shown]


def test_chapter_shows_every_row():
    page = checks.read(chapters()["scorecard"].path)
    shown = "".join(
        output.data["text/html"]
        for cell in page.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    )
    for row in rows(RESULTS):
        if row["verdict"] == NO_RESULT:
            continue
        lines = [line for line in shown.split("<tr") if f'id="claim-{row["id"]}"' in line]
        assert len(lines) == 1, row["id"]
        for field in ("where", "claim", "paper_text", "ours", "verdict"):
            assert as_shown(row[field]) in lines[0], (row["id"], field)


def test_landing_page_states_the_tally_in_one_sentence():
    page = checks.read(checks.BOOK / "index.ipynb")
    told = [
        output.data["text/markdown"]
        for cell in page.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "text/markdown" in output.get("data", {})
    ]
    assert told == [f"**{in_words(tally(rows(RESULTS)))}**"]


@cache
def functions_in(path):
    tree = ast.parse((checks.ROOT / path).read_text(encoding="utf8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_claim_names_a_chapter_and_a_test():
    for claim in CLAIMS:
        assert claim["chapter"] in chapters(), claim["id"]
        if claim["test"] == "none":
            assert claim["kind"] == "untestable", claim["id"]
            continue
        path, _, name = claim["test"].partition("::")
        # A test of the claim itself, not one of the machinery that weighs all claims.
        assert not path.endswith("test_claims.py"), claim["id"]
        assert name in functions_in(path), claim["id"]
