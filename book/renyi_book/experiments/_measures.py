"""Measures of a classifier's decisions, computed from one small table of counts."""

import numpy as np
from scipy.special import entr, rel_entr

from renyi_lib.correlation import renyi_from_joint


def measures(y, decision, s, score=None):
    """Compute accuracy and fairness of decisions and, with `score`, fairness of the soft label.

    Decisions and scores are summed once over the cells (group, label). All measures are functions
    of these few sums, except that ``score_pearson`` also needs the variance of the score.

    Parameters
    ----------
    y : ndarray of shape (n,)
        True labels, 0 or 1.
    decision : ndarray of shape (n,)
        Decisions, 0 or 1, or probabilities of the decision 1.
    s : ndarray of shape (n,)
        Groups, as codes from 0.
    score : ndarray of shape (n,), optional
        Soft label P(Ŷ = 1 | X), on which the penalties act.

    Returns
    -------
    dict of str to float
        Measures by name:

        - ``accuracy`` of the decisions;
        - ``p_rule``, the smallest rate of the decision 1 among the groups divided by the largest
          (1 if all rates are 0), and ``dp_violation``, the largest rate minus the smallest;
        - ``eo_violation``, the same difference given y = 1, and, for two groups, ``eo_gap``, the
          second group's rate given y = 1 minus the first group's;
        - with `score`, the same measures of fairness for a label sampled with the probabilities
          `score` (``soft_p_rule`` etc.); ``rho_R`` and ``nmi`` of the decision and S;
          ``soft_rho_R`` and ``soft_nmi`` of the sampled label and S; and ``score_pearson``, the
          absolute correlation of score and S (for several groups, the largest correlation with the
          indicator of a group);
        - for each group j, its size ``n_j``, the rate ``rate_j`` of the decision 1, the number
          ``pos_j`` of samples with y = 1, and the rate ``tpr_j`` of the decision 1 among them.
    """
    cell = 2 * s + y
    cells = 2 * (int(s.max()) + 1)
    size = np.bincount(cell, minlength=cells).reshape(-1, 2)
    hard = np.bincount(cell, decision, cells).reshape(-1, 2)
    right = hard[:, 1].sum() + size[:, 0].sum() - hard[:, 0].sum()
    found = {"accuracy": float(right / len(y)), **_parity(hard, size), **_opportunity(hard, size)}
    if score is not None:
        soft = np.bincount(cell, score, cells).reshape(-1, 2)
        parts = _parity(soft, size) | _opportunity(soft, size)
        found |= {f"soft_{name}": value for name, value in parts.items()}
        found |= _dependence(hard, soft, size, float(np.var(score)))
    return found | _by_group(hard, size)


def _parity(positive, size):
    rates = _shares(positive.sum(axis=1), size.sum(axis=1))
    low, high = np.nanmin(rates), np.nanmax(rates)
    return {
        "p_rule": float(low / high) if high > 0 else 1.0,
        "dp_violation": float(high - low),
    }


def _opportunity(positive, size):
    """Compute the EO violation and, for two groups, the signed gap, second minus first group."""
    rates = _shares(positive[:, 1], size[:, 1])
    gap = {"eo_gap": float(rates[1] - rates[0])} if len(rates) == 2 else {}
    return {"eo_violation": float(np.nanmax(rates) - np.nanmin(rates)), **gap}


def _dependence(hard, soft, size, variance):
    """Compute measures of the dependence between S and the hard or soft label."""
    people = size.sum(axis=1)
    label, drawn = ([people - sums.sum(axis=1), sums.sum(axis=1)] for sums in (hard, soft))
    return {
        "rho_R": renyi_from_joint(label),
        "soft_rho_R": renyi_from_joint(drawn),
        "nmi": _nmi(np.array(label)),
        "score_pearson": _pearson(drawn[1] / people.sum(), people / people.sum(), variance),
        "soft_nmi": _nmi(np.array(drawn)),
    }


def _nmi(table):
    """Compute mutual information divided by the mean entropy; 0 if a variable is constant.

    scikit-learn's `mutual_info_score` would truncate the fractional counts that the table may
    contain, and its input checks take twenty times as long as these sums over a few cells.
    """
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    halves = [float(entr(shares).sum()) for shares in (rows, columns)]
    if min(halves) == 0:
        return 0.0
    information = float(rel_entr(joint, np.outer(rows, columns)).sum())
    return max(information, 0.0) / np.mean(halves)


def _pearson(joint, q, variance):
    """Compute the absolute Pearson correlation of the score and S.

    For several groups, this is the largest correlation with the indicator of a group.

    `joint` is the mean of score times indicator for each group, and `q` the share of each group.
    """
    # The variance of a constant score may differ from 0 by rounding errors.
    if variance <= 1e-24:
        return 0.0
    covariance = (joint - q * joint.sum())[q > 0]
    return float(np.max(np.abs(covariance) / np.sqrt(variance * (q * (1 - q))[q > 0])))


def _by_group(hard, size):
    columns = {
        "n": size.sum(axis=1),
        "rate": _shares(hard.sum(axis=1), size.sum(axis=1)),
        "pos": size[:, 1],
        "tpr": _shares(hard[:, 1], size[:, 1]),
    }
    return {
        f"{name}_{j}": value
        for name, values in columns.items()
        for j, value in enumerate(values.tolist())
    }


def _shares(part, whole):
    """Divide part by whole, with NaN for an empty group."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
