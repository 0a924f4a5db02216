"""Hostile, broken and clumsy submissions: each is dealt with, and its neighbours are graded."""

import nbformat
import pytest
from grader import SOURCE, sandbox, zoo

from . import mini

LIMITS = sandbox.Limits(cell_seconds=4, total_seconds=25, memory_mb=2048, file_mb=8, output_kb=200)
NAME = "mini"
LINUX = sandbox.landlock_version() > 0 and sandbox.seccomp_available()
hard_guards = pytest.mark.skipif(
    not LINUX, reason="C code gets past the audit hook where there is no Landlock or seccomp"
)

C = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
ONE = "\ndef one():\n    return 1"
# name -> (code of the first answer, which is right in itself where it ends with ONE)
BAD = {
    "endless": "while True:\n    pass",
    "stubborn": (
        "while True:\n    try:\n        while True:\n            pass\n"
        "    except KeyboardInterrupt:\n        pass"
    ),
    "exit": "import os\nos._exit(0)",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "chatty": "for _ in range(10**7):\n    print('0123456789')",
    "one_long_print": "print('x' * 10**8)",
    "raw_print": "import os\nfor _ in range(1000):\n    os.write(1, b'x' * 10**5)",
    "pictures": (
        "from IPython.display import display\n"
        "for _ in range(1000):\n    display({'text/plain': 'x' * 10**5}, raw=True)"
    ),
    "absent": "import a_package_that_is_not_there" + ONE,
    "memory": "block = bytearray(10**11)",
    "file": "with open('big', 'wb') as file:\n    file.write(b'x' * 10**8)",
    "deletes": "import os\nos.remove('{victim}')",
    "deletes_tree": "import shutil\nshutil.rmtree('{folder}')",
    "deletes_quietly": "import os\ntry:\n    os.remove('{victim}')\nexcept OSError:\n    pass"
    + ONE,
    "writes": "open('{victim}', 'w').close()",
    "moves": "import os\nos.rename('{victim}', 'mine')",
    "peeks": f"open({str(SOURCE / 'a1_dependence' / 'a1_dependence.ipynb')!r}).read()",
    "peeks_at_others": "open('{other}').read()",
    "subprocess": "import subprocess\nsubprocess.run(['true'])",
    "forks": "import os\nwhile True:\n    os.fork()",
    "network": "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)",
    "kills": "import os\nos.kill(os.getppid(), 9)",
    "hides_errors": (
        "get_ipython().showtraceback = lambda *args, **kwargs: None\ndef one():\n    return 3"
    ),
    "own_folder": (
        "import os, tempfile\nwith open('mine', 'w') as file:\n    file.write('x')\n"
        "os.remove('mine')\nwith tempfile.TemporaryFile() as file:\n    file.write(b'x')" + ONE
    ),
}
BAD_IN_C = {
    "c_unlink": C + "assert libc.unlink(b'{victim}') == -1, 'deleted'" + ONE,
    "c_fork": C + "assert libc.fork() == -1, 'forked'" + ONE,
    "c_socket": C + "assert libc.socket(2, 2, 0) == -1, 'has a socket'" + ONE,
    "c_read": (
        C
        + f"assert libc.open({str(SOURCE / 'a1_dependence').encode()!r}, 0) == -1, 'peeked'"
        + ONE
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the assignment, a victim, and where submissions go."""
    folder = tmp_path_factory.mktemp("sandbox")
    (folder / "source" / NAME).mkdir(parents=True)
    nbformat.write(mini.source(), folder / "source" / NAME / f"{NAME}.ipynb")
    (folder / "precious").mkdir()
    (folder / "precious" / "victim").write_text("still here")
    return folder


@pytest.fixture(scope="module")
def results(place):
    names = {
        "folder": place / "precious",
        "victim": place / "precious" / "victim",
        "other": place / "submissions" / "good" / f"{NAME}.ipynb",
    }
    notebooks = {("good", NAME): mini.answer()}
    for name, code in (BAD | BAD_IN_C if LINUX else BAD).items():
        for key, path in names.items():
            code = code.replace(f"{{{key}}}", str(path))
        notebooks[name, NAME] = mini.answer(one=code)
    notebooks["good too", NAME] = mini.answer()
    graded = zoo.grade_notebooks(
        notebooks, place / "submissions", limits=LIMITS, source=place / "source"
    )
    return {student: result for (student, _), result in graded.items()}


def points(result):
    return {mark.name: mark.points for mark in result.marks}


def messages(result):
    return " ".join([mark.message for mark in result.marks] + result.notes)


@pytest.mark.parametrize("student", ["good", "good too"])
def test_neighbours_of_bad_submissions_get_their_marks(results, student):
    assert points(results[student]) == {"test_one": 2, "test_two": 3}
    assert (results[student].status, results[student].notes) == ("graded", [])


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("stubborn", "still ran 5 seconds after it was told to stop"),
        ("exit", "the kernel died in it"),
        ("segfault", "the kernel died in it"),
        ("pictures", "KB of output"),
    ],
)
def test_a_kernel_that_cannot_go_on_is_cut_off_and_says_where(results, student, message):
    result = results[student]
    assert result.status == "cut off"
    assert message in result.notes[0]
    assert "cell one" in result.notes[0]
    assert points(result) == {"test_one": 0, "test_two": 0}
    assert "not run: the notebook was cut off in one" in result.marks[1].message


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("endless", "Look for a loop that does not end"),
        ("chatty", "printed more than 200 KB"),
        ("one_long_print", "printed more than 200 KB"),
        ("absent", "No module named 'a_package_that_is_not_there'"),
        ("memory", "MemoryError"),
        ("file", "File too large"),
        ("deletes", "refused: os.remove on"),
        ("deletes_tree", "refused: shutil.rmtree on"),
        ("writes", "refused: writing to"),
        ("moves", "refused: os.rename on"),
        ("peeks", "which belongs to the grader or to somebody else"),
        ("peeks_at_others", "which belongs to the grader or to somebody else"),
        ("subprocess", "refused: starting another process (subprocess.Popen)"),
        ("forks", "refused: starting another process (os.fork)"),
        ("network", "refused: using the network"),
        ("kills", "refused: sending a signal to another process"),
        ("hides_errors", "the secret is 1"),
    ],
)
def test_a_bad_cell_loses_its_own_marks_only(results, student, message):
    result = results[student]
    assert result.status == "graded"
    assert message in messages(result)
    assert points(result) == {"test_one": 0, "test_two": 3}


def test_printing_past_python_is_bounded_too(results):
    result = results["raw_print"]
    assert result.score <= 5
    assert sum(len(mark.message) for mark in result.marks) < 10_000


def test_a_refusal_that_the_student_caught_is_reported_all_the_same(results):
    result = results["deletes_quietly"]
    assert points(result) == {"test_one": 2, "test_two": 3}
    assert "refused: os.remove on" in messages(result)


def test_a_submission_may_use_its_own_folder(results):
    assert points(results["own_folder"]) == {"test_one": 2, "test_two": 3}
    assert results["own_folder"].notes == []


def test_nothing_outside_was_touched(results, place):
    assert (place / "precious" / "victim").read_text() == "still here"


@hard_guards
@pytest.mark.parametrize("student", BAD_IN_C)
def test_the_operating_system_refuses_what_c_code_tries(results, student):
    assert points(results[student]) == {"test_one": 2, "test_two": 3}
