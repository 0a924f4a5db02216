"""The other systems of the paper's experiments, its rivals and its neural network, one file each.

All are scikit-learn classifiers with ``fit(X, y, *, sensitive_features)``. Two of them treat the
groups apart also when they predict, and need ``sensitive_features`` there too: `HardtClassifier`
and `RezaeiClassifier`.
"""

from renyi_lib.baselines.donini import DoniniClassifier
from renyi_lib.baselines.hardt import HardtClassifier
from renyi_lib.baselines.hsic import HSICClassifier
from renyi_lib.baselines.neural_network import RenyiNetworkClassifier
from renyi_lib.baselines.pearson import PearsonClassifier
from renyi_lib.baselines.rezaei import RezaeiClassifier
from renyi_lib.baselines.zafar import ZafarClassifier

__all__ = [
    "DoniniClassifier",
    "HSICClassifier",
    "HardtClassifier",
    "PearsonClassifier",
    "RenyiNetworkClassifier",
    "RezaeiClassifier",
    "ZafarClassifier",
]
