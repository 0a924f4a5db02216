"""Baselines of the paper's experiments and its neural network, one module each.

All of them are scikit-learn classifiers with ``fit(X, y, *, sensitive_features)`` and
``predict(X, *, sensitive_features=None)``. Two of them, `HardtClassifier` and `RezaeiClassifier`,
treat the groups differently in predictions, too, and therefore require ``sensitive_features``
there; the others ignore it. (Pearson's correlation and HSIC as penalties are available as
`PenalizedClassifier` with `PearsonPenalty` and `HSICPenalty`.)
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
