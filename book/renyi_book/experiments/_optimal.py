"""Penalty and optimal rule: agreement on Adult, and when training with the penalty pays off.

The second experiment compares two approaches to a fair classifier on populations with known
posteriors: training with the penalty, or fitting plain models and correcting their decisions by
the bias score. The criterion is the accuracy in the population where a method's path first reaches
a level of unfairness, which is a third or a tenth of the unfairness of a logistic regression
fitted to very many rows.

The rule was fixed before the seeds were drawn. Take the difference of accuracies, training minus
correction, over the seeds for which both reach the level, with Student's 95 % interval. *Training
wins* if the interval lies above 0.003, *correction wins* if it lies below -0.003, it is a *tie* if
the interval lies within these margins, and everything else is *undecided*. If, however, one method
reaches the level for at least nine of ten seeds and the other for fewer than half, the first wins.
"""

import warnings

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from renyi_book.experiments._fermi import _crossing
from renyi_book.experiments._splits import FRESH, encoded_splits
from renyi_book.experiments._summary import interval
from renyi_lib.boosting import RenyiBoostingClassifier
from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.metrics import demographic_parity_ratio
from renyi_lib.postprocessing import BiasScoreClassifier, ToleranceNotReachedWarning
from renyi_lib.smooth_penalties import ContinuousRenyiPenalty
from renyi_lib.tuning import lam_path

AGREEMENT_LAMS = (3.0, 10.0, 30.0, 100.0, 1000.0)
MODELS = ("linear", "trees")
# Weights of the penalty, and tolerances as fractions of the difference without correction.
PATH_LAMS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
PATH_TOLERANCES = (1.0, 0.7, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.0)
# Levels at which curves are read, as fractions of the plain model's unfairness.
PARTS = (1 / 3, 1 / 10)
MARGIN = 0.003
# Number of rows that represent the population, and thresholds at which scores should be fair.
N_POPULATION = 40_000
THRESHOLDS = np.linspace(0.2, 0.8, 7)


def optimal_rule_adult(*, models=MODELS, seeds=FRESH[:6], rounds=150, progress=True):
    """Measure how closely the classifier trained with the penalty follows the bias-score rule.

    Parameters
    ----------
    models : sequence of {"linear", "trees"}
        Types of models, each used for both posteriors and for the fair classifier.
    seeds : iterable of int
        Seeds of the random splits of Adult.
    rounds : int, default=150
        Number of trees of each model.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``model, seed, lam`` and, on the test rows, ``agreement`` (the share of equal
        decisions of the fair classifier and of the rule eta - k b > 1/2, with the probability eta
        of Y = 1, the bias score b, and the k that gives both the same gap), ``correlation`` (of b
        and of (eta - p) / (p (1 - p)), which according to the theorem is a linear function of b,
        for the fair classifier's scores p between 0.05 and 0.95), this ``k``, ``k_theorem`` (from
        lam and the scores of the training rows), and the accuracy and p% of the fair classifier
        and of the rule (``accuracy_fair``, ``accuracy_rule``, ``p_rule_fair``, ``p_rule_rule``).

    Examples
    --------
    >>> from renyi_book.experiments import optimal_rule_adult
    >>> table = optimal_rule_adult(models=["trees"], seeds=[0], rounds=2, progress=False)
    >>> table["lam"].tolist()
    [3.0, 10.0, 30.0, 100.0, 1000.0]
    """
    found = []
    splits = encoded_splits("adult", seeds, paper=False)
    for where, data in tqdm(splits, "rule", len(seeds), disable=not progress, leave=False):
        for model in models:
            for row in _agreement(model, data, rounds):
                found.append({"model": model, "seed": where["seed"]} | row)
    return pd.DataFrame(found)


def _agreement(model, data, rounds):
    X, y, s = data["train"]
    X_new, y_new, s_new = data["test"]
    if model == "linear":
        plain, fair = LogisticRegression(max_iter=2000), RenyiClassifier()
    else:
        plain = LGBMClassifier(n_estimators=rounds, random_state=0, verbosity=-1, n_jobs=1)
        fair = RenyiBoostingClassifier(n_estimators=rounds, random_state=0)
    q = s.mean()
    of_group = plain.fit(X, s).predict_proba(X_new)[:, 1]
    b = of_group / q - (1 - of_group) / (1 - q)
    eta = plain.fit(X, y).predict_proba(X_new)[:, 1]
    path = lam_path(fair, X, y, lams=AGREEMENT_LAMS, sensitive_features=s)
    for lam, fitted in zip(AGREEMENT_LAMS, path):
        p, seen = fitted.predict_proba(X_new)[:, 1], fitted.predict_proba(X)[:, 1]
        P, D = seen.mean(), seen[s == 1].mean() - seen[s == 0].mean()
        k = _k_of_gap(eta, b, s_new, _gap((p > 0.5), s_new))
        middle = (p > 0.05) & (p < 0.95)
        implied = ((eta - p) / (p * (1 - p)))[middle]
        rule = eta - k * b > 0.5
        yield {
            "lam": lam,
            "agreement": np.mean(rule == (p > 0.5)),
            "correlation": np.corrcoef(b[middle], implied)[0, 1],
            "k": k,
            "k_theorem": lam / 2 * D * q * (1 - q) / (P * (1 - P)),
            "accuracy_fair": np.mean((p > 0.5) == y_new),
            "accuracy_rule": np.mean(rule == y_new),
            "p_rule_fair": demographic_parity_ratio(y_new, p > 0.5, sensitive_features=s_new),
            "p_rule_rule": demographic_parity_ratio(y_new, rule, sensitive_features=s_new),
        }


def _gap(decided, s):
    return decided[s == 1].mean() - decided[s == 0].mean()


def _k_of_gap(eta, b, s, gap):
    """Find by bisection the k in [-1, 1] whose rule has the given gap, which falls as k grows."""
    low, high = -1.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _gap(eta - middle * b > 0.5, s) > gap else (low, middle)
    return (low + high) / 2


def training_or_correcting(*, settings=None, seeds=FRESH, progress=True):
    """Compare training with the penalty and correcting afterwards at equal fairness.

    Parameters
    ----------
    settings : sequence of str, optional
        Settings, among "many rows", "few rows", "wrong model of Y", "wrong model of S",
        "continuous attribute" and "fair scores"; all of them by default.
    seeds : iterable of int
        Seeds of the training sets.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``setting, seed``; ``level``, the level of unfairness; ``part``, the level as a
        fraction of the plain model's unfairness; and ``training`` and ``correcting``, the accuracy
        of each method in the population at that level (NaN if the method does not reach it).

    Examples
    --------
    >>> from renyi_book.experiments import training_or_correcting
    >>> table = training_or_correcting(settings=["few rows"], seeds=[0], progress=False)
    >>> table.columns.tolist()
    ['setting', 'seed', 'part', 'level', 'training', 'correcting']
    """
    settings = list(_SETTINGS) if settings is None else list(settings)
    found = []
    for name in tqdm(settings, "training", disable=not progress, leave=False):
        setting = _SETTINGS[name]
        population = setting.draw(N_POPULATION, np.random.default_rng(0))
        plain = LogisticRegression().fit(population.X, population.y)
        start = setting.unfairness(plain.predict_proba(population.X)[:, 1], population)
        for seed in seeds:
            rows = setting.draw(setting.n, np.random.default_rng([1, int(seed)]))
            curves = {
                method: _curve(getattr(setting, method)(rows), setting, population)
                for method in ("training", "correcting")
            }
            for part in PARTS:
                row = {"setting": name, "seed": int(seed), "part": part, "level": part * start}
                for method, curve in curves.items():
                    row[method] = float(_crossing(*curve, part * start)[0])
                found.append(row)
    return pd.DataFrame(found)


def _curve(path, setting, population):
    """Compute unfairness and accuracy in the population along a path of models."""
    scores = [model.predict_proba(population.X)[:, 1] for model in path]
    unfair = np.array([setting.unfairness(p, population) for p in scores])
    return unfair, np.array([[population.accuracy(p)] for p in scores])


def training_verdicts(table):
    """Return the verdict for each setting and level, by the rule that was fixed beforehand.

    Parameters
    ----------
    table : DataFrame
        Table from `training_or_correcting`.

    Returns
    -------
    DataFrame
        Indexed by setting and part: the share of the seeds in which each method reached the
        level (``"reached by training"``, ``"reached by correcting"``), the number of seeds for
        which ``both`` did, the ``mean`` difference of accuracies (training minus correction) with
        the ends ``low`` and ``high`` of its interval, and the ``verdict``.

    Examples
    --------
    >>> import pandas as pd
    >>> from renyi_book.experiments import training_verdicts
    >>> table = pd.DataFrame(
    ...     {"training": [0.81, 0.82, 0.83], "correcting": [0.7, 0.71, 0.72]}
    ... )
    >>> training_verdicts(table.assign(setting="a", part=0.1))["verdict"].item()
    'training wins'
    """
    found = {}
    for key, rows in table.groupby(["setting", "part"], sort=False):
        reached = rows[["training", "correcting"]].notna()
        both = rows[reached.all(axis=1)]
        difference = (both["training"] - both["correcting"]).to_numpy()
        mean, low, high = interval(difference) if len(both) > 1 else [np.nan] * 3
        share = reached.mean()
        if share["training"] >= 0.9 and share["correcting"] < 0.5:
            verdict = "training wins"
        elif share["correcting"] >= 0.9 and share["training"] < 0.5:
            verdict = "correction wins"
        elif low > MARGIN:
            verdict = "training wins"
        elif high < -MARGIN:
            verdict = "correction wins"
        elif low > -MARGIN and high < MARGIN:
            verdict = "tie"
        else:
            verdict = "undecided"
        found[key] = {
            "reached by training": share["training"],
            "reached by correcting": share["correcting"],
            "both": len(both),
            "mean": mean,
            "low": low,
            "high": high,
            "verdict": verdict,
        }
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["setting", "part"])


class _Rows:
    """Rows with known posteriors eta = P(Y=1|x) and, unless s is given, of_group = P(S=1|x)."""

    def __init__(self, X, eta, of_group, rng, s=None):
        self.X, self.eta, self.of_group = X, eta, of_group
        self.y = (rng.random(len(X)) < eta).astype(int)
        self.s = (rng.random(len(X)) < of_group).astype(int) if s is None else s

    def accuracy(self, p):
        return float(np.mean(np.where(p > 0.5, self.eta, 1 - self.eta)))


class _Setting:
    """Setting with two groups, posteriors that are logistic in x, and 4000 training rows."""

    n, n_features = 4000, 5

    def posteriors(self, X):
        return expit(X[:, 0] + X[:, 1] + 0.5 * X[:, 2] - 1), expit(1.5 * X[:, 0] - X[:, 3])

    def draw(self, n, rng):
        X = rng.normal(size=(n, self.n_features))
        return _Rows(X, *self.posteriors(X), rng)

    def unfairness(self, p, rows):
        """Compute the absolute difference of positive rates, from the true P(S = 1 | x)."""
        q = rows.of_group.mean()
        b = rows.of_group / q - (1 - rows.of_group) / (1 - q)
        return abs(float(np.mean(b * (p > 0.5))))

    def training(self, rows):
        return lam_path(
            RenyiClassifier(), rows.X, rows.y, lams=PATH_LAMS, sensitive_features=rows.s
        )

    def correcting(self, rows):
        fitted = BiasScoreClassifier(tolerance=1.0, random_state=0)
        fitted.fit(rows.X, rows.y, sensitive_features=self.labels(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ToleranceNotReachedWarning)
            start = fitted.difference_
            return [fitted.with_tolerance(part * start) for part in PATH_TOLERANCES]

    def labels(self, rows):
        return rows.s


class _FewRows(_Setting):
    n, n_features = 200, 10


class _WrongY(_Setting):
    """Setting in which eta depends on a square and a product, which linear models miss."""

    def posteriors(self, X):
        of_group = super().posteriors(X)[1]
        bent = X[:, 0] + X[:, 1] + X[:, 2] ** 2 + X[:, 1] * X[:, 3] - 2
        return expit(bent), of_group


class _WrongS(_Setting):
    """Setting in which the group depends on the square of a feature, which linear models miss."""

    def posteriors(self, X):
        eta, _ = super().posteriors(X)
        return eta, expit(2 * (X[:, 0] ** 2 - 1))


class _Continuous(_Setting):
    """Setting with a numeric S; correction uses its quartiles, and the penalty its ranks."""

    def draw(self, n, rng):
        X = rng.normal(size=(n, self.n_features))
        s = 0.8 * X[:, 0] + 0.6 * rng.normal(size=n)
        return _Rows(X, self.posteriors(X)[0], None, rng, s)

    def unfairness(self, p, rows):
        """Compute the standard deviation of P(decision = 1 | S) over 20 quantile bins of S."""
        by_quantile = pd.Series(p > 0.5).groupby(pd.qcut(rows.s, 20, labels=False)).mean()
        return float(by_quantile.std(ddof=0))

    def training(self, rows):
        ranks = pd.qcut(rows.s, 50, labels=False)
        model = PenalizedClassifier(ContinuousRenyiPenalty())
        return lam_path(model, rows.X, rows.y, lams=PATH_LAMS, sensitive_features=ranks)

    def labels(self, rows):
        return pd.qcut(rows.s, 4, labels=False)


class _Scores(_Setting):
    """Setting in which decisions should be fair at seven thresholds from 0.2 to 0.8."""

    def unfairness(self, p, rows):
        shift = 0.5 - THRESHOLDS
        return float(np.mean([super(_Scores, self).unfairness(p + d, rows) for d in shift]))

    def training(self, rows):
        model = RenyiClassifier(on="score")
        return lam_path(model, rows.X, rows.y, lams=PATH_LAMS, sensitive_features=rows.s)


_SETTINGS = {
    "many rows": _Setting(),
    "few rows": _FewRows(),
    "wrong model of Y": _WrongY(),
    "wrong model of S": _WrongS(),
    "continuous attribute": _Continuous(),
    "fair scores": _Scores(),
}
