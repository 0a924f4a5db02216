"""Which pages there are."""

from pathlib import Path


def pages(folder):
    """Every page of the built book, as addresses relative to its folder."""
    folder = Path(folder)
    found = (page.relative_to(folder).as_posix() for page in folder.rglob("*.html"))
    return sorted(page for page in found if not page.startswith(("_static/", "_sources/")))
