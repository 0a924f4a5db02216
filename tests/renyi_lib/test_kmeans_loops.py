"""The loops of fair k-means against a brute-force evaluation of the objective."""

import numpy as np
import pytest
from scipy import sparse

from renyi_lib._kmeans_loops import (
    compiled,
    descent_pass,
    join_in_turn,
    paper_pass,
    sparse_descent_pass,
)


def points(seed, n=14, n_groups=2, n_clusters=3, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    groups = rng.permutation(np.arange(n) % n_groups)
    labels = rng.permutation(np.arange(n) % n_clusters).astype(np.int32)
    weights = rng.integers(1, 4, size=n).astype(float) if weighted else np.ones(n)
    return X, groups, labels, weights


def memory(X, totals, n_clusters, n_margins=0):
    """The margins, state and reference that `descent_pass` keeps from one pass to the next."""
    rows, width = X.shape[1] + len(totals), (n_clusters + 3) // 4 * 4
    reference = np.zeros((rows + len(totals) + 3, n_clusters))
    return np.zeros(n_margins), np.zeros((rows + 2, width)), reference


def sse(X, weights, labels):
    total = 0.0
    for k in np.unique(labels):
        here = labels == k
        center = np.average(X[here], axis=0, weights=weights[here])
        total += np.sum(weights[here, None] * (X[here] - center) ** 2)
    return total


def chi_square(groups, weights, labels):
    p = np.bincount(groups, weights) / weights.sum()
    total = 0.0
    for k in np.unique(labels):
        here = labels == k
        mass = np.bincount(groups[here], weights[here], len(p))
        total += np.sum((mass - p * mass.sum()) ** 2 / p) / mass.sum()
    return total


def brute_pass(X, groups, weights, labels, weight):
    """Move each point once to the cluster with the smallest value of the whole objective."""
    labels, moved = labels.copy(), 0
    for i in range(len(X)):
        if np.sum(labels == labels[i]) < 2:
            continue
        values = []
        for k in range(labels.max() + 1):
            tried = labels.copy()
            tried[i] = k
            value = sse(X, weights, tried) + weight * chi_square(groups, weights, tried)
            values.append(value)
        best = int(np.argmin(values))
        if values[best] < values[labels[i]] - 1e-10:
            labels[i] = best
            moved += 1
    return labels, moved


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("weight", [0.0, 0.3, 30.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_pass_makes_the_moves_that_lower_the_objective_most(kind, weight, n_groups, weighted):
    for seed in range(3):
        X, groups, labels, weights = points(seed, n_groups=n_groups, weighted=weighted)
        totals = np.bincount(groups, weights)
        expected, moves = brute_pass(X, groups, weights, labels, weight)
        found = labels.copy()
        if kind == "dense":
            kept = memory(X, totals, 3)
            result = descent_pass(X, groups, weights, found, totals, 3, weight, 0.0, *kept, 1.0)
        else:
            rows = sparse.csr_array(X)
            squares = np.sum(X**2, axis=1)
            storage = (rows.data, rows.indices, rows.indptr, squares)
            result = sparse_descent_pass(
                *storage, groups, weights, found, totals, 3, 2, weight, 1e-12
            )
        moved, change, chi, compared = result
        assert compared == len(X)
        assert found.tolist() == expected.tolist()
        assert moved == moves
        assert change == pytest.approx(sse(X, weights, found) - sse(X, weights, labels), abs=1e-9)
        assert chi == pytest.approx(chi_square(groups, weights, found), abs=1e-9)


def test_the_last_point_of_a_cluster_stays():
    X = np.array([[0.0], [0.1], [5.0]])
    labels = np.array([0, 0, 1], dtype=np.int32)
    groups, totals = np.array([0, 1, 0]), np.array([2.0, 1.0])
    kept = memory(X, totals, 2)
    descent_pass(X, groups, np.ones(3), labels, totals, 2, 1e6, 0.0, *kept, 1.0)
    assert sorted(set(labels.tolist())) == [0, 1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lam", [0.0, 0.5, 20.0])
def test_paper_pass_matches_a_plain_loop(lam, weighted):
    X, s, labels, weights = points(4, weighted=weighted)
    K = 3
    count = np.bincount(labels, minlength=K)
    size = np.bincount(labels, weights, K)
    ones = np.bincount(labels, weights * s, K)
    w = ones / size
    centers = np.array([np.average(X[labels == k], axis=0, weights=weights[labels == k]) for k in
                        range(K)])  # fmt: skip
    expected, proportions = labels.copy(), w.copy()
    for i in range(len(X)):
        cost = np.sum((X[i] - centers) ** 2, axis=1) - lam * (proportions - s[i]) ** 2
        old, new = expected[i], int(np.argmin(cost))
        if cost[new] < cost[old]:
            expected[i] = new
            for k in (old, new):
                here = expected == k
                if here.any():
                    proportions[k] = np.average(s[here], weights=weights[here])
    found = labels.copy()
    moved, inertia = paper_pass(X, s, weights, found, centers, w, count, size, ones, lam)
    assert found.tolist() == expected.tolist()
    assert moved == np.sum(expected != labels)
    np.testing.assert_allclose(w, proportions, atol=1e-12)
    assert count.tolist() == np.bincount(expected, minlength=K).tolist()
    away = X - centers[found]
    assert inertia == pytest.approx(np.sum(weights[:, None] * away**2))
    for k in np.unique(found):
        here = found == k
        mean = np.average(X[here], axis=0, weights=weights[here])
        np.testing.assert_allclose(centers[k], mean, atol=1e-12)


def test_new_points_join_the_cluster_with_minimum_cost():
    rng = np.random.default_rng(0)
    table, groups = np.array([[4.0, 1.0], [2.0, 5.0], [0.0, 0.0]]), rng.integers(2, size=8)
    totals, distances, weight = np.array([6.0, 6.0]), rng.uniform(size=(8, 3)), 0.7
    p = totals / totals.sum()

    def penalty(counts):
        sizes = counts.sum(axis=1)
        full = sizes > 0
        gaps = (counts[full] - p * sizes[full, None]) ** 2 / p
        return np.sum(gaps.sum(axis=1) / sizes[full])

    counts, expected = table.copy(), []
    for i, g in enumerate(groups):
        costs = []
        for k in range(3):
            after = counts.copy()
            after[k, g] += 1
            rise = penalty(after) - penalty(counts)
            costs.append(distances[i, k] + weight * rise if counts[k].any() else np.inf)
        expected.append(int(np.argmin(costs)))
        counts[expected[-1], g] += 1
    found = join_in_turn(distances, groups, table, totals, weight)
    assert found.tolist() == expected
    np.testing.assert_allclose(table, counts)


def test_the_compiled_loop_gives_the_same_answer():
    pytest.importorskip("numba", reason="numba is not installed")
    X, groups, labels, weights = points(7)
    totals = np.bincount(groups, weights)
    plain, fast = labels.copy(), labels.copy()
    results = [
        loop(X, groups, weights, found, totals, 3, 0.5, 0.0, *memory(X, totals, 3), 1.0)
        for loop, found in ((descent_pass, plain), (compiled(descent_pass), fast))
    ]
    assert plain.tolist() == fast.tolist()
    np.testing.assert_allclose(*results, rtol=1e-12)


@pytest.mark.parametrize("tau", [1e-3, 0.02])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("weight", [0.0, 1.0, 100.0])
def test_margins_skip_comparisons_without_changing_moves(weight, n_groups, tau):
    pytest.importorskip("numba", reason="numba is not installed")
    rng, n, K = np.random.default_rng(0), 3000, 5
    source = rng.integers(K, size=n)
    X = rng.normal(size=(K, 3))[source] + 0.6 * rng.normal(size=(n, 3))
    groups = (rng.random(n) < 0.2 + 0.1 * source).astype(int) + (rng.random(n) < 0.3) * (
        n_groups - 2
    )
    totals, weights = np.bincount(groups).astype(float), np.ones(n)
    plain = source.astype(np.int32)
    skipping, kept, least = plain.copy(), memory(X, totals, K, n), n
    for step in range(16):
        data = X, groups, weights
        rest = totals, K, weight, 1e-12
        expected = compiled(descent_pass)(*data, plain, *rest, *memory(X, totals, K), 1.0)
        found = compiled(descent_pass)(
            *data, skipping, *rest, *kept, tau if step % 8 == 0 else 0.0
        )
        assert plain.tolist() == skipping.tolist()
        np.testing.assert_allclose(found[:3], expected[:3], rtol=1e-9, atol=1e-9)
        least = min(least, found[3])
    # The small tau is for larger data, where centers move less; here it skips fewer points.
    assert least < (n / 2 if tau == 0.02 else n)
