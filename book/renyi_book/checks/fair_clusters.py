"""Checks for the exercises of "fair-clusters"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Predicate
from renyi_lib.cluster_metrics import penalty_of_table, summary_of_table


def _floor(n, p):
    return abs(round(n * p) - n * p) / n


def _balance(w_min, w_max):
    return min(w_min / (1 - w_min), (1 - w_max) / w_max)


def _newcomers(n, m, p):
    return m / p - n if m > n * p else (n * p - m) / (1 - p)


def _two_opinions(answer):
    table = np.asarray(answer)
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        return "The table needs a row for each of two or more clusters, and two columns."
    if table.dtype.kind not in "iu" or table.min() < 0:
        return "The entries should be whole numbers, 0 or more."
    if not table.sum(axis=1).all() or not table.sum(axis=0).all():
        return "Every cluster and both groups need somebody in them."
    deviation = np.sqrt(penalty_of_table(table) / table.sum())
    sd = summary_of_table(table, 1)["sd"]
    if deviation >= 0.01:
        return f"The deviation is {deviation:.3g}: too many people are in unfair clusters."
    if sd <= 0.2:
        return f"The sd is {sd:.3g}: let some clusters, however small, have extreme shares."
    return None


EXERCISES = {
    "fair-clusters/1": Function(
        "a function `floor(n, p)` that returns the smallest possible |w - p|",
        answer=_floor,
        why="The nearest whole number of ones decides, and its distance from np is at most 1/2.",
        cases=[(20, 0.60193), (47, 0.6703), (185, 0.6703), (3, 0.5), (10, 0.5), (1, 0.9)],
        mistakes=[
            Mistake(
                lambda n, p: 1 / (2 * n),
                "This is the floor of the unluckiest size; a given n may do better.",
            ),
            Mistake(
                lambda n, p: n * p / n - np.floor(n * p) / n,
                "You always round down; the nearest whole number may lie above np.",
            ),
            Mistake(
                lambda n, p: abs(round(n * p) - n * p),
                "This is the distance in people; as a share it is that over n.",
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
                "This looks at the largest share only; the smallest may be worse.",
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
        why="A few people by themselves hardly count by people, and fully by clusters.",
        examples=[
            [[50_000, 50_000], [4, 0]],
            np.array([[30_000, 60_000], [0, 3], [2, 0]]),
        ],
        mistakes=[
            Mistake([[50, 50], [4, 0]], "too many people are in unfair clusters"),
            Mistake([[5000, 5000], [5000, 5000]], "let some clusters"),
            Mistake([[0.5, 0.5], [0.1, 0.0]], "whole numbers"),
            Mistake([[50_000, 50_000]], "two or more clusters"),
        ],
    ),
    "fair-clusters/4": Function(
        "a function `newcomers(n, m, p)` that returns how many must join",
        answer=_newcomers,
        why="Only the scarcer kind joins, and the cluster grows with each of them.",
        cases=[(47, 40, 0.6703), (468, 369, 0.6703), (20, 10, 0.6), (100, 60, 0.6), (9, 1, 0.3)],
        mistakes=[
            Mistake(
                lambda n, m, p: abs(m - n * p),
                "These are the pairs to exchange at a fixed size; here the cluster grows.",
            ),
            Mistake(
                lambda n, m, p: max(m / p - n, 0.0),
                "This is right where there are too many ones; what if there are too few?",
            ),
            Mistake(
                lambda n, m, p: abs(m - n * p) / p,
                "Where ones have to join, solve (m + x) / (n + x) = p: they count above, too.",
            ),
        ],
    ),
}
