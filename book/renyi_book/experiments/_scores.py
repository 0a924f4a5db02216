"""Adult's test scores as counts, from which a page can evaluate thresholds."""

import numpy as np
import pandas as pd

from renyi_lib.boosting import RenyiBoostingClassifier
from renyi_lib.classification import PenalizedClassifier
from renyi_lib.datasets import load_adult
from renyi_lib.penalties import RenyiPenalty, ScoreBinsPenalty
from renyi_lib.tuning import lam_path

# Estimator for each target of the penalty, with the tolerances of the chapter on fair scores.
SCORED = {
    "label": PenalizedClassifier(RenyiPenalty(), tol=1e-6),
    "bins": PenalizedClassifier(ScoreBinsPenalty(), tol=1e-5),
    "boosting": RenyiBoostingClassifier(on="score", n_jobs=1, random_state=0),
}
LAMS = (0, 0.3, 1, 2, 3, 4.5, 5, 6, 7, 8, 10, 14, 20, 30, 50, 100)


def adult_scores(*, lams=LAMS, methods=tuple(SCORED), steps=100):
    """Count the test rows of each group and label with a score above each threshold.

    Parameters
    ----------
    lams : sequence of float
        Weights of the penalty in increasing order; each fit starts from the previous one.
    methods : sequence of {"label", "bins", "boosting"}
        Targets of the penalty. "label" is the sampled label of a logistic regression, "bins" are
        the soft bins of its score, and "boosting" are the bins of the score of boosted trees.
    steps : int, default=100
        Number of steps; the thresholds are 0, 1 / steps, 2 / steps, ..., 1.

    Returns
    -------
    DataFrame
        Columns ``method, lam, threshold`` and ``above_sy``, the number of people of group s (1 for
        men) with the label y whose score is greater than the threshold.

    Examples
    --------
    >>> from renyi_book.experiments import adult_scores
    >>> table = adult_scores(lams=[0], methods=["label"], steps=2)
    >>> table.filter(like="above").iloc[0].tolist()  # all test people
    [4831, 590, 7604, 3256]
    """
    data = load_adult().encode(sensitive="gender", scaling="standard")
    cell = 2 * data.s_test + data.y_test
    thresholds = np.arange(steps + 1) / steps
    found = []
    for method in methods:
        fits = lam_path(
            SCORED[method],
            data.X_train,
            data.y_train,
            sensitive_features=data.s_train,
            lams=lams,
        )
        for lam, fit in zip(lams, fits):
            score = fit.predict_proba(data.X_test)[:, 1]
            above = [np.bincount(cell[score > t], minlength=4) for t in thresholds]
            columns = pd.DataFrame(above, columns=[f"above_{s}{y}" for s in "01" for y in "01"])
            columns.insert(0, "threshold", thresholds)
            columns.insert(0, "lam", float(lam))
            columns.insert(0, "method", method)
            found.append(columns)
    return pd.concat(found, ignore_index=True)
