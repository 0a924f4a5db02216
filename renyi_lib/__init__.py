"""Rényi fair inference: maximal correlation, fair classifiers, fair k-means.

The library behind the book *Rényi Fair Inference, executed*. What a user needs is importable from
here; the parts that it is made of (models, objective, solvers, the adversary's moves) are in
their modules. A module is loaded when one of its names is first used, so that `import renyi_lib`
is quick.
"""

from importlib import import_module

from renyi_lib._version import __version__

_PUBLIC = {
    "correlation": [
        "maximal_functions",
        "renyi_binary",
        "renyi_correlation",
        "renyi_from_joint",
        "renyi_from_soft",
    ],
    "dependence": [
        "hsic",
        "normalized_mutual_information",
        "pearson_correlation",
    ],
    "continuous": [
        "continuous_correlation",
        "continuous_interval",
        "continuous_test",
    ],
    "autodiff": [
        "as_jax",
        "as_torch",
        "damped_as_jax",
    ],
    "classification": [
        "NoSensitiveFeaturesWarning",
        "PenalizedClassifier",
        "RenyiClassifier",
    ],
    "boosting": [
        "RenyiBoostingClassifier",
        "RenyiBoostingRegressor",
        "renyi_objective",
    ],
    "tuning": [
        "DegenerateModelWarning",
        "MetricMismatchWarning",
        "RenyiClassifierCV",
        "TargetNotReachedError",
        "fit_to_target",
        "lam_path",
    ],
    "cluster_metrics": [
        "balance",
        "cluster_penalty",
        "cluster_proportions",
        "proportion_summary",
        "weighted_deviation",
    ],
    "clustering": [
        "RenyiKMeans",
        "renyi_kmeans_objective",
        "tradeoff_table",
    ],
    "inference": [
        "difference_interval",
        "fairness_interval",
        "renyi_interval",
        "renyi_test",
        "sample_size",
    ],
    "metrics": [
        "demographic_parity_violation",
        "equal_opportunity_violation",
        "equalized_odds_violation",
        "group_rates",
        "p_rule",
    ],
    "penalties": [
        "BinaryRenyiPenalty",
        "ChiSquarePenalty",
        "ConditionalPenalty",
        "HSICPenalty",
        "PearsonPenalty",
        "RenyiPenalty",
        "ScoreBinsPenalty",
        "TablePenalty",
    ],
    "regression": [
        "RenyiRegressor",
    ],
    "report": [
        "FairnessReport",
        "fairness_report",
    ],
    "scorers": [
        "fairness_scorer",
        "renyi_dependence",
    ],
    "smooth_penalties": [
        "ContinuousRenyiPenalty",
        "PredictionPenalty",
    ],
    "postprocessing": [
        "BiasScoreClassifier",
        "ToleranceNotReachedWarning",
    ],
    "tables": [
        "JointTable",
        "joint_table",
    ],
    "sources": [
        "ParquetRows",
    ],
    "stochastic": [
        "BatchTable",
        "Fermi",
        "RunningTable",
    ],
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}
_SUBMODULES = [
    "baselines",
    "datasets",
    "models",
    "objective",
    "solvers",
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
