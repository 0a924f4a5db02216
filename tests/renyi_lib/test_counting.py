"""Counting into cells gives the same table by every method, in blocks or at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_lib import _counting
from renyi_lib._counting import LabelCounts, check_size, count_codes, count_labels


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 5)), min_size=1, max_size=60))
@settings(deadline=None, derandomize=True)
def test_a_table_counts_every_sample_in_its_cell(rows):
    *codes, weights = (np.array(column) for column in zip(*rows))
    for variables in (codes[:2], codes):
        shape = (4,) * len(variables)
        plain, weighted = np.zeros(shape, int), np.zeros(shape)
        for cell, weight in zip(zip(*variables), weights):
            plain[cell] += 1
            weighted[cell] += weight
        np.testing.assert_array_equal(count_codes(variables, shape), plain)
        np.testing.assert_array_equal(count_codes(variables, shape, weights), weighted)


@pytest.mark.parametrize("shape", [(3, 4), (20, 30), (16, 16), (1, 256)])
@pytest.mark.parametrize("n", [1, 1001, 70_001])
def test_counting_in_blocks_or_byte_pairs_gives_the_same_counts(monkeypatch, shape, n):
    rng = np.random.default_rng(0)
    codes = [rng.integers(size, size=n) for size in shape]
    whole = count_codes(codes, shape)
    expected = np.zeros(shape, int)
    np.add.at(expected, tuple(codes), 1)
    np.testing.assert_array_equal(whole, expected)
    monkeypatch.setattr(_counting, "_BLOCK", 512)
    np.testing.assert_array_equal(count_codes(codes, shape), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
@pytest.mark.parametrize("low", [0, 3])
def test_labels_that_do_not_start_at_zero_are_shifted(dtype, low):
    a = np.array([0, 1, 1, 2], dtype=dtype) + np.array(low, dtype=dtype)
    table, (values, _) = count_labels({"a": a, "b": list("xyxy")})
    occurring = table.any(axis=1)
    assert values[occurring].tolist() == [low, low + 1, low + 2]
    np.testing.assert_array_equal(table[occurring], [[1, 0], [1, 1], [0, 1]])


def test_codes_may_start_anywhere():
    rng = np.random.default_rng(1)
    codes, lows = rng.integers(3, size=(3, 200)), [7, -4, 100]
    shifted = [code + low for code, low in zip(codes, lows)]
    expected = count_codes(codes, (3, 3, 3))
    np.testing.assert_array_equal(count_codes(shifted, (3, 3, 3), lows=lows), expected)


def test_a_part_of_the_rows_counts_only_labels_with_weight():
    one = LabelCounts.of({"a": ["x"], "b": ["f"]})
    assert (one.table.tolist(), one.n_rows) == ([[1]], 1)
    part = LabelCounts.of({"a": ["x", "y", "z"], "b": ["f", "m", "f"]}, [2.0, 0.0, 0.5])
    assert [labels.tolist() for labels in part.values] == [["x", "z"], ["f"]]
    np.testing.assert_allclose(part.table, [[2.0], [0.5]])
    both = LabelCounts.of({"a": ["x", "y"], "b": ["m", "m"]}) + part
    assert [labels.tolist() for labels in both.values] == [["x", "y", "z"], ["f", "m"]]
    np.testing.assert_allclose(both.table, [[2.0, 1.0], [0.0, 1.0], [0.5, 0.0]])
    assert LabelCounts.of({"a": [], "b": []}) is None
    assert LabelCounts.of({"a": ["x"], "b": ["f"]}, [0.0]) is None


def test_table_too_large_for_memory_raises_before_allocation():
    with pytest.raises(ValueError, match="the table would have 100000 x 100000 cells"):
        check_size((10**5, 10**5), "the table")
