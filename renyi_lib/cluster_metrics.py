"""Metrics of how evenly the groups are distributed over the clusters.

Every metric depends only on the table that counts the points by cluster and group, so some have a
second form (`*_of_table`), which takes a table of counts instead of labels. A cluster without
points has no proportions and is left out.
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
    """Compute every group's proportion of the points in each cluster, which is the paper's w.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each point.
    sensitive_features : array-like of shape (n,) or (n, k)
        Group of each point; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    DataFrame
        Proportions, with a row for each cluster of positive weight and a column for each group;
        rows sum to 1.

    See Also
    --------
    proportion_summary : Summarize one group's proportions over the clusters.

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
    """Summarize a group's proportions in the clusters: minimum, maximum, mean and deviation.

    Each cluster counts once regardless of its size, as in the paper's Figure 3, and the standard
    deviation (``sd``) divides by the number of clusters. `weighted_deviation` weights clusters by
    size.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each point.
    sensitive_features : array-like of shape (n,) or (n, k)
        Group of each point; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.
    group : label, optional
        Group whose proportion is summarized. For two groups, the default is the second in sorted
        order (1 of 0 and 1, "Male" of "Female" and "Male"). For more groups, it is required.

    Returns
    -------
    dict
        Entries ``min``, ``max``, ``mean`` and ``sd``, and ``overall``, the proportion in all the
        data.

    See Also
    --------
    cluster_proportions : Compute every group's proportion in each cluster.
    weighted_deviation : Weight clusters by their sizes.

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
    """Compute `proportion_summary` for the group in one column of a table of counts."""
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
    """Compute the fairness penalty of clusters, which `RenyiKMeans` multiplies by `lam`.

    For two groups, it is the sum over the clusters k of n_k (w_k - p)^2, where cluster k has n_k
    of the N points, w_k is the share of one of the groups in this cluster, and p is the group's
    share of all points. This is the paper's penalty after its inner maximization over w,
    N p (1 - p) rho_R^2 (equation "kmeans_fair_objective-binary" with Theorem 2), where rho_R is
    the Rényi correlation of cluster and group. For more groups, see Notes.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each point.
    sensitive_features : array-like of shape (n,) or (n, k)
        Group of each point; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    float
        Nonnegative penalty; 0 if clusters and groups are independent.

    See Also
    --------
    weighted_deviation : Compute the square root of the penalty per point.
    renyi_lib.RenyiKMeans : Fit clusters with this penalty.

    Notes
    -----
    The paper treats two groups. For G groups, where group g has the share w_kg of cluster k and
    the share p_g of all points, this library uses

        (1 - sum_g p_g^2) / (2 (G - 1)) * sum_k sum_g n_k (w_kg - p_g)^2 / p_g.

    The double sum is the chi-square statistic of clusters and groups, which is N times the sum of
    the squares of all canonical correlations, of which rho_R is the first. It is zero if and
    only if clusters and groups are independent. Because of the factor, the penalty for two groups
    agrees with the paper, as (1 - p^2 - (1 - p)^2) / 2 = p (1 - p). For groups of equal size, it
    is half the sum over k and g of n_k (w_kg - p_g)^2. If the clusters equal the groups, it is
    N (1 - sum_g p_g^2) / 2 for every G, which is N / 2 times the total variance of the indicator
    variables of the groups.

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
    """Compute `cluster_penalty` of a table of counts (clusters in rows, groups in columns)."""
    table = np.asarray(table, dtype=float)
    totals = table.sum(axis=0)
    table, totals = _occupied(table)[:, totals > 0], totals[totals > 0]
    size = table.sum(axis=1, keepdims=True)
    n_samples = totals.sum()
    # For counts, N times the excess is an integer, so an exactly fair table gives exactly zero.
    excess = (n_samples * table - size * totals) / n_samples
    chi_square = np.sum(excess**2 / size * (n_samples / totals))
    return float(penalty_scale(totals) * chi_square)


def penalty_scale(totals: ArrayLike) -> float:
    """Compute the factor of chi-square in `cluster_penalty` from the sizes of the groups."""
    totals = np.asarray(totals)
    if len(totals) < 2:
        return 0.0
    shares = totals / np.sum(totals)
    return float(shares @ (1 - shares) / (2 * (len(shares) - 1)))


def weighted_deviation(
    labels: ArrayLike, *, sensitive_features: Any, sample_weight: ArrayLike | None = None
) -> float:
    """Compute sqrt(`cluster_penalty` / N) for N points, or points of total weight N.

    For two groups, it is the root mean square of w_k - p with each cluster k weighted by its size,
    where w_k is the share of one of the groups in the cluster, and p is its share of all points.
    It then equals sqrt(p (1 - p)) times the Rényi correlation of cluster and group.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each point.
    sensitive_features : array-like of shape (n,) or (n, k)
        Group of each point; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    float
        Nonnegative deviation.

    See Also
    --------
    proportion_summary : Summarize proportions, counting each cluster once.

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
    """Compute the balance, which is the worst ratio of two groups in any cluster.

    For two groups, with w the share of one of them, it is the minimum over the clusters of
    min(w / (1 - w), (1 - w) / w). A value of 1 is perfect, and 0 means that some cluster lacks a
    group. No clustering has a larger balance than all the data as one cluster. For more than two
    groups, a case that the reference does not treat, it is the minimum over the clusters of the
    size of the smallest group divided by the size of the largest.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each point.
    sensitive_features : array-like of shape (n,) or (n, k)
        Group of each point; several columns define joint groups.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights, not all zero.

    Returns
    -------
    float
        Balance between 0 and 1.

    See Also
    --------
    cluster_proportions : Compute every group's proportion in each cluster.

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
    """Compute `balance` of a table of counts (clusters in rows, groups in columns).

    A group without points makes it 0.
    """
    table = _occupied(table)
    return float(np.min(table.min(axis=1) / table.max(axis=1)))


def _count(labels, sensitive_features, sample_weight):
    """Return the table of counts or weights, with its clusters and its (at least two) groups."""
    variables = {"labels": labels, "sensitive_features": sensitive_features}
    table, (clusters, groups) = count_labels(variables, sample_weight)
    table, rows, columns = drop_empty(table)
    check_several_groups(groups[columns], len(labels))
    return table, clusters[rows], groups[columns]


def _occupied(table) -> np.ndarray:
    table = np.asarray(table, dtype=float)
    return table[table.sum(axis=1) > 0]


def _column(groups, group):
    """Return the column of the group whose proportion is requested."""
    if group is None:
        if len(groups) != 2:
            raise ValueError(
                f"group is None, but sensitive_features has {len(groups)} groups: choose one of "
                f"them, from {groups.tolist()}"
            )
        return 1
    names = groups.tolist()
    if group not in names:
        raise ValueError(f"group must be one of {names}, not {group!r}")
    return names.index(group)
