"""The pages of the built book."""

from pathlib import Path


def pages(folder):
    """Every page of the built book, as addresses relative to its folder."""
    folder = Path(folder)
    # The first page only redirects to book/index.html.
    other = {"_static", "_sources", "index.html"}
    found = (page.relative_to(folder) for page in folder.rglob("*.html"))
    return sorted(page.as_posix() for page in found if page.parts[0] not in other)
