import numpy as np
import pytest

from renyi_book.experiments import timing
from renyi_book.experiments._timing import Critic
from renyi_lib.baselines.neural_network import Adam

WHAT = ["loss", "renyi-binary", "renyi-discrete", "hsic-gaussian", "neural-mi"]


def test_every_step_is_timed_the_requested_number_of_times():
    table = timing(n_rows=300, repeats=2, seeds=[7, 8], progress=False)
    assert table.groupby(["seed", "repeat"])["what"].agg(list).tolist() == [WHAT] * 4
    assert (table["seconds"] >= 0).all()


class Still(Adam):
    """Optimizer that takes no step and keeps the gradient."""

    def step(self, theta, gradient):
        self.gradient = gradient
        return theta


def critic_at(weights, seed=0):
    critic = Critic(3, np.random.default_rng(seed))
    critic.weights, critic.adam = weights, Still(0.1)
    critic.rng = np.random.default_rng(seed)
    return critic


def test_critic_ascends_along_the_gradient_of_its_bound():
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, size=40)
    score = rng.random(40) * (1 + s) / 2
    weights = rng.normal(size=12)
    critic = critic_at(weights)
    critic.update(score, s)
    for i in range(12):
        nudge = np.zeros(12)
        nudge[i] = 1e-6
        up, down = (critic_at(weights + sign * nudge).update(score, s) for sign in (1, -1))
        assert -critic.adam.gradient[i] == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_the_critic_learns_the_mutual_information_of_a_known_table():
    counts = np.array([[300, 100], [100, 300]])
    a, s = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices((2, 2)))
    P = counts / counts.sum()
    truth = np.sum(P * np.log(P / np.outer(P.sum(1), P.sum(0))))
    critic = Critic(6, np.random.default_rng(0))
    bounds = [critic.update(a.astype(float), s) for _ in range(600)]
    assert np.mean(bounds[-100:]) == pytest.approx(truth, abs=0.02)
