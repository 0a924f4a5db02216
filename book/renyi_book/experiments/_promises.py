"""Test whether a fairness target that was met when lam was chosen is also met on new rows.

The rule was fixed before the trials. Adult's rows are shuffled; 5000 of them are used for the fit,
some are used to measure the metric, and the remaining rows are the new rows. A method of choosing
lam succeeds in a trial if the new rows meet the target, and fails if they do not. If it returns no
lam, it makes no claim. A confidence of 0.9 requires that the target is missed in at most a tenth
of all trials.
"""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from renyi_book.experiments._splits import Rows, encoded_rows, scaled
from renyi_lib import metrics
from renyi_lib.classification import RenyiClassifier
from renyi_lib.tuning import RenyiClassifierCV, TargetNotReachedError, fit_to_target

TRIALS = range(2000, 2080)
TARGETS = {"demographic_parity_ratio": 0.8, "demographic_parity_difference": 0.05}
# What the penalty acts on, for each metric.
_ON = {"demographic_parity_ratio": ("label", "score"), "demographic_parity_difference": ("label",)}
_N_TRAIN = 5000


def promises(
    *,
    trials=TRIALS,
    sizes=(2000, 5000),
    confidence=0.9,
    cv_size=5000,
    progress=True,
):
    """Choose lam by each method, and measure the metric on new rows.

    Parameters
    ----------
    trials : sequence of int
        Seeds of the shuffles.
    sizes : sequence of int
        Numbers of rows to measure on, in addition to the 5000 training rows.
    confidence : float, default=0.9
        Confidence that the target is met.
    cv_size : int, default=5000
        Number of rows that cross-validation gets in addition to the training rows; it is run only
        if `sizes` contains this number.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    DataFrame
        Columns ``seed, metric, target, on`` ("label" or "score"); ``way``, "estimate" or
        "confidence" (of `fit_to_target`) or "cross-validation" (`RenyiClassifierCV` with
        confidence, only for the ratio and "label"); ``measured``, the number of rows in addition
        to the training rows; ``lam``; and ``value`` and ``accuracy``, the metric and the accuracy
        on the new rows. The last three are NaN if no lam was found.

    Examples
    --------
    >>> from renyi_book.experiments import promises
    >>> table = promises(trials=[0], sizes=[5000], progress=False)
    >>> table.query("way == 'estimate' and on == 'label'")["metric"].tolist()
    ['demographic_parity_ratio', 'demographic_parity_difference']
    """
    everything = encoded_rows("adult")[0]
    found = []
    for seed in tqdm(trials, desc="trials", disable=not progress, leave=False):
        order = np.random.default_rng(seed).permutation(len(everything.y))
        parts = dict(zip(("train", "others"), np.split(order, [_N_TRAIN])))
        train, others = scaled(everything, parts, StandardScaler()).values()
        fits = {on: _Fits(RenyiClassifier(on=on)) for on in ("label", "score")}
        for size in sizes:
            held = Rows(*(part[:size] for part in others))
            new = Rows(*(part[size:] for part in others))
            ways = _ways(fits, train, held, confidence, with_cv=size == cv_size)
            for way, on, metric, choose in ways:
                where = {"seed": int(seed), "metric": metric, "target": TARGETS[metric]}
                where |= {"on": on, "way": way, "measured": size}
                found.append(where | _outcome(choose, metric, new))
    return pd.DataFrame(found)


class _Fits(BaseEstimator):
    """Estimator for several searches over the same rows, in which no fit is repeated.

    The path of each search is the same as for that search alone. Fits of two searches are the same
    if they have the same lam and the same start, the solution for the next smaller lam.
    """

    def __init__(self, estimator):
        self.estimator = estimator
        self._made = {}

    def _fits_by_lam(self, X, y, sensitive_features, sample_weight):
        """Return the function from lam to a fit that `fit_to_target` asks estimators for."""
        if not self._made:
            self._problem = clone(self.estimator)._prepare(X, y, sensitive_features, sample_weight)
            self._made[()] = np.zeros(self._problem.objective.model.shape), None
        path = [(0.0, ())]

        def fit(lam):
            before, start = max((at for at in path if at[0] <= lam), key=lambda at: at[0])
            if (lam, start) not in self._made:
                classifier = clone(self.estimator).set_params(lam=lam)
                classifier._solve(self._problem, self._made[start][0], before)
                self._made[lam, start] = classifier._theta(), classifier
            path.append((lam, (lam, start)))
            return self._made[lam, start][1]

        return fit


def _ways(fits, train, held, confidence, *, with_cv):
    """Yield (way, on, metric, function that returns lam and a fitted model)."""
    for metric, target in TARGETS.items():
        for on in _ON[metric]:
            for way, level in (("estimate", None), ("confidence", confidence)):

                def searched(on=on, metric=metric, target=target, level=level):
                    fitted = fit_to_target(
                        fits[on],
                        train.X,
                        train.y,
                        sensitive_features=train.s,
                        metric=metric,
                        target=target,
                        validation=held,
                        confidence=level,
                    )
                    return fitted.lam, fitted

                yield way, on, metric, searched
    if with_cv:
        X, y, s = (np.concatenate(pair) for pair in zip(train, held))

        def crossed():
            model = RenyiClassifierCV(
                target=TARGETS["demographic_parity_ratio"], confidence=confidence
            )
            fitted = model.fit(X, y, sensitive_features=s)
            return fitted.lam_, fitted

        yield "cross-validation", "label", "demographic_parity_ratio", crossed


def _outcome(choose, metric, new):
    """Measure the result on the new rows, or return missing values if no lam was found."""
    try:
        lam, model = choose()
    except TargetNotReachedError:
        return {"lam": np.nan, "value": np.nan, "accuracy": np.nan}
    decided = model.predict(new.X)
    value = getattr(metrics, metric)(new.y, decided, sensitive_features=new.s)
    return {"lam": float(lam), "value": value, "accuracy": np.mean(decided == new.y)}
