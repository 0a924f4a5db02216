"""The comparison of the three ways to penalize mini-batches."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from renyi_book.experiments import at_level, batches_compared
from renyi_book.experiments._fermi import Networks, Splits, _measures, train, ways_for
from renyi_lib.baselines.neural_network import Adam, NetworkModel
from renyi_lib.metrics import demographic_parity_difference
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import BinaryRenyiPenalty, Groups
from renyi_lib.stochastic import BatchTable


@pytest.fixture(scope="module")
def gender():
    return Splits("gender", [0, 1])


def test_parallel_networks_take_the_adam_steps_of_the_library(gender):
    X, y, s = (z[:, :300] for z in gender.train)
    networks = Networks(k=2, m=X.shape[2], n_networks=3, n_classes=2)
    networks.start([np.random.default_rng(seed) for seed in (0, 1)])
    A, _, B, _ = networks.layers
    one = np.concatenate([A[1, :, 12:24].ravel(), np.zeros(12), B[1, 1].ravel(), np.zeros(2)])
    model = NetworkModel(X[1].astype(float), y[1], n_classes=2)
    objective = FairObjective(model, BinaryRenyiPenalty(), Groups.from_labels(s[1]))
    adam, theta = Adam(0.01), one.astype(float)
    for _ in range(5):
        _, gradient = objective(theta, 3.0)
        theta = adam.step(theta, gradient)
        F = networks.forward(X)
        dZ = (F - np.eye(2, dtype=np.float32)[y][:, None]) / np.float32(300)
        codes = np.broadcast_to(s[:, None], F.shape[:-1])
        dF = 3 * BatchTable(2).value_and_grad(F, codes)[1]
        dZ += F * (dF - (F * dF).sum(axis=-1, keepdims=True))
        networks.step(dZ, 0.01)
    np.testing.assert_allclose(A[1, :, 12:24], model.layers(theta)[0], atol=5e-4)
    np.testing.assert_allclose(B[1, 1], model.layers(theta)[2], atol=5e-4)


def test_results_of_a_split_do_not_depend_on_other_splits(gender):
    alone = Splits("gender", [1])
    options = {"size": "512", "lams": [4.0]}
    both, one = (
        train(splits, options["size"], ways_for(splits, **options), epochs=1).layers[2]
        for splits in (gender, alone)
    )
    np.testing.assert_allclose(both[1], one[0], atol=1e-5)


def test_parts_of_a_split_form_a_partition(gender):
    sizes = [getattr(gender, part)[0].shape[1] for part in ("train", "validation", "test")]
    assert sizes == [26048, 6513, 16281]
    assert gender.train[0].dtype == np.float32
    np.testing.assert_allclose(gender.train[0].mean(axis=1), 0, atol=1e-4)


def test_the_second_problem_has_three_classes_and_six_groups():
    splits = Splits("occupation", [0])
    _, y, s = splits.train
    assert (splits.n_classes, splits.n_groups) == (3, 6)
    assert np.bincount(y[0]).min() > 0.25 * len(y[0])
    assert np.bincount(s[0]).min() > 0.05 * len(s[0])
    names = [(way, penalty) for way, penalty, *_ in ways_for(splits, "64", [1.0])]
    assert ("batch", "renyi") in names
    assert ("fermi", "chi-square") in names


def test_measures_match_the_library():
    rng = np.random.default_rng(0)
    F = rng.dirichlet(np.ones(2), size=500)
    y, s = rng.integers(2, size=500), rng.integers(3, size=500)
    found = _measures(F, y, s, 3)
    decision = (F[:, 1] > 0.5).astype(int)
    assert found["accuracy"] == accuracy_score(y, decision)
    expected = demographic_parity_difference(None, decision, sensitive_features=s)
    assert found["violation"] == pytest.approx(expected)
    assert found["rho2"] == pytest.approx(found["chi2"])  # two classes


def test_every_penalty_makes_the_networks_fairer():
    table = batches_compared(
        problem="occupation", sizes=["512"], lams=[8], seeds=[0], epochs=1, progress=False
    )
    chi2 = table[table["rows"] == "test"].set_index(["way", "penalty"])["chi2"]
    plain = chi2.pop(("none", "none"))
    assert len(chi2) == 5
    assert (chi2 < plain / 2).all()


def test_measures_are_interpolated_where_the_validation_violation_first_meets_the_level():
    rows = []
    for lam, validation, test, accuracy in [
        (0, 0.4, 0.5, 0.9),
        (1, 0.2, 0.3, 0.8),
        (2, 0.3, 0, 0),
    ]:
        where = {"size": "64", "penalty": "chi-square", "seed": 7, "lam": lam}
        where["way"] = "fermi" if lam else "none"
        rows.append(where | {"rows": "validation", "violation": validation, "accuracy": 1.0})
        rows.append(where | {"rows": "test", "violation": test, "accuracy": accuracy})
    table = pd.DataFrame(rows)
    half_way = at_level(table, 0.3)
    assert half_way.index.tolist() == [("64", "fermi", "chi-square", 7)]
    np.testing.assert_allclose(half_way, [[0.4, 0.85]])
    assert at_level(table, 0.1).isna().all(axis=None)
    np.testing.assert_allclose(at_level(table, 0.45), [[0.5, 0.9]])


def test_an_unknown_problem_raises():
    with pytest.raises(ValueError, match="problem must be one of gender, occupation"):
        batches_compared(problem="race")
