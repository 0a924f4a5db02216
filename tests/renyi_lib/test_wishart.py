"""The largest root of a Wishart matrix matches multiprecision, chi-square and simulation."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from renyi_lib._wishart import largest_root_isf, largest_root_sf, sum_of_largest_roots_sf


def exact_tail(m, k, x, digits):
    """The largest root's tail probability by Chiani's formula, in multiprecision arithmetic."""
    mpmath.mp.dps = digits
    half, x = mpmath.mpf(1) / 2, mpmath.mpf(x)

    def pfaffian(share):
        A = mpmath.zeros(m + m % 2)
        for i in range(m):
            a = (k - m + 1) * half + i
            integral = share(a, x / 2) ** 2 / 2
            for j in range(i + 1, m):
                b = (k - m + 1) * half + j
                weight = mpmath.gamma(a + b - 1) / (mpmath.gamma(a) * mpmath.gamma(b))
                integral -= weight * share(a + b - 1, x) / 2 ** (a + b - 1)
                A[i, j] = share(a, x / 2) * share(b, x / 2) - 2 * integral
            if m % 2:
                A[i, m] = share(a, x / 2)
        return mpmath.sqrt(mpmath.det(A - A.T))

    below = pfaffian(lambda a, y: mpmath.gammainc(a, 0, y, regularized=True))
    return 1 - below / pfaffian(lambda a, y: mpmath.mpf(1))


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (4, 30), (9, 9)])
@pytest.mark.parametrize("where", [0.3, 0.7, 1.0, 1.5, 2.5, 4.0])
def test_tail_of_the_largest_root_is_accurate_to_twelve_decimals(shape, where):
    x = where * (np.sqrt(shape[0]) + np.sqrt(shape[1])) ** 2
    truth = float(exact_tail(*shape, x, 80))
    found = float(largest_root_sf(x, *shape))
    assert abs(found - truth) < 1e-12
    assert abs(found / truth - 1) < 1e-7


def test_with_one_row_the_largest_root_is_chi_square():
    x = np.linspace(0.1, 40, 50)
    assert np.allclose(largest_root_sf(x, 1, 5), chi2.sf(x, 5), rtol=1e-12)
    assert np.isclose(largest_root_isf(0.05, 5, 1), chi2.isf(0.05, 5), rtol=1e-12)


@pytest.mark.parametrize("shape", [(2, 3), (9, 9), (5, 400)])
def test_distribution_of_the_largest_root_matches_simulated_matrices(shape):
    G = np.random.default_rng(0).normal(size=(1500, *shape))
    roots = np.linalg.norm(G, 2, axis=(1, 2)) ** 2
    for level in (0.9, 0.5, 0.1, 0.02):
        assert abs(np.mean(roots > largest_root_isf(level, *shape)) - level) < 0.04


def test_tail_probability_decreases_from_one():
    x = np.linspace(-1, 300, 500)
    for shape in ((2, 2), (3, 7), (30, 45), (2, 3000)):
        tail = largest_root_sf(x * shape[1], *shape)
        assert tail[0] == 1
        assert np.all(np.diff(tail) <= 1e-13)
        assert tail[-1] < 1e-13


def test_quantile_and_tail_are_inverse():
    for level, m, k in itertools.product((1e-12, 0.01, 0.5, 0.99), (2, 9), (2, 40)):
        assert np.isclose(largest_root_sf(largest_root_isf(level, m, k), m, k), level, rtol=1e-6)


def test_sum_of_largest_roots_matches_simulated_matrices():
    rng, shapes = np.random.default_rng(1), [(2, 3), (2, 2), (1, 3)]
    roots = sum(np.linalg.norm(rng.normal(size=(20000, *s)), 2, axis=(1, 2)) ** 2 for s in shapes)
    for x in (5, 10, 20):
        assert abs(np.mean(roots > x) - sum_of_largest_roots_sf(x, shapes)) < 0.012
    assert sum_of_largest_roots_sf(0, shapes) == 1
    assert 0 < sum_of_largest_roots_sf(200, shapes) < chi2.sf(200, 13)


@pytest.mark.parametrize("x", [0.3, 1.0, 8.0])
def test_a_sum_with_a_chi_square_is_the_integral_over_its_density(x):
    inside = quad(lambda t: chi2.pdf(t, 2) * float(largest_root_sf(x - t, 2, 2)), 0, x)[0]
    assert sum_of_largest_roots_sf(x, [(1, 2), (2, 2)]) == pytest.approx(
        inside + chi2.sf(x, 2), rel=1e-3
    )


def test_a_sum_of_chi_squares_is_chi_square():
    assert np.isclose(sum_of_largest_roots_sf(9.0, [(1, 2), (3, 1), (1, 1)]), chi2.sf(9.0, 6))
