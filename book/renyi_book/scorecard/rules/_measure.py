"""Rules on what the measures detect (section 2, contributions, explanations of Fig. 2)."""

import numpy as np

from renyi_book.scorecard.judging import NoResult, difference, everything, exact
from renyi_book.scorecard.rules._common import delta, options, order_of, random_tables, registry
from renyi_lib.correlation import renyi_correlation, renyi_from_joint
from renyi_lib.dependence import (
    hsic,
    normalized_mutual_information,
    pearson_correlation,
)

RULES, rule = registry()
# Limit for zero up to rounding, and lower limit of any dependence.
ZERO, SEEN = 1e-7, 1e-4


@rule
def zero_only_at_independence(results, claim, thresholds):
    products = [np.outer(P.sum(axis=1), P.sum(axis=0)) for P in random_tables()]
    largest = max(renyi_from_joint(P) for P in products)
    least = min(renyi_from_joint(_nudged(P)) for P in products)
    text = f"{len(products)} products: {order_of(largest)}; each nudged: at least {least:.4f}"
    return exact(largest < ZERO and least > SEEN, text, gap=largest, n=len(products))


def _nudged(P, amount=1e-3):
    """Return a table with the same margins in which some mass has moved."""
    moved = P.copy()
    moved[:2, :2] += min(amount, P[:2, :2].min() / 2) * np.array([[1, -1], [-1, 1]])
    return moved


@rule
def one_for_a_function(results, claim, thresholds):
    a = np.arange(1000) % 6
    rho = renyi_correlation(a, a**2 % 6)
    return exact(abs(rho - 1) < ZERO, f"a and a² mod 6: rho_R = {rho:.6f}", gap=rho - 1, n=1)


@rule
def between_zero_and_one(results, claim, thresholds):
    found = [renyi_from_joint(P) for P in random_tables()]
    text = f"{len(found)} tables: from {min(found):.3f} to {max(found):.3f}"
    return exact(min(found) >= 0 and max(found) <= 1, text, n=len(found))


@rule
def pearson_misses_a_dependence(results, claim, thresholds):
    a, b = _symmetric()
    pearson, renyi = abs(pearson_correlation(a, b)), renyi_correlation(a, b)
    text = f"a and a², a symmetric: Pearson {pearson:.2f}, rho_R {renyi:.2f}"
    return exact(pearson < ZERO and renyi > 0.999, text, gap=pearson, n=1)


def _symmetric():
    a = np.tile(np.arange(-3.0, 4), 10)
    return a, a**2


@rule
def hsic_blind(results, claim, thresholds):
    """Test whether HSIC with each requested kernel is 0 for a dependent pair."""
    a, square = _symmetric()
    b = (square > 4).astype(int)
    found = {kernel: hsic(a, b, kernel=kernel) for kernel in options(claim)["kernels"]}
    text = ", ".join(f"{kernel} kernel {value:.3f}" for kernel, value in found.items())
    blind = [abs(value) < ZERO for value in found.values()]
    return exact(all(blind), f"a and 1[a² > 4]: {text}", n=len(found))


@rule
def hsic_is_not_normalised(results, claim, thresholds):
    found = [hsic(np.repeat(np.arange(k), 12), np.repeat(np.arange(k), 12)) for k in (2, 3, 6)]
    text = ", ".join(f"{value:.3f}" for value in found)
    away = min(abs(value - 1) for value in found)
    true = away > 0.01 and np.ptp(found) > 0.01
    return exact(true, f"of a variable with itself, 2, 3 and 6 values: {text}", n=3)


@rule
def nmi_sees_every_dependence(results, claim, thresholds):
    a, b = _symmetric()
    found = normalized_mutual_information(a, b)
    free = normalized_mutual_information(np.repeat([0, 1], 6), np.tile([0, 1, 2], 4))
    text = f"a and a²: {found:.2f}; independent: {order_of(free)}"
    return exact(found > SEEN and abs(free) < ZERO, text, n=2)


@rule
def renyi_sees_more(results, claim, thresholds):
    """Test whether rho_R detects a dependence for which Pearson and HSIC are 0."""
    a, square = _symmetric()
    b = (square > 4).astype(int)
    rivals = {
        "Pearson": abs(pearson_correlation(a, b)),
        "linear HSIC": hsic(a, b, kernel="linear"),
        "Gaussian HSIC": hsic(a, b),
    }
    renyi = renyi_correlation(a, b)
    missed = [value < ZERO < SEEN < renyi for value in rivals.values()]
    text = ", ".join(f"{name} {value:.3f}" for name, value in rivals.items())
    return exact(all(missed), f"a and 1[a² > 4]: rho_R {renyi:.2f}, {text}", partly=any(missed))


@rule
def linear_measures_leave_dependence(results, claim, thresholds):
    """Test whether a binary decision uncorrelated with the groups can depend on them."""
    groups = options(claim)["groups"]
    tables = random_tables(shapes=[(2, groups)], each=25)
    # rho_R^2 of a binary decision, computed from its correlations with the group indicators.
    gaps = [abs(renyi_from_joint(P) ** 2 - _from_correlations(P)) for P in tables]
    none_left = max(gaps) < 1e-9
    text = (
        f"{len(tables)} tables, decision x {groups} groups: rho_R follows from the linear "
        f"correlations, gap {order_of(max(gaps))}"
    )
    return exact(not none_left, text, gap=max(gaps), n=len(tables))


def _from_correlations(P):
    """Compute the sum over the groups of (1 - P(S = s)) corr(decision, 1[S = s])^2."""
    p, q = P.sum(axis=1)[1], P.sum(axis=0)
    squared = (P[1] - p * q) ** 2 / (p * (1 - p) * q * (1 - q))
    return float(((1 - q) * squared).sum())


@rule
def the_number_leaves_dependence(results, claim, thresholds):
    """Test whether a decision uncorrelated with the group number can depend on the groups."""
    q = np.array([0.1, 0.2, 0.3, 0.4])
    number = np.arange(4) - q @ np.arange(4)
    # The covariance of these rates with the number is 0, a single equation for three gaps.
    rates = 0.5 + np.array([0.3, -0.3, -0.1, 0.1])
    rates -= number * ((q * number) @ rates) / ((q * number) @ number)
    P = np.array([(1 - rates) * q, rates * q])
    covariance, renyi = abs(float(P[1] @ number)), renyi_from_joint(P)
    text = f"a decision with covariance {covariance:.2f} with the number: rho_R {renyi:.2f}"
    return exact(covariance < ZERO and renyi > 0.1, text, gap=covariance, n=1)


@rule
def an_uncorrelated_score_may_decide_unfairly(results, claim, thresholds):
    # Both groups have mean score 0.5, but only one of them has spread-out scores.
    score = np.concatenate([np.tile([0.2, 0.4, 0.9], 40), np.tile([0.45, 0.52, 0.53], 40)])
    s = np.repeat([0, 1], 120)
    pearson = abs(pearson_correlation(score, s))
    first, second = (float((score[s == g] > 0.5).mean()) for g in (0, 1))
    found = min(first, second) / max(first, second)
    text = f"a score with correlation {pearson:.2f}: p% of its decision {found:.2f}"
    return exact(pearson < ZERO and found < thresholds.fair_p_rule, text, n=1)


# --- Costs, by the clock ---------------------------------------------------------------------


@rule
def slower_than(results, claim, thresholds):
    """Compute the log ratio of the times of one step of `slow` and one of `fast`."""
    slow, fast = (_seconds(results, options(claim)[key]) for key in ("slow", "fast"))
    values = np.log(slow / fast).dropna()
    return difference(
        values, delta(claim, thresholds), "log of the ratio of times", seeds=values.index
    )


@rule
def slower_and_intractable(results, claim, thresholds):
    """Test whether a step takes longer, and so much longer that it is intractable."""
    slow, fast = (_seconds(results, options(claim)[key]) for key in ("slow", "fast"))
    factor = (slow / fast).dropna()
    limit, least = np.log(thresholds.intractable), delta(claim, thresholds)
    parts = [
        difference(np.log(factor), least, "log of the ratio of times", seeds=factor.index),
        difference(
            np.log(factor) - limit,
            least,
            "beyond what counts as intractable by",
            seeds=factor.index,
            note=f"times {factor.median():.1f}",
        ),
    ]
    return everything(parts)


@rule
def overhead_of_a_step(results, claim, thresholds):
    """Compare the time of loss and penalty with that of the loss; minimal up to a threshold."""
    loss, penalty = (_seconds(results, what) for what in ("loss", options(claim)["penalty"]))
    least = delta(claim, thresholds)
    factor = ((loss + penalty) / loss).dropna()
    return difference(
        thresholds.overhead + least - factor,
        least,
        "room below the factor that is called minimal",
        seeds=factor.index,
        note=f"a step takes {factor.mean():.2f} times as long",
    )


def _seconds(results, what):
    table = results.table("timing", ["seed", "what", "seconds"])
    found = table[table["what"] == what].groupby("seed")["seconds"].median()
    if len(found) < 2:
        raise NoResult(f"no times of {what!r}")
    return found
