"""The bias-score rule is optimal on known populations and follows scikit-learn's conventions."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from renyi_lib import BiasScoreClassifier, RenyiClassifier, fit_to_target
from renyi_lib.classification import NoSensitiveFeaturesWarning
from renyi_lib.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    group_rates,
)
from renyi_lib.postprocessing import ToleranceNotReachedWarning, _Dual

METRICS = {
    "demographic_parity": demographic_parity_difference,
    "equal_opportunity": equal_opportunity_difference,
    "equalized_odds": equalized_odds_difference,
}


class Known(ClassifierMixin, BaseEstimator):
    """A classifier that is given the probabilities of each type; X contains the type's number."""

    def __init__(self, probabilities=None):
        self.probabilities = probabilities

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.arange(self.probabilities.shape[1])
        return self

    def predict_proba(self, X):
        return self.probabilities[np.asarray(X)[:, 0].astype(int)]


class Population:
    """m types, each with a share, P(Y=1), and P(S=a); Y and S are independent given the type."""

    def __init__(self, seed, m, d=2):
        rng = np.random.default_rng(seed)
        self.pi = rng.dirichlet(np.full(m, 5.0))
        self.eta = rng.beta(1.2, 1.8, m)
        self.of_group = rng.dirichlet(np.ones(d), m)
        # Groups with larger numbers have more positive labels.
        self.eta = (self.eta + self.of_group @ np.linspace(0, 0.5, d)) / 1.5
        self._make_rows()

    def _make_rows(self):
        x, y, s = (a.ravel() for a in np.indices((len(self.pi), 2, self.of_group.shape[1])))
        self.X, self.y, self.s = x[:, None], y, s
        label = np.where(y == 1, self.eta[x], 1 - self.eta[x])
        self.weight = self.pi[x] * label * self.of_group[x, s]

    def fit(self, **options):
        of_label = np.column_stack([1 - self.eta, self.eta])
        model = BiasScoreClassifier(
            Known(of_label), sensitive_estimator=Known(self.of_group), random_state=0, **options
        )
        return model.fit(self.X, self.y, sensitive_features=self.s, sample_weight=self.weight)

    def cells(self, fairness):
        """P(type | condition, group), of shape (conditions, groups, types)."""
        parts = {
            "demographic_parity": [np.ones_like(self.eta)],
            "equal_opportunity": [self.eta],
            "equalized_odds": [1 - self.eta, self.eta],
        }[fairness]
        joint = [self.pi * part * group for part in parts for group in self.of_group.T]
        return np.array([row / row.sum() for row in joint]).reshape(len(parts), -1, len(self.pi))

    def best_accuracy(self, tolerance, fairness="demographic_parity"):
        """The optimum of the linear program over all randomized rules."""
        rates = self.cells(fairness)
        pairs = [
            row[a] - row[b]
            for row in rates
            for a in range(len(row))
            for b in range(len(row))
            if a != b
        ]
        gain = self.pi * (2 * self.eta - 1)
        found = linprog(
            -gain, A_ub=pairs, b_ub=np.full(len(pairs), tolerance), bounds=(0, 1), method="highs"
        )
        return self.pi @ (1 - self.eta) - found.fun

    def accuracy(self, h):
        return self.pi @ np.where(h, self.eta, 1 - self.eta)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fairness", ["demographic_parity", "equal_opportunity"])
def test_no_rule_is_better_than_the_rules_of_the_frontier(seed, fairness):
    """For two groups and one rate, compare each rule of the frontier with a linear program."""
    people = Population(seed, m=150)
    model = people.fit(fairness=fairness, tolerance=1.0, cv=2)
    frontier = model.frontier(people.X, people.y, people.s, people.weight, n_points=200)
    assert len(frontier) > 3
    # The last rule may overshoot parity, and then a smaller k gives the same difference.
    for row in frontier[:-1].itertuples():
        best = people.best_accuracy(row.difference + 1e-12, fairness)
        assert row.accuracy == pytest.approx(best, abs=1e-8)


@pytest.mark.filterwarnings("ignore::renyi_lib.postprocessing.ToleranceNotReachedWarning")
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("fairness", METRICS)
@pytest.mark.parametrize("tolerance", [0.02, 0.1])
def test_several_multipliers_reach_the_optimum_of_the_linear_program(d, fairness, tolerance):
    people = Population(1, m=2000, d=d)
    model = people.fit(fairness=fairness, tolerance=tolerance, cv=2)
    h = model.predict(np.arange(2000)[:, None]) == 1
    difference = np.ptp(people.cells(fairness) @ h, axis=1).max()
    assert difference <= tolerance + 1e-9
    assert difference == pytest.approx(model.difference_, abs=1e-9)
    best = people.best_accuracy(difference, fairness)
    assert best - 2e-3 <= people.accuracy(h) <= best + 1e-9


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("shape", [(1, 3), (2, 2)])
def test_cutting_planes_find_the_minimum_of_the_dual(shape, tolerance):
    rng = np.random.default_rng(0)
    n, masses = 120, rng.dirichlet(np.ones(np.prod(shape))).reshape(shape)
    W = rng.dirichlet(np.ones(masses.size), size=n) / masses.ravel()
    c, weight = rng.normal(scale=0.3, size=n), rng.dirichlet(np.ones(n))
    excess = rng.normal(scale=0.02, size=masses.size)
    # The same problem as a linear program with a variable for each row.
    both = np.hstack([W, -W])
    sums = np.kron(np.eye(shape[0]), np.ones(shape[1]))
    exact = linprog(
        np.concatenate([tolerance / 2 - excess, tolerance / 2 + excess, weight]),
        A_ub=np.hstack([-both, -np.eye(n)]),
        b_ub=-c,
        A_eq=np.hstack([sums, -sums, np.zeros((shape[0], n))]),
        b_eq=np.zeros(shape[0]),
    )
    mu = _Dual(c, W, weight, masses).solve(tolerance, excess)
    value = weight @ np.maximum(c - W @ mu, 0) + tolerance * np.abs(mu).sum() / 2 - excess @ mu
    assert value == pytest.approx(exact.fun, abs=2e-6)
    assert sums @ mu == pytest.approx(np.zeros(shape[0]), abs=1e-9)


@pytest.mark.parametrize("fairness", METRICS)
def test_known_groups_give_one_threshold_each(fairness):
    people = Population(2, m=500)
    model = people.fit(
        fairness=fairness, tolerance=0.01, use_sensitive_features=True, prefit=False
    )
    types = np.arange(500)[:, None]
    for group in (0, 1):
        h = model.predict(types, sensitive_features=np.full(500, group)) == 1
        assert people.eta[h].min() > people.eta[~h].max()
    assert model.sensitive_estimators_ == {}


def test_using_the_group_is_more_accurate():
    people = Population(3, m=500)
    blind, seeing = (people.fit(tolerance=0.03, use_sensitive_features=u) for u in (False, True))
    options = {"sample_weight": people.weight}
    accuracy = blind.score(people.X, people.y, **options)
    assert seeing.score(people.X, people.y, sensitive_features=people.s, **options) > accuracy


# --- samples -------------------------------------------------------------------------------------


def sample(n=3000, d=2, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.integers(d, size=n)
    X = rng.normal(size=(n, 3)) + s[:, None] * [0.8, 0.3, 0.0]
    y = (X.sum(axis=1) + rng.normal(size=n) > 0.9 * d - 0.5).astype(int)
    return X, y, s


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("use", [False, True])
@pytest.mark.parametrize("fairness", METRICS)
def test_the_tolerance_holds_on_new_rows_up_to_chance(d, use, fairness):
    X, y, s = sample(12_000, d)
    model = BiasScoreClassifier(
        fairness=fairness, tolerance=0.03, use_sensitive_features=use, cv=2, random_state=0
    ).fit(X[:6000], y[:6000], sensitive_features=s[:6000])
    assert model.difference_ <= 0.03
    predicted = model.predict(X[6000:], sensitive_features=s[6000:] if use else None)
    found = METRICS[fairness](y[6000:], predicted, sensitive_features=s[6000:])
    plain = METRICS[fairness](
        y[6000:], model.estimator_.predict(X[6000:]), sensitive_features=s[6000:]
    )
    assert found < 0.1 < plain


def test_uncorrected_predictions_match_the_plain_model():
    X, y, s = sample()
    model = BiasScoreClassifier(tolerance=0.05, random_state=0).fit(X, y, sensitive_features=s)
    positive = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), (positive > 0.5).astype(int))
    assert positive.min() >= 0
    assert positive.max() <= 1
    plain = model.with_tolerance(1.0)
    assert plain.k_ == 0
    np.testing.assert_array_equal(plain.predict(X), LogisticRegression().fit(X, y).predict(X))


def test_with_tolerance_equals_a_new_fit():
    X, y, s = sample()
    model = BiasScoreClassifier(tolerance=0.2, random_state=0).fit(X, y, sensitive_features=s)
    again = BiasScoreClassifier(tolerance=0.02, random_state=0).fit(X, y, sensitive_features=s)
    other = model.with_tolerance(0.02)
    assert other.k_ == pytest.approx(again.k_)
    assert other.get_params()["tolerance"] == 0.02
    assert model.tolerance == 0.2
    assert other.estimator_ is model.estimator_
    np.testing.assert_array_equal(other.predict(X), again.predict(X))


def test_frontier_values_match_the_metrics():
    X, y, s = sample()
    model = BiasScoreClassifier(tolerance=0.05, random_state=0).fit(X, y, sensitive_features=s)
    frontier = model.frontier(X, y, s)
    assert frontier["k"].is_monotonic_increasing
    assert frontier["tolerance"].is_monotonic_decreasing
    row = frontier.iloc[len(frontier) // 2]
    fair = model.with_tolerance(row["tolerance"])
    predicted = fair.predict(X)
    assert fair.k_ == pytest.approx(row["k"])
    known = {"sensitive_features": s}
    assert row["accuracy"] == pytest.approx(np.mean(predicted == y))
    assert row["difference"] == pytest.approx(demographic_parity_difference(y, predicted, **known))
    assert row["ratio"] == pytest.approx(demographic_parity_ratio(y, predicted, **known))


def test_text_labels_and_joint_groups_are_accepted():
    X, y, s = sample()
    frame = pd.DataFrame({"a": s, "b": np.arange(len(s)) % 2})
    words = np.where(y == 1, "yes", "no")
    model = BiasScoreClassifier(tolerance=0.05, random_state=0)
    model.fit(pd.DataFrame(X, columns=list("uvw")), words, sensitive_features=frame)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == list("uvw")
    assert model.multipliers_.shape == (1, 4)
    assert model.multipliers_.to_numpy().sum() == pytest.approx(0, abs=1e-12)
    assert set(model.predict(pd.DataFrame(X, columns=list("uvw")))) == {"no", "yes"}
    rates = group_rates(
        None,
        model.predict(pd.DataFrame(X, columns=list("uvw"))),
        sensitive_features=s,
        pos_label="yes",
    )
    assert np.ptp(rates) < 0.1


@pytest.mark.parametrize("fairness", METRICS)
def test_weights_equal_repeated_rows(fairness):
    X, y, s = sample(300)
    weight = np.random.default_rng(1).integers(0, 4, size=300)
    repeated = np.repeat(np.arange(300), weight)
    fold = np.arange(300) % 3
    folds = [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(3)]
    of_repeated = [
        tuple(np.flatnonzero(np.isin(repeated, part)) for part in pair) for pair in folds
    ]
    options = {"fairness": fairness, "tolerance": 0.05}
    a = BiasScoreClassifier(LogisticRegression(tol=1e-10), cv=folds, **options)
    b = BiasScoreClassifier(LogisticRegression(tol=1e-10), cv=of_repeated, **options)
    # The weights add up to the number of repeated rows, so C means the same in both fits.
    a.fit(X, y, sensitive_features=s, sample_weight=weight)
    b.fit(X[repeated], y[repeated], sensitive_features=s[repeated])
    np.testing.assert_allclose(a.multipliers_, b.multipliers_, atol=1e-6)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-6)
    weighted = a.frontier(X, y, s, weight)
    np.testing.assert_allclose(
        weighted, b.frontier(X[repeated], y[repeated], s[repeated]), atol=1e-6
    )


def test_multipliers_are_chosen_out_of_fold():
    """A nearest neighbor reproduces its training labels, so in-sample rates mean nothing."""
    X, y, s = sample()
    model = BiasScoreClassifier(KNeighborsClassifier(1), tolerance=1.0, random_state=0)
    model.fit(X, y, sensitive_features=s)
    in_sample = demographic_parity_difference(y, y, sensitive_features=s)
    assert model.difference_ != pytest.approx(in_sample, abs=1e-4)
    grouped = BiasScoreClassifier(
        KNeighborsClassifier(5), cv=GroupKFold(2), tolerance=0.1, random_state=0
    )
    with pytest.raises(ValueError, match="groups"):
        grouped.fit(X, y, sensitive_features=s)


def test_folds_have_the_same_share_of_every_class_and_group():
    sizes = []

    class Recording(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            sizes.append(np.unique(X[:, :2], axis=0, return_counts=True)[1].tolist())
            return super().fit(X, y, sample_weight)

    truth, group = np.array([[y, s] for y in (0, 1) for s in (0, 1, 2) for _ in range(8)]).T
    noise = np.random.default_rng(0).normal(size=48)
    X = np.column_stack([truth, group, noise])
    model = BiasScoreClassifier(Recording(), cv=4, tolerance=1.0, random_state=0)
    model.fit(X, truth, sensitive_features=group)
    # Two models, for the label and for the group, are each fitted to all rows and without each
    # fold.
    assert sorted(sizes) == 8 * [[6] * 6] + 2 * [[8] * 6]


def test_a_fitted_estimator_is_not_modified():
    X, y, s = sample()
    plain = LogisticRegression().fit(X[:1000], y[:1000])
    coef = plain.coef_.copy()
    model = BiasScoreClassifier(plain, prefit=True, tolerance=0.05, random_state=0)
    model.fit(X[1000:], y[1000:], sensitive_features=s[1000:])
    assert model.estimator_ is plain
    np.testing.assert_array_equal(plain.coef_, coef)
    with pytest.raises(NotFittedError, match="FrozenEstimator"):
        clone(model).fit(X, y, sensitive_features=s)
    frozen = BiasScoreClassifier(FrozenEstimator(plain), prefit=True, tolerance=0.05)
    frozen.set_params(random_state=0)
    same = clone(frozen).fit(X[1000:], y[1000:], sensitive_features=s[1000:])
    # The groups are estimated by a separate model, not by the frozen one.
    np.testing.assert_array_equal(same.predict(X), model.predict(X))


def test_groups_are_estimated_without_a_penalty():
    X, y, s = sample()
    model = BiasScoreClassifier(RenyiClassifier(lam=10), random_state=0)
    model.fit(X, y, sensitive_features=s)
    of_group = model.sensitive_estimators_[None]
    plain = RenyiClassifier(lam=0).fit(X, s, sensitive_features=s)
    np.testing.assert_allclose(of_group.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert model.estimator_.lam == 10


def test_classifier_works_in_a_pipeline_and_cross_validation():
    X, y, s = sample(600)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = BiasScoreClassifier(inner, random_state=0).fit(X, y, sensitive_features=s)
    assert model.n_features_in_ == 3
    scores = cross_val_score(
        BiasScoreClassifier(random_state=0), X, y, cv=3, params={"sensitive_features": s}
    )
    assert scores.min() > 0.6


# --- past saturation -----------------------------------------------------------------------------


class Saturating(Population):
    """A grid of 400 types, few of them above the threshold, where no lam gets the ratio to 0.9.

    The penalty compares the groups' mean scores. Most types are far below the threshold, and
    equal means say little about the few that are above it.
    """

    def __init__(self, n=20):
        a, b = (each.ravel() for each in np.meshgrid(np.linspace(-3, 4, n), np.linspace(-3, 3, n)))
        groups = np.column_stack([np.exp(-(a**2) / 2), np.exp(-((a - 1) ** 2) / 2)])
        self.pi = groups.sum(axis=1) * np.exp(-(b**2) / 2)
        self.pi /= self.pi.sum()
        self.of_group = groups / groups.sum(axis=1, keepdims=True)
        self.eta = 1 / (1 + np.exp(3.5 - a - 1.5 * b))
        self._make_rows()

    def demographic_parity_ratio(self, h):
        rates = self.cells("demographic_parity")[0] @ h
        return rates.min() / rates.max()


def test_correction_reaches_parity_where_lam_saturates():
    people, types = Saturating(), np.eye(400)
    X, known = types[people.X[:, 0]], {"sample_weight": people.weight}
    reached = {}
    for lam in (30.0, 300.0, 3000.0):
        fair = RenyiClassifier(lam, fit_intercept=False, tol=1e-7, max_iter=20_000)
        fair.fit(X, people.y, sensitive_features=people.s, **known)
        reached[lam] = people.demographic_parity_ratio(fair.predict(types) == 1)
    assert reached[3000.0] == pytest.approx(reached[300.0], abs=0.03)
    assert max(reached.values()) < 0.75

    class OfGroup(Known):
        def predict_proba(self, X):
            return self.probabilities[np.argmax(X, axis=1)]

    further = BiasScoreClassifier(
        fair, prefit=True, sensitive_estimator=OfGroup(people.of_group), tolerance=0.002, cv=2
    ).fit(X, people.y, sensitive_features=people.s, **known)
    h = further.predict(types) == 1
    assert people.demographic_parity_ratio(h) > 0.9
    # The population is known, so the best rule with the same gap can be computed.
    gap = np.ptp(people.cells("demographic_parity")[0] @ h)
    assert people.accuracy(h) > people.best_accuracy(gap) - 0.002


# --- tuning --------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", [False, True])
def test_fit_to_target_finds_the_tolerance(use):
    X, y, s = sample(6000)
    model = BiasScoreClassifier(use_sensitive_features=use, random_state=0)
    new = (X[3000:], y[3000:], s[3000:])
    found = fit_to_target(
        model, X[:3000], y[:3000], sensitive_features=s[:3000], target=0.8, validation=new
    )
    given = {"sensitive_features": new[2]} if use else {}
    ratio = demographic_parity_ratio(
        None, found.predict(new[0], **given), sensitive_features=new[2]
    )
    assert 0.8 <= ratio < 0.85
    confident = fit_to_target(
        model,
        X[:3000],
        y[:3000],
        sensitive_features=s[:3000],
        target=0.8,
        validation=new,
        confidence=0.9,
    )
    assert confident.tolerance < found.tolerance


def test_fit_to_target_accepts_a_pipeline():
    X, y, s = sample(3000)
    model = make_pipeline(StandardScaler(), BiasScoreClassifier(random_state=0))
    found = fit_to_target(model, X, y, sensitive_features=s, target=0.9)
    assert demographic_parity_ratio(None, found.predict(X), sensitive_features=s) >= 0.9


# --- conventions and invalid input ---------------------------------------------------------------


def test_scikit_learn_checks_pass():
    # In a separate process, because one of the checks needs SCIPY_ARRAY_API, which scipy reads
    # when it is imported. Before scikit-learn 1.7, the checks that compare weights with repeated
    # rows use different binary labels in the two fits.
    code = """
import warnings
import sklearn
from sklearn.utils.estimator_checks import check_estimator
from renyi_lib import BiasScoreClassifier
from renyi_lib.classification import NoSensitiveFeaturesWarning
warnings.simplefilter("error")
warnings.simplefilter("ignore", NoSensitiveFeaturesWarning)
old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)
for result in check_estimator(BiasScoreClassifier(), on_fail=None):
    if old and result["check_name"].startswith("check_sample_weight_equivalence"):
        continue
    print(result["status"], result["check_name"], result["exception"] or "")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) > 40
    assert [line for line in lines if not line.startswith("passed")] == []


def test_fit_without_groups_corrects_nothing_and_warns():
    X, y, _ = sample(500)
    with pytest.warns(NoSensitiveFeaturesWarning, match="are not corrected"):
        model = BiasScoreClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="without sensitive_features"):
        model.frontier(X, y, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fairness": "parity"}, "fairness must be one of"),
        ({"tolerance": 2}, "tolerance must be a number from 0 to 1"),
        ({"cv": 1}, r"cv must be a number of folds \(at least 2\)"),
        ({"estimator": LinearSVC()}, "must have predict_proba"),
        ({"prefit": "yes"}, "prefit must be True or False"),
    ],
)
def test_invalid_parameters_raise(options, message):
    X, y, s = sample(200)
    with pytest.raises(ValueError, match=message):
        BiasScoreClassifier(**options).fit(X, y, sensitive_features=s)


def test_invalid_data_raise():
    X, y, s = sample(200)
    fair = BiasScoreClassifier(use_sensitive_features=True, random_state=0)
    fair.fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="sensitive_features is None"):
        fair.predict(X)
    with pytest.raises(ValueError, match="unseen in fit"):
        fair.predict(X, sensitive_features=s + 5)
    with pytest.raises(ValueError, match="tolerance must be"):
        fair.with_tolerance(-1)
    with pytest.raises(ValueError, match="group 1 of sensitive_features has 0 row"):
        BiasScoreClassifier(fairness="equal_opportunity").fit(
            X, y * (s == 0), sensitive_features=s
        )
    with pytest.raises(ValueError, match="does not accept sample_weight"):
        BiasScoreClassifier(KNeighborsClassifier()).fit(
            X, y, sensitive_features=s, sample_weight=np.ones(200)
        )
    with pytest.raises(ValueError, match="Only binary"):
        BiasScoreClassifier().fit(X, np.arange(200) % 3, sensitive_features=s)
    with pytest.raises(ValueError, match="undefined"):
        fair.frontier(X[s == 0], y[s == 0], s[s == 0])


def test_a_tolerance_out_of_reach_warns():
    """With only two types of samples, the difference jumps past the tolerance."""
    types = np.repeat([[0.0], [1.0]], 50, axis=0)
    s = np.concatenate([np.tile([0, 0, 0, 1], 13)[:50], np.tile([0, 1, 1, 1], 13)[:50]])
    y = np.concatenate([np.zeros(40), np.ones(10), np.zeros(10), np.ones(40)]).astype(int)
    with pytest.warns(ToleranceNotReachedWarning, match=r"tolerance=0\.01 is not reached"):
        model = BiasScoreClassifier(tolerance=0.01, cv=2, random_state=0).fit(
            types, y, sensitive_features=s
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.with_tolerance(0.99).difference_ <= 0.99
