"""Calls that practitioners make by mistake: each gets an answer, a warning or a clear error."""

import numpy as np
import pytest

from renyi_lib import (
    RenyiClassifier,
    RenyiKMeans,
    balance,
    equal_opportunity_violation,
    equalized_odds_violation,
    p_rule,
)

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 2))
y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
age = 50 + 12 * rng.normal(size=N)
name = [f"person {i}" for i in range(N)]

GROUPED = {
    "p_rule": lambda s: p_rule(y, y, sensitive_features=s),
    "equal_opportunity_violation": lambda s: equal_opportunity_violation(
        y, y, sensitive_features=s
    ),
    "equalized_odds_violation": lambda s: equalized_odds_violation(y, y, sensitive_features=s),
    "balance": lambda s: balance(y, sensitive_features=s),
    "RenyiClassifier": lambda s: RenyiClassifier().fit(X, y, sensitive_features=s),
    "RenyiKMeans": lambda s: RenyiKMeans(2).fit(X, sensitive_features=s),
}


@pytest.mark.parametrize("call", GROUPED.values(), ids=GROUPED)
def test_a_measurement_is_no_group(call):
    with pytest.raises(
        ValueError, match=r"sensitive_features looks continuous: it has 300 .*bins"
    ):
        call(age)


@pytest.mark.parametrize("call", GROUPED.values(), ids=GROUPED)
def test_a_group_for_each_person_is_no_group(call):
    with pytest.raises(ValueError, match=r"sensitive_features has 300 different labels in 300"):
        call(name)
