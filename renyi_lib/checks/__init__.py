"""Check your own answers to the book's exercises.

`check("ch4-ex2", answer)` looks at an answer to the second exercise of chapter 4 and says that it
is right and why, which of the usual mistakes it is, or how far off it is. The checks of a chapter
are in a module of their own, loaded when first asked for.
"""

import re
from importlib import import_module
from pkgutil import iter_modules

from renyi_lib.checks._kinds import Choice, Function, Mistake, Number, Predicate, Verdict

__all__ = [
    "Choice",
    "Function",
    "Mistake",
    "Number",
    "Predicate",
    "Verdict",
    "check",
    "exercises",
]


def _chapters():
    return sorted(int(m.name[2:]) for m in iter_modules(__path__) if m.name.startswith("ch"))


def _of_chapter(chapter):
    if chapter not in _chapters():
        known = ", ".join(str(c) for c in _chapters())
        raise ValueError(f"chapter {chapter} has no exercises to check; chapters: {known}")
    return import_module(f"{__name__}.ch{chapter:02}").EXERCISES


def check(key, answer=...):
    """Check an answer to an exercise of the book.

    Parameters
    ----------
    key : str
        Chapter and exercise, such as ``"ch4-ex2"`` for the second exercise of chapter 4.
    answer : object, optional
        Your answer. Without it the check says what form of answer it wants.

    Returns
    -------
    Verdict
        True if the answer is right; it prints as a sentence that says why, or what is the matter.
        An answer of the wrong form, or a function that fails, is not an error but a verdict.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.checks import check
    >>> check("ch3-ex3")
    Not yet. This check wants a function `of_signs(rho)` that returns ρ_R of the two
    signs.
    >>> check("ch3-ex3", lambda rho: 2 / np.pi * np.arcsin(rho))
    Not yet. For a negative ρ this is negative. The maximal correlation never is: turn
    one of the functions round.
    """
    parts = re.fullmatch(r"ch(\d+)-ex\d+", key) if isinstance(key, str) else None
    if not parts:
        raise ValueError(f'key must look like "ch4-ex2" (chapter 4, exercise 2), not {key!r}')
    of_chapter = _of_chapter(int(parts.group(1)))
    if key not in of_chapter:
        raise ValueError(f"no exercise {key!r}; chapter {parts.group(1)} has {list(of_chapter)}")
    exercise = of_chapter[key]
    if answer is ...:
        return Verdict(False, f"This check wants {exercise.wants}.")
    return exercise.check(answer)


def exercises(chapter=None):
    """The exercises that can be checked, each with the form of answer that it wants.

    Parameters
    ----------
    chapter : int, optional
        One chapter only.

    Returns
    -------
    dict
        From the key of an exercise to a description of its answer, in reading order.

    Examples
    --------
    >>> from renyi_lib.checks import exercises
    >>> list(exercises(1))
    ['ch1-ex1', 'ch1-ex2', 'ch1-ex3', 'ch1-ex4']
    """
    wanted = _chapters() if chapter is None else [chapter]
    return {key: exercise.wants for c in wanted for key, exercise in _of_chapter(c).items()}
