from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from renyi_book.experiments import FRESH, resplit, sizes
from renyi_book.experiments._splits import (
    FRESH_MULTIVERSE,
    PANELS,
    encoded_splits,
    panel,
    split_rows,
)
from renyi_lib.datasets import load_german


def test_a_random_split_has_the_same_rows_and_sizes():
    german = load_german()
    new = resplit(german, seed=3)
    assert (len(new.train), len(new.test)) == (len(german.train), len(german.test))
    columns = list(german.train.columns)
    before = pd.concat([german.train, german.test]).sort_values(columns).reset_index(drop=True)
    after = pd.concat([new.train, new.test]).sort_values(columns).reset_index(drop=True)
    pd.testing.assert_frame_equal(before, after)


def test_seed_determines_the_split():
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


def test_paper_split_matches_the_loader():
    _, data = next(iter(encoded_splits("german", [])))
    direct = load_german().encode(sensitive="gender-marital", scaling="standard")
    np.testing.assert_array_equal(data["test"].X, direct.X_test)
    assert list(data) == ["train", "test"]


@pytest.mark.parametrize("name", ["german", "adult-gender-race"])
def test_validation_split_divides_the_training_rows_of_the_same_random_split(name):
    ((_, data),) = encoded_splits(name, [3], paper=False)
    assert tuple(len(rows.y) for rows in data.values()) == sizes(name)
    dataset, sensitive = panel(name)
    drawn = resplit(dataset, 3)
    n = sizes(name).train
    held = pd.concat([drawn.train.iloc[n:], drawn.test])
    direct = replace(drawn, train=drawn.train.iloc[:n], test=held)
    direct = direct.encode(sensitive=sensitive, scaling="standard")
    # The same columns, summed in another order.
    np.testing.assert_allclose(data["train"].X, direct.X_train, rtol=0, atol=1e-9)
    for part in "Xys":
        both = [getattr(data[kind], part) for kind in ("validation", "test")]
        here = getattr(direct, f"{part}_test")
        np.testing.assert_allclose(np.concatenate(both), here, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", PANELS)
def test_every_row_is_in_one_part_of_a_split(name):
    numbers = np.concatenate(list(split_rows(name, 1).values()))
    assert np.array_equal(np.sort(numbers), np.arange(sum(sizes(name))))


def test_seeds_of_the_results_were_not_used_before():
    burnt = set(range(10))
    assert len(FRESH) == 30
    assert not burnt & (set(FRESH) | set(FRESH_MULTIVERSE))
    assert not set(FRESH) & set(FRESH_MULTIVERSE)


def test_an_unknown_panel_raises():
    with pytest.raises(ValueError, match="dataset must be one of 'adult'"):
        panel("compas")
