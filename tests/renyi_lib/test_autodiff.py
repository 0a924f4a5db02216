"""Penalties in JAX and torch match the library's values and gradients, and networks can train."""

import sys

import numpy as np
import pytest

from renyi_lib import as_jax, as_torch, renyi_correlation
from renyi_lib.autodiff import running_table_as_jax
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ChiSquarePenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
    ScoreBinsPenalty,
)
from renyi_lib.smooth_penalties import PredictionPenalty
from renyi_lib.stochastic import BatchTable, Fermi, RunningTable


def soft_labels(n=60, c=2, d=2, seed=0):
    rng = np.random.default_rng(seed)
    F, codes = rng.random((n, c)), rng.integers(d, size=n)
    return F / F.sum(axis=1, keepdims=True), codes


def biased_data(n=4000, seed=0):
    """Features that reveal the group, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    s = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    X[:, 0] += 1.5 * s
    y = X[:, 0] + X[:, 1] ** 2 - 1 + rng.normal(size=n) > 0.5
    return X, y.astype(np.int32), s.astype(np.int32)


class TestJax:
    jax = pytest.importorskip("jax")

    @pytest.mark.parametrize(
        "penalty",
        [
            BinaryRenyiPenalty(),
            RenyiPenalty(),
            ChiSquarePenalty(),
            PearsonPenalty(),
            HSICPenalty(),
            ScoreBinsPenalty(),
        ],
        ids=str,
    )
    def test_value_and_gradient_match_the_penalty(self, penalty):
        F, codes = soft_labels()
        value, gradient = penalty.value_and_grad(F, codes)
        for groups in (codes, Groups.from_labels(codes)):
            function = self.jax.jit(self.jax.value_and_grad(as_jax(penalty, groups)))
            found, slope = function(F.astype(np.float32))
            assert found == pytest.approx(value, rel=1e-4)
            np.testing.assert_allclose(slope, gradient, atol=1e-6 + 1e-4 * abs(gradient).max())

    def test_double_precision_is_kept(self):
        F, codes = soft_labels(c=3, d=3)
        value, gradient = RenyiPenalty().value_and_grad(F, codes)
        with self.jax.enable_x64(True):
            found, slope = self.jax.value_and_grad(as_jax(RenyiPenalty(), codes))(F)
            assert slope.dtype == np.float64
            assert float(found) == pytest.approx(value, rel=1e-14)
            np.testing.assert_allclose(slope, gradient, rtol=1e-12)

    def test_gradient_propagates_through_a_network(self):
        jax, jnp = self.jax, self.jax.numpy
        X, _, s = biased_data(200)
        penalty = as_jax(BinaryRenyiPenalty(), s)

        def of_theta(theta):
            x = jax.nn.sigmoid(jnp.tanh(X @ theta["in"]) @ theta["out"])
            return 2.5 * penalty(jnp.column_stack([1 - x, x])) ** 2

        rng = np.random.default_rng(0)
        theta = {"in": rng.normal(size=(3, 4)), "out": rng.normal(size=4)}
        with jax.enable_x64(True):
            gradient = jax.grad(of_theta)(theta)
            step = 1e-6
            for name, index in (("in", (0, 1)), ("out", (2,))):
                values = []
                for sign in (1, -1):
                    moved = {key: value.copy() for key, value in theta.items()}
                    moved[name][index] += sign * step
                    values.append(float(of_theta(moved)))
                difference = (values[0] - values[1]) / (2 * step)
                assert float(gradient[name][index]) == pytest.approx(difference, rel=1e-5)

    def test_penalty_of_a_real_valued_prediction_is_differentiable(self):
        x = np.random.default_rng(0).normal(size=500).astype(np.float32)
        s = np.arange(500) % 3
        value, gradient = PredictionPenalty().value_and_grad(x, s)
        found, slope = self.jax.value_and_grad(as_jax(PredictionPenalty(), s))(x)
        assert found == pytest.approx(value, rel=1e-5)
        np.testing.assert_allclose(slope, gradient, atol=1e-6)

    def test_batches_are_passed_with_their_groups(self):
        F, codes = soft_labels(c=3, d=3)
        for way in (BatchTable(3), BatchTable(3, "renyi"), RenyiPenalty()):
            value, gradient = way.value_and_grad(F, codes)
            function = self.jax.jit(self.jax.value_and_grad(as_jax(way)))
            found, slope = function(F.astype(np.float32), codes)
            assert found == pytest.approx(value, rel=1e-4)
            np.testing.assert_allclose(slope, gradient, atol=1e-6)

    def test_several_batches_are_evaluated_at_once(self):
        F, codes = soft_labels()
        several = np.stack([F, F[::-1], F**2]).astype(np.float32)
        function = as_jax(BinaryRenyiPenalty(), codes)
        np.testing.assert_allclose(
            self.jax.vmap(function)(several), [function(each) for each in several], rtol=1e-6
        )

    @pytest.mark.parametrize("measure", ["chi-square", "renyi"])
    def test_jax_running_table_matches_running_table(self, measure):
        jax = self.jax
        way = RunningTable(3, measure, memory=100)
        with jax.enable_x64(True):
            memory, step = running_table_as_jax(way, n_classes=3)
            one_step = jax.jit(
                jax.value_and_grad(lambda F, *rest: step(rest[0], F, rest[1]), has_aux=True)
            )
            for seed in range(8):
                F, codes = soft_labels(30, 3, 3, seed)
                value, gradient = way.value_and_grad(F, codes)
                (found, memory), slope = one_step(F, memory, codes)
                assert float(found) == pytest.approx(float(value), rel=1e-9)
                np.testing.assert_allclose(slope, gradient, atol=1e-12)
                np.testing.assert_allclose(memory.table, way.table, atol=1e-14)

    def test_a_network_becomes_fair_with_small_batches(self):
        jax, jnp = self.jax, self.jax.numpy
        X, y, s = biased_data()

        def network(theta, X):
            hidden = jnp.tanh(X @ theta["in"] + theta["bias"])
            x = jax.nn.sigmoid(hidden @ theta["out"])
            return jnp.column_stack([1 - x, x])

        def trained(lam, epochs=12, size=50, rate=0.2):
            rng = np.random.default_rng(1)
            theta = {
                "in": jnp.asarray(rng.normal(size=(3, 8)), dtype=jnp.float32),
                "bias": jnp.zeros(8),
                "out": jnp.asarray(rng.normal(size=8) / 3, dtype=jnp.float32),
            }
            memory, step = running_table_as_jax(RunningTable(2, memory=1000), n_classes=2)

            def objective(theta, memory, X, y, s):
                F = network(theta, X)
                fairness, memory = step(memory, F, s)
                return -jnp.mean(jnp.log(F[jnp.arange(len(y)), y])) + lam * fairness, memory

            def one_step(carry, batch):
                theta, memory = carry
                gradient, memory = jax.grad(objective, has_aux=True)(theta, memory, *batch)
                return ({k: v - rate * gradient[k] for k, v in theta.items()}, memory), None

            run = jax.jit(lambda carry, batches: jax.lax.scan(one_step, carry, batches)[0])
            for _ in range(epochs):
                order = rng.permutation(len(X)).reshape(-1, size)
                theta, memory = run((theta, memory), (X[order], y[order], s[order]))
            F = np.asarray(network(theta, X))
            table = Groups.from_labels(s).table(F)
            drift = np.abs(np.asarray(memory.table) - table).max()
            return np.mean(F.argmax(axis=1) == y), BinaryRenyiPenalty().value(F, s), drift

        accuracy, unfair, _ = trained(0.0)
        fair_accuracy, fair, drift = trained(5.0)
        assert unfair > 0.1
        assert fair < 0.01
        assert accuracy - 0.2 < fair_accuracy < accuracy
        assert fair_accuracy > max(np.mean(y), 1 - np.mean(y)) + 0.05
        assert drift < 0.02  # the memory is near the table of all samples

    @pytest.mark.parametrize("way", [RunningTable(2), Fermi([0.5, 0.5])])
    def test_as_jax_rejects_a_penalty_with_state(self, way):
        with pytest.raises(ValueError, match="state that JAX cannot track"):
            as_jax(way)

    def test_running_table_as_jax_requires_a_running_table(self):
        with pytest.raises(ValueError, match="way must be a RunningTable"):
            running_table_as_jax(BatchTable(2), 2)


def test_object_without_value_and_grad_raises():
    pytest.importorskip("jax")
    with pytest.raises(ValueError, match="method value_and_grad"):
        as_jax(renyi_correlation, [0, 1])


class TestTorch:
    """Skipped if torch, which is large and not a requirement of the tests, is not installed."""

    def test_value_and_gradient_match_the_penalty(self):
        torch = pytest.importorskip("torch", reason="torch is not installed (a large extra)")
        F, codes = soft_labels(c=3, d=3)
        value, gradient = RenyiPenalty().value_and_grad(F, codes)
        tensor = torch.tensor(F, requires_grad=True)
        found = as_torch(RenyiPenalty(), codes)(tensor)
        (3 * found).backward()
        assert found.item() == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(tensor.grad.numpy(), 3 * gradient, rtol=1e-12)

    def test_running_table_is_updated_with_each_call(self):
        torch = pytest.importorskip("torch", reason="torch is not installed (a large extra)")
        ours, theirs = RunningTable(2, memory=100), RunningTable(2, memory=100)
        function = as_torch(theirs)
        for seed in range(5):
            F, codes = soft_labels(30, seed=seed)
            value, _ = ours.value_and_grad(F, codes)
            assert function(torch.tensor(F), torch.tensor(codes)).item() == pytest.approx(value)

    def test_gradient_agrees_with_finite_differences(self):
        torch = pytest.importorskip("torch", reason="torch is not installed (a large extra)")
        F, codes = soft_labels(20, c=2, d=3)
        tensor = torch.tensor(F, requires_grad=True)
        assert torch.autograd.gradcheck(as_torch(RenyiPenalty(), codes), (tensor,))

    def test_single_precision_stays_single(self):
        torch = pytest.importorskip("torch", reason="torch is not installed (a large extra)")
        F, codes = soft_labels(c=2, d=2)
        tensor = torch.tensor(F, dtype=torch.float32, requires_grad=True)
        found = as_torch(RenyiPenalty(), codes)(tensor)
        found.backward()
        assert found.dtype == tensor.grad.dtype == torch.float32

    def test_a_network_trains_on_batches_as_in_the_documented_loop(self):
        torch = pytest.importorskip("torch", reason="torch is not installed (a large extra)")
        rng = np.random.default_rng(0)
        s = rng.integers(2, size=2000)
        X = rng.normal(size=(2000, 3)) + s[:, None]
        y = (X.sum(axis=1) + rng.normal(size=2000) > 1.5).astype(int)
        x_all = torch.tensor(X, dtype=torch.float32)
        dependence = {}
        for lam in (0, 10):
            torch.manual_seed(0)
            network = torch.nn.Sequential(
                torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
            )
            optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
            penalty = as_torch(RunningTable(n_groups=2))
            for start in list(range(0, 2000, 100)) * 8:
                rows = slice(start, start + 100)
                F = torch.softmax(network(x_all[rows]), dim=1)
                loss = torch.nn.functional.nll_loss(F.log(), torch.tensor(y[rows]))
                loss = loss + lam * penalty(F, torch.tensor(s[rows]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            F = torch.softmax(network(x_all), dim=1).detach().numpy()
            dependence[lam] = RenyiPenalty().value(F.astype(float), s)
        assert dependence[10] < 0.1 * dependence[0]


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("jax", lambda: as_jax(RenyiPenalty(), [0, 1])),
        ("torch", lambda: as_torch(RenyiPenalty(), [0, 1])),
        ("jax", lambda: running_table_as_jax(RunningTable(2), 2)),
    ],
)
def test_missing_library_raises_an_error_that_names_the_extra(monkeypatch, library, call):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ImportError, match=rf'needs {library}: pip install "renyi-lib\[{library}\]"'
    ):
        call()
