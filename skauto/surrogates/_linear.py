"""Ridge regression with a predictive standard deviation (the surrogate of FLASH)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator

from skauto.utils import FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class LinearModel(BaseEstimator):
    r"""Ridge regression with an intercept and a predictive variance.

    The weights minimize :math:`\|X\beta + b - y\|^2 + \alpha \|\beta\|^2`, Eq. (1) of [1]_ with
    :math:`\alpha = n\lambda`. The variance of a prediction at :math:`p` is
    :math:`\sigma_\varepsilon^2 (1 + p^\top (X^\top X + \alpha I)^{-1} p)`, where
    :math:`\sigma_\varepsilon^2` is the variance of the residuals.

    Parameters
    ----------
    alpha : float, default=1.0
        L2 penalty of the weights, positive. The intercept is not penalized.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights.
    intercept_ : float
        The intercept.
    noise_ : float
        Standard deviation of the residuals.
    n_features_in_ : int
        Number of features seen by ``fit``.

    References
    ----------
    .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
       Analytic Pipelines", KDD 2016, section 3.1, Eq. (1).

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.surrogates import LinearModel
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> model = LinearModel().fit(X, np.array([0.1, 0.3, 0.5, 0.7]))
    >>> mean, std = model.predict(np.eye(2))
    >>> mean.round(2)
    array([0.27, 0.53])
    """

    alpha: float = 1.0

    def fit(self, X: FloatArray, y: FloatArray, rng: np.random.Generator | None = None) -> Self:
        """Fit the coefficients; see `Surrogate.fit`. The random generator is not used."""
        if not self.alpha > 0:
            raise ValueError(
                f"The 'alpha' of LinearModel must be positive. Got {self.alpha!r} instead."
            )
        penalty = self.alpha * np.eye(X.shape[1])
        # scaled to a maximum deviation of 1, so that squares do not overflow
        unit = float(np.abs(y - y.mean()).max()) or 1.0
        values = (y - y.mean()) / unit
        center = X.mean(axis=0)
        gram = (X - center).T @ (X - center)
        weights = cho_solve(cho_factor(gram + penalty), (X - center).T @ values)
        residuals = (X - center) @ weights - values
        self._factor = cho_factor(X.T @ X + penalty)
        self.n_features_in_ = X.shape[1]
        self.coef_ = unit * weights
        self.intercept_ = float(y.mean() - self.coef_ @ center)
        self.noise_ = unit * float(residuals.std())
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict mean and standard deviation; see `Surrogate.predict`."""
        mean = X @ self.coef_ + self.intercept_
        inverse = cho_solve(self._factor, np.eye(self.n_features_in_))
        leverage = ((X @ inverse) * X).sum(axis=1)
        return mean, self.noise_ * np.sqrt(1.0 + leverage)
