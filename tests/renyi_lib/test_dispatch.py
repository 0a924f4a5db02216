"""Dask collections are distinguished from data in memory and have code of their own."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from renyi_lib import (
    JointTable,
    demographic_parity_ratio,
    fairness_interval,
    joint_table,
    renyi_correlation,
    renyi_interval,
    renyi_test,
)
from renyi_lib._dispatch import is_dask
from renyi_lib.correlation import renyi_from_soft
from renyi_lib.dependence import hsic

da = pytest.importorskip("dask.array", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe")


def test_dask_collections_are_recognized():
    frame = pd.DataFrame({"sex": list("fm")})
    parts = dd.from_pandas(frame, npartitions=2)
    assert is_dask(None, parts)
    assert is_dask(parts["sex"])
    assert is_dask([1], da.ones(3))
    assert not is_dask(frame, frame["sex"], np.ones(2), [1, 2], None, "sex")


def test_data_in_memory_do_not_use_the_dask_code():
    """Run in a subprocess, in which no other test can have loaded the Dask code."""
    script = """
import sys, numpy as np
from renyi_lib import fairness_report, joint_table, renyi_correlation, renyi_test
from renyi_lib.metrics import demographic_parity_ratio as ratio
a, b, score = *np.random.default_rng(0).integers(2, size=(2, 200)), np.linspace(0, 1, 200)
joint_table(a, b), renyi_correlation(a, b), renyi_test(a, b), ratio(None, a, sensitive_features=b)
fairness_report(a, score, b)
print([name for name in sys.modules if name in ("dask", "renyi_lib._collapse")])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stderr


def test_library_functions_accept_dask_collections():
    a, b = np.random.default_rng(0).integers(2, size=(2, 100))
    of_a, of_b = da.from_array(a, 30), da.from_array(b, 30)
    assert joint_table(of_a, of_b) == joint_table(a, b)
    assert JointTable().update(of_a, of_b) == joint_table(a, b)
    assert renyi_correlation(of_a, of_b) == pytest.approx(renyi_correlation(a, b), abs=1e-12)
    assert renyi_test(of_a, of_b) == renyi_test(a, b)
    assert renyi_interval(of_a, of_b, random_state=0) == renyi_interval(a, b, random_state=0)
    assert demographic_parity_ratio(None, of_a, sensitive_features=of_b) == pytest.approx(
        demographic_parity_ratio(None, a, sensitive_features=b), abs=1e-12
    )
    found, expected = (
        fairness_interval(
            "demographic_parity_ratio", None, x, sensitive_features=y, random_state=0
        )
        for x, y in ((of_a, of_b), (a, b))
    )
    assert found == expected


def test_functions_that_need_data_in_memory_raise():
    a = da.from_array([0, 1, 1, 0], 2)
    with pytest.raises(ValueError, match=r"b is a Dask collection.*b.compute"):
        renyi_from_soft([[0.5, 0.5]] * 4, a)
    with pytest.raises(ValueError, match=r"is a Dask collection"):
        hsic(a, [0, 1, 0, 1])
