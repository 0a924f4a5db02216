import numpy as np
import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import load
from renyi_book.experiments._network import train
from renyi_book.experiments._splits import Rows
from renyi_lib.baselines import RenyiNetworkClassifier


@pytest.fixture(scope="module")
def stored():
    return load("network", BOOK / "results")


def test_every_fit_has_a_measured_time(stored):
    assert (stored["cpu_seconds"] > 0).all()


def test_the_penalty_makes_every_network_fairer(stored):
    train = stored.query("rows == 'train'").pivot(index="seed", columns="lam", values="soft_rho_R")
    assert (train[10] < train[0] / 2).all()


def test_parallel_networks_match_the_library():
    rng = np.random.default_rng(0)
    s = (rng.random(205) < 0.1).astype(int)
    X = rng.normal(size=(205, 4)) + s[:, None]
    y = (X[:, 0] + rng.normal(size=205) > 0.5).astype(int)
    # The last batch is smaller, and some have one group only.
    options = {"hidden": 3, "batch_size": 10, "epochs": 5, "learning_rate": 0.01}
    lams = [0, 0.5, 20]
    scores = train(Rows(X, y, s), lams, 7, **options).forward(X)
    for lam, score in zip(lams, scores):
        one = RenyiNetworkClassifier(lam, random_state=7, **options)
        one.fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(score, one.predict_proba(X)[:, 1], atol=1e-12)
    assert np.abs(scores[0] - scores[1]).max() > 1e-3
