"""Fair k-means: both algorithms match their definitions, and invalid input raises."""

import pickle
import sys
import types
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from renyi_lib import _kmeans_loops, clustering
from renyi_lib._validation import NoSensitiveFeaturesWarning
from renyi_lib.clustering import RenyiKMeans, renyi_kmeans_objective, tradeoff_table
from renyi_lib.correlation import renyi_correlation
from renyi_lib.tuning import lam_path

properties = settings(deadline=None, derandomize=True, max_examples=40)

# Appendix C of the paper.
FOUR_POINTS = np.array([[-5.0], [-4.0], [4.0], [5.0]])
FOUR_GROUPS = np.array([1, 1, 0, 0])
FOUR_LABELS = np.array([0, 0, 1, 1])


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """On problems this small, several threads do nothing but wait for one another."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def blobs():
    """Five clusters whose groups differ, 400 points."""
    X, cluster = make_blobs(400, centers=5, random_state=3)
    rng = np.random.default_rng(0)
    return X, (rng.random(400) < np.linspace(0.1, 0.9, 5)[cluster]).astype(int)


@pytest.fixture(scope="module")
def toy():
    """Appendix C: 5 x 500 points, s random but all 1 at center 2 and all 0 at center 4."""
    rng = np.random.default_rng(1)
    source = np.repeat(np.arange(5), 500)
    X = rng.uniform(-10, 10, size=(5, 2))[source] + rng.normal(scale=0.6, size=(2500, 2))
    s = rng.integers(0, 2, size=2500)
    s[source == 1], s[source == 3] = 1, 0
    return X, s, source


@st.composite
def problems(draw, most_groups=3):
    """Points (often equal ones), groups, an assignment without empty clusters, and lambda."""
    n_clusters = draw(st.integers(1, 4))
    n = draw(st.integers(max(n_clusters, 2), 24))
    d = draw(st.integers(1, 3))
    coordinate = st.integers(-3, 3) if draw(st.booleans()) else st.floats(-1e3, 1e3)
    X = draw(st.lists(st.lists(coordinate, min_size=d, max_size=d), min_size=n, max_size=n))
    group = st.integers(0, draw(st.integers(1, most_groups - 1)))
    groups = draw(st.lists(group, min_size=n, max_size=n).filter(lambda g: len(set(g)) > 1))
    rest = st.lists(
        st.integers(0, n_clusters - 1), min_size=n - n_clusters, max_size=n - n_clusters
    )
    labels = [*range(n_clusters), *draw(rest)]
    lam = draw(st.sampled_from([0.0, 1e-3, 0.5, 7.0, 1e4, 1e9]))
    return np.array(X, dtype=float), np.array(groups), np.array(labels), n_clusters, lam


def scratch(X, labels, groups, lam):
    """The objective by the book's formula, one cluster and one group at a time."""
    shares = np.array([(groups == g).mean() for g in np.unique(groups)])
    total = 0.0
    factor = (1 - (shares**2).sum()) / (2 * (len(shares) - 1)) if len(shares) > 1 else 0.0
    for k in np.unique(labels):
        inside = labels == k
        total += ((X[inside] - X[inside].mean(axis=0)) ** 2).sum()
        w = np.array([(groups[inside] == g).mean() for g in np.unique(groups)])
        total += lam * factor * inside.sum() * ((w - shares) ** 2 / shares).sum()
    return total


def exact(X, labels, groups, lam):
    """The objective in exact rational arithmetic, up to a constant."""
    n, names = len(X), np.unique(groups)
    shares = [Fraction(int((groups == g).sum()), n) for g in names]
    factor = (1 - sum(p * p for p in shares)) / (2 * (len(shares) - 1))
    total = Fraction(0)
    for k in np.unique(labels):
        inside = labels == k
        size = int(inside.sum())
        for column in X[inside].T:
            total -= sum(Fraction(x) for x in column.tolist()) ** 2 / size
        for g, p in zip(names, shares):
            excess = int((groups[inside] == g).sum()) - p * size
            total += Fraction(lam) * factor * excess**2 / (size * p)
    return total


def algorithm_3(X, s, labels, lam, passes):
    """The labels after each pass of Algorithm 3, with w recomputed at each step."""
    labels, n_clusters = labels.copy(), labels.max() + 1
    centers = np.array([X[labels == k].mean(axis=0) for k in range(n_clusters)])
    w = np.array([s[labels == k].mean() for k in range(n_clusters)])
    history = [labels.copy()]
    for _ in range(passes):
        for i in range(len(X)):
            cost = ((X[i] - centers) ** 2).sum(axis=1) - lam * (w - s[i]) ** 2
            if cost[labels[i]] > cost.min():
                labels[i] = cost.argmin()
            for k in np.unique(labels):
                w[k] = s[labels == k].mean()
        for k in np.unique(labels):
            centers[k] = X[labels == k].mean(axis=0)
        history.append(labels.copy())
    return history


# --- scikit-learn's conventions --------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [RenyiKMeans(), RenyiKMeans(algorithm="paper")],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "as for KMeans, repeated rows lead to "
        "another random start, and equal points may end in different clusters"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_conventions_hold(estimator, check):
    check(estimator)


def test_an_estimator_can_be_cloned_pickled_and_put_in_a_pipeline(blobs):
    X, s = blobs
    model = RenyiKMeans(5, 20.0, random_state=0)
    fitted = clone(model).fit(X, sensitive_features=s)
    again = pickle.loads(pickle.dumps(fitted))
    known = {"sensitive_features": s}
    assert (again.predict(X, **known) == fitted.predict(X, **known)).all()
    pipeline = make_pipeline(StandardScaler(), model)
    pipeline.fit(X, renyikmeans__sensitive_features=s)
    alone = clone(model).fit(StandardScaler().fit_transform(X), sensitive_features=s)
    assert (pipeline[-1].labels_ == alone.labels_).all()
    assert (model.fit_predict(X, sensitive_features=s) == fitted.labels_).all()


def test_seed_determines_the_clusters(blobs):
    X, s = blobs

    def labels(seed):
        return RenyiKMeans(9, 5.0, random_state=seed).fit_predict(X, sensitive_features=s)

    assert (labels(0) == labels(0)).all()
    assert (labels(0) != labels(1)).any()


# --- the loops with and without numba --------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("algorithm", ["descent", "paper"])
@pytest.mark.parametrize("lam", [0.0, 20.0])
def test_results_without_numba_are_identical(blobs, monkeypatch, algorithm, lam):
    X, s = blobs[0][:120], blobs[1][:120]
    model = RenyiKMeans(5, lam, algorithm=algorithm, random_state=0, max_iter=20)

    def results():
        fitted = clone(model).fit(X, sensitive_features=s)
        joined = fitted.predict(X[:40], sensitive_features=s[:40])
        return [fitted.labels_, joined, fitted.cluster_centers_, *fitted.history_.values()]

    _kmeans_loops.compiled.cache_clear()
    with_numba = results()
    assert _kmeans_loops.compiled(_kmeans_loops.join_in_turn) is not _kmeans_loops.join_in_turn
    monkeypatch.setitem(sys.modules, "numba", None)  # importing it now fails
    _kmeans_loops.compiled.cache_clear()
    with pytest.warns(UserWarning, match=r'pip install "renyi-lib\[fast\]"'):
        without = results()
    assert _kmeans_loops.compiled(_kmeans_loops.join_in_turn) is _kmeans_loops.join_in_turn
    _kmeans_loops.compiled.cache_clear()
    for compiled, plain in zip(with_numba, without):
        assert np.array_equal(compiled, plain)


def test_a_loop_that_cannot_be_cached_on_disk_is_compiled_anyway():
    module = types.ModuleType("nowhere")
    exec("def loop(x):\n    return x + 1", module.__dict__)  # without a source file
    fast = _kmeans_loops.compiled(module.loop)
    assert fast(1) == 2
    assert fast is not module.loop


# --- the closed form -------------------------------------------------------------------------


@properties
@given(problems(most_groups=2))
def test_the_inner_maximum_is_the_penalty_of_the_closed_form(problem):
    X, s, labels, n_clusters, lam = problem
    p = s.mean()
    one_hot = np.eye(n_clusters)[labels]
    w = np.linalg.lstsq(one_hot, s, rcond=None)[0]  # the w that maximizes -sum (a'w - s)^2
    inner_maximum = -lam * ((one_hot @ w - s) ** 2).sum()
    constant = lam * len(s) * p * (1 - p)
    result = renyi_kmeans_objective(X, labels, sensitive_features=s, lam=lam)
    close = {"rel": 1e-9, "abs": 1e-9 * max(lam, 1)}
    assert lam * result.penalty - constant == pytest.approx(inner_maximum, **close)
    correlation = constant * renyi_correlation(labels, s) ** 2
    assert lam * result.penalty == pytest.approx(correlation, **close)


@properties
@given(problems())
def test_objective_matches_the_formula_for_any_number_of_groups(problem):
    X, groups, labels, _, lam = problem
    result = renyi_kmeans_objective(X, labels, sensitive_features=groups, lam=lam)
    scale = (X**2).sum() + lam * len(X) + 1
    assert result.objective == pytest.approx(scratch(X, labels, groups, lam), abs=1e-11 * scale)
    assert result.objective == result.inertia + lam * result.penalty


# --- the descent -----------------------------------------------------------------------------


@properties
@given(problems())
def test_descent_is_monotone_terminates_and_has_exact_bookkeeping(problem):
    X, groups, labels, n_clusters, lam = problem
    start = scratch(X, labels, groups, lam)
    model = RenyiKMeans(n_clusters, lam, init=labels).fit(X, sensitive_features=groups)
    assert model.converged_
    objective = model.history_["objective"]
    assert (np.diff(objective) <= 0).all()
    assert (np.diff(objective)[model.history_["moved"][1:] > 0] < 0).all()
    scale = (X**2).sum() + lam * len(X) + 1
    assert objective[0] == pytest.approx(start, abs=1e-9 * scale)
    assert objective[-1] == pytest.approx(scratch(X, model.labels_, groups, lam), abs=1e-9 * scale)
    assert model.objective_ == pytest.approx(objective[-1], rel=1e-9, abs=1e-9 * scale)
    assert (np.bincount(model.labels_, minlength=n_clusters) > 0).all()


def test_objective_leaves_out_clusters_without_weight():
    X, s, weights = [[0.0], [2.0], [5.0], [7.0]], [0, 1, 0, 1], [1.0, 1.0, 1.0, 0.0]
    found = renyi_kmeans_objective(
        X, [0, 0, 1, 2], sensitive_features=s, sample_weight=weights, lam=3
    )
    assert found == renyi_kmeans_objective(X[:3], [0, 0, 1], sensitive_features=s[:3], lam=3)


@properties
@given(problems())
def test_at_the_end_no_single_move_lowers_the_objective(problem):
    X, groups, labels, n_clusters, lam = problem
    model = RenyiKMeans(n_clusters, lam, init=labels).fit(X, sensitive_features=groups)
    final = scratch(X, model.labels_, groups, lam)
    rounding = 1e-11 * ((X**2).sum() + lam * len(X) + 1)
    for i in range(len(X)):
        if (model.labels_ == model.labels_[i]).sum() == 1:
            continue
        for k in range(n_clusters):
            moved = model.labels_.copy()
            moved[i] = k
            assert scratch(X, moved, groups, lam) >= final - rounding


@pytest.mark.parametrize("lam", [0.0, 1.0, 1e6, 1e12])
def test_no_move_is_due_to_rounding_errors(lam):
    # With equal points and distances, many moves leave the objective unchanged, but rounding
    # errors make some of them look like improvements.
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(6, 30))
        X = rng.integers(0, 3, size=(n, 1)) * 0.1
        X -= X.mean(axis=0)
        X -= X.mean(axis=0)  # so that the fit subtracts zero and sees exactly these numbers
        groups = np.r_[0, 1, 2, rng.integers(0, 3, n - 3)]
        labels = rng.permutation(np.r_[0, 1, 2, rng.integers(0, 3, n - 3)])
        for _ in range(20):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = RenyiKMeans(3, lam, init=labels, max_iter=1)
                model.fit(X, sensitive_features=groups)
            if model.converged_:
                break
            assert exact(X, model.labels_, groups, lam) < exact(X, labels, groups, lam)
            labels = model.labels_
        assert model.converged_


def test_the_first_pass_takes_the_best_move_of_each_point_in_turn():
    rng = np.random.default_rng(5)
    X, groups = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    labels = np.arange(60) % 4
    lam = 2.0
    model = RenyiKMeans(4, lam, init=labels, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes, although .* moves"):
        model.fit(X, sensitive_features=groups)
    expected = labels.copy()
    for i in range(60):
        objectives = []
        for k in range(4):
            candidate = expected.copy()
            candidate[i] = k
            objectives.append(scratch(X, candidate, groups, lam))
        expected[i] = int(np.argmin(objectives))
    assert (model.labels_ == expected).all()
    assert model.history_["moved"].tolist() == [0, (expected != labels).sum()]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_clusters", [3, 9])
def test_lam_zero_is_never_worse_than_lloyd_from_the_same_centers(blobs, seed, n_clusters):
    X, s = blobs
    centers, _ = kmeans_plusplus(X, n_clusters, random_state=seed)
    lloyd = KMeans(n_clusters, init=centers, n_init=1).fit(X)
    model = RenyiKMeans(n_clusters, 0.0, init=centers).fit(X, sensitive_features=s)
    assert model.inertia_ <= lloyd.inertia_ * (1 + 1e-12)
    assert model.inertia_ >= 0.5 * lloyd.inertia_
    assert (model.predict(X) == model.labels_).all()
    assert (model.predict(X, sensitive_features=s) == model.labels_).all()


def test_well_separated_clusters_are_recovered(toy):
    X, s, source = toy
    model = RenyiKMeans(5, 0.0, random_state=0, n_init=5).fit(X, sensitive_features=s)
    purity = pd.crosstab(source, model.labels_).to_numpy().max(axis=1).sum() / len(X)
    assert purity > 0.98
    assert sorted(model.proportions_)[0] < 0.02
    assert sorted(model.proportions_)[-1] > 0.98


def test_clusters_of_one_group_are_mixed_as_lambda_grows(toy):
    X, s, _ = toy
    path = lam_path(
        RenyiKMeans(5, random_state=0), X, sensitive_features=s, lams=[0, 100, 1000, 10000]
    )
    table = tradeoff_table(path)
    assert (np.diff(table["penalty"]) < 0).all()
    assert (np.diff(table["inertia"]) > 0).all()
    assert table["w_sd"].iloc[-1] < 0.01
    assert table["w_sd"].iloc[0] > 0.2


def test_large_lambda_is_nearly_fair_at_less_loss_than_without_a_lead_in(blobs):
    X, s = blobs
    plain = RenyiKMeans(5, 0.0, random_state=0).fit(X, sensitive_features=s)
    fair = RenyiKMeans(5, 1e9, random_state=0).fit(X, sensitive_features=s)
    frozen = RenyiKMeans(5, 1e9, init=plain.labels_).fit(X, sensitive_features=s)
    assert np.abs(fair.proportions_ - s.mean()).max() < 1 / fair.contingency_.sum(axis=1).min()
    assert fair.inertia_ < frozen.inertia_


def test_lead_in_doubles_lambda_and_each_pass_decreases_its_objective(blobs):
    X, s = blobs
    history = RenyiKMeans(5, 500.0, random_state=0).fit(X, sensitive_features=s).history_
    lams = np.unique(history["lam"])
    assert lams[-1] == 500.0
    assert len(lams) > 3
    exponents = np.log2(lams[1:] / lams[:-1])
    assert (exponents == exponents.round()).all()
    assert exponents[0] == 1
    before = history["inertia"][:-1] + history["lam"][1:] * history["penalty"][:-1]
    assert (history["objective"][1:] <= before).all()


def test_lead_in_is_shortened_if_no_point_moves(blobs):
    X, s = blobs
    history = RenyiKMeans(5, 1e12, random_state=0).fit(X, sensitive_features=s).history_
    exponents = np.log2(history["lam"][2:] / history["lam"][1:-1])
    still = history["moved"][1:-1] == 0
    assert still[:-1].sum() > 1
    assert (exponents[~still] == 1).all()
    assert (exponents[:-1][still[:-1]] >= 2).all()


def test_positive_tol_stops_the_descent_early(blobs):
    X, s = blobs
    start = np.arange(400) % 5
    exact = RenyiKMeans(5, 20.0, init=start).fit(X, sensitive_features=s)
    early = RenyiKMeans(5, 20.0, init=start, tol=0.05).fit(X, sensitive_features=s)
    assert early.converged_
    assert early.n_iter_ < exact.n_iter_
    objective = early.history_["objective"]
    falls = -np.diff(objective) / objective[:-1]
    assert falls[-1] < 0.05
    assert (falls[:-1] >= 0.05).all()


def overlapping(n_groups, seed):
    """3000 points in six overlapping clusters whose groups differ, and initial centers."""
    rng = np.random.default_rng(seed)
    source = rng.integers(6, size=3000)
    X = rng.normal(size=(6, 3))[source] + 0.6 * rng.normal(size=(3000, 3))
    s = (rng.random(3000) < np.linspace(0.2, 0.8, 6)[source]).astype(int)
    s[rng.random(3000) < 0.3] = n_groups - 1
    return X, s, kmeans_plusplus(X, 6, random_state=seed)[0]


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("lam", [0.0, 1.0, 100.0])
def test_passes_over_the_points_near_a_border_lead_to_a_local_optimum(monkeypatch, lam, n_groups):
    ratios = []
    for seed in range(4):
        X, s, start = overlapping(n_groups, seed)
        model = RenyiKMeans(6, lam, init=start, tol=0.0)
        plain = clone(model).fit(X, sensitive_features=s)
        with monkeypatch.context() as patch:
            patch.setattr(clustering, "_EXACT_UP_TO", 500)
            model.fit(X, sensitive_features=s)
        assert model.converged_
        assert model.n_iter_ <= plain.n_iter_
        history = model.history_
        same_lam = history["lam"][1:] == history["lam"][:-1]
        assert np.all(np.diff(history["objective"])[same_lam] <= 0)
        assert history["objective"][-1] == pytest.approx(model.objective_, rel=1e-9)
        again = RenyiKMeans(6, lam, init=model.labels_, tol=0.0).fit(X, sensitive_features=s)
        assert again.labels_.tolist() == model.labels_.tolist()
        ratios.append(model.objective_ / plain.objective_)
    assert np.median(ratios) < 1.001


def test_best_of_several_starts_is_kept(blobs):
    X, s = blobs
    rng = np.random.RandomState(0)
    single = [
        RenyiKMeans(9, 5.0, random_state=rng).fit(X, sensitive_features=s).objective_
        for _ in range(6)
    ]
    best = RenyiKMeans(9, 5.0, n_init=6, random_state=np.random.RandomState(0))
    assert best.fit(X, sensitive_features=s).objective_ == min(single)
    assert min(single) < max(single)


def test_auto_means_ten_starts_for_random_centers_only(blobs, monkeypatch):
    X, _ = blobs
    starts = []
    run = RenyiKMeans._run
    monkeypatch.setattr(
        RenyiKMeans, "_run", lambda self, *args: starts.append(self.init) or run(self, *args)
    )
    for init in ("random", "k-means++", "random-assignment"):
        RenyiKMeans(3, init=init, random_state=0).fit(X)
    RenyiKMeans(3, init=X[:3], n_init=4).fit(X)
    assert [str(s) for s in starts[:12]] == ["random"] * 10 + ["k-means++", "random-assignment"]
    assert len(starts) == 13


def test_three_groups_become_fair(blobs):
    X, _ = blobs
    rng = np.random.default_rng(2)
    groups = np.where(X[:, 0] > np.median(X[:, 0]), "c", rng.choice(["a", "b"], 400))
    plain = RenyiKMeans(4, 0.0, random_state=0).fit(X, sensitive_features=groups)
    fair = RenyiKMeans(4, 1e5, random_state=0).fit(X, sensitive_features=groups)
    assert fair.groups_.tolist() == ["a", "b", "c"]
    assert fair.proportions_.shape == (4, 3)
    assert fair.proportions_.sum(axis=1) == pytest.approx(np.ones(4))
    shares = np.array([(groups == g).mean() for g in "abc"])
    assert np.abs(plain.proportions_ - shares).max() > 0.4
    assert np.abs(fair.proportions_ - shares).max() < 0.02


def test_clusters_do_not_depend_on_the_coding_of_two_groups(blobs):
    X, s = blobs
    names = np.where(s == 1, "m", "f")
    numbers = RenyiKMeans(5, 20.0, random_state=0).fit(X, sensitive_features=s)
    text = RenyiKMeans(5, 20.0, random_state=0).fit(X, sensitive_features=names)
    swapped = RenyiKMeans(5, 20.0, random_state=0).fit(X, sensitive_features=1 - s)
    assert (numbers.labels_ == text.labels_).all()
    assert (numbers.labels_ == swapped.labels_).all()
    assert numbers.proportions_ == pytest.approx(1 - swapped.proportions_)
    assert text.groups_.tolist() == ["f", "m"]


def test_groups_in_any_container_are_accepted(blobs):
    X, s = blobs
    table = pd.DataFrame({"s": s, "t": np.where(X[:, 0] > 0, "right", "left")})
    joint = RenyiKMeans(4, 20.0, random_state=0).fit(X, sensitive_features=table)
    assert joint.groups_.tolist() == [(0, "left"), (0, "right"), (1, "left"), (1, "right")]
    assert joint.contingency_.sum() == 400
    series = RenyiKMeans(4, 20.0, random_state=0).fit(X, sensitive_features=table["s"])
    array = RenyiKMeans(4, 20.0, random_state=0).fit(X, sensitive_features=s)
    assert (series.labels_ == array.labels_).all()


def test_fitted_attributes_describe_the_labels(blobs):
    X, s = blobs
    model = RenyiKMeans(5, 20.0, random_state=0).fit(X, sensitive_features=s)
    for k in range(5):
        inside = model.labels_ == k
        assert model.cluster_centers_[k] == pytest.approx(X[inside].mean(axis=0))
        assert model.proportions_[k] == pytest.approx(s[inside].mean())
        assert model.contingency_[k].tolist() == [(s[inside] == 0).sum(), (s[inside] == 1).sum()]
    assert model.inertia_ == pytest.approx(
        ((X - model.cluster_centers_[model.labels_]) ** 2).sum()
    )
    assert model.objective_ == model.inertia_ + 20.0 * model.penalty_
    assert model.n_iter_ == len(model.history_["objective"]) - 1
    assert model.cycle_length_ == 0


# --- Algorithm 3 -----------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.0, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_paper_follows_algorithm_3_line_by_line(lam, seed):
    rng = np.random.default_rng(seed)
    X, s = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    labels = rng.permutation(np.arange(40) % 3)
    for passes, expected in enumerate(algorithm_3(X, s, labels, lam, 12)[1:], start=1):
        model = RenyiKMeans(3, lam, algorithm="paper", init=labels, max_iter=passes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, sensitive_features=s)
        if model.n_iter_ < passes:
            break
        assert (model.labels_ == expected).all()


def test_paper_starts_from_a_random_assignment_without_empty_clusters(blobs):
    X, s = blobs
    model = RenyiKMeans(
        40, 1.0, algorithm="paper", init="random-assignment", max_iter=1, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="did not terminate within max_iter=1 passes"):
        model.fit(X, sensitive_features=s)
    total = ((X - X.mean(axis=0)) ** 2).sum()
    expected = total * (len(X) - 40) / (len(X) - 1)  # the mean over random partitions
    assert model.history_["inertia"][0] == pytest.approx(expected, rel=0.05)


def test_paper_with_lam_zero_is_lloyd(blobs):
    X, s = blobs
    centers, _ = kmeans_plusplus(X, 6, random_state=0)
    model = RenyiKMeans(6, 0.0, algorithm="paper", init=centers).fit(X, sensitive_features=s)
    lloyd = KMeans(6, init=centers, n_init=1, tol=0).fit(X)
    assert model.converged_
    assert (model.labels_ == lloyd.labels_).all()
    assert model.inertia_ == pytest.approx(lloyd.inertia_)


def test_four_points_with_batch_updates_alternate_forever():
    lam = 1000.0
    labels, seen = FOUR_LABELS, []
    for _ in range(4):
        centers = np.array([FOUR_POINTS[labels == k].mean(axis=0) for k in (0, 1)])
        w = np.array([FOUR_GROUPS[labels == k].mean() for k in (0, 1)])
        distance = ((FOUR_POINTS[:, None] - centers) ** 2).sum(axis=2)
        labels = (distance - lam * (w - FOUR_GROUPS[:, None]) ** 2).argmin(axis=1)
        seen.append(labels.tolist())
    assert seen == [[1, 1, 0, 0], [0, 0, 1, 1]] * 2


def test_four_points_with_single_updates_terminate_for_some_lambda():
    model = RenyiKMeans(2, 100.0, algorithm="paper", init=FOUR_LABELS)
    model.fit(FOUR_POINTS, sensitive_features=FOUR_GROUPS)
    assert model.converged_
    assert model.proportions_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("lam", [85.0, 163.0, 1000.0, 1e6])
def test_four_points_with_single_updates_cycle_for_other_lambda(lam):
    model = RenyiKMeans(2, lam, algorithm="paper", init=FOUR_LABELS)
    with pytest.warns(ConvergenceWarning, match="cycle of . passes"):
        model.fit(FOUR_POINTS, sensitive_features=FOUR_GROUPS)
    period = model.cycle_length_
    history = algorithm_3(FOUR_POINTS, FOUR_GROUPS, FOUR_LABELS, lam, 60)
    late = [labels.tolist() for labels in history[30:]]
    assert late[period:] == late[:-period]
    assert late[1] != late[0]
    on_the_cycle = RenyiKMeans(2, lam, algorithm="paper", init=model.labels_)
    with pytest.warns(ConvergenceWarning, match="cycle"):
        on_the_cycle.fit(FOUR_POINTS, sensitive_features=FOUR_GROUPS)
    assert on_the_cycle.n_iter_ == on_the_cycle.cycle_length_ == period


@pytest.mark.parametrize("lam", [85.0, 163.0, 1000.0, 1e6])
def test_descent_terminates_on_the_four_points_where_algorithm_3_cycles(lam):
    model = RenyiKMeans(2, lam, init=FOUR_LABELS)
    model.fit(FOUR_POINTS, sensitive_features=FOUR_GROUPS)
    assert model.converged_
    assert model.objective_ < scratch(FOUR_POINTS, FOUR_LABELS, FOUR_GROUPS, lam)
    if lam > 100:
        assert model.proportions_.tolist() == [0.5, 0.5]


def test_algorithm_3_may_not_terminate_where_the_descent_does(toy):
    X, s, _ = toy
    paper = RenyiKMeans(5, 100.0, algorithm="paper", init="random-assignment", random_state=0)
    with pytest.warns(ConvergenceWarning, match="Algorithm 3"):
        paper.fit(X, sensitive_features=s)
    assert not paper.converged_
    assert paper.history_["moved"][-1] > 0
    descent = RenyiKMeans(5, 100.0, random_state=0).fit(X, sensitive_features=s)
    assert descent.converged_
    assert descent.objective_ < paper.objective_


def test_a_cluster_that_empties_keeps_its_center_and_takes_no_new_points():
    X = np.array([[1.0], [0.0], [6.0], [5.0]])
    model = RenyiKMeans(3, 0.0, algorithm="paper", init=[0, 1, 1, 2])
    model.fit(X, sensitive_features=[1, 0, 1, 1])
    assert model.labels_.tolist() == [0, 0, 2, 2]
    assert model.cluster_centers_.ravel().tolist() == [0.5, 3.0, 5.5]
    assert model.proportions_ == pytest.approx([0.5, np.nan, 1.0], nan_ok=True)
    assert model.predict([[3.1], [2.9]]).tolist() == [2, 0]
    assert model.predict([[3.1], [2.9]], sensitive_features=[0, 1]).tolist() == [2, 0]


def test_paper_rejects_three_groups():
    with pytest.raises(ValueError, match="3 groups, but algorithm='paper' supports only two"):
        RenyiKMeans(2, algorithm="paper").fit(FOUR_POINTS, sensitive_features=[0, 1, 2, 0])


# --- predict ---------------------------------------------------------------------------------


def test_predict_without_groups_uses_the_nearest_center(blobs):
    X, s = blobs
    model = RenyiKMeans(5, 100.0, random_state=0).fit(X, sensitive_features=s)
    new = np.random.default_rng(0).uniform(-10, 10, size=(50, 2))
    distances = ((new[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    with pytest.warns(NoSensitiveFeaturesWarning, match="fairness of lam=100.0 is lost"):
        assert (model.predict(new) == distances.argmin(axis=1)).all()
    # A model without a penalty has no fairness to lose and does not warn.
    for plain in (
        RenyiKMeans(5, random_state=0).fit(X, sensitive_features=s),
        RenyiKMeans(5, random_state=0).fit(X),
    ):
        plain.predict(new)


def test_predict_with_groups_adds_points_one_by_one_at_minimum_cost(blobs):
    X, s = blobs
    lam = 30.0
    groups = s + 2 * (X[:, 1] > 0)
    model = RenyiKMeans(5, lam, random_state=0).fit(X, sensitive_features=groups)
    rng = np.random.default_rng(0)
    new, new_groups = rng.uniform(-10, 10, size=(50, 2)), rng.permutation(groups)[:50]
    shares = np.bincount(groups) / 400
    factor = (1 - (shares**2).sum()) / (2 * 3)

    def penalty(table):
        size = table.sum(axis=1, keepdims=True)
        return factor * (size * (table / size - shares) ** 2 / shares).sum()

    table, expected = model.contingency_.astype(float), []
    for x, g in zip(new, new_groups):
        costs = []
        for k in range(5):
            grown = table.copy()
            grown[k, g] += 1
            distance = ((x - model.cluster_centers_[k]) ** 2).sum()
            costs.append(distance + lam * (penalty(grown) - penalty(table)))
        expected.append(int(np.argmin(costs)))
        table[expected[-1], g] += 1
    before = model.contingency_.copy()
    assert model.predict(new, sensitive_features=new_groups).tolist() == expected
    assert (model.contingency_ == before).all()
    with pytest.warns(NoSensitiveFeaturesWarning):
        assert (model.predict(new) != expected).any()


def test_fair_rule_requires_counting_the_new_points(blobs):
    X, s = blobs
    model = RenyiKMeans(5, 1e4, random_state=0).fit(X[:200], sensitive_features=s[:200])
    new, groups = X[200:], s[200:]
    with pytest.warns(NoSensitiveFeaturesWarning):
        nearest = renyi_correlation(model.predict(new), groups)
    in_turn = renyi_correlation(model.predict(new, sensitive_features=groups), groups)
    alone = [model.predict([x], sensitive_features=[g])[0] for x, g in zip(new, groups)]
    assert in_turn < nearest / 3
    assert renyi_correlation(alone, groups) > nearest


def test_predict_before_fit_or_with_invalid_groups_raises(blobs):
    X, s = blobs
    with pytest.raises(NotFittedError):
        RenyiKMeans().predict(X)
    model = RenyiKMeans(3, 1.0, random_state=0).fit(X, sensitive_features=s)
    with pytest.raises(ValueError, match=r"unseen in fit: \[2\]; the fit had \[0, 1\]"):
        model.predict(X[:3], sensitive_features=[0, 1, 2])
    with pytest.raises(ValueError, match="X has 3, sensitive_features has 2"):
        model.predict(X[:3], sensitive_features=[0, 1])
    plain = RenyiKMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="not to fit"):
        plain.predict(X[:3], sensitive_features=[0, 1, 1])


# --- transform and score ---------------------------------------------------------------------


def test_transform_gives_the_distances_to_the_centers(blobs):
    X, s = blobs
    model = RenyiKMeans(4, 10.0, random_state=0)
    distances = model.fit_transform(X + 1e6, sensitive_features=s)
    expected = np.linalg.norm(X[:, None] + 1e6 - model.cluster_centers_, axis=2)
    np.testing.assert_allclose(distances, expected, atol=1e-6)
    assert model.get_feature_names_out().tolist() == [f"renyikmeans{k}" for k in range(4)]


@pytest.mark.parametrize("weighted", [False, True])
def test_score_is_minus_the_objective_of_the_assignment(blobs, weighted):
    X, s = blobs
    weight = np.random.default_rng(0).integers(1, 4, size=200) if weighted else None
    model = RenyiKMeans(4, 10.0, random_state=0).fit(X[:200], sensitive_features=s[:200])
    labels = model.predict(X[200:], sensitive_features=s[200:])
    fixed = ((X[200:] - model.cluster_centers_[labels]) ** 2).sum(axis=1)
    of_labels = renyi_kmeans_objective(
        X[200:], labels, sensitive_features=s[200:], sample_weight=weight, lam=10.0
    )
    expected = np.average(fixed, weights=weight) * (weight.sum() if weighted else 200)
    score = model.score(X[200:], sensitive_features=s[200:], sample_weight=weight)
    assert score == pytest.approx(-expected - 10 * of_labels.penalty)


def test_score_without_groups_matches_k_means(blobs):
    X, s = blobs
    model = RenyiKMeans(4, random_state=0).fit(X[:200], sensitive_features=s[:200])
    peer = KMeans(4, init=model.cluster_centers_, n_init=1, max_iter=1).fit(X[:200])
    peer.cluster_centers_ = model.cluster_centers_
    assert model.score(X[200:]) == pytest.approx(peer.score(X[200:]))
    model.lam = 5.0
    with pytest.warns(NoSensitiveFeaturesWarning, match=r"ignores the penalty with lam=5.0"):
        assert model.score(X[200:]) == pytest.approx(peer.score(X[200:]))


def test_score_with_different_lengths_raises(blobs):
    X, s = blobs
    model = RenyiKMeans(3, 1.0, random_state=0).fit(X, sensitive_features=s)
    with pytest.raises(ValueError, match="X has 3, sensitive_features has 2"):
        model.score(X[:3], sensitive_features=[0, 1])
    with pytest.raises(ValueError, match="X has 3, sample_weight has 2"):
        model.score(X[:3], sensitive_features=[0, 1, 1], sample_weight=[1, 1])


# --- sparse points ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thin():
    """Sparse counts of 40 words in 300 texts, where each group often uses one word of its own."""
    rng = np.random.default_rng(5)
    s = rng.integers(3, size=300)
    rate = np.full((3, 40), 0.05)
    rate[[0, 1, 2], [0, 1, 2]] = 2.0
    return rng.poisson(rate[s] * rng.choice([0.2, 3.0], (300, 1))).astype(float), s


@pytest.mark.parametrize("lam", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_points_give_the_clusters_of_dense_ones(thin, lam, weighted):
    X, s = thin
    weight = np.random.default_rng(0).integers(0, 3, size=300) if weighted else None
    start = np.arange(300) % 4
    known = {"sensitive_features": s, "sample_weight": weight}
    dense = RenyiKMeans(4, lam, init=start).fit(X, **known)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        found = RenyiKMeans(4, lam, init=start).fit(kind(X), **known)
        kept = slice(None) if weight is None else weight > 0
        assert (found.labels_[kept] == dense.labels_[kept]).all()
        np.testing.assert_allclose(found.cluster_centers_, dense.cluster_centers_, atol=1e-12)
        assert found.objective_ == pytest.approx(dense.objective_)
        assert found.history_["objective"] == pytest.approx(dense.history_["objective"])


@pytest.mark.parametrize("init", ["k-means++", "random", "random-assignment"])
def test_every_initialization_of_sparse_points_reaches_a_local_minimum(thin, init):
    X, s = thin
    model = RenyiKMeans(4, 0.3, init=init, n_init=1, random_state=0)
    model.fit(sparse.csr_array(X), sensitive_features=s)
    assert model.converged_
    again = RenyiKMeans(4, 0.3, init=model.labels_).fit(X, sensitive_features=s)
    assert again.history_["moved"].sum() == 0
    path = lam_path(model, sparse.csr_array(X), sensitive_features=s, lams=[0, 100])
    assert path[1].penalty_ < path[0].penalty_ / 2


def test_new_sparse_points_can_be_predicted(thin):
    X, s = thin
    model = RenyiKMeans(4, 0.3, random_state=0).fit(X[:200], sensitive_features=s[:200])
    new, known = sparse.csr_array(X[200:]), {"sensitive_features": s[200:]}
    assert (model.predict(new, **known) == model.predict(X[200:], **known)).all()
    np.testing.assert_allclose(model.transform(new), model.transform(X[200:]), atol=1e-6)
    assert model.score(new, **known) == pytest.approx(model.score(X[200:], **known))
    ours = renyi_kmeans_objective(new, s[200:], lam=1.0, **known)
    theirs = renyi_kmeans_objective(X[200:], s[200:], lam=1.0, **known)
    assert ours == pytest.approx(theirs)


def test_sparse_points_are_never_made_dense():
    # As a dense array, X would take 80 GB.
    rng = np.random.default_rng(0)
    entries = (
        rng.random(10_000),
        (rng.integers(10_000, size=10_000), rng.integers(1_000_000, size=10_000)),
    )
    X = sparse.csr_array(entries, shape=(10_000, 1_000_000))
    s = np.arange(10_000) % 2
    model = RenyiKMeans(2, 1.0, init=s.astype(int), max_iter=50)
    model.fit(X, sensitive_features=s)
    assert model.penalty_ < renyi_kmeans_objective(X, s, sensitive_features=s).penalty / 10


def test_algorithm_3_rejects_sparse_points(thin):
    X, _ = thin
    with pytest.raises(ValueError, match=r"X is sparse, .*: use algorithm='descent'"):
        RenyiKMeans(4, algorithm="paper").fit(sparse.csr_array(X))


# --- many points -----------------------------------------------------------------------------


def test_default_tol_is_exact_for_few_points_and_stops_early_for_many():
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(100_000, 4)), rng.integers(2, size=100_000)
    many = RenyiKMeans(6, 1.0, random_state=0, max_iter=120).fit(X, sensitive_features=s)
    assert many.converged_
    assert many.history_["moved"][-1] > 0
    exact = RenyiKMeans(6, 1.0, random_state=0, tol=0.0).fit(X, sensitive_features=s)
    assert exact.history_["moved"][-1] == 0
    assert many.n_iter_ < exact.n_iter_
    assert exact.objective_ <= many.objective_ <= exact.objective_ * (1 + 1e-4)
    few = RenyiKMeans(6, 1.0, random_state=0).fit(X[:2000], sensitive_features=s[:2000])
    assert few.history_["moved"][-1] == 0


# --- the path --------------------------------------------------------------------------------


def test_the_path_gives_a_local_optimum_for_each_lambda(blobs):
    X, s = blobs
    lams = [0.0, 1.0, 30.0, 1e4]
    path = lam_path(RenyiKMeans(5, random_state=0), X, sensitive_features=s, lams=lams)
    assert [model.lam for model in path] == lams
    for model in path:
        assert model.converged_
        again = RenyiKMeans(5, model.lam, init=model.labels_).fit(X, sensitive_features=s)
        assert (again.labels_ == model.labels_).all()
        assert again.objective_ == model.objective_
    first = RenyiKMeans(5, 0.0, random_state=0).fit(X, sensitive_features=s)
    assert (path[0].labels_ == first.labels_).all()
    assert path[-1].penalty_ < path[0].penalty_ / 1000


def test_models_of_a_path_are_complete_estimators(blobs):
    X, s = blobs
    frame = pd.DataFrame(X, columns=["u", "v"])
    path = lam_path(RenyiKMeans(4), frame, sensitive_features=s, lams=[0, 10])
    assert path[1].feature_names_in_.tolist() == ["u", "v"]
    assert path[1].get_params()["lam"] == 10
    assert path[1].predict(frame, sensitive_features=s).shape == (400,)
    assert path[0].history_ is not path[1].history_


def test_the_tradeoff_table_has_a_row_for_each_model(blobs):
    X, s = blobs
    path = lam_path(RenyiKMeans(5), X, sensitive_features=s, lams=[0, 10, 100])
    table = tradeoff_table(path)
    assert table["lam"].tolist() == [0, 10, 100]
    for row, model in zip(table.itertuples(), path):
        w = np.array([s[model.labels_ == k].mean() for k in range(5)])
        assert (row.w_min, row.w_max) == (w.min(), w.max())
        assert (row.w_mean, row.w_sd) == pytest.approx((w.mean(), w.std()))
        assert row.rho_R == pytest.approx(renyi_correlation(model.labels_, s))
        assert row.deviation == pytest.approx(row.rho_R * np.sqrt(s.mean() * (1 - s.mean())))
        assert row.balance == pytest.approx(np.minimum(w / (1 - w), (1 - w) / w).min())
        assert row.objective == pytest.approx(row.inertia + row.lam * row.penalty)
        assert row.n_iter == model.n_iter_


def test_the_tradeoff_table_of_three_groups_has_no_single_w(blobs):
    X, s = blobs
    groups = s + (X[:, 0] > 0)
    path = lam_path(RenyiKMeans(4), X, sensitive_features=groups, lams=[0, 10])
    columns = tradeoff_table(path).columns
    assert not any(name.startswith("w_") for name in columns)
    assert {"penalty", "deviation", "balance", "rho_R"} <= set(columns)


def test_a_path_increases_for_any_order_of_lams(blobs):
    X, s = blobs
    model = RenyiKMeans(4, random_state=0)
    up = lam_path(model, X, sensitive_features=s, lams=[0, 10, 100])
    mixed = lam_path(model, X, sensitive_features=s, lams=[100, 0, 10])
    assert [m.lam for m in mixed] == [100, 0, 10]
    assert [m.objective_ for m in mixed] == [up[2].objective_, up[0].objective_, up[1].objective_]


def test_a_path_of_algorithm_3_restarts_for_each_lam(blobs):
    X, s = blobs
    model = RenyiKMeans(4, algorithm="paper", init="random-assignment", random_state=3)
    path = lam_path(model, X, sensitive_features=s, lams=[0, 1e-3])
    for fitted in path:
        alone = clone(model).set_params(lam=fitted.lam).fit(X, sensitive_features=s)
        assert (alone.labels_ == fitted.labels_).all()


@pytest.mark.parametrize("lams", [[0, np.nan], [0, np.inf], [-1]])
def test_invalid_lams_raise(blobs, lams):
    X, s = blobs
    with pytest.raises(ValueError, match="lams"):
        lam_path(RenyiKMeans(), X, sensitive_features=s, lams=lams)


def test_a_path_and_its_table_need_groups(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="models needs groups"):
        lam_path(RenyiKMeans(), X, sensitive_features=None, lams=[0, 1])
    with pytest.raises(ValueError, match="fitted without sensitive_features"):
        tradeoff_table([RenyiKMeans(3).fit(X)])


# --- degenerate and invalid input ------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["descent", "paper"])
def test_fit_without_groups_is_plain_k_means_and_warns(blobs, algorithm):
    X, _ = blobs
    options = {"algorithm": algorithm, "random_state": 0}
    plain = RenyiKMeans(5, 0.0, **options).fit(X)
    with pytest.warns(NoSensitiveFeaturesWarning, match="no effect without sensitive_features"):
        weighted = RenyiKMeans(5, 10.0, **options).fit(X)
    assert (plain.labels_ == weighted.labels_).all()
    assert weighted.proportions_ is None
    assert weighted.groups_ is None
    assert weighted.penalty_ == 0.0


@pytest.mark.parametrize("algorithm", ["descent", "paper"])
def test_constant_columns_have_no_effect(blobs, algorithm):
    X, s = blobs
    wide = np.column_stack([np.full(400, 3.7), X, np.full(400, -1e6)])
    options = {"algorithm": algorithm, "init": np.arange(400) % 4}
    narrow = RenyiKMeans(4, 0.5, **options).fit(X, sensitive_features=s)
    result = RenyiKMeans(4, 0.5, **options).fit(wide, sensitive_features=s)
    assert (result.labels_ == narrow.labels_).all()
    assert result.cluster_centers_[:, 0] == pytest.approx(np.full(4, 3.7))


@pytest.mark.parametrize("init", ["k-means++", "random", "random-assignment"])
@pytest.mark.parametrize("lam", [0.0, 1.0, 1e9])
def test_points_that_are_all_equal_are_split_fairly_at_no_cost(init, lam):
    X, s = np.full((40, 2), 0.1), np.arange(40) % 2
    model = RenyiKMeans(4, lam, init=init, random_state=0).fit(X, sensitive_features=s)
    assert model.converged_
    assert model.inertia_ == pytest.approx(0, abs=1e-25)
    assert (np.bincount(model.labels_, minlength=4) > 0).all()
    if lam:
        assert lam * model.penalty_ <= lam * 0.5


def test_fewer_distinct_points_than_clusters_still_fill_every_cluster():
    X = np.repeat([[0.0], [1.0]], 6, axis=0)
    model = RenyiKMeans(5, 1.0, random_state=0).fit(X, sensitive_features=[0, 1] * 6)
    assert (np.bincount(model.labels_, minlength=5) > 0).all()
    assert model.inertia_ == pytest.approx(0, abs=1e-25)


def test_as_many_points_as_clusters_leaves_one_each(blobs):
    X, s = blobs
    model = RenyiKMeans(6, 1e3, random_state=0).fit(X[:6], sensitive_features=s[:6])
    assert sorted(model.labels_) == list(range(6))
    assert model.inertia_ == pytest.approx(0, abs=1e-20)


def test_distant_origin_has_no_effect(blobs):
    X, s = blobs
    labels = np.arange(400) % 5
    near = RenyiKMeans(5, 20.0, init=labels).fit(X, sensitive_features=s)
    far = RenyiKMeans(5, 20.0, init=labels).fit(X + 2.0**20, sensitive_features=s)
    assert (near.labels_ == far.labels_).all()
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6)


def test_empty_clusters_of_an_initial_assignment_are_filled(blobs):
    X, s = blobs
    model = RenyiKMeans(4, 1.0, init=np.zeros(400, dtype=int)).fit(X, sensitive_features=s)
    assert (np.bincount(model.labels_, minlength=4) > 0).all()
    assert model.history_["inertia"][0] < ((X - X.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number, 1 or more, not 0"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number, 1 or more, not 2.5"),
        ({"n_clusters": 401}, "n_samples=400 should be >= n_clusters=401"),
        ({"lam": -0.1}, "lam must be a number, 0 or more, not -0.1"),
        ({"lam": np.nan}, "lam must be a number, 0 or more, not nan"),
        ({"lam": np.inf}, "lam must be a number, 0 or more, not inf"),
        ({"lam": "much"}, "lam must be a number, 0 or more, not 'much'"),
        ({"tol": -1.0}, r"tol must be a number, 0 or more \(or 'auto'\), not -1.0"),
        ({"max_iter": 0}, "max_iter must be a whole number, 1 or more"),
        ({"n_init": 0}, r"n_init must be a whole number, 1 or more \(or 'auto'\), not 0"),
        ({"n_init": "many"}, r"n_init must be .* \(or 'auto'\), not 'many'"),
        ({"algorithm": "lloyd"}, "algorithm must be one of 'descent', 'paper'"),
        ({"init": "best"}, "init must be 'k-means\\+\\+', 'random'"),
        ({"init": np.zeros((3, 2))}, r"= \(8, 2\), but it has shape \(3, 2\)"),
        ({"init": np.full((8, 2), np.nan)}, "init contains NaN"),
        ({"init": np.zeros(7, dtype=int)}, "integer cluster number for each of the 400 samples"),
        ({"init": np.zeros(400)}, "number for each of the 400 samples, not float64 values"),
        ({"init": np.full(400, 8)}, "cluster numbers from 0 to 7, but it has values from 8 to 8"),
    ],
)
def test_invalid_parameters_raise(blobs, parameters, message):
    X, s = blobs
    with pytest.raises(ValueError, match=message):
        RenyiKMeans(**parameters).fit(X, sensitive_features=s)


def test_invalid_data_raise(blobs):
    X, s = blobs
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        RenyiKMeans().fit(holes, sensitive_features=s)
    with pytest.raises(ValueError, match="X has 400, sensitive_features has 399"):
        RenyiKMeans().fit(X, sensitive_features=s[:-1])
    with pytest.raises(ValueError, match="sensitive_features has a missing value"):
        RenyiKMeans().fit(X, sensitive_features=np.where(s == 1, 1.0, np.nan))
    with pytest.raises(ValueError, match="squares overflow: scale the columns"):
        RenyiKMeans(2, init=np.arange(400) % 2).fit(X * 1e200, sensitive_features=s)
    with pytest.raises(ValueError, match="lam must be a number, 0 or more"):
        renyi_kmeans_objective(X, s, sensitive_features=s, lam=-1)
