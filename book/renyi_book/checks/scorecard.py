"""Checks for the exercises of "scorecard"."""

from functools import cache

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_book.experiments import fair_clusters, interval

_CASES = [(5, 0.5), (10, 0.25), (3, 1.0)]


@cache
def _losses():
    table = fair_clusters(algorithms=["paper"], lams=[0, 0.005], progress=False)
    return table.pivot(index="seed", columns="lam", values="inertia")


def _interval(of, **options):
    """The interval of a function of the losses without and with the penalty, when it is needed."""
    return lambda: interval(of(_losses()[0.0], _losses()[0.005]), **options).to_list()


EXERCISES = {
    "scorecard/1": Function(
        "a function `widening(n, share)` that returns the ratio of the two intervals' widths",
        answer=lambda n, share: np.sqrt(1 + n * share),
        cases=_CASES,
        why="It is the root of the ratio of the variances, 1 + n · share.",
        mistakes=[
            Mistake(
                lambda n, share: 1 + n * share,
                "This is the ratio of the variances; widths go with its root.",
            ),
            Mistake(
                lambda n, share: np.sqrt(1 / n + share),
                "This is the corrected error for σ = 1; divide it by Student's, 1/√n.",
            ),
            Mistake(
                lambda n, share: np.sqrt(1 + share),
                "The correction stands beside 1/n, not beside 1: the number of splits matters.",
            ),
        ],
    ),
    "scorecard/2": Number(
        "a list of three numbers: mean, low end and high end",
        answer=_interval(lambda plain, fair: fair / plain),
        why="The starts are independent of each other on the same data: Student's interval.",
        rtol=1e-3,
        mistakes=[
            Mistake(
                _interval(lambda plain, fair: fair / plain, test_share=0.5),
                "You have widened the interval for splits that share rows; these are seeds of "
                "one algorithm on the same data.",
            ),
            Mistake(
                _interval(lambda plain, fair: plain / fair),
                "This is the factor the other way round: λ = 0.005 goes into the numerator.",
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
        answer=[0.5, 1 - 0.975**20],
        why="Only one of the two sides on which an interval can miss is the claimed one.",
        mistakes=[
            Mistake(
                [1.0, 1 - 0.95**20],
                "5 % is the probability of missing on either side; only one is the claimed one.",
            ),
            Mistake(
                [0.5, 0.5], "That is the expected number twice; a probability is 1 - 0.975²⁰."
            ),
        ],
    ),
}
