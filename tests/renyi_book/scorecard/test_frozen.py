"""What was fixed before the results is unchanged, or its change is declared."""

import json
import shutil
import subprocess

import pytest
import yaml

from renyi_book.chapters import BOOK
from renyi_book.experiments import FRESH, sizes
from renyi_book.scorecard import claims, frozen
from renyi_book.scorecard.reading import FIRST_FRESH, SIZES

CLAIMS = claims()


@pytest.fixture
def path(tmp_path, monkeypatch):
    # Reading the claims and following the rules' code take seconds.
    monkeypatch.setattr(frozen, "claims", lambda: CLAIMS)
    monkeypatch.setattr(frozen, "code_checksum", lambda: "code")
    path = tmp_path / "rules.json"
    frozen.freeze(path)
    return path


def changed(monkeypatch, **fields):
    first, *others = CLAIMS
    monkeypatch.setattr(frozen, "claims", lambda: [first | fields, *others])


def test_rules_are_frozen_once(path):
    assert frozen.problems(path) == []
    with pytest.raises(FileExistsError):
        frozen.freeze(path)


def test_naming_the_commit_changes_no_checksum(path):
    before = json.loads(path.read_text())
    frozen.name("abc", path)
    assert json.loads(path.read_text()) == before | {"commit": "abc"}
    with pytest.raises(ValueError, match="is not replaced"):
        frozen.name("def", path)


@pytest.mark.parametrize(
    "fields", [{"rule": "x"}, {"smallest": {"delta": 9}}, {"reading": "another"}]
)
def test_a_changed_claim_must_declare_a_deviation(path, monkeypatch, fields):
    changed(monkeypatch, **fields)
    assert len(frozen.problems(path)) == 1
    with pytest.raises(ValueError, match="differ from the frozen ones"):
        frozen.name("abc", path)
    changed(monkeypatch, **fields, deviations=[{"what": "", "why": "", "favours": ""}])
    assert frozen.problems(path) == []


def test_place_of_a_claim_in_the_book_may_change(path, monkeypatch):
    changed(monkeypatch, chapter="errata", test="none", note="x", history=[{}])
    assert frozen.problems(path) == []


def test_missing_and_new_claims_are_reported(path, monkeypatch):
    first, *others = CLAIMS
    monkeypatch.setattr(frozen, "claims", lambda: others)
    assert frozen.problems(path) == [f"{first['id']}: the claim is missing"]
    monkeypatch.setattr(frozen, "claims", lambda: [first | {"id": "new"}, first, *others])
    assert len(frozen.problems(path)) == 1


def test_changed_code_must_declare_its_checksum(path, monkeypatch):
    monkeypatch.setattr(frozen, "code_checksum", lambda: "other")
    assert "no deviation declares it" in frozen.problems(path)[0]
    fixed = json.loads(path.read_text())
    fixed["deviations"] = [{"code": "other", "what": "", "why": "", "favours": ""}]
    path.write_text(json.dumps(fixed))
    assert frozen.problems(path) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "counts"),
    [
        (
            "judging.py",
            "ALPHA, ALPHA_EQUIVALENCE = 0.025",
            "ALPHA, ALPHA_EQUIVALENCE = 0.05",
            True,
        ),
        ("rules/_network.py", " - ", " + ", True),
        ("table.py", "def judge(evidence, listed=None):", "def judge(evidence, listed=()):", True),
        ("table.py", "def tally(shown=None,", "def tally(shown=(),", False),
        ("judging.py", "#: Placeholder for a verdict", "#: Instead of a verdict", False),
        ("judging.py", '"""Measured evidence', '"""All evidence', False),
        ("rules/_penalties.py", "no column", "there is no column", False),
    ],
)
def test_the_checksum_ignores_wording(tmp_path, file, old, new, counts):
    copied = shutil.copytree(BOOK / "renyi_book" / "scorecard", tmp_path / "scorecard")
    text = (copied / file).read_text(encoding="utf8")
    assert old in text
    (copied / file).write_text(text.replace(old, new, 1), encoding="utf8")
    assert (frozen.code_checksum(copied) != frozen.code_checksum()) == counts


def of_the_named_commit(name):
    """Return a file of the book in the commit that rules.json names; skip without that commit."""
    return of_a_commit(json.loads(frozen.RULES_FILE.read_text(encoding="utf8"))["commit"], name)


def of_a_commit(commit, name):
    command = ["git", "-C", BOOK, "show", f"{commit}:./{name}"]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf8")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git, or a clone without that commit: only the checksums are tested")


def test_checksums_match_the_named_commit():
    """The rules have not been frozen again silently."""
    now = json.loads(frozen.RULES_FILE.read_text(encoding="utf8"))
    then = json.loads(of_the_named_commit("rules.json"))
    assert (now["claims"], now["code"]) == (then["claims"], then["code"])


def test_claims_of_the_named_commit_have_the_stored_checksums():
    then = yaml.safe_load(of_the_named_commit("claims.yml"))
    fixed = json.loads(frozen.RULES_FILE.read_text(encoding="utf8"))["claims"]
    assert {claim["id"]: frozen.claim_checksum(claim) for claim in then} == fixed


def test_added_claims_match_their_named_commit():
    """Their rules were committed before they were weighed."""
    added = json.loads(frozen.RULES_FILE.read_text(encoding="utf8"))["added"]
    known = {}
    for commit in added["commits"]:
        for claim in yaml.safe_load(of_a_commit(commit, "claims.yml")):
            known.setdefault(claim["id"], set()).add(frozen.claim_checksum(claim))
    for name, checksum in added["claims"].items():
        assert checksum in known[name]


def test_changed_added_claim_is_detected(path, monkeypatch):
    first, *_ = CLAIMS
    new = first | {"id": "new", "deviations": [{"what": "", "why": "", "favours": ""}]}
    monkeypatch.setattr(frozen, "claims", lambda: [new, *CLAIMS])
    frozen.add(path)
    assert frozen.problems(path) == []
    monkeypatch.setattr(frozen, "claims", lambda: [new | {"rule": "x"}, *CLAIMS])
    assert frozen.problems(path) == ["new: differs from what was fixed when it was added"]


def test_split_sizes_match_those_assumed_by_the_rules():
    assert {name: tuple(sizes(name)) for name in SIZES} == SIZES
    assert min(FRESH) == FIRST_FRESH
