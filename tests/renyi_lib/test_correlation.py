"""The Rényi correlation matches independent oracles and satisfies its axioms, at the edges too."""

import dit
import mpmath
import numpy as np
import pandas as pd
import pytest
from dit.divergences.maximum_correlation import (
    conditional_maximum_correlation_pmf,
    maximum_correlation,
    maximum_correlation_pmf,
)
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import minimize
from scipy.stats import chi2_contingency
from threadpoolctl import threadpool_limits

from renyi_lib.correlation import (
    SmallSampleWarning,
    joint_table,
    maximal_functions,
    normalized_table,
    renyi_binary,
    renyi_correlation,
    renyi_from_joint,
    renyi_from_soft,
)
from renyi_lib.dependence import (
    hsic,
    normalized_mutual_information,
    pearson_correlation,
)

properties = settings(deadline=None, derandomize=True)

counts = st.integers(0, 20)
tables = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=counts
).filter(np.any)


def samples(*variables):
    """Samples of several variables, each drawn from its own strategy of labels."""
    return st.lists(st.tuples(*variables), min_size=1, max_size=40).map(
        lambda rows: [np.array(column) for column in zip(*rows)]
    )


def random_table(rng, c, d):
    """A joint table, sometimes with many zeros, whose rows and columns all have mass."""
    while True:
        P = rng.dirichlet(np.full(c * d, rng.choice([0.1, 1.0, 10.0]))).reshape(c, d)
        P[P < 1e-6] = 0
        if P.any(axis=0).all() and P.any(axis=1).all():
            return P / P.sum()


def random_tables(number, seed, largest=8):
    rng = np.random.default_rng(seed)
    return [random_table(rng, *rng.integers(2, largest + 1, size=2)) for _ in range(number)]


def labels_of(table):
    """Samples whose joint table is the given table of counts."""
    return [np.repeat(index.ravel(), table.ravel()) for index in np.indices(table.shape)]


def exactly_independent(table):
    """Whether n_ij N = n_i n_j for all i, j, in integers of any size."""
    n = table.astype(object)
    return bool(np.all(n * n.sum() == np.outer(n.sum(axis=1), n.sum(axis=0))))


def second_singular_value(P):
    """Theorem 1 with 60 digits, from the exact numbers in the table."""
    with mpmath.workdps(60):
        P = mpmath.matrix(P.tolist())
        p = [mpmath.fsum(P[i, :]) for i in range(P.rows)]
        q = [mpmath.fsum(P[:, j]) for j in range(P.cols)]
        Q = mpmath.matrix(P.rows, P.cols)
        for i in range(P.rows):
            for j in range(P.cols):
                Q[i, j] = P[i, j] / mpmath.sqrt(p[i] * q[j])
        return sorted(mpmath.svd_r(Q, compute_uv=False))[-2]


# --- independent oracles -----------------------------------------------------------------------


def test_correlation_agrees_with_dit_on_hundreds_of_random_tables():
    for P in random_tables(500, seed=0):
        assert renyi_from_joint(P) == pytest.approx(maximum_correlation_pmf(P), abs=1e-10)


def test_correlation_agrees_with_dit_for_named_outcomes():
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.choice(list("xyz"), 30), rng.choice(list("uvw"), 30)
        outcomes, frequency = np.unique([x + y for x, y in zip(a, b)], return_counts=True)
        distribution = dit.Distribution(outcomes.tolist(), (frequency / 30).tolist())
        expected = maximum_correlation(distribution, [[0], [1]])
        assert renyi_correlation(a, b) == pytest.approx(expected, abs=1e-10)


def test_the_largest_conditional_correlation_agrees_with_dit():
    rng = np.random.default_rng(2)
    for _ in range(50):
        cells = rng.integers(1, 9, size=(3, 4, 2))
        a, b, s = labels_of(cells)
        expected = conditional_maximum_correlation_pmf(cells / cells.sum())
        found = renyi_correlation(a, b, given=s).correlations.max()
        assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("P", random_tables(12, seed=3, largest=4))
def test_no_pair_of_functions_has_a_larger_correlation(P):
    c = len(P)
    p, q = P.sum(axis=1), P.sum(axis=0)

    def minus_correlation(x):
        f, g = x[:c] - p @ x[:c], x[c:] - q @ x[c:]
        return -(f @ P @ g) / np.sqrt((p @ f**2) * (q @ g**2))

    rng = np.random.default_rng(0)
    found = max(-minimize(minus_correlation, rng.normal(size=sum(P.shape))).fun for _ in range(6))
    assert renyi_from_joint(P) == pytest.approx(found, abs=1e-7)


def test_a_small_correlation_of_counts_has_a_small_relative_error():
    rng = np.random.default_rng(4)
    for _ in range(20):
        table = 1000 * np.outer(rng.integers(1, 40, size=4), rng.integers(1, 40, size=3))
        table[tuple(rng.integers(0, 3, size=2))] += 1
        exact = float(second_singular_value(table))
        assert exact < 1e-3
        assert renyi_from_joint(table) == pytest.approx(exact, rel=1e-12)


def test_tiny_correlation_of_probabilities_is_accurate_to_rounding():
    rng = np.random.default_rng(5)
    for size in [1e-6, 1e-9, 1e-12, 1e-15, 0]:
        for _ in range(5):
            P = np.outer(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(3)))
            P *= 1 + size * rng.normal(size=P.shape)
            assert abs(renyi_from_joint(P) - float(second_singular_value(P))) < 1e-16


# --- Rényi's axioms and their consequences -----------------------------------------------------


@given(tables)
@properties
def test_correlation_lies_between_zero_and_one(table):
    assert 0.0 <= renyi_from_joint(table) <= 1.0


@given(tables)
@properties
def test_correlation_is_symmetric(table):
    assert renyi_from_joint(table) == pytest.approx(renyi_from_joint(table.T), abs=1e-14)


@given(tables, st.floats(1e-300, 1e300), st.randoms(use_true_random=False))
@properties
def test_scale_and_order_of_the_table_have_no_effect(table, scale, random):
    rows = random.sample(range(table.shape[0]), table.shape[0])
    columns = random.sample(range(table.shape[1]), table.shape[1])
    other = (table * scale)[np.ix_(rows, columns)]
    assert renyi_from_joint(other) == pytest.approx(renyi_from_joint(table), abs=1e-13)


@given(samples(st.integers(-3, 3), st.integers(0, 4)), st.permutations("abcdefg"))
@properties
def test_one_to_one_relabeling_has_no_effect(pair, names):
    a, b = pair
    renamed = [names[label] for label in a]
    assert renyi_correlation(renamed, b * 1e9) == pytest.approx(renyi_correlation(a, b), abs=1e-14)


@given(
    arrays(np.int64, st.integers(1, 6), elements=st.integers(1, 1000)),
    arrays(np.int64, st.integers(1, 6), elements=st.integers(1, 1000)),
)
@properties
def test_independent_counts_give_exactly_zero(p, q):
    assert renyi_from_joint(np.outer(p, q)) == 0.0


@given(tables)
@properties
def test_correlation_is_zero_only_for_independent_variables(table):
    # If n_ij N differs from n_i n_j it does so by 1 or more, which bounds rho from below.
    if not exactly_independent(table):
        assert renyi_from_joint(table) >= 0.999 / table.sum() ** 2


@given(st.lists(st.integers(0, 9), min_size=2, max_size=50), st.randoms(use_true_random=False))
@properties
def test_correlation_is_one_if_one_variable_determines_the_other(a, random):
    images = [random.randrange(4) for _ in range(10)]
    b = [images[label] for label in a]
    assume(len(set(b)) > 1)
    rho = renyi_correlation(a, b, kind="discrete")
    assert rho <= 1.0
    assert rho == pytest.approx(1.0, abs=4e-15)


def test_correlation_is_one_if_the_variables_share_a_common_function():
    shared = np.kron(np.diag([2, 5]), np.array([[1, 2], [3, 4]]))
    assert renyi_from_joint(shared) == pytest.approx(1.0, abs=4e-15)


@given(tables, st.data())
@properties
def test_data_processing_cannot_increase_the_correlation(table, data):
    d = table.shape[1]
    noise = data.draw(arrays(float, (d, 3), elements=st.floats(0.01, 1)))
    channel = noise / noise.sum(axis=1, keepdims=True)
    rho = renyi_from_joint(table)
    assert renyi_from_joint(table @ channel) <= rho + 1e-13
    pairs_merged = np.add.reduceat(table, range(0, d, 2), axis=1)
    assert renyi_from_joint(pairs_merged) <= rho + 1e-13


@given(samples(st.integers(0, 1), st.integers(0, 1)))
@properties
def test_two_binary_variables_give_the_absolute_value_of_pearson(pair):
    a, b = pair
    assert renyi_correlation(a, b) == pytest.approx(abs(pearson_correlation(a, b)), abs=1e-14)


@given(samples(st.integers(0, 5), st.integers(0, 1)))
@properties
def test_theorem_2_equals_theorem_1_for_a_binary_variable(pair):
    a, b = pair
    assert renyi_binary(a, b).rho == pytest.approx(renyi_correlation(a, b), abs=1e-14)


@given(samples(st.integers(0, 5), st.integers(0, 1)))
@properties
def test_gamma_and_w_solve_the_least_squares_problem_of_theorem_2(pair):
    a, b = pair
    values, codes = np.unique(a, return_inverse=True)
    one_hot = np.eye(len(values))[codes]
    w = np.linalg.lstsq(one_hot, b - 0.5)[0]
    rho, gamma, found = renyi_binary(a, b)
    np.testing.assert_allclose(found, w, atol=1e-12)
    assert gamma == pytest.approx(np.mean((one_hot @ w - b + 0.5) ** 2), abs=1e-14)
    q = b.mean()
    if 0 < q < 1:
        assert rho**2 == pytest.approx(1 - gamma / (q * (1 - q)), abs=1e-13)


@given(tables)
@properties
def test_the_squared_singular_values_add_up_to_chi_square_over_n(table):
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    chi_square = chi2_contingency(table, correction=False).statistic
    values = maximal_functions(table).singular_values
    assert np.sum(values**2) == pytest.approx(chi_square / table.sum(), abs=1e-12)
    if min(table.shape) == 2:
        rho = renyi_from_joint(table)
        assert table.sum() * rho**2 == pytest.approx(chi_square, abs=1e-10)


# --- the maximizing functions ------------------------------------------------------------------


@given(tables)
@example(np.outer([1, 2, 3], [4, 5]))
@example(np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]]))
@example(np.diag([1, 1, 1, 10**12]))
@properties
def test_maximal_functions_satisfy_the_constraints_and_attain_rho(table):
    rho, f, g, values = maximal_functions(table)
    P = table / table.sum()
    p, q = P.sum(axis=1), P.sum(axis=0)
    assert rho == pytest.approx(renyi_from_joint(table), abs=1e-14)
    assert f @ P @ g == pytest.approx(rho, abs=1e-12)
    assert p @ f == pytest.approx(0, abs=1e-13)
    assert q @ g == pytest.approx(0, abs=1e-13)
    both_vary = np.count_nonzero(p) > 1 and np.count_nonzero(q) > 1
    assert p @ f**2 == pytest.approx(float(both_vary), abs=1e-12)
    assert q @ g**2 == pytest.approx(float(both_vary), abs=1e-12)
    assert not f[p == 0].any()
    assert not g[q == 0].any()
    assert len(values) == min(table.shape) - 1
    assert np.all(np.diff(values) <= 0)


@pytest.mark.parametrize("P", random_tables(20, seed=6))
def test_each_maximal_function_is_proportional_to_the_conditional_mean_of_the_other(P):
    rho, f, g, _ = maximal_functions(P)
    np.testing.assert_allclose(P @ g / P.sum(axis=1), rho * f, atol=1e-11)
    np.testing.assert_allclose(f @ P / P.sum(axis=0), rho * g, atol=1e-11)


@pytest.mark.parametrize("P", random_tables(20, seed=7))
def test_singular_values_match_the_normalized_table_after_the_first(P):
    all_values = np.linalg.svd(normalized_table(P), compute_uv=False)
    assert all_values[0] == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(maximal_functions(P).singular_values, all_values[1:], atol=1e-14)


def test_maximal_functions_of_a_nearly_independent_table_have_mean_zero():
    P = np.outer([0.2, 0.3, 0.5], [0.1, 0.9])
    P[0, 0] += 1e-14
    rho, f, g, _ = maximal_functions(P)
    assert 0 < rho < 1e-13
    assert abs(P.sum(axis=1) @ f) < 1e-14
    assert abs(P.sum(axis=0) @ g) < 1e-14


@given(tables)
@properties
def test_sign_of_f_is_positive_at_its_last_nonzero_row(table):
    f = maximal_functions(table).f
    nonzero = f[np.abs(f) > 1e-6]
    assert len(nonzero) == 0 or nonzero[-1] > 0


def test_q_is_scale_invariant_and_zero_in_empty_rows_and_columns():
    Q = normalized_table([[3, 0, 1], [0, 0, 0], [1, 0, 3]])
    np.testing.assert_allclose(Q, [[0.75, 0, 0.25], [0, 0, 0], [0.25, 0, 0.75]])
    np.testing.assert_allclose(normalized_table(7.5 * Q), normalized_table(Q))


# --- samples, weights, conditions, soft labels -------------------------------------------------


@given(samples(st.integers(-2, 3), st.sampled_from("xyz"), st.integers(0, 3)))
@properties
def test_integer_weights_equal_repeated_rows(columns):
    a, b, weight = columns
    assume(weight.any())
    repeated = renyi_correlation(np.repeat(a, weight), np.repeat(b, weight), kind="discrete")
    assert renyi_correlation(a, b, sample_weight=weight) == pytest.approx(repeated, abs=1e-14)


@given(samples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("uvw"), st.floats(0, 1)))
@properties
def test_conditional_correlation_is_computed_within_each_value(columns):
    a, b, s, weight = columns
    assume(weight.any())
    values, correlations, shares = renyi_correlation(a, b, given=s, sample_weight=weight)
    assert list(values) == [value for value in "uvw" if weight[s == value].any()]
    assert shares.sum() == pytest.approx(1)
    for value, correlation, share in zip(values, correlations, shares):
        own = s == value
        expected = renyi_correlation(a[own], b[own], sample_weight=weight[own])
        assert correlation == pytest.approx(expected, abs=1e-13)
        assert share == pytest.approx(weight[own].sum() / weight.sum())


def test_conditioning_can_hide_and_reveal_dependence():
    a, b = np.repeat([0, 1], 2), np.tile([0, 1], 2)
    assert renyi_correlation(a, b) == 0.0
    assert renyi_correlation(a, b, given=a ^ b).correlations == pytest.approx([1, 1])
    assert renyi_correlation(a, a, given=a).correlations.tolist() == [0, 0]


def test_joint_table_matches_pandas_crosstab():
    rng = np.random.default_rng(8)
    a, b = rng.choice(["x", "y", "z"], 200), rng.integers(-2, 3, 200)
    expected = pd.crosstab(a, b)
    table = joint_table(a, b)
    np.testing.assert_array_equal(table.counts, expected)
    assert table.rows.tolist() == expected.index.tolist()
    assert table.columns.tolist() == expected.columns.tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint8, np.uint64, float])
@pytest.mark.parametrize("offset", [-128, 0, 100])
def test_integer_type_has_no_effect_on_the_counts(dtype, offset):
    if offset < 0 and np.dtype(dtype).kind == "u":
        offset = 128
    rng = np.random.default_rng(9)
    a, b = rng.integers(0, 27, 500), rng.integers(0, 20, 500)
    table = joint_table((a + offset).astype(dtype), (b + offset).astype(dtype))
    np.testing.assert_array_equal(table.counts, joint_table(a, b).counts)
    assert table.rows.tolist() == (np.unique(a) + offset).tolist()


@pytest.mark.parametrize("n", [5000, 5001, 300_001])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, bool])
def test_many_samples_of_few_values_are_counted_correctly(n, dtype):
    # The number of samples decides whether they are counted one or two at a time.
    rng = np.random.default_rng(n)
    a, b = rng.integers(-1, 3, n).astype(dtype), rng.integers(-1, 2, n).astype(dtype)
    np.testing.assert_array_equal(joint_table(a, b).counts, pd.crosstab(a, b))


def test_blocks_of_samples_add_up(monkeypatch):
    rng = np.random.default_rng(10)
    a, b, s = rng.integers(0, 3, (3, 1000))
    weight = rng.random(1000)
    whole = renyi_correlation(a, b, given=s, sample_weight=weight)
    monkeypatch.setattr("renyi_lib._counting._BLOCK", 64)
    parts = renyi_correlation(a, b, given=s, sample_weight=weight)
    np.testing.assert_allclose(parts.correlations, whole.correlations, rtol=1e-12)
    np.testing.assert_array_equal(
        joint_table(a, b).counts, pd.crosstab(a, b).to_numpy(), strict=True
    )


def test_containers_give_the_same_value_as_arrays():
    rng = np.random.default_rng(11)
    a, b = rng.integers(0, 3, 60), rng.choice(["x", "y"], 60)
    expected = renyi_correlation(a, b)
    assert renyi_correlation(a.tolist(), b.tolist()) == expected
    assert renyi_correlation(pd.Series(a), pd.Categorical(b)) == expected
    assert renyi_correlation(pd.DataFrame({"a": a}), b[:, None]) == expected
    assert renyi_from_joint(pd.crosstab(a, b)) == expected


def test_several_columns_are_combined_into_one_variable():
    rng = np.random.default_rng(12)
    sex, race, y = rng.integers(0, 2, (3, 100))
    joint = pd.DataFrame({"sex": sex, "race": race})
    assert renyi_correlation(y, joint) == renyi_correlation(y, 2 * sex + race)


@given(samples(st.integers(0, 3), st.sampled_from("xyz"), st.integers(0, 3)))
@properties
def test_one_hot_probabilities_equal_hard_labels(columns):
    a, b, weight = columns
    assume(weight.any())
    soft = renyi_from_soft(np.eye(4)[a], b, sample_weight=weight)
    assert soft == pytest.approx(renyi_correlation(a, b, sample_weight=weight), abs=1e-14)


def test_soft_label_is_the_limit_of_sampling_it():
    rng = np.random.default_rng(13)
    F, b = rng.dirichlet([0.3, 0.3, 0.3], 6), np.array([0, 1, 2, 0, 1, 2])
    drawn = rng.multinomial(10**6, F)
    by_value = [drawn[b == value].sum(axis=0) for value in range(3)]
    assert renyi_from_soft(F, b) == pytest.approx(renyi_from_joint(by_value), abs=2e-3)
    single = F.astype(np.float32)
    assert renyi_from_soft(single, b) == pytest.approx(renyi_from_soft(F, b), abs=1e-6)


@threadpool_limits.wrap(limits=1)  # threads that wait for each other make small machines crawl
def test_million_samples_with_a_million_cells_are_supported():
    rng = np.random.default_rng(14)
    p = rng.dirichlet(np.ones(1000))
    a = rng.choice(1000, 10**6, p=p)
    b = (a + rng.integers(0, 2, 10**6)) % 1000
    rho, f, g, _ = maximal_functions(joint_table(a, b).counts)
    assert renyi_correlation(a, b) == pytest.approx(rho, abs=1e-12)
    assert 0.9 < rho <= 1.0
    f, g = f[np.unique(a, return_inverse=True)[1]], g[np.unique(b, return_inverse=True)[1]]
    assert pearson_correlation(f, g) == pytest.approx(rho, abs=1e-10)
    assert renyi_correlation(a, a) == pytest.approx(1.0, abs=1e-13)


# --- edge cases and invalid input ----------------------------------------------------------------


def test_a_constant_variable_has_correlation_zero_with_everything():
    b = [0, 1, 1, 0]
    for measure in [
        renyi_correlation,
        pearson_correlation,
        normalized_mutual_information,
        hsic,
        lambda a, b: renyi_binary(a, b).rho,
        lambda a, b: hsic(a, b, normalized=True, kernel_b="gaussian"),
        lambda a, b: hsic(a, b, kernel="linear", kernel_b="linear"),
    ]:
        assert measure([0.1] * 4, b) == 0.0
        assert measure(b, [0.1] * 4) == 0.0
        assert measure([0.1] * 4, [0.1] * 4) == 0.0
        assert measure([0.1], [3]) == 0.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_a_table_of_one_row_or_column_has_correlation_zero(shape):
    table = np.arange(1, 1 + np.prod(shape)).reshape(shape)
    assert renyi_from_joint(table) == 0.0
    rho, f, g, values = maximal_functions(table)
    assert rho == 0.0
    assert not f.any()
    assert not g.any()
    assert len(values) == 0


def test_empty_categories_have_no_effect():
    P = np.array([[4, 0, 1], [0, 0, 0], [2, 0, 3]])
    full = P[np.ix_([0, 2], [0, 2])]
    assert renyi_from_joint(P) == renyi_from_joint(full)
    rho, f, g, values = maximal_functions(P)
    assert rho == maximal_functions(full).rho
    assert f[[0, 2]] == pytest.approx(maximal_functions(full).f)
    assert g[[0, 2]] == pytest.approx(maximal_functions(full).g)
    assert values == pytest.approx([rho, 0])
    categorical = pd.Categorical(["x", "y", "x"], categories=["w", "x", "y", "z"])
    assert renyi_correlation(categorical, [0, 1, 0]) == pytest.approx(1)


def test_zero_weight_samples_are_dropped():
    a, b, weight = [0, 1, 2], [0, 1, 0], [1, 2, 0]
    assert joint_table(a, b, sample_weight=weight).rows.tolist() == [0, 1]
    assert renyi_binary(a, b, sample_weight=weight).w.tolist() == [-0.5, 0.5]


def test_perfect_dependence_with_rare_values_is_one():
    for rare in [1e-3, 1e-20, 1e-200]:
        assert renyi_from_joint(np.diag([1, rare])) == pytest.approx(1.0, abs=1e-15)
    weight = [1, 1e-200]
    assert renyi_binary([0, 1], [0, 1], sample_weight=weight).rho == pytest.approx(1, abs=1e-15)
    rho, gamma, w = renyi_binary([0] * 10**5 + [1], [0] * 10**5 + [1])
    assert rho == pytest.approx(1.0, abs=1e-15)
    assert gamma == 0.0
    assert w.tolist() == [-0.5, 0.5]


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e307])
def test_huge_and_tiny_tables_neither_overflow_nor_vanish(scale):
    table = scale * np.array([[4.0, 1.0], [1.0, 4.0]])
    assert renyi_from_joint(table) == pytest.approx(0.6)
    assert maximal_functions(table).f == pytest.approx([-1, 1])


def test_theorem_2_is_accurate_despite_cancellation():
    # a shifts P(b=1) from 1/2 by one in a million: 1 - gamma / (q (1 - q)) would keep 4 digits.
    half = 10**6
    table = np.array([[half + 1, half - 1], [half - 1, half + 1]])
    a, b = np.indices((2, 2)).reshape(2, 4)
    assert renyi_binary(a, b, sample_weight=table.ravel()).rho == pytest.approx(1e-6, rel=1e-14)
    gamma = renyi_binary(a, b, sample_weight=[half, 1, 1, half]).gamma
    assert gamma == pytest.approx(half / (half + 1) ** 2, rel=1e-14)


def test_larger_value_is_treated_as_one_in_theorem_2():
    assert renyi_binary([0, 1, 1], ["no", "no", "yes"]).w.tolist() == [-0.5, 0.0]
    assert renyi_binary([0, 1, 1], [5, 5, 2]).w.tolist() == [0.5, 0.0]
    assert renyi_binary([0, 1], [0, 0]) == (0.0, 0.0, pytest.approx([-0.5, -0.5]))
    assert renyi_binary([0, 1], [1, 1]) == (0.0, 0.0, pytest.approx([0.5, 0.5]))


@pytest.mark.parametrize(
    "table",
    [
        [[1, -1], [1, 1]],
        [[0, 0], [0, 0]],
        [[1, np.nan], [1, 1]],
        [[1, np.inf], [1, 1]],
        [1, 2, 3],
        [[]],
        np.ones((2, 2, 2)),
        [["a", "b"]],
        [[1, 2], [3]],
    ],
    ids=str,
)
@pytest.mark.parametrize("function", [renyi_from_joint, maximal_functions, normalized_table])
def test_invalid_joint_tables_raise(function, table):
    with pytest.raises(ValueError, match=r"^P "):
        function(table)


@pytest.mark.parametrize("function", [renyi_from_joint, maximal_functions, normalized_table])
def test_samples_in_place_of_a_table_raise_with_advice(function):
    people = pd.DataFrame({"hired": [0, 1] * 50, "sex": [1, 1, 0, 0] * 25})
    with pytest.raises(ValueError, match=r"^P looks like samples.*joint_table\("):
        function(people)


@pytest.mark.parametrize(
    "measure",
    [
        renyi_correlation,
        renyi_binary,
        joint_table,
        pearson_correlation,
        normalized_mutual_information,
        hsic,
    ],
)
def test_missing_labels_and_unequal_lengths_raise(measure):
    good = [0, 1, 1]
    for missing in [[0, None, 1], [0.0, np.nan, 1.0]]:
        with pytest.raises(ValueError, match=r"^a has .*missing"):
            measure(missing, good)
        with pytest.raises(ValueError, match=r"^b has .*missing"):
            measure(good, missing)
    with pytest.raises(ValueError, match="a has 3, b has 2"):
        measure(good, [0, 1])
    with pytest.raises(ValueError, match=r"^a "):
        measure([], [])


def test_other_invalid_arguments_raise():
    good = [0, 1, 1]
    with pytest.raises(ValueError, match=r"^given has a missing value"):
        renyi_correlation(good, good, given=[0, None, 1])
    with pytest.raises(ValueError, match="given has 2, a has 3, b has 3"):
        renyi_correlation(good, good, given=[0, 1])
    with pytest.raises(ValueError, match="sample_weight has 2"):
        renyi_correlation(good, good, sample_weight=[1, 1])
    with pytest.raises(ValueError, match="sample_weight has negative"):
        renyi_correlation(good, good, sample_weight=[1, -1, 1])
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        renyi_correlation(good, good, sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="b must have at most two values, but it has 3"):
        renyi_binary(good, [0, 1, 2])


@pytest.mark.parametrize(
    ("F", "message"),
    [
        ([0.5, 0.5], "F must have a row for each sample"),
        ([["a"]], "F must be a table of probabilities"),
        ([[0.5, 0.5], [1.5, -0.5]], "F has negative or missing"),
        ([[0.5, 0.5], [np.nan, 1]], "F has negative or missing"),
        ([[0.5, 0.5], [0.5, 0.6]], r"row 1 sums to 1\.1"),
        ([[0.5, 0.5], [np.inf, 0]], "row 1 sums to inf"),
        ([[0.5, 0.5]], "F has 1, b has 2"),
    ],
)
def test_invalid_class_probabilities_raise(F, message):
    with pytest.raises(ValueError, match=message):
        renyi_from_soft(F, [0, 1])


@pytest.mark.parametrize("n", [6, 50, 20_000])
def test_continuous_variables_raise_with_advice(n):
    x, y = np.random.default_rng(15).normal(size=(2, n))
    advice = rf"^given looks continuous: it has {n} different numbers.*qcut.*kind="
    with pytest.raises(ValueError, match=advice):
        renyi_correlation(x > 0, y > 0, given=x)
    with pytest.raises(ValueError, match=r"^a looks continuous"):
        renyi_binary(x, y > 0)
    with pytest.raises(ValueError, match=r"^b looks continuous"):
        renyi_from_soft(np.full((n, 2), 0.5), pd.array(y, dtype="Float64"))
    with pytest.raises(ValueError, match=r"^b looks continuous"):
        normalized_mutual_information(x > 0, y)
    with pytest.raises(ValueError, match=r"^b looks continuous.*kernel_b="):
        hsic(x, y)


def test_a_label_for_each_sample_raises_for_any_type():
    n = 400
    for name in (np.arange(n), 10**9 * np.arange(n), [f"person {i}" for i in range(n)]):
        with pytest.raises(ValueError, match=r"^a has 400 different labels in 400 samples"):
            renyi_correlation(name, np.arange(n) % 2)


def test_repeating_labels_are_accepted():
    rng = np.random.default_rng(16)
    rounded = rng.integers(0, 10, 200) / 10
    age = rng.integers(17, 91, 3000).astype(float)
    assert renyi_correlation(rounded, rounded) == pytest.approx(1)
    assert renyi_correlation(age, age % 2) == pytest.approx(1)
    # labels that occur once are accepted as the cells of a weighted table
    i, weight = np.arange(40), rng.integers(1, 9, 40)
    assert renyi_correlation(i, i % 3, sample_weight=weight) == pytest.approx(1)


def test_kind_discrete_treats_every_value_as_a_label():
    x, y = np.random.default_rng(17).normal(size=(2, 50))
    assert renyi_correlation(x, y, kind="discrete") == pytest.approx(1)
    with pytest.raises(
        ValueError, match="kind must be one of 'auto', 'discrete', 'continuous', not 'guess'"
    ):
        renyi_correlation(x, y, kind="guess")


def test_a_value_explained_by_chance_warns():
    rng = np.random.default_rng(18)
    a, b = rng.integers(10, size=(2, 100))
    with pytest.warns(
        SmallSampleWarning, match=r"100 samples are few for a table of 10 x 10 cells"
    ):
        assert renyi_correlation(a, b) > 0.4
    with pytest.warns(
        SmallSampleWarning, match=r"where given is 'u' are few for a table of 10 x 10"
    ):
        renyi_correlation(np.r_[a, a], np.r_[b, a], given=np.repeat(["u", "v"], 100))
    # values beyond chance do not warn, and neither do small examples
    renyi_correlation(a, a)
    renyi_correlation(a[:10] % 5, b[:10] % 4)
    # nor do 100 samples in 2 x 8 cells
    renyi_correlation(a % 2, b % 8)


def test_repeating_scores_warn_at_a_lower_chance_level():
    rng = np.random.default_rng(19)
    score, group = rng.integers(400, size=3000), rng.integers(2, size=3000)
    with pytest.warns(SmallSampleWarning, match="chance alone gives a correlation of about 0.3"):
        assert renyi_correlation(score, group) > 0.3
    # With so many samples that the chance level is 0.01, there is no warning.
    renyi_correlation(np.arange(250_000) // 2 % 25, np.arange(250_000) % 2)


def test_masked_probabilities_raise():
    F = np.ma.masked_array([[0.5, 0.5], [0.2, 0.8]], mask=[[False, False], [True, True]])
    with pytest.raises(ValueError, match=r"^F .*mask"):
        renyi_from_soft(F, ["f", "m"])
