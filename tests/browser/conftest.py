"""Fixtures for the built book on localhost and for Chromium; without them tests are skipped.

`make test-browser` sets BROWSER=required, which makes it an error if one of them is missing.
"""

import os

import pytest

from renyi_book import browser as serving

from .visit import Visit


@pytest.fixture(scope="session")
def folder():
    """Return the folder of the built pages; skip the test without a browser or a book."""
    reason = serving.missing()
    if reason and os.environ.get("BROWSER") == "required":
        pytest.fail(reason)
    if reason or not os.environ.get("BROWSER"):
        pytest.skip(reason or "only in `make test-browser`, after `make book`")
    return serving.built_book()


@pytest.fixture(scope="session")
def site(folder):
    """The address of the built book, without a slash at the end."""
    with serving.serve(folder) as address:
        yield address


@pytest.fixture(scope="session")
def chromium(folder):
    """One Chromium for all tests of a process."""
    with serving.browser() as started:
        yield started


@pytest.fixture
def visit(chromium, site, folder):
    """A function that opens a page: ``visit("book/index.html", width=390, dark=True)``."""
    opened = []

    def open_page(path, width=1400, dark=False, slower=1):
        opened.append(Visit(chromium, site, folder, path, width, dark, slower))
        return opened[-1]

    yield open_page
    for page in opened:
        page.context.close()
