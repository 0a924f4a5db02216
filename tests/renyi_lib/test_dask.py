"""Dask collections give the results of data in memory and are never gathered."""

import os
import signal
from functools import partial

import numpy as np
import pandas as pd
import pytest

from renyi_lib import (
    RenyiClassifier,
    _collapse,
    difference_interval,
    fairness_report,
    inference,
    joint_table,
    metrics,
    renyi_correlation,
)
from renyi_lib.sources import DaskSource
from tests.renyi_lib.data import biased_data
from tests.renyi_lib.test_cells import fit, same

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def people(n=600, seed=0):
    """A data frame of labels, with weights and probabilities."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m", "x"], size=n, p=[0.5, 0.4, 0.1])
    job = np.where(rng.random(n) < 0.4, sex, rng.choice(["baker", "clerk", "f"], size=n))
    score = np.clip(rng.normal(0.4 + 0.2 * (sex == "m"), 0.2), 0, 1)
    return pd.DataFrame(
        {
            "sex": sex,
            "job": job,
            "old": rng.integers(2, size=n),
            "score": score,
            "hired": (score > 0.5).astype(int),
            "truth": (rng.random(n) < score).astype(int),
            "weight": rng.integers(0, 4, size=n).astype(float),
        }
    )


def parted(frame, n_parts=5):
    return dd.from_pandas(frame, npartitions=n_parts)


@pytest.fixture
def never_gathered(monkeypatch):
    """Fail if a Dask collection is turned into an array or a frame as a whole."""

    def refuse(self, *arguments, **options):
        raise AssertionError("a Dask collection was gathered")

    for kind in (da.Array, dd.Series, dd.DataFrame):
        monkeypatch.setattr(kind, "__array__", refuse)
        monkeypatch.setattr(kind, "compute", refuse)


# --- Tables, correlation, tests ------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("a", ["job", ["job", "old"]])
def test_table_of_partitions_matches_the_table_in_memory(a, weight, never_gathered):
    frame = people()
    parts = parted(frame)
    of_all = None if weight is None else frame[weight]
    of_parts = None if weight is None else parts[weight]
    expected = joint_table(frame[a], frame["sex"], sample_weight=of_all)
    assert joint_table(parts[a], parts["sex"], sample_weight=of_parts) == expected


def test_missing_levels_and_empty_partitions_are_supported(never_gathered):
    frame = people().sort_values(["sex", "job"], ignore_index=True)
    parts = parted(frame, 8)
    assert joint_table(parts["job"], parts["sex"]) == joint_table(frame["job"], frame["sex"])
    few = parts[parts["sex"] == "x"]
    assert joint_table(few["job"], few["sex"]) == joint_table(
        *(frame[frame["sex"] == "x"][name] for name in ("job", "sex"))
    )
    none = parts[parts["sex"] == "y"]
    with pytest.raises(ValueError, match="the data are empty"):
        joint_table(none["job"], none["sex"])


def test_arrays_are_rechunked_consistently():
    a, b = np.random.default_rng(0).integers(3, size=(2, 100))
    found = joint_table(da.from_array(a, 30), da.from_array(b, 17))
    assert found == joint_table(a, b)


def test_columns_with_different_partitions_raise():
    a = da.zeros(10, chunks=5, dtype=int)
    with pytest.raises(ValueError, match="a has 10, b has 9"):
        joint_table(a, da.zeros(9, chunks=5, dtype=int))
    with pytest.raises(ValueError, match="b is in memory"):
        joint_table(a, np.zeros(10))
    with pytest.raises(ValueError, match="the same partitions, but a has 5, b has 3"):
        joint_table(parted(people())["sex"], parted(people(), 3)["sex"])


def test_correlation_matches_data_in_memory(never_gathered):
    frame = people()
    parts = parted(frame)
    expected = renyi_correlation(frame["job"], frame["sex"])
    assert renyi_correlation(parts["job"], parts["sex"]) == pytest.approx(expected, abs=1e-12)
    given = renyi_correlation(parts["job"], parts["sex"], given=parts["old"])
    expected = renyi_correlation(frame["job"], frame["sex"], given=frame["old"])
    for found, wanted in zip(given, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("given", [["old", "hired"], ["old"], ["sex", "old", "hired"]])
@pytest.mark.parametrize("a", ["job", ["job", "truth"]])
def test_several_given_columns_are_combined(never_gathered, given, a):
    frame = people()
    parts = parted(frame)
    options = {"kind": "discrete"}
    found = renyi_correlation(parts[a], parts["truth"], given=parts[given], **options)
    expected = renyi_correlation(frame[a], frame["truth"], given=frame[given], **options)
    assert found.values.tolist() == expected.values.tolist()
    np.testing.assert_allclose(found.correlations, expected.correlations, atol=1e-12)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-12)


def test_given_may_be_an_array_of_several_columns():
    a, b, *given = np.random.default_rng(0).integers(2, size=(4, 300))
    given = np.column_stack(given)
    found = renyi_correlation(
        da.from_array(a, 100), da.from_array(b, 100), given=da.from_array(given, (100, 1))
    )
    expected = renyi_correlation(a, b, given=given)
    assert len(found.values) == 4
    np.testing.assert_allclose(found.correlations, expected.correlations, atol=1e-12)


def test_continuous_columns_raise():
    parts = parted(people())
    with pytest.raises(ValueError, match="a looks continuous"):
        renyi_correlation(parts["score"], parts["sex"])
    with pytest.raises(ValueError, match="kind must be"):
        renyi_correlation(parts["score"], parts["sex"], kind="continuous")
    assert renyi_correlation(parts["score"], parts["sex"], kind="discrete") > 0.9


def test_test_and_interval_match_data_in_memory(never_gathered):
    frame = people()
    parts = parted(frame)
    a, b = frame["job"], frame["sex"]
    found = inference.renyi_test(parts["job"], parts["sex"])
    assert found == inference.renyi_test(a, b)
    options = {"random_state": 0, "n_resamples": 1999}
    found = inference.renyi_interval(parts["job"], parts["sex"], **options)
    assert found == inference.renyi_interval(a, b, **options)


@pytest.mark.parametrize("method", ["asymptotic", "permutation"])
@pytest.mark.parametrize("given", ["old", ["old", "hired"]])
def test_test_within_strata_matches_data_in_memory(never_gathered, given, method):
    frame = people()
    parts = parted(frame)
    options = {"method": method, "n_resamples": 499, "random_state": 0}
    found, expected = (
        inference.renyi_test(data["job"], data["sex"], given=data[given], **options)
        for data in (parts, frame)
    )
    assert found.pvalue == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-12)


# --- Measures of fairness ------------------------------------------------------------------------


MEASURES = [
    "demographic_parity_ratio",
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
]


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("prediction", ["hired", "score"])
@pytest.mark.parametrize("groups", ["sex", ["sex", "old"]])
@pytest.mark.parametrize("name", MEASURES)
def test_metrics_match_data_in_memory(name, groups, prediction, weight, never_gathered):
    frame = people()
    parts = parted(frame)

    def measure(data):
        return getattr(metrics, name)(
            data["truth"],
            data[prediction],
            sensitive_features=data[groups],
            sample_weight=None if weight is None else data[weight],
        )

    assert measure(parts) == pytest.approx(measure(frame), abs=1e-12)


def test_rates_of_string_labels_match_data_in_memory(never_gathered):
    frame = people()
    frame["hired"] = np.where(frame["hired"], "yes", "no")
    parts = parted(frame)
    options = {"pos_label": "yes"}
    expected = metrics.group_rates(
        None, frame["hired"], sensitive_features=frame[["sex", "old"]], **options
    )
    found = metrics.group_rates(
        None, parts["hired"], sensitive_features=parts[["sex", "old"]], **options
    )
    pd.testing.assert_series_equal(found, expected)


def test_many_groups_with_equal_decisions_are_accepted():
    frame = pd.DataFrame({"group": np.repeat(np.arange(30), 20), "hired": [0, 1] * 300})
    frame.loc[frame["group"] > 2, "hired"] = 1
    parts = parted(frame)
    found = metrics.demographic_parity_ratio(
        None, parts["hired"], sensitive_features=parts["group"]
    )
    assert found == metrics.demographic_parity_ratio(
        None, frame["hired"], sensitive_features=frame["group"]
    )


def test_metrics_reject_the_same_input_for_dask_as_in_memory():
    parts = parted(people())
    with pytest.raises(ValueError, match="only one group"):
        metrics.demographic_parity_ratio(
            None, parts["hired"], sensitive_features=parts["hired"] * 0
        )
    with pytest.raises(ValueError, match="no label equal to pos_label='z'"):
        metrics.demographic_parity_ratio(
            None, parts["sex"], sensitive_features=parts["old"], pos_label="z"
        )
    with pytest.raises(ValueError, match="must contain labels 0 and 1"):
        metrics.demographic_parity_ratio(None, parts["weight"], sensitive_features=parts["sex"])


@pytest.mark.parametrize("name", MEASURES)
def test_intervals_of_metrics_match_data_in_memory(name, never_gathered):
    frame = people()
    parts = parted(frame)
    options = {"random_state": 0, "n_resamples": 1999}

    def interval(data):
        return inference.fairness_interval(
            name, data["truth"], data["hired"], sensitive_features=data["sex"], **options
        )

    assert interval(parts) == interval(frame)


def test_interval_of_a_difference_matches_data_in_memory(never_gathered):
    frame = people()
    frame["later"] = (frame["score"] > 0.4).astype(int)
    found, expected = (
        difference_interval(
            "equalized_odds_difference",
            data["truth"],
            data["hired"],
            data["later"],
            sensitive_features=data["sex"],
            random_state=0,
            n_resamples=1999,
        )
        for data in (parted(frame), frame)
    )
    assert found == expected


def test_interval_of_a_group_without_a_rate_raises():
    frame = people()
    frame.loc[frame["sex"] == "x", "truth"] = 0
    for data in (frame, parted(frame)):
        with pytest.raises(ValueError, match=r"no sample of group x.* has y_true = 1"):
            inference.fairness_interval(
                "equal_opportunity_difference",
                data["truth"],
                data["hired"],
                sensitive_features=data["sex"],
            )


def test_an_interval_needs_two_groups():
    frame = people()
    for data in (frame, parted(frame)):
        with pytest.raises(ValueError, match=r"sensitive_features .*only one group"):
            inference.fairness_interval(
                "demographic_parity_difference",
                None,
                data["hired"],
                sensitive_features=data["old"] * 0,
            )


def test_interval_of_probabilities_raises():
    parts = parted(people())
    with pytest.raises(ValueError, match="not probabilities"):
        inference.fairness_interval(
            "demographic_parity_ratio", None, parts["score"], sensitive_features=parts["sex"]
        )


def test_report_matches_data_in_memory(never_gathered):
    frame = people(2000)
    frame["score"] = frame["score"].round(2)
    parts = parted(frame)
    expected = fairness_report(frame["truth"], frame["score"], frame[["sex", "old"]])
    found = fairness_report(parts["truth"], parts["score"], parts[["sex", "old"]])
    for name in ("by_group", "measures", "by_threshold"):
        pd.testing.assert_frame_equal(
            getattr(found, name), getattr(expected, name), check_exact=False, atol=1e-12
        )
    assert found.verdict == expected.verdict


def test_report_of_dask_collections_with_weights_raises():
    frame = people(200)
    parts = parted(frame.assign(score=frame["score"].round(2)))
    with pytest.raises(ValueError, match="sample_weight is not supported for Dask"):
        fairness_report(parts["truth"], parts["score"], parts["sex"], sample_weight=np.ones(200))


def test_too_many_distinct_scores_raise(monkeypatch):
    monkeypatch.setattr(_collapse, "MAX_SCORES", 1000)
    parts = parted(people(2000))
    with pytest.raises(ValueError, match=r"too many to count: round it"):
        fairness_report(parts["truth"], parts["score"], parts["sex"])


# --- Classifiers ---------------------------------------------------------------------------------


def dask_chunks(X, y, s, w=None, size=130):
    columns = {"X": X, "y": y, "sensitive_features": s, "sample_weight": w}
    found = {
        name: da.from_array(values, chunks=(size, 3) if values.ndim > 1 else size)
        for name, values in columns.items()
        if values is not None
    }
    return DaskSource(**found)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fit_of_dask_arrays_matches_the_fit_in_memory(n_classes, never_gathered):
    X, y, s = biased_data(600, n_classes)
    w = np.random.default_rng(0).integers(0, 3, size=600).astype(float)
    options = {"lam": 2.0, "tol": 1e-7}
    expected = RenyiClassifier(**options).fit(X, y, sensitive_features=s, sample_weight=w)
    same(fit(RenyiClassifier(**options), dask_chunks(X, y, s, w)), expected)


def test_fit_of_a_dask_data_frame_matches_the_fit_in_memory(never_gathered):
    X, y, s = biased_data(600)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, s=np.where(s, "f", "m"))
    parts = parted(frame)
    names = list("abcd")
    found = RenyiClassifier(2.0, tol=1e-7).fit(
        parts[names], parts["y"], sensitive_features=parts["s"]
    )
    expected = RenyiClassifier(2.0, tol=1e-7).fit(
        frame[names], frame["y"], sensitive_features=frame["s"]
    )
    same(found, expected)
    assert found.feature_names_in_.tolist() == names


# Dask itself uses the pandas keyword that this warning is about.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_columns_of_one_file_are_read_once(tmp_path, monkeypatch):
    X, y, s = biased_data(600, n_features=20)
    names = [f"x{j}" for j in range(20)]
    frame = pd.DataFrame(X, columns=names).assign(y=y, s=s)
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=50)
    parts = dd.read_parquet(tmp_path / "people.parquet", split_row_groups=True)
    # Dask may give narrow columns fewer partitions if each collection is optimized separately.
    assert len(parts["y"].to_delayed()) < len(parts[names].to_delayed()) == 12
    found = RenyiClassifier(2.0, tol=1e-7).fit(
        parts[names], parts["y"], sensitive_features=parts["s"]
    )
    same(found, RenyiClassifier(2.0, tol=1e-7).fit(frame[names], y, sensitive_features=s))
    with pytest.raises(ValueError, match="the same partitions, but X has"):
        DaskSource(X=parts[names].to_dask_array(), y=parts["y"])
    graph = dict(dask.delayed(DaskSource(X=parts[names], y=parts["y"]).parts).dask)
    read = {key for key in graph if "read" in str(key) and "parquet" in str(key)}
    assert len(read) == 12


def test_no_task_sees_more_than_a_partition():
    X, y, s = biased_data(600)
    sizes = []

    def seen(block):
        sizes.append(len(block))
        return block

    X = da.from_array(X, chunks=(100, 4)).map_blocks(seen, meta=np.empty((0, 4)))
    columns = {"y": da.from_array(y, 100), "sensitive_features": da.from_array(s, 100)}
    chunks = DaskSource(X=X, **columns)
    fit(RenyiClassifier(2.0), chunks)
    assert set(sizes) == {100}
    # A pass computes each partition once.
    assert len(sizes) == 6 * chunks.n_passes


def test_predictions_stay_dask_collections():
    X, y, s = biased_data(300)
    y = np.array(["no", "yes"])[y]
    assert_equal = partial(np.testing.assert_allclose, rtol=1e-12)
    clf = RenyiClassifier(1.0).fit(X, y, sensitive_features=s)
    blocks = da.from_array(X, chunks=(100, 2))
    assert clf.predict(blocks).compute().tolist() == clf.predict(X).tolist()
    assert_equal(clf.predict_proba(blocks), clf.predict_proba(X))
    scores = clf.decision_function(blocks)
    assert_equal(scores, clf.decision_function(X))
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = RenyiClassifier(1.0).fit(frame, y, sensitive_features=s)
    parts = parted(frame)
    assert clf.predict(parts).compute().tolist() == clf.predict(frame).tolist()
    found = clf.predict_proba(parts).compute()
    assert found.columns.tolist() == ["no", "yes"]
    assert_equal(found, clf.predict_proba(frame))


# --- A cluster -----------------------------------------------------------------------------------


def die_once(block, order):
    """Kill the process, but only if the file `order` exists, which is then deleted."""
    try:
        os.remove(order)
    except FileNotFoundError:
        pass
    else:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_failed_worker_loses_no_results(tmp_path):
    distributed_package = pytest.importorskip("distributed", reason="distributed is not installed")
    X, y, s = biased_data(600)
    expected = RenyiClassifier(2.0, tol=1e-7).fit(X, y, sensitive_features=s)
    order = tmp_path / "die"
    blocks = da.from_array(X, chunks=(100, 4)).map_blocks(
        die_once, str(order), meta=np.empty((0, 4))
    )
    chunks = DaskSource(
        X=blocks, y=da.from_array(y, 100), sensitive_features=da.from_array(s, 100)
    )
    total = chunks.total

    def total_with_failure(function, *arguments):
        if chunks.n_passes == 4:
            order.touch()
        return total(function, *arguments)

    chunks.total = total_with_failure
    with (
        dask.config.set(scheduler=None),
        distributed_package.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,  # Any free port, because the default one may be in use.
        distributed_package.Client(cluster),
    ):
        found = fit(RenyiClassifier(2.0, tol=1e-7), chunks)
    assert not order.exists()
    assert chunks.n_passes > 5
    same(found, expected)
