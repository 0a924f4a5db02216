"""Mistaken calls raise an error that names the argument, or warn."""

import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from renyi_lib import (
    JointTable,
    ParquetRows,
    PenalizedClassifier,
    RenyiBoostingClassifier,
    RenyiClassifier,
    RenyiClassifierCV,
    RenyiKMeans,
    RenyiRegressor,
    as_jax,
    continuous_correlation,
    continuous_test,
    demographic_parity_difference,
    demographic_parity_ratio,
    difference_interval,
    equal_opportunity_difference,
    equalized_odds_difference,
    fairness_interval,
    fairness_report,
    fairness_scorer,
    fit_to_target,
    group_rates,
    joint_table,
    lam_path,
    maximal_functions,
    renyi_correlation,
    renyi_interval,
    renyi_test,
)
from renyi_lib.classification import NoSensitiveFeaturesWarning
from renyi_lib.cluster_metrics import balance
from renyi_lib.correlation import (
    SmallSampleWarning,
    renyi_binary,
    renyi_from_joint,
    renyi_from_soft,
)
from renyi_lib.dependence import hsic, normalized_mutual_information, pearson_correlation
from renyi_lib.penalties import BinaryRenyiPenalty
from renyi_lib.scorers import renyi_dependence
from renyi_lib.tuning import DegenerateModelWarning, MetricMismatchWarning

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 2))
y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
s = (X[:, 1] + rng.normal(size=N) > 0).astype(int)
three = rng.integers(3, size=N)
age = 50 + 12 * rng.normal(size=N)
name = [f"person {i}" for i in range(N)]
one = np.zeros(N)
with_missing = np.where(np.arange(N) == 7, np.nan, s)
C = RenyiClassifier

GROUPED = {
    "demographic_parity_ratio": lambda s: demographic_parity_ratio(y, y, sensitive_features=s),
    "demographic_parity_difference": lambda s: demographic_parity_difference(
        y, y, sensitive_features=s
    ),
    "equal_opportunity_difference": lambda s: equal_opportunity_difference(
        y, y, sensitive_features=s
    ),
    "equalized_odds_difference": lambda s: equalized_odds_difference(y, y, sensitive_features=s),
    "balance": lambda s: balance(y, sensitive_features=s),
    "RenyiClassifier": lambda s: RenyiClassifier().fit(X, y, sensitive_features=s),
    "RenyiKMeans": lambda s: RenyiKMeans(2).fit(X, sensitive_features=s),
    "lam_path": lambda s: lam_path(C(), X, y, lams=[0, 1], sensitive_features=s),
    "fit_to_target": lambda s: fit_to_target(C(), X, y, sensitive_features=s),
    "fairness_interval": lambda s: fairness_interval(
        "demographic_parity_ratio", None, y, sensitive_features=s
    ),
    "difference_interval": lambda s: difference_interval(
        "demographic_parity_ratio", None, y, 1 - y, sensitive_features=s
    ),
    "fairness_report": lambda s: fairness_report(y, X[:, 0], s),
}


@pytest.mark.parametrize("call", GROUPED.values(), ids=GROUPED)
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (age, r"sensitive_features looks continuous: it has 300 .*bins"),
        (name, r"sensitive_features has 300 different labels in 300"),
        (one, r"sensitive_features has only one group"),
        (with_missing, r"sensitive_features has a missing value"),
        (s[:-1], r"sensitive_features has 299"),
    ],
    ids=["continuous", "a label for each sample", "one group", "a missing value", "too short"],
)
def test_invalid_groups_raise(call, groups, words):
    with pytest.raises(ValueError, match=words):
        call(groups)


INVALID = {
    # --- dependence
    "a name for each person": (lambda: renyi_correlation(name, s), "^a has 300 different"),
    "whole numbers that never repeat": (lambda: renyi_correlation(np.arange(N), s), "^a has 300"),
    "dates that never repeat": (
        lambda: renyi_correlation(pd.date_range("2020", periods=N), s),
        "^a has 300 different labels",
    ),
    "a missing label": (lambda: renyi_correlation([1, np.nan], [0, 1]), "^a has a missing"),
    "None": (lambda: renyi_correlation(None, [0, 1]), "^a must be one label"),
    "a number": (lambda: renyi_correlation(1, 2), "^a must be one label"),
    "a string": (lambda: renyi_correlation("abc", "abd"), "^a must be one label"),
    "a dictionary": (lambda: renyi_correlation({"x": 1}, [0]), "^a must be one label"),
    "a set": (lambda: renyi_correlation({1, 2}, [0, 1]), "^a must be one label"),
    "a generator": (lambda: renyi_correlation(iter([1, 2]), [0, 1]), "^a must be one label"),
    "a cube": (lambda: renyi_correlation(np.zeros((2, 2, 2)), [0, 1]), "^a must be one label"),
    "ragged rows": (lambda: renyi_correlation([[1], [1, 2]], [0, 1]), "^a is not a list"),
    "empty": (lambda: renyi_correlation([], []), "^a is empty"),
    "unequal lengths": (lambda: renyi_correlation([1, 2, 3], [1, 2]), "a has 3, b has 2"),
    "masked values": (
        lambda: renyi_correlation(np.ma.array([1, 2], mask=[0, 1]), [0, 1]),
        "^a has masked values",
    ),
    "negative weights": (
        lambda: renyi_correlation([0, 1], [0, 1], sample_weight=[-1, 1]),
        "^sample_weight has negative",
    ),
    "text as weights": (
        lambda: renyi_correlation([0, 1], [0, 1], sample_weight=["a", "b"]),
        "^sample_weight must contain numbers",
    ),
    "zero weights": (
        lambda: renyi_correlation([0, 1], [0, 1], sample_weight=[0, 0]),
        "^sample_weight is zero everywhere",
    ),
    "an unknown kind": (lambda: renyi_correlation(y, s, kind="cont"), "^kind must be one of"),
    "three kinds": (lambda: renyi_correlation(y, s, kind=("auto",) * 3), "^kind must be"),
    "text as a continuous variable": (
        lambda: renyi_correlation(["x", "y"] * 9, s[:18], kind="continuous"),
        "^a must contain numbers",
    ),
    "a continuous condition": (
        lambda: renyi_correlation(y, s, given=age),
        "^given looks continuous",
    ),
    "a condition with a label for each sample": (
        lambda: renyi_correlation(y, s, given=name),
        "^given has 300",
    ),
    "infinite values": (
        lambda: continuous_correlation([1.5, np.inf, 2.5], [1, 2, 3]),
        "^a has missing or infinite values",
    ),
    "no functions": (
        lambda: continuous_correlation(age, X[:, 0], max_functions=0),
        "^max_functions must be",
    ),
    "too few permutations": (
        lambda: continuous_test(age, X[:, 0], n_permutations=3),
        "^n_permutations must be",
    ),
    "negative cells": (lambda: renyi_from_joint([[1, -1], [1, 1]]), "^P has negative"),
    "an empty table": (lambda: renyi_from_joint([[0, 0], [0, 0]]), "^P is zero in every cell"),
    "a table of text": (lambda: renyi_from_joint([["a"]]), "^P must be a table of numbers"),
    "a vector for a table": (
        lambda: maximal_functions([1, 2]),
        "^P must be a two-dimensional table",
    ),
    "a missing cell": (
        lambda: maximal_functions([[1, np.nan]]),
        "^P has missing or infinite cells",
    ),
    "soft rows that sum to 0.9": (lambda: renyi_from_soft([[0.5, 0.4]], [0]), "row 0 sums to 0.9"),
    "hard labels for soft labels": (lambda: renyi_from_soft(y, s), "^F must have a row"),
    "a continuous variable for Theorem 2": (lambda: renyi_binary(age, s), "^a looks continuous"),
    "three values for Theorem 2": (
        lambda: renyi_binary(s, three),
        "^b must have at most two values",
    ),
    "text for a Gaussian kernel": (lambda: hsic(["x", "y"], [0, 1]), "^a must contain numbers"),
    "a negative bandwidth": (lambda: hsic(age, s, bandwidth=-1), "^bandwidth must be"),
    "an unknown kernel": (lambda: hsic(age, s, kernel="rbf"), "^kernel must be"),
    "text for Pearson": (
        lambda: pearson_correlation(["x", "y"], [0, 1]),
        "^a must contain numbers",
    ),
    "a missing value for Pearson": (
        lambda: pearson_correlation([1, np.nan], [0, 1]),
        "^a has missing or infinite values",
    ),
    "a continuous variable for mutual information": (
        lambda: normalized_mutual_information(age, s),
        "^a looks continuous",
    ),
    # --- tables
    "damaged JSON": (lambda: JointTable.from_json("{"), "^text is not valid JSON"),
    "text added to numbers": (
        lambda: joint_table([1], [1]) + joint_table(["1"], [1]),
        "^rows has strings in one part of the data",
    ),
    "duplicate levels": (
        lambda: JointTable([[1, 2]], ["x"], ["u", "u"]),
        "^columns contains the label 'u' more than once",
    ),
    # --- inference
    "a test of one column": (lambda: renyi_test(y), "b|two dimensions|table"),
    "a test of fractions": (lambda: renyi_test([[0.5, 0.5], [0.2, 0.8]]), "whole|counts"),
    "a test of continuous variables": (lambda: renyi_test(age, s), "^a looks continuous"),
    "an interval of a constant": (lambda: renyi_interval(one, s), "has only one value"),
    "a confidence of 95": (
        lambda: renyi_interval(y, s, confidence_level=95),
        "^confidence_level must be",
    ),
    "no resamples": (lambda: renyi_interval(y, s, n_resamples=0), "^n_resamples must be"),
    "an unknown measure": (
        lambda: fairness_interval("fair", None, y, sensitive_features=s),
        "^metric must be",
    ),
    "probabilities for decisions": (
        lambda: fairness_interval(
            "demographic_parity_ratio", None, age / 100, sensitive_features=s
        ),
        "^y_pred",
    ),
    # --- measures
    "log-odds for decisions": (
        lambda: demographic_parity_ratio(y, X[:, 0], sensitive_features=s),
        "^y_pred must",
    ),
    "three classes": (
        lambda: demographic_parity_ratio(y, three, sensitive_features=s),
        "^y_pred must",
    ),
    "no groups": (
        lambda: demographic_parity_ratio(y, y, sensitive_features=None),
        "^sensitive_features must be",
    ),
    "true labels without positives": (
        lambda: equal_opportunity_difference(one, y, sensitive_features=s),
        "has y_true = 1, so the rate of this group is undefined",
    ),
    "probabilities for true labels": (
        lambda: equal_opportunity_difference(age / 100, y, sensitive_features=s),
        "^y_true must contain labels 0 and 1",
    ),
    "true labels of another length": (
        lambda: demographic_parity_ratio(y[:-1], y, sensitive_features=s),
        "y_true has 299",
    ),
    "scores of several classes": (
        lambda: renyi_dependence(y, X, sensitive_features=s),
        "choose one column",
    ),
    "a scorer without routing": (
        lambda: fairness_scorer("demographic_parity_ratio"),
        "enable_metadata_routing",
    ),
    # --- estimators and tuning
    "a target for three classes without pos_label": (
        lambda: fit_to_target(C(), X, three, sensitive_features=s),
        "^pos_label must be the class",
    ),
    "a target of 80": (
        lambda: fit_to_target(C(), X, y, sensitive_features=s, target=80),
        r"^target must be a fraction from 0 to 1 \(0.8 for 80 %\)",
    ),
    "a validation without groups": (
        lambda: fit_to_target(C(), X, y, sensitive_features=s, validation=(X, y)),
        "^validation must be",
    ),
    "a path without groups": (
        lambda: lam_path(C(), X, y, lams=[1], sensitive_features=None),
        "^sensitive_features is None",
    ),
    "a negative lam on a path": (
        lambda: lam_path(C(), X, y, lams=[-1], sensitive_features=s),
        "^each of lams must be",
    ),
    "a huge lam": (lambda: C(lam=1e300).fit(X, y, sensitive_features=s), "^lam must be"),
    "a negative lam": (lambda: C(lam=-1).fit(X, y, sensitive_features=s), "^lam must be"),
    "a lam of text": (lambda: C(lam="1").fit(X, y, sensitive_features=s), "^lam must be"),
    "a lam that is not a number": (
        lambda: C(lam=np.nan).fit(X, y, sensitive_features=s),
        "^lam must be",
    ),
    "an unknown fairness": (
        lambda: C(fairness="parity").fit(X, y, sensitive_features=s),
        "^fairness must be one of",
    ),
    "missing values in X": (
        lambda: C().fit(np.where(X > 2, np.nan, X), y, sensitive_features=s),
        "X contains NaN",
    ),
    "a continuous y": (lambda: C().fit(X, age, sensitive_features=s), "continuous"),
    "one class": (lambda: C().fit(X, one, sensitive_features=s), "^y has only one class"),
    "other columns at prediction": (
        lambda: C().fit(X, y, sensitive_features=s).predict(X[:, :1]),
        "X has 1 features",
    ),
    "more clusters than points": (
        lambda: RenyiKMeans(500).fit(X, sensitive_features=s),
        "n_samples=300 should be >= n_clusters=500",
    ),
}


@pytest.mark.parametrize(("call", "words"), INVALID.values(), ids=INVALID)
def test_invalid_input_raises_an_error_that_names_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_independent_continuous_variables_have_a_small_correlation():
    # Counting each value as a label would give 1.
    noise = rng.normal(size=(2, 20, 1000))
    group = rng.integers(2, size=1000)
    assert np.mean([renyi_correlation(a, b) for a, b in zip(*noise)]) < 0.1
    assert np.mean([renyi_correlation(a, group) for a in noise[0]]) < 0.1


def test_correlation_explained_by_chance_warns():
    a, b = rng.integers(10, size=(2, 100))
    with pytest.warns(SmallSampleWarning, match=r"chance alone gives a correlation of about 0\.6"):
        assert renyi_correlation(a, b) > 0.4


@pytest.mark.parametrize(
    ("a", "b", "rho"),
    [
        ([b"x", b"y"], [0, 1], 1),
        ([1, "1", 1, "1"], [0, 1, 0, 1], 1),
        ([1.0, np.inf, 1.0, 2.0], [0, 1, 0, 1], 1),
        ([True, False, True, False], ["u", "v", "v", "u"], 0),
        ([[1], [2], [1], [2]], [0, 1, 0, 1], 1),
        ([5], [7], 0),
    ],
)
def test_unusual_labels_are_accepted(a, b, rho):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renyi_correlation(a, b) == pytest.approx(rho, abs=1e-12)


# --- mistaken calls of all kinds ---

perm = np.random.default_rng(1).permutation(N)
y_series, s_series = pd.Series(y), pd.Series(s)
s_shuffled = s_series.iloc[perm]
frame = pd.DataFrame(X, columns=["a", "b"])
samples = pd.DataFrame({"pred": y, "sex": s})
sex, answer = np.where(s == 1, "m", "f"), np.where(y == 1, "yes", "no")
mask = np.arange(N) < 50
masked = {"X": np.ma.array(X, mask=np.column_stack([mask, mask]))}
masked |= {"y": np.ma.array(y, mask=mask), "s": np.ma.array(s, mask=mask)}
masked["w"] = np.ma.array(np.ones(N), mask=mask)
score = 1 / (1 + np.exp(-X[:, 0] - rng.normal(size=N)))
text = pd.DataFrame({"age": X[:, 0], "job": np.where(X[:, 1] > 0, "clerk", "baker")})
days = pd.DatetimeIndex(["2024-01-31", "2024-02-29", "2024-03-31"])[three]
rare = (np.arange(N) % 33 == 0).astype(int)
grid, coin = np.round(400 * rng.random(3000)) / 400, rng.integers(2, size=3000)
fitted = C().fit(X, y, sensitive_features=s)
half = slice(None, N // 2)
other = X[N // 2 :], y[N // 2 :], s[N // 2 :]
table = joint_table(y, s)
trees = RenyiBoostingClassifier


def to_target(estimator=None, X=X, y=y, s=s, **options):
    estimator = C() if estimator is None else estimator
    return fit_to_target(estimator, X, y, sensitive_features=s, **options)


def cross_validated(estimator=None, X=X, y=y, s=s, **options):
    options = {"lams": [0, 1]} | options
    return RenyiClassifierCV(estimator, **options).fit(X, y, sensitive_features=s)


def parquet_rows():
    folder = Path(tempfile.mkdtemp())
    frame.assign(y=y, s=sex).to_parquet(folder / "rows.parquet")
    return ParquetRows(str(folder / "rows.parquet"))


def dask_rows():
    import dask.dataframe as dd

    rows = dd.from_pandas(frame.assign(y=y, s=sex), npartitions=2)
    return rows[["a", "b"]], rows["y"], rows["s"]


ORDER = "have the same index labels in another order, but rows are matched by position"

# Mistakes in targets, tables of samples, validation rows, the order of rows, masks and labels.
MISTAKES = {
    "a target that only selecting nobody reaches": (
        lambda: to_target(y=rare, metric="demographic_parity_difference", target=0.05),
        "everybody",
    ),
    "a target of equal opportunity that only selecting nobody reaches": (
        lambda: to_target(
            C(fairness="equal_opportunity"),
            y=rare,
            metric="equal_opportunity_difference",
            target=0.05,
        ),
        "everybody",
    ),
    "such a target in cross-validation": (
        lambda: cross_validated(y=rare, metric="demographic_parity_difference", target=0.05),
        "everybody alike",
    ),
    **{
        f"{metric} without a target, {how.__name__}": (
            partial(how, metric=metric),
            "^target must be given for metric",
        )
        for metric in (
            "demographic_parity_difference",
            "equal_opportunity_difference",
            "equalized_odds_difference",
        )
        for how in (to_target, cross_validated)
    },
    **{
        f"{name} of a matrix of samples, {kind}": (
            partial(call, P),
            "looks like samples, 300 rows",
        )
        for name, call in {
            "renyi_test": renyi_test,
            "renyi_interval": renyi_interval,
            "renyi_from_joint": renyi_from_joint,
            "maximal_functions": maximal_functions,
        }.items()
        for kind, P in {
            "a frame": samples,
            "an array": samples.to_numpy(),
            "text": pd.DataFrame({"pred": answer, "sex": sex}),
            "scores": np.column_stack([score, s]),
        }.items()
    },
    "validation (X, s, y)": (
        lambda: to_target(s=sex, validation=(other[0], sex[N // 2 :], other[1])),
        "swapped",
    ),
    "validation with other labels": (
        lambda: to_target(validation=(other[0], answer[N // 2 :], other[2])),
        "^validation: y contains labels unseen in fit",
    ),
    "validation with other groups": (
        lambda: to_target(validation=(other[0], other[1], sex[N // 2 :])),
        "^validation: sensitive_features contains labels unseen in fit",
    ),
    "confidence with the training rows": (
        lambda: to_target(validation=(X, y, s), confidence=0.9),
        "^confidence needs rows that were not used in the fit, but about 100 % of the validation",
    ),
    "confidence with a copy of the training rows": (
        lambda: to_target(validation=(X.copy(), y, s), confidence=0.9),
        "^confidence needs rows that were not used in the fit, but about 100 % of the validation",
    ),
    "confidence with a part of the training rows": (
        lambda: to_target(
            X=X[:200], y=y[:200], s=s[:200], validation=(X[100:], y[100:], s[100:]), confidence=0.9
        ),
        "but about 50 % of the validation",
    ),
    **{
        f"another order of rows in {name}": (call, ORDER)
        for name, call in {
            "demographic_parity_ratio": lambda: demographic_parity_ratio(
                None, y_series, sensitive_features=s_shuffled
            ),
            "equal_opportunity_difference": lambda: equal_opportunity_difference(
                y_series, y_series.iloc[perm], sensitive_features=s
            ),
            "weights": lambda: demographic_parity_ratio(
                None, y_series, sensitive_features=s, sample_weight=pd.Series(1.0, index=perm)
            ),
            "renyi_correlation": lambda: renyi_correlation(y_series, s_shuffled),
            "joint_table": lambda: joint_table(y_series, s_shuffled),
            "renyi_test": lambda: renyi_test(y_series, s_shuffled),
            "hsic": lambda: hsic(y_series, s_shuffled),
            "pearson": lambda: pearson_correlation(y_series, s_shuffled),
            "information": lambda: normalized_mutual_information(y_series, s_shuffled),
            "continuous": lambda: continuous_correlation(
                frame["a"], s_shuffled, kind=("continuous", "discrete")
            ),
            "balance": lambda: balance(y_series, sensitive_features=s_shuffled),
            "fairness_interval": lambda: fairness_interval(
                "demographic_parity_ratio", None, y_series, sensitive_features=s_shuffled
            ),
            "fairness_report": lambda: fairness_report(y_series, pd.Series(score), s_shuffled),
            "RenyiClassifier, s": lambda: C().fit(frame, y, sensitive_features=s_shuffled),
            "RenyiClassifier, y": lambda: C().fit(
                frame, y_series.iloc[perm], sensitive_features=s
            ),
            "RenyiRegressor": lambda: RenyiRegressor().fit(
                frame, score, sensitive_features=s_shuffled
            ),
            "boosting": lambda: trees().fit(frame, y, sensitive_features=s_shuffled),
            "RenyiKMeans": lambda: RenyiKMeans(2).fit(frame, sensitive_features=s_shuffled),
            "lam_path": lambda: lam_path(C(), frame, y, lams=[0], sensitive_features=s_shuffled),
            "RenyiClassifierCV": lambda: cross_validated(X=frame, s=s_shuffled),
        }.items()
    },
    **{
        f"a mask in {name}": (call, f"^{name.split(' ')[0]} has masked values")
        for name, call in {
            "y_pred": lambda: demographic_parity_ratio(None, masked["y"], sensitive_features=s),
            "y_true": lambda: equal_opportunity_difference(masked["y"], y, sensitive_features=s),
            "y_true that is not used": lambda: demographic_parity_ratio(
                masked["y"], y, sensitive_features=s
            ),
            "sensitive_features": lambda: demographic_parity_ratio(
                None, y, sensitive_features=masked["s"]
            ),
            "sample_weight": lambda: demographic_parity_ratio(
                None, y, sensitive_features=s, sample_weight=masked["w"]
            ),
            "X of a fit": lambda: C().fit(masked["X"], y, sensitive_features=s),
            "y of a fit": lambda: C().fit(X, masked["y"], sensitive_features=s),
            "X of a prediction": lambda: fitted.predict(masked["X"]),
            "X of trees": lambda: trees().fit(masked["X"], y, sensitive_features=s),
            "X of clusters": lambda: RenyiKMeans(2).fit(masked["X"], sensitive_features=s),
            "y of a regression": lambda: RenyiRegressor().fit(
                X, np.ma.array(score, mask=mask), sensitive_features=s
            ),
            "y_score of a report": lambda: fairness_report(y, np.ma.array(score, mask=mask), s),
            "a of hsic": lambda: hsic(np.ma.array(score, mask=mask), y),
            "P of a table": lambda: renyi_from_joint(
                np.ma.array([[4, 1], [1, 4]], mask=[[0, 1], [0, 0]])
            ),
            "F of soft labels": lambda: renyi_from_soft(
                np.ma.array(np.full((2, 2), 0.5), mask=[[0, 1], [0, 0]]), [0, 1]
            ),
        }.items()
    },
    **{
        f"yes and no without pos_label in {name}": (
            call,
            "contains the labels 'no' and 'yes': pass pos_label",
        )
        for name, call in {
            "demographic_parity_ratio": lambda: demographic_parity_ratio(
                None, answer, sensitive_features=s
            ),
            "group_rates": lambda: group_rates(
                None, pd.Series(answer, dtype="category"), sensitive_features=s
            ),
            "equal_opportunity_difference": lambda: equal_opportunity_difference(
                answer, answer, sensitive_features=s
            ),
            "fairness_interval": lambda: fairness_interval(
                "demographic_parity_ratio", None, answer, sensitive_features=s
            ),
            "fairness_report": lambda: fairness_report(answer, score, s),
        }.items()
    },
    "text for trees": (
        lambda: trees().fit(text, y, sensitive_features=s),
        r"column 'job' of X contains text, such as '\w+': .*astype\('category'\)",
    ),
    "an array of text for trees": (
        lambda: trees().fit(text.to_numpy(), y, sensitive_features=s),
        r"column 1 of X contains text, .*astype\('category'\)",
    ),
    "text for a linear model": (
        lambda: C().fit(text, y, sensitive_features=s),
        "column 'job' of X contains text, .*OneHotEncoder",
    ),
    "a misspelled parameter of LightGBM": (
        lambda: trees(backend_params={"min_data_in_leafs": 5}).fit(X, y, sensitive_features=s),
        "which is not a parameter of LightGBM: did you mean 'min_data_in_leaf'",
    ),
    "a misspelled parameter of XGBoost": (
        lambda: trees(backend="xgboost", backend_params={"colsample_bytre": 0.5}).fit(
            X, y, sensitive_features=s
        ),
        "which is not a parameter of XGBoost: did you mean 'colsample_bytree'",
    ),
    "trees on files": (
        lambda: trees().fit(parquet_rows(), "y", sensitive_features="s"),
        "needs X in memory, but X is ParquetRows",
    ),
    "cross-validation on files": (
        lambda: cross_validated(X=parquet_rows(), y="y", s="s"),
        "needs X in memory, but X is ParquetRows",
    ),
    "a pipeline on files": (
        lambda: to_target(make_pipeline(StandardScaler(), C()), parquet_rows(), "y", "s"),
        "Pipeline needs X in memory, but X is ParquetRows",
    ),
    "a pipeline on Dask": (
        lambda: to_target(make_pipeline(StandardScaler(), C()), *dask_rows()),
        "Pipeline needs X in memory, but X is DataFrame",
    ),
    "files with y as an array": (
        lambda: to_target(X=parquet_rows(), y=y, s="s"),
        "^y must be the name of a Parquet column",
    ),
    "files with groups as an array": (
        lambda: C().fit(parquet_rows(), "y", sensitive_features=s),
        "must be column names, not a ndarray",
    ),
    "files without the column of y": (
        lambda: to_target(X=parquet_rows(), y="z", s="s"),
        "the files have no column 'z'",
    ),
    "Dask and an array": (
        lambda: demographic_parity_ratio(None, dask_rows()[1], sensitive_features=s),
        "^sensitive_features is in memory, but other arguments are Dask",
    ),
    "a guarantee with a group of three": (
        lambda: cross_validated(s=np.where(np.arange(N) < 3, 2, s), confidence=0.9),
        r"too few rows to measure: 2 \(3 rows\).*min_group_size",
    ),
    "a target for a regression": (
        lambda: to_target(RenyiRegressor(), y=score),
        "compares the decisions of a classifier, but RenyiRegressor is not one",
    ),
    "a target for clusters": (
        lambda: to_target(RenyiKMeans(2)),
        "compares the decisions of a classifier, but RenyiKMeans is not one",
    ),
    "too few rows for jax": (
        lambda: as_jax(BinaryRenyiPenalty(), s)(np.full((5, 2), 0.5)),
        "F has 5 and the groups have 300",
    ),
    "one column for jax": (
        lambda: as_jax(BinaryRenyiPenalty(), s)(np.full(N, 0.5)),
        "^F must have a row for each sample and a column for each class",
    ),
    "tiny features": (
        lambda: C().fit(1e-200 * X, y, sensitive_features=s),
        "too small for a fit: scale the features",
    ),
    "huge features": (
        lambda: C().fit(1e200 * X, y, sensitive_features=s),
        "too large for a fit: scale the features",
    ),
    "dates as y of a regression": (
        lambda: RenyiRegressor().fit(X, pd.Series(days), sensitive_features=s),
        "^y must contain numbers, but it contains dates",
    ),
    "dates as a feature": (
        lambda: C().fit(pd.DataFrame({"day": days}), y, sensitive_features=s),
        r"^X\['day'\] must contain numbers, but it contains dates",
    ),
    "dates for Pearson": (lambda: pearson_correlation(days, s), "^a must contain numbers, but it"),
}

MORE_MISTAKES = {
    # --- metrics
    "no prediction": (
        lambda: demographic_parity_ratio(y, None, sensitive_features=s),
        "^y_pred must be one",
    ),
    "probabilities of two classes": (
        lambda: demographic_parity_ratio(None, fitted.predict_proba(X), sensitive_features=s),
        r"^y_pred must be one number for each sample, but it has shape \(300, 2\)",
    ),
    "labels -1 and 1": (
        lambda: demographic_parity_ratio(None, 2 * y - 1, sensitive_features=s),
        "^y_pred must contain labels 0 and 1.*from -1 to 1.*pos_label",
    ),
    "labels 1 and 2": (
        lambda: demographic_parity_ratio(None, y + 1, sensitive_features=s),
        "^y_pred must contain labels 0 and 1.*from 1 to 2.*pos_label",
    ),
    "percentages": (
        lambda: demographic_parity_ratio(None, 100 * score, sensitive_features=s),
        "^y_pred must contain",
    ),
    "pos_label in another case": (
        lambda: demographic_parity_ratio(None, answer, sensitive_features=s, pos_label="Yes"),
        "^y_pred has no label equal to pos_label='Yes'",
    ),
    "pos_label of another type": (
        lambda: demographic_parity_ratio(None, answer, sensitive_features=s, pos_label=1),
        "^y_pred has no label equal to pos_label=1",
    ),
    "a missing score": (
        lambda: demographic_parity_ratio(
            None, np.where(score > 0.9, np.nan, score), sensitive_features=s
        ),
        "^y_pred has missing or infinite values",
    ),
    "an infinite score": (
        lambda: demographic_parity_ratio(
            None, np.where(score > 0.9, np.inf, score), sensitive_features=s
        ),
        "^y_pred has missing or infinite values",
    ),
    "a missing value of a nullable type": (
        lambda: demographic_parity_ratio(
            None, y_series.astype("Int64").where(~mask), sensitive_features=s
        ),
        "^y_pred has missing or infinite values",
    ),
    "complex numbers": (
        lambda: demographic_parity_ratio(None, y + 0j, sensitive_features=s),
        "real numbers",
    ),
    "dates for decisions": (
        lambda: demographic_parity_ratio(None, days, sensitive_features=s),
        "contains dates",
    ),
    "groups as a dictionary": (
        lambda: demographic_parity_ratio(None, y, sensitive_features={"sex": s}),
        "^sensitive_features must be one label",
    ),
    "the name of a column as groups": (
        lambda: demographic_parity_ratio(None, y, sensitive_features="sex"),
        "^sensitive_features must be one label",
    ),
    "None among the groups": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=[None, *sex[1:]]),
        "^sensitive_features has a missing value .* position 0",
    ),
    "a sparse column of groups": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=sparse.csr_array(s[:, None])),
        "^sensitive_features is a sparse matrix.*toarray",
    ),
    "too few weights": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=s, sample_weight=[1, 2]),
        "sample_weight has 2",
    ),
    "one weight": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=s, sample_weight=2.0),
        "^sample_weight must be one number for each sample",
    ),
    "text for weights": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=s, sample_weight="balanced"),
        "^sample_weight must contain numbers",
    ),
    "weights that leave one group": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=s, sample_weight=s),
        "^sensitive_features has only one group",
    ),
    "no samples": (
        lambda: demographic_parity_ratio([], [], sensitive_features=[]),
        "^y_pred is empty",
    ),
    "equal opportunity without true labels": (
        lambda: equal_opportunity_difference(None, y, sensitive_features=s),
        "^y_true must be one",
    ),
    "true labels of three classes": (
        lambda: equal_opportunity_difference(three, y, sensitive_features=s),
        "^y_true must contain labels 0 and 1.*pos_label",
    ),
    "true labels -1 and 1": (
        lambda: equal_opportunity_difference(2 * y - 1, y, sensitive_features=s),
        "^y_true must contain labels 0 and 1.*pos_label",
    ),
    # --- dependence and tables
    "kind of one entry": (lambda: renyi_correlation(y, s, kind=("discrete",)), "^kind must be"),
    "kind None": (lambda: renyi_correlation(y, s, kind=None), "^kind must be one of"),
    "a sparse variable": (
        lambda: renyi_correlation(sparse.csr_array(y[:, None]), s),
        "^a is a sparse matrix",
    ),
    "one variable": (lambda: renyi_correlation(samples, None), "^b must be one label"),
    "a sparse table": (
        lambda: renyi_from_joint(sparse.csr_array([[4, 1], [1, 4]])),
        "^P is a sparse matrix.*toarray",
    ),
    "a table of three dimensions": (lambda: renyi_from_joint(np.ones((2, 2, 2))), "^P must be"),
    "an infinite cell": (
        lambda: renyi_from_joint([[np.inf, 1], [1, 1]]),
        "^P has missing or infinite cells",
    ),
    "log-odds for soft labels": (
        lambda: renyi_from_soft(np.column_stack([-score, score]), s),
        "^F has negative",
    ),
    "percentages for soft labels": (
        lambda: renyi_from_soft(100 * fitted.predict_proba(X), s),
        "sums to 100",
    ),
    "labels for a continuous correlation": (
        lambda: continuous_correlation(y, s, kind="discrete"),
        "means that both variables are labels",
    ),
    "text for a continuous correlation": (
        lambda: continuous_correlation(sex, score),
        "^a must contain numbers",
    ),
    "negative counts": (
        lambda: JointTable([[1, -1]], ["a"], ["u", "v"]),
        "^counts must be finite",
    ),
    "counts of another shape": (
        lambda: JointTable([[1, 2, 3]], ["a"], ["u", "v"]),
        "^counts must have a row for each",
    ),
    "a CSV file for JSON": (lambda: JointTable.from_json("a,b"), "^text is not valid JSON"),
    # --- inference and report
    "a table and a variable": (lambda: renyi_test(table, s), "^a is a table of counts"),
    "strata of a table": (lambda: renyi_test(table, given=s), "^given requires samples"),
    "sums of weights": (
        lambda: renyi_test(joint_table(y, s, sample_weight=np.full(N, 0.3))),
        "^a must contain counts",
    ),
    "a misspelled method": (lambda: renyi_test(y, s, method="exact"), "^method must be one of"),
    "resamples as a float": (lambda: renyi_test(y, s, n_resamples=1e4), "^n_resamples must be"),
    "text as a seed": (lambda: renyi_test(y, s, random_state="a"), "^random_state must be"),
    "an interval of equal opportunity without true labels": (
        lambda: fairness_interval("equal_opportunity_difference", None, y, sensitive_features=s),
        "^y_true is None",
    ),
    "a custom function for an interval": (
        lambda: fairness_interval(lambda *_: 0, None, y, sensitive_features=s),
        "^metric must be one of",
    ),
    "true labels and scores exchanged": (
        lambda: fairness_report(score, y, s),
        "^y_true must contain labels 0 and 1",
    ),
    "a threshold of 50": (
        lambda: fairness_report(y, score, s, threshold=50),
        "^threshold=50 selects nobody",
    ),
    "no threshold": (
        lambda: fairness_report(y, score, s, threshold=None),
        "^threshold must be a finite number",
    ),
    "a report of two columns": (
        lambda: fairness_report(y, fitted.predict_proba(X), s),
        "^y_score must be one number for each sample",
    ),
    "a report of text": (lambda: fairness_report(y, sex, s), "^y_score must contain numbers"),
    "a misspelled pos_label of a report": (
        lambda: fairness_report(answer, score, s, pos_label="YES"),
        "^y_true has no label equal",
    ),
    "a group size of 0": (
        lambda: fairness_report(y, score, s, min_group_size=0),
        "^min_group_size must be",
    ),
    # --- estimators
    "two columns for y": (
        lambda: C().fit(X, np.column_stack([y, 1 - y]), sensitive_features=s),
        "y should be a 1d array",
    ),
    "no y": (lambda: C().fit(X, None, sensitive_features=s), "requires y to be passed"),
    "one feature as a vector": (
        lambda: C().fit(X[:, 0], y, sensitive_features=s),
        "Expected 2D array, got 1D",
    ),
    "a shorter y": (
        lambda: C().fit(X, y[:-1], sensitive_features=s),
        "inconsistent numbers of samples",
    ),
    "an infinite feature": (
        lambda: C().fit(np.where(X > 2, np.inf, X), y, sensitive_features=s),
        "X contains infinity",
    ),
    "an unknown value of on": (
        lambda: C(on="scores").fit(X, y, sensitive_features=s),
        "^on must be one",
    ),
    "a score of three classes": (
        lambda: C(on="score").fit(X, three, sensitive_features=s),
        "^on='score' needs two classes",
    ),
    "an unknown pos_label": (
        lambda: C(fairness="equal_opportunity", pos_label="yes").fit(X, y, sensitive_features=s),
        "^pos_label must be one of the classes",
    ),
    "a misspelled class_weight": (
        lambda: C(class_weight="balance").fit(X, y, sensitive_features=s),
        "^class_weight must be",
    ),
    "a weight of an unknown class": (
        lambda: C(class_weight={2: 1.0}).fit(X, y, sensitive_features=s),
        "^class_weight contains 2, which is not a class",
    ),
    "lam None": (lambda: C(lam=None).fit(X, y, sensitive_features=s), "^lam must be"),
    "lam True": (lambda: C(lam=True).fit(X, y, sensitive_features=s), "^lam must be"),
    "two values of lam": (
        lambda: C(lam=np.array([1.0, 2.0])).fit(X, y, sensitive_features=s),
        "^lam must be",
    ),
    "a prediction before the fit": (lambda: C().predict(X), "is not fitted yet"),
    "columns in another order": (
        lambda: C().fit(frame, y, sensitive_features=s).predict(frame[["b", "a"]]),
        "feature names should match",
    ),
    "a prediction with a missing value": (lambda: fitted.predict([[np.nan, 0]]), "X contains NaN"),
    "a conditional penalty without y": (
        lambda: (
            C(fairness="equal_opportunity")
            .fit(X, y, sensitive_features=s)
            .penalty_value(X, sensitive_features=s)
        ),
        "^y is None, but fairness=",
    ),
    "a penalty of new groups": (
        lambda: fitted.penalty_value(X, sensitive_features=sex),
        r"^sensitive_features contains labels unseen in fit: \['f', 'm'\]",
    ),
    "a penalty of new classes": (
        lambda: fitted.penalty_value(X, three, sensitive_features=s),
        r"^y contains labels unseen in fit: \[2\]",
    ),
    "a penalty by name": (
        lambda: PenalizedClassifier("renyi").fit(X, y, sensitive_features=s),
        "^penalty must be a Penalty",
    ),
    "a class for a penalty": (
        lambda: PenalizedClassifier(BinaryRenyiPenalty).fit(X, y, sensitive_features=s),
        "^penalty must be a Penalty",
    ),
    "text as y of a regression": (
        lambda: RenyiRegressor().fit(X, answer, sensitive_features=s),
        "^y must contain numbers",
    ),
    "an unknown backend for trees": (
        lambda: trees(backend="catboost").fit(X, y, sensitive_features=s),
        "^backend must be one of",
    ),
    "a parameter of trees in two places": (
        lambda: trees(backend_params={"num_leaves": 5}).fit(X, y, sensitive_features=s),
        "which the estimator sets itself",
    ),
    "validation that is not used": (
        lambda: trees().fit(X, y, sensitive_features=s, validation=other),
        "set n_iter_no_change",
    ),
    "validation of trees with a new class": (
        lambda: trees(n_iter_no_change=2).fit(
            X, y, sensitive_features=s, validation=(X, three, s)
        ),
        r"^y contains labels unseen in fit: \[2\]",
    ),
    "a fractional number of clusters": (
        lambda: RenyiKMeans(2.5).fit(X, sensitive_features=s),
        "^n_clusters must be a whole number",
    ),
    "clusters with a missing value": (
        lambda: RenyiKMeans(2).fit(np.where(X > 2, np.nan, X), sensitive_features=s),
        "X contains NaN",
    ),
    # --- tuning
    "a target as text": (lambda: to_target(target="80%"), "^target must be a finite number"),
    "a target that is not a number": (
        lambda: to_target(target=np.nan),
        "^target must be a finite",
    ),
    "a misspelled metric": (lambda: to_target(metric="p-rule"), "^metric must be a function or"),
    "a function without a direction": (
        lambda: to_target(metric=demographic_parity_ratio, target=0.8),
        "^greater_is_better is None, but it must be True or False",
    ),
    "a function without a target": (
        lambda: to_target(metric=demographic_parity_ratio, greater_is_better=True),
        "^target must be given for metric='demographic_parity_ratio'",
    ),
    "confidence without other rows": (
        lambda: to_target(confidence=0.9),
        "^confidence needs rows that were not used in the fit",
    ),
    "a confidence of 90": (
        lambda: to_target(confidence=90, validation=other),
        "^confidence must be a number from 0.75",
    ),
    "validation as a dictionary": (
        lambda: to_target(validation={"X": X}),
        "^validation must be .*not a dict",
    ),
    "validation of several lengths": (
        lambda: to_target(validation=(X, y[:-1], s)),
        "^validation: all arguments must have the same number",
    ),
    "an estimator without lam": (
        lambda: to_target(LogisticRegression()),
        "but LogisticRegression has none",
    ),
    "a class for an estimator": (
        lambda: to_target(C),
        "^estimator must be an instance of a scikit-learn estimator",
    ),
    "a max_lam of 0": (lambda: to_target(max_lam=0), "^max_lam must be a positive"),
    "a misspelled pos_label of a target": (
        lambda: to_target(y=answer, pos_label="Yes"),
        "^pos_label must be the class whose rates",
    ),
    "a target without groups": (lambda: to_target(s=None), "^sensitive_features is None"),
    "one lam for a path": (
        lambda: lam_path(C(), X, y, lams=3, sensitive_features=s),
        "^lams must be a sequence of numbers",
    ),
    "one lam for cross-validation": (lambda: cross_validated(lams=3), "^lams must be a sequence"),
    "a path with a missing lam": (
        lambda: lam_path(C(), X, y, lams=[np.nan], sensitive_features=s),
        "^each of lams must be",
    ),
    "one fold": (lambda: cross_validated(cv=1), "^cv must be a whole number, 2 or more"),
    "a function for cross-validation": (
        lambda: cross_validated(metric=demographic_parity_ratio),
        "^metric must be one of",
    ),
    "a misspelled scoring": (
        lambda: cross_validated(scoring="acc", target=0.1),
        "'scoring' parameter",
    ),
}


@pytest.mark.parametrize(("call", "words"), MISTAKES.values(), ids=MISTAKES)
def test_invalid_calls_raise_a_clear_error(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(("call", "words"), MORE_MISTAKES.values(), ids=MORE_MISTAKES)
def test_more_invalid_calls_raise_a_clear_error(call, words):
    with pytest.raises(ValueError, match=words):
        call()


WARNED = {
    "a metric that is not penalized": (
        lambda: to_target(metric="equal_opportunity_difference", target=0.9),
        MetricMismatchWarning,
    ),
    "parity where opportunity is penalized": (
        lambda: to_target(C(fairness="equal_opportunity"), target=0.1),
        MetricMismatchWarning,
    ),
    "such a metric in cross-validation": (
        lambda: cross_validated(metric="equalized_odds_difference", target=0.9),
        MetricMismatchWarning,
    ),
    "nobody selected with min_selection=0": (
        lambda: to_target(
            y=rare, metric="demographic_parity_difference", target=0.05, min_selection=0
        ),
        DegenerateModelWarning,
    ),
    "integer scores that repeat": (
        lambda: renyi_correlation((400 * grid).astype(int), coin),
        SmallSampleWarning,
    ),
    "integer scores that repeat, as a metric": (
        lambda: renyi_dependence(None, (400 * grid).astype(int), sensitive_features=coin),
        SmallSampleWarning,
    ),
    "twenty times twenty values": (
        lambda: renyi_correlation(*rng.integers(20, size=(2, 300))),
        SmallSampleWarning,
    ),
    "a fit without groups": (lambda: C().fit(X, y), NoSensitiveFeaturesWarning),
    "cross-validation without groups": (
        lambda: cross_validated(s=None),
        NoSensitiveFeaturesWarning,
    ),
    "validation with the training rows": (
        lambda: to_target(validation=(X, y, s), target=0.1),
        UserWarning,
    ),
}


@pytest.mark.parametrize(("call", "warning"), WARNED.values(), ids=WARNED)
def test_questionable_calls_warn(call, warning):
    with pytest.warns(warning):
        call()


def routed_score(model, group):
    with sklearn.config_context(enable_metadata_routing=True):
        return fairness_scorer("neg_renyi_score")(model.fit(X, y), X, y, sensitive_features=group)


noise = np.random.default_rng(5).integers(2, size=N)
VALID = {
    "scores with fractions that repeat": (
        lambda: renyi_correlation(grid, coin),
        lambda: renyi_correlation(grid, coin, kind="continuous"),
    ),
    "scores with fractions that repeat, as a metric": (
        lambda: renyi_dependence(None, grid, sensitive_features=coin),
        lambda: renyi_correlation(grid, coin, kind="continuous"),
    ),
    "booleans": (
        lambda: demographic_parity_ratio(None, y == 1, sensitive_features=s),
        lambda: p_of_y,
    ),
    "a tuple": (
        lambda: demographic_parity_ratio(None, tuple(y), sensitive_features=s),
        lambda: p_of_y,
    ),
    "digits as text": (
        lambda: demographic_parity_ratio(None, y.astype(str), sensitive_features=s),
        lambda: p_of_y,
    ),
    "a nullable type": (
        lambda: demographic_parity_ratio(None, y_series.astype("Int64"), sensitive_features=s),
        lambda: p_of_y,
    ),
    "-1 and 1 with pos_label": (
        lambda: demographic_parity_ratio(None, 2 * y - 1, sensitive_features=s, pos_label=1),
        lambda: p_of_y,
    ),
    "groups as floats": (
        lambda: demographic_parity_ratio(None, y, sensitive_features=s.astype(float)),
        lambda: p_of_y,
    ),
    "weights as booleans": (
        lambda: demographic_parity_ratio(
            None, y, sensitive_features=s, sample_weight=np.ones(N, bool)
        ),
        lambda: p_of_y,
    ),
    "indices with other labels": (
        lambda: demographic_parity_ratio(
            None, y_series, sensitive_features=s_series.set_axis(range(1000, 1000 + N))
        ),
        lambda: p_of_y,
    ),
    "predictions and groups in the same new order": (
        lambda: demographic_parity_ratio(None, y_series.iloc[perm], sensitive_features=s_shuffled),
        lambda: p_of_y,
    ),
    "a masked array without masked values": (
        lambda: demographic_parity_ratio(None, np.ma.array(y, mask=False), sensitive_features=s),
        lambda: p_of_y,
    ),
    "the rate of a single group": (
        lambda: group_rates(None, y, sensitive_features=one).iloc[0],
        lambda: y.mean(),
    ),
    "a variable and itself": (lambda: renyi_correlation(y, y), lambda: 1.0),
    "a constant": (lambda: renyi_correlation(one, s), lambda: 0.0),
    "a JointTable": (lambda: renyi_from_joint(table), lambda: rho_of_y),
    "a crosstab": (lambda: renyi_from_joint(pd.crosstab(y, s)), lambda: rho_of_y),
    "a crosstab of many rows": (
        lambda: renyi_from_joint(pd.crosstab(np.arange(N) % 50, s)),
        lambda: renyi_correlation(np.arange(N) % 50, s, kind="discrete"),
    ),
    "a table of booleans": (lambda: renyi_from_joint([[True, False], [False, True]]), lambda: 1.0),
    "hard labels as soft ones": (
        lambda: renyi_from_soft(np.column_stack([1 - y, y]), s),
        lambda: rho_of_y,
    ),
    "Theorem 2 with three values": (
        lambda: renyi_binary(three, s).rho,
        lambda: renyi_correlation(three, s),
    ),
    "months as labels": (
        lambda: renyi_correlation(pd.Series(days).dt.to_period("M"), s),
        lambda: renyi_correlation(three, s),
    ),
    "dates in a table that is saved": (
        lambda: renyi_from_joint(JointTable.from_json(joint_table(days, s).to_json())),
        lambda: renyi_correlation(three, s),
    ),
    "dates in tables that are added": (
        lambda: len((joint_table(days[half], s[half]) + joint_table(days, s)).rows),
        lambda: 3,
    ),
    "an interval by function": (
        lambda: fairness_interval(demographic_parity_ratio, None, y, sensitive_features=s).plugin,
        lambda: p_of_y,
    ),
    "the score of a tree on a random group": (
        lambda: routed_score(DecisionTreeClassifier(max_leaf_nodes=40, random_state=0), noise),
        lambda: 0.0,
    ),
    "the score of a logistic regression on a random group": (
        lambda: routed_score(LogisticRegression(), noise),
        lambda: 0.0,
    ),
    "a prediction from files": (
        lambda: (
            C().fit(parquet_rows(), "y", sensitive_features="s").predict(parquet_rows()).mean()
        ),
        lambda: C().fit(X, y, sensitive_features=sex).predict(X).mean(),
    ),
    "a target from files": (
        lambda: to_target(X=parquet_rows(), y="y", s="s", target=0.5).lam,
        lambda: to_target(s=sex, target=0.5).lam,
    ),
    "a path of a regression": (
        lambda: len(lam_path(RenyiRegressor(), X, score, lams=[0, 1], sensitive_features=s)),
        lambda: 2,
    ),
    "a group of three by cross-validation": (
        lambda: cross_validated(s=np.where(np.arange(N) < 3, 2, s), target=0.0).lam_ >= 0,
        lambda: True,
    ),
    "log-odds named in the report": (
        lambda: "are not probabilities" in fairness_report(y, 5 * X[:, 0], s).verdict,
        lambda: True,
    ),
    "the score of the other class named in the report": (
        lambda: "score of the other class" in fairness_report(y, 1 - score, s).verdict,
        lambda: True,
    ),
    "equal rates in the report": (
        lambda: (
            "is 0.500 in every group"
            in fairness_report([0, 1] * 50, [0.2, 0.9] * 50, ["a"] * 50 + ["b"] * 50).verdict
        ),
        lambda: True,
    ),
}
p_of_y = demographic_parity_ratio(None, y, sensitive_features=s)
rho_of_y = renyi_correlation(y, s)


@pytest.mark.parametrize(("call", "expected"), VALID.values(), ids=VALID)
def test_unusual_but_valid_calls_give_the_correct_result(call, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call() == pytest.approx(expected(), abs=1e-9)
