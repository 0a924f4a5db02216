"""The package imports quickly, documents its public names, and its examples run."""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
import typing
import zipfile
from pathlib import Path

import pytest

import renyi_lib

ROOT = Path(__file__).parents[2]


# Modules that a plain installation does not have: the extras, and the book's code.
EXTRAS = (
    "numba",
    "tqdm",
    "fairlearn",
    "lightgbm",
    "xgboost",
    "matplotlib",
    "jax",
    "dask",
    "distributed",
    "renyi_book",
    "IPython",
    "yaml",
)


def run(code):
    """Return what the code prints in a new process that has none of the extras."""
    block = f"import sys\nfor name in {EXTRAS}: sys.modules[name] = None\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block + code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_loads_no_dependency():
    code = "print([m for m in ('numpy', 'pandas', 'scipy', 'sklearn') if m in sys.modules])"
    assert run("import renyi_lib\n" + code) == "[]"


def test_no_module_imports_an_extra():
    imports = "import sys\n" + "\n".join(f"import {name}" for name in modules())
    code = f"{imports}\nprint(*(name for name in {(*EXTRAS, 'torch')} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_missing_extras_are_named_by_the_features_that_need_them():
    code = """
import warnings
import numpy as np
import renyi_lib as r
from renyi_lib.baselines import HardtClassifier, ZafarClassifier
from renyi_lib.datasets import load_german
data = load_german().encode(scaling="standard")
s = data.s_train > 0
clf = r.RenyiClassifier(1.0).fit(data.X_train, data.y_train, sensitive_features=s)
print(0 < r.renyi_correlation(clf.predict(data.X_train), s) < 1)
print(0 < r.demographic_parity_ratio(None, clf.predict(data.X_train), sensitive_features=s) <= 1)
ZafarClassifier().fit(data.X_train, data.y_train, sensitive_features=s)
try:
    HardtClassifier().fit(data.X_train, data.y_train, sensitive_features=s)
except ImportError as error:
    print(error)
sys.modules["pyarrow"] = None
try:
    r.ParquetRows("people.parquet")
except ImportError as error:
    print(error)
del sys.modules["pyarrow"]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    r.RenyiKMeans(2, 1.0, random_state=0).fit(data.X_train[:50], sensitive_features=s[:50])
print(caught[0].message)
"""
    *truths, hardt, parquet, kmeans = run(code).splitlines()
    assert truths == ["True", "True"]
    assert hardt == 'HardtClassifier needs fairlearn: pip install "renyi-lib[baselines]"'
    assert parquet == 'ParquetRows needs pyarrow: pip install "renyi-lib[parquet]"'
    assert 'pip install "renyi-lib[fast]"' in kmeans


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the library, built from a copy without the network."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-text"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "renyi_lib", source / "renyi_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    code = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-c", code, str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_contains_the_library_only(wheel):
    names = wheel.namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"renyi_lib"}
    book = ("experiments", "scorecard", "checks", "plotting", "rebuild")
    assert [name for name in names if any(part in name for part in book)] == []
    assert "renyi_lib/py.typed" in names
    assert len([name for name in names if name.endswith(".gz")]) == 4


def test_wheel_requires_four_packages(wheel):
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    lines = wheel.read(metadata).decode().splitlines()
    needed = {
        re.match(r"Requires-Dist: ([\w-]+)", line).group(1)
        for line in lines
        if line.startswith("Requires-Dist") and "extra ==" not in line
    }
    assert needed == {"numpy", "scipy", "pandas", "scikit-learn"}


def test_version_is_the_same_everywhere():
    spec = importlib.util.spec_from_file_location("versions", ROOT / ".ci/versions.py")
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    versions, dates = checker.stated_versions()
    assert set(versions.values()) == {renyi_lib.__version__}
    assert len(set(dates.values())) == 1, dates


METHODS = ("fit", "predict", "predict_proba", "decision_function", "value_and_grad", "forward")


def hinted(module):
    """The public functions of a module, and the public methods of its classes."""
    for name in getattr(module, "__all__", []):
        thing = getattr(module, name)
        if inspect.isfunction(thing) and thing.__module__ == module.__name__:
            yield thing
        elif inspect.isclass(thing) and thing.__module__ == module.__name__:
            for method in METHODS:
                if method in vars(thing):
                    # `available_if` wraps methods that only some estimators have.
                    yield getattr(vars(thing)[method], "fn", vars(thing)[method])


@pytest.mark.parametrize(
    "name",
    [
        "correlation",
        "continuous",
        "inference",
        "report",
        "scorers",
        "tables",
        "postprocessing",
        "dependence",
        "sources",
        "metrics",
        "classification",
        "boosting",
        "regression",
        "smooth_penalties",
        "autodiff",
        "tuning",
        "clustering",
        "cluster_metrics",
        "penalties",
        "models",
        "objective",
        "solvers",
    ],
)
def test_public_functions_have_type_hints(name):
    module = importlib.import_module(f"renyi_lib.{name}")
    for function in hinted(module):
        parameters = [
            p for p in inspect.signature(function).parameters.values() if p.name != "self"
        ]
        bare = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
        assert bare == [], (function, bare)
        typing.get_type_hints(function)


def test_every_public_name_exists():
    assert set(renyi_lib.__all__) <= set(dir(renyi_lib))
    for name in renyi_lib.__all__:
        assert getattr(renyi_lib, name) is not None, name


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = renyi_lib.no_such_name


def modules():
    found = pkgutil.walk_packages(renyi_lib.__path__, "renyi_lib.")
    return sorted(m.name for m in found)


@pytest.mark.parametrize("name", modules())
def test_examples_in_the_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_every_public_name_is_in_the_api_reference():
    pages = (page.read_text(encoding="utf8") for page in (ROOT / "book/api").glob("*.md"))
    documented = re.findall(r"^\.\. auto\w+:: (\w+)$", "\n".join(pages), re.MULTILINE)
    assert set(renyi_lib._MODULE_OF) - set(documented) == set()


def test_readme_example_prints_what_the_readme_shows(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    exec(code, {})
    shown = re.search(r"```text\n(.*?)```", readme, re.DOTALL).group(1)
    assert capsys.readouterr().out == shown


def test_readme_alt_text_has_the_numbers_of_the_picture():
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    alt, name = re.search(r"!\[(.*?)\]\((\S+\.svg)\)", readme).groups()
    drawn = re.findall(r">(\d[\d.]*) %<|accuracy ([\d.]+) %", (ROOT / name).read_text("utf8"))
    numbers = {a or b for a, b in drawn}
    assert numbers == set(re.findall(r"(\d[\d.]*)(?: %| to)", alt))
