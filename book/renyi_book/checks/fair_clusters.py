"""Checks for the exercises of "fair-clusters"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate
from renyi_lib.cluster_metrics import penalty_of_table, summary_of_table


def _floor(size, share):
    return abs(round(size * share) - size * share) / size


def _balance(w_min, w_max):
    return min(w_min / (1 - w_min), (1 - w_max) / w_max)


def _newcomers(size, ones, share):
    if ones > size * share:
        return ones / share - size
    return (size * share - ones) / (1 - share)


def _sd_and_deviation(counts):
    """Return the sd of the shares over clusters, and the deviation weighted by people."""
    counts = np.asarray(counts)
    deviation = np.sqrt(penalty_of_table(counts) / counts.sum())
    return float(summary_of_table(counts, 1)["sd"]), float(deviation)


def _two_opinions(answer):
    table = np.asarray(answer)
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        return "The table needs a row for each of two or more clusters, and two columns."
    if table.dtype.kind not in "iu" or table.min() < 0:
        return "The entries should be whole numbers, 0 or more."
    if not table.sum(axis=1).all() or not table.sum(axis=0).all():
        return "Every cluster and both groups must have at least one person."
    sd, deviation = _sd_and_deviation(table)
    if deviation >= 0.01:
        return f"The deviation is {deviation:.3g}, so too many people are in unfair clusters."
    if sd <= 0.2:
        return f"The sd is only {sd:.3g}. Use some clusters, however small, with extreme shares."
    return None


# Counts of zeros and ones in the two clusters of the first warm-up.
_WARM_UP = [[45, 45], [0, 10]]

EXERCISES = {
    "fair-clusters/a": Number(
        "two numbers: the sd of w and the deviation",
        answer=lambda: _sd_and_deviation(_WARM_UP),
        why="The ten people form one of the two clusters, but they are a tenth of all people.",
        mistakes=[
            Mistake(
                lambda: _sd_and_deviation(_WARM_UP)[::-1],
                "The two numbers are swapped; the sd of w comes first.",
            ),
            Mistake(
                lambda: (float(np.std([0.5, 1.0], ddof=1)), _sd_and_deviation(_WARM_UP)[1]),
                "The sd divides by K, not by K - 1; the deviation is right.",
            ),
            Mistake(
                lambda: (_sd_and_deviation(_WARM_UP)[0], _sd_and_deviation(_WARM_UP)[1] ** 2),
                "The sd is right, but the second number is the square of the deviation.",
            ),
            Mistake(
                lambda: (_sd_and_deviation(_WARM_UP)[0],) * 2,
                "The sd is right. The deviation weights clusters by size, and is measured from q.",
            ),
        ],
    ),
    "fair-clusters/b": Number(
        "a number: the smallest possible |w - q|",
        answer=lambda: _floor(7, 0.6),
        why="With 4.2 ones on average, four ones among seven people are the closest.",
        mistakes=[
            Mistake(lambda: 1 / 14, "This is only a bound for seven people; 4.2 is closer to 4."),
            Mistake(
                lambda: abs(4 - 7 * 0.6), "This is the distance in people; divide it by the size."
            ),
            Mistake(lambda: 5 / 7 - 0.6, "Five ones are too many; try one fewer."),
        ],
    ),
    "fair-clusters/1": Function(
        "a function of size and share that returns the smallest possible |w - q|",
        answer=_floor,
        why="The nearest whole number of ones decides, and it is at most 1/2 from size times q.",
        cases=[(20, 0.60193), (47, 0.6703), (185, 0.6703), (3, 0.5), (10, 0.5), (1, 0.9)],
        mistakes=[
            Mistake(
                lambda size, share: 1 / (2 * size),
                "This is the value for the worst size; a given size may do better.",
            ),
            Mistake(
                lambda size, share: share - np.floor(size * share) / size,
                "You always round down, but the nearest whole number may be larger.",
            ),
            Mistake(
                lambda size, share: abs(round(size * share) - size * share),
                "This is the distance in people; divide it by the size.",
            ),
        ],
    ),
    "fair-clusters/2": Function(
        "a function `balance(w_min, w_max)` that returns the balance",
        answer=_balance,
        why="One ratio grows with w and the other falls, so that each is worst at an extreme.",
        cases=[(0.4, 0.8), (0.1, 0.6), (0.45, 0.5), (0.6, 0.7), (0.2, 0.3)],
        mistakes=[
            Mistake(
                lambda w_min, w_max: (1 - w_max) / w_max,
                "This uses only the largest share; the smallest may be worse.",
            ),
            Mistake(
                lambda w_min, w_max: w_min / w_max,
                "Balance compares the two groups *within* a cluster, not two clusters.",
            ),
            Mistake(
                lambda w_min, w_max: max(w_min / (1 - w_min), (1 - w_max) / w_max),
                "The worst cluster counts, so take the smaller of the two.",
            ),
            Mistake(
                lambda w_min, w_max: min(w_min, 1 - w_max),
                "This is the smaller group's share of the cluster, not its ratio to the other.",
            ),
        ],
    ),
    "fair-clusters/3": Predicate(
        "a table of counts: a row for each cluster, the two groups as columns",
        test=_two_opinions,
        why="A tiny cluster hardly changes the deviation, which weights by people, but it counts "
        "fully in the sd.",
        examples=[
            [[50_000, 50_000], [4, 0]],
            np.array([[30_000, 60_000], [0, 3], [2, 0]]),
        ],
        mistakes=[
            Mistake([[50, 50], [4, 0]], "too many people are in unfair clusters"),
            Mistake([[5000, 5000], [5000, 5000]], "Use some clusters"),
            Mistake([[0.5, 0.5], [0.1, 0.0]], "whole numbers"),
            Mistake([[50_000, 50_000]], "two or more clusters"),
        ],
    ),
    "fair-clusters/4": Function(
        "a function `newcomers(size, ones, share)` that returns how many must join",
        answer=_newcomers,
        why="Only the scarcer kind joins, and the cluster grows with each of them.",
        cases=[(47, 40, 0.6703), (468, 369, 0.6703), (20, 10, 0.6), (100, 60, 0.6), (9, 1, 0.3)],
        mistakes=[
            Mistake(
                lambda size, ones, share: abs(ones - size * share),
                "This is the number of pairs to exchange at a fixed size; here the cluster grows.",
            ),
            Mistake(
                lambda size, ones, share: max(ones / share - size, 0.0),
                "This is right if there are too many ones. What if there are too few?",
            ),
            Mistake(
                lambda size, ones, share: abs(ones - size * share) / share,
                "If ones have to join, solve (ones + x) / (size + x) = q, with x in both.",
            ),
        ],
    ),
}
