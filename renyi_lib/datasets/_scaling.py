"""Scalings of the features as scikit-learn transformers that are fitted to the training rows."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data


class UnitNormScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide each column by its L2 norm over the training rows.

    This is the scaling of the paper's k-means experiment, so its lambda refers to columns of unit
    norm. A column of zeros is not changed.

    Attributes
    ----------
    norm_ : ndarray of shape (n_features,)
        Divisor of each column.

    Examples
    --------
    >>> UnitNormScaler().fit_transform([[3.0, 0.0], [4.0, 0.0]])
    array([[0.6, 0. ],
           [0.8, 0. ]])
    """

    def fit(self, X, y=None):
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        squares = X.multiply(X) if sparse.issparse(X) else X * X
        norm = np.sqrt(np.asarray(squares.sum(axis=0)).ravel())
        self.norm_ = np.where(norm > 0, norm, 1.0)
        return self

    def transform(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X @ sparse.diags_array(1 / self.norm_) if sparse.issparse(X) else X / self.norm_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


_NAMED = {
    None: FunctionTransformer(feature_names_out="one-to-one", accept_sparse=True),
    "standard": StandardScaler(),
    "variance": StandardScaler(with_mean=False),
    "unit_norm": UnitNormScaler(),
}


def make_scaler(scaling, sparse_output):
    """Create an unfitted transformer from the argument `scaling` of `FairDataset.encode`.

    Parameters
    ----------
    scaling : None, str or scikit-learn transformer
        Name of a scaling, or a transformer, which is copied so that the original is not modified.
    sparse_output : bool
        Whether the features are sparse, which rules out ``"standard"``.

    Returns
    -------
    transformer
        Unfitted transformer.

    Examples
    --------
    >>> make_scaler("variance", sparse_output=True)
    StandardScaler(with_mean=False)
    """
    if scaling == "standard" and sparse_output:
        raise ValueError(
            'scaling="standard" would turn zeros into nonzeros, so X could not be sparse: '
            'use scaling="variance", which only divides, or sparse=False'
        )
    if scaling is None or isinstance(scaling, str):
        if scaling not in _NAMED:
            raise ValueError(
                f"scaling must be {', '.join(map(repr, _NAMED))} or a scikit-learn transformer, "
                f"not {scaling!r}"
            )
        return clone(_NAMED[scaling])
    if isinstance(scaling, type) or not (
        hasattr(scaling, "fit") and hasattr(scaling, "transform")
    ):
        raise ValueError(
            "scaling must be a name or an instance of a scikit-learn transformer "
            f"(with fit and transform), not {scaling!r}"
        )
    return clone(scaling)
