"""Labels of any kind become the same codes, and errors name the invalid argument."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_lib._validation import (
    check_alignment,
    check_same_length,
    encode_labels,
    integer_codes,
    numeric_values,
    pool_groups,
    read_validation,
    refuse_sample_matrix,
    refuse_text,
    sample_weights,
)

LABELS = ["b", "a", "b", "c"]


@pytest.mark.parametrize(
    "values",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        np.array(LABELS)[:, None],
        pd.Series(LABELS, index=[7, 7, 3, 1]),
        pd.Series(LABELS, dtype="category"),
        pd.Index(LABELS),
        pd.Categorical(LABELS),
        pd.DataFrame({"s": LABELS}),
    ],
    ids=lambda values: f"{type(values).__name__}-{getattr(values, 'dtype', '')}",
)
@pytest.mark.parametrize("encode", [encode_labels, integer_codes])
def test_every_container_of_labels_gives_the_same_codes(values, encode):
    codes, categories = encode(values, "s")
    assert codes.tolist() == [1, 0, 1, 2]
    assert categories.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "Int64", object]
)
def test_numbers_of_every_type_are_accepted_as_labels(dtype):
    values = pd.Series([5, 3, 5, 9]).astype(dtype)
    codes, categories = encode_labels(values, "s")
    assert codes.tolist() == [1, 0, 1, 2]
    assert categories.tolist() == [3, 5, 9]


@given(
    dtype=st.sampled_from([np.int8, np.int16, np.int64, np.uint8, np.uint64]),
    offset=st.sampled_from(["min", "zero", "max"]),
    labels=st.lists(st.integers(0, 255), min_size=1, max_size=20),
)
@settings(deadline=None, derandomize=True)
def test_integer_codes_identify_the_label_of_every_sample(dtype, offset, labels):
    limits = np.iinfo(dtype)
    start = {"min": limits.min, "zero": 0, "max": limits.max - 255}[offset]
    values = np.array([min(start + label, limits.max) for label in labels], dtype=dtype)
    codes, categories = integer_codes(values, "s")
    assert codes.dtype == np.intp
    assert categories[codes].tolist() == values.tolist()
    assert len(categories) <= 1024
    codes, categories = encode_labels(values, "s")
    assert categories[codes].tolist() == values.tolist()
    assert categories.tolist() == sorted(set(values.tolist()))


def test_integer_labels_far_apart_do_not_allocate_a_huge_table():
    codes, categories = integer_codes([-(10**15), 7, 10**15, 7], "s")
    assert codes.tolist() == [0, 1, 2, 1]
    assert categories.tolist() == [-(10**15), 7, 10**15]


def test_integer_codes_do_not_modify_the_input():
    values = np.array([-1, 1, -1])
    assert integer_codes(values, "s")[0].tolist() == [0, 2, 0]
    assert values.tolist() == [-1, 1, -1]


def test_booleans_are_accepted_as_labels():
    codes, categories = integer_codes(np.array([True, False, True]), "s")
    assert codes.tolist() == [1, 0, 1]
    assert categories.tolist() == [False, True]


def test_categorical_keeps_its_order_and_drops_unused_categories():
    sizes = pd.Categorical(["small", "large"], categories=["small", "medium", "large"])
    codes, categories = encode_labels(sizes, "s")
    assert codes.tolist() == [0, 1]
    assert categories.tolist() == ["small", "large"]


def test_text_and_numbers_in_one_list_remain_distinct():
    codes, categories = encode_labels(["1", 1, "a", 1], "s")
    assert categories.tolist() == [1, "1", "a"]
    assert codes.tolist() == [1, 0, 2, 0]


@pytest.mark.parametrize("as_frame", [True, False])
def test_several_columns_define_joint_labels(as_frame):
    columns = {"sex": ["f", "m", "f", "m"], "race": [1, 1, 2, 1]}
    table = pd.DataFrame(columns) if as_frame else list(zip(*columns.values()))
    codes, categories = encode_labels(table, "s")
    assert codes.tolist() == [0, 2, 1, 2]
    assert categories.tolist() == [("f", 1), ("f", 2), ("m", 1)]


def test_many_columns_with_many_values_do_not_overflow():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 1000, size=(50, 30))
    codes, categories = encode_labels(table, "s")
    assert [tuple(row) for row in table.tolist()] == categories[codes].tolist()


@pytest.mark.parametrize(
    "values",
    [
        [1.0, np.nan],
        [1, None],
        ["a", None],
        ["a", float("nan")],
        np.array(["a", np.nan], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", None]),
        pd.Categorical(["a", None]),
        pd.to_datetime(["2020-01-01", None]),
        pd.DataFrame({"s": [1.0, np.nan], "t": [1, 2]}),
        [["a", 1.5], ["b", float("nan")]],
    ],
    ids=repr,
)
@pytest.mark.parametrize("encode", [encode_labels, integer_codes])
def test_missing_label_error_names_its_position(values, encode):
    with pytest.raises(ValueError, match=r"^s.* has a missing value .* position 1"):
        encode(values, "s")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "s is empty"),
        (np.empty((0, 2)), "s, column 0, is empty"),
        (pd.DataFrame(index=[0, 1]), "s has no columns"),
        ("abc", "s must be one label for each sample"),
        (3, "s must be one label for each sample"),
        (np.zeros((2, 2, 2)), "s must be one label for each sample"),
        ([(1, 2), (3,)], "s is not a list of labels"),
        (np.ma.masked_equal([1, 2], 2), "s has masked values"),
        (np.array([{}, {}]), "s has labels that are not hashable"),
    ],
)
def test_invalid_labels_raise(values, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(values, "s")


def test_unequal_lengths_raise():
    with pytest.raises(ValueError, match="a has 2, b has 3"):
        check_same_length(a=[1, 2], b=[1, 2, 3])


def test_equal_lengths_pass():
    assert check_same_length(a=[1, 2], b="xy", c=np.zeros((2, 5))) is None


@pytest.mark.parametrize("values", [[1, 2], (True, 2), pd.Series([1, 2]), np.array([[1], [2]])])
def test_numbers_become_floats(values):
    numbers = numeric_values(values, "x")
    assert numbers.dtype == float
    assert numbers.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b"], "x must contain numbers"),
        ([], "x is empty"),
        ([[1, 2]], "x must be one number for each sample"),
        ([1, None], "x has missing or infinite values"),
        ([1, np.inf], "x has missing or infinite values"),
        (pd.Series([1, None], dtype="Int64"), "x "),
    ],
)
def test_invalid_numbers_raise(values, message):
    with pytest.raises(ValueError, match=message):
        numeric_values(values, "x")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "sample_weight has negative"),
        ([0, 0], "sample_weight is zero everywhere"),
        ([1, np.nan], "sample_weight has missing or infinite values"),
    ],
)
def test_invalid_sample_weights_raise(weights, message):
    with pytest.raises(ValueError, match=message):
        sample_weights(weights)


class TestValidationRows:
    rows = (np.zeros((3, 2)), [0, 1, 1], ["f", "m", "m"])

    def test_validation_weights_are_optional_and_converted_to_floats(self):
        assert read_validation(self.rows)[3] is None
        assert read_validation([*self.rows, [1, 2, 3]])[3].tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize("position", range(4))
    def test_validation_parts_of_different_lengths_raise(self, position):
        rows = [*self.rows, [1.0, 2.0, 3.0]]
        rows[position] = rows[position][:2]
        with pytest.raises(ValueError, match=r"validation: all arguments.*has 2"):
            read_validation(rows)

    @pytest.mark.parametrize("weight", [[1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0]])
    def test_invalid_weights_raise(self, weight):
        with pytest.raises(ValueError, match="sample_weight"):
            read_validation((*self.rows, weight))

    @pytest.mark.parametrize("validation", [3, (1, 2), "abc"])
    def test_validation_without_three_or_four_parts_raises(self, validation):
        with pytest.raises(ValueError, match="validation must be"):
            read_validation(validation)


class TestAlignment:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([0, 1, 2], [2, 1, 0]),
            (list("abc"), list("bca")),
            ([1, "a", 2.5], ["a", 1, 2.5]),
            ([0, 0, 1], [0, 1, 0]),
            (
                pd.to_datetime(["2024-01-01", "2024-01-02"]),
                pd.to_datetime(["2024-01-02", "2024-01-01"]),
            ),
            (pd.MultiIndex.from_tuples([(0, "a"), (1, "b")]), [(1, "b"), (0, "a")]),
        ],
    )
    def test_the_same_labels_in_another_order_raise(self, first, second):
        second = pd.MultiIndex.from_tuples(second) if isinstance(first, pd.MultiIndex) else second
        y, s = pd.Series(0, index=first), pd.DataFrame({"s": 1}, index=second)
        with pytest.raises(
            ValueError, match="y and s have the same index labels in another order"
        ):
            check_alignment(X=None, y=y, s=s)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([0, 1, 2], [0, 1, 2]),
            ([0, 1, 2], [5, 6, 7]),
            ([0, 1, 2], [2, 1, 5]),
            ([0, 0, 1], [0, 1, 1]),
            ([1, "a", 2], ["b", 1, 2]),
        ],
    )
    def test_equal_and_different_labels_are_matched_by_position(self, first, second):
        check_alignment(y=pd.Series(0, index=first), s=pd.Series(1, index=second), w=[1, 2, 3])


class TestRefuseSampleMatrix:
    @pytest.mark.parametrize(
        "table",
        [
            np.ones((10, 10)),
            np.full((40, 2), 1 / 80),
            np.arange(80).reshape(40, 2),
            np.random.default_rng(0).integers(20, 60, size=(200, 2)),
            np.random.default_rng(0).dirichlet(np.ones(200)).reshape(100, 2),
            pd.crosstab(np.arange(100) % 25, np.arange(100) % 2),
            pd.DataFrame([[40, 10], [10, 40]], columns=["f", "m"]),
            [[1, 0], [0, 1]] * 5,
        ],
    )
    def test_tables_of_counts_or_probabilities_are_accepted(self, table):
        refuse_sample_matrix(table, "P")

    @pytest.mark.parametrize("n", [20, 1000])
    def test_samples_of_two_variables_raise(self, n):
        rng = np.random.default_rng(0)
        samples = np.column_stack([rng.integers(4, size=n), rng.integers(2, size=n)])
        for table in (samples, samples.tolist(), samples.astype(float)):
            with pytest.raises(ValueError, match=f"P looks like samples, {n} rows"):
                refuse_sample_matrix(table, "P")


def test_numbers_stored_as_text_and_categoricals_are_accepted():
    refuse_text(np.array([["1", "2.5"]], dtype=object), "encode it")
    refuse_text(pd.DataFrame({"a": ["1", "2"], "b": pd.Categorical(["u", "v"])}), "encode it")


class TestPooling:
    groups = np.array(["a", "b", "c", "d"])

    def test_large_groups_are_not_pooled(self):
        codes = np.array([0, 1, 2, 3])
        cells = np.array([[5, 5, 5, 5]])
        assert pool_groups(codes, self.groups, cells, 5)[1].tolist() == list("abcd")

    def test_a_single_small_group_joins_the_next_smallest(self):
        codes, groups, cells = pool_groups(
            np.array([0, 1, 2, 3]), self.groups, np.array([[50, 2, 40, 30]]), 5
        )
        assert groups[codes].tolist() == ["a", "b + d", "c", "b + d"]
        assert cells.tolist() == [[50, 40, 32]]

    def test_every_stratum_must_be_large_enough(self):
        cells = np.array([[50, 9, 40, 30], [50, 9, 2, 30]])
        _, groups, pooled = pool_groups(np.arange(4), self.groups, cells, 5)
        assert groups.tolist() == ["a", "d", "b + c"]
        assert pooled.min() >= 5

    def test_pooling_into_one_group_raises(self):
        with pytest.raises(ValueError, match="min_group_size=100 leaves only one group"):
            pool_groups(np.arange(4), self.groups, np.array([[9, 9, 9, 9]]), 100)
