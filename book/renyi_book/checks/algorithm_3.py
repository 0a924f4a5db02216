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
    """A pass over the points, as a function of (X, s, labels, K, lam) that returns new labels."""

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


def _follows(x, w=1 / 3, centre=5.0):
    """The λ at which x, with s = 1, is indifferent between -centre (w = 1) and centre (w)."""
    return ((x - centre) ** 2 - (x + centre) ** 2) / (1 - w) ** 2


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
        why="The two scores tie there; above it the second point follows the first.",
        mistakes=[
            Mistake(
                lambda: _follows(-4.0) * (4 / 9) ** 2, "Divide by 4/9, do not multiply by it."
            ),
            Mistake(
                lambda: (-4.0 - 5.0) ** 2 * 9 / 4,
                "Its own cluster has a positive score, the squared distance from its centre.",
            ),
            Mistake(lambda: _follows(-6.0, w=0.0), "This is where the *first* point leaves."),
            Mistake(lambda: _follows(-4.0, centre=4.5), "The centres are at -5 and 5 now."),
        ],
        rtol=1e-6,
    ),
    "algorithm-3/b": Number(
        "a whole number of passes",
        answer=lambda: 2**5 - 2,
        why="Each point has two choices, and two of the 32 assignments leave a cluster empty. The "
        "start and the assignments after 30 passes are 31: two of them are the same.",
        mistakes=[
            Mistake(2**5, "Two of these leave a cluster empty."),
            Mistake(5**2, "Each of the five points chooses one of two clusters: 2⁵, not 5²."),
            Mistake(2**4 - 1, "So many *partitions* there are; the clusters have numbers here."),
            Mistake(
                lambda: 2**5 - 3,
                "The start and the assignments after so many passes may still all be different.",
            ),
        ],
    ),
    "algorithm-3/1": Number(
        "a number: how many passes the loop makes",
        answer=1,
        why="Both names mean one array, and an array is always equal to itself.",
        mistakes=[
            Mistake(0, "The test comes after the pass, so there is at least one."),
            Mistake(
                2,
                "Two are needed if `before` is a copy and nothing moves in the second. Here it is "
                "no copy.",
            ),
            Mistake(150, "This is the limit of the library's loop, which compares with a copy."),
        ],
        rtol=0,
    ),
    "algorithm-3/2": Choice(
        "the order that stands apart from the others",
        options=("as it is", "sorted by s", "random"),
        answer="as it is",
        why="Children of one kind arrive in a row, neighbourhood by neighbourhood; shuffle the "
        "rows.",
        mistakes={
            "sorted by s": "It ends close to the random orders. Did you take the start and s "
            "along in the same order?",
            "random": "The three random orders agree with each other. Which does not agree with "
            "them?",
        },
    ),
    "algorithm-3/3": Function(
        "a function `repaired(X, s, labels, K, lam)` that returns the labels after one pass: "
        "points in order, each to the cluster of the smallest ΔF if that is negative, w up to "
        "date at every visit, centres from the start of the pass, no cluster emptied",
        answer=_one_pass(_true_change),
        why="Every move lowers F, the centres do not raise it, and assignments are finite in "
        "number: it must stop.",
        cases=_towns,
        mistakes=[
            Mistake(
                _one_pass(_line_6),
                "This is line 6 as it stands: the factors n/(n + 1) and n/(n − 1) are missing.",
            ),
            Mistake(
                _one_pass(_exchanged),
                "The factors are exchanged: the cluster that gains a point has n/(n + 1).",
            ),
            Mistake(
                _one_pass(_true_change, fresh_w=False),
                "w and the sizes are those of the start of the pass; bring them up to date at "
                "every visit.",
            ),
            Mistake(
                _one_pass(_true_change, fresh_centers=True),
                "The centres move at every visit. A good idea, but the next chapter's; here "
                "they wait for the end of the pass.",
            ),
        ],
    ),
}
