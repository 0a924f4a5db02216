"""Fair boosting minimizes its objective, converges, and follows the libraries' conventions."""

import os
import pickle
import subprocess
import sys

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from renyi_lib import (
    RenyiBoostingClassifier,
    RenyiBoostingRegressor,
    _backends,
    continuous_correlation,
    demographic_parity_ratio,
    fit_to_target,
    lam_path,
)
from renyi_lib._validation import NoSensitiveFeaturesWarning
from renyi_lib.boosting import _Game, _LogisticLoss, renyi_objective
from renyi_lib.correlation import renyi_from_soft
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ChiSquarePenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    ScoreBinsPenalty,
)
from tests.renyi_lib.data import biased_data, objective_value

xgboost = pytest.importorskip("xgboost")
BACKENDS = ["lightgbm", "xgboost"]
FEW = {"n_estimators": 20, "max_leaves": 8}


def small(lam=10, **more):
    return RenyiBoostingClassifier(lam, random_state=0, **{**FEW, **more})


def test_scikit_learn_checks_pass():
    # In a separate process, because one of the checks needs SCIPY_ARRAY_API, which scipy reads
    # when it is imported. LightGBM stores gradients in 32 bits, so a weight of 3 equals three rows
    # only up to 1e-7. In scikit-learn's small data, that decides between splits of equal gain.
    code = """
import warnings
from sklearn.utils.estimator_checks import check_estimator
from renyi_lib import RenyiBoostingClassifier, RenyiBoostingRegressor
from renyi_lib.classification import NoSensitiveFeaturesWarning
warnings.simplefilter("error")
warnings.simplefilter("ignore", NoSensitiveFeaturesWarning)
same = "check_sample_weight_equivalence_on_{}_data"
rounding = {same.format(kind): "32 bits" for kind in ("dense", "sparse")}
for Estimator in RenyiBoostingClassifier, RenyiBoostingRegressor:
    for backend in "lightgbm", "xgboost":
        known = rounding if backend == "lightgbm" else {}
        estimator = Estimator(backend=backend, n_estimators=20)
        for result in check_estimator(estimator, on_fail=None, expected_failed_checks=known):
            print(result["status"], result["check_name"], result["exception"] or "")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.split()[0] in STATUSES]
    assert len(lines) > 200
    assert [line for line in lines if line.split()[0] not in ("passed", "xfail")] == []
    assert sum(line.startswith("xfail") for line in lines) == 4


STATUSES = ("passed", "failed", "skipped", "xfail")


@pytest.mark.parametrize("Estimator", [RenyiBoostingClassifier, RenyiBoostingRegressor])
@pytest.mark.parametrize(
    "equivalence",
    [
        check_sample_weight_equivalence_on_dense_data,
        check_sample_weight_equivalence_on_sparse_data,
    ],
)
@pytest.mark.filterwarnings("ignore::renyi_lib.classification.NoSensitiveFeaturesWarning")
def test_expected_failures_of_checks_are_due_to_rounding(monkeypatch, Estimator, equivalence):
    # Gradients with 20 binary places, times an integer weight, are exact in 32 bits.
    exact = _Game.gradients

    def coarse(game, z):
        weight = np.round(game.loss.weight * game.total).reshape(-1, 1)
        rounded = []
        for each in exact(game, z):
            units = each.reshape(len(z), -1) / weight
            rounded.append((np.round(units * 2.0**20) / 2.0**20 * weight).reshape(each.shape))
        return tuple(rounded)

    estimator = Estimator(n_estimators=20)
    with pytest.raises(AssertionError):
        equivalence(Estimator.__name__, estimator)
    monkeypatch.setattr(_Game, "gradients", coarse)
    equivalence(Estimator.__name__, estimator)


@pytest.mark.parametrize(("backend", "extra"), [("lightgbm", "boosting"), ("xgboost", "xgboost")])
def test_missing_backend_error_names_the_extra(monkeypatch, backend, extra):
    X, y, s = biased_data(50)
    monkeypatch.setitem(sys.modules, backend, None)
    with pytest.raises(ImportError, match=rf'pip install "renyi-lib\[{extra}\]"'):
        small(backend=backend).fit(X, y, sensitive_features=s)


class TestTheGameConverges:
    def test_the_undamped_game_diverges(self):
        X, y, s = biased_data(600, seed=3)
        groups, start = Groups.from_labels(s), np.log(y.mean() / (1 - y.mean()))

        def undamped(z, _):
            p = expit(z)
            dF = BinaryRenyiPenalty().value_and_grad(np.column_stack([1 - p, p]), groups)[1]
            return p - y + 1e3 * len(y) * (dF[:, 1] - dF[:, 0]) * p * (1 - p), p * (1 - p)

        data = lightgbm.Dataset(X, y, init_score=np.full(len(y), start))
        trees = lightgbm.train({"objective": undamped, "verbosity": -1}, data, 30)
        wild = expit(trees.predict(X) + start)
        F = small(1e3, n_estimators=30).fit(X, y, sensitive_features=s).predict_proba(X)
        assert (
            renyi_from_soft(F, s) ** 2
            < 1e-3
            < renyi_from_soft(np.column_stack([1 - wild, wild]), s) ** 2
        )

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("on", ["label", "score"])
    @pytest.mark.parametrize("learning_rate", [0.1, 0.3])
    def test_damped_game_converges_up_to_a_lam_of_a_million(self, backend, on, learning_rate):
        X, y, s = biased_data(1500, seed=1)
        options = {"on": on, "backend": backend, "learning_rate": learning_rate}
        model = small(n_estimators=int(15 / learning_rate), **options)
        path = lam_path(model, X, y, lams=[0, 1, 10, 1e3, 1e6], sensitive_features=s)
        penalties = [fit.penalty_value(X, sensitive_features=s) for fit in path]
        losses = [fit.history_["loss"][-1] for fit in path]
        of_a_constant = path[0].history_["loss"][0]
        # A constant prediction is fair. The loss is at most that of a constant, up to 0.01, and
        # for moderate lam the objective is smaller than that of a constant.
        for fit, loss, penalty in zip(path, losses, penalties):
            assert loss <= of_a_constant + 0.01
            if fit.lam <= 10:
                assert loss + fit.lam * penalty < of_a_constant
        assert penalties[0] > penalties[1] > penalties[2]
        assert max(penalties[3:]) < penalties[0] * (0.05 if on == "score" else 1e-3)
        assert np.mean(path[-1].predict(X) == y) > max(y.mean(), 1 - y.mean())

    @pytest.mark.parametrize("lam", [1, 10, 1e3, 1e6])
    def test_number_of_rounds_does_not_grow_with_lam(self, lam):
        """Four equally frequent types, whose minimizer is found by another method."""
        positive, group = np.array([0.4, 0.6, 0.02, 0.5]), np.array([0, 0, 1, 1])

        def objective(z):
            F = expit(z)
            mean, gap = F.mean(), F[:2].mean() - F[2:].mean()
            loss = -np.mean(positive * np.log(F) + (1 - positive) * np.log(1 - F))
            return loss + lam * gap**2 / (4 * mean * (1 - mean))

        def parallel(v):
            # The groups' means are equal up to a gap of order 1 / lam.
            F = expit(v[:3])
            last = F[0] + F[1] - F[2] - v[3] / lam
            return np.append(v[:3], np.log(last / (1 - last)))

        best = minimize(lambda v: objective(parallel(v)), [-0.4, 0, -1, 0.1], tol=1e-12)
        X = np.repeat(np.arange(4.0), 100)[:, None]
        y = np.concatenate([np.arange(100) < round(100 * p) for p in positive])
        model = RenyiBoostingClassifier(lam, n_estimators=120, min_child_weight=0)
        model.fit(X, y, sensitive_features=np.repeat(group, 100))
        scores = model.predict_proba(np.arange(4.0)[:, None])[:, 1]
        np.testing.assert_allclose(scores, expit(parallel(best.x)), atol=1e-3)


class TestFairLoss:
    @pytest.mark.parametrize("backend", BACKENDS)
    def test_lam_0_is_plain_boosting(self, backend):
        X, y, s = biased_data()
        ours = small(0, backend=backend).fit(X, y, sensitive_features=s)
        start = np.log(y.mean() / (1 - y.mean()))
        if backend == "lightgbm":
            theirs = lightgbm.LGBMClassifier(
                n_estimators=20,
                num_leaves=8,
                min_child_samples=0,
                min_child_weight=1.0,
                min_data_in_bin=1,
                verbosity=-1,
            ).fit(X, y)
            score = theirs.predict(X, raw_score=True)
        else:
            theirs = xgboost.XGBClassifier(
                n_estimators=20,
                max_leaves=8,
                grow_policy="lossguide",
                max_depth=0,
                learning_rate=0.1,
                reg_lambda=0,
                base_score=y.mean(),
            ).fit(X, y)
            score = theirs.predict(X, output_margin=True)
        np.testing.assert_allclose(ours.decision_function(X), score, atol=1e-5)
        assert abs(start) > 0.01

    @pytest.mark.parametrize(
        "fairness", ["demographic_parity", "equal_opportunity", "equalized_odds"]
    )
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_objective_decreases_for_every_notion_and_number_of_classes(self, fairness, n_classes):
        X, y, s = biased_data(900, n_classes, n_groups=3)
        models = [
            small(lam, fairness=fairness, n_estimators=60).fit(X, y, sensitive_features=s)
            for lam in (0, 100)
        ]
        for model in models:
            model.lam = 100
        unfair, fair = (objective_value(model, X, y, s) for model in models)
        assert fair < unfair
        # A constant is fair, and its loss is the loss before the first round.
        assert fair < models[0].history_["loss"][0]

    def test_penalty_value_matches_renyi_from_soft(self):
        X, y, s = biased_data(n_groups=3)
        model = small().fit(X, y, sensitive_features=s)
        expected = renyi_from_soft(model.predict_proba(X), s) ** 2
        assert model.penalty_value(X, sensitive_features=s) == pytest.approx(expected)
        assert model.groups_.tolist() == [0, 1, 2]

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_loss_in_the_history_is_the_log_loss_for_any_number_of_rows(self, n_classes, weighted):
        rng = np.random.default_rng(0)
        y, z = np.arange(37) % n_classes, rng.normal(size=(37, n_classes))
        weight = rng.dirichlet(np.ones(37)) if weighted else 1 / 37
        F = softmax(z, axis=1)
        loss, z = _LogisticLoss(y, n_classes, weight), z[:, 1] - z[:, 0] if n_classes == 2 else z
        expected = log_loss(y, F, sample_weight=weight if weighted else None)
        assert loss.quick_value(loss.at(z), z) == pytest.approx(expected, rel=1e-10)

    def test_history_equals_the_staged_scores(self):
        X, y, s = biased_data()
        model = small(5).fit(X, y, sensitive_features=s)
        for k in (0, 7, 19):
            z = model.booster_.predict(X, num_iteration=k, raw_score=True) if k else 0.0
            p = expit(z + np.log(y.mean() / (1 - y.mean())) + np.zeros(len(y)))
            F = np.column_stack([1 - p, p])
            loss = -np.log(F[np.arange(len(y)), y]).mean()
            assert model.history_["loss"][k] == pytest.approx(loss, rel=1e-6)
            penalty = renyi_from_soft(F, s) ** 2
            assert model.history_["penalty"][k] == pytest.approx(penalty, rel=1e-5, abs=1e-12)
            assert model.history_["objective"][k] == pytest.approx(loss + 5 * penalty, rel=1e-5)

    @pytest.mark.parametrize("penalty", [PearsonPenalty(), HSICPenalty(), ChiSquarePenalty()])
    def test_any_penalty_can_be_used(self, penalty):
        X, y, s = biased_data(800)
        lam = 1e3 if isinstance(penalty, HSICPenalty) else 30
        fair, plain = (
            small(k, penalty=penalty, n_estimators=60).fit(X, y, sensitive_features=s)
            for k in (lam, 0)
        )
        values = [m.penalty_value(X, sensitive_features=s) for m in (fair, plain)]
        assert values[0] < 0.1 * values[1]

    def test_penalty_on_the_score_is_fair_at_every_threshold(self):
        X, y, s = biased_data(3000, seed=1)
        options = {"n_estimators": 150, "max_leaves": 16}
        gaps = {}
        for on in ("label", "score"):
            model = small(100, on=on, **options).fit(X, y, sensitive_features=s)
            p = model.predict_proba(X)[:, 1]
            above = [(p > t) for t in np.linspace(0.2, 0.8, 7)]
            gaps[on] = max(abs(a[s == 0].mean() - a[s == 1].mean()) for a in above)
        assert gaps["score"] < 0.05
        assert gaps["score"] < gaps["label"]


class TestWeights:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("on", ["label", "score"])
    def test_weights_equal_repeated_rows(self, backend, on):
        # With other seeds LightGBM may reject a split in one fit but not in the other, because it
        # estimates the number of rows in a leaf from the sum of their Hessians.
        X, y, s = biased_data(300, seed=2)
        weight = np.random.default_rng(0).integers(0, 3, size=300)
        options = {"backend": backend, "on": on, "n_estimators": 5}
        weighted = small(5, **options).fit(X, y, sensitive_features=s, sample_weight=weight)
        repeated = small(5, **options).fit(
            X.repeat(weight, axis=0), y.repeat(weight), sensitive_features=s.repeat(weight)
        )
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)

    def test_unit_of_weights_affects_only_the_minimum_leaf_size(self):
        X, y, s = biased_data(300)
        known = {"sensitive_features": s}
        options = {"min_child_weight": 0.0, "n_estimators": 5}
        ones = small(5, **options).fit(X, y, **known, sample_weight=np.full(300, 8.0))
        none = small(5, **options).fit(X, y, **known)
        np.testing.assert_allclose(ones.predict_proba(X), none.predict_proba(X), atol=1e-4)

    def test_groups_and_classes_without_weight_are_dropped(self):
        X, y, s = biased_data(300, n_classes=3, n_groups=3)
        weight = ((y < 2) & (s < 2)).astype(float)
        model = small().fit(X, y, sensitive_features=s, sample_weight=weight)
        assert model.classes_.tolist() == [0, 1]
        assert model.groups_.tolist() == [0, 1]

    def test_class_weights_affect_only_the_loss(self):
        X, y, s = biased_data(600)
        known = {"sensitive_features": s}
        rare = y & (np.arange(600) % 4 == 0)
        plain = small(0).fit(X, rare, **known)
        balanced = small(0, class_weight="balanced").fit(X, rare, **known)
        explicit = small(0, class_weight={0: 1, 1: (rare == 0).sum() / rare.sum()}).fit(
            X, rare, **known
        )
        assert balanced.predict(X).mean() > plain.predict(X).mean()
        np.testing.assert_allclose(balanced.predict_proba(X), explicit.predict_proba(X), atol=1e-4)
        fair = small(1e3, class_weight="balanced", n_estimators=60).fit(X, rare, **known)
        assert fair.penalty_value(X, **known) < 1e-3
        assert fair.history_["penalty"][-1] == pytest.approx(
            fair.penalty_value(X, **known), abs=1e-3
        )


class TestObjective:
    """`renyi_objective` passed to the libraries themselves."""

    def test_lightgbm_prediction_equals_the_estimator(self):
        X, y, s = biased_data()
        ours = small(20).fit(X, y, sensitive_features=s)
        start = np.log(y.mean() / (1 - y.mean()))
        parameters = {
            "objective": renyi_objective(y, sensitive_features=s, lam=20),
            "learning_rate": 0.1,
            "num_leaves": 8,
            "min_data_in_leaf": 0,
            "min_sum_hessian_in_leaf": 1.0,
            "min_data_in_bin": 1,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(X, y, init_score=np.full(len(y), start))
        trees = lightgbm.train(parameters, data, 20)
        np.testing.assert_allclose(trees.predict(X) + start, ours.decision_function(X), atol=1e-6)

    def test_xgboost_prediction_equals_the_estimator(self):
        X, y, s = biased_data()
        ours = small(20, backend="xgboost").fit(X, y, sensitive_features=s)
        start = np.log(y.mean() / (1 - y.mean()))
        objective = renyi_objective(y, sensitive_features=s, lam=20)
        parameters = {
            "learning_rate": 0.1,
            "max_leaves": 8,
            "grow_policy": "lossguide",
            "max_depth": 0,
            "reg_lambda": 0,
            "base_score": 0.0,
        }
        data = xgboost.DMatrix(X, y, base_margin=np.full(len(y), start))
        for _ in range(2):  # after a reset, the second run equals the first
            trees = xgboost.train(parameters, data, 20, obj=objective)
            score = trees.predict(data, output_margin=True)
            np.testing.assert_allclose(score, ours.decision_function(X), atol=1e-4)
            np.testing.assert_allclose(objective.history["loss"], ours.history_["loss"], rtol=1e-4)
            objective.reset()
        assert len(objective.history["loss"]) == 0

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_scikit_learn_wrappers_accept_the_objective(self, n_classes):
        X, y, s = biased_data(600, n_classes)
        plain = renyi_from_soft(
            small(0, n_estimators=40).fit(X, y, sensitive_features=s).predict_proba(X), s
        )
        options = {"n_estimators": 40, "learning_rate": 0.1, "n_jobs": 1}
        theirs = lightgbm.LGBMClassifier(
            objective=renyi_objective(y, sensitive_features=s, lam=100), verbosity=-1, **options
        ).fit(X, y)
        raw = theirs.predict(X, raw_score=True)
        also = xgboost.XGBClassifier(
            objective=renyi_objective(y, sensitive_features=s, lam=100), **options
        ).fit(X, y)
        for z in raw, also.predict(X, output_margin=True):
            F = softmax(z, axis=1) if n_classes == 3 else np.column_stack([expit(-z), expit(z)])
            assert renyi_from_soft(F, s) < 0.2 * plain

    def test_objective_with_invalid_input_raises(self):
        _, y, s = biased_data(100)
        objective = renyi_objective(y, sensitive_features=s)
        with pytest.raises(ValueError, match="100 samples of 2 classes"):
            objective(y[:50], np.zeros(50))
        with pytest.raises(ValueError, match="sensitive_features is None"):
            renyi_objective(y, sensitive_features=None)
        with pytest.raises(ValueError, match="y must be one class"):
            renyi_objective(np.ones((5, 2)), sensitive_features=np.arange(5) % 2)


class TestEarlyStopping:
    @pytest.mark.parametrize("backend", BACKENDS)
    def test_early_stopping_keeps_the_round_with_the_best_objective(self, backend):
        X, y, s = biased_data(1200)
        held = (X[:500], y[:500], s[:500])
        options = {"n_estimators": 150, "learning_rate": 0.3, "backend": backend}
        model = small(2, n_iter_no_change=15, **options)
        model.fit(X[500:], y[500:], sensitive_features=s[500:], validation=held)
        values = []
        for k in range(1, model.n_iter_ + 16):
            staged = small(2, **{**options, "n_estimators": k})
            if k in (1, model.n_iter_ // 2, model.n_iter_, model.n_iter_ + 7, model.n_iter_ + 15):
                staged.fit(X[500:], y[500:], sensitive_features=s[500:])
                values.append(objective_value(staged, *held))
        assert model.n_iter_ < 135
        assert objective_value(model, *held) == pytest.approx(min(values), abs=1e-6)
        assert values.index(min(values)) == 2

    def test_early_stopping_without_validation_is_reproducible(self):
        X, y, s = biased_data(400, n_groups=3)
        model = small(1, n_iter_no_change=5, n_estimators=100, fairness="equalized_odds")
        again = clone(model).fit(X, y, sensitive_features=s)
        model.fit(X, y, sensitive_features=s)
        assert 0 < model.n_iter_ < 100
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))

    def test_held_out_rows_keep_the_share_of_each_group_and_class(self, monkeypatch):
        X, y, s = biased_data(400, n_groups=3)
        hold_out, found = RenyiBoostingClassifier._hold_out, []

        def recorded(*arguments):
            found.append(hold_out(*arguments))
            return found[-1]

        monkeypatch.setattr(RenyiBoostingClassifier, "_hold_out", recorded)
        small(1, n_iter_no_change=5, n_estimators=5).fit(X, y, sensitive_features=s)
        ((kept, held),) = found
        shares = [
            np.bincount(3 * rows.y + rows.codes, minlength=6) / len(rows.y)
            for rows in (kept, held)
        ]
        np.testing.assert_allclose(*shares, atol=1.2 / len(held.y))

    @pytest.mark.parametrize("lam", [0, 1])
    def test_rounds_are_compared_by_the_objective_on_the_validation_rows(self, monkeypatch, lam):
        X, y, s = biased_data(200)
        train, found = _backends.BACKENDS["lightgbm"].train, []

        def recorded(data, gradients, settings, start, validation):
            found.append(validation[1])
            return train(data, gradients, settings, start, validation)

        monkeypatch.setattr(_backends.BACKENDS["lightgbm"], "train", recorded)
        model = small(lam, n_iter_no_change=1, n_estimators=1)
        model.fit(
            X[100:], y[100:], sensitive_features=s[100:], validation=(X[:100], y[:100], s[:100])
        )
        z = np.random.default_rng(0).normal(size=100)
        p = expit(z)
        loss, penalty = log_loss(y[:100], p), renyi_from_soft(np.column_stack([1 - p, p]), s[:100])
        assert found[0](z) == pytest.approx(loss + lam * penalty**2)

    def test_validation_rows_are_checked(self):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="set n_iter_no_change"):
            small().fit(X, y, sensitive_features=s, validation=(X, y, s))
        with pytest.raises(ValueError, match="validation must be"):
            small(n_iter_no_change=3).fit(X, y, sensitive_features=s, validation=(X, y))


class TestConventions:
    def test_estimators_can_be_pickled_and_cloned(self):
        X, y, s = biased_data()
        for backend in BACKENDS:
            model = small(backend=backend).fit(X, y, sensitive_features=s)
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
            assert clone(model).get_params() == model.get_params()

    def test_groups_are_routed_in_pipelines_and_grid_searches(self):
        X, y, s = biased_data(600)
        with sklearn.config_context(enable_metadata_routing=True):
            model = small(n_estimators=10).set_fit_request(sensitive_features=True)
            pipeline = make_pipeline(StandardScaler(), model)
            search = GridSearchCV(pipeline, {"renyiboostingclassifier__lam": [0, 10]}, cv=2)
            search.fit(X, y, sensitive_features=s)
        # Without the groups, the fits would warn, and warnings are errors in these tests.
        assert np.ptp(search.cv_results_["mean_test_score"]) > 0
        assert search.best_estimator_[-1].groups_.tolist() == [0, 1]

    def test_lam_path_and_fit_to_target_share_the_binned_data(self):
        X, y, s = biased_data(800)
        path = lam_path(small(), X, y, lams=[0, 30], sensitive_features=s)
        alone = small(30).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(path[1].predict_proba(X), alone.predict_proba(X), atol=1e-9)
        assert path[1].lam == 30
        assert path[1].n_features_in_ == 4
        fair = fit_to_target(small(), X, y, sensitive_features=s, target=0.7)
        assert demographic_parity_ratio(None, fair.predict(X), sensitive_features=s) >= 0.7

    def test_sparse_and_dense_data_give_the_same_fit(self):
        X, y, s = biased_data()
        X[np.abs(X) < 0.5] = 0
        for backend in BACKENDS:
            dense, thin = (
                small(backend=backend).fit(form, y, sensitive_features=s)
                for form in (X, sparse.csr_array(X))
            )
            np.testing.assert_allclose(dense.predict_proba(X), thin.predict_proba(X), atol=1e-6)
            np.testing.assert_allclose(
                dense.predict_proba(sparse.csr_array(X)), thin.predict_proba(X), atol=1e-6
            )

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_categorical_columns_are_handled_by_the_backend(self, backend):
        rng = np.random.default_rng(0)
        kind = rng.choice(list("abcdef"), size=800)
        s = rng.integers(2, size=800)
        y = (np.isin(kind, ["a", "d", "f"]) ^ (rng.random(800) < 0.1)).astype(int)
        X = pd.DataFrame({"x": rng.normal(size=800), "kind": pd.Categorical(kind)})
        X.loc[:20, "x"] = np.nan
        # One split can divide the categories into any two sets, so two leaves are enough.
        options = {"backend": backend, "max_leaves": 2, "n_estimators": 30}
        model = small(0.1, **options).fit(X, y, sensitive_features=s)
        assert model.score(X, y) > 0.88
        assert model.feature_names_in_.tolist() == ["x", "kind"]
        # Rows with only two of the categories, in another order, get the same predictions.
        rows = np.isin(kind, ["d", "e"])
        some = X[rows].assign(kind=pd.Categorical(kind[rows], ["e", "d"]))
        np.testing.assert_array_equal(model.predict_proba(some), model.predict_proba(X)[rows])
        new = X.head(2).assign(kind=pd.Categorical(["z", None]))
        assert model.predict(new).shape == (2,)
        with pytest.raises(ValueError, match="X must be a DataFrame"):
            model.predict(X.assign(kind=0).to_numpy())
        with pytest.raises(ValueError, match="'kind' of X contains text"):
            small().fit(X.assign(kind=kind), y, sensitive_features=s)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_monotone_constraints_are_respected(self, backend):
        X, y, s = biased_data(600, n_features=2)
        constraint = [1, 0] if backend == "lightgbm" else "(1,0)"
        model = small(10, backend=backend, backend_params={"monotone_constraints": constraint})
        model.fit(X, y, sensitive_features=s)
        grid = np.column_stack([np.linspace(-3, 3, 100), np.zeros(100)])
        assert (np.diff(model.decision_function(grid)) >= 0).all()
        free = small(10, backend=backend).fit(X, y, sensitive_features=s)
        assert (np.diff(free.decision_function(grid)) < 0).any()

    def test_importances_and_feature_names_are_stored(self):
        X, y, s = biased_data()
        for backend in BACKENDS:
            model = small(0, backend=backend).fit(X, y, sensitive_features=s)
            assert model.feature_importances_.shape == (4,)
            assert model.feature_importances_.sum() == pytest.approx(1)

    def test_groups_are_optional_in_fit_and_unused_in_predict(self):
        X, y, _ = biased_data()
        with pytest.warns(NoSensitiveFeaturesWarning, match="plain boosting"):
            model = small(1).fit(X, y)
        assert model.groups_ is None
        assert not model.history_["penalty"].any()


class TestInvalidInput:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"lam": -1}, "lam must be a number from 0"),
            ({"lam": 1e300}, "lam must be"),
            ({"on": "rank"}, "on must be one of"),
            ({"fairness": "dp"}, "fairness must be one of"),
            ({"backend": "catboost"}, "backend must be one of"),
            ({"learning_rate": 0}, "learning_rate must be"),
            ({"n_estimators": 0}, "n_estimators must be"),
            ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
            ({"penalty": "renyi"}, "penalty must be a Penalty"),
            ({"on": "score", "penalty": ScoreBinsPenalty()}, "already acts on the score"),
            ({"backend_params": {"learning_rate": 1}}, "'learning_rate', which the estimator"),
            ({"pos_label": 7, "fairness": "equal_opportunity"}, "pos_label must be one of"),
            ({"class_weight": {5: 1}}, "class_weight contains 5"),
        ],
    )
    def test_invalid_parameters_raise(self, options, words):
        X, y, s = biased_data(60)
        with pytest.raises(ValueError, match=words):
            RenyiBoostingClassifier(**options).fit(X, y, sensitive_features=s)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"s": np.zeros(60)}, "only one group"),
            ({"s": np.random.default_rng(0).normal(size=60)}, "looks continuous"),
            ({"s": [None] * 60}, "missing value"),
            ({"s": [0, 1]}, "same number of samples"),
            ({"y": np.zeros(60)}, "only one class"),
            ({"y": np.r_[np.nan, np.zeros(59)]}, "NaN"),
            ({"w": -np.ones(60)}, "negative"),
            ({"w": np.zeros(60)}, "zero everywhere"),
        ],
    )
    def test_invalid_data_raise(self, change, words):
        X, y, s = biased_data(60)
        given = {"y": y, "s": s, "w": None} | change
        with pytest.raises(ValueError, match=words):
            small().fit(X, given["y"], sensitive_features=given["s"], sample_weight=given["w"])

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_unknown_backend_parameter_raises_before_the_data_are_read(self, backend):
        model = RenyiBoostingClassifier(backend=backend, backend_params={"max_bim": 15})
        with pytest.raises(ValueError, match=r"'max_bim', which is not a parameter.*'max_bin'"):
            model.fit(None, None, sensitive_features=None)

    def test_penalty_on_the_score_of_three_classes_raises(self):
        X, y, s = biased_data(60, 3)
        with pytest.raises(ValueError, match='on="score" needs two classes'):
            small(on="score").fit(X, y, sensitive_features=s)

    def test_group_missing_from_a_condition_raises(self):
        X, y, s = biased_data(60)
        with pytest.raises(ValueError, match="group 1 has none"):
            small(fairness="equalized_odds").fit(X, y * (s == 0), sensitive_features=s)

    def test_unseen_groups_raise(self):
        X, y, s = biased_data(60)
        model = small().fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="unseen in fit"):
            model.penalty_value(X, sensitive_features=s + 1)


def regression_data(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = np.column_stack([a + rng.normal(size=n), rng.normal(size=(n, 2))])
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n), a


class TestRegressor:
    @pytest.mark.parametrize("backend", BACKENDS)
    def test_larger_lam_is_fairer_for_a_discrete_attribute(self, backend):
        X, y, a = regression_data()
        s = np.where(a > 0, "high", "low")
        options = {"backend": backend, "random_state": 0, "max_leaves": 8}
        path = [
            RenyiBoostingRegressor(lam, n_estimators=150, **options).fit(
                X, y, sensitive_features=s
            )
            for lam in (0, 1, 10, 100)
        ]
        penalties = [m.penalty_value(X, sensitive_features=s) for m in path]
        assert penalties[0] > 0.2
        assert penalties[2] < penalties[1] < penalties[0] / 1.5
        assert max(penalties[2:]) < 0.01
        scores = [m.score(X, y) for m in path]
        assert scores == sorted(scores, reverse=True)
        assert scores[1] > 0.8
        assert scores[2] > 0.5
        assert scores[3] > 0

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("lam", [300, 1e6])
    def test_large_lam_costs_no_more_than_independence(self, backend, lam):
        # With a separate slow part for each group, pressure common to all groups of a bin
        # accumulated, and at lam = 1e6 R^2 was -0.13 (LightGBM) and -3.5 (XGBoost 3.4).
        X, y, a = regression_data()
        s = np.where(a > 0, "high", "low")
        options = {"n_estimators": 150, "random_state": 0, "max_leaves": 8, "backend": backend}
        model = RenyiBoostingRegressor(lam, **options).fit(X, y, sensitive_features=s)
        assert model.penalty_value(X, sensitive_features=s) < 0.005
        assert model.score(X, y) > 0.4

    def test_penalties_reduce_dependence_on_a_continuous_attribute(self):
        X, y, a = regression_data()
        options = {"random_state": 0, "max_leaves": 8, "n_estimators": 150}
        plain, fair, smooth = (
            RenyiBoostingRegressor(lam, penalty=penalty, **options).fit(X, y, sensitive_features=a)
            for lam, penalty in ((0, None), (10, None), (100, ChiSquarePenalty()))
        )
        assert len(fair.group_borders_) == 7
        found = [continuous_correlation(m.predict(X), a).rho for m in (plain, fair, smooth)]
        assert found[0] > 0.5
        assert found[1] < 0.2
        assert found[2] < 0.1
        assert fair.penalty_value(X, sensitive_features=a) < 0.02
        assert fair.score(X, y) > 0.4
        assert smooth.score(X, y) > 0.2

    def test_units_of_the_target_have_no_effect(self):
        X, y, a = regression_data(600)
        known = {"sensitive_features": a > 0}
        options = {"n_estimators": 20, "random_state": 0}
        one = RenyiBoostingRegressor(3, **options).fit(X, y, **known)
        other = RenyiBoostingRegressor(3, **options).fit(X, 1000 * y + 5, **known)
        np.testing.assert_allclose(other.predict(X), 1000 * one.predict(X) + 5, rtol=1e-3, atol=5)
        np.testing.assert_allclose(
            other.history_["objective"], one.history_["objective"], rtol=1e-3
        )

    def test_penalty_in_the_history_equals_penalty_value(self):
        X, y, a = regression_data(600)
        s = (a > 0).astype(int)
        model = RenyiBoostingRegressor(
            1, n_estimators=30, penalty=PearsonPenalty(), random_state=0
        )
        model.fit(X, y, sensitive_features=s)
        shorter = clone(model).set_params(n_estimators=29).fit(X, y, sensitive_features=s)
        assert model.history_["penalty"][-1] == pytest.approx(
            shorter.penalty_value(X, sensitive_features=s), rel=1e-6
        )

    def test_kind_determines_the_type_of_the_attribute(self):
        X, y, a = regression_data(400)
        with pytest.raises(ValueError, match="looks continuous"):
            RenyiBoostingRegressor(kind="discrete").fit(X, y, sensitive_features=a)
        whole = np.round(3 * a)
        discrete = RenyiBoostingRegressor(n_estimators=3).fit(X, y, sensitive_features=whole > 0)
        assert discrete.group_borders_ is None
        model = RenyiBoostingRegressor(n_estimators=3, kind="continuous", n_groups=3)
        assert len(model.fit(X, y, sensitive_features=whole).group_borders_) == 2
        weight = (whole > 0).astype(float)
        cut = model.fit(X, y, sensitive_features=whole, sample_weight=weight)
        assert cut.group_borders_.min() > 0

    def test_model_fitted_without_groups_can_measure_the_penalty(self):
        X, y, a = regression_data(200)
        s = (a > 0).astype(int)
        model = RenyiBoostingRegressor(lam=0, n_estimators=5).fit(X, y)
        same = RenyiBoostingRegressor(lam=0, n_estimators=5).fit(X, y, sensitive_features=s)
        assert model.group_borders_ is None
        found = model.penalty_value(X, sensitive_features=s)
        assert found == pytest.approx(same.penalty_value(X, sensitive_features=s))
        with pytest.raises(ValueError, match="looks continuous"):
            model.penalty_value(X, sensitive_features=a)
        model.set_params(n_iter_no_change=2).fit(X, y, validation=(X, y, s))

    @pytest.mark.parametrize("wrong", [None, np.nan, np.inf, "low"])
    def test_missing_infinite_or_text_targets_raise(self, wrong):
        X, y, _ = regression_data(60)
        y = y.astype(object)
        y[7] = wrong
        with pytest.raises(ValueError, match=r"Input contains NaN|^y "):
            RenyiBoostingRegressor(n_estimators=1).fit(X, y)

    def test_groups_unseen_in_the_fit_raise_when_the_penalty_is_measured(self):
        X, y, a = regression_data(60)
        model = RenyiBoostingRegressor(n_estimators=1).fit(X, y, sensitive_features=a > 0)
        with pytest.raises(ValueError, match="unseen in fit"):
            model.penalty_value(X, sensitive_features=np.where(a > 0, "high", "low"))

    def test_a_path_equals_separate_fits(self):
        X, y, a = regression_data(400)
        model = RenyiBoostingRegressor(3, n_estimators=5, random_state=0)
        (of_path,) = lam_path(model, X, y, lams=[3], sensitive_features=a)
        alone = model.fit(X, y, sensitive_features=a)
        np.testing.assert_allclose(of_path.predict(X), alone.predict(X))

    def test_early_stopping_ends_before_n_estimators(self):
        X, y, a = regression_data(900)
        model = RenyiBoostingRegressor(1, n_estimators=300, n_iter_no_change=5, random_state=0)
        assert model.fit(X, y, sensitive_features=a > 0).n_iter_ < 300
