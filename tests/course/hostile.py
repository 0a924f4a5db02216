"""Forty hostile hand-ins to the two-task assignment in `mini`, as notebooks and as odd files."""

import os

import nbformat

from . import attacks, mini

WRONG = "\ndef one():\n    return 7"
ONE = "\ndef one():\n    return 1"
C = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
IPYTHON = "import ast, builtins\nshell = get_ipython()\n"

# Wrong answers that try to get marks all the same.
CHEATS = {
    "drops assertions": IPYTHON
    + "class Drop(ast.NodeTransformer):\n    def visit_Assert(self, node):\n        return ast.Pass()\n"
    "shell.ast_transformers.append(Drop())" + WRONG,
    "rewrites cells": IPYTHON
    + "shell.input_transformers_post.append(lambda lines: ['pass\\n' if 'assert' in ''.join(lines) else l for l in lines])"
    + WRONG,
    "patches compile": IPYTHON + "plain = builtins.compile\ndef mine(source, *args, **kwargs):\n"
    "    return plain(source.replace('assert', 'assert True or') if isinstance(source, str) else source, *args, **kwargs)\n"
    "builtins.compile = mine\nshell.compile.__class__.ast_parse = lambda self, source, *a, **k: ast.parse('pass')"
    + WRONG,
    "stubs the runner": IPYTHON + "class Fine:\n    error_before_exec = error_in_exec = None\n"
    "shell.__class__.run_cell = lambda *args, **kwargs: Fine()" + WRONG,
    "hides errors": "get_ipython().showtraceback = lambda *a, **k: None" + WRONG,
    "equals everything": "class All:\n    def __eq__(self, other):\n        return True\n"
    "    def __hash__(self):\n        return 1\ndef one():\n    return All()",
    "is an int that equals everything": "class All(int):\n    def __eq__(self, other):\n        return True\n"
    "    __hash__ = int.__hash__\ndef one():\n    return All(7)",
    "looks at its caller": "import sys\ndef one():\n    frame, text = sys._getframe(), ''\n"
    "    while frame:\n        text += repr(frame.f_globals.get('In', ''))\n        frame = frame.f_back\n"
    "    return 1 if ''.join(['the sec', 'ret is']) in text else 7",
    "searches its memory": "import gc\ndef one():\n    found = [o for o in gc.get_objects() if isinstance(o, (str, list, dict, tuple)) and ''.join(['the sec', 'ret is']) in repr(o)[:9999]]\n"
    "    return 1 if found else 7",
    "raises what it has seen": "def one():\n    raise ValueError(get_ipython().user_ns['In'][-1])",
    "counts to many": "def one():\n    return list(range(3 * 10**7))",
    "sends a file of itself": "def one():\n    return open",
    "forges frames": "import os, json, struct\nfor fd in range(3, 250):\n    try:\n"
    "        t = json.dumps({'done': {'value': 1, 'shared': [], 'found': {}}}).encode()\n"
    "        os.write(fd, struct.pack('!I', len(t)) + t)\n    except OSError:\n        pass"
    + WRONG,
    "writes garbage": "import os\nfor fd in range(3, 250):\n    try:\n        os.write(fd, b'x' * 99)\n"
    "    except OSError:\n        pass" + WRONG,
}
# Harm, or the attempt.
HARM = {
    "never ends": "while True:\n    pass",
    "does not listen": "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass",
    "leaves": "import os\nos._exit(0)",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "prints without end": "for _ in range(10**7):\n    print('0123456789')",
    "prints past Python": "import os\nfor _ in range(500):\n    os.write(1, b'x' * 10**5)" + WRONG,
    "takes memory": "block = bytearray(10**11)",
    "fills the disk": "for n in range(500):\n    open(str(n), 'wb').write(b'x' * (1 << 20))",
    "makes threads": "import threading, time\nthreading.stack_size(32768)\nfor n in range(3000):\n"
    "    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "deletes": "import os\nos.remove('{victim}')",
    "deletes a tree": "import shutil\nshutil.rmtree('{folder}')",
    "writes": "open('{victim}', 'w').close()",
    "reads a neighbour": "open('{other}').read()",
    "starts a shell": "import subprocess\nsubprocess.run(['true'])",
    "forks": "import os\nwhile True:\n    os.fork()",
    "uses the network": "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)",
    "kills the grader": "import os\nos.kill(os.getppid(), 9)",
    "kills in C": C
    + "import os\nfor pid in (os.getppid(), -1, 0):\n    libc.kill(pid, 9)"
    + WRONG,
    "limits the grader": C
    + "import os\nlibc.prlimit(os.getppid(), 1, (ctypes.c_ulong * 2)(0, 0), None)\n"
    "libc.prlimit(os.getppid(), 0, (ctypes.c_ulong * 2)(1, 1), None)" + WRONG,
    "stays behind": "import os\nos.mkdir('closed', 0)\nos.symlink('{folder}', 'link')" + WRONG,
}
for _name in (
    "connects to a local socket",
    "changes permissions",
    "changes times",
    "sets an attribute",
):
    HARM[_name] = attacks.HEAD + attacks.CALLS[_name] + WRONG
# Not notebooks at all, or not theirs.
FILES = ("linked", "linked folder", "pipe", "device", "huge", "torn")


def write_files(folder, name, neighbour):
    """Hand in `FILES`, in `folder`, as the assignment `name`; `neighbour` has a right answer."""
    target = {}
    for student in FILES:
        if student != "linked folder":
            (folder / student).mkdir(parents=True)
        target[student] = folder / student / f"{name}.ipynb"
    target["linked"].symlink_to(neighbour)
    (folder / "linked folder").symlink_to(neighbour.parent, target_is_directory=True)
    os.mkfifo(target["pipe"])
    target["device"].symlink_to("/dev/zero")
    with target["huge"].open("wb") as file:
        file.truncate(1 << 33)
    target["torn"].write_text('{"cells": [')


def write(folder, name, places):
    """Hand in everything hostile; return the names of the students."""
    for student, text in (CHEATS | HARM).items():
        for key, value in places.items():
            text = text.replace(f"{{{key}}}", str(value))
        (folder / student).mkdir(parents=True)
        nbformat.write(mini.answer(one=text), folder / student / f"{name}.ipynb")
    write_files(folder, name, places["other"])
    return [*CHEATS, *HARM, *FILES]
