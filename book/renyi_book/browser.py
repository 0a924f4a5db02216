"""Chromium and a local web server: for the browser tests and for printing the book."""

import os
import shutil
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Names of the program on common systems.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: No network requests in the background, no first-run pages.
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
    """The browser's path, or None: the variable CHROMIUM, else the first name on the PATH."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def built_book():
    """Folder of the built pages, or None: _build/html, or what the variable BOOK_HTML names."""
    folder = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
    return folder if (folder / "index.html").exists() else None


def missing():
    """Why no page can be looked at here, or None."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "playwright is not installed: make setup"
    if executable() is None:
        return "no Chromium on the PATH: install it, or set CHROMIUM to its path"
    if built_book() is None:
        return "there is no built book: make book"
    return None


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass

    def handle(self):
        # A page that is left while it loads closes its connections.
        with suppress(BrokenPipeError, ConnectionResetError):
            super().handle()


@contextmanager
def serve(folder):
    """The folder's files on a free port of localhost; gives the address, without a slash."""
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
    """Chromium, started by playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=OPTIONS)
        try:
            yield chromium
        finally:
            chromium.close()
