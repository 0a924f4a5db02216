"""The softmax model: its loss, its gradients and its curvature, against scipy and differences."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, softmax

from renyi_lib import models
from renyi_lib.models import SoftmaxModel
from renyi_lib.penalties import Groups

CASES = pytest.mark.parametrize(
    ("n_classes", "kind", "fit_intercept"),
    [(2, "dense", True), (2, "sparse", True), (2, "dense", False), (3, "dense", True),
     (4, "sparse", False)],
)  # fmt: skip


def problem(n_classes, kind="dense", fit_intercept=True, l2=0.3, n=40):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.7)
    y = rng.permutation(np.arange(n) % n_classes)
    weight = rng.dirichlet(np.ones(n))
    rows = sparse.csr_array(X) if kind == "sparse" else X
    model = SoftmaxModel(rows, y, n_classes, weight, fit_intercept=fit_intercept, l2=l2)
    return model, X, y, weight, rng.normal(size=model.shape)


def scores(X, theta, n_classes, fit_intercept):
    Z = (np.column_stack([X, np.ones(len(X))]) if fit_intercept else X) @ theta.T
    return np.column_stack([np.zeros(len(X)), Z[:, 0]]) if n_classes == 2 else Z


def slopes(function, theta, h=1e-6):
    found = np.empty_like(theta)
    for place in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[place] = h
        found[place] = (function(theta + step) - function(theta - step)) / (2 * h)
    return found


@CASES
def test_loss_and_probabilities_are_those_of_scipy(n_classes, kind, fit_intercept):
    model, X, y, weight, theta = problem(n_classes, kind, fit_intercept)
    point = model.at(theta)
    loss, F = point.loss, point.F
    Z = scores(X, theta, n_classes, fit_intercept)
    np.testing.assert_allclose(F, softmax(Z, axis=1), atol=1e-14)
    coefficients = theta[:, :3]
    ridge = 0.15 * np.sum(coefficients**2)
    expected = -np.sum(weight * log_softmax(Z, axis=1)[np.arange(len(y)), y]) + ridge
    assert loss == pytest.approx(expected, rel=1e-12)


@CASES
def test_gradients_agree_with_differences(n_classes, kind, fit_intercept):
    model, _, y, _, theta = problem(n_classes, kind, fit_intercept)
    dF = np.random.default_rng(1).normal(size=(len(y), n_classes))
    by_loss = slopes(lambda t: model.at(t).loss, theta)
    by_F = slopes(lambda t: np.sum(dF * model.at(t).F), theta)
    point = model.at(theta)
    np.testing.assert_allclose(point.gradient(), by_loss, atol=1e-8)
    np.testing.assert_allclose(point.gradient(dF), by_loss + by_F, atol=1e-8)
    both = point.pull_back([dF, 2 * dF])
    np.testing.assert_allclose(both, [by_F, 2 * by_F], atol=1e-8)
    assert point.pull_back([]) == []


@CASES
def test_slopes_of_the_table_agree_with_differences(n_classes, kind, fit_intercept):
    model, _, y, weight, theta = problem(n_classes, kind, fit_intercept)
    groups = Groups.from_labels(np.arange(len(y)) % 3, weight)
    found = model.at(theta).table_slopes(groups)
    for i in range(n_classes):
        for j in range(3):
            by_theta = slopes(lambda t, i=i, j=j: groups.table(model.at(t).F)[i, j], theta)
            np.testing.assert_allclose(found[i, j], by_theta.ravel(), atol=1e-8)


def test_extreme_scores_lose_no_digits():
    model = SoftmaxModel(np.array([[800.0], [-800.0]]), np.array([0, 1]), 2, fit_intercept=False)
    point = model.at(np.ones((1, 1)))
    assert point.loss == pytest.approx(800.0)
    assert np.isfinite(point.F).all()
    np.testing.assert_allclose(point.gradient(), [[800.0]])
    assert 0 <= model.at(-np.ones((1, 1))).loss < 1e-300


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_curvature_roots_invert_the_blocks_of_the_hessian(n_classes, kind):
    model, *_, theta = problem(n_classes, kind)
    roots = model.at(theta).curvature_roots()
    for k in range(len(theta)):

        def partial_gradient(row, k=k):
            moved = theta.copy()
            moved[k] = row
            return model.at(moved).gradient()[k]

        hessian = np.array(
            [
                (partial_gradient(theta[k] + h) - partial_gradient(theta[k] - h)) / 2e-5
                for h in 1e-5 * np.eye(theta.shape[1])
            ]
        )
        np.testing.assert_allclose(
            roots[k] @ roots[k].T @ hessian, np.eye(theta.shape[1]), atol=1e-5
        )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_with_many_features_the_diagonal_has_to_do(monkeypatch, kind):
    model, *_, theta = problem(2, kind)
    full = model.at(theta).curvature_roots()[0]
    limit = model.lipschitz()
    monkeypatch.setattr(models, "MAX_DENSE", 1)
    (diagonal,) = model.at(theta).curvature_roots()
    assert diagonal.shape == (4,)
    hessian = np.linalg.inv(full @ full.T)
    np.testing.assert_allclose(diagonal, 1 / np.sqrt(np.diag(hessian)), rtol=1e-6)
    assert model.lipschitz() >= limit


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_changes_no_faster_than_lipschitz_says(n_classes):
    model, *_ = problem(n_classes)
    rng, limit = np.random.default_rng(0), model.lipschitz()
    ratios = []
    for _ in range(50):
        first, second = rng.normal(size=(2, *model.shape)) * 0.3
        change = [model.at(theta).gradient() for theta in (first, second)]
        ratios.append(np.linalg.norm(change[0] - change[1]) / np.linalg.norm(first - second))
    assert 0.2 * limit < max(ratios) <= limit


def test_canonical_theta_has_the_same_probabilities_and_is_shortest():
    model, *_, theta = problem(3)
    shortest = model.canonical(theta)
    np.testing.assert_allclose(model.at(shortest).F, model.at(theta).F, atol=1e-12)
    np.testing.assert_allclose(shortest.sum(axis=0), 0, atol=1e-12)
    binary, *_, theta = problem(2)
    assert binary.canonical(theta) is theta
