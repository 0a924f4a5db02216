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
        "name": "marginals without the square root",
        "replace": {
            "normalize": """
def normalize(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    return P / np.outer(p, q)
"""
        },
        "caught_by": "test_normalize",
        "message": "square root of p q",
    },
    {
        "name": "wrong marginal",
        "replace": {
            "normalize": """
def normalize(P):
    p, q = P.sum(axis=0), P.sum(axis=1)
    return P / np.sqrt(np.outer(p, q))
"""
        },
        "caught_by": "test_normalize",
        "message": "one number for each row",
    },
    {
        "name": "nan for rows without mass",
        "replace": {
            "normalize": """
def normalize(P):
    p, q = P.sum(axis=1), P.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return P / np.sqrt(np.outer(p, q))
"""
        },
        "caught_by": "test_normalize_edge",
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
        "name": "squared singular value",
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
        "caught_by": "test_rho_edge",
        "message": "a constant depends on nothing",
    },
    {
        "name": "first singular pair, not centered",
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
        "name": "multiplied by the root of the marginal instead of divided",
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
        "name": "Theorem 2 without the square root",
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

# Edits of the reference: (name, cell, original code, student's code, test, part of the message)
EDITS = [
    (
        "rows and columns exchanged",
        "joint",
        "P / len(code_a)",
        "P.T / len(code_a)",
        "test_joint",
        "One row for each label of a",
    ),
    (
        "divided by the table's size",
        "joint",
        "P / len(code_a)",
        "P / P.size",
        "test_joint",
        "its entries sum to",
    ),
    (
        "labels sorted as text",
        "joint",
        "np.unique(np.asarray(a), return_inverse",
        "np.unique(np.asarray(a).astype(str), return_inverse",
        "test_joint",
        "sorted order of the labels",
    ),
    (
        "the last label forgotten",
        "joint",
        "P = np.zeros((len(values_a), len(values_b)))\n    np.add.at(P, (code_a, code_b), 1)",
        "P = np.histogram2d(code_a, code_b, bins=(max(code_a), max(code_b)))[0]",
        "test_joint",
        "One row for each label of a",
    ),
    (
        "epsilon inside the square root",
        "normalize",
        "np.sqrt(np.outer(p, q))",
        "np.sqrt(np.outer(p, q) + 1e-9)",
        "test_normalize",
        "no epsilon",
    ),
    (
        "epsilon in the denominator",
        "normalize",
        "np.divide(P, mass, out=np.zeros_like(mass), where=mass > 0)",
        "P / (mass + 1e-8)",
        "test_normalize",
        "no epsilon",
    ),
    (
        "only one marginal",
        "normalize",
        "np.outer(p, q)",
        "np.outer(p, np.ones_like(q))",
        "test_normalize",
        "should be 0.10",
    ),
    (
        "the table itself changed",
        "normalize",
        "np.divide(P, mass, out=np.zeros_like(mass), where=mass > 0)",
        "np.divide(P, mass, out=P, where=mass > 0)",
        "test_normalize",
        "return a new one",
    ),
    (
        "warnings not suppressed",
        "normalize",
        "np.divide(P, mass, out=np.zeros_like(mass), where=mass > 0)",
        "np.nan_to_num(P / mass)",
        "test_normalize_edge",
        "makes NumPy warn",
    ),
    (
        "largest singular value below 1",
        "rho",
        "float(np.linalg.svd(Q, compute_uv=False)[1])",
        "float(max([x for x in np.linalg.svd(Q, compute_uv=False) if x < 1 - 1e-9], default=0))",
        "test_rho_edge",
        "do not look for a value below 1",
    ),
    (
        "all singular values but the first",
        "rho",
        "float(np.linalg.svd(Q, compute_uv=False)[1])",
        "float(np.linalg.norm(np.linalg.svd(Q, compute_uv=False)[1:]))",
        "test_rho",
        "index 1",
    ),
    (
        "norm minus one",
        "rho",
        "float(np.linalg.svd(Q, compute_uv=False)[1])",
        "float(np.linalg.norm(Q) - 1)",
        "test_rho",
        "the library finds",
    ),
    (
        "rounded to two places",
        "rho",
        "float(np.linalg.svd(Q, compute_uv=False)[1])",
        "round(float(np.linalg.svd(Q, compute_uv=False)[1]), 2)",
        "test_rho",
        "the library finds",
    ),
    (
        "table with one row not treated as a constant",
        "rho",
        "min(Q.shape) < 2",
        "Q.shape[1] < 2",
        "test_rho_edge",
        "",
    ),
    (
        "a row of U",
        "best_functions",
        "U, _, Vt = np.linalg.svd(A.T @ Q @ B)\n    "
        "return A @ U[:, 0] / np.sqrt(p), B @ Vt[0] / np.sqrt(q)",
        "U, _, Vt = np.linalg.svd(Q)\n    return U[1] / np.sqrt(p), Vt[1] / np.sqrt(q)",
        "test_best_functions",
        "a row of U",
    ),
    (
        "second pair, whatever it is",
        "best_functions",
        "U, _, Vt = np.linalg.svd(A.T @ Q @ B)\n    "
        "return A @ U[:, 0] / np.sqrt(p), B @ Vt[0] / np.sqrt(q)",
        "U, _, Vt = np.linalg.svd(Q)\n    return U[:, 1] / np.sqrt(p), Vt[1] / np.sqrt(q)",
        "test_best_functions_edge",
        "take the constants out of Q first",
    ),
    (
        "variance 1 without weights",
        "best_functions",
        "return A @ U[:, 0] / np.sqrt(p), B @ Vt[0] / np.sqrt(q)",
        "f, g = A @ U[:, 0] / np.sqrt(p), B @ Vt[0] / np.sqrt(q)\n    "
        "return f / f.std(), g / g.std()",
        "test_best_functions",
        "its variance is",
    ),
    (
        "absolute values of the functions",
        "best_functions",
        "return A @ U[:, 0] / np.sqrt(p), B @ Vt[0] / np.sqrt(q)",
        "return abs(A @ U[:, 0]) / np.sqrt(p), abs(B @ Vt[0]) / np.sqrt(q)",
        "test_best_functions",
        "",
    ),
    (
        "signs that do not match",
        "best_functions",
        "B @ Vt[0] / np.sqrt(q)",
        "-(B @ Vt[0]) / np.sqrt(q)",
        "test_best_functions",
        "opposite signs",
    ),
    (
        "blocks in which b is not a function of a",
        "blind_spot",
        "values_a = np.array([0.0, 1.0, 3.0])\n    "
        "values_b = np.array([0.0, 1.0])\n    "
        "return values_a, values_b, np.array([[0.4, 0.0], [0.0, 0.4], [0.2, 0.0]])",
        "P = np.kron(np.eye(2), np.full((2, 2), 1 / 8))\n    "
        "return np.array([-2.0, 2.0, -1.0, 1.0]), np.arange(4.0), P",
        "test_blind_spot",
        "b is no function of a",
    ),
    (
        "the chapter's own blind spot, stretched",
        "blind_spot",
        "values_a = np.array([0.0, 1.0, 3.0])\n    "
        "values_b = np.array([0.0, 1.0])\n    "
        "return values_a, values_b, np.array([[0.4, 0.0], [0.0, 0.4], [0.2, 0.0]])",
        "return [-3, 1, 5], [0, 1], np.array([[0, 1], [1, 0], [0, 1]]) / 3",
        "test_blind_spot",
        "the parabola of the chapter",
    ),
    (
        "a value that occurs twice",
        "blind_spot",
        "values_a = np.array([0.0, 1.0, 3.0])\n    "
        "values_b = np.array([0.0, 1.0])\n    "
        "return values_a, values_b, np.array([[0.4, 0.0], [0.0, 0.4], [0.2, 0.0]])",
        "return [-1, 0, 1, 1], [0, 1], np.array([[0, 2], [2, 0], [0, 1], [0, 1]]) / 6",
        "test_blind_spot",
        "occurs twice",
    ),
    (
        "epsilon in the marginal",
        "binary_rho",
        "r = P[:, 1] / p",
        "r = P[:, 1] / (p + 1e-6)",
        "test_binary_rho",
        "the singular value is",
    ),
    (
        "r squared in place of r (1 - r)",
        "binary_rho",
        "np.sum(p * r * (1 - r))",
        "np.sum(p * r**2)",
        "test_binary_rho",
        "",
    ),
    (
        "1 for a constant",
        "binary_rho",
        "return 0.0",
        "return 1.0",
        "test_binary_rho_edge",
        "a constant depends on nothing",
    ),
    (
        "empty rows left in",
        "binary_rho",
        "P = P[P.sum(axis=1) > 0]\n    p",
        "p",
        "test_binary_rho_edge",
        "leave rows without mass out",
    ),
    (
        "square root of a slightly negative number",
        "binary_rho",
        "max(0.0, 1 - gamma / (q * (1 - q)))",
        "1 - gamma / (q * (1 - q))",
        "test_binary_rho_edge",
        "clip it at 0",
    ),
    (
        "ten times one code plus the other",
        "joint_group_rho",
        "code_1 * len(values_2) + code_2",
        "10 * code_1 + code_2",
        "test_joint_group_rho_edge",
        "some combinations share a label",
    ),
    (
        "labels joined without a separator",
        "joint_group_rho",
        "code_1 * len(values_2) + code_2",
        "[f'{i}{j}' for i, j in zip(s1, s2)]",
        "test_joint_group_rho_edge",
        "needs a mark",
    ),
    (
        "product of the codes",
        "joint_group_rho",
        "code_1 * len(values_2) + code_2",
        "code_1 * code_2",
        "test_joint_group_rho",
        "",
    ),
    (
        "an audit that ignores its arguments",
        "audit",
        "rate_0, rate_1 = y[s == 0].mean(), y[s == 1].mean()",
        "y, s = rich, male\n    rate_0, rate_1 = y[s == 0].mean(), y[s == 1].mean()",
        "test_audit",
        "does it use its arguments",
    ),
    (
        "rho squared in the audit",
        "audit",
        "abs(np.corrcoef(y, s)[0, 1])",
        "np.corrcoef(y, s)[0, 1] ** 2",
        "test_audit",
        "not squared",
    ),
    (
        "numbers of people, not rates",
        "audit",
        "y[s == 0].mean(), y[s == 1].mean()",
        "y[s == 0].sum(), y[s == 1].sum()",
        "test_audit",
        "WITHIN a group",
    ),
    (
        "share of the zeros",
        "audit",
        "y[s == 0].mean(), y[s == 1].mean()",
        "1 - y[s == 0].mean(), 1 - y[s == 1].mean()",
        "test_audit",
        "WITHIN a group",
    ),
    (
        "logarithm to base 2",
        "mutual_information",
        "np.log(",
        "np.log2(",
        "test_mutual_information",
        "another logarithm",
    ),
    (
        "nan for empty cells",
        "mutual_information",
        "some = P > 0",
        "some = P >= 0",
        "test_mutual_information_edge",
        "0 log 0 is 0",
    ),
    (
        "negative joint entropy",
        "mutual_information",
        "P[some] / product[some]",
        "P[some]",
        "test_mutual_information",
        "",
    ),
    (
        "a p-value of 0",
        "chance",
        "(1 + np.sum(shuffled >= found - 1e-12)) / (1 + draws)",
        "np.mean(shuffled > found + 10)",
        "test_chance",
        "p-value of 0",
    ),
    (
        "ties left out",
        "chance",
        "shuffled >= found - 1e-12",
        "shuffled > found + 1e-12",
        "test_chance",
        "at least as large",
    ),
    (
        "one shuffle too few",
        "chance",
        "range(draws)",
        "range(draws - 1)",
        "test_chance",
        "as many shuffles as draws",
    ),
    (
        "the other tail",
        "chance",
        "shuffled >= found - 1e-12",
        "shuffled <= found + 1e-12",
        "test_chance",
        "at least as large",
    ),
]
