"""From intervals to verdicts: every case of the table, parts, guards, adjustment and power."""

import numpy as np
import pytest
from scipy.stats import t

from renyi_book.scorecard import judging as j
from renyi_book.scorecard.statistics import signed

from .simulated import normal


def around(mean, half, n=30):
    """Numbers whose 95 % interval is mean plus or minus half."""
    return mean + normal(n) * half * np.sqrt(n) / t.ppf(0.975, n - 1)


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        (0.5, 0.2, j.HOLDS),  # [.3, .7]
        (0.1, 0.05, j.PART),  # [.05, .15]: the sign, not the size
        (0.0, 0.1, j.FAILS),  # [-.1, .1]
        (-0.5, 0.1, j.FAILS),  # the other way round
        (0.1, 0.5, j.UNDECIDED),  # [-.4, .6]
        (0.31, 0.3, j.HOLDS),  # [.01, .61]
    ],
)
def test_difference_is_judged_by_both_ends_of_its_interval(mean, half, verdict):
    found = j.difference(around(mean, half), 0.3, "ahead by")
    assert j.verdict(found) == verdict
    assert j.of_interval("difference", found.low, found.high, 0.3) == verdict
    assert ("the other way round" in found.text) == (mean + half < 0)


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        (0.0, 0.01, j.HOLDS),
        (0.005, 0.01, j.HOLDS),
        (0.05, 0.01, j.FAILS),
        (-0.05, 0.01, j.FAILS),
        (0.0, 0.05, j.UNDECIDED),
        (0.02, 0.01, j.UNDECIDED),
    ],
)
def test_equivalence_requires_evidence(mean, half, verdict):
    found = j.equivalence(around(mean, half), 0.02, "gap")
    assert j.verdict(found) == verdict
    if verdict != j.FAILS:
        assert j.of_interval("equivalence", found.low, found.high, 0.02) == verdict


@pytest.mark.parametrize(
    ("found", "verdict"), [(0.7078, j.HOLDS), (0.72, j.PART), (0.98, j.FAILS)]
)
def test_number_on_the_same_rows_is_judged_as_reproduced_or_not(found, verdict):
    assert j.verdict(j.value(found, 0.7075, 0.005, 0.02, "p%")) == verdict


def test_all_parts_must_be_true():
    good, bad, open_, part = (
        j.difference(around(*numbers), 0.3, "x")
        for numbers in ((0.5, 0.2), (-0.5, 0.1), (0.1, 0.5), (0.1, 0.05))
    )
    for parts, verdict in (
        ([good, good], j.HOLDS),
        ([good, bad], j.PART),
        ([bad, bad], j.FAILS),
        ([good, open_], j.UNDECIDED),
        ([bad, open_], j.FAILS),
        ([good, part], j.PART),
    ):
        assert j.verdict(j.everything(parts)) == verdict
    assert j.everything([good, bad]).estimate == bad.estimate


def test_accuracy_gained_at_the_cost_of_fairness_holds_in_part():
    ahead, behind = (j.difference(around(mean, 0.1), 0.3, "ahead") for mean in (1, -1))
    fairer, less_fair, same = (
        j.difference(around(mean, 0.01), 0.02, "fairer") for mean in (0.1, -0.1, 0)
    )
    assert j.verdict(j.guarded(ahead, less_fair)) == j.PART
    assert j.verdict(j.guarded(ahead, same)) == j.HOLDS
    assert j.verdict(j.guarded(behind, fairer)) == j.PART
    assert j.verdict(j.guarded(behind, same)) == j.FAILS


def test_adjustment_for_the_family_makes_verdicts_stricter():
    found = j.difference(around(0.5, 0.45), 0.3, "ahead by")
    assert j.verdict(found) == j.HOLDS
    assert j.verdict(found, support_factor=8) == j.UNDECIDED


def test_seeds_can_be_left_out():
    values = np.array([1.0, 2, 3, 4, 50])
    found = j.difference(values, 0.3, "x", seeds=range(100, 105))
    left = found.without({104})
    assert left.estimate == pytest.approx(2.5)
    assert left.n == 4
    both = j.everything([found, found]).without({104})
    assert both.parts[0].estimate == pytest.approx(2.5)
    without_seeds = j.exact(True, "x")
    assert without_seeds.without({104}) is without_seeds


def test_a_difference_of_violations_is_judged_like_an_interval():
    far, near = signed(-0.5 + 0.1 * normal(30, 1)), signed(0.05 + 0.1 * normal(30, 2))
    assert j.verdict(j.folded(far, near, 0.02, "fairer by")) == j.HOLDS
    assert j.verdict(j.folded(near, far, 0.02, "fairer by")) == j.FAILS
    close = signed(0.04 + 0.1 * normal(30, 3))
    assert j.verdict(j.folded(near, close, 0.02, "fairer by", ratio=9)) == j.UNDECIDED
    assert "the other way round" in j.folded(near, far, 0.02, "fairer by").text
    assert j.folded(far, near, 0.02, "fairer by", seeds=range(30)).without({1, 2}).n == 28


def test_single_part_is_contradicted_only_after_adjustment():
    """Alone, the part is just excluded; beside a part that holds, it is undecided."""
    good, bad = (j.difference(around(*n), 0.3, "x") for n in ((0.5, 0.2), (0.1, 0.19)))
    assert j.verdict(bad) == j.FAILS
    assert j.verdict(j.everything([good, bad])) == j.UNDECIDED
    worse = j.difference(around(-0.1, 0.19), 0.3, "x")
    assert j.verdict(j.everything([good, worse])) == j.PART


def test_the_required_number_of_splits_is_reported():
    found = j.difference(around(0.1, 0.5), 0.3, "ahead by", unit=" points")
    assert "1.00 points long" in found.power()
    assert "one shorter than 0.3 would decide the row, which takes about" in found.power()
    wide = j.difference(around(0.1, 5), 0.3, "ahead by", ratio=0.6)
    assert "with more and more splits of these data it tends to" in wide.power()
    short = j.difference(around(0.1, 0.11), 0.3, "ahead by")
    assert "would decide the row alone" in short.power()


def test_one_split_gives_no_result():
    with pytest.raises(j.NoResult):
        j.difference([1.0], 0.3, "x")
    with pytest.raises(j.NoResult):
        j.folded(np.ones((1, 2)), np.ones((1, 2)), 0.3, "x")
