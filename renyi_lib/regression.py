"""Fair linear regression, which penalizes dependence of the prediction on an attribute.

The regressor minimizes, over its coefficients,

    mean((y - prediction)^2) / variance(y) + lam * rho_R^2(prediction, S),

that is, 1 - R^2 + lam * rho_R^2. S may be discrete or continuous, and rho_R is the maximal
correlation over smooth functions (`renyi_lib.smooth_penalties`). `renyi_lib.objective` combines
the model with the penalty. The solver is `renyi_lib.solvers.newton` or, with very many features,
`lbfgs` as for the classifiers.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import inplace_csr_column_scale, mean_variance_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from renyi_lib._cells import as_source
from renyi_lib._dispatch import in_memory
from renyi_lib._linear import LinearMixin
from renyi_lib._parameters import Checked, choice, flag, number, whole
from renyi_lib._rows import labels_in_memory, read_rows, warn_without_groups
from renyi_lib._validation import (
    check_alignment,
    encode_labels,
    known_codes,
    looks_continuous,
    numeric_values,
    refuse_dates,
)
from renyi_lib.classification import MAX_LAM
from renyi_lib.models import MAX_DENSE, inverse_root, largest_eigenvalue, second_moments
from renyi_lib.objective import FairObjective
from renyi_lib.smooth_penalties import PredictionPenalty, ordered_groups
from renyi_lib.solvers import lbfgs, newton
from renyi_lib.sources.features import FeatureBlocks, over_rows, read_columns

__all__ = ["LinearModel", "RenyiRegressor"]

# Number of gradients pulled back in one pass over the data.
_AT_ONCE = 16


class LinearModel:
    """Least-squares model that maps theta to predictions and pulls gradients back to theta.

    Parameters
    ----------
    X : ndarray, scipy CSR array or FeatureBlocks of shape (n, p)
        Features. `FeatureBlocks` already contain the column of ones if there is an intercept.
    y : ndarray of shape (n,)
        Targets.
    weight : float or ndarray of shape (n,), optional
        Probability of each sample; 1 / n by default.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    l2 : float or ndarray of shape (p,), default=0.0
        Strength of the ridge ``sum(l2 * theta^2)``, which is added to the mean squared error and
        excludes the intercept.

    Attributes
    ----------
    X : ndarray, scipy CSR array or FeatureBlocks
        Features, followed by a column of ones if there is an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.regression import LinearModel
    >>> model = LinearModel(np.array([[0.0], [1.0]]), np.array([1.0, 3.0]))
    >>> point = model.at(np.array([[2.0, 0.0]]))
    >>> float(point.loss), point.F.tolist(), point.gradient()
    (1.0, [0.0, 2.0], array([[-1., -2.]]))
    """

    n_classes = 2

    def __init__(self, X, y, weight=None, *, fit_intercept=True, l2=0.0):
        in_blocks = isinstance(X, FeatureBlocks)
        self.X, self.y = _with_ones(X) if fit_intercept and not in_blocks else X, y
        self.weight = 1.0 / len(y) if weight is None else weight
        self.ridge = np.zeros(self.X.shape[1])
        self.ridge[: len(self.ridge) - fit_intercept] = 2.0 * np.asarray(l2)
        self.shape = (1, self.X.shape[1])

    def at(self, theta: np.ndarray) -> "LinearPoint":
        """Evaluate the model at theta."""
        return LinearPoint(self, theta)

    @cached_property
    def moments(self) -> np.ndarray:
        """Hessian of the mean squared error, which is constant, or its diagonal if X is wide."""
        scale = np.sqrt(2 * np.broadcast_to(self.weight, self.y.shape))
        return over_rows(self.X, _second_moments, [scale])

    @cached_property
    def root(self) -> np.ndarray:
        """Matrix R with R R^T close to the loss's inverse Hessian; if X is wide, its diagonal."""
        return inverse_root(self.moments, self.ridge)

    @property
    def has_hessian(self) -> bool:
        """Whether the number of features is small enough for a full Hessian."""
        return self.X.shape[1] <= MAX_DENSE

    def lipschitz(self) -> float:
        """Return a Lipschitz constant of the loss's gradient."""
        return largest_eigenvalue(self.moments) + self.ridge.max()


class LinearPoint:
    """Evaluation of a `LinearModel` at theta, analogous to `renyi_lib.models.Point`.

    Attributes
    ----------
    theta : ndarray of shape (1, number of columns of X)
        Parameters of the model.
    loss : float
        Mean squared error plus the ridge penalty.
    F : ndarray of shape (n,)
        Predictions.
    """

    def __init__(self, model: LinearModel, theta: np.ndarray):
        self.model, self.theta = model, theta.copy()
        parts = over_rows(model.X, _predicted, [], theta[0])
        self.F = parts[0] if len(parts) == 1 else np.concatenate(parts)
        squares = np.sum(model.weight * (self.F - model.y) ** 2)
        self.loss = float(squares + 0.5 * np.sum(model.ridge * theta**2))

    def gradient(self, dF: np.ndarray | None = None) -> np.ndarray:
        """Compute the gradient of loss + sum(dF * F) with respect to theta."""
        by_F = 2 * self.model.weight * (self.F - self.model.y)
        (gradient,) = self.pull_back([by_F if dF is None else by_F + dF])
        return gradient + self.model.ridge * self.theta

    def pull_back(self, dFs: Any) -> list[np.ndarray]:
        """Compute the gradient of sum(dF * F) with respect to theta for each dF, in batches."""
        rows: list = []
        for start in range(0, len(dFs), _AT_ONCE):
            several = [dFs[k] for k in range(start, min(start + _AT_ONCE, len(dFs)))]
            rows.extend(over_rows(self.model.X, _pulled_back, [np.stack(several, axis=1)]).T)
        return [row[None] for row in rows]

    def curvature_roots(self) -> list[np.ndarray]:
        """Return a list that contains only the model's `root`."""
        return [self.model.root]

    def hessian(self) -> np.ndarray:
        """Compute the Hessian of the loss."""
        return self.model.moments + np.diag(self.model.ridge)


def _predicted(X, _, theta):
    return [X @ theta]


def _pulled_back(X, columns):
    return X.T @ columns[0]


def _second_moments(X, columns):
    return second_moments(X, columns[0])


def _with_ones(X):
    """Append a column of ones to X; a dense result is stored in column-major order."""
    n, p = X.shape
    if sparse.issparse(X):
        return sparse.hstack([X, np.ones((n, 1))], format="csr")
    by_columns = np.empty((n, p + 1), order="F")
    # Copy in blocks of rows that fit the cache, because row-by-row copies into columns are slow.
    for start in range(0, n, 256):
        by_columns[start : start + 256, :p] = X[start : start + 256]
    by_columns[:, p] = 1.0
    return by_columns


@dataclass(frozen=True, eq=False)
class _Problem:
    """Validated and standardized training data, shared by the fits for different values of lam."""

    objective: FairObjective
    center: np.ndarray
    scale: np.ndarray
    y_mean: float
    y_scale: float
    chance: float
    kind: str | None
    n_features: int
    feature_names: np.ndarray | None


class RenyiRegressor(LinearMixin, Checked, RegressorMixin, BaseEstimator):
    """Linear regression whose predictions have a small maximal correlation with an attribute.

    It minimizes mean((y - prediction)^2) / variance(y) + lam * rho_R^2(prediction, S). The first
    term is 1 - R^2. Both R^2 and rho_R^2 are free of units, so with lam = 1, one point of R^2 is
    traded for one point of rho_R^2.

    Parameters
    ----------
    lam : float, default=1.0
        Weight of rho_R^2 relative to 1 - R^2, between 0 and 1e12.
    kind : {"auto", "discrete", "continuous"}, default="auto"
        Type of the attribute. "auto" treats floating-point numbers as continuous unless all of
        them are integers, and everything else as labels. Ages in whole years therefore need
        "continuous".
    n_functions : int, default=16
        Number of smooth functions of the prediction over which the maximal correlation is taken.
        More functions detect finer dependence but overfit more where there is none. The number is
        capped at one per ten samples, but the cap is never less than 2.
    n_functions_s : int, default=8
        Number of smooth functions of a continuous attribute, with the same cap. For a discrete
        attribute, all functions are used.
    l2 : float, default=0.0
        Strength of the ridge ``l2 * |coef|^2``, which is added to the mean squared error. It
        corresponds to ``alpha = n l2`` in scikit-learn's Ridge.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-5
        The fit stops when no entry of the objective's gradient exceeds tol (1 + lam c / 10) in
        absolute value, where c is the level that rho_R^2 can reach by chance if prediction and
        attribute are independent (see Notes). The gradient is taken with respect to the
        coefficients of columns scaled to variance 1.
    max_iter : int, default=1000
        Maximum number of iterations, not counting those of an initial least-squares fit.
    warm_start : bool, default=False
        Whether to start from the previous solution instead of least squares.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the features.
    intercept_ : float
        Intercept, 0.0 if ``fit_intercept=False``.
    kind_ : str or None
        Type of the attribute, "discrete" or "continuous"; None if fitted without one.
    groups_ : ndarray or None
        Groups, or values of a continuous attribute, at which `adversary_` is evaluated.
    adversary_ : ndarray or None
        Adversary's best response to the solution, that is, the admissible function of the
        attribute, with mean 0 and variance 1, that correlates most with some function of the
        prediction.
    history_ : dict of ndarray
        Values at the start and after each iteration of ``"lam"``, ``"loss"`` (1 - R^2 plus the
        ridge), ``"penalty"`` (rho_R^2), ``"objective"``, ``"gradient_norm"`` and
        ``"gradient_max"``, defined as in `RenyiClassifier`.
    n_iter_ : int
        Number of iterations, at least 1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    RenyiBoostingRegressor : Gradient-boosted trees with the same penalty.
    lam_path : Fit for a sequence of values of lam.
    continuous_correlation : Estimate the maximal correlation of prediction and attribute.

    Notes
    -----
    rho_R does not depend on the scale of the predictions. If a constant prediction has a smaller
    objective than the linear prediction that was found, `coef_` is 0.

    The objective is not convex and may have several minima with nearly the same value. The
    starting point determines which one is found. A single fit starts from least squares and raises
    lam in stages, while `lam_path` starts from the fit for the next smaller lam. From the same
    starting point, the same minimum is found to many digits on any processor. Where two singular
    values tie, the penalty has a kink. It is smoothed there, which raises the objective by at most
    1e-4 or, if that is more, by lam / 20 times the chance level of rho_R^2.

    The penalty is the plug-in estimate from the sample, which chance inflates by up to (sqrt(K) +
    sqrt(L))^2 / n for K and L functions of the prediction and the attribute. This amount is
    subtracted when a fit is compared with the constant prediction. A lam far above the inverse of
    that amount fits noise, so that the prediction loses accuracy without becoming fairer.

    References
    ----------
    A. Rényi, "On measures of dependence", Acta Mathematica Academiae Scientiarum Hungaricae 10
    (1959), 441-451, doi:10.1007/BF02024507.

    Examples
    --------
    The first column depends on the distance of the age from 45, and y depends on that column,
    although its Pearson correlation with age is about 0.

    >>> import numpy as np
    >>> from renyi_lib import RenyiRegressor, continuous_correlation
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 70, 3000)
    >>> X = rng.normal(size=(3000, 3))
    >>> X[:, 0] += np.abs(age - 45) / 7
    >>> y = X.sum(axis=1) + rng.normal(size=3000)
    >>> for lam in [0, 1, 100]:
    ...     reg = RenyiRegressor(lam).fit(X, y, sensitive_features=age)
    ...     rho = continuous_correlation(reg.predict(X), age).rho
    ...     print(lam, round(reg.score(X, y), 1), round(rho, 1))
    0 0.8 0.5
    1 0.7 0.3
    100 0.5 0.0
    """

    _constraints: ClassVar = {
        "lam": number(0, MAX_LAM),
        "kind": choice("auto", "discrete", "continuous"),
        "n_functions": whole(2),
        "n_functions_s": whole(1),
        "l2": number(0),
        "fit_intercept": flag,
        "tol": number(0),
        "max_iter": whole(1),
        "warm_start": flag,
    }

    def __init__(
        self,
        lam=1.0,
        *,
        kind="auto",
        n_functions=16,
        n_functions_s=8,
        l2=0.0,
        fit_intercept=True,
        tol=1e-5,
        max_iter=1000,
        warm_start=False,
    ):
        self.lam = lam
        self.kind = kind
        self.n_functions = n_functions
        self.n_functions_s = n_functions_s
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "RenyiRegressor":
        """Fit the regressor.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Features. X may also be a Dask array or data frame, in which case the other arguments
            are Dask collections, too, or `ParquetRows`, in which case they are column names. Such
            an X is read in blocks of rows, and only y, the attribute, the weights and the
            predictions, which the penalty needs all at once, are held in memory.
        y : array-like of shape (n,)
            Numeric targets.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Attribute of each sample, given by numbers or by labels of any type; several columns
            define joint groups. If omitted, nothing is penalized, and a warning is issued unless
            lam is 0.
        sample_weight : array-like of shape (n,), optional
            Nonnegative sample weights, used in both the loss and the penalty. A sample of weight 2
            counts as two rows. If the weights sum to less than the effective sample size sum(w)^2
            / sum(w^2), that size is used as the number of rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sensitive_features, sample_weight)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the target, lazily if X is a Dask collection."""
        check_is_fitted(self)
        if not in_memory(X):
            return self._by_part(self.predict, X, None, float)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return safe_sparse_dot(X, self.coef_, dense_output=True) + self.intercept_

    def penalty_value(
        self,
        X: ArrayLike,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute rho_R^2 of prediction and attribute on given data, such as a test set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Features; a Dask collection or `ParquetRows` is accepted as in `fit`.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Attribute of each sample. Labels must have been seen in `fit`; numbers need not.
        sample_weight : array-like of shape (n,), optional
            Nonnegative sample weights; by default, all samples count equally.

        Returns
        -------
        float
            Plug-in estimate over `n_functions` functions. Use `continuous_correlation` for an
            estimate that chooses the number of functions and corrects the bias, and
            `continuous_test` to test for dependence.
        """
        prediction, sensitive_features, sample_weight = labels_in_memory(
            X, self.predict(X), sensitive_features, sample_weight
        )
        kind = self.kind_ or self._kind_of(sensitive_features)
        z = np.asarray(prediction)
        rows = _read(z, None, sensitive_features, sample_weight, kind, lengths={"X": z})
        groups = _groups(rows, kind)
        if kind == "discrete" and self.groups_ is not None:
            known_codes(groups.categories, self.groups_, "sensitive_features")
        penalty = self._penalty(kind, _n_samples(rows.weight, len(rows.X)))
        return penalty.value(rows.X, groups)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _kind_of(self, sensitive_features):
        if self.kind != "auto":
            return self.kind
        continuous = looks_continuous(sensitive_features, "sensitive_features")
        return "continuous" if continuous else "discrete"

    def _penalty(self, kind, n_samples):
        most = max(2, int(n_samples / 10))
        n_functions, n_functions_s = (
            min(most, each) for each in (self.n_functions, self.n_functions_s)
        )
        return PredictionPenalty(kind, n_functions, n_functions_s)

    def _prepare(self, X, y, sensitive_features, sample_weight):
        """Validate the data and compute everything that does not depend on lam."""
        self._check_parameters()
        source = as_source(X, y, sensitive_features, sample_weight)
        if source is None:
            check_alignment(
                X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
            )
            y = refuse_dates(y, "y")
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, copy=True
            )
            n_features, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        else:
            X, y, sensitive_features, sample_weight = read_columns(source)
            n_features, names = X.shape[1], getattr(source, "feature_names", None)
        y = numeric_values(y, "y")
        kind = None if sensitive_features is None else self._kind_of(sensitive_features)
        rows = _read(X, y, sensitive_features, sample_weight, kind)
        X, y, weight = rows.X, rows.y, rows.shares()
        groups, penalty, chance = _groups(rows, kind), None, 0.0
        if groups is None:
            warn_without_groups(self, "a plain linear regression", stacklevel=5)
        else:
            n_samples = _n_samples(rows.weight, len(y))
            penalty = self._penalty(kind, n_samples)
            chance = penalty.by_chance(groups, n_samples)
        X, center, scale = _standardized(X, weight, self.fit_intercept)
        y_mean = float(np.average(y, weights=weight)) if self.fit_intercept else 0.0
        y_scale = float(
            np.sqrt(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
        )
        y_scale = y_scale if y_scale > 1e-12 * np.abs(y).max() else 1.0
        model = LinearModel(
            X,
            (y - y_mean) / y_scale,
            weight,
            fit_intercept=self.fit_intercept,
            l2=self.l2 / scale**2,
        )
        objective = FairObjective(model, penalty, groups)
        return _Problem(objective, center, scale, y_mean, y_scale, chance, kind, n_features, names)

    def _solve(self, problem, theta, lam_before):
        """Minimize from theta, the solution for lam_before, and store the result."""
        objective, lam, chance = problem.objective, float(self.lam), problem.chance
        # A large lam magnifies the sampling noise of the penalty, so tol grows with it.
        tol = self.tol * (1 + 0.1 * lam * chance)
        penalized = lam > 0 and objective.penalty is not None
        if not penalized or not theta.any():
            # Start from least squares, because at 0 the penalty has no direction of descent.
            found = lbfgs(objective, theta, 0.0, tol=self.tol, max_iter=self.max_iter)
            theta = found.theta
        if penalized:
            found = (newton if objective.model.has_hessian else lbfgs)(
                objective,
                theta,
                lam,
                lam_before=lam_before,
                tol=tol,
                max_iter=self.max_iter,
                resolution=max(2e-4 / lam, chance / 10),
            )
        theta = _or_constant(objective, found.theta, lam, chance)
        self._solution = theta
        self.n_features_in_ = problem.n_features
        if problem.feature_names is not None:
            self.feature_names_in_ = problem.feature_names
        self.coef_ = problem.y_scale * theta[0, : problem.n_features] / problem.scale
        self.intercept_ = 0.0
        if self.fit_intercept:
            constant = problem.y_mean + problem.y_scale * theta[0, -1]
            self.intercept_ = float(constant - self.coef_ @ problem.center)
        self.history_ = found.history.columns()
        self.n_iter_ = max(1, found.history.n_iter)
        self.kind_ = problem.kind
        self.groups_ = self.adversary_ = None
        if objective.groups is not None:
            self.groups_ = objective.groups.categories
            self.adversary_ = objective.at(theta, 0.0).best_response()
        if not found.converged and theta is found.theta:
            advice = "raise max_iter or tol"
            if self.n_iter_ < self.max_iter:
                advice = "no step lowers the objective any further, so raise tol"
            warnings.warn(
                f"The fit stopped after {self.n_iter_} iterations, before the gradient was as "
                f"small as {tol:.3g} (tol={self.tol}): {advice}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _theta(self):
        return self._solution

    def _last_theta(self, problem):
        """Convert the previous solution to the scale of this problem."""
        coefficients = self.coef_ * problem.scale / problem.y_scale
        if not self.fit_intercept:
            return coefficients[None]
        constant = self.intercept_ + self.coef_ @ problem.center - problem.y_mean
        return np.append(coefficients, constant / problem.y_scale)[None]


def _as_numbers(values, name):
    """Return the values as numbers, without categories."""
    return numeric_values(values, name), None


def _read(X, y, sensitive_features, sample_weight, kind, **options):
    encode = _as_numbers if kind == "continuous" else encode_labels
    return read_rows(X, y, sensitive_features, sample_weight, encode, **options)


def _groups(rows, kind):
    """Return the attribute in the form that the penalty needs, or None if there is none."""
    if kind == "continuous":
        return ordered_groups(rows.codes, rows.shares(), name="sensitive_features")
    return rows.groups()


def _n_samples(weight, n_rows):
    """Return the number of samples that the weighted rows represent."""
    if weight is None:
        return n_rows
    total = weight.sum()
    return max(total, total**2 / (weight @ weight))


def _standardized(X, weight, center):
    """Scale X to unit variance, center it if dense and `center`; return X, shifts and scales."""
    if isinstance(X, FeatureBlocks):
        X = X.standardized(weight, center, ones=center)
        return X, X.center, X.scale
    shift = np.zeros(X.shape[1])
    if sparse.issparse(X):
        variance = mean_variance_axis(X, axis=0, weights=weight)[1]
    else:
        if center:
            shift = np.average(X, axis=0, weights=weight)
            X -= shift
        mean = 0 if center else np.average(X, axis=0, weights=weight)
        variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    scale = np.sqrt(variance)
    # A column that varies only by rounding errors is constant and is not scaled.
    scale = np.where(scale > 1e-12 * np.abs(shift), scale, 1.0)
    if sparse.issparse(X):
        inplace_csr_column_scale(X, 1 / scale)
    else:
        X /= scale
    return X, shift, scale


def _or_constant(objective, theta, lam, chance):
    """Return theta, or the best constant prediction if its objective is smaller.

    The penalty is discontinuous at a constant prediction, so descent cannot find it. The part of
    the penalty that chance alone explains is subtracted before the comparison.
    """
    if objective.penalty is None or not lam:
        return theta
    # With an intercept, y is centered.
    constant = np.zeros_like(theta)
    at = objective.at(theta, lam)
    value = at.loss + lam * max(0.0, at.penalty - chance)
    return constant if objective.at(constant, lam).value < value else theta
