"""Every exercise: its answer is right, each mistake gets its diagnosis, nonsense is refused."""

import numpy as np
import pytest

from renyi_book.checks import Choice, Function, Number, Predicate, check, exercises
from renyi_book.checks import _of_chapter as exercises_of

ALL = {key: exercises_of(key.partition("/")[0])[key] for key in exercises()}
KEYS = list(ALL)


def value(thing):
    return thing() if callable(thing) else thing


def right_answers(exercise):
    if isinstance(exercise, Predicate):
        return exercise.examples
    return [value(exercise.answer) if isinstance(exercise, Number) else exercise.answer]


def known_mistakes(exercise):
    """Pairs of a wrong answer and the diagnosis that it must get."""
    if isinstance(exercise, Choice):
        return list(exercise.mistakes.items())
    return [
        (value(m.answer) if isinstance(exercise, Number) else m.answer, m.diagnosis)
        for m in exercise.mistakes
    ]


@pytest.mark.parametrize("key", KEYS)
def test_the_answer_is_right(key):
    answers = right_answers(ALL[key])
    assert answers
    for answer in answers:
        verdict = check(key, answer)
        assert verdict, verdict
        assert ALL[key].why in repr(verdict)


@pytest.mark.parametrize("key", KEYS)
def test_every_mistake_gets_its_own_diagnosis(key):
    mistakes = known_mistakes(ALL[key])
    assert mistakes
    for answer, diagnosis in mistakes:
        verdict = check(key, answer)
        assert not verdict
        assert diagnosis in verdict.message
    assert len({diagnosis for _, diagnosis in mistakes}) == len(mistakes)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "x",
        object(),
        True,
        np.zeros((7, 1, 3)),
        {"x": 1},
        np.nan,
        lambda: 1 / 0,
        lambda *a: None,
    ],
    ids=["None", "text", "object", "truth value", "shape", "keys", "nan", "failing", "no result"],
)
def test_nonsense_is_refused_in_words(key, nonsense):
    verdict = check(key, nonsense)
    assert not verdict
    assert len(verdict.message) > 20


@pytest.mark.parametrize("key", KEYS)
def test_without_an_answer_the_check_says_what_it_wants(key):
    verdict = check(key)
    assert not verdict
    assert ALL[key].wants in verdict.message


@pytest.mark.parametrize("key", KEYS)
def test_messages_are_sentences(key):
    exercise = ALL[key]
    texts = [exercise.why]
    if isinstance(exercise, Choice):
        texts += exercise.mistakes.values()
    elif not isinstance(exercise, Predicate):
        texts += [mistake.diagnosis for mistake in exercise.mistakes]
    for text in texts:
        assert text == text.strip()
        assert text.endswith((".", "?"))
    assert not exercise.wants.endswith(".")


@pytest.mark.parametrize("key", [k for k in KEYS if isinstance(ALL[k], Choice)])
def test_every_wrong_option_has_a_diagnosis(key):
    exercise = ALL[key]
    assert set(exercise.mistakes) == set(exercise.options) - {exercise.answer}


@pytest.mark.parametrize("key", [k for k in KEYS if isinstance(ALL[k], Function)])
def test_a_function_that_is_right_on_one_case_only_is_not_right(key):
    exercise = ALL[key]
    first = exercise.truths[0][1]
    constant = check(key, lambda *arguments: first)
    assert not constant


def test_the_exercises_of_a_chapter_are_numbered_in_order():
    found = {}
    for key in KEYS:
        chapter, _, number = key.partition("/")
        found.setdefault(chapter, []).append(number)
    for chapter, numbers in found.items():
        warm_ups = [number for number in numbers if number.isalpha()]
        counted = [number for number in numbers if not number.isalpha()]
        assert warm_ups == list("abcdefgh"[: len(warm_ups)]), chapter
        assert counted == [str(k + 1) for k in range(len(counted))], chapter
