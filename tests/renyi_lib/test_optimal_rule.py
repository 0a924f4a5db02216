"""The theorem of the book's chapter "The optimal rule", on random finite populations.

A population has m types of people, with shares pi, eta = P(Y=1 | type) and P(S=a | type). A
logistic regression on indicators of the types is then a free number p for each type, and the
library's own classifier minimizes log-loss + lam * rho_R^2 over all functions.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog

from renyi_lib import RenyiClassifier

LAMS = [0.3, 3.0, 30.0, 300.0]


class Population:
    """m types and d groups; given the type, label and group are independent."""

    def __init__(self, seed, m=6, d=2):
        rng = np.random.default_rng(seed)
        self.pi = rng.dirichlet(np.full(m, 3.0))
        self.eta = rng.uniform(0.05, 0.95, m)
        self.of_group = rng.dirichlet(np.ones(d), m)
        self.q = self.pi @ self.of_group
        self.m, self.d = m, d

    def rows(self):
        """One row for each type, label and group, with its probability as weight."""
        x, y, s = (a.ravel() for a in np.indices((self.m, 2, self.d)))
        of_label = np.where(y == 1, self.eta[x], 1 - self.eta[x])
        return np.eye(self.m)[x], y, s, self.pi[x] * of_label * self.of_group[x, s]

    def scores(self, lam, **options):
        """p, the minimizer for lam, of shape (m,)."""
        X, y, s, weight = self.rows()
        model = RenyiClassifier(lam, fit_intercept=False, tol=1e-9, max_iter=20_000, **options)
        model.fit(X, y, sensitive_features=s, sample_weight=weight)
        return model.predict_proba(np.eye(self.m))[:, 1]

    def bias(self):
        """beta(x) for two groups."""
        s = self.of_group[:, 1]
        return s / self.q[1] - (1 - s) / self.q[0]

    def gap(self, p):
        return self.pi @ (p * self.bias())

    def multiplier_and_shift(self, p, lam):
        """k and tau of the theorem: the rule is eta - k beta + tau > 1/2."""
        P, D, v = self.pi @ p, self.gap(p), self.q[0] * self.q[1]
        k = lam / 2 * v * D / (P * (1 - P))
        return k, k * D * (1 - 2 * P) / (2 * P * (1 - P))

    def best(self, value, directions, limits):
        """The maximum of pi @ (h * value) over rules h with pi @ (h * direction) <= limit."""
        found = linprog(
            -self.pi * value,
            A_ub=np.atleast_2d(self.pi * directions),
            b_ub=limits,
            bounds=(0, 1),
            method="highs",
        )
        return -found.fun


populations = st.integers(0, 10_000)


@settings(max_examples=25, deadline=None)
@given(seed=populations, lam=st.sampled_from(LAMS))
def test_the_minimizer_thresholded_at_one_half_is_the_bias_score_rule(seed, lam):
    people = Population(seed)
    p = people.scores(lam)
    k, tau = people.multiplier_and_shift(p, lam)
    correction = k * people.bias() - tau
    np.testing.assert_allclose(people.eta, p + 4 * p * (1 - p) * correction, atol=1e-5)
    margin = people.eta - correction - 0.5
    clear = np.abs(margin) > 1e-4
    assert clear.any()
    np.testing.assert_array_equal((p > 0.5)[clear], (margin > 0)[clear])


@settings(max_examples=25, deadline=None)
@given(seed=populations, lam=st.sampled_from(LAMS))
def test_no_rule_with_as_small_a_gap_does_better(seed, lam):
    """The rule is optimal for costs that tau sets, and within 2 |tau| of the best accuracy."""
    people = Population(seed)
    p = people.scores(lam)
    k, tau = people.multiplier_and_shift(p, lam)
    sign = np.sign(people.gap(people.eta))
    assume(np.abs(people.eta - k * people.bias() + tau - 0.5).min() > 1e-4)
    h = p > 0.5
    own = sign * people.gap(h)
    value = people.eta - 0.5 + tau
    best = people.best(value, sign * people.bias(), [own + 1e-12])
    assert people.pi @ (h * value) == pytest.approx(best, abs=1e-7)
    accuracy = people.best(2 * people.eta - 1, sign * people.bias(), [own + 1e-12])
    assert accuracy - people.pi @ (h * (2 * people.eta - 1)) <= 2 * abs(tau) + 1e-7


@settings(max_examples=15, deadline=None)
@given(seed=populations)
def test_the_multiplier_saturates_and_the_shift_vanishes(seed):
    people = Population(seed)
    b, eta = people.bias(), people.eta
    assume(abs(people.gap(eta)) > 0.02)

    def limit_scores(kappa):
        """The root p of eta = p + kappa b p (1 - p), for each type."""
        a = kappa * b
        root = np.sqrt((1 + a) ** 2 - 4 * a * eta)
        return 2 * eta / (1 + a + root)

    kappa = brentq(lambda kappa: people.gap(limit_scores(kappa)), -200, 200, xtol=1e-13)
    found = [people.multiplier_and_shift(people.scores(lam), lam) for lam in (1e2, 1e3, 1e4)]
    errors = [abs(k - kappa / 4) for k, _ in found]
    assert errors[2] < 0.02 * abs(kappa / 4)
    assert errors[2] < errors[1] < errors[0]
    assert abs(found[2][1]) < 0.02 * abs(kappa / 4)


@settings(max_examples=20, deadline=None)
@given(seed=populations, lam=st.sampled_from(LAMS))
def test_the_gap_of_the_scores_shrinks_but_keeps_its_sign(seed, lam):
    people = Population(seed)
    before, after = people.gap(people.eta), people.gap(people.scores(lam))
    assume(abs(before) > 1e-3)
    assert 0 < after / before < 1


def test_gap_of_the_decisions_can_converge_to_either_side_of_zero():
    ends = []
    for seed in range(40):
        people = Population(seed, m=30)
        before, after = (people.gap(people.scores(lam) > 0.5) for lam in (0.0, 1e4))
        if abs(before) > 0.1:
            ends.append(after / before)
    assert min(ends) < -0.02
    assert max(ends) > 0.02


@settings(max_examples=20, deadline=None)
@given(seed=populations, lam=st.sampled_from([0.3, 3.0, 30.0]))
def test_multipliers_of_several_groups_sum_to_zero(seed, lam):
    people = Population(seed, d=3)
    p = people.scores(lam)
    P, rates = people.pi @ p, (people.pi * p) @ people.of_group / people.q
    mu = lam / 2 * people.q * (rates - P) / (P * (1 - P))
    rho2 = people.q @ (rates - P) ** 2 / (P * (1 - P))
    tau = lam / 4 * rho2 * (1 - 2 * P) / (P * (1 - P))
    assert mu.sum() == pytest.approx(0, abs=1e-9)
    correction = people.of_group @ (mu / people.q) - tau
    np.testing.assert_allclose(people.eta, p + 4 * p * (1 - p) * correction, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=populations, lam=st.sampled_from([0.3, 3.0, 30.0]))
def test_for_equal_opportunity_the_bias_score_gains_the_factor_eta(seed, lam):
    people = Population(seed)
    p = people.scores(lam, fairness="equal_opportunity")
    joint = people.pi * people.eta
    among = joint / joint.sum()
    q = among @ people.of_group
    b = people.of_group[:, 1] / q[1] - people.of_group[:, 0] / q[0]
    P, D = among @ p, among @ (p * b)
    k = lam / 2 * q[0] * q[1] * D / (P * (1 - P))
    tau = k * D * (1 - 2 * P) / (2 * P * (1 - P))
    correction = people.eta / joint.sum() * (k * b - tau)
    np.testing.assert_allclose(people.eta, p + 4 * p * (1 - p) * correction, atol=1e-5)


def test_for_equalized_odds_the_corrections_of_both_classes_add_up():
    people, lam = Population(3), 3.0
    p = people.scores(lam, fairness="equalized_odds")
    correction = 0.0
    for of_class in (1 - people.eta, people.eta):
        joint = people.pi * of_class
        among = joint / joint.sum()
        q = among @ people.of_group
        b = people.of_group[:, 1] / q[1] - people.of_group[:, 0] / q[0]
        P, D = among @ p, among @ (p * b)
        k = lam / 2 * q[0] * q[1] * D / (P * (1 - P))
        tau = k * D * (1 - 2 * P) / (2 * P * (1 - P))
        correction = correction + of_class / joint.sum() * (k * b - tau)
    np.testing.assert_allclose(people.eta, p + 4 * p * (1 - p) * correction, atol=1e-5)
