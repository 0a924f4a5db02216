"""Columns of Polars and Arrow are counted like those of pandas, without slow conversions."""

import pandas as pd
import pytest

from renyi_lib import joint_table

polars = pytest.importorskip("polars", reason="Polars is not installed")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
words = ["m", "f", "m", "x", "f", "m"]
COLUMNS = {
    "polars text": polars.Series(words),
    "polars categorical": polars.Series(words).cast(polars.Categorical),
    "arrow text": pyarrow.array(words),
    "arrow chunks": pyarrow.chunked_array([words[:2], words[2:]]),
    "arrow dictionary": pyarrow.array(words).dictionary_encode(),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_polars_and_arrow_text_is_counted_like_pandas_text(column, monkeypatch):
    expected = joint_table(words, [0, 1, 0, 1, 0, 1])
    # Fail if labels are converted to Python objects, which would be slow.
    monkeypatch.setattr("renyi_lib._validation._numpy_array", None)
    assert joint_table(column, pd.Series([0, 1, 0, 1, 0, 1])) == expected


def test_polars_and_arrow_columns_define_joint_groups():
    frame = {"u": words, "v": [1, 2, 1, 2, 1, 2]}
    expected = joint_table(pd.DataFrame(frame), words)
    assert joint_table(polars.DataFrame(frame), words) == expected
    assert joint_table(pyarrow.table(frame), words) == expected


@pytest.mark.parametrize("column", [polars.Series(["a", None]), pyarrow.array([None, 1])])
def test_missing_values_of_polars_and_arrow_raise(column):
    with pytest.raises(ValueError, match=r"a has a missing value"):
        joint_table(column, [0, 1])
