"""Hostile submissions of the two-task assignment in `mini`, as notebooks and unusual files."""

import os

import nbformat

from . import attacks, mini

WRONG = "\ndef one():\n    return 7"

# Wrong answers that try to get marks anyway.
CHEATS = {
    "drops assertions": """
import ast, builtins
shell = get_ipython()
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
shell.ast_transformers.append(Drop())
def one():
    return 7
""",
    "rewrites cells": r"""
import ast, builtins
shell = get_ipython()
def rewrite(lines):
    return ['pass\n'] if 'assert' in ''.join(lines) else lines
shell.input_transformers_post.append(rewrite)
def one():
    return 7
""",
    "patches compile": """
import ast, builtins
shell = get_ipython()
plain = builtins.compile
def mine(source, *args, **kwargs):
    if isinstance(source, str):
        source = source.replace('assert', 'assert True or')
    return plain(source, *args, **kwargs)
builtins.compile = mine
parsed = ast.parse('pass')
shell.compile.__class__.ast_parse = lambda *args, **kwargs: parsed
def one():
    return 7
""",
    "stubs the runner": """
import ast, builtins
shell = get_ipython()
class Fine:
    error_before_exec = error_in_exec = None
shell.__class__.run_cell = lambda *args, **kwargs: Fine()
def one():
    return 7
""",
    "hides errors": """
get_ipython().showtraceback = lambda *a, **k: None
def one():
    return 7
""",
    "equals everything": """
class All:
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 1
def one():
    return All()
""",
    "is an int that equals everything": """
class All(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__
def one():
    return All(7)
""",
    "looks at its caller": """
import sys
def one():
    frame, text = sys._getframe(), ''
    while frame:
        text += repr(frame.f_globals.get('In', ''))
        frame = frame.f_back
    return 1 if ''.join(['the sec', 'ret is']) in text else 7
""",
    "searches its memory": """
import gc
def one():
    text = ''.join(['the sec', 'ret is'])
    held = [o for o in gc.get_objects() if isinstance(o, (list, dict, tuple))]
    found = [o for o in held if text in repr(o)[:9999]]
    return 1 if found else 7
""",
    "raises what it has seen": """
def one():
    raise ValueError(get_ipython().user_ns['In'][-1])
""",
    "counts to many": """
def one():
    return list(range(3 * 10**7))
""",
    "sends a file of itself": """
def one():
    return open
""",
    "forges frames": """
import os, json, struct
for fd in range(3, 250):
    try:
        t = json.dumps({'done': {'value': 1, 'shared': [], 'found': {}}}).encode()
        os.write(fd, struct.pack('!I', len(t)) + t)
    except OSError:
        pass
def one():
    return 7
""",
    "writes garbage": """
import os
for fd in range(3, 250):
    try:
        os.write(fd, b'x' * 99)
    except OSError:
        pass
def one():
    return 7
""",
}
# Submissions that do harm, or try to.
HARM = {
    "never ends": """
while True:
    pass
""",
    "does not listen": """
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass
""",
    "leaves": """
import os
os._exit(0)
""",
    "crashes": """
import ctypes
ctypes.string_at(0)
""",
    "prints without end": """
for _ in range(10**7):
    print('0123456789' * 100)
""",
    "prints past Python": """
import os
for _ in range(500):
    os.write(1, b'x' * 10**5)
def one():
    return 7
""",
    "takes memory": "block = bytearray(10**11)",
    "fills the disk": """
for n in range(500):
    open(str(n), 'wb').write(b'x' * (1 << 20))
""",
    "makes threads": """
import threading, time
threading.stack_size(32768)
for n in range(3000):
    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
""",
    "deletes": """
import os
os.remove('{victim}')
""",
    "deletes a tree": """
import shutil
shutil.rmtree('{folder}')
""",
    "writes": "open('{victim}', 'w').close()",
    "reads a neighbor": "open('{other}').read()",
    "starts a shell": """
import subprocess
subprocess.run(['true'])
""",
    "forks": """
import os
while True:
    os.fork()
""",
    "uses the network": """
import socket
socket.create_connection(('127.0.0.1', 9), timeout=1)
""",
    "kills the grader": """
import os
os.kill(os.getppid(), 9)
""",
    "kills in C": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
import os
for pid in (os.getppid(), -1, 0):
    libc.kill(pid, 9)
def one():
    return 7
""",
    "limits the grader": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
import os
libc.prlimit(os.getppid(), 1, (ctypes.c_ulong * 2)(0, 0), None)
libc.prlimit(os.getppid(), 0, (ctypes.c_ulong * 2)(1, 1), None)
def one():
    return 7
""",
    "stays behind": """
import os
os.mkdir('closed', 0)
os.symlink('{folder}', 'link')
def one():
    return 7
""",
}
for _name in (
    "connects to a local socket",
    "changes permissions",
    "changes times",
    "sets an attribute",
):
    HARM[_name] = attacks.HEAD + attacks.CALLS[_name] + WRONG
# More submissions, each of which tries something else: odd values, forged frames, unusual crashes,
# and attacks on the sandbox. None may earn the points of `one` or affect another student.
SEND = """
import json, os, struct
def send(text):
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    data = struct.pack('!I', len(text)) + text
    for fd in range(3, 64):
        try:
            os.write(fd, data)
        except OSError:
            pass
def one():
    send({text})
    return 7
"""
MORE = {
    name: SEND.replace("{text}", text)
    for name, text in {
        "sends a huge number": "b'{\"done\": {\"value\": ' + b'9' * 10**5 + b'}}'",
        "sends infinity": 'b\'{"done": {"value": Infinity}}\'',
        "sends the same key twice": 'b\'{"done": {"value": 7, "value": 8}}\'',
        "sends a set of lists": "{'done': {'value': {'set': [[1]]}, 'shared': []}}",
        "sends a list as a key": "{'done': {'value': {'dict': [[[1], 1]]}, 'shared': []}}",
        "sends a negative shape": "{'done': {'value': {'array': ['<f8', [-1], '']}}}",
        "sends dates": "{'done': {'value': {'array': ['<M8[s]', [1], 'AAAAAAAAAAA=']}}}",
        "sends a false index": "{'done': {'value': {'frame': [[['a', [1]]], [1, 2]]}}}",
        "sends many columns": "{'done': {'value': {'frame': [[['a', [1]]] * 60000, None]}}}",
        "sends a class": "{'done': {'value': {'given': ['os', 'system', {}]}}}",
        "sends a function": "{'done': {'value': {'function': 0}}}",
        "calls back what it was not given": "{'back': 0, 'args': [], 'kwargs': {'dict': []}}",
        "calls back a truth value": "{'back': True, 'args': [], 'kwargs': {'dict': []}}",
        "sends no class": "{'done': {'error': {'classes': [], 'text': 1, 'where': 2}}}",
        "sends an error that is a list": "{'done': {'error': [1, 2]}}",
        "sends found names": "{'done': {'found': {'one': {'value': 7}}}}",
        "sends ready again": "{'ready': {'walled': True}}",
        "floods with refusals": "{'refused': 'x' * 10**6}",
        "sends empty frames": "b''",
        # The next two once took minutes in the grader's own process.
        "sends a set of numbers that collide": "{'done': {'value': {'set': "
        "[k * (2**61 - 1) for k in range(1, 60000)]}, 'shared': [], 'warnings': []}}",
        "sends keys that collide": "{'done': {'value': {'dict': "
        "[[k * (2**61 - 1), 1] for k in range(1, 60000)]}, 'shared': [], 'warnings': []}}",
        "sends texts of no length": "{'done': {'value': {'array': ['<U0', [40000, 30000], '']}, "
        "'shared': [], 'warnings': []}}",
        "sends a shared value that is a number": "{'done': {'value': 7, 'shared': 5}}",
    }.items()
}
MORE |= {
    "is empty": "import numpy as np\ndef one():\n    return np.array([])",
    "is not a number": "def one():\n    return float('nan')",
    "is an array of ones": "import numpy as np\ndef one():\n    return np.ones((3, 0))",
    "returns a generator": "def one():\n    return (1 for _ in range(10))",
    "returns itself": "def one():\n    a = {}\n    a['a'] = a\n    return a",
    "exits": "def one():\n    raise SystemExit(0)",
    "raises an interrupt": "def one():\n    raise KeyboardInterrupt",
    "raises nothing at all": "class E(AssertionError):\n    def __str__(self):\n        raise E\n"
    "def one():\n    raise E",
    "raises what cannot be named": "def one():\n    raise type('x' * 10**6, (Exception,), {})()",
    "warns without end": "import warnings\ndef one():\n    for n in range(10**5):\n"
    "        warnings.warn('x' * 1000 + str(n))\n    return 7",
    "recurses past the stack": "import sys\nsys.setrecursionlimit(10**9)\n"
    "def one():\n    return one()",
    "aborts": "import os\ndef one():\n    os.abort()",
    "ignores the interrupt": "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "def one():\n    while True:\n        pass",
    "closes its files": "import os\ndef one():\n    os.closerange(0, 256)\n    return 7",
    "takes its limits away": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n"
    "def one():\n    return 7",
    "keeps its core busy": "import threading\ndef spin():\n    while True:\n        pass\n"
    "for _ in range(40):\n    threading.Thread(target=spin, daemon=True).start()\n"
    "def one():\n    return 7",
    "runs a shell by magic": "%%bash\necho hello",
    "fills its disk and goes on": "try:\n    for n in range(99):\n"
    "        open(str(n), 'wb').write(b'x' * (1 << 20))\nexcept OSError:\n    pass\n"
    "def one():\n    return 7",
    "removes its own folder": "import shutil\nshutil.rmtree('/box', ignore_errors=True)\n"
    "def one():\n    return 7",
    "maps a hundred gigabytes": "import mmap\nmmap.mmap(-1, 10**11)",
    "writes to its own memory": "import os\nfd = os.open('/proc/self/mem', os.O_RDWR)\n"
    "def one():\n    return 7",
    "replaces the server": "import gc\nfor o in gc.get_objects():\n"
    "    if type(o).__name__ == 'Server':\n        o.call = lambda m: "
    "{'value': 8, 'shared': [], 'warnings': []}\n"
    "def one():\n    return 7",
}
# Answers that are not what they seem, and attempts to reach the grader through what it reads.
MORE |= {
    "is a text that looks like one": "def one():\n    return '1'",
    "is a list of one": "def one():\n    return [1]",
    "is an array of one": "import numpy as np\ndef one():\n    return np.array([1, 1])",
    "is a table of ones": "import pandas as pd\ndef one():\n    return pd.DataFrame({'a': [1]})",
    "is a class with a value": "class one:\n    value = 1\n    def __init__(self):\n        pass",
    "is a number with a million digits": "def one():\n    return 10**1000000",
    "is a text with half a character": "def one():\n    return chr(0xD800) * 1000",
    "is a text that moves the cursor": "def one():\n"
    "    raise ValueError('\\x1b[2J\\x1b[H' + '\\r' * 500 + 'one is right')",
    "is a text that closes the page": "def one():\n"
    "    raise ValueError('</td></tr></table><script>alert(1)</script>')",
    "has a column with a long name": "import pandas as pd\ndef one():\n"
    "    return pd.DataFrame({'x' * 10**6: [1]})",
    "returns a subclass of an array": "import numpy as np\nclass A(np.ndarray):\n"
    "    def __eq__(self, other):\n        return True\n"
    "def one():\n    return np.zeros(1).view(A)",
    "has a shape that lies": "import numpy as np\nclass A(np.ndarray):\n"
    "    shape = property(lambda self: (10**9,))\n"
    "def one():\n    return np.zeros(1).view(A)",
    "is a dictionary that grows": "class D(dict):\n    def items(self):\n"
    "        while True:\n            yield 1, 1\ndef one():\n    return D(a=1)",
    "is an array of objects": "import numpy as np\ndef one():\n"
    "    return np.array([object()] * 3, dtype=object)",
    "is an array that repeats one byte": "import numpy as np\ndef one():\n"
    "    return np.broadcast_to(np.int8(1), (10**6, 10**6))",
    "raises a group of errors": "def one():\n"
    "    raise BaseExceptionGroup('x', [SystemExit(), KeyboardInterrupt()])",
    "raises in a chain": "def one():\n    error = None\n    for n in range(50000):\n"
    "        e = ValueError(n)\n        e.__cause__ = error\n        error = e\n    raise error",
    "dies by its own alarm": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.3)\n"
    "def one():\n    while True:\n        pass",
    "opens files until none is left": "kept = []\ntry:\n    while True:\n"
    "        kept.append(open('/dev/null'))\nexcept OSError:\n    pass\n"
    "def one():\n    return 7",
    "answers at exit": "import atexit, os\natexit.register(lambda: os.write(1, b'one is right'))\n"
    "def one():\n    raise SystemExit(1)",
    "answers from a thread": "import threading, time\ndef later():\n    time.sleep(0.2)\n"
    "    globals()['one'] = lambda: 7\nthreading.Thread(target=later, daemon=True).start()\n"
    "def one():\n    return 8",
    "redefines how JSON is written": "import json\njson.dumps = lambda *a, **k: "
    '\'{"done": {"value": 1, "shared": [], "warnings": []}}\'\ndef one():\n    return 7',
    "redefines how numbers compare": "import numpy as np\nnp.allclose = np.isclose = "
    "np.array_equal = lambda *a, **k: True\ndef one():\n    return 7",
    "stops itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)" + WRONG,
    "fills pipes": "import fcntl, os\nkept = []\ntry:\n    while True:\n"
    "        kept += os.pipe()\n        fcntl.fcntl(kept[-1], 1031, 1 << 20)\n"
    "        os.set_blocking(kept[-1], False)\n        os.write(kept[-1], bytes(1 << 20))\n"
    "except OSError:\n    pass" + WRONG,
    "holds a null byte": "x = 1\x00" + WRONG,
    "removes the built-in functions": "import builtins\n"
    "builtins.int = builtins.len = builtins.range = None" + WRONG,
    "replaces the built-in types": "import builtins\nbuiltins.isinstance = lambda *a: True\n"
    "def one():\n    return 7",
}
# Files that are not notebooks, or not the student's own.
FILES = ("linked", "linked folder", "pipe", "device", "huge", "torn")


def write_files(folder, name, neighbor):
    """Hand in `FILES` in `folder` as the assignment `name`; `neighbor` is another's notebook."""
    target = {}
    for student in FILES:
        if student != "linked folder":
            (folder / student).mkdir(parents=True)
        target[student] = folder / student / f"{name}.ipynb"
    target["linked"].symlink_to(neighbor)
    (folder / "linked folder").symlink_to(neighbor.parent, target_is_directory=True)
    os.mkfifo(target["pipe"])
    target["device"].symlink_to("/dev/zero")
    with target["huge"].open("wb") as file:
        file.truncate(1 << 33)
    target["torn"].write_text('{"cells": [')


def write(folder, name, places):
    """Hand in everything hostile; return the names of the students."""
    for student, text in (CHEATS | HARM | MORE).items():
        for key, value in places.items():
            text = text.replace(f"{{{key}}}", str(value))
        (folder / student).mkdir(parents=True)
        nbformat.write(mini.answer(one=text), folder / student / f"{name}.ipynb")
    write_files(folder, name, places["other"])
    return [*CHEATS, *HARM, *MORE, *FILES]
