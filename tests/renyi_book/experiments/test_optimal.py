"""The experiments on the optimal rule: simulated truths, multipliers and verdicts."""

import numpy as np
import pandas as pd
import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import load, training_verdicts
from renyi_book.experiments._optimal import _SETTINGS, _k_of_gap


@pytest.mark.parametrize("name", _SETTINGS)
def test_accuracy_and_unfairness_match_sampled_labels_and_groups(name):
    setting = _SETTINGS[name]
    rows = setting.draw(200_000, np.random.default_rng(7))
    p = np.clip(rows.eta + 0.1 * rows.X[:, 0], 0, 1)
    decided = p > 0.5
    assert rows.accuracy(p) == pytest.approx(np.mean(decided == rows.y), abs=5e-3)
    if name in ("continuous attribute", "fair scores"):
        assert setting.unfairness(p, rows) > setting.unfairness(np.full_like(p, 0.9), rows)
    else:
        gap = decided[rows.s == 1].mean() - decided[rows.s == 0].mean()
        assert setting.unfairness(p, rows) == pytest.approx(abs(gap), abs=0.01)


def test_multiplier_for_a_gap_attains_that_gap():
    rng = np.random.default_rng(0)
    eta, sigma = rng.random(5000), rng.random(5000)
    s = (rng.random(5000) < sigma).astype(int)
    b = 2 * sigma - 2 * (1 - sigma)
    rule = eta - 0.1 * b > 0.5
    gap = rule[s == 1].mean() - rule[s == 0].mean()
    k = _k_of_gap(eta, b, s, gap)
    assert np.mean((eta - k * b > 0.5) == rule) > 0.999


@pytest.mark.parametrize(
    ("training", "correcting", "verdict"),
    [
        ([0.80, 0.81, 0.80, 0.81], [0.80, 0.81, 0.80, 0.81], "tie"),
        ([0.80, 0.81, 0.80, 0.81], [0.83, 0.84, 0.83, 0.84], "correction wins"),
        ([0.80, 0.81, 0.80, 0.81], [np.nan] * 4, "training wins"),
        ([np.nan, np.nan, np.nan, 0.8], [0.7] * 4, "correction wins"),
        ([0.80, 0.90, 0.70, 0.81], [0.81, 0.85, 0.80, 0.81], "undecided"),
    ],
)
def test_verdicts_follow_the_rule(training, correcting, verdict):
    table = pd.DataFrame({"training": training, "correcting": correcting})
    found = training_verdicts(table.assign(setting="a", part=0.1))
    assert found["verdict"].item() == verdict


def test_training_and_correction_make_similar_decisions_on_adult():
    table = load("optimal_rule_adult", BOOK / "results")
    assert table["agreement"].min() > 0.97
    assert (table["accuracy_fair"] - table["accuracy_rule"]).abs().max() < 0.006
    # The multiplier saturates.
    k = table.groupby(["model", "lam"])["k"].mean().unstack()
    assert (k[100.0] - k[3.0] > 0.02).all()
    assert (abs(k[1000.0] - k[100.0]) < 0.005).all()
