"""Run the tests of an assignment where the submission cannot reach: in the grader.

A test cell is ordinary code that calls the student's functions and asserts. Here it runs as it
stands, hidden tests included, in a namespace of the grader's own: the given cells have run in it,
and each name that the student was to define is bound to what the student's process holds. A value
comes over as data. A function becomes a stand-in that sends its arguments, has the process call
the real one, and returns what came back, again as data. So nothing a submission does to its own
process (patched assertions, other compilers, redefined oracles) touches a verdict, and no test's
source ever lies where a submission could read it.
"""

import ast
import builtins
import contextlib
import io
import warnings

from . import wire
from .execute import CutOff, Failed, Tampered, TimeLimit


def bound_names(source):
    """Return the names that a cell defines at its top level, imports apart."""
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names |= {
                n.id for n in ast.walk(node) if isinstance(getattr(n, "ctx", None), ast.Store)
            }
    return names


def used_names(source):
    """Return the names that a cell mentions."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def raised(problem):
    """Return a submission's error as the nearest of Python's own, for tests that catch one."""
    for name in problem.classes:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            # Some (of decoding, say) want more than a text.
            with contextlib.suppress(TypeError):
                return kind(problem.text)
    return RuntimeError(problem.text)


def category(names):
    """Return the nearest of Python's own classes of warnings."""
    for name in names:
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Warning):
            return kind
    return UserWarning


def values(*parts):
    """Return what a submission sent as values; what cannot be read was tampered with."""
    try:
        return [wire.decode(part) for part in parts]
    except (
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        OverflowError,
        RecursionError,
    ) as p:
        raise Tampered(f"it sent {p}") from None


class StandIn:
    """A function of the submission, called from a test."""

    def __init__(self, session, name):
        self.session, self.__name__ = session, name

    def __repr__(self):
        return f"<your function {self.__name__}>"

    def __call__(self, *args, **kwargs):
        """Have the submission's process call the function; return what it returned, as data."""
        functions, stopped = [], []
        shared = wire.share([*args, *kwargs.values()])

        def answer(question):
            """Serve a call back: the test gave the submission a function of its own."""
            state, given, named = values(
                question.get("shared"), question.get("args"), question.get("kwargs")
            )
            wire.update(shared, state)
            reply = {}
            try:
                number = question["back"]
                if not isinstance(number, int) or not 0 <= number < len(functions):
                    raise Tampered("it called back a function that it was not given")
                value = functions[number](*given, **named)
                reply["value"] = wire.encode(value, functions)
            except CutOff:
                raise
            except Exception as problem:
                # Kept and raised below, whatever the submission makes of it.
                stopped.append(problem)
                reply["stop"] = f"{type(problem).__name__}: {problem}"
            return reply | {"shared": wire.encode(shared, functions)}

        sent = wire.encode(list(args), functions), wire.encode(kwargs, functions)
        try:
            done = self.session.call(self.__name__, *sent, answer)
        except Failed as problem:
            if stopped:
                raise stopped[0] from None
            raise raised(problem) from problem
        if stopped:
            raise stopped[0]
        state, value = values(done.get("shared"), done.get("value"))
        wire.update(shared, state)
        for names, text in list(done.get("warnings", []))[:20]:
            warnings.warn(str(text), category(names), stacklevel=2)
        return value


class Judge:
    """The grader's side of one notebook.

    Parameters
    ----------
    session : Session
        The submission's process.
    names : set of str
        What the student's cells are to define.
    """

    def __init__(self, session, names):
        self.session, self.names = session, set(names)
        self.space = {"__name__": "__main__"}

    def give(self, source):
        """Run a given cell here, as the submission's process does there."""
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "<given>", "exec"), self.space)

    def bind(self, source):
        """Bind the student's names that a test mentions to what they hold now."""
        wanted = self.names & used_names(source)
        found = self.session.look(wanted) if wanted else {}
        for name in wanted:
            self.space.pop(name, None)
            what = found.get(name)
            if what is None:
                continue
            if what.get("function"):
                self.space[name] = StandIn(self.session, name)
            elif "value" in what:
                (self.space[name],) = values(what["value"])
            else:
                raise AssertionError(
                    f"{name} holds {what.get('not')}; the grader takes numbers, text, lists, "
                    "tuples, dictionaries, arrays and tables."
                )

    def test(self, source):
        """Run a test cell; return "" if it passes, else what the student should read.

        Raises CutOff when the submission's process is gone.
        """
        self.session.begin()
        try:
            self.bind(source)
            code = compile(source, "<test>", "exec")
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(code, self.space)
        except CutOff:
            raise
        except AssertionError as problem:
            if isinstance(problem.__cause__, Failed):
                return problem.__cause__.told()
            return str(problem) or "a test failed"
        except TimeLimit as problem:
            return str(problem)
        except Exception as problem:
            if isinstance(problem.__cause__, Failed):
                return problem.__cause__.told()
            return f"{type(problem).__name__}: {problem}"
        return ""
