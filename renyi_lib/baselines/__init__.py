"""Baselines of the paper's experiments and its neural network, with one module for each.

All of them are scikit-learn classifiers with ``fit(X, y, *, sensitive_features)`` and
``predict(X, *, sensitive_features=None)``. Two of them, `HardtClassifier` and `RezaeiClassifier`,
treat the groups differently in predictions as well, so they require ``sensitive_features`` in
`predict`, whereas the other classifiers ignore it there. For the penalties with Pearson's
correlation and HSIC, use `PenalizedClassifier` with `PearsonPenalty` and `HSICPenalty`.
"""

from renyi_lib.baselines.donini import DoniniClassifier
from renyi_lib.baselines.hardt import HardtClassifier
from renyi_lib.baselines.neural_network import RenyiNetworkClassifier
from renyi_lib.baselines.rezaei import RezaeiClassifier
from renyi_lib.baselines.zafar import ZafarClassifier

__all__ = [
    "DoniniClassifier",
    "HardtClassifier",
    "RenyiNetworkClassifier",
    "RezaeiClassifier",
    "ZafarClassifier",
]
