"""Rules on the data sets and their starting points (appendix D)."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from renyi_book.scorecard import statistics
from renyi_book.scorecard.judging import NoResult, difference, exact, shown, value
from renyi_book.scorecard.reading import ratio, signed_log_ratio
from renyi_book.scorecard.rules._common import delta, options, registry
from renyi_lib.datasets import load_adult, load_bank, load_german
from renyi_lib.metrics import demographic_parity_difference

RULES, rule = registry()


@rule
def start_is_the_number(results, claim, thresholds):
    """Compare p% of the plain classifier on the paper's own rows with the paper's number."""
    dataset, rows = options(claim)["dataset"], options(claim)["rows"]
    point = results.paper("starting_points", ["p_rule"], dataset=dataset, rows=rows).iloc[0]
    return value(
        float(point["p_rule"]),
        claim["paper"]["value"],
        thresholds.reproduced,
        delta(claim, thresholds),
        f"p% on the {rows} rows",
        note=_around(results, point, dataset, rows),
    )


def _around(results, point, dataset, rows):
    """Describe how much the number varies between samples of people and between splits."""
    try:
        people = statistics.bootstrapped_groups(
            [point["rate_0"], point["rate_1"]],
            [point["n_0"], point["n_1"]],
            statistics.smallest_ratio,
        )
        table = results.fresh("starting_points", dataset=dataset, rows=rows, split="random")
        splits = statistics.corrected(signed_log_ratio(table), ratio(dataset, rows))
    except (KeyError, NoResult):
        return ""
    over_splits = statistics.Mean(
        *statistics.to_p_rule(splits.estimate, splits.low, splits.high), 0.0, splits.df, splits.n
    )
    return f"other people {shown(people)}, {splits.n} random splits {shown(over_splits)}"


@rule
def german_starts_above(results, claim, thresholds):
    """Compute the DP violation on German's training rows, with S as a feature or without it."""
    claimed, least = claim["paper"]["value"], delta(claim, thresholds)
    if options(claim)["with_s"]:
        found = {"train, S among the features": german_with_s()}
    else:
        table = results.paper("starting_points", ["dp_violation"], dataset="german")
        found = table.set_index("rows")["dp_violation"].to_dict()
    text = ", ".join(f"{name} {dp:.3f}" for name, dp in found.items())
    highest = max(found.values())
    # A value just below the number holds in part.
    return exact(highest > claimed, f"DP violation: {text}", partly=highest > claimed - least)


@cache
def german_with_s():
    """Compute German's training DP violation of a logistic regression with S as a feature."""
    data = load_german().encode(scaling="standard")
    X = np.column_stack([data.X_train, pd.get_dummies(data.s_train, dtype=float)])
    model = LogisticRegression(C=np.inf, tol=1e-6, max_iter=5000).fit(X, data.y_train)
    return demographic_parity_difference(
        data.y_train, model.predict(X), sensitive_features=data.s_train
    )


@rule
def unfair_without_s(results, claim, thresholds):
    """Compute the distance of the groups' log ratio of rates beyond that of a fair p%."""
    table = results.fresh("starting_points", dataset="adult", rows="test", split="random")
    log_ratios = signed_log_ratio(table).to_numpy()
    beyond = np.sign(log_ratios.mean()) * log_ratios + np.log(thresholds.fair_p_rule)
    mean = np.exp(-abs(log_ratios.mean()))
    return difference(
        beyond,
        delta(claim, thresholds),
        "log ratio beyond the fair one by",
        ratio=ratio("adult"),
        seeds=table["seed"],
        note=f"p% {mean:.3f}",
    )


@rule
def features_heavier_than_gender(results, claim, thresholds):
    coding = options(claim)["coding"]
    count = heavier_than_gender(coding)
    return exact(count == claim["paper"]["value"], f"{count}, with categories as {coding}", n=1)


@cache
def heavier_than_gender(coding):
    """Count the features of Adult that weigh more than gender in a logistic regression.

    Features are standardized. A feature coded by indicators has the largest of their weights.
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


@rule
def data_as_described(results, claim, thresholds):
    """Check the counts of rows and features, exactly or to the thousand that the paper gives."""
    found, claimed = data_facts(options(claim)["dataset"]), claim["paper"]["value"]
    text = ", ".join(f"{name} {found[name]}" for name in claimed)
    right = [found[name] == number for name, number in claimed.items()]
    rounded = [
        found[name] == number or (number % 1000 == 0 and 0 <= found[name] - number < 1000)
        for name, number in claimed.items()
    ]
    return exact(all(right), text, partly=all(rounded), n=len(claimed))


@cache
def data_facts(dataset):
    """Return the numbers of rows and features of a data set, as the paper counts them."""
    data = {"adult": load_adult, "bank": load_bank, "german": load_german}[dataset]()
    # The target is the only column that is not a feature.
    features = data.train.drop(columns=data.target)
    numbers = features.select_dtypes("number").shape[1]
    return {
        "train": len(data.train),
        "test": len(data.test),
        "features": features.shape[1],
        # The repository lists the target among the features.
        "attributes": data.train.shape[1],
        "numerical": numbers,
        "categorical": features.shape[1] - numbers,
    }
