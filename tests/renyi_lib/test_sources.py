"""What is fitted from a source can be predicted, measured and tuned on it, or is refused."""

import numpy as np
import pandas as pd
import pytest

from renyi_lib import (
    PenalizedClassifier,
    RenyiBoostingClassifier,
    RenyiBoostingRegressor,
    RenyiClassifier,
    RenyiClassifierCV,
    RenyiKMeans,
    demographic_parity_ratio,
    fit_to_target,
    lam_path,
)
from renyi_lib.baselines import RenyiNetworkClassifier, ZafarClassifier
from renyi_lib.sources import ArraySource, DaskSource, ParquetRows, Rows, Source, add_up
from tests.renyi_lib.data import biased_data

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")
da = pytest.importorskip("dask.array", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe")

N_ROWS, N_FEATURES = 700, 4
NAMES = [f"x{j}" for j in range(N_FEATURES)]


@pytest.fixture(scope="module")
def frame():
    X, y, s = biased_data(N_ROWS, 2, 2)
    return pd.DataFrame(X, columns=NAMES).assign(
        y=np.where(y, "yes", "no"), s=np.where(s, "f", "m"), w=np.arange(N_ROWS) % 3 + 1.0
    )


@pytest.fixture
def rows(frame, tmp_path, request):
    """X, y, sensitive_features and sample_weight from one of three sources."""
    if request.param == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet")
        return ParquetRows(tmp_path / "rows.parquet", NAMES, chunk_size=90), "y", "s", "w"
    data = dd.from_pandas(frame, npartitions=4) if request.param == "dask" else frame
    return data[NAMES], data["y"], data["s"], data["w"]


def computed(values):
    return np.asarray(values.compute() if hasattr(values, "compute") else values)


every = pytest.mark.parametrize("rows", ["memory", "parquet", "dask"], indirect=True)
outside = pytest.mark.parametrize("rows", ["parquet", "dask"], indirect=True)


@every
def test_predictions_and_the_penalty_are_those_in_memory(rows, frame):
    X, y, s, w = rows
    clf = RenyiClassifier(2, tol=1e-8).fit(X, y, sensitive_features=s, sample_weight=w)
    expected = RenyiClassifier(2, tol=1e-8).fit(
        frame[NAMES], frame["y"], sensitive_features=frame["s"], sample_weight=frame["w"]
    )
    np.testing.assert_allclose(clf.coef_, expected.coef_, atol=1e-8)
    assert computed(clf.predict(X)).tolist() == expected.predict(frame[NAMES]).tolist()
    for method in ("predict_proba", "decision_function"):
        found = computed(getattr(clf, method)(X))
        np.testing.assert_allclose(found, getattr(expected, method)(frame[NAMES]), atol=1e-8)
    value = clf.penalty_value(X, y, sensitive_features=s, sample_weight=w)
    assert value == pytest.approx(
        expected.penalty_value(
            frame[NAMES], sensitive_features=frame["s"], sample_weight=frame["w"]
        ),
        abs=1e-10,
    )


@every
def test_a_target_is_reached_with_the_same_lam(rows, frame):
    X, y, s, _ = rows
    options = {"target": 0.7, "pos_label": "yes"}
    clf = fit_to_target(RenyiClassifier(), X, y, sensitive_features=s, **options)
    predicted = pd.Series(computed(clf.predict(X)))
    assert (
        demographic_parity_ratio(None, predicted, sensitive_features=frame["s"], pos_label="yes")
        >= 0.7
    )
    assert clf.lam > 0
    expected = fit_to_target(
        RenyiClassifier(), frame[NAMES], frame["y"], sensitive_features=frame["s"], **options
    )
    assert clf.lam == pytest.approx(expected.lam, rel=1e-3)


@outside
def test_a_path_can_be_fitted(rows):
    X, y, s, _ = rows
    path = lam_path(RenyiClassifier(), X, y, lams=[0, 10], sensitive_features=s)
    values = [clf.penalty_value(X, y, sensitive_features=s) for clf in path]
    assert values[1] < values[0] / 5


@outside
@pytest.mark.parametrize(
    "estimator",
    [
        RenyiBoostingClassifier(),
        RenyiBoostingRegressor(),
        RenyiKMeans(2),
        RenyiNetworkClassifier(),
        ZafarClassifier(),
        RenyiClassifierCV(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_that_need_memory_raise_before_any_work(rows, estimator):
    X, y, s, _ = rows
    with pytest.raises(ValueError, match=rf"{type(estimator).__name__} needs X in memory"):
        estimator.fit(X, y, sensitive_features=s)


@outside
def test_the_penalty_of_rows_raises(rows, frame):
    X, y, s, _ = rows
    clf = RenyiClassifier(on="score").fit(frame[NAMES], frame["y"], sensitive_features=frame["s"])
    with pytest.raises(ValueError, match="depends on the probabilities of single rows"):
        clf.penalty_value(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match=r"single rows|on=.score."):
        PenalizedClassifier(on="score").fit(X, y, sensitive_features=s)


def test_columns_of_files_are_read_by_name(frame, tmp_path):
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet")
    files = ParquetRows(tmp_path / "rows.parquet", NAMES)
    y, several, nothing = files.labels("y", ["s", "w"], None)
    assert y.tolist() == frame["y"].tolist()
    assert several["s"].tolist() == frame["s"].tolist()
    assert nothing is None
    with pytest.raises(ValueError, match="no column 'age'"):
        files.labels("age")
    blocks = list(files.chunks_of(NAMES[:2]))
    np.testing.assert_allclose(pd.concat(blocks), frame[NAMES[:2]])


def test_total_adds_up_over_every_kind_of_source():
    X = np.arange(12.0).reshape(6, 2)
    parts = [Rows(X[:4], [0] * 4), Rows(X[4:], [1] * 2)]
    sources = [
        Source(lambda: iter(parts)),
        ArraySource(X, np.zeros(6, dtype=np.uint8)),
        DaskSource(X=da.from_array(X, (4, 2)), y=da.zeros(6, chunks=4)),
    ]
    for source in sources:
        np.testing.assert_allclose(source.total(lambda rows: rows.X.sum(axis=0)), X.sum(axis=0))
        assert source.n_passes == 1
    assert add_up(iter([])) is None
