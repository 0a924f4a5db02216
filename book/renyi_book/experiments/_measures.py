"""What is measured of a classifier's decisions."""

import numpy as np

from renyi_lib.correlation import (
    normalized_mutual_information,
    pearson_correlation,
    renyi_correlation,
    renyi_from_soft,
)
from renyi_lib.metrics import demographic_parity_violation, group_rates, p_rule


def measures(y, decision, s, score=None):
    """Accuracy and fairness of decisions, and with `score` those of the soft label.

    Parameters
    ----------
    y : ndarray of 0 and 1
    decision : ndarray of shape (n,)
        The decision, 0 or 1, or the probability with which 1 is drawn.
    s : ndarray of shape (n,)
        Groups, as codes from 0.
    score : ndarray of shape (n,), optional
        P(Ŷ = 1 | X): the soft label that the penalties act on.
    """
    found = {
        "accuracy": float(np.where(y == 1, decision, 1 - decision).mean()),
        **_parity(decision, s),
        **_opportunity(y, decision, s),
    }
    if score is not None:
        found |= {f"soft_{name}": value for name, value in _parity(score, s).items()}
        soft = _opportunity(y, score, s)
        found |= {f"soft_{name}": value for name, value in soft.items()}
        found |= _dependence(decision, score, s)
    return found


def _parity(positive, s):
    return {
        "p_rule": p_rule(None, positive, sensitive_features=s),
        "dp_violation": demographic_parity_violation(None, positive, sensitive_features=s),
    }


def _opportunity(y, positive, s):
    """The EO violation and, for two groups, the gap with its sign: second group minus first."""
    rates = group_rates(None, positive[y == 1], sensitive_features=s[y == 1])
    gap = {"eo_gap": float(rates.iloc[1] - rates.iloc[0])} if len(rates) == 2 else {}
    return {"eo_violation": float(np.ptp(rates)), **gap}


def _dependence(label, score, s):
    """How much the label, hard or soft, tells of S."""
    both = np.column_stack([1 - score, score])
    return {
        "rho_R": float(renyi_correlation(label, s)),
        "soft_rho_R": float(renyi_from_soft(both, s)),
        "nmi": float(normalized_mutual_information(label, s)),
        "score_pearson": _pearson(score, s),
    }


def _pearson(score, s):
    """|Pearson| of the score and S; the largest over the indicators of more than two groups."""
    if np.ptp(score) == 0:
        return 0.0
    groups = np.unique(s)[1:] if len(np.unique(s)) == 2 else np.unique(s)
    return max(abs(float(pearson_correlation(score, s == group))) for group in groups)
