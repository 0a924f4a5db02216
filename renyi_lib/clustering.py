"""Fair k-means, whose clusters reveal little about a sensitive attribute.

The paper (Section 5) asks for a partition A and centers C that solve (equation
"kmeans_fair_objective-binary")

    min over A, C   max over w   SSE - lambda sum_n (w_{k(n)} - s_n)^2,

where SSE is the sum of squared distances to the centers, and point n belongs to cluster k(n) and
to group s_n, 0 or 1. The inner maximum is attained if w_k is the proportion of group 1 in cluster
k. Let p be the proportion of group 1 in all the data, n_k the size of cluster k and N the number
of points. Substituting these w_k gives, up to a constant,

    min over A, C   SSE + lambda sum_k n_k (w_k - p)^2  =  SSE + lambda N p (1 - p) rho_R^2,

which is k-means plus the squared Rényi correlation of cluster and group. `RenyiKMeans` offers the
paper's Algorithm 3, which follows the first form and often fails to terminate, and a descent on
the second form, which always terminates.
"""

import hashlib
import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from renyi_lib._counting import count_codes
from renyi_lib._dispatch import need_memory
from renyi_lib._kmeans_loops import (
    compiled,
    descent_pass,
    join_in_turn,
    paper_pass,
    sparse_descent_pass,
)
from renyi_lib._parameters import Checked, choice, either, number, whole
from renyi_lib._random import as_random_state
from renyi_lib._rows import read_rows
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_alignment,
    check_same_length,
    encode_labels,
    known_codes,
    sample_weights,
    without_unused,
)
from renyi_lib.cluster_metrics import (
    balance_of_table,
    penalty_of_table,
    penalty_scale,
    summary_of_table,
)
from renyi_lib.correlation import renyi_from_joint

__all__ = [
    "KMeansObjective",
    "RenyiKMeans",
    "renyi_kmeans_objective",
    "tradeoff_table",
]

# Rounding error of one term of a squared distance, relative to the largest squared norm.
_ROUNDING = 8 * np.finfo(float).eps
# tol="auto" is 0 up to this many points. For more points, the descent stops after a pass that
# lowers the objective by less than this fraction.
_EXACT_UP_TO = 50_000
_EARLY = 1e-6
# Once a pass moves less than this share of the points, later passes skip points that cannot move.
_FEW = 0.03
# Above _EXACT_UP_TO points, each full pass is followed by up to _NEAR_PASSES passes over the
# fraction _NEAR of the points that are closest to changing clusters. They end early once one of
# them gains less than the fraction _WORTH of what the full pass gained.
_NEAR = 0.1
_NEAR_PASSES = 24
_WORTH = 0.03
# Maximum number of doublings of lambda in the lead-in (2**60 is about 1e18).
_MAX_DOUBLINGS = 60


class KMeansObjective(NamedTuple):
    """Objective inertia + lambda * penalty, together with the inertia and the penalty."""

    objective: float
    inertia: float
    penalty: float


class RenyiKMeans(
    Checked, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """K-means with a Rényi penalty on the dependence of cluster and group (Algorithm 3).

    For two groups, it minimizes SSE + lam * sum_k n_k (w_k - p)^2, where n_k is the size of
    cluster k, w_k is the proportion of the second group in it, and p is the proportion of that
    group in all the data. For more groups, see Notes.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, K.
    lam : float, default=0.0
        Weight of the penalty, the paper's lambda; 0 gives plain k-means. Because the SSE has the
        squared unit of `X`, whereas the penalty has no unit, scale the columns of `X` first.
    algorithm : {"descent", "paper"}, default="descent"
        "descent" moves a point if and only if the move lowers the objective, and updates centers,
        sizes and proportions after each move (Hartigan's version of k-means). At a fixed lambda,
        the objective never increases. The algorithm always terminates, and no cluster becomes
        empty. "paper" is Algorithm 3 as printed, which updates proportions after each point and
        centers after each pass. It may fail to terminate; see Notes.
    init : {"k-means++", "random", "random-assignment"} or array, default="k-means++"
        Initialization. The options "k-means++", "random" (points of `X`) and an array of shape
        (n_clusters, n_features) start from *centers*. The paper's initialization
        "random-assignment" and an array of n_samples cluster numbers (a warm start) start from an
        *assignment*.
    n_init : "auto" or int, default="auto"
        Number of starts; the result with the smallest objective is kept. "auto" means 10 for
        "random" and 1 otherwise. If `init` is an array, `n_init` is ignored.
    max_iter : int, default=300
        Maximum number of passes over the data at `lam`, and of Lloyd's iterations before them (see
        Notes).
    tol : "auto" or float, default="auto"
        Relative tolerance of "descent", which also stops after a pass that lowers the objective by
        less than this fraction. With 0, it stops only when no single move lowers the objective.
        "auto" means 0 for up to 50 000 points and 1e-6 for more, because the last moves would take
        hundreds of passes.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random initialization.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    proportions_ : ndarray of shape (n_clusters,) or (n_clusters, n_groups), or None
        For two groups, the paper's w, which is the proportion of ``groups_[1]`` in each cluster;
        otherwise, the proportion of each group. NaN for an empty cluster; None if fitted without
        groups.
    groups_ : ndarray of shape (n_groups,) or None
        Group labels, in sorted order; None if fitted without groups.
    contingency_ : ndarray of shape (n_clusters, n_groups)
        Number of points in each cluster and group or, with weights, their total weight.
    inertia_ : float
        SSE, the sum of squared distances to the centers.
    penalty_ : float
        Penalty sum_k n_k (w_k - p)^2; for more than two groups, see
        `renyi_lib.cluster_metrics.cluster_penalty`.
    objective_ : float
        Objective ``inertia_ + lam * penalty_``.
    n_iter_ : int
        Number of full passes over the data, including the lead-in (see Notes).
    converged_ : bool
        Whether the last pass moved no point or satisfied `tol`.
    cycle_length_ : int
        Length of the cycle, in passes, if "paper" has returned to an earlier state and would
        therefore never terminate; 0 if no cycle was detected.
    history_ : dict of ndarray of shape (number of full passes + 1,)
        Values at the start and after each full pass of ``"lam"``, ``"objective"`` (for that lam),
        ``"inertia"``, ``"penalty"`` and ``"moved"``, the number of moves.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has column names.

    See Also
    --------
    renyi_lib.lam_path : Fit for a sequence of values of lam, each starting from the previous fit.

    Notes
    -----
    *How "descent" starts.* If it starts from centers, it first runs scikit-learn's Lloyd iteration
    with lambda = 0, so that with ``lam=0`` its SSE never exceeds that of `KMeans` from the same
    centers. A lead-in follows, with one pass for each of lam / 2^j, ..., lam / 4, lam / 2,
    beginning near the mean squared distance, where the penalty is weak. After a pass that moves no
    point, some of these values are skipped. Without the lead-in, a large lambda would freeze the
    assignment, because the first passes accept every gain in fairness at any cost in SSE, and
    afterwards every single move costs too much fairness. If "descent" starts from an assignment,
    it skips Lloyd's iteration and the lead-in, and the objective at `lam` decreases from its value
    for the given labels.

    *Rounding.* A move is made only if it lowers the objective by more than the possible rounding
    errors, so the exact objective decreases with every move. Because no partition can recur and
    there are only finitely many, the algorithm terminates.

    *More than 50 000 points.* After a full pass at `lam`, "descent" visits only the tenth of the
    points that are closest to changing clusters, up to 24 times, before the next full pass. This
    saves most of the time if `lam` is large, and convergence is still determined by full passes.
    These partial passes are used only for dense points without weights.

    *Details of Algorithm 3 that the paper does not specify.* The first pass uses the centers and
    proportions of the initial assignment. A random assignment leaves no cluster empty. A cluster
    that loses its last point keeps its last center and proportion until another point joins it.
    Among equally good clusters, a point stays in its own or else joins the one with the lowest
    number. If `init` specifies centers, each point is first assigned to the nearest one. If the
    algorithm returns to an earlier state, it stops, and a `ConvergenceWarning` reports the length
    of the cycle. A `ConvergenceWarning` is also issued if `max_iter` passes do not suffice.

    *More than two groups* are an extension of the paper, available only for "descent". The penalty
    is then a multiple of chi-square that agrees with the paper's penalty for two groups
    (`renyi_lib.cluster_metrics.cluster_penalty`).

    References
    ----------
    S. Baharlouei, M. Nouiehed, A. Beirami, M. Razaviyayn, "Rényi fair inference", ICLR
    2020. doi:10.48550/arXiv.1906.12005

    J. A. Hartigan, M. A. Wong, "A k-means clustering algorithm", Applied Statistics 28(1),
    1979. doi:10.2307/2346830

    Examples
    --------
    Each of two distant clusters consists of one group, so a fair clustering has to mix them.

    >>> import numpy as np
    >>> from renyi_lib.clustering import RenyiKMeans
    >>> X = np.array([[-5.0], [-4.0], [4.0], [5.0]])
    >>> s = [1, 1, 0, 0]
    >>> start = [0, 0, 1, 1]
    >>> RenyiKMeans(2, lam=1, init=start).fit(X, sensitive_features=s).proportions_
    array([1., 0.])
    >>> RenyiKMeans(2, lam=1000, init=start).fit(X, sensitive_features=s).proportions_
    array([0.5, 0.5])
    """

    _constraints: ClassVar = {
        "n_clusters": whole(1),
        "lam": number(0),
        "algorithm": choice("descent", "paper"),
        "n_init": either("auto", whole(1)),
        "max_iter": whole(1),
        "tol": either("auto", number(0)),
    }

    def __init__(
        self,
        n_clusters=8,
        lam=0.0,
        *,
        algorithm="descent",
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol="auto",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "RenyiKMeans":
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points. The sensitive attribute should not be among the columns. A sparse X is never
            converted to a dense array, and it requires ``algorithm="descent"``.
        y : ignored
            Present for compatibility with scikit-learn.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            Group of each point, given by labels of any type; several columns define joint groups.
            If omitted, the result is plain k-means, and a warning is issued unless `lam` is 0.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights, used in both the SSE and the penalty. A point of weight 2 counts
            as two points that stay together. A point of weight 0 is ignored, and its label is the
            cluster with the nearest center.

        Returns
        -------
        self
        """
        X, data = self._read(X, sensitive_features, sample_weight)
        self._keep(X, data, self._best_run(data))
        return self

    def fit_predict(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Find the clusters and return `labels_`; the parameters are those of `fit`."""
        known = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        return self.fit(X, y, **known).labels_

    def predict(self, X: ArrayLike, *, sensitive_features: Any = None) -> np.ndarray:
        """Assign new points to the nearest center or, given their groups, by the fair rule.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New points.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            Group of each point; every group must have occurred in `fit`. If omitted, much of the
            fairness is lost, and a warning is issued unless `lam` is 0 or `fit` had no groups.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each point.

        Notes
        -----
        Without groups, each point is assigned to the nearest center, so its cluster depends on
        that point alone. However, because the fair labels of `fit` also depend on the groups, the
        nearest center brings back much of the unfairness of plain k-means.

        With groups, the new points join the clusters of `fit` one after another, while the centers
        stay fixed. Each point joins the cluster for which the squared distance plus lam times the
        increase of the penalty is smallest, given the points of `fit` and the new points that have
        joined before. The earlier new points must be counted, because with a large `lam` the
        cluster in which a group is rarest would otherwise attract every point of that group, and
        the result would be less fair than with the nearest centers. The labels therefore depend on
        the order of the rows. With ``lam=0``, both rules agree.

        No point is assigned to an empty cluster, which Algorithm 3 may leave.
        """
        X = self._new_points(X)
        if sensitive_features is None and self.groups_ is not None and self.lam > 0:
            warnings.warn(
                "predict was called without sensitive_features, so each point is assigned to the "
                f"nearest center, and much of the fairness of lam={self.lam} is lost on these "
                "points: pass sensitive_features, or set lam=0",
                NoSensitiveFeaturesWarning,
                stacklevel=2,
            )
        return self._assigned(X, sensitive_features)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Compute the distances of points to the centers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Distance of each point to each center.
        """
        return euclidean_distances(*self._about_the_centers(self._new_points(X)))

    def score(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute the negative objective of points assigned to the fitted centers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ignored
            Present for compatibility with scikit-learn.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            Groups of the points. The points are assigned as by `predict`, and the objective
            includes lam times the penalty of that assignment. If omitted, the objective includes
            only the squared distances to the nearest centers, and a warning is issued unless `lam`
            is 0 or `fit` had no groups.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights, used in both terms of the objective but not in the assignment.

        Returns
        -------
        float
            Minus the objective.
        """
        points = self._new_points(X)
        if sensitive_features is None and self.groups_ is not None and self.lam > 0:
            warnings.warn(
                "score was called without sensitive_features, so it ignores the penalty with "
                f"lam={self.lam}: pass sensitive_features, or set lam=0",
                NoSensitiveFeaturesWarning,
                stacklevel=2,
            )
        weights = np.ones(points.shape[0])
        if sample_weight is not None:
            weights = sample_weights(sample_weight)
        labels = self._assigned(points, sensitive_features)
        check_same_length(X=labels, sample_weight=weights)
        distances = euclidean_distances(*self._about_the_centers(points), squared=True)
        cost = float(weights @ distances[np.arange(len(labels)), labels])
        if sensitive_features is not None:
            groups = known_codes(sensitive_features, self.groups_, "sensitive_features")
            table = count_codes([labels, groups], self.contingency_.shape, weights)
            cost += self.lam * penalty_of_table(table[:, table.any(axis=0)])
        return -cost

    @property
    def _n_features_out(self):
        return len(self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.algorithm == "descent"
        return tags

    def _new_points(self, X) -> Any:
        check_is_fitted(self)
        need_memory(X, type(self).__name__)
        return validate_data(
            self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False
        )

    def _about_the_centers(self, X, centers=None):
        """Subtract the mean of the centers from X and centers, so that squares lose no digits.

        A sparse X and its centers are returned unchanged.
        """
        centers = self.cluster_centers_ if centers is None else centers
        if sparse.issparse(X):
            return X, centers
        origin = centers.mean(axis=0)
        return X - origin, centers - origin

    def _assigned(self, X, sensitive_features):
        """Assign new points to nonempty clusters, and return the cluster numbers."""
        occupied = np.flatnonzero(self.contingency_.sum(axis=1))
        X, centers = self._about_the_centers(X, self.cluster_centers_[occupied])
        if sensitive_features is None:
            chosen = pairwise_distances_argmin(X, centers)
        else:
            if self.groups_ is None:
                raise ValueError(
                    "sensitive_features was passed, but not to fit: pass it to fit as well, or "
                    "omit it here"
                )
            groups = known_codes(sensitive_features, self.groups_, "sensitive_features")
            distances = euclidean_distances(X, centers, squared=True)
            check_same_length(X=distances, sensitive_features=groups)
            totals = self.contingency_.sum(axis=0).astype(float)
            table = self.contingency_[occupied].astype(float)
            weight = float(self.lam) * penalty_scale(totals)
            chosen = compiled(join_in_turn)(distances, groups, table, totals, weight)
        return occupied[chosen].astype(np.int32)

    def _read(self, X, sensitive_features, sample_weight):
        """Validate X; return it, and points of positive weight with their groups and weights."""
        self._check_parameters()
        need_memory(X, type(self).__name__)
        check_alignment(X=X, sensitive_features=sensitive_features, sample_weight=sample_weight)
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr")
        if self.algorithm == "paper" and sparse.issparse(X):
            raise ValueError(
                "X is sparse, but algorithm='paper' needs a dense array: use "
                "algorithm='descent', or pass X.toarray() if it fits into memory"
            )
        data = _prepare(X, sensitive_features, self.n_clusters, sample_weight)
        if sensitive_features is None and self.lam > 0:
            warnings.warn(
                f"lam={self.lam} has no effect without sensitive_features, so the result is plain "
                "k-means: pass sensitive_features, or set lam=0",
                NoSensitiveFeaturesWarning,
                stacklevel=3,
            )
        if self.algorithm == "paper" and len(data.totals) > 2:
            raise ValueError(
                f"sensitive_features has {len(data.totals)} groups, but algorithm='paper' "
                "supports only two: use algorithm='descent'"
            )
        return X, data

    def _fits_by_lam(self, X, y, sensitive_features, sample_weight) -> Callable:
        """Return a function from lam to a fitted clustering; the data are validated only once.

        With "descent", each fit starts from the labels of the earlier fit with the largest lam
        that does not exceed its own, and increases lam by factors of 2. Without such an earlier
        fit, and with "paper", the fit is the same as that of the method `fit`.
        """
        reader = clone(self)
        X, data = reader._read(X, sensitive_features, sample_weight)
        fitted: list[RenyiKMeans] = []

        def fit(lam):
            model = clone(self).set_params(lam=lam)
            model._check_parameters()
            before = [other for other in fitted if other.lam <= lam]
            if self.algorithm == "paper" or not before:
                run = model._best_run(data)
            else:
                last = max(before, key=lambda other: other.lam)
                labels = last.labels_[data.kept]
                run = _descent(data, labels, lam, last.lam, self.max_iter, self._tol(data))
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(reader, name):
                    setattr(model, name, getattr(reader, name))
            model._keep(X, data, run)
            fitted.append(model)
            return model

        return fit

    def _best_run(self, data):
        """Return the best run of all starts."""
        init = _check_init(self.init, data)
        rng = as_random_state(self.random_state)
        runs = [self._run(data, init, rng) for _ in range(self._number_of_starts(init))]
        return min(runs, key=lambda run: run.last_objective)

    def _run(self, data, init, rng):
        """Run one start."""
        if self.algorithm == "paper":
            labels = _initial_labels(data, init, rng)
            return _algorithm_3(data, labels, float(self.lam), self.max_iter)
        if _is_assignment(init):
            labels, lam_from = _initial_labels(data, init, rng), np.inf
        else:
            labels = _lloyd(data, _initial_centers(data, init, rng), self.max_iter)
            lam_from = 0.0
        return _descent(data, labels, float(self.lam), lam_from, self.max_iter, self._tol(data))

    def _tol(self, data):
        if self.tol != "auto":
            return self.tol
        return 0.0 if len(data.groups) <= _EXACT_UP_TO else _EARLY

    def _keep(self, X, data, run):
        """Set the fitted attributes."""
        table = _contingency(run.labels, data)
        result = _evaluate(data, run.labels, run.centers, table, self.lam)
        self.cluster_centers_ = run.centers + data.offset
        self.labels_ = run.labels
        if data.kept is not ...:
            self.labels_ = pairwise_distances_argmin(X, self.cluster_centers_).astype(np.int32)
            self.labels_[data.kept] = run.labels
        self.contingency_ = table
        self.groups_ = data.group_names
        self.proportions_ = _proportions(table) if data.group_names is not None else None
        self.objective_, self.inertia_, self.penalty_ = result
        self.history_ = run.history.arrays()
        self.n_iter_ = len(self.history_["moved"]) - 1
        self.converged_ = run.converged
        self.cycle_length_ = run.cycle_length
        if not run.converged:
            warnings.warn(_convergence_message(self), ConvergenceWarning, stacklevel=3)

    def _number_of_starts(self, init):
        if not isinstance(init, str):
            return 1
        if self.n_init == "auto":
            return 10 if init == "random" else 1
        return self.n_init


def tradeoff_table(path: list) -> pd.DataFrame:
    """Tabulate loss and fairness of fitted models, one row per model (Figure 3 of the paper).

    Parameters
    ----------
    path : list of RenyiKMeans
        Models fitted with `sensitive_features`, such as those returned by `lam_path`.

    Returns
    -------
    DataFrame
        Columns ``lam``, ``objective``, ``inertia`` and ``penalty``; for two groups, ``w_min``,
        ``w_max``, ``w_mean`` and ``w_sd``, which summarize the proportions of the second group
        over the clusters; ``deviation``, the square root of the penalty per point; ``balance``
        (see `renyi_lib.cluster_metrics.balance`); ``rho_R``, the Rényi correlation of cluster and
        group; ``n_iter`` and ``converged``.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import lam_path, RenyiKMeans
    >>> from renyi_lib.clustering import tradeoff_table
    >>> X, s = np.array([[-5.0], [-4.0], [4.0], [5.0]]), [1, 1, 0, 0]
    >>> model = RenyiKMeans(2, random_state=0)
    >>> path = lam_path(model, X, lams=[0, 1000], sensitive_features=s)
    >>> tradeoff_table(path)[["lam", "inertia", "w_min", "w_max", "rho_R"]].round(3)
          lam  inertia  w_min  w_max  rho_R
    0     0.0      1.0    0.0    1.0    1.0
    1  1000.0     82.0    0.5    0.5    0.0
    """
    return pd.DataFrame([_tradeoff(model) for model in path])


def renyi_kmeans_objective(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    sensitive_features: Any = None,
    sample_weight: ArrayLike | None = None,
    lam: float = 0.0,
) -> KMeansObjective:
    """Compute the objective of `RenyiKMeans` for any assignment of points to clusters.

    The centers are the means of the clusters.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point, given by labels of any type.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
        Group of each point. If omitted, the penalty is 0.
    sample_weight : array-like of shape (n_samples,), optional
        Nonnegative weights.
    lam : float, default=0.0
        Weight of the penalty.

    Returns
    -------
    KMeansObjective
        ``objective``, ``inertia`` (the SSE) and ``penalty``.

    Examples
    --------
    >>> from renyi_lib.clustering import renyi_kmeans_objective
    >>> X = [[-5.0], [-4.0], [4.0], [5.0]]
    >>> renyi_kmeans_objective(X, [0, 0, 1, 1], sensitive_features=[1, 1, 0, 0], lam=2)
    KMeansObjective(objective=3.0, inertia=1.0, penalty=1.0)
    """
    number(0)("lam", lam)
    points = check_array(X, dtype=np.float64, accept_sparse="csr")
    codes, names = encode_labels(labels, "labels")
    check_same_length(X=range(points.shape[0]), labels=codes)
    data = _prepare(points, sensitive_features, 1, sample_weight)
    codes, names = without_unused(codes[data.kept], names)
    data = data._replace(n_clusters=len(names))
    return _evaluate(data, codes, _centers(data, codes), _contingency(codes, data), lam)


class _Data(NamedTuple):
    """Centered points of positive weight, their mean and groups, and a bound on rounding errors.

    Sparse points are not centered. `kept` is a mask of these points among the original ones, or
    an ellipsis if all were kept.
    """

    X: np.ndarray
    offset: np.ndarray
    weights: np.ndarray
    weighted: bool
    kept: Any
    groups: np.ndarray
    group_names: np.ndarray | None
    totals: np.ndarray
    n_clusters: int
    slack: float


class _Run(NamedTuple):
    """Result of one start."""

    labels: np.ndarray
    centers: np.ndarray
    history: "_History"
    converged: bool
    cycle_length: int = 0

    @property
    def last_objective(self):
        return self.history.rows[-1][1]


class _History:
    """Objective and number of moves after each pass; the first row is the start."""

    def __init__(self):
        self.rows = []

    def add(self, lam, inertia, penalty, moved):
        self.rows.append((lam, inertia + lam * penalty, inertia, penalty, moved))

    def arrays(self):
        columns = zip(*self.rows)
        names = "lam", "objective", "inertia", "penalty", "moved"
        return {name: np.array(column) for name, column in zip(names, columns)}


def _prepare(X, sensitive_features, n_clusters, sample_weight=None):
    """Validate and center the points, encode the groups, and drop points without weight."""
    rows = read_rows(X, None, sensitive_features, sample_weight)
    X, names, kept = rows.X, rows.categories, ... if rows.kept is None else rows.kept
    weights = np.ones(X.shape[0]) if rows.weight is None else rows.weight
    groups = np.zeros(X.shape[0]) if rows.codes is None else rows.codes
    groups = groups.astype(np.int64)
    if len(weights) < n_clusters:
        positive = "" if rows.kept is None else " (of positive weight)"
        raise ValueError(
            f"n_samples={len(weights)}{positive} should be >= n_clusters={n_clusters}."
        )
    if sparse.issparse(X):
        offset = np.zeros(X.shape[1])  # centering would make it dense
    else:
        offset = X.mean(axis=0) if sample_weight is None else np.average(X, 0, weights)
        X = np.ascontiguousarray(X - offset)
    with np.errstate(over="ignore"):
        largest = float(_squared_norms(X).max())
    if not math.isfinite(largest):
        raise ValueError("X has values whose squares overflow: scale the columns of X")
    slack = _ROUNDING * (X.shape[1] + 8) * largest
    totals = np.bincount(groups, weights)
    weighted = sample_weight is not None
    return _Data(X, offset, weights, weighted, kept, groups, names, totals, n_clusters, slack)


def _check_init(init, data):
    """Return the start as a string, as centers relative to the mean, or as labels."""
    if isinstance(init, str):
        if init in ("k-means++", "random", "random-assignment"):
            return init
        raise ValueError(
            "init must be 'k-means++', 'random', 'random-assignment', an array of centers or an "
            f"array of cluster numbers, not {init!r}"
        )
    n_samples = len(data.groups) if data.kept is ... else len(data.kept)
    n_features = data.X.shape[1]
    array = np.asarray(init)
    if array.ndim == 2:
        array = check_array(array, dtype=np.float64, input_name="init")
        if array.shape != (data.n_clusters, n_features):
            raise ValueError(
                "init must be an array of centers of shape (n_clusters, n_features) = "
                f"{(data.n_clusters, n_features)}, but it has shape {array.shape}"
            )
        return array - data.offset
    if array.shape != (n_samples,) or array.dtype.kind not in "iu":
        raise ValueError(
            "init must be an array of centers, or contain an integer cluster number for each of "
            f"the {n_samples} samples, not {array.dtype} values of shape {array.shape}"
        )
    if array.min() < 0 or array.max() >= data.n_clusters:
        raise ValueError(
            f"init must contain cluster numbers from 0 to {data.n_clusters - 1}, "
            f"but it has values from {array.min()} to {array.max()}"
        )
    return array[data.kept].astype(np.int32)


def _is_assignment(init):
    return init == "random-assignment" if isinstance(init, str) else init.ndim == 1


def _initial_labels(data, init, rng):
    """Return the assignment defined by an initialization, without empty clusters."""
    n_samples = len(data.groups)
    if not _is_assignment(init):
        centers = _initial_centers(data, init, rng)
        return _without_empty(data, pairwise_distances_argmin(data.X, centers))
    if not isinstance(init, str):
        return _without_empty(data, init)
    labels = rng.randint(data.n_clusters, size=n_samples)
    labels[rng.permutation(n_samples)[: data.n_clusters]] = np.arange(data.n_clusters)
    return labels.astype(np.int32)


def _initial_centers(data, init, rng):
    if not isinstance(init, str):
        return init
    if init == "random":
        return _rows(data.X, rng.choice(len(data.groups), data.n_clusters, replace=False))
    weights = data.weights if data.weighted else None
    _, chosen = kmeans_plusplus(data.X, data.n_clusters, sample_weight=weights, random_state=rng)
    return _rows(data.X, chosen)


def _lloyd(data, centers, max_iter):
    """Return labels of plain k-means from these centers, without empty clusters."""
    with warnings.catch_warnings():
        # KMeans warns if there are fewer distinct points than clusters; empty clusters are filled
        # below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        lloyd = KMeans(data.n_clusters, init=centers, n_init=1, max_iter=max_iter)
        weights = data.weights if data.weighted else None
        return _without_empty(data, lloyd.fit(data.X, sample_weight=weights).labels_)


def _without_empty(data, labels):
    """Fill empty clusters with the points farthest from their centers, except lone points."""
    labels = labels.astype(np.int32)
    size = np.bincount(labels, minlength=data.n_clusters)
    empty = np.flatnonzero(size == 0)
    if len(empty):
        centers = _centers(data, labels)
        far = np.argsort(-_squared_distances(data.X, centers, labels), kind="stable")
        candidates = iter(far)
        for k in empty:
            i = next(i for i in candidates if size[labels[i]] > 1)
            size[labels[i]] -= 1
            size[k] += 1
            labels[i] = k
    return labels


def _doublings(data, inertia, lam_from, lam):
    """Return how many times lam can be halved before it reaches lam_from or a weak penalty."""
    if len(data.totals) < 2 or lam <= lam_from:
        return 0
    least = max(lam_from, inertia / data.weights.sum())
    if least <= 0 or lam <= least:
        return 0
    return min(_MAX_DOUBLINGS, math.ceil(math.log2(lam) - math.log2(least)) - 1)


def _descent(data, labels, lam, lam_from, max_iter, tol):
    """Make one pass at each of lam / 2^doublings, ..., lam / 2, then descend at lam.

    The doublings lead from `lam_from`, for which the labels are a solution, to lam. If a pass of
    this lead-in moves no point, lambda grows faster, by a factor of 4, 16 and so on.
    """
    labels = labels.copy()
    one_pass, near_passes = _passes(data)
    scale = penalty_scale(data.totals)
    inertia = _inertia(data, labels, _centers(data, labels))
    penalty = penalty_of_table(_contingency(labels, data))
    doublings = _doublings(data, inertia, lam_from, lam)
    history = _History()
    history.add(lam / 2.0**doublings, inertia, penalty, 0)
    left, stride, passes = doublings, 1, 0
    converged = False
    while passes < max_iter and not converged:
        lam_now = lam / 2.0**left
        before = inertia + lam_now * penalty
        keep_margins = near_passes is not None and not left
        moved, change, chi_square = one_pass(labels, lam_now * scale, keep_margins)
        inertia += change
        penalty = scale * chi_square
        if left:
            stride = 1 if moved else 2 * stride
            left = max(left - stride, 0)
        else:
            passes += 1
            fall = before - inertia - lam * penalty
            converged = moved == 0 or fall < tol * before
            if keep_margins and not converged:
                least = max(_WORTH * fall, tol * before)
                again, change, chi_square = near_passes(labels, lam * scale, chi_square, least)
                moved += again
                inertia += change
                penalty = scale * chi_square
        history.add(lam_now, inertia, penalty, moved)
    return _Run(labels, _centers(data, labels), history, converged)


def _passes(data):
    """Return a function for a pass over all points, and one for repeated passes over some points.

    The second function visits only points that are close to changing clusters. It is None if the
    data are small, sparse or weighted.
    """
    about = data.groups, data.weights
    if sparse.issparse(data.X):
        stored = data.X.data, data.X.indices, data.X.indptr, _squared_norms(data.X)
        sizes = data.totals, data.n_clusters, data.X.shape[1]

        def sparse_pass(labels, weight, keep_margins):
            arrays = *stored, *about, labels, *sizes
            return compiled(sparse_descent_pass)(*arrays, weight, data.slack)[:3]

        return sparse_pass, None
    n_samples, n_features = data.X.shape
    n_groups, width = len(data.totals), -(-data.n_clusters // 4) * 4
    state = np.zeros((n_features + n_groups + 2, width))
    reference = np.zeros((n_features + 2 * n_groups + 3, data.n_clusters))
    sizes = data.totals, data.n_clusters
    large = n_samples > _EXACT_UP_TO and not data.weighted
    no_margins = np.zeros(0)
    margins, last, total = no_margins, (np.nan, n_samples), 0

    def one_pass(labels, weight, keep_margins):
        nonlocal margins, last, total
        tau = max(0.5 * last[1] / n_samples, 1e-4)
        # Margins save time only if few points move. They require equal weights and a constant
        # lambda.
        if keep_margins:
            margins = np.empty(n_samples)
        elif weight != last[0] or last[1] > _FEW * n_samples or data.weighted:
            margins = no_margins
            if large and not math.isnan(last[0]):
                tau = 0.0  # continue from the centers at the end of the last pass
        elif not len(margins):
            margins = np.empty(n_samples)
        elif total < n_samples:
            # Keep the last reference until its comparisons have cost as much as a new one.
            tau = 0.0
        memory = margins, state, reference, tau
        *found, compared = compiled(descent_pass)(
            data.X, *about, labels, *sizes, weight, data.slack, *memory
        )
        last, total = (weight, found[0]), 0 if tau else total + compared
        return found

    def near_passes(labels, weight, chi_square, least):
        some = np.sort(margins[::16])
        near = np.flatnonzero(margins <= some[int(_NEAR * len(some))])
        points = data.X.take(near, axis=0), data.groups[near], data.weights[near]
        own, memory = labels[near], (no_margins, state, reference, 0.0)
        moved, change = 0, 0.0
        for _ in range(_NEAR_PASSES):
            before = weight * chi_square
            again, step, chi_square, _ = compiled(descent_pass)(
                *points, own, *sizes, weight, data.slack, *memory
            )
            moved += again
            change += step
            if before - step - weight * chi_square < least:
                break
        labels[near] = own
        return moved, change, chi_square

    return one_pass, near_passes if large else None


def _algorithm_3(data, labels, lam, max_iter):
    """Run Algorithm 3 until no point moves, a state recurs, or max_iter is reached."""
    labels = labels.copy()
    one_pass = compiled(paper_pass)
    s = data.groups
    centers = _centers(data, labels)
    count = np.bincount(labels, minlength=data.n_clusters)
    size = np.bincount(labels, data.weights, data.n_clusters)
    ones = np.bincount(labels, data.weights * s, data.n_clusters)
    w = ones / size
    history = _History()
    inertia = _inertia(data, labels, centers)
    history.add(lam, inertia, penalty_of_table(_contingency(labels, data)), 0)
    seen = {_state(labels, centers, w): 0}
    for passes in range(1, max_iter + 1):
        moved, inertia = one_pass(
            data.X, s, data.weights, labels, centers, w, count, size, ones, lam
        )
        table = np.column_stack([size - ones, ones])
        history.add(lam, inertia, penalty_of_table(table), moved)
        if moved == 0:
            return _Run(labels, centers, history, True)
        state = _state(labels, centers, w)
        if state in seen:
            return _Run(labels, centers, history, False, passes - seen[state])
        seen[state] = passes
    return _Run(labels, centers, history, False)


def _state(labels, centers, w):
    """Return a hash of the state that determines the next pass of Algorithm 3."""
    return hashlib.blake2b(labels.tobytes() + centers.tobytes() + w.tobytes()).digest()


def _centers(data, labels):
    """Compute the means of the clusters; the center of an empty cluster is 0."""
    size = np.bincount(labels, data.weights, data.n_clusters)
    size = np.where(size > 0, size, 1.0)[:, None]
    if sparse.issparse(data.X):
        rows = labels, np.arange(len(labels))
        member = sparse.csr_array((data.weights, rows), (data.n_clusters, len(labels)))
        return (member @ data.X).toarray() / size
    codes = labels.astype(np.intp)
    columns = data.X.T * data.weights if data.weighted else data.X.T
    return np.stack([np.bincount(codes, x, data.n_clusters) for x in columns], axis=1) / size


def _inertia(data, labels, centers):
    if sparse.issparse(data.X):
        return float(data.weights @ _squared_distances(data.X, centers, labels))
    difference = centers.take(labels, axis=0)
    np.subtract(data.X, difference, out=difference)
    if not data.weighted:
        return float(np.einsum("ij,ij->", difference, difference))
    return float(np.einsum("i,ij,ij->", data.weights, difference, difference))


def _squared_distances(X, centers, labels):
    """Compute the squared distance of each point to the center of its cluster."""
    if not sparse.issparse(X):
        return ((X - centers[labels]) ** 2).sum(axis=1)
    norms = (centers**2).sum(axis=1)
    entries = X.data * centers[np.repeat(labels, np.diff(X.indptr)), X.indices]
    products = np.add.reduceat(np.append(entries, 0.0), X.indptr[:-1])
    products[np.diff(X.indptr) == 0] = 0.0
    return np.maximum(_squared_norms(X) - 2 * products + norms[labels], 0.0)


def _squared_norms(X):
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _rows(X, rows):
    """Return some points as a dense array, for use as centers."""
    return X[rows].toarray() if sparse.issparse(X) else X[rows]


def _contingency(labels, data):
    shape = data.n_clusters, len(data.totals)
    return count_codes([labels, data.groups], shape, data.weights if data.weighted else None)


def _evaluate(data, labels, centers, table, lam):
    inertia, penalty = _inertia(data, labels, centers), penalty_of_table(table)
    return KMeansObjective(inertia + lam * penalty, inertia, penalty)


def _proportions(table):
    size = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, size, out=np.full(table.shape, np.nan), where=size > 0)
    return shares[:, 1] if table.shape[1] == 2 else shares


def _tradeoff(model):
    check_is_fitted(model)
    if model.groups_ is None:
        raise ValueError(
            "path contains a model fitted without sensitive_features: pass sensitive_features to "
            "lam_path, or to fit"
        )
    table = model.contingency_
    row = {
        "lam": float(model.lam),
        "objective": model.objective_,
        "inertia": model.inertia_,
        "penalty": model.penalty_,
    }
    if table.shape[1] == 2:
        summary = summary_of_table(table, 1)
        row |= {f"w_{name}": summary[name] for name in ("min", "max", "mean", "sd")}
    return row | {
        "deviation": math.sqrt(model.penalty_ / table.sum()),
        "balance": balance_of_table(table),
        "rho_R": renyi_from_joint(table),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
    }


def _convergence_message(model):
    """Return the message about a fit that did not converge."""
    if model.algorithm == "descent":
        return (
            f"the descent stopped after max_iter={model.max_iter} passes, although the last one "
            f"still made {model.history_['moved'][-1]} moves: raise max_iter or tol"
        )
    if model.cycle_length_:
        return (
            f"Algorithm 3 entered a cycle of {model.cycle_length_} passes, detected after "
            f"{model.n_iter_} passes, and would never terminate: use algorithm='descent', which "
            "always terminates"
        )
    return (
        f"Algorithm 3 did not terminate within max_iter={model.max_iter} passes, and it may never "
        f"terminate; {model.history_['moved'][-1]} points moved in the last pass: use "
        "algorithm='descent', which always terminates"
    )
