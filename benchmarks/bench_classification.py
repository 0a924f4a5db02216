"""Speed of fair classifiers on Adult (32561 x 64), relative to plain logistic regression.

Run ``python benchmarks/bench_classification.py``. Every time is the processor time of the fastest
of several runs on one thread, which alternate with runs of the reference. The reference is
scikit-learn's LogisticRegression without a penalty, which stops at the same size of the gradient.
fairlearn's ExponentiatedGradient is timed, too, in a single run, if fairlearn is installed.
"""

from functools import partial
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits
from timing import least_times

from renyi_lib.classification import PenalizedClassifier, RenyiClassifier
from renyi_lib.datasets import load_adult
from renyi_lib.penalties import HSICPenalty, PearsonPenalty, ScoreBinsPenalty
from renyi_lib.tuning import lam_path

FIT_GOAL = 1.5
PATH_GOAL = 10.0
LAMS = [0, 0.1, 1, 3, 10, 100, 1000, 1e5, 1e9]
PATH = np.r_[0, np.geomspace(0.1, 1000, 19)]


def report(title, ours, reference, goal=None):
    ratio = ours / reference
    verdict = "" if goal is None else "ok" if ratio <= goal else f"above the goal of {goal:g}"
    print(
        f"{title:<44}{1e3 * ours:>9.0f} ms  /{1e3 * reference:>6.0f} ms  ={ratio:>7.2f}  {verdict}"
    )


def single_fits(data, tol):
    """Time a fit for each lam."""
    print(f"\nRenyiClassifier, gender, tol = {tol:g} / LogisticRegression with the same tol")
    plain = LogisticRegression(C=np.inf, tol=tol, max_iter=10000)
    for lam in LAMS:
        fair = RenyiClassifier(lam, tol=tol)
        (ours, reference), _ = least_times(
            [
                partial(fair.fit, data.X_train, data.y_train, sensitive_features=data.s_train),
                partial(plain.fit, data.X_train, data.y_train),
            ],
            repeats=5,
        )
        report(f"lam = {lam:g}, {fair.n_iter_} iterations", ours, reference, FIT_GOAL)


def paths(data):
    """Time paths of twenty values of lam, for each fairness criterion."""
    print(f"\nlam_path of {len(PATH)} values of lam / one LogisticRegression")
    plain = LogisticRegression(C=np.inf, max_iter=1000)
    for fairness in ["demographic_parity", "equalized_odds", "equal_opportunity"]:
        (ours, reference), _ = least_times(
            [
                partial(
                    lam_path,
                    RenyiClassifier(fairness=fairness),
                    data.X_train,
                    data.y_train,
                    sensitive_features=data.s_train,
                    lams=PATH,
                ),
                partial(plain.fit, data.X_train, data.y_train),
            ],
            repeats=3,
        )
        report(fairness, ours, reference, PATH_GOAL)


def other_problems(data, adult):
    """Time fits with other fairness criteria, more groups, and other penalties."""
    print("\nOther fits / LogisticRegression, tol = 1e-4")
    by_race = adult.encode(sensitive="gender-race", scaling="standard")
    problems = [
        ("equalized odds", RenyiClassifier(10, fairness="equalized_odds"), data),
        ("equal opportunity", RenyiClassifier(10, fairness="equal_opportunity"), data),
        ("gender x race, four groups", RenyiClassifier(10), by_race),
        ("Pearson", PenalizedClassifier(PearsonPenalty(), 10), data),
        ("HSIC, linear", PenalizedClassifier(HSICPenalty("linear"), 10), data),
        ("HSIC, Gaussian", PenalizedClassifier(HSICPenalty(), 10), data),
        ("12 bins of the score", PenalizedClassifier(ScoreBinsPenalty(), 10), data),
    ]
    plain = LogisticRegression(C=np.inf, max_iter=1000)
    for title, fair, d in problems:
        (ours, reference), _ = least_times(
            [
                partial(fair.fit, d.X_train, d.y_train, sensitive_features=d.s_train),
                partial(plain.fit, d.X_train, d.y_train),
            ],
            repeats=3,
        )
        report(f"{title}, lam = 10", ours, reference)


def peers(data):
    """Time a fit of fairlearn's reduction, which gives one point of the trade-off."""
    if find_spec("fairlearn") is None:
        print("\nfairlearn is not installed: its ExponentiatedGradient is not timed")
        return
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    print("\nfairlearn ExponentiatedGradient(DemographicParity) / LogisticRegression")
    plain = LogisticRegression(C=np.inf, max_iter=1000)
    reduction = ExponentiatedGradient(plain, DemographicParity())
    (theirs, reference), _ = least_times(
        [
            partial(reduction.fit, data.X_train, data.y_train, sensitive_features=data.s_train),
            partial(plain.fit, data.X_train, data.y_train),
        ],
        repeats=1,
    )
    report("one point", theirs, reference)


if __name__ == "__main__":
    adult = load_adult()
    encoded = adult.encode(scaling="standard")
    print(f"Adult, {encoded.X_train.shape[0]} x {encoded.X_train.shape[1]}, one thread")
    with threadpool_limits(1):
        single_fits(encoded, tol=1e-4)
        single_fits(encoded, tol=1e-6)
        paths(encoded)
        other_problems(encoded, adult)
        peers(encoded)
