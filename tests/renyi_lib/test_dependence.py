"""Pearson's correlation, mutual information and HSIC against independent oracles."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from renyi_lib import _counting
from renyi_lib.dependence import hsic, normalized_mutual_information, pearson_correlation

from .test_correlation import properties, samples


@given(samples(st.integers(-9, 9), st.floats(-9, 9).map(lambda x: round(x, 3))))
@properties
def test_pearson_matches_numpy(pair):
    a, b = pair
    assume(np.ptp(a) > 0)
    assume(np.ptp(b) > 0)
    assert pearson_correlation(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-12)


def test_pearson_does_not_overflow():
    assert pearson_correlation([1e200, 2e200, 3e200], [1, 2, 3]) == pytest.approx(1)


def test_pearson_and_hsic_need_numbers():
    for measure in [pearson_correlation, hsic]:
        with pytest.raises(ValueError, match="a must contain numbers"):
            measure(["x", "y"], [0, 1])


@given(samples(st.integers(0, 3), st.integers(0, 3)))
@properties
def test_mutual_information_matches_scikit_learn(pair):
    a, b = pair
    assume(np.ptp(a) > 0 or np.ptp(b) > 0)
    letters = np.array(list("wxyz"))[a]
    assert normalized_mutual_information(letters, b) == normalized_mutual_info_score(a, b)


def hsic_by_the_trace(a, b, kernel, kernel_b, bandwidth):
    """HSIC by its definition, from n x n kernel matrices."""

    def kernel_matrix(x, kind):
        difference = x[:, None] - x
        if kind == "linear":
            return np.outer(x, x)
        if kind == "delta":
            return (difference == 0).astype(float)
        return np.exp(-(difference**2) / (2 * (bandwidth or x.std()) ** 2))

    n = len(a)
    H = np.eye(n) - 1 / n
    return np.trace(kernel_matrix(a, kernel) @ H @ kernel_matrix(b, kernel_b) @ H) / n**2


KERNELS = ["gaussian", "linear", "delta"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kernel_b", KERNELS)
@pytest.mark.parametrize("bandwidth", [None, 0.2, 3.0])
def test_hsic_matches_the_trace_in_its_definition(kernel, kernel_b, bandwidth):
    rng = np.random.default_rng(16)
    for a in [rng.normal(size=80), rng.standard_t(2, size=80), rng.integers(0, 3, 80) * 1.0]:
        if kernel == "delta":
            a = np.round(a)
        b = np.round(np.abs(a) + rng.normal(size=80))
        found = hsic(a, b, kernel=kernel, kernel_b=kernel_b, bandwidth=bandwidth)
        expected = hsic_by_the_trace(a, b, kernel, kernel_b, bandwidth)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-14)


def test_hsic_of_two_samples_is_correct():
    assert hsic([0.0, 1.0], [0, 1]) == pytest.approx((1 - np.exp(-2)) / 4)
    assert hsic([0.0, 1.0], ["x", "x"]) == 0.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kernel_b", KERNELS)
def test_normalized_hsic_lies_between_zero_and_one(kernel, kernel_b):
    rng = np.random.default_rng(17)
    a = rng.integers(0, 5, 50)
    b = (a + rng.integers(0, 2, 50)) % 5
    value = hsic(a, b, kernel=kernel, kernel_b=kernel_b, normalized=True)
    assert 0 < value < 1
    same = hsic(a, a, kernel=kernel, kernel_b=kernel, normalized=True)
    assert same == pytest.approx(1.0, abs=1e-14)
    assert same <= 1.0


def test_hsic_does_not_depend_on_units():
    rng = np.random.default_rng(18)
    a, b = rng.normal(size=(2, 60))
    expected = hsic(a, b, kernel_b="gaussian")
    assert hsic(1e6 * a + 5, -1e-6 * b, kernel_b="gaussian") == pytest.approx(expected, rel=1e-8)


def test_gaussian_kernel_detects_what_the_linear_kernel_misses():
    a = np.array([-1.0, 0.0, 1.0] * 20)
    b = a**2
    assert hsic(a, b, kernel="linear", kernel_b="linear") == pytest.approx(0, abs=1e-30)
    assert hsic(a, b, kernel="gaussian", kernel_b="gaussian") > 0.01


def test_hsic_with_a_discrete_variable_uses_linear_memory():
    n = 100_000  # a kernel matrix would take 80 gigabytes
    rng = np.random.default_rng(19)
    a, b = rng.normal(size=n), rng.integers(0, 3, n)
    tracemalloc.start()
    value = hsic(a, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < value < 1e-4
    assert peak < 200 * n


def test_hsic_of_too_many_pairs_of_labels_raises_with_advice(monkeypatch):
    monkeypatch.setattr(_counting, "_MAX_CELLS", 5)
    a, b = [0, 1] * 6, ["x", "y", "z"] * 4
    with pytest.raises(ValueError, match=r"features of a and b would have 2 x 3 cells.*merge"):
        hsic(a, b, kernel="delta")
    monkeypatch.setattr(_counting, "_MAX_CELLS", 6)
    assert hsic(a, b, kernel="delta") == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "cubic"}, "kernel must be"),
        ({"kernel_b": "cubic"}, "kernel_b must be"),
        ({"bandwidth": 0}, "bandwidth must be a positive number"),
        ({"bandwidth": -1.0}, "bandwidth must be a positive number"),
        ({"bandwidth": np.nan}, "bandwidth must be a positive number"),
        ({"bandwidth": 1e-9}, "bandwidth is .* times smaller than the range of a"),
    ],
)
def test_hsic_with_invalid_options_raises(options, message):
    with pytest.raises(ValueError, match=message):
        hsic([0.0, 1.0, 2.0], [0, 1, 0], **options)
