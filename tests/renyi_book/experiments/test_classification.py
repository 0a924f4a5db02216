import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from renyi_book.chapters import BOOK
from renyi_book.experiments import equal_opportunity, load, penalties_compared, starting_points
from renyi_book.experiments._splits import encoded_splits
from renyi_lib.classification import PenalizedClassifier
from renyi_lib.datasets import load_adult
from renyi_lib.metrics import demographic_parity_ratio
from renyi_lib.penalties import PearsonPenalty

KEYS = ["dataset", "split", "seed", "lam", "rows"]


def test_starting_point_of_a_random_split_matches_scikit_learn():
    table = starting_points(datasets=["german"], seeds=[2], progress=False)
    ((_, data),) = encoded_splits("german", [2], paper=False)
    X, y, _ = data["train"]
    plain = LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000).fit(X, y)
    random = table.query("split == 'random'").set_index("rows")
    assert random.index.tolist() == ["train", "validation", "test"]
    for rows, (X, y, s) in data.items():
        assert random["accuracy"][rows] == pytest.approx(plain.score(X, y), abs=0.008)
        rule = demographic_parity_ratio(y, plain.predict(X), sensitive_features=s)
        assert random["p_rule"][rows] == pytest.approx(rule, abs=0.02)


def test_our_own_penalty_is_fitted_on_the_first_splits_only():
    table = penalties_compared(
        "german", lams=[0], seeds=[0, 1], own_splits=1, progress=False
    ).query("split == 'random'")
    assert table.query("method == 'score-bins'")["seed"].unique().tolist() == [0]
    assert table.query("method == 'renyi'")["seed"].unique().tolist() == [0, 1]
    # At lam = 0 all penalties give the same classifier.
    plain = table.query("seed == 0").groupby("rows")[["accuracy", "p_rule"]].nunique()
    assert (plain == 1).all(axis=None)


def test_step_of_the_authors_vanishes_with_the_settings_of_their_code():
    # Their step for theta is the gradient of the loss minus lam times that of the penalty on the
    # rows with Y = 1, where w is the least-squares fit of s on the class probabilities. It lacks a
    # factor of 2.
    lam = 20
    data = load_adult().encode(sensitive="gender", scaling="standard")
    among = data.y_train == 1
    q = data.s_train[among].mean()
    ours = lam * among.mean() * q * (1 - q) / 2
    clf = PenalizedClassifier(PearsonPenalty(), lam=ours, fairness="equal_opportunity", tol=1e-06)
    clf.fit(data.X_train, data.y_train, sensitive_features=data.s_train)
    F = clf.predict_proba(data.X_train)
    w = np.linalg.lstsq(F[among], data.s_train[among])[0]
    slope = F[:, 1] * F[:, 0]
    loss_part = data.X_train.T @ (F[:, 1] - data.y_train)
    residual = F[among] @ w - data.s_train[among]
    fair_part = (w[1] - w[0]) * data.X_train[among].T @ (residual * slope[among])
    rest = np.linalg.norm(loss_part - lam * fair_part) / np.linalg.norm(loss_part)
    assert rest < 0.01
    table = equal_opportunity(lams=[], code_lams=[0, lam], seeds=[], progress=False)
    row = table.query("rows == 'test' and lam == @lam").iloc[0]
    assert row["accuracy"] == pytest.approx(clf.score(data.X_test, data.y_test), abs=1e-3)


def test_larger_lam_reduces_the_soft_gap_on_the_training_rows():
    table = load("equal_opportunity", BOOK / "results").query("recipe == 'paper'")
    for _, rows in table.query("rows == 'train'").groupby(["split", "seed"]):
        gap = rows.set_index("lam")["soft_eo_gap"].abs()
        assert (np.diff(gap[[0, 1, 100]]) < 0).all()


def test_every_baseline_is_fairer_than_the_plain_classifier_on_training_rows():
    table = load("equal_opportunity_rivals", BOOK / "results").query("split == 'paper'")
    train = table[table["lam"].isin([0, 3, np.nan])].query("rows == 'train'").set_index("method")
    assert set(train.index) == {"plain", "hardt", "zafar", "rezaei", "donini", "renyi"}
    fairness = train["eo_violation"].drop("plain")
    assert (fairness < train.loc["plain", "eo_violation"]).all()
    assert (train["accuracy"] <= train.loc["plain", "accuracy"] + 1e-3).all()


def test_an_unknown_penalty_raises():
    with pytest.raises(ValueError, match="not \\['mmd'\\]"):
        penalties_compared("german", penalties=["mmd"])
