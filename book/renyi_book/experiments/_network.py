"""The fair neural network: the table of appendix F."""

import time

import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._measures import measures
from renyi_book.experiments._splits import panel
from renyi_lib.baselines import RenyiNetworkClassifier


def fair_network(
    *,
    lams=(0, 1, 3, 10),
    hidden=12,
    batch_size=128,
    epochs=50,
    learning_rate=0.001,
    seeds=range(5),
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
    dataset, sensitive = panel("adult")
    data = dataset.encode(sensitive=sensitive, scaling="standard")
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
        network.fit(data.X_train, data.y_train, sensitive_features=data.s_train)
        seconds = time.process_time() - began
        where = {"dataset": "adult", "split": "paper", "seed": int(seed), "lam": float(lam)}
        for rows in ("train", "test"):
            X, y, s = (getattr(data, f"{name}_{rows}") for name in "Xys")
            score = network.predict_proba(X)[:, 1]
            values = measures(y, (score > 0.5).astype(int), s, score)
            found.append(where | {"rows": rows} | values | {"cpu_seconds": seconds})
    return pd.DataFrame(found)
