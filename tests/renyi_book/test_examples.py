"""The examples in the docstrings of the book's own code run and print what they show.

The experiments are left out, because their examples take minutes. Slices of their tables are
tested instead.
"""

import doctest
import importlib
import pkgutil

import pytest

import renyi_book


def modules():
    found = (m.name for m in pkgutil.walk_packages(renyi_book.__path__, "renyi_book."))
    return sorted(name for name in found if not name.startswith("renyi_book.experiments"))


@pytest.mark.parametrize("name", modules())
def test_examples_in_the_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
