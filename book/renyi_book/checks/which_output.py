"""Checks for the warm-ups and exercises of "which-output"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number, Predicate


def _p_percent(values, s):
    rates = [np.mean(values[s == group]) for group in (0, 1)]
    return min(rates) / max(rates)


def _rho(r, q=0.5):
    p = (1 - q) * r[0] + q * r[1]
    return abs(r[1] - r[0]) * np.sqrt(q * (1 - q) / (p * (1 - p)))


def _scores():
    cases = []
    for seed, shift in ((2, 0.8), (3, -0.5)):
        rng = np.random.default_rng(seed)
        s = rng.integers(2, size=4000)
        cases.append((1 / (1 + np.exp(-(rng.normal(size=4000) - 1 + shift * s))), s))
    return cases


def _fair_on_average(answer):
    scores = [np.asarray(group, dtype=float) for group in answer]
    if len(scores) != 2 or any(group.shape != (10,) for group in scores):
        return "Two lists of ten scores are needed."
    if any(group.min() < 0 or group.max() > 1 for group in scores):
        return "A score is a probability between 0 and 1."
    selected = [int(np.sum(group > 0.5)) for group in scores]
    if selected != [1, 9]:
        return f"The decision at 0.5 selects {selected[0]} and {selected[1]} people, not 1 and 9."
    means = [group.mean() for group in scores]
    if abs(means[0] - means[1]) > 1e-9:
        return (
            f"The mean scores are {means[0]:.3f} and {means[1]:.3f}, so the sampled label still "
            "depends on the group."
        )
    return None


_DECISIONS = ([0.10, 0.20], [0.80, 0.96])

EXERCISES = {
    "which-output/a": Choice(
        "the outputs that are independent of the group",
        options=("sampled label", "decision", "both", "neither"),
        answer="neither",
        why="The mean scores differ, and so do the selection rates at 0.4.",
        mistakes={
            "sampled label": "Compare the mean scores of the two groups.",
            "decision": "Compare the shares of the two groups that lie above 0.4.",
            "both": "Compare the mean scores, and the shares above 0.4.",
        },
    ),
    "which-output/b": Number(
        "a number: ρ_R of the decision and the group",
        answer=lambda: _rho([0.2, 0.4]),
        why="The difference of 0.2 is scaled by the standard deviations of group and decision.",
        mistakes=[
            Mistake(lambda: 0.2, "This is the difference between the rates, without the scaling."),
            Mistake(lambda: 0.5, "This is the ratio of the rates."),
        ],
        atol=2e-3,
    ),
    "which-output/1": Function(
        "a function `p_sampled(score, s)` that returns p% of the sampled label, as a fraction and "
        "computed without sampling",
        answer=_p_percent,
        why="A sampled label is 1 with the probability that the score gives, so its rate in a "
        "group is the group's mean score.",
        cases=_scores,
        mistakes=[
            Mistake(
                lambda score, s: _p_percent(score > 0.5, s),
                "This is p% of the decision. A sampled label is 1 with probability `score`, "
                "whether or not the score exceeds 0.5.",
            ),
            Mistake(
                lambda score, s: 1 / _p_percent(score, s),
                "The ratio is inverted: p% is at most 1.",
            ),
            Mistake(
                lambda score, s: abs(np.mean(score[s == 1]) - np.mean(score[s == 0])),
                "This is the difference between the mean scores; p% is their ratio.",
            ),
        ],
    ),
    "which-output/2": Predicate(
        "two lists of ten scores, with group 0 first",
        test=_fair_on_average,
        why="The means agree, so the sampled label is fair, but the decision is not.",
        examples=[([0.4] * 9 + [1.0], [0.51] * 9 + [0.01])],
        mistakes=[
            Mistake(([0.4] * 9 + [0.6], [0.6] * 9 + [0.4]), "still depends on the group"),
            Mistake(([0.5] * 10, [0.5] * 10), "not 1 and 9"),
            Mistake(([0.4], [0.6]), "ten scores"),
        ],
    ),
    "which-output/3": Number(
        "a list of two numbers: ρ_R of the first and of the second decision",
        answer=lambda: [_rho(r) for r in _DECISIONS],
        why="The first decision has the smaller correlation.",
        mistakes=[
            Mistake(
                lambda: [r[1] - r[0] for r in _DECISIONS],
                "These are the differences between the rates; divide by the standard deviations.",
            ),
            Mistake(
                lambda: [r[0] / r[1] for r in _DECISIONS],
                "These are the ratios of the rates.",
            ),
        ],
        atol=2e-3,
    ),
}
