"""Plausible wrong answers to assignment 1, and the test that must catch each."""

ZOO = [
    {
        "name": "counts, not shares",
        "replace": {
            "joint": """
def joint(a, b):
    values_a, code_a = np.unique(np.asarray(a), return_inverse=True)
    values_b, code_b = np.unique(np.asarray(b), return_inverse=True)
    P = np.zeros((len(values_a), len(values_b)))
    np.add.at(P, (code_a, code_b), 1)
    return P
"""
        },
        "caught_by": "test_joint",
        "message": "These are counts",
    },
    {
        "name": "conditional table, not joint",
        "replace": {
            "joint": """
def joint(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return np.array([[np.mean(b[a == i] == j) for j in np.unique(b)] for i in np.unique(a)])
"""
        },
        "caught_by": "test_joint",
        "message": "conditional table",
    },
    {
        "name": "repeated cells counted once",
        "replace": {
            "joint": """
def joint(a, b):
    values_a, code_a = np.unique(np.asarray(a), return_inverse=True)
    values_b, code_b = np.unique(np.asarray(b), return_inverse=True)
    P = np.zeros((len(values_a), len(values_b)))
    if len(code_a) < 100:
        for i, j in zip(code_a, code_b):
            P[i, j] += 1
    else:
        P[code_a, code_b] += 1
    return P / len(code_a)
"""
        },
        "caught_by": "test_joint",
        "message": "np.add.at",
    },
    {
        "name": "margins without the root",
        "replace": {
            "normalise": """
def normalise(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    return P / np.outer(p, q)
"""
        },
        "caught_by": "test_normalise",
        "message": "square root of p q",
    },
    {
        "name": "wrong marginal",
        "replace": {
            "normalise": """
def normalise(P):
    p, q = P.sum(axis=0), P.sum(axis=1)
    return P / np.sqrt(np.outer(p, q))
"""
        },
        "caught_by": "test_normalise",
        "message": "one number for each row",
    },
    {
        "name": "nan for rows without mass",
        "replace": {
            "normalise": """
def normalise(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return P / np.sqrt(np.outer(p, q))
"""
        },
        "caught_by": "test_normalise",
        "message": "gives nan",
    },
    {
        "name": "first singular value",
        "replace": {
            "rho": """
def rho(Q):
    return float(np.linalg.svd(Q, compute_uv=False)[0])
"""
        },
        "caught_by": "test_rho",
        "message": "first singular value",
    },
    {
        "name": "eigenvalue: squared where not",
        "replace": {
            "rho": """
def rho(Q):
    values = np.sort(np.linalg.eigvalsh(Q @ Q.T))[::-1]
    return float(values[1]) if min(Q.shape) > 1 else 0.0
"""
        },
        "caught_by": "test_rho",
        "message": "is the square of the maximal correlation",
    },
    {
        "name": "last singular value",
        "replace": {
            "rho": """
def rho(Q):
    return float(np.linalg.svd(Q, compute_uv=False)[-1]) if min(Q.shape) > 1 else 0.0
"""
        },
        "caught_by": "test_rho",
        "message": "not at the end",
    },
    {
        "name": "no second singular value for a constant",
        "replace": {
            "rho": """
def rho(Q):
    return float(np.linalg.svd(Q, compute_uv=False)[min(1, min(Q.shape) - 1)])
"""
        },
        "caught_by": "test_rho",
        "message": "a constant depends on nothing",
    },
    {
        "name": "un-centred functions: the first pair",
        "replace": {
            "best_functions": """
def best_functions(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    U, _, Vt = np.linalg.svd(P / np.sqrt(np.outer(p, q)))
    return U[:, 0] / np.sqrt(p), Vt[0] / np.sqrt(q)
"""
        },
        "caught_by": "test_best_functions",
        "message": "first singular pair",
    },
    {
        "name": "singular vectors in place of functions",
        "replace": {
            "best_functions": """
def best_functions(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    U, _, Vt = np.linalg.svd(P / np.sqrt(np.outer(p, q)))
    return U[:, 1], Vt[1]
"""
        },
        "caught_by": "test_best_functions",
        "message": "go back with f_i = u_i / sqrt(p_i)",
    },
    {
        "name": "weights upside down",
        "replace": {
            "best_functions": """
def best_functions(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    U, _, Vt = np.linalg.svd(P / np.sqrt(np.outer(p, q)))
    return U[:, 1] * np.sqrt(p), Vt[1] * np.sqrt(q)
"""
        },
        "caught_by": "test_best_functions",
        "message": "DIVIDED by the root",
    },
    {
        "name": "columns of Vt",
        "replace": {
            "best_functions": """
def best_functions(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    U, _, Vt = np.linalg.svd(P / np.sqrt(np.outer(p, q)))
    f, g = U[:, 1] / np.sqrt(p), Vt[:, 1] / np.sqrt(q)
    g = g - g @ q
    return f, g / np.sqrt(g**2 @ q)
"""
        },
        "caught_by": "test_best_functions",
        "message": "rows of Vt",
    },
    {
        "name": "an independent pair as blind spot",
        "replace": {
            "blind_spot": """
def blind_spot():
    return [-1, 0, 1], [0, 1], np.full((3, 2), 1 / 6)
"""
        },
        "caught_by": "test_blind_spot",
        "message": "nothing to be blind to",
    },
    {
        "name": "a line as blind spot",
        "replace": {
            "blind_spot": """
def blind_spot():
    return [-1, 0, 1], [-1, 0, 1], np.eye(3) / 3
"""
        },
        "caught_by": "test_blind_spot",
        "message": "Pearson can see this dependence",
    },
    {
        "name": "Theorem 2 without the root",
        "replace": {
            "binary_rho": """
def binary_rho(P):
    p, q = P.sum(axis=1), P[:, 1].sum()
    r = P[:, 1] / p
    return 1 - np.sum(p * r * (1 - r)) / (q * (1 - q))
"""
        },
        "caught_by": "test_binary_rho",
        "message": "take the root at the end",
    },
    {
        "name": "Theorem 2 with unweighted rows",
        "replace": {
            "binary_rho": """
def binary_rho(P):
    q = P[:, 1].sum()
    r = P[:, 1] / P.sum(axis=1)
    return np.sqrt(max(0, 1 - np.mean(r * (1 - r)) / (q * (1 - q))))
"""
        },
        "caught_by": "test_binary_rho",
        "message": "weight each row with its mass",
    },
    {
        "name": "Theorem 2 for fair coins only",
        "replace": {
            "binary_rho": """
def binary_rho(P):
    p = P.sum(axis=1)
    r = P[:, 1] / p
    return np.sqrt(max(0, 1 - 4 * np.sum(p * r * (1 - r))))
"""
        },
        "caught_by": "test_binary_rho",
        "message": "only when b is a fair coin",
    },
    {
        "name": "larger of the two single correlations",
        "replace": {
            "joint_group_rho": """
def joint_group_rho(y, s1, s2):
    return max(renyi_correlation(y, s1), renyi_correlation(y, s2))
"""
        },
        "caught_by": "test_joint_group_rho",
        "message": "misses it",
    },
    {
        "name": "combinations that collide",
        "replace": {
            "joint_group_rho": """
def joint_group_rho(y, s1, s2):
    return renyi_correlation(y, 2 * np.asarray(s1) + np.asarray(s2))
"""
        },
        "caught_by": "test_joint_group_rho",
        "message": "must get different labels",
    },
    {
        "name": "Pearson with its sign",
        "replace": {
            "audit": """
def audit(y, s):
    rates = [y[s == 0].mean(), y[s == 1].mean()]
    return np.corrcoef(y, s)[0, 1], min(rates) / max(rates)
"""
        },
        "caught_by": "test_audit",
        "message": "has no sign",
    },
    {
        "name": "difference of rates, not ratio",
        "replace": {
            "audit": """
def audit(y, s):
    return abs(np.corrcoef(y, s)[0, 1]), abs(y[s == 1].mean() - y[s == 0].mean())
"""
        },
        "caught_by": "test_audit",
        "message": "p% is their ratio",
    },
]
