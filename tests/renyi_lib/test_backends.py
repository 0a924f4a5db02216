"""Both boosting libraries have the same interface to scores, start values and importances."""

import numpy as np
import pytest
from scipy import sparse

from renyi_lib._backends import BACKENDS, Forest, Settings, _threads

SETTINGS = {
    "n_estimators": 12,
    "learning_rate": 0.3,
    "max_leaves": 7,
    "max_depth": None,
    "min_child_weight": 1e-3,
    "l2": 0.0,
    "n_jobs": None,
    "seed": 0,
    "more": {},
}


@pytest.fixture(params=BACKENDS)
def backend(request):
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return BACKENDS[request.param]


def regression(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 1] > 0, 3.0, -1.0) + 0.5 * (X[:, 0] > 1)


def squared_error(y):
    return lambda z: (np.asarray(z, dtype=float) - y, np.ones_like(y))


def train(backend, X, y, start=0.0, validation=None, **changes):
    settings = Settings(**(SETTINGS | changes))
    start = np.asarray(start)
    data = backend.data(X, [], start, settings.more)
    return backend.train(data, squared_error(y), settings, start, validation)


def test_trees_follow_the_gradient(backend):
    X, y = regression()
    forest = train(backend, X, y)
    assert isinstance(forest, Forest)
    assert forest.n_trees == 12
    before, after = np.mean(y**2), np.mean((forest.scores(X) - y) ** 2)
    assert after < 0.02 * before


def test_scores_start_from_the_given_values(backend):
    X, y = regression()
    forest = train(backend, X, y + 100, start=100.0, n_estimators=3)
    plain = train(backend, X, y, n_estimators=3)
    np.testing.assert_allclose(forest.scores(X), plain.scores(X) + 100, atol=1e-3)


def test_importances_sum_to_one_and_name_the_feature_that_matters(backend):
    X, y = regression()
    importances = train(backend, X, y).importances(3)
    assert importances.shape == (3,)
    assert importances.sum() == pytest.approx(1)
    assert importances.argmax() == 1


def test_sparse_and_dense_rows_give_similar_scores(backend):
    X, y = regression()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = train(backend, X, y).scores(X)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(train(backend, rows, y).scores(rows).ravel(), dense, atol=0.3)


def test_early_stopping_keeps_the_best_round(backend):
    X, y = regression()
    start, seen = np.asarray(0.0), []
    data = backend.data(X, [], start, {})
    held = backend.data(X[:100], [], start, {}, like=data)

    def metric(z):
        # It falls for five rounds, and then rises.
        seen.append(len(seen))
        return float(abs(len(seen) - 5))

    settings = Settings(**(SETTINGS | {"n_estimators": 50}))
    forest = backend.train(data, squared_error(y), settings, start, (held, metric, 3))
    assert forest.n_trees < 12
    assert len(seen) < 20


def test_n_jobs_none_is_one_thread_and_minus_one_is_all():
    assert [_threads(n) for n in (None, 1, 4, -1)] == [1, 1, 4, 0]


def test_parameters_set_by_the_estimator_are_listed():
    for backend in BACKENDS.values():
        assert {"learning_rate", "max_depth", "objective"} <= backend.taken
