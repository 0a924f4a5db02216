"""Checks for the exercises of "what-others-miss"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Mistake, Number, Predicate, distribution


def _window(rho, variance_of_square):
    """Where t² = ρ² (t² + a), with a the variance of U² over that of 2U."""
    return np.sqrt(rho**2 * 0.75 * variance_of_square / (1 - rho**2))


def _zafar(group):
    for delta in (0.4, 0.25, 0.1, 0.01):
        values, shares = (np.asarray(part, dtype=float) for part in group(delta))
        if values.shape != shares.shape:
            return "There should be as many probabilities as values."
        distribution(shares)
        if not np.isclose(values @ shares, 0, atol=1e-9):
            return f"At δ = {delta} the mean is not zero: a rare value must be a large one."
        share = shares[values > 0].sum()
        if np.isclose(share, delta):
            return (
                f"At δ = {delta} a share δ is positive. That is the other group; hand over "
                "the one with the share 1 − δ."
            )
        if not np.isclose(share, 1 - delta):
            return f"At δ = {delta} the share of positive scores is not 1 − δ."
    return None


def _badge(share=0.01):
    P = np.zeros((5, 5))
    P[0, 0] = share
    P[1:, 1:] = (1 - share) / 16
    return P


def _information(P):
    independent = np.outer(P.sum(axis=1), P.sum(axis=0))
    seen = P > 0
    return np.sum(P[seen] * np.log(P[seen] / independent[seen]))


def _entropy(p):
    p = p[p > 0]
    return -np.sum(p * np.log(p))


def _nmi(P):
    return 2 * _information(P) / (_entropy(P.sum(axis=0)) + _entropy(P.sum(axis=1)))


def _not_convex(pair):
    one, other = (distribution(table) for table in pair)
    if one.ndim != 2 or one.shape != other.shape:
        return "The two tables should be matrices of the same shape."
    if not np.allclose(one.sum(axis=0), other.sum(axis=0)):
        return "The group shares, the sums of the columns, differ between the two; they are fixed."
    if min(np.count_nonzero(t.sum(axis=1)) for t in (one, other)) == 1:
        return "In one of the tables everybody has the same label, so its NMI is 0 / H or 0 / 0."
    bulge = _nmi((one + other) / 2) - (_nmi(one) + _nmi(other)) / 2
    if bulge <= 1e-9:
        return (
            "At the midpoint NMI is not above the mean of the two, so nothing is shown. Let a "
            "label that only one group gets grow from almost nothing."
        )
    return None


def _growing(*sizes):
    return [[[0.9, 0.1 - e], [0, e]] for e in sizes]


EXERCISES = {
    "what-others-miss/1": Number(
        "a number: the t at which the correlation passes 0.9",
        answer=lambda: _window(0.9, 1 / 5 - 1 / 9),
        why="Solve t² = 0.81 (t² + 1/15): a quarter of the window's width is nearly enough.",
        mistakes=[
            Mistake(
                lambda: _window(np.sqrt(0.9), 1 / 5 - 1 / 9),
                "This solves ρ² = 0.9; the correlation itself should be 0.9.",
            ),
            Mistake(
                lambda: _window(0.9, 1 / 5),
                "For the variance of U² take (E U²)² off E U⁴.",
            ),
            Mistake(
                lambda: _window(0.9, 1 / 5 - 1 / 9) / 2,
                "This is in widths of the window, which is 2 wide; hand over t.",
            ),
        ],
        rtol=2e-3,
    ),
    "what-others-miss/2": Predicate(
        "a function `group(delta)` that returns the values of the score in one group, and their "
        "probabilities; the share 1 − δ should be positive",
        test=_zafar,
        why="The means agree at zero while p% = δ / (1 − δ) goes to 0, and of the three kernels "
        "only the Gaussian sees it.",
        examples=[
            lambda d: ([d, d - 1], [1 - d, d]),
            lambda d: ([1.0, (d - 1) / d], [1 - d, d]),
        ],
        mistakes=[
            Mistake(lambda d: ([1, -1], [1 - d, d]), "the mean is not zero"),
            Mistake(lambda d: ([1 - d, -d], [d, 1 - d]), "That is the other group"),
            Mistake(lambda d: ([1, -1], [0.5, 0.5]), "the share of positive scores is not"),
            Mistake(lambda d: ([d, d - 1], [1, d]), "do not sum to 1"),
            Mistake(lambda d: ([d, d - 1], [1.0]), "as many probabilities as values"),
        ],
    ),
    "what-others-miss/3": Choice(
        "the measure that does not tell these 500 samples from independent ones",
        options=("HSIC, h = 1", "HSIC, h = 1/8", "NMI", "Rényi"),
        answer="HSIC, h = 1",
        why="Shuffled pairs reach its value again and again; a bandwidth as wide as the picture "
        "averages the squares away.",
        mistakes={
            "HSIC, h = 1/8": "With a bandwidth narrower than the squares HSIC sees them; no "
            "shuffled pair should reach its value.",
            "NMI": "NMI on ten bins sees the squares; did you shuffle one variable only?",
            "Rényi": "Some function of the bins sees the squares; did you shuffle one only?",
        },
    ),
    "what-others-miss/4": Number(
        "two numbers, NMI and ρ_R, for one badge in a hundred",
        answer=lambda: [_nmi(_badge()), 1.0],
        why="ρ_R asks whether anything is shared for certain, NMI how much is shared on average.",
        mistakes=[
            Mistake(
                lambda: [_information(_badge()), 1.0],
                "The first is the mutual information in nats; divide it by the mean of the two "
                "entropies.",
            ),
            Mistake(
                lambda: [_information(_badge()) / np.log(2), 1.0],
                "The first is the mutual information in bits; divide it by the mean of the two "
                "entropies.",
            ),
            Mistake(
                lambda: [_nmi(_badge()), 0.0],
                "NMI is right. But wearing a badge is a function of the score and also of the "
                "group: how well do these two functions agree?",
            ),
            Mistake(
                lambda: [_nmi(_badge(0.1)), 1.0],
                "The first is for one badge in ten; here it is one in a hundred.",
            ),
        ],
        rtol=5e-3,
    ),
    "what-others-miss/5": Predicate(
        "two joint tables (rows: labels, columns: groups) with the same group shares between "
        "which NMI is not convex",
        test=_not_convex,
        why="The entropy in the denominator grows with the new label, which bends the quotient.",
        examples=[_growing(0.0001, 0.05)],
        mistakes=[
            Mistake([[[0.5, 0], [0, 0.5]], [[0.3, 0.2], [0.2, 0.3]]], "nothing is shown"),
            Mistake([[[0.9, 0.1], [0, 0]], [[0.9, 0.05], [0, 0.05]]], "everybody has the same"),
            Mistake([[[0.5, 0], [0, 0.5]], [[0.5, 0], [0.2, 0.3]]], "the sums of the columns"),
            Mistake([[[1, 0], [0, 1]], [[1, 1], [1, 1]]], "do not sum to 1"),
        ],
    ),
}
