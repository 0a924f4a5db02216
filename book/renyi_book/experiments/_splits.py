"""The paper's split of a data set, and random ones of the same sizes."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from renyi_lib.datasets import load_adult, load_bank, load_german

# Random splits and starts of every stored table. Seeds 0 to 4 were looked at while the rules of
# the scorecard were written, and are burnt: what weighs the claims is drawn from these alone.
FRESH = range(100, 130)
# The same for the multiverse, which must not lend its luck to the tables above, nor they theirs.
FRESH_MULTIVERSE = range(130, 136)
# Each panel of Fig. 2 (classification): the data set and what S is.
PANELS = {
    "adult": (load_adult, "gender"),
    "bank": (load_bank, "married"),
    "german": (load_german, "gender-marital"),
    "adult-gender-race": (load_adult, "gender-race"),
}


class Rows(NamedTuple):
    """Features, label and groups of some rows."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray


class Sizes(NamedTuple):
    """How many rows a random split has of each kind."""

    train: int
    validation: int
    test: int


def sizes(name):
    """How many rows a random split of a panel is fitted on, tuned on and tested on.

    As many test rows as the paper has; of the others four fifths are training rows.

    Parameters
    ----------
    name : {"adult", "bank", "german", "adult-gender-race"}

    Returns
    -------
    Sizes
        A named tuple ``(train, validation, test)``.

    Examples
    --------
    >>> from renyi_book.experiments import sizes
    >>> sizes("german")
    Sizes(train=640, validation=160, test=200)
    """
    dataset, _ = panel(name)
    train = len(dataset.train) * 4 // 5
    return Sizes(train, len(dataset.train) - train, len(dataset.test))


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
    order = _order(len(rows), seed)
    n = len(dataset.train)
    return replace(dataset, train=rows.iloc[order[:n]], test=rows.iloc[order[n:]])


def panel(name):
    """The data set and the sensitive attribute of a panel."""
    if name not in PANELS:
        raise ValueError(f"dataset must be one of {', '.join(map(repr, PANELS))}, not {name!r}")
    load, sensitive = PANELS[name]
    return load(), sensitive


def split_rows(name, seed):
    """The numbers of the rows of each kind in a random split: those of `resplit`, the training
    rows divided in their drawn order into training and validation rows.

    Parameters
    ----------
    name : str
        A panel.
    seed : int

    Returns
    -------
    dict of str to ndarray of int
        "train", "validation" and "test".

    Examples
    --------
    >>> from renyi_book.experiments._splits import split_rows
    >>> {rows: len(numbers) for rows, numbers in split_rows("german", 0).items()}
    {'train': 640, 'validation': 160, 'test': 200}
    """
    counts = sizes(name)
    parts = np.split(_order(sum(counts), seed), np.cumsum(counts)[:2])
    return dict(zip(counts._fields, parts))


def encoded_splits(name, seeds, *, paper=True):
    """(where, rows) for the paper's split and then for a random one with each seed.

    `rows` has a `Rows` for "train", for "test" and, in a random split, for "validation". Columns
    are scaled by the mean and deviation of the training rows.
    """
    if paper:
        dataset, sensitive = panel(name)
        data = dataset.encode(sensitive=sensitive, scaling="standard")
        rows = {
            kind: Rows(*(getattr(data, f"{part}_{kind}") for part in "Xys"))
            for kind in ("train", "test")
        }
        yield {"dataset": name, "split": "paper", "seed": 0}, rows
    for seed in seeds:
        where = {"dataset": name, "split": "random", "seed": int(seed)}
        yield where, scaled(encoded_rows(name)[0], split_rows(name, seed), StandardScaler())


def scaled(everything, numbers, scaler):
    """The rows of each kind, their columns scaled by what is learnt from the training rows.

    A category that no training row has is left out, as `FairDataset.encode` would.
    """
    X, y, s = everything
    train = X[numbers["train"]]
    known = train.any(axis=0)
    scaler.fit(train[:, known])
    return {
        kind: Rows(scaler.transform(X[rows][:, known]), y[rows], s[rows])
        for kind, rows in numbers.items()
    }


@cache
def encoded_rows(name):
    """All rows of a panel in the order of its files, encoded and not scaled, and the columns."""
    dataset, sensitive = panel(name)
    rows = pd.concat([dataset.train, dataset.test], ignore_index=True)
    data = replace(dataset, train=rows, test=rows[:1]).encode(sensitive=sensitive)
    return Rows(data.X_train, data.y_train, data.s_train), data.feature_names


def _order(n, seed):
    return np.random.default_rng(seed).permutation(n)
