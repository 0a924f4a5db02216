"""One visit of one page, with its requests, its costs and its problems.

`Visit` opens a page at one width and in one color mode, and records requests and messages. Most
methods check one thing and return problems with their places. `measure` returns the costs, also
for the table of `python -m tests.browser.measure`.
"""

import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Limits for every page.
MAX_BYTES = 1_200_000  # all that it loads, text gzipped
MAX_NODES = 8_000  # elements, once it has loaded
MAX_SHIFT = 0.05  # cumulative layout shift
MAX_GROWTH = 60  # px by which a page may change its height when its live figures start
MIN_LABEL = 9  # px of the smallest words in a figure, as shown on a phone
HEIGHT = 900
A4 = 718  # px between margins of 10 mm

_TEXT = {".html", ".js", ".css", ".svg", ".json", ".txt", ".xml", ".mjs"}

#: Cumulative layout shift as browsers report it, which is the worst window of at most five seconds
#: without a pause of one second.
_WATCH = """
window.__shift = {worst: 0, now: 0, first: 0, last: 0, where: []};
new PerformanceObserver(list => {
  for (const e of list.getEntries()) {
    if (e.hadRecentInput) continue;
    const s = window.__shift;
    if (e.startTime - s.last > 1000 || e.startTime - s.first > 5000) {
      s.now = 0; s.first = e.startTime;
    }
    s.now += e.value; s.last = e.startTime; s.worst = Math.max(s.worst, s.now);
    for (const source of e.sources) {
      const n = source.node?.nodeType == 1 ? source.node : source.node?.parentElement;
      if (n) s.where.push(n.tagName + '.' + n.className);
    }
  }
}).observe({type: 'layout-shift', buffered: true});
"""

_SETTLE = """async () => {
  await document.fonts.ready;
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""

_TAB_STOPS = """() => {
  const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, ' +
    'iframe, audio[controls], video[controls], [tabindex], [contenteditable=true]');
  return [...all].filter(e => e.tabIndex >= 0 && !e.disabled && !e.closest('[inert]') &&
    e.checkVisibility({visibilityProperty: true}));
}"""

#: Size of the smallest words of each figure on the screen. Figures of `renyi_book.plotting.show`
#: state it in points (data-text); other figures have the ticks of the house style.
_LABELS = """(house) => [...document.querySelectorAll('.bd-article img')]
  .filter(i => i.checkVisibility() && i.src.includes('/_images/') && i.naturalWidth > 100)
  .map(i => {
    const points = parseFloat(i.dataset.text || house);
    const narrow = i.currentSrc != i.src && i.dataset.narrowText;
    const inches = i.naturalWidth / 100;
    const box = i.closest('a, picture') || i;
    return [(narrow ? parseFloat(narrow) : points) / 72 * (i.clientWidth / inches),
            i.id || i.closest('figure')?.id || i.currentSrc.slice(-20)];
  })"""

#: Load all images now, which would otherwise load on scrolling.
_ALL_IMAGES = """async () => {
  const all = [...document.querySelectorAll('.bd-article img')].filter(i => i.checkVisibility());
  for (const i of all) i.loading = 'eager';
  await Promise.all(all.map(i => i.decode().catch(() => {})));
}"""

_OVERFLOW = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  return [...document.querySelectorAll('body *')]
    .filter(e => e.getBoundingClientRect().right > wide + 1 && e.checkVisibility())
    .slice(0, 3).map(e => `${e.tagName}.${e.className} reaches beyond ${wide} px`);
}"""

_RAW_TEX = r"""() => {
  const found = [], walk = document.createTreeWalker(document.querySelector('.bd-article') ||
    document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, box = node.parentElement;
    if (box.closest('pre, code, script, style, textarea')) continue;
    if (/\\[(\[]|\\begin\{|\$\$|\\(frac|rho|lambda|mathbb|sigma)\b/.test(node.data) &&
        box.checkVisibility())
      found.push(node.data.trim().slice(0, 60));
  }
  return found;
}"""

_FORMULAS = """() => {
  const all = [...document.querySelectorAll('math')].filter(m => m.checkVisibility());
  const problems = all.filter(m => m.querySelector('merror') || !m.dataset.tex ||
    m.getBoundingClientRect().width < 2).map(m => 'formula in error: ' + m.dataset.tex);
  if (document.querySelector('mjx-container, script[src*=mathjax i]')) problems.push('MathJax');
  if (all.length && ![...document.fonts].some(f => f.family.includes('Book Math') &&
      f.status == 'loaded')) problems.push('the font of the formulas is not loaded');
  return problems.slice(0, 3);
}"""

_CUT = """() => [...document.querySelectorAll(
    '.bd-article :is(pre, table, img, math, .highlight, p)')]
  .filter(e => e.checkVisibility())
  .filter(e => {
    const r = e.getBoundingClientRect();
    if (r.right > document.documentElement.clientWidth + 2) return true;
    const style = getComputedStyle(e);
    return e.scrollWidth > e.clientWidth + 3 && e.clientWidth > 0 && style.display != 'inline' &&
      style.overflowX != 'visible';
  }).slice(0, 4).map(e => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 50)}`)"""


#: Elements that open and close, and whether they are open.
FOLDS = ".bd-article summary, .bd-article button.toggle-button"
_OPEN = """e => e.tagName == 'SUMMARY' ? e.parentElement.open
  : e.getAttribute('aria-expanded') == 'true' &&
    !e.closest('.admonition').classList.contains('toggle-hidden')"""
_FOLDS = f"""(folds) => {{
  const isOpen = {_OPEN}, problems = [];
  for (const fold of document.querySelectorAll(folds)) {{
    const before = isOpen(fold), name = (fold.closest('.admonition') || fold).textContent;
    if (fold.tabIndex < 0) problems.push('not reached by keyboard: ' + name.trim().slice(0, 40));
    for (const expected of [!before, before]) {{
      fold.click();
      if (isOpen(fold) != expected) problems.push('does not move: ' + name.trim().slice(0, 40));
    }}
  }}
  return problems;
}}"""


#: Problems with the names of folds, and folds directly below each other.
_FOLD_NAMES = """() => {
  const folds = [...document.querySelectorAll('.bd-article details.fold')], problems = [];
  const names = folds.map(f => f.querySelector('summary').textContent.trim());
  names.forEach((name, i) => {
    const link = folds[i].querySelector('summary');
    const spoken = link.getAttribute('aria-label') || name;
    if (!spoken.includes(name)) problems.push(`spoken as ${spoken}: ${name}`);
    if (name.length < 4) problems.push(`a fold without a name: ${name}`);
    if (names.indexOf(name) < i) problems.push(`two folds are called ${name}`);
    if (link.getBoundingClientRect().height > 60) problems.push(`a tall link: ${name}`);
    const above = i && folds[i - 1].checkVisibility() && folds[i].checkVisibility() &&
      folds[i].getBoundingClientRect().top - folds[i - 1].getBoundingClientRect().bottom;
    if (i && above !== false && above < 20 && !folds[i - 1].open &&
        folds[i].parentElement.previousElementSibling === folds[i - 1].parentElement &&
        !folds[i - 1].nextElementSibling)
      problems.push(`two folds, one below the other: ${name}`);
  });
  if (document.querySelector('.bd-article details.above-input')) problems.push('an unnamed fold');
  return problems;
}"""

#: Problems of pandas' tables: alignment, headers, symbols, and distance from the text above.
_TABLES = r"""() => [...document.querySelectorAll('.bd-article .dataframe')].flatMap(table => {
  const problems = [], name = table.textContent.trim().replace(/\s+/g, ' ').slice(0, 40);
  const isNumber = text => /^[-−+]?\d[\d.,]*(e[-+]?\d+)?$/.test(text.trim());
  const left = [...table.querySelectorAll('tbody tr')].some(row => [...row.cells].some(cell =>
    isNumber(cell.textContent) && !cell.matches('.words') &&
    getComputedStyle(cell).textAlign != 'right'));
  if (left) problems.push(`numbers on the left: ${name}`);
  const columns = [...table.querySelectorAll('tbody tr:first-child > *')].reverse();
  columns.forEach((cell, k) => {
    const cells = [...table.querySelectorAll(`tbody tr > :nth-last-child(${k + 1})`)];
    if (cells.every(c => isNumber(c.textContent)) && cell.matches('.words'))
      problems.push(`a column of numbers taken for words: ${name}`);
  });
  const rows = [...table.querySelectorAll('thead tr')];
  if (rows.length > 1 && !rows.at(-1).lastElementChild.textContent.trim())
    problems.push(`an empty row of heads: ${name}`);
  for (const head of table.querySelectorAll('th'))
    if (/rho_|\^|ρ_|[a-z]_[a-z]/.test(head.textContent))
      problems.push(`not in words or symbols: ${head.textContent.trim()}`);
  const output = table.closest('.output'), before = output?.previousElementSibling;
  if (before?.matches('.stream') && table.checkVisibility() &&
      table.getBoundingClientRect().top - before.getBoundingClientRect().bottom < 8)
    problems.push(`glued to what is printed above: ${name}`);
  return problems;
})"""

#: Boxes that scroll sideways without fading, or fade without scrolling.
_CUES = """() => [...document.querySelectorAll(
    '.bd-article :is(pre, div.math, .output.text_html, .pst-scrollable-table-container)')]
  .filter(box => box.checkVisibility() && box.clientWidth > 20).flatMap(box => {
    const style = getComputedStyle(box), fades = style.maskImage.includes('gradient');
    const wide = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(style.overflowX);
    const formula = box.matches('.math') && box.querySelector('math')?.getBoundingClientRect();
    const name = `${box.tagName}.${box.className}: ${box.textContent.trim().slice(0, 30)}`;
    if (formula && formula.left < box.getBoundingClientRect().left - 1)
      return [`begins out of sight: ${name}`];
    if (wide && !fades) return [`scrolls sideways without a cue: ${name}`];
    return fades && !wide ? [`fades without a reason: ${name}`] : [];
  })"""

#: Lines that begin with the comma after a formula.
_LINE_STARTS = r"""() => [...document.querySelectorAll('.bd-article :is(p, li, td, dd) math')]
  .filter(m => m.checkVisibility() && m.getAttribute('display') != 'block').flatMap(m => {
    const next = m.nextSibling ||
      (m.parentElement.matches('.nobreak') ? m.parentElement.nextSibling : null);
    if (next?.nodeType != 3 || !/^[,.;:!?)’”…]/.test(next.data)) return [];
    const range = document.createRange();
    range.setStart(next, 0);
    range.setEnd(next, 1);
    const mark = range.getBoundingClientRect(), formula = m.getBoundingClientRect();
    return mark.left < formula.right - 3 && mark.top > formula.top + 3
      ? [`a line begins with ${next.data[0]} after ${m.dataset.tex}`] : [];
  })"""

#: Change of the page's height after every live figure has been in sight.
_GROWTH = """async () => {
  const figures = [...document.querySelectorAll('.bd-article .explorable')];
  const before = document.documentElement.scrollHeight;
  for (const figure of figures) {
    figure.scrollIntoView({behavior: 'instant'});
    for (let k = 0; k < 100 && !figure.querySelector('.explorable-stage'); k++)
      await new Promise(done => setTimeout(done, 50));
  }
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const grown = document.documentElement.scrollHeight - before;
  scrollTo({top: 0, behavior: 'instant'});
  return figures.length ? grown : 0;
}"""


@cache
def axe():
    """The source of axe-core, from a package of the registry."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf8")


@cache
def transfer_size(path):
    """Bytes over the wire: text gzipped, everything else as it is."""
    body = path.read_bytes()
    return len(gzip.compress(body, 6)) if path.suffix in _TEXT else len(body)


class Visit:
    """A page, opened at a width, in light or dark mode.

    Parameters
    ----------
    browser : playwright's Browser
    site : str
        Address of the server.
    folder : Path
        Folder that it serves.
    path : str
        Page, relative to the folder.
    width : int
        Width of the window in px.
    dark : bool
        Whether the reader's system prefers dark mode.
    slower : float
        Factor by which the processor is slowed down.
    """

    def __init__(self, browser, site, folder, path, width, dark=False, slower=1):
        self.site, self.folder, self.path, self.width = site, Path(folder), path, width
        self.context = browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            color_scheme="dark" if dark else "light",
            has_touch=width < 600,
            # Colors are checked after, not during, transitions.
            reduced_motion="reduce",
            # Axe's source is injected into the page.
            bypass_csp=True,
        )
        self.context.add_init_script(_WATCH)
        self.page = self.context.new_page()
        if slower > 1:
            session = self.context.new_cdp_session(self.page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        self.requested, self.said = [], []
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.said.append(f"script error: {error}"))
        self.page.on("requestfailed", lambda r: self.said.append(f"not loaded: {r.url}"))
        self.page.on("response", self._response)
        self.page.goto(f"{site}/{path}", wait_until="load")
        self.settle()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.context.close()

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.said.append(f"console {message.type}: {message.text}")

    def _response(self, response):
        if response.status >= 400:
            self.said.append(f"{response.status}: {response.url}")

    def settle(self):
        self.page.evaluate(_SETTLE)

    # -- costs ---------------------------------------------------------------------------------

    def measure(self):
        """Return the weight in bytes, elements, tab stops and layout shift so far."""
        return {
            "bytes": self.weight(),
            "nodes": self.page.evaluate("document.querySelectorAll('*').length"),
            "tab_stops": self.page.evaluate(f"({_TAB_STOPS})().length"),
            "shift": round(self.page.evaluate("window.__shift.worst"), 4),
        }

    def label_sizes(self):
        """Return the size in px of the smallest words of each figure, and the figure's name."""
        self.page.evaluate(_ALL_IMAGES)
        return self.page.evaluate(_LABELS, 10)

    def weight(self):
        """Return the bytes that the page has loaded so far."""
        paths = {unquote(urlsplit(url).path).lstrip("/") for url in self.own_requests()}
        found = (self.folder / (p + "index.html" if p.endswith("/") else p) for p in paths)
        return sum(transfer_size(path) for path in found if path.is_file())

    def own_requests(self):
        return [url for url in self.requested if url.startswith(self.site + "/")]

    # -- problems ------------------------------------------------------------------------------

    def foreign_requests(self):
        """Everything comes from the book itself."""
        kinds = (self.site + "/", "data:", "blob:")
        return [f"asks another host: {url}" for url in self.requested if not url.startswith(kinds)]

    def console(self):
        """Neither an error nor a warning is written."""
        return list(dict.fromkeys(self.said))

    def overflow(self):
        """The page does not scroll sideways."""
        return self.page.evaluate(_OVERFLOW)

    def cost(self):
        """The page keeps the limits of weight, elements and layout shift."""
        costs = self.measure()
        where = "; ".join(self.page.evaluate("[...new Set(window.__shift.where)].slice(0, 3)"))
        return [
            f"{name}: {costs[key]} is over {limit}{extra}"
            for name, key, limit, extra in (
                ("weight in bytes", "bytes", MAX_BYTES, ""),
                ("elements", "nodes", MAX_NODES, ""),
                ("layout shift", "shift", MAX_SHIFT, f" ({where})"),
            )
            if costs[key] > limit
        ]

    def whole_weight(self):
        """The page keeps the limit of weight with all figures that load on scrolling, too."""
        self.page.evaluate(_ALL_IMAGES)
        weight = self.weight()
        return [f"weight in bytes: {weight} is over {MAX_BYTES}"] if weight > MAX_BYTES else []

    def labels(self):
        """The words in figures are large enough to be read."""
        return [
            f"words of {px:.1f} px in {name}" for px, name in self.label_sizes() if px < MIN_LABEL
        ]

    def formulas(self):
        """Every formula is typeset in the book's font, and none is shown as TeX."""
        problems = self.page.evaluate(_FORMULAS)
        raw = self.page.evaluate(_RAW_TEX)
        return problems + [f"raw TeX: {text}" for text in raw[:3]]

    def images(self):
        """Every picture has an alternative text, and its space is reserved."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.bd-article img')].flatMap(i => {
              const name = i.getAttribute('src').slice(-24), problems = [];
              if (!(i.alt || '').trim() && i.getAttribute('role') != 'presentation')
                problems.push('no alt text: ' + name);
              if (!i.hasAttribute('width') || !i.hasAttribute('height'))
                problems.push('no width and height: ' + name);
              return problems;
            })"""
        )

    def ids(self):
        """No id is given twice."""
        return self.page.evaluate(
            """() => {
              const seen = new Set(), twice = new Set();
              for (const e of document.querySelectorAll('[id]'))
                (seen.has(e.id) ? twice : seen).add(e.id);
              return [...twice].map(id => 'id twice: ' + id);
            }"""
        )

    def folds(self):
        """The link of each fold says what it opens, and neighboring folds are one."""
        return self.page.evaluate(_FOLD_NAMES)

    def tables(self):
        """Printed tables are typeset like tables of a book."""
        return self.page.evaluate(_TABLES)

    def cues(self):
        """Boxes that scroll sideways show it."""
        return self.page.evaluate(_CUES)

    def line_starts(self):
        """No line begins with the comma after a formula."""
        return self.page.evaluate(_LINE_STARTS)

    def growth(self):
        """The text keeps its place when live figures start."""
        grown = self.page.evaluate(_GROWTH)
        return [f"the page grows by {grown} px"] if abs(grown) > MAX_GROWTH else []

    def toggles(self):
        """Folds open and close and can be reached by keyboard; some get real clicks and keys."""
        problems = self.page.evaluate(_FOLDS, FOLDS)
        folds = [fold for fold in self.page.locator(FOLDS).all() if fold.is_visible()]
        for fold in [*folds[:3], *folds[3:][-2:]]:
            before = fold.evaluate(_OPEN)
            fold.click()
            if fold.evaluate(_OPEN) == before:
                problems.append(f"a click does nothing: {fold.inner_text()!r}")
            fold.focus()
            self.page.keyboard.press("Enter")
            if fold.evaluate(_OPEN) != before:
                problems.append(f"the key Enter does nothing: {fold.inner_text()!r}")
        return problems

    def accessible(self, rules=None):
        """Axe finds nothing serious or critical."""
        self.page.evaluate(axe())
        # Without "preload", for which axe would fetch the style sheets again.
        options = {"resultTypes": ["violations"], "preload": False}
        if rules:
            options["runOnly"] = rules
        # Formulas have the color of their text; their inner elements are many.
        found = self.page.evaluate("options => axe.run({exclude: [['math']]}, options)", options)
        return [
            f"{v['id']} ({v['impact']}), {len(v['nodes'])} times: {v['nodes'][0]['html'][:90]} "
            f"{_why(v['nodes'][0])}"
            for v in found["violations"]
            if v["impact"] in ("serious", "critical")
        ]

    def printed(self):
        """On paper no line, table or picture is cut off, and the background is white."""
        self.page.emulate_media(media="print")
        self.page.set_viewport_size({"width": A4, "height": HEIGHT})
        problems = [f"cut in print: {what}" for what in self.page.evaluate(_CUT)]
        ground = self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        if ground not in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"):
            problems.append(f"printed on {ground}")
        self.page.emulate_media(media="screen")
        self.page.set_viewport_size({"width": self.width, "height": HEIGHT})
        return problems

    def switch(self, dark):
        """The page follows the reader's system when its color mode changes."""
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        theme = "dark" if dark else "light"
        if not self.page.evaluate("document.documentElement.dataset.theme"):
            return []  # a page that stands alone and leaves this to the browser
        try:
            self.page.wait_for_function(
                "theme => document.documentElement.dataset.theme == theme", arg=theme, timeout=3000
            )
        except Exception:
            return [f"the page does not become {theme}"]
        return []


def _why(node):
    checks = node["any"] or node["all"] or node["none"]
    return checks[0]["message"] if checks else ""
