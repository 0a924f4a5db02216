"""Data set for fair learning, from raw tables to the arrays X, y and S."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from renyi_lib.datasets._scaling import make_scaler
from renyi_lib.datasets._sensitive import joint_codes, joint_names


@dataclass(frozen=True, eq=False, repr=False)
class EncodedDataset:
    """Features X, labels y and sensitive attribute S as arrays, for training and for testing.

    Attributes
    ----------
    X_train, X_test : ndarray of float64, or scipy CSR array, of shape (n_samples, n_features)
        Features.
    y_train, y_test : ndarray of int
        Labels, encoded as 1 for the positive label and 0 for the negative one.
    s_train, s_test : ndarray of int
        Group of each row; ``group_names[s]`` is its name.
    feature_names : tuple of str
        Names of the columns of X. ``"workclass=Private"`` is the indicator of a category.
    group_names : tuple of str
        Names of the groups, in the order of their codes.
    weight_train, weight_test : ndarray of float64, or None
        Survey weight of each row, if `FairDataset.weight` names a column.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    s_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    s_test: np.ndarray
    feature_names: tuple
    group_names: tuple
    weight_train: np.ndarray | None = None
    weight_test: np.ndarray | None = None

    def __repr__(self):
        return (
            f"<EncodedDataset: {len(self.y_train)} train and {len(self.y_test)} test rows, "
            f"{len(self.feature_names)} features, groups: {'; '.join(self.group_names)}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class FairDataset:
    """Raw training and test tables, with the information needed to learn fairly from them.

    Attributes
    ----------
    name : str
        Name of the data set.
    train, test : DataFrame
        Rows with UCI's column names; the index is the number of the row in its file, from 0.
    target : str
        Column to predict.
    positive : str or int
        Label that is encoded as y = 1.
    features : tuple of str
        Raw columns that `encode` uses by default.
    sensitive_choices : dict of str to tuple of Grouping
        Available sensitive attributes, by name; the first is the default.
    descriptions : dict of str to str
        Meaning of each column in plain words.
    codes : dict of str to dict
        Meaning of each code, for columns that contain codes.
    doi : str
        DOI of the data set.
    license : str
        License of the data set.
    weight : str, optional
        Column with survey weights, which is not among the default features.

    Notes
    -----
    To work with fewer rows, pass a shorter table to `dataclasses.replace`; `encode` then learns
    categories and scaling from those rows.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from renyi_lib.datasets import load_adult
    >>> adult = load_adult()
    >>> adult
    <FairDataset adult: 32561 train and 16281 test rows, income = '>50K', S: gender, gender-race>
    >>> replace(adult, train=adult.train[:10000]).encode(columns=["age"]).X_train.shape
    (10000, 1)
    """

    name: str
    train: pd.DataFrame
    test: pd.DataFrame
    target: str
    positive: str | int
    features: tuple
    sensitive_choices: dict
    descriptions: dict
    codes: dict
    doi: str
    license: str
    weight: str | None = None

    def __repr__(self):
        return (
            f"<FairDataset {self.name}: {len(self.train)} train and {len(self.test)} test rows, "
            f"{self.target} = {self.positive!r}, S: {', '.join(self.sensitive_choices)}>"
        )

    @property
    def sensitive(self):
        """Raw columns from which the default sensitive attribute is derived."""
        return _columns_of(next(iter(self.sensitive_choices.values())))

    def encode(
        self,
        *,
        sensitive: str | None = None,
        columns: list[str] | None = None,
        scaling: Any = None,
        sparse: bool = False,
    ) -> EncodedDataset:
        """Encode training and test rows as arrays X, y and S.

        Numeric columns come first, followed by an indicator for each category of the other
        columns. Categories and scaling are learned from the training rows only, so a category
        that occurs only in test rows sets none of its column's indicators.

        Parameters
        ----------
        sensitive : str, optional
            One of `sensitive_choices`; by default the first. A column from which S is derived is
            never a feature.
        columns : sequence of str, optional
            Raw columns to use as features; by default, `features` without the columns of S.
        scaling : {None, "standard", "variance", "unit_norm"} or transformer, default=None
            Scaling of the features. ``"standard"`` centers each column of X and divides it by its
            standard deviation, ``"variance"`` only divides, and ``"unit_norm"`` divides by the L2
            norm over the training rows. A scikit-learn transformer is copied and fitted to the
            training rows.
        sparse : bool, default=False
            Whether to return X as a scipy CSR array.

        Returns
        -------
        EncodedDataset
            Encoded arrays.

        Examples
        --------
        >>> from renyi_lib.datasets import load_german
        >>> german = load_german().encode(columns=["Attribute2", "Attribute15"])
        >>> german.feature_names
        ('Attribute2', 'Attribute15=A151', 'Attribute15=A152', 'Attribute15=A153')
        >>> german.X_train[0]
        array([6., 0., 1., 0.])
        """
        groupings = self._choice(sensitive)
        columns = self._feature_columns(columns, groupings)
        scaler = make_scaler(scaling, sparse)
        is_number = pd.api.types.is_numeric_dtype
        numbers = [column for column in columns if is_number(self.train[column])]
        categories = [column for column in columns if column not in numbers]
        one_hot = OneHotEncoder(handle_unknown="ignore", feature_name_combiner=_indicator_name)
        encoder = ColumnTransformer(
            [("numbers", "passthrough", numbers), ("categories", one_hot, categories)],
            verbose_feature_names_out=False,
        ).set_output(transform="default")
        X_train = _as_format(encoder.fit_transform(self.train[columns]), sparse)
        X_test = _as_format(encoder.transform(self.test[columns]), sparse)
        names = encoder.get_feature_names_out()
        X_train = _as_format(scaler.fit_transform(X_train), sparse)
        X_test = _as_format(scaler.transform(X_test), sparse)
        return EncodedDataset(
            X_train=X_train,
            y_train=self._label(self.train),
            s_train=joint_codes(groupings, self.train),
            X_test=X_test,
            y_test=self._label(self.test),
            s_test=joint_codes(groupings, self.test),
            feature_names=_names_after(scaler, names, X_train.shape[1]),
            group_names=joint_names(groupings),
            weight_train=self._weights(self.train),
            weight_test=self._weights(self.test),
        )

    def _label(self, frame):
        return (frame[self.target] == self.positive).to_numpy(dtype=int)

    def _weights(self, frame):
        return None if self.weight is None else frame[self.weight].to_numpy(dtype=float)

    def _choice(self, sensitive):
        if sensitive is None:
            return next(iter(self.sensitive_choices.values()))
        if not isinstance(sensitive, str) or sensitive not in self.sensitive_choices:
            raise ValueError(
                f"sensitive must be one of {', '.join(map(repr, self.sensitive_choices))} "
                f"for {self.name}, not {sensitive!r}"
            )
        return self.sensitive_choices[sensitive]

    def _feature_columns(self, columns, groupings):
        hidden = _columns_of(groupings)
        if columns is None:
            return [column for column in self.features if column not in hidden]
        if isinstance(columns, str):
            raise ValueError(f"columns must be a list of column names, not the string {columns!r}")
        columns = list(columns)
        if not columns or len(set(columns)) < len(columns):
            raise ValueError(
                f"columns must be one or more column names without repetition, not {columns!r}"
            )
        for column in columns:
            if column in hidden:
                raise ValueError(
                    f"columns contains {column!r}, but S is derived from it: leave it out (if a "
                    "model should use S, pass it s_train and s_test)"
                )
            if column == self.target:
                raise ValueError(f"columns contains {column!r}, which is the target: leave it out")
            if column not in self.train.columns:
                raise ValueError(
                    f"columns contains {column!r}, which {self.name} does not have; its columns "
                    f"are {', '.join(self.train.columns)}"
                )
        return columns


def _columns_of(groupings):
    return tuple(grouping.column for grouping in groupings)


def _indicator_name(column, category):
    return f"{column}={category}"


def _as_format(X, as_sparse):
    if as_sparse:
        return sparse.csr_array(X, dtype=np.float64)
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _names_after(scaler, names, width):
    """Return the names of the scaled columns, which are new if the scaler creates new columns."""
    if hasattr(scaler, "get_feature_names_out"):
        names = scaler.get_feature_names_out(names)
    if len(names) != width:
        raise ValueError(
            f"scaling turned {len(names)} columns into {width} without naming them: pass a "
            "transformer that has get_feature_names_out"
        )
    return tuple(map(str, names))
