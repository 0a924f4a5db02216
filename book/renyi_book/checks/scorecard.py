"""Checks for the exercises of "scorecard"."""

from functools import cache

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number
from renyi_book.experiments import load
from renyi_book.scorecard.judging import VERDICTS, of_interval
from renyi_book.scorecard.reading import FIRST_FRESH, ratio
from renyi_book.scorecard.statistics import corrected, holm
from renyi_book.scorecard.table import RESULTS

# Adult's splits on test rows and, by our heuristic, on training rows; also two small designs.
_CASES = [(30, ratio("adult")), (30, ratio("adult", "train")), (5, 0.5), (10, 0.25)]
_P_VALUES = [0.010, 0.030, 0.020]
_ROWS, _SIDE = 20, 0.025


@cache
def _losses():
    table = load("clusters_adult", RESULTS)
    fresh = table[(table["algorithm"] == "paper") & (table["seed"] >= FIRST_FRESH)]
    return fresh.pivot(index="seed", columns="lam", values="inertia")


def _interval(of, share=0.0):
    """Return a function without arguments that computes the interval of `of(losses)`."""
    return lambda: list(corrected(of(_losses()[0.0], _losses()[0.005]), share)[:3])


EXERCISES = {
    "scorecard/a": Choice(
        "the verdict on a claimed lead whose interval is [-0.10, 0.25] points, the smallest "
        "effect that matters being 0.3",
        options=VERDICTS,
        answer=of_interval("difference", -0.10, 0.25, 0.3),
        why="The interval contains 0, and its upper end excludes a lead of 0.3 points.",
        mistakes={
            "holds": "The interval reaches below 0, so the lead is not distinguishable from zero.",
            "holds in part": "For that the whole interval would have to lie above 0.",
            "undecided": "It would be undecided if a lead of 0.3 points were still possible. Look "
            "at the upper end.",
            "cannot be tested": "It has been tested, since there is an interval.",
        },
    ),
    "scorecard/b": Number(
        "a list of three adjusted p-values, in the order of the rows",
        answer=lambda: holm(_P_VALUES),
        why="The smallest is multiplied by three, the next by two, and none may be smaller than "
        "the one before it.",
        mistakes=[
            Mistake(
                [0.03, 0.09, 0.06],
                "This multiplies each by three, which is Bonferroni's method; Holm's multiplies "
                "the second smallest by two only.",
            ),
            Mistake(
                [0.03, 0.03, 0.04],
                "An adjusted p-value cannot be smaller than the adjusted p-value of a row with a "
                "smaller p-value.",
            ),
            Mistake(_P_VALUES, "These are the unadjusted p-values."),
        ],
    ),
    "scorecard/1": Function(
        "a function `widening(splits, ratio)` that returns the ratio of the two intervals' widths",
        answer=lambda splits, ratio: np.sqrt(1 + splits * ratio),
        cases=_CASES,
        why="It is the square root of the ratio of the variances, 1 + splits · ratio.",
        mistakes=[
            Mistake(
                lambda splits, ratio: 1 + splits * ratio,
                "This is the ratio of the variances; the ratio of the widths is its square root.",
            ),
            Mistake(
                lambda splits, ratio: np.sqrt(1 / splits + ratio),
                "This is the corrected error for σ = 1; divide it by Student's, 1/√splits.",
            ),
            Mistake(
                lambda splits, ratio: np.sqrt(1 + ratio),
                "The correction is added to 1/splits, not to 1, so their number matters.",
            ),
        ],
    ),
    "scorecard/2": Number(
        "a list of three numbers: mean, low end and high end",
        answer=_interval(lambda plain, fair: fair / plain),
        why="The starts are independent on the same data, so Student's interval is right.",
        rtol=1e-3,
        mistakes=[
            Mistake(
                _interval(lambda plain, fair: fair / plain, 0.5),
                "You widened the interval for splits that share rows, but these are seeds of one "
                "algorithm on the same data.",
            ),
            Mistake(
                _interval(lambda plain, fair: plain / fair),
                "The factor is inverted; λ = 0.005 belongs in the numerator.",
            ),
            Mistake(
                _interval(lambda plain, fair: fair - plain),
                "This is the difference of the losses; the exercise asks for the factor.",
            ),
        ],
    ),
    "scorecard/3": Number(
        "a list of two numbers: the expected number of rows that hold, and the probability that "
        "at least one does",
        answer=[_ROWS * _SIDE, 1 - (1 - _SIDE) ** _ROWS],
        why="Only one of the two sides on which an interval can miss is the claimed one.",
        mistakes=[
            Mistake(
                [1.0, 1 - 0.95**20],
                "5 % is the probability of missing on either side; only one is the claimed one.",
            ),
            Mistake(
                [0.5, 0.5], "This is the expected number twice; a probability is 1 - 0.975²⁰."
            ),
        ],
    ),
}
