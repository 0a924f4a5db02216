"""The scripts that build and execute the book."""

import importlib.util

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from . import checks


def load(name):
    spec = importlib.util.spec_from_file_location(name, checks.BOOK / "_tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links = load("repository_links")
execute = load("execute")


@pytest.mark.parametrize(
    ("environ", "remote", "expected"),
    [
        ({"GITHUB_REPOSITORY": "a/b"}, None, "https://github.com/a/b"),
        ({"GITHUB_REPOSITORY": "a/b"}, "git@github.com:c/d.git", "https://github.com/a/b"),
        ({}, "git@github.com:c/d.git", "https://github.com/c/d"),
        ({}, "https://github.com/c/d.e", "https://github.com/c/d.e"),
        ({}, "https://github.com/c/d/", "https://github.com/c/d"),
        ({}, "a/folder/on/this/disk", None),
        ({}, "https://git.example.org/c/d", None),
        ({}, None, None),
        ({"GITHUB_REPOSITORY": ""}, "", None),
    ],
)
def test_repository_address_comes_from_the_environment_or_the_remote(environ, remote, expected):
    assert links.repository_url(environ, remote) == expected


def test_no_remote_outside_a_checkout(tmp_path):
    assert links.git_remote(tmp_path) is None


def write(path, *sources):
    nbformat.write(new_notebook(cells=[new_code_cell(s) for s in sources]), path)


def test_execute_stores_counts_and_outputs_from_a_clean_kernel(tmp_path):
    path = tmp_path / "a.ipynb"
    write(path, "x = 1", "print(x + 1)")
    assert execute.run(path) is None
    cells = checks.read(path).cells
    assert [c.execution_count for c in cells] == [1, 2]
    assert cells[1].outputs[0].text == "2\n"


@pytest.mark.parametrize("source", ["1 / 0", "import warnings; warnings.warn('careful')"])
def test_execute_reports_and_leaves_the_file_alone(tmp_path, source):
    path = tmp_path / "a.ipynb"
    write(path, source)
    before = path.read_bytes()
    problem = execute.run(path)
    assert "ZeroDivisionError" in problem or "careful" in problem
    assert path.read_bytes() == before
