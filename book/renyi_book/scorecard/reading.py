"""Read the stored tables for the rules, with random splits of new seeds or the paper's split.

A curve can be read in two ways. `Curve.interpolated` follows it over the test rows to a given
level of fairness, and `Curve.chosen` chooses lambda on the validation rows and measures on the
test rows.
"""

from collections.abc import Mapping

import numpy as np

from renyi_book.scorecard.judging import NoResult
from renyi_book.scorecard.statistics import log_ratio, training_ratio

#: First seed whose results were not seen before the rules were written.
FIRST_FRESH = 100
#: Numbers of training rows (80 % of the paper's), validation rows and test rows in random splits.
SIZES = {
    "adult": (26048, 6513, 16281),
    "bank": (25600, 6400, 13211),
    "german": (640, 160, 200),
}
#: Columns of every table of classifiers.
MEASURES = ("accuracy", "p_rule", "dp_violation", "eo_violation")
#: Panels of Fig. 2: stored table, data set, fairness measure, number of groups.
PANELS = {
    "adult": ("penalties_adult", "adult", "p_rule", 2),
    "bank": ("penalties_bank", "bank", "p_rule", 2),
    "german": ("penalties_german", "german", "dp_violation", 4),
    "gender-race": ("penalties_adult_gender_race", "adult", "dp_violation", 4),
}
#: Tables of penalties that treat the group's number as a quantity.
NUMBERED = {"german": "numbered_german", "gender-race": "numbered_adult_gender_race"}
#: Tables of Zafar's method, which bounds the covariance of S and the distance to the boundary.
BOUNDARY = {"adult": "boundary_covariance", "bank": "boundary_covariance_bank"}


def ratio(dataset, rows="test"):
    """Return the correction for overlapping splits; on training rows it is our own heuristic.

    Examples
    --------
    >>> from renyi_book.scorecard.reading import ratio
    >>> round(ratio("adult"), 3), round(ratio("adult", "train"), 3)
    (0.625, 1.143)
    """
    train, validation, test = SIZES[dataset]
    return test / train if rows == "test" else training_ratio(train, train + validation + test)


class Results:
    """Stored tables by name, each read once; a missing one raises `NoResult`.

    Parameters
    ----------
    source : mapping or callable
        Mapping or function from a name to a DataFrame.
    """

    def __init__(self, source):
        self._get = source.__getitem__ if isinstance(source, Mapping) else source
        self._tables, self._curves = {}, {}

    def table(self, name, columns=()):
        """Return a table, or raise `NoResult` if it lacks any of the columns."""
        if name not in self._tables:
            try:
                self._tables[name] = self._get(name)
            except (KeyError, ValueError, RuntimeError, OSError) as problem:
                raise NoResult(f"no table {name!r}: {problem}") from problem
        table = self._tables[name]
        missing = [column for column in columns if column not in table]
        if missing:
            raise NoResult(f"table {name!r} has no column {', '.join(missing)}")
        return table

    def fresh(self, name, columns=(), **where):
        """Return the rows with new seeds and the given values in some columns."""
        table = self.table(name, ["seed", *where, *columns])
        rows = table["seed"] >= FIRST_FRESH
        for column, value in where.items():
            rows &= table[column] == value
        return self._some(table[rows], name, where)

    def paper(self, name, columns=(), **where):
        """Return the rows of the paper's own split with the given values in some columns."""
        table = self.table(name, ["split", *where, *columns])
        rows = table["split"] == "paper"
        for column, value in where.items():
            rows &= table[column] == value
        return self._some(table[rows], name, where)

    def _some(self, table, name, where):
        if table.empty:
            raise NoResult(
                f"table {name!r} has no rows yet with {where} and the required seeds or split"
            )
        return table

    def curves(self, name, by="method", **where):
        """Return the curves of the random splits as {value of `by`: {seed: Curve}}."""
        key = (name, by, tuple(sorted(where.items())))
        if key not in self._curves:
            table = self.fresh(name, [by, "rows", *MEASURES], split="random", **where)
            order = [column for column in ("lam", "c", "l2") if column in table]
            # A smaller bound c is stricter.
            rising = [column != "c" for column in order]
            found = {}
            for point in table.sort_values(order, ascending=rising).to_dict("records"):
                curve = found.setdefault(point[by], {}).setdefault(point["seed"], Curve())
                curve.add(point)
            self._curves[key] = found
        return self._curves[key]

    def curve(self, name, kind, by="method", **where):
        """Return the curves with the value `kind` of `by`, as {seed: Curve}."""
        curves = self.curves(name, by, **where)
        if kind not in curves:
            raise NoResult(f"table {name!r} has no {by} {kind!r} yet")
        return curves[kind]


class Curve:
    """Points of one method on one split, from weak to strict settings, for each set of rows."""

    def __init__(self):
        self._points = {}

    def add(self, point):
        """Append a point."""
        self._points.setdefault(point["rows"], []).append(point)

    def on(self, rows):
        """Return the points measured on one set of rows, as dictionaries."""
        if rows not in self._points:
            raise NoResult(f"the curve has no points on {rows!r} rows")
        return self._points[rows]

    def ends(self, rows):
        """Return the points at the weakest and at the strictest setting."""
        points = self.on(rows)
        return points[0], points[-1]

    def starts_at(self, fairness, level, rows="test"):
        """Return whether the curve already reaches the level at its first point."""
        first = self.on(rows)[0][fairness]
        return first >= level if greater(fairness) else first <= level

    def _column(self, rows, column):
        return np.array([point[column] for point in self.on(rows)], dtype=float)

    def chosen(self, fairness, level, rows="test"):
        """Choose a point on the validation rows; also return whether it is fair enough there.

        The chosen point is the most accurate one that is fair enough or, if there is none, the
        fairest one. It is returned as measured on `rows`.
        """
        judged = self._column("validation", fairness)
        fair = judged >= level if greater(fairness) else judged <= level
        if fair.any():
            accuracy = np.where(fair, self._column("validation", "accuracy"), -np.inf)
            return self.on(rows)[int(accuracy.argmax())], True
        return self.fairest(fairness, rows), False

    def fairest(self, fairness, rows="test"):
        """Return the point that is fairest on the validation rows, as measured on `rows`."""
        judged = self._column("validation", fairness) * (1 if greater(fairness) else -1)
        return self.on(rows)[int(np.nan_to_num(judged, nan=-np.inf).argmax())]

    def interpolated(self, fairness, level, rows="test"):
        """Return the accuracy where the curve first reaches the level; NaN if it never does."""
        sign = 1 if greater(fairness) else -1
        path = sign * self._column(rows, fairness)
        return first_crossing(path, self._column(rows, "accuracy"), sign * level)


def greater(fairness):
    """Return whether greater values of a measure are fairer."""
    return fairness == "p_rule"


def first_crossing(x, y, level):
    """Interpolate y where x first reaches a level; NaN if it never does.

    Examples
    --------
    >>> from renyi_book.scorecard.reading import first_crossing
    >>> float(first_crossing([0.3, 0.7, 0.9, 0.6], [4.0, 3.0, 2.0, 1.0], 0.8))
    2.5
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    above = np.flatnonzero(x >= level)
    if not len(above):
        return np.nan
    k = above[0]
    if k == 0:
        return y[0]
    part = (level - x[k - 1]) / (x[k] - x[k - 1])
    return y[k - 1] + part * (y[k] - y[k - 1])


def common(*curves):
    """Return the sorted seeds in all {seed: Curve}; raise `NoResult` if there are fewer than 2."""
    seeds = sorted(set.intersection(*(set(curve) for curve in curves)))
    if len(seeds) < 2:
        raise NoResult(f"at least two common splits are needed, but there are {len(seeds)}")
    return seeds


def signed_log_ratio(points):
    """Compute log(rate of group 1 / rate of group 0), for points or tables of points."""
    return _of(points, ["rate_1", "n_1", "rate_0", "n_0"], log_ratio)


def signed_gap(points):
    """Compute the TPR of group 1 minus the TPR of group 0."""
    return _of(points, ["tpr_1", "tpr_0"], lambda first, second: first - second)


def rates(points, groups):
    """Return the positive rates by group as a list."""
    return _of(points, [f"rate_{g}" for g in range(groups)], lambda *values: list(values))


def _of(points, columns, function):
    missing = [column for column in columns if column not in points]
    if missing:
        raise NoResult(f"the points have no column {', '.join(missing)}")
    return function(*(points[column] for column in columns))
