"""Models: from parameters theta to class probabilities F, and gradients back.

What a solver and an objective ask of a model are the methods of `SoftmaxModel`; `FairObjective`
needs `forward`, `pull_back` and `loss_gradient` only.
"""

import numpy as np
from scipy import sparse

from renyi_lib._losses import softmax_loss

__all__ = ["SoftmaxModel"]

# Up to this many features, the full matrix of curvature is formed; beyond, to form and factor it
# would cost more than it saves, and the diagonal has to do.
MAX_DENSE = 400

# Rows at a time where a scaled copy of X is needed, so that the copy stays in the cache.
_BLOCK = 4096


class SoftmaxModel:
    """Multinomial logistic regression on given data: from theta to F, and gradients back.

    Parameters
    ----------
    X : ndarray or scipy CSR array of shape (n, p)
    y : ndarray of int, shape (n,)
        Classes 0 … c-1.
    n_classes : int
    weight : float or ndarray of shape (n,), optional
        The probability of each sample; 1 / n by default.
    fit_intercept : bool, default=True
        Whether the last column of theta multiplies a constant 1.
    l2 : float, default=0.0
        Adds ``l2 / 2 * |theta|^2``, without the intercepts, to the loss.

    Attributes
    ----------
    shape : tuple
        The shape of theta: a row of coefficients for each class, or one row for two classes,
        where F = (1 - expit(z), expit(z)).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.models import SoftmaxModel
    >>> model = SoftmaxModel(np.array([[0.0], [1.0]]), np.array([0, 1]), n_classes=2)
    >>> loss, F = model.forward(np.zeros(model.shape))
    >>> round(loss, 6), F.tolist()
    (0.693147, [[0.5, 0.5], [0.5, 0.5]])
    >>> model.loss_gradient()
    array([[-0.25,  0.  ]])
    """

    def __init__(self, X, y, n_classes, weight=None, *, fit_intercept=True, l2=0.0):
        self.X = _with_ones(X) if fit_intercept else X
        self.y = y
        self.n_classes = n_classes
        self.weight = 1.0 / len(y) if weight is None else weight
        self.ridge = np.full(self.X.shape[1], float(l2))
        if fit_intercept:
            self.ridge[-1] = 0.0
        self.shape = (1 if n_classes == 2 else n_classes, self.X.shape[1])
        self._one_hot = (y, np.arange(len(y)))
        self._theta: np.ndarray | None = None
        self._loss: float = 0.0
        self._F: np.ndarray = np.empty((n_classes, 0))

    def forward(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean loss and the class probabilities F of shape (n, c) at theta."""
        if self._theta is not None and np.array_equal(theta, self._theta):
            return self._loss, self._F.T
        self._theta = theta.copy()
        # A matrix-vector product for each class: faster than one matrix product for a few.
        Z = np.stack([self.X @ row for row in theta])
        losses, self._F = softmax_loss(Z, self.y)
        ridge = 0.5 * np.sum(self.ridge * theta**2)
        self._loss = float(np.sum(losses * self.weight) + ridge)
        return self._loss, self._F.T

    def pull_back(self, dF: np.ndarray) -> np.ndarray:
        """The gradient by theta of sum(dF * F), at the last theta that went forward."""
        return self._by_theta(self._by_scores(dF))

    def pull_back_all(self, dFs: list[np.ndarray]) -> list[np.ndarray]:
        """`pull_back` of several, in one pass over the data."""
        if not dFs:
            return []
        dZ = np.concatenate([self._by_scores(dF) for dF in dFs])
        rows = (self.X.T @ dZ.T).T
        return list(rows.reshape(len(dFs), *self.shape))

    def table_slopes(self, groups) -> np.ndarray:
        """The derivative by theta of each entry of ``groups.table(F)``, at the last theta.

        Of shape (c, d, number of entries of theta); no array of n x d numbers is made.
        """
        c, n = self._F.shape
        weight = np.broadcast_to(groups.weight, n)
        starts, shape = np.arange(n + 1), (len(groups.q), n)

        def by_group(scale):
            # A matrix with a column for each person and one entry in it: no more than it says.
            found = sparse.csc_array((weight * scale, groups.codes, starts), shape=shape) @ self.X
            return found.toarray() if sparse.issparse(found) else found

        if c == 2:
            slopes = by_group(self._F[0] * self._F[1])
            return np.stack([-slopes, slopes])
        slopes = np.empty((c, len(groups.q), *self.shape))
        for i in range(c):
            slopes[i, :, i] = by_group(self._F[i] * (1 - self._F[i]))
            for k in range(i):
                slopes[i, :, k] = slopes[k, :, i] = by_group(-self._F[i] * self._F[k])
        return slopes.reshape(c, len(groups.q), -1)

    def loss_gradient(self, dF: np.ndarray | None = None) -> np.ndarray:
        """The gradient by theta of loss + sum(dF * F), at the last theta that went forward."""
        if self.n_classes == 2:
            dZ = ((self._F[1] - self.y) * self.weight)[None]
        else:
            dZ = self._F * self.weight
            dZ[self._one_hot] -= self.weight
        if dF is not None:
            dZ = dZ + self._by_scores(dF)
        return self._by_theta(dZ) + self.ridge * self._theta

    def canonical(self, theta: np.ndarray) -> np.ndarray:
        """Of all theta with the same F the one whose classes sum to 0, and so the shortest."""
        return theta if self.n_classes == 2 else theta - theta.mean(axis=0)

    def curvature_roots(self) -> list[np.ndarray]:
        """For each row of theta, a matrix R with R R^T about the inverse Hessian of the loss.

        Each is a (p, p) matrix, or for many features the diagonal of one. Of the Hessian's blocks,
        the mean of F_i (1 - F_i) x x^T, those that couple two classes are left out.
        """
        rows = self._F[1:] if self.n_classes == 2 else self._F
        return [
            self._inverse_root(self._second_moments(np.sqrt(label_variance(f) * self.weight)))
            for f in rows
        ]

    def lipschitz(self) -> float:
        """A Lipschitz constant of the loss's gradient.

        The Hessian is at most 1/4 (two classes) or 1/2 of the second moments of x, whatever theta
        is: D. Böhning, "Multinomial logistic regression algorithm", Annals of the Institute of
        Statistical Mathematics 44 (1992), 197-200, doi:10.1007/BF00048682.
        """
        moments = self._second_moments(np.sqrt(np.broadcast_to(self.weight, self.y.shape)))
        top = np.linalg.eigvalsh(moments)[-1] if moments.ndim == 2 else moments.sum()
        return top / (4 if self.n_classes == 2 else 2) + self.ridge.max()

    def _by_scores(self, dF):
        if self.n_classes == 2:
            return (self._F[0] * self._F[1] * (dF[:, 1] - dF[:, 0]))[None]
        return self._F * (dF.T - np.sum(self._F * dF.T, axis=0))

    def _by_theta(self, dZ):
        return np.stack([self.X.T @ row for row in dZ])

    def _inverse_root(self, hessian):
        if hessian.ndim == 1:
            return 1 / np.sqrt(_positive(hessian + self.ridge))
        hessian = hessian + np.diag(self.ridge)
        # Columns on one scale first: only then do small eigenvalues mean collinear columns.
        unit = np.sqrt(_positive(np.diag(hessian)))
        values, vectors = np.linalg.eigh(hessian / np.outer(unit, unit))
        return vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1])) / unit[:, None]

    def _second_moments(self, scale):
        """sum over n of scale_n^2 x_n x_n^T; for many features, its diagonal only."""
        if self.X.shape[1] > MAX_DENSE:
            squares = self.X.power(2) if sparse.issparse(self.X) else self.X**2
            return squares.T @ scale**2
        if sparse.issparse(self.X):
            scaled = sparse.diags_array(scale) @ self.X
            return (scaled.T @ scaled).toarray()
        moments = np.zeros((self.X.shape[1], self.X.shape[1]))
        for start in range(0, len(scale), _BLOCK):
            scaled = self.X[start : start + _BLOCK] * scale[start : start + _BLOCK, None]
            moments += scaled.T @ scaled
        return moments


def label_variance(f):
    """f (1 - f), but at least a rounding error.

    If a class never occurs in some category, the category's coefficient grows until its curvature
    vanishes. A Newton step divides by that curvature, and would then consist of rounding errors.
    """
    return np.maximum(f * (1 - f), np.finfo(float).eps)


def _with_ones(X):
    """X with a last column of ones, dense X stored by columns."""
    n, p = X.shape
    if sparse.issparse(X):
        return sparse.hstack([X, np.ones((n, 1))], format="csr")
    by_columns = np.empty((n, p + 1), order="F")
    # In blocks of rows that fit the cache: copying row by row into columns is slow otherwise.
    for start in range(0, n, 256):
        by_columns[start : start + 256, :p] = X[start : start + 256]
    by_columns[:, p] = 1.0
    return by_columns


def _positive(values):
    """The values, with 1 in place of 0 (a column of zeros has no scale)."""
    return np.where(values > 0, values, 1.0)
