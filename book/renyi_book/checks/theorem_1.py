"""Checks for the exercises of "theorem-1"."""

import numpy as np
from scipy.linalg import block_diag

from renyi_book.checks._kinds import (
    Function,
    Mistake,
    Number,
    Predicate,
    distribution,
)
from renyi_lib.correlation import normalized_table, renyi_from_joint

TWO_BY_TWO = np.array([[0.4, 0.1], [0.1, 0.4]])


def _copied(times):
    """Return the joint table of the original and its copy after a number of copyings."""
    p = np.array([0.5, 0.3, 0.2])
    channel = np.linalg.matrix_power(0.7 * np.eye(3) + 0.3 * np.tile(p, (3, 1)), times)
    return p[:, None] * channel


def _tables(*shapes):
    rng = np.random.default_rng(5)
    return [rng.dirichlet(np.ones(c * d)).reshape(c, d) for c, d in shapes]


def _blocks(*shapes):
    table = block_diag(*(np.arange(1.0, c * d + 1).reshape(c, d) for c, d in shapes))
    return table / table.sum()


def _three_ones(table):
    P = distribution(table)
    if P.ndim != 2 or min(P.shape) < 4:
        return "The table should be a matrix with at least four rows and four columns."
    if not (P.sum(axis=0).all() and P.sum(axis=1).all()):
        return "A row or a column has no mass; leave it out."
    ones = int(np.isclose(np.linalg.svd(normalized_table(P), compute_uv=False), 1).sum())
    if ones == 3:
        return None
    return f"The singular value 1 has multiplicity {ones}, which is the number of blocks."


def _singular_value(k):
    return lambda P: np.linalg.svd(normalized_table(P), compute_uv=False)[k]


def _of_both(combine):
    return lambda P, P2: combine(renyi_from_joint(P), renyi_from_joint(P2))


EXERCISES = {
    "theorem-1/a": Number(
        "a number: the other singular value of Q",
        answer=lambda: renyi_from_joint(TWO_BY_TWO),
        why="The rows of Q are (0.8, 0.2) and (0.2, 0.8), so the trace is 1.6, and 1.6 − "
        "1 = 0.6 remains.",
        mistakes=[
            Mistake(
                1,
                "This is the first singular value, which belongs to the constants;"
                " find the other one.",
            ),
            Mistake(
                lambda: np.trace(normalized_table(TWO_BY_TWO)),
                "This is the trace, which is the sum of both singular values; subtract 1.",
            ),
            Mistake(
                lambda: np.trace(TWO_BY_TWO) - 0.5,
                "This is an eigenvalue of P; divide by the square roots of the marginals first.",
            ),
        ],
    ),
    "theorem-1/b": Number(
        "two numbers: the smallest and the largest possible χ²",
        answer=lambda: [240 * 0.5**2, 240 * (min(4, 3) - 1) * 0.5**2],
        why="φ² lies between ρ_R² and twice ρ_R², and χ² is N times φ².",
        mistakes=[
            Mistake(
                lambda: [240 * 0.5**2, 240 * min(4, 3) * 0.5**2],
                "There are three singular values, but the first is the 1 of the "
                "constants, so two remain.",
            ),
            Mistake(
                lambda: [0.5**2, (min(4, 3) - 1) * 0.5**2], "This is φ²; χ² is N times as large."
            ),
            Mistake(
                lambda: [240 * 0.5, 240 * (min(4, 3) - 1) * 0.5],
                "The singular values enter squared.",
            ),
        ],
    ),
    "theorem-1/1": Function(
        "a function `copied(times)` that returns ρ_R between the original and the copy after "
        "`times` copyings",
        answer=lambda times: renyi_from_joint(_copied(times)),
        why="R of the copyist is 0.7 times a projection, and each copying multiplies by it again.",
        cases=[(1,), (2,), (3,), (6,)],
        mistakes=[
            Mistake(
                lambda times: 0.7,
                "This is correct for one copying. A copy of a copy depends less on the original.",
            ),
            Mistake(
                lambda times: 1 - 0.3**times,
                "This is the probability of at least one faithful copying, which grows "
                "with the number of copyings.",
            ),
            Mistake(lambda times: 0.7 ** (times + 1), "This has one copying too many."),
            Mistake(
                lambda times: 0.7 ** (2 * times), "This is the square, ρ_R²; return ρ_R itself."
            ),
        ],
    ),
    "theorem-1/2": Predicate(
        "a joint table with at least four rows and four columns whose Q has the singular value 1 "
        "exactly three times",
        test=_three_ones,
        why="The table has three blocks, and a function that is constant on blocks is "
        "determined by either variable.",
        examples=[_blocks((2, 3), (3, 2), (2, 2)), _blocks((1, 1), (1, 1), (2, 2))],
        mistakes=[
            Mistake(np.full((4, 4), 1 / 16), "has multiplicity 1,"),
            Mistake(_blocks((2, 2), (2, 2)), "has multiplicity 2,"),
            Mistake(np.eye(4) / 4, "has multiplicity 4,"),
            Mistake(np.eye(3) / 3, "at least four rows"),
            Mistake(np.diag([0.25, 0.25, 0.5, 0]), "no mass"),
            Mistake(np.eye(4), "do not sum to 1"),
        ],
    ),
    "theorem-1/3": Function(
        "a function `second_best(P)` that returns the best correlation under the new constraints",
        answer=_singular_value(2),
        why="The first two terms of the sum vanish, and the third singular value is the bound.",
        cases=lambda: [(P,) for P in _tables((3, 3), (4, 5), (6, 4))],
        mistakes=[
            Mistake(
                _singular_value(1),
                "This is ρ_R itself, so the constraints E[f f*] = 0 and E[g g*] = 0 have "
                "not been used.",
            ),
            Mistake(
                _singular_value(0),
                "This is 1, the pair of constants, which the constraints E f = E g = 0 exclude.",
            ),
            Mistake(
                lambda P: np.append(np.linalg.svd(normalized_table(P), compute_uv=False), 0)[3],
                "This is one too far. R no longer has the singular value 1, so its second"
                " singular value is σ₃ of Q.",
            ),
        ],
        rtol=1e-3,
    ),
    "theorem-1/4": Function(
        "a function `of_pairs(P, P2)` that returns ρ_R of (a, a′) and (b, b′), given the tables "
        "of the two independent pairs",
        answer=_of_both(max),
        why="The singular values of a Kronecker product are products, and after 1 comes 1"
        " times the larger second singular value.",
        cases=lambda: [
            _tables((2, 3), (4, 3)),
            _tables((4, 4), (2, 2)),
            _tables((3, 2), (2, 5)),
            _tables((6, 6), (2, 2)),
        ],
        mistakes=[
            Mistake(
                _of_both(lambda x, y: x * y),
                "This is σ₂ σ₂′. But 1 is a singular value of both tables, so there is a "
                "larger product.",
            ),
            Mistake(
                _of_both(min),
                "This is the smaller of the two; a function may ignore one of the pairs "
                "altogether.",
            ),
            Mistake(
                _of_both(lambda x, y: 1 - (1 - x) * (1 - y)),
                "Correlations do not combine like probabilities. Look at the singular "
                "values of Q ⊗ Q′.",
            ),
            Mistake(
                lambda P, P2: 1.0,
                "This is the first singular value of the Kronecker product; take the second.",
            ),
        ],
    ),
}
