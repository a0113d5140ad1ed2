"""Pairs of important columns as further columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skauto.space.catalog._estimators import CrossFittedTargetEncoder
from skauto.utils import FloatArray, input_feature_names

# Maximum number of rows of the model that measures the importance of the columns.
_MAX_ROWS = 10_000
# Maximum number of columns of encoded crosses.
_MAX_CROSSES = 64
# Category codes, which start at 0, are smaller; a pair of them is exact in float64.
_BASE = 2.0**26


@dataclass(eq=False, repr=False)
class PairFeatures(TransformerMixin, BaseEstimator):
    """Append ratios, differences and products of important columns, and crosses of categories.

    The importance of a column is its total gain in a small LightGBM model. Pairs of the most
    important numeric columns a and b give the columns a / b, a - b and a * b, with NaN where a
    result is not finite. A cross is a pair of the most important columns of category codes. It is
    encoded by cross-fitted target means (`CrossFittedTargetEncoder`), in one column per class if
    there are more than two.

    Parameters
    ----------
    categorical_features : sequence of int, default=()
        Columns of category codes 0, 1, ..., with NaN for missing values.
    n_columns : int, default=7
        Maximum number of numeric columns, and of columns of codes, that are paired. 7 numeric
        columns give 63 new columns. With many classes fewer columns of codes are paired, so that
        there are at most 64 encoded columns, or a single cross.
    random_state : int, RandomState instance or None, default=None
        Seed of the model and of the folds of the target encoder.

    Attributes
    ----------
    pairs_ : ndarray of int of shape (n_pairs, 2)
        Pairs of numeric columns.
    crosses_ : ndarray of int of shape (n_crosses, 2)
        Pairs of columns of codes.
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
        gains = _gains(X, y, codes, seed)
        ordered = [j for j in np.argsort(-gains, kind="stable").tolist() if gains[j] > 0]
        n_classes = len(np.unique(y))
        n_crossed = _n_crossed(n_classes, self.n_columns)
        self.pairs_ = _pairs([j for j in ordered if j not in codes][: self.n_columns])
        self.crosses_ = _pairs([j for j in ordered if j in codes][:n_crossed])
        blocks = [X, self._arithmetic(X)]
        if len(self.crosses_):
            self.encoder_ = CrossFittedTargetEncoder(random_state=seed)
            blocks.append(self.encoder_.fit_transform(self._crossed(X), y))
        return np.hstack(blocks)

    def transform(self, X: Any) -> FloatArray:
        """Append the pairs, shape (n_samples, n_features + n_new)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        blocks = [X, self._arithmetic(X)]
        if len(self.crosses_):
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
        """One number for each pair of codes; a missing code counts as a category."""
        codes = np.nan_to_num(X + 1.0, nan=0.0)
        return codes[:, self.crosses_[:, 0]] * _BASE + codes[:, self.crosses_[:, 1]]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns, then of the pairs."""
        names = input_feature_names(self, input_features)
        found = [f"{names[a]} {sign} {names[b]}" for sign in "/-*" for a, b in self.pairs_]
        if len(self.crosses_):
            crosses = [f"{names[a]} x {names[b]}" for a, b in self.crosses_]
            found.extend(self.encoder_.get_feature_names_out(crosses))
        return np.asarray([*names, *found], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _gains(X: FloatArray, y: NDArray[Any], codes: list[int], seed: int) -> FloatArray:
    """Return the total gain of each column in a small LightGBM model on at most 10,000 rows."""
    if len(y) > _MAX_ROWS:
        rows = np.random.default_rng(seed).choice(len(y), _MAX_ROWS, replace=False)
        X, y = X[rows], y[rows]
    n_classes = len(np.unique(y))
    model = LGBMClassifier(
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
    model.fit(X, y, categorical_feature=codes or "auto")
    return np.asarray(model.feature_importances_, dtype=np.float64)


def _pairs(columns: list[int]) -> NDArray[np.intp]:
    return np.array([*combinations(sorted(columns), 2)], dtype=np.intp).reshape(-1, 2)


def _n_crossed(n_classes: int, n_columns: int) -> int:
    """Return the number of columns of codes whose encoded crosses are at most 64, at least 2."""
    n_encoded = 1 if n_classes == 2 else n_classes
    fitting = [k for k in range(2, n_columns + 1) if n_encoded * k * (k - 1) / 2 <= _MAX_CROSSES]
    return max(fitting, default=min(2, n_columns))
