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


def _merged_p(tables):
    counts = np.sum(tables, axis=0)
    rates = counts[1] / counts.sum(axis=0)
    return rates.min() / rates.max()


def _mean_p(tables):
    return np.mean([_merged_p([table]) for table in tables])


def _of_all(tables):
    counts = np.sum(tables, axis=0)
    shares = counts[1] / counts.sum()
    return shares.min() / shares.max()


def _weeks():
    rng = np.random.default_rng(3)
    cases = []
    for weeks in (2, 3, 6):
        people = rng.integers(40, 400, size=(weeks, 2))
        chosen = rng.binomial(people, rng.uniform(0.1, 0.6, size=(weeks, 2)))
        cases.append((list(np.stack([people - chosen, chosen], axis=1)),))
    return cases


EXERCISES = {
    "use-it/a": Number(
        "a number: the chance that at least one of the twenty passes",
        answer=lambda: 1 - 0.9**20,
        why="All twenty fail with probability 0.9 to the power of 20, which is small.",
        mistakes=[
            Mistake(lambda: 0.1, "This is the chance for one model; there are twenty tickets."),
            Mistake(
                lambda: 0.9**20,
                "This is the chance that none of them passes.",
            ),
            Mistake(
                lambda: 0.1**20,
                "This is the chance that all of them pass.",
            ),
        ],
        atol=5e-3,
    ),
    "use-it/b": Choice(
        "what happens to the set of people that is selected at one half",
        options=(
            "nothing, the order of the scores is kept",
            "it is the set that the old score selects at another threshold",
            "it can become any set",
        ),
        answer="it is the set that the old score selects at another threshold",
        why="An increasing map keeps the order, so it can only move the cut.",
        mistakes={
            "nothing, the order of the scores is kept": "The order is kept. Is the place of one "
            "half among the scores kept too?",
            "it can become any set": "Could it select somebody and leave out another with a "
            "higher old score?",
        },
    ),
    "use-it/1": Function(
        "a function `standard_error(r_0, r_1, n_0, n_1)` that returns a number",
        answer=_standard_error,
        why="Relative errors of a ratio add up as squares, and the rarer rate dominates.",
        cases=[(0.12, 0.15, 1600, 3400), (0.3, 0.3, 100, 100), (0.05, 0.2, 500, 4000)],
        mistakes=[
            Mistake(
                lambda r_0, r_1, n_0, n_1: _standard_error(r_0, r_1, n_0, n_1) ** 2,
                "This is the variance; take the root.",
            ),
            Mistake(
                lambda r_0, r_1, n_0, n_1: _standard_error(r_0, r_1, n_0, n_1) * r_1 / r_0,
                "This is the relative error, that of the logarithm: multiply by the ratio.",
            ),
            Mistake(
                lambda r_0, r_1, n_0, n_1: np.sqrt(r_0 * (1 - r_0) / n_0 + r_1 * (1 - r_1) / n_1),
                "This is the error of the difference of the two rates, not of their ratio.",
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
                "You go on after a failure. Then every later test is one more ticket in the "
                "lottery, and the promise is lost.",
            ),
            Mistake(_first_failure, "This is the first failure; the answer is the one before."),
        ],
    ),
    "use-it/3": Function(
        "a function `p_of_weeks(tables)` that returns a fraction",
        answer=_merged_p,
        why="Counts add up; ratios do not.",
        cases=_weeks,
        mistakes=[
            Mistake(
                _mean_p,
                "This is the mean of the weeks' values. Each of them is pushed below 1 by "
                "chance, and their mean too: add the counts first.",
            ),
            Mistake(
                _of_all,
                "You divided by all people. A group's rate is a share of that group.",
            ),
        ],
    ),
}
