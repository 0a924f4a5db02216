"""True values and coverage in the experiments on rare values, small groups and planned power."""

import numpy as np
import pytest

from renyi_book.experiments import planned_power, rare_groups, rare_values
from renyi_book.experiments._rare import rare_table
from renyi_lib.correlation import renyi_from_joint


@pytest.mark.parametrize("kind", ["both", "one", "eight"])
@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_the_rare_value_carries_the_correlation(kind, strength):
    P, rho = rare_table(kind, 0.02, strength)
    assert P.min() >= 0
    assert P.sum(axis=1)[0] == pytest.approx(0.02)
    assert renyi_from_joint(P) == pytest.approx(rho, abs=1e-9)
    # The common values are independent.
    assert renyi_from_joint(P[1:, 1:] if kind == "both" else P[1:]) < 1e-7


def test_one_curve_fails_where_the_library_does_not():
    found = rare_values(
        kinds=["both"],
        shares=[0.02],
        sizes=[200],
        strengths=[0.5],
        replicates=60,
        before=60,
        progress=False,
    ).set_index("method")
    assert found["possible"].all()
    assert found.loc["one curve", "share"] < 0.9 < found.loc["library", "share"] + 0.03
    assert found.loc["library", "width"] > found.loc["one curve", "width"]


def test_one_sample_breaks_only_the_method_with_one_curve():
    found = rare_groups(
        cases=["small one apart"], sizes=[100], small=[1], replicates=60, before=60, progress=False
    ).set_index(["metric", "method"])
    assert np.allclose(found["share"] + found["above"] + found["below"], 1)
    assert (found["share"].xs("library", level="method") > 0.88).all()
    assert found["truth"].xs("library", level="method").round(3).tolist() == [0.375, 0.3, 0.3, 0.3]


def test_planned_power_is_attained():
    found = planned_power(plans=["gap .2, group of 5 %"], powers=[0.8])
    assert found["found"].item() == pytest.approx(0.8, abs=0.03)
