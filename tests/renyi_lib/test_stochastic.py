"""Mini-batch penalties: gradients, bias, mean age, and where their memories converge."""

import numpy as np
import pytest

from renyi_lib.penalties import (
    ChiSquarePenalty,
    Groups,
    RenyiPenalty,
    best_response_W,
)
from renyi_lib.stochastic import BatchTable, Fermi, RunningTable, table_of_batch
from tests.renyi_lib.test_penalties import problem, some_groups


def population(seed=0, n=6000, c=3, d=3):
    """Soft labels that depend on the group, and the groups."""
    rng = np.random.default_rng(seed)
    s = some_groups(rng, n, d)
    scores = rng.normal(size=(n, c)) + 0.5 * np.eye(d, c)[s]
    F = np.exp(scores)
    return F / F.sum(axis=1, keepdims=True), s


def ways(q):
    n_groups = np.shape(q)[-1]
    return [
        BatchTable(n_groups),
        BatchTable(n_groups, "renyi"),
        RunningTable(n_groups, memory=100),
        RunningTable(n_groups, "renyi", memory=100),
        Fermi(q, step=0.1),
    ]


def test_a_batch_of_all_samples_has_the_value_and_gradient_of_the_penalty():
    F, s, _ = problem(0, n=60, c=3, d=4)
    for measure, penalty in (("chi-square", ChiSquarePenalty()), ("renyi", RenyiPenalty())):
        value, gradient = penalty.value_and_grad(F, s)
        for way in (BatchTable(4, measure), RunningTable(4, measure, memory=1)):
            found, by_F = way.value_and_grad(F, s)
            assert found == pytest.approx(value, rel=1e-10)
            np.testing.assert_allclose(by_F, gradient, atol=1e-14)


def test_table_of_a_batch_matches_the_table_of_its_groups():
    F, s, _ = problem(1, n=50, c=4, d=3)
    np.testing.assert_allclose(table_of_batch(F, s, 3), Groups.from_labels(s).table(F), rtol=1e-12)


def test_parallel_networks_are_independent():
    F, s = population(n=4 * 5 * 30)
    F, s = F.reshape(5, 4, 30, 3), s.reshape(5, 4, 30)
    q = np.full(3, 1 / 3)
    for together, *alone in zip(ways(q), *(ways(q) for _ in range(4))):
        for step in range(5):
            value, gradient = together.value_and_grad(F[step], s[step])
            for k, way in enumerate(alone):
                one, by_F = way.value_and_grad(F[step, k], s[step, k])
                assert value[k] == pytest.approx(one, abs=1e-14)
                np.testing.assert_allclose(gradient[k], by_F, atol=1e-14)


def test_a_batch_of_one_group_has_value_zero():
    F, _ = population(n=20)
    for measure in ("chi-square", "renyi"):
        value, gradient = BatchTable(3, measure).value_and_grad(F, np.full(20, 1))
        assert value == pytest.approx(0, abs=1e-15)
        np.testing.assert_allclose(gradient - gradient.mean(axis=1, keepdims=True), 0, atol=1e-15)


def test_group_missing_from_the_batch_is_left_out():
    F, s, _ = problem(2, n=40, c=3, d=2)
    for measure in ("chi-square", "renyi"):
        value, gradient = BatchTable(2, measure).value_and_grad(F, s)
        more, by_more = BatchTable(5, measure).value_and_grad(F, 3 * s)
        assert more == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(by_more, gradient, atol=1e-15)


class TestBias:
    """With groups of unequal spread and equal means, dependence in a batch is due to chance."""

    @staticmethod
    def mean_value(make, sizes, spreads, repetitions=4000, seed=0):
        rng = np.random.default_rng(seed)
        s = np.repeat(np.arange(len(sizes)), sizes)
        width = np.sqrt(3 * np.array(spreads))[s]
        x = 0.5 + width * rng.uniform(-1, 1, size=(repetitions, len(s)))
        F = np.stack([1 - x, x], axis=-1)
        return make().value_and_grad(F, np.broadcast_to(s, x.shape))[0].mean()

    @pytest.mark.parametrize(
        ("sizes", "spreads"), [((90, 10), (0.0, 0.08)), ((90, 10), (0.08, 0))]
    )
    def test_batch_bias_weights_variances_by_the_shares_of_the_other_groups(self, sizes, spreads):
        n = sum(sizes)
        share, variance = np.array(sizes) / n, np.array(spreads)
        predicted = ((1 - share) * variance).sum() / n / 0.25
        found = self.mean_value(lambda: BatchTable(2), sizes, spreads)
        assert found == pytest.approx(predicted, rel=0.08)
        # The formula for groups that are assigned at random is wrong by a factor of nine.
        assigned = (share * variance).sum() / (n - 1) / 0.25
        assert not 0.3 < assigned / found < 3

    def test_batch_bias_formula_holds_for_three_classes_and_four_groups(self):
        rng = np.random.default_rng(1)
        sizes = np.array([20, 40, 60, 80])
        s = np.repeat(np.arange(4), sizes)
        alpha = np.array([0.3, 1.0, 3.0, 30.0])[s]  # the same means, other spreads
        p = np.array([0.2, 0.3, 0.5])
        gamma = rng.gamma(np.multiply.outer(alpha, p), size=(3000, 200, 3))
        F = gamma / gamma.sum(axis=-1, keepdims=True)
        spread = np.multiply.outer(1 / (1 + np.array([0.3, 1.0, 3.0, 30.0])), p * (1 - p))
        predicted = ((1 - sizes / 200)[:, None] * spread / p).sum() / 200
        found = BatchTable(4).value_and_grad(F, np.broadcast_to(s, (3000, 200)))[0].mean()
        assert found == pytest.approx(predicted, rel=0.05)

    def test_a_running_table_has_the_bias_of_a_batch_of_twice_its_memory(self):
        rng = np.random.default_rng(2)
        size, memory, networks = 10, 100, 400
        way, seen = RunningTable(2, memory=memory), []
        for step in range(120):
            x, s = rng.random((networks, size)), rng.integers(2, size=(networks, size))
            value, _ = way.value_and_grad(np.stack([1 - x, x], axis=-1), s)
            if step >= 60:
                seen.append(value.mean())
        predicted = (1 / 12) / 0.25 / (2 * memory - size)
        assert np.mean(seen) == pytest.approx(predicted, rel=0.1)

    def test_fermi_gradient_is_unbiased_given_W(self):
        F, s = population(n=600)
        q = np.bincount(s) / len(s)
        W = best_response_W(table_of_batch(F, s, 3), q)
        rows = np.random.default_rng(3).permutation(600).reshape(60, 10)
        by_batches = np.empty_like(F)
        for batch in rows:
            way = Fermi(q)
            way.W = W
            by_batches[batch] = way.value_and_grad(F[batch], s[batch])[1] / 60
        _, gradient = ChiSquarePenalty().value_and_grad(F, s)
        np.testing.assert_allclose(by_batches, gradient, atol=1e-14)


class TestStationarity:
    """With a fixed network, the memory converges to the table of all samples."""

    @staticmethod
    def fed(way, F, s, size, epochs, seed=0):
        rng = np.random.default_rng(seed)
        for _ in range(epochs):
            for batch in rng.permutation(len(s)).reshape(-1, size):
                way.value_and_grad(F[batch], s[batch])
        return way

    @pytest.mark.parametrize("size", [1, 10, 100])
    def test_running_table_is_stationary_at_the_full_table(self, size):
        F, s = population(n=1000)
        way = self.fed(RunningTable(3, memory=500), F, s, size, epochs=2)
        np.testing.assert_allclose(way.table, table_of_batch(F, s, 3), atol=0.02)

    @pytest.mark.parametrize("size", [1, 10, 100])
    def test_fermi_matrix_is_stationary_at_the_best_response(self, size):
        F, s = population(n=1000)
        q = np.bincount(s) / len(s)
        way = self.fed(Fermi(q, step=size / 400), F, s, size, epochs=3)
        best = best_response_W(table_of_batch(F, s, 3), q)
        np.testing.assert_allclose(way.W, best, atol=0.1)

    def test_mean_age_of_a_running_table_is_memory_minus_batch_size(self):
        # All batches have one class and group before a change, and another after it. The share of
        # the first after k batches is (1 - beta)^k, and the sum of these shares is the mean age.
        way = RunningTable(2, memory=40)
        F, s = np.array([[1.0, 0.0]] * 10), np.zeros(10, int)
        for _ in range(20):
            way.value_and_grad(F, s)
        left = []
        for _ in range(400):
            way.value_and_grad(F[:, ::-1], s + 1)
            left.append(way.table[0, 0])
        assert 10 * np.sum(left) == pytest.approx(40 - 10, rel=1e-9)


def test_running_table_is_a_plain_average_until_the_memory_is_full():
    F, s = population(n=300)
    way = RunningTable(3, memory=10_000)
    for batch in np.arange(300).reshape(10, 30):
        way.value_and_grad(F[batch], s[batch])
    np.testing.assert_allclose(way.table, table_of_batch(F, s, 3), rtol=1e-12)


def test_single_precision_stays_single_and_groups_may_be_missing():
    F, s = population(n=32)
    for way in ways(np.full(4, 0.25)):
        value, gradient = way.value_and_grad(F.astype(np.float32), s)
        assert gradient.dtype == np.float32
        assert np.isfinite(gradient).all()
        assert np.isfinite(value)


def test_jax_backpropagates_the_gradient():
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(50, 4)), some_groups(rng, 50, 3)
    theta = rng.normal(size=(4, 3))

    def network(theta):
        return jax.nn.softmax(X @ theta, axis=1)

    F, pull_back = jax.vjp(network, theta)
    value, dF = BatchTable(3).value_and_grad(np.asarray(F), s)
    (by_theta,) = pull_back(jax.numpy.asarray(dF))

    def penalty(theta):
        T = network(theta).T @ np.eye(3)[s] / 50
        expected = T.sum(axis=1, keepdims=True) * T.sum(axis=0)
        return ((T - expected) ** 2 / expected).sum()

    expected, gradient = jax.value_and_grad(penalty)(theta)
    assert float(value) == pytest.approx(float(expected), rel=1e-4)
    np.testing.assert_allclose(by_theta, gradient, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BatchTable(1), "n_groups"),
        (lambda: BatchTable(2, "hsic"), "'chi-square', 'renyi'"),
        (lambda: RunningTable(2, memory=0), "memory"),
        (lambda: Fermi([0.5, 0.4]), "sum to 1"),
        (lambda: Fermi([1.0, 0.0]), "positive"),
        (lambda: Fermi([0.5, 0.5], step=0.7), "step"),
        (lambda: BatchTable(2).value_and_grad([[0.5, 0.5]], [0, 1]), "a row for each sample"),
        (lambda: BatchTable(2).value_and_grad([[0.5, 0.5]], [2]), "from 0 to 1"),
        (lambda: BatchTable(2).value_and_grad([[0.5, 0.5]], ["f"]), "Groups.from_labels"),
    ],
)
def test_invalid_calls_raise_with_a_remedy(make, message):
    with pytest.raises(ValueError, match=message):
        make()
