"""Measurements of the exactness of Theorems 1 and 2 and of the rates of Theorems 3 and 4."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._splits import FRESH, panel
from renyi_lib.correlation import renyi_binary, renyi_correlation, renyi_from_joint
from renyi_lib.models import SoftmaxModel
from renyi_lib.objective import FairObjective
from renyi_lib.penalties import BinaryRenyiPenalty, Groups, RenyiPenalty
from renyi_lib.solvers import gradient_descent


def theorems(*, shapes=((2, 2), (3, 2), (3, 4), (5, 7)), seeds=range(25), sweeps=2000):
    """Compare Theorems 1 and 2 with the definition on random joint tables.

    The supremum of the definition is computed by alternating conditional expectations. For a given
    g the best f is E[g | a], centered and scaled, and vice versa. No singular value decomposition
    is involved.

    Parameters
    ----------
    shapes : sequence of (int, int)
        Numbers of values of a and b. Theorem 2 requires two values of b.
    seeds : iterable of int
        Seeds of the random tables.
    sweeps : int, default=2000
        Maximum number of alternations.

    Returns
    -------
    DataFrame
        Columns ``rows, columns, seed``, and rho_R by each method: ``definition``, ``theorem_1``,
        ``theorem_2`` (NaN unless b is binary) and ``from_labels`` (`renyi_correlation`).

    Examples
    --------
    >>> from renyi_book.experiments import theorems
    >>> table = theorems(shapes=[(3, 2)], seeds=[0])
    >>> bool(abs(table["definition"] - table["theorem_1"]).max() < 1e-9)
    True
    """
    found = []
    for shape in shapes:
        for seed in seeds:
            counts = np.random.default_rng(seed).integers(1, 20, size=shape)
            a, b = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(shape))
            found.append(
                {
                    "rows": shape[0],
                    "columns": shape[1],
                    "seed": int(seed),
                    "definition": _climb(counts / counts.sum(), sweeps),
                    "theorem_1": float(renyi_from_joint(counts / counts.sum())),
                    "theorem_2": float(renyi_binary(a, b).rho) if shape[1] == 2 else np.nan,
                    "from_labels": float(renyi_correlation(a, b)),
                }
            )
    return pd.DataFrame(found)


def _climb(P, sweeps):
    """Compute the supremum of E[f(a) g(b)] by alternating conditional expectations."""
    p, q = P.sum(axis=1), P.sum(axis=0)
    g = _standardized(np.random.default_rng(0).normal(size=len(q)), q)
    value = 0.0
    for _ in range(sweeps):
        f = _standardized(P @ g / p, p)
        g = _standardized(f @ P / q, q)
        value, before = float(f @ P @ g), value
        if abs(value - before) < 1e-15:
            break
    return value


def _standardized(f, p):
    f = f - p @ f
    return f / np.sqrt(p @ f**2)


def convergence(
    *,
    algorithms=("discrete", "binary"),
    lams=(1.0, 10.0),
    n_rows=4000,
    max_iter=2000,
    checkpoints=(30, 100, 300, 1000, 2000),
    seeds=FRESH[:10],
    progress=True,
):
    """Measure the smallest gradient norm in t steps of Algorithms 1 and 2 on Adult.

    Theorems 3 and 4 bound this norm. The algorithms start from theta = 0 with a constant step. S
    is gender and race for Algorithm 1, and gender for Algorithm 2.

    Parameters
    ----------
    algorithms : sequence of {"discrete", "binary"}
        Algorithm 1 or Algorithm 2.
    lams : sequence of float
        Weights of the penalty.
    n_rows : int, default=4000
        Number of training rows of Adult, a random sample for each seed.
    max_iter : int, default=2000
        Number of steps.
    checkpoints : sequence of int
        Steps t at which the smallest gradient norm so far is recorded.
    seeds : iterable of int
        Random seeds.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``algorithm, seed, lam, t`` and ``gradient``, the smallest gradient norm from the
        start to step t.

    Examples
    --------
    >>> from renyi_book.experiments import convergence
    >>> table = convergence(
    ...     lams=[1.0], n_rows=500, max_iter=20, checkpoints=[1, 20], seeds=[0], progress=False
    ... )
    >>> bool(table["gradient"].iloc[1] < table["gradient"].iloc[0])
    True
    """
    cases = {
        "discrete": ("adult-gender-race", RenyiPenalty()),
        "binary": ("adult", BinaryRenyiPenalty()),
    }
    found = []
    for algorithm in algorithms:
        name, penalty = cases[algorithm]
        dataset, sensitive = panel(name)
        data = dataset.encode(sensitive=sensitive, scaling="standard")
        for seed in tqdm(seeds, desc=algorithm, disable=not progress, leave=False):
            rows = np.random.default_rng(seed).choice(len(data.y_train), n_rows, replace=False)
            model = SoftmaxModel(data.X_train[rows], data.y_train[rows], 2)
            objective = FairObjective(model, penalty, Groups.from_labels(data.s_train[rows]))
            for lam in lams:
                start = np.zeros(model.shape)
                solution = gradient_descent(objective, start, lam, tol=0.0, max_iter=max_iter)
                norms = solution.history.columns()["gradient_norm"]
                where = {"algorithm": algorithm, "seed": int(seed), "lam": float(lam)}
                found += [
                    where | {"t": int(t), "gradient": float(norms[: t + 1].min())}
                    for t in checkpoints
                ]
    return pd.DataFrame(found)
