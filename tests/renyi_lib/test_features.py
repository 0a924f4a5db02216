"""Regression from files, Dask and other sources matches arrays and reads X in blocks."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from renyi_lib import ParquetRows, RenyiRegressor, fit_to_target
from renyi_lib.regression import LinearModel
from renyi_lib.scorers import renyi_dependence
from renyi_lib.sources import Rows, Source
from renyi_lib.sources.features import FeatureBlocks, read_columns

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
da = pytest.importorskip("dask.array")

N = 500
COLUMNS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 70, N)
    X = 3 + rng.normal(size=(N, 3)) * [1, 10, 0.1]
    X[:, 0] += np.abs(age - 45) / 7
    y = X @ [1, 0.1, 10] + rng.normal(size=N)
    group = np.array(["old", "young", "middle"])[np.digitize(age, [35, 55])]
    weight = rng.integers(3, size=N).astype(float)
    return pd.DataFrame(X, columns=COLUMNS).assign(y=y, age=age, group=group, w=weight)


def sources(frame, folder, s):
    """The arguments X, y, sensitive_features and sample_weight, by the name of the source."""
    frame.to_parquet(folder / "rows.parquet", row_group_size=120)
    parts = np.array_split(np.arange(N), 4)
    parts.insert(1, np.zeros(0, dtype=int))  # an empty block
    whole = frame[COLUMNS], frame["y"], frame[s], frame["w"]
    split = [Rows(*(part.iloc[i] for part in whole)) for i in parts]
    collection = dd.from_pandas(frame, npartitions=4)
    arrays = [da.from_array(part.to_numpy(), chunks=130) for part in (*whole[:2], frame["w"])]
    return {
        "array": whole,
        "chunks": (Source(lambda: iter(split)), None, None, None),
        "parquet": (ParquetRows(folder / "rows.parquet", COLUMNS, chunk_size=50), "y", s, "w"),
        "dask frame": tuple(collection[name] for name in (COLUMNS, "y", s, "w")),
        "dask array": (*arrays[:2], da.from_array(frame[s].to_numpy(), chunks=130), arrays[2]),
    }


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("s", ["age", "group"])
def test_every_source_gives_the_same_regression_and_predictions(frame, tmp_path, s, intercept):
    reg = RenyiRegressor(3.0, tol=1e-9, l2=0.01, fit_intercept=intercept)
    X = frame[COLUMNS]
    expected = None
    for name, (X_of, y_of, s_of, w_of) in sources(frame, tmp_path, s).items():
        fit = clone(reg).fit(X_of, y_of, sensitive_features=s_of, sample_weight=w_of)
        rows = X.to_numpy() if name in ("chunks", "dask array") else X
        expected = fit if expected is None else expected
        close = {"rtol": 1e-8, "atol": 1e-8, "err_msg": name}
        np.testing.assert_allclose(fit.coef_, expected.coef_, **close)
        np.testing.assert_allclose(fit.intercept_, expected.intercept_, **close)
        np.testing.assert_allclose(fit.predict(rows), expected.predict(X), **close)
        np.testing.assert_allclose(fit.adversary_, expected.adversary_, **close)
        assert fit.kind_ == ("continuous" if s == "age" else "discrete")
        assert fit.n_features_in_ == 3
        if name != "chunks":
            found = fit.predict(X_of)
            found = found.compute() if hasattr(found, "compute") else found
            np.testing.assert_allclose(found, expected.predict(X), **close)
            value = fit.penalty_value(X_of, sensitive_features=s_of, sample_weight=w_of)
            memory = expected.penalty_value(
                X, sensitive_features=frame[s], sample_weight=frame["w"]
            )
            assert value == pytest.approx(memory, rel=1e-8), name
    # Both fits minimize loss + lam * penalty, so the penalty is smaller for lam = 3 than for 0.
    known = {"sensitive_features": frame[s], "sample_weight": frame["w"]}
    plain = clone(reg).set_params(lam=0).fit(X, frame["y"], **known)
    assert expected.penalty_value(X, **known) < plain.penalty_value(X, **known)


def test_several_attribute_columns_define_joint_groups(frame, tmp_path):
    frame = frame.assign(half=np.arange(N) % 2)
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = ParquetRows(tmp_path / "rows.parquet", COLUMNS, chunk_size=99)
    fit = RenyiRegressor(1.0).fit(rows, "y", sensitive_features=["group", "half"])
    memory = RenyiRegressor(1.0).fit(
        frame[COLUMNS], frame["y"], sensitive_features=frame[["group", "half"]]
    )
    assert len(fit.groups_) == 6
    np.testing.assert_allclose(fit.coef_, memory.coef_, rtol=1e-7)


@pytest.mark.parametrize("kind", [pd.Series, pd.array])
def test_columns_of_blocks_are_concatenated_with_a_consecutive_index(kind):
    parts = [Rows(np.eye(2), kind([1.0, 2.0])), Rows(np.ones((1, 2)), kind([3.0]))]
    y = read_columns(Source(lambda: iter(parts)))[1]
    pd.testing.assert_series_equal(pd.Series(y), pd.Series([1.0, 2.0, 3.0]), check_dtype=False)


def test_many_features_are_fitted_by_lbfgs(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("renyi_lib.regression.MAX_DENSE", 2)
    monkeypatch.setattr("renyi_lib.models.MAX_DENSE", 2)
    fits = []
    for name, (X, y, s, w) in sources(frame, tmp_path, "group").items():
        if name in ("array", "chunks"):
            fit = RenyiRegressor(1.0, tol=1e-8)
            fits.append(fit.fit(X, y, sensitive_features=s, sample_weight=w))
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-6)


def test_value_and_gradient_take_one_pass_each():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    source = Source(lambda: (Rows(X[i::3], y[i::3]) for i in range(3)))
    blocks, y, *_ = read_columns(source)
    model = LinearModel(blocks.standardized(None, True, True), y)
    before = source.n_passes
    point = model.at(np.ones((1, 3)))
    assert source.n_passes == before + 1
    gradient = point.gradient()
    assert source.n_passes == before + 2
    x = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(60)])
    order = np.concatenate([np.arange(60)[i::3] for i in range(3)])
    np.testing.assert_allclose(point.F, x[order].sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(gradient[0], 2 * x[order].T @ (point.F - y) / 60, atol=1e-12)
    np.testing.assert_allclose(point.hessian(), 2 * x.T @ x / 60, atol=1e-12)


def test_fit_to_target_works_on_files(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = ParquetRows(tmp_path / "rows.parquet", COLUMNS)
    options = {"metric": renyi_dependence, "greater_is_better": False, "target": 0.35}
    reg = RenyiRegressor(kind="discrete")
    found = fit_to_target(reg, rows, "y", sensitive_features="group", **options)
    s = frame["group"]
    memory = fit_to_target(reg, frame[COLUMNS], frame["y"], sensitive_features=s, **options)
    assert found.lam == pytest.approx(memory.lam, rel=1e-6)
    assert renyi_dependence(None, found.predict(rows), sensitive_features=s) <= 0.35


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "X is empty: pass at least one sample"),
        ([Rows(np.zeros((0, 2)), [])], "X is empty: pass at least one sample"),
        ([Rows(np.eye(2), [0, 1]), Rows(np.eye(3), [0, 1, 2])], "2 features in one block and 3"),
        ([Rows(np.array([[np.nan]]), [0.0])], "X contains NaN"),
        ([Rows(sparse.csr_array(np.eye(2)), [0, 1])], "X is sparse.*load X into memory"),
        ([Rows(np.eye(2), ["low", "high"])], "^y must contain numbers"),
    ],
)
def test_invalid_blocks_raise_before_the_fit(parts, message):
    with pytest.raises(ValueError, match=message):
        RenyiRegressor().fit(Source(lambda: iter(parts)), None)


def test_blocks_that_change_between_passes_raise():
    sizes = iter([2, 3, 3])
    source = Source(lambda: iter([Rows(np.ones((next(sizes), 1)), [0.0, 1.0])]))
    with pytest.raises(ValueError, match="a block of 2 rows now has 3 rows"):
        RenyiRegressor(0).fit(source, None)


def test_source_without_total_by_block_raises():
    class Own(Source):
        def __init__(self):
            self.n_passes = 0

        def total(self, function, *arguments):
            return function(Rows(np.eye(3), np.arange(3.0)), *arguments)

    with pytest.raises(NotImplementedError, match="Own has no total_by_block"):
        RenyiRegressor(0).fit(Own(), None)


def test_blocks_without_a_kept_row_are_skipped():
    parts = [Rows(np.array([[1.0], [2.0]]), None), Rows(np.array([[4.0]]), None)]
    X = FeatureBlocks(Source(lambda: iter(parts)), [2, 1], 1, np.array([False, False, True]))
    assert X.shape == (1, 1)
    assert X.total(lambda x, columns: columns[0] @ x, [np.array([3.0])]).tolist() == [12.0]
