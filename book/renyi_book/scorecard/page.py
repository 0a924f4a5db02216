"""HTML of the scorecard, with a folded table for each part of the paper and without JavaScript."""

import re
from html import escape

from renyi_book.chapters import chapters
from renyi_book.scorecard.judging import NO_RESULT, UNDECIDED, VERDICTS

#: Symbol of each verdict, for readers who cannot distinguish colors.
SIGNS = dict(zip((*VERDICTS, NO_RESULT), "✓◐✗?–…"))
HEAD = ("Claim, in our words", "Paper", "Ours", "Verdict")
# Words of the frozen rules that the book writes differently.
_WORDS = {
    "(ormal|ptim|inim|egular)is(e|ing)": r"\1iz\2",
    "favour": "favor",
    "centre": "center",
    "neighbourhood": "neighborhood",
    "set-up": "setup",
    r"\brivals\b": "other methods",
    r"\brival\b": "other method",
}
# Continuations of "of 109 claims, 51 …" for each verdict, in the plural.
_PLURAL = {
    "holds": "hold",
    "holds in part": "hold in part",
    "does not hold": "do not hold",
    "undecided": "are undecided",
    "cannot be tested": "cannot be tested",
    NO_RESULT: "have no result yet",
}
_SINGULAR = {name: name for name in VERDICTS} | {
    "undecided": "is undecided",
    NO_RESULT: "has no result yet",
}


def in_words(counts):
    """Describe a tally of verdicts in one sentence.

    Parameters
    ----------
    counts : dict of str to int
        Tally from `renyi_book.scorecard.tally`.

    Returns
    -------
    str
        Sentence.

    Examples
    --------
    >>> from renyi_book.scorecard.page import in_words
    >>> in_words({"holds": 2, "does not hold": 3, "undecided": 1})
    'Of 6 claims, 2 hold, 3 do not hold, and 1 is undecided.'
    """
    said = [
        f"{count} {(_SINGULAR if count == 1 else _PLURAL)[name]}" for name, count in counts.items()
    ]
    *others, last = said
    listed = f"{', '.join(others)}, and {last}" if others else last
    total = sum(counts.values())
    return f"Of {total} claim{'s' if total != 1 else ''}, {listed}."


def as_html(shown):
    """Return the rows as folded tables, one for each part, in the order of the rows.

    Parameters
    ----------
    shown : list of dict
        Rows from `renyi_book.scorecard.rows`.

    Returns
    -------
    str
        HTML in which every row is a ``<tr>`` with ``id="claim-…"``, ``data-part`` and
        ``data-verdict``.

    Examples
    --------
    >>> from renyi_book.scorecard import rows
    >>> from renyi_book.scorecard.page import as_html
    >>> as_html(rows()).count("<tr id=") == len(rows())
    True
    """
    parts = {}
    for row in shown:
        parts.setdefault(row["part"], []).append(row)
    return '<div class="scorecard">\n' + "\n".join(map(_part, parts, parts.values())) + "\n</div>"


def _part(part, shown):
    found = [row["verdict"] for row in shown]
    counts = ", ".join(
        f"{found.count(one)} {SIGNS[one]}\N{NO-BREAK SPACE}{one}" for one in SIGNS if one in found
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    body = "\n".join(map(_row, shown))
    return (
        f'<details class="claims-part" data-part="{_attribute(part)}">\n'
        f"<summary><strong>{as_shown(part)}</strong>: {counts}</summary>\n"
        f'<table class="claims">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</details>"
    )


def _row(row):
    title = chapters()[row["chapter"]].title
    other = row["counted"]
    cells = (
        as_shown(row["claim"])
        + _small(f"Taken as: {row['reading']}" if row["reading"] != "as written" else "")
        + _small(f"Counted because of the words {row['words']}." if _by_words(row) else "")
        + (
            ""
            if row["primary"]
            else f'<br><small>Not counted; <a href="#claim-{other}">{other}</a> is.</small>'
        )
        + f"<br><small>{as_shown(row['where'])}; "
        f'<a href="{row["link"]}">{as_shown(title)}</a>; <code>{row["id"]}</code></small>',
        as_shown(row["paper_text"]),
        as_shown(row["ours"]) + _small(*_remarks(row)),
        f"<b>{SIGNS[row['verdict']]} {row['verdict']}</b>",
    )
    body = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in zip(HEAD, cells))
    return (
        f'<tr id="claim-{row["id"]}" data-part="{_attribute(row["part"])}" '
        f'data-verdict="{_attribute(row["verdict"])}">{body}</tr>'
    )


def _by_words(row):
    return row["primary"] and row.get("words")


def _remarks(row):
    """Yield sentences with further information about a verdict."""
    if row["verdict"] != row["verdict_unadjusted"]:
        yield f"Judged alone, without the other rows of its figure: {row['verdict_unadjusted']}."
    if row["verdict"] == UNDECIDED and row.get("power"):
        yield f"Power: {row['power']}."
    if row.get("stable", 1) < 1:
        share = round(100 * (1 - row["stable"]))
        yield f"If five random splits are left out, the verdict changes in {share} % of draws."
    if row.get("reason"):
        yield row["reason"]
    if row.get("note"):
        yield row["note"]


def _small(*sentences):
    return "".join(
        f"<br><small>{as_shown(sentence)}</small>" for sentence in sentences if sentence
    )


def as_shown(text):
    """Return a frozen text in the book's spelling and terms, for use in HTML."""
    for old, new in _WORDS.items():
        text = re.sub(old, new, str(text))
    return escape(str(text), quote=False)


def _attribute(text):
    return escape(str(text), quote=True)
