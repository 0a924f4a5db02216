import numpy as np
import pandas as pd
import pytest

from renyi_book.experiments import _multiverse, multiverse
from renyi_book.experiments._multiverse import (
    BASE,
    FITTED,
    _accuracy,
    _data,
    _end,
    _integers,
    _lead,
)
from renyi_book.experiments._splits import encoded_rows


@pytest.fixture(scope="module")
def german():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_multiverse, "LAMS", (0, 10))
        patch.setattr(_multiverse, "AUTHORS_LAMS", (0, 100))
        return multiverse(
            panels=["german"], opportunity=False, clusters=False, seeds=[0, 1], progress=False
        )


def test_every_universe_has_a_unique_name(german):
    assert not german.duplicated(["claim", "universe", "seed"]).any()
    assert set(german["claim"]) == {
        f"german-{what}-{rival}" for what in ("beats", "limit") for rival in ("pearson", "hsic")
    }
    assert (german.groupby(["claim", "universe"])["seed"].nunique() == 2).all()


def test_limits_have_rates_by_group_and_leads_have_a_value(german):
    limits = german["claim"].str.contains("limit")
    rates = german.filter(regex=r"^(ours|theirs)_\d$")
    assert rates.shape[1] == 8
    assert rates[limits].notna().all(axis=None)
    assert rates[limits].stack().between(0, 1).all()
    assert rates[~limits].isna().all(axis=None)
    assert german.loc[limits, "value"].isna().all()
    assert german.loc[~limits, "value"].notna().any()
    people = german.filter(regex=r"^n_\d$")[limits].sum(axis=1)
    assert set(people.groupby(german["rows"]).first()) == {200, 640}


def test_universes_include_the_analysis_of_the_book(german):
    own = german.query("universe == 'as in the book' and seed == 0").set_index("claim")
    assert len(own) == german["claim"].nunique()
    assert (own[list(BASE)] == pd.Series(BASE)).all(axis=None)
    assert set(own["rows"]) == {"test"}
    assert own.loc["german-beats-hsic", ["bandwidth", "level"]].tolist() == [0.25, 0.08]


def test_universes_change_one_decision_at_a_time():
    for fitted in FITTED[1:]:
        assert sum(fitted[key] != BASE[key] for key in BASE) == 1


def test_a_split_does_not_depend_on_other_splits(monkeypatch):
    monkeypatch.setattr(_multiverse, "LAMS", (0, 10))
    options = {"panels": ["german"], "opportunity": False, "clusters": False, "progress": False}
    options["fitted"] = [BASE | {"encoding": "integers"}]
    two = multiverse(seeds=[0, 1], **options).query("seed == 1").reset_index(drop=True)
    alone = multiverse(seeds=[1], **options)
    pd.testing.assert_frame_equal(two, alone[two.columns], check_exact=False, atol=1e-12)


CURVE = {
    "validation": pd.DataFrame({"p_rule": [0.4, 0.85, 0.7], "accuracy": [0.9, 0.86, 0.8]}),
    "test": pd.DataFrame({"p_rule": [0.4, 0.6, 0.9], "accuracy": [0.91, 0.87, 0.81]}),
}


@pytest.mark.parametrize(
    ("reading", "accuracy"),
    [("validation", 0.87), ("interpolated", 0.83), ("best on grid", 0.81)],
)
def test_curve_is_evaluated_at_the_requested_fairness(reading, accuracy):
    assert _accuracy(CURVE, "p_rule", 0.8, reading, "test") == pytest.approx(accuracy)


def test_without_a_fair_point_the_fairest_or_no_point_is_used():
    assert _accuracy(CURVE, "p_rule", 0.95, "validation", "test") == pytest.approx(0.87)
    assert np.isnan(_accuracy(CURVE, "p_rule", 0.95, "interpolated", "test"))
    assert np.isnan(_accuracy(CURVE, "p_rule", 0.95, "best on grid", "test"))


def test_a_split_that_starts_fair_is_left_out_at_equal_fairness():
    other = {rows: points.assign(accuracy=0.5) for rows, points in CURVE.items()}
    lead = _lead(CURVE, other, "p_rule", 0.8, "interpolated", "test")
    assert lead == pytest.approx(33.0)
    assert np.isnan(_lead(CURVE, other, "p_rule", 0.4, "interpolated", "test"))
    assert _lead(CURVE, other, "p_rule", 0.4, "best on grid", "test") == pytest.approx(41.0)


@pytest.mark.parametrize(
    ("reading", "p"), [("validation", 0.6), ("largest lam", 0.9), ("best on grid", 0.9)]
)
def test_end_of_a_curve_depends_on_the_reading(reading, p):
    assert _end(CURVE, "p_rule", reading, "test")["p_rule"] == p


def test_integers_encode_the_same_categories_as_indicators():
    (X, _, _), names = encoded_rows("german")
    coded = _integers("german").X
    raw = list(dict.fromkeys(name.partition("=")[0] for name in names))
    assert coded.shape == (1000, len(raw))
    column = raw.index("Attribute1")
    indicators = [j for j, name in enumerate(names) if name.startswith("Attribute1=")]
    np.testing.assert_array_equal(X[:, indicators].argmax(axis=1), coded[:, column])


def test_columns_are_scaled_by_the_training_rows():
    X = _data("german", "integers", "unit norm", 0)["train"].X
    np.testing.assert_allclose((X**2).sum(axis=0), 1)
    X = _data("german", "one-hot", "min-max", 0)["train"].X
    assert (X.min(axis=0) == 0).all()
    np.testing.assert_allclose(X.max(axis=0), 1)


def test_clusters_are_compared_with_plain_k_means(monkeypatch):
    points = {"adult": (np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2)}
    monkeypatch.setattr(_multiverse, "CLUSTERED", ["adult"])
    monkeypatch.setattr(_multiverse, "clustered_points", lambda dataset, n_rows: points[dataset])
    table = multiverse(panels=[], opportunity=False, seeds=[0, 1], progress=False)
    assert set(table["claim"]) == {"clusters-loss-small", "clusters-loss-drastic"}
    assert len(table) == 2 * 6 * 2
    # Descent starts from plain k-means and pays for fairness in loss.
    assert (table.query("algorithm == 'descent'")["value"] >= 1).all()


def test_opportunity_table_covers_every_baseline_on_training_and_test_rows(monkeypatch):
    drawn = _multiverse.split_rows

    def fewer(dataset, seed):
        return {rows: numbers[:2500] for rows, numbers in drawn(dataset, seed).items()}

    monkeypatch.setattr(_multiverse, "split_rows", fewer)
    monkeypatch.setattr(_multiverse, "LAMS", (0, 3))
    monkeypatch.setattr(_multiverse, "AUTHORS_LAMS", (0, 100))
    fitted = [BASE, BASE | {"lam_unit": "authors"}]
    table = multiverse(panels=[], clusters=False, fitted=fitted, seeds=[0, 1], progress=False)
    rivals = {f"eo-beats-{name}" for name in ("hardt", "zafar", "rezaei", "donini")}
    assert set(table["claim"]) == rivals | {"eo-train-to-zero", "eo-test-to-zero"}
    assert not table.duplicated(["claim", "universe", "seed"]).any()
    # The baselines have no lam, and so no unit of it.
    assert set(table.query("lam_unit == 'authors'")["claim"]) == set(table["claim"]) - rivals
    assert (table.query("claim == 'eo-train-to-zero'")["rows"] == "train").all()
    assert table["value"].notna().all()
