"""`tests/shaken` perturbs random numbers and loaded data by the stated relative error."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from renyi_lib.datasets import load_german

SHAKEN = Path(__file__).resolve().parents[1] / "shaken"
PROGRAM = """
import numpy as np
from renyi_lib.datasets import load_german
rng = np.random.default_rng(0)
drawn = rng.normal(size=50), rng.random(50), rng.integers(9, size=50)
np.savez("shaken.npz", *drawn, load_german().encode(scaling="standard").X_test)
"""


@pytest.fixture(scope="module")
def shaken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shaken")
    paths = os.pathsep.join(filter(None, [str(SHAKEN), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths, "RENYI_SHAKE": "1e-6"}
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, env=environment, check=True)
    with np.load(folder / "shaken.npz") as arrays:
        return list(arrays.values())


def test_inputs_are_perturbed_by_a_relative_error(shaken):
    rng = np.random.default_rng(0)
    floats = rng.normal(size=50), rng.random(50)
    whole = rng.integers(9, size=50)
    features = load_german().encode(scaling="standard").X_test
    for given, found in zip((*floats, features), (*shaken[:2], shaken[3])):
        np.testing.assert_allclose(found, given, rtol=3e-6)
        assert np.abs(found / given - 1).max() > 3e-7
    np.testing.assert_array_equal(shaken[2], whole)
