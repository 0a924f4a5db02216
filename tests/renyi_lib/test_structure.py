"""The library has no import cycle, and no module uses another module's private names."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import renyi_lib

ROOT = Path(renyi_lib.__file__).parent


def module_name(path):
    parts = ("renyi_lib", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): ast.parse(path.read_text()) for path in ROOT.rglob("*.py")}


def imports(tree):
    """Module and name (or None) of every import from the library, also within functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "renyi_lib":
                    yield alias.name, None
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module.split(".")[0] == "renyi_lib":
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    yield (whole, None) if whole in MODULES else (node.module, alias.name)


def graph():
    """The modules that each module imports. The package itself loads its modules by name."""
    return {
        name: {module for module, _ in imports(tree) if module not in (name, "renyi_lib")}
        for name, tree in MODULES.items()
        if name != "renyi_lib"
    }


def test_imports_including_lazy_ones_have_no_cycle():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_import_check_detects_a_cycle():
    with pytest.raises(CycleError):
        TopologicalSorter(graph() | {"renyi_lib._validation": {"renyi_lib.tuning"}}).prepare()


def test_only_allowed_modules_import_by_name():
    """`import_module` is for the package's own lazy loading and for optional packages."""
    users = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
        and getattr(node, "id", getattr(node, "attr", "")) in ("import_module", "__import__")
    }
    assert users <= {"renyi_lib", "renyi_lib.autodiff", "renyi_lib._backends"}


@pytest.mark.parametrize("name", MODULES)
def test_no_private_name_of_another_module_is_used(name):
    tree = MODULES[name]
    from_imports = [f"{m}.{n}" for m, n in imports(tree) if n is not None and n.startswith("_")]
    assert [n for n in from_imports if not n.endswith("__version__")] == []
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if f"{node.module}.{alias.name}" in MODULES
    }
    by_attribute = [
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        and node.attr.startswith("_")
    ]
    assert by_attribute == []


def test_sources_and_penalties_do_not_import_estimators():
    edges = graph()

    def reached(start):
        found, todo = set(), [start]
        while todo:
            new = edges[todo.pop()] - found
            found |= new
            todo += new
        return found

    estimators = {f"renyi_lib.{n}" for n in ("classification", "boosting", "regression", "tuning")}
    for package in ("renyi_lib.sources", "renyi_lib.penalties", "renyi_lib.metrics"):
        assert not reached(package) & estimators


def test_layers_drawn_in_contributing_match_the_imports():
    text = (ROOT.parent / "CONTRIBUTING.md").read_text()
    drawing = text.split("```text\n")[1].split("```")[0]
    layer = {name: k for k, line in enumerate(drawing.splitlines()) for name in line.split()}
    public = {name.split(".")[1] for name in MODULES if "." in name} - {"py"}
    assert set(layer) == {name for name in public if not name.startswith("_")}
    for module, imported in graph().items():
        above = module.split(".")[1]
        for name in imported:
            below = name.split(".")[1]
            if above in layer and below in layer and above != below:
                assert layer[above] < layer[below], f"{module} imports {name}"
