"""The experiments of the second scorecard, on cases with a known answer."""

import numpy as np
import pytest

from renyi_book.experiments import fermi_consistency, fermi_estimator, fermi_measures
from renyi_book.experiments._fermi_claims import _bias, _gradient, _stacked, _trained
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import ChiSquarePenalty, Groups
from renyi_lib.stochastic import BatchTable, Fermi


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([np.ones((2, 50, 1)), rng.normal(size=(2, 50, 3))], axis=-1)
    y, s = rng.integers(3, size=(2, 50)), rng.integers(4, size=(2, 50))
    return X, y, s


def test_full_gradient_matches_the_objective_of_the_library(rows):
    X, y, s = rows
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(2, 4, 2, 3))
    flat = theta.reshape(2, 4, 6)
    found = _gradient(X, np.eye(3)[y], s, flat, [0.5, 2.0], BatchTable(4)).reshape(theta.shape)
    for k in range(2):
        model = SoftmaxModel(X[k], y[k], 3, fit_intercept=False)
        objective = FairObjective(model, ChiSquarePenalty(), Groups.from_labels(s[k]))
        for i, lam in enumerate((0.5, 2.0)):
            _, expected = objective(theta[k, :, i].T.copy(), lam)
            np.testing.assert_allclose(found[k, :, i].T, expected, atol=1e-12)


def test_w_takes_the_ascent_steps_of_algorithm_1(rows):
    _, _, s = rows
    rng = np.random.default_rng(2)
    F, q = rng.dirichlet(np.ones(3), size=50), np.array([0.1, 0.2, 0.3, 0.4])
    way = Fermi(q, step=0.2)
    way.W = before = np.zeros((4, 3))
    way.value_and_grad(F, s[0])
    expected = np.mean(
        [
            -before @ np.diag(f) + np.diag(q**-0.5) @ np.outer(np.eye(4)[j], f)
            for f, j in zip(F, s[0])
        ],
        axis=0,
    )
    np.testing.assert_allclose(way.W, before + 2 * 0.2 * expected, atol=1e-12)


def test_full_batches_have_no_bias():
    rng = np.random.default_rng(3)
    F, codes = rng.dirichlet(np.ones(2), size=4), np.array([0, 1, 0, 1])
    found = _bias(F, codes, np.array([0.5, 0.5]), 4, None)
    assert found["gradient"] == pytest.approx(0, abs=1e-12)
    assert found["value"] == pytest.approx(0, abs=1e-12)


def test_plain_steps_without_a_penalty_reach_the_accuracy_of_logistic_regression():
    data = _stacked("adult", [0], n_rows=None, dtype=np.float32)
    theta = _trained(data, 64, np.zeros(1, np.float32), None, 2, [np.random.default_rng(0)])
    X, y, _ = data.others[0]["test"]
    assert np.mean((X @ theta[0]).argmax(axis=1) == y) > 0.845


def test_measures_vanish_at_independence():
    table = fermi_measures(shapes=[(2, 2)], strengths=[0.0], seeds=[0])
    np.testing.assert_allclose(table[["chi2", "rho2", "shannon", "l_inf"]], 0, atol=1e-12)


def test_larger_samples_are_closer_and_seeds_are_independent():
    both = fermi_consistency(sizes=[100, 100_000], seeds=[5, 6])
    one = fermi_consistency(sizes=[100_000], seeds=[6])
    assert both.iloc[-1].to_dict() == one.iloc[0].to_dict()
    error = (both["sample"] - both["population"]).abs().groupby(both["size"]).mean()
    assert error[100_000] < error[100]


def test_batch_table_is_biased_and_fermi_is_not():
    table = fermi_estimator(shapes=[(3, 4)], sizes=[3], seeds=[0]).set_index("way")
    assert table.loc["fermi", "gradient"] < 1e-12
    assert table.loc["fermi", "climb"] < 1e-12
    assert table.loc["plug-in", "gradient"] > 0.1
