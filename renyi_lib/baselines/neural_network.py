"""A network with one hidden layer, regularized by Rényi correlation on mini-batches.

The experiment of the paper's appendix F. The network is one more *model* beside `SoftmaxModel`: it
maps its parameters theta to class probabilities F and pulls gradients back. Loss, penalty and
Danskin's gradient are those of `FairObjective`; only the optimizer, Adam, is new.
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
    """A network with one hidden layer on given data: from theta to F, and gradients back.

    With H = tanh(X A + a), F is the softmax of H B + b, and the loss is the mean of -log F of the
    true class. The paper names neither the hidden layer's function nor the output's; tanh leaves
    the objective smooth, as the paper's Theorems 3 and 4 ask, and a softmax output is its own
    example of a soft label.

    `FairObjective` needs no more of a model than this, and `gradient_descent` no more than a step
    size besides. `lbfgs` needs the curvature of a convex loss, which a network cannot give.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features.
    y : ndarray of int, shape (n,)
        Classes 0 … c-1.
    n_classes : int
        Number of classes.
    hidden : int, default=12
        Nodes of the hidden layer.

    Attributes
    ----------
    shape : tuple
        The shape of theta: one row of numbers, the entries of A, a, B and b (see `layers`).

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
        """The weights A (p, hidden) and a, and the weights B (hidden, c) and b: views of theta."""
        p, h, c = self.X.shape[1], self.hidden, self.n_classes
        first, second = theta[: (p + 1) * h], theta[(p + 1) * h :]
        return first[:-h].reshape(p, h), first[-h:], second[:-c].reshape(h, c), second[-c:]

    def start(self, rng):
        """Weights drawn as Glorot and Bengio do, so that no layer starts saturated; biases 0."""
        theta = np.zeros(self.shape)
        A, _, B, _ = self.layers(theta)
        for weights in (A, B):
            bound = np.sqrt(6 / sum(weights.shape))
            weights[:] = rng.uniform(-bound, bound, size=weights.shape)
        return theta

    def at(self, theta: np.ndarray) -> "NetworkPoint":
        """The network at theta."""
        return NetworkPoint(self, theta)


class NetworkPoint:
    """A network at one theta, as `renyi_lib.models.Point`.

    Attributes
    ----------
    theta : ndarray
        Parameters of the model.
    loss : float
        The mean loss.
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
        """The gradient with respect to theta of loss + sum(dF * F)."""
        dZ = self._rows.copy()
        dZ[self._one_hot] -= 1.0
        dZ /= len(self.model.y)
        return self._by_theta(dZ if dF is None else dZ + self._by_scores(dF))

    def pull_back(self, dFs: list[np.ndarray]) -> list[np.ndarray]:
        """The gradient with respect to theta of sum(dF * F) for each dF."""
        return [self._by_theta(self._by_scores(dF)) for dF in dFs]

    def _by_scores(self, dF):
        """Through the softmax."""
        return self._rows * (dF.T - (self._rows * dF.T).sum(axis=0))

    def _by_theta(self, dZ):
        """Through both layers: tanh' = 1 - tanh^2."""
        # Means over the samples as products with ones: for so few columns BLAS is faster.
        ones = np.ones(len(self.model.y))
        by_hidden = (self._B @ dZ).T * (1 - self._H * self._H)
        parts = [self.model.X.T @ by_hidden, ones @ by_hidden, self._H.T @ dZ.T, dZ @ ones]
        return np.concatenate([part.ravel() for part in parts])


def _hidden_and_log_probabilities(X, A, a, B, b):
    """H = tanh(X A + a), and the logarithm of the softmax of H B + b, a row for each class."""
    H = X @ A
    H += a
    np.tanh(H, out=H)
    # Classes as rows: what is summed over the classes is then a sum of a few long rows.
    Z = B.T @ H.T + b[:, None]
    Z -= Z.max(axis=0)
    Z -= np.log(np.exp(Z).sum(axis=0))
    return H, Z


class Adam:
    """Adam: steps along the mean gradient, each entry over the root of its mean square.

    Both means forget the past at the rates 0.9 and 0.999, and are corrected for starting at 0
    (Algorithm 1 of the reference, with its constants).

    Parameters
    ----------
    learning_rate : float
        About the size of a step, in every coordinate.

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
        """The next theta."""
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * (gradient * gradient)
        root = np.sqrt(self.v)
        root /= np.sqrt(1 - 0.999**self.t)
        root += 1e-8
        return theta - (self.learning_rate / (1 - 0.9**self.t)) * self.m / root


def groups_of_batch(groups, rows):
    """The groups of some of the samples, or None if they are all of one group.

    Parameters
    ----------
    groups : Groups
        Of all samples, equally likely.
    rows : ndarray of int
        Which samples.

    Returns
    -------
    Groups or None
        A group without a sample among the rows is left out.

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
    """A network with one hidden layer whose label has a small Rényi correlation with the group.

    Minimizes mean loss + lam * rho_R^2(Ŷ, S) (eq. fair-classification), Ŷ being the label drawn
    with the network's class probabilities F, by steps along the gradient of

        mean loss of a mini-batch + lam * rho_R^2 of its soft labels and groups.

    The adversary's best response is that to the batch: in closed form for two groups
    (Algorithm 2), by a singular value decomposition for more (Algorithm 1).

    Parameters
    ----------
    lam : float, default=0.0
        The weight of the penalty beside the mean loss, 0 or more.
    hidden : int, default=12
        Nodes of the hidden layer.
    batch_size : int, default=128
        The samples are shuffled in each epoch, and cut into batches; the last may be smaller.
    epochs : int, default=50
        Number of passes over the training set.
    learning_rate : float, default=0.001
        That of `Adam`.
    random_state : int, RandomState, Generator or None, default=None
        For the weights at the start, and for the shuffling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in sorted order.
    groups_ : ndarray or None
    coefs_ : list of two ndarrays, of shape (n_features, hidden) and (hidden, n_classes)
        Weights of the two layers.
    intercepts_ : list of two ndarrays, of shape (hidden,) and (n_classes,)
        Biases of the two layers.
    history_ : dict of ndarray
        At the start and after each epoch, on all samples of the fit: ``"loss"``, ``"penalty"``
        (rho_R^2; 0 without groups) and ``"objective"`` (loss + lam * penalty).
    n_iter_ : int
        The number of epochs.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        If X had names of columns.

    Notes
    -----
    Hidden, batch size and epochs have the values of the paper, which leaves the rest open. Here
    the hidden nodes are tanh, the output is a softmax, the weights start as Glorot and Bengio's,
    and the steps are Adam's, with the learning rate that its authors propose. Features should be
    of about unit size: columns in the thousands saturate the hidden nodes.

    *Batches without a group.* rho_R^2 of a batch is that of the groups in it. If it has samples
    of one group only, nothing is known of the dependence: the penalty of that batch is 0.

    *The batch's bias.* On average, rho_R^2 of a small sample is above that of the population. If
    the soft label of two classes does not depend on S, rho_R^2 of a batch of n samples has about
    the mean

        (d - 1) / n * Var(F_1) / (E[F_1] (1 - E[F_1])),

    and in general at most about (d - 1) (c - 1) / n, which is attained if F is 0 or 1. So beside
    its aim the regularizer has a side effect, of weight lam / n: it flattens F. The penalty in
    `history_` is that of all samples, where this hardly counts.

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
            Classes, of any kind.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            The group of each sample, labels of any kind; several columns become one joint group.
            Without it nothing is penalized, and a warning says so unless lam is 0.

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
        """Class probabilities F of shape (n, n_classes); groups are not looked at."""
        check_is_fitted(self)
        need_memory(X, type(self).__name__)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        (A, B), (a, b) = self.coefs_, self.intercepts_
        return np.exp(_hidden_and_log_probabilities(X, A, a, B, b)[1]).T

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """The most probable class of each sample; groups are not looked at."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def _epoch(self, model, penalty, groups, theta, adam, rng):
        """theta after a step for each batch of the shuffled samples."""
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
        """X as floats, y as codes of the classes, and the groups or None, all checked."""
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
    """The loss and the penalty on all samples."""
    at = FairObjective(model, penalty, groups).at(theta, 0.0)
    return at.loss, at.penalty
