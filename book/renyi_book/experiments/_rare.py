"""Coverage of intervals for small groups, and comparison of planned with measured power."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._coverage import (
    BLOCK,
    LEVEL,
    N_RESAMPLES,
    by_shape,
    generator,
    measured,
    samples,
)
from renyi_book.experiments._one_curve import curve_rate_intervals, curve_renyi_intervals
from renyi_lib import inference
from renyi_lib._chance import rho_of_tables
from renyi_lib._rates import gap, one_minus_ratio, rate_intervals
from renyi_lib._wishart import largest_root_isf
from renyi_lib._worlds import renyi_intervals

# Rates of two large groups and of one small group.
_THIRD = {
    "all alike": [0.5, 0.5, 0.5],
    "all alike, low": [0.05, 0.05, 0.05],
    "two apart": [0.7, 0.78, 0.7],
    "two far apart": [0.3, 0.6, 0.45],
    "small one apart": [0.5, 0.5, 0.8],
    "small one apart, low": [0.05, 0.05, 0.3],
    "small one never": [0.3, 0.3, 0.0],
    "small one always": [0.3, 0.4, 1.0],
}
# Rates of eight groups, from the largest to the smallest.
_EIGHT = {
    "eight alike": [0.3] * 8,
    "eight graded": np.linspace(0.3, 0.5, 8),
    "rarest apart": [0.3] * 7 + [0.7],
    "largest apart": [0.5] + [0.3] * 7,
}
# Shares of the eight groups.
_UNEQUAL = np.array([0.4, 0.3, 0.15, 0.08, 0.04, 0.02, 0.008, 0.002])
# Probabilities of the common values, given that the value is not the rare one. In "both", the
# other variable has the same distribution; otherwise it is the decision.
_COMMON = {
    "both": [0.2, 0.3, 0.5],
    "one": [0.2, 0.3, 0.5],
    "eight": [0.35, 0.25, 0.15, 0.1, 0.08, 0.05, 0.02],
}
_DECISION = [0.4, 0.6]
# Measure for each metric, and its number of strata by true label (0 without stratification).
METRICS = {
    "demographic_parity_ratio": (one_minus_ratio, 0),
    "demographic_parity_difference": (gap, 0),
    "equal_opportunity_difference": (gap, 1),
    "equalized_odds_difference": (gap, 2),
}
# Functions for intervals of tables and of rates, along one curve and as in the library.
METHODS = {
    "one curve": (curve_renyi_intervals, curve_rate_intervals),
    "library": (renyi_intervals, rate_intervals),
}


def rare_values(
    *,
    kinds=tuple(_COMMON),
    shares=(0.005, 0.01, 0.02, 0.05),
    sizes=(100, 500, 2000, 10_000),
    strengths=(0.0, 0.25, 0.5, 1.0),
    methods=tuple(METHODS),
    replicates=500,
    again=2000,
    before=100,
    seed=0,
    progress=True,
):
    """Measure how often 95 % intervals of rho_R cover a dependence that one rare value carries.

    Parameters
    ----------
    kinds : sequence of {"both", "one", "eight"}
        Types of tables. "both" has four values of each variable, and a rare value of one goes with
        a rare value of the other. "one" has a rare group among four, and a decision that is
        positive in four of ten cases. "eight" is the same with eight groups of unequal sizes.
    shares : sequence of float
        Shares of the rare value.
    sizes : sequence of int
        Sample sizes.
    strengths : sequence of float
        Values of rho_R, as fractions of the maximum that the margins allow.
    methods : sequence of {"one curve", "library"}
        Types of intervals; "one curve" inverts a test only along one curve of tables.
    replicates : int, default=500
        Number of simulated samples for each cell (kind, share, size and strength) with "library",
        for a standard error of about 0.01 at a coverage of 0.95.
    again : int, default=2000
        Number of new samples for cells in which the library's coverage is between 0.90 and 0.94;
        only these count there, so that cells seldom fail by chance alone. 0 means that no cell is
        measured again.
    before : int, default=100
        Number of samples for each cell with "one curve", whose failures are so large that few
        samples are enough.
    seed, progress
        Same as in `calibration`.

    Returns
    -------
    DataFrame
        Columns ``kind, share_rare, n, strength, method``; ``truth``; ``possible``, whether a
        sample contains the rare value with a probability of at least 97.5 % (without it, no
        interval can cover the true value); and ``share, replicates, above, below, width,
        estimate`` as in `calibration`.

    Examples
    --------
    >>> from renyi_book.experiments import rare_values
    >>> few = {"kinds": ["one"], "shares": [0.05], "sizes": [100], "strengths": [0.0]}
    >>> table = rare_values(**few, methods=["library"], replicates=10, progress=False)
    >>> table[["kind", "n", "possible"]].to_numpy().tolist()
    [['one', 100, True]]
    """
    found = []
    cells = list(product(kinds, shares, sizes, strengths))
    for kind, share, n, strength in tqdm(cells, disable=not progress, leave=False):
        P, rho = rare_table(kind, share, strength)
        where = {"kind": kind, "share_rare": share, "n": n, "strength": strength, "truth": rho}
        where["possible"] = bool((1 - share) ** n <= LEVEL / 2)
        for method in methods:
            rng = generator(seed, kind, share, n, strength)
            intervals = partial(_of_values, P, n, METHODS[method][0], rng)
            times = (replicates, again) if method == "library" else (before, 0)
            held = measured(intervals, rho, *times)
            found.append(where | {"method": method} | held)
    return pd.DataFrame(found)


def _of_values(P, n, intervals, rng, times):
    """Compute intervals of rho_R for samples of the table P."""
    options = {"level": LEVEL, "n_resamples": N_RESAMPLES, "rng": rng}
    stacks = by_shape(samples(P, n, times, rng))
    return np.concatenate([intervals(stack, **options)[:, :4] for stack in stacks])


def rare_table(kind, share, strength):
    """Return a joint table in which one rare value carries the dependence, and its rho_R."""
    p = np.r_[share, (1 - share) * np.array(_COMMON[kind])]
    q = p if kind == "both" else np.array(_DECISION)
    f, g = (_indicator(m) for m in (p, q))
    rho = strength / max(-np.outer(f, g).min(), 1.0)
    P = np.maximum(np.outer(p, q) * (1 + rho * np.outer(f, g)), 0.0)
    return P / P.sum(), rho


def _indicator(p):
    """Return the indicator of the first value, with mean 0 and variance 1."""
    f = (np.arange(len(p)) == 0) - p[0]
    return f / np.sqrt(p @ f**2)


# Former names of the metrics, which are part of the seeds of the stored table.
_SEED_NAMES = {
    "demographic_parity_ratio": "p_rule",
    "demographic_parity_difference": "demographic_parity_violation",
    "equal_opportunity_difference": "equal_opportunity_violation",
    "equalized_odds_difference": "equalized_odds_violation",
}


def rare_groups(
    *,
    cases=(*_THIRD, *_EIGHT),
    sizes=(50, 500, 5000),
    small=(1, 3, 10, 40),
    metrics=tuple(METRICS),
    methods=tuple(METHODS),
    replicates=500,
    again=2000,
    before=100,
    seed=0,
    progress=True,
):
    """Measure how often 95 % intervals of fairness metrics cover the true value for small groups.

    Parameters
    ----------
    cases : sequence of str
        Names of cases, from "all alike" to "small one always" with two large groups and a small
        one, and from "eight alike" to "largest apart" with eight groups of 40 % to 0.2 %.
    sizes : sequence of int
        Numbers of people in each of the two large groups; for eight groups, half of the total.
    small : sequence of int
        Numbers of people in the small group, for the cases with two large groups.
    metrics : sequence of str
        Metrics. For equal opportunity, about half of the people, and at least one in each group,
        have the positive label; for equalized odds, all groups also have the same rate of positive
        decisions given the other label.
    methods : sequence of {"one curve", "library"}
        Types of intervals.
    replicates, again, before, seed, progress
        Same as in `rare_values`.

    Returns
    -------
    DataFrame
        Columns ``case, n, smallest`` (people in the smallest group), ``metric, method, truth``
        (for the ratio, 1 minus the ratio) and ``share, replicates, above, below, width, estimate``
        as in `calibration`.

    Examples
    --------
    >>> from renyi_book.experiments import rare_groups
    >>> few = {"cases": ["two apart"], "sizes": [100], "small": [1], "methods": ["library"]}
    >>> table = rare_groups(**few, replicates=10, progress=False)
    >>> table["truth"].round(2).tolist()
    [0.1, 0.08, 0.08, 0.08]
    """
    found = []
    cells = [
        (case, n, least)
        for case in cases
        for n in sizes
        for least in (small if case in _THIRD else [max(round(2 * n * _UNEQUAL[-1]), 1)])
    ]
    for (case, n, least), metric in tqdm(
        list(product(cells, metrics)), disable=not progress, leave=False
    ):
        if case in _THIRD:
            rates, size = np.array(_THIRD[case]), np.array([n, n, least])
        else:
            rates, size = np.array(_EIGHT[case]), np.maximum(np.round(2 * n * _UNEQUAL), 1)
        measure, strata = METRICS[metric]
        rates = np.stack([rates, np.full_like(rates, rates[0])])[: max(strata, 1)]
        size = size.astype(int)
        where = {"case": case, "n": n, "smallest": int(size.min()), "metric": metric}
        where["truth"] = float(measure(rates))
        for method in methods:
            rng = generator(seed, case, n, least, _SEED_NAMES[metric])
            intervals = partial(_of_groups, metric, rates, size, METHODS[method][1], rng)
            times = (replicates, again) if method == "library" else (before, 0)
            held = measured(intervals, where["truth"], *times)
            found.append(where | {"method": method} | held)
    return pd.DataFrame(found)


def _of_groups(metric, rates, size, intervals, rng, times):
    """Compute intervals of a metric for decisions with these rates, by stratum and group."""
    measure, strata = METRICS[metric]
    options = {"level": LEVEL, "n_resamples": N_RESAMPLES, "rng": rng}
    people = np.broadcast_to(size, (times, *rates.shape))
    if strata:
        people = np.maximum(rng.binomial(people, 0.5), 1)
    positive = rng.binomial(people, rates)
    blocks = [slice(i, i + BLOCK) for i in range(0, times, BLOCK)]
    ends = [intervals(measure, positive[block], people[block], **options) for block in blocks]
    return np.concatenate(ends)[:, :4]


# Effects to detect, with the groups in which they occur.
PLANS = {
    "rho .1, equal halves": {"effect": 0.1},
    "rho .3, equal halves": {"effect": 0.3},
    "rho .2, group of 5 %": {
        "effect": 0.2,
        "shares": [0.05, 0.95],
        "outcome_shares": [0.3, 0.7],
    },
    "rho .2, 3 x 4": {
        "effect": 0.2,
        "shares": [0.2, 0.3, 0.5],
        "outcome_shares": [0.1, 0.2, 0.3, 0.4],
    },
    "gap .1, equal halves": {"effect": 0.1, "metric": "demographic_parity_difference"},
    "gap .2, group of 5 %": {
        "effect": 0.2,
        "metric": "demographic_parity_difference",
        "shares": [0.05, 0.95],
    },
    "gap .1, five groups": {
        "effect": 0.1,
        "metric": "demographic_parity_difference",
        "shares": [0.05, 0.1, 0.15, 0.3, 0.4],
        "rate": 0.3,
    },
    "p% 80, equal halves": {"effect": 0.8, "metric": "demographic_parity_ratio"},
    "p% 80, rate 10 %": {"effect": 0.8, "metric": "demographic_parity_ratio", "rate": 0.1},
    "p% 50, group of 2 %": {
        "effect": 0.5,
        "metric": "demographic_parity_ratio",
        "shares": [0.02, 0.98],
    },
}


def planned_power(*, plans=tuple(PLANS), powers=(0.5, 0.8, 0.9), replicates=4000, seed=0):
    """Compare the power that `sample_size` plans for with the share of significant new samples.

    Parameters
    ----------
    plans : sequence of str
        Keys of `PLANS`.
    powers : sequence of float
        Planned powers.
    replicates : int, default=4000
        Number of samples for each plan and power, for a standard error of 0.008 or less.
    seed : int, default=0
        Random seed.

    Returns
    -------
    DataFrame
        Columns ``plan, power``; ``n``, the required number of people; ``found``, the share of
        samples of that size for which `renyi_test`, with asymptotic p-values, rejects independence
        at the 5 % level.

    Examples
    --------
    >>> from renyi_book.experiments import planned_power
    >>> planned_power(plans=["rho .3, equal halves"], powers=[0.8])["n"].between(80, 95).tolist()
    [True]
    """
    found = []
    for plan, power in product(plans, powers):
        n = inference.sample_size(**PLANS[plan], power=power)
        P = inference._planned_table(**PLANS[plan])
        rng = generator(seed, plan, power)
        tables = rng.multinomial(n, P.ravel(), size=replicates).reshape(-1, *P.shape)
        statistic = n * rho_of_tables(tables) ** 2
        critical = largest_root_isf(LEVEL, *np.subtract(P.shape, 1))
        found.append(
            {"plan": plan, "power": power, "n": n, "found": np.mean(statistic > critical)}
        )
    return pd.DataFrame(found)
