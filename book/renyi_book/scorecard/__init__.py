"""Scorecard of the paper's claims, each with a rule that turns results into a verdict.

The claims, with everything that was fixed before the results (reading, estimand, smallest effect,
rule), are in the book's ``claims.yml``, and ``rules.json`` has their checksums. `rows` returns
the claims with the results, `findings` recomputes the results, `tally` counts the verdicts, and
`forest` draws the intervals. `sensitivity` varies every threshold, `stable` leaves out some
splits, `multiverse` judges the claims in every universe of the multiverse analysis, and `shares`
summarizes those verdicts.
"""

from renyi_book.scorecard.figure import forest, standing
from renyi_book.scorecard.judging import NO_RESULT, VERDICTS, Evidence, NoResult
from renyi_book.scorecard.page import in_words
from renyi_book.scorecard.table import (
    claims,
    counted,
    export,
    findings,
    headline,
    judge,
    multiverse,
    rows,
    sensitivity,
    shares,
    stable,
    store,
    stored,
    strictest,
    tally,
    weigh,
)
from renyi_book.scorecard.thresholds import DEFAULT, Thresholds

__all__ = [
    "DEFAULT",
    "NO_RESULT",
    "VERDICTS",
    "Evidence",
    "NoResult",
    "Thresholds",
    "claims",
    "counted",
    "export",
    "findings",
    "forest",
    "headline",
    "in_words",
    "judge",
    "multiverse",
    "rows",
    "sensitivity",
    "shares",
    "stable",
    "standing",
    "store",
    "stored",
    "strictest",
    "tally",
    "weigh",
]
