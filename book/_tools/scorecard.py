"""Judge the claims in book/claims.yml by the tables in book/results, and store the verdicts.

Writes results/verdicts.json (findings, shares of the multiverse, verdicts that depend on a
threshold) and the exports results/claims.csv and claims.json. Rows whose tables are missing get
the verdict "no result yet". If a verdict differs from the stored one, the old findings are kept
and the command fails, unless ``--accept`` is given. With ``--rules COMMIT`` it only records which
commit contains the frozen rules.
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
    """Return a line for each verdict that differs from the stored one, except first results."""
    return [
        f"{name}: {old[name]['verdict']} -> {found['verdict']} ({found['ours']})"
        for name, found in new.items()
        if name in old and old[name]["verdict"] not in (NO_RESULT, found["verdict"])
    ]


def universes(folder):
    """Return the shares of verdicts in the multiverse, or {} if it has not been computed."""
    try:
        return shares(multiverse(load("multiverse", folder)))
    except (ValueError, ResultsError):
        return {}


def weigh(folder, *, accept=False):
    """Store the findings, unless verdicts changed and `accept` is false; return the changes."""
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
    parser.add_argument("--accept", action="store_true", help="store changed verdicts")
    parser.add_argument("--rules", metavar="COMMIT", help="record the commit of the rules")
    arguments = parser.parse_args()
    if arguments.rules:
        name(arguments.rules)
        sys.exit()
    changes = weigh(RESULTS, accept=arguments.accept)
    print("\n".join(changes) or "no verdict has changed")
    sys.exit(bool(changes) and not arguments.accept)
