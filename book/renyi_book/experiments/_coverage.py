"""Simulated samples, and how often intervals cover a truth that is known."""

import zlib

import numpy as np

LEVEL = 0.05
# Random tables or samples for each interval.
N_RESAMPLES = 1000
# Samples that are handled at a time, so that their random tables fit into memory.
BLOCK = 100
# A share of covered truths between these is too close to the goal of .93 to judge it.
_UNCLEAR = (0.9, 0.94)


def generator(*what):
    """Random numbers for one cell of a grid, whatever the others are."""
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def samples(truth, n, times, rng):
    """Tables of counts, without empty rows and columns; both variables vary."""
    tables = []
    while len(tables) < times:
        drawn = rng.multinomial(n, truth.ravel()).reshape(truth.shape)
        drawn = drawn[np.ix_(drawn.any(axis=1), drawn.any(axis=0))]
        if min(drawn.shape) > 1:
            tables.append(drawn)
    return tables


def by_shape(tables):
    """Stacks of tables of the same shape, of limited length."""
    shapes = {}
    for table in tables:
        shapes.setdefault(table.shape, []).append(table)
    for same in shapes.values():
        for start in range(0, len(same), BLOCK):
            yield np.array(same[start : start + BLOCK])


def covered(ends, truth):
    """How often the intervals cover the truth, and on which side they miss it."""
    estimate, _, low, high = np.transpose(ends)[:4]
    above, below = np.mean(low > truth + 1e-9), np.mean(high < truth - 1e-9)
    return {
        "share": 1 - above - below,
        "replicates": len(low),
        "above": above,
        "below": below,
        "width": np.median(high - low),
        "estimate": np.median(estimate),
    }


def measured(intervals, truth, replicates, again):
    """How often intervals of new samples cover the truth, and more precisely where it matters.

    Of several hundred cells with a coverage of .95 a few show less than .93 by chance. So a cell
    that is unclear is measured again, with fresh samples, and only these count.

    Parameters
    ----------
    intervals : function of a number of samples
        Draws the samples and returns their intervals, a row each.
    truth : float
    replicates, again : int
        Samples of the first and of the second measurement; no second one if `again` is 0.
    """
    found = covered(intervals(replicates), truth)
    if again and _UNCLEAR[0] <= found["share"] < _UNCLEAR[1]:
        found = covered(intervals(again), truth)
    return found
