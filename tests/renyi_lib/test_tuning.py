"""Paths over lam and the search for a target, for classifiers and other estimators."""

import re
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from renyi_lib import ParquetRows, RenyiKMeans, RenyiRegressor, fairness_interval, fairness_scorer
from renyi_lib.classification import (
    NoSensitiveFeaturesWarning,
    PenalizedClassifier,
    RenyiClassifier,
)
from renyi_lib.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
)
from renyi_lib.penalties import PearsonPenalty
from renyi_lib.scorers import renyi_dependence
from renyi_lib.tuning import (
    DegenerateModelWarning,
    MetricMismatchWarning,
    RenyiClassifierCV,
    TargetNotReachedError,
    fit_to_target,
    lam_path,
)
from tests.renyi_lib.data import biased_data, objective_value


def assert_remedies_keep_the_guarantee(message, *remedies):
    """Remedies keep the guarantee; the message warns that a lower target does not."""
    assert all(remedy in message for remedy in remedies)
    assert "smaller confidence" not in message
    assert "another target" not in message
    assert "lowering the target or the confidence now" in message


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

    def test_empty_lams_give_no_classifiers(self):
        X, y, s = biased_data(100)
        assert lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[]) == []

    def test_warm_starts_save_iterations(self):
        X, y, s = biased_data()
        lams = np.geomspace(1, 10, 8)
        path = lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=lams)
        cold = [RenyiClassifier(lam).fit(X, y, sensitive_features=s) for lam in lams]
        assert sum(c.n_iter_ for c in path[1:]) < 0.7 * sum(c.n_iter_ for c in cold[1:])

    def test_path_keeps_parameters_and_names_for_any_estimator(self):
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

    def test_invalid_lams_or_missing_groups_raise(self):
        X, y, s = biased_data(100)
        for lams, message in [
            ([1, -1], "each of lams must be a number, 0 or more"),
            ([True], "each of lams must be a number"),
            ([1e300], "lam must be a number from 0 to 1e[+]12"),
        ]:
            with pytest.raises(ValueError, match=message):
                lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=lams)
        with pytest.raises(ValueError, match="models needs groups"):
            lam_path(RenyiClassifier(), X, y, sensitive_features=None, lams=[1])

    def test_pipeline_is_transformed_once_and_matches_its_last_step(self):
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
    def test_an_estimator_without_lam_raises(self, estimator):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="LogisticRegression has none"):
            lam_path(estimator, X, y, sensitive_features=s, lams=[1])

    @pytest.mark.parametrize("estimator", [object(), RenyiClassifier, None, "renyi"])
    def test_objects_that_are_not_estimators_raise(self, estimator):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="estimator must be an instance of a scikit-learn"):
            lam_path(estimator, X, y, sensitive_features=s, lams=[1])
        with pytest.raises(ValueError, match="estimator must be an instance of a scikit-learn"):
            fit_to_target(estimator, X, y, sensitive_features=s)

    @pytest.mark.parametrize("estimator", ["theirs", "pipeline", "ours"])
    def test_several_processes_give_the_same_result(self, estimator):
        X, y, s = biased_data(200)
        estimator = {
            "theirs": ForeignRidge(),
            "pipeline": make_pipeline(StandardScaler(), ForeignRidge()),
            "ours": RenyiClassifier(),
        }[estimator]
        options = {"sensitive_features": s, "lams": [3, 0, 1]}
        one, two = (lam_path(estimator, X, y, **options, n_jobs=n) for n in (None, 2))
        for a, b in zip(one, two, strict=True):
            assert np.array_equal(a.predict_proba(X), b.predict_proba(X))

    def test_invalid_n_jobs_raises(self):
        X, y, s = biased_data(100)
        for n_jobs in (0, -2, 1.5, "all"):
            with pytest.raises(ValueError, match="number of processes or threads"):
                lam_path(RenyiClassifier(), X, y, sensitive_features=s, lams=[1], n_jobs=n_jobs)

    def test_missing_tqdm_affects_only_the_progress_bar(self, monkeypatch):
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
    """An estimator from outside this library that has a parameter lam."""

    def __init__(self, lam=1.0):
        self.lam = lam

    def fit(self, X, y, *, sensitive_features, sample_weight=None):
        self.got = len(sensitive_features), len(sample_weight)
        return self


class ForeignRidge(ClassifierMixin, BaseEstimator):
    """A classifier from outside this library: logistic regression with a ridge that lam sets.

    It accepts the groups in `fit` only, and ignores them.
    """

    def __init__(self, lam=1.0):
        self.lam = lam

    def fit(self, X, y, *, sensitive_features, sample_weight=None):
        self.inner_ = LogisticRegression(C=1 / (1 + self.lam)).fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


def held_out(n=4000, seed=7):
    """Training and validation rows, where one of two useful features reveals the group."""
    rng = np.random.default_rng(seed)
    s = rng.integers(2, size=n)
    X = rng.normal(size=(n, 2)) + s[:, None] * [1, 0]
    y = (X.sum(axis=1) + rng.normal(size=n) > 0.5).astype(int)
    half = n // 2
    return (X[:half], y[:half], s[:half]), (X[half:], y[half:], s[half:])


class TestTarget:
    @pytest.mark.parametrize("target", [0.7, 0.8, 0.9])
    def test_smallest_sufficient_lam_is_found(self, target):
        X, y, s = biased_data(1000, seed=7)
        clf = fit_to_target(
            RenyiClassifier(),
            X,
            y,
            sensitive_features=s,
            metric="demographic_parity_ratio",
            target=target,
        )
        assert demographic_parity_ratio(None, clf.predict(X), sensitive_features=s) >= target
        less = RenyiClassifier(clf.lam / 1.05).fit(X, y, sensitive_features=s)
        assert demographic_parity_ratio(None, less.predict(X), sensitive_features=s) < target

    def test_a_violation_must_be_at_most_the_target(self):
        X, y, s = biased_data(1000, seed=7)
        labels = np.array(["bad", "good"])[y]
        clf = fit_to_target(
            RenyiClassifier(fairness="equal_opportunity"),
            X,
            labels,
            sensitive_features=s,
            metric="equal_opportunity_difference",
            target=0.03,
        )
        violation = equal_opportunity_difference(
            labels, clf.predict(X), sensitive_features=s, pos_label="good"
        )
        assert violation <= 0.03
        assert clf.lam > 0

    def test_a_target_that_is_nearly_met_needs_a_small_lam(self):
        X, y, s = biased_data(1000, seed=7)
        plain = demographic_parity_ratio(
            None,
            RenyiClassifier(0).fit(X, y, sensitive_features=s).predict(X),
            sensitive_features=s,
        )
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=plain + 0.001)
        assert 0 < clf.lam < 0.09

    def test_fair_estimator_gets_lam_zero(self):
        X, y, s = biased_data()
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=0.01)
        assert clf.lam == 0

    def test_custom_metric_is_computed_on_validation_data(self):
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

    def test_an_unreachable_target_reports_the_best_value_found(self):
        X, y, s = biased_data()
        with pytest.raises(TargetNotReachedError, match=r"target 1 is not reached .* is 0\."):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=1, max_lam=10)
        gap = "demographic_parity_difference"
        with pytest.raises(TargetNotReachedError, match=r"target 0 is not reached .* is 0\.0"):
            fit_to_target(
                RenyiClassifier(), X, y, sensitive_features=s, metric=gap, target=0, max_lam=10
            )

    def test_metric_uses_the_weights(self):
        X, y, s = biased_data(600, seed=7)
        weight = np.random.default_rng(0).integers(1, 4, size=600)
        rows = np.repeat(np.arange(600), weight)
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, sample_weight=weight)
        repeated = fit_to_target(RenyiClassifier(), X[rows], y[rows], sensitive_features=s[rows])
        assert clf.lam == pytest.approx(repeated.lam, rel=1e-6)
        unweighted = demographic_parity_ratio(None, clf.predict(X), sensitive_features=s)
        weighted = demographic_parity_ratio(
            None, clf.predict(X), sensitive_features=s, sample_weight=weight
        )
        assert weighted >= 0.8
        assert weighted != unweighted

    def test_metric_uses_the_weights_of_the_validation_data(self):
        X, y, s = biased_data(600, seed=7)
        seen = []

        def metric(y_true, y_pred, *, sensitive_features, sample_weight=None):
            seen.append(sample_weight)
            return 1.0

        options = {"metric": metric, "greater_is_better": True, "sensitive_features": s}
        new = (X + 1e-9, y, s, 2 * np.ones(600))
        fit_to_target(RenyiClassifier(), X, y, **options, target=0.8, validation=new)
        fit_to_target(RenyiClassifier(), X, y, **options, target=0.8, validation=new[:3])
        assert seen[0].tolist() == [2.0] * 600
        assert seen[1] is None

    @pytest.mark.parametrize("where", ["estimator", "argument", "pipeline"])
    def test_the_favorable_label_is_pos_label(self, where):
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
            label: demographic_parity_ratio(
                None, clf.predict(X), sensitive_features=s, pos_label=label
            )
            for label in ("bad", "good")
        }
        less = clf[-1].lam if where == "pipeline" else clf.lam
        before = RenyiClassifier(less / 1.05).fit(X, labels, sensitive_features=s)
        assert rates["bad"] >= 0.9
        assert (
            demographic_parity_ratio(
                None, before.predict(X), sensitive_features=s, pos_label="bad"
            )
            < 0.9
        )
        assert rates["good"] != rates["bad"]

    def test_several_classes_need_pos_label(self):
        X, y, s = biased_data(400, n_classes=3)
        with pytest.raises(ValueError, match=r"pos_label must be .* one of \[0, 1, 2\], not None"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s)
        clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, pos_label=1)
        assert (
            demographic_parity_ratio(None, clf.predict(X), sensitive_features=s, pos_label=1)
            >= 0.8
        )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": 80}, r"target must be a fraction from 0 to 1 \(0.8 for 80 %\), not 80"),
            ({"validation": ([[1.0]], [1])}, "validation must be .*not a tuple of length 2"),
            ({"validation": 3}, "validation must be .*not a int"),
            ({"max_lam": 0}, "max_lam must be a positive number"),
            ({"pos_label": "x"}, "pos_label must be .*not 'x'"),
        ],
    )
    def test_invalid_arguments_raise(self, options, message):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match=message):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, **options)

    def test_invalid_metrics_raise(self):
        X, y, s = biased_data(100)
        with pytest.raises(
            ValueError, match="metric must be a function or one of 'demographic_parity_ratio'"
        ):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, metric="p_value")
        with pytest.raises(ValueError, match="greater_is_better is None, but it must be True"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, metric=lambda *_: 0.0)

    def test_progress_bar_counts_the_fits(self, capsys):
        X, y, s = biased_data(200)
        fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, target=0.01, progress=True)
        assert "1it" in capsys.readouterr().err

    def test_threshold_tuning_and_calibration_estimators_are_supported(self):
        (X, y, s), _ = held_out(1200)
        with sklearn.config_context(enable_metadata_routing=True):
            inner = RenyiClassifier(on="score").set_fit_request(sensitive_features=True)
            tuned = TunedThresholdClassifierCV(inner, scoring="f1", thresholds=20, cv=2)
            fitted = fit_to_target(tuned, X, y, sensitive_features=s, target=0.7, max_lam=20)
            calibrated = CalibratedClassifierCV(make_pipeline(StandardScaler(), inner), cv=2)
            calibrated = fit_to_target(
                calibrated, X, y, sensitive_features=s, target=0.7, max_lam=20
            )
        for model in (fitted, calibrated):
            assert demographic_parity_ratio(None, model.predict(X), sensitive_features=s) >= 0.7
        assert fitted.best_threshold_ != 0.5
        at_half = fitted.estimator_.predict(X)
        assert not np.array_equal(at_half, fitted.predict(X))


class TestConfidence:
    @pytest.mark.parametrize(
        ("metric", "function", "target"),
        [
            ("demographic_parity_ratio", demographic_parity_ratio, 0.8),
            ("demographic_parity_difference", demographic_parity_difference, 0.08),
        ],
    )
    def test_lam_is_the_last_of_the_sequence_whose_bound_meets_the_target(
        self, metric, function, target
    ):
        (X, y, s), new = held_out()
        confident = fit_to_target(
            RenyiClassifier(tol=1e-8),
            X,
            y,
            sensitive_features=s,
            metric=metric,
            target=target,
            validation=new,
            confidence=0.9,
        )
        sign = 1 if metric == "demographic_parity_ratio" else -1

        def bound(lam):
            clf = RenyiClassifier(lam, tol=1e-8).fit(X, y, sensitive_features=s)
            ends = fairness_interval(
                metric,
                new[1],
                clf.predict(new[0]),
                sensitive_features=new[2],
                confidence_level=0.8,
                random_state=0,
            )
            return ends.low if sign == 1 else ends.high

        assert sign * bound(confident.lam) >= sign * target
        assert sign * bound(confident.lam / 2**0.5) < sign * target
        # The sequence starts at the fairest lam on the training rows, 0.1 times a power of 2.
        on_fit = {
            lam: sign
            * function(
                None,
                RenyiClassifier(lam, tol=1e-8).fit(X, y, sensitive_features=s).predict(X),
                sensitive_features=s,
            )
            for lam in 0.1 * 2.0 ** np.arange(12)
        }
        start = max(on_fit, key=on_fit.get)
        steps = np.log(start / confident.lam) / np.log(2**0.5)
        assert steps == pytest.approx(round(steps), abs=1e-6)
        assert confident.lam <= start

    def test_higher_confidence_requires_a_larger_lam(self):
        (X, y, s), new = held_out()
        lams = [
            fit_to_target(
                RenyiClassifier(), X, y, sensitive_features=s, validation=new, confidence=level
            ).lam
            for level in (None, 0.75, 0.99)
        ]
        assert lams[0] < lams[1] < lams[2]

    def test_stated_confidence_holds_in_repeated_samples(self):
        # The ratio of the two groups' rates in the population is known for each lam.
        kept = named = 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            y, s = rng.integers(2, size=(2, 1500))
            X = np.zeros((1500, 1))
            try:
                confident = fit_to_target(
                    Lottery(seed=seed),
                    X,
                    y,
                    sensitive_features=s,
                    validation=(s[:, None], y, s),
                    confidence=0.9,
                    max_lam=64,
                )
            except TargetNotReachedError:
                continue
            named += 1
            kept += confident.true_p() >= 0.8
        assert named >= 20
        assert kept >= 0.85 * named

    def test_insufficient_rows_for_a_guarantee_raise(self):
        (X, y, s), new = held_out()
        few = tuple(part[:60] for part in new)
        with pytest.raises(
            TargetNotReachedError, match="cannot be guaranteed with this confidence"
        ) as caught:
            fit_to_target(
                RenyiClassifier(), X, y, sensitive_features=s, validation=few, confidence=0.95
            )
        assert_remedies_keep_the_guarantee(str(caught.value), "Hold out more rows", "max_lam")

    def test_unpenalized_model_may_meet_the_target(self):
        (X, y, s), new = held_out()
        clf = fit_to_target(
            RenyiClassifier(),
            X,
            y,
            sensitive_features=s,
            target=0.02,
            validation=new,
            confidence=0.9,
        )
        assert clf.lam == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"confidence": 0.9}, "confidence needs rows that were not used in the fit"),
            ({"confidence": 90, "validation": "new"}, "confidence must be a number from 0.75 to"),
            ({"confidence": 0.5, "validation": "new"}, "confidence must be a number from 0.75 to"),
            (
                {
                    "confidence": 0.9,
                    "validation": "new",
                    "metric": lambda *_, **__: 0.0,
                    "target": 0.1,
                    "greater_is_better": True,
                },
                "confidence needs a metric with a known interval",
            ),
            ({"confidence": 0.9, "validation": "weighted"}, "rows of equal weight"),
        ],
    )
    def test_missing_requirements_raise(self, options, message):
        (X, y, s), new = held_out(400)
        options = dict(options)
        if options.get("validation") == "new":
            options["validation"] = new
        elif options.get("validation") == "weighted":
            options["validation"] = (*new, np.ones(200))
        with pytest.raises(ValueError, match=message):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, **options)


class Lottery(ClassifierMixin, BaseEstimator):
    """Selects samples at random, group 1 at a higher rate; lam brings the two rates together.

    On validation rows, whose only feature is the group, the decisions are independent draws, so
    the ratio of the rates has the sampling error that it has in real data.
    """

    def __init__(self, lam=1.0, seed=0):
        self.lam = lam
        self.seed = seed

    def true_p(self):
        return 1 - 0.7 / (1 + self.lam)

    def fit(self, X, y, *, sensitive_features):
        self.classes_ = np.array([0, 1])
        self.s_ = sensitive_features
        return self

    def predict(self, X):
        s = X[:, 0] if X.any() else self.s_
        # Common random numbers make decisions for neighboring lams similar, as in real models.
        u = np.random.default_rng([self.seed, int(X.any())]).random(len(X))
        return (u < 0.3 * np.where(s == 1, 1.0, self.true_p())).astype(int)


class TestCrossValidation:
    lams = (0, 0.5, 1, 2, 4, 8)

    def test_the_results_use_out_of_fold_decisions(self):
        X, y, s = biased_data(600, seed=7)
        clf = RenyiClassifierCV(lams=self.lams, target=0.5, cv=KFold(3)).fit(
            X, y, sensitive_features=s
        )
        for lam, fairness, score in zip(
            self.lams, clf.cv_results_["fairness"], clf.cv_results_["score"], strict=True
        ):
            decided = np.empty(600, dtype=int)
            for train, test in KFold(3).split(X):
                one = RenyiClassifier(lam).fit(X[train], y[train], sensitive_features=s[train])
                decided[test] = one.predict(X[test])
            assert fairness == pytest.approx(
                demographic_parity_ratio(None, decided, sensitive_features=s), abs=0.03
            )
            assert score == pytest.approx(np.mean(decided == y), abs=0.01)
        plain = cross_val_predict(LogisticRegression(C=np.inf), X, y, cv=KFold(3))
        assert clf.cv_results_["score"][0] == pytest.approx(np.mean(plain == y), abs=0.005)

    def test_choice_is_the_most_accurate_fair_lam_or_the_smallest(self):
        X, y, s = biased_data(1000, seed=7)
        for scoring in ("accuracy", "neg_log_loss", None):
            clf = RenyiClassifierCV(lams=self.lams, scoring=scoring, target=0.7)
            clf.fit(X, y, sensitive_features=s)
            results = clf.cv_results_
            holds = results["fairness"] >= 0.7
            assert np.array_equal(results["holds"], holds)
            if scoring is None:
                assert clf.lam_ == results["lam"][holds].min()
                assert "score" not in results
            else:
                assert clf.lam_ == results["lam"][holds][results["score"][holds].argmax()]
            refit = RenyiClassifier(clf.lam_).fit(X, y, sensitive_features=s)
            np.testing.assert_allclose(clf.predict_proba(X), refit.predict_proba(X), atol=1e-3)
            assert clf.estimator_.lam == clf.lam_

    def test_accepted_lams_are_contiguous_from_the_fairest_down(self):
        X, y, s = biased_data(3000, seed=7)
        clf = RenyiClassifierCV(confidence=0.9).fit(X, y, sensitive_features=s)
        results = clf.cv_results_
        assert np.all(results["bound"] <= results["fairness"])
        assert np.all(results["bound"][results["holds"]] >= 0.8)
        (held,) = np.flatnonzero(np.diff(np.r_[False, results["holds"], False])).reshape(-1, 2)
        assert held[1] - 1 == results["train_fairness"].argmax()
        assert results["bound"][held[0] - 1] < 0.8
        assert clf.lam_ in results["lam"][results["holds"]]

    def test_violations_must_be_at_most_the_target(self):
        X, y, s = biased_data(3000, seed=7)
        labels = np.array(["no", "yes"])[y]
        clf = RenyiClassifierCV(
            RenyiClassifier(fairness="equal_opportunity"),
            metric="equal_opportunity_difference",
            target=0.1,
            confidence=0.9,
        ).fit(X, labels, sensitive_features=s)
        results = clf.cv_results_
        assert np.all(results["bound"] >= results["fairness"])
        assert np.all(results["bound"][results["holds"]] <= 0.1)
        assert clf.predict(X[:3]).tolist() == clf.estimator_.predict(X[:3]).tolist()

    def test_several_processes_give_the_same_result(self):
        X, y, s = biased_data(400)
        one, two = (
            RenyiClassifierCV(lams=self.lams, target=0.5, n_jobs=n).fit(X, y, sensitive_features=s)
            for n in (None, 2)
        )
        assert one.lam_ == two.lam_
        for name, values in one.cv_results_.items():
            assert np.array_equal(values, two.cv_results_[name])

    def test_integer_cv_stratifies_by_class_and_group(self):
        X, y, s = biased_data(200)
        order = np.lexsort([y, s])
        X, y, s = X[order], y[order], s[order]
        parts = RenyiClassifierCV(cv=4)._parts(X, y, s)
        cells = np.array([np.bincount(2 * s[test] + y[test]) for _, test in parts])
        assert np.ptp(cells, axis=0).max() <= 1
        with pytest.raises(ValueError, match="cv must be a whole number, 2 or more"):
            RenyiClassifierCV(cv=1).fit(X, y, sensitive_features=s)

    def test_pipelines_data_frames_and_routing_are_supported(self):
        X, y, s = biased_data(500, seed=7)
        frame = pd.DataFrame(1000 * X, columns=list("abcd"))
        pipeline = make_pipeline(StandardScaler(), RenyiClassifier())
        model = RenyiClassifierCV(pipeline, lams=[0, 5], target=0.5, cv=3)
        with sklearn.config_context(enable_metadata_routing=True):
            model.set_fit_request(sensitive_features=True)
            scores = cross_validate(
                model,
                frame,
                y,
                cv=StratifiedKFold(2),
                scoring={"fair": fairness_scorer("demographic_parity_ratio"), "right": "accuracy"},
                params={"sensitive_features": pd.Series(s)},
                error_score="raise",
            )
        assert np.all(scores["test_fair"] > 0)
        fitted = clone(model).fit(frame, y, sensitive_features=s)
        assert fitted.feature_names_in_.tolist() == list("abcd")
        assert fitted.estimator_[-1].lam == fitted.lam_
        assert fitted.decision_function(frame).shape == (500,)

    def test_sparse_rows_and_weights_are_supported(self):
        X, y, s = biased_data(400, seed=7)
        weight = np.random.default_rng(0).integers(1, 4, size=400)
        model = RenyiClassifierCV(lams=self.lams, target=0.5)
        dense = model.fit(X, y, sensitive_features=s, sample_weight=weight)
        from_sparse = clone(model).fit(
            sparse.csr_array(X), y, sensitive_features=s, sample_weight=weight
        )
        assert dense.lam_ == from_sparse.lam_
        unweighted = clone(model).fit(X, y, sensitive_features=s)
        assert not np.array_equal(
            unweighted.cv_results_["fairness"], dense.cv_results_["fairness"]
        )

    def test_several_classes_need_pos_label(self):
        X, y, s = biased_data(400, n_classes=3)
        with pytest.raises(ValueError, match="pos_label must be the class whose rates"):
            RenyiClassifierCV(lams=[0, 5]).fit(X, y, sensitive_features=s)
        clf = RenyiClassifierCV(lams=[0, 5], target=0.3, pos_label=2)
        clf.fit(X, y, sensitive_features=s)
        assert clf.predict_proba(X).shape == (400, 3)

    def test_fit_without_groups_chooses_lam_zero_and_warns(self):
        X, y, _ = biased_data(200)
        with pytest.warns(NoSensitiveFeaturesWarning, match="without sensitive_features"):
            clf = RenyiClassifierCV().fit(X, y)
        assert clf.lam_ == 0
        assert clf.cv_results_ == {}

    def test_an_unreachable_target_reports_the_best_value(self):
        X, y, s = biased_data(400)
        with pytest.raises(
            TargetNotReachedError, match=r"any value of lams: the best fairness is 0\."
        ):
            RenyiClassifierCV(lams=[0, 0.1], target=1).fit(X, y, sensitive_features=s)
        with pytest.raises(
            TargetNotReachedError,
            match=r"confidence of 0.95, because the first test fails: at lam",
        ) as caught:
            RenyiClassifierCV(lams=[0, 5], target=1, confidence=0.95).fit(
                X, y, sensitive_features=s
            )
        assert_remedies_keep_the_guarantee(str(caught.value), "More rows", "larger lams")

    def test_progress_is_shown_on_demand(self, capsys):
        X, y, s = biased_data(200)
        RenyiClassifierCV(lams=[0], target=0.01, cv=2, progress=True).fit(
            X, y, sensitive_features=s
        )
        assert "2/2" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": 80}, "target must be a number from 0 to 1 .or None., not 80"),
            ({"metric": "p"}, "metric must be one of 'demographic_parity_ratio'"),
            ({"confidence": 2}, "confidence must be a number from 0.75 to"),
            ({"lams": []}, "lams is empty"),
            ({"lams": [-1]}, "each of lams must be a number, 0 or more"),
            ({"estimator": LogisticRegression()}, "LogisticRegression has none"),
            ({"n_jobs": 0}, "n_jobs must be a number of processes or threads"),
        ],
    )
    def test_invalid_arguments_raise(self, options, message):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match=message):
            RenyiClassifierCV(**options).fit(X, y, sensitive_features=s)

    def test_confidence_with_weights_raises(self):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="rows of equal weight"):
            RenyiClassifierCV(confidence=0.9).fit(
                X, y, sensitive_features=s, sample_weight=np.ones(100)
            )


def rare_positives(n=2000, seed=0):
    """About 2 % positive labels, which a plain logistic regression hardly ever predicts."""
    rng = np.random.default_rng(seed)
    s = rng.integers(2, size=n)
    X = rng.normal(size=(n, 2)) + s[:, None]
    return X, (X[:, 0] + 2 * rng.normal(size=n) > 5).astype(int), s


class TestDegenerateModels:
    @pytest.mark.parametrize(
        ("fairness", "metric", "target"),
        [
            ("demographic_parity", "demographic_parity_ratio", None),
            ("demographic_parity", "demographic_parity_difference", 0.05),
            ("equal_opportunity", "equal_opportunity_difference", 0.05),
        ],
    )
    def test_model_that_selects_nobody_is_not_accepted(self, fairness, metric, target):
        X, y, s = rare_positives()
        options = {"sensitive_features": s, "metric": metric, "target": target}
        estimator = RenyiClassifier(fairness=fairness)
        with pytest.raises(TargetNotReachedError, match=r"everybody.*class_weight='balanced'"):
            fit_to_target(estimator, X, y, **options)
        with pytest.warns(
            DegenerateModelWarning, match=r"favorable class for \d\.\d+ % of the rows"
        ):
            nobody = fit_to_target(estimator, X, y, **options, min_selection=0)
        assert nobody.predict(X).mean() < 0.1 * y.mean()

    def test_the_suggested_remedy_gives_a_model_that_selects(self):
        X, y, s = rare_positives()
        balanced = RenyiClassifier(class_weight="balanced")
        fair = fit_to_target(balanced, X, y, sensitive_features=s)
        assert demographic_parity_ratio(None, fair.predict(X), sensitive_features=s) >= 0.8
        assert fair.predict(X).mean() > 0.1

    def test_a_model_that_selects_everybody_is_not_accepted(self):
        X, y, s = rare_positives()
        with pytest.raises(TargetNotReachedError, match="everybody"):
            fit_to_target(RenyiClassifier(), X, 1 - y, sensitive_features=s)

    def test_no_guarantee_is_given_for_a_model_that_selects_nobody(self):
        X, y, s = rare_positives(4000)
        new = X[2000:], y[2000:], s[2000:]
        options = {"sensitive_features": s[:2000], "validation": new, "confidence": 0.9}
        options |= {"metric": "demographic_parity_difference", "target": 0.1}
        with pytest.raises(TargetNotReachedError, match="everybody"):
            fit_to_target(RenyiClassifier(), X[:2000], y[:2000], **options)
        with pytest.warns(DegenerateModelWarning):
            fit_to_target(RenyiClassifier(), X[:2000], y[:2000], **options, min_selection=0)

    def test_cross_validation_does_not_choose_a_degenerate_model(self):
        X, y, s = rare_positives()
        options = {"lams": [0, 30], "metric": "demographic_parity_difference", "target": 0.1}
        with pytest.raises(TargetNotReachedError, match="everybody alike"):
            RenyiClassifierCV(**options).fit(X, y, sensitive_features=s)
        with pytest.warns(DegenerateModelWarning):
            found = RenyiClassifierCV(**options, min_selection=0).fit(X, y, sensitive_features=s)
        assert found.cv_results_["selected"].max() < 0.1 * y.mean()


class Remembering(ClassifierMixin, BaseEstimator):
    """Selects the groups 0 and 1 at given rates, which differ between training rows and new rows.

    The columns of X are a number in [0, 1) that the rate is compared with, and the group. `rates`
    contains, for each lam, the rates on the training rows and on new rows; a lam without an
    entry has the rates of the largest lam below it.
    """

    def __init__(self, rates=None, lam=0.0):
        self.rates = rates
        self.lam = lam

    def fit(self, X, y, *, sensitive_features):
        self.classes_ = np.array([0, 1])
        self.seen_ = X[:, 0]
        return self

    def predict(self, X):
        rates = self.rates[max(lam for lam in self.rates if lam <= self.lam)]
        table = np.array(rates)[1 - np.isin(X[:, 0], self.seen_).astype(int)]
        return (X[:, 0] < table[np.arange(len(X)), X[:, 1].astype(int)]).astype(int)


class TestMessagesAreTrue:
    def data(self, n=4000):
        rng = np.random.default_rng(0)
        s = np.arange(n) % 2
        return np.column_stack([rng.random(n), s]), rng.integers(2, size=n), s

    def test_error_names_the_failed_first_test_although_a_later_bound_is_good(self):
        X, y, s = self.data()
        rates = {
            0: ([0.25, 0.5], [0.2, 0.5]),
            1: ([0.45, 0.5], [0.48, 0.5]),
            2: ([0.5, 0.5], [0.38, 0.5]),
        }
        model = RenyiClassifierCV(Remembering(rates), lams=[0, 1, 2], confidence=0.9, scoring=None)
        with pytest.raises(TargetNotReachedError) as caught:
            model.fit(X, y, sensitive_features=s)
        message = str(caught.value)
        assert "because the first test fails: at lam = 2, " in message
        assert "everybody alike" not in message
        bound = float(re.search(r"the bound is (0\.\d+)", message)[1])
        assert 0.6 < bound < 0.76
        # Without the failed test, lam = 1 is chosen, so its bound does meet the target.
        model.set_params(lams=[0, 1])
        assert model.fit(X, y, sensitive_features=s).lam_ == 1

    def test_error_says_that_the_metric_returned_nan(self):
        X, y, s = biased_data(200)

        def undefined(y_true, y_pred, *, sensitive_features):
            return np.nan

        with pytest.raises(TargetNotReachedError, match="metric returned NaN at lam = "):
            fit_to_target(
                RenyiClassifier(),
                X,
                y,
                sensitive_features=s,
                metric=undefined,
                target=0.1,
                greater_is_better=False,
            )

    @pytest.mark.parametrize("confidence", [None, 0.9])
    def test_error_says_that_only_degenerate_models_meet_the_target(self, confidence):
        X, y, s = self.data()
        rates = {0: ([0.25, 0.5], [0.25, 0.5]), 1: ([0.0, 0.0], [0.0, 0.0])}
        options = {"metric": "demographic_parity_difference", "target": 0.1}
        model = RenyiClassifierCV(
            Remembering(rates), lams=[0, 1], confidence=confidence, scoring=None, **options
        )
        with pytest.raises(
            TargetNotReachedError, match=r"only by models that treat .almost.*lam = 1"
        ):
            model.fit(X, y, sensitive_features=s)

    def test_error_names_a_model_that_is_degenerate_on_the_validation_rows(self):
        X, y, s = self.data(8000)
        rates = {0: ([0.25, 0.5], [0.5, 0.5]), 0.1: ([0.5, 0.5], [0.0, 0.0])}
        options = {
            "sensitive_features": s[:4000],
            "validation": (X[4000:], y[4000:], s[4000:]),
            "metric": "demographic_parity_difference",
            "target": 0.1,
        }
        fit = X[:4000], y[:4000]
        with pytest.raises(
            TargetNotReachedError, match=r"at lam = 0\.1, meets.*everybody"
        ) as caught:
            fit_to_target(Remembering(rates), *fit, **options, confidence=0.9)
        # The plain model is fair on the validation rows and selects half of them.
        assert "only by models" not in str(caught.value)
        assert fit_to_target(Remembering(rates), *fit, **options).lam == 0


class TestTargetAndMetric:
    @pytest.mark.parametrize(
        "metric",
        [
            "demographic_parity_difference",
            "equal_opportunity_difference",
            "equalized_odds_difference",
        ],
    )
    def test_a_difference_has_no_default_target(self, metric):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match=f"target must be given for metric='{metric}'"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, metric=metric)
        with pytest.raises(ValueError, match=f"target must be given for metric='{metric}'"):
            RenyiClassifierCV(metric=metric).fit(X, y, sensitive_features=s)

    @pytest.mark.parametrize(
        ("fairness", "metric", "matches"),
        [
            ("demographic_parity", "demographic_parity_difference", True),
            ("demographic_parity", "equal_opportunity_difference", False),
            ("equal_opportunity", "equal_opportunity_difference", True),
            ("equalized_odds", "equal_opportunity_difference", True),
            ("equal_opportunity", "equalized_odds_difference", False),
            ("equal_opportunity", "demographic_parity_ratio", False),
        ],
    )
    @pytest.mark.parametrize("inside", [False, True])
    def test_a_metric_that_the_estimator_does_not_penalize_warns(
        self, fairness, metric, matches, inside
    ):
        X, y, s = biased_data(200)
        estimator = RenyiClassifier(fairness=fairness)
        estimator = make_pipeline(StandardScaler(), estimator) if inside else estimator
        target = 0.1 if metric == "demographic_parity_ratio" else 0.9
        options = {"metric": metric, "target": target}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit_to_target(estimator, X, y, sensitive_features=s, **options)
            RenyiClassifierCV(estimator, lams=[0], **options).fit(X, y, sensitive_features=s)
        found = [w for w in caught if w.category is MetricMismatchWarning]
        assert len(found) == (0 if matches else 2)
        assert all(f"fairness={fairness!r}" in str(w.message) for w in found)
        assert all(w.filename == __file__ for w in found)


class TestValidation:
    def test_swapped_labels_and_groups_raise(self):
        X, y, s = biased_data(400)
        names = np.array(["f", "m"])[s]
        fit = X[:200], y[:200]
        new = X[200:], names[200:], y[200:]
        with pytest.raises(ValueError, match="swapped: its second entry has the groups"):
            fit_to_target(RenyiClassifier(), *fit, sensitive_features=names[:200], validation=new)

    def test_swapped_columns_with_the_same_labels_are_detected_by_their_counts(self):
        X, y, s = rare_positives(4000)
        fit = {"X": X[:2000], "y": y[:2000], "sensitive_features": s[:2000]}
        options = {"metric": "demographic_parity_difference", "target": 0.9, "min_selection": 0}
        with pytest.raises(ValueError, match="seem to be swapped"):
            fit_to_target(
                RenyiClassifier(), **fit, **options, validation=(X[2000:], s[2000:], y[2000:])
            )
        with pytest.warns(DegenerateModelWarning):
            fit_to_target(
                RenyiClassifier(), **fit, **options, validation=(X[2000:], y[2000:], s[2000:])
            )

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"y": 7}, r"y contains labels unseen in fit: \[7\]; the fit had \[0, 1\]"),
            ({"s": 9}, r"sensitive_features contains labels unseen in fit: \[9\]"),
        ],
    )
    def test_unseen_labels_raise(self, change, words):
        X, y, s = biased_data(400)
        new = {"X": X[200:], "y": y[200:].copy(), "s": s[200:].copy()}
        for name, label in change.items():
            new[name][0] = label
        with pytest.raises(ValueError, match=words):
            fit_to_target(
                RenyiClassifier(),
                X[:200],
                y[:200],
                sensitive_features=s[:200],
                validation=tuple(new.values()),
            )

    @pytest.mark.parametrize("start", [0, 100])
    @pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_array])
    def test_confidence_with_training_rows_raises(self, start, kind):
        X, y, s = biased_data(600)
        new = kind(X[start : start + 400]), y[start : start + 400], s[start : start + 400]
        fit = {"X": kind(X[:400]), "y": y[:400], "sensitive_features": s[:400], "target": 0.2}
        with pytest.raises(ValueError, match=r"about (100|75) % of the validation rows are also"):
            fit_to_target(RenyiClassifier(), **fit, validation=new, confidence=0.9)
        with pytest.warns(UserWarning, match="of the validation rows are also training rows"):
            fit_to_target(RenyiClassifier(), **fit, validation=new)

    def test_coincidentally_equal_rows_do_not_count_as_overlap(self):
        rng = np.random.default_rng(0)
        X, y, s = rng.integers(4, size=(1000, 2)), rng.integers(2, size=1000), np.arange(1000) % 2
        y = ((X[:, 0] + y) > 2).astype(int)
        new = X[500:], y[500:], s[500:]
        fit = {"X": X[:500], "y": y[:500], "sensitive_features": s[:500]}
        model = fit_to_target(RenyiClassifier(), **fit, target=0.5, validation=new, confidence=0.9)
        assert (
            demographic_parity_ratio(None, model.predict(new[0]), sensitive_features=new[2]) >= 0.5
        )


class TestRareGroups:
    def data(self, n=1200):
        rng = np.random.default_rng(3)
        s = rng.choice(["a", "b", "c", "d"], p=[0.5, 0.46, 0.02, 0.02], size=n).astype(object)
        s[:3], s[n // 2 : n // 2 + 3] = "tiny", "tiny"
        X = rng.normal(size=(n, 2)) + (s == "a")[:, None] * [0.5, 0]
        return X, (X.sum(axis=1) + rng.normal(size=n) > 0).astype(int), s

    def test_groups_too_small_for_any_guarantee_raise_before_a_fit(self):
        X, y, s = self.data()
        half = len(y) // 2
        options = {"sensitive_features": s[:half], "confidence": 0.9, "target": 0.5}
        new = X[half:], y[half:], s[half:]
        with pytest.raises(TargetNotReachedError, match=r"'tiny' \(3 rows\).*min_group_size"):
            fit_to_target(NeverFitted(), X[:half], y[:half], **options, validation=new)
        fair = fit_to_target(
            RenyiClassifier(), X[:half], y[:half], **options, validation=new, min_group_size=150
        )
        pooled = np.where(np.isin(new[2], ["a"]), "a", "others")
        assert (
            demographic_parity_ratio(None, fair.predict(new[0]), sensitive_features=pooled) >= 0.5
        )

    def test_a_failed_test_names_the_groups_that_are_the_cause(self):
        X, y, s = self.data(2400)
        half = len(y) // 2
        s = np.where(s == "tiny", "d", s)
        options = {"sensitive_features": s[:half], "confidence": 0.9, "target": 0.75}
        with pytest.raises(TargetNotReachedError) as caught:
            fit_to_target(
                RenyiClassifier(),
                X[:half],
                y[:half],
                **options,
                validation=(X[half:], y[half:], s[half:]),
            )
        assert re.search(r"without '[cd]' \(\d+ rows\), '[cd]'", str(caught.value))

    @pytest.mark.parametrize("confidence", [None, 0.9])
    def test_cross_validation_supports_a_group_of_three(self, confidence):
        X, y, s = self.data(600)
        s[300:303] = "a"
        assert np.sum(s == "tiny") == 3
        options = {"lams": [0, 1, 10], "target": 0.5, "confidence": confidence}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if confidence is not None:
                with pytest.raises(TargetNotReachedError, match=r"'tiny' \(3 rows\)"):
                    RenyiClassifierCV(**options).fit(X, y, sensitive_features=s)
            pooled = RenyiClassifierCV(**options, min_group_size=100)
            pooled.fit(X, y, sensitive_features=s)
        assert pooled.cv_results_["fairness"][pooled.cv_results_["holds"]].min() >= 0.5
        assert set(pooled.estimator_.groups_) == {"a", "b", "c", "d", "tiny"}

    def test_group_without_one_of_the_labels_raises(self):
        X, y, s = self.data(600)
        y[s == "tiny"] = 0
        options = {"metric": "equal_opportunity_difference", "target": 0.2}
        for fit in (
            lambda: fit_to_target(
                RenyiClassifier(fairness="equal_opportunity"),
                X,
                y,
                sensitive_features=s,
                **options,
            ),
            lambda: RenyiClassifierCV(
                RenyiClassifier(fairness="equal_opportunity"), **options
            ).fit(X, y, sensitive_features=s),
        ):
            with pytest.raises(
                ValueError, match=r"no rows of some label for group 'tiny'.*min_group"
            ):
                fit()

    def test_pooling_that_leaves_one_group_raises(self):
        X, y, s = biased_data(100)
        with pytest.raises(ValueError, match="min_group_size=80 leaves only one group"):
            fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, min_group_size=80)

    def test_too_many_folds_for_every_group_raise(self):
        X, y, s = biased_data(40, n_groups=10)
        with pytest.raises(ValueError, match="cv=5 needs at least 5 rows of some group and class"):
            RenyiClassifierCV().fit(X, y, sensitive_features=s)


class NeverFitted(RenyiClassifier):
    """Shows that an argument is rejected before any fit."""

    def _fits_by_lam(self, *_):
        raise AssertionError("the argument should have been rejected before the fit")


class TestRejectedBeforeAnyFit:
    def test_selection_rates_of_regression_and_clustering_raise(self):
        X, _, s = biased_data(100)
        for estimator in (RenyiRegressor(), RenyiKMeans(2)):
            with pytest.raises(ValueError, match="compares the decisions of a classifier"):
                fit_to_target(estimator, X, X[:, 0], sensitive_features=s)
        chosen = fit_to_target(
            RenyiRegressor(kind="discrete"),
            X,
            X[:, 0],
            sensitive_features=s,
            metric=renyi_dependence,
            greater_is_better=False,
            target=0.2,
        )
        assert renyi_dependence(None, chosen.predict(X), sensitive_features=s) <= 0.2

    def test_pipeline_with_files_raises(self, tmp_path):
        X, y, s = biased_data(100)
        frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, s=s)
        frame.to_parquet(tmp_path / "rows.parquet")
        rows = ParquetRows(str(tmp_path / "rows.parquet"))
        pipeline = make_pipeline(StandardScaler(), RenyiClassifier())
        with pytest.raises(ValueError, match="Pipeline needs X in memory, but X is ParquetRows"):
            fit_to_target(pipeline, rows, "y", sensitive_features="s")
        with pytest.raises(ValueError, match="y must be the name of a Parquet column"):
            fit_to_target(NeverFitted(), rows, y, sensitive_features="s")
        with pytest.raises(ValueError, match="no column 'z'"):
            fit_to_target(NeverFitted(), rows, "y", sensitive_features="z")


def test_dask_collections_give_the_same_target_with_text_and_weights():
    dd = pytest.importorskip("dask.dataframe")
    X, y, s = biased_data(400)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame = frame.assign(y=np.array(["no", "yes"])[y], s=s, w=np.ones(400))
    rows = dd.from_pandas(frame, npartitions=2)
    options = {"sensitive_features": rows["s"], "sample_weight": rows["w"]}
    found = fit_to_target(RenyiClassifier(), rows[list("abcd")], rows["y"], **options)
    expected = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s)
    assert found.lam == pytest.approx(expected.lam, rel=0.05)
