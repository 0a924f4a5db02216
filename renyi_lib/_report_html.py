"""Fairness report as one self-contained HTML page for a browser, an email or a printer.

The page includes its style and its figures (SVG), follows the reader's choice of light or dark
mode, fits on a phone, and prints in black on white.
"""

import datetime
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from renyi_lib.report import FairnessReport

__all__ = ["report_page"]

# Maximum number of groups drawn. If there are more, only the groups with the lowest and the
# highest rates are drawn.
_MOST_DRAWN = 30
_FOUR_FIFTHS = 0.8
_MEANINGS = {
    "demographic_parity_ratio": (
        "The lowest selection rate of any group divided by the highest (1 is parity)."
    ),
    "demographic_parity": "The largest difference between the selection rates of two groups.",
    "equal_opportunity": "The largest difference between the true positive rates of two groups.",
    "equalized_odds": (
        "The largest difference between the true or false positive rates of two groups."
    ),
    "renyi of the decision": "How much the decision depends on the group (0 is independence).",
    "renyi of the score": "How much the binned score depends on the group (0 is independence).",
    "accuracy": "The share of decisions that agree with the truth.",
    "AUC": "How well the score ranks positives above negatives (0.5 is chance).",
}
_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --soft: #57606a;
  --line: #d0d7de; --card: #f6f8fa; --mark: #0072b2; --limit: #b3400a; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --ink: #e6e9ec; --soft: #a3acb5;
  --line: #3a424b; --card: #1d232a; --mark: #6cb8ee; --limit: #f0a070; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
p { margin: .5rem 0; max-width: 44rem; }
.about, figcaption, .note { color: var(--soft); font-size: .9rem; }
.about { overflow-wrap: anywhere; }
.findings { background: var(--card); border: 1px solid var(--line);
  border-left: .3rem solid var(--mark); border-radius: .4rem; padding: .8rem 1rem;
  margin: 1.2rem 0; }
.findings ul { margin: 0; padding-left: 1.1rem; } .findings li { margin: .45rem 0; }
figure { margin: 1rem 0; }
svg { width: 100%; max-width: 38rem; height: auto; display: block; }
svg text { fill: var(--ink); font-size: 14px; } svg .soft { fill: var(--soft); }
svg .grid { stroke: var(--line); }
svg .mark { stroke: var(--mark); fill: none; stroke-width: 2.2; }
svg .dot { fill: var(--mark); stroke: none; }
svg .limit { stroke: var(--limit); stroke-dasharray: 5 4; stroke-width: 1.5; }
svg .limit-text { fill: var(--limit); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: .92rem; }
th, td { padding: .4rem .7rem; text-align: right; border-top: 1px solid var(--line);
  vertical-align: top; } thead th { border-top: 0; vertical-align: bottom; }
th[scope=row], thead th:first-child, .words { text-align: left; }
td.words { min-width: 16rem; color: var(--soft); } td small { display: block; color: var(--soft);
  white-space: nowrap; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); }
@media print { @page { margin: 15mm; } :root { --page: #fff; --ink: #000; --soft: #444;
  --line: #bbb; --card: #fff; --mark: #005a8f; --limit: #a03000; }
  main { max-width: none; padding: 0; } body { font-size: 10pt; } h2 { break-after: avoid; }
  figure, tr, .findings { break-inside: avoid; } .scroll { overflow: visible; border: 0; }
  td.words { min-width: 0; } svg { max-width: 26rem; } }
"""


def report_page(
    report: FairnessReport,
    *,
    title: str = "Fairness report",
    about: Mapping[str, Any] | None = None,
) -> str:
    """Render a fairness report as an HTML page.

    Parameters
    ----------
    report : FairnessReport
        Report returned by `fairness_report`.
    title : str, default="Fairness report"
        Title of the page.
    about : mapping of str to any type, optional
        Information about the data, such as the name of the file, that is shown below the title.

    Returns
    -------
    str
        Source of the page.

    See Also
    --------
    fairness_report : Compute the report.

    Examples
    --------
    >>> from renyi_lib import fairness_report
    >>> report = fairness_report([0, 1] * 50, [0.2, 0.9] * 50, ["a"] * 50 + ["b"] * 50)
    >>> page = report_page(report, about={"File": "loans.csv"})
    >>> page.startswith("<!doctype html>"), "loans.csv" in page
    (True, True)
    """
    level = f"{100 * report.confidence_level:g} %"
    facts = {
        **(about or {}),
        "Rows": f"{int(report.by_group['people'].sum()):,}",
        "Groups": len(report.by_group),
        "Threshold": f"{report.threshold:g}",
        "Intervals": level,
        "Created": datetime.date.today().isoformat(),
    }
    shown = " · ".join(f"{escape(str(k))}: {escape(str(v))}" for k, v in facts.items())
    findings = "".join(f"<li>{escape(line)}</li>" for line in report.verdict.split("\n"))
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="about">{shown}</p>',
        f'<section class="findings" aria-label="Findings"><ul>{findings}</ul></section>',
        "<h2>Who is selected</h2>",
        _rates_figure(report.by_group, level),
        _table(report.by_group, f"Rates by group, each with its {level} interval below it."),
        "<h2>Measures of fairness</h2>",
        _table(
            report.measures,
            f"The value in these rows, and an estimate that is corrected for chance (except for "
            f"the accuracy), with its {level} interval.",
            _MEANINGS,
        ),
    ]
    if report.measures_without_small is not None:
        named = ", ".join(f"{group} ({size})" for group, size in report.small_groups.items())
        parts += [
            "<h2>Without small groups</h2>",
            _table(report.measures_without_small, f"The same measures without {named}."),
        ]
    if len(report.by_threshold) > 1:
        parts += ["<h2>Other thresholds</h2>", _threshold_figure(report)]
    parts.append(
        '<footer><p class="note">Intervals describe the uncertainty of a random sample of this '
        "size. They do not take into account how the rows were collected, or whether the true "
        "labels are themselves fair. Equal rates are one definition of fairness among several, "
        "which cannot all hold at once.</p></footer>"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _table(table, caption, meanings=None):
    """Render a table with each interval below its value, and the meaning of each row."""
    names = [name for name in table if not name.endswith((", low", ", high"))]
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in names)
    head = f'<th scope="col">{escape(str(table.index.name))}</th>{head}'
    if meanings:
        head += '<th scope="col" class="words">meaning</th>'
    rows = []
    for label, row in table.iterrows():
        cells = "".join(f"<td>{_cell(row, name)}</td>" for name in names)
        if meanings:
            known = (text for key, text in meanings.items() if str(label).startswith(key))
            cells += f'<td class="words">{escape(next(known, ""))}</td>'
        rows.append(f'<tr><th scope="row">{escape(_plain(label))}</th>{cells}</tr>')
    return (
        f'<p class="note">{escape(caption)}</p><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{escape(caption)}"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _plain(label):
    """Format the name of a group or a metric for readers."""
    if isinstance(label, tuple):
        return ", ".join(map(str, label))
    return str(label).replace("_", " ").replace("renyi", "Rényi correlation")


def _cell(row, name):
    value = row[name]
    if pd.isna(value):
        return ""
    text = f"{value:,.0f}" if float(value).is_integer() and name == "people" else f"{value:.3f}"
    low = row.get(f"{name}, low", np.nan)
    if pd.isna(low):
        return text
    return f"{text}<small>{low:.3f} to {row[f'{name}, high']:.3f}</small>"


def _rates_figure(by_group, level):
    """Draw the selection rate of each group with its interval."""
    rates = by_group.sort_values("selected", kind="stable")
    caption = f"Share of each group that is selected, with {level} intervals."
    if len(rates) > _MOST_DRAWN:
        half = _MOST_DRAWN // 2
        rates = pd.concat([rates.head(half), rates.tail(half)])
        caption += (
            f" Only the {half} lowest and {half} highest of {len(by_group)} shares are drawn."
        )
    step, left, width = 30, 132, 480
    height = step * len(rates) + 34
    most = min(1.0, max(0.1, np.ceil(10 * rates["selected, high"].max()) / 10))

    def x(rate):
        return left + rate / most * (width - left - 56)

    ticks = np.arange(0, most + 1e-9, 0.1 if most <= 0.5 else 0.2)
    parts = _vertical_grid(x, ticks, height - 28)
    for place, (group, row) in enumerate(rates.iterrows()):
        y = step * place + 20
        name = _plain(group)
        name = name if len(name) <= 15 else name[:14] + "…"
        low, high = x(row["selected, low"]), x(row["selected, high"])
        parts += [
            f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>',
            f'<line class="mark" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>',
            f'<circle class="dot" cx="{x(row["selected"]):.1f}" cy="{y}" r="5"/>',
            f'<text class="soft" x="{high + 8:.1f}" y="{y + 4}">{row["selected"]:.3f}</text>',
        ]
    ends = [f"{_plain(group)}: {rate:.3f}" for group, rate in rates["selected"].items()]
    return _figure(parts, width, height, caption, f"{caption} {'; '.join(ends)}")


def _threshold_figure(report):
    """Draw the ratio of selection rates against the threshold."""
    table = report.by_threshold
    ratio = table[table.columns[-1]]
    width, height, left, bottom = 480, 270, 36, 44
    low, high = float(table.index.min()), float(table.index.max())
    span = high - low or 1.0

    def x(threshold):
        return left + (threshold - low) / span * (width - left - 20)

    def y(value):
        return 14 + (1 - value) * (height - bottom - 14)

    parts = []
    for value in (0, 0.2, 0.4, 0.6, 0.8, 1):
        parts += [
            f'<line class="grid" x1="{left}" x2="{width - 20}" y1="{y(value):.1f}" '
            f'y2="{y(value):.1f}"/>',
            f'<text class="soft" x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
            f"{value:g}</text>",
        ]
    for value in np.linspace(low, high, 5):
        parts.append(
            f'<text class="soft" x="{x(value):.1f}" y="{height - 24}" text-anchor="middle">'
            f"{value:.2g}</text>"
        )
    points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in ratio.items())
    parts += [
        f'<line class="limit" x1="{left}" x2="{width - 20}" y1="{y(_FOUR_FIFTHS):.1f}" '
        f'y2="{y(_FOUR_FIFTHS):.1f}"/>',
        f'<text class="limit-text" x="{width - 22}" y="{y(_FOUR_FIFTHS) - 6:.1f}" '
        'text-anchor="end">four fifths</text>',
        f'<polyline class="mark" points="{points}"/>',
        f'<text class="soft" x="{(left + width - 20) / 2}" y="{height - 4}" '
        'text-anchor="middle">threshold</text>',
    ]
    lines = "The dashed line marks four fifths."
    if low <= report.threshold <= high:
        lines = "The dashed lines mark four fifths and the threshold in use."
        parts.append(
            f'<line class="limit" x1="{x(report.threshold):.1f}" x2="{x(report.threshold):.1f}" '
            f'y1="14" y2="{height - bottom}"/>'
        )
    percent = 100 * table["selected"]
    caption = (
        f"Lowest selection rate of any group divided by the highest, at {len(table)} thresholds "
        f"that select {percent.min():.0f} to {percent.max():.0f} % of all rows. {lines}"
    )
    worst = ratio.idxmin()
    said = f"{caption} It is lowest, {ratio.min():.3f}, at the threshold {worst:.3g}."
    return _figure(parts, width, height, caption, said)


def _vertical_grid(x, values, bottom):
    parts = []
    for value in values:
        parts += [
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="4" y2="{bottom}"/>',
            f'<text class="soft" x="{x(value):.1f}" y="{bottom + 18}" text-anchor="middle">'
            f"{value:.2g}</text>",
        ]
    return parts


def _figure(parts, width, height, caption, said):
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(said)}">'
        f"{''.join(parts)}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )
