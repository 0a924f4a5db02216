"""The fair neural network: the table of appendix F."""

import time

import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._measures import measures
from renyi_book.experiments._splits import FRESH, encoded_splits
from renyi_lib.baselines import RenyiNetworkClassifier


def fair_network(
    *,
    lams=(0, 1, 3, 10),
    hidden=12,
    batch_size=128,
    epochs=50,
    learning_rate=0.001,
    seeds=FRESH,
    progress=True,
):
    """A network of one hidden layer on Adult, plain and regularised (Table 1).

    Parameters
    ----------
    lams : sequence of float
        The paper does not say which it took.
    hidden, batch_size, epochs : int
        The paper's.
    learning_rate : float, default=0.001
        Of Adam; the paper names neither.
    seeds : iterable of int
        Start and shuffling, on the paper's split.
    progress : bool, default=True

    Returns
    -------
    DataFrame
        ``dataset, split, seed, lam, rows``, the measures, and ``cpu_seconds`` of the fit, the
        one column that changes from run to run.

    Examples
    --------
    >>> from renyi_book.experiments import fair_network
    >>> table = fair_network(lams=[0], epochs=1, seeds=[0], progress=False)
    >>> table["rows"].tolist()
    ['train', 'test']
    """
    ((where, data),) = encoded_splits("adult", [])
    found = []
    pairs = [(seed, lam) for seed in seeds for lam in lams]
    for seed, lam in tqdm(pairs, desc="network", disable=not progress, leave=False):
        network = RenyiNetworkClassifier(
            lam,
            hidden=hidden,
            batch_size=batch_size,
            epochs=epochs,
            learning_rate=learning_rate,
            random_state=seed,
        )
        began = time.process_time()
        network.fit(data["train"].X, data["train"].y, sensitive_features=data["train"].s)
        seconds = time.process_time() - began
        place = where | {"seed": int(seed), "lam": float(lam)}
        for rows, (X, y, s) in data.items():
            score = network.predict_proba(X)[:, 1]
            values = measures(y, (score > 0.5).astype(int), s, score)
            found.append(place | {"rows": rows} | values | {"cpu_seconds": seconds})
    return pd.DataFrame(found)
