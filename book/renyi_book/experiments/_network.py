"""Fair neural network, for the table of appendix F."""

import time

import numpy as np
import pandas as pd
from scipy.special import expit
from tqdm import tqdm

from renyi_book.experiments._measures import measures
from renyi_book.experiments._splits import FRESH, encoded_splits
from renyi_lib.baselines import RenyiNetworkClassifier
from renyi_lib.baselines.neural_network import NetworkModel

# Number of epochs of the library's fit that are timed.
TIMED_EPOCHS = 5


def fair_network(
    *,
    lams=(0, 1, 3, 10),
    hidden=12,
    batch_size=128,
    epochs=50,
    learning_rate=0.001,
    seeds=FRESH,
    progress=True,
):
    """Train a network with one hidden layer on Adult, plain and regularized (Table 1).

    Up to rounding, the networks equal those that `RenyiNetworkClassifier` fits. All networks of
    one seed have the same start and see the same batches, and are trained side by side (`train`).

    Parameters
    ----------
    lams : sequence of float
        Weights of the penalty, which the paper does not state.
    hidden, batch_size, epochs : int
        Number of hidden nodes, batch size and number of epochs; by default, the paper's values.
    learning_rate : float, default=0.001
        Learning rate of Adam; the paper states neither the optimizer nor the rate.
    seeds : iterable of int
        Seeds of the start and the shuffling, on the paper's split.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, split, seed, lam, rows``, the measures, and ``cpu_seconds`` of a fit by
        `RenyiNetworkClassifier`, extrapolated from its first `TIMED_EPOCHS` epochs. Only this
        column changes from run to run.

    Examples
    --------
    >>> from renyi_book.experiments import fair_network
    >>> table = fair_network(lams=[0], epochs=1, seeds=[0], progress=False)
    >>> table["rows"].tolist()
    ['train', 'test']
    """
    ((where, data),) = encoded_splits("adult", [])
    options = {"hidden": hidden, "batch_size": batch_size, "learning_rate": learning_rate}
    found = []
    for seed in tqdm(seeds, desc="network", disable=not progress, leave=False):
        networks = train(data["train"], lams, seed, epochs=epochs, **options)
        scores = {kind: networks.forward(rows.X) for kind, rows in data.items()}
        for k, lam in enumerate(lams):
            seconds = _seconds(data["train"], lam, seed, epochs, options)
            place = where | {"seed": int(seed), "lam": float(lam)}
            for kind, (_, y, s) in data.items():
                score = scores[kind][k]
                values = measures(y, (score > 0.5).astype(int), s, score)
                found.append(place | {"rows": kind} | values | {"cpu_seconds": seconds})
    return pd.DataFrame(found)


def _seconds(rows, lam, seed, epochs, options):
    """Estimate the CPU seconds of the library's fit; all epochs take the same time."""
    timed = min(epochs, TIMED_EPOCHS)
    network = RenyiNetworkClassifier(lam, epochs=timed, random_state=seed, **options)
    began = time.process_time()
    network.fit(rows.X, rows.y, sensitive_features=rows.s)
    return (time.process_time() - began) * epochs / timed


def train(rows, lams, seed, *, hidden, batch_size, epochs, learning_rate):
    """Train the networks that `RenyiNetworkClassifier` would fit, for two groups and classes.

    Parameters
    ----------
    rows : Rows
        Training rows.
    lams : sequence of float
        Weights of the penalty.
    seed : int
        Random seed.
    hidden, batch_size, epochs, learning_rate
        Same as in `RenyiNetworkClassifier`.

    Returns
    -------
    SideBySide
        Trained networks.
    """
    X, y, s = rows
    rng = np.random.RandomState(seed)
    model = NetworkModel(X, y, 2, hidden=hidden)
    networks = SideBySide(*model.layers(model.start(rng)), lams, learning_rate)
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), batch_size):
            batch = order[first : first + batch_size]
            networks.step(X[batch], y[batch], s[batch])
    return networks


class SideBySide:
    """Networks with one tanh layer and two classes, one for each lam, with the same start.

    Their first layers form one wide matrix, so that a batch is multiplied only once. The output
    depends only on the difference of the two classes' scores, so only the difference of their
    weights is stored. The two classes' weights take opposite steps, so the difference takes steps
    of twice the size.
    """

    def __init__(self, A, a, B, b, lams, learning_rate):
        self.lams = np.array(lams, dtype=float)[:, None]
        self.learning_rate, self.t = learning_rate, 0
        k, (p, h) = len(lams), A.shape
        sizes = [k * h * p, k * h, k * h, k]
        shapes = [(k * h, p), (k * h, 1), (k, 1, h), (k, 1)]
        self.theta, self.slope, self.m, self.v, self.room = np.zeros((5, sum(sizes)))
        # The weights of the hidden layer take single steps, and the differences take double steps.
        self.reach = np.repeat([1.0, 1.0, 2.0, 2.0], sizes)
        self.layers, self.slopes = (
            [part.reshape(s) for part, s in zip(np.split(row, np.cumsum(sizes)[:-1]), shapes)]
            for row in (self.theta, self.slope)
        )
        start = np.tile(A.T, (k, 1)), np.tile(a, k)[:, None], B[:, 1] - B[:, 0], b[1] - b[0]
        for layer, values in zip(self.layers, start):
            layer[:] = values

    def forward(self, X):
        """Compute P(Y = 1), with a row for each network and a column for each row of X."""
        A, a, B, b = self.layers
        H = A @ X.T
        H += a
        np.tanh(H, out=H)
        self.H = H.reshape(len(B), -1, len(X))
        return expit((B @ self.H)[:, 0] + b)

    def step(self, X, y, s):
        """Backpropagate mean loss + lam * rho_R^2, and take one step of Adam.

        If the batch contains only one group, rho_R^2 counts as 0.
        """
        F = self.forward(X)
        by_score = F - y
        if 0 < s.sum() < len(s):
            by_score += self.lams * F * (1 - F) * _rho_squared_slope(F, s)
        by_score /= len(y)
        dA, da, dB, db = self.slopes
        np.matmul(by_score[:, None], self.H.swapaxes(1, 2), out=dB)
        np.sum(by_score, axis=1, keepdims=True, out=db)
        by_hidden = 1 - self.H * self.H
        by_hidden *= self.layers[2].swapaxes(1, 2)
        by_hidden *= by_score[:, None]
        by_hidden = by_hidden.reshape(len(dA), len(y))
        np.matmul(by_hidden, X, out=dA)
        np.sum(by_hidden, axis=1, keepdims=True, out=da)
        self._adam()

    def _adam(self):
        """Apply `renyi_lib.baselines.neural_network.Adam` in place."""
        g, m, v, room = self.slope, self.m, self.v, self.room
        self.t += 1
        m *= 0.9
        m += np.multiply(g, 0.1, out=room)
        v *= 0.999
        np.multiply(g, g, out=room)
        room *= 0.001
        v += room
        np.sqrt(v, out=room)
        room /= np.sqrt(1 - 0.999**self.t)
        room += 1e-8
        np.divide(m, room, out=room)
        room *= self.reach
        room *= self.learning_rate / (1 - 0.9**self.t)
        self.theta -= room


def _rho_squared_slope(F, s):
    """Compute n times the gradient of rho_R^2 = D^2 / (p (1 - p) q (1 - q)) with respect to F.

    D is the covariance of F and s, and p and q are their means.
    """
    away = s - s.mean()
    D = F @ away / len(s)
    p = F.mean(axis=1)
    spread = p * (1 - p)
    by_D, by_p = 2 * D / spread, -(D**2) * (1 - 2 * p) / spread**2
    return (by_D[:, None] * away + by_p[:, None]) / np.mean(away**2)
