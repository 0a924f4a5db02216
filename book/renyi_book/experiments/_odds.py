"""Equalized odds in the benchmark at equal relaxation, an extension of ``_benchmark``.

The rules are in the last section of ``book/results/benchmark_protocol.md``. A method is again a
path from its unconstrained model through its settings. The violation is the larger of the
absolute differences of true and of false positive rates, and a path is read where a mixture of
two neighboring rules first reaches a level.
"""

import time
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import EqualizedOdds, ExponentiatedGradient
from tqdm import tqdm

from renyi_book.experiments import _benchmark as frontier
from renyi_book.experiments._fermi import _crossing
from renyi_lib.boosting import RenyiBoostingClassifier
from renyi_lib.classification import RenyiClassifier
from renyi_lib.postprocessing import BiasScoreClassifier, ToleranceNotReachedWarning

ODDS = "equalized_odds"
ODDS_LEVELS = (0.05, 0.03)
ODDS_LAMS = (0.1, 0.3, 1, 3, 10, 100)
ODDS_BOUNDS = (0.05, 0.01)
ODDS_METHODS = (
    "unconstrained",
    "linear",
    "label",
    "bias score",
    "reduction",
    "unconstrained, S",
    "bias score, S",
    "thresholds, S",
    "error-parity, S",
)
# Weights of the second of two neighboring rules in the mixtures whose violation is computed.
STEPS = np.arange(50)[:, None] / 50


def benchmark_odds(
    *,
    methods=ODDS_METHODS,
    seeds=frontier.BENCHMARK_SEEDS,
    rounds=frontier.ROUNDS,
    progress=True,
):
    """Compute the accuracy of fair classifiers on Adult at an equal violation of equalized odds.

    Parameters
    ----------
    methods : sequence of str
        Methods to compare. "error-parity, S" runs in a separate environment, whose Python path is
        given by the variable ERROR_PARITY_PYTHON.
    seeds : iterable of int
        Seeds of the random splits, the same as in `benchmark_frontier`. The reduction uses the
        first ten.
    rounds : int, default=50
        Number of trees of each model.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns of `benchmark_frontier` without ``auc``; ``start`` is the violation before any
        constraint.
    """
    found = []
    for seed in tqdm(seeds, "odds", disable=not progress, leave=False):
        split = frontier._Split("adult", seed, rounds)
        for method in methods:
            late = seed - frontier.BENCHMARK_SEEDS.start >= frontier.SPLITS_OF_REDUCTION
            if method == "reduction" and late:
                continue
            rules, seconds = _path(method, split)
            key = {"dataset": "adult", "criterion": ODDS, "method": method, "seed": seed}
            about = {"start": np.abs(differences(split, rules[0])).max(), "cpu_seconds": seconds}
            if method.startswith("unconstrained"):
                read = split.measured(rules[0])[:2]
                found.append(key | {"level": np.nan} | _named(read) | about)
                continue
            for level in ODDS_LEVELS:
                found.append(key | {"level": level} | _named(read_at(split, rules, level)) | about)
    return pd.DataFrame(found)


def read_at(split, rules, level):
    """Return accuracy and balanced accuracy where the path first reaches the level.

    They are NaN if the path starts at or below the level, or never reaches it.
    """
    found = np.array([[*differences(split, rule), *split.measured(rule)[:2]] for rule in rules])
    # Rates and accuracies of a mixture are linear in its weight, but the violation is not.
    mixed = [one + STEPS * (two - one) for one, two in pairwise(found)]
    mixed = np.concatenate([*mixed, found[-1:]])
    falling = np.abs(mixed[:, :2]).max(axis=1)
    return _crossing(falling, mixed[:, 2:], level) if falling[0] > level else (np.nan, np.nan)


def differences(split, rule):
    """Compute group 1's false and true positive rates minus group 0's, on test rows."""
    _, y, s = split.test
    rates = [[rule.decision[(y == c) & (s == group)].mean() for group in (0, 1)] for c in (0, 1)]
    return np.diff(rates, axis=1)[:, 0]


def _named(read):
    return dict(zip(frontier.MEASURES, read))


def _path(method, split):
    """Return a method's rules on test rows, starting without a constraint, and CPU seconds."""
    if method == "linear":
        X_train, X_test = frontier.scaled_rows(split)
        model, lams = RenyiClassifier(fairness=ODDS), (0, *ODDS_LAMS)
        return frontier._by_lam(model, lams, X_train, split.train.y, split.train.s, X_test)
    sees = method.endswith(", S")
    base, seconds = split.base("y, S" if sees else "y")
    score = base.predict_proba(split.X("test", sees))[:, 1]
    start = frontier._Rule((score > 0.5).astype(float), score)
    if method.startswith("unconstrained"):
        return [start], seconds
    if method == "label":
        rules, seconds = _label(split)
    elif method == "bias score":
        rules, seconds = _without_groups(split)
    elif method == "reduction":
        rules, seconds = _reduction(split)
    else:
        with_groups = {
            "bias score, S": _with_groups,
            "thresholds, S": _thresholds,
            "error-parity, S": _error_parity,
        }
        rules, own = with_groups[method](split, base)
        seconds += own
    return [start, *rules], seconds


def _label(split):
    X, y, s = split.train
    model = RenyiBoostingClassifier(
        fairness=ODDS,
        n_estimators=split.rounds,
        learning_rate=frontier.LEARNING_RATE,
        random_state=0,
    )
    return frontier._by_lam(model, ODDS_LAMS, X, y, s, split.test.X)


def _without_groups(split):
    """Apply `BiasScoreClassifier` without S in predictions, fitted on the training rows alone."""
    X, y, s = split.train
    began = time.process_time()
    fair = BiasScoreClassifier(
        frontier._trees(split.rounds), fairness=ODDS, tolerance=1.0, random_state=0
    ).fit(X, y, sensitive_features=s)
    seconds = time.process_time() - began
    return _at_tolerances(fair, split.test.X, {}), seconds


def _with_groups(split, base):
    """Apply `BiasScoreClassifier` with S in predictions, whose thresholds use validation rows."""
    X, known = split.X("validation", True), {"sensitive_features": split.test.s}
    began = time.process_time()
    fair = BiasScoreClassifier(
        base,
        fairness=ODDS,
        tolerance=1.0,
        use_sensitive_features=True,
        prefit=True,
        random_state=0,
    ).fit(X, split.validation.y, sensitive_features=split.validation.s)
    seconds = time.process_time() - began
    return _at_tolerances(fair, split.X("test", True), known), seconds


def _at_tolerances(fair, X, known):
    """Return the rules at the protocol's tolerances; `fair` itself has a tolerance of 1."""
    rules = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceNotReachedWarning)
        for fraction in frontier.FRACTIONS:
            other = fair.with_tolerance(fraction * fair.difference_)
            score = other.predict_proba(X, **known)[:, 1]
            rules.append(frontier._Rule((score > 0.5).astype(float), score))
    return rules


def _thresholds(split, base):
    X, y, s = split.X("validation", True), split.validation.y, split.validation.s
    began = time.process_time()
    fair = ThresholdOptimizer(
        estimator=base,
        constraints=ODDS,
        prefit=True,
        predict_method="predict_proba",
        objective="accuracy_score",
    ).fit(X, y, sensitive_features=s)
    seconds = time.process_time() - began
    decision = fair._pmf_predict(split.X("test", True), sensitive_features=split.test.s)[:, 1]
    return [frontier._Rule(decision, None)], seconds


def _error_parity(split, base):
    X, y, s = split.X("validation", True), split.validation.y, split.validation.s
    decision = base.predict(X)
    gaps = [
        abs(decision[(y == c) & (s == 1)].mean() - decision[(y == c) & (s == 0)].mean())
        for c in (0, 1)
    ]
    given = frontier.peer_input("error-parity, S", split)
    given |= {"constraints": [ODDS], "tolerances": np.outer(max(gaps), frontier.FRACTIONS)}
    answer = frontier.ask("error-parity, S", given)
    rules = [frontier._Rule(decision, None) for decision in answer[ODDS]]
    return rules, float(answer[f"{ODDS}_seconds"])


def _reduction(split):
    rules, seconds = [], 0.0
    for bound in ODDS_BOUNDS:
        began = time.process_time()
        mixture = ExponentiatedGradient(
            frontier._trees(split.rounds), EqualizedOdds(difference_bound=bound), max_iter=5
        )
        mixture.fit(split.train.X, split.train.y, sensitive_features=split.train.s)
        seconds += time.process_time() - began
        rules.append(frontier._Rule(mixture._pmf_predict(split.test.X)[:, 1], None))
    return rules, seconds
