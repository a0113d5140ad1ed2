"""Gaussian process regression with an ARD Matern kernel."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from scipy import optimize
from scipy.linalg import lapack, solve_triangular
from sklearn.base import BaseEstimator
from sklearn.utils import check_X_y

from skauto.utils import FloatArray

# Bounds of tau_0^2, of each tau_i and of sigma_n^2.
_AMPLITUDES, _LENGTH_SCALES, _NOISES = (1e-2, 1e3), (1e-2, 1e2), (1e-8, 1.0)
_JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianProcess(BaseEstimator):
    r"""Gaussian process with an ARD Matern kernel and a fitted noise variance.

    The covariance of two points is (ADMM paper, Eq. A34, for ``nu=2.5``)

    .. math::

        \kappa(x, x') = \tau_0^2 \, e^{-\sqrt 5 r} \left(1 + \sqrt 5 r + \tfrac 5 3 r^2\right),
        \qquad r^2 = \sum_i (x_i - x'_i)^2 / \tau_i^2,

    and the amplitude, the length scales and the noise variance minimize the negative log
    marginal likelihood (Eq. A35). Its gradient is analytic and costs one matrix product. Targets
    are standardized, so that amplitude and noise are in units of their variance.

    Parameters
    ----------
    nu : {1.5, 2.5}, default=2.5
        Smoothness of the Matern kernel.
    trend : {"mean", "constant"}, default="mean"
        ``"mean"`` subtracts the mean of the targets. ``"constant"`` estimates a constant trend by
        generalized least squares (*universal kriging*) and adds its uncertainty to the
        predictions.
    priors : bool, default=True
        Whether to add weak normal priors on the logarithms of the hyper-parameters, which prevent
        extreme length scales for few observations in many dimensions. False is maximum
        likelihood.
    n_restarts : int, default=1
        Number of random starts of the optimizer, in addition to the first start.
    warm_start : bool, default=False
        Whether ``fit`` starts from the hyper-parameters of the last ``fit`` with the same number
        of features.
    refit_growth : float, default=0.1
        Growth of the number of observations, as a fraction, from which ``update`` fits again. 0
        fits at every update.

    Attributes
    ----------
    hyperparameters_ : ndarray of shape (n_features + 2,)
        Natural logarithms of :math:`\tau_0^2, \tau_1, \ldots, \tau_d, \sigma_n^2`.
    log_marginal_likelihood_ : float
        Log marginal likelihood of the standardized targets, without priors.
    n_features_in_ : int
        Number of features seen by ``fit``.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, Appendix 3, Eqs. (A33)-(A35).
    .. [2] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press
       2006, Eqs. (2.25), (2.26), (5.9) and, for the constant trend, (2.41), (2.42).

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.surrogates import GaussianProcess
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> gp = GaussianProcess().fit(X, np.sin(6 * X[:, 0]), np.random.default_rng(0))
    >>> mean, std = gp.predict([[0.5]])
    >>> bool(abs(mean[0] - np.sin(3)) < 0.01 and std[0] < 0.1)
    True
    """

    nu: float = 2.5
    trend: str = "mean"
    priors: bool = True
    n_restarts: int = 1
    warm_start: bool = False
    refit_growth: float = 0.1

    def fit(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> Self:
        """Optimize the hyper-parameters and condition the process; see `Surrogate.fit`.

        The points should be scaled approximately to the unit cube.
        """
        X, y = check_X_y(X, np.asarray(y, dtype=float), dtype=float)
        targets = _standardize(y)[0]
        points = X - X.mean(axis=0)
        low, high = self._log_bounds(X.shape[1])
        starts = [self._first_start(low, high)]
        starts += [rng.uniform(low, high) for _ in range(self.n_restarts)]
        solutions = [
            optimize.minimize(
                self._objective,
                start,
                args=(points, targets),
                method="L-BFGS-B",
                jac=True,
                bounds=optimize.Bounds(low, high),
            )
            for start in starts
        ]
        self._n_fitted = len(X)
        return self.condition(X, y, min(solutions, key=lambda solution: solution.fun).x)

    def update(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> Self:
        """Fit if the observations grew by ``refit_growth`` since the last fit, else condition.

        The arguments are those of `fit`: all observations.
        """
        fitted = getattr(self, "n_features_in_", None) == np.shape(X)[1]
        if fitted and len(X) < (1.0 + self.refit_growth) * self._n_fitted:
            return self.condition(X, y)
        return self.fit(X, y, rng)

    def condition(
        self, X: FloatArray, y: FloatArray, hyperparameters: FloatArray | None = None
    ) -> Self:
        """Condition the process on observations with fixed hyper-parameters.

        They are those of the last fit, or new ``hyperparameters_`` of shape (n_features + 2,).
        """
        X, y = check_X_y(X, np.asarray(y, dtype=float), dtype=float)
        self.n_features_in_ = X.shape[1]
        if hyperparameters is not None:
            self.hyperparameters_ = np.array(hyperparameters, dtype=float)
        targets, self._offset, self._scale = _standardize(y)
        self._center = X.mean(axis=0)
        self._points = X - self._center
        covariance, _ = self._covariance(self.hyperparameters_, self._points)
        self._factor = _cholesky(covariance)
        self._level, self._weights, self._ones = self._solve(self._factor, targets)
        self.log_marginal_likelihood_ = -_negative_log_density(
            self._factor, targets - self._level, self._weights
        )
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict mean and standard deviation of noise-free values, Eq. (A33)."""
        points = np.asarray(X, dtype=float) - self._center
        amplitude, scales, _ = _unpack(self.hyperparameters_)
        cross, _ = _matern(
            _squared_distances(points / scales, self._points / scales), amplitude, self.nu
        )
        mean = self._level + cross @ self._weights
        half = solve_triangular(self._factor, cross.T, lower=True, check_finite=False)
        variance = amplitude - np.einsum("ij,ij->j", half, half)
        if self.trend == "constant":
            variance += (1.0 - cross @ self._ones) ** 2 / self._ones.sum()
        std = np.sqrt(np.maximum(variance, 1e-12 * amplitude))
        return self._offset + self._scale * mean, self._scale * std

    def predict_with_gradient(self, x: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        """Predict mean and standard deviation at a point (n_features,), and their gradients."""
        amplitude, scales, _ = _unpack(self.hyperparameters_)
        steps = (np.asarray(x, dtype=float) - self._center - self._points) / scales
        cross, slope = _matern(np.einsum("ij,ij->i", steps, steps), amplitude, self.nu)
        # d kappa / dx = -slope * (x - x_i) / tau^2, slope = -(d kappa / dr) / r
        cross_gradient = -slope[:, None] * steps / scales
        solved, _ = lapack.dpotrs(self._factor, cross, lower=True)
        mean = self._level + cross @ self._weights
        variance = amplitude - cross @ solved
        variance_gradient = -2.0 * (cross_gradient.T @ solved)
        if self.trend == "constant":
            miss = 1.0 - cross @ self._ones
            variance += miss**2 / self._ones.sum()
            variance_gradient -= 2.0 * miss / self._ones.sum() * (cross_gradient.T @ self._ones)
        std = math.sqrt(max(float(variance), 1e-12 * amplitude))
        return (
            float(self._offset + self._scale * mean),
            float(self._scale * std),
            self._scale * (cross_gradient.T @ self._weights),
            self._scale * variance_gradient / (2.0 * std),
        )

    def _likelihood(
        self, theta: FloatArray, points: FloatArray, targets: FloatArray
    ) -> tuple[float, FloatArray]:
        """Negative log marginal likelihood, Rasmussen and Williams (2.30), and gradient (5.9)."""
        covariance, slope = self._covariance(theta, points)
        factor = _cholesky(covariance)
        level, weights, _ = self._solve(factor, targets)
        value = _negative_log_density(factor, targets - level, weights)
        _, scales, noise = _unpack(theta)
        # 2 d value / d K = K^-1 - w w^T; the derivative by the optimal level is 0
        outer = _inverse(factor) - weights[:, None] * weights
        trace = _diagonal(outer).sum()
        with_noise = np.einsum("ij,ij->", outer, covariance)
        # sum_ij m_ij (z_i - z_j)^2 / 2 = sum_i (m 1)_i z_i^2 - z^T m z, for all features at once
        outer *= slope
        scaled = points / scales
        by_scale = outer.sum(axis=1) @ scaled**2 - np.einsum("ij,ij->j", scaled, outer @ scaled)
        gradient = np.concatenate(
            [[0.5 * (with_noise - noise * trace)], by_scale, [0.5 * noise * trace]]
        )
        return value, gradient

    def _objective(
        self, theta: FloatArray, points: FloatArray, targets: FloatArray
    ) -> tuple[float, FloatArray]:
        """Negative log marginal likelihood, plus the negative log density of the priors."""
        value, gradient = self._likelihood(theta, points, targets)
        if self.priors:
            center, spread = _prior(points.shape[1])
            deviation = (theta - center) / spread
            value += 0.5 * float(deviation @ deviation)
            gradient += deviation / spread
        return value, gradient

    def _covariance(self, theta: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Covariance of the observations with noise, and the slope of `_matern`."""
        amplitude, scales, noise = _unpack(theta)
        scaled = points / scales
        squared = _squared_distances(scaled, scaled)
        _diagonal(squared)[:] = 0.0
        covariance, slope = _matern(squared, amplitude, self.nu)
        _diagonal(covariance)[:] += noise
        return covariance, slope

    def _solve(
        self, factor: FloatArray, targets: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Level b, K^-1 (y - b 1) and K^-1 1; the level is 0 for ``trend="mean"``."""
        both = np.ones((len(targets), 2))
        both[:, 0] = targets
        solved, _ = lapack.dpotrs(factor, both, lower=True)  # cho_solve is slow for few rows
        level = 0.0
        if self.trend == "constant":
            level = float(targets @ solved[:, 1] / solved[:, 1].sum())
        return level, solved[:, 0] - level * solved[:, 1], solved[:, 1]

    def _log_bounds(self, n_features: int) -> tuple[FloatArray, FloatArray]:
        if self.nu not in (1.5, 2.5):
            raise ValueError(f"The 'nu' must be one of [1.5, 2.5]. Got {self.nu!r} instead.")
        if self.trend not in ("mean", "constant"):
            raise ValueError(
                f"The 'trend' must be 'mean' or 'constant'. Got {self.trend!r} instead."
            )
        low, high = np.log([_AMPLITUDES, *[_LENGTH_SCALES] * n_features, _NOISES]).T
        return low, high

    def _first_start(self, low: FloatArray, high: FloatArray) -> FloatArray:
        last = getattr(self, "hyperparameters_", None)
        if self.warm_start and last is not None and len(last) == len(low):
            return np.clip(last, low, high)
        return np.clip(_prior(len(low) - 2)[0], low, high)


@cache
def _prior(n_features: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the log-priors; length scales grow as sqrt(n_features)."""
    center = np.full(n_features + 2, math.log(0.5) + 0.5 * math.log(max(n_features, 1)))
    spread = np.ones(n_features + 2)
    center[0], spread[0] = 0.0, 1.0
    center[-1], spread[-1] = math.log(1e-4), 3.0
    return center, spread


def _diagonal(matrix: FloatArray) -> FloatArray:
    """Diagonal of a matrix, as a view that can be written to."""
    return np.einsum("ii->i", matrix)


def _unpack(theta: FloatArray) -> tuple[float, FloatArray, float]:
    values = np.exp(theta)
    return float(values[0]), values[1:-1], float(values[-1])


def _squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Squared Euclidean distances, computed by one matrix product."""
    squared = (left @ right.T) * -2.0
    squared += np.einsum("ij,ij->i", left, left)[:, None]
    squared += np.einsum("ij,ij->i", right, right)
    return np.maximum(squared, 0.0, out=squared)


def _matern(squared: FloatArray, amplitude: float, nu: float) -> tuple[FloatArray, FloatArray]:
    """Kernel values at squared distances, and -(d kappa / dr) / r, which is smooth at 0."""
    root = np.sqrt(2.0 * nu * squared)
    decay = amplitude * np.exp(-root)
    linear = (1.0 + root) * decay
    if nu == 1.5:
        return linear, 3.0 * decay
    return linear + (5.0 / 3.0) * squared * decay, (5.0 / 3.0) * linear


def _cholesky(covariance: FloatArray) -> FloatArray:
    """Lower Cholesky factor; adds jitter of up to 1e-4 of the diagonal if necessary."""
    size = covariance[0, 0]
    for jitter in _JITTERS:
        shifted = covariance
        if jitter:
            shifted = covariance + jitter * size * np.eye(len(covariance))
        factor, info = lapack.dpotrf(shifted, lower=True, clean=True)
        if info == 0:
            return factor
    raise np.linalg.LinAlgError(
        "The covariance matrix is not positive definite, even with jitter 1e-4 of its diagonal; "
        "add noise to the targets."
    )


def _inverse(factor: FloatArray) -> FloatArray:
    """Inverse of the matrix with this lower Cholesky factor."""
    inverse, _ = lapack.dpotri(factor, lower=True)
    inverse += inverse.T  # its upper triangle is 0
    _diagonal(inverse)[:] *= 0.5
    return inverse


def _negative_log_density(factor: FloatArray, residual: FloatArray, weights: FloatArray) -> float:
    """Negative log marginal likelihood, Rasmussen and Williams (2.30) and Eq. (A35)."""
    log_determinant = 2.0 * np.log(_diagonal(factor)).sum()
    return 0.5 * float(
        residual @ weights + log_determinant + len(residual) * math.log(2.0 * math.pi)
    )


def _standardize(y: FloatArray) -> tuple[FloatArray, float, float]:
    """Targets with mean 0 and standard deviation 1 (constant targets are only centered)."""
    size = max(float(np.abs(y).max()), 1e-300)  # divides y, so that squares do not overflow
    offset, scale = size * float((y / size).mean()), size * float((y / size).std())
    if scale <= 1e-12 * max(1.0, abs(offset)):
        scale = 1.0
    return (y - offset) / scale, offset, scale
