"""Thousands of groups give the same results as the method for few, without a d x d matrix."""

import tracemalloc

import numpy as np
import pytest

from renyi_lib import RenyiClassifier
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import (
    ChiSquarePenalty,
    ConditionalPenalty,
    Groups,
    RenyiPenalty,
    _renyi_table,
)
from renyi_lib.sources import Rows, Source, memory
from tests.renyi_lib.data import biased_data


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalty", [RenyiPenalty(), ChiSquarePenalty()], ids=repr)
def test_results_for_many_groups_match_the_method_for_few_groups(
    monkeypatch, penalty, n_classes, conditional
):
    X, _, s = biased_data(400, n_classes, 5)
    y = np.random.default_rng(0).integers(n_classes, size=400)
    groups = Groups.from_labels(s, np.random.default_rng(1).gamma(2.0, size=400), y=y)
    if conditional:
        penalty = ConditionalPenalty(penalty)
    objective = FairObjective(SoftmaxModel(X, y, n_classes), penalty, groups)
    theta = np.random.default_rng(2).normal(size=objective.model.shape)
    found = []
    for bound in (4, 100):
        monkeypatch.setattr(_renyi_table, "MANY_GROUPS", bound)
        at = objective.at(theta, 2.0)
        rows = np.array([row.ravel() for row in at.residual_gradients()])
        found.append((at.value, at.gradient, rows.T @ rows, at.best_response()))
    for many, few in zip(*found):
        np.testing.assert_allclose(many, few, atol=1e-12, rtol=1e-11)


@pytest.mark.parametrize("kind", ["blocks", "chunks"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_residual_gradients_in_blocks_or_chunks_match_all_rows(monkeypatch, kind, n_classes):
    X, _, s = biased_data(900, n_classes, 6)
    y = np.random.default_rng(0).integers(n_classes, size=900)
    monkeypatch.setattr(_renyi_table, "MANY_GROUPS", 4)
    grams = []
    for large, data in ((np.inf, (X, y, s)), (0, (X, y, s)), (0, None)):
        if (data is None) != (kind == "chunks") and large == 0:
            continue
        monkeypatch.setattr(memory, "LARGE", large)
        parts = Source(lambda: (Rows(X[i::3], y[i::3], s[i::3]) for i in range(3)))
        X_y_s = (parts, None, None) if data is None else data
        objective = RenyiClassifier(fairness="equalized_odds")._prepare(*X_y_s, None).objective
        theta = np.random.default_rng(2).normal(size=objective.model.shape)
        at = objective.at(theta, 2.0)
        rows = np.array([row.ravel() for row in at.residual_gradients()])
        grams.append(rows.T @ rows)
    np.testing.assert_allclose(grams[1], grams[0], atol=1e-12)


def test_memory_for_twenty_thousand_groups_is_limited_to_their_table():
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(60_000, 5)), np.arange(60_000) % 20_000
    X[:, 0] += s % 2
    y = (X[:, 0] + rng.logistic(size=60_000) > 0.5).astype(int)
    tracemalloc.start()
    fitted = RenyiClassifier(3.0).fit(X, y, sensitive_features=s)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(fitted.adversary_) == 20_000
    assert peak < 40e6  # a matrix of 20 000 x 20 000 would be 3 GB
