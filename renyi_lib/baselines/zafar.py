"""Zafar et al.: logistic regression whose scores have a bounded covariance with the group."""

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from renyi_lib._losses import softmax_loss
from renyi_lib._parameters import choice, flag, number, whole
from renyi_lib.baselines._base import BinaryFairClassifier, LogisticScores
from renyi_lib.baselines._newton import newton

__all__ = ["ZafarClassifier", "group_covariances", "logistic_loss"]


class ZafarClassifier(LogisticScores, BinaryFairClassifier):
    """Logistic regression under a bound on the covariance of its scores with the group.

    With d(x) = theta . x + b, the signed distance to the boundary up to a factor, the problem is::

        minimize mean logistic loss  subject to  |Cov(d(X), 1[S = j])| <= c  for every group j.

    For equality of opportunity, the covariance is conditional on Y = 1, which means that all its
    means, including that of the group's indicator, are taken over the samples with Y = 1. The
    problem is convex and is solved exactly. For two groups there is a single covariance.

    With ``of="mistakes"``, d(X) is replaced by min(0, d(X)), to which only false negatives
    contribute given Y = 1. That problem is not convex; see the notes.

    Parameters
    ----------
    c : float, default=0.0
        Nonnegative bound, on the scale of the scores.
    fairness : {"demographic_parity", "equal_opportunity"}, default="demographic_parity"
        Notion of fairness.
    of : {"scores", "mistakes"}, default="scores"
        Variable whose covariance with the group is bounded, either d(X) or min(0, d(X)). The
        latter is available only for equality of opportunity.
    l2 : float, default=1e-4
        Strength of the ridge ``l2 / 2 * |coef|^2``, which is added to the mean loss. It should
        not be 0; see the notes.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which does not affect the constraint.
    tol : float, default=1e-6
        The fit stops when no entry of the Lagrangian's gradient exceeds `tol` in absolute value.
    max_iter : int, default=100
        Maximum number of Newton steps; with ``of="mistakes"``, in each round (see the notes).

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels; the second one is Y = 1.
    groups_ : ndarray
        Group labels, in sorted order.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features.
    intercept_ : ndarray of shape (1,)
        Intercept.
    covariances_ : ndarray of shape (1,) or (n_groups,)
        Covariances of the scores, or of the mistakes, with the indicator of the second of two
        groups, or of each group if there are more.
    multipliers_ : ndarray of shape (1,) or (n_groups,)
        Multipliers of the constraints, which are 0 where the bound is not active. The array is
        empty if ``of="mistakes"`` and the constraint holds without being imposed.
    n_iter_ : int
        Number of Newton steps; with ``of="mistakes"``, those of the last round.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    DoniniClassifier : Make the groups' mean scores given Y = 1 equal.

    Notes
    -----
    The constraint for demographic parity comes from the 2015 paper, and equality of opportunity
    uses the same constraint given Y = 1. The constraint on mistakes comes from the 2017 paper,
    which uses it for equal false negative rates; here its means are given Y = 1. That paper uses a
    convex-concave heuristic. Here the set of mistakes is fixed, the remaining convex problem is
    solved, and both steps are repeated until the constraint holds, up to a small tolerance, for
    the mistakes of the solution (see `settle_mistakes`). The solution is then stationary or nearly
    so. As with any heuristic, another start may lead to another result.

    A covariance of 0 makes the groups' mean scores equal, but not necessarily their shares of
    positive scores. This has a consequence for l2 = 0. If some samples certainly have Y = 0, such
    as a rare category without positives, their scores may decrease without bound at no loss, and
    a few such samples with sufficiently low scores offset any covariance. The constraint then
    costs nothing and does not affect the other samples. In the Adult data, seven people who never
    worked have this effect. A ridge makes it costly.

    References
    ----------
    M. B. Zafar, I. Valera, M. Gomez Rodriguez and K. P. Gummadi, "Fairness constraints: mechanisms
    for fair classification" (2015), doi:10.48550/arXiv.1507.05259.

    M. B. Zafar, I. Valera, M. Gomez Rodriguez and K. P. Gummadi, "Fairness beyond disparate
    treatment and disparate impact", WWW (2017), 1171-1180, doi:10.1145/3038912.3052660.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines import ZafarClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> for c in [1, 0.2, 0]:
    ...     clf = ZafarClassifier(c).fit(X, y, sensitive_features=s)
    ...     print(c, abs(np.cov(clf.decision_function(X), s, bias=True)[0, 1].round(6)))
    1 0.45504
    0.2 0.2
    0 0.0
    """

    _constraints: ClassVar = {
        "c": number(0),
        "fairness": choice("demographic_parity", "equal_opportunity"),
        "of": choice("scores", "mistakes"),
        "l2": number(0),
        "fit_intercept": flag,
        "tol": number(0),
        "max_iter": whole(1),
    }

    def __init__(
        self,
        c=0.0,
        *,
        fairness="demographic_parity",
        of="scores",
        l2=1e-4,
        fit_intercept=True,
        tol=1e-6,
        max_iter=100,
    ):
        self.c = c
        self.fairness = fairness
        self.of = of
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: Any) -> "ZafarClassifier":
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features.
        y : array-like of shape (n,)
            Labels of two classes, of any type.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample, given by labels of any type; several columns define joint groups.

        Returns
        -------
        self
        """
        X, y, groups = self._read(X, y, sensitive_features)
        if self.fairness == "equal_opportunity":
            groups = groups.given(y == 1, self.classes_.tolist()[1])
        ridge = np.full(X.shape[1], float(self.l2))
        if self.fit_intercept:
            X = np.column_stack([X, np.ones(len(X))])
            ridge = np.append(ridge, 0.0)

        def solve(A):
            return newton(
                logistic_loss(y),
                X,
                np.zeros(X.shape[1]),
                ridge=ridge,
                A=A,
                bound=float(self.c),
                tol=self.tol,
                max_iter=self.max_iter,
            )

        if self.of == "scores":
            A = group_covariances(X, groups)
            solution, settled = solve(A), True
            self.covariances_ = A @ solution.theta
        else:
            self.covariances_, solution, settled = settle_mistakes(solve, X, groups, float(self.c))
        if not (settled and solution.converged):
            found = (
                f"the fit did not converge within max_iter={self.max_iter} Newton steps: raise "
                "max_iter, tol"
                if settled
                else "the set of mistakes did not settle: raise c"
            )
            warnings.warn(
                f"{found} or the ridge penalty l2",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_ = solution.theta[None, : self.n_features_in_].copy()
        self.intercept_ = solution.theta[self.n_features_in_ :].copy()
        if not self.fit_intercept:
            self.intercept_ = np.zeros(1)
        self.multipliers_ = solution.multipliers
        self.n_iter_ = solution.n_iter
        return self

    def _check_parameters(self):
        super()._check_parameters()
        if self.of == "mistakes" and self.fairness != "equal_opportunity":
            raise ValueError(
                "of='mistakes' requires fairness='equal_opportunity', not "
                f"fairness={self.fairness!r}"
            )


def settle_mistakes(solve, X, groups, c, max_rounds=100):
    """Alternate between solving for given mistakes and finding the mistakes of the solution.

    For scores d, min(0, d) is d where d < 0 and 0 elsewhere, so its covariance is linear in theta
    as long as the set of mistakes does not change. Later rounds move A only part of the way to the
    matrix of the new mistakes, so that samples that alternate at the boundary are counted
    partially.

    Parameters
    ----------
    solve : callable
        Function that maps the matrix A of the constraint, or None for no constraint, to a
        `NewtonSolution`.
    X : ndarray of shape (n, p)
        Features.
    groups : Groups
        Groups given Y = 1.
    c : float
        Bound of the covariances.
    max_rounds : int, default=100
        Maximum number of rounds.

    Returns
    -------
    covariances : ndarray of shape (k,)
        Covariances of the mistakes with the groups.
    solution : NewtonSolution
        Solution of the last round.
    settled : bool
        Whether the constraint already holds without being imposed, or the largest covariance
        exceeds `c` by at most 0.1 % of its excess without the constraint and the last round
        changed the objective by at most 1e-5.
    """
    solution, A, tolerance, before = solve(None), None, 0.0, np.inf
    for k in range(max_rounds):
        mistakes = X @ solution.theta < 0
        new = group_covariances(X * mistakes[:, None], groups)
        covariances = new @ solution.theta
        excess = np.abs(covariances).max() - c
        steady = abs(solution.value - before) <= 1e-5
        if excess <= 0 if k == 0 else excess <= tolerance and steady:
            return covariances, solution, True
        if k == 0:
            A, tolerance = new, 1e-3 * excess
        A, before = A + min(1.0, 4 / (k + 1)) * (new - A), solution.value
        solution = solve(A)
    return covariances, solution, False


def group_covariances(X, groups):
    """Compute Cov(X, 1[S = j]) for each group j, or only for the second of two groups.

    The result has shape (k, n_features).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.zafar import group_covariances
    >>> from renyi_lib.penalties import Groups
    >>> X, s = np.array([[1.0], [2.0], [5.0], [6.0]]), [0, 0, 1, 1]
    >>> group_covariances(X, Groups.from_labels(s))
    array([[1.]])
    """
    d = len(groups.q)
    counted = [1] if d == 2 else range(d)
    indicators = np.stack([groups.codes == j for j in counted]) - groups.q[counted][:, None]
    return (indicators * groups.weight) @ X


def logistic_loss(y):
    """Return a function that computes log(1 + e^z) - y z and its derivatives for scores z.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines.zafar import logistic_loss
    >>> value, first, second = logistic_loss(np.array([1]))(np.zeros(1))
    >>> value.round(6), first, second
    (array([0.693147]), array([-0.5]), array([0.25]))
    """

    def phi(z):
        losses, (other, p) = softmax_loss(z[None], y)
        return losses, np.where(y, -other, p), p * other

    return phi
