"""Apply fair-kmeans to prepared points; run by `speed.py` in the environment of fair-kmeans.

This script needs ``fair-kmeans``, whose last release requires numpy below 2, and nothing of this
library. Its argument is an ``.npz`` file with ``X`` and ``s``. It prints seconds of processor
time, labels and the version of fair-kmeans as JSON.
"""

import json
import sys
import time
from importlib.metadata import version

import numpy as np
from fair_kmeans import FairKMeans

given = np.load(sys.argv[1])
model = FairKMeans(n_clusters=10, n_init=1, random_state=0)
began = time.process_time()
model.fit(given["X"], color=given["s"])
seconds = time.process_time() - began
found = {"seconds": seconds, "labels": model.labels_.tolist(), "version": version("fair-kmeans")}
print(json.dumps(found))
