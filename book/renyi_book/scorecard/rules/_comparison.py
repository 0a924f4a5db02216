"""Rules that compare two methods on the same splits."""

import numpy as np

from renyi_book.scorecard import statistics
from renyi_book.scorecard.judging import (
    HOLDS,
    UNDECIDED,
    Evidence,
    difference,
    folded,
    guarded,
)
from renyi_book.scorecard.reading import common, greater, rates, signed_gap, signed_log_ratio

#: Smallest difference in a log ratio, gap or DP violation that matters.
FAIRNESS = 0.02


def chosen_points(renyi, rival, fairness, level):
    """Return seeds, the points of both methods chosen on validation rows, and a note."""
    seeds = common(renyi, rival)
    ours = [renyi[seed].chosen(fairness, level) for seed in seeds]
    theirs = [rival[seed].chosen(fairness, level) for seed in seeds]
    reached = [sum(fair for _, fair in points) for points in (ours, theirs)]
    note = f"fair enough on {reached[0]} (Rényi) and {reached[1]} (rival) of {len(seeds)} splits"
    return seeds, [point for point, _ in ours], [point for point, _ in theirs], note


def accuracy_when_fair(renyi, rival, fairness, level, delta, share, groups=2):
    """Compute Rényi's lead in accuracy and in fairness, with lambda chosen on validation rows."""
    seeds, ours, theirs, note = chosen_points(renyi, rival, fairness, level)
    ahead = [100 * (a["accuracy"] - b["accuracy"]) for a, b in zip(ours, theirs)]
    found = difference(
        ahead, delta, "ahead by", ratio=share, seeds=seeds, unit=" points", note=note
    )
    guard = fairness_ahead(ours, theirs, seeds, fairness, FAIRNESS, share, groups)
    return guarded(found, guard)


def fairness_ahead(ours, theirs, seeds, fairness, delta, share, groups=2, what="fairer by"):
    """Compute the baseline's violation minus that of Rényi at the chosen points."""
    if groups > 2:
        theirs, ours = (np.array([rates(p, groups) for p in points]) for points in (theirs, ours))
        rival, renyi = (float(np.ptp(values.mean(axis=0))) for values in (theirs, ours))
        note = f"DP: rival {rival:.3f}, Rényi {renyi:.3f}"
        theirs, ours = statistics.gaps(theirs), statistics.gaps(ours)
        return folded(theirs, ours, delta, what, ratio=share, seeds=seeds, note=note)
    measure = signed_log_ratio if greater(fairness) else signed_gap
    theirs, ours = (np.array([measure(p) for p in points], float) for points in (theirs, ours))
    unit = " in the log ratio" if greater(fairness) else " in the gap"
    name = "p%" if greater(fairness) else "gap"

    def level(mean):
        return np.exp(-abs(mean)) if greater(fairness) else mean

    note = f"{name}: rival {level(theirs.mean()):.3f}, Rényi {level(ours.mean()):.3f}"
    theirs, ours = statistics.signed(theirs), statistics.signed(ours)
    return folded(theirs, ours, delta, what, ratio=share, seeds=seeds, unit=unit, note=note)


def fairest_ahead(renyi, rival, fairness, delta, share, groups=2):
    """Compare the fairest points of both methods, chosen on the validation rows."""
    seeds = common(renyi, rival)
    ours, theirs = ([curve[seed].fairest(fairness) for seed in seeds] for curve in (renyi, rival))
    return fairness_ahead(ours, theirs, seeds, fairness, delta, share, groups, what="farther by")


def accuracy_at_equal_fairness(renyi, rival, fairness, level, delta, share):
    """Compute the lead in accuracy where both curves over the test rows reach a level.

    Splits on which both methods are that fair without a penalty are left out, because both are
    then the same model, and their difference is 0 by construction (a deviation from the rules).
    """
    seeds = [
        seed
        for seed in common(renyi, rival)
        if not (renyi[seed].starts_at(fairness, level) and rival[seed].starts_at(fairness, level))
    ]
    pairs = [
        (renyi[seed].interpolated(fairness, level), rival[seed].interpolated(fairness, level))
        for seed in seeds
    ]
    return at_equal(seeds, pairs, delta, share)


def at_equal(seeds, pairs, delta, share):
    """Return evidence from pairs of accuracies, which are NaN if a curve misses the level."""
    pairs = np.asarray(pairs, dtype=float).reshape(-1, 2)
    both = np.isfinite(pairs).all(axis=1)
    ours, theirs = np.isfinite(pairs).sum(axis=0)
    note = f"reached on {ours} (Rényi) and {theirs} (rival) of {len(seeds)} splits"
    if both.sum() >= 2:
        ahead = 100 * (pairs[both, 0] - pairs[both, 1])
        kept = [seed for seed, keep in zip(seeds, both) if keep]
        return difference(
            ahead, delta, "ahead by", ratio=share, seeds=kept, unit=" points", note=note
        )
    # If only Rényi reaches the level, the baseline cannot reach it at any accuracy.
    outcome = HOLDS if theirs == 0 and ours > len(seeds) / 2 else UNDECIDED
    return Evidence(
        kind="difference",
        text=f"no comparison; {note}",
        n=int(both.sum()),
        delta=delta,
        outcome=outcome,
        power=lambda: (
            f"the level is reached by both on {both.sum()} splits, and two make an interval"
        ),
    )
