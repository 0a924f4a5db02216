"""Dependence between a classifier's soft labels and the groups, as a differentiable penalty.

A classifier gives sample n the class i with probability F[n, i]. A *penalty* measures how much
that randomized label Ŷ depends on the sample's group S, and how the measure changes with F:

    value, gradient = penalty.value_and_grad(F, groups)

with ``gradient[n, i]`` the derivative with respect to ``F[n, i]``. A classifier that minimizes
loss + lam * penalty needs nothing else of a penalty, so a new one is one new class (see `Penalty`
and `TablePenalty`).

Most penalties depend on F through the joint table T[i, j] = P(Ŷ = i, S = j) only. They are pure
functions of that small table; `Groups` makes the one pass over the samples that leads from F to T,
and the one that leads from dvalue/dT back to dvalue/dF. Such a penalty says so by
``depends_on_table``, and can then be fitted from every source of data, because the table is a sum
over rows.

The Rényi penalty is a maximum over an adversary's moves. Its gradient is that of the inner
function at the adversary's best response, held fixed (Danskin's theorem). In Algorithm 1 the
adversary chooses a function of S (the vector v), in Algorithm 2 a function of Ŷ (the vector w).
Both are exactly rho_R^2 at the best response: here the factor 1 / (q (1 - q)) that the paper
absorbs in lambda for Algorithm 2 is written out.

The gradients treat the entries of F as free numbers and the probabilities of the groups as given.
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
