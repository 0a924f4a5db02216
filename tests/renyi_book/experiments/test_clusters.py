import pandas as pd
import pytest

from renyi_book.experiments import clusters_stop, fair_clusters, four_points, toy_clusters
from renyi_book.experiments._clusters import clustered_points
from renyi_lib.clustering import renyi_kmeans_objective


def test_points_have_columns_of_unit_norm():
    X, s = clustered_points("bank", n_rows=3000)
    assert X.shape == (3000, 3)
    assert set(s) == {0, 1}
    assert (X**2).sum(axis=0) == pytest.approx(1.0)


def test_both_algorithms_trade_loss_for_fairness():
    table = fair_clusters(lams=[0, 1], n_rows=2000, max_iter=20, seeds=[0, 1], progress=False)
    assert len(table) == 2 * 2 * 2
    for _, rows in table.groupby(["algorithm", "seed"]):
        assert rows["w_sd"].iloc[1] < rows["w_sd"].iloc[0] / 5
        assert rows["inertia"].iloc[1] > rows["inertia"].iloc[0]
    descent = table.query("algorithm == 'descent'")
    assert descent["converged"].all()


def test_the_table_is_the_same_for_the_same_seed():
    options = {"lams": [0, 0.1], "n_rows": 1000, "max_iter": 10, "seeds": [3], "progress": False}
    pd.testing.assert_frame_equal(fair_clusters(**options), fair_clusters(**options))


def test_plain_k_means_is_where_the_path_starts():
    table = fair_clusters(algorithms=["descent"], lams=[0], n_rows=1000, seeds=[0], progress=False)
    X, s = clustered_points("adult", n_rows=1000)
    assert table["objective"].iloc[0] == pytest.approx(table["inertia"].iloc[0])
    everything = renyi_kmeans_objective(X, [0] * len(X), sensitive_features=s).inertia
    assert table["inertia"].iloc[0] < everything


def test_the_four_points_end_fair_in_a_window_of_lambda_only():
    table = four_points()
    assert table.loc[table["fair"], "lam"].tolist() == list(range(91, 162))
    assert (table.query("lam > 162")["cycle_length"] > 0).all()


def test_large_lambda_scatters_the_one_group_neighbourhoods():
    table = toy_clusters(lams=[0, 1000], seeds=[0, 1], max_iter=50, progress=False)
    for _, rows in table.groupby("seed"):
        before, after = rows["together"]
        assert before > 0.9
        assert after < 0.6


def test_more_passes_do_not_make_algorithm_3_stop_with_much_lambda():
    # Without lam it is k-means and stops; with much lam it goes on to the last pass or comes back.
    table = clusters_stop(
        datasets=["adult"], lams=[0, 1], n_rows=800, max_iter=60, seeds=[0, 1], progress=False
    )
    plain, fair = table.query("lam == 0"), table.query("lam == 1")
    assert plain["converged"].all()
    assert (plain["n_iter"] < 60).all()
    goes_on = (fair["n_iter"] == 60) | (fair["cycle_length"] > 0)
    assert (goes_on & ~fair["converged"]).all()


def test_an_unknown_data_set_is_refused():
    with pytest.raises(ValueError, match="'adult' or 'bank', not 'german'"):
        fair_clusters("german")
