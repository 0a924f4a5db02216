"""Types of exercises whose answers can be checked.

How to write the checks of a chapter, in its module (theorem_1.py for theorem-1.ipynb)::

    EXERCISES = {
        "theorem-1/1": Number(
            "a number: ρ_R of the table",                       # the form of the answer
            answer=lambda: renyi_from_joint(TABLE),             # computed, never typed
            why="It is the second singular value of Q.",        # shown when right
            mistakes=[Mistake(lambda: ..., "This is the first singular value, always 1.")],
        ),
    }

Choose the type by the result of the exercise: `Number` (a number, an array or a dictionary of
these), `Function` (run on cases that the reader does not see), `Choice` (a judgment), `Predicate`
(any object with a property, such as a counterexample). A mistake is *executable*, which means that
it is the wrong number or function itself, so that the tests can submit it and expect its
diagnosis. List the plausible mistakes. Answers and mistakes that must be computed are functions
without arguments, called when first needed; they should take less than a second. `Number`
recognizes the right number in percent, as a fraction of 1, with the wrong sign, squared, or under
a square root. In the chapter, the exercise ends with a line "Check yourself:
`check("theorem-1/1", rho)` with …", and the last code cell of its solution makes that call.
"""

import copy
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Verdict:
    """Verdict on an answer, which is true if and only if the answer is right.

    Parameters
    ----------
    right : bool
        Whether the answer is right.
    message : str
        Why the answer is right, or what is wrong with it.

    Examples
    --------
    >>> Verdict(False, "This is the square of the right number.")
    Not yet. This is the square of the right number.
    """

    right: bool
    message: str

    def __bool__(self):
        return self.right

    def __repr__(self):
        return f"{'Right.' if self.right else 'Not yet.'} {self.message}"

    def _repr_markdown_(self):
        return f"**{'Right.' if self.right else 'Not yet.'}** {self.message}"


@dataclass(frozen=True)
class Mistake:
    """Plausible wrong answer, with its diagnosis.

    Parameters
    ----------
    answer : object
        For `Number`, the wrong value or a function without arguments that computes it; for
        `Function`, the wrong function; for `Predicate`, the wrong object.
    diagnosis : str
        What went wrong and what to check, without the right answer. For `Predicate`, whose test
        writes the message itself, a part of that message.
    """

    answer: Any
    diagnosis: str


class _Refused(Exception):
    """Error raised if the answer does not have the expected form; the text says why."""


def _plural(n, what):
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _kind_of(value):
    return f"a value of type `{type(value).__name__}`"


def _spelling(text):
    """Normalize case, spaces, accents and minus signs of a text."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("−", "-"))
    return "".join(c for c in letters if not (c.isspace() or unicodedata.combining(c)))


def _value(thing):
    return thing() if callable(thing) else thing


def _numbers(answer):
    """Convert the answer to an array of floats; raise an error for anything but numbers."""
    try:
        array = np.asarray(answer)
    except ValueError:
        raise _Refused("its rows have different lengths") from None
    if array.dtype.kind == "O" and array.size and all(isinstance(x, Real) for x in array.flat):
        array = array.astype(float)
    if array.dtype.kind not in "iuf":
        raise _Refused(f"this is {_kind_of(answer)}, but real numbers are expected")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise _Refused("it contains nan or an infinite value")
    return array


def _like(answer, reference):
    """Flatten the answer to a vector, after checking that it has the form of the reference."""
    if isinstance(reference, Mapping):
        if not isinstance(answer, Mapping):
            raise _Refused(f"this is {_kind_of(answer)}, not a dictionary")
        if set(answer) != set(reference):
            keys = ", ".join(repr(k) for k in reference)
            raise _Refused(f"the keys of the dictionary should be {keys}")
        parts = []
        for key, value in reference.items():
            try:
                parts.append(_like(answer[key], value))
            except _Refused as problem:
                raise _Refused(f"at the key {key!r}, {problem}") from None
        return np.concatenate(parts)
    if isinstance(answer, Mapping):
        raise _Refused("this is a dictionary, but numbers are expected")
    array, shape = _numbers(answer), np.shape(reference)
    if array.shape != shape:
        wanted = f"shape {shape}" if shape else "a single number"
        found = f"shape {array.shape}" if array.shape else "a single number"
        raise _Refused(f"expected {wanted}, found {found}")
    return array.ravel()


def distribution(answer, shape=None):
    """Validate a table of probabilities for the test of a `Predicate`, and return an array."""
    table = _numbers(answer)
    if shape is not None and table.shape != shape:
        raise _Refused(f"expected shape {shape}, found {table.shape}")
    if (table < 0).any():
        raise _Refused("a probability is negative")
    if not np.isclose(table.sum(), 1):
        raise _Refused("the probabilities do not sum to 1")
    return table


_DISTANCES = [
    (1e-3, "very close, within a thousandth; submit the number without rounding"),
    (1e-2, "within one percent"),
    (0.1, "within ten percent"),
    (1.0, "of the right order of magnitude"),
]


def _how_far(answer, truth, wrong):
    """Describe how far off the wrong entries are, without revealing the answer."""
    scale = np.where(truth == 0, max(np.abs(truth).max(), 1.0), np.abs(truth))
    worst = (np.abs(answer - truth) / scale)[wrong].max()
    near = next((words for bound, words in _DISTANCES if worst <= bound), "far off")
    if truth.size > 1:
        which = f"{wrong.sum()} of the {truth.size} entries {'is' if wrong.sum() == 1 else 'are'}"
        return f"{which} wrong; the worst is {near}."
    return f"The number is {near}, and too {'large' if answer[0] > truth[0] else 'small'}."


# Common slips that can occur with any number, tried after the mistakes listed in the exercise.
_SLIPS = [
    (lambda truth: 100 * truth, "This is in percent; submit the fraction."),
    (lambda truth: truth / 100, "This is a fraction; submit the percentage."),
    (lambda truth: -truth, "The sign is wrong."),
    (lambda truth: truth**2, "This is the square of the right number."),
    (lambda truth: np.sqrt(np.abs(truth)), "This is the square root of the right number."),
]


@dataclass
class Number:
    """Exercise whose answer is a number, an array, or a dictionary of these.

    Parameters
    ----------
    wants : str
        Form of the answer, which completes "This check wants …".
    answer : value or callable
        Right answer, or a function without arguments that computes it.
    why : str
        Explanation for readers who got it right.
    mistakes : list of Mistake
        Plausible wrong answers.
    rtol, atol : float
        Tolerances; an answer may be off by ``atol + rtol × |right answer|``. Use a larger `atol`
        for answers that involve randomness, such as a bootstrap estimate.

    Examples
    --------
    >>> area = Number(
    ...     "a number: the area of the unit disc",
    ...     answer=np.pi,
    ...     why="The radius is one.",
    ...     mistakes=[Mistake(2 * np.pi, "This is the length of its rim.")],
    ... )
    >>> area.check(np.pi)
    Right. The radius is one.
    >>> area.check(6.283185307)
    Not yet. This is the length of its rim.
    >>> area.check(3)
    Not yet. The number is within ten percent, and too small.
    >>> area.check("pi")
    Not yet. This check wants a number: the area of the unit disc; this is a value of
    type `str`, but real numbers are expected.
    """

    wants: str
    answer: Any
    why: str
    mistakes: list[Mistake]
    rtol: float = 1e-6
    atol: float = 1e-9

    @cached_property
    def truth(self):
        return _value(self.answer)

    def check(self, answer):
        """Return the verdict on an answer."""
        try:
            given = _like(answer, self.truth)
        except _Refused as problem:
            return Verdict(False, f"This check wants {self.wants}; {problem}.")
        truth = _like(self.truth, self.truth)
        if self._close(given, truth).all():
            return Verdict(True, self.why)
        for mistake in self.mistakes:
            if self._close(given, _like(_value(mistake.answer), self.truth)).all():
                return Verdict(False, mistake.diagnosis)
        for slip, diagnosis in _SLIPS:
            slipped = slip(truth)
            # A slip that hardly changes the number is no explanation.
            if self._close(given, slipped).all() and not self._close(slipped, truth, 9).all():
                return Verdict(False, diagnosis)
        return Verdict(False, _how_far(given, truth, ~self._close(given, truth)))

    def _close(self, given, truth, times=1):
        return np.isclose(given, truth, rtol=times * self.rtol, atol=times * self.atol)


@dataclass
class Function:
    """Exercise whose answer is a function, which is run on cases and compared with ours.

    Parameters
    ----------
    wants : str
        Form of the answer, with its arguments and return value.
    answer : callable
        Right function.
    why : str
        Explanation for readers who got it right.
    cases : list of tuple, or callable
        Arguments of each call, or a function without arguments that creates them. Each call gets
        a copy, so that a function may modify its arguments.
    mistakes : list of Mistake
        Wrong functions. Each must be wrong on some of the cases, in a different way.
    rtol, atol : float
        Tolerances, as in `Number`.

    Examples
    --------
    >>> square = Function(
    ...     "a function `f(x)` that returns the square of x",
    ...     answer=lambda x: x**2,
    ...     why="It is x times x.",
    ...     cases=[(3,), (-1,)],
    ...     mistakes=[Mistake(lambda x: 2 * x, "This doubles.")],
    ... )
    >>> square.check(lambda x: x * x)
    Right. It is x times x.
    >>> square.check(lambda x: x + x)
    Not yet. This doubles.
    >>> square.check(lambda x: 1 / 0)
    Not yet. Called with (3), your function raised ZeroDivisionError: division by zero.
    """

    wants: str
    answer: Callable
    why: str
    cases: Any
    mistakes: list[Mistake]
    rtol: float = 1e-6
    atol: float = 1e-9

    @cached_property
    def truths(self):
        """Arguments of each case with our result."""
        return [(case, self.answer(*copy.deepcopy(case))) for case in _value(self.cases)]

    def check(self, answer):
        """Return the verdict on an answer."""
        if not callable(answer):
            return Verdict(False, f"This check wants {self.wants}; this is {_kind_of(answer)}.")
        results = []
        for number, (case, truth) in enumerate(self.truths, start=1):
            where = self._where(number, case)
            try:
                result = answer(*copy.deepcopy(case))
            except Exception as problem:
                text = f"{type(problem).__name__}: {problem}".rstrip(".")
                return Verdict(False, f"{where} your function raised {text}.")
            try:
                results.append(_like(result, truth))
            except _Refused as problem:
                return Verdict(
                    False,
                    f"This check wants {self.wants}. {where} your function returned something "
                    f"else: {problem}.",
                )
        wrong = self._wrong(results, self.answer)
        if not any(wrong):
            return Verdict(True, self.why)
        for mistake in self.mistakes:
            if not any(self._wrong(results, mistake.answer)):
                return Verdict(False, mistake.diagnosis)
        first = wrong.index(True)
        case, truth = self.truths[first]
        truth = _like(truth, truth)
        off = _how_far(results[first], truth, ~self._close(results[first], truth))
        score = f"{len(wrong) - sum(wrong)} of {_plural(len(wrong), 'case')} right."
        return Verdict(False, f"{score} {self._where(first + 1, case)} the result is off: {off}")

    def _wrong(self, results, function):
        """Return, for each case, whether the result differs from that of `function`."""
        ours = [function(*copy.deepcopy(case)) for case, _ in self.truths]
        return [
            not self._close(result, _like(value, truth)).all()
            for result, value, (_, truth) in zip(results, ours, self.truths)
        ]

    def _close(self, given, truth):
        return np.isclose(given, truth, rtol=self.rtol, atol=self.atol)

    def _where(self, number, case):
        arguments = ", ".join(repr(argument) for argument in case)
        if len(arguments) <= 60 and "\n" not in arguments and " at 0x" not in arguments:
            return f"Called with ({arguments}),"
        return f"In case {number} of {len(self.truths)},"


@dataclass
class Choice:
    """Question of judgment with a few possible answers.

    Parameters
    ----------
    wants : str
        Question without the options, which are appended to it.
    options : tuple of str
        Possible answers.
    answer : str
        Right option.
    why : str
        Explanation for readers who got it right.
    mistakes : dict
        Explanation for each of the other options.

    Examples
    --------
    >>> sky = Choice(
    ...     "the color of the sky",
    ...     options=("blue", "green"),
    ...     answer="blue",
    ...     why="Air scatters short waves.",
    ...     mistakes={"green": "Look up."},
    ... )
    >>> sky.check("Blue")
    Right. Air scatters short waves.
    >>> sky.check("red")
    Not yet. This check wants the color of the sky: one of 'blue', 'green'.
    """

    wants: str
    options: tuple[str, ...]
    answer: str
    why: str
    mistakes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.wants = f"{self.wants}: one of {', '.join(repr(o) for o in self.options)}"

    def check(self, answer):
        """Return the verdict on an answer."""
        chosen = _spelling(answer) if isinstance(answer, str) else None
        option = next((o for o in self.options if _spelling(o) == chosen), None)
        if option is None:
            return Verdict(False, f"This check wants {self.wants}.")
        if option == self.answer:
            return Verdict(True, self.why)
        return Verdict(False, self.mistakes[option])


@dataclass
class Predicate:
    """Exercise with many right answers that share a property, such as a counterexample.

    Parameters
    ----------
    wants : str
        Form of the answer.
    test : callable
        Function of the answer that returns None if it is right, and otherwise what is wrong with
        it. An exception also becomes a verdict. `distribution` validates tables of probabilities.
    why : str
        Explanation for readers who got it right.
    examples : list
        Right answers, for the tests.
    mistakes : list of Mistake
        Wrong answers, each with a part of the message that it must get.

    Examples
    --------
    >>> even = Predicate(
    ...     "an even number",
    ...     test=lambda n: "It is odd." if n % 2 else None,
    ...     why="It is twice a whole number.",
    ...     examples=[2],
    ...     mistakes=[Mistake(3, "odd")],
    ... )
    >>> even.check(4)
    Right. It is twice a whole number.
    >>> even.check([])
    Not yet. This check wants an even number; checking your answer raised TypeError:
    unsupported operand type(s) for %: 'list' and 'int'.
    """

    wants: str
    test: Callable
    why: str
    examples: list
    mistakes: list[Mistake]

    def check(self, answer):
        """Return the verdict on an answer."""
        try:
            problem = self.test(copy.deepcopy(answer))
        except _Refused as refusal:
            return Verdict(False, f"This check wants {self.wants}; {refusal}.")
        except Exception as error:
            text = f"{type(error).__name__}: {error}".rstrip(".")
            return Verdict(
                False, f"This check wants {self.wants}; checking your answer raised {text}."
            )
        return Verdict(True, self.why) if problem is None else Verdict(False, problem)
