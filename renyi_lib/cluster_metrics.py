"""How evenly the groups are spread over the clusters.

Everything here depends on one table alone, the number of points of each cluster and group, so
each measure has two forms: from labels, and (`*_of_table`) from a table counted elsewhere. A
cluster without points has no proportions and is left out.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from renyi_lib._counting import count_labels, drop_empty
from renyi_lib._validation import check_several_groups

__all__ = [
    "balance",
    "balance_of_table",
    "cluster_penalty",
    "cluster_proportions",
    "penalty_of_table",
    "penalty_scale",
    "proportion_summary",
    "summary_of_table",
    "weighted_deviation",
]


def cluster_proportions(
    labels: ArrayLike, *, sensitive_features: Any, sample_weight: ArrayLike | None = None
) -> pd.DataFrame:
    """Share of each group in each cluster: the paper's w, for every group.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The cluster of each point.
    sensitive_features : array-like of shape (n,) or (n, k)
        The group of each point; several columns are one joint group.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.

    Returns
    -------
    DataFrame
        A row for each cluster, a column for each group; rows sum to one.

    Examples
    --------
    >>> from renyi_lib.cluster_metrics import cluster_proportions
    >>> cluster_proportions([0, 0, 0, 0, 1, 1], sensitive_features=["f", "m", "m", "m", "f", "m"])
          f     m
    0  0.25  0.75
    1  0.50  0.50
    """
    table, clusters, groups = _count(labels, sensitive_features, sample_weight)
    shares = table / table.sum(axis=1, keepdims=True)
    index = pd.Index(clusters, tupleize_cols=False)
    return pd.DataFrame(shares, index, pd.Index(groups, tupleize_cols=False))


def proportion_summary(
    labels: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    group: Any = None,
) -> dict[str, float]:
    """Least, greatest, mean and standard deviation of w over the clusters (Fig. 3).

    Each cluster counts once, whatever its size, as in the paper's figure; the deviation divides
    by the number of clusters. For a figure that weighs clusters see `weighted_deviation`.

    Parameters
    ----------
    labels, sensitive_features : array-like of shape (n,)
        The cluster and the group of each point.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.
    group : label, optional
        The group whose proportion is meant. With two groups, the second in sorted order unless
        given otherwise (1 of 0 and 1, "Male" of "Female" and "Male").

    Returns
    -------
    dict
        ``min``, ``max``, ``mean`` and ``sd``, and ``overall``, the proportion in all the data.

    Examples
    --------
    >>> from renyi_lib.cluster_metrics import proportion_summary
    >>> summary = proportion_summary([0, 0, 0, 0, 1, 1], sensitive_features=[0, 1, 1, 1, 0, 1])
    >>> {name: round(value, 3) for name, value in summary.items()}
    {'min': 0.5, 'max': 0.75, 'mean': 0.625, 'sd': 0.125, 'overall': 0.667}
    """
    table, _, groups = _count(labels, sensitive_features, sample_weight)
    return summary_of_table(table, _column(groups, group))


def summary_of_table(table: ArrayLike, column: int) -> dict[str, float]:
    """`proportion_summary` of the group in one column of a table of counts."""
    table = _occupied(table)
    w = table[:, column] / table.sum(axis=1)
    return {
        "min": float(w.min()),
        "max": float(w.max()),
        "mean": float(w.mean()),
        "sd": float(w.std()),
        "overall": float(table[:, column].sum() / table.sum()),
    }


def cluster_penalty(
    labels: ArrayLike, *, sensitive_features: Any, sample_weight: ArrayLike | None = None
) -> float:
    """Sum over clusters of n_k (w_k - p)^2: what `RenyiKMeans` multiplies by lambda.

    With two groups this is the paper's penalty after its inner maximum over w has been taken,
    N p (1 - p) rho_R^2 (`kmeans_fair_objective-binary` with Theorem 2). With more, see Notes.

    Parameters
    ----------
    labels, sensitive_features : array-like of shape (n,)
        The cluster and the group of each point.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.

    Returns
    -------
    float

    Notes
    -----
    The paper treats two groups. For G groups this library takes

        (1 - sum_g p_g^2) / (2 (G - 1)) * sum_k sum_g n_k (w_kg - p_g)^2 / p_g.

    The double sum is the chi-square statistic of clusters against groups: N times the sum of
    the squares of all canonical correlations, of which rho_R is the first. It is zero if and
    only if clusters and groups are independent. The factor makes two groups agree with the
    paper, as (1 - p^2 - (1 - p)^2) / 2 = p (1 - p), and groups of equal size give half the sum
    over k and g of n_k (w_kg - p_g)^2. Clusters that equal the groups pay N (1 - sum_g p_g^2) / 2,
    half the variance of the group's indicator vector, for every G.

    Examples
    --------
    >>> from renyi_lib.cluster_metrics import cluster_penalty
    >>> cluster_penalty([0, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    1.0
    >>> cluster_penalty([0, 0, 1, 1], sensitive_features=["a", "b", "a", "b"])
    0.0
    """
    return penalty_of_table(_count(labels, sensitive_features, sample_weight)[0])


def penalty_of_table(table: ArrayLike) -> float:
    """`cluster_penalty` of a table of counts (clusters in rows, groups in columns)."""
    table = np.asarray(table, dtype=float)
    totals = table.sum(axis=0)
    table, totals = _occupied(table)[:, totals > 0], totals[totals > 0]
    size = table.sum(axis=1, keepdims=True)
    n_samples = totals.sum()
    # N times the excess is a whole number: an exactly fair table gives exactly zero.
    excess = (n_samples * table - size * totals) / n_samples
    chi_square = np.sum(excess**2 / size * (n_samples / totals))
    return float(penalty_scale(totals) * chi_square)


def penalty_scale(totals: ArrayLike) -> float:
    """The factor of `cluster_penalty` in front of chi-square, from the sizes of the groups."""
    totals = np.asarray(totals)
    if len(totals) < 2:
        return 0.0
    shares = totals / np.sum(totals)
    return float(shares @ (1 - shares) / (2 * (len(shares) - 1)))


def weighted_deviation(
    labels: ArrayLike, *, sensitive_features: Any, sample_weight: ArrayLike | None = None
) -> float:
    """Root mean square of w_k - p, each cluster weighted by its size.

    With two groups it is sqrt(p (1 - p)) rho_R(labels, sensitive_features); in general the
    root of `cluster_penalty` a point.

    Parameters
    ----------
    labels, sensitive_features : array-like of shape (n,)
        The cluster and the group of each point.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.

    Returns
    -------
    float

    Examples
    --------
    >>> from renyi_lib.cluster_metrics import weighted_deviation
    >>> weighted_deviation([0, 0, 1, 1], sensitive_features=[1, 1, 0, 0])
    0.5
    """
    table, _, _ = _count(labels, sensitive_features, sample_weight)
    return float(np.sqrt(penalty_of_table(table) / table.sum()))


def balance(
    labels: ArrayLike, *, sensitive_features: Any, sample_weight: ArrayLike | None = None
) -> float:
    """Balance (Chierichetti and others): the worst ratio of two groups in any cluster.

    With two groups and w the share of one of them, the least over the clusters of
    min(w / (1 - w), (1 - w) / w). One is perfect, zero means that some group is missing from some
    cluster. No clustering has more than the data, which have ``balance`` of one cluster. With
    more than two groups (not in their paper), the smallest group of a cluster over its greatest.

    Parameters
    ----------
    labels, sensitive_features : array-like of shape (n,)
        The cluster and the group of each point.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights, not all zero.

    Returns
    -------
    float

    References
    ----------
    F. Chierichetti, R. Kumar, S. Lattanzi, S. Vassilvitskii, "Fair clustering through
    fairlets", NeurIPS 2017. doi:10.48550/arXiv.1802.05733

    Examples
    --------
    >>> from renyi_lib.cluster_metrics import balance
    >>> balance([0, 0, 0, 0, 1, 1], sensitive_features=[0, 1, 1, 1, 0, 1])
    0.3333333333333333
    """
    return balance_of_table(_count(labels, sensitive_features, sample_weight)[0])


def balance_of_table(table: ArrayLike) -> float:
    """`balance` of a table of counts (clusters in rows, groups in columns)."""
    table = _occupied(table)
    return float(np.min(table.min(axis=1) / table.max(axis=1)))


def _count(labels, sensitive_features, sample_weight):
    """The table of counts or weights, its clusters and its groups, of which there are several."""
    variables = {"labels": labels, "sensitive_features": sensitive_features}
    table, (clusters, groups) = count_labels(variables, sample_weight)
    table, rows, columns = drop_empty(table)
    check_several_groups(groups[columns], len(labels))
    return table, clusters[rows], groups[columns]


def _occupied(table) -> np.ndarray:
    table = np.asarray(table, dtype=float)
    return table[table.sum(axis=1) > 0]


def _column(groups, group):
    """The position of the group whose proportion is asked for."""
    if group is None:
        if len(groups) != 2:
            raise ValueError(
                f"sensitive_features has {len(groups)} groups: say which one is meant by "
                f"group=, one of {list(groups)}"
            )
        return 1
    names = groups.tolist()
    if group not in names:
        raise ValueError(f"group={group!r} is not among the groups {names}")
    return names.index(group)
