"""Checks for the exercises of "fair-scores"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number
from renyi_lib.metrics import demographic_parity_ratio

_THRESHOLDS = np.arange(1, 9) / 10


def _bump(u):
    u = np.abs(u)
    return np.where(u <= 0.5, 0.75 - u**2, 0.5 * np.maximum(1.5 - u, 0) ** 2)


def _in_bins(score, weight):
    """Compute the memberships of one score in bins 5, 6 and 7 of twelve."""
    return weight(10 * score - np.array([5, 6, 7]) + 0.5)


def _p_percent(label):
    """Compute p% of labels (or scores) of the two groups of the first warm-up."""
    group_0, group_1 = np.full(4, 0.3), np.array([0.1, 0.1, 0.1, 0.9])
    return demographic_parity_ratio(
        None, label(np.append(group_0, group_1)), sensitive_features=np.repeat([0, 1], 4)
    )


def _both():
    return {"sampled": _p_percent(lambda f: f), "decision": _p_percent(lambda f: f > 0.5)}


def _squared(r_0, r_1, q):
    mean = (1 - q) * r_0 + q * r_1
    return q * (1 - q) * (r_1 - r_0) ** 2 / (mean * (1 - mean))


def _unweighted(r_0, r_1, q):
    mean = (r_0 + r_1) / 2
    return q * (1 - q) * (r_1 - r_0) ** 2 / (mean * (1 - mean))


def _scores():
    rng = np.random.default_rng(10)
    s = np.repeat([0, 1], 300)
    return [
        (np.clip(rng.beta(2, 2, size=600) * (1 - slope * s), 0, 0.99) + 0.005, s)
        for slope in (0.1, 0.3, -0.2)
    ] + [(np.where(s == 0, np.tile([0.35, 0.85], 300), np.tile([0.15, 0.95], 300)), s)]


def _over_thresholds(reduce):
    return lambda score, s: reduce(
        [demographic_parity_ratio(None, score > t, sensitive_features=s) for t in _THRESHOLDS]
    )


def _ramp(score, stretch=10.0):
    """Return the ramp at one half and its slope, as a parabola on each side."""
    u = np.clip(stretch * (np.asarray(score) - 0.5), -1, 1)
    ramp = np.where(u < 0, (1 + u) ** 2 / 2, 1 - (1 - u) ** 2 / 2)
    return np.stack([ramp, stretch * (1 - np.abs(u))], axis=1)


def _scaled(score, factors):
    return _ramp(score) * factors


def _step(score):
    score = np.asarray(score)
    return np.stack([score > 0.5, np.zeros_like(score)], axis=1).astype(float)


EXERCISES = {
    "fair-scores/a": Number(
        "a dictionary with the keys 'sampled' and 'decision': p% of each as a fraction",
        answer=_both,
        why="The means are equal, and nobody in group 0 is above one half.",
        mistakes=[
            Mistake(
                {"sampled": 0.0, "decision": 1.0},
                "The two values are exchanged; the sampled label depends on the means.",
            ),
            Mistake(
                {"sampled": 1.0, "decision": 1.0},
                "Count the scores above one half, which the means do not determine.",
            ),
            Mistake(
                {"sampled": 0.0, "decision": 0.0},
                "The rate of the sampled label is the mean score of the group.",
            ),
        ],
    ),
    "fair-scores/b": Number(
        "three numbers: the memberships of the score 0.55 in bins 5, 6 and 7",
        answer=lambda: _in_bins(0.55, _bump),
        why="The score lies at the center of bin 6, one step away from the centers of the"
        " neighboring bins.",
        mistakes=[
            Mistake([0.0, 1.0, 0.0], "These are hard bins; a soft bin extends to its neighbors."),
            Mistake(
                lambda: _in_bins(0.5, _bump),
                "These are the memberships of the score one half.",
            ),
            Mistake(
                lambda: 0.75 - np.array([1.0, 0.0, 1.0]) ** 2,
                "For |u| above 1/2, the second line of the B-spline applies.",
            ),
        ],
    ),
    "fair-scores/1": Function(
        "a function `from_means(r_0, r_1, q)` that returns ρ_R² of the sampled label",
        answer=_squared,
        why="Only the two mean scores are needed.",
        cases=[(0.2, 0.4, 0.5), (0.1, 0.3, 0.67), (0.5, 0.45, 0.2), (0.3, 0.3, 0.4)],
        mistakes=[
            Mistake(
                lambda r_0, r_1, q: (r_1 - r_0) ** 2,
                "This is the squared difference; the factor q(1 - q) / (r(1 - r)) is missing.",
            ),
            Mistake(
                _unweighted, "The overall rate is a mean weighted by the shares of the groups."
            ),
            Mistake(
                lambda r_0, r_1, q: np.sqrt(_squared(r_0, r_1, q)),
                "This is ρ_R; return its square.",
            ),
            Mistake(
                lambda r_0, r_1, q: _squared(r_0, r_1, 1 - q),
                "q is the share of group 1, not of group 0.",
            ),
        ],
    ),
    "fair-scores/2": Function(
        "a function `smallest(score, s)` that returns the smallest p%, as a fraction, over the "
        "thresholds 0.1, 0.2, …, 0.8",
        answer=_over_thresholds(min),
        why="The smallest value shows whether the score itself is fair, and not only one "
        "label derived from it.",
        cases=_scores,
        mistakes=[
            Mistake(
                _over_thresholds(lambda p: p[4]),
                "This is p% at the threshold 0.5; use all eight thresholds.",
            ),
            Mistake(
                _over_thresholds(np.mean),
                "This is the mean over the thresholds; return the minimum.",
            ),
            Mistake(
                _over_thresholds(max),
                "This is the maximum over the thresholds; return the minimum.",
            ),
        ],
    ),
    "fair-scores/3": Function(
        "a function `soft_decision(score)` that returns an array of shape (N, 2): the ramp H at "
        "one half for twelve bins, and its slope",
        answer=_ramp,
        why="The ramp is the sum of the upper six bins, and its slope is the sum of their slopes.",
        cases=[
            (np.array([0.1, 0.42, 0.47, 0.5, 0.53, 0.58, 0.9]),),
            (np.linspace(0.38, 0.62, 13),),
        ],
        mistakes=[
            Mistake(
                lambda score: _scaled(score, [1.0, 0.1]),
                "The slope lacks the factor c - 2 from the chain rule.",
            ),
            Mistake(
                _step, "This is the hard step. Its slope is 0, so it cannot be used in training."
            ),
            Mistake(
                lambda score: _scaled(score, [1.0, -1.0]),
                "The ramp increases with the score, so its slope cannot be negative.",
            ),
        ],
    ),
}
