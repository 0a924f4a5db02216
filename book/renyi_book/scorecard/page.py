"""The rows as HTML: a table for each part of the paper, folded, that works without JavaScript."""

from html import escape

from renyi_book.chapters import chapters
from renyi_book.scorecard.judging import NO_RESULT, UNDECIDED, VERDICTS

#: A sign for each verdict, for those who do not see colours.
SIGNS = dict(zip((*VERDICTS, NO_RESULT), "✓◐✗?–…"))
HEAD = ("Claim, in our words", "Paper", "Ours", "Verdict")


def as_html(shown):
    """The rows as folded tables, one for each part, in the order of the paper.

    Parameters
    ----------
    shown : list of dict
        From `renyi_book.scorecard.rows`.

    Returns
    -------
    str
        Every row is a ``<tr>`` with ``id="claim-…"``, ``data-part`` and ``data-verdict``.

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
        f"<summary><strong>{_text(part)}</strong>: {counts}</summary>\n"
        f'<table class="claims">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</details>"
    )


def _row(row):
    title = chapters()[row["chapter"]].title
    second = row.get("reading_of")
    cells = (
        _text(row["claim"])
        + _small(f"Taken as: {row['reading']}" if row["reading"] != "as written" else "")
        + (
            f'<br><small>A second reading of <a href="#claim-{second}">{second}</a>.</small>'
            if second
            else ""
        )
        + f"<br><small>{_text(row['where'])}; "
        f'<a href="{row["link"]}">{_text(title)}</a>; <code>{row["id"]}</code></small>',
        _text(row["paper_text"]),
        _text(row["ours"]) + _small(*_remarks(row)),
        f"<b>{SIGNS[row['verdict']]} {row['verdict']}</b>",
    )
    body = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in zip(HEAD, cells))
    return (
        f'<tr id="claim-{row["id"]}" data-part="{_attribute(row["part"])}" '
        f'data-verdict="{_attribute(row["verdict"])}">{body}</tr>'
    )


def _remarks(row):
    """What a careful reader wants to know of a verdict, in sentences."""
    if row["verdict"] != row["verdict_unadjusted"]:
        yield f"Judged alone, without the other rows of its figure: {row['verdict_unadjusted']}."
    if row["verdict"] == UNDECIDED and row.get("power"):
        yield f"Power: {row['power']}."
    if row.get("stable", 1) < 1:
        yield f"Without five random splits the verdict turns in {1 - row['stable']:.0%} of draws."
    if row.get("reason"):
        yield row["reason"]
    if row.get("note"):
        yield row["note"]


def _small(*sentences):
    return "".join(f"<br><small>{_text(sentence)}</small>" for sentence in sentences if sentence)


def _text(text):
    return escape(str(text), quote=False)


def _attribute(text):
    return escape(str(text), quote=True)
