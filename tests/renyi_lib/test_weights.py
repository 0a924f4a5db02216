"""Integer weights have the effect of repeated rows in every function that takes weights."""

import numpy as np
import pytest

from renyi_lib import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    fit_to_target,
    group_rates,
    joint_table,
    lam_path,
    renyi_correlation,
)
from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.cluster_metrics import (
    balance,
    cluster_penalty,
    cluster_proportions,
    proportion_summary,
    weighted_deviation,
)
from renyi_lib.clustering import RenyiKMeans, renyi_kmeans_objective
from renyi_lib.correlation import renyi_binary, renyi_from_soft
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
    ScoreBinsPenalty,
)
from tests.renyi_lib.data import biased_data

N = 300


class Data:
    """Samples with integer weights (some of them 0), predictions, scores and clusters."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.X, self.y, self.s = biased_data(N, seed=3)
        self.label = (self.X[:, 0] + rng.normal(size=N) > 0).astype(int)
        score = 1 / (1 + np.exp(-self.X[:, 0]))
        self.F = np.column_stack([1 - score, score])
        self.cluster = rng.integers(3, size=N)
        self.weight = rng.integers(0, 4, size=N)

    def repeated(self):
        """The same data with each row repeated as often as its weight says, and no weights."""
        other = object.__new__(Data)
        rows = np.repeat(np.arange(N), self.weight)
        other.__dict__.update({name: value[rows] for name, value in vars(self).items()})
        other.weight = None
        return other


def fitted(estimator):
    def fit(d):
        clf = estimator.fit(d.X, d.y, sensitive_features=d.s, sample_weight=d.weight)
        return np.column_stack([clf.coef_, clf.intercept_])

    return fit


def of_labels(measure, *names):
    return lambda d: measure(
        *(getattr(d, name) for name in names), sensitive_features=d.s, sample_weight=d.weight
    )


def penalty_value(d):
    plain = RenyiClassifier(0).fit(Data().X, Data().y, sensitive_features=Data().s)
    return plain.penalty_value(d.X, sensitive_features=d.s, sample_weight=d.weight)


def penalty_value_given(d):
    plain = RenyiClassifier(0, fairness="equalized_odds")
    plain.fit(Data().X, Data().y, sensitive_features=Data().s)
    return plain.penalty_value(d.X, d.y, sensitive_features=d.s, sample_weight=d.weight)


def kmeans(d):
    """Fit from centers so far apart that weighted and repeated rows give the same clusters."""
    X = d.X + 100 * d.cluster[:, None]
    centers = np.array([[0.0], [100], [200]]) + np.zeros(4)
    model = RenyiKMeans(3, lam=5.0, init=centers)
    model.fit(X, sensitive_features=d.s, sample_weight=d.weight)
    parts = [model.inertia_, model.penalty_, model.objective_, *model.proportions_]
    return np.r_[parts, model.cluster_centers_.ravel(), model.contingency_.ravel()]


def algorithm_3(d):
    X = d.X + 100 * d.cluster[:, None]
    centers = np.array([[0.0], [100], [200]]) + np.zeros(4)
    model = RenyiKMeans(3, lam=5.0, init=centers, algorithm="paper")
    model.fit(X, sensitive_features=d.s, sample_weight=d.weight)
    return np.r_[model.objective_, model.proportions_]


TAKES_WEIGHTS = {
    "renyi_correlation": lambda d: renyi_correlation(d.cluster, d.s, sample_weight=d.weight),
    "renyi_correlation given": lambda d: (
        renyi_correlation(d.cluster, d.s, given=d.y, sample_weight=d.weight).correlations
    ),
    "renyi_from_soft": lambda d: renyi_from_soft(d.F, d.s, sample_weight=d.weight),
    "renyi_binary": lambda d: renyi_binary(d.cluster, d.s, sample_weight=d.weight).rho,
    "joint_table": lambda d: joint_table(d.cluster, d.s, sample_weight=d.weight).counts,
    "group_rates": of_labels(group_rates, "y", "label"),
    "demographic_parity_ratio": of_labels(demographic_parity_ratio, "y", "label"),
    "demographic_parity_difference": of_labels(demographic_parity_difference, "y", "label"),
    "equal_opportunity_difference": of_labels(equal_opportunity_difference, "y", "label"),
    "equalized_odds_difference": of_labels(equalized_odds_difference, "y", "label"),
    "cluster_proportions": of_labels(cluster_proportions, "cluster"),
    "cluster_penalty": of_labels(cluster_penalty, "cluster"),
    "weighted_deviation": of_labels(weighted_deviation, "cluster"),
    "balance": of_labels(balance, "cluster"),
    "proportion_summary": lambda d: list(of_labels(proportion_summary, "cluster")(d).values()),
    "renyi_kmeans_objective": lambda d: renyi_kmeans_objective(
        d.X, d.cluster, sensitive_features=d.s, sample_weight=d.weight, lam=3.0
    ),
    "RenyiKMeans": kmeans,
    "RenyiKMeans, Algorithm 3": algorithm_3,
    "penalty_value": penalty_value,
    "penalty_value given": penalty_value_given,
    "RenyiClassifier": fitted(RenyiClassifier(3, tol=1e-8)),
    "RenyiClassifier, gd": fitted(RenyiClassifier(0.1, solver="gd", tol=1e-8, max_iter=20_000)),
    "equalized odds": fitted(RenyiClassifier(3, fairness="equalized_odds", tol=1e-8)),
    "equal opportunity": fitted(RenyiClassifier(3, fairness="equal_opportunity", tol=1e-8)),
    "balanced classes": fitted(RenyiClassifier(3, class_weight="balanced", tol=1e-8)),
    "weighted classes": fitted(RenyiClassifier(3, class_weight={0: 3.0}, tol=1e-8)),
    **{
        repr(penalty): fitted(PenalizedClassifier(penalty, 3, tol=1e-7))
        for penalty in (PearsonPenalty(), HSICPenalty(), ScoreBinsPenalty())
    },
    "lam_path": lambda d: (
        lam_path(
            RenyiClassifier(tol=1e-8),
            d.X,
            d.y,
            lams=[0, 2],
            sensitive_features=d.s,
            sample_weight=d.weight,
        )[1].coef_
    ),
    "fit_to_target": lambda d: (
        fit_to_target(
            RenyiClassifier(tol=1e-8), d.X, d.y, sensitive_features=d.s, sample_weight=d.weight
        ).lam
    ),
}


@pytest.mark.parametrize("name", TAKES_WEIGHTS)
def test_weights_give_the_result_of_repeated_rows(name):
    data = Data()
    weighted, repeated = (TAKES_WEIGHTS[name](d) for d in (data, data.repeated()))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", TAKES_WEIGHTS)
def test_the_weights_are_not_ignored(name):
    data, unweighted = Data(), Data()
    unweighted.weight = None
    weighted, plain = (np.asarray(TAKES_WEIGHTS[name](d)) for d in (data, unweighted))
    assert weighted.shape != plain.shape or not np.allclose(weighted, plain, rtol=1e-6)


@pytest.mark.parametrize(
    "penalty", [RenyiPenalty(), BinaryRenyiPenalty(), PearsonPenalty(), HSICPenalty()]
)
def test_weights_give_the_penalty_of_repeated_rows(penalty):
    data = Data()
    kept = data.weight > 0
    weighted = Groups.from_labels(data.s[kept], data.weight[kept])
    repeated = data.repeated()
    value, _ = penalty.value_and_grad(data.F[kept], weighted)
    assert value == pytest.approx(penalty.value_and_grad(repeated.F, repeated.s)[0], rel=1e-9)


def test_class_weights_affect_only_the_loss():
    data = Data()
    weight = np.where(data.y == 1, 5.0, 1.0)
    clf = RenyiClassifier(2, class_weight={1: 5.0}, tol=1e-8)
    clf.fit(data.X, data.y, sensitive_features=data.s)
    F = clf.predict_proba(data.X)
    loss = np.average(-np.log(F[np.arange(N), data.y]), weights=weight)
    penalty = renyi_from_soft(F, data.s) ** 2
    assert clf.history_["loss"][-1] == pytest.approx(loss)
    assert clf.history_["penalty"][-1] == pytest.approx(penalty)
    assert penalty != pytest.approx(renyi_from_soft(F, data.s, sample_weight=weight) ** 2)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
def test_class_weights_without_a_penalty_match_scikit_learn(class_weight):
    from sklearn.linear_model import LogisticRegression

    data = Data()
    ours = RenyiClassifier(0, class_weight=class_weight, tol=1e-8)
    ours.fit(data.X, data.y, sensitive_features=data.s)
    theirs = LogisticRegression(C=np.inf, class_weight=class_weight, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(ours.coef_, theirs.fit(data.X, data.y).coef_, atol=1e-5)


def test_class_weight_of_an_unknown_class_raises():
    data = Data()
    with pytest.raises(ValueError, match="class_weight contains 'yes', which is not a class of y"):
        RenyiClassifier(class_weight={"yes": 2}).fit(data.X, data.y, sensitive_features=data.s)


def test_negative_class_weight_raises():
    data = Data()
    with pytest.raises(ValueError, match="class_weight has negative values, such as -1"):
        RenyiClassifier(class_weight={0: -1}).fit(data.X, data.y, sensitive_features=data.s)


def test_a_zero_weight_point_joins_the_nearest_cluster_without_effect():
    X = np.array([[0.0], [1], [10], [11], [10.4]])
    s, weight = [0, 1, 0, 1, 1], [1, 1, 1, 1, 0]
    model = RenyiKMeans(2, lam=1.0, init=[0, 0, 1, 1, 0])
    model.fit(X, sensitive_features=s, sample_weight=weight)
    without = RenyiKMeans(2, lam=1.0, init=[0, 0, 1, 1]).fit(X[:4], sensitive_features=s[:4])
    assert model.labels_.tolist() == [0, 0, 1, 1, 1]
    np.testing.assert_array_equal(model.cluster_centers_, without.cluster_centers_)
    assert model.objective_ == without.objective_


def test_heavy_point_moves_as_a_whole_or_not_at_all():
    # Three copies of weight 1 could move one at a time. The descent must evaluate the move of
    # all three, because they are one point of weight 3.
    X, s = np.array([[0.0], [0.1], [2.0], [2.1]]), [0, 1, 1, 1]
    weight = [1.0, 3.0, 1.0, 1.0]
    model = RenyiKMeans(2, lam=4.0, init=[0, 0, 1, 1])
    model.fit(X, sensitive_features=s, sample_weight=weight)
    objectives = {
        labels: renyi_kmeans_objective(
            X, labels, sensitive_features=s, sample_weight=weight, lam=4.0
        ).objective
        for labels in [(0, 0, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 0)]
    }
    assert model.objective_ <= min(objectives.values()) + 1e-12
