"""Rules on equality of opportunity (Fig. 1)."""

import numpy as np

from renyi_book.scorecard import statistics
from renyi_book.scorecard.judging import NoResult, difference, equivalence, folded, value
from renyi_book.scorecard.reading import MEASURES, common, first_crossing, ratio, signed_gap
from renyi_book.scorecard.rules._common import delta, options, registry
from renyi_book.scorecard.rules._comparison import accuracy_when_fair, at_equal

RULES, rule = registry()
TABLE, RIVALS = "equal_opportunity", "equal_opportunity_rivals"


def _path(results):
    return results.curve(TABLE, "paper", by="recipe")


def _ends(results, claim):
    """Return seeds and the points at lambda = 0 and at the claim's lambda (authors' units)."""
    rows, lam = options(claim)["rows"], float(options(claim)["lam"])
    curves = results.curve(TABLE, "code", by="recipe")
    seeds = common(curves)
    paths = [{point["lam"]: point for point in curves[seed].on(rows)} for seed in seeds]
    if any(not {0.0, lam} <= set(path) for path in paths):
        raise NoResult(f"no λ = {lam:g} in {TABLE!r}")
    return seeds, [path[0.0] for path in paths], [path[lam] for path in paths]


def _gaps(points, soft=False):
    if soft:
        if "soft_eo_gap" not in points[0]:
            raise NoResult("no column soft_eo_gap")
        return np.array([point["soft_eo_gap"] for point in points], dtype=float)
    return np.array([signed_gap(point) for point in points], dtype=float)


@rule
def violation_falls(results, claim, thresholds):
    """Compute |mean gap| at lambda = 0 minus that at the last lambda of the panel."""
    seeds, first, last = _ends(results, claim)
    first, last = _gaps(first), _gaps(last)
    return folded(
        statistics.signed(first),
        statistics.signed(last),
        delta(claim, thresholds),
        "falls by",
        ratio=ratio("adult", options(claim)["rows"]),
        seeds=seeds,
        note=f"signed gap from {first.mean():.3f} to {last.mean():.3f}",
    )


@rule
def violation_goes_to_zero(results, claim, thresholds):
    """Test whether the signed gap at the lambda of the caption is equivalent to 0."""
    rows, soft = options(claim)["rows"], options(claim).get("soft", False)
    seeds, _, last = _ends(results, claim)
    return equivalence(
        _gaps(last, soft),
        thresholds.fair_eo * thresholds.effect_scale,
        f"signed gap at λ = {options(claim)['lam']:g}",
        ratio=ratio("adult", rows),
        seeds=seeds,
    )


@rule
def costs_little(results, claim, thresholds):
    """Compute how far the loss of accuracy stays below the threshold for a slight loss."""
    rows = options(claim)["rows"]
    seeds, loss = _loss(results, claim)
    return difference(
        thresholds.slight_points - loss,
        delta(claim, thresholds),
        "below a slight loss by",
        ratio=ratio("adult", rows),
        seeds=seeds,
        unit=" points",
        note=f"loss {loss.mean():.2f} points",
    )


@rule
def costs_something(results, claim, thresholds):
    rows = options(claim)["rows"]
    seeds, loss = _loss(results, claim)
    return difference(
        loss,
        delta(claim, thresholds),
        "costs",
        ratio=ratio("adult", rows),
        seeds=seeds,
        unit=" points",
    )


def _loss(results, claim):
    seeds, first, last = _ends(results, claim)
    pairs = zip(first, last)
    return seeds, np.array([100 * (a["accuracy"] - b["accuracy"]) for a, b in pairs])


@rule
def published_points(results, claim, thresholds):
    """Compute the largest distance to the published points, with lambda in the authors' units."""
    rows, column = options(claim)["rows"], options(claim)["column"]
    table = results.paper(TABLE, ["lam", column], rows=rows, recipe="code").set_index("lam")
    points = claim["paper"]["value"]
    absent = [lam for lam in points if lam not in table.index]
    if absent:
        raise NoResult(f"no λ = {absent} in {TABLE!r}")
    scale = 100 if column == "accuracy" else 1
    away = {lam: scale * table.loc[lam, column] - number for lam, number in points.items()}
    lam = max(away, key=lambda lam: abs(away[lam]))
    near = thresholds.reproduced_points if column == "accuracy" else thresholds.reproduced
    # The distance is 0 if all points are reproduced.
    return value(
        abs(away[lam]),
        0.0,
        near + claim["paper"].get("reading_error", 0.0),
        delta(claim, thresholds),
        f"{len(points)} points, largest distance",
        note=f"at λ = {lam:g}",
    )


@rule
def error_of_a_method(results, claim, thresholds):
    """Compute a method's test error on the paper's split at its violation in the figure."""
    method, at = options(claim)["method"], options(claim)["eo_violation"]
    if method == "renyi":
        path = results.paper(TABLE, ["lam", *MEASURES], rows="test", recipe="paper")
        path = path.sort_values("lam")
        accuracy = first_crossing(-path["eo_violation"], path["accuracy"], -at)
        if not np.isfinite(accuracy):
            accuracy = path.loc[path["eo_violation"].idxmin(), "accuracy"]
    else:
        points = results.paper(RIVALS, MEASURES, rows="test", method=method)
        nearest = (points["eo_violation"] - at).abs().idxmin()
        accuracy = points.loc[nearest, "accuracy"]
    slack = claim["paper"].get("reading_error", 0.0)
    return value(
        100 * (1 - float(accuracy)),
        claim["paper"]["value"],
        thresholds.reproduced_points + slack,
        delta(claim, thresholds) + slack,
        "error in %",
        digits=2,
    )


@rule
def ahead_of_a_rival(results, claim, thresholds):
    """Compute the lead over the baseline at its fairest point, chosen on validation rows."""
    rival = results.curve(RIVALS, options(claim)["method"])
    return accuracy_when_fair(
        _path(results),
        rival,
        "eo_violation",
        thresholds.fair_eo,
        delta(claim, thresholds),
        ratio("adult"),
    )


@rule
def ahead_at_the_rival_s_violation(results, claim, thresholds):
    """Compute the lead where Rényi's curve over the test rows is as fair as the baseline."""
    renyi, rival = _path(results), results.curve(RIVALS, options(claim)["method"])
    seeds = common(renyi, rival)
    pairs = []
    for seed in seeds:
        other, _ = rival[seed].chosen("eo_violation", thresholds.fair_eo)
        ours = renyi[seed].interpolated("eo_violation", other["eo_violation"])
        pairs.append((ours, other["accuracy"]))
    return at_equal(seeds, pairs, delta(claim, thresholds), ratio("adult"))
