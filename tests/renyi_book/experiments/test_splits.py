import numpy as np
import pandas as pd
import pytest

from renyi_book.experiments import resplit
from renyi_book.experiments._splits import encoded_splits, panel
from renyi_lib.datasets import load_german


def test_a_random_split_has_the_same_rows_and_sizes():
    german = load_german()
    new = resplit(german, seed=3)
    assert (len(new.train), len(new.test)) == (len(german.train), len(german.test))
    columns = list(german.train.columns)
    before = pd.concat([german.train, german.test]).sort_values(columns).reset_index(drop=True)
    after = pd.concat([new.train, new.test]).sort_values(columns).reset_index(drop=True)
    pd.testing.assert_frame_equal(before, after)


def test_the_seed_decides_the_split():
    german = load_german()
    pd.testing.assert_frame_equal(resplit(german, 1).train, resplit(german, 1).train)
    assert not resplit(german, 1).train.equals(resplit(german, 2).train)


def test_the_paper_split_comes_first_and_then_one_for_each_seed():
    where = [place for place, _ in encoded_splits("german", [4, 7])]
    assert [(place["split"], place["seed"]) for place in where] == [
        ("paper", 0),
        ("random", 4),
        ("random", 7),
    ]


def test_the_paper_split_is_that_of_the_loader():
    _, data = next(iter(encoded_splits("german", [])))
    direct = load_german().encode(sensitive="gender-marital", scaling="standard")
    np.testing.assert_array_equal(data.X_test, direct.X_test)


def test_an_unknown_panel_is_refused():
    with pytest.raises(ValueError, match="dataset must be one of 'adult'"):
        panel("compas")
