"""Piecewise linear encoding of numeric columns."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class PiecewiseLinearEncoder(TransformerMixin, BaseEstimator):
    """Replace each column by its position in bins between quantiles [1]_.

    A value x becomes one number for each bin from b to c: ``(x - b) / (c - b)``, clipped to [0,
    1]. A linear model of the encoding is a piecewise linear function of each column. Columns of
    fewer than three different quantiles, such as indicators, are kept, scaled to [0, 1].

    Parameters
    ----------
    n_bins : int, default=12
        Maximum number of bins of a column. Equal quantiles are merged.

    Attributes
    ----------
    edges_ : list of ndarray
        Edges of the bins of each column, increasing.
    n_features_in_ : int
        Number of columns.

    References
    ----------
    .. [1] Y. Gorishniy, I. Rubachev, A. Babenko, "On embeddings for numerical features in tabular
       deep learning", NeurIPS 2022, section 3.2.

    Examples
    --------
    >>> from skauto.space.catalog import PiecewiseLinearEncoder
    >>> column = [[0.0], [1.0], [2.0], [4.0], [8.0]]
    >>> PiecewiseLinearEncoder(n_bins=4).fit(column).transform([[3.0], [9.0]])
    array([[1. , 1. , 0.5, 0. ],
           [1. , 1. , 1. , 1. ]])
    """

    def __init__(self, *, n_bins: int = 12) -> None:
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any = None) -> "PiecewiseLinearEncoder":
        """Find the quantiles of the columns."""
        X = validate_data(self, X, dtype=np.float64)
        quantiles = np.quantile(X, np.linspace(0.0, 1.0, self.n_bins + 1), axis=0)
        self.edges_ = [np.unique(column) for column in quantiles.T]
        return self

    def transform(self, X: Any) -> Any:
        """Encode the columns."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        encoded = [
            np.clip((column - low) / (high - low), 0.0, 1.0)
            for column, edges in zip(X.T, self.edges_, strict=True)
            for low, high in pairwise(edges)
        ]
        return np.column_stack(encoded) if encoded else np.empty((len(X), 0))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns: the column and the number of the bin."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        names = names if input_features is None else input_features
        found = [
            f"{name}_{k}"
            for name, edges in zip(names, self.edges_, strict=True)
            for k in range(len(edges) - 1)
        ]
        return np.array(found, dtype=object)
