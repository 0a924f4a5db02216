"""Checks for the exercises of "what-others-miss"."""

import numpy as np

from renyi_book.checks._kinds import Mistake, Number, Predicate, distribution


def _window(rho, variance_of_square):
    """Solve t² = ρ² (t² + a) for t, where a = Var(U²) / Var(2U)."""
    return np.sqrt(rho**2 * 0.75 * variance_of_square / (1 - rho**2))


def _zafar(scores):
    for delta in (0.4, 0.25, 0.1, 0.01):
        values, shares = (np.asarray(part, dtype=float) for part in scores(delta))
        if values.shape != shares.shape:
            return "There should be as many probabilities as values."
        distribution(shares)
        if not np.isclose(values @ shares, 0, atol=1e-9):
            return f"At δ = {delta} the mean is not zero, so make the rare value larger."
        share = shares[values > 0].sum()
        if np.isclose(share, delta):
            return (
                f"At δ = {delta} a share δ is positive. That is the other group; submit the one "
                "with the share 1 − δ."
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


def _lottery():
    """Return the joint table of the first warm-up: rejected and accepted by groups 0 and 1."""
    return np.array([[30, 20], [10, 40]]) / 100


def _face():
    """Return the joint table of a four-sided die's face and whether the face is even."""
    return np.array([[1, 0], [0, 1], [1, 0], [0, 1]]) / 4


def _nmi_min(P):
    return _information(P) / min(_entropy(P.sum(axis=0)), _entropy(P.sum(axis=1)))


EXERCISES = {
    "what-others-miss/a": Number(
        "a number: the covariance of being accepted and being in group 1",
        answer=lambda: _lottery()[1, 1] - _lottery()[1].sum() * _lottery()[:, 1].sum(),
        why="It is D_11, the joint share minus the product of the two shares.",
        mistakes=[
            Mistake(
                lambda: _lottery()[1, 1],
                "This is the joint share P_11; subtract the product of the two shares.",
            ),
            Mistake(
                lambda: _lottery()[1].sum() * _lottery()[:, 1].sum(),
                "This is what independence would give; subtract it from the joint share.",
            ),
            Mistake(
                lambda: (
                    _lottery()[1, 1] / _lottery()[:, 1].sum()
                    - _lottery()[1, 0] / _lottery()[:, 0].sum()
                ),
                "This is the difference between the two rates; the covariance is q (1 − "
                "q) times as large.",
            ),
            Mistake(
                lambda: (_lottery()[1, 1] - 0.3) / np.sqrt(0.25 * 0.24),
                "This is the correlation; the covariance is not divided by the standard "
                "deviations.",
            ),
        ],
        rtol=1e-3,
    ),
    "what-others-miss/b": Number(
        "two numbers, NMI and NMI_min",
        answer=lambda: [_nmi(_face()), _nmi_min(_face())],
        why="The face determines whether it is even, but not vice versa.",
        mistakes=[
            Mistake(
                lambda: [_nmi_min(_face()), _nmi(_face())],
                "The two numbers are in the wrong order; NMI comes first.",
            ),
            Mistake(
                lambda: [_information(_face())] * 2,
                "This is I itself; divide it by the mean of the two entropies, and by the"
                " smaller one.",
            ),
            Mistake(
                lambda: [1.0, 1.0],
                "NMI is 1 only if each variable determines the other. Does knowing that "
                "the face is even determine the face?",
            ),
            Mistake(
                lambda: [_nmi(_face()), _information(_face()) / np.log(4)],
                "NMI is right. For NMI_min divide by the smaller entropy, not the larger.",
            ),
        ],
        rtol=1e-2,
    ),
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
                "For the variance of U², subtract (E U²)² from E U⁴.",
            ),
            Mistake(
                lambda: _window(0.9, 1 / 5 - 1 / 9) / 2,
                "This is in units of the window's width, which is 2; submit t itself.",
            ),
        ],
        rtol=2e-3,
    ),
    "what-others-miss/2": Predicate(
        "a function `scores(delta)` that returns the values of the score in one group, and their "
        "probabilities; the share 1 − δ should be positive",
        test=_zafar,
        why="Both means are zero while p% = δ / (1 − δ) goes to 0, and of the three "
        "kernels only the Gaussian one detects it.",
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
    "what-others-miss/3": Number(
        "two numbers, NMI and ρ_R, for one badge in a hundred",
        answer=lambda: [_nmi(_badge()), 1.0],
        why="ρ_R measures whether anything is shared with certainty, and NMI how much is "
        "shared on average.",
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
}
