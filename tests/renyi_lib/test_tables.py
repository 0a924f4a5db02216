"""Joint tables of chunks, in any order and with any levels, add up to the full table."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_lib import JointTable, joint_table, maximal_functions, renyi_correlation
from renyi_lib.correlation import renyi_from_joint

properties = settings(deadline=None, derandomize=True)
numbers = st.integers(-3, 3)
texts = st.sampled_from(["a", "b", "ä", "", "10", "9"])


@given(
    st.one_of(
        st.lists(st.tuples(numbers, texts), min_size=1, max_size=30),
        st.lists(st.tuples(st.tuples(texts, numbers), st.booleans()), min_size=1, max_size=30),
    ),
    st.data(),
)
@properties
def test_chunks_in_any_order_sum_to_the_full_table(pairs, data):
    labels = np.empty((2, len(pairs)), dtype=object)
    for i, pair in enumerate(pairs):
        labels[0, i], labels[1, i] = pair
    whole = joint_table(*labels)
    order = data.draw(st.permutations(range(len(pairs))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(pairs)), max_size=3)))
    chunks = [chunk for chunk in np.split(np.array(order, dtype=int), cuts) if len(chunk)]
    tables = [joint_table(*labels[:, chunk]) for chunk in chunks]
    streamed = JointTable()
    for chunk in chunks:
        streamed.update(*labels[:, chunk])
    for table in (sum(tables), streamed, JointTable.from_json(streamed.to_json())):
        assert table == whole
        assert table.counts.dtype.kind == "i"


def test_levels_are_matched_by_name_and_not_by_position():
    first = joint_table(["x", "y", "y"], ["f", "f", "m"])
    second = joint_table(["y", "z"], ["m", "m"])
    assert first.counts.shape == (2, 2)
    assert second.counts.shape == (2, 1)
    both = first + second
    expected = pd.crosstab(
        pd.Series(["x", "y", "y", "y", "z"], name="a"),
        pd.Series(["f", "f", "m", "m", "m"], name="b"),
    )
    pd.testing.assert_frame_equal(both.to_frame(), expected, check_names=False, check_dtype=False)
    assert both == second + first


def test_categorical_order_is_kept_and_new_levels_are_appended():
    sizes = pd.Categorical(["small", "large"], ["small", "medium", "large"], ordered=True)
    table = joint_table(sizes, [0, 1])
    assert table.rows.tolist() == ["small", "large"]
    assert (table + joint_table(["huge"], [0])).rows.tolist() == ["small", "large", "huge"]


def test_weights_are_summed_as_floats():
    table = joint_table(["x", "y"], [0, 1]) + joint_table(["x"], [0], sample_weight=[0.5])
    np.testing.assert_array_equal(table.counts, [[1.5, 0], [0, 1]], strict=True)
    table.update(["y", "y"], [0, 1], sample_weight=[0.25, 2])
    np.testing.assert_array_equal(table.counts, [[1.5, 0], [0.25, 3]], strict=True)


def test_every_measure_accepts_a_joint_table():
    rng = np.random.default_rng(0)
    a, b = rng.integers(4, size=200), rng.integers(3, size=200)
    table = joint_table(a, b)
    assert renyi_from_joint(table) == renyi_correlation(a, b)
    assert maximal_functions(table).rho == pytest.approx(renyi_correlation(a, b), abs=1e-12)
    counts, rows, columns = table
    assert counts is table.counts
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 2, 3], [0, 1, 2])


def test_mixing_text_and_numbers_raises():
    with pytest.raises(
        ValueError, match=r"rows has strings in one part of the data and other labels in"
    ):
        joint_table([1, 2], [0, 1]) + joint_table(["1", "2"], [0, 1])
    with pytest.raises(ValueError, match=r"columns has strings"):
        joint_table([1, 2], ["0", "1"]).update([1, 2], [0, 1])
    mixed = joint_table([1, "1"], [0, 1])
    assert (mixed + mixed).counts.sum() == 4


def test_an_invalid_chunk_leaves_the_table_unchanged():
    table = joint_table(["x", "y"], [0, 1])
    before = table.to_json()
    for a, b in [(["x"], [0, 1]), (["x", None], [0, 1]), ([], []), ([1.0], [0])]:
        with pytest.raises(ValueError, match=r"samples|missing|empty|strings"):
            table.update(a, b)
        assert table.to_json() == before


def test_saving_and_loading_is_lossless(tmp_path):
    rng = np.random.default_rng(1)
    a = pd.DataFrame({"u": rng.integers(3, size=50), "v": rng.choice(["f", "m"], size=50)})
    table = joint_table(a, rng.integers(2, size=50) > 0, sample_weight=rng.random(50) / 3)
    table.save(tmp_path / "table.json")
    loaded = JointTable.load(tmp_path / "table.json")
    assert loaded == table
    assert loaded.columns.dtype == bool
    np.testing.assert_array_equal(loaded.counts, table.counts, strict=True)
    assert [path.name for path in tmp_path.iterdir()] == ["table.json"]


def test_labels_that_json_cannot_hold_raise():
    table = joint_table([1j, 2j], [0, 1])
    with pytest.raises(ValueError, match=r"rows has the label .*which cannot be written to JSON"):
        table.to_json()


DAYS = [pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-29"), pd.Timestamp("2024-03-31")]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_survive_counting_adding_and_saving(unit):
    days = pd.DatetimeIndex(DAYS).as_unit(unit)
    for months in (days, days.to_numpy(), pd.Series(days), days.tz_localize("Europe/Paris")):
        table = joint_table(months[:2], ["f", "m"]) + joint_table(months[1:], ["f", "f"])
        assert table.rows.tolist() == list(pd.DatetimeIndex(months))
        assert table.counts.tolist() == [[1, 0], [1, 1], [1, 0]]
        assert JointTable.from_json(table.to_json()) == table


@pytest.mark.parametrize(
    "labels",
    [
        [day.date() for day in DAYS],
        [day.to_period("M") for day in DAYS],
        [pd.Timedelta(days=k) for k in range(3)],
        [("f", day) for day in DAYS],
    ],
    ids=["dates", "months", "durations", "tuples"],
)
def test_dates_of_other_kinds_survive_saving(labels):
    rows = np.empty(3, dtype=object)
    rows[:] = labels
    table = joint_table(rows, [0, 1, 0])
    assert table.rows.tolist() == labels
    loaded = JointTable.from_json(table.to_json())
    assert loaded.rows.tolist() == labels
    assert loaded == table


good = json.loads(joint_table(["x", "y"], [0, 1]).to_json())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        (None, "not valid JSON"),
        ("[]", "not a joint table"),
        ('{"format": "another"}', "not a joint table"),
        (json.dumps(good | {"version": 2}), "version 2"),
        (json.dumps({k: v for k, v in good.items() if k != "rows"}), "lacks 'rows'"),
        (json.dumps(good | {"rows": ["x"]}), "counts must have a row for each of the 1 rows"),
        (json.dumps(good | {"rows": ["x", "x"]}), "the label 'x' more than once"),
        (json.dumps(good | {"counts": [[1, 0], [0, -1]]}), "0 or more"),
        (json.dumps(good | {"counts": [[1, 0], [0, "many"]]}), "table of numbers"),
        (json.dumps(good | {"rows": ["x", {"a": 1}]}), "are not hashable"),
    ],
)
def test_a_damaged_file_raises(text, words):
    with pytest.raises(ValueError, match=words):
        JointTable.from_json(text)


@pytest.mark.parametrize("counts", [[[1, np.nan]], [[np.inf, 1]], [[-1, 1]], [["x", 1]], [1, 1]])
def test_invalid_counts_raise(counts):
    with pytest.raises(ValueError, match=r"^counts must"):
        JointTable(counts, ["a"], ["b", "c"])


def test_adding_anything_but_a_table_raises():
    table = joint_table([0, 1], [0, 1])
    for other in (1, table.counts, None):
        with pytest.raises(TypeError):
            table + other
    assert table != table.counts.tolist()
    assert (table == "table") is False


def test_tables_that_differ_in_one_part_are_not_equal():
    table = joint_table(["x", "y"], ["f", "m"])
    assert table == joint_table(["y", "x"], ["m", "f"])
    assert table != joint_table(["x", "y", "y"], ["f", "m", "m"])
    assert table != joint_table(["x", "z"], ["f", "m"])
    assert table != joint_table(["x", "y"], ["f", "n"])


def test_combined_labels_are_single_levels_of_the_data_frame():
    pairs = np.array([["f", "w"], ["m", "b"]])
    frame = joint_table(pairs, pairs[::-1]).to_frame()
    for levels in (frame.index, frame.columns):
        assert levels.tolist() == [("f", "w"), ("m", "b")]
        assert levels.nlevels == 1


def test_repr_shows_the_counts_with_their_levels():
    table = joint_table(["x", "y"], ["f", "m"])
    assert "2 samples, 2 x 2 levels" in repr(table)
    assert "<th>x</th>" in table._repr_html_()
