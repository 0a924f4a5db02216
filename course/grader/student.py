"""Process that runs a submission in IPython, behind the guards of `sandbox`, without sockets.

`execute` sends this file, `sandbox` and `wire` as text, so that the submission cannot find the
grader's folder. The process answers requests to run a cell, to return the value of a name, and to
call a function. Because tests and verdicts never reach this process, a submission can forge only
its own answers.
"""

import io
import linecache
import os
import signal
import sys
import warnings

LONGEST = 2000  # maximum characters of an error message


class Printed(io.TextIOBase):
    """Output stream that keeps only the end, and raises an error if too much is printed."""

    def __init__(self, limit):
        self.limit, self.count, self.tail = limit, 0, ""

    def writable(self):
        """Return True, because one can print here."""
        return True

    def write(self, text):
        """Count the output, and stop the cell if there is too much."""
        self.count += len(text)
        if self.count > self.limit:
            raise RuntimeError(
                f"This notebook printed more than {self.limit // 1024} KB, so the grader stopped "
                "this cell. Look for a print inside a loop, or for a whole array or table."
            )
        self.tail = (self.tail + text)[-200:]
        return len(text)


def make_shell(refuse):
    """Return an IPython shell without history and tracebacks; `refuse` answers `!command`."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        def showtraceback(self, *args, **kwargs):
            """Show nothing, because the error is sent to the grader."""

        def showsyntaxerror(self, *args, **kwargs):
            """Show nothing, as above."""

        def enable_gui(self, gui=None):
            """Do nothing, because figures are drawn in memory."""

        def ask_exit(self):
            """Do nothing, because there is no session that `exit` could end."""

        def system(self, command):
            """Block `!command` with one clear message, before IPython tries it in four ways."""
            refuse(f"starting another process (!{command})")

        getoutput = system_raw = system_piped = system

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.cache_size = 0
    return Shell.instance(config=config)


def explain(problem):
    """Return an error as plain data, with its classes, message and position in a cell."""
    try:
        text = str(problem)[:LONGEST]
    except Exception:
        text = "an error whose message cannot be shown"
    where = ""
    if isinstance(problem, SyntaxError) and problem.lineno:
        where = f"line {problem.lineno} of the cell"
        text = str(problem.msg)[:LONGEST]
    trace = problem.__traceback__
    while trace:
        name, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if name.startswith("<ipython-input"):
            shown = linecache.getline(name, line).strip()[:100]
            where = f"line {line} of the cell: {shown}"
        trace = trace.tb_next
    classes = [kind.__name__ for kind in type(problem).__mro__]
    return {"classes": classes, "text": text, "where": where}


class Server:
    """Server that answers the grader's frames one after the other."""

    def __init__(self, wire, incoming, outgoing, printed):
        self.wire, self.incoming, self.outgoing = wire, incoming, outgoing
        self.printed, self.buffer, self.shell = printed, bytearray(), None
        self.busy = self.talking = self.stopped = False
        # A submission may replace functions of `os`, so keep the original ones.
        self.read, self.write = os.read, os.write

    def send(self, message):
        """Write one frame."""
        data = memoryview(self.wire.pack(message, answer=True))
        while data:
            data = data[self.write(self.outgoing, data) :]

    def receive(self):
        """Wait for the next frame; exit if the grader has ended."""
        while (message := self.wire.unpack(self.buffer)) is None:
            data = self.read(self.incoming, 1 << 16)
            if not data:
                os._exit(0)
            self.buffer += data
        return message

    def refused(self, what):
        """Tell the grader at once, so that the report cannot be suppressed."""
        was, self.talking = self.talking, True
        self.send({"refused": what})
        self.talking = was

    def interrupt(self, *_):
        """Interrupt the submission, but never in the middle of a frame."""
        if self.talking:
            self.stopped = True
        elif self.busy:
            raise KeyboardInterrupt

    def ask(self, question):
        """Send a question and return the grader's answer."""
        self.talking = True
        try:
            self.send(question)
            answer = self.receive()
        finally:
            self.talking = False
        if self.stopped:
            self.stopped = False
            raise KeyboardInterrupt
        return answer

    def serve(self):
        """Answer until the grader closes the pipe."""
        actions = {"run": self.run, "look": self.look, "call": self.call}
        while True:
            message = self.receive()
            self.stopped = False
            try:
                self.busy = True
                answer = actions[message["do"]](message)
                self.busy = False
            except BaseException as problem:
                self.busy = False
                answer = {"error": explain(problem)}
            try:
                self.send({"done": answer})
            except self.wire.Unsendable as problem:
                self.send({"done": {"error": explain(problem)}})

    def run(self, message):
        """Run one cell."""
        result = self.shell.run_cell(message["source"], store_history=True)
        problem = result.error_before_exec or result.error_in_exec
        answer = {"error": explain(problem)} if problem else {}
        return answer | {"printed": self.printed.tail}

    def look(self, message):
        """Return each defined name's value, or that it is a function, or why it cannot be sent."""
        found = {}
        for name in message["names"]:
            if name not in self.shell.user_ns:
                continue
            value = self.shell.user_ns[name]
            try:
                found[name] = {"value": self.wire.encode(value)}
            except self.wire.Unsendable as problem:
                found[name] = {"function": True} if callable(value) else {"not": str(problem)}
        return {"found": found}

    def call(self, message):
        """Call a function of the submission with the values in the message."""
        wire = self.wire
        shared = []

        def call_back(number):
            """Return a function that calls back to the grader."""

            def function(*args, **kwargs):
                question = {
                    "back": number,
                    "args": wire.encode(list(args)),
                    "kwargs": wire.encode(kwargs),
                    "shared": wire.encode(shared),
                }
                answer = self.ask(question)
                wire.update(shared, wire.decode(answer["shared"], call_back))
                if "stop" in answer:
                    raise RuntimeError(answer["stop"])
                return wire.decode(answer["value"], call_back)

            return function

        args = wire.decode(message["args"], call_back)
        kwargs = wire.decode(message["kwargs"], call_back)
        space = self.shell.user_ns
        if message["in_place"]:
            shared += wire.share([*args, *kwargs.values()])
        function = space[message["name"]]
        kept = {name: space[name] for name in message["replace"] if name in space}
        space.update({name: call_back(number) for name, number in message["replace"].items()})
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = function(*args, **kwargs)
        finally:
            space.update(kept)
        try:
            sent = wire.encode(value)
        except wire.Unsendable as problem:
            raise TypeError(
                f"{message['name']} returned {problem}; the grader takes numbers, text, lists, "
                "tuples, dictionaries, arrays and tables"
            ) from None
        told = [
            [[kind.__name__ for kind in w.category.__mro__], str(w.message)[:500]]
            for w in caught[:20]
        ]
        return {"value": sent, "shared": wire.encode(shared), "warnings": told}


def main(settings, sandbox, wire, incoming, outgoing):
    """Activate the guards, the strictest last, and serve requests."""
    limits = sandbox.Limits(**settings["limits"])
    user = settings["uid"]
    sandbox.keep_to(settings["core"])
    if user is not None:
        sandbox.become(user)
    sandbox.die_with_parent()
    sandbox.limit_resources(limits, settings["others"])
    os.umask(0o077)
    for name in ("home", "tmp", "work"):
        os.mkdir(os.path.join(settings["box"], name))
    os.chdir(os.path.join(settings["box"], "work"))
    printed = Printed(limits.output_kb << 10)
    server = Server(wire, incoming, outgoing, printed)

    def refuse(what):
        server.refused(what[:300])
        raise PermissionError(f"The grader refused this: {what}.")

    server.shell = make_shell(refuse)
    # Discard the output of C code.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    sys.stdout = sys.stderr = printed
    signal.signal(signal.SIGINT, server.interrupt)
    filtered = sandbox.seccomp()
    sandbox.audit(settings["writable"], settings["hidden"], server.refused)
    found = {"walled": settings["walled"], "filtered": filtered, "user": user is not None}
    server.send({"ready": found})
    server.serve()
