"""Sphinx extension that typesets formulas while the book is built.

Temml (MIT license) turns TeX into MathML, which browsers draw, print and read aloud without any
script, so a page has its final height as soon as it is laid out. Temml is JavaScript and runs
inside Python, in the V8 engine of the package mini-racer. A formula that it cannot convert causes
a warning at the formula's position, which stops the strict build.

The font is STIX Two Math (SIL Open Font License), reduced to the characters that the pages use.
It is embedded in the style sheet, because a font that arrived later would move the text.
"""

import atexit
import base64
import html
import re
from functools import cache
from io import BytesIO
from pathlib import Path

from docutils import nodes
from fontTools.misc.transform import Scale, Transform
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

PARTS = Path(__file__).resolve().parent / "temml"
SHEET = "_static/formulas.css"
#: The tallest ready-made delimiter that is kept, in thousandths of an em.
TALLEST = 2900
#: Maximum width of a tall delimiter, relative to the small one.
WIDEST = {"√": 1.08}
WIDER = 1.3
#: Bottom and top of the prime, in thousandths of an em above the superscript's line.
PRIME = 30, 590
#: Distance, in thousandths of an em, of a subscript's baseline below the descent of its base,
#: and of a superscript's baseline below the top of its base.
DROP = {"SubscriptBaselineDropMin": 40, "SuperscriptBaselineDropMax": 370}

logger = logging.getLogger(__name__)
_START = re.compile(r"<math[^>]*>")
_FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
_LETTER = re.compile(r"<mi>(\w)</mi>")
_OPENING = re.compile(r"[(\[“‘]*$")
_CLOSING = re.compile(r"[-–,.;:!?)\]’”…%]*")
_NUMBERED = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather|multline)\}")
_INDEPENDENT = re.compile(r'<mo>⟂</mo>(?:<mrow style="margin-left:-[\d.]+em;"></mrow>)+<mo>⟂</mo>')
# TeX puts a thin space between a subscript or a fraction and the name of a function.
_NAME = re.compile(
    r"(</(?:msub|msup|msubsup|mfrac|msqrt|mover)>)(<mrow><mi>\w{2,}</mi><mo>\u2061)"
)


@cache
def _temml():
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    # Close the engine before the interpreter shuts down; later, Python 3.13 waits forever for its
    # thread.
    atexit.register(engine.close)
    engine.eval((PARTS / "temml.min.js").read_text(encoding="utf8"))
    engine.eval(
        """function convert(tex, display, macros) {
          try { return ["", temml.renderToString(tex,
            {displayMode: display, macros: {...macros}, throwOnError: true, trust: false})]; }
          catch (error) { return [error.message, ""]; }
        }"""
    )
    return engine


@cache
def _converted(tex, display, macros):
    problem, formula = _temml().call("convert", tex, display, dict(macros))
    if problem:
        raise ValueError(problem)
    formula = _START.sub("", formula, count=1)
    # Browsers do not move the second sign over the first one.
    formula = _INDEPENDENT.sub("<mo>⫫</mo>", formula)
    return _NAME.sub(r'\1<mspace width="0.1667em"></mspace>\2', formula)


def mathml(tex, display=False, macros=()):
    """Return the contents of the ``math`` element and its closing tag.

    Parameters
    ----------
    tex : str
        Formula in TeX.
    display : bool, default=False
        Whether the formula is displayed on its own line.
    macros : iterable of (str, str), default=()
        Names with their backslash, and their definitions.

    Raises
    ------
    ValueError
        If the formula cannot be converted, with Temml's message.
    """
    return _converted(tex, display, tuple(macros))


def _write(self, node, tex, display):
    kind = {"display": "block"} if display else {}
    macros = self.config.formula_macros.items()
    try:
        formula = mathml(tex, display, macros)
    except ValueError as error:
        logger.warning("formula cannot be typeset: %s\n%s", error, tex.strip(), location=node)
        formula = f"<mtext>{html.escape(tex)}</mtext></math>"
    # Readers who copy a formula get its source.
    attributes = {"class": "math notranslate", "data-tex": " ".join(tex.split()), **kind}
    start = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    self.body.append(f"<math {start}>{formula}")


def visit_math(self, node):
    _write(self, node, node.astext(), display=False)
    raise nodes.SkipNode


def join_next(node):
    """If bold or italic words end with this formula, move the following punctuation into them."""
    words = node.parent
    if not isinstance(words, (nodes.strong, nodes.emphasis)) or words[-1] is not node:
        return
    after = words.next_node(descend=False, siblings=True)
    mark = _CLOSING.match(after).group() if isinstance(after, nodes.Text) else ""
    if mark:
        words += nodes.Text(mark)
        after.parent.replace(after, nodes.Text(after[len(mark) :]))


def keep_punctuation(document):
    """Keep each formula on one line with the punctuation that touches it."""
    for node in list(document.findall(nodes.math)):
        join_next(node)
        parent = node.parent
        at = parent.index(node)
        before, after = "", ""
        if at and isinstance(parent[at - 1], nodes.Text):
            before = _OPENING.search(parent[at - 1]).group()
        if at + 1 < len(parent) and isinstance(parent[at + 1], nodes.Text):
            after = _CLOSING.match(parent[at + 1]).group()
        if not before + after:
            continue
        whole = nodes.inline("", "", classes=["nobreak"])
        parent[at] = whole
        whole += [part for part in (nodes.Text(before), node, nodes.Text(after)) if part.astext()]
        if after:
            parent[at + 1] = nodes.Text(parent[at + 1][len(after) :])
        if before:
            parent[at - 1] = nodes.Text(parent[at - 1][: -len(before)])


class KeepPunctuation(SphinxPostTransform):
    """Transform that runs `keep_punctuation` after references have been resolved."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        keep_punctuation(self.document)


def display_tex(text, nowrap=False):
    """Return the TeX of a displayed formula, with several lines aligned."""
    if nowrap:
        return _NUMBERED.sub(r"\\\1{\2*}", text)
    parts = [part for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    joined = r"\\".join(parts)
    return rf"\begin{{aligned}}{joined}\end{{aligned}}" if len(parts) > 1 else joined


def visit_math_block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    _write(self, node, display_tex(node.astext(), node["nowrap"]), display=True)
    self.body.append("</div>\n")
    raise nodes.SkipNode


# -- the font ------------------------------------------------------------------------------------


def characters(pages):
    """Return all characters in the pages' formulas, and the italics of single letters."""
    found = {"√"}  # drawn for an element, so it does not occur as a character
    for page in pages:
        for formula in _FORMULA.findall(page):
            found.update(html.unescape(re.sub(r"<[^>]*>", "", formula)))
            found.update(filter(None, map(italic, _LETTER.findall(formula))))
    return found


def italic(letter):
    """Return the mathematical italic that browsers draw for a letter, or None."""
    if letter == "h":
        return "ℎ"
    for first, last, start in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("Α", "Ω", 0x1D6E2)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    if "α" <= letter <= "ω":
        return chr(0x1D6FC + ord(letter) - ord("α"))
    others = dict(zip("∂ϵϑϰϕϱϖıȷ", [*range(0x1D715, 0x1D71C), 0x1D6A4, 0x1D6A5]))
    return chr(others[letter]) if letter in others else None


def redraw(font, glyph, transform):
    """Apply a transform to a glyph's outline."""
    pen = TTGlyphPen(font.getGlyphSet())
    font.getGlyphSet()[glyph].draw(TransformPen(pen, transform))
    font["glyf"][glyph] = pen.glyph()
    font["glyf"][glyph].recalcBounds(font["glyf"])


def lower_prime(font):
    """Draw the prime on the baseline and larger, because browsers raise it as a superscript.

    The font's own prime is already small and raised.
    """
    name = font.getBestCmap().get(ord("′"))
    if name is None:
        return
    old = font["glyf"][name]
    bottom, top = PRIME
    scale = (top - bottom) / (old.yMax - old.yMin)
    left = font["hmtx"][name][1]
    shift = Transform(scale, 0, 0, scale, left - scale * old.xMin, bottom - scale * old.yMin)
    redraw(font, name, shift)
    drawn = font["glyf"][name]
    font["hmtx"][name] = (drawn.xMax + left, drawn.xMin)


def level_scripts(font):
    """Keep subscripts and superscripts at one height for all letters.

    TeX moves them only for large bases. Chromium does so for every letter with a descender or an
    accent, so that the subscript of p would be lower than that of u.
    """
    for name, value in DROP.items():
        getattr(font["MATH"].table.MathConstants, name).Value = value


def narrow(font):
    """Make tall delimiters and roots hardly wider than small ones, and drop the tallest.

    Chromium reserves the width of the font's widest variant for each of them, which leaves gaps
    inside formulas.
    """
    glyphs, widths = font["glyf"], font["hmtx"].metrics
    variants = font["MATH"].table.MathVariants
    known = {glyph: chr(code) for code, glyph in font.getBestCmap().items()}
    done = set()

    def squeeze(glyph, limit):
        width, _ = widths[glyph]
        if glyph in done or width <= limit:
            return
        done.add(glyph)
        redraw(font, glyph, Scale(limit / width, 1))
        widths[glyph] = (round(limit), glyphs[glyph].xMin)

    for base, construction in zip(
        variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction
    ):
        limit = widths[base][0] * WIDEST.get(known.get(base), WIDER)
        records = construction.MathGlyphVariantRecord
        kept = [r for r in records if r.AdvanceMeasurement <= TALLEST]
        construction.MathGlyphVariantRecord = kept or records[:1]
        construction.VariantCount = len(construction.MathGlyphVariantRecord)
        for record in construction.MathGlyphVariantRecord:
            squeeze(record.VariantGlyph, limit)
        if construction.GlyphAssembly:
            for part in construction.GlyphAssembly.PartRecords:
                squeeze(part.glyph, limit)


def cut_font(used):
    """Return the bytes of the font with only these characters, compressed as WOFF."""
    font = TTFont(PARTS / "stix-two-math.woff", recalcTimestamp=False)
    missing = {c for c in used if ord(c) not in font.getBestCmap()} - set(" \n\u2061\u2060\u200b")
    if missing:
        logger.warning("the font of the formulas lacks %s", " ".join(sorted(missing)))
    options = Options()
    options.flavor = "woff"
    options.layout_features = []
    options.hinting = False
    cutter = Subsetter(options)
    cutter.populate(unicodes=map(ord, used))
    cutter.subset(font)
    narrow(font)
    level_scripts(font)
    lower_prime(font)
    font.flavor = "woff"
    out = BytesIO()
    font.save(out)
    return out.getvalue()


def write_sheet(app, exception):
    """Write the style sheet of the formulas, with the font embedded."""
    if exception or app.builder.format != "html":
        return
    pages = (page.read_text(encoding="utf8") for page in Path(app.outdir).glob("**/*.html"))
    font = base64.b64encode(cut_font(characters(pages))).decode()
    rule = f"@font-face{{font-family:'Book Math';src:url(data:font/woff;base64,{font})}}\n"
    rules = (PARTS / "formulas.css").read_text(encoding="utf8")
    Path(app.outdir, SHEET).write_text(rules + rule, encoding="utf8")


def configure(app, config):
    config.html_math_renderer = "mathml"


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_config_value("formula_macros", {}, "env", [dict])
    app.add_post_transform(KeepPunctuation)
    app.connect("config-inited", configure)
    app.connect("build-finished", write_sheet)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
