import numpy as np
import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import adult_scores, load
from renyi_lib import demographic_parity_ratio
from renyi_lib.classification import PenalizedClassifier
from renyi_lib.datasets import load_adult
from renyi_lib.penalties import RenyiPenalty

COUNTS = ["above_00", "above_01", "above_10", "above_11"]


@pytest.fixture(scope="module")
def stored():
    return load("adult_scores", BOOK / "results")


@pytest.fixture(scope="module")
def data():
    return load_adult().encode(sensitive="gender", scaling="standard")


def test_counts_match_a_fit_made_by_hand(data):
    table = adult_scores(lams=[3], methods=["label"], steps=4)
    fit = PenalizedClassifier(RenyiPenalty(), lam=3, tol=1e-6).fit(
        data.X_train, data.y_train, sensitive_features=data.s_train
    )
    score = fit.predict_proba(data.X_test)[:, 1]
    for t, found in zip((0, 0.25, 0.5, 0.75, 1), table[COUNTS].to_numpy()):
        by_hand = [
            np.sum((score > t) & (data.s_test == s) & (data.y_test == y))
            for s in (0, 1)
            for y in (0, 1)
        ]
        # A fit from scratch may differ in the last digits from one along a path.
        assert np.abs(found - by_hand).max() <= 2


def test_all_scores_exceed_zero_and_none_exceeds_one(stored, data):
    everybody = np.bincount(2 * data.s_test + data.y_test)
    assert (stored.query("threshold == 0")[COUNTS] == everybody).to_numpy().all()
    assert (stored.query("threshold == 1")[COUNTS] == 0).to_numpy().all()


def test_counts_fall_with_the_threshold(stored):
    for _, path in stored.groupby(["method", "lam"]):
        assert len(path) == 101
        assert (np.diff(path[COUNTS], axis=0) <= 0).all()


def test_without_a_penalty_both_methods_are_the_ordinary_model(stored):
    label, bins = (stored.query("lam == 0 and method == @m") for m in ("label", "bins"))
    assert np.abs(label[COUNTS].to_numpy() - bins[COUNTS].to_numpy()).max() <= 3


def test_p_rule_from_the_counts_matches_the_decisions(data):
    row = adult_scores(lams=[0], methods=["label"], steps=2).iloc[1]
    women, men = row["above_00"] + row["above_01"], row["above_10"] + row["above_11"]
    fit = PenalizedClassifier(RenyiPenalty(), lam=0, tol=1e-6).fit(
        data.X_train, data.y_train, sensitive_features=data.s_train
    )
    oracle = demographic_parity_ratio(
        data.y_test, fit.predict(data.X_test), sensitive_features=data.s_test
    )
    size = np.bincount(data.s_test)
    assert (women / size[0]) / (men / size[1]) == pytest.approx(oracle, abs=0.005)
