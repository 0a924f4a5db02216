"""Fair classifiers minimize the documented objective and follow scikit-learn's conventions."""

import copy
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from renyi_lib.classification import (
    NoSensitiveFeaturesWarning,
    PenalizedClassifier,
    RenyiClassifier,
)
from renyi_lib.correlation import renyi_from_soft
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    Penalty,
    RenyiPenalty,
    ScoreBinsPenalty,
)
from renyi_lib.tuning import lam_path
from tests.renyi_lib.data import biased_data, objective_value


def rate_gap(classifier, X, s):
    F = classifier.predict_proba(X)[:, 1]
    rates = [F[s == j].mean() for j in np.unique(s)]
    return max(rates) - min(rates)


def test_scikit_learn_checks_pass():
    # In a separate process, because one of the checks needs SCIPY_ARRAY_API, which scipy reads
    # when it is imported.
    code = """
import warnings
from sklearn.utils.estimator_checks import check_estimator
from renyi_lib.classification import NoSensitiveFeaturesWarning
from renyi_lib import PenalizedClassifier, RenyiClassifier, RenyiClassifierCV
warnings.simplefilter("error")
warnings.simplefilter("ignore", NoSensitiveFeaturesWarning)
for estimator in RenyiClassifier(), PenalizedClassifier(), RenyiClassifierCV():
    for result in check_estimator(estimator, on_fail=None):
        print(result["status"], estimator, result["check_name"], result["exception"] or "")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) > 150
    assert [line for line in lines if not line.startswith("passed")] == []


class TestPlainLogisticRegression:
    """lam = 0 is scikit-learn's logistic regression without a penalty."""

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("storage", ["dense", "sparse"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_unpenalized_coefficients_agree_with_scikit_learn(self, n_classes, storage, weighted):
        X, y, s = biased_data(300, n_classes)
        X = X if storage == "dense" else sparse.csr_array(X)
        weight = np.random.default_rng(0).integers(0, 3, size=300) if weighted else None
        ours = RenyiClassifier(lam=0, tol=1e-8).fit(
            X, y, sensitive_features=s, sample_weight=weight
        )
        theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10000)
        theirs.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-3
        )

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_l2_corresponds_to_c_of_scikit_learn(self, n_classes):
        X, y, _ = biased_data(300, n_classes)
        ours = RenyiClassifier(lam=0, l2=0.01, tol=1e-8).fit(X, y)
        theirs = LogisticRegression(C=1 / (300 * 0.01), tol=1e-10, max_iter=10000).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)

    def test_fit_without_an_intercept_agrees_with_scikit_learn(self):
        X, y, _ = biased_data()
        ours = RenyiClassifier(lam=0, fit_intercept=False, tol=1e-8).fit(X, y)
        theirs = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        assert ours.intercept_.tolist() == [0.0]

    def test_predictions_with_collinear_columns_agree_with_scikit_learn(self):
        X, y, _ = biased_data()
        X = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(len(X)), np.zeros(len(X))])
        ours = RenyiClassifier(lam=0, tol=1e-7).fit(X, y)
        theirs = LogisticRegression(C=np.inf, tol=1e-9, max_iter=10000).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)

    def test_columns_on_very_different_scales_are_supported(self):
        X, y, _ = biased_data()
        scales = np.array([1e-4, 1.0, 1e3, 1e6])
        ours = RenyiClassifier(lam=0, tol=1e-8).fit(X * scales, y)
        theirs = RenyiClassifier(lam=0, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(ours.coef_ * scales, theirs.coef_, atol=1e-5)

    def test_diagonal_approximation_for_many_features_reaches_the_same_solution(self, monkeypatch):
        X, y, s = biased_data(n_classes=3)
        dense = RenyiClassifier(lam=5, tol=1e-6).fit(X, y, sensitive_features=s)
        monkeypatch.setattr("renyi_lib.models.MAX_DENSE", 2)
        diagonal = RenyiClassifier(lam=5, tol=1e-6).fit(X, y, sensitive_features=s)
        on_sparse = RenyiClassifier(lam=5, tol=1e-6).fit(
            sparse.csr_array(X), y, sensitive_features=s
        )
        np.testing.assert_allclose(diagonal.coef_, dense.coef_, atol=1e-4)
        np.testing.assert_allclose(on_sparse.coef_, dense.coef_, atol=1e-4)

    def test_fit_without_groups_is_unpenalized_and_warns(self):
        X, y, _ = biased_data()
        with pytest.warns(NoSensitiveFeaturesWarning, match="plain logistic regression"):
            ours = RenyiClassifier(lam=0.1, tol=1e-7).fit(X, y)
        np.testing.assert_allclose(ours.coef_, RenyiClassifier(0, tol=1e-7).fit(X, y).coef_)
        assert ours.groups_ is None
        assert ours.adversary_ is None
        assert not ours.history_["penalty"].any()


class TestObjective:
    @pytest.mark.parametrize(
        "fairness", ["demographic_parity", "equalized_odds", "equal_opportunity"]
    )
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("lam", [0.3, 5.0])
    def test_both_algorithms_and_both_solvers_reach_the_same_objective(
        self, fairness, n_classes, lam
    ):
        X, y, s = biased_data(200, n_classes, n_features=2)
        values, coefficients = [], []
        for algorithm in ("binary", "discrete"):
            for solver in ("lbfgs", "gd"):
                clf = RenyiClassifier(
                    lam,
                    fairness=fairness,
                    algorithm=algorithm,
                    solver=solver,
                    tol=1e-5,
                    max_iter=20000,
                ).fit(X, y, sensitive_features=s)
                values.append(objective_value(clf, X, y, s))
                coefficients.append(clf.coef_)
                assert clf.history_["objective"][-1] == pytest.approx(values[-1], rel=1e-10)
        assert np.ptp(values) < 1e-6
        np.testing.assert_allclose(coefficients, coefficients[:1] * 4, atol=0.02)

    @pytest.mark.parametrize("n_groups", [3, 4])
    def test_both_solvers_reach_the_same_objective_for_many_groups(self, n_groups):
        X, y, s = biased_data(300, 2, n_groups)
        fast = RenyiClassifier(3, tol=1e-5).fit(X, y, sensitive_features=s)
        slow = RenyiClassifier(3, solver="gd", tol=1e-5, max_iter=20000)
        slow.fit(X, y, sensitive_features=s)
        assert objective_value(fast, X, y, s) == pytest.approx(
            objective_value(slow, X, y, s), abs=1e-7
        )

    def test_solution_minimizes_the_objective(self):
        X, y, s = biased_data()
        clf = RenyiClassifier(2, tol=1e-7).fit(X, y, sensitive_features=s)
        best = objective_value(clf, X, y, s)
        rng = np.random.default_rng(0)
        for _ in range(50):
            moved = copy.copy(clf)
            moved.coef_ = clf.coef_ + 0.05 * rng.normal(size=clf.coef_.shape)
            moved.intercept_ = clf.intercept_ + 0.05 * rng.normal(size=1)
            assert objective_value(moved, X, y, s) > best

    def test_objective_is_the_mean_loss_plus_lam_times_rho_squared(self):
        # The derivative of the minimum with respect to lam is rho^2 (envelope theorem).
        X, y, s = biased_data()
        at = {
            lam: RenyiClassifier(lam, tol=1e-8).fit(X, y, sensitive_features=s)
            for lam in (1.0, 1.001)
        }
        slope = (objective_value(at[1.001], X, y, s) - objective_value(at[1.0], X, y, s)) / 0.001
        rho = renyi_from_soft(at[1.0].predict_proba(X), s)
        assert slope == pytest.approx(rho**2, rel=1e-2)

    def test_gd_matches_the_loop_of_the_paper(self):
        X, y, s = biased_data(100)
        eta, lam = 0.3, 2.0
        theta = np.zeros(5)
        A = np.column_stack([X, np.ones(100)])
        signed, q = 2 * s - 1, s.mean()
        for _ in range(25):
            f = 1 / (1 + np.exp(-A @ theta))
            F = np.column_stack([1 - f, f])
            w = signed @ F / (2 * F.sum(axis=0))
            by_class = (signed[:, None] * w - w**2) / (q * (1 - q))
            by_score = f - y + lam * f * (1 - f) * (by_class[:, 1] - by_class[:, 0])
            theta = theta - eta * A.T @ by_score / 100
        with pytest.warns(ConvergenceWarning):
            clf = RenyiClassifier(lam, algorithm="binary", solver="gd", eta=eta, max_iter=25).fit(
                X, y, sensitive_features=s
            )
        np.testing.assert_allclose(np.r_[clf.coef_[0], clf.intercept_], theta, rtol=1e-10)
        assert clf.n_iter_ == 25

    def test_gd_descends_monotonically_with_its_default_step(self):
        for c, d in [(2, 2), (2, 4), (3, 2)]:
            X, y, s = biased_data(200, c, d)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                clf = RenyiClassifier(4.0, solver="gd", max_iter=300)
                clf.fit(X, y, sensitive_features=s)
            assert np.diff(clf.history_["objective"]).max() < 1e-12

    def test_weights_equal_repeated_rows(self):
        X, y, s = biased_data(200)
        weight = np.random.default_rng(0).integers(0, 3, size=200)
        for fairness in ("demographic_parity", "equalized_odds"):
            clf = RenyiClassifier(3, fairness=fairness, tol=1e-8)
            weighted = clone(clf).fit(X, y, sensitive_features=s, sample_weight=weight)
            rows = np.repeat(np.arange(200), weight)
            repeated = clone(clf).fit(X[rows], y[rows], sensitive_features=s[rows])
            np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)

    def test_zero_weight_group_has_no_effect(self):
        X, y, s = biased_data(300, 2, 3)
        weight = (s != 2).astype(float)
        clf = RenyiClassifier(3).fit(X, y, sensitive_features=s, sample_weight=weight)
        assert clf.groups_.tolist() == [0, 1]


class TestFairness:
    def test_larger_lam_is_fairer_and_increases_the_loss(self):
        X, y, s = biased_data()
        path = lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[0, 1, 10, 100])
        penalties = [clf.penalty_value(X, sensitive_features=s) for clf in path]
        losses = [clf.history_["loss"][-1] for clf in path]
        assert penalties == sorted(penalties, reverse=True)
        assert losses == sorted(losses)
        assert rate_gap(path[0], X, s) > 0.2
        assert rate_gap(path[-1], X, s) < 0.01

    def test_each_notion_of_fairness_reduces_its_own_violation(self):
        X, y, s = biased_data(2000, seed=3)
        plain = RenyiClassifier(0).fit(X, y, sensitive_features=s)
        gaps = {}
        for k in (0, 1):
            gaps[k] = rate_gap(plain, X[y == k], s[y == k])
        opportunity = RenyiClassifier(100, fairness="equal_opportunity")
        opportunity.fit(X, y, sensitive_features=s)
        assert rate_gap(opportunity, X[y == 1], s[y == 1]) < 0.05 * gaps[1]
        other = RenyiClassifier(100, fairness="equal_opportunity", pos_label=0)
        other.fit(X, y, sensitive_features=s)
        assert rate_gap(other, X[y == 0], s[y == 0]) < 0.05 * gaps[0]
        odds = RenyiClassifier(100, fairness="equalized_odds").fit(X, y, sensitive_features=s)
        for k in (0, 1):
            assert rate_gap(odds, X[y == k], s[y == k]) < 0.05 * gaps[k]

    @pytest.mark.parametrize(
        "fairness", ["demographic_parity", "equal_opportunity", "equalized_odds"]
    )
    def test_penalty_on_the_score_equals_score_bins_for_each_notion(self, fairness):
        X, y, s = biased_data(600, seed=3)
        options = {"fairness": fairness, "tol": 1e-6}
        bins = PenalizedClassifier(ScoreBinsPenalty(), 3, **options)
        bins.fit(X, y, sensitive_features=s)
        for clf in (
            RenyiClassifier(3, on="score", **options),
            PenalizedClassifier(RenyiPenalty(), 3, on="score", **options),
        ):
            clf.fit(X, y, sensitive_features=s)
            np.testing.assert_allclose(clf.coef_, bins.coef_, atol=1e-5)
            value = clf.penalty_value(X, y, sensitive_features=s)
            assert value == pytest.approx(bins.penalty_value(X, y, sensitive_features=s), rel=1e-3)
            assert clf.adversary_ is None

    def test_penalty_on_the_score_lowers_the_worst_gap_over_thresholds(self):
        rng = np.random.default_rng(0)
        s = rng.integers(2, size=4000)
        X = rng.normal(size=(4000, 3))
        X[:, 0] += s
        X[:, 1] *= 1 + 2 * s
        y = (X @ [1, 1, 2] + rng.normal(size=4000) > 1).astype(int)
        worst = {}
        for on in ("label", "score"):
            clf = RenyiClassifier(50, on=on).fit(X, y, sensitive_features=s)
            score = clf.predict_proba(X)[:, 1]
            rates = [[np.mean(score[s == j] > t) for j in (0, 1)] for t in (0.3, 0.5, 0.7)]
            worst[on] = np.ptp(rates, axis=1).max()
        assert worst["score"] < 0.5 * worst["label"]

    def test_penalty_acts_on_the_label_by_default(self):
        X, y, s = biased_data(300)
        plain = RenyiClassifier(3).fit(X, y, sensitive_features=s)
        label = RenyiClassifier(3, on="label").fit(X, y, sensitive_features=s)
        assert np.array_equal(plain.coef_, label.coef_)

    def test_several_columns_define_joint_groups(self):
        X, y, s = biased_data(400, 2, 4)
        frame = pd.DataFrame({"sex": np.array(["f", "m"])[s // 2], "old": s % 2 == 1})
        joint = RenyiClassifier(5).fit(X, y, sensitive_features=frame)
        coded = RenyiClassifier(5).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(joint.coef_, coded.coef_, rtol=1e-8)
        assert joint.groups_.tolist() == [("f", False), ("f", True), ("m", False), ("m", True)]
        assert joint.adversary_.shape == (4,)

    def test_penalty_value_uses_the_weights(self):
        X, y, s = biased_data(200)
        weight = np.random.default_rng(0).integers(1, 4, size=200)
        rows = np.repeat(np.arange(200), weight)
        clf = RenyiClassifier(0).fit(X, y, sensitive_features=s)
        weighted = clf.penalty_value(X, sensitive_features=s, sample_weight=weight)
        repeated = clf.penalty_value(X[rows], sensitive_features=s[rows])
        assert weighted == pytest.approx(repeated, rel=1e-9)
        assert weighted != pytest.approx(clf.penalty_value(X, sensitive_features=s), rel=1e-3)

    def test_penalty_value_is_rho_squared_on_any_data(self):
        X, y, s = biased_data()
        clf = RenyiClassifier(1).fit(X[:300], y[:300], sensitive_features=s[:300])
        F = clf.predict_proba(X[300:])
        assert clf.penalty_value(X[300:], sensitive_features=s[300:]) == pytest.approx(
            renyi_from_soft(F, s[300:]) ** 2, rel=1e-9
        )
        odds = RenyiClassifier(1, fairness="equalized_odds").fit(X, y, sensitive_features=s)
        expected = sum(
            renyi_from_soft(odds.predict_proba(X[y == k]), s[y == k]) ** 2 for k in (0, 1)
        )
        value = odds.penalty_value(X, y, sensitive_features=s)
        assert value == pytest.approx(expected, rel=1e-9)
        with pytest.raises(ValueError, match="y is None, but fairness="):
            odds.penalty_value(X, sensitive_features=s)
        with pytest.raises(ValueError, match="y contains labels unseen in fit"):
            odds.penalty_value(X, y + 1, sensitive_features=s)

    @pytest.mark.parametrize(
        "penalty", [PearsonPenalty(), HSICPenalty(), HSICPenalty("linear"), ScoreBinsPenalty()]
    )
    def test_other_penalties_can_be_fitted(self, penalty):
        X, y, s = biased_data()
        values = []
        for lam in (0.0, 3.0, 100.0):
            clf = PenalizedClassifier(penalty, lam).fit(X, y, sensitive_features=s)
            values.append(clf.penalty_value(X, sensitive_features=s))
            assert clf.history_["gradient_max"][-1] <= clf.tol
        assert values[0] > 1.5 * values[1] > 10 * values[2]

    def test_a_custom_penalty_needs_only_the_method_terms(self):
        class Gap(Penalty):
            def terms(self, F, groups):
                signs = np.where(groups.codes == 1, 1, -1) / groups.q[groups.codes]
                gap = np.sum(F[:, -1] * signs * groups.weight)
                gradient = np.zeros_like(F)
                gradient[:, -1] = 2 * gap * signs * groups.weight
                return [(gap**2, gradient)]

        X, y, s = biased_data()
        clf = PenalizedClassifier(Gap(), lam=1000).fit(X, y, sensitive_features=s)
        assert rate_gap(clf, X, s) < 1e-3
        assert clf.adversary_ is None

    def test_score_bins_bring_parity_at_every_threshold(self):
        X, y, s = biased_data(2000, seed=5)
        gaps = {}
        for name, penalty in [("label", RenyiPenalty()), ("bins", ScoreBinsPenalty())]:
            clf = PenalizedClassifier(penalty, lam=100).fit(X, y, sensitive_features=s)
            score = clf.predict_proba(X)[:, 1]
            thresholds = np.quantile(score, [0.1, 0.3, 0.5, 0.7, 0.9])
            gaps[name] = max(
                abs(np.mean(score[s == 0] > t) - np.mean(score[s == 1] > t)) for t in thresholds
            )
        assert gaps["bins"] < 0.05
        assert gaps["bins"] < gaps["label"]


class TestExtremes:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_enormous_lam_gives_a_finite_and_fair_solution(self, n_classes, n_groups):
        X, y, s = biased_data(300, n_classes, n_groups)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = RenyiClassifier(1e9).fit(X, y, sensitive_features=s)
        assert np.isfinite(clf.coef_).all()
        assert clf.penalty_value(X, sensitive_features=s) < 1e-12
        assert objective_value(clf, X, y, s) < np.log(n_classes)

    @pytest.mark.parametrize("lam", [0.0, 1.0, 1e9])
    @pytest.mark.parametrize("solver", ["lbfgs", "gd"])
    def test_separable_data_stay_finite(self, lam, solver):
        X = np.r_[np.linspace(-2, -1, 20), np.linspace(1, 2, 20)][:, None]
        y, s = np.repeat([0, 1], 20), np.arange(40) % 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = RenyiClassifier(lam, solver=solver, max_iter=200)
            clf.fit(X, y, sensitive_features=s)
        assert np.isfinite(clf.coef_).all()
        assert np.isfinite(clf.history_["objective"]).all()
        assert clf.score(X, y) == 1.0

    @pytest.mark.parametrize("algorithm", ["binary", "discrete"])
    def test_vanishing_class_gives_a_finite_solution(self, algorithm):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(500, 2)), np.arange(500) % 2
        y = np.zeros(500, dtype=int)
        y[[0, 2]] = 1
        clf = RenyiClassifier(1e4, algorithm=algorithm).fit(X, y, sensitive_features=s)
        assert np.isfinite(clf.coef_).all()
        model, groups = SoftmaxModel(X, y, 2), Groups.from_labels(s)
        penalty = BinaryRenyiPenalty() if algorithm == "binary" else RenyiPenalty()
        for intercept in (-100.0, -720.0, -1e4):
            value, gradient = FairObjective(model, penalty, groups)(
                np.array([[1.0, 1.0, intercept]]), lam=1.0
            )
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()

    def test_a_group_of_one_sample_is_allowed(self):
        X, y, s = biased_data(100)
        s = np.where(np.arange(100) == 7, 2, s)
        clf = RenyiClassifier(10).fit(X, y, sensitive_features=s)
        assert np.isfinite(clf.coef_).all()
        assert clf.groups_.tolist() == [0, 1, 2]

    def test_fewer_samples_than_features_are_supported(self):
        rng = np.random.default_rng(0)
        X, y, s = rng.normal(size=(20, 50)), np.arange(20) % 2, np.arange(20) // 2 % 2
        clf = RenyiClassifier(1).fit(X, y, sensitive_features=s)
        assert np.isfinite(clf.coef_).all()
        assert clf.score(X, y) == 1.0


class TestAfterTheFit:
    def test_history_records_the_iterations(self):
        X, y, s = biased_data()
        for solver, max_iter in [("lbfgs", 100), ("gd", 20000)]:
            clf = RenyiClassifier(2, solver=solver, max_iter=max_iter)
            clf.fit(X, y, sensitive_features=s)
            history = clf.history_
            assert list(history) == [
                "lam",
                "loss",
                "penalty",
                "objective",
                "gradient_norm",
                "gradient_max",
            ]
            assert {len(column) for column in history.values()} == {clf.n_iter_ + 1}
            np.testing.assert_allclose(
                history["objective"], history["loss"] + history["lam"] * history["penalty"]
            )
            assert history["loss"][0] == pytest.approx(np.log(2))
            assert history["penalty"][0] < 1e-30
            assert history["lam"][-1] == 2
            assert history["gradient_max"][-1] <= clf.tol < history["gradient_max"][-2]
            assert (history["gradient_norm"] >= history["gradient_max"]).all()
            assert history["objective"][-1] == pytest.approx(objective_value(clf, X, y, s))

    def test_the_adversary_is_the_best_response_to_the_solution(self):
        X, y, s = biased_data(300, 3, 2, seed=1)
        binary = RenyiClassifier(1, algorithm="binary").fit(X, y, sensitive_features=s)
        F = binary.predict_proba(X)
        signed = 2 * s - 1
        np.testing.assert_allclose(binary.adversary_, signed @ F / (2 * F.sum(axis=0)), rtol=1e-9)
        discrete = RenyiClassifier(1, algorithm="discrete").fit(X, y, sensitive_features=s)
        assert discrete.adversary_.shape == (2,)
        q = np.bincount(s) / len(s)
        assert abs(discrete.adversary_ @ np.sqrt(q)) < 1e-12
        odds = RenyiClassifier(1, fairness="equalized_odds").fit(X, y, sensitive_features=s)
        assert odds.adversary_.shape == (3, 3)

    def test_auto_takes_algorithm_2_for_two_groups_only(self):
        X, y, s = biased_data(300, 3, 2)
        assert RenyiClassifier().fit(X, y, sensitive_features=s).adversary_.shape == (3,)
        X, y, s = biased_data(300, 2, 4)
        assert RenyiClassifier().fit(X, y, sensitive_features=s).adversary_.shape == (4,)

    def test_fit_that_stops_early_warns(self):
        X, y, s = biased_data()
        for solver in ("lbfgs", "gd"):
            clf = RenyiClassifier(50, solver=solver, max_iter=3)
            with pytest.warns(ConvergenceWarning, match=r"stopped after 3 iterations.*max_iter"):
                clf.fit(X, y, sensitive_features=s)
            assert clf.n_iter_ == 3
            assert len(clf.history_["loss"]) == 4

    def test_warm_start_continues_from_the_last_solution(self):
        X, y, s = biased_data()
        clf = RenyiClassifier(5, warm_start=True).fit(X, y, sensitive_features=s)
        first, cold = clf.coef_, clf.n_iter_
        clf.fit(X, y, sensitive_features=s)
        assert clf.n_iter_ < cold
        np.testing.assert_allclose(clf.coef_, first, atol=1e-3)
        clf.set_params(lam=6).fit(X, y, sensitive_features=s)
        assert 0 < clf.n_iter_ < cold
        X, y, s = biased_data(n_features=7)
        assert clf.fit(X, y, sensitive_features=s).coef_.shape == (1, 7)

    def test_predictions_have_the_documented_shapes(self):
        for c in (2, 3):
            X, y, s = biased_data(300, c)
            names = np.array(["no", "maybe", "yes"])[y]
            clf = RenyiClassifier(1).fit(X, names, sensitive_features=s)
            rows = 1 if c == 2 else 3
            assert clf.classes_.tolist() == sorted(set(names))
            assert clf.coef_.shape == (rows, 4)
            assert clf.intercept_.shape == (rows,)
            F = clf.predict_proba(X)
            np.testing.assert_allclose(F.sum(axis=1), 1)
            assert (clf.predict(X) == clf.classes_[F.argmax(axis=1)]).all()
            assert clf.decision_function(X).shape == ((300,) if c == 2 else (300, 3))
            assert clf.score(X, names) == np.mean(clf.predict(X) == names)

    def test_unfitted_estimators_raise(self):
        with pytest.raises(NotFittedError):
            RenyiClassifier().predict([[1.0]])


class TestScikitLearn:
    def test_feature_names_of_data_frames_are_stored(self):
        X, y, s = biased_data()
        frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(400) + 7)
        groups = pd.Series(np.array(["f", "m"])[s], index=frame.index, name="sex")
        clf = RenyiClassifier(2).fit(
            frame, pd.Series(y, index=frame.index), sensitive_features=groups
        )
        assert clf.feature_names_in_.tolist() == list("abcd")
        assert clf.n_features_in_ == 4
        plain = RenyiClassifier(2).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(clf.coef_, plain.coef_, rtol=1e-12)
        with pytest.raises(ValueError, match="feature names"):
            clf.predict(frame[list("dcba")])

    @pytest.fixture
    def routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    @pytest.mark.usefixtures("routing")
    def test_pipelines_pass_the_groups_on(self):
        X, y, s = biased_data()
        clf = RenyiClassifier(5).set_fit_request(sensitive_features=True)
        pipe = make_pipeline(StandardScaler(), clf).fit(X, y, sensitive_features=s)
        scaled = StandardScaler().fit_transform(X)
        expected = RenyiClassifier(5).fit(scaled, y, sensitive_features=s)
        np.testing.assert_allclose(pipe[-1].coef_, expected.coef_, rtol=1e-12)

    @pytest.mark.usefixtures("routing")
    def test_grid_search_splits_the_groups_and_the_weights(self):
        X, y, s = biased_data()
        weight = np.ones(400)
        clf = RenyiClassifier().set_fit_request(sensitive_features=True, sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        pipe = make_pipeline(scaler, clf)
        # Before scikit-learn 1.7 a pipeline's own score did not pass weights on.
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = GridSearchCV(pipe, {"renyiclassifier__lam": [0, 1, 100]}, scoring=scorer, cv=3)
        search.fit(X, y, sensitive_features=s, sample_weight=weight)
        assert search.best_params_["renyiclassifier__lam"] == 0
        accuracy = search.cv_results_["mean_test_score"]
        assert accuracy[0] > accuracy[2]

    @pytest.mark.usefixtures("routing")
    def test_a_missing_metadata_request_raises(self):
        X, y, s = biased_data()
        with pytest.raises(Exception, match="sensitive_features"):
            make_pipeline(RenyiClassifier()).fit(X, y, sensitive_features=s)

    def test_clones_keep_parameters_and_penalty(self):
        clf = PenalizedClassifier(HSICPenalty(bandwidth=0.1), lam=3, fairness="equalized_odds")
        copy = clone(clf)
        assert copy.penalty.bandwidth == 0.1
        assert copy.lam == 3
        assert clone(RenyiClassifier(algorithm="discrete")).algorithm == "discrete"


class TestBadInput:
    X, y, s = biased_data(60)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"lam": -1}, "lam must be a number from 0 to 1e\\+12, not -1"),
            ({"lam": np.nan}, "lam must be a number"),
            ({"lam": np.inf}, "lam must be a number"),
            ({"lam": "much"}, "lam must be a number"),
            ({"fairness": "parity"}, "fairness must be one of 'demographic_parity'"),
            ({"on": "scores"}, "on must be one of 'label', 'score', not 'scores'"),
            ({"algorithm": "ternary"}, "algorithm must be one of 'auto'"),
            ({"solver": "sgd"}, "solver must be one of 'lbfgs', 'gd'"),
            ({"l2": -0.1}, "l2 must be a number"),
            ({"eta": 0.0}, "eta must be a positive number \\(or None\\)"),
            ({"max_iter": 0}, "max_iter must be a whole number, 1 or more"),
            ({"tol": -1}, "tol must be a number"),
            (
                {"fairness": "equal_opportunity", "pos_label": 5},
                "pos_label must be one of the classes",
            ),
        ],
    )
    def test_invalid_parameters_raise(self, params, message):
        with pytest.raises(ValueError, match=message):
            RenyiClassifier(**params).fit(self.X, self.y, sensitive_features=self.s)

    def test_an_object_that_is_not_a_penalty_raises(self):
        with pytest.raises(ValueError, match="penalty must be a Penalty"):
            PenalizedClassifier("renyi").fit(self.X, self.y, sensitive_features=self.s)

    def test_penalty_on_the_score_of_several_classes_or_on_bins_raises(self):
        X, y, s = biased_data(200, n_classes=3)
        with pytest.raises(ValueError, match=r"on='score' needs two classes.*but y has 3"):
            RenyiClassifier(on="score").fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="penalty is a ScoreBinsPenalty"):
            PenalizedClassifier(ScoreBinsPenalty(), on="score").fit(
                self.X, self.y, sensitive_features=self.s
            )

    def test_single_class_raises(self):
        with pytest.raises(ValueError, match="y has only one class, 1"):
            RenyiClassifier().fit(self.X, np.ones(60, dtype=int), sensitive_features=self.s)

    def test_single_group_raises(self):
        with pytest.raises(ValueError, match="sensitive_features has only one group, 'f'"):
            RenyiClassifier().fit(self.X, self.y, sensitive_features=["f"] * 60)

    @pytest.mark.parametrize("fairness", ["equalized_odds", "equal_opportunity"])
    def test_empty_cell_of_class_and_group_raises(self, fairness):
        s = np.where(self.y == 1, 1, self.s)
        with pytest.raises(ValueError, match="of class 1, but group 0 has none: merge groups"):
            RenyiClassifier(fairness=fairness).fit(self.X, self.y, sensitive_features=s)
        RenyiClassifier(fairness="demographic_parity").fit(self.X, self.y, sensitive_features=s)

    def test_an_empty_cell_of_another_class_does_not_matter_to_equal_opportunity(self):
        s = np.where(self.y == 1, 1, self.s)
        clf = RenyiClassifier(fairness="equal_opportunity", pos_label=0)
        assert clf.fit(self.X, self.y, sensitive_features=s).n_iter_ > 0

    def test_missing_values_raise(self):
        X = self.X.copy()
        X[3, 0] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            RenyiClassifier().fit(X, self.y, sensitive_features=self.s)
        s = np.array(["f", None] * 30, dtype=object)
        with pytest.raises(ValueError, match="sensitive_features has a missing value"):
            RenyiClassifier().fit(self.X, self.y, sensitive_features=s)

    def test_different_lengths_raise(self):
        with pytest.raises(ValueError, match="y has 60, sensitive_features has 59"):
            RenyiClassifier().fit(self.X, self.y, sensitive_features=self.s[:-1])
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            RenyiClassifier().fit(self.X, self.y[:-1], sensitive_features=self.s)
        with pytest.raises(ValueError, match="y has 60, sample_weight has 59"):
            RenyiClassifier().fit(
                self.X, self.y, sensitive_features=self.s, sample_weight=np.ones(59)
            )

    def test_three_groups_raise_for_the_binary_algorithm(self):
        with pytest.raises(ValueError, match=r"algorithm='binary' needs two groups, but .* has 3"):
            RenyiClassifier(algorithm="binary").fit(
                self.X, self.y, sensitive_features=np.arange(60) % 3
            )

    def test_different_lengths_in_prediction_raise(self):
        clf = RenyiClassifier().fit(self.X, self.y, sensitive_features=self.s)
        with pytest.raises(ValueError, match="X has 60, sensitive_features has 59"):
            clf.penalty_value(self.X, sensitive_features=self.s[:-1])

    def test_unseen_groups_raise(self):
        clf = RenyiClassifier().fit(
            self.X, self.y, sensitive_features=np.array(["f", "m"])[self.s]
        )
        with pytest.raises(ValueError, match=r"labels unseen in fit: \['x'\]"):
            clf.penalty_value(self.X, sensitive_features=np.array(["f", "x"])[self.s])

    def test_sensitive_features_are_keyword_only(self):
        with pytest.raises(TypeError):
            RenyiClassifier().fit(self.X, self.y, self.s)
