"""A custom penalty works wherever the library's own penalties do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from renyi_lib import PenalizedClassifier, RenyiBoostingClassifier
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ChiSquarePenalty,
    ConditionalPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    Penalty,
    RenyiPenalty,
    ScoreBinsPenalty,
    TablePenalty,
)
from renyi_lib.smooth_penalties import ContinuousRenyiPenalty
from renyi_lib.sources import ParquetRows, Rows, Source, memory
from tests.renyi_lib.data import biased_data


class SquaredGaps(TablePenalty):
    """The squared distances of the groups' rates of the last class from the common rate."""

    def of_table(self, T, q):
        common = T[-1].sum()
        gaps = T[-1] / q - common
        dT = np.zeros_like(T)
        dT[-1] = 2 * gaps / q - 2 * gaps.sum()
        return float(gaps @ gaps), dT


class ScoreVariance(Penalty):
    """The variance of the score within groups, which is not a function of the table."""

    def terms(self, F, groups):
        score = np.asarray(F)[:, -1]
        T, q = groups.table(F), groups.q
        away = score - (T[-1] / q)[groups.codes]
        gradient = np.zeros_like(F)
        gradient[:, -1] = 2 * away * groups.weight
        return [(float(np.sum(away**2 * groups.weight)), gradient)]


def test_depends_on_table_is_true_only_for_functions_of_the_table():
    for penalty in (
        SquaredGaps(),
        RenyiPenalty(),
        BinaryRenyiPenalty(),
        ChiSquarePenalty(),
        HSICPenalty("linear"),
        ContinuousRenyiPenalty(),
        ConditionalPenalty(SquaredGaps()),
    ):
        assert penalty.depends_on_table, penalty
    for penalty in (
        PearsonPenalty(),
        HSICPenalty(),
        ScoreBinsPenalty(),
        ScoreVariance(),
        ConditionalPenalty(PearsonPenalty()),
    ):
        assert not penalty.depends_on_table, penalty


def test_gradient_with_respect_to_F_agrees_with_differences():
    rng = np.random.default_rng(0)
    F, groups = rng.dirichlet(np.ones(2), 40), Groups.from_labels(np.arange(40) % 3)
    value, gradient = SquaredGaps().value_and_grad(F, groups)
    direction, step = rng.normal(size=F.shape), 1e-6
    up, down = (SquaredGaps().value(F + t * direction, groups) for t in (step, -step))
    assert value > 1e-4
    assert np.sum(gradient * direction) == pytest.approx((up - down) / (2 * step), rel=1e-6)
    (residual,) = SquaredGaps().residual_gradients(F, groups)
    np.testing.assert_allclose(2 * np.sqrt(value) * residual, gradient, rtol=1e-10)


def sources(X, y, s, folder):
    """The same rows from each source, as the arguments of `fit`."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(pa.table({**columns, "y": y, "s": s}), folder / "rows.parquet")
    parts = np.array_split(np.arange(len(y)), 3)
    return {
        "array": (X, y, s),
        "blocks": (X, y, s),
        "chunks": (Source(lambda: (Rows(X[i], y[i], s[i]) for i in parts)), None, None),
        "parquet": (ParquetRows(folder / "rows.parquet", chunk_size=100), "y", "s"),
        "dask": tuple(da.from_array(a, chunks=(150, *a.shape[1:])) for a in (X, y, s)),
    }


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
@pytest.mark.parametrize("penalty", [SquaredGaps(), RenyiPenalty()], ids=repr)
def test_every_source_gives_the_same_fit_and_predictions(tmp_path, monkeypatch, penalty, fairness):
    X, y, s = biased_data(600, 2, 3)
    clf = PenalizedClassifier(penalty, lam=5, fairness=fairness, tol=1e-10)
    fits = {}
    for name, (X_of, y_of, s_of) in sources(X, y, s, tmp_path).items():
        monkeypatch.setattr(memory, "LARGE", 0 if name == "blocks" else np.inf)
        fits[name] = clone(clf).fit(X_of, y_of, sensitive_features=s_of)
    expected = fits["array"].predict_proba(X)
    for name, fit in fits.items():
        np.testing.assert_allclose(fit.coef_, fits["array"].coef_, atol=1e-8, err_msg=name)
        rows = pd.DataFrame(X, columns=fit.feature_names_in_) if name == "parquet" else X
        np.testing.assert_allclose(fit.predict_proba(rows), expected, atol=1e-8, err_msg=name)
    plain = clone(clf).set_params(lam=0).fit(X, y, sensitive_features=s)
    before, after = (f.penalty_value(X, y, sensitive_features=s) for f in (plain, fits["array"]))
    assert after < before / 10


@pytest.mark.parametrize("on", ["label", "score"])
def test_a_custom_penalty_can_be_boosted(on):
    pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    X, y, s = biased_data(1500, 2, 3)
    values = []
    for lam in (0, 30):
        clf = RenyiBoostingClassifier(lam, penalty=SquaredGaps(), on=on, n_estimators=40)
        values.append(clf.fit(X, y, sensitive_features=s).penalty_value(X, sensitive_features=s))
    assert values[1] < values[0] / 10


def test_conditional_penalty_equals_fairness_equalized_odds():
    X, y, s = biased_data(600, 2, 2)
    options = {"lam": 3, "tol": 1e-10}
    by_name = PenalizedClassifier(RenyiPenalty(), fairness="equalized_odds", **options)
    itself = PenalizedClassifier(ConditionalPenalty(RenyiPenalty()), **options)
    first, second = (clf.fit(X, y, sensitive_features=s) for clf in (by_name, itself))
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-9)


def test_penalties_of_single_rows_raise_for_data_not_in_memory():
    X, y, s = biased_data(300, 2, 2)
    clf = PenalizedClassifier(ScoreVariance(), lam=10)
    value = clf.fit(X, y, sensitive_features=s).penalty_value(X, sensitive_features=s)
    plain = clone(clf).set_params(lam=0).fit(X, y, sensitive_features=s)
    assert value < plain.penalty_value(X, sensitive_features=s)
    chunks = Source(lambda: iter([Rows(X, y, s)]))
    with pytest.raises(ValueError, match="depends_on_table"):
        clf.fit(chunks, None)
