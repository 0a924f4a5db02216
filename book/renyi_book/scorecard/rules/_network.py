"""Rules on the network (appendix F, Table 1); seeds are random starts on the paper's split."""

import numpy as np

from renyi_book.scorecard.judging import (
    FAILS,
    UNDECIDED,
    Evidence,
    difference,
    equivalence,
    exact,
)
from renyi_book.scorecard.reading import first_crossing
from renyi_book.scorecard.rules._common import delta, options, registry

RULES, rule = registry()
# The paper's number is a single run, so it is compared with a prediction interval.
ONE_RUN = 1.0


def _runs(results, columns=("p_rule", "accuracy")):
    return results.fresh("network", ["lam", *columns], rows="test").sort_values(["seed", "lam"])


@rule
def starts_at_the_number(results, claim, thresholds):
    """Compute the plain network's p% or accuracy minus the paper's, as one more run of ours."""
    column = options(claim)["column"]
    scale = 100 if column == "accuracy" else 1
    start = _runs(results).query("lam == 0")
    return equivalence(
        scale * start[column].to_numpy() - claim["paper"]["value"],
        delta(claim, thresholds),
        "ours minus the paper's",
        ratio=ONE_RUN,
        seeds=start["seed"],
        note=f"ours {scale * start[column].mean():.3f}",
    )


@rule
def as_accurate_when_fair(results, claim, thresholds):
    """Compare the accuracy where p% first reaches the paper's p% with the paper's accuracy."""
    at, claimed, least = (
        options(claim)["p_rule"],
        claim["paper"]["value"],
        delta(claim, thresholds),
    )
    found = {
        seed: 100 * first_crossing(rows["p_rule"], rows["accuracy"], at)
        for seed, rows in _runs(results).groupby("seed")
    }
    reached = {seed: points for seed, points in found.items() if np.isfinite(points)}
    note = f"p% {100 * at:.2f} reached on {len(reached)} of {len(found)} seeds"
    if len(reached) < 2:
        outcome = FAILS if len(found) > 1 else UNDECIDED
        return Evidence(kind="difference", text=note, n=len(reached), delta=least, outcome=outcome)
    accuracy = np.array(list(reached.values()))
    return difference(
        accuracy - claimed + least,
        least,
        "above the paper's accuracy less the smallest effect by",
        ratio=ONE_RUN,
        seeds=list(reached),
        unit=" points",
        note=f"accuracy {accuracy.mean():.2f}; {note}",
    )


@rule
def penalty_makes_it_fairer(results, claim, thresholds):
    """Compute p% at the largest lambda minus p% at lambda = 0."""
    wide = _runs(results).pivot(index="seed", columns="lam", values="p_rule")
    gain = wide[wide.columns.max()] - wide[0.0]
    return difference(gain, delta(claim, thresholds), "p% rises by", seeds=gain.index, digits=3)


@rule
def overhead_in_multiplications(results, claim, thresholds):
    """Compute the ratio of multiplications per step with and without the penalty."""
    shape = options(claim)
    weights = shape["features"] * shape["hidden"] + shape["hidden"] * shape["classes"]
    # One pass forward and two backward, for the weights and for the inputs of each layer.
    step = 3 * shape["batch"] * weights
    # The table of class and group, w from it, the penalty, and its gradient at each sample.
    table = shape["classes"] * shape["groups"]
    penalty = 2 * shape["batch"] * shape["classes"] + 4 * table
    factor = 1 + penalty / step
    text = f"{penalty} multiplications beside {step}: times {factor:.4f}"
    return exact(factor <= thresholds.overhead, text, gap=factor - 1, n=1)


@rule
def overhead_of_the_fit(results, claim, thresholds):
    """Compute how far the ratio of CPU times stays below the overhead that the paper claims."""
    wide = _runs(results, ["cpu_seconds"]).pivot(index="seed", columns="lam", values="cpu_seconds")
    factor = wide.drop(columns=0.0).mean(axis=1) / wide[0.0]
    least = delta(claim, thresholds)
    return difference(
        thresholds.overhead + least - factor,
        least,
        "below the paper's factor and the smallest effect by",
        seeds=factor.index,
        note=f"times {factor.mean():.2f}",
    )
