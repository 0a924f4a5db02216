"""Explorables in a browser, each on a small page of its own, without a build of the book.

A test module imports the fixtures by name. Without playwright or Chromium, its tests are skipped
with the reason.
"""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from renyi_book.explorables import FOLDER, explorable_html
from renyi_book.live import (
    adversary,
    bias_score,
    draggable_table,
    ellipse,
    friends_game,
    guessing_game,
    kmeans,
    scorecard,
    scores,
    threshold,
)
from renyi_book.plotting import use_house_style

# A picture of one transparent pixel, because these pages test the script, not the still picture.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    {"width": 700},
)
_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


DAYS = pd.DataFrame(
    [[28, 22, 10], [6, 40, 14], [3, 12, 25], [52, 10, 18]],
    index=["cloud", "rain", "snow", "sun"],
    columns=["bike", "bus", "car"],
)
# Women and men by family role, on a smaller scale than Adult's.
ROLES = np.array([[30, 0], [53, 16], [77, 89], [45, 56], [8, 11], [0, 264]])
ROLE_NAMES = np.array(["wife", "unmarried", "alone", "child", "other", "husband"])
#: The explorables whose module writes the page itself.
SHOWN = {
    "adversary": adversary,
    "fair-kmeans": kmeans,
    "scores": scores,
    "scorecard": scorecard,
    "bias-score": bias_score,
    "threshold": threshold,
}


def samples(table):
    """One pair of codes for each count of the table."""
    i, j = np.indices(table.shape).reshape(2, -1)
    return np.repeat(i, table.ravel()), np.repeat(j, table.ravel())


@functools.cache
def contents():
    """The arguments of `explorable` for the explorables of Part I, and the page's HTML."""
    use_house_style()
    role, gender = samples(ROLES)
    found = {}
    for content in (
        draggable_table.content(),
        friends_game.content(DAYS),
        ellipse.content(DAYS),
        guessing_game.content(ROLE_NAMES[role], gender),
    ):
        plt.close(content.pop("still"))
        content["html"] = explorable_html(picture=PIXEL, **content)
        found[content["name"]] = content
    return found


@functools.cache
def bodies():
    """What each chapter's cell writes into its page, by explorable; the stills are one pixel."""
    found = {name: content["html"] for name, content in contents().items()}

    def no_picture(figure):
        plt.close(figure)
        return PIXEL

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("renyi_book.explorables.drawn", no_picture)
        for name, module in SHOWN.items():
            patch.setattr(
                "IPython.display.display",
                lambda shown, name=name: found.update({name: shown.data}),
            )
            module.show()
    return found


def page_text(body, theme="light"):
    """Return a page like the book's, two folders deep, with root and theme on its first tag."""
    return (
        f'<!doctype html><html lang="en" data-content_root="../../" data-theme="{theme}"><head>'
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<title>One explorable</title><link rel="icon" href="data:,"><style>'
        "html[data-theme=dark]{background:#14181e;color:#ced6dd}"
        "body{font:17px/1.6 sans-serif;max-width:46rem;margin:1rem auto;padding:0 1rem}</style>"
        f"</head><body><main>{body}</main></body></html>"
    )


def chromium_path():
    """The system's Chromium, or what RENYI_CHROMIUM names; None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("RENYI_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@functools.cache
def _browser(path, config):
    """Return one Chromium for all test modules, because playwright cannot be started twice."""
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=path, args=_OPTIONS)

    def close():
        browser.close()
        playwright.stop()

    config.add_cleanup(close)
    return browser


@pytest.fixture(scope="session")
def chromium(request):
    """A browser for all tests of the process."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium on the PATH (RENYI_CHROMIUM may name one)")
    return _browser(path, request.config)


class Site:
    """A folder laid out as the built book, and the address that serves it."""

    def __init__(self, folder, address):
        self.folder, self.address = folder, address

    def add(self, name, body, theme="light"):
        """Write a page; returns its address."""
        path = self.folder / "book" / "part" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page_text(body, theme), encoding="utf-8")
        return f"{self.address}/book/part/{name}.html"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The explorables' files, served as the built book serves them."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(FOLDER, folder / "book" / "explorables")
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Site(Path(folder), f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()


@pytest.fixture
def visit(chromium, site):
    """Open a body of HTML in a page; its errors, and requests to other hosts, fail the test."""
    contexts, wrong = [], []

    def open_page(name, body, *, width=1000, height=900, theme="light", hash="", **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
        page.on(
            "request",
            lambda r: r.url.startswith((site.address, "data:", "file:")) or wrong.append(r.url),
        )
        page.goto(site.add(name, body, theme) + hash)
        page.wait_for_selector(".explorable[data-live=yes]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong, wrong


def settled(page):
    """Wait for two frames, after which changes are drawn; return the page."""
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    return page


def placed(page, locator):
    """Return where an element is; one that is being redrawn has no place for two frames."""
    for _ in range(50):
        if box := locator.bounding_box():
            return box
        settled(page)
    raise AssertionError("the element never has a place on the page")


def stage(page):
    """Return where the drawing is."""
    return placed(page, page.locator(".explorable-stage svg"))


def printed(page, name):
    """Every linked number of the explorable, by key; all places must agree."""
    pairs = page.eval_on_selector_all(
        f'output[data-explorable="{name}"][data-value]',
        "nodes => nodes.map((n) => [n.dataset.value, n.textContent])",
    )
    shown = dict(pairs)
    assert all(shown[key] == text for key, text in pairs), pairs
    return shown


def model(page, site, name, code, argument=None):
    """Return the value of a JavaScript expression in the module `m` and the argument `x`.

    `name` is an explorable, whose model is used, or a file in the folder of explorables.
    """
    file = name if name.endswith(".js") else f"{name}/model.js"
    address = f"{site.address}/book/explorables/{file}"
    return page.evaluate(f"(x) => import({address!r}).then((m) => {{ return {code}; }})", argument)
