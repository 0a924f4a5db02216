"""CPU time of a training step, measured for the claims about time."""

import time

import numpy as np
import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._splits import FRESH, encoded_splits
from renyi_lib.baselines.neural_network import Adam
from renyi_lib.models import SoftmaxModel
from renyi_lib.penalties import BinaryRenyiPenalty, Groups, HSICPenalty, RenyiPenalty


def timing(*, n_rows=None, repeats=15, hidden=12, seeds=FRESH, progress=True):
    """Measure the CPU seconds of one step of the loss, of each penalty, and of a critic.

    All steps use random weights and the training rows of Adult, with gender as S. A step of the
    loss computes its value and its gradient with respect to the weights. A step of a penalty
    computes its value and its gradient with respect to the class probabilities, and a step of the
    critic of mutual information updates the critic's weights.

    Parameters
    ----------
    n_rows : int, optional
        Number of rows from the start; by default all.
    repeats : int, default=15
        Number of repetitions for each seed. All steps take turns, so that a slow second affects
        them equally.
    hidden : int, default=12
        Number of nodes in the critic's hidden layer, the same as in the paper's network.
    seeds : iterable of int
        Seeds of the weights and of the critic's pairs.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``seed, repeat, what`` ("loss", "renyi-binary", "renyi-discrete", "hsic-gaussian",
        "neural-mi") and ``seconds``, measured by a clock.

    Examples
    --------
    >>> from renyi_book.experiments import timing
    >>> table = timing(n_rows=500, repeats=1, seeds=[0], progress=False)
    >>> bool((table["seconds"] >= 0).all())
    True
    """
    ((_, data),) = encoded_splits("adult", [])
    X, y, s = (part[:n_rows] for part in data["train"])
    model, groups = SoftmaxModel(X, y, 2), Groups.from_labels(s)
    penalties = {
        "renyi-binary": BinaryRenyiPenalty(),
        "renyi-discrete": RenyiPenalty(),
        "hsic-gaussian": HSICPenalty(),
    }
    found = []
    for seed in tqdm(seeds, desc="timing", disable=not progress, leave=False):
        rng = np.random.default_rng(seed)
        critic = Critic(hidden, rng)
        for repeat in range(repeats):
            theta = rng.normal(scale=0.1, size=model.shape)
            where = {"seed": int(seed), "repeat": repeat}
            seconds = {"loss": _seconds(_step_of_loss, model, theta)}
            F = model.at(theta).F
            for name, penalty in penalties.items():
                seconds[name] = _seconds(penalty.value_and_grad, F, groups)
            seconds["neural-mi"] = _seconds(critic.update, F[:, 1], groups.codes)
            found += [where | {"what": name, "seconds": took} for name, took in seconds.items()]
    return pd.DataFrame(found)


def _step_of_loss(model, theta):
    return model.at(theta).gradient()


def _seconds(step, *arguments):
    began = time.process_time()
    step(*arguments)
    return time.process_time() - began


class Critic:
    """Lower bound of the mutual information of a score and a group, from a small network.

    T(f, s) = tanh((f, s) A + a) b is trained to maximize E[T] - log E'[exp T], where E is the mean
    over the observed pairs and E' the mean over randomly matched pairs. By Donsker and Varadhan,
    this is at most the mutual information for every T, up to sampling errors.

    Parameters
    ----------
    hidden : int
        Number of hidden nodes.
    rng : Generator
        Generator of the initial weights and of the random pairs.
    learning_rate : float, default=0.01
        Learning rate of Adam.

    References
    ----------
    M. I. Belghazi et al., "Mutual information neural estimation", ICML (2018), PMLR 80.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_book.experiments._timing import Critic
    >>> s = np.repeat([0, 1], 500)
    >>> critic = Critic(4, np.random.default_rng(0))
    >>> bounds = [critic.update(s.astype(float), s) for _ in range(300)]
    >>> bool(bounds[0] < 0.1 < 0.5 < bounds[-1] < np.log(2) + 0.05)
    True
    """

    def __init__(self, hidden, rng, *, learning_rate=0.01):
        self.hidden = hidden
        self.rng = rng
        self.adam = Adam(learning_rate)
        self.weights = rng.normal(scale=0.5, size=4 * hidden)

    def update(self, score, group):
        """Take one ascent step, and return the bound before it, in nats."""
        strangers = self.rng.permutation(group)
        pairs = np.column_stack([np.tile(score, 2), np.concatenate([group, strangers])])
        n = len(score)
        A, a, b = self._layers()
        H = np.tanh(pairs @ A + a)
        T = H @ b
        top = T[n:].max()
        shares = np.exp(T[n:] - top)
        bound = float(T[:n].mean() - top - np.log(shares.mean()))
        # Derivative with respect to T: 1/n for observed pairs, minus the softmax over random ones.
        by_T = np.concatenate([np.full(n, 1 / n), -shares / shares.sum()])
        by_hidden = by_T[:, None] * b * (1 - H**2)
        gradient = [pairs.T @ by_hidden, by_hidden.sum(axis=0), by_T @ H]
        uphill = np.concatenate([part.ravel() for part in gradient])
        self.weights = self.adam.step(self.weights, -uphill)
        return bound

    def _layers(self):
        h = self.hidden
        return (
            self.weights[: 2 * h].reshape(2, h),
            self.weights[2 * h : 3 * h],
            self.weights[3 * h :],
        )
