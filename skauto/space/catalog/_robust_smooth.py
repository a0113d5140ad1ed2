"""Robust scaling with a smooth clip."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.sparsefuncs import inplace_column_scale, min_max_axis
from sklearn.utils.validation import check_is_fitted, validate_data

# Scaled values are between -3 and 3.
_BOUND = 3.0


class RobustSmoothScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Robust scaling by median and quartiles, followed by a smooth clip.

    A value x becomes ``z / sqrt(1 + (z / 3) ** 2)`` with z = (x - median) / (interquartile range)
    [1]_. If the interquartile range is 0, half the range replaces it. A constant column becomes
    zero. Sparse columns are not centered, but divided by their maximum absolute value.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,) or None
        Medians; None if the training data were sparse.
    scale_ : ndarray of shape (n_features,)
        Factors by which the centered columns are multiplied.
    n_features_in_ : int
        Number of columns.

    References
    ----------
    .. [1] D. Holzmueller, L. Grinsztajn, I. Steinwart, "Better by default: strong pre-tuned MLPs
       and boosted trees on tabular data", NeurIPS 2024.

    Examples
    --------
    >>> from skauto.space.catalog import RobustSmoothScaler
    >>> column = [[0.0], [1.0], [2.0], [3.0], [1000.0]]
    >>> RobustSmoothScaler().fit_transform(column).ravel().round(2).tolist()
    [-0.95, -0.49, 0.0, 0.49, 3.0]
    """

    def fit(self, X: Any, y: Any = None) -> "RobustSmoothScaler":
        """Compute medians and quartiles; NaN is ignored."""
        X = self._validated(X, reset=True)
        if sparse.issparse(X):
            self.center_ = None
            low, high = min_max_axis(X, axis=0, ignore_nan=True)
            self.scale_ = _inverse(np.maximum(np.abs(low), np.abs(high)))
            return self
        low, first, median, third, high = np.nanquantile(X, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0)
        self.center_ = median
        self.scale_ = _inverse(np.where(third > first, third - first, (high - low) / 2.0))
        return self

    def transform(self, X: Any) -> Any:
        """Scale and clip the columns to values between -3 and 3."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        is_sparse = sparse.issparse(X)  # no type narrowing
        if is_sparse:
            X = X.copy()
            inplace_column_scale(X, self.scale_)
            X.data = _clip_smoothly(X.data)
            return X
        center = 0.0 if self.center_ is None else self.center_
        return _clip_smoothly((X - center) * self.scale_)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
            reset=reset,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _inverse(distances: Any) -> Any:
    return np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)


def _clip_smoothly(values: Any) -> Any:
    return values / np.sqrt(1.0 + np.square(values / _BOUND))
