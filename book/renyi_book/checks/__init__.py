"""Check your own answers to the book's exercises.

`check("theorem-1/2", answer)` evaluates an answer to the second exercise of the chapter whose file
is called theorem-1. The verdict says that the answer is right and why, which common mistake it is,
or how far off it is. Each chapter's checks are in a separate module, which is loaded on demand.
"""

import re
from importlib import import_module

from renyi_book.chapters import chapters
from renyi_book.checks._kinds import Choice, Function, Mistake, Number, Predicate, Verdict

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


def _of_chapter(slug):
    if slug not in chapters():
        raise ValueError(f"there is no chapter {slug!r}; the chapters are {', '.join(chapters())}")
    return import_module(f"{__name__}.{slug.replace('-', '_')}").EXERCISES


def check(key, answer=...):
    """Check an answer to an exercise of the book.

    Parameters
    ----------
    key : str
        Chapter and exercise, such as ``"theorem-1/2"`` for the second exercise of "theorem-1", or
        ``"theorem-1/a"`` for its first warm-up.
    answer : object, optional
        Your answer. If omitted, the verdict describes the expected form of the answer.

    Returns
    -------
    Verdict
        Verdict, which is true if the answer is right and prints as a sentence that says why, or
        what is wrong. An answer of the wrong form, or a function that fails, gives a verdict
        rather than an error.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_book.checks import check
    >>> check("maximal-correlation/3")
    Not yet. This check wants a function `of_signs(rho)` that returns ρ_R of the two
    signs.
    >>> check("maximal-correlation/3", lambda rho: 2 / np.pi * np.arcsin(rho))
    Not yet. For a negative ρ this is negative. The maximal correlation never is, because
    one of the functions can change its sign.
    """
    parts = re.fullmatch(r"([\w-]+)/(\d+|[a-z])", key) if isinstance(key, str) else None
    if not parts:
        raise ValueError(
            f'key must look like "theorem-1/2" (exercise 2 of the chapter theorem-1), not {key!r}'
        )
    slug, number = parts.groups()
    of_chapter = _of_chapter(slug)
    if key not in of_chapter:
        raise ValueError(
            f"there is no exercise {number} in {slug!r}; the exercises are {list(of_chapter)}"
        )
    exercise = of_chapter[key]
    if answer is ...:
        return Verdict(False, f"This check wants {exercise.wants}.")
    return exercise.check(answer)


def exercises(chapter=None):
    """Return the exercises that can be checked, each with the expected form of its answer.

    Parameters
    ----------
    chapter : str, optional
        Slug of a single chapter.

    Returns
    -------
    dict
        Description of the answer for each key of an exercise, in reading order.

    Examples
    --------
    >>> from renyi_book.checks import exercises
    >>> list(exercises("theorem-1"))
    ['theorem-1/a', 'theorem-1/b', 'theorem-1/1', 'theorem-1/2', 'theorem-1/3', 'theorem-1/4']
    """
    wanted = chapters() if chapter is None else [chapter]
    return {key: exercise.wants for c in wanted for key, exercise in _of_chapter(c).items()}
