import pytest

from renyi_book.chapters import BOOK
from renyi_book.experiments import clusters_stop, fair_clusters, four_points, load
from renyi_book.experiments._clusters import clustered_points
from renyi_lib.clustering import renyi_kmeans_objective


def test_points_have_columns_of_unit_norm():
    X, s = clustered_points("bank", n_rows=3000)
    assert X.shape == (3000, 3)
    assert set(s) == {0, 1}
    assert (X**2).sum(axis=0) == pytest.approx(1.0)


def test_both_algorithms_trade_loss_for_fairness():
    table = load("clusters_adult", BOOK / "results")
    for _, rows in table.groupby(["algorithm", "seed"]):
        plain, fair = rows.set_index("lam").loc[[0, 1]].to_dict("records")
        assert fair["w_sd"] < plain["w_sd"] / 5
        assert fair["inertia"] > plain["inertia"]
    assert table.query("algorithm == 'descent'")["converged"].all()


def test_path_starts_at_plain_k_means():
    table = fair_clusters(algorithms=["descent"], lams=[0], n_rows=1000, seeds=[0], progress=False)
    X, s = clustered_points("adult", n_rows=1000)
    assert table["objective"].iloc[0] == pytest.approx(table["inertia"].iloc[0])
    everything = renyi_kmeans_objective(X, [0] * len(X), sensitive_features=s).inertia
    assert table["inertia"].iloc[0] < everything


def test_four_points_become_fair_only_in_an_interval_of_lambda():
    table = four_points()
    assert table.loc[table["fair"], "lam"].tolist() == list(range(91, 162))
    assert (table.query("lam > 162")["cycle_length"] > 0).all()


def test_large_lambda_splits_neighborhoods_of_one_group():
    table = load("toy_clusters", BOOK / "results")
    together = table.pivot(index="seed", columns="lam", values="together")
    assert (together[1000] < together[0]).all()
    assert together[1000].mean() < 0.6 < 0.9 < together[0].mean()


def test_more_passes_do_not_make_algorithm_3_terminate_for_large_lambda():
    # At lam = 0 it is k-means and stops; at a large lam it runs to the last pass or cycles.
    table = clusters_stop(
        datasets=["adult"], lams=[0, 1], n_rows=800, max_iter=60, seeds=[0, 1], progress=False
    )
    plain, fair = table.query("lam == 0"), table.query("lam == 1")
    assert plain["converged"].all()
    assert (plain["n_iter"] < 60).all()
    goes_on = (fair["n_iter"] == 60) | (fair["cycle_length"] > 0)
    assert (goes_on & ~fair["converged"]).all()


def test_an_unknown_data_set_raises():
    with pytest.raises(ValueError, match="'adult' or 'bank', not 'german'"):
        fair_clusters("german")
