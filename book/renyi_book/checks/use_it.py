"""Checks for the warm-ups and exercises of "use-it"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number


def _standard_error(r_0, r_1, n_0, n_1):
    spread = (1 - r_0) / (n_0 * r_0) + (1 - r_1) / (n_1 * r_1)
    return r_0 / r_1 * np.sqrt(spread)


def _fixed_sequence(bounds, target):
    passed = -1
    for i, bound in enumerate(bounds):
        if bound < target:
            break
        passed = i
    return passed


def _last_success(bounds, target):
    passed = np.flatnonzero(np.asarray(bounds) >= target)
    return int(passed[-1]) if passed.size else -1


def _first_failure(bounds, target):
    return _fixed_sequence(bounds, target) + 1


def _broken_shares(kept, broken, none):
    return np.array([broken / (kept + broken + none), broken / (kept + broken)])


EXERCISES = {
    "use-it/a": Number(
        "a number: the probability that at least one of the twenty passes",
        answer=lambda: 1 - 0.9**20,
        why="All twenty fail with probability 0.9 to the power of 20, which is small.",
        mistakes=[
            Mistake(lambda: 0.1, "This is the probability for one model, but there are twenty."),
            Mistake(
                lambda: 0.9**20,
                "This is the probability that none of them passes.",
            ),
            Mistake(
                lambda: 0.1**20,
                "This is the probability that all of them pass.",
            ),
        ],
        atol=5e-3,
    ),
    "use-it/b": Choice(
        "what happens to the set of people selected at one half",
        options=(
            "nothing, the order of the scores is kept",
            "it is the set that the old score selects at another threshold",
            "it can become any set",
        ),
        answer="it is the set that the old score selects at another threshold",
        why="An increasing function keeps the order, so it can only move the threshold.",
        mistakes={
            "nothing, the order of the scores is kept": "The order is kept, but does one half "
            "keep its place among the scores?",
            "it can become any set": "Could it select one person and leave out another "
            "with a higher old score?",
        },
    ),
    "use-it/1": Function(
        "a function `standard_error(r_0, r_1, n_0, n_1)` that returns a number",
        answer=_standard_error,
        why="The squared relative errors of the two rates add up, and the smaller rate dominates.",
        cases=[(0.12, 0.15, 1600, 3400), (0.3, 0.3, 100, 100), (0.05, 0.2, 500, 4000)],
        mistakes=[
            Mistake(
                lambda r_0, r_1, n_0, n_1: _standard_error(r_0, r_1, n_0, n_1) ** 2,
                "This is the variance. Take its square root.",
            ),
            Mistake(
                lambda r_0, r_1, n_0, n_1: _standard_error(r_0, r_1, n_0, n_1) * r_1 / r_0,
                "This is the relative error. Multiply it by the ratio.",
            ),
            Mistake(
                lambda r_0, r_1, n_0, n_1: np.sqrt(r_0 * (1 - r_0) / n_0 + r_1 * (1 - r_1) / n_1),
                "This is the error of the difference between the two rates, not of their ratio.",
            ),
        ],
    ),
    "use-it/2": Function(
        "a function `fixed_sequence(bounds, target)` that returns a position, or −1",
        answer=_fixed_sequence,
        why="The first failure ends the search, whatever would come after it.",
        cases=[
            ([0.9, 0.86, 0.83, 0.78, 0.7], 0.8),
            ([0.9, 0.79, 0.85, 0.82], 0.8),
            ([0.75, 0.85], 0.8),
            ([0.81, 0.82], 0.8),
        ],
        mistakes=[
            Mistake(
                _last_success,
                "You continue after a failure. Every later test can then succeed by chance, and "
                "the guarantee is lost.",
            ),
            Mistake(
                _first_failure,
                "This is the position of the first failure. The answer is the position before it.",
            ),
        ],
    ),
    "use-it/3": Function(
        "a function `broken_shares(kept, broken, none)` that returns two shares",
        answer=_broken_shares,
        why="The confidence bounds the first share only.",
        cases=[(12, 8, 60), (64, 1, 15), (28, 4, 52)],
        mistakes=[
            Mistake(
                lambda kept, broken, none: _broken_shares(kept, broken, none)[::-1],
                "Both shares are right, but the share of all attempts comes first.",
            ),
            Mistake(
                lambda kept, broken, none: 1 - _broken_shares(kept, broken, none),
                "These are the shares that were not broken.",
            ),
            Mistake(
                lambda kept, broken, none: np.array([broken / (kept + broken + none)] * 2),
                "The second share is taken among the guarantees that were given, so attempts "
                "without a guarantee do not count in it.",
            ),
        ],
    ),
}
