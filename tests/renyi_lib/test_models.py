"""The softmax model's loss, gradients and curvature match scipy and finite differences."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, softmax

from renyi_lib import models
from renyi_lib._rows import read_cells
from renyi_lib.models import SoftmaxModel
from renyi_lib.penalties import Groups
from renyi_lib.sources import ArraySource, Rows, Source

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
def test_loss_and_probabilities_match_scipy(n_classes, kind, fit_intercept):
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
def test_many_features_use_the_diagonal(monkeypatch, kind):
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
def test_gradient_satisfies_the_lipschitz_bound(n_classes):
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


@pytest.mark.parametrize("n_groups", [2, 12])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("by", ["cell", "group"])
@pytest.mark.parametrize("block_size", [17, 60])
def test_cells_in_blocks_give_the_means_and_gradients_of_rows(n_groups, n_classes, by, block_size):
    rng = np.random.default_rng(0)
    n, X, weight = 60, rng.normal(size=(60, 3)), rng.uniform(0.5, 2, 60)
    y, s = rng.permutation(np.arange(n) % n_classes), rng.permutation(np.arange(n) % n_groups)
    cells, cell, _ = read_cells(X, y, s, weight)
    source = ArraySource(X, cell, weight, block_size)
    factor = rng.uniform(1, 2, n_classes)
    model = SoftmaxModel.over(source, cells, factor[cells.y] * cells.weight, by=by, l2=0.1)
    theta = rng.normal(size=model.shape)
    share = weight / weight.sum()
    Z = scores(X, theta, n_classes, True)
    F = softmax(Z, axis=1)
    loss = -np.sum(share * factor[y] * log_softmax(Z, axis=1)[np.arange(n), y])
    units = s if by == "group" else cell
    mass = np.bincount(units, share)
    means = np.stack([np.bincount(units, share * f) / mass for f in F.T], axis=1)
    direction = rng.normal(size=means.shape)
    for wanted in (False, True):
        point = model.at(theta, slopes=wanted)
        ridge = 0.05 * np.sum(theta[:, :3] ** 2)
        assert point.loss == pytest.approx(loss + ridge, rel=1e-12)
        np.testing.assert_allclose(point.F, means, atol=1e-13)
        by_loss = slopes(lambda t: model.at(t).loss, theta)
        np.testing.assert_allclose(point.gradient(), by_loss, atol=1e-7)
        by_means = slopes(lambda t: np.sum(direction * model.at(t).F), theta)
        np.testing.assert_allclose(point.pull_back([direction])[0], by_means, atol=1e-7)


@pytest.mark.parametrize("n_groups", [3, 12])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("by", ["cell", "group"])
def test_rows_of_any_source_have_the_gradients_of_arrays(n_groups, n_classes, by):
    rng = np.random.default_rng(0)
    n, X, weight = 60, rng.normal(size=(60, 3)), rng.uniform(0.5, 2, 60)
    y, s = rng.permutation(np.arange(n) % n_classes), np.sort(np.arange(n) % n_groups)
    parts = np.array_split(np.arange(n), 4)  # sorted, so that no part has all groups
    source = Source(lambda: (Rows(X[i], y[i], s[i], weight[i]) for i in parts))
    model = SoftmaxModel.over(source, by=by)
    cells, cell, _ = read_cells(X, y, s, weight)
    memory = SoftmaxModel.over(ArraySource(X, cell, weight), cells, by=by)
    point, expected = (each.at(np.ones(each.shape)) for each in (model, memory))
    assert point.loss == pytest.approx(expected.loss, rel=1e-12)
    np.testing.assert_allclose(point.F, expected.F, atol=1e-13)
    dF = rng.normal(size=point.F.shape)
    np.testing.assert_allclose(point.gradient(dF), expected.gradient(dF), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_blocks_give_the_same_result_as_at_once(n_classes):
    model, X, y, weight, theta = problem(n_classes)
    classes = np.arange(n_classes)
    cells, cell, _ = read_cells(X, y, None, weight)
    source = ArraySource(X, cell, weight, block_size=17)
    blocks = SoftmaxModel.over(source, cells, by="row", l2=0.3)
    assert cells.classes.tolist() == classes.tolist()
    point, expected = blocks.at(theta), model.at(theta)
    assert point.loss == pytest.approx(expected.loss, rel=1e-12)
    np.testing.assert_allclose(point.F, expected.F, atol=1e-13)
    dF = np.random.default_rng(1).normal(size=expected.F.shape)
    np.testing.assert_allclose(point.gradient(dF), expected.gradient(dF), atol=1e-12)


def test_by_default_there_is_an_intercept_and_no_ridge():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    cells, cell, _ = read_cells(X, y, None, None)
    theta = np.array([[3.0, -1.0]])
    Z = scores(X, theta, 2, True)
    expected = -log_softmax(Z, axis=1)[np.arange(3), y].mean()
    for model in (SoftmaxModel(X, y, 2), SoftmaxModel.over(ArraySource(X, cell), cells)):
        assert model.shape == (1, 2)
        assert model.at(theta).loss == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lipschitz_constant_is_the_bound_of_boehning(n_classes):
    model, X, _, weight, _ = problem(n_classes, l2=0.3)
    x = np.column_stack([X, np.ones(len(X))])
    top = np.linalg.eigvalsh((x * weight[:, None]).T @ x)[-1]
    assert model.lipschitz() == pytest.approx(top / (4 if n_classes == 2 else 2) + 0.3, rel=1e-12)


@pytest.mark.parametrize(("rare", "all_rows"), [(False, False), (True, True)])
def test_curvature_is_estimated_from_a_sample_unless_a_feature_is_rare(rare, all_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    if rare:
        X[:, 1] = np.arange(2000) % 100 == 0
    cells, cell, _ = read_cells(X, np.arange(2000) % 2, None, None)
    source = ArraySource(X, cell, block_size=500)
    model = SoftmaxModel.over(source, cells)
    sample, reading = model.sample
    assert (sample is source) == all_rows
    assert reading.mass == (2000 if all_rows else 200)
    whole = SoftmaxModel.over(ArraySource(X, cell), cells)
    assert whole.sample[0] is whole.source
