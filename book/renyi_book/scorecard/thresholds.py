"""Thresholds that we chose, each with its value, the reason for it, and alternative values.

Rules take a `Thresholds`; `renyi_book.scorecard.sensitivity` varies one threshold at a time and
reports which verdicts change.
"""

from dataclasses import dataclass, field, fields, replace


def _opinion(value, why, *others):
    return field(default=value, metadata={"why": why, "others": others})


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of the rules, in addition to the smallest effect of each claim."""

    effect_scale: float = _opinion(
        1.0, "factor on the smallest effect of every claim (.3 points, .02)", 0.5, 2.0
    )
    fair_p_rule: float = _opinion(0.8, "the four-fifths rule of US guidelines", 0.7, 0.9)
    fair_dp: float = _opinion(
        0.08, "four groups: where the first edition read the panel of gender and race", 0.05, 0.12
    )
    fair_eo: float = _opinion(
        0.02, "the EO violation that counts as none: the smallest effect itself", 0.01, 0.03
    )
    reproduced: float = _opinion(
        0.005, "a rate or violation that comes out again: half a point", 0.002, 0.01
    )
    reproduced_points: float = _opinion(
        0.15, "an accuracy that comes out again, in points: half of .3", 0.1, 0.3
    )
    slight_points: float = _opinion(
        1.0, "a slight loss of accuracy, in points; the paper shows .24", 0.5, 2.0
    )
    overhead: float = _opinion(
        1.25, "overhead that is called minimal: the factor in the paper's own table", 1.1, 1.5
    )
    falls_fast: float = _opinion(
        0.6, "sd of w at lambda = .005 against lambda = 0, to have fallen fast", 0.5, 0.75
    )
    small_loss: float = _opinion(
        0.15, "growth of the clustering loss that counts as small", 0.1, 0.25
    )
    drastic_loss: float = _opinion(
        1.0, "growth of the clustering loss that counts as drastic: it doubles", 0.5, 3.0
    )
    independent: float = _opinion(0.02, "rho_R that counts as near independence", 0.01, 0.05)
    vanished: float = _opinion(
        0.05, "share of the NMI at lambda = 0 that counts as none", 0.02, 0.1
    )
    intractable: float = _opinion(
        10.0, "how many times the time of a Rényi step counts as intractable", 5.0, 100.0
    )
    rounding: float = _opinion(1e-6, "an identity up to rounding of stored digits", 1e-5, 1e-7)


DEFAULT = Thresholds()


def variations():
    """Yield (name, value, thresholds) for each alternative value of each threshold.

    Yields
    ------
    tuple of str, float, Thresholds
        Name of a threshold, its alternative value, and the thresholds that contain this value.

    Examples
    --------
    >>> from renyi_book.scorecard.thresholds import variations
    >>> [value for name, value, _ in variations() if name == "fair_p_rule"]
    [0.7, 0.9]
    """
    for threshold in fields(Thresholds):
        for value in threshold.metadata["others"]:
            yield threshold.name, value, replace(DEFAULT, **{threshold.name: value})
