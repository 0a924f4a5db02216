"""Checks for the warm-ups and exercises of "which-method"."""

from functools import cache
from itertools import product

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from renyi_book.checks._kinds import Choice, Function, Mistake, Number
from renyi_lib import RenyiClassifier, demographic_parity_ratio, fit_to_target
from renyi_lib.datasets import load_adult


def _recommend(attribute_allowed, can_retrain, threshold_fixed):
    if attribute_allowed:
        return 1
    if not can_retrain:
        return 2
    return 4 if threshold_fixed else 3


def _retraining_first(attribute_allowed, can_retrain, threshold_fixed):
    if not can_retrain:
        return 2
    return _recommend(attribute_allowed, can_retrain, threshold_fixed)


def _label_for_all(attribute_allowed, can_retrain, threshold_fixed):
    return _recommend(attribute_allowed, can_retrain, True)


@cache
def _data():
    return load_adult().encode(sensitive="gender", scaling="standard")


@cache
def _model(kind):
    data = _data()
    X, X_held, y, y_held, s, s_held = train_test_split(
        data.X_train, data.y_train, data.s_train, test_size=0.25, random_state=0
    )
    if kind == "plain":
        return LogisticRegression(max_iter=1000).fit(X, y)
    options = {"metric": "demographic_parity_ratio", "target": 0.8}
    if kind == "opportunity":
        options = {"metric": "equal_opportunity_difference", "target": 0.05}
    model = {
        "label": RenyiClassifier(),
        "score": RenyiClassifier(on="score"),
        "opportunity": RenyiClassifier(fairness="equal_opportunity"),
    }[kind]
    validation = (X_held, y_held, s_held)
    return fit_to_target(model, X, y, sensitive_features=s, validation=validation, **options)


def _accuracy(kind):
    return 100 * _model(kind).score(_data().X_test, _data().y_test)


def _prices():
    return {
        "parity": _accuracy("plain") - _accuracy("label"),
        "opportunity": _accuracy("plain") - _accuracy("opportunity"),
    }


def _worst(choose):
    found = {}
    for on in ("label", "score"):
        score = _model(on).predict_proba(_data().X_test)[:, 1]
        ratios = [
            demographic_parity_ratio(None, score > t, sensitive_features=_data().s_test)
            for t in (0.3, 0.4, 0.5, 0.6)
        ]
        found[on] = choose(ratios)
    return found


EXERCISES = {
    "which-method/a": Choice(
        "the part of the list that applies",
        options=("label", "score", "post-processing at 0.5", "group thresholds"),
        answer="score",
        why="The cut-off moves with the number of places, so the score must be fair everywhere.",
        mistakes={
            "label": "A fair label is fair at one threshold. Does the hospital have one?",
            "post-processing at 0.5": "Post-processing fixes the decision at one threshold.",
            "group thresholds": "The text does not say that the attribute may be used, and one "
            "pair of thresholds would serve one number of places only.",
        },
    ),
    "which-method/b": Choice(
        "whether the rule is violated, and whether the difference is significant",
        options=(
            "violated, significant",
            "violated, not significant",
            "not violated, significant",
            "not violated, not significant",
        ),
        answer="violated, not significant",
        why="The ratio is 0.6, but the p-value is about 0.2.",
        mistakes={
            "violated, significant": "Look at the p-value. Six women were selected where ten "
            "would be expected at the men's rate.",
            "not violated, significant": "Compare the ratio of the two rates with 0.8, and look "
            "at the p-value.",
            "not violated, not significant": "Compare the ratio of the two rates with 0.8.",
        },
    ),
    "which-method/1": Function(
        "a function `recommend(attribute_allowed, can_retrain, threshold_fixed)` that returns a "
        "number from 1 to 4",
        answer=_recommend,
        why="The first question that applies decides.",
        cases=list(product([True, False], repeat=3)),
        mistakes=[
            Mistake(_retraining_first, "The list asks about the attribute before retraining."),
            Mistake(_label_for_all, "Without a fixed threshold the label is not enough."),
        ],
    ),
    "which-method/2": Number(
        'a dictionary with the keys "parity" and "opportunity", in percentage points',
        answer=_prices,
        why="Equal opportunity leaves the base rates alone and therefore costs less.",
        mistakes=[
            Mistake(
                lambda: {name: -value for name, value in _prices().items()},
                "A loss of accuracy is a positive price, so subtract the fair model's accuracy.",
            ),
        ],
        atol=0.06,
    ),
    "which-method/3": Number(
        'a dictionary with the keys "label" and "score": the smallest ratio over four thresholds',
        answer=lambda: _worst(min),
        why="The fair score stays close to the target at all thresholds, but the fair label does "
        "not.",
        mistakes=[
            Mistake(
                lambda: _worst(max),
                "This is the largest ratio, but the question is about the smallest.",
            ),
            Mistake(lambda: _worst(np.mean), "This is the mean over the thresholds."),
        ],
        atol=0.01,
    ),
}
