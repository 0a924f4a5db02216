"""Inner loops of fair k-means, which visit one point after another.

Each function is plain Python on arrays and calls no other function of this library, so that numba
can compile it unchanged. The compiler does not reorder sums, so compiled and plain code give
identical results.

Notation: X (N x d) contains the data. Point i has the weight ``weights[i]`` and belongs to cluster
``labels[i]`` and group ``groups[i]``. Cluster k has ``count[k]`` points with the total weight
``size[k]``, n_k. The points of group g have the total weight ``table[k, g]`` in cluster k
(``table[g, k]`` in `descent_pass`) and ``totals[g]`` in all the data. If all weights are 1, total
weights are numbers of points, and their sums are exact.
"""

import warnings
from functools import cache

import numpy as np


@cache
def compiled(loop):
    """Compile the loop with numba, or return it unchanged if numba is not installed.

    Without numba, a warning is issued, because the plain loop gives the same result but is about a
    hundred times slower. numba is imported only here, because it is slow to load and most users of
    the library never cluster. The machine code is cached on disk. This is safe because no loop
    calls another function of this library, so only a change of this file can make the cache out of
    date.
    """
    try:
        import numba
    except ImportError:
        warnings.warn(
            "numba is not installed, so fair k-means runs in plain Python, about a hundred times "
            'more slowly than compiled code: install it with pip install "renyi-lib[fast]"',
            stacklevel=4,
        )
        return loop
    try:
        return numba.njit(cache=True)(loop)
    except RuntimeError:  # numba has no folder in which to cache the code
        return numba.njit(loop)


def paper_pass(X, s, weights, labels, centers, w, count, size, ones, lam):
    """Reassign all points, then update the centers: one pass of Algorithm 3's loop, in place.

    Here s contains the groups as 0 and 1, and ``ones[k]`` is the weight of group 1 in cluster k.
    After each move, the proportions w of the two affected clusters are updated at once, in O(1)
    time. A cluster that loses its last point keeps its last center and its last w until another
    point joins it.

    Returns
    -------
    moved : int
        Number of points whose cluster changed.
    inertia : float
        Weighted sum of the squared distances to the new centers.
    """
    n_samples, n_features = X.shape
    n_clusters = len(size)
    # As in `descent_pass`, rows are padded to a multiple of four, and no point joins the padding.
    width = (n_clusters + 3) // 4 * 4
    by_feature = np.zeros((n_features, width))
    by_feature[:, :n_clusters] = centers.T
    prize = np.full((2, width), -np.inf)
    for k in range(n_clusters):
        for g in range(2):
            t = w[k] - g
            prize[g, k] = lam * (t * t)
    costs = np.empty(width)
    moved = 0
    for i in range(n_samples):
        a = labels[i]
        x = X[i, 0]
        for k in range(width):
            t = x - by_feature[0, k]
            costs[k] = t * t
        for j in range(1, n_features):
            x = X[i, j]
            for k in range(width):
                t = x - by_feature[j, k]
                costs[k] += t * t
        group = s[i]
        for k in range(width):
            costs[k] -= prize[group, k]
        best = costs[a]
        # Most points stay, and counting cheaper clusters is faster than finding the minimum.
        cheaper = 0
        for k in range(width):
            cheaper += costs[k] < best
        b = a
        if cheaper:
            for k in range(n_clusters):
                if costs[k] < best:
                    best = costs[k]
                    b = k
        if b != a:
            moved += 1
            labels[i] = b
            count[a] -= 1
            size[a] -= weights[i]
            ones[a] -= weights[i] * s[i]
            count[b] += 1
            size[b] += weights[i]
            ones[b] += weights[i] * s[i]
            w[b] = ones[b] / size[b]
            if count[a] > 0:
                w[a] = ones[a] / size[a]
            for g in range(2):
                t = w[a] - g
                prize[g, a] = lam * (t * t)
                t = w[b] - g
                prize[g, b] = lam * (t * t)

    for k in range(n_clusters):
        if count[k] > 0:
            centers[k] = 0.0
    for i in range(n_samples):
        for j in range(n_features):
            centers[labels[i], j] += weights[i] * X[i, j]
    for k in range(n_clusters):
        if count[k] > 0:
            for j in range(n_features):
                centers[k, j] /= size[k]
    inertia = 0.0
    for i in range(n_samples):
        for j in range(n_features):
            t = X[i, j] - centers[labels[i], j]
            inertia += weights[i] * (t * t)
    return moved, inertia


def descent_pass(
    X, groups, weights, labels, totals, n_clusters, weight, slack, margins, state, reference, tau
):
    """Move each point to the cluster for which the objective is smallest, modifying `labels`.

    The objective is SSE + weight * sum_k sum_g n_k (w_kg - p_g)^2 / p_g, with the proportions w_kg
    and p_g of group g in cluster k and in all the data. With e_g = table[g, k] - p_g n_k, E =
    sum_g e_g^2 / p_g and n = n_k, the penalty of cluster k is E / n. A point of group g and weight
    a adds a (a (1 - p_g) / p_g + 2 e_g / p_g) to E if it joins the cluster, and a (a (1 - p_g) /
    p_g - 2 e_g / p_g) if it leaves. A point at squared distance D from the center therefore

        adds, if it joins the cluster,      a n D / (n + a) + weight * a (n u - E) / (n (n + a)),
        subtracts, if it leaves the cluster, a n D / (n - a) + weight * a (n v - E) / (n (n - a)),

    where u is 2 e_g / p_g + a (1 - p_g) / p_g and v is 2 e_g / p_g - a (1 - p_g) / p_g. The point
    moves if what it subtracts exceeds what it adds by more than the possible rounding errors. The
    last point of a cluster never leaves. The factors of D and the remaining terms, the *prices*,
    are stored for one weight a and recomputed for a point of another weight.

    Parameters
    ----------
    weight : float
        Lambda times the scale of the penalty.
    slack : float
        Bound on the rounding errors of a squared distance.
    margins : ndarray of shape (n_samples,), or (0,)
        Margins of the points (see Notes), which are changed in place. If the array is empty, every
        point is compared with every cluster.
    state : ndarray of shape (n_features + n_groups + 2, width)
        Centers, weights of the groups, sizes and counts of the clusters at the end of the last
        pass, which are changed in place; `width` is n_clusters rounded up to a multiple of 4.
    reference : ndarray of shape (n_features + 2 n_groups + 3, n_clusters)
        Centers, prices and factors to which the margins refer, and tau, which are changed in
        place.
    tau : float
        Constant of the bounds in Notes. If positive, the state is computed from the labels and
        becomes the new reference, with this tau. If 0, the stored state and reference are used,
        with the tau in ``reference``.

    Returns
    -------
    moved : int
        Number of points whose cluster changed.
    change : float
        Total change of the SSE.
    chi_square : float
        Value of the double sum in the objective after the pass.
    compared : int
        Number of points that were compared with every cluster.

    Notes
    -----
    Late passes move few points, so most comparisons of an earlier pass are still valid. Let c be a
    center at the time of the comparison and c' the current one. For any tau > 0, the squared
    distances D and D' of a point from c and c' satisfy

        (1 - tau) D - |c - c'|^2 / tau  <=  D'  <=  (1 + tau) D + (1 + 1 / tau) |c - c'|^2.

    The price of a group in a cluster changes by a known amount. The margin by which a point stayed
    is computed with D raised by the fraction 2 tau for its own cluster and lowered by the same
    fraction for all other clusters (one tau accounts for the factors). Beyond that, the cost of
    joining a cluster falls, and the saving from leaving one rises, by at most the change of its
    price plus the effect of its moved center, both relative to the reference. A point whose margin
    is at least the largest such fall plus the rise for its own cluster would stay, so it needs no
    comparison. Margins can be used only if all weights are 1.
    """
    n_samples, n_features = X.shape
    n_groups = len(totals)
    total = totals.sum()
    # Rows are padded to a multiple of four, so that vector instructions process all of them. No
    # point joins the padding, because its cost is infinite.
    width = (n_clusters + 3) // 4 * 4
    centers = state[:n_features]
    table = state[n_features : n_features + n_groups]
    size = state[n_features + n_groups]
    count = state[n_features + n_groups + 1]
    last = n_features + 2 * n_groups
    if tau > 0:
        state[:] = 0.0
        for i in range(n_samples):
            k = labels[i]
            count[k] += 1
            size[k] += weights[i]
            table[groups[i], k] += weights[i]
            for j in range(n_features):
                centers[j, k] += weights[i] * X[i, j]
        for k in range(n_clusters):
            for j in range(n_features):
                centers[j, k] /= size[k]
        margins[:] = -np.inf
        renew = True
        reference[last + 2] = tau
    else:
        renew = False
        tau = reference[last + 2, 0]
    track = len(margins) > 0
    tight = track
    compared = 0

    join_factor = np.zeros(width)
    join_price = np.full((n_groups, width), np.inf)
    leave_factor = np.zeros(n_clusters)
    leave_price = np.zeros((n_groups, n_clusters))
    cost = np.empty(width)
    fall_most = np.zeros((n_groups, width))
    fall_least = np.zeros((n_groups, width))
    rise_most = np.zeros((n_groups, n_clusters))
    rise_least = np.zeros((n_groups, n_clusters))
    limit = np.zeros(n_groups)
    stale = np.arange(n_clusters)
    n_stale = 0
    priced_for = np.nan
    moved = 0
    change = 0.0
    for i in range(n_samples):
        alpha = weights[i]
        if alpha != priced_for:
            priced_for = alpha
            for k in range(n_clusters):
                stale[k] = k
            n_stale = n_clusters
        for q in range(n_stale):
            k = stale[q]
            n = size[k]
            E = 0.0
            for g in range(n_groups):
                # If all weights are 1, N e_g is an integer, so exactly fair clusters have e_g = 0
                # without rounding errors.
                e = (total * table[g, k] - totals[g] * n) / total
                E += e * e * total / totals[g]
            join_factor[k] = alpha * n / (n + alpha)
            if count[k] > 1:
                leave_factor[k] = alpha * n / (n - alpha)
            for g in range(n_groups):
                pull = 2 * (total * table[g, k] - totals[g] * n) / totals[g]
                odds = alpha * (total - totals[g]) / totals[g]
                error = 1e-14 * (n * (abs(pull) + odds) + E)
                price = weight * alpha
                join_price[g, k] = price * (n * (pull + odds) - E + error) / (n * (n + alpha))
                if count[k] > 1:
                    saved = n * (pull - odds) - E - error
                    leave_price[g, k] = price * saved / (n * (n - alpha))
        if track and n_stale:
            if renew and i == 0:
                reference[:n_features] = centers[:, :n_clusters]
                reference[n_features : n_features + n_groups] = join_price[:, :n_clusters]
                reference[n_features + n_groups : last] = leave_price
                reference[last] = join_factor[:n_clusters]
                reference[last + 1] = leave_factor
            for q in range(n_stale):
                k = stale[q]
                drift = 0.0
                for j in range(n_features):
                    t = centers[j, k] - reference[j, k]
                    drift += t * t
                nearer = 2 * drift / tau
                farther = 4 * (1 + 1 / tau) * drift
                t = abs(join_factor[k] - reference[last, k]) / reference[last, k]
                u = abs(leave_factor[k] - reference[last + 1, k])
                if count[k] < 3 or max(t, u) > tau / 4:
                    tight = False
                for g in range(n_groups):
                    t = reference[n_features + g, k] - join_price[g, k]
                    fall_most[g, k] = t + nearer
                    fall_least[g, k] = t - nearer
                    t = leave_price[g, k] - reference[n_features + n_groups + g, k]
                    rise_most[g, k] = t + farther
                    rise_least[g, k] = t - farther
            for g in range(n_groups):
                t = -np.inf
                for k in range(n_clusters):
                    t = max(t, fall_most[g, k])
                limit[g] = t
        n_stale = 0

        a = labels[i]
        if count[a] < 2:
            continue
        g = groups[i]
        if tight and margins[i] >= limit[g] + rise_most[g, a]:
            continue
        compared += 1
        x = X[i, 0]
        for k in range(width):
            t = x - centers[0, k]
            cost[k] = t * t
        for j in range(1, n_features):
            x = X[i, j]
            for k in range(width):
                t = x - centers[j, k]
                cost[k] += t * t
        saving = leave_factor[a] * cost[a] + leave_price[g, a] - alpha * slack
        cheaper = 0
        for k in range(width):
            cost[k] = join_factor[k] * cost[k] + join_price[g, k]
            cheaper += cost[k] < saving
        # Most points stay, and counting cheaper clusters is faster than finding the minimum.
        if cheaper == (cost[a] < saving):
            if tight:
                own = (cost[a] - join_price[g, a]) / join_factor[a]
                least = np.inf
                for k in range(n_clusters):
                    t = cost[k] - 2 * tau * (cost[k] - join_price[g, k]) + fall_least[g, k]
                    if t < least and k != a:
                        least = t
                own = (1 + 2 * tau) * leave_factor[a] * own + leave_price[g, a]
                margins[i] = least - own + rise_least[g, a]
            continue
        if track:
            margins[i] = -np.inf
        cost[a] = np.inf
        b = 0
        for k in range(1, n_clusters):
            if cost[k] < cost[b]:
                b = k

        labels[i] = b
        moved += 1
        from_a = 0.0
        from_b = 0.0
        for j in range(n_features):
            u = X[i, j] - centers[j, a]
            v = X[i, j] - centers[j, b]
            from_a += u * u
            from_b += v * v
            centers[j, a] -= alpha * u / (size[a] - alpha)
            centers[j, b] += alpha * v / (size[b] + alpha)
        change += join_factor[b] * from_b - leave_factor[a] * from_a
        count[a] -= 1
        count[b] += 1
        size[a] -= alpha
        size[b] += alpha
        table[g, a] -= alpha
        table[g, b] += alpha
        stale[0] = a
        stale[1] = b
        n_stale = 2

    chi_square = 0.0
    for k in range(n_clusters):
        for g in range(n_groups):
            e = (total * table[g, k] - totals[g] * size[k]) / total
            chi_square += e * e * total / (totals[g] * size[k])
    return moved, change, chi_square, compared


def sparse_descent_pass(
    values,
    columns,
    starts,
    squares,
    groups,
    weights,
    labels,
    totals,
    n_clusters,
    n_features,
    weight,
    slack,
):
    """Apply `descent_pass` to sparse points in CSR format, which stores only nonzero entries.

    With sums instead of centers, a point's squared distance to center k is

        |x|^2 - 2 x . sum_k / n_k + |sum_k|^2 / n_k^2,

    where sum_k is the weighted sum of the points in cluster k. A move changes sum_k, and with it
    |sum_k|^2, only in the nonzero entries of the point. The cost of the distances of a point is
    therefore proportional to the number of these entries times the number of clusters.

    Parameters
    ----------
    values, columns, starts : ndarray
        Points in the CSR format of scipy.
    squares : ndarray of shape (n_samples,)
        Squared norm |x|^2 of each point.

    Returns
    -------
    moved, change, chi_square, compared
        Same as in `descent_pass`; ``compared`` is always n_samples.
    """
    n_samples = len(labels)
    n_groups = len(totals)
    total = totals.sum()
    count = np.zeros(n_clusters)
    size = np.zeros(n_clusters)
    table = np.zeros((n_clusters, n_groups))
    sums = np.zeros((n_features, n_clusters))
    for i in range(n_samples):
        k = labels[i]
        count[k] += 1
        size[k] += weights[i]
        table[k, groups[i]] += weights[i]
        for p in range(starts[i], starts[i + 1]):
            sums[columns[p], k] += weights[i] * values[p]
    sums_squared = np.zeros(n_clusters)
    for j in range(n_features):
        for k in range(n_clusters):
            sums_squared[k] += sums[j, k] * sums[j, k]

    products = np.empty(n_clusters)
    moved = 0
    change = 0.0
    for i in range(n_samples):
        a = labels[i]
        if count[a] < 2:
            continue
        alpha = weights[i]
        g = groups[i]
        odds = alpha * (total - totals[g]) / totals[g]
        products[:] = 0.0
        for p in range(starts[i], starts[i + 1]):
            for k in range(n_clusters):
                products[k] += values[p] * sums[columns[p], k]
        b = a
        least = np.inf
        saving = 0.0
        joined = 0.0
        left = 0.0
        for k in range(n_clusters):
            n = size[k]
            distance = max(0.0, squares[i] - 2 * products[k] / n + sums_squared[k] / (n * n))
            E = 0.0
            for h in range(n_groups):
                e = (total * table[k, h] - totals[h] * n) / total
                E += e * e * total / totals[h]
            pull = 2 * (total * table[k, g] - totals[g] * n) / totals[g]
            error = 1e-14 * (n * (abs(pull) + odds) + E)
            if k == a:
                left = alpha * n / (n - alpha) * distance
                saved = n * (pull - odds) - E - error
                saving = left + weight * alpha * saved / (n * (n - alpha)) - alpha * slack
            else:
                near = alpha * n / (n + alpha) * distance
                paid = n * (pull + odds) - E + error
                cost = near + weight * alpha * paid / (n * (n + alpha))
                if cost < least:
                    least = cost
                    b = k
                    joined = near
        if not least < saving:
            continue
        labels[i] = b
        moved += 1
        change += joined - left
        for p in range(starts[i], starts[i + 1]):
            sums[columns[p], a] -= alpha * values[p]
            sums[columns[p], b] += alpha * values[p]
        sums_squared[a] += alpha * (alpha * squares[i] - 2 * products[a])
        sums_squared[b] += alpha * (alpha * squares[i] + 2 * products[b])
        count[a] -= 1
        count[b] += 1
        size[a] -= alpha
        size[b] += alpha
        table[a, g] -= alpha
        table[b, g] += alpha

    chi_square = 0.0
    for k in range(n_clusters):
        for g in range(n_groups):
            e = (total * table[k, g] - totals[g] * size[k]) / total
            chi_square += e * e * total / (totals[g] * size[k])
    return moved, change, chi_square, n_samples


def join_in_turn(distances, groups, table, totals, weight):
    """Assign new points to fixed centers one after another, and update `table` in place.

    Each point joins the cluster for which the squared distance plus the increase of the weighted
    penalty is smallest, given the points that have joined before. The increase is computed as in
    `descent_pass`, with the groups' proportions in the data of the fit. No point joins an empty
    cluster.

    Parameters
    ----------
    distances : ndarray of shape (n_new, n_clusters)
        Squared distances to the centers.
    groups : ndarray of int, shape (n_new,)
        Group of each new point.
    table : ndarray of shape (n_clusters, n_groups)
        Weight of each group in each cluster, at first the same as in the fit.
    totals : ndarray of shape (n_groups,)
        Weight of each group in the data of the fit.
    weight : float
        Lambda times the scale of the penalty.

    Returns
    -------
    labels : ndarray of shape (n_new,)
        Cluster of each new point.
    """
    n_new, n_clusters = distances.shape
    n_groups = len(totals)
    n_samples = totals.sum()
    labels = np.zeros(n_new, dtype=np.int32)
    for i in range(n_new):
        g = groups[i]
        best = np.inf
        b = 0
        for k in range(n_clusters):
            n = 0.0
            for h in range(n_groups):
                n += table[k, h]
            if n > 0:
                E = 0.0
                for h in range(n_groups):
                    e = table[k, h] - totals[h] * n / n_samples
                    E += e * e * n_samples / totals[h]
                pull = 2 * (n_samples * table[k, g] - totals[g] * n) / totals[g]
                odds = (n_samples - totals[g]) / totals[g]
                cost = distances[i, k] + weight * (n * (pull + odds) - E) / (n * (n + 1))
                if cost < best:
                    best = cost
                    b = k
        labels[i] = b
        table[b, g] += 1
    return labels
