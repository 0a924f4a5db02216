"""Fixtures: the built book on localhost, and Chromium. Without them tests are skipped, with reason.

`make test-browser` sets BROWSER=required: then what is missing is an error.
"""

import os

import pytest

from . import chromium
from .visit import Visit


@pytest.fixture(scope="session")
def folder():
    """The folder of the built pages; skips where nothing can be looked at."""
    reason = chromium.missing()
    if reason and os.environ.get("BROWSER") == "required":
        pytest.fail(reason)
    if reason or not os.environ.get("BROWSER"):
        pytest.skip(reason or "only in `make test-browser`, after `make book`")
    return chromium.built_book()


@pytest.fixture(scope="session")
def site(folder):
    """The address of the built book, without a slash at the end."""
    with chromium.serve(folder) as address:
        yield address


@pytest.fixture(scope="session")
def browser(folder):
    """One Chromium for all tests of a process."""
    with chromium.browser() as started:
        yield started


@pytest.fixture
def visit(browser, site, folder):
    """A function that opens a page: ``visit("book/index.html", width=390, dark=True)``."""
    opened = []

    def open_page(path, width=1400, dark=False):
        opened.append(Visit(browser, site, folder, path, width, dark))
        return opened[-1]

    yield open_page
    for page in opened:
        page.context.close()
