"""fair-kmeans on prepared points: run by `speed.py`, with the Python that fair-kmeans lives in.

It needs ``fair-kmeans``, whose last release wants numpy below 2, and nothing of this library. For
the file ``.npz`` that is named (``X, s``) it prints, as JSON, seconds of processor time, labels
and the version.
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
