"""Wrong answers written from the assignments' text alone, before any test was read.

They measure how much the tests catch, so no test should be written for one of them alone.
`python -m grader.zoo held_back` prints the share that is caught. Each entry names the mistake and
the solution cell, and holds the cell as a student might have written it.
"""

HELD_BACK = {}

HELD_BACK["a1_dependence"] = [
    (
        "shares within each row",
        "joint",
        """
def joint(a, b):
    rows, i = np.unique(a, return_inverse=True)
    columns, j = np.unique(b, return_inverse=True)
    P = np.zeros((len(rows), len(columns)))
    np.add.at(P, (i, j), 1)
    return P / P.sum(axis=1, keepdims=True)
""",
    ),
    (
        "labels in order of appearance",
        "joint",
        """
def joint(a, b):
    rows, columns = list(dict.fromkeys(list(a))), list(dict.fromkeys(list(b)))
    P = np.zeros((len(rows), len(columns)))
    for x, y in zip(a, b):
        P[rows.index(x), columns.index(y)] += 1
    return P / len(a)
""",
    ),
    (
        "labels taken for positions",
        "joint",
        """
def joint(a, b):
    _, a = np.unique(a, return_inverse=True)
    b = np.asarray(b)
    if b.dtype.kind not in "iu":
        _, b = np.unique(b, return_inverse=True)
    P = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(P, (a, b), 1 / len(a))
    return P
""",
    ),
    (
        "divided by the marginals, without the square root",
        "normalize",
        """
def normalize(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    product = np.outer(p, q)
    return np.divide(P, product, out=np.zeros_like(P, dtype=float), where=product > 0)
""",
    ),
    (
        "a small number added under the square root",
        "normalize",
        """
def normalize(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    return P / np.sqrt(np.outer(p, q) + 1e-3)
""",
    ),
    (
        "empty rows left out of Q",
        "normalize",
        """
def normalize(P):
    P = P[P.sum(axis=1) > 0][:, P.sum(axis=0) > 0]
    return P / np.sqrt(np.outer(P.sum(axis=1), P.sum(axis=0)))
""",
    ),
    (
        "the first singular value below one",
        "rho",
        """
def rho(Q):
    values = np.linalg.svd(Q, compute_uv=False)
    below = values[values < 1 - 1e-9]
    return float(below[0]) if len(below) else 0.0
""",
    ),
    (
        "the smallest singular value",
        "rho",
        """
def rho(Q):
    if min(Q.shape) < 2:
        return 0.0
    return float(np.linalg.svd(Q, compute_uv=False)[-1])
""",
    ),
    (
        "the second eigenvalue of Q'Q, without the square root",
        "rho",
        """
def rho(Q):
    values = np.sort(np.linalg.eigvalsh(Q.T @ Q))[::-1]
    return float(values[1]) if len(values) > 1 else 0.0
""",
    ),
    (
        "the norm of all singular values but the first",
        "rho",
        """
def rho(Q):
    values = np.linalg.svd(Q, compute_uv=False)
    return float(np.sqrt(max(0.0, (values**2).sum() - 1)))
""",
    ),
    (
        "functions in the units of Q",
        "best_functions",
        """
def best_functions(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    u, _, vt = np.linalg.svd(P / np.sqrt(np.outer(p, q)))
    f, g = u[:, 1], vt[1]
    f, g = f - f @ p, g - g @ q
    return f / np.sqrt(p @ f**2), g / np.sqrt(q @ g**2)
""",
    ),
    (
        "signs of f and g chosen separately",
        "best_functions",
        """
def best_functions(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    D = P / np.sqrt(np.outer(p, q)) - np.sqrt(np.outer(p, q))
    u, _, vt = np.linalg.svd(D)
    f, g = u[:, 0] / np.sqrt(p), vt[0] / np.sqrt(q)
    return f * np.sign(f[0]), g * np.sign(g[0])
""",
    ),
    (
        "a blind spot that is only nearly deterministic",
        "blind_spot",
        """
def blind_spot():
    P = np.array([[0.19, 0.01, 0.0], [0.0, 0.0, 0.2], [0.2, 0.2, 0.0], [0.0, 0.0, 0.2]])
    a = np.array([-3.0, -1.0, 1.0, 2.0])
    b = np.array([0.0, 1.0, 4.0])
    P = P / P.sum()
    a = a - P.sum(axis=1) @ a
    return a, b, P
""",
    ),
    (
        "a blind spot without dependence",
        "blind_spot",
        """
def blind_spot():
    return np.array([1.0, 2.0, 5.0]), np.array([0.0, 1.0]), np.full((3, 2), 1 / 6)
""",
    ),
    (
        "Theorem 2 without its square root",
        "binary_rho",
        """
def binary_rho(P):
    p, q = P.sum(axis=1), P[:, 1].sum()
    if q <= 0 or q >= 1:
        return 0.0
    r = np.divide(P[:, 1], p, out=np.zeros_like(p), where=p > 0)
    return float(max(0.0, 1 - (p * r * (1 - r)).sum() / (q * (1 - q))))
""",
    ),
    (
        "gamma without the weights of the rows",
        "binary_rho",
        """
def binary_rho(P):
    p, q = P.sum(axis=1), P[:, 1].sum()
    if q <= 0 or q >= 1:
        return 0.0
    r = P[p > 0, 1] / p[p > 0]
    return float(np.sqrt(max(0.0, 1 - np.mean(r * (1 - r)) / (q * (1 - q)))))
""",
    ),
    (
        "the larger of the two attributes alone",
        "joint_group_rho",
        """
def joint_group_rho(y, s1, s2):
    return max(renyi_correlation(y, s1), renyi_correlation(y, s2))
""",
    ),
    (
        "codes added, so that combinations collide",
        "joint_group_rho",
        """
def joint_group_rho(y, s1, s2):
    _, i = np.unique(s1, return_inverse=True)
    _, j = np.unique(s2, return_inverse=True)
    return renyi_correlation(y, i + j)
""",
    ),
    (
        "labels joined without a separator",
        "joint_group_rho",
        """
def joint_group_rho(y, s1, s2):
    return renyi_correlation(y, np.array([f"{i}{j}" for i, j in zip(s1, s2)]))
""",
    ),
    (
        "the ratio of acceptance in a fixed direction",
        "audit",
        """
def audit(y, s):
    y, s = np.asarray(y), np.asarray(s)
    return float(abs(np.corrcoef(y, s)[0, 1])), float(y[s == 0].mean() / y[s == 1].mean())
""",
    ),
    (
        "shares of the group among those accepted",
        "audit",
        """
def audit(y, s):
    y, s = np.asarray(y), np.asarray(s)
    shares = [(s[y == 1] == k).mean() for k in (0, 1)]
    return float(abs(np.corrcoef(y, s)[0, 1])), float(min(shares) / max(shares))
""",
    ),
    (
        "logarithm to the base 2",
        "mutual_information",
        """
def mutual_information(P):
    product = np.outer(P.sum(axis=1), P.sum(axis=0))
    full = P > 0
    return float((P[full] * np.log2(P[full] / product[full])).sum())
""",
    ),
    (
        "p-value without the data's own arrangement",
        "chance",
        """
def chance(y, s, draws, seed):
    rng = np.random.default_rng(seed)
    seen = renyi_correlation(y, s)
    values = np.array([renyi_correlation(y, rng.permutation(s)) for _ in range(draws)])
    return float(values.mean()), float(np.mean(values >= seen - 1e-12))
""",
    ),
    (
        "ties do not count",
        "chance",
        """
def chance(y, s, draws, seed):
    rng = np.random.default_rng(seed)
    seen = renyi_correlation(y, s)
    values = np.array([renyi_correlation(y, rng.permutation(s)) for _ in range(draws)])
    return float(values.mean()), float((1 + np.sum(values > seen + 1e-12)) / (1 + draws))
""",
    ),
]

HELD_BACK["a2_classification"] = [
    (
        "shares within the group",
        "joint_table",
        """
def joint_table(F, s):
    return np.stack([F[s == j].mean(axis=0) for j in range(s.max() + 1)], axis=1)
""",
    ),
    (
        "the most probable label instead of its probability",
        "joint_table",
        """
def joint_table(F, s):
    hard = np.eye(F.shape[1])[F.argmax(axis=1)]
    return np.stack([hard[s == j].sum(axis=0) / len(s) for j in range(s.max() + 1)], axis=1)
""",
    ),
    (
        "left singular vector, padded with zeros",
        "best_response_v",
        """
def best_response_v(T):
    p, q = T.sum(axis=1), T.sum(axis=0)
    u, _, vt = np.linalg.svd(T / np.sqrt(np.outer(p, q)))
    v = np.zeros(T.shape[1])
    n = min(len(v), len(u))
    v[:n] = u[:n, 1]
    return v / np.linalg.norm(v)
""",
    ),
    (
        "a column of vt",
        "best_response_v",
        """
def best_response_v(T):
    p, q = T.sum(axis=1), T.sum(axis=0)
    return np.linalg.svd(T / np.sqrt(np.outer(p, q)))[2][:, 1]
""",
    ),
    (
        "divided by the square root of q",
        "best_response_v",
        """
def best_response_v(T):
    p, q = T.sum(axis=1), T.sum(axis=0)
    D = T / np.sqrt(np.outer(p, q)) - np.sqrt(np.outer(p, q))
    v = np.linalg.svd(D)[2][0] / np.sqrt(q)
    return v / np.linalg.norm(v)
""",
    ),
    (
        "a half forgotten",
        "best_response_w",
        """
def best_response_w(F, s):
    return F.T @ (2 * s - 1) / F.sum(axis=0)
""",
    ),
    (
        "P(label | group) instead of P(group | label)",
        "best_response_w",
        """
def best_response_w(F, s):
    return F[s == 1].mean(axis=0) - 0.5
""",
    ),
    (
        "centered with q instead of one half",
        "best_response_w",
        """
def best_response_w(F, s):
    return F.T @ s / F.sum(axis=0) - s.mean()
""",
    ),
    (
        "the offset left out",
        "adversary_value",
        """
def adversary_value(F, s, w):
    q = s.mean()
    A = np.mean(((2 * s - 1)[:, None] * w - w**2) * F * 1.0) * F.shape[1]
    return float(A / (q * (1 - q)))
""",
    ),
    (
        "the offset not divided",
        "adversary_value",
        """
def adversary_value(F, s, w):
    q = s.mean()
    A = (((2 * s - 1)[:, None] * w - w**2) * F).sum(axis=1).mean()
    return float(A / (q * (1 - q)) - (q - 0.5) ** 2)
""",
    ),
    (
        "its own best w instead of the one given",
        "adversary_value",
        """
def adversary_value(F, s, w):
    q = s.mean()
    w = F.T @ s / F.sum(axis=0) - 0.5
    A = (((2 * s - 1)[:, None] * w - w**2) * F).sum(axis=1).mean()
    return float((A - (q - 0.5) ** 2) / (q * (1 - q)))
""",
    ),
    (
        "the dependence of p on T forgotten",
        "penalty_given_v",
        """
def penalty_given_v(T, q, v):
    h, p = v / np.sqrt(q), T.sum(axis=1)
    m = T @ h
    return float((m**2 / p).sum()), 2 * np.outer(m / p, h)
""",
    ),
    (
        "q taken from T instead of the argument",
        "penalty_given_v",
        """
def penalty_given_v(T, q, v):
    h, p = v / np.sqrt(T.sum(axis=0)), T.sum(axis=1)
    m = T @ h
    return float((m**2 / p).sum()), 2 * np.outer(m / p, h) - ((m / p) ** 2)[:, None]
""",
    ),
    (
        "the penalty's gradient with the wrong sign",
        "f_B",
        """
def f_B(theta, w, X1, y, s, lam):
    F, n, q = soft_labels(theta, X1), len(y), s.mean()
    A = (2 * s - 1)[:, None] * w - w**2
    scale = lam / (q * (1 - q))
    value = -np.log(F[np.arange(n), y]).mean() + scale * (A * F).sum() / n
    Z = F.copy()
    Z[np.arange(n), y] -= 1
    Z -= scale * F * (A - (F * A).sum(axis=1, keepdims=True))
    return float(value), Z.T @ X1 / n
""",
    ),
    (
        "lambda not divided by q (1 - q)",
        "f_B",
        """
def f_B(theta, w, X1, y, s, lam):
    F, n = soft_labels(theta, X1), len(y)
    A = (2 * s - 1)[:, None] * w - w**2
    value = -np.log(F[np.arange(n), y]).mean() + lam * (A * F).sum() / n
    Z = F.copy()
    Z[np.arange(n), y] -= 1
    Z += lam * F * (A - (F * A).sum(axis=1, keepdims=True))
    return float(value), Z.T @ X1 / n
""",
    ),
    (
        "gradient transposed",
        "f_B",
        """
def f_B(theta, w, X1, y, s, lam):
    F, n, q = soft_labels(theta, X1), len(y), s.mean()
    A = (2 * s - 1)[:, None] * w - w**2
    scale = lam / (q * (1 - q))
    value = -np.log(F[np.arange(n), y]).mean() + scale * (A * F).sum() / n
    Z = F.copy()
    Z[np.arange(n), y] -= 1
    Z += scale * F * (A - (F * A).sum(axis=1, keepdims=True))
    return float(value), X1.T @ Z / n
""",
    ),
    (
        "the adversary answers once, at the start",
        "algorithm_2",
        """
def algorithm_2(theta, adversary, objective, eta, steps):
    w, history = adversary(theta), []
    for _ in range(steps):
        value, gradient = objective(theta, w)
        history.append(value)
        theta = theta - eta * gradient
    return theta, np.array([*history, objective(theta, w)[0]])
""",
    ),
    (
        "the value at the end is missing",
        "algorithm_2",
        """
def algorithm_2(theta, adversary, objective, eta, steps):
    history = []
    for _ in range(steps):
        value, gradient = objective(theta, adversary(theta))
        history.append(value)
        theta = theta - eta * gradient
    return theta, np.array(history)
""",
    ),
    (
        "a step up the gradient",
        "algorithm_2",
        """
def algorithm_2(theta, adversary, objective, eta, steps):
    history = [objective(theta, adversary(theta))[0]]
    for _ in range(steps):
        theta = theta + eta * objective(theta, adversary(theta))[1]
        history.append(objective(theta, adversary(theta))[0])
    return theta, np.array(history)
""",
    ),
    (
        "EO violation over everybody",
        "measures",
        """
def p_rule(y_hat, s):
    a, b = y_hat[s == 0].mean(), y_hat[s == 1].mean()
    return 1.0 if max(a, b) == 0 else float(min(a, b) / max(a, b))


def eo_violation(y, y_hat, s):
    return float(abs(y_hat[s == 1].mean() - y_hat[s == 0].mean()))
""",
    ),
    (
        "EO violation with its sign",
        "measures",
        """
def p_rule(y_hat, s):
    a, b = y_hat[s == 0].mean(), y_hat[s == 1].mean()
    return 1.0 if max(a, b) == 0 else float(min(a, b) / max(a, b))


def eo_violation(y, y_hat, s):
    good = y == 1
    return float(y_hat[good & (s == 1)].mean() - y_hat[good & (s == 0)].mean())
""",
    ),
    (
        "nobody accepted counts as unfair",
        "measures",
        """
def p_rule(y_hat, s):
    a, b = y_hat[s == 0].mean(), y_hat[s == 1].mean()
    return 0.0 if min(a, b) == 0 else float(min(a, b) / max(a, b))


def eo_violation(y, y_hat, s):
    good = y == 1
    return float(abs(y_hat[good & (s == 1)].mean() - y_hat[good & (s == 0)].mean()))
""",
    ),
    (
        "accuracy on the training rows",
        "trade_off",
        """
def trade_off(data, lams):
    rows = []
    for lam in lams:
        model = RenyiClassifier(lam)
        model.fit(data.X_train, data.y_train, sensitive_features=data.s_train)
        label, soft = model.predict(data.X_test), model.predict_proba(data.X_test)[:, 1]
        rows.append(
            {
                "lam": lam,
                "accuracy": np.mean(model.predict(data.X_train) == data.y_train),
                "p_hard": metrics.demographic_parity_ratio(label, data.s_test),
                "p_soft": metrics.demographic_parity_ratio(soft, data.s_test),
            }
        )
    return pd.DataFrame(rows)
""",
    ),
    (
        "q of everybody, not of those with y = 1",
        "eo_penalty",
        """
def eo_penalty(F, y, s):
    good = y == 1
    G, w = np.zeros_like(F), F[good].T @ s[good] / F[good].sum(axis=0) - 0.5
    q = s.mean()
    A = (2 * s[good] - 1)[:, None] * w - w**2
    value = ((A * F[good]).sum(axis=1).mean() - (q - 0.5) ** 2) / (q * (1 - q))
    G[good] = A / (good.sum() * q * (1 - q))
    return float(value), G
""",
    ),
    (
        "divided by all N",
        "eo_penalty",
        """
def eo_penalty(F, y, s):
    good = y == 1
    G, w = np.zeros_like(F), F[good].T @ s[good] / F[good].sum(axis=0) - 0.5
    q = s[good].mean()
    A = (2 * s[good] - 1)[:, None] * w - w**2
    value = ((A * F[good]).sum(axis=1).mean() - (q - 0.5) ** 2) / (q * (1 - q))
    G[good] = A / (len(y) * q * (1 - q))
    return float(value), G
""",
    ),
    (
        "the last, shorter batch counts",
        "batch_penalty",
        """
from renyi_lib.correlation import renyi_from_soft


def batch_penalty(F, s, size):
    found = []
    for start in range(0, len(s), size):
        f, g = F[start : start + size], s[start : start + size]
        if len(set(g.tolist())) > 1:
            found.append(renyi_from_soft(f, g) ** 2)
    return float(renyi_from_soft(F, s) ** 2), float(np.mean(found))
""",
    ),
    (
        "the square of the mean",
        "batch_penalty",
        """
from renyi_lib.correlation import renyi_from_soft


def batch_penalty(F, s, size):
    found = []
    for start in range(0, len(s) - size + 1, size):
        f, g = F[start : start + size], s[start : start + size]
        if len(set(g.tolist())) > 1:
            found.append(renyi_from_soft(f, g))
    return float(renyi_from_soft(F, s) ** 2), float(np.mean(found) ** 2)
""",
    ),
    (
        "a batch with one group counts as 0",
        "batch_penalty",
        """
from renyi_lib.correlation import renyi_from_soft


def batch_penalty(F, s, size):
    found = []
    for start in range(0, len(s) - size + 1, size):
        f, g = F[start : start + size], s[start : start + size]
        found.append(renyi_from_soft(f, g) ** 2 if len(set(g.tolist())) > 1 else 0.0)
    return float(renyi_from_soft(F, s) ** 2), float(np.mean(found))
""",
    ),
]

HELD_BACK["a3_clustering"] = [
    (
        "share of the group that is in the cluster",
        "proportions",
        """
def proportions(labels, s, K):
    return np.array(
        [
            np.sum(s[labels == k]) / np.sum(s) if np.any(labels == k) else np.nan
            for k in range(K)
        ]
    )
""",
    ),
    (
        "0 for an empty cluster",
        "proportions",
        """
def proportions(labels, s, K):
    return np.array([s[labels == k].mean() if np.any(labels == k) else 0.0 for k in range(K)])
""",
    ),
    (
        "only the clusters that have points",
        "proportions",
        """
def proportions(labels, s, K):
    return np.array([s[labels == k].mean() for k in np.unique(labels)])
""",
    ),
    (
        "zeros over ones, not smaller over larger",
        "balance",
        """
def balance(labels, s, K):
    found = []
    for k in range(K):
        own = s[labels == k]
        if len(own):
            found.append((own == 0).sum() / max((own == 1).sum(), 1))
    return float(min(found))
""",
    ),
    (
        "the mean of the ratios",
        "balance",
        """
def balance(labels, s, K):
    found = []
    for k in range(K):
        own = s[labels == k]
        if len(own):
            ones, zeros = own.sum(), len(own) - own.sum()
            found.append(min(ones, zeros) / max(ones, zeros))
    return float(np.mean(found))
""",
    ),
    (
        "an empty cluster has balance 0",
        "balance",
        """
def balance(labels, s, K):
    found = []
    for k in range(K):
        ones = s[labels == k].sum()
        zeros = (labels == k).sum() - ones
        found.append(min(ones, zeros) / max(ones, zeros, 1))
    return float(min(found))
""",
    ),
    (
        "distance not squared",
        "line_6",
        """
def line_6(x, s_n, c, w, lam):
    return np.sqrt(((x - c) ** 2).sum(axis=1)) - lam * (w - s_n) ** 2
""",
    ),
    (
        "penalty added",
        "line_6",
        """
def line_6(x, s_n, c, w, lam):
    return ((x - c) ** 2).sum(axis=1) + lam * (w - s_n) ** 2
""",
    ),
    (
        "w computed once for the whole pass",
        "per_point_pass",
        """
def per_point_pass(X, s, labels, c, lam, score):
    labels = labels.copy()
    w = np.array([s[labels == k].mean() for k in range(len(c))])
    for n in range(len(X)):
        scores = score(X[n], s[n], c, w, lam)
        best = int(np.argmin(scores))
        if scores[best] < scores[labels[n]]:
            labels[n] = best
    return labels
""",
    ),
    (
        "ties move to the first cluster",
        "per_point_pass",
        """
def per_point_pass(X, s, labels, c, lam, score):
    labels, K = labels.copy(), len(c)
    w = np.array([s[labels == k].mean() for k in range(K)])
    for n in range(len(X)):
        labels[n] = int(np.argmin(score(X[n], s[n], c, w, lam)))
        for k in range(K):
            if np.any(labels == k):
                w[k] = s[labels == k].mean()
    return labels
""",
    ),
    (
        "the point itself left out of its cluster's share",
        "per_point_pass",
        """
def per_point_pass(X, s, labels, c, lam, score):
    labels, K = labels.copy(), len(c)
    for n in range(len(X)):
        others = np.arange(len(X)) != n
        w = np.array(
            [
                s[others & (labels == k)].mean() if np.any(others & (labels == k)) else 0.0
                for k in range(K)
            ]
        )
        scores = score(X[n], s[n], c, w, lam)
        best = int(np.argmin(scores))
        if scores[best] < scores[labels[n]]:
            labels[n] = best
    return labels
""",
    ),
    (
        "an emptied cluster's share becomes 0",
        "per_point_pass",
        """
def per_point_pass(X, s, labels, c, lam, score):
    labels, K = labels.copy(), len(c)
    w = np.array([s[labels == k].mean() for k in range(K)])
    for n in range(len(X)):
        scores = score(X[n], s[n], c, w, lam)
        best = int(np.argmin(scores))
        if scores[best] < scores[labels[n]]:
            labels[n] = best
            w = np.array([s[labels == k].mean() if np.any(labels == k) else 0.0 for k in range(K)])
    return labels
""",
    ),
    ("the limit of the first visit", "lam_limit", "lam_limit = 80.0\n"),
    (
        "the penalty without the constant",
        "inner_maximum",
        """
def inner_maximum(labels, s, K, lam):
    p, total = s.mean(), 0.0
    for k in range(K):
        own = s[labels == k]
        if len(own):
            total += len(own) * (own.mean() - p) ** 2
    return float(lam * total)
""",
    ),
    (
        "p as the mean of the shares",
        "inner_maximum",
        """
def inner_maximum(labels, s, K, lam):
    w = [s[labels == k].mean() for k in range(K) if np.any(labels == k)]
    n = [np.sum(labels == k) for k in range(K) if np.any(labels == k)]
    p = np.mean(w)
    return float(lam * np.sum(np.array(n) * (np.array(w) - p) ** 2) - lam * len(s) * p * (1 - p))
""",
    ),
    (
        "sizes without plus and minus one",
        "move_cost",
        """
def move_cost(x, s_n, a, size, c, w, lam):
    f = ((x - c) ** 2).sum(axis=1) - lam * (w - s_n) ** 2
    if size[a] == 1:
        cost = np.full(len(c), np.inf)
    else:
        cost = f - f[a]
    cost[a] = 0.0
    return cost
""",
    ),
    (
        "the last point may leave for nothing",
        "move_cost",
        """
def move_cost(x, s_n, a, size, c, w, lam):
    f = ((x - c) ** 2).sum(axis=1) - lam * (w - s_n) ** 2
    leaving = size[a] / (size[a] - 1) * f[a] if size[a] > 1 else 0.0
    cost = size / (size + 1) * f - leaving
    cost[a] = 0.0
    return cost
""",
    ),
    (
        "sizes changed before they are used",
        "apply_move",
        """
def apply_move(x, s_n, a, b, size, c, w):
    size[a] -= 1
    size[b] += 1
    c[b] += (x - c[b]) / (size[b] + 1)
    w[b] += (s_n - w[b]) / (size[b] + 1)
    c[a] -= (x - c[a]) / (size[a] - 1)
    w[a] -= (s_n - w[a]) / (size[a] - 1)
""",
    ),
    (
        "new arrays instead of the caller's",
        "apply_move",
        """
def apply_move(x, s_n, a, b, size, c, w):
    size, c, w = size.copy(), c.copy(), w.copy()
    c[b] += (x - c[b]) / (size[b] + 1)
    w[b] += (s_n - w[b]) / (size[b] + 1)
    c[a] -= (x - c[a]) / (size[a] - 1)
    w[a] -= (s_n - w[a]) / (size[a] - 1)
    size[a] -= 1
    size[b] += 1
""",
    ),
    (
        "the shares forgotten",
        "apply_move",
        """
def apply_move(x, s_n, a, b, size, c, w):
    c[b] += (x - c[b]) / (size[b] + 1)
    c[a] -= (x - c[a]) / (size[a] - 1)
    size[a] -= 1
    size[b] += 1
""",
    ),
    (
        "one pass only",
        "exact_descent",
        """
def exact_descent(labels, change, move, max_passes=100):
    moves = 0
    for n in range(len(labels)):
        cost = change(n)
        b = int(np.argmin(cost))
        if cost[b] < -1e-12:
            move(n, b)
            moves += 1
    return [moves, 0] if moves else [0]
""",
    ),
    (
        "the first improving cluster, not the best",
        "exact_descent",
        """
def exact_descent(labels, change, move, max_passes=100):
    counts = []
    for _ in range(max_passes):
        moves = 0
        for n in range(len(labels)):
            better = np.flatnonzero(np.asarray(change(n)) < -1e-12)
            if len(better):
                move(n, int(better[0]))
                moves += 1
        counts.append(moves)
        if not moves:
            break
    return counts
""",
    ),
    (
        "rounding counts as a gain",
        "exact_descent",
        """
def exact_descent(labels, change, move, max_passes=100):
    counts = []
    for _ in range(max_passes):
        moves = 0
        for n in range(len(labels)):
            cost = change(n)
            b = int(np.argmin(cost))
            if cost[b] < 0:
                move(n, b)
                moves += 1
        counts.append(moves)
        if not moves:
            break
    return counts
""",
    ),
    (
        "the price with its penalty",
        "price",
        """
def price(X, s, K, lams):
    models = lam_path(RenyiKMeans(K, random_state=0), X, lams=lams, sensitive_features=s)
    rows = []
    for m in models:
        size = np.bincount(m.labels_, minlength=K)
        rows.append(
            {
                "lam": m.lam,
                "loss": m.inertia_ + m.lam * np.nansum(size * (m.proportions_ - s.mean()) ** 2),
                "worst": np.nanmax(np.abs(m.proportions_ - s.mean())),
                "rho": renyi_correlation(m.labels_, s),
                "balance": cluster_metrics.balance(m.labels_, s),
            }
        )
    return pd.DataFrame(rows)
""",
    ),
    (
        "the worst share instead of its distance",
        "price",
        """
def price(X, s, K, lams):
    models = lam_path(RenyiKMeans(K, random_state=0), X, lams=lams, sensitive_features=s)
    rows = []
    for m in models:
        rows.append(
            {
                "lam": m.lam,
                "loss": m.inertia_,
                "worst": np.nanmax(m.proportions_ - s.mean()),
                "rho": renyi_correlation(m.labels_, s),
                "balance": cluster_metrics.balance(m.labels_, s),
            }
        )
    return pd.DataFrame(rows)
""",
    ),
]

HELD_BACK["a5_judging"] = [
    (
        "share of the training rows that occur in the test set",
        "shared",
        """
def shared(train, test):
    known = set(map(tuple, test[train.columns].to_numpy().tolist()))
    return float(np.mean([tuple(row) in known for row in train.to_numpy().tolist()]))
""",
    ),
    (
        "merged, so that repeated rows multiply",
        "shared",
        """
def shared(train, test):
    return len(test.merge(train, how="inner")) / len(test)
""",
    ),
    (
        "rows compared by index",
        "shared",
        """
def shared(train, test):
    return float(test.index.isin(train.index).mean())
""",
    ),
    (
        "the last rows are the test rows",
        "split",
        """
def split(n, share, seed):
    order = np.random.default_rng(seed).permutation(n)
    cut = n - round(share * n)
    return np.sort(order[:cut]), np.sort(order[cut:])
""",
    ),
    (
        "truncated instead of rounded",
        "split",
        """
def split(n, share, seed):
    order = np.random.default_rng(seed).permutation(n)
    cut = int(share * n)
    return np.sort(order[cut:]), np.sort(order[:cut])
""",
    ),
    (
        "the older generator",
        "split",
        """
def split(n, share, seed):
    order = np.random.RandomState(seed).permutation(n)
    cut = round(share * n)
    return np.sort(order[cut:]), np.sort(order[:cut])
""",
    ),
    (
        "differences in the order of the table, not of the seeds",
        "differences",
        """
def differences(table, treatment, control):
    a = table[table["method"] == treatment].set_index("seed")["value"]
    b = table[table["method"] == control].set_index("seed")["value"]
    return (a - b.reindex(a.index)).dropna().to_numpy()
""",
    ),
    (
        "a missing value counts as 0",
        "differences",
        """
def differences(table, treatment, control):
    wide = table.pivot(index="seed", columns="method", values="value").fillna(0)
    return (wide[treatment] - wide[control]).to_numpy()
""",
    ),
    (
        "unpaired: sorted values",
        "differences",
        """
def differences(table, treatment, control):
    wide = table.pivot(index="seed", columns="method", values="value")
    wide = wide[[treatment, control]].dropna()
    return np.sort(wide[treatment].to_numpy()) - np.sort(wide[control].to_numpy())
""",
    ),
    (
        "a seed dropped because a third method is missing",
        "differences",
        """
def differences(table, treatment, control):
    wide = table.pivot(index="seed", columns="method", values="value").dropna()
    return (wide[treatment] - wide[control]).to_numpy()
""",
    ),
    (
        "the normal quantile",
        "interval",
        """
def interval(d, r):
    d = np.asarray(d, dtype=float)
    if len(d) < 2:
        return math.nan, math.nan
    half = 1.96 * d.std(ddof=1) * math.sqrt(1 / len(d) + r)
    return float(d.mean() - half), float(d.mean() + half)
""",
    ),
    (
        "n degrees of freedom",
        "interval",
        """
def interval(d, r):
    d = np.asarray(d, dtype=float)
    if len(d) < 2:
        return math.nan, math.nan
    half = stats.t.ppf(0.975, len(d)) * d.std(ddof=1) * math.sqrt(1 / len(d) + r)
    return float(d.mean() - half), float(d.mean() + half)
""",
    ),
    (
        "a one-sided quantile",
        "interval",
        """
def interval(d, r):
    d = np.asarray(d, dtype=float)
    if len(d) < 2:
        return math.nan, math.nan
    half = stats.t.ppf(0.95, len(d) - 1) * d.std(ddof=1) * math.sqrt(1 / len(d) + r)
    return float(d.mean() - half), float(d.mean() + half)
""",
    ),
    (
        "the correction outside the square root",
        "interval",
        """
def interval(d, r):
    d = np.asarray(d, dtype=float)
    if len(d) < 2:
        return math.nan, math.nan
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) * (math.sqrt(1 / len(d)) + r)
    return float(d.mean() - half), float(d.mean() + half)
""",
    ),
    (
        "chosen on the test rows",
        "choose",
        """
def choose(table, level):
    fair = table[table["p_test"] >= level]
    if len(fair):
        row = fair.sort_values(["acc_test", "lam"], ascending=[False, True]).iloc[0]
    else:
        row = table.sort_values(["p_test", "lam"], ascending=[False, True]).iloc[0]
    return float(row["lam"]), float(row["p_test"]), float(row["acc_test"])
""",
    ),
    (
        "the largest lambda in a tie",
        "choose",
        """
def choose(table, level):
    fair = table[table["p_valid"] >= level]
    if len(fair):
        row = fair.sort_values(["acc_valid", "lam"], ascending=False).iloc[0]
    else:
        row = table.sort_values(["p_valid", "lam"], ascending=False).iloc[0]
    return float(row["lam"]), float(row["p_test"]), float(row["acc_test"])
""",
    ),
    (
        "strictly fairer than the level",
        "choose",
        """
def choose(table, level):
    fair = table[table["p_valid"] > level]
    if len(fair):
        row = fair.sort_values(["acc_valid", "lam"], ascending=[False, True]).iloc[0]
    else:
        row = table.sort_values(["p_valid", "lam"], ascending=[False, True]).iloc[0]
    return float(row["lam"]), float(row["p_test"]), float(row["acc_test"])
""",
    ),
    (
        "the most accurate if none is fair enough",
        "choose",
        """
def choose(table, level):
    fair = table[table["p_valid"] >= level]
    pool = fair if len(fair) else table
    row = pool.sort_values(["acc_valid", "lam"], ascending=[False, True]).iloc[0]
    return float(row["lam"]), float(row["p_test"]), float(row["acc_test"])
""",
    ),
]

# Cells of a sound experiment for assignment 4, in which each wrong answer replaces one cell.
A4 = {
    "plan": """
PLAN = {
    "data": "simulated coins",
    "seeds": [3, 5, 8, 13, 21, 34],
    "ratio": 0.0,
    "claimed": {"small": (0.05, 0.6), "large": (0.0, 0.5)},
}
""",
    "run": '''
def run(seed):
    """A biased coin against a fair one, with 50 and 500 tosses."""
    rng = np.random.default_rng(seed)
    rows = []
    for case, n in (("small", 50), ("large", 500)):
        rows.append((seed, case, "control", rng.binomial(n, 0.5) / n))
        rows.append((seed, case, "treatment", rng.binomial(n, 0.7) / n))
    return pd.DataFrame(rows, columns=["seed", "case", "setting", "value"])
''',
}

A4_INTERVAL = '''
def interval(differences, ratio):
    """Return (low, high), the 95 % interval of the mean."""
    d = np.asarray(differences, dtype=float)
    d = d[~np.isnan(d)]
    if len(d) < 2:
        return math.nan, math.nan
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) * math.sqrt(1 / len(d) + ratio)
    return float(d.mean() - half), float(d.mean() + half)
'''

A4_VERDICT = '''
def verdict(intervals, claimed):
    """Return one of VERDICTS."""
    found = []
    for case, (low, high) in claimed.items():
        left, right = intervals[case]
        if math.isnan(left):
            found.append("cannot be tested")
        elif low <= left and right <= high:
            found.append("holds")
        elif right < low or left > high:
            found.append("does not hold")
        else:
            found.append("undecided")
    if len(set(found)) == 1:
        return found[0]
    kinds = {"undecided" if one == "cannot be tested" else one for one in found}
    if len(kinds) == 1:
        return kinds.pop()
    if "holds" not in kinds:
        return "does not hold"
    return "holds in part" if "does not hold" in kinds else "undecided"
'''

A4_RESULTS = """
RESULTS = pd.concat([run(seed) for seed in PLAN["seeds"]], ignore_index=True)
"""

A4_CONCLUSION = """
INTERVALS = {}
for case in PLAN["claimed"]:
    wide = RESULTS[RESULTS["case"] == case].pivot(index="seed", columns="setting", values="value")
    INTERVALS[case] = interval(wide["treatment"] - wide["control"], PLAN["ratio"])
VERDICT = verdict(INTERVALS, PLAN["claimed"])
"""

HELD_BACK["a4_reproduction"] = [
    (
        "Student's interval whatever the ratio",
        "interval",
        A4_INTERVAL.replace("1 / len(d) + ratio", "1 / len(d)"),
    ),
    (
        "1.96 instead of Student's quantile",
        "interval",
        A4_INTERVAL.replace("stats.t.ppf(0.975, len(d) - 1)", "1.96"),
    ),
    (
        "four degrees of freedom, for five seeds",
        "interval",
        A4_INTERVAL.replace("len(d) - 1)", "4)"),
    ),
    ("division by n", "interval", A4_INTERVAL.replace("ddof=1", "ddof=0")),
    (
        "nan counted in n",
        "interval",
        A4_INTERVAL.replace("d = d[~np.isnan(d)]", "n = len(d)\n    d = d[~np.isnan(d)]").replace(
            "1 / len(d)", "1 / n"
        ),
    ),
    (
        "a single number is its own interval",
        "interval",
        A4_INTERVAL.replace(
            "if len(d) < 2:", "if len(d) == 1:\n        return d[0], d[0]\n    if len(d) < 2:"
        ),
    ),
    (
        "an interval that touches the range from inside counts as open",
        "verdict",
        A4_VERDICT.replace("low <= left and right <= high", "low < left and right < high"),
    ),
    (
        "an interval that touches the range from outside contradicts",
        "verdict",
        A4_VERDICT.replace("right < low or left > high", "right <= low or left >= high"),
    ),
    (
        "one contradiction is enough",
        "verdict",
        A4_VERDICT.replace(
            'return "holds in part" if "does not hold" in kinds else "undecided"',
            'return "does not hold" if "does not hold" in kinds else "undecided"',
        ),
    ),
    (
        "open cases are forgotten",
        "verdict",
        A4_VERDICT.replace(
            'return "holds in part" if "does not hold" in kinds else "undecided"',
            'return "holds in part" if "does not hold" in kinds else "holds"',
        ),
    ),
    (
        "the middle of the interval decides",
        "verdict",
        A4_VERDICT.replace(
            "left, right = intervals[case]", "left = right = sum(intervals[case]) / 2"
        ),
    ),
    (
        "no interval is taken for an open case",
        "verdict",
        A4_VERDICT.replace('found.append("cannot be tested")', 'found.append("undecided")'),
    ),
    ("numbers without the seed", "run", A4["run"].replace("default_rng(seed)", "default_rng()")),
    (
        "the same numbers for every seed",
        "run",
        A4["run"].replace("default_rng(seed)", "default_rng(1)"),
    ),
    (
        "the treatment is the control",
        "run",
        A4["run"].replace("rng.binomial(n, 0.7) / n", "rows[-1][3]"),
    ),
    ("half of the seeds", "results", A4_RESULTS.replace('PLAN["seeds"]', 'PLAN["seeds"][:3]')),
    (
        "results that the experiment does not give",
        "results",
        A4_RESULTS
        + 'RESULTS["value"] = RESULTS["value"].where(RESULTS["setting"] == "control", 0.75)\n',
    ),
    (
        "control minus treatment",
        "conclusion",
        A4_CONCLUSION.replace(
            'wide["treatment"] - wide["control"]', 'wide["control"] - wide["treatment"]'
        ),
    ),
    (
        "values of different seeds subtracted",
        "conclusion",
        A4_CONCLUSION.replace(
            'wide["treatment"] - wide["control"]',
            'np.sort(wide["treatment"]) - np.sort(wide["control"])',
        ),
    ),
    (
        "a verdict by eye",
        "conclusion",
        A4_CONCLUSION.replace('verdict(INTERVALS, PLAN["claimed"])', '"cannot be tested"'),
    ),
    (
        "a range that nothing can leave",
        "plan",
        A4["plan"].replace("(0.05, 0.6)", "(-math.inf, math.inf)"),
    ),
    (
        "seeds that repeat",
        "plan",
        A4["plan"].replace("[3, 5, 8, 13, 21, 34]", "[3, 5, 8, 13, 3, 5]"),
    ),
    ("a single case", "plan", A4["plan"].replace(', "large": (0.0, 0.5)', "")),
]

A5_VERDICT = '''
def verdict(low, high, smallest):
    """Return one of the five verdicts."""
    if math.isnan(low) or math.isnan(high):
        return "cannot be tested"
    if low > 0:
        return "holds" if high >= smallest else "holds in part"
    return "undecided" if high >= smallest else "does not hold"
'''

HELD_BACK["a5_judging"] += [
    (
        "not above zero means that it does not hold",
        "verdict",
        A5_VERDICT.replace(
            '"undecided" if high >= smallest else "does not hold"', '"does not hold"'
        ),
    ),
    (
        "an interval that starts at zero is above it",
        "verdict",
        A5_VERDICT.replace("low > 0", "low >= 0"),
    ),
    (
        "an interval that ends at the smallest effect excludes it",
        "verdict",
        A5_VERDICT.replace("high >= smallest", "high > smallest"),
    ),
    (
        "no interval is undecided",
        "verdict",
        A5_VERDICT.replace('return "cannot be tested"', 'return "undecided"'),
    ),
    (
        "the whole interval beyond the smallest effect",
        "verdict",
        A5_VERDICT.replace('"holds" if high >= smallest', '"holds" if low >= smallest'),
    ),
]

A4_BASE = A4 | {
    "interval": A4_INTERVAL,
    "verdict": A4_VERDICT,
    "results": A4_RESULTS,
    "conclusion": A4_CONCLUSION,
}
