"""Checks for the exercises of "several-attributes"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Mistake, Number, Predicate, distribution
from renyi_lib.correlation import renyi_from_joint

_COUNTS = np.array([[[80, 20], [60, 40]], [[30, 20], [20, 80]]])


def _square(rates, shares):
    """Compute ρ_R² of a decision with these rates in groups with these shares."""
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
        return (
            "All rates are equal, so the decision does not depend on the three "
            "attributes together."
        )
    for axis in range(3):
        pair = rates.mean(axis=axis)
        if np.ptp(pair) > 1e-9:
            kept = [k for k in range(3) if k != axis]
            return f"The decision depends on the pair of attributes {kept[0]} and {kept[1]}."
    return None


def _squares(P):
    """Compute ρ_R² of the decision (last axis) with each attribute and with the pair."""
    return [
        renyi_from_joint(table) ** 2 for table in (P.sum(axis=1), P.sum(axis=0), P.reshape(4, 2))
    ]


def _overlapping(table):
    first, second, pair = _squares(distribution(table, (2, 2, 2)))
    if first + second > pair + 1e-6:
        return None
    if max(first, second, pair) < 1e-9:
        return "The decision is independent of both attributes, so all three squares are zero."
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
        why="The rates differ from their mean 0.4 by 0.2, and 0.04 / 0.24 is a sixth.",
        mistakes=[
            Mistake(0.0, "This is the value for each attribute alone; the pair has four rates."),
            Mistake(
                lambda: np.var([0.2, 0.6]),
                "This is the variance of the rates; divide it by the variance of the decision.",
            ),
        ],
    ),
    "several-attributes/b": Number(
        "a number: ρ_R² of the decision with the group",
        answer=lambda: _square([0, 0.5], [0.02, 0.98]),
        why="Each group is weighted by its share, so a group of two percent contributes little.",
        mistakes=[
            Mistake(
                0.5, "This is the DP violation, which does not depend on the sizes of the groups."
            ),
            Mistake(
                lambda: 0.02 * 0.98 * 0.5**2,
                "This is the variance of the rates; divide it by the variance of the decision.",
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
        why="Each value of Y has a table of its own, and both have the same weight.",
        mistakes=[
            Mistake(
                lambda: _of_counts(_COUNTS[1]),
                "This is the term for Y = 1 alone, which is equality of opportunity.",
            ),
            Mistake(
                lambda: _of_counts(_COUNTS.sum(axis=0)),
                "This is the value for all people together, which is demographic parity.",
            ),
            Mistake(
                lambda: sum(_of_counts(c) * c.sum() / _COUNTS.sum() for c in _COUNTS),
                "This is the average over Y; the paper takes the sum over y.",
            ),
        ],
        atol=5e-5,
    ),
    "several-attributes/2": Predicate(
        "an array of shape (2, 2, 2): the rate of selection for each combination of three fair "
        "coins",
        test=_fair_on_pairs,
        why="Averaged over any one attribute the rates are equal, so checking all pairs "
        "says nothing about triples.",
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
        "a joint table of shape (2, 2, 2) with the indices S¹, S², Ŷ, for which the sum "
        "of the two squares is larger than the square of the pair",
        test=_overlapping,
        why="The information that the attributes share is counted twice.",
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
        "what training for Y = 0 alone does to the gap at Y = 1, compared with penalizing both",
        options=("closes it", "leaves it small", "opens it against men", "opens it against women"),
        answer="opens it against men",
        why="The false positive rates agree, but among the people with Y = 1 women are "
        "now selected more often than men.",
        mistakes={
            "closes it": "This is the effect of the sum of both terms; look at the first row.",
            "leaves it small": "Compare the size of the gap at Y = 1 with the other two rows.",
            "opens it against women": "Look at the sign of the gap, which is men minus women.",
        },
    ),
}
