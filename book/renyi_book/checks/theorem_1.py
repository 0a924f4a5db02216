"""Checks for the exercises of "theorem-1"."""

import numpy as np
from scipy.linalg import block_diag

from renyi_book.checks._kinds import Choice, Function, Mistake, Predicate, distribution
from renyi_lib.correlation import normalized_table, renyi_from_joint


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
    return f"The singular value 1 comes {ones} times: the table falls into so many blocks."


def _singular_value(k):
    return lambda P: np.linalg.svd(normalized_table(P), compute_uv=False)[k]


def _of_both(combine):
    return lambda P, P2: combine(renyi_from_joint(P), renyi_from_joint(P2))


EXERCISES = {
    "theorem-1/1": Predicate(
        "a joint table with at least four rows and four columns whose Q has the singular value 1 "
        "exactly three times",
        test=_three_ones,
        why="It falls into three blocks, and a function that is constant on blocks is known from "
        "either side.",
        examples=[_blocks((2, 3), (3, 2), (2, 2)), _blocks((1, 1), (1, 1), (2, 2))],
        mistakes=[
            Mistake(np.full((4, 4), 1 / 16), "comes 1 times"),
            Mistake(_blocks((2, 2), (2, 2)), "comes 2 times"),
            Mistake(np.eye(4) / 4, "comes 4 times"),
            Mistake(np.eye(3) / 3, "at least four rows"),
            Mistake(np.diag([0.25, 0.25, 0.5, 0]), "no mass"),
            Mistake(np.eye(4), "do not sum to 1"),
        ],
    ),
    "theorem-1/2": Function(
        "a function `second_best(P)` that returns the best correlation under the new constraints",
        answer=_singular_value(2),
        why="The first two terms of the sum vanish, and the third singular value is the bound.",
        cases=lambda: [(P,) for P in _tables((3, 3), (4, 5), (6, 4))],
        mistakes=[
            Mistake(
                _singular_value(1),
                "This is ρ_R itself: the constraints E[f f*] = 0 and E[g g*] = 0 do nothing here.",
            ),
            Mistake(
                _singular_value(0),
                "This is 1, the pair of constants, which the constraints E f = E g = 0 exclude.",
            ),
            Mistake(
                lambda P: np.append(np.linalg.svd(normalized_table(P), compute_uv=False), 0)[3],
                "One too far: R has lost the singular value 1 already, so its second is σ₃ of Q.",
            ),
        ],
        rtol=1e-3,
    ),
    "theorem-1/3": Choice(
        "which of the three singular values stand out from chance with the first 500 rows",
        options=("none", "the first", "the first two", "all three"),
        answer="the first",
        why="The others are no larger than what shuffled groups give, and real all the same on "
        "the full file.",
        mistakes={
            "none": "Compare each with the 95 % quantile of its own rank in the shuffled tables: "
            "one is well above.",
            "the first two": "The second is below what 95 % of the shuffled tables reach; shuffle "
            "the same 500 rows, not the whole file.",
            "all three": "This holds on the full file. With 500 rows chance alone makes much "
            "larger values.",
        },
    ),
    "theorem-1/4": Function(
        "a function `of_pairs(P, P2)` that returns ρ_R of (a, a′) and (b, b′), given the tables "
        "of the two independent pairs",
        answer=_of_both(max),
        why="The singular values of a Kronecker product are products, and 1 times the larger "
        "second one comes next.",
        cases=lambda: [
            _tables((2, 3), (4, 3)),
            _tables((4, 4), (2, 2)),
            _tables((3, 2), (2, 5)),
            _tables((6, 6), (2, 2)),
        ],
        mistakes=[
            Mistake(
                _of_both(lambda x, y: x * y),
                "This is σ₂ σ₂′. But 1 is a singular value of both tables, too, so a larger "
                "product is left.",
            ),
            Mistake(
                _of_both(min),
                "This is the smaller of the two; a function may ignore that pair altogether.",
            ),
            Mistake(
                _of_both(lambda x, y: 1 - (1 - x) * (1 - y)),
                "Correlations do not add up like chances. Look at the singular values of Q ⊗ Q′.",
            ),
            Mistake(
                lambda P, P2: 1.0,
                "This is the first singular value of the Kronecker product; take the second.",
            ),
        ],
    ),
}
