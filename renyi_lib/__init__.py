"""Rényi fair inference: maximal correlation, fair classifiers, fair k-means.

This is the library behind the book *Rényi Fair Inference, executed*. The main functions and
classes can be imported from the package itself; their building blocks (models, penalties,
objective and solvers) can be imported from the modules that define them. A module is loaded when
one of its names is first used, so `import renyi_lib` is fast.
"""

from importlib import import_module

from renyi_lib._version import __version__

_PUBLIC = {
    "correlation": [
        "maximal_functions",
        "renyi_correlation",
    ],
    "continuous": [
        "continuous_correlation",
        "continuous_interval",
        "continuous_test",
    ],
    "tables": [
        "JointTable",
        "joint_table",
    ],
    "inference": [
        "difference_interval",
        "fairness_interval",
        "renyi_interval",
        "renyi_test",
        "sample_size",
    ],
    "metrics": [
        "demographic_parity_difference",
        "demographic_parity_ratio",
        "equal_opportunity_difference",
        "equalized_odds_difference",
        "group_rates",
    ],
    "report": [
        "fairness_report",
    ],
    "scorers": [
        "fairness_scorer",
    ],
    "classification": [
        "PenalizedClassifier",
        "RenyiClassifier",
    ],
    "boosting": [
        "RenyiBoostingClassifier",
        "RenyiBoostingRegressor",
    ],
    "regression": [
        "RenyiRegressor",
    ],
    "clustering": [
        "RenyiKMeans",
    ],
    "postprocessing": [
        "BiasScoreClassifier",
    ],
    "tuning": [
        "RenyiClassifierCV",
        "TargetNotReachedError",
        "fit_to_target",
        "lam_path",
    ],
    "sources": [
        "ParquetRows",
    ],
    "autodiff": [
        "as_jax",
        "as_torch",
    ],
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}
_SUBMODULES = [
    "baselines",
    "cluster_metrics",
    "datasets",
    "dependence",
    "models",
    "objective",
    "penalties",
    "smooth_penalties",
    "solvers",
    "stochastic",
    *_PUBLIC,
]

__all__ = ["__version__", *_MODULE_OF, *_SUBMODULES]


def __getattr__(name):
    if name in _SUBMODULES:
        return import_module(f"renyi_lib.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(f"renyi_lib.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'renyi_lib' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
