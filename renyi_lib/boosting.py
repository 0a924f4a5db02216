"""Fair boosting: the Rényi penalty inside LightGBM or XGBoost.

Both estimators minimize, over sums of trees,

    mean loss + lam * penalty,

as the linear estimators do, with trees in place of a linear model. For regression, the penalty
acts on soft bins of the prediction instead of smooth functions. The group S is needed only in
`fit`, not for predictions. The penalty's adversary is *damped*. Because the leaf values of a tree
ignore the curvature of the penalty, training against an adversary that reacts at once diverges for
large lam. For two classes and two groups, the limit is about 1 / (learning_rate * tau), where tau
is the share of the variance of S that a tree can explain. The damped adversary has the same fixed
points, and the number of rounds that it needs hardly depends on lam. `renyi_lib._adversary`
explains why.

`renyi_objective` offers the same objective to code that calls the libraries directly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_X_y
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from renyi_lib._adversary import (
    PredictionBins,
    Softmax,
    TwoClasses,
    adversary_of,
)
from renyi_lib._backends import BACKENDS, Settings, check_backend_params
from renyi_lib._dispatch import need_memory
from renyi_lib._losses import softmax_loss
from renyi_lib._parameters import (
    Checked,
    choice,
    either,
    instance,
    n_jobs_constraint,
    number,
    whole,
)
from renyi_lib._random import as_random_state
from renyi_lib._rows import TrainingRows, read_rows, warn_without_groups
from renyi_lib._validation import (
    check_alignment,
    class_codes,
    encode_labels,
    known_codes,
    looks_continuous,
    loss_weights,
    numeric_values,
    read_validation,
    refuse_masked,
    refuse_text,
    sample_weights,
    without_unused,
)
from renyi_lib.classification import MAX_LAM, PenalizedClassifier, SoftLabelMixin
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    Groups,
    Penalty,
    RenyiPenalty,
)

__all__ = [
    "RenyiBoostingClassifier",
    "RenyiBoostingRegressor",
    "RenyiObjective",
    "renyi_objective",
]


class _LogisticLoss:
    """Log-loss for two classes (z of shape (n,)) or more (z of shape (n, n_classes))."""

    def __init__(self, y, n_classes, weight):
        self.y, self.n_classes, self.weight = y, n_classes, weight
        self.unit = 1.0
        self._rows, self._target, self._other = np.arange(len(y)), y.astype(float), 1.0 - y

    def start(self):
        """Return the raw scores of the best constant prediction, clipped for empty classes."""
        weight = np.broadcast_to(self.weight, self.y.shape)
        share = np.maximum(np.bincount(self.y, weight, self.n_classes), 1e-9)
        if self.n_classes == 2:
            return np.asarray(np.log(share[1] / share[0]))
        return np.log(share / share.sum())

    def at(self, z):
        """Return the model at the raw scores z, in the form that the adversary needs."""
        if self.n_classes == 2:
            p = _quick_expit(z)
            slope = 1 - p
            slope *= p
            return TwoClasses(p, np.maximum(slope, 1e-16, out=slope))
        return Softmax(softmax(z, axis=1))

    def gradient(self, at, z):
        """Compute the gradient of each sample's loss with respect to z, without weights."""
        if self.n_classes == 2:
            return at.p - self._target
        gradient = at.F.copy()
        gradient[self._rows, self.y] -= 1
        return gradient

    def quick_value(self, at, z):
        """Compute the mean loss for the history, with each sample's loss capped at about 37."""
        if self.n_classes == 2:
            right = self._other - at.p
            np.abs(right, out=right)
        else:
            right = at.F[self._rows, self.y]
        np.maximum(right, 1e-16, out=right)
        if np.ndim(self.weight):
            return -float(np.sum(np.log(right) * self.weight))
        # Logarithms are expensive, so take one for each product of 16 samples.
        whole = len(right) // 16 * 16
        products = np.multiply.reduce(right[:whole].reshape(16, -1), axis=0)
        return -float(np.log(products).sum() + np.log(right[whole:]).sum()) * self.weight

    def value(self, z):
        """Compute the mean loss."""
        losses, _ = softmax_loss(np.reshape(z, (len(self.y), -1)).T, self.y)
        return float(np.sum(losses * self.weight))


class _SquaredLoss:
    """Mean squared error divided by the variance of y, which is 1 - R^2."""

    def __init__(self, y, weight, mean, variance, n_bins):
        self.y, self.weight, self.n_bins = y, weight, n_bins
        self.mean, self.variance = mean, variance
        # The library receives half the squared error, with Hessian 1, as in plain regression.
        self.unit = variance / 2

    def start(self):
        """Return the mean of y."""
        return np.asarray(np.sum(self.y * self.weight))

    def at(self, z):
        """Return the model at the predictions z, in the form that the adversary needs."""
        deviation = np.sqrt(self.variance)
        return PredictionBins(z, self.mean, deviation, deviation / np.sqrt(2), self.n_bins)

    def gradient(self, at, z):
        """Compute the gradient of each sample's loss with respect to z, without weights."""
        return 2 * (z - self.y) / self.variance

    def value(self, z):
        """Compute the mean loss."""
        return float(np.sum((z - self.y) ** 2 * self.weight) / self.variance)

    def quick_value(self, at, z):
        """Compute the mean loss for the history."""
        return self.value(z)


class _Game:
    """Loss and adversary combined into the objective of a boosting library."""

    def __init__(self, loss, adversary, lam, total):
        self.loss, self.adversary, self.lam, self.total = loss, adversary, lam, total
        self.history = {"loss": [], "penalty": []}

    def gradients(self, z):
        """Compute the gradient and Hessian with respect to z, for weights that sum to `total`."""
        z = np.asarray(z, dtype=float)
        loss, at = self.loss, self.loss.at(z)
        scale = self.total * loss.unit
        weight = loss.weight * scale
        gradient, hessian = loss.gradient(at, z), at.hessian
        # A factor of 1 up to rounding is not worth two passes over all rows.
        if np.ndim(weight) or abs(weight - 1) > 1e-12:
            gradient, hessian = (gradient.T * weight).T, (hessian.T * weight).T
        penalty = 0.0
        if self.adversary is not None:
            penalty, by_z = self.adversary(at, scale)
            gradient += by_z
        self.history["loss"].append(loss.quick_value(at, z))
        self.history["penalty"].append(penalty)
        return gradient, hessian

    def columns(self):
        """Return loss, penalty and objective before each round, as a dict of arrays."""
        columns = {name: np.array(values) for name, values in self.history.items()}
        columns["objective"] = columns["loss"] + self.lam * columns["penalty"]
        return columns


@dataclass(frozen=True, eq=False)
class _Problem:
    """Training data and settings, which do not depend on lam."""

    rows: TrainingRows
    groups: Groups | None
    start: np.ndarray
    data: Any
    settings: Settings
    held_out: tuple | None


class _Boosting(Checked, BaseEstimator):
    """Base class that reads the data, runs the backend and handles early stopping."""

    _tree_constraints: ClassVar = {
        "lam": number(0, MAX_LAM),
        "penalty": either(None, instance(Penalty, "a Penalty, such as RenyiPenalty()")),
        "backend": choice(*BACKENDS),
        "n_estimators": whole(1),
        "learning_rate": number(0, 1, above=True),
        "max_leaves": whole(2),
        "max_depth": either(None, whole(1)),
        "min_child_weight": number(0),
        "l2": number(0),
        "n_iter_no_change": either(None, whole(1)),
        "validation_fraction": number(0, 0.9, above=True),
        "backend_params": either(None, instance(dict, "a dictionary")),
        "n_jobs": n_jobs_constraint,
    }

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple | None = None,
    ):
        """Fit the trees.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Features. Missing values and pandas categorical columns are handled by the backend.
        y : array-like of shape (n,)
            Class labels, or numeric targets for a regression.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample, given by labels of any type; several columns define joint groups.
            A regression also accepts numbers, the values of a continuous attribute. If omitted,
            nothing is penalized, and a warning is issued unless lam is 0.
        sample_weight : array-like of shape (n,), optional
            Nonnegative sample weights, used in both the loss and the penalty.
        validation : tuple, optional
            Rows for early stopping, ``(X, y, sensitive_features)`` with weights as an optional
            fourth entry; it requires `n_iter_no_change`. By default, early stopping holds out a
            fraction of the training rows.

        Returns
        -------
        self
        """
        return self._boost(self._prepare(X, y, sensitive_features, sample_weight, validation))

    def _fits_by_lam(self, X, y, sensitive_features, sample_weight) -> Callable:
        """Return a function from lam to a fitted estimator; the data are binned once."""
        template = clone(self)
        problem = template._prepare(X, y, sensitive_features, sample_weight, None)

        def fit(lam):
            fitted = clone(self).set_params(lam=lam)
            fitted._check_parameters()
            for name, value in vars(template).items():
                if name.endswith("_") and not name.startswith("__"):
                    setattr(fitted, name, value)
            return fitted._boost(problem)

        return fit

    def _prepare(self, X, y, sensitive_features, sample_weight, validation):
        """Validate the data and convert them to the backend's format."""
        self._check_parameters()
        backend = BACKENDS[self.backend]
        backend.library()
        more = {} if self.backend_params is None else self.backend_params
        taken = sorted(backend.taken.intersection(more))
        if taken:
            raise ValueError(
                f"backend_params contains {taken[0]!r}, which the estimator sets itself: remove "
                "it, or use the estimator's own parameters (n_estimators, learning_rate, "
                "max_leaves, max_depth, min_child_weight, l2, n_jobs, random_state)"
            )
        check_backend_params(backend, more)
        random_state = as_random_state(self.random_state)
        seed = int(random_state.randint(2**31 - 1))
        rows = self._read(X, y, sensitive_features, sample_weight)
        if sensitive_features is None:
            warn_without_groups(self, "plain boosting")
        held_out = None
        if validation is not None:
            if self.n_iter_no_change is None:
                raise ValueError(
                    "validation is used only for early stopping: set n_iter_no_change as well"
                )
            held_out = self._read_validation(validation)
        elif self.n_iter_no_change is not None:
            rows, held_out = self._hold_out(rows, random_state)
        groups = rows.groups()
        self.groups_ = None if groups is None else groups.categories
        start = self._loss(rows, groups).start()
        data = backend.data(rows.X, self._categorical(), start, more)
        if held_out is not None:
            # Early stopping evaluates the loss and the penalty on these rows.
            others = held_out.groups() if groups is not None else None
            held_out = (
                backend.data(held_out.X, self._categorical(), start, more, like=data),
                self._loss(held_out, others),
                others,
            )
        settings = Settings(
            self.n_estimators,
            self.learning_rate,
            self.max_leaves,
            self.max_depth,
            self.min_child_weight,
            self.l2,
            self.n_jobs,
            seed,
            more,
        )
        return _Problem(rows, groups, start, data, settings, held_out)

    def _boost(self, problem):
        """Grow the trees for this lam, and store them."""
        rows, lam = problem.rows, float(self.lam)
        loss = self._loss(rows, problem.groups)
        adversary = None
        if problem.groups is not None:
            penalty = self._penalty_on(problem.groups)
            adversary = adversary_of(penalty, problem.groups, lam, self.learning_rate, loss.weight)
        total = len(rows.y) if rows.weight is None else float(rows.weight.sum())
        game = _Game(loss, adversary, lam, total)
        validation = None
        if problem.held_out is not None:
            data, held_loss, groups = problem.held_out
            penalty = None if groups is None else self._penalty_on(groups)

            def metric(z):
                value = held_loss.value(z)
                if penalty is None or lam == 0:
                    return value
                return value + lam * penalty.value(held_loss.at(np.asarray(z, float)).F, groups)

            validation = (data, metric, self.n_iter_no_change)
        backend = BACKENDS[self.backend]
        self._forest = backend.train(
            problem.data, game.gradients, problem.settings, problem.start, validation
        )
        self.booster_ = self._forest.booster
        self.n_iter_ = self._forest.n_trees
        self.history_ = game.columns()
        return self

    def _read(self, X, y, sensitive_features, sample_weight):
        """Validate and encode the rows of a fit."""
        check_alignment(
            X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        X, y = self._features(X, y)
        self._learn_groups(sensitive_features, sample_weight)
        rows = read_rows(X, y, sensitive_features, sample_weight, self._code_groups)
        return self._with_targets(rows)

    def _read_validation(self, validation):
        """Encode the caller's validation rows, with the classes learned from the training rows."""
        X, y, s, weight = read_validation(validation)
        X = self._features(X)
        y = self._known_targets(y)
        codes = categories = None
        if s is not None:
            codes, categories = self._code_groups(s)
        return TrainingRows(X, y, codes, categories, weight, getattr(self, "classes_", None))

    def _hold_out(self, rows, random_state):
        """Split off rows for early stopping, stratified by group and class if possible."""
        strata = self._strata(rows)
        several = strata is not None and np.bincount(strata)[np.unique(strata)].min() >= 2
        order = np.arange(len(rows.y))
        seed = int(random_state.randint(2**31 - 1))
        split = {"test_size": self.validation_fraction, "random_state": seed}
        try:
            kept, held = train_test_split(order, stratify=strata if several else None, **split)
        except ValueError:  # one of the two parts has fewer rows than there are strata
            kept, held = train_test_split(order, **split)
        return rows.some(np.sort(kept)), rows.some(np.sort(held))

    def _features(self, X, *targets):
        """Convert X to numbers; in `fit`, also convert y and store the categories of X."""
        need_memory(X, type(self).__name__)
        refuse_masked(X, "X")
        refuse_text(
            X,
            "use a data frame and X[{column}].astype('category'), or encode the column",
        )
        fitting = len(targets) > 0
        how = {
            "accept_sparse": "csr",
            "dtype": np.float64,
            "ensure_all_finite": "allow-nan",
        }
        if fitting:
            self.categories_ = _categories_of(X)
        if not self.categories_:
            if fitting:
                return validate_data(self, X, *targets, **how)
            return validate_data(self, X, reset=False, **how)
        if not isinstance(X, pd.DataFrame):
            raise ValueError(
                "X must be a DataFrame, as in fit, because its columns "
                f"{', '.join(map(str, self.categories_))} are categorical"
            )
        validate_data(self, X, skip_check_array=True, reset=fitting)
        X = X.assign(**{name: _codes_of(X[name], kept) for name, kept in self.categories_.items()})
        if fitting:
            return check_X_y(X, *targets, **how)
        return check_array(X, **how)

    def _categorical(self):
        """Return the positions of the categorical columns."""
        if not self.categories_:
            return []
        names = self.feature_names_in_.tolist()
        return [names.index(name) for name in self.categories_]

    def _scores(self, X):
        """Compute the raw scores of rows."""
        check_is_fitted(self)
        return self._forest.scores(self._features(X))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Total gain of the splits on each feature, normalized to sum to 1 unless all are 0."""
        check_is_fitted(self)
        return self._forest.importances(self.n_features_in_)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_forest")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class RenyiBoostingClassifier(SoftLabelMixin, ClassifierMixin, _Boosting):
    """Boosted trees whose labels or scores have a small Rényi correlation with the group.

    It minimizes mean logistic loss + lam * rho_R^2 with LightGBM or XGBoost and a damped
    adversary. The groups are needed only in `fit`.

    Parameters
    ----------
    lam : float, default=1.0
        Weight of the penalty relative to the mean loss, between 0 and 1e12.
    fairness : {"demographic_parity", "equalized_odds", "equal_opportunity"}, \
default="demographic_parity"
        Notion of fairness; see `RenyiClassifier`.
    on : {"label", "score"}, default="label"
        Variable whose dependence on the group is penalized. "label" is a label sampled from the
        predicted probabilities, which usually makes decisions at a threshold of 1/2 approximately
        fair. "score" is the score itself, in soft bins (`ScoreBinsPenalty`, two classes only),
        which makes decisions fairer at every threshold and costs more accuracy.
    penalty : Penalty, default=None
        Dependence measure for the variable chosen by `on`; None means rho_R^2.
    pos_label : label, default=None
        Favorable class, used for equal opportunity. None means the last class in sorted order.
    backend : {"lightgbm", "xgboost"}, default="lightgbm"
        Library that grows the trees. ``pip install "renyi-lib[boosting]"`` installs LightGBM.
    n_estimators : int, default=200
        Number of rounds. Each grows one tree, or one per class if there are more than two. With a
        large lam, about 20 / learning_rate rounds are needed for convergence.
    learning_rate : float, default=0.1
        Factor by which each tree's contribution is shrunk.
    max_leaves : int, default=31
        Maximum number of leaves of a tree.
    max_depth : int or None, default=None
        Maximum depth of a tree; None means no limit.
    min_child_weight : float, default=1.0
        Minimum sum of Hessians in a leaf. A sample with the predicted probability p contributes
        p (1 - p) times its weight in the loss, multiplied by c / (c - 1) for c > 2 classes.
    l2 : float, default=0.0
        Strength of the ridge ``l2 / 2 * value^2`` that each leaf adds to the sum of the losses.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss. The penalty ignores class weights.
    n_iter_no_change : int or None, default=None
        Number of rounds without improvement of loss + lam * penalty on held-out rows after which
        the fit stops and keeps the best round; None disables early stopping. On few held-out rows
        the penalty is mostly noise, so hold out thousands of rows if lam is large.
    validation_fraction : float, default=0.1
        Fraction of the rows held out for early stopping, unless ``validation`` is passed to `fit`.
    backend_params : dict, default=None
        Further parameters of the library, such as ``monotone_constraints``, ``feature_fraction``
        or ``max_bin``.
    n_jobs : int or None, default=None
        Number of threads; None means one, and -1 means all cores.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the library's random numbers and of the split for early stopping.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in sorted order.
    groups_ : ndarray or None
        Group labels; None if fitted without groups.
    booster_ : lightgbm.Booster or xgboost.Booster
        Fitted trees.
    history_ : dict of ndarray
        Values of ``"loss"``, ``"penalty"`` and ``"objective"`` on the training rows before each
        round.
    n_iter_ : int
        Number of rounds used.
    feature_importances_ : ndarray of shape (n_features,)
        Total gain of the splits on each feature, normalized to sum to 1 unless all are 0.
    categories_ : dict of Index
        Categories of each pandas categorical column of X, by the name of the column.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray
        Names of the features, if X has column names.

    See Also
    --------
    RenyiClassifier : Logistic regression with the same penalty.
    RenyiBoostingRegressor : Boosted trees for regression.
    renyi_lib.boosting.renyi_objective : Use the objective directly with LightGBM or XGBoost.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiBoostingClassifier, demographic_parity_ratio
    >>> rng = np.random.default_rng(0)
    >>> s = rng.choice(["f", "m"], size=2000)
    >>> X = rng.normal(size=(2000, 3)) + (s == "m")[:, None]
    >>> y = (X.sum(axis=1) + rng.normal(size=2000) > 1).astype(int)
    >>> for lam in [0, 100]:
    ...     clf = RenyiBoostingClassifier(lam, on="score").fit(X, y, sensitive_features=s)
    ...     print(lam, demographic_parity_ratio(None, clf.predict(X), sensitive_features=s) > 0.8)
    0 False
    100 True
    """

    _constraints: ClassVar = _Boosting._tree_constraints | {
        "fairness": choice("demographic_parity", "equalized_odds", "equal_opportunity"),
        "on": choice("label", "score"),
        "class_weight": PenalizedClassifier._constraints["class_weight"],
    }

    def __init__(
        self,
        lam=1.0,
        *,
        fairness="demographic_parity",
        on="label",
        penalty=None,
        pos_label=None,
        backend="lightgbm",
        n_estimators=200,
        learning_rate=0.1,
        max_leaves=31,
        max_depth=None,
        min_child_weight=1.0,
        l2=0.0,
        class_weight=None,
        n_iter_no_change=None,
        validation_fraction=0.1,
        backend_params=None,
        n_jobs=None,
        random_state=None,
    ):
        self.lam = lam
        self.fairness = fairness
        self.on = on
        self.penalty = penalty
        self.pos_label = pos_label
        self.backend = backend
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.l2 = l2
        self.class_weight = class_weight
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.backend_params = backend_params
        self.n_jobs = n_jobs
        self.random_state = random_state

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute class scores, of shape (n,) for two classes and (n, n_classes) otherwise."""
        return self._scores(X)

    def _penalty_of(self, groups):
        """Return the penalty on labels before any conditioning on the true class."""
        return _measure(self.penalty, len(groups.q))

    def _penalty_on(self, groups):
        return self._penalty_given(groups, self.classes_)

    def _loss(self, rows, groups):
        weight = rows.shares()
        weight = loss_weights(self.class_weight, self.classes_, rows.y, weight)
        weight = 1 / len(rows.y) if weight is None else weight
        return _LogisticLoss(rows.y, len(self.classes_), weight)

    def _learn_groups(self, sensitive_features, sample_weight):
        """Do nothing, because groups are labels."""

    def _code_groups(self, sensitive_features, name="sensitive_features"):
        return encode_labels(sensitive_features, name)

    def _with_targets(self, rows):
        """Encode the classes."""
        rows = rows.with_classes()
        self.classes_ = rows.classes
        if self.on == "score" and len(self.classes_) > 2:
            raise ValueError(
                f'on="score" needs two classes, but y has {len(self.classes_)}: use on="label"'
            )
        if rows.codes is not None:
            self._penalty_on(rows.groups())  # check the data before doing any work
        return rows

    def _known_targets(self, y):
        return class_codes(y, self.classes_)

    def _strata(self, rows):
        if rows.codes is None:
            return rows.y
        return rows.y * len(rows.categories) + rows.codes


class RenyiBoostingRegressor(RegressorMixin, _Boosting):
    """Boosted trees whose predictions have a small Rényi correlation with an attribute.

    It minimizes 1 - R^2 + lam * rho_R^2, where 1 - R^2 is the mean squared error divided by the
    variance of y, and rho_R is the Rényi correlation of the attribute and soft bins of the
    prediction. The bins divide the range of Phi((prediction - mean) / deviation), where mean and
    deviation are the mean and standard deviation of y, and Phi is the standard normal distribution
    function. Normally distributed predictions with this mean and deviation would fill all bins but
    the outermost about equally. For predictions that hardly vary, the bins are coarse.

    Parameters
    ----------
    lam : float, default=1.0
        Weight of the penalty relative to 1 - R^2, between 0 and 1e12. With two groups, fits with
        lam up to a million converged in our tests. With more groups, or a continuous attribute,
        rho_R^2 has a kink where the prediction is independent of the attribute, and a fit with lam
        of 100 or more may end far from the minimum. ``penalty=ChiSquarePenalty()``, a smooth upper
        bound of rho_R^2, did better at 100 in our trials, though not at 1000.
    kind : {"auto", "discrete", "continuous"}, default="auto"
        Type of the attribute. A continuous attribute is cut at its quantiles into `n_groups`
        groups. "auto" treats floating-point numbers as continuous unless all of them are integers.
    n_groups : int, default=8
        Number of groups into which a continuous attribute is cut; tied values may leave fewer.
    n_bins : int, default=12
        Number of bins of the prediction.
    penalty : Penalty, default=None
        Dependence measure for bins and groups; None means rho_R^2.
    backend, n_estimators, learning_rate, max_leaves, max_depth, l2, n_iter_no_change, \
validation_fraction, backend_params, n_jobs, random_state
        Same as in `RenyiBoostingClassifier`.
    min_child_weight : float, default=5.0
        Minimum sum of sample weights in a leaf; without weights, minimum number of samples.

    Attributes
    ----------
    groups_ : ndarray or None
        Group labels, or group numbers if the attribute is continuous; None if fitted without an
        attribute.
    group_borders_ : ndarray or None
        Values at which a continuous attribute is cut; None for a discrete attribute or without
        one.
    y_mean_, y_variance_ : float
        Weighted mean and variance of y, which scale the loss and the bins; the variance is
        replaced by 1 if y is constant.
    booster_, history_, n_iter_, feature_importances_, categories_, n_features_in_, \
feature_names_in_
        Same as in `RenyiBoostingClassifier`.

    See Also
    --------
    renyi_lib.RenyiRegressor : Linear regression with the same kind of penalty.
    RenyiBoostingClassifier : Boosted trees for classification.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib import RenyiBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=1000)
    >>> X = rng.normal(size=(1000, 3)) + s[:, None]
    >>> y = X.sum(axis=1) + rng.normal(size=1000)
    >>> for lam in [0, 100]:
    ...     model = RenyiBoostingRegressor(lam, n_estimators=100).fit(X, y, sensitive_features=s)
    ...     print(lam, model.penalty_value(X, sensitive_features=s) < 0.01)
    0 False
    100 True
    """

    _constraints: ClassVar = _Boosting._tree_constraints | {
        "kind": choice("auto", "discrete", "continuous"),
        "n_groups": whole(2),
        "n_bins": whole(3),
    }

    def __init__(
        self,
        lam=1.0,
        *,
        kind="auto",
        n_groups=8,
        n_bins=12,
        penalty=None,
        backend="lightgbm",
        n_estimators=200,
        learning_rate=0.1,
        max_leaves=31,
        max_depth=None,
        min_child_weight=5.0,
        l2=0.0,
        n_iter_no_change=None,
        validation_fraction=0.1,
        backend_params=None,
        n_jobs=None,
        random_state=None,
    ):
        self.lam = lam
        self.kind = kind
        self.n_groups = n_groups
        self.n_bins = n_bins
        self.penalty = penalty
        self.backend = backend
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.l2 = l2
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.backend_params = backend_params
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the target of each sample."""
        return self._scores(X)

    def penalty_value(
        self,
        X: ArrayLike,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute the penalty of the predictions on given data, such as a test set.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Features.
        sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
            Groups that were seen in `fit`, or numbers if the attribute is continuous.
        sample_weight : array-like of shape (n,), optional
            Nonnegative sample weights; by default, all samples count equally.

        Returns
        -------
        float
            Value of the penalty, which is rho_R^2 by default.
        """
        z = self.predict(X)
        encode, lengths = self._code_groups, {"X": z}
        rows = read_rows(z, None, sensitive_features, sample_weight, encode, lengths=lengths)
        groups: Any = rows.groups()
        if self.groups_ is not None:
            known_codes(groups.categories, self.groups_, "sensitive_features")
        z = rows.X
        bins = _SquaredLoss(z, None, self.y_mean_, self.y_variance_, self.n_bins).at(z)
        return _measure(self.penalty, len(groups.q)).value(bins.F, groups)

    def _penalty_on(self, groups):
        return _measure(self.penalty, len(groups.q))

    def _loss(self, rows, groups):
        weight = rows.shares()
        weight = np.full(len(rows.y), 1 / len(rows.y)) if weight is None else weight
        return _SquaredLoss(rows.y, weight, self.y_mean_, self.y_variance_, self.n_bins)

    def _learn_groups(self, sensitive_features, sample_weight):
        """Store the values at which a continuous attribute is cut, or None for a discrete one."""
        name, self.group_borders_ = "sensitive_features", None
        if sensitive_features is None:
            return
        continuous = self.kind == "continuous"
        if self.kind == "auto":
            continuous = looks_continuous(sensitive_features, name)
        if continuous:
            values = numeric_values(sensitive_features, name)
            self.group_borders_ = _quantiles(values, sample_weight, self.n_groups)

    def _code_groups(self, sensitive_features, name="sensitive_features"):
        """Encode labels, or numbers by the interval of `group_borders_` in which they lie."""
        if self.group_borders_ is None:
            return encode_labels(sensitive_features, name)
        values = numeric_values(sensitive_features, name)
        codes = np.searchsorted(self.group_borders_, values, side="right")
        return without_unused(codes, np.arange(len(self.group_borders_) + 1))

    def _with_targets(self, rows):
        """Convert y to floats, and store its mean and its variance, the unit of the loss."""
        y = numeric_values(rows.y, "y")
        weight = rows.shares()
        self.y_mean_ = float(np.average(y, weights=weight))
        self.y_variance_ = float(np.cov(y, aweights=weight, bias=True)) if len(y) > 1 else 0.0
        self.y_variance_ = self.y_variance_ or 1.0  # for a constant y, any unit will do
        return TrainingRows(rows.X, y, rows.codes, rows.categories, rows.weight)

    def _known_targets(self, y):
        return numeric_values(y, "y")

    def _strata(self, rows):
        return rows.codes


class RenyiObjective:
    """Objective function for LightGBM or XGBoost, as returned by `renyi_objective`.

    It accepts the arguments of either interface, ``(scores, data)`` of `train` or ``(y_true,
    scores)`` of the scikit-learn wrappers. Because the damped adversary keeps state, an objective
    can be used for only one training run; call `reset` before another run.

    Attributes
    ----------
    history : dict of ndarray
        ``"loss"``, ``"penalty"`` and ``"objective"`` before each round. LightGBM trains with a
        copy of the objective, so pass ``lambda *args: objective(*args)`` to be able to read the
        history.
    """

    def __init__(self, loss, penalty, groups, lam, learning_rate, total):
        self._loss, self._penalty, self._groups = loss, penalty, groups
        self._lam, self._learning_rate, self._total = lam, learning_rate, total
        self.reset()

    def reset(self) -> None:
        """Clear all state before another training run."""
        adversary = adversary_of(
            self._penalty, self._groups, self._lam, self._learning_rate, self._loss.weight
        )
        self._game = _Game(self._loss, adversary, self._lam, self._total)

    def __call__(self, first: Any, second: Any, *_: Any) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gradient and the Hessian with respect to the raw scores."""
        z = np.asarray(first if hasattr(second, "get_label") else second, dtype=float)
        n, classes = len(self._loss.y), self._loss.n_classes
        shape = (n,) if classes == 2 else (n, classes)
        if z.size != np.prod(shape):
            raise ValueError(
                f"the scores have shape {z.shape}, but the objective was built from {n} samples "
                f"of {classes} classes: build it from the training rows, in the same order"
            )
        return self._game.gradients(z.reshape(shape))

    @property
    def history(self) -> dict:
        """Loss, penalty and objective before each round, as a dict of arrays."""
        return self._game.columns()


def renyi_objective(
    y: ArrayLike,
    *,
    sensitive_features: Any,
    lam: float = 1.0,
    learning_rate: float = 0.1,
    fairness: str = "demographic_parity",
    on: str = "label",
    penalty: Penalty | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
) -> RenyiObjective:
    """Create a fair objective that can be passed directly to LightGBM or XGBoost.

    The trees then return raw scores, which are log-odds of the second class or, with more than two
    classes, one score per class. `RenyiBoostingClassifier` wraps this objective in a scikit-learn
    estimator.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes of the training rows, in the same order as in the library's data. Labels stored in
        that data are ignored.
    sensitive_features : array-like of shape (n,) or (n, k), Series or DataFrame
        Group of each training row; several columns define joint groups.
    lam : float, default=1.0
        Weight of the penalty.
    learning_rate : float, default=0.1
        Learning rate that is passed to the library; it determines how strongly the adversary is
        damped.
    fairness, on, penalty, pos_label, class_weight
        Same as in `RenyiBoostingClassifier`.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the loss and the penalty. Neither library applies its own sample
        weights to a custom objective.

    Returns
    -------
    RenyiObjective
        Stateful function from raw scores and data to the gradient and the Hessian.

    See Also
    --------
    RenyiBoostingClassifier : Use the objective in a scikit-learn estimator.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from renyi_lib.boosting import renyi_objective
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 2)) + s[:, None]
    >>> y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    >>> objective = renyi_objective(y, sensitive_features=s, lam=100)
    >>> parameters = {"objective": objective, "learning_rate": 0.1, "verbosity": -1}
    >>> trees = lightgbm.train(parameters, lightgbm.Dataset(X, y), 50)
    >>> p = 1 / (1 + np.exp(-trees.predict(X)))
    >>> bool(abs(p[s == 1].mean() - p[s == 0].mean()) < 0.01)
    True
    """
    template = RenyiBoostingClassifier(
        lam,
        fairness=fairness,
        on=on,
        penalty=penalty,
        pos_label=pos_label,
        class_weight=class_weight,
        learning_rate=learning_rate,
    )
    template._check_parameters()
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be one class for each sample, but it has shape {y.shape}")
    if sensitive_features is None:
        raise ValueError(
            "sensitive_features is None, but the objective penalizes the dependence on it: pass "
            "the group of each sample"
        )
    rows = template._with_targets(
        read_rows(None, y, sensitive_features, sample_weight, keep_all=True)
    )
    groups = rows.groups()
    total = len(y) if rows.weight is None else float(rows.weight.sum())
    return RenyiObjective(
        template._loss(rows, groups),
        template._penalty_on(groups),
        groups,
        float(lam),
        learning_rate,
        total,
    )


def _quick_expit(z):
    """Compute 1 / (1 + exp(-z)) with NumPy, in half the time of SciPy's expit."""
    with np.errstate(over="ignore"):  # an infinite exp(-z) gives 0
        p = np.exp(-z)
    p += 1
    return np.reciprocal(p, out=p)


def _measure(penalty, n_groups):
    """Return the requested penalty, by default rho_R^2 in its fastest form."""
    if penalty is not None:
        return penalty
    return BinaryRenyiPenalty() if n_groups == 2 else RenyiPenalty()


def _quantiles(values, sample_weight, n_groups):
    """Return the borders between `n_groups` groups of about equal weight, or fewer with ties."""
    values, place = np.unique(values, return_inverse=True)
    weight = None if sample_weight is None else sample_weights(sample_weight)
    reached = np.cumsum(np.bincount(place, weight))
    wanted = reached[-1] * np.arange(1, n_groups) / n_groups
    return np.unique(values[np.searchsorted(reached, wanted * (1 - 1e-12), side="left")])


def _categories_of(X):
    """Return the categories of each pandas categorical column."""
    if not isinstance(X, pd.DataFrame):
        return {}
    found = {}
    for name, column in X.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            found[name] = column.dtype.categories
    return found


def _codes_of(column, categories):
    """Encode a column; entries that are missing or unseen in `fit` become NaN."""
    codes = categories.get_indexer(pd.Index(column.astype(object)))
    return np.where(codes < 0, np.nan, codes)
