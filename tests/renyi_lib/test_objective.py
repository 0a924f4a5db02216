"""loss + lam * penalty as a function of theta: its gradient, for every model and penalty."""

import numpy as np
import pytest
from scipy import sparse

from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
    ScoreBinsPenalty,
)
from tests.renyi_lib.data import biased_data

OBJECTIVES = {
    "binary": (2, 2, BinaryRenyiPenalty(), {}),
    "binary label, four groups": (2, 4, RenyiPenalty(), {}),
    "three classes": (3, 2, BinaryRenyiPenalty(), {}),
    "three classes, four groups": (3, 4, RenyiPenalty(), {}),
    "ridge": (2, 2, RenyiPenalty(), {"l2": 0.3}),
    "ridge, three classes": (3, 2, RenyiPenalty(), {"l2": 0.3}),
    "no intercept": (3, 3, RenyiPenalty(), {"fit_intercept": False}),
    "pearson": (2, 2, PearsonPenalty(), {}),
    "hsic": (3, 2, HSICPenalty(bandwidth=0.4), {}),
    "score bins": (2, 2, ScoreBinsPenalty(n_bins=5), {}),
    "no penalty": (3, 2, None, {}),
}


class TestGradients:
    @pytest.mark.parametrize("storage", ["dense", "sparse"])
    @pytest.mark.parametrize("case", OBJECTIVES)
    def test_gradient_of_the_objective_agrees_with_differences(self, case, storage):
        c, d, penalty, options = OBJECTIVES[case]
        X, y, s = biased_data(40, c, d, seed=len(case))
        rng = np.random.default_rng(1)
        weight = rng.uniform(0.5, 1.5, size=40)
        X = X if storage == "dense" else sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0))
        model = SoftmaxModel(X, y, c, weight / weight.sum(), **options)
        groups = None if penalty is None else Groups.from_labels(s, weight)
        objective = FairObjective(model, penalty, groups)
        theta = rng.normal(size=model.shape)
        value, gradient = objective(theta, 0.7)
        for index in np.ndindex(theta.shape):
            step = np.zeros_like(theta)
            step[index] = 1e-5
            slope = (objective(theta + step, 0.7)[0] - objective(theta - step, 0.7)[0]) / 2e-5
            assert gradient[index] == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert value == pytest.approx(objective(theta, 0.0)[0] + 0.7 * objective.penalty_value)

    def test_residual_gradients_are_pulled_back_to_theta(self):
        X, y, s = biased_data(40)
        model, groups = SoftmaxModel(X, y, 2), Groups.from_labels(s)
        objective = FairObjective(model, BinaryRenyiPenalty(), groups)
        theta = np.zeros(model.shape)
        objective(theta, 1.0)
        (slope,) = objective.residual_gradients()
        # At theta = 0 nothing depends on S, and rho_R itself grows as |slope . theta|.
        direction = 1e-6 * np.ones(model.shape)
        objective(theta + direction, 1.0)
        rho = np.sqrt(objective.penalty_value)
        assert rho == pytest.approx(abs(np.sum(slope * direction)), rel=1e-4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("c", [2, 3])
def test_gradients_that_are_pulled_back_together_are_those_pulled_back_alone(c, storage):
    X, y, _ = biased_data(40, c, 2, seed=0)
    model, rng = SoftmaxModel(storage(X), y, c), np.random.default_rng(0)
    model.forward(rng.normal(size=model.shape))
    by_F = list(rng.normal(size=(5, 40, c)))
    together = model.pull_back_all(by_F)
    np.testing.assert_allclose(together, [model.pull_back(dF) for dF in by_F], atol=1e-12)
    assert model.pull_back_all([]) == []
