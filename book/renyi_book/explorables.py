"""Interactive figures, which a chapter's cell writes into its page and a script activates.

An explorable is a folder of ``book/explorables`` with a pure model and a view, both in JavaScript.
The page contains everything that readers need without the script, which is a picture of the
opening state, a sentence that suggests what to try, and the numbers as a table. JupyterLab,
printers and pages opened without scripts show only that. In the built book, a short script loads
the view when the reader scrolls near it, and the view replaces the picture (see
``book/explorables/README.md``).
"""

import html
import json
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from renyi_book.plotting import address, checked_alt, drawn

#: Folder of the scripts, next to the chapters.
FOLDER = Path(__file__).resolve().parents[1] / "explorables"

# Script that runs once for each figure.
_LOADER = (FOLDER / "loader.js").read_text(encoding="utf-8")


def explorable(
    name, *, still, alt, data=None, say="", values=None, table=None, label=None, heights=None
):
    """Show an explorable of ``book/explorables`` in a chapter, with its still picture first.

    Its caption and number come from the cell's metadata, as for any figure.

    Parameters
    ----------
    name : str
        Folder of the explorable.
    still : matplotlib.figure.Figure
        Opening state, drawn at build time. The figure is closed afterwards.
    alt : str
        Alt text of the still picture.
    data : mapping, optional
        Data of the model, which can be written as JSON.
    say : str, default=""
        Text above the figure that says what to try and what to notice. ``{key}`` becomes a number
        or text that follows the figure, ``[phrase](key=value&key=value)`` becomes a button that
        sets the figure's state, and the letter after ``ρ_`` or ``σ_`` becomes a subscript.
    values : mapping of str to str, optional
        Text in the opening state for each ``{key}`` of `say`; numbers are formatted by `fixed`.
    table : pandas.DataFrame, optional
        Numbers of the figure, as a folded table under it.
    label : str, optional
        Heading of the folded table; by default "The opening numbers as a table".
    heights : tuple of (int, int), optional
        Heights of the drawing in pixels on wide and on narrow pages, reserved while it loads.
    """
    from IPython.display import HTML, display

    text = explorable_html(
        name,
        picture=drawn(still),
        alt=alt,
        data=data,
        say=say,
        values=values,
        table=table,
        label=label,
        heights=heights,
    )
    display(HTML(text))


def explorable_html(
    name, *, picture, alt, data=None, say="", values=None, table=None, label=None, heights=None
):
    """Return the HTML of `explorable`; `picture` is the result of `renyi_book.plotting.drawn`.

    Examples
    --------
    >>> from renyi_book.explorables import explorable_html
    >>> picture = ("", {"width": 700})
    >>> page = explorable_html("guessing-game", picture=picture, alt="Two curves that cross")
    >>> page.startswith('<div class="explorable" data-explorable="guessing-game"')
    True
    """
    if not (FOLDER / name / "view.js").is_file():
        raise ValueError(f"name must be a folder of book/explorables with a view.js, not {name!r}")
    image, facts = picture
    alt = html.escape(checked_alt(alt), quote=True)
    style = "" if heights is None else ' style="--ex-high:{}px;--ex-low:{}px"'.format(*heights)
    parts = [f'<div class="explorable" data-explorable="{name}"{style}>']
    if say:
        parts.append(f'<p class="explorable-say">{_linked(name, say, values or {})}</p>')
    parts.append(f'<div class="explorable-still">{_still(image, facts, alt)}</div>')
    if table is not None:
        summary = html.escape(label or "The opening numbers as a table")
        parts.append(
            f"<details><summary>{summary}</summary><div>{table.to_html()}</div></details>"
        )
    if data is not None:
        # "</script>" inside the text would end the element.
        inline = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace(
            "<", "\\u003c"
        )
        parts.append(f'<script type="application/json">{inline}</script>')
    return "".join([*parts, f"<script>{_LOADER}</script></div>"])


def _still(image, facts, alt):
    """Return the picture's HTML; up to 600 px, it shows the drawing for phones if there is one."""
    narrow = facts.get("narrow")
    sizes = f' data-text="{facts["text"]}"' if "text" in facts else ""
    sizes += f' data-narrow-text="{narrow["text"]}"' if narrow else ""
    shown = (
        f'<img alt="{alt}" width="{facts["width"]}"{sizes} '
        f'style="max-width:100%;height:auto" src="{address(image)}">'
    )
    if not narrow:
        return shown
    source = f'media="(max-width: 600px)" srcset="{address(narrow["svg"])}"'
    return f"<picture><source {source}>{shown}</picture>"


def fixed(x, digits):
    """Format a number as the explorables do, with a true minus sign and without a negative zero.

    Halves are rounded away from zero.

    Examples
    --------
    >>> from renyi_book.explorables import fixed
    >>> fixed(-0.125, 2), fixed(-0.001, 2)
    ('−0.13', '0.00')
    """
    text = str(Decimal(abs(float(x))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return ("−" if x < 0 and float(text) != 0 else "") + text


def _linked(name, say, values):
    """Return the HTML of the text, with linked numbers and clickable phrases."""
    if not isinstance(values, Mapping):
        raise ValueError(f"values must be a mapping from the keys in say to text, not {values!r}")

    def output(match):
        key = match.group(1)
        if key not in values:
            raise ValueError(f"say contains {{{key}}}, so values must contain {key!r}")
        text = html.escape(values[key])
        return f'<output data-explorable="{name}" data-value="{key}">{text}</output>'

    def phrase(match):
        words, settings = match.groups()
        return f'<span data-explorable="{name}" data-set="{settings}">{words}</span>'

    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", phrase, html.escape(say, quote=True))
    text = re.sub(r"([ρσ])_(\w)", r"\1<sub>\2</sub>", text)
    return re.sub(r"\{(\w+)\}", output, text)
