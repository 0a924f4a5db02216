"""Rows of the scorecard: findings, families, readings, universes, tallies and exports."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from renyi_book.scorecard import (
    NO_RESULT,
    VERDICTS,
    claims,
    export,
    findings,
    forest,
    headline,
    in_words,
    judge,
    multiverse,
    rows,
    sensitivity,
    shares,
    stable,
    standing,
    statistics,
    store,
    tally,
    weigh,
)
from renyi_book.scorecard import judging as j
from renyi_book.scorecard import table as t
from renyi_book.scorecard.figure import name_in_words
from renyi_book.scorecard.page import as_shown
from renyi_book.scorecard.thresholds import DEFAULT, variations

from . import simulated as sim
from .test_rules import CASES, CLAIMS, NO, OPEN, YES

FIGURE_1C = [CLAIMS[f"eo-beats-{m}"] for m in ("hardt", "zafar", "rezaei", "donini")]


def tables_of(listed, outcomes):
    """Return tables with the given outcomes; several baselines share one table."""
    found = {}
    for claim, outcome in zip(listed, outcomes):
        for name, table in CASES[claim["rule"]](claim, outcome).items():
            old = found.get(name)
            shared = name == "equal_opportunity_rivals" and old is not None
            found[name] = pd.concat([old, table]) if shared else table
    return found


@pytest.fixture(scope="module")
def four():
    """Return tables with two baselines that Rényi beats, one that it does not, one undecided."""
    return tables_of(FIGURE_1C, (YES, YES, NO, OPEN))


def test_findings_have_verdicts_numbers_power_and_stability(four):
    found = findings(four, FIGURE_1C)
    verdicts = [found[claim["id"]]["verdict"] for claim in FIGURE_1C]
    assert verdicts == [j.HOLDS, j.HOLDS, j.FAILS, j.UNDECIDED]
    hardt, donini = found["eo-beats-hardt"], found["eo-beats-donini"]
    assert hardt["estimate"] == pytest.approx(5.55, abs=0.01)
    assert hardt["n"] == 30
    assert hardt["low"] < hardt["estimate"] < hardt["high"]
    assert hardt["left"] + hardt["within"] + hardt["right"] == pytest.approx(1, abs=1e-5)
    assert "power" not in hardt
    assert "would decide the row" in donini["power"]
    assert hardt["stable"] == 1
    json.dumps(found, allow_nan=False)


def test_the_family_is_adjusted_by_holm():
    """Each lead is barely positive and would hold alone, but none holds after adjustment."""
    half = 0.3
    listed = FIGURE_1C
    table = []
    for seed, claim in enumerate(listed):
        ahead = half * 1.15 + sim.normal(30, seed) * half / 2.05 * np.sqrt(1 / (1 / 30 + 0.625))
        method = claim["options"]["method"]
        rival = sim.rivals(method, 0.84, 0.01)
        test = rival["rows"] == "test"
        moved = rival.loc[test, "seed"].map(dict(zip(sim.SEEDS, ahead))).fillna(0) / 100
        rival.loc[test, "accuracy"] -= moved
        table.append(rival)
    tables = {
        "equal_opportunity": sim.opportunity((0.84, 0.01)),
        "equal_opportunity_rivals": pd.concat(table),
    }
    judged = judge(weigh(tables, listed), listed)
    assert {alone for _, alone in judged.values()} == {j.HOLDS}
    assert {together for together, _ in judged.values()} == {j.UNDECIDED}


def test_sentence_states_the_count_of_every_verdict():
    counts = dict.fromkeys((*VERDICTS, NO_RESULT), 2)
    sentence = in_words(counts)
    assert sentence.startswith("Of 12 claims, 2 hold, 2 hold in part, 2 do not hold, ")
    assert sentence.count("2 ") == 7
    assert in_words({"undecided": 1}) == "Of 1 claim, 1 is undecided."


def test_a_row_without_an_interval_stays_in_its_family():
    """A row that could not be measured must not make the evidence on others look stronger."""
    barely = j.difference(0.9 + sim.normal(30) * 2.0, 0.3, "x")
    listed = [{"id": name, "rule": "x", "analysis": {"family": "f"}} for name in "abc"]
    open_ = j.undecided("no comparison", 0.3, 0)
    assert judge({"a": barely}, listed[:1])["a"][0] == j.HOLDS
    judged = judge({"a": barely, "b": open_, "c": open_}, listed)
    assert judged["a"] == (j.UNDECIDED, j.HOLDS)


def test_a_summary_claim_counts_the_verdicts_of_its_parts(four):
    summary = CLAIMS["favourable-performance"]
    short = summary | {"options": {"of": [claim["id"] for claim in FIGURE_1C]}}
    found = findings(four, [*FIGURE_1C, short], stability=False)[summary["id"]]
    assert found["ours"] == "4 comparisons: 2 holds, 1 does not hold, 1 undecided"
    assert found["verdict"] == j.PART


def reading(name, words=None, of=None):
    return {"id": name} | ({"words": words} if words else {}) | ({"reading_of": of} if of else {})


def test_reading_fixed_by_the_words_is_counted_or_else_the_most_favorable():
    open_ = [reading("a"), reading("b", of="a"), reading("c", of="a")]
    found = {"a": j.FAILS, "b": j.UNDECIDED, "c": j.UNDECIDED}
    assert t.counted(open_, found) == {"a": "b"}
    fixed = [reading("a", words="x"), *open_[1:]]
    assert t.counted(fixed, found) == {"a": "a"}
    two = [*open_[:2], reading("c", words="x", of="a"), reading("d", words="x", of="a")]
    assert t.counted(two, found | {"d": j.PART}) == {"a": "d"}


def test_the_strictest_tally_takes_the_least_favorable_reading():
    shown = [
        {"counted": "a", "verdict": j.HOLDS},
        {"counted": "a", "verdict": j.FAILS},
        {"counted": "b", "verdict": j.UNDECIDED},
    ]
    assert t.strictest(shown) == {j.FAILS: 1, j.UNDECIDED: 1}


def test_equivalences_form_a_separate_family():
    """They are judged at 5 %, differences at 2.5 %."""
    listed = [{"id": name, "rule": "x", "analysis": {"family": "f"}} for name in "abc"]
    barely = j.difference(0.9 + sim.normal(30) * 2.0, 0.3, "x")
    other = j.equivalence(sim.normal(30), 0.3, "x")
    alike = {"a": barely, "b": barely, "c": barely}
    assert judge(alike, listed)["a"] == (j.UNDECIDED, j.HOLDS)
    assert judge(alike | {"b": other, "c": other}, listed)["a"] == (j.HOLDS, j.HOLDS)


def test_a_verdict_that_depends_on_few_splits_is_reported():
    """Some draws of the thirty splits exclude 0, and others do not."""
    values = 0.9 + sim.normal(30, 3) * 2.3
    evidence = {"a": j.difference(values, 0.3, "x", seeds=sim.SEEDS)}
    listed = [{"id": "a", "rule": "x", "analysis": {}}]
    assert 0 < stable(evidence, listed)["a"] < 1
    firm = {"a": j.difference(values + 9, 0.3, "x", seeds=sim.SEEDS)}
    assert stable(firm, listed) == {"a": 1.0}
    assert stable({"a": j.exact(True, "x")}, listed) == {}


def test_sensitivity_lists_the_verdicts_that_change():
    claim = CLAIMS["eo-slight-price"]
    table = sim.opportunity((0.85 - 0.008, 0.001))
    last = table["lam"] > 0
    table.loc[last, "accuracy"] += 1e-5 * table.loc[last, "seed"].map(sim.Z)
    turned = sensitivity({"equal_opportunity": table}, [claim])
    found = {(row["threshold"], row["value"]): row["becomes"] for row in turned}
    assert found["slight_points", 0.5] == j.FAILS
    assert all(name in ("slight_points", "effect_scale") for name, _ in found)


def test_every_threshold_has_a_reason_and_two_other_values():
    names = [name for name, _, _ in variations()]
    assert len(names) == 2 * len(set(names))
    for name, value, varied in variations():
        assert getattr(varied, name) == value != getattr(DEFAULT, name)
        assert DEFAULT.__dataclass_fields__[name].metadata["why"]


def test_without_results_every_measured_row_has_no_verdict():
    found = findings({}, stability=False)
    assert set(found) == {claim["id"] for claim in claims()}
    assert found["adult-beats-hsic"]["verdict"] == NO_RESULT
    assert found["favourable-performance"]["verdict"] == NO_RESULT
    assert found["lower-bound"]["verdict"] == j.UNTESTABLE
    assert found["zero-iff-independent"]["verdict"] == j.HOLDS


@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        ([j.HOLDS] * 7 + [j.FAILS] * 5, j.HOLDS),
        ([j.HOLDS] * 2 + [j.FAILS] * 10, j.PART),
        ([j.FAILS] * 7 + [j.UNDECIDED] * 5, j.FAILS),
        ([j.FAILS] * 5 + [j.UNDECIDED] * 7, j.UNDECIDED),
        ([j.HOLDS] * 11 + [NO_RESULT], NO_RESULT),
    ],
)
def test_general_claim_is_judged_by_the_comparisons(of, verdict):
    assert t._summary(of) == verdict


def universe(claim, values, name="as in the book", rows="test", dataset="adult"):
    """Return a universe of the multiverse, with a row for each seed."""
    known = values if isinstance(values, dict) else {"value": values}
    return pd.DataFrame(
        {"claim": claim, "universe": name, "dataset": dataset, "rows": rows}
        | {"seed": range(130, 136)}
        | known
    )


EVEN = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])


def test_universes_are_judged_like_the_rows():
    table = pd.concat(
        [
            universe("adult-beats-hsic", 0.5 + 0.1 * EVEN),
            universe("adult-beats-hsic", 0.1 + EVEN, "other"),
            universe("eo-test-to-zero", 0.005 * EVEN),
            universe("eo-test-to-zero", 0.1 + 0.005 * EVEN, "other"),
            universe("clusters-loss-small", 1.05 + 0.01 * EVEN, rows=None),
            universe("clusters-loss-small", 1.5 + 0.1 * EVEN, "other", rows=None),
            universe("clusters-loss-drastic", 8 + EVEN, rows=None),
            universe("bank-beats-hsic", [0.5, *5 * [np.nan]], dataset="bank"),
            universe("no-such-claim", EVEN),
        ]
    )
    found = multiverse(table)
    wanted = [j.HOLDS, j.UNDECIDED, j.HOLDS, j.FAILS, j.HOLDS, j.FAILS, j.HOLDS, j.UNDECIDED]
    assert found["verdict"].tolist() == wanted
    assert found["n"].tolist() == 7 * [6] + [1]
    assert found["estimate"][5] == pytest.approx(1 + DEFAULT.small_loss - 1.5)
    hsic = shares(found)["adult-beats-hsic"]
    assert hsic == {"n": 2, "median": 0.3, j.HOLDS: 0.5, j.UNDECIDED: 0.5}


def test_limits_of_a_universe_have_the_interval_of_the_rules():
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.2, 0.3, size=(2, 6, 4))
    sizes = np.array([100, 400, 300, 500])
    columns = {
        **{f"ours_{g}": rates[0, :, g] for g in range(4)},
        **{f"theirs_{g}": rates[1, :, g] for g in range(4)},
        **{f"n_{g}": sizes[g] for g in range(4)},
    }
    table = universe("german-limit-hsic", columns, dataset="german")
    found = multiverse(table).iloc[0]
    same = statistics.fold(statistics.gaps(rates[1]), statistics.gaps(rates[0]), 200 / 640)
    assert [found["estimate"], found["low"], found["high"]] == pytest.approx(same[:3])
    # Two groups are compared by log ratios.
    two = {key: value for key, value in columns.items() if key[-1] in "01"}
    found = multiverse(universe("adult-limit-hsic", two)).iloc[0]
    theirs, ours = (
        statistics.signed(statistics.log_ratio(by[:, 1], 400, by[:, 0], 100)) for by in rates[::-1]
    )
    assert found["low"] == pytest.approx(statistics.fold(theirs, ours, 16281 / 26048).low)


# --- What the book shows ---


@pytest.fixture
def folder(tmp_path, four):
    """Stored findings for four rows; the others have none."""
    found = findings(four, FIGURE_1C, stability=False)
    store({"findings": found, "multiverse": {"eo-beats-hardt": {"n": 3}}}, tmp_path)
    return tmp_path


def test_rows_have_claims_and_findings(folder):
    shown = {row["id"]: row for row in rows(folder)}
    assert "eo-lambda-unit" not in shown
    assert "eo-lambda-unit" in {row["id"] for row in rows(folder, retired=True)}
    hardt = shown["eo-beats-hardt"]
    assert (hardt["verdict"], hardt["multiverse"]) == (j.HOLDS, {"n": 3})
    assert hardt["paper_text"] == "5.55 points ahead"
    assert hardt["link"].endswith("equality-of-opportunity.html")
    assert shown["adult-beats-hsic"]["verdict"] == NO_RESULT
    # Without a result for the reading that the words fix, it is still the one that is counted.
    assert shown["eo-beats-hardt-interpolated"]["primary"]
    assert hardt["counted"] == "eo-beats-hardt-interpolated"


def test_the_tally_counts_every_claim_once(folder):
    shown = rows(folder)
    assert sum(tally(shown, primary=False).values()) == len(shown)
    assert sum(tally(shown).values()) == sum(row["primary"] for row in shown)
    assert sum(tally(shown).values()) == len({row["counted"] for row in shown})
    assert set(tally(shown)) <= {*VERDICTS, NO_RESULT}


def test_headline_results_are_adjusted_for_all_rows(folder):
    shown = [row | {"primary": True} for row in rows(folder)]
    assert headline(shown) == {"measured": 4, "supported": 2, "opposed": 1}
    assert headline([]) == {"measured": 0, "supported": 0, "opposed": 0}


def test_the_exports_agree_with_the_rows(folder):
    shown = rows(folder)
    as_csv, as_json = export(folder, shown)
    with as_csv.open(encoding="utf8") as file:
        lines = list(csv.DictReader(file))
    assert [line["id"] for line in lines] == [row["id"] for row in shown]
    assert [line["verdict"] for line in lines] == [row["verdict"] for row in shown]
    written = json.loads(as_json.read_text(encoding="utf8"))
    assert [row["id"] for row in written] == [row["id"] for row in shown]
    hardt = next(row for row in written if row["id"] == "eo-beats-hardt")
    assert hardt["estimate"] == pytest.approx(5.55, abs=0.01)


def test_each_claim_has_a_name_of_its_own_in_figures():
    names = {claim["id"]: name_in_words(claim["id"]) for claim in claims()}
    assert len(set(names.values())) == len(names)
    assert names["adult-beats-hsic"] == "Adult beats HSIC"
    assert not any("-" in name for name in names.values())


def test_the_forest_has_a_line_for_each_row_with_an_interval(folder):
    shown = rows(folder)
    fig = forest(shown)
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert set(labels) == {name_in_words(claim["id"]) for claim in FIGURE_1C}
    hardt = next(row for row in shown if row["id"] == "eo-beats-hardt")
    assert standing(hardt)["paper"] == pytest.approx(5.55 / 0.3)
    assert standing({"estimate": None}) is None


@pytest.mark.parametrize(
    ("frozen", "shown"),
    [
        ("rival", "other method"),
        ("rivals", "other methods"),
        ("set-up", "setup"),
        ("normalised", "normalized"),
        ("centres", "centers"),
        ("gap < 1", "gap &lt; 1"),
        ("arrivals", "arrivals"),
    ],
)
def test_frozen_texts_are_shown_in_the_words_of_the_book(frozen, shown):
    assert as_shown(frozen) == shown
