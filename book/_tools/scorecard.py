"""Weigh the claims of book/claims.yml by book/results, and store what was found.

Writes results/verdicts.json (findings, shares of the multiverse, verdicts that hang on a
threshold) and the exports results/claims.csv and claims.json. Where there are no results yet, the
rows say so. A verdict is not changed in silence: where it differs from the one stored, the old
findings are kept and the command fails, unless ``--accept`` is given. ``--rules COMMIT`` instead
says which commit holds the frozen rules.
"""

import argparse
import sys

from renyi_book.experiments import ResultsError, load
from renyi_book.scorecard import (
    NO_RESULT,
    export,
    findings,
    multiverse,
    sensitivity,
    shares,
    store,
    stored,
)
from renyi_book.scorecard.frozen import name
from renyi_book.scorecard.table import RESULTS


def changed(old, new):
    """A line for each verdict that differs from the stored one; a first result is no change."""
    return [
        f"{name}: {old[name]['verdict']} -> {found['verdict']} ({found['ours']})"
        for name, found in new.items()
        if name in old and old[name]["verdict"] not in (NO_RESULT, found["verdict"])
    ]


def universes(folder):
    """The shares of the multiverse, if it has been computed."""
    try:
        return shares(multiverse(load("multiverse", folder)))
    except (ValueError, ResultsError):
        return {}


def weigh(folder, *, accept=False):
    """Store findings and exports; the changed verdicts. If not accepted, all stays as it was."""
    found = findings(folder)
    changes = changed(stored(folder).get("findings", {}), found)
    if changes and not accept:
        return changes
    turned = sensitivity(folder)
    everything = {"findings": found, "multiverse": universes(folder), "sensitivity": turned}
    store(everything, folder)
    export(folder)
    return changes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true", help="take over changed verdicts")
    parser.add_argument("--rules", metavar="COMMIT", help="name the commit of the frozen rules")
    arguments = parser.parse_args()
    if arguments.rules:
        name(arguments.rules)
        sys.exit()
    changes = weigh(RESULTS, accept=arguments.accept)
    print("\n".join(changes) or "no verdict has changed")
    sys.exit(bool(changes) and not arguments.accept)
