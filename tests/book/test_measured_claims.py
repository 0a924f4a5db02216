"""Each claim that was measured, computed from the stored tables without the rules' code.

The estimand of a row is written out here a second time, in pandas, from the words of claims.yml.
The estimate and the interval must match the scorecard, and its verdict (before other rows of the
figure are taken into account) must follow from the definition in the chapter.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from renyi_book.scorecard import rows

from . import checks

ROW = {row["id"]: row for row in rows(checks.BOOK / "results")}
PANELS = {
    "adult": ("penalties_adult", "p_rule", 16281 / 26048),
    "bank": ("penalties_bank", "p_rule", 13211 / 25600),
    "german": ("penalties_german", "dp_violation", 200 / 640),
    "gender-race": ("penalties_adult_gender_race", "dp_violation", 16281 / 26048),
}
METHODS = {"pearson": "pearson", "hsic": "hsic-gaussian"}
ADULT = 16281 / 26048
ADULT_TRAIN = 26048 / (6513 + 16281)


@cache
def whole(name):
    return pd.read_csv(checks.BOOK / "results" / f"{name}.csv")


def read(name, query):
    return whole(name).query(query)


def curves(name, query):
    """Return {seed: {rows: points}} of the random splits, by increasing lambda or decreasing c."""
    table = read(name, f"split == 'random' and {query}")
    by = [column for column in ("lam", "c") if column in table]
    return {
        seed: {kind: part.reset_index(drop=True) for kind, part in found.groupby("rows")}
        for seed, found in table.sort_values(by, ascending=by != ["c"]).groupby("seed")
    }


def interval(values, ratio, level=0.95):
    """Return the mean and Nadeau and Bengio's interval, by scipy's distribution."""
    values = np.asarray(values, dtype=float)
    spread = stats.sem(values) * np.sqrt(1 + len(values) * ratio)
    return values.mean(), *stats.t.interval(level, len(values) - 1, values.mean(), spread)


def verdict(low, high, delta):
    if low > 0:
        return "holds" if high >= delta else "holds in part"
    return "undecided" if high >= delta else "does not hold"


def agrees(name, values, ratio=0.0, level=0.95):
    """Check a row's estimate, interval and verdict; return the mean of the values and its ends."""
    row = ROW[name]
    found = interval(values, ratio, level)
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(found, rel=1e-3, abs=2e-5)
    assert row["n"] == len(values)
    if level == 0.95:
        told = row["verdict_unadjusted"]
        assert told == verdict(*found[1:], row["delta"])
    return found


def p_first(fairness):
    return 1 if fairness == "p_rule" else -1


def fair_point(curve, fairness, level):
    """Return the point on the test rows that is chosen on the validation rows."""
    sign, judged = p_first(fairness), curve["validation"]
    fair = judged[sign * judged[fairness] >= sign * level]
    best = fair["accuracy"].idxmax() if len(fair) else (sign * judged[fairness]).idxmax()
    return curve["test"].loc[best]


def accuracy_at(curve, fairness, level):
    """Interpolate the accuracy where the test curve first reaches a level, or return NaN."""
    sign, path = p_first(fairness), curve["test"]
    x, y = sign * path[fairness].to_numpy(), path["accuracy"].to_numpy()
    if x.max() < sign * level:
        return np.nan
    k = int(np.argmax(x >= sign * level))
    return y[0] if k == 0 else np.interp(sign * level, x[k - 1 : k + 1], y[k - 1 : k + 1])


def both(panel, rival):
    table, fairness, ratio = PANELS[panel]
    ours, theirs = (curves(table, f"method == '{m}'") for m in ("renyi", METHODS[rival]))
    return ours, theirs, fairness, ratio, 0.8 if fairness == "p_rule" else 0.08


CASES = [(panel, rival) for panel in PANELS for rival in METHODS]


@pytest.mark.parametrize(("panel", "rival"), CASES)
def test_accuracy_lead_when_both_methods_are_fair_enough_is_reproduced(panel, rival):
    ours, theirs, fairness, ratio, level = both(panel, rival)
    chosen = [
        [fair_point(curve[seed], fairness, level)["accuracy"] for seed in ours]
        for curve in (ours, theirs)
    ]
    agrees(f"{panel}-beats-{rival}", 100 * np.subtract(*chosen), ratio)


@pytest.mark.parametrize(("panel", "rival"), CASES)
def test_accuracy_lead_at_equal_fairness_is_reproduced(panel, rival):
    ours, theirs, fairness, ratio, level = both(panel, rival)
    sign = p_first(fairness)
    lead = {
        seed: 100
        * (accuracy_at(ours[seed], fairness, level) - accuracy_at(theirs[seed], fairness, level))
        for seed in ours
        if any(sign * c[seed]["test"][fairness][0] < sign * level for c in (ours, theirs))
    }
    lead = pd.Series(lead).dropna()
    name = f"{panel}-beats-{rival}-interpolated"
    if len(lead) < 2:
        assert ROW[name]["verdict"] == "undecided"
        assert ROW[name]["estimate"] is None
    else:
        agrees(name, lead, ratio)


def fairest(curve, fairness):
    return curve["test"].loc[(p_first(fairness) * curve["validation"][fairness]).idxmax()]


def log_ratio(point):
    first, second = (
        np.log((point[f"rate_{g}"] * point[f"n_{g}"] + 0.5) / (point[f"n_{g}"] + 0.5))
        for g in (1, 0)
    )
    return first - second


def both_signs(values):
    return np.column_stack([values, np.negative(values)])


def pairs(rates):
    """Return the differences of all ordered pairs of groups."""
    groups = range(rates.shape[1])
    return np.column_stack([rates[:, i] - rates[:, j] for i in groups for j in groups if i != j])


def combined(first, second, ratio):
    """Return the largest mean of `first` minus that of `second`, and its interval."""
    ends = []
    for a in first.T:
        found = [
            (
                interval(a - b, ratio)[0],
                interval(a - b, ratio, 1 - 0.05 / (first.shape[1] / 2))[1],
                interval(a - b, ratio, 1 - 0.05 / second.shape[1])[2],
            )
            for b in second.T
        ]
        ends.append(np.min(found, axis=0))
    return np.max(ends, axis=0)


def agrees_combined(name, first, second, ratio):
    row, found = ROW[name], combined(first, second, ratio)
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(tuple(found), abs=2e-5)
    assert row["n"] == len(first)
    return found


@pytest.mark.parametrize(("panel", "rival"), CASES[:4])
def test_fairest_point_of_each_method_with_two_groups_is_reproduced(panel, rival):
    ours, theirs, fairness, ratio, _ = both(panel, rival)
    ends = [
        both_signs([log_ratio(fairest(curve[seed], fairness)) for seed in ours])
        for curve in (theirs, ours)
    ]
    agrees_combined(f"{panel}-limit-{rival}", *ends, ratio)


def mean_rates(curve, groups):
    """Return the groups' rates at the fairest point, with a row for each split."""
    return np.array(
        [[fairest(one, "dp_violation")[f"rate_{g}"] for g in range(groups)] for one in curve]
    )


@pytest.mark.parametrize(("panel", "rival"), CASES[4:])
def test_fairest_point_of_each_method_with_four_groups_is_reproduced(panel, rival):
    ours, theirs, _, ratio, _ = both(panel, rival)
    ends = (pairs(mean_rates(curve.values(), 4)) for curve in (theirs, ours))
    agrees_combined(f"{panel}-limit-{rival}", *ends, ratio)


@pytest.mark.parametrize("rival", METHODS)
def test_advantage_with_four_groups_versus_two_is_reproduced(rival):
    parts = []
    for panel, groups in (("gender-race", 4), ("adult", 2)):
        ours, theirs, *_ = both(panel, rival)
        parts += [mean_rates(curve.values(), groups) for curve in (theirs, ours)]
    a, b, c, d = (np.ptp(part.mean(axis=0)) for part in parts)
    row = ROW[f"nonbinary-harder-{rival}"]
    assert row["estimate"] == pytest.approx((a - b) - (c - d), abs=1e-5)
    assert row["low"] < row["estimate"] < row["high"]


@pytest.mark.parametrize("method", ["pearson", "hsic"])
def test_fairness_reached_with_numbered_groups_is_reproduced(method):
    ours = curves("penalties_adult_gender_race", "method == 'renyi'")
    theirs = curves("numbered_adult_gender_race", f"method == '{method}-number'")
    ends = (
        pairs(np.array([[c["test"].iloc[-1][f"rate_{g}"] for g in range(4)] for c in curve]))
        for curve in (theirs.values(), ours.values())
    )
    found = agrees_combined(f"gender-race-limit-{method}-number-end", *ends, ADULT)
    assert found[1] > 0


@pytest.mark.parametrize("rival", METHODS)
def test_growth_of_the_lead_from_sixty_to_ninety_percent_is_reproduced(rival):
    ours, theirs, fairness, ratio, _ = both("adult", rival)
    assert ROW[f"lead-grows-{rival}"]["options"]["levels"] == [0.6, 0.9]
    lead = {
        level: np.array(
            [
                accuracy_at(ours[s], fairness, level) - accuracy_at(theirs[s], fairness, level)
                for s in ours
            ]
        )
        for level in (0.6, 0.9)
    }
    grown = 100 * (lead[0.9] - lead[0.6])
    agrees(f"lead-grows-{rival}", grown[np.isfinite(grown)], ratio)


def test_comparison_of_boundary_covariance_and_renyi_is_reproduced():
    ours = curves("penalties_adult", "method == 'renyi'")
    theirs = curves("boundary_covariance", "l2 == 0")
    chosen = [
        [fair_point(curve[seed], "p_rule", 0.8) for seed in ours] for curve in (ours, theirs)
    ]
    ahead = [100 * (a["accuracy"] - b["accuracy"]) for a, b in zip(*chosen)]
    row, found = ROW["adult-beats-pearson-boundary"], interval(ahead, ADULT)
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(found, rel=1e-3)
    # Rényi is less accurate, which alone would contradict the claim, but it is much fairer.
    assert found[2] < 0
    fairer = [both_signs([log_ratio(p) for p in points]) for points in chosen[::-1]]
    assert combined(*fairer, ADULT)[1] > 0.02
    assert row["verdict"] == "holds in part"


@pytest.mark.parametrize("rival", ["hardt", "zafar", "rezaei", "donini"])
def test_accuracy_lead_over_the_baselines_of_figure_1_is_reproduced(rival):
    ours = curves("equal_opportunity", "recipe == 'paper'")
    theirs = curves("equal_opportunity_rivals", f"method == '{rival}'")
    points = {seed: fair_point(theirs[seed], "eo_violation", 0.02) for seed in ours}
    chosen = [fair_point(ours[seed], "eo_violation", 0.02)["accuracy"] for seed in ours]
    ahead = [100 * (a - points[seed]["accuracy"]) for a, seed in zip(chosen, ours)]
    agrees(f"eo-beats-{rival}", ahead, ADULT)
    at_its = pd.Series(
        {
            seed: 100
            * (
                accuracy_at(ours[seed], "eo_violation", points[seed]["eo_violation"])
                - points[seed]["accuracy"]
            )
            for seed in ours
        }
    )
    agrees(f"eo-beats-{rival}-interpolated", at_its.dropna(), ADULT)


def eo_ends(kind, lam):
    """Yield the points at lambda = 0 and at `lam` in the authors' units, with a row per split."""
    path = read(
        "equal_opportunity", f"split == 'random' and recipe == 'code' and rows == '{kind}'"
    )
    return (path[path["lam"] == at].set_index("seed").sort_index() for at in (0, lam))


PANEL_ENDS = (("test", ADULT, 40, ""), ("train", ADULT_TRAIN, 600, "-train"))


def test_accuracy_cost_of_equality_of_opportunity_is_reproduced():
    for kind, ratio, lam, suffix in PANEL_ENDS:
        first, last = eo_ends(kind, lam)
        loss = 100 * (first["accuracy"] - last["accuracy"])
        agrees(f"eo-slight-price{suffix}", 1.0 - loss, ratio)
        agrees(f"eo-costs-accuracy{suffix}", loss, ratio)


def test_smallest_violation_of_equality_of_opportunity_is_reproduced():
    for kind, ratio, lam, _ in PANEL_ENDS:
        gaps = (both_signs(end["tpr_1"] - end["tpr_0"]) for end in eo_ends(kind, lam))
        agrees_combined(f"eo-{kind}-falls", *gaps, ratio)
        _, end = eo_ends(kind, 1000)
        for name, gap in (("", end["tpr_1"] - end["tpr_0"]), ("-soft", end["soft_eo_gap"])):
            name = f"eo-{kind}-to-zero{name}"
            found = agrees(name, gap, ratio, level=0.9)
            inside = found[1] > -0.02 and found[2] < 0.02
            assert ROW[name]["verdict"] == ("holds" if inside else "undecided")


@pytest.mark.parametrize("method", ["hardt", "zafar", "rezaei", "donini", "renyi"])
def test_error_of_each_method_at_the_points_of_figure_1_is_reproduced(method):
    row = ROW.get(f"eo-error-{method}-same-columns", ROW[f"eo-error-{method}"])
    at, where = row["options"]["eo_violation"], "split == 'paper' and rows == 'test'"
    if method == "renyi":
        path = read("equal_opportunity", f"{where} and recipe == 'paper'").sort_values("lam")
        accuracy = accuracy_at({"test": path}, "eo_violation", at)
    else:
        points = read("equal_opportunity_rivals", f"{where} and method == '{method}'")
        accuracy = points.loc[(points["eo_violation"] - at).abs().idxmin(), "accuracy"]
    away = 100 * (1 - accuracy) - row["paper"]["value"]
    assert row["estimate"] == pytest.approx(away, abs=1e-4)
    slack = row["paper"]["reading_error"]
    far = abs(away) > 0.3 + slack
    assert row["verdict"] == ("does not hold" if far else "holds")
    assert far or abs(away) <= 0.15 + slack


@pytest.mark.parametrize(
    ("name", "near", "far"),
    [
        ("eo-authors-train", 0.005, 0.02),
        ("eo-authors-curve", 0.005, 0.02),
        ("eo-authors-train-accuracy", 0.15, 0.3),
        ("eo-authors-test-accuracy", 0.15, 0.3),
    ],
)
def test_the_published_points_lie_on_our_curve(name, near, far):
    row = ROW[name]
    kind, column = row["options"]["rows"], row["options"]["column"]
    path = read("equal_opportunity", f"split == 'paper' and recipe == 'code' and rows == '{kind}'")
    ours = path.set_index("lam")[column] * (100 if column == "accuracy" else 1)
    away = max(abs(ours[float(lam)] - point) for lam, point in row["paper"]["value"].items())
    assert row["estimate"] == pytest.approx(away, abs=1e-4)
    within = away <= near + row["paper"]["reading_error"]
    assert row["verdict"] == ("holds" if within else "holds in part")
    assert away <= far


def test_unconstrained_models_match_the_starting_points_of_the_paper():
    start = whole("starting_points").query("split == 'paper'").set_index(["dataset", "rows"])
    for name, key in (
        ("adult-start", ("adult", "test")),
        ("bank-start", ("bank", "train")),
        ("bank-start-test", ("bank", "test")),
    ):
        away = start["p_rule"][key] - ROW[name]["paper"]["value"]
        assert ROW[name]["estimate"] == pytest.approx(away, abs=1e-5)
        assert (ROW[name]["verdict"] == "holds") == (abs(away) < 0.005)
    assert start["dp_violation"]["german"].max() < 0.2
    assert ROW["german-start"]["verdict"] == "does not hold"


def test_without_s_among_the_features_the_model_is_unfair():
    paths = read("starting_points", "dataset == 'adult' and split == 'random' and rows == 'test'")
    beyond = np.abs(log_ratio(paths)) - np.log(1 / 0.8)
    agrees("dropping-s-is-not-enough", beyond, ADULT)


def test_boundary_covariance_is_less_fair_than_renyi_for_every_ridge():
    """Every estimate shows it, and every interval except the one for the largest ridge."""
    renyi = curves("penalties_adult", "method == 'renyi'")
    ours = both_signs([log_ratio(fairest(renyi[seed], "p_rule")) for seed in renyi])
    found = {}
    for ridge in sorted(whole("boundary_covariance")["l2"].unique()):
        rival = curves("boundary_covariance", f"l2 == {ridge}")
        ends = both_signs([log_ratio(fairest(rival[seed], "p_rule")) for seed in renyi])
        found[ridge] = combined(ends, ours, ADULT)
        assert found[ridge][0] > 0.1
    assert [low > 0 for _, low, _ in found.values()] == [True, True, True, False]
    for name in ("adult-limit-pearson-boundary", "covariance-limit-no-ridge"):
        row = ROW[name]
        told = (row["estimate"], row["low"], row["high"])
        assert told == pytest.approx(tuple(found[0.0]), rel=1e-3)
    worst = min(low for _, low, _ in found.values())
    assert ROW["covariance-limit"]["low"] == pytest.approx(worst, abs=1e-4)


def clusters(dataset, column, algorithm="paper"):
    table = read(f"clusters_{dataset}", f"algorithm == '{algorithm}' and seed >= 100")
    return table.pivot(index="seed", columns="lam", values=column)


@pytest.mark.parametrize(
    ("name", "column", "lam", "algorithm", "room"),
    [
        ("clusters-sd-falls", "w_sd", 0.005, "paper", lambda factor: 0.6 - factor),
        ("clusters-loss-small", "inertia", 0.005, "paper", lambda factor: 1.15 - factor),
        ("clusters-loss-drastic", "inertia", 1.0, "paper", lambda factor: factor - 2),
        ("clusters-loss-drastic-descent", "inertia", 1.0, "descent", lambda factor: factor - 2),
    ],
)
def test_cluster_shares_and_loss_as_functions_of_lambda_are_reproduced(
    name, column, lam, algorithm, room
):
    found = []
    for dataset in ("adult", "bank"):
        wide = clusters(dataset, column, algorithm)
        found.append(interval(room(wide[lam] / wide[0.0]), 0.0))
    # The row has the numbers of the panel that supports the claim less.
    assert ROW[name]["low"] == pytest.approx(min(low for _, low, _ in found), rel=1e-3)
    supported = [low > 0 for _, low, _ in found]
    wanted = "holds" if all(supported) else "holds in part" if any(supported) else "does not hold"
    assert ROW[name]["verdict"] == wanted


def test_cluster_shares_are_nearly_but_not_exactly_equal_at_the_largest_lambda():
    for dataset in ("adult", "bank"):
        low, high = clusters(dataset, "w_min"), clusters(dataset, "w_max")
        spread = (high - low)[high.columns.max()]
        assert spread.min() > 0
        assert interval(spread, 0.0)[2] < 0.02
    assert ROW["clusters-nearly-fair"]["verdict"] == "holds"
    # The claim is false for Algorithm 3's clusters, but true for the minimum of the objective.
    assert ROW["clusters-exactly-fair"]["verdict"] == "holds in part"


def test_fairer_shares_cost_loss():
    for dataset in ("adult", "bank"):
        sd, loss = clusters(dataset, "w_sd"), clusters(dataset, "inertia")
        last = sd.columns.max()
        assert (sd[last] < sd[0.0]).all()
        assert (loss[last] > loss[0.0]).all()
    assert ROW["clusters-tradeoff"]["verdict"] == "holds"


def test_balance_is_a_function_of_the_smallest_and_the_largest_share():
    for dataset in ("adult", "bank"):
        table = whole(f"clusters_{dataset}")
        low, high = table["w_min"], table["w_max"]
        worst = np.minimum(low / (1 - low), (1 - high) / high)
        np.testing.assert_allclose(worst, table["balance"], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "column", "room"),
    [
        ("nmi-vanishes", "nmi", "share"),
        ("nmi-vanishes-soft", "soft_nmi", "share"),
        ("figure-6-pearson", "score_pearson", "share"),
        ("near-independence", "soft_rho_R", "value"),
        ("near-independence-decision", "rho_R", "value"),
    ],
)
def test_residual_dependence_on_the_training_rows_is_reproduced(name, column, room):
    paths = [c["train"][column] for c in curves("penalties_adult", "method == 'renyi'").values()]
    first, last = (np.array([path.iloc[k] for path in paths]) for k in (0, -1))
    left = 0.05 - np.abs(last / first) if room == "share" else 0.02 - last
    agrees(name, left, ADULT_TRAIN)


def network(column):
    table = read("network", "rows == 'test'")
    return table.pivot(index="seed", columns="lam", values=column)


def test_starting_point_fairness_and_time_of_the_network_are_reproduced():
    p, accuracy, seconds = (network(c) for c in ("p_rule", "accuracy", "cpu_seconds"))
    agrees("network-fairer", p[10.0] - p[0.0])
    agrees("any-class-probabilities", p[10.0] - p[0.0])
    agrees("network-start", p[0.0] - 0.3149, 1.0, level=0.9)
    agrees("network-start-accuracy", 100 * accuracy[0.0] - 85.33, 1.0, level=0.9)
    agrees("network-overhead", 1.25 + 0.1 - seconds.iloc[:, 1:].mean(axis=1) / seconds[0.0])


def test_accuracy_of_the_network_at_the_fairness_of_the_paper_is_reproduced():
    p, accuracy = network("p_rule"), network("accuracy")
    found = [
        accuracy_at(
            {"test": pd.DataFrame({"p_rule": p.loc[s], "accuracy": accuracy.loc[s]})},
            "p_rule",
            0.8042,
        )
        for s in p.index
    ]
    found = 100 * np.array(found)[np.isfinite(found)]
    agrees("network-fair", found - 83.34 + ROW["network-fair"]["delta"], 1.0)


@pytest.mark.parametrize(
    ("name", "slow", "fast"),
    [
        ("kernels-expensive", "hsic-gaussian", "renyi-binary"),
        ("cheaper-than-neural-mi", "neural-mi", "renyi-binary"),
        ("binary-more-efficient", "renyi-discrete", "renyi-binary"),
    ],
)
def test_relative_cost_of_the_training_steps_is_reproduced(name, slow, fast):
    seconds = read("timing", "seconds > 0").groupby(["seed", "what"])["seconds"].median().unstack()
    longer = np.log(seconds[slow] / seconds[fast])
    if name != "kernels-expensive":
        agrees(name, longer)
        return
    # HSIC is slower, but not ten times as slow. The row has the numbers of the weaker part.
    assert interval(longer, 0.0)[1] > 0
    row, found = ROW[name], interval(longer - np.log(10), 0.0)
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(found, rel=1e-3)
    assert found[2] < 0
    assert row["verdict"] == "holds in part"


def test_overhead_of_the_penalty_per_step_is_reproduced():
    seconds = read("timing", "seconds > 0").groupby(["seed", "what"])["seconds"].median().unstack()
    agrees("overhead-negligible", 1.25 + 0.1 - 1 - seconds["renyi-binary"] / seconds["loss"])


def test_no_run_violates_the_rates_of_theorems_3_and_4():
    table = read("convergence", "seed >= 100")
    for algorithm, name, claimed in (
        ("discrete", "theorem-3", -0.25),
        ("binary", "theorem-4", -0.5),
    ):
        runs = table[table["algorithm"] == algorithm].groupby(["seed", "lam"])
        slopes = [stats.linregress(np.log(r["t"]), np.log(r["gradient"])).slope for _, r in runs]
        assert max(slopes) < claimed
        assert ROW[name]["verdict"] == "cannot be tested"
