"""Coverage is measured on both sides, and again if the first result is unclear."""

import numpy as np
import pytest

from renyi_book.experiments._coverage import covered, generator, measured, samples


def intervals_of(shares, calls):
    """Return a function whose k-th call gives intervals of which the k-th share covers 0.5."""

    def intervals(times):
        calls.append(times)
        hit = np.arange(times) < shares[len(calls) - 1] * times
        low = np.where(hit, 0.4, 0.6)
        return np.column_stack([low, low, low, low + 0.2])

    return intervals


def test_misses_are_counted_on_both_sides():
    ends = np.array([[0.5, 0.5, 0.4, 0.6], [0.7, 0.7, 0.6, 0.8], [0.2, 0.2, 0.1, 0.3]])
    found = covered(ends, 0.5)
    assert [found[k] for k in ("share", "above", "below")] == pytest.approx([1 / 3] * 3)
    assert found["width"] == pytest.approx(0.2)


@pytest.mark.parametrize(("first", "again"), [(0.92, True), (0.96, False), (0.5, False)])
def test_only_unclear_cells_are_measured_again(first, again):
    calls = []
    found = measured(intervals_of([first, 0.95], calls), 0.5, 500, 2000)
    assert calls == ([500, 2000] if again else [500])
    assert found["replicates"] == calls[-1]
    assert found["share"] == pytest.approx(0.95 if again else first)


def test_cells_use_independent_random_numbers():
    first, same, other = (generator(0, n).random() for n in (100, 100, 200))
    assert first == same != other


def test_samples_have_no_empty_rows_or_columns():
    truth = np.array([[0.5, 0.0], [0.0, 0.5]])
    tables = samples(truth, 3, 50, np.random.default_rng(0))
    assert len(tables) == 50
    assert all(table.shape == (2, 2) and table.sum() == 3 for table in tables)
