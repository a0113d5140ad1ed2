r"""Logarithms of the expected improvement, and of the expected improvement per second.

Values are losses: an improvement lies below the best. With :math:`u = (m^+ - \xi - \mu)/\sigma`,

.. math:: EI = \sigma\, h(u), \qquad h(u) = \varphi(u) + u\, \Phi(u).
"""

import numpy as np
from scipy.special import erfcx, log1p, ndtr

from skauto.utils import FloatArray

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
# Below this u, the asymptotic series of 1 - |u| m(u) (m: Mills ratio) is the more accurate form.
_FAR = -50.0


def log_expected_improvement(
    mean: FloatArray, std: FloatArray, best: float, *, xi: float = 0.0
) -> FloatArray:
    """Logarithm of the expected improvement [1]_, accurate where it underflows [2]_.

    Parameters
    ----------
    mean, std : ndarray of shape (n,)
        Predictive means and standard deviations, which may be 0.
    best : float
        Smallest observed value.
    xi : float, default=0.0
        Minimum improvement that counts; larger values explore more.

    Returns
    -------
    log_improvement : ndarray of shape (n,)
        Minus infinity where ``std`` is 0 and ``mean`` is not below ``best - xi``.

    References
    ----------
    .. [1] D. R. Jones, M. Schonlau, W. J. Welch, "Efficient Global Optimization of Expensive
       Black-Box Functions", Journal of Global Optimization 13, 1998, Eq. (15).
    .. [2] S. Ament, S. Daulton, D. Eriksson, M. Balandat, E. Bakshy, "Unexpected Improvements to
       Expected Improvement for Bayesian Optimization", NeurIPS 2023, Eq. (9) and Appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import log_expected_improvement
    >>> log_expected_improvement(np.array([100.0]), np.array([1.0]), best=0.0).round(2)
    array([-5010.13])
    """
    mean = np.asarray(mean, dtype=np.float64)
    std = np.asarray(std, dtype=np.float64)
    gain = best - xi - mean
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = gain / std
        uncertain = np.log(std) + _log_h(u)
        certain = np.log(np.maximum(gain, 0.0))
    # For large u, h(u) = u in floating point, so that the improvement is the gain.
    return np.where((std > 0) & (u < 1e8), uncertain, certain)


def log_expected_improvement_per_second(
    mean: FloatArray, std: FloatArray, best: float, log_seconds: FloatArray, *, xi: float = 0.0
) -> FloatArray:
    """Logarithm of the expected improvement per second (EIPS), accurate where it underflows.

    Parameters
    ----------
    mean, std : ndarray of shape (n,)
        Predictive means and standard deviations of the loss.
    best : float
        Smallest observed loss.
    log_seconds : ndarray of shape (n,)
        Predicted ``log(1 + seconds)``. It is positive, unlike the ``log(seconds)`` of the paper.
    xi : float, default=0.0
        Minimum improvement that counts; larger values explore more.

    Returns
    -------
    log_rate : ndarray of shape (n,)
        Minus infinity where ``std`` is 0 and ``mean`` is not below ``best - xi``.

    References
    ----------
    .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
       Analytic Pipelines", KDD 2016, Eq. (4).

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import log_expected_improvement_per_second
    >>> mean, std, seconds = np.array([9.0, 9.0]), np.array([0.1, 0.1]), np.array([1.0, 100.0])
    >>> rate = log_expected_improvement_per_second(mean, std, 0.5, np.log1p(seconds))
    >>> bool(rate[0] > rate[1])
    True
    """
    improvement = log_expected_improvement(mean, std, best, xi=xi)
    # An evaluation costs at least one millisecond.
    return improvement - np.log(np.maximum(log_seconds, log1p(1e-3)))


def _log_h(u: FloatArray) -> FloatArray:
    """Logarithm of h(u) = phi(u) + u Phi(u).

    For u > -1 the definition is used. Below, h(u) = phi(u) (1 - |u| m(|u|)) with the Mills ratio
    m(t) = sqrt(pi/2) erfcx(t / sqrt(2)). For u < -50, 1 - |u| m(|u|) is replaced by its asymptotic
    series 1/u^2 - 3/u^4 + 15/u^6 - 105/u^8 + 945/u^10.
    """
    log_phi = -0.5 * u**2 - _LOG_SQRT_2PI
    near = np.maximum(u, -1.0)
    result = np.log(np.exp(-0.5 * near**2 - _LOG_SQRT_2PI) + near * ndtr(near))
    t = -np.clip(u, _FAR, -1.0)
    tail = log_phi + log1p(-t * np.sqrt(np.pi / 2) * erfcx(t / np.sqrt(2)))
    v = np.minimum(u, _FAR) ** -2.0
    far = log_phi + np.log(v) + log1p(v * (-3 + v * (15 + v * (-105 + v * 945))))
    return np.where(u > -1.0, result, np.where(u > _FAR, tail, far))
