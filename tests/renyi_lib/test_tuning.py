"""Paths over lam and the search for a target, for classifiers, pipelines and others."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.metrics import equal_opportunity_violation, p_rule
from renyi_lib.penalties import PearsonPenalty
from renyi_lib.tuning import TargetNotReachedError, fit_to_target, lam_path
from tests.renyi_lib.data import biased_data, objective_value


class TestPath:
    def test_one_classifier_for_each_lam_in_the_order_given(self):
        X, y, s = biased_data()
        lams = [10, 0, 1, 100]
        path = lam_path(RenyiClassifier(tol=1e-06), X, y, sensitive_features=s, lams=lams)
        assert [clf.lam for clf in path] == lams
        for clf in path:
            cold = RenyiClassifier(clf.lam, tol=1e-6).fit(X, y, sensitive_features=s)
            assert objective_value(clf, X, y, s) == pytest.approx(
                objective_value(cold, X, y, s), abs=1e-7
            )

    def test_no_lams_are_no_classifiers(self):
        X, y, s = biased_data(100)
        assert lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[]) == []

    def test_warm_starts_save_iterations(self):
        X, y, s = biased_data()
        lams = np.geomspace(1, 10, 8)
        path = lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=lams)
        cold = [RenyiClassifier(lam).fit(X, y, sensitive_features=s) for lam in lams]
        assert sum(c.n_iter_ for c in path[1:]) < 0.7 * sum(c.n_iter_ for c in cold[1:])

    def test_parameters_names_and_other_estimators(self):
        X, y, s = biased_data()
        frame = pd.DataFrame(X, columns=list("abcd"))
        (odds,) = lam_path(
            RenyiClassifier(fairness="equalized_odds"), frame, y, sensitive_features=s, lams=[3]
        )
        assert odds.fairness == "equalized_odds"
        assert odds.feature_names_in_.tolist() == list("abcd")
        estimator = PenalizedClassifier(PearsonPenalty())
        (pearson,) = lam_path(estimator, X, y, sensitive_features=s, lams=[3])
        assert isinstance(pearson, PenalizedClassifier)
        assert pearson.lam == 3
        assert not hasattr(estimator, "coef_")

    def test_progress_is_shown_on_demand(self, capsys):
        X, y, s = biased_data(100)
        lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[0, 1], progress=True)
        assert "2/2" in capsys.readouterr().err
        lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[0, 1])
        assert capsys.readouterr().err == ""

    def test_a_negative_lam_is_refused(self):
        X, y, s = biased_data(100)
        for lams, message in [
            ([1, -1], "each of lams must be a number, 0 or more"),
            ([True], "each of lams must be a number"),
            ([1e300], "lam must be a number from 0 to 1e[+]12"),
        ]:
            with pytest.raises(ValueError, match=message):
                lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=lams)
        with pytest.raises(ValueError, match="needs the groups"):
            lam_path(RenyiClassifier(), X, y, sensitive_features=None, lams=[1])

    def test_a_pipeline_is_scaled_once_and_gives_what_its_last_step_gives(self):
        X, y, s = biased_data()
        frame = pd.DataFrame(1000 * X + 5, columns=list("abcd"))
        pipeline = make_pipeline(CountedScaler(), RenyiClassifier(tol=1e-6))
        CountedScaler.fits = 0
        path = lam_path(pipeline, frame, y, sensitive_features=s, lams=[3, 0])
        assert CountedScaler.fits == 1
        scaled = StandardScaler().fit_transform(frame)
        for fitted, lam in zip(path, [3, 0]):
            alone = RenyiClassifier(lam, tol=1e-6).fit(scaled, y, sensitive_features=s)
            assert fitted[-1].lam == lam
            np.testing.assert_allclose(
                fitted.predict_proba(frame), alone.predict_proba(scaled), atol=1e-5
            )
        assert not hasattr(pipeline[-1], "coef_")

    def test_an_estimator_of_another_library_is_cloned_and_fitted_for_each_lam(self):
        X, y, s = biased_data(100)
        path = lam_path(
            Foreign(), X, y, sensitive_features=s, lams=[2, 1], sample_weight=np.ones(100)
        )
        assert [(f.lam, f.got) for f in path] == [(2, (100, 100)), (1, (100, 100))]

    @pytest.mark.parametrize(
        "estimator", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())]
    )
    def test_an_estimator_without_lam_is_refused(self, estimator):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="LogisticRegression has none"):
            lam_path(estimator, X, y, sensitive_features=s, lams=[1])

    def test_without_tqdm_only_the_progress_bar_is_missing(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "tqdm", None)
        X, y, s = biased_data(100)
        assert len(lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[0, 1])) == 2
        with pytest.raises(ImportError, match=r'pip install "renyi-lib\[progress\]"'):
            lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[0], progress=True)


class CountedScaler(StandardScaler):
    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


class Foreign(BaseEstimator):
    """An estimator with a lam that this library knows nothing of."""

    def __init__(self, lam=1.0):
        self.lam = lam

    def fit(self, X, y, *, sensitive_features, sample_weight=None):
        self.got = len(sensitive_features), len(sample_weight)
        return self


class TestTarget:
    @pytest.mark.parametrize("target", [0.7, 0.8, 0.9])
    def test_the_smallest_lam_that_will_do(self, target):
        X, y, s = biased_data(1000, seed=7)
        clf = fit_to_target(
            RenyiClassifier(), X, y, sensitive_features=s, metric="p_rule", target=target
        )
        assert p_rule(None, clf.predict(X), sensitive_features=s) >= target
        less = RenyiClassifier(clf.lam / 1.05).fit(X, y, sensitive_features=s)
        assert p_rule(None, less.predict(X), sensitive_features=s) < target

    def test_a_violation_is_to_be_at_most_the_target(self):
        X, y, s = biased_data(1000, seed=7)
        labels = np.array(["bad", "good"])[y]
        clf = fit_to_target(
            RenyiClassifier(fairness="equal_opportunity"),
            X,
            labels,
            sensitive_features=s,
            metric="equal_opportunity_violation",
            target=0.03,
        )
        violation = equal_opportunity_violation(
            labels, clf.predict(X), sensitive_features=s, pos_label="good"
        )
        assert violation <= 0.03
        assert clf.lam > 0

    def test_a_target_that_is_nearly_met_needs_a_small_lam(self):
        X, y, s = biased_data(1000, seed=7)
        plain = p_rule(
            None,
            RenyiClassifier(0).fit(X, y, sensitive_features=s).predict(X),
            sensitive_features=s,
        )
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=plain + 0.001)
        assert 0 < clf.lam < 0.09

    def test_already_fair_means_lam_zero(self):
        X, y, s = biased_data()
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=0.01)
        assert clf.lam == 0

    def test_a_metric_of_one_s_own_on_other_data(self):
        X, y, s = biased_data(1000, seed=7)
        train, held = slice(0, 600), slice(600, None)
        seen = []

        def negative_gap(y_true, y_pred, *, sensitive_features):
            seen.append(len(y_true))
            s = sensitive_features
            return -abs(np.mean(y_pred[s == 0]) - np.mean(y_pred[s == 1]))

        clf = fit_to_target(
            RenyiClassifier(),
            X[train],
            y[train],
            sensitive_features=s[train],
            metric=negative_gap,
            greater_is_better=True,
            target=-0.1,
            validation=(X[held], y[held], s[held]),
        )
        assert negative_gap(y[held], clf.predict(X[held]), sensitive_features=s[held]) >= -0.1
        assert set(seen) == {400}

    def test_an_unreachable_target_is_said_with_the_best_that_was_found(self):
        X, y, s = biased_data()
        with pytest.raises(TargetNotReachedError, match=r"target 1 is not reached .* is 0\."):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=1, max_lam=10)
        gap = "demographic_parity_violation"
        with pytest.raises(TargetNotReachedError, match=r"target 0 is not reached .* is 0\.0"):
            fit_to_target(
                RenyiClassifier(), X, y, sensitive_features=s, metric=gap, target=0, max_lam=10
            )

    def test_the_weights_count_in_the_metric(self):
        X, y, s = biased_data(600, seed=7)
        weight = np.random.default_rng(0).integers(1, 4, size=600)
        rows = np.repeat(np.arange(600), weight)
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, sample_weight=weight)
        repeated = fit_to_target(RenyiClassifier(), X[rows], y[rows], sensitive_features=s[rows])
        assert clf.lam == pytest.approx(repeated.lam, rel=1e-6)
        unweighted = p_rule(None, clf.predict(X), sensitive_features=s)
        weighted = p_rule(None, clf.predict(X), sensitive_features=s, sample_weight=weight)
        assert weighted >= 0.8
        assert weighted != unweighted

    def test_weights_of_the_validation_data_count_too(self):
        X, y, s = biased_data(600, seed=7)
        seen = []

        def metric(y_true, y_pred, *, sensitive_features, sample_weight=None):
            seen.append(sample_weight)
            return 1.0

        options = {"metric": metric, "greater_is_better": True, "sensitive_features": s}
        fit_to_target(RenyiClassifier(), X, y, **options, validation=(X, y, s, 2 * np.ones(600)))
        fit_to_target(RenyiClassifier(), X, y, **options, validation=(X, y, s))
        assert seen[0].tolist() == [2.0] * 600
        assert seen[1] is None

    @pytest.mark.parametrize("where", ["estimator", "argument", "pipeline"])
    def test_the_favorable_label_is_the_one_that_was_told(self, where):
        X, y, s = biased_data(1000, seed=7)
        labels = np.array(["bad", "good"])[y]
        estimator, options = RenyiClassifier(), {}
        if where == "argument":
            options["pos_label"] = "bad"
        else:
            estimator.set_params(pos_label="bad")
        if where == "pipeline":
            estimator = make_pipeline(StandardScaler(), estimator)
        clf = fit_to_target(estimator, X, labels, sensitive_features=s, target=0.9, **options)
        rates = {
            label: p_rule(None, clf.predict(X), sensitive_features=s, pos_label=label)
            for label in ("bad", "good")
        }
        less = clf[-1].lam if where == "pipeline" else clf.lam
        before = RenyiClassifier(less / 1.05).fit(X, labels, sensitive_features=s)
        assert rates["bad"] >= 0.9
        assert p_rule(None, before.predict(X), sensitive_features=s, pos_label="bad") < 0.9
        assert rates["good"] != rates["bad"]

    def test_of_several_classes_one_must_be_named(self):
        X, y, s = biased_data(400, n_classes=3)
        with pytest.raises(ValueError, match=r"pos_label must be .* one of \[0, 1, 2\], not None"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s)
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, pos_label=1)
        assert p_rule(None, clf.predict(X), sensitive_features=s, pos_label=1) >= 0.8

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": 80}, r"target must be a fraction from 0 to 1 \(0.8 for 80 %\), not 80"),
            ({"validation": ([[1.0]], [1])}, "validation must be .*not a tuple with 2"),
            ({"validation": 3}, "validation must be .*not a int"),
            ({"max_lam": 0}, "max_lam must be a positive number"),
            ({"pos_label": "x"}, "pos_label must be .*not 'x'"),
        ],
    )
    def test_bad_arguments_are_named(self, options, message):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match=message):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, **options)

    def test_bad_metrics_are_refused(self):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="metric must be a function or one of 'p_rule'"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, metric="p_value")
        with pytest.raises(ValueError, match="greater_is_better must be given"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, metric=lambda *_: 0.0)
