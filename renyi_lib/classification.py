"""Fair classifiers, fitted by Algorithms 1 and 2 of the paper or by a faster solver.

Every classifier here minimizes, over its parameters theta,

    mean loss + lam * penalty(F, S)          (eq. fair-classification for the penalty rho_R^2),

where F(theta, x) are the class probabilities of a *model* (`renyi_lib.models`) and the *penalty*
(`renyi_lib.penalties`) measures how much the label depends on the group S. Model and penalty are
independent of each other. A model maps theta to F, and a gradient with respect to F back to one
with respect to theta; a penalty maps F to a value and a gradient with respect to F.
`renyi_lib.objective` combines them into one function, which one of the `renyi_lib.solvers`
minimizes. `lam` always multiplies the penalty itself, relative to the mean loss, so that
Algorithm 1, Algorithm 2 and both solvers minimize the same function.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from renyi_lib._cells import Cells, as_source
from renyi_lib._counting import count_codes
from renyi_lib._dispatch import in_memory, need_memory
from renyi_lib._linear import LinearMixin
from renyi_lib._parameters import Checked, choice, either, flag, instance, number, whole
from renyi_lib._rows import read_cells, read_rows, warn_without_groups
from renyi_lib._validation import (
    NoSensitiveFeaturesWarning,
    check_alignment,
    check_scale,
    class_codes,
    known_codes,
    loss_weights,
    refuse_masked,
    refuse_text,
)
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ConditionalPenalty,
    Penalty,
    RenyiPenalty,
    ScoreBinsPenalty,
    TablePenalty,
)
from renyi_lib.solvers import gradient_descent, lbfgs
from renyi_lib.sources import ArraySource
from renyi_lib.sources.memory import rows_of_block, slices

__all__ = ["NoSensitiveFeaturesWarning", "PenalizedClassifier", "RenyiClassifier"]

# For larger lam, the loss would be smaller than the rounding errors of lam * penalty.
MAX_LAM = 1e12


@dataclass(frozen=True, eq=False)
class _Problem:
    """Validated training data, shared by the fits for different values of lam."""

    objective: FairObjective
    classes: np.ndarray
    n_features: int
    feature_names: np.ndarray | None


class SoftLabelMixin:
    """Mixin that derives predictions and penalties from class scores.

    A class that uses this mixin must have `decision_function`, `classes_`, `groups_`, `fairness`,
    `on`, `pos_label` and ``_penalty_of(groups)``. Linear models and boosted trees share it.
    """

    classes_: np.ndarray
    groups_: np.ndarray | None
    fairness: str
    decision_function: Any

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict class probabilities, an array of shape (n, n_classes)."""
        check_is_fitted(self)
        if not in_memory(X):
            return self._by_part(self.predict_proba, X, self.classes_.tolist(), float)
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the most probable class of each sample."""
        check_is_fitted(self)
        if not in_memory(X):
            return self._by_part(self.predict, X, None, self.classes_.dtype)
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return self.classes_[scores.argmax(axis=1)]
        # Unlike indexing the classes, this needs no array of indices.
        decided = np.full(len(scores), self.classes_[0], dtype=self.classes_.dtype)
        decided[scores > 0] = self.classes_[1]
        return decided

    def penalty_value(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute the penalty of the fitted classifier on given data, such as a test set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Features; a linear model also accepts a Dask collection or `ParquetRows`, as in `fit`.
        y : array-like of shape (n,), optional
            True classes, required for conditional fairness and for data that are not in memory.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample; all groups must have been seen in `fit`.
        sample_weight : array-like of shape (n,), optional
            Nonnegative sample weights; by default, all samples count equally.

        Returns
        -------
        float
            Value of the penalty, which is rho_R^2 by default.
        """
        check_is_fitted(self)
        source = as_source(X, y, sensitive_features, sample_weight)
        if source is not None:
            return self._penalty_of_source(source)
        check_alignment(
            X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        F = self.predict_proba(X)
        if y is None and self.fairness != "demographic_parity":
            raise ValueError(
                f"y is None, but fairness={self.fairness!r} conditions on the true class: pass y"
            )
        truth = None if y is None else class_codes(y, self.classes_)
        lengths = {"X": F} if y is None else {"X": F, "y": truth}
        rows = read_rows(F, truth, sensitive_features, sample_weight, lengths=lengths)
        groups: Any = replace(rows, classes=None if y is None else self.classes_).groups()
        if self.groups_ is not None:
            known_codes(groups.categories, self.groups_, "sensitive_features")
        penalty = self._penalty_given(groups, self.classes_)
        return penalty.value_and_grad(rows.X, groups)[0]

    def _penalty_given(self, groups, classes):
        """Return the penalty for the requested notion of fairness."""
        penalty = self._penalty_of(groups)
        if self.on == "score":
            penalty = _of_score(penalty, classes)
        if self.fairness == "demographic_parity":
            return penalty
        wanted = np.arange(len(classes))
        if self.fairness == "equal_opportunity":
            label = classes[-1] if self.pos_label is None else self.pos_label
            if label not in classes:
                raise ValueError(
                    f"pos_label must be one of the classes {classes.tolist()}, not {label!r}"
                )
            wanted = np.flatnonzero(classes == label)
        cells = count_codes([groups.y, groups.codes], (len(classes), len(groups.categories)))
        for i in wanted:
            if not cells[i].all():
                empty = groups.categories.tolist()[cells[i].argmin()]
                raise ValueError(
                    f"fairness={self.fairness!r} compares the groups among samples of class "
                    f"{classes.tolist()[i]!r}, but group {empty!r} has none: merge groups, or "
                    "ask for 'demographic_parity'"
                )
        return ConditionalPenalty(penalty, classes[wanted].tolist())

    def _by_part(self, method, X, columns, dtype):
        """Apply a method to data that are not in memory; this base class raises an error."""
        return need_memory(X, type(self).__name__)

    def _penalty_of_source(self, source):
        """Compute the penalty on data that are not in memory; this base class raises an error."""
        return need_memory(source, type(self).__name__)


class PenalizedClassifier(LinearMixin, SoftLabelMixin, Checked, ClassifierMixin, BaseEstimator):
    """Logistic regression with a penalty on the dependence between label and group.

    It minimizes mean loss + lam * penalty for any penalty, such as Pearson's correlation or HSIC.
    `RenyiClassifier` is the special case of the paper. The parameter `on` determines whether the
    label (at a threshold of one half) or the score (at every threshold) is made fair; see
    `RenyiClassifier`.

    Parameters
    ----------
    penalty : Penalty, default=None
        The penalty; None means `RenyiPenalty`. Nested parameters such as ``penalty__bandwidth``
        can be set with `set_params`.
    lam : float, default=1.0
        Weight of the penalty relative to the mean loss, between 0 and 1e12. HSIC is not normalized
        and is much smaller than a squared correlation, so it needs a larger lam.
    on : {"label", "score"}, default="label"
        Output that the penalty acts on. "score" wraps the penalty in a `ScoreBinsPenalty` with the
        default number of bins; to choose the number of bins, pass a `ScoreBinsPenalty` as
        `penalty`.
    fairness, pos_label, solver, l2, fit_intercept, class_weight, eta, tol, max_iter, warm_start
        See `RenyiClassifier`, which also documents the attributes. `adversary_` is None if the
        penalty is not a maximum over the moves of an adversary.

    See Also
    --------
    RenyiClassifier : Logistic regression with the Rényi penalty.
    RenyiBoostingClassifier : Gradient-boosted trees with the Rényi penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import PenalizedClassifier
    >>> from renyi_lib.penalties import PearsonPenalty
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> fair = PenalizedClassifier(PearsonPenalty(), lam=100).fit(X, y, sensitive_features=s)
    >>> score = fair.predict_proba(X)[:, 1]
    >>> bool(abs(np.corrcoef(score, s)[0, 1]) < 0.01)
    True
    """

    _constraints: ClassVar = {
        "penalty": either(None, instance(Penalty, "a Penalty, such as RenyiPenalty()")),
        "lam": number(0, MAX_LAM),
        "on": choice("label", "score"),
        "fairness": choice("demographic_parity", "equalized_odds", "equal_opportunity"),
        "solver": choice("lbfgs", "gd"),
        "l2": number(0),
        "fit_intercept": flag,
        "class_weight": either(None, either("balanced", instance(dict, "a dictionary"))),
        "eta": either(None, number(0, above=True)),
        "tol": number(0),
        "max_iter": whole(1),
        "warm_start": flag,
    }

    def __init__(
        self,
        penalty=None,
        lam=1.0,
        *,
        on="label",
        fairness="demographic_parity",
        pos_label=None,
        solver="lbfgs",
        l2=0.0,
        fit_intercept=True,
        class_weight=None,
        eta=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
    ):
        self.penalty = penalty
        self.lam = lam
        self.on = on
        self.fairness = fairness
        self.pos_label = pos_label
        self.solver = solver
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.eta = eta
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
    ) -> "PenalizedClassifier":
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Features. X may also be a Dask array or data frame, in which case the other arguments
            are Dask collections, too, or `ParquetRows`, in which case they are column names. Such
            data are read in blocks of rows, as is a large dense X in memory, including one in
            single precision. See `renyi_lib.sources`.
        y : array-like of shape (n,)
            Class labels of any type.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample, given by labels of any type; several columns define joint groups.
            If omitted, nothing is penalized, and a warning is issued unless lam is 0.
        sample_weight : array-like of shape (n,), optional
            Nonnegative sample weights, used in both the loss and the penalty.

        Returns
        -------
        self
        """
        return self._fit(X, y, sensitive_features, sample_weight)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute class scores, of shape (n,) for two classes and (n, n_classes) otherwise."""
        check_is_fitted(self)
        if not in_memory(X):
            columns = None if len(self.classes_) == 2 else self.classes_.tolist()
            return self._by_part(self.decision_function, X, columns, float)
        refuse_masked(X, "X")
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = _dot(X, self.coef_.T)
        scores += self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _penalty_of_source(self, source):
        """Compute the penalty from the mean probabilities in each cell of label and group."""
        cells = Cells.count(source)
        if self.groups_ is not None:
            known_codes(cells.groups, self.groups_, "sensitive_features")
        codes = class_codes(cells.classes, self.classes_)[cells.y]
        cells = replace(cells, classes=self.classes_, y=codes)
        groups = cells.as_groups()
        penalty = self._penalty_given(groups, self.classes_)
        _check_depends_on_table(penalty)
        model = SoftmaxModel.over(source, cells, fit_intercept=self.fit_intercept)
        return penalty.value(model.at(self._theta()).F, groups)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _penalty_of(self, groups):
        """Return the penalty before any conditioning on the true class."""
        return RenyiPenalty() if self.penalty is None else self.penalty

    def _prepare(self, X, y, sensitive_features, sample_weight):
        """Validate the data and compute everything that does not depend on lam."""
        self._check_parameters()
        source = as_source(X, y, sensitive_features, sample_weight)
        if source is not None:
            if self.on == "score":
                raise ValueError(
                    "on='score' depends on the scores of single rows, not only on the joint "
                    "table of label and group. For data that are not in memory, use on='label'"
                )
            cells = Cells.count(source)
            n_features, names = cells.n_features, getattr(source, "feature_names", None)
        else:
            check_alignment(
                X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
            )
            refuse_text(X, "encode it, for example with sklearn.preprocessing.OneHotEncoder")
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
            check_scale(X)
            check_classification_targets(y)
            n_features, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
            cells, cell, weight = read_cells(X, y, sensitive_features, sample_weight)
            source = ArraySource(X, cell, weight)
            if not source.in_blocks:
                source.X = X.astype(np.float64, copy=False)
        groups, penalty, by = cells.as_groups(), None, "cell"
        in_memory = isinstance(source, ArraySource)
        if groups is not None:
            penalty = self._penalty_given(groups, cells.classes)
            if not in_memory:
                _check_depends_on_table(penalty)
            if isinstance(penalty, TablePenalty):
                groups, by = cells.as_groups("group"), "group"
        else:
            warn_without_groups(self, "a plain logistic regression", stacklevel=5)
        if in_memory and (not source.in_blocks or (penalty and not penalty.depends_on_table)):
            groups, by = cells.of_rows(source.cell, source.weight), "row"
        loss_weight = None
        if self.class_weight is not None:
            loss_weight = loss_weights(self.class_weight, cells.classes, cells.y, cells.weight)
        options = {"by": by, "fit_intercept": self.fit_intercept, "l2": self.l2}
        model = SoftmaxModel.over(source, cells, loss_weight, **options)
        objective = FairObjective(model, penalty, groups)
        return _Problem(objective, cells.classes, n_features, names)

    def _solve(self, problem, theta, lam_before):
        """Minimize from theta, the solution for lam_before, and store the result."""
        objective, lam = problem.objective, float(self.lam)
        stops = {"tol": self.tol, "max_iter": self.max_iter}
        if self.solver == "gd":
            found = gradient_descent(objective, theta, lam, eta=self.eta, **stops)
        else:
            found = lbfgs(objective, theta, lam, lam_before=lam_before, **stops)
        theta = objective.model.canonical(found.theta)
        self.classes_ = problem.classes
        self.n_features_in_ = problem.n_features
        if problem.feature_names is not None:
            self.feature_names_in_ = problem.feature_names
        self.coef_ = theta[:, : problem.n_features].copy()
        self.intercept_ = theta[:, -1].copy() if self.fit_intercept else np.zeros(len(theta))
        self.history_ = found.history.columns()
        self.n_iter_ = found.history.n_iter
        self.groups_ = self.adversary_ = None
        if objective.groups is not None:
            self.groups_ = objective.groups.categories
            self.adversary_ = found.best_response(objective)
        if not found.converged:
            advice = "raise max_iter or tol, or scale the features"
            if self.n_iter_ < self.max_iter:
                advice = (
                    "no step lowers the objective any further, so raise tol or scale the features"
                )
            warnings.warn(
                f"{self.solver} stopped after {self.n_iter_} iterations, before the gradient was "
                f"as small as tol={self.tol}: {advice}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _theta(self):
        if self.fit_intercept:
            return np.column_stack([self.coef_, self.intercept_])
        return self.coef_


class RenyiClassifier(PenalizedClassifier):
    """Logistic regression whose labels have a small Rényi correlation with the group.

    It minimizes mean loss + lam * rho_R^2(Ŷ, S) (eq. fair-classification), as Algorithms 1 and 2
    of the paper do, where Ŷ is a label sampled from the model's class probabilities F.

    With ``on="label"``, which is the paper's penalty and the default, the decisions of `predict`
    become fair at a threshold of one half, but not at other thresholds. Their p% ratio rises with
    lam up to a point and may fall again beyond it, because the penalty depends on the mean score
    of each group and not on how many scores exceed one half. Choose lam with `fit_to_target` or
    `RenyiClassifierCV`, which measure the decisions. With ``on="score"``, the score itself becomes
    less dependent on the group as lam grows, so that decisions become fairer at every threshold,
    at a small cost in accuracy.

    Parameters
    ----------
    lam : float, default=1.0
        Weight of rho_R^2 relative to the mean loss, between 0 and 1e12.
    on : {"label", "score"}, default="label"
        Variable whose rho_R^2 with the group is penalized, either the sampled label or, for two
        classes, the bin of the score. Bins have soft edges; see `ScoreBinsPenalty`.
    fairness : {"demographic_parity", "equalized_odds", "equal_opportunity"}, \
default="demographic_parity"
        Notion of fairness. The penalty is rho_R^2 of label and group for demographic parity, the
        sum over all classes y of rho_R^2 given Y = y for equalized odds (eq.
        Min-Max-Fairness_EO), and rho_R^2 given Y = `pos_label` for equal opportunity.
    pos_label : label, default=None
        Favorable class, used for equal opportunity. None means the last class in sorted order.
    algorithm : {"auto", "discrete", "binary"}, default="auto"
        Adversary to use. "discrete" means the adversary of Algorithm 1 (v, the second singular
        vector), and "binary" the adversary of Algorithm 2 (w, in closed form, for two groups).
        "auto" uses Algorithm 2 where it applies. Both adversaries compute rho_R^2 and therefore
        give the same classifier.
    solver : {"lbfgs", "gd"}, default="lbfgs"
        Solver. "gd" is the paper's loop, which alternates a best response and a gradient step and
        may need very many iterations. "lbfgs" minimizes the same function much faster.
        `renyi_lib.solvers` describes both and how they treat kinks of rho_R^2.
    l2 : float, default=0.0
        Strength of the ridge ``l2 / 2 * |coef|^2``, which is added to the mean loss. It
        corresponds to ``C = 1 / (n l2)`` in scikit-learn.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss, given by label; "balanced" gives all classes the same
        total weight. The penalty ignores class weights.
    eta : float or None, default=None
        Step size of "gd"; None derives it from an estimate of the gradient's Lipschitz constant.
    tol : float, default=1e-4
        The fit stops when no entry of the objective's gradient exceeds `tol` in absolute value.
    max_iter : int, default=1000
        Maximum number of iterations.
    warm_start : bool, default=False
        Whether to start from the previous solution instead of 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in sorted order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the features; a single row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of each row of `coef_`.
    groups_ : ndarray or None
        Group labels, in the order used by `adversary_`; None if fitted without groups.
    adversary_ : ndarray or None
        Adversary's best response to the solution, which is v of shape (n_groups,) or w of shape
        (n_classes,). Equalized odds and equal opportunity have one row per condition. None if
        ``on="score"`` or if fitted without groups.
    history_ : dict of ndarray
        Values at the start and after each iteration of ``"lam"``, ``"loss"``, ``"penalty"``
        (rho_R^2), ``"objective"`` (loss + lam * penalty), ``"gradient_norm"`` (Euclidean norm) and
        ``"gradient_max"`` (largest absolute entry). The solver "lbfgs" may begin with smaller
        values of lam, and at kinks the gradient is that of the smoothed objective.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    RenyiClassifierCV : Choose lam by cross-validation.
    fit_to_target : Find the smallest lam that reaches a fairness target.
    RenyiBoostingClassifier : Gradient-boosted trees with the same penalty.
    PenalizedClassifier : Logistic regression with another penalty.

    References
    ----------
    S. Baharlouei, M. Nouiehed, A. Beirami and M. Razaviyayn, "Rényi fair inference", ICLR (2020),
    arXiv:1906.12005, doi:10.48550/arXiv.1906.12005.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.classification import RenyiClassifier
    >>> from renyi_lib.metrics import demographic_parity_ratio
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=2000)
    >>> X = rng.normal(size=(2000, 3)) + (s == "m")[:, None]
    >>> y = (X.sum(axis=1) + rng.normal(size=2000) > 1).astype(int)
    >>> for lam in [0, 1, 10]:
    ...     clf = RenyiClassifier(lam=lam).fit(X, y, sensitive_features=s)
    ...     ratio = demographic_parity_ratio(None, clf.predict(X), sensitive_features=s)
    ...     print(lam, round(ratio, 2))
    0 0.32
    1 0.41
    10 0.98
    """

    _constraints: ClassVar = {
        name: constraint
        for name, constraint in PenalizedClassifier._constraints.items()
        if name != "penalty"
    } | {"algorithm": choice("auto", "discrete", "binary")}

    def __init__(
        self,
        lam=1.0,
        *,
        on="label",
        fairness="demographic_parity",
        pos_label=None,
        algorithm="auto",
        solver="lbfgs",
        l2=0.0,
        fit_intercept=True,
        class_weight=None,
        eta=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
    ):
        super().__init__(
            lam=lam,
            on=on,
            fairness=fairness,
            pos_label=pos_label,
            solver=solver,
            l2=l2,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            eta=eta,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
        )
        self.algorithm = algorithm

    def _penalty_of(self, groups):
        two = len(groups.q) == 2
        if self.algorithm == "binary" and not two:
            raise ValueError(
                "algorithm='binary' needs two groups, but sensitive_features has "
                f"{len(groups.q)}: use 'discrete' or 'auto'"
            )
        binary = self.algorithm == "binary" or (self.algorithm == "auto" and two)
        return BinaryRenyiPenalty() if binary else RenyiPenalty()


def _dot(X, coef):
    """Compute X @ coef in double precision, converting a large float32 X block by block."""
    size = rows_of_block(X)
    if size >= X.shape[0]:
        return safe_sparse_dot(X, coef, dense_output=True)
    product = np.empty((X.shape[0], coef.shape[1]))
    for part in slices(X.shape[0], size):
        product[part] = X[part] @ coef
    return product


def _check_depends_on_table(penalty):
    """Raise a `ValueError` if the penalty needs more than the joint table of label and group."""
    if not penalty.depends_on_table:
        raise ValueError(
            f"penalty={penalty} depends on the probabilities of single rows, not only on the "
            "joint table of label and group. Data that are not in memory need a penalty whose "
            "depends_on_table is true, such as RenyiPenalty or ChiSquarePenalty"
        )


def _of_score(penalty, classes):
    """Wrap the penalty so that it acts on the bin of the score instead of the label."""
    if isinstance(penalty, ScoreBinsPenalty):
        raise ValueError(
            "penalty is a ScoreBinsPenalty, which already acts on the score, so set on='label'"
        )
    if len(classes) != 2:
        raise ValueError(
            f"on='score' needs two classes, but y has {len(classes)}: use on='label', which "
            "accepts any number of classes"
        )
    return ScoreBinsPenalty(penalty)
