import numpy as np
import pandas as pd
import pytest
from scipy import stats

from renyi_book.experiments import best_at, interval, summarize


def test_interval_over_seeds_matches_student():
    values = np.random.default_rng(0).normal(size=7)
    low, high = stats.t.interval(0.9, 6, loc=values.mean(), scale=stats.sem(values))
    found = interval(values, level=0.9)
    assert found[["low", "high"]].tolist() == pytest.approx([low, high])


def test_interval_over_splits_has_the_variance_of_nadeau_and_bengio():
    values = [0.1, 0.3, 0.2, 0.4, 0.25]
    plain, corrected = interval(values), interval(values, test_share=0.5)
    ratio = (corrected["high"] - corrected["low"]) / (plain["high"] - plain["low"])
    assert ratio == pytest.approx(np.sqrt(1 + 5 * 0.5))


@pytest.mark.parametrize("values", [[1.0], [], [1.0, np.nan], [[1.0, 2.0]]])
def test_an_interval_needs_two_finite_numbers(values):
    with pytest.raises(ValueError, match="two or more finite numbers"):
        interval(values)


def test_a_summary_has_an_interval_for_each_group_and_column():
    table = pd.DataFrame(
        {"m": list("aabb"), "lam": [1, 1, 1, 1], "x": [1.0, 3, 5, 7], "y": [0.0, 0, 1, 1]}
    )
    found = summarize(table, ["m", "lam"], ["x", "y"])
    assert found.index.names == ["m", "lam"]
    assert found.loc[("b", 1), ("x", "mean")] == 6
    assert found.loc[("a", 1), ("y", "high")] == 0
    assert found.loc[("a", 1), "x"].tolist() == pytest.approx(interval([1, 3]).tolist())
    alone = summarize(table, ["m"], ["x"])
    assert alone.index.tolist() == ["a", "b"]
    assert alone.index.name == "m"


def test_best_accuracy_considers_only_points_that_are_fair_enough():
    curve = pd.DataFrame({"gap": [0.2, 0.1, 0.05], "accuracy": [0.9, 0.85, 0.86]})
    assert best_at(curve, "gap", 0.1, greater_is_fairer=False) == 0.86
    assert np.isnan(best_at(curve, "gap", 0.01, greater_is_fairer=False))
