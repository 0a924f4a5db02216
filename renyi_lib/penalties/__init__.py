"""Differentiable penalties on the dependence between a classifier's soft labels and the groups.

A classifier gives sample n the class i with probability F[n, i]. A *penalty* measures how much
that randomized label Ŷ depends on the sample's group S, and computes its own gradient:

    value, gradient = penalty.value_and_grad(F, groups)

where ``gradient[n, i]`` is the derivative with respect to ``F[n, i]``. A classifier that minimizes
loss + lam * penalty needs no more than this, so a new penalty requires only one new class (see
`Penalty` and `TablePenalty`).

Most penalties depend on F only through the joint table T[i, j] = P(Ŷ = i, S = j). They are pure
functions of that small table. `Groups` computes T from F in one pass over the samples, and
dvalue/dF from dvalue/dT in another. Such a penalty has ``depends_on_table`` set to True and can
then be fitted from every source of data, because the table is a sum over rows.

The Rényi penalty is a maximum over an adversary's moves. Its gradient is the gradient of the inner
function with the adversary's best response held fixed (Danskin's theorem). In Algorithm 1 the
adversary chooses a function of S (the vector v), in Algorithm 2 a function of Ŷ (the vector w).
At the best response, both inner functions equal rho_R^2 exactly. For this purpose, the inner
function of Algorithm 2 includes the factor 1 / (q (1 - q)) with q = P(S = 1), which the paper
absorbs into lambda, and leaves out a constant.

Gradients treat the entries of F as free variables and the probabilities of the groups as fixed.
"""

from renyi_lib.penalties._base import Penalty, TablePenalty
from renyi_lib.penalties._binary import BinaryRenyiPenalty, best_response_w, renyi_given_w
from renyi_lib.penalties._chi_square import ChiSquarePenalty, best_response_W, chi_square_given_W
from renyi_lib.penalties._conditional import ConditionalPenalty
from renyi_lib.penalties._groups import Groups
from renyi_lib.penalties._hsic import HSICPenalty
from renyi_lib.penalties._pearson import PearsonPenalty
from renyi_lib.penalties._renyi import RenyiPenalty, best_response_v, renyi_given_v
from renyi_lib.penalties._score_bins import ScoreBinsPenalty

__all__ = [
    "BinaryRenyiPenalty",
    "ChiSquarePenalty",
    "ConditionalPenalty",
    "Groups",
    "HSICPenalty",
    "PearsonPenalty",
    "Penalty",
    "RenyiPenalty",
    "ScoreBinsPenalty",
    "TablePenalty",
    "best_response_W",
    "best_response_v",
    "best_response_w",
    "chi_square_given_W",
    "renyi_given_v",
    "renyi_given_w",
]
