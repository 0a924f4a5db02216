"""Checks for the exercises of "other-fairness"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Predicate, distribution
from renyi_lib.correlation import renyi_from_joint
from renyi_lib.metrics import p_rule

_THRESHOLDS = np.arange(1, 9) / 10


def _fair_on_pairs(rates):
    rates = np.asarray(rates, dtype=float)
    if rates.shape != (2, 2, 2):
        return "The rates should have shape (2, 2, 2), one for each combination."
    if not ((rates >= 0) & (rates <= 1)).all():
        return "A rate is a probability, between 0 and 1."
    if np.ptp(rates) < 0.01:
        return "All rates are equal: the decision does not depend on the three together."
    for axis in range(3):
        pair = rates.mean(axis=axis)
        if np.ptp(pair) > 1e-9:
            kept = [k for k in range(3) if k != axis]
            return f"The decision depends on the pair of attributes {kept[0]} and {kept[1]}."
    return None


def _squares(P):
    """ρ_R² of the decision (last axis) with each attribute and with the pair."""
    return [
        renyi_from_joint(table) ** 2 for table in (P.sum(axis=1), P.sum(axis=0), P.reshape(4, 2))
    ]


def _overlapping(table):
    first, second, pair = _squares(distribution(table, (2, 2, 2)))
    if first + second > pair + 1e-6:
        return None
    if max(first, second, pair) < 1e-9:
        return "The decision is independent of both attributes: all three squares are zero."
    if first + second < pair - 1e-6:
        return "Here the sum is smaller than the square of the pair; let the attributes overlap."
    return "Here the sum equals the square of the pair, as for independent attributes."


def _joint(weights, rates):
    weights, rates = np.array(weights), np.array(rates)
    return np.stack([weights * (1 - rates), weights * rates], axis=-1)


def _scores():
    rng = np.random.default_rng(10)
    s = np.repeat([0, 1], 300)
    return [
        (np.clip(rng.beta(2, 2, size=600) * (1 - slope * s), 0, 0.99) + 0.005, s)
        for slope in (0.1, 0.3, -0.2)
    ] + [(np.where(s == 0, np.tile([0.35, 0.85], 300), np.tile([0.15, 0.95], 300)), s)]


def _over_thresholds(reduce):
    return lambda score, s: reduce([p_rule(score > t, sensitive_features=s) for t in _THRESHOLDS])


EXERCISES = {
    "other-fairness/1": Predicate(
        "an array of shape (2, 2, 2): the rate of selection for each combination of three fair "
        "coins",
        test=_fair_on_pairs,
        why="Averaged over any one attribute the rates are equal: checks of all pairs say nothing "
        "on triples.",
        examples=[
            [[[0.25, 0.75], [0.75, 0.25]], [[0.75, 0.25], [0.25, 0.75]]],
            [[[1, 0], [0, 1]], [[0, 1], [1, 0]]],
        ],
        mistakes=[
            Mistake(np.full((2, 2, 2), 0.5), "All rates are equal"),
            Mistake([[[0, 0], [1, 1]], [[1, 1], [0, 0]]], "the pair of attributes 0 and 1"),
            Mistake([[[0, 1], [1, 0]], [[0, 1], [1, 0]]], "the pair of attributes 1 and 2"),
            Mistake([[0, 1], [1, 0]], "shape (2, 2, 2)"),
            Mistake([[[-1, 2], [2, -1]], [[2, -1], [-1, 2]]], "between 0 and 1"),
        ],
    ),
    "other-fairness/2": Predicate(
        "a joint table of shape (2, 2, 2), indices S¹, S², Ŷ, with a sum of the two squares that "
        "is larger than the square of the pair",
        test=_overlapping,
        why="What the attributes share is counted twice.",
        examples=[
            _joint([[0.5, 0], [0, 0.5]], [[0.2, 0], [0, 0.8]]),
            _joint([[0.4, 0.1], [0.1, 0.4]], [[0.2, 0.5], [0.5, 0.8]]),
        ],
        mistakes=[
            Mistake(
                _joint([[0.25, 0.25], [0.25, 0.25]], [[0.2, 0.5], [0.5, 0.8]]),
                "as for independent attributes",
            ),
            Mistake(
                _joint([[0.25, 0.25], [0.25, 0.25]], [[0, 1], [1, 0]]),
                "smaller than the square of the pair",
            ),
            Mistake(np.full((2, 2, 2), 1 / 8), "independent of both attributes"),
            Mistake(np.ones((2, 2, 2)), "do not sum to 1"),
        ],
    ),
    "other-fairness/3": Choice(
        "what training for Y = 0 alone does to the gap at Y = 1, compared with both penalised",
        options=("closes it", "leaves it small", "opens it against men", "opens it against women"),
        answer="opens it against men",
        why="Women are lifted until the false positives agree, and those of Y = 1 rise more.",
        mistakes={
            "closes it": "That is what the sum of both terms does; look at the first row.",
            "leaves it small": "Look at the size of the gap at Y = 1 beside the other two rows.",
            "opens it against women": "Look at the sign: men minus women.",
        },
    ),
    "other-fairness/4": Function(
        "a function `smallest_p(score, s)` that returns the smallest p%, as a fraction, over the "
        "thresholds 0.1, 0.2, …, 0.8",
        answer=_over_thresholds(min),
        why="Only the smallest tells whether the score, and not one label made of it, is fair.",
        cases=_scores,
        mistakes=[
            Mistake(
                _over_thresholds(lambda p: p[4]),
                "This is p% at the threshold one half; try all eight.",
            ),
            Mistake(_over_thresholds(np.mean), "This is the mean over the thresholds."),
            Mistake(_over_thresholds(max), "This is the largest; the worst threshold counts."),
        ],
    ),
}
