"""Checks for the exercises of "renyi-pearson-hsic"."""

import numpy as np

from renyi_book.checks._kinds import Function, Mistake, Number, Predicate


def _weights(f, s, *, variance=None, hsic=4):
    q, r = s.mean(), f.mean()
    binary = q * (1 - q)
    return np.array(
        [
            binary / (r * (1 - r) if variance is None else variance(f)),
            binary / f.var(),
            hsic * binary**2,
        ]
    )


def _scores():
    rng = np.random.default_rng(15)
    cases = []
    for n, share in ((40, 0.3), (60, 0.5), (50, 0.8)):
        s = (np.arange(n) < share * n).astype(int)
        cases.append((rng.beta(1 + s, 3), s))
    return cases


def _fair_number(rates):
    r = np.asarray(rates, dtype=float)
    if r.shape != (4,):
        return f"There should be four mean scores, one for each group; yours have shape {r.shape}."
    if not ((r >= 0) & (r <= 1)).all():
        return "A mean score lies between 0 and 1."
    if not np.isclose(r @ [-1.5, -0.5, 0.5, 1.5], 0, atol=1e-9):
        return "The covariance of the score with the group's number is not zero."
    if np.ptp(r) < 0.5 - 1e-9:
        return "The covariance is zero, but the DP violation is below one half."
    (a, b), (c, d) = r.reshape(2, 2)
    if max(abs(a + b - c - d), abs(a + c - b - d)) / 2 < 0.1 - 1e-9:
        return "Neither attribute has a gap of a tenth, as in the club with two attributes."
    return None


def _entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


def _small_nmi(p, q, rho):
    return rho**2 / (_entropy(p) + _entropy(q))


EXERCISES = {
    "renyi-pearson-hsic/a": Number(
        "a number, Pearson's λ",
        answer=5 * 1.2 / 3,
        why="The weight on the squared gap is λ times the factor: 5 × 1.2 = 2 × 3.",
        mistakes=[
            Mistake(5 * 3 / 1.2, "The ratio is inverted; the larger factor needs the smaller λ."),
            Mistake(5, "At equal λ Pearson puts two and a half times the weight on the gap."),
        ],
    ),
    "renyi-pearson-hsic/b": Number(
        "a whole number",
        answer=4,
        why="Four of them compare only means, which are equal; the other two detect a difference.",
        mistakes=[
            Mistake(3, "The covariance of the log-odds is also 0 there."),
            Mistake(2, "These detect the difference; the question is which ones do not."),
        ],
    ),
    "renyi-pearson-hsic/1": Function(
        "a function `weights(f, s)` that returns the three factors in front of the squared gap: "
        "Rényi, Pearson, linear HSIC",
        answer=_weights,
        why="The three penalties differ by these factors only, so λ can be translated.",
        cases=_scores,
        mistakes=[
            Mistake(
                lambda f, s: _weights(f, s, variance=np.var),
                "The first factor divides by the variance of the score; Rényi's divides by the "
                "variance of the sampled label.",
            ),
            Mistake(
                lambda f, s: _weights(f, s, variance=lambda f: np.mean(f * (1 - f))),
                "The first factor divides by the mean of f (1 − f), the variance of the sampling; "
                "the sampled label's variance is r (1 − r) with the mean r.",
            ),
            Mistake(
                lambda f, s: _weights(f, s, hsic=1),
                "The factor of HSIC counts one class and one group, but HSIC sums the squared "
                "covariances of both classes with both groups.",
            ),
            Mistake(
                lambda f, s: _weights(f, s, hsic=2),
                "The factor of HSIC counts one class or one group, but there are two of each.",
            ),
        ],
    ),
    "renyi-pearson-hsic/2": Predicate(
        "four mean scores, those of the groups numbered 0, 1, 2, 3",
        test=_fair_number,
        why="One equation cannot keep three gaps small.",
        examples=[[0.3, 0.9, 0.0, 0.6], np.array([0.5, 0.0, 0.75, 0.25])],
        mistakes=[
            Mistake([1, 0, 0, 1], "the club with two attributes"),
            Mistake([0.1, 0.2, 0.3, 0.4], "is not zero"),
            Mistake([0.5, 0.5, 0.5, 0.5], "below one half"),
            Mistake([1.3, 1.9, 1.0, 1.6], "between 0 and 1"),
            Mistake([0.3, 0.9, 0.0], "four mean scores"),
        ],
    ),
    "renyi-pearson-hsic/3": Function(
        "a function `small_nmi(p, q, rho)` that returns a number",
        answer=_small_nmi,
        why="The information is about ρ² / 2, and NMI divides it by half the sum of the "
        "entropies.",
        cases=[(0.2, 0.67, 0.01), (0.5, 0.5, 0.03), (0.05, 0.3, 0.002)],
        mistakes=[
            Mistake(
                lambda p, q, rho: 2 * _small_nmi(p, q, rho),
                "This is the upper bound; near independence the information is half of ρ².",
            ),
            Mistake(
                lambda p, q, rho: _small_nmi(p, q, rho) * np.log(2),
                "The entropies are in bits, but the expansion of the logarithm is in natural "
                "units: use np.log in both.",
            ),
            Mistake(
                lambda p, q, rho: _small_nmi(p, q, rho) / rho,
                "This is linear in ρ; NMI is quadratic.",
            ),
        ],
    ),
}
