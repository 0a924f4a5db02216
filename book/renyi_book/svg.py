"""Figures as SVG in the page's font, and their variant for dark pages.

`svg` draws a matplotlib figure whose words remain text that a browser renders. Simple formulas
become italic letters with subscripts or exponents; formulas that a line of text cannot show, such
as roots and accents, are drawn as outlines. Widths are measured in DejaVu Sans, which is wider
than the fonts of the page, so that labels do not overlap. Equal figures always give equal SVG.

A notebook stores one drawing on a white background, from which `light` and `dark` derive the two
files of a page. `dark` replaces the colors with lighter ones.
"""

import base64
import codecs
import io
import re
import xml.etree.ElementTree as ET
from functools import cache

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.collections import QuadMesh
from matplotlib.contour import ContourSet
from matplotlib.text import Text
from PIL import Image

#: Font stack of the page, the same as in the theme.
FONTS = "-apple-system,BlinkMacSystemFont,'Segoe UI','Helvetica Neue',Arial,sans-serif"
#: Background of a dark page.
DARK_PAPER = "#121212"
#: Colors with a fixed counterpart on a dark page, namely the house palette (see
#: `renyi_book.plotting.COLORS`), text and grid. `dark_color` converts all other colors.
DARK = {
    "#0072b2": "#56b4e9",
    "#e69f00": "#f5c242",
    "#009e73": "#2fc79b",
    "#d55e00": "#ff8a4d",
    "#cc79a7": "#e6a3c8",
    "#56b4e9": "#a3d5f0",
    "#222222": "#e6e8eb",
    "#8c8c8c": "#9aa1ab",
    "#000000": "#e6e8eb",
    "#dddddd": "#3b424c",
    "#ffffff": DARK_PAPER,
}
#: Size in bytes above which large marks are rasterized; text and axes remain vector graphics.
MOST_BYTES = 150_000
_IMAGE_DPI = 200
#: Minimum number of points of the marks that are rasterized if a figure is too large.
_MANY_POINTS = 100
_PAPER = '<rect class="paper" width="100%" height="100%" fill="#fff"/>'
_SPACE = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_INLINED = "data:image/png;base64,"
_CIRCLE = re.compile(r"M [^MCLQz]+(?:C [^MCLQz]+){8}z")


def svg(fig):
    """Convert a figure to SVG on a white background, with 100 px per inch.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Figure, which is not closed.

    Returns
    -------
    str
        The SVG.
    """
    drawn = _drawn(fig)
    if len(drawn.encode()) > MOST_BYTES:
        for ax in fig.axes:
            for marks in (*ax.collections, *ax.lines, *ax.patches):
                marks.set_rasterized(_points(marks) >= _MANY_POINTS)
        drawn = _drawn(fig)
    return drawn


def size(drawn):
    """Return the width and height, in px, that an SVG from `svg` states.

    Examples
    --------
    >>> size('<svg xmlns="http://www.w3.org/2000/svg" width="700" height="390" viewBox="0 0 1 1">')
    (700, 390)
    """
    found = re.match(r'<svg [^>]*?width="(\d+)" height="(\d+)"', drawn)
    if not found:
        raise ValueError(
            f"drawn must be an SVG that states its width and height in px, not {drawn[:60]!r}"
        )
    return int(found[1]), int(found[2])


def light(drawn):
    """Remove the white background of the stored drawing, for light pages and for print."""
    return drawn.replace(_PAPER, "")


def dark(drawn):
    """Convert the stored drawing for a dark page, without background and with light lines.

    Filled maps, and everything drawn on them, keep their colors. Images of tables are inverted in
    lightness, so that white becomes as dark as the page.
    """
    root = ET.fromstring(light(drawn))
    _darken(root)
    return _text(root)


@cache
def dark_color(color):
    """Return the counterpart of a color on a dark page.

    Examples
    --------
    >>> dark_color("#ffffff"), dark_color("#0072B2")
    ('#121212', '#56b4e9')
    """
    color = color.lower()
    if color in DARK:
        return DARK[color]
    lab = _oklab(np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255)
    return "#" + "".join(f"{round(255 * v):02x}" for v in _rgb(_darkened(lab)))


def contrast(a, b):
    """Compute the contrast of two colors as defined by WCAG, from 1 to 21.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted(_luminance(c) for c in (a, b))
    return float(round((high + 0.05) / (low + 0.05), 4))


# -- Drawing --------------------------------------------------------------------------------------


class _Canvas(FigureCanvasSVG):
    def print_svg(self, out, *, bbox_inches_restore=None, metadata=None, **_):
        out = codecs.getwriter("utf-8")(out)
        fig, dpi = self.figure, self.figure.dpi
        fig.dpi = 72
        width, height = fig.get_size_inches()
        inner = _Renderer(72 * width, 72 * height, out, image_dpi=dpi, metadata=metadata)
        inner.texts = {t.get_gid(): t for t in fig.findobj(Text)}
        outer = _Mixed(fig, width, height, dpi, inner, bbox_inches_restore=bbox_inches_restore)
        fig.draw(outer)
        outer.finalize()


class _Mixed(MixedModeRenderer):
    """Renderer that distinguishes rasterized marks from images that belong to the figure."""

    def stop_rasterizing(self):
        self._vector_renderer.image = "marks"
        super().stop_rasterizing()
        self._vector_renderer.image = "map"


class _Renderer(RendererSVG):
    """Renderer that writes words as text in the font of the page, with the same alignment."""

    texts, current, image = {}, None, "map"

    def option_image_nocomposite(self):
        return True

    def open_group(self, s, gid=None):
        if s == "text":
            self.current = self.texts.get(gid)
        super().open_group(s, gid)

    def draw_image(self, gc, x, y, im, transform=None):
        self.writer.start("g", id=self.image)
        super().draw_image(gc, x, y, im, transform)
        self.writer.end("g")

    def _draw_text_as_text(self, gc, x, y, s, prop, angle, ismath, mtext=None):
        spans = math_spans(s) if ismath else [(s, False, 0)]
        if spans is None:
            self._draw_text_as_path(gc, x, y, s, prop, angle, ismath, mtext)
            return
        points = prop.get_size_in_points()
        wide = self.get_text_width_height_descent(s, prop, ismath)[0]
        part = _part(mtext or self.current, angle, several=mtext is None)
        turn = np.deg2rad(angle)
        x, y = x + part * wide * np.cos(turn), y - part * wide * np.sin(turn)
        attributes = {"x": f"{x:.2f}", "y": f"{y:.2f}", "font-size": f"{points:g}"}
        if part:
            attributes["text-anchor"] = "middle" if part == 0.5 else "end"
        if angle:
            attributes["transform"] = f"rotate({-angle:g} {x:.2f} {y:.2f})"
        if prop.get_weight() not in ("normal", "regular", 400):
            attributes["font-weight"] = str(prop.get_weight())
        if prop.get_style() != "normal":
            attributes["font-style"] = prop.get_style()
        color = mpl.colors.to_hex(gc.get_rgb()[:3])
        if color != "#000000":
            attributes["fill"] = color
        alpha = gc.get_alpha() if gc.get_forced_alpha() else gc.get_rgb()[3]
        if alpha != 1:
            attributes["opacity"] = f"{alpha:g}"
        if len(spans) == 1 and spans[0][1:] == (False, 0):
            self.writer.element("text", spans[0][0], attrib=attributes)
            return
        self.writer.start("text", attrib=attributes)
        height = 0
        for words, italic, level in spans:
            inner = {"font-style": "italic"} if italic else {}
            if level:
                inner["font-size"] = f"{0.7 * points:g}"
            wanted = {0: 0, -1: 0.22, 1: -0.36}[level] * points
            if wanted != height:
                inner["dy"], height = f"{wanted - height:.2f}", wanted
            self.writer.element("tspan", words, attrib=inner)
        self.writer.end("text")


def _part(text, angle, *, several):
    """Return the anchor of a text on its line, from 0 at its start to 1 at its end."""
    if text is None:
        return 0
    across = {"left": 0, "center": 0.5, "right": 1}
    if several:
        return across[text._get_multialignment()]
    if angle % 180 == 90 and text.get_rotation_mode() != "anchor":
        along = {"bottom": 0, "baseline": 0, "top": 1}.get(text.get_va(), 0.5)
        return along if angle == 90 else 1 - along
    return across[text.get_ha()]


def _drawn(fig):
    """Draw the figure, and reduce the size of the SVG."""
    for i, text in enumerate(fig.findobj(Text)):
        text.set_gid(f"words{i}")
    for ax in fig.axes:
        if any(isinstance(c, QuadMesh) or _is_filled(c) for c in ax.collections):
            for number, artist in enumerate((*ax.collections, *ax.lines, *ax.patches)):
                artist.set_gid(f"kept{number}")
    fig.patch.set_visible(False)
    before, out = fig.canvas, io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    try:
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "book"}):
            _Canvas(fig).print_figure(out, format="svg", dpi=_IMAGE_DPI, metadata=nothing)
    finally:
        fig.set_canvas(before)
        fig.patch.set_visible(True)
    root = ET.fromstring(out.getvalue().decode())
    for unused in (*root.findall(f"{_SPACE}metadata"), *root.findall(f"{_SPACE}defs")):
        if unused.find(f"{_SPACE}style") is not None or unused.tag.endswith("metadata"):
            root.remove(unused)
    _shorten(root)
    width, height = (round(100 * inches) for inches in fig.get_size_inches())
    root.attrib = {
        "width": str(width),
        "height": str(height),
        "viewBox": root.get("viewBox"),
        "font-family": FONTS,
        "fill": "#000000",
        "stroke-linejoin": "round",
    }
    drawn = _text(root)
    end = drawn.index(">") + 1
    return drawn[:end] + _PAPER + drawn[end:]


def _is_filled(artist):
    return isinstance(artist, ContourSet) and artist.filled


def _points(marks):
    """Return how many points a collection, a line or a patch draws."""
    if hasattr(marks, "get_offsets") and len(marks.get_offsets()) > 1:
        return len(marks.get_offsets())
    paths = marks.get_paths() if hasattr(marks, "get_paths") else [marks.get_path()]
    return sum(len(path.vertices) for path in paths)


def _shorten(element):
    """Remove names, redundant groups and invisible digits from an element and its descendants."""
    children = []
    for child in element:
        _shorten(child)
        bare = child.tag == f"{_SPACE}g" and not child.attrib
        children.extend(child if bare else [child])
    element[:] = children
    if element.tag == f"{_SPACE}g" and len(element):
        _share_style(element)
    for name, value in list(element.attrib.items()):
        if name == "d":
            element.set(name, _short_path(value))
        elif name == "style":
            element.set(name, _short_numbers(re.sub(r"\s*([:;])\s*", r"\1", value)))
        elif name == "transform":
            # Outlines of letters are scaled by 1/64.
            element.set(name, _short_numbers(value, 6))
        elif name in ("x", "y", "points"):
            element.set(name, _short_numbers(value))
        elif name == _HREF:
            del element.attrib[_HREF]
            element.set("href", _few_colors(value) if value.startswith("data:") else value)
    name = element.get("id", "")
    if element.tag == f"{_SPACE}g" and name:
        del element.attrib["id"]
        if re.fullmatch(r"kept\d+|marks|map", name):
            element.set("class", name.rstrip("0123456789"))
            # Black elements have no color attribute of their own, so they inherit this one.
            element.set("fill", "#000000")
    if len(element) or not element.tag.endswith(("text", "tspan")):
        element.text = None
    element.tail = None


def _share_style(group):
    """If all marks in a group have the same style, move it to the group."""
    styles = {child.get("style") for child in group}
    only_marks = len(group) > 1 and {child.tag for child in group} == {f"{_SPACE}use"}
    if only_marks and len(styles) == 1 and None not in styles and not group.get("style"):
        group.set("style", styles.pop())
        for child in group:
            del child.attrib["style"]


def _short_numbers(text, digits=2):
    def short(found):
        rounded = f"{float(found[0]):.{digits}f}".rstrip("0").rstrip(".")
        return "0" if rounded == "-0" else rounded

    return re.sub(r"-?\d+\.\d+(?:e-?\d+)?", short, text)


def _short_path(text):
    """Shorten a path with arcs, without spaces and with rounding (coarser for many points)."""
    digits = 1 if text.count("L") > 100 else 2
    text = _CIRCLE.sub(_arcs, " ".join(text.split()))
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", _short_numbers(text, digits)).strip()


def _arcs(circle):
    """Replace a circle of eight curves with two arcs, and return other shapes unchanged."""
    curves = circle[0].split("C")[1:]
    ends = np.array([[float(v) for v in curve.strip(" z").split()[-2:]] for curve in curves])
    (x, y), radii = ends.mean(axis=0), np.hypot(*(ends - ends.mean(axis=0)).T)
    r = radii.mean()
    if np.ptp(radii) > 0.01 * r:
        return circle[0]
    arc = f"a {r:.3f} {r:.3f} 0 1 1"
    return f"M {x - r:.3f} {y:.3f} {arc} {2 * r:.3f} 0 {arc} {-2 * r:.3f} 0 z"


def _few_colors(address):
    """Reduce an inline image to 256 colors, and keep its transparency."""
    image = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))
    few = image.convert("RGBA").quantize(256, method=Image.Quantize.FASTOCTREE)
    return _address(few)


def _address(image):
    out = io.BytesIO()
    image.save(out, format="png", compress_level=9, optimize=True)
    return _INLINED + base64.b64encode(out.getvalue()).decode("ascii")


def _text(root):
    ET.register_namespace("", _SPACE[1:-1])
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


# -- Formulas -------------------------------------------------------------------------------------

_GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "varepsilon": "ε",
    "eta": "η",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "varphi": "φ",
    "chi": "χ",
}
_WORDS = ("min", "max", "log", "exp")
_SIGNS = {
    **_GREEK,
    "nabla": "∇",
    "cdot": "·",
    "times": "×",
    "leq": "≤",
    "geq": "≥",
    "approx": "≈",
    "to": "→",
    "|": "‖",
    ",": "\u2009",
    **{mark: mark for mark in (" ", "{", "}", "%", *_WORDS)},
}
_SKIPPED = {"mathdefault", "mathrm", "left", "right"}
_SPACED = {"=", "≤", "≥", "<", ">", "≈", "+", "−", "→"}
_TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}^_])|([A-Za-z])|(\d+(?:\.\d+)?)|(.)", re.DOTALL)


def math_spans(text):
    """Split a line with formulas into pieces of text, each with its style and level.

    Parameters
    ----------
    text : str
        Text in matplotlib's notation, with formulas between dollar signs.

    Returns
    -------
    list of (str, bool, int) or None
        Each piece, whether it is italic, and its level, which is -1 for a subscript, 1 for an
        exponent and 0 otherwise. None if a formula contains anything that a line of text cannot
        show, such as a root or an accent.

    Examples
    --------
    >>> math_spans(r"gap to $\\rho_R$")
    [('gap to ', False, 0), ('ρ', True, 0), ('R', True, -1)]
    >>> math_spans(r"$\\sqrt{x}$") is None
    True
    """
    found = []
    for place, part in enumerate(re.split(r"(?<!\\)\$", text)):
        if place % 2 == 0:
            pieces = [(part.replace(r"\$", "$"), False, 0)] if part else []
        else:
            pieces = _formula(part)
        if pieces is None:
            return None
        found += pieces
    joined = []
    for words, italic, level in found:
        if joined and joined[-1][1:] == (italic, level):
            words = joined.pop()[0] + words
        joined.append((words, italic, level))
    return joined


def _formula(source):
    """Return the pieces of one formula, or None if it is not simple."""
    pieces, level, waits, opened = [], 0, False, []
    for name, mark, letter, number, other in _TOKEN.findall(source):
        if mark in ("^", "_") and mark:
            if level:
                return None
            level, waits = (1 if mark == "^" else -1), True
        elif mark == "{":
            opened.append(waits)
            waits = False
        elif mark == "}":
            level = 0 if opened.pop() else level
        elif name in _SKIPPED or other == " ":
            continue
        elif name and name not in _SIGNS:
            return None
        else:
            words = _SIGNS[name] if name else letter or number or other
            words = {"-": "−", "'": "′"}.get(words, words)
            after_term = pieces and not pieces[-1][0].endswith(("(", ",", "\u2009"))
            if words in _SPACED and after_term and not level:
                words = f"\u2009{words}\u2009"
            elif words in _WORDS:
                words += "\u2009"
            pieces.append((words, bool(letter) or name in _GREEK, level))
            level, waits = (0, False) if waits else (level, False)
    return pieces


# -- Colors ---------------------------------------------------------------------------------------


def _darken(element, kind=None):
    """Replace the colors of an element and of its descendants in place."""
    kind = element.get("class", kind)
    if kind == "kept":
        return
    for name in ("style", "fill"):
        if element.get(name):
            element.set(name, _COLOR.sub(lambda found: dark_color(found[0]), element.get(name)))
    if element.tag == f"{_SPACE}image":
        element.set("href", _dark_image(element.get("href"), inverted=kind == "map"))
    for child in element:
        _darken(child, kind)


def _dark_image(address, *, inverted):
    """Convert an inline image for a dark page, color by color or by inverting its lightness."""
    image = Image.open(io.BytesIO(base64.b64decode(address.removeprefix(_INLINED))))
    pixels = np.array(image.convert("RGBA"))
    colors, places = np.unique(pixels[..., :3].reshape(-1, 3), axis=0, return_inverse=True)
    if inverted:
        lab = _oklab(colors / 255)
        lab[:, 0] = 0.21 + 0.72 * np.clip(1 - lab[:, 0], 0, 1) ** 0.8
        new = np.round(255 * _rgb(lab))
    else:
        codes = ("#" + "".join(f"{v:02x}" for v in color) for color in colors)
        new = [[int(dark_color(c)[i : i + 2], 16) for i in (1, 3, 5)] for c in codes]
    pixels[..., :3] = np.asarray(new)[places.ravel()].reshape(pixels[..., :3].shape)
    return _few_colors(_address(Image.fromarray(pixels)))


def _darkened(lab):
    """Return a color in Oklab for a dark page; grays are inverted, other colors lightened."""
    lightness, chroma = lab[0], np.hypot(lab[1], lab[2])
    if chroma < 0.03 or (lightness > 0.85 and chroma < 0.1):
        return np.array([0.21 + 0.72 * min(1, (1 - lightness) / 0.75) ** 0.8, lab[1], lab[2]])
    return np.array([0.6 + 0.35 * lightness, lab[1], lab[2]])


_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _linear(rgb):
    rgb = np.asarray(rgb, dtype=float)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _oklab(rgb):
    """Convert sRGB colors (from 0 to 1) to Oklab, which is lightness and two opponent axes."""
    return np.cbrt(_linear(rgb) @ _TO_LMS.T) @ _TO_LAB.T


def _rgb(lab):
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _luminance(color):
    rgb = _linear([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return float(rgb @ [0.2126, 0.7152, 0.0722])
