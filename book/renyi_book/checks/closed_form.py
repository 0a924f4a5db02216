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
        return "Hand over two lists of the same length: numbers, and a label for each."
    if set(labels.tolist()) != {0, 1}:
        return "The labels should be 0 and 1, and both should occur."
    centers = np.array([x[labels == k].mean() for k in (0, 1)])
    distance = np.abs(x[:, None] - centers)
    own = distance[np.arange(len(x)), labels]
    if (own > distance.min(axis=1) + 1e-12).any():
        return "Lloyd is not at rest: a point is nearer to the other centre."
    moved = [np.where(np.arange(len(x)) == n, 1 - labels, labels) for n in range(len(x))]
    moved = [other for other in moved if len(set(other.tolist())) == 2]
    if not moved:
        return "With two points nobody can move: a cluster would be empty. Take three or more."
    if min(_sse(x, other) for other in moved) > _sse(x, labels) - 1e-9:
        return (
            "No single move lowers the SSE. Take a point of a small cluster: when it leaves, its "
            "old centre moves away, and n/(n − 1) is large."
        )
    return None


def _change(n_k, t_k, n_l, t_l):
    return n_l / (n_l + 1) * t_l - n_k / (n_k - 1) * t_k


EXERCISES = {
    "closed-form/a": Number(
        "a number: the largest number of exactly fair clusters",
        answer=lambda: math.gcd(24, 9),
        why="The share 9/24 is 3/8 in lowest terms, so that every cluster has a multiple of 8 "
        "children.",
        mistakes=[
            Mistake(9, "So many girls there are, but with one girl a cluster would need 8/3."),
            Mistake(24, "A cluster of one child is all girls or none."),
            Mistake(8, "This is the size of the smallest exactly fair cluster; count them."),
        ],
    ),
    "closed-form/b": Number(
        "a number: the exact change of G",
        answer=lambda: _change(3, 2.0, 9, 2.5),
        why="It is negative: the move helps, although the score in the other cluster is larger.",
        mistakes=[
            Mistake(0.5, "This is the difference of the scores, without the two factors."),
            Mistake(
                lambda: 9 / 10 * 2.5 - 2.0, "The factor of the cluster that is left is missing."
            ),
            Mistake(lambda: 10 / 9 * 2.5 - 2 / 3 * 2.0, "Both factors are turned upside down."),
        ],
    ),
    "closed-form/1": Choice(
        "what the win of Algorithm 3 on the coarse grid is",
        options=("a fact about the methods", "chance of the seeds", "an artefact of the grid"),
        answer="an artefact of the grid",
        why="On a coarse path the next model that is fair enough is fairer, and more costly, "
        "than was asked for.",
        mistakes={
            "a fact about the methods": "The methods are the same in both comparisons, and only "
            "one of them shows it.",
            "chance of the seeds": "The interval covers the chance of the seeds and excludes 1. "
            "What else differs between the two comparisons?",
        },
    ),
    "closed-form/2": Predicate(
        "a pair: a list of numbers and a list of their labels, 0 or 1, at which Lloyd moves "
        "nothing and a single move lowers the SSE",
        test=_lloyd_rests,
        why="Lloyd compares distances to centres that it thinks fixed; the factors n/(n ± 1) know "
        "that they move.",
        examples=[([0, 2, 3.2], [0, 0, 1]), ([0.0, 2, 3.2, 3.4], [1, 1, 0, 0])],
        mistakes=[
            Mistake(([0, 1, 10, 11], [0, 0, 1, 1]), "No single move lowers"),
            Mistake(([0, 1, 10, 11], [0, 1, 1, 1]), "Lloyd is not at rest"),
            Mistake(([0, 1, 10], [0, 0, 0]), "both should occur"),
            Mistake(([0, 1, 10], [0, 1]), "the same length"),
            Mistake(([0, 1], [0, 1]), "With two points nobody can move"),
        ],
    ),
    "closed-form/3": Choice(
        "whether a clustering that is fair on the four groups is fair on both attributes",
        options=("always", "on these data", "no"),
        answer="always",
        why="Each attribute is a function of the four groups, and ρ_R never grows when a variable "
        "is replaced by a function of it. The reverse fails.",
        mistakes={
            "on these data": "Is there a data set on which the gender could tell more than gender "
            "and race together?",
            "no": "You may think of the reverse: fair on each, unfair on the combinations.",
        },
    ),
}
