"""Encoding of the columns of category codes by a table of all codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted


@dataclass(eq=False, repr=False)
class CategoryColumns(TransformerMixin, BaseEstimator):
    """Encode the columns of category codes; the other columns follow unchanged.

    The output is that of a :class:`~sklearn.compose.ColumnTransformer`. For dense rows it is read
    from a table of the outputs for all codes, because encoders of scikit-learn search the
    categories of each column with several NumPy calls and checks: 5 milliseconds for 8 columns of
    100 rows.

    Parameters
    ----------
    encoder : transformer
        One-hot or target encoder. The outputs of a column must depend on its codes only.
    columns : list of int, default=()
        Columns of the codes 0, 1, ..., with NaN for missing values.
    sparse_threshold : float, default=0.0
        The output is sparse if the share of its cells that are not zero is smaller in `fit`.

    Attributes
    ----------
    transformer_ : ColumnTransformer
        The fitted encoder and the columns that it leaves unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from skauto.space.catalog import CategoryColumns
    >>> X = np.array([[0.5, 0.0], [1.5, 1.0], [2.5, np.nan]])
    >>> CategoryColumns(OneHotEncoder(), columns=[1]).fit_transform(X)
    array([[1. , 0. , 0. , 0.5],
           [0. , 1. , 0. , 1.5],
           [0. , 0. , 1. , 2.5]])
    """

    encoder: Any
    columns: Sequence[int] = ()
    sparse_threshold: float = 0.0

    def fit(self, X: Any, y: Any = None) -> "CategoryColumns":
        """Fit the encoder."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the encoder and encode the rows; a target encoder uses the means of other folds."""
        self.__dict__.pop("_tables", None)
        self.transformer_ = ColumnTransformer(
            [("categories", self.encoder, list(self.columns))],
            remainder="passthrough",
            sparse_threshold=self.sparse_threshold,
            n_jobs=1,
        ).set_output(transform="default")
        Z = self.transformer_.fit_transform(X, y)
        self.n_features_in_ = X.shape[1]
        self.n_codes_ = 0
        if len(self.columns):
            self.n_codes_ = 1 + int(np.fmax.reduce(X[:, self.columns], axis=None, initial=-1.0))
        return Z

    def transform(self, X: Any) -> Any:
        """Encode rows, shape (n_samples, n_columns)."""
        check_is_fitted(self)
        is_plain = isinstance(X, np.ndarray) and X.shape[1:] == (self.n_features_in_,)
        if not is_plain or self.transformer_.sparse_output_ or not len(self.columns):
            return self.transformer_.transform(X)
        codes = X[:, self.columns]
        special = np.where(np.isnan(codes), self.n_codes_ + 1, self.n_codes_)
        rows = np.where(codes < self.n_codes_, codes, special).astype(np.intp)
        blocks = [table[row] for table, row in zip(self._tables, rows.T, strict=True)]
        return np.hstack([np.hstack(blocks), np.delete(X, self.columns, axis=1)])

    @cached_property
    def _tables(self) -> list[NDArray[np.float64]]:
        """Outputs of each column for all codes of `fit`, an unknown code and NaN."""
        n_columns = len(self.columns)
        codes = np.append(np.arange(self.n_codes_ + 1.0), np.nan)
        encoder = self.transformer_.named_transformers_["categories"]
        outputs = encoder.transform(np.tile(codes[:, None], n_columns))
        outputs = outputs.toarray() if hasattr(outputs, "toarray") else outputs
        names = encoder.get_feature_names_out([str(j) for j in range(n_columns)])
        column_of = np.array([int(name.partition("_")[0]) for name in names])
        return [np.ascontiguousarray(outputs[:, column_of == j]) for j in range(n_columns)]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns, see :class:`~sklearn.compose.ColumnTransformer`."""
        return self.transformer_.get_feature_names_out(input_features)

    def __getstate__(self) -> Any:
        return {key: value for key, value in super().__getstate__().items() if key != "_tables"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
