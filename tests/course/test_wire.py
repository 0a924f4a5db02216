"""Grader and submission exchange values as data, and only the kinds that answers need."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from grader import wire
from grader.execute import CutOff, Session, TimeLimit
from grader.judge import Judge, StandIn
from grader.notebooks import Defined
from grader.sandbox import Limits


def there_and_back(value):
    return wire.decode(json.loads(json.dumps(wire.encode(value))))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        "text",
        [1, [2, "x"]],
        (1, 2),
        {"a": (0.0, 1.0), 2: None},
        {1, 2},
        10**30,
    ],
)
def test_plain_values_survive_a_round_trip(value):
    assert there_and_back(value) == value
    assert type(there_and_back(value)) is type(value)


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.array([0.5, np.nan]), np.array(["a", "bc"]), np.zeros((0, 3))],
)
def test_arrays_survive_a_round_trip_and_are_writable(array):
    back = there_and_back(array)
    assert (back.shape, back.dtype.kind) == (array.shape, array.dtype.kind)
    assert back.flags.writeable
    np.testing.assert_array_equal(back, array)


def test_numpy_scalars_and_tables_survive_a_round_trip():
    assert isinstance(there_and_back(np.float64(1.5)), np.float64)
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [0.5, np.nan]})
    pd.testing.assert_frame_equal(there_and_back(frame), frame)
    odd = frame.set_axis(["r", "s"])
    pd.testing.assert_frame_equal(there_and_back(odd), odd)
    pd.testing.assert_series_equal(there_and_back(odd["a"]), odd["a"])


def test_answer_with_too_many_values_is_neither_sent_nor_read():
    many = [[]] * (wire.PIECES + 1)
    with pytest.raises(wire.Unsendable, match="values"):
        wire.pack({"done": many}, answer=True)
    with pytest.raises(ValueError, match="values"):
        wire.unpack(bytearray(wire.pack({"done": many})), untrusted=True)


def test_answer_with_too_many_long_whole_numbers_is_neither_sent_nor_read():
    """Numbers of more than 18 digits can be chosen so that building a set of them takes hours."""
    short, long = [10**18 - 1] * 6000, [10**18] * 5000
    frame = bytearray(wire.pack({"done": short + long}))
    assert wire.unpack(frame, untrusted=True) == {"done": short + long}
    with pytest.raises(ValueError, match="long whole numbers"):
        wire.unpack(bytearray(wire.pack({"done": [*long, 10**18]})), untrusted=True)
    with pytest.raises(wire.Unsendable, match="long whole numbers"):
        wire.pack({"done": [*long, 10**18]}, answer=True)


class Odd:
    """Neither data nor a function."""


def endless():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        Odd(),
        open,
        lambda: 1,
        endless(),
        np.array([1j]),
        pytest.param(10**5000, id="long"),
        pytest.param(dict.fromkeys(range(wire.ENTRIES + 1)), id="many entries"),
        pytest.param(range(wire.PIECES + 1), id="many parts"),
        pytest.param(np.broadcast_to(0.0, (10**5, 10**5)), id="large array"),
    ],
)
def test_only_data_are_sent(value):
    with pytest.raises(wire.Unsendable):
        wire.encode(value)


@pytest.mark.parametrize(
    "data",
    [
        {"function": 0},
        {"given": ["os", "system", {}]},
        {"array": ["|O8", [1], "AAAAAAAAAAA="]},
        {"array": ["<f8", [10**9, 10**9], ""]},
        {"array": ["<f8", [2], "AAAA"]},
        {"array": ["<U0", [10**5, 10**5], ""]},
        {"set": list(range(wire.ENTRIES + 1))},
        {"frame": [[["a", [1]], ["b", [1, 2]]], None]},
        # Matching these by their index could take pandas hours.
        {"frame": [[["a", {"series": ["a", [1], [2]]}]], [2]]},
        {"series": ["a", {"dict": [[1, 2]]}, [1]]},
        {"series": ["a", [1], {"series": ["a", [1], [2]]}]},
        {"what": 1},
        {"a": 1, "b": 2},
    ],
)
def test_submission_cannot_send_classes_functions_or_forged_arrays(data):
    with pytest.raises((ValueError, TypeError)):
        wire.decode(data)


def test_frame_size_is_checked_before_reading():
    with pytest.raises(ValueError, match="too large a frame"):
        wire.unpack(bytearray(b"\xff\xff\xff\xff"))
    with pytest.raises(ValueError, match="more than 8 MB"):
        wire.unpack(bytearray((9 << 20).to_bytes(4, "big")), untrusted=True)
    assert wire.unpack(bytearray(b"\0\0\0\5tru")) is None
    with pytest.raises(ValueError, match="not a message"):
        wire.unpack(bytearray(b"\0\0\0\4true"))


# ------------------------------------------------------------------ stand-ins for functions


CELL = """import warnings
def double(x):
    x *= 2
def forever(f):
    while True:
        f(1)
def uses(x):
    return helper(x) + 1
def helper(x):
    return -x
def ask(labels, move):
    for n in range(3):
        move(n)
    return labels.copy()
def swallow(f):
    try:
        f()
    except Exception:
        return "fine"
def warn():
    warnings.warn("careful", RuntimeWarning)
    return 1
def fail():
    x = 1
    raise KeyError("no such thing")
def slow():
    while True:
        pass
class C:
    pass
value, thing = {"a": 1}, C()
"""


@pytest.fixture(scope="module")
def session():
    with Session(Limits(cell_seconds=2, total_seconds=900)) as session:
        session.run(CELL)
        yield session


def call(session, name, *args, in_place=False):
    session.begin()
    return StandIn(session, name, in_place)(*args)


def test_declared_in_place_change_reaches_the_caller(session):
    x = np.arange(3.0)
    assert call(session, "double", x, in_place=True) is None
    assert x.tolist() == [0, 2, 4]


def test_undeclared_in_place_change_does_not_reach_the_caller(session):
    x = np.arange(3.0)
    call(session, "double", x)
    assert x.tolist() == [0, 1, 2]


def test_an_endless_loop_that_calls_the_test_is_stopped_in_time(session):
    start = time.monotonic()
    with pytest.raises(TimeLimit, match="loop that does not end"):
        call(session, "forever", lambda x: x)
    assert time.monotonic() - start < 2 + 5
    assert call(session, "helper", 1) == -1


def test_endless_test_stops_the_notebook(monkeypatch):
    """The values and callbacks of a submission may keep the test itself busy forever."""
    monkeypatch.setattr("grader.execute.TESTS", 0)
    with Session(Limits(cell_seconds=0.5)) as session, pytest.raises(CutOff, match="did not end"):
        Judge(session, []).test("while True:\n    pass")


def test_repeated_mistake_is_penalized_once(session):
    """`uses` is right but calls `helper`, which is wrong and is replaced by the reference."""
    defined = [
        Defined("helper", 1, frozenset({"helper"}), False, "def helper(x):\n    return x"),
        Defined("uses", 2, frozenset({"uses"}), False, "def uses(x):\n    return helper(x) + 1"),
    ]
    judge = Judge(session, defined)
    assert judge.test("assert helper(2) == 2, 'the helper is wrong'", 1) == "the helper is wrong"
    assert judge.test("assert uses(2) == 3, 'not 3'", 2) == ""
    assert judge.test("assert uses(2) == 4, 'not 4'", 2) == "not 4"
    assert judge.test("assert helper(2) == 2, 'still wrong'", 1) == "still wrong"


def test_function_passed_by_the_test_shares_its_state(session):
    labels = np.zeros(3, dtype=int)

    def move(n):
        labels[n] = n + 5

    assert call(session, "ask", labels, move, in_place=True).tolist() == [5, 6, 7]


def test_submission_cannot_suppress_a_failure_of_the_test(session):
    def check():
        raise AssertionError("told")

    with pytest.raises(AssertionError, match="told"):
        call(session, "swallow", check)


def test_warnings_and_errors_are_passed_on_unchanged(session):
    with pytest.warns(RuntimeWarning, match="careful"):
        assert call(session, "warn") == 1
    with pytest.raises(KeyError, match="no such thing"):
        call(session, "fail")


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("assert value == {'a': 1}", ""),
        ("assert value == 2, 'not two'", "not two"),
        ("fail()", "KeyError: 'no such thing' (line 25 of the cell: raise KeyError("),
        ("slow()", "this was stopped after"),
        ("thing", "thing is a value of type C"),
        ("assert unheard", "NameError"),
        ("assert secrets_of_the_test == 1", ""),
    ],
)
def test_verdict_tells_the_student_what_to_correct(session, test, told):
    names = frozenset({"value", "fail", "slow", "thing", "unheard"})
    judge = Judge(session, [Defined("a", 1, names, False, "")])
    judge.give("secrets_of_the_test = 1")
    assert judge.test(test).startswith(told)
    assert told or judge.test(test) == ""
