"""The benchmark at equal relaxation: its readings, its shared models and its protocol."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from renyi_book.benchmark import PAIRS
from renyi_book.chapters import BOOK
from renyi_book.experiments import _benchmark as benchmark
from renyi_book.experiments import benchmark_frontier, load
from renyi_book.experiments._benchmark import METHODS, OPPORTUNITY, PARITY, TASKS, takes_part
from renyi_book.experiments._store import manifest

PROTOCOL = (BOOK / "results/benchmark_protocol.md").read_text(encoding="utf8")
# The seed of the pilot: the benchmark's own splits are for the stored table alone.
PILOT = 0
FIRST = benchmark.BENCHMARK_SEEDS.start


@pytest.fixture(scope="module")
def table():
    methods = ["unconstrained", "unconstrained, S", "label", "bias score", "plug-in"]
    methods += ["bias score, S", "plug-in, S", "thresholds, S"]
    return benchmark_frontier(
        datasets=["adult"], methods=methods, seeds=[PILOT], rounds=20, progress=False
    )


@pytest.fixture(scope="module")
def split():
    return benchmark._Split("adult", PILOT, rounds=20)


def test_splits_are_60_20_20_without_overlap(split):
    sizes = [len(rows) for rows in split.numbers.values()]
    assert sizes == [29305, 9768, 9769]
    assert len(set(np.concatenate(list(split.numbers.values())))) == 48842


def test_measures_match_scikit_learn(split, table):
    base, _ = split.base("y")
    score = base.predict_proba(split.test.X)[:, 1]
    row = table.query("method == 'unconstrained' and criterion == @PARITY").iloc[0]
    y, decision = split.test.y, score > 0.5
    assert row["accuracy"] == pytest.approx(accuracy_score(y, decision))
    assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, decision))
    assert row["auc"] == pytest.approx(roc_auc_score(y, score))
    rates = [decision[split.test.s == group].mean() for group in (0, 1)]
    assert row["start"] == pytest.approx(rates[1] - rates[0])


@pytest.mark.parametrize("criterion", [PARITY, OPPORTUNITY])
@pytest.mark.parametrize("sees", ["", ", S"])
def test_ten_line_version_agrees_with_the_library(table, criterion, sees):
    of = table.query("criterion == @criterion").set_index(["method", "level"])["accuracy"]
    ours, theirs = of[f"bias score{sees}"], of[f"plug-in{sees}"]
    assert ours.notna().any()
    np.testing.assert_allclose(ours, theirs, atol=3e-3)


def test_fairness_costs_accuracy(table):
    of = table.query("criterion == @PARITY").set_index(["method", "level"])["accuracy"]
    plain = of["unconstrained"].iloc[0]
    for method in ("label", "bias score", "plug-in, S", "thresholds, S"):
        strict_last = of[method].dropna()
        assert len(strict_last) >= 2
        assert strict_last.iloc[-1] < strict_last.iloc[0] < plain + 1e-3


def test_path_is_evaluated_where_it_first_reaches_the_level(split, monkeypatch):
    y, s = split.test.y, split.test.s

    def rule(right, women, men):
        """Decisions with given rates of the groups; the score serves as the third measure."""
        return benchmark._Rule(np.where(s == 1, men, women), np.where(y == 1, right, 0.0))

    rules = [rule(1, 0.1, 0.3), rule(1, 0.1, 0.15), rule(1, 0.1, 0.09)]
    monkeypatch.setattr(benchmark, "_path", lambda *_: (rules, 1.0))
    rows = pd.DataFrame(benchmark.split_frontier("adult", PILOT, ["label"], 20))
    of = rows.query("criterion == @PARITY").set_index("level")["accuracy"]
    first, second, third = (split.measured(each)[0] for each in rules)
    assert of[0.10] == pytest.approx((first + 2 * second) / 3)
    assert of[0.05] == pytest.approx(second)
    assert of[0.02] == pytest.approx(second + (third - second) / 2)
    assert (rows["auc"].dropna() == 1).all()


def test_no_value_if_the_start_is_fair_or_no_setting_is(split, monkeypatch):
    s = split.test.s
    rules = [benchmark._Rule(np.where(s == 1, men, 0.1), None) for men in (0.17, 0.14)]
    monkeypatch.setattr(benchmark, "_path", lambda *_: (rules, 1.0))
    rows = pd.DataFrame(benchmark.split_frontier("adult", PILOT, ["label"], 20))
    of = rows.query("criterion == @PARITY").set_index("level")["accuracy"]
    assert of.notna().to_dict() == {0.10: False, 0.05: True, 0.02: False}


def test_a_base_model_is_fitted_once_and_remembers_its_predictions(split):
    first, seconds = split.base("S")
    assert split.base("S")[0] is first
    assert seconds > 0
    assert first.predict_proba(split.test.X) is first.predict_proba(split.test.X)


def test_the_protocol_excludes_some_methods_from_some_splits():
    adult, bank, census = TASKS.values()
    assert takes_part("reduction", adult, FIRST + 9)
    assert not takes_part("reduction", adult, FIRST + 10)
    assert not takes_part("reduction", census, FIRST)
    assert takes_part("label", census, FIRST + 4)
    assert not takes_part("label", census, FIRST + 5)
    assert takes_part("bias score", census, FIRST + 29)
    assert not takes_part("FairGBM", bank, FIRST)


def test_an_unknown_method_raises():
    with pytest.raises(ValueError, match="methods must be among"):
        benchmark_frontier(methods=["magic"])


def test_external_method_without_its_interpreter_raises(monkeypatch, tmp_path):
    monkeypatch.delenv("FAIRGBM_PYTHON", raising=False)
    with pytest.raises(RuntimeError, match="FAIRGBM_PYTHON is not set"):
        benchmark.run_peer("FairGBM", tmp_path)


# --- the protocol ----------------------------------------------------------------------------


def test_the_protocol_names_every_method_and_pair():
    for method in METHODS:
        assert f"| {method} | " in PROTOCOL
    for first, second, kind in PAIRS:
        claim = {"equivalence": "equivalent", "difference": "first is more accurate"}[kind]
        assert f"| {first} | {second} | {claim} |" in PROTOCOL


def test_protocol_and_code_have_the_same_levels_trees_and_seeds():
    for text in (
        "Parity: 0.10, 0.05, 0.02 (Adult), 0.02, 0.01 (Bank), 0.03, 0.02, 0.01 (Census-Income)",
        "Opportunity: 0.05, 0.02 (Adult), 0.10, 0.05, 0.02 (Census-Income)",
        "50 rounds of 31 leaves, learning rate 0.2",
        "the seeds 200 to 229",
    ):
        assert text in PROTOCOL.replace("\n  ", " ").replace("for\n  the", "for the")
    levels = {name: task.levels for name, task in TASKS.items()}
    assert levels == {
        "adult": {PARITY: (0.10, 0.05, 0.02), OPPORTUNITY: (0.05, 0.02)},
        "bank": {PARITY: (0.02, 0.01)},
        "census-income": {PARITY: (0.03, 0.02, 0.01), OPPORTUNITY: (0.10, 0.05, 0.02)},
    }
    assert (benchmark.ROUNDS, benchmark.LEARNING_RATE) == (50, 0.2)
    assert list(benchmark.BENCHMARK_SEEDS) == list(range(200, 230))
    assert [task.smallest for task in TASKS.values()] == [0.3, 0.3, 0.1]


def test_the_stored_table_names_the_commit_of_its_protocol_and_its_splits():
    about = manifest(BOOK / "results")["benchmark_frontier"]
    stored = load("benchmark_frontier", BOOK / "results")
    assert len(about["protocol"]["commit"]) == 40
    assert stored.groupby("dataset")["seed"].nunique().to_dict() == about["splits"]
    assert {"fairgbm", "error-parity"} <= set(about["peers"])
    keys = ["dataset", "criterion", "method", "seed", "level"]
    assert not stored.duplicated(keys).any()
