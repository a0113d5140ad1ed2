"""Small variants of scikit-learn's estimators."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data

from skauto.utils import input_feature_names


class ScaledGammaSVC(SVC):
    """Support vector machine whose gamma is a multiple of ``gamma="scale"``.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the regularisation.
    kernel : {"rbf", "poly", "sigmoid"}, default="rbf"
        The kernel.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : float, default=1.0
        Multiple of ``1 / (n_features * X.var())``.
    coef0 : float, default=0.0
        Constant of the polynomial and the sigmoid kernel.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    max_iter : int, default=100_000
        Maximum number of solver steps for each pair of classes. Without a bound, the solver can
        run for hours if `C` is large and the scales of the columns differ.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto.space.catalog import ScaledGammaSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(ScaledGammaSVC(gamma=1.0).fit(X, y).score(X, y), 3)
    0.973
    """

    gamma: float

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float = 1.0,
        coef0: float = 0.0,
        class_weight: Any = None,
        max_iter: int = 100_000,
    ) -> None:
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            class_weight=class_weight,
            max_iter=max_iter,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ScaledGammaSVC":
        """Fit the support vector machine, as in scikit-learn."""
        multiple, variance = self.gamma, _variance(X)
        self.gamma = multiple / (X.shape[1] * variance) if variance > 0 else multiple
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.gamma = multiple


def _variance(X: Any) -> float:
    """Return the variance of all entries of a dense or sparse matrix."""
    squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X)
    return float(squares.mean() - X.mean() ** 2)


class CrossFittedTargetEncoder(TransformerMixin, BaseEstimator):
    """Target encoder with a seed, and fewer than its 5 folds if no class has 5 rows.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    encoder_ : sklearn.preprocessing.TargetEncoder
        The fitted encoder.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import CrossFittedTargetEncoder
    >>> codes = np.tile([0.0, 1.0], 50)[:, None]
    >>> encoder = CrossFittedTargetEncoder(random_state=0)
    >>> encoder.fit_transform(codes, np.tile([0, 1], 50))[:2].round(1).tolist()
    [[0.0], [1.0]]
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "CrossFittedTargetEncoder":
        """Compute the target means on all rows."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Encode each row by target means of the other folds; store the means on all rows.

        The result has one column per column of X, times n_classes if there are more than two.
        """
        _, counts = np.unique(y, return_counts=True)
        n_folds = max(2, min(5, counts.max()))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        self.encoder_ = TargetEncoder(cv=folds)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class in y")
            return self.encoder_.fit_transform(X, y)

    def transform(self, X: Any) -> Any:
        """Encode new rows by the target means on all rows of `fit`."""
        check_is_fitted(self)
        return self.encoder_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the encoded columns."""
        return self.encoder_.get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


class ClippedMultinomialNB(MultinomialNB):
    """Multinomial naive Bayes that clips negative values at zero.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive smoothing.
    fit_prior : bool, default=True
        Whether class priors are learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import ClippedMultinomialNB
    >>> X = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> ClippedMultinomialNB().fit(X, [0, 1]).predict(X).tolist()
    [0, 1]
    """

    def __init__(self, *, alpha: float = 1.0, fit_prior: bool = True) -> None:
        super().__init__(alpha=alpha, fit_prior=fit_prior)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ClippedMultinomialNB":
        """Fit the model to the positive part of `X`."""
        return super().fit(positive_part(X), y, sample_weight)

    def predict(self, X: Any) -> Any:
        """Predict classes from the positive part of `X`."""
        return super().predict(positive_part(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Predict log-probabilities of the classes; `predict_proba` calls it."""
        return super().predict_log_proba(positive_part(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


def positive_part(X: Any) -> Any:
    """Clip a dense or sparse matrix at zero."""
    return X.maximum(0) if hasattr(X, "maximum") else np.maximum(X, 0)


class CrossFeatures(TransformerMixin, BaseEstimator):
    """Append the products of pairs of binary columns.

    Parameters
    ----------
    max_columns : int, default=60
        Maximum number of binary columns; a random subset is used if there are more.
    seed : int, default=1
        Seed of the subset.

    Attributes
    ----------
    pairs_ : ndarray of int of shape (n_pairs, 2)
        Pairs of columns whose product is not constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import CrossFeatures
    >>> X = np.array([[0.0, 0.0, 5.0], [0.0, 1.0, 6.0], [1.0, 1.0, 7.0]])
    >>> CrossFeatures().fit_transform(X).tolist()
    [[0.0, 0.0, 5.0, 0.0], [0.0, 1.0, 6.0, 0.0], [1.0, 1.0, 7.0, 1.0]]
    """

    def __init__(self, max_columns: int = 60, seed: int = 1) -> None:
        self.max_columns = max_columns
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> "CrossFeatures":
        """Choose the pairs of columns."""
        X = validate_data(self, X)
        binary = np.flatnonzero(((X == 0) | (X == 1)).all(axis=0))
        if len(binary) > self.max_columns:
            rng = np.random.default_rng(self.seed)
            binary = np.sort(rng.choice(binary, self.max_columns, replace=False))
        first, second = np.triu_indices(len(binary), k=1)
        pairs = np.column_stack([binary[first], binary[second]])
        self.pairs_ = pairs[np.ptp(self._products(X, pairs), axis=0) > 0]
        return self

    def transform(self, X: Any) -> Any:
        """Append the products, one column for each pair."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.hstack([X, self._products(X, self.pairs_)])

    @staticmethod
    def _products(X: Any, pairs: Any) -> Any:
        return X[:, pairs[:, 0]] * X[:, pairs[:, 1]]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns, then of the products."""
        names = input_feature_names(self, input_features)
        products = [f"{names[i]} {names[j]}" for i, j in self.pairs_]
        return np.asarray([*names, *products], dtype=object)
