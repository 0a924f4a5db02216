"""Feedback page for a student about one assignment."""

import html
import json
import re
from pathlib import Path

CHAPTERS = Path(__file__).with_name("chapters.json")

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --line: #767676;
  --lost: #a33d00; --full: #00614a; --wait: #005a8c; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #eee; --paper: #181818; --line: #999;
  --lost: #ff9a5c; --full: #4fd1a9; --wait: #7cc4f0; }} a {{ color: #9ecbff; }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; color: var(--ink); background: var(--paper); }}
table {{ border-collapse: collapse; width: 100%; }}
caption {{ text-align: left; font-weight: 600; padding: .4rem 0; }}
th, td {{ text-align: left; vertical-align: top; padding: .4rem .6rem; font-weight: 400;
  border-bottom: 1px solid var(--line); }}
thead th {{ font-weight: 600; }}
.points {{ white-space: nowrap; }}
p, li {{ white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .5rem; }}
.state {{ font-weight: 600; }}
.lost .state {{ color: var(--lost); }} .full .state {{ color: var(--full); }}
.wait .state {{ color: var(--wait); }}
details {{ margin: 0 0 .5rem; }}
@media print {{ body {{ max-width: none; margin: 0; }} tr {{ break-inside: avoid; }}
  details > * {{ display: block; }} }}
</style></head><body><main>
<h1>{heading}</h1>
<p>{status}</p>
{table}
{notes}
</main></body></html>
"""


def chapters():
    """Return {title: {"page": path, "sections": {title: anchor}}} of the book's chapters."""
    try:
        return json.loads(CHAPTERS.read_text("utf-8"))
    except OSError:
        return {}


def resolve(names, known):
    """Return ([(name, address)], unknown names) of chapters and sections, in order.

    A chapter may be identified by the beginning of its title, up to a colon or a comma. The name
    of a section follows that of its chapter.
    """
    found, strange, chapter = [], [], None
    for name in names:
        titles = [t for t in known if t == name or t.startswith((f"{name}:", f"{name},"))]
        if titles:
            chapter = known[titles[0]]
            found.append((name, chapter["page"]))
        elif chapter and name in chapter["sections"]:
            found.append((name, f"{chapter['page']}#{chapter['sections'][name]}"))
        else:
            strange.append(name)
    return list(dict.fromkeys(found)), strange


def reading(names, book):
    """Return links (or text if `book` is "") to the chapters and sections that a task names."""
    found, _ = resolve(names, chapters())
    if not found:
        return ""
    links = [
        f'<a href="{html.escape(book.rstrip("/"))}/{html.escape(path)}">{html.escape(name)}</a>'
        if book
        else f"<cite>{html.escape(name)}</cite>"
        for name, path in found
    ]
    return f"<p>In the book: {', '.join(links)}</p>"


def rubric(text):
    """Return a rubric's table as a list."""
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in text.splitlines()]
    rows = [row for row in rows if len(row) > 1 and not set("".join(row)) <= set("-: ")]
    items = "".join(
        f"<li>{html.escape(': '.join(c.strip() for c in row))}</li>" for row in rows[1:]
    )
    return f"<details><summary>The rubric</summary><ul>{items}</ul></details>" if items else ""


def line(mark, book):
    """Return the row of one graded cell."""
    state = "wait" if mark.points is None else "full" if mark.points >= mark.worth else "lost"
    words = {"wait": "To be marked", "full": "Right", "lost": "Points lost"}[state]
    task = f"Task {mark.task}: {mark.title}" if mark.task else mark.name
    part = " (edge cases)" if mark.name.endswith("_edge") else ""
    earned = "–" if mark.points is None else f"{mark.points:g}"
    told = mark.message or ("no answer" if state == "lost" else "")
    return (
        f'<tr class="{state}"><th scope="row">{html.escape(task + part)}</th>'
        f'<td class="points">{earned} of {mark.worth:g}</td>'
        f'<td><p class="state">{words}</p>'
        + (f"<p>{html.escape(told)}</p>" if told else "")
        + (f"<p>{html.escape(mark.answer)}</p>" if mark.answer else "")
        + (rubric(mark.rubric) if mark.rubric else "")
        + (reading(mark.chapters, book) if state != "full" else "")
        + f"<p><small><code>{html.escape(mark.name)}</code></small></p></td></tr>"
    )


def page(result, lateness, book=""):
    """Return the page about one result, from which excluded tasks have been removed."""
    rows = "".join(line(mark, book) for mark in result.marks)
    table = (
        "<table><caption>Points for each part</caption><thead><tr>"
        '<th scope="col">Part</th><th scope="col">Points</th><th scope="col">Feedback</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )
    notes = "".join(f"<li>{html.escape(note[:1500])}</li>" for note in result.notes)
    awaiting = f", {result.awaiting:g} more to be marked by hand" if result.awaiting else ""
    late = ""
    if lateness.days:
        days = f"{lateness.days} days late, {lateness.free} of them free"
        late = f" {days}: {lateness.penalty:g} % off."
    return PAGE.format(
        title=html.escape(f"{result.assignment}: feedback for {result.student}"),
        heading=html.escape(
            f"{result.assignment}: {result.score:g} of {result.max_points:g} points{awaiting}"
        ),
        status=html.escape(f"For {result.student}. Status: {result.status}.{late}"),
        table=table if result.marks else "",
        notes=f"<h2>Further notes</h2><ul>{notes}</ul>" if notes else "",
    )
