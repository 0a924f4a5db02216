"""True values and results of the experiments that calibrate tests and intervals."""

import numpy as np
import pytest

from renyi_book.experiments import calibration, fairness_calibration, true_table
from renyi_book.experiments._calibration import _in_order
from renyi_lib.correlation import maximal_functions, renyi_from_joint
from renyi_lib.metrics import demographic_parity_difference


@pytest.mark.parametrize("shape", [(2, 2), (2, 8), (3, 3), (4, 3), (10, 10)])
@pytest.mark.parametrize("spectrum", ["one", "many"])
@pytest.mark.parametrize("rho", [0.0, 0.1, 0.3, 0.6])
def test_constructed_table_has_the_requested_correlation(shape, spectrum, rho):
    table = true_table(shape, rho, spectrum)
    if table is None:
        return
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)
    assert renyi_from_joint(table) == pytest.approx(rho, abs=1e-9)
    others = maximal_functions(table).singular_values[1:]
    if spectrum == "one" and min(shape) > 2:
        assert np.all(others < 1e-9)


def test_pairing_in_order_preserves_the_margins():
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4])
    table = _in_order(p, q)
    assert np.allclose(table.sum(axis=1), p)
    assert np.allclose(table.sum(axis=0), q)
    assert np.allclose(table, [[0.2, 0], [0.4, 0.1], [0, 0.3]])


def test_a_small_calibration_is_close_to_nominal():
    options = {"shapes": [(3, 3)], "sizes": [300], "rhos": [0.0, 0.3], "replicates": 100}
    table = calibration(**options, progress=False)
    size = table.query("what == 'size'")["share"]
    assert size.between(0.02, 0.09).all()
    held = table.query("what == 'coverage' and method == 'inversion'")
    assert held["share"].between(0.88, 1).all()
    assert np.allclose(held["share"] + held["above"] + held["below"], 1)


def test_true_fairness_values_match_the_metrics():
    table = fairness_calibration(
        cases=["two groups, rare"], sizes=[100], replicates=30, progress=False
    ).set_index(["metric", "what"])
    gaps = []
    for rates in ((0.05, 0.15), (0.06, 0.1)):
        decisions = np.concatenate([np.arange(100) < 100 * rate for rate in rates])
        groups = np.repeat([0, 1], 100)
        gaps.append(demographic_parity_difference(None, decisions, sensitive_features=groups))
    found = table.loc["demographic_parity_difference", "truth"]
    assert found["value"] == pytest.approx(gaps[0])
    assert found["difference"] == pytest.approx(gaps[0] - gaps[1])
    assert table["share"].between(0.7, 1).all()
