import numpy as np
import pandas as pd

from renyi_book.experiments import fair_network
from renyi_book.experiments._network import train
from renyi_book.experiments._splits import Rows
from renyi_lib.baselines import RenyiNetworkClassifier


def test_the_table_is_the_same_for_the_same_seed_but_for_the_clock():
    options = {"lams": [0, 3], "epochs": 1, "seeds": [1], "progress": False}
    once, again = fair_network(**options), fair_network(**options)
    pd.testing.assert_frame_equal(
        once.drop(columns="cpu_seconds"), again.drop(columns="cpu_seconds")
    )
    assert (once["cpu_seconds"] > 0).all()
    assert once[["lam", "rows"]].values.tolist() == [
        [lam, rows] for lam in (0, 3) for rows in ("train", "test")
    ]


def test_the_penalty_makes_the_network_fairer():
    table = fair_network(lams=[0, 10], epochs=3, seeds=[0], progress=False)
    plain, fair = table.query("rows == 'train'")["soft_rho_R"]
    assert fair < plain / 2


def test_networks_side_by_side_are_those_of_the_library():
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
