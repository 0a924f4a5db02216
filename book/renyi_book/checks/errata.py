"""Checks for the exercises of "errata"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate
from renyi_lib.datasets import load_adult, load_bank


def _all_pairs(predicted, truth):
    a, t = np.mean(predicted), np.mean(truth)
    return a * t + (1 - a) * (1 - t)


def _weights(factor, on_bank=lambda weight, people: weight * 2 * people):
    """Return λ = 75 times `factor` of the share of men, and the λ for Bank with this weight."""
    weight = 75 * factor(np.mean(load_adult().train["sex"] == "Male"))
    return [weight, on_bank(weight, len(load_bank().train))]


def _looks_fair(answer):
    train, test, selected = (np.asarray(part) for part in answer)
    for sizes in (train, test, selected):
        if sizes.shape != (2,) or sizes.dtype.kind not in "iu":
            return "Each of the three should be a pair of whole numbers."
    if min(train.min(), test.min()) < 1 or selected.min() < 0:
        return "Each group needs at least one person, and the numbers cannot be negative."
    if np.any(selected > test):
        return "More people are selected than there are in the test group."
    true, printed = selected / test, selected / train
    if np.ptp(true) < 0.2 - 1e-12:
        return f"The true rates differ by only {np.ptp(true):.3g}."
    if not np.isclose(*printed, rtol=1e-12):
        return "With the training sizes the two rates still differ."
    return None


EXERCISES = {
    "errata/a": Number(
        "a number: the test accuracy that the script prints",
        answer=1 - 0.18,
        why="The script treats everybody as Y = 0, so it counts every rejection as correct.",
        mistakes=[
            Mistake(0.18, "This is the share accepted, which the script counts as wrong."),
            Mistake(
                0.18 * 2 / 3,
                "For this script nobody has Y = 1, so true positives do not count.",
            ),
            Mistake(
                1 - 0.18 / 3,
                "The script counts everybody accepted as a mistake, not only a third of them.",
            ),
        ],
    ),
    "errata/b": Number(
        "a number: the mean over all pairs minus the true accuracy",
        # All pairs: 0 · 0.24 + 1 · 0.76; person by person: 0.76.
        answer=lambda: _all_pairs(np.zeros(25), np.arange(25) < 6) - 0.76,
        why="A constant prediction agrees with the labels equally often, however they are paired.",
        mistakes=[
            Mistake(
                0.76, "This is the true accuracy. By how much is the mean over all pairs larger?"
            ),
            Mistake(
                0.76**2 + 0.24**2 - 0.76,
                "This is the difference for a model that accepts 24 %; ours accepts nobody.",
            ),
        ],
        rtol=0,
        atol=1e-9,
    ),
    "errata/1": Function(
        "a function `all_pairs(predicted, truth)` of two 0-1 vectors that returns the share of "
        "all pairs of a prediction and a label that agree",
        answer=_all_pairs,
        why="Over all pairs, prediction and truth are independent, so only the two means matter.",
        cases=[
            (np.array([1, 0, 0, 0]), np.array([1, 1, 0, 0])),
            (np.array([1, 0, 1]), np.array([1, 0, 1])),
            (np.array([0, 0, 0, 1, 0]), np.array([0, 1, 0, 1, 0])),
        ],
        mistakes=[
            Mistake(
                lambda predicted, truth: np.mean(predicted == truth),
                "This is the ordinary accuracy, which pairs each prediction with its own label.",
            ),
            Mistake(
                lambda predicted, truth: np.mean(predicted) * np.mean(truth),
                "This counts the pairs in which both are 1; those in which both are 0 agree, too.",
            ),
            Mistake(
                lambda predicted, truth: 1 - _all_pairs(predicted, truth),
                "This is the share of pairs that differ.",
            ),
        ],
    ),
    "errata/2": Number(
        "two numbers: the weight of the squared Pearson correlation beside the mean loss, and the "
        "λ of the script for Bank with the same weight",
        answer=lambda: _weights(lambda q: q * (1 - q) / 2),
        why="The variance of S comes from its scale, the half from the missing factor 2; where S "
        "has length 1, the N of the summed loss stays.",
        mistakes=[
            Mistake(
                lambda: _weights(lambda q: q * (1 - q)),
                "The missing factor 2 in the gradient (E38) has not been taken into account.",
            ),
            Mistake(
                lambda: _weights(lambda q: 1 / 2),
                "The variance of S is missing, because S is not scaled in the script for Adult.",
            ),
            Mistake(
                lambda: _weights(lambda q: 1 / (2 * q * (1 - q))),
                "You divided by the variance of S; multiply by it instead.",
            ),
            Mistake(
                lambda: _weights(lambda q: q * (1 - q) / 2, lambda weight, people: 2 * weight),
                "For Bank the number of people is missing, because S has length 1, so only the "
                "loss is a sum over people.",
            ),
            Mistake(
                lambda: _weights(
                    lambda q: q * (1 - q) / 2, lambda weight, people: weight / (2 * people)
                ),
                "For Bank you multiplied by the factor once more, but its inverse is needed.",
            ),
        ],
    ),
    "errata/3": Number(
        "two whole numbers: the smallest and the largest λ",
        # The first point moves if λ > (8.5 + 1)² - 0.25 = 90, and the second stays if λ < 162.
        answer=[4 * 90 + 1, 4 * 162 - 1],
        why="Squared distances grow by 4, and the ends of the window with them.",
        mistakes=[
            Mistake([91, 161], "This is the window of the original points."),
            Mistake([181, 323], "The distances double, but the objective contains their squares."),
            Mistake(
                [4 * 91, 4 * 161],
                "The whole numbers at the ends are not multiplied by 4; the exact ends are.",
            ),
        ],
        rtol=0,
        atol=0,
    ),
    "errata/4": Predicate(
        "a tuple (train_sizes, test_sizes, selected), each a pair of whole numbers",
        test=_looks_fair,
        why="Where the mix of groups changes between the files, wrong sizes can hide any gap.",
        examples=[
            ((400, 200), (100, 100), (60, 30)),
            ([1000, 500], [50, 50], [40, 20]),
        ],
        mistakes=[
            Mistake(((200, 200), (100, 100), (60, 30)), "still differ"),
            Mistake(((200, 100), (100, 50), (60, 30)), "differ by only 0"),
            Mistake(((400, 200), (50, 100), (60, 30)), "More people are selected"),
            Mistake(((0.5, 0.5), (1, 1), (1, 1)), "pair of whole numbers"),
        ],
    ),
}
