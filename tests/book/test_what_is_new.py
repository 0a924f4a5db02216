"""Results of the book, each tested from its statement, without the book's code for it.

For each of them, the page "what is new here" names the proof and a test. Results that the tests of
no module cover are tested here.
"""

import itertools
import re
from math import gcd

import numpy as np
import pytest

from renyi_book.chapters import BOOK
from renyi_lib.penalties import Groups, HSICPenalty, PearsonPenalty, RenyiPenalty
from tests.book.checks import ROOT

PAGE = BOOK / "what_is_new.md"


def compositions(total, parts):
    """Yield the ways to write a number as an ordered sum of positive whole numbers."""
    for cuts in itertools.combinations(range(1, total), parts - 1):
        yield np.diff([0, *cuts, total])


@pytest.mark.parametrize("N", range(2, 13))
def test_exactly_fair_clusters_exist_if_and_only_if_the_gcd_is_large_enough(N):
    for ones, K in itertools.product(range(1, N), range(2, 5)):
        fair = any(all(n * ones % N == 0 for n in sizes) for sizes in compositions(N, min(K, N)))
        assert (fair and K <= N) == (gcd(N, ones) >= K)


@pytest.mark.parametrize("seed", range(20))
def test_line_6_overestimates_the_gain_by_the_formula(seed):
    rng = np.random.default_rng(seed)
    x, s = rng.normal(size=(9, 2)), rng.integers(2, size=9)
    where, lam = np.r_[[0, 0, 1, 1], rng.integers(2, size=5)], rng.exponential(5)
    centers = rng.normal(size=(2, 2))

    def objective(labels):
        """The paper's objective for fixed centers, with the adversary's best answer."""
        loss = ((x - centers[labels]) ** 2).sum()
        w = np.array([s[labels == k].mean() for k in (0, 1)])
        return loss - lam * ((w[labels] - s) ** 2).sum()

    w = np.array([s[where == k].mean() for k in (0, 1)])
    sizes = np.bincount(where)
    n = rng.integers(9)
    k, other = where[n], 1 - where[n]
    e = (w - s[n]) ** 2
    score = ((x[n] - centers) ** 2).sum(axis=1) - lam * e
    moved = where.copy()
    moved[n] = other
    surplus = lam * (e[other] / (sizes[other] + 1) + e[k] / (sizes[k] - 1))
    true = objective(moved) - objective(where)
    assert true == pytest.approx(score[other] - score[k] + surplus, abs=1e-9)


def softmax(Z):
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("scale", [0.1, 1, 10, 100])
def test_inner_maximum_of_algorithm_2_is_smooth_for_any_masses(scale):
    """|second derivative along a direction| <= 5/2 B², even if a class has almost no mass."""
    rng = np.random.default_rng(int(scale))
    worst = 0.0
    for _ in range(40):
        X = rng.normal(size=(12, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)  # B = 1
        sign = np.where(np.arange(12) < 1, 1.0, -1.0)  # one person in the first group
        theta, U = rng.normal(size=(2, 3, 3))
        theta, U = scale * theta, U / np.linalg.norm(U)

        def inner(t, X=X, sign=sign, theta=theta, U=U):
            F = softmax(X @ (theta + t * U).T)
            b, p = (F * sign[:, None]).mean(axis=0), F.mean(axis=0)
            return (b**2 / (4 * p)).sum()

        h = 1e-3
        worst = max(worst, abs(inner(h) - 2 * inner(0) + inner(-h)) / h**2)
    assert 0 < worst <= 2.5


@pytest.mark.parametrize("d", [2, 3, 5])
def test_three_penalties_are_functions_of_the_same_gap(d):
    rng = np.random.default_rng(d)
    s = np.r_[np.arange(d), rng.integers(d, size=200)]
    f = rng.beta(2, 5, size=len(s))
    F, groups = np.column_stack([1 - f, f]), Groups.from_labels(s)
    q = np.bincount(s) / len(s)
    r, mean = np.bincount(s, weights=f) / np.bincount(s), f.mean()
    square = (r - mean) ** 2
    used = slice(1, None) if d == 2 else slice(None)
    expected = {
        RenyiPenalty(): (q * square).sum() / (mean * (1 - mean)),
        PearsonPenalty(): (q / (1 - q) * square)[used].sum() / f.var(),
        HSICPenalty(kernel="linear"): 2 * (q**2 * square).sum(),
    }
    for penalty, value in expected.items():
        assert penalty.value_and_grad(F, groups)[0] == pytest.approx(value, rel=1e-9)


def test_no_cluster_is_fairer_than_divisibility_allows():
    for n, p in itertools.product(range(1, 30), (0.1, 1 / 3, 0.67)):
        shares = np.arange(n + 1) / n
        floor = min(abs(m - n * p) for m in range(n + 1)) / n
        assert abs(shares - p).min() == pytest.approx(floor, abs=1e-12)
        assert floor <= 0.5 / n + 1e-12


def test_tests_named_on_the_page_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)(?:::(\w+))?`", PAGE.read_text("utf8"))
    assert len(named) >= 10
    for file, *names in named:
        source = (ROOT / file).read_text("utf8")
        for name in filter(None, names):
            assert re.search(rf"(def|class) {name}\b", source), (file, name)
