"""Newton's method under bounds on linear functions matches general solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from renyi_lib.baselines._newton import _multipliers, newton
from renyi_lib.baselines.zafar import logistic_loss
from tests.renyi_lib.baselines import biased_data, logistic_objective


def problem(seed=0, k=2):
    X, y, _ = biased_data(n=200, seed=seed)
    A = np.random.default_rng(seed + 1).normal(size=(k, X.shape[1] + 1))
    return X, y, np.column_stack([X, np.ones(len(X))]), A


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("bound", [0.0, 0.05, 0.3])
def test_solution_matches_a_general_solver(bound, k):
    X, y, with_ones, A = problem(k=k)
    solution = newton(
        logistic_loss(y), with_ones, np.zeros(5), ridge=np.zeros(5), A=A, bound=bound, tol=1e-10
    )
    general = minimize(
        logistic_objective,
        np.zeros(5),
        (X, y),
        jac=True,
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda t, a=a, sign=sign: bound - sign * (a @ t)}
            for a in A
            for sign in ([1, -1] if bound else [])
        ]
        + [{"type": "eq", "fun": lambda t: A @ t}] * (bound == 0),
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert solution.converged
    assert np.abs(A @ solution.theta).max() <= bound + 1e-12
    assert solution.value == pytest.approx(general.fun, abs=1e-10)
    np.testing.assert_allclose(solution.theta, general.x, atol=1e-4)


def test_lagrangian_is_stationary_and_multipliers_push_inwards():
    X, y, with_ones, A = problem(k=3)
    solution = newton(
        logistic_loss(y), with_ones, np.zeros(5), ridge=np.zeros(5), A=A, bound=0.2, tol=1e-10
    )
    gradient = logistic_objective(solution.theta, X, y)[1]
    np.testing.assert_allclose(gradient + A.T @ solution.multipliers, 0, atol=1e-9)
    reached = np.abs(A @ solution.theta) > 0.2 - 1e-9
    assert reached.any()
    assert not reached.all()
    assert (solution.multipliers[~reached] == 0).all()
    assert (np.sign(solution.multipliers) == np.sign(A @ solution.theta))[reached].all()


def test_collinear_and_zero_columns_are_supported():
    X, y, with_ones, _ = problem()
    wide = np.column_stack([with_ones, with_ones[:, 0], np.zeros(len(X))])
    narrow = newton(logistic_loss(y), with_ones, np.zeros(5), ridge=np.zeros(5), tol=1e-9)
    same = newton(logistic_loss(y), wide, np.zeros(7), ridge=np.zeros(7), tol=1e-9)
    assert same.converged
    assert same.value == pytest.approx(narrow.value, abs=1e-12)
    np.testing.assert_allclose(wide @ same.theta, with_ones @ narrow.theta, atol=1e-6)


def test_too_few_steps_are_reported_as_not_converged():
    _, y, with_ones, _ = problem()
    short = newton(logistic_loss(y), with_ones, np.zeros(5), ridge=np.zeros(5), max_iter=1)
    assert not short.converged
    assert short.n_iter == 1


@settings(deadline=None, derandomize=True, max_examples=50)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), bound=st.floats(0, 2))
def test_multipliers_of_a_quadratic_problem_satisfy_optimality(seed, k, bound):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(k, k + 2))
    M, r = root @ root.T, rng.normal(size=k)
    mu = _multipliers(M, r, bound)
    rest = r - M @ mu
    assert (np.abs(rest) <= bound + 1e-9).all()
    np.testing.assert_allclose(rest[mu != 0], bound * np.sign(mu[mu != 0]), atol=1e-9)


def test_derivatives_of_the_logistic_loss_agree_with_differences():
    y, z, h = np.array([0, 1, 0, 1]), np.array([-2.0, -0.3, 0.7, 3.0]), 1e-5
    phi = logistic_loss(y)
    _, first, second = phi(z)
    np.testing.assert_allclose(first, (phi(z + h)[0] - phi(z - h)[0]) / (2 * h), atol=1e-9)
    np.testing.assert_allclose(second, (phi(z + h)[1] - phi(z - h)[1]) / (2 * h), atol=1e-9)
