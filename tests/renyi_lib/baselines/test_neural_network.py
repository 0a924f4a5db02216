"""The neural network: gradients, agreement with scikit-learn, fairness and batches."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier
from sklearn.utils.estimator_checks import check_estimator

from renyi_lib.baselines.neural_network import (
    Adam,
    NetworkModel,
    RenyiNetworkClassifier,
    groups_of_batch,
)
from renyi_lib.classification import NoSensitiveFeaturesWarning
from renyi_lib.correlation import renyi_from_soft
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
)
from renyi_lib.solvers import gradient_descent
from tests.renyi_lib.baselines import biased_data
from tests.renyi_lib.baselines.test_sklearn import MadeUpGroups


def several_classes(n=40, n_classes=3, n_groups=2, seed=0):
    """Features, labels and groups, all of which depend on each other."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(np.arange(n) % n_groups)
    X = rng.normal(size=(n, 3)) + rng.normal(size=(n_groups, 3))[s]
    y = (X @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    return X, y, s


OBJECTIVES = {
    "two classes, no penalty": (2, 2, None),
    "three classes, no penalty": (3, 2, None),
    "five classes, no penalty": (5, 2, None),
    "two classes, two groups": (2, 2, BinaryRenyiPenalty()),
    "two classes, two groups, general": (2, 2, RenyiPenalty()),
    "two classes, four groups": (2, 4, RenyiPenalty()),
    "three classes, two groups": (3, 2, BinaryRenyiPenalty()),
    "three classes, four groups": (3, 4, RenyiPenalty()),
    "five classes, three groups": (5, 3, RenyiPenalty()),
    "pearson": (2, 2, PearsonPenalty()),
    "hsic": (3, 2, HSICPenalty(bandwidth=0.4)),
}


def objective_of(case, seed=0):
    c, d, penalty = OBJECTIVES[case]
    X, y, s = several_classes(40, c, d, seed=seed)
    model = NetworkModel(X, y, c, hidden=4)
    return FairObjective(model, penalty, None if penalty is None else Groups.from_labels(s)), s


class TestModel:
    @pytest.mark.parametrize("case", OBJECTIVES)
    def test_gradient_of_the_objective_agrees_with_differences(self, case):
        objective, _ = objective_of(case)
        theta = np.random.default_rng(1).normal(size=objective.model.shape)
        value, gradient = objective(theta, 0.7)
        at = objective.at(theta, 0.7)
        assert value == pytest.approx(at.loss + 0.7 * at.penalty)
        assert gradient.shape == theta.shape
        for i in range(theta.size):
            step = np.zeros_like(theta)
            step[i] = 1e-5
            slope = (objective(theta + step, 0.7)[0] - objective(theta - step, 0.7)[0]) / 2e-5
            assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_gradients_with_respect_to_f_are_pulled_back(self, n_classes):
        X, y, _ = several_classes(30, n_classes)
        model = NetworkModel(X, y, n_classes, hidden=5)
        rng = np.random.default_rng(2)
        theta, dF = rng.normal(size=model.shape), rng.normal(size=(30, n_classes))
        direction = 1e-5 * rng.normal(size=model.shape)
        ahead, behind = (model.at(theta + sign * direction).F for sign in (1, -1))
        point = model.at(theta)
        slope = np.sum(dF * (ahead - behind)) / 2
        (pulled,) = point.pull_back([dF])
        assert pulled @ direction == pytest.approx(slope, rel=1e-6)
        np.testing.assert_allclose(point.gradient(dF), point.gradient() + pulled, atol=1e-14)

    def test_penalty_of_the_objective_is_rho_squared(self):
        objective, s = objective_of("three classes, four groups")
        theta = np.random.default_rng(0).normal(size=objective.model.shape)
        at = objective.at(theta, 1.0)
        assert at.penalty == pytest.approx(renyi_from_soft(at.F, s) ** 2, rel=1e-9)

    def test_extreme_scores_leave_loss_and_gradient_finite(self):
        X, y, _ = several_classes()
        model = NetworkModel(X, y, 3)
        point = model.at(np.full(model.shape, 1e4) * np.linspace(-1, 1, model.shape[0]))
        np.testing.assert_allclose(point.F.sum(axis=1), 1)
        assert np.isfinite(point.loss)
        assert np.isfinite(point.gradient()).all()

    def test_layers_are_views_that_cover_theta_once(self):
        X, y, _ = several_classes()
        model = NetworkModel(X, y, 3, hidden=4)
        theta = np.zeros(model.shape)
        for part in model.layers(theta):
            part += 1
        assert (theta == 1).all()
        assert [part.shape for part in model.layers(theta)] == [(3, 4), (4,), (4, 3), (3,)]

    def test_initial_weights_have_glorot_variance_and_zero_biases(self):
        model = NetworkModel(np.zeros((1, 300)), np.zeros(1, dtype=int), 2, hidden=100)
        A, a, B, b = model.layers(model.start(np.random.RandomState(0)))
        assert A.var() == pytest.approx(2 / 400, rel=0.02)
        assert B.var() == pytest.approx(2 / 102, rel=0.2)
        assert np.abs(A).max() <= np.sqrt(6 / 400)
        assert not a.any()
        assert not b.any()

    def test_paper_loop_accepts_the_network_unchanged(self):
        objective, _ = objective_of("two classes, two groups")
        theta = objective.model.start(np.random.RandomState(0))
        found = gradient_descent(objective, theta, 2.0, eta=0.05, max_iter=200)
        values = found.history.columns()["objective"]
        assert np.diff(values).max() < 0
        assert values[-1] < 0.8 * values[0]


class TestAgainstScikitLearn:
    """MLPClassifier is the same network, with the same loss and the same optimizer."""

    def test_adam_matches_a_reference_implementation(self):
        X, y, _ = several_classes(60)
        options = {"activation": "tanh", "alpha": 0, "batch_size": 60, "shuffle": False}
        # A tiny learning rate leaves the initial weights unchanged, so that they can be read.
        start = MLPClassifier(5, learning_rate_init=1e-15, random_state=0, **options)
        theirs = MLPClassifier(5, learning_rate_init=0.02, random_state=0, **options)
        start.partial_fit(X, y, classes=[0, 1, 2])
        model, adam = NetworkModel(X, y, 3, hidden=5), Adam(0.02)
        theta = flat(start)
        for _ in range(40):
            theirs.partial_fit(X, y, classes=[0, 1, 2])
            theta = adam.step(theta, model.at(theta).gradient())
        np.testing.assert_allclose(theta, flat(theirs), atol=1e-5)
        assert np.abs(theta - flat(start)).max() > 0.3

    def test_probabilities_and_loss_match_scikit_learn_with_the_same_weights(self):
        X, y, _ = several_classes(200)
        theirs = MLPClassifier(12, activation="tanh", alpha=0, max_iter=2000, random_state=0)
        theirs.fit(X, y)
        ours = RenyiNetworkClassifier(epochs=1).fit(X, y)
        ours.coefs_, ours.intercepts_ = theirs.coefs_, theirs.intercepts_
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        loss = NetworkModel(X, y, 3).at(flat(theirs)).loss
        assert loss == pytest.approx(log_loss(y, theirs.predict_proba(X)))


def flat(network):
    """A fitted network's weights and biases in the order of theta."""
    pairs = zip(network.coefs_, network.intercepts_)
    return np.concatenate([np.ravel(part) for pair in pairs for part in pair])


def quick(lam=0.0, **options):
    return RenyiNetworkClassifier(lam, **{"learning_rate": 0.02, "random_state": 0, **options})


class TestLearning:
    def test_xor_is_learned(self):
        rng = np.random.default_rng(0)
        X = rng.choice([-1.0, 1.0], size=(600, 2)) + 0.2 * rng.normal(size=(600, 2))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        assert LogisticRegression().fit(X, y).score(X, y) < 0.7
        assert quick().fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.97

    def test_three_rings_are_learned_with_string_labels(self):
        rng = np.random.default_rng(0)
        ring = rng.integers(3, size=900)
        angle = rng.uniform(0, 2 * np.pi, size=900)
        X = ((ring + 0.3) * np.array([np.cos(angle), np.sin(angle)])).T
        y = np.array(["inner", "middle", "outer"])[ring]
        clf = quick(batch_size=32).fit(X[:600], y[:600])
        assert clf.score(X[600:], y[600:]) > 0.95
        F = clf.predict_proba(X)
        assert F.shape == (900, 3)
        np.testing.assert_allclose(F.sum(axis=1), 1)
        np.testing.assert_array_equal(clf.classes_[F.argmax(axis=1)], clf.predict(X))

    def test_one_batch_of_all_samples_is_adam_on_the_full_objective(self):
        X, y, s = biased_data(100)
        clf = quick(3.0, batch_size=100, epochs=20).fit(X, y, sensitive_features=s)
        model = NetworkModel(X, y, 2)
        objective = FairObjective(model, RenyiPenalty(), Groups.from_labels(s))
        theta, adam = model.start(np.random.RandomState(0)), Adam(0.02)
        for _ in range(20):
            theta = adam.step(theta, objective(theta, 3.0)[1])
        np.testing.assert_allclose(flat(clf), theta, atol=1e-8)

    def test_defaults_are_the_settings_of_the_paper(self):
        defaults = RenyiNetworkClassifier().get_params()
        assert (defaults["hidden"], defaults["batch_size"], defaults["epochs"]) == (12, 128, 50)


class TestFairness:
    @pytest.mark.parametrize(("n_classes", "n_groups"), [(2, 2), (3, 2), (2, 3), (3, 4)])
    def test_larger_lam_reduces_the_correlation_on_new_data(self, n_classes, n_groups):
        X, y, s = several_classes(3000, n_classes, n_groups)
        train, test = slice(0, 2000), slice(2000, None)
        rho, losses = [], []
        for lam in (0.0, 1.0, 30.0):
            clf = quick(lam, epochs=20).fit(X[train], y[train], sensitive_features=s[train])
            rho.append(renyi_from_soft(clf.predict_proba(X[test]), s[test]))
            losses.append(clf.history_["loss"][-1])
        assert rho[0] > rho[1] > rho[2]
        assert rho[0] > 0.25
        assert rho[2] < 0.4 * rho[0]
        assert losses == sorted(losses)

    def test_groups_affect_only_the_history_if_lam_is_zero(self):
        X, y, s = biased_data()
        with_groups = quick(epochs=5).fit(X, y, sensitive_features=s)
        without = quick(epochs=5).fit(X, y)
        np.testing.assert_array_equal(flat(with_groups), flat(without))
        assert with_groups.history_["penalty"].all()
        assert not without.history_["penalty"].any()
        assert with_groups.groups_.tolist() == [0, 1]
        assert without.groups_ is None

    def test_fit_without_groups_is_unpenalized_and_warns(self):
        X, y, _ = biased_data()
        with pytest.warns(NoSensitiveFeaturesWarning, match="plain neural network") as caught:
            fair = quick(4.0, epochs=3).fit(X, y)
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(flat(fair), flat(quick(epochs=3).fit(X, y)))

    def test_history_is_computed_on_all_samples(self):
        X, y, s = several_classes(300, 3, 3)
        clf = quick(2.0, epochs=7, batch_size=50).fit(X, y, sensitive_features=s)
        F = clf.predict_proba(X)
        assert {name: len(values) for name, values in clf.history_.items()} == {
            "loss": 8,
            "penalty": 8,
            "objective": 8,
        }
        assert clf.history_["loss"][-1] == pytest.approx(log_loss(y, F))
        assert clf.history_["penalty"][-1] == pytest.approx(renyi_from_soft(F, s) ** 2)
        total = clf.history_["loss"] + 2 * clf.history_["penalty"]
        np.testing.assert_allclose(clf.history_["objective"], total)
        assert clf.n_iter_ == 7

    def test_several_columns_define_joint_groups(self):
        X, y, s = several_classes(200, 2, 4)
        frame = pd.DataFrame({"sex": np.array(["f", "m"])[s // 2], "old": s % 2 == 1})
        joint = quick(2.0, epochs=3).fit(X, y, sensitive_features=frame)
        coded = quick(2.0, epochs=3).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(flat(joint), flat(coded), rtol=1e-12)
        assert joint.groups_.tolist() == [("f", False), ("f", True), ("m", False), ("m", True)]


class TestBatches:
    def test_groups_of_a_batch_match_its_samples(self):
        labels = np.array(["a", "b", "c", "d"])[np.random.default_rng(0).integers(4, size=60)]
        groups = Groups.from_labels(labels)
        for kept in (["a", "b", "c", "d"], ["b", "d"], ["a", "c", "d"]):
            rows = np.flatnonzero(np.isin(labels, kept))[::-1]
            batch, expected = groups_of_batch(groups, rows), Groups.from_labels(labels[rows])
            assert batch.categories.tolist() == kept
            np.testing.assert_array_equal(batch.codes, expected.codes)
            np.testing.assert_allclose(batch.q, expected.q)
            assert batch.weight == pytest.approx(1 / len(rows))
        assert groups_of_batch(groups, np.flatnonzero(labels == "b")) is None

    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_batches_of_a_single_group_are_not_penalized(self, n_groups):
        X, y, s = biased_data(60, n_groups)
        fair = quick(50.0, batch_size=1, epochs=2).fit(X, y, sensitive_features=s)
        plain = quick(batch_size=1, epochs=2).fit(X, y)
        np.testing.assert_array_equal(flat(fair), flat(plain))

    def test_group_missing_from_most_batches_is_supported(self):
        X, y, s = biased_data(400)
        s = np.where(np.arange(400) < 3, 2, s)
        clf = quick(20.0, batch_size=16, epochs=20).fit(X, y, sensitive_features=s)
        plain = quick(batch_size=16, epochs=20).fit(X, y, sensitive_features=s)
        assert np.isfinite(flat(clf)).all()
        rho = [renyi_from_soft(c.predict_proba(X[3:]), s[3:]) for c in (clf, plain)]
        assert rho[0] < 0.5 * rho[1]

    def test_every_epoch_sees_every_sample_once_in_a_new_order(self, monkeypatch):
        seen = []

        def spy(groups, rows):
            seen.append(rows)
            return groups_of_batch(groups, rows)

        monkeypatch.setattr("renyi_lib.baselines.neural_network.groups_of_batch", spy)
        X, y, s = biased_data(40)
        quick(1.0, batch_size=7, epochs=2).fit(X, y, sensitive_features=s)
        assert [len(rows) for rows in seen] == 2 * [7, 7, 7, 7, 7, 5]
        first, second = np.concatenate(seen[:6]), np.concatenate(seen[6:])
        assert sorted(first) == sorted(second) == list(range(40))
        assert first.tolist() != second.tolist()

    @pytest.mark.parametrize("n_groups", [2, 3])
    @pytest.mark.parametrize("sharpness", [0.05, 5.0])
    def test_batch_bias_of_rho_matches_the_formula(self, sharpness, n_groups):
        # The formula in the Notes is for soft labels that are independent of the groups.
        rng = np.random.default_rng(0)
        groups = Groups.from_labels(rng.integers(n_groups, size=128 * 2000))
        f = rng.beta(0.3 * sharpness, 0.7 * sharpness, size=128 * 2000)
        F = np.column_stack([f, 1 - f])
        values = [
            RenyiPenalty().value_and_grad(F[rows], groups_of_batch(groups, rows))[0]
            for rows in np.arange(128 * 2000).reshape(2000, 128)
        ]
        share = 1 / (1 + sharpness)  # of a beta distribution, Var(f) / (E f (1 - E f))
        assert np.mean(values) == pytest.approx((n_groups - 1) / 128 * share, rel=0.1)


class WithGroups(MadeUpGroups, RenyiNetworkClassifier):
    pass


class TestEstimator:
    @pytest.mark.parametrize("base", [RenyiNetworkClassifier, WithGroups])
    def test_scikit_learn_checks_pass(self, base):
        classifier = base(1.0, learning_rate=0.02)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(classifier, on_fail=None, on_skip=None)
        assert len(results) > 50
        failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
        assert failed == {}

    def test_seed_determines_the_network(self):
        X, y, s = biased_data(200)
        first = quick(2.0, epochs=3).fit(X, y, sensitive_features=s)
        again = clone(first).fit(X, y, sensitive_features=s)
        other = quick(2.0, epochs=3, random_state=1).fit(X, y, sensitive_features=s)
        np.testing.assert_array_equal(flat(first), flat(again))
        assert not np.allclose(flat(first), flat(other))

    def test_fit_does_not_use_the_global_random_state(self):
        X, y, _ = biased_data(60)
        before = np.random.get_state()[1].copy()  # noqa: NPY002 (the state that must not change)
        quick(epochs=1).fit(X, y)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_clones_have_the_same_parameters(self):
        clf = RenyiNetworkClassifier(
            3.0, hidden=5, batch_size=9, epochs=2, learning_rate=0.1, random_state=4
        )
        assert clone(clf).get_params() == clf.get_params()
        names = inspect.signature(RenyiNetworkClassifier).parameters
        assert sorted(names) == list(clf.get_params())
        assert clone(clf).set_params(hidden=7).hidden == 7

    def test_data_frames_and_string_labels_are_accepted(self):
        X, y, s = biased_data()
        frame = pd.DataFrame(X, columns=list("abcd"))
        clf = quick(1.0, epochs=2).fit(
            frame,
            pd.Series(np.array(["no", "yes"])[y]),
            sensitive_features=pd.Series(np.array(["f", "m"])[s]),
        )
        assert clf.feature_names_in_.tolist() == list("abcd")
        assert clf.groups_.tolist() == ["f", "m"]
        assert set(clf.predict(frame)) <= {"no", "yes"}
        assert [part.shape for part in clf.coefs_] == [(4, 12), (12, 2)]
        assert [part.shape for part in clf.intercepts_] == [(12,), (2,)]

    def test_prediction_before_the_fit_raises(self):
        with pytest.raises(NotFittedError):
            quick().predict(np.zeros((2, 2)))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"lam": -1}, "lam must be a number, 0 or more, not -1"),
            ({"lam": np.inf}, "lam must be a number"),
            ({"lam": np.nan}, "lam must be a number"),
            ({"lam": "much"}, "lam must be a number, 0 or more, not 'much'"),
            ({"hidden": 0}, "hidden must be a whole number, 1 or more, not 0"),
            ({"hidden": 2.5}, "hidden must be a whole number, 1 or more, not 2.5"),
            ({"batch_size": 0}, "batch_size must be a whole number"),
            ({"epochs": 0}, "epochs must be a whole number"),
            ({"epochs": None}, "epochs must be a whole number"),
            ({"learning_rate": 0}, "learning_rate must be a positive number, not 0"),
            ({"learning_rate": np.inf}, "learning_rate must be a positive number"),
        ],
    )
    def test_invalid_parameters_raise(self, options, message):
        X, y, s = biased_data(20)
        with pytest.raises(ValueError, match=message):
            quick().set_params(**options).fit(X, y, sensitive_features=s)

    def test_invalid_data_raise(self):
        X, y, s = biased_data(60)
        with pytest.raises(ValueError, match="sensitive_features has only one group"):
            quick().fit(X, y, sensitive_features=np.zeros(60))
        with pytest.raises(ValueError, match="sensitive_features has 59"):
            quick().fit(X, y, sensitive_features=s[1:])
        with pytest.raises(ValueError, match="sensitive_features has a missing value"):
            quick().fit(X, y, sensitive_features=np.where(s == 1, np.nan, s))
        with pytest.raises(ValueError, match="y has only one class, 0, but a classifier needs"):
            quick().fit(X, np.zeros(60, dtype=int), sensitive_features=s)
        with pytest.raises(ValueError, match="NaN"):
            quick().fit(np.where(X > 2, np.nan, X), y, sensitive_features=s)
        with pytest.raises(TypeError, match="positional"):
            quick().fit(X, y, s)
