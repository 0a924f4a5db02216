"""Fair classification: Fig. 1 (equal opportunity), Fig. 2 (penalties), Fig. 6 and appendix D."""

import numpy as np
import pandas as pd
from scipy.special import expit
from tqdm import tqdm

from renyi_book.experiments._measures import measures
from renyi_book.experiments._numbered import NumberedHSICPenalty, NumberedPearsonPenalty
from renyi_book.experiments._splits import FRESH, encoded_splits
from renyi_lib.baselines import (
    DoniniClassifier,
    HardtClassifier,
    RezaeiClassifier,
    ZafarClassifier,
)
from renyi_lib.baselines._base import BinaryFairClassifier
from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.penalties import HSICPenalty, PearsonPenalty, ScoreBinsPenalty
from renyi_lib.tuning import lam_path

# Penalties to compare, with the factor that multiplies lam, because HSIC is not normalized and
# takes much smaller values than a squared correlation.
PENALTIES = {
    "renyi": (RenyiClassifier(), 1),
    "pearson": (PenalizedClassifier(PearsonPenalty()), 1),
    "hsic-linear": (PenalizedClassifier(HSICPenalty(kernel="linear")), 10),
    "hsic-gaussian": (PenalizedClassifier(HSICPenalty()), 10),
    # The objective is so flat that a fit with the default tolerance ends too early at lam = 50.
    "score-bins": (PenalizedClassifier(ScoreBinsPenalty(), tol=1e-6), 1),
    "pearson-number": (PenalizedClassifier(NumberedPearsonPenalty()), 1),
    "hsic-number": (PenalizedClassifier(NumberedHSICPenalty()), 10),
}
# Penalties that treat the group's number as a quantity, for more than two groups.
NUMBERED = ("pearson-number", "hsic-number")
# Our own penalty, which is not in the paper, affects no claim and takes the longest to compute.
OWN = "score-bins"
# Values of lam in the authors' plotting script for Fig. 1 (a), and some larger ones.
CODE_LAMS = (0, 4, 5, 6, 8, 20, 22, 30, 40, 60, 160, 600, 1000, 3000, 10000)


def starting_points(
    *, datasets=("adult", "bank", "german", "adult-gender-race"), seeds=FRESH, progress=True
):
    """Measure how unfair logistic regression is without any penalty (appendix D).

    Parameters
    ----------
    datasets : sequence of str
        Data sets, among "adult", "bank", "german" and "adult-gender-race".
    seeds : iterable of int
        Seeds of the random splits, in addition to the paper's split.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, split, seed, lam, rows`` and the measures.

    Examples
    --------
    >>> from renyi_book.experiments import starting_points
    >>> table = starting_points(datasets=["german"], seeds=[], progress=False)
    >>> table[["rows", "dp_violation"]].round(2).values.tolist()
    [['train', 0.15], ['test', 0.06]]
    """
    runs = [
        _measured(where | {"lam": 0.0}, PenalizedClassifier(lam=0.0), data)
        for name in datasets
        for where, data in _bar(encoded_splits(name, seeds), name, 1 + len(seeds), progress)
    ]
    return _tidy(runs)


def equal_opportunity(
    *,
    lams=(0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 30, 100, 300, 1000),
    code_lams=CODE_LAMS,
    seeds=FRESH,
    progress=True,
):
    """Measure equality of opportunity on Adult over lam (Fig. 1 (a), (b)).

    There are two recipes. "paper" minimizes mean loss + lam * rho_R^2(Ŷ, S | Y = 1). "code"
    minimizes the function that the authors' program effectively minimizes, with lam in the
    program's units. The program's adversary is a least-squares fit, so the program penalizes the
    squared Pearson correlation of the *score* and S given Y = 1. Relative to the mean loss, the
    weight of this penalty is

        lam * P(Y = 1) * q (1 - q) / 2,      q = P(S = 1 | Y = 1).

    Parameters
    ----------
    lams : sequence of float
        Values of lam for the recipe "paper".
    code_lams : sequence of float
        Values of lam for the recipe "code".
    seeds : iterable of int
        Seeds of the random splits, in addition to the paper's split.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``recipe, dataset, split, seed, lam, rows`` and the measures.

    Examples
    --------
    >>> from renyi_book.experiments import equal_opportunity
    >>> table = equal_opportunity(lams=[0, 1], code_lams=[], seeds=[], progress=False)
    >>> table.query("rows == 'test'")[["lam", "accuracy", "eo_violation"]].round(2).values.tolist()
    [[0.0, 0.85, 0.06], [1.0, 0.85, 0.01]]
    """
    fairness = "equal_opportunity"
    runs = []
    for where, data in _bar(encoded_splits("adult", seeds), "EO", 1 + len(seeds), progress):
        runs += _path(
            where | {"recipe": "paper"}, RenyiClassifier(fairness=fairness), data, lams, lams
        )
        _, y, s = data["train"]
        q = s[y == 1].mean()
        unit = y.mean() * q * (1 - q) / 2
        ours = [lam * unit for lam in code_lams]
        runs += _path(
            where | {"recipe": "code"},
            PenalizedClassifier(PearsonPenalty(), fairness=fairness),
            data,
            ours,
            code_lams,
        )
    return _tidy(runs)


def equal_opportunity_rivals(
    *,
    renyi_lams=(0.3, 1, 3, 10, 100),
    zafar_c=(0.1, 0.05, 0.02, 0.01, 0.0),
    seeds=FRESH,
    progress=True,
):
    """Measure equality of opportunity on Adult for every method of Fig. 1 (c).

    Hardt's randomized decisions enter the measures with their probabilities.

    Parameters
    ----------
    renyi_lams : sequence of float
        Values of lam for the Rényi penalty.
    zafar_c : sequence of float
        Bounds on the covariance of the log-odds and S given Y = 1.
    seeds : iterable of int
        Seeds of the random splits, in addition to the paper's split.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``method, dataset, split, seed, lam, rows`` and the measures. For Zafar's method,
        ``lam`` is the bound c; for the methods of Hardt, Rezaei and Donini it is NaN.

    Examples
    --------
    >>> from renyi_book.experiments import equal_opportunity_rivals
    >>> table = equal_opportunity_rivals(renyi_lams=[1], seeds=[], progress=False)
    >>> sorted(table["method"].unique())
    ['donini', 'hardt', 'plain', 'renyi', 'rezaei', 'zafar']
    """
    fairness = "equal_opportunity"
    others = [
        ("plain", 0.0, PenalizedClassifier(lam=0.0)),
        ("hardt", np.nan, HardtClassifier(fairness=fairness)),
        *(("zafar", c, ZafarClassifier(c, fairness=fairness)) for c in zafar_c),
        ("rezaei", np.nan, RezaeiClassifier(fairness=fairness)),
        ("donini", np.nan, DoniniClassifier(fairness=fairness)),
    ]
    runs = []
    for where, data in _bar(encoded_splits("adult", seeds), "rivals", 1 + len(seeds), progress):
        for method, lam, classifier in others:
            runs.append(_measured(where | {"method": method, "lam": lam}, classifier, data))
        renyi = RenyiClassifier(fairness=fairness)
        runs += _path(where | {"method": "renyi"}, renyi, data, renyi_lams, renyi_lams)
    return _tidy(runs)


def penalties_compared(
    dataset="adult",
    *,
    penalties=tuple(name for name in PENALTIES if name not in NUMBERED),
    lams=(0, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100, 300, 1000),
    seeds=FRESH,
    own_splits=10,
    progress=True,
):
    """Measure accuracy and fairness over lam for each penalty (a panel of Fig. 2; NMI for Fig. 6).

    Parameters
    ----------
    dataset : {"adult", "bank", "german", "adult-gender-race"}
        Data set and sensitive attribute.
    penalties : sequence of str
        Penalties, among "renyi", "pearson", "hsic-linear", "hsic-gaussian" and "score-bins", and
        "pearson-number" and "hsic-number", which treat the group's number as a quantity.
    lams : sequence of float
        Weights of the penalty. HSIC, which is not normalized, gets ten times these weights.
    seeds : iterable of int
        Seeds of the random splits, in addition to the paper's split.
    own_splits : int, default=10
        Number of random splits for "score-bins", which is the book's own penalty and not the
        paper's. It is also fitted on the paper's split.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``method, dataset, split, seed, lam, rows`` and the measures; for HSIC, ``lam`` is
        the weight used, ten times that in `lams`.

    Examples
    --------
    >>> from renyi_book.experiments import penalties_compared
    >>> table = penalties_compared(
    ...     "german", penalties=["renyi"], lams=[0, 10], seeds=[], progress=False
    ... )
    >>> table.query("rows == 'train'")["soft_rho_R"].round(2).tolist()
    [0.04, 0.02]
    """
    unknown = set(penalties) - set(PENALTIES)
    if unknown:
        raise ValueError(f"penalties must be among {list(PENALTIES)}, not {sorted(unknown)}")
    splits = encoded_splits(dataset, seeds)
    runs = []
    for number, (where, data) in enumerate(_bar(splits, dataset, 1 + len(seeds), progress)):
        for method in penalties:
            if method == OWN and number > own_splits:
                continue
            classifier, unit = PENALTIES[method]
            used = [unit * lam for lam in lams]
            runs += _path(where | {"method": method}, classifier, data, used, used)
    return _tidy(runs)


def boundary_covariance(
    dataset="adult",
    *,
    c=(0.1, 0.03, 0.01, 0.0),
    l2=(0.0, 1e-6, 1e-4, 1e-2),
    seeds=FRESH,
    progress=True,
):
    """Measure the effect of a bound on the covariance of log-odds and S (Zafar; Fig. 2, sec. 6).

    Parameters
    ----------
    dataset : {"adult", "bank"}
        Data set.
    c : sequence of float
        Bounds on the covariance of the log-odds and S; 0 allows no covariance.
    l2 : sequence of float
        Weights of the ridge penalty.
    seeds : iterable of int
        Seeds of the random splits, in addition to the paper's split.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, split, seed, c, l2, rows`` and the measures.

    Examples
    --------
    >>> from renyi_book.experiments import boundary_covariance
    >>> table = boundary_covariance("bank", c=[0.0], l2=[1e-4], seeds=[], progress=False)
    >>> table[["rows", "c", "l2"]].values.tolist()
    [['train', 0.0, 0.0001], ['test', 0.0, 0.0001]]
    """
    splits = encoded_splits(dataset, seeds)
    runs = [
        _measured(where | {"c": bound, "l2": ridge}, ZafarClassifier(bound, l2=ridge), data)
        for where, data in _bar(splits, f"{dataset}, covariance", 1 + len(seeds), progress)
        for ridge in l2
        for bound in c
    ]
    return _tidy(runs)


def _path(where, classifier, data, lams, names):
    """Compute the measures along a path of lam; `names` are the values of lam in the table."""
    X, y, s = data["train"]
    path = lam_path(classifier, X, y, sensitive_features=s, lams=lams)
    return _along([where | {"lam": float(name)} for name in names], path, data)


def _along(places, path, data):
    """Compute `_measures_of` for logistic regressions by one product for each set of rows."""
    if not path:
        return []
    coef = np.concatenate([fitted.coef_ for fitted in path])
    intercept = np.array([fitted.intercept_ for fitted in path])
    found = [[] for _ in path]
    for rows, (X, y, s) in data.items():
        scores = expit(coef @ X.T + intercept)
        for run, where, score in zip(found, places, scores):
            decision = (score > 0.5).astype(int)
            run.append(where | {"rows": rows} | measures(y, decision, s, score))
    return found


def _measured(where, classifier, data):
    X, y, s = data["train"]
    return _measures_of(where, classifier.fit(X, y, sensitive_features=s), data)


def _measures_of(where, fitted, data):
    """Compute the measures of a fitted classifier on all sets of rows in a split."""
    found = []
    for rows, (X, y, s) in data.items():
        decision, score = _decide(fitted, X, s)
        found.append(where | {"rows": rows} | measures(y, decision, s, score))
    return found


def _decide(fitted, X, s):
    """Return decisions (probabilities of 1 if they are randomized), and scores or None."""
    knows = {"sensitive_features": s} if isinstance(fitted, BinaryFairClassifier) else {}
    if getattr(fitted, "draws_label", False):
        return fitted.predict_proba(X, **knows)[:, 1], None
    if not hasattr(fitted, "predict_proba"):
        return fitted.predict(X, **knows), None
    score = fitted.predict_proba(X, **knows)[:, 1]
    return (score > 0.5).astype(int), score


def _bar(items, what, total, progress):
    return tqdm(items, desc=what, total=total, disable=not progress, leave=False)


def _tidy(runs):
    """Combine the rows of all runs, with key columns first."""
    table = pd.DataFrame([row for run in runs for row in run])
    keys = ["method", "recipe", "dataset", "split", "seed", "lam", "c", "l2", "rows"]
    keys = [key for key in keys if key in table]
    values = [column for column in table if column not in keys]
    return table[keys + sorted(values, key=_is_of_a_group)]


def _is_of_a_group(column):
    """Return whether a column refers to one group; such columns go last."""
    return column[-1].isdigit()
