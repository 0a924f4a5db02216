"""The second scorecard: the claims of FERMI's paper, weighed by the method of the first one.

``book/claims_fermi.yml`` has the claims with all that was fixed before the runs, and
``book/rules_fermi.json`` their checksums with the commit that holds them. The rules are the
functions below; evidence and verdicts are those of `renyi_book.scorecard.judging`, and Holm's
method adjusts p-values within the family that a claim names. ``python -m
renyi_book.scorecard.fermi`` writes ``book/results/fermi_verdicts.json``.
"""

import hashlib
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from renyi_book.chapters import BOOK
from renyi_book.experiments import at_level, load
from renyi_book.scorecard import table
from renyi_book.scorecard.frozen import claim_checksum
from renyi_book.scorecard.judging import (
    UNTESTABLE,
    VERDICTS,
    Evidence,
    difference,
    equivalence,
    everything,
    exact,
    guarded,
)
from renyi_book.scorecard.reading import Results, first_crossing, ratio

CLAIMS = BOOK / "claims_fermi.yml"
RULES_FILE = BOOK / "rules_fermi.json"
RESULTS = BOOK / "results"
STORED = "fermi_verdicts.json"
#: An identity holds up to this, relative to the larger number, and up to ZERO near zero.
ROUNDING, ZERO = 1e-5, 1e-9
#: Differences of accuracy are corrected for splits that share rows, as in the first scorecard.
OVERLAP = ratio("adult")

claims = partial(table.claims, CLAIMS)


# --- The measure -----------------------------------------------------------------------------


def zero_only_at_independence(results, claim):
    """Zero at strength 0, positive elsewhere."""
    found = results.table("fermi_measures", ["strength", "chi2"])
    none = found["strength"] == 0
    largest, smallest = found.loc[none, "chi2"].abs().max(), found.loc[~none, "chi2"].min()
    return exact(
        largest < 1e-15 < smallest,
        f"{none.sum()} products: 0 up to rounding; {(~none).sum()} dependent tables: "
        f"at least {smallest:.1e}",
        n=len(found),
    )


def same_number(results, claim):
    """Some columns agree."""
    columns = claim["options"]["columns"]
    values = results.table("fermi_measures", columns)[columns].to_numpy()
    off = np.ptp(values, axis=1)
    same = off <= ROUNDING * np.abs(values).max(axis=1) + ZERO
    return exact(bool(same.all()), f"equal on {same.sum()} of {len(same)} tables", n=len(same))


def at_most(results, claim):
    """A measure is at most a function of ERMI."""
    found = results.table("fermi_measures")
    root = np.sqrt(found["chi2"].clip(lower=0))
    bounds = {
        "ermi": found["chi2"],
        "root": root,
        "root over group": root / np.sqrt(found["smallest_group"]),
    }
    measure = claim["options"]["measure"]
    values = np.sqrt(found["rho2"]) if measure == "rho" else found[measure]
    kept = values <= bounds[claim["options"]["bound"]] * (1 + ROUNDING) + ZERO
    return exact(bool(kept.all()), f"true of {kept.sum()} of {len(kept)} tables", n=len(kept))


def equal_if_binary(results, claim):
    """ERMI and rho_R^2 agree where the smaller number of values is two."""
    found = results.table("fermi_measures", ["classes", "groups", "chi2", "rho2"])
    binary = found[found[["classes", "groups"]].min(axis=1) == 2]
    same = np.isclose(binary["chi2"], binary["rho2"], rtol=ROUNDING, atol=ZERO)
    more = found.drop(binary.index).query("strength > 0")
    largest = (more["chi2"] / more["rho2"]).max()
    text = f"equal on {same.sum()} of {len(same)} tables; with 3 x 6 up to {largest:.2f} times"
    return exact(bool(same.all()), text, n=len(same))


def maximum_over_w(results, claim):
    """The bracket at the best W is ERMI, and smaller at any other W."""
    found = results.table("fermi_measures", ["chi2", "best_W", "other_W"])
    same = np.isclose(found["best_W"], found["chi2"], rtol=ROUNDING, atol=ZERO)
    less = found["other_W"] < found["best_W"] + ZERO
    text = f"equal on {same.sum()} and largest on {less.sum()} of {len(found)} tables"
    return exact(bool((same & less).all()), text, n=len(found))


# --- The estimator ---------------------------------------------------------------------------


def gradients_unbiased(results, claim):
    """Gradient by F and step of W, at some W."""
    found = results.table("fermi_estimator", ["way", "gradient", "climb"])
    bias = found.loc[found["way"] == "fermi", ["gradient", "climb"]].to_numpy()
    text = (
        f"{len(bias)} cases: no bias beyond rounding"
        if bias.max() < ZERO
        else (f"largest bias {bias.max():.1e}")
    )
    return exact(bool(bias.max() < ZERO), text, n=len(bias))


def estimator_unbiased(results, claim):
    """The value at the W that is best on all rows."""
    found = results.table("fermi_estimator", ["way", "value"])
    bias = found.loc[found["way"] == "fermi-best", "value"].abs()
    text = (
        f"{len(bias)} cases: no bias beyond rounding"
        if bias.max() < ZERO
        else (f"largest bias {bias.max():.1e}")
    )
    return exact(bool(bias.max() < ZERO), text, n=len(bias))


def running_unbiased(results, claim):
    """The mean value at the algorithm's own W, minus ERMI."""
    found = results.fresh("fermi_running", ["ermi", "fermi", "plug_in"])
    plug_in = (found["plug_in"] - found["ermi"]).mean()
    return equivalence(
        found["fermi"] - found["ermi"],
        claim["smallest"]["delta"],
        "bias",
        seeds=found["seed"],
        digits=5,
        note=f"plug-in {plug_in:.3f}",
    )


def plug_in_biased(results, claim):
    """Every case is biased by more than the smallest effect."""
    found = results.table("fermi_estimator", ["way", "gradient"])
    bias = found.loc[found["way"] == "plug-in", "gradient"]
    return exact(
        bool((bias > claim["smallest"]["delta"]).all()),
        f"{len(bias)} cases: relative bias at least {bias.min():.2f}",
        n=len(bias),
    )


def error_falls(results, claim):
    """log10 of the ratio of the errors with the fewest and with the most samples."""
    found = results.fresh("fermi_consistency", ["size", "population", "sample"])
    error = (found["sample"] - found["population"]).abs()
    by_size = error.groupby([found["seed"], found["size"]]).first().unstack()
    falls = np.log10(by_size.iloc[:, 0] / by_size.iloc[:, -1])
    return difference(falls, claim["smallest"]["delta"], "powers of ten", seeds=falls.index)


# --- Convergence -----------------------------------------------------------------------------


def gradient_falls(results, claim):
    """For each batch size, the fall of the gradient with the largest budget."""
    found = results.fresh("fermi_convergence", ["size", "budget", "start", "gradient"])
    found = found[found["budget"] == found["budget"].max()]
    parts = []
    for size in claim["options"]["sizes"]:
        runs = found[found["size"] == size]
        falls = np.log10(runs["start"] / runs["gradient"])
        delta = claim["smallest"]["delta"]
        parts.append(difference(falls, delta, f"batches of {size}:", seeds=runs["seed"]))
    return everything(parts)


def rate_of_fall(results, claim):
    """The exponent of the least-squares line through log gradient over log budget, minus 0.2."""
    found = results.fresh("fermi_convergence", ["size", "budget", "gradient"])
    found = found[found["size"] == claim["options"]["size"]]
    norms = found.pivot(index="seed", columns="budget", values="gradient")
    slopes = np.polyfit(np.log(norms.columns.to_numpy(float)), np.log(norms.to_numpy().T), 1)[0]
    return difference(
        -slopes - 0.2, claim["smallest"]["delta"], "exponent - 0.2:", seeds=norms.index, digits=3
    )


# --- Accuracy at equal violation --------------------------------------------------------------


def batch_one(results, claim):
    """FERMI's network with batches of 1 minus with batches of 64, in points."""
    options = claim["options"]
    one, many = (
        _network(results, options["problem"], options["level"], size, "fermi")
        for size in ("1", "64")
    )
    return _gap(equivalence, one, many, claim, "1 - 64:")


def batch_one_logistic(results, claim):
    """The same for logistic regression, by gender and race."""
    one, many = (
        _paths(results, name, claim["options"]["level"], dataset="adult-gender-race")
        for name in ("fermi_logistic_one", "fermi_logistic_gender_race")
    )
    return _gap(equivalence, one, many, claim, "1 - 64:")


def ahead_of(results, claim):
    """FERMI on batches of 64 minus a baseline's converged fit; guarded by the violation."""
    options = claim["options"]
    suffix = "" if options["dataset"] == "adult" else "_gender_race"
    level = options["level"]
    fermi = _paths(results, f"fermi_logistic{suffix}", level)
    baseline = _paths(
        results, f"penalties_adult{suffix}", level, method=options["method"], split="random"
    )
    return _gap(difference, fermi, baseline, claim, "FERMI - baseline:")


def ahead_in_batches(results, claim):
    """FERMI minus the Rényi penalty of the batch, both networks on batches of one size."""
    options = claim["options"]
    first, second = _lead(results, options["problem"], options["level"], options["size"])
    return _gap(difference, first, second, claim, "FERMI - Rényi:")


def more_for_small_batches(results, claim):
    """The lead with batches of 64 minus the lead with batches of 512."""
    options = claim["options"]
    leads = [_lead(results, options["problem"], options["level"], b) for b in ("64", "512")]
    return _leads(leads, claim, "64 - 512:")


def more_for_many_groups(results, claim):
    """The lead for occupation minus the lead for gender, with batches of 64."""
    leads = [_lead(results, *case, "64") for case in (("occupation", 0.3), ("gender", 0.05))]
    return _leads(leads, claim, "3 x 6 - 2 x 2:")


def epoch_costs_less(results, claim):
    """Log of Rényi's seconds over FERMI's: the median over the repetitions, for each seed."""
    found = results.fresh("fermi_epochs", ["way", "seconds"])
    seconds = found.groupby(["seed", "way"])["seconds"].median().unstack()
    gain = np.log(seconds["renyi"] / seconds["fermi"])
    plain = (seconds["fermi"] / seconds["none"]).median()
    return difference(
        gain,
        claim["smallest"]["delta"],
        "log ratio",
        seeds=gain.index,
        note=f"FERMI takes {plain:.0f} times as long as no penalty",
    )


def not_tested(results, claim):
    """No computation of ours could decide it."""
    return Evidence(kind="exact", text=claim["options"]["why"], outcome=UNTESTABLE)


def _network(results, problem, level, size, way, penalty="chi-square"):
    """Accuracy (points) and violation by seed, where the validation violation meets a level."""
    name = f"fermi_{problem}" + ("_one" if size == "1" else "")
    found = results.table(name, ["size", "way", "penalty", "seed", "rows", "violation"])
    some = found[
        (found["size"].astype(str) == size)
        & ((found["way"] == "none") | ((found["way"] == way) & (found["penalty"] == penalty)))
    ]
    points = at_level(some, level).droplevel(["size", "way", "penalty"])
    return points.assign(accuracy=100 * points["accuracy"])


def _paths(results, name, level, **where):
    """The same for a table of logistic regressions, lambda in increasing order."""
    found = results.fresh(name, ["lam", "rows", "accuracy", "dp_violation"], **where)
    points = {}
    for seed, path in found.sort_values("lam").groupby("seed"):
        rows = dict(list(path.groupby("rows")))
        falling = -rows["validation"]["dp_violation"].to_numpy()
        points[seed] = [
            first_crossing(falling, rows["test"][column].to_numpy() * factor, -level)
            for column, factor in (("accuracy", 100), ("dp_violation", 1))
        ]
    return pd.DataFrame.from_dict(points, "index", columns=["accuracy", "violation"])


def _lead(results, problem, level, size):
    """FERMI's points and those of the Rényi penalty of the batch."""
    # With two classes and two groups the two measures are one, and only one was trained.
    penalty = "chi-square" if problem == "gender" else "renyi"
    return (
        _network(results, problem, level, size, "fermi"),
        _network(results, problem, level, size, "batch", penalty),
    )


def _gap(kind, first, second, claim, what):
    """Evidence from the paired differences over the splits on which both meet the level."""
    reached = [int(points["accuracy"].notna().sum()) for points in (first, second)]
    gaps = (first - second).dropna()
    seeds = gaps.index.tolist()
    note = f"splits that meet the level: {reached[0]} and {reached[1]}"
    options = {"ratio": OVERLAP, "seeds": seeds}
    found = kind(
        gaps["accuracy"], claim["smallest"]["delta"], what, digits=2, note=note, **options
    )
    if kind is equivalence:
        return found
    guard = equivalence(-gaps["violation"], 0.02, "fairer by", digits=3, **options)
    return guarded(found, guard)


def _leads(leads, claim, what):
    """Evidence from the difference of two leads, over the splits that have both."""
    one, two = ((first - second)["accuracy"].dropna() for first, second in leads)
    gain = (one - two).dropna()
    return difference(
        gain, claim["smallest"]["delta"], what, ratio=OVERLAP, seeds=gain.index, digits=2
    )


RULES = {
    rule.__name__: rule
    for rule in (
        zero_only_at_independence,
        same_number,
        at_most,
        equal_if_binary,
        maximum_over_w,
        gradients_unbiased,
        estimator_unbiased,
        running_unbiased,
        plug_in_biased,
        error_falls,
        gradient_falls,
        rate_of_fall,
        batch_one,
        batch_one_logistic,
        ahead_of,
        ahead_in_batches,
        more_for_small_batches,
        more_for_many_groups,
        epoch_costs_less,
        not_tested,
    )
}


# --- Verdicts --------------------------------------------------------------------------------


def findings(source=RESULTS):
    """Compute the results of the rules.

    Parameters
    ----------
    source : path, mapping or callable
        Folder of the stored tables, or the tables by name.

    Returns
    -------
    dict of str to dict
        For each claim ``verdict, verdict_unadjusted, ours, n`` and ``estimate, low, high, delta``,
        which are None where they do not apply.
    """
    results = Results(partial(_load, source) if isinstance(source, str | Path) else source)
    listed = claims()
    evidence = {claim["id"]: RULES[claim["rule"]](results, claim) for claim in listed}
    judged = table.judge(evidence, listed)
    return {name: _fields(found, *judged[name]) for name, found in evidence.items()}


def _load(folder, name):
    return load(name, folder)


def _fields(evidence, verdict, unadjusted):
    found = {"verdict": verdict, "verdict_unadjusted": unadjusted, "ours": evidence.text}
    for name in ("estimate", "low", "high", "delta"):
        number = getattr(evidence, name)
        found[name] = float(f"{number:.6g}") if np.isfinite(number) else None
    return found | {"n": int(evidence.n)}


def store(folder=RESULTS):
    """Write the verdicts, with the commit of the rules and the checksums of the tables."""
    folder = Path(folder)
    known = json.loads((folder / "manifest.json").read_text(encoding="utf8"))
    used = sorted(name for name in known if name.startswith(("fermi_", "penalties_adult")))
    kept = {
        "rules": json.loads(RULES_FILE.read_text(encoding="utf8"))["commit"],
        "tables": {name: known[name]["file"] for name in used},
        "findings": findings(folder),
    }
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    (folder / STORED).write_text(text, encoding="utf8")


def rows(folder=RESULTS):
    """Return the claims with their results, in the order of the file.

    Parameters
    ----------
    folder : path, optional
        Folder of the stored results.

    Returns
    -------
    list of dict
        One entry for each claim.

    Examples
    --------
    >>> from renyi_book.scorecard import fermi
    >>> next(row["verdict"] for row in fermi.rows() if row["id"] == "bounds-shannon")
    'holds'
    """
    found = json.loads((Path(folder) / STORED).read_text(encoding="utf8"))["findings"]
    return [claim | found[claim["id"]] for claim in claims()]


def tally(shown):
    """Count the verdicts; second readings are not counted."""
    counted = [row["verdict"] for row in shown if "reading_of" not in row]
    return {name: counted.count(name) for name in VERDICTS if name in counted}


def freeze(path=RULES_FILE):
    """Store the checksums of the claims and of the rules' code, once and before the runs."""
    fixed = {"commit": None, "claims": {c["id"]: claim_checksum(c) for c in claims()}}
    fixed["code"] = code_checksum()
    with Path(path).open("x", encoding="utf8") as file:
        file.write(json.dumps(fixed, indent=1) + "\n")


def code_checksum():
    """Compute the checksum of this file's text up to the section on verdicts."""
    text = Path(__file__).read_text(encoding="utf8").split("# --- Verdicts")[0]
    return hashlib.sha256(text.encode()).hexdigest()


def main(accept=False, folder=RESULTS):
    """Store the verdicts, unless some have changed and `accept` is false; return the changes."""
    path = Path(folder) / STORED
    before = {row["id"]: row["verdict"] for row in rows(folder)} if path.exists() else {}
    changes = [
        f"{name}: {before[name]} -> {found['verdict']} ({found['ours']})"
        for name, found in findings(folder).items()
        if before.get(name, found["verdict"]) != found["verdict"]
    ]
    if accept or not changes:
        store(folder)
    return changes


if __name__ == "__main__":
    import argparse
    import sys

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true", help="store changed verdicts")
    accepted = parser.parse_args().accept
    changed = main(accepted)
    print("\n".join(changed) or "no verdict on FERMI has changed")
    sys.exit(bool(changed) and not accepted)
