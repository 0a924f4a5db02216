"""Group of each sample, encoded and counted once."""

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

# A class with less mass than this is treated as empty and adds 0 to every penalty. The limit is
# far below the contribution of any sample of positive weight, so other results do not change.
EMPTY = 1e-290


@dataclass(frozen=True, eq=False)
class Groups:
    """Group S of each sample, encoded and counted once.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Code of each sample's group, 0 … d-1.
    categories : ndarray of shape (d,)
        Label of each group.
    weight : float or ndarray of shape (n,)
        Probability of each sample; a number if all samples are equally likely.
    q : ndarray of shape (d,)
        Group probabilities P(S = j), all positive.
    y : ndarray of int, shape (n,), or None
        Code of each sample's true label, for conditional penalties.
    labels : ndarray or None
        True labels that the codes in `y` stand for.

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
        """Encode and count groups given by labels of any type.

        Parameters
        ----------
        labels : array-like of shape (n,) or (n, k), Series or DataFrame
            Group of each sample; several columns define joint groups.
        sample_weight : array-like of shape (n,), optional
            Nonnegative weights, not all zero.
        y : array-like of shape (n,), optional
            True labels, required only for a `ConditionalPenalty`.
        name : str, default="groups"
            Name of the argument in error messages.

        Returns
        -------
        Groups
            Encoded groups.
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
        """Count groups that are already encoded; `weight` contains probabilities that sum to 1."""
        each = 1.0 / len(codes) if weight is None else weight
        return cls._counted(codes, categories, each, "of positive weight", y, labels)

    def true_labels(self) -> list:
        """Return the true labels that occur."""
        if self.y is None or self.labels is None:
            raise ValueError(
                "the groups have no true labels to condition on: create them with "
                "Groups.from_labels(groups, y=y)"
            )
        occurring = np.bincount(self.y, minlength=len(self.labels)) > 0
        return self.labels[occurring].tolist()

    def given_label(self, value: Any) -> "Groups":
        """Return the groups of the samples with the true label `value`; the result is cached."""
        if value not in self._given_label:
            if value not in self.true_labels():
                raise ValueError(
                    f"values contains the label {value!r}, which does not occur in y: remove it"
                )
            code = np.flatnonzero([label == value for label in np.asarray(self.labels).tolist()])
            self._given_label[value] = self.given(self.y == code[0], value)
        return self._given_label[value]

    def given(self, mask: np.ndarray, label: Any = True) -> "Groups":
        """Return the groups under the conditional distribution given that `mask` is true.

        `label` names the condition in the error message if a group has no sample in the mask.
        """
        weight = mask * self.weight
        weight = weight / max(weight.sum(), EMPTY)
        return self._counted(
            self.codes, self.categories, weight, f"with the label {label!r} and positive weight"
        )

    @classmethod
    def _counted(cls, codes, categories, weight, condition, y=None, labels=None):
        weights = np.broadcast_to(weight, codes.shape)
        q = np.bincount(codes, weights=weights, minlength=len(categories))
        if not q.all():
            raise ValueError(
                f"group {categories.tolist()[q.argmin()]!r} has no sample {condition}, so its "
                "conditional distribution is unknown: merge it with another group, or drop it"
            )
        return cls(codes, categories, weight, q, y, labels)

    def table(self, F: ArrayLike) -> np.ndarray:
        """Compute T[i, j] = P(Ŷ = i, S = j), sums of weight * F by group, in one pass over F."""
        F = self._of_shape(F)
        d = len(self.q)
        T = np.array([np.bincount(self.codes, column * self.weight, d) for column in F.T])
        _check_finite(T)
        return T

    def checked(self, F: ArrayLike) -> np.ndarray:
        """Return F as floats, after checking that it is finite and has a row for each sample."""
        F = self._of_shape(F)
        _check_finite(F)
        return F

    def _of_shape(self, F) -> np.ndarray:
        F = np.asarray(F, dtype=float)
        if F.ndim != 2 or len(F) != len(self.codes):
            raise ValueError(
                f"F must have a row for each of the {len(self.codes)} samples and a column for "
                f"each class, but it has shape {F.shape}"
            )
        return F

    def spread(self, dT: np.ndarray) -> np.ndarray:
        """Compute dvalue/dF from dvalue/dT, by the transpose of `table`."""
        return (np.take(dT, self.codes, axis=1) * self.weight).T


def _check_finite(values):
    if not np.isfinite(values).all():
        raise ValueError("F has missing or infinite values: each entry must be a probability")


def as_groups(groups: Any) -> Groups:
    """Return `groups` unchanged if they are `Groups`; otherwise encode and count the labels."""
    return groups if isinstance(groups, Groups) else Groups.from_labels(groups)
