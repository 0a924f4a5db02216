"""Common style of all figures, which are color-blind safe and have alt texts.

Figures are stored as SVG on white. The book removes the white and, on dark pages, uses lighter
colors (`renyi_book.svg`). The colors of Okabe and Ito can be distinguished by readers with any
common color blindness. Important lines also differ by marker or dash, so that figures remain
readable in gray print.
"""

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.text import Text

from renyi_book.svg import svg

#: Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), by name.
COLORS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "black": "#222222",
    "grey": "#8C8C8C",
}

_STYLE = {
    "figure.figsize": (7.0, 3.9),
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "axes.prop_cycle": cycler(
        color=[COLORS[c] for c in ("blue", "orange", "green", "vermillion", "purple", "sky")]
    ),
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 2.0,
    "lines.markersize": 5.5,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "font.size": 11,
}
#: Maximum width and minimum text size of the drawing for phones. On a phone of 390 px, a figure is
#: about 350 px wide, where text of 10 points in 5.3 inches has a size of 9 px.
_PHONE_INCHES = 5.3
_PHONE_POINTS = 10
#: If this environment variable is set, no drawings for phones are made, because the tests do not
#: compare pictures.
_DRAFT = "BOOK_DRAFT"


def use_house_style():
    """Set up matplotlib for the book; call this once at the top of a chapter."""
    mpl.rcParams.update(mpl.rcParamsDefault)
    mpl.rcParams.update(_STYLE)


def show(fig, alt):
    """Show a figure in a notebook, with alt text for readers who cannot see it.

    The book shows this drawing on wide screens. If its text would be too small to read on a phone,
    a second, narrower drawing with stacked panels is stored with it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Figure, which is closed afterwards so that the notebook does not show it twice.
    alt : str
        Alt text of one or two sentences, which says what is plotted and what to notice.
    """
    from IPython.display import display

    image, metadata = drawn(fig)
    metadata = {"alt": checked_alt(alt), **metadata}
    display(
        {"image/svg+xml": image, "text/plain": f"[figure] {alt}"},
        metadata={"image/svg+xml": metadata},
        raw=True,
    )


def drawn(fig):
    """Convert a figure to SVG with the information that a page needs, and close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Figure to convert.

    Returns
    -------
    image : str
        The SVG.
    facts : dict
        `width` in pixels and `text`, the smallest text size in points; if that text would be too
        small on a phone and BOOK_DRAFT is not set, also `narrow`, with an `svg` and its `text`.
    """
    width = fig.get_size_inches()[0]
    image, text = svg(fig), smallest_text(fig)
    facts = {"width": round(width * 100), "text": text}
    if width * _PHONE_POINTS > _PHONE_INCHES * text and _DRAFT not in os.environ:
        for_phones(fig)
        facts["narrow"] = {"svg": svg(fig), "text": smallest_text(fig)}
    plt.close(fig)
    return image, facts


def show_slider(figures, alt, *, label="step"):
    """Show several figures under a slider, without any library or network access.

    Parameters
    ----------
    figures : mapping of str to matplotlib.figure.Figure
        Figure for each stop of the slider; the keys are shown as the texts of the stops. The
        figures are closed afterwards.
    alt : str
        Description of what happens when the slider moves.
    label : str, default="step"
        Name of the quantity that the slider changes.
    """
    from IPython.display import HTML, display

    if not isinstance(figures, Mapping) or not figures:
        raise ValueError(
            "figures must be a nonempty mapping from the slider's text to a figure, "
            f"not {figures!r}"
        )
    names = [html.escape(str(name)) for name in figures]
    # Each frame is drawn once, for all screens.
    for fig in figures.values():
        if fig.get_size_inches()[0] > _PHONE_INCHES and _DRAFT not in os.environ:
            for_phones(fig)
    width = round(next(iter(figures.values())).get_size_inches()[0] * 100)
    images = [svg(fig) for fig in figures.values()]
    for fig in figures.values():
        plt.close(fig)
    ident = "slider-" + hashlib.sha256("".join(images).encode()).hexdigest()[:10]
    alt = html.escape(checked_alt(alt), quote=True)
    frames = "".join(
        f'<div class="frame" style="display:{"none" if i else "block"}">'
        f'<img alt="{alt} ({html.escape(label)} {name})" width="{width}" '
        f'style="max-width:100%;height:auto" src="{address(image)}"></div>'
        for i, (name, image) in enumerate(zip(names, images))
    )
    values = json.dumps([str(name) for name in figures], ensure_ascii=False)
    # The handler finds its figure by walking up, so a page may contain several such figures.
    handler = (
        "var f=this.closest('figure'),i=+this.value;"
        "f.querySelectorAll('.frame').forEach(function(m,j){m.style.display=i==j?'block':'none'});"
        f"f.querySelector('output').textContent={values}[i];"
    )
    display(
        HTML(
            f'<figure id="{ident}" style="margin:0">{frames}'
            f'<figcaption style="display:flex;gap:0.8em;align-items:center">'
            f'<span>{html.escape(label)}</span> <input type="range" min="0" '
            f'max="{len(names) - 1}" value="0" step="1" style="flex:1;max-width:24rem" '
            f'aria-label="{html.escape(label)}" oninput="{html.escape(handler, quote=True)}">'
            f" <output>{names[0]}</output></figcaption></figure>"
        )
    )


def checked_alt(alt):
    if not isinstance(alt, str) or len(alt.split()) < 4:
        raise ValueError(f"alt must describe the figure in at least four words, not {alt!r}")
    return " ".join(alt.split())


def smallest_text(fig):
    """Return the size in points of the smallest text in a drawn figure."""
    shown = [t for t in fig.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return min((round(t.get_fontsize(), 1) for t in shown), default=float(_PHONE_POINTS))


def for_phones(fig):
    """Lay out a figure for a narrow screen, with stacked panels and without small text.

    Panels keep at least their height and, unless they are wider than the screen, their width; rows
    are filled from the left. A panel that shared the labels of its neighbor gets its own, and
    titles and labels that have become too long are broken into lines.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Figure, which is changed in place. Panels that were placed by hand, or in nested grids,
        keep their arrangement.
    """
    width, height = fig.get_size_inches()
    groups = _panels(fig)
    narrow = min(width, _PHONE_INCHES)
    if groups:
        grid = groups[0][0].get_subplotspec().get_gridspec()
        spans = any(
            len(g[0].get_subplotspec().rowspan) * len(g[0].get_subplotspec().colspan) > 1
            for g in groups
        )
        columns = 1 if spans else max(1, int(_PHONE_INCHES / (width / grid.ncols)))
        if columns < grid.ncols:
            height = _stack(fig, groups, columns, height)
    fig.set_size_inches(narrow, height)
    for text in fig.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), _PHONE_POINTS))
    _break_lines(fig)


def _panels(fig):
    """Return the axes by cell of the figure's grid, in reading order; [] without a single grid."""
    axes = [ax for ax in fig.axes if ax.get_subplotspec() is not None]
    specs = [ax.get_subplotspec() for ax in axes]
    if fig.subfigs or any(s != s.get_topmost_subplotspec() for s in specs):
        return []
    if len({id(s.get_gridspec()) for s in specs}) != 1:
        return []
    cells = {}
    for ax, s in zip(axes, specs):
        cells.setdefault((s.rowspan.start, s.colspan.start), []).append(ax)
    return [cells[key] for key in sorted(cells)]


def _stack(fig, groups, columns, height):
    """Move the panels into fewer columns, and return the figure's new height."""
    old = groups[0][0].get_subplotspec().get_gridspec()
    ratios = old.get_height_ratios()
    inches = [height * r / sum(ratios) for r in ratios]
    tall = [sum(inches[r] for r in group[0].get_subplotspec().rowspan) for group in groups]
    rows = [max(tall[i : i + columns]) for i in range(0, len(tall), columns)]
    _own_labels(groups)
    new = fig.add_gridspec(len(rows), columns, height_ratios=rows)
    for i, group in enumerate(groups):
        for ax in group:
            ax.set_subplotspec(new[i // columns, i % columns])
    return sum(rows)


def _own_labels(groups):
    """Give panels that shared an axis with a neighbor their own label and ticks."""
    hosts = [group[0] for group in groups]
    for ax in hosts:
        for other in hosts:
            same_row = ax.get_subplotspec().rowspan == other.get_subplotspec().rowspan
            same_column = ax.get_subplotspec().colspan == other.get_subplotspec().colspan
            if same_row and ax.get_shared_y_axes().joined(ax, other) and other.axison:
                ax.set_ylabel(ax.get_ylabel() or other.get_ylabel())
                ax.tick_params(labelleft=True)
            if same_column and ax.get_shared_x_axes().joined(ax, other) and other.axison:
                ax.set_xlabel(ax.get_xlabel() or other.get_xlabel())
                ax.tick_params(labelbottom=True)


def _break_lines(fig):
    """Break titles, x-axis labels and legends that are too long; rotate crowded tick labels."""
    fig.canvas.draw()
    for ax in fig.axes:
        box = ax.get_window_extent()
        for text in (ax.title, ax._left_title, ax._right_title):
            _fit(text, fig.bbox.width - box.x0)
        # The label is centered below the axes and may extend to the nearer edge of the figure.
        middle = (box.x0 + box.x1) / 2
        _fit(ax.xaxis.label, 1.96 * min(middle, fig.bbox.width - middle))
        ticks = [t for t in ax.get_xticklabels() if t.get_visible() and t.get_text().strip()]
        boxes = sorted((t.get_window_extent() for t in ticks), key=lambda box: box.x0)
        gap = 0.4 * max((box.height for box in boxes), default=0)
        if any(a.x1 + gap > b.x0 for a, b in pairwise(boxes)) and ax.axison:
            ax.tick_params(axis="x", labelrotation=35)
            for tick in ticks:
                tick.set(ha="right", rotation_mode="anchor")
    if fig.get_suptitle():
        _fit(fig._suptitle, 0.97 * fig.bbox.width)
    for legend in [*fig.legends, *(ax.get_legend() for ax in fig.axes if ax.get_legend())]:
        while legend._ncols > 1 and _sticks_out(legend.get_window_extent(), fig.bbox):
            _set_columns(legend, legend._ncols - 1)
            fig.canvas.draw()


def _set_columns(legend, columns):
    """Lay out a legend again, because `set_ncols` itself only stores the number."""
    labels = [text.get_text() for text in legend.get_texts()]
    title, loc = legend.get_title().get_text(), legend._loc_real
    legend.set_ncols(columns)
    legend.prop.set_size(max(legend.prop.get_size_in_points(), _PHONE_POINTS))
    legend._init_legend_box(legend.legend_handles, labels)
    legend._set_loc(loc)
    legend.set_title(title or None)


def _sticks_out(box, page):
    return box.x0 < page.x0 or box.x1 > page.x1


def _fit(text, room):
    """Break a text into lines that fit, but never inside a formula."""
    words = re.findall(r"(?:\$[^$]*\$|[^\s$])+", text.get_text())
    wide = text.get_window_extent().width
    if wide <= room or len(words) < 2:
        return
    limit = len(text.get_text()) * room / wide
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > limit:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    text.set_text("\n".join([*lines, line]))


def address(image):
    """Return the data URL of an SVG, for an image inside HTML."""
    return "data:image/svg+xml;base64," + base64.b64encode(image.encode()).decode("ascii")
