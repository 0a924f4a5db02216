"""The paper's claims, weighed: each a rule that turns results into a number and a verdict.

`FINDINGS` has a rule for each claim; the claims themselves are in the book's ``claims.yml``, and
so are the paper's figures. A rule is a function of ``results``, which gives the stored tables of
`renyi_book.experiments` by name, and of ``figure``, which is what the paper gives. What needs no
sweep (claims about rho_R itself, the weight of gender, German with S seen) is computed on the
spot.

Verdicts, wherever a difference is claimed and measured over seeds or splits:

* "holds": the interval of the difference lies on the claimed side of 0 and reaches at least half
  of the difference that the paper shows, where it shows one;
* "holds in part": on the claimed side, but smaller; or true of some of what is claimed;
* "does not hold": the interval does not lie on the claimed side;
* "cannot be tested": not by an experiment.
"""

from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from renyi_book.chapters import BOOK
from renyi_book.experiments import best_at, interval, load
from renyi_lib.correlation import hsic, pearson_correlation, renyi_correlation, renyi_from_joint
from renyi_lib.datasets import load_adult, load_german
from renyi_lib.metrics import demographic_parity_violation

CLAIMS = BOOK / "claims.yml"
VERDICTS = ("holds", "holds in part", "does not hold", "cannot be tested")
# n_test / n_train of each split, for intervals over random splits.
TEST_SHARE = {"adult": 16281 / 32561, "bank": 13211 / 32000, "german": 200 / 800}
# The four-fifths rule: a p% that counts as fair.
FAIR = 0.8
# Half a point: a violation that counts as none, an accuracy or violation that counts as equal.
NEAR = 0.005
FINDINGS = {}


class Finding(NamedTuple):
    """What we measured, as text with its spread, and the verdict."""

    ours: str
    verdict: str


def verdicts(folder, claims=CLAIMS):
    """The finding for each claim, from the tables stored in a folder.

    Parameters
    ----------
    folder : path
        Where `renyi_book.experiments.run_all` stored its results.
    claims : path, optional
        The book's ``claims.yml``, which has the paper's figures.

    Returns
    -------
    dict of str to Finding
    """
    results = cache(lambda name: load(name, folder))
    figures = paper_figures(claims)
    return {claim: rule(results, figures[claim]) for claim, rule in FINDINGS.items()}


def paper_figures(claims=CLAIMS):
    """What the paper gives for each claim, to compare with.

    Parameters
    ----------
    claims : path, optional
        The book's ``claims.yml``.

    Returns
    -------
    dict
        From a claim to its ``figure``: a number, a mapping, or None if the rule needs none.
    """
    rows = yaml.safe_load(Path(claims).read_text(encoding="utf8"))
    return {row["id"]: row.get("figure") for row in rows}


def finding(claim, **options):
    """Register the rule for a claim; claims that share a rule differ in options."""

    def register(rule):
        FINDINGS[claim] = partial(rule, **options)
        return rule

    return register


# --- The measure -------------------------------------------------------------------------------


@finding("zero-iff-independent")
def zero_only_at_independence(results, figure):
    rng = np.random.default_rng(0)
    products = [
        np.outer(*(rng.dirichlet(np.ones(size)) for size in (c, d)))
        for c in (2, 3, 6)
        for d in (2, 5)
    ]
    largest = max(renyi_from_joint(P) for P in products)
    # Any other table: the smallest rho_R among those that are off a product by 0.001 in one block.
    least = min(renyi_from_joint(_nudged(P, 1e-3)) for P in products)
    ours = f"{len(products)} products: {_small(largest)}; each nudged: at least {least:.4f}"
    return Finding(ours, _verdict(largest < 1e-7 and least > 1e-4))


def _nudged(P, amount):
    """A table with the same marginals in which some mass has moved."""
    moved = P.copy()
    amount = min(amount, P[:2, :2].min() / 2)
    moved[:2, :2] += amount * np.array([[1, -1], [-1, 1]])
    return moved


@finding("one-if-function")
def one_for_a_function(results, figure):
    a = np.arange(1000) % 6
    rho = renyi_correlation(a, a**2 % 6)
    return Finding(f"rho_R of a and a² mod 6: {rho:.6f}", _verdict(abs(rho - 1) < 1e-9))


@finding("pearson-blind")
def pearson_misses_a_dependence(results, figure):
    a = np.tile(np.arange(-3, 4), 10)
    b = a**2
    pearson, renyi = abs(pearson_correlation(a, b)), renyi_correlation(a, b)
    return Finding(
        f"a and a², a symmetric: Pearson {pearson:.2f}, rho_R {renyi:.2f}",
        _verdict(pearson < 1e-9 and renyi > 0.999),
    )


@finding("hsic-linear-only")
def hsic_sees_linear_dependence_only(results, figure):
    a = np.tile(np.arange(-3.0, 4), 10)
    b = (a**2 > 4).astype(int)
    linear, gaussian = hsic(a, b, kernel="linear"), hsic(a, b)
    true_of_linear, true_of_gaussian = linear < 1e-12, gaussian < 1e-12
    return Finding(
        f"a and 1[a² > 4]: linear kernel {linear:.3f}, Gaussian kernel {gaussian:.3f}",
        _verdict(true_of_linear and true_of_gaussian, partly=true_of_linear),
    )


@finding("theorem-1")
def singular_value_is_the_maximum(results, figure):
    table = results("theorems")
    gap = (table["theorem_1"] - table["definition"]).abs().max()
    return Finding(f"{len(table)} tables: largest gap {_small(gap)}", _verdict(gap < 1e-5))


@finding("theorem-2")
def closed_form_is_the_maximum(results, figure):
    table = results("theorems").dropna(subset="theorem_2")
    gap = (table["theorem_2"] - table["definition"]).abs().max()
    return Finding(f"{len(table)} tables: largest gap {_small(gap)}", _verdict(gap < 1e-5))


# --- Rates -------------------------------------------------------------------------------------


@finding("theorem-3", algorithm="discrete")
@finding("theorem-4", algorithm="binary")
def gradient_falls_at_the_rate(results, figure, algorithm):
    """The exponent of t in the smallest gradient, fitted for each seed and lam."""
    runs = results("convergence").query("algorithm == @algorithm").groupby(["seed", "lam"])
    slopes = [np.polyfit(np.log(rows["t"]), np.log(rows["gradient"]), 1)[0] for _, rows in runs]
    found = interval(slopes)
    text = f"smallest gradient ~ t^{found['mean']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"
    return Finding(text, _verdict(found["high"] <= figure))


@finding("lower-bound")
def lower_bound(results, figure):
    return Finding("a theorem about all algorithms; cited, not measured", "cannot be tested")


# --- Where the data start ----------------------------------------------------------------------


@finding("adult-start")
def adult_starts_unfair(results, figure):
    return _start(results, "adult", "test", figure)


@finding("bank-start")
def bank_starts_unfair(results, figure):
    test, train = (_start(results, "bank", rows, figure) for rows in ("test", "train"))
    return Finding(
        f"test rows {test.ours}; training rows {train.ours}",
        _verdict(test.verdict == "holds", partly=train.verdict == "holds"),
    )


def _start(results, dataset, rows, claimed):
    table = results("starting_points").query("dataset == @dataset and rows == @rows")
    ours = table.query("split == 'paper'")["p_rule"].iloc[0]
    spread = _over_splits(table.query("split == 'random'")["p_rule"], dataset, rows)
    return Finding(
        f"{ours:.4f}; random splits {_text(spread)}", _verdict(abs(ours - claimed) < 0.001)
    )


@finding("german-start")
def german_starts_unfair(results, figure):
    table = results("starting_points").query("dataset == 'german'")
    paper = table.query("split == 'paper'").set_index("rows")["dp_violation"]
    spread = _over_splits(
        table.query("split == 'random' and rows == 'test'")["dp_violation"], "german"
    )
    seen = _german_with_s()
    ours = (
        f"train {paper['train']:.3f}, test {paper['test']:.3f}, random splits {_text(spread)}; "
        f"with S among the features, train {seen:.3f}"
    )
    return Finding(ours, _verdict(paper.min() > figure, partly=max(seen, paper.max()) > figure))


@cache
def _german_with_s():
    """The DP violation on German's training rows of a logistic regression that sees S."""
    data = load_german().encode(scaling="standard")
    X = np.column_stack([data.X_train, pd.get_dummies(data.s_train, dtype=float)])
    model = LogisticRegression(C=np.inf, tol=1e-6, max_iter=5000).fit(X, data.y_train)
    return demographic_parity_violation(
        data.y_train, model.predict(X), sensitive_features=data.s_train
    )


@finding("dropping-s-is-not-enough")
def unfair_without_gender(results, figure):
    table = results("starting_points").query("dataset == 'adult' and rows == 'test'")
    spread = _over_splits(table.query("split == 'random'")["p_rule"], "adult")
    return Finding(f"p% without gender {_text(spread)}", _verdict(spread["high"] < FAIR))


@finding("gender-weight")
def features_heavier_than_gender(results, figure):
    counts = {coding: _heavier_than_gender(coding) for coding in ("integers", "indicators")}
    text = ", ".join(f"{count} with categories as {coding}" for coding, count in counts.items())
    right = [count == figure for count in counts.values()]
    return Finding(text, _verdict(all(right), any(right)))


@cache
def _heavier_than_gender(coding):
    """How many features of Adult weigh more than gender in a standardised logistic regression.

    A feature that is coded by indicators weighs as much as its heaviest indicator.
    """
    rows = load_adult().train
    features = rows.drop(columns="income")
    if coding == "integers":
        codes = {name: column.astype("category").cat.codes for name, column in features.items()}
        X = features.select_dtypes("number").assign(
            **{name: codes[name] for name in features.select_dtypes(exclude="number")}
        )
    else:
        X = pd.get_dummies(features, dtype=float)
    model = LogisticRegression(C=np.inf, tol=1e-6, max_iter=5000)
    model.fit(StandardScaler().fit_transform(X), rows["income"])
    weights = pd.Series(np.abs(model.coef_[0]), index=X.columns)
    by_feature = weights.groupby(lambda name: name.partition("_")[0]).max()
    return int((by_feature > by_feature["sex"]).sum())


# --- Equality of opportunity: Fig. 1 -----------------------------------------------------------


@finding("eo-train-to-zero")
def violation_vanishes_on_training_rows(results, figure):
    first, last = _ends(results("equal_opportunity").query("rows == 'train'"), "eo_violation")
    return Finding(
        f"from {_text(first)} to {_text(last)}",
        _verdict(last["high"] < NEAR, partly=last["high"] < first["low"]),
    )


@finding("eo-test-to-zero")
def violation_vanishes_on_test_rows(results, figure):
    table = results("equal_opportunity").query("rows == 'test'")
    first, last = _ends(table, "eo_gap")
    near = abs(last["mean"]) < NEAR
    fell = abs(last["mean"]) < abs(first["mean"])
    return Finding(f"signed gap from {_text(first)} to {_text(last)}", _verdict(near, partly=fell))


@finding("eo-slight-price")
def opportunity_costs_little(results, figure):
    table = results("equal_opportunity").query("rows == 'test' and recipe == 'paper'")
    wide = table.query("split == 'random'").pivot(index="seed", columns="lam", values="accuracy")
    loss = _over_splits(100 * (wide[0.0] - wide[wide.columns.max()]), "adult")
    return Finding(f"{_text(loss, 2)} points of accuracy", _verdict(loss["high"] < 1))


@finding("eo-authors-curve")
def published_points_come_out(results, figure):
    table = results("equal_opportunity").query(
        "rows == 'test' and recipe == 'code' and split == 'paper'"
    )
    ours = table.set_index("lam")["eo_violation"]
    gap = max(abs(ours[lam] - value) for lam, value in figure.items())
    return Finding(f"largest difference in eight points {gap:.4f}", _verdict(gap < NEAR))


@finding("eo-lambda-unit")
def lambda_has_the_unit_of_the_objective(results, figure):
    lam, claimed = figure["lam"], figure["eo_violation"]
    table = results("equal_opportunity").query(
        "rows == 'test' and recipe == 'paper' and split == 'paper' and lam == @lam"
    )
    ours = table["eo_violation"].iloc[0]
    text = f"EO violation at λ = {lam:g}: {ours:.3f}"
    return Finding(text, _verdict(abs(ours - claimed) < NEAR))


def _ends(table, column):
    """The interval of a column at the smallest and at the largest lam of the paper's recipe."""
    random = table.query("split == 'random' and recipe == 'paper'")
    ends = (random["lam"].min(), random["lam"].max())
    (rows,) = random["rows"].unique()
    return [_over_splits(random.loc[random["lam"] == lam, column], "adult", rows) for lam in ends]


@finding("eo-beats-hardt", method="hardt")
@finding("eo-beats-zafar", method="zafar")
@finding("eo-beats-rezaei", method="rezaei")
@finding("eo-beats-donini", method="donini")
def opportunity_more_accurate_than(results, figure, method):
    """Points of accuracy that Rényi is ahead of a rival, being at least as fair on each split."""
    where = "split == 'random' and rows == 'test'"
    curves = results("equal_opportunity").query(where + " and recipe == 'paper'").groupby("seed")
    rivals = results("equal_opportunity_rivals").query(where + " and method == @method")
    ahead = []
    for seed, rows in rivals.groupby("seed"):
        rival = rows.sort_values("eo_violation").iloc[0]
        curve = curves.get_group(seed)
        level = max(rival["eo_violation"], curve["eo_violation"].min())
        renyi = best_at(curve, "eo_violation", level, greater_is_fairer=False)
        ahead.append(100 * (renyi - rival["accuracy"]))
    return _ahead(_over_splits(ahead, "adult"), figure, 2)


# --- Rényi, Pearson, HSIC: Fig. 2, Fig. 6 ------------------------------------------------------

# The panels of Fig. 2: stored table, measure of fairness, data set.
PANELS = {
    "adult": ("penalties_adult", "p_rule", "adult"),
    "bank": ("penalties_bank", "p_rule", "bank"),
    "german": ("penalties_german", "dp_violation", "german"),
    "gender-race": ("penalties_adult_gender_race", "dp_violation", "adult"),
}


@finding("adult-beats-pearson", panel="adult", method="pearson")
@finding("adult-beats-hsic", panel="adult", method="hsic-gaussian")
@finding("bank-beats-pearson", panel="bank", method="pearson")
@finding("bank-beats-hsic", panel="bank", method="hsic-gaussian")
def more_accurate_when_fair(results, figure, panel, method):
    """Points of accuracy that Rényi is ahead, each method at its best point that is fair."""
    table, _, dataset = PANELS[panel]
    curves = _test_curves(results(table))
    ahead = [
        100 * (best_at(curves[seed, "renyi"], "p_rule", FAIR) - best_at(rival, "p_rule", FAIR))
        for (seed, name), rival in curves.items()
        if name == method
    ]
    return _ahead(_over_splits(ahead, dataset), figure, 2)


@finding("adult-limit-pearson", panel="adult", method="pearson")
@finding("adult-limit-hsic", panel="adult", method="hsic-gaussian")
@finding("bank-limit-pearson", panel="bank", method="pearson")
@finding("bank-limit-hsic", panel="bank", method="hsic-gaussian")
@finding("german-limit-pearson", panel="german", method="pearson")
@finding("german-limit-hsic", panel="german", method="hsic-gaussian")
@finding("gender-race-limit-pearson", panel="gender-race", method="pearson")
@finding("gender-race-limit-hsic", panel="gender-race", method="hsic-gaussian")
def limit_that_renyi_passes(results, figure, panel, method):
    """How much farther Rényi gets than a rival, each at its fairest point on the test rows."""
    table, fairness, dataset = PANELS[panel]
    curves = _test_curves(results(table))
    best = max if fairness == "p_rule" else min
    sign = 1 if fairness == "p_rule" else -1
    reached = [
        (best(curves[seed, "renyi"][fairness]), best(rival[fairness]))
        for (seed, name), rival in curves.items()
        if name == method
    ]
    renyi, other = np.transpose(reached)
    found = _over_splits(sign * (renyi - other), dataset)
    names = {"p_rule": "highest p%", "dp_violation": "least DP"}
    means = f"rival {other.mean():.3f}, Rényi {renyi.mean():.3f}"
    text = f"{names[fairness]}: {means}; ahead {_text(found)}"
    return Finding(text, _verdict(found["low"] > 0))


@finding("covariance-limit")
def covariance_leaves_dependence(results, figure):
    curves = _test_curves(results("penalties_adult"))
    table = results("boundary_covariance").query("rows == 'test' and split == 'random' and c == 0")
    texts, behind = [], []
    for ridge, rows in table.groupby("l2"):
        renyi = [curves[seed, "renyi"]["p_rule"].max() for seed in rows["seed"]]
        found = _over_splits(renyi - rows["p_rule"], "adult")
        texts.append(f"{rows['p_rule'].mean():.2f}, behind {_text(found, 2)} (ridge {ridge:g})")
        behind.append(found["low"] > 0)
    text = f"p% without covariance, and how far it is behind Rényi's highest: {'; '.join(texts)}"
    return Finding(text, _verdict(all(behind), any(behind)))


@finding("nmi-vanishes")
def information_vanishes_with_correlation(results, figure):
    table = results("penalties_adult").query("method == 'renyi' and rows == 'train'")
    random = table.query("split == 'random'")
    slopes = [
        np.polyfit(np.log(rows["rho_R"]), np.log(rows["nmi"]), 1)[0]
        for _, rows in random.groupby("seed")
    ]
    found = interval(slopes)
    return Finding(f"NMI ~ rho_R^{_text(found, 2)}", _verdict(found["low"] > 1))


@finding("near-independence")
def large_lambda_means_independence(results, figure):
    table = results("penalties_adult").query("method == 'renyi' and rows == 'train'")
    last = table.query("split == 'random' and lam == lam.max()")
    soft, hard = (_over_splits(last[name], "adult", "train") for name in ("soft_rho_R", "rho_R"))
    return Finding(
        f"rho_R of the soft label {_text(soft, 4)}, of the decision {_text(hard)}",
        _verdict(hard["high"] < 0.01, partly=soft["high"] < 0.01),
    )


# --- Clusters: Fig. 3 and appendix C -----------------------------------------------------------


@finding("clusters-sd-falls")
def deviation_of_w_falls(results, figure):
    return _both_panels(results, "w_sd", figure, "sd of w times", lambda w: w["high"] < 0.6)


@finding("clusters-loss-small")
def loss_grows_little(results, figure):
    return _both_panels(results, "inertia", figure, "loss times", lambda w: w["high"] < 1.15)


@finding("clusters-loss-drastic")
def loss_grows_drastically(results, figure):
    paper, descent = (
        _both_panels(results, "inertia", figure, name, lambda loss: loss["low"] > 2, algorithm)
        for name, algorithm in (("Algorithm 3", "paper"), ("descent", "descent"))
    )
    holds = {paper.verdict, descent.verdict}
    return Finding(f"{paper.ours}; {descent.ours}", _verdict(holds == {"holds"}, "holds" in holds))


@finding("clusters-exactly-fair")
def clusters_exactly_fair(results, figure):
    spans, largest = [], 0.0
    for name in ("adult", "bank"):
        table = results(f"clusters_{name}").query("algorithm == 'paper' and lam == lam.max()")
        spread = table["w_max"] - table["w_min"]
        spans.append(f"{name} {_text(interval(spread), 4)}")
        largest = max(largest, spread.max())
    text = f"largest minus smallest w at the largest lambda: {', '.join(spans)}"
    return Finding(text, _verdict(largest < 1e-12, partly=largest < 0.01))


@finding("clusters-stop")
def algorithm_3_stops(results, figure):
    found, stops = [], []
    for name in ("adult", "bank"):
        table = results(f"clusters_{name}").query("algorithm == 'paper' and lam > 0")
        stops.append(table["converged"].mean())
        found.append(f"{name} {100 * stops[-1]:.0f} %")
    return Finding(
        f"runs with lambda > 0 that stop: {', '.join(found)}", _verdict(min(stops) == 1)
    )


@finding("four-points-flip")
def four_points_flip(results, figure):
    flips = [lam for lam in range(1, 301) if _batch_flips(lam)]
    if not flips:
        return Finding("flips for no whole lambda of 1 to 300", _verdict(False))
    text = f"flips for whole lambda from {min(flips)} to {max(flips)} of 1 to 300"
    return Finding(text, _verdict(flips == list(range(min(flips), 301))))


def _batch_flips(lam):
    """Whether both clusters swap their points when w is renewed after a pass only."""
    x, s, labels = np.array([-5.0, -4, 4, 5]), np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1])
    centers = np.array([x[labels == k].mean() for k in (0, 1)])
    w = np.array([s[labels == k].mean() for k in (0, 1)])
    score = (x[:, None] - centers) ** 2 - lam * (w - s[:, None]) ** 2
    return bool((score.argmin(axis=1) == 1 - labels).all())


@finding("four-points-cured")
def four_points_cured(results, figure):
    table = results("four_points")
    fair = table.loc[table["fair"], "lam"]
    if fair.empty:
        return Finding("ends fair for no whole lambda of 1 to 300", _verdict(False))
    text = f"ends fair for whole lambda from {fair.min():g} to {fair.max():g} of 1 to 300"
    return Finding(text, _verdict(fair.max() == table["lam"].max(), partly=True))


@finding("toy-scattered")
def toy_neighborhoods_scatter(results, figure):
    table = results("toy_clusters")
    first, last = (
        interval(table.loc[table["lam"] == lam, "together"])
        for lam in (table["lam"].min(), table["lam"].max())
    )
    text = f"share that stays together from {_text(first, 2)} to {_text(last, 2)}"
    return Finding(text, _verdict(last["high"] < first["low"]))


def _both_panels(results, column, lam, what, good, algorithm="paper"):
    """The factor by which a column changes from lam = 0 to lam, on Adult and on Bank."""
    texts, goods = [], []
    for name in ("adult", "bank"):
        table = results(f"clusters_{name}").query("algorithm == @algorithm")
        wide = table.pivot(index="seed", columns="lam", values=column)
        found = interval(wide[lam] / wide[0.0])
        texts.append(f"{name} {_text(found, 2)}")
        goods.append(good(found))
    return Finding(f"{what} {', '.join(texts)}", _verdict(all(goods), any(goods)))


# --- The network: Table 1 ----------------------------------------------------------------------


@finding("network-start")
def network_starts_unfair(results, figure):
    table = results("network").query("rows == 'test' and lam == 0")
    rule, accuracy = interval(table["p_rule"]), interval(table["accuracy"])
    inside = table["p_rule"].min() <= figure["p_rule"] <= table["p_rule"].max()
    near = abs(accuracy["mean"] - figure["accuracy"]) < 0.01
    return Finding(
        f"p% {_text(rule)}, accuracy {_text(accuracy)}", _verdict(inside and near, inside or near)
    )


@finding("network-fair")
def network_gets_fair(results, figure):
    """Along the path of p% and accuracy, what accuracy goes with the p% that is claimed."""
    claimed = figure["p_rule"]
    table = results("network").query("rows == 'test'").sort_values("lam")
    accuracy = [
        np.interp(claimed, rows["p_rule"].to_numpy(), rows["accuracy"].to_numpy())
        for _, rows in table.groupby("seed")
    ]
    found = interval(accuracy)
    reached = bool((table.groupby("seed")["p_rule"].max() >= claimed).all())
    text = f"at p% {100 * claimed:.2f}, interpolated in lambda: accuracy {_text(found, 4)}"
    return Finding(text, _verdict(reached and found["high"] > figure["accuracy"] - NEAR))


@finding("network-overhead")
def network_overhead(results, figure):
    table = results("network").query("rows == 'test'")
    wide = table.pivot(index="seed", columns="lam", values="cpu_seconds")
    found = interval(wide.drop(columns=0.0).mean(axis=1) / wide[0.0])
    text = f"time of the fit times {_text(found, 2)}"
    return Finding(text, _verdict(found["high"] < 1.3, partly=found["high"] < 3))


# --- Tools -------------------------------------------------------------------------------------


def _verdict(holds, partly=False):
    return VERDICTS[0] if holds else VERDICTS[1] if partly else VERDICTS[2]


def _ahead(found, claimed, digits):
    """The verdict on points of accuracy ahead; `claimed` is how many the paper shows, if any."""
    if found["low"] <= 0:
        holds, partly = False, False
    else:
        holds, partly = claimed is None or found["high"] >= claimed / 2, True
    return Finding(f"{_text(found, digits)} points ahead", _verdict(holds, partly))


def _over_splits(values, dataset, rows="test"):
    """The interval over random splits, for what is measured on test or on training rows.

    The correction is rho / (1 - rho), rho being the part of the rows that two sets share: that of
    the test sets, or that of the larger training sets.
    """
    share = TEST_SHARE[dataset]
    return interval(np.asarray(values), test_share=share if rows == "test" else 1 / share)


def _test_curves(table):
    """The curve on the test rows for each random split and method."""
    random = table.query("split == 'random' and rows == 'test'")
    return dict(iter(random.groupby(["seed", "method"])))


def _text(found, digits=3):
    return f"{found['mean']:.{digits}f} [{found['low']:.{digits}f}, {found['high']:.{digits}f}]"


def _small(value):
    """A number whose last digits are rounding errors: its order of magnitude."""
    return f"below 1e{int(np.ceil(np.log10(max(value, 1e-15))))}"
