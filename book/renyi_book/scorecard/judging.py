"""Turn evidence into one of five verdicts.

For a claimed difference, let D be the smallest effect that matters and [L, U] the 95 % interval in
the claimed direction:

* L > 0 and U >= D: **holds**;
* L > 0 and U < D: the sign only, **holds in part**;
* L <= 0 and U < D: **does not hold** (any effect that matters is excluded);
* L <= 0 and U >= D: **undecided**.

"No difference", "goes to 0" and "is this number" **hold** if the 90 % interval lies within D of 0
(two one-sided tests at 5 %), do **not hold** if the 95 % interval lies entirely beyond D, and are
otherwise **undecided**. Numbers without noise (see `value`) and **exact** claims (an identity, a
count) are never undecided.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from renyi_book.scorecard import statistics

HOLDS, PART, FAILS, UNDECIDED, UNTESTABLE = VERDICTS = (
    "holds",
    "holds in part",
    "does not hold",
    "undecided",
    "cannot be tested",
)
#: Placeholder for a verdict until the experiments have been run.
NO_RESULT = "no result yet"
# One-sided levels: the two ends of a 95 % interval, and the two tests of an equivalence.
ALPHA, ALPHA_EQUIVALENCE = 0.025, 0.05
#: Rule of a claim that summarizes others and is judged by their verdicts.
SUMMARY = "comparisons_hold"
#: Number of splits to leave out in each random draw, and number of draws.
LEFT_OUT, LEAVE_OUT_DRAWS = 5, 200


class NoResult(LookupError):
    """Error raised if a table, column or seed that a rule needs does not exist (yet)."""


@dataclass(frozen=True)
class Evidence:
    """Measured evidence for a claim, in the claimed direction and unit.

    ``supports`` and ``opposes`` are p-values; a small one supports, or opposes, the claim. Both
    may be small for a difference, if the sign is right but the size does not matter. Parts, if
    any, are claims that must all be true; estimate, interval, regions and delta are then those of
    the weakest part.
    """

    kind: str
    text: str
    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n: int = 0
    delta: float = np.nan
    supports: float = 1.0
    opposes: float = 1.0
    regions: tuple = ()
    # Description of what it would take to decide, computed on demand because it takes time.
    power: Callable = field(default=str, repr=False, compare=False)
    outcome: str = ""
    parts: tuple = ()
    seeds: tuple = ()
    # How much fairer the point of the claimed method is, if accuracy is compared.
    guard: "Evidence | None" = None
    # Function that recomputes the evidence from the splits that a mask keeps.
    again: Callable = field(default=None, repr=False, compare=False)

    def without(self, dropped):
        """Return the evidence without some seeds, or itself if it does not depend on seeds."""
        if self.parts:
            return everything([part.without(dropped) for part in self.parts], self.text)
        if self.again is None:
            return self
        found = self.again(np.array([seed not in dropped for seed in self.seeds]))
        return replace(found, guard=self.guard and self.guard.without(dropped))


def verdict(evidence, *, support_factor=1.0, oppose_factor=1.0):
    """Return the verdict on a claim; the factors adjust p-values for other claims of its family.

    Parameters
    ----------
    evidence : Evidence
        Evidence for the claim.
    support_factor, oppose_factor : float, default=1
        Factors that multiply the two p-values.

    Returns
    -------
    str
        One of `VERDICTS`.
    """
    if evidence.parts:
        # Support needs no adjustment, because all parts must be supported. Opposition needs one,
        # because a single opposed part is enough.
        oppose_factor *= len(evidence.parts)
        found = {
            verdict(part, support_factor=support_factor, oppose_factor=oppose_factor)
            for part in evidence.parts
        }
        return _all_of(found)
    if evidence.outcome:
        return evidence.outcome
    alpha = ALPHA_EQUIVALENCE if evidence.kind == "equivalence" else ALPHA
    supported = min(1, evidence.supports * support_factor) < alpha
    opposed = min(1, evidence.opposes * oppose_factor) < ALPHA
    found = {
        (True, False): HOLDS,
        (True, True): PART,
        (False, True): FAILS,
        (False, False): UNDECIDED,
    }[supported, opposed]
    return _guarded(found, evidence.guard)


def _guarded(found, guard):
    """Change a verdict to "in part" if the method that it favors was less fair."""
    if guard is None:
        return found
    less_fair, fairer = guard.high < -guard.delta, guard.low > guard.delta
    return PART if (found == HOLDS and less_fair) or (found == FAILS and fairer) else found


def _all_of(found):
    """Return the verdict on "all of these", given the verdicts on each."""
    if len(found) == 1:
        return found.pop()
    if found <= {FAILS, UNDECIDED}:
        # If no part holds, one that fails is enough, even if all others are undecided.
        return FAILS
    return UNDECIDED if found <= {HOLDS, UNDECIDED} else PART


def of_interval(kind, low, high, delta):
    """Return the verdict on an interval that was computed elsewhere, such as in the benchmark.

    Parameters
    ----------
    kind : {"difference", "equivalence"}
        Type of the claim.
    low, high : float
        Ends of the interval, 95 % for a difference and 90 % for an equivalence.
    delta : float
        Smallest effect that matters.

    Returns
    -------
    str
        Verdict.

    Examples
    --------
    >>> from renyi_book.scorecard.judging import of_interval
    >>> of_interval("difference", -0.1, 0.5, 0.3)
    'undecided'
    """
    if kind == "equivalence":
        if -delta < low and high < delta:
            return HOLDS
        return FAILS if low > delta or high < -delta else UNDECIDED
    if low > 0:
        return HOLDS if high >= delta else PART
    return UNDECIDED if high >= delta else FAILS


# --- Making evidence -------------------------------------------------------------------------


def difference(values, delta, what, *, ratio=0.0, seeds=(), digits=2, unit="", note=""):
    """Compute evidence on a difference that is claimed to be positive, from one value per split.

    Parameters
    ----------
    values : array-like of shape (J,)
        Values, positive if they are as claimed.
    delta : float
        Smallest effect that matters.
    what : str
        Description of the number for readers.
    ratio : float, default=0
        Correction for overlapping splits, as in `statistics.corrected`.
    seeds : sequence of int, default=()
        Seeds of the splits, so that some can be left out; if empty, 0, ..., J - 1.
    digits : int, default=2
        Number of digits to print.
    unit, note : str, default=""
        Unit of the number, and a remark for readers.

    Returns
    -------
    Evidence
        Evidence for the claim.
    """
    return _measured("difference", values, delta, what, ratio, seeds, digits, unit, note)


def equivalence(values, delta, what, *, ratio=0.0, seeds=(), digits=3, unit="", note=""):
    """Compute evidence on a quantity that is claimed to be 0, with a 90 % interval.

    The arguments are those of `difference`.
    """
    return _measured("equivalence", values, delta, what, ratio, seeds, digits, unit, note)


def _measured(kind, values, delta, what, ratio, seeds, digits, unit, note):
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        raise NoResult(f"{what}: {len(values)} splits, but at least two are needed")
    mean = statistics.corrected(values, ratio, level=_level(kind))
    seeds = tuple(seeds) or tuple(range(len(values)))

    def again(kept):
        left = [seed for seed, keep in zip(seeds, kept) if keep]
        return _measured(kind, values[kept], delta, what, ratio, left, digits, unit, note)

    sd = float(values.std(ddof=1))
    return from_mean(kind, mean, delta, what, digits, unit, note, seeds, again, (sd, ratio))


def folded(
    first, second, delta, what, *, ratio=0.0, seeds=(), digits=3, unit="", note="", regions=True
):
    """Compute evidence on the claim that `first` has a larger violation than `second`.

    Parameters
    ----------
    first, second : ndarray of shape (J, k)
        Values with a row for each split, as in `statistics.fold`. Each violation is the largest
        column mean.
    delta, what, ratio, seeds, digits, unit, note
        Same as in `difference`, but with ``digits=3`` by default.
    regions : bool, default=True
        Whether to compute the probabilities of the three regions, which takes most of the time.

    Returns
    -------
    Evidence
        Evidence for the claim.
    """
    if len(first) < 2:
        raise NoResult(f"{what}: {len(first)} splits, but at least two are needed")
    found = statistics.fold(first, second, ratio)
    seeds = tuple(seeds) or tuple(range(len(first)))

    def again(kept):
        left = [seed for seed, keep in zip(seeds, kept) if keep]
        options = {"ratio": ratio, "seeds": left, "regions": False}
        return folded(first[kept], second[kept], delta, what, **options)

    text = f"{what} {shown(found, digits)}{unit}"
    if found.high < 0:
        text += ", the other way round"
    return Evidence(
        kind="difference",
        text=f"{text}; {note}" if note else text,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        n=found.n,
        delta=delta,
        supports=found.p_greater(0.0),
        opposes=found.p_less(delta),
        regions=statistics.fold_regions(first, second, delta, ratio) if regions else (),
        power=partial(_power, "difference", found, delta, None, digits, unit),
        seeds=seeds,
        again=again,
    )


def from_mean(kind, mean, delta, what, digits, unit, note, seeds, again, spread=None):
    """Compute evidence from a mean with its standard error.

    ``spread`` is a pair, the standard deviation of the values and the correction for overlapping
    splits, from which the number of splits needed for a decision is computed. The other arguments
    are those of `difference` and of `Evidence`.
    """
    if kind == "equivalence":
        supports, opposes = statistics.tost(mean, delta), statistics.p_outside(mean, delta)
    else:
        supports, opposes = statistics.p_greater(mean, 0.0), statistics.p_less(mean, delta)
    text = f"{what} {shown(mean, digits)}{unit}"
    if kind == "difference" and mean.high < 0:
        text += ", the other way round"
    return Evidence(
        kind=kind,
        text=f"{text}; {note}" if note else text,
        estimate=mean.estimate,
        low=mean.low,
        high=mean.high,
        n=mean.n,
        delta=delta,
        supports=supports,
        opposes=opposes,
        regions=statistics.regions(mean, delta),
        power=partial(_power, kind, mean, delta, spread, digits, unit),
        seeds=seeds,
        again=again,
    )


def value(found, claimed, near, delta, what, *, digits=4, note=""):
    """Compute evidence on a number without noise, from the same rows as the paper's number.

    The claim holds if `found` is within `near` of `claimed`, does not hold if it is more than
    `delta` away, and holds in part in between.
    """
    away = found - claimed
    outcome = HOLDS if abs(away) <= near else FAILS if abs(away) > delta else PART
    text = f"{what} {found:.{digits}f}"
    return Evidence(
        kind="value",
        text=f"{text}; {note}" if note else text,
        estimate=away,
        low=away,
        high=away,
        n=1,
        delta=delta,
        outcome=outcome,
    )


def guarded(evidence, guard):
    """Combine evidence on accuracy with evidence on the fairness at which it was reached."""
    return replace(evidence, guard=guard, text=f"{evidence.text}; {guard.text}")


def exact(true, text, *, partly=False, gap=np.nan, n=0):
    """Create evidence on an identity, a count or a counterexample, which may be true in part."""
    outcome = HOLDS if true else PART if partly else FAILS
    return Evidence(kind="exact", text=text, estimate=gap, low=gap, high=gap, n=n, outcome=outcome)


def undecided(text, delta, n):
    """Create evidence from too few values for an interval."""
    return Evidence(kind="difference", text=text, n=n, delta=delta, outcome=UNDECIDED)


def everything(parts, text=None):
    """Combine evidence on the parts of a claim, all of which must be true."""
    parts = tuple(parts)
    weakest = min(parts, key=lambda part: _standing(part))
    return replace(
        weakest,
        text=text or "; ".join(part.text for part in parts),
        parts=parts,
        supports=max(part.supports for part in parts),
        opposes=min(1.0, len(parts) * min(part.opposes for part in parts)),
        n=min(part.n for part in parts),
        power=lambda: "; ".join(filter(None, (part.power() for part in parts))),
        again=None,
    )


def _standing(part):
    """Return how well a part is supported, in units of its smallest effect."""
    if part.kind == "difference" and np.isfinite(part.low):
        return part.low / part.delta
    if part.kind in ("equivalence", "value"):
        return -max(abs(part.low), abs(part.high)) / part.delta
    return 0.0 if verdict(part) == HOLDS else -np.inf


def _level(kind):
    return 0.9 if kind == "equivalence" else 0.95


def _power(kind, found, delta, spread, digits, unit):
    """Describe how short the interval would have to be for a decision.

    An interval shorter than the smallest effect cannot both contain 0 and reach that effect, so a
    difference is then decided. An equivalence holds only if the interval lies between -delta and
    delta, so it must be shorter than twice delta.
    """
    length = found.high - found.low
    wanted = delta if kind == "difference" else 2 * delta
    said = f"the interval is {length:.{digits}f}{unit} long"
    if length < wanted:
        why = "the other rows of its family leave" if kind == "difference" else "its place leaves"
        return f"{said}, which would decide the row alone; {why} it open"
    said += f", and one shorter than {wanted:g} would decide the row"
    if spread is None:
        return said
    sd, ratio = spread
    needed = statistics.splits_needed(sd, ratio, wanted, level=_level(kind))
    if needed is not None:
        return f"{said}, which takes about {needed} splits or seeds"
    floor = statistics.shortest(sd, ratio, level=_level(kind))
    return f"{said}; with more and more splits of these data it tends to {floor:.{digits}f}"


def shown(mean, digits=3):
    """Format a mean and its interval."""
    return f"{mean.estimate:.{digits}f} [{mean.low:.{digits}f}, {mean.high:.{digits}f}]"
