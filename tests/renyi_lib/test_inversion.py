"""Test inversion: against the textbook interval of a normal mean."""

import numpy as np

from renyi_lib._inversion import invert


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
