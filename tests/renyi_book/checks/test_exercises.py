"""Every exercise accepts its answer, diagnoses each mistake and rejects nonsense."""

import numpy as np
import pytest

from renyi_book.checks import Choice, Function, Number, Predicate, check, exercises
from renyi_book.checks import _of_chapter as exercises_of

ALL = {}
for key in exercises():
    ALL.setdefault(key.partition("/")[0], []).append(key)
NONSENSE = [
    None,
    "x",
    object(),
    True,
    np.zeros((7, 1, 3)),
    {"x": 1},
    np.nan,
    lambda: 1 / 0,
    lambda *a: None,
]


@pytest.fixture(params=ALL)
def chapter(request):
    """The exercises of a chapter by their keys."""
    return exercises_of(request.param)


def value(thing):
    return thing() if callable(thing) else thing


def right_answers(exercise):
    if isinstance(exercise, Predicate):
        return exercise.examples
    return [value(exercise.answer) if isinstance(exercise, Number) else exercise.answer]


def known_mistakes(exercise):
    """Pairs of a wrong answer and its diagnosis."""
    if isinstance(exercise, Choice):
        return list(exercise.mistakes.items())
    return [
        (value(m.answer) if isinstance(exercise, Number) else m.answer, m.diagnosis)
        for m in exercise.mistakes
    ]


def test_right_answers_are_accepted(chapter):
    for key, exercise in chapter.items():
        answers = right_answers(exercise)
        assert answers, key
        for answer in answers:
            verdict = check(key, answer)
            assert verdict, (key, verdict)
            assert exercise.why in repr(verdict)


def test_each_mistake_gets_its_own_diagnosis(chapter):
    for key, exercise in chapter.items():
        mistakes = known_mistakes(exercise)
        assert mistakes, key
        for answer, diagnosis in mistakes:
            verdict = check(key, answer)
            assert not verdict, key
            assert diagnosis in verdict.message, key
        assert len({diagnosis for _, diagnosis in mistakes}) == len(mistakes), key


def test_invalid_answers_get_a_message(chapter):
    for key in chapter:
        for nonsense in NONSENSE:
            verdict = check(key, nonsense)
            assert not verdict, (key, nonsense)
            assert len(verdict.message) > 20, (key, nonsense)


def test_check_without_an_answer_describes_the_answer(chapter):
    for key, exercise in chapter.items():
        verdict = check(key)
        assert not verdict, key
        assert exercise.wants in verdict.message, key


def test_messages_are_full_sentences(chapter):
    for key, exercise in chapter.items():
        texts = [exercise.why]
        if isinstance(exercise, Choice):
            texts += exercise.mistakes.values()
        elif not isinstance(exercise, Predicate):
            texts += [mistake.diagnosis for mistake in exercise.mistakes]
        for text in texts:
            assert text == text.strip(), key
            assert text.endswith((".", "?")), key
        assert not exercise.wants.endswith("."), key


def test_every_wrong_option_has_a_diagnosis(chapter):
    for key, exercise in chapter.items():
        if isinstance(exercise, Choice):
            assert set(exercise.mistakes) == set(exercise.options) - {exercise.answer}, key


def test_constant_function_is_not_accepted_as_an_answer(chapter):
    for key, exercise in chapter.items():
        if isinstance(exercise, Function):
            first = exercise.truths[0][1]
            assert not check(key, lambda *arguments, first=first: first), key


@pytest.mark.parametrize("keys", ALL.values(), ids=ALL)
def test_exercises_are_numbered_in_order(keys):
    numbers = [key.partition("/")[2] for key in keys]
    warm_ups = [number for number in numbers if number.isalpha()]
    counted = [number for number in numbers if not number.isalpha()]
    assert warm_ups == list("abcdefgh"[: len(warm_ups)])
    assert counted == [str(k + 1) for k in range(len(counted))]
