"""Checks for the exercises of "several-attributes"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Mistake, Number, Predicate, distribution
from renyi_lib.correlation import renyi_from_joint

_COUNTS = np.array([[[80, 20], [60, 40]], [[30, 20], [20, 80]]])


def _square(rates, shares):
    """ρ_R² of a decision with these rates in groups with these shares."""
    rates, shares = np.ravel(rates), np.ravel(shares)
    return renyi_from_joint(np.stack([(1 - rates) * shares, rates * shares])) ** 2


def _of_counts(counts):
    return renyi_from_joint(counts / counts.sum()) ** 2


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


EXERCISES = {
    "several-attributes/a": Number(
        "a number: ρ_R² of the decision with the pair of attributes",
        answer=lambda: _square([[0.2, 0.6], [0.6, 0.2]], np.full(4, 0.25)),
        why="The rates are 0.2 away from their mean 0.4, and 0.04 / 0.24 is a sixth.",
        mistakes=[
            Mistake(0.0, "This is the value for each attribute alone; the pair has four rates."),
            Mistake(
                lambda: np.var([0.2, 0.6]),
                "This is the variance of the rates: divide by the variance of the decision.",
            ),
        ],
    ),
    "several-attributes/b": Number(
        "a number: ρ_R² of the decision with the group",
        answer=lambda: _square([0, 0.5], [0.02, 0.98]),
        why="Each group counts by its share, so the two per cent hardly show.",
        mistakes=[
            Mistake(0.5, "This is the DP violation, which does not know how large a group is."),
            Mistake(
                lambda: 0.02 * 0.98 * 0.5**2,
                "This is the variance of the rates: divide by the variance of the decision.",
            ),
            Mistake(
                lambda: _square([0, 0.5], [0.5, 0.5]),
                "This is the value for two groups of equal size.",
            ),
        ],
        atol=5e-5,
    ),
    "several-attributes/1": Number(
        "a number: the sum of ρ_R² given Y = 0 and given Y = 1",
        answer=lambda: sum(_of_counts(c) for c in _COUNTS),
        why="Each class of the truth has a table of its own, and both count alike.",
        mistakes=[
            Mistake(
                lambda: _of_counts(_COUNTS[1]),
                "This is the term of Y = 1 alone: equality of opportunity.",
            ),
            Mistake(
                lambda: _of_counts(_COUNTS.sum(axis=0)),
                "This is the value for all people together: demographic parity.",
            ),
            Mistake(
                lambda: sum(_of_counts(c) * c.sum() / _COUNTS.sum() for c in _COUNTS),
                "This is the average over Y; the paper's sum counts every y alike.",
            ),
        ],
        atol=5e-5,
    ),
    "several-attributes/2": Predicate(
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
    "several-attributes/3": Predicate(
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
    "several-attributes/4": Choice(
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
}
