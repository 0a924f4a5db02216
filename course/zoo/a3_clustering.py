"""Plausible wrong answers to assignment 3, and the test that must catch each."""

ZOO = [
    {
        "name": "w divided by N",
        "replace": {
            "proportions": """def proportions(labels, s, K):
    return np.bincount(labels, s, K) / len(s)"""
        },
        "caught_by": "test_proportions",
        "message": "divided by N. The proportion is taken within the cluster",
    },
    {
        "name": "share of the ones in place of share of the cluster",
        "replace": {
            "proportions": """def proportions(labels, s, K):
    return np.bincount(labels, s, K) / s.sum()"""
        },
        "caught_by": "test_proportions",
        "message": "but w_k is the reverse",
    },
    {
        "name": "empty cluster divides by zero",
        "replace": {
            "proportions": """def proportions(labels, s, K):
    return np.bincount(labels, s, K) / np.bincount(labels, minlength=K)"""
        },
        "caught_by": "test_proportions_edge",
        "message": "divide only where the size is positive",
    },
    {
        "name": "number of clusters from the labels",
        "replace": {
            "proportions": """def proportions(labels, s, K):
    return np.array([s[labels == k].mean() for k in range(labels.max() + 1)])"""
        },
        "caught_by": "test_proportions_edge",
        "message": "has no proportion",
    },
    {
        "name": "mean balance of the clusters",
        "replace": {
            "balance": """def balance(labels, s, K):
    ones, zeros = np.bincount(labels, s, K), np.bincount(labels, 1 - s, K)
    some = ones + zeros > 0
    return np.mean(np.minimum(ones, zeros)[some] / np.maximum(ones, zeros)[some])"""
        },
        "caught_by": "test_balance",
        "message": "the worst cluster: their minimum",
    },
    {
        "name": "balance of ones over zeros, not folded",
        "replace": {
            "balance": """def balance(labels, s, K):
    ones, zeros = np.bincount(labels, s, K), np.bincount(labels, 1 - s, K)
    return np.min(ones / zeros)"""
        },
        "caught_by": "test_balance",
        "message": "whichever it is",
    },
    {
        "name": "sign of lambda in line 6",
        "replace": {
            "line_6": """def line_6(x, s_n, c, w, lam):
    return ((x - c) ** 2).sum(axis=1) + lam * (w - s_n) ** 2"""
        },
        "caught_by": "test_line_6",
        "message": "The lambda term has the wrong sign",
    },
    {
        "name": "norm not squared",
        "replace": {
            "line_6": """def line_6(x, s_n, c, w, lam):
    return np.linalg.norm(x - c, axis=1) - lam * (w - s_n) ** 2"""
        },
        "caught_by": "test_line_6",
        "message": "the paper, take their squares",
    },
    {
        "name": "batch update of w",
        "replace": {
            "per_point_pass": """def per_point_pass(X, s, labels, c, lam, score):
    K = len(c)
    w = np.bincount(labels, s, K) / np.bincount(labels, minlength=K)
    new = labels.copy()
    for n in range(len(X)):
        f = score(X[n], s[n], c, w, lam)
        if f.min() < f[labels[n]]:
            new[n] = f.argmin()
    return new"""
        },
        "caught_by": "test_per_point_pass",
        "message": "that is the batch update",
    },
    {
        "name": "the caller's labels changed",
        "replace": {
            "per_point_pass": """def per_point_pass(X, s, labels, c, lam, score):
    K = len(c)
    w = np.zeros(K)
    for n in range(len(X)):
        for k in range(K):
            if np.any(labels == k):
                w[k] = s[labels == k].mean()
        f = score(X[n], s[n], c, w, lam)
        if f.min() < f[labels[n]]:
            labels[n] = f.argmin()
    return labels"""
        },
        "caught_by": "test_per_point_pass",
        "message": "only gives the same array a second name",
    },
    {
        "name": "ties move",
        "replace": {
            "per_point_pass": """def per_point_pass(X, s, labels, c, lam, score):
    labels, K = labels.copy(), len(c)
    w = np.zeros(K)
    for n in range(len(X)):
        for k in range(K):
            if np.any(labels == k):
                w[k] = s[labels == k].mean()
        labels[n] = score(X[n], s[n], c, w, lam).argmin()
    return labels"""
        },
        "caught_by": "test_per_point_pass",
        "message": "In a tie a point stays",
    },
    {
        "name": "empty cluster turns w into nan",
        "replace": {
            "per_point_pass": """def per_point_pass(X, s, labels, c, lam, score):
    labels, K = labels.copy(), len(c)
    for n in range(len(X)):
        w = np.bincount(labels, s, K) / np.bincount(labels, minlength=K)
        f = score(X[n], s[n], c, w, lam)
        if f[f.argmin()] < f[labels[n]]:
            labels[n] = f.argmin()
    return labels"""
        },
        "caught_by": "test_per_point_pass",
        "message": "An empty cluster keeps its last w",
    },
    {
        "name": "limit of lambda with the old w",
        "replace": {"lam_limit": "lam_limit = 72.25 - 0.25"},
        "caught_by": "test_lam_limit",
        "message": "the proportion before x = -5 moved",
    },
    {
        "name": "limit of lambda without the score of staying",
        "replace": {"lam_limit": "lam_limit = 72.25 / (1 - 1 / 3) ** 2"},
        "caught_by": "test_lam_limit",
        "message": "The score of staying was forgotten",
    },
    {
        "name": "n_k forgotten",
        "replace": {
            "inner_maximum": """def inner_maximum(labels, s, K, lam):
    p = s.mean()
    shares = [s[labels == k].mean() for k in range(K) if np.any(labels == k)]
    return lam * (sum((w - p) ** 2 for w in shares) - len(s) * p * (1 - p))"""
        },
        "caught_by": "test_inner_maximum",
        "message": "n_k was forgotten",
    },
    {
        "name": "constant forgotten",
        "replace": {
            "inner_maximum": """def inner_maximum(labels, s, K, lam):
    p = s.mean()
    clusters = [s[labels == k] for k in range(K) if np.any(labels == k)]
    return lam * sum(len(here) * (here.mean() - p) ** 2 for here in clusters)"""
        },
        "caught_by": "test_inner_maximum",
        "message": "the constant, lambda N p (1 - p), is missing",
    },
    {
        "name": "p as the mean of the shares",
        "replace": {
            "inner_maximum": """def inner_maximum(labels, s, K, lam):
    clusters = [s[labels == k] for k in range(K) if np.any(labels == k)]
    size = np.array([len(here) for here in clusters])
    w = np.array([here.mean() for here in clusters])
    p = w.mean()
    return lam * (np.sum(size * (w - p) ** 2) - len(s) * p * (1 - p))"""
        },
        "caught_by": "test_inner_maximum",
        "message": "p was taken as the mean of the w_k",
    },
    {
        "name": "an empty cluster adds nan",
        "replace": {
            "inner_maximum": """def inner_maximum(labels, s, K, lam):
    p, size = s.mean(), np.bincount(labels, minlength=K)
    w = np.bincount(labels, s, K) / size
    return lam * (np.sum(size * (w - p) ** 2) - len(s) * p * (1 - p))"""
        },
        "caught_by": "test_inner_maximum",
        "message": "An empty cluster adds nothing: 0 times nan is nan",
    },
    {
        "name": "line 6 in place of the exact cost",
        "replace": {
            "move_cost": """def move_cost(x, s_n, a, size, c, w, lam):
    f = ((x - c) ** 2).sum(axis=1) - lam * (w - s_n) ** 2
    return f - f[a]"""
        },
        "caught_by": "test_move_cost",
        "message": "This is the difference of the scores of line 6",
    },
    {
        "name": "factors exchanged",
        "replace": {
            "move_cost": """def move_cost(x, s_n, a, size, c, w, lam):
    f = ((x - c) ** 2).sum(axis=1) - lam * (w - s_n) ** 2
    change = size / (size - 1) * f - size[a] / (size[a] + 1) * f[a]
    change[a] = 0
    return change"""
        },
        "caught_by": "test_move_cost",
        "message": "The factors are exchanged",
    },
    {
        "name": "sign of lambda in the cost",
        "replace": {
            "move_cost": """def move_cost(x, s_n, a, size, c, w, lam):
    f = ((x - c) ** 2).sum(axis=1) + lam * (w - s_n) ** 2
    change = np.full(len(size), np.inf)
    if size[a] > 1:
        change = size / (size + 1) * f - size[a] / (size[a] - 1) * f[a]
    change[a] = 0
    return change"""
        },
        "caught_by": "test_move_cost",
        "message": "the lambda term has the wrong sign",
    },
    {
        "name": "factors before the distances only",
        "replace": {
            "move_cost": """def move_cost(x, s_n, a, size, c, w, lam):
    D, e = ((x - c) ** 2).sum(axis=1), (w - s_n) ** 2
    change = np.full(len(size), np.inf)
    if size[a] > 1:
        change = size / (size + 1) * D - size[a] / (size[a] - 1) * D[a] - lam * (e - e[a])
    change[a] = 0
    return change"""
        },
        "caught_by": "test_move_cost",
        "message": "The factors multiply only the distances",
    },
    {
        "name": "last point of a cluster may leave",
        "replace": {
            "move_cost": """def move_cost(x, s_n, a, size, c, w, lam):
    f = ((x - c) ** 2).sum(axis=1) - lam * (w - s_n) ** 2
    change = size / (size + 1) * f - size[a] / max(size[a] - 1, 1) * f[a]
    change[a] = 0
    return change"""
        },
        "caught_by": "test_move_cost",
        "message": "Treat size[a] == 1 first",
    },
    {
        "name": "centers not moved",
        "replace": {
            "apply_move": """def apply_move(x, s_n, a, b, size, c, w):
    for k, sign in ((a, -1), (b, 1)):
        size[k] += sign
        w[k] += sign * (s_n - w[k]) / size[k]"""
        },
        "caught_by": "test_apply_move",
        "message": "The centers have not moved",
    },
    {
        "name": "mean updated with the size before the move",
        "replace": {
            "apply_move": """def apply_move(x, s_n, a, b, size, c, w):
    for k, sign in ((a, -1), (b, 1)):
        c[k] += sign * (x - c[k]) / size[k]
        w[k] += sign * (s_n - w[k]) / size[k]
        size[k] += sign"""
        },
        "caught_by": "test_apply_move",
        "message": "by the size *after* the move",
    },
    {
        "name": "shares not updated",
        "replace": {
            "apply_move": """def apply_move(x, s_n, a, b, size, c, w):
    for k, sign in ((a, -1), (b, 1)):
        size[k] += sign
        c[k] += sign * (x - c[k]) / size[k]"""
        },
        "caught_by": "test_apply_move",
        "message": "The proportions w have not changed",
    },
    {
        "name": "stops after one pass: the previous labels are an alias",
        "replace": {
            "exact_descent": """def exact_descent(labels, change, move, max_passes=100):
    history = []
    for _ in range(max_passes):
        before = labels
        moves = 0
        for n in range(len(labels)):
            costs = change(n)
            if costs.min() < -1e-12:
                move(n, costs.argmin())
                moves += 1
        history.append(moves)
        if np.array_equal(before, labels):
            break
    return history"""
        },
        "caught_by": "test_exact_descent",
        "message": "is the same array under a second name",
    },
    {
        "name": "first gain in place of the largest",
        "replace": {
            "exact_descent": """def exact_descent(labels, change, move, max_passes=100):
    history = []
    for _ in range(max_passes):
        moves = 0
        for n in range(len(labels)):
            better = np.flatnonzero(change(n) < -1e-12)
            if len(better):
                move(n, better[0])
                moves += 1
        history.append(moves)
        if moves == 0:
            break
    return history"""
        },
        "caught_by": "test_exact_descent",
        "message": "not the first one that is negative",
    },
    {
        "name": "rounding taken for a gain",
        "replace": {
            "exact_descent": """def exact_descent(labels, change, move, max_passes=100):
    history = []
    for _ in range(max_passes):
        moves = 0
        for n in range(len(labels)):
            costs = change(n)
            if costs.min() < 0:
                move(n, costs.argmin())
                moves += 1
        history.append(moves)
        if moves == 0:
            break
    return history"""
        },
        "caught_by": "test_exact_descent",
        "message": "Costs of -1e-15 are rounding",
    },
    {
        "name": "loss with the penalty in it",
        "replace": {
            "price": """def price(X, s, K, lams):
    path = lam_path(RenyiKMeans(K, random_state=0), X, lams=lams, sensitive_features=s)
    rows = [
        (
            m.lam,
            m.inertia_ + m.lam * m.penalty_,
            np.abs(m.proportions_ - s.mean()).max(),
            renyi_correlation(m.labels_, s),
            cluster_metrics.balance(m.labels_, sensitive_features=s),
        )
        for m in path
    ]
    return pd.DataFrame(rows, columns=["lam", "loss", "worst", "rho", "balance"])"""
        },
        "caught_by": "test_price",
        "message": "loss is the whole objective, with the penalty in it",
    },
    {
        "name": "worst deviation from the mean of the shares",
        "replace": {
            "price": """def price(X, s, K, lams):
    path = lam_path(RenyiKMeans(K, random_state=0), X, lams=lams, sensitive_features=s)
    rows = [
        (
            m.lam,
            m.inertia_,
            np.abs(m.proportions_ - m.proportions_.mean()).max(),
            renyi_correlation(m.labels_, s),
            cluster_metrics.balance(m.labels_, sensitive_features=s),
        )
        for m in path
    ]
    return pd.DataFrame(rows, columns=["lam", "loss", "worst", "rho", "balance"])"""
        },
        "caught_by": "test_price",
        "message": "worst was measured from the mean of the w_k",
    },
]

# Edits of the reference: (name, cell, original code, student's code, test, part of the message)
EDITS = [
    (
        "share of the zeros",
        "proportions",
        "np.divide(ones, size,",
        "np.divide(size - ones, size,",
        "test_proportions",
        "",
    ),
    (
        "0 for an empty cluster",
        "proportions",
        "out=np.full(K, np.nan)",
        "out=np.zeros(K)",
        "test_proportions_edge",
        "has no proportion",
    ),
    (
        "as many clusters as labels",
        "proportions",
        "size = np.bincount(labels, minlength=K)\n    "
        "ones = np.bincount(labels, s, K)\n    "
        "return np.divide(ones, size, out=np.full(K, np.nan), where=size > 0)",
        "return np.array([s[labels == k].mean() for k in np.unique(labels)])",
        "test_proportions_edge",
        "",
    ),
    (
        "a warning for an empty cluster",
        "proportions",
        "return np.divide(ones, size, out=np.full(K, np.nan), where=size > 0)",
        "return ones / size",
        "test_proportions_edge",
        "makes NumPy warn",
    ),
    (
        "ones over zeros",
        "balance",
        "np.minimum(ones, zeros)[some] / np.maximum(ones, zeros)[some]",
        "ones[some] / np.maximum(zeros[some], 1)",
        "test_balance",
        "",
    ),
    (
        "balance of all points",
        "balance",
        "np.min(np.minimum(ones, zeros)[some] / np.maximum(ones, zeros)[some])",
        "min(ones.sum(), zeros.sum()) / max(ones.sum(), zeros.sum())",
        "test_balance",
        "",
    ),
    (
        "clusters with one group left out",
        "balance",
        "some = ones + zeros > 0",
        "some = (ones > 0) & (zeros > 0)",
        "test_balance_edge",
        "has no zeros",
    ),
    (
        "empty cluster not left out",
        "balance",
        "some = ones + zeros > 0",
        "some = ones + zeros >= 0",
        "test_balance_edge",
        "",
    ),
    (
        "1 - s in place of s",
        "line_6",
        "(w - s_n) ** 2",
        "(w - 1 + s_n) ** 2",
        "test_line_6",
        "",
    ),
    (
        "absolute deviation in place of its square",
        "line_6",
        "(w - s_n) ** 2",
        "np.abs(w - s_n)",
        "test_line_6",
        "",
    ),
    (
        "mean over the coordinates",
        "line_6",
        "sum(axis=1)",
        "mean(axis=1)",
        "test_line_6",
        "",
    ),
    (
        "points visited in reverse order",
        "per_point_pass",
        "for n in range(len(X)):",
        "for n in reversed(range(len(X))):",
        "test_per_point_pass",
        "",
    ),
    (
        "moves on a tie",
        "per_point_pass",
        "if f[b] < f[a]:",
        "if b != a:",
        "test_per_point_pass",
        "",
    ),
    (
        "moves on a tie, to the last",
        "per_point_pass",
        "np.argmin(f)\n        if f[b] < f[a]:",
        "len(f) - 1 - np.argmin(f[::-1])\n        if b != a:",
        "test_per_point_pass",
        "",
    ),
    (
        "centers updated at every visit",
        "per_point_pass",
        "labels[n] = b\n",
        "labels[n] = b\n            "
        "c = np.array([X[labels == k].mean(axis=0) if np.any(labels == k) else c[k] "
        "for k in range(K)])\n",
        "test_per_point_pass",
        "",
    ),
    (
        "an emptied cluster gets 0",
        "per_point_pass",
        "if size[k] > 0:\n                    w[k] = ones[k] / size[k]",
        "w[k] = ones[k] / size[k] if size[k] > 0 else 0",
        "test_per_point_pass",
        "",
    ),
    (
        "only the joined cluster's share",
        "per_point_pass",
        "for k, sign in ((a, -1), (b, 1)):",
        "for k, sign in ((b, 1),):",
        "test_per_point_pass",
        "",
    ),
    (
        "limit with w squared in place of (w - 1) squared",
        "lam_limit",
        "(1 / 3 - 1) ** 2",
        "(1 / 3) ** 2",
        "test_lam_limit",
        "",
    ),
    (
        "distances not squared",
        "lam_limit",
        "(72.25 - 0.25)",
        "(8.5 - 0.5)",
        "test_lam_limit",
        "",
    ),
    (
        "divided by N, not by the sizes",
        "inner_maximum",
        "np.sum(excess[some] ** 2 / size[some])",
        "np.sum(excess[some] ** 2 / len(s))",
        "test_inner_maximum",
        "",
    ),
    (
        "lambda on the first term only",
        "inner_maximum",
        "lam * (np.sum(excess[some] ** 2 / size[some]) - N * p * (1 - p))",
        "lam * np.sum(excess[some] ** 2 / size[some]) - N * p * (1 - p)",
        "test_inner_maximum",
        "",
    ),
    (
        "absolute deviations",
        "inner_maximum",
        "excess[some] ** 2 / size[some]",
        "np.abs(excess[some])",
        "test_inner_maximum",
        "",
    ),
    (
        "the shares overwritten",
        "move_cost",
        "f = ((x - c) ** 2).sum(axis=1) - lam * (w - s_n) ** 2",
        "w -= s_n\n    f = ((x - c) ** 2).sum(axis=1) - lam * w**2",
        "test_move_cost",
        "only to look at",
    ),
    (
        "own entry not set to 0",
        "move_cost",
        "    change[a] = 0\n",
        "",
        "test_move_cost",
        "To stay costs",
    ),
    (
        "lambda added outside the factors",
        "move_cost",
        "size / (size + 1) * f - size[a] / (size[a] - 1) * f[a]",
        "size / (size + 1) * f - size[a] / (size[a] - 1) * f[a] + 1e-3 * lam",
        "test_move_cost",
        "",
    ),
    (
        "last point may leave for free",
        "move_cost",
        "np.full(len(size), np.inf)",
        "np.zeros(len(size))",
        "test_move_cost",
        "",
    ),
    (
        "new arrays in place of the caller's",
        "apply_move",
        "for k, sign in ((a, -1), (b, 1)):",
        "size, c, w = size.copy(), c.copy(), w.copy()\n    for k, sign in ((a, -1), (b, 1)):",
        "test_apply_move",
        "in place",
    ),
    (
        "same sign for leaving and joining",
        "apply_move",
        "c[k] += sign * (x - c[k]) / size[k]",
        "c[k] += (x - c[k]) / size[k]",
        "test_apply_move",
        "",
    ),
    (
        "only the joined cluster updated",
        "apply_move",
        "((a, -1), (b, 1))",
        "((b, 1),)",
        "test_apply_move",
        "",
    ),
    (
        "share updated with the size before the move",
        "apply_move",
        "w[k] += sign * (s_n - w[k]) / size[k]",
        "w[k] += sign * (s_n - w[k]) / (size[k] - sign)",
        "test_apply_move",
        "",
    ),
    (
        "all costs computed before the pass",
        "exact_descent",
        "        for n in range(len(labels)):\n            costs = change(n)",
        "        all_costs = [change(n) for n in range(len(labels))]\n        "
        "for n in range(len(labels)):\n            "
        "costs = all_costs[n]",
        "test_exact_descent",
        "not for all points before the pass",
    ),
    (
        "points in reverse order",
        "exact_descent",
        "for n in range(len(labels)):",
        "for n in reversed(range(len(labels))):",
        "test_exact_descent",
        "take them in order",
    ),
    (
        "one move per pass",
        "exact_descent",
        "                moves += 1\n",
        "                moves += 1\n                break\n",
        "test_exact_descent",
        "",
    ),
    (
        "the last 0 of the history left out",
        "exact_descent",
        "        history.append(moves)\n        if moves == 0:\n            break\n",
        "        if moves == 0:\n            break\n        history.append(moves)\n",
        "test_exact_descent",
        "the 0 of the pass",
    ),
    (
        "max_passes ignored",
        "exact_descent",
        "while len(history) < max_passes:",
        "while len(history) < 10**4:",
        "test_exact_descent",
        "",
    ),
    (
        "mean deviation in place of the largest",
        "price",
        ".max(),",
        ".mean(),",
        "test_price",
        "",
    ),
    (
        "rho squared",
        "price",
        "renyi_correlation(model.labels_, s)",
        "renyi_correlation(model.labels_, s) ** 2",
        "test_price",
        "",
    ),
    (
        "loss per person",
        "price",
        "model.inertia_",
        "model.inertia_ / len(s)",
        "test_price",
        "",
    ),
    (
        "clusters fixed at five",
        "price",
        "RenyiKMeans(K,",
        "RenyiKMeans(5,",
        "test_price",
        "",
    ),
    (
        "line 6 in place of the given score",
        "per_point_pass",
        "f = score(X[n], s[n], c, w, lam)",
        "f = np.sum((X[n] - c) ** 2, axis=1) - lam * (w - s[n]) ** 2",
        "test_per_point_pass",
        "use the function that is passed in",
    ),
]
