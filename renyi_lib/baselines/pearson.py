"""Logistic regression with Pearson's correlation as its penalty."""

from renyi_lib.classification import PenalizedClassifier
from renyi_lib.penalties import PearsonPenalty

__all__ = ["PearsonClassifier"]


class PearsonClassifier(PenalizedClassifier):
    """Logistic regression whose score has a small Pearson correlation with the group.

    Minimises mean loss + lam * squared correlation of the class probabilities and the indicators
    of the groups: `PearsonPenalty` in the place of rho_R^2 in eq. fair-classification.

    Parameters
    ----------
    lam, fairness, favourable_label, solver, l2, fit_intercept, eta, tol, max_iter, warm_start
        As in `PenalizedClassifier`, and so are the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines import PearsonClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> for lam in [0, 1, 100]:
    ...     clf = PearsonClassifier(lam).fit(X, y, sensitive_features=s)
    ...     print(lam, round(np.corrcoef(clf.predict_proba(X)[:, 1], s)[0, 1], 2))
    0 0.51
    1 0.18
    100 0.0
    """

    def __init__(
        self,
        lam=1.0,
        *,
        fairness="demographic_parity",
        favourable_label=None,
        solver="lbfgs",
        l2=0.0,
        fit_intercept=True,
        eta=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
    ):
        super().__init__(
            lam=lam,
            fairness=fairness,
            favourable_label=favourable_label,
            solver=solver,
            l2=l2,
            fit_intercept=fit_intercept,
            eta=eta,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
        )

    def _penalty_of(self, groups):
        return PearsonPenalty()
