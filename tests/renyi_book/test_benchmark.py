"""Verdicts, table and figure that are made from the benchmark's readings."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from renyi_book.benchmark import (
    LABELS,
    compared,
    results_figure,
    results_table,
    verdicts,
)
from renyi_book.chapters import BOOK
from renyi_book.experiments import load
from renyi_book.experiments._benchmark import METHODS, PARITY
from renyi_book.scorecard.judging import FAILS, HOLDS, UNDECIDED


def readings(ahead, *, splits=30, noise=0.05, missing=0):
    """Return a table with methods that are `ahead` points ahead of the ten-line rule on Adult."""
    rng = np.random.default_rng(0)
    rows = []
    for seed in range(200, 200 + splits):
        common = 0.86 + rng.normal(scale=0.003)
        for method, points in {"plug-in": 0.0, **ahead}.items():
            accuracy = common + (points + rng.normal(scale=noise)) / 100
            if method != "plug-in" and seed < 200 + missing:
                accuracy = np.nan
            rows.append({"method": method, "seed": seed, "level": 0.05, "accuracy": accuracy})
        rows.append({"method": "unconstrained", "seed": seed, "level": np.nan, "accuracy": 0.87})
    return pd.DataFrame(rows).assign(dataset="adult", criterion=PARITY, cpu_seconds=1.0)


def verdict(table, first, second):
    (found,) = verdicts(table).query("first == @first and second == @second")["verdict"]
    return found


def test_equal_methods_are_equivalent():
    assert verdict(readings({"label": 0.0}), "label", "plug-in") == HOLDS


def test_methods_that_differ_by_more_than_the_margin_are_not_equivalent():
    assert verdict(readings({"label": -1.0}), "label", "plug-in") == FAILS


def test_noisy_difference_is_inconclusive():
    assert verdict(readings({"label": 0.0}, noise=2.0), "label", "plug-in") == UNDECIDED


@pytest.mark.parametrize(("linear", "expected"), [(-2.0, HOLDS), (0.0, FAILS), (2.0, FAILS)])
def test_a_claimed_difference_holds_only_in_its_direction(linear, expected):
    table = readings({"label": 0.0, "linear": linear})
    assert verdict(table, "label", "linear") == expected


def test_fewer_than_four_common_splits_are_inconclusive():
    table = readings({"label": -1.0}, splits=10, missing=7)
    (row,) = verdicts(table).query("first == 'label'").to_dict("records")
    assert row["verdict"] == UNDECIDED
    assert (row["splits"], row["reached_first"], row["reached_second"]) == (3, 3, 10)


def test_methods_are_compared_on_their_common_splits():
    table = readings({"label": 0.0, "reduction": -1.0})
    table = table[(table["method"] != "reduction") | (table["seed"] < 210)]
    (row,) = verdicts(table).query("second == 'reduction'").to_dict("records")
    assert (row["tried"], row["splits"], row["verdict"]) == (10, 10, HOLDS)


def test_differences_are_paired_and_in_percentage_points():
    found = compared(readings({"label": 0.4}, noise=1e-9)).set_index("method")
    assert found.loc["label", "ahead"] == pytest.approx(0.4)
    assert found.loc["label", "low"] == pytest.approx(0.4, abs=1e-6)


def test_the_table_has_full_labels_and_the_number_of_splits():
    table = readings({"label": 0.4, "linear": -2.0}, missing=29)
    shown = results_table(table)
    column = shown["Adult, parity 0.05"]
    assert column[LABELS["label"]] == "–"
    assert column[LABELS["plug-in"]].endswith("(30)")
    assert column[LABELS["unconstrained"]] == "87.00 without a constraint"
    column = results_table(readings({"label": 0.4}, noise=1e-9))["Adult, parity 0.05"]
    assert column[LABELS["label"]] == "+0.40 [+0.40, +0.40] (30)"


def test_stored_verdicts_follow_from_the_stored_values():
    stored = pd.read_csv(BOOK / "results/benchmark_verdicts.csv")
    found = verdicts(load("benchmark_frontier", BOOK / "results"))
    pd.testing.assert_frame_equal(stored, found, check_dtype=False, rtol=1e-4, atol=1e-5)


def test_every_method_has_a_label():
    assert set(LABELS) == set(METHODS)


def test_the_figure_has_a_text_description():
    table = readings({"label": 0.4, "linear": -2.0}, noise=1e-9)
    table = pd.concat(
        [table, table.assign(level=table["level"].where(table["level"].isna(), 0.02))]
    )
    fig, alt = results_figure(table, leave_out=())
    plt.close(fig)
    assert "Adult, gap 0.02: fair logistic regression (paper) -2.00" in alt
    fig, alt = results_figure(table)
    plt.close(fig)
    assert len(fig.axes) == 1
    assert "Adult, gap 0.02: fair trees, label penalized +0.40." in alt
