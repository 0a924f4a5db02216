"""Run the tests of an assignment in the grader, out of reach of the submission.

A test cell is ordinary code that calls the student's functions and asserts. Here it runs
unchanged, including hidden tests, in a namespace of the grader in which the given cells have been
run. Each name that the student had to define is bound to its value in the student's process.
Values are transferred as data. A function becomes a stand-in that sends its arguments, lets the
process call the real function, and returns the result, again as data. Therefore nothing that a
submission does to its own process (patched assertions, other compilers, redefined oracles) affects
a verdict, and a submission can never read the source of a test.
"""

import ast
import builtins
import contextlib
import inspect
import io
import warnings

from . import wire
from .execute import LONGEST, CutOff, Failed, Tampered, TimeLimit, cut


def bound_names(source):
    """Return the names that a cell defines at its top level, without imports."""
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
    """Convert a submission's error to the closest built-in error, for tests that catch one."""
    for name in problem.classes:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            # Some errors, such as decoding errors, require more than a text.
            with contextlib.suppress(TypeError):
                return kind(problem.text)
    return RuntimeError(problem.text)


def category(names):
    """Return the closest built-in class of warnings."""
    for name in names:
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Warning):
            return kind
    return UserWarning


def values(*parts):
    """Decode the values that a submission sent; unreadable ones are a sign of tampering."""
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
        raise Tampered(f"it sent {cut(p, 200)}") from None


class StandIn:
    """Stand-in for a function of the submission, called from a test.

    The function gets copies of its arguments, so that it cannot change the values that a test
    compares; only a function declared to work in place returns its changed arguments. `replace`
    contains functions that replace those of the submission during the call.
    """

    def __init__(self, session, name, in_place=False, replace=None):
        self.session, self.__name__ = session, name
        self.in_place, self.replace = in_place, replace or {}

    def __repr__(self):
        return f"<your function {self.__name__}>"

    def __call__(self, *args, **kwargs):
        """Let the submission's process call the function, and return the result as data."""
        functions, stopped = [], []
        shared = wire.share([*args, *kwargs.values()]) if self.in_place else []

        def answer(question):
            """Answer a callback to a function that the test passed to the submission."""
            state, given, named = values(
                question.get("shared"), question.get("args"), question.get("kwargs")
            )
            wire.update(shared, state or [])
            reply = {}
            number = question["back"]
            if type(number) is not int or not 0 <= number < len(functions):
                raise Tampered("it called back a function that it was not given")
            try:
                value = functions[number](*given, **named)
                reply["value"] = wire.encode(value, functions)
            except CutOff:
                raise
            except Exception as problem:
                reply["stop"] = cut(f"{type(problem).__name__}: {problem}", LONGEST)
                if functions[number] not in self.replace.values():
                    # Store the error and raise it below, even if the submission suppresses it.
                    stopped.append(problem)
            return reply | {"shared": wire.encode(shared, functions)}

        sent = wire.encode(list(args), functions), wire.encode(kwargs, functions)
        places = {}
        for name, function in self.replace.items():
            places[name] = len(functions)
            functions.append(function)
        try:
            done = self.session.call(self.__name__, *sent, answer, self.in_place, places)
        except Failed as problem:
            if stopped:
                raise stopped[0] from None
            raise raised(problem) from problem
        if stopped:
            raise stopped[0]
        state, value = values(done.get("shared"), done.get("value"))
        wire.update(shared, state or [])
        try:
            told = [(category(names), cut(text, LONGEST)) for names, text in done["warnings"][:20]]
        except (KeyError, TypeError, ValueError):
            raise Tampered("it sent invalid warnings") from None
        for kind, text in told:
            warnings.warn(text, kind, stacklevel=2)
        return value


class Judge:
    """Grader's side of one notebook.

    Parameters
    ----------
    session : Session
        The submission's process.
    defined : list of notebooks.Defined
        Names that the student's cells must define.
    """

    def __init__(self, session, defined):
        self.session, self.defined = session, list(defined)
        self.names = set().union(*(each.names for each in self.defined))
        self.space = {"__name__": "__main__"}
        self.failed = set()  # tasks in which a test has failed
        self.references = {}

    def give(self, source):
        """Run a given cell here, as in the submission's process."""
        with quiet():
            exec(compile(source, "<given>", "exec"), self.space)

    def bind(self, source, replace):
        """Bind the student's names that a test uses to their current values."""
        wanted = self.names & used_names(source)
        found = self.session.look(wanted) if wanted else {}
        in_place = set().union(*(each.names for each in self.defined if each.in_place))
        for name in wanted:
            self.space.pop(name, None)
            what = found.get(name)
            if name in replace:
                self.space[name] = replace[name]
            elif not isinstance(what, dict):
                continue
            elif what.get("function"):
                self.space[name] = StandIn(self.session, name, name in in_place, replace)
            elif "value" in what:
                (self.space[name],) = values(what["value"])
            else:
                raise AssertionError(
                    f"{name} is {cut(what.get('not'), 200)}; the grader takes numbers, text, "
                    "lists, tuples, dictionaries, arrays and tables."
                )

    def reference(self, task):
        """Return {name: function} of the reference for earlier tasks with failed tests."""
        found = {}
        for each in self.defined:
            if each.task in self.failed and each.task != task and each.replaceable:
                if each.cell not in self.references:
                    space = dict(self.space)
                    with quiet():
                        exec(compile(each.code, "<reference>", "exec"), space)
                    self.references[each.cell] = {
                        name: space[name]
                        for name in each.names
                        if inspect.isfunction(space.get(name))
                    }
                found |= self.references[each.cell]
        return found

    def test(self, source, task=0):
        """Run a test cell; return "" if it passes, and otherwise a message for the student.

        A mistake is penalized once. A test that fails after mistakes in earlier tasks is therefore
        run again with the reference functions of those tasks. Raises CutOff if the submission's
        process has ended.
        """
        message = self.attempt(source, {})
        if message:
            replace = self.reference(task)
            if replace:
                message = self.attempt(source, replace)
        if message:
            self.failed.add(task)
        return message

    def attempt(self, source, replace):
        """Run a test cell once, with some functions replaced; return a message like `test`."""
        self.session.begin()
        try:
            self.bind(source, replace)
            code = compile(source, "<test>", "exec")
            with quiet(), self.session.patience():
                exec(code, self.space)
        except CutOff:
            raise
        except AssertionError as problem:
            if isinstance(problem.__cause__, Failed):
                return problem.__cause__.told()
            return cut(problem, LONGEST) or "a test failed"
        except TimeLimit as problem:
            return str(problem)
        except Exception as problem:
            if isinstance(problem.__cause__, Failed):
                return problem.__cause__.told()
            return cut(f"{type(problem).__name__}: {problem}", LONGEST)
        return ""


@contextlib.contextmanager
def quiet():
    """Suppress output and warnings."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
