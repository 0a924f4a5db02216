"""Tests of the chapters, which nbval runs to compare the outputs of checked cells.

Outputs are compared number by number (`renyi_book.compare_outputs`). Numbers may
differ by one unit of the last printed digit, or by the ``tolerance`` in the cell's
metadata. A cell that writes to stderr fails, whether its output is checked or not.
"""

import os

import pytest
from nbval.plugin import IPyNbCell

from renyi_book.compare_outputs import differences


class Printed(str):
    """Output of a cell, equal to any output that agrees within the tolerance."""

    tolerance = None

    def __eq__(self, other):
        return not differences(self, other, self.tolerance)

    def __ne__(self, other):
        return not self == other

    __hash__ = None


def pytest_itemcollected(item):
    """Make `sanitize`, which nbval applies to outputs, return `Printed` text."""
    if not isinstance(item, IPyNbCell):
        return
    tolerance = item.cell.metadata.get("tolerance")

    def sanitize(text):
        if not isinstance(text, str):
            return text
        printed = Printed(IPyNbCell.sanitize(item, text))
        printed.tolerance = tolerance
        return printed

    item.sanitize = sanitize
    # Pictures are not compared; nbval itself skips only bitmaps.
    item.parent.skip_compare = {*item.parent.skip_compare, "image/svg+xml"}


def pytest_assertrepr_compare(left, right):
    """Name the numbers that differ when nbval reports a failure."""
    if isinstance(left, Printed):
        return [
            f"the stored output {left[:40]!r}... differs from that of the run:",
            *differences(left, right, left.tolerance),
        ]
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Start kernels without drawings for phones, as pictures are not compared."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    os.environ["BOOK_DRAFT"] = "1"
    try:
        return (yield)
    finally:
        del os.environ["BOOK_DRAFT"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield
    if isinstance(item, IPyNbCell):
        outputs = item.test_outputs or []
        stderr = "".join(o.text for o in outputs if o.get("name") == "stderr")
        if stderr:
            item.raise_cell_error("The cell wrote to stderr", stderr)
    return result
