"""Chromium and a local web server, for the browser tests and for printing the book."""

import os
import shutil
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Names of the Chromium executable on common systems, in order of preference.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: Options that let Chromium run in a container, and that disable network requests in the
#: background, first-run pages and scrollbars.
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-first-run",
]


def executable():
    """Return the browser's path from the variable CHROMIUM or the PATH, or None."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def built_book():
    """Return the folder of the built pages (BOOK_HTML or _build/html), or None."""
    folder = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
    return folder if (folder / "index.html").exists() else None


def missing():
    """Return why no page can be opened, or None if pages can be opened."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "playwright is not installed: run make setup"
    if executable() is None:
        return "no Chromium in CHROMIUM or on the PATH: install it, or set CHROMIUM to its path"
    if built_book() is None:
        return "no built book in BOOK_HTML or _build/html: run make book"
    return None


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass

    def handle(self):
        # A browser that leaves a page while it loads closes the connections.
        with suppress(BrokenPipeError, ConnectionResetError):
            super().handle()


@contextmanager
def serve(folder):
    """Serve a folder on a free port of localhost, and yield its address without a final slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def browser():
    """Start Chromium with playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=OPTIONS)
        try:
            yield chromium
        finally:
            chromium.close()
