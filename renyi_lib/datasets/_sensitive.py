"""The sensitive attribute S: how raw columns become groups 0 … m-1."""

from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class Grouping:
    """How the values of one raw column fall into groups.

    Parameters
    ----------
    column : str
        The raw column.
    groups : dict of str to value
        Name of each group, in the order of its code, and the one value that it stands for. At most
        one group may have None: it takes all other values.

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
        """The group of each row of `frame`, as an integer.

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
                f"the groups {', '.join(names)}: add it to one of them"
            )
        return codes


def joint_codes(groupings, frame):
    """One group for each row and combination of several groupings, the last varying fastest.

    With two binary attributes the codes 0, 1, 2, 3 are the pairs (0, 0), (0, 1), (1, 0), (1, 1):
    the paper's remark on several sensitive attributes, where they become one attribute with four
    values.

    Parameters
    ----------
    groupings : sequence of Grouping
    frame : DataFrame

    Returns
    -------
    ndarray of int
    """
    sizes = [len(grouping.groups) for grouping in groupings]
    return np.ravel_multi_index([grouping.codes(frame) for grouping in groupings], sizes)


def joint_names(groupings):
    """The name of each group of `joint_codes`, in the order of the codes.

    Examples
    --------
    >>> joint_names([Grouping("sex", {"Female": "F", "Male": "M"}), Grouping("race", {"W": "W"})])
    ('Female, W', 'Male, W')
    """
    return tuple(", ".join(names) for names in product(*(g.groups for g in groupings)))
