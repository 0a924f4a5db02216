"""Estimators fitted from a source can predict, be measured and be tuned on it, or they raise."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

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
from renyi_lib.sources import ArraySource, DaskSource, ParquetRows, Rows, Source, add_up, memory
from renyi_lib.sources.features import FeatureBlocks, SumTuple
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
def test_predictions_and_penalty_match_those_in_memory(rows, frame):
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
def test_penalty_of_single_rows_raises(rows, frame):
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


def test_total_sums_over_every_kind_of_source():
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


def test_totals_over_many_partitions_add_up_in_several_stages():
    X, y = np.arange(246.0).reshape(123, 2), np.arange(123)
    frame = dd.from_pandas(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}), npartitions=41)
    for source in (
        DaskSource(X=da.from_array(X, (3, 2)), y=da.from_array(y, 3)),
        DaskSource(X=frame[["a", "b"]], y=frame["y"]),
    ):
        found = source.total(lambda rows, times: times * np.asarray(rows.y) @ rows.X, 2)
        np.testing.assert_allclose(found, 2 * y @ X)
        found = source.total_by_block(lambda rows, part: part * len(rows.y), range(41))
        assert found == 3 * sum(range(41))
        assert source.n_passes == 2


def test_blocks_cover_every_row_once():
    X, cell, weight = np.arange(14.0).reshape(7, 2), np.arange(7), np.arange(7) + 0.5
    source = ArraySource(X, cell, weight, block_size=3)
    blocks = list(source.read())
    assert [len(block.cell) for block in blocks] == [3, 3, 1]
    for name, whole in (("X", X), ("cell", cell), ("weight", weight)):
        np.testing.assert_array_equal(
            np.concatenate([getattr(block, name) for block in blocks]), whole
        )
    for block in blocks:
        np.testing.assert_array_equal(block.X, X[block.rows])
    assert source.in_blocks
    assert not ArraySource(X, cell, block_size=7).in_blocks
    (block,) = ArraySource(X, cell).read()
    assert block.weight is None


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_single_block_is_not_copied(form):
    X = form(np.eye(5))
    (block,) = ArraySource(X, np.zeros(5, dtype=int)).read()
    assert block.X is X


def test_subsampled_rows_keep_their_cell_and_weight():
    X, cell, weight = np.arange(2000.0)[:, None], np.arange(2000), np.arange(2000) / 7
    third = ArraySource(X, cell, weight, block_size=1200).every(3)
    np.testing.assert_array_equal(third.X[:, 0], cell[::3])
    np.testing.assert_array_equal(third.cell, cell[::3])
    np.testing.assert_array_equal(third.weight, weight[::3])
    assert third.block_size == 400
    assert ArraySource(X, cell, block_size=300).every(3).block_size == 256


@pytest.mark.parametrize(
    ("shape", "rows"),
    [
        ((40, 25), 40),  # fewer than 1600 numbers are one block
        ((0, 4), 1),  # even without rows, the size is positive
        ((400, 10), 256),  # at least 256 rows
        ((100_000, 4), 2500),  # a fortieth of X
        ((40_000_000, 4), 2**19 // 4),  # as much as the cache holds
    ],
)
def test_block_size_is_chosen_as_documented(monkeypatch, shape, rows):
    monkeypatch.setattr(memory, "LARGE", 1600)
    assert memory.rows_of_block(np.broadcast_to(0.0, shape)) == rows


def test_source_given_for_data_in_memory_raises():
    X, y, s = biased_data(40)
    source = Source(lambda: iter([Rows(X, y, s)]))
    with pytest.raises(ValueError, match="RenyiKMeans needs X in memory, but X is Source"):
        RenyiKMeans(2).fit(source)
    clf = RenyiClassifier().fit(source, None)
    with pytest.raises(ValueError, match="prediction needs X in memory, but X is Source"):
        clf.predict(source)


def test_total_by_block_passes_each_block_its_part():
    parts = [Rows(np.full((n, 1), n), np.zeros(n)) for n in (2, 3)]
    source = Source(lambda: iter(parts))
    found = source.total_by_block(lambda rows, part, times: times * part * len(rows.y), [5, 7], 2)
    assert found == 2 * (5 * 2 + 7 * 3)
    assert source.n_passes == 1
    with pytest.raises(ValueError, match=r"longer|shorter"):
        source.total_by_block(lambda rows, part: 1, [5])


def test_features_in_blocks_are_standardized_as_in_memory():
    rng = np.random.default_rng(0)
    X, kept, weight = rng.normal(3, 2, size=(50, 3)), rng.random(50) < 0.7, rng.random(50)
    X[:, 2] = 4.0  # a constant column is only centered
    weight = weight[kept] / weight[kept].sum()
    source = Source(lambda: (Rows(X[part], None) for part in memory.slices(50, 20)))
    blocks = FeatureBlocks(source, [20, 20, 10], 3)[kept].standardized(weight, True, True)
    mean = weight @ X[kept]
    expected = np.column_stack([X[kept] - mean, np.ones(kept.sum())])
    expected[:, :2] /= np.sqrt(weight @ (X[kept] - mean) ** 2)[:2]
    assert blocks.shape == expected.shape
    number = np.arange(len(expected))

    def placed(x, columns):
        whole = np.zeros(expected.shape)
        whole[columns[0]] = x
        return whole

    np.testing.assert_allclose(blocks.total(placed, [number]), expected, atol=1e-12)
    plain = FeatureBlocks(source, [20, 20, 10], 3).standardized(None, False, False)
    squares = plain.total(lambda x, columns: SumTuple([(x**2).sum(axis=0), len(x)]), [])
    assert squares[1] == 50
    np.testing.assert_allclose(
        squares[0], (X**2).sum(axis=0) / [X[:, 0].var(), X[:, 1].var(), 1], rtol=1e-12
    )


def test_chunks_of_files_have_the_requested_columns(frame, tmp_path):
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet")
    files = ParquetRows(tmp_path / "rows.parquet", chunk_size=300)
    source = files.chunks("y", ["s"], "w")
    assert source.feature_names.tolist() == NAMES
    parts = list(source.read())
    assert [len(part.y) for part in parts] == [300, 300, 100]
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), frame[NAMES])
    np.testing.assert_array_equal(
        np.concatenate([part.sample_weight for part in parts]), frame["w"]
    )
    files = ParquetRows(tmp_path / "rows.parquet", NAMES[:1])
    (plain,) = files.chunks("w").read()
    assert plain.X.shape == (N_ROWS, 1)
    assert plain.sensitive_features is plain.sample_weight is None
    with pytest.raises(ValueError, match="must be column names, not a Series"):
        files.chunks(frame["y"])
    with pytest.raises(ValueError, match="chunk_size"):
        ParquetRows(tmp_path / "rows.parquet", chunk_size=0)
