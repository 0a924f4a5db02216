"""Equalized odds in the benchmark: its violation, its readings and its protocol."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import equalized_odds_difference

from renyi_book.benchmark import LABELS, ODDS_PAIRS, odds_table, verdicts
from renyi_book.chapters import BOOK
from renyi_book.experiments import _benchmark, _odds, benchmark_odds, load
from renyi_book.experiments._store import manifest

PROTOCOL = (BOOK / "results/benchmark_protocol.md").read_text(encoding="utf8")
EXTENSION = PROTOCOL.split("## An extension: equalized odds")[1]
# The seed of the pilot: the benchmark's own splits are for the stored table alone.
PILOT = 0


@pytest.fixture(scope="module")
def split():
    return _benchmark._Split("adult", PILOT, rounds=20)


def rule(split, rates):
    """Return decisions with given probabilities, by class and group."""
    return _benchmark._Rule(np.array(rates)[split.test.y, split.test.s], None)


def test_violation_matches_fairlearn(split):
    base, _ = split.base("y")
    decision = base.predict(split.test.X)
    found = _odds.differences(split, _benchmark._Rule(decision.astype(float), None))
    expected = equalized_odds_difference(split.test.y, decision, sensitive_features=split.test.s)
    assert np.abs(found).max() == pytest.approx(expected)


def test_path_is_evaluated_on_mixtures_of_its_rules(split):
    # The differences (FPR, TPR) go from (0.038, 0.10) to (0.038, -0.10) and then to (0, 0), so the
    # larger one is 0.06 and 0.04 at 0.2 and 0.3 of the way to the second rule.
    rules = [
        rule(split, [[0.1, 0.138], [0.5, 0.6]]),
        rule(split, [[0.1, 0.138], [0.5, 0.4]]),
        rule(split, [[0.1, 0.1], [0.5, 0.5]]),
    ]
    first, second, third = (np.array(split.measured(each)[:2]) for each in rules)
    read = _odds.read_at(split, rules, 0.06)
    np.testing.assert_allclose(read, first + 0.2 * (second - first), atol=1e-9)
    read = _odds.read_at(split, rules, 0.04)
    np.testing.assert_allclose(read, first + 0.3 * (second - first), atol=1e-9)
    read = _odds.read_at(split, rules, 0.02)
    np.testing.assert_allclose(read, second + 0.8 * (third - second), atol=1e-9)


def test_no_value_if_the_start_is_fair_or_no_setting_is(split):
    fair, unfair = rule(split, [[0.1, 0.1], [0.5, 0.5]]), rule(split, [[0.1, 0.1], [0.5, 0.6]])
    assert np.isnan(_odds.read_at(split, [fair, unfair], 0.05)).all()
    assert np.isnan(_odds.read_at(split, [unfair, unfair], 0.05)).all()


def test_methods_start_at_the_unconstrained_model_and_become_fairer():
    methods = ["unconstrained", "label", "bias score", "unconstrained, S", "bias score, S"]
    table = benchmark_odds(methods=methods, seeds=[PILOT], rounds=20, progress=False)
    start = table.groupby("method")["start"].first()
    assert start["label"] == start["bias score"] == start["unconstrained"]
    assert start["bias score, S"] == start["unconstrained, S"]
    loose = table[table["level"] == 0.05].set_index("method")["accuracy"]
    plain = table[table["level"].isna()].set_index("method")["accuracy"]
    assert loose.notna().all()
    assert (loose < plain.max() + 5e-3).all()
    assert (loose > plain.min() - 2e-2).all()


def test_the_protocol_names_every_method_pair_level_and_lambda():
    for method in _odds.ODDS_METHODS:
        assert f"| {method} |" in EXTENSION
    for first, second, kind in ODDS_PAIRS:
        claim = {"equivalence": "equivalent", "difference": "first is more accurate"}[kind]
        assert f"| {first} | {second} | {claim} |" in EXTENSION
    assert "levels are 0.05 and\n  0.03" in EXTENSION
    assert _odds.ODDS_LEVELS == (0.05, 0.03)
    lams = ", ".join(map(str, _odds.ODDS_LAMS))
    assert EXTENSION.count(lams) == 2
    assert ", ".join(map(str, _odds.ODDS_BOUNDS)) in EXTENSION


def test_the_stored_table_names_the_commit_of_its_rules_and_its_splits():
    about = manifest(BOOK / "results")["benchmark_odds"]
    stored = load("benchmark_odds", BOOK / "results")
    assert len(about["protocol"]["commit"]) == 40
    assert about["splits"] == {"adult": stored["seed"].nunique()}
    assert "error-parity" in about["peers"]
    assert not stored.duplicated(["method", "seed", "level"]).any()
    assert set(stored["method"]) == set(_odds.ODDS_METHODS)


def test_the_table_has_full_labels_and_the_reference_in_percent():
    rows = [
        {"method": method, "seed": seed, "level": level, "accuracy": accuracy + seed / 1e4}
        for seed in range(5)
        for method, level, accuracy in (
            ("unconstrained", np.nan, 0.87),
            ("label", 0.05, 0.872),
            ("bias score", 0.05, 0.87),
        )
    ]
    table = pd.DataFrame(rows).assign(dataset="adult", criterion=_odds.ODDS, cpu_seconds=1.0)
    shown = odds_table(table)
    column = shown["Adult, equalized odds 0.05"]
    assert column[LABELS["bias score"]] == "87.02 (5)"
    assert column[LABELS["label"]] == "+0.20 [+0.20, +0.20] (5)"
    assert column[LABELS["unconstrained"]] == "87.02 without a constraint"
    (row,) = verdicts(table, ODDS_PAIRS).to_dict("records")
    assert (row["first"], row["verdict"]) == ("label", "holds")
