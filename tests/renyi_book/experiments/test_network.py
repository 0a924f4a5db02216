import pandas as pd

from renyi_book.experiments import fair_network


def test_the_table_is_the_same_for_the_same_seed_but_for_the_clock():
    options = {"lams": [0, 3], "epochs": 1, "seeds": [1], "progress": False}
    once, again = fair_network(**options), fair_network(**options)
    pd.testing.assert_frame_equal(
        once.drop(columns="cpu_seconds"), again.drop(columns="cpu_seconds")
    )
    assert (once["cpu_seconds"] > 0).all()
    assert once[["lam", "rows"]].values.tolist() == [
        [lam, rows] for lam in (0, 3) for rows in ("train", "test")
    ]


def test_the_penalty_makes_the_network_fairer():
    table = fair_network(lams=[0, 10], epochs=3, seeds=[0], progress=False)
    plain, fair = table.query("rows == 'train'")["soft_rho_R"]
    assert fair < plain / 2
