"""Fairness measures work in scikit-learn's model selection and in fairlearn's MetricFrame."""

import numpy as np
import pytest
import sklearn
from fairlearn.metrics import MetricFrame
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from renyi_lib import (
    RenyiClassifier,
    demographic_parity_ratio,
    fairness_scorer,
    renyi_correlation,
)
from renyi_lib.scorers import SCORERS, renyi_dependence

rng = np.random.default_rng(0)
N = 400
s = rng.integers(2, size=N)
X = rng.normal(size=(N, 2)) + s[:, None]
y = (X[:, 0] + rng.normal(size=N) > 0.5).astype(int)
weight = rng.integers(1, 4, size=N)


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("name", SCORERS)
def test_scorers_have_the_sign_that_makes_greater_better(name):
    model = LogisticRegression().fit(X, y)
    measure, greater_is_better, response = SCORERS[name]
    predicted = model.predict(X) if response == "predict" else model.predict_proba(X)[:, 1]
    for weights in ({}, {"sample_weight": weight}):
        value = measure(y, predicted, sensitive_features=s, **weights)
        score = fairness_scorer(name)(model, X, y, sensitive_features=s, **weights)
        assert score == pytest.approx(value if greater_is_better else -value, abs=1e-12)
        assert 0.01 < abs(score) < 1
        assert (score < 0) == name.startswith("neg_")


@pytest.mark.usefixtures("_routing")
def test_a_grid_search_over_a_pipeline_finds_the_fairest_lam():
    model = make_pipeline(
        StandardScaler(), RenyiClassifier().set_fit_request(sensitive_features=True)
    )
    search = GridSearchCV(
        model,
        {"renyiclassifier__lam": [0.0, 0.3, 30.0]},
        scoring=fairness_scorer("neg_demographic_parity_difference"),
        cv=3,
    ).fit(X, y, sensitive_features=s)
    assert search.best_params_["renyiclassifier__lam"] == 30
    assert np.all(np.diff(search.cv_results_["mean_test_score"]) > 0)


@pytest.mark.usefixtures("_routing")
def test_cross_validation_passes_the_groups_of_each_fold():
    scores = cross_validate(
        LogisticRegression(),
        X,
        y,
        scoring={"fair": fairness_scorer("demographic_parity_ratio")},
        params={"sensitive_features": s},
        cv=4,
        return_estimator=True,
        return_indices=True,
    )
    for model, rows, score in zip(
        scores["estimator"], scores["indices"]["test"], scores["test_fair"]
    ):
        assert score == demographic_parity_ratio(
            y[rows], model.predict(X[rows]), sensitive_features=s[rows]
        )


@pytest.mark.usefixtures("_routing")
def test_cross_validation_passes_the_weights_of_each_fold():
    scores = cross_validate(
        LogisticRegression().set_fit_request(sample_weight=False),
        X,
        y,
        scoring={"fair": fairness_scorer("demographic_parity_ratio")},
        params={"sensitive_features": s, "sample_weight": weight},
        cv=2,
        return_estimator=True,
        return_indices=True,
    )
    for model, rows, score in zip(
        scores["estimator"], scores["indices"]["test"], scores["test_fair"]
    ):
        assert score == demographic_parity_ratio(
            y[rows],
            model.predict(X[rows]),
            sensitive_features=s[rows],
            sample_weight=weight[rows],
        )


@pytest.mark.usefixtures("_routing")
def test_other_labels_need_pos_label():
    names = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X, names)
    scorer = fairness_scorer("demographic_parity_ratio", pos_label="yes")
    expected = demographic_parity_ratio(y, model.predict(X) == "yes", sensitive_features=s)
    assert scorer(model, X, names, sensitive_features=s) == expected
    with pytest.raises(ValueError, match="pass pos_label"):
        fairness_scorer("demographic_parity_ratio")(model, X, names, sensitive_features=s)
    assert fairness_scorer("neg_renyi_decision")(model, X, names, sensitive_features=s) < 0


def test_without_routing_the_error_names_the_remedy():
    with pytest.raises(ValueError, match=r"set_config\(enable_metadata_routing=True\)"):
        fairness_scorer("demographic_parity_ratio")


@pytest.mark.usefixtures("_routing")
def test_unknown_name_error_lists_the_names():
    with pytest.raises(ValueError, match=r"name must be .*'neg_renyi_score'"):
        fairness_scorer("fair")


@pytest.mark.usefixtures("_routing")
def test_scores_of_several_classes_raise():
    model = LogisticRegression().fit(X, rng.integers(3, size=N))
    with pytest.raises(ValueError, match="choose one column"):
        fairness_scorer("neg_renyi_score")(model, X, y, sensitive_features=s)


def test_metrics_work_in_the_metric_frame_of_fairlearn():
    region = rng.integers(3, size=N)
    frame = MetricFrame(
        metrics={"demographic_parity_ratio": demographic_parity_ratio, "renyi": renyi_dependence},
        y_true=y,
        y_pred=y,
        sensitive_features=region,
        sample_params={
            name: {"sensitive_features": s} for name in ("demographic_parity_ratio", "renyi")
        },
    )
    for r in range(3):
        here = region == r
        assert frame.by_group.loc[r, "demographic_parity_ratio"] == demographic_parity_ratio(
            y[here], y[here], sensitive_features=s[here]
        )
        assert frame.by_group.loc[r, "renyi"] == renyi_correlation(y[here], s[here])


def test_weights_of_dependence_equal_repeated_rows():
    times = np.where(s == y, 3, 1)
    repeated = [np.repeat(values, times) for values in (y, s)]
    weighted = renyi_dependence(None, y, sensitive_features=s, sample_weight=times)
    assert weighted == pytest.approx(renyi_correlation(*repeated))
    assert weighted > renyi_correlation(y, s) + 0.1


def test_length_of_unused_true_labels_is_checked():
    with pytest.raises(ValueError, match="y_true has 3 and y_pred has 4"):
        renyi_dependence([1, 0, 1], [1, 0, 1, 0], sensitive_features=[0, 0, 1, 1])
