"""Claims that need no data: each stated and checked in a few lines, by hand or by brute force."""

from itertools import product

import numpy as np
import pytest

from renyi_lib.correlation import renyi_correlation
from renyi_lib.dependence import hsic

# A variable that is symmetric about 0, and whether it is large: determined, and uncorrelated.
A = np.tile(np.arange(-3.0, 4), 10)
LARGE = (np.abs(A) > 2).astype(int)


def test_variables_may_depend_strongly_and_have_no_pearson_correlation():
    assert np.corrcoef(A, A**2)[0, 1] == pytest.approx(0, abs=1e-12)
    assert renyi_correlation(A, A**2) == pytest.approx(1)


def test_hsic_of_a_variable_with_itself_is_no_fixed_number():
    """Linear kernel, the second argument as groups: it changes with the unit of the first."""
    covariances = [np.cov(A, value == A, bias=True)[0, 1] for value in np.unique(A)]
    assert hsic(A, A, kernel="linear") == pytest.approx(np.sum(np.square(covariances)))
    assert hsic(10 * A, A, kernel="linear") == pytest.approx(100 * hsic(A, A, kernel="linear"))


def test_renyi_sees_what_pearson_and_linear_hsic_miss_and_gaussian_hsic_sees_too():
    assert renyi_correlation(A, LARGE) == pytest.approx(1)
    assert np.corrcoef(A, LARGE)[0, 1] == pytest.approx(0, abs=1e-12)
    assert hsic(A, LARGE, kernel="linear") == pytest.approx(0, abs=1e-12)
    assert hsic(A, LARGE) > 0.01


@pytest.mark.parametrize("seed", range(5))
def test_the_maximum_of_functions_with_smooth_gradients_is_weakly_convex(seed):
    """max_k f_k with |f_k''| <= L: adding L x^2 / 2 makes it convex."""
    rng = np.random.default_rng(seed)
    speed, phase, size = rng.uniform(0.5, 3, 6), rng.uniform(0, 6, 6), rng.uniform(0.5, 2, 6)
    L = (size * speed**2).max()

    def lifted(x):
        waves = size * np.sin(np.multiply.outer(x, speed) + phase)
        return waves.max(axis=-1) + L * x**2 / 2

    a, b = rng.uniform(-10, 10, (2, 20_000))
    excess = lifted((a + b) / 2) - (lifted(a) + lifted(b)) / 2
    assert excess.max() < 1e-12
    # Without the square it is not convex, so that the term is needed.
    bare = [lifted(x) - L * x**2 / 2 for x in ((a + b) / 2, a, b)]
    assert (bare[0] - (bare[1] + bare[2]) / 2).max() > 0.1


@pytest.mark.parametrize("seed", range(5))
def test_line_6_gives_the_best_of_all_assignments_for_given_centres_and_w(seed):
    rng = np.random.default_rng(seed)
    x, s, centres, w = rng.normal(size=5), rng.integers(0, 2, 5), rng.normal(size=3), rng.random(3)
    cost = (x[:, None] - centres) ** 2 - 2.0 * (w - s[:, None]) ** 2
    best = min(sum(cost[n, k] for n, k in enumerate(to)) for to in product(range(3), repeat=5))
    assert cost.min(axis=1).sum() == pytest.approx(best)


def test_an_uncorrelated_score_may_decide_unfairly():
    """Equal mean scores; one group is sure, the other lukewarm and just below one half."""
    s = np.repeat([0, 1], 10)
    score = np.concatenate([np.repeat([0.1, 0.9], 5), np.repeat([0.45, 0.95], [9, 1])])
    assert np.corrcoef(score, s)[0, 1] == pytest.approx(0, abs=1e-12)
    rates = [(score[s == g] > 0.5).mean() for g in (0, 1)]
    assert min(rates) / max(rates) < 0.8
