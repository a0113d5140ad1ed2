"""Small variants of scikit-learn's estimators."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from skauto.utils import IntArray


class ScaledGammaSVC(SVC):
    """Support vector machine whose gamma is a multiple of ``gamma="scale"``.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the regularization.
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
    random_state : int, RandomState instance or None, default=None
        Seed; None is the global state of NumPy, which then changes.

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
        random_state: Any = None,
    ) -> None:
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            class_weight=class_weight,
            max_iter=max_iter,
            random_state=random_state,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ScaledGammaSVC":
        """Fit the support vector machine, as in scikit-learn."""
        squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X)
        multiple, variance = self.gamma, float(squares.mean() - X.mean() ** 2)
        self.gamma = multiple / (X.shape[1] * variance) if variance > 0 else multiple
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.gamma = multiple


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
        self.encoder_ = TargetEncoder(cv=stratified_folds(counts, 5, self.random_state))
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


def stratified_folds(counts: IntArray, n_folds: int, random_state: Any) -> StratifiedKFold:
    """Folds of shuffled rows, fewer if no class has that many rows, but at least two."""
    n_folds = max(2, min(n_folds, counts.max()))
    return StratifiedKFold(n_folds, shuffle=True, random_state=random_state)


def positive_part(X: Any) -> Any:
    """Clip a dense or sparse matrix at zero."""
    return X.maximum(0) if hasattr(X, "maximum") else np.maximum(X, 0)
