"""A weighted rate has the variance of a rate over the effective number of samples."""

import numpy as np
import pytest

from renyi_lib._design import design_effect, effective_counts


def test_equal_weights_leave_counts_unchanged():
    counts = np.array([[3.0, 5.0], [0.0, 2.0]])
    for weight in (1.0, 0.25):
        found = effective_counts(weight * counts, weight**2 * counts, (1,))
        np.testing.assert_allclose(found, counts)
    assert design_effect(np.full(7, 3.0)) == pytest.approx(1.0)
    assert design_effect(np.array([1.0, 0.0, 1.0])) == pytest.approx(1.0)


def test_a_group_without_weight_has_effective_count_zero():
    sums, squares = np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[1.0, 5.0], [0.0, 0.0]])
    found = effective_counts(sums, squares, (1,))
    assert found[0].sum() == pytest.approx(16 / 6)
    assert not found[1].any()


def test_a_weighted_rate_has_the_variance_of_the_effective_number():
    rng = np.random.default_rng(0)
    weight = rng.lognormal(size=200)
    rates = (rng.random((20_000, 200)) < 0.3) @ weight / weight.sum()
    number = 200 / design_effect(weight)
    assert rates.var() == pytest.approx(0.3 * 0.7 / number, rel=0.05)
