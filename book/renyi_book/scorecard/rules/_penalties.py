"""Rules on Rényi, Pearson and HSIC (Fig. 2, Fig. 6 and the conclusion)."""

import numpy as np

from renyi_book.scorecard import statistics
from renyi_book.scorecard.judging import (
    NoResult,
    difference,
    everything,
    folded,
    undecided,
)
from renyi_book.scorecard.reading import BOUNDARY, NUMBERED, PANELS, common, greater, rates, ratio
from renyi_book.scorecard.rules._common import delta, options, registry
from renyi_book.scorecard.rules._comparison import (
    accuracy_at_equal_fairness,
    accuracy_when_fair,
    fairest_ahead,
    fairness_ahead,
)

RULES, rule = registry()


def _both(results, claim):
    """Return both methods' curves on a panel, with its fairness measure, ratio and groups."""
    panel, method = options(claim)["panel"], options(claim)["method"]
    table, dataset, fairness, groups = PANELS[panel]
    renyi = results.curve(table, "renyi")
    if method == "boundary":
        # In section 2, the covariance of boundary and S is bounded, and no ridge is mentioned.
        rival = results.curve(BOUNDARY[panel], options(claim).get("l2", 0.0), by="l2")
    else:
        rival = results.curve(_table_of(panel, method), method)
    return renyi, rival, fairness, ratio(dataset), groups


def _table_of(panel, method):
    return NUMBERED[panel] if method.endswith("-number") else PANELS[panel][0]


def _level(fairness, thresholds):
    return thresholds.fair_p_rule if greater(fairness) else thresholds.fair_dp


@rule
def more_accurate_when_fair(results, claim, thresholds):
    renyi, rival, fairness, share, groups = _both(results, claim)
    level, least = _level(fairness, thresholds), delta(claim, thresholds)
    return accuracy_when_fair(renyi, rival, fairness, level, least, share, groups)


@rule
def more_accurate_at_equal_fairness(results, claim, thresholds):
    renyi, rival, fairness, share, _ = _both(results, claim)
    level, least = _level(fairness, thresholds), delta(claim, thresholds)
    return accuracy_at_equal_fairness(renyi, rival, fairness, level, least, share)


@rule
def gets_farther(results, claim, thresholds):
    renyi, rival, fairness, share, groups = _both(results, claim)
    return fairest_ahead(renyi, rival, fairness, delta(claim, thresholds), share, groups)


@rule
def ends_fairer(results, claim, thresholds):
    """Compare the fairness of both methods at their largest lambda."""
    renyi, rival, fairness, share, groups = _both(results, claim)
    seeds = common(renyi, rival)
    ours, theirs = ([curve[seed].ends("test")[1] for seed in seeds] for curve in (renyi, rival))
    least = delta(claim, thresholds)
    return fairness_ahead(ours, theirs, seeds, fairness, least, share, groups, "ends fairer by")


@rule
def covariance_leaves_dependence(results, claim, thresholds):
    """Test for every ridge whether p% without boundary covariance stays below Rényi's."""
    table, dataset, fairness, groups = PANELS["adult"]
    renyi = results.curve(table, "renyi")
    parts = []
    for ridge in sorted(results.curves(BOUNDARY["adult"], by="l2")):
        rival = results.curve(BOUNDARY["adult"], ridge, by="l2")
        found = fairest_ahead(
            renyi, rival, fairness, delta(claim, thresholds), ratio(dataset), groups
        )
        parts.append(found)
    ridges = ", ".join(
        f"{ridge:g}" for ridge in sorted(results.curves(BOUNDARY["adult"], by="l2"))
    )
    ends = "; ".join(part.text for part in parts)
    return everything(parts, f"ridges {ridges}: {ends}")


@rule
def lead_grows_with_fairness(results, claim, thresholds):
    """Compute the lead at a high p% minus that at a low one, from curves over the test rows."""
    renyi, rival, fairness, share, _ = _both(results, claim)
    low, high = options(claim)["levels"]
    seeds = common(renyi, rival)
    leads = np.array(
        [
            [
                renyi[seed].interpolated(fairness, level)
                - rival[seed].interpolated(fairness, level)
                for level in (low, high)
            ]
            for seed in seeds
        ]
    )
    both = np.isfinite(leads).all(axis=1)
    kept = [seed for seed, keep in zip(seeds, both) if keep]
    note = f"both levels reached on {len(kept)} of {len(seeds)} splits"
    if len(kept) < 2:
        return undecided(f"no comparison; {note}", delta(claim, thresholds), len(kept))
    return difference(
        100 * (leads[both, 1] - leads[both, 0]),
        delta(claim, thresholds),
        "lead grows by",
        ratio=share,
        seeds=kept,
        unit=" points",
        note=note,
    )


@rule
def harder_with_more_groups(results, claim, thresholds):
    """Compute a baseline's gap to Rényi with four groups minus its gap with two groups."""
    method = options(claim)["method"]
    # With two groups the number is an indicator, so both kinds of penalty agree.
    plain = {"pearson-number": "pearson", "hsic-number": "hsic-linear"}.get(method, method)
    curves = [
        results.curve(_table_of("gender-race", method), method),
        results.curve(PANELS["gender-race"][0], "renyi"),
        results.curve(PANELS["adult"][0], plain),
        results.curve(PANELS["adult"][0], "renyi"),
    ]
    seeds = common(*curves)
    rival_4, renyi_4, rival_2, renyi_2 = (
        statistics.gaps(
            np.array([rates(curve[seed].fairest("dp_violation"), groups) for seed in seeds])
        )
        for curve, groups in zip(curves, (4, 4, 2, 2))
    )
    # Difference (baseline - Rényi) with four groups minus that with two.
    return folded(
        statistics.sums(rival_4, renyi_2),
        statistics.sums(renyi_4, rival_2),
        delta(claim, thresholds),
        "farther behind by",
        ratio=ratio("adult"),
        seeds=seeds,
        unit=" in DP",
    )


# --- Information and independence --------------------------------------------------------------


def _ends(results, column, rows="train"):
    curves = results.curve("penalties_adult", "renyi")
    seeds = common(curves)
    first, last = zip(*(curves[seed].ends(rows) for seed in seeds))
    if column not in first[0]:
        raise NoResult(f"no column {column}")
    return seeds, *(np.array([point[column] for point in end], float) for end in (first, last))


@rule
def information_vanishes(results, claim, thresholds):
    """Compute the NMI at the largest lambda as a fraction of that at lambda = 0."""
    seeds, first, last = _ends(results, options(claim)["column"])
    left = np.abs(last / first)
    return difference(
        thresholds.vanished - left,
        delta(claim, thresholds),
        "below what counts as none by",
        ratio=ratio("adult", "train"),
        seeds=seeds,
        digits=3,
        note=f"{left.mean():.4f} of it is left",
    )


@rule
def nearly_independent(results, claim, thresholds):
    """Compute how far rho_R at the largest lambda stays below that of near independence."""
    seeds, _, last = _ends(results, options(claim)["column"])
    return difference(
        thresholds.independent - last,
        delta(claim, thresholds),
        "below what counts as near by",
        ratio=ratio("adult", "train"),
        seeds=seeds,
        digits=4,
        note=f"rho_R {last.mean():.4f}",
    )
