"""Smoke test of an installed renyi_lib, without extras and without the repository."""

import importlib.metadata
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn

import renyi_lib as r
from renyi_lib.datasets import load_adult, load_bank, load_german

assert "site-packages" in r.__file__, f"imported {r.__file__}, not the installed package"
assert importlib.metadata.version("renyi-lib") == r.__version__
assert Path(r.__file__).with_name("py.typed").exists()

# Theorem 2: with binary variables the correlation is the absolute value of Pearson's.
rng = np.random.default_rng(0)
a, b = rng.integers(2, size=(2, 1000))
np.testing.assert_allclose(r.renyi_correlation(a, b), abs(np.corrcoef(a, b)[0, 1]), atol=1e-10)

for load, rows in ((load_bank, 10_000), (load_german, 500)):
    assert len(load().encode(scaling="standard").y_train) > rows
data = load_adult().encode(scaling="standard")
groups = data.s_train
ratios = {}
for lam in (0, 3):
    model = r.RenyiClassifier(lam=lam).fit(data.X_train, data.y_train, sensitive_features=groups)
    y_pred = model.predict(data.X_train)
    ratios[lam] = r.demographic_parity_ratio(None, y_pred, sensitive_features=groups)
assert ratios[0] < 0.4 < 0.7 < ratios[3] <= 1, ratios

interval = r.renyi_interval(a, b)
assert interval.low <= r.renyi_correlation(a, b) <= interval.high
report = r.fairness_report(data.y_train, y_pred, sensitive_features=groups)
assert "demographic_parity_ratio" in str(report)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # without numba, k-means warns that it is slow
    r.RenyiKMeans(3, 1.0, random_state=0).fit(data.X_train[:100], sensitive_features=groups[:100])

python = ".".join(map(str, sys.version_info[:3]))
print(
    f"{sys.argv[1]:8}  renyi-lib {r.__version__} works with Python {python}, "
    f"numpy {np.__version__}, scipy {scipy.__version__}, pandas {pd.__version__}, "
    f"scikit-learn {sklearn.__version__}"
)
