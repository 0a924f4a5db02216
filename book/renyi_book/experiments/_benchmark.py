"""Accuracy of fair classifiers at equal relaxation, including methods newer than the paper's.

The rules are in ``book/results/benchmark_protocol.md`` and were committed before any of the splits
below was sampled. A method gives a sequence of rules, from no constraint to its strictest setting.
Its accuracy is read on the test rows of each split, where the signed difference of the groups'
rates first falls to a level. Between two settings it is interpolated linearly, which corresponds
to a mixture of the two rules.
"""

import os
import subprocess
import time
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, TruePositiveRateParity
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from tqdm import tqdm

from renyi_book.experiments._boosting import _lightgbm
from renyi_book.experiments._fermi import _crossing
from renyi_book.experiments._splits import Rows
from renyi_lib.boosting import RenyiBoostingClassifier
from renyi_lib.classification import RenyiClassifier
from renyi_lib.datasets import load_adult, load_bank, load_census_income
from renyi_lib.postprocessing import BiasScoreClassifier, ToleranceNotReachedWarning

BENCHMARK_SEEDS = range(200, 230)
ROUNDS = 50
LEARNING_RATE = 0.2
PARITY, OPPORTUNITY = CRITERIA = ("demographic_parity", "equal_opportunity")


class Task(NamedTuple):
    """Data set with everything that the protocol fixes for it."""

    load: callable
    sensitive: str
    # Sign that makes the difference of rates, group 1 minus group 0, positive without constraint.
    sign: int
    # Smallest difference in accuracy that matters, in points.
    smallest: float
    # Levels of the difference of rates at which accuracy is read, by criterion.
    levels: dict
    # Bounds on the difference of rates for the reduction, by criterion; empty if it is not run.
    bounds: dict
    # Number of splits (the first ones) for methods in `TRAINED`, except for the reduction.
    splits_of_training: int


TASKS = {
    "adult": Task(
        load_adult,
        "gender",
        1,
        0.3,
        {PARITY: (0.10, 0.05, 0.02), OPPORTUNITY: (0.05, 0.02)},
        {PARITY: (0.05, 0.01)},
        30,
    ),
    "bank": Task(
        load_bank,
        "married",
        -1,
        0.3,
        {PARITY: (0.02, 0.01)},
        {PARITY: (0.01,)},
        30,
    ),
    "census-income": Task(
        load_census_income,
        "gender",
        1,
        0.1,
        {PARITY: (0.03, 0.02, 0.01), OPPORTUNITY: (0.10, 0.05, 0.02)},
        {},
        5,
    ),
}
SPLITS_OF_REDUCTION = 10

# Targets of post-processing, as fractions of the base model's difference on validation rows.
FRACTIONS = (0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0.0)
LAMS = {
    ("linear", PARITY): (1, 3, 10, 30),
    ("linear", OPPORTUNITY): (1, 10, 100),
    ("label", PARITY): (1, 3, 10, 30),
    ("label", OPPORTUNITY): (1, 10, 100),
    ("score", PARITY): (0.3, 1, 3, 10),
    ("score, S", PARITY): (0.3, 1, 3, 10),
}
TOLERANCES_OF_FAIRGBM = (0.05, 0.02, 0.01)

# Methods whose names end in S use the group in predictions, as do their base models.
TRAINED = ("linear", "label", "score", "score, S", "reduction", "FairGBM")
POSTPROCESSED = (
    "bias score",
    "plug-in",
    "bias score, S",
    "plug-in, S",
    "thresholds, S",
    "error-parity, S",
)
METHODS = ("unconstrained", "unconstrained, S", *TRAINED, *POSTPROCESSED)

MEASURES = ("accuracy", "balanced_accuracy", "auc")


class Peer(NamedTuple):
    """Method that runs in a separate environment."""

    # Name of the script in ``benchmarks``, without ``_peer.py``.
    script: str
    # Environment variable that contains the path of the environment's Python.
    variable: str


PEERS = {
    "FairGBM": Peer("fairgbm", "FAIRGBM_PYTHON"),
    "error-parity, S": Peer("error_parity", "ERROR_PARITY_PYTHON"),
}
ERROR_PARITY = dict(zip(CRITERIA, ("demographic_parity", "true_positive_rate_parity")))


def benchmark_frontier(
    *,
    datasets=tuple(TASKS),
    methods=METHODS,
    seeds=BENCHMARK_SEEDS,
    rounds=ROUNDS,
    progress=True,
):
    """Compute the accuracy of fair classifiers at equal relaxation by split, method and level.

    Parameters
    ----------
    datasets : sequence of {"adult", "bank", "census-income"}
        Data sets.
    methods : sequence of str
        Methods to compare. "FairGBM" and "error-parity, S" run in separate environments, whose
        Python paths are given by the variables FAIRGBM_PYTHON and ERROR_PARITY_PYTHON.
    seeds : iterable of int
        Seeds of the random splits. The protocol runs some methods only for the first few of
        `BENCHMARK_SEEDS`.
    rounds : int, default=50
        Number of trees of each model.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, criterion, level, method, seed``; the measures ``accuracy``,
        ``balanced_accuracy`` and ``auc`` where the method first reaches the level; ``start``, the
        signed difference of rates before any constraint; ``cpu_seconds`` of the whole frontier,
        including the base models of post-processing. Measures are NaN if the model without a
        constraint already meets the level, or if no setting does, and ``auc`` also if a rule
        without a score is involved. For the unconstrained models, ``level`` is NaN, and the
        measures are their own.
    """
    unknown = set(methods) - set(METHODS)
    if unknown:
        raise ValueError(f"methods must be among {list(METHODS)}, not {sorted(unknown)}")
    work = [(name, seed) for name in datasets for seed in seeds]
    found = []
    for name, seed in tqdm(work, "benchmark", disable=not progress, leave=False):
        found += split_frontier(name, seed, methods, rounds)
    return pd.DataFrame(found)


def split_frontier(name, seed, methods=METHODS, rounds=ROUNDS, *, keep=None, answers=None):
    """Compute the rows of `benchmark_frontier` for one split.

    Because the external methods take longer to import than to fit, they can be run for many
    splits at once. If `answers` (by method) are given, these results are used. Otherwise, if a
    folder `keep` is given, the external methods are not run, and their inputs are stored there.
    """
    task, split = TASKS[name], _Split(name, seed, rounds)
    found = []
    for method in methods:
        if not takes_part(method, task, seed):
            continue
        answer = None
        if method in PEERS and answers is None:
            given = peer_input(method, split)
            if keep is not None:
                np.savez(Path(keep) / PEERS[method].script / f"{seed}-{name}.npz", **given)
                continue
            answer = ask(method, given)
        elif method in PEERS:
            answer = answers[method]
        for criterion in task.levels:
            path = _path(method, criterion, split, task, answer)
            if path is None:
                continue
            rules, seconds = path
            key = {"dataset": name, "criterion": criterion, "method": method, "seed": seed}
            falling = np.array([split.difference(rule.decision, criterion) for rule in rules])
            falling *= task.sign
            values = np.array([split.measured(rule) for rule in rules])
            about = {"start": falling[0], "cpu_seconds": seconds}
            if method.startswith("unconstrained"):
                found.append(key | {"level": np.nan} | dict(zip(MEASURES, values[0])) | about)
                continue
            for level in task.levels[criterion]:
                read = np.full(len(MEASURES), np.nan)
                if falling[0] > level:
                    read = _crossing(falling, values, level)
                found.append(key | {"level": level} | dict(zip(MEASURES, read)) | about)
    return found


# --- One split -------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """Probability of the decision 1 for each test row, and a score if there is one."""

    decision: np.ndarray
    score: np.ndarray | None


class _Remembering(ClassifierMixin, BaseEstimator):
    """Fitted classifier that caches its predictions for each array."""

    def __init__(self, model):
        self.model, self.classes_, self._found = model, model.classes_, {}

    def fit(self, X, y):
        raise RuntimeError("the classifier is already fitted: do not call fit")

    def predict_proba(self, X):
        # Keep the array, so that no other array can get the same id.
        if id(X) not in self._found:
            self._found[id(X)] = X, self.model.predict_proba(X)
        return self._found[id(X)][1]

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)

    def __sklearn_is_fitted__(self):
        return True


class _Split:
    """Rows of one split, and the base models that several methods share, fitted once."""

    def __init__(self, name, seed, rounds):
        self.name, self.rounds = name, rounds
        everything = tree_rows(name)
        n = len(everything.y)
        self.numbers = dict(
            zip(
                ("train", "validation", "test"),
                np.split(np.random.default_rng(seed).permutation(n), [n * 6 // 10, n * 8 // 10]),
            )
        )
        self.train, self.validation, self.test = (
            Rows(*(part[rows] for part in everything)) for rows in self.numbers.values()
        )
        self._fitted, self._seeing = {}, {}

    def X(self, rows, sees):
        """Return the features of a set of rows, followed by the group if the model `sees` it."""
        X, _, s = getattr(self, rows)
        if not sees:
            return X
        if rows not in self._seeing:
            self._seeing[rows] = np.column_stack([X, s])
        return self._seeing[rows]

    def base(self, what):
        """Return a shared LightGBM, fitted on the training rows, and its fit's CPU seconds.

        `what` is "y"; "y, S", for the target y with S among the features; "S"; or "S, y = 1", for
        the target S on the rows with y = 1.
        """
        if what not in self._fitted:
            _, y, s = self.train
            X = self.X("train", what == "y, S")
            among = y == 1 if what == "S, y = 1" else slice(None)
            target = y if what.startswith("y") else s
            began = time.process_time()
            model = _trees(self.rounds).fit(X[among], target[among])
            self._fitted[what] = _Remembering(model), time.process_time() - began
        return self._fitted[what]

    def difference(self, decision, criterion, rows="test"):
        """Compute group 1's positive rate minus group 0's; given y = 1 for equal opportunity."""
        _, y, s = getattr(self, rows)
        among = np.ones(len(y), bool) if criterion == PARITY else y == 1
        return decision[among & (s == 1)].mean() - decision[among & (s == 0)].mean()

    def measured(self, rule):
        """Compute the measures of a rule on test rows."""
        y, decision = self.test.y, rule.decision
        right = np.where(y == 1, decision, 1 - decision)
        balanced = (right[y == 1].mean() + right[y == 0].mean()) / 2
        auc = np.nan if rule.score is None else roc_auc_score(y, rule.score)
        return right.mean(), balanced, auc


def takes_part(method, task, seed):
    """Return whether the protocol runs a method on this split."""
    number = seed - BENCHMARK_SEEDS.start
    if method == "reduction":
        return bool(task.bounds) and number < SPLITS_OF_REDUCTION
    if method == "FairGBM" and OPPORTUNITY not in task.levels:
        return False
    return method not in TRAINED or number < task.splits_of_training


def _path(method, criterion, split, task, answer):
    """Return a method's rules on test rows, starting without a constraint, and CPU seconds.

    If the protocol does not run the method for this criterion, return None.
    """
    if method in PEERS:
        return _path_of_peer(method, criterion, answer)
    if method in ("score", "score, S") and criterion == OPPORTUNITY:
        return None
    if method == "linear":
        return _linear(criterion, split)
    sees = method.endswith(", S")
    base, seconds = split.base("y, S" if sees else "y")
    score = base.predict_proba(split.X("test", sees))[:, 1]
    start = _Rule((score > 0.5).astype(float), score)
    if method.startswith("unconstrained"):
        return [start], seconds
    if method in ("label", "score", "score, S"):
        rules, seconds = _renyi(method, criterion, split, sees)
    elif method.startswith("bias score"):
        rules, own = _bias_score(criterion, split, base, sees)
        seconds += own
    elif method.startswith("plug-in"):
        rules, own = _plug_in(criterion, split, base, sees)
        seconds += own
    elif method == "thresholds, S":
        rules, own = _thresholds(criterion, split, base)
        seconds += own
    else:
        if criterion not in task.bounds:
            return None
        rules, seconds = _reduction(criterion, split, task.bounds[criterion])
    return [start, *rules], seconds


def _trees(rounds):
    """Return LightGBM with the tree parameters that all methods share."""
    return _lightgbm(rounds).set_params(learning_rate=LEARNING_RATE)


def _renyi(method, criterion, split, sees):
    X, y, s = split.X("train", sees), split.train.y, split.train.s
    model = RenyiBoostingClassifier(
        fairness=criterion,
        on="label" if method == "label" else "score",
        n_estimators=split.rounds,
        learning_rate=LEARNING_RATE,
        random_state=0,
    )
    return _by_lam(model, LAMS[method, criterion], X, y, s, split.X("test", sees))


def _linear(criterion, split):
    X_train, X_test = scaled_rows(split)
    lams = (0, *LAMS["linear", criterion])
    model = RenyiClassifier(fairness=criterion)
    return _by_lam(model, lams, X_train, split.train.y, split.train.s, X_test)


def _by_lam(model, lams, X, y, s, X_test):
    rules, seconds = [], 0.0
    for lam in lams:
        began = time.process_time()
        fitted = clone(model).set_params(lam=float(lam)).fit(X, y, sensitive_features=s)
        seconds += time.process_time() - began
        score = fitted.predict_proba(X_test)[:, 1]
        rules.append(_Rule((score > 0.5).astype(float), score))
    return rules, seconds


def _bias_score(criterion, split, base, sees):
    """Apply our post-processing to the shared models, with multipliers from validation rows."""
    _, y, s = split.validation
    X = split.X("validation", sees)
    if sees:
        groups, seconds = None, 0.0
    else:
        model, seconds = split.base("S" if criterion == PARITY else "S, y = 1")
        groups = FrozenEstimator(model)
    began = time.process_time()
    fair = BiasScoreClassifier(
        base,
        fairness=criterion,
        tolerance=1.0,
        sensitive_estimator=groups,
        use_sensitive_features=sees,
        prefit=True,
        random_state=0,
    ).fit(X, y, sensitive_features=s)
    seconds += time.process_time() - began
    start = abs(split.difference(base.predict(X), criterion, "validation"))
    X_test, known = split.X("test", sees), {}
    if sees:
        known["sensitive_features"] = split.test.s
    rules = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceNotReachedWarning)
        for fraction in FRACTIONS:
            score = fair.with_tolerance(fraction * start).predict_proba(X_test, **known)[:, 1]
            rules.append(_Rule((score > 0.5).astype(float), score))
    return rules, seconds


def _plug_in(criterion, split, base, sees):
    """Apply the rule of `_bias_score` in an independent implementation.

    The decision is 1 if eta - k bias > 1/2, with the base model's probability eta of y = 1. For
    each fraction, k is found by bisection on the validation rows.
    """
    seconds, of = 0.0, {}
    q = np.mean(split.train.s[split.train.y == 1] if criterion == OPPORTUNITY else split.train.s)
    for rows in ("validation", "test"):
        X, _, s = getattr(split, rows)
        eta = base.predict_proba(split.X(rows, sees))[:, 1]
        if not sees:
            model, seconds = split.base("S" if criterion == PARITY else "S, y = 1")
            s = model.predict_proba(X)[:, 1]
        bias = s / q - (1 - s) / (1 - q)
        of[rows] = eta, bias * eta if criterion == OPPORTUNITY else bias

    def decided(k, rows):
        eta, bias = of[rows]
        return eta - k * bias > 0.5

    def difference(k):
        return split.difference(decided(k, "validation"), criterion, "validation")

    rules, start = [], difference(0.0)
    for fraction in FRACTIONS:
        low, high = 0.0, np.sign(start)
        for _ in range(25):
            k = (low + high) / 2
            low, high = (
                (k, high) if difference(k) * np.sign(start) > fraction * abs(start) else (low, k)
            )
        eta, bias = of["test"]
        rules.append(_Rule(decided(high, "test").astype(float), eta - high * bias))
    return rules, seconds


def _thresholds(criterion, split, base):
    """Apply fairlearn's group thresholds, which make the rates equal on the validation rows.

    Interpolation between the unconstrained model and this rule gives the relaxations.
    """
    X, y, s = split.X("validation", True), split.validation.y, split.validation.s
    began = time.process_time()
    fair = ThresholdOptimizer(
        estimator=base,
        constraints="demographic_parity" if criterion == PARITY else "true_positive_rate_parity",
        prefit=True,
        predict_method="predict_proba",
        objective="accuracy_score",
    ).fit(X, y, sensitive_features=s)
    seconds = time.process_time() - began
    decision = fair._pmf_predict(split.X("test", True), sensitive_features=split.test.s)[:, 1]
    return [_Rule(decision, None)], seconds


def _reduction(criterion, split, bounds):
    """Fit a mixture of LightGBM models under each bound on the difference of the groups' rates."""
    constraint = DemographicParity if criterion == PARITY else TruePositiveRateParity
    rules, seconds = [], 0.0
    for bound in bounds:
        began = time.process_time()
        mixture = ExponentiatedGradient(
            _trees(split.rounds), constraint(difference_bound=bound), max_iter=5
        )
        mixture.fit(split.train.X, split.train.y, sensitive_features=split.train.s)
        seconds += time.process_time() - began
        rules.append(_Rule(mixture._pmf_predict(split.test.X)[:, 1], None))
    return rules, seconds


# --- External methods in separate environments ---------------------------------------------------


def peer_input(method, split):
    """Return an external script's input for a split, with the scores at the start of its path."""
    sees = method.endswith(", S")
    base, seconds = split.base("y, S" if sees else "y")
    score = base.predict_proba(split.X("test", sees))[:, 1]
    given = {"start": score, "base_seconds": seconds}
    if method == "FairGBM":
        given |= {f"{part}_train": values for part, values in zip("Xys", split.train)}
        given |= {"X_validation": split.validation.X[:1], "X_test": split.test.X}
        given |= {"rounds": split.rounds, "learning_rate": LEARNING_RATE}
        return given | {"tolerances": TOLERANCES_OF_FAIRGBM, "kinds": [OPPORTUNITY]}
    X = split.X("validation", True)
    starts = [abs(split.difference(base.predict(X), c, "validation")) for c in CRITERIA]
    given |= {"score_validation": base.predict_proba(X)[:, 1], "y_validation": split.validation.y}
    given |= {"s_validation": split.validation.s, "score_test": score, "s_test": split.test.s}
    constraints = [ERROR_PARITY[criterion] for criterion in CRITERIA]
    return given | {"constraints": constraints, "tolerances": np.outer(starts, FRACTIONS)}


def ask(method, given):
    """Run an external method on one split, and return its result."""
    with TemporaryDirectory() as folder:
        np.savez(Path(folder, "0.npz"), **given)
        run_peer(method, folder)
        return read_answer(method, Path(folder, "0.npz"))


def run_peer(method, folder):
    """Run a method's external script on a folder, with the Python of its environment."""
    python = os.environ.get(PEERS[method].variable)
    if not python:
        raise RuntimeError(
            f"the environment variable {PEERS[method].variable} is not set: set it to the path of "
            f"the Python that runs {method!r}"
        )
    script = Path(__file__).parents[3] / "benchmarks" / f"{PEERS[method].script}_peer.py"
    # Remove PYTHONPATH, so that the external environment does not import from this one.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["OMP_NUM_THREADS"] = "1"
    subprocess.run([python, script, folder], check=True, env=environment)


def read_answer(method, path):
    """Read an external method's result for a split, given the path of the split's input."""
    given = np.load(path)
    answer = np.load(path.with_suffix(f".{PEERS[method].script}.npz"))
    return dict(answer) | {name: given[name] for name in ("start", "base_seconds")}


def _path_of_peer(method, criterion, answer):
    start = _Rule((answer["start"] > 0.5).astype(float), answer["start"])
    if method == "FairGBM":
        if criterion == PARITY:
            return None
        rules = [_Rule((score > 0.5).astype(float), score) for score in answer["test"]]
        return [start, *rules], float(answer["seconds"].sum())
    rules = [_Rule(decision, None) for decision in answer[ERROR_PARITY[criterion]]]
    seconds = answer[f"{ERROR_PARITY[criterion]}_seconds"] + answer["base_seconds"]
    return [start, *rules], float(seconds)


# --- Rows ------------------------------------------------------------------------------------


@cache
def tree_rows(name):
    """Return all rows of a data set for trees; X has integer codes for categories, and no S."""
    task = TASKS[name]
    dataset, frame = _frame(name)
    hidden = {grouping.column for grouping in dataset.sensitive_choices[task.sensitive]}
    columns = [
        frame[c].to_numpy(dtype=float)
        if pd.api.types.is_numeric_dtype(frame[c])
        else OrdinalEncoder().fit_transform(frame[[c]])[:, 0]
        for c in dataset.features
        if c not in hidden
    ]
    y = (frame[dataset.target] == dataset.positive).to_numpy(dtype=int)
    return Rows(np.column_stack(columns), y, _groups(name, dataset, frame))


def scaled_rows(split):
    """Return the scaled features of training and test rows for linear models.

    Columns that are constant on the training rows are left out.
    """
    X, rows = linear_rows(split.name), split.numbers
    scaler = StandardScaler(with_mean=False).fit(X[rows["train"]])
    known = np.flatnonzero(scaler.var_ > 0)
    return [scaler.transform(X[rows[kind]])[:, known] for kind in ("train", "test")]


@cache
def linear_rows(name):
    """Return the features of all rows for linear models, sparse, with indicators and unscaled."""
    dataset, frame = _frame(name)
    data = replace(dataset, train=frame, test=frame[:1])
    return data.encode(sensitive=TASKS[name].sensitive, sparse=True).X_train


def _frame(name):
    dataset = TASKS[name].load()
    return dataset, pd.concat([dataset.train, dataset.test], ignore_index=True)


def _groups(name, dataset, frame):
    (grouping,) = dataset.sensitive_choices[TASKS[name].sensitive]
    return grouping.codes(frame)
