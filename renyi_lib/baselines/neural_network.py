"""Network with one hidden layer, regularized by Rényi correlation on mini-batches.

This is the experiment of the paper's appendix F. The network is a *model* like `SoftmaxModel`,
which maps its parameters theta to class probabilities F and pulls gradients back. Loss, penalty
and Danskin's gradient come from `FairObjective`; only the optimizer, Adam, is different.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from renyi_lib._dispatch import need_memory
from renyi_lib._parameters import Checked, number, whole
from renyi_lib._random import as_random_state
from renyi_lib._rows import read_rows, warn_without_groups
from renyi_lib._validation import without_unused
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import BinaryRenyiPenalty, Groups, RenyiPenalty

__all__ = ["Adam", "NetworkModel", "RenyiNetworkClassifier", "groups_of_batch"]


class NetworkModel:
    """Network with one hidden layer as a map from theta to F, with gradients.

    With H = tanh(X A + a), F is the softmax of H B + b, and the loss is the mean of -log F of the
    true class. The paper specifies neither the activation of the hidden layer nor that of the
    output. With tanh the objective is smooth, as the paper's Theorems 3 and 4 require, and a
    softmax output is the paper's own example of a soft label.

    `FairObjective` needs no more than this from a model, and `gradient_descent` additionally needs
    only a step size. `lbfgs` needs the curvature of a convex loss, which a network does not have.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features.
    y : ndarray of int, shape (n,)
        Classes 0 … c-1.
    n_classes : int
        Number of classes.
    hidden : int, default=12
        Number of nodes in the hidden layer.

    Attributes
    ----------
    shape : tuple
        Shape of theta, which is a vector of the entries of A, a, B and b (see `layers`).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.neural_network import NetworkModel
    >>> model = NetworkModel(np.array([[0.0], [1.0]]), np.array([0, 1]), n_classes=2, hidden=3)
    >>> model.shape
    (14,)
    >>> point = model.at(np.zeros(model.shape))
    >>> round(point.loss, 6), point.F.tolist()
    (0.693147, [[0.5, 0.5], [0.5, 0.5]])
    """

    def __init__(self, X, y, n_classes, *, hidden=12):
        self.X = X
        self.y = y
        self.n_classes = n_classes
        self.hidden = hidden
        self.shape = ((X.shape[1] + 1) * hidden + (hidden + 1) * n_classes,)

    def layers(self, theta):
        """Return the weights A (p, hidden), a, B (hidden, c) and b as views of theta."""
        p, h, c = self.X.shape[1], self.hidden, self.n_classes
        first, second = theta[: (p + 1) * h], theta[(p + 1) * h :]
        return first[:-h].reshape(p, h), first[-h:], second[:-c].reshape(h, c), second[-c:]

    def start(self, rng):
        """Sample initial weights as Glorot and Bengio do, to avoid saturation; biases are 0.

        Parameters
        ----------
        rng : RandomState or Generator
            Generator of the random numbers.

        Returns
        -------
        ndarray
            Initial theta.
        """
        theta = np.zeros(self.shape)
        A, _, B, _ = self.layers(theta)
        for weights in (A, B):
            bound = np.sqrt(6 / sum(weights.shape))
            weights[:] = rng.uniform(-bound, bound, size=weights.shape)
        return theta

    def at(self, theta: np.ndarray) -> "NetworkPoint":
        """Evaluate the network at theta."""
        return NetworkPoint(self, theta)


class NetworkPoint:
    """Network at one theta, with the interface of `renyi_lib.models.Point`.

    Attributes
    ----------
    theta : ndarray
        Parameters of the model.
    loss : float
        Mean loss.
    F : ndarray of shape (n, c)
        Class probabilities.
    """

    def __init__(self, model: NetworkModel, theta: np.ndarray):
        self.model, self.theta = model, theta
        A, a, self._B, b = model.layers(theta)
        self._H, log_F = _hidden_and_log_probabilities(model.X, A, a, self._B, b)
        self._one_hot = (model.y, np.arange(len(model.y)))
        self.loss = -float(log_F[self._one_hot].sum()) / len(model.y)
        self._rows = np.exp(log_F)
        self.F = self._rows.T

    def gradient(self, dF: np.ndarray | None = None) -> np.ndarray:
        """Compute the gradient of loss + sum(dF * F) with respect to theta."""
        dZ = self._rows.copy()
        dZ[self._one_hot] -= 1.0
        dZ /= len(self.model.y)
        return self._by_theta(dZ if dF is None else dZ + self._by_scores(dF))

    def pull_back(self, dFs: list[np.ndarray]) -> list[np.ndarray]:
        """Compute the gradient of sum(dF * F) with respect to theta for each dF."""
        return [self._by_theta(self._by_scores(dF)) for dF in dFs]

    def _by_scores(self, dF):
        """Pull a gradient back through the softmax."""
        return self._rows * (dF.T - (self._rows * dF.T).sum(axis=0))

    def _by_theta(self, dZ):
        """Pull a gradient back through both layers, using tanh' = 1 - tanh^2."""
        # Sum over the samples by products with ones, which BLAS computes faster for few columns.
        ones = np.ones(len(self.model.y))
        by_hidden = (self._B @ dZ).T * (1 - self._H * self._H)
        parts = [self.model.X.T @ by_hidden, ones @ by_hidden, self._H.T @ dZ.T, dZ @ ones]
        return np.concatenate([part.ravel() for part in parts])


def _hidden_and_log_probabilities(X, A, a, B, b):
    """Compute H = tanh(X A + a), and the log-softmax of H B + b with a row for each class."""
    H = X @ A
    H += a
    np.tanh(H, out=H)
    # With classes as rows, sums over the classes are sums of a few long rows.
    Z = B.T @ H.T + b[:, None]
    Z -= Z.max(axis=0)
    Z -= np.log(np.exp(Z).sum(axis=0))
    return H, Z


class Adam:
    """Adam optimizer, which divides the mean gradient by the root-mean-square gradient.

    Both means are exponential averages with the decay rates 0.9 and 0.999 and are corrected for
    starting at 0 (Algorithm 1 of the reference, with its constants).

    Parameters
    ----------
    learning_rate : float
        Approximate size of a step in every coordinate.

    References
    ----------
    D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR (2015),
    doi:10.48550/arXiv.1412.6980.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.neural_network import Adam
    >>> theta, adam = np.array([1.0, 100.0]), Adam(learning_rate=0.1)
    >>> adam.step(theta, gradient=np.array([1e-3, 50.0])).round(3)
    array([ 0.9, 99.9])
    """

    def __init__(self, learning_rate):
        self.learning_rate = learning_rate
        self.t = 0
        self.m = self.v = 0.0

    def step(self, theta, gradient):
        """Return the next theta."""
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * (gradient * gradient)
        root = np.sqrt(self.v)
        root /= np.sqrt(1 - 0.999**self.t)
        root += 1e-8
        return theta - (self.learning_rate / (1 - 0.9**self.t)) * self.m / root


def groups_of_batch(groups, rows):
    """Return the groups of the samples in a batch, or None if all of these belong to one group.

    Parameters
    ----------
    groups : Groups
        Groups of all samples, which are equally likely.
    rows : ndarray of int
        Positions of the samples in the batch.

    Returns
    -------
    Groups or None
        Groups of the batch; groups without a sample in the batch are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.neural_network import groups_of_batch
    >>> from renyi_lib.penalties import Groups
    >>> groups = Groups.from_labels(["a", "b", "c", "c"])
    >>> groups_of_batch(groups, np.array([0, 2, 3])).categories.tolist()
    ['a', 'c']
    >>> groups_of_batch(groups, np.array([2, 3])) is None
    True
    """
    codes = groups.codes[rows]
    q = np.bincount(codes, minlength=len(groups.q)) / len(rows)
    if q.all():
        return Groups(codes, groups.categories, 1 / len(rows), q)
    codes, categories = without_unused(codes, groups.categories)
    if len(categories) == 1:
        return None
    return Groups(codes, categories, 1 / len(rows), q[q > 0])


class RenyiNetworkClassifier(Checked, ClassifierMixin, BaseEstimator):
    """Network with one hidden layer whose label has a small Rényi correlation with the group.

    It minimizes mean loss + lam * rho_R^2(Ŷ, S) (eq. fair-classification), where Ŷ is a label
    sampled from the network's class probabilities F, by steps along the gradient of

        mean loss of a mini-batch + lam * rho_R^2 of its soft labels and groups.

    The adversary's best response to the batch is computed in closed form for two groups
    (Algorithm 2) and by a singular value decomposition for more (Algorithm 1).

    Parameters
    ----------
    lam : float, default=0.0
        Nonnegative weight of the penalty relative to the mean loss.
    hidden : int, default=12
        Number of nodes in the hidden layer.
    batch_size : int, default=128
        Number of samples in a batch. Samples are shuffled in each epoch and divided into batches,
        the last of which may be smaller.
    epochs : int, default=50
        Number of passes over the training set.
    learning_rate : float, default=0.001
        Learning rate of `Adam`.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the initial weights and of the shuffling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in sorted order.
    groups_ : ndarray or None
        Group labels; None if fitted without groups.
    coefs_ : list of two ndarrays, of shape (n_features, hidden) and (hidden, n_classes)
        Weights of the two layers.
    intercepts_ : list of two ndarrays, of shape (hidden,) and (n_classes,)
        Biases of the two layers.
    history_ : dict of ndarray of shape (epochs + 1,)
        Values on all training samples at the start and after each epoch of ``"loss"``,
        ``"penalty"`` (rho_R^2; 0 without groups) and ``"objective"`` (loss + lam * penalty).
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    renyi_lib.RenyiClassifier : Logistic regression with the same penalty.
    renyi_lib.stochastic.RunningTable : Reduce the bias of small batches.

    Notes
    -----
    The defaults of `hidden`, `batch_size` and `epochs` come from the paper, which does not
    specify the other choices. Here hidden nodes use tanh, the output is a softmax, weights are
    initialized as in Glorot and Bengio, and the optimizer is Adam with the learning rate that its
    authors propose. Features should be of about unit size, because columns in the thousands
    saturate the hidden nodes.

    *Batches without a group.* rho_R^2 of a batch refers to the groups that occur in it. If all
    samples belong to one group, the dependence is unknown, and the penalty of that batch is 0.

    *Bias of a batch.* Let c be the number of classes and d the number of groups. On average,
    rho_R^2 of a small sample exceeds rho_R^2 of the population. If the soft label of two classes
    does not depend on S, rho_R^2 of a batch of n samples has a mean of about

        (d - 1) / n * Var(F_1) / (E[F_1] (1 - E[F_1])),

    where F_1 is the probability of the second class. In general the mean is at most about
    (d - 1) (c - 1) / n, which is attained for two classes or two groups if F is 0 or 1. The
    regularizer therefore has a side effect of weight lam / n, which is to flatten F. The penalty
    in `history_` is computed on all samples, for which this effect is negligible.

    References
    ----------
    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", AISTATS (2010), PMLR 9, 249-256.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.neural_network import RenyiNetworkClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=1000)
    >>> X = rng.normal(size=(1000, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=1000) > 0.5).astype(int)
    >>> for lam in [0, 10]:
    ...     clf = RenyiNetworkClassifier(lam, learning_rate=0.01, random_state=0)
    ...     _ = clf.fit(X, y, sensitive_features=s)
    ...     print(lam, round(clf.history_["penalty"][-1], 3))
    0 0.077
    10 0.001
    """

    _constraints: ClassVar = {
        "lam": number(0),
        "hidden": whole(1),
        "batch_size": whole(1),
        "epochs": whole(1),
        "learning_rate": number(0, above=True),
    }

    def __init__(
        self,
        lam=0.0,
        *,
        hidden=12,
        batch_size=128,
        epochs=50,
        learning_rate=0.001,
        random_state=None,
    ):
        self.lam = lam
        self.hidden = hidden
        self.batch_size = batch_size
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, sensitive_features: Any = None
    ) -> "RenyiNetworkClassifier":
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            Class labels of any type.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame, optional
            Group of each sample, given by labels of any type; several columns define joint groups.
            If omitted, nothing is penalized, and a warning is issued unless lam is 0.

        Returns
        -------
        self
        """
        X, y, groups = self._read(X, y, sensitive_features)
        rng = as_random_state(self.random_state)
        model = NetworkModel(X, y, len(self.classes_), hidden=self.hidden)
        penalty = None
        if groups is not None:
            penalty = BinaryRenyiPenalty() if len(groups.q) == 2 else RenyiPenalty()
        theta, adam = model.start(rng), Adam(self.learning_rate)
        history = [_evaluate(model, penalty, groups, theta)]
        for _ in range(self.epochs):
            theta = self._epoch(model, penalty, groups, theta, adam, rng)
            history.append(_evaluate(model, penalty, groups, theta))
        A, a, B, b = model.layers(theta)
        self.coefs_, self.intercepts_ = [A, B], [a, b]
        loss, value = np.transpose(history)
        self.history_ = {"loss": loss, "penalty": value, "objective": loss + self.lam * value}
        self.n_iter_ = self.epochs
        return self

    def predict_proba(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict class probabilities F of shape (n, n_classes); groups are ignored."""
        check_is_fitted(self)
        need_memory(X, type(self).__name__)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        (A, B), (a, b) = self.coefs_, self.intercepts_
        return np.exp(_hidden_and_log_probabilities(X, A, a, B, b)[1]).T

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict the most probable class of each sample; groups are ignored."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def _epoch(self, model, penalty, groups, theta, adam, rng):
        """Return theta after one step for each batch of the shuffled samples."""
        n = len(model.y)
        order = rng.permutation(n)
        X, y = model.X[order], model.y[order]
        for first in range(0, n, self.batch_size):
            part = slice(first, first + self.batch_size)
            rows = order[part]
            batch = NetworkModel(X[part], y[part], model.n_classes, hidden=model.hidden)
            in_batch = groups_of_batch(groups, rows) if groups is not None and self.lam else None
            objective = FairObjective(batch, None if in_batch is None else penalty, in_batch)
            _, gradient = objective(theta, self.lam)
            theta = adam.step(theta, gradient)
        return theta

    def _read(self, X, y, sensitive_features):
        """Validate the data; return X as floats, y as codes, and the groups or None."""
        self._check_parameters()
        need_memory(X, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        rows = read_rows(X, y, sensitive_features, None).with_classes()
        groups = rows.groups()
        if groups is None:
            warn_without_groups(self, "a plain neural network")
        self.classes_ = np.asarray(rows.classes)
        self.groups_ = None if groups is None else groups.categories
        return rows.X, rows.y, groups


def _evaluate(model, penalty, groups, theta):
    """Compute the loss and the penalty on all samples."""
    at = FairObjective(model, penalty, groups).at(theta, 0.0)
    return at.loss, at.penalty
