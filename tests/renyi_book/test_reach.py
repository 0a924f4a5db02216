"""What a name reaches: on a small package made for it."""

import ast
import shutil
import textwrap

import pytest

from renyi_book import reach
from renyi_book.reach import Use

PACKAGE = {
    "__init__.py": """
        from importlib import import_module

        def __getattr__(name):
            return getattr(import_module("mini.tools"), name)
        """,
    "experiment.py": '''
        """One experiment, and one beside it."""
        import numpy as np
        from mini import shop
        from mini.rivals import Rival
        from mini.tools import helper, LEVELS as levels

        def run(n: int = 3) -> list:
            """Run it."""
            from . import late
            return [Rival(level).fit(helper(n), late.offset()) for level in levels]

        def lone(n):
            return np.arange(n)

        def dear(n):
            return shop.price(n)
        ''',
    "rivals/__init__.py": """
        from mini.rivals.first import Rival
        from mini.rivals.second import Other
        """,
    "rivals/first.py": '''
        import warnings
        from mini.rivals._base import Base

        class Rival(Base):
            """The first."""

            def fit(self, x, y):
                if x < 0:
                    raise ValueError(f"x must not be negative, not {x}")
                if x == 0:
                    warnings.warn("x is zero", RuntimeWarning, stacklevel=2)
                return x * y
        ''',
    "rivals/second.py": """
        class Other:
            pass
        """,
    "rivals/_base.py": """
        class Base:
            size: float = 1.0
        """,
    "tools.py": """
        LEVELS = (1, 2)
        UNUSED = 5

        def helper(n):
            return _inner(n) + 1

        def _inner(n):
            return 2 * n

        def idle(n):
            return UNUSED
        """,
    "late.py": """
        def offset():
            return 7
        """,
    "shop.py": """
        PRICE = 3

        def price(n):
            return n * PRICE

        def sale(n):
            return n
        """,
    "unrelated.py": "X = 1\n",
}


def checksum(start, folders=None, **options):
    return reach.checksum(reach.reached(start, folders, **options))


@pytest.fixture
def mini(tmp_path):
    """A package in a folder, with a way to edit its files."""

    class Mini:
        def __init__(self):
            self.folders = {"mini": tmp_path / "mini"}

        def write(self, file, text):
            path = self.folders["mini"] / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf8")

        def edit(self, file, old, new):
            text = (self.folders["mini"] / file).read_text(encoding="utf8")
            assert old in text
            self.write(file, text.replace(old, new))

        def sums(self, **options):
            names = ("run", "lone", "dear")
            return {
                name: checksum([Use("mini.experiment", name)], self.folders, **options)
                for name in names
            }

        def touched(self, *edit):
            before = self.sums()
            self.edit(*edit)
            after = self.sums()
            return {name for name in before if before[name] != after[name]}

    package = Mini()
    for file, text in PACKAGE.items():
        package.write(file, text)
    return package


@pytest.mark.parametrize(
    ("edit", "touched"),
    [
        (("experiment.py", "arange(n)", "arange(n + 1)"), {"lone"}),
        (("tools.py", "2 * n", "3 * n"), {"run"}),
        (("tools.py", "(1, 2)", "(1, 3)"), {"run"}),
        (("late.py", "7", "8"), {"run"}),
        (("rivals/first.py", "x * y", "x + y"), {"run"}),
        (("rivals/_base.py", "1.0", "2.0"), {"run"}),
        (("rivals/first.py", "x < 0", "x < 1"), {"run"}),
        (("rivals/first.py", "ValueError", "TypeError"), {"run"}),
        (("rivals/first.py", "RuntimeWarning", "UserWarning"), {"run"}),
        (("experiment.py", "n: int = 3", "n: int = 4"), {"run"}),
        # A module that is used as an object counts whole.
        (("shop.py", "PRICE = 3", "PRICE = 4"), {"dear"}),
        (("shop.py", "return n\n", "return -n\n"), {"dear"}),
        # The same name from elsewhere.
        (("rivals/__init__.py", "second import Other", "second import Other as Rival"), {"run"}),
        (("experiment.py", "import numpy as np", "import numpy.ma as np"), {"lone"}),
    ],
)
def test_an_edit_touches_what_reaches_it_and_nothing_else(mini, edit, touched):
    assert mini.touched(*edit) == touched


@pytest.mark.parametrize(
    "edit",
    [
        ("tools.py", "UNUSED = 5", "UNUSED = 6"),
        ("tools.py", "return UNUSED", "return 0"),
        ("unrelated.py", "X = 1", "X = 2"),
        ("rivals/second.py", "pass", "x = 1"),
        ("experiment.py", "Run it.", "Run it twice."),
        ("experiment.py", "One experiment", "An experiment"),
        ("experiment.py", "-> list", "-> tuple"),
        ("experiment.py", "n: int = 3", "n = 3"),
        ("experiment.py", "def lone", "# alone\n\n\ndef lone"),
        ("experiment.py", "import numpy as np", "import numpy as np\nimport pandas as pd"),
        ("rivals/first.py", "x must not be negative, not {x}", "{x} is negative"),
        ("rivals/first.py", 'f"x must not be negative, not {x}"', '"x is negative"'),
        ("rivals/first.py", "x is zero", "careful"),
        ("rivals/_base.py", "size: float", "size: int"),
        ("tools.py", "LEVELS = (1, 2)", "LEVELS: tuple = (1, 2)"),
    ],
)
def test_words_annotations_and_unrelated_code_touch_nothing(mini, edit):
    assert mini.touched(*edit) == set()


def test_words_count_where_asked_for(mini):
    before = mini.sums(messages=True)
    mini.edit("rivals/first.py", "x is zero", "careful")
    after = mini.sums(messages=True)
    assert before["run"] != after["run"]
    assert before["lone"] == after["lone"]


def test_a_new_import_is_followed(mini):
    edit = ("experiment.py", "return np.arange(n)", "from mini.unrelated import X; return X")
    assert mini.touched(*edit) == {"lone"}
    assert mini.touched("unrelated.py", "X = 1", "X = 2") == {"lone"}


@pytest.mark.parametrize(
    "effect",
    [
        "print('hello')",
        "import numpy\nnumpy.seed = 5",
        "for i in range(3): pass",
        "def register(f): return f\n@register\ndef rule(): pass",
    ],
)
def test_what_a_module_does_when_imported_counts_for_all_who_import_it(mini, effect):
    # `second` is imported by the package of the rivals, though nobody uses what it defines.
    assert mini.touched("rivals/second.py", "class", effect + "\nclass") == {"run", "lone", "dear"}


def test_a_field_that_becomes_a_constant_of_the_class_counts(mini):
    assert mini.touched("rivals/_base.py", "size: float", "size: ClassVar[float]") == {"run"}


def test_imports_for_type_checkers_do_not_count(mini):
    lines = "if TYPE_CHECKING:\n    from mini import unrelated\nLEVELS"
    assert mini.touched("tools.py", "LEVELS", lines) == set()


def test_a_name_that_the_package_loads_on_demand_is_found(mini):
    mini.edit("experiment.py", "from mini.tools import", "from mini import")
    assert mini.touched("tools.py", "2 * n", "3 * n") == {"run"}
    assert mini.touched("tools.py", "UNUSED = 5", "UNUSED = 6") == set()
    assert mini.touched("__init__.py", "mini.tools", "mini.shop") == {"run"}


def test_a_name_that_nobody_binds_stands_for_the_whole_package(mini):
    mini.edit("experiment.py", "from mini.tools import helper,", "from mini import helper2,")
    assert "mini.unrelated:X" in reach.reached([Use("mini.experiment")], mini.folders)


def test_a_computed_import_reaches_the_package_or_what_is_known_of_it(mini):
    mini.write(
        "rivals/__init__.py",
        "from importlib import import_module as load\ndef Rival(name): return load(name)\n",
    )
    start = [Use("mini.experiment", "run")]
    assert "mini.rivals.second:Other" in reach.reached(start, mini.folders)
    known = {"mini.rivals": ["mini.rivals.first"]}
    found = reach.reached(start, mini.folders, computed=known)
    assert "mini.rivals.first:Rival" in found
    assert "mini.rivals.second:Other" not in found


def test_a_computed_name_reaches_the_module(mini):
    mini.edit("tools.py", "return _inner(n) + 1", "return globals()['idle'](n)")
    assert mini.touched("tools.py", "UNUSED = 5", "UNUSED = 6") == {"run"}


def test_a_star_import_counts_whole(mini):
    mini.edit(
        "experiment.py", "import numpy as np", "import numpy as np\nfrom mini.unrelated import *"
    )
    assert mini.touched("unrelated.py", "X = 1", "X = 2") == {"run", "lone", "dear"}


def test_circles_of_imports_end(mini):
    mini.edit(
        "tools.py", "LEVELS = (1, 2)", "from mini.experiment import lone\nLEVELS = (lone, 2)"
    )
    assert "mini.experiment:lone" in reach.reached([Use("mini.experiment", "run")], mini.folders)


def test_a_text_beside_the_packages_can_be_asked_about(mini):
    text = "from mini.tools import helper\nhelper(2)\n"
    found = reach.reached([Use("page")], mini.folders, extra={"page": text})
    assert "mini.tools:_inner" in found
    assert "mini.tools:idle" not in found


def test_a_text_that_computes_an_import_can_reach_everything(mini):
    text = "import importlib\nimportlib.import_module(input())\n"
    found = reach.reached([Use("page")], mini.folders, extra={"page": text})
    assert "mini.unrelated:X" in found


def test_an_f_string_means_the_same_however_the_parser_cuts_it():
    cut = ast.JoinedStr([ast.Constant("a"), ast.Constant(""), ast.Constant("b")])
    assert reach._meaning(cut) == reach._meaning(ast.JoinedStr([ast.Constant("ab")]))


def test_a_module_is_parsed_once(mini, monkeypatch):
    mini.sums()
    monkeypatch.setattr(reach.ast, "parse", None)
    mini.sums()


def test_the_real_packages_are_found_and_followed(tmp_path):
    for name, folder in reach.packages().items():
        shutil.copytree(folder, tmp_path / name, ignore=shutil.ignore_patterns("data", "*.pyc"))
    folders = {name: tmp_path / name for name in reach.packages()}
    start = [Use("renyi_book.experiments", "fair_clusters")]
    assert checksum(start, folders) == checksum(start)
