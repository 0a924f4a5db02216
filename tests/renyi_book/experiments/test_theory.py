import numpy as np
import pytest
from dit import Distribution
from dit.divergences import maximum_correlation

from renyi_book.experiments import convergence, theorems
from renyi_book.experiments._theory import _climb


def test_theorems_agree_with_the_definition():
    table = theorems(shapes=[(2, 2), (4, 2), (3, 5)], seeds=range(5))
    assert np.abs(table["theorem_1"] - table["definition"]).max() < 1e-9
    assert np.abs(table["from_labels"] - table["definition"]).max() < 1e-9
    binary = table.query("columns == 2")
    assert np.abs(binary["theorem_2"] - binary["definition"]).max() < 1e-9
    assert table.query("columns != 2")["theorem_2"].isna().all()


def test_numerical_maximum_agrees_with_dit():
    P = np.array([[0.1, 0.2, 0.05], [0.05, 0.1, 0.15], [0.2, 0.05, 0.1]])
    outcomes = [f"{i}{j}" for i in range(3) for j in range(3)]
    oracle = maximum_correlation(Distribution(outcomes, P.ravel()), [[0], [1]])
    assert _climb(P, 2000) == pytest.approx(oracle, abs=1e-9)


def test_smallest_gradient_so_far_never_increases():
    table = convergence(
        lams=[1.0], n_rows=500, max_iter=50, checkpoints=[1, 10, 50], seeds=[0], progress=False
    )
    for _, rows in table.groupby("algorithm"):
        assert (np.diff(rows["gradient"]) < 0).all()
