"""Attacks that once got through the guards, each with a control that it works unguarded."""

import os
import platform
import sys
import time
from dataclasses import replace

import pytest
from grader import SOURCE, sandbox, wire
from grader.execute import (
    CutOff,
    Failed,
    NotStarted,
    Session,
    Tampered,
    TimeLimit,
    guards,
    open_to_all,
)

from . import attacks

LIMITS = sandbox.Limits(
    cell_seconds=4,
    total_seconds=60,
    memory_mb=2048,
    file_mb=8,
    disk_mb=20,
    files=300,
    output_kb=200,
)
FOUND = guards(LIMITS)
HARD = FOUND["walled"] and FOUND["filtered"]
hard_guards = pytest.mark.skipif(not HARD, reason="needs bubblewrap and seccomp")


@pytest.fixture(scope="module")
def aim(tmp_path_factory):
    # Every user can reach the targets, so that only the guards stand in the way.
    folder = tmp_path_factory.mktemp("aim")
    for each in (folder, *folder.parents):
        if each.owner() != "root" or str(each).startswith(str(tmp_path_factory.getbasetemp())):
            each.chmod(0o755)
    with attacks.targets(folder) as found:
        yield found


@pytest.fixture(scope="module")
def session():
    with Session(replace(LIMITS, total_seconds=900)) as session:
        yield session


def outcome(session, text):
    session.run(text)
    return session.look(["outcome"])["outcome"]["value"]


@hard_guards
@pytest.mark.parametrize("name", attacks.CALLS)
def test_operating_system_blocks_attacks_from_c_code(name, session, aim, tmp_path):
    if name in attacks.BY_NUMBER and platform.machine() != attacks.X86:
        pytest.skip("the number of the call is for another architecture")
    text = attacks.code(name, aim)
    assert outcome(session, text) != "through"
    control = attacks.unguarded(text, tmp_path)
    for name in ("victim", "sacrifice"):
        with open(aim[name], "w") as file:
            file.write("still here")
    if control != "through":
        pytest.skip(f"does not work here even unguarded: {control}")


@hard_guards
def test_most_attacks_succeed_without_guards(aim, tmp_path):
    through = [
        name
        for name in list(attacks.CALLS)[::4]
        if attacks.unguarded(attacks.code(name, aim), tmp_path) == "through"
    ]
    assert len(through) >= 0.6 * len(list(attacks.CALLS)[::4])


@hard_guards
def test_submission_process_has_no_open_socket(session):
    text = """
import os
names = [f"/proc/self/fd/{n}" for n in range(64)]
outcome = [os.readlink(name) for name in names if os.path.islink(name)]
"""
    links = outcome(session, text)
    assert any(link.startswith("pipe:") for link in links)
    assert not any("socket" in link for link in links)


@hard_guards
def test_solutions_are_unreadable_and_the_library_is_readable(session):
    path = SOURCE / "a1_dependence" / "a1_dependence.ipynb"
    text = attacks.HEAD + f"outcome = tried(libc.open({os.fsencode(path)!r}, 0))"
    assert outcome(session, text) != "through"
    assert outcome(session, "import renyi_lib\noutcome = renyi_lib.__name__") == "renyi_lib"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_root_becomes_an_unprivileged_user_permanently(session):
    assert FOUND["user"]
    assert outcome(session, "import os\noutcome = list(os.getresuid())") == [60000] * 3
    text = attacks.HEAD + "outcome = tried(libc.setuid(0))"
    assert outcome(session, text) == "Operation not permitted"


def test_asyncio_and_threads_still_work_inside(session):
    text = (
        "import asyncio, threading\nasync def answer():\n    return 42\n"
        "out = []\nt = threading.Thread(target=lambda: out.append(asyncio.run(answer())))\n"
        "t.start(); t.join()\noutcome = out"
    )
    assert outcome(session, text) == [42]


def test_submission_may_use_its_own_folder(session):
    text = (
        "import os, tempfile, signal\nopen('mine', 'w').write('x')\nos.rename('mine', 'yours')\n"
        "os.remove('yours')\nwith tempfile.TemporaryFile() as file:\n    file.write(b'x')\n"
        "os.kill(os.getpid(), 0)\noutcome = sorted(os.listdir('.'))"
    )
    assert "mine" not in outcome(session, text)


@hard_guards
def test_submission_sees_no_files_of_the_machine(session):
    text = """
import os
outcome = {
    "processes": [n for n in os.listdir("/proc") if n.isdigit()],
    "folders": sorted(os.listdir("/")),
    "interfaces": os.listdir("/proc/self/net") and open("/proc/self/net/dev").read().count(":"),
    "hosts": os.path.exists("/etc/passwd") or os.path.exists("/home") or os.path.exists("/var"),
}
"""
    seen = dict(wire.decode(outcome(session, text)))
    assert seen["processes"] == ["1"]
    assert seen["interfaces"] == 1  # its own loopback
    assert not seen["hosts"]
    assert "box" in seen["folders"]


@hard_guards
def test_two_submissions_cannot_communicate(session):
    """Neither sees what the other leaves in memory, queues, or any folder."""
    leave = (
        attacks.HEAD
        + """
import tempfile
ids = [libc.semget(0x5EC2E7, 1, 0o1666), libc.msgget(0x5EC2E7, 0o1666)]
open(tempfile.gettempdir() + "/psst", "w").close()
outcome = 1
"""
    )
    find = (
        attacks.HEAD
        + """
import tempfile
found = [libc.semget(0x5EC2E7, 1, 0o666), libc.msgget(0x5EC2E7, 0o666)]
met = os.path.exists(tempfile.gettempdir() + "/psst")
outcome = [number for number in found if number >= 0] + met * [1]
"""
    )
    with Session(LIMITS, number=1) as other:
        outcome(other, leave)
        assert outcome(session, find) == []
        still = "import os, tempfile\noutcome = os.path.exists(tempfile.gettempdir() + '/psst')"
        assert outcome(other, still) is True


@hard_guards
def test_submission_stays_on_its_own_core(session):
    text = """
import os
try:
    os.sched_setaffinity(0, range(64))
except OSError:
    pass
outcome = len(os.sched_getaffinity(0))
"""
    assert outcome(session, text) == 1


# ------------------------------------------------------------- tests with sessions of their own

TINY = """
import time
for n in range(3000):
    open(str(n), "w").close()
time.sleep(3)
"""
THREADS = """
import threading, time
threading.stack_size(32768)
for n in range(3000):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
"""
# Write to every open file, including the grader's pipe.
TO_ALL = """
import json, os, struct
data = {data}
for fd in range(3, 250):
    try:
        os.write(fd, data)
    except OSError:
        pass
"""
GARBAGE = TO_ALL.replace("{data}", "b'x' * 100")
FORGED = TO_ALL.replace(
    "{data}",
    "json.dumps({'done': {'value': 1, 'shared': []}}).encode()\n"
    "data = struct.pack('!I', len(data)) + data",
)
NESTED = TO_ALL.replace("{data}", "struct.pack('!I', 200000) + b'[' * 200000")


@hard_guards
@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        (TINY, CutOff, "made more than 300 files"),
        (GARBAGE, Tampered, "it sent"),
        (NESTED, Tampered, "it sent"),
        ("import os\nos._exit(0)", CutOff, "Python exited in this cell"),
        ("import ctypes\nctypes.string_at(0)", CutOff, "Python exited in this cell"),
    ],
    ids=["tiny files", "garbage", "nested", "exit", "segfault"],
)
def test_process_that_dies_or_misbehaves_is_cut_off_with_the_reason(text, kind, why):
    with Session(LIMITS) as session, pytest.raises(kind, match=why):
        session.run(text), session.look(["a"])


# Each fills the disk in another way, and counts the megabytes that it got in `outcome`.
DISK = {
    "many files": """
for n in range(100):
    open(str(n), "wb").write(b"x" * (1 << 20))
    outcome = n + 1
""",
    "deleted files that stay open": """
import os
kept = []
for n in range(100):
    kept.append(open("f", "wb", 0))
    os.remove("f")
    kept[-1].write(b"x" * (1 << 20))
    outcome = n + 1
""",
    "deleted files that stay mapped": """
import mmap, os
kept = []
for n in range(100):
    with open("f", "wb+") as file:
        file.write(b"x" * (1 << 20))
        file.flush()
        kept.append(mmap.mmap(file.fileno(), 0))
    os.remove("f")
    outcome = n + 1
""",
    "reserved space": """
import os
for n in range(100):
    os.posix_fallocate(os.open(str(n), os.O_RDWR | os.O_CREAT), 0, 1 << 20)
    outcome = n + 1
""",
}


@hard_guards
@pytest.mark.parametrize("way", DISK)
def test_disk_limit_holds_for_every_way_of_writing(way):
    with Session(LIMITS) as session:
        with pytest.raises(Failed, match=r"No space left|File too large|memory"):
            session.run(DISK[way])
        assert session.look(["outcome"])["outcome"]["value"] <= LIMITS.disk_mb
        # The rest of the notebook still runs.
        assert outcome(session, "outcome = 5") == 5


@hard_guards
def test_slowly_sent_frame_does_not_extend_the_time_limit():
    drips = """
import os, struct, time
names = [f"/proc/self/fd/{n}" for n in range(64)]
fd = max(n for n, name in enumerate(names) if os.path.islink(name) and "pipe" in os.readlink(name))
os.write(fd, struct.pack("!I", 10**6))
while True:
    try:
        os.write(fd, b"x")
        time.sleep(0.05)
    except KeyboardInterrupt:
        pass
"""
    start = time.monotonic()
    with Session(replace(LIMITS, cell_seconds=1)) as session, pytest.raises(CutOff):
        session.run(drips)
    assert time.monotonic() - start < 1 + 5 + 5


@hard_guards
def test_three_thousand_threads_do_not_start():
    told = r"threads|can't start new thread"
    with Session(LIMITS) as session, pytest.raises((CutOff, Failed), match=told):
        session.run(THREADS)


def test_forged_answer_is_rejected_and_reported():
    with Session(LIMITS) as session:
        session.run(FORGED)  # The forged frame is taken as the answer to this request.
        with pytest.raises(Tampered):
            session.look(["a"])


def test_an_endless_cell_is_stopped_and_the_next_one_runs():
    with Session(sandbox.Limits(cell_seconds=0.5)) as session:
        with pytest.raises(TimeLimit, match="loop that does not end"):
            session.run("while True:\n    pass")
        assert outcome(session, "outcome = 1") == 1


def test_an_error_names_its_line_and_never_the_graders_files(session):
    with pytest.raises(Failed) as caught:
        session.run("x = 1\nopen('/etc/hosts', 'w')")
    told = caught.value.told()
    assert "line 2 of the cell: open('/etc/hosts', 'w')" in told
    assert "sandbox" not in told
    refused = session.refused[-1]
    assert "writing to /etc/hosts" in refused
    session.run(
        "import traceback\ntry:\n    open('/etc/hosts', 'w')\nexcept OSError:\n"
        "    told = traceback.format_exc()"
    )
    assert not any("reading" in what for what in session.refused)


def test_a_shell_command_is_refused_once(session):
    before = len(session.refused)
    with pytest.raises(Failed, match="starting another process"):
        session.run("!ls")
    assert session.refused[before:] == ["starting another process (!ls)"]


def test_session_leaves_nothing_behind(tmp_path):
    with Session(LIMITS, scratch=tmp_path) as session:
        pid = session.pid
        session.run("import os\nos.mkdir('closed', 0)\nos.symlink('/etc', 'link')")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_session_without_bubblewrap_works_or_tells_root_what_to_install(tmp_path):
    closed = os.getuid() == 0 and not all(map(open_to_all, (sys.prefix, sys.base_prefix)))
    if closed:
        with pytest.raises(NotStarted, match="Install bubblewrap"):
            Session(LIMITS, scratch=tmp_path, walled=False)
    else:
        with Session(LIMITS, scratch=tmp_path, walled=False) as session:
            assert session.ready["walled"] is False
            assert outcome(session, "open('mine', 'w').close()\noutcome = 1") == 1
            with pytest.raises(Failed, match="writing to"):
                session.run("open('/tmp/other', 'w')")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------- reports and the filter


def test_active_and_missing_guards_are_listed():
    lines = "\n".join(sandbox.describe(True, True, True))
    assert "bubblewrap, seccomp, a separate user" in lines
    assert "NOT GUARDED" not in lines
    lines = "\n".join(sandbox.describe(False, True, False))
    assert "accidents, not attacks: install bubblewrap" in lines
    assert "run as the user who grades" in lines
    assert "no seccomp" in "\n".join(sandbox.describe(True, False, False))


@pytest.mark.parametrize("machine", sandbox.AUDIT_ARCH)
def test_the_filter_names_every_call_once_and_its_jumps_stay_inside(machine):
    code = sandbox.seccomp_filter(machine)
    column = list(sandbox.AUDIT_ARCH).index(machine)
    numbers = [numbers[column] for numbers in sandbox.REFUSED.values()]
    known = [number for number in numbers if number is not None]
    assert len(set(known)) == len(known) >= 20
    for position, (_, if_true, if_false, _) in enumerate(code):
        assert position + 1 + max(if_true, if_false) < len(code) + (if_true == if_false == 0)


def decision(code, machine, number, *arguments):
    """Return what the filter decides on a call: run its instructions."""
    words = {0: number, 4: sandbox.AUDIT_ARCH[machine]}
    words |= {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    position = loaded = 0
    while True:
        kind, if_true, if_false, value = code[position]
        position += 1
        if kind == 0x20:
            loaded = words.get(value, 0)
        elif kind == 0x54:
            loaded &= value
        elif kind == 0x06:
            return {0x7FFF0000: "allow", 0x50001: "refuse", 0x50026: "absent"}[value]
        else:
            hit = loaded == value if kind == 0x15 else loaded & value
            position += if_true if hit else if_false


@pytest.mark.parametrize("machine", sandbox.AUDIT_ARCH)
def test_filter_refuses_calls_that_bubblewrap_cannot_block(machine):
    code = sandbox.seccomp_filter(machine)
    column = list(sandbox.AUDIT_ARCH).index(machine)

    def decide(numbers, *arguments):
        return decision(code, machine, numbers[column], *arguments)

    assert decide(sandbox.CLONE, sandbox.CLONE_THREAD | 0x100) == "allow"
    assert decide(sandbox.CLONE, 17) == "refuse"
    assert decide(sandbox.CLONE3) == "absent"
    assert decide(sandbox.SOCKETPAIR, 1, 1 | 0x80000) == "allow"
    assert decide(sandbox.SOCKETPAIR, 1, 2) == decide(sandbox.SOCKETPAIR, 2, 1) == "refuse"
    for numbers, _, commands in sandbox.SOME_COMMANDS.values():
        assert {decide(numbers, 3, command) for command in commands} == {"refuse"}
        assert decide(numbers, 3, 2) == "allow"
    futex = sandbox.SOME_COMMANDS["futex"][0]
    assert decide(futex, 3, 1 | 128) == decide(futex, 3, 0) == "allow"
    for numbers in sandbox.REFUSED.values():
        assert numbers[column] is None or decide(numbers) == "refuse"
    assert decision(code, machine, 9999) == "allow"
