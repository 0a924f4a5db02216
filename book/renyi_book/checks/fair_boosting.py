"""Checks for the warm-ups and exercises of "fair-boosting"."""

import numpy as np

from renyi_book.checks._kinds import Choice, Function, Mistake, Number
from renyi_lib._adversary import round_matrix
from renyi_lib.correlation import renyi_correlation

_PACE = 3 - np.sqrt(8)


def _round(gap, nu, xi, tau, *, late=False, everything=False):
    """Return the gap and the slow part after one round of the damped game.

    With `late`, the pressure uses the old slow part. With `everything`, the slow part tends to all
    of λ G.
    """
    beta = 1 / (1 + 2 * xi)
    owed = xi * gap if everything else xi * (1 - beta) * gap
    new = nu + _PACE * beta * (owed - nu)
    return np.array([gap - tau * (xi * beta * gap + (nu if late else new)), new])


def _average(xi, tau, *, late=False):
    """Return the matrix of a round with a plain average; `late` uses the old average."""
    beta = 1 / (1 + xi)
    new = np.array([beta * xi, 1 - beta])
    moved = np.array([1.0, 0.0]) - tau * (np.array([0.0, 1.0]) if late else new)
    return np.array([moved, new])


def _largest(matrix):
    return np.abs(np.linalg.eigvals(matrix)).max()


def _leaves():
    rng = np.random.default_rng(3)
    cases = []
    for n, leaves, lean in ((200, 4, 0.5), (301, 9, 0.2), (150, 2, 0.9)):
        leaf = rng.integers(leaves, size=n)
        chance = 0.3 + lean * 0.6 * (leaf % 2)
        cases.append((leaf, (rng.random(n) < chance).astype(int)))
    return cases


EXERCISES = {
    "fair-boosting/a": Number(
        "a number: the λ above which the gap diverges",
        answer=lambda: 2 / (0.05 * 1 * 2),
        why="A tree that sees S follows all of the pressure, and halving the step doubles the λ.",
        mistakes=[
            Mistake(
                lambda: 1 / (0.1 * 1),
                "The learning rate was halved to 0.05, and the gap grows where the factor is "
                "below −1, not below 0.",
            ),
            Mistake(
                lambda: 1 / (0.05 * 0.527),
                "With gender among the features, a leaf knows all of it. What is τ then?",
            ),
        ],
        atol=0.1,
    ),
    "fair-boosting/b": Choice(
        "how fair the second game becomes, compared with the first",
        options=("at the same fairness", "fairer", "less fair"),
        answer="at the same fairness",
        why="At a fixed point the pressure is λ G, without the learning rate and without β.",
        mistakes={
            "fairer": "With a larger β more of the pressure acts at once. What is Λ in the end?",
            "less fair": "Smaller steps need more rounds, which you have. What is Λ in the end?",
        },
    ),
    "fair-boosting/1": Function(
        "a function `one_round(gap, nu, xi, tau)` that returns the next gap and slow part",
        answer=lambda gap, nu, xi, tau: round_matrix(xi, tau) @ [gap, nu],
        why="Both lines are linear, so the round is a matrix with two eigenvalues.",
        cases=[(1.0, 0.0, 2.0, 0.5), (0.3, -0.2, 1e5, 0.5), (-0.1, 0.4, 0.5, 1.0)],
        mistakes=[
            Mistake(
                lambda *told: _round(*told, late=True),
                "You used the old slow part. It moves first, so the new one enters the pressure.",
            ),
            Mistake(
                lambda *told: _round(*told, everything=True),
                "The slow part tends to the delayed pressure, λ (1 − β) G, and not to λ G.",
            ),
            Mistake(
                lambda gap, nu, xi, tau: np.array([gap - tau * xi * gap, 0.0]),
                "This is the plain game, where all of λ G acts at once.",
            ),
            Mistake(
                lambda gap, nu, xi, tau: _round(gap, nu, xi, 1.0),
                "The tree follows only the share τ of the pressure.",
            ),
        ],
    ),
    "fair-boosting/2": Function(
        "a function `follows(leaf, s)` that returns the share τ",
        answer=lambda leaf, s: renyi_correlation(leaf, s) ** 2,
        why="It is the correlation ratio Var(E[S | leaf]) / Var(S), or ρ_R² for a binary S.",
        cases=_leaves,
        mistakes=[
            Mistake(
                renyi_correlation,
                "This is the square root of τ.",
            ),
            Mistake(
                lambda leaf, s: renyi_correlation(leaf, s) ** 2 * np.var(s),
                "This is Var(E[S | leaf]). Divide it by its value for a tree that sees S.",
            ),
        ],
    ),
    "fair-boosting/3": Function(
        "a function `modulus_of_average(xi, tau)` that returns the larger modulus",
        answer=lambda xi, tau: _largest(_average(xi, tau)),
        why="The product of the eigenvalues is 1 − β, which is close to 1 for a slow average.",
        cases=[(0.05, 0.2), (1.0, 0.5), (10.0, 0.5), (1e3, 0.2), (1e5, 1.0)],
        mistakes=[
            Mistake(
                lambda xi, tau: _largest(_average(xi, tau, late=True)),
                "You used the old average, but the tree sees the new one.",
            ),
            Mistake(
                lambda xi, tau: _largest(round_matrix(xi, tau)),
                "This is the damped game with both parts. Here all of the pressure is averaged.",
            ),
            Mistake(
                lambda xi, tau: np.sqrt(1 - 1 / (1 + xi)),
                "This is the modulus only if the eigenvalues are complex, so compute them.",
            ),
        ],
    ),
}
