"""Experiments for the second scorecard, which measure the claims of FERMI's paper.

The rules that read these tables are in ``book/claims_fermi.yml`` and `renyi_book.scorecard.fermi`,
and were committed before any of the seeds from 100 upward was run. Step sizes and learning rates
were chosen on the seeds 0 to 4, which are not used again.

The notation follows the paper by Lowy and others: W is the adversary's matrix, q has the shares of
the groups, and ERMI is the chi-square information of predicted label and group.
"""

import time
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from renyi_book.experiments._fermi import MEMORY
from renyi_book.experiments._measures import measures
from renyi_book.experiments._splits import FRESH, encoded_splits
from renyi_lib.correlation import renyi_from_joint
from renyi_lib.penalties import best_response_W, chi_square_given_W
from renyi_lib.stochastic import BatchTable, Fermi, table_of_batch

# Initial learning rate by batch size, chosen among three values a factor of three apart as the one
# with the smallest validation loss without a penalty on the seeds 0 to 4.
RATES = {1: 0.003, 64: 0.1}
# Step sizes of theta and W in Algorithm 1 for a budget of 4000 samples and batches of one.
STEPS = (0.005, 0.05)


def fermi_measures(
    *,
    shapes=((2, 2), (2, 4), (3, 2), (3, 6)),
    strengths=(0.0, 0.01, 0.1, 1.0),
    seeds=range(100, 125),
):
    """Compute ERMI and the measures to which it is compared, on random joint tables.

    A table is (1 - strength) times the product of the margins of a random table plus strength
    times that table, so that all degrees of dependence occur.

    Parameters
    ----------
    shapes : sequence of (int, int)
        Numbers of classes and of groups.
    strengths : sequence of float
        Strengths of the dependence, from 0 to 1.
    seeds : iterable of int
        Seeds of the random tables.

    Returns
    -------
    DataFrame
        Columns ``classes, groups, strength, seed``; ``definition`` (E[p(y, s) / (p(y) p(s))] - 1),
        ``exponential`` (the exponential of Rényi's mutual information of order 2, minus 1),
        ``chi2`` (the sum of ``(p(y, s) - p(y) p(s))^2 / (p(y) p(s))``), ``best_W`` (what FERMI
        maximizes over W, `chi_square_given_W`, at its best W) and ``other_W`` (the largest of its
        values at 20 other W);
        ``rho2`` (rho_R squared), ``shannon`` (mutual information in nats), ``l_inf``
        (the largest ``|p(y, s) - p(y) p(s)|``), ``parity`` (the largest ``|p(y | s) - p(y)|``) and
        ``smallest_group`` (the share of the smallest group).

    Examples
    --------
    >>> from renyi_book.experiments import fermi_measures
    >>> table = fermi_measures(shapes=[(2, 2)], strengths=[1.0], seeds=[0])
    >>> bool(abs(table["definition"] - table["rho2"]).max() < 1e-12)
    True
    """
    found = []
    for c, d in shapes:
        for strength in strengths:
            for seed in seeds:
                rng = np.random.default_rng([int(seed), c, d])
                P = rng.dirichlet(np.ones(c * d)).reshape(c, d)
                product = np.outer(P.sum(axis=1), P.sum(axis=0))
                P = product + strength * (P - product)
                where = {"classes": c, "groups": d, "strength": strength, "seed": int(seed)}
                found.append(where | _measures_of_table(P, rng))
    return pd.DataFrame(found)


def _measures_of_table(P, rng):
    p, q = P.sum(axis=1), P.sum(axis=0)
    product = np.outer(p, q)
    W = best_response_W(P, q)
    others = [chi_square_given_W(P, q, W + 0.1 * rng.normal(size=W.shape))[0] for _ in range(20)]
    return {
        "definition": float((P * (P / product)).sum() - 1),
        "exponential": float(
            np.expm1(np.logaddexp.reduce((2 * np.log(P) - np.log(product)).ravel()))
        ),
        "chi2": float(((P - product) ** 2 / product).sum()),
        "best_W": float(chi_square_given_W(P, q, W)[0]),
        "other_W": float(max(others)),
        "rho2": float(renyi_from_joint(P)) ** 2,
        "shannon": float((P * np.log(P / product)).sum()),
        "l_inf": float(np.abs(P - product).max()),
        "parity": float(np.abs(P / q - p[:, None]).max()),
        "smallest_group": float(q.min()),
    }


def fermi_estimator(*, shapes=((2, 2), (3, 4)), n_rows=9, sizes=(1, 2, 3), seeds=range(100, 110)):
    """Compare the mean of a gradient over *all* batches of a size with the gradient on all rows.

    Parameters
    ----------
    shapes : sequence of (int, int)
        Numbers of classes and of groups.
    n_rows : int, default=9
        Number of rows of the population, whose batches are enumerated.
    sizes : sequence of int
        Batch sizes.
    seeds : iterable of int
        Seeds of the rows' class probabilities and groups, and of FERMI's random W.

    Returns
    -------
    DataFrame
        Columns ``classes, groups, seed, size, way`` ("fermi" at a random W, "fermi-best" at the
        best W on all rows, "plug-in" for rho_R^2 of the batch's own table); ``gradient``, the
        largest bias of the gradient relative to the largest entry of the true gradient; ``climb``,
        the largest bias of the step of W (NaN without W); ``value``, the bias of the value.

    Examples
    --------
    >>> from renyi_book.experiments import fermi_estimator
    >>> table = fermi_estimator(shapes=[(2, 2)], sizes=[2], seeds=[0]).set_index("way")
    >>> bool(table.loc["fermi", "gradient"] < 1e-12), bool(table.loc["plug-in", "gradient"] > 0.1)
    (True, True)
    """
    found = []
    for c, d in shapes:
        for seed in seeds:
            rng = np.random.default_rng([int(seed), c, d])
            F = rng.dirichlet(np.ones(c), size=n_rows)
            codes = rng.permutation(np.arange(n_rows) % d)
            q = np.bincount(codes, minlength=d) / n_rows
            best = best_response_W(table_of_batch(F, codes, d), q)
            some = best + rng.normal(size=best.shape)
            for size in sizes:
                where = {"classes": c, "groups": d, "seed": int(seed), "size": size}
                for way, W in (("fermi", some), ("fermi-best", best), ("plug-in", None)):
                    found.append(where | {"way": way} | _bias(F, codes, q, size, W))
    return pd.DataFrame(found)


def _bias(F, codes, q, size, W):
    """Compute the biases of the gradient, the ascent step and the value over all batches."""

    def of(rows):
        if W is None:
            way = BatchTable(len(q), "renyi")
            before = after = np.zeros(1)
        else:
            way = Fermi(q, step=0.5)
            way.W = before = W
        value, gradient = way.value_and_grad(F[rows], codes[rows])
        if W is not None:
            after = way.W
        everywhere = np.zeros_like(F)
        everywhere[rows] = gradient
        return everywhere, after - before, value

    batches = [of(list(rows)) for rows in combinations(range(len(F)), size)]
    mean = [np.mean(part, axis=0) for part in zip(*batches)]
    whole = of(list(range(len(F))))
    gradient, climb = (float(np.abs(a - b).max()) for a, b in zip(mean[:2], whole[:2]))
    gradient /= float(np.abs(whole[0]).max())
    climb = climb if W is not None else np.nan
    return {"gradient": gradient, "climb": climb, "value": float(mean[2] - whole[2])}


def fermi_running(*, n_rows=4000, size=64, steps=4000, warm_up=1000, seeds=FRESH):
    """Measure ERMI as estimated by FERMI's own W while the model is fixed.

    The population has three classes and six groups. W takes steps of the same size as in the
    network comparison, the batch size divided by 5000.

    Parameters
    ----------
    n_rows, size, steps, warm_up : int
        Number of rows of the population, batch size, number of batches, and number of initial
        batches that do not count in the means.
    seeds : iterable of int
        Random seeds.

    Returns
    -------
    DataFrame
        Columns ``seed, size``; ``ermi`` on all rows; and ``fermi`` and ``plug_in`` (the batch's
        own table), the means of the two estimates over the batches.

    Examples
    --------
    >>> from renyi_book.experiments import fermi_running
    >>> table = fermi_running(steps=1200, seeds=[0])
    >>> bool((table["plug_in"] > table["ermi"]).all())
    True
    """
    found = []
    for seed in seeds:
        rng = np.random.default_rng([int(seed), 2])
        F, codes = _population(rng, n_rows)
        q = np.bincount(codes, minlength=6) / n_rows
        fermi, plug_in, values = Fermi(q, step=size / MEMORY), BatchTable(6), []
        for _ in range(steps):
            rows = rng.integers(n_rows, size=size)
            values.append([w.value_and_grad(F[rows], codes[rows])[0] for w in (fermi, plug_in)])
        T = table_of_batch(F, codes, 6)
        means = np.mean(values[warm_up:], axis=0)
        found.append(
            {
                "seed": int(seed),
                "size": size,
                "ermi": float(chi_square_given_W(T, q, best_response_W(T, q))[0]),
                "fermi": float(means[0]),
                "plug_in": float(means[1]),
            }
        )
    return pd.DataFrame(found)


def _population(rng, n_rows):
    """Sample class probabilities of three classes, and six groups that weakly depend on them."""
    codes = rng.integers(6, size=n_rows)
    Z = rng.normal(size=(n_rows, 3)) + 0.3 * rng.normal(size=(6, 3))[codes]
    F = np.exp(Z)
    return F / F.sum(axis=1, keepdims=True), codes


def fermi_consistency(*, sizes=(100, 1000, 10_000, 100_000), seeds=range(100, 300)):
    """Compare ERMI of a sample with ERMI of the population from which it was drawn.

    Parameters
    ----------
    sizes : sequence of int
        Sample sizes.
    seeds : iterable of int
        Random seeds.

    Returns
    -------
    DataFrame
        Columns ``size, seed``; ``population``, ERMI of a table of three classes and six groups;
        and ``sample``, ERMI of a sample of that size from the table.

    Examples
    --------
    >>> from renyi_book.experiments import fermi_consistency
    >>> table = fermi_consistency(sizes=[100_000], seeds=range(3))
    >>> bool((abs(table["sample"] - table["population"]) < 0.01).all())
    True
    """
    rng = np.random.default_rng(7)
    P = rng.dirichlet(np.full(18, 5.0)).reshape(3, 6)
    population = _ermi(P)
    found = []
    for size in sizes:
        for seed in seeds:
            drawn = np.random.default_rng([int(seed), size]).multinomial(size, P.ravel())
            where = {"size": size, "seed": int(seed), "population": population}
            found.append(where | {"sample": _ermi(drawn.reshape(3, 6) / size)})
    return pd.DataFrame(found)


def _ermi(P):
    q = P.sum(axis=0)
    return float(chi_square_given_W(P, q, best_response_W(P, q))[0])


def fermi_convergence(
    *,
    sizes=(1, 16, 256),
    budgets=(4000, 16_000, 64_000, 256_000),
    n_rows=4000,
    lam=3.0,
    seeds=FRESH[:10],
    progress=True,
):
    """Measure how the gradient decreases in FERMI's Algorithm 1 on Adult, by gender and race.

    The model is softmax regression from theta = 0 and W = 0, with batches sampled with replacement
    and plain stochastic steps without Adam. Step sizes are constant within a run and proportional
    to sqrt(batch size / budget) (at most 1/2 for W). The norm of the gradient of mean loss + lam *
    ERMI on all rows is averaged over 40 iterates that are spread evenly over the run, because the
    paper returns a random iterate.

    Parameters
    ----------
    sizes : sequence of int
        Batch sizes.
    budgets : sequence of int
        Numbers of samples seen in a run.
    n_rows : int, default=4000
        Number of training rows of Adult, a random sample for each seed.
    lam : float, default=3
        Weight of the penalty.
    seeds : iterable of int
        Random seeds.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``seed, size, budget``; ``start``, the gradient's norm at theta = 0; ``gradient``,
        its mean over the run; ``final``, its mean over the last quarter of the run.

    Examples
    --------
    >>> from renyi_book.experiments import fermi_convergence
    >>> table = fermi_convergence(
    ...     sizes=[16], budgets=[4000], n_rows=500, seeds=[0], progress=False
    ... )
    >>> bool((table["gradient"] < table["start"]).all())
    True
    """
    data = _stacked("adult-gender-race", seeds, n_rows)
    start = np.zeros((len(data.y), data.X.shape[-1], 2))
    found = []
    runs = [(size, budget) for size in sizes for budget in budgets]
    for size, budget in tqdm(runs, desc="convergence", disable=not progress, leave=False):
        theta = start.copy()
        shape = (len(theta), 1, 4, 2)
        factor = np.sqrt(4000 * size / budget)
        way = Fermi(data.q, step=min(0.5, STEPS[1] * factor))
        way.W = np.zeros(shape)  # the start of Algorithm 1
        rngs = [np.random.default_rng([int(seed), 4, size, budget]) for seed in seeds]
        steps = budget // size
        noted = set(np.linspace(0, steps, 41).astype(int)[1:].tolist())
        norms = [_norm(data, start, lam)]
        picks = _picks(rngs, n_rows, size)
        for t in range(1, steps + 1):
            rows = next(picks)
            batch = data.X[data.each, rows], data.one_hot[data.each, rows], data.s[data.each, rows]
            theta -= STEPS[0] * factor * _gradient(*batch, theta, [lam], way)
            if t in noted:
                norms.append(_norm(data, theta, lam))
        norms = np.stack(norms, axis=1)
        found += [
            {
                "seed": int(seed),
                "size": size,
                "budget": budget,
                "start": float(row[0]),
                "gradient": float(row[1:].mean()),
                "final": float(row[-10:].mean()),
            }
            for seed, row in zip(seeds, norms)
        ]
    return pd.DataFrame(found)


def _picks(rngs, n, size, block=1000):
    """Yield batches sampled with replacement, for several generators side by side."""
    while True:
        drawn = np.stack([rng.integers(n, size=(block, size)) for rng in rngs], axis=1)
        yield from drawn


def _norm(data, theta, lam):
    """Compute the norm of the gradient of mean loss + lam * ERMI on all rows, for each seed."""
    whole = BatchTable(data.n_groups)
    gradient = _gradient(data.X, data.one_hot, data.s, theta, [lam], whole)
    return np.sqrt((gradient**2).sum(axis=(1, 2)))


def fermi_logistic(
    dataset="adult",
    *,
    size=64,
    lams=(0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30),
    epochs=10,
    seeds=FRESH,
    progress=True,
):
    """Train logistic regression with FERMI on mini-batches, over lam.

    The splits are the random splits of `penalties_compared`, with which this table is compared.
    The steps are plain stochastic gradients, as in FERMI's Algorithm 1, with a learning rate that
    decreases linearly to zero. W is updated as in `batches_compared`.

    Parameters
    ----------
    dataset : {"adult", "adult-gender-race"}
        Data set and sensitive attribute.
    size : {1, 64}, default=64
        Batch size.
    lams : sequence of float
        Weights of the penalty.
    epochs : int, default=10
        Number of passes over the training rows.
    seeds : iterable of int
        Seeds of the random splits.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``dataset, seed, size, lam, rows`` ("validation", "test"), and ``accuracy`` and
        ``dp_violation`` of the decision.

    Examples
    --------
    >>> from renyi_book.experiments import fermi_logistic
    >>> table = fermi_logistic(lams=[0, 10], epochs=1, seeds=[0], progress=False)
    >>> table.query("rows == 'test'")["dp_violation"].round(1).tolist()
    [0.2, 0.0]
    """
    side_by_side = 10
    seeds = list(seeds)
    found = []
    blocks = [seeds[i : i + side_by_side] for i in range(0, len(seeds), side_by_side)]
    for some in tqdm(blocks, desc=f"FERMI, {dataset}", disable=not progress, leave=False):
        data = _stacked(dataset, some, dtype=np.float32)
        way = Fermi(data.q, step=size / MEMORY)
        rngs = [np.random.default_rng([int(seed), 5]) for seed in some]
        theta = _trained(data, size, np.asarray(lams, dtype=np.float32), way, epochs, rngs)
        for k, seed in enumerate(some):
            where = {"dataset": dataset, "seed": int(seed), "size": size}
            for rows, (X, y, s) in data.others[k].items():
                Z = (X @ theta[k]).reshape(len(y), len(lams), 2)
                for lam, decision in zip(lams, (Z[..., 1] > Z[..., 0]).T.astype(int)):
                    here = where | {"lam": float(lam), "rows": rows}
                    all_of_them = measures(y, decision, s)
                    found.append(here | {m: all_of_them[m] for m in ("accuracy", "dp_violation")})
    return pd.DataFrame(found)


def _trained(data, size, lams, way, epochs, rngs):
    """Return theta (k, m, l * c) after plain stochastic steps; lam is ignored if `way` is None."""
    k, n, m = data.X.shape
    theta = np.zeros((k, m, 2 * len(lams)), dtype=data.X.dtype)
    steps, t = epochs * (n // size), 0
    for _ in range(epochs):
        order = np.stack([rng.permutation(n) for rng in rngs])
        for first in range(0, n - size + 1, size):
            rows = order[:, first : first + size]
            batch = data.X[data.each, rows], data.one_hot[data.each, rows], data.s[data.each, rows]
            rate = theta.dtype.type(RATES[size] * (1 - t / steps))
            theta -= rate * _gradient(*batch, theta, lams, way)
            t += 1
    return theta


def _gradient(X, one_hot, codes, theta, lams, way):
    """Compute the gradient for theta (k, m, l * c) on batches X (k, b, m), for l weights."""
    k, b, _ = X.shape
    Z = (X @ theta).reshape(k, b, len(lams), -1).swapaxes(1, 2)
    F = np.exp(Z - Z.max(axis=-1, keepdims=True))
    F /= F.sum(axis=-1, keepdims=True)
    dZ = (F - one_hot[:, None]) / X.dtype.type(b)
    if way is not None:
        codes = np.broadcast_to(codes[:, None], F.shape[:-1])
        dF = way.value_and_grad(F, codes)[1] * np.asarray(lams, dtype=X.dtype)[:, None, None]
        dZ += F * (dF - (dF * F).sum(axis=-1, keepdims=True))
    return X.swapaxes(-1, -2) @ dZ.swapaxes(1, 2).reshape(k, b, -1)


class _Stacked(NamedTuple):
    """Training rows of several splits side by side, and the other rows of each split."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    one_hot: np.ndarray
    q: np.ndarray
    each: np.ndarray
    n_groups: int
    others: list


def _stacked(dataset, seeds, n_rows=None, dtype=float):
    """Stack the training rows of the random splits, with a constant as the first column.

    If `n_rows` is given, that many of them are sampled from each split.
    """
    Xs, ys, ss, others = [], [], [], []
    for where, rows in encoded_splits(dataset, seeds, paper=False):
        X, y, s = rows.pop("train")
        picked = slice(None)
        if n_rows is not None:
            rng = np.random.default_rng([where["seed"], 3])
            picked = rng.choice(len(y), n_rows, replace=False)
        Xs.append(X[picked])
        ys.append(y[picked])
        ss.append(s[picked])
        others.append(rows)
    # Add columns of zeros for categories that are missing from the training rows of a split.
    width = max(X.shape[1] for X in Xs)
    X = np.stack([_widened(X, width, dtype) for X in Xs])
    for rows in others:
        for kind, (part, y, s) in rows.items():
            rows[kind] = (_widened(part, width, dtype), y, s)
    y, s = np.stack(ys), np.stack(ss)
    d = int(s.max()) + 1
    q = np.stack([np.bincount(row, minlength=d) / len(row) for row in s])[:, None]
    return _Stacked(X, y, s, np.eye(2, dtype=dtype)[y], q, np.arange(len(y))[:, None], d, others)


def _widened(X, width, dtype):
    """Prepend a column of ones, and append columns of zeros up to 1 + width columns."""
    ones = np.ones((len(X), 1))
    return np.hstack([ones, X, np.zeros((len(X), width - X.shape[1]))]).astype(dtype)


def fermi_epochs(*, dataset="adult-gender-race", size=64, repeats=3, seeds=FRESH[:10]):
    """Measure the CPU seconds of one pass over the training rows, with and without a penalty.

    Parameters
    ----------
    dataset : {"adult", "adult-gender-race"}, default="adult-gender-race"
        Data set and sensitive attribute.
    size : {1, 64}, default=64
        Batch size.
    repeats : int, default=3
        Number of repetitions for each seed. All variants take turns, so that a slow second
        affects them equally.
    seeds : iterable of int
        Random seeds.

    Returns
    -------
    DataFrame
        Columns ``seed, repeat, way`` ("none", "renyi" for rho_R^2 of the batch's table, "fermi")
        and ``seconds``, measured by a clock.

    Examples
    --------
    >>> from renyi_book.experiments import fermi_epochs
    >>> bool((fermi_epochs(repeats=1, seeds=[0])["seconds"] > 0).all())
    True
    """
    lams, found = np.ones(1, dtype=np.float32), []
    for seed in seeds:
        data = _stacked(dataset, [seed], dtype=np.float32)
        for repeat in range(repeats):
            ways = {
                "none": None,
                "renyi": BatchTable(data.n_groups, "renyi"),
                "fermi": Fermi(data.q, step=size / MEMORY),
            }
            for name, way in ways.items():
                began = time.process_time()
                _trained(data, size, lams, way, 1, [np.random.default_rng(repeat)])
                took = time.process_time() - began
                found.append({"seed": int(seed), "repeat": repeat, "way": name, "seconds": took})
    return pd.DataFrame(found)
