"""The interface of surrogates."""

from typing import Protocol, Self

import numpy as np

from skauto.utils import FloatArray


class Surrogate(Protocol):
    """A regression model that predicts mean and standard deviation.

    A surrogate is a :class:`sklearn.base.BaseEstimator` whose constructor only stores parameters.
    Any class with these two methods is a surrogate; inheritance is not needed.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.surrogates import RandomForest, Surrogate
    >>> surrogate: Surrogate = RandomForest()
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> mean, std = surrogate.fit(X, X[:, 0], np.random.default_rng(0)).predict(X)
    >>> mean.shape, std.shape
    ((20,), (20,))
    """

    def fit(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> Self:
        """Fit the model to observations.

        The points `X` (n_samples, n_features) have no missing values, and the values `y`
        (n_samples,) are finite. All randomness is drawn from `rng`.
        """
        ...

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict mean and standard deviation (n_samples,) of points (n_samples, n_features)."""
        ...
