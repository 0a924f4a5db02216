"""Logistic regression with the Hilbert-Schmidt independence criterion as its penalty."""

from renyi_lib.classification import PenalizedClassifier
from renyi_lib.penalties import HSICPenalty

__all__ = ["HSICClassifier"]


class HSICClassifier(PenalizedClassifier):
    """Logistic regression whose score has a small HSIC with the group.

    Minimises mean loss + lam * HSIC: `HSICPenalty` in the place of rho_R^2 in eq.
    fair-classification. Time and memory are linear in the number of samples.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of the penalty beside the mean loss, 0 or more. HSIC is not normalised and far
        smaller than a squared correlation, so that lam has to be larger for the same effect.
    kernel : {"gaussian", "linear"}, default="gaussian"
        Of the class probabilities. The linear kernel sees the groups' mean scores only, the
        Gaussian one any difference between the distributions of their scores.
    bandwidth : float, default=0.25
        Of the Gaussian kernel, on the scale of probabilities.
    fairness, favourable_label, solver, l2, fit_intercept, eta, tol, max_iter, warm_start
        As in `PenalizedClassifier`, and so are the attributes.

    References
    ----------
    A. Pérez-Suay, V. Laparra, G. Mateo-García, J. Muñoz-Marí, L. Gómez-Chova and
    G. Camps-Valls, "Fair kernel learning", ECML PKDD (2017), 339-355,
    doi:10.1007/978-3-319-71249-9_21.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.baselines import HSICClassifier
    >>> from renyi_lib.metrics import p_rule
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> for lam in [0, 10, 100]:
    ...     clf = HSICClassifier(lam).fit(X, y, sensitive_features=s)
    ...     print(lam, round(p_rule(clf.predict(X), sensitive_features=s), 2))
    0 0.33
    10 0.85
    100 0.98
    """

    def __init__(
        self,
        lam=1.0,
        *,
        kernel="gaussian",
        bandwidth=0.25,
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
        self.kernel = kernel
        self.bandwidth = bandwidth

    def _penalty_of(self, groups):
        return HSICPenalty(self.kernel, self.bandwidth)
