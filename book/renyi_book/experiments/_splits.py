"""The paper's split of a data set, and random ones of the same sizes."""

from dataclasses import replace

import numpy as np
import pandas as pd

from renyi_lib.datasets import load_adult, load_bank, load_german

# Each panel of Fig. 2 (classification): the data set and what S is.
PANELS = {
    "adult": (load_adult, "gender"),
    "bank": (load_bank, "married"),
    "german": (load_german, "gender-marital"),
    "adult-gender-race": (load_adult, "gender-race"),
}


def resplit(dataset, seed):
    """The data set with its training and test rows drawn anew, as many of each as before.

    Parameters
    ----------
    dataset : FairDataset
    seed : int

    Returns
    -------
    FairDataset

    Examples
    --------
    >>> from renyi_lib.datasets import load_german
    >>> from renyi_book.experiments import resplit
    >>> german = resplit(load_german(), seed=0)
    >>> len(german.train), len(german.test)
    (800, 200)
    """
    rows = pd.concat([dataset.train, dataset.test], ignore_index=True)
    order = np.random.default_rng(seed).permutation(len(rows))
    n = len(dataset.train)
    return replace(dataset, train=rows.iloc[order[:n]], test=rows.iloc[order[n:]])


def panel(name):
    """The data set and the sensitive attribute of a panel."""
    if name not in PANELS:
        raise ValueError(f"dataset must be one of {', '.join(map(repr, PANELS))}, not {name!r}")
    load, sensitive = PANELS[name]
    return load(), sensitive


def encoded_splits(name, seeds, scaling="standard"):
    """(where, arrays) for the paper's split and then for a random one with each seed."""
    dataset, sensitive = panel(name)
    yield (
        {"dataset": name, "split": "paper", "seed": 0},
        dataset.encode(sensitive=sensitive, scaling=scaling),
    )
    for seed in seeds:
        yield (
            {"dataset": name, "split": "random", "seed": int(seed)},
            resplit(dataset, seed).encode(sensitive=sensitive, scaling=scaling),
        )
