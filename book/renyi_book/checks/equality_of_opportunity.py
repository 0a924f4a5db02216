"""Checks for the exercises of "equality-of-opportunity"."""

import numpy as np
from scipy.stats import t as student

from renyi_book.checks._kinds import Choice, Function, Mistake, Number, Predicate, _numbers
from renyi_book.scorecard.judging import FAILS, HOLDS, PART, UNDECIDED, of_interval

# Numbers in the warm-up exercises: the share of people with Y = 1 and the share of men among
# them; an interval in points of accuracy, and the smallest difference that matters.
_FILE = (0.4, 0.8)
_FOUND, _SMALLEST = (-0.02, 0.20), 0.3


def _unit(share, q):
    return share * q * (1 - q) / 2


def _people(seed, rates):
    """Return decisions, labels and groups of 400 people; `rates` are P(Y = 1) and TPR by group."""
    rng = np.random.default_rng(seed)
    s = (rng.random(400) < 0.7).astype(int)
    y = (rng.random(400) < np.array(rates[0])[s]).astype(int)
    decision = (rng.random(400) < np.array(rates[1])[s]).astype(int)
    return decision, y, s


def _three_arrays():
    return [_people(0, ((0.2, 0.5), (0.4, 0.7))), _people(1, ((0.6, 0.3), (0.9, 0.5)))]


def _two_arrays():
    return [(y, s) for _, y, s in _three_arrays()]


def _weight(y, s):
    return y.mean() * s[y == 1].var()


def _variances(decision, s):
    """Compute the variance of each group's share of positive decisions."""
    shares = [decision[s == group] for group in (0, 1)]
    return np.array([found.var() / len(found) for found in shares])


def _gap_error(decision, y, s):
    return np.sqrt(_variances(decision[y == 1], s[y == 1]).sum())


def _interval(mean, variance, n, share):
    half = student.ppf(0.975, n - 1) * np.sqrt(variance * (1 / n + share))
    return [mean, mean - half, mean + half]


def _paired(a, b, share):
    d = np.asarray(a) - np.asarray(b)
    return _interval(d.mean(), d.var(ddof=1), len(d), share)


def _unpaired(a, b, share):
    variance = np.var(a, ddof=1) + np.var(b, ddof=1)
    return _interval(np.mean(a) - np.mean(b), variance, len(a), share)


def _equal_means(answer):
    """Return None if the means agree and all men, but at most half of the women, are found."""
    if set(answer) != {"women", "men"}:
        return "The keys of the dictionary should be 'women' and 'men'."
    women, men = (_numbers(answer[name]).ravel() for name in ("women", "men"))
    if not len(women) or not len(men):
        return "Each group needs at least one score."
    if min(women.min(), men.min()) < 0 or max(women.max(), men.max()) > 1:
        return "A score is a probability, between 0 and 1."
    if abs(women.mean() - men.mean()) > 1e-9:
        return "The mean scores of the two groups differ, so the penalty is not 0."
    if not (men > 0.5).all():
        return "Not all men are found, so raise each of their scores above one half."
    if np.mean(women > 0.5) > 0.5:
        return "More than half of the women are found."
    return None


EXERCISES = {
    "equality-of-opportunity/a": Number(
        "a number: u, the weight of the squared correlation at the program's λ = 1",
        answer=lambda: _unit(*_FILE),
        why="It is the share with Y = 1, times q (1 − q) among them, times one half.",
        mistakes=[
            Mistake(
                lambda: 2 * _unit(*_FILE),
                "The factor 1/2 is missing. The program's gradient lacks a factor of 2.",
            ),
            Mistake(
                lambda: _unit(1.0, _FILE[1]),
                "The loss is a mean over all people, but the fit is only over those with Y = 1: "
                "multiply by their share.",
            ),
            Mistake(
                lambda: _FILE[0] * _FILE[1] / 2,
                "The variance of S needs both shares, the men's and the women's.",
            ),
        ],
    ),
    "equality-of-opportunity/b": Choice(
        "the verdict",
        options=(HOLDS, PART, FAILS, UNDECIDED),
        answer=of_interval("difference", *_FOUND, _SMALLEST),
        why="Zero is in the interval, and all differences that matter are outside.",
        mistakes={
            HOLDS: "Zero is in the interval, so the sign of the difference is not known.",
            PART: "Only an interval without 0 supports the sign, and with it a part of the claim.",
            UNDECIDED: "The interval is short enough to exclude what matters, so look at its "
            "upper end.",
        },
    ),
    "equality-of-opportunity/1": Predicate(
        'a dictionary `{"women": [...], "men": [...]}` of scores between 0 and 1',
        test=_equal_means,
        why="The penalty compares means, but the decision counts the scores above one half.",
        examples=[
            {"women": [0.95, 0.45, 0.45, 0.45], "men": [0.575, 0.575]},
            {"women": [1.0, 0.2], "men": [0.6]},
        ],
        mistakes=[
            Mistake({"women": [0.9, 0.4], "men": [0.9]}, "mean scores of the two groups differ"),
            Mistake({"women": [0.5, 0.5], "men": [0.9, 0.1]}, "Not all men are found"),
            Mistake({"women": [0.6, 0.6], "men": [0.6]}, "More than half of the women are found"),
            Mistake({"women": [1.6, 0.4], "men": [1.0]}, "between 0 and 1"),
        ],
    ),
    "equality-of-opportunity/2": Function(
        "a function `weight(y, s)` of two arrays of 0 and 1 that returns a number",
        answer=_weight,
        why="The explained part is n₁ q (1 − q) ρ², and dividing by N leaves P(Y = 1) q (1 − q).",
        cases=_two_arrays,
        mistakes=[
            Mistake(
                lambda y, s: _weight(y, s) / 2,
                "This is the authors' unit. The half comes from their gradient, but your "
                "colleague's gradient is right.",
            ),
            Mistake(
                lambda y, s: s[y == 1].var(),
                "This divides by the number of rows with Y = 1. The mean loss is over all rows.",
            ),
            Mistake(
                lambda y, s: y.mean() * s.var(),
                "This is the variance of S over all rows; the fit is over the rows with Y = 1.",
            ),
            Mistake(
                lambda y, s: -_weight(y, s),
                "This is the sign of the *unexplained* part, which decreases as ρ² grows.",
            ),
        ],
    ),
    "equality-of-opportunity/3": Function(
        "a function `gap_error(decision, y, s)` of three arrays of 0 and 1 that returns a number",
        answer=_gap_error,
        why="The variances of two independent shares add up, each with its own rate and number.",
        cases=_three_arrays,
        mistakes=[
            Mistake(
                lambda decision, y, s: np.sqrt(_variances(decision, s).sum()),
                "This is the error of the gap over all people; equality of opportunity considers "
                "only those with Y = 1.",
            ),
            Mistake(
                lambda decision, y, s: _variances(decision[y == 1], s[y == 1]).sum(),
                "This is the variance; the standard error is its square root.",
            ),
            Mistake(
                lambda decision, y, s: np.sqrt(_variances(decision[y == 1], s[y == 1])).sum(),
                "You added the standard errors of the two shares. Variances add up.",
            ),
        ],
        rtol=0.02,
    ),
    "equality-of-opportunity/4": Function(
        "a function `paired_interval(a, b, share)` that returns mean, low and high",
        answer=_paired,
        why="What the splits have in common cancels in the differences before their spread is "
        "measured.",
        cases=[
            ([85.2, 84.9, 85.1, 85.0, 84.7], [85.1, 84.9, 84.9, 85.0, 84.6], 0.5),
            ([0.7, 0.9, 0.8], [0.75, 0.85, 0.9], 0.25),
        ],
        mistakes=[
            Mistake(
                lambda a, b, share: _paired(a, b, 0),
                "The variance must be enlarged, because splits share rows. Add `share` to 1 / n.",
            ),
            Mistake(
                _unpaired,
                "This adds the variances of `a` and `b`, as if the splits were different. "
                "Take the variance of the differences.",
            ),
            Mistake(
                lambda a, b, share: _paired(b, a, share),
                "This is b − a; the exercise asks for a − b.",
            ),
            Mistake(
                lambda a, b, share: _interval(
                    np.mean(a) - np.mean(b), np.var(np.subtract(a, b)), len(a), share
                ),
                "The variance divides by n; with so few splits it should divide by n − 1.",
            ),
        ],
    ),
}
