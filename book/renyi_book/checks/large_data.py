"""Checks for the warm-ups and exercises of "large-data"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number
from renyi_lib.correlation import renyi_from_joint


def _table(parts):
    total = {}
    for part in parts:
        for pair, count in part.items():
            total[pair] = total.get(pair, 0) + count
    rows, columns = (sorted(set(labels)) for labels in zip(*total))
    return np.array([[total.get((a, b), 0) for b in columns] for a in rows])


def _from_sums(parts, by_part=False, centered=True):
    n, x, y, xx, yy, xy = np.asarray(parts) if by_part else np.asarray(parts).sum(axis=0)
    if not centered:
        return xy / np.sqrt(xx * yy)
    return (xy - x * y / n) / np.sqrt((xx - x**2 / n) * (yy - y**2 / n))


def _sums():
    rng = np.random.default_rng(3)
    cases = []
    for sizes in ((5, 40, 12), (30, 30), (8, 3, 20, 9)):
        parts = []
        for i, n in enumerate(sizes):
            x = rng.normal(i, 1, n)
            y = x * rng.normal() + rng.normal(size=n) + 2
            parts.append([n, x.sum(), y.sum(), (x**2).sum(), (y**2).sum(), (x * y).sum()])
        cases.append((parts,))
    return cases


EXERCISES = {
    "large-data/a": Number(
        "a number: how many numbers a branch sends in a round",
        answer=1 + 101 + 2 * 2 + 2 * 101,
        why="The loss, its gradient, four entries of the table, and a gradient for each group.",
        mistakes=[
            Mistake(
                1 + 100 + 2 * 2 + 2 * 100,
                "The intercept is a parameter too.",
            ),
            Mistake(
                1 + 101 + 2 * 2 + 4 * 101,
                "The two entries of a group add up to its share, which does not depend on θ, so "
                "one gradient per group is enough.",
            ),
            Mistake(
                101 + 2 * 101,
                "The loss and the table are needed as well as their gradients.",
            ),
        ],
    ),
    "large-data/b": Choice(
        "what happens to the bytes that one branch sends in a round",
        options=("they halve", "they stay the same", "they double"),
        answer="they stay the same",
        why="A sum has the size of one term, however many rows were added up.",
        mistakes={
            "they halve": "The branch has half the people. Does any of the sums become shorter?",
            "they double": "There are twice as many messages, but how long is one of them?",
        },
    ),
    "large-data/1": Function(
        "a function `merged(parts)` that returns ρ_R of all people",
        answer=lambda parts: renyi_from_joint(_table(parts)),
        why="Counts are added by label, and ρ_R is computed last.",
        cases=[
            ([{("x", 0): 8, ("x", 1): 2}, {("y", 0): 3, ("y", 1): 7}],),
            ([{("x", 0): 4, ("y", 1): 3}, {("z", 0): 2, ("x", 1): 5}, {("y", 0): 1}],),
            ([{(1, "f"): 9, (2, "m"): 4}, {(2, "f"): 3, (1, "m"): 6}],),
        ],
        mistakes=[
            Mistake(
                lambda parts: float(np.mean([renyi_from_joint(_table([p])) for p in parts])),
                "This is the mean of the parts' correlations. Add the counts first.",
            ),
            Mistake(
                lambda parts: renyi_from_joint(_table(parts)) ** 2,
                "This is ρ_R²; return ρ_R itself.",
            ),
        ],
    ),
    "large-data/2": Function(
        "a function `pearson_from_sums(parts)` that returns Pearson's correlation of all people",
        answer=_from_sums,
        why="Means, variances and the covariance are functions of six sums.",
        cases=_sums,
        mistakes=[
            Mistake(
                lambda parts: float(np.mean([_from_sums(part, by_part=True) for part in parts])),
                "This is the mean of the branches' correlations. Where their means differ, it "
                "misses the variation between branches.",
            ),
            Mistake(
                lambda parts: _from_sums(parts, centered=False),
                "The means have not been subtracted.",
            ),
        ],
    ),
    "large-data/3": Function(
        "a function `best_workers(work, tau)` that returns the best number, not rounded",
        answer=lambda work, tau: work * np.log(2) / tau,
        why="There the last machine saves as much work as it adds to the waiting time.",
        cases=[(60.0, 0.1), (1.0, 0.001), (500.0, 2.0)],
        mistakes=[
            Mistake(
                lambda work, tau: work / tau,
                "The derivative of log₂ W is 1 / (W ln 2), so a factor is missing.",
            ),
            Mistake(
                lambda work, tau: work / (tau * np.log(2)),
                "The factor ln 2 is on the wrong side. Set work / W² equal to τ / (W ln 2).",
            ),
            Mistake(
                lambda work, tau: np.sqrt(work / tau),
                "This is right for a waiting time proportional to W, but in a tree it grows like "
                "log₂ W.",
            ),
        ],
    ),
}
