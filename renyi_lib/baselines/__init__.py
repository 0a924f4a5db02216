"""The baselines of the paper's experiments and its neural network, one file each.

All are scikit-learn classifiers with ``fit(X, y, *, sensitive_features)``, and all predict by
``predict(X, *, sensitive_features=None)``. Two of them treat the groups apart also when they
predict, and need ``sensitive_features`` there: `HardtClassifier` and `RezaeiClassifier`. The
others do not look at it. (Pearson's correlation and HSIC as penalties are `PenalizedClassifier`
with `PearsonPenalty` and `HSICPenalty`.)
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
