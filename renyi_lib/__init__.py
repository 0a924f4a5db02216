"""Rényi fair inference: maximal correlation, fair classifiers, fair k-means.

The library behind the book *Rényi Fair Inference, executed*. Everything public is importable from
here; a module is loaded when one of its names is first used, so that `import renyi_lib` is quick
and does not need matplotlib or numba.
"""

from importlib import import_module

from renyi_lib._version import __version__

_PUBLIC = {
    "correlation": [
        "hsic",
        "joint_table",
        "maximal_functions",
        "normalised_table",
        "normalized_mutual_information",
        "pearson_correlation",
        "renyi_binary",
        "renyi_correlation",
        "renyi_from_joint",
        "renyi_from_soft",
    ],
    "classification": [
        "FairObjective",
        "NoSensitiveFeaturesWarning",
        "PenalizedClassifier",
        "RenyiClassifier",
        "SoftmaxModel",
        "TargetNotReachedError",
        "fit_to_target",
        "gradient_descent",
        "lbfgs",
        "renyi_path",
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
        "renyi_kmeans_path",
        "tradeoff_table",
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
        "ConditionalPenalty",
        "Groups",
        "HSICPenalty",
        "PearsonPenalty",
        "RenyiPenalty",
        "ScoreBinsPenalty",
        "best_response_v",
        "best_response_w",
        "renyi_given_v",
        "renyi_given_w",
    ],
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}
_SUBMODULES = ["baselines", "checks", "datasets", "experiments", "plotting", "scorecard", *_PUBLIC]

__all__ = ["__version__", *_MODULE_OF, *_SUBMODULES]


def __getattr__(name):
    if name in _SUBMODULES:
        return import_module(f"renyi_lib.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(f"renyi_lib.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'renyi_lib' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
