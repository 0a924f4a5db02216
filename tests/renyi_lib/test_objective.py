"""Values and derivatives of loss + lam * penalty with respect to theta."""

import numpy as np
import pytest
from scipy import sparse

from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective, History
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
    ScoreBinsPenalty,
)
from renyi_lib.regression import LinearModel
from renyi_lib.smooth_penalties import PredictionPenalty
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
        at = objective.at(theta, 0.0)
        assert value == pytest.approx(at.value + 0.7 * at.penalty)

    def test_residual_gradients_are_pulled_back_to_theta(self):
        X, y, s = biased_data(40)
        model, groups = SoftmaxModel(X, y, 2), Groups.from_labels(s)
        objective = FairObjective(model, BinaryRenyiPenalty(), groups)
        theta = np.zeros(model.shape)
        (slope,) = objective.at(theta, 1.0).residual_gradients()
        # At theta = 0 nothing depends on S, and rho_R itself grows as |slope . theta|.
        direction = 1e-6 * np.ones(model.shape)
        rho = np.sqrt(objective.at(theta + direction, 1.0).penalty)
        assert rho == pytest.approx(abs(np.sum(slope * direction)), rel=1e-4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("c", [2, 3])
def test_pulling_back_gradients_together_or_one_by_one_agrees(c, storage):
    X, y, _ = biased_data(40, c, 2, seed=0)
    model, rng = SoftmaxModel(storage(X), y, c), np.random.default_rng(0)
    point = model.at(rng.normal(size=model.shape))
    by_F = list(rng.normal(size=(5, 40, c)))
    alone = [point.pull_back([dF])[0] for dF in by_F]
    np.testing.assert_allclose(point.pull_back(by_F), alone, atol=1e-12)


def test_later_evaluations_do_not_change_an_evaluation():
    X, y, s = biased_data(60, 3, 3)
    objective = FairObjective(SoftmaxModel(X, y, 3), RenyiPenalty(), Groups.from_labels(s))
    first, second = np.random.default_rng(0).normal(size=(2, *objective.model.shape))
    expected = objective(first, 2.0)
    at = objective.at(first, 2.0)
    objective(second, 5.0)
    at.moved(second).residual_gradients()
    assert at.value == expected[0]
    np.testing.assert_array_equal(at.gradient, expected[1])
    np.testing.assert_array_equal(at.F, objective.at(first, 0.0).F)


def test_an_evaluation_for_another_lam_or_smoothing_has_the_same_theta():
    X, y, s = biased_data(60, 3, 3)
    objective = FairObjective(SoftmaxModel(X, y, 3), RenyiPenalty(), Groups.from_labels(s))
    at = objective.at(np.random.default_rng(0).normal(size=objective.model.shape), 2.0)
    other = at.with_lam(7.0)
    assert other.value == pytest.approx(objective(at.theta, 7.0)[0], rel=1e-14)
    np.testing.assert_allclose(other.gradient, objective(at.theta, 7.0)[1], rtol=1e-12)
    smooth = at.smoothed(0.5)
    expected = FairObjective(objective.model, RenyiPenalty(0.5), objective.groups)(at.theta, 2.0)
    assert smooth.value == pytest.approx(expected[0], rel=1e-14) != at.value
    assert smooth.penalty == at.penalty
    assert smooth.smoothed(0.0).value == at.value


@pytest.mark.parametrize("penalty", [PredictionPenalty(n_functions=5, smoothing=0.1), None])
def test_the_hessian_of_the_objective_agrees_with_differences_of_its_gradient(penalty):
    rng = np.random.default_rng(2)
    X, y, s = rng.normal(size=(80, 2)), rng.normal(size=80), rng.integers(3, size=80)
    objective = FairObjective(LinearModel(X, y), penalty, Groups.from_labels(s))
    theta, way, step = *rng.normal(size=(2, 1, 3)), 1e-6
    for lam in (0.0, 0.8):
        ahead, behind = (objective(theta + k * step * way, lam)[1] for k in (1, -1))
        found = objective.at(theta, lam).hessian() @ way[0]
        np.testing.assert_allclose(found, (ahead - behind)[0] / (2 * step), rtol=1e-5, atol=1e-6)


def test_an_objective_without_a_penalty_is_the_loss_and_has_no_kinks():
    X, y, s = biased_data(60, 3, 3)
    model, groups = SoftmaxModel(X, y, 3), Groups.from_labels(s)
    objective = FairObjective(model, None, groups)
    at = objective.at(np.ones(model.shape), 0.7)
    assert at.value == pytest.approx(at.loss)
    assert at.penalty == pytest.approx(0)
    assert not objective.has_kinks
    assert FairObjective(model, RenyiPenalty(), groups).has_kinks


def test_a_history_has_one_entry_for_each_evaluation_and_counts_the_steps():
    X, y, s = biased_data(60, 3, 3)
    objective = FairObjective(SoftmaxModel(X, y, 3), RenyiPenalty(), Groups.from_labels(s))
    history = History()
    assert history.n_iter == 0
    points = np.random.default_rng(3).normal(size=(3, *objective.model.shape))
    for theta in points:
        history.record(objective.at(theta, 2.0))
    assert history.n_iter == 2
    values, gradients = zip(*(objective(theta, 2.0) for theta in points))
    found = history.columns()
    np.testing.assert_allclose(found["objective"], values)
    np.testing.assert_allclose(found["loss"] + 2.0 * found["penalty"], values)
    np.testing.assert_allclose(found["gradient_max"], [np.abs(g).max() for g in gradients])
    np.testing.assert_allclose(found["gradient_norm"], [np.sqrt((g**2).sum()) for g in gradients])
