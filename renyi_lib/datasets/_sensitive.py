"""Sensitive attribute S, with the rules that map raw columns to groups 0 … m-1."""

from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class Grouping:
    """Rule that assigns the values of one raw column to groups.

    Parameters
    ----------
    column : str
        Name of the raw column.
    groups : dict of str to value
        Name of each group, in the order of the codes, and the value that belongs to it. At most
        one group may have the value None, which stands for all other values.

    Examples
    --------
    >>> import pandas as pd
    >>> married = Grouping("marital", {"not married": None, "married": "married"})
    >>> married.codes(pd.DataFrame({"marital": ["single", "married", "divorced"]}))
    array([0, 1, 0])
    """

    column: str
    groups: dict

    def codes(self, frame):
        """Return the group of each row of `frame` as an integer.

        Raises
        ------
        ValueError
            If a value belongs to no group.
        """
        values = frame[self.column].to_numpy(dtype=object)
        names = list(self.groups)
        rest = [code for code, value in enumerate(self.groups.values()) if value is None]
        codes = np.full(len(values), rest[0] if rest else -1)
        for code, name in enumerate(names):
            if self.groups[name] is not None:
                codes[values == self.groups[name]] = code
        if (codes < 0).any():
            stranger = values[codes < 0][0]
            raise ValueError(
                f"column {self.column!r} has the value {stranger!r}, which belongs to none of "
                f"the groups {', '.join(names)}: add a group for it, or one with the value None "
                "for all other values"
            )
        return codes


def joint_codes(groupings, frame):
    """Return a joint code of several groupings for each row; the last grouping varies fastest.

    With two binary attributes, the codes 0, 1, 2, 3 stand for the pairs (0, 0), (0, 1), (1, 0),
    (1, 1). This follows the paper's remark that several sensitive attributes can be combined into
    one attribute, here with four values.

    Parameters
    ----------
    groupings : sequence of Grouping
        Rules to combine.
    frame : DataFrame
        Raw rows.

    Returns
    -------
    ndarray of int
        Joint code of each row.
    """
    sizes = [len(grouping.groups) for grouping in groupings]
    return np.ravel_multi_index([grouping.codes(frame) for grouping in groupings], sizes)


def joint_names(groupings):
    """Return the name of each group of `joint_codes`, in the order of the codes.

    Examples
    --------
    >>> joint_names([Grouping("sex", {"Female": "F", "Male": "M"}), Grouping("race", {"W": "W"})])
    ('Female, W', 'Male, W')
    """
    return tuple(", ".join(names) for names in product(*(g.groups for g in groupings)))
