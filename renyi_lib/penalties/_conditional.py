"""Penalty given the true label, for equalized odds and equality of opportunity."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from renyi_lib._parameters import instance
from renyi_lib.penalties._base import Penalty
from renyi_lib.penalties._groups import Groups, as_groups

__all__ = ["ConditionalPenalty"]


class ConditionalPenalty(Penalty):
    """Sum over labels y of a penalty given Y = y (eq. Min-Max-Fairness_EO).

    The sum over all labels corresponds to equalized odds, and a single label to equality of
    opportunity.

    Parameters
    ----------
    penalty : Penalty
        Penalty to apply given each label.
    values : sequence, default=None
        Labels to sum over; None means all labels that occur.

    See Also
    --------
    RenyiPenalty : Penalize the squared Rényi correlation.

    Notes
    -----
    True labels are passed with the groups, as in ``Groups.from_labels(groups, y=y)``.

    Examples
    --------
    >>> from renyi_lib.penalties import ConditionalPenalty, Groups, RenyiPenalty
    >>> F = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.2, 0.8]]
    >>> groups = Groups.from_labels(["f", "m", "m", "f"], y=[0, 0, 1, 1])
    >>> odds = ConditionalPenalty(RenyiPenalty())
    >>> round(odds.value_and_grad(F, groups)[0], 6)
    0.190476
    >>> opportunity = ConditionalPenalty(RenyiPenalty(), values=[1])
    >>> opportunity.value_and_grad(F, groups)[0] < 1e-30
    True
    """

    _constraints: ClassVar = {"penalty": instance(Penalty, "a Penalty, such as RenyiPenalty()")}

    def __init__(self, penalty: Penalty, values: Sequence | None = None):
        self.penalty = penalty
        self.values = values

    @property
    def depends_on_table(self) -> bool:
        """Whether the penalty that is summed depends only on joint tables."""
        return self.penalty.depends_on_table

    def conditions(self, groups: Groups) -> list[Groups]:
        """Return the groups conditional on each of the labels."""
        values = groups.true_labels() if self.values is None else self.values
        if len(values) == 0:
            raise ValueError("values is empty: name a label, or pass None for all labels")
        return [groups.given_label(value) for value in values]

    def terms(self, F, groups):
        conditions = self.conditions(as_groups(groups))
        return [term for given in conditions for term in self.penalty.terms(F, given)]

    def best_response(self, F, groups):
        """Stack the best responses given each true label, or return None without an adversary."""
        conditions = self.conditions(as_groups(groups))
        responses = [self.penalty.best_response(F, given) for given in conditions]
        return None if responses[0] is None else np.stack(responses)

    def residual_gradients(self, F, groups):
        """Return the gradients of the residuals given each of the labels."""
        conditions = self.conditions(as_groups(groups))
        return (r for given in conditions for r in self.penalty.residual_gradients(F, given))

    def residual_rows(self, F, groups, slopes_of):
        """Return the gradients with respect to theta of the residuals given each label."""
        conditions = self.conditions(as_groups(groups))
        rows = [self.penalty.residual_rows(F, given, slopes_of) for given in conditions]
        return None if rows[0] is None else np.concatenate(rows)

    def has_kinks(self, n_classes, n_groups):
        """Return whether the penalty that is summed may have kinks."""
        return self.penalty.has_kinks(n_classes, n_groups)

    def smoothed(self, mu):
        """Return the sum of the smoothed penalties."""
        return ConditionalPenalty(self.penalty.smoothed(mu), self.values)
