"""Rows of the scorecard, which combine claims and results.

``book/claims.yml`` contains what was fixed before the results: claims, readings, smallest effects
and rules. ``book/results/verdicts.json`` contains the results of the rules; `findings` computes
them, ``make scorecard`` writes them, and `rows` combines both.
"""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from renyi_book.chapters import BOOK, chapters
from renyi_book.experiments import load
from renyi_book.scorecard import statistics
from renyi_book.scorecard.judging import (
    FAILS,
    HOLDS,
    LEAVE_OUT_DRAWS,
    LEFT_OUT,
    NO_RESULT,
    PART,
    SUMMARY,
    UNDECIDED,
    UNTESTABLE,
    VERDICTS,
    NoResult,
    difference,
    equivalence,
    folded,
    undecided,
    verdict,
)
from renyi_book.scorecard.reading import Results, ratio
from renyi_book.scorecard.rules import RULES
from renyi_book.scorecard.thresholds import DEFAULT, variations

CLAIMS = BOOK / "claims.yml"
RESULTS = BOOK / "results"
_STORED = "verdicts.json"
# The loader in C is six times as fast, but some installations lack it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def claims(path=CLAIMS):
    """Return the claims in the order of the paper, with all fields that were fixed beforehand.

    Parameters
    ----------
    path : path, optional
        The book's ``claims.yml``.

    Returns
    -------
    list of dict
        Claims.

    Examples
    --------
    >>> from renyi_book.scorecard import claims
    >>> claims()[0]["id"]
    'zero-iff-independent'
    """
    return yaml.load(Path(path).read_text(encoding="utf8"), _LOADER)


def weigh(results, listed=None, thresholds=DEFAULT):
    """Compute the evidence on each claim, or None if there is no result yet.

    Parameters
    ----------
    results : Results, mapping or callable
        Tables by name.
    listed : list of dict, optional
        Claims; by default the book's.
    thresholds : Thresholds, optional
        Thresholds of the rules.

    Returns
    -------
    dict of str to Evidence or None
        Evidence by claim; claims that summarize other claims are left out.
    """
    results = results if isinstance(results, Results) else Results(results)
    found = {}
    for claim in claims() if listed is None else listed:
        if claim["rule"] == SUMMARY:
            continue
        try:
            found[claim["id"]] = RULES[claim["rule"]](results, claim, thresholds)
        except NoResult:
            found[claim["id"]] = None
    return found


def judge(evidence, listed=None):
    """Return (verdict, unadjusted verdict) for each claim.

    p-values are adjusted by Holm's method within the family that a claim names (a figure's
    comparisons), separately for support and for opposition.

    Parameters
    ----------
    evidence : dict of str to Evidence or None
        Evidence by claim.
    listed : list of dict, optional
        Claims; by default the book's.

    Returns
    -------
    dict of str to tuple of str
        Verdicts by claim.
    """
    listed = claims() if listed is None else listed
    factors = _factors(evidence, listed)
    found = {}
    for claim in listed:
        name = claim["id"]
        if claim["rule"] == SUMMARY:
            continue
        if evidence[name] is None:
            found[name] = (NO_RESULT, NO_RESULT)
            continue
        support, oppose = factors.get(name, (1.0, 1.0))
        adjusted = verdict(evidence[name], support_factor=support, oppose_factor=oppose)
        found[name] = (adjusted, verdict(evidence[name]))
    chosen = counted(listed, {name: pair[0] for name, pair in found.items()})
    for claim in listed:
        if claim["rule"] == SUMMARY:
            of = [found[chosen[name]] for name in claim["options"]["of"]]
            found[claim["id"]] = tuple(_summary([pair[i] for pair in of]) for i in (0, 1))
    return found


#: Verdicts from the most to the least favorable to the paper.
_FAVORABLE = (HOLDS, PART, UNDECIDED, UNTESTABLE, FAILS, NO_RESULT)


def counted(listed, verdicts):
    """Choose which reading of each sentence is counted.

    If the paper's own words determine the reading (``words``), it is that one; if they leave it
    open, it is the one whose verdict is most favorable to the paper, or the first of several
    equally favorable ones.

    Parameters
    ----------
    listed : list of dict
        Claims; those with ``reading_of`` are further readings of that sentence.
    verdicts : dict of str to str
        Verdicts by claim.

    Returns
    -------
    dict of str to str
        Id of the counted row for each sentence, by the id of the sentence's first row.
    """
    sentences = {}
    for claim in listed:
        sentences.setdefault(claim.get("reading_of", claim["id"]), []).append(claim)
    chosen = {}
    for name, readings in sentences.items():
        fixed = [claim["id"] for claim in readings if claim.get("words")]
        among = fixed or [claim["id"] for claim in readings]
        chosen[name] = min(among, key=lambda one: _FAVORABLE.index(verdicts.get(one, NO_RESULT)))
    return chosen


def _factors(evidence, listed):
    """Return the factors of Holm's method for the two p-values of each claim."""
    families = {}
    for claim in listed:
        family = claim["analysis"].get("family")
        found = evidence.get(claim["id"])
        # A row without an interval stays in its family, so that other rows are adjusted as much.
        fixed = found is not None and not found.parts and found.outcome not in ("", UNDECIDED)
        if family and found is not None and not fixed:
            # Equivalence tests use a different significance level, so they form a separate family.
            families.setdefault((family, found.kind), []).append(claim["id"])
    factors = {}
    for names in families.values():
        both = []
        for side in ("supports", "opposes"):
            raw = np.array([max(getattr(evidence[name], side), 1e-300) for name in names])
            both.append(statistics.holm(raw) / raw)
        factors |= dict(zip(names, zip(*both)))
    return factors


def _summary(found):
    """Return the verdict on "in general", given the verdicts on each comparison."""
    known = [one for one in found if one != NO_RESULT]
    if len(known) < len(found):
        return NO_RESULT
    counts = {one: known.count(one) for one in set(known)}
    if counts.get(HOLDS, 0) > len(known) / 2:
        return HOLDS
    if counts.get(HOLDS, 0) + counts.get(PART, 0):
        return PART
    return FAILS if counts.get(FAILS, 0) > len(known) / 2 else UNDECIDED


def findings(source=RESULTS, listed=None, thresholds=DEFAULT, *, stability=True):
    """Compute the result fields of every claim with the rules.

    Parameters
    ----------
    source : path, mapping or callable
        Folder of the stored tables, or the tables.
    listed : list of dict, optional
        Claims; by default the book's.
    thresholds : Thresholds, optional
        Thresholds of the rules.
    stability : bool, default=True
        Whether to measure the stability by repeatedly leaving out five splits.

    Returns
    -------
    dict of str to dict
        Result fields by claim.
    """
    listed = claims() if listed is None else listed
    evidence = weigh(_tables(source), listed, thresholds)
    judged = judge(evidence, listed)
    stays = stable(evidence, listed) if stability else {}
    return {
        claim["id"]: (
            _of_others(claim, judged, listed)
            if claim["rule"] == SUMMARY
            else _fields(evidence[claim["id"]], *judged[claim["id"]])
        )
        | ({"stable": stays[claim["id"]]} if claim["id"] in stays else {})
        for claim in listed
    }


def _tables(source):
    if isinstance(source, Results | Mapping) or callable(source):
        return source
    return lambda name: load(name, source)


def _of_others(claim, judged, listed):
    """Return the result fields of a claim that summarizes others, with counts of verdicts."""
    adjusted, unadjusted = judged[claim["id"]]
    chosen = counted(listed, {name: pair[0] for name, pair in judged.items()})
    of = [judged[chosen[name]][0] for name in claim["options"]["of"]]
    counts = ", ".join(f"{of.count(one)} {one}" for one in VERDICTS if one in of)
    found = {"verdict": adjusted, "verdict_unadjusted": unadjusted, "n": len(of)}
    found["ours"] = f"{len(of)} comparisons" + (f": {counts}" if counts else "")
    if adjusted == UNDECIDED:
        open_ = of.count(UNDECIDED)
        found["power"] = f"{open_} of the {len(of)} comparisons are themselves undecided"
    return found


def _fields(evidence, adjusted, unadjusted):
    found = {"verdict": adjusted, "verdict_unadjusted": unadjusted}
    if evidence is None:
        return found | {"ours": NO_RESULT}
    found["ours"] = evidence.text
    for name in ("estimate", "low", "high"):
        found[name] = _rounded(getattr(evidence, name))
    found |= {"n": int(evidence.n), "delta": _rounded(evidence.delta)}
    if evidence.regions:
        found |= dict(zip(("left", "within", "right"), map(_rounded, evidence.regions)))
    if evidence.kind in ("difference", "equivalence"):
        found |= {"supports": _rounded(evidence.supports), "opposes": _rounded(evidence.opposes)}
    if adjusted == UNDECIDED:
        found["power"] = evidence.power()
    return found


def _rounded(number):
    return None if not np.isfinite(number) else float(f"{number:.6g}")


def stable(evidence, listed=None, *, draws=LEAVE_OUT_DRAWS, drop=LEFT_OUT, seed=statistics.SEED):
    """Compute how often each verdict stays the same if some splits are left out at random.

    Parameters
    ----------
    evidence : dict of str to Evidence or None
        Evidence from `weigh`.
    listed : list of dict, optional
        Claims; by default the book's.
    draws, drop, seed : int
        Number of draws, number of splits to leave out in each, and random seed.

    Returns
    -------
    dict of str to float
        Share of the draws with an unchanged verdict, for each claim that depends on more than
        ``drop + 1`` splits or seeds.
    """
    listed = claims() if listed is None else listed
    factors = _factors(evidence, listed)
    rng = np.random.default_rng(seed)
    found = {}
    for name, whole in evidence.items():
        seeds = sorted(_seeds(whole)) if whole is not None else []
        if len(seeds) <= drop + 1:
            continue
        support, oppose = factors.get(name, (1.0, 1.0))
        options = {"support_factor": support, "oppose_factor": oppose}
        before = verdict(whole, **options)
        same = 0
        for _ in range(draws):
            dropped = set(rng.choice(seeds, drop, replace=False).tolist())
            same += verdict(whole.without(dropped), **options) == before
        found[name] = same / draws
    return found


def _seeds(evidence):
    parts = evidence.parts or (evidence,)
    return set().union(*(part.seeds if part.again else () for part in parts))


def sensitivity(source=RESULTS, listed=None):
    """List the verdicts that change when one threshold is varied.

    Parameters
    ----------
    source, listed
        Same as in `findings`.

    Returns
    -------
    list of dict
        One entry for each verdict that changes, with ``threshold, value, id, verdict, becomes``.
    """
    listed = claims() if listed is None else listed
    results = Results(_tables(source))
    before = judge(weigh(results, listed), listed)
    turned = []
    for name, value, thresholds in variations():
        after = judge(weigh(results, listed, thresholds), listed)
        turned += [
            {
                "threshold": name,
                "value": value,
                "id": claim,
                "verdict": before[claim][0],
                "becomes": after[claim][0],
            }
            for claim in before
            if before[claim][0] != after[claim][0]
        ]
    return turned


# --- The multiverse ----------------------------------------------------------------------------


def multiverse(table, listed=None, thresholds=DEFAULT):
    """Compute the verdict in each universe, by the same intervals and logic as the rules.

    Parameters
    ----------
    table : DataFrame
        Table from `renyi_book.experiments.multiverse`, with a row for each claim, universe and
        seed.
    listed : list of dict, optional
        Claims; by default the book's.
    thresholds : Thresholds, optional
        Thresholds of the rules.

    Returns
    -------
    DataFrame
        One row for each claim and universe, with its forks, ``estimate, low, high, n`` and
        ``verdict``. Claims of the table that are not in `listed` are left out.
    """
    listed = claims() if listed is None else listed
    known = {claim["id"]: claim for claim in listed}
    table = table[table["claim"].isin(known)]
    measured = [column for column in table if column == "value" or column[-2:-1] == "_"]
    found = []
    for (name, *_), splits in table.groupby(["claim", "dataset", "universe"], sort=False):
        evidence = _in_a_universe(known[name], splits, thresholds)
        numbers = ("estimate", "low", "high", "n")
        forks = splits.drop(columns=["seed", *measured]).iloc[0].to_dict()
        found.append(
            forks
            | {key: getattr(evidence, key) for key in numbers}
            | {"verdict": verdict(evidence)}
        )
    return pd.DataFrame(found)


def _in_a_universe(claim, splits, thresholds):
    """Compute evidence on a claim from the splits of one universe."""
    delta = claim["smallest"]["delta"] * thresholds.effect_scale
    dataset, rows = splits["dataset"].iloc[0], splits["rows"].iloc[0]
    # Only splits overlap; different starts of one algorithm are independent.
    is_split = isinstance(rows, str)
    share = {"ratio": ratio(dataset.partition("-")[0], rows) if is_split else 0.0}
    if claim["rule"] == "gets_farther":
        theirs, ours = (_violations(splits, name) for name in ("theirs", "ours"))
        return folded(theirs, ours, delta, "", regions=False, **share)
    values = splits["value"].dropna().to_numpy()
    if len(values) < 2:
        return undecided("", delta, len(values))
    if claim["rule"] == "violation_goes_to_zero":
        return equivalence(values, thresholds.fair_eo * thresholds.effect_scale, "", **share)
    if claim["rule"] == "loss_grows_little":
        values = 1 + thresholds.small_loss - values
    elif claim["rule"] == "loss_grows_drastically":
        values = values - 1 - thresholds.drastic_loss
    return difference(values, delta, "", **share)


def _violations(splits, whose):
    """Return columns whose maximum is the violation: log ratios for two groups, else gaps."""
    rates, sizes = (
        splits.filter(regex=rf"^{name}_\d$").dropna(axis=1).to_numpy() for name in (whose, "n")
    )
    if rates.shape[1] > 2:
        return statistics.gaps(rates)
    return statistics.signed(
        statistics.log_ratio(rates[:, 1], sizes[:, 1], rates[:, 0], sizes[:, 0])
    )


def shares(universes):
    """Compute the share of universes for each verdict, and the median estimate, by claim.

    Parameters
    ----------
    universes : DataFrame
        Table from `multiverse`.

    Returns
    -------
    dict of str to dict
        ``n``, ``median`` and a share for each verdict that occurs.
    """
    found = {}
    for name, rows in universes.groupby("claim", sort=False):
        counts = rows["verdict"].value_counts(normalize=True)
        found[name] = {
            "n": len(rows),
            "median": _rounded(rows["estimate"].median()),
            **{one: _rounded(counts[one]) for one in VERDICTS if one in counts},
        }
    return found


# --- What the book shows -----------------------------------------------------------------------


def stored(folder=RESULTS):
    """Return the results that ``make scorecard`` has written; empty if it has not been run."""
    path = Path(folder) / _STORED
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def store(found, folder=RESULTS):
    """Write findings (and other entries, such as shares) to the file that `stored` reads."""
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    (Path(folder) / _STORED).write_text(text + "\n", encoding="utf8")


def rows(folder=RESULTS, path=CLAIMS, *, retired=False):
    """Return the rows of the scorecard, which are claims with results, ready to be shown.

    Parameters
    ----------
    folder : path, optional
        Folder of the stored results.
    path : path, optional
        File of the claims.
    retired : bool, default=False
        Whether to include retired rows, which on closer reading are not claims of the paper.

    Returns
    -------
    list of dict
        All fields of ``claims.yml`` and, where results are stored, ``ours, estimate, low, high,
        n, delta, left, within, right, supports, opposes, verdict, verdict_unadjusted, stable,
        power, multiverse`` (otherwise, the verdicts are "no result yet"); ``paper_text``, ``link``
        (the chapter's page, relative to the scorecard's), ``counted`` (the id of the reading that
        is counted for its sentence) and ``primary`` (whether this row is that reading).

    Examples
    --------
    >>> from renyi_book.scorecard import rows
    >>> {"id", "claim", "verdict", "link"} <= rows()[0].keys()
    True
    """
    found = stored(folder)
    listed = [claim for claim in claims(path) if retired or not claim.get("retired")]
    nothing = {"verdict": NO_RESULT, "verdict_unadjusted": NO_RESULT, "ours": NO_RESULT}
    verdicts = {name: one["verdict"] for name, one in found.get("findings", {}).items()}
    chosen = counted(listed, verdicts)
    return [
        claim
        | nothing
        | found.get("findings", {}).get(claim["id"], {})
        | {
            "paper_text": claim["paper"]["text"],
            "link": _link(claim["chapter"]),
            "primary": chosen[_sentence(claim)] == claim["id"],
            "counted": chosen[_sentence(claim)],
            "multiverse": found.get("multiverse", {}).get(claim["id"]),
        }
        for claim in listed
    ]


def _sentence(claim):
    return claim.get("reading_of", claim["id"])


def strictest(shown):
    """Count the verdicts on the reading of each sentence that is least favorable to the paper.

    Parameters
    ----------
    shown : list of dict
        Rows from `rows`.

    Returns
    -------
    dict of str to int
        Number of sentences by verdict.
    """
    sentences = {}
    for row in shown:
        sentences.setdefault(row["counted"], []).append(row["verdict"])
    worst = [max(found, key=_FAVORABLE.index) for found in sentences.values()]
    return {one: worst.count(one) for one in (*VERDICTS, NO_RESULT) if one in worst}


def _link(slug):
    known = chapters()
    here = known["scorecard"].path
    return known[slug].page_from(here) if slug in known else ""


def tally(shown=None, *, primary=True, adjusted=True):
    """Count the rows with each verdict.

    Parameters
    ----------
    shown : list of dict, optional
        Rows from `rows`.
    primary : bool, default=True
        Whether to count each sentence once, in the reading that `counted` chooses.
    adjusted : bool, default=True
        Whether to use verdicts that are adjusted for multiple comparisons.

    Returns
    -------
    dict of str to int
        Number of rows by verdict.

    Examples
    --------
    >>> from renyi_book.scorecard import tally
    >>> sum(tally([{"verdict": "holds", "primary": True}]).values())
    1
    """
    shown = rows() if shown is None else shown
    key = "verdict" if adjusted else "verdict_unadjusted"
    counted = [row[key] for row in shown if row["primary"] or not primary]
    return {one: counted.count(one) for one in (*VERDICTS, NO_RESULT) if one in counted}


def headline(shown=None, *, rate=0.05):
    """Count the measured claims that are supported or opposed at a false discovery rate of `rate`.

    Benjamini and Yekutieli's procedure is applied to all counted rows with p-values, across
    families.

    Parameters
    ----------
    shown : list of dict, optional
        Rows from `rows`.
    rate : float, default=0.05
        False discovery rate.

    Returns
    -------
    dict
        Numbers of claims that are ``measured``, ``supported`` and ``opposed``.
    """
    shown = rows() if shown is None else shown
    tested = [row for row in shown if row.get("supports") is not None and row["primary"]]
    if not tested:
        return {"measured": 0, "supported": 0, "opposed": 0}
    counts = {"measured": len(tested)}
    for side, name in (("supports", "supported"), ("opposes", "opposed")):
        adjusted = statistics.benjamini_yekutieli([row[side] for row in tested])
        counts[name] = int((adjusted <= rate).sum())
    return counts


def changes(shown, edition):
    """Return the rows whose verdict was different in an earlier edition.

    Parameters
    ----------
    shown : list of dict
        Rows from `rows`, including retired ones.
    edition : {"first", "second"}
        Earlier edition.

    Returns
    -------
    list of dict
        Entries ``id``; ``was``, the verdict of that edition; ``is``, the present verdict on the
        reading that is counted for the sentence ("not counted" for a retired row) or, for the
        first edition, the verdict of the second; ``why``, the reason for the change; and
        ``direction``, the side that the change favors ("paper", "other side" or "neither side").
    """
    verdicts = {row["id"]: row["verdict"] for row in shown}
    found = []
    for row in shown:
        earlier = [one for one in row["history"] if one["edition"] == edition]
        if not earlier:
            continue
        was = earlier[0]["verdict"]
        now = "not counted" if row.get("retired") else verdicts[row["counted"]]
        if edition == "first":
            # The verdict of the second edition, if it has changed again since.
            later = [one["verdict"] for one in row["history"] if one["edition"] == "second"]
            now = (later or [row["verdict"]])[0]
        if was == now and now == row["verdict"]:
            continue
        places = [
            _FAVORABLE.index(UNDECIDED if one == "not counted" else one) for one in (was, now)
        ]
        ahead = places[0] - places[1]
        direction = "paper" if ahead > 0 else "other side" if ahead < 0 else "neither side"
        why = earlier[0].get("why", "")
        found.append({"id": row["id"], "was": was, "is": now, "why": why, "direction": direction})
    return found


# --- Exports -----------------------------------------------------------------------------------

EXPORTED = [
    "id",
    "part",
    "where",
    "kind",
    "reading_of",
    "counted",
    "claim",
    "reading",
    "words",
    "paper_text",
    "paper_value",
    "paper_source",
    "direction",
    "estimate",
    "low",
    "high",
    "n",
    "delta",
    "left",
    "within",
    "right",
    "supports",
    "opposes",
    "verdict",
    "verdict_unadjusted",
    "stable",
    "power",
    "ours",
    "rule",
    "test",
    "chapter",
    "seen_before",
]


def export(folder=RESULTS, shown=None):
    """Write the rows as ``claims.csv`` and ``claims.json``, and return the two paths.

    Parameters
    ----------
    folder : path, optional
        Folder to write to.
    shown : list of dict, optional
        Rows from `rows`; by default, those with the results that are stored in the folder.

    Returns
    -------
    tuple of Path
        Paths of the two files.
    """
    shown = rows(folder) if shown is None else shown
    paths = tuple(Path(folder) / f"claims.{kind}" for kind in ("csv", "json"))
    with paths[0].open("w", encoding="utf8", newline="") as file:
        writer = csv.DictWriter(file, EXPORTED, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(_flat(row) for row in shown)
    text = json.dumps(shown, indent=1, ensure_ascii=False)
    paths[1].write_text(text + "\n", encoding="utf8")
    return paths


def _flat(row):
    paper = row["paper"]
    number = paper.get("value")
    return row | {
        "paper_value": json.dumps(number) if isinstance(number, dict) else number,
        "paper_source": paper.get("source"),
    }
