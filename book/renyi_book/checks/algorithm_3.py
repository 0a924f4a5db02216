"""Checks for the exercises of "algorithm-3"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number


def _line_6(d, e, size, a, lam):
    return d - d[a] - lam * (e - e[a])


def _true_change(d, e, size, a, lam):
    return d - d[a] - lam * (size / (size + 1) * e - size[a] / (size[a] - 1) * e[a])


def _exchanged(d, e, size, a, lam):
    return d - d[a] - lam * (size / (size - 1) * e - size[a] / (size[a] + 1) * e[a])


def _one_pass(change, fresh_w=True, fresh_centers=False):
    """Return a function of (X, s, labels, K, lam) that makes one pass and returns new labels."""

    def visit(X, s, labels, K, lam):
        labels, before = labels.copy(), labels
        for n in range(len(X)):
            a = labels[n]
            at = labels if fresh_centers else before
            c = np.array([X[at == k].mean(axis=0) for k in range(K)])
            seen = labels if fresh_w else before
            size = np.bincount(seen, minlength=K)
            if change is not _line_6 and np.sum(labels == a) == 1:
                continue
            e = (np.bincount(seen, s, K) / size - s[n]) ** 2
            gain = change(((X[n] - c) ** 2).sum(axis=1), e, size, a, lam)
            if gain.min() < -1e-9:
                labels[n] = gain.argmin()
        return labels

    return visit


def _follows(x, w=1 / 3, center=5.0):
    """Compute the λ at which x (s = 1) is indifferent between -center (w = 1) and center (w)."""
    return ((x - center) ** 2 - (x + center) ** 2) / (1 - w) ** 2


def _towns():
    cases = []
    for seed, K, lam in ((0, 3, 2.0), (1, 3, 8.0), (2, 4, 4.0)):
        rng = np.random.default_rng(seed)
        labels = rng.integers(K, size=60)
        X = rng.normal(size=(60, 2)) + 1.5 * rng.integers(3, size=(60, 1))
        s = (rng.random(60) < 0.2 + 0.6 * (X[:, 0] > 1)).astype(int)
        cases.append((X, s, labels, K, lam))
    return cases


EXERCISES = {
    "algorithm-3/a": Number(
        "a number: the λ at which both scores are equal",
        answer=lambda: _follows(-4.0),
        why="At this λ the two scores are equal, and above it the second point follows the first.",
        mistakes=[
            Mistake(
                lambda: _follows(-4.0) * (4 / 9) ** 2, "Divide by 4/9 rather than multiply by it."
            ),
            Mistake(
                lambda: (-4.0 - 5.0) ** 2 * 9 / 4,
                "The point's own cluster has a positive score, namely the squared "
                "distance from its center.",
            ),
            Mistake(lambda: _follows(-6.0, w=0.0), "This is where the *first* point leaves."),
            Mistake(lambda: _follows(-4.0, center=4.5), "The centers are now at -5 and 5."),
        ],
        rtol=1e-6,
    ),
    "algorithm-3/b": Number(
        "a whole number of passes",
        answer=lambda: 2**5 - 2,
        why="Each point has two choices, and two of the 32 assignments leave a cluster "
        "empty, so 30 are possible. With the start, 30 passes give 31 assignments, so two of"
        " them are the same.",
        mistakes=[
            Mistake(2**5, "Two of these leave a cluster empty."),
            Mistake(5**2, "Each of the five points chooses one of two clusters: 2⁵, not 5²."),
            Mistake(
                2**4 - 1, "This is the number of *partitions*. Here the clusters are numbered."
            ),
            Mistake(
                lambda: 2**5 - 3,
                "The start and the assignments after this many passes may still all be different.",
            ),
        ],
    ),
    "algorithm-3/1": Number(
        "a number: how many passes the loop makes",
        answer=1,
        why="Both names refer to the same array, and an array is always equal to itself.",
        mistakes=[
            Mistake(0, "The test comes after the pass, so there is at least one pass."),
            Mistake(
                2,
                "Two passes are needed if `before` is a copy and nothing moves in the "
                "second pass. Here `before` is not a copy.",
            ),
            Mistake(150, "This is the limit of the library's loop, which compares with a copy."),
        ],
        rtol=0,
    ),
    "algorithm-3/2": Choice(
        "the order whose result differs from the others",
        options=("as it is", "sorted by s", "random"),
        answer="as it is",
        why="The original order lists one neighborhood after another and ends with a larger"
        " loss and less fairness, so shuffle the rows.",
        mistakes={
            "sorted by s": "This order ends close to the random ones. Reorder the start "
            "and s together with the points.",
            "random": "The three random orders agree with each other. Which order does "
            "not agree with them?",
        },
    ),
    "algorithm-3/3": Function(
        "a function `repaired(X, s, labels, K, lam)` that returns the labels after one "
        "pass. Points are visited in order, and each moves to the cluster with the "
        "smallest ΔF if that is negative; w is up to date at every visit, the centers are"
        " those from the start of the pass, and no cluster is emptied",
        answer=_one_pass(_true_change),
        why="Every move decreases F, updating the centers does not increase it, and there"
        " are finitely many assignments, so the method stops.",
        cases=_towns,
        mistakes=[
            Mistake(
                _one_pass(_line_6),
                "This is line 6 as printed, without the factors n/(n + 1) and n/(n − 1).",
            ),
            Mistake(
                _one_pass(_exchanged),
                "The factors are exchanged; the cluster that gains a point has n/(n + 1).",
            ),
            Mistake(
                _one_pass(_true_change, fresh_w=False),
                "w and the sizes are those from the start of the pass; update them at "
                "every visit.",
            ),
            Mistake(
                _one_pass(_true_change, fresh_centers=True),
                "Your centers move at every visit. The next chapter does this, but here "
                "they are updated at the end of the pass.",
            ),
        ],
    ),
}
