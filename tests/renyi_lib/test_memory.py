"""Large arrays in memory are read in blocks, in one pass per evaluation and without a copy."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from renyi_lib import PenalizedClassifier, RenyiClassifier
from renyi_lib._rows import read_cells
from renyi_lib._validation import NoSensitiveFeaturesWarning
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ChiSquarePenalty,
    ConditionalPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
)
from renyi_lib.sources import ArraySource, Source, memory
from tests.renyi_lib.data import biased_data


@pytest.fixture
def small(monkeypatch):
    """Treat every array as large, and make blocks short."""
    monkeypatch.setattr(memory, "LARGE", 0)
    monkeypatch.setattr("renyi_lib.sources.memory._BLOCK", 256)


@pytest.fixture
def passes(monkeypatch):
    """The function that each pass sums, and its number of rows of X."""
    counted, total = [], Source.total

    def counting(self, function, *arguments):
        counted.append((function.__name__, len(self.X)))
        return total(self, function, *arguments)

    monkeypatch.setattr(ArraySource, "total", counting)
    return counted


PENALTIES = {
    "no penalty": (None, 2, 2),
    "binary": (BinaryRenyiPenalty(), 2, 2),
    "many cells": (RenyiPenalty(), 2, 7),
    "renyi": (RenyiPenalty(), 3, 4),
    "smoothed": (RenyiPenalty(smoothing=0.01), 3, 4),
    "chi-square": (ChiSquarePenalty(), 4, 3),
    "linear hsic": (HSICPenalty(kernel="linear"), 2, 3),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("penalty", "n_classes", "n_groups"), PENALTIES.values(), ids=PENALTIES)
def test_objective_and_gradient_in_blocks_match_all_rows_at_once(
    small, penalty, n_classes, n_groups, fit_intercept, conditional, weighted
):
    X, _, s = biased_data(900, n_classes, n_groups)
    y = np.random.default_rng(0).integers(n_classes, size=900)
    w = np.random.default_rng(1).gamma(2.0, size=900) if weighted else None
    weight = None if w is None else w / w.sum()
    cells, cell, _ = read_cells(X, y, s, w)
    factor = np.array([0.5, 1.5, 1.0, 2.0])
    loss_weight = factor[y] * (1 / 900 if weight is None else weight) if weighted else None
    options = {"fit_intercept": fit_intercept, "l2": 0.3}
    model = SoftmaxModel(X, y, n_classes, loss_weight, **options)
    by_cell = factor[cells.y] * cells.weight if weighted else None
    blocked = SoftmaxModel.over(ArraySource(X, cell, w), cells, by_cell, **options)
    whole, parts = penalty, penalty
    if conditional and penalty is not None:
        whole = parts = ConditionalPenalty(penalty)
    objective = FairObjective(model, whole, Groups.from_labels(s, w, y=y))
    in_blocks = FairObjective(blocked, parts, cells.as_groups())
    for seed, lam in [(2, 0.0), (2, 2.0), (3, 2.0)]:
        theta = np.random.default_rng(seed).normal(size=model.shape)
        at, blocks_at = objective.at(theta, lam), in_blocks.at(theta, lam)
        assert blocks_at.value == pytest.approx(at.value, abs=1e-13)
        np.testing.assert_allclose(blocks_at.gradient, at.gradient, atol=1e-13)
    rows = zip(at.residual_gradients(), blocks_at.residual_gradients(), strict=True)
    for row, blocked_row in rows:
        np.testing.assert_allclose(blocked_row, row, atol=1e-12)
    assert blocked.lipschitz() == pytest.approx(model.lipschitz(), rel=1e-12)
    for each in (model, blocked):
        each.sample = each.source, each.reading  # all rows
    roots = at.point.curvature_roots(), blocks_at.point.curvature_roots()
    for root, blocked_root in zip(*roots, strict=True):
        np.testing.assert_allclose(blocked_root @ blocked_root.T, root @ root.T, rtol=1e-7)


@pytest.mark.parametrize(("n_classes", "n_groups"), [(2, 2), (2, 9), (3, 3)])
def test_gradient_in_blocks_agrees_with_differences(small, n_classes, n_groups):
    X, y, s = biased_data(700, n_classes, n_groups)
    objective = RenyiClassifier(1.0)._prepare(X, y, s, None).objective
    assert not objective.model.by_row
    theta = np.random.default_rng(3).normal(size=objective.model.shape)
    _, gradient = objective(theta, 5.0)
    step = 1e-6 * np.random.default_rng(4).normal(size=theta.shape)
    rise = objective(theta + step, 5.0)[0] - objective(theta - step, 5.0)[0]
    assert rise == pytest.approx(2 * np.sum(gradient * step), rel=1e-6)


def test_probabilities_and_loss_are_accurate_far_from_the_boundary(small):
    X, y = np.array([[-800.0], [-40.0], [40.0], [800.0]]), np.array([0, 1, 0, 1])
    cells, cell, _ = read_cells(X, y, ["a", "b", "c", "d"], None)
    model = SoftmaxModel.over(ArraySource(X, cell), cells, fit_intercept=False)
    expected = SoftmaxModel(X, y, 2, fit_intercept=False).at(np.ones((1, 1)))
    found = model.at(np.ones((1, 1)))
    assert found.loss == pytest.approx(expected.loss, rel=1e-15)
    np.testing.assert_allclose(found.F[cell], expected.F, rtol=1e-15)


FITS = {
    "two groups": ({}, {}),
    "seven groups": ({}, {"n_groups": 7}),
    "three classes": ({}, {"n_classes": 3}),
    "kinks": ({"tol": 1e-4}, {"n_classes": 3, "n_groups": 3}),
    "large lam": ({"lam": 1e4}, {}),
    "equalized odds": ({"fairness": "equalized_odds"}, {"n_groups": 3}),
    "equal opportunity": ({"fairness": "equal_opportunity", "pos_label": 0}, {}),
    "balanced classes": ({"class_weight": "balanced", "l2": 0.1}, {}),
    "no intercept": ({"fit_intercept": False}, {}),
    "discrete": ({"algorithm": "discrete"}, {}),
    "gradient descent": ({"solver": "gd", "lam": 0.1, "tol": 1e-7, "max_iter": 20_000}, {}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("options", "shape"), FITS.values(), ids=FITS)
def test_fit_in_blocks_equals_the_fit_at_once(small, options, shape, weighted):
    X, y, s = biased_data(1200, **shape)
    w = None
    if weighted:
        rng = np.random.default_rng(1)
        w = rng.integers(3, size=1200).astype(float)  # a third of the weights are zero
    classifier = RenyiClassifier(**({"lam": 3.0, "tol": 1e-10} | options))
    found = classifier.fit(X, y, sensitive_features=s, sample_weight=w)
    assert found.n_iter_ > 0
    memory.LARGE = np.inf
    other = RenyiClassifier(**classifier.get_params())
    other.fit(X, y, sensitive_features=s, sample_weight=w)
    kinked = shape.get("n_classes", 2) > 2 and shape.get("n_groups", 2) > 2
    # Gradient descent, and any fit that ends at a kink, may stop at a small gradient while the
    # minimizer is still some distance away.
    tolerance = 1e-3 if kinked else 1e-5 if "solver" in options else 1e-8
    for name in ("coef_", "intercept_") + (() if kinked else ("adversary_",)):
        np.testing.assert_allclose(
            getattr(found, name), getattr(other, name), atol=tolerance, rtol=0
        )
    assert found.classes_.dtype == other.classes_.dtype
    assert found.classes_.tolist() == other.classes_.tolist()
    assert found.groups_.tolist() == other.groups_.tolist()


@pytest.mark.parametrize("kind", ["int8", "bool", "text", "object", "float", "wide", "frame"])
def test_labels_of_any_type_are_encoded_in_blocks_as_at_once(small, monkeypatch, kind):
    X, y, s = biased_data(600)
    y, s = {
        "int8": (y.astype(np.int8) - 3, s.astype(np.int8)),
        "bool": (y == 1, s == 1),
        "text": (np.where(y, "yes", "no"), np.where(s, "m", "f")),
        "object": (np.where(y, "yes", "no").astype(object), list(np.where(s, "m", "f"))),
        "float": (y * 1.0, pd.Categorical(np.where(s, "m", "f"), categories=["m", "f", "x"])),
        "wide": (y * 10**6, s * 10**9),
        "frame": (y, pd.DataFrame({"s": s, "t": np.arange(600) % 2})),
    }[kind]
    found = RenyiClassifier(3.0).fit(X, y, sensitive_features=s)
    monkeypatch.setattr(memory, "LARGE", np.inf)
    other = RenyiClassifier(3.0).fit(X, y, sensitive_features=s)
    assert found.classes_.dtype == other.classes_.dtype
    assert found.classes_.tolist() == other.classes_.tolist()
    assert found.groups_.dtype == other.groups_.dtype
    assert found.groups_.tolist() == other.groups_.tolist()
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-3)


def test_zero_weight_classes_and_groups_are_dropped(small):
    X, y, s = biased_data(600, n_classes=3, n_groups=3)
    w = ((y != 1) & (s != 0)).astype(float)
    found = RenyiClassifier(3.0).fit(X, y, sensitive_features=s, sample_weight=w)
    assert found.classes_.tolist() == [0, 2]
    assert found.groups_.tolist() == [1, 2]


def test_invalid_input_raises_or_warns_in_blocks(small):
    X, y, s = biased_data(600)
    with pytest.raises(ValueError, match="y has only one class"):
        RenyiClassifier().fit(X, np.zeros(600), sensitive_features=s)
    with pytest.raises(ValueError, match="only one group"):
        RenyiClassifier().fit(X, y, sensitive_features=np.zeros(600))
    with pytest.raises(ValueError, match="same number of samples"):
        RenyiClassifier().fit(X, y, sensitive_features=s[:-1])
    with pytest.raises(ValueError, match="same number of samples"):
        RenyiClassifier().fit(X, y, sensitive_features=s, sample_weight=np.ones(599))
    with pytest.warns(NoSensitiveFeaturesWarning) as caught:
        RenyiClassifier().fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "options", [{"on": "score"}, {"penalty": PearsonPenalty()}, {"penalty": HSICPenalty()}]
)
def test_row_penalties_use_rows_as_units(small, options):
    X, y, s = biased_data(300)
    model = PenalizedClassifier(**options)._prepare(X, y, s, None).objective.model
    assert model.by_row


def test_small_and_sparse_data_use_rows_as_units():
    X, y, s = biased_data(300)
    assert RenyiClassifier()._prepare(X, y, s, None).objective.model.by_row
    wide = sparse.csr_array((1000, 10_000))
    y, s = np.arange(1000) % 2, np.arange(1000) // 2 % 2
    model = RenyiClassifier()._prepare(wide, y, s, None).objective.model
    assert model.by_row
    assert sparse.issparse(model.X)


# --- Passes and memory ---------------------------------------------------------------------------


def large_data(n, p, dtype=float):
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=n)
    X = rng.normal(size=(n, p)).astype(dtype)
    X[:, 0] += s
    return X, (X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0.3).astype(int), s


def test_new_theta_takes_one_pass(passes):
    X, y, s = large_data(210_000, 20)
    objective = RenyiClassifier()._prepare(X, y, s, None).objective
    rng = np.random.default_rng(0)
    thetas = rng.normal(size=(4, *objective.model.shape))
    at = objective.at(thetas[0], 0.0)
    assert np.isfinite(at.gradient).all()
    assert len(passes) == 1
    assert np.isfinite(at.with_lam(1.0).gradient).all()  # needs each cell's derivatives
    assert len(passes) == 2
    for theta in thetas[1:]:
        at = objective.at(theta, 1.0)
        assert np.isfinite(at.gradient).all()
        assert np.isfinite(at.with_lam(2.0).gradient).all()
        at.residual_gradients()
    assert len(passes) == 5
    assert {rows for _, rows in passes} == {210_000}


def test_curvature_is_estimated_from_a_sample_unless_a_feature_is_rare(passes):
    X, y, s = large_data(210_000, 20)
    theta = np.zeros((1, 21))
    for few in (False, True):
        if few:
            X[:, 2] = 0
            X[5::7000, 2] = 1
        model = RenyiClassifier()._prepare(X, y, s, None).objective.model
        passes.clear()
        (root,) = model.at(theta).curvature_roots()
        assert [rows for name, rows in passes if name == "_curvatures"] == [
            210_000 if few else 2_000
        ]
        model.sample = model.source, model.reading
        (exact,) = model.at(theta).curvature_roots()
        ratios = np.linalg.eigvalsh(
            np.linalg.pinv(exact) @ root @ root.T @ np.linalg.pinv(exact).T
        )
        assert 0.5 < ratios.min() < ratios.max() < 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fit_and_predict_do_not_copy_x(dtype, order, weighted):
    X, y, s = large_data(200_000, 25, dtype)
    X = np.asarray(X, order=order)
    w = np.random.default_rng(1).integers(3, size=len(y)) / 2 if weighted else None
    tracemalloc.start()
    classifier = RenyiClassifier(3.0).fit(X, y, sensitive_features=s, sample_weight=w)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    classifier.predict(X)
    predicting = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.2 * X.nbytes
    assert predicting <= 4 * 8 * len(X)  # four floats per row


def test_single_precision_applies_only_to_the_data():
    X, y, s = large_data(200_000, 20, np.float32)
    single = RenyiClassifier(3.0, tol=1e-9).fit(X, y, sensitive_features=s)
    double = RenyiClassifier(3.0, tol=1e-9).fit(X.astype(float), y, sensitive_features=s)
    assert single.coef_.dtype == np.float64
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-9)
    np.testing.assert_allclose(
        single.decision_function(X), double.decision_function(X.astype(float)), atol=1e-8
    )


ROW_PENALTIES = {
    "score": {"on": "score"},
    "score, equalized odds": {"on": "score", "fairness": "equalized_odds"},
    "pearson": {"penalty": PearsonPenalty()},
    "hsic": {"penalty": HSICPenalty()},
}


@pytest.mark.parametrize("options", ROW_PENALTIES.values(), ids=ROW_PENALTIES)
def test_row_penalty_is_the_same_in_blocks(monkeypatch, options):
    X, y, s = biased_data(1200)
    w = np.random.default_rng(1).integers(3, size=1200).astype(float)
    classifier = PenalizedClassifier(**({"lam": 3.0, "tol": 1e-9} | options))
    whole = classifier._prepare(X, y, s, w).objective
    expected = clone(classifier).fit(X, y, sensitive_features=s, sample_weight=w)
    monkeypatch.setattr(memory, "LARGE", 0)
    monkeypatch.setattr(memory, "_BLOCK", 256)
    blocks = classifier._prepare(X, y, s, w).objective
    assert blocks.model.source.in_blocks
    for theta in np.random.default_rng(0).normal(size=(3, *whole.model.shape)):
        (value, gradient), (other, other_gradient) = whole(theta, 3.0), blocks(theta, 3.0)
        assert other == pytest.approx(value, abs=1e-13)
        np.testing.assert_allclose(other_gradient, gradient, atol=1e-13)
    if "fairness" not in options:  # equalized odds may have several minima
        found = clone(classifier).fit(X, y, sensitive_features=s, sample_weight=w)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)


@pytest.mark.parametrize("options", ROW_PENALTIES.values(), ids=ROW_PENALTIES)
def test_row_penalty_does_not_copy_x(options):
    X, y, s = large_data(50_000, 100)
    tracemalloc.start()
    PenalizedClassifier(lam=3.0, **options).fit(X, y, sensitive_features=s)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.5 * X.nbytes
