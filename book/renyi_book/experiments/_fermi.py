"""Three penalties for mini-batches: the batch's own table, a running table, and FERMI.

These rules were written down and committed before any of the seeds 100 to 129 was run. All choices
were made on the seeds 0 to 4, which are not used again.

*Data.* The rows of Adult are split at random into 26 048 training rows, 6513 validation rows and
16 281 test rows. The problem "gender" is income by gender, a 2 x 2 table for which rho_R^2 and
chi-square information are the same. The problem "occupation" has three tiers of occupation by six
groups of gender and age, a 3 x 6 table for which the two measures differ. There, rows without a
known occupation and those of the armed forces are left out before the split, so all three sets are
smaller, and neither age nor income is a feature.

*Training.* Networks have 12 tanh nodes. For each split, all methods and all values of lambda have
the same start and the same batches. The budget is `EPOCHS` passes over the training rows for any
batch size, so that every network sees the same number of gradients. Adam's learning rate decreases
linearly to zero. Its initial value depends only on the batch size (`RATES`); among three values, a
factor of three apart, it is one with about the smallest validation loss without a penalty in both
problems. The running table's memory is 5000 samples (2000 and 20 000 gave the same results).
FERMI's step is b / 5000 for batches of b, at most 1/2, which for a class of probability 1/2 makes
W as slow as the table. "reference" is not a competing method; it uses all rows in each step and
twenty times the budget.

*Matching.* Lambda is chosen on the validation rows. The violation is the largest difference
between two groups in the rate of one decision. Along increasing lambda, starting from the network
without a penalty, the first crossing of a level (`LEVELS`; the second is the primary one) is found
by linear interpolation in lambda's rank; accuracy and violation on the test rows are read there by
the same interpolation. If a method never falls to the level, it has not reached it; such splits
are counted and never imputed.

*Evaluation.* The results are paired differences of test accuracy over the splits on which both
methods reach the level, with the corrected interval of Nadeau and Bengio. The smallest effects
that matter are 0.3 points of accuracy and 0.02 in a violation. A difference *matters* if the
interval excludes 0 and extends beyond these effects, two methods are *equal* if it lies within
them, and everything else is undecided. The splits are the seeds 100 to 129 for batches of 64 and
512 and for all rows, 100 to 109 for batches of one, and 100 to 104 for the reference (which a
processor can run in about a quarter of an hour).
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from renyi_book.experiments._splits import Rows, scaled
from renyi_lib.datasets import Grouping, load_adult
from renyi_lib.stochastic import BatchTable, Fermi, RunningTable, table_of_batch

EPOCHS = 5
HIDDEN = 12
MEMORY = 5000
LAMS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LEVELS = {"gender": (0.1, 0.05, 0.025), "occupation": (0.4, 0.3, 0.2)}
ALL, REFERENCE = "all", "reference"
# Adam's learning rate and the number of seeds, for each batch size.
RATES = {"1": 0.001, "64": 0.003, "512": 0.01, ALL: 0.1, REFERENCE: 0.03}
SEEDS = {"1": 10, "64": 30, "512": 30, ALL: 30, REFERENCE: 5}

# Three tiers of occupation; members of the armed forces (15 people) and people with an unknown
# occupation are left out.
TIERS = {
    "manual": (
        "Craft-repair",
        "Farming-fishing",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Transport-moving",
    ),
    "office, sales, service": (
        "Adm-clerical",
        "Other-service",
        "Priv-house-serv",
        "Protective-serv",
        "Sales",
    ),
    "professional": ("Exec-managerial", "Prof-specialty", "Tech-support"),
}
AGES = {"under 30": (0, 30), "30 to 49": (30, 50), "50 and over": (50, 200)}


def gender():
    """Return the Adult problem of income by gender, as in the rest of the book."""
    adult = load_adult()
    return adult, "gender", [adult.positive], None


def occupation():
    """Return Adult's tier of occupation by gender and age; income is not a feature."""
    adult = load_adult()
    tier_of = {name: tier for tier, names in TIERS.items() for name in names}

    def known(frame):
        tier = frame["occupation"].map(tier_of)
        edges = [low for low, _ in AGES.values()] + [200]
        band = pd.cut(frame["age"], edges, right=False, labels=list(AGES)).astype(str)
        return frame.assign(tier=tier, band=band)[tier.notna()]

    (sex,) = adult.sensitive_choices["gender"]
    band = Grouping("band", {name: name for name in AGES})
    adult = replace(
        adult,
        train=known(adult.train),
        test=known(adult.test),
        target="tier",
        sensitive_choices={"gender-age": (sex, band)},
    )
    columns = [c for c in adult.features if c not in ("age", "occupation")]
    return adult, "gender-age", list(TIERS)[1:], columns


# Functions that return a data set, the name of its sensitive attribute, the labels coded 1, 2, …
# (any other label is 0), and the columns of the features (None means the default).
PROBLEMS = {"gender": gender, "occupation": occupation}


def batches_compared(
    *,
    problem="gender",
    sizes=("64", "512", ALL),
    lams=LAMS,
    seeds=range(100, 130),
    epochs=EPOCHS,
    progress=True,
):
    """Train networks with each method on batches of each size, for the FERMI comparison.

    Parameters
    ----------
    problem : {"gender", "occupation"}
        Label and groups.
    sizes : sequence of {"1", "64", "512", "all", "reference"}
        Batch sizes; "reference" means all rows and twenty times the budget.
    lams : sequence of float
        Weights of the penalty.
    seeds : sequence of int
        Seeds of the split, the start and the shuffling. Each size uses at most as many of them as
        `SEEDS` states, from the first on.
    epochs : int, default=5
        Number of passes over the training rows.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``problem, seed, size``; ``way``, the method ("none", "batch", "running" or
        "fermi"); ``penalty``, its measure ("none", "chi-square" or "renyi"); ``lam``; ``rows``
        ("validation", "test"); ``accuracy`` and ``violation`` of the decision; ``rho2`` and
        ``chi2``, the rho_R^2 and the chi-square information of the sampled label and the group.

    Examples
    --------
    >>> from renyi_book.experiments import batches_compared
    >>> table = batches_compared(sizes=["512"], lams=[1], seeds=[0], epochs=1, progress=False)
    >>> table.query("rows == 'test'")["way"].tolist()
    ['none', 'batch', 'running', 'fermi']
    """
    if problem not in PROBLEMS:
        raise ValueError(f"problem must be one of {', '.join(PROBLEMS)}, not {problem!r}")
    # Number of splits trained side by side, chosen to keep the arrays small.
    side_by_side = {"1": 10, "64": 10, "512": 2, ALL: 1, REFERENCE: 1}
    jobs = [
        (size, list(seeds)[: SEEDS[size]][first : first + side_by_side[size]])
        for size in sizes
        for first in range(0, min(len(seeds), SEEDS[size]), side_by_side[size])
    ]
    found = []
    for size, some in tqdm(jobs, desc=f"batches, {problem}", disable=not progress, leave=False):
        splits = Splits(problem, some)
        ways = ways_for(splits, size, lams)
        passes = 20 * epochs if size == REFERENCE else epochs
        networks = train(splits, size, ways, passes)
        found += measured(splits, size, ways, networks)
    return pd.DataFrame(found)


def at_level(table, level):
    """Compute each method's test accuracy at a level of the violation on the validation rows.

    Parameters
    ----------
    table : DataFrame
        Table from `batches_compared` for one problem.
    level : float
        Violation on the validation rows.

    Returns
    -------
    DataFrame
        Columns ``violation, accuracy`` on the test rows, indexed by ``size, way, penalty, seed``,
        where the violation on the validation rows first falls to the level, interpolated between
        two lambdas; NaN if it never does. If the network without a penalty already meets the
        level, its values are returned.

    Examples
    --------
    >>> from renyi_book.experiments import at_level, batches_compared
    >>> table = batches_compared(sizes=["512"], lams=[1, 8], seeds=[0], epochs=2, progress=False)
    >>> at_level(table, 0.1)["violation"].round(1).tolist()
    [0.1, 0.1, 0.1]
    """
    keys = ["size", "way", "penalty", "seed"]
    values = table[["violation", "accuracy"]].to_numpy()
    lams, ways = table["lam"].to_numpy(), table["way"].to_numpy()
    groups = table.groupby([*keys, "rows"], dropna=False, sort=False).indices
    plain = {
        (size, seed, rows): at
        for (size, way, _, seed, rows), at in groups.items()
        if way == "none"
    }
    found = {}
    for key in (
        table.loc[ways != "none", keys].drop_duplicates().itertuples(index=False, name=None)
    ):
        points = {}
        for rows in ("validation", "test"):
            path = groups[*key, rows]
            path = path[np.argsort(lams[path], kind="stable")]
            points[rows] = values[[*plain[key[0], key[3], rows], *path]]
        found[key] = _crossing(points["validation"][:, 0], points["test"], level)
    index = pd.MultiIndex.from_tuples(found, names=keys)
    return pd.DataFrame(list(found.values()), index, columns=["violation", "accuracy"])


def _crossing(falling, values, level):
    """Interpolate the values where a sequence first falls to the level; NaN if it never does.

    If the sequence starts at or below the level, the first values are returned.
    """
    below = np.flatnonzero(falling <= level)
    if not len(below):
        return np.full(values.shape[1], np.nan)
    if below[0] == 0:
        return values[0]
    after = below[0]
    before = after - 1
    part = (falling[before] - level) / (falling[before] - falling[after])
    return values[before] + part * (values[after] - values[before])


class Splits:
    """Stacked random splits of a problem: X (k, n, m), y and s (k, n), for each set of rows."""

    def __init__(self, problem, seeds):
        self.problem, self.seeds = problem, seeds
        everything, n_train, self.n_classes = _everything(problem)
        arrays = [_arrays(everything, n_train, seed) for seed in seeds]
        # Add columns of zeros for categories that are missing from the training rows of a split.
        width = max(a["train"][0].shape[1] for a in arrays)
        for part in ("train", "validation", "test"):
            X, y, s = zip(*(a[part] for a in arrays))
            X = [np.pad(x, ((0, 0), (0, width - x.shape[1]))) for x in X]
            setattr(self, part, (np.stack(X), np.stack(y), np.stack(s)))
        self.n_groups = int(self.train[2].max()) + 1


@cache
def _everything(problem):
    """Return all rows, encoded but not scaled, and the numbers of non-test rows and of classes."""
    dataset, sensitive, positives, columns = PROBLEMS[problem]()
    rows = pd.concat([dataset.train, dataset.test], ignore_index=True)
    data = replace(dataset, train=rows, test=rows[:1])
    data = data.encode(sensitive=sensitive, columns=columns)
    y = _codes(rows[dataset.target], positives)
    return Rows(data.X_train, y, data.s_train), len(dataset.train), len(positives) + 1


def _arrays(everything, n_train, seed):
    """Return X in single precision, y and s of the training, validation and test rows."""
    order = np.random.default_rng(seed).permutation(len(everything.y))
    parts = np.split(order, [n_train * 4 // 5, n_train])
    rows = scaled(everything, dict(zip(("train", "validation", "test"), parts)), StandardScaler())
    return {part: (X.astype(np.float32), y, s) for part, (X, y, s) in rows.items()}


def _codes(labels, positives):
    """Return 1, 2, … for the given labels in their order, and 0 for any other label."""
    return sum((labels == label).to_numpy(int) * (k + 1) for k, label in enumerate(positives))


def ways_for(splits, size, lams):
    """Return (name, measure, lambdas, penalty object) for each method to compare."""
    _, _, s = splits.train
    d = splits.n_groups
    q = np.stack([np.bincount(row, minlength=d) / len(row) for row in s])[:, None, :]
    lams = np.asarray(lams, dtype=np.float32)
    measures = ["chi-square"]
    # With two groups or two classes, rho_R^2 equals the chi-square information.
    if min(splits.n_classes, d) > 2 and size != REFERENCE:
        measures.append("renyi")
    ways = [("none", "none", lams[:1] * 0, None)]
    for measure in measures:
        # The table of one row carries no information, and the table of all rows needs no memory.
        if size != "1":
            ways.append(("batch", measure, lams, BatchTable(d, measure)))
        if size not in (ALL, REFERENCE):
            ways.append(("running", measure, lams, RunningTable(d, measure, memory=MEMORY)))
    if size != REFERENCE:
        step = 0.5 if size == ALL else int(size) / MEMORY
        ways.append(("fermi", "chi-square", lams, Fermi(q, step=step)))
    return ways


def train(splits, size, ways, epochs):
    """Train the networks of all methods and lambdas, side by side for each split.

    All networks of a split have the same start and see the same batches. The rows of an epoch
    after the last full batch are left out.
    """
    X, y, s = splits.train
    k, n, m = X.shape
    b = n if size in (ALL, REFERENCE) else int(size)
    networks = Networks(k, m, sum(len(lams) for _, _, lams, _ in ways), splits.n_classes)
    rngs = [np.random.default_rng([seed, 1]) for seed in splits.seeds]
    networks.start(rngs)
    one_hot = np.eye(splits.n_classes, dtype=np.float32)
    each = np.arange(k)[:, None]
    steps = epochs * (n // b)
    for _ in range(epochs):
        order = np.stack([rng.permutation(n) for rng in rngs])
        for first in range(0, n - b + 1, b):
            rows = order[:, first : first + b]
            F = networks.forward(X[each, rows])
            dZ = (F - one_hot[y[each, rows]][:, None]) / np.float32(b)
            begin = 0
            for _, _, lams, way in ways:
                mine = slice(begin, begin + len(lams))
                begin += len(lams)
                if way is not None:
                    codes = np.broadcast_to(s[each, rows][:, None], F[:, mine].shape[:-1])
                    _, dF = way.value_and_grad(F[:, mine], codes)
                    dF *= lams[:, None, None]
                    dF -= _over_classes(np.add, dF * F[:, mine])
                    dZ[:, mine] += F[:, mine] * dF
            # The rate decreases to zero, so that the last network is not a random fluctuation.
            networks.step(dZ, RATES[size] * (1 - networks.t / steps))
    return networks


def _over_classes(function, Z):
    """Reduce over the last axis by a few long operations, which is faster for a short axis."""
    found = Z[..., :1]
    for i in range(1, Z.shape[-1]):
        found = function(found, Z[..., i : i + 1])
    return found


class Networks:
    """Array of k x l networks with one hidden layer, for k splits with l networks each.

    The networks use single precision. The first layers of l networks form one wide matrix, so that
    a batch is multiplied only once; all weights are views of one array, which Adam updates.
    """

    def __init__(self, k, m, n_networks, n_classes):
        self.h, self.l = HIDDEN, n_networks
        wide = self.h * self.l
        shapes = [(k, m, wide), (k, 1, wide), (k, self.l, self.h, n_classes)]
        shapes.append((k, self.l, 1, n_classes))
        cuts = np.cumsum([0] + [int(np.prod(shape)) for shape in shapes])
        self.theta, self.gradient, self.mean, self.square, self.room = np.zeros(
            (5, cuts[-1]), dtype=np.float32
        )
        self.layers, self.slopes = (
            [row[a:b].reshape(shape) for a, b, shape in zip(cuts, cuts[1:], shapes)]
            for row in (self.theta, self.gradient)
        )
        self.t = 0

    def start(self, rngs):
        """Initialize as Glorot and Bengio do, with one start for all networks of a split."""
        A, _, B, _ = self.layers
        for k, rng in enumerate(rngs):
            one = rng.uniform(-1, 1, size=(A.shape[1], self.h)) * np.sqrt(
                6 / (A.shape[1] + self.h)
            )
            A[k] = np.tile(one, self.l)
            B[k] = rng.uniform(-1, 1, size=B.shape[2:]) * np.sqrt(6 / sum(B.shape[2:]))

    def forward(self, X):
        """Compute class probabilities (k, l, b, c) of rows X (k, b, m)."""
        A, a, B, b = self.layers
        H = X @ A
        H += a
        np.tanh(H, out=H)
        self.X = X
        self.H = H.reshape(*X.shape[:2], self.l, self.h).swapaxes(1, 2)
        Z = self.H @ B
        Z += b
        Z -= _over_classes(np.maximum, Z)
        np.exp(Z, out=Z)
        Z /= _over_classes(np.add, Z)
        return Z

    def step(self, dZ, rate):
        """Backpropagate through both layers, and take one step of Adam."""
        _, _, B, _ = self.layers
        dA, da, dB, db = self.slopes
        np.matmul(self.H.swapaxes(-1, -2), dZ, out=dB)
        np.sum(dZ, axis=-2, keepdims=True, out=db)
        dH = dZ @ B.swapaxes(-1, -2)
        dH *= 1 - self.H**2
        dH = dH.swapaxes(1, 2).reshape(*self.X.shape[:2], -1)
        # For a single row this is an outer product, for which `matmul` is slow.
        product = np.multiply if dH.shape[1] == 1 else np.matmul
        product(self.X.swapaxes(-1, -2), dH, out=dA)
        np.sum(dH, axis=-2, keepdims=True, out=da)
        self._adam(rate)

    def _adam(self, rate):
        g, m, v, room = self.gradient, self.mean, self.square, self.room
        self.t += 1
        m *= 0.9
        m += np.multiply(g, 0.1, out=room)
        v *= 0.999
        np.multiply(g, g, out=room)
        room *= 0.001
        v += room
        np.sqrt(v, out=room)
        room += np.float32(1e-8)
        np.divide(m, room, out=room)
        room *= np.float32(rate * np.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t))
        self.theta -= room


def measured(splits, size, ways, networks):
    """Return a row of the table for each network, on the validation and on the test rows."""
    names = [(way, penalty, float(lam)) for way, penalty, lams, _ in ways for lam in lams]
    found = []
    for part in ("validation", "test"):
        X, y, s = getattr(splits, part)
        F = networks.forward(X)
        for k, seed in enumerate(splits.seeds):
            for (way, penalty, lam), probabilities in zip(names, F[k]):
                where = {"problem": splits.problem, "seed": seed, "size": size}
                where |= {"way": way, "penalty": penalty, "lam": lam, "rows": part}
                found.append(where | _measures(probabilities, y[k], s[k], splits.n_groups))
    return found


def _measures(F, y, s, n_groups):
    decision = np.eye(F.shape[1])[F.argmax(axis=1)]
    T = table_of_batch(F, s, n_groups)
    rates = table_of_batch(decision, s, n_groups)
    rates = rates / rates.sum(axis=0)
    Q = T / np.sqrt(np.outer(T.sum(axis=1), T.sum(axis=0)))
    squares = np.linalg.svd(Q, compute_uv=False)[1:] ** 2
    return {
        "accuracy": float((F.argmax(axis=1) == y).mean()),
        "violation": float(np.ptp(rates, axis=1).max()),
        "rho2": float(squares[0]),
        "chi2": float(squares.sum()),
    }
