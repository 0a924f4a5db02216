"""The package as a whole: quick to import, everything public in one place, examples that run."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import renyi_lib


def test_importing_the_package_loads_neither_matplotlib_nor_numba():
    code = (
        "import sys, renyi_lib, renyi_lib.correlation, renyi_lib.metrics, renyi_lib.datasets\n"
        "print([m for m in ('matplotlib', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", renyi_lib.__all__)
def test_every_public_name_is_there(name):
    assert getattr(renyi_lib, name) is not None
    assert name in dir(renyi_lib)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = renyi_lib.no_such_name


def modules():
    found = pkgutil.walk_packages(renyi_lib.__path__, "renyi_lib.")
    return sorted(m.name for m in found if not m.name.endswith(".rebuild"))


@pytest.mark.parametrize("name", modules())
def test_examples_in_the_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize("name", renyi_lib._MODULE_OF)
def test_every_public_name_is_in_the_book_reference(name):
    reference = (Path(__file__).parents[1] / "book/api.md").read_text(encoding="utf8")
    assert re.search(rf"^\.\. auto\w+:: {name}$", reference, re.MULTILINE)


def test_the_example_in_the_readme_gives_the_numbers_it_states():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    stated = re.search(r"# ([\d.]+), from ([\d.]+) at lam=0", code)
    for lam, expected in (("3", stated.group(1)), ("0", stated.group(2))):
        names = {}
        *lines, last = code.replace("lam=3", f"lam={lam}").strip().splitlines()
        exec("\n".join(lines), names)
        assert f"{eval(last, names):.2f}" == expected
