"""Fair classification: Algorithms 1 and 2, and a fast solver for the same problem.

Every classifier here minimizes, over its parameters theta,

    mean loss + lam * penalty(F, S)          (eq. fair-classification for the penalty rho_R^2),

where F(theta, x) are the class probabilities of a *model* (`renyi_lib.models`) and the *penalty*
(`renyi_lib.penalties`) measures how much the label depends on the group S. The two do not depend
on each other. A model maps theta to F, and a gradient with respect to F back to one with respect
to theta; a penalty maps F to a value and a gradient with respect to F. They meet in
`renyi_lib.objective`, which one of `renyi_lib.solvers` minimizes. `lam` always multiplies the
penalty itself, next to the mean loss, so that Algorithm 1, Algorithm 2 and both solvers minimize
the same function.
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

# The largest lam: beyond, the loss would be lost in the rounding errors of lam * penalty.
MAX_LAM = 1e12


@dataclass(frozen=True, eq=False)
class _Problem:
    """The data of a fit, checked and counted once, for any number of values of lam."""

    objective: FairObjective
    classes: np.ndarray
    n_features: int
    feature_names: np.ndarray | None


class SoftLabelMixin:
    """What follows from the scores of the classes, for linear models and for trees alike.

    A class that has `decision_function`, `classes_`, `groups_`, `fairness`, `on`, `pos_label` and
    ``_penalty_of(groups)`` gets its predictions and its penalty from here.
    """

    classes_: np.ndarray
    groups_: np.ndarray | None
    fairness: str
    decision_function: Any

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities F of shape (n, n_classes)."""
        check_is_fitted(self)
        if not in_memory(X):
            return self._by_part(self.predict_proba, X, self.classes_.tolist(), float)
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable class of each sample."""
        check_is_fitted(self)
        if not in_memory(X):
            return self._by_part(self.predict, X, None, self.classes_.dtype)
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def penalty_value(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The penalty of the fitted classifier's soft labels on any data, such as a test set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Or a Dask collection or `ParquetRows`, as in `fit`.
        y : array-like of shape (n,), optional
            True classes; needed for conditional fairness, and for data that are not in memory.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Groups, all of which must have been seen in the fit.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
            For `RenyiClassifier`, rho_R^2.
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
            raise ValueError(f"y is needed: fairness={self.fairness!r} is conditional on it")
        truth = None if y is None else class_codes(y, self.classes_)
        lengths = {"X": F} if y is None else {"X": F, "y": truth}
        rows = read_rows(F, truth, sensitive_features, sample_weight, lengths=lengths)
        groups: Any = replace(rows, classes=None if y is None else self.classes_).groups()
        if self.groups_ is not None:
            known_codes(groups.categories, self.groups_, "sensitive_features")
        penalty = self._penalty_given(groups, self.classes_)
        return penalty.value_and_grad(rows.X, groups)[0]

    def _penalty_given(self, groups, classes):
        """The penalty under the notion of fairness that was asked for."""
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
                    f"pos_label={label!r} is not one of the classes {classes.tolist()}"
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
        """What a method makes of data that are not in memory; here, an error."""
        return need_memory(X, type(self).__name__)

    def _penalty_of_source(self, source):
        """The penalty on data that are not in memory; here, an error."""
        return need_memory(source, type(self).__name__)


class PenalizedClassifier(LinearMixin, SoftLabelMixin, Checked, ClassifierMixin, BaseEstimator):
    """Logistic regression with any penalty on the dependence between label and group.

    Minimizes mean loss + lam * penalty. `RenyiClassifier` is the case of the paper; this class
    puts other penalties, such as Pearson's correlation or HSIC, into the same machinery. What is
    made fair, the label at the threshold one half or the score at every threshold, is chosen by
    `on`: see `RenyiClassifier`.

    Parameters
    ----------
    penalty : Penalty, default=None
        None is `RenyiPenalty`. Its parameters can be set from here, as ``penalty__bandwidth``.
    lam : float, default=1.0
        The weight of the penalty beside the mean loss, from 0 to 1e12. HSIC is not normalized and
        far smaller than a squared correlation, so that its lam has to be larger.
    on : {"label", "score"}, default="label"
        What the penalty acts on. "score" puts it into a `ScoreBinsPenalty`, whose number of bins
        can be chosen by giving one as `penalty` instead.
    fairness, pos_label, solver, l2, fit_intercept, class_weight, eta, tol, max_iter, warm_start
        As in `RenyiClassifier`, and so are the attributes; `adversary_` is None if the penalty is
        not a maximum over an adversary.

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
            Or a Dask array or data frame, and the other arguments too; or `ParquetRows`, and the
            other arguments are names of columns. Such data are read a block of rows at a time, as
            is a large dense X in memory, also in single precision: see `renyi_lib.sources`.
        y : array-like of shape (n,)
            Classes, of any kind.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            The group of each sample, labels of any kind; several columns become one joint group.
            Without it nothing is penalized, and a warning says so.
        sample_weight : array-like of shape (n,), optional
            Weights, 0 or more, in the loss and in the penalty.

        Returns
        -------
        self
        """
        return self._fit(X, y, sensitive_features, sample_weight)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Class scores, of shape (n,) for two classes and (n, n_classes) otherwise."""
        check_is_fitted(self)
        if not in_memory(X):
            columns = None if len(self.classes_) == 2 else self.classes_.tolist()
            return self._by_part(self.decision_function, X, columns, float)
        refuse_masked(X, "X")
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = _dot(X, self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _penalty_of_source(self, source):
        """The penalty from the mean probabilities of each cell of label and group."""
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
        """The penalty, before any conditioning on the label."""
        return RenyiPenalty() if self.penalty is None else self.penalty

    def _prepare(self, X, y, sensitive_features, sample_weight):
        """Check everything, and count what does not depend on lam."""
        self._check_parameters()
        source = as_source(X, y, sensitive_features, sample_weight)
        if source is not None:
            if self.on == "score":
                raise ValueError(
                    "on='score' depends on the scores of single rows, not only on the joint table "
                    "of label and group: for data that are not in memory leave on='label'"
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
                advice = "no step lowers the objective any more, raise tol or scale the features"
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
    """Logistic regression whose label has a small Rényi correlation with the group.

    Minimizes mean loss + lam * rho_R^2(Ŷ, S) (eq. fair-classification), where Ŷ is the label
    drawn with the probabilities F of the model, by Algorithm 1 or 2 of the paper.

    With ``on="label"``, the paper's penalty and the default, `predict` is made fair at its own
    threshold, one half, and at no other; and the p% of these decisions rises with lam up to a
    point and may fall again beyond it, for the penalty sees the mean score of each group and not
    who is above one half. Choose lam by `fit_to_target` or `RenyiClassifierCV`, which measure the
    decisions. With ``on="score"`` the score itself is made independent of the group: decisions at
    every threshold become fair, more so the larger lam is, for a little accuracy.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of rho_R^2 beside the mean loss, from 0 to 1e12.
    on : {"label", "score"}, default="label"
        What rho_R^2 is computed for: the sampled label or, for two classes, the bin of the score,
        with soft borders; see `ScoreBinsPenalty`.
    fairness : {"demographic_parity", "equalized_odds", "equal_opportunity"}
        rho_R^2 of label and group; its sum given Y = y over all classes y (eq.
        Min-Max-Fairness_EO); or its value given Y = `pos_label`.
    pos_label : label, default=None
        The favorable class, which equality of opportunity is about. None is the last in sorted
        order.
    algorithm : {"auto", "discrete", "binary"}, default="auto"
        The adversary: that of Algorithm 1 (v, the second singular vector), of Algorithm 2 (w, in
        closed form, for two groups), or Algorithm 2 where it applies. Both give rho_R^2, and so
        the same classifier.
    solver : {"lbfgs", "gd"}, default="lbfgs"
        "gd" is the paper's loop, a best response and a gradient step in turns, and may need very
        many of them. "lbfgs" minimizes the same function much faster. See `gradient_descent` and
        `lbfgs`, also for what happens at kinks of rho_R^2.
    l2 : float, default=0.0
        Adds ``l2 / 2 * |coef|^2`` to the mean loss (C of scikit-learn is ``1 / (n l2)``).
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss: by label, or such that all classes weigh the same. The
        penalty counts all samples equally.
    eta : float, default=None
        Step size of "gd"; by default from an estimate of the gradient's Lipschitz constant.
    tol : float, default=1e-4
        The fit ends when no entry of the objective's gradient is larger.
    max_iter : int, default=1000
    warm_start : bool, default=False
        Start from the last solution instead of 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    groups_ : ndarray or None
        The groups, in the order in which `adversary_` counts them.
    adversary_ : ndarray or None
        The best response to the solution: v of shape (n_groups,) or w of shape (n_classes,); for
        equalized odds and equality of opportunity, one row for each condition. None for scores.
    history_ : dict of ndarray
        At the start and after each iteration: ``"lam"``, ``"loss"``, ``"penalty"`` (rho_R^2),
        ``"objective"`` (loss + lam * penalty), ``"gradient_norm"`` (Euclidean) and
        ``"gradient_max"`` (its largest entry). The solver "lbfgs" may begin with smaller values
        of lam, and at kinks the gradient is that of the smoothed objective.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had names of columns.

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
                f"algorithm='binary' needs two groups, but sensitive_features has {len(groups.q)}:"
                " use 'discrete' or 'auto'"
            )
        binary = self.algorithm == "binary" or (self.algorithm == "auto" and two)
        return BinaryRenyiPenalty() if binary else RenyiPenalty()


def _dot(X, coef):
    """X @ coef in double precision; a large X in single precision is widened block by block."""
    blocks = (X[part] for part in slices(X.shape[0], rows_of_block(X)))
    parts = [safe_sparse_dot(block, coef, dense_output=True) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _check_depends_on_table(penalty):
    """Raise a `ValueError` if a source that is not in memory cannot be fitted with the penalty."""
    if not penalty.depends_on_table:
        raise ValueError(
            f"penalty={penalty} depends on the probabilities of single rows, not only on the "
            "joint table of label and group: data that are not in memory need a penalty whose "
            "depends_on_table is true, such as RenyiPenalty or ChiSquarePenalty"
        )


def _of_score(penalty, classes):
    """The penalty of the score's bin instead of the label."""
    if isinstance(penalty, ScoreBinsPenalty):
        raise ValueError(
            "penalty is a ScoreBinsPenalty, which is about the score already: give on='label'"
        )
    if len(classes) != 2:
        raise ValueError(
            f"on='score' needs two classes, which have one score, but y has {len(classes)}: "
            "on='label' takes any number"
        )
    return ScoreBinsPenalty(penalty)
