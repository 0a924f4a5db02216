"""Bring `ours` in book/claims.yml up to date with book/results.

A verdict is not changed in silence: where the rules of `renyi_book.scorecard` now say otherwise,
the file keeps the old one and the command fails, unless ``--accept`` is given.
"""

import argparse
import sys
from pathlib import Path

import yaml

from renyi_book.scorecard import verdicts

BOOK = Path(__file__).resolve().parents[1]
ORDER = ["id", "where", "claim", "paper", "figure", "ours", "verdict", "chapter", "test", "note"]


def updated(claims, found, accept):
    """The claims with what was found, and a line for each verdict that has changed."""
    changes, new = [], []
    for claim in claims:
        ours, verdict = found[claim["id"]]
        old = claim.get("verdict", verdict)
        if old != verdict:
            changes.append(f"{claim['id']}: {old} -> {verdict} ({ours})")
        values = claim | {"ours": ours, "verdict": verdict if accept else old}
        new.append({key: values[key] for key in ORDER if key in values})
    return new, changes


def rewrite(path, found, accept=False):
    """Write the claims anew under the comments at the head of the file; the changed verdicts."""
    text = path.read_text(encoding="utf8")
    head = [line for line in text.splitlines() if line.startswith("#")]
    claims, changes = updated(yaml.safe_load(text), found, accept)
    body = yaml.safe_dump(claims, allow_unicode=True, sort_keys=False, width=10_000)
    path.write_text("\n".join(head) + "\n" + body, encoding="utf8")
    return changes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true", help="take over changed verdicts")
    accept = parser.parse_args().accept
    changes = rewrite(BOOK / "claims.yml", verdicts(BOOK / "results"), accept)
    print("\n".join(changes) or "no verdict has changed")
    sys.exit(bool(changes) and not accept)
