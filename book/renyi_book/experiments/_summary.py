"""Means over seeds with intervals, and curves read at a given level of fairness."""

import numpy as np
import pandas as pd
from scipy.stats import t as student


def interval(values, *, test_share=0.0, level=0.95):
    """Compute the mean and its confidence interval for independent seeds or random splits.

    This is Student's interval. Random splits of one data set share most of their rows, so their
    results are not independent. With ``test_share = n_test / n_train``, the variance is enlarged
    as Nadeau and Bengio propose, by the factor ``1 + n * test_share`` for n splits.

    Parameters
    ----------
    values : array-like of shape (n,)
        Two or more values without NaN.
    test_share : float, default=0
        Ratio n_test / n_train, or 0 for seeds that restart an algorithm on the same data. For
        measurements on the *training* rows, of which any two splits share even more, use
        n_train / (n_total - n_train).
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    Series
        Entries ``mean, low, high``.

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
        raise ValueError(f"values must be two or more finite numbers, not {values!r}")
    n = len(values)
    error = values.std(ddof=1) * np.sqrt(1 / n + test_share)
    half = student.ppf((1 + level) / 2, n - 1) * error
    return pd.Series(
        {"mean": values.mean(), "low": values.mean() - half, "high": values.mean() + half}
    )


def summarize(table, by, values, *, test_share=0.0, level=0.95):
    """Compute `interval` of some columns for each group of rows.

    Parameters
    ----------
    table : DataFrame
        Table to summarize.
    by : list of str
        Columns that define the groups; a group has one row for each seed.
    values : list of str
        Columns to summarize.
    test_share, level
        Same as in `interval`.

    Returns
    -------
    DataFrame
        Table indexed by `by`, with columns (value, "mean" | "low" | "high").

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
    """Return the best value among the points of a curve that are fair enough; NaN if none is.

    Parameters
    ----------
    table : DataFrame
        Points of one curve.
    fairness : str
        Column that measures the fairness of a point.
    level : float
        Required fairness.
    value : str, default="accuracy"
        Column to maximize.
    greater_is_fairer : bool, default=True
        Whether greater values of `fairness` are fairer.

    Returns
    -------
    float
        Best value.

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
