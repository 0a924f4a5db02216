"""Plausible wrong answers to assignment 2, and the test that must catch each."""

ZOO = [
    {
        "name": "conditional table in place of the joint one",
        "replace": {
            "joint_table": """def joint_table(F, s):
    groups = range(s.max() + 1)
    return np.column_stack([F[s == j].mean(axis=0) for j in groups])"""
        },
        "caught_by": "test_joint_table",
        "message": "T is the joint table: divide by the number of all samples",
    },
    {
        "name": "probabilities thresholded before the table",
        "replace": {
            "joint_table": """def joint_table(F, s):
    hard = np.eye(F.shape[1])[F.argmax(axis=1)]
    return hard.T @ np.eye(s.max() + 1)[s] / len(s)"""
        },
        "caught_by": "test_joint_table",
        "message": "thresholded too early",
    },
    {
        "name": "groups weighted alike",
        "replace": {
            "joint_table": """def joint_table(F, s):
    d = s.max() + 1
    return np.column_stack([F[s == j].mean(axis=0) for j in range(d)]) / d"""
        },
        "caught_by": "test_joint_table",
        "message": "must be weighted with the group's share, not with 1/d",
    },
    {
        "name": "first singular vector",
        "replace": {
            "best_response_v": """def best_response_v(T):
    Q = T / np.sqrt(np.outer(T.sum(axis=1), T.sum(axis=0)))
    return np.linalg.svd(Q)[2][0]"""
        },
        "caught_by": "test_best_response_v",
        "message": "This is the first singular vector",
    },
    {
        "name": "left singular vector",
        "replace": {
            "best_response_v": """def best_response_v(T):
    Q = T / np.sqrt(np.outer(T.sum(axis=1), T.sum(axis=0)))
    return np.linalg.svd(Q)[0][:, 1]"""
        },
        "caught_by": "test_best_response_v",
        "message": "it is a *right* singular vector of Q",
    },
    {
        "name": "column of V transposed",
        "replace": {
            "best_response_v": """def best_response_v(T):
    Q = T / np.sqrt(np.outer(T.sum(axis=1), T.sum(axis=0)))
    return np.linalg.svd(Q)[2][:, 1]"""
        },
        "caught_by": "test_best_response_v",
        "message": "np.linalg.svd returns V transposed",
    },
    {
        "name": "the function h in place of v",
        "replace": {
            "best_response_v": """def best_response_v(T):
    q = T.sum(axis=0)
    Q = T / np.sqrt(np.outer(T.sum(axis=1), q))
    return np.linalg.svd(Q)[2][1] / np.sqrt(q)"""
        },
        "caught_by": "test_best_response_v",
        "message": "Return v itself, not the function",
    },
    {
        "name": "smallest singular value in place of the second",
        "replace": {
            "best_response_v": """def best_response_v(T):
    Q = T / np.sqrt(np.outer(T.sum(axis=1), T.sum(axis=0)))
    values, vectors = np.linalg.eigh(Q.T @ Q)
    return vectors[:, 0]"""
        },
        "caught_by": "test_best_response_v",
        "message": "must belong to the *second largest* singular value",
    },
    {
        "name": "w not halved",
        "replace": {
            "best_response_w": """def best_response_w(F, s):
    return (2 * s - 1) @ F / F.sum(axis=0)"""
        },
        "caught_by": "test_best_response_w",
        "message": "Do not forget to halve",
    },
    {
        "name": "s left as 0 and 1",
        "replace": {
            "best_response_w": """def best_response_w(F, s):
    return s @ F / (2 * F.sum(axis=0))"""
        },
        "caught_by": "test_best_response_w",
        "message": "s was used as 0 and 1",
    },
    {
        "name": "s centered at its mean",
        "replace": {
            "best_response_w": """def best_response_w(F, s):
    return (s - s.mean()) @ F / F.sum(axis=0)"""
        },
        "caught_by": "test_best_response_w",
        "message": "s was centered at its mean",
    },
    {
        "name": "w from thresholded labels",
        "replace": {
            "best_response_w": """def best_response_w(F, s):
    F = (F == F.max(axis=1, keepdims=True)).astype(float)
    return (2 * s - 1) @ F / (2 * F.sum(axis=0))"""
        },
        "caught_by": "test_best_response_w",
        "message": "thresholded too early",
    },
    {
        "name": "w divided by 2 N, not by the mass of each label",
        "replace": {
            "best_response_w": """def best_response_w(F, s):
    return (2 * s - 1) @ F / (2 * len(s))"""
        },
        "caught_by": "test_best_response_w",
        "message": "each label has its own mass",
    },
    {
        "name": "constant of Theorem 2 forgotten",
        "replace": {
            "adversary_value": """def adversary_value(F, s, w):
    q = s.mean()
    return np.mean((2 * s - 1) * (F @ w) - F @ w**2) / (q * (1 - q))"""
        },
        "caught_by": "test_adversary_value",
        "message": "this constant must be subtracted",
    },
    {
        "name": "wrong marginal: q of the label",
        "replace": {
            "adversary_value": """def adversary_value(F, s, w):
    q = F[:, 1].mean()
    A = np.mean((2 * s - 1) * (F @ w) - F @ w**2)
    return (A - (q - 0.5) ** 2) / (q * (1 - q))"""
        },
        "caught_by": "test_adversary_value",
        "message": "it is the share of the *group* S = 1, not of a label",
    },
    {
        "name": "rho in place of rho squared",
        "replace": {
            "adversary_value": """def adversary_value(F, s, w):
    q = s.mean()
    A = np.mean((2 * s - 1) * (F @ w) - F @ w**2)
    return np.sqrt(max(0.0, (A - (q - 0.5) ** 2) / (q * (1 - q))))"""
        },
        "caught_by": "test_adversary_value",
        "message": "This is rho_R, not its square",
    },
    {
        "name": "slope without the factor 2",
        "replace": {
            "penalty_given_v": """def penalty_given_v(T, q, v):
    h, p = v / np.sqrt(q), T.sum(axis=1)
    m = T @ h / p
    return p @ m**2, np.outer(m, h) - m[:, None] ** 2 / 2"""
        },
        "caught_by": "test_penalty_given_v",
        "message": "without it lambda would act as lambda / 2",
    },
    {
        "name": "P(label) treated as a constant",
        "replace": {
            "penalty_given_v": """def penalty_given_v(T, q, v):
    h, p = v / np.sqrt(q), T.sum(axis=1)
    m = T @ h / p
    return p @ m**2, 2 * np.outer(m, h)"""
        },
        "caught_by": "test_penalty_given_v",
        "message": "the quotient rule has two terms",
    },
    {
        "name": "q recomputed from the table, so that it moves with it",
        "replace": {
            "penalty_given_v": """def penalty_given_v(T, q, v):
    h, p = v / np.sqrt(T.sum(axis=0)), T.sum(axis=1)
    m = T @ h / p
    return p @ m**2, 2 * np.outer(m, h) - m[:, None] ** 2"""
        },
        "caught_by": "test_penalty_given_v",
        "message": "q is to be taken as passed in",
    },
    {
        "name": "sum of losses in place of the mean",
        "replace": {
            "f_B": """def f_B(theta, w, X1, y, s, lam):
    N, q, s_tilde = len(y), s.mean(), 2 * s - 1
    F = soft_labels(theta, X1)
    G = lam / (q * (1 - q)) * (np.outer(s_tilde, w) - w**2)
    value = np.sum(-np.log(F[np.arange(N), y]) + np.sum(G * F, axis=1))
    dZ = F - np.eye(F.shape[1])[y] + F * (G - np.sum(F * G, axis=1, keepdims=True))
    return value, dZ.T @ X1"""
        },
        "caught_by": "test_f_B",
        "message": "the *sum* of the losses",
    },
    {
        "name": "value a mean, gradient a sum",
        "replace": {
            "f_B": """def f_B(theta, w, X1, y, s, lam):
    N, q, s_tilde = len(y), s.mean(), 2 * s - 1
    F = soft_labels(theta, X1)
    G = lam / (q * (1 - q)) * (np.outer(s_tilde, w) - w**2)
    value = np.mean(-np.log(F[np.arange(N), y]) + np.sum(G * F, axis=1))
    dZ = F - np.eye(F.shape[1])[y] + F * (G - np.sum(F * G, axis=1, keepdims=True))
    return value, dZ.T @ X1"""
        },
        "caught_by": "test_f_B",
        "message": "sum or mean?",
    },
    {
        "name": "sign of lambda",
        "replace": {
            "f_B": """def f_B(theta, w, X1, y, s, lam):
    N, q, s_tilde = len(y), s.mean(), 2 * s - 1
    F = soft_labels(theta, X1)
    G = -lam / (q * (1 - q)) * (np.outer(s_tilde, w) - w**2) / N
    value = np.mean(-np.log(F[np.arange(N), y])) + np.sum(G * F)
    dZ = (F - np.eye(F.shape[1])[y]) / N + F * (G - np.sum(F * G, axis=1, keepdims=True))
    return value, dZ.T @ X1"""
        },
        "caught_by": "test_f_B",
        "message": "wrong sign of lambda",
    },
    {
        "name": "lambda not divided by q (1 - q)",
        "replace": {
            "f_B": """def f_B(theta, w, X1, y, s, lam):
    N, s_tilde = len(y), 2 * s - 1
    F = soft_labels(theta, X1)
    G = lam * (np.outer(s_tilde, w) - w**2) / N
    value = np.mean(-np.log(F[np.arange(N), y])) + np.sum(G * F)
    dZ = (F - np.eye(F.shape[1])[y]) / N + F * (G - np.sum(F * G, axis=1, keepdims=True))
    return value, dZ.T @ X1"""
        },
        "caught_by": "test_f_B",
        "message": "not by lambda' = lambda / (q (1 - q))",
    },
    {
        "name": "softmax without its second term",
        "replace": {
            "f_B": """def f_B(theta, w, X1, y, s, lam):
    N, q, s_tilde = len(y), s.mean(), 2 * s - 1
    F = soft_labels(theta, X1)
    G = lam / (q * (1 - q)) * (np.outer(s_tilde, w) - w**2) / N
    value = np.mean(-np.log(F[np.arange(N), y])) + np.sum(G * F)
    dZ = (F - np.eye(F.shape[1])[y]) / N + F * G
    return value, dZ.T @ X1"""
        },
        "caught_by": "test_f_B",
        "message": "look at the penalty's part",
    },
    {
        "name": "adversary asked once, before the loop",
        "replace": {
            "algorithm_2": """def algorithm_2(theta, adversary, objective, eta, steps):
    w = adversary(theta)
    history = []
    for t in range(steps + 1):
        value, gradient = objective(theta, w)
        history.append(value)
        if t < steps:
            theta = theta - eta * gradient
    return theta, np.array(history)"""
        },
        "caught_by": "test_algorithm_2",
        "message": "Does the adversary respond again at every step?",
    },
    {
        "name": "the caller's theta overwritten",
        "replace": {
            "algorithm_2": """def algorithm_2(theta, adversary, objective, eta, steps):
    history = []
    for t in range(steps):
        value, gradient = objective(theta, adversary(theta))
        history.append(value)
        theta -= eta * gradient
    history.append(objective(theta, adversary(theta))[0])
    return theta, np.array(history)"""
        },
        "caught_by": "test_algorithm_2",
        "message": "The start was overwritten",
    },
    {
        "name": "a step up the gradient",
        "replace": {
            "algorithm_2": """def algorithm_2(theta, adversary, objective, eta, steps):
    history = []
    for t in range(steps):
        value, gradient = objective(theta, adversary(theta))
        history.append(value)
        theta = theta + eta * gradient
    history.append(objective(theta, adversary(theta))[0])
    return theta, np.array(history)"""
        },
        "caught_by": "test_algorithm_2",
        "message": "the step goes up the gradient",
    },
    {
        "name": "p% above 1 not inverted",
        "replace": {
            "measures": """def p_rule(y_hat, s):
    if not y_hat.any():
        return 1.0
    return y_hat[s == 0].mean() / y_hat[s == 1].mean()


def eo_violation(y, y_hat, s):
    return abs(y_hat[(s == 1) & (y == 1)].mean() - y_hat[(s == 0) & (y == 1)].mean())"""
        },
        "caught_by": "test_measures",
        "message": "the smaller of the ratio and its inverse",
    },
    {
        "name": "numbers of people in place of rates",
        "replace": {
            "measures": """def p_rule(y_hat, s):
    low, high = sorted(y_hat[s == group].sum() for group in (0, 1))
    return low / high if high > 0 else 1.0


def eo_violation(y, y_hat, s):
    return abs(y_hat[(s == 1) & (y == 1)].mean() - y_hat[(s == 0) & (y == 1)].mean())"""
        },
        "caught_by": "test_measures",
        "message": "Compare rates within the groups, not counts",
    },
    {
        "name": "EO without the condition y = 1",
        "replace": {
            "measures": """def p_rule(y_hat, s):
    low, high = sorted(y_hat[s == group].mean() for group in (0, 1))
    return low / high if high > 0 else 1.0


def eo_violation(y, y_hat, s):
    return abs(y_hat[s == 1].mean() - y_hat[s == 0].mean())"""
        },
        "caught_by": "test_measures",
        "message": "the difference over all rows, without Y = 1",
    },
    {
        "name": "EO with the condition on the prediction",
        "replace": {
            "measures": """def p_rule(y_hat, s):
    low, high = sorted(y_hat[s == group].mean() for group in (0, 1))
    return low / high if high > 0 else 1.0


def eo_violation(y, y_hat, s):
    return abs(y[(s == 1) & (y_hat == 1)].mean() - y[(s == 0) & (y_hat == 1)].mean())"""
        },
        "caught_by": "test_measures",
        "message": "the precision",
    },
    {
        "name": "measured on the training rows",
        "replace": {
            "trade_off": """def trade_off(data, lams):
    rows = []
    for lam in lams:
        clf = RenyiClassifier(lam).fit(data.X_train, data.y_train, sensitive_features=data.s_train)
        label, score = clf.predict(data.X_train), clf.predict_proba(data.X_train)[:, 1]
        groups = {"sensitive_features": data.s_train}
        p_hard = metrics.demographic_parity_ratio(data.y_train, label, **groups)
        p_soft = metrics.demographic_parity_ratio(data.y_train, score, **groups)
        rows.append((lam, np.mean(label == data.y_train), p_hard, p_soft))
    return pd.DataFrame(rows, columns=["lam", "accuracy", "p_hard", "p_soft"])"""
        },
        "caught_by": "test_trade_off",
        "message": "These are the measures on the training rows",
    },
    {
        "name": "p_hard of the probability",
        "replace": {
            "trade_off": """def trade_off(data, lams):
    rows = []
    for lam in lams:
        clf = RenyiClassifier(lam).fit(data.X_train, data.y_train, sensitive_features=data.s_train)
        score = clf.predict_proba(data.X_test)[:, 1]
        p = metrics.demographic_parity_ratio(data.y_test, score, sensitive_features=data.s_test)
        rows.append((lam, clf.score(data.X_test, data.y_test), p, p))
    return pd.DataFrame(rows, columns=["lam", "accuracy", "p_hard", "p_soft"])"""
        },
        "caught_by": "test_trade_off",
        "message": "it is p% of the predicted *label*",
    },
    {
        "name": "overfitting blamed",
        "replace": {"why": 'why = "c"'},
        "caught_by": "test_why",
        "message": "Measure p_hard on the training rows",
    },
    {
        "name": "the solver blamed",
        "replace": {"why": 'why = "a"'},
        "caught_by": "test_why",
        "message": "so it is not the solver",
    },
    {
        "name": "penalty over all rows in place of y = 1",
        "replace": {
            "eo_penalty": """def eo_penalty(F, y, s):
    q, s_tilde = s.mean(), 2 * s - 1
    w = s_tilde @ F / (2 * F.sum(axis=0))
    earned = (np.outer(s_tilde, w) - w**2) / (q * (1 - q))
    value = np.mean(np.sum(earned * F, axis=1)) - (q - 0.5) ** 2 / (q * (1 - q))
    return value, earned / len(s)"""
        },
        "caught_by": "test_eo_penalty",
        "message": "only those with y = 0 are treated differently",
    },
    {
        "name": "q of all rows in the penalty given y = 1",
        "replace": {
            "eo_penalty": """def eo_penalty(F, y, s):
    chosen = y == 1
    q, s_tilde = s.mean(), 2 * s[chosen] - 1
    w = s_tilde @ F[chosen] / (2 * F[chosen].sum(axis=0))
    earned = (np.outer(s_tilde, w) - w**2) / (q * (1 - q))
    value = np.mean(np.sum(earned * F[chosen], axis=1)) - (q - 0.5) ** 2 / (q * (1 - q))
    G = np.zeros(F.shape)
    G[chosen] = earned / chosen.sum()
    return value, G"""
        },
        "caught_by": "test_eo_penalty",
        "message": "must be taken among those with y = 1, not over all rows",
    },
    {
        "name": "slope given y = 1 divided by N",
        "replace": {
            "eo_penalty": """def eo_penalty(F, y, s):
    chosen = y == 1
    F_1, s_tilde = F[chosen], 2 * s[chosen] - 1
    q = s[chosen].mean()
    w = s_tilde @ F_1 / (2 * F_1.sum(axis=0))
    earned = (np.outer(s_tilde, w) - w**2) / (q * (1 - q))
    value = np.mean(np.sum(earned * F_1, axis=1)) - (q - 0.5) ** 2 / (q * (1 - q))
    G = np.zeros(F.shape)
    G[chosen] = earned / len(y)
    return value, G"""
        },
        "caught_by": "test_eo_penalty",
        "message": "The mean runs over the",
    },
]

# Edits of the reference: (name, cell, original code, student's code, test, part of the message)
EDITS = [
    (
        "table transposed",
        "joint_table",
        "F.T @ np.eye(s.max() + 1)[s] / len(s)",
        "(F.T @ np.eye(s.max() + 1)[s] / len(s)).T",
        "test_joint_table",
        "a row for each label",
    ),
    (
        "two groups fixed in the code",
        "joint_table",
        "np.eye(s.max() + 1)[s]",
        "np.column_stack([s == 0, s == 1])",
        "test_joint_table",
        "fixed in the code",
    ),
    (
        "F scaled in place",
        "joint_table",
        "return F.T @",
        "F /= F.sum(axis=1, keepdims=True) * 1.0000001\n    return F.T @",
        "test_joint_table",
        "changes the F",
    ),
    (
        "divided by the number of labels",
        "joint_table",
        "/ len(s)",
        "/ F.size",
        "test_joint_table",
        "not to 1",
    ),
    (
        "second vector, whatever it is",
        "best_response_v",
        "B @ np.linalg.svd(Q @ B)[2][0]",
        "np.linalg.svd(Q)[2][1]",
        "test_best_response_v_edge",
        "may be any mixture",
    ),
    (
        "last vector",
        "best_response_v",
        "B @ np.linalg.svd(Q @ B)[2][0]",
        "B @ np.linalg.svd(Q @ B)[2][-1]",
        "test_best_response_v",
        "second largest",
    ),
    (
        "orthogonal to q, not to its square root",
        "best_response_v",
        "np.sqrt(q)[None]",
        "q[None]",
        "test_best_response_v",
        "orthogonal to sqrt(q)",
    ),
    (
        "T in place of Q",
        "best_response_v",
        "np.linalg.svd(Q @ B)",
        "np.linalg.svd(T @ B)",
        "test_best_response_v",
        "second largest",
    ),
    (
        "w with the wrong sign",
        "best_response_w",
        "(2 * s - 1) @ F",
        "(1 - 2 * s) @ F",
        "test_best_response_w",
        "",
    ),
    (
        "w divided by the mass of all labels",
        "best_response_w",
        "F.sum(axis=0)",
        "F.sum()",
        "test_best_response_w",
        "",
    ),
    (
        "epsilon in w",
        "best_response_w",
        "(2 * F.sum(axis=0))",
        "(2 * F.sum(axis=0) + 0.01)",
        "test_best_response_w",
        "",
    ),
    (
        "w squared forgotten",
        "adversary_value",
        "F @ w**2",
        "F @ w",
        "test_adversary_value",
        "",
    ),
    (
        "best w in place of the one given",
        "adversary_value",
        "q = s.mean()",
        "q = s.mean()\n    w = (2 * s - 1) @ F / (2 * F.sum(axis=0))",
        "test_adversary_value",
        "the w that is passed in",
    ),
    (
        "clipped at 0",
        "adversary_value",
        "return (A - (q - 0.5) ** 2) / (q * (1 - q))",
        "return max(0.0, (A - (q - 0.5) ** 2) / (q * (1 - q)))",
        "test_adversary_value",
        "the w that is passed in",
    ),
    (
        "second term of the slope with the wrong sign",
        "penalty_given_v",
        "- m[:, None] ** 2",
        "+ m[:, None] ** 2",
        "test_penalty_given_v",
        "two terms",
    ),
    (
        "sum of squares in place of the square of the sum",
        "penalty_given_v",
        "p @ m**2, 2",
        "np.sum((T * h) ** 2 / p[:, None]), 2",
        "test_penalty_given_v",
        "square of the sum",
    ),
    (
        "v divided by q, not by its square root",
        "penalty_given_v",
        "h = v / np.sqrt(q)",
        "h = v / q",
        "test_penalty_given_v",
        "",
    ),
    (
        "gradient transposed",
        "f_B",
        "return value, dZ.T @ X1",
        "return value, X1.T @ dZ",
        "test_f_B",
        "",
    ),
    (
        "lambda not scaled",
        "f_B",
        "scaled = lam / (q * (1 - q))",
        "scaled = lam",
        "test_f_B",
        "",
    ),
    (
        "penalty's gradient forgotten",
        "f_B",
        "dZ += scaled * F * (G - np.sum(F * G, axis=1, keepdims=True))",
        "dZ += 0",
        "test_f_B",
        "look at the penalty's part",
    ),
    (
        "softmax's second term forgotten",
        "f_B",
        "(G - np.sum(F * G, axis=1, keepdims=True))",
        "G",
        "test_f_B",
        "look at the penalty's part",
    ),
    (
        "adversary asked once",
        "algorithm_2",
        "history = []",
        "history = []\n    fixed = adversary(theta)\n    adversary = lambda theta: fixed",
        "test_algorithm_2",
        "respond again",
    ),
    (
        "adversary a step behind",
        "algorithm_2",
        "w = adversary(theta)\n        value, gradient = objective(theta, w)",
        "w = adversary(theta) if t == 0 else following\n        "
        "value, gradient = objective(theta, w)\n        "
        "following = adversary(theta)",
        "test_algorithm_2",
        "",
    ),
    (
        "one step too many",
        "algorithm_2",
        "if t < steps:",
        "if t <= steps:",
        "test_algorithm_2",
        "",
    ),
    (
        "stops when nothing changes",
        "algorithm_2",
        "history.append(value)",
        "history.append(value)\n        "
        "if t and abs(history[-1] - history[-2]) < 1e-12:\n            "
        "break",
        "test_algorithm_2",
        "do not stop early",
    ),
    (
        "step that shrinks",
        "algorithm_2",
        "theta - eta * gradient",
        "theta - eta / (1 + t) * gradient",
        "test_algorithm_2",
        "",
    ),
    (
        "p% of the first over the second",
        "measures",
        "low, high = sorted(y_hat[s == group].mean() for group in (0, 1))",
        "low, high = (y_hat[s == group].mean() for group in (0, 1))",
        "test_measures",
        "never above 1",
    ),
    (
        "p% is 0 if nobody is selected",
        "measures",
        "else 1.0",
        "else 0.0",
        "test_measures_edge",
        "Nobody gets",
    ),
    (
        "p% is 1 if nobody of one group is selected",
        "measures",
        "low / high if high > 0",
        "low / high if low > 0",
        "test_measures_edge",
        "In one group nobody",
    ),
    (
        "EO violation given y_hat = 1",
        "measures",
        "rates = [y_hat[(s == group) & (y == 1)].mean() for group in (0, 1)]",
        "rates = [y[(s == group) & (y_hat == 1)].mean() for group in (0, 1)]",
        "test_measures",
        "precision",
    ),
    (
        "EO violation as a ratio",
        "measures",
        "abs(rates[1] - rates[0])",
        "1 - min(rates) / max(rates)",
        "test_measures",
        "",
    ),
    (
        "lambdas sorted, duplicates removed",
        "trade_off",
        "for lam in lams:",
        "for lam in sorted(set(lams)):",
        "test_trade_off",
        "none sorted or left out",
    ),
    (
        "trained on Adult, whatever the data set",
        "trade_off",
        "fit(data.X_train, data.y_train, sensitive_features=data.s_train)",
        "fit(adult.X_train, adult.y_train, sensitive_features=adult.s_train)",
        "test_trade_off",
        "to train and to test",
    ),
    (
        "lambda left at its default",
        "trade_off",
        "RenyiClassifier(lam)",
        "RenyiClassifier()",
        "test_trade_off",
        "",
    ),
    (
        "p_hard and p_soft exchanged",
        "trade_off",
        "for y_hat in (label, score)",
        "for y_hat in (score, label)",
        "test_trade_off",
        "",
    ),
    (
        "probability of label 0",
        "trade_off",
        "predict_proba(data.X_test)[:, 1]",
        "predict_proba(data.X_test)[:, 0]",
        "test_trade_off",
        "",
    ),
    (
        "q of all people in the penalty given y = 1",
        "eo_penalty",
        "q_1, s_tilde = s_1.mean(), 2 * s_1 - 1",
        "q_1, s_tilde = s.mean(), 2 * s_1 - 1",
        "test_eo_penalty",
        "",
    ),
    (
        "penalty given y = 0",
        "eo_penalty",
        "chosen = y == 1",
        "chosen = y == 0",
        "test_eo_penalty",
        "Leave them out",
    ),
    (
        "one gradient row for everybody",
        "eo_penalty",
        "G[chosen] = earned / chosen.sum()",
        "G[:] = np.mean(earned, axis=0) / chosen.sum()",
        "test_eo_penalty",
        "must not see them",
    ),
    (
        "square of the mean",
        "batch_penalty",
        "float(np.mean(values))",
        "float(np.mean(np.sqrt(values)) ** 2)",
        "test_batch_penalty",
        "not the square of the mean",
    ),
    (
        "last, shorter batch counted",
        "batch_penalty",
        "range(0, len(s) - size + 1, size)",
        "range(0, len(s), size)",
        "test_batch_penalty",
        "the shorter last one",
    ),
    (
        "correlations, not squares",
        "batch_penalty",
        " ** 2",
        "",
        "test_batch_penalty",
        "the penalty is their square",
    ),
    (
        "batch with one group counted as 0",
        "batch_penalty",
        "renyi_from_soft(F[rows], s[rows]) ** 2 for rows in batches if "
        "len(np.unique(s[rows])) > 1",
        "renyi_from_soft(F[rows], s[rows]) ** 2 if len(np.unique(s[rows])) > 1 else "
        "0.0 for rows in batches",
        "test_batch_penalty",
        "a single group left out",
    ),
    (
        "models cached by lambda alone",
        "trade_off",
        "clf = RenyiClassifier(lam).fit(data.X_train, data.y_train, "
        "sensitive_features=data.s_train)",
        "stored = trade_off.__dict__\n        if lam not in stored:\n"
        "            stored[lam] = RenyiClassifier(lam).fit(\n"
        "                data.X_train, data.y_train, sensitive_features=data.s_train\n"
        "            )\n        clf = stored[lam]",
        "test_trade_off",
        "belongs to its data",
    ),
    (
        "a step that is halved when the value rises",
        "algorithm_2",
        "        if t < steps:",
        "        if t and history[-1] > history[-2]:\n            eta = eta / 2\n"
        "        if t < steps:",
        "test_algorithm_2",
        "keep eta as it is passed in",
    ),
]
