"""The table of boosted trees on Adult, compared with the models."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier

from renyi_book.chapters import BOOK
from renyi_book.experiments import fair_boosting, load
from renyi_book.experiments._boosting import METHODS
from renyi_book.experiments._splits import encoded_splits
from renyi_lib import demographic_parity_ratio


@pytest.fixture(scope="module")
def data():
    ((_, data),) = encoded_splits("adult", [0], paper=False)
    return data


@pytest.fixture(scope="module")
def table():
    few = {"seeds": [0], "seeds_with_s": [0], "rounds": 5, "progress": False}
    return fair_boosting(methods=METHODS[1:5], **few)


def test_without_a_penalty_the_model_is_plain_lightgbm(data, table):
    plain = LGBMClassifier(
        n_estimators=5, min_child_samples=0, min_child_weight=1.0, min_data_in_bin=1, verbosity=-1
    ).fit(data["train"].X, data["train"].y)
    X, y, s = data["test"]
    row = table.query("method == 'label' and lam == 0 and rows == 'test'").iloc[0]
    assert row["accuracy"] == pytest.approx(plain.score(X, y), abs=1e-3)
    above = (plain.predict_proba(X)[:, 1] > 0.3).astype(int)
    expected = demographic_parity_ratio(y, above, sensitive_features=s)
    assert row["p_rule_30"] == pytest.approx(expected, abs=5e-3)


def test_thresholds_are_fair_on_the_rows_used_to_choose_them(table):
    rows = table.query("method == 'thresholds' and rows == 'validation'").set_index("lam")
    assert rows.loc[1.0, "dp_violation"] < 1e-3
    # A mixture of decisions is on the line between them.
    middle = rows.loc[[0.5, 1.0], "accuracy"].mean()
    assert rows.loc[0.75, "accuracy"] == pytest.approx(middle)


def test_only_models_with_a_score_are_evaluated_at_other_thresholds(table):
    has = table.groupby("method")["p_rule_70"].apply(lambda values: values.notna().all())
    assert has.to_dict() == {m: m != "thresholds" for m in METHODS[1:5]}
    at_half = table[table["method"] != "thresholds"]
    np.testing.assert_allclose(at_half["p_rule_50"], at_half["p_rule"])


def test_an_unknown_method_raises():
    with pytest.raises(ValueError, match="methods must be among"):
        fair_boosting(methods=["magic"], seeds=[0])


def test_the_stored_table_has_every_split():
    stored = load("boosting", BOOK / "results")
    splits = stored.groupby("method")["seed"].nunique()
    few = {METHODS[3]: 10, METHODS[5]: 2}
    assert splits.to_dict() == {m: few.get(m, 25) for m in METHODS}
    assert set(stored["rows"]) == {"validation", "test"}
