"""random_state means the same in every function and estimator that takes it."""

import numpy as np
import pytest

from renyi_lib import RenyiBoostingClassifier, RenyiKMeans, continuous_correlation, renyi_test
from renyi_lib._random import as_generator, as_random_state
from renyi_lib.baselines import DoniniClassifier, RenyiNetworkClassifier
from tests.renyi_lib.data import biased_data


@pytest.mark.parametrize("read", [as_generator, as_random_state])
class TestReading:
    def test_integer_seed_gives_the_same_stream_each_time(self, read):
        first, second = read(3).normal(size=4), read(np.int64(3)).normal(size=4)
        np.testing.assert_array_equal(first, second)
        assert not np.array_equal(first, read(4).normal(size=4))

    @pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
    def test_generators_are_used_and_advance(self, read, make):
        stream = make(0)
        first, second = read(stream).normal(size=4), read(stream).normal(size=4)
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(first, read(make(0)).normal(size=4))

    def test_none_gives_a_different_stream_each_time(self, read):
        assert not np.array_equal(read(None).normal(size=4), read(None).normal(size=4))

    @pytest.mark.parametrize("value", ["seed", -1, 1.5, True, [1, 2]])
    def test_invalid_random_states_raise(self, read, value):
        with pytest.raises(ValueError, match="random_state must be None, a whole number"):
            read(value)


def test_integer_seeds_give_the_streams_of_numpy():
    assert as_generator(5).random() == pytest.approx(np.random.default_rng(5).random())
    assert as_random_state(5).rand() == pytest.approx(np.random.RandomState(5).rand())


@pytest.mark.parametrize(
    "estimator",
    [
        RenyiKMeans(2),
        DoniniClassifier(),
        RenyiNetworkClassifier(epochs=2),
        pytest.param(
            RenyiBoostingClassifier(n_estimators=2),
            marks=pytest.mark.skipif(
                "not __import__('importlib').util.find_spec('lightgbm')",
                reason="LightGBM is not installed",
            ),
        ),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
class TestEstimators:
    @pytest.mark.parametrize("kind", [int, np.random.default_rng, np.random.RandomState])
    def test_every_kind_of_random_state_is_accepted_and_repeatable(self, estimator, kind):
        X, y, s = biased_data(120, 2, 2)
        fits = [
            estimator.set_params(random_state=kind(7)).fit(X, y, sensitive_features=s)
            for _ in range(2)
        ]
        first, second = (fit.predict(X) for fit in fits)
        np.testing.assert_array_equal(first, second)

    def test_invalid_random_states_raise(self, estimator):
        X, y, s = biased_data(120, 2, 2)
        with pytest.raises(ValueError, match="random_state must be None, a whole number"):
            estimator.set_params(random_state="seed").fit(X, y, sensitive_features=s)


@pytest.mark.parametrize("kind", [int, np.random.default_rng, np.random.RandomState])
def test_functions_accept_every_kind_of_random_state(kind):
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 60))
    x = rng.normal(size=60)
    for function in (
        lambda seed: renyi_test(a, b, method="permutation", n_resamples=99, random_state=seed),
        lambda seed: continuous_correlation(x, b, random_state=seed).rho,
    ):
        assert function(kind(7)) == function(kind(7))
