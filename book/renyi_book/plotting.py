"""One house style for every figure: colour-blind safe, with alt text, in light and dark mode.

Figures are drawn on white, which the book shows as a card in dark mode. Colours are those of
Okabe and Ito, chosen so that no two are confused by readers with any common colour blindness;
lines that matter also differ by marker or dash, so that a figure survives a grey printer.
"""

import base64
import hashlib
import html
import io
import json
from collections.abc import Mapping

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler

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
_DPI = 144


def use_house_style():
    """Set matplotlib up for the book; call it once, at the top of a chapter."""
    mpl.rcParams.update(mpl.rcParamsDefault)
    mpl.rcParams.update(_STYLE)


def show(fig, alt):
    """Show a figure in a notebook, with a text for readers who cannot see it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Closed afterwards, so that the notebook does not show it twice.
    alt : str
        What the figure shows, in a sentence or two: what is plotted, and what one should see.
    """
    from IPython.display import display

    width = round(fig.get_size_inches()[0] * 100)
    metadata = {"alt": checked_alt(alt), "width": width}
    display(
        {"image/png": png_base64(fig), "text/plain": f"[figure] {alt}"},
        metadata={"image/png": metadata},
        raw=True,
    )


def show_slider(figures, alt, *, label="step"):
    """Show a row of figures under a slider: motion without any library or network.

    Parameters
    ----------
    figures : mapping of str to matplotlib.figure.Figure
        What the slider says at each stop, and the figure shown there.
    alt : str
        What the reader sees when moving the slider.
    label : str
        The name of what the slider changes.
    """
    from IPython.display import HTML, display

    if not isinstance(figures, Mapping) or not figures:
        raise ValueError("figures must be a non-empty mapping from the slider's text to a figure")
    names = [html.escape(str(name)) for name in figures]
    width = round(next(iter(figures.values())).get_size_inches()[0] * 100)
    images = [png_base64(fig) for fig in figures.values()]
    ident = "slider-" + hashlib.sha256("".join(images).encode()).hexdigest()[:10]
    alt = html.escape(checked_alt(alt), quote=True)
    frames = "".join(
        f'<img class="on-white" alt="{alt} ({html.escape(label)} {name})" width="{width}" '
        f'style="max-width:100%;height:auto;display:{"none" if i else "block"}" '
        f'src="data:image/png;base64,{image}">'
        for i, (name, image) in enumerate(zip(names, images))
    )
    values = json.dumps([str(name) for name in figures], ensure_ascii=False)
    # The handler finds its own figure by walking up, so that a page may hold any number of these.
    handler = (
        "var f=this.closest('figure'),i=+this.value;"
        "f.querySelectorAll('img').forEach(function(m,j){m.style.display=i==j?'block':'none'});"
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
        raise ValueError("alt must say in words what the figure shows (four words or more)")
    return " ".join(alt.split())


def png_base64(fig):
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    plt.close(fig)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
