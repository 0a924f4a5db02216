"""The group of each sample, coded and counted once."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from renyi_lib._validation import (
    check_same_length,
    check_several_groups,
    encode_labels,
    sample_weights,
)

__all__ = ["EMPTY", "Groups", "as_groups"]

# Below this mass a class is taken as empty: it adds 0 to every penalty. Far below any sum that a
# sample of positive weight contributes to, so that no other result changes.
EMPTY = 1e-290


@dataclass(frozen=True, eq=False)
class Groups:
    """The group S of each sample, coded and counted once.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        The group of each sample, 0 … d-1.
    categories : ndarray of shape (d,)
        What the caller calls the groups.
    weight : float or ndarray of shape (n,)
        The probability of each sample; a number if all are equally likely.
    q : ndarray of shape (d,)
        P(S = j), all positive.
    y : ndarray of int, shape (n,), or None
        The true label of each sample, coded, for penalties that are conditional on it.
    labels : ndarray, or None
        What the caller calls the true labels.

    Examples
    --------
    >>> from renyi_lib.penalties import Groups
    >>> groups = Groups.from_labels(["f", "m", "m", "f"])
    >>> groups.table([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]])
    array([[0.3, 0.2],
           [0.2, 0.3]])
    """

    codes: np.ndarray
    categories: np.ndarray
    weight: float | np.ndarray
    q: np.ndarray
    y: np.ndarray | None = None
    labels: np.ndarray | None = None
    _given_label: dict = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        sample_weight: ArrayLike | None = None,
        *,
        y: Any = None,
        name: str = "groups",
    ) -> "Groups":
        """Labels of any kind; several columns, as in a DataFrame, become one joint group.

        The true labels `y` are needed for a `ConditionalPenalty` only.
        """
        codes, categories = encode_labels(labels, name)
        check_several_groups(categories, len(codes), name)
        weight = None
        if sample_weight is not None:
            weight = sample_weights(sample_weight)
            check_same_length(**{name: codes, "sample_weight": weight})
            weight = weight / weight.sum()
        truth = true_labels = None
        if y is not None:
            truth, true_labels = encode_labels(y, "y")
            check_same_length(**{name: codes, "y": truth})
        return cls.from_codes(codes, categories, weight, truth, true_labels)

    @classmethod
    def from_codes(
        cls,
        codes: np.ndarray,
        categories: np.ndarray,
        weight: np.ndarray | None = None,
        y: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> "Groups":
        """Labels that are coded already, and probabilities of the samples that sum to 1."""
        each = 1.0 / len(codes) if weight is None else weight
        return cls._counted(codes, categories, each, "of positive weight", y, labels)

    def true_labels(self) -> list:
        """The true labels that occur."""
        if self.y is None or self.labels is None:
            raise ValueError(
                "the groups have no true labels to condition on: make them by "
                "Groups.from_labels(groups, y=y)"
            )
        occurring = np.bincount(self.y, minlength=len(self.labels)) > 0
        return self.labels[occurring].tolist()

    def given_label(self, value: Any) -> "Groups":
        """The same groups among the samples whose true label is `value`, counted once."""
        if value not in self._given_label:
            if value not in self.true_labels():
                raise ValueError(f"values has the label {value!r}, which does not occur in y")
            code = np.flatnonzero([label == value for label in np.asarray(self.labels).tolist()])
            self._given_label[value] = self.given(self.y == code[0], value)
        return self._given_label[value]

    def given(self, mask: np.ndarray, label: Any = True) -> "Groups":
        """The same groups under the conditional distribution given that `mask` is true.

        `label` is what the error calls the condition if a group has no sample in it.
        """
        weight = mask * self.weight
        weight = weight / max(weight.sum(), EMPTY)
        return self._counted(self.codes, self.categories, weight, f"with the label {label!r}")

    @classmethod
    def _counted(cls, codes, categories, weight, condition, y=None, labels=None):
        weights = np.broadcast_to(weight, codes.shape)
        q = np.bincount(codes, weights=weights, minlength=len(categories))
        if not q.all():
            raise ValueError(
                f"group {categories.tolist()[q.argmin()]!r} has no sample {condition}, so that "
                "its distribution there is not known: merge it with another group or leave it out"
            )
        return cls(codes, categories, weight, q, y, labels)

    def table(self, F: ArrayLike) -> np.ndarray:
        """T[i, j] = P(Ŷ = i, S = j), the average of F by group: one pass over F."""
        F = self._of_shape(F)
        d = len(self.q)
        T = np.array([np.bincount(self.codes, column * self.weight, d) for column in F.T])
        _check_finite(T)
        return T

    def checked(self, F: ArrayLike) -> np.ndarray:
        """F as an array, if it has a row for each sample and is finite."""
        F = self._of_shape(F)
        _check_finite(F)
        return F

    def _of_shape(self, F) -> np.ndarray:
        F = np.asarray(F, dtype=float)
        if F.ndim != 2 or len(F) != len(self.codes):
            raise ValueError(
                f"F must have a row for each of the {len(self.codes)} samples and a column for "
                f"each class, got shape {F.shape}"
            )
        return F

    def spread(self, dT: np.ndarray) -> np.ndarray:
        """dvalue/dF from dvalue/dT, the transpose of `table`."""
        return (np.take(dT, self.codes, axis=1) * self.weight).T


def _check_finite(values):
    if not np.isfinite(values).all():
        raise ValueError("F has missing or infinite values: each entry must be a probability")


def as_groups(groups: Any) -> Groups:
    """Groups as they are, labels counted."""
    return groups if isinstance(groups, Groups) else Groups.from_labels(groups)
