"""The scripts that build and execute the book."""

import asyncio
import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from renyi_book.scorecard import NO_RESULT, store, stored

from . import checks

sys.path.append(str(checks.BOOK / "_tools"))  # tools import one another


def load(name):
    spec = importlib.util.spec_from_file_location(name, checks.BOOK / "_tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links = load("repository_links")
execute = load("execute")
scorecard = load("scorecard")


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


def test_repository_address_is_none_outside_a_checkout(tmp_path):
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


def test_execute_runs_inside_a_running_event_loop(tmp_path):
    path = tmp_path / "a.ipynb"
    write(path, "print(2)")

    async def inside():
        return execute.run(path)

    # In another thread, because the browser of another test may run an event loop in this one.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(inside())).result() is None
    assert checks.read(path).cells[0].outputs[0].text == "2\n"


@pytest.mark.parametrize("source", ["1 / 0", "import warnings; warnings.warn('careful')"])
def test_execute_reports_an_error_and_leaves_the_file_unchanged(tmp_path, source):
    path = tmp_path / "a.ipynb"
    write(path, source)
    before = path.read_bytes()
    problem = execute.run(path)
    assert "ZeroDivisionError" in problem or "careful" in problem
    assert path.read_bytes() == before


def test_execute_repairs_a_chapter_that_fails_nbval(tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    outdated = [new_output("stream", text="2\n")]
    cell = new_code_cell("print(1)", outputs=outdated, metadata={"tags": ["nbval-check-output"]})
    nbformat.write(new_notebook(cells=[cell]), path)
    assert execute.failing([path]) == [path]
    assert execute.main([path], tmp_path) == 0
    assert execute.failing([path]) == []
    write(path, "1 / 0")
    assert execute.main([path], tmp_path) == 1
    assert "FAILED" in capsys.readouterr().out


@pytest.mark.parametrize("accept", [False, True])
def test_changed_verdict_is_reported_and_stored_only_if_accepted(tmp_path, monkeypatch, accept):
    old, new = ({"findings": {"a": {"verdict": v, "ours": "0.9"}}} for v in ("holds", "undecided"))
    store(old, tmp_path)
    monkeypatch.setattr(scorecard, "findings", lambda folder: new["findings"])
    monkeypatch.setattr(scorecard, "sensitivity", lambda folder: [])
    changes = scorecard.weigh(tmp_path, accept=accept)
    assert changes == ["a: holds -> undecided (0.9)"]
    assert stored(tmp_path)["findings"] == (new if accept else old)["findings"]


def test_first_result_does_not_count_as_a_change(tmp_path, monkeypatch):
    store({"findings": {"a": {"verdict": NO_RESULT, "ours": NO_RESULT}}}, tmp_path)
    monkeypatch.setattr(
        scorecard, "findings", lambda folder: {"a": {"verdict": "holds", "ours": "0.9"}}
    )
    monkeypatch.setattr(scorecard, "sensitivity", lambda folder: [])
    assert scorecard.weigh(tmp_path) == []
    assert (tmp_path / "claims.csv").exists()
