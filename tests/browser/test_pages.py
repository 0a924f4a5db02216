"""Every page is checked in two visits, which cover both widths and both color modes.

The wide visit begins in light mode and switches to dark, while the narrow one begins in dark mode
and switches to light. Axe, the slowest check, runs before the switch, so that it sees each width
and each mode once.
"""

import pytest

from renyi_book import browser as serving

from .pages import pages

BUILT = serving.built_book()
#: Without a built book, one item, which is skipped with the reason.
PAGES = pages(BUILT) if BUILT else ["no book yet"]


def everything(visit, dark):
    """Return the problems of an opened page in both modes."""
    return [
        *visit.cost(),
        *visit.overflow(),
        *visit.images(),
        *visit.ids(),
        *visit.accessible(),
        *visit.formulas(),
        *visit.line_starts(),
        *visit.folds(),
        *visit.tables(),
        *visit.cues(),
        *visit.growth(),
        *visit.toggles(),
        *visit.switch(not dark),
        *visit.whole_weight(),
        *visit.console(),
        *visit.foreign_requests(),
    ]


@pytest.mark.parametrize("path", PAGES)
def test_wide_page_has_no_problem(visit, path):
    opened = visit(path, width=1400)
    # The page is printed from dark mode, to which it was switched.
    problems = everything(opened, dark=False) + opened.printed()
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("path", PAGES)
def test_narrow_page_has_no_problem(visit, path):
    opened = visit(path, width=390, dark=True)
    problems = everything(opened, dark=True) + opened.labels()
    assert not problems, "\n".join(problems)
