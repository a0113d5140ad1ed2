"""Pairs of important columns, and keys that rows share, as further columns."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import cross_val_predict
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skauto.space.catalog._estimators import CrossFittedTargetEncoder, stratified_folds
from skauto.space.catalog._keys import find_keys, join
from skauto.space.catalog._lightgbm import LightGBMClassifier
from skauto.utils import FloatArray, IntArray, input_feature_names

# Maximum number of rows of the model that measures the importance of the columns.
_MAX_ROWS = 10_000
# Maximum number of columns of encoded crosses.
_MAX_CROSSES = 64
# Maximum number of keys, and minimum number of rows to search for them.
_MAX_KEYS, _MIN_ROWS = 4, 100


@dataclass(eq=False, repr=False)
class PairFeatures(TransformerMixin, BaseEstimator):
    """Append ratios, differences and products of important columns, and crosses of columns.

    The importance of a column is its total gain in a small LightGBM model. Pairs of the most
    important numeric columns a and b give the columns a / b, a - b and a * b, with NaN where a
    result is not finite. A cross is a pair of the most important columns of category codes, or one
    to three columns of any kind that identify what rows share, such as a person: rows with the
    same values have correlated residuals. It is encoded by cross-fitted target means
    (`CrossFittedTargetEncoder`), in one column per class if there are more than two.

    Parameters
    ----------
    categorical_features : sequence of int, default=()
        Columns of category codes 0, 1, ..., with NaN for missing values.
    n_columns : int, default=7
        Maximum number of numeric columns, and of columns of codes, that are paired. 7 numeric
        columns give 63 new columns. With many classes fewer columns of codes are paired, so that
        there are at most 64 encoded columns, or a single cross.
    keys : bool, default=True
        Whether up to four crosses of columns of any kind are searched for. They do not predict
        rows of other persons, that is, of other groups.
    random_state : int, RandomState instance or None, default=None
        Seed of the model and of the folds of the target encoder.

    Attributes
    ----------
    pairs_ : ndarray of int of shape (n_pairs, 2)
        Pairs of numeric columns.
    crosses_ : list of tuple of int
        Columns of each cross.
    encoder_ : CrossFittedTargetEncoder
        Encoder of the crosses; only if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import PairFeatures
    >>> X = np.random.default_rng(0).uniform(1, 2, size=(200, 2))
    >>> pairs = PairFeatures(random_state=0).fit(X, X[:, 0] > X[:, 1])
    >>> pairs.transform([[6.0, 3.0]]).tolist()
    [[6.0, 3.0, 2.0, 3.0, 18.0]]
    >>> pairs.get_feature_names_out(["a", "b"]).tolist()
    ['a', 'b', 'a / b', 'a - b', 'a * b']
    """

    categorical_features: Sequence[int] = ()
    n_columns: int = 7
    keys: bool = True
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> "PairFeatures":
        """Choose the pairs and compute the target means of the crosses on all rows."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> FloatArray:
        """Choose the pairs and append them; crosses are encoded by the means of other folds."""
        X = self._validated(X, reset=True)
        y = np.asarray(y)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        codes = list(self.categorical_features)
        rows = _some_rows(len(y), seed)
        gains = _gains(X[rows], y[rows], codes, seed)
        ordered = [j for j in np.argsort(-gains, kind="stable").tolist() if gains[j] > 0]
        n_classes = len(np.unique(y))
        n_crossed = _n_crossed(n_classes, self.n_columns)
        self.pairs_ = _pairs([j for j in ordered if j not in codes][: self.n_columns])
        crosses = _pairs([j for j in ordered if j in codes][:n_crossed])
        keys = _keys(X[rows], y[rows], codes, seed) if self.keys else []
        self.crosses_ = list(dict.fromkeys([*map(tuple, crosses.tolist()), *keys]))
        blocks = [X, self._arithmetic(X)]
        if self.crosses_:
            self.encoder_ = CrossFittedTargetEncoder(random_state=seed)
            blocks.append(self.encoder_.fit_transform(self._crossed(X), y))
        return np.hstack(blocks)

    def transform(self, X: Any) -> FloatArray:
        """Append the pairs, shape (n_samples, n_features + n_new)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        blocks = [X, self._arithmetic(X)]
        if self.crosses_:
            blocks.append(self.encoder_.transform(self._crossed(X)))
        return np.hstack(blocks)

    def _validated(self, X: Any, *, reset: bool) -> FloatArray:
        return np.asarray(
            validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        )

    def _arithmetic(self, X: FloatArray) -> FloatArray:
        """Ratios, then differences, then products; NaN where they are not finite."""
        a, b = X[:, self.pairs_[:, 0]], X[:, self.pairs_[:, 1]]
        with np.errstate(all="ignore"):
            new = np.hstack([a / b, a - b, a * b])
        new[~np.isfinite(new)] = np.nan
        return new

    def _crossed(self, X: FloatArray) -> FloatArray:
        """One number for each combination of values, also of missing ones."""
        return np.column_stack([join(X, columns) for columns in self.crosses_])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns, then of the pairs."""
        names = input_feature_names(self, input_features)
        found = [f"{names[a]} {sign} {names[b]}" for sign in "/-*" for a, b in self.pairs_]
        if self.crosses_:
            crosses = [" x ".join(names[j] for j in columns) for columns in self.crosses_]
            found.extend(self.encoder_.get_feature_names_out(crosses))
        return np.asarray([*names, *found], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _some_rows(n_rows: int, seed: int) -> IntArray | slice:
    """Return all rows, or 10,000 of more."""
    if n_rows <= _MAX_ROWS:
        return slice(None)
    return np.random.default_rng(seed).choice(n_rows, _MAX_ROWS, replace=False)


def _small_model(n_classes: int, codes: list[int], seed: int) -> LightGBMClassifier:
    return LightGBMClassifier(
        categorical_features=codes,
        n_estimators=50 if n_classes == 2 else max(10, int(50 / n_classes**0.5)),
        num_leaves=15,
        max_bin=63,
        subsample=0.8,
        subsample_freq=1,
        colsample_bytree=0.7,
        importance_type="gain",
        n_jobs=1,
        random_state=seed,
        verbose=-1,
    )


def _gains(X: FloatArray, y: NDArray[Any], codes: list[int], seed: int) -> FloatArray:
    """Return the total gain of each column in a small LightGBM model."""
    model = _small_model(len(np.unique(y)), codes, seed).fit(X, y)
    return np.asarray(model.feature_importances_, dtype=np.float64)


def _keys(X: FloatArray, y: NDArray[Any], codes: list[int], seed: int) -> list[tuple[int, ...]]:
    """Find keys by the residuals of small LightGBM models for the rows of other folds."""
    classes, counts = np.unique(y, return_counts=True)
    if len(y) < _MIN_ROWS:
        return []
    folds = stratified_folds(counts, 3, seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class|Number of classes")
        model = _small_model(len(classes), codes, seed)
        predicted = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    residuals = (y[:, None] == classes) - predicted
    n_encoded = 1 if len(classes) == 2 else len(classes)
    return find_keys(
        X, residuals[:, -n_encoded:], max(1, min(_MAX_KEYS, _MAX_CROSSES // n_encoded))
    )


def _pairs(columns: list[int]) -> NDArray[np.intp]:
    return np.array([*combinations(sorted(columns), 2)], dtype=np.intp).reshape(-1, 2)


def _n_crossed(n_classes: int, n_columns: int) -> int:
    """Return the number of columns of codes whose encoded crosses are at most 64, at least 2."""
    n_encoded = 1 if n_classes == 2 else n_classes
    fitting = [k for k in range(2, n_columns + 1) if n_encoded * k * (k - 1) / 2 <= _MAX_CROSSES]
    return max(fitting, default=min(2, n_columns))
