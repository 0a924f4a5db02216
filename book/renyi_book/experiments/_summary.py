"""Means over seeds with an interval, and curves read at a given fairness."""

import numpy as np
import pandas as pd
from scipy.stats import t as student


def interval(values, *, test_share=0.0, level=0.95):
    """Mean of the values and its confidence interval, for independent seeds or random splits.

    Student's interval. Random splits of one data set share most of their rows, so that their
    results are not independent; with ``test_share = n_test / n_train`` the variance is enlarged
    as Nadeau and Bengio propose, by the factor ``1 + n * test_share`` for n splits.

    Parameters
    ----------
    values : array-like of shape (n,)
        Two or more; NaN is not allowed.
    test_share : float, default=0
        0 for seeds that start an algorithm anew on the same data. For what is measured on the
        *training* rows, which the splits share even more, it is n_train / n_test.
    level : float, default=0.95

    Returns
    -------
    Series
        ``mean, low, high``.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003),
    239-281, doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> from renyi_book.experiments import interval
    >>> interval([1, 2, 3]).round(2).tolist()
    [2.0, -0.48, 4.48]
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError("values must be two or more finite numbers, one for each seed")
    n = len(values)
    error = values.std(ddof=1) * np.sqrt(1 / n + test_share)
    half = student.ppf((1 + level) / 2, n - 1) * error
    return pd.Series(
        {"mean": values.mean(), "low": values.mean() - half, "high": values.mean() + half}
    )


def summarize(table, by, values, *, test_share=0.0, level=0.95):
    """`interval` of some columns for each group of rows.

    Parameters
    ----------
    table : DataFrame
    by : list of str
        What tells the groups apart; within a group there is a row for each seed.
    values : list of str
        Columns to summarize.
    test_share, level
        As in `interval`.

    Returns
    -------
    DataFrame
        Indexed by `by`, with columns (value, "mean" | "low" | "high").

    Examples
    --------
    >>> import pandas as pd
    >>> from renyi_book.experiments import summarize
    >>> table = pd.DataFrame({"lam": [0, 0, 1, 1], "accuracy": [0.8, 0.9, 0.7, 0.7]})
    >>> summarize(table, ["lam"], ["accuracy"])["accuracy"]["mean"].round(3).tolist()
    [0.85, 0.7]
    """
    found = {
        key: pd.concat(
            {value: interval(rows[value], test_share=test_share, level=level) for value in values}
        )
        for key, rows in table.groupby(by, sort=False, dropna=False)
    }
    summary = pd.DataFrame(found).T
    summary.index = summary.index.set_names(by) if len(by) > 1 else summary.index
    if len(by) == 1:
        summary.index = pd.Index([key[0] for key in found], name=by[0])
    return summary


def best_at(table, fairness, level, *, value="accuracy", greater_is_fairer=True):
    """The best value among the points of a curve that are at least so fair; NaN if none is.

    Parameters
    ----------
    table : DataFrame
        The points of one curve.
    fairness : str
        Column that says how fair a point is.
    level : float
    value : str, default="accuracy"
    greater_is_fairer : bool, default=True

    Returns
    -------
    float

    Examples
    --------
    >>> import pandas as pd
    >>> from renyi_book.experiments import best_at
    >>> curve = pd.DataFrame({"p_rule": [0.3, 0.6, 0.9], "accuracy": [0.85, 0.84, 0.83]})
    >>> best_at(curve, "p_rule", 0.5)
    0.84
    """
    fair = table[fairness] >= level if greater_is_fairer else table[fairness] <= level
    return float(table.loc[fair, value].max()) if fair.any() else np.nan
