"""Rules on theorems, equations, remarks and algorithms, which check identities exactly."""

from functools import cache

import numpy as np
from scipy.optimize import minimize

from renyi_book.scorecard.judging import UNTESTABLE, Evidence, exact
from renyi_book.scorecard.rules._common import options, order_of, random_tables, registry
from renyi_lib.classification import RenyiClassifier
from renyi_lib.clustering import RenyiKMeans
from renyi_lib.correlation import normalized_table, renyi_correlation, renyi_from_joint
from renyi_lib.penalties import (
    BinaryRenyiPenalty,
    ConditionalPenalty,
    Groups,
    RenyiPenalty,
    best_response_w,
    renyi_given_w,
)
from renyi_lib.regression import RenyiRegressor

RULES, rule = registry()


@rule
def cannot_be_tested(results, claim, thresholds):
    """Return no evidence, for claims that no run can support or reject, as claims.yml explains."""
    return Evidence(kind="untestable", text=claim["reason"], outcome=UNTESTABLE)


@rule
def theorem_gives_the_definition(results, claim, thresholds):
    column = options(claim)["theorem"]
    table = results.table("theorems", ["definition", column]).dropna(subset=column)
    gap = float((table[column] - table["definition"]).abs().max())
    text = f"{len(table)} tables: largest gap {order_of(gap)}"
    return exact(gap < 10 * thresholds.rounding, text, gap=gap, n=len(table))


@rule
def both_forms_of_gamma(results, claim, thresholds):
    """Check the least-squares and the expanded form of gamma, and rho_R (Theorem 2)."""
    gaps = []
    for P in random_tables(shapes=[(2, 2), (3, 2), (6, 2)]):
        p, away = P.sum(axis=1), P[:, 1] - P[:, 0]
        squares = minimize(_expected_square, np.zeros(len(p)), args=(P,), tol=1e-12).fun
        expanded = 0.25 - float((away**2 / (4 * p)).sum())
        q = P[:, 1].sum()
        rho = np.sqrt(max(0.0, 1 - expanded / (q * (1 - q))))
        gaps += [abs(squares - expanded), abs(rho - renyi_from_joint(P))]
    gap = max(gaps)
    return exact(gap < 1e-6, f"{len(gaps) // 2} tables: largest gap {order_of(gap)}", gap=gap)


def _expected_square(w, P):
    """Compute E[(w^T a - b~)^2] with b~ = b - 1/2."""
    return float((P * (w[:, None] - np.array([-0.5, 0.5])) ** 2).sum())


@rule
def quadratic_form_over_v(results, claim, thresholds):
    """Check (6), in which v_1 has the singular value 1, and the remaining maximum is rho_R^2."""
    gaps = []
    for P in random_tables():
        Q, v_1 = normalized_table(P), np.sqrt(P.sum(axis=0))
        squared = Q.T @ Q
        off = squared - np.outer(v_1, v_1)
        gaps += [
            np.abs(squared @ v_1 - v_1).max(),
            abs(np.linalg.eigvalsh(off).max() - renyi_from_joint(P) ** 2),
        ]
    gap = float(max(gaps))
    return exact(gap < 1e-9, f"{len(gaps) // 2} tables: largest gap {order_of(gap)}", gap=gap)


@rule
def closed_form_of_w(results, claim, thresholds):
    """Compare line 3 of Algorithm 2 with a numerical maximum, and with other values of w."""
    rng = np.random.default_rng(0)
    gaps, beaten = [], 0
    for _ in range(5):
        F, s = rng.dirichlet(np.ones(3), 40), rng.integers(0, 2, 40)
        w = ((2 * s - 1) @ F) / (2 * F.sum(axis=0))
        best = _penalty_given(w, F, s)
        found = minimize(lambda w, F=F, s=s: -_penalty_given(w, F, s), np.zeros(3), tol=1e-12)
        gaps.append(abs(best + found.fun))
        others = w + rng.normal(0, 0.1, (50, 3))
        beaten += sum(_penalty_given(other, F, s) > best + 1e-12 for other in others)
    gap = float(max(gaps))
    text = f"5 cases: the search is off by {order_of(gap)}, {beaten} of 250 other w do better"
    return exact(gap < 1e-8 and beaten == 0, text, gap=gap, n=5)


def _penalty_given(w, F, s):
    """Compute the part of f_B that the adversary can change."""
    return float((-F @ w**2 + (2 * s - 1) * (F @ w)).mean())


@rule
def danskin_gradient(results, claim, thresholds):
    """Check that Algorithm 2 follows the gradient of the maximum, at the fixed best response."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(5):
        F, s = rng.dirichlet(np.ones(3), 30), rng.integers(0, 2, 30)
        groups, penalty = Groups.from_labels(s), BinaryRenyiPenalty()
        T = groups.table(F)
        _, fixed = renyi_given_w(T, groups.q, best_response_w(T, groups.q))
        move = rng.normal(size=F.shape)
        move -= move.mean(axis=1, keepdims=True)
        ends = [penalty.value_and_grad(F + sign * 1e-6 * move, groups)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-6
        worst = max(worst, abs(slope - float((groups.spread(fixed) * move).sum())))
    return exact(worst < 1e-6, f"5 cases: largest gap {order_of(worst)}", gap=worst, n=5)


@rule
def weakly_convex(results, claim, thresholds):
    """Check weak convexity for the maximum of v sin(theta), by midpoints of |sin| + x^2/2."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-10, 10, (2, 10_000))

    def lifted(x):
        return np.abs(np.sin(x)) + x**2 / 2

    worst = float((lifted((a + b) / 2) - (lifted(a) + lifted(b)) / 2).max())
    text = f"10 000 midpoints: largest excess {max(worst, 0):.1e}"
    return exact(worst < 1e-12, text, gap=worst, n=10_000)


@rule
def rate_is_a_worst_case(results, claim, thresholds):
    """Check a worst-case bound, which runs can contradict but not support."""
    algorithm, claimed = options(claim)["algorithm"], claim["paper"]["value"]
    table = results.fresh("convergence", ["lam", "t", "gradient"], algorithm=algorithm)
    slopes = [
        np.polyfit(np.log(rows["t"]), np.log(rows["gradient"]), 1)[0]
        for _, rows in table.groupby(["seed", "lam"])
    ]
    slowest = max(slopes)
    text = (
        f"{len(slopes)} runs on Adult: smallest gradient ~ t^{np.mean(slopes):.2f}, the slowest "
        f"t^{slowest:.2f}; no run supports a bound for all problems"
    )
    if slowest > claimed:
        return exact(False, text, gap=slowest - claimed, n=len(slopes))
    return Evidence(kind="untestable", text=text, n=len(slopes), outcome=UNTESTABLE)


@rule
def descent_finds_the_global_minimum(results, claim, thresholds):
    """Find where descent converges from several starts, with ten samples and one parameter."""
    ends = stationary_values()
    text = ", ".join(f"{end:.3f}" for end in ends)
    text = f"10 samples, one parameter, 4 starts: stationary values {text}"
    return exact(len(ends) == 1, text, gap=ends[-1] - ends[0], n=4)


# Features, groups and labels of a problem with two local minima.
_X = np.array([-3, 0, 0, 1, 1, 2, 4, 4, 4, 4])
_S = np.array([1, 1, 1, 0, 1, 1, 0, 0, 0, 0])
_Y = np.array([0, 1, 1, 1, 1, 1, 1, 1, 1, 1])


def _objective(theta, lam=3.0):
    """Compute mean logistic loss + lambda rho_R^2 of the sampled label for equal groups."""
    yes = 1 / (1 + np.exp(1 - theta * _X))
    loss = -np.mean(np.log(np.where(_Y == 1, yes, 1 - yes)))
    p = yes.mean()
    return float(loss + lam * np.mean(yes * (_S - 0.5)) ** 2 / (p * (1 - p) / 4))


@cache
def stationary_values(starts=(-2.0, 0.0, 2.0, 4.0)):
    """Return the different values of the objective at which descent ends."""
    return sorted({round(_objective(_descend(start)), 5) for start in starts})


def _descend(theta, step=0.1, steps=5000):
    for _ in range(steps):
        theta -= step * (_objective(theta + 1e-5) - _objective(theta - 1e-5)) / 2e-5
    return theta


@rule
def several_tasks(results, claim, thresholds):
    """Compare rho_R of output and S without and with the penalty, for the four named tasks."""
    found = dependence_by_task()
    fell = [after < before / 2 for before, after in found.values()]
    text = ", ".join(f"{name} {a:.2f} to {b:.2f}" for name, (a, b) in found.items())
    return exact(all(fell), f"rho_R of output and S: {text}", partly=any(fell), n=len(found))


@cache
def dependence_by_task():
    """Return {task: (rho_R without, with the penalty)} on 400 synthetic samples."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + np.outer(s, [1.5, 0.0])
    y = X @ [1.0, 1.0] + rng.normal(size=400)
    groups = {"sensitive_features": s}
    tasks = {
        "classification": lambda lam: _classes(X, y > y.mean(), s, lam),
        "regression": lambda lam: _four(RenyiRegressor(lam).fit(X, y, **groups).predict(X)),
        "clustering": lambda lam: (
            RenyiKMeans(3, 100 * lam, random_state=0).fit(X, **groups).labels_
        ),
        "dimension reduction": lambda lam: _one_dimension(X, s, lam),
    }
    return {
        name: tuple(renyi_correlation(task(lam), s) for lam in (0.0, 100.0))
        for name, task in tasks.items()
    }


def _four(values):
    """Convert numbers to four classes, by quartiles."""
    return np.digitize(values, np.quantile(values, [0.25, 0.5, 0.75]))


def _classes(X, y, s, lam):
    score = RenyiClassifier(lam).fit(X, y, sensitive_features=s).predict_proba(X)[:, 1]
    return (score > np.median(score)).astype(int)


def _one_dimension(X, s, lam):
    """Return the coordinate on the line that minimizes unexplained variance + lambda rho_R^2."""
    centered = X - X.mean(axis=0)
    lines = [np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0, np.pi, 360, endpoint=False)]

    def cost(line):
        along = centered @ line
        unexplained = 1 - (along**2).sum() / (centered**2).sum()
        return unexplained + lam * renyi_correlation(_four(along), s) ** 2

    return _four(centered @ min(lines, key=cost))


@rule
def concatenated_attributes(results, claim, thresholds):
    """Check that all attributes together depend at least as much as any function of them."""
    rng = np.random.default_rng(0)
    worst = -np.inf
    for _ in range(20):
        first, second, label = rng.integers(0, 2, (3, 300))
        label = np.where(rng.random(300) < 0.3, first ^ second, label)
        joint = renyi_correlation(label, 2 * first + second)
        alone = max(renyi_correlation(label, s) for s in (first, second, first ^ second))
        worst = max(worst, alone - joint)
    return exact(worst < 1e-9, f"20 cases: alone exceeds joint by {max(worst, 0):.1e}", n=20)


@rule
def equalized_odds_as_a_penalty(results, claim, thresholds):
    """Check that the penalty given Y is 0 exactly if the label is independent of S given Y."""
    rng = np.random.default_rng(0)
    y, s = np.repeat([0, 1], 200), np.tile([0, 1], 200)
    by_label = np.where(y == 1, 0.7, 0.2)
    fair = np.column_stack([1 - by_label, by_label])
    unfair = fair + (0.1 * (2 * s - 1) * (y == 1))[:, None] * np.array([-1, 1])
    penalty, groups = ConditionalPenalty(RenyiPenalty()), Groups.from_labels(s, y=y)
    zero, positive = (penalty.value_and_grad(F, groups)[0] for F in (fair, unfair))
    noise = rng.dirichlet(np.ones(2), 400)
    parts = sum(
        renyi_from_joint(Groups.from_labels(s[y == label]).table(noise[y == label])) ** 2
        for label in (0, 1)
    )
    gap = abs(penalty.value_and_grad(noise, groups)[0] - parts)
    text = f"fair {order_of(zero)}, unfair {positive:.4f}, sum over y off by {order_of(gap)}"
    return exact(zero < 1e-12 and positive > 1e-3 and gap < 1e-9, text, gap=gap, n=3)
