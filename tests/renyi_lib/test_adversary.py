"""The damped adversary of boosting has correct gradients and gains, and its game converges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from renyi_lib._adversary import (
    FAST,
    SLOW,
    PredictionBins,
    RowAdversary,
    Softmax,
    TableAdversary,
    TwoClasses,
    adversary_of,
    contrast,
    damped,
    held_back,
    hold_contrast,
    logistic_bins,
    round_matrix,
)
from renyi_lib.penalties import (
    ChiSquarePenalty,
    ConditionalPenalty,
    Groups,
    HSICPenalty,
    PearsonPenalty,
    RenyiPenalty,
    ScoreBinsPenalty,
    TablePenalty,
)


def places(seed=0, n=60):
    """For each kind, a function from raw scores to the object under test, scores and groups."""
    rng = np.random.default_rng(seed)
    weight = rng.random(n)
    weight /= weight.sum()
    groups = Groups.from_codes(np.arange(n) % 3, np.arange(3), weight)
    two = rng.normal(size=n)
    three = rng.normal(size=(n, 3))

    def of_two(z):
        p = expit(z)
        return TwoClasses(p, p * (1 - p))

    return {
        "two classes": (of_two, two, groups),
        "softmax": (lambda z: Softmax(softmax(z, axis=1)), three, groups),
        "score bins": (lambda z: logistic_bins(of_two(z), 7), two, groups),
        "predictions": (
            lambda z: PredictionBins(z, 1.2, 3.0, 0.7, 7),
            3 * two + 1,
            groups,
        ),
    }


class TestGradients:
    """Trees are fitted to the gradient of the fair loss for a fixed adversary."""

    @pytest.mark.parametrize("kind", list(places()))
    def test_gradient_of_a_fixed_adversary_agrees_with_differences(self, kind):
        place, z, groups = places()[kind]
        move = np.random.default_rng(1).normal(size=place(z).table(groups).shape)
        gradient = place(z).pull_back(move, groups)
        for index in list(np.ndindex(z.shape))[::7]:
            step = np.zeros_like(z)
            step[index] = 1e-6
            ahead, behind = place(z + step).table(groups), place(z - step).table(groups)
            slope = np.sum(move * (ahead - behind)) / 2e-6
            np.testing.assert_allclose(gradient[index], slope, rtol=1e-5, atol=1e-9)

    @pytest.mark.parametrize("kind", ["score bins", "predictions"])
    def test_tables_from_moments_match_the_memberships(self, kind):
        place, z, groups = places()[kind]
        at = place(z)
        np.testing.assert_allclose(at.table(groups), groups.table(at.F), atol=1e-15)

    @pytest.mark.parametrize("kind", list(places()))
    def test_scalar_weight_equals_an_array_of_that_weight(self, kind):
        place, z, groups = places()[kind]
        n = len(groups.codes)
        even = Groups.from_codes(groups.codes, groups.categories)
        each = Groups.from_codes(groups.codes, groups.categories, np.full(n, 1 / n))
        assert np.ndim(even.weight) == 0 < np.ndim(each.weight)
        one, other = place(z), place(z)
        np.testing.assert_allclose(one.table(even), other.table(each), rtol=1e-12)
        move = np.random.default_rng(1).normal(size=one.table(even).shape)
        np.testing.assert_allclose(
            one.pull_back(move, even), other.pull_back(move, each), rtol=1e-12, atol=1e-16
        )
        ratio = 0.3
        expected = other.gain(each, np.full(n, ratio))
        for at in (one, place(z)):  # after and before a call of `table`
            for of_rows in (ratio, np.full(n, ratio)):
                np.testing.assert_allclose(
                    at.gain(even, of_rows), expected, rtol=1e-12, atol=1e-15
                )

    @pytest.mark.parametrize("kind", ["two classes", "softmax", "predictions"])
    def test_gradients_from_probabilities_agree_with_differences(self, kind):
        place, z, _ = places()[kind]
        rng = np.random.default_rng(3)
        dF, direction = rng.normal(size=place(z).F.shape), 1e-6 * rng.normal(size=z.shape)
        slope = np.sum(dF * (place(z + direction).F - place(z - direction).F)) / 2
        assert np.sum(place(z).from_F(dF) * direction) == pytest.approx(slope, rel=1e-6)

    @pytest.mark.parametrize("kind", ["two classes", "softmax"])
    def test_gain_is_the_effect_of_a_step_on_the_table(self, kind):
        place, z, groups = places()[kind]
        at = place(z)
        loss_weight = np.random.default_rng(2).random(len(z)) / len(z)
        K = at.gain(groups, groups.weight**2 / loss_weight)
        move = np.random.default_rng(1).normal(size=at.table(groups).shape)
        step = at.pull_back(move, groups) / at.hessian
        step = (step.T / loss_weight).T * 1e-6
        moved = (place(z + step).table(groups) - place(z - step).table(groups)) / 2e-6
        np.testing.assert_allclose(moved, np.einsum("jik,kj->ij", K, move), rtol=1e-5)

    @pytest.mark.parametrize("kind", ["score bins", "predictions"])
    def test_gain_of_bins_is_the_mean_over_each_cell_where_slopes_are_steepest(self, kind):
        place, z, groups = places()[kind]
        at, everywhere = place(z), np.linspace(-30, 30, 60_001)
        fine = place(everywhere)
        p = expit(everywhere)
        hessian = p * (1 - p) if kind == "score bins" else fine.hessian
        steep = fine.slope**2 / hessian
        steepest = [steep[fine.cell == cell].max() for cell in range(5)]
        np.testing.assert_allclose(at.steepness, steepest, rtol=1e-2)
        t = (np.arange(1000) + 0.5) / 1000
        slopes = 5 * np.array([t - 1, 1 - 2 * t, t])
        ratio, expected = groups.weight * 1.5, np.zeros((3, 7, 7))
        for group, cell, weight in zip(groups.codes, at.cell, ratio):
            bins = slice(cell, cell + 3)
            expected[group, bins, bins] += weight * at.steepness[cell] * slopes @ slopes.T / 1000
        np.testing.assert_allclose(at.gain(groups, ratio), expected, rtol=1e-4, atol=1e-9)

    def test_gain_of_bins_bounds_the_gain_of_evenly_spread_scores(self):
        # With 200 evenly spread scores in each cell, the mean slopes are exact, and the gain uses
        # the steepest slope of the cell.
        u = (np.arange(1000) + 0.5) / 1000
        groups = Groups.from_codes(np.arange(1000) % 2, np.arange(2))
        at = logistic_bins(TwoClasses(u, u * (1 - u)), 7)
        exact = np.zeros((2, 7, 7))
        t = u * 5 - at.cell
        slopes = 5 * np.array([t - 1, 1 - 2 * t, t])
        for n in range(1000):
            part = slice(at.cell[n], at.cell[n] + 3)
            outer = np.outer(slopes[:, n], slopes[:, n]) * (u * (1 - u))[n] / 1000
            exact[groups.codes[n], part, part] += outer
        surplus = np.linalg.eigvalsh(at.gain(groups, groups.weight) - exact)
        assert surplus.min() > -1e-3
        assert surplus.max() < np.linalg.eigvalsh(exact).max()

    @pytest.mark.parametrize(
        "penalty",
        [
            RenyiPenalty(),
            ChiSquarePenalty(),
            ScoreBinsPenalty(n_bins=5),
            ScoreBinsPenalty(ChiSquarePenalty(), n_bins=5),
            ConditionalPenalty(RenyiPenalty()),
            ConditionalPenalty(ScoreBinsPenalty(n_bins=5), [1]),
            PearsonPenalty(),
            HSICPenalty(),
        ],
        ids=repr,
    )
    def test_repeated_rounds_converge_to_the_undamped_gradient(self, penalty):
        lam = 0.1
        place, z, groups = places()["two classes"]
        groups = Groups.from_codes(
            groups.codes, groups.categories, groups.weight, np.arange(60) % 2, np.arange(2)
        )
        adversary = adversary_of(penalty, groups, lam, 0.1, groups.weight)
        at = place(z)
        for _ in range(600):
            value, gradient = adversary(at)
        expected, dF = penalty.value_and_grad(at.F, groups)
        assert value == pytest.approx(expected, rel=1e-9)
        by_z = lam * at.hessian * (dF[:, 1] - dF[:, 0])
        np.testing.assert_allclose(gradient, by_z, atol=1e-4 * np.abs(by_z).max())

    @pytest.mark.parametrize("lam", [0.1, 10, 1e4])
    @pytest.mark.parametrize(
        "penalty",
        [
            RenyiPenalty(),
            RenyiPenalty(smoothing=0.1),
            ChiSquarePenalty(),
            ScoreBinsPenalty(),
            ConditionalPenalty(RenyiPenalty()),
            ConditionalPenalty(ScoreBinsPenalty()),
        ],
        ids=repr,
    )
    def test_fixed_point_has_the_undamped_gradient(self, penalty, lam):
        place, z, groups = places(n=240)["two classes"]
        groups = Groups.from_codes(
            groups.codes, groups.categories, groups.weight, np.arange(240) // 3 % 2, np.arange(2)
        )
        adversary = adversary_of(penalty, groups, lam, 0.1, groups.weight)
        at = place(z)
        adversary(at)
        T = (at if adversary.bins is None else logistic_bins(at, adversary.bins)).table(
            adversary.cells
        )
        parts = zip(adversary.parts, adversary.conditions, adversary.holds)
        for part, groups_of, hold in parts:
            x, _ = contrast(adversary.penalty.of_table(T[:, part], groups_of.q)[1].T, groups_of.q)
            p = T[:, part].sum(axis=1)
            x = x - (x @ p / p.sum())[:, None]
            adversary.slow[part] = lam * (x - hold(x))
        kept = adversary.slow.copy()
        adversary.rounds = 1  # repeat the round with the same r
        _, gradient = adversary(at)
        np.testing.assert_allclose(adversary.slow, kept, rtol=1e-6, atol=1e-9 * np.abs(kept).max())
        dF = penalty.value_and_grad(at.F, groups)[1]
        by_z = lam * at.hessian * (dF[:, 1] - dF[:, 0])
        np.testing.assert_allclose(gradient, by_z, atol=1e-7 * np.abs(by_z).max())


class TestHoldContrast:
    def test_hold_contrast_is_the_inverse_on_contrasts_of_all_groups(self):
        rng = np.random.default_rng(0)
        q, scale = rng.dirichlet(np.ones(4)), 7.0
        roots = rng.normal(size=(4, 3, 3))
        gain = np.swapaxes(roots, 1, 2) @ roots
        hold = hold_contrast(held_back(gain, scale, FAST), q)
        x, _ = contrast(rng.normal(size=(4, 3)), q)
        found = hold(x)
        np.testing.assert_allclose(q @ found, 0, atol=1e-12)
        moved, _ = contrast(np.einsum("jik,jk->ji", gain, found), q)
        np.testing.assert_allclose(found + scale * moved, x, rtol=1e-9)


def spectral_radius(gains, q, followed, lam, eta):
    """The largest modulus of a round's eigenvalues, on contrasts and slow parts.

    ``gains`` (d, c, c) are the adversary's gains; ``followed`` is the matrix A' that maps moves to
    changes of the contrast, for all entries at once.
    """
    hold = hold_contrast(held_back(gains, lam, eta), q)
    shape, size = gains.shape[:2], gains.shape[0] * gains.shape[1]
    basis = [contrast(e.reshape(shape), q)[0].ravel() for e in np.eye(size)]
    basis = np.linalg.svd(np.array(basis).T)[0][:, : size - shape[1]]
    columns = []
    for state in np.eye(2 * basis.shape[1]):
        x, slow = (basis @ half for half in np.split(state, 2))
        move, slow = damped(x.reshape(shape), slow.reshape(shape), hold, lam)
        after = (1 - eta) * x - eta * followed @ move.ravel()
        columns.append(np.concatenate([basis.T @ after, basis.T @ slow.ravel()]))
    return np.abs(np.linalg.eigvals(np.transpose(columns))).max()


class TestTheGameConverges:
    @given(st.floats(-6, 12), st.floats(0.001, 1), st.floats(0, 1))
    def test_rounds_are_stable_for_every_lam_and_fraction_followed(self, exponent, follows, eta):
        radius = np.abs(np.linalg.eigvals(round_matrix(10.0**exponent, follows, eta))).max()
        assert radius < 1

    @given(st.floats(4, 12), st.floats(0.05, 1), st.floats(0.01, 1))
    def test_convergence_rate_does_not_depend_on_a_huge_lam(self, exponent, follows, eta):
        radius = np.abs(np.linalg.eigvals(round_matrix(10.0**exponent, follows, eta))).max()
        limit = np.roots([1, follows * (FAST + SLOW) + eta - 2, 1 - eta - follows * FAST])
        assert radius <= np.abs(limit).max() + 0.01
        assert radius < 0.996

    @pytest.mark.parametrize("lam", [1, 30, 1e3, 1e6])
    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_rounds_are_stable_for_unequal_hessians_and_any_leaves(self, lam, n_groups):
        """The round of the proposition, as implemented, for any Hessians and any leaves."""
        rng = np.random.default_rng(n_groups)
        n, c = 60, 3
        for _ in range(10):
            codes = np.arange(n) % n_groups
            q, weight = np.bincount(codes) / n, 1 / n
            p = rng.dirichlet(np.ones(c))
            D = rng.normal(size=(n, c))
            D -= D.mean(axis=1, keepdims=True)  # memberships sum to 1
            H = weight * 10.0 ** rng.uniform(-2, 1, size=n)
            # x = 2 * contrast of (sum over a group of weight D z) / (p q)
            B = np.zeros((n_groups, c, n))
            for j in range(n_groups):
                B[j][:, codes == j] = weight * D[codes == j].T / (p[:, None] * q[j])
            B -= np.tensordot(q, B, 1)
            B = B.reshape(-1, n)
            metric = np.outer(q, p).ravel()
            leaf = rng.integers(0, rng.integers(2, 20), size=n)
            L = (leaf[:, None] == leaf) * H
            L /= L.sum(axis=1, keepdims=True)
            adjoint = (B * metric[:, None]).T / H[:, None]
            gains = np.zeros((n_groups, c, c))
            for j in range(n_groups):
                Dj = weight * D[codes == j]
                K = (Dj / H[codes == j][:, None]).T @ Dj
                gains[j] = 2 * K / (p[:, None] * q[j])
            assert spectral_radius(gains, q, 2 * B @ L @ adjoint, lam, 0.1) < 1 - 1e-9

    def test_separate_damping_of_each_group_is_unstable_in_an_example(self):
        # Mean Hessians 0.96 and 0.36 (in units of p_0 p_1), q = 1/2, lam eta = 10, and a tree that
        # reveals almost nothing about the group. Two classes need only one number per group.
        k, q, share = np.array([0.96, 0.36]), np.array([0.5, 0.5]), 0.01
        away = np.outer([-0.5, 0.5], [-1, 1])  # by how much the leaf means differ
        moved = k[:, None] * (np.outer([1, 1], q) + share * away)
        followed = 2 * (moved - q @ moved)
        eta = 0.1
        radius = spectral_radius(2 * k[:, None, None], q, followed, 10 / eta, eta)
        assert radius < 1
        held = held_back(2 * k[:, None, None], 10 / eta, eta)
        columns = []
        for gap, *slow in np.eye(3):
            x = 2 * gap * np.array([[-0.5], [0.5]])
            each = (lambda v: np.matmul(held, v[..., None])[..., 0], 10 / eta)
            move, slow = damped(x, np.array(slow)[:, None], *each)
            fall = moved @ move[:, 0]
            columns.append([gap - eta * (fall[1] - fall[0]), *slow[:, 0]])
        assert np.abs(np.linalg.eigvals(np.transpose(columns))).max() > 1.1

    def test_round_matrix_matches_the_implemented_round(self):
        lam, eta, gain, follows = 40.0, 0.1, 3.0, 0.6
        loop = lam * eta * gain
        x, slow = np.array([[1.0]]), np.array([[0.3]])
        r = held_back(np.array([[gain]]), lam, eta)[0, 0]
        move, kept = damped(x, slow, lambda x: r * x, lam)
        after = x - follows * eta * gain * move
        M = round_matrix(loop, follows)
        np.testing.assert_allclose(
            M @ [x[0, 0], eta * gain * slow[0, 0]], [after[0, 0], eta * gain * kept[0, 0]]
        )

    @pytest.mark.parametrize("lam", [0.1, 1e3, 1e6])
    def test_the_response_at_the_fixed_point_is_undamped(self, lam):
        rng = np.random.default_rng(0)
        root, x = rng.normal(size=(4, 4)), rng.normal(size=4)
        held = held_back(root.T @ root, lam, 0.1)
        slow = lam * (x - held @ x)
        move, after = damped(x, slow, lambda x: held @ x, lam)
        np.testing.assert_allclose(move, lam * x, rtol=1e-9)
        np.testing.assert_allclose(after, slow, rtol=1e-9)

    @pytest.mark.parametrize("lam", [1, 30, 1e3, 1e6])
    def test_rounds_are_stable_for_many_modes_and_any_tree(self, lam):
        """The part followed is a random contraction that does not commute with the damping."""
        rng = np.random.default_rng(0)
        for _ in range(20):
            root = rng.normal(size=(5, 5)) * np.array([0.1, 0.3, 1, 3, 6])
            gain = root.T @ root
            turn, _ = np.linalg.qr(rng.normal(size=(5, 5)))
            followed = root.T @ (turn * rng.uniform(0.02, 1, size=5)) @ turn.T @ root
            hold = held_back(gain, lam, 0.1).__matmul__
            round_ = np.empty((10, 10))
            for k, state in enumerate(np.eye(10)):
                move, slow = damped(state[:5], state[5:], hold, lam)
                round_[:, k] = np.concatenate([state[:5] - 0.1 * followed @ move, slow])
            assert np.abs(np.linalg.eigvals(round_)).max() < 1


class Plain(TablePenalty):
    """A function of the table that does not define its curvature."""

    def of_table(self, T, q):
        gaps = T - np.outer(T.sum(axis=1), q)
        return float((gaps**2).sum()), 2 * (gaps - (gaps @ q)[:, None])


@pytest.mark.parametrize(
    ("penalty", "kind"),
    [
        (RenyiPenalty(), TableAdversary),
        (ConditionalPenalty(ChiSquarePenalty()), TableAdversary),
        (ScoreBinsPenalty(), TableAdversary),
        (Plain(), RowAdversary),
        (PearsonPenalty(), RowAdversary),
        (ConditionalPenalty(HSICPenalty()), RowAdversary),
    ],
    ids=repr,
)
def test_penalties_with_a_curvature_use_the_table_adversary(penalty, kind):
    groups = Groups.from_labels(np.arange(60) % 3, y=np.arange(60) % 2)
    assert type(adversary_of(penalty, groups, 1.0, 0.1, groups.weight)) is kind


def test_curvature_of_chi_square_agrees_with_differences_for_fixed_class_shares():
    rng = np.random.default_rng(0)
    T = rng.dirichlet(np.ones(6)).reshape(2, 3)
    q = T.sum(axis=0)
    curvature = ChiSquarePenalty().table_curvature(T, q)
    for i in range(2):
        for j, k in ((0, 1), (1, 2), (0, 2)):
            step = np.zeros_like(T)
            step[i, j], step[i, k] = 1e-6, -1e-6
            up, down = (ChiSquarePenalty().of_table(T + h, q)[1] for h in (step, -step))
            second = np.sum((up - down) * step) / 2e-12
            assert second == pytest.approx(curvature[i, j] + curvature[i, k], rel=1e-5)
