"""Multiverse analysis, which shows how the contested claims depend on our analysis choices.

A *universe* is one choice at every fork. The forks, and the combinations that are examined, are
fixed here. The combinations are the book's own choice, changes of a single fork, and those changes
of two forks that need no further fits or that a reader would ask for. The random splits use seeds
of their own. The table has the measurements of each split, from which
`renyi_book.scorecard.multiverse` computes intervals and verdicts.
"""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tqdm import tqdm

from renyi_book.experiments._classification import _along, _measures_of
from renyi_book.experiments._clusters import CLUSTERED, _algorithm_3, clustered_points
from renyi_book.experiments._splits import (
    FRESH_MULTIVERSE,
    Rows,
    encoded_rows,
    scaled,
    split_rows,
)
from renyi_book.experiments._summary import best_at
from renyi_lib.baselines import (
    DoniniClassifier,
    HardtClassifier,
    RezaeiClassifier,
    ZafarClassifier,
)
from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.clustering import RenyiKMeans
from renyi_lib.datasets._scaling import UnitNormScaler
from renyi_lib.penalties import HSICPenalty, PearsonPenalty
from renyi_lib.tuning import lam_path

# Thinned versions of our grid of lam and of the authors' grid (see `CODE_LAMS`).
LAMS = (0, 0.3, 1, 2, 4, 10, 30, 100, 1000)
AUTHORS_LAMS = (0, 5, 8, 22, 40, 160, 600, 3000, 10000)
SCALERS = {"standard": StandardScaler, "min-max": MinMaxScaler, "unit norm": UnitNormScaler}
# Fitted universes: the book's own choice, and changes of one fork at a time.
BASE = {"encoding": "one-hot", "scaling": "standard", "lam_unit": "mean loss"}
FITTED = (
    BASE,
    BASE | {"encoding": "integers"},
    BASE | {"scaling": "min-max"},
    BASE | {"scaling": "unit norm"},
    BASE | {"lam_unit": "authors"},
)
# Variants of each baseline of Fig. 2 in a fitted universe, with the book's own first. Away from
# the base only the first is fitted, except that the boundary is also fitted with integers, because
# the authors' section 2 and scripts suggest them together.
PEARSON_ON = ("soft label", "boundary")
# Bounds on the covariance of boundary and S, for two groups. A penalty on their correlation has no
# minimum to which a solver converges, because a few people's log-odds diverge; see the appendix on
# the boundary. This fork is therefore Zafar's constraint, as in `boundary_covariance`. For four
# groups the constraint has no such form, so the fork is left out. This was decided before any
# universe was examined.
BOUNDS = (1.0, 0.1, 0.03, 0.01, 0.0)
BANDWIDTHS = (0.25, 0.1, 0.5, 1.0)
# Panels of Fig. 2: data set, fairness measure, and levels (the book's own in the middle).
PANELS = {
    "adult": ("adult", "p_rule", (0.7, 0.8, 0.9)),
    "bank": ("bank", "p_rule", (0.7, 0.8, 0.9)),
    "german": ("german", "dp_violation", (0.1, 0.08, 0.05)),
    "gender-race": ("adult-gender-race", "dp_violation", (0.1, 0.08, 0.05)),
}
# Ways to read a curve at a level (see `_accuracy`), and ways to choose its end (see `_end`).
READINGS = ("validation", "interpolated", "best on grid")
ENDS = ("validation", "largest lam", "best on grid")
COLUMNS = (
    "claim",
    "universe",
    "dataset",
    "encoding",
    "scaling",
    "bandwidth",
    "pearson_on",
    "level",
    "reading",
    "rows",
    "n_rows",
    "lam_unit",
    "algorithm",
    "seed",
    "value",
    *(f"{what}_{group}" for what in ("ours", "theirs", "n") for group in range(4)),
)


def multiverse(
    *,
    panels=tuple(PANELS),
    opportunity=True,
    clusters=True,
    fitted=FITTED,
    seeds=FRESH_MULTIVERSE,
    progress=True,
):
    """Measure the contested claims in every universe that was fixed beforehand.

    Parameters
    ----------
    panels : sequence of {"adult", "bank", "german", "gender-race"}
        Panels of Fig. 2.
    opportunity, clusters : bool, default=True
        Whether to include Fig. 1 and Fig. 3.
    fitted : sequence of dict
        Choices of encoding, scaling and unit of lam under which classifiers are fitted.
    seeds : iterable of int
        Seeds of the random splits or starts; two or more.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        One row for each claim, universe and seed, with ``claim``, ``universe`` (its name, which
        lists the forks that differ from the book's own choice), ``dataset``, a column for each
        fork (empty if it does not apply), ``seed`` and ``value``. The value is the lead of the
        Rényi penalty in points of accuracy at equal fairness (claims whose name contains "beats"),
        the signed gap of the true positive rates ("to-zero"), or the loss divided by the loss at
        lam = 0 ("clusters"). For the claims about how fair a method can get ("limit"), there are
        the groups' rates of the positive decision instead, ``ours_0, ours_1, ...`` for the Rényi
        penalty and ``theirs_0, ...`` for the baseline, and the groups' sizes ``n_0, ...``.

    Examples
    --------
    >>> from renyi_book.experiments import multiverse
    >>> table = multiverse(
    ...     panels=["german"],
    ...     opportunity=False,
    ...     clusters=False,
    ...     fitted=[{"encoding": "integers", "scaling": "standard", "lam_unit": "mean loss"}],
    ...     seeds=[0, 1],
    ...     progress=False,
    ... )
    >>> sorted(table["claim"].unique())[:2]
    ['german-beats-hsic', 'german-beats-pearson']
    """
    seeds = list(seeds)
    found = []
    for name in panels:
        found += _panel(name, fitted, seeds, progress)
    if opportunity:
        found += _opportunity(fitted, seeds, progress)
    if clusters:
        found += _clusters(seeds, progress)
    table = pd.DataFrame(found)
    return table.reindex(columns=[column for column in COLUMNS if column in table])


# --- Fig. 2 ------------------------------------------------------------------------------------


def _panel(name, choices, seeds, progress):
    """Compute all universes of a panel, first the fits by split and then the readings."""
    dataset, fairness, levels = PANELS[name]
    found = []
    for fitted in choices:
        curves = [
            _penalty_curves(dataset, fitted, seed)
            for seed in tqdm(seeds, desc=name, disable=not progress, leave=False)
        ]
        for rival in list(curves[0])[1:]:
            kind, variant = rival
            fork = {"pearson_on" if kind == "pearson" else "bandwidth": variant}
            pairs = [(curve["renyi"], curve[rival]) for curve in curves]
            for where, values in _fig_2_readings(pairs, fairness, levels, fitted == BASE):
                claim = f"{name}-{'limit' if where['level'] is None else 'beats'}-{kind}"
                forks = fitted | fork | where
                own = BASE | {"pearson_on": PEARSON_ON[0], "bandwidth": BANDWIDTHS[0]}
                own |= {"level": where["level"] and levels[1], "reading": "validation"}
                own |= {"rows": "test"}
                found += _by_seed(claim, dataset, forks, own, seeds, values)
    return found


def _penalty_curves(dataset, fitted, seed):
    """Compute the measures of the Rényi penalty and of each baseline, on one split.

    `ZafarClassifier` is fitted along its bounds, and the other methods along lam.
    """
    data = _data(dataset, fitted["encoding"], fitted["scaling"], seed)
    lams = _lams(fitted["lam_unit"], data["train"])
    is_base = fitted == BASE
    two_groups = len(np.unique(data["train"].s)) == 2
    with_boundary = two_groups and (is_base or fitted["encoding"] == "integers")
    penalties = {
        "renyi": (RenyiClassifier(), 1),
        ("pearson", PEARSON_ON[0]): (PenalizedClassifier(PearsonPenalty()), 1),
    }
    for bandwidth in BANDWIDTHS if is_base else BANDWIDTHS[:1]:
        # HSIC, which is not normalized, gets ten times the weight, as in `penalties_compared`.
        classifier = PenalizedClassifier(HSICPenalty(bandwidth=bandwidth))
        penalties["hsic", bandwidth] = classifier, 10
    curves = {
        key: _curve(classifier, data, [unit * lam for lam in lams])
        for key, (classifier, unit) in penalties.items()
    }
    if with_boundary:
        X, y, s = data["train"]
        fits = [ZafarClassifier(c, l2=0.0).fit(X, y, sensitive_features=s) for c in BOUNDS]
        curves["pearson", PEARSON_ON[1]] = _points(fits, data)
    return curves


def _fig_2_readings(pairs, fairness, levels, is_base):
    """Yield (forks, measurements by split) of two curves for every reading to examine.

    Levels other than the middle one, and training rows, are examined only in the base.
    """
    for level in levels if is_base else levels[1:2]:
        for reading in READINGS:
            for rows in ("test", "train") if is_base and level == levels[1] else ("test",):
                found = [_lead(*pair, fairness, level, reading, rows) for pair in pairs]
                values = [{"value": lead} for lead in found]
                yield {"level": level, "reading": reading, "rows": rows}, values
    for reading in ENDS:
        for rows in ("test", "train") if is_base else ("test",):
            values = [
                _rates(*(_end(curve, fairness, reading, rows) for curve in pair)) for pair in pairs
            ]
            yield {"level": None, "reading": reading, "rows": rows}, values


def _lead(curve, rival, fairness, level, reading, rows):
    """Compute the Rényi penalty's lead over a baseline at a level of fairness, in accuracy points.

    It is NaN if `_accuracy` is NaN for one of the curves. If both are that fair without a penalty,
    they start at the same model. As in the scorecard, "interpolated" leaves such a split out.
    """
    both = (curve, rival)
    starts = np.array([points[rows][fairness].iloc[0] for points in both])
    fair = starts >= level if fairness == "p_rule" else starts <= level
    if reading == "interpolated" and fair.all():
        return np.nan
    ours, theirs = (_accuracy(points, fairness, level, reading, rows) for points in both)
    return 100 * (ours - theirs)


def _rates(ours, theirs):
    """Return the rates of two points and the sizes of the groups, as columns."""
    groups = range(sum(name.startswith("rate_") for name in ours.index))
    named = {"ours": (ours, "rate"), "theirs": (theirs, "rate"), "n": (ours, "n")}
    return {
        f"{name}_{group}": point[f"{column}_{group}"]
        for name, (point, column) in named.items()
        for group in groups
    }


# --- Fig. 1 ------------------------------------------------------------------------------------


def _opportunity(choices, seeds, progress):
    """Compare the Rényi penalty with Fig. 1 (c)'s baselines; measure if the gap tends to 0."""
    found = []
    own = BASE | {"pearson_on": "sampled label", "reading": "validation", "rows": "test"}
    for fitted in choices:
        # The baselines have no lam, and min-max scaling would add nothing new for them.
        with_rivals = fitted["lam_unit"] == "mean loss" and fitted["scaling"] != "min-max"
        runs = [
            _opportunity_curves(fitted, seed, with_rivals)
            for seed in tqdm(seeds, desc="EO", disable=not progress, leave=False)
        ]
        for rival in ("hardt", "zafar", "rezaei", "donini") if with_rivals else ():
            for reading in READINGS:
                for rows in ("test", "train") if fitted == BASE else ("test",):
                    values = [
                        {"value": _ahead(run["sampled label"], run[rival], reading, rows)}
                        for run in runs
                    ]
                    forks = fitted | {"reading": reading, "rows": rows}
                    claim = f"eo-beats-{rival}"
                    found += _by_seed(claim, "adult", forks, own, seeds, values)
        for on in ("sampled label", "soft label"):
            for rows in ("train", "test"):
                for reading in ("largest lam", "validation"):
                    ends = [_end(run[on], "eo_violation", reading, rows) for run in runs]
                    forks = fitted | {"pearson_on": on, "reading": reading, "rows": rows}
                    same = own | {"reading": "largest lam", "rows": rows}
                    values = [{"value": end["eo_gap"]} for end in ends]
                    claim = f"eo-{rows}-to-zero"
                    found += _by_seed(claim, "adult", forks, same, seeds, values)
    return found


def _opportunity_curves(fitted, seed, with_rivals):
    """Compute curves of the Rényi and Pearson penalties and, if `with_rivals`, of baselines."""
    fairness = "equal_opportunity"
    data = _data("adult", fitted["encoding"], fitted["scaling"], seed)
    X, y, s = data["train"]
    lams = _lams(fitted["lam_unit"], data["train"], among=y == 1)
    pearson = PenalizedClassifier(PearsonPenalty(), fairness=fairness)
    found = {
        "sampled label": _curve(RenyiClassifier(fairness=fairness), data, lams),
        "soft label": _curve(pearson, data, lams),
    }
    if not with_rivals:
        return found
    rivals = {
        "hardt": [HardtClassifier(fairness=fairness)],
        "zafar": [ZafarClassifier(c, fairness=fairness) for c in (0.05, 0.02, 0.0)],
        "rezaei": [RezaeiClassifier(fairness=fairness)],
        "donini": [DoniniClassifier(fairness=fairness)],
    }
    for name, classifiers in rivals.items():
        fits = [classifier.fit(X, y, sensitive_features=s) for classifier in classifiers]
        found[name] = _points(fits, data)
    return found


def _ahead(curve, rival, reading, rows):
    """Compute the Rényi penalty's lead in points of accuracy where it is as fair as a baseline.

    If it never is, its fairest point counts. A baseline with several points is read at the one
    that is fairest on the validation rows.
    """
    measure = "eo_violation"
    judged, measured = (_end(rival, measure, "validation", kind) for kind in ("validation", rows))
    if reading == "validation":
        ours = _accuracy(curve, measure, judged[measure], reading, rows)
    else:
        level = max(measured[measure], curve[rows][measure].min())
        ours = _accuracy(curve, measure, level, reading, rows)
    return 100 * (ours - measured["accuracy"])


# --- Fig. 3 ------------------------------------------------------------------------------------


def _clusters(seeds, progress):
    """Compute the loss relative to plain k-means, at each lam that a claim is about."""
    found = []
    own = {"scaling": "unit norm", "lam_unit": "as printed", "algorithm": "paper"}
    for dataset in tqdm(CLUSTERED, desc="clusters", disable=not progress, leave=False):
        own = own | {"n_rows": 10000 if dataset == "adult" else "all"}
        known = {}
        for forks in _cluster_forks(own):
            X, s = clustered_points(dataset, None if forks["n_rows"] == "all" else 10000)
            # Columns of unit norm distribute a sum of squares of 1 over the rows, so the same lam
            # has more weight if there are more rows; "per row" removes this effect.
            unit = 10000 / len(X) if forks["lam_unit"] == "per row" else 1.0
            if forks["scaling"] == "standard":
                X, unit = StandardScaler().fit_transform(X), unit * len(X)
            lams = [0.0, 0.005 * unit, 1.0 * unit]
            # For 10000 rows, lam per row equals lam as printed, so one run is enough.
            key = (len(X), forks["scaling"], forks["algorithm"], *lams)
            if key not in known:
                known[key] = [_losses(X, s, forks["algorithm"], seed, lams) for seed in seeds]
            losses = known[key]
            for claim, k in (("clusters-loss-small", 1), ("clusters-loss-drastic", 2)):
                values = [{"value": loss[k] / loss[0]} for loss in losses]
                found += _by_seed(claim, dataset, forks, own, seeds, values)
    return found


def _cluster_forks(own):
    """Yield the book's own choice, single changes, and pairs with the other number of rows."""
    other_rows = "all" if own["n_rows"] == 10000 else 10000
    yield own
    yield own | {"algorithm": "descent"}
    yield own | {"scaling": "standard"}
    yield own | {"n_rows": other_rows}
    yield own | {"n_rows": other_rows, "lam_unit": "per row"}
    yield own | {"n_rows": other_rows, "algorithm": "descent"}


def _losses(X, s, algorithm, seed, lams):
    """Compute the k-means loss of the fair clusters for each lam."""
    if algorithm == "paper":
        return [_algorithm_3(X, s, lam, 14, seed, 100).inertia_ for lam in lams]
    path = lam_path(RenyiKMeans(14, random_state=seed), X, sensitive_features=s, lams=lams)
    return [model.inertia_ for model in path]


# --- Curves and their readings -----------------------------------------------------------------


def _data(dataset, encoding, scaling, seed):
    """Return the rows of a random split in a universe."""
    everything = _integers(dataset) if encoding == "integers" else encoded_rows(dataset)[0]
    return scaled(everything, split_rows(dataset, seed), SCALERS[scaling]())


@cache
def _integers(dataset):
    """Return all rows with a number for each category, in sorted order, instead of indicators."""
    (X, y, s), names = encoded_rows(dataset)
    columns = {}
    for j, name in enumerate(names):
        columns.setdefault(name.partition("=")[0], []).append(j)
    coded = [
        X[:, places] @ np.arange(len(places)) if len(places) > 1 else X[:, places[0]]
        for places in columns.values()
    ]
    return Rows(np.column_stack(coded), y, s)


def _lams(unit, train, among=None):
    """Return our grid of lam, or the authors' grid in our unit (see `equal_opportunity`)."""
    if unit == "mean loss":
        return LAMS
    among = np.ones(len(train.y), dtype=bool) if among is None else among
    q = np.bincount(train.s[among]) / among.sum()
    spread = q[0] * (1 - q[0]) if len(q) == 2 else np.mean(q * (1 - q))
    return [lam * among.mean() * spread / 2 for lam in AUTHORS_LAMS]


def _curve(classifier, data, lams):
    X, y, s = data["train"]
    # For columns of smaller scale the gradient is smaller, so the tolerance must be, too.
    classifier = classifier.set_params(tol=1e-4 * min(1.0, float(np.sqrt(np.mean(X**2)))))
    path = lam_path(classifier, X, y, sensitive_features=s, lams=lams)
    return _by_rows(_along([{}] * len(path), path, data))


def _points(fits, data):
    """Compute the measures of several fits, as a table for each set of rows."""
    return _by_rows([_measures_of({}, fit, data) for fit in fits])


def _by_rows(runs):
    table = pd.DataFrame([row for run in runs for row in run])
    return {rows: part.reset_index(drop=True) for rows, part in table.groupby("rows")}


def _accuracy(curve, fairness, level, reading, rows):
    """Return a curve's accuracy on `rows` at a level of fairness.

    "validation" uses the most accurate point among those that are fair enough on the validation
    rows, or the fairest if none is. "interpolated" uses the point where the curve on `rows` first
    becomes that fair, and "best on grid" the most accurate point that is fair enough on `rows`;
    for these two, the result is NaN if the curve does not reach the level.
    """
    greater = fairness == "p_rule"
    points = curve[rows]
    if reading == "best on grid":
        return best_at(points, fairness, level, greater_is_fairer=greater)
    sign = 1 if greater else -1
    if reading == "validation":
        judged = curve["validation"]
        fair = sign * judged[fairness] >= sign * level
        if not fair.any():
            return _end(curve, fairness, reading, rows)["accuracy"]
        return points["accuracy"][judged.loc[fair, "accuracy"].idxmax()]
    reached = np.flatnonzero(sign * points[fairness] >= sign * level)
    if not len(reached):
        return np.nan
    part = points.iloc[max(reached[0] - 1, 0) : reached[0] + 1]
    order = part.sort_values(fairness)
    return float(np.interp(level, order[fairness], order["accuracy"]))


def _end(curve, fairness, reading, rows):
    """Return one point of a curve, with its measures on `rows`.

    "largest lam" is the last point. "validation" is the fairest on the validation rows, and any
    other reading is the fairest on `rows`.
    """
    if reading == "largest lam":
        return curve[rows].iloc[-1]
    judged = curve["validation" if reading == "validation" else rows][fairness]
    return curve[rows].iloc[judged.idxmax() if fairness == "p_rule" else judged.idxmin()]


def _by_seed(claim, dataset, forks, own, seeds, values):
    """Return a universe's rows, one for each seed, with its name, forks and measurements."""
    apart = [f"{key}={value}" for key, value in forks.items() if value != own.get(key, value)]
    where = {"claim": claim, "universe": ", ".join(apart) or "as in the book", "dataset": dataset}
    return [where | forks | {"seed": seed} | value for seed, value in zip(seeds, values)]
