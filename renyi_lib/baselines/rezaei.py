"""Rezaei et al.: the fair predictor with the best log loss against worst-case labels."""

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from renyi_lib._parameters import choice, flag, number, whole
from renyi_lib.baselines._base import BinaryFairClassifier
from renyi_lib.baselines._newton import newton

__all__ = ["RezaeiClassifier", "fair_saddle_point", "robust_game"]


class RezaeiClassifier(BinaryFairClassifier):
    """Fair robust log loss, which is logistic regression clipped at a level for each group.

    The predictor P̂ plays against an adversary P̌ that chooses the labels Ŷ::

        min over fair P̂  of  max over P̌  of  E[-log P̂(Ŷ | X, S, Y)],

    where the adversary must match the moments of the data, E[Ŷ X] = E[Y X], and fair means that
    the mean of P̂(1 | X, S, Y) is the same in two cells. The cells are the groups (demographic
    parity), the groups given Y = 1 (equality of opportunity), or the groups given either label
    (equalized odds). Let theta be the multiplier of the moments, and lambda that of fairness. Then
    the solution is (Theorem 1 of the reference; see `robust_game`)::

        P̂(1) = expit(theta . x), clipped from above at p / |lambda| in the cell whose mean is too
               large and from below at 1 - p / |lambda| in the other, where p is the cell's share.

    Parameters
    ----------
    fairness : {"equal_opportunity", "demographic_parity", "equalized_odds"}, \
default="equal_opportunity"
        Notion of fairness.
    l2 : float, default=0.0
        Strength of the ridge ``l2 / 2 * |coef|^2``; with it, moments need to match only up to
        ``l2 * coef``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-6
        The fit stops when all means that should be equal, and all moments, agree up to `tol`.
    max_iter : int, default=100
        Maximum number of iterations for the multipliers of fairness, and for theta given these
        multipliers.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels; the second one is Y = 1.
    groups_ : ndarray of shape (2,)
        Labels of the two groups, in sorted order.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features.
    intercept_ : ndarray of shape (1,)
        Intercept.
    multipliers_ : ndarray of shape (1,), or (2,) for equalized odds
        Multipliers lambda; for equalized odds, those given the first and the second class.
    tilt_ : ndarray of shape (2, 2)
        Values of lambda / p for the second group and -lambda / p for the first, given each label,
        as ``tilt_[label, group]``. Where they are between -1 and 1, no sample is clipped.
    n_iter_ : int
        Total number of Newton steps for theta.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    renyi_lib.RenyiClassifier : Logistic regression with the Rényi penalty.

    Notes
    -----
    If no sample is clipped, this is logistic regression under the constraint that the groups' mean
    probabilities are equal, which for two groups is also the limit of the Rényi penalty for large
    lam.

    For equality of opportunity and equalized odds, the predictor depends on the label Y, which is
    unknown in predictions. The label is then assumed to be 1 with the probability q that the
    adversary assigns to it, the solution of q = q P̌(1 | x, s, 1) + (1 - q) P̌(1 | x, s, 0), and

        P̂(1 | x, s) = q P̂(1 | x, s, 1) + (1 - q) P̂(1 | x, s, 0).

    Fairness then holds only approximately for `predict_proba`. For the label of `predict`, which
    is thresholded at one half, it is not guaranteed under any of the three notions.

    The game is solved as stated, as a saddle point in (theta, lambda), by two nested Newton
    methods. The authors alternate gradient steps for theta with an exact search for lambda, which
    has the same solution if it converges.

    References
    ----------
    A. Rezaei, R. Fathony, O. Memarrast and B. Ziebart, "Fairness for robust log loss
    classification", AAAI (2020), 5511-5518, doi:10.48550/arXiv.1903.03910.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines import RezaeiClassifier
    >>> from renyi_lib.metrics import group_rates
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=500)
    >>> X = rng.normal(size=(500, 2)) + (s == "m")[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> clf = RezaeiClassifier(fairness="demographic_parity").fit(X, y, sensitive_features=s)
    >>> F = clf.predict_proba(X, sensitive_features=s)
    >>> group_rates(None, F[:, 1], sensitive_features=s).round(3).to_dict()
    {'f': 0.491, 'm': 0.491}
    """

    _constraints: ClassVar = {
        "fairness": choice("equal_opportunity", "demographic_parity", "equalized_odds"),
        "l2": number(0),
        "fit_intercept": flag,
        "tol": number(0),
        "max_iter": whole(1),
    }

    def __init__(
        self,
        *,
        fairness="equal_opportunity",
        l2=0.0,
        fit_intercept=True,
        tol=1e-6,
        max_iter=100,
    ):
        self.fairness = fairness
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: Any) -> "RezaeiClassifier":
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            Labels of two classes, of any type.
        sensitive_features : array-like of shape (n,), Series or DataFrame
            Group of each sample, one of two labels of any type.

        Returns
        -------
        self
        """
        X, y, groups = self._read(X, y, sensitive_features, n_groups=2)
        contrasts = self._contrasts(groups, y)
        ridge = np.full(X.shape[1], float(self.l2))
        if self.fit_intercept:
            X = np.column_stack([X, np.ones(len(X))])
            ridge = np.append(ridge, 0.0)
        cells = contrasts[:, y, groups.codes].T
        theta, multipliers, self.n_iter_, converged = fair_saddle_point(
            X, y, cells, ridge=ridge, tol=self.tol, max_iter=self.max_iter
        )
        if not converged:
            warnings.warn(
                f"the fit did not reach tol={self.tol} within max_iter={self.max_iter} Newton "
                "steps: raise tol or max_iter, or set a positive l2",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_ = theta[None, : self.n_features_in_].copy()
        self.intercept_ = theta[self.n_features_in_ :].copy()
        if not self.fit_intercept:
            self.intercept_ = np.zeros(1)
        self.multipliers_ = multipliers
        self.tilt_ = np.tensordot(multipliers, contrasts, axes=1)
        return self

    def predict_proba(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict class probabilities P̂ of shape (n, 2) without knowing the label."""
        X = self._read_new(X)
        codes = self._group_codes(sensitive_features, X)
        z = X @ self.coef_[0] + self.intercept_[0]
        (_, hat_0, check_0), (_, hat_1, check_1) = (
            robust_game(z, tilt[codes])[:3] for tilt in self.tilt_
        )
        away = 1 - check_1 + check_0
        # If the adversary always confirms the assumed label, every q is consistent. In that case,
        # use the probability of the logistic regression.
        q = np.divide(check_0, away, out=expit(z), where=away > 0)
        positive = q * hat_1 + (1 - q) * hat_0
        return np.column_stack([1 - positive, positive])

    def predict_proba_given(
        self, X: ArrayLike, y: ArrayLike, *, sensitive_features: Any
    ) -> np.ndarray:
        """Predict class probabilities P̂ given the true label.

        The fairness constraint refers to the means of these probabilities.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            True labels.
        sensitive_features : array-like of shape (n,), Series or DataFrame
            Group of each sample.

        Returns
        -------
        ndarray of shape (n, 2)
            Class probabilities.
        """
        X = self._read_new(X)
        codes = self._group_codes(sensitive_features, X)
        label = (np.asarray(y) == self.classes_[1]).astype(int)
        z = X @ self.coef_[0] + self.intercept_[0]
        positive = robust_game(z, self.tilt_[label, codes])[1]
        return np.column_stack([1 - positive, positive])

    def _contrasts(self, groups, y):
        """Return the weight of a sample in each constraint, by label and group.

        The weight is 1 / p in the second group's cell and -1 / p in the first group's cell, where
        p is the cell's share of all samples; it is 0 for labels that the constraint leaves out.
        """
        if self.fairness == "demographic_parity":
            return np.tile([-1.0, 1.0] / groups.q, (1, 2, 1))
        labels = (1,) if self.fairness == "equal_opportunity" else (0, 1)
        contrasts = np.zeros((len(labels), 2, 2))
        for k, label in enumerate(labels):
            q = groups.given(y == label, self.classes_.tolist()[label]).q
            contrasts[k, label] = [-1.0, 1.0] / (q * np.mean(y == label))
        return contrasts


def robust_game(z, c):
    """Solve the game for each sample; return its value, strategies and second derivatives.

    With the score z = theta . x and the tilt c = lambda / p, the predictor minimizes and the
    adversary maximizes, over probabilities p̂ and p̌ of the label 1,

        -p̌ log p̂ - (1 - p̌) log(1 - p̂) + c p̂ + z p̌.

    At p̂ = expit(z), the adversary is indifferent. This is the solution if the predictor's
    condition p̌ = p̂ (1 + c (1 - p̂)) then gives a probability p̌. Otherwise p̌ is 1 and p̂ = 1 / c,
    which is below expit(z), or p̌ is 0 and p̂ = 1 + 1 / c, which is above expit(z). The derivatives
    of the value with respect to z and c are p̌ and p̂; the value is convex in z and concave in c.

    Parameters
    ----------
    z, c : ndarray of shape (n,)
        Score and tilt of each sample.

    Returns
    -------
    value, p_hat, p_check : ndarray of shape (n,)
        Value of the game, and both strategies.
    by_zz, by_zc, by_cc : ndarray of shape (n,)
        Second derivatives of the value.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.rezaei import robust_game
    >>> value, p_hat, p_check, *_ = robust_game(np.array([0.0, 0.0]), np.array([0.0, 4.0]))
    >>> p_hat, p_check
    (array([0.5 , 0.25]), array([0.5, 1. ]))
    """
    p, other = expit(z), expit(-z)
    beyond = np.where(np.abs(c) > 1, c, 1.0)  # avoids division by 0
    above = (c > 1) & (p > 1 / beyond)
    below = (c < -1) & (p < 1 + 1 / beyond)
    free = ~(above | below)
    p_hat = np.select([above, below], [1 / beyond, 1 + 1 / beyond], p)
    p_check = np.select([above, below], [1.0, 0.0], p * (1 + c * other))
    log_beyond = np.log(np.abs(beyond))
    value = np.select(
        [above, below], [log_beyond + 1 + z, log_beyond + c + 1], np.logaddexp(0, z) + c * p
    )
    by_zc = free * p * other
    return value, p_hat, p_check, by_zc * (1 + c * (other - p)), by_zc, -1.0 * ~free / beyond**2


def fair_saddle_point(X, y, cells, *, ridge, tol=1e-6, max_iter=100):
    """Find the saddle point of the game's dual, which is convex in theta and concave in lambda.

        min over theta, max over lambda of  mean_n [game(x_n . theta, cells_n . lambda)
                                                    - y_n x_n . theta] + theta . ridge theta / 2

    The derivative with respect to lambda is the difference between the cells' means of P̂, which
    is 0 for a fair predictor. An inner Newton method minimizes over theta for given lambda. The
    minimum is a concave function of lambda, which an outer Newton method maximizes.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features.
    y : ndarray of int, shape (n,)
        Labels, 0 or 1.
    cells : ndarray of shape (n, m)
        For each constraint, 1 / share in one cell, -1 / share in the other and 0 elsewhere, where
        share is the cell's share of all samples.
    ridge : ndarray of shape (p,)
        Strength of the ridge for each parameter.
    tol : float, default=1e-6
        Tolerance of both Newton methods.
    max_iter : int, default=100
        Maximum number of iterations of each Newton method.

    Returns
    -------
    theta : ndarray of shape (p,)
        Parameters at the saddle point.
    multipliers : ndarray of shape (m,)
        Multipliers lambda at the saddle point.
    n_iter : int
        Total number of Newton steps for theta.
    converged : bool
        Whether the tolerance was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.rezaei import fair_saddle_point
    >>> X, y = np.ones((4, 1)), np.array([0, 1, 1, 1])
    >>> cells = np.array([[2.0], [-2.0], [2.0], [-2.0]])
    >>> theta, *_ = fair_saddle_point(X, y, cells, ridge=np.zeros(1))
    >>> bool(np.isclose(theta[0], np.log(3)))
    True
    """
    n_iter = 0

    def best_response(multipliers, theta):
        """Compute theta given the multipliers.

        Returns the Newton solution, the differences between the cells' means of P̂, and each
        sample's contribution to the second derivatives with respect to (z, c) and (c, c).
        """
        nonlocal n_iter
        tilt = cells @ multipliers

        def phi(z):
            value, _, p_check, by_zz, _, _ = robust_game(z, tilt)
            return value - y * z, p_check - y, by_zz

        # Use a smaller tolerance, so that the differences refer to the best theta.
        solution = newton(phi, X, theta, ridge=ridge, tol=tol / 100, max_iter=max_iter)
        n_iter += solution.n_iter
        _, p_hat, _, _, by_zc, by_cc = robust_game(X @ solution.theta, tilt)
        return solution, cells.T @ p_hat / len(X), by_zc / len(X), by_cc / len(X)

    multipliers = np.zeros(cells.shape[1])
    solution, gap, by_zc, by_cc = best_response(multipliers, np.zeros(X.shape[1]))
    for _ in range(max_iter):
        if not solution.converged or np.abs(gap).max() <= tol:
            break
        mixed = (cells * by_zc[:, None]).T @ X
        curvature = mixed @ solution.inverse_hessian(mixed.T) - (cells * by_cc[:, None]).T @ cells
        step = np.linalg.lstsq(curvature, gap)[0]
        length, slope = 1.0, gap @ step
        while True:
            moved = multipliers + length * step
            solution, gap, by_zc, by_cc = best_response(moved, solution.theta)
            # Along the step, the slope decreases from a positive value to 0 at the best length.
            if gap @ step >= -slope / 2 or length < 1e-6:
                break
            length /= 2
        multipliers = moved
    converged = solution.converged and bool(np.abs(gap).max() <= tol)
    return solution.theta, multipliers, n_iter, converged
