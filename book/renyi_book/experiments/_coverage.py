"""Simulated samples, and how often intervals cover a known true value."""

import zlib

import numpy as np

# 1 - the confidence level of the intervals.
LEVEL = 0.05
# Number of random tables or samples for each interval.
N_RESAMPLES = 1000
# Number of samples processed at a time, so that their random tables fit into memory.
BLOCK = 100
# A coverage between these values is too close to 0.93, the least that we accept, to be judged by
# a few samples.
_UNCLEAR = (0.9, 0.94)


def generator(*what):
    """Return the random number generator of the cell `what` of a grid; cells are independent."""
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def samples(truth, n, times, rng):
    """Sample tables of counts in which both variables vary, and drop empty rows and columns."""
    tables = []
    while len(tables) < times:
        drawn = rng.multinomial(n, truth.ravel()).reshape(truth.shape)
        drawn = drawn[np.ix_(drawn.any(axis=1), drawn.any(axis=0))]
        if min(drawn.shape) > 1:
            tables.append(drawn)
    return tables


def by_shape(tables):
    """Yield stacks of at most BLOCK tables of the same shape."""
    shapes = {}
    for table in tables:
        shapes.setdefault(table.shape, []).append(table)
    for same in shapes.values():
        for start in range(0, len(same), BLOCK):
            yield np.array(same[start : start + BLOCK])


def covered(ends, truth):
    """Compute how often intervals cover the true value, and on which side they miss it.

    A row of `ends` begins with the estimate, the plug-in value and both ends of an interval. The
    result also contains the number of intervals, their median width and the median estimate.
    """
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
    """Measure how often intervals of new samples cover the true value, twice if it is unclear.

    Of several hundred settings with a coverage of 0.95, a few show less than 0.93 by chance. An
    unclear result is therefore discarded, and the coverage is measured again with new samples.

    Parameters
    ----------
    intervals : callable
        Function that draws a given number of samples and returns their intervals, one row each.
    truth : float
        True value.
    replicates, again : int
        Number of samples in the first and the second measurement; 0 means no second one.

    Returns
    -------
    dict
        Result of `covered`.
    """
    found = covered(intervals(replicates), truth)
    if again and _UNCLEAR[0] <= found["share"] < _UNCLEAR[1]:
        found = covered(intervals(again), truth)
    return found
