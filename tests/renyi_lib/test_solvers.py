"""The solvers reach the same minimum from any start, also at kinks."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from renyi_lib.classification import RenyiClassifier
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import Evaluation, FairObjective
from renyi_lib.penalties import BinaryRenyiPenalty, ConditionalPenalty, Groups, RenyiPenalty
from renyi_lib.regression import LinearModel
from renyi_lib.smooth_penalties import PredictionPenalty
from renyi_lib.solvers import _Whitening, gradient_descent, lbfgs, newton
from tests.renyi_lib.data import biased_data, objective_value


class TestKinks:
    """Three classes and three groups, with optima where the adversary has two best responses."""

    def test_lbfgs_ends_at_a_clarke_stationary_point(self):
        X, y, s = biased_data(300, 3, 3, n_features=3, seed=2)
        lam = 30.0
        clf = RenyiClassifier(lam, tol=1e-4).fit(X, y, sensitive_features=s)
        groups = Groups.from_labels(s)
        model = SoftmaxModel(X, y, 3)
        point = model.at(np.column_stack([clf.coef_, clf.intercept_]))
        T = groups.table(point.F)
        q = groups.q
        Q = T / np.sqrt(np.outer(T.sum(axis=1), q))
        _, sigma, Vt = np.linalg.svd(Q)
        assert sigma[2] == pytest.approx(sigma[1], rel=0.01)

        def gradient(v):
            h = v / np.sqrt(q)
            m = (T @ h) / T.sum(axis=1)
            dF = groups.spread(2 * np.outer(m, h) - (m**2)[:, None])
            return point.gradient(lam * dF)

        # The gradient at v is quadratic in v, so mixtures over v = (cos a, sin a) fill a disc.
        angles = np.linspace(0, np.pi, 60, endpoint=False)
        pure = np.array([gradient(np.cos(a) * Vt[1] + np.sin(a) * Vt[2]) for a in angles])
        pure = pure.reshape(60, -1)
        assert np.abs(pure).max(axis=1).min() > 0.01
        assert np.abs(smallest_mixture(pure)).max() < 2e-3

    def test_lbfgs_reaches_a_lower_objective_than_gradient_steps(self):
        X, y, s = biased_data(300, 3, 3, n_features=3, seed=2)
        fast = RenyiClassifier(30).fit(X, y, sensitive_features=s)
        with pytest.warns(ConvergenceWarning):
            slow = RenyiClassifier(30, solver="gd", max_iter=3000).fit(X, y, sensitive_features=s)
        assert objective_value(fast, X, y, s) < slow.history_["objective"].min()
        assert fast.n_iter_ < 300

    def test_symmetric_tie_is_solved(self):
        # Rolling features, class and group together maps the data to itself.
        rng = np.random.default_rng(0)
        i = np.arange(60)
        noise = rng.normal(size=(60, 3)) + np.eye(3)[i % 3] + np.eye(3)[i // 3 % 3]
        X = np.vstack([np.roll(noise, k, axis=1) for k in range(3)])
        y = np.concatenate([(i + k) % 3 for k in range(3)])
        s = np.concatenate([(i // 3 + k) % 3 for k in range(3)])
        clf = RenyiClassifier(10).fit(X, y, sensitive_features=s)
        rolled = clf.predict_proba(np.roll(X, 1, axis=1))
        np.testing.assert_allclose(rolled, np.roll(clf.predict_proba(X), 1, axis=1), atol=1e-3)
        assert clf.history_["objective"][-1] == pytest.approx(objective_value(clf, X, y, s))

    def test_smoothing_does_not_change_a_smooth_optimum(self):
        X, y, s = biased_data(300, 3, 3, n_features=3, seed=2)
        fast = RenyiClassifier(0.3, tol=1e-6).fit(X, y, sensitive_features=s)
        slow = RenyiClassifier(0.3, tol=1e-6, solver="gd", max_iter=20000)
        slow.fit(X, y, sensitive_features=s)
        assert objective_value(fast, X, y, s) == pytest.approx(
            objective_value(slow, X, y, s), abs=1e-8
        )


def smallest_mixture(points):
    """The point of least norm in the convex hull, by Frank-Wolfe with exact line search."""
    mixture = points.mean(axis=0)
    for _ in range(5000):
        vertex = points[(points @ mixture).argmin()]
        step = vertex - mixture
        length = step @ step
        if length == 0:
            break
        mixture = mixture + np.clip(-(mixture @ step) / length, 0, 1) * step
    return mixture


def test_lbfgs_can_be_called_on_any_objective():
    X, y, s = biased_data()
    objective = FairObjective(
        SoftmaxModel(X, y, 2),
        ConditionalPenalty(RenyiPenalty()),
        Groups.from_labels(s, y=y),
    )
    found = lbfgs(objective, np.zeros(objective.model.shape), 3.0)
    assert found.converged
    clf = RenyiClassifier(3, fairness="equalized_odds").fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(found.theta[:, :-1], clf.coef_, atol=1e-3)


def objective_of(X, y, s):
    return FairObjective(SoftmaxModel(X, y, 2), BinaryRenyiPenalty(), Groups.from_labels(s))


def test_lbfgs_has_no_stage_below_its_starting_lam():
    X, y, s = biased_data()
    objective = objective_of(X, y, s)
    at_10 = lbfgs(objective, np.zeros(objective.model.shape), 10.0)
    cold = lbfgs(objective, np.zeros(objective.model.shape), 1e4)
    warm = lbfgs(objective, at_10.theta, 1e4, lam_before=1e3)
    # A cold start raises lam by factors of 10, a start from the solution for 1000 in one step.
    assert np.unique(cold.history.columns()["lam"]).tolist() == [0, 10, 100, 1000, 1e4]
    assert np.unique(warm.history.columns()["lam"]).tolist() == [1e4]
    assert warm.converged


def test_lbfgs_takes_the_one_stage_between_two_values_of_lam():
    X, y, s = biased_data()
    objective = objective_of(X, y, s)
    at_10 = lbfgs(objective, np.zeros(objective.model.shape), 10.0)
    found = lbfgs(objective, at_10.theta, 500.0, lam_before=10.0)
    assert np.unique(found.history.columns()["lam"]).tolist() == [100, 500]
    assert found.converged


@pytest.mark.parametrize("max_iter", [3, 10, 20])
def test_lbfgs_stops_after_the_given_number_of_iterations(max_iter):
    X, y, s = biased_data(300, 3, 3, n_features=3, seed=2)
    objective = FairObjective(SoftmaxModel(X, y, 3), RenyiPenalty(), Groups.from_labels(s))
    theta = np.random.default_rng(0).normal(size=objective.model.shape)
    found = lbfgs(objective, theta, 30.0, lam_before=30.0, tol=1e-12, max_iter=max_iter)
    assert not found.converged
    assert found.history.n_iter == max_iter


def regression(n_groups, seed=0, n=300):
    """A regression whose features reveal the group, and its least squares solution as a start."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(np.arange(n) % n_groups)
    X = rng.normal(size=(n, 3)) + np.outer(s, [1.0, -0.5, 0.2])
    y = X @ [1.0, 1.0, -1.0] + rng.normal(size=n)
    model = LinearModel(X, (y - y.mean()) / y.std())
    objective = FairObjective(model, PredictionPenalty(n_functions=6), Groups.from_labels(s))
    start = np.linalg.lstsq(model.X, model.y, rcond=None)[0][None]
    return objective, start


class TestNewton:
    @pytest.mark.parametrize("seed", range(3))
    def test_solver_decreases_monotonically_to_a_stationary_point(self, seed):
        objective, start = regression(2, seed)
        found = newton(objective, start, 10.0, tol=1e-7)
        assert found.converged
        columns = found.history.columns()
        assert np.unique(columns["lam"]) == pytest.approx([0.1 * 10 ** (k / 2) for k in range(5)])
        # With two groups nothing is smoothed, and each step at one lam lowers the objective.
        for lam in np.unique(columns["lam"]):
            value = columns["objective"][columns["lam"] == lam]
            assert (np.diff(value) < 1e-12).all()
        # It stops at the first point whose gradient is small enough.
        assert columns["gradient_max"][-1] <= 1e-7 < columns["gradient_max"][-2]
        value, gradient = objective(found.theta, 10.0)
        assert np.abs(gradient).max() <= 1e-7
        for step in 1e-3 * np.random.default_rng(0).normal(size=(20, *found.theta.shape)):
            assert objective(found.theta + step, 10.0)[0] > value

    def test_a_bad_start_does_not_overshoot(self):
        objective, start = regression(2)
        rng = np.random.default_rng(1)
        for _ in range(5):
            theta = start + rng.normal(size=start.shape)
            found = newton(objective, theta, 3.0, lam_before=3.0, tol=1e-6)
            columns = found.history.columns()
            assert np.unique(columns["lam"]).tolist() == [3.0]
            assert (np.diff(columns["objective"]) < 1e-12).all()
            assert found.converged

    def test_kinks_are_smoothed_down_to_the_resolution(self):
        objective, start = regression(4)
        values = []
        for resolution in (1e-2, 1e-5):
            found = newton(objective, start, 3.0, tol=1e-6, resolution=resolution)
            assert found.converged
            smooth = objective.at(found.theta, 3.0).smoothed(max(resolution, 1e-6))
            values.append(objective(found.theta, 3.0)[0])
            assert smooth.steepness <= 1e-5
        assert values[1] <= values[0] + 1e-9

    def test_stops_after_the_given_number_of_iterations(self):
        objective, start = regression(2)
        found = newton(objective, start, 10.0, tol=1e-12, max_iter=3)
        assert not found.converged
        assert found.history.n_iter == 3


class CoarseEvaluation(Evaluation):
    """An evaluation with an exact gradient, but a value without its last digits."""

    @property
    def value(self):
        return round(super().value, 12)


class CoarseObjective(FairObjective):
    n_calls = 0

    def at(self, theta, lam, **options):
        self.n_calls += 1
        return CoarseEvaluation(self, self.model.at(theta), lam, self.penalty)


def test_gradient_guides_steps_below_rounding_errors():
    X, y, s = biased_data()
    objective = CoarseObjective(SoftmaxModel(X, y, 2), RenyiPenalty(), Groups.from_labels(s))
    found = lbfgs(objective, np.zeros(objective.model.shape), 3.0, tol=1e-10)
    assert found.converged
    assert found.history.columns()["gradient_max"][-1] <= 1e-10
    assert objective.n_calls < 200


@pytest.mark.parametrize("seed", range(4))
def test_lbfgs_stops_at_a_kink_despite_an_unreachable_tolerance(seed):
    X, y, s = biased_data(300, 3, 3, seed=seed)
    objective = CoarseObjective(SoftmaxModel(X, y, 3), RenyiPenalty(), Groups.from_labels(s))
    lbfgs(objective, np.zeros(objective.model.shape), 30.0, tol=1e-9)
    assert objective.n_calls < 2000


def test_saturated_category_does_not_corrupt_the_newton_step():
    # No sample in the last category has label 1, so its coefficient diverges, and its curvature,
    # about 1e-70, is far below the rounding errors of the other columns.
    rng = np.random.default_rng(0)
    rare = rng.random(2000) < 0.02
    X = np.column_stack([rng.normal(size=(2000, 5)), rare])
    y = (X[:, 0] + rng.normal(size=2000) > 0) & ~rare
    groups = Groups.from_labels((X[:, 0] + rng.normal(size=(3, 2000)) > 0).sum(axis=0))
    objective = FairObjective(SoftmaxModel(X, y.astype(int), 2), RenyiPenalty(), groups)
    theta = np.array([[1.0, 0, 0, 0, 0, -160, 0]])
    at = objective.at(theta, 1000)
    whitening = _Whitening(at)
    step = whitening.step(whitening.gradient(at.gradient))
    assert np.abs(step[0, :-2]).max() > 0.01
    assert np.abs(step).max() < 10


def threads_of_blas():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize("solver", [gradient_descent, lbfgs])
def test_solvers_use_one_thread_of_blas(solver):
    X, y, s = biased_data(100)
    used = []

    class Watched(BinaryRenyiPenalty):
        def of_table(self, T, q):
            used.append(threads_of_blas())
            return super().of_table(T, q)

    objective = FairObjective(SoftmaxModel(X, y, 2), Watched(), Groups.from_labels(s))
    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        solver(objective, np.zeros(objective.model.shape), 1.0, max_iter=5)
        assert threads_of_blas() == before
    assert used
    assert all(threads <= {1} for threads in used)
