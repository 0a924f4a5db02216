"""Checks for the exercises of "fairness-is-independence"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake
from renyi_lib.metrics import demographic_parity_violation, equal_opportunity_violation, p_rule


def _p_percent(y_pred, s):
    rates = [np.mean(y_pred[s == group]) for group in (0, 1)]
    return min(rates) / max(rates)


def _resampled(y_pred, s):
    """p% of 2000 resamples of the rows: all that matters is how often each cell is drawn."""
    shares = np.bincount(2 * s + y_pred, minlength=4) / len(s)
    n = np.random.default_rng(0).multinomial(len(s), shares, size=2000)
    rates = n[:, 1::2] / (n[:, ::2] + n[:, 1::2])
    return rates.min(axis=1) / rates.max(axis=1)


def _interval(y_pred, s):
    return np.quantile(_resampled(y_pred, s), [0.025, 0.975])


def _ninety(y_pred, s):
    return np.quantile(_resampled(y_pred, s), [0.05, 0.95])


def _one_deviation(y_pred, s):
    draws = _resampled(y_pred, s)
    return draws.mean() + draws.std() * np.array([-1, 1])


def _pairs_broken(y_pred, s):
    """As if rows of the decision and rows of the group were drawn apart."""
    rng = np.random.default_rng(0)
    draws = [_p_percent(rng.choice(y_pred, len(s)), rng.choice(s, len(s))) for _ in range(500)]
    return np.quantile(draws, [0.025, 0.975])


def _clerk_cases():
    rng = np.random.default_rng(1)
    s = rng.integers(2, size=2000)
    return [
        ((rng.random(2000) < rate[s]).astype(int), s)
        for rate in np.array([[0.1, 0.3], [0.5, 0.4]])
    ]


def _score_cases():
    """People with a score in each group, better scores for group 1, truth drawn from the score."""
    cases = []
    for seed, shift in ((2, 0.8), (3, -0.5)):
        rng = np.random.default_rng(seed)
        s = rng.integers(2, size=4000)
        score = 1 / (1 + np.exp(-(rng.normal(size=4000) - 1 + shift * s)))
        cases.append((score, (rng.random(4000) < score).astype(int), s))
    return cases


def _with_thresholds(share_of):
    """A function of (score, y, s); group g is selected at the rate share_of(y_pred, y, s)[g]."""

    def measure(score, y, s):
        shares = share_of((score > 0.5).astype(int), y, s)
        cut = np.array([np.quantile(score[s == g], 1 - shares[g]) for g in (0, 1)])
        decision = (score > cut[s]).astype(int)
        violation = equal_opportunity_violation(y, decision, sensitive_features=s)
        return [p_rule(decision, sensitive_features=s), np.mean(decision == y), violation]

    return measure


def _gap_cases():
    cases = []
    # In the last one the extremes have the same gender + race, which is no name for a group.
    for rates in ([[0.1, 0.3], [0.2, 0.7]], [[0.6, 0.2], [0.2, 0.6]], [[0.3, 0.9], [0.1, 0.4]]):
        gender, race, place = np.indices((2, 2, 20)).reshape(3, -1)
        decision = (place < 20 * np.array(rates)[gender, race]).astype(int)
        cases.append((decision, gender, race))
    return cases


def _gaps(decision, gender, race):
    pair = np.column_stack([gender, race])
    return [
        demographic_parity_violation(decision, sensitive_features=groups)
        for groups in (race, gender, pair)
    ]


def _sum_of_gaps(decision, gender, race):
    race, gender, _ = _gaps(decision, gender, race)
    return [race, gender, race + gender]


def _three_groups(decision, gender, race):
    one, other, _ = _gaps(decision, gender, race)
    merged = gender + race
    rates = [decision[merged == group].mean() for group in range(3)]
    return [one, other, max(rates) - min(rates)]


def _largest_of_gaps(decision, gender, race):
    race, gender, _ = _gaps(decision, gender, race)
    return [race, gender, max(race, gender)]


def _conflict(base_rate, r):
    return abs(r[1] - r[0]) * abs(base_rate[1] - base_rate[0])


EXERCISES = {
    "fairness-is-independence/1": Function(
        "a function `interval(y_pred, s)` that returns (low, high) for p% as a fraction; `y_pred` "
        "and `s` are arrays of 0 and 1",
        answer=_interval,
        why="The rows are drawn whole, and the middle 95 % of the resampled p% are kept.",
        cases=_clerk_cases,
        mistakes=[
            Mistake(
                _pairs_broken,
                "You drew the decisions and the groups apart, which makes them independent: p% "
                "comes out near 1. Draw rows, with the same indices for both.",
            ),
            Mistake(
                lambda y_pred, s: 2 * [_p_percent(y_pred, s)],
                "The interval has no width. Rows drawn without replacement are always the same "
                "rows; draw them with replacement.",
            ),
            Mistake(
                _ninety,
                "This is the middle 90 % of the draws: 5 % are left out on each side. For 95 % take "
                "the quantiles 0.025 and 0.975.",
            ),
            Mistake(
                _one_deviation,
                "This is one standard deviation to each side, about 68 % of the draws. "
                "Take the quantiles 0.025 and 0.975.",
            ),
        ],
        # Two bootstraps of a thousand draws differ by less, 90 % and 95 % by more.
        atol=0.01,
    ),
    "fairness-is-independence/2": Function(
        "a function `two_thresholds(score, y, s)` that returns p% as a fraction, the accuracy and "
        "the EO violation of the new rule; the clerk selects where `score` exceeds 0.5",
        answer=_with_thresholds(lambda y_pred, y, s: 2 * [y_pred.mean()]),
        why="Parity holds, and people with the same score are treated differently: disparate "
        "treatment.",
        cases=_score_cases,
        mistakes=[
            Mistake(
                _with_thresholds(lambda y_pred, y, s: [y_pred[s == g].mean() for g in (0, 1)]),
                "These are the numbers of the clerk's one threshold; give each group its own.",
            ),
            Mistake(
                _with_thresholds(lambda y_pred, y, s: 2 * [y.mean()]),
                "You select as many as deserve it. Select as many as the clerk does.",
            ),
            Mistake(
                _with_thresholds(lambda y_pred, y, s: 2 * [y_pred[s == 1].mean()]),
                "You took over the rate of group 1. In both groups the share should be that which "
                "the clerk selects overall.",
            ),
        ],
        atol=0.004,
    ),
    "fairness-is-independence/3": Function(
        "a function `gaps(decision, gender, race)` that returns the DP violations for race, for "
        "gender and for the four groups; all arguments are arrays of 0 and 1",
        answer=_gaps,
        why="The gap over the four groups is at least as large as either, and it cannot be told "
        "from the two.",
        cases=_gap_cases,
        mistakes=[
            Mistake(
                _sum_of_gaps,
                "The third is the sum of the first two. The gaps need not add up: compute the "
                "largest gap between two of the four groups.",
            ),
            Mistake(
                _three_groups,
                "You added gender and race to name the groups: that puts (0, 1) and (1, 0) together "
                "and leaves three. Give each of the four combinations a name of its own.",
            ),
            Mistake(
                _largest_of_gaps,
                "The third is the larger of the first two. It can be larger than both: compute "
                "the largest gap between two of the four groups.",
            ),
            Mistake(
                lambda decision, gender, race: _gaps(decision, race, gender),
                "The first two are exchanged: race comes first.",
            ),
        ],
    ),
    "fairness-is-independence/4": Function(
        "a function `dp_violation(base_rate, r)` that builds the joint distribution and returns "
        "its DP violation; `base_rate` = (π₀, π₁), `r` = (r₀, r₁)",
        answer=_conflict,
        why="Equalized odds turns a gap of base rates into a gap of rates, scaled by |r₁ − r₀|.",
        cases=[((0.1, 0.3), (0.2, 0.7)), ((0.6, 0.25), (0.1, 0.9)), ((0.5, 0.5), (0.3, 0.8))],
        mistakes=[
            Mistake(
                lambda base_rate, r: (r[1] - r[0]) * (base_rate[1] - base_rate[0]),
                "The size is right, but a violation has no sign: take the absolute value.",
            ),
            Mistake(
                lambda base_rate, r: _conflict(base_rate, r) / 2,
                "These are differences of joint probabilities, half of what they should be: "
                "divide by P(S = s) = 1/2.",
            ),
            Mistake(
                lambda base_rate, r: abs(r[1] - r[0]),
                "This is the gap between those who earn and those who do not. The rates r go "
                "with the truth: weigh r₀ and r₁ by each group's base rate.",
            ),
        ],
    ),
}
