r"""Expected improvement of a prediction on the best value so far, its logarithm, and per second.

Values are losses: an improvement lies below the best. With :math:`u = (m^+ - \xi - \mu)/\sigma`,

.. math:: EI = \sigma\, h(u), \qquad h(u) = \varphi(u) + u\, \Phi(u).
"""

import numpy as np
from scipy.special import erfcx, log1p, ndtr

from skauto.utils import FloatArray

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
# Below this u, 1 - |u| m(u) (m: Mills ratio) has lost more digits than its expansion leaves out.
_FAR = -50.0


def expected_improvement(
    mean: FloatArray, std: FloatArray, best: float, *, xi: float = 0.0
) -> FloatArray:
    """Expected improvement of normal predictions on the best value.

    Parameters
    ----------
    mean, std : ndarray of shape (n,)
        Predictive means and standard deviations; where ``std`` is 0 the improvement is certain.
    best : float
        Smallest value so far.
    xi : float, default=0.0
        What an improvement must exceed to count; larger values explore.

    Returns
    -------
    improvement : ndarray of shape (n,)
        Never negative; 0 where it underflows.

    References
    ----------
    .. [1] D. R. Jones, M. Schonlau, W. J. Welch, "Efficient Global Optimization of Expensive
       Black-Box Functions", Journal of Global Optimization 13, 1998, Eq. (15).

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import expected_improvement
    >>> expected_improvement(np.array([0.4, 0.2]), np.array([0.0, 0.0]), best=0.5).round(2)
    array([0.1, 0.3])
    """
    return np.exp(log_expected_improvement(mean, std, best, xi=xi))


def log_expected_improvement(
    mean: FloatArray, std: FloatArray, best: float, *, xi: float = 0.0
) -> FloatArray:
    """Logarithm of the expected improvement, accurate where that itself underflows.

    Parameters
    ----------
    mean, std : ndarray of shape (n,)
        Predictive means and standard deviations; where ``std`` is 0 the improvement is certain.
    best : float
        Smallest value so far.
    xi : float, default=0.0
        What an improvement must exceed to count; larger values explore.

    Returns
    -------
    log_improvement : ndarray of shape (n,)
        Minus infinity where a certain prediction is no improvement.

    References
    ----------
    .. [1] S. Ament, S. Daulton, D. Eriksson, M. Balandat, E. Bakshy, "Unexpected Improvements to
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
    # For large u, h(u) = u to the last digit, whatever the standard deviation.
    return np.where((std > 0) & (u < 1e8), uncertain, certain)


def log_expected_improvement_per_second(
    mean: FloatArray, std: FloatArray, best: float, log_seconds: FloatArray, *, xi: float = 0.0
) -> FloatArray:
    """Logarithm of the expected improvement per second, accurate where that itself underflows.

    Parameters
    ----------
    mean, std : ndarray of shape (n,)
        Predictive means and standard deviations of the loss.
    best : float
        Smallest loss so far.
    log_seconds : ndarray of shape (n,)
        Predicted logarithm of the cost, such as ``log(1 + seconds)``. The 1 keeps it positive
        below a second, where the plain logarithm of the paper changes sign.
    xi : float, default=0.0
        What an improvement must exceed to count; larger values explore.

    Returns
    -------
    log_rate : ndarray of shape (n,)
        Minus infinity where a certain prediction is no improvement.

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
    # A millisecond is the least that an evaluation is taken to cost.
    rate: FloatArray = improvement - np.log(np.maximum(log_seconds, log1p(1e-3)))
    return rate


def _log_h(u: FloatArray) -> FloatArray:
    """Logarithm of h(u) = phi(u) + u Phi(u).

    From -1 on as it stands. Below, phi is taken out: h(u) = phi(u) (1 - |u| m(|u|)) with the Mills
    ratio m(t) = sqrt(pi/2) erfcx(t / sqrt(2)); far below, 1 - |u| m(|u|) is the asymptotic series
    1/u^2 - 3/u^4 + 15/u^6 - 105/u^8 + 945/u^10.
    """
    log_phi = -0.5 * u**2 - _LOG_SQRT_2PI
    near = np.maximum(u, -1.0)
    result = np.log(np.exp(-0.5 * near**2 - _LOG_SQRT_2PI) + near * ndtr(near))
    t = -np.clip(u, _FAR, -1.0)
    tail = log_phi + log1p(-t * np.sqrt(np.pi / 2) * erfcx(t / np.sqrt(2)))
    v = np.minimum(u, _FAR) ** -2.0
    far = log_phi + np.log(v) + log1p(v * (-3 + v * (15 + v * (-105 + v * 945))))
    return np.where(u > -1.0, result, np.where(u > _FAR, tail, far))
