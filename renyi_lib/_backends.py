"""Common interface to boosting libraries, which grow trees from a custom gradient.

A *backend* has ``data(X, categorical, start, …)``, which converts rows to the library's own
format, and ``train(data, gradients, …)``, where ``gradients(z)`` returns the gradient and the
Hessian at the raw scores z. The libraries are imported only when they are used.
"""

import difflib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from renyi_lib._optional import missing

__all__ = ["BACKENDS", "Forest", "Settings", "check_backend_params"]


@dataclass(frozen=True)
class Settings:
    """Parameters of the trees, with the same names for each backend."""

    n_estimators: int
    learning_rate: float
    max_leaves: int
    max_depth: int | None
    min_child_weight: float
    l2: float
    n_jobs: int | None
    seed: int
    more: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees of either library, and the scores from which they start."""

    backend: str
    booster: Any
    start: np.ndarray
    n_trees: int

    def scores(self, X):
        """Compute the raw scores of rows, of shape (n,) or (n, classes)."""
        found = BACKENDS[self.backend].raw(self.booster, X, self.n_trees)
        return (
            found.reshape(X.shape[0], -1) + self.start if self.start.ndim else found + self.start
        )

    def importances(self, n_features):
        """Return each feature's total gain, normalized to sum to 1 unless all gains are 0."""
        gains = BACKENDS[self.backend].gains(self.booster, n_features)
        return gains / (gains.sum() or 1.0)


class LightGBM:
    """Backend that calls `lightgbm.train` with a custom objective."""

    # Parameters that are set by the estimator's own parameters or by the data.
    taken = frozenset(
        [
            "objective",
            "num_class",
            "learning_rate",
            "eta",
            "shrinkage_rate",
            "num_iterations",
            "n_estimators",
            "num_boost_round",
            "num_leaves",
            "max_leaves",
            "max_depth",
            "lambda_l2",
            "reg_lambda",
            "min_sum_hessian_in_leaf",
            "min_child_weight",
            "num_threads",
            "n_jobs",
            "seed",
            "random_state",
        ]
    )

    @staticmethod
    def library():
        """Import and return the library."""
        try:
            import lightgbm
        except ImportError as error:
            raise missing("lightgbm", 'backend="lightgbm"', "boosting") from error
        return lightgbm

    @classmethod
    def parameters(cls):
        """Return the names of all LightGBM parameters, or an empty set if they are unavailable."""
        aliases = getattr(cls.library().basic, "_ConfigAliases", None)
        if not hasattr(aliases, "_get_all_param_aliases"):
            return set()
        found = aliases._get_all_param_aliases()
        return {name for main, others in found.items() for name in (main, *others)}

    @classmethod
    def data(cls, X, categorical, start, more, like=None):
        """Convert rows to a LightGBM data set; with `like`, use the bins of that data set."""
        start = np.broadcast_to(start, (X.shape[0], *np.shape(start)))
        rows = cls.library().Dataset(
            _as_matrix(X),
            label=np.zeros(X.shape[0]),
            init_score=start if start.ndim == 1 else np.asfortranarray(start),
            categorical_feature=categorical,
            reference=like,
            # A bin may contain a single row, so that a weight of 2 is equivalent to two rows.
            params={"min_data_in_bin": 1, "feature_pre_filter": False, "verbosity": -1} | more,
        )
        with warnings.catch_warnings():
            # LightGBM warns about arrays that are views of other arrays, which is harmless here.
            warnings.filterwarnings("ignore", message="Usage of np.ndarray subset")
            return rows.construct()

    @classmethod
    def train(cls, data, gradients, settings, start, validation=None):
        """Train a `Forest`; `validation` is (data, metric of raw scores, rounds to wait)."""
        lightgbm = cls.library()
        parameters = {
            # Use a plain function, because LightGBM copies objects together with their state.
            "objective": lambda z, _: gradients(z),
            "learning_rate": settings.learning_rate,
            "num_leaves": settings.max_leaves,
            "max_depth": -1 if settings.max_depth is None else settings.max_depth,
            "min_data_in_leaf": 0,
            "min_sum_hessian_in_leaf": settings.min_child_weight,
            "lambda_l2": settings.l2,
            "num_threads": _threads(settings.n_jobs),
            "seed": settings.seed,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
            "metric": "None",
            **data.params,
            **settings.more,
        }
        if np.ndim(start):
            parameters["num_class"] = len(start)
        options = {}
        if validation is not None:
            rows, metric, patience = validation
            options = {
                "valid_sets": [rows],
                "feval": lambda z, _: ("objective", metric(z), False),
                "callbacks": [lightgbm.early_stopping(patience, verbose=False)],
            }
        booster = lightgbm.train(parameters, data, settings.n_estimators, **options)
        n_trees = booster.best_iteration if validation is not None else 0
        return Forest("lightgbm", booster, start, n_trees or booster.current_iteration())

    @staticmethod
    def raw(booster, X, n_trees):
        """Return raw scores without the start."""
        return booster.predict(_as_matrix(X), num_iteration=n_trees or None, raw_score=True)

    @staticmethod
    def gains(booster, n_features):
        """Return the total gain of each feature."""
        return booster.feature_importance("gain").astype(float)


class XGBoost:
    """Backend that calls `xgboost.train` with a custom objective."""

    taken = frozenset(
        [
            "objective",
            "num_class",
            "learning_rate",
            "eta",
            "n_estimators",
            "num_boost_round",
            "max_leaves",
            "max_depth",
            "min_child_weight",
            "lambda",
            "reg_lambda",
            "nthread",
            "n_jobs",
            "seed",
            "random_state",
            "base_score",
        ]
    )

    @staticmethod
    def library():
        """Import and return the library."""
        try:
            import xgboost
        except ImportError as error:
            raise missing("xgboost", 'backend="xgboost"', "xgboost") from error
        return xgboost

    @classmethod
    def parameters(cls):
        """Return the names of all XGBoost parameters, among other keys of its configuration."""
        xgboost = cls.library()
        rows = xgboost.DMatrix(np.zeros((2, 1)), label=np.zeros(2))
        booster = xgboost.train({"tree_method": "hist", "verbosity": 0}, rows, 1)
        return {"eval_metric", "verbosity", *_keys(json.loads(booster.save_config()))}

    @classmethod
    def data(cls, X, categorical, start, more, like=None):
        """Convert rows to an XGBoost DMatrix, which needs neither `more` nor `like`."""
        start = np.broadcast_to(start, (X.shape[0], *np.shape(start)))
        return cls._rows(X, categorical, base_margin=start)

    @classmethod
    def _rows(cls, X, categorical, **options):
        # XGBoost treats entries that a sparse matrix omits as missing, although they are 0.
        X = X.toarray() if sparse.issparse(X) else X
        kinds = None
        if categorical:
            kinds = ["c" if k in categorical else "float" for k in range(X.shape[1])]
        return cls.library().DMatrix(X, feature_types=kinds, enable_categorical=True, **options)

    @classmethod
    def train(cls, data, gradients, settings, start, validation=None):
        """Train a `Forest`; `validation` is (data, metric of raw scores, rounds to wait)."""
        xgboost = cls.library()
        parameters = {
            "learning_rate": settings.learning_rate,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": settings.max_leaves,
            "max_depth": settings.max_depth or 0,
            "min_child_weight": settings.min_child_weight,
            "reg_lambda": settings.l2,
            "nthread": _threads(settings.n_jobs),
            "seed": settings.seed,
            "base_score": 0.0,
            "disable_default_eval_metric": True,
            "verbosity": 0,
            **settings.more,
        }
        if np.ndim(start):
            parameters["num_class"] = len(start)
        options = {}
        if validation is not None:
            rows, metric, patience = validation
            stop = xgboost.callback.EarlyStopping(
                rounds=patience, metric_name="objective", data_name="validation", save_best=True
            )
            options = {
                "evals": [(rows, "validation")],
                "custom_metric": lambda z, _: ("objective", metric(z)),
                "callbacks": [stop],
                "verbose_eval": False,
            }
        booster = xgboost.train(
            parameters, data, settings.n_estimators, obj=lambda z, _: gradients(z), **options
        )
        return Forest("xgboost", booster, start, booster.num_boosted_rounds())

    @classmethod
    def raw(cls, booster, X, n_trees):
        """Return raw scores without the start."""
        kinds = booster.feature_types or []
        rows = cls._rows(X, [k for k, kind in enumerate(kinds) if kind == "c"])
        return booster.predict(rows, output_margin=True).astype(float)

    @staticmethod
    def gains(booster, n_features):
        """Return the total gain of each feature."""
        found = booster.get_score(importance_type="total_gain")
        return np.array([found.get(f"f{k}", 0.0) for k in range(n_features)])


BACKENDS = {"lightgbm": LightGBM, "xgboost": XGBoost}


def check_backend_params(backend: Any, names: Iterable[str]) -> None:
    """Raise a `ValueError` for parameters that the library would ignore."""
    names = list(names)
    known = backend.parameters() if names else set()
    for name in names:
        if known and name not in known:
            close = difflib.get_close_matches(str(name), known, 1)
            hint = f": did you mean {close[0]!r}?" if close else ": remove it"
            raise ValueError(
                f"backend_params contains {name!r}, which is not a parameter of "
                f"{backend.__name__}{hint}"
            )


def _keys(tree: Any) -> Iterator[str]:
    """Iterate over all keys of nested dictionaries and lists."""
    if isinstance(tree, dict):
        yield from tree
    for branch in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(branch, dict | list):
            yield from _keys(branch)


def _as_matrix(X):
    """Convert scipy's sparse arrays to sparse matrices, which LightGBM supports."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def _threads(n_jobs):
    """Return the number of threads: 1 for None, 0 (all cores) if negative, `n_jobs` otherwise."""
    return 1 if n_jobs is None else max(n_jobs, 0)
