"""The rules of the scorecard: on made-up results with a known answer, and on the spot."""

import numpy as np
import pandas as pd
import pytest

from renyi_book import scorecard
from renyi_book.scorecard import FINDINGS, VERDICTS


def of(claim, **tables):
    """The finding for a claim, given tables."""
    return FINDINGS[claim](tables.__getitem__)


@pytest.mark.parametrize(
    "claim", ["zero-iff-independent", "one-if-function", "pearson-blind", "hsic-linear-only"]
)
def test_what_needs_no_results_is_computed_on_the_spot(claim):
    assert of(claim).verdict == ("holds in part" if "hsic" in claim else "holds")


def test_the_batch_update_flips_the_four_points():
    assert [scorecard._batch_flips(lam) for lam in (1, 90, 91, 1000)] == [False, False, True, True]


def test_the_weight_of_gender_depends_on_the_coding():
    found = of("gender-weight")
    assert found.ours.startswith("3 with categories as integers")
    assert found.verdict == "holds in part"


def convergence(exponent):
    t = np.array([10, 100, 1000])
    return pd.DataFrame(
        [
            {"algorithm": algorithm, "seed": seed, "lam": 1.0, "t": step, "gradient": size}
            for algorithm in ("discrete", "binary")
            for seed in range(3)
            for step, size in zip(t, t ** (exponent + 0.01 * seed))
        ]
    )


@pytest.mark.parametrize(
    ("exponent", "third", "fourth"),
    [
        (-1.0, "holds", "holds"),
        (-0.4, "holds", "does not hold"),
        (-0.1, "does not hold", "does not hold"),
    ],
)
def test_a_rate_holds_if_the_gradient_falls_fast_enough(exponent, third, fourth):
    table = convergence(exponent)
    assert of("theorem-3", convergence=table).verdict == third
    assert of("theorem-4", convergence=table).verdict == fourth


def penalties(renyi, pearson):
    """One curve for each split; the accuracies of two points that are fair enough or not."""
    rows = [
        {
            "method": method,
            "split": "random",
            "seed": seed,
            "rows": "test",
            "p_rule": p_rule,
            "accuracy": accuracy + 0.001 * seed,
        }
        for method, points in (("renyi", renyi), ("pearson", pearson))
        for seed in range(5)
        for p_rule, accuracy in points
    ]
    return pd.DataFrame(rows)


def test_ahead_is_measured_among_the_points_that_are_fair_enough():
    ahead = penalties([(0.5, 0.70), (0.85, 0.84)], [(0.5, 0.90), (0.85, 0.80)])
    found = of("adult-beats-pearson", penalties_adult=ahead)
    assert found.verdict == "holds"
    assert found.ours.startswith("4.00")
    behind = penalties([(0.85, 0.80)], [(0.85, 0.84)])
    assert of("adult-beats-pearson", penalties_adult=behind).verdict == "does not hold"


def test_a_limit_holds_only_if_renyi_passes_it():
    beyond = penalties([(0.95, 0.8)], [(0.6, 0.8)])
    assert of("adult-limit-pearson", penalties_adult=beyond).verdict == "holds"
    level = penalties([(0.95, 0.8)], [(0.95, 0.8)])
    assert of("adult-limit-pearson", penalties_adult=level).verdict == "does not hold"


@pytest.mark.parametrize(
    ("low", "high", "claimed", "verdict"),
    [
        (1.0, 5.0, 5.0, "holds"),
        (0.1, 0.3, 5.0, "holds in part"),
        (-0.1, 0.3, 5.0, "does not hold"),
        (-0.3, -0.1, None, "does not hold"),
        (0.1, 0.3, None, "holds"),
    ],
)
def test_the_verdict_on_a_difference_weighs_sign_and_size(low, high, claimed, verdict):
    found = pd.Series({"mean": (low + high) / 2, "low": low, "high": high})
    assert scorecard._ahead(found, claimed, 2).verdict == verdict


def test_intervals_on_training_rows_are_wider_because_splits_share_more_of_them():
    values = [0.1, 0.2, 0.3, 0.25, 0.15]
    test, train = (scorecard._over_splits(values, "adult", rows) for rows in ("test", "train"))
    share = 16281 / 32561
    ratio = (train["high"] - train["low"]) / (test["high"] - test["low"])
    assert ratio == pytest.approx(np.sqrt((1 + 5 / share) / (1 + 5 * share)))


def network(p_rule, seconds):
    return pd.DataFrame(
        [
            {
                "rows": "test",
                "seed": seed,
                "lam": lam,
                "p_rule": p_rule[lam] + 0.001 * seed,
                "accuracy": 0.85 - 0.002 * lam,
                "cpu_seconds": seconds[lam] + 0.001 * seed,
            }
            for seed in range(5)
            for lam in (0.0, 10.0)
        ]
    )


def test_the_network_is_judged_by_its_spread_over_seeds():
    table = network({0.0: 0.313, 10.0: 0.9}, {0.0: 1.0, 10.0: 1.2})
    assert of("network-start", network=table).verdict == "holds"
    assert of("network-fair", network=table).verdict == "holds"
    assert of("network-overhead", network=table).verdict == "holds"
    slow = network({0.0: 0.4, 10.0: 0.5}, {0.0: 1.0, 10.0: 5.0})
    assert of("network-start", network=slow).verdict == "holds in part"
    assert of("network-fair", network=slow).verdict == "does not hold"
    assert of("network-overhead", network=slow).verdict == "does not hold"


def test_a_claim_beyond_experiments_is_said_to_be_so():
    assert of("lower-bound").verdict == "cannot be tested"
    assert set(VERDICTS) >= {of("lower-bound").verdict}


def test_clusters_are_weighed_on_both_data_sets():
    def table(factor):
        return pd.DataFrame(
            [
                {"algorithm": "paper", "seed": seed, "lam": lam, "inertia": value + 0.001 * seed}
                for seed in range(5)
                for lam, value in ((0.0, 1.0), (0.005, factor))
            ]
        )

    claim = "clusters-loss-small"
    both = {"clusters_adult": table(1.02), "clusters_bank": table(1.05)}
    assert of(claim, **both).verdict == "holds"
    both["clusters_bank"] = table(1.5)
    assert of(claim, **both).verdict == "holds in part"
    both["clusters_adult"] = table(1.5)
    assert of(claim, **both).verdict == "does not hold"
