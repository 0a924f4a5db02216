"""Checks for the exercises of "closed-form"."""

import math

import numpy as np

from renyi_book.checks._kinds import Choice, Mistake, Number, Predicate


def _sse(x, labels):
    return sum(np.sum((x[labels == k] - x[labels == k].mean()) ** 2) for k in np.unique(labels))


def _lloyd_rests(answer):
    x, labels = (np.asarray(part) for part in answer)
    x = x.astype(float)
    if x.ndim != 1 or x.shape != labels.shape:
        return "Submit two lists of the same length, the numbers and their labels."
    if set(labels.tolist()) != {0, 1}:
        return "The labels should be 0 and 1, and both should occur."
    centers = np.array([x[labels == k].mean() for k in (0, 1)])
    distance = np.abs(x[:, None] - centers)
    own = distance[np.arange(len(x)), labels]
    if (own > distance.min(axis=1) + 1e-12).any():
        return (
            "Lloyd's algorithm has not converged, because a point is nearer to the other center."
        )
    moved = [np.where(np.arange(len(x)) == n, 1 - labels, labels) for n in range(len(x))]
    moved = [other for other in moved if len(set(other.tolist())) == 2]
    if not moved:
        return (
            "With two points no point can move, because a cluster would become empty. "
            "Take three or more."
        )
    if min(_sse(x, other) for other in moved) > _sse(x, labels) - 1e-9:
        return (
            "No single move decreases the SSE. Take a point of a small cluster. When it "
            "leaves, its old center moves away, and n/(n − 1) is large."
        )
    return None


def _change(n_k, t_k, n_l, t_l):
    return n_l / (n_l + 1) * t_l - n_k / (n_k - 1) * t_k


EXERCISES = {
    "closed-form/a": Number(
        "a number: the largest number of exactly fair clusters",
        answer=lambda: math.gcd(24, 9),
        why="The share 9/24 is 3/8 in lowest terms, so the size of every cluster is a "
        "multiple of 8.",
        mistakes=[
            Mistake(
                9,
                "This is the number of girls, but a cluster with one girl would "
                "need 8/3 children.",
            ),
            Mistake(24, "A cluster of one child has a share of girls of 0 or 1."),
            Mistake(
                8, "This is the size of the smallest exactly fair cluster; count the clusters."
            ),
        ],
    ),
    "closed-form/b": Number(
        "a number: the exact change of G",
        answer=lambda: _change(3, 2.0, 9, 2.5),
        why="It is negative, so the move helps, although the score in the other cluster "
        "is larger.",
        mistakes=[
            Mistake(0.5, "This is the difference between the scores, without the two factors."),
            Mistake(
                lambda: 9 / 10 * 2.5 - 2.0,
                "The factor of the cluster that the point leaves is missing.",
            ),
            Mistake(lambda: 10 / 9 * 2.5 - 2 / 3 * 2.0, "Both factors are inverted."),
        ],
    ),
    "closed-form/1": Choice(
        "what the better result of Algorithm 3 on the coarse grid is",
        options=("a fact about the methods", "chance of the seeds", "an artifact of the grid"),
        answer="an artifact of the grid",
        why="On a coarse path the next model that is fair enough is fairer than required,"
        " and therefore more expensive.",
        mistakes={
            "a fact about the methods": "The methods are the same in both comparisons, "
            "but only one comparison shows the effect.",
            "chance of the seeds": "The interval accounts for the randomness of the "
            "seeds, and it excludes 1. What else differs between "
            "the two comparisons?",
        },
    ),
    "closed-form/2": Predicate(
        "a pair of a list of numbers and a list of their labels, 0 or 1, at which Lloyd's"
        " algorithm moves nothing and a single move decreases the SSE",
        test=_lloyd_rests,
        why="Lloyd's algorithm compares distances to fixed centers, whereas the factors "
        "n/(n ± 1) account for their movement.",
        examples=[([0, 2, 3.2], [0, 0, 1]), ([0.0, 2, 3.2, 3.4], [1, 1, 0, 0])],
        mistakes=[
            Mistake(([0, 1, 10, 11], [0, 0, 1, 1]), "No single move decreases"),
            Mistake(([0, 1, 10, 11], [0, 1, 1, 1]), "has not converged"),
            Mistake(([0, 1, 10], [0, 0, 0]), "both should occur"),
            Mistake(([0, 1, 10], [0, 1]), "the same length"),
            Mistake(([0, 1], [0, 1]), "no point can move"),
        ],
    ),
    "closed-form/3": Choice(
        "whether a clustering that is fair on the four groups is fair on both attributes",
        options=("always", "on these data", "no"),
        answer="always",
        why="Each attribute is a function of the four groups, and ρ_R never increases "
        "when a variable is replaced by a function of it. The converse is false.",
        mistakes={
            "on these data": "Is there a data set on which gender alone reveals more than"
            " gender and race together?",
            "no": "You may be thinking of the converse, a clustering that is fair on each"
            " attribute and unfair on the combinations.",
        },
    ),
}
