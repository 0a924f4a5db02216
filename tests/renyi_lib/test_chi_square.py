"""Chi-square information matches oracles, bounds by rho_R^2, FERMI's formula and differences."""

import numpy as np
import pytest
from dit.divergences.maximum_correlation import maximum_correlation_pmf
from hypothesis import given
from sklearn.metrics import accuracy_score

from renyi_lib.classification import PenalizedClassifier
from renyi_lib.correlation import renyi_from_joint
from renyi_lib.penalties import (
    ChiSquarePenalty,
    Groups,
    RenyiPenalty,
    best_response_W,
    chi_square_given_W,
)
from tests.renyi_lib.test_penalties import (
    PROPERTY,
    cases,
    numerical_gradient,
    problem,
    random_table,
)


def chi_square(T):
    """Pearson's statistic over the number of samples, by its definition."""
    expected = np.outer(T.sum(axis=1), T.sum(axis=0))
    return ((T - expected) ** 2 / expected).sum()


@PROPERTY
@given(cases)
def test_value_is_the_chi_square_of_the_table_divided_by_n(case):
    F, s, rng = problem(*case[:1], c=case[1], d=case[2])
    groups = Groups.from_labels(s, rng.uniform(0.1, 2, size=len(s)))
    value, _ = ChiSquarePenalty().value_and_grad(F, groups)
    assert value == pytest.approx(chi_square(groups.table(F)), rel=1e-9)


@PROPERTY
@given(cases)
def test_value_is_the_sum_of_squared_singular_values_after_the_first(case):
    T, q, _ = random_table(*case)
    singular = np.linalg.svd(T / np.sqrt(np.outer(T.sum(axis=1), q)), compute_uv=False)
    value, _ = chi_square_given_W(T, q, best_response_W(T, q))
    assert value == pytest.approx((singular[1:] ** 2).sum(), rel=1e-9)


@PROPERTY
@given(cases)
def test_value_is_bounded_by_multiples_of_rho_squared(case):
    T, q, _ = random_table(*case)
    value, _ = chi_square_given_W(T, q, best_response_W(T, q))
    rho2 = renyi_from_joint(T) ** 2
    assert rho2 <= value * (1 + 1e-9)
    assert value <= (min(T.shape) - 1) * rho2 * (1 + 1e-9)


@pytest.mark.parametrize(("c", "d"), [(2, 2), (2, 5), (4, 2)])
def test_value_equals_rho_squared_for_two_classes_or_two_groups(c, d):
    T, q, _ = random_table(1, c=c, d=d)
    value, _ = chi_square_given_W(T, q, best_response_W(T, q))
    assert value == pytest.approx(maximum_correlation_pmf(T) ** 2, rel=1e-9)
    F, s, _ = problem(2, c=c, d=d)
    value, gradient = ChiSquarePenalty().value_and_grad(F, s)
    expected, by_renyi = RenyiPenalty().value_and_grad(F, s)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, by_renyi, atol=1e-12)


def test_both_bounds_are_attained():
    one_direction = np.array([[0.3, 0.05, 0.05], [0.05, 0.15, 0.15], [0.05, 0.1, 0.1]])
    q = one_direction.sum(axis=0)
    value, _ = chi_square_given_W(one_direction, q, best_response_W(one_direction, q))
    assert value == pytest.approx(renyi_from_joint(one_direction) ** 2, rel=1e-10)
    equal = (np.eye(3) + 1) / 12
    value, _ = chi_square_given_W(equal, equal.sum(axis=0), best_response_W(equal, equal.sum(0)))
    assert value == pytest.approx(2 * renyi_from_joint(equal) ** 2, rel=1e-10)


@PROPERTY
@given(cases)
def test_no_other_W_has_a_larger_value(case):
    T, q, rng = random_table(*case)
    W = best_response_W(T, q)
    best, _ = chi_square_given_W(T, q, W)
    for size in (1e-3, 1.0):
        other, _ = chi_square_given_W(T, q, W + size * rng.normal(size=W.shape))
        assert other < best


@PROPERTY
@given(cases)
def test_value_given_W_matches_the_formula_of_fermi(case):
    T, q, rng = random_table(*case)
    W = rng.normal(size=T.shape[::-1])
    traces = -np.trace(W @ np.diag(T.sum(axis=1)) @ W.T)
    traces += 2 * np.trace(W @ T @ np.diag(q**-0.5)) - 1
    value, _ = chi_square_given_W(T, q, W)
    assert value == pytest.approx(traces, rel=1e-9, abs=1e-9)


def test_gradients_agree_with_differences():
    T, q, rng = random_table(5, c=3, d=4)
    W = rng.normal(size=(4, 3))
    _, dT = chi_square_given_W(T, q, W)
    np.testing.assert_allclose(
        dT, numerical_gradient(lambda T: chi_square_given_W(T, q, W)[0], T), atol=1e-7
    )
    F, s, _ = problem(6, c=3, d=4)
    groups = Groups.from_labels(s)
    _, dF = ChiSquarePenalty().value_and_grad(F, groups)
    numerical = numerical_gradient(lambda F: ChiSquarePenalty().value_and_grad(F, groups)[0], F)
    np.testing.assert_allclose(dF, numerical, atol=1e-8)


def test_curvature_agrees_with_differences_for_fixed_shares_of_the_classes():
    T, q, _ = random_table(3, c=2, d=4)
    expected = np.outer(T.sum(axis=1), q)
    found = ChiSquarePenalty().table_curvature(T, q)
    for index in np.ndindex(T.shape):
        step = np.zeros_like(T)
        step[index] = 1e-3
        low, middle, high = (
            np.sum((table - expected) ** 2 / expected) for table in (T - step, T, T + step)
        )
        assert found[index] == pytest.approx((low - 2 * middle + high) / 1e-6, rel=1e-6)


def test_stacked_tables_give_the_values_of_single_tables():
    tables = np.stack([random_table(seed, c=3, d=4)[0] for seed in range(5)])
    q = tables.sum(axis=-2)
    values, dT = chi_square_given_W(tables, q, best_response_W(tables, q))
    for k, T in enumerate(tables):
        value, one = chi_square_given_W(T, q[k], best_response_W(T, q[k]))
        assert values[k] == value
        np.testing.assert_array_equal(dT[k], one)


def test_a_class_or_a_group_without_mass_adds_nothing():
    T, q, _ = random_table(7, c=3, d=3)
    value, dT = chi_square_given_W(T, q, best_response_W(T, q))
    wider = np.pad(T, ((0, 1), (0, 1)))
    q = wider.sum(axis=0)
    more, by_wider = chi_square_given_W(wider, q, best_response_W(wider, q))
    assert more == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(by_wider[:3, :3], dT, atol=1e-12)


def test_value_has_no_kink_where_rho_squared_has_one():
    penalty = ChiSquarePenalty()
    assert not penalty.has_kinks(n_classes=3, n_groups=3)
    assert penalty.smoothed(0.1) is penalty
    F, s, _ = problem(8, c=3, d=4)
    assert penalty.best_response(F, s).shape == (4, 3)


def test_classifier_accepts_the_penalty():
    rng = np.random.default_rng(0)
    s = rng.integers(3, size=600)
    X = np.column_stack([s == 1, s == 2, rng.normal(size=600)]) + 0.3 * rng.normal(size=(600, 3))
    y = np.argmax(X + 0.3 * rng.normal(size=(600, 3)), axis=1)
    found = []
    for lam in (0.0, 10.0):
        clf = PenalizedClassifier(ChiSquarePenalty(), lam=lam).fit(X, y, sensitive_features=s)
        F = clf.predict_proba(X)
        found.append((ChiSquarePenalty().value_and_grad(F, s)[0], accuracy_score(y, F.argmax(1))))
    (before, accurate), (after, less) = found
    assert before > 0.3
    assert after < 0.01
    assert less < accurate
