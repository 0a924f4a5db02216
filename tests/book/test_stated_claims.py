"""Claims that need no data, each stated and checked in a few lines."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from renyi_lib.classification import RenyiClassifier
from renyi_lib.clustering import RenyiKMeans
from renyi_lib.correlation import renyi_correlation
from renyi_lib.dependence import hsic
from renyi_lib.regression import RenyiRegressor

# A is symmetric about 0, and LARGE, which depends on A but is uncorrelated with it, is |A| > 2.
A = np.tile(np.arange(-3.0, 4), 10)
LARGE = (np.abs(A) > 2).astype(int)


def test_strongly_dependent_variables_may_have_no_pearson_correlation():
    assert np.corrcoef(A, A**2)[0, 1] == pytest.approx(0, abs=1e-12)
    assert renyi_correlation(A, A**2) == pytest.approx(1)


def test_hsic_of_a_variable_with_itself_is_not_constant():
    """With a linear kernel and the second argument as groups, it changes with the unit of A."""
    covariances = [np.cov(A, value == A, bias=True)[0, 1] for value in np.unique(A)]
    assert hsic(A, A, kernel="linear") == pytest.approx(np.sum(np.square(covariances)))
    assert hsic(10 * A, A, kernel="linear") == pytest.approx(100 * hsic(A, A, kernel="linear"))


def test_renyi_and_gaussian_hsic_detect_what_pearson_and_linear_hsic_miss():
    assert renyi_correlation(A, LARGE) == pytest.approx(1)
    assert np.corrcoef(A, LARGE)[0, 1] == pytest.approx(0, abs=1e-12)
    assert hsic(A, LARGE, kernel="linear") == pytest.approx(0, abs=1e-12)
    assert hsic(A, LARGE) > 0.01


@pytest.mark.parametrize("seed", range(5))
def test_the_maximum_of_functions_with_smooth_gradients_is_weakly_convex(seed):
    """If |f_k''| <= L, adding L x^2 / 2 to max_k f_k makes it convex."""
    rng = np.random.default_rng(seed)
    speed, phase, size = rng.uniform(0.5, 3, 6), rng.uniform(0, 6, 6), rng.uniform(0.5, 2, 6)
    L = (size * speed**2).max()

    def lifted(x):
        waves = size * np.sin(np.multiply.outer(x, speed) + phase)
        return waves.max(axis=-1) + L * x**2 / 2

    a, b = rng.uniform(-10, 10, (2, 20_000))
    excess = lifted((a + b) / 2) - (lifted(a) + lifted(b)) / 2
    assert excess.max() < 1e-12
    # Without this term it is not convex.
    bare = [lifted(x) - L * x**2 / 2 for x in ((a + b) / 2, a, b)]
    assert (bare[0] - (bare[1] + bare[2]) / 2).max() > 0.1


@pytest.mark.parametrize("seed", range(5))
def test_line_6_gives_the_best_assignment_for_given_centers_and_w(seed):
    rng = np.random.default_rng(seed)
    x, s, centers, w = rng.normal(size=5), rng.integers(0, 2, 5), rng.normal(size=3), rng.random(3)
    cost = (x[:, None] - centers) ** 2 - 2.0 * (w - s[:, None]) ** 2
    best = min(sum(cost[n, k] for n, k in enumerate(to)) for to in product(range(3), repeat=5))
    assert cost.min(axis=1).sum() == pytest.approx(best)


def test_decisions_from_an_uncorrelated_score_may_be_unfair():
    """Mean scores are equal, but most scores of group 1 are just below one half."""
    s = np.repeat([0, 1], 10)
    score = np.concatenate([np.repeat([0.1, 0.9], 5), np.repeat([0.45, 0.95], [9, 1])])
    assert np.corrcoef(score, s)[0, 1] == pytest.approx(0, abs=1e-12)
    rates = [(score[s == g] > 0.5).mean() for g in (0, 1)]
    assert min(rates) / max(rates) < 0.8


def test_decision_may_depend_on_groups_without_correlating_with_their_codes():
    """Groups 0 and 3 offset groups 1 and 2, so that the covariance with the number is 0."""
    rates, number = np.array([0.3, 0.9, 0.0, 0.6]), np.arange(4)
    s = np.repeat(number, 10)
    decision = np.concatenate([np.arange(10) < 10 * rate for rate in rates]).astype(int)
    assert np.corrcoef(decision, s)[0, 1] == pytest.approx(0, abs=1e-12)
    assert renyi_correlation(decision, s) > 0.5


def test_the_penalty_adds_few_multiplications_to_a_step_of_the_network():
    """Counted from the shapes: 64 features, 12 hidden nodes, two classes, batches of 128."""
    layers = 64 * 12 + 12 * 2
    forward_and_backward = 3 * 128 * layers
    # Each sample's two probabilities enter a table, and get a gradient from it.
    penalty = 2 * 128 * 2
    assert penalty / forward_and_backward < 0.01


def test_descent_may_end_at_a_minimum_that_is_not_global():
    x = np.array([-3, 0, 0, 1, 1, 2, 4, 4, 4, 4])
    s = np.array([1, 1, 1, 0, 1, 1, 0, 0, 0, 0])
    y = np.array([0] + 9 * [1])

    def objective(theta):
        f = expit(theta * x - 1)
        loss = -(y * np.log(f) + (1 - y) * np.log1p(-f)).mean()
        P = np.array([[(1 - f)[s == g].sum(), f[s == g].sum()] for g in (0, 1)]).T / 10
        Q = P / np.sqrt(np.outer(P.sum(axis=1), P.sum(axis=0)))
        return loss + 3 * np.linalg.svd(Q, compute_uv=False)[1] ** 2

    low, high = (
        minimize_scalar(objective, bounds=bounds, method="bounded") for bounds in ((-1, 1), (2, 4))
    )
    for found in (low, high):
        # A minimum, not the end of the interval.
        assert all(objective(found.x + step) > found.fun for step in (-1e-3, 1e-3))
    assert high.fun - low.fun > 0.1


def test_the_penalty_serves_four_tasks():
    """It halves rho_R in classification, clustering, regression and dimension reduction."""
    rng = np.random.default_rng(5)
    s = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2)) + np.outer(s, [2.0, 0.0])
    y = X @ [1.0, 1.0] + rng.normal(size=200)
    groups = {"sensitive_features": s}

    def halves(values):
        return (values > np.median(values)).astype(int)

    def along(angle):
        return (X - X.mean(axis=0)) @ [np.cos(angle), np.sin(angle)]

    def reduced(lam):
        angles = np.linspace(0, np.pi, 180, endpoint=False)
        cost = [
            lam * renyi_correlation(halves(along(a)), s) ** 2
            - along(a).var() / X.var(axis=0).sum()
            for a in angles
        ]
        return halves(along(angles[np.argmin(cost)]))

    tasks = {
        "classification": lambda lam: halves(
            RenyiClassifier(lam).fit(X, y > 1, **groups).predict_proba(X)[:, 1]
        ),
        "clustering": lambda lam: (
            RenyiKMeans(3, 100 * lam, random_state=1).fit(X, **groups).labels_
        ),
        "regression": lambda lam: halves(RenyiRegressor(lam).fit(X, y, **groups).predict(X)),
        "dimension reduction": reduced,
    }
    for name, task in tasks.items():
        before, after = (renyi_correlation(task(lam), s) for lam in (0.0, 100.0))
        assert after < before / 2, name


def test_algorithm_3_works_on_raw_rows():
    """Run it line by line from a random assignment of raw points, without preprocessing."""
    rng = np.random.default_rng(6)
    s = np.repeat([0, 1], 40)
    x = rng.normal(size=80) + 4.0 * s
    spreads = []
    for lam in (0.0, 60.0):
        to = rng.integers(0, 3, 80)
        for _ in range(20):
            centers = np.array([x[to == k].mean() if (to == k).any() else 0.0 for k in range(3)])
            for n in range(80):
                w = np.array([s[to == k].mean() if (to == k).any() else 0.5 for k in range(3)])
                to[n] = np.argmin((x[n] - centers) ** 2 - lam * (w - s[n]) ** 2)
        spreads.append(np.ptp([s[to == k].mean() for k in set(to.tolist())]))
    assert spreads[1] < spreads[0] / 2
