"""Dask collections are told from data in memory, and handed over."""

import numpy as np
import pandas as pd
import pytest

from renyi_lib._dispatch import is_dask, takes_dask

da = pytest.importorskip("dask.array", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe")


def test_what_is_a_dask_collection():
    frame = pd.DataFrame({"sex": list("fm")})
    parts = dd.from_pandas(frame, npartitions=2)
    assert is_dask(None, parts)
    assert is_dask(parts["sex"])
    assert is_dask([1], da.ones(3))
    assert not is_dask(frame, frame["sex"], np.ones(2), [1, 2], None, "sex")


def test_a_function_is_left_alone_with_data_in_memory_and_replaced_for_dask(monkeypatch):
    @takes_dask
    def answer(a, b=None):
        """Says who answers."""
        return "in memory"

    monkeypatch.setattr("renyi_lib.distributed.answer", lambda a, b=None: "dask", raising=False)
    assert answer.__doc__ == "Says who answers."
    assert answer([1], b=[2]) == "in memory"
    assert answer([1], b=da.ones(2)) == "dask"
    assert answer(da.ones(2)) == "dask"
