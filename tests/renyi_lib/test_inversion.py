"""Test inversion matches the textbook interval of a normal mean."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from renyi_lib._inversion import _crossing, _line_root, invert


class EvenNormal:
    """Measures that are normal around t, as evenly spaced quantiles in place of random draws."""

    def draw(self, t, size):
        return t[:, :, None] + norm.ppf((np.arange(size) + 0.5) / size)

    def value(self, t):
        return t


def ends_of(seen, critical, least=0.0, level=0.05, worlds=None):
    seen = np.array([seen])
    bounds = {"least": np.array([least]), "critical": np.array([critical])}
    bounds |= {"low": np.maximum(seen - 5, 0), "high": seen + 5}
    worlds = EvenNormal() if worlds is None else worlds
    return invert(worlds, seen, **bounds, level=level, n_resamples=20_000)[0]


def test_inversion_of_a_normal_mean_is_the_textbook_interval():
    rng, seen = np.random.default_rng(11), np.array([5.0, 8.0])

    class Normal:
        def draw(self, t, size):
            return t[:, :, None] + rng.normal(size=(*t.shape, size))

        def value(self, t):
            return t

    bounds = {"least": np.zeros(2), "low": seen - 5, "high": seen + 5}
    bounds["critical"] = np.full(2, 1e-3)
    ends = invert(Normal(), seen, **bounds, level=0.05, n_resamples=400_000)
    assert np.allclose(ends, seen[:, None] + np.array([-1.96, 0, 1.96]), atol=0.04)


@pytest.mark.parametrize("seen", [8.0, 1000.0])
def test_the_interval_moves_with_the_range_that_is_searched(seen):
    assert ends_of(seen, 1e-3) - seen == pytest.approx([-1.96, 0, 1.96], abs=0.01)


@pytest.mark.parametrize("level", [0.05, 0.3])
def test_below_the_critical_value_the_lower_tail_gets_its_linear_share(level):
    seen, critical = 2.5, 6.0

    def excess(t, tail):
        below = level / 2 * min(1.0, t / critical)
        return norm.sf(seen - t) - (level - below if tail == "upper" else 1 - below)

    low = brentq(excess, 1e-9, seen, args=("upper",))
    high = brentq(excess, seen, seen + 5, args=("lower",))
    found = ends_of(seen, critical, level=level)
    assert found == pytest.approx([low, seen, high], abs=0.03)
    # With the same share in both tails the lower end would lie further away.
    assert found[0] > ends_of(seen, 1e-3, level=level)[0] + 0.05


def test_minimum_value_affects_only_the_upper_end():
    plain, lucky = ends_of(6.0, 1e-3), ends_of(6.0, 1e-3, least=7.0)
    assert lucky[:2] == pytest.approx(plain[:2], abs=1e-9)
    assert lucky[2] == pytest.approx(plain[2] + 1, abs=0.03)


def test_ends_stay_in_the_range_that_is_searched():
    seen = np.array([5.0])
    bounds = {"least": np.zeros(1), "critical": np.full(1, 1e-3)}
    found = invert(
        EvenNormal(), seen, **bounds, low=seen - 1, high=seen + 1, level=0.05, n_resamples=2000
    )
    assert found[0] == pytest.approx([4.0, 5.0, 6.0], abs=0.03)


def test_ties_count_by_half():
    class Rounded(EvenNormal):
        def draw(self, t, size):
            return np.round(super().draw(t, size))

    # P(value > 5) + P(value = 5) / 2 = 1/2 at t = 5 only if ties are split.
    assert ends_of(5.0, 1e-3, worlds=Rounded())[1] == pytest.approx(5.0, abs=0.03)


def test_crossing_is_where_the_line_is_zero_or_the_nearest_end():
    t = np.tile(np.linspace(0, 3, 4), (4, 1))
    h = np.array([[-1, -0.5, 1.5, 2], [1, 2, 3, 4], [-4, -3, -2, -1], [-3, 2, -1, 3.0]])
    # The last row is not monotone: the running extremes average to -3, 1/2, 1/2, 3.
    assert _crossing(t, h) == pytest.approx([1.25, 0.0, 3.0, 6 / 7])


def test_root_of_a_line_is_exact_within_reach():
    t = np.tile([1.0, 2.0, 4.0], (5, 1))
    slopes = np.array([2.0, 2.0, 2.0, -1.0, 1.0])
    roots = np.array([2.5, 9.0, -9.0, 2.0, 2.0])
    h = slopes[:, None] * (t - roots[:, None])
    t[4], h[4] = 2.0, 1.0  # with a single point there is no line
    near, reach = np.full(5, 2.2), np.full(5, 0.5)
    assert _line_root(t, h, near, reach) == pytest.approx([2.5, 2.7, 1.7, 2.2, 2.2])
